"""Converts chunk specifications of users to extents for the engine."""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np

from cubed.base._bytes import parse_bytes

AUTO_CHUNK_BYTES = 128 * 2**20

#: Chunks for the engine: for each axis the extent of its chunks, or the extents of all chunks if
#: they differ.
Chunks = tuple[int | tuple[int, ...], ...]

#: Types that are accepted as a shape.
Shape = SupportsIndex | Sequence[SupportsIndex]


def _plain(value: Any) -> Any:
    """Converts NumPy arrays to lists and their elements to Python numbers; keeps other values."""
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def _extents(value: Any) -> Any:
    """Converts chunks to Python numbers, and integral floats such as 2.0, results of a division, to
    integers.
    """
    value = _plain(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_extents(v) for v in value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def normalize_shape(shape: Any, name: str = "shape") -> tuple[int, ...]:
    """Converts the argument `name`, one extent or several, to a tuple."""
    shape = _plain(shape)
    try:
        if isinstance(shape, Sequence):
            return tuple(operator.index(n) for n in shape)
        return (operator.index(shape),)
    except TypeError:
        raise TypeError(f"{name} is {shape!r}, expected integers") from None


def longest(chunks: Chunks) -> tuple[int, ...]:
    """Returns the extents of the longest chunks."""
    return tuple(c if isinstance(c, int) else max(c) for c in chunks)


def normalize_chunks(
    chunks: Any,
    shape: Sequence[int],
    itemsize: int,
    previous: Sequence[int | tuple[int, ...]] | None = None,
    most: int | None = None,
) -> Chunks:
    """Returns an extent for each axis, or the extents of all chunks if they differ.

    Parameters
    ----------
    chunks
        An integer for all axes; ``"auto"`` or a size such as ``"64MB"`` for chunks of about that
        size; or a sequence with an entry for each axis, or a mapping from axes to entries. An entry
        is an extent, -1 for the whole axis, None for the previous extent (the whole axis if there
        is none), ``"auto"``, a size in bytes that limits all automatic entries, or the extents of
        all chunks.
    shape, itemsize
        Shape and item size of the array.
    previous
        Current chunks of the array.
    most
        Bytes of an automatic chunk if `chunks` has no size.
    """
    entries, limit = _entries(_without_elements(chunks, shape), len(shape))
    cuts = [_entry(d, e, shape[d], previous) for d, e in enumerate(entries)]
    known = [max(c) if isinstance(c, tuple) else c for c in cuts]
    filled = _fill_auto(known, shape, itemsize, limit or most or AUTO_CHUNK_BYTES)
    return tuple(c if isinstance(c, tuple) else f for c, f in zip(cuts, filled, strict=True))


def explicit_chunks(
    chunks: Any,
    shape: Sequence[int] | None,
    itemsize: int | None,
    limit: int | str | None = None,
    previous: Sequence[Any] | None = None,
) -> tuple[tuple[int, ...], ...]:
    """Returns the extents of all chunks, axis by axis. Extents that the caller lists may differ.

    Without a shape, `chunks` are the extents of all chunks. `limit` is the size in bytes for
    automatic axes. `previous` has for each axis an extent, the extents of all chunks, or None;
    automatic extents are multiples of it.
    """
    if shape is None:
        shape = tuple(int(sum(c)) for c in chunks)
    entries, own_limit = _entries(_without_elements(chunks, shape), len(shape))
    before = [p[0] if isinstance(p, Sequence) and p else p for p in previous or ()]
    sizes: list[int | None] = []
    for d, e in enumerate(entries):
        if isinstance(e, Sequence) and not isinstance(e, str):
            if sum(e) != shape[d]:
                raise ValueError(f"chunks {e!r} of axis {d} do not add up to its size {shape[d]}")
            sizes.append(max(e, default=1) or 1)
        else:
            known = [b or n for b, n in zip(before, shape, strict=True)] if before else None
            size = _entry(d, e, shape[d], known)
            assert not isinstance(size, tuple)  # e is not a list
            sizes.append(size)
    if None in sizes and itemsize is None:
        raise ValueError(f"chunks {chunks!r}: automatic chunks need the type of the array")
    most = own_limit or parse_bytes(limit) or AUTO_CHUNK_BYTES
    filled = _fill_auto(sizes, shape, itemsize or 1, most)
    out = []
    for d, (e, size) in enumerate(zip(entries, filled, strict=True)):
        if isinstance(e, Sequence) and not isinstance(e, str):
            out.append(tuple(int(n) for n in e))
            continue
        if sizes[d] is None and before and before[d] and size < shape[d]:
            size = _aligned(size, int(before[d]))
        whole, rest = divmod(shape[d], size)
        out.append((size,) * whole + ((rest,) if rest or not whole else ()))
    return tuple(out)


def _aligned(size: int, base: int) -> int:
    """Returns the largest multiple of base that is at most size. If base is larger than size,
    divides base into the fewest equal parts of at most size, and returns their extent."""
    return size // base * base if size >= base else -(-base // -(-base // size))


def _without_elements(chunks: Any, shape: Sequence[int]) -> Any:
    """Replaces chunks (), which Dask accepts if all axes are empty, by None."""
    is_empty = isinstance(chunks, (tuple, list)) and not chunks
    return None if is_empty and not any(shape) else chunks


def _entries(chunks: Any, ndim: int) -> tuple[list[Any], int | None]:
    """Returns an entry for each axis, and the limit for automatic entries, or None."""
    chunks = _extents(chunks)
    if isinstance(chunks, str):
        return ["auto"] * ndim, None if chunks == "auto" else parse_bytes(chunks)
    if chunks is None:
        return [None] * ndim, None
    if isinstance(chunks, Mapping):
        for axis in chunks:
            if not isinstance(axis, SupportsIndex):
                raise TypeError(f"chunks has axis {axis!r}, expected the number of an axis")
            if not -ndim <= operator.index(axis) < ndim:
                raise ValueError(f"chunks has axis {axis}, but the array has {ndim} axes")
        given = {operator.index(axis) % ndim: _extents(entry) for axis, entry in chunks.items()}
        return _automatic([given.get(d) for d in range(ndim)])
    if isinstance(chunks, Sequence):
        entries = list(chunks)
        if ndim == 1 and len(entries) > 1 and all(isinstance(e, int) for e in entries):
            entries = [tuple(entries)]
        if len(entries) != ndim:
            raise ValueError(f"chunks {chunks!r} has {len(entries)} entries, expected {ndim}")
        return _automatic(entries)
    return [_integer(chunks)] * ndim, None


def _integer(extent: Any) -> int:
    try:
        return operator.index(extent)
    except TypeError:
        raise TypeError(f"chunks: an extent is {extent!r}, expected an integer") from None


def _automatic(entries: list[Any]) -> tuple[list[Any], int | None]:
    """Replaces sizes in bytes by "auto" and returns the smallest of them as the limit."""
    sizes = [parse_bytes(e) for e in entries if isinstance(e, str) and e != "auto"]
    limit = min((s for s in sizes if s), default=None)
    return ["auto" if isinstance(e, str) else e for e in entries], limit


def _entry(
    axis: int, entry: Any, extent: int, previous: Sequence[int | tuple[int, ...]] | None
) -> int | tuple[int, ...] | None:
    """Returns the extent for an axis, the extents of all chunks if they differ, or None if
    automatic.
    """
    if entry is None:
        return previous[axis] if previous else max(1, extent)
    if isinstance(entry, str):
        return None
    if isinstance(entry, Sequence):
        sizes = [_integer(e) for e in entry]
        if sum(sizes) != extent:
            raise ValueError(f"chunks {entry!r} of axis {axis} do not add up to its size {extent}")
        if min(sizes, default=0) < 0:
            raise ValueError(f"chunks {entry!r} of axis {axis}: expected extents of at least 0")
        sizes = [s for s in sizes if s] or [1]
        alike = all(s == sizes[0] for s in sizes[:-1]) and sizes[-1] <= sizes[0]
        return sizes[0] if alike else tuple(sizes)
    size = _integer(entry)
    if size == -1:
        return max(1, extent)
    if size < 1 and (size or extent):
        raise ValueError(f"chunks for axis {axis} are {size}, expected at least 1, or -1")
    return min(max(1, size), max(1, extent))


def _fill_auto(
    entries: list[int | None], shape: Sequence[int], itemsize: int, limit: int
) -> tuple[int, ...]:
    """Chooses the extents of automatic axes, equal if the shape allows it, so that a chunk has at
    most `limit` bytes."""
    left = [d for d, e in enumerate(entries) if e is None]
    room = max(1.0, limit / itemsize / math.prod(e for e in entries if e is not None))
    out = [0 if e is None else e for e in entries]
    while left:
        side = room ** (1 / len(left))
        small = [d for d in left if shape[d] <= side]
        if not small:
            for d in left:
                out[d] = max(1, int(side + 1e-9))
            break
        for d in small:
            out[d] = max(1, shape[d])
            room /= out[d]
            left.remove(d)
    return tuple(out)


def lengths_behind(extent: int, size: int, front: int) -> tuple[int, ...]:
    """Returns the chunk lengths of an axis. The first chunk is `front` elements shorter."""
    first = min(extent, size - front)
    whole, rest = divmod(extent - first, size)
    return (first,) + (size,) * whole + ((rest,) if rest else ())
