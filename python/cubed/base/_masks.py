"""NumPy's masked arrays, recognised without importing their module."""

from __future__ import annotations

import sys
from typing import Any


def is_masked_array(value: Any) -> bool:
    """Whether a value is an array of numpy.ma.

    NumPy imports that module when it is first used. A task has no memory for the import, and
    without it there is no masked array.
    """
    ma = sys.modules.get("numpy.ma")
    return ma is not None and isinstance(value, getattr(ma, "MaskedArray", ()))
