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


def count_true(mask: _core.Array, spec: Any) -> int:
    """How many elements of a mask are true: computed now."""
    return int(Array._new(_core.reduce("count_nonzero", mask, None, False, 0.0), spec))


def constant(value: int) -> _core.Array:
    """A 0-d int64."""
    return _core.full("int64", (), None, value)


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


def set_masked(x: Array, mask: Any, value: _core.Array) -> _core.Array:
    """x with values in C order where the mask, of x's shape, is true."""
    m = core_of(mask)
    flat = flatten(m)
    if value.shape[0] != (count := count_true(flat, common_spec(x, mask))):
        raise ValueError(f"{value.shape[0]} values for {count} elements of a mask")
    if count == 0:
        return x._x
    rank = _core.cumulative("sum", _core.astype(flat, "int64"), 0, False)
    rank = _core.elementwise(
        "maximum", _core.elementwise("subtract", rank, constant(1)), constant(0)
    )
    spread = _core.reshape(_core.take(False, value, rank, 0), x.shape)
    return _core.elementwise("where", m, spread, x._x)


def get_advanced(x: Array, entries: list[Any]) -> Array:
    """x[entries] where some entries are arrays of positions, as NumPy has it.

    entries: for every axis an integer, a slice or an array of integers, and None for new axes.
    Integers are positions, too. The axes of positions stand where the first of them was if they are
    next to each other, else in front.
    """
    spec = common_spec(x, *entries)
    arrays = [e for e in entries if not isinstance(e, (slice, type(None)))]
    where = [i for i, e in enumerate(entries) if not isinstance(e, (slice, type(None)))]
    adjacent = where[-1] - where[0] + 1 == len(where)
    shape = np.broadcast_shapes(*(_shape_of(a) for a in arrays))

    # Slices first, positions next; None makes axes of extent 1 that stay where they are.
    basic = tuple(e if isinstance(e, slice) else slice(None) for e in entries if e is not None)
    core = _core.slice(x._x, basic)
    for axis, e in enumerate(entries):
        if e is None:
            core = _core.expand_dims(core, axis)
    chosen = where
    others = [axis for axis in range(len(entries)) if axis not in where]
    place = where[0] if adjacent else 0
    extents = [core.shape[a] for a in chosen]
    # The chosen axes next to each other at `place`, as one.
    order = [*others[:place], *chosen, *others[place:]]
    core = _core.permute_dims(core, order)
    rest = [core.shape[i] for i in range(len(order)) if not place <= i < place + len(chosen)]
    if len(chosen) > 1:
        merged = (*rest[:place], math.prod(extents), *rest[place:])
        core = _core.reshape(core, merged)
    flat = positions_in_order(arrays, extents, shape, spec)
    if core.shape[place] == 0 and math.prod(shape) > 0:
        raise IndexError(f"index out of bounds for an axis of size {core.shape[place]}")
    out = _core.take(False, core, flat, place)
    return Array._new(_core.reshape(out, (*rest[:place], *shape, *rest[place:])), spec)


def _shape_of(a: Any) -> tuple[int, ...]:
    return tuple(a.shape) if hasattr(a, "shape") else ()


def positions_in_order(
    arrays: list[Any],
    extents: list[int],
    shape: tuple[int, ...],
    spec: Any,
    check: bool = False,
) -> _core.Array:
    """Positions in C order along the merged axes, in one dimension.

    Where there are several arrays, or `check` is set, bounds of lazy ones are computed now, and
    negative positions counted from the end.
    """
    total: _core.Array | None = None
    for a, n in zip(arrays, extents, strict=True):
        if isinstance(a, int):
            if not -n <= a < n:
                raise IndexError(f"index {a} is out of bounds for an axis of size {n}")
            at = constant(a % n)
        else:
            lazy = isinstance(a, Array)
            at = _core.astype(core_of(a if lazy else _within(np.asarray(a), n)), "int64")
            if lazy and (len(arrays) > 1 or check):
                _check_bounds(at, n, spec)
                negative = _core.elementwise("less", at, constant(0))
                wrapped = _core.elementwise("add", at, constant(n))
                at = _core.elementwise("where", negative, wrapped, at)
        if total is None:
            total = at
        else:
            total = _core.elementwise("add", _core.elementwise("multiply", total, constant(n)), at)
    assert total is not None
    return flatten(_core.broadcast_to(total, shape))


def _within(at: np.ndarray, n: int) -> np.ndarray:
    """Positions, counted from the first; IndexError if one is out of range."""
    if at.size and not (-n <= at.min() and at.max() < n):
        bad = at.min() if at.min() < -n else at.max()
        raise IndexError(f"index {bad} is out of bounds for an axis of size {n}")
    return np.where(at < 0, at + n, at) if at.dtype.kind == "i" else at


def _check_bounds(at: _core.Array, n: int, spec: Any) -> None:
    """Raises IndexError if a position is out of range: computed now."""
    if math.prod(at.shape) == 0:
        return
    low = _core.reduce("min", at, None, False, 0.0)
    high = _core.reduce("max", at, None, False, 0.0)
    from cubed._compute import compute

    least, most = compute(Array._new(low, spec), Array._new(high, spec))
    if least < -n or most >= n:
        bad = least if least < -n else most
        raise IndexError(f"index {bad} is out of bounds for an axis of size {n}")


def set_positions(x: _core.Array, at: _core.Array, value: _core.Array) -> _core.Array:
    """x with value[i] in x[at[i]], positions in one dimension; the last of equal ones stays.

    Every row of x looks for itself among the sorted positions.
    """
    if at.shape[0] == 0 or x.shape[0] == 0:
        return x
    order = _core.sort(True, at, 0, False, 0)
    ordered = _core.take(False, at, order, 0)
    rows = _core.index((x.shape[0],), (x.chunks[0],), 0)
    behind = _core.searchsorted(ordered, rows, True, None)
    last = _core.elementwise(
        "maximum", _core.elementwise("subtract", behind, constant(1)), constant(0)
    )
    found = _core.elementwise("equal", _core.take(False, ordered, last, 0), rows)
    new = _core.take(False, value, _core.take(False, order, last, 0), 0)
    for _ in range(len(x.shape) - 1):
        found = _core.expand_dims(found, len(found.shape))
    return _core.elementwise("where", found, new, x)
