"""Functions that arrange elements: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computes_first
from cubed.array._operands import common_spec, core_of, lazy
from cubed.array._select import counted_call
from cubed.base._types import Axis, ChunksLike, Shape
from cubed.functions._calls import alike, operand, rechunked
from cubed.functions._prepare import triangle_of
from cubed.io._create import as_lazy

__all__ = [
    "broadcast_to",
    "column_stack",
    "concat",
    "diff",
    "dstack",
    "ediff1d",
    "expand_dims",
    "flip",
    "hstack",
    "moveaxis",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "rollaxis",
    "rot90",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "tril",
    "triu",
    "vstack",
]


def broadcast_to(x: Array, /, shape: Shape, *, chunks: ChunksLike = None) -> Array:
    """Repeats the array along axes of extent 1, and along new axes in front.

    Parameters
    ----------
    x : Array
        Input array.
    shape : int or tuple of int
        Shape of the result.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.

    Returns
    -------
    Array
        An array of this `shape`, with the type of `x`. Lazy.

    Raises
    ------
    ValueError
        If the shape of `x` does not broadcast to `shape`.

    Examples
    --------
    >>> import cubed
    >>> cubed.broadcast_to(cubed.asarray([1, 2]), (2, 2)).compute()
    array([[1, 2],
           [1, 2]])
    """
    x = lazy(x)
    return rechunked(x._like(_core.call("broadcast_to", x._x, shape)), chunks)


def column_stack(arrays: Sequence[Any], /) -> Array:
    """Joins vectors as columns of a matrix; matrices are joined unchanged.

    Parameters
    ----------
    arrays : sequence of array_like
        Input arrays.

    Returns
    -------
    Array
        The type that the arrays promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.column_stack([cubed.asarray([1, 2]), cubed.asarray([3, 4])]).compute()
    array([[1, 3],
           [2, 4]])
    """
    arrays = alike(arrays)
    spec = common_spec(*arrays)
    return Array._new(_core.call("column_stack", [a._x for a in arrays]), spec)


def concat(arrays: Sequence[Any], /, axis: int | None = 0, *, chunks: ChunksLike = None) -> Array:
    """Joins arrays along an axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Input arrays.
    axis : int or None, default 0
        The axis. None: join the flattened arrays.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.

    Returns
    -------
    Array
        The type that the arrays promote to. Lazy.

    Raises
    ------
    ValueError
        For extents that differ along other axes.

    Examples
    --------
    >>> import cubed
    >>> cubed.concat([cubed.asarray([1, 2]), cubed.asarray([3])]).compute()
    array([1, 2, 3])
    """
    arrays = alike(arrays)
    spec = common_spec(*arrays)
    return rechunked(Array._new(_core.call("concat", [a._x for a in arrays], axis), spec), chunks)


def diff(x: Array, /, n: int = 1, axis: int = -1) -> Array:
    """The n-th differences between neighbours along an axis.

    Parameters
    ----------
    x : Array
        Input array.
    n : int, default 1
        Number of times that differences are taken.
    axis : int, default -1
        Axis of the differences.

    Returns
    -------
    Array
        The type of `x`, with `n` elements fewer along the axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.diff(cubed.asarray([1, 4, 9])).compute()
    array([3, 5])
    """
    x = lazy(x)
    return x._like(_core.call("diff", x._x, n, axis))


def dstack(arrays: Sequence[Any], /) -> Array:
    """Joins arrays along the third axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Input arrays.

    Returns
    -------
    Array
        The type that the arrays promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.dstack([cubed.asarray([1, 2]), cubed.asarray([3, 4])]).compute()
    array([[[1, 3],
            [2, 4]]])
    """
    arrays = alike(arrays)
    spec = common_spec(*arrays)
    return Array._new(_core.call("dstack", [a._x for a in arrays]), spec)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """The differences between neighbours of a flattened array.

    Parameters
    ----------
    ary : array_like
        Input array.
    to_end : array_like or None
        Elements to append after the differences.
    to_begin : array_like or None
        Elements to put before the differences.

    Returns
    -------
    Array
        The type of `ary`, in one dimension. Lazy.

    Raises
    ------
    TypeError
        If elements of `to_end` or `to_begin` cannot be cast to the type of `ary`.

    Examples
    --------
    >>> import cubed
    >>> cubed.ediff1d(cubed.asarray([1, 4, 9])).compute()
    array([3, 5])
    """
    spec = common_spec(ary, to_end, to_begin)
    return Array._new(_core.call("ediff1d", core_of(ary), operand(to_end), operand(to_begin)), spec)


def expand_dims(x: Array, /, axis: Shape = 0) -> Array:
    """The array with new axes of extent 1.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or tuple of int, default 0
        Positions of the new axes in the result.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.expand_dims(cubed.asarray([1, 2]), axis=0).shape
    (1, 2)
    """
    x = lazy(x)
    return x._like(_core.call("expand_dims", x._x, axis))


def flip(x: Array, /, axis: Axis = None) -> Array:
    """The elements in reverse order along axes.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes that are reversed. None: all.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 2, 3])
    >>> cubed.flip(x).compute()
    array([3, 2, 1])
    """
    x = lazy(x)
    return x._like(_core.call("flip", x._x, axis))


def hstack(arrays: Sequence[Any], /) -> Array:
    """Joins arrays along the second axis, or along the only axis of vectors.

    Parameters
    ----------
    arrays : sequence of array_like
        Input arrays.

    Returns
    -------
    Array
        The type that the arrays promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.hstack([cubed.asarray([1, 2]), cubed.asarray([3, 4])]).compute()
    array([1, 2, 3, 4])
    """
    arrays = alike(arrays)
    spec = common_spec(*arrays)
    return Array._new(_core.call("hstack", [a._x for a in arrays]), spec)


def moveaxis(x: Array, /, source: Shape, destination: Shape) -> Array:
    """The array with some axes moved to other positions.

    Parameters
    ----------
    x : Array
        Input array.
    source : int or tuple of int
        Axes to move.
    destination : int or tuple of int
        Positions of these axes in the result.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.moveaxis(cubed.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = lazy(x)
    return x._like(_core.call("moveaxis", x._x, source, destination))


def permute_dims(x: Array, /, axes: Shape) -> Array:
    """The array with its axes in another order.

    Parameters
    ----------
    x : Array
        Input array.
    axes : int or tuple of int
        The axes of `x`, in the order of the result.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.permute_dims(cubed.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    x = lazy(x)
    return x._like(_core.call("permute_dims", x._x, axes))


def ravel(x: Array, /, order: str = "C") -> Array:
    """The flattened array: all elements in one dimension, in C order.

    Parameters
    ----------
    x : Array
        Input array.
    order : {"C", "F", "A", "K"}, default "C"
        Order of the flattened elements: ``"C"``, the last axis varies fastest, or ``"F"``, the
        first axis.

    Returns
    -------
    Array
        The type of `x`. A run may have to rechunk `x` first. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.ravel(x).compute()
    array([1., 2., 3., 4.])
    """
    x = lazy(x)
    return x._like(_core.call("ravel", x._x, order))


@computes_first
def repeat(x: Array, repeats: Any, /, axis: int | None = None) -> Array:
    """Repeats each element a number of times along an axis.

    Parameters
    ----------
    x : Array
        Input array.
    repeats : int or array_like of int
        Number of repetitions: one number, or an array with a number for each position along the
        axis.
    axis : int or None
        The axis. None: the flattened array.

    Returns
    -------
    Array
        The type of `x`, longer along the axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.repeat(cubed.asarray([1, 2]), 2).compute()
    array([1, 1, 2, 2])
    >>> cubed.repeat(cubed.asarray([1, 2]), [2, 1]).compute()
    array([1, 1, 2])
    """
    spec = common_spec(x, repeats)
    return Array._new(counted_call("repeat", spec, core_of(x), operand(repeats), axis), spec)


def reshape(
    x: Array,
    /,
    shape: Shape,
    *,
    copy: bool | None = None,
    order: str = "C",
    merge_chunks: bool = True,
    limit: int | None = None,
) -> Array:
    """The elements in another shape.

    Elements are read and written in C order (the last axis varies fastest), or with `order` ``"F"``
    in Fortran order (the first axis varies fastest).

    Parameters
    ----------
    x : Array
        Input array.
    shape : int or tuple of int
        Shape of the result; one extent may be -1, for the remaining elements.
    copy : bool or None
        Accepted for compatibility with NumPy; has no effect.
    order : {"C", "F", "A", "K"}, default "C"
        Order of the flattened elements: ``"C"``, the last axis varies fastest, or ``"F"``, the
        first axis.
    merge_chunks : bool, default True
        False: axes of `x` that are merged, except the last of them, first get chunks of extent 1.
        Chunks of the result are then no larger than those of `x`.
    limit : int or None
        Maximum size of a chunk of the result in bytes. None: the size depends on the chunks of `x`.

    Returns
    -------
    Array
        An array of this `shape`, with the type of `x`. A run may have to rechunk `x` first. Lazy.

    Raises
    ------
    ValueError
        If the number of elements differs.

    Examples
    --------
    >>> import cubed
    >>> cubed.reshape(cubed.arange(6), (2, 3)).compute()
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    x = lazy(x)
    return x._like(_core.call("reshape", x._x, shape, copy, order, merge_chunks, limit))


def roll(x: Array, /, shift: Shape, axis: Axis = None) -> Array:
    """Moves the elements along axes; elements beyond the end continue at the start.

    Parameters
    ----------
    x : Array
        Input array.
    shift : int or tuple of int
        Number of positions to move, along each axis.
    axis : int, tuple of int or None
        The axes. None: roll the flattened array, and restore its shape.

    Returns
    -------
    Array
        The shape and type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.roll(cubed.arange(5), 2).compute()
    array([3, 4, 0, 1, 2])
    """
    x = lazy(x)
    return x._like(_core.call("roll", x._x, shift, axis))


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """Moves an axis to the position before axis `start`.

    Parameters
    ----------
    a : array_like
        Input array.
    axis : int
        The axis that is moved.
    start : int, default 0
        The axis is moved in front of this axis. The number of axes moves it to the end.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.rollaxis(cubed.ones((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    a = as_lazy(a)
    return a._like(_core.call("rollaxis", a._x, axis, start))


def rot90(x: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """Rotates the array by 90 degrees, from the first of two axes towards the second.

    Parameters
    ----------
    x : array_like
        Input array.
    k : int, default 1
        Number of rotations by 90 degrees.
    axes : sequence of int, default (0, 1)
        The two axes of the plane of rotation.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.rot90(cubed.asarray([[1, 2], [3, 4]])).compute()
    array([[2, 4],
           [1, 3]])
    """
    x = as_lazy(x)
    return x._like(_core.call("rot90", x._x, k, axes))


def squeeze(x: Array, /, axis: Axis = None) -> Array:
    """The array without axes of extent 1.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes to remove. None: all axes with one element.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.squeeze(cubed.ones((2, 1)), axis=1).shape
    (2,)
    """
    x = lazy(x)
    return x._like(_core.call("squeeze", x._x, axis))


def stack(arrays: Sequence[Any], /, axis: int = 0) -> Array:
    """Joins arrays of one shape along a new axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Input arrays.
    axis : int, default 0
        The new axis, in the result.

    Returns
    -------
    Array
        The type that the arrays promote to. Lazy.

    Raises
    ------
    ValueError
        For shapes that differ.

    Examples
    --------
    >>> import cubed
    >>> cubed.stack([cubed.asarray([1, 2]), cubed.asarray([3, 4])]).compute()
    array([[1, 2],
           [3, 4]])
    """
    arrays = alike(arrays)
    spec = common_spec(*arrays)
    return Array._new(_core.call("stack", [a._x for a in arrays], axis), spec)


def swapaxes(x: Array, /, axis1: int, axis2: int) -> Array:
    """Swaps two axes.

    Parameters
    ----------
    x : Array
        Input array.
    axis1 : int
        The first of two axes.
    axis2 : int
        The second of two axes.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.swapaxes(cubed.ones((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    x = lazy(x)
    return x._like(_core.call("swapaxes", x._x, axis1, axis2))


def tile(x: Array, repetitions: Shape, /) -> Array:
    """Repeats the whole array a number of times along each axis.

    Parameters
    ----------
    x : Array
        Input array.
    repetitions : int or tuple of int
        Number of repetitions along each axis. One number applies to the last axis.

    Returns
    -------
    Array
        The type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.tile(cubed.asarray([1, 2]), (2,)).compute()
    array([1, 2, 1, 2])
    """
    x = lazy(x)
    return x._like(_core.call("tile", x._x, repetitions))


def transpose(x: Array, /, axes: Axis = None) -> Array:
    """The array with its axes in another order, or in reverse.

    Parameters
    ----------
    x : Array
        Input array.
    axes : int, tuple of int or None
        The axes of `x`, in the order of the result. None: reverse order.

    Returns
    -------
    Array
        The type of the input. A view. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.transpose(cubed.ones((2, 3, 4))).shape
    (4, 3, 2)
    """
    x = lazy(x)
    return x._like(_core.call("transpose", x._x, axes))


def tril(x: Array, /, k: int = 0) -> Array:
    """The lower triangles of matrices, up to diagonal `k`, and zeros above.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    k : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.

    Returns
    -------
    Array
        ``(..., n, m)``, the type of `x`. Lazy.

    Raises
    ------
    ValueError
        For fewer than two axes.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((2, 2), dtype=int)
    >>> cubed.tril(x).compute()
    array([[1, 0],
           [1, 1]])
    """
    return triangle_of("tril", x, k)


def triu(x: Array, /, k: int = 0) -> Array:
    """The upper triangles of matrices, from diagonal `k` on, and zeros below.

    Parameters
    ----------
    x : Array
        Matrices, in the last two axes.
    k : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.

    Returns
    -------
    Array
        ``(..., n, m)``, the type of `x`. Lazy.

    Raises
    ------
    ValueError
        For fewer than two axes.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((2, 2), dtype=int)
    >>> cubed.triu(x).compute()
    array([[1, 1],
           [0, 1]])
    """
    return triangle_of("triu", x, k)


def vstack(arrays: Sequence[Any], /) -> Array:
    """Joins arrays along the first of two or more axes.

    Parameters
    ----------
    arrays : sequence of array_like
        Input arrays.

    Returns
    -------
    Array
        The type that the arrays promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.vstack([cubed.asarray([1, 2]), cubed.asarray([3, 4])]).compute()
    array([[1, 2],
           [3, 4]])
    """
    arrays = alike(arrays)
    spec = common_spec(*arrays)
    return Array._new(_core.call("vstack", [a._x for a in arrays]), spec)
