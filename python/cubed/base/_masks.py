"""Recognises NumPy's masked arrays without importing their module."""

from __future__ import annotations

import sys
from typing import Any


def is_masked_array(value: Any) -> bool:
    """Returns True for an array of numpy.ma.

    Does not import numpy.ma, because a task has no memory for the import. As long as the module is
    not imported, there are no masked arrays.
    """
    ma = sys.modules.get("numpy.ma")
    return ma is not None and isinstance(value, getattr(ma, "MaskedArray", ()))
