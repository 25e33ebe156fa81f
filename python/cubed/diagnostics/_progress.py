"""Progress bars by Rich, tqdm, plain text, or HTML in notebooks."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from html import escape
from typing import Any, TextIO

from cubed.base._notebook import open_output
from cubed.base._words import counted, duration
from cubed.runtime.types import (
    Callback,
    ComputeEndEvent,
    ComputeStartEvent,
    OperationStartEvent,
    TaskEndEvent,
)

#: Minimum seconds between two updates of a bar.
INTERVAL = 0.1


def shown_name(operation: str) -> str:
    """Returns an operation without its number and the names of its results: ``"mean(u*v)"``."""
    return operation.partition(" ")[2].partition(" -> ")[0] or operation


class TextProgressBar(Callback):
    """Shows the number of completed tasks as a bar.

    In notebooks (Jupyter, VS Code, marimo) it is HTML below the cell, replaced in place; it needs
    no widgets. On a terminal it is one line of text that is updated. Other outputs, such as a log,
    get a line when each operation starts.

    Parameters
    ----------
    file
        The output for text, also in notebooks; default: ``sys.stderr`` outside notebooks.
    width
        Width of the text bar in characters.
    """

    def __init__(self, file: TextIO | None = None, width: int = 32) -> None:
        self.file = file
        self.width = width
        self.done: int = 0
        self.total: int = 0
        self.name: str = ""
        self._drawn = self._started = 0.0
        self._show: Callable[[str, str], None] | None = None

    def __repr__(self) -> str:
        done = f": {self.done:,} of {counted(self.total, 'task')}" if self.total else ""
        return f"<cubed {type(self).__name__}{done}>"

    def _out(self) -> TextIO:
        return self.file if self.file is not None else sys.stderr

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Sets the number of completed tasks to zero."""
        self.done, self.total = 0, event.plan.num_tasks
        self.name = ""
        self._started, self._drawn = time.monotonic(), 0.0
        self._show = open_output() if self.file is None else None
        if self._show:
            self._draw_html("")

    def on_operation_start(self, event: OperationStartEvent) -> None:
        """Shows the current operation."""
        self.name = event.name
        if not self._show and not self._out().isatty():
            self._out().write(f"{event.name}: {counted(event.num_tasks, 'task')}\n")

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Counts completed tasks."""
        self.done += event.num_tasks
        if time.monotonic() - self._drawn < INTERVAL:
            return
        if self._show:
            seconds = time.monotonic() - self._started
            left = seconds / self.done * (self.total - self.done)
            self._draw_html(f"{shown_name(self.name)}, about {duration(left)} left")
        elif self._out().isatty():
            self._draw()

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Writes the final state of the bar."""
        how = "failed after" if event.error is not None else "done in"
        said = f"{how} {duration(time.monotonic() - self._started)}"
        if self._show:
            self._draw_html(said)
            return
        if self._out().isatty():
            self._draw()
            self._out().write("\n")
        self._out().write(f"{self.done} of {counted(self.total, 'task')}, {said}\n")
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

    def _draw_html(self, said: str) -> None:
        self._drawn = time.monotonic()
        text = f"{self.done:,} of {counted(self.total, 'task')}" + (f", {said}" if said else "")
        bar = f'<progress value="{self.done}" max="{max(self.total, 1)}" style="width:16em">'
        if self._show:
            self._show(f"<div>{bar}</progress> {escape(text)}</div>", text)


def ProgressBar(*args: Any, **kwargs: Any) -> Callback:
    """Returns the best available progress bar.

    In notebooks it is an HTML bar, which needs no widgets. Elsewhere it is Rich's, tqdm's, or plain
    text. Arguments are those of Rich, tqdm or :class:`TextProgressBar`.

    Parameters
    ----------
    *args : array_like
        Passed to its constructor.
    **kwargs : object
        Passed to its constructor.

    Returns
    -------
    Callback
        Pass it as a callback, or use it as a context manager.

    Examples
    --------
    >>> import cubed
    >>> from cubed.diagnostics import ProgressBar
    >>> bar = ProgressBar()
    >>> isinstance(bar, cubed.Callback)
    True
    """
    if not kwargs and open_output() is not None:
        return TextProgressBar(*args)
    if importlib.util.find_spec("rich") is not None:
        from cubed.diagnostics.rich import RichProgressBar  # lazy: slow import

        return RichProgressBar(*args, **kwargs)
    if importlib.util.find_spec("tqdm") is not None:
        from cubed.diagnostics.tqdm import TqdmProgressBar  # lazy: slow import

        return TqdmProgressBar(*args, **kwargs)
    return TextProgressBar(*args, **kwargs)
