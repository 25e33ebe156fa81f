"""Medians of complex numbers."""

from __future__ import annotations

import math

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import normalize_axes
from cubed.array_api._edges import complex_of
from cubed.array_api.creation_functions import full
from cubed.array_api.elementwise_functions import add, imag, isnan, maximum, multiply, real
from cubed.array_api.indexing_functions import take_along_axis
from cubed.array_api.manipulation_functions import expand_dims, moveaxis, reshape, squeeze
from cubed.array_api.searching_functions import count_nonzero, where
from cubed.array_api.sorting_functions import sort
from cubed.base._types import Axis


def complex_median(x: Array, axis: Axis, skip_nan: bool, keepdims: bool) -> Array:
    """The element in the middle, or the mean of the two there, by real parts first."""
    axes = normalize_axes(axis, x.ndim)
    kept = tuple(n for d, n in enumerate(x.shape) if d not in axes)
    n = math.prod(x.shape[d] for d in axes)
    missing = x.dtype.type(complex(np.nan, np.nan))
    if n == 0:
        out = full(kept, missing, dtype=x.dtype, spec=x._spec)
    else:
        lines = reshape(moveaxis(x, axes, tuple(range(-len(axes), 0))), (*kept, n))
        ordered = sort(lines, axis=-1)
        known = count_nonzero(~isnan(lines), axis=-1, keepdims=True)  # which are in front
        low, high = (
            squeeze(take_along_axis(ordered, maximum(at, 0), axis=-1), -1)
            for at in ((known - 1) // 2, known // 2)
        )
        known = squeeze(known, -1)
        between = complex_of(*(multiply(add(part(low), part(high)), 0.5) for part in (real, imag)))
        out = where(known % 2 == 1, low, between)
        out = where(known == 0 if skip_nan else known < n, missing, out)
    return expand_dims(out, axes) if keepdims else out
