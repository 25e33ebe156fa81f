"""Functions of data types."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import check_device, is_scalar, lazy, promote, scalar_type
from cubed.base._dtypes import kind_of, sized
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
    """Casts the values to another type: floats to integers towards 0, numbers to bool by ``!= 0``.

    Parameters
    ----------
    x : Array
        Input array.
    dtype : dtype
        Type of the result.
    copy : bool or None, default True
        Whether to copy memory; False: an error if a copy is necessary.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.

    Returns
    -------
    Array
        Same shape as `x`. Lazy.

    Raises
    ------
    TypeError
        If complex numbers would be cast to real numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.astype(cubed.asarray([1.9, -1.9]), int).compute()
    array([ 1, -1])
    """
    check_device(device)
    x = lazy(x)
    to = sized(dtype, x.dtype)
    if x.dtype.kind == "c" and kind_of(to) in "iuf":
        raise TypeError(f"{x.dtype} is not cast to {to}: take real(x) or imag(x)")
    if not copy and to == x.dtype:
        return x
    return x.astype(to)


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether a type, or the type of an array, can be cast to another type by promotion rules.

    Computes nothing.

    Parameters
    ----------
    from_ : dtype or Array
        The type to cast, or an array of it.
    to : dtype
        The type of the result.

    Returns
    -------
    bool
        True if the cast is allowed.

    Examples
    --------
    >>> import cubed
    >>> cubed.can_cast(cubed.int32, cubed.int64)
    True
    """
    source = from_.dtype if isinstance(from_, Array) else np.dtype(from_)
    target = np.dtype(to)
    return promote(source, target) == target


def finfo(type: Any, /) -> FloatInfo:
    """Returns limits of a floating-point type; for a complex type, the limits of its parts.

    Computes nothing.

    Parameters
    ----------
    type : dtype or Array
        The element type, or an array of it.

    Returns
    -------
    FloatInfo
        With ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal`` and ``dtype``. Computes
        nothing.

    Examples
    --------
    >>> import cubed
    >>> cubed.finfo(cubed.float32).bits
    32
    """
    d = type.dtype if isinstance(type, Array) else np.dtype(type)
    if kind_of(d) not in "fc":
        raise ValueError(f"{d} is not a floating-point type")
    # NumPy's finfo does not support types of other packages.
    info = np.finfo(d) if d.kind in "fc" else import_module("ml_dtypes").finfo(d)
    eps, most, least, normal = map(float, (info.eps, info.max, info.min, info.smallest_normal))
    return FloatInfo(int(info.bits), eps, most, least, normal, np.dtype(info.dtype))


def iinfo(type: Any, /) -> IntInfo:
    """Returns limits of an integer type.

    Computes nothing.

    Parameters
    ----------
    type : dtype or Array
        The element type, or an array of it.

    Returns
    -------
    IntInfo
        With ``bits``, ``max``, ``min`` and ``dtype``. Computes nothing.

    Examples
    --------
    >>> import cubed
    >>> cubed.iinfo(cubed.int16).max
    32767
    """
    d = type.dtype if isinstance(type, Array) else np.dtype(type)
    if d.kind not in "iu":
        raise ValueError(f"{d} is not an integer type")
    info = np.iinfo(d)
    return IntInfo(int(info.bits), int(info.max), int(info.min), d)


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Whether a type is of a kind, equals another type, or matches one entry of a tuple of these.

    Computes nothing.

    Parameters
    ----------
    dtype : dtype
        The element type.
    kind : str, dtype or tuple
        A kind with the standard's name, a type, or a tuple of these.

    Returns
    -------
    bool
        True if the type matches.

    Examples
    --------
    >>> import cubed
    >>> cubed.isdtype(cubed.float32, "real floating")
    True
    """
    if isinstance(kind, tuple):
        return any(isdtype(dtype, k) for k in kind)
    if isinstance(kind, str):
        if kind not in _kinds:
            raise ValueError(f"there is no kind {kind!r}, expected one of {', '.join(_kinds)}")
        return kind_of(np.dtype(dtype)) in _kinds[kind]
    return np.dtype(dtype) == np.dtype(kind)


def result_type(*arrays_and_dtypes: Any) -> np.dtype[Any]:
    """Returns the promoted type of arrays, types and Python scalars.

    Computes nothing.

    Parameters
    ----------
    *arrays_and_dtypes : Array, dtype or scalar
        The operands to promote.

    Returns
    -------
    dtype
        The promoted type.

    Examples
    --------
    >>> import cubed
    >>> cubed.result_type(cubed.int32, cubed.float32)
    dtype('float64')
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
