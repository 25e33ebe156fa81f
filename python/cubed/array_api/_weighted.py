"""Quantiles of elements that have weights."""

from __future__ import annotations

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import normalize_axes, to_numpy
from cubed.base._types import Axis, NDArray, QuantileMethod
from cubed.io._create import as_lazy


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
    w = as_lazy(weights)
    axes = None if axis is None else normalize_axes(axis, x.ndim)
    out = _core.weighted_quantiles(
        x._x, w._x, q.reshape(-1).tolist(), axes, keepdims, skip_nan, method, x.spec.task_mem
    )
    if not isinstance(weights, Array):
        _check(to_numpy(weights))
    return x._like(_core.reshape(out, (*q.shape, *out.shape[1:])) if q.ndim != 1 else out)
