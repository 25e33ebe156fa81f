"""Updates recompute only chunks whose sources changed, and give the bits of a whole run."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import BIN, TESTS_PATH, cases
from s3_server import Object, Server
from test_plans_in_s3 import fetched
from test_s3 import run as run_with

import zarr

SPEC = cubed.Spec(allowed_mem="200MB")


def update(x, out, **options):
    """The dictionary of the update, and the numbers of tasks that ran and that were skipped."""
    stored = cubed.to_zarr(x, out, compute=False)
    stats = cubed.plan(stored).execute(update=True, **options)
    return stats["update"], stats["num_tasks"], stats["num_resumed"]


def quiet_update(x, out, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return update(x, out, **options)


def bits(a):
    return np.asarray(a).tobytes(), np.asarray(a).shape, np.asarray(a).dtype


def check_like_whole_run(x, out, whole):
    cubed.to_zarr(x, whole)
    assert bits(zarr.open_array(out, mode="r")[...]) == bits(zarr.open_array(whole, mode="r")[...])


def make(path, shape, chunks, zarr_format=3, shards=None, fill=0.0, seed=0):
    z = zarr.create_array(
        path, shape=shape, chunks=chunks, shards=shards, dtype="f8", zarr_format=zarr_format,
        fill_value=fill,
    )  # fmt: skip
    z[...] = np.random.default_rng(seed).standard_normal(shape)
    return z


@pytest.fixture
def source(tmp_path):
    return make(tmp_path / "a", (20, 6), (5, 3))


def doubled(tmp_path):
    return cubed.from_zarr(tmp_path / "a", spec=SPEC) * 2


# --- What runs ------------------------------------------------------------------------------------


def test_only_chunks_that_changed_run(tmp_path, source):
    out, whole = tmp_path / "out", tmp_path / "whole"
    found, ran, skipped = update(doubled(tmp_path), out)
    assert (found["in_place"], found["why"], ran, skipped) == (False, "", 8, 0)
    found, ran, skipped = update(doubled(tmp_path), out)
    assert (found["in_place"], found["num_changed"], ran, skipped) == (True, 0, 0, 8)
    source[7, 1] = 5.0
    found, ran, skipped = update(doubled(tmp_path), out)
    assert (found["in_place"], found["num_changed"], ran, skipped) == (True, 1, 1, 7)
    assert found["num_checked"] == 8 and found["bytes_read"] > 0
    check_like_whole_run(doubled(tmp_path), out, whole)


def test_untouched_chunks_are_not_written(tmp_path, source):
    out = tmp_path / "out"
    update(doubled(tmp_path), out)
    before = {p: p.stat().st_ino for p in out.glob("c/*/*")}
    source[7, 1] = 5.0
    update(doubled(tmp_path), out)
    after = {p: p.stat().st_ino for p in out.glob("c/*/*")}
    assert {p.relative_to(out).as_posix() for p in after if after[p] != before[p]} == {"c/1/0"}


def test_the_same_bytes_and_a_new_time_are_no_change(tmp_path, source):
    update(doubled(tmp_path), tmp_path / "out")
    chunk = tmp_path / "a" / "c" / "0" / "0"
    chunk.write_bytes(chunk.read_bytes())
    assert update(doubled(tmp_path), tmp_path / "out")[1:] == (0, 8)


def test_other_bytes_with_the_same_size_and_time_are_a_change(tmp_path):
    z = zarr.create_array(
        tmp_path / "a", shape=(4,), chunks=(2,), dtype="f8", compressors=None, fill_value=-1
    )
    z[:] = [1, 2, 3, 4]
    update(doubled(tmp_path), tmp_path / "out")
    chunk = tmp_path / "a" / "c" / "1"
    there = chunk.stat()
    with chunk.open("r+b") as f:
        f.write(np.array([7.0, 8.0]).tobytes())
    os.utime(chunk, ns=(there.st_atime_ns, there.st_mtime_ns))
    assert update(doubled(tmp_path), tmp_path / "out")[1:] == (1, 1)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out")[:], [2, 4, 14, 16])


def test_a_deleted_chunk_is_a_change(tmp_path, source):
    update(doubled(tmp_path), tmp_path / "out")
    (tmp_path / "a" / "c" / "3" / "1").unlink()
    assert update(doubled(tmp_path), tmp_path / "out")[1:] == (1, 7)
    assert (zarr.open_array(tmp_path / "out")[15:, 3:] == 0).all()


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_appended_steps_cost_only_themselves(tmp_path, zarr_format):
    """Also those of a reduction over another axis, and a chunk that was not full."""
    z = make(tmp_path / "a", (18, 6), (5, 6), zarr_format)

    def mean():
        return xp.mean(cubed.from_zarr(tmp_path / "a", spec=SPEC), axis=1)

    out = tmp_path / "out"
    assert update(mean(), out)[1] == 4
    z.resize((26, 6))
    z[18:] = 3.25
    found, ran, skipped = update(mean(), out)
    assert (found["in_place"], ran, skipped) == (True, 3, 3)
    assert zarr.open_array(out, mode="r").shape == (26,)
    check_like_whole_run(mean(), out, tmp_path / "whole")


@pytest.mark.parametrize("axis", [1, 2, (1, 2)])
def test_constants_do_not_count_as_another_computation(tmp_path, axis):
    """A mean divides by a constant, whose chunks follow its extents."""
    z = make(tmp_path / "a", (10, 6, 9), (5, 6, 9))

    def x():
        a = cubed.from_zarr(tmp_path / "a", spec=SPEC)
        return xp.mean(a, axis=axis) + xp.ones(xp.mean(a, axis=axis).shape, spec=SPEC)

    out = tmp_path / "out"
    _, before, _ = update(x(), out)
    z.resize((15, 6, 9))
    z[10:] = 0.1
    found, ran, skipped = update(x(), out)
    assert found["in_place"] and (ran, skipped) == (before // 2, before)
    check_like_whole_run(x(), out, tmp_path / "whole")


def test_shards(tmp_path):
    z = make(tmp_path / "a", (16, 6), (2, 3), shards=(4, 6))
    update(doubled(tmp_path), tmp_path / "out")
    z[5, 5] = 1.0
    found, ran, _ = update(doubled(tmp_path), tmp_path / "out")
    assert found["in_place"] and found["num_checked"] == 4 and found["num_changed"] == 1
    assert 0 < ran < 16
    check_like_whole_run(doubled(tmp_path), tmp_path / "out", tmp_path / "whole")


def test_a_netcdf_file(tmp_path):
    values = np.arange(24.0).reshape(6, 4)

    def write():
        x = cubed.from_array(values, chunks=(2, 4), spec=SPEC)
        cubed.to_zarr(x, f"{tmp_path / 'n.nc'}::a")

    def x():
        return cubed.from_zarr(f"{tmp_path / 'n.nc'}::a", spec=SPEC) * 2

    write()
    assert update(x(), tmp_path / "out")[1] == 3
    assert update(x(), tmp_path / "out")[1:] == (0, 3)
    values[3] = -1
    write()
    found, ran, skipped = update(x(), tmp_path / "out")
    assert found["in_place"] and (found["num_changed"], ran, skipped) == (1, 1, 2)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out")[...], values * 2)


def test_a_chunk_becomes_empty(tmp_path, source):
    def run():
        stored = cubed.to_zarr(
            doubled(tmp_path), tmp_path / "out", write_empty_chunks=False, compute=False
        )
        return cubed.plan(stored).execute(update=True)["num_tasks"]

    assert run() == 8
    source[:5, :3] = 0
    assert run() == 1
    assert not (tmp_path / "out" / "c" / "0" / "0").exists()
    assert run() == 0


def test_intermediates(tmp_path, source):
    """Only the chunks of intermediates that a changed chunk needs are computed again."""

    def x():
        a = cubed.from_zarr(tmp_path / "a", spec=SPEC)
        b = cubed.map_blocks(lambda v: v + 1, a, dtype="f8")
        return cubed.map_blocks(lambda v: v * 2, b, dtype="f8")

    out = tmp_path / "out"
    _, all_tasks, _ = update(x(), out)
    source[0, 0] = 4
    found, ran, skipped = update(x(), out)
    assert found["in_place"] and ran + skipped == all_tasks and ran == all_tasks // 8
    check_like_whole_run(x(), out, tmp_path / "whole")


# --- When everything runs -------------------------------------------------------------------------


def recomputed(x, out, why):
    with pytest.warns(UserWarning, match=f"everything was recomputed, because .*{why}"):
        found, _, _ = update(x, out)
    assert not found["in_place"]


def test_a_reduced_axis_has_grown(tmp_path, source):
    def total():
        return xp.sum(cubed.from_zarr(tmp_path / "a", spec=SPEC), axis=0)

    update(total(), tmp_path / "out")
    source.resize((25, 6))
    source[20:] = 1
    recomputed(total(), tmp_path / "out", "axis has grown")
    check_like_whole_run(total(), tmp_path / "out", tmp_path / "whole")


def test_another_computation(tmp_path, source):
    update(doubled(tmp_path), tmp_path / "out")
    recomputed(doubled(tmp_path) + 1, tmp_path / "out", "computation")
    assert update(doubled(tmp_path) + 1, tmp_path / "out")[1] == 0


def test_another_function(tmp_path, source):
    def x(n):
        a = cubed.from_zarr(tmp_path / "a", spec=SPEC)
        return cubed.map_blocks(lambda v: v + n, a, dtype="f8")

    update(x(1), tmp_path / "out")
    assert update(x(1), tmp_path / "out")[1] == 0
    recomputed(x(2), tmp_path / "out", "computation")
    check_like_whole_run(x(2), tmp_path / "out", tmp_path / "whole")


def test_another_array_in_memory(tmp_path, source):
    def x(n):
        b = cubed.from_array(np.full(6, n), chunks=3, spec=SPEC)
        return cubed.from_zarr(tmp_path / "a", spec=SPEC) + b

    update(x(1.0), tmp_path / "out")
    assert update(x(1.0), tmp_path / "out")[1] == 0
    recomputed(x(2.0), tmp_path / "out", "computation")


def test_a_shorter_source(tmp_path, source):
    update(doubled(tmp_path), tmp_path / "out")
    source.resize((12, 6))
    recomputed(doubled(tmp_path), tmp_path / "out", "shorter")
    check_like_whole_run(doubled(tmp_path), tmp_path / "out", tmp_path / "whole")


def test_no_record(tmp_path, source):
    cubed.to_zarr(doubled(tmp_path), tmp_path / "out")
    recomputed(doubled(tmp_path), tmp_path / "out", "no record")
    assert update(doubled(tmp_path), tmp_path / "out")[1] == 0


def test_a_damaged_record(tmp_path, source):
    update(doubled(tmp_path), tmp_path / "out")
    record = tmp_path / "out" / ".cubed-sources"
    whole = record.read_bytes()
    for at in range(0, len(whole), 7):
        record.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        recomputed(doubled(tmp_path), tmp_path / "out", "no record")
    for size in (0, 8, 30, len(whole) - 1):
        record.write_bytes(whole[:size])
        recomputed(doubled(tmp_path), tmp_path / "out", "no record")


def test_a_run_without_update_removes_the_record(tmp_path, source):
    update(doubled(tmp_path), tmp_path / "out")
    cubed.to_zarr(doubled(tmp_path) + 1, tmp_path / "out")
    assert not (tmp_path / "out" / ".cubed-sources").exists()


@pytest.mark.parametrize("executor", ["processes", "futures"])
def test_executors(tmp_path, source, executor):
    """Workers in other processes need not know that the run is an update."""
    spec = cubed.Spec(
        tmp_path / "work", allowed_mem="200MB", executor_name=executor,
        executor_options={"max_workers": 2},
    )  # fmt: skip

    def x():
        a = cubed.from_zarr(tmp_path / "a", spec=spec)
        return cubed.map_blocks(lambda v: v * 3, a, dtype="f8") + xp.mean(a, axis=1, keepdims=True)

    out = tmp_path / "out"
    assert update(x(), out)[1] > 0
    source[6, 2] = -2.0
    found, ran, skipped = update(x(), out)
    assert found["in_place"] and 0 < ran < skipped
    check_like_whole_run(x(), out, tmp_path / "whole")


def test_the_fill_value_of_a_source(tmp_path):
    make(tmp_path / "a", (20, 6), (5, 3))
    (tmp_path / "a" / "c" / "0" / "0").unlink()
    update(doubled(tmp_path), tmp_path / "out")
    doc = tmp_path / "a" / "zarr.json"
    doc.write_text(json.dumps({**json.loads(doc.read_text()), "fill_value": 3.0}))
    recomputed(doubled(tmp_path), tmp_path / "out", "metadata of a source")
    assert (zarr.open_array(tmp_path / "out")[:5, :3] == 6).all()


def test_attributes_of_sources_do_not_matter(tmp_path, source):
    update(doubled(tmp_path), tmp_path / "out")
    source.attrs["note"] = "new"
    assert update(doubled(tmp_path), tmp_path / "out")[1] == 0


# --- Other writers --------------------------------------------------------------------------------


def test_chunks_that_others_wrote_are_computed_again(tmp_path, source):
    out = tmp_path / "out"
    update(doubled(tmp_path), out)
    zarr.open_array(out, mode="r+")[0, 0] = 77
    (out / "c" / "2" / "1").unlink()
    assert update(doubled(tmp_path), out)[1:] == (2, 6)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")


def test_metadata_that_others_wrote(tmp_path, source):
    out = tmp_path / "out"
    update(doubled(tmp_path), out)
    zarr.open_array(out, mode="r+").resize((10, 6))
    recomputed(doubled(tmp_path), out, "metadata of the result")
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")


def test_a_region_that_this_package_wrote(tmp_path, source):
    out = tmp_path / "out"
    update(doubled(tmp_path), out)
    cubed.to_zarr(cubed.ones((5, 3), chunks=(5, 3), spec=SPEC), out, region=(slice(5), slice(3)))
    assert update(doubled(tmp_path), out)[1:] == (1, 7)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")


HELD = """
import sys, time, pathlib
import cubed
folder = pathlib.Path(sys.argv[1])
def slow(v):
    (folder / "began").touch()
    while not (folder / "go").exists():
        time.sleep(0.02)
    return v * 2
spec = cubed.Spec(allowed_mem="200MB")
a = cubed.from_zarr(folder / "a", spec=spec)
cubed.to_zarr(cubed.map_blocks(slow, a, dtype="f8"), folder / "out", update=True)
"""


def test_another_update_at_the_same_time_is_refused(tmp_path, source):
    script = tmp_path / "held.py"
    script.write_text(HELD)
    command = [sys.executable, script, tmp_path]
    (tmp_path / "go").touch()
    subprocess.run(command, check=True)
    (tmp_path / "go").unlink()
    (tmp_path / "began").unlink()
    source[0, 0] = 9
    other = subprocess.Popen(command)
    try:
        while not (tmp_path / "began").exists():
            assert other.poll() is None
        with pytest.raises(FileExistsError, match=f"process {other.pid}"):
            quiet_update(doubled(tmp_path), tmp_path / "out")
    finally:
        (tmp_path / "go").touch()
        assert other.wait(60) == 0
    check_like_whole_run(doubled(tmp_path), tmp_path / "out", tmp_path / "whole")


# --- Interrupted updates --------------------------------------------------------------------------

KILLED = """
import os, signal, sys
sys.path.insert(0, sys.argv[4])
import cubed
from test_update import doubled
import pathlib
folder = pathlib.Path(sys.argv[1])
class Kill(cubed.Callback):
    left = int(sys.argv[2])
    def on_task_end(self, event):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
cubed.to_zarr(doubled(folder), folder / "out", update=True, callbacks=[Kill()],
              executor=sys.argv[3])
"""


@pytest.mark.parametrize("executor", ["single-threaded", "processes"])
@pytest.mark.parametrize("number", [1, 3])
def test_a_killed_update_is_continued(tmp_path, number, executor):
    script = tmp_path / "killed.py"
    script.write_text(KILLED)
    for attempt in range(20):  # a short run may end before its callback hears of a task
        folder = tmp_path / str(attempt)
        folder.mkdir()
        source, out = make(folder / "a", (20, 6), (5, 3)), folder / "out"
        update(doubled(folder), out)
        values = source[...]
        source.resize((31, 6))
        source[20:] = 1.5
        source[0] = 8
        done = subprocess.run(
            [sys.executable, script, folder, str(number), executor, Path(__file__).parent],
            env={**os.environ, "PYTHONPATH": str(TESTS_PATH)},
        )
        assert done.returncode == -signal.SIGKILL
        there = zarr.open_array(out, mode="r")  # still whole, with old and new chunks
        if there.shape == (20, 6):
            break
    assert there.shape == (20, 6)
    assert bits(there[5:]) == bits(values[5:] * 2)
    found, ran, skipped = update(doubled(folder), out)
    assert found["in_place"] and ran >= 8 - number and skipped == 6
    check_like_whole_run(doubled(folder), out, folder / "whole")


def test_a_killed_update_is_not_resumed_by_a_run_without_update(tmp_path, source):
    """Old chunks must not count as chunks that the run has made."""
    out = tmp_path / "out"
    update(doubled(tmp_path), out)
    source[...] = np.arange(120.0).reshape(20, 6)
    source[0, 0] = 1
    source[5:] = zarr.open_array(out)[5:] / 2  # most chunks stay

    class Stop(cubed.Callback):
        def on_task_end(self, event):
            raise KeyboardInterrupt

    with contextlib.suppress(KeyboardInterrupt):
        quiet_update(doubled(tmp_path), out, callbacks=[Stop()])
    cubed.to_zarr(doubled(tmp_path), out, resume=True)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")


def test_an_error_leaves_the_array(tmp_path, source):
    out = tmp_path / "out"
    update(doubled(tmp_path), out)
    source[0, 0] = 3
    source[19, 5] = 4

    class Stop(cubed.Callback):
        def on_task_end(self, event):
            raise LookupError("enough")

    with pytest.raises(LookupError):
        update(doubled(tmp_path), out, callbacks=[Stop()])
    assert zarr.open_array(out, mode="r").shape == (20, 6)
    assert not (out / ".cubed-run").exists()
    found, ran, _ = update(doubled(tmp_path), out)
    assert found["in_place"] and ran in (1, 2)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")


# --- Calls ----------------------------------------------------------------------------------------


def test_calls(tmp_path, source):
    out = tmp_path / "out"
    cubed.to_zarr(doubled(tmp_path), out, update=True)
    assert (out / ".cubed-sources").exists()
    stored = cubed.to_zarr(doubled(tmp_path), out, compute=False)
    source[0, 0] = 2.5
    values = stored.compute(update=True)
    np.testing.assert_array_equal(values, source[...] * 2)
    several = cubed.store(
        [doubled(tmp_path), doubled(tmp_path) + 1], [tmp_path / "x", tmp_path / "y"], compute=False
    )
    several.compute(update=True)
    source[0, 0] = 3.5
    assert several.plan().execute(update=True)["num_resumed"] > 0
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], source[...] * 2 + 1)


def test_bad_calls(tmp_path, source):
    x = doubled(tmp_path)
    with pytest.raises(ValueError, match="kept in memory"):
        x.compute(update=True)
    with pytest.raises(ValueError, match="update and resume exclude each other"):
        cubed.to_zarr(x, tmp_path / "out", update=True, resume=True)
    with pytest.raises(ValueError, match=r"r\.zip is a file that is written as a whole"):
        cubed.to_zarr(x, tmp_path / "r.zip", update=True)
    cubed.to_zarr(x, tmp_path / "out")
    with pytest.raises(ValueError, match="written in a region"):
        cubed.to_zarr(x, tmp_path / "out", region=(slice(20), slice(6)), update=True)
    with pytest.raises(FileExistsError, match="does not overwrite its target"):
        quiet_update_no_overwrite(x, tmp_path / "out")


def quiet_update_no_overwrite(x, out):
    stored = cubed.to_zarr(x, out, overwrite=False, compute=False)
    cubed.plan(stored).execute(update=True)


def test_a_source_that_is_a_function(tmp_path):
    class Rows:
        shape, dtype, ndim = (4, 3), np.dtype("f8"), 2

        def __getitem__(self, key):
            return np.ones(self.shape)[key]

    x = cubed.from_array(Rows(), chunks=(2, 3), asarray=False, spec=SPEC) + 1
    quiet_update(x, tmp_path / "out")
    recomputed(x, tmp_path / "out", "source is a function")


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (1,), (1, 1)])
def test_small_arrays(tmp_path, shape):
    z = zarr.create_array(tmp_path / "a", shape=shape, chunks=(1,) * len(shape), dtype="f8")
    z[...] = 2.0
    update(doubled(tmp_path), tmp_path / "out")
    assert quiet_update(doubled(tmp_path), tmp_path / "out")[1] == 0
    z[...] = -0.0
    quiet_update(doubled(tmp_path), tmp_path / "out")
    check_like_whole_run(doubled(tmp_path), tmp_path / "out", tmp_path / "whole")


def command(*args, code=0):
    done = subprocess.run([BIN, *map(str, args)], capture_output=True, text=True, timeout=120)
    assert done.returncode == code, done.stderr
    return done.stdout + done.stderr


def test_the_command(tmp_path, source):
    out, plan = tmp_path / "out.zarr", tmp_path / "p.cubed"
    args = ("eval", "a * 2", "--in", f"a={tmp_path / 'a'}", "--out", out, "--update")
    quiet = ("--progress", "none")
    assert "there was no result" in command(*args, *quiet)
    assert "0 tasks were run and 8 skipped" in command(*args, *quiet)
    source[0, 0] = 9
    assert "1 task was run and 7 skipped" in command(*args, *quiet)
    source.resize((25, 6))
    assert "2 tasks were run and 8 skipped" in command(*args, *quiet)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")
    command(*args, "--save-plan", plan)
    assert "everything was recomputed" not in command("run", plan, "--update", *quiet)
    source[24, 5] = 7
    assert "1 task was run" in command("run", plan, "--update", *quiet)
    source[24, 5] = 8
    assert "1 task was run" in command("run", plan, "--update", "--executor", "processes", *quiet)
    check_like_whole_run(doubled(tmp_path), out, tmp_path / "whole")
    rows = ("rechunk", tmp_path / "a", tmp_path / "rows", "--chunks", "1,6", "--update", *quiet)
    assert "there was no result" in command(*rows)
    source[0] = 1
    assert "of the sources changed" in command(*rows)
    assert "with --out" in command("eval", "a", "--in", f"a={tmp_path / 'a'}", "--update", code=2)
    file = ("eval", "a", "--in", f"a={tmp_path / 'a'}", "--out", tmp_path / "r.zip", "--update")
    assert "written as a whole" in command(*file, code=2)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_object_stores(tmp_path, source, executor):
    """Versions are listed; only chunks that changed are read and written."""

    def put():
        for file in (tmp_path / "a").rglob("*"):
            if file.is_file():
                key = f"a/{file.relative_to(tmp_path / 'a')}"
                server.objects[key] = Object(file.read_bytes(), {})

    def evaluate():
        server.requests.clear()
        done = run_with(
            server, "eval", "a * 2", "--in", "a=s3://b/a", "--out", "s3://b/out", "--update",
            "--executor", executor, "--progress", "none",
        )  # fmt: skip
        asked = [(r.op, r.key) for r in server.requests]
        gets = [k for op, k in asked if op == "get" and k.startswith("a/c/")]
        puts = [k for op, k in asked if op == "put" and k.startswith("out/c/")]
        return done.err, sorted(gets), sorted(puts)

    with Server(page=1000) as server:
        put()
        assert "there was no result" in evaluate()[0]
        err, gets, puts = evaluate()
        assert "0 tasks were run and 8 skipped" in err and not gets and not puts
        source[7, 1] = 5.0
        source.resize((22, 6))
        source[20:] = 1.0
        put()
        err, gets, puts = evaluate()
        assert "3 tasks were run and 7 skipped" in err
        assert set(gets) == {"a/c/1/0", "a/c/4/0", "a/c/4/1"}
        assert set(puts) == {"out/c/1/0", "out/c/4/0", "out/c/4/1"}
        np.testing.assert_array_equal(fetched(server, "out", tmp_path), source[...] * 2)
        for key in ("out/c/0/0", "out/c/4/1"):
            server.objects[key] = Object(server.objects["out/c/2/0"].data, {})
        assert "2 tasks were run and 8 skipped" in evaluate()[0]
        server.objects["a/c/2/0"] = Object(server.objects["a/c/2/0"].data, {})
        assert "0 tasks were run" in evaluate()[0]
        assert not [k for k in server.objects if ".cubed-run" in k]


# --- Random updates -------------------------------------------------------------------------------


class Sources:
    """One or two arrays with the same shape and grids of their own."""

    def __init__(self, r, folder):
        self.r, self.folder = r, folder
        self.shape = [r.randint(1, 24), r.randint(1, 9)]
        self.arrays = []
        for i in range(r.randint(1, 2)):
            chunks = (r.randint(1, 7), r.randint(1, 9))
            kind = r.choice(["v2", "v3", "sharded"])
            shards = (chunks[0] * 2, chunks[1] * 2) if kind == "sharded" else None
            self.arrays.append(
                make(
                    folder / f"s{i}",
                    tuple(self.shape),
                    chunks,
                    2 if kind == "v2" else 3,
                    shards,
                    r.choice([0.0, np.nan, 2.5]),
                    r.randint(0, 99),
                )  # fmt: skip
            )

    def lazy(self):
        return [cubed.from_zarr(self.folder / f"s{i}", spec=SPEC) for i in range(len(self.arrays))]

    def objects(self, i):
        return [
            p
            for p in (self.folder / f"s{i}").rglob("*")
            if p.is_file() and not p.name.startswith((".", "zarr.json"))
        ]

    def change(self):
        """Changes a source; returns True if its bytes stay as they are."""
        r = self.r
        i = r.randrange(len(self.arrays))
        z = self.arrays[i]
        how = r.choice(["nothing", "rewrite", "same", "delete", "append", "append", "attributes"])
        if how == "rewrite":
            at = tuple(r.randrange(n) for n in self.shape)
            z[at] = r.choice([r.random(), np.nan, np.inf, -0.0, 0.0])
        elif how == "same":
            for p in self.objects(i):
                p.write_bytes(p.read_bytes())
        elif how == "delete" and self.objects(i):
            r.choice(sorted(self.objects(i))).unlink()
        elif how == "attributes":
            z.attrs["n"] = r.random()
        elif how == "append":
            axis = r.choice([0, 0, 0, 1])
            before = list(self.shape)
            self.shape[axis] += r.randint(1, 6)
            for k, a in enumerate(self.arrays):
                a.resize(tuple(self.shape))
                new = [slice(None)] * 2
                new[axis] = slice(before[axis], None)
                if r.random() < 0.8:
                    a[tuple(new)] = np.random.default_rng(k).random(a[tuple(new)].shape)
        return how in ("nothing", "same")


def random_plan(r):
    """A function of sources: elementwise operations, views, rechunks and reductions."""
    steps = []
    for _ in range(r.randint(1, 4)):
        steps.append(
            r.choice([
                lambda x, y: x * 2 - 1,
                lambda x, y: x + y,
                lambda x, y: xp.sqrt(xp.abs(x)),
                lambda x, y: x[:, ::-1],
                lambda x, y: x[1:] if x.shape[0] > 1 else x,
                lambda x, y: x[::2],
                lambda x, y: x - xp.mean(x, axis=1, keepdims=True),
                lambda x, y: x.rechunk((3, 4)),
                lambda x, y: x.rechunk((-1, 1)),
                lambda x, y: xp.concat([x[:1], x], axis=0),
                lambda x, y: xp.concat([x, x], axis=1),
                lambda x, y: xp.cumulative_sum(x, axis=1),
                lambda x, y: xp.where(x > 0, x, 0.0),
                lambda x, y: xp.roll(x, 1, axis=1),
                lambda x, y: xp.sort(x, axis=1),
                lambda x, y: cubed.map_blocks(np.negative, x, dtype="f8"),
            ])
        )  # fmt: skip
    last = r.choice([
        lambda x: x,
        lambda x: x,
        lambda x: xp.sum(x, axis=1),
        lambda x: xp.max(x, axis=1),
        lambda x: xp.var(x, axis=1),
        lambda x: xp.argmax(x, axis=1),
        lambda x: xp.sum(x, axis=0),
        lambda x: xp.mean(x),
        lambda x: xp.permute_dims(x, (1, 0)),
    ])  # fmt: skip

    def f(arrays):
        x = arrays[0]
        for step in steps:
            y = arrays[-1] if arrays[-1].shape == x.shape else x
            x = step(x, y)
        return last(x)

    return f


@pytest.mark.parametrize("seed", range(cases(10)))
def test_random_updates(tmp_path, seed):
    r = random.Random(seed)
    sources = Sources(r, tmp_path)
    plan = random_plan(r)
    out, whole = tmp_path / "out", tmp_path / "whole"
    quiet_update(plan(sources.lazy()), out)
    for _ in range(4):
        same = sources.change()
        found, ran, _ = quiet_update(plan(sources.lazy()), out)
        if same:
            assert found["in_place"] and ran == 0, found
        check_like_whole_run(plan(sources.lazy()), out, whole)
