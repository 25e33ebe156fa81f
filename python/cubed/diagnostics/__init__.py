"""What computations do: progress, history, pictures, reports.

Classes here are :class:`cubed.Callback`: given to ``compute(callbacks=[...])``, or as context
managers for all computations within them. Nothing beyond the standard library is imported until it
is used.
"""

from cubed.base._origins import note_origins
from cubed.diagnostics._progress import ProgressBar, TextProgressBar
from cubed.diagnostics.history import HistoryCallback
from cubed.diagnostics.mem_usage import MemoryVisualizationCallback
from cubed.diagnostics.mem_warn import MemoryWarningCallback
from cubed.diagnostics.report import ReportCallback
from cubed.diagnostics.timeline import TimelineVisualizationCallback
from cubed.diagnostics.trace import ChromeTraceCallback

__all__ = [
    "ChromeTraceCallback", "HistoryCallback", "MemoryVisualizationCallback",
    "MemoryWarningCallback", "ProgressBar", "ReportCallback", "TextProgressBar",
    "TimelineVisualizationCallback", "note_origins",
]  # fmt: skip
