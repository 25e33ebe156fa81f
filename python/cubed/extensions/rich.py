"""Older name of :mod:`cubed.diagnostics.rich`."""

from cubed.diagnostics.rich import RichProgressBar

__all__ = ["RichProgressBar"]
