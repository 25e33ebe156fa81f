"""Reductions of windows, of blocks with the elements around them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

import cubed
from cubed.array._array import Array
from cubed.base._types import NDArray

#: Elements before and after an element along each axis.
Windows = Mapping[int, tuple[int, int]]


def moving(name: str, x: Array, windows: Windows, min_count: int, ddof: float) -> Array | None:
    """Each element's reduction of itself and elements around it that are not NaN.

    Parameters
    ----------
    name
        ``"sum"``, ``"mean"``, ``"min"``, ``"max"``, ``"prod"``, ``"var"`` or ``"std"``.
    x
        Of floats, integers or bools.
    min_count
        NaN where fewer elements are known.

    Returns
    -------
    Array of x's shape, lazy; None for another reduction. Its type is x's if that is of floats, else
    the one that Xarray has for NaN beside such elements. Each chunk of x is read once, with what is
    around it.
    """
    if name not in _REDUCTIONS:
        return None
    dtype = x.dtype
    if dtype.kind != "f":
        wide = dtype.itemsize > 2 or name in ("sum", "mean", "prod")
        dtype = np.dtype("f8" if wide else "f4")
    # A total, what is added to it, a mask, and how many there are.
    extra = math.prod(x.chunksize) * (4 * 8 + 1)
    return _around(
        _reduced,
        x if x.dtype.kind == "f" else x.astype(dtype),
        windows,
        float("nan"),  # which does not count
        dtype,
        extra,
        f"moving {name}",
        reduction=name,
        min_count=min_count,
        ddof=ddof,
        result=dtype,
    )


def counted(known: Array, windows: Windows) -> Array:
    """How many of an element and those around it are true."""
    extra = math.prod(known.chunksize) * 8
    return _around(_count, known, windows, False, np.int64, extra, "moving count")


def _last_argmax(x: NDArray, axis: int) -> NDArray:
    return x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis=axis)


def _last_argmin(x: NDArray, axis: int) -> NDArray:
    return x.shape[axis] - 1 - np.argmin(np.flip(x, axis), axis=axis)


#: Functions of windows that find the last of equal elements.
LAST = {"argmax": _last_argmax, "argmin": _last_argmin}


def reduced(
    func: Callable[..., Any], x: Array, windows: Windows, fill: Any, kwargs: dict[str, Any]
) -> Array:
    """Another function's reduction of windows, which are views: some of them at a time.

    Parameters
    ----------
    func
        ``func(array, axis=..., **kwargs)``.
    fill
        What is beyond the ends of axes.
    """
    size = math.prod(b + 1 + a for b, a in windows.values())
    axes = tuple(range(-len(windows), 0))
    one = np.ones((1,) * x.ndim + (1,) * len(windows), x.dtype)
    dtype = np.asarray(func(one, axis=axes[0] if len(axes) == 1 else axes, **kwargs)).dtype
    # Copies of as many windows as there are elements in a slab.
    longest = max(x.chunksize, default=1)
    line = math.prod(x.chunksize) // max(1, longest)
    slab = max(1, x.spec.task_mem // (32 * x.itemsize * size * max(1, line)))
    return _around(
        _reduced_by,
        x,
        windows,
        fill,
        dtype,
        4 * min(slab, longest) * line * size * max(x.itemsize, 8),
        f"moving {getattr(func, '__name__', 'function')}",
        function=func,
        slab=slab,
        options=kwargs,
    )


def _around(
    call: Callable[..., Any],
    x: Array,
    windows: Windows,
    beyond: Any,
    dtype: Any,
    extra: int,
    name: str,
    /,
    **kwargs: Any,
) -> Array:
    return cubed.map_overlap(
        call,
        x,
        dtype=dtype,
        depth=dict(windows),
        boundary={axis: beyond for axis in windows},
        extra_projected_mem=extra,
        name=name,
        sizes={axis: before + 1 + after for axis, (before, after) in windows.items()},
        **kwargs,
    )


Sizes = Mapping[int, int]


def _shape(block: NDArray, sizes: Sizes) -> tuple[int, ...]:
    """How many windows there are in a block."""
    return tuple(n + 1 - sizes.get(d, 1) for d, n in enumerate(block.shape))


def _parts(block: NDArray, sizes: Sizes) -> Iterator[NDArray]:
    """The first elements of all windows, their second ones, and so on."""
    shape = _shape(block, sizes)
    for offsets in itertools.product(*(range(sizes.get(d, 1)) for d in range(block.ndim))):
        yield block[tuple(slice(k, k + n) for k, n in zip(offsets, shape, strict=True))]


def _count(block: NDArray, sizes: Sizes) -> NDArray:
    out = np.zeros(_shape(block, sizes), np.int64)
    for part in _parts(block, sizes):
        out += part
    return out


def _reduced(
    block: NDArray,
    reduction: str,
    sizes: Sizes,
    min_count: int,
    ddof: float,
    result: np.dtype[Any],
) -> NDArray:
    shape = _shape(block, sizes)

    def parts() -> Iterator[NDArray]:
        return _parts(block, sizes)

    known = np.zeros(shape, np.int64)
    for part in parts():
        known += ~np.isnan(part)
    with np.errstate(all="ignore"):
        out = _REDUCTIONS[reduction](parts, shape, known, ddof)
    out[known < min_count] = np.nan
    return out.astype(result, copy=False)


def _reduced_by(
    block: NDArray,
    function: Callable[..., Any],
    sizes: Sizes,
    slab: int,
    options: dict[str, Any],
) -> NDArray:
    sliding: Any = np.lib.stride_tricks.sliding_window_view
    view = sliding(block, tuple(sizes.values()), axis=tuple(sizes))
    axes = tuple(range(-len(sizes), 0))
    longest = int(np.argmax(view.shape[: block.ndim]))
    parts = [
        function(part, axis=axes[0] if len(axes) == 1 else axes, **options)
        for k in range(0, view.shape[longest], slab)
        for part in (view[(slice(None),) * longest + (slice(k, k + slab),)],)
    ]
    return np.concatenate(parts, axis=longest)


def _sum(parts: Callable[[], Iterator[NDArray]], shape: Any, known: Any, _: Any) -> NDArray:
    out = np.zeros(shape)
    for part in parts():
        np.add(out, part, out=out, where=~np.isnan(part))
    return out


def _mean(parts: Any, shape: Any, known: Any, _: Any) -> NDArray:
    return np.divide(_sum(parts, shape, known, _), known)


def _prod(parts: Any, shape: Any, known: Any, _: Any) -> NDArray:
    out = np.ones(shape)
    for part in parts():
        np.multiply(out, part, out=out, where=~np.isnan(part))
    return out


def _min(parts: Any, shape: Any, known: Any, _: Any) -> NDArray:
    out = np.full(shape, np.nan)
    for part in parts():
        np.fmin(out, part, out=out)
    return out


def _max(parts: Any, shape: Any, known: Any, _: Any) -> NDArray:
    out = np.full(shape, np.nan)
    for part in parts():
        np.fmax(out, part, out=out)
    return out


def _var(parts: Any, shape: Any, known: Any, ddof: float) -> NDArray:
    mean = _mean(parts, shape, known, ddof)
    out = np.zeros(shape)
    for part in parts():
        difference = part - mean
        np.add(out, difference * difference, out=out, where=~np.isnan(part))
    freedom = known - ddof
    return np.where(freedom > 0, out / freedom, np.nan)


def _std(parts: Any, shape: Any, known: Any, ddof: float) -> NDArray:
    return np.sqrt(_var(parts, shape, known, ddof))


_REDUCTIONS: dict[str, Callable[..., NDArray]] = {
    "max": _max,
    "mean": _mean,
    "min": _min,
    "prod": _prod,
    "std": _std,
    "sum": _sum,
    "var": _var,
}
