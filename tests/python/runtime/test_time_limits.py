"""Tasks that take too long, workers that are preempted, and the reactions of the driver."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import BIN
from cubed.runtime.executors.base import Engine
from cubed.runtime.executors.futures import FuturesEngine

import zarr


def first_time(folder):
    with contextlib.suppress(FileExistsError):
        (folder / "once").touch(exist_ok=False)
        return True
    return False


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(tmp_path / "work", allowed_mem="400MB", reserved_mem="200MB")


def hangs_once(folder, spec):
    def function(a):
        hung = False
        while first_time(folder) or (hung and not (folder / "leave").exists()):
            hung = True
            time.sleep(0.1)
        return a * 2

    x = cubed.from_array(np.arange(24.0), chunks=4, spec=spec)
    return cubed.map_blocks(function, x, dtype="f8")


@pytest.mark.parametrize("executor", ["processes", "futures"])
def test_a_function_that_hangs_is_tried_again(tmp_path, spec, executor):
    y = hangs_once(tmp_path, spec)
    begin = time.monotonic()
    got = y.compute(executor=executor, max_workers=2, task_timeout=3)
    np.testing.assert_array_equal(got, np.arange(24.0) * 2)
    assert time.monotonic() - begin < 60


def test_every_attempt_is_limited(tmp_path, spec):
    x = cubed.from_array(np.arange(4.0), chunks=4, spec=spec)

    def function(a):
        time.sleep(600)

    y = cubed.map_blocks(function, x, dtype="f8")
    # The driver ends the worker, or the worker itself if the driver is late.
    ended = "(task took longer than|did not end within) its time limit of 0.5 s"
    with pytest.raises(OSError, match=ended):
        y.compute(executor="processes", max_workers=1, task_timeout=0.5, retries=1)
    with pytest.raises(TimeoutError, match=r"a task .*its time limit of 0.5 s"):
        y.compute(executor="futures", max_workers=1, task_timeout=0.5, retries=1)


def test_the_drivers_process_is_not_ended(tmp_path, spec):
    y = hangs_once(tmp_path, spec)
    with ThreadPoolExecutor(2) as pool:
        got = y.compute(executor="futures", pool=pool, task_timeout=0.5)
        (tmp_path / "leave").touch()
    np.testing.assert_array_equal(got, np.arange(24.0) * 2)


@pytest.mark.parametrize("executor", ["threads", "single-threaded"])
def test_executors_that_cannot_say_so(executor):
    with pytest.raises(ValueError, match=f"executor {executor} cannot end a task .* use processes"):
        xp.ones((3,)).compute(executor=executor, task_timeout=1)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        ("1", TypeError, "task_timeout is '1', expected a number of seconds"),
        (True, TypeError, "task_timeout is True"),
        (0, ValueError, "task_timeout is 0, expected 0.001 to 4294967 seconds, or None"),
        (float("nan"), ValueError, "task_timeout is nan"),
        (1e9, ValueError, "task_timeout is 1000000000.0"),
    ],
)
def test_limits_that_are_none(value, kind, text):
    with pytest.raises(kind, match=text):
        xp.ones((3,)).compute(executor="processes", task_timeout=value)


def test_a_worker_that_is_taken_away_costs_no_attempt(tmp_path, spec):
    def function(a):
        taken = len(list(tmp_path.glob("taken-*")))
        if taken < 3:
            (tmp_path / f"taken-{taken}").touch()
            os.kill(os.getpid(), signal.SIGTERM)
        return a * 2

    x = cubed.from_array(np.arange(4.0), chunks=4, spec=spec)
    y = cubed.map_blocks(function, x, dtype="f8")
    got = y.compute(executor="processes", max_workers=1, retries=0)
    np.testing.assert_array_equal(got, np.arange(4.0) * 2)


def test_a_worker_that_dies_costs_one(tmp_path, spec):
    def function(a):
        os.kill(os.getpid(), signal.SIGKILL)

    x = cubed.from_array(np.arange(4.0), chunks=4, spec=spec)
    with pytest.raises(OSError, match="ended by signal 9"):
        cubed.map_blocks(function, x, dtype="f8").compute(executor="processes", retries=0)


@pytest.fixture
def little_memory():
    """The tasks file of a cgroup that may have 600 MB."""
    mine = dict(line.split(":", 2)[1:] for line in Path("/proc/self/cgroup").read_text().split())
    version1 = "memory" in mine
    root = Path("/sys/fs/cgroup/memory" if version1 else "/sys/fs/cgroup")
    group = root / f"cubed-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as e:
        pytest.skip(f"no cgroup can be made here: {e}")
    try:
        limit = group / ("memory.limit_in_bytes" if version1 else "memory.max")
        if not limit.exists():
            pytest.skip("cgroups that are made here have no limit of memory")
        limit.write_text("600000000")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()


OUT_OF_MEMORY = """
import mmap, sys
import cubed, numpy as np
folder = sys.argv[1]

def function(a):
    open(folder + "/attempts", "a").write("x")
    memory = mmap.mmap(-1, 1 << 30)  # shared memory, which no limit of private memory holds
    for i in range(0, len(memory), 4096):
        memory[i] = 1
    return a

spec = cubed.Spec(folder + "/work", allowed_mem="300MB", reserved_mem="200MB")
x = cubed.from_array(np.arange(4.0), chunks=4, spec=spec)
cubed.map_blocks(function, x, dtype="f8").compute(executor="processes", max_workers=1)
"""


def test_a_worker_that_the_system_kills_for_its_memory(tmp_path, little_memory):
    """That is no loss: it would take as much again."""
    script = tmp_path / "script.py"
    script.write_text(OUT_OF_MEMORY)
    into = f'echo $$ >{little_memory}; exec "$@"'
    done = subprocess.run(
        ["sh", "-c", into, "sh", sys.executable, script, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "MemoryError: " in done.stderr, done.stderr
    assert "was killed by the system, which had no more memory for it" in done.stderr
    assert (tmp_path / "attempts").read_text() == "x"


def test_a_task_that_hangs_costs_its_neighbours_nothing(tmp_path, spec, monkeypatch):
    """The function hangs in a child, so not even the worker ends."""

    def function(a):
        if a[0] == 0 and first_time(tmp_path):
            time.sleep(600)
        time.sleep(0.5)
        return a * 2

    heard = []

    def failure(self, error):
        heard.append(Engine.failure(self, error))
        return heard[-1]

    monkeypatch.setattr(FuturesEngine, "failure", failure)
    x = cubed.from_array(np.arange(96.0), chunks=4, spec=spec)
    y = cubed.map_blocks(function, x, dtype="f8")
    got = y.compute(executor="futures", max_workers=2, task_timeout=3, retries=3)
    np.testing.assert_array_equal(got, np.arange(96.0) * 2)
    assert set(heard) == {"timed out"}


class Stalls(SimpleHTTPRequestHandler):
    """The first chunk that is asked for does not come."""

    stalled = threading.Event()
    leave = threading.Event()

    def do_GET(self):
        if "/c/" in self.path and not self.stalled.is_set():
            self.stalled.set()
            self.leave.wait(60)
        super().do_GET()

    def log_message(self, *args):
        pass


@pytest.fixture
def stalling(tmp_path, monkeypatch):
    monkeypatch.setattr(Stalls, "stalled", threading.Event())
    monkeypatch.setattr(Stalls, "leave", threading.Event())

    def handler(*args):
        return Stalls(*args, directory=tmp_path)

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/x"
        Stalls.leave.set()
        server.shutdown()


def command(tmp_path, *options):
    return subprocess.run(
        [BIN, "eval", *options], cwd=tmp_path, capture_output=True, text=True, timeout=100
    )


def test_a_native_task_is_ended_and_tried_again(tmp_path, stalling):
    a = np.arange(60.0)
    zarr.create_array(tmp_path / "x", data=a, chunks=(20,))
    done = command(
        tmp_path, "x * 2", "--in", f"x={stalling}", "--out", "y", "--events", "events",
        "--executor", "processes", "--executor-option", "task_timeout=0.5",
        "--executor-option", "max_workers=1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], a * 2)
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    retries = [e for e in events if e["event"] == "task_retry"]
    assert [e["failure"] for e in retries] == ["timed out"]
    assert "took longer than its time limit of 0.5 s" in retries[0]["message"]
    # The task ended by itself: its worker is the same.
    assert "ended itself" not in retries[0]["message"]
    assert retries[0]["again"] is True
    assert done.stderr.count("retry:") == 1


def test_what_is_not_tried_again_is_no_retry(tmp_path, stalling):
    zarr.create_array(tmp_path / "x", data=np.arange(60.0), chunks=(20,))
    done = command(
        tmp_path, "x * 2", "--in", f"x={stalling}", "--out", "y", "--events", "events",
        "--executor", "processes", "--executor-option", "task_timeout=0.5", "--retries", "0",
        "--executor-option", "max_workers=1",
    )  # fmt: skip
    assert done.returncode == 1 and "retry:" not in done.stderr
    assert done.stderr.count("took longer than") == 1
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert [e["again"] for e in events if e["event"] == "task_retry"] == [False]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (
            ["task_timeout=1"],
            "executor threads has no option task_timeout, expected max_workers, r",
        ),
        (["function=f"], "executor threads has no option function"),
        (["retries"], '--executor-option "retries": expected NAME=VALUE'),
        (["retries=many"], '"retries=many": expected a whole number from 0 to 255'),
        (["max_workers=0"], '"max_workers=0": expected a whole number from 1'),
        (["retries=1", "retries=2"], "--executor-option retries is given twice"),
        (["color=red"], "executor threads has no option color, expected max_workers, retries"),
    ],
)
def test_options_of_executors_that_are_wrong(tmp_path, options, text):
    given = [word for o in options for word in ("--executor-option", o)]
    done = command(tmp_path, "ones(3)", "--out", "y", *given)
    assert done.returncode == 2
    assert text in done.stderr
    assert not (tmp_path / "y").exists()


def test_options_of_processes_and_lambda(tmp_path):
    for value in ("0", "-1", "a", "1s", "inf"):
        given = "--executor", "processes", "--executor-option", f"task_timeout={value}"
        done = command(tmp_path, "ones(3)", *given)
        assert (done.returncode, "expected a number of seconds" in done.stderr) == (2, True), value
    done = command(tmp_path, "ones(3)", "--executor", "lambda")
    assert (done.returncode, "expected --executor-option function=NAME" in done.stderr) == (2, True)
    done = command(tmp_path, "ones(3)", "--executor", "threads", "--executor-option", "retries=3")
    assert done.returncode == 0, done.stderr


def test_workers_of_the_command(tmp_path):
    zarr.create_array(tmp_path / "x", data=np.arange(8.0), chunks=(4,))
    done = command(
        tmp_path, "x + 1", "--in", "x=x", "--out", "y", "--save-plan", "p", "--work-dir", "w"
    )
    assert done.returncode == 0, done.stderr
    for args in (
        ["p", "--begin", "--run", "r"],
        ["p", "0", "0:2", "--run", "r", "--task-timeout", "9"],
    ):
        subprocess.run([BIN, "worker", *args], cwd=tmp_path, check=True, capture_output=True)
    subprocess.run([BIN, "worker", "p", "--finish", "--run", "r"], cwd=tmp_path, check=True)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], np.arange(8.0) + 1)
    wrong = [BIN, "worker", "p", "--finish", "--run", "r", "--task-timeout", "9"]
    done = subprocess.run(wrong, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, "--task-timeout is for tasks" in done.stderr) == (2, True)
