"""Live pictures by IPython's display, which every notebook has without extensions."""

from __future__ import annotations

import time
from html import escape
from typing import Any

from cubed.base._pictures import scrolled
from cubed.runtime.types import (
    Callback,
    ComputeEndEvent,
    ComputeStartEvent,
    TaskEndEvent,
)


class LiveViewer(Callback):
    """Shows a picture below the cell and redraws it while the computation runs.

    Parameters
    ----------
    widget
        For compatibility: None. Pictures are HTML, without widgets.
    width, height
        Size of the picture as a CSS length, such as ``"100%"``, or in pixels; default: the
        picture's size.
    interval
        Minimum seconds between two updates.

    Raises
    ------
    TypeError
        If a widget is given.
    ImportError
        When a computation starts, if IPython is not installed.
    """

    def __init__(
        self,
        widget: None = None,
        *,
        width: str | int | None = None,
        height: str | int | None = None,
        interval: float = 0.5,
    ) -> None:
        if widget is not None:
            raise TypeError(f"widget is {widget!r}, expected None: pictures are HTML")
        self.interval = interval
        self._size = "".join(
            f"{name}:{value}px;overflow:auto;"
            if isinstance(value, int)
            else f"{name}:{value};overflow:auto;"
            for name, value in (("width", width), ("height", height))
            if value is not None
        )
        self._plan: Any = None
        self._handle: Any = None
        self._drawn = 0.0

    def html(self) -> str:
        """Returns the current state as HTML."""
        raise NotImplementedError

    def _sized(self) -> str:
        html = self.html()
        return f'<div style="{escape(self._size)}">{html}</div>' if self._size else html

    def on_compute_start(self, event: ComputeStartEvent) -> None:
        """Shows the picture before any task runs."""
        try:
            from IPython.display import HTML, display
        except ImportError as e:
            raise ImportError(
                f"{type(self).__name__} shows pictures in notebooks and needs IPython: pip install"
                " ipython; in scripts use callbacks such as TimelineVisualizationCallback"
            ) from e
        event.plan.record()
        self._plan = event.plan
        self._handle = display(HTML(self._sized()), display_id=True)
        self._drawn = time.monotonic()

    def on_task_end(self, event: TaskEndEvent) -> None:
        """Redraws the picture from time to time."""
        if time.monotonic() - self._drawn >= self.interval:
            self._draw()

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Keeps the last picture."""
        self._draw()

    def _draw(self) -> None:
        from IPython.display import HTML

        # The handle is None outside of notebooks, where text was shown in place of the picture.
        if self._handle is not None:
            self._handle.update(HTML(self._sized()))
        self._drawn = time.monotonic()


class LiveTimelineViewer(LiveViewer):
    """Shows the tasks of each worker over time."""

    def html(self) -> str:
        """Returns the current state as HTML."""
        return scrolled(self._plan.chart("timeline"))


class LiveMemoryViewer(LiveViewer):
    """Shows measured memory of tasks, compared with projected and allowed memory."""

    def html(self) -> str:
        """Returns the current state as HTML."""
        return scrolled(self._plan.chart("memory"))


class LivePlanViewer(LiveViewer):
    """Shows the plan, the progress of its stages, and the memory of a worker compared with the
    allowed memory.
    """

    def html(self) -> str:
        """Returns the current state as HTML."""
        return scrolled(self._plan.draw("svg")) + scrolled(self._plan.chart("progress"))
