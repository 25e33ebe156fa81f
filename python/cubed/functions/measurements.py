"""Measurements of labelled objects: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.functions._calls import nested, operand, task_mem

__all__ = [
    "center_of_mass",
    "extrema",
    "histogram_labels",
    "maximum_labels",
    "maximum_position",
    "mean_labels",
    "median_labels",
    "minimum_labels",
    "minimum_position",
    "standard_deviation_labels",
    "sum_labels",
    "variance_labels",
]


def center_of_mass(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Computes the centre of mass of each labelled object; elements are weights of their positions.

    Elements are cast to float64, or complex128.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`, and a last axis with a number for each axis of the image. NaN for an
        object without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.center_of_mass(x, labels, [1, 2]).compute().round(3)
    array([[0.8  ],
           [2.182]])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "center_of_mass", core_of(input), operand(labels), nested(index), task_mem(spec)
    )
    return Array._new(core, spec)


def extrema(input: Any, labels: Any = None, index: Any = None) -> tuple[Array, ...]:
    """Finds the minimum and maximum of each labelled object, and their positions.

    If several elements are equal, the result is the position of the first of them. If an object
    contains NaN, the result is the position of the first NaN.

    Parameters
    ----------
    input : array_like
        Real numbers or times.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    tuple of Array
        The results of ``minimum_labels``, ``maximum_labels``, ``minimum_position`` and
        ``maximum_position``. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> least, greatest, *_ = cubed.ndimage.extrema(x, labels, [1, 2])
    >>> least.compute(), greatest.compute()
    (array([1., 2.]), array([4., 9.]))
    """
    spec = common_spec(input, labels)
    cores = _core.call("extrema", core_of(input), operand(labels), nested(index), task_mem(spec))
    return tuple(Array._new(c, spec) for c in cores)


def histogram_labels(
    input: Any, min: float, max: float, bins: int, labels: Any = None, index: Any = None
) -> Array:
    """Counts the elements of each labelled object in intervals of equal width.

    In SciPy: ``histogram``, which returns None for an object without elements. NaN is in no
    interval.

    Parameters
    ----------
    input : array_like
        Real numbers.
    min : float
        Lower end of the first interval.
    max : float
        Upper end of the last interval, which includes it.
    bins : int
        Number of intervals.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        int64: the shape of `index`, and a last axis with a count for each interval. Lazy.

    Raises
    ------
    ValueError
        For less than 1 interval, for ends that are not finite or not in order, and for an index
        without labels.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.histogram(x, 0, 10, 2, labels, [1, 2]).compute()
    array([[2, 0],
           [1, 1]])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "histogram_labels",
        core_of(input),
        min,
        max,
        bins,
        operand(labels),
        nested(index),
        task_mem(spec),
    )
    return Array._new(core, spec)


def maximum_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Finds the maximum of each labelled object.

    In SciPy: ``maximum``. The maximum of an object that contains NaN is NaN.

    Parameters
    ----------
    input : array_like
        Real numbers or times.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`; 0-d for one object. The type of `input`; 0 for an object without
        elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.maximum(x, labels, [1, 2]).compute()
    array([4., 9.])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "maximum_labels", core_of(input), operand(labels), nested(index), task_mem(spec)
    )
    return Array._new(core, spec)


def maximum_position(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Finds the position of the first maximum of each labelled object.

    If several elements are equal, the result is the position of the first of them. If an object
    contains NaN, the result is the position of the first NaN.

    Parameters
    ----------
    input : array_like
        Real numbers or times.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`, and a last axis with a number for each axis of the image. int64; zeros
        for an object without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.maximum_position(x, labels, [1, 2]).compute()
    array([[1],
           [2]])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "maximum_position", core_of(input), operand(labels), nested(index), task_mem(spec)
    )
    return Array._new(core, spec)


def mean_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Computes the mean of each labelled object.

    In SciPy: ``mean``.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`; 0-d for one object. float64; NaN for an object without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.mean(x, labels, [1, 2]).compute()
    array([2.5, 5.5])
    """
    spec = common_spec(input, labels)
    core = _core.call("mean_labels", core_of(input), operand(labels), nested(index), task_mem(spec))
    return Array._new(core, spec)


def median_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Computes the median of each labelled object.

    In SciPy: ``median``. The median of an object that contains NaN is NaN. If `index` is a list,
    SciPy instead treats NaN as the largest number.

    A task holds all elements of the image if they fit. Otherwise the image is read several times
    for each object.

    Parameters
    ----------
    input : array_like
        Real numbers.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`; 0-d for one object. The floating-point type of `input`, or float64;
        NaN for an object without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.median(x, labels, [1, 2]).compute()
    array([2.5, 5.5])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "median_labels", core_of(input), operand(labels), nested(index), task_mem(spec)
    )
    return Array._new(core, spec)


def minimum_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Finds the minimum of each labelled object.

    In SciPy: ``minimum``. The minimum of an object that contains NaN is NaN. If `index` is a list,
    SciPy instead treats NaN as the largest number.

    Parameters
    ----------
    input : array_like
        Real numbers or times.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`; 0-d for one object. The type of `input`; 0 for an object without
        elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.minimum(x, labels, [1, 2]).compute()
    array([1., 2.])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "minimum_labels", core_of(input), operand(labels), nested(index), task_mem(spec)
    )
    return Array._new(core, spec)


def minimum_position(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Finds the position of the first minimum of each labelled object.

    If several elements are equal, the result is the position of the first of them. If an object
    contains NaN, the result is the position of the first NaN.

    Parameters
    ----------
    input : array_like
        Real numbers or times.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`, and a last axis with a number for each axis of the image. int64; zeros
        for an object without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.minimum_position(x, labels, [1, 2]).compute()
    array([[0],
           [3]])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "minimum_position", core_of(input), operand(labels), nested(index), task_mem(spec)
    )
    return Array._new(core, spec)


def standard_deviation_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Computes the standard deviation of each labelled object.

    In SciPy: ``standard_deviation``. The divisor is the number of elements.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`; 0-d for one object. float64; NaN for an object without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.standard_deviation(x, labels, [1, 2]).compute()
    array([1.5, 3.5])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "standard_deviation_labels", core_of(input), operand(labels), nested(index), task_mem(spec)
    )
    return Array._new(core, spec)


def sum_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Computes the sum of each labelled object.

    In SciPy: ``sum_labels`` and ``sum``. Floating-point numbers are added in float64.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`; 0-d for one object. float64, or for one object the type of the sum of
        `input`; 0 for an object without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.sum_labels(x, labels, [1, 2]).compute()
    array([ 5., 11.])
    """
    spec = common_spec(input, labels)
    core = _core.call("sum_labels", core_of(input), operand(labels), nested(index), task_mem(spec))
    return Array._new(core, spec)


def variance_labels(input: Any, labels: Any = None, index: Any = None) -> Array:
    """Computes the variance of each labelled object.

    In SciPy: ``variance``. The divisor is the number of elements.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the measured objects, in any order. None: the elements with labels above 0 are one
        object.

    Returns
    -------
    Array
        The shape of `index`; 0-d for one object. float64; NaN for an object without elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.variance(x, labels, [1, 2]).compute()
    array([ 2.25, 12.25])
    """
    spec = common_spec(input, labels)
    core = _core.call(
        "variance_labels", core_of(input), operand(labels), nested(index), task_mem(spec)
    )
    return Array._new(core, spec)
