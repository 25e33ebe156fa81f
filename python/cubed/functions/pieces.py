"""Pieces, sizes and diagonals: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy
from cubed.base._types import Shape
from cubed.functions._prepare import delete_of, each_of, insert_of, one_or_each_of
from cubed.io._create import as_lazy

__all__ = [
    "append",
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "delete",
    "diag",
    "diagflat",
    "dsplit",
    "fliplr",
    "flipud",
    "hsplit",
    "insert",
    "resize",
    "split",
    "unstack",
    "vsplit",
]


def append(x: Any, values: Any, axis: int | None = None) -> Array:
    """Joins two arrays along an axis.

    Parameters
    ----------
    x : array_like
        Input array.
    values : array_like
        Elements to append.
    axis : int or None
        The axis. None: the flattened array.

    Returns
    -------
    Array
        The type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.append(cubed.asarray([1, 2]), [3]).compute()
    array([1, 2, 3])
    """
    spec = common_spec(x, values)
    return Array._new(_core.call("append", core_of(x), core_of(values), axis), spec)


def array_split(x: Any, indices_or_sections: Shape, axis: int = 0) -> list[Array]:
    """Splits an array along an axis into parts whose lengths differ by at most 1.

    Parameters
    ----------
    x : array_like
        Input array.
    indices_or_sections : int or tuple of int
        Number of parts, or the positions at which the second and later parts begin.
    axis : int, default 0
        Axis along which the array is split; negative numbers count from the last.

    Returns
    -------
    list of Array
        The type of the array. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> first, second = cubed.array_split(cubed.arange(4), 2)
    >>> second.compute()
    array([2, 3])
    """
    x = as_lazy(x)
    cores = _core.call("array_split", x._x, indices_or_sections, axis)
    return [x._like(c) for c in cores]


def atleast_1d(*arrays: Any) -> Any:
    """Converts arrays without axes to one axis. Other arrays do not change.

    Parameters
    ----------
    *arrays : array_like
        Input arrays.

    Returns
    -------
    Array or tuple of Array
        The type of the array. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.atleast_1d(cubed.asarray([1, 2])).shape
    (2,)
    """
    return one_or_each_of("atleast_1d", arrays)


def atleast_2d(*arrays: Any) -> Any:
    """Adds axes of one element in front until an array has two axes.

    Parameters
    ----------
    *arrays : array_like
        Input arrays.

    Returns
    -------
    Array or tuple of Array
        The type of the array. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.atleast_2d(cubed.asarray([1, 2])).shape
    (1, 2)
    """
    return one_or_each_of("atleast_2d", arrays)


def atleast_3d(*arrays: Any) -> Any:
    """Adds axes of one element until an array has three axes.

    A single axis becomes the middle one of three. Two axes become the first two.

    Parameters
    ----------
    *arrays : array_like
        Input arrays.

    Returns
    -------
    Array or tuple of Array
        The type of the array. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.atleast_3d(cubed.asarray([1, 2])).shape
    (1, 2, 1)
    """
    return one_or_each_of("atleast_3d", arrays)


def broadcast_arrays(*arrays: Any) -> tuple[Array, ...]:
    """Broadcasts arrays to a common shape.

    Parameters
    ----------
    *arrays : array_like
        Input arrays.

    Returns
    -------
    tuple of Array
        Arrays of the common shape, each with its own type. Views. Lazy.

    Raises
    ------
    ValueError
        For shapes that do not broadcast.

    Examples
    --------
    >>> import cubed
    >>> a, b = cubed.broadcast_arrays(cubed.ones((2, 1)), cubed.ones(3))
    >>> a.shape, b.shape
    ((2, 3), (2, 3))
    """
    return each_of("broadcast_arrays", arrays)


def delete(x: Any, obj: Any, axis: int | None = None) -> Array:
    """Removes the elements at positions along an axis.

    A mask of the elements to remove is also accepted.

    Parameters
    ----------
    x : array_like
        Input array.
    obj : int, slice or array_like of int
        Positions of the elements to remove.
    axis : int or None
        Axis of the positions. None: the flattened array.

    Returns
    -------
    Array
        The type of `x`. Lazy.

    Raises
    ------
    IndexError
        If a position is beyond the axis.

    Examples
    --------
    >>> import cubed
    >>> cubed.delete(cubed.arange(5), [1, 3]).compute()
    array([0, 2, 4])
    """
    return delete_of("delete", x, obj, axis)


def diag(v: Any, k: int = 0) -> Array:
    """A diagonal of a matrix, or a matrix with a vector on a diagonal.

    Parameters
    ----------
    v : array_like
        A matrix, or a vector.
    k : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.

    Returns
    -------
    Array
        The type of `v`. Lazy.

    Raises
    ------
    ValueError
        If `v` does not have 1 or 2 axes.

    Examples
    --------
    >>> import cubed
    >>> cubed.diag(cubed.asarray([1, 2])).compute()
    array([[1, 0],
           [0, 2]])
    """
    v = as_lazy(v)
    return v._like(_core.call("diag", v._x, k))


def diagflat(v: Any, k: int = 0) -> Array:
    """The matrix with the elements of an array on a diagonal, and zeros elsewhere.

    Parameters
    ----------
    v : array_like
        Input array.
    k : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.

    Returns
    -------
    Array
        The type of `v`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.diagflat(cubed.asarray([1, 2])).compute()
    array([[1, 0],
           [0, 2]])
    """
    v = as_lazy(v)
    return v._like(_core.call("diagflat", v._x, k))


def dsplit(ary: Any, indices_or_sections: Shape) -> list[Array]:
    """Splits an array along the third axis.

    Parameters
    ----------
    ary : array_like
        Input array.
    indices_or_sections : int or tuple of int
        Number of parts, or the positions at which the second and later parts begin.

    Returns
    -------
    list of Array
        The type of the array. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> first, second = cubed.dsplit(cubed.ones((1, 2, 4)), 2)
    >>> second.shape
    (1, 2, 2)
    """
    ary = as_lazy(ary)
    cores = _core.call("dsplit", ary._x, indices_or_sections)
    return [ary._like(c) for c in cores]


def fliplr(x: Any, /) -> Array:
    """The array with the second axis in reverse order.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The type of `x`. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fliplr(cubed.asarray([[1, 2], [3, 4]])).compute()
    array([[2, 1],
           [4, 3]])
    """
    x = as_lazy(x)
    return x._like(_core.call("fliplr", x._x))


def flipud(x: Any, /) -> Array:
    """The array with the first axis in reverse order.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The type of `x`. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 2, 3])
    >>> cubed.flipud(x).compute()
    array([3, 2, 1])
    """
    x = as_lazy(x)
    return x._like(_core.call("flipud", x._x))


def hsplit(ary: Any, indices_or_sections: Shape) -> list[Array]:
    """Splits an array along the second axis, or a vector along its only axis.

    Parameters
    ----------
    ary : array_like
        Input array.
    indices_or_sections : int or tuple of int
        Number of parts, or the positions at which the second and later parts begin.

    Returns
    -------
    list of Array
        The type of the array. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> first, second = cubed.hsplit(cubed.ones((2, 4)), 2)
    >>> second.shape
    (2, 2)
    """
    ary = as_lazy(ary)
    cores = _core.call("hsplit", ary._x, indices_or_sections)
    return [ary._like(c) for c in cores]


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """Inserts elements before positions along an axis.

    Parameters
    ----------
    arr : array_like
        Input array.
    obj : int, slice or array_like of int
        Positions before which values are inserted.
    values : array_like
        Elements to insert, which are cast to the type of `arr` and broadcast.
    axis : int or None
        Axis of the positions. None: the flattened array.

    Returns
    -------
    Array
        The type of `arr`, longer along the axis. Lazy.

    Raises
    ------
    TypeError
        For a mask, which NumPy casts to integers.
    IndexError
        If a position is beyond the axis.

    Examples
    --------
    >>> import cubed
    >>> cubed.insert(cubed.asarray([1, 2]), 1, 9).compute()
    array([1, 9, 2])
    """
    return insert_of("insert", arr, obj, values, axis)


def resize(a: Any, new_shape: Shape) -> Array:
    """The elements in C order in another shape, repeated if the shape has more elements.

    Parameters
    ----------
    a : array_like
        Input array.
    new_shape : int or tuple of int
        Shape of the result.

    Returns
    -------
    Array
        The type of `a`; zeros if `a` has no elements. Lazy.

    Raises
    ------
    ValueError
        For extents below 0.

    Examples
    --------
    >>> import cubed
    >>> cubed.resize(cubed.asarray([1, 2, 3]), (2, 2)).compute()
    array([[1, 2],
           [3, 1]])
    """
    a = as_lazy(a)
    return a._like(_core.call("resize", a._x, new_shape))


def split(x: Any, indices_or_sections: Shape, axis: int = 0) -> list[Array]:
    """Splits an array along an axis into parts of equal length, or at positions.

    Parameters
    ----------
    x : array_like
        Input array.
    indices_or_sections : int or tuple of int
        Number of parts, or the positions at which the second and later parts begin.
    axis : int, default 0
        Axis along which the array is split; negative numbers count from the last.

    Returns
    -------
    list of Array
        The type of the array. Views. Lazy.

    Raises
    ------
    ValueError
        If the extent of the axis is not a multiple of the number of pieces.

    Examples
    --------
    >>> import cubed
    >>> first, second = cubed.split(cubed.arange(4), 2)
    >>> second.compute()
    array([2, 3])
    """
    x = as_lazy(x)
    cores = _core.call("split", x._x, indices_or_sections, axis)
    return [x._like(c) for c in cores]


def unstack(x: Array, /, axis: int = 0) -> tuple[Array, ...]:
    """Splits an array along an axis into arrays without that axis.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, default 0
        Axis to split and remove; negative numbers count from the last.

    Returns
    -------
    tuple of Array
        The type of the array. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> first, second = cubed.unstack(cubed.asarray([[1, 2], [3, 4]]))
    >>> second.compute()
    array([3, 4])
    """
    x = lazy(x)
    cores = _core.call("unstack", x._x, axis)
    return tuple(x._like(c) for c in cores)


def vsplit(ary: Any, indices_or_sections: Shape) -> list[Array]:
    """Splits an array of two or more axes along the first axis.

    Parameters
    ----------
    ary : array_like
        Input array.
    indices_or_sections : int or tuple of int
        Number of parts, or the positions at which the second and later parts begin.

    Returns
    -------
    list of Array
        The type of the array. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> first, second = cubed.vsplit(cubed.ones((4, 2)), 2)
    >>> second.shape
    (2, 2)
    """
    ary = as_lazy(ary)
    cores = _core.call("vsplit", ary._x, indices_or_sections)
    return [ary._like(c) for c in cores]
