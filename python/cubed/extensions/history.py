"""Older name of :mod:`cubed.diagnostics.history`."""

from cubed.diagnostics.history import HistoryCallback, analyze

__all__ = ["HistoryCallback", "analyze"]
