"""Elements at positions: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.functions._calls import operand

__all__ = [
    "take",
    "take_along_axis",
]


def take(x: Array, indices: Any, /, axis: int | None = None) -> Array:
    """The elements at positions along an axis.

    Computing raises IndexError for positions that `x` does not have.

    Parameters
    ----------
    x : Array
        Input array.
    indices : int or array_like of int
        Positions; negative ones count from the end.
    axis : int or None
        The axis. None: the only one.

    Returns
    -------
    Array
        The type of `x`, with an element along the axis for each position; without the axis for a
        number. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.take(cubed.asarray([10, 20, 30]), cubed.asarray([2, 0])).compute()
    array([30, 10])
    """
    spec = common_spec(x, indices)
    return Array._new(_core.call("take", core_of(x), operand(indices), axis), spec)


def take_along_axis(x: Array, indices: Any, /, *, axis: int = -1) -> Array:
    """The elements at positions of their own in each line along an axis.

    Computing raises IndexError for positions that `x` does not have.

    Parameters
    ----------
    x : Array
        Input array.
    indices : array_like
        Positions; negative ones count from the end.
    axis : int, default -1
        The axis.

    Returns
    -------
    Array
        The type of `x`, in the shape of the positions. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[3, 1, 2]])
    >>> cubed.take_along_axis(x, cubed.argsort(x), axis=-1).compute()
    array([[1, 2, 3]])
    """
    spec = common_spec(x, indices)
    return Array._new(_core.call("take_along_axis", core_of(x), core_of(indices), axis), spec)
