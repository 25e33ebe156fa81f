"""Indexing."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from cubed import _core
from cubed._array import (
    Array,
    common_spec,
    core_of,
    is_scalar,
    operands,
    scalar_array,
    scalar_type,
)
from cubed._neighbours import refuse_foreign
from cubed._select import (
    coordinates,
    get_advanced,
    get_masked,
    positions,
)


def getitem(x: Array, key: Any) -> Array:
    """x[key], as NumPy has it. A mask computes how many elements there are."""
    given = key if isinstance(key, tuple) else (key,)
    masks = [k for k in given if is_mask(k)]
    if masks:
        if len(given) == 1:
            return get_masked(x, given[0])
        key = _without_masks(x, given)
    entries = expand_key(x, key)
    if len(entries) == x.ndim and all(
        isinstance(e, slice) and e.indices(n) == (0, n, 1)
        for e, n in zip(entries, x.shape, strict=True)
    ):
        return x._like(x._x)
    if any(not isinstance(e, (int, slice, type(None))) for e in entries):
        return get_advanced(x, entries)
    basic = tuple(e for e in entries if e is not None)
    out = _core.slice(x._x, basic)
    # New axes stand where the key has None; integers leave none behind.
    axis = 0
    for e in entries:
        if e is None:
            out = _core.expand_dims(out, axis)
            axis += 1
        elif isinstance(e, slice):
            axis += 1
    return Array._new(out, x._spec)


def expand_key(x: Array, key: Any) -> list[Any]:
    """The key as a list with an integer or slice for every axis, and None for new ones."""
    given = key if isinstance(key, tuple) else (key,)
    used = sum(1 for k in given if k is not None and k is not Ellipsis)
    if sum(1 for k in given if k is Ellipsis) > 1:
        raise IndexError("an index has one ellipsis at most")
    if used > x.ndim:
        raise IndexError(f"{used} indices for an array with {x.ndim} axes")
    out: list[Any] = []
    for k in given:
        if k is Ellipsis:
            out += [slice(None)] * (x.ndim - used)
        else:
            out.append(_entry(k))
    left = x.ndim - sum(1 for k in out if k is not None)
    return out + [slice(None)] * left


def is_mask(k: Any) -> bool:
    """Whether an index is a mask."""
    if isinstance(k, (bool, np.bool_)):
        return True
    if isinstance(k, list):
        return np.asarray(k).dtype == np.bool_
    return isinstance(k, (Array, np.ndarray)) and k.dtype == np.bool_


def _without_masks(x: Array, key: tuple[Any, ...]) -> tuple[Any, ...]:
    """The key with integer arrays in place of masks; their lengths are computed now."""
    return tuple(p for k in key for p in (_coordinates(x, k) if is_mask(k) else (k,)))


def _coordinates(x: Array, mask: Any) -> tuple[Array, ...]:
    """The integer arrays that a mask among other indices stands for."""
    m = core_of(mask)
    if len(m.shape) == 0:
        raise NotImplementedError("a mask without axes among other indices")
    return tuple(Array._new(c, x._spec) for c in coordinates(m, x._spec))


def _entry(k: Any) -> Any:
    if k is None:
        return k
    if isinstance(k, (list, np.ndarray, Array)):
        a = k if isinstance(k, Array) else np.asarray(k)
        if isinstance(k, list) and not k:
            a = a.astype(np.int64)
        if a.dtype.kind not in "iu":
            raise IndexError(f"an array of type {a.dtype} as an index: expected integers or bool")
        return a
    if isinstance(k, slice):
        return slice(*(None if v is None else operator.index(v) for v in (k.start, k.stop, k.step)))
    refuse_foreign(k, what="an index")
    try:
        return operator.index(k)
    except TypeError:
        raise IndexError(f"an index of type {type(k).__name__}") from None


def setitem(x: Array, key: Any, value: Any) -> Array:
    """x with x[key] = value, as a new array of the same type."""
    if isinstance(key, (bool, np.bool_)):
        key = np.asarray(key)
    if isinstance(key, (Array, np.ndarray)) and key.dtype == np.bool_:
        return _set_masked(x, key, value)
    given = key if isinstance(key, tuple) else (key,)
    if any(is_mask(k) for k in given):
        key = _without_masks(x, given)
    entries = [e for e in expand_key(x, key) if e is not None]
    if any(not isinstance(e, (int, slice)) for e in entries):
        return _set_advanced(x, entries, value)
    mask = None
    ranges = []
    for d, e in enumerate(entries):
        extent = x.shape[d]
        if isinstance(e, slice):
            r = range(*e.indices(extent))
        else:
            if not -extent <= e < extent:
                raise IndexError(f"index {e} is out of bounds for axis {d} of size {extent}")
            r = range(e % extent, e % extent + 1)
        ranges.append(r)
    if any(len(r) == 0 for r in ranges):
        return x
    for d, r in enumerate(ranges):
        m = _range_mask(x, d, r)
        if m is not None:
            mask = m if mask is None else _core.elementwise("logical_and", mask, m)
    kept = tuple(len(r) for r, e in zip(ranges, entries, strict=True) if isinstance(e, slice))
    new = _placed(x, entries, ranges, kept, value)
    if mask is None:
        out = _core.broadcast_to(new, x.shape) if new.shape != x.shape else new
    else:
        out = _core.elementwise("where", mask, new, x._x)
    return Array._new(out, x._spec)


def _range_mask(x: Array, axis: int, r: range) -> _core.Array | None:
    """Which positions along the axis lie in the range; None if all do."""
    extent = x.shape[axis]
    if len(r) == extent:
        return None
    shape = [1] * x.ndim
    shape[axis] = extent
    chunks = [1] * x.ndim
    chunks[axis] = x._x.chunks[axis]
    at = _core.index(shape, chunks, 0)
    low, high = (r[0], r[-1]) if r.step > 0 else (r[-1], r[0])

    def constant(v: int) -> _core.Array:
        return _core.full("int64", (), None, v)

    mask = _core.elementwise(
        "logical_and",
        _core.elementwise("greater_equal", at, constant(low)),
        _core.elementwise("less_equal", at, constant(high)),
    )
    if abs(r.step) > 1:
        phase = _core.elementwise(
            "remainder",
            _core.elementwise("subtract", at, constant(low)),
            constant(abs(r.step)),
        )
        mask = _core.elementwise(
            "logical_and", mask, _core.elementwise("equal", phase, constant(0))
        )
    return mask


def _kind(value: Any) -> str:
    return "c" if isinstance(value, complex) else getattr(getattr(value, "dtype", None), "kind", "")


def _value(x: Array, value: Any) -> _core.Array:
    """The value to assign, in x's type."""
    if x.dtype.kind in "biuf" and _kind(value) == "c":
        raise TypeError(f"{value!r} cannot be assigned to elements of {x.dtype}: it is complex")
    if is_scalar(value):
        wide = scalar_type(value, x.dtype)
        return _core.astype(scalar_array(value, wide), x._x.dtype)
    return _core.astype(core_of(value), x._x.dtype)


def _placed(
    x: Array, entries: list[Any], ranges: list[range], kept: tuple[int, ...], value: Any
) -> _core.Array:
    """An array that broadcasts to x's shape and has the value where it goes."""
    v = _value(x, value)
    if len(v.shape) > len(kept):
        extra = len(v.shape) - len(kept)
        if any(n != 1 for n in v.shape[:extra]):
            raise ValueError(f"a value of shape {v.shape} does not fit into {kept}")
        v = _core.squeeze(v, range(extra))
    if v.shape and any(n not in (1, k) for n, k in zip(v.shape[::-1], kept[::-1], strict=False)):
        raise ValueError(f"a value of shape {v.shape} does not fit into {kept}")
    while len(v.shape) < len(kept):
        v = _core.expand_dims(v, 0)
    for d, e in enumerate(entries):
        if not isinstance(e, slice):
            v = _core.expand_dims(v, d)
    zero = 0
    for d, r in enumerate(ranges):
        if v.shape[d] == 1 and len(r) >= 1:
            continue  # broadcasts
        if r.step < 0:
            v = _core.flip(v, (d,))
            r = r[::-1]
        if r.step > 1:
            v = _core.repeat(v, r.step, d)
        before, after = [0] * len(v.shape), [0] * len(v.shape)
        before[d] = r[0]
        after[d] = x.shape[d] - r[0] - v.shape[d]
        if after[d] < 0:
            keep = [slice(None)] * len(v.shape)
            keep[d] = slice(0, x.shape[d] - r[0])
            v = _core.slice(v, tuple(keep))
            after[d] = 0
        v = _core.pad(v, before, after, zero)
    return v


def _set_masked(x: Array, mask: Any, value: Any) -> Array:
    m = core_of(mask)
    if len(m.shape) > x.ndim or m.shape != x.shape[: len(m.shape)]:
        raise IndexError(f"a mask of shape {m.shape} for an array of shape {x.shape}")
    v = _value(x, value)
    if any(n != 1 for n in v.shape):
        if not m.shape:
            return setitem(x, ..., value) if bool(mask) else x
        if len(v.shape) != 1 or m.shape != x.shape:
            return setitem(x, _coordinates(x, mask), value)
        return Array._new(_core.scatter_mask(x._x, m, v), common_spec(x, mask, value))
    v = _core.squeeze(v, range(len(v.shape)))
    for _ in range(x.ndim - len(m.shape)):
        m = _core.expand_dims(m, len(m.shape))
    (m, v, old), spec = operands(Array._new(m, None), Array._new(v, None), x)
    return Array._new(_core.elementwise("where", m, v, old), spec)


def _set_advanced(x: Array, entries: list[Any], value: Any) -> Array:
    """x with x[entries] = value where some entries are arrays of positions."""
    whole = [e if isinstance(e, slice) else slice(None) for e in entries]
    if any(len(range(*e.indices(n))) != n or (e.step or 1) < 0
           for e, n in zip(whole, x.shape, strict=True)):  # fmt: skip
        part = getitem(x, tuple(whole))
        inner = [slice(None) if isinstance(e, slice) else e for e in entries]
        return setitem(x, tuple(whole), _set_advanced(part, inner, value))
    at = positions(entries, x.shape)
    spec = common_spec(x, value, *entries)
    return Array._new(_core.scatter(x._x, at, _value(x, value)), spec)
