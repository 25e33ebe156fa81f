"""Reductions by group that Xarray has flox do."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed._array import Array
from cubed._create import from_array
from cubed.array_api import broadcast_to, reshape


def aggregate(
    theirs: Any,
    array: Any,
    by: Any,
    agg: Any,
    expected_groups: Any,
    axis: tuple[int, ...] = (),
    method: str = "map-reduce",
    **kwargs: Any,
) -> Any:
    """An aggregation of flox: by the engine if that has it, else by flox on whole axes.

    flox itself knows one axis of labels that are known before, and functions whose partial results
    combine.
    """
    if expected_groups is None or not isinstance(array, Array):
        return NotImplemented
    from cubed.core.groupby import native_aggregation

    codes = by if isinstance(by, Array) else _codes(np.asarray(by), expected_groups, array)
    codes = broadcast_to(codes, array.shape[array.ndim - by.ndim :])
    native = native_aggregation(array, codes, tuple(axis), len(expected_groups), agg)
    if native is not None:
        return native, (expected_groups,)
    if agg.num_new_vector_dims:
        raise NotImplementedError(f"{agg.name} by groups of a lazy array: one number at a time")
    if by.ndim != 1:
        raise NotImplementedError(
            f"{agg.name} by groups of {by.ndim} axes of a lazy array: stack them first"
        )
    return theirs(array, by, agg, expected_groups, axis=axis, method="blockwise", **kwargs)


def groupby_reduce(
    theirs: Any, array: Any, *by: Any, expected_groups: Any = None, **kwargs: Any
) -> Any:
    """The axis of groups of lazy arrays, apart into one for each of several labels."""
    if not isinstance(array, Array) or len(by) == 1 or expected_groups is None:
        return NotImplemented
    result, *_ = theirs(array, *by, expected_groups=expected_groups, **kwargs)
    sizes = tuple(len(e) for e in expected_groups)
    return (reshape(result, (*result.shape[:-1], *sizes)), *expected_groups)


def _codes(by: np.ndarray, expected: Any, array: Array) -> Array:
    """Numbers of groups, in chunks as the array's."""
    if not hasattr(expected, "step"):  # a range is one of numbers of groups already
        by = expected.get_indexer(by.reshape(-1)).reshape(by.shape)
    chunks = tuple(
        c if n > 1 else 1
        for n, c in zip(by.shape, array._x.chunks[array.ndim - by.ndim :], strict=True)
    )
    return from_array(by.astype(np.int64), chunks, spec=array._spec)
