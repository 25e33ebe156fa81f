"""Filters of images: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.base._types import Axis, DTypeLike, Shape
from cubed.functions._calls import nested, type_for
from cubed.io._create import as_lazy

__all__ = [
    "convolve1d",
    "correlate1d",
    "gaussian_filter",
    "gaussian_filter1d",
    "gaussian_gradient_magnitude",
    "gaussian_laplace",
    "laplace",
    "maximum_filter",
    "maximum_filter1d",
    "median_filter",
    "minimum_filter",
    "minimum_filter1d",
    "percentile_filter",
    "prewitt",
    "rank_filter",
    "sobel",
    "uniform_filter",
    "uniform_filter1d",
]


def convolve1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: int = 0,
) -> Array:
    """The convolution of an image with weights along an axis.

    The convolution is the correlation with the weights in reverse order. If the result has an
    integer type, values are truncated, as in SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    weights : array_like of float
        Real factors for neighbouring elements.
    axis : int, default -1
        The axis; negative numbers count from the last.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int, default 0
        Offset of the element from the middle of the weights.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> cubed.ndimage.convolve1d(x, [1, 2, 3]).compute()
    array([0., 1., 2., 3., 0.])
    """
    input = as_lazy(input)
    core = _core.call(
        "convolve1d", input._x, weights, axis, type_for(output, input), mode, cval, origin
    )
    return input._like(core)


def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: int = 0,
) -> Array:
    """The correlation of an image with weights along an axis.

    If the result has an integer type, values are truncated, as in SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    weights : array_like of float
        Real factors for neighbouring elements.
    axis : int, default -1
        The axis; negative numbers count from the last.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int, default 0
        Offset of the element from the middle of the weights.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, 4.0, 9.0, 16.0])
    >>> cubed.ndimage.correlate1d(x, [-1, 0, 1], mode="nearest").compute()
    array([ 3.,  8., 12.,  7.])
    """
    input = as_lazy(input)
    core = _core.call(
        "correlate1d", input._x, weights, axis, type_for(output, input), mode, cval, origin
    )
    return input._like(core)


def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Shape = 0,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    truncate: float = 4,
    *,
    axes: Axis = None,
) -> Array:
    """Smooths an image with a Gaussian, or with a derivative of a Gaussian.

    If the result has an integer type, values are truncated after each axis, as in SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    sigma : float or array_like of float
        Standard deviation, or one for each axis.
    order : int or tuple of int, default 0
        Order of the derivative, or one for each axis.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    truncate : float, default 4
        Half-width at which the Gaussian is cut off, in standard deviations.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> cubed.ndimage.gaussian_filter(x, 0.5).compute().round(3)
    array([0.   , 0.106, 0.787, 0.106, 0.   ])
    """
    input = as_lazy(input)
    core = _core.call(
        "gaussian_filter",
        input._x,
        sigma,
        order,
        type_for(output, input),
        mode,
        cval,
        truncate,
        axes,
    )
    return input._like(core)


def gaussian_filter1d(
    input: Any,
    sigma: float,
    axis: int = -1,
    order: int = 0,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    truncate: float = 4,
) -> Array:
    """Smooths an image with a Gaussian along an axis, or with a derivative of a Gaussian.

    If the result has an integer type, values are truncated, as in SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    sigma : float
        Standard deviation.
    axis : int, default -1
        The axis; negative numbers count from the last.
    order : int, default 0
        Order of the derivative.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    truncate : float, default 4
        Half-width at which the Gaussian is cut off, in standard deviations.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> cubed.ndimage.gaussian_filter1d(x, 0.5).compute().round(3)
    array([0.   , 0.106, 0.787, 0.106, 0.   ])
    """
    input = as_lazy(input)
    core = _core.call(
        "gaussian_filter1d",
        input._x,
        sigma,
        axis,
        order,
        type_for(output, input),
        mode,
        cval,
        truncate,
    )
    return input._like(core)


def gaussian_gradient_magnitude(
    input: Any,
    sigma: Any,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    truncate: float = 4,
    *,
    axes: Axis = None,
) -> Array:
    """The magnitude of the gradient, computed with derivatives of Gaussians.

    Derivatives are along `axes`; `sigma` is for all axes of the image, as in SciPy.

    Squares of integers wrap around in the type of the result, as in SciPy: ``output=float`` avoids
    this.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    sigma : float or array_like of float
        Standard deviation, or one for each axis.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    truncate : float, default 4
        Half-width at which the Gaussian is cut off, in standard deviations.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Raises
    ------
    TypeError
        For results that are not real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> cubed.ndimage.gaussian_gradient_magnitude(x, 0.5).compute().round(3)
    array([0.002, 0.426, 0.   , 0.426, 0.002])
    """
    input = as_lazy(input)
    core = _core.call(
        "gaussian_gradient_magnitude",
        input._x,
        sigma,
        type_for(output, input),
        mode,
        cval,
        truncate,
        axes,
    )
    return input._like(core)


def gaussian_laplace(
    input: Any,
    sigma: Any,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    truncate: float = 4,
    *,
    axes: Axis = None,
) -> Array:
    """The sum of second derivatives of Gaussians along all axes.

    If the result has an integer type, values are truncated after each axis, as in SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    sigma : float or array_like of float
        Standard deviation, or one for each axis.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    truncate : float, default 4
        Half-width at which the Gaussian is cut off, in standard deviations.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> cubed.ndimage.gaussian_laplace(x, 0.5).compute().round(3)
    array([ 0.016,  1.277, -3.146,  1.277,  0.016])
    """
    input = as_lazy(input)
    core = _core.call(
        "gaussian_laplace", input._x, sigma, type_for(output, input), mode, cval, truncate, axes
    )
    return input._like(core)


def laplace(
    input: Any,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The Laplace filter: the sum of second differences along all axes.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, 4.0, 9.0, 16.0])
    >>> cubed.ndimage.laplace(x).compute()
    array([ 3.,  2.,  2., -7.])
    """
    input = as_lazy(input)
    return input._like(_core.call("laplace", input._x, type_for(output, input), mode, cval, axes))


def maximum_filter(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The maximum of a box or footprint around each element.

    NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.maximum_filter(x, 3).compute()
    array([8, 8, 8, 5])
    """
    input = as_lazy(input)
    core = _core.call(
        "maximum_filter",
        input._x,
        size,
        nested(footprint),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def maximum_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: int = 0,
) -> Array:
    """The maximum of a box along an axis around each element.

    NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int
        Number of elements in a box.
    axis : int, default -1
        The axis; negative numbers count from the last.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int, default 0
        Offset of the element from the middle of its box.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.maximum_filter1d(x, 2).compute()
    array([1, 8, 8, 5])
    """
    input = as_lazy(input)
    core = _core.call(
        "maximum_filter1d", input._x, size, axis, type_for(output, input), mode, cval, origin
    )
    return input._like(core)


def median_filter(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The median of a box or footprint around each element.

    NaN is greater than all numbers. The median of an even number of elements is the greater of the
    two in the middle.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.median_filter(x, 3).compute()
    array([1, 2, 5, 5])
    """
    input = as_lazy(input)
    core = _core.call(
        "median_filter",
        input._x,
        size,
        nested(footprint),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def minimum_filter(
    input: Any,
    size: Shape | None = None,
    footprint: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The minimum of a box or footprint around each element.

    NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.minimum_filter(x, 3).compute()
    array([1, 1, 2, 2])
    """
    input = as_lazy(input)
    core = _core.call(
        "minimum_filter",
        input._x,
        size,
        nested(footprint),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def minimum_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: int = 0,
) -> Array:
    """The minimum of a box along an axis around each element.

    NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int
        Number of elements in a box.
    axis : int, default -1
        The axis; negative numbers count from the last.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int, default 0
        Offset of the element from the middle of its box.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.minimum_filter1d(x, 2).compute()
    array([1, 1, 2, 2])
    """
    input = as_lazy(input)
    core = _core.call(
        "minimum_filter1d", input._x, size, axis, type_for(output, input), mode, cval, origin
    )
    return input._like(core)


def percentile_filter(
    input: Any,
    percentile: float,
    size: Shape | None = None,
    footprint: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """A percentile of a box or footprint around each element.

    NaN is greater than all numbers. Of n elements, percentile p is the element of rank n * p / 100,
    rounded down.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    percentile : float
        Percentile of the elements of a box, 0 to 100; negative numbers count from 100.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.percentile_filter(x, 50, 3).compute()
    array([1, 2, 5, 5])
    """
    input = as_lazy(input)
    core = _core.call(
        "percentile_filter",
        input._x,
        percentile,
        size,
        nested(footprint),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def prewitt(
    input: Any,
    axis: int = -1,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
) -> Array:
    """Prewitt's filter: the derivative along an axis, smoothed along the others by 1, 1, 1.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    axis : int, default -1
        The axis; negative numbers count from the last.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, 4.0, 9.0, 16.0])
    >>> cubed.ndimage.prewitt(x).compute()
    array([ 3.,  8., 12.,  7.])
    """
    input = as_lazy(input)
    return input._like(_core.call("prewitt", input._x, axis, type_for(output, input), mode, cval))


def rank_filter(
    input: Any,
    rank: int,
    size: Shape | None = None,
    footprint: Any = None,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The element of a given rank in a box or footprint around each element.

    NaN is greater than all numbers.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    rank : int
        Rank among the elements of a box: 0 is the smallest, -1 the largest.
    size : int, tuple of int or None
        Extent of the box along all axes, or one extent for each axis.
    footprint : array_like or None
        An array whose nonzero elements belong to the box, in place of `size`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, 8, 2, 5])
    >>> cubed.ndimage.rank_filter(x, 1, 3).compute()
    array([1, 2, 5, 5])
    """
    input = as_lazy(input)
    core = _core.call(
        "rank_filter",
        input._x,
        rank,
        size,
        nested(footprint),
        type_for(output, input),
        mode,
        cval,
        origin,
        axes,
    )
    return input._like(core)


def sobel(
    input: Any,
    axis: int = -1,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
) -> Array:
    """Sobel's filter: the derivative along an axis, smoothed along the others by 1, 2, 1.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    axis : int, default -1
        The axis; negative numbers count from the last.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, 4.0, 9.0, 16.0])
    >>> cubed.ndimage.sobel(x).compute()
    array([ 3.,  8., 12.,  7.])
    """
    input = as_lazy(input)
    return input._like(_core.call("sobel", input._x, axis, type_for(output, input), mode, cval))


def uniform_filter(
    input: Any,
    size: Shape = 3,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """The mean of a box around each element.

    If the result has an integer type, values are truncated after each axis, as in SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int or tuple of int, default 3
        Extent of the box along all axes, or one extent for each axis.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of its box; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes to filter, in increasing order. Lists in other arguments have one item for each of
        these axes. None: all axes.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 3.0, 6.0, 0.0])
    >>> cubed.ndimage.uniform_filter(x).compute()
    array([1., 3., 3., 2.])
    """
    input = as_lazy(input)
    core = _core.call(
        "uniform_filter", input._x, size, type_for(output, input), mode, cval, origin, axes
    )
    return input._like(core)


def uniform_filter1d(
    input: Any,
    size: int,
    axis: int = -1,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: int = 0,
) -> Array:
    """The mean of a box along an axis around each element.

    If the result has an integer type, values are truncated, as in SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int
        Number of elements in a box.
    axis : int, default -1
        The axis; negative numbers count from the last.
    output : dtype or None
        Type of the result. None: the type of `input`.
    mode : str or sequence of str, default "reflect"
        Elements outside of the image: mirrored at the edge (``reflect``) or at the last element
        (``mirror``), the nearest element (``nearest``), the opposite end (``wrap``), or `cval`
        (``constant``). One mode for all axes, or one for each axis. One of ``"reflect"``,
        ``"constant"``, ``"nearest"``, ``"mirror"``, ``"wrap"``, ``"grid-mirror"``,
        ``"grid-constant"``, ``"grid-wrap"``.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int, default 0
        Offset of the element from the middle of its box.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 3.0, 6.0, 0.0])
    >>> cubed.ndimage.uniform_filter1d(x, 3).compute()
    array([1., 3., 3., 2.])
    """
    input = as_lazy(input)
    core = _core.call(
        "uniform_filter1d", input._x, size, axis, type_for(output, input), mode, cval, origin
    )
    return input._like(core)
