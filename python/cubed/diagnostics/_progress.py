"""Progress bars: by Rich, tqdm, or plain text."""

from __future__ import annotations

import importlib.util
import sys
import time
from typing import Any, TextIO

from cubed.runtime.types import (
    Callback,
    ComputeEndEvent,
    ComputeStartEvent,
    OperationStartEvent,
    TaskEndEvent,
)

#: Seconds between two drawings of a bar.
INTERVAL = 0.1


class TextProgressBar(Callback):
    """One line of text that says how many tasks are done.

    On a terminal it is drawn again and again; elsewhere, such as in a log, each operation has a
    line when it starts.

    Parameters
    ----------
    file
        Where it is written; default: ``sys.stderr``.
    width
        Characters of the bar.
    """

    def __init__(self, file: TextIO | None = None, width: int = 32) -> None:
        self.file = file
        self.width = width
        self.done: int = 0
        self.total: int = 0
        self.name: str = ""
        self._drawn = self._started = 0.0

    def _out(self) -> TextIO:
        return self.file if self.file is not None else sys.stderr

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Starts at zero."""
        self.done, self.total = 0, event.plan.num_tasks
        self.name = ""
        self._started, self._drawn = time.monotonic(), 0.0

    def on_operation_start(self, event: OperationStartEvent) -> None:
        """Says what is going on."""
        self.name = event.name
        if not self._out().isatty():
            self._out().write(f"{event.name}: {event.num_tasks} tasks\n")

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Counts."""
        self.done += event.num_tasks
        if self._out().isatty() and time.monotonic() - self._drawn >= INTERVAL:
            self._draw()

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """The last line."""
        seconds = time.monotonic() - self._started
        if self._out().isatty():
            self._draw()
            self._out().write("\n")
        how = "failed after" if event.error is not None else "done in"
        self._out().write(f"{self.done} of {self.total} tasks, {how} {seconds:.2f} s\n")
        self._out().flush()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        part = self.done / self.total if self.total else 1.0
        bar = "#" * round(part * self.width)
        self._out().write(
            f"\r[{bar:<{self.width}}] {100 * part:3.0f} % {self.done}/{self.total}"
            f" {self.name:<40.40}"
        )
        self._out().flush()


def ProgressBar(*args: Any, **kwargs: Any) -> Callback:
    """The best progress bar that can be had: Rich's, else tqdm's, else plain text.

    Parameters
    ----------
    *args : array_like
        Passed on to it.
    **kwargs : object
        Passed on to it.

    Returns
    -------
    Callback
        What is given as a callback, or used as a context manager.

    Examples
    --------
    >>> import cubed
    >>> from cubed.diagnostics import ProgressBar
    >>> bar = ProgressBar()
    >>> isinstance(bar, cubed.Callback)
    True
    """
    in_notebook = "ipykernel" in sys.modules
    if in_notebook and importlib.util.find_spec("ipywidgets") is None:
        return TextProgressBar(*args, **kwargs)  # the others show nothing but a warning there
    if importlib.util.find_spec("rich") is not None:
        from cubed.diagnostics.rich import RichProgressBar  # late: takes a while

        return RichProgressBar(*args, **kwargs)
    if importlib.util.find_spec("tqdm") is not None:
        from cubed.diagnostics.tqdm import TqdmProgressBar  # late: takes a while

        return TqdmProgressBar(*args, **kwargs)
    return TextProgressBar(*args, **kwargs)
