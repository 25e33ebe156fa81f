"""A chart of the times and workers of tasks."""

from __future__ import annotations

import os

from cubed.base._pictures import convert_svg
from cubed.diagnostics._files import RecordingCallback
from cubed.runtime.types import ComputeEndEvent


class TimelineVisualizationCallback(RecordingCallback):
    """Draws the tasks of each worker over time, when the computation ends.

    Parameters
    ----------
    format
        ``"svg"`` (default), ``"png"`` or ``"pdf"``; the last two need CairoSVG.
    path
        The file; default: ``directory/COMPUTE_ID/timeline.FORMAT``.
    directory
        The parent of the directories of computations.
    """

    chart = "timeline"

    def __init__(
        self,
        format: str | None = None,
        *,
        path: str | os.PathLike[str] | None = None,
        directory: str | os.PathLike[str] = "history",
    ) -> None:
        super().__init__(path, directory=directory)
        self.format: str = format or (self.path.suffix[1:] if self.path else "") or "svg"
        if self.format not in ("svg", "png", "pdf"):
            raise ValueError(f"format is {self.format!r}, expected 'svg', 'png' or 'pdf'")
        self.file_name: str = f"{self.chart}.{self.format}"

    def content(self, event: ComputeEndEvent) -> str | bytes:
        """Returns the chart."""
        return convert_svg(event.plan.chart(self.chart), self.format)
