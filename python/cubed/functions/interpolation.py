"""Interpolation of images: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.base._types import Axis, DTypeLike, Shape
from cubed.functions._calls import nested, type_for
from cubed.io._create import as_lazy

__all__ = [
    "affine_transform",
    "map_coordinates",
    "rotate",
    "shift",
    "spline_filter",
    "spline_filter1d",
    "zoom",
]


def affine_transform(
    input: Any,
    matrix: Any,
    offset: Any = 0,
    output_shape: Shape | None = None,
    output: DTypeLike = None,
    order: int = 3,
    mode: str = "constant",
    cval: complex = 0,
    prefilter: bool = True,
) -> Array:
    """Transforms an image by an affine map.

    The value at position i of the result is the value of `input` at the position matrix @ i +
    offset. Values are computed in float64. Results of integer types are rounded, and limited to the
    type.

    A block of the result reads only the part of `input` that it depends on. With the modes ``wrap``
    and ``grid-wrap``, a block that wraps around an axis reads the whole axis.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    matrix : array_like of float
        Maps positions in the result to positions in `input`: a factor for each axis, or a matrix
        with a row for each axis of `input` and a column for each axis of the result. A matrix may
        have the offset as an additional last column, and then also an additional last row 0, ...,
        0, 1.
    offset : float or array_like of float, default 0
        Position in `input` of the first element of the result: one number for all axes, or one for
        each axis. Ignored if `matrix` contains the offset.
    output_shape : int, tuple of int or None
        Shape of the result, which may have a different number of axes from `input`. None: the shape
        of `input`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    order : int, default 3
        Order of the splines, 0 to 5.
    mode : str, default "constant"
        Values beyond the ends: `cval` (``constant``), values interpolated with `cval` as the
        elements there (``grid-constant``), the nearest element (``nearest``), elements mirrored
        about the edge (``reflect``, ``grid-mirror``) or about the last element (``mirror``), or
        elements of the other end (``grid-wrap``; with ``wrap``, the first and the last element are
        at the same position). One of ``"reflect"``, ``"grid-mirror"``, ``"constant"``,
        ``"grid-constant"``, ``"nearest"``, ``"mirror"``, ``"grid-wrap"``, ``"wrap"``.
    cval : complex, default 0
        The element beyond the ends for ``"constant"`` and ``"grid-constant"``.
    prefilter : bool, default True
        Whether to compute coefficients of splines. False: `input` consists of coefficients from
        `spline_filter`.

    Returns
    -------
    Array
        `output_shape`, and the type of `input` unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.ndimage.affine_transform(x, [[0, 1], [1, 0]], order=1).compute()
    array([[1., 3.],
           [2., 4.]])
    """
    input = as_lazy(input)
    core = _core.call(
        "affine_transform",
        input._x,
        nested(matrix),
        offset,
        output_shape,
        type_for(output, input),
        order,
        mode,
        cval,
        prefilter,
    )
    return input._like(core)


def map_coordinates(
    input: Any,
    coordinates: Any,
    output: DTypeLike = None,
    order: int = 3,
    mode: str = "constant",
    cval: complex = 0,
    prefilter: bool = True,
) -> Array:
    """Interpolates an image at given coordinates.

    Values are computed in float64. Results of integer types are rounded, and limited to the type.

    Coordinates may be any lazy array, so each block of the result reads all of `input`, one chunk
    after another. If a matrix gives the positions, `affine_transform` reads far less.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    coordinates : array_like
        Positions in `input`, as real numbers: item k along the first axis has the positions along
        axis k of `input`. A position of NaN gives `cval`, or NaN for ``"grid-constant"`` and an
        order above 0.
    output : dtype or None
        Type of the result. None: the type of `input`.
    order : int, default 3
        Order of the splines, 0 to 5.
    mode : str, default "constant"
        Values beyond the ends: `cval` (``constant``), values interpolated with `cval` as the
        elements there (``grid-constant``), the nearest element (``nearest``), elements mirrored
        about the edge (``reflect``, ``grid-mirror``) or about the last element (``mirror``), or
        elements of the other end (``grid-wrap``; with ``wrap``, the first and the last element are
        at the same position). One of ``"reflect"``, ``"grid-mirror"``, ``"constant"``,
        ``"grid-constant"``, ``"nearest"``, ``"mirror"``, ``"grid-wrap"``, ``"wrap"``.
    cval : complex, default 0
        The element beyond the ends for ``"constant"`` and ``"grid-constant"``.
    prefilter : bool, default True
        Whether to compute coefficients of splines. False: `input` consists of coefficients from
        `spline_filter`.

    Returns
    -------
    Array
        The shape of `coordinates` without its first axis, and the type of `input` unless `output`
        is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.ndimage.map_coordinates(x, [[0.5, 1.0], [0.5, 0.0]], order=1).compute()
    array([2.5, 3. ])
    """
    spec = common_spec(input, coordinates)
    core = _core.call(
        "map_coordinates",
        core_of(input),
        core_of(coordinates),
        type_for(output, input),
        order,
        mode,
        cval,
        prefilter,
    )
    return Array._new(core, spec)


def rotate(
    input: Any,
    angle: float,
    axes: Axis = None,
    reshape: bool = True,
    output: DTypeLike = None,
    order: int = 3,
    mode: str = "constant",
    cval: complex = 0,
    prefilter: bool = True,
) -> Array:
    """Rotates an image in a plane.

    Values are computed in float64. Results of integer types are rounded, and limited to the type.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    angle : float
        Angle in degrees.
    axes : int, tuple of int or None
        The two axes of the plane. None: the first two.
    reshape : bool, default True
        Whether the result is large enough for the whole rotated image. False: the result has the
        shape of `input`.
    output : dtype or None
        Type of the result. None: the type of `input`.
    order : int, default 3
        Order of the splines, 0 to 5.
    mode : str, default "constant"
        Values beyond the ends: `cval` (``constant``), values interpolated with `cval` as the
        elements there (``grid-constant``), the nearest element (``nearest``), elements mirrored
        about the edge (``reflect``, ``grid-mirror``) or about the last element (``mirror``), or
        elements of the other end (``grid-wrap``; with ``wrap``, the first and the last element are
        at the same position). One of ``"reflect"``, ``"grid-mirror"``, ``"constant"``,
        ``"grid-constant"``, ``"nearest"``, ``"mirror"``, ``"grid-wrap"``, ``"wrap"``.
    cval : complex, default 0
        The element beyond the ends for ``"constant"`` and ``"grid-constant"``.
    prefilter : bool, default True
        Whether to compute coefficients of splines. False: `input` consists of coefficients from
        `spline_filter`.

    Returns
    -------
    Array
        The shape of the rotated image, or with `reshape=False` the shape of `input`; the type of
        `input` unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    >>> cubed.ndimage.rotate(x, 90, order=1).compute()
    array([[3., 6.],
           [2., 5.],
           [1., 4.]])
    """
    input = as_lazy(input)
    core = _core.call(
        "rotate",
        input._x,
        angle,
        axes,
        reshape,
        type_for(output, input),
        order,
        mode,
        cval,
        prefilter,
    )
    return input._like(core)


def shift(
    input: Any,
    shift: Any,
    output: DTypeLike = None,
    order: int = 3,
    mode: str = "constant",
    cval: complex = 0,
    prefilter: bool = True,
) -> Array:
    """Shifts an image.

    Values are computed in float64. Results of integer types are rounded, and limited to the type.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    shift : float or array_like of float
        Number of elements by which the image moves: one number, or one for each axis. Element 0
        moves to this position.
    output : dtype or None
        Type of the result. None: the type of `input`.
    order : int, default 3
        Order of the splines, 0 to 5.
    mode : str, default "constant"
        Values beyond the ends: `cval` (``constant``), values interpolated with `cval` as the
        elements there (``grid-constant``), the nearest element (``nearest``), elements mirrored
        about the edge (``reflect``, ``grid-mirror``) or about the last element (``mirror``), or
        elements of the other end (``grid-wrap``; with ``wrap``, the first and the last element are
        at the same position). One of ``"reflect"``, ``"grid-mirror"``, ``"constant"``,
        ``"grid-constant"``, ``"nearest"``, ``"mirror"``, ``"grid-wrap"``, ``"wrap"``.
    cval : complex, default 0
        The element beyond the ends for ``"constant"`` and ``"grid-constant"``.
    prefilter : bool, default True
        Whether to compute coefficients of splines. False: `input` consists of coefficients from
        `spline_filter`.

    Returns
    -------
    Array
        The shape of `input`, and its type, unless `output` is another type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, 3.0, 5.0, 7.0])
    >>> cubed.ndimage.shift(x, 0.5, order=1, mode="nearest").compute()
    array([1., 2., 4., 6.])
    """
    input = as_lazy(input)
    core = _core.call(
        "shift", input._x, shift, type_for(output, input), order, mode, cval, prefilter
    )
    return input._like(core)


def spline_filter(
    input: Any, order: int = 3, output: DTypeLike = None, mode: str = "mirror"
) -> Array:
    """Coefficients of the splines through the elements of an image.

    Orders 0 and 1 need no coefficients: they return `input`. The filter is a sum over at most 50
    elements on each side, beyond which its response is less than 2**-60.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    order : int, default 3
        Order of the splines, 0 to 5.
    output : dtype or None
        Type of the result. None: float64, or complex128.
    mode : str, default "mirror"
        Values beyond the ends in the functions that will use the coefficients: ``constant``,
        ``grid-constant`` and ``wrap`` count as ``mirror``, and ``nearest`` counts as ``reflect``.
        One of ``"reflect"``, ``"grid-mirror"``, ``"constant"``, ``"grid-constant"``, ``"nearest"``,
        ``"mirror"``, ``"grid-wrap"``, ``"wrap"``.

    Returns
    -------
    Array
        The shape of `input`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> cubed.ndimage.spline_filter(x).compute().round(3)
    array([ 0.25, -0.5 ,  1.75, -0.5 ,  0.25])
    """
    input = as_lazy(input)
    return input._like(_core.call("spline_filter", input._x, order, type_for(output, input), mode))


def spline_filter1d(
    input: Any, order: int = 3, axis: int = -1, output: DTypeLike = None, mode: str = "mirror"
) -> Array:
    """Coefficients of the splines through the elements of an image along an axis.

    Orders 0 and 1 need no coefficients: they return `input`. The filter is a sum over at most 50
    elements on each side, beyond which its response is less than 2**-60.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    order : int, default 3
        Order of the splines, 0 to 5.
    axis : int, default -1
        The axis; negative numbers count from the last.
    output : dtype or None
        Type of the result. None: float64, or complex128.
    mode : str, default "mirror"
        Values beyond the ends in the functions that will use the coefficients: ``constant``,
        ``grid-constant`` and ``wrap`` count as ``mirror``, and ``nearest`` counts as ``reflect``.
        One of ``"reflect"``, ``"grid-mirror"``, ``"constant"``, ``"grid-constant"``, ``"nearest"``,
        ``"mirror"``, ``"grid-wrap"``, ``"wrap"``.

    Returns
    -------
    Array
        The shape of `input`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[0.0, 0.0, 1.0, 0.0, 0.0]])
    >>> cubed.ndimage.spline_filter1d(x, axis=1).compute().round(3)
    array([[ 0.25, -0.5 ,  1.75, -0.5 ,  0.25]])
    """
    input = as_lazy(input)
    core = _core.call("spline_filter1d", input._x, order, axis, type_for(output, input), mode)
    return input._like(core)


def zoom(
    input: Any,
    zoom: Any,
    output: DTypeLike = None,
    order: int = 3,
    mode: str = "constant",
    cval: complex = 0,
    prefilter: bool = True,
    *,
    grid_mode: bool = False,
) -> Array:
    """Scales an image.

    Values are computed in float64. Results of integer types are rounded, and limited to the type.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    zoom : float or array_like of float
        Factor by which the image is scaled: one number, or one for each axis.
    output : dtype or None
        Type of the result. None: the type of `input`.
    order : int, default 3
        Order of the splines, 0 to 5.
    mode : str, default "constant"
        Values beyond the ends: `cval` (``constant``), values interpolated with `cval` as the
        elements there (``grid-constant``), the nearest element (``nearest``), elements mirrored
        about the edge (``reflect``, ``grid-mirror``) or about the last element (``mirror``), or
        elements of the other end (``grid-wrap``; with ``wrap``, the first and the last element are
        at the same position). One of ``"reflect"``, ``"grid-mirror"``, ``"constant"``,
        ``"grid-constant"``, ``"nearest"``, ``"mirror"``, ``"grid-wrap"``, ``"wrap"``.
    cval : complex, default 0
        The element beyond the ends for ``"constant"`` and ``"grid-constant"``.
    prefilter : bool, default True
        Whether to compute coefficients of splines. False: `input` consists of coefficients from
        `spline_filter`.
    grid_mode : bool, default False
        Whether the distance between the outer edges of the first and the last element is scaled.
        False: the distance between their centres is scaled.

    Returns
    -------
    Array
        The shape of `input` times `zoom`, rounded, and its type unless `output` is another type.
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, 3.0, 5.0])
    >>> cubed.ndimage.zoom(x, 2, order=1).compute()
    array([1. , 1.8, 2.6, 3.4, 4.2, 5. ])
    """
    input = as_lazy(input)
    core = _core.call(
        "zoom", input._x, zoom, type_for(output, input), order, mode, cval, prefilter, grid_mode
    )
    return input._like(core)
