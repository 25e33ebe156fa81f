"""Counts in bins of several dimensions, and estimates of the number of bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computed_first, computes_first
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import check_parts, common_spec, to_numpy
from cubed.array_api._edges import complex_of
from cubed.array_api._histogram import bin_edges, computed_now
from cubed.array_api.creation_functions import asarray
from cubed.array_api.elementwise_functions import add, equal, imag, multiply, real, subtract
from cubed.array_api.manipulation_functions import reshape
from cubed.array_api.searching_functions import searchsorted
from cubed.array_api.statistical_functions import max, min, sum
from cubed.base._types import NDArray
from cubed.io._create import as_lazy

__all__ = ["histogram2d", "histogram_bin_edges", "histogramdd"]


@computes_first
def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> NDArray:
    """Returns the edges of the bins of :func:`histogram`. They are computed immediately.

    Parameters
    ----------
    a : array_like
        Input array.
    bins : int or sequence, default 10
        Number of bins, or their edges.
    range : tuple of float or None
        The first and the last edge. None: the smallest and the largest element, which are computed
        immediately.
    weights : array_like or None
        Weight of each element; None: 1.

    Returns
    -------
    NDArray
        The edges, one more than bins: float64, or the type of the values.

    Examples
    --------
    >>> import cubed
    >>> cubed.histogram_bin_edges(cubed.asarray([0.0, 1.0, 4.0]), bins=2, range=(0, 4))
    array([0., 2., 4.])
    """
    return bin_edges(as_lazy(a), bins, range, weights)


@computes_first
def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None
) -> tuple[Array, tuple[NDArray, ...]]:
    """Counts the points in each bin of a grid.

    Parameters
    ----------
    sample : array_like or sequence of array_like
        Points, of shape ``(n, d)``, or a sequence of d arrays with the coordinates.
    bins : int or sequence, default 10
        Number of bins of equal width, for each axis or for all axes; or edges for each axis.
    range : tuple of float or None
        The first and the last edge of each axis. None: the smallest and the largest coordinate,
        which are computed immediately.
    density : bool, default False
        Divide by the sum and by the volume of bins: the integral is 1.
    weights : array_like or None
        Weights of shape ``(n,)``: sum the weights instead of counting.

    Returns
    -------
    tuple[Array, tuple[ndarray]]
        The counts, float64 and lazy, and the edges of each axis. The last bins include their upper
        edges.

    Raises
    ------
    ValueError
        If edges descend, or `bins` or `range` are for a different number of axes.

    Examples
    --------
    >>> import cubed
    >>> points = cubed.asarray([[0.5, 0.5], [1.5, 1.5]])
    >>> counts, _ = cubed.histogramdd(points, bins=2, range=((0, 2), (0, 2)))
    >>> counts.compute()
    array([[1., 0.],
           [0., 1.]])
    """
    refuse_foreign(sample, bins, weights)
    if isinstance(sample, (Array, np.ndarray)):
        points = as_lazy(sample)
        if points.ndim == 1:
            points = reshape(points, (-1, 1))
        if points.ndim != 2:
            raise ValueError(f"histogramdd: sample has {points.ndim} axes, expected 2")
        check_parts("histogramdd", points.shape[1], "columns, of which each is an axis")
        columns = [points[:, k] for k in np.arange(points.shape[1]).tolist()]
    else:
        columns = [as_lazy(c) for c in sample]
    edges = _edges(columns, bins, range)
    flat = None
    for x, e in zip(columns, edges, strict=True):
        at = searchsorted(asarray(e), x, side="right")
        at = subtract(at, equal(x, float(e[-1])).astype(np.int64))
        flat = at if flat is None else add(multiply(flat, len(e) + 1), at)
    assert flat is not None
    shape = tuple(len(e) + 1 for e in edges)
    w = None if weights is None else as_lazy(weights)
    spec, length = common_spec(*columns, weights), int(np.prod(shape))

    def sums(part: Array | None) -> Array:
        values = None if part is None else part.astype(np.float64)._x
        return Array._new(_core.call("bincount", flat._x, length, values), spec)

    found = (
        sums(w) if w is None or w.dtype.kind != "c" else complex_of(sums(real(w)), sums(imag(w)))
    )
    out = reshape(found, shape)[(slice(1, -1),) * len(shape)]
    out = out.astype(np.complex128 if found.dtype.kind == "c" else np.float64)
    if density:
        total = sum(out)
        for k, e in enumerate(edges):
            out = out / np.diff(e).reshape([-1 if d == k else 1 for d in np.arange(len(edges))])
        out = out / total
    return out, tuple(edges)


def _edges(columns: Sequence[Array], bins: Any, range: Any) -> list[NDArray]:
    d, bins, range = len(columns), computed_now(bins), computed_now(range)
    if d == 0:
        raise ValueError("histogramdd: there are no coordinates")
    several = isinstance(bins, (Sequence, np.ndarray)) and not isinstance(bins, str)
    given = list(bins) if several else [bins] * d
    if len(given) != d:
        raise ValueError(f"histogramdd: {len(given)} bins for {d} axes")
    if range is not None and len(range) != d:
        raise ValueError(f"histogramdd: {len(range)} ranges for {d} axes")
    limits: list[Any] = [None] * d if range is None else list(range)
    wanted = [k for k in np.arange(d).tolist() if limits[k] is None and np.ndim(given[k]) == 0]
    wanted = [k for k in wanted if columns[k].size]
    if wanted:
        extremes = [f(columns[k]) for k in wanted for f in (min, max)]
        found = computed_first(extremes, [0, 1] * len(wanted))
        for i, k in enumerate(wanted):
            limits[k] = (float(found[2 * i]), float(found[2 * i + 1]))
    out = []
    for b, r in zip(given, limits, strict=True):
        if np.ndim(b) == 0:
            if isinstance(b, str):
                raise TypeError(f"histogramdd: bins are {b!r}, expected their number or edges")
            out.append(np.histogram_bin_edges(np.empty(0), b, r).astype(np.float64))
            continue
        e = to_numpy(b).astype(np.float64)
        if e.ndim != 1 or (e[1:] < e[:-1]).any():
            raise ValueError("histogramdd: edges descend, expected a vector that ascends")
        out.append(e)
    return out


@computes_first
def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool = False, weights: Any = None
) -> tuple[Array, NDArray, NDArray]:
    """Counts points in two dimensions in each bin; see :func:`histogramdd`.

    Parameters
    ----------
    x, y : array_like
        Coordinates of the points, two vectors of the same length.
    bins : int or sequence, default 10
        Number of bins along both axes, edges of both axes, or one of these for each axis.
    range : pair of tuple of float or None
        As for :func:`histogramdd`.
    density : bool, default False
        As for :func:`histogramdd`.
    weights : array_like or None
        As for :func:`histogramdd`.

    Returns
    -------
    tuple[Array, ndarray, ndarray]
        The counts, float64 and lazy, and the edges of both axes.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.5, 1.5, 1.5])
    >>> counts, _, _ = cubed.histogram2d(x, x, bins=2, range=((0, 2), (0, 2)))
    >>> counts.compute()
    array([[1., 0.],
           [0., 2.]])
    """
    a, b = as_lazy(x), as_lazy(y)
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"histogram2d: x has shape {a.shape} and y {b.shape}, expected one length")
    if isinstance(bins, (Sequence, np.ndarray)) and len(bins) != 2:
        bins = [bins[0] if len(bins) == 1 else bins] * 2
    counts, edges_of = histogramdd([a, b], bins, range, density, weights)
    return counts, edges_of[0], edges_of[1]
