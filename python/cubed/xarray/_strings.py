"""Strings in Xarray: extremes, and the accessor ``.str``, whose results have lengths that differ
from those of their arguments.

The engine's strings have a fixed length. Xarray calls a function for each string and determines the
length from the results. Here the length of a lazy result follows from the method and its arguments,
so that no string is truncated.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from inspect import signature
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np
from xarray import DataArray, apply_ufunc
from xarray.core.accessor_str import StringAccessor

import cubed
from cubed.array._array import Array
from cubed.base._dtypes import sized
from cubed.blocks._gufunc import CallMem
from cubed.xarray._hooks import Arguments

#: Function that returns the length of a method's strings from the length and kind of the array's
#: strings and the arguments.
Length: TypeAlias = Callable[[int, str, dict[str, Any]], "int | None"]

_NONE: Mapping[str, Any] = MappingProxyType({})
#: Bytes of one of Python's strings without its characters, and of the reference to it.
_OBJECT = 64
#: Bytes of the code that is called for each string, in addition to its objects.
_CODE = 2**20

#: Maximum number of characters that one character becomes, in all of Unicode; for normal forms see
#: annex 15 of Unicode.
_CASES = {"capitalize": 3, "casefold": 3, "lower": 2, "swapcase": 3, "title": 3, "upper": 3}
_NORMAL_FORMS = {"NFC": 3, "NFD": 4, "NFKC": 18, "NFKD": 18}
#: Encodings: bytes at the beginning, and maximum bytes of one character.
_ENCODED = {
    "ascii": (0, 1), "cp": (0, 2), "iso8859": (0, 1), "koi8": (0, 1), "utf-8": (3, 4),
    "utf-16": (2, 4), "utf-32": (4, 4),
}  # fmt: skip
#: Error handlers that replace a character by at most one character.
_SHORT_HANDLERS = ("strict", "ignore", "replace", "surrogateescape", "surrogatepass")


def extreme(theirs: Any, values: Any, axis: Any = None, skipna: Any = None, **kwargs: Any) -> Any:
    """Computes max, min, argmax and argmin of strings by the engine; strings are never missing."""
    if not isinstance(values, Array) or values.dtype.kind not in "SU" or axis == ():
        return NotImplemented
    return getattr(cubed, theirs.__name__)(values, axis=axis, **kwargs)


# --- The accessor ---------------------------------------------------------------------------------


class _Sized(StringAccessor[Any]):
    """An accessor whose methods return strings of at most a given length."""

    __slots__ = ("length",)
    length: int

    def __reduce__(self) -> Any:
        """Pickles only the type of the strings, because functions on blocks may refer to the
        accessor."""
        return _sized, (DataArray(np.empty((), self._obj.dtype)), self.length)


def _sized(obj: Any, length: int) -> _Sized:
    out = _Sized(obj)
    out.length = length
    return out


def method(theirs: Any, accessor: Any, *args: Any, **kwargs: Any) -> Any:
    """Replaces a method of ``.str`` that returns strings, with a function for their length."""
    if not _is_lazy(accessor._obj):
        return NotImplemented
    bound = signature(theirs).bind(accessor, *args, **kwargs)
    bound.apply_defaults()
    given = dict(bound.arguments)
    del given["self"]
    length = LENGTHS[theirs.__name__](_length(accessor._obj.dtype), accessor._obj.dtype.kind, given)
    if length is None:
        raise TypeError(_unbounded(f"str.{theirs.__name__}"))
    return Arguments(_sized(accessor._obj, max(1, length)), *args, **kwargs)


def apply(
    theirs: Any,
    accessor: Any,
    *,
    func: Callable[..., Any],
    dtype: Any = None,
    output_core_dims: Any = ((),),
    output_sizes: Any = None,
    func_args: tuple[Any, ...] = (),
    func_kwargs: Mapping[str, Any] = _NONE,
) -> Any:
    """Replaces the code that all methods of ``.str`` use to call a function for each string."""
    obj = accessor._obj
    if not _is_lazy(obj):
        return NotImplemented
    to = obj.dtype if dtype is None else np.dtype(dtype)
    (core,) = output_core_dims
    if to.kind in "SUO":
        # Xarray first makes objects of strings in new dimensions, because NumPy would truncate
        # them.
        kind = obj.dtype.kind if to.kind == "O" else to.kind
        if not isinstance(accessor, _Sized) or (to.kind == "O" and not core):
            raise TypeError(_unbounded("this method of .str"))
        to = np.dtype(f"{kind}{accessor.length}")
    sizes = dict(output_sizes or {})
    # Some Xarray functions return other extents than Xarray declares: split returns one more part,
    # and extractall returns the two extents in reverse order.
    if func.__name__ == "_dosplit":
        sizes = {core[0]: func.__defaults__[0] + 1}  # type: ignore[index]
    elif func.__name__ == "_get_res":
        sizes = dict(zip(core, (sizes[d] for d in reversed(core)), strict=True))
    arrays = [a for a in func_args if _is_array(a)]
    given = tuple(None if _is_array(a) else (_plain(a),) for a in func_args)
    call = _WithValues(func, given, tuple(sizes[d] for d in core))
    each = _bytes_of_call([obj, *arrays], to, math.prod(call.core))
    return apply_ufunc(
        call, obj, *arrays, vectorize=True, dask="parallelized", output_dtypes=[to],
        output_core_dims=output_core_dims, kwargs=func_kwargs.get("kwargs"),
        dask_gufunc_kwargs={
            "output_sizes": sizes, "extra_projected_mem": CallMem(0, _CODE, each),
        },
    )  # fmt: skip


@dataclass(frozen=True)
class _WithValues:
    """Calls a function for each string. Some of its other arguments have one value for all
    strings."""

    function: Callable[..., Any]
    #: Arguments of the function after the string: a value in a tuple, or None for an element of the
    #: next array.
    given: tuple[tuple[Any] | None, ...]
    #: Extents of new dimensions. Without new dimensions, functions get Python scalars, as in
    #: Xarray.
    core: tuple[int, ...]

    def __call__(self, *elements: Any, **kwargs: Any) -> Any:
        rest = iter(elements) if self.core else map(_plain, elements)
        text = next(rest)
        out = self.function(text, *(g[0] if g else next(rest) for g in self.given), **kwargs)
        # For a string without a match, extract returns one empty string for all groups.
        return np.broadcast_to(out, self.core) if self.core else out


def _plain(value: Any) -> Any:
    """Converts a NumPy scalar, or an object of Xarray without dimensions, to a Python scalar."""
    return value.item() if hasattr(value, "dtype") else value


def _bytes_of_call(args: list[Any], to: np.dtype[Any], parts: int) -> int:
    """Returns bytes for each element: Python objects of arguments and results, and the results."""
    objects = sum(2 * (_OBJECT + a.dtype.itemsize) for a in args)
    return objects + parts * (_OBJECT + 2 * to.itemsize)


def _is_lazy(value: Any) -> bool:
    return isinstance(getattr(getattr(value, "variable", None), "_data", None), Array)


def _is_array(value: Any) -> bool:
    return _is_lazy(value) or np.ndim(value) > 0


def _unbounded(what: str) -> str:
    return (
        f"{what}: the length of its strings follows from their values alone, but lazy arrays have"
        " strings of a fixed length: call xarray.apply_ufunc(function, x, vectorize=True,"
        " dask='parallelized', output_dtypes=['U40']) with a length that is enough, or load the"
        " array first"
    )


# --- Lengths --------------------------------------------------------------------------------------


def _length(dtype: np.dtype[Any]) -> int:
    return dtype.itemsize // (4 if dtype.kind == "U" else 1)


def _longest(value: Any, kind: str) -> int:
    """Returns the length of a value as a string; for an array, of its longest string."""
    if not hasattr(value, "dtype"):
        return len(value if isinstance(value, (str, bytes)) else str(value))
    return _length(
        sized(kind, value.dtype) if value.dtype.kind != "O" else np.asarray(value, kind).dtype
    )


def _largest(value: Any) -> int | None:
    """Returns a number, or the largest number of an array in memory."""
    if _is_lazy(value):
        return None
    return int(np.max(value, initial=0))


def _same(n: int, kind: str, given: dict[str, Any]) -> int:
    return n


def _by_case(name: str) -> Length:
    return lambda n, kind, given: n * (_CASES[name] if kind == "U" else 1)


def _cat(n: int, kind: str, given: dict[str, Any]) -> int:
    others = given["others"]
    return n + sum(_longest(o, kind) for o in others) + len(others) * _longest(given["sep"], kind)


def _padded(n: int, kind: str, given: dict[str, Any]) -> int | None:
    width = _largest(given["width"])
    return None if width is None else max(n, width)


def _repeated(n: int, kind: str, given: dict[str, Any]) -> int | None:
    times = _largest(given["repeats"])
    return None if times is None else n * times


def _slice_replaced(n: int, kind: str, given: dict[str, Any]) -> int:
    return n + _longest(given["repl"], kind)


def _replaced(n: int, kind: str, given: dict[str, Any]) -> int | None:
    pat, repl = given["pat"], given["repl"]
    if callable(repl) or getattr(repl, "dtype", np.dtype("U")).kind == "O":
        return None
    by = _longest(repl, kind)
    plain = isinstance(pat, (str, bytes)) and len(pat) > 0
    if plain and not given["regex"]:
        return n + n // len(pat) * max(0, by - len(pat))
    if not given["regex"]:
        return n + (n + 1) * by
    # A template with groups of the match. A group is a part of the matched string, except if the
    # pattern contains a lookaround.
    if not isinstance(repl, (str, bytes)):
        return None
    slash, around = ("\\", "(?") if isinstance(repl, str) else (b"\\", b"(?")
    groups = repl.count(slash)  # type: ignore[arg-type]
    if plain and re.escape(pat) == pat and not groups:
        return n + n // len(pat) * max(0, by - len(pat))
    pattern = getattr(pat, "pattern", pat)
    if groups and (not isinstance(pattern, (str, bytes)) or around in pattern):  # type: ignore[operator]
        return None
    return n + (n + 1) * by + groups * n


def _translated(n: int, kind: str, given: dict[str, Any]) -> int | None:
    table = given["table"]
    if kind == "S":
        return n
    if not isinstance(table, Mapping) or hasattr(table, "__missing__"):
        return None
    return n * max([1, *(len(v) for v in table.values() if isinstance(v, str))])


def _normalized(n: int, kind: str, given: dict[str, Any]) -> int | None:
    times = _NORMAL_FORMS.get(given["form"])
    return None if times is None else n * times


def _got(n: int, kind: str, given: dict[str, Any]) -> int:
    return max(1, _longest(given["default"], kind))


def _encoded(n: int, kind: str, given: dict[str, Any]) -> int | None:
    name = codecs.lookup(given["encoding"]).name
    found = next((v for k, v in _ENCODED.items() if name.startswith(k)), None)
    if found is None or given["errors"] not in _SHORT_HANDLERS:
        return None
    return found[0] + found[1] * n


def _decoded(n: int, kind: str, given: dict[str, Any]) -> int | None:
    return n if given["errors"] in _SHORT_HANDLERS else None


#: For methods of ``.str`` that return strings: a function that returns the maximum length of these
#: strings from the length and kind of the array's strings and the arguments; None if the length
#: depends on values. Methods that return strings and are not in this table are refused.
LENGTHS: dict[str, Length] = {
    **{name: _by_case(name) for name in _CASES},
    **dict.fromkeys(("center", "ljust", "pad", "rjust", "zfill"), _padded),
    **dict.fromkeys(("extract", "extractall", "lstrip", "partition", "rpartition"), _same),
    **dict.fromkeys(("rsplit", "rstrip", "slice", "split", "strip"), _same),
    "cat": _cat,
    "decode": _decoded,
    "encode": _encoded,
    "get": _got,
    "normalize": _normalized,
    "repeat": _repeated,
    "replace": _replaced,
    "slice_replace": _slice_replaced,
    "translate": _translated,
}
