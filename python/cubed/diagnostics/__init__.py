"""Diagnostics of computations: progress, history, charts, reports.

The classes are :class:`cubed.Callback`: pass them to ``compute(callbacks=[...])``, or use them as
context managers for all computations in the block. Packages outside the standard library are
imported only when they are used.
"""

from cubed.base._origins import note_origins
from cubed.diagnostics._progress import ProgressBar, TextProgressBar
from cubed.diagnostics.history import HistoryCallback
from cubed.diagnostics.mem_usage import MemoryVisualizationCallback
from cubed.diagnostics.mem_warn import MemoryWarningCallback
from cubed.diagnostics.report import ReportCallback
from cubed.diagnostics.status import StatusCallback
from cubed.diagnostics.timeline import TimelineVisualizationCallback
from cubed.diagnostics.trace import ChromeTraceCallback

__all__ = [
    "ChromeTraceCallback", "HistoryCallback", "MemoryVisualizationCallback",
    "MemoryWarningCallback", "ProgressBar", "ReportCallback", "StatusCallback",
    "TextProgressBar", "TimelineVisualizationCallback", "note_origins",
]  # fmt: skip
