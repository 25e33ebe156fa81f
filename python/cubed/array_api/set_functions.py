"""Sets of elements.

Shapes of results depend on the values: all functions but isin compute how many there are when they
are called, and sort all elements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cubed import _core
from cubed._array import Array, operands
from cubed._select import Picked, flatten
from cubed.spec import Spec

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """What unique_all returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What unique_counts returns."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What unique_inverse returns."""

    values: Array
    inverse_indices: Array


def _int(value: int) -> _core.Array:
    return _core.full("int64", (), None, value)


class _Groups:
    """The elements of an array in order, and where equal ones begin."""

    def __init__(self, x: Array) -> None:
        self.x = x
        self.flat = flatten(x._x)
        self.task_mem = x.spec.task_mem
        self.order = _core.sort(True, self.flat, 0, False, self.task_mem)
        self.ordered = _core.sort(False, self.flat, 0, False, self.task_mem)
        self.first = _core.first_of_equals(self.ordered)
        self.picked = Picked(self.first, self.ordered.chunks[0], x._spec)

    def _of(self, core: _core.Array) -> Array:
        return Array._new(core, self.x._spec)

    def values(self) -> Array:
        return self._of(self.picked.of(self.ordered))

    def indices(self) -> Array:
        return self._of(self.picked.of(self.order))

    def counts(self) -> Array:
        n = self.flat.shape[0]
        starts = self.picked.positions()
        ends = _core.concat((starts, _core.full("int64", (1,), None, n)), 0)
        after = _core.slice(ends, (slice(1, None),))
        return self._of(_core.elementwise("subtract", after, starts))

    def inverse(self) -> Array:
        rank = _core.elementwise(
            "subtract",
            _core.cumulative("sum", _core.astype(self.first, "int64"), 0, False),
            _int(1),
        )
        back = _core.sort(True, self.order, 0, False, self.task_mem)
        flat = _core.take(False, rank, back, 0) if self.flat.shape[0] else rank
        return self._of(_core.reshape(flat, self.x.shape))


def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Array:
    """Whether elements of x1 are among those of x2; with `invert`, whether they are not."""
    (a, b), spec = operands(x1, x2)
    dtype = np.result_type(np.dtype(a.dtype), np.dtype(b.dtype)).name
    a, b = _core.astype(a, dtype), flatten(_core.astype(b, dtype))
    shape, flat = a.shape, flatten(a)
    n = b.shape[0]
    if n == 0 or flat.shape[0] == 0:
        return Array._new(_core.full("bool", shape, None, invert), spec)
    if dtype.startswith("complex"):
        found = _isin_complex(flat, b)
    else:
        among = _core.astype(b, "uint8") if dtype == "bool" else b
        task_mem = (spec or Spec()).task_mem
        ordered = _core.sort(False, among, 0, False, task_mem)
        key = _core.astype(flat, "uint8") if dtype == "bool" else flat
        at = _core.searchsorted(ordered, key, False, None)
        at = _core.elementwise("minimum", at, _int(n - 1))
        found = _core.elementwise("equal", _core.take(False, ordered, at, 0), key)
    if invert:
        found = _core.elementwise("logical_not", found)
    return Array._new(_core.reshape(found, shape), spec)


def _isin_complex(flat: _core.Array, b: _core.Array) -> _core.Array:
    """Complex numbers have no order to search by: all pairs are compared."""
    pairs = _core.elementwise("equal", _core.expand_dims(flat, 1), _core.expand_dims(b, 0))
    return _core.reduce("any", pairs, (1,), False, 0.0)


def unique_all(x: Array, /) -> UniqueAll:
    """Different elements in order, where each is first, which of them each element is, and how
    often each is there. NaN are all different."""
    g = _Groups(x)
    return UniqueAll(g.values(), g.indices(), g.inverse(), g.counts())


def unique_counts(x: Array, /) -> UniqueCounts:
    """Different elements in order, and how often each is there."""
    g = _Groups(x)
    return UniqueCounts(g.values(), g.counts())


def unique_inverse(x: Array, /) -> UniqueInverse:
    """Different elements in order, and which of them each element is."""
    g = _Groups(x)
    return UniqueInverse(g.values(), g.inverse())


def unique_values(x: Array, /) -> Array:
    """Different elements in order."""
    return _Groups(x).values()
