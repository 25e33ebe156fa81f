"""Assigning to a part of an array."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.array._casts import cast_text
from cubed.array._indexing import leading_mask
from cubed.array._keys import engine_key, expand_key, is_mask
from cubed.array._neighbours import element, refuse_foreign
from cubed.array._operands import common_spec, core_of, to_numpy
from cubed.base._dtypes import kind_of, name_of
from cubed.base._types import NDArray
from cubed.base._warnings import casting, warn


def setitem(x: Array, key: Any, value: Any) -> Array:
    """Returns the result of the assignment x[key] = value, as a new array with the type and chunks
    of x."""
    entries = expand_key(x, key)
    spec = common_spec(x, value, *entries)
    v = _value(x, value)
    is_alone = len(entries) == 1 and (not isinstance(key, tuple) or len(key) == 1)
    if is_alone and len(v.shape) > 1 and is_mask(entries[0]) and entries[0].ndim == x.ndim:
        raise TypeError(f"a value of shape {v.shape} for a mask, expected at most one axis")
    if not any(isinstance(e, (np.ndarray, Array)) for e in entries):
        out = _core.setitem(x._x, tuple(entries), v, True)
    elif (mask := leading_mask(x, entries)) is not None and (
        mask.ndim == x.ndim > 0 or _is_of_rows(v, x.ndim - mask.ndim)
    ):
        out = _core.assign_where(x._x, core_of(mask), v)
    else:
        checked = not any(isinstance(e, Array) and not is_mask(e) for e in entries)
        out = _core.setitem(x._x, engine_key(x, entries), v, checked)
    return Array._new(out, spec)


# --- Values ---------------------------------------------------------------------------------------


def _value(x: Array, value: Any) -> _core.Array:
    """Casts the value to the type of x. A string is cast only to the same kind of strings."""
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
        return _core.call("astype", value._x, name_of(to))
    if to.kind in "SU" or value.dtype.kind in "SU":
        return cast_text(value, to)._x
    return _core.call("astype", value._x, name_of(to))


def _is_complex(value: Any) -> bool:
    return isinstance(value, complex) or getattr(getattr(value, "dtype", None), "kind", "") == "c"


def _converted(value: Any, to: np.dtype[Any]) -> NDArray:
    """Converts values in memory to an array, by NumPy's rules for scalars and sequences."""
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
    """Warns if floats that are assigned to integers are not finite. The check allocates no
    memory."""
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


def _is_of_rows(v: _core.Array, ndim: int) -> bool:
    """Whether a value is the same for all selected rows of a mask."""
    return all(n == 1 for n in v.shape[: max(0, len(v.shape) - ndim)])
