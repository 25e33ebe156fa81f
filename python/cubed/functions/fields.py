"""Fields of grids: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy
from cubed.base._types import Shape
from cubed.functions._calls import operand

__all__ = [
    "fldavg",
    "fldmax",
    "fldmean",
    "fldmin",
    "fldrange",
    "fldstd",
    "fldstd1",
    "fldsum",
    "fldvar",
    "fldvar1",
    "fldint",
    "fldpctl",
    "gridarea",
    "meravg",
    "mermax",
    "mermean",
    "mermin",
    "merrange",
    "merstd",
    "merstd1",
    "mersum",
    "mervar",
    "mervar1",
    "merpctl",
    "setmisstodis",
    "setmisstonn",
    "vertavg",
    "vertmax",
    "vertmean",
    "vertmin",
    "vertrange",
    "vertstd",
    "vertstd1",
    "vertsum",
    "vertvar",
    "vertvar1",
    "zonavg",
    "zonmax",
    "zonmean",
    "zonmin",
    "zonrange",
    "zonstd",
    "zonstd1",
    "zonsum",
    "zonvar",
    "zonvar1",
    "zonpctl",
]


def fldavg(x: Any, weights: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The mean of a field, weighted by area; NaN if an element is missing.

    One missing element makes the result NaN. `fldmean` skips missing elements.

    In an expression, such as ``cubed.eval("fldavg(t2m)", t2m=url)``, axes and areas are determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> round(float(cubed.fldavg(x, area).compute()), 3)
    4.5
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("fldavg", core_of(x), operand(weights), axis, keepdims), spec)


def fldmax(x: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The largest element of a field.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("fldmax(t2m)", t2m=url)``, axes are determined from the
    coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> round(float(cubed.fldmax(x).compute()), 3)
    8.0
    """
    x = lazy(x)
    return x._like(_core.call("fldmax", x._x, axis, keepdims))


def fldmean(x: Any, weights: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The mean of a field, weighted by area.

    Elements that are NaN are left out with their weights: the sum of ``w * x`` divided by the sum
    of ``w``.

    In an expression, such as ``cubed.eval("fldmean(t2m)", t2m=url)``, axes and areas are determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> round(float(cubed.fldmean(x, area).compute()), 3)
    4.5
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("fldmean", core_of(x), operand(weights), axis, keepdims), spec)


def fldmin(x: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The smallest element of a field.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("fldmin(t2m)", t2m=url)``, axes are determined from the
    coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> round(float(cubed.fldmin(x).compute()), 3)
    1.0
    """
    x = lazy(x)
    return x._like(_core.call("fldmin", x._x, axis, keepdims))


def fldrange(x: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The largest element of a field minus the smallest.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("fldrange(t2m)", t2m=url)``, axes are determined from the
    coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> round(float(cubed.fldrange(x).compute()), 3)
    7.0
    """
    x = lazy(x)
    return x._like(_core.call("fldrange", x._x, axis, keepdims))


def fldstd(x: Any, weights: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The standard deviation of a field, weighted by area.

    The square root of the sum of ``w * (x - mean)**2`` divided by the sum of ``w``, without missing
    elements.

    In an expression, such as ``cubed.eval("fldstd(t2m)", t2m=url)``, axes and areas are determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> round(float(cubed.fldstd(x, area).compute()), 3)
    2.784
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("fldstd", core_of(x), operand(weights), axis, keepdims), spec)


def fldstd1(x: Any, weights: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The sample standard deviation of a field, weighted by area.

    The square root of the result of `fldvar1`.

    In an expression, such as ``cubed.eval("fldstd1(t2m)", t2m=url)``, axes and areas are determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> round(float(cubed.fldstd1(x, area).compute()), 3)
    3.357
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("fldstd1", core_of(x), operand(weights), axis, keepdims), spec)


def fldsum(x: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The sum of the elements of a field, without weights.

    Missing elements are left out. The sum is NaN if all elements are missing.

    In an expression, such as ``cubed.eval("fldsum(t2m)", t2m=url)``, axes are determined from the
    coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> round(float(cubed.fldsum(x).compute()), 3)
    14.0
    """
    x = lazy(x)
    return x._like(_core.call("fldsum", x._x, axis, keepdims))


def fldvar(x: Any, weights: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The variance of a field, weighted by area.

    The sum of ``w * (x - mean)**2`` divided by the sum of ``w``, without missing elements.

    In an expression, such as ``cubed.eval("fldvar(t2m)", t2m=url)``, axes and areas are determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> round(float(cubed.fldvar(x, area).compute()), 3)
    7.75
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("fldvar", core_of(x), operand(weights), axis, keepdims), spec)


def fldvar1(x: Any, weights: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The sample variance of a field, weighted by area.

    With W as the sum of the weights, the divisor is ``W - sum(w**2) / W``, which is ``n - 1`` for n
    equal weights. Missing elements are left out.

    In an expression, such as ``cubed.eval("fldvar1(t2m)", t2m=url)``, axes and areas are determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> round(float(cubed.fldvar1(x, area).compute()), 3)
    11.273
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("fldvar1", core_of(x), operand(weights), axis, keepdims), spec)


def fldint(x: Any, weights: Any, *, axis: Shape = (-2, -1), keepdims: bool = False) -> Array:
    """The integral over a field: the sum of elements times areas.

    Missing elements are left out. The integral is NaN if all elements are missing. Its units are
    those of `x` times square metres.

    In an expression, such as ``cubed.eval("fldint(t2m)", t2m=url)``, axes and areas are determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> round(float(cubed.fldint(x, area).compute()), 3)
    36.0
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("fldint", core_of(x), operand(weights), axis, keepdims), spec)


def fldpctl(
    x: Any, q: Any, *, axis: Shape = (-2, -1), keepdims: bool = False, method: str = "inverted_cdf"
) -> Array:
    """Percentiles of a field, without weights.

    Missing elements are left out. The result is exact.

    In an expression, such as ``cubed.eval("fldpctl(t2m, 90)", t2m=url)``, axes are determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    q : float or array_like of float
        Percentile, from 0 to 100, or a list of percentiles.
    axis : int or tuple of int, default (-2, -1)
        Horizontal axes: two, or one for an unstructured grid.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    method : str, default "inverted_cdf"
        Method of interpolation between elements, by its name in NumPy or CDO. One of ``"linear"``,
        ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"median_unbiased"``, ``"normal_unbiased"``, ``"nrank"``,
        ``"nist"``, ``"rtype8"``.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; if `q` is a list, the percentiles are the first
        axis. The type of `x`, or floats. Lazy.

    Raises
    ------
    ValueError
        For a `q` out of range, or an unknown method.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> round(float(cubed.fldpctl(x, 90).compute()), 3)
    8.0
    """
    x = lazy(x)
    return x._like(_core.call("fldpctl", x._x, q, axis, keepdims, method, x.spec.task_mem))


def gridarea(
    lat: Any,
    lon: Any,
    *,
    lat_bounds: Any = None,
    lon_bounds: Any = None,
    edges: str = "great_circles",
    radius: float = 6371000,
) -> Array:
    """The areas of the cells of a grid, in square metres.

    Cells without bounds end in the middle between neighbours. Cells of the outermost latitudes
    extend as far outwards as inwards, and up to the pole if the edge is beyond 88 degrees. Cells of
    180 degrees and more have circles of latitude as edges.

    Edges of cells with corners are great circles. A cell with corners may contain a pole.

    The area of a cell is NaN if a coordinate or a corner is NaN or infinite. Functions such as
    `fldmean` leave out elements whose weight is NaN, without a warning: ``isnan(areas)`` finds
    these cells.

    Parameters
    ----------
    lat : array_like
        Latitudes of the centres of cells, in degrees.
    lon : array_like
        Longitudes of the centres of cells, in degrees.
    lat_bounds : array_like or None
        Lower and upper bounds of latitudes, or latitudes of the corners of each cell. None:
        midpoints between neighbouring latitudes.
    lon_bounds : array_like or None
        Like `lat_bounds`, for longitudes.
    edges : {"great_circles", "latitudes"}, default "great_circles"
        Northern and southern edges of cells: great circles, as in CDO, or circles of latitude,
        which give exact zonal bands.
    radius : float, default 6371000
        Radius of the sphere in metres.

    Returns
    -------
    Array
        float64: ``(nlat, nlon)``, or one area for each cell if cells have corners. Lazy.

    Raises
    ------
    ValueError
        If shapes do not fit, an axis of one element has no bounds, or `edges` is ``"latitudes"``
        and cells have corners. When the areas are computed: if a latitude is not from -90 to 90
        degrees, an axis without bounds is not in ascending or descending order, or edges of a cell
        cross because its corners are in a wrong order.

    Examples
    --------
    >>> import cubed
    >>> float(cubed.gridarea([-45.0, 45.0], [0.0, 120.0, 240.0]).sum().compute().round(-9))
    510064000000000.0
    """
    spec = common_spec(lat, lon, lat_bounds, lon_bounds)
    core = _core.call(
        "gridarea",
        core_of(lat),
        core_of(lon),
        operand(lat_bounds),
        operand(lon_bounds),
        edges,
        radius,
    )
    return Array._new(core, spec)


def meravg(x: Any, weights: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The mean of each meridian, weighted by area; NaN if an element is missing.

    One missing element makes the result NaN. `mermean` skips missing elements.

    In an expression, such as ``cubed.eval("meravg(t2m)", t2m=url)``, the axis and areas are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> cubed.meravg(x, area).compute().round(3)
    array([2.5, 6.5])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("meravg", core_of(x), operand(weights), axis, keepdims), spec)


def mermax(x: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The largest element of each meridian.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("mermax(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.mermax(x).compute().round(3)
    array([3., 8.])
    """
    x = lazy(x)
    return x._like(_core.call("mermax", x._x, axis, keepdims))


def mermean(x: Any, weights: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The mean of each meridian, weighted by area.

    Elements that are NaN are left out with their weights: the sum of ``w * x`` divided by the sum
    of ``w``.

    In an expression, such as ``cubed.eval("mermean(t2m)", t2m=url)``, the axis and areas are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> cubed.mermean(x, area).compute().round(3)
    array([2.5, 6.5])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("mermean", core_of(x), operand(weights), axis, keepdims), spec)


def mermin(x: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The smallest element of each meridian.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("mermin(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.mermin(x).compute().round(3)
    array([1., 2.])
    """
    x = lazy(x)
    return x._like(_core.call("mermin", x._x, axis, keepdims))


def merrange(x: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The largest element of each meridian minus the smallest.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("merrange(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.merrange(x).compute().round(3)
    array([2., 6.])
    """
    x = lazy(x)
    return x._like(_core.call("merrange", x._x, axis, keepdims))


def merstd(x: Any, weights: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The standard deviation of each meridian, weighted by area.

    The square root of the sum of ``w * (x - mean)**2`` divided by the sum of ``w``, without missing
    elements.

    In an expression, such as ``cubed.eval("merstd(t2m)", t2m=url)``, the axis and areas are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> cubed.merstd(x, area).compute().round(3)
    array([0.866, 2.598])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("merstd", core_of(x), operand(weights), axis, keepdims), spec)


def merstd1(x: Any, weights: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The sample standard deviation of each meridian, weighted by area.

    The square root of the result of `mervar1`.

    In an expression, such as ``cubed.eval("merstd1(t2m)", t2m=url)``, the axis and areas are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> cubed.merstd1(x, area).compute().round(3)
    array([1.414, 4.243])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("merstd1", core_of(x), operand(weights), axis, keepdims), spec)


def mersum(x: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The sum of the elements of each meridian, without weights.

    Missing elements are left out. The sum is NaN if all elements are missing.

    In an expression, such as ``cubed.eval("mersum(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.mersum(x).compute().round(3)
    array([ 4., 10.])
    """
    x = lazy(x)
    return x._like(_core.call("mersum", x._x, axis, keepdims))


def mervar(x: Any, weights: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The variance of each meridian, weighted by area.

    The sum of ``w * (x - mean)**2`` divided by the sum of ``w``, without missing elements.

    In an expression, such as ``cubed.eval("mervar(t2m)", t2m=url)``, the axis and areas are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> cubed.mervar(x, area).compute().round(3)
    array([0.75, 6.75])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("mervar", core_of(x), operand(weights), axis, keepdims), spec)


def mervar1(x: Any, weights: Any, *, axis: Shape = -2, keepdims: bool = False) -> Array:
    """The sample variance of each meridian, weighted by area.

    With W as the sum of the weights, the divisor is ``W - sum(w**2) / W``, which is ``n - 1`` for n
    equal weights. Missing elements are left out.

    In an expression, such as ``cubed.eval("mervar1(t2m)", t2m=url)``, the axis and areas are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axes, such as the areas from `gridarea`, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> area = [[1.0, 1.0], [3.0, 3.0]]
    >>> cubed.mervar1(x, area).compute().round(3)
    array([ 2., 18.])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("mervar1", core_of(x), operand(weights), axis, keepdims), spec)


def merpctl(
    x: Any, q: Any, *, axis: Shape = -2, keepdims: bool = False, method: str = "inverted_cdf"
) -> Array:
    """Percentiles of each meridian, without weights.

    Missing elements are left out. The result is exact.

    In an expression, such as ``cubed.eval("merpctl(t2m, 90)", t2m=url)``, the axis is determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    q : float or array_like of float
        Percentile, from 0 to 100, or a list of percentiles.
    axis : int or tuple of int, default -2
        The axis of latitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    method : str, default "inverted_cdf"
        Method of interpolation between elements, by its name in NumPy or CDO. One of ``"linear"``,
        ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"median_unbiased"``, ``"normal_unbiased"``, ``"nrank"``,
        ``"nist"``, ``"rtype8"``.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; if `q` is a list, the percentiles are the first
        axis. The type of `x`, or floats. Lazy.

    Raises
    ------
    ValueError
        For a `q` out of range, or an unknown method.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.merpctl(x, 90).compute().round(3)
    array([3., 8.])
    """
    x = lazy(x)
    return x._like(_core.call("merpctl", x._x, q, axis, keepdims, method, x.spec.task_mem))


def setmisstodis(
    x: Any, lat: Any, lon: Any, neighbours: int = 4, *, unstructured: bool = False
) -> Array:
    """Fields whose missing elements are means of the nearest elements, weighted by inverse
    distance.

    Distances are straight lines through the sphere, so the poles and the date line need no special
    treatment. Among equally near elements, the first ones are used. An element at the same position
    as a missing element replaces it. If a field has fewer elements than `neighbours`, all of them
    are used; a field without elements stays missing. Cells whose coordinates are NaN stay missing,
    and no other cell uses their elements.

    A task holds whole fields, and 50 bytes for each cell. Fields along the other axes are
    independent of each other. In an expression, such as ``cubed.eval("setmisstodis(t2m)",
    t2m=url)``, the coordinates of the input are used.

    Parameters
    ----------
    x : array_like
        Fields along the last axes. NaN marks missing elements.
    lat : array_like
        Latitudes in degrees: an axis, or one for each cell.
    lon : array_like
        Longitudes, like `lat`.
    neighbours : int, default 4
        Number of elements in a mean.
    unstructured : bool, default False
        Whether latitudes and longitudes of one dimension are those of cells, not of axes.

    Returns
    -------
    Array
        The shape and type of x. Lazy.

    Raises
    ------
    ValueError
        If shapes do not fit. When the result is computed: if a latitude is not from -90 to 90
        degrees.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, float("nan"), 5.0, 7.0]])
    >>> float(cubed.setmisstodis(x, [0.0], [0.0, 10.0, 20.0, 180.0], 2).compute()[0, 1].round(6))
    3.0
    """
    spec = common_spec(x, lat, lon)
    core = _core.call(
        "setmisstodis", core_of(x), core_of(lat), core_of(lon), neighbours, unstructured
    )
    return Array._new(core, spec)


def setmisstonn(x: Any, lat: Any, lon: Any, *, unstructured: bool = False) -> Array:
    """Fields whose missing elements are replaced by the nearest elements.

    Distances are straight lines through the sphere, so the poles and the date line need no special
    treatment. Among equally near elements, the first one is used. A field without elements stays
    missing. Cells whose coordinates are NaN stay missing, and no other cell uses their elements.

    A task holds whole fields, and 50 bytes for each cell. Fields along the other axes are
    independent of each other. In an expression, such as ``cubed.eval("setmisstonn(t2m)",
    t2m=url)``, the coordinates of the input are used.

    Parameters
    ----------
    x : array_like
        Fields along the last axes. NaN marks missing elements.
    lat : array_like
        Latitudes in degrees: an axis, or one for each cell.
    lon : array_like
        Longitudes, like `lat`.
    unstructured : bool, default False
        Whether latitudes and longitudes of one dimension are those of cells, not of axes.

    Returns
    -------
    Array
        The shape and type of x. Lazy.

    Raises
    ------
    ValueError
        If shapes do not fit. When the result is computed: if a latitude is not from -90 to 90
        degrees.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, float("nan"), 5.0]])
    >>> cubed.setmisstonn(x, [0.0], [0.0, 10.0, 15.0]).compute().tolist()
    [[1.0, 5.0, 5.0]]
    """
    spec = common_spec(x, lat, lon)
    core = _core.call("setmisstonn", core_of(x), core_of(lat), core_of(lon), unstructured)
    return Array._new(core, spec)


def vertavg(x: Any, weights: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The mean of each column, weighted by thickness; NaN if an element is missing.

    One missing element makes the result NaN. `vertmean` skips missing elements.

    In an expression, such as ``cubed.eval("vertavg(t)", t=url)``, the axis and layers are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axis, such as the thickness of layers, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> thickness = [100.0, 300.0]
    >>> cubed.vertavg(x, thickness, axis=0).compute().round(3)
    array([2.5, 6.5])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("vertavg", core_of(x), operand(weights), axis, keepdims), spec)


def vertmax(x: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The largest element of each column.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("vertmax(t)", t=url)``, the axis is determined from the
    coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.vertmax(x, axis=0).compute().round(3)
    array([3., 8.])
    """
    x = lazy(x)
    return x._like(_core.call("vertmax", x._x, axis, keepdims))


def vertmean(x: Any, weights: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The mean of each column, weighted by thickness.

    Elements that are NaN are left out with their weights: the sum of ``w * x`` divided by the sum
    of ``w``.

    In an expression, such as ``cubed.eval("vertmean(t)", t=url)``, the axis and layers are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axis, such as the thickness of layers, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> thickness = [100.0, 300.0]
    >>> cubed.vertmean(x, thickness, axis=0).compute().round(3)
    array([2.5, 6.5])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("vertmean", core_of(x), operand(weights), axis, keepdims), spec)


def vertmin(x: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The smallest element of each column.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("vertmin(t)", t=url)``, the axis is determined from the
    coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.vertmin(x, axis=0).compute().round(3)
    array([1., 2.])
    """
    x = lazy(x)
    return x._like(_core.call("vertmin", x._x, axis, keepdims))


def vertrange(x: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The largest element of each column minus the smallest.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("vertrange(t)", t=url)``, the axis is determined from the
    coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.vertrange(x, axis=0).compute().round(3)
    array([2., 6.])
    """
    x = lazy(x)
    return x._like(_core.call("vertrange", x._x, axis, keepdims))


def vertstd(x: Any, weights: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The standard deviation of each column, weighted by thickness.

    The square root of the sum of ``w * (x - mean)**2`` divided by the sum of ``w``, without missing
    elements.

    In an expression, such as ``cubed.eval("vertstd(t)", t=url)``, the axis and layers are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axis, such as the thickness of layers, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> thickness = [100.0, 300.0]
    >>> cubed.vertstd(x, thickness, axis=0).compute().round(3)
    array([0.866, 2.598])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("vertstd", core_of(x), operand(weights), axis, keepdims), spec)


def vertstd1(x: Any, weights: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The sample standard deviation of each column, weighted by thickness.

    The square root of the result of `vertvar1`.

    In an expression, such as ``cubed.eval("vertstd1(t)", t=url)``, the axis and layers are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axis, such as the thickness of layers, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> thickness = [100.0, 300.0]
    >>> cubed.vertstd1(x, thickness, axis=0).compute().round(3)
    array([1.414, 4.243])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("vertstd1", core_of(x), operand(weights), axis, keepdims), spec)


def vertsum(x: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The sum of the elements of each column, without weights.

    Missing elements are left out. The sum is NaN if all elements are missing.

    In an expression, such as ``cubed.eval("vertsum(t)", t=url)``, the axis is determined from the
    coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.vertsum(x, axis=0).compute().round(3)
    array([ 4., 10.])
    """
    x = lazy(x)
    return x._like(_core.call("vertsum", x._x, axis, keepdims))


def vertvar(x: Any, weights: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The variance of each column, weighted by thickness.

    The sum of ``w * (x - mean)**2`` divided by the sum of ``w``, without missing elements.

    In an expression, such as ``cubed.eval("vertvar(t)", t=url)``, the axis and layers are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axis, such as the thickness of layers, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> thickness = [100.0, 300.0]
    >>> cubed.vertvar(x, thickness, axis=0).compute().round(3)
    array([0.75, 6.75])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("vertvar", core_of(x), operand(weights), axis, keepdims), spec)


def vertvar1(x: Any, weights: Any, *, axis: Shape = -3, keepdims: bool = False) -> Array:
    """The sample variance of each column, weighted by thickness.

    With W as the sum of the weights, the divisor is ``W - sum(w**2) / W``, which is ``n - 1`` for n
    equal weights. Missing elements are left out.

    In an expression, such as ``cubed.eval("vertvar1(t)", t=url)``, the axis and layers are
    determined from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    weights : array_like or None
        A weight for each element along the axis, such as the thickness of layers, or weights that
        broadcast to `x`. None: equal weights.
    axis : int or tuple of int, default -3
        The axis of levels.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Raises
    ------
    ValueError
        For weights whose shape does not fit.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> thickness = [100.0, 300.0]
    >>> cubed.vertvar1(x, thickness, axis=0).compute().round(3)
    array([ 2., 18.])
    """
    spec = common_spec(x, weights)
    return Array._new(_core.call("vertvar1", core_of(x), operand(weights), axis, keepdims), spec)


def zonavg(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The mean of each circle of latitude; NaN if an element is missing.

    One missing element makes the result NaN. `zonmean` skips missing elements.

    In an expression, such as ``cubed.eval("zonavg(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonavg(x).compute().round(3)
    array([1.5, 5.5])
    """
    x = lazy(x)
    return x._like(_core.call("zonavg", x._x, axis, keepdims))


def zonmax(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The largest element of each circle of latitude.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("zonmax(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonmax(x).compute().round(3)
    array([2., 8.])
    """
    x = lazy(x)
    return x._like(_core.call("zonmax", x._x, axis, keepdims))


def zonmean(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The mean of each circle of latitude.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("zonmean(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonmean(x).compute().round(3)
    array([1.5, 5.5])
    """
    x = lazy(x)
    return x._like(_core.call("zonmean", x._x, axis, keepdims))


def zonmin(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The smallest element of each circle of latitude.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("zonmin(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonmin(x).compute().round(3)
    array([1., 3.])
    """
    x = lazy(x)
    return x._like(_core.call("zonmin", x._x, axis, keepdims))


def zonrange(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The largest element of each circle of latitude minus the smallest.

    Missing elements are left out.

    In an expression, such as ``cubed.eval("zonrange(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonrange(x).compute().round(3)
    array([1., 5.])
    """
    x = lazy(x)
    return x._like(_core.call("zonrange", x._x, axis, keepdims))


def zonstd(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The standard deviation of each circle of latitude.

    The square root of the mean of ``(x - mean)**2``, without missing elements.

    In an expression, such as ``cubed.eval("zonstd(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonstd(x).compute().round(3)
    array([0.5, 2.5])
    """
    x = lazy(x)
    return x._like(_core.call("zonstd", x._x, axis, keepdims))


def zonstd1(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The sample standard deviation of each circle of latitude.

    The square root of the result of `zonvar1`.

    In an expression, such as ``cubed.eval("zonstd1(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonstd1(x).compute().round(3)
    array([0.707, 3.536])
    """
    x = lazy(x)
    return x._like(_core.call("zonstd1", x._x, axis, keepdims))


def zonsum(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The sum of the elements of each circle of latitude, without weights.

    Missing elements are left out. The sum is NaN if all elements are missing.

    In an expression, such as ``cubed.eval("zonsum(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonsum(x).compute().round(3)
    array([ 3., 11.])
    """
    x = lazy(x)
    return x._like(_core.call("zonsum", x._x, axis, keepdims))


def zonvar(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The variance of each circle of latitude.

    The mean of ``(x - mean)**2``, without missing elements.

    In an expression, such as ``cubed.eval("zonvar(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonvar(x).compute().round(3)
    array([0.25, 6.25])
    """
    x = lazy(x)
    return x._like(_core.call("zonvar", x._x, axis, keepdims))


def zonvar1(x: Any, *, axis: Shape = -1, keepdims: bool = False) -> Array:
    """The sample variance of each circle of latitude.

    The divisor is ``n - 1`` for n elements that are not missing.

    In an expression, such as ``cubed.eval("zonvar1(t2m)", t2m=url)``, the axis is determined from
    the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`, or float64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonvar1(x).compute().round(3)
    array([ 0.5, 12.5])
    """
    x = lazy(x)
    return x._like(_core.call("zonvar1", x._x, axis, keepdims))


def zonpctl(
    x: Any, q: Any, *, axis: Shape = -1, keepdims: bool = False, method: str = "inverted_cdf"
) -> Array:
    """Percentiles of each circle of latitude, without weights.

    Missing elements are left out. The result is exact.

    In an expression, such as ``cubed.eval("zonpctl(t2m, 90)", t2m=url)``, the axis is determined
    from the coordinates.

    Parameters
    ----------
    x : array_like
        Real numbers. NaN marks missing elements.
    q : float or array_like of float
        Percentile, from 0 to 100, or a list of percentiles.
    axis : int or tuple of int, default -1
        The axis of longitudes.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    method : str, default "inverted_cdf"
        Method of interpolation between elements, by its name in NumPy or CDO. One of ``"linear"``,
        ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"median_unbiased"``, ``"normal_unbiased"``, ``"nrank"``,
        ``"nist"``, ``"rtype8"``.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; if `q` is a list, the percentiles are the first
        axis. The type of `x`, or floats. Lazy.

    Raises
    ------
    ValueError
        For a `q` out of range, or an unknown method.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 8.0]])
    >>> cubed.zonpctl(x, 90).compute().round(3)
    array([2., 8.])
    """
    x = lazy(x)
    return x._like(_core.call("zonpctl", x._x, q, axis, keepdims, method, x.spec.task_mem))
