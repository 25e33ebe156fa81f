"""Elements at positions."""

from __future__ import annotations

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy, normalize_axis
from cubed.base._docs import documented

__all__ = ["take", "take_along_axis"]


@documented()
def take(x: Array, indices: Array | int, /, *, axis: int | None = None) -> Array:
    """The elements at positions along an axis; a number takes the axis away.

    Parameters
    ----------
    axis : int or None
        The axis; may be left out where there is one.

    Returns
    -------
    Array
        Of x's type; as many elements along the axis as there are positions, in one dimension. Lazy;
        computing raises IndexError for positions that x does not have.

    Examples
    --------
    >>> cubed.take(cubed.asarray([10, 20, 30]), cubed.asarray([2, 0])).compute()
    array([30, 10])
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


@documented()
def take_along_axis(x: Array, indices: Array, /, *, axis: int = -1) -> Array:
    """The elements at positions that every line along the axis has of its own.

    Parameters
    ----------
    axis : int, default -1
        The axis.

    Returns
    -------
    Array
        Of x's type, in the shape of the positions. Lazy; computing raises IndexError for positions
        that x does not have.

    Examples
    --------
    >>> x = cubed.asarray([[3, 1, 2]])
    >>> cubed.take_along_axis(x, cubed.argsort(x), axis=-1).compute()
    array([[1, 2, 3]])
    """
    x = lazy(x)
    out = _core.take(True, x._x, core_of(indices), normalize_axis(axis, x.ndim))
    return Array._new(out, common_spec(x, indices))
