"""What plans would take and have decided, and code that must not compute."""

from dataclasses import replace

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from cubed.diagnostics.estimate import (
    CHEAP,
    COSTS,
    DECODE_COSTS,
    ENCODE_COSTS,
    PROFILES,
    Profile,
    touched_bytes,
)

PER_S = Profile(
    workers=3, task_seconds=0.5, request_seconds=0.25, read_rate=1000, write_rate=500,
    compute_rate=100, read_price=1, write_price=10, memory_price=100,
)  # fmt: skip


@pytest.fixture
def stored(tmp_path):
    path = str(tmp_path / "x.zarr")
    cubed.to_zarr(xp.ones((40,), chunks=(10,), dtype=xp.float64), path)
    return path


def test_an_estimate_adds_up(stored):
    spec = cubed.Spec(allowed_mem=10**9, reserved_mem=0)
    plan = (cubed.from_zarr(stored, spec=spec) + 1).plan()
    (stage,) = plan.stages
    # The arithmetic below is for this plan: a task for each of 4 chunks of 80 bytes.
    assert (stage["num_tasks"], stage["bytes_read"], stage["bytes_written"]) == (4, 320, 320)
    e = plan.estimate(PER_S)
    task = (
        0.5 + 2 * 0.25 + 80 / 1000 + 80 / 500 + (160 + CHEAP * 80 + DECODE_COSTS["zstd"] * 80) / 100
    )
    assert (e.reads, e.writes, e.workers) == (4, 4, 3)
    assert e.worker_seconds == pytest.approx(4 * task)
    assert e.seconds == pytest.approx(2 * task)  # waves of 3 and 1
    assert e.cost == pytest.approx(4 * 1 + 4 * 10 + 4 * task * 100)
    # A store that all share.
    assert plan.estimate(replace(PER_S, total_rate=1)).seconds == 640


def test_operations_take_what_they_cost(stored, tmp_path):
    """In seconds of a machine that does nothing but compute, one byte in a second."""
    slow = Profile(workers=1, compute_rate=1)
    values = np.ones((40, 40))

    def cost(lazy):
        return lazy.plan().estimate(slow).worker_seconds

    def x():
        return cubed.from_array(values, chunks=(20, 40))

    moved = touched_bytes((x() + 1).plan().stages[0])
    assert moved == 2 * values.nbytes
    assert cost(x() + 1) == pytest.approx(moved + CHEAP * values.nbytes)
    assert cost(xp.sin(x())) == pytest.approx(moved + COSTS["sin"] * values.nbytes)
    several = COSTS["sin"] + COSTS["pow"] + CHEAP
    assert cost(xp.sin(x()) * x() ** 1.7) == pytest.approx(moved + values.nbytes * (several + 1))
    assert cost(xp.sort(x(), axis=1)) == pytest.approx(moved + COSTS["sort"] * values.nbytes)
    half = values.nbytes / 2
    assert cost(xp.sin(x())[::2]) == pytest.approx(
        touched_bytes(xp.sin(x())[::2].plan().stages[0]) + COSTS["sin"] * half
    )
    y = cubed.from_array(values + 1, chunks=(40, 20))
    assert cost(x() @ y) == pytest.approx(3 * values.nbytes + COSTS["matmul"] * 8 * 40**3)
    decoded = 640 + (CHEAP + DECODE_COSTS["zstd"]) * 320
    assert cost(cubed.from_zarr(stored) + 1) == pytest.approx(decoded)
    later = cubed.to_zarr(x() + 1, str(tmp_path / "y.zarr"), compute=False)
    encoded = 2 + CHEAP + ENCODE_COSTS["zstd"] + ENCODE_COSTS["bytes"]
    assert later.plan().estimate(slow).worker_seconds == pytest.approx(encoded * values.nbytes)


def test_operations_are_found_by_their_kind():
    """Whatever names a stage has for people, which leave some out."""
    x = xp.ones((8, 6), chunks=(4, 3), dtype=xp.float64)
    y = x
    for f in (xp.exp, xp.sin, xp.cos, xp.tan, xp.log, xp.sqrt, xp.tanh):
        y = f(y)
    (stage,) = xp.mean(y, axis=0).plan().stages
    found = {name: (times, size) for name, times, size in stage["operations"]}
    assert found["tanh"] == found["exp"] == found["sum"] == (48, 8) and found["divide"] == (6, 8)
    (stage,) = (xp.astype(x, xp.float32) + 1).plan().stages
    assert {op[0] for op in stage["operations"]} == {"cast", "add"}
    # Two results of one call; a product; positions, each looked for in the same values.
    for lazy, name, times in [
        (xp.linalg.qr(x.rechunk((8, 6))), "qr", 48),
        ((x @ x.T,), "matmul", 8 * 6 * 8),
        (
            (xp.searchsorted(xp.arange(100, chunks=100), xp.arange(30, chunks=10)),),
            "searchsorted",
            100,
        ),
    ]:
        ops = [op for s in cubed.plan(*lazy).stages for op in s["operations"] if op[0] == name]
        assert sum(op[1] for op in ops) == times


def test_what_is_read_again_from_memory_is_decoded_once(tmp_path):
    path = str(tmp_path / "x.zarr")
    cubed.to_zarr(xp.ones((400, 400), chunks=(100, 100), dtype=xp.float64), path)
    x = cubed.from_zarr(path, spec=cubed.Spec(allowed_mem="1GB"))
    plan = (x[1:] - x[:-1]).plan()
    assert plan.stages[0]["chunks_read"] > 16
    assert plan.estimate(Profile()).reads == 16
    assert plan.estimate(Profile(workers=3)).reads == plan.stages[0]["chunks_read"]


@pytest.mark.parametrize("name", PROFILES)
def test_profiles(name):
    x = xp.ones((600, 400), chunks=(100, 100))
    plan = xp.sort(x - xp.mean(x, axis=0), axis=0).plan()
    e = plan.estimate(name)
    assert 0 < e.seconds <= e.worker_seconds * 1.001
    assert e.reads + e.writes <= plan.summary()["requests"]
    assert (e.cost > 0) == (name in ("s3-lambda", "gcs-functions"))
    more = plan.estimate(replace(PROFILES[name], workers=e.workers + 1))
    assert more.seconds <= e.seconds


def test_profiles_that_are_not_there():
    with pytest.raises(ValueError, match="'abacus', expected one of local-memory, local-nvme"):
        xp.ones((2,)).plan().estimate("abacus")


@pytest.mark.parametrize(
    "computes",
    [
        lambda x: x.compute(),
        lambda x: np.asarray(x),
        lambda x: bool(xp.all(x)),
        lambda x: float(xp.sum(x)),
        lambda x: xp.nonzero(x),
        lambda x: cubed.compute(x, x + 1),
    ],
)
def test_computing_is_refused(computes):
    x = xp.ones((4,), chunks=(2,))
    with cubed.raise_if_computes():
        y = xp.sum(x + 1)
        y.plan()
        with pytest.raises(RuntimeError, match=r"computes within cubed\.raise_if_computes"):
            computes(x)
    computes(x)
    assert y.compute() == 8


def test_storing_is_refused(tmp_path):
    x = xp.ones((4,), chunks=(2,))
    with cubed.raise_if_computes(), pytest.raises(RuntimeError, match="raise_if_computes"):
        cubed.to_zarr(x, str(tmp_path / "y.zarr"))
    cubed.to_zarr(x, str(tmp_path / "y.zarr"))
    assert cubed.from_zarr(str(tmp_path / "y.zarr")).compute().sum() == 4


def test_an_error_ends_the_refusal():
    with pytest.raises(KeyError), cubed.raise_if_computes():
        raise KeyError
    assert xp.ones(()).compute() == 1


def test_what_is_fused_is_logged(caplog):
    x = xp.ones((600, 400), chunks=(100, 100))
    y = xp.sort(x * 2 - xp.mean(x, axis=0), axis=0)
    with caplog.at_level("INFO", logger="cubed"):
        y.plan()
    assert not caplog.messages
    with caplog.at_level("DEBUG", logger="cubed"):
        plan = y.plan()
    messages = caplog.messages
    assert messages[0].startswith(f"plan: {plan.num_stages} stages, {plan.num_tasks} tasks")
    for i, stage in enumerate(plan.stages):
        assert any(m.startswith(f"stage {i} runs in one pass: {stage['name']}") for m in messages)
    (stored,) = (m for m in messages if m.startswith("array-"))
    assert "is stored between stage 0 and 1: a reduction" in stored


def test_totals(stored):
    x = cubed.from_zarr(stored)
    plan = cubed.plan(xp.sort(x - xp.mean(x)), x * 2)
    assert (plan.total_input_narrays, plan.total_input_nbytes, plan.total_input_nchunks) == (
        1,
        320,
        4,
    )
    assert (plan.total_output_narrays, plan.total_output_nbytes) == (2, 640)
    assert plan.total_intermediate_narrays == plan.num_arrays - 2 > 0
    assert plan.total_intermediate_nbytes >= 8 and plan.total_intermediate_nchunks >= 1
    assert plan.total_output_nchunks >= 2
    assert plan.total_narrays_written == plan.num_arrays
    assert plan.total_narrays_read >= 3
    assert plan.total_nchunks_read + plan.total_nchunks_written == plan.summary()["requests"]
