"""Arrays of the engine: their chunks, and arrays over memory of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed import _core
from cubed.base._chunks import Chunks, longest, normalize_chunks
from cubed.base._dtypes import name_of, packed, shortest
from cubed.base._types import NDArray


def is_auto(chunks: Any) -> bool:
    return isinstance(chunks, str) and chunks == "auto"


def engine_chunks(x: _core.Array) -> Chunks:
    """Returns the chunks of an array, in the form that rechunk accepts."""
    if not any(x.irregular):
        return x.chunks
    every = zip(x.irregular, x.all_chunks, x.chunks, strict=True)
    return tuple(sizes if irregular else size for irregular, sizes, size in every)


def in_chunks(x: _core.Array, chunks: Chunks, asked: Any = None) -> _core.Array:
    """Returns a new array in the requested chunks. `x` has regular chunks, so it is rechunked if
    the requested chunks are irregular. If the request `asked` is "auto", operations with other
    arrays use the chunks of the other arrays."""
    if is_auto(asked):
        _core.yield_chunks(x)
    return x if longest(chunks) == chunks else _core.rechunk(x, chunks)


class _Bytes:
    """Returns the memory of a NumPy array as bytes, from the lowest to the highest address."""

    def __init__(self, a: NDArray) -> None:
        spans = [(n - 1) * stride for n, stride in zip(a.shape, a.strides, strict=True)]
        start = a.__array_interface__["data"][0]
        low = start + sum(s for s in spans if s < 0)
        high = start + sum(s for s in spans if s > 0) + a.itemsize
        self._a = a
        self.__array_interface__ = {
            "version": 3,
            "data": (low, True),
            "shape": (high - low,),
            "typestr": "|u1",
        }


def _memory_of(a: NDArray) -> tuple[NDArray, int]:
    """Returns the buffer of a NumPy array, and the offset of its first element."""
    if not a.size:
        return np.empty(0, np.uint8), 0
    if a.flags.c_contiguous or a.flags.f_contiguous:
        flat = (a if a.flags.c_contiguous else a.T).reshape(-1)
        return flat.view(
            np.uint8
        ), 0  # the buffer protocol does not support these types, so bytes are passed
    memory = np.asarray(_Bytes(a))
    return memory, a.__array_interface__["data"][0] - memory.__array_interface__["data"][0]


def describe(x: _core.Array, name: str) -> None:
    """Sets the fields of a new array of records from the name of its type, if it has any."""
    if name.startswith("["):
        _core.set_fields(x, name)


def core_from_numpy(a: NDArray, chunks: Any, made: bool = False) -> _core.Array:
    """Returns an array of the engine over the memory of a NumPy array.

    The memory is copied only if its byte order differs from this machine's, or if elements are not
    aligned, as in records. `made` states that the package allocated the memory, for example for a
    copy of the user's values. Plans count such memory, and copies that this function makes.
    """
    given = a
    if a.dtype.kind in "SU" and a.dtype.itemsize == 0:
        a = a.astype(shortest(a.dtype))
    if not a.dtype.isnative or not a.flags.aligned:
        a = a.astype(a.dtype.newbyteorder("="))
    name = name_of(a.dtype)
    if a.dtype.names:
        a = np.ascontiguousarray(a.astype(packed(a.dtype), copy=False)).reshape(a.shape)
    extents = (
        None if chunks is None else normalize_chunks(chunks, a.shape, max(1, a.dtype.itemsize))
    )
    regular = None if extents is None else longest(extents)
    memory, offset = _memory_of(a)
    made = made or a is not given
    x = _core.from_memory(memory, name, a.shape, a.strides, offset, regular, made)
    describe(x, name)
    return x if extents is None else in_chunks(x, extents)
