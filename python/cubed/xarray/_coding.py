"""Xarray's decoding of stored values as operations of the engine, which fuse with what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from xarray.coding import variables as coding

from cubed import array_api as xp
from cubed.array._array import Array


def decoded(func: Callable[..., Any], x: Array) -> Array | None:
    """func of x, if func is one of Xarray's decoders that the engine can do; else None.

    Values and types are those that the decoder has for NumPy arrays.
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


def _masked(x: Array, missing: Iterable[Any], value: Any, dtype: Any) -> Array | None:
    d = np.dtype(dtype)
    if d.kind == "O" and x.dtype.kind == "b":
        # Xarray makes objects True, False and NaN. Their values, sums and means are these floats'.
        d = np.dtype(np.float64)
    if d.kind not in "biufcmM":
        return None
    x = x.astype(d)
    mask = None
    for v in missing:
        is_v = x == np.asarray(v)
        mask = is_v if mask is None else mask | is_v
    return x if mask is None else xp.where(mask, np.asarray(value, dtype=d), x)


def _scaled(x: Array, scale_factor: Any, add_offset: Any, dtype: np.dtype[Any]) -> Array:
    # As assignments in place do, each step rounds to the type of the result.
    x = x.astype(dtype)
    if scale_factor is not None:
        x = (x * _operand(scale_factor)).astype(dtype)
    if add_offset is not None:
        x = (x + _operand(add_offset)).astype(dtype)
    return x


def _operand(value: Any) -> Any:
    """A number that has a type keeps it; a Python number takes that of the array."""
    return np.asarray(value) if isinstance(value, (np.generic, np.ndarray)) else value
