"""Assigning to a part of an array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.array._casts import cast_text
from cubed.array._indexing import leading_mask
from cubed.array._keys import Axes, expand_key, is_mask, selection
from cubed.array._neighbours import element, refuse_foreign
from cubed.array._operands import common_spec, core_of, to_numpy
from cubed.base._dtypes import kind_of, name_of
from cubed.base._types import NDArray
from cubed.base._warnings import casting, warn


def setitem(x: Array, key: Any, value: Any) -> Array:
    """x with x[key] = value, as a new array of the same type and chunks."""
    entries = expand_key(x, key)
    spec = common_spec(x, value, *entries)
    v = _value(x, value)
    is_alone = len(entries) == 1 and (not isinstance(key, tuple) or len(key) == 1)
    if is_alone and len(v.shape) > 1 and is_mask(entries[0]) and entries[0].ndim == x.ndim:
        raise TypeError(f"a value of shape {v.shape} for a mask: expected one dimension")
    if not any(isinstance(e, (np.ndarray, Array)) for e in entries):
        out = _set_part(x._x, [e for e in entries if e is not Ellipsis], v)
    elif (mask := leading_mask(x, entries)) is not None and (
        mask.ndim == x.ndim > 0 or _is_of_rows(v, x.ndim - mask.ndim)
    ):
        out = _set_masked(x._x, core_of(mask), v)
    else:
        out = _set_positions(x, entries, v)
    return Array._new(out, spec)


# --- Values ---------------------------------------------------------------------------------------


def _value(x: Array, value: Any) -> _core.Array:
    """The value to assign, in x's type, or as text in its kind of text."""
    to = x.dtype
    if kind_of(to) in "biuf" and _is_complex(value):
        raise TypeError(f"{value!r} cannot be assigned to elements of {to}: it is complex")
    if not isinstance(value, Array):
        given = _converted(value, to)
        if given.ndim == 0:
            return _constant(given, to)
        if to.kind in "iu":
            _warn_of_lost(given, to)
        value = Array._new(core_of(given, made=given is not value), None)
    if value.dtype == to or value.dtype.kind == to.kind in "SU":
        return value._x
    if "m" in (value.dtype.kind, to.kind) or "M" in (value.dtype.kind, to.kind):
        if value.dtype.kind not in "biu" + to.kind:
            raise TypeError(f"values of type {value.dtype} cannot be assigned to elements of {to}")
        return _core.astype(value._x, name_of(to))
    if to.kind in "SU" or value.dtype.kind in "SU":
        return cast_text(value, to)._x
    return _core.astype(value._x, name_of(to))


def _is_complex(value: Any) -> bool:
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c"


def _converted(value: Any, to: np.dtype[Any]) -> NDArray:
    """What is in memory as an array; scalars and sequences as NumPy converts them."""
    if isinstance(value, np.ndarray):
        return to_numpy(value)
    refuse_foreign(value)
    out = np.empty(np.shape(value), to)
    try:
        with casting():
            out[...] = element(value)
    except UnicodeError:
        raise
    except (OverflowError, TypeError, ValueError) as e:
        raise type(e)(f"{value!r} cannot be assigned to elements of {to}: {e}") from e
    return out


def _warn_of_lost(values: NDArray, to: np.dtype[Any]) -> None:
    """A RuntimeWarning if floats that integers are assigned are none, without memory for it."""
    if kind_of(values.dtype) != "f" or not values.size:
        return
    with np.errstate(invalid="ignore"):
        finite = math.isfinite(values.min()) and math.isfinite(values.max())
    if not finite:
        text = f"values that are not finite are assigned to elements of {to}"
        warn(text, RuntimeWarning)


def _constant(value: NDArray, to: np.dtype[Any]) -> _core.Array:
    with casting():
        number = value.astype(to)
    if to.kind in "mMSU":
        return core_of(number)
    return _core.full(name_of(to), (), None, number.item())


def _aligned(v: _core.Array, full: Axes) -> _core.Array:
    """The value with as many axes as what it is assigned to; ValueError if it does not fit."""
    extra = len(v.shape) - len(full)
    fits = all(n == 1 for n in v.shape[: max(0, extra)])
    shape = (*[1] * max(0, -extra), *v.shape[max(0, extra) :])
    if not fits or any(n not in (1, m) for n, m in zip(shape, full, strict=True)):
        raise ValueError(f"a value of shape {v.shape} does not fit into {full}")
    if extra > 0:
        return _core.call("squeeze", v, range(extra))
    for _ in range(-extra):
        v = _core.call("expand_dims", v, 0)
    return v


# --- Parts by slices ------------------------------------------------------------------------------


def _set_part(x: _core.Array, entries: list[Any], v: _core.Array) -> _core.Array:
    """x[entries] = v for integers, slices and None."""
    key = tuple(e for e in entries if e is not None)
    lengths = iter(_core.slice(x, key).shape)
    kept = [e for e in entries if not isinstance(e, int)]
    v = _aligned(v, tuple(1 if e is None else next(lengths) for e in kept))
    return _core.assign(
        x, key, _core.call("squeeze", v, [d for d, e in enumerate(kept) if e is None])
    )


# --- Masks and positions --------------------------------------------------------------------------


def _is_of_rows(v: _core.Array, ndim: int) -> bool:
    """Whether all that a mask picks, of so many axes each, gets the same of a value."""
    return all(n == 1 for n in v.shape[: max(0, len(v.shape) - ndim)])


def _set_masked(x: _core.Array, mask: _core.Array, v: _core.Array) -> _core.Array:
    """x[mask] = v for a mask of the first axes."""
    rest = x.shape[len(mask.shape) :]
    if not rest and math.prod(v.shape) != 1:
        return _core.call("scatter_mask", x, mask, _aligned(v, (math.prod(v.shape),)))
    v = _aligned(v, rest)
    for _ in rest:
        mask = _core.call("expand_dims", mask, len(mask.shape))
    return _core.call("replace", x, mask, v)


def _set_positions(x: Array, entries: list[Any], v: _core.Array) -> _core.Array:
    """x[entries] = v where some are arrays: masks are counted now, others checked by the run."""
    chosen = selection(x, entries)
    part = chosen.part(x._x)
    rest = [n for n, p in zip(part.shape, chosen.at, strict=True) if p is None]
    v = _aligned(v, (*rest[: chosen.place], *chosen.common, *rest[chosen.place :]))
    order = chosen.order()
    if order is not None:
        v = _core.call("transpose", v, np.argsort(order).tolist())
    part = _core.call("scatter", part, v, chosen.at)
    part = _core.call("squeeze", part, chosen.new)
    if 0 in part.shape and any(isinstance(e, Array) and not is_mask(e) for e in entries):
        # Nothing is assigned, but a run must check the positions: make x depend on them.
        checked = _core.call("all", _core.astype(part, "bool"))
        return _core.call(
            "require", x._x, _core.call("broadcast_to", checked, x.shape), "positions in the array"
        )
    return _set_part(x._x, list(chosen.basic), part)
