"""Shared parts of executors. docs/how-to/engines/adding-an-engine.md describes how to add an
executor."""

from __future__ import annotations

import os
import queue
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from cubed import _core
from cubed.base._distribution import install_command
from cubed.base._remote import secret_options
from cubed.base._warnings import warn
from cubed.runtime import worker

#: The result of a range: its bytes, reports or None, the worker's number and name, nanoseconds to
#: be added to times, the exception of the call, and the kind of failure if the exception's type
#: does not imply it.
Answer = tuple[bytes, bytes | None, int, str, int, BaseException | None, str]


def needed(module: str, extra: str) -> Any:
    """Imports an engine's module; the ImportError states how to install it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as e:
        raise ImportError(
            f"{module} is not installed, which the executor needs: {install_command(extra)}"
        ) from e


#: The field of a range with its token, as in include/cubed/sys/message.h.
_TOKEN = struct.Struct("<8xQ")


#: The field of a range with the number of the stage.
_STAGE = struct.Struct("<32xI")


def token_of(range_: bytes) -> int:
    """Returns the number by which the driver knows a range."""
    token: int = _TOKEN.unpack_from(range_)[0]
    return token


#: Seconds to wait for the remaining calls of an engine that has lost calls.
_SHORT_GRACE = 5.0
#: Maximum seconds until the reply of a worker arrives after the worker has ended.
_LAST_WORDS = 5.0
#: Seconds between checks for workers.
_LOOK = 2.0
#: A message has 32 bits for milliseconds.
_MOST_SECONDS = (2**32 - 1) // 1000
#: Maximum of the option `silence`, as in the command.
_MOST_SILENCE = 1_000_000


@cache
def _capabilities(name: str) -> dict[str, Any]:
    return _core.executors()[name]


@cache
def _added(
    name: str, remote: bool, max_message_bytes: int, overhead: float, ramp: tuple[int, int]
) -> dict[str, Any]:
    """Returns the capabilities of an executor. First registers the executor, unless one of this
    name exists."""
    if name not in _core.executors():
        _core.add_executor(name, remote, max_message_bytes, round(20 * overhead * 1000), *ramp)
    return _capabilities(name)


def _milliseconds(option: str, seconds: float) -> int:
    """Converts seconds to milliseconds for C."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float, np.number)):
        raise TypeError(f"{option} is {seconds!r}, expected a number of seconds")
    if not 0.001 <= seconds <= _MOST_SECONDS:
        raise ValueError(
            f"{option} is {seconds!r}, expected 0.001 to {_MOST_SECONDS} seconds, or None"
        )
    return round(seconds * 1000)


def _silence(seconds: int) -> int:
    """Checks the option `silence` for C."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, np.integer)):
        raise TypeError(f"silence is {seconds!r}, expected a whole number of seconds")
    if not 1 <= seconds <= _MOST_SILENCE:
        raise ValueError(
            f"silence is {seconds!r}, expected 1 to {_MOST_SILENCE} seconds, or None for 600"
        )
    return int(seconds)


class Executor:
    """Runs plans.

    Parameters
    ----------
    max_workers
        Concurrent tasks; default: one per core.
    retries
        Maximum retries of a task that failed to read or write, exceeded its time limit, or whose
        worker died.
    use_backups
        Whether tasks that take far longer than others are also assigned to a second, idle worker.
        Only for workers on other machines, because local workers share the cores.
    task_timeout
        Maximum seconds of a task; default: no limit. A worker ends a task that takes longer, or
        itself if that fails. Not for tasks in this process (``"threads"``).
    silence
        An unfinished run of another machine or container counts as ended if it has not updated its
        record for this number of seconds; another run may then write its target. An integer,
        default 600. Each run updates its record ten times in this time.
    **kwargs
        `batch_size`, `compute_arrays_in_parallel` and similar options of other versions are
        accepted: tasks always start as soon as their inputs exist.
    """

    name: ClassVar[str]
    #: A module that the executor needs, and the extra of this package that installs it.
    engine: ClassVar[tuple[str, str] | None] = None
    _accepted: ClassVar[frozenset[str]] = frozenset(
        ("use_backups", "task_timeout", "silence", "batch_size", "compute_arrays_in_parallel")
    )

    def __init__(self, max_workers: int | None = None, retries: int = 2, **kwargs: Any) -> None:
        for key in kwargs:
            if key not in self._accepted:
                raise TypeError(f"the executor {self.name!r} has no option {key!r}")
        for option, value in (("max_workers", max_workers or 1), ("retries", retries)):
            if not isinstance(value, (int, np.integer)):
                raise TypeError(f"{option} is {value!r}, expected an integer")
        if max_workers is not None and max_workers < 1:
            raise ValueError(f"max_workers is {max_workers}, expected at least 1")
        if retries < 0:
            raise ValueError(f"retries is {retries}, expected 0 or more")
        self.max_workers: int = int(max_workers or 0)
        self.retries: int = int(retries)
        self.use_backups: bool = bool(kwargs.get("use_backups", True))
        timeout, silence = kwargs.get("task_timeout"), kwargs.get("silence")
        # 0: no limit, and the default.
        self.task_timeout_ms: int = 0 if timeout is None else _milliseconds("task_timeout", timeout)
        self.silence: int = 0 if silence is None else _silence(silence)
        self.kwargs = kwargs

    @property
    def capabilities(self) -> dict[str, Any]:
        """Capabilities, by the names of ``cubed_executor_caps`` in ``cubed/run.h``."""
        return _capabilities(self.name)

    def num_workers(self) -> int:
        """Returns the number of workers that plans are made for; 0: one per core."""
        return self.max_workers

    @property
    def address(self) -> str:
        """The executor's name for the engine, which may have a suffix after a colon."""
        return self.name

    def connect(self) -> Engine | None:
        """Returns the object that passes the tasks of one run to the engine. None: the C library
        runs the tasks."""
        return None

    def begin(self, allowed_mem: int, reserved_mem: int) -> Engine | None:
        """Calls :meth:`connect` for a run with these limits, and applies options of all
        executors.
        """
        return self.connect()

    def takes(self, option: str) -> bool:
        """Returns True if the executor has an option besides `max_workers` and `retries`."""
        return option in self._accepted

    def with_options(self, options: Mapping[str, Any]) -> Executor:
        """Returns a copy with some options changed."""
        mine = {"max_workers": self.max_workers or None, "retries": self.retries, **self.kwargs}
        return type(self)(**{**mine, **options})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), self.max_workers, self.retries))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(max_workers={self.max_workers or None}, retries={self.retries})"
        )


class EngineExecutor(Executor):
    """Base class of executors that run plans on an external engine. An adapter consists of a
    subclass of this class and a subclass of `Engine`.

    Workers share only stores and the work directory with the driver. Results in memory and large
    arrays in memory are also stored in the work directory.

    Parameters
    ----------
    max_workers, retries
        As for other executors.
    start_timeout
        Maximum seconds that a call waits for an idle worker; default 600. A call with a time limit
        (`task_timeout` or the engine's own) counts as lost if it gives no result within its time.
        The run then stops waiting for it and retries its tasks.
    **kwargs
        As for other executors.
    """

    #: Whether workers may be on other machines.
    remote: ClassVar[bool] = True
    #: The part of the engine that stores messages, for a warning about credentials in them; "":
    #: messages are not stored.
    keeps_messages: ClassVar[str] = ""
    #: Maximum size of a call; 0: no limit.
    max_message_bytes: ClassVar[int] = 0
    #: Seconds that a call without tasks takes. Ranges of tasks are planned to take twenty times as
    #: long.
    overhead: ClassVar[float] = 0.0
    #: Number of workers that the service starts immediately, and number of further workers per
    #: second; 0: all start immediately.
    ramp: ClassVar[tuple[int, int]] = (0, 0)
    _accepted: ClassVar[frozenset[str]] = Executor._accepted | {"start_timeout"}

    def __init__(self, max_workers: int | None = None, retries: int = 2, **kwargs: Any) -> None:
        super().__init__(max_workers, retries, **kwargs)
        if kwargs.get("start_timeout") is not None:
            _milliseconds("start_timeout", kwargs["start_timeout"])

    @property
    def capabilities(self) -> dict[str, Any]:
        """Capabilities, by the names of ``cubed_executor_caps`` in ``cubed/run.h``."""
        return _added(self.name, self.remote, self.max_message_bytes, self.overhead, self.ramp)

    def num_workers(self) -> int:
        """Returns the requested number of workers, the number that the engine reports, or one per
        core.
        """
        if self.engine is not None:
            needed(*self.engine)
        return self.max_workers or self.known_workers() or len(os.sched_getaffinity(0))

    def known_workers(self) -> int | None:
        """Returns the number of concurrent tasks; None if the engine does not report it."""
        return None

    def given(self, option: str, module: str, kind: str) -> Any:
        """Returns an option that must be an object of the engine or None; raises TypeError
        otherwise."""
        value, expected = self.kwargs.get(option), getattr(needed(module, self.name), kind)
        if value is not None and not isinstance(value, expected):
            raise TypeError(f"{option} is {value!r}, expected a {module}.{kind}")
        return value

    @abstractmethod
    def connect(self) -> Engine:
        """Connects to the engine, for one run; raises ImportError if it is not installed."""

    def begin(self, allowed_mem: int, reserved_mem: int) -> Engine:
        """Returns the engine for a run with these limits. Warns of credentials in messages that the
        engine stores.

        Raises
        ------
        ImportError
            If workers do not find this package, as far as the engine can tell.
        MemoryError
            If the engine gives tasks less than `allowed_mem`.
        """
        if self.keeps_messages and (secrets := secret_options()):
            warn(
                f"storage_options {', '.join(secrets)} are in the messages to workers, which"
                f" {self.keeps_messages} keeps: let workers find credentials by a profile, a role"
                " or environment variables, and give no keys",
                RuntimeWarning,
            )
        engine = self.connect()
        engine.start_timeout = self.kwargs.get("start_timeout") or engine.start_timeout
        try:
            engine.check(allowed_mem, reserved_mem)
        except BaseException:
            engine.disconnect()
            raise
        return engine


class Engine(ABC):
    """The connection of one run to an engine whose calls return futures. The driver calls its
    methods from one thread.
    """

    #: Types of exceptions that futures raise if a worker was lost.
    may_pass: tuple[type[BaseException], ...] = ()
    #: Calls in flight per worker: the running one and the next one.
    in_flight: int = 2
    #: At the end of a failed run, seconds to wait for calls that cannot be cancelled.
    grace: float = 60.0
    #: Maximum seconds that a call waits for an idle worker: see `EngineExecutor`.
    start_timeout: float = 600.0
    #: Seconds after which the engine itself ends a call; None: it does not.
    call_timeout: float | None = None

    def __init__(self, workers: int = 1) -> None:
        self._wanted = workers
        #: The function that a worker calls with a message.
        self.work: Callable[[bytes], bytes] = worker.work
        self.plan_key: str = ""
        self.attempt: str = ""
        self._work_dir = ""
        self._flying: dict[Any, bytes] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._workers: dict[str, int] = {}
        #: Futures that the last call of :meth:`silent` returned, each with the time since when
        #: `silent` has returned it; and lost futures.
        self._silent: dict[Any, float] = {}
        self._lost: set[Any] = set()
        self._looked = self._served = time.monotonic()
        #: Whether the plan has Python functions.
        self.code: bool = False
        #: The names of the plan's stages, which engines with a dashboard show.
        self.stage_names: Sequence[str] = ()
        #: Resources of this run alone, which are released at its end.
        self.ends: ExitStack[bool | None] = ExitStack()

    def num_workers(self) -> int:
        """Returns the number of concurrent calls."""
        return self._wanted

    def has_workers(self) -> bool:
        """Returns True if the engine reports that there is a worker. Called every few seconds while
        no call ends.
        """
        return True

    def task_mem(self, reserved_mem: int) -> tuple[int, str] | None:
        """Returns the memory that the engine gives a task and its process, in bytes, and the name
        of the limit. The tasks of a process share the part `reserved_mem`. None if there is no
        limit, or if it is not known.
        """
        return None

    def check(self, allowed_mem: int, reserved_mem: int) -> None:
        """Refuses a run if the engine gives tasks too little memory; see `EngineExecutor.begin`."""
        limit = self.task_mem(reserved_mem)
        if limit is not None and limit[0] < allowed_mem:
            raise MemoryError(
                f"tasks get {limit[0]} bytes of memory ({limit[1]}), and allowed_mem is"
                f" {allowed_mem}: give workers more memory, or lower allowed_mem"
            )

    @abstractmethod
    def submit_one(self, message: bytes) -> Any:
        """Starts ``self.work(message)`` without waiting.

        Returns
        -------
        Future
            With `add_done_callback`, `cancel` and `result`, as in :mod:`concurrent.futures`.
        """

    def ended(self) -> Iterable[Any]:
        """Returns completed futures, for engines without callbacks; does not wait long."""
        return ()

    def silent(self) -> Iterable[Any]:
        """Returns futures in flight whose worker seems to have ended.

        They count as lost if they do not complete soon.
        """
        return ()

    def result(self, future: Any) -> bytes:
        """Returns the result of a call that has ended, or raises its exception."""
        return future.result()

    def failure(self, error: BaseException) -> str:
        """Returns the kind of failure of a call that raised `error`: a result of the C function
        ``cubed_failure_str``.
        """
        if isinstance(error, worker.TaskTimeoutError):
            return "timed out"
        if isinstance(error, worker.WorkerEndsError):
            return "preempted"
        if isinstance(error, (worker.WorkerLostError, *self.may_pass)):
            return "lost"
        return "transient" if isinstance(error, OSError) else ""

    def cancel(self, futures: list[Any]) -> None:
        """Cancels calls if the engine can. Running calls may continue."""
        for future in futures:
            future.cancel()

    def disconnect(self) -> None:
        """Releases the resources of the run, after its end."""
        self._flying.clear()
        self.ends.close()

    # The methods that the driver calls: see python/core/engine.c.

    def open(self, work_dir: str, plan_key: str) -> tuple[int, int, int, int]:
        """Begins the run. Returns the maximum number of calls in flight, the number of workers, and
        the maximum milliseconds that a call waits for a worker and takes (0: no limit).
        """
        self._work_dir, self.plan_key, self.attempt = work_dir, plan_key, os.urandom(8).hex()
        n = self.num_workers()
        start, most = round(1000 * self.start_timeout), round(1000 * (self.call_timeout or 0))
        return self.in_flight * n, n, start, most

    def stage_of(self, message: bytes) -> str:
        """Returns the name of the stage of a message's tasks, without names of arrays; "cubed" if
        unknown.
        """
        (number,) = _STAGE.unpack_from(message)
        known = number < len(self.stage_names)
        return self.stage_names[number].partition(" -> ")[0] if known else "cubed"

    def message(self, range_: bytes) -> bytes:
        """Returns the message that sends a range to a worker."""
        return worker.message(range_, self._work_dir, self.plan_key, self.attempt, self.code)

    def submit(self, range_: bytes) -> None:
        """Starts a range of tasks."""
        future = self.submit_one(self.message(range_))
        self._flying[future] = range_
        future.add_done_callback(self._done.put)

    def poll(self, seconds: float) -> Answer | None:
        """Returns the result of a range; None if there is no new one. TimeoutError if there have
        been no workers for long.
        """
        if self._flying and self._done.empty():
            for future in list(self.ended()) or self._lost_calls():
                self._done.put(future)
        try:
            future = self._done.get(timeout=seconds)
        except queue.Empty:
            self._look_for_workers()
            return None
        self._served = time.monotonic()
        if (range_ := self._flying.pop(future, None)) is None:
            return None  # the range was abandoned
        try:
            if future in self._lost:
                raise worker.WorkerLostError("its worker ended without a reply")
            reports, name, shift = worker.read_reply(self.result(future))
        except BaseException as e:
            return range_, None, 0, "", 0, e, self.failure(e)
        number = self._workers.setdefault(name, len(self._workers))
        return range_, reports, number, name, shift, None, ""

    def _lost_calls(self) -> list[Any]:
        now = time.monotonic()
        self._silent = {future: self._silent.get(future, now) for future in self.silent()}
        lost = [f for f, since in self._silent.items() if now - since > _LAST_WORDS]
        self._lost.update(lost)
        return lost

    def _look_for_workers(self) -> None:
        """Raises TimeoutError if there have been no workers for long; engines wait forever."""
        now = time.monotonic()
        if now - self._looked < _LOOK:
            return
        self._looked = now
        if self.has_workers():
            self._served = now
        elif now - self._served > self.start_timeout:
            self.grace = min(self.grace, _SHORT_GRACE)
            name = type(self).__name__.removesuffix("Engine")
            raise TimeoutError(
                f"the cluster of {name} has had no workers for {self.start_timeout:g} s"
            )

    def give_up(self, token: int) -> None:
        """Abandons a range that has given no reply. The run then does not wait for this call and,
        after a failure, waits only a short time for other calls.
        """
        self.grace = min(self.grace, _SHORT_GRACE)
        for future in [f for f, range_ in self._flying.items() if token_of(range_) == token]:
            del self._flying[future]
            self.abandon(future)

    def abandon(self, future: Any) -> None:
        """Ends an abandoned call, which may still be running, if the engine can."""
        future.cancel()

    def close(self) -> None:
        """Ends the run. Afterwards no call may write."""
        self.cancel(list(self._flying))
        deadline = time.monotonic() + self.grace
        while self._flying and (left := deadline - time.monotonic()) > 0:
            self.poll(min(left, 0.1))
