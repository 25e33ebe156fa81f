"""Functions of data types."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import check_device, is_scalar, lazy, scalar_type
from cubed.base._dtypes import dtype_of, name_of
from cubed.base._types import DTypeLike

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type"]

_kinds = {
    "bool": "b",
    "signed integer": "i",
    "unsigned integer": "u",
    "integral": "iu",
    "real floating": "f",
    "complex floating": "c",
    "numeric": "iufc",
}


class FloatInfo(NamedTuple):
    """Limits of a floating type, as Python scalars."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: np.dtype[Any]


class IntInfo(NamedTuple):
    """Limits of an integer type."""

    bits: int
    max: int
    min: int
    dtype: np.dtype[Any]


def astype(x: Array, dtype: DTypeLike, /, *, copy: bool = True, device: str | None = None) -> Array:
    """The values in another type: floats to integers towards 0, anything to bool as ``!= 0``.

    Of x's shape. Lazy; TypeError for complex numbers to real ones.
    """
    check_device(device)
    x = lazy(x)
    to = np.dtype(dtype)
    if x.dtype.kind == "c" and to.kind in "iuf":
        raise TypeError(f"{x.dtype} is not cast to {to}: take real(x) or imag(x)")
    if not copy and to == x.dtype:
        return x
    return x.astype(to)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a type, or that of an array, is cast to another one by promotion.

    Computes nothing.
    """
    source = from_.dtype if isinstance(from_, Array) else np.dtype(from_)
    target = np.dtype(to)
    return promote(source, target) == target


def finfo(type: Any, /) -> FloatInfo:
    """Limits of a floating type; of a complex one, those of its parts.

    Computes nothing.
    """
    d = type.dtype if isinstance(type, Array) else np.dtype(type)
    if d.kind not in "fc":
        raise ValueError(f"{d} is no floating type")
    info = np.finfo(d)
    return FloatInfo(
        int(info.bits),
        float(info.eps),
        float(info.max),
        float(info.min),
        float(info.smallest_normal),
        np.dtype(info.dtype),
    )


def iinfo(type: Any, /) -> IntInfo:
    """Limits of an integer type.

    Computes nothing.
    """
    d = type.dtype if isinstance(type, Array) else np.dtype(type)
    if d.kind not in "iu":
        raise ValueError(f"{d} is no integer type")
    info = np.iinfo(d)
    return IntInfo(int(info.bits), int(info.max), int(info.min), d)


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Whether a type is of a kind, is another type, or any of a tuple of those.

    Computes nothing.
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in _kinds:
            raise ValueError(f"there is no kind {kind!r}, expected one of {', '.join(_kinds)}")
        return np.dtype(dtype).kind in _kinds[kind]
    return np.dtype(dtype) == np.dtype(kind)


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type that holds both."""
    if a.kind == b.kind and a.kind in "mM":  # the finer unit; NaT has none
        return np.promote_types(a, b)
    both = _core.result_type(name_of(a), name_of(b))
    if both is None:
        raise TypeError(f"{a} and {b} have no common type")
    return dtype_of(both)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """The type of an operation on these arrays, types and Python scalars.

    Computes nothing.
    """
    dtypes = []
    for a in arrays_and_dtypes:
        if not is_scalar(a):
            dtypes.append(a.dtype if isinstance(a, (Array, np.ndarray)) else np.dtype(a))
    if not dtypes:
        raise ValueError("at least one array or type is needed")
    out = dtypes[0]
    for d in dtypes[1:]:
        out = promote(out, d)
    for a in arrays_and_dtypes:
        if is_scalar(a):
            out = scalar_type(a, out)
    return out
