"""Updates with kept partial results of reductions read only new elements of reduced axes, and give
the bits of a whole run."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import TESTS_PATH, cases
from s3_server import Object, Server
from test_plans_in_s3 import fetched
from test_s3 import run as run_with
from test_update import SPEC, Sources, bits, command, make, random_plan

import zarr

#: Blocks whose partial results are merged to one.
GROUP = 16


def update(x, folder, **options):
    """The dictionary of the update, and the numbers of tasks that ran and that were skipped."""
    stored = cubed.to_zarr(x, folder / "out", compute=False)
    stats = cubed.plan(stored, partials=folder / "partials").execute(update=True, **options)
    return stats["update"], stats["num_tasks"], stats["num_resumed"]


def quiet_update(x, folder, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return update(x, folder, **options)


def recomputed(x, folder, why):
    with pytest.warns(UserWarning, match=f"everything was recomputed, because .*{why}"):
        found, _, _ = update(x, folder)
    assert not found["in_place"]


def check(x, folder):
    """Compares with a run that has no partial results."""
    cubed.to_zarr(x, folder / "whole")
    read = [zarr.open_array(folder / name, mode="r")[...] for name in ("out", "whole")]
    assert bits(read[0]) == bits(read[1])


def append(z, n, seed=1):
    before = z.shape[0]
    z.resize((before + n, *z.shape[1:]))
    z[before:] = np.random.default_rng(seed).standard_normal((n, *z.shape[1:]))


@pytest.fixture
def source(tmp_path):
    """Four groups of blocks: three full ones, and one with two of sixteen blocks."""
    return make(tmp_path / "a", (100, 6), (2, 6))


def opened(tmp_path):
    return cubed.from_zarr(tmp_path / "a", spec=SPEC)


def mean(tmp_path):
    return xp.mean(opened(tmp_path) * 2, axis=0)


# --- What runs ------------------------------------------------------------------------------------


def test_appended_steps_cost_only_their_groups(tmp_path, source):
    found, ran, skipped = update(mean(tmp_path), tmp_path)
    assert (found["in_place"], found["why"], ran, skipped) == (False, "", 5, 0)
    assert update(mean(tmp_path), tmp_path)[1:] == (0, 5)
    for n, tasks in [
        (1, (2, 3)),
        (1, (2, 3)),
        (26, (2, 3)),
        (1, (2, 4)),
        (64, (4, 4)),
        (1, (2, 6)),
    ]:
        append(source, n)
        found, ran, skipped = update(mean(tmp_path), tmp_path)
        assert found["in_place"] and (ran, skipped) == tasks
        check(mean(tmp_path), tmp_path)


def test_only_new_chunks_and_states_are_read(tmp_path, source):
    """In an object store, whose versions are listed."""

    def put():
        for file in (tmp_path / "a").rglob("*"):
            if file.is_file():
                key = f"a/{file.relative_to(tmp_path / 'a')}"
                server.objects[key] = Object(file.read_bytes(), {})

    def evaluate():
        server.requests.clear()
        done = run_with(
            server, "eval", "mean(a, axis=0)", "--in", "a=s3://b/a", "--out", "s3://b/out",
            "--update", "--partials", "s3://b/states", "--progress", "none",
        )  # fmt: skip
        asked = [(r.op, r.key) for r in server.requests]
        gets = [k for op, k in asked if op == "get" and k.startswith("a/c/")]
        return done.err, sorted(gets), [k for op, k in asked if op == "put" and "/c/" in k]

    with Server(page=1000) as server:
        put()
        assert "there was no result" in evaluate()[0]
        append(source, 4)
        put()
        err, gets, puts = evaluate()
        assert "2 of 52 stored objects of the sources changed: 2 tasks were run" in err
        assert gets == [f"a/c/{i}/0" for i in (48, 49, 50, 51)]
        assert set(puts) == {"out/c/0", "states/0/c/3/0/0"}
        np.testing.assert_allclose(
            fetched(server, "out", tmp_path), source[...].mean(axis=0), rtol=1e-12
        )
        assert not [k for k in server.objects if ".cubed-run" in k]


def test_a_source_that_has_grown_within_a_chunk(tmp_path):
    """No stored byte changes if only the shape does."""
    z = make(tmp_path / "a", (99, 6), (4, 2), fill=1.0)

    def least():
        return xp.sum(opened(tmp_path), axis=(0, 1))

    update(least(), tmp_path)
    z.resize((100, 6))
    found, ran, skipped = update(least(), tmp_path)
    assert found["in_place"] and found["num_changed"] == 0 and (ran, skipped) == (2, 4)
    check(least(), tmp_path)


def test_the_last_step_spans_groups(tmp_path):
    """A chunk along the time axis consists of 40 blocks, so all of its groups may change."""
    z = make(tmp_path / "a", (7, 80), (2, 2), fill=3.0)

    def total():
        return xp.sum(opened(tmp_path))

    update(total(), tmp_path)
    z.resize((8, 80))
    found, ran, _ = update(total(), tmp_path)
    assert found["in_place"] and ran == 4
    check(total(), tmp_path)


def test_a_changed_chunk(tmp_path, source):
    update(mean(tmp_path), tmp_path)
    source[40] = 5
    found, ran, skipped = update(mean(tmp_path), tmp_path)
    assert found["in_place"] and found["num_changed"] == 1 and (ran, skipped) == (2, 3)
    check(mean(tmp_path), tmp_path)


def test_an_axis_that_is_kept_has_grown(tmp_path):
    z = make(tmp_path / "a", (12, 96), (4, 3))

    def largest():
        return xp.max(opened(tmp_path), axis=1)

    _, ran, _ = update(largest(), tmp_path)
    append(z, 5)
    found, more, skipped = update(largest(), tmp_path)
    assert found["in_place"] and 0 < more < ran and skipped > 0
    check(largest(), tmp_path)


def test_another_operation_above_the_states(tmp_path, source):
    update(mean(tmp_path), tmp_path)
    found, ran, skipped = update(mean(tmp_path) + 1, tmp_path)
    assert found["in_place"] and (ran, skipped) == (1, 4)
    check(mean(tmp_path) + 1, tmp_path)


def test_states_do_not_depend_on_limits(tmp_path, source):
    """The plan of one worker would not split the reduction, and that of 200 divides it more."""
    update(mean(tmp_path), tmp_path)
    for workers in (1, 3, 200):
        append(source, 2)
        spec = cubed.Spec(
            allowed_mem="90MB", executor_options={"max_workers": workers}, other_machines=True
        )
        x = xp.mean(cubed.from_zarr(tmp_path / "a", spec=spec) * 2, axis=0)
        found, ran, _ = update(x, tmp_path)
        assert found["in_place"] and ran == 2
        check(mean(tmp_path), tmp_path)
    append(source, 2)
    stored = cubed.to_zarr(mean(tmp_path), tmp_path / "out", compute=False)
    plan = cubed.plan(stored, partials=tmp_path / "partials", optimize_graph=False)
    assert plan.execute(update=True)["update"]["in_place"]
    check(mean(tmp_path), tmp_path)


def test_the_projection_holds(tmp_path, source):
    update(mean(tmp_path), tmp_path)
    append(source, 9)
    stored = cubed.to_zarr(mean(tmp_path), tmp_path / "out", compute=False)
    stats = cubed.plan(stored, partials=tmp_path / "partials").execute(update=True)
    assert 0 < stats["measured_mem"] <= stats["projected_mem"]


# --- When everything runs -------------------------------------------------------------------------


def test_deleted_states(tmp_path, source):
    update(mean(tmp_path), tmp_path)
    shutil.rmtree(tmp_path / "partials")
    append(source, 1)
    recomputed(mean(tmp_path), tmp_path, "there are no partial results in .*partials::0")
    check(mean(tmp_path), tmp_path)
    assert update(mean(tmp_path), tmp_path)[1] == 0


def test_a_deleted_or_changed_state_is_computed_again(tmp_path, source):
    update(mean(tmp_path), tmp_path)
    chunks = sorted((tmp_path / "partials" / "0" / "c").rglob("0"))
    files = [p for p in chunks if p.is_file()]
    assert len(files) == 4
    files[0].unlink()
    files[2].write_bytes(files[1].read_bytes())
    found, ran, _ = update(mean(tmp_path), tmp_path)
    assert found["in_place"] and ran == 3
    check(mean(tmp_path), tmp_path)


def test_the_first_update_had_no_states(tmp_path, source):
    cubed.to_zarr(mean(tmp_path), tmp_path / "out", update=True)
    recomputed(mean(tmp_path), tmp_path, "there are no partial results")
    append(source, 1)
    assert update(mean(tmp_path), tmp_path)[0]["in_place"]


def test_states_of_another_computation(tmp_path, source):
    update(mean(tmp_path), tmp_path)

    def other():
        return xp.mean(opened(tmp_path) * 3, axis=0)

    recomputed(other(), tmp_path, "computation is not the one")
    check(other(), tmp_path)


def test_states_without_a_record(tmp_path, source):
    update(mean(tmp_path), tmp_path)
    (tmp_path / "partials" / "0" / ".cubed-sources").unlink()
    recomputed(mean(tmp_path), tmp_path, "partial results have no record")


def test_another_version(tmp_path, source):
    """The record has a hash, so it is replaced by one that names another version."""
    update(mean(tmp_path), tmp_path)
    state = tmp_path / "partials" / "0" / ".cubed-sources"
    state.write_bytes(state.read_bytes()[:-1])
    append(source, 1)
    recomputed(mean(tmp_path), tmp_path, "no record")
    check(mean(tmp_path), tmp_path)


def test_a_shorter_source(tmp_path, source):
    update(mean(tmp_path), tmp_path)
    source.resize((80, 6))
    recomputed(mean(tmp_path), tmp_path, "shorter")
    check(mean(tmp_path), tmp_path)


def test_an_inner_reduced_axis_has_grown(tmp_path):
    z = make(tmp_path / "a", (10, 40), (2, 2))

    def total():
        return xp.sum(opened(tmp_path))

    update(total(), tmp_path)
    z.resize((10, 44))
    recomputed(total(), tmp_path, "axis has grown")
    check(total(), tmp_path)


def test_a_reduction_of_a_reduction(tmp_path, source):
    """Only the lower one has states; the deviations are read again."""

    def deviation():
        x = opened(tmp_path)
        return xp.mean((x - xp.mean(x, axis=0)) ** 2.0, axis=0)

    update(deviation(), tmp_path)
    assert sorted(p.name for p in (tmp_path / "partials").iterdir()) == ["0", "zarr.json"]
    append(source, 3)
    assert update(deviation(), tmp_path)[0]["in_place"]
    check(deviation(), tmp_path)


# --- Calls ----------------------------------------------------------------------------------------


def test_bad_calls(tmp_path, source):
    x = mean(tmp_path)
    with pytest.raises(ValueError, match="the plan has no reduction that reads stored arrays"):
        cubed.to_zarr(opened(tmp_path) * 2, tmp_path / "out", update=True, partials=tmp_path / "p")
    with pytest.raises(ValueError, match="only updates use: run it with update"):
        cubed.to_zarr(x, tmp_path / "out", partials=tmp_path / "p")
    assert not (tmp_path / "out").exists() and not (tmp_path / "p").exists()
    for place in ("a", "out"):
        with pytest.raises(ValueError, match="lies in"):
            cubed.to_zarr(x, tmp_path / "out", update=True, partials=tmp_path / place)


def test_calls(tmp_path, source):
    places = {"update": True, "partials": str(tmp_path / "partials")}
    cubed.to_zarr(mean(tmp_path), tmp_path / "out", **places)
    append(source, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cubed.store([mean(tmp_path)], [tmp_path / "out"], **places)
        append(source, 1)
        stored = cubed.to_zarr(mean(tmp_path), tmp_path / "out", compute=False)
        np.testing.assert_allclose(stored.compute(**places), source[...].mean(axis=0) * 2)
    check(mean(tmp_path), tmp_path)


def test_several_results(tmp_path, source):
    """A group has the states of all reductions."""

    def run():
        x = opened(tmp_path)
        results = [xp.mean(x, axis=0), xp.sum(x, axis=0) * 3, xp.var(x, axis=0), xp.max(x)]
        places = [tmp_path / f"out{i}" for i in range(4)]
        stored = cubed.store(results, places, compute=False)
        plan = cubed.plan(*stored, partials=tmp_path / "partials")
        found = plan.execute(update=True)["update"]["in_place"]
        cubed.store(results, [tmp_path / f"whole{i}" for i in range(4)])
        for i in range(4):
            got, want = (zarr.open_array(tmp_path / f"{n}{i}")[...] for n in ("out", "whole"))
            assert bits(got) == bits(want)
        return found

    assert not run()
    names = {p.name for p in (tmp_path / "partials").iterdir()}
    assert names == {"0", "1", "2", "3", "zarr.json"}
    append(source, 5)
    assert run()
    source[3] = 4
    assert run()


@pytest.mark.parametrize("executor", ["processes", "futures", "single-threaded"])
def test_executors(tmp_path, source, executor):
    spec = cubed.Spec(tmp_path / "work", allowed_mem="200MB", executor_name=executor)

    def x():
        return xp.std(cubed.from_zarr(tmp_path / "a", spec=spec), axis=0)

    update(x(), tmp_path)
    append(source, 5)
    found, ran, skipped = update(x(), tmp_path)
    assert found["in_place"] and (ran, skipped) == (2, 3)
    check(x(), tmp_path)


def test_the_command(tmp_path, source):
    out, plan = tmp_path / "out", tmp_path / "p.cubed"
    args = ("eval", "mean(a * 2, axis=0)", "--in", f"a={tmp_path / 'a'}", "--out", out)
    partials = ("--partials", tmp_path / "partials")
    quiet = ("--update", "--progress", "none")
    assert "there was no result" in command(*args, *partials, *quiet)
    append(source, 1)
    assert "2 tasks were run and 3 skipped" in command(*args, *partials, *quiet)
    assert "give it with --update" in command(*args, *partials, code=2)
    command(*args, *partials, "--save-plan", plan)
    source[0] = 7
    assert "only updates use" in command("run", plan, code=1)
    assert "2 tasks were run and 3 skipped" in command("run", plan, *quiet)
    assert "give --partials with --save-plan" in command("run", plan, *partials, *quiet, code=2)
    zarr_mean = source[...].mean(axis=0) * 2
    np.testing.assert_allclose(zarr.open_array(out, mode="r")[...], zarr_mean, rtol=1e-12)
    assert json.loads((tmp_path / "partials" / "zarr.json").read_text())["node_type"] == "group"
    command("clean", tmp_path / "partials")
    assert (tmp_path / "partials" / "0" / ".cubed-sources").exists()


KILLED = """
import os, pathlib, signal, sys
folder, number, tests = sys.argv[1:]
sys.path.insert(0, tests)
import cubed
from test_partials import mean

class Kill(cubed.Callback):
    ended = 0
    def on_task_end(self, event):
        self.ended += 1
        if self.ended == int(number):
            os.kill(os.getpid(), signal.SIGKILL)

folder = pathlib.Path(folder)
cubed.to_zarr(mean(folder), folder / "out", update=True, partials=folder / "partials",
              executor="single-threaded", callbacks=[Kill()])
"""


@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_killed_update_is_continued(tmp_path, number):
    """The records name the chunks that may be old or new."""
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    z = make(tmp_path / "a", (100, 6), (2, 6))
    update(mean(tmp_path), tmp_path)
    append(z, 40)
    z[0] = 1
    done = subprocess.run(
        [sys.executable, script, tmp_path, str(number), Path(__file__).parent],
        env={**os.environ, "PYTHONPATH": str(TESTS_PATH)},
    )
    assert done.returncode == -signal.SIGKILL
    append(z, 3)
    found, ran, skipped = update(mean(tmp_path), tmp_path)
    assert found["in_place"] and ran > 0 and skipped > 0
    check(mean(tmp_path), tmp_path)
    assert update(mean(tmp_path), tmp_path)[1] == 0


# --- Random updates -------------------------------------------------------------------------------

REDUCTIONS = [
    lambda x: xp.sum(x, axis=0),
    lambda x: xp.mean(x, axis=0),
    lambda x: xp.mean(xp.astype(x, xp.float32), axis=0),
    lambda x: xp.sum(xp.astype(x, xp.float32)),
    lambda x: xp.var(x, axis=0),
    lambda x: xp.std(x, correction=1),
    lambda x: xp.min(x, axis=0),
    lambda x: xp.argmax(x, axis=0),
    lambda x: xp.argmin(xp.reshape(x, (-1,))),
    lambda x: xp.prod(x, axis=(0, 1)),
    lambda x: xp.any(x > 1, axis=0),
    lambda x: cubed.nanmean(x, axis=0),
    lambda x: cubed.nansum(x, axis=(0, 1)),
    lambda x: cubed.nanvar(x, axis=0),
    lambda x: x[:3] - xp.mean(x, axis=0),
    lambda x: xp.sum(x, axis=1),
    lambda x: xp.mean(x, axis=0) / xp.std(x),
]


@pytest.mark.parametrize("seed", range(cases(20)))
def test_random_updates(tmp_path, seed):
    r = random.Random(seed)
    sources = Sources(r, tmp_path)
    sources.shape[0] += r.choice([0, 40, 150])
    for a in sources.arrays:
        a.resize(tuple(sources.shape))
        a[...] = np.random.default_rng(seed).random(a.shape)
    steps = random_plan(r)
    last = r.choice(REDUCTIONS)
    steps = steps if r.random() < 0.5 else lambda arrays: arrays[0]

    def x():
        y = steps(sources.lazy())
        return last(y) if y.ndim == 2 else y

    try:
        quiet_update(x(), tmp_path)
    except ValueError as error:
        if "the plan has no reduction" not in str(error):
            raise
        return
    for _ in range(5):
        same = sources.change()
        found, ran, _ = quiet_update(x(), tmp_path)
        if same:
            assert found["in_place"] and ran == 0, found
        check(x(), tmp_path)
