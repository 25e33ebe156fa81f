"""What executors have in common, and how one is added: see docs/engines/adding-an-engine.md."""

from __future__ import annotations

import os
import queue
import struct
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from functools import cache
from importlib import import_module
from typing import Any, ClassVar

import numpy as np

from cubed import _core
from cubed.base._distribution import install_command
from cubed.runtime import worker

#: What became of a range: its bytes, reports or None, the worker's number and name, nanoseconds to
#: be added to times, what the call raised, and what kind of failure that is, if its type does not
#: say it.
Answer = tuple[bytes, bytes | None, int, str, int, BaseException | None, str]


def needed(module: str, extra: str) -> Any:
    """An engine's module; ImportError says how it is installed."""
    try:
        return import_module(module)
    except ModuleNotFoundError as e:
        raise ImportError(
            f"{module} is not installed, which the executor needs: {install_command(extra)}"
        ) from e


#: Of a range, as in include/cubed/sys/message.h.
_TOKEN = struct.Struct("<8xQ")


def token_of(range_: bytes) -> int:
    """By which the driver knows a range."""
    token: int = _TOKEN.unpack_from(range_)[0]
    return token


#: Seconds to wait for calls of an engine that has lost some.
_SHORT_GRACE = 5.0
#: Seconds that it takes at the most until what a worker said is seen after its end.
_LAST_WORDS = 5.0
#: Seconds between looks whether there are workers.
_LOOK = 2.0
#: Milliseconds are 32 bits of a message.
_MOST_SECONDS = (2**32 - 1) // 1000
#: Of the option `silence`, as the command has it.
_MOST_SILENCE = 1_000_000


@cache
def _capabilities(name: str) -> dict[str, Any]:
    return _core.executors()[name]


@cache
def _added(name: str, remote: bool, max_message_bytes: int, overhead: float) -> dict[str, Any]:
    """Capabilities of an executor that is made known here, unless another one has its name."""
    if name not in _core.executors():
        _core.add_executor(name, remote, max_message_bytes, round(20 * overhead * 1000))
    return _capabilities(name)


def _milliseconds(option: str, seconds: float) -> int:
    """What C is told."""
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float, np.number)):
        raise TypeError(f"{option} is {seconds!r}, expected a number of seconds")
    if not 0.001 <= seconds <= _MOST_SECONDS:
        raise ValueError(
            f"{option} is {seconds!r}, expected 0.001 to {_MOST_SECONDS} seconds, or None"
        )
    return round(seconds * 1000)


def _silence(seconds: int) -> int:
    """What C is told."""
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
        Tasks at a time; default: one per core.
    retries
        How often a task that failed to read or write, took too long, or whose worker died, is tried
        again.
    use_backups
        Whether tasks that take far longer than others are given to a second worker, too, when one
        has nothing to do. Only where workers are elsewhere: those of this machine share its cores.
    task_timeout
        Seconds that a task may take; default: any time. Its worker ends one that takes longer, or
        itself if that does not help. Not for tasks in this process (``"threads"``).
    silence
        Seconds without a sign of life after which an unfinished run of another machine or container
        counts as gone, so that its target may be written; a whole number, default 600. Each run
        gives signs of life ten times as often.
    **kwargs
        `batch_size`, `compute_arrays_in_parallel` and the like of other versions are accepted:
        tasks start as soon as their inputs exist in any case.
    """

    name: ClassVar[str]
    #: A module that it needs, and the extra of this package that installs it.
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
        """What it can do, by the names of ``cubed_executor_caps`` in ``cubed/run.h``."""
        return _capabilities(self.name)

    def num_workers(self) -> int:
        """Workers that plans are made for; 0: one per core."""
        return self.max_workers

    @property
    def address(self) -> str:
        """What the engine knows it by: its name, and what more there is to say behind a colon."""
        return self.name

    def connect(self) -> Engine | None:
        """What moves the tasks of one run; None: the engine itself does."""
        return None

    def begin(self) -> Engine | None:
        """:meth:`connect`, with what all executors have in common."""
        return self.connect()

    def with_options(self, options: Mapping[str, Any]) -> Executor:
        """The same with some options changed."""
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
    """Runs plans on an engine that others have made: an adapter is one of these and an `Engine`.

    Workers share nothing with the driver but stores and the work directory, where results in memory
    and large arrays that are read from memory go, too.

    Parameters
    ----------
    max_workers, retries
        As for other executors.
    start_timeout
        Seconds that a call may wait for a worker, when one has nothing else to do; default 600. A
        call that has a time limit, `task_timeout` or the engine's own, and of which nothing is
        heard when that is over, too, is taken for lost: it is not waited for any more, and its
        tasks are tried again.
    **kwargs
        As for other executors.
    """

    #: Whether workers may be on other machines.
    remote: ClassVar[bool] = True
    #: What the engine takes in a call; 0: anything.
    max_message_bytes: ClassVar[int] = 0
    #: Seconds that a call of nothing takes: ranges of tasks are to take twenty times as long.
    overhead: ClassVar[float] = 0.0
    _accepted: ClassVar[frozenset[str]] = Executor._accepted | {"start_timeout"}

    def __init__(self, max_workers: int | None = None, retries: int = 2, **kwargs: Any) -> None:
        super().__init__(max_workers, retries, **kwargs)
        if kwargs.get("start_timeout") is not None:
            _milliseconds("start_timeout", kwargs["start_timeout"])

    @property
    def capabilities(self) -> dict[str, Any]:
        """What it can do, by the names of ``cubed_executor_caps`` in ``cubed/run.h``."""
        return _added(self.name, self.remote, self.max_message_bytes, self.overhead)

    def num_workers(self) -> int:
        """Those that were asked for, those that the engine is known to have, or one per core."""
        if self.engine is not None:
            needed(*self.engine)
        return self.max_workers or self.known_workers() or len(os.sched_getaffinity(0))

    def known_workers(self) -> int | None:
        """Tasks at a time, where the engine says how many; None where it does not."""
        return None

    def given(self, option: str, module: str, kind: str) -> Any:
        """An option that is an object of the engine's, or None; TypeError if it is another one."""
        value, expected = self.kwargs.get(option), getattr(needed(module, self.name), kind)
        if value is not None and not isinstance(value, expected):
            raise TypeError(f"{option} is {value!r}, expected a {module}.{kind}")
        return value

    @abstractmethod
    def connect(self) -> Engine:
        """Connects to the engine, for one run; raises ImportError if it is not installed."""

    def begin(self) -> Engine:
        """The engine, with the run's limits."""
        engine = self.connect()
        engine.start_timeout = self.kwargs.get("start_timeout") or engine.start_timeout
        return engine


class Engine(ABC):
    """One run's way to an engine whose calls give futures. The driver calls it from one thread."""

    #: What a future raises when its worker was lost.
    may_pass: tuple[type[BaseException], ...] = ()
    #: Calls in flight for each worker: one that runs, and what it takes next.
    in_flight: int = 2
    #: Seconds to wait, at the end of a run that failed, for calls that cannot be cancelled.
    grace: float = 60.0
    #: Seconds that a call may wait for a worker that has nothing else to do: see `EngineExecutor`.
    start_timeout: float = 600.0
    #: Seconds after which the engine itself ends a call; None: it does not.
    call_timeout: float | None = None

    def __init__(self, workers: int = 1) -> None:
        self._wanted = workers
        #: What a worker calls with a message.
        self.work: Callable[[bytes], bytes] = worker.work
        self.plan_key: str = ""
        self.attempt: str = ""
        self._work_dir = ""
        self._flying: dict[Any, bytes] = {}
        self._done: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._workers: dict[str, int] = {}
        #: Since when they are silent, and those that are lost.
        self._silent: dict[Any, float] = {}
        self._lost: set[Any] = set()
        self._looked = self._served = time.monotonic()
        #: What was begun for this run alone, and ends with it.
        self.ends: ExitStack[bool | None] = ExitStack()

    def num_workers(self) -> int:
        """Calls that run at a time."""
        return self._wanted

    def has_workers(self) -> bool:
        """Whether there is a worker now, as far as the engine knows: asked every few seconds in
        which no call ends."""
        return True

    @abstractmethod
    def submit_one(self, message: bytes) -> Any:
        """Starts ``self.work(message)``; does not wait.

        Returns
        -------
        Future
            With `add_done_callback`, `cancel` and `result`, as in :mod:`concurrent.futures`.
        """

    def ended(self) -> Iterable[Any]:
        """Futures in flight that are done, where they have no callbacks; does not wait long."""
        return ()

    def silent(self) -> Iterable[Any]:
        """Futures in flight that are not done, whose worker has ended as far as is seen from here.
        What is not heard of them soon is lost."""
        return ()

    def result(self, future: Any) -> bytes:
        """What a call that has ended returned; what it raised is raised."""
        return future.result()

    def failure(self, error: BaseException) -> str:
        """What kind of failure it is that a call raised, by the names of ``cubed_failure_str``."""
        if isinstance(error, worker.TaskTimeoutError):
            return "timed out"
        if isinstance(error, worker.WorkerEndsError):
            return "preempted"
        if isinstance(error, (worker.WorkerLostError, *self.may_pass)):
            return "lost"
        return "transient" if isinstance(error, OSError) else ""

    def cancel(self, futures: list[Any]) -> None:
        """Ends calls as far as the engine can; those that run may go on."""
        for future in futures:
            future.cancel()

    def disconnect(self) -> None:
        """After the run: ends what was begun for it."""
        self._flying.clear()
        self.ends.close()

    # What the driver calls: see python/core/engine.c.

    def open(self, work_dir: str, plan_key: str) -> tuple[int, int, int, int]:
        """The run begins; calls that may be in flight, workers, and milliseconds that a call may
        wait for one, and take (0: any time)."""
        self._work_dir, self.plan_key, self.attempt = work_dir, plan_key, os.urandom(8).hex()
        n = self.num_workers()
        start, most = round(1000 * self.start_timeout), round(1000 * (self.call_timeout or 0))
        return self.in_flight * n, n, start, most

    def message(self, range_: bytes) -> bytes:
        """What a worker is told of a range."""
        return worker.message(range_, self._work_dir, self.plan_key, self.attempt)

    def submit(self, range_: bytes) -> None:
        """Starts a range of tasks."""
        future = self.submit_one(self.message(range_))
        self._flying[future] = range_
        future.add_done_callback(self._done.put)

    def poll(self, seconds: float) -> Answer | None:
        """What became of a range; None: nothing is known yet. TimeoutError if there have been no
        workers for long."""
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
            return None  # it was given up
        try:
            if future in self._lost:
                raise worker.WorkerLostError("its worker ended without a word")
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
        """Engines wait for new ones without end."""
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
        """Nothing is heard of a range any more: nobody waits for its call, and not for long for
        others when the run has failed."""
        self.grace = min(self.grace, _SHORT_GRACE)
        for future in [f for f, range_ in self._flying.items() if token_of(range_) == token]:
            del self._flying[future]
            self.abandon(future)

    def abandon(self, future: Any) -> None:
        """A call was given up, which is perhaps under way still: ends it if the engine can."""
        future.cancel()

    def close(self) -> None:
        """The run ends: nothing of it is to be written any more."""
        self.cancel(list(self._flying))
        deadline = time.monotonic() + self.grace
        while self._flying and (left := deadline - time.monotonic()) > 0:
            self.poll(min(left, 0.1))
