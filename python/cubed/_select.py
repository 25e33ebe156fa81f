"""Elements where a mask is true."""

from __future__ import annotations

import math
from typing import Any

from cubed import _core
from cubed._array import Array, core_of


def flatten(x: _core.Array) -> _core.Array:
    """x in one dimension."""
    return x if len(x.shape) == 1 else _core.reshape(x, (math.prod(x.shape),))


def pick(x: _core.Array, mask: _core.Array, spec: Any) -> _core.Array:
    """Elements of x where the mask is true, both in one dimension; counted now."""
    counts = Array._new(_core.mask_offsets(mask, x.chunks[0]), spec).compute()
    if counts[-1] == 0:
        return _core.slice(x, (slice(0, 0),))
    return _core.compress(x, mask, core_of(counts), int(counts[-1]))


def coordinates(x: _core.Array, spec: Any) -> tuple[_core.Array, ...]:
    """Coordinates in C order of the elements that are not 0; counted now."""
    counts = Array._new(_core.nonzero_offsets(x), spec).compute()
    return _core.nonzero(x, core_of(counts), int(counts[-1]))


def get_masked(x: _core.Array, mask: Any, spec: Any) -> _core.Array:
    """x[mask], with a mask of the first axes of x."""
    m = core_of(mask)
    if m.shape == x.shape:
        return pick(flatten(x), flatten(m), spec)
    rows = _core.reshape(x, (math.prod(m.shape), *x.shape[len(m.shape) :]))
    return _core.take(False, rows, coordinates(flatten(m), spec)[0], 0)
