"""Functions that arrange elements."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy, normalize_axis
from cubed.array._select import flatten
from cubed.base._chunks import normalize_shape
from cubed.functions.manipulation import (
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
)
from cubed.functions.pieces import broadcast_arrays, unstack

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "tile", "unstack",
]  # fmt: skip


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


def repeat(x: Array, repeats: Any, /, *, axis: int | None = None) -> Array:
    """Each element some times, one beside the other; with axis=None, of x in one dimension.

    An array has the times for each position along the axis; its sum is computed now.

    Parameters
    ----------
    x : Array
        Input array.
    repeats : int or array_like of int
        How many times.
    axis : int or None
        The axis; None: the elements in one dimension.

    Returns
    -------
    Array
        Same type as `x`. Lazy.

    Examples
    --------
    >>> import cubed
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
