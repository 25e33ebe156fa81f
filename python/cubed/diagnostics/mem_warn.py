"""Warnings about tasks that used more memory than projected."""

from __future__ import annotations

from typing import Any

from cubed.base._bytes import format_bytes
from cubed.base._warnings import warn
from cubed.runtime.types import Callback, ComputeEndEvent, ComputeStartEvent, TaskEndEvent


def warn_of_function(plan: Any, stats: dict[str, Any]) -> None:
    """Warns if a user-defined function used so much more than projected that its task exceeded
    `allowed_mem`.
    """
    number, excess = stats["function_excess_stage"], stats["function_excess"]
    stage = plan.stages[number]
    used = stage["projected_mem"] + plan.reserved_mem + excess
    if used > plan.allowed_mem:
        warn(
            f"stage {number} ({stage['name']}): a function took {format_bytes(excess)} more than is"
            f" projected for it, so that its task used {format_bytes(used)} of"
            f" {format_bytes(plan.allowed_mem)} allowed: declare it as its extra_projected_mem",
            RuntimeWarning,
        )


class MemoryWarningCallback(Callback):
    """Warns about each operation with tasks that used more than projected, when the computation
    ends.

    The engine's own memory cannot exceed its projection. User-defined functions, which declare
    their memory by `extra_projected_mem`, can. A function that exceeds its own part is reported
    even if the task stayed within its projection.
    """

    def __init__(self) -> None:
        self._worst: dict[str, tuple[int, int]] = {}
        self._functions: dict[str, tuple[int, int]] = {}

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Discards data of the previous computation."""
        self._worst, self._functions = {}, {}

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Records the task of the operation that exceeds its projection most."""
        taken, declared = event.function_mem, event.function_projected_mem
        if taken > max(declared, self._functions.get(event.name, (0, 0))[0]):
            self._functions[event.name] = (taken, declared)
        measured, projected = event.peak_measured_mem_end, event.projected_mem
        if measured is None or projected is None or measured <= projected:
            return
        if event.name not in self._worst or measured > self._worst[event.name][0]:
            self._worst[event.name] = (measured, projected)

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Warns, once for each operation."""
        for name, (measured, projected) in self._worst.items():
            warn(
                f"a task of {name!r} used {format_bytes(measured)} of memory, more than the"
                f" {format_bytes(projected)} projected for it; allowed_mem is"
                f" {format_bytes(event.plan.allowed_mem)}",
            )
        for name, (taken, declared) in self._functions.items():
            warn(
                f"a function of {name!r} took {format_bytes(taken)}, more than the"
                f" {format_bytes(declared)} projected for it: give the difference as its"
                " extra_projected_mem",
            )
