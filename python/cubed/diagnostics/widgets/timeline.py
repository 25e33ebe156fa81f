"""Import path of a live picture."""

from cubed.diagnostics.widgets._live import LiveTimelineViewer as LiveTimelineViewer
