"""Filters of images: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.base._types import Shape
from cubed.io._create import as_lazy

__all__ = [
    "correlate1d",
    "gaussian_filter",
    "uniform_filter",
]


def correlate1d(
    input: Any,
    weights: Any,
    axis: int = -1,
    mode: str = "reflect",
    cval: float = 0,
    origin: int = 0,
) -> Array:
    """Sums of neighbouring elements along an axis, multiplied by weights.

    Integers are truncated, as by SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    weights : array_like of float
        Real factors of neighbouring elements.
    axis : int, default -1
        Axis of the neighbours; negative ones count from the last.
    mode : {"reflect", "nearest", "wrap", "constant"}, default "reflect"
        The elements beyond the ends: mirrored, the nearest one, those of the other end, or `cval`.
    cval : float, default 0
        The element beyond the ends for ``"constant"``.
    origin : int, default 0
        Position of the element itself among the weights, from the middle on.

    Returns
    -------
    Array
        The shape and type of `input`. Lazy.

    Raises
    ------
    ValueError
        For other values than these, and where a filter reaches farther than an axis is long.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, 4.0, 9.0, 16.0])
    >>> cubed.ndimage.correlate1d(x, [-1, 0, 1], mode="nearest").compute()
    array([ 3.,  8., 12.,  7.])
    """
    input = as_lazy(input)
    return input._like(_core.call("correlate1d", input._x, weights, axis, mode, cval, origin))


def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Shape = 0,
    mode: str = "reflect",
    cval: float = 0,
    truncate: float = 4,
) -> Array:
    """An image smoothed by a Gaussian, or its derivatives.

    Integers are truncated along each axis, as by SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    sigma : float or array_like of float
        Standard deviation, or one for each axis.
    order : int or tuple of int, default 0
        Order of the derivative, or one for each axis.
    mode : {"reflect", "nearest", "wrap", "constant"}, default "reflect"
        The elements beyond the ends: mirrored, the nearest one, those of the other end, or `cval`.
    cval : float, default 0
        The element beyond the ends for ``"constant"``.
    truncate : float, default 4
        Standard deviations at which the Gaussian ends.

    Returns
    -------
    Array
        The shape and type of `input`. Lazy.

    Raises
    ------
    ValueError
        For other values than these, and where a filter reaches farther than an axis is long.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> cubed.ndimage.gaussian_filter(x, 0.5).compute().round(3)
    array([0.   , 0.106, 0.787, 0.106, 0.   ])
    """
    input = as_lazy(input)
    return input._like(_core.call("gaussian_filter", input._x, sigma, order, mode, cval, truncate))


def uniform_filter(input: Any, size: Shape = 3, mode: str = "reflect", cval: float = 0) -> Array:
    """The means of boxes around elements.

    Integers are truncated along each axis, as by SciPy.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    size : int or tuple of int, default 3
        Extent of a box, or one for each axis.
    mode : {"reflect", "nearest", "wrap", "constant"}, default "reflect"
        The elements beyond the ends: mirrored, the nearest one, those of the other end, or `cval`.
    cval : float, default 0
        The element beyond the ends for ``"constant"``.

    Returns
    -------
    Array
        The shape and type of `input`. Lazy.

    Raises
    ------
    ValueError
        For other values than these, and where a filter reaches farther than an axis is long.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([0.0, 3.0, 6.0, 0.0])
    >>> cubed.ndimage.uniform_filter(x).compute()
    array([1., 3., 3., 2.])
    """
    input = as_lazy(input)
    return input._like(_core.call("uniform_filter", input._x, size, mode, cval))
