"""Where NumPy has its less common functions."""

from cubed.array_api.lib import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]
