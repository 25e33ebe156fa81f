"""Functions of masked arrays that have their own code."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed import _core
from cubed import array_api as _names
from cubed.array._array import Array
from cubed.array._operands import common_spec, normalize_axes, normalize_axis
from cubed.array_api import elementwise_functions as _elements
from cubed.array_api import manipulation_functions as _shapes
from cubed.array_api.composed_functions import average as _average
from cubed.array_api.creation_functions import full_like
from cubed.array_api.creation_functions import zeros_like as _zeros_like
from cubed.array_api.searching_functions import nonzero as _nonzero
from cubed.array_api.searching_functions import where as _where
from cubed.array_api.utility_functions import all as _all
from cubed.array_api.utility_functions import any as _any
from cubed.base._dtypes import kind_of
from cubed.base._types import Axis, ChunksLike, DTypeLike
from cubed.functions._calls import operand
from cubed.io._create import as_lazy, from_array
from cubed.ma._array import (
    MaskedArray,
    axes_of,
    checked_fill,
    count_of,
    finite,
    getmaskarray,
    plain,
)
from cubed.spec import Spec

_ma: Any = np.ma  # NumPy has few type annotations for numpy.ma


# --- Making ---------------------------------------------------------------------------------------


def masked_array(
    data: Any,
    mask: Any = False,
    dtype: DTypeLike = None,
    fill_value: Any = None,
    *,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
) -> MaskedArray:
    """Creates a masked array.

    Parameters
    ----------
    data : array_like
        An array, lazy or not, which may be a masked array of NumPy.
    mask : array_like of bool, default False
        True for elements to mask; broadcast. Elements that are already masked stay masked.
    dtype : dtype or None
        Data type of the result's elements.
    fill_value : scalar or None
        Value that :meth:`MaskedArray.filled` uses; None: NumPy's default.
    chunks : int, tuple, str or None
        Chunks of an array that is not lazy, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations of an array that is not lazy; None: as configured.

    Returns
    -------
    MaskedArray
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_array([1, 2, 3], [False, True, False]).compute())
    [1 -- 3]
    """
    old, fill, hard = None, None, False
    if isinstance(data, MaskedArray):
        data, old, fill, hard = data.data, data.mask, data._fill, data._hard
    elif isinstance(data, np.ma.MaskedArray):
        fill, hard = data.fill_value, data.hardmask
        old = _lazy(_ma.getmaskarray(data), chunks, spec)
        data = _ma.getdata(data)
    x = _lazy(data, chunks, spec)
    x = x if dtype is None else x.astype(dtype)
    new = mask if isinstance(mask, Array) else np.asarray(mask)
    if new.dtype.kind not in "biufc":
        raise TypeError(f"mask is {mask!r}, expected bools")
    if isinstance(new, np.ndarray) and new.ndim == 0:
        m = full_like(x, bool(new), dtype=np.bool_)
    else:
        m = _lazy(new, chunks if new.shape == x.shape else None, common_spec(x) or spec)
        m = m.astype(np.bool_)
    m = _shapes.broadcast_to(m, x.shape) if m.shape != x.shape else m
    mask = m if old is None else _elements.logical_or(m, old)
    out = MaskedArray(x, mask, fill if fill_value is None else checked_fill(fill_value, x.dtype))
    return out.harden_mask() if hard else out


def array(
    data: Any,
    dtype: DTypeLike = None,
    *,
    mask: Any = False,
    fill_value: Any = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
) -> MaskedArray:
    """Creates a masked array. As in :func:`numpy.ma.array`, the parameter `dtype` precedes `mask`.

    Parameters
    ----------
    data : array_like
        An array, lazy or not, which may be a masked array of NumPy.
    dtype : dtype or None
        Data type of the result's elements.
    mask : array_like of bool, default False
        As for :func:`masked_array`.
    fill_value : scalar or None
        Value that :meth:`MaskedArray.filled` uses; None: NumPy's default.
    chunks : int, tuple, str or None
        Chunks of an array that is not lazy, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations of an array that is not lazy; None: as configured.

    Returns
    -------
    MaskedArray
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.array([1, 2, 3], float, mask=[False, True, False]).compute())
    [1.0 -- 3.0]
    """
    return masked_array(data, mask, dtype, fill_value, chunks=chunks, spec=spec)


def asarray(
    a: Any, dtype: DTypeLike = None, *, chunks: ChunksLike = None, spec: Spec | None = None
) -> MaskedArray:
    """Converts an array to a masked array, without masking more elements.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    dtype : dtype or None
        Data type of the result's elements.
    chunks : int, tuple, str or None
        Chunks of an array that is not lazy, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations of an array that is not lazy; None: as configured.

    Returns
    -------
    MaskedArray
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.asarray([1, 2, 3], float).compute())
    [1.0 2.0 3.0]
    """
    return masked_array(a, dtype=dtype, chunks=chunks, spec=spec)


def _lazy(value: Any, chunks: ChunksLike, spec: Spec | None) -> Array:
    if isinstance(value, Array):
        return value
    values = np.asarray(value)
    return as_lazy(values) if chunks is None else from_array(values, chunks=chunks, spec=spec)


def masked_where(condition: Any, a: Any) -> MaskedArray:
    """Masks the elements for which a condition is true.

    Parameters
    ----------
    condition : array_like of bool
        Condition, element by element.
    a : array_like
        An array that may be masked.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 2, 3])
    >>> print(cubed.ma.masked_where(x == 2, x).compute())
    [1 -- 3]
    """
    where = filled(condition, True)
    if where.shape not in ((), shape := getdata(a).shape):
        raise IndexError(
            f"masked_where: the condition has shape {where.shape}, expected {shape} or a scalar"
        )
    return masked_array(a, where)


def getdata(a: Any) -> Array:
    """The elements of an array that may be masked.

    Parameters
    ----------
    a : array_like
        An array that may be masked.

    Returns
    -------
    Array
        Same shape and type as `a`. Masked elements have arbitrary values. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ma.getdata(cubed.ma.masked_array([1, 2], [False, True])).compute()
    array([1, 2])
    """
    return a.data if isinstance(a, MaskedArray) else as_lazy(plain(a))


def filled(a: Any, fill_value: Any = None) -> Array:
    """Replaces masked elements by a value; returns an array without a mask unchanged.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    fill_value : scalar or None
        Value in place of masked elements; None: the array's `fill_value`.

    Returns
    -------
    Array
        Same shape and type as the argument. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ma.filled(cubed.ma.masked_array([1, 2], [False, True]), 0).compute()
    array([1, 0])
    """
    a = masked_array(a) if isinstance(a, np.ma.MaskedArray) else a
    return a.filled(fill_value) if isinstance(a, MaskedArray) else as_lazy(a)


def _by_value(ufunc: Any, a: Any, value: Any) -> MaskedArray:
    return masked_array(a, ufunc(getdata(a), value))


def masked_equal(a: Any, value: Any) -> MaskedArray:
    """Masks elements that equal a value, which is also the fill value.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    value : scalar
        Value to compare elements with.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_equal(cubed.asarray([1, 2, 3]), 2).compute())
    [1 -- 3]
    """
    out = _by_value(np.equal, a, value)
    out.fill_value = value
    return out


def masked_not_equal(a: Any, value: Any) -> MaskedArray:
    """Masks elements that do not equal a value.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    value : scalar
        Value to compare elements with.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_not_equal(cubed.asarray([1, 2, 3]), 2).compute())
    [-- 2 --]
    """
    return _by_value(np.not_equal, a, value)


def masked_greater(a: Any, value: Any) -> MaskedArray:
    """Masks elements that are greater than a value.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    value : scalar
        Value to compare elements with.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_greater(cubed.asarray([1, 2, 3]), 2).compute())
    [1 2 --]
    """
    return _by_value(np.greater, a, value)


def masked_greater_equal(a: Any, value: Any) -> MaskedArray:
    """Masks elements that are greater than or equal to a value.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    value : scalar
        Value to compare elements with.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_greater_equal(cubed.asarray([1, 2, 3]), 2).compute())
    [1 -- --]
    """
    return _by_value(np.greater_equal, a, value)


def masked_less(a: Any, value: Any) -> MaskedArray:
    """Masks elements that are less than a value.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    value : scalar
        Value to compare elements with.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_less(cubed.asarray([1, 2, 3]), 2).compute())
    [-- 2 3]
    """
    return _by_value(np.less, a, value)


def masked_less_equal(a: Any, value: Any) -> MaskedArray:
    """Masks elements that are less than or equal to a value.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    value : scalar
        Value to compare elements with.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_less_equal(cubed.asarray([1, 2, 3]), 2).compute())
    [-- -- 3]
    """
    return _by_value(np.less_equal, a, value)


def masked_inside(x: Any, v1: Any, v2: Any) -> MaskedArray:
    """Masks elements from one value to another, both included.

    Parameters
    ----------
    x : array_like
        An array that may be masked.
    v1 : scalar
        One end.
    v2 : scalar
        The other end.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_inside(cubed.asarray([1, 2, 3]), 1, 2).compute())
    [-- -- 3]
    """
    low, high = (v1, v2) if v1 <= v2 else (v2, v1)
    data = getdata(x)
    return masked_array(x, _elements.logical_and(data >= low, data <= high))


def masked_outside(x: Any, v1: Any, v2: Any) -> MaskedArray:
    """Masks elements outside the interval from one value to another.

    Parameters
    ----------
    x : array_like
        An array that may be masked.
    v1 : scalar
        One end.
    v2 : scalar
        The other end.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_outside(cubed.asarray([1, 2, 3]), 1, 2).compute())
    [1 2 --]
    """
    low, high = (v1, v2) if v1 <= v2 else (v2, v1)
    data = getdata(x)
    return masked_array(x, _elements.logical_or(data < low, data > high))


def masked_invalid(a: Any) -> MaskedArray:
    """Masks elements that are NaN or infinite.

    Parameters
    ----------
    a : array_like
        An array that may be masked.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_invalid(cubed.asarray([1.0, float("nan")])).compute())
    [1.0 --]
    """
    data = getdata(a)
    return masked_array(a, ~_elements.isfinite(data) if kind_of(data.dtype) in "fc" else False)


def masked_values(
    x: Any, value: Any, rtol: float = 1e-5, atol: float = 1e-8
) -> MaskedArray:  # fmt: skip
    """Masks elements that are close to a value, which is also the fill value.

    Parameters
    ----------
    x : array_like
        An array that may be masked.
    value : scalar
        Value to compare elements with.
    rtol : float, default 1e-05
        Tolerance relative to `value`.
    atol : float, default 1e-08
        Absolute tolerance.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_values(cubed.asarray([1.0, 1.1]), 1.1).compute())
    [1.0 --]
    """
    data = getdata(x)
    if kind_of(data.dtype) not in "fc":
        return masked_equal(x, value)
    near = _names.isclose(data, value, rtol=rtol, atol=atol)
    return masked_array(x, near, fill_value=value)


def fix_invalid(a: Any, mask: Any = False, fill_value: Any = None) -> MaskedArray:
    """Masks elements that are NaN or infinite, and replaces their data by the fill value.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    mask : array_like of bool, default False
        Further elements to mask.
    fill_value : scalar or None
        Value that :meth:`MaskedArray.filled` uses; None: NumPy's default.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.fix_invalid([1.0, float("nan")], fill_value=-1.0)
    >>> x.data.compute()
    array([ 1., -1.])
    """
    out = masked_invalid(masked_array(a, mask, fill_value=fill_value))
    bad = ~_elements.isfinite(out.data) if kind_of(out.dtype) in "fc" else out.mask
    value = np.asarray(out.fill_value).astype(out.dtype)[()]
    return MaskedArray(_where(bad, value, out.data), out.mask, out._fill)


def set_fill_value(a: MaskedArray, fill_value: Any) -> None:
    """Sets the fill value of an array; no effect on an array without a mask, as in NumPy.

    Parameters
    ----------
    a : MaskedArray
        An array that may be masked.
    fill_value : scalar or None
        Value that :meth:`MaskedArray.filled` uses; None: NumPy's default.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> cubed.ma.set_fill_value(x, 7)
    >>> x.filled().compute()
    array([1, 7])
    """
    if isinstance(a, MaskedArray):
        a.fill_value = fill_value


# --- Several arrays -------------------------------------------------------------------------------


def count(a: Any, axis: Axis = None, keepdims: bool = False) -> Array:
    """Counts the elements that are not masked.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        int64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ma.count(cubed.ma.masked_array([1, 2], [False, True])).compute()
    array(1)
    """
    return masked_array(a).count(axis, keepdims)


def nonzero(a: Any) -> tuple[Array, ...]:
    """Coordinates of elements that are neither masked nor 0; their number is computed immediately.

    Parameters
    ----------
    a : array_like
        An array that may be masked.

    Returns
    -------
    tuple of Array
        An int64 vector for each axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> (at,) = cubed.ma.nonzero(cubed.ma.masked_array([1, 0, 2], [True, False, False]))
    >>> at.compute()
    array([2])
    """
    return _nonzero(filled(a, 0))


def average(
    a: Any,
    axis: int | None = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Computes the weighted mean of elements that are not masked.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    weights : array_like or None
        Weight of each element; None: 1.
    returned : bool, default False
        Whether to return also the sums of the weights; without weights, the numbers of elements.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.

    Returns
    -------
    array_like
        Without `axis`, or without axes if it is None. Masked where the weights sum to 0. Lazy.

    Raises
    ------
    ValueError
        If the weights have neither the shape of the array nor the length of the axis.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
    >>> print(cubed.ma.average(x, weights=[4, 1, 1]).compute())
    2.0
    """
    x = masked_array(a)
    axes = axes_of("average", axis, x.ndim)
    if weights is None:
        out = x.mean(axes, keepdims=keepdims)
        n = x.count(axes, keepdims).astype(out.dtype)
        return (out, masked_array(n)) if returned else out
    data = _where(x.mask, x.dtype.type(0), x.data)
    w = as_lazy(weights)
    if w.shape != x.shape:
        if axes is None or w.ndim != 1:
            raise ValueError(f"average: weights of shape {w.shape} for an array of {x.shape}")
        (d,) = axes
        w = _shapes.reshape(w, (-1, *(1,) * (x.ndim - d - 1)))
    w = _where(x.mask, w.dtype.type(0), w)
    out, total = _average(data, axes, w, returned=True, keepdims=keepdims)
    mean = MaskedArray(out, total == 0, x._fill)
    mean = finite(mean) if out.ndim else mean
    return (mean, x._reduced(total, axes, keepdims)) if returned else mean


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Selects elements of x where the condition is true, of y elsewhere.

    An element of the result is masked if the condition or the selected element is masked. With a
    condition only, the function is :func:`nonzero`.

    Parameters
    ----------
    condition : array_like of bool
        Condition, element by element.
    x, y : array_like
        Arrays that may be masked, or numbers.

    Returns
    -------
    array_like
        The broadcast shape of all arguments, and the promoted type of `x` and `y`. Lazy.

    Raises
    ------
    ValueError
        If only one of `x` and `y` is given.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> print(cubed.ma.where(cubed.asarray([True, False]), x, 5).compute())
    [1 5]
    """
    if (x is None) != (y is None):
        raise ValueError("where: one of x and y is given, expected both or neither")
    if x is None:
        return nonzero(condition)
    c = filled(condition, False)
    a, b = masked_array(x), masked_array(y)
    mask = _where(c, a.mask, b.mask)
    if isinstance(condition, (MaskedArray, np.ma.MaskedArray)):
        mask = _elements.logical_or(mask, getmaskarray(condition))
    out = _where(c, a.data, b.data)
    return MaskedArray(out, _shapes.broadcast_to(mask, out.shape), a._fill)


def concatenate(arrays: Any, axis: int = 0) -> MaskedArray:
    """Joins arrays along an axis.

    Parameters
    ----------
    arrays : sequence of array_like
        Arrays that may be masked.
    axis : int, default 0
        Axis along which the arrays are joined.

    Returns
    -------
    MaskedArray
        An array of the promoted type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> print(cubed.ma.concatenate([x, [3]]).compute())
    [1 -- 3]
    """
    given = [masked_array(a) for a in arrays]
    if given:
        axis = normalize_axis("concatenate", axis, given[0].ndim)
    return MaskedArray(
        _shapes.concat([a.data for a in given], axis=axis),
        _shapes.concat([a.mask for a in given], axis=axis),
    )


def count_masked(a: Any, axis: Axis = None) -> Array:
    """Counts the masked elements.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.

    Returns
    -------
    Array
        int64, without the reduced axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ma.count_masked(cubed.ma.masked_array([1, 2], [False, True])).compute()
    array(1)
    """
    return count_of("count_masked", getmaskarray(a), axis)


def is_masked(x: Any) -> Array:
    """Whether any element is masked.

    Parameters
    ----------
    x : array_like
        An array that may be masked.

    Returns
    -------
    Array
        bool, without axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> bool(cubed.ma.is_masked(cubed.ma.masked_array([1, 2], [False, True])).compute())
    True
    """
    return _any(getmaskarray(x))


def isMaskedArray(x: Any) -> bool:
    """Whether an object is a masked array.

    Parameters
    ----------
    x : array_like
        An array that may be masked.

    Returns
    -------
    bool
        True for masked arrays of this module and of NumPy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ma.isMaskedArray(cubed.asarray([1, 2]))
    False
    """
    return isinstance(x, (MaskedArray, np.ma.MaskedArray))


def mask_or(m1: Any, m2: Any) -> Array:
    """Combines two masks: true where one of them is true.

    Parameters
    ----------
    m1 : array_like of bool
        The first mask.
    m2 : array_like of bool
        The second mask.

    Returns
    -------
    Array
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ma.mask_or([True, False], [False, False]).compute()
    array([ True, False])
    """
    return _elements.logical_or(as_lazy(m1), as_lazy(m2))


def masked_all(shape: Any, dtype: DTypeLike = float) -> MaskedArray:
    """Creates an array with all elements masked.

    Parameters
    ----------
    shape : array_like
        Shape of the result.
    dtype : dtype or None, default float
        Data type of the result's elements.

    Returns
    -------
    MaskedArray
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_all(2).compute())
    [-- --]
    """
    return masked_array(_names.zeros(shape, dtype=dtype), True)


def masked_all_like(a: Any) -> MaskedArray:
    """Creates an array of the same shape and type with all elements masked.

    Parameters
    ----------
    a : array_like
        An array that may be masked.

    Returns
    -------
    MaskedArray
        Same shape and type as the argument. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.masked_all_like([1, 2]).compute())
    [-- --]
    """
    return masked_array(_zeros_like(getdata(a)), True)


def allequal(a: Any, b: Any, fill_value: bool = True) -> Array:
    """Whether all elements of two arrays are equal.

    Parameters
    ----------
    a : array_like
        The first array, which may be masked.
    b : array_like
        The second array, which may be masked.
    fill_value : bool, default True
        Whether masked elements count as equal.

    Returns
    -------
    Array
        bool, without axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> bool(cubed.ma.allequal(x, [1, 3]).compute())
    True
    """
    return _all(filled(masked_array(a) == masked_array(b), fill_value))


def allclose(
    a: Any, b: Any, masked_equal: bool = True, rtol: float = 1e-5, atol: float = 1e-8
) -> Array:
    """Whether all elements of two arrays are close.

    Parameters
    ----------
    a : array_like
        The first array, which may be masked.
    b : array_like
        The second array, which may be masked.
    masked_equal : bool, default True
        Whether masked elements count as equal.
    rtol : float, default 1e-05
        Tolerance relative to `b`.
    atol : float, default 1e-08
        Absolute tolerance.

    Returns
    -------
    Array
        bool, without axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> bool(cubed.ma.allclose(x, [1, 3], masked_equal=False).compute())
    False
    """
    x, y = getdata(a), getdata(b)
    core = _core.call_as("allclose", "isclose", operand(x), operand(y), rtol, atol, False)
    near = Array._new(core, common_spec(x, y))
    return _all(filled(masked_array(near, mask_or(getmaskarray(a), getmaskarray(b))), masked_equal))


def diff(a: Any, n: int = 1, axis: int = -1) -> MaskedArray:
    """Computes differences of neighbouring elements, masked where one of them is masked.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    n : int, default 1
        Number of times to take differences.
    axis : int, default -1
        Axis along which to compute; negative numbers count from the last.

    Returns
    -------
    MaskedArray
        `n` elements shorter along the axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.diff(cubed.ma.masked_array([1, 3, 6], [True, False, False])).compute())
    [-- 3]
    """
    x = masked_array(a)
    (d,) = normalize_axes("diff", axis, x.ndim)
    data, mask = _names.diff(x.data, n=n, axis=d), x.mask
    before = (slice(None),) * d
    for _ in range(n):
        mask = mask_or(mask[(*before, slice(1, None))], mask[(*before, slice(None, -1))])
    return MaskedArray(data, mask, x._fill)


def median(a: Any, axis: Axis = None, keepdims: bool = False) -> MaskedArray:
    """Medians of elements that are not masked; NaN if one of these is NaN.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.

    Returns
    -------
    MaskedArray
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        Masked where all reduced elements are masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1.0, 2.0, 6.0], [False, True, False])
    >>> float(cubed.ma.median(x).compute())
    3.5
    """
    x = masked_array(a)
    x = x.astype(np.float64) if kind_of(x.dtype) in "biu" else x
    axis = normalize_axes("median", axis, x.ndim)
    out = _names.nanmedian(x.filled(np.nan), axis=axis, keepdims=keepdims)
    bad = _any(_elements.isnan(x.filled(0)), axis=axis, keepdims=keepdims)
    return x._reduced(_where(bad, out.dtype.type(np.nan), out), axis, keepdims)
