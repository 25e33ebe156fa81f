"""Xarray's decoding of stored values as operations of the engine, which fuse with later operations.

Xarray determines how values are packed. The library unpacks them, as for the command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from xarray.coding import variables as coding

from cubed import _core
from cubed.array._array import Array

#: A number for the library: its type, its value as an element, and whether it is converted to the
#: type of the array.
_Number = tuple[str, bytes, bool]


def decoded(func: Callable[..., Any], x: Array) -> Array | None:
    """Applies a decoder of Xarray if the engine supports it; otherwise returns None.

    Values and types are those of the decoder for NumPy arrays.
    """
    if not isinstance(func, partial) or func.args:
        return None
    given = func.keywords
    if func.func is np.asarray and set(given) == {"dtype"}:  # _Unsigned
        return x.astype(given["dtype"])
    if func.func is getattr(coding, "_apply_mask", None):
        return _masked(x, given["encoded_fill_values"], given["decoded_fill_value"], given["dtype"])
    if func.func is getattr(coding, "_scale_offset_decoding", None):
        return _scaled(x, given["scale_factor"], given["add_offset"], np.dtype(given["dtype"]))
    return None


def joined(x: Array) -> Array | None:
    """Joins characters along the last axis to strings; None if x has no characters."""
    if x.dtype != "S1" or x.ndim == 0 or x.shape[-1] == 0:
        return None
    return Array._new(_core.join_characters(x._x), x._spec)


def _masked(x: Array, missing: Iterable[Any], value: Any, dtype: Any) -> Array | None:
    d = np.dtype(dtype)
    if d.kind == "O" and x.dtype.kind == "b":
        # Xarray makes Python objects True, False and NaN. These floats have the same values, sums
        # and means.
        d = np.dtype(np.float64)
    numbers = [_number(v) for v in missing]
    if x.dtype.kind not in "biufc" or d.kind not in "iufc" or None in numbers:
        return None
    return _unpacked(x, d, tuple(n for n in numbers if n), value)


def _scaled(x: Array, scale_factor: Any, add_offset: Any, dtype: np.dtype[Any]) -> Array | None:
    given = (scale_factor, add_offset)
    scale, offset = (None if v is None else _number(v) for v in given)
    is_lost = any(v is not None and n is None for v, n in zip(given, (scale, offset), strict=True))
    if x.dtype.kind not in "iufc" or dtype.kind not in "iufc" or is_lost:
        return None
    return _unpacked(x, dtype, (), 0, scale, offset)


def _unpacked(
    x: Array,
    dtype: np.dtype[Any],
    missing: tuple[_Number, ...],
    value: Any,
    scale: _Number | None = None,
    offset: _Number | None = None,
) -> Array:
    fill = (dtype.name, np.asarray(value).astype(dtype).tobytes(), False)
    out = _core.unpack(x._x, x.dtype.name, missing, fill, scale, offset)
    return Array._new(out, x._spec)


def _number(value: Any) -> _Number | None:
    """Converts a number for the library. A NumPy number keeps its type; a Python number gets the
    type of the array."""
    element = np.asarray(value)
    if element.ndim > 0 or element.dtype.kind not in "biufc":
        return None
    weak = not isinstance(value, (np.generic, np.ndarray))
    return element.dtype.name, element.tobytes(), weak
