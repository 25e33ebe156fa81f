"""Elements at positions."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._cores import core_from_numpy
from cubed.array._operands import common_spec, core_of, lazy, normalize_axis
from cubed.array_api.elementwise_functions import clip, remainder
from cubed.functions.indexing import take_along_axis

__all__ = ["shuffle", "take", "take_along_axis"]

#: A chunk of shuffled groups has at most this multiple of the mean extent of chunks.
_LONGER = 1.25


def positions_within(indices: Any, extent: int, mode: str) -> Any:
    """Replaces positions out of range by valid ones, by the modes of NumPy's `take`."""
    if mode not in ("wrap", "clip"):
        raise ValueError(f"take: mode is {mode!r}, expected 'raise', 'wrap' or 'clip'")
    if extent == 0:
        return indices  # for any position in an empty axis, the computation raises an error
    if not isinstance(indices, Array):
        at = np.asarray(indices)
        return np.remainder(at, extent) if mode == "wrap" else np.clip(at, 0, extent - 1)
    return remainder(indices, extent) if mode == "wrap" else clip(indices, 0, extent - 1)


def take(
    x: Array,
    indices: Array | int,
    /,
    axis: int | None = None,
    *,
    mode: Literal["raise", "wrap", "clip"] = "raise",
) -> Array:
    """Selects the elements at positions along an axis; a single number removes the axis.

    Parameters
    ----------
    x : Array
        Input array.
    indices : array_like of int
        Positions; negative numbers count from the end.
    axis : int or None
        The axis; may be omitted if the array has one axis.
    mode : {"raise", "wrap", "clip"}, default "raise"
        Treatment of positions out of range: an error, counting from the other end, or the nearest
        end.

    Returns
    -------
    Array
        Type of `x`, with as many elements along the axis as positions. Lazy. The computation raises
        IndexError for positions out of range.

    Examples
    --------
    >>> import cubed
    >>> cubed.take(cubed.asarray([10, 20, 30]), cubed.asarray([2, 0])).compute()
    array([30, 10])
    """
    x = lazy(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis is needed for an array with {x.ndim} axes")
        axis = 0
    d = normalize_axis("take", axis, x.ndim)
    given = indices
    if mode != "raise":
        indices = positions_within(indices, x.shape[d], mode)
    if np.ndim(indices) == 0 and not isinstance(indices, Array):
        return x[(slice(None),) * d + (operator.index(indices),)]
    out = _core.call("take", x._x, core_of(indices, made=indices is not given), d)
    return Array._new(out, common_spec(x, indices))


def shuffle(x: Array, indexer: Sequence[Sequence[int]], axis: int) -> Array:
    """Arranges an axis in groups of elements. No group is split between chunks.

    Parameters
    ----------
    x : Array
        Input array.
    indexer : list of list of int
        The positions of each group. Negative numbers count from the end. Positions may be left out,
        and may be repeated.
    axis : int
        The axis.

    Returns
    -------
    Array
        The type of `x`. Chunks along the axis contain whole groups, and at most 1.25 times the mean
        extent of chunks of `x`, except for longer groups. If there are longer groups, chunks along
        the other axes are shorter. Lazy.

    Raises
    ------
    IndexError
        A position is outside of the axis.
    ValueError
        `indexer` is not a list of lists of integers, or `x` has no such axis.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(6, chunks=3)
    >>> y = cubed.shuffle(x, [[0, 2, 4], [1, 3, 5]], axis=0)
    >>> y.compute(), y.chunks
    (array([0, 2, 4, 1, 3, 5]), ((3, 3),))
    """
    x = lazy(x)
    d = normalize_axis("shuffle", axis, x.ndim)
    groups = _groups(indexer, x.shape[d])
    own = x.chunks[d]
    limit = max(1, int(sum(own) / max(1, len(own)) * _LONGER))
    sizes = [0]
    for group in groups:
        if sizes[-1] and sizes[-1] + len(group) > limit:
            sizes.append(0)
        sizes[-1] += len(group)
    longest = max(sizes)
    order = np.concatenate([np.empty(0, np.int64), *groups])
    if longest > limit and x.ndim > 1:
        others = max(1, math.prod(x.chunksize) // longest)  # elements of a chunk's other axes
        chunks: list[Any] = ["auto"] * x.ndim
        chunks[d] = own
        x = x.rechunk(tuple(chunks), block_size_limit=others * max(own) * x.dtype.itemsize)
    out = Array._new(
        _core.call("take", x._x, core_from_numpy(order, None, made=True), d), common_spec(x)
    )
    return out.rechunk({d: tuple(sizes)}) if longest else out


def _groups(indexer: Any, extent: int) -> list[Any]:
    """Returns the positions of each group; raises IndexError if one is outside of the axis."""
    if not isinstance(indexer, (list, tuple)):
        raise ValueError(f"shuffle: indexer is {indexer!r}, expected a list of lists of positions")
    groups = []
    for i, given in enumerate(indexer):
        group = np.asarray(given)
        if group.ndim != 1 or (group.size and group.dtype.kind not in "iu"):
            raise ValueError(
                f"shuffle: indexer[{i}] is {given!r}, expected a list of positions (integers)"
            )
        outside = group[(group < -extent) | (group >= extent)]
        if outside.size:
            raise IndexError(
                f"shuffle: position {outside[0]} of group {i} is outside of an axis of {extent}"
                " elements"
            )
        groups.append(group.astype(np.int64))
    return groups
