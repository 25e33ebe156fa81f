"""Estimates and decisions of plans; and programs during which nothing must be computed."""

from dataclasses import replace

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from cubed.diagnostics.estimate import PROFILES, REFERENCE_RATE, Profile

PER_S = Profile(
    workers=3, task_seconds=0.5, request_seconds=0.25, read_rate=1000, write_rate=500,
    compute_rate=100, read_price=1, write_price=10, memory_price=100,
)  # fmt: skip


@pytest.fixture
def stored(tmp_path):
    path = str(tmp_path / "x.zarr")
    cubed.to_zarr(xp.ones((40,), chunks=(10,), dtype=xp.float64), path)
    return path


def busy(lazy):
    """Processor time by the engine's estimate."""
    return lazy.plan().summary()["compute_seconds"]


def computing(lazy):
    """The part of operations, without passing over memory and chunks."""
    stages = lazy.plan().stages
    memory = {
        x["id"]: np.prod(x["shape"]) * np.dtype(x["dtype"]).itemsize
        for s in stages
        for x in s["inputs"]
        if x["name"] == "memory"
    }
    return sum(s["compute_seconds"] for s in stages) - sum(memory.values()) / REFERENCE_RATE


def test_an_estimate_adds_up(stored):
    spec = cubed.Spec(allowed_mem=10**9, reserved_mem=0)
    plan = (cubed.from_zarr(stored, spec=spec) + 1).plan()
    (stage,) = plan.stages
    # The arithmetic below is for this plan: a task for each of 4 chunks of 80 bytes.
    assert (stage["num_tasks"], stage["bytes_read"], stage["bytes_written"]) == (4, 320, 320)
    e = plan.estimate(PER_S)
    processor = sum(stage[f"{what}_seconds"] for what in ("read", "compute", "write"))
    assert processor == pytest.approx(plan.summary()["compute_seconds"])
    task = 0.5 + 2 * 0.25 + 80 / 1000 + 80 / 500 + processor / 4 * REFERENCE_RATE / 100
    assert (e.reads, e.writes, e.workers) == (4, 4, 3)
    assert e.worker_seconds == pytest.approx(4 * task)
    assert e.seconds == pytest.approx(2 * task)  # waves of 3 and 1
    assert e.cost == pytest.approx(4 * 1 + 4 * 10 + 4 * task * 100)
    # A store that all share.
    assert plan.estimate(replace(PER_S, total_rate=1)).seconds == 640


def test_seconds_of_a_stage(tmp_path):
    """Store and processor time, shared by workers; at least what the store takes."""
    x = xp.ones((64, 64), chunks=(16, 64), dtype=xp.float64)
    cubed.to_zarr(x, tmp_path / "x")
    for workers in (1, 2, 100):
        x = cubed.from_zarr(
            tmp_path / "x",
            spec=cubed.Spec(allowed_mem="30MB", executor_options={"max_workers": workers}),
        )
        for lazy in (x + 1, xp.linalg.svd(x.rechunk((64, 64)))[1], x):
            plan = lazy.plan()
            info, total = plan.summary(), 0
            for s in plan.stages:
                moved = (s["bytes_read"] + s["bytes_written"]) / 1e9
                moved += (s["chunks_read"] + s["chunks_written"]) * 1e-4
                processor = s["read_seconds"] + s["compute_seconds"] + s["write_seconds"]
                shared = min(info["max_workers"], s["num_tasks"] * s["coop"])
                assert s["seconds"] == pytest.approx(max(moved, (moved + processor) / shared))
                total += s["seconds"]
            assert info["seconds"] == pytest.approx(total)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_computing_grows_as_it_should(dtype):
    def array(*shape):
        return xp.ones(shape, chunks=tuple(min(n, 500) for n in shape), dtype=np.dtype(dtype))

    for f, power in [
        (lambda n: array(n, n) @ array(n, n), 3),
        (lambda n: array(n, 500) @ array(500, n), 2),
        (lambda n: xp.exp(array(n, n)), 2),
        (lambda n: xp.sum(array(n, n), axis=0), 2),
        (lambda n: xp.linalg.svd(xp.ones((n // 10, n // 10), dtype=np.dtype(dtype)))[1], 3),
        (lambda n: xp.linalg.inv(xp.ones((n // 10, n // 10), dtype=np.dtype(dtype))), 3),
    ]:
        small, large = computing(f(1000)), computing(f(4000))
        assert large / small == pytest.approx(4**power, rel=0.05)
    # Of as many elements, in longer lines.
    for f in (xp.sort, xp.argsort, xp.fft.fft):
        lines = {n: xp.ones((2**16 // n, n), chunks=(1, n)) for n in (16, 4096)}
        short, long = (computing(f(x)) for x in lines.values())
        assert long / short == pytest.approx(np.log2(4096) / np.log2(16), rel=0.1)


def test_computing_is_part_of_the_time():
    """What computes takes longer than what moves as much and does not."""
    a, b = (xp.ones((8192, 8192), chunks=(1024, 1024), dtype=xp.float64) for _ in range(2))
    spec = cubed.Spec(allowed_mem="1GB")
    product = (a @ b).plan().summary()
    assert product["seconds"] > 10 * (a + b).plan().summary()["seconds"]
    # 2 * 8192^3 operations at 10 to 100 thousand million in a second.
    assert 2 * 8192**3 / 1e11 < product["compute_seconds"] < 2 * 8192**3 / 1e10
    x = cubed.from_array(np.ones((300, 300)), chunks=(100, 300), spec=spec)
    cheap = busy(x + 1)
    for lazy in (xp.exp(x), xp.sort(x, axis=1), xp.fft.fft(x, axis=1), xp.sin(x)):
        assert busy(lazy) > 1.2 * cheap
    assert busy(xp.sin(x)) > busy(xp.exp(x))
    # What is not made takes no time.
    assert computing(xp.sin(x)[::2]) == pytest.approx(computing(xp.sin(x)) / 2)
    assert computing(xp.sin(x) * xp.exp(x)) > computing(xp.sin(x)) + computing(xp.exp(x))


def test_codecs_take_their_time(tmp_path):
    x = cubed.from_array(np.arange(90000.0).reshape(300, 300), chunks=(100, 300))
    found = {}
    for name in ("none", "blosc", "zstd", "gzip"):
        chain = [{"name": "bytes", "configuration": {"endian": "little"}}]
        if name != "none":
            configuration = {"level": 1, **({"checksum": False} if name == "zstd" else {})}
            if name == "blosc":
                configuration = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle"}
                configuration |= {"typesize": 8, "blocksize": 0}
            chain.append({"name": name, "configuration": configuration})
        spec = cubed.Spec(zarr_compressor=chain, allowed_mem="1GB")
        place = str(tmp_path / name)
        y = cubed.from_array(x.compute(), chunks=(100, 300), spec=spec)
        (stage,) = cubed.to_zarr(y, place, compute=False).plan().stages
        cubed.to_zarr(y, place)
        (reads,) = (cubed.from_zarr(place) + 1).plan().stages
        found[name] = stage["write_seconds"], reads["read_seconds"]
    writes, reads = zip(*found.values(), strict=True)
    assert list(writes) == sorted(set(writes)) and list(reads) == sorted(set(reads))


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
