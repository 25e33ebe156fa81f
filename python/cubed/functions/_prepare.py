"""Arguments of functions of the catalogue that Python prepares."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import common_spec, core_of, is_scalar, lazy, to_numpy
from cubed.base._dtypes import kind_of, name_of
from cubed.base._types import Axis, NDArray
from cubed.functions._calls import arrays_of
from cubed.io._create import as_lazy


def quantile_of(
    name: str, x: Any, q: Any, axis: Axis, method: str, keepdims: bool, weights: Any
) -> Array:
    """Quantiles for a number, or an array of numbers with any axes, which come in front."""
    x, given = lazy(x), to_numpy(q)
    one = given.ndim == 0 and not isinstance(q, (np.ndarray, Array))
    values = given.astype(np.float64)
    numbers = float(values) if one else values.reshape(-1).tolist()
    w = None if weights is None else as_lazy(weights)._x
    out = _core.call(name, x._x, numbers, axis, method, keepdims, w, x.spec.task_mem)
    if weights is not None and not isinstance(weights, Array):
        _check_weights(name, to_numpy(weights))
    if not one and values.ndim != 1:
        out = _core.call("reshape", out, (*values.shape, *out.shape[1:]))
    if weights is None and kind_of(given.dtype) == x.dtype.kind == "f" and out.dtype != x._x.dtype:
        out = _core.astype(out, name_of(np.result_type(x.dtype, given.dtype)))
    return x._like(out)


def select_of(name: str, condlist: Any, choicelist: Any, default: Any) -> Array:
    """Choices, among them Python scalars, in the type that all promote to."""
    conditions = arrays_of(condlist)
    refuse_foreign(choicelist)
    choices = [c if is_scalar(c) else as_lazy(c) for c in (*choicelist, default)]
    dtype = np.result_type(*(c if is_scalar(c) else c.dtype for c in choices))
    cores = [core_of(np.asarray(c, dtype) if is_scalar(c) else c) for c in choices]
    spec = common_spec(*conditions, *choices)
    core = _core.call(name, [c._x for c in conditions], cores[:-1], cores[-1])
    return Array._new(core, spec)


def triangle_of(name: str, x: Any, k: int) -> Array:
    """A triangle of matrices, with a diagonal of any size of integer."""
    x = lazy(x)
    far = sum(x.shape)  # diagonals further out change nothing
    return x._like(_core.call(name, x._x, max(-far, min(operator.index(k), far))))


def _check_weights(name: str, weights: NDArray) -> None:
    """Refuses weights whose values are known."""
    if weights.dtype.kind not in "biuf":
        return
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if wrong.size:
        raise ValueError(f"{name}: weights has {wrong.flat[0]}, expected finite numbers from 0 up")
    if weights.size and not weights.any():
        raise ValueError(f"{name}: weights are all 0, expected one above 0 at least")
