"""Pictures in a notebook that change while a computation runs."""

from cubed.diagnostics.widgets._live import LiveMemoryViewer, LivePlanViewer, LiveTimelineViewer

__all__ = ["LiveMemoryViewer", "LivePlanViewer", "LiveTimelineViewer"]
