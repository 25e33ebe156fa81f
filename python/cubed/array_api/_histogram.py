"""Counts of values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import common_spec, core_of, lazy, to_numpy
from cubed.array_api.elementwise_functions import subtract
from cubed.array_api.searching_functions import searchsorted
from cubed.array_api.statistical_functions import max as maximum
from cubed.array_api.statistical_functions import min as minimum
from cubed.array_api.statistical_functions import sum as total
from cubed.base._types import NDArray
from cubed.planning._compute import compute


def _weights(weights: Any) -> _core.Array | None:
    return None if weights is None else core_of(weights)


def _limits(x: Array) -> NDArray:
    """The least and the greatest element: computed now."""
    if x.size == 0:
        return np.array([0.0, 1.0])
    y = x.astype("uint8") if x.dtype.kind == "b" else x
    return np.array(compute(minimum(y), maximum(y)))


def histogram(
    x: Array, /, bins: int | Sequence[float] = 10, range: tuple[float, float] | None = None,
    density: bool = False, weights: Any = None,
) -> tuple[Array, NDArray]:  # fmt: skip
    """How many elements lie in each bin.

    Parameters
    ----------
    x
        Real numbers, of any shape.
    bins
        How many bins of equal width, or their edges, which ascend.
    range
        The first and the last edge of a number of bins. None: the least and the greatest element,
        which are computed now.
    density
        Divide by the sum and by the widths of bins: the integral is 1.
    weights
        Of x's shape: sum these instead of counting.

    Returns
    -------
    tuple[Array, ndarray]
        For each bin int64, or the type of weights (of bool: int64), or float64 with `density`,
        lazy; and the edges. The last bin has its upper edge in it. NaN and what is beyond the
        edges is in none.

    Raises
    ------
    ValueError
        For edges that descend, a range that is not finite, or weights of another shape.
    TypeError
        For other types than real numbers.
    """
    x = lazy(x)
    if isinstance(bins, str):
        raise NotImplementedError(f"histogram: bins={bins!r}; give their number or edges")
    refuse_foreign(bins, what="bins")
    limits = _limits(x) if range is None and np.ndim(bins) == 0 else np.empty(0)
    edges = np.histogram_bin_edges(limits, bins, range)
    core = _core.histogram(x._x, edges.astype("float64").tolist(), _weights(weights))
    counts = Array._new(core, common_spec(x, weights))
    if density:
        counts = counts / np.diff(edges) / total(counts, dtype="float64")
    return counts, edges


def bincount(x: Array, /, weights: Any = None, minlength: int = 0) -> Array:
    """How many elements are 0, 1, 2, ...

    Parameters
    ----------
    x
        Integers from 0 up, in one dimension. The least and the greatest are computed now.
    weights
        Of x's shape: sum these instead of counting.
    minlength
        Elements of the result at least.

    Returns
    -------
    Array
        int64, or float64 with weights: as many elements as the greatest of x needs.

    Raises
    ------
    ValueError
        For another number of axes, or an element below 0.
    TypeError
        For other types than integers.
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
    core = _core.bincount(x._x, length, _weights(weights))
    return Array._new(core, common_spec(x, weights))


def digitize(x: Array, /, bins: Any, right: bool = False) -> Array:
    """The bin that each element is in: ``bins[i - 1] <= x < bins[i]``.

    Parameters
    ----------
    x
        Real numbers.
    bins
        Edges that ascend or descend; where they descend ``bins[i - 1] > x >= bins[i]``.
    right
        Bins have their upper edge in them instead of the lower one.

    Returns
    -------
    Array
        int64 of x's shape, from 0 to the number of edges. Lazy.

    Raises
    ------
    ValueError
        For edges that neither ascend nor descend.
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
