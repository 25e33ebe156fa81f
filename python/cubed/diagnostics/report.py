"""A report of a computation as one HTML page."""

from __future__ import annotations

import os
from html import escape
from pathlib import PurePath
from urllib.parse import quote

from cubed.base._notebook import open_output
from cubed.diagnostics._files import RecordingCallback
from cubed.runtime.types import ComputeEndEvent


class ReportCallback(RecordingCallback):
    """Writes the page of ``cubed --report``, which needs no scripts or network.

    The page contains the plan, the timeline, the memory of every task, totals and failures.
    Notebooks show a link to it when the computation ends.

    Parameters
    ----------
    path
        The file; default: ``directory/COMPUTE_ID/report.html``.
    directory
        The parent of the directories of computations.
    """

    file_name = "report.html"

    def on_compute_end(self, event: ComputeEndEvent) -> None:
        """Writes the page, and shows a link to it in notebooks."""
        super().on_compute_end(event)
        show = open_output()
        if show is not None:
            show(self._repr_html_(), repr(self))

    def _repr_html_(self) -> str:
        if self.written is None:
            return f"<code>{escape(repr(self))}</code>"
        # Relative links refer to the directory of the notebook, in which its kernel runs.
        path = PurePath(os.path.relpath(self.written)).as_posix()
        return (
            f'<a href="{escape(quote(path))}" target="_blank">report of the run: {escape(path)}</a>'
        )

    def content(self, event: ComputeEndEvent) -> str:
        """Returns the page."""
        return event.plan.report(event.error)
