"""Writes into existing arrays, by functions on blocks."""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import threading
import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.base._chunks import lengths_behind
from cubed.base._pickles import dumps
from cubed.base._stores import in_memory
from cubed.base._types import NDArray


class Held:
    """A value that functions on blocks use: the object itself in this process, a pickled copy in
    other processes.
    """

    _here: weakref.WeakValueDictionary[str, Held] = weakref.WeakValueDictionary()

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = os.urandom(16).hex()
        self._here[self._key] = self

    def __reduce__(self) -> Any:
        kind = type(self.value)
        data = None
        if not _is_memory(self.value):
            # On failure, the process that needs the value gets an error that names its type.
            with contextlib.suppress(Exception):
                data = dumps(self.value)
        return _found, (self._key, f"{kind.__module__}.{kind.__qualname__}", data)


def _is_memory(value: Any) -> bool:
    """Returns True if writing to a copy in another process has no effect here."""
    return isinstance(value, np.ndarray) or in_memory(getattr(value, "store", None)) is not None


def _found(key: str, name: str, data: bytes | None) -> Held:
    found = Held._here.get(key)
    if found is None and data is not None:
        found = Held(pickle.loads(data))
    if found is None:
        raise TypeError(f"{name} cannot be sent to another process")
    return found


def written_into(x: Array, target: Held, region: Any, lock: Held) -> Array:
    """Returns an array with an element for each chunk of x; computing it writes x."""
    shape = tuple(target.value.shape)
    if region is None:
        region = (slice(None),) * x.ndim
    steps = [range(n)[r] for n, r in zip(shape, region, strict=True)]
    if tuple(map(len, steps)) != x.shape:
        raise ValueError(f"an array of shape {x.shape} for region {region} of shape {shape}")
    edges = [np.cumsum((0, *c)) for c in x.chunks]
    # A copy of the block, the target's chunk, and the encoded chunk.
    extra = 3 * max(x.chunkmem, _chunk_bytes(target.value))
    counts = [(1,) * len(c) for c in x.chunks]
    from cubed.array._calls import call_on_each  # lazy: slow import

    return call_on_each("store", _Writer(target, steps, edges, lock), x, bool, extra, counts)


def _chunk_bytes(target: Any) -> int:
    """Returns the size of a chunk of the target in bytes. Writing a part of a chunk may read the
    chunk."""
    chunks = getattr(target, "chunks", None) or ()
    return math.prod(chunks) * np.dtype(target.dtype).itemsize if chunks else 0


def aligned(x: Array, target: Any, region: tuple[slice, ...]) -> Array:
    """Rechunks x, which is written to a region, so that no two of its chunks overlap the same chunk
    of the target."""
    chunks = getattr(target, "shards", None) or getattr(target, "chunks", None)
    if not chunks:
        return x
    starts = [r.indices(n)[0] for r, n in zip(region, target.shape, strict=True)]
    sizes = [c * max(1, n // c) for c, n in zip(chunks, x.chunksize, strict=True)]
    axes = zip(x.shape, sizes, starts, strict=True)
    return x.rechunk(tuple(lengths_behind(n, size, start % size) for n, size, start in axes))


#: A lock that is held while a part of a chunk is assigned, because the target's library reads and
#: writes the whole chunk. The lock excludes threads of this process, not other processes.
_sharing = threading.Lock()


def _shares(target: Any, key: tuple[slice, ...]) -> bool:
    """Returns True if a part of an array covers some chunk only partly."""
    chunks = getattr(target, "shards", None) or getattr(target, "chunks", None)
    if not chunks:
        return False
    parts = zip(key, chunks, target.shape, strict=True)
    return any(k.start % c or (k.stop % c and k.stop != n) for k, c, n in parts)


class _Writer:
    """Writes a block to its position in the target."""

    def __init__(
        self, target: Held, steps: Sequence[range], edges: Sequence[NDArray], lock: Held
    ) -> None:
        self._target = target
        self._steps = steps
        self._edges = edges
        self._lock = lock

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> tuple[NDArray]:
        (block,) = blocks
        key = tuple(
            _slice(r[e[i] : e[i + 1]])
            for r, e, i in zip(self._steps, self._edges, index, strict=True)
        )
        alone = _sharing if _shares(self._target.value, key) else contextlib.nullcontext()
        with self._lock.value or contextlib.nullcontext(), alone:
            # A copy, because writers may pass the block to threads that use it after this call.
            self._target.value[key if key else ...] = block.copy()
        return (np.ones((1,) * block.ndim, bool),)


def _slice(r: range) -> slice:
    if r.step < 0:
        raise ValueError("a region with a negative step")
    return slice(r.start, r.stop, r.step)
