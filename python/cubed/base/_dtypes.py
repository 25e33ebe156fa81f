"""NumPy types and the engine's names for them."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

DType: TypeAlias = np.dtype[Any]

_expected = "expected numbers, bool, dates, times, text of a fixed length, or records of these"

# Value of isbuiltin for types that packages add, such as 8-bit floats.
_OF_OTHERS = 2

_names: dict[np.dtype[Any], str] = {}


def name_of(dtype: DTypeLike) -> str:
    """Returns the engine's name of a type, such as ``"float64"`` or ``"datetime64[ns]"``.

    The name of a record type is the JSON list of its fields, without padding. All types are in this
    machine's byte order.
    """
    d = np.dtype(dtype)
    name = _names.get(d)
    if name is None:
        if d.kind == "V" and d == _bfloat16():
            name = "bfloat16"
        elif d.kind in "biufc" and d.itemsize <= 16 and d.isbuiltin != _OF_OTHERS:
            name = d.newbyteorder("=").name
        elif d.kind in "mM":
            name = str(d.newbyteorder("="))
        elif d.kind in "SU" and d.itemsize == 0:
            raise TypeError(
                f"the type of strings {d.str} has no length, expected one: '{d.kind}20' for"
                " strings of up to 20"
            )
        elif d.kind in "SU":
            name = d.kind + str(d.itemsize // (4 if d.kind == "U" else 1))
        elif d.names:
            import json  # lazy: slow import

            name = json.dumps(_fields_of(d), separators=(",", ":"), ensure_ascii=False)
        else:
            other = ": cast them first" if d.isbuiltin == _OF_OTHERS else ""
            raise TypeError(f"arrays of type {d} are not supported: {_expected}{other}")
        _names[d] = name
    return name


def dtype_of(name: str) -> np.dtype[Any]:
    """Returns the NumPy type for an engine name."""
    if name.startswith("["):
        import json  # lazy: slow import

        return _record_of(json.loads(name))
    if name != "bfloat16":
        return np.dtype(name)
    there = _bfloat16()
    if there is None:
        raise TypeError("NumPy's type bfloat16 needs the package ml_dtypes: install it")
    return there


def _fields_of(dtype: np.dtype[Any]) -> list[list[Any]]:
    """Returns the fields of a record type as the engine describes them."""
    out: list[list[Any]] = []
    for name in dtype.names or ():
        base = dtype[name]
        shape: tuple[int, ...] = ()
        if base.subdtype is not None:
            base, shape = base.subdtype
        if base.names:
            kind: Any = _fields_of(base)
        elif name_of(base) == "bfloat16":
            raise TypeError(f"field {name!r} is of type bfloat16, which records do not have")
        else:
            kind = base.newbyteorder("=").str
        out.append([name, kind, list(shape)] if shape else [name, kind])
    return out


def _record_of(fields: list[Any]) -> np.dtype[Any]:
    parts: list[Any] = []
    for name, kind, *shape in fields:
        base = np.dtype(kind) if isinstance(kind, str) else _record_of(kind)
        parts.append((name, base, tuple(shape[0])) if shape else (name, base))
    return np.dtype(parts)


def packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Returns a record type without padding, in native byte order; other types unchanged."""
    return dtype_of(name_of(dtype)) if dtype.names else dtype


def sized(dtype: DTypeLike, source: np.dtype[Any]) -> np.dtype[Any]:
    """Returns the type to which NumPy casts `source`.

    If `dtype` is a string type without a length, the result is a string type with a length.
    """
    d = np.dtype(dtype)
    if d.kind not in "SU" or d.itemsize:
        return d
    length = np.empty(0, source).astype(d).dtype
    return length if length.itemsize else shortest(d)


def shortest(dtype: DTypeLike) -> np.dtype[Any]:
    """Returns the type of an array that NumPy creates with `dtype`: strings without a length become
    strings of length 1.
    """
    d = np.dtype(dtype)
    return d if d.kind not in "SU" or d.itemsize else np.dtype(f"{d.kind}1")


def kind_of(dtype: np.dtype[Any]) -> str:
    """Returns ``dtype.kind``, but ``"f"`` for bfloat16, which NumPy calls void."""
    return "f" if dtype.kind == "V" and dtype == _bfloat16() else dtype.kind


@cache
def _bfloat16() -> DType | None:
    """Returns the bfloat16 type, which NumPy itself does not have; None without ml_dtypes."""
    if find_spec("ml_dtypes") is None:
        return None
    return np.dtype(import_module("ml_dtypes").bfloat16)
