"""Recognises NumPy's masked arrays without importing their module."""

from __future__ import annotations

import sys
from typing import Any


def is_masked_array(value: Any) -> bool:
    """Returns True for an array of numpy.ma.

    NumPy imports numpy.ma on first use. A task has no memory for the import. If the module is not
    imported, there is no masked array.
    """
    ma = sys.modules.get("numpy.ma")
    return ma is not None and isinstance(value, getattr(ma, "MaskedArray", ()))
