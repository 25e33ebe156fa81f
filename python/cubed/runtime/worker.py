"""Workers of engines: a message in, what became of its tasks out.

A message names a range of tasks and where the run's plan is, which a worker fetches once. Nothing
else is needed but this package, of the driver's version, and the run's stores.
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

#: Of a range in include/cubed/sys/message.h; behind it are texts.
_RANGE_BYTES = 120
#: In it: milliseconds that a task may take.
_TIMEOUT = struct.Struct("<36xI")
#: Before reports: how much the date is ahead of the clock of reports, and the length of a name.
_REPLY = struct.Struct("<qI")
#: Runs whose plans are kept, and they open, to be used again by the next message.
_RUNS = 2
#: How often a task with a time limit is looked at.
_LOOK = 0.1
#: How long a process lives on whose task is stuck, so that its engine hears of it.
_LAST_WORDS = 1.0
#: Its status then: that of timeout(1).
_STUCK_STATUS = 124


class TaskTimeoutError(TimeoutError):
    """A task took longer than it may, and could not be ended: its worker ends instead."""


class WorkerLostError(ConnectionError):
    """A worker ended, and did not say what became of its call."""


class WorkerEndsError(ConnectionError):
    """A worker that is about to end does not begin anything."""


def message(range_: bytes, work_dir: str, plan_key: str, attempt: str = "") -> bytes:
    """What :func:`work` takes: a range, and where `_core.Plan.fetch` finds its plan.

    `attempt` names the driver's attempt at the run. A run that is resumed has the plan key of the
    earlier attempt, whose messages its workers may have been told to refuse (:func:`stop`).

    Options of stores are in no plan. They are in the message, which may hold secrets by them.
    """
    global _driver
    _driver = os.getpid()
    texts = (work_dir, plan_key, attempt, _core.version, _core.storage_options())
    return range_ + "\0".join(texts).encode()


def _texts(message: bytes) -> list[str]:
    return message[_RANGE_BYTES:].decode().split("\0")


def take_options(message: bytes) -> None:
    """Has stores in this process be reached by the options in a message."""
    _core.take_storage_options(_texts(message)[-1])


def read_reply(reply: bytes) -> tuple[bytes, str, int]:
    """Reports, the worker's name, and nanoseconds by which its clock is behind this one's."""
    shift, size = _REPLY.unpack_from(reply)
    name = reply[_REPLY.size : _REPLY.size + size].decode()
    return reply[_REPLY.size + size :], name, shift - _clock_shift()


def work(message: bytes) -> bytes:
    """Runs a range of tasks of a :func:`message`; may be called again with it, also at the same
    time. What fails in a task is in the reply, and is no exception.

    Raises
    ------
    FileNotFoundError
        The run is over.
    RuntimeError
        The driver has another version of this package.
    TaskTimeoutError
        A task took longer than it may, and cannot be ended.
    WorkerEndsError
        This process ends, because of such a task.
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
    """Reports of a range. One with a time limit runs in a thread that can be left where it is."""
    (limit_ms,) = _TIMEOUT.unpack_from(range_)
    if not limit_ms:
        return plan.work(range_)
    from concurrent.futures import wait  # late: takes a while

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
    """A call in a thread of its own, without which the process can end."""
    from concurrent.futures import Future  # late: takes a while

    future: Future[T] = Future()

    def call() -> None:
        try:
            future.set_result(function(*args))
        except BaseException as e:
            future.set_exception(e)

    Thread(target=call, daemon=True).start()
    return future


def attempt(message: bytes, function: Callable[[bytes], bytes] | None = None) -> bytes:
    """:func:`work`, or another function, for engines that lose what is raised: it is returned, for
    :func:`outcome`."""
    try:
        return b"+" + (function or work)(message)
    except BaseException as e:
        return b"-" + _pickled(e)


def outcome(reply: bytes) -> bytes:
    """What the function returned; what it raised is raised."""
    if reply[:1] == b"-":
        raise pickle.loads(reply[1:])
    if reply[:1] != b"+":
        raise ValueError(f"{reply[:20]!r} is no reply of a worker")
    return reply[1:]


def _pickled(error: BaseException) -> bytes:
    """As it is; what it says, if it cannot be sent."""
    try:
        data = pickle.dumps(error)
        pickle.loads(data)
    except Exception:
        return pickle.dumps(RuntimeError(f"{type(error).__name__}: {error}"))
    return data


def stop(plan_key: str, attempt: str) -> None:
    """Ends the tasks of an attempt at a run in this process, and waits for them. Its later messages
    are refused."""
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
    """Plans of one attempt at a run: each is used by one thread at a time."""

    def __init__(self) -> None:
        self.idle: list[_core.Plan] = []
        self.busy: list[_core.Plan] = []
        self.stopped = False


#: This process, if it drives runs: nobody ends it.
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
