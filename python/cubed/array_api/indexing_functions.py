"""Elements at positions."""

from __future__ import annotations

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy, normalize_axis

__all__ = ["take", "take_along_axis"]


def take(x: Array, indices: Array | int, /, *, axis: int | None = None) -> Array:
    """The elements at positions along an axis; a number takes the axis away.

    Of x's type; as many elements along the axis as there are positions, in one dimension.
    Lazy; computing raises IndexError for positions that x does not have.
    """
    x = lazy(x)
    if axis is None:
        if x.ndim != 1:
            raise ValueError(f"take: axis is needed for an array with {x.ndim} axes")
        axis = 0
    if isinstance(indices, int):
        return x[(slice(None),) * normalize_axis(axis, x.ndim) + (indices,)]
    out = _core.take(False, x._x, core_of(indices), normalize_axis(axis, x.ndim))
    return Array._new(out, common_spec(x, indices))


def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """The elements at positions that every line along the axis has of its own.

    Of x's type, in the shape of the positions. Lazy; computing raises IndexError for positions
    that x does not have.
    """
    x = lazy(x)
    out = _core.take(True, x._x, core_of(indices), normalize_axis(axis, x.ndim))
    return Array._new(out, common_spec(x, indices))
