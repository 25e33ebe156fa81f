"""Sets of elements and of rows; how many there are is counted when functions are called."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._first import computes_first
from cubed.array_api.composed_functions import flat, unique
from cubed.array_api.creation_functions import ones
from cubed.array_api.elementwise_functions import equal, logical_and, not_equal, subtract
from cubed.array_api.indexing_functions import take
from cubed.array_api.manipulation_functions import concat
from cubed.array_api.searching_functions import nonzero
from cubed.array_api.set_functions import isin, unique_all
from cubed.array_api.sorting_functions import argsort, sort
from cubed.io._create import as_lazy

__all__ = ["in1d", "intersect1d", "setdiff1d", "setxor1d"]


def _set(x: Any, assume_unique: bool) -> Array:
    return flat(x) if assume_unique else unique(x)


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Array:
    """Whether each element of an array in one dimension is among those of another one; with
    `invert`, whether it is not.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each are different.
    invert : bool, default False
        Whether what is not in `ar2` is true.

    Returns
    -------
    Array
        bool. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.in1d(cubed.asarray([1, 2]), cubed.asarray([2, 3])).compute()
    array([False,  True])
    """
    return isin(flat(ar1), as_lazy(ar2), invert=invert)


@computes_first
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The elements of one array that are not in another one: distinct ones in ascending order, or
    as they are, if they are said to be unique. Computes their number.

    Of ar1's type, in one dimension.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each are different.

    Returns
    -------
    Array
        Of one axis, and of ar1's type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.setdiff1d(cubed.asarray([1, 2]), cubed.asarray([2, 3])).compute()
    array([1])
    """
    x = _set(ar1, assume_unique)
    return x[isin(x, as_lazy(ar2), invert=True)]


@computes_first
def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """The elements that are in both arrays, distinct ones in ascending order. Computes their
    number.

    Of the type that both promote to, in one dimension; with `return_indices` also where each is
    first in both, flattened.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each are different.
    return_indices : bool, default False
        Whether positions are returned, too.

    Returns
    -------
    Array or tuple of Array
        Of one axis: the elements, and with `return_indices` where they first are in both. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.intersect1d(cubed.asarray([1, 2]), cubed.asarray([2, 3])).compute()
    array([2])
    """
    x, y = flat(ar1), flat(ar2)
    if not assume_unique:
        first, second = unique_all(x), unique_all(y)
        x, y = first.values, second.values
    both = concat([x, y], axis=0)
    order = argsort(both)
    ordered = take(both, order, axis=0)
    at = nonzero(equal(ordered[1:], ordered[:-1]))[0]
    values = take(ordered, at, axis=0)
    if not return_indices:
        return values
    places = take(order, at, axis=0), subtract(take(order, at + 1, axis=0), x.size)
    if assume_unique:
        return values, *places
    return (
        values,
        take(first.indices, places[0], axis=0),
        take(second.indices, places[1], axis=0),
    )


@computes_first
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The elements that are in one of two arrays, and not in both, in ascending order. Computes
    their number.

    Of the type that both promote to, in one dimension.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each are different.

    Returns
    -------
    Array
        Of one axis, and of the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.setxor1d(cubed.asarray([1, 2]), cubed.asarray([2, 3])).compute()
    array([1, 3])
    """
    both = sort(concat([_set(ar1, assume_unique), _set(ar2, assume_unique)], axis=0))
    if both.size == 0:
        return both
    differ = not_equal(both[1:], both[:-1])
    end = ones((1,), dtype=np.bool_, spec=both._spec)
    alone = logical_and(concat([end, differ], axis=0), concat([differ, end], axis=0))
    return both[alone]
