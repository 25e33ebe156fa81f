"""Order and search: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, lazy
from cubed.base._types import Axis
from cubed.functions._calls import operand

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "isin",
    "nanargmax",
    "nanargmin",
    "searchsorted",
    "sort",
]


def argmax(
    x: Array, /, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The position of the largest element, the first of several.

    Complex numbers are in order by their real parts, then by their imaginary ones.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute; None: the elements in one dimension.
    keepdims : bool, default False
        Keep the axis, with one element.
    split_every : int, dict or None
        Accepted, and not needed: the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axis (`keepdims`: with one element along it). For None positions count in
        C order. Lazy.

    Raises
    ------
    ValueError
        If there are no elements.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([3, 9, 1])
    >>> cubed.argmax(x).compute()
    array(1)
    """
    x = lazy(x)
    return x._like(_core.call("argmax", x._x, axis, keepdims))


def argmin(
    x: Array, /, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The position of the smallest element, the first of several.

    Complex numbers are in order by their real parts, then by their imaginary ones.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute; None: the elements in one dimension.
    keepdims : bool, default False
        Keep the axis, with one element.
    split_every : int, dict or None
        Accepted, and not needed: the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axis (`keepdims`: with one element along it). For None positions count in
        C order. Lazy.

    Raises
    ------
    ValueError
        If there are no elements.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([3, 9, 1])
    >>> cubed.argmin(x).compute()
    array(2)
    """
    x = lazy(x)
    return x._like(_core.call("argmin", x._x, axis, keepdims))


def argsort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The positions that put the elements along an axis in order; equal ones keep theirs.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, default -1
        Axis that is sorted along; negative ones count from the last.
    descending : bool, default False
        Whether to sort from the largest to the smallest.
    stable : bool, default True
        Whether equal elements stay in order; they do in both cases.

    Returns
    -------
    Array
        int64, of the shape of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([3, 1, 2])
    >>> cubed.argsort(x).compute()
    array([1, 2, 0])
    """
    x = lazy(x)
    return x._like(_core.call("argsort", x._x, axis, descending, stable, x.spec.task_mem))


def count_nonzero(
    x: Array, /, axis: Axis = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """Numbers of elements that are not 0.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to count. None: all.
    keepdims : bool, default False
        Keep the axes, with one element.
    split_every : int, dict or None
        Accepted, and not needed: the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axes (`keepdims`: with one element along them). Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[True, False], [True, True]])
    >>> cubed.count_nonzero(x, axis=1).compute()
    array([1, 2])
    """
    x = lazy(x)
    return x._like(_core.call("count_nonzero", x._x, axis, keepdims))


def isin(x1: Any, x2: Any, /, assume_unique: bool = False, *, invert: bool = False) -> Array:
    """Whether elements of `x1` are among those of `x2`.

    Every block of `x1` is looked up in every block of `x2`.

    Parameters
    ----------
    x1 : array_like
        Elements to look for.
    x2 : array_like
        Elements among which to look.
    assume_unique : bool, default False
        NumPy's; without effect.
    invert : bool, default False
        Whether elements that are not in `x2` are true.

    Returns
    -------
    Array
        bool, of the shape of `x1`. NaN and NaT are among none. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.isin(cubed.asarray([1, 2, 3]), cubed.asarray([2, 5])).compute()
    array([False,  True, False])
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.call("isin", operand(x1), operand(x2), assume_unique, invert), spec)


def nanargmax(
    x: Array, /, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The position of the largest element that is not NaN, the first of several.

    If all elements are NaN, computing raises ValueError.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute; None: the elements in one dimension.
    keepdims : bool, default False
        Keep the axis, with one element.
    split_every : int, dict or None
        Accepted, and not needed: the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axis (`keepdims`: with one element along it). For None positions count in
        C order. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanargmax(x).compute()
    array(2)
    """
    x = lazy(x)
    return x._like(_core.call("nanargmax", x._x, axis, keepdims))


def nanargmin(
    x: Array, /, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The position of the smallest element that is not NaN, the first of several.

    If all elements are NaN, computing raises ValueError.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute; None: the elements in one dimension.
    keepdims : bool, default False
        Keep the axis, with one element.
    split_every : int, dict or None
        Accepted, and not needed: the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axis (`keepdims`: with one element along it). For None positions count in
        C order. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanargmin(x).compute()
    array(0)
    """
    x = lazy(x)
    return x._like(_core.call("nanargmin", x._x, axis, keepdims))


def searchsorted(x1: Any, x2: Any, /, side: str = "left", sorter: Any = None) -> Array:
    """The positions at which elements of `x2` would be put into `x1` so that it stays sorted.

    The position is in front of equal elements, or behind them for ``side="right"``. All of `x1` is
    read for each block of `x2`.

    Parameters
    ----------
    x1 : array_like
        Elements in ascending order, in one dimension.
    x2 : array_like
        Elements to look for.
    side : {"left", "right"}, default "left"
        The position among equal elements.
    sorter : array_like or None
        Positions that sort `x1`. None: `x1` is in order.

    Returns
    -------
    Array
        int64, of the shape of `x2`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.searchsorted(cubed.asarray([1, 3, 5]), cubed.asarray([2, 5])).compute()
    array([1, 2])
    """
    spec = common_spec(x1, x2, sorter)
    core = _core.call("searchsorted", operand(x1), operand(x2), side, operand(sorter))
    return Array._new(core, spec)


def sort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along an axis, NaN last.

    A task's memory holds a whole axis. An axis that does not fit is sorted in parts, which are
    merged: all elements are read and written once for each merge. Results are then in chunks of one
    part along the axis and 1 along all others.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, default -1
        Axis that is sorted along; negative ones count from the last.
    descending : bool, default False
        Whether to sort from the largest to the smallest.
    stable : bool, default True
        Whether equal elements stay in order; they do in both cases.

    Returns
    -------
    Array
        The shape and type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([3, 1, 2])
    >>> cubed.sort(x).compute()
    array([1, 2, 3])
    """
    x = lazy(x)
    return x._like(_core.call("sort", x._x, axis, descending, stable, x.spec.task_mem))
