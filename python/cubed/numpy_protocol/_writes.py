"""NumPy's functions that write into an array. A lazy array gets a new lazy value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from cubed import array_api as xp
from cubed.array._array import Array
from cubed.array._operands import is_scalar, normalize_axis
from cubed.io._create import as_lazy


def copyto(dst: Array, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """dst[...] = src where a mask is true."""
    if is_scalar(src):
        dtype = np.result_type(dst.dtype, src)
    else:
        src = as_lazy(src)
        dtype = src.dtype
    if not np.can_cast(dtype, dst.dtype, casting):
        raise TypeError(f"copyto: {dtype} is not cast to {dst.dtype} by the rule {casting!r}")
    new = dst.copy()
    new[...] = np.asarray(src, dtype=dst.dtype) if is_scalar(src) else src
    if where is True:
        dst._rebind(new._x)
    else:
        _put_where("copyto", dst, as_lazy(where), new)


def putmask(a: Array, mask: Any, values: Any) -> None:
    """a.flat[n] = values[n % len(values)] where the mask is true."""
    m, v = _as_large("putmask", mask, a), _flat("putmask", a, values, "safe")
    if v.size:
        new = xp.reshape(v, a.shape) if v.size == a.size else _cycled(v, _places(a))
        _put_where("putmask", a, m, new)


def place(arr: Array, mask: Any, vals: Any) -> None:
    """Assigns the values in order, repeated, where the mask is true; the elements are counted
    now."""
    m, v = _as_large("place", mask, arr), _flat("place", arr, vals, "safe")
    if v.size == 1:
        _put_where("place", arr, m, v)
        return
    n = int(xp.count_nonzero(m))
    if n and v.size == 0:
        raise ValueError("place: vals has no element")
    if n:
        arr[m] = _cycled(v, xp.arange(n))


def put(a: Array, ind: Any, v: Any, mode: str = "raise") -> None:
    """a.flat[ind] = v; the elements of v are repeated."""
    at, values = _flat_indices("put", a, ind, mode), _flat("put", a, v, "unsafe")
    if at.size and values.size:
        _put(a, at, _cycled(values, xp.arange(at.size)))


def put_along_axis(arr: Array, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Assigns values to the elements that take_along_axis selects."""
    if axis is None:
        at = _flat_indices("put_along_axis", arr, indices, "raise")
        if at.size:
            _put(arr, at, xp.broadcast_to(as_lazy(values), at.shape))
        return
    at = as_lazy(indices)
    if at.ndim != arr.ndim:
        raise ValueError(f"put_along_axis: indices have {at.ndim} axes, expected {arr.ndim}")
    if at.size:
        key = [_along(arr, d) for d in range(arr.ndim)]
        key[normalize_axis(axis, arr.ndim)] = at
        arr[tuple(key)] = values


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """The elements whose indices are equal become val, or one after another of its elements."""
    if a.ndim < 2:
        raise ValueError(f"fill_diagonal: a has {a.ndim} axes, expected at least 2")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError(f"fill_diagonal: a has shape {a.shape}, expected axes of one extent")
    v = _flat("fill_diagonal", a, val, "unsafe")
    if not a.size or not v.size:
        return
    # As in memory: from one of them to the next it is one step along each axis.
    step = sum(math.prod(a.shape[d + 1 :]) for d in range(a.ndim))
    at = _places(a)
    chosen = at % step == 0
    if a.ndim == 2 and not wrap:
        chosen = chosen & (at < a.shape[1] ** 2)
    _put_where("fill_diagonal", a, chosen, _cycled(v, at // step))


# --- Parts ----------------------------------------------------------------------------------------


def _put_where(title: str, x: Array, mask: Array, new: Array) -> None:
    """x where the mask is false, else the new values, which have the type of x."""
    if new.size == 1:
        new = xp.reshape(new, ())
    out = xp.where(mask.astype(bool), new, x)
    if out.shape != x.shape:
        raise ValueError(f"{title}: a mask of shape {mask.shape} for an array of shape {x.shape}")
    x._rebind(out.astype(x.dtype)._x)


def _put(x: Array, at: Array, values: Array) -> None:
    """x.flat[at] = values. Values and positions have the same shape; positions are not negative."""
    if x.ndim == 0:
        line = xp.reshape(x, (1,))
        line[at] = values
        x._rebind(xp.reshape(line, ())._x)
        return
    key = []
    for n in reversed(x.shape[1:]):
        key.append(at % n)
        at = at // n
    x[(at, *reversed(key))] = values  # where a position is too large, so is the first index


def _along(x: Array, axis: int) -> Array:
    """The positions along an axis of x, in its chunks."""
    line = xp.arange(x.shape[axis], chunks=(x.chunks[axis],))
    return xp.expand_dims(line, tuple(d for d in range(x.ndim) if d != axis))


def _places(x: Array) -> Array:
    """The positions of x's elements in C order, in x's shape and chunks."""
    out = xp.asarray(0)
    for d in range(x.ndim):
        out = out + _along(x, d) * math.prod(x.shape[d + 1 :])
    return out


def _cycled(values: Array, at: Array) -> Array:
    """Elements of a vector at positions, as if the vector were repeated endlessly."""
    return values if values.size == 1 else values[at % values.size]


def _flat(title: str, x: Array, values: Any, casting: Any) -> Array:
    """Converts values to a vector of the type of x; values other than arrays as NumPy converts
    them."""
    if not hasattr(values, "dtype"):
        return as_lazy(np.asarray(values, dtype=x.dtype).ravel())
    v = as_lazy(values)
    if not np.can_cast(v.dtype, x.dtype, casting):
        raise TypeError(f"{title}: {v.dtype} is not cast to {x.dtype} by the rule {casting!r}")
    return xp.ravel(v.astype(x.dtype))


def _flat_indices(title: str, x: Array, given: Any, mode: str) -> Array:
    """Positions in x in C order, as a vector; those that are negative or too large by the mode."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"{title}: mode is {mode!r}, expected 'raise', 'wrap' or 'clip'")
    at = xp.ravel(as_lazy(given))
    if at.size == 0:
        return at
    if at.dtype.kind not in "iub":
        raise TypeError(f"{title}: positions are {at.dtype}, expected integers")
    if x.size == 0:
        raise IndexError(f"{title}: an array of shape {x.shape} has no elements")
    at = at.astype(np.int64)
    if mode == "wrap":
        return at % x.size
    if mode == "clip":
        return xp.clip(at, 0, x.size - 1)
    if not isinstance(given, Array):
        values = np.asarray(given)
        if values.min() < -x.size or values.max() >= x.size:
            bad = values.min() if values.min() < -x.size else values.max()
            raise IndexError(f"{title}: position {bad} is out of bounds for {x.size} elements")
    # For lazy positions, the run raises an error if one is too large.
    return xp.where(at < -x.size, x.size, xp.where(at < 0, at + x.size, at))


def _as_large(title: str, mask: Any, x: Array) -> Array:
    """A mask in x's shape; ValueError if it has not as many elements."""
    m = as_lazy(mask)
    if m.size != x.size:
        raise ValueError(f"{title}: a mask of {m.size} elements for an array of {x.size}")
    return xp.reshape(m.astype(bool), x.shape)


#: By NumPy's function. The array that is written to is the first argument.
WRITERS: dict[Any, Callable[..., None]] = {
    np.copyto: copyto,
    np.fill_diagonal: fill_diagonal,
    np.place: place,
    np.put: put,
    np.put_along_axis: put_along_axis,
    np.putmask: putmask,
}
