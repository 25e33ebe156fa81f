"""A run that fails or is interrupted keeps its chunks for `resume=True`, for every way to start a
run.
"""

import os
import signal
import subprocess
import sys
import time

import cubed
import numpy as np
import pytest
from conftest import TESTS_PATH

import zarr

EXECUTORS = ["single-threaded", "threads", "processes"]
BEGUN = [{}, {"resume": False}, {"resume": True}]
SHAPE, CHUNK = (24, 10), (2, 10)


def doubled(folder, executor, stopped=None):
    """24 rows in chunks of 2, doubled by a function that fails in row 20 while a file is there.

    Row 20 waits until the file `stopped` is there, and 0.3 s more, so that the run that is stopped
    by the file's writer is not whole.
    """
    spec = cubed.Spec(
        folder / "work",
        allowed_mem="200MB",
        executor_name=executor,
        executor_options={"max_workers": 2} if executor != "single-threaded" else {},
    )
    fails = folder / "fails"

    def function(block):
        if block[0, 0] == 200.0 and fails.exists():
            raise LookupError("row 20 is odd")
        if block[0, 0] == 200.0 and stopped:
            end = time.monotonic() + 30
            while not stopped.exists() and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(0.3)
        return block * 2

    x = np.arange(240.0).reshape(SHAPE)
    lazy = cubed.from_array(x, chunks=CHUNK, spec=spec)
    return cubed.map_blocks(function, lazy, dtype="f8"), x * 2


def chunks(folder):
    # Not the temporary file of a chunk that is being written when the process is killed.
    return {p: p.stat().st_mtime_ns for p in (folder / "out").glob("c/*/[0-9]*")}


def check_resumed(y, values, folder, kept):
    cubed.to_zarr(y, folder / "out", resume=True)
    check_kept(values, folder, kept)


def check_kept(values, folder, kept):
    """The array is whole, and has the files of chunks that were kept."""
    np.testing.assert_array_equal(zarr.open_array(folder / "out")[...], values)
    after = chunks(folder)
    assert {p: after[p] for p in kept} == kept


@pytest.mark.parametrize("begun", BEGUN, ids=str)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_run_that_fails_keeps_chunks(tmp_path, executor, begun):
    y, values = doubled(tmp_path, executor)
    (tmp_path / "fails").touch()
    with pytest.raises(LookupError, match="row 20"):
        cubed.to_zarr(y, tmp_path / "out", **begun)
    kept = chunks(tmp_path)
    assert 8 <= len(kept) < 12
    with pytest.raises(Exception, match="(?i)no .*array|not found"):
        zarr.open_array(tmp_path / "out", mode="r")
    (tmp_path / "fails").unlink()
    check_resumed(y, values, tmp_path, kept)


@pytest.mark.parametrize("begun", BEGUN, ids=str)
@pytest.mark.parametrize("executor", EXECUTORS)
def test_an_interrupted_run_keeps_chunks(tmp_path, executor, begun):
    stopped = tmp_path / "stopped"
    y, values = doubled(tmp_path, executor, stopped)

    class Stop(cubed.Callback):
        ended = 0

        def on_task_end(self, event):
            self.ended += event.num_tasks
            if self.ended - event.num_tasks < 6 <= self.ended:
                stopped.touch()
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cubed.to_zarr(y, tmp_path / "out", callbacks=[Stop()], **begun)
    kept = chunks(tmp_path)
    assert len(kept) >= 6
    check_resumed(y, values, tmp_path, kept)


SIGNALLED = """
import os, signal, sys, time
from pathlib import Path
import cubed
from test_kept_chunks import doubled

class Stop(cubed.Callback):
    ended = 0

    def on_task_end(self, event):
        self.ended += event.num_tasks
        if self.ended - event.num_tasks < 6 <= self.ended:
            stopped.touch()
            os.kill(os.getpid(), getattr(signal, sys.argv[3]))

if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    stopped = Path(sys.argv[1], "stopped")
    y, _ = doubled(Path(sys.argv[1]), sys.argv[2], stopped)
    if sys.argv[3] == "resume":
        cubed.to_zarr(y, sys.argv[1] + "/out", resume=True)
    else:
        cubed.to_zarr(y, sys.argv[1] + "/out", callbacks=[Stop()])
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_signal_keeps_chunks(tmp_path, executor, name):
    """Another process resumes what one that was sent a signal began without `resume`."""
    (tmp_path / "began.py").write_text(SIGNALLED)
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    env["PYTHONPATH"] = TESTS_PATH
    if executor == "threads":
        # The first process compiles modules, the second reads them compiled: both name one plan.
        env["PYTHONPYCACHEPREFIX"] = os.fspath(tmp_path / "compiled")

    def run(what):
        args = [sys.executable, tmp_path / "began.py", tmp_path, executor, what]
        return subprocess.run(args, env=env, capture_output=True, text=True, check=False)

    done = run(name)
    assert done.returncode == -getattr(signal, name), done.stderr
    kept = chunks(tmp_path)
    assert 6 <= len(kept) < 12
    done = run("resume")
    assert done.returncode == 0, done.stderr
    check_kept(doubled(tmp_path, executor)[1], tmp_path, kept)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_new_run_over_kept_chunks_begins_anew(tmp_path, executor):
    y, values = doubled(tmp_path, executor)
    (tmp_path / "fails").touch()
    for _ in range(2):
        with pytest.raises(LookupError, match="row 20"):
            cubed.to_zarr(y, tmp_path / "out")
    (tmp_path / "fails").unlink()
    before = chunks(tmp_path)
    cubed.to_zarr(y, tmp_path / "out")
    assert not set(chunks(tmp_path).items()) & set(before.items())
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out")[...], values)
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["c", "zarr.json"]


def test_an_array_that_is_replaced_stays_until_the_run_is_resumed(tmp_path):
    y, values = doubled(tmp_path, "single-threaded")
    old = np.zeros(SHAPE)
    zarr.create_array(tmp_path / "out", data=old, chunks=CHUNK)
    (tmp_path / "fails").touch()
    with pytest.raises(LookupError, match="row 20"):
        cubed.to_zarr(y, tmp_path / "out", overwrite=True)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out", mode="r")[...], old)
    (tmp_path / "fails").unlink()
    cubed.to_zarr(y, tmp_path / "out", overwrite=True, resume=True)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "out")[...], values)


@pytest.mark.parametrize("chosen", [True, False])
def test_intermediates_stay_in_a_work_directory_that_was_chosen(tmp_path, monkeypatch, chosen):
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.setattr("tempfile.tempdir", os.fspath(work))
    spec = cubed.Spec(
        work if chosen else None, allowed_mem="200MB", executor_name="processes"
    )  # whose intermediates are files

    def fails(block):
        raise LookupError("odd")

    x = cubed.from_array(np.arange(64.0).reshape(8, 8), chunks=(8, 2), spec=spec)
    y = cubed.map_blocks(lambda b: b + 1, x, dtype="f8").rechunk((2, 8))
    y = cubed.map_blocks(fails, y, dtype="f8")
    with pytest.raises(LookupError, match="odd"):
        cubed.to_zarr(y, tmp_path / "out", optimize_graph=False)
    left = [p.name for p in work.iterdir() if p.name.startswith("cubed-")]
    assert len(left) == chosen, left
