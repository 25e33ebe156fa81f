"""Comparisons of texts, which NumPy does block by block: programs of the engine have none."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed.array import _above
from cubed.array._array import Array
from cubed.array._operands import COMPARISONS, is_text, to_numpy


def compare(name: str, left: Any, right: Any) -> Array:
    """A comparison of which both operands are texts, or both are bytes; TypeError for others."""
    kinds = {getattr(v, "dtype", np.dtype(type(v))).kind for v in (left, right) if is_text(v)}
    if name not in COMPARISONS or not (is_text(left) and is_text(right)) or len(kinds) > 1:
        a, b = (getattr(v, "dtype", type(v).__name__) for v in (left, right))
        raise TypeError(f"{name} is not defined for {a} and {b}")
    operands = (v if isinstance(v, Array) else to_numpy(v) for v in (left, right))
    return _above.elemwise(getattr(np, name), *operands, dtype=np.dtype(bool))
