"""Worker processes: Ctrl-C ends the run soon and leaves no files, whatever the workers do."""

import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid

import numpy as np
import pytest
from conftest import BIN

import zarr

DRIVER = """
import os, pathlib, signal, sys, time
import cubed
import numpy as np

what, work, told = sys.argv[1:]
# Ignored in what a shell runs in the background.
signal.signal(signal.SIGINT, signal.default_int_handler)
spec = cubed.Spec(work_dir=work, allowed_mem="400MB", reserved_mem="200MB")

def function(block, seconds=0.0, ballast=b""):
    pathlib.Path(told, str(os.getpid())).touch()
    time.sleep(seconds)
    return block

x = cubed.ones((6, 4), chunks=(1, 4), spec=spec)
# What it takes to find out how much memory workers hold is over then.
cubed.map_blocks(function, x, dtype=float).compute(executor="processes", max_workers=2)
for path in pathlib.Path(told).iterdir():
    path.unlink()
if what == "a small plan":
    y = x + 1
elif what == "a function":
    y = cubed.map_blocks(function, x, seconds=600, dtype=float)
elif what in ("short functions", "long functions"):
    # Through intermediates, which are in the work directory. They are kept if a task was completed.
    seconds = 0.2 if what == "short functions" else 600
    y = cubed.map_blocks(function, x, seconds=seconds, dtype=float).rechunk((6, 1))
    y = cubed.map_blocks(function, y, dtype=float)
else:
    y = cubed.map_blocks(function, x, ballast=os.urandom(10_000_000), dtype=float)
print("go", flush=True)
try:
    result = y.compute(executor="processes", max_workers=2)
except KeyboardInterrupt:
    code = 130
else:
    assert (result == (2 if what == "a small plan" else 1)).all()
    code = 0
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    sys.exit(code)
sys.exit("there are children")
"""


class Run:
    """A driver, whose workers are found by what they have in their environment."""

    def __init__(self, *command):
        self.mark = f"CUBED_TEST_RUN={uuid.uuid4().hex}"
        key, value = self.mark.split("=")
        self.process = subprocess.Popen(
            [*map(str, command)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, key: value},
        )

    def workers(self):
        found = []
        for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
            try:
                if int(path.parent.name) != self.process.pid and self.mark in path.read_text():
                    found.append(int(path.parent.name))
            except (OSError, UnicodeDecodeError):  # it is gone, or somebody else's
                continue
        return found

    def wait_for(self, condition):
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline and self.process.poll() is None
            time.sleep(0.002)

    def stop_workers(self, n):
        """Stops so many of them, which neither read nor end by themselves then."""
        stopped = set()

        def stop():
            for pid in self.workers():
                # Until it has become another program the driver waits for it.
                if len(stopped) < n and self.command(pid) != self.command(self.process.pid):
                    os.kill(pid, signal.SIGSTOP)
                    stopped.add(pid)
            return len(stopped) == n

        self.wait_for(stop)

    def command(self, pid):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=30)
        assert self.process.returncode == 130, err
        assert not self.workers()
        assert "Traceback" not in err

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        for pid in self.workers():
            os.kill(pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def work(tmp_path):
    path = tmp_path / "work"
    path.mkdir()
    yield path
    assert not list(path.rglob("*"))


def driver(what, tmp_path, work):
    told = tmp_path / "told"
    told.mkdir()
    run = Run(sys.executable, "-c", DRIVER, what, work, told)
    assert run.process.stdout.readline() == "go\n", run.process.stderr.read()
    return run, told


@pytest.mark.parametrize("what", ["a small plan", "a large plan", "long functions"])
def test_control_c_while_workers_start(what, tmp_path, work):
    """They are stopped before they have read what they are told, much of it or little."""
    run, _ = driver(what, tmp_path, work)
    with run:
        run.stop_workers(1)
        run.interrupt()


def test_control_c_in_a_function_that_takes_minutes(tmp_path, work):
    run, told = driver("a function", tmp_path, work)
    with run:
        run.wait_for(lambda: len(list(told.iterdir())) == 2)
        run.interrupt()


def test_control_c_while_workers_do_not_run(tmp_path, work):
    run, told = driver("long functions", tmp_path, work)
    with run:
        run.wait_for(lambda: len(list(told.iterdir())) == 2)
        run.stop_workers(2)
        time.sleep(0.3)
        run.interrupt()


def test_the_first_worker_that_is_ready_works(tmp_path, work):
    """One of two that never starts keeps nobody waiting."""
    run, told = driver("short functions", tmp_path, work)
    with run:
        run.stop_workers(1)
        _, err = run.process.communicate(timeout=30)
        assert run.process.returncode == 0, err
        assert len(list(told.iterdir())) == 1
        assert not run.workers()


def test_workers_of_a_driver_that_is_killed_end(tmp_path):
    (tmp_path / "work").mkdir()
    run, told = driver("a function", tmp_path, tmp_path / "work")
    with run:
        run.wait_for(lambda: len(list(told.iterdir())) == 2)
        run.stop_workers(1)
        run.process.kill()
        deadline = time.monotonic() + 5
        while run.workers() and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not run.workers()


@pytest.mark.parametrize("delay", [0, 0.2])
def test_control_c_of_the_command(tmp_path, work, delay):
    source = zarr.create_array(
        tmp_path / "x", shape=(2000, 50), chunks=(1, 50), dtype="f8", compressors=None
    )
    source[...] = np.ones(source.shape)
    command = [BIN, "eval", "sum(x, axis=0) + x", "--in", f"x={tmp_path / 'x'}"]
    command += ["--out", tmp_path / "y", "--executor", "processes", "--max-workers", "2"]
    with Run(*command, "--progress", "none") as run:
        run.stop_workers(2)
        time.sleep(delay)
        run.interrupt()
