"""Older name of :mod:`cubed.diagnostics.timeline`."""

from cubed.diagnostics.timeline import TimelineVisualizationCallback

__all__ = ["TimelineVisualizationCallback"]
