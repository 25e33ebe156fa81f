"""Older name of :mod:`cubed.diagnostics.history`."""

from cubed.diagnostics.history import HistoryCallback

__all__ = ["HistoryCallback"]
