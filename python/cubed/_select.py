"""Elements by masks and by arrays of positions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cubed import _core
from cubed._array import Array, common_spec, core_of


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


def get_masked(x: Array, mask: Any) -> Array:
    """x[mask], with a mask over the first axes of x."""
    m = core_of(mask)
    spec = common_spec(x, mask)
    k = len(m.shape)
    if k > x.ndim or any(n not in (e, 0) for n, e in zip(m.shape, x.shape, strict=False)):
        raise IndexError(f"a mask of shape {m.shape} for an array of shape {x.shape}")
    if m.shape != x.shape[:k]:  # a mask without elements picks none
        nothing = _core.slice(x._x, (slice(0, 0), *[slice(None)] * (x.ndim - 1)))
        return Array._new(_core.reshape(nothing, (0, *x.shape[k:])), spec)
    if k == 0:
        out = _core.expand_dims(x._x, 0)
        keep = slice(0, 1 if bool(Array._new(m, spec)) else 0)
        return Array._new(_core.slice(out, (keep, *[slice(None)] * x.ndim)), spec)
    if k == x.ndim:
        return Array._new(pick(flatten(x._x), flatten(m), spec), spec)
    rows = _core.reshape(x._x, (math.prod(m.shape), *x.shape[k:]))
    return Array._new(_core.take(False, rows, coordinates(flatten(m), spec)[0], 0), spec)


def get_advanced(x: Array, entries: list[Any]) -> Array:
    """x[entries] where some entries are arrays of positions, as NumPy has it.

    entries: for every axis an integer, a slice or an array of integers, and None for new axes.
    Integers are positions, too. Nothing is computed: lazy positions are checked by the run.
    """
    # Slices first, positions next; None makes axes of extent 1 that stay where they are.
    core = _core.slice(
        x._x, tuple(e if isinstance(e, slice) else slice(None) for e in entries if e is not None)
    )
    for axis, e in enumerate(entries):
        if e is None:
            core = _core.expand_dims(core, axis)
    at = positions(entries, core.shape)
    return Array._new(_core.gather(core, at), common_spec(x, *entries))


def positions(entries: list[Any], shape: tuple[int, ...]) -> tuple[_core.Array | None, ...]:
    """An array for every entry that is no slice. What is in memory is checked now."""
    out: list[_core.Array | None] = []
    for e, n in zip(entries, shape, strict=True):
        if isinstance(e, (slice, type(None))):
            out.append(None)
        else:
            out.append(core_of(e if isinstance(e, Array) else positions_within(np.asarray(e), n)))
    return tuple(out)


def positions_within(at: np.ndarray, n: int) -> np.ndarray:
    """Positions, counted from the first; IndexError if one is out of range."""
    if at.size and not (-n <= at.min() and at.max() < n):
        bad = at.min() if at.min() < -n else at.max()
        raise IndexError(f"index {bad} is out of bounds for an axis of size {n}")
    return np.where(at < 0, at + n, at) if at.dtype.kind == "i" else at
