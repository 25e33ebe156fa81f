"""Functions that see all elements along an axis: which of them may get some lines at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import made_of
from cubed.blocks._gufunc import CallMem

#: A function on lines makes copies of them, masks and orders.
COPIES = 6
MEM = CallMem(COPIES)

#: Packages whose functions reduce along the `axis` that they are given, and nothing else.
_ALONG_AXES = {"bottleneck", "numbagg", "numpy", "xarray"}


def works_by_lines(func: Callable[..., Any]) -> bool:
    """Whether a function on core dimensions treats each element of the other axes by itself.

    Only then may its blocks be finer than the array's chunks. True for ufuncs, and for functions of
    Xarray and numbagg: these name as core dimensions all axes that they look along. Unknown for any
    other function, such as ``scipy.signal.detrend`` with ``axis=0``, so False.
    """
    keywords: dict[str, Any] = {}
    while isinstance(func, partial):
        keywords |= func.keywords
        func = func.func
    if isinstance(func, np.ufunc):
        return not keywords.keys() & {"axes", "axis"}
    return _package(func) in {"numbagg", "xarray"}


def reduces_along_axes(func: Callable[..., Any]) -> bool:
    """Whether a function reduces along the `axis` it is given, independently of the other axes."""
    while isinstance(func, partial):
        func = func.func
    return isinstance(func, np.ufunc) or _package(func) in _ALONG_AXES


def _package(func: Callable[..., Any]) -> str:
    return str(getattr(func, "__module__", "")).partition(".")[0]


def in_lines(x: Array, axes: Sequence[int]) -> Array:
    """x with some axes in one chunk each.

    The other axes are cut so that a chunk and its copies are a quarter of a task's memory, if one
    line is no more than that.
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
        # Axes that need no other chunks keep those that they have, also where they differ.
        return (x.rechunk({d: n for d, n in enumerate(chunks) if d in axes or n != before[d]}),)

    return made_of([x], make, x.spec.task_mem)[0]
