"""Filters of images by arrays of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import to_numpy
from cubed.base._types import Axis, DTypeLike, Shape
from cubed.functions._calls import type_for
from cubed.io._create import as_lazy


def _weighted(
    name: str, input: Any, weights: Any, output: Any, mode: Any, cval: float, origin: Any, axes: Any
) -> Array:
    x, w = as_lazy(input), to_numpy(weights)
    if w.dtype.kind not in "biuf":
        raise TypeError(f"{name}: weights are {w.dtype}, expected real numbers")
    given = (w.tolist(), type_for(output, x), mode, cval, origin, axes)
    return x._like(_core.call_as(name, f"{name}_filter", x._x, *given))


def correlate(
    input: Any,
    weights: Any,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """Computes the correlation of an image with an array of weights.

    The sums are computed in float64.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    weights : array_like of float
        Real factors of neighbouring elements, with an axis for each axis that is filtered.
        Weights whose magnitude is at most 2**-52 count as 0.
    output : dtype or None
        Type of the result. None: the type of `input`. Values are truncated to an integer type, as
        in SciPy.
    mode : str or sequence of str, default "reflect"
        The elements beyond the ends: elements mirrored about the edge (``"reflect"``) or about the
        last element (``"mirror"``), the nearest element (``"nearest"``), elements of the other end
        (``"wrap"``), or `cval` (``"constant"``). One mode, or one for each axis.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of the weights; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes that are filtered, in increasing order. None: all.

    Returns
    -------
    Array
        The shape of `input`, and its type unless `output` names another. Lazy.

    Raises
    ------
    ValueError
        For weights with a different number of axes, and for an origin outside the weights.
    TypeError
        For weights that are not real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 5.0]])
    >>> cubed.ndimage.correlate(x, [[0, 1, 0], [1, 0, 1], [0, 1, 0]], mode="constant").compute()
    array([[5., 6.],
           [6., 5.]])
    """
    return _weighted("correlate", input, weights, output, mode, cval, origin, axes)


def convolve(
    input: Any,
    weights: Any,
    output: DTypeLike = None,
    mode: str | Sequence[str] = "reflect",
    cval: float = 0,
    origin: Shape = 0,
    *,
    axes: Axis = None,
) -> Array:
    """Computes the convolution of an image with an array of weights.

    It is the correlation with the weights in reverse order along each axis.

    Parameters
    ----------
    input : array_like
        An image, of any number of axes.
    weights : array_like of float
        Real factors of neighbouring elements, with an axis for each axis that is filtered.
        Weights whose magnitude is at most 2**-52 count as 0.
    output : dtype or None
        Type of the result. None: the type of `input`. Values are truncated to an integer type, as
        in SciPy.
    mode : str or sequence of str, default "reflect"
        The elements beyond the ends: elements mirrored about the edge (``"reflect"``) or about the
        last element (``"mirror"``), the nearest element (``"nearest"``), elements of the other end
        (``"wrap"``), or `cval` (``"constant"``). One mode, or one for each axis.
    cval : float, default 0
        Value of elements outside of the image for ``"constant"``.
    origin : int or tuple of int, default 0
        Offset of the element from the middle of the weights; one number, or one for each axis.
    axes : int, tuple of int or None
        Axes that are filtered, in increasing order. None: all.

    Returns
    -------
    Array
        The shape of `input`, and its type unless `output` names another. Lazy.

    Raises
    ------
    ValueError
        For weights with a different number of axes, and for an origin outside the weights.
    TypeError
        For weights that are not real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 0.0]])
    >>> cubed.ndimage.convolve(x, [[1, 2, 3], [4, 5, 6], [7, 8, 9]]).compute()
    array([[1., 2., 3.],
           [4., 5., 6.],
           [7., 8., 9.]])
    """
    return _weighted("convolve", input, weights, output, mode, cval, origin, axes)
