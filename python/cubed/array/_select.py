"""Elements where a mask is true."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.array._first import computed_first
from cubed.array._operands import core_of


def flatten(x: _core.Array) -> _core.Array:
    """x in one dimension."""
    return x if len(x.shape) == 1 else _core.call("reshape", x, (math.prod(x.shape),))


def counted(offsets: _core.Array, most: int, spec: Any) -> tuple[_core.Array, int]:
    """Offsets or one number, computed now, and the last of them; plans assume that it is `most`."""
    (found,) = computed_first([Array._new(offsets, spec)], [None])

    def known(lazy: _core.Array) -> _core.Array:
        """The offsets; for another `allowed_mem`, zeros in the place of its other offsets."""
        same = found is not None and found.shape == lazy.shape
        return core_of(found if same else np.zeros(lazy.shape, np.int64))

    return _core.record(known, offsets), most if found is None else int(found.flat[-1])


def pick(x: _core.Array, mask: _core.Array, spec: Any) -> _core.Array:
    """Elements of x where the mask is true, both in one dimension; counted now."""
    offsets, n = counted(_core.mask_offsets(mask, x.chunks[0]), x.shape[0], spec)
    return _core.compress(x, mask, offsets, n) if n else _core.slice(x, (slice(0, 0),))


def coordinates(x: _core.Array, spec: Any) -> tuple[_core.Array, ...]:
    """Coordinates in C order of the elements that are not 0; counted now."""
    return _core.nonzero(x, *counted(_core.nonzero_offsets(x), math.prod(x.shape), spec))


def get_masked(x: _core.Array, mask: Any, spec: Any) -> _core.Array:
    """x[mask], with a mask of the first axes of x."""
    m = core_of(mask)
    if m.shape == x.shape:
        return pick(flatten(x), flatten(m), spec)
    rows = _core.call("reshape", x, (math.prod(m.shape), *x.shape[len(m.shape) :]))
    return _core.call("take", rows, coordinates(flatten(m), spec)[0], 0)
