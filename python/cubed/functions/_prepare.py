"""Prepares arguments of functions of the catalogue."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import (
    common_spec,
    core_of,
    is_scalar,
    lazy,
    normalize_axis,
    operands,
    to_numpy,
)
from cubed.base._dtypes import kind_of, name_of
from cubed.base._types import Axis, NDArray
from cubed.functions._calls import arrays_of, task_mem
from cubed.io._create import as_lazy


def quantile_of(
    name: str, x: Any, q: Any, axis: Axis, method: str, keepdims: bool, weights: Any
) -> Array:
    """Prepares quantiles: one number, or an array whose axes come first in the result."""
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
        out = _core.call("astype", out, name_of(np.result_type(x.dtype, given.dtype)))
    return x._like(out)


def median_of(name: str, x: Any, axis: Axis, keepdims: bool, weights: Any) -> Array:
    """Returns medians with or without weights; raises an error if the argument is a list instead of
    an array."""
    x = lazy(x)
    w = None if weights is None else as_lazy(weights)._x
    out = _core.call(name, x._x, axis, keepdims, w, task_mem(common_spec(x, weights)))
    if weights is not None and not isinstance(weights, Array):
        _check_weights(name, to_numpy(weights))
    return x._like(out)


def select_of(name: str, condlist: Any, choicelist: Any, default: Any) -> Array:
    """Casts the choices, which may be Python scalars, to their promoted type."""
    conditions = arrays_of(condlist)
    refuse_foreign(choicelist)
    choices = [c if is_scalar(c) else as_lazy(c) for c in (*choicelist, default)]
    dtype = np.result_type(*(c if is_scalar(c) else c.dtype for c in choices))
    cores = [core_of(np.asarray(c, dtype) if is_scalar(c) else c) for c in choices]
    spec = common_spec(*conditions, *choices)
    core = _core.call(name, [c._x for c in conditions], cores[:-1], cores[-1])
    return Array._new(core, spec)


def triangle_of(name: str, x: Any, k: int) -> Array:
    """Prepares a triangle of matrices; the number of its diagonal may be any integer."""
    x = lazy(x)
    far = sum(x.shape)  # a diagonal further from the main one gives the same result
    return x._like(_core.call(name, x._x, max(-far, min(operator.index(k), far))))


def each_of(name: str, arrays: Sequence[Any]) -> tuple[Array, ...]:
    """Calls a function that returns one array for each of its arguments."""
    given = [as_lazy(a) for a in arrays]
    made = _core.call(name, [a._x for a in given])
    return tuple(a._like(x) for a, x in zip(given, made, strict=True))


def one_or_each_of(name: str, arrays: Sequence[Any]) -> Any:
    """Like :func:`each_of`, but returns a single array without a tuple."""
    made = each_of(name, arrays)
    return made[0] if len(made) == 1 else made


def polyfit_of(
    name: str,
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None,
    full: bool,
    w: Any,
    cov: Any,
) -> Any:
    """Returns coefficients, or with `full` or `cov` a tuple with further results."""
    spec = common_spec(x, y, w)
    weights = None if w is None else core_of(w)
    given = (core_of(x), core_of(y), deg, rcond, full, weights, cov, task_mem(spec))
    made = [Array._new(c, spec) for c in _core.call(name, *given)]
    if full:
        return (*made, len(x) * np.finfo(np.float64).eps if rcond is None else rcond)
    return made[0] if len(made) == 1 else tuple(made)


def pair_of(name: str, x1: Any, x2: Any) -> Array:
    """Calls a function of two operands; one may be a number."""
    cores, spec = operands(x1, x2)
    return Array._new(_core.call(name, *cores), spec)


def delete_of(name: str, x: Any, obj: Any, axis: int | None) -> Array:
    """Removes the elements at positions, or where a mask is true."""
    x = as_lazy(x)
    if not isinstance(obj, slice):
        obj = _positions(name, obj).reshape(-1)
        n = x.size if axis is None else x.shape[normalize_axis(name, axis, x.ndim)]
        if obj.dtype == bool:
            if obj.shape != (n,):
                raise ValueError(f"{name}: a mask of shape {obj.shape} for {n} elements")
            obj = np.flatnonzero(obj)
    return x._like(_core.call(name, x._x, obj, axis))


def insert_of(name: str, arr: Any, obj: Any, values: Any, axis: int | None) -> Array:
    """Inserts values before the elements at positions."""
    x, new = as_lazy(arr), as_lazy(values)
    if not isinstance(obj, slice):
        obj = _positions(name, obj)
        if obj.ndim > 1:
            raise ValueError(f"{name}: positions have {obj.ndim} axes, expected one at most")
        if obj.dtype == bool and obj.size:
            raise TypeError(f"{name}: positions are bool, expected integers")
    return Array._new(_core.call(name, x._x, obj, new._x, axis), common_spec(x, new))


def _positions(name: str, obj: Any) -> NDArray:
    """Converts positions to integers or a mask."""
    found = to_numpy(obj)
    if found.dtype.kind not in "biu" and found.size:
        raise IndexError(f"{name}: positions are {found.dtype}, expected integers")
    return found


def _check_weights(name: str, weights: NDArray) -> None:
    """Checks weights that are in memory, and refuses invalid values."""
    if weights.dtype.kind not in "biuf":
        return
    wrong = weights[~(np.isfinite(weights) & (weights >= 0))]
    if wrong.size:
        raise ValueError(f"{name}: weights has {wrong.flat[0]}, expected finite numbers from 0 up")
    if weights.size and not weights.any():
        raise ValueError(f"{name}: weights are all 0, expected one above 0 at least")
