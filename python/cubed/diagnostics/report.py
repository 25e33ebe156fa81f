"""A computation as one HTML page."""

from __future__ import annotations

from cubed.diagnostics._files import RecordingCallback
from cubed.runtime.types import ComputeEndEvent


class ReportCallback(RecordingCallback):
    """Writes the page of ``cubed --report``, without scripts or network.

    It has the plan, the timeline, the memory of every task, totals and failures.

    Parameters
    ----------
    path
        The file; default: ``directory/COMPUTE_ID/report.html``.
    directory
        Where directories of computations go.
    """

    file_name = "report.html"

    def content(self, event: ComputeEndEvent) -> str:
        """The page."""
        return event.plan.report(event.error)
