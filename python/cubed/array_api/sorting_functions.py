"""Sorting.

The axis is brought together in a task's memory; one axis that does not fit is sorted in parts, each
of them from a read of all elements.
"""

from __future__ import annotations

from cubed import _core
from cubed._array import Array, normalize_axis

__all__ = ["argsort", "sort"]


def argsort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The positions that put the elements along an axis in order; equal ones keep theirs."""
    return x._like(
        _core.sort(True, x._x, normalize_axis(axis, x.ndim), descending, x.spec.task_mem)
    )


def sort(x: Array, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Array:
    """The elements in order along an axis, NaN last."""
    return x._like(
        _core.sort(False, x._x, normalize_axis(axis, x.ndim), descending, x.spec.task_mem)
    )
