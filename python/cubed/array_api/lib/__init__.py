"""Import path of NumPy's less common functions."""

from cubed.array_api.lib import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]
