"""Older name of :mod:`cubed.diagnostics.mem_utilization`."""

from cubed.diagnostics.mem_utilization import MemoryVisualizationCallback

__all__ = ["MemoryVisualizationCallback"]
