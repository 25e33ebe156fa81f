"""Products, sorting and joining of masked arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from cubed import array_api as _names
from cubed.array._array import Array
from cubed.array._operands import is_scalar, normalize_axis
from cubed.array_api.writing_functions import copyto
from cubed.base._dtypes import kind_of
from cubed.ma._array import MaskedArray, getmaskarray
from cubed.ma._functions import concatenate, filled, masked_array

_ma: Any = np.ma  # NumPy has few type annotations for numpy.ma


def _product(function: Callable[..., Array], a: Any, b: Any) -> MaskedArray:
    """Computes a product: masked elements are 0, and a sum of only masked terms is masked."""
    valid = [_names.logical_not(getmaskarray(x)) for x in (a, b)]
    terms = function(*(v.astype(np.int64) for v in valid))
    return masked_array(function(*_zeroed(a, b)), _names.equal(terms, 0))


def _zeroed(*arrays: Any) -> list[Array]:
    """Replaces masked elements of arrays by 0."""
    return [masked_array(x).filled(0) for x in arrays]


def dot(a: Any, b: Any) -> MaskedArray:
    """Product of two arrays, like :func:`cubed.dot`; masked elements are 0.

    Parameters
    ----------
    a : array_like
        The first array.
    b : array_like
        The second array.

    Returns
    -------
    MaskedArray
        Masked where all products of a sum have a masked factor. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([[1, 2], [3, 4]], [[False, True], [True, True]])
    >>> print(cubed.ma.dot(x, [1, 1]).compute())
    [1 --]
    """
    return _product(_names.dot, a, b)


def inner(a: Any, b: Any) -> MaskedArray:
    """Sums of products over the last axes of two arrays; masked elements are 0.

    Parameters
    ----------
    a : array_like
        The first array.
    b : array_like
        The second array.

    Returns
    -------
    MaskedArray
        No element is masked, as in NumPy. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2, 3], [False, True, False])
    >>> print(cubed.ma.inner(x, [1, 1, 1]).compute())
    4
    """
    return masked_array(_names.inner(*_zeroed(a, b)))


def tensordot(a: Any, b: Any, axes: Any = 2) -> MaskedArray:
    """Sums of products over several axes, as :func:`cubed.tensordot`; masked elements are 0.

    Parameters
    ----------
    a : array_like
        The first array.
    b : array_like
        The second array.
    axes : int or pair of sequences of int, default 2
        The axes to sum over.

    Returns
    -------
    MaskedArray
        Masked where each product of a sum has a masked factor. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2, 3], [False, True, False])
    >>> print(cubed.ma.tensordot(x, [1, 1, 1], 1).compute())
    4
    """
    return _product(functools.partial(_names.tensordot, axes=axes), a, b)


def outer(a: Any, b: Any) -> MaskedArray:
    """Products of all pairs of elements of two arrays.

    Parameters
    ----------
    a : array_like
        The first array.
    b : array_like
        The second array.

    Returns
    -------
    MaskedArray
        Shape ``(a.size, b.size)``; masked where a factor is masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2], [False, True])
    >>> print(cubed.ma.outer(x, [1, 2]).compute())
    [[1 2]
     [-- --]]
    """
    return _product(_names.outer, a, b)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Array:
    """Sums of the diagonals in two axes; masked elements are 0.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    offset : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.
    axis1 : int, default 0
        The first of two axes.
    axis2 : int, default 1
        The second of two axes.
    dtype : dtype or None
        Data type of the result's elements.

    Returns
    -------
    Array
        Without the two axes, and without a mask, as in NumPy. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([[1, 2], [3, 4]], [[False, False], [False, True]])
    >>> cubed.ma.trace(x).compute()
    array(1)
    """
    return _names.trace(_zeroed(a)[0], offset, axis1, axis2, dtype)


def append(a: Any, b: Any, axis: int | None = None) -> MaskedArray:
    """Appends one array to another.

    Parameters
    ----------
    a : array_like
        The first array.
    b : array_like
        The second array.
    axis : int or None
        Axis along which to join the arrays; None: both are flattened.

    Returns
    -------
    MaskedArray
        Masked elements stay masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> print(cubed.ma.append(cubed.ma.masked_array([1, 2], [False, True]), [3]).compute())
    [1 -- 3]
    """
    parts = [masked_array(x) for x in (a, b)]
    if axis is None:
        return concatenate([p.ravel() for p in parts])
    return concatenate(parts, normalize_axis("append", axis, parts[0].ndim))


def ediff1d(arr: Any) -> MaskedArray:
    """Differences of neighbours in the flattened array.

    Parameters
    ----------
    arr : array_like
        An array that may be masked.

    Returns
    -------
    MaskedArray
        An array with one axis; masked where a neighbour is masked. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2, 4, 8], [True, False, False, False])
    >>> print(cubed.ma.ediff1d(x).compute())
    [-- 2 4]
    """
    x = masked_array(arr).ravel()
    return x[1:] - x[:-1]


def sort(a: Any, axis: int = -1, *, endwith: bool = True, fill_value: Any = None) -> MaskedArray:
    """Sorts elements in ascending order along an axis.

    Parameters
    ----------
    a : array_like
        An array that may be masked.
    axis : int, default -1
        Axis along which to sort.
    endwith : bool, default True
        Whether masked elements come last; they come first otherwise.
    fill_value : scalar or None
        Must be None, because `endwith` decides the positions of masked elements.

    Returns
    -------
    MaskedArray
        Same shape and type as the array. Lazy.

    Raises
    ------
    ValueError
        If `fill_value` is given.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([3, 1, 2], [False, True, False])
    >>> print(cubed.ma.sort(x).compute())
    [2 3 --]
    """
    if fill_value is not None:
        raise ValueError(f"sort: fill_value is {fill_value!r}, expected None; endwith places masks")
    x = masked_array(a)
    floats = kind_of(x.dtype) in "fc"
    if endwith:
        edge = x.dtype.type(np.nan) if floats else _ma.minimum_fill_value(x.data)
    else:
        edge = _ma.maximum_fill_value(x.data)
    order = _names.sort(x.mask, axis=axis, descending=not endwith)
    return MaskedArray(_names.sort(x.filled(edge), axis=axis), order, x._fill)


def putmask(a: MaskedArray, mask: Any, values: Any) -> None:
    """Replaces elements where a mask is true, in the lazy array itself.

    Parameters
    ----------
    a : MaskedArray
        The array to change.
    mask : array_like of bool
        Where to replace elements.
    values : array_like
        New values, of the shape of `a` or broadcast to it. Masked ones mask elements.

    Raises
    ------
    TypeError
        The type of the values is of a different kind from that of `a`, such as floats for integers.
    ValueError
        The mask or the values do not broadcast to the shape of `a`.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ma.masked_array([1, 2, 3], [False, True, False])
    >>> cubed.ma.putmask(x, [True, True, False], 9)
    >>> print(x.compute())
    [9 9 3]
    """
    where = filled(mask, False).astype(np.bool_)
    data, hidden = a.data.copy(), a.mask.copy()
    if values is not _ma.masked:
        copyto(data, values if is_scalar(values) else masked_array(values).data, where=where)
    copyto(hidden, values is _ma.masked or getmaskarray(values), where=where)
    a._replace(data, hidden)
