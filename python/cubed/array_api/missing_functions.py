"""Missing values: NaN and NaT."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.functions.math import isnull, notnull
from cubed.io._create import as_lazy

__all__ = ["isnull", "notnull", "push"]


def push(array: Any, /, n: int | None = None, axis: int = -1) -> Array:
    """Replaces missing elements by the last element before them that is not missing.

    Parameters
    ----------
    array : array_like
        Input array.
    n : int or None
        Maximum number of consecutive missing elements to replace; None: all.
    axis : int, default -1
        Axis along which to compute; negative numbers count from the last.

    Returns
    -------
    Array
        Same shape and type as `array`. Lazy.

    Raises
    ------
    ValueError
        If `n` is negative.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float("nan"), float("nan")])
    >>> cubed.push(x, 1).compute()
    array([ 1.,  1., nan])
    """
    if n is not None and n < 0:
        raise ValueError(f"push: n is {n}, expected at least 0, or None")
    x = as_lazy(array)
    return x._like(_core.call_as("push", "forward_fill", x._x, axis, n))
