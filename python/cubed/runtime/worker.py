"""Workers of engines: they receive a message and return the reports of its tasks.

A message names a range of tasks and the location of the run's plan, which a worker fetches once. A
worker needs only this package, with the driver's version, and the run's stores.
"""

from __future__ import annotations

import os
import pickle
import signal
import struct
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread, Timer
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cubed import _core
from cubed.base._warnings import warn
from cubed.runtime._frames import ANOTHER
from cubed.runtime._limit import watching

if TYPE_CHECKING:
    from concurrent.futures import Future

    from cubed.runtime._children import Child

T = TypeVar("T")

#: Size of a range in include/cubed/sys/message.h; strings follow it.
_RANGE_BYTES = 120
#: First bytes of a serialised range, and the slice of its bytes that contains the run's name.
_MAGIC, _NAME = b"CBDR", slice(40, 80)
#: Values of a message's field about Python functions in its plan.
_CODE, _MAY_HAVE_CODE = "code", "?"
#: The field of a range with the time limit of a task in milliseconds.
_TIMEOUT = struct.Struct("<36xI")
#: Header before reports: the difference between the date and the clock of reports, and the length
#: of a name.
_REPLY = struct.Struct("<qI")
#: Number of runs whose plans and open stores are kept for the next message.
_RUNS = 2
#: Seconds between checks of a task with a time limit.
_LOOK = 0.1
#: Seconds that a process with a stuck task continues, so that its engine gets the reply.
_LAST_WORDS = 1.0
#: Seconds that a child may take to end the tasks of a run, before it is ended.
_STOP = 5.0
#: Exit status of a process with a stuck task, the same as that of timeout(1).
STUCK_STATUS = 124


class TaskTimeoutError(TimeoutError):
    """A task exceeded its time limit and could not be ended, so its worker ends."""


class WorkerLostError(ConnectionError):
    """A worker ended without reporting the result of its call."""


class WorkerEndsError(ConnectionError):
    """The worker is about to end and does not begin new tasks."""


def message(
    range_: bytes, work_dir: str, plan_key: str, attempt: str = "", code: bool = False
) -> bytes:
    """Returns the argument of :func:`work`: a range, and the location from which `_core.Plan.fetch`
    reads its plan.

    `attempt` names the driver's attempt at the run. It is needed because a resumed run has the plan
    key of the earlier attempt, whose messages workers may refuse (:func:`stop`). `code` states that
    the plan has Python functions, which a child process of the worker runs.

    Plans contain no storage options. The message contains them, so it may hold secrets.
    """
    global _driver
    _driver = os.getpid()
    return _message(
        range_, work_dir, plan_key, attempt, _CODE if code else "", "", _core.version,
        _core.storage_options(),
    )  # fmt: skip


def _message(range_: bytes, *texts: str) -> bytes:
    return range_ + "\0".join(texts).encode()


def native_message(message: bytes, time_ms: int) -> bytes:
    """Converts a message of the library's own driver (include/cubed/sys/message.h) to a message for
    :func:`work`. The former does not state whether the plan has functions.

    Parameters
    ----------
    message
        The message.
    time_ms
        Time limit of the call in milliseconds: tasks that cannot end within this time are not
        started. 0: no limit.

    Raises
    ------
    ValueError
        If the bytes are not a message.
    """
    texts = _texts(message)
    if message[:4] != _MAGIC or len(message) < _RANGE_BYTES or len(texts) != 4:
        raise ValueError("the body is not a message of a driver")
    work_dir, key, version, options = texts
    run = message[_NAME].rstrip(b"\0").decode()  # each attempt at a run has a different name
    return _message(
        message[:_RANGE_BYTES], work_dir, key, run, _MAY_HAVE_CODE, str(time_ms), version, options
    )


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
    MemoryError
        If a function exceeded its memory and its process was ended.
    TaskTimeoutError
        If a task exceeded its time limit and cannot be ended.
    WorkerEndsError
        If this process ends because of such a task.
    WorkerLostError
        If a function ended its process.
    """
    if _ends:
        raise WorkerEndsError("this worker ends, and begins no task")
    work_dir, key, *more, version, _ = _texts(message)
    if version != _core.version or len(more) != 3:  # replies of earlier versions have fewer fields
        raise RuntimeError(
            f"the driver has version {version} of cubed, this worker has {_core.version}: install"
            " the same one"
        )
    attempt, code, limit = more
    time_ms = int(limit or 0)
    if code == _MAY_HAVE_CODE and not _is_child:
        take_options(message)
        with _plan(work_dir, key, attempt) as plan:
            code = _CODE if plan.info()["code"] else ""
    reports = _by_child(message, key, attempt, time_ms) if code and not _is_child else None
    if reports is None:
        take_options(message)
        with _plan(work_dir, key, attempt) as plan:
            reports = _run(plan, message[:_RANGE_BYTES], time_ms)
    name = f"{os.uname().nodename}:{os.getpid()}".encode()
    return _REPLY.pack(_clock_shift(), len(name)) + name + reports


def _by_child(message: bytes, key: str, attempt: str, time_ms: int) -> bytes | None:
    """Returns the reports of a range with Python functions, which a child process runs. None if
    this process cannot have a child.
    """
    from cubed.runtime import _children  # lazy: only plans with functions need it

    limit_ms = _limit(message, time_ms)
    while not _watches:
        try:
            child = _children.take()
        except _children.NoChildError as e:
            _watch(e)
            break
        usable, call = False, _ChildCall(child, key, attempt)
        try:
            with _using((key, attempt), call):
                reply = child.call(message, limit_ms)
            usable = reply != ANOTHER
            if usable:
                return read_reply(outcome(reply))[0]
        except _children.StuckError as e:
            raise TaskTimeoutError(_too_long(limit_ms)) from e
        except _children.ChildLostError as e:
            if call.stopped:
                raise _stopped(key) from e
            if not e.early:
                kind = WorkerEndsError if e.status == -signal.SIGTERM else WorkerLostError
                raise kind(str(e)) from e
        except TaskTimeoutError:
            usable = False
            raise
        finally:
            call.end()
            _children.give_back(child, usable)
    return None


def _watch(why: OSError) -> None:
    """Makes this process run functions itself, and check its own memory."""
    global _watches
    _watches = True
    warn(
        f"functions run in the process of this worker, not in a separate one ({why}): their memory"
        " is checked periodically, so a function that uses too much may end late",
        RuntimeWarning,
    )


def _limit(range_: bytes, time_ms: int) -> int:
    """Returns the time limit of a task in milliseconds; 0: no limit."""
    (limit_ms,) = _TIMEOUT.unpack_from(range_)
    return min(limit_ms or time_ms, time_ms or limit_ms)


def _too_long(limit_ms: int) -> str:
    return f"a task did not end within its time limit of {limit_ms / 1000:g} s"


def _run(plan: _core.Plan, range_: bytes, time_ms: int) -> bytes:
    """Returns the reports of a range. With a time limit the range runs in a thread that can be
    abandoned.
    """
    limit_ms = _limit(range_, time_ms)
    run = _run_watched if _watches and plan.info()["code"] else run_range
    if not limit_ms:
        return run(plan, range_, 0)
    from concurrent.futures import wait  # lazy: slow import

    reply = in_thread(run, plan, range_, time_ms)
    while not wait((reply,), _LOOK).done and not plan.is_stuck():
        pass
    if reply.done():
        return reply.result()
    if os.getpid() != _driver:
        global _ends
        _ends = True
        Timer(_LAST_WORDS, os._exit, (STUCK_STATUS,)).start()
    raise TaskTimeoutError(_too_long(limit_ms))


def _run_watched(plan: _core.Plan, range_: bytes, time_ms: int) -> bytes:
    with watching(plan):
        return run_range(plan, range_, time_ms)


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
        return failed(e)


def failed(error: BaseException) -> bytes:
    """Returns the reply for an exception."""
    return b"-" + _pickled(error)


def outcome(reply: bytes) -> bytes:
    """Returns the result of the function, or raises its exception."""
    if reply[:1] == b"-":
        raise pickle.loads(reply[1:])
    if reply[:1] != b"+":
        raise ValueError(f"{reply[:20]!r} is not the reply of a worker")
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
    """Ends the tasks of an attempt at a run in this process, and waits for them. Refuses later
    messages of this attempt.
    """
    with _changed:
        entry = _runs.setdefault((plan_key, attempt), _Run())
        entry.stopped = True
        for call in entry.busy:
            call.stop()
        while entry.busy:
            _changed.wait()
        entry.idle.clear()


def stop_all() -> None:
    """Ends the tasks that run in this process, without waiting for them: they count as preempted.

    The process is about to end, and begins no other tasks (:func:`work` raises `WorkerEndsError`).
    """
    global _ends
    _ends = True
    with _changed:
        for entry in _runs.values():
            for call in entry.busy:
                call.stop()


def _clock_shift() -> int:
    return time.time_ns() - time.monotonic_ns()


class _Call(Protocol):
    """A call that :func:`stop` can end: in a plan of this process, or in a child process."""

    def stop(self) -> None: ...


class _ChildCall:
    """A call of a child."""

    def __init__(self, child: Child, key: str, attempt: str) -> None:
        self._child, self._run = child, (key, attempt)
        self._timer: Timer | None = None
        self.stopped = self._ended = False

    def stop(self) -> None:
        """Asks the child to end its tasks; ends the child if it does not within a few seconds."""
        self.stopped = True
        self._child.stop(*self._run)
        self._timer = Timer(_STOP, self._kill)
        self._timer.daemon = True
        self._timer.start()

    def _kill(self) -> None:
        if not self._ended:
            self._child.kill("stop")

    def end(self) -> None:
        """Ends the call; must be called before the child gets another call."""
        self._ended = True
        if self._timer:
            self._timer.cancel()


class _Run:
    """Plans and calls of one attempt at a run; one thread at a time uses each plan."""

    def __init__(self) -> None:
        self.idle: list[_core.Plan] = []
        self.busy: list[_Call] = []
        self.stopped = False


#: The id of this process if it is also the driver of a run. Such a process must not be ended.
_driver = 0
_ends = False
#: Whether this process runs functions itself, because it cannot have a child.
_watches = False
#: Set by a child process of a worker: it runs functions itself.
_is_child = False
_runs: OrderedDict[tuple[str, str], _Run] = OrderedDict()
_changed = threading.Condition()


def serve_as_child(
    fetch: Callable[[str, str], _core.Plan], run: Callable[[_core.Plan, bytes, int], bytes]
) -> None:
    """Makes this process a child of a worker. It then uses these functions to fetch plans and run
    ranges; they limit its memory.
    """
    global _is_child, fetch_plan, run_range
    _is_child, fetch_plan, run_range = True, fetch, run


def run_alone(
    plan: _core.Plan, range_: bytes, run: Callable[[_core.Plan, bytes, int], bytes], *, watch: bool
) -> bytes:
    """Runs the only range of this process by `run`, which limits its memory, and returns its
    reports. `watch`: the system enforces no limit, so this process checks its memory.

    Raises
    ------
    TaskTimeoutError
        If a task exceeded its time limit and cannot be ended.
    """
    global _watches
    serve_as_child(fetch_plan, run)
    _watches = watch
    return _run(plan, range_, 0)


def _run_range(plan: _core.Plan, range_: bytes, time_ms: int) -> bytes:
    return plan.work(range_, False, time_ms, False)


#: Fetches a plan, and runs a range of a plan. A child process replaces them by functions that limit
#: its memory.
fetch_plan: Callable[[str, str], _core.Plan] = _core.Plan.fetch
run_range: Callable[[_core.Plan, bytes, int], bytes] = _run_range


def _stopped(key: str) -> FileNotFoundError:
    return FileNotFoundError(f"the run of {key} was stopped")


@contextmanager
def _using(run: tuple[str, str], call: _Call) -> Iterator[_Run]:
    """Registers a call, for :func:`stop`."""
    with _changed:
        entry = _runs.setdefault(run, _Run())
        _runs.move_to_end(run)
        if entry.stopped:
            raise _stopped(run[0])
        entry.busy.append(call)
    try:
        yield entry
    finally:
        with _changed:
            entry.busy.remove(call)
            for old in [k for k, r in _runs.items() if not r.busy][:-_RUNS]:
                del _runs[old]
            _changed.notify_all()


@contextmanager
def _plan(work_dir: str, key: str, attempt: str) -> Iterator[_core.Plan]:
    with _changed:
        entry = _runs.setdefault((key, attempt), _Run())
        plan = entry.idle.pop() if entry.idle else None
    if plan is None:
        plan = fetch_plan(work_dir, key)
    with _using((key, attempt), plan) as entry:
        try:
            yield plan
        finally:
            with _changed:
                if not plan.is_stuck():
                    entry.idle.append(plan)
