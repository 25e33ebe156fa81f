"""Dates and times: arithmetic on the integers that they are, where the least one is NaT."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed import _core
from cubed.array import _above
from cubed.array._array import Array
from cubed.array._operands import COMPARISONS, common_spec, lazy, to_numpy
from cubed.base._dtypes import name_of
from cubed.base._types import NDArray

NAT = np.iinfo(np.int64).min


def operate(name: str, left: Any, right: Any) -> Array:
    """A binary operation of which an operand is of dates or times, with NumPy's rules."""
    spec = common_spec(left, right)
    a, b = _lazy(left), _lazy(right)
    wanted = _result_type(name, a.dtype, b.dtype)
    if a.dtype.kind in "mM" and b.dtype.kind in "mM":
        # Months and years have no common unit with days but in dates.
        same = a.dtype.kind == b.dtype.kind
        unit = _as_difference(np.promote_types(a.dtype, b.dtype) if same else wanted)
        ints = tuple(_in_unit(v, unit) for v in (a, b))
    else:
        ints = tuple(integers(v) if v.dtype.kind in "mM" else v for v in (a, b))
    missing = _either(*(is_nat(v) for v in (a, b) if v.dtype.kind in "mM"))
    x, y = ints
    if name in COMPARISONS:
        known = ~missing if name != "not_equal" else missing
        out = _two(name, x, y)
        out = out | known if name == "not_equal" else out & known
    elif wanted.kind in "mM":
        values = divided(x, y) if name in ("divide", "floor_divide") else _two(name, x, y)
        if name in ("divide", "floor_divide", "remainder"):
            missing = missing | _two("equal", y, _lazy(y.dtype.type(0)))
        if values.dtype.kind == "f":
            missing = missing | _one("isnan", values)
        out = choose(missing, NAT, values.astype(np.int64)).astype(wanted)
    elif wanted.kind == "f":
        out = choose(missing, float("nan"), _two(name, x.astype(float), y.astype(float)))
    else:
        out = choose(missing, 0, _two(name, x, y)).astype(wanted)
    return Array._new(out._x, spec)


def is_nat(x: Array) -> Array:
    """Where x is NaT."""
    return _two("equal", integers(x), _lazy(np.int64(NAT)))


def cast(x: Array, dtype: np.dtype[Any]) -> Array:
    """x as another type, where x or that is of dates or times."""
    if x.dtype == dtype:
        return x.copy()
    if x.dtype.kind == dtype.kind:
        if _is_calendar(x.dtype) != _is_calendar(dtype):
            return _above.map_blocks(numpy_cast, x, dtype=dtype, target=dtype)
        return _scaled(x, dtype)
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


def unary(name: str, x: Array) -> Array:
    """abs, negative and positive: integers wrap, so that NaT stays what it is."""
    if x.dtype.kind == "M" or name not in ("abs", "negative", "positive"):
        raise TypeError(f"{name} is not defined for {x.dtype}")
    return _one(name, integers(x)).astype(x.dtype)


def ordered(x: Array, largest: bool) -> Array:
    """Integers whose first largest (least) element is at the first NaT, or where x has its own."""
    ints = integers(x)
    return choose(is_nat(x), np.iinfo(np.int64).max, ints) if largest else ints


def from_ordered(ints: Array, dtype: np.dtype[Any]) -> Array:
    """The inverse of :func:`ordered` with NaT the largest."""
    last = _lazy(np.int64(np.iinfo(np.int64).max))
    return choose(_two("equal", ints, last), NAT, ints).astype(dtype)


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


def difference(x: Array, axis: int, n: int) -> Array:
    """The n-th differences of neighbours along an axis."""
    for _ in range(n):
        before = (slice(None),) * axis
        x = x[(*before, slice(1, None))] - x[(*before, slice(0, -1))]
    return x


def where(condition: Any, left: Any, right: Any) -> Array:
    """Elements of one or the other, of dates or times."""
    a, b = (_lazy(v) for v in (left, right))
    dtype = np.promote_types(a.dtype, b.dtype)
    ints = [integers(cast(v, dtype)) for v in (a, b)]
    out = choose(condition, *ints).astype(dtype)
    return Array._new(out._x, common_spec(condition, left, right))


# --- Parts ----------------------------------------------------------------------------------------


def _lazy(value: Any) -> Array:
    return lazy(value if isinstance(value, Array) else to_numpy(value))


def integers(x: Array) -> Array:
    return x._like(_core.astype(x._x, "int64"))


def _one(name: str, x: Array) -> Array:
    return x._like(_core.elementwise(name, x._x))


def _two(name: str, x: Array, y: Array) -> Array:
    return Array._new(_core.elementwise(name, x._x, y._x), common_spec(x, y))


def divided(x: Array, y: Array) -> Array:
    """Towards 0, as NumPy divides differences of times by numbers."""
    if y.dtype.kind == "f":
        return _two("divide", x.astype(float), y)
    q = _two("floor_divide", x, y)
    is_less = _two("less", q, _lazy(np.int64(0))) & _two("not_equal", _two("multiply", q, y), x)
    return _two("add", q, is_less.astype(np.int64))


def choose(condition: Any, left: Any, right: Any) -> Array:
    return _above.array_api.where(condition, left, right)


def _either(first: Array, *more: Array) -> Array:
    for m in more:
        first = first | m
    return first


def _as_difference(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of differences of dates of a type."""
    unit, count = np.datetime_data(dtype)
    return np.dtype(f"m8[{count}{unit}]")


def _is_calendar(dtype: np.dtype[Any]) -> bool:
    return np.datetime_data(dtype)[0] in ("Y", "M")


def _result_type(name: str, a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type that NumPy gives; TypeError where it has none."""
    names = {"divide": "true_divide", "remainder": "remainder"}
    ufunc = getattr(np, names.get(name, name), None)
    if ufunc is None:
        raise TypeError(f"{name} is not defined for {a} and {b}")
    try:
        return ufunc(np.ones(1, a), np.ones(1, b)).dtype
    except TypeError as e:
        raise TypeError(f"{name} is not defined for {a} and {b}") from e


def _in_unit(x: Array, unit: np.dtype[Any]) -> Array:
    kind = x.dtype.kind
    return integers(cast(x, np.dtype(unit.str.replace("m8", f"{kind}8"))))


def _scaled(x: Array, dtype: np.dtype[Any]) -> Array:
    """Another unit, of those that are numbers of seconds (or of months): floors."""
    before, after = _as_difference(x.dtype), _as_difference(dtype)
    ratio = np.ones(1, before)[0] / np.ones(1, after)[0]
    ints = integers(x)
    if ratio >= 1:
        changed = _two("multiply", ints, _lazy(np.int64(round(ratio))))
    else:
        changed = _two("floor_divide", ints, _lazy(np.int64(round(1 / ratio))))
    return choose(is_nat(x), NAT, changed).astype(dtype)


def numpy_cast(block: NDArray, target: np.dtype[Any]) -> NDArray:
    """A block as NumPy casts it."""
    return block.astype(target)
