"""Elements at positions."""

from __future__ import annotations

import operator
from typing import Any, Literal

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy, normalize_axis
from cubed.array_api.elementwise_functions import clip, remainder
from cubed.functions.indexing import take_along_axis

__all__ = ["take", "take_along_axis"]


def positions_within(indices: Any, extent: int, mode: str) -> Any:
    """Replaces positions out of range by valid ones, by the modes of NumPy's `take`."""
    if mode not in ("wrap", "clip"):
        raise ValueError(f"take: mode is {mode!r}, expected 'raise', 'wrap' or 'clip'")
    if extent == 0:
        return indices  # any position is an error later
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
    d = normalize_axis(axis, x.ndim)
    given = indices
    if mode != "raise":
        indices = positions_within(indices, x.shape[d], mode)
    if np.ndim(indices) == 0 and not isinstance(indices, Array):
        return x[(slice(None),) * d + (operator.index(indices),)]
    out = _core.call("take", x._x, core_of(indices, made=indices is not given), d)
    return Array._new(out, common_spec(x, indices))
