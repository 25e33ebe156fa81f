"""NumPy's types and the engine's names for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

DType: TypeAlias = np.dtype[Any]

_expected = "expected numbers, bool, dates, times, or text of a fixed length"

_names: dict[np.dtype[Any], str] = {}


def name_of(dtype: DTypeLike) -> str:
    """The engine's name of a type, such as ``"float64"`` or ``"datetime64[ns]"``."""
    d = np.dtype(dtype)
    name = _names.get(d)
    if name is None:
        if d.kind in "biufc" and d.itemsize <= 16:
            name = d.newbyteorder("=").name
        elif d.kind in "mM":
            name = str(d.newbyteorder("="))
        elif d.kind in "SU":
            name = d.kind + str(d.itemsize // (4 if d.kind == "U" else 1))
        else:
            raise TypeError(f"arrays of type {d} are not supported: {_expected}")
        _names[d] = name
    return name


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy type that the engine calls by this name."""
    if name == "bfloat16":
        raise TypeError("NumPy has no type bfloat16: cast it to float32 first")
    return np.dtype(name)
