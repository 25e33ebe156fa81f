"""Emits warnings at the line of a user's program."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from functools import cache
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

#: Packages whose frames may be between the user's line and the cause of a warning.
_PACKAGES = ("cubed", "xarray", "flox", "numpy")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warns at the innermost line outside of the package and of packages that call it."""
    frame: FrameType | None = sys._getframe(1)
    level = 2  # the caller of this function
    while frame is not None and _is_between(frame.f_code.co_filename):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextlib.contextmanager
def casting() -> Iterator[None]:
    """Reports NumPy's warnings about overflow and invalid values in a cast, at the line of the
    user's program."""
    import numpy as np  # lazy: diagnostics need no NumPy

    found: dict[str, None] = {}
    asked = {k: "call" for k in ("over", "invalid") if np.geterr()[k] == "warn"}
    with np.errstate(call=lambda kind, _: found.setdefault(kind), **asked):  # type: ignore[arg-type]
        yield
    for kind in found:
        warn(f"{kind} encountered in cast", RuntimeWarning)


def warn_of_lost_parts(from_: np.dtype[Any], to: np.dtype[Any]) -> None:
    """Emits NumPy's warning for a cast of complex numbers to real ones."""
    import numpy as np  # lazy: diagnostics need no NumPy

    if from_.kind == "c" and to.kind not in "cb":
        warn(
            "Casting complex values to real discards the imaginary part",
            np.exceptions.ComplexWarning,
        )


@cache
def _is_between(filename: str) -> bool:
    library = _folder(os.__file__)
    if filename.startswith(("<frozen ", library)) and "-packages/" not in filename:
        return True
    files = (getattr(sys.modules.get(p), "__file__", None) for p in _PACKAGES)
    return filename.startswith(tuple(_folder(f) for f in files if f))


def _folder(file: str) -> str:
    """Returns the folder of a file, with the slash; pathlib is slow to import."""
    return "".join(file.rpartition("/")[:2])
