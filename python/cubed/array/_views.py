"""Indexing in forms other than x[...]."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from cubed.array._indexing import get_advanced, getitem
from cubed.array._keys import expand_key, is_mask
from cubed.base._types import NDArray


class OuterIndex:
    """x.oindex: indexes every axis separately, also by 1-dimensional arrays."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Any:
        out = self._x
        entries = _of_axes(out, key, "oindex")
        for axis in reversed(range(len(entries))):
            if not isinstance(entries[axis], (int, slice)) and entries[axis].ndim:
                out = getitem(out, (*(slice(None),) * axis, entries[axis]))
                entries[axis] = slice(None)
        return getitem(out, tuple(entries))


class PointIndex:
    """x.vindex: arrays of positions are broadcast with each other. Their axes are the first axes of
    the result."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, key: Any) -> Any:
        entries = _of_axes(self._x, key, "vindex")
        if all(isinstance(e, (int, slice)) for e in entries):
            return getitem(self._x, tuple(entries))
        return get_advanced(self._x, entries, first=True)


def _of_axes(x: Any, key: Any, name: str) -> list[Any]:
    """Returns an entry for each axis: an integer, a slice, an array of positions, or a mask."""
    entries = [e for e in expand_key(x, key) if e is not Ellipsis]
    for axis, e in enumerate(entries):
        if e is None:
            raise IndexError(f"{name}: None makes no new axes")
        if is_mask(e) and e.ndim != 1:
            raise IndexError(f"{name}: a mask with {e.ndim} axes, expected 1")
        if name == "oindex" and not isinstance(e, (int, slice)) and e.ndim > 1:
            raise IndexError(f"oindex: the array for axis {axis} has {e.ndim} axes, expected 1")
    return entries


class BlockView:
    """x.blocks: indexes x as if its chunks were elements.

    Indices are integers, slices, and a list of integers or of truth values for one axis.
    """

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
        dots = [i for i, k in enumerate(given) if k is Ellipsis]
        if any(k is None for k in given):
            raise ValueError(
                "newaxis is not supported in blocks: they have the axes of their array"
            )
        if len(dots) > 1 or len(given) > self._x.ndim + len(dots):
            raise IndexError(f"{len(given)} indices for the chunks of {self._x.ndim} axes")
        if dots:
            at = dots[0]
            missing = self._x.ndim - len(given) + 1
            given = (*given[:at], *(slice(None),) * missing, *given[at + 1 :])
        lists = [d for d, k in enumerate(given) if isinstance(k, (list, np.ndarray))]
        if len(lists) > 1:
            raise NotImplementedError(f"blocks: lists for axes {lists}, expected one at most")
        out = self._x
        for d, k in enumerate(given):  # one axis at a time, so that other axes do not change
            chosen = self._chosen(d, k)
            out = getitem(out, (*(slice(None),) * d, self._elements(d, chosen)))
            if not isinstance(chosen, range) or chosen.step != 1:
                sizes = tuple(self._x.chunks[d][i] for i in chosen)
                out = out.rechunk({d: sizes or 1})
        return out

    def _chosen(self, axis: int, k: Any) -> range | NDArray:
        """Returns the numbers of the selected chunks along an axis, which are not negative."""
        n = self.shape[axis]
        if isinstance(k, slice):
            return range(n)[k]
        what = f"blocks: {k!r} for axis {axis}, expected an integer, a slice or a list of them"
        if isinstance(k, (list, np.ndarray)):
            chosen = np.asarray(k)
            if chosen.dtype == bool and chosen.shape == (n,):
                return np.flatnonzero(chosen)
            if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iu"):
                raise IndexError(what)
            chosen = chosen.astype(np.intp)
        else:
            try:
                chosen = np.asarray([operator.index(k)])
            except TypeError:
                raise IndexError(what) from None
        for i in chosen.tolist():
            if not -n <= i < n:
                raise IndexError(f"block {i} is out of bounds for axis {axis} with {n} chunks")
        chosen = chosen % max(1, n)
        return range(chosen[0], chosen[0] + 1) if len(chosen) == 1 else chosen

    def _elements(self, axis: int, chosen: range | NDArray) -> slice | NDArray:
        """Returns the positions of the elements of these chunks."""
        ends = [0, *np.cumsum(self._x.chunks[axis]).tolist()]
        if isinstance(chosen, range) and (chosen.step == 1 or len(chosen) < 2):
            first = chosen.start if len(chosen) else 0
            return slice(ends[first], ends[first + len(chosen)])
        parts = [np.arange(ends[i], ends[i + 1]) for i in chosen]
        return np.concatenate([np.arange(0), *parts])
