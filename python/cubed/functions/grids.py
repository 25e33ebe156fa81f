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
    """Coordinates of a grid from those of its axes.

    Parameters
    ----------
    *arrays : array_like
        Coordinates along the axes of the grid.
    indexing : {"xy", "ij"}, default "xy"
        Whether the first two arrays change places as axes (``"xy"``).
    sparse : bool, default False
        Whether arrays have one element along the other axes.
    copy : bool, default True
        Changes nothing.

    Returns
    -------
    tuple of Array
        Arrays of the shape of the grid, each of its type. Views. Lazy.

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
    """Positions in a flattened array, of positions along each axis of its shape.

    Parameters
    ----------
    multi_index : sequence of array_like
        Integers for each axis, which are broadcast; of one array its first axis.
    dims : int or tuple of int
        The shape that positions are of.
    mode : str or sequence of str, default "raise"
        Effect of positions out of range, also one for each axis; with ``"raise"`` they are not
        checked.
    order : {"C", "F"}, default "C"
        Which axis is the fastest: the last one, or with ``"F"`` the first one.

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
    """Positions along each axis of a shape, of positions in the flattened array.

    Parameters
    ----------
    indices : array_like
        Positions in the flattened array, which are not checked.
    shape : int or tuple of int
        The shape that positions are of.
    order : {"C", "F"}, default "C"
        Which axis is the fastest: the last one, or with ``"F"`` the first one.

    Returns
    -------
    tuple of Array
        For each axis int64 of the shape of `indices`. Lazy.

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
