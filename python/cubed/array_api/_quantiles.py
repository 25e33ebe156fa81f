"""Quantiles."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import lazy, normalize_axes, to_numpy
from cubed.array_api._complex_median import complex_median
from cubed.array_api._weighted import weighted_quantile
from cubed.base._docs import documented
from cubed.base._dtypes import kind_of, name_of
from cubed.base._types import Axis, QuantileMethod

_as_that_function = partial(
    documented,
    parameters={
        "q": (
            "float or sequence of float : What part of the elements is below: 0 to 1, or 0 to 100"
            "\n    of percentiles."
        )
    },
    returns="Shapes, types and memory are those of that function. Lazy.",
)


def _quantile(
    x: Array, q: Any, scale: float, axis: Axis, skip_nan: bool, method: QuantileMethod,
    keepdims: bool, weights: Any = None,
) -> Array:  # fmt: skip
    x = lazy(x)
    given = to_numpy(q)
    values = given.astype(np.float64) / scale
    if weights is not None:
        return weighted_quantile(x, values, axis, skip_nan, method, keepdims, weights)
    axes = None if axis is None else normalize_axes(axis, x.ndim)
    one = given.ndim == 0 and not isinstance(q, (np.ndarray, Array))
    numbers = float(values) if one else values.reshape(-1).tolist()
    out = _core.quantile(x._x, numbers, axes, keepdims, skip_nan, method, x.spec.task_mem)
    if not one and values.ndim != 1:
        out = _core.reshape(out, (*values.shape, *out.shape[1:]))
    if kind_of(given.dtype) == x.dtype.kind == "f" and out.dtype != x._x.dtype:
        out = _core.astype(out, name_of(np.result_type(x.dtype, given.dtype)))
    return x._like(out)


@documented()
def median(x: Array, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The element in the middle, or the mean of the two there; NaN if there is one.

    Parameters
    ----------
    x : Array
        Numbers, or differences of times. Complex numbers are in order by their real parts, then by
        their imaginary ones; all of them are sorted.

    Returns
    -------
    Array
        float64 for integers and bools, else x's type; NaN of no elements.

    Notes
    -----
    Lazy and exact. Where the elements of one result take up to a quarter of a task's memory they
    are brought together in one; otherwise they are counted, in two to eight passes over x.

    Examples
    --------
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.median(x, axis=0).compute()
    array([2., 3.])
    """
    x = lazy(x)
    if x.dtype.kind == "c":
        return complex_median(x, axis, False, keepdims)
    axes = None if axis is None else normalize_axes(axis, x.ndim)
    return x._like(_core.median(x._x, axes, keepdims, False, x.spec.task_mem))


@_as_that_function()
def nanmedian(x: Array, axis: Axis = None, keepdims: bool = False) -> Array:
    """As :func:`median`, of the elements that are not NaN, or not NaT.

    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanmedian(x).compute()
    array(2.)
    """
    x = lazy(x)
    if x.dtype.kind == "c":
        return complex_median(x, axis, True, keepdims)
    axes = None if axis is None else normalize_axes(axis, x.ndim)
    return x._like(_core.median(x._x, axes, keepdims, True, x.spec.task_mem))


@documented()
def quantile(
    x: Array,
    /,
    q: Any,
    axis: Axis = None,
    *,
    method: QuantileMethod = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Array:
    """Quantiles; NaN if there is one among the elements.

    Parameters
    ----------
    x : Array
        Real numbers, or times: with method ``"linear"``, or one that gives an element.
    q : float or sequence of float
        From 0 to 1: a number, or an array of them.
    method : str, default "linear"
        One of NumPy's: ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``,
        ``"inverted_cdf"``, ``"hazen"``, ...; those that give one of the elements keep x's type.
    weights : array_like or None
        Of x's shape or that of `axis`: how much each element counts. With method
        ``"inverted_cdf"``; all elements are sorted.

    Returns
    -------
    Array
        float64 for integers and bools; of floats x's type, with an array q the one that both
        promote to; NaN of no elements. The axes of an array q are in front of the others.

    Raises
    ------
    ValueError
        For a q out of range, another method, or an axis that x does not have.
    TypeError
        For other types than real numbers.

    Notes
    -----
    Lazy and exact. Where the elements of one result take up to a quarter of a task's memory they
    are brought together in one; otherwise they are counted, in two to eight passes over x.

    Examples
    --------
    >>> x = cubed.arange(5.0)
    >>> cubed.quantile(x, 0.25).compute()
    array(1.)
    """
    return _quantile(x, q, 1, axis, False, method, keepdims, weights)


@_as_that_function()
def nanquantile(
    x: Array,
    /,
    q: Any,
    axis: Axis = None,
    *,
    method: QuantileMethod = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Array:
    """As :func:`quantile`, of the elements that are not NaN, or not NaT.

    Times of which some are missing are sorted. Methods are ``"linear"``, ``"lower"``, ``"higher"``
    and ``"nearest"`` for them.

    >>> x = cubed.arange(5.0)
    >>> cubed.nanquantile(x, 0.25).compute()
    array(1.)
    """
    return _quantile(x, q, 1, axis, True, method, keepdims, weights)


@_as_that_function()
def percentile(
    x: Array,
    /,
    q: Any,
    axis: Axis = None,
    *,
    method: QuantileMethod = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Array:
    """As :func:`quantile`, with q from 0 to 100.

    >>> x = cubed.arange(5.0)
    >>> cubed.percentile(x, 25).compute()
    array(1.)
    """
    return _quantile(x, q, 100, axis, False, method, keepdims, weights)


@_as_that_function()
def nanpercentile(
    x: Array,
    /,
    q: Any,
    axis: Axis = None,
    *,
    method: QuantileMethod = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Array:
    """As :func:`percentile`, of the elements that are not NaN.

    >>> x = cubed.arange(5.0)
    >>> cubed.nanpercentile(x, 25).compute()
    array(1.)
    """
    return _quantile(x, q, 100, axis, True, method, keepdims, weights)
