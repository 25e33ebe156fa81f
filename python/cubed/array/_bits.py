"""Reinterprets the bytes of elements as another type."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cubed.array._base import Array
from cubed.array._calls import COPIES, OBJECTS, call_on_each
from cubed.base._dtypes import dtype_of, kind_of, name_of
from cubed.base._types import DTypeLike, NDArray

#: Kinds of types for which all combinations of bytes are valid elements. Bytes that become bools
#: are compared with 0. Strings need valid code points, so only strings of the same width are
#: reinterpreted as strings.
_KINDS = "biufcmMS"


@dataclass(frozen=True)
class _View:
    dtype: np.dtype[Any]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        block = np.ascontiguousarray(blocks[0])
        return (block.view(np.uint8) != 0 if self.dtype.kind == "b" else block.view(self.dtype),)


def view(x: Array, dtype: DTypeLike, order: str | None) -> Array:
    """Reinterprets the bytes of x as elements of another type. If the sizes of both types differ,
    the last axis changes its length. Bytes other than 0 become True if the type is bool.
    """
    if order not in ("C", "A", "K", None):
        raise ValueError(f"view: order is {order!r}, expected 'C': chunks are in C order")
    if dtype is None:
        return x._like(x._x)
    to = dtype_of(name_of(dtype))
    if to == x.dtype:
        return x._like(x._x)
    for what, d in (("the array", x.dtype), ("dtype", to)):
        if kind_of(d) not in _KINDS and not (d.kind == "U" and what == "the array"):
            raise TypeError(
                f"view: {what} is {d}, expected numbers, dates or bytes: astype converts them"
            )
    old, new = x.dtype.itemsize, to.itemsize
    if old != new:
        x = _fitting(x, old, new)
    chunks = [list(c) for c in x.chunks]
    if old != new:
        chunks[-1] = [n * old // new for n in chunks[-1]]
    longest = old * int(np.prod([max(c) for c in x.chunks], dtype=np.int64))
    sizes = [tuple(c) for c in chunks]
    return call_on_each(f"view({to})", _View(to), x, to, OBJECTS + COPIES * longest, sizes)


def _fitting(x: Array, old: int, new: int) -> Array:
    """Rechunks x so that chunks along the last axis contain whole elements of the new type."""
    if not x.ndim:
        raise ValueError(f"view: an array without axes has {old} bytes, expected {new}")
    n = x.shape[-1]
    if n * old % new:
        raise ValueError(
            f"view: the last axis has {n * old} bytes, expected a multiple of the {new} of an"
            " element"
        )
    step = new // math.gcd(old, new)
    if any(c % step for c in x.chunks[-1]):
        last = -(-x.chunksize[-1] // step) * step
        return x.rechunk({x.ndim - 1: min(n, last)})
    return x
