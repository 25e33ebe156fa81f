"""Quantiles of elements that have weights."""

from __future__ import annotations

import math

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import normalize_axes, to_numpy
from cubed.array_api.elementwise_functions import (
    divide,
    equal,
    greater,
    greater_equal,
    isfinite,
    isnan,
    less,
    logical_and,
    logical_or,
)
from cubed.array_api.indexing_functions import take_along_axis
from cubed.array_api.manipulation_functions import (
    broadcast_to,
    expand_dims,
    moveaxis,
    permute_dims,
    reshape,
    squeeze,
    stack,
)
from cubed.array_api.searching_functions import where
from cubed.array_api.sorting_functions import argsort
from cubed.array_api.statistical_functions import cumulative_sum, sum
from cubed.array_api.utility_functions import all, any
from cubed.base._dtypes import kind_of
from cubed.base._types import Axis, NDArray, QuantileMethod
from cubed.io._create import as_lazy


def _in_shape(w: Array, x: Array, axis: Axis) -> Array:
    """Weights in x's shape, of which they may have the axes alone."""
    if kind_of(w.dtype) not in "biuf":
        raise TypeError(f"weights are of {w.dtype}, expected real numbers")
    if w.shape == x.shape:
        return w
    if axis is None:
        raise ValueError(f"weights have shape {w.shape} for an array of {x.shape}, without an axis")
    axes = normalize_axes(axis, x.ndim)
    if w.shape != tuple(x.shape[a] for a in axes):
        raise ValueError(
            f"weights have shape {w.shape}, expected {tuple(x.shape[a] for a in axes)}, or x's"
        )
    order = tuple(int(k) for k in np.argsort(axes))
    lined = expand_dims(
        permute_dims(w, order), tuple(d for d in range(x.ndim) if d not in axes)
    )  # fmt: skip
    return broadcast_to(lined, x.shape)


_EXPECTED = (
    "quantile: weights are negative, NaN, infinite or all 0, expected a positive sum of numbers"
)


def _check(weights: NDArray) -> None:
    """Refuses weights whose values are known."""
    if weights.dtype.kind not in "biuf":
        return
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if wrong.size:
        raise ValueError(
            f"quantile: weights has {wrong.flat[0]}, expected finite numbers from 0 up"
        )
    if weights.size and not weights.any():
        raise ValueError("quantile: weights are all 0, expected one above 0 at least")


def weighted_quantile(
    x: Array,
    q: NDArray,
    axis: Axis,
    skip_nan: bool,
    method: QuantileMethod,
    keepdims: bool,
    weights: object,
) -> Array:
    """The first elements in order up to which so much of the weight is."""
    if method != "inverted_cdf":
        raise ValueError(f"quantile: method is {method!r}, with weights expected 'inverted_cdf'")
    if ((q < 0) | (q > 1)).any():
        raise ValueError("quantile: q is out of range, expected 0 to 1")
    w = _in_shape(as_lazy(weights), x, axis).astype(np.float64)
    if not isinstance(weights, Array):
        _check(to_numpy(weights))
    axes = normalize_axes(axis, x.ndim)
    kept = tuple(n for d, n in enumerate(x.shape) if d not in axes)
    n = math.prod(x.shape[d] for d in axes)
    if n == 0:
        raise ValueError("quantile: weights of no elements")
    last = tuple(range(x.ndim - len(axes), x.ndim))
    x, w = (reshape(moveaxis(v, axes, last), (*kept, n)) for v in (x, w))
    missing = isnan(x) if kind_of(x.dtype) == "f" else None
    valid = logical_and(isfinite(w), greater_equal(w, 0.0))
    if missing is not None and skip_nan:
        w = where(missing, 0.0, w)
    total = sum(where(valid, w, math.nan), axis=-1, keepdims=True)
    fits = greater(total, 0.0)
    if missing is not None and skip_nan:  # without any element the quantile is NaN
        fits = logical_or(
            fits, logical_and(all(missing, axis=-1, keepdims=True), equal(total, 0.0))
        )
    total = total._like(_core.require(total._x, fits._x, _EXPECTED))
    order = argsort(x, axis=-1)
    ordered, share = (take_along_axis(v, order, axis=-1) for v in (x, w))
    share = divide(cumulative_sum(share, axis=-1), total)
    found = []
    for p in q.reshape(-1).tolist():
        if p == 0:
            at = (share[..., :1] == 0).astype(np.int64)
        else:
            at = sum(less(share, p).astype(np.int64), axis=-1, keepdims=True)
        at = where(at >= n, n - 1, at)
        found.append(squeeze(take_along_axis(ordered, at, axis=-1), -1))
    if missing is not None:
        lost = all(missing, axis=-1) if skip_nan else any(missing, axis=-1)
        if skip_nan:
            lost = logical_or(lost, isnan(share[..., -1]))
        found = [where(lost, x.dtype.type(np.nan), v) for v in found]
    if keepdims:
        found = [expand_dims(v, axes) for v in found]
    if q.ndim == 0:
        return found[0]
    out = stack(found, axis=0)
    return out if q.ndim == 1 else reshape(out, (*q.shape, *out.shape[1:]))
