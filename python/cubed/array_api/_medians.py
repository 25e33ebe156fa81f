"""Medians."""

from __future__ import annotations

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import lazy
from cubed.array_api._complex_median import complex_median
from cubed.base._types import Axis


def median(x: Array, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The element in the middle, or the mean of the two there; NaN if there is one.

    Parameters
    ----------
    x : Array
        Numbers, or differences of times. Complex numbers are ordered by real parts, then by
        imaginary parts; all elements are sorted.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative ones count from the last.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.

    Returns
    -------
    Array
        float64 for integers and bools, otherwise the type of `x`; NaN if there are no elements.

    Notes
    -----
    Lazy and exact. Where the elements of one result take up to a quarter of a task's memory they
    are brought together in one; otherwise they are counted, in two to eight passes over x.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.median(x, axis=0).compute()
    array([2., 3.])
    """
    x = lazy(x)
    if x.dtype.kind == "c":
        return complex_median(x, axis, False, keepdims)
    return x._like(_core.call("median", x._x, axis, keepdims, x.spec.task_mem))


def nanmedian(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """As :func:`median`, of the elements that are not NaN, or not NaT.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative ones count from the last.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.

    Returns
    -------
    Array
        Shapes, types and memory are those of that function. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanmedian(x).compute()
    array(2.)
    """
    x = lazy(x)
    if x.dtype.kind == "c":
        return complex_median(x, axis, True, keepdims)
    return x._like(_core.call("nanmedian", x._x, axis, keepdims, x.spec.task_mem))
