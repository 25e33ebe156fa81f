"""Sets of elements.

Shapes of results depend on values, so functions compute the number of results when they are called.
They sort all elements, except `isin` and `in1d`.
"""

from __future__ import annotations

from typing import Any

from cubed.array._first import computes_first
from cubed.array_api._rows import unique_along
from cubed.functions import sets
from cubed.functions.searching import isin
from cubed.functions.sets import (
    argwhere,
    extract,
    flatnonzero,
    in1d,
    setdiff1d,
    setxor1d,
    union1d,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from cubed.io._create import as_lazy

__all__ = [
    "argwhere",
    "extract",
    "flatnonzero",
    "in1d",
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Returns the distinct elements that are in both arrays, in ascending order.

    Their number is computed immediately.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each array are distinct.
    return_indices : bool, default False
        Whether to return also positions.

    Returns
    -------
    Array or tuple of Array
        The elements, with one axis and of the promoted type. With `return_indices` also the
        positions (int64) of their first occurrences in both flattened arrays. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.intersect1d(cubed.asarray([1, 2]), cubed.asarray([2, 3])).compute()
    array([2])
    """
    found = sets.intersect1d(ar1, ar2, assume_unique)
    return found if return_indices else found[0]


@computes_first
def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """Returns distinct elements in ascending order, or distinct parts along an axis.

    Their number is computed immediately.

    Parameters
    ----------
    x : array_like
        Input array.
    return_index, return_inverse, return_counts : bool, default False
        Whether to return, in a tuple, also the position of each element's first occurrence in the
        flattened array; for each element of `x`, its index among the distinct elements, in x's
        shape; and the number of occurrences of each element.
    axis : int or None
        Axis along which parts are compared, element by element. All NaN in parts count as
        different. Positions are those along the axis. None: compare elements.
    equal_nan : bool, default True
        Whether all NaN count as one element.

    Returns
    -------
    Array or tuple of Array
        The elements of one axis, or the parts of the array. Requested indices and counts are int64.
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([3, 1, 3])
    >>> cubed.unique(x).compute()
    array([1, 3])
    """
    a, wanted = as_lazy(x), (return_index, return_inverse, return_counts)
    if axis is not None:
        out = unique_along(a, axis, *wanted)
        return out if any(wanted) else out[0]
    if not any(wanted):
        return unique_values(a, equal_nan=equal_nan)
    if return_index or (return_inverse and return_counts):
        values, *more = unique_all(a, equal_nan=equal_nan)
        return (values, *(y for y, w in zip(more, wanted, strict=True) if w))
    return tuple((unique_inverse if return_inverse else unique_counts)(a, equal_nan=equal_nan))
