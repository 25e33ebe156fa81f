"""Functions that look for elements."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computes_first
from cubed.array._operands import (
    common_spec,
    core_of,
    is_scalar,
    lazy,
    normalize_axes,
    normalize_axis,
    operands,
)
from cubed.array._select import coordinates
from cubed.base._docs import documented
from cubed.base._types import Axis

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


_POSITION = (
    "int64, without the axis (`keepdims`: with one element along it); of x in C order for None.\n"
    "    Lazy."
)


def _arg_extreme(largest: bool, x: Array, axis: int | None, keepdims: bool) -> Array:
    x = lazy(x)
    a = None if axis is None else normalize_axis(axis, x.ndim)
    return x._like(_core.arg_reduce(largest, x._x, a, keepdims))


@documented(returns=_POSITION)
def argmax(
    x: Array, /, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The position of the largest element along an axis, the first of several.

    Complex numbers are in order by their real parts, then by their imaginary ones.

    Raises
    ------
    ValueError
        For no elements.

    Examples
    --------
    >>> x = cubed.asarray([3, 9, 1])
    >>> cubed.argmax(x).compute()
    array(1)
    """
    return _arg_extreme(True, x, axis, keepdims)


@documented(returns=_POSITION)
def argmin(
    x: Array, /, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The position of the smallest element along an axis, the first of several.

    Complex numbers are in order by their real parts, then by their imaginary ones.

    Raises
    ------
    ValueError
        For no elements.

    Examples
    --------
    >>> x = cubed.asarray([3, 9, 1])
    >>> cubed.argmin(x).compute()
    array(2)
    """
    return _arg_extreme(False, x, axis, keepdims)


@documented()
def count_nonzero(
    x: Array, /, axis: Axis = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """How many elements are not 0.

    Returns
    -------
    Array
        Without the axes (`keepdims`: with one element along them); None: all of them. int64. Lazy.

    Examples
    --------
    >>> x = cubed.asarray([[True, False], [True, True]])
    >>> cubed.count_nonzero(x, axis=1).compute()
    array([1, 2])
    """
    x = lazy(x)
    axes = None if axis is None else normalize_axes(axis, x.ndim)
    return x._like(_core.reduce("count_nonzero", x._x, axes, keepdims, 0.0))


@computes_first
@documented(returns="For each axis int64, of one axis. Lazy.")
def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Coordinates of the elements that are not 0, in C order; their number is computed now.

    >>> (positions,) = cubed.nonzero(cubed.asarray([0, 3, 0, 4]))
    >>> positions.compute()
    array([1, 3])
    """
    x = lazy(x)
    return tuple(x._like(c) for c in coordinates(x._x, x._spec))


def searchsorted(
    x1: Array,
    x2: Any,
    /,
    side: str = "left",
    sorter: Array | None = None,
) -> Array:
    """Where elements of x2 would be put into x1, which is sorted, so that it stays so.

    In front of equal ones, or behind them for ``side="right"``; `sorter`: positions that sort x1.

    Parameters
    ----------
    x1 : Array
        Elements in ascending order.
    x2 : array_like
        What is looked for.
    side : {"left", "right"}, default "left"
        Which position among equal elements.
    sorter : Array or None
        Positions that sort `x1`, if it is not in order.

    Returns
    -------
    Array
        int64 of x2's shape. Lazy: all of x1 is read for each block of x2.

    Examples
    --------
    >>> import cubed
    >>> cubed.searchsorted(cubed.asarray([1, 3, 5]), cubed.asarray([2, 5])).compute()
    array([1, 2])
    """
    if side not in ("left", "right"):
        raise ValueError(f"side is {side!r}, expected 'left' or 'right'")
    (a, b), spec = operands(x1, x2, name="searchsorted")
    order = None if sorter is None else core_of(sorter)
    return Array._new(_core.searchsorted(a, b, side == "right", order), spec)


@overload
def where(condition: Array, /) -> tuple[Array, ...]: ...
@overload
def where(condition: Array, x1: Any, x2: Any, /) -> Array: ...
def where(condition: Array, x1: Any = None, x2: Any = None, /) -> Array | tuple[Array, ...]:
    """Elements of x1 where the condition holds, of x2 elsewhere: ``where(condition, x1, x2)``.

    ``where(condition)`` is ``nonzero(condition)``, as in NumPy.

    Two Python scalars give the type that NumPy gives them.

    Parameters
    ----------
    condition : array_like
        What is chosen by: whether an element is not 0.
    x1 : array_like
        What is taken where it is true.
    x2 : array_like
        What is taken elsewhere.

    Returns
    -------
    Array
        Of the shape that all broadcast to, and of the type that x1 and x2 promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, -2, 3])
    >>> cubed.where(x > 0, x, 0).compute()
    array([1, 0, 3])
    """
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise TypeError("where takes a condition, or a condition, x1 and x2")
    if is_scalar(x1) and is_scalar(x2):
        x1 = np.asarray(x1)
    (a, b), _ = operands(x1, x2)
    spec = common_spec(condition, x1, x2)
    holds = core_of(condition)
    if holds.dtype != "bool":
        holds = _core.astype(holds, "bool")
    return Array._new(_core.elementwise("where", holds, a, b), spec)
