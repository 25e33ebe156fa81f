"""Memory of variables with Python objects, which cannot be in Cubed arrays."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from cubed.base._bytes import format_bytes
from cubed.base._types import NDArray
from cubed.base._warnings import warn

#: Minimum number of bytes for a warning.
_SMALL = 2**20
#: Bytes of a reference and of the smallest string that is not empty.
_REFERENCE, _STRING = 8, 50


def held(a: NDArray) -> int:
    """Returns the bytes of an array of objects in memory, including the objects."""
    return a.size * _REFERENCE + sum(map(sys.getsizeof, a.flat))


def at_least(v: Any) -> int:
    """Returns a lower bound of the bytes of a variable's objects, without reading them."""
    return int(v.size) * (_REFERENCE + _STRING)


def warn_of_unread(variables: Mapping[Any, Any]) -> None:
    """Warns of variables that a backend reads as a whole, as objects, when their values are
    used."""
    large = {
        name: v
        for name, v in variables.items()
        if v.dtype.kind in "OT" and not isinstance(v._data, np.ndarray) and at_least(v) > _SMALL
    }
    if not large:
        return
    listed = ", ".join(f"{name} ({format_bytes(at_least(v))})" for name, v in large.items())
    # Strings of a fixed length become objects only if missing strings are replaced by NaN.
    fixed = [n for n, v in large.items() if np.dtype(v.encoding.get("dtype", "O")).kind in "SU"]
    raw = f", or keep strings lazy by mask_and_scale={dict.fromkeys(fixed, False)}" if fixed else ""
    warn(
        "variables of strings or other Python objects are not lazy Cubed arrays, and need at"
        f" least this memory once their values are used: {listed}. Plans do not include it: select"
        f" before you use them, leave them out by drop_variables{raw}"
    )
