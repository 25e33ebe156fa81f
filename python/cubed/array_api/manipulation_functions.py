"""Functions that rearrange elements."""

from __future__ import annotations

from cubed.array._array import Array
from cubed.base._chunks import normalize_shape
from cubed.functions.manipulation import (
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    ravel,
    repeat,
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
    """Returns the shape that arrays of these shapes broadcast to.

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
        If shapes do not broadcast, or an extent is negative.

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


def flatten(x: Array) -> Array:
    """Flattens an array in C order, like :func:`ravel`; the name is that of Cubed for Python.

    Parameters
    ----------
    x : Array
        The array.

    Returns
    -------
    Array
        One axis, same type as `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> from cubed.array_api.manipulation_functions import flatten
    >>> flatten(cubed.ones((2, 3))).shape
    (6,)
    """
    return ravel(x)
