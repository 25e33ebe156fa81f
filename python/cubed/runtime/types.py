"""Events and callbacks."""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from cubed.runtime.executors.base import Executor as Executor

DagExecutor = Executor


@dataclass(frozen=True)
class _ComputeEvent:
    compute_id: str
    plan: Any

    @property
    def stages(self) -> list[dict[str, Any]]:
        """Stages, as in :attr:`cubed.Plan.stages`."""
        return self.plan.stages

    @property
    def dag(self) -> Any:
        """A graph of networkx: :attr:`cubed.Plan.dag`."""
        return self.plan.dag


@dataclass(frozen=True)
class ComputeStartEvent(_ComputeEvent):
    """A computation starts."""


@dataclass(frozen=True)
class ComputeEndEvent(_ComputeEvent):
    """A computation ended; `error` is the exception if it failed, or None."""

    error: BaseException | None = None


@dataclass(frozen=True)
class OperationStartEvent:
    """The first task of a stage starts."""

    name: str
    num_tasks: int = 0


@dataclass(frozen=True)
class OperationEndEvent:
    """The last task of a stage ended."""

    name: str


@dataclass(frozen=True)
class TaskEndEvent:
    """Tasks of a stage ended. Times are seconds since the epoch, memory is bytes."""

    name: str
    num_tasks: int = 1
    result: Any = None
    task_create_tstamp: float | None = None
    function_start_tstamp: float | None = None
    function_end_tstamp: float | None = None
    task_result_tstamp: float | None = None
    #: Peak memory of the task, and its projected memory. Both include reserved memory.
    peak_measured_mem_start: int | None = None
    peak_measured_mem_end: int | None = None
    projected_mem: int | None = None
    #: Peak memory of NumPy arrays in a user-defined function, and its share of `projected_mem`.
    function_mem: int = 0
    function_projected_mem: int = 0
    task: int = -1
    worker: int = 0
    #: Number of workers that performed the task together. If it is more than 1, these are all
    #: workers of the run, including `worker`.
    coop: int = 1
    #: Host and process of the worker, "HOST:PID"; None: this process.
    host: str | None = None
    #: Number of earlier attempts, and whether a second worker got the task as well.
    attempt: int = 0
    backup: bool = False
    bytes_read: int = 0
    bytes_written: int = 0


class Callback:
    """Receives events: override the methods of interest. As a context manager it receives the
    events of all computations in the block.

    Examples
    --------
    >>> import cubed
    >>> class Counter(cubed.Callback):
    ...     tasks = 0
    ...
    ...     def on_task_end(self, event):
    ...         self.tasks += event.num_tasks
    ...
    >>> counter = Counter()
    >>> total = cubed.ones((4, 4), chunks=2).sum().compute(callbacks=[counter])
    >>> counter.tasks > 0
    True
    """

    active: ClassVar[set[Callback]] = set()

    def __repr__(self) -> str:
        return f"<cubed {type(self).__name__}>"

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """A computation starts."""

    def on_operation_start(self, event: OperationStartEvent) -> None:
        """A stage starts."""

    def on_operation_end(self, event: OperationEndEvent) -> None:
        """A stage ended."""

    def on_task_end(self, event: TaskEndEvent) -> None:
        """A task ended."""

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """A computation ended."""

    def register(self) -> None:
        """Registers the callback for all computations of this process."""
        Callback.active.add(self)

    def unregister(self) -> None:
        """Removes the callback if :meth:`register` has registered it."""
        Callback.active.discard(self)

    def __enter__(self) -> Callback:
        self.register()
        return self

    def __exit__(self, *args: object) -> None:
        self.unregister()


def operation_name(number: int, stage: Mapping[str, Any]) -> str:
    """Returns the name of a stage of a plan in events."""
    return f"op-{number:03d} {stage['name']}"


@dataclass
class _Dispatcher:
    """Converts the engine's events to events for callbacks."""

    plan: Any
    callbacks: Sequence[Any]
    stages: list[dict[str, Any]]
    # The origin of the engine's clock is arbitrary, so times are converted.
    offset: float = field(default_factory=lambda: time.time() - time.monotonic())
    starts: dict[tuple[int, int], float] = field(default_factory=dict)

    def call(self, method: str, event: Any) -> None:
        for callback in self.callbacks:
            function = getattr(callback, method, None)
            if function is not None:
                function(event)

    def name(self, stage: int) -> str:
        return operation_name(stage, self.stages[stage])

    def on_event(self, e: dict[str, Any]) -> None:
        kind, stage = e["kind"], e["stage"]
        when = e["time_ns"] / 1e9 + self.offset
        if kind == "stage_start":
            self.call(
                "on_operation_start",
                OperationStartEvent(self.name(stage), self.stages[stage]["num_tasks"]),
            )
        elif kind == "stage_end":
            self.call("on_operation_end", OperationEndEvent(self.name(stage)))
        elif kind in ("task_end", "task_resumed"):
            reserved = self.plan.spec.reserved_mem
            begin = when - e["duration_ns"] / 1e9
            self.call(
                "on_task_end",
                TaskEndEvent(
                    self.name(stage),
                    task_create_tstamp=begin - e["queued_ns"] / 1e9,
                    function_start_tstamp=begin,
                    function_end_tstamp=when,
                    task_result_tstamp=time.time(),
                    peak_measured_mem_start=reserved,
                    peak_measured_mem_end=reserved + e["measured_mem"],
                    projected_mem=reserved + e["projected_mem"],
                    function_mem=e["function_mem"],
                    function_projected_mem=e["function_projected"],
                    task=e["task"],
                    worker=e["worker"],
                    coop=e["coop"],
                    host=e["host"],
                    attempt=e["attempt"],
                    backup=e["backup"],
                    bytes_read=e["bytes_read"],
                    bytes_written=e["bytes_written"],
                ),
            )


def _checked(callbacks: Any) -> list[Any]:
    """Returns a list of callbacks; TypeError if one has no method for any event."""
    if not isinstance(callbacks, Iterable):
        raise TypeError(f"callbacks is {callbacks!r}, expected a list of cubed.Callback objects")
    events = [name for name in vars(Callback) if name.startswith("on_")]
    given = list(callbacks)
    for c in given:
        if not any(hasattr(c, name) for name in events):
            raise TypeError(f"callbacks has {c!r}, expected objects such as cubed.Callback")
    return given


def _listeners(callbacks: Iterable[Any] | None) -> list[Any]:
    """Returns the callbacks of this computation and the active ones, each once.

    Raises
    ------
    ValueError
        If two callbacks would write the same file.
    """
    found: list[Any] = []
    writers: dict[str, Any] = {}
    for c in [*([] if callbacks is None else _checked(callbacks)), *Callback.active]:
        if any(c is other for other in found):
            continue
        found.append(c)
        path = getattr(c, "path", None)
        if not isinstance(path, (str, os.PathLike)):
            continue
        other = writers.setdefault(os.path.realpath(path), c)
        if other is not c:
            raise ValueError(
                f"callbacks: {type(other).__name__} and {type(c).__name__} both write"
                f" {os.fspath(path)!r}, and the second would replace the first: give each a path"
                " of its own"
            )
    return found


@contextmanager
def dispatch(
    plan: Any, callbacks: Iterable[Any] | None
) -> Iterator[Callable[[dict[str, Any]], None] | None]:
    """Yields the function that the engine calls with its events; None if there are no callbacks."""
    listeners = _listeners(callbacks)
    if not listeners:
        yield None
        return
    d = _Dispatcher(plan, listeners, plan.stages)
    compute_id = f"compute-{time.strftime('%Y%m%dT%H%M%S')}-{uuid.uuid4().hex[:6]}"
    d.call("on_compute_start", ComputeStartEvent(compute_id, plan))
    error: BaseException | None = None
    try:
        yield d.on_event
    except BaseException as e:
        error = e
        raise
    finally:
        d.call("on_compute_end", ComputeEndEvent(compute_id, plan, error))
