"""Casts from and to strings. Casts to Python objects are refused."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.base._dtypes import name_of
from cubed.base._types import NDArray


def cast_text(x: Array, dtype: np.dtype[Any]) -> Array:
    """Casts x if one of the two types is a string type, or `dtype` is object.

    The engine changes the length of strings, and casts them to bool. NumPy casts all other types,
    block by block, because the engine does not have NumPy's text formats of numbers and dates.

    Raises
    ------
    TypeError
        The unit of dates would depend on the values, or `dtype` is object.
    """
    if dtype.kind == x.dtype.kind or dtype.kind == "b":
        return x._like(_core.call("astype", x._x, name_of(dtype)))
    if dtype.kind == "O":
        raise TypeError(no_objects(x.dtype))
    if dtype.kind in "mM" and np.datetime_data(dtype)[0] == "generic":
        raise TypeError(
            f"astype: {dtype} of strings has no unit, expected one, such as '{dtype}[s]'"
        )
    made = math.prod(x.chunksize) * dtype.itemsize
    from cubed.array._calls import call_on_each  # lazy: slow to import

    return call_on_each("astype", partial(_cast, dtype), x, dtype, made)


def _cast(
    target: np.dtype[Any], blocks: Sequence[NDArray], index: tuple[int, ...]
) -> tuple[NDArray]:
    return (blocks[0].astype(target),)


def no_objects(dtype: np.dtype[Any]) -> str:
    """Returns the message for a cast to Python objects."""
    own = {"S": "b''", "U": "''", "b": "False"}.get(dtype.kind, "0")
    return (
        f"astype: {dtype} cannot become object, because Cubed has no arrays of Python's objects."
        " Xarray requests them if missing values (NaN) are combined with strings or bool, or"
        " strings with another type:"
        f" give a value of the array's own type, such as fill_value={own} or"
        f" x.where(condition, {own}), or load the array first"
    )
