"""Progress by Rich: a bar for each operation, on terminals and in notebooks."""

from __future__ import annotations

import sys
from typing import Any

from cubed.base._distribution import optional
from cubed.base._notebook import lacks_widgets
from cubed.runtime.types import (
    Callback,
    ComputeEndEvent,
    ComputeStartEvent,
    OperationEndEvent,
    OperationStartEvent,
    TaskEndEvent,
    operation_name,
)


class RichProgressBar(Callback):
    """Shows a bar for each operation.

    Parameters
    ----------
    **kwargs
        For ``rich.progress.Progress``, such as ``console`` or ``transient``.

    Raises
    ------
    ImportError
        When a computation starts, if Rich is not installed.
    """

    def __init__(self, **kwargs: Any) -> None:
        self.kwargs = kwargs
        self._progress: Any = None
        self._bars: dict[str, Any] = {}

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Shows a bar for each operation."""
        progress = optional("rich.progress", "RichProgressBar needs Rich", "diagnostics", "rich")
        kwargs = dict(self.kwargs)
        if "console" not in kwargs:
            from rich.console import Console

            if lacks_widgets():  # Rich's own output for notebooks would be a warning
                kwargs["console"] = Console(file=sys.stdout, force_jupyter=False)
            else:
                # Standard output is for results; a notebook has no other output.
                kwargs["console"] = Console(file=None if "ipykernel" in sys.modules else sys.stderr)
        self._progress = progress.Progress(
            progress.SpinnerColumn(finished_text="[green]✓"),
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TimeElapsedColumn(),
            **kwargs,
        )
        self._bars = {}
        for i, stage in enumerate(event.stages):
            name = operation_name(i, stage)
            label = name if len(name) <= 48 else name[:47] + "…"
            # Square brackets in a name must not be understood as markup.
            self._bars[name] = self._progress.add_task(
                label.replace("[", r"\["), total=stage["num_tasks"], start=False
            )
        self._progress.start()

    def on_operation_start(self, event: OperationStartEvent) -> None:
        """Starts the bar's clock."""
        self._progress.start_task(self._bars[event.name])

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Advances the bar."""
        self._progress.advance(self._bars[event.name], event.num_tasks)

    def on_operation_end(self, event: OperationEndEvent) -> None:
        """Stops the bar's clock."""
        self._progress.stop_task(self._bars[event.name])

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Stops the display and leaves the bars visible."""
        self._progress.stop()
