"""Elements around an array: NumPy's pad, out of views of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import lazy
from cubed.array_api import elementwise_functions, statistical_functions
from cubed.array_api._quantiles import median
from cubed.array_api.manipulation_functions import broadcast_to, concat
from cubed.base._types import ChunksLike

#: Modes whose elements are elements of the array.
_COPIES = ("edge", "reflect", "symmetric", "wrap")
_STATISTICS = ("maximum", "mean", "median", "minimum")
_MODES = (*_COPIES, *_STATISTICS, "constant", "empty", "linear_ramp")

#: More of them are a tiling instead of a concatenation of views.
_MOST_PERIODS = 8


def pad(
    x: Array,
    pad_width: Any,
    mode: str = "constant",
    constant_values: Any = 0,
    chunks: ChunksLike = None,
    *,
    end_values: Any = 0,
    stat_length: Any = None,
    reflect_type: str = "even",
) -> Array:
    """x with elements around it.

    Parameters
    ----------
    x : Array
        Input array.
    pad_width : int, pair or sequence of pairs
        How many: a number, (before, after), or a pair for each axis.
    mode : str, default "constant"
        What they are: ``"constant"`` or ``"empty"`` (zeros); the nearest (``"edge"``); those of
        the array, mirrored about its last element (``"reflect"``) or behind it (``"symmetric"``),
        or from its other end (``"wrap"``); its ``"maximum"``, ``"mean"``, ``"median"`` or
        ``"minimum"`` along the axis; a ``"linear_ramp"`` to `end_values`.
    constant_values, end_values : scalar, pair or sequence of pairs, default 0
        A number, (before, after), or a pair for each axis.
    chunks : int, tuple, str or None
        Of the result; see :func:`cubed.rechunk`.
    stat_length : int, pair, sequence of pairs or None
        How many elements at an end a statistic is of; None: all.
    reflect_type : {"even", "odd"}, default "even"
        ``"even"``: mirrored elements are as they are.

    Returns
    -------
    Array
        x's type. Lazy.

    Raises
    ------
    ValueError
        A mode that is unknown, or a width that is negative or not for the array's axes.

    Examples
    --------
    >>> import cubed
    >>> cubed.pad(cubed.asarray([1, 2]), 1, mode="edge").compute()
    array([1, 1, 2, 2])
    """
    x = lazy(x)
    if mode not in _MODES:
        raise ValueError(f"mode is {mode!r}, expected one of {', '.join(sorted(_MODES))}")
    if reflect_type != "even":
        raise NotImplementedError(f"pad with reflect_type {reflect_type!r}")
    widths = _pairs("pad_width", pad_width, x.ndim)
    values = _pairs("constant_values", constant_values, x.ndim)
    ends = _pairs("end_values", end_values, x.ndim)
    lengths = _pairs("stat_length", stat_length, x.ndim)
    if mode == "empty":
        values = [(0, 0)] * x.ndim
    out = x.copy()
    for d, width in enumerate(widths):
        if min(width) < 0:
            raise ValueError(f"pad_width of axis {d} is {width}, expected 0 or more")
        if max(width) == 0:
            continue
        if mode in ("constant", "empty"):
            out = _constant(out, d, width, values[d])
        elif mode in _COPIES:
            out = _copied(out, d, width, mode)
        elif mode == "linear_ramp":
            out = _ramp(out, d, width, ends[d])
        else:
            out = _statistic(out, d, width, mode, lengths[d])
    return out if chunks is None else out.rechunk(chunks)


def _pairs(what: str, given: Any, ndim: int) -> list[tuple[Any, Any]]:
    """A pair for each axis, of what may be a number, a pair, or a list with a pair."""
    try:
        table = np.broadcast_to(np.asarray(given, dtype=object), (ndim, 2))
    except ValueError:
        raise ValueError(f"{what} {given!r}: expected a pair for each of {ndim} axes") from None
    return [tuple(pair) for pair in table.tolist()]


def _constant(x: Array, axis: int, width: tuple[int, int], values: tuple[Any, ...]) -> Array:
    if x.dtype.kind in "mM":
        ints = tuple(np.asarray(v).astype(x.dtype).view(np.int64).item() for v in values)
        return _constant(x.astype(np.int64), axis, width, ints).astype(x.dtype)
    before, after = ([w if d == axis else 0 for d in range(x.ndim)] for w in width)
    none = [0] * x.ndim
    if values[0] == values[1] or not all(width):
        value = values[0] if width[0] else values[1]
        return x._like(_core.pad(x._x, before, after, _scalar(x, value)))
    first = _core.pad(x._x, before, none, _scalar(x, values[0]))
    return x._like(_core.pad(first, none, after, _scalar(x, values[1])))


def _scalar(x: Array, value: Any) -> Any:
    """The value in x's type, as a Python scalar."""
    return np.asarray(value).astype(x.dtype).item()


def _part(x: Array, axis: int, part: slice) -> Array:
    return x[(slice(None),) * axis + (part,)]


def _joined(x: Array, axis: int, parts: Sequence[Array]) -> Array:
    parts = [p for p in parts if p.shape[axis]]
    return concat(parts, axis=axis) if len(parts) > 1 else parts[0]


def _spread(x: Array, axis: int, n: int) -> Array:
    """n times the only element along the axis."""
    return broadcast_to(x, tuple(n if d == axis else s for d, s in enumerate(x.shape)))


def _copied(x: Array, axis: int, width: tuple[int, int], mode: str) -> Array:
    n = x.shape[axis]
    if n == 0:
        raise ValueError(f"pad with mode {mode!r} of an axis without elements")
    before, after = width
    if mode == "edge" or n == 1:
        ends = [_part(x, axis, slice(0, 1)), _part(x, axis, slice(n - 1, n))]
        return _joined(x, axis, [_spread(ends[0], axis, before), x, _spread(ends[1], axis, after)])
    # A line through all elements is periodic: this is one period from the first element on.
    period = [x]
    if mode != "wrap":
        skipped = int(mode == "reflect")  # the ends are not repeated
        back = slice(n - 1 - skipped, skipped - 1 if skipped else None, -1)
        period.append(_part(x, axis, back))
    lengths = [p.shape[axis] for p in period]
    length = sum(lengths)
    start, stop = -before, n + after
    if (stop - start) // length > _MOST_PERIODS:
        first = start % length
        times = [1] * x.ndim
        times[axis] = -(-(first + stop - start) // length)
        many = x._like(_core.tile(_joined(x, axis, period)._x, times))
        return _part(many, axis, slice(first, first + stop - start))
    parts = []
    at = start // length * length
    while at < stop:
        for part, extent in zip(period, lengths, strict=True):
            low, high = max(start - at, 0), min(stop - at, extent)
            if low < high:
                parts.append(_part(part, axis, slice(low, high)))
            at += extent
    return _joined(x, axis, parts)


def _statistic(x: Array, axis: int, width: tuple[int, int], mode: str, lengths: Any) -> Array:
    n = x.shape[axis]
    functions: dict[str, Any] = {
        "maximum": statistical_functions.max,
        "mean": statistical_functions.mean,
        "median": median,
        "minimum": statistical_functions.min,
    }

    def one(part: slice, count: int) -> Array:
        source = _part(x, axis, part)
        if mode in ("mean", "median") and x.dtype.kind in "iu":
            value = elementwise_functions.round(
                functions[mode](source.astype(float), axis=axis, keepdims=True)
            )
        else:
            value = functions[mode](source, axis=axis, keepdims=True)
        return _spread(value.astype(x.dtype), axis, count)

    low, high = (n if k is None else min(int(k), n) for k in lengths)
    parts = [one(slice(0, low), width[0]), x, one(slice(n - high, n), width[1])]
    return _joined(x, axis, parts)


def _ramp(x: Array, axis: int, width: tuple[int, int], ends: tuple[Any, Any]) -> Array:
    """From an end value, which is reached, to the edge, which is not repeated."""
    n = x.shape[axis]

    def one(edge: slice, end: Any, count: int, back: bool) -> Array:
        shape = [count if d == axis else 1 for d in range(x.ndim)]
        chunks = [min(c, n) for c, n in zip(x._x.chunks, shape, strict=True)]
        steps = x._like(_core.astype(_core.index(shape, [max(1, c) for c in chunks], 0), "float64"))
        share = (_part(steps, axis, slice(None, None, -1)) if back else steps) / max(1, count)
        value = _part(x, axis, edge).astype(np.result_type(x.dtype, np.float64))
        ramp = share * (value - end) + end
        return (elementwise_functions.floor(ramp) if x.dtype.kind in "iu" else ramp).astype(x.dtype)

    return _joined(
        x,
        axis,
        [
            one(slice(0, 1), ends[0], width[0], False),
            x,
            one(slice(n - 1, n), ends[1], width[1], True),
        ],
    )
