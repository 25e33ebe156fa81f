"""Chunks, padding and other functions that are not in the standard."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._base import Array
from cubed.array._cores import engine_chunks
from cubed.array._operands import lazy
from cubed.base._bytes import parse_bytes
from cubed.base._chunks import normalize_chunks
from cubed.base._types import ChunksLike


def rechunk(
    x: Array,
    chunks: ChunksLike = "auto",
    threshold: Any = None,
    block_size_limit: int | str | None = None,
    balance: bool = False,
    *,
    method: Any = None,
    min_mem: Any = None,
    allow_irregular: bool = True,
) -> Array:
    """Changes the chunks of an array.

    Parameters
    ----------
    x : Array
        The array.
    chunks : int, tuple, str or None, default "auto"
        An extent for all axes, -1 for a whole axis; ``"auto"`` or a size such as ``"64MB"``; a
        sequence or a mapping with an entry for each axis, where None (or no entry) leaves the axis
        as it is. An entry may be a tuple with the extents of all chunks, which may differ:
        ``x.rechunk(((31, 28, 31), -1))``. Such irregular chunks are stored in Zarr arrays of format
        3; see :func:`cubed.store` for chunks of stores.
    threshold : object or None
        Ignored: the planner chooses the passes.
    block_size_limit : int, str or None
        Bytes of a chunk with ``"auto"``. None: 128 MiB.
    balance : bool, default False
        Whether to make the chunks along an axis of nearly equal extents. A last chunk of at most
        half an extent is divided among the others.
    method : object or None
        Ignored: the planner chooses the passes.
    min_mem : object or None
        Ignored: the planner chooses the passes.
    allow_irregular : bool, default True
        Ignored: the planner chooses the passes.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((4, 6), chunks=(4, 1))
    >>> cubed.rechunk(x, (1, 6)).chunks
    ((1, 1, 1, 1), (6,))
    """
    x = lazy(x)
    before = engine_chunks(x._x)
    itemsize = max(1, x.dtype.itemsize)
    limit = None if block_size_limit is None else parse_bytes(block_size_limit)
    if limit is not None and limit < itemsize:
        raise ValueError(
            f"rechunk: block_size_limit is {block_size_limit!r}, expected at least the"
            f" {itemsize} bytes of an element"
        )
    after = normalize_chunks(chunks, x.shape, itemsize, before, limit)
    if balance:
        after = tuple(_balanced(n, c) for n, c in zip(x.shape, after, strict=True))
    if after == before:
        return x._like(x._x)
    changed = [None if a == b else a for a, b in zip(after, before, strict=True)]
    return x._like(_core.rechunk(x._x, changed))


def _balanced(extent: int, chunk: int | tuple[int, ...]) -> int | tuple[int, ...]:
    """Returns the extent of chunks of nearly equal extents. If the last chunk had at most half of
    the extent, there is one chunk fewer."""
    if isinstance(chunk, tuple):
        count, shortest, longest = len(chunk), min(chunk), max(chunk)
    else:
        count = max(1, -(-extent // chunk))
        shortest, longest = extent - (count - 1) * chunk, chunk
    if count > 1 and 2 * shortest <= longest:
        count -= 1
    return max(1, -(-extent // count))
