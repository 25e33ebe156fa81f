"""The catalogue of functions, read from a built library (include/cubed/catalogue.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

KINDS = (
    "NONE ARRAY ARRAYS BOOL INT FLOAT COMPLEX INTS LIST FLOATS STRING CHOICE DTYPE SLICE"
).split()
FLAGS = "REQUIRED POSITION_ONLY KEYWORD_ONLY VARIADIC AXIS ENGINE LIKE LABELS RULE GAPS".split()
MAX_RESULTS = 4


class _Value(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_int),
        ("n", ctypes.c_int),
        ("parts", ctypes.c_int64 * 2),
    )


class _Choice(ctypes.Structure):
    _fields_ = (("name", ctypes.c_char_p), ("number", ctypes.c_int))


class _Param(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("accepts", ctypes.c_uint),
        ("flags", ctypes.c_uint),
        ("fallback", _Value),
        ("least", ctypes.c_double),
        ("most", ctypes.c_double),
        ("choices", ctypes.POINTER(_Choice)),
        ("notes", ctypes.c_char_p),
    )


class _Function(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("category", ctypes.c_char_p),
        ("summary", ctypes.c_char_p),
        ("returns", ctypes.c_char_p),
        ("params", ctypes.POINTER(_Param)),
        ("nparams", ctypes.c_int),
        ("results", ctypes.c_char_p * MAX_RESULTS),
        ("nextra", ctypes.c_int),
        ("attrs", ctypes.c_int),
        ("cell_method", ctypes.c_char_p),
        ("first_operand", ctypes.c_int),
        ("moves", ctypes.c_bool),
        ("coords", ctypes.c_int),
        ("any_results", ctypes.c_bool),
        ("counts", ctypes.c_bool),
    )


class Param(NamedTuple):
    """A parameter."""

    name: str
    accepts: frozenset[str]
    flags: frozenset[str]
    default: str | None  #: as Python spells it; None: it is required
    choices: tuple[str, ...]
    notes: str


class Function(NamedTuple):
    """A row."""

    name: str
    category: str
    summary: str
    returns: str
    params: tuple[Param, ...]
    results: tuple[str, ...]
    any_results: bool
    counts: bool  #: the number of elements of its results is computed first


def _bits(word: int, names: list[str]) -> frozenset[str]:
    return frozenset(name for i, name in enumerate(names) if word >> i & 1)


def _choices(p: _Param) -> dict[str, int]:
    found: dict[str, int] = {}
    for i in range(1000 if p.choices else 0):
        if not p.choices[i].name:
            break
        found[p.choices[i].name.decode()] = p.choices[i].number
    return found


def _default(library: ctypes.CDLL, p: _Param) -> str | None:
    if "REQUIRED" in _bits(p.flags, FLAGS):
        return None
    if KINDS[p.fallback.kind] == "CHOICE":
        return next(repr(n) for n, i in _choices(p).items() if i == p.fallback.parts[0])
    text = ctypes.create_string_buffer(200)
    library.cubed_value_format(ctypes.byref(p.fallback), text, len(text))
    return text.value.decode()


def _param(library: ctypes.CDLL, p: _Param) -> Param:
    return Param(
        p.name.decode(),
        _bits(p.accepts, KINDS),
        _bits(p.flags, FLAGS),
        _default(library, p),
        tuple(_choices(p)),
        p.notes.decode(),
    )


def read(path: Path) -> Iterator[Function]:
    """The functions of a library, in the order of its catalogue."""
    library = ctypes.CDLL(str(path))
    library.cubed_function_next.restype = ctypes.POINTER(_Function)
    library.cubed_function_next.argtypes = (ctypes.POINTER(_Function),)
    library.cubed_value_format.restype = ctypes.c_size_t
    library.cubed_value_format.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t)
    at = library.cubed_function_next(None)
    while at:
        f = at.contents
        yield Function(
            f.name.decode(),
            f.category.decode(),
            f.summary.decode(),
            f.returns.decode(),
            tuple(_param(library, f.params[i]) for i in range(f.nparams)),
            tuple(name.decode() for name in f.results if name),
            f.any_results,
            f.counts,
        )
        at = library.cubed_function_next(at)
