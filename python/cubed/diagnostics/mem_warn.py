"""Warnings about tasks that used more memory than projected."""

from __future__ import annotations

import warnings

from cubed._bytes import format_bytes
from cubed.runtime.types import Callback, ComputeEndEvent, ComputeStartEvent, TaskEndEvent


class MemoryWarningCallback(Callback):
    """Warns of each operation with tasks that used more than was projected, when it is over.

    The engine's own memory cannot exceed its projection; that of users' functions, which declare
    theirs by `extra_projected_mem`, can.
    """

    def __init__(self) -> None:
        self._worst: dict[str, tuple[int, int]] = {}

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Forgets the computation before."""
        self._worst = {}

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Keeps the operation's worst task."""
        measured, projected = event.peak_measured_mem_end, event.projected_mem
        if measured is None or projected is None or measured <= projected:
            return
        if event.name not in self._worst or measured > self._worst[event.name][0]:
            self._worst[event.name] = (measured, projected)

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Warns, once for each operation."""
        for name, (measured, projected) in self._worst.items():
            warnings.warn(
                f"a task of {name!r} used {format_bytes(measured)} of memory, more than the"
                f" {format_bytes(projected)} projected for it; allowed are"
                f" {format_bytes(event.plan.allowed_mem)}",
                stacklevel=2,
            )
