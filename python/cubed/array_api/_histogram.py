"""Histograms, and counts of integers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computed_first, computes_first
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import common_spec, core_of, lazy, to_numpy
from cubed.array_api._edges import complex_of
from cubed.array_api.elementwise_functions import (
    greater_equal,
    imag,
    less_equal,
    logical_and,
    real,
    subtract,
)
from cubed.array_api.searching_functions import searchsorted, where
from cubed.array_api.statistical_functions import max as maximum
from cubed.array_api.statistical_functions import mean, std
from cubed.array_api.statistical_functions import min as minimum
from cubed.array_api.statistical_functions import sum as total
from cubed.base._types import NDArray
from cubed.functions.statistical import nanpercentile
from cubed.io._create import as_lazy
from cubed.planning._compute import compute


def _weights(weights: Any) -> _core.Array | None:
    return None if weights is None else core_of(weights)


def _limits(x: Array) -> NDArray:
    """Computes the smallest and the largest element immediately."""
    if x.size == 0:
        return np.array([0.0, 1.0])
    y = x.astype("uint8") if x.dtype.kind == "b" else x
    return np.array(computed_first([minimum(y), maximum(y)], [0, 1]))


_ESTIMATORS = ("auto", "doane", "fd", "rice", "scott", "sqrt", "sturges")


def _estimated(x: Array, name: str, limits: Any, weights: Any) -> int:
    """Returns the number of bins by NumPy's rule. Computes the statistics of the values
    immediately."""
    if name not in _ESTIMATORS:
        raise ValueError(f"histogram: bins is {name!r}, expected one of {', '.join(_ESTIMATORS)}")
    if weights is not None:
        raise TypeError("histogram: bins are not estimated for elements with weights")
    low, high = (float(v) for v in limits)
    y = x.reshape(-1)
    y = y.astype("uint8") if y.dtype.kind == "b" else y
    inside = logical_and(greater_equal(y, low), less_equal(y, high))
    f = y.astype("float64")
    wanted: list[Any] = [
        total(inside, dtype="int64"),
        minimum(f, where=inside, initial=high),
        maximum(f, where=inside, initial=low),
    ]
    if name in ("auto", "fd"):
        wanted += [nanpercentile(where(inside, f, float("nan")), q) for q in (25, 75)]
    if name in ("scott", "doane"):
        wanted.append(std(f, where=inside))
    guesses = [x.size, 0, 1, *range(1, len(wanted) - 2)]
    n, least, greatest, *spread = (float(v) for v in computed_first(wanted, guesses))
    if n == 0 or not high > low:
        return 1
    width = _width(name, n, greatest - least, spread, f, inside)
    if x.dtype.kind in "iu" and 0 < width < 1:
        width = 1.0
    return int(np.ceil((high - low) / width)) if width > 0 else 1


def _width(name: str, n: float, ptp: float, spread: list[float], f: Array, inside: Array) -> float:
    """Returns the width of bins by the rule with this name; 0 if all elements are equal."""
    if name == "sqrt":
        return ptp / np.sqrt(n)
    if name == "rice":
        return ptp / (2.0 * n ** (1.0 / 3))
    sturges = ptp / (np.log2(n) + 1.0)
    if name == "sturges":
        return sturges
    if name == "scott":
        return (24.0 * np.pi**0.5 / n) ** (1.0 / 3.0) * spread[0]
    if name == "doane":
        if n <= 2 or spread[0] <= 0:
            return 0.0
        deviation = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
        centre = mean(f, where=inside)
        cubes = ((f - centre) / spread[0]) ** 3
        (g1,) = computed_first([mean(cubes, where=inside)], [0])
        return ptp / (1.0 + np.log2(n) + np.log2(1.0 + np.absolute(float(g1)) / deviation))
    fd = 2.0 * (spread[1] - spread[0]) * n ** (-1.0 / 3.0)
    if name == "fd":
        return fd
    return min(fd, sturges) if fd else sturges


def computed_now(value: Any) -> Any:
    """Computes lazy arrays and Dask's delayed values, also in sequences; returns other values
    unchanged."""
    if isinstance(value, Array):
        return compute(value)[0]
    if isinstance(value, (list, tuple)):
        return type(value)(map(computed_now, value))
    return value.compute() if type(value).__module__ == "dask.delayed" else value


def bin_edges(x: Array, bins: Any, range: Any, weights: Any) -> NDArray:
    """Returns the edges of the bins of a histogram. Computes the statistics of the values that the
    edges depend on immediately."""
    bins, range = computed_now(bins), computed_now(range)
    if isinstance(range, (int, float)) or (isinstance(range, (list, tuple)) and len(range) != 2):
        raise ValueError(f"histogram: range is {range!r}, expected two numbers (start, end)")
    if isinstance(bins, str) and range is None:
        range = tuple(_limits(x).tolist())
    if isinstance(bins, str):
        if not all(np.isfinite(v) for v in range):
            raise ValueError(f"histogram: range is {range}, expected finite numbers")
        bins = _estimated(x, bins, range, weights)
    refuse_foreign(bins, what="bins")
    wants_limits = range is None and np.ndim(bins) == 0 and x.size > 0
    limits = _limits(x) if wants_limits else np.empty(0)
    # Edges have the type of the elements, even of an empty array.
    typed = limits.size or x.dtype.kind in "iuf"
    return np.histogram_bin_edges(limits.astype(x.dtype) if typed else limits, bins, range)


@computes_first
def histogram(
    x: Array, /, bins: int | str | Sequence[float] = 10, range: tuple[float, float] | None = None,
    density: bool = False, weights: Any = None,
) -> tuple[Array, NDArray]:  # fmt: skip
    """Counts the elements in each bin.

    Parameters
    ----------
    x : Array
        Real numbers, of any shape.
    bins : int or sequence, default 10
        Number of bins of equal width, their ascending edges, or the name of NumPy's estimate of
        their number: ``"auto"``, ``"doane"``, ``"fd"``, ``"rice"``, ``"scott"``, ``"sqrt"`` or
        ``"sturges"``, for which statistics of the elements are computed immediately. Lazy arrays
        and delayed values of Dask, also in `range`, are computed immediately.
    range : tuple of float or None
        The first and the last edge, if `bins` is a number. None: the smallest and the largest
        element, which are computed immediately.
    density : bool, default False
        Divide by the sum and by the widths of bins: the integral is 1.
    weights : array_like or None
        Weights, in the shape of `x`: sum the weights instead of counting.

    Returns
    -------
    tuple[Array, ndarray]
        The counts, one for each bin, lazy: int64, the type of the weights (int64 for bool), or
        float64 with `density`; and the edges. The last bin includes its upper edge. NaN and
        elements beyond the edges are not counted.

    Raises
    ------
    ValueError
        If edges descend, a range is not finite, or weights have a different shape from `x`.
    TypeError
        For types other than real numbers.

    Examples
    --------
    >>> import cubed
    >>> counts, edges = cubed.histogram(cubed.asarray([1.0, 2.0, 2.5]), bins=2, range=(1, 3))
    >>> counts.compute(), edges
    (array([1, 2]), array([1., 2., 3.]))
    """
    x = lazy(x)
    edges = bin_edges(x, bins, range, weights)
    spec, at = common_spec(x, weights), edges.astype("float64").tolist()
    w = None if weights is None else as_lazy(weights)

    def sums(part: Array | None) -> Array:
        return Array._new(
            _core.call("histogram", x._x, at, None, None if part is None else part._x), spec
        )

    if w is not None and w.dtype.kind == "c":
        counts = complex_of(sums(real(w)), sums(imag(w)))
    else:
        counts = sums(w)
    if density:
        of = None if counts.dtype.kind == "c" else "float64"
        counts = counts / np.diff(edges) / total(counts, dtype=of)
    return counts, edges


@computes_first
def bincount(x: Array, /, weights: Any = None, minlength: int = 0) -> Array:
    """Counts how many elements are 0, 1, 2, ...

    Parameters
    ----------
    x : Array of int
        Non-negative integers, in one dimension. The smallest and the largest element are computed
        immediately.
    weights : array_like or None
        Weights, in the shape of `x`: sum the weights instead of counting.
    minlength : int, default 0
        Minimum number of elements of the result.

    Returns
    -------
    Array
        int64, or float64 with weights. The length is one more than the largest element, at least
        `minlength`. Lazy.

    Raises
    ------
    ValueError
        If `x` does not have one axis, or has a negative element.
    TypeError
        For types other than integers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bincount(cubed.asarray([0, 2, 2])).compute()
    array([1, 0, 2])
    """
    x = lazy(x)
    if x.ndim != 1:
        raise ValueError(f"bincount: x has {x.ndim} axes, expected 1")
    if minlength < 0:
        raise ValueError(f"bincount: minlength is {minlength}, expected at least 0")
    length = minlength
    if x.dtype.kind == "b":
        x = x.astype("uint8")
    if x.size and x.dtype.kind in "iu":
        least, greatest = (int(v) for v in _limits(x))
        if least < 0:
            raise ValueError(f"bincount: x has the element {least}, expected 0 or more")
        length = max(minlength, greatest + 1)
    core = _core.call("bincount", x._x, length, _weights(weights))
    return Array._new(core, common_spec(x, weights))


def digitize(x: Array, /, bins: Any, right: bool = False) -> Array:
    """Finds the number of each element's bin: ``bins[i - 1] <= x < bins[i]``.

    Parameters
    ----------
    x : Array
        Real numbers.
    bins : int or sequence
        Ascending or descending edges. If they descend, ``bins[i - 1] > x >= bins[i]``.
    right : bool, default False
        Whether bins include the upper edge in place of the lower edge.

    Returns
    -------
    Array
        int64 of x's shape, from 0 to the number of edges. Lazy.

    Raises
    ------
    ValueError
        For edges that neither ascend nor descend.

    Examples
    --------
    >>> import cubed
    >>> cubed.digitize(cubed.asarray([0.5, 1.5, 9.0]), [1, 2, 3]).compute()
    array([0, 1, 3])
    """
    x = lazy(x)
    edges = to_numpy(bins)
    if edges.ndim != 1:
        raise ValueError(f"digitize: bins have {edges.ndim} axes, expected 1")
    ascend = bool((edges[1:] >= edges[:-1]).all())
    if not ascend and not (edges[1:] <= edges[:-1]).all():
        raise ValueError("digitize: bins neither ascend nor descend")
    found = searchsorted(
        x._like(core_of(edges if ascend else edges[::-1].copy())),
        x,
        side="left" if right else "right",
    )
    return found if ascend else subtract(len(edges), found)
