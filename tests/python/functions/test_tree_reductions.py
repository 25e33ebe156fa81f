"""Reductions with few results have as many tasks as workers need, and the same bits for any number
of tasks.
"""

import json
import resource
import time

import cubed
import cubed.array_api as xp
import cubed.random
import numpy as np
import pytest
from conftest import check, run

import zarr

QUIET = ("--progress", "none")
WORKERS = (1, 2, 7, 100, 3000)
REDUCTIONS = ("sum(_x)", "var(_x)", "nanvar(_x)", "max(_x)", "argmin(_x)", "mean(_x * _x)")


def plan_of(text, workers):
    return json.loads(
        check(
            run("eval", text, "--plan", "--json", "--other-machines", "--max-workers", workers)
        ).out
    )


@pytest.mark.parametrize("blocks", [0, 1, 16, 17, 256, 257, 1023, 4097])
def test_results_have_the_same_bits_for_any_number_of_workers(tmp_path, blocks):
    results = "; ".join(f"r{i} = {r}" for i, r in enumerate(REDUCTIONS[: 4 if blocks == 0 else 6]))
    if blocks == 0:
        results = "r0 = sum(_x); r1 = prod(_x)"
    text = f"_x = random(({5 * blocks - (blocks > 1)},), seed=3, chunks=(5,)) - 0.5; {results}"
    got, stages = {}, set()
    for w in WORKERS:
        out, saved = tmp_path / f"{w}.zarr", tmp_path / f"{w}.cubed"
        options = ("--max-workers", w, "--other-machines", "--work-dir", tmp_path / "work")
        check(run("eval", text, "--out", out, *options, "--save-plan", saved, *QUIET))
        check(run("run", saved, "--max-workers", 2, *QUIET))
        group = zarr.open_group(out, mode="r")
        got[w] = {k: a[...].tobytes() for k, a in group.arrays()}
        one = f"sum({text[5 : text.index(' -')]})"
        stages.add(len(plan_of(one, w)["stages"]))
    assert len(got[1]) == results.count("=")
    for w in WORKERS:
        assert got[w] == got[1], w
    assert (1 in stages, 2 in stages or 3 in stages, max(stages) > 2) == (
        True,
        blocks > 16,
        blocks >= 1023,
    )


@pytest.mark.parametrize("workers", [3, 10, 100, 1000])
def test_there_is_work_for_all_workers(workers):
    """The blocks of a terabyte and a half, in eight columns."""
    start = time.process_time()
    spec = cubed.Spec(
        allowed_mem="2GB", executor_options={"max_workers": workers}, other_machines=True
    )
    u, v = (
        cubed.random.random((50_000, 1, 987, 1920), chunks=(5, 1, 247, 960), spec=spec)
        for _ in range(2)
    )
    plan = cubed.plan(*(xp.mean(a * b, axis=0) for a, b in ((u, u), (v, v), (u, v))))
    assert time.process_time() - start < 1  # some milliseconds: without a walk over tasks
    assert plan.num_tasks >= 3 * 3 * workers
    assert plan.max_projected_mem < 200_000_000


def test_states_are_few_where_workers_are():
    """What is written beside the results is what it takes to give workers something to do."""
    text = "y = sum(random((50000, 300), seed=1, chunks=(2, 300)), axis=0)"
    few, many = (plan_of(text, w)["stages"] for w in (4, 1000))
    assert 12 <= few[0]["tasks"] < 400
    assert many[0]["tasks"] == 25_000 // 16 + 1
    assert few[0]["bytes_written"] * 16 < many[0]["bytes_written"] * 1.1


def test_one_worker_reduces_in_one_stage():
    text = "sum(random((100000,), seed=1, chunks=(20,)))"
    assert len(plan_of(text, 1)["stages"]) == 1


def test_values_are_those_of_numpy():
    x = np.random.default_rng(0).normal(size=(3000, 7))
    spec = cubed.Spec(allowed_mem="200MB", executor_options={"max_workers": 9}, other_machines=True)
    a = cubed.from_array(x, chunks=(1, 7), spec=spec)
    for name in ("sum", "mean", "var", "std", "max", "min", "argmax", "prod"):
        y = getattr(xp, name)(a, axis=0)
        assert y.plan().num_stages == 3, name
        np.testing.assert_allclose(y.compute(), getattr(np, name)(x, axis=0), 1e-12, err_msg=name)


def far_plan(tmp_path, text, workers, saved):
    options = ("--max-workers", workers, "--other-machines", "--work-dir", tmp_path / "work")
    places = ("--in", f"x={tmp_path / 'x'}", "--out", tmp_path / f"{saved}.zarr")
    check(run("eval", text, *places, *options, "--save-plan", tmp_path / saved, *QUIET))
    plan = json.loads(
        check(run("run", tmp_path / saved, "--plan", "--json", "--other-machines")).out
    )
    return [s["tasks"] for s in plan["stages"]]


@pytest.mark.parametrize(
    ("workers", "least", "most"),
    # 10,000 workers have no more tasks than 1,000: a prefix would not serve their requests in time.
    [(100, 600, 1000), (1000, 3000, 6000), (10_000, 3000, 6000)],
)
def test_there_is_work_where_groups_are_few(tmp_path, workers, least, most):
    """A terabyte and a half in 313 groups of chunks: tasks make parts of their states."""
    shape, chunks = (50_000, 1, 987, 1920), (10, 1, 987, 1920)
    zarr.create_array(tmp_path / "x", shape=shape, chunks=chunks, dtype="f8", compressors=None)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    tasks = far_plan(tmp_path, "y = mean(x * x, axis=0)", workers, "p")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime - before.ru_utime < 2 * 0.05
    assert (tmp_path / "p").stat().st_size < 64 << 10
    assert least <= tasks[0] < most


@pytest.mark.parametrize(
    ("text", "least"),
    [
        ("a = mean(x, axis=0); b = var(x, axis=0); c = argmax(x, axis=0)", 80),
        ("a = sum(x, axis=(0, 2)); b = nanvar(x, axis=(0, 2))", 80),
        # Parts would be many short runs of a chunk: one task for each group.
        ("a = sum(x, axis=(0, 1)); b = max(x, axis=(0, 1))", 17),
    ],
)
def test_parts_of_states_have_the_same_bits(tmp_path, text, least):
    x = np.random.default_rng(1).normal(size=(40, 500, 500)).astype("f4")
    a = zarr.create_array(
        tmp_path / "x", shape=(520, 500, 500), chunks=(2, 500, 500), dtype="f4", compressors=None
    )
    a[:40] = x  # all others are zeros
    got = []
    for saved, workers in (("one", 1), ("few", 4), ("many", 30)):
        tasks = far_plan(tmp_path, text, workers, saved)
        check(run("run", tmp_path / saved, "--max-workers", 2, *QUIET))
        group = zarr.open_group(tmp_path / f"{saved}.zarr", mode="r")
        got.append({k: v[...].tobytes() for k, v in group.arrays()})
    assert got[0] == got[1] == got[2]
    assert least <= tasks[0] < 2 * least


def test_encoded_chunks_are_not_read_twice(tmp_path):
    zarr.create_array(tmp_path / "x", shape=(5000, 987, 1920), chunks=(10, 987, 1920), dtype="f8")
    assert far_plan(tmp_path, "y = mean(x, axis=0)", 1000, "p")[0] == 32
