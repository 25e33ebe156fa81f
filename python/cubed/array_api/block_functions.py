"""Reductions of small blocks of elements."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from cubed.array._array import Array
from cubed.array._operands import normalize_axes
from cubed.array_api.manipulation_functions import reshape
from cubed.io._create import as_lazy

__all__ = ["coarsen"]


def coarsen(
    reduction: Callable[..., Any],
    x: Any,
    axes: Mapping[int, int],
    trim_excess: bool = False,
    **kwargs: Any,
) -> Array:
    """Applies a reduction to blocks of neighbouring elements.

    Parameters
    ----------
    reduction : Callable[..., Any]
        A reduction of NumPy or this package, such as ``np.mean``, or another function of a lazy
        array whose parameter `axis` accepts a tuple.
    x : array_like
        An array.
    axes : mapping of int to int
        Number of elements of a block along each axis.
    trim_excess : bool, default False
        Whether to leave out an incomplete block at the end of an axis.
    **kwargs : object
        Passed to the reduction.

    Returns
    -------
    Array
        One element for each block. Lazy, if the reduction is.

    Raises
    ------
    ValueError
        The extent of an axis is not a multiple of the block's, and `trim_excess` is false.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> cubed.coarsen(np.mean, cubed.arange(6.0), {0: 2}).compute()
    array([0.5, 2.5, 4.5])
    """
    a = as_lazy(x)
    along = normalize_axes(
        "coarsen", tuple(axes.keys()), a.ndim
    )  # iterating over an array computes it
    sizes = dict(zip(along, map(operator.index, axes.values()), strict=True))
    shape, inner, key = [], [], []
    for d, n in enumerate(a.shape):
        size = sizes.get(d, 1)
        if size < 1:
            raise ValueError(
                f"coarsen: blocks of axis {d} have {size} elements, expected 1 at least"
            )
        if n % size and not trim_excess:
            raise ValueError(
                f"coarsen: axis {d} has {n} elements, not whole blocks of {size}: give trim_excess"
            )
        key.append(slice(0, n // size * size))
        shape.append(n // size)
        if d in sizes:
            inner.append(len(shape))
            shape.append(size)
    if not sizes:
        return a.copy()
    return reduction(reshape(a[tuple(key)], tuple(shape)), axis=tuple(inner), **kwargs)
