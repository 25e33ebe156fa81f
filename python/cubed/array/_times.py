"""Dates and times: what is done on the integers that they are, where the least one is NaT."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed import _core
from cubed.array import _above
from cubed.array._array import Array
from cubed.array._operands import common_spec, lazy, to_numpy
from cubed.base._dtypes import name_of
from cubed.base._types import NDArray

NAT = np.iinfo(np.int64).min


def is_nat(x: Array) -> Array:
    """Where x is NaT."""
    return x._unary("isnan")


def cast(x: Array, dtype: np.dtype[Any]) -> Array:
    """x as another type, where x or that is of dates or times."""
    if x.dtype == dtype:
        return x.copy()
    if x.dtype.kind == dtype.kind:
        if _is_calendar(x.dtype) != _is_calendar(dtype):
            return _above.map_blocks(numpy_cast, x, dtype=dtype, target=dtype)
        return x._like(_core.astype(x._x, name_of(dtype)))
    if dtype.kind not in "mM":
        return integers(x).astype(dtype)
    return x._like(_core.astype(integers(x)._x, name_of(dtype)))


def running_total(x: Array, axis: int, include_initial: bool) -> Array:
    """Running sums of differences of times: NaT from the first one on."""
    xp = _above.array_api
    if x.dtype.kind == "M":
        raise TypeError(f"cumulative_sum is not defined for {x.dtype}")
    missing = is_nat(x)
    lost, out = (
        xp.cumulative_sum(v, axis=axis, include_initial=include_initial)
        for v in (missing.astype(np.int64), choose(missing, 0, integers(x)))
    )
    return choose(xp.greater(lost, 0), NAT, out).astype(x.dtype)


def ordered(x: Array, largest: bool) -> Array:
    """Integers whose first largest (least) element is at the first NaT, or where x has its own."""
    ints = integers(x)
    return choose(is_nat(x), np.iinfo(np.int64).max, ints) if largest else ints


def from_ordered(ints: Array, dtype: np.dtype[Any]) -> Array:
    """The inverse of :func:`ordered` with NaT the largest."""
    return choose(ints == np.iinfo(np.int64).max, NAT, ints).astype(dtype)


def isin(x1: Any, x2: Any, invert: bool) -> Array:
    """Whether elements of x1 are among those of x2; NaT is not."""
    xp = _above.array_api
    a, b = _lazy(x1), _lazy(x2)
    if a.dtype.kind != b.dtype.kind:
        raise TypeError(f"isin is not defined for {a.dtype} and {b.dtype}")
    unit = np.promote_types(a.dtype, b.dtype)
    found = xp.isin(integers(cast(a, unit)), integers(cast(b, unit)))
    found = found & ~is_nat(a)
    return Array._new((~found if invert else found)._x, common_spec(x1, x2))


# --- Parts ----------------------------------------------------------------------------------------


def _lazy(value: Any) -> Array:
    return lazy(value if isinstance(value, Array) else to_numpy(value))


def integers(x: Array) -> Array:
    return x._like(_core.astype(x._x, "int64"))


def choose(condition: Any, left: Any, right: Any) -> Array:
    return _above.array_api.where(condition, left, right)


def _is_calendar(dtype: np.dtype[Any]) -> bool:
    return np.datetime_data(dtype)[0] in ("Y", "M")


def numpy_cast(block: NDArray, target: np.dtype[Any]) -> NDArray:
    """A block as NumPy casts it."""
    return block.astype(target)
