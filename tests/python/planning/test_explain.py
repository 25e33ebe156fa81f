"""Reasons why plans need several passes: arrays that are stored, and separate stages."""

import json
import pathlib

import cubed
import cubed.array_api as xp
import pytest
from conftest import check, run

import zarr


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(
        str(tmp_path), allowed_mem="40MB", reserved_mem="10MB", executor_name="threads"
    )


def random(spec, shape, chunks):
    return cubed.random.random(shape, chunks=chunks, spec=spec)


def reasons(plan):
    return [x["why"] for s in plan.stages for x in s["outputs"] if not x["is_target"]]


CASES = {
    "a reduction whose reader also has other axes": lambda x: x - xp.mean(x, axis=0),
    "a reduction that is read block by block": lambda x: xp.sort(x - xp.mean(x, axis=0), axis=0),
    "a reduction whose complete result another reduction needs": lambda x: xp.max(
        xp.sum(x, axis=0) * 2, axis=0
    ),
    "a reduction over other elements": lambda x: xp.sum(x, axis=0) + xp.sum(x[::2], axis=0),
    "computed in whole blocks": lambda x: xp.sort(x, axis=1) + 1,
    "computed chunk after chunk": lambda x: xp.cumulative_sum(x, axis=0) + 1,
    "read in another shape": lambda x: xp.reshape(xp.sum(x, axis=0), (20, 20)) + 1,
}


@pytest.mark.parametrize("why", CASES)
def test_why_arrays_are_stored(spec, why):
    plan = CASES[why](random(spec, (600, 400), (100, 400))).plan()
    assert [r for r in reasons(plan) if r.startswith(why)], reasons(plan)
    assert f": {why}" in plan.explain()


def test_reductions_in_parts(spec):
    plan = xp.sum(random(spec, (4000, 40), (10, 40))).plan()
    assert reasons(plan) == [
        "a reduction split into parts, because its few chunks would leave workers idle"
    ]


def test_too_many_arrays(spec):
    arrays = [random(spec, (400, 400), (400, 400)) for _ in range(40)]
    path = spec.work_dir + "/in.zarr"
    cubed.store(arrays, [f"{path}::{i}" for i in range(40)], compute=True)
    total = cubed.from_zarr(path, path="0", spec=spec)
    for i in range(1, 40):
        total = total + cubed.from_zarr(path, path=str(i), spec=spec)
    assert any("more arrays than fit in the allowed memory" in r for r in reasons(total.plan()))


def test_rechunking_on_the_way(spec):
    x = random(spec, (20000, 1000), (20, 1000))
    cubed.to_zarr(x, spec.work_dir + "/x.zarr")
    stored = cubed.from_zarr(spec.work_dir + "/x.zarr", spec=spec)
    plan = stored.rechunk((20000, 1)).plan()
    assert plan.num_stages > 1
    assert all(r.startswith("an intermediate step of a rechunk") for r in reasons(plan))


def test_as_written(spec):
    x = random(spec, (60, 40), (10, 40))
    assert set(reasons((x * 2 + 1).plan(optimize_graph=False))) == {"the plan is not optimised"}
    assert reasons((x * 2 + 1).plan()) == []


def test_stages_that_stay_apart(spec):
    path = spec.work_dir + "/x.zarr"
    cubed.to_zarr(random(spec, (600, 400), (100, 400)), path)
    x = cubed.from_zarr(path, spec=spec)
    plan = cubed.plan(xp.sum(x, axis=0), x * 2)
    apart = {i: s["apart"] for i, s in enumerate(plan.stages)}
    assert apart == {0: [(1, "only one of them is a reduction")], 1: [(0, apart[0][0][1])]}
    assert (
        "stages 0 and 1 read the same array separately: only one of them is a reduction"
        in plan.explain()
    )
    together = cubed.plan(x * 2, x + 1)
    assert together.num_stages == 1 and together.stages[0]["apart"] == []
    later = (x - xp.mean(x, axis=0)).plan()
    assert later.stages[0]["apart"] == [(1, "one waits for results that the other does not need")]


def test_the_command(tmp_path):
    assert run("eval", "arange(9)", "--out", tmp_path / "x.zarr").code == 0
    command = ("eval", "a=sum(x); b=x*2", "--in", f"x={tmp_path / 'x.zarr'}", "--plan")
    text = run(*command, "--explain").out
    assert "0 and 1: only one of them is a reduction" in text
    assert "is a reduction" not in run(*command).out
    plan = json.loads(run(*command, "--json").out)
    assert plan["apart"] == [{"stages": [0, 1], "why": "only one of them is a reduction"}]
    saved = tmp_path / "p.cubed"
    out = ("--out", tmp_path / "o.zarr", "--work-dir", tmp_path, "--save-plan", saved)
    assert run("eval", "x - mean(x, axis=0)", *command[2:4], *out).code == 0
    text = run("run", saved, "--plan", "--explain").out
    assert "by stage 0: float64 (): a reduction" in text


LARGE = (20_000, 10_000)  # 1.6 GB that nobody writes


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    root = zarr.create_group(tmp_path_factory.mktemp("large") / "x.zarr", zarr_format=3)
    names = ["t", "y"]
    root.create_array("x", shape=LARGE, chunks=(5000, 100), dtype="f8", dimension_names=names)
    root.create_array("t", shape=LARGE[:1], chunks=(5000,), dtype="f8", dimension_names=["t"])
    return pathlib.Path(root.store_path.store.root)


def test_what_is_too_large_to_print_is_planned(large, tmp_path):
    """As the run whose result stays in memory."""
    refused = run("eval", "x + 1", large)
    assert refused.code == 2 and "--out" in refused.err
    svg = tmp_path / "p.svg"
    shown = check(run("eval", "x + 1", large, "--plan", "--explain", "--plan-svg", svg))
    assert "results in addition 1.6 GB" in shown.out
    assert "<svg" in svg.read_text()
    doc = json.loads(check(run("eval", "x + 1", large, "--plan", "--json")).out)
    assert doc["result_bytes"] == 8 * LARGE[0] * LARGE[1]
    x = cubed.from_zarr(str(large), path="x", spec=cubed.Spec(allowed_mem=doc["allowed_mem"]))
    assert (x + 1).plan().num_tasks == sum(s["tasks"] for s in doc["stages"])
    # More than any memory.
    doc = json.loads(check(run("eval", f"zeros(({10**12},)) + 1", "--plan", "--json")).out)
    assert doc["result_bytes"] == 8 * 10**12


@pytest.mark.parametrize("text", ["mean(x, axis=0)", "a = x[:9] * 2; b = sum(x)", "sort(x[:, 0])"])
def test_a_plan_is_that_of_the_run_that_prints(large, text):
    args = ["eval", text, large, "--json", "--progress", "none"]
    doc = json.loads(check(run(*args, "--plan")).out)
    ran = check(run(*args)).run
    assert sum(s["tasks"] for s in doc["stages"]) == ran["tasks"]
    assert doc["projected_mem"] == ran["projected_mem"]
    assert json.loads(check(run(*args, "--plan", "--through-bytes")).out) == doc


@pytest.mark.parametrize("verb", ["rechunk", "copy"])
def test_storing_again_is_planned_without_a_place(large, tmp_path, verb):
    options = ["--chunks", "t=-1,y=10", "--json", "--allowed-mem", "200MB", "--max-workers", 1]
    for source in (large, f"{large}::x"):
        without = check(run(verb, source, *options, "--plan")).out
        target = tmp_path / "out.zarr"
        given = check(run(verb, source, target, *options, "--plan")).out
        assert without.replace("(DST)", "out.zarr") == given.replace(f"{tmp_path}/", "")
        assert "rechunk(x) -> " in check(run(verb, source, *options[:2], "--plan", "--explain")).out
    assert not target.exists()
    svg = tmp_path / f"{verb}.svg"
    check(run(verb, large, *options, "--plan", "--plan-svg", svg))
    assert "<svg" in svg.read_text()
    # What runs needs a place.
    for more in ([], ["--plan-svg", svg], ["--save-plan", tmp_path / "p"]):
        assert run(verb, large, *options, *more).code == 2
