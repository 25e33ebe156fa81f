"""Pieces put together and taken apart, with NumPy's names and parameters."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._first import computed_first, computes_first
from cubed.array._operands import normalize_axis, to_numpy
from cubed.array_api.composed_functions import diag, flat, split, vstack
from cubed.array_api.creation_functions import zeros
from cubed.array_api.elementwise_functions import not_equal
from cubed.array_api.indexing_functions import take
from cubed.array_api.manipulation_functions import (
    broadcast_to,
    concat,
    expand_dims,
    moveaxis,
    reshape,
    tile,
)
from cubed.array_api.searching_functions import nonzero
from cubed.array_api.statistical_functions import max, min
from cubed.base._docs import documented
from cubed.functions.manipulation import column_stack, ediff1d, rollaxis
from cubed.io._create import as_lazy

__all__ = [
    "block", "column_stack", "compress", "diagflat", "dsplit", "ediff1d", "hsplit", "insert",
    "resize", "rollaxis", "row_stack", "trim_zeros", "vsplit",
]  # fmt: skip


def _before(x: Array, ndim: int) -> Array:
    """x with axes of one element in front, so that it has so many."""
    return expand_dims(x, tuple(range(ndim - x.ndim))) if x.ndim < ndim else x


# --- Together -------------------------------------------------------------------------------------


row_stack = vstack


@documented(returns="Of the type that they promote to. Lazy.")
def block(arrays: Any) -> Array:
    """Nested lists of blocks as one array: the innermost lists along the last axis, those around
    them along the one before it.

    Raises
    ------
    ValueError
        For lists of different depths, or empty ones.

    Examples
    --------
    >>> x = cubed.ones((1, 2))
    >>> cubed.block([[x, x], [2 * x, 3 * x]]).compute()
    array([[1., 1., 1., 1.],
           [2., 2., 3., 3.]])
    """
    depth = _depth(arrays, ())
    leaves: list[Array] = []
    nested = _lazy_leaves(arrays, leaves)
    ndim = builtins.max(depth, *(a.ndim for a in leaves))
    return _joined(nested, depth, ndim)


def _depth(arrays: Any, at: tuple[int, ...]) -> int:
    if isinstance(arrays, tuple):
        raise TypeError(f"block: arrays{list(at) or ''} is a tuple, expected a list or an array")
    if not isinstance(arrays, list):
        return 0
    if not arrays:
        raise ValueError(f"block: arrays{list(at) or ''} is empty")
    depths = {_depth(a, (*at, i)) for i, a in enumerate(arrays)}
    if len(depths) > 1:
        raise ValueError(f"block: lists in arrays{list(at) or ''} have depths {sorted(depths)}")
    return depths.pop() + 1


def _lazy_leaves(arrays: Any, leaves: list[Array]) -> Any:
    if isinstance(arrays, list):
        return [_lazy_leaves(a, leaves) for a in arrays]
    leaves.append(as_lazy(arrays))
    return leaves[-1]


def _joined(nested: Any, depth: int, ndim: int) -> Array:
    if not isinstance(nested, list):
        return _before(nested, ndim)
    return concat([_joined(a, depth - 1, ndim) for a in nested], axis=ndim - depth)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """The elements along an axis with others in front of some of them.

    Parameters
    ----------
    arr : array_like
        An array; in one dimension, if `axis` is None.
    obj : array_like
        A position, a slice or several positions: values go in front of the elements there.
    values : array_like
        They are cast to arr's type, and broadcast.
    axis : int or None
        Axis of the positions; None: the elements in one dimension.

    Returns
    -------
    Array
        Of arr's type, longer along the axis. Lazy.

    Raises
    ------
    IndexError
        A position is out of range.

    Examples
    --------
    >>> import cubed
    >>> cubed.insert(cubed.asarray([1, 2]), 1, 9).compute()
    array([1, 9, 2])
    """
    a = flat(arr) if axis is None else as_lazy(arr)
    d = normalize_axis(0 if axis is None else axis, a.ndim)
    n = a.shape[d]
    at = np.arange(n)[obj] if isinstance(obj, slice) else to_numpy(obj)
    if at.dtype.kind not in "iu" and at.size:
        raise TypeError(f"insert: positions are {at.dtype}, expected integers")
    if at.ndim > 1:
        raise ValueError(f"insert: positions have {at.ndim} axes, expected one at most")
    new = as_lazy(values).astype(a.dtype)
    new = _before(new, a.ndim)
    one = at.ndim == 0
    if one:
        new = moveaxis(new, 0, d)
    places = []
    for p in np.atleast_1d(at).astype(np.int64).tolist():
        if not -n <= p <= n:
            raise IndexError(f"insert: position {p} is out of bounds for {n} elements of axis {d}")
        places.append(p + n if p < 0 else p)
    count = new.shape[d] if one or len(places) == 1 else len(places)
    shape = tuple(count if k == d else m for k, m in enumerate(a.shape))
    new = broadcast_to(new, shape)
    if one or len(places) == 1:
        pieces = [(slice(0, p), slice(0, count), slice(p, n)) for p in places]
        first, middle, last = pieces[0]
        return concat([_cut(a, d, first), _cut(new, d, middle), _cut(a, d, last)], axis=d)
    parts, taken = [], 0
    for k in sorted(range(len(places)), key=places.__getitem__):
        parts += [_cut(a, d, slice(taken, places[k])), _cut(new, d, slice(k, k + 1))]
        taken = places[k]
    parts.append(_cut(a, d, slice(taken, n)))
    return concat([p for p in parts if p.shape[d]] or [a], axis=d)


def _cut(x: Array, axis: int, part: slice) -> Array:
    return x[(*(slice(None),) * axis, part)]


def diagflat(v: Any, k: int = 0) -> Array:
    """A matrix with the elements on a diagonal, k right of the main one; else zeros.

    Parameters
    ----------
    v : array_like
        Input array.
    k : int, default 0
        The diagonal: 0 is the main one, 1 that above it.

    Returns
    -------
    Array
        Of v's type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.diagflat(cubed.asarray([1, 2])).compute()
    array([[1, 0],
           [0, 2]])
    """
    return diag(flat(v), k)


@documented()
def resize(a: Any, new_shape: int | Sequence[int]) -> Array:
    """The elements in C order in another shape, again and again where it has more of them.

    Parameters
    ----------
    new_shape : int or tuple of int
        Shape of the result.

    Returns
    -------
    Array
        Of a's type; zeros, if `a` has no elements. Lazy.

    Examples
    --------
    >>> cubed.resize(cubed.asarray([1, 2, 3]), (2, 2)).compute()
    array([[1, 2],
           [3, 1]])
    """
    x = flat(a)
    if isinstance(new_shape, Array):
        raise TypeError("resize: new_shape is a lazy array, expected integers")
    shape = (new_shape,) if isinstance(new_shape, (int, np.integer)) else tuple(new_shape)
    extents = tuple(operator.index(n) for n in shape)
    if any(n < 0 for n in extents):
        raise ValueError(f"resize: new_shape is {new_shape!r}, expected extents of 0 or more")
    size = math.prod(extents)
    if x.size == 0 or size == 0:
        return zeros(extents, dtype=x.dtype, spec=x._spec)
    return reshape(tile(x, (-(-size // x.size),))[:size], extents)


# --- Apart ----------------------------------------------------------------------------------------


def _split(name: str, x: Any, sections: Any, axis: int, least: int) -> list[Array]:
    a = as_lazy(x)
    if a.ndim < least:
        raise ValueError(f"{name}: the array has {a.ndim} axes, expected {least} at least")
    return split(a, sections, axis)


@documented(returns="Of ary's type. Views: lazy, nothing is stored.")
def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Pieces along the second axis, of one axis along it: so many, or cut at indices.

    >>> first, second = cubed.hsplit(cubed.ones((2, 4)), 2)
    >>> second.shape
    (2, 2)
    """
    a = as_lazy(ary)
    return _split("hsplit", a, indices_or_sections, 1 if a.ndim > 1 else 0, 1)


@documented(returns="Of ary's type. Views: lazy, nothing is stored.")
def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Pieces along the first of two or more axes: so many, or cut at indices.

    >>> first, second = cubed.vsplit(cubed.ones((4, 2)), 2)
    >>> second.shape
    (2, 2)
    """
    return _split("vsplit", ary, indices_or_sections, 0, 2)


@documented(returns="Of ary's type. Views: lazy, nothing is stored.")
def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Pieces along the third axis: so many, or cut at indices.

    >>> first, second = cubed.dsplit(cubed.ones((1, 2, 4)), 2)
    >>> second.shape
    (1, 2, 2)
    """
    return _split("dsplit", ary, indices_or_sections, 2, 3)


@computes_first
@documented(returns="Of a's type. Lazy; the elements of a lazy condition are counted now.")
def compress(condition: Any, a: Any, axis: int | None = None) -> Array:
    """The elements along an axis (None: of `a` in one dimension) where a condition holds, which may
    be shorter than the axis.

    >>> cubed.compress([True, False, True], cubed.asarray([1, 2, 3])).compute()
    array([1, 3])
    """
    x = flat(a) if axis is None else as_lazy(a)
    d = normalize_axis(0 if axis is None else axis, x.ndim)
    c = condition if isinstance(condition, Array) else to_numpy(condition)
    if c.ndim != 1:
        raise ValueError(f"compress: the condition has {c.ndim} axes, expected 1")
    if isinstance(c, Array):
        if c.shape[0] > x.shape[d]:
            raise ValueError(f"compress: {c.shape[0]} conditions for {x.shape[d]} elements")
        return take(x, nonzero(c)[0], axis=d)
    found = np.flatnonzero(c)
    if found.size and found[-1] >= x.shape[d]:
        raise IndexError(f"compress: position {found[-1]} for {x.shape[d]} elements of axis {d}")
    return take(x, as_lazy(found), axis=d)


@computes_first
@documented(returns="Of filt's type. A view: lazy, nothing is stored.")
def trim_zeros(filt: Any, trim: str = "fb") -> Array:
    """A vector without zeros in front (``"f"``) and at the end (``"b"``): they are counted now.

    Of filt's type. A view.

    Parameters
    ----------
    filt : array_like
        The elements, in one dimension.
    trim : str, default "fb"
        Where zeros go: ``"f"`` the front, ``"b"`` the back.

    Examples
    --------
    >>> cubed.trim_zeros(cubed.asarray([0, 1, 2, 0])).compute()
    array([1, 2])
    """
    x = as_lazy(filt)
    if x.ndim != 1:
        raise ValueError(f"trim_zeros: the array has {x.ndim} axes, expected 1")
    if set(trim.lower()) - set("fb"):
        raise ValueError(f"trim_zeros: trim is {trim!r}, expected 'f', 'b' or 'fb'")
    n = x.shape[0]
    found = nonzero(not_equal(x, 0) if x.dtype.kind != "b" else x)[0]
    if found.size == 0:
        return x[:0]
    first, last = (int(v) for v in computed_first([min(found), max(found)], [0, n - 1]))
    return x[first if "f" in trim.lower() else 0 : last + 1 if "b" in trim.lower() else n]
