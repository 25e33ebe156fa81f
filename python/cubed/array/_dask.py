"""Errors for lazy arrays that a program passes to functions of dask.array.

Dask treats unknown arrays as arrays in memory: blocks of the result would be lazy arrays, which
Dask neither computes nor counts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

#: Functions of dask.array that create an array. Functions of the same names in this package do not
#: create Dask arrays.
_CONVERSIONS = frozenset(("array", "asanyarray", "asarray", "from_array"))


def refusal() -> str | None:
    """If the caller is a function of dask.array, returns a message that names it and its
    replacement; otherwise None."""
    function = wrapped = None  # the functions of dask.array.fft are closures over NumPy's
    for frame in _callers(sys._getframe(2)):
        module = frame.f_globals.get("__name__", "")
        if module.partition(".")[0] != "dask":
            break
        if module.startswith("dask.array"):  # the outermost function: the program called it
            wrapped = frame.f_locals.get("fft_func", wrapped)
            function = module, getattr(wrapped, "__name__", frame.f_code.co_name)
    if function is None:
        return None
    module, name = function
    # Functions are public in dask.array, or in modules such as dask.array.fft.
    part = module.removeprefix("dask.array").strip(".")
    home = part if part in ("fft", "linalg", "ma", "random") else ""
    theirs = ".".join(filter(None, ("dask.array", home, name)))
    ours = None if name in _CONVERSIONS else _ours(home, name)
    instead = f"call {ours} instead, or " if ours else ""
    return (
        f"{theirs} was handed a Cubed array, expected one of Dask or NumPy: {instead}hand it"
        " x.compute(), which is in memory"
    )


class NamedType(type):
    """The metaclass of lazy arrays, which detects when Dask rejects one.

    ``dask.array.map_overlap`` accesses only the name of the type of an array that it refuses, for
    its error message.
    """

    @property
    def __name__(cls) -> str:  # type: ignore[override]
        """Returns the name; in functions of dask.array raises TypeError with the function to
        call."""
        caller = sys._getframe(1).f_globals.get("__name__", "")
        if caller.startswith("dask.array"):
            message = refusal()
            if message is not None:
                raise TypeError(message)
        return str(super().__name__)


def _callers(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _ours(home: str, name: str) -> str | None:
    """Returns the function of this package that has the name, or None."""
    found: Any = sys.modules["cubed"]
    for part in filter(None, (home, name)):
        found = getattr(found, part, None)
    return None if found is None else ".".join(filter(None, ("cubed", home, name)))
