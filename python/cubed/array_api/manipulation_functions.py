"""Functions that arrange elements."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import index
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import common_spec, core_of, lazy, normalize_axes, normalize_axis
from cubed.array._rechunk import rechunk
from cubed.array._select import flatten
from cubed.array_api.data_type_functions import result_type
from cubed.base._chunks import normalize_shape
from cubed.base._docs import documented
from cubed.base._types import ChunksLike

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


@documented(returns="Of one shape, each of its type. Views: lazy, nothing is stored.")
def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """The arrays, each in the shape that they broadcast to.

    Raises
    ------
    ValueError
        For shapes that do not broadcast.

    Examples
    --------
    >>> a, b = cubed.broadcast_arrays(cubed.ones((2, 1)), cubed.ones(3))
    >>> a.shape, b.shape
    ((2, 3), (2, 3))
    """
    shape = broadcast_shapes(*(a.shape for a in arrays))
    return tuple(broadcast_to(a, shape) for a in arrays)


def broadcast_shapes(*shapes: int | tuple[int, ...]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to.

    Computes nothing.

    Parameters
    ----------
    *shapes : int or tuple of int
        The shapes; a number is a shape of one axis.

    Returns
    -------
    tuple of int
        One extent for each axis.

    Raises
    ------
    ValueError
        For shapes that do not broadcast, and extents below 0.

    Examples
    --------
    >>> import cubed
    >>> cubed.broadcast_shapes((2, 1), (3,))
    (2, 3)
    """
    given = [normalize_shape(s, "shape") for s in shapes]
    ndim = max((len(s) for s in given), default=0)
    out = [1] * ndim
    for s in given:
        for d, n in enumerate(s, ndim - len(s)):
            if n != 1 and out[d] not in (1, n):
                raise ValueError(f"shapes {', '.join(map(str, shapes))} do not broadcast")
            if n != 1:
                out[d] = n
    return tuple(out)


@documented()
def broadcast_to(x: Array, /, shape: tuple[int, ...], *, chunks: ChunksLike = None) -> Array:
    """x repeated along axes of extent 1 and new ones in front.

    Parameters
    ----------
    shape : tuple of int
        Shape of the result.

    Returns
    -------
    Array
        Of `shape` and x's type. Lazy.

    Raises
    ------
    ValueError
        If x's shape does not broadcast to it.

    Examples
    --------
    >>> cubed.broadcast_to(cubed.asarray([1, 2]), (2, 2)).compute()
    array([[1, 2],
           [1, 2]])
    """
    x = lazy(x)
    shape = normalize_shape(shape)
    same = shape == x.shape
    out = x._like(x._x if same else _core.broadcast_to(x._x, shape))
    return out if chunks is None else rechunk(out, chunks)


def _promoted(arrays: Sequence[Array]) -> tuple[_core.Array, ...]:
    refuse_foreign(arrays)
    if not arrays:
        raise ValueError("at least one array is needed")
    cores = [core_of(a) for a in arrays]
    if len({c.dtype for c in cores}) > 1:
        common = result_type(*arrays)
        cores = [lazy(a).astype(common)._x for a in arrays]
    return tuple(cores)


@documented(returns="Of the type that they promote to. Lazy.")
def concat(arrays: Sequence[Array], /, axis: int | None = 0, *, chunks: ChunksLike = None) -> Array:
    """Arrays one after another along an axis; flattened first if that is None.

    Parameters
    ----------
    axis : int or None, default 0
        The axis; None: the arrays are flattened first.

    Raises
    ------
    ValueError
        For shapes that differ along other axes.

    Examples
    --------
    >>> cubed.concat([cubed.asarray([1, 2]), cubed.asarray([3])]).compute()
    array([1, 2, 3])
    """
    cores = _promoted(arrays)
    spec = common_spec(*arrays)
    if axis is None:
        cores, axis = tuple(flatten(c) for c in cores), 0
    out = Array._new(_core.concat(cores, axis), spec)
    return out if chunks is None else rechunk(out, chunks)


@documented(returns="Of x's type. A view: lazy, nothing is stored.")
def expand_dims(x: Array, /, axis: int | Sequence[int] = 0) -> Array:
    """x with new axes of extent 1.

    Parameters
    ----------
    axis : int or sequence of int, default 0
        Where the new axes are, in the result.

    Examples
    --------
    >>> cubed.expand_dims(cubed.asarray([1, 2]), axis=0).shape
    (1, 2)
    """
    x = lazy(x)
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)
    out = x._x
    for a in sorted(normalize_axes(axes, x.ndim + len(axes))):
        out = _core.expand_dims(out, a)
    return x._like(out)


@documented(returns="Of x's type. A view: lazy, nothing is stored.")
def flip(x: Array, /, axis: int | tuple[int, ...] | None = None) -> Array:
    """The elements in reverse order along axes.

    Parameters
    ----------
    axis : int, tuple of int or None
        The axes that are turned round; None: all.

    Examples
    --------
    >>> x = cubed.asarray([1, 2, 3])
    >>> cubed.flip(x).compute()
    array([3, 2, 1])
    """
    x = lazy(x)
    return x._like(_core.flip(x._x, normalize_axes(axis, x.ndim)))


@documented(returns="Of x's type. A view: lazy, nothing is stored.")
def moveaxis(x: Array, source: int | Iterable[int], destination: int | Iterable[int], /) -> Array:
    """x with some axes moved to other places.

    Parameters
    ----------
    source : int or sequence of int
        Where the axes are.
    destination : int or sequence of int
        Where they go.

    Examples
    --------
    >>> cubed.moveaxis(cubed.ones((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = lazy(x)
    sources = (source,) if isinstance(source, int) else tuple(source)
    destinations = (destination,) if isinstance(destination, int) else tuple(destination)
    return x._like(_core.moveaxis(x._x, sources, destinations))


@documented(returns="Of x's type. A view: lazy, nothing is stored.")
def permute_dims(x: Array, /, axes: tuple[int, ...]) -> Array:
    """x with its axes in another order.

    Parameters
    ----------
    axes : tuple of int
        Which axis goes where.

    Examples
    --------
    >>> cubed.permute_dims(cubed.ones((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    x = lazy(x)
    order = normalize_axes(axes, x.ndim)
    if len(order) != x.ndim:
        raise ValueError(f"permute_dims: {len(order)} axes for an array with {x.ndim}")
    same = order == tuple(range(x.ndim))
    return x._like(x._x if same else _core.permute_dims(x._x, order))


@documented(returns="Of x's type. Lazy.")
def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Each element some times, one beside the other; with axis=None, of x in one dimension.

    An array has the times for each position along the axis; its sum is computed now.

    Parameters
    ----------
    repeats : int or array_like of int
        How many times.
    axis : int or None
        The axis; None: the elements in one dimension.

    Examples
    --------
    >>> cubed.repeat(cubed.asarray([1, 2]), 2).compute()
    array([1, 1, 2, 2])
    """
    x = lazy(x)
    if isinstance(repeats, int):
        core, a = (flatten(x._x), 0) if axis is None else (x._x, normalize_axis(axis, x.ndim))
        if repeats < 0:
            raise ValueError(f"repeats is {repeats}, expected 0 or more")
        return x._like(_core.repeat(core, repeats, a))
    spec = common_spec(x, repeats)
    times = core_of(repeats)
    total = int(Array._new(_core.repeat_total(x._x, times, axis), spec))
    return Array._new(_core.repeat_each(x._x, times, axis, total), spec)


@documented()
def reshape(
    x: Array, /, shape: int | Sequence[int], *, copy: bool | None = None, order: str = "C"
) -> Array:
    """The elements in another shape; one extent may be -1, for what is left.

    They are taken and put in C order, the last axis first, or with `order` ``"F"`` the first axis
    first.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the result; one extent may be -1.

    Returns
    -------
    Array
        Of x's type. Lazy; chunks may have to be stored anew. ValueError for another number of
        elements; `copy` changes nothing.

    Examples
    --------
    >>> cubed.reshape(cubed.arange(6), (2, 3)).compute()
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    x = lazy(x)
    extents = normalize_shape(shape)
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"reshape: order is {order!r}, expected 'C' or 'F'")
    if order != "F":
        return x._like(_core.reshape(x._x, extents))
    out = _core.reshape(_reversed(x._x), extents[::-1])
    return x._like(_reversed(out))


def _reversed(x: _core.Array) -> _core.Array:
    """x with its axes in reverse order."""
    ndim = len(x.shape)
    return x if ndim < 2 else _core.permute_dims(x, tuple(reversed(range(ndim))))


@documented(returns="Of x's shape and type. Lazy.")
def roll(
    x: Array, /, shift: int | tuple[int, ...], axis: int | tuple[int, ...] | None = None
) -> Array:
    """The elements further along axes, those that leave coming back at the start.

    Parameters
    ----------
    shift : int or tuple of int
        How far, along each axis.
    axis : int, tuple of int or None
        The axes; None: the elements in one dimension.

    Examples
    --------
    >>> cubed.roll(cubed.arange(5), 2).compute()
    array([3, 4, 0, 1, 2])
    """
    x = lazy(x)
    if axis is None:
        steps = sum(shift) if isinstance(shift, tuple) else shift
        flat = _core.roll(flatten(x._x), (steps,), (0,))
        return x._like(_core.reshape(flat, x.shape))
    axes = axis if isinstance(axis, tuple) else (axis,)
    shifts = shift if isinstance(shift, tuple) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ValueError(f"{len(shifts)} shifts for {len(axes)} axes")
    return x._like(_core.roll(x._x, shifts, [normalize_axis(a, x.ndim) for a in axes]))


@documented(returns="Of x's type. A view: lazy, nothing is stored.")
def squeeze(x: Array, /, axis: int | tuple[int, ...] | None = None) -> Array:
    """x without some of its axes of extent 1.

    Parameters
    ----------
    axis : int, tuple of int or None
        The axes that go; None: all of them.

    Examples
    --------
    >>> cubed.squeeze(cubed.ones((2, 1)), axis=1).shape
    (2,)
    """
    x = lazy(x)
    if axis is None:
        axis = tuple(d for d, n in enumerate(x.shape) if n == 1)
    axes = normalize_axes(axis, x.ndim)
    return x._like(_core.squeeze(x._x, axes) if axes else x._x)


@documented(returns="Of the type that they promote to. Lazy.")
def stack(arrays: Sequence[Array], /, axis: int = 0) -> Array:
    """Arrays of one shape side by side along a new axis.

    Parameters
    ----------
    axis : int, default 0
        The new axis, in the result.

    Raises
    ------
    ValueError
        For shapes that differ.

    Examples
    --------
    >>> cubed.stack([cubed.asarray([1, 2]), cubed.asarray([3, 4])]).compute()
    array([[1, 2],
           [3, 4]])
    """
    out = _core.stack(_promoted(arrays), axis)
    return Array._new(out, common_spec(*arrays))


@documented(returns="Of x's type. Lazy.")
def tile(x: Array, repetitions: int | tuple[int, ...], /) -> Array:
    """x that many times along each axis.

    Parameters
    ----------
    repetitions : int or tuple of int
        How many times along each axis; one number: along the last one.

    Examples
    --------
    >>> cubed.tile(cubed.asarray([1, 2]), (2,)).compute()
    array([1, 2, 1, 2])
    """
    x = lazy(x)
    times = repetitions if isinstance(repetitions, tuple) else (index(repetitions),)
    return x._like(_core.tile(x._x, times))


@documented(returns="Of x's type. Lazy.")
def unstack(x: Array, /, axis: int = 0) -> tuple[Array, ...]:
    """The parts of x along an axis, without that axis.

    Parameters
    ----------
    axis : int, default 0
        The axis, which the parts do not have.

    Examples
    --------
    >>> first, second = cubed.unstack(cubed.asarray([[1, 2], [3, 4]]))
    >>> second.compute()
    array([3, 4])
    """
    x = lazy(x)
    a = normalize_axis(axis, x.ndim)
    keys = (tuple(i if d == a else slice(None) for d in range(x.ndim)) for i in range(x.shape[a]))
    return tuple(x._like(_core.slice(x._x, key)) for key in keys)
