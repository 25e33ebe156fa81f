"""Workers of engines: they receive a message and return the reports of its tasks.

A message names a range of tasks and the place of the run's plan, which a worker fetches once. A
worker needs only this package, with the driver's version, and the run's stores.
"""

from __future__ import annotations

import os
import pickle
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any, TypeVar

from cubed import _core

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")

#: Size of a range in include/cubed/sys/message.h; strings follow it.
_RANGE_BYTES = 120
#: Its field with the maximum milliseconds of a task.
_TIMEOUT = struct.Struct("<36xI")
#: What precedes reports: the difference between the date and the clock of reports, and the length
#: of a name.
_REPLY = struct.Struct("<qI")
#: Number of runs whose plans and open stores are kept for the next message.
_RUNS = 2
#: Seconds between checks of a task with a time limit.
_LOOK = 0.1
#: Seconds that a process with a stuck task continues, so that its engine gets the reply.
_LAST_WORDS = 1.0
#: Exit status of such a process: that of timeout(1).
_STUCK_STATUS = 124


class TaskTimeoutError(TimeoutError):
    """A task exceeded its time limit and could not be ended: its worker ends instead."""


class WorkerLostError(ConnectionError):
    """A worker ended without reporting the result of its call."""


class WorkerEndsError(ConnectionError):
    """The worker is about to end and does not begin new tasks."""


def message(range_: bytes, work_dir: str, plan_key: str, attempt: str = "") -> bytes:
    """Returns the argument of :func:`work`: a range, and where `_core.Plan.fetch` finds its plan.

    `attempt` names the driver's attempt at the run. A resumed run has the plan key of the earlier
    attempt, whose messages its workers may have been told to refuse (:func:`stop`).

    Plans contain no storage options. The message contains them, so it may hold secrets.
    """
    global _driver
    _driver = os.getpid()
    texts = (work_dir, plan_key, attempt, _core.version, _core.storage_options())
    return range_ + "\0".join(texts).encode()


def _texts(message: bytes) -> list[str]:
    return message[_RANGE_BYTES:].decode().split("\0")


def take_options(message: bytes) -> None:
    """Applies the storage options in a message to this process."""
    _core.take_storage_options(_texts(message)[-1])


def read_reply(reply: bytes) -> tuple[bytes, str, int]:
    """Returns the reports, the worker's name, and the nanoseconds by which its clock is behind this
    one.
    """
    shift, size = _REPLY.unpack_from(reply)
    name = reply[_REPLY.size : _REPLY.size + size].decode()
    return reply[_REPLY.size + size :], name, shift - _clock_shift()


def work(message: bytes) -> bytes:
    """Runs a range of tasks of a :func:`message`. It may be called again with the message, also
    concurrently. Errors of tasks are in the reply and are not raised.

    Raises
    ------
    FileNotFoundError
        If the run is over.
    RuntimeError
        If the driver has another version of this package.
    TaskTimeoutError
        If a task exceeded its time limit and cannot be ended.
    WorkerEndsError
        If this process ends because of such a task.
    """
    if _ends:
        raise WorkerEndsError("this worker ends, as a task of it did not")
    work_dir, key, *attempts, version, _ = _texts(message)
    if version != _core.version or len(attempts) != 1:  # earlier versions name no attempt
        raise RuntimeError(
            f"the driver has version {version} of cubed, this worker has {_core.version}: install"
            " the same one"
        )
    take_options(message)
    with _plan(work_dir, key, attempts[0]) as plan:
        reports = _run(plan, message[:_RANGE_BYTES])
    name = f"{os.uname().nodename}:{os.getpid()}".encode()
    return _REPLY.pack(_clock_shift(), len(name)) + name + reports


def _run(plan: _core.Plan, range_: bytes) -> bytes:
    """Returns the reports of a range. With a time limit the range runs in a thread that can be
    abandoned.
    """
    (limit_ms,) = _TIMEOUT.unpack_from(range_)
    if not limit_ms:
        return plan.work(range_)
    from concurrent.futures import wait  # lazy: slow import

    reply = in_thread(plan.work, range_)
    while not wait((reply,), _LOOK).done and not plan.is_stuck():
        pass
    if reply.done():
        return reply.result()
    if os.getpid() != _driver:
        global _ends
        _ends = True
        Timer(_LAST_WORDS, os._exit, (_STUCK_STATUS,)).start()
    raise TaskTimeoutError(
        f"a task took longer than the {limit_ms / 1000:g} s that it may, and did not end"
    )


def in_thread(function: Callable[..., T], *args: Any) -> Future[T]:
    """Runs a call in a daemon thread, which does not delay the end of the process."""
    from concurrent.futures import Future  # lazy: slow import

    future: Future[T] = Future()

    def call() -> None:
        try:
            future.set_result(function(*args))
        except BaseException as e:
            future.set_exception(e)

    Thread(target=call, daemon=True).start()
    return future


def attempt(message: bytes, function: Callable[[bytes], bytes] | None = None) -> bytes:
    """Calls :func:`work`, or another function, for engines that lose exceptions: it returns the
    exception, for :func:`outcome`.
    """
    try:
        return b"+" + (function or work)(message)
    except BaseException as e:
        return b"-" + _pickled(e)


def outcome(reply: bytes) -> bytes:
    """Returns the result of the function, or raises its exception."""
    if reply[:1] == b"-":
        raise pickle.loads(reply[1:])
    if reply[:1] != b"+":
        raise ValueError(f"{reply[:20]!r} is no reply of a worker")
    return reply[1:]


def _pickled(error: BaseException) -> bytes:
    """Pickles an error, or its text if it cannot be pickled."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return data


def stop(plan_key: str, attempt: str) -> None:
    """Ends the tasks of an attempt at a run in this process, and waits for them. Refuses its later
    messages.
    """
    with _changed:
        entry = _runs.setdefault((plan_key, attempt), _Run())
        entry.stopped = True
        for plan in entry.busy:
            plan.stop()
        while entry.busy:
            _changed.wait()
        entry.idle.clear()


def _clock_shift() -> int:
    return time.time_ns() - time.monotonic_ns()


class _Run:
    """Plans of one attempt at a run; one thread at a time uses each plan."""

    def __init__(self) -> None:
        self.idle: list[_core.Plan] = []
        self.busy: list[_core.Plan] = []
        self.stopped = False


#: The id of this process if it drives runs: it must not be ended.
_driver = 0
_ends = False
_runs: OrderedDict[tuple[str, str], _Run] = OrderedDict()
_changed = threading.Condition()


@contextmanager
def _plan(work_dir: str, key: str, attempt: str) -> Iterator[_core.Plan]:
    run = key, attempt
    with _changed:
        entry = _runs.setdefault(run, _Run())
        _runs.move_to_end(run)
        plan = entry.idle.pop() if entry.idle else None
    if plan is None:
        plan = _core.Plan.fetch(work_dir, key)
    with _changed:
        if entry.stopped:
            raise FileNotFoundError(f"the run of {key} was stopped")
        entry.busy.append(plan)
    try:
        yield plan
    finally:
        with _changed:
            entry.busy.remove(plan)
            if not plan.is_stuck():
                entry.idle.append(plan)
            for old in [k for k, r in _runs.items() if not r.busy][:-_RUNS]:
                del _runs[old]
            _changed.notify_all()
