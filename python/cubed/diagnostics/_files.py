"""Callbacks that write files when a computation ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from cubed.runtime.types import Callback, ComputeEndEvent, ComputeStartEvent, TaskEndEvent


class FileCallback(Callback):
    """Writes the file ``directory/COMPUTE_ID/name``. If `path` is given, writes this file, which
    each computation replaces. `written` is the file of the latest computation.
    """

    file_name: str

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        directory: str | os.PathLike[str] = "history",
    ) -> None:
        self.path: Path | None = None if path is None else Path(path)
        self.directory: Path = Path(directory)
        self.written: Path | None = None

    def __repr__(self) -> str:
        name = type(self).__name__
        if self.written is not None:
            return f"<cubed {name}: wrote {str(self.written)!r}>"
        path = self.path or self.directory / "COMPUTE_ID" / self.file_name
        return f"<cubed {name}: writes {str(path)!r} when a computation ends>"

    @property
    def dst(self) -> Path | None:
        """Alias of :attr:`written`: the file of the latest computation."""
        return self.written

    def destination(self, compute_id: str) -> Path:
        """Returns the path of a computation's file and creates its directory."""
        path = self.path or self.directory / compute_id / self.file_name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def content(self, event: ComputeEndEvent) -> str | bytes:
        """Returns the contents of the file."""
        raise NotImplementedError

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Writes the file of the computation."""
        content = self.content(event)
        path = self.destination(event.compute_id)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        self.written = path


class RecordingCallback(FileCallback):
    """Writes a file from the engine's record of the run, whose size does not grow with the run."""

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Starts recording events."""
        event.plan.record()


class TaskLog:
    """All tasks of a computation, in the order in which they ended."""

    def __init__(self, event: ComputeStartEvent) -> None:
        self.compute_id: str = event.compute_id
        self.plan: Any = event.plan
        self.stages: list[dict[str, Any]] = event.stages
        self.tasks: list[TaskEndEvent] = []

    def by_operation(self) -> dict[str, list[TaskEndEvent]]:
        """Returns the tasks of each operation; operations without tasks are omitted."""
        out: dict[str, list[TaskEndEvent]] = {}
        for task in self.tasks:
            out.setdefault(task.name, []).append(task)
        return out


class LoggingCallback(Callback):
    """Records the tasks of the latest computation."""

    _log: TaskLog

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Starts a new log."""
        self._log = TaskLog(event)

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Adds the task."""
        self._log.tasks.append(event)
