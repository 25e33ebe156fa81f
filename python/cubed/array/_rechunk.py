"""Chunks, padding and what else is not in the standard."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._base import Array
from cubed.array._cores import engine_chunks
from cubed.array._operands import lazy
from cubed.base._chunks import normalize_chunks
from cubed.base._types import ChunksLike


def rechunk(
    x: Array, chunks: ChunksLike, *, min_mem: Any = None, allow_irregular: bool = True
) -> Array:
    """The same values in other chunks; lazy.

    Parameters
    ----------
    x : Array
        The array.
    chunks : int, tuple, str or None
        An extent for all axes, -1 for a whole axis; ``"auto"`` or a size such as ``"64MB"``; a
        sequence or a mapping with an entry for each axis, where None (or no entry) leaves the axis
        as it is. An entry may be a tuple with the extents of all chunks, which may differ:
        ``x.rechunk(((31, 28, 31), -1))``. They are stored in Zarr arrays of format 3; see
        :func:`cubed.store` for chunks of stores.
    min_mem : object or None
        For compatibility: the planner chooses the passes.
    allow_irregular : bool, default True
        For compatibility: the planner chooses the passes.

    Returns
    -------
    Array
        Of x's shape and type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((4, 6), chunks=(4, 1))
    >>> cubed.rechunk(x, (1, 6)).chunks
    ((1, 1, 1, 1), (6,))
    """
    x = lazy(x)
    before = engine_chunks(x._x)
    after = normalize_chunks(chunks, x.shape, max(1, x.dtype.itemsize), before)
    if after == before:
        return x._like(x._x)
    changed = [None if a == b else a for a, b in zip(after, before, strict=True)]
    return x._like(_core.rechunk(x._x, changed))
