"""Elements at positions: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy
from cubed.functions._calls import nested, operand

__all__ = [
    "field",
    "fields",
    "forward_fill",
    "take",
    "take_along_axis",
]


def field(x: Array, /, name: str) -> Array:
    """A field of records.

    Elements of records have named fields: a structured data type of NumPy. `x["name"]` calls this
    function.

    Parameters
    ----------
    x : Array
        Input array.
    name : str
        Name of the field.

    Returns
    -------
    Array
        The type of the field, in this machine's byte order, and the shape of `x`. Axes of a field
        with several elements follow. Lazy.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> x = cubed.asarray(np.array([(1, 2.5), (3, 4.5)], dtype="i4,f8"))
    >>> x["f1"].compute()
    array([2.5, 4.5])
    """
    x = lazy(x)
    return x._like(_core.call("field", x._x, name))


def fields(x: Array, /, names: Any) -> Array:
    """Records of some fields of records.

    `x[["a", "b"]]` calls this function.

    Parameters
    ----------
    x : Array
        Input array.
    names : sequence of str
        Names of the fields, in order.

    Returns
    -------
    Array
        The shape of `x`. Fields are in this machine's byte order, without padding. Lazy.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> x = cubed.asarray(np.array([(1, 2.5, 0)], dtype="i4,f8,u1"))
    >>> x[["f2", "f0"]].compute()
    array([(0, 1)], dtype=[('f2', 'u1'), ('f0', '<i4')])
    """
    x = lazy(x)
    return x._like(_core.call("fields", x._x, nested(names)))


def forward_fill(x: Array, /, axis: int = -1, limit: int | None = None) -> Array:
    """Replaces missing elements by the last element before them that is not missing.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, default -1
        The axis.
    limit : int or None
        Maximum number of consecutive elements to fill. None: no limit.

    Returns
    -------
    Array
        The shape and type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float("nan"), float("nan")])
    >>> cubed.functions.indexing.forward_fill(x, limit=1).compute()
    array([ 1.,  1., nan])
    """
    x = lazy(x)
    return x._like(_core.call("forward_fill", x._x, axis, limit))


def take(x: Array, indices: Any, /, axis: int | None = None) -> Array:
    """The elements at positions along an axis.

    The computation raises IndexError for positions out of range.

    Parameters
    ----------
    x : Array
        Input array.
    indices : int or array_like of int
        Positions; negative numbers count from the end.
    axis : int or None
        The axis. None: the only axis.

    Returns
    -------
    Array
        The type of `x`. The axis has one element for each position; it is dropped if `indices` is a
        number. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.take(cubed.asarray([10, 20, 30]), cubed.asarray([2, 0])).compute()
    array([30, 10])
    """
    spec = common_spec(x, indices)
    return Array._new(_core.call("take", core_of(x), operand(indices), axis), spec)


def take_along_axis(x: Array, indices: Any, /, axis: int = -1) -> Array:
    """The elements along an axis, at separate positions for each line along the axis.

    The computation raises IndexError for positions out of range.

    Parameters
    ----------
    x : Array
        Input array.
    indices : array_like
        Positions; negative numbers count from the end.
    axis : int, default -1
        The axis.

    Returns
    -------
    Array
        The type of `x`, in the shape of the positions. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[3, 1, 2]])
    >>> cubed.take_along_axis(x, cubed.argsort(x), axis=-1).compute()
    array([[1, 2, 3]])
    """
    spec = common_spec(x, indices)
    return Array._new(_core.call("take_along_axis", core_of(x), core_of(indices), axis), spec)
