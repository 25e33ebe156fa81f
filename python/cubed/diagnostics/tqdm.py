"""Progress by tqdm: a bar for each operation that has started."""

from __future__ import annotations

import sys
from typing import Any

from cubed.base._notebook import lacks_widgets
from cubed.runtime.types import (
    Callback,
    ComputeEndEvent,
    ComputeStartEvent,
    OperationStartEvent,
    TaskEndEvent,
)


class TqdmProgressBar(Callback):
    """Shows a bar for each operation.

    Parameters
    ----------
    *args, **kwargs
        For ``tqdm.auto.tqdm``, such as ``file`` or ``leave``.

    Raises
    ------
    ImportError
        When a computation starts, if tqdm is not installed.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args = args
        self.kwargs = kwargs
        self._tqdm: Any = None
        self._bars: dict[str, Any] = {}
        self._plain = False

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Removes the bars of the previous computation."""
        self._plain = lacks_widgets()
        try:
            if self._plain:
                from tqdm import tqdm
            else:
                from tqdm.auto import tqdm
        except ImportError as e:
            raise ImportError("TqdmProgressBar needs tqdm: pip install tqdm") from e
        self._tqdm = tqdm
        self._bars = {}

    def on_operation_start(self, event: OperationStartEvent) -> None:
        """Shows the bar."""
        options: dict[str, Any] = {
            "desc": event.name,
            "total": event.num_tasks,
            "position": len(self._bars),
        }
        if self._plain:
            options["file"] = sys.stdout  # notebooks show stderr in red
        self._bars[event.name] = self._tqdm(*self.args, **{**options, **self.kwargs})

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Advances the bar. Events of tasks that an earlier run completed precede the start of
        their operation."""
        if event.name not in self._bars:
            self.on_operation_start(OperationStartEvent(event.name))
        self._bars[event.name].update(event.num_tasks)

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Keeps the bars as they are."""
        for bar in self._bars.values():
            bar.close()
