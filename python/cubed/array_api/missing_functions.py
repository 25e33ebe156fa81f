"""Missing values: NaN and NaT."""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
from cubed.array_api._fill import forward_fill
from cubed.array_api.creation_functions import full_like
from cubed.array_api.elementwise_functions import isnan, logical_not, not_equal
from cubed.io._create import as_lazy

__all__ = ["isnull", "notnull", "push"]


def isnull(values: Any, /) -> Array:
    """Whether each element is NaN or NaT. Integers, bool and strings are never missing.

    Parameters
    ----------
    values : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the values' shape. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.isnull(cubed.asarray([1.0, float("nan")])).compute()
    array([False,  True])
    """
    x = as_lazy(values)
    if x.dtype.kind in "mM":
        return not_equal(x, x)
    return full_like(x, False, dtype=bool) if x.dtype.kind in "SU" else isnan(x)


def notnull(values: Any, /) -> Array:
    """Whether each element is neither NaN nor NaT.

    Parameters
    ----------
    values : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the values' shape. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.notnull(cubed.asarray([1.0, float("nan")])).compute()
    array([ True, False])
    """
    return logical_not(isnull(values))


def push(array: Any, /, n: int | None = None, axis: int = -1) -> Array:
    """Missing elements replaced by the last element before them that is not missing.

    Parameters
    ----------
    array : array_like
        Input array.
    n : int or None
        How many missing elements in a row are replaced at most; None: all.
    axis : int, default -1
        Axis along which to compute; negative ones count from the last.

    Returns
    -------
    Array
        Of the array's shape and type. Lazy.

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
    return forward_fill(as_lazy(array), axis, n)
