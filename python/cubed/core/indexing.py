"""Indexing by functions."""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
from cubed.array._views import BlockView

__all__ = ["BlockView", "index"]


def index(x: Array, key: Any) -> Array:
    """``x[key]``; lazy as that is."""
    return x[key]
