"""Older name of :mod:`cubed.diagnostics.mem_warn`."""

from cubed.diagnostics.mem_warn import MemoryWarningCallback

__all__ = ["MemoryWarningCallback"]
