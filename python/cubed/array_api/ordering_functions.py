"""Parts of sorted arrays, and orders by several keys."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import check_parts, normalize_axis
from cubed.array_api.creation_functions import arange
from cubed.array_api.elementwise_functions import add, imag, isnan, real
from cubed.array_api.indexing_functions import take_along_axis
from cubed.array_api.manipulation_functions import concat, flip, reshape
from cubed.array_api.sorting_functions import argsort, sort
from cubed.io._create import as_lazy

__all__ = ["argpartition", "argtopk", "lexsort", "partition", "sort_complex", "topk"]


def _line(x: Any, axis: int | None) -> tuple[Array, int]:
    a = as_lazy(x)
    return (reshape(a, (-1,)), 0) if axis is None else (a, normalize_axis(axis, a.ndim))


def _check_kth(kth: Any, n: int) -> None:
    refuse_foreign(kth, what="kth")
    for k in np.atleast_1d(np.asarray(kth)).tolist():
        if not isinstance(k, int) or isinstance(k, bool):
            raise TypeError(f"kth is {kth!r}, expected integers")
        if not -n <= k < n:
            raise ValueError(f"kth is {k}, out of range for {n} elements")


def partition(a: Any, kth: Any, axis: int | None = -1) -> Array:
    """The elements along an axis (None: of `a` in one dimension), with those that are smaller than
    the one at `kth` in front of it, and others behind it: all are sorted.

    Parameters
    ----------
    a : array_like
        Input array.
    kth : int or sequence of int
        Positions that get the element that sorting puts there.
    axis : int or None, default -1
        Axis along which to compute; None: the elements in one dimension.

    Returns
    -------
    Array
        Of a's shape, or of one axis, and of its type. Lazy.

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
    x, d = _line(a, axis)
    _check_kth(kth, x.shape[d])
    return sort(x, axis=d)


def argpartition(a: Any, kth: Any, axis: int | None = -1) -> Array:
    """The positions of elements in the order of :func:`partition`.

    Parameters
    ----------
    a : array_like
        Input array.
    kth : int or sequence of int
        Positions that get the element that sorting puts there.
    axis : int or None, default -1
        Axis along which to compute; None: the elements in one dimension.

    Returns
    -------
    Array
        int64, of a's shape, or of one axis. Lazy.

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
    x, d = _line(a, axis)
    _check_kth(kth, x.shape[d])
    return argsort(x, axis=d)


def _ends(x: Array, axis: int, m: int, largest: bool) -> Array:
    """The last m along an axis, or the first ones."""
    n = x.shape[axis]
    return x[(*(slice(None),) * axis, slice(n - m, n) if largest else slice(0, m))]


def _of_chunks(x: Array, axis: int, m: int) -> tuple[Array, Array] | None:
    """The part of x in whole chunks of an axis, which becomes two, and the rest. None: sorting
    chunks by themselves leaves too much."""
    n, c = x.shape[axis], x.chunksize[axis] if x.ndim else 0
    if not 2 * m <= c < n:
        return None
    whole = n // c * c
    before = (slice(None),) * axis
    head = x[(*before, slice(0, whole))]
    head = reshape(head, (*x.shape[:axis], whole // c, c, *x.shape[axis + 1 :]))
    return head, x[(*before, slice(whole, n))]


def _together(head: Array, tail: Array, axis: int) -> Array:
    """What is left of chunks and of the rest, in one axis."""
    extents = list(head.shape)
    extents[axis : axis + 2] = [extents[axis] * extents[axis + 1]]
    return concat([reshape(head, tuple(extents)), tail], axis=axis)


def _number(k: Any) -> tuple[int, bool]:
    number = operator.index(k)
    return abs(number), number > 0


def topk(a: Any, k: int, axis: int = -1, split_every: Any = None) -> Array:
    """The k largest elements along an axis, the largest first; for negative k the smallest ones,
    the smallest first. NaN count as the largest.

    Parameters
    ----------
    a : array_like
        Input array.
    k : int
        How many; negative: of the smallest.
    axis : int, default -1
        Axis along which to compute; negative ones count from the last.
    split_every : int, dict or None
        Accepted, and not needed: the planner splits reductions.

    Returns
    -------
    Array
        Of a's type, with k elements along the axis, or all that there are. Lazy: chunks are sorted
        by themselves, and then what is left of them.

    Examples
    --------
    >>> import cubed
    >>> cubed.topk(cubed.asarray([3, 9, 1]), 2).compute()
    array([9, 3])
    """
    x = as_lazy(a)
    d = normalize_axis(axis, x.ndim)
    wanted, largest = _number(k)
    m = min(wanted, x.shape[d])
    parts = _of_chunks(x, d, m)
    if parts is not None:
        head = _ends(sort(parts[0], axis=d + 1), d + 1, m, largest)
        tail = sort(parts[1], axis=d)
        x = _together(head, _ends(tail, d, min(m, tail.shape[d]), largest), d)
    out = _ends(sort(x, axis=d), d, m, largest)
    return flip(out, axis=d) if largest else out


def argtopk(a: Any, k: int, axis: int = -1, split_every: Any = None) -> Array:
    """The positions of the elements of :func:`topk`.

    Parameters
    ----------
    a : array_like
        Input array.
    k : int
        How many; negative: of the smallest.
    axis : int, default -1
        Axis along which to compute; negative ones count from the last.
    split_every : int, dict or None
        Accepted, and not needed: the planner splits reductions.

    Returns
    -------
    Array
        int64, with k elements along the axis, or all that there are. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.argtopk(cubed.asarray([3, 9, 1]), 2).compute()
    array([1, 0])
    """
    x = as_lazy(a)
    d = normalize_axis(axis, x.ndim)
    wanted, largest = _number(k)
    m = min(wanted, x.shape[d])
    parts = _of_chunks(x, d, m)
    positions = None
    if parts is not None:
        head, tail = parts
        count, extent = head.shape[d : d + 2]
        order = _ends(argsort(head, axis=d + 1), d + 1, m, largest)
        start = reshape(arange(count) * extent, (count, *(1,) * (head.ndim - d - 1)))
        rest = tail.shape[d]
        last = _ends(argsort(tail, axis=d), d, min(m, rest), largest)
        x = _together(
            take_along_axis(head, order, axis=d + 1), take_along_axis(tail, last, axis=d), d
        )
        positions = _together(add(order, start), add(last, count * extent), d)
    found = _ends(argsort(x, axis=d), d, m, largest)
    if positions is not None:
        found = take_along_axis(positions, found, axis=d)
    return flip(found, axis=d) if largest else found


def lexsort(keys: Any, axis: int = -1) -> Array:
    """The positions that put elements along an axis in order, by the last key first, and where it
    is equal by those before it.

    Parameters
    ----------
    keys : sequence of array_like
        What is sorted by; the last comes first.
    axis : int, default -1
        The axis that is sorted along.

    Returns
    -------
    Array
        int64, of the shape of each key. Lazy.

    Raises
    ------
    ValueError
        Without keys, or for shapes that differ.

    Examples
    --------
    >>> import cubed
    >>> cubed.lexsort((cubed.asarray([3, 1, 2]), cubed.asarray([1, 2, 1]))).compute()
    array([2, 0, 1])
    """
    refuse_foreign(keys)
    check_parts("lexsort", len(keys))
    given = [as_lazy(k) for k in keys]
    if not given:
        raise ValueError("lexsort: there are no keys, expected one at least")
    shapes = {k.shape for k in given}
    if len(shapes) > 1:
        raise ValueError(f"lexsort: keys have shapes {sorted(shapes)}, expected one")
    order = argsort(given[0], axis=axis)
    for key in given[1:]:
        again = argsort(take_along_axis(key, order, axis=axis), axis=axis)
        order = take_along_axis(order, again, axis=axis)
    return order


def complex_order(x: Array, axis: int) -> Array:
    """The positions that sort complex numbers as NumPy: by real parts first, NaN last."""
    re, im = real(x), imag(x)
    missing = isnan(re).astype(np.int64) * 2 + isnan(im).astype(np.int64)
    return lexsort((im, re, missing), axis=axis)


def sort_complex(a: Any) -> Array:
    """The elements as complex numbers, in order along the last axis, by real parts first.

    Parameters
    ----------
    a : array_like
        Input array.

    Returns
    -------
    Array
        complex64 for integers of up to two bytes, else complex128, or of a's type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.sort_complex(cubed.asarray([2 + 1j, 1 + 2j])).compute()
    array([1.+2.j, 2.+1.j])
    """
    x = as_lazy(a)
    if x.dtype.kind != "c":
        x = x.astype(np.complex64 if x.dtype.char in "bhBH" else np.complex128)
    return take_along_axis(x, complex_order(x, x.ndim - 1), axis=-1)
