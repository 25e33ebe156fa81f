"""Order and search: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy
from cubed.base._types import Axis, Shape
from cubed.functions._calls import arrays_of, operand, task_mem
from cubed.functions._prepare import select_of
from cubed.io._create import as_lazy

__all__ = [
    "argmax",
    "argmin",
    "argpartition",
    "argsort",
    "argtopk",
    "choose",
    "count_nonzero",
    "isin",
    "lexsort",
    "nanargmax",
    "nanargmin",
    "partition",
    "searchsorted",
    "select",
    "sort",
    "sort_complex",
    "topk",
]


def argmax(
    x: Array, /, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The position of the largest element; the first one if several are equal.

    Complex numbers are compared by their real parts, and by their imaginary parts if the real parts
    are equal.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    keepdims : bool, default False
        Whether to keep the axis, with one element.
    split_every : int, dict or None
        Accepted for compatibility; has no effect, because the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axis; with `keepdims`, the axis has one element. Without an axis,
        positions are in the flattened array. Lazy.

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
    """The position of the smallest element; the first one if several are equal.

    Complex numbers are compared by their real parts, and by their imaginary parts if the real parts
    are equal.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    keepdims : bool, default False
        Whether to keep the axis, with one element.
    split_every : int, dict or None
        Accepted for compatibility; has no effect, because the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axis; with `keepdims`, the axis has one element. Without an axis,
        positions are in the flattened array. Lazy.

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


def argpartition(a: Any, kth: Shape, axis: int | None = -1) -> Array:
    """The positions of the elements in the order in which `partition` returns them.

    Parameters
    ----------
    a : array_like
        Input array.
    kth : int or tuple of int
        Positions in the result that hold the same element as in the sorted array.
    axis : int or None, default -1
        Axis along which to compute. None: the flattened array.

    Returns
    -------
    Array
        int64, of the shape of `a`, or of one dimension. Lazy.

    Raises
    ------
    ValueError
        For positions out of range.

    Examples
    --------
    >>> import cubed
    >>> cubed.argpartition(cubed.asarray([3, 9, 1]), 0)[0].compute()
    array(2)
    """
    a = as_lazy(a)
    return a._like(_core.call("argpartition", a._x, kth, axis, a.spec.task_mem))


def argsort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """The positions that sort the elements along an axis. Equal elements keep their order.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, default -1
        Axis along which to sort; negative numbers count from the last.
    descending : bool, default False
        Whether to sort from the largest to the smallest.
    stable : bool, default True
        Whether equal elements keep their order. They always do.

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


def argtopk(a: Any, k: int, axis: int = -1, split_every: Any = None) -> Array:
    """The positions of the elements that `topk` returns.

    Parameters
    ----------
    a : array_like
        Input array.
    k : int
        Number of elements; a negative number selects the smallest elements.
    axis : int, default -1
        Axis along which to compute; negative numbers count from the last.
    split_every : int, dict or None
        Accepted for compatibility; has no effect, because the planner splits reductions.

    Returns
    -------
    Array
        int64, with `k` elements along the axis, or all if there are fewer. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.argtopk(cubed.asarray([3, 9, 1]), 2).compute()
    array([1, 0])
    """
    a = as_lazy(a)
    return a._like(_core.call("argtopk", a._x, k, axis, a.spec.task_mem))


def choose(a: Any, choices: Sequence[Any], mode: str = "raise") -> Array:
    """Selects each element from one of several arrays, by number.

    The choices may be one array; its first axis has a choice for each number. With ``mode="raise"``
    the computation raises IndexError for numbers without a choice.

    Parameters
    ----------
    a : array_like
        Integers: the number of the array to select from.
    choices : sequence of array_like
        Arrays that broadcast with `a`.
    mode : {"raise", "wrap", "clip"}, default "raise"
        Treatment of numbers out of range: an error when computed (``"raise"``), the remainder
        (``"wrap"``), or the nearest choice (``"clip"``).

    Returns
    -------
    Array
        The type that the choices promote to, and the shape that all broadcast to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.choose(cubed.asarray([1, 0]), [[1, 2], [10, 20]]).compute()
    array([10,  2])
    """
    choices = arrays_of(choices)
    spec = common_spec(*choices, a)
    return Array._new(_core.call("choose", core_of(a), [a._x for a in choices], mode), spec)


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
        Whether to keep the reduced axes, with one element.
    split_every : int, dict or None
        Accepted for compatibility; has no effect, because the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axes; with `keepdims`, the axes have one element. Lazy.

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
        Elements to compare with.
    assume_unique : bool, default False
        Accepted for compatibility with NumPy; has no effect.
    invert : bool, default False
        Whether to return the opposite: true for elements that are not in `x2`.

    Returns
    -------
    Array
        bool, in the shape of `x1`. Always false for NaN and NaT. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.isin(cubed.asarray([1, 2, 3]), cubed.asarray([2, 5])).compute()
    array([False,  True, False])
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.call("isin", operand(x1), operand(x2), assume_unique, invert), spec)


def lexsort(keys: Sequence[Any], axis: int = -1) -> Array:
    """The positions that sort elements along an axis by several keys.

    Elements are in the order of the last key. If elements have equal last keys, the key before it
    decides, and so on.

    Parameters
    ----------
    keys : sequence of array_like
        Arrays of one shape. The last one is the first key to sort by.
    axis : int, default -1
        Axis along which to sort; negative numbers count from the last.

    Returns
    -------
    Array
        int64, of the shape of each key. Lazy.

    Raises
    ------
    ValueError
        Without keys, or for keys of different shapes.

    Examples
    --------
    >>> import cubed
    >>> cubed.lexsort((cubed.asarray([3, 1, 2]), cubed.asarray([1, 2, 1]))).compute()
    array([2, 0, 1])
    """
    keys = arrays_of(keys)
    spec = common_spec(*keys)
    return Array._new(_core.call("lexsort", [a._x for a in keys], axis, task_mem(spec)), spec)


def nanargmax(
    x: Array, /, axis: int | None = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The position of the first largest element, ignoring NaN.

    If all elements are NaN, computing raises ValueError.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    keepdims : bool, default False
        Whether to keep the axis, with one element.
    split_every : int, dict or None
        Accepted for compatibility; has no effect, because the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axis; with `keepdims`, the axis has one element. Without an axis,
        positions are in the flattened array. Lazy.

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
    """The position of the first smallest element, ignoring NaN.

    If all elements are NaN, computing raises ValueError.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    keepdims : bool, default False
        Whether to keep the axis, with one element.
    split_every : int, dict or None
        Accepted for compatibility; has no effect, because the planner splits reductions.

    Returns
    -------
    Array
        int64, without the axis; with `keepdims`, the axis has one element. Without an axis,
        positions are in the flattened array. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanargmin(x).compute()
    array(0)
    """
    x = lazy(x)
    return x._like(_core.call("nanargmin", x._x, axis, keepdims))


def partition(a: Any, kth: Shape, axis: int | None = -1) -> Array:
    """Partitions the elements along an axis: the smallest before position `kth`.

    All elements are sorted, so that larger elements come after position `kth`.

    Parameters
    ----------
    a : array_like
        Input array.
    kth : int or tuple of int
        Positions in the result that hold the same element as in the sorted array.
    axis : int or None, default -1
        Axis along which to compute. None: the flattened array.

    Returns
    -------
    Array
        The type of `a`, and its shape, or one dimension. Lazy.

    Raises
    ------
    ValueError
        For positions out of range.

    Examples
    --------
    >>> import cubed
    >>> cubed.partition(cubed.asarray([3, 9, 1]), 0)[0].compute()
    array(1)
    """
    a = as_lazy(a)
    return a._like(_core.call("partition", a._x, kth, axis, a.spec.task_mem))


def searchsorted(x1: Any, x2: Any, /, side: str = "left", sorter: Any = None) -> Array:
    """The positions at which elements of `x2` can be inserted into `x1` so that it stays sorted.

    The position is before equal elements, or after them for ``side="right"``. All of `x1` is read
    for each block of `x2`.

    Parameters
    ----------
    x1 : array_like
        Elements in ascending order, in one dimension.
    x2 : array_like
        Elements to look for.
    side : {"left", "right"}, default "left"
        Whether the position is before (``"left"``) or after (``"right"``) equal elements.
    sorter : array_like or None
        Positions that sort `x1`. None: `x1` is sorted.

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


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Elements of the array that belongs to the first true condition, or a default.

    Parameters
    ----------
    condlist : sequence of array_like
        Conditions: arrays of bools.
    choicelist : sequence of array_like
        An array for each condition.
    default : array_like, default 0
        Elements where no condition is true.

    Returns
    -------
    Array
        The type that the choices and the default promote to, and the shape that all broadcast to.
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(5)
    >>> cubed.select([x < 2, x > 3], [x, 10 * x], default=-1).compute()
    array([ 0,  1, -1, -1, 40])
    """
    return select_of("select", condlist, choicelist, default)


def sort(x: Array, /, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Array:
    """Sorts the elements along an axis, NaN last.

    A task's memory holds a whole axis. An axis that does not fit is sorted in parts, which are
    merged: all elements are read and written once for each merge. A chunk of the result then has
    the length of a part along the axis, and length 1 along all other axes.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, default -1
        Axis along which to sort; negative numbers count from the last.
    descending : bool, default False
        Whether to sort from the largest to the smallest.
    stable : bool, default True
        Whether equal elements keep their order. They always do.

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


def sort_complex(a: Any) -> Array:
    """Converts the elements to complex numbers, and sorts them along the last axis.

    Elements are in the order of their real parts, and of their imaginary parts if the real parts
    are equal.

    Parameters
    ----------
    a : array_like
        Input array.

    Returns
    -------
    Array
        complex64 for integers of up to two bytes, else complex128, or the type of `a`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.sort_complex(cubed.asarray([2 + 1j, 1 + 2j])).compute()
    array([1.+2.j, 2.+1.j])
    """
    a = as_lazy(a)
    return a._like(_core.call("sort_complex", a._x, a.spec.task_mem))


def topk(a: Any, k: int, axis: int = -1, split_every: Any = None) -> Array:
    """The largest elements along an axis, the largest first.

    If `k` is negative, the result has the smallest elements, the smallest first. NaN counts as the
    largest. Each chunk is sorted, and then the candidates of all chunks.

    Parameters
    ----------
    a : array_like
        Input array.
    k : int
        Number of elements; a negative number selects the smallest elements.
    axis : int, default -1
        Axis along which to compute; negative numbers count from the last.
    split_every : int, dict or None
        Accepted for compatibility; has no effect, because the planner splits reductions.

    Returns
    -------
    Array
        The type of `a`, with `k` elements along the axis, or all if there are fewer. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.topk(cubed.asarray([3, 9, 1]), 2).compute()
    array([9, 3])
    """
    a = as_lazy(a)
    return a._like(_core.call("topk", a._x, k, axis, a.spec.task_mem))
