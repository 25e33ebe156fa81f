"""Pictures in a notebook that are updated while a computation runs."""

from cubed.diagnostics.widgets._live import LiveMemoryViewer, LivePlanViewer, LiveTimelineViewer

__all__ = ["LiveMemoryViewer", "LivePlanViewer", "LiveTimelineViewer"]
