"""NumPy's functions that write into an array. A lazy array gets a new lazy value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import is_scalar, normalize_axis
from cubed.array_api.creation_functions import arange, asarray
from cubed.array_api.elementwise_functions import clip
from cubed.array_api.manipulation_functions import broadcast_to, expand_dims, reshape
from cubed.array_api.searching_functions import where
from cubed.functions.manipulation import ravel
from cubed.functions.searching import count_nonzero
from cubed.io._create import as_lazy

__all__ = ["copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"]


def copyto(dst: Array, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    """Assigns values to an array where a mask is true: ``dst[...] = src``.

    Parameters
    ----------
    dst : Array
        The lazy array, which gets a new lazy value.
    src : array_like
        The values, of a shape that broadcasts to that of `dst`.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}, default "same_kind"
        Which casts to the type of `dst` are allowed.
    where : array_like of bool, default True
        Elements to assign to.

    Raises
    ------
    TypeError
        The type of the values cannot be cast to that of `dst`, or `where` is not of type bool.
    ValueError
        A shape does not broadcast.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.zeros(4)
    >>> cubed.copyto(x, [1.0, 2.0, 3.0, 4.0], where=[True, False, True, False])
    >>> x.compute()
    array([1., 0., 3., 0.])
    """
    _check_lazy("copyto", "dst", dst)
    if is_scalar(src):
        dtype = np.result_type(dst.dtype, src)
    else:
        src = as_lazy(src)
        dtype = src.dtype
    if not np.can_cast(dtype, dst.dtype, casting):
        raise TypeError(f"copyto: {dtype} is not cast to {dst.dtype} by the rule {casting!r}")
    mask = None if where is True else as_lazy(where)
    if mask is not None and mask.dtype != bool:
        raise TypeError(f"copyto: where is of type {mask.dtype}, expected bool")
    new = dst.copy()
    new[...] = np.asarray(src, dtype=dst.dtype) if is_scalar(src) else src
    if mask is None:
        dst._rebind(new._x)
    else:
        _put_where("copyto", dst, mask, new)


def putmask(a: Array, mask: Any, values: Any) -> None:
    """Assigns values where a mask is true: ``a.flat[n] = values[n % len(values)]``.

    Parameters
    ----------
    a : Array
        The lazy array, which gets a new lazy value.
    mask : array_like of bool
        As many elements as `a` has.
    values : array_like
        Values, which are repeated until there is one for each element of `a`.

    Raises
    ------
    TypeError
        The type of the values cannot be cast safely to that of `a`.
    ValueError
        The mask has a different number of elements.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(5, chunks=2)
    >>> cubed.putmask(x, x > 1, [-1, -2])
    >>> x.compute()
    array([ 0,  1, -1, -2, -1])
    """
    _check_lazy("putmask", "a", a)
    m, v = _as_large("putmask", mask, a), _flat("putmask", a, values, "safe")
    if v.size:
        new = reshape(v, a.shape) if v.size == a.size else _cycled(v, _places(a))
        _put_where("putmask", a, m, new)


def place(arr: Array, mask: Any, vals: Any) -> None:
    """Assigns values one after another to the elements where a mask is true.

    Parameters
    ----------
    arr : Array
        The lazy array, which gets a new lazy value.
    mask : array_like of bool
        As many elements as `arr` has. If there are several values, the true elements are counted
        immediately, which computes the mask.
    vals : array_like
        Values, which are repeated.

    Raises
    ------
    TypeError
        The type of the values cannot be cast safely to that of `arr`.
    ValueError
        The mask has a different number of elements, or there is no value.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(5, chunks=2)
    >>> cubed.place(x, x > 1, [-1, -2])
    >>> x.compute()
    array([ 0,  1, -1, -2, -1])
    """
    _check_lazy("place", "arr", arr)
    m, v = _as_large("place", mask, arr), _flat("place", arr, vals, "safe")
    if v.size == 1:
        _put_where("place", arr, m, v)
        return
    n = int(count_nonzero(m))
    if n and v.size == 0:
        raise ValueError("place: vals has no element")
    if n:
        arr[m] = _cycled(v, arange(n))


def put(a: Array, ind: Any, v: Any, mode: str = "raise") -> None:
    """Assigns values to elements at positions in C order: ``a.flat[ind] = v``.

    Parameters
    ----------
    a : Array
        The lazy array, which gets a new lazy value.
    ind : array_like of int
        Positions.
    v : array_like
        Values, which are repeated.
    mode : {"raise", "wrap", "clip"}, default "raise"
        Treatment of positions beyond the end: an error, counting from the start again, or the last
        element. With "clip", negative positions select the first element.

    Raises
    ------
    IndexError
        A position is beyond the end. Lazy positions raise the error when the array is computed.
    TypeError
        Positions are not integers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.zeros((2, 2))
    >>> cubed.put(x, [0, -1], [1.0, 2.0])
    >>> x.compute()
    array([[1., 0.],
           [0., 2.]])
    """
    _check_lazy("put", "a", a)
    at, values = _flat_indices("put", a, ind, mode), _flat("put", a, v, "unsafe")
    if at.size and values.size:
        _put(a, at, _cycled(values, arange(at.size)))


def put_along_axis(arr: Array, indices: Any, values: Any, axis: int | None = -1) -> None:
    """Assigns values to the elements that `take_along_axis` selects.

    Parameters
    ----------
    arr : Array
        The lazy array, which gets a new lazy value.
    indices : array_like of int
        Positions along the axis. The other axes broadcast to those of `arr`.
    values : array_like
        Values, of a shape that broadcasts to that of `indices`.
    axis : int or None, default -1
        None: positions in the flattened array.

    Raises
    ------
    IndexError
        A position is beyond the end. Lazy positions raise the error when the array is computed.
    ValueError
        The indices have a different number of axes.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[3, 1, 2], [4, 6, 5]])
    >>> cubed.put_along_axis(x, cubed.argmax(x, axis=1, keepdims=True), 0, axis=1)
    >>> x.compute()
    array([[0, 1, 2],
           [4, 0, 5]])
    """
    _check_lazy("put_along_axis", "arr", arr)
    if axis is None:
        at = _flat_indices("put_along_axis", arr, indices, "raise")
        if at.size:
            _put(arr, at, broadcast_to(as_lazy(values), at.shape))
        return
    at = as_lazy(indices)
    if at.ndim != arr.ndim:
        raise ValueError(f"put_along_axis: indices have {at.ndim} axes, expected {arr.ndim}")
    if at.size:
        key = [_along(arr, d) for d in range(arr.ndim)]
        key[normalize_axis("put_along_axis", axis, arr.ndim)] = at
        arr[tuple(key)] = values


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Assigns values to the elements whose indices are equal.

    Parameters
    ----------
    a : Array
        The lazy array, which gets a new lazy value; at least two axes.
    val : array_like
        A value, or several values, which are repeated until the diagonal is filled.
    wrap : bool, default False
        Whether the diagonal of a matrix with more rows than columns begins again below its end.

    Raises
    ------
    ValueError
        The array has fewer than two axes, or more than two axes of different extents.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.zeros((2, 3))
    >>> cubed.fill_diagonal(x, [1.0, 2.0])
    >>> x.compute()
    array([[1., 0., 0.],
           [0., 2., 0.]])
    """
    _check_lazy("fill_diagonal", "a", a)
    if a.ndim < 2:
        raise ValueError(f"fill_diagonal: a has {a.ndim} axes, expected at least 2")
    if a.ndim > 2 and len(set(a.shape)) > 1:
        raise ValueError(f"fill_diagonal: a has shape {a.shape}, expected axes of one extent")
    v = _flat("fill_diagonal", a, val, "unsafe")
    if not a.size or not v.size:
        return
    # The distance between elements of the diagonal, in C order: one step along each axis.
    step = sum(math.prod(a.shape[d + 1 :]) for d in range(a.ndim))
    at = _places(a)
    chosen = at % step == 0
    if a.ndim == 2 and not wrap:
        chosen = chosen & (at < a.shape[1] ** 2)
    _put_where("fill_diagonal", a, chosen, _cycled(v, at // step))


# --- Parts ----------------------------------------------------------------------------------------


def _check_lazy(title: str, name: str, x: Any) -> None:
    """Raises TypeError unless the array to assign to is lazy."""
    if not isinstance(x, Array):
        raise TypeError(
            f"{title}: {name} is a {type(x).__name__}, expected a lazy array: numpy.{title} writes"
            " into NumPy arrays"
        )


def _put_where(title: str, x: Array, mask: Array, new: Array) -> None:
    """Returns x where the mask is false, otherwise the new values in the type of x."""
    if new.size == 1:
        new = reshape(new, ())
    out = where(mask.astype(bool), new, x)
    if out.shape != x.shape:
        raise ValueError(f"{title}: a mask of shape {mask.shape} for an array of shape {x.shape}")
    x._rebind(out.astype(x.dtype)._x)


def _put(x: Array, at: Array, values: Array) -> None:
    """Assigns x.flat[at] = values. Both have the same shape; positions are not negative."""
    if x.ndim == 0:
        line = reshape(x, (1,))
        line[at] = values
        x._rebind(reshape(line, ())._x)
        return
    key = []
    for n in reversed(x.shape[1:]):
        key.append(at % n)
        at = at // n
    # If a position is too large, its first index is also too large.
    x[(at, *reversed(key))] = values


def _along(x: Array, axis: int) -> Array:
    """Returns the positions along an axis of x, in its chunks."""
    line = arange(x.shape[axis], chunks=(x.chunks[axis],))
    return expand_dims(line, tuple(d for d in range(x.ndim) if d != axis))


def _places(x: Array) -> Array:
    """Returns the positions of x's elements in C order, in x's shape and chunks."""
    out = asarray(0)
    for d in range(x.ndim):
        out = out + _along(x, d) * math.prod(x.shape[d + 1 :])
    return out


def _cycled(values: Array, at: Array) -> Array:
    """Returns elements of a vector at positions, as if the vector were repeated without end."""
    return values if values.size == 1 else values[at % values.size]


def _flat(title: str, x: Array, values: Any, casting: Any) -> Array:
    """Converts values to a vector of the type of x; values other than arrays as NumPy converts
    them."""
    if not hasattr(values, "dtype"):
        refuse_foreign(values)
        return as_lazy(np.asarray(values, dtype=x.dtype).ravel())
    v = as_lazy(values)
    if not np.can_cast(v.dtype, x.dtype, casting):
        raise TypeError(f"{title}: {v.dtype} is not cast to {x.dtype} by the rule {casting!r}")
    return ravel(v.astype(x.dtype))


def _flat_indices(title: str, x: Array, given: Any, mode: str) -> Array:
    """Returns positions in C order as a vector, after treating positions out of range as `mode`
    states."""
    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"{title}: mode is {mode!r}, expected 'raise', 'wrap' or 'clip'")
    at = ravel(as_lazy(given))
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
        return clip(at, 0, x.size - 1)
    if not isinstance(given, Array):
        values = np.asarray(given)
        if values.min() < -x.size or values.max() >= x.size:
            bad = values.min() if values.min() < -x.size else values.max()
            raise IndexError(f"{title}: position {bad} is out of bounds for {x.size} elements")
    # For lazy positions, the run raises an error if one is too large.
    return where(at < -x.size, x.size, where(at < 0, at + x.size, at))


def _as_large(title: str, mask: Any, x: Array) -> Array:
    """Returns a mask in x's shape; ValueError if the mask has a different number of elements."""
    m = as_lazy(mask)
    if m.size != x.size:
        raise ValueError(f"{title}: a mask of {m.size} elements for an array of {x.size}")
    return reshape(m.astype(bool), x.shape)
