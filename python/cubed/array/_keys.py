"""Expands keys of x[key] to one entry for each axis."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from cubed.array._base import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import common_spec, core_of, refuse_masked
from cubed.array._select import counted_call
from cubed.base._types import NDArray

#: NumPy's and lazy arrays. Integers are positions, bools are masks.
_ARRAYS = (np.ndarray, Array)

Axes = tuple[int, ...]


def expand_key(x: Array, key: Any) -> list[Any]:
    """Returns the key as a list of entries for all axes of x, in order.

    An integer, a slice or an array of positions indexes one axis. A mask indexes as many axes as it
    has dimensions. None is a new axis. If the result contains an Ellipsis, it stands for no axis.
    Integers in the result are not negative.

    Raises
    ------
    IndexError
        A part of the key is invalid, does not fit its axes, or is an integer out of range.
    TypeError, ValueError
        A slice is not of integers, or its step is 0.
    """
    given = [_part(k) for k in (key if isinstance(key, tuple) else (key,))]
    used = sum(map(_width, given))
    if sum(k is Ellipsis for k in given) > 1:
        raise IndexError("an index can have only one ellipsis")
    if used > x.ndim:
        raise IndexError(f"{used} indices for an array with {x.ndim} axes")
    out: list[Any] = []
    axis = 0
    for k in given:
        if k is Ellipsis:
            left = x.ndim - used
            out += [slice(None)] * left or [k]
            axis += left
            continue
        if is_mask(k):
            _check_mask(x, k, axis)
        elif isinstance(k, int):
            k = _position(k, x.shape[axis], axis)
        elif isinstance(k, slice):
            k = slice(*(v if v is None else operator.index(v) for v in (k.start, k.stop, k.step)))
            k.indices(x.shape[axis])  # raises ValueError if the step is 0
        out.append(k)
        axis += _width(k)
    return out + [slice(None)] * (x.ndim - axis)


def is_mask(k: Any) -> bool:
    """Whether a part of a key is a mask."""
    return isinstance(k, _ARRAYS) and k.dtype == np.bool_


def is_whole(entry: Any, extent: int) -> bool:
    """Whether a part of a key is a slice that selects all elements of an axis in their order."""
    return isinstance(entry, slice) and entry.indices(extent) == (0, extent, 1)


def _part(k: Any) -> Any:
    """Converts a part of a key to None, Ellipsis, an integer, a slice, or an array."""
    if k is None or k is Ellipsis or isinstance(k, slice):
        return k
    refuse_foreign(k, what="an index")
    if isinstance(k, (bool, np.bool_)):
        return np.asarray(k)
    if not isinstance(k, Array):
        try:
            return operator.index(k)
        except TypeError:
            k = _array(k)
    if k.dtype.kind not in "iub":
        raise IndexError(f"an array of type {k.dtype} as an index: expected integers or bool")
    return k


def _array(k: Any) -> NDArray:
    if not isinstance(k, (list, tuple, range, np.ndarray)):
        raise IndexError(
            f"an index of type {type(k).__name__}: expected an integer, a slice, None, ... or an"
            " array of integers or bool"
        )
    refuse_masked(k)
    a = np.asarray(k)
    return a.astype(np.int64) if a.size == 0 and a is not k else a


def _width(k: Any) -> int:
    """Returns the number of axes that a part of a key indexes."""
    if is_mask(k):
        return int(k.ndim)
    return 0 if k is None or k is Ellipsis else 1


def _check_mask(x: Array, mask: Any, axis: int) -> None:
    """Raises IndexError unless a mask is empty or has the shape of the axes from `axis` on."""
    for d, n in enumerate(mask.shape, axis):
        if n not in (0, x.shape[d]):
            raise IndexError(
                f"a mask of shape {mask.shape} for axis {axis} of an array of shape {x.shape}:"
                f" axis {d} has size {x.shape[d]}, the mask {n}"
            )


def _position(k: int, n: int, axis: int) -> int:
    if not -n <= k < n:
        raise IndexError(f"index {k} is out of bounds for axis {axis} of size {n}")
    return k % n


def positions_within(at: NDArray, n: int, axis: int) -> NDArray:
    """Converts negative positions along an axis; raises IndexError if a position is out of
    range."""
    if at.size and not (-n <= at.min() and at.max() < n):
        _position(int(at.min() if at.min() < -n else at.max()), n, axis)
    if at.dtype.kind == "u" or not at.size or at.min() >= 0:
        return at
    at = at.astype(np.int64)
    return np.where(at < 0, at + n, at)


def _common_shape(shapes: list[Axes]) -> Axes:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        shown = ", ".join(map(str, shapes))
        raise IndexError(f"arrays of positions of shapes {shown} do not broadcast") from None


# --- Positions ------------------------------------------------------------------------------------


def engine_key(x: Array, entries: list[Any]) -> tuple[Any, ...]:
    """Converts an expanded key to the engine's: masks become positions, whose number is computed
    immediately.

    Raises
    ------
    IndexError
        Positions do not broadcast, or positions in memory are out of range and the result has
        elements.
    """
    spec = common_spec(x, *entries)
    found = [_positions(e, spec) if isinstance(e, _ARRAYS) else None for e in entries]
    common = _common_shape([p.shape for arrays in found for p in arrays or ()])
    key: list[Any] = []
    axis = 0
    for e, arrays in zip(entries, found, strict=True):
        is_flag = arrays is not None and _width(e) == 0
        for d, p in enumerate(arrays or (), axis):
            if isinstance(p, np.ndarray):
                is_free = is_flag or 0 in common
                within = p if is_free else positions_within(p, x.shape[d], d)
                p = core_of(within, made=within is not p)
            key.append((p,) if is_flag else p)
        if arrays is None:
            key.append(e)
        axis += _width(e)
    return tuple(key)


def _positions(e: Any, spec: Any) -> list[Any]:
    """Converts an array in a key to arrays of positions; they are NumPy's if the array is in
    memory."""
    if not is_mask(e):
        return [e._x if isinstance(e, Array) else e]
    if e.ndim == 0:  # a new axis of extent 1 or 0
        return [np.zeros(int(bool(e)), np.int64)]
    return list(counted_call("nonzero", spec, core_of(e)))
