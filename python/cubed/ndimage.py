"""Filters, objects and measurements of images as in :mod:`scipy.ndimage`, and pyramids.

The library filters; SciPy labels the objects of blocks. The filters are rows of the catalogue.
Measurements of labelled objects are reductions of groups.
"""

from __future__ import annotations

import itertools
import json
import math
import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import to_numpy
from cubed.array_api._pad import pad
from cubed.array_api.block_functions import coarsen
from cubed.array_api.composed_functions import rint
from cubed.array_api.creation_functions import ones
from cubed.base._dtypes import kind_of
from cubed.base._held import import_counted
from cubed.base._remote import shown
from cubed.base._types import Axis, DTypeLike, NDArray, Shape
from cubed.blocks._apply import map_blocks
from cubed.blocks._groupby import groupby_reduce
from cubed.exceptions import ArrayExistsError
from cubed.functions._calls import type_for
from cubed.functions.grids import unravel_index
from cubed.functions.interpolation import (
    affine_transform,
    map_coordinates,
    rotate,
    shift,
    spline_filter,
    spline_filter1d,
    zoom,
)
from cubed.functions.manipulation import broadcast_to, stack
from cubed.functions.morphology import (
    binary_closing,
    binary_dilation,
    binary_erosion,
    binary_hit_or_miss,
    binary_opening,
    black_tophat,
    grey_closing,
    grey_dilation,
    grey_erosion,
    grey_opening,
    morphological_gradient,
    morphological_laplace,
    white_tophat,
)
from cubed.functions.ndimage import (
    convolve1d,
    correlate1d,
    gaussian_filter,
    gaussian_filter1d,
    gaussian_gradient_magnitude,
    gaussian_laplace,
    laplace,
    maximum_filter,
    maximum_filter1d,
    median_filter,
    minimum_filter,
    minimum_filter1d,
    percentile_filter,
    prewitt,
    rank_filter,
    sobel,
    uniform_filter,
    uniform_filter1d,
)
from cubed.io._create import as_lazy, from_zarr
from cubed.io._store import place_in
from cubed.io._store import store as write
from cubed.planning._compute import compute

__all__ = [
    "affine_transform",
    "binary_closing",
    "binary_dilation",
    "binary_erosion",
    "binary_hit_or_miss",
    "binary_opening",
    "black_tophat",
    "center_of_mass",
    "convolve",
    "convolve1d",
    "correlate",
    "correlate1d",
    "extrema",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "generate_binary_structure",
    "grey_closing",
    "grey_dilation",
    "grey_erosion",
    "grey_opening",
    "iterate_structure",
    "label",
    "laplace",
    "map_coordinates",
    "maximum",
    "maximum_filter",
    "maximum_filter1d",
    "maximum_position",
    "mean",
    "median",
    "median_filter",
    "minimum",
    "minimum_filter",
    "minimum_filter1d",
    "minimum_position",
    "morphological_gradient",
    "morphological_laplace",
    "percentile_filter",
    "prewitt",
    "pyramid",
    "rank_filter",
    "rotate",
    "shift",
    "sobel",
    "spline_filter",
    "spline_filter1d",
    "standard_deviation",
    "sum",
    "sum_labels",
    "uniform_filter",
    "uniform_filter1d",
    "variance",
    "white_tophat",
    "zoom",
]

_SCIPY = "scipy.ndimage"

# --- Weights ------------------------------------------------------------------------------------


def _weighted(
    name: str, input: Any, weights: Any, output: Any, mode: Any, cval: float, origin: Any, axes: Any
) -> Array:
    x, w = as_lazy(input), to_numpy(weights)
    if w.dtype.kind not in "biuf":
        raise TypeError(f"{name}: weights are {w.dtype}, expected real numbers")
    core = _core.call(
        f"{name}_filter", x._x, w.tolist(), type_for(output, x), mode, cval, origin, axes
    )
    return x._like(core)


def correlate(
    input: Any,
    weights: Any,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The correlation of an image with an array of weights.

    The sums are computed in float64.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    weights : array_like of float
        Real factors of neighbouring elements, with an axis for each axis that is filtered.
        Weights of at most 2**-52 count as 0.
    output : dtype or None
        Type of the result. None: that of `input`. Integers are truncated, as by SciPy.
    mode : str or sequence of str, default "reflect"
        The elements beyond the ends, also one for each axis: mirrored about the edge
        (``"reflect"``) or about the last element (``"mirror"``), the nearest one, those of the
        other end (``"wrap"``), or `cval` (``"constant"``).
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Position of the element itself among the weights, from the middle on, or one for each axis.
    axes : int, tuple of int or None
        Axes that are filtered, in increasing order. None: all.

    Returns
    -------
    Array
        The shape of `input`, and its type unless `output` names another. Lazy.

    Raises
    ------
    ValueError
        For weights with another number of axes, and for an origin outside them.
    TypeError
        For weights that are not real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 5.0]])
    >>> cubed.ndimage.correlate(x, [[0, 1, 0], [1, 0, 1], [0, 1, 0]], mode="constant").compute()
    array([[5., 6.],
           [6., 5.]])
    """
    return _weighted("correlate", input, weights, output, mode, cval, origin, axes)


def convolve(
    input: Any,
    weights: Any,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The convolution of an image with an array of weights.

    It is the correlation with the weights in reverse order along each axis.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    weights : array_like of float
        Real factors of neighbouring elements, with an axis for each axis that is filtered.
        Weights of at most 2**-52 count as 0.
    output : dtype or None
        Type of the result. None: that of `input`. Integers are truncated, as by SciPy.
    mode : str or sequence of str, default "reflect"
        The elements beyond the ends, also one for each axis: mirrored about the edge
        (``"reflect"``) or about the last element (``"mirror"``), the nearest one, those of the
        other end (``"wrap"``), or `cval` (``"constant"``).
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Position of the element itself among the weights, from the middle on, or one for each axis.
    axes : int, tuple of int or None
        Axes that are filtered, in increasing order. None: all.

    Returns
    -------
    Array
        The shape of `input`, and its type unless `output` names another. Lazy.

    Raises
    ------
    ValueError
        For weights with another number of axes, and for an origin outside them.
    TypeError
        For weights that are not real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    >>> cubed.ndimage.convolve(x, [[1, 2, 3], [4, 5, 6], [7, 8, 9]]).compute()
    array([[1., 2., 3.],
           [4., 5., 6.],
           [7., 8., 9.]])
    """
    return _weighted("convolve", input, weights, output, mode, cval, origin, axes)


# --- Structures ---------------------------------------------------------------------------------


def generate_binary_structure(rank: int, connectivity: int) -> NDArray:
    """A structuring element for functions of morphology: an element and its neighbours.

    Parameters
    ----------
    rank : int
        Number of axes; less than 1: none.
    connectivity : int
        Along how many axes a neighbour may differ from the element: 1 for those that share a face,
        `rank` for all.

    Returns
    -------
    ndarray of bool
        Three elements along each axis.

    Examples
    --------
    >>> import cubed
    >>> cubed.ndimage.generate_binary_structure(2, 1).astype(int)
    array([[0, 1, 0],
           [1, 1, 1],
           [0, 1, 0]])
    """
    ndim, reach = operator.index(rank), max(operator.index(connectivity), 1)
    if ndim < 1:
        return np.array(True, dtype=bool)
    away: NDArray = np.abs(np.indices((3,) * ndim) - 1).sum(axis=0)
    return away <= reach


def iterate_structure(structure: Any, iterations: int, origin: Any = None) -> Any:
    """A structuring element that has the effect of several iterations of one.

    Parameters
    ----------
    structure : array_like
        Elements that are not 0 count.
    iterations : int
        Number of dilations of the structure by itself, plus 1.
    origin : int, sequence of int or None
        Position of the element itself in `structure`. None: the position is not returned.

    Returns
    -------
    ndarray of bool, or tuple[ndarray, list of int]
        The structure, and with `origin` the position of the element in the result, for each axis.

    Examples
    --------
    >>> import cubed
    >>> cubed.ndimage.iterate_structure([1, 1, 1], 2)
    array([ True,  True,  True,  True,  True])
    """
    part, n = to_numpy(structure).astype(bool), operator.index(iterations)
    origins = origin if isinstance(origin, Sequence) else [origin] * part.ndim
    made = part.copy()
    if n >= 2:
        middle = [(n - 1) * (extent // 2) for extent in part.shape]
        wide = [extent + (n - 1) * (extent - 1) for extent in part.shape]
        padded = np.zeros(wide, bool)
        padded[tuple(slice(m, m + k) for m, k in zip(middle, part.shape, strict=True))] = part
        made = binary_dilation(padded, part, iterations=n - 1).compute()
    if origin is None:
        return made
    return made, [max(n, 1) * operator.index(o) for o in origins]


# --- Objects --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Labels:
    structure: NDArray
    counts: bool  # how many there are, instead of the labels

    def __call__(self, block: NDArray) -> NDArray:
        labels, n = import_module(_SCIPY).label(block, self.structure)
        return np.full((1,) * block.ndim, n, np.int64) if self.counts else labels.astype(np.int32)


@dataclass(frozen=True)
class _Numbered:
    offsets: NDArray  # labels of the blocks before each block
    table: NDArray

    def __call__(self, block: NDArray, block_id: tuple[int, ...]) -> NDArray:
        at = self.table[np.where(block > 0, block + self.offsets[block_id], 0)]
        return at.astype(np.int32)


def label(input: Any, structure: Any = None) -> tuple[Array, int]:
    """The connected objects of an image, each with a number.

    The call labels each block separately and joins objects that touch across blocks. It holds the
    numbers and the faces of all blocks in memory.

    Parameters
    ----------
    input : array_like
        An image; elements that are not 0 belong to objects.
    structure : array_like of bool or None
        Which neighbours are connected: 3 elements along each axis, symmetric. None: those that
        share a face.

    Returns
    -------
    tuple[Array, int]
        int32, of the image's shape, 0 where no object is, lazy; and how many there are. Objects are
        numbered by the block that they begin in, so the order may differ from SciPy's.

    Raises
    ------
    ValueError
        For a structure of another shape, or one that is not symmetric.

    Examples
    --------
    >>> import cubed
    >>> labels, n = cubed.ndimage.label(cubed.asarray([1, 1, 0, 1, 0, 1]))
    >>> labels.compute(), n
    (array([1, 1, 0, 2, 0, 3], dtype=int32), 3)
    """
    x = as_lazy(input)
    ndimage = import_counted(_SCIPY)
    part = ndimage.generate_binary_structure(x.ndim, 1) if structure is None else structure
    part = to_numpy(part).astype(bool)
    if part.shape != (3,) * x.ndim:
        raise ValueError(f"label: structure has shape {part.shape}, expected {(3,) * x.ndim}")
    if not (part == part[(slice(None, None, -1),) * x.ndim]).all():
        raise ValueError("label: structure is not symmetric")
    on = (x != 0).astype(np.uint8)
    extra = 12 * math.prod(x.chunksize)
    local = map_blocks(
        _Labels(part, False), on, dtype=np.int32, extra_projected_mem=extra, name="label"
    )
    if x.size == 0:
        return local, 0
    ones = tuple((1,) * n for n in x.numblocks)
    number = map_blocks(
        _Labels(part, True), on, dtype=np.int64, chunks=ones, extra_projected_mem=extra,
        name="label",
    )  # fmt: skip
    borders = [
        (axis, int(p)) for axis, c in enumerate(x.chunks) for p in np.cumsum(c)[:-1].tolist()
    ]
    faces = [
        local[(*(slice(None),) * axis, slice(p - 1, p + 1))] for axis, p in borders
    ]  # fmt: skip
    counts, *found = compute(number, *faces)
    offsets = (np.cumsum(counts.reshape(-1)) - counts.reshape(-1)).reshape(counts.shape)
    total = int(counts.sum())
    pairs = [
        _touching(face, axis, p, offsets, x.chunks, part)
        for (axis, p), face in zip(borders, found, strict=True)
    ]
    table, n = _joined(np.concatenate([np.empty((0, 2), np.int64), *pairs]), total)
    numbered = _Numbered(offsets, table)
    out = map_blocks(
        numbered, local, dtype=np.int32, extra_projected_mem=extra + table.nbytes, name="label"
    )
    return out, n


def _touching(
    face: NDArray,
    axis: int,
    p: int,
    offsets: NDArray,
    chunks: Sequence[Sequence[int]],
    structure: NDArray,
) -> NDArray:
    """Pairs of labels that touch across a border of blocks, numbered over all blocks."""
    ids = []
    for side in range(2):
        places = [np.searchsorted(np.cumsum(c), np.arange(np.sum(c)), side="right") for c in chunks]
        places[axis] = places[axis][p - 1 + side : p + side]
        mine = face[(*(slice(None),) * axis, slice(side, side + 1))].astype(np.int64)
        ids.append(np.where(mine > 0, mine + offsets[np.ix_(*places)], 0))
    out = []
    for step in itertools.product((-1, 0, 1), repeat=face.ndim):
        if step[axis] != 1 or not structure[tuple(s + 1 for s in step)]:
            continue
        left, right = ([slice(None)] * face.ndim for _ in range(2))
        for d, s in enumerate(step):
            if d != axis and s:
                left[d] = slice(0, -1) if s > 0 else slice(1, None)
                right[d] = slice(1, None) if s > 0 else slice(0, -1)
        a, b = ids[0][tuple(left)].ravel(), ids[1][tuple(right)].ravel()
        both = (a > 0) & (b > 0)
        out.append(np.unique(np.stack([a[both], b[both]], axis=1), axis=0))
    return np.concatenate(out) if out else np.empty((0, 2), np.int64)


def _joined(pairs: NDArray, total: int) -> tuple[NDArray, int]:
    """For each label the number of its object, from 1; and how many objects there are."""
    sparse, graph = import_counted("scipy.sparse"), import_counted("scipy.sparse.csgraph")
    ones = np.ones(len(pairs), np.int8)
    matrix = sparse.coo_matrix((ones, (pairs[:, 0] - 1, pairs[:, 1] - 1)), shape=(total, total))
    if total == 0:
        return np.zeros(1, np.int64), 0
    n, group = graph.connected_components(matrix, directed=False)
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(n, np.int64)
    rank[np.argsort(first)] = np.arange(1, n + 1)
    return np.concatenate([[0], rank[inverse]]), int(n)


# --- Measurements -------------------------------------------------------------------------------


def _objects(name: str, input: Any, labels: Any, index: Any) -> tuple[Array, Any, Any, bool]:
    """An image, a label for each of its elements, the labels of objects, and whether it is one."""
    x = as_lazy(input)
    if labels is None:
        return x, None, None, True
    by = as_lazy(labels)
    if by.dtype.kind not in "biu":
        raise TypeError(f"{name}: labels are {by.dtype}, expected integers")
    chosen = None if index is None else to_numpy(index)
    if chosen is not None and chosen.size == 0:
        chosen = chosen.astype(np.int64)  # NumPy's type of an empty list is float64.
    if chosen is not None and chosen.dtype.kind not in "biu":
        raise TypeError(f"{name}: index is {chosen.dtype}, expected integers")
    if chosen is None or chosen.ndim == 0:
        by, one = (by > 0 if chosen is None else by == int(chosen)), True
        by, chosen = by.astype(np.int8), np.ones(1, np.int8)
    else:
        one = False
    if by.shape != x.shape:
        by = broadcast_to(by, x.shape)
    return x, by, chosen, one


def _measured(
    name: str, input: Any, labels: Any, index: Any, func: str, fill: Any = None, wide: bool = False
) -> Array:
    """A reduction of each object. With `wide`, it is computed in float64, as by SciPy."""
    x, by, chosen, one = _objects(name, input, labels, index)
    if by is None:
        by, chosen = ones(x.shape, dtype=np.int8, chunks=x.chunks), np.ones(1, np.int8)
    if wide and x.dtype.kind in "biuf" and not (one and func == "sum"):
        x = x.astype(np.float64)
    if x.ndim == 0:
        x, by = x.reshape((1,)), by.reshape((1,))
    expected, place = np.unique(chosen, return_inverse=True)
    made, *_ = groupby_reduce(
        x, by, func=func, expected_groups=expected, fill_value=fill,
        min_count=None if fill is None else 1,
    )  # fmt: skip
    if one:
        return made[0]
    if np.array_equal(place.reshape(-1), np.arange(expected.size)) and chosen.ndim == 1:
        return made
    return made[place.reshape(-1)].reshape(chosen.shape)


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The sums of the elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        0 for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.sum_labels(x, labels, [1, 2]).compute()
    array([ 5., 11.])
    """
    return _measured("sum_labels", input, labels, index, "sum", None, True)


def mean(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The means of the elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        NaN for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.mean(x, labels, [1, 2]).compute()
    array([2.5, 5.5])
    """
    return _measured("mean", input, labels, index, "mean", None, True)


def variance(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The variances of the elements of objects, without a correction.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        NaN for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.variance(x, labels, [1, 2]).compute()
    array([ 2.25, 12.25])
    """
    return _measured("variance", input, labels, index, "var", None, True)


def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The standard deviations of the elements of objects, without a correction.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        NaN for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.standard_deviation(x, labels, [1, 2]).compute()
    array([1.5, 3.5])
    """
    return _measured("standard_deviation", input, labels, index, "std", None, True)


def minimum(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The least elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        0 for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.minimum(x, labels, [1, 2]).compute()
    array([1., 2.])
    """
    return _measured("minimum", input, labels, index, "min", 0, False)


def maximum(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The greatest elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        0 for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.maximum(x, labels, [1, 2]).compute()
    array([4., 9.])
    """
    return _measured("maximum", input, labels, index, "max", 0, False)


def median(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The medians of the elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        NaN for a label without elements. Lazy.

    Notes
    -----
    A task holds all elements of the image.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.median(x, labels, [1, 2]).compute()
    array([2.5, 5.5])
    """
    return _measured("median", input, labels, index, "median", None, True)


def _positions(name: str, input: Any, labels: Any, index: Any, func: str) -> Array:
    """The position of the first least or greatest element of each object, along a last axis."""
    x = as_lazy(input)
    if x.ndim == 0:
        raise ValueError(f"{name}: the image is 0-d, expected axes: reshape it to (1,)")
    flat = _measured(name, x, labels, index, func, 0)
    return stack(unravel_index(flat, tuple(max(n, 1) for n in x.shape)), axis=-1)


def minimum_position(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The positions of the least elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        The position along each axis of the image, in the last axis; the first one of equal
        elements. Other axes are those of `index`. Zeros for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.minimum_position(x, labels, [1, 2]).compute()
    array([[0],
           [3]])
    """
    return _positions("minimum_position", input, labels, index, "argmin")


def maximum_position(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The positions of the greatest elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        The position along each axis of the image, in the last axis; the first one of equal
        elements. Other axes are those of `index`. Zeros for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.maximum_position(x, labels, [1, 2]).compute()
    array([[1],
           [2]])
    """
    return _positions("maximum_position", input, labels, index, "argmax")


def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple[Array, Array, Array, Array]:
    """The least and greatest elements of objects, and their positions.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    tuple[Array, Array, Array, Array]
        What :func:`minimum`, :func:`maximum`, :func:`minimum_position` and
        :func:`maximum_position` return.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> least, greatest, *_ = cubed.ndimage.extrema(x, labels, [1, 2])
    >>> least.compute(), greatest.compute()
    (array([1., 2.]), array([4., 9.]))
    """
    return (
        minimum(input, labels, index),
        maximum(input, labels, index),
        minimum_position(input, labels, index),
        maximum_position(input, labels, index),
    )


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The centres of mass of objects, whose elements are weights of their positions.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        The centre along each axis of the image, in the last axis. Other axes are those of `index`.
        NaN for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.center_of_mass(x, labels, [1, 2]).compute().round(3)
    array([[0.8  ],
           [2.182]])
    """
    x = as_lazy(input)
    if x.ndim == 0:
        raise ValueError("center_of_mass: the image is 0-d, expected axes: reshape it to (1,)")
    total = sum_labels(x, labels, index)
    parts = []
    for d, n in enumerate(x.shape):
        along = np.arange(float(n)).reshape([n if e == d else 1 for e in range(x.ndim)])
        parts.append(sum_labels(x * along, labels, index) / total)
    return stack(parts, axis=-1)


#: SciPy's older name of :func:`sum_labels`.
sum = sum_labels


# --- Pyramids -------------------------------------------------------------------------------------

_AXIS_TYPES = {"t": "time", "c": "channel", "z": "space", "y": "space", "x": "space"}
#: Levels are made until no axis in space is longer.
_SMALLEST = 256


def pyramid(
    image: Any,
    store: str | os.PathLike[str],
    *,
    axes: str | None = None,
    factors: int | Mapping[str, int] = 2,
    levels: int | None = None,
    method: Literal["mean", "nearest"] = "mean",
    scale: Mapping[str, float] | None = None,
    units: Mapping[str, str] | None = None,
    name: str | None = None,
    overwrite: bool = False,
    **kwargs: Any,
) -> list[Array]:
    """Write an image at several resolutions, as OME-Zarr 0.5 has it (``multiscales``).

    All levels are made in one plan, each of the one before.

    Parameters
    ----------
    image : array_like
        Real numbers or booleans, of 2 to 5 axes. Its chunks are those of all levels.
    store : str or os.PathLike
        The directory, or URL, of the group, with an array for each level: ``"0"`` is the image.
    axes : str or None
        The image's axes, a letter for each, in this order: ``t``, ``c``, and two or three of ``z``,
        ``y`` and ``x``. None: the last ones of ``"tczyx"``.
    factors : int or Mapping[str, int], default 2
        Factor from one level to the next smaller one, for all axes in space or by letter (others:
        1).
    levels : int or None
        Number of levels, including the image. None: until all axes in space with a factor have at
        most 256 elements.
    method : {"mean", "nearest"}, default "mean"
        Value of a pixel of the smaller level: the mean of the pixels that it covers, rounded for
        integers, or the first of these pixels (for labels).
    scale, units : Mapping[str, float], Mapping[str, str] or None
        Size of the image's pixels by axis (others: 1), and units such as ``"micrometer"``.
    name : str or None
        Name of the image, for viewers.
    overwrite : bool, default False
        Whether to replace data at `store`.
    **kwargs : object
        As for :func:`cubed.store`.

    Returns
    -------
    list of Array
        The levels as they are stored. Lazy.

    Raises
    ------
    ValueError
        The image has no such axes, or a number is out of its range.
    FileExistsError
        There is a group, an array or something else at `store`.

    Examples
    --------
    >>> import cubed
    >>> image = cubed.ones((500, 400), chunks=128)
    >>> full, half = cubed.ndimage.pyramid(image, "image.zarr", units={"y": "mm", "x": "mm"})
    >>> half.shape
    (250, 200)
    """
    x = as_lazy(image)
    if not 2 <= x.ndim <= 5 or kind_of(x.dtype) not in "biuf" or x.size == 0:
        raise ValueError(
            f"pyramid: the image has shape {x.shape} and type {x.dtype}, expected 2 to 5 axes with"
            " pixels that are real numbers or booleans"
        )
    letters = "tczyx"[-x.ndim :] if axes is None else axes
    space = [a for a in letters if _AXIS_TYPES.get(a) == "space"]
    ordered = "".join(a for a in "tczyx" if a in letters)
    if len(letters) != x.ndim or letters != ordered or len(space) < 2:
        raise ValueError(
            f"pyramid: axes is {axes!r}, expected {x.ndim} letters of 'tczyx' in that order, two"
            " of them in space"
        )
    if method not in ("mean", "nearest"):
        raise ValueError(f"pyramid: method is {method!r}, expected 'mean' or 'nearest'")
    shrinks = factors if isinstance(factors, Mapping) else dict.fromkeys(space, factors)
    for what, given, allowed in (
        ("factors", shrinks, space),
        ("scale", scale or {}, letters),
        ("units", units or {}, letters),
    ):
        for a in given:
            if a not in allowed:
                raise ValueError(f"pyramid: {what} has {a!r}, expected {', '.join(allowed)}")
    steps = [operator.index(shrinks.get(a, 1)) for a in letters]
    if min(steps) < 1 or max(steps) < 2:
        raise ValueError(f"pyramid: factors is {factors}, expected whole numbers, one 2 at least")
    count = _levels(x, steps) if levels is None else operator.index(levels)
    if count < 1:
        raise ValueError(f"pyramid: levels is {levels}, expected 1 or more")
    made = [x]
    for _ in range(1, count):
        made.append(_smaller(made[-1], steps, method).rechunk(x.chunksize))
    place = place_in(store, None, x.spec)
    if not isinstance(place, str):
        raise TypeError(
            f"pyramid: store is {shown(store)}, expected a path, or a URL that is written"
        )
    if not overwrite and _is_group(place):
        raise ArrayExistsError(f"{shown(store)} exists: overwrite=True replaces it")
    _core.make_group(place, 3, "{}", overwrite)
    urls = [_core.member(place, str(k)) for k in range(count)]
    named = [y._like(_core.with_dim_names(y._x, tuple(letters))) for y in made]
    write(named, urls, overwrite=False, **kwargs)
    attrs = _multiscales(letters, steps, count, method, scale or {}, units or {}, name)
    _core.make_group(place, 3, json.dumps(attrs), False)
    return [from_zarr(url, spec=x.spec) for url in urls]


def _is_group(url: str) -> bool:
    try:
        _core.members(url, False)
    except FileNotFoundError:
        return False
    return True


def _levels(x: Array, steps: Sequence[int]) -> int:
    sides = [(n, k) for n, k in zip(x.shape, steps, strict=True) if k > 1]
    levels = 1
    while max(n for n, _ in sides) > _SMALLEST:
        sides = [(-(-n // k), k) for n, k in sides]
        levels += 1
    return levels


def _smaller(x: Array, steps: Sequence[int], method: str) -> Array:
    """The next level. If a pixel covers fewer pixels than others, the last ones are repeated."""
    if method == "nearest":
        return x[tuple(slice(None, None, k) for k in steps)]
    missing = [(0, -n % k) for n, k in zip(x.shape, steps, strict=True)]
    whole = pad(x, missing, mode="edge") if any(n for _, n in missing) else x
    sizes = {d: k for d, k in enumerate(steps) if k > 1}
    mean = coarsen(np.mean, whole.astype(np.float64) if kind_of(x.dtype) != "f" else whole, sizes)
    return mean.astype(x.dtype) if kind_of(x.dtype) == "f" else rint(mean).astype(x.dtype)


def _multiscales(
    letters: str,
    steps: Sequence[int],
    count: int,
    method: str,
    scale: Mapping[str, float],
    units: Mapping[str, str],
    name: str | None,
) -> dict[str, Any]:
    """The group's attributes."""
    pixel = [float(scale.get(a, 1.0)) for a in letters]
    datasets = []
    for level in range(count):
        extent = [p * k**level for p, k in zip(pixel, steps, strict=True)]
        transformations: list[dict[str, Any]] = [{"type": "scale", "scale": extent}]
        if level and method == "mean":
            # The centre of a pixel is the centre of the pixels that it covers.
            middle = [(e - p) / 2 for e, p in zip(extent, pixel, strict=True)]
            transformations.append({"type": "translation", "translation": middle})
        datasets.append({"path": str(level), "coordinateTransformations": transformations})
    axes = [{"name": a, "type": _AXIS_TYPES[a]} for a in letters]
    for axis in axes:
        if axis["name"] in units:
            axis["unit"] = units[axis["name"]]
    image: dict[str, Any] = {"axes": axes, "datasets": datasets, "type": method}
    if name is not None:
        image["name"] = name
    return {"ome": {"version": "0.5", "multiscales": [image]}}
