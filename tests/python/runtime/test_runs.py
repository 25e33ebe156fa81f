"""Concurrent and repeated runs: where they may write, what they replace and when, and what they
resume.
"""

import json
import multiprocessing
import pathlib
import signal
import subprocess
import sys
import textwrap
import time

import cubed
import numpy as np
import pytest
from conftest import BIN, check, looking, run

import zarr

RECORD = ".cubed-run"


def stored(path, values, chunks=(2,), **options):
    z = zarr.create_array(path, shape=values.shape, chunks=chunks, dtype=values.dtype, **options)
    z[...] = values
    return path


def read(path):
    return zarr.open_array(path, mode="r")[...]


def leftovers(folder):
    """What is neither Zarr's nor a record that all is done."""
    found = []
    for p in pathlib.Path(folder).rglob("*"):
        if p.name == RECORD and json.loads(p.read_text())["state"] != "done":
            found.append(p)
        if p.name.startswith((".cubed-new", ".cubed-tmp", "cubed-")):
            found.append(p)
    return found


# --- Replacing ---


@pytest.mark.parametrize("executor", ["threads", "single-threaded", "processes"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_an_array_is_stored_over_itself(tmp_path, executor, zarr_format):
    values = np.arange(10.0)
    stored(tmp_path / "x", values, zarr_format=zarr_format)
    (tmp_path / "x/notes.txt").write_text("mine")
    x = cubed.from_zarr(tmp_path / "x")
    cubed.to_zarr(cubed.flip(x) + 1, tmp_path / "x", overwrite=True, executor=executor)
    np.testing.assert_array_equal(read(tmp_path / "x"), values[::-1] + 1)
    assert (tmp_path / "x/notes.txt").read_text() == "mine"
    assert not leftovers(tmp_path)


def test_the_command_stores_an_array_over_itself(tmp_path):
    values = np.arange(12.0).reshape(4, 3)
    stored(tmp_path / "g/x", values, chunks=(1, 3))
    args = ["eval", "x + sum(x, axis=0)", "--in", f"x={tmp_path / 'g/x'}"]
    check(run(*args, "--out", f"{tmp_path / 'g'}::x", "--overwrite"))
    np.testing.assert_array_equal(read(tmp_path / "g/x"), values + values.sum(0))
    check(run("rechunk", tmp_path / "g/x", f"{tmp_path}/./g/x", "--chunks", "4,1", "--overwrite"))
    np.testing.assert_array_equal(read(tmp_path / "g/x"), values + values.sum(0))
    assert zarr.open_array(tmp_path / "g/x", mode="r").chunks == (4, 1)
    assert not leftovers(tmp_path)


def test_two_arrays_change_places(tmp_path):
    a, b = np.arange(6), np.arange(6) * 10
    stored(tmp_path / "a", a)
    stored(tmp_path / "b", b)
    x, y = cubed.from_zarr(tmp_path / "a"), cubed.from_zarr(tmp_path / "b")
    cubed.store([x, y], [tmp_path / "b", tmp_path / "a"], overwrite=True)
    np.testing.assert_array_equal(read(tmp_path / "a"), b)
    np.testing.assert_array_equal(read(tmp_path / "b"), a)


def fails(block):
    if block[0] > 5:
        raise ValueError("no")
    return block


@pytest.mark.parametrize("executor", ["threads", "single-threaded", "processes"])
def test_a_run_that_fails_leaves_the_old_array(tmp_path, executor):
    values = np.arange(10.0)
    stored(tmp_path / "x", values)
    y = cubed.map_blocks(fails, cubed.from_zarr(tmp_path / "x") + 1, dtype="f8")
    with pytest.raises(ValueError, match="no"):
        cubed.to_zarr(y, tmp_path / "x", overwrite=True, executor=executor, max_workers=1)
    np.testing.assert_array_equal(read(tmp_path / "x"), values)
    assert leftovers(tmp_path)  # for resume=True
    check(run("clean", tmp_path / "x"))
    np.testing.assert_array_equal(read(tmp_path / "x"), values)
    assert not leftovers(tmp_path)


def test_killed_after_it_replaced(tmp_path):
    """The old array, which is not removed yet, is by who resumes, and nothing is computed."""
    values = np.arange(6.0)
    stored(tmp_path / "x", values)
    args = ["eval", "x * 2", "--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "x", "--overwrite"]
    check(run(*args))
    record = json.loads((tmp_path / "x" / RECORD).read_text())
    beside = f".cubed-new-{record['run']}~x"
    stored(tmp_path / beside, values)
    (tmp_path / beside / "notes.txt").write_text("mine")
    swapped = record | {"state": "swapped", "staged": beside, "owner": "gone"}
    (tmp_path / "x" / RECORD).write_text(json.dumps(swapped))
    check(run(*args, "--resume"))
    np.testing.assert_array_equal(read(tmp_path / "x"), values * 2)
    assert (tmp_path / "x/notes.txt").read_text() == "mine"
    assert not leftovers(tmp_path)
    check(run(*args, "--resume"))
    np.testing.assert_array_equal(read(tmp_path / "x"), values * 2)


def test_the_old_array_can_be_read_until_the_new_one_is_whole(tmp_path):
    values = np.arange(10.0)
    stored(tmp_path / "x", values)

    def look(block):
        np.testing.assert_array_equal(zarr.open_array(tmp_path / "x", mode="r")[...], values)
        (tmp_path / "looked").touch()
        return block + 1

    y = cubed.map_blocks(look, cubed.from_zarr(tmp_path / "x"), dtype="f8")
    cubed.to_zarr(y, tmp_path / "x", overwrite=True, executor="single-threaded")
    assert (tmp_path / "looked").exists()
    np.testing.assert_array_equal(read(tmp_path / "x"), values + 1)


@pytest.mark.parametrize("name", ["none", ".hidden", "c.txt", "notes"])
def test_a_file_of_the_user_survives_a_run_that_fails(tmp_path, name):
    """At once, before a task has ended: what is left of the array goes, and nothing else."""
    stored(tmp_path / "x", np.arange(4))
    for chunk in (tmp_path / "x/c").iterdir():
        chunk.write_text("x")
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / name).write_text("mine")
    assert run("eval", "x + 1", "--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "y").code
    assert [p.name for p in (tmp_path / "y").iterdir()] == [name]
    assert (tmp_path / "y" / name).read_text() == "mine"


def test_files_that_are_not_zarrs_survive(tmp_path):
    stored(tmp_path / "g/a", np.arange(4))
    zarr.open_group(tmp_path / "g", mode="a")
    (tmp_path / "g/README").write_text("hello")
    (tmp_path / "g/a/plots").mkdir()
    (tmp_path / "g/a/plots/one.png").write_text("png")
    cubed.to_zarr(cubed.ones((3,), chunks=2), tmp_path / "g", overwrite=True)
    assert (tmp_path / "g/README").read_text() == "hello"
    assert (tmp_path / "g/a/plots/one.png").read_text() == "png"
    np.testing.assert_array_equal(read(tmp_path / "g"), np.ones(3))
    assert not (tmp_path / "g/a/zarr.json").exists()


@pytest.mark.parametrize("encoding", ["default", "v2"])
@pytest.mark.parametrize("separator", ["/", "."])
def test_chunks_of_the_old_array_do_not_survive(tmp_path, encoding, separator):
    """Where the new one has none, as there is nothing in it, they would be taken for its own."""
    keys = {"name": encoding, "separator": separator}
    stored(tmp_path / "x", np.arange(1.0, 9.0), chunk_key_encoding=keys)
    args = ["copy", tmp_path / "zeros", tmp_path / "x", "--overwrite", "--skip-empty"]
    stored(tmp_path / "zeros", np.zeros(8), config={"write_empty_chunks": True})
    check(run(*args))
    np.testing.assert_array_equal(read(tmp_path / "x"), np.zeros(8))
    assert sorted(p.name for p in (tmp_path / "x").rglob("*") if p.name != RECORD) == ["zarr.json"]


def test_a_link_stays_a_link(tmp_path):
    stored(tmp_path / "real", np.arange(4))
    (tmp_path / "link").symlink_to("real")
    cubed.to_zarr(cubed.from_zarr(tmp_path / "link") * 2, tmp_path / "link", overwrite=True)
    assert (tmp_path / "link").is_symlink()
    np.testing.assert_array_equal(read(tmp_path / "real"), np.arange(4) * 2)


def test_consolidated_metadata_has_nothing_of_runs(tmp_path):
    """The array that was replaced lies beside the new one while the metadata are written."""
    group = zarr.create_group(tmp_path / "g.zarr")
    group.create_array("x", shape=(4,), dtype="f8")[:] = 1
    zarr.consolidate_metadata(group.store)
    where = ("--in", f"x={tmp_path}/g.zarr::x", "--out", tmp_path / "g.zarr", "--overwrite")
    check(run("eval", "x=x+1", *where, "--progress", "none"))
    document = json.loads((tmp_path / "g.zarr/zarr.json").read_text())
    assert list(document["consolidated_metadata"]["metadata"]) == ["x"]


def test_consolidated_metadata_does_not_outlive_what_it_describes(tmp_path):
    stored(tmp_path / "g/a", np.arange(4))
    group = zarr.open_group(tmp_path / "g", mode="a")
    zarr.consolidate_metadata(group.store)
    cubed.to_zarr(cubed.ones((3, 3), chunks=2), tmp_path / "g", path="a", overwrite=True)
    assert zarr.open_group(tmp_path / "g", mode="r")["a"].shape == (3, 3)


@pytest.mark.parametrize("where", ["x", "g/x"])
def test_killed_while_it_replaces(tmp_path, where):
    """At any time there is the old array or the new one.

    Step by step, and in both formats: tests/unit/test_killed_replacing.c.
    """
    values = np.arange(400.0)
    path = tmp_path / where
    code = f"""
        import cubed, time
        x = cubed.from_zarr({str(path)!r})
        f = lambda b: (time.sleep(0.002), b + 1)[1]
        y = cubed.map_blocks(f, x, dtype="f8")
        cubed.to_zarr(y, {str(path)!r}, overwrite=True, executor="single-threaded")
    """
    kinds = set()
    for k in range(5):
        stored(path, values, chunks=(10,), overwrite=True)
        with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)]) as process:
            beside = path.parent
            deadline = time.monotonic() + 60
            while not list(beside.glob(".cubed-new-*/c/*")) and time.monotonic() < deadline:
                time.sleep(0.002)
            time.sleep(0.02 * k)
            process.kill()
        got = read(path)
        kinds.add(float(got[0]))
        np.testing.assert_array_equal(got, values + got[0])
        check(run("clean", path))
        np.testing.assert_array_equal(read(path), values + got[0])
        assert not leftovers(tmp_path)
    assert 0.0 in kinds


def test_what_is_left_of_an_array_that_is_gone_is_cleaned(tmp_path):
    stored(tmp_path / "g/x", np.arange(4.0))
    beside = tmp_path / "g/.cubed-new-0123~x"
    (beside / "c").mkdir(parents=True)
    (beside / "c/0").write_bytes(b"chunk")
    stored(tmp_path / "g/.cubed-new", np.arange(3.0))  # a name of the user's
    told = check(run("clean", tmp_path, "--dry-run")).out
    assert "would remove an unfinished array" in told and beside.exists()
    check(run("clean", tmp_path))
    assert not beside.exists()
    np.testing.assert_array_equal(read(tmp_path / "g/x"), np.arange(4.0))
    np.testing.assert_array_equal(read(tmp_path / "g/.cubed-new"), np.arange(3.0))


def test_a_target_may_be_called_as_folders_of_intermediates_are(tmp_path):
    out = tmp_path / "cubed-out"
    stored(out, np.arange(400.0), chunks=(10,))
    record = {"version": 1, "plan": "0" * 32, "run": "out", "owner": "gone", "state": "working"}
    (out / RECORD).write_text(json.dumps(record))
    check(run("clean", tmp_path))
    np.testing.assert_array_equal(read(out), np.arange(400.0))
    assert not (out / RECORD).exists()


# --- Meeting ---

SLOW = """
import cubed, time, sys
def slow(b):
    time.sleep(0.05)
    return b * 2
x = cubed.map_blocks(slow, cubed.ones((40,), chunks=1), dtype="f8")
cubed.to_zarr(x, sys.argv[1], executor="single-threaded")
"""


def test_a_second_writer_is_told_who_is_first(tmp_path):
    out = tmp_path / "out"
    with subprocess.Popen([sys.executable, "-c", SLOW, out]) as first:
        deadline = time.monotonic() + 60
        while not (out / RECORD).exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        for overwrite in False, True:
            with pytest.raises(OSError, match=f"is being written by process {first.pid} on"):
                cubed.to_zarr(cubed.ones((4,)), out, overwrite=overwrite)
        assert first.wait(timeout=60) == 0
    np.testing.assert_array_equal(read(out), np.full(40, 2.0))
    assert not leftovers(tmp_path)


@pytest.mark.parametrize("by", [None, "another"])
def test_a_run_whose_place_was_taken_says_so(tmp_path, by):
    """By who cleaned up, or by another run, whose the place is then."""
    out = tmp_path / "out"

    def steal(block):
        record = json.loads((out / RECORD).read_text())
        (out / RECORD).unlink()
        if by:
            (out / RECORD).write_text(json.dumps(record | {"run": by, "owner": by}))
        return block

    y = cubed.map_blocks(steal, cubed.ones((2,)), dtype="f8")
    with pytest.raises(OSError, match="was taken over while this run was writing it"):
        cubed.to_zarr(y, out, executor="single-threaded")
    assert not (out / "zarr.json").exists()
    left = [json.loads(p.read_text())["run"] for p in out.glob(RECORD)]
    assert left == ([by] if by else [])


def forked(work, seed, results):
    """A plan with intermediates in a directory that others use as well."""
    try:
        spec = cubed.Spec(work_dir=work, allowed_mem="30MB", reserved_mem="20MB")
        values = np.random.default_rng(seed).random((600, 400))
        for _ in range(3):
            x = cubed.from_array(values, chunks=(60, 400), spec=spec)
            y = cubed.rechunk(x + 1, (600, 20))
            (got,) = cubed.compute(y, executor="processes", max_workers=1, optimize_graph=False)
            np.testing.assert_array_equal(got, values + 1)
        results.put(values.ctypes.data)
    except BaseException as e:
        results.put(repr(e))
        raise


def test_forked_children_do_not_meet(tmp_path):
    """Arrays of children lie at equal addresses, and their intermediates in one directory."""
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    args = [(str(tmp_path), k, results) for k in range(4)]
    children = [context.Process(target=forked, args=a, daemon=True) for a in args]
    for c in children:  # before there are threads
        c.start()
    with looking(tmp_path) as most:
        got = [results.get(timeout=120) for _ in children]
        for c in children:
            c.join(timeout=30)
    assert all(isinstance(address, int) for address in got), got
    assert len(set(got)) < len(got)
    assert most["all"] > 1
    assert not list(tmp_path.iterdir())


# --- Going on ---


GOING_ON = """
import os, signal, sys
import cubed, numpy as np
out, what, source = sys.argv[1:]
x = cubed.from_zarr(source) if "/" in source else None
if x is None:
    x = cubed.from_array(np.arange(2_000_000.0) + int(source), chunks=20_000)

class Stop(cubed.Callback):
    tasks = 0
    def on_task_end(self, event):
        self.tasks += 1
        if what == "kill" and self.tasks > 4:
            os.kill(os.getpid(), signal.SIGKILL)

cubed.to_zarr(x * 2, out, resume=True, executor="single-threaded", callbacks=[Stop()])
"""


def go_on(out, what, source):
    return subprocess.run(
        [sys.executable, "-c", GOING_ON, out, what, str(source)], capture_output=True, text=True
    )


def test_the_same_script_goes_on_in_a_new_process(tmp_path):
    out = tmp_path / "out"
    killed = go_on(out, "kill", 0)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert not (out / "zarr.json").exists()
    chunks = [p for p in (out / "c").iterdir() if not p.name.startswith(".cubed-tmp-")]
    kept = {p: p.stat().st_mtime_ns for p in chunks}
    assert kept
    again = go_on(out, "finish", 0)
    assert again.returncode == 0, again.stderr
    assert all(p.stat().st_mtime_ns == t for p, t in kept.items())
    np.testing.assert_array_equal(read(out), np.arange(2_000_000.0) * 2)


def test_other_contents_are_another_plan(tmp_path):
    out = tmp_path / "out"
    assert go_on(out, "kill", 0).returncode == -signal.SIGKILL
    assert go_on(out, "finish", 1).returncode == 0
    np.testing.assert_array_equal(read(out), (np.arange(2_000_000.0) + 1) * 2)


@pytest.mark.parametrize("changed", [False, True])
def test_other_contents_in_the_same_memory_are_another_plan(tmp_path, changed):
    """What has the same contents goes on."""
    out, values = tmp_path / "out", np.arange(4000.0)

    class Stop(cubed.Callback):
        tasks = 0

        def on_task_end(self, event):
            self.tasks += 1
            if self.tasks == 5:
                raise KeyboardInterrupt

    def double(**options):
        x = cubed.from_array(values, chunks=10)
        cubed.to_zarr(x * 2, out, resume=True, executor="single-threaded", **options)

    with pytest.raises(KeyboardInterrupt):
        double(callbacks=[Stop()])
    kept = {p: p.stat().st_mtime_ns for p in (out / "c").iterdir()}
    assert len(kept) > 4  # or all, as tasks are told of together
    values += changed
    double()
    np.testing.assert_array_equal(read(out), values * 2)
    assert all((p.stat().st_mtime_ns == t) != changed for p, t in kept.items())


def test_a_source_that_was_written_anew_is_noticed(tmp_path):
    values = np.arange(2_000_000.0)
    stored(tmp_path / "x", values, chunks=(20_000,))
    out = tmp_path / "out"
    assert go_on(out, "kill", tmp_path / "x").returncode == -signal.SIGKILL
    stored(tmp_path / "x", values + 1, chunks=(20_000,), overwrite=True)
    refused = go_on(out, "finish", tmp_path / "x")
    assert refused.returncode == 1
    assert "x has been overwritten since the run began" in refused.stderr
    cubed.to_zarr(cubed.from_zarr(tmp_path / "x") * 2, out, overwrite=True)
    np.testing.assert_array_equal(read(out), (values + 1) * 2)


@pytest.mark.parametrize("verb", ["eval", "group", "rechunk"])
def test_a_run_is_gone_on_with_in_its_format(tmp_path, verb):
    """Not in the default one, unless it is asked for."""
    values = np.arange(40.0).reshape(8, 5)
    stored(tmp_path / "x", values, chunks=(1, 5))
    out = tmp_path / "out"
    text = "a = x + 0; b = x + 1" if verb == "group" else "x + 0"
    args = ["eval", text, "--in", f"x={tmp_path / 'x'}", "--out", out]
    if verb == "rechunk":
        args = ["rechunk", tmp_path / "x", out, "--chunks", "8,1"]
    check(run(*args, "--format", "2"))
    made = [out / "a", out / "b"] if verb == "group" else [out]
    kept = {}
    for array in made:  # as they were before the last step
        record = json.loads((array / RECORD).read_text())
        (array / RECORD).write_text(json.dumps(record | {"state": "left", "made": 0}))
        (array / ".zarray").unlink()
        kept |= {p: p.stat().st_mtime_ns for p in array.iterdir() if p.name[0].isdigit()}
    check(run(*args, "--resume"))
    for array in made:
        assert (array / ".zarray").exists() and not (array / "zarr.json").exists()
        np.testing.assert_array_equal(read(array), values + (array.name == "b"))
    assert kept and all(p.stat().st_mtime_ns == t for p, t in kept.items())
    assert run(*args, "--format", "3", "--resume").code == 1


def test_a_finished_run_is_no_answer_for_other_sources(tmp_path):
    values = np.arange(6.0)
    stored(tmp_path / "x", values)
    args = ["eval", "x * 2", "--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "out"]
    check(run(*args))
    check(run(*args, "--resume"))
    stored(tmp_path / "x", values + 1, overwrite=True)
    refused = run(*args, "--resume")
    assert refused.code == 1 and "exists" in refused.err
    check(run(*args, "--resume", "--overwrite"))
    np.testing.assert_array_equal(read(tmp_path / "out"), (values + 1) * 2)


def test_what_was_stored_over_itself_is_not_stored_again(tmp_path):
    values = np.arange(6.0)
    stored(tmp_path / "x", values)
    args = ["eval", "x * 2", "--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "x", "--overwrite"]
    check(run(*args))
    for _ in range(2):
        check(run(*args, "--resume"))
        np.testing.assert_array_equal(read(tmp_path / "x"), values * 2)
    check(run(*args))
    np.testing.assert_array_equal(read(tmp_path / "x"), values * 4)


def test_what_a_function_reads_is_never_resumed(tmp_path):
    out = tmp_path / "out"
    values = np.arange(40)
    for k in range(2):
        x = cubed.from_array(Reader(values + k), chunks=(4,), asarray=False)
        with pytest.warns(UserWarning, match="resume is True, but the run starts again"):
            cubed.to_zarr(x, out, resume=True, overwrite=True)
        np.testing.assert_array_equal(read(out), values + k)


class Reader:
    """An array-like that is read by regions, and whose contents nobody can know."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype
        self.ndim = values.ndim

    def __getitem__(self, key):
        return self.values[key]


# --- Runs in parts ---


@pytest.fixture
def parts(tmp_path):
    """A saved plan of several stages, with intermediates, and what it computes."""
    values = np.random.default_rng(0).random((60, 40))
    stored(tmp_path / "x", values, chunks=(6, 40))
    args = ["eval", "rechunk(x - mean(x, axis=0), (60, 4)) * 2", "--in", f"x={tmp_path / 'x'}"]
    args += ["--out", tmp_path / "out", "--work-dir", tmp_path / "work", "--no-optimize"]
    plan = tmp_path / "p.cubed"
    told = check(run(*args, "--save-plan", plan, "--plan"))
    rows = [line.split() for line in told.out.splitlines()]
    counts = [int(row[1]) for row in rows if len(row) > 2 and row[0].isdigit() and row[1].isdigit()]
    assert len(counts) > 2
    return plan, counts, (values - values.mean(0)) * 2


def worker(plan, *args):
    return run("worker", plan, *args)


def test_a_run_in_parts(tmp_path, parts):
    plan, counts, expected = parts
    name = check(worker(plan, "--begin")).out.strip()
    assert check(worker(plan, "--begin", "--run", name)).out.strip() == name
    refused = run("worker", plan, "--begin")
    assert refused.code == 1 and f"run {name}" in refused.err
    assert worker(plan, 0, "0", "--run", "another").code == 1
    for stage, count in enumerate(counts):
        for k in range(count):
            # Whatever is repeated, or done twice at once, does no harm.
            args = [str(a) for a in (BIN, "worker", plan, stage, k, "--run", name)]
            number = 2 if k % 5 == 0 else 1
            twins = [subprocess.Popen(args, stdout=subprocess.DEVNULL) for _ in range(number)]
            assert [t.wait(timeout=60) for t in twins] == [0] * len(twins)
        early = worker(plan, "--finish", "--run", name)
        assert (early.code == 0) == (stage == len(counts) - 1), early.err
        if stage < len(counts) - 1:
            assert "has not been done" in early.err
            assert not (tmp_path / "out/zarr.json").exists()
    np.testing.assert_allclose(read(tmp_path / "out"), expected, atol=1e-14)
    check(worker(plan, "--finish", "--run", name))
    assert worker(plan, 0, "0", "--run", name).code == 1
    assert not list((tmp_path / "work").glob("*"))


def test_three_of_ten_tasks_are_no_array(tmp_path, parts):
    plan, counts, _ = parts
    check(worker(plan, "--begin", "--run", "r"))
    assert worker(plan, "--finish", "--run", "other").code == 1
    many = counts.index(10)
    for stage in range(many):
        check(worker(plan, stage, f"0:{counts[stage]}", "--run", "r"))
    check(worker(plan, many, "0:3", "--run", "r"))
    check(worker(plan, many, "7:10", "--run", "r"))
    refused = worker(plan, "--finish", "--run", "r")
    assert refused.code == 1
    assert f"task 3 of stage {many}" in refused.err
    assert not (tmp_path / "out/zarr.json").exists()
    told = check(run("clean", tmp_path / "out", tmp_path / "work")).out
    assert told.count("kept an unfinished run of workers") == told.count("\n") == 2
    check(run("clean", tmp_path / "out", tmp_path / "work", "--detached"))
    assert not leftovers(tmp_path)


def test_empty_folders_of_runs_are_removed(tmp_path):
    """A process may be killed before it puts anything there."""
    for name in (f"cubed-{'0123456789abcdef' * 2}-0", "cubed-mine", "other"):
        (tmp_path / name).mkdir()
    check(run("clean", tmp_path, "--dry-run"))
    assert len(list(tmp_path.iterdir())) == 3
    check(run("clean", tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["cubed-mine", "other"]


@pytest.mark.parametrize("finished", [False, True])
def test_notes_of_workers_are_cleaned(tmp_path, finished):
    """Also of plans without intermediates, and of workers that come when the run is over."""
    stored(tmp_path / "x", np.arange(6.0), chunks=(6,))
    work, plan = tmp_path / "work", tmp_path / "p.cubed"
    args = ["eval", "x * 2", "--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "out"]
    check(run(*args, "--work-dir", work, "--save-plan", plan))
    check(worker(plan, "--begin", "--run", "r"))
    check(worker(plan, 0, "0", "--run", "r"))
    (folder,) = work.iterdir()
    (note,) = (p.relative_to(work) for p in folder.rglob("done/*/*"))
    if finished:
        check(worker(plan, "--finish", "--run", "r"))
        assert not list(work.iterdir())
        (work / note).parent.mkdir(parents=True)
        (work / note).touch()
        assert folder.name in check(run("clean", work, "--dry-run")).out
        check(run("clean", work))
        np.testing.assert_array_equal(read(tmp_path / "out"), np.arange(6.0) * 2)
    else:
        for dry in ((), ("--dry-run",)):
            assert "kept an unfinished run of workers" in check(run("clean", work, *dry)).out
        assert folder.exists()
        check(run("clean", tmp_path / "out", work, "--detached"))
        assert not leftovers(tmp_path)
    assert not list(work.iterdir())


def test_names_of_runs_are_checked(parts):
    plan, _, _ = parts
    for name in "a b", "a/b", "..", "x" * 33:
        refused = worker(plan, "--begin", "--run", name)
        assert refused.code == 1 and "the run's name is" in refused.err


# --- Other plans with the same goal ---


def fails_once(folder, k):
    """Block `k` cannot be made the first time."""

    def function(a, block_id):
        if block_id[0] == k and not (folder / "failed").exists():
            (folder / "failed").touch()
            raise ConnectionResetError("not yet")
        return a + 1

    return function


@pytest.mark.parametrize(("before", "after"), [(1, 8), (8, 1)])
@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_run_is_resumed_with_another_number_of_workers(tmp_path, executor, before, after):
    """The sum goes through partial sums, of which there are as many as workers need."""
    stored(tmp_path / "x", np.arange(96_000.0), (1000,))
    work = tmp_path / "work"

    def store(workers):
        spec = cubed.Spec(work, allowed_mem="300MB", reserved_mem="200MB")
        x = cubed.from_zarr(tmp_path / "x", spec=spec)
        y = cubed.map_blocks(fails_once(tmp_path, 60), x, dtype="f8")
        both = [cubed.array_api.sum(x), y]
        paths = [tmp_path / "sum", tmp_path / "y"]
        again = (tmp_path / "failed").exists()
        options = {"executor": executor, "max_workers": workers, "retries": 0}
        cubed.store(both, paths, resume=again, **options)

    with pytest.raises(ConnectionResetError):
        store(before)
    made = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "y/c").iterdir()}
    assert 0 < len(made) < 96
    store(after)
    np.testing.assert_array_equal(read(tmp_path / "y"), np.arange(96_000.0) + 1)
    assert read(tmp_path / "sum") == np.arange(96_000.0).sum()
    now = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "y/c").iterdir()}
    assert {name: now[name] for name in made} == made
    assert not leftovers(tmp_path)
