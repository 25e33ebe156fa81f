"""Positions on grids: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec
from cubed.base._types import Shape
from cubed.functions._calls import arrays_of
from cubed.io._create import as_lazy

__all__ = [
    "meshgrid",
    "ravel_multi_index",
    "unravel_index",
]


def meshgrid(
    *arrays: Any, indexing: str = "xy", sparse: bool = False, copy: bool = True
) -> tuple[Array, ...]:
    """Coordinates of all points of a grid, from the coordinates along its axes.

    A number is an axis of extent 1, and an array of more axes is flattened.

    Parameters
    ----------
    *arrays : array_like
        Coordinates along the axes of the grid.
    indexing : {"xy", "ij"}, default "xy"
        Order of the first two axes: ``"xy"`` swaps them, ``"ij"`` keeps the order of the arrays.
    sparse : bool, default False
        Whether each array has one element along all other axes.
    copy : bool, default True
        Accepted for compatibility with NumPy; has no effect.

    Returns
    -------
    tuple of Array
        Arrays in the shape of the grid, with the types of the inputs. Views. Lazy.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.meshgrid(cubed.arange(2), cubed.arange(3), indexing="ij")
    >>> rows.compute()
    array([[0, 0, 0],
           [1, 1, 1]])
    """
    given = arrays_of(arrays)
    spec = common_spec(*given)
    cores = _core.call("meshgrid", [a._x for a in given], indexing, sparse, copy)
    return tuple(Array._new(c, spec) for c in cores)


def ravel_multi_index(
    multi_index: Sequence[Any], dims: Shape, mode: str | Sequence[str] = "raise", order: str = "C"
) -> Array:
    """Converts positions along each axis of a shape to positions in the flattened array.

    Parameters
    ----------
    multi_index : sequence of array_like
        An array of integers for each axis, which are broadcast, or one array whose first axis holds
        them.
    dims : int or tuple of int
        Shape of the array to which the positions refer.
    mode : str or sequence of str, default "raise"
        Treatment of positions out of range, for all axes or one for each. ``"raise"`` does not
        check them.
    order : {"C", "F"}, default "C"
        Order of the flattened elements: ``"C"``, the last axis varies fastest, or ``"F"``, the
        first axis.

    Returns
    -------
    Array
        int64; the positions are broadcast. Lazy.

    Raises
    ------
    TypeError
        For positions that are not integers.

    Examples
    --------
    >>> import cubed
    >>> cubed.ravel_multi_index((cubed.asarray([0, 1]), cubed.asarray([1, 2])), (2, 3)).compute()
    array([1, 5])
    """
    multi_index = arrays_of(multi_index)
    spec = common_spec(*multi_index)
    core = _core.call("ravel_multi_index", [a._x for a in multi_index], dims, mode, order)
    return Array._new(core, spec)


def unravel_index(indices: Any, /, shape: Shape, order: str = "C") -> tuple[Array, ...]:
    """Converts positions in a flattened array to positions along each axis of its shape.

    Parameters
    ----------
    indices : array_like
        Positions in the flattened array. They are not checked.
    shape : int or tuple of int
        Shape of the array to which the positions refer.
    order : {"C", "F"}, default "C"
        Order of the flattened elements: ``"C"``, the last axis varies fastest, or ``"F"``, the
        first axis.

    Returns
    -------
    tuple of Array
        For each axis an int64 array in the shape of `indices`. Lazy.

    Raises
    ------
    TypeError
        For positions that are not integers.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.unravel_index(cubed.asarray([1, 5]), (2, 3))
    >>> rows.compute(), columns.compute()
    (array([0, 1]), array([1, 2]))
    """
    indices = as_lazy(indices)
    cores = _core.call("unravel_index", indices._x, shape, order)
    return tuple(indices._like(c) for c in cores)
