"""NumPy's functions by name: the function of the package that each one calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cubed import array_api as xp
from cubed.array._array import Array
from cubed.blocks._apply import apply_along_axis

#: NumPy's names that the namespace lacks, and the names of these functions in the namespace.
_NAMES = {"amax": "max", "amin": "min"}

#: Modules of the namespace for NumPy's other modules.
_MODULES = {
    "numpy": "",
    "numpy.linalg": "linalg",
    "numpy.fft": "fft",
    "numpy.lib.stride_tricks": "lib.stride_tricks",
}

#: Functions for which methods of arrays have NumPy's parameters; the standard's functions do not.
_METHODS = ("round", "squeeze", "take")


def ours(name: str, module: str = "numpy") -> Callable[..., Any] | None:
    if module not in _MODULES:
        return None
    if module != "numpy":
        place: Any = xp
        for part in _MODULES[module].split("."):
            place = getattr(place, part)
        return getattr(place, name, None)
    if name == "apply_along_axis":  # the standard's namespace lacks it
        return apply_along_axis
    if name in _METHODS:
        return getattr(Array, name)
    name = _NAMES.get(name, name)
    found = getattr(xp, name, None)
    return found if callable(found) else None
