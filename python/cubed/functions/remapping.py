"""Horizontal grids: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.functions._calls import alike, operand, task_mem

__all__ = [
    "apply_weights",
    "grid_coordinates",
    "remap_weights",
]


def apply_weights(
    x: Array,
    /,
    rows: Any,
    columns: Any,
    weights: Any,
    shape: Sequence[int],
    *,
    ndim: int = 2,
    nearest: bool = False,
    largest: bool = False,
    skipna: bool = True,
    na_threshold: float = 1,
) -> Array:
    """An array on another grid: products with a sparse matrix of weights.

    NaN in a cell of the source is left out, see `skipna`. A row without weights gives NaN.

    Parameters
    ----------
    x : Array
        Values; the last axes are the grid of the source.
    rows : array_like
        Positions of cells of the target in C order: an array in memory.
    columns : array_like
        Positions of cells of the source in C order: an array in memory.
    weights : array_like
        Weights: element k is the weight of the source cell ``columns[k]`` in the target cell
        ``rows[k]``.
    shape : sequence of int
        Shape of the target: one extent or two.
    ndim : int, default 2
        Number of the last axes of x that are the grid of the source.
    nearest : bool, default False
        Whether each row copies one element, which keeps the type of x.
    largest : bool, default False
        Whether each row copies the value whose weights have the largest sum.
    skipna : bool, default True
        Whether source cells with NaN are left out, and the remaining weights of a target cell are
        scaled up.
    na_threshold : float, default 1
        With `skipna`: largest part of the weights of a target cell, from 0 to 1, that may belong to
        source cells with NaN. If it is exceeded, the result is NaN.

    Returns
    -------
    Array
        The axes of x before its grid, and the axes of the target. The type of x if it is a
        floating-point type; float64 for integers. Lazy.

    Raises
    ------
    PlanTooLargeError
        If a task's memory is too small for the weights and for sorting them.
    ValueError
        If the last axes of x are not the grid, or arrays of weights are lazy.
    IndexError
        If a row or a column is outside its grid.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0, 4.0], [1.0, cubed.nan, 5.0]])
    >>> y = cubed.remapping.apply_weights(x, [0, 0, 1], [0, 1, 2], [0.5, 0.5, 1.0], (2,), ndim=1)
    >>> y.compute()
    array([[1.5, 4. ],
           [1. , 5. ]])
    """
    spec = common_spec(x, rows, columns, weights)
    core = _core.call(
        "apply_weights",
        core_of(x),
        core_of(rows),
        core_of(columns),
        core_of(weights),
        shape,
        ndim,
        nearest,
        largest,
        skipna,
        na_threshold,
        task_mem(spec),
    )
    return Array._new(core, spec)


def grid_coordinates(grid: str) -> tuple[Array, ...]:
    """Coordinates of a named grid, and their bounds, in degrees.

    Parameters
    ----------
    grid : str
        Name of a grid (``"r360x180"``, ``"global_0.25"``, ``"n80"``), or the text of a grid
        description file.

    Returns
    -------
    tuple of Array
        Latitudes and longitudes of axes or cells, and bounds with one more axis. In memory. Lazy.

    Raises
    ------
    ValueError
        If the text is neither a name nor a description of a grid.

    Examples
    --------
    >>> import cubed
    >>> lat, lon, lat_bounds, lon_bounds = cubed.remapping.grid_coordinates("r4x2")
    >>> lat.compute(), lon.compute()
    (array([-45.,  45.]), array([  0.,  90., 180., 270.]))
    """
    cores = _core.call("grid_coordinates", grid)
    return tuple(Array._new(c, None) for c in cores)


def remap_weights(
    source: Sequence[Any],
    target: Sequence[Any],
    method: str = "bilinear",
    *,
    neighbours: int = 4,
    source_unstructured: bool = False,
    target_unstructured: bool = False,
    source_mask: Any = None,
    target_mask: Any = None,
) -> tuple[Array, ...]:
    """Weights that interpolate arrays from one grid to another.

    Rows of weights add up to 1. Cells without a value in the source have no row.

    Parameters
    ----------
    source : sequence of array_like
        Latitudes and longitudes in degrees, and optionally the bounds of both: arrays in memory.
    target : sequence of array_like
        Latitudes and longitudes of the target, like `source`.
    method : str, default "bilinear"
        ``bilinear``: interpolation between four centres; ``nearest``: the nearest centre;
        ``distance``: a mean of several centres, weighted by inverse distance; ``conservative``: a
        mean weighted by shared areas; ``bicubic``: interpolation between 16 centres;
        ``conservative2``: ``conservative`` of second order, with gradients; ``largest``: the value
        with the largest shared area. One of ``"bilinear"``, ``"nearest"``, ``"distance"``,
        ``"conservative"``, ``"bicubic"``, ``"conservative2"``, ``"largest"``.
    neighbours : int, default 4
        Number of centres for ``"distance"``.
    source_unstructured : bool, default False
        Whether latitudes and longitudes of one dimension belong to single cells (an unstructured
        grid), not to axes.
    target_unstructured : bool, default False
        Like `source_unstructured`, for the target.
    source_mask : array_like or None
        Bools in memory: true for cells of the source that are in use. All other cells have no
        weights. None: all cells are in use.
    target_mask : array_like or None
        Bools in memory: true for cells of the target that are in use. All other cells have no
        value. None: all cells are in use.

    Returns
    -------
    tuple of Array
        Positions of cells of the target and the source in C order (int64), and weights (float64).
        In memory. Lazy.

    Raises
    ------
    PlanTooLargeError
        If a task's memory is too small for the weights and for a search among the cells of the
        source.
    ValueError
        If shapes do not agree, or axes are not monotonic.
    NotImplementedError
        If a grid lacks bounds or dimensions that the method needs.

    Examples
    --------
    >>> import cubed
    >>> source = cubed.remapping.grid_coordinates("r8x4")
    >>> target = cubed.remapping.grid_coordinates("r4x2")
    >>> rows, columns, weights = cubed.remapping.remap_weights(source, target, "conservative")
    >>> float(weights.compute()[rows.compute() == 0].sum().round(6))
    1.0
    """
    source = alike(source)
    target = alike(target)
    spec = common_spec(*source, *target, source_mask, target_mask)
    cores = _core.call(
        "remap_weights",
        [a._x for a in source],
        [a._x for a in target],
        method,
        neighbours,
        source_unstructured,
        target_unstructured,
        operand(source_mask),
        operand(target_mask),
        task_mem(spec),
    )
    return tuple(Array._new(c, spec) for c in cores)
