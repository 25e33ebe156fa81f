"""Reductions of windows that move along axes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._calls import COPIES
from cubed.base._types import NDArray
from cubed.blocks._overlap import overlapped
from cubed.xarray._lines import reduces_along_axes

#: Reductions of windows that the engine supports.
_REDUCTIONS = {"max", "mean", "min", "prod", "std", "sum", "var"}
#: Maximum bytes of the windows that a function reduces at a time, and number of copies it may make.
_WINDOWS_BYTES, _COPIES_OF_WINDOWS = 2**18, 4
#: For each axis, the number of elements before and after an element that belong to its window.
Windows = Mapping[int, tuple[int, int]]


def moving(
    name: str, x: Array, windows: Windows, min_count: int, ddof: float, dtype: np.dtype[Any]
) -> Array | None:
    """Reduces the window around each element, without NaN, by the engine.

    Windows with fewer than `min_count` elements that are not NaN become NaN. Returns None if the
    engine does not support the reduction.

    x has floats, integers or bools; `dtype` is the floating-point type of the result. Each chunk is
    read once, with its neighbouring elements.
    """
    if name not in _REDUCTIONS:
        return None
    if x.dtype.kind != "f":
        x = x.astype(float)
    return _rolling(name, x, windows, min_count, ddof).astype(dtype)


def counted(known: Array, windows: Windows) -> Array:
    """Counts the true elements in the window around each element."""
    return _rolling("sum", known.astype("f8"), windows, 0, 0).astype(np.int64)


def _rolling(name: str, x: Array, windows: Windows, min_count: int, ddof: float) -> Array:
    lengths = [before + 1 + after for before, after in windows.values()]
    after = [after for _, after in windows.values()]
    core = _core.call("rolling", x._x, lengths, name, list(windows), False, min_count, ddof, after)
    return x._like(core)


def _last_argmax(x: NDArray, axis: int) -> NDArray:
    return x.shape[axis] - 1 - np.argmax(np.flip(x, axis), axis=axis)


def _last_argmin(x: NDArray, axis: int) -> NDArray:
    return x.shape[axis] - 1 - np.argmin(np.flip(x, axis), axis=axis)


#: Positions of extremes of windows: the last one if several elements are equal.
LAST = {"argmax": _last_argmax, "argmin": _last_argmin}


def reduced(
    func: Callable[..., Any], x: Array, windows: Windows, fill: Any, kwargs: dict[str, Any]
) -> Array:
    """Reduces windows by ``func(array, axis=, **kwargs)``. Windows are views of a block.

    Elements beyond the ends of axes are `fill`. A function that only reduces along `axis` gets some
    windows at a time. A user-defined function gets all windows of a chunk, because its result may
    depend on all of them.
    """
    size = math.prod(b + 1 + a for b, a in windows.values())
    axes = tuple(range(-len(windows), 0))
    one = np.ones((1,) * x.ndim + (1,) * len(windows), x.dtype)
    dtype = np.asarray(func(one, axis=axes[0] if len(axes) == 1 else axes, **kwargs)).dtype
    each = size * max(x.itemsize, 8)
    by_windows = reduces_along_axes(func)
    most = max(1, _WINDOWS_BYTES // each) if by_windows else None

    def extra(blocks: Sequence[Sequence[int]]) -> int:
        n = math.prod(blocks[0])
        if most is None:
            return COPIES * n * each
        return n * dtype.itemsize + _COPIES_OF_WINDOWS * min(n, most) * each

    return overlapped(
        f"moving {getattr(func, '__name__', 'function')}",
        _reduced_by,
        (x,),
        {
            "function": func,
            "sizes": {axis: before + 1 + after for axis, (before, after) in windows.items()},
            "most": most,
            "dtype": dtype,
            "options": kwargs,
        },
        dtype=dtype,
        depth=dict(windows),
        boundary=dict.fromkeys(windows, fill),
        extra_mem=extra,
    )


def _reduced_by(
    block: NDArray,
    function: Callable[..., Any],
    sizes: Mapping[int, int],
    most: int | None,
    dtype: np.dtype[Any],
    options: dict[str, Any],
) -> NDArray:
    """Reduces each window: at most `most` windows at a time, or all windows together if `most` is
    None."""
    sliding: Any = np.lib.stride_tricks.sliding_window_view
    view = sliding(block, tuple(sizes.values()), axis=tuple(sizes))
    axes = tuple(range(-len(sizes), 0))
    axis: Any = axes[0] if len(axes) == 1 else axes
    if most is None:
        return function(view, axis=axis, **options)
    shape = view.shape[: block.ndim]
    out = np.empty(shape, dtype)
    for part in tiles(shape, most):
        out[part] = function(view[part], axis=axis, **options)
    return out


def tiles(shape: Sequence[int], most: int) -> Iterator[tuple[slice, ...]]:
    """Splits a shape into parts of at most `most` elements, by halving the longest axes."""
    lengths = [max(1, n) for n in shape]
    while math.prod(lengths) > most and max(lengths) > 1:
        longest = lengths.index(max(lengths))
        lengths[longest] = -(-lengths[longest] // 2)
    starts = (range(0, n, length) for n, length in zip(shape, lengths, strict=True))
    for at in itertools.product(*starts):
        yield tuple(slice(k, k + length) for k, length in zip(at, lengths, strict=True))
