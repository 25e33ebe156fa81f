"""Elements where a mask is true."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cubed import _core
from cubed.array import _above
from cubed.array._array import Array
from cubed.array._operands import core_of


def flatten(x: _core.Array) -> _core.Array:
    """x in one dimension."""
    return x if len(x.shape) == 1 else _core.reshape(x, (math.prod(x.shape),))


def counted(
    offsets: _core.Array,
    make: Callable[[_core.Array, int], Iterable[_core.Array]],
    most: int,
    spec: Any,
) -> np.ndarray[Any, Any]:
    """Offsets, computed now. `make` makes results of them and of their number, at most `most`.

    Raises
    ------
    MemoryError
        The offsets do not fit. What it says to allow is enough for the results, too.
    """
    lazy = Array._new(offsets, spec)
    try:
        return lazy.compute()
    except MemoryError:
        _above.plan(lazy, *(Array._new(x, spec) for x in make(offsets, most)))
        raise


def pick(x: _core.Array, mask: _core.Array, spec: Any) -> _core.Array:
    """Elements of x where the mask is true, both in one dimension; counted now."""

    def make(offsets: _core.Array, n: int) -> list[_core.Array]:
        return [_core.compress(x, mask, offsets, n)]

    counts = counted(_core.mask_offsets(mask, x.chunks[0]), make, x.shape[0], spec)
    if counts[-1] == 0:
        return _core.slice(x, (slice(0, 0),))
    return make(core_of(counts), int(counts[-1]))[0]


def coordinates(x: _core.Array, spec: Any) -> tuple[_core.Array, ...]:
    """Coordinates in C order of the elements that are not 0; counted now."""

    def make(offsets: _core.Array, n: int) -> tuple[_core.Array, ...]:
        return _core.nonzero(x, offsets, n)

    counts = counted(_core.nonzero_offsets(x), make, math.prod(x.shape), spec)
    return make(core_of(counts), int(counts[-1]))


def get_masked(x: _core.Array, mask: Any, spec: Any) -> _core.Array:
    """x[mask], with a mask of the first axes of x."""
    m = core_of(mask)
    if m.shape == x.shape:
        return pick(flatten(x), flatten(m), spec)
    rows = _core.reshape(x, (math.prod(m.shape), *x.shape[len(m.shape) :]))
    return _core.take(False, rows, coordinates(flatten(m), spec)[0], 0)
