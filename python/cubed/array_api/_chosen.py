"""Reductions of chosen elements (``where=``), from a first value (``initial=``), and of complex
numbers, which have no order of the engine's."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import core_of, lazy, normalize_axes, real_number
from cubed.array_api.elementwise_functions import (
    add,
    divide,
    equal,
    imag,
    isnan,
    logical_and,
    logical_or,
    maximum,
    minimum,
    multiply,
    real,
    sqrt,
)
from cubed.array_api.searching_functions import where as choose
from cubed.base._types import Axis, DTypeLike

#: Neutral elements of reductions.
_NEUTRAL = {"sum": 0, "nansum": 0, "prod": 1, "nanprod": 1, "all": 1, "any": 0}


def mask_of(where: Any, x: Array) -> Array:
    """The argument `where` of a reduction of x, in x's shape."""
    mask = where if isinstance(where, Array) else Array._new(core_of(np.asarray(where)), None)
    if mask.dtype.kind != "b":
        raise TypeError(f"where is of type {mask.dtype}, expected bool")
    if mask.shape == x.shape:
        return mask
    try:
        fits = np.broadcast_shapes(mask.shape, x.shape) == x.shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"where of shape {mask.shape} does not broadcast to {x.shape}")
    return mask._like(_core.call("broadcast_to", mask._x, x.shape))


def _value(value: Any, dtype: np.dtype[Any]) -> Any:
    """A number as a scalar of that type."""
    out = np.asarray(value)
    if out.ndim:
        raise ValueError(f"initial has {out.ndim} axes, expected a number")
    return out.astype(dtype)[()]


def filled(name: str, x: Array, where: Any, initial: Any) -> Array:
    """Replaces the elements of x where the mask is false by the neutral element of the
    reduction."""
    mask = mask_of(where, x)
    neutral = _NEUTRAL.get(name, initial)
    if neutral is None:
        raise ValueError(f"{name}: where needs an initial, the result where no element is chosen")
    return choose(mask, x, _value(neutral, x.dtype))


def started(
    name: str,
    x: Array,
    axis: Axis,
    keepdims: bool,
    dtype: DTypeLike,
    initial: Any,
    reduce: Callable[..., Array],
) -> Array:
    """A reduction with an initial value."""
    if isinstance(initial, Array):
        raise TypeError("initial is a lazy array, expected a number")
    extremes = {"max": maximum, "min": minimum, "nanmax": maximum, "nanmin": minimum}
    if name not in extremes:
        out = reduce(name, x, axis, keepdims, dtype)
        return (add if "sum" in name else multiply)(out, _value(initial, out.dtype))
    axes = normalize_axes(axis, x.ndim)
    if any(x.shape[a] == 0 for a in axes):
        shape = [1 if d in axes else n for d, n in enumerate(x.shape) if keepdims or d not in axes]
        first = Array._new(core_of(np.asarray(_value(initial, x.dtype))), x._spec)
        return first._like(_core.call("broadcast_to", first._x, shape))
    return larger(name.endswith("max"), reduce(name, x, axis, keepdims), _value(initial, x.dtype))


def larger(largest: bool, a: Array, b: Any) -> Array:
    """The larger, or smaller, of two elements; complex numbers by their real parts first."""
    if a.dtype.kind != "c":
        return (maximum if largest else minimum)(a, b)
    b = lazy(b)
    first, second = (a, b) if largest else (b, a)
    ahead = logical_or(
        real(first) > real(second),
        logical_and(equal(real(first), real(second)), imag(first) >= imag(second)),
    )
    return choose(isnan(a), a, choose(logical_or(isnan(b), ~ahead), b, a))


def mean_of_chosen(x: Array, axis: Axis, keepdims: bool, dtype: DTypeLike, where: Any) -> Array:
    """The mean of the elements that a mask selects; NaN if it selects none."""
    mask, axes = mask_of(where, x), normalize_axes(axis, x.ndim)
    if dtype is not None or x.dtype.kind in "biu":
        x = x.astype(np.float64 if dtype is None else dtype)
    chosen = choose(mask, x, x.dtype.type(0))
    total = x._like(_core.call("sum", chosen._x, axes, keepdims))
    count = x._like(_core.call("count_nonzero", mask._x, axes, keepdims))
    return divide(total, count.astype(np.float64)).astype(total.dtype if dtype is None else dtype)


def variance(
    x: Array,
    axis: Axis,
    keepdims: bool,
    dtype: DTypeLike,
    correction: Any,
    root: bool,
    where: Any = True,
    skip_nan: bool = False,
) -> Array:
    """The variance of elements that a mask chooses, or its root; also of complex numbers."""
    axes, free = normalize_axes(axis, x.ndim), real_number(correction, "correction")
    if dtype is not None and x.dtype.kind == "c" and np.dtype(dtype).kind == "f":
        # As in NumPy the mean loses its imaginary part, and the elements keep theirs.
        real_mean = _about_a_real_mean(x, axes, keepdims, np.dtype(dtype), free, where, skip_nan)
        return sqrt(real_mean) if root else real_mean
    if dtype is not None:
        x = x.astype(dtype)
    mask = None if where is True else mask_of(where, x)._x
    name = f"{'nan' * skip_nan}{'std' if root else 'var'}"
    return x._like(_core.call(name, x._x, axes, keepdims, free, None, mask))


def _about_a_real_mean(
    x: Array,
    axes: tuple[int, ...],
    keepdims: bool,
    dtype: np.dtype[Any],
    free: float,
    where: Any,
    skip_nan: bool,
) -> Array:
    """Mean squares of distances of complex numbers from the mean of their real parts."""
    chosen = None if where is True else mask_of(where, x)
    if skip_nan:
        chosen = ~isnan(x) if chosen is None else logical_and(chosen, ~isnan(x))
    along = variance(
        real(x), axes, keepdims, dtype, free, False, True if chosen is None else chosen
    )
    part = imag(x)
    squares = multiply(part, part).astype(dtype)
    if chosen is None:
        n: Any = float(math.prod(x.shape[d] for d in axes))
        divisor = max(n - free, 0.0)
    else:
        squares = choose(chosen, squares, dtype.type(0))
        n = x._like(_core.call("count_nonzero", chosen._x, axes, keepdims))
        divisor = maximum(n.astype(np.float64) - free, 0.0)
    total = x._like(_core.call("sum", squares._x, axes, keepdims))
    return add(along, divide(total, divisor)).astype(dtype)
