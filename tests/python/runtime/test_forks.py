"""Processes that are forked by os.fork() or multiprocessing can compute, or raise an error with the
reason.
"""

import multiprocessing
import os
import signal
import threading
import time
import traceback

import cubed
import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:This process.*fork:DeprecationWarning")
EXECUTORS = ["single-threaded", "threads", "processes"]


def in_child(work, seconds=30):
    """Whether a forked child did that without an exception; one that hangs is killed."""
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        got, status = os.waitpid(pid, os.WNOHANG)
        if got:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    raise AssertionError("the child hangs")


def lazy(tmp_path, name):
    spec = cubed.Spec(tmp_path / name, allowed_mem="400MB", reserved_mem="200MB")
    x = cubed.from_array(np.arange(200_000.0).reshape(500, 400), chunks=(100, 400), spec=spec)
    return cubed.map_blocks(np.negative, x, dtype=float).sum(axis=0)


EXPECTED = -np.arange(200_000.0).reshape(500, 400).sum(axis=0)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_child_computes(executor, tmp_path):
    """What its parent has made and what it makes itself, when the parent had threads."""
    x = lazy(tmp_path, "parent")
    np.testing.assert_array_equal(x.compute(executor=executor, max_workers=2), EXPECTED)

    def work():
        for y in (x, lazy(tmp_path, "child")):
            np.testing.assert_array_equal(y.compute(executor=executor, max_workers=2), EXPECTED)

    assert in_child(work)
    np.testing.assert_array_equal(x.compute(executor=executor, max_workers=2), EXPECTED)


def total(folder):
    return float(lazy(folder, str(os.getpid())).sum().compute(max_workers=2))


def test_a_pool_of_processes_computes(tmp_path):
    total(tmp_path)
    # A library of an earlier test may handle SIGTERM, by which a pool ends its processes.
    unhandled = (signal.SIGTERM, signal.SIG_DFL)
    with multiprocessing.get_context("fork").Pool(2, signal.signal, unhandled) as pool:
        results = pool.map_async(total, [tmp_path] * 6).get(timeout=60)
    assert results == [EXPECTED.sum()] * 6


@pytest.mark.parametrize("executor", EXECUTORS)
def test_a_child_of_a_process_that_computes(executor, tmp_path):
    """Another thread is in the middle of a run, which has threads that the child has not."""
    begun = tmp_path / "begun"

    def slow(block):
        begun.touch()
        time.sleep(0.3)
        return block

    spec = cubed.Spec(tmp_path / "slow", allowed_mem="400MB", reserved_mem="200MB")
    y = cubed.map_blocks(slow, cubed.ones(8, chunks=1, spec=spec), dtype=float)
    results = []
    thread = threading.Thread(
        target=lambda: results.append(y.compute(executor=executor, max_workers=2))
    )
    thread.start()
    while not begun.exists():
        time.sleep(0.01)
    x = lazy(tmp_path, "child")

    def work():
        np.testing.assert_array_equal(x.compute(executor=executor, max_workers=2), EXPECTED)

    sleeper = os.fork()
    if sleeper == 0:
        time.sleep(60)
        os._exit(0)
    try:
        assert in_child(work)
        thread.join(timeout=9)  # workers hear that it is over though the sleeper listens, too
        assert not thread.is_alive()
    finally:
        os.kill(sleeper, signal.SIGKILL)
        os.waitpid(sleeper, 0)
    assert (results[0] == 1).all()


def test_a_child_that_is_forked_by_a_callback(tmp_path):
    """It cannot go on with a run whose threads it does not have."""
    parent, children = os.getpid(), []

    class Forks(cubed.Callback):
        def on_task_end(self, event):
            if os.getpid() == parent and not children:
                children.append(os.fork())

    x = lazy(tmp_path, "work")
    try:
        got = x.compute(executor="threads", max_workers=2, callbacks=[Forks()])
    except RuntimeError as e:
        os._exit(42 if os.getpid() != parent and "forked by a callback" in str(e) else 1)
    if os.getpid() != parent:
        os._exit(1)
    np.testing.assert_array_equal(got, EXPECTED)
    deadline = time.monotonic() + 20
    status = (0, 0)
    while not status[0] and time.monotonic() < deadline:
        status = os.waitpid(children[0], os.WNOHANG)
        time.sleep(0.01)
    if not status[0]:
        os.kill(children[0], signal.SIGKILL)
    assert status[0] and os.waitstatus_to_exitcode(status[1]) == 42
