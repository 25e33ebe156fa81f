"""Keys of x[key] in full: what stands for each axis, and where axes of positions go."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import common_spec, core_of, refuse_masked
from cubed.array._select import coordinates
from cubed.base._types import NDArray

#: NumPy's and lazy arrays: of integers, positions; of bool, masks.
_ARRAYS = (np.ndarray, Array)

Axes = tuple[int, ...]


def expand_key(x: Array, key: Any) -> list[Any]:
    """The key as a list that goes through all axes of x, in order.

    Integers and slices stand for an axis, as do arrays of positions; masks for as many as they
    have; None for new ones. An Ellipsis that is left stands for no axis. Integers are counted from
    the first.

    Raises
    ------
    IndexError
        A part of the key is none, does not fit its axes, or is an integer out of range.
    TypeError, ValueError
        A slice is not of integers, or its step is 0.
    """
    given = [_part(k) for k in (key if isinstance(key, tuple) else (key,))]
    used = sum(map(_width, given))
    if sum(k is Ellipsis for k in given) > 1:
        raise IndexError("an index has one ellipsis at most")
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
            k.indices(x.shape[axis])  # no step is 0
        out.append(k)
        axis += _width(k)
    return out + [slice(None)] * (x.ndim - axis)


def is_mask(k: Any) -> bool:
    """Whether a part of a key is a mask."""
    return isinstance(k, _ARRAYS) and k.dtype == np.bool_


def is_whole(entry: Any, extent: int) -> bool:
    """Whether a part of a key is a slice of all elements along an axis, in order."""
    return isinstance(entry, slice) and entry.indices(extent) == (0, extent, 1)


def _part(k: Any) -> Any:
    """None, Ellipsis, an integer, a slice, or an array."""
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
    """How many axes a part of a key stands for."""
    if is_mask(k):
        return int(k.ndim)
    return 0 if k is None or k is Ellipsis else 1


def _check_mask(x: Array, mask: Any, axis: int) -> None:
    """IndexError if a mask has another shape than the axes from this one on, and elements."""
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
    """Positions along an axis, counted from the first; IndexError if one is out of range."""
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


class Selection(NamedTuple):
    """A key in two steps: a part of x by slices, and positions in that.

    Along the part's axes are those of x but for integers of the key, and new ones of extent 1.
    """

    #: For each axis of x an integer or a slice.
    basic: tuple[Any, ...]
    #: New axes of the part, from the first.
    new: list[int]
    #: For each axis of the part an array of positions, or None for all of it.
    at: tuple[_core.Array | None, ...]
    #: The shape that positions broadcast to, and where their axes are in what the key selects.
    common: Axes
    place: int

    def part(self, x: _core.Array) -> _core.Array:
        """The part of x by slices."""
        out = _core.slice(x, self.basic)
        for axis in self.new:
            out = _core.call("expand_dims", out, axis)
        return out

    @property
    def gathered(self) -> int:
        """Where the engine has the axes of positions."""
        axes = [d for d, p in enumerate(self.at) if p is not None]
        return axes[0] if axes[-1] - axes[0] == len(axes) - 1 else 0

    def order(self) -> list[int] | None:
        """Axes of what the engine gathers in NumPy's order; None: as they are."""
        n, place = len(self.common), self.gathered
        if n == 0 or place == self.place:
            return None
        rest = sum(p is None for p in self.at)
        others = [d if d < place else d + n for d in range(rest)]
        return [*others[: self.place], *range(place, place + n), *others[self.place :]]


def selection(x: Array, entries: list[Any], first: bool = False) -> Selection:
    """The steps for a key in full with arrays; masks are counted now.

    first: the axes of positions go in front, as in vindex, wherever arrays are.

    Raises
    ------
    IndexError
        Positions do not broadcast, or those in memory are out of range and not broadcast to none.
    """
    spec = common_spec(x, *entries)
    found = {i: _positions(e, spec) for i, e in enumerate(entries) if isinstance(e, _ARRAYS)}
    common = _common_shape([p.shape for arrays in found.values() for p in arrays])
    basic: list[Any] = []
    new: list[int] = []
    at: list[_core.Array | None] = []
    advanced: list[int] = []  # which entries are
    place = 0  # axes before the first of them
    for i, e in enumerate(entries):
        arrays = found.get(i, [])
        if arrays or isinstance(e, int):
            advanced.append(i)
        elif not advanced and e is not Ellipsis:
            place += 1
        if isinstance(e, (int, slice)):
            basic.append(e)
        is_new = e is None or (bool(arrays) and _width(e) == 0)
        if is_new:
            new.append(len(at))
        if e is None or isinstance(e, slice):
            at.append(None)
        for p in arrays:
            axis = len(basic)
            if isinstance(p, np.ndarray):
                whole = is_new or 0 in common
                within = p if whole else positions_within(p, x.shape[axis], axis)
                p = core_of(within, made=within is not p)
            at.append(p)
            if not is_new:
                basic.append(slice(None))
    if first or advanced[-1] - advanced[0] != len(advanced) - 1:
        place = 0
    return Selection(tuple(basic), new, tuple(at), common, place)


def _positions(e: Any, spec: Any) -> list[Any]:
    """The arrays of positions that an array in a key stands for, NumPy's where they are known."""
    if not is_mask(e):
        return [e._x if isinstance(e, Array) else e]
    if e.ndim == 0:  # of a new axis, all or nothing
        return [np.zeros(int(bool(e)), np.int64)]
    return list(coordinates(core_of(e), spec))
