"""Writes the status of a running computation to a file."""

from __future__ import annotations

import os
import time
from typing import Any, Literal

from cubed.diagnostics._files import RecordingCallback
from cubed.runtime.types import ComputeEndEvent, ComputeStartEvent, TaskEndEvent

_SECONDS = 1.0  # between two writes


class StatusCallback(RecordingCallback):
    """Writes the status of a computation to a file, at most once a second, on any engine.

    ``cubed status FILE`` prints the status, and ``cubed status FILE --serve PORT`` shows it on a
    page at ``http://127.0.0.1:PORT/``: stages, workers, memory, failed attempts, cost so far. The
    size of the file is limited to 200 kB.

    Parameters
    ----------
    path
        The file; default: ``directory/COMPUTE_ID/status.json``.
    directory
        The parent of the directories of computations.
    """

    file_name = "status.json"

    _plan: Any = None
    _compute_id: str = ""
    _next: float = 0.0

    def _write(self, state: Literal["running", "done", "failed"], error: Any = None) -> None:
        path = self.destination(self._compute_id)
        temporary = path.with_name(f"{path.name}.{os.getpid()}")
        temporary.write_text(self._plan.status(state, error), encoding="utf-8")
        temporary.replace(path)  # so that readers always see a complete status
        self.written = path
        self._next = time.monotonic() + _SECONDS

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Starts recording events, and writes the first status."""
        super().on_compute_start(event)
        self._plan, self._compute_id = event.plan, event.compute_id
        self._write("running")

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Replaces the file if the last status is a second old."""
        if time.monotonic() >= self._next:
            self._write("running")

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Writes the last status."""
        self._write("done" if event.error is None else "failed", event.error)
        self._plan = None
