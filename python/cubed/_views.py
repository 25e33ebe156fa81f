"""Other ways of indexing than x[...]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cubed import _core
from cubed._indexing import expand_key, getitem, is_mask


class OuterIndex:
    """x.oindex: every axis is indexed by itself, by arrays of one dimension, too."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Any:
        out = self._x
        entries = _of_axes(out, key)
        for axis in reversed(range(len(entries))):
            e = entries[axis]
            if isinstance(e, (int, slice)):
                continue
            if e.ndim != 1:
                raise IndexError(f"oindex: the array for axis {axis} has {e.ndim} axes, expected 1")
            out = getitem(out, (*(slice(None),) * axis, e))
        basic = (e if isinstance(e, (int, slice)) else slice(None) for e in entries)
        return getitem(out, tuple(basic))


class PointIndex:
    """x.vindex: arrays of positions are broadcast against each other; their axes come first."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Any:
        entries = _of_axes(self._x, key)
        where = [d for d, e in enumerate(entries) if not isinstance(e, slice)]
        arrays = [entries[d] for d in where]
        out = getitem(self._x, tuple(entries))
        ndim = len(np.broadcast_shapes(*(np.shape(a) for a in arrays)))
        adjacent = where and where[-1] - where[0] + 1 == len(where)
        if not adjacent or where[0] == 0 or ndim == 0:
            return out
        place = where[0]
        order = [*range(place, place + ndim), *range(place), *range(place + ndim, out.ndim)]
        return out._like(_core.permute_dims(out._x, order))


def _of_axes(x: Any, key: Any) -> list[Any]:
    """An entry for each axis; masks of one dimension as arrays of positions."""
    given = key if isinstance(key, tuple) else (key,)
    if any(k is None for k in given):
        raise IndexError("None makes no new axes in oindex and vindex")
    at = tuple(_positions(k) if is_mask(k) else k for k in given)
    return expand_key(x, at)


def _positions(mask: Any) -> Any:
    from cubed._create import as_lazy
    from cubed.array_api import nonzero

    m = as_lazy(mask)
    if m.ndim != 1:
        raise IndexError(f"a mask with {m.ndim} axes in oindex or vindex, expected 1")
    return nonzero(m)[0]


class BlockView:
    """x.blocks: an array whose elements are the chunks of x."""

    def __init__(self, x: Any) -> None:
        self._x = x

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of chunks along each axis."""
        return self._x.numblocks

    @property
    def size(self) -> int:
        """Number of chunks."""
        return math.prod(self.shape)

    def ravel(self) -> list[Any]:
        """All chunks, in C order."""
        return [self[index] for index in np.ndindex(*self.shape)]

    def __getitem__(self, key: Any) -> Any:
        given = key if isinstance(key, tuple) else (key,)
        if sum(k is Ellipsis for k in given) > 1 or len(given) > self._x.ndim + (Ellipsis in given):
            raise IndexError(f"{len(given)} indices for the chunks of {self._x.ndim} axes")
        if Ellipsis in given:
            at = given.index(Ellipsis)
            missing = self._x.ndim - len(given) + 1
            given = (*given[:at], *(slice(None),) * missing, *given[at + 1 :])
        return getitem(self._x, tuple(self._slice(d, k) for d, k in enumerate(given)))

    def _slice(self, axis: int, k: Any) -> slice:
        """The elements of some chunks along an axis, which are next to each other."""
        n = self.shape[axis]
        if isinstance(k, slice):
            chosen = range(n)[k]
            if chosen.step != 1 and len(chosen) > 1:
                raise IndexError("blocks: slices of chunks have step 1")
        else:
            if not -n <= k < n:
                raise IndexError(f"block {k} is out of bounds for axis {axis} with {n} chunks")
            chosen = range(k % n, k % n + 1)
        ends = [0, *np.cumsum(self._x.chunks[axis]).tolist()]
        return slice(ends[chosen.start], ends[chosen.start + len(chosen)])
