"""Finds functions on whole lines (all elements along an axis) that may be called with some of the
lines at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import made_of
from cubed.blocks._gufunc import CallMem

#: Number of copies that a function on lines makes: lines, masks and sort orders.
COPIES = 6
MEM = CallMem(COPIES)

#: Packages whose functions only reduce along the given `axis`.
_ALONG_AXES = {"bottleneck", "numbagg", "numpy", "xarray"}


def works_by_lines(func: Callable[..., Any]) -> bool:
    """Whether a function on core dimensions treats each position of the other axes independently.

    Only then may its blocks be smaller than the array's chunks. True for ufuncs, and for functions
    of Xarray and numbagg, because their core dimensions include all axes along which they depend on
    other elements. False for any other function, such as ``scipy.signal.detrend`` with ``axis=0``,
    because this is unknown.
    """
    keywords: dict[str, Any] = {}
    while isinstance(func, partial):
        keywords |= func.keywords
        func = func.func
    if isinstance(func, np.ufunc):
        return not keywords.keys() & {"axes", "axis"}
    return _package(func) in {"numbagg", "xarray"}


def reduces_along_axes(func: Callable[..., Any]) -> bool:
    """Whether a function reduces along its argument `axis`, independently of the other axes."""
    while isinstance(func, partial):
        func = func.func
    return isinstance(func, np.ufunc) or _package(func) in _ALONG_AXES


def _package(func: Callable[..., Any]) -> str:
    return str(getattr(func, "__module__", "")).partition(".")[0]


def in_lines(x: Array, axes: Sequence[int]) -> Array:
    """Rechunks x so that some axes have one chunk each.

    The other axes are split so that a chunk and its copies use a quarter of a task's memory, if one
    line needs no more.
    """

    def make(given: Sequence[Array], memory: int) -> tuple[Array, ...]:
        (x,) = given
        before = [max(1, n) for n in x.chunksize]
        chunks = [max(1, n) if d in axes else before[d] for d, n in enumerate(x.shape)]
        while math.prod(chunks) > memory // (4 * (COPIES + 1) * x.itemsize):
            others = (d for d in range(x.ndim) if d not in axes)
            d = max(others, key=lambda d: chunks[d], default=None)
            if d is None or chunks[d] == 1:
                break
            chunks[d] = -(-chunks[d] // 2)
        # If an axis need not be rechunked, it keeps its chunks, even if they are irregular.
        return (x.rechunk({d: n for d, n in enumerate(chunks) if d in axes or n != before[d]}),)

    return made_of([x], make, x.spec.task_mem)[0]
