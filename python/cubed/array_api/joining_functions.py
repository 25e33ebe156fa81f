"""Joining and splitting arrays, with NumPy's names and parameters."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._first import computed_first, computes_first
from cubed.array._operands import normalize_axis, to_numpy
from cubed.array_api.composed_functions import flat, vstack
from cubed.array_api.elementwise_functions import not_equal
from cubed.array_api.indexing_functions import take
from cubed.array_api.manipulation_functions import (
    concat,
    expand_dims,
)
from cubed.array_api.searching_functions import nonzero
from cubed.array_api.statistical_functions import max, min
from cubed.functions.manipulation import column_stack, ediff1d, rollaxis
from cubed.functions.pieces import diagflat, dsplit, hsplit, insert, resize, vsplit
from cubed.io._create import as_lazy

__all__ = [
    "block", "column_stack", "compress", "diagflat", "dsplit", "ediff1d", "hsplit", "insert",
    "resize", "rollaxis", "row_stack", "trim_zeros", "vsplit",
]  # fmt: skip


def _before(x: Array, ndim: int) -> Array:
    """Prepends axes of extent 1 to x until it has this number of axes."""
    return expand_dims(x, tuple(range(ndim - x.ndim))) if x.ndim < ndim else x


# --- Together -------------------------------------------------------------------------------------


row_stack = vstack


def block(arrays: Any) -> Array:
    """Assembles an array from nested lists of blocks.

    The innermost lists are joined along the last axis, the lists around them along the axis before
    it, and so on.

    Parameters
    ----------
    arrays : sequence of Array
        Input arrays.

    Returns
    -------
    Array
        An array of the promoted type. Lazy.

    Raises
    ------
    ValueError
        If lists have different depths, or are empty.

    Examples
    --------
    >>> import cubed
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


# --- Apart ----------------------------------------------------------------------------------------


@computes_first
def compress(condition: Any, a: Any, axis: int | None = None) -> Array:
    """Selects the elements along an axis for which a condition is true.

    Parameters
    ----------
    condition : array_like of bool
        Condition for each position along the axis. It may be shorter than the axis.
    a : array_like
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.

    Returns
    -------
    Array
        Type of `a`. Lazy, but the true elements of a lazy condition are counted immediately.

    Examples
    --------
    >>> import cubed
    >>> cubed.compress([True, False, True], cubed.asarray([1, 2, 3])).compute()
    array([1, 3])
    """
    x = flat(a) if axis is None else as_lazy(a)
    d = normalize_axis("compress", 0 if axis is None else axis, x.ndim)
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
def trim_zeros(filt: Any, trim: str = "fb") -> Array:
    """Removes zeros at the front and at the end of a vector. The zeros are counted immediately.

    Parameters
    ----------
    filt : array_like
        The elements, in one dimension.
    trim : str, default "fb"
        Ends at which zeros are removed: ``"f"`` the front, ``"b"`` the back.

    Returns
    -------
    Array
        Type of `filt`. A view: lazy, nothing is stored.

    Examples
    --------
    >>> import cubed
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
