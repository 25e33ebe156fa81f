"""Chunks, padding and what else is not in the standard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed._array import Array
from cubed._chunks import normalize_chunks


def rechunk(x: Array, chunks: Any, *, min_mem: Any = None, allow_irregular: bool = True) -> Array:
    """The same values in other chunks.

    Parameters
    ----------
    chunks
        An extent for all axes, -1 for a whole axis; ``"auto"`` or a size such as ``"64MB"``; a
        sequence or a mapping with an entry for each axis, where None (or no entry) leaves the axis
        as it is.
    min_mem, allow_irregular
        For compatibility: the planner chooses the passes.
    """
    before = x._x.chunks
    after = normalize_chunks(chunks, x.shape, max(1, x.dtype.itemsize), before)
    return x if after == before else x._like(_core.rechunk(x._x, after))


def pad(
    x: Array,
    pad_width: Any,
    mode: str = "constant",
    constant_values: Any = 0,
    chunks: Any = None,
) -> Array:
    """x with `pad_width` elements around it: a number, (before, after), or a pair for each axis.

    `mode` is ``"constant"``, with `constant_values` one number.
    """
    if mode != "constant":
        raise NotImplementedError(f"pad with mode {mode!r}: only 'constant' is implemented")
    pairs = _pairs(pad_width, x.ndim)
    if isinstance(constant_values, Sequence):
        raise NotImplementedError("pad with several constant_values: only one is implemented")
    before, after = [p[0] for p in pairs], [p[1] for p in pairs]
    for d, p in enumerate(pairs):
        if min(p) < 0:
            raise ValueError(f"pad_width of axis {d} is {p}, expected 0 or more")
    out = x._like(_core.pad(x._x, before, after, constant_values))
    return out if chunks is None else rechunk(out, chunks)


def _pairs(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    if isinstance(pad_width, int):
        return [(pad_width, pad_width)] * ndim
    widths: list[Any] = [tuple(w) if isinstance(w, Sequence) else w for w in pad_width]
    if len(widths) == 2 and all(isinstance(w, int) for w in widths):
        return [(widths[0], widths[1])] * ndim
    if len(widths) == 1 and ndim != 1:
        widths *= ndim
    if len(widths) != ndim or not all(isinstance(w, tuple) and len(w) == 2 for w in widths):
        raise ValueError(f"pad_width {pad_width!r}: expected a pair for each of {ndim} axes")
    return widths
