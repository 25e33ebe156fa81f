"""Sorting.

The axis is brought together in a task's memory; an axis that does not fit is sorted in parts, which
are merged: all elements are read and written once for each merge. Results are then in chunks of one
part along the axis and 1 along all others.
"""

from __future__ import annotations

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import lazy, normalize_axis
from cubed.base._docs import documented

__all__ = ["argsort", "sort"]


@documented()
def argsort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The positions that put the elements along an axis in order; equal ones keep theirs.

    Parameters
    ----------
    axis : int, default -1
        The axis that is sorted along.

    Returns
    -------
    Array
        int64, of x's shape. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([3, 1, 2])
    >>> cubed.argsort(x).compute()
    array([1, 2, 0])
    """
    x = lazy(x)
    return x._like(
        _core.sort(True, x._x, normalize_axis(axis, x.ndim), descending, x.spec.task_mem)
    )


@documented(returns="Of x's shape and type. Lazy.")
def sort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along an axis, NaN last.

    Parameters
    ----------
    axis : int, default -1
        The axis that is sorted along.

    Examples
    --------
    >>> x = cubed.asarray([3, 1, 2])
    >>> cubed.sort(x).compute()
    array([1, 2, 3])
    """
    x = lazy(x)
    return x._like(
        _core.sort(False, x._x, normalize_axis(axis, x.ndim), descending, x.spec.task_mem)
    )
