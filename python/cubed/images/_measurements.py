"""Measurements of labelled objects: reductions of groups."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import to_numpy
from cubed.array_api.creation_functions import asarray, ones
from cubed.array_api.searching_functions import searchsorted, where
from cubed.blocks._groupby import groupby_reduce
from cubed.functions.grids import unravel_index
from cubed.functions.manipulation import broadcast_to, stack
from cubed.io._create import as_lazy


def _objects(name: str, input: Any, labels: Any, index: Any) -> tuple[Array, Any, Any, bool]:
    """Returns an image, its labels, the labels of objects, and whether there is one object."""
    x = as_lazy(input)
    if labels is None:
        return x, ones(x.shape, dtype=np.int8, chunks=x.chunks), np.ones(1, np.int8), True
    by = as_lazy(labels)
    if by.dtype.kind not in "biu":
        raise TypeError(f"{name}: labels are {by.dtype}, expected integers")
    chosen = None if index is None else to_numpy(index)
    if chosen is not None and chosen.size == 0:
        chosen = chosen.astype(np.int64)  # NumPy's type of an empty list is float64.
    if chosen is not None and chosen.dtype.kind not in "biu":
        raise TypeError(f"{name}: index is {chosen.dtype}, expected integers")
    if chosen is None or chosen.ndim == 0:
        by, one = (by > 0 if chosen is None else by == int(chosen)), True
        by, chosen = by.astype(np.int8), np.ones(1, np.int8)
    else:
        one = False
    if by.shape != x.shape:
        by = broadcast_to(by, x.shape)
    return x, by, chosen, one


def _measured(
    name: str, input: Any, labels: Any, index: Any, func: str, fill: Any = None, wide: bool = False
) -> Array:
    """Reduces each object. With `wide`, the reduction is computed in float64, as by SciPy."""
    x, by, chosen, one = _objects(name, input, labels, index)
    if wide and x.dtype.kind in "biuf" and not (one and func == "sum"):
        x = x.astype(np.float64)
    if x.ndim == 0:
        x, by = x.reshape((1,)), by.reshape((1,))
    made, *_ = groupby_reduce(
        x, by, func=func, expected_groups=np.unique(chosen), fill_value=fill,
        min_count=None if fill is None else 1,
    )  # fmt: skip
    return _in_order(made, chosen, one)


def _in_order(made: Array, chosen: Any, one: bool) -> Array:
    """Puts results of sorted labels into the order and shape of the chosen labels."""
    if one:
        return made[0]
    expected, place = np.unique(chosen, return_inverse=True)
    if np.array_equal(place.reshape(-1), np.arange(expected.size)) and chosen.ndim == 1:
        return made
    return made[place.reshape(-1)].reshape(chosen.shape + made.shape[1:])


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The sums of the elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        0 for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.sum_labels(x, labels, [1, 2]).compute()
    array([ 5., 11.])
    """
    return _measured("sum_labels", input, labels, index, "sum", None, True)


def mean(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The means of the elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        NaN for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.mean(x, labels, [1, 2]).compute()
    array([2.5, 5.5])
    """
    return _measured("mean", input, labels, index, "mean", None, True)


def variance(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The variances of the elements of objects, without a correction.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        NaN for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.variance(x, labels, [1, 2]).compute()
    array([ 2.25, 12.25])
    """
    return _measured("variance", input, labels, index, "var", None, True)


def standard_deviation(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The standard deviations of the elements of objects, without a correction.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        NaN for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.standard_deviation(x, labels, [1, 2]).compute()
    array([1.5, 3.5])
    """
    return _measured("standard_deviation", input, labels, index, "std", None, True)


def minimum(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The least elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        0 for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.minimum(x, labels, [1, 2]).compute()
    array([1., 2.])
    """
    return _measured("minimum", input, labels, index, "min", 0, False)


def maximum(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The greatest elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        0 for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.maximum(x, labels, [1, 2]).compute()
    array([4., 9.])
    """
    return _measured("maximum", input, labels, index, "max", 0, False)


def median(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The medians of the elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        A number for each object, in the shape of `index`; 0-d for one object.
        NaN for a label without elements. Lazy.

    Notes
    -----
    A task holds all elements of the image.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.median(x, labels, [1, 2]).compute()
    array([2.5, 5.5])
    """
    return _measured("median", input, labels, index, "median", None, True)


def _positions(name: str, input: Any, labels: Any, index: Any, func: str) -> Array:
    """Returns the position of the first smallest or largest element of each object, in a last
    axis."""
    x = as_lazy(input)
    if x.ndim == 0:
        raise ValueError(f"{name}: the image is 0-d, expected axes: reshape it to (1,)")
    flat = _measured(name, x, labels, index, func, 0)
    return stack(unravel_index(flat, tuple(max(n, 1) for n in x.shape)), axis=-1)


def minimum_position(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The positions of the least elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        The position along each axis of the image, in the last axis; the first one of equal
        elements. Other axes are those of `index`. Zeros for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.minimum_position(x, labels, [1, 2]).compute()
    array([[0],
           [3]])
    """
    return _positions("minimum_position", input, labels, index, "argmin")


def maximum_position(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The positions of the greatest elements of objects.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        The position along each axis of the image, in the last axis; the first one of equal
        elements. Other axes are those of `index`. Zeros for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.maximum_position(x, labels, [1, 2]).compute()
    array([[1],
           [2]])
    """
    return _positions("maximum_position", input, labels, index, "argmax")


def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple[Array, Array, Array, Array]:
    """The least and greatest elements of objects, and their positions.

    Parameters
    ----------
    input : array_like
        Numbers with an order.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    tuple[Array, Array, Array, Array]
        The results of :func:`minimum`, :func:`maximum`, :func:`minimum_position` and
        :func:`maximum_position`.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> least, greatest, *_ = cubed.ndimage.extrema(x, labels, [1, 2])
    >>> least.compute(), greatest.compute()
    (array([1., 2.]), array([4., 9.]))
    """
    return (
        minimum(input, labels, index),
        maximum(input, labels, index),
        minimum_position(input, labels, index),
        maximum_position(input, labels, index),
    )


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Array:
    """The centres of mass of objects, whose elements are weights of their positions.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        The centre along each axis of the image, in the last axis. Other axes are those of `index`.
        NaN for a label without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.center_of_mass(x, labels, [1, 2]).compute().round(3)
    array([[0.8  ],
           [2.182]])
    """
    x = as_lazy(input)
    if x.ndim == 0:
        raise ValueError("center_of_mass: the image is 0-d, expected axes: reshape it to (1,)")
    total = sum_labels(x, labels, index)
    parts = []
    for d, n in enumerate(x.shape):
        along = np.arange(float(n)).reshape([n if e == d else 1 for e in range(x.ndim)])
        parts.append(sum_labels(x * along, labels, index) / total)
    return stack(parts, axis=-1)


def histogram(
    input: Any, min: float, max: float, bins: int, labels: Any = None, index: Any = None
) -> Array:
    """Counts of the elements of objects in intervals of the same width.

    Parameters
    ----------
    input : array_like
        Real numbers.
    min, max : float
        Lower end of the first interval, and upper end of the last one, which includes it.
    bins : int
        Number of intervals.
    labels : array_like of int or None
        Label of each element; broadcast to the shape of `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects. None: elements with labels above 0 are one object.

    Returns
    -------
    Array
        int64: a count for each interval, in the last axis. Other axes are those of `index`. Zeros
        for a label without elements. Lazy.

    Raises
    ------
    ValueError
        If there is less than one interval, or the ends are not finite or not in order.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.histogram(x, 0, 10, 2, labels, [1, 2]).compute()
    array([[2, 0],
           [1, 1]])
    """
    x, by, chosen, one = _objects("histogram", input, labels, index)
    n, low, high = operator.index(bins), float(min), float(max)
    if n < 1 or not -np.inf < low < high < np.inf:
        raise ValueError(
            f"histogram: {bins} bins from {min} to {max}, expected at least 1 between finite ends"
        )
    at = searchsorted(asarray(np.linspace(low, high, n + 1)), x, side="right") - 1
    at = where(x == high, n - 1, at)
    made, *_ = groupby_reduce(
        at, by, at, func="count", expected_groups=(np.unique(chosen), np.arange(n))
    )
    return _in_order(made.astype(np.int64), chosen, one)


#: SciPy's older name of :func:`sum_labels`.
sum = sum_labels
