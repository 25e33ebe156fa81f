"""Alias of :mod:`cubed.diagnostics.mem_usage`."""

from cubed.diagnostics.mem_usage import MemoryVisualizationCallback

__all__ = ["MemoryVisualizationCallback"]
