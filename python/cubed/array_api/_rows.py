"""Distinct parts of arrays along an axis."""

from __future__ import annotations

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import check_parts, normalize_axis
from cubed.array_api.creation_functions import arange, ones
from cubed.array_api.elementwise_functions import imag, not_equal, real, subtract
from cubed.array_api.indexing_functions import take
from cubed.array_api.manipulation_functions import concat, moveaxis, reshape
from cubed.array_api.searching_functions import nonzero
from cubed.array_api.sorting_functions import argsort, lexsort
from cubed.array_api.statistical_functions import cumulative_sum
from cubed.array_api.utility_functions import any


def unique_along(
    x: Array, axis: int, return_index: bool, return_inverse: bool, return_counts: bool
) -> tuple[Array, ...]:
    """Returns the distinct parts along an axis, in sorted order. Computes their number
    immediately."""
    d = normalize_axis("unique", axis, x.ndim)
    rows = moveaxis(x, d, 0)
    n = rows.shape[0]
    table = reshape(rows, (n, rows.size // n if n else 0))
    check_parts("unique", table.shape[1], "elements in each part, by which they are sorted in turn")
    keys = []
    for k in reversed(range(table.shape[1])):
        column = table[:, k]
        keys += [imag(column), real(column)] if x.dtype.kind == "c" else [column]
    order = lexsort(keys) if keys else arange(n)
    ordered = take(table, order, axis=0)
    first = ones((min(n, 1),), dtype=np.bool_, spec=x._spec)
    starts = concat([first, any(not_equal(ordered[1:], ordered[:-1]), axis=1)], axis=0)
    if n < 2:
        starts = first
    at = nonzero(starts)[0]
    places = take(order, at, axis=0)
    out = [moveaxis(take(rows, places, axis=0), 0, d)]
    if return_index:
        out.append(places)
    if return_inverse:
        group = subtract(cumulative_sum(starts.astype(np.int64)), 1) if n else arange(0)
        out.append(take(group, argsort(order), axis=0))
    if return_counts:
        ends = concat([at[1:], arange(n, n + 1)], axis=0) if n else at
        out.append(subtract(ends, at))
    return tuple(out)
