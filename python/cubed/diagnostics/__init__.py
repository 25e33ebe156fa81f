"""What computations do: progress, history, pictures, reports.

Everything here is a :class:`cubed.Callback`: given to ``compute(callbacks=[...])``, or as a context
manager for all computations within it. Nothing beyond the standard library is imported until it is
used.
"""

from cubed.diagnostics._progress import ProgressBar, TextProgressBar
from cubed.diagnostics.history import HistoryCallback
from cubed.diagnostics.mem_usage import MemoryVisualizationCallback
from cubed.diagnostics.mem_warn import MemoryWarningCallback
from cubed.diagnostics.report import ReportCallback
from cubed.diagnostics.timeline import TimelineVisualizationCallback
from cubed.diagnostics.trace import ChromeTraceCallback

__all__ = [
    "ChromeTraceCallback",
    "HistoryCallback",
    "MemoryVisualizationCallback",
    "MemoryWarningCallback",
    "ProgressBar",
    "ReportCallback",
    "TextProgressBar",
    "TimelineVisualizationCallback",
]
