"""Indexing by functions."""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
from cubed.array._views import BlockView

__all__ = ["BlockView", "index"]


def index(x: Array, key: Any) -> Array:
    """``x[key]``; lazy as that is.

    Parameters
    ----------
    x : Array
        The array.
    key : object
        The index, as in ``x[key]``.

    Returns
    -------
    Array
        Of the selected elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> from cubed.core.indexing import index
    >>> index(cubed.arange(5), slice(3)).compute()
    array([0, 1, 2])
    """
    return x[key]
