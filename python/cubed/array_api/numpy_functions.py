"""Functions of NumPy that the standard does not have, with NumPy's names and parameters.

Xarray and others look for them in an array's namespace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import (
    common_spec,
    core_of,
    is_scalar,
    lazy,
    normalize_axes,
    normalize_axis,
)
from cubed.array_api import elementwise_functions, linalg
from cubed.array_api._einsum import einsum
from cubed.array_api._histogram import bincount, digitize, histogram
from cubed.array_api._nan import (
    nanmax,
    nanmean,
    nanmin,
    nanprod,
    nanstd,
    nansum,
    nanvar,
)
from cubed.array_api._pad import pad
from cubed.array_api.manipulation_functions import concat, moveaxis
from cubed.base._types import DTypeLike
from cubed.functions._calls import operand
from cubed.functions.grids import unravel_index
from cubed.functions.manipulation import ravel, swapaxes, transpose
from cubed.functions.math import isnat
from cubed.functions.numeric import allclose, isclose
from cubed.functions.products import dot
from cubed.functions.searching import nanargmax, nanargmin
from cubed.functions.statistical import (
    cumprod,
    cumsum,
    median,
    nancumprod,
    nancumsum,
    nanmedian,
    nanpercentile,
    nanquantile,
    percentile,
    ptp,
    quantile,
)

__all__ = [
    "allclose", "around", "bincount", "concatenate", "cross", "cumprod", "cumsum", "diagonal",
    "digitize", "dot", "einsum", "gradient", "histogram", "isclose", "isnat", "median", "nanargmax",
    "nanargmin", "nancumprod", "nancumsum", "nanmax", "nanmean", "nanmedian", "nanmin",
    "nanpercentile", "nanprod", "nanquantile", "nanstd", "nansum", "nanvar", "outer", "pad",
    "percentile", "ptp", "quantile", "ravel", "swapaxes", "trace", "transpose", "unravel_index",
]  # fmt: skip

concatenate = concat


# --- Arranging -----------------------------------------------------------------------------------


def diagonal(x: Array, /, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonals of the matrices in two axes, along a new last axis.

    Parameters
    ----------
    x : Array
        Input array.
    offset : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.
    axis1 : int, default 0
        The first of two axes.
    axis2 : int, default 1
        The second of two axes.

    Returns
    -------
    Array
        Same type as `x`, without the two axes and with a new last axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.diagonal(x).compute()
    array([1., 4.])
    """
    return linalg.diagonal(_matrices("diagonal", x, axis1, axis2), offset=offset)


def _matrices(name: str, x: Any, axis1: int, axis2: int) -> Array:
    """Moves the axes of matrices to the end."""
    x = lazy(x)
    rows = normalize_axis(f"{name}: axis1", axis1, x.ndim)
    columns = normalize_axis(f"{name}: axis2", axis2, x.ndim)
    if rows == columns:
        raise ValueError(f"{name}: axis1 and axis2 are both {axis1}, expected different axes")
    return moveaxis(x, (rows, columns), (-2, -1))


def trace(
    x: Array, /, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None
) -> Array:
    """The sums of the diagonals of the matrices in two axes.

    Parameters
    ----------
    x : Array
        Input array.
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
        Without the two axes; integers become int64 or uint64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.trace(x).compute()
    array(5.)
    """
    return linalg.trace(_matrices("trace", x, axis1, axis2), offset=offset, dtype=dtype)


# --- Numbers -------------------------------------------------------------------------------------


def around(x: Array, /, decimals: int = 0) -> Array:
    """Rounds to a number of decimals; see :func:`cubed.array_api.round`.

    Parameters
    ----------
    x : Array
        Input array.
    decimals : int, default 0
        Number of decimal places.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.around(cubed.asarray([0.26, 1.53]), 1).compute()
    array([0.3, 1.5])
    """
    return elementwise_functions.round(x, decimals=decimals)


def _two(a: Any, b: Any) -> tuple[Array, Array]:
    spec = common_spec(a, b)
    if is_scalar(a) and is_scalar(b):
        raise TypeError("at least one operand must be an array")
    x, y = (v if isinstance(v, Array) else Array._new(core_of(v), spec) for v in (a, b))
    return x, y


# --- Products ------------------------------------------------------------------------------------


def outer(a: Any, b: Any, /) -> Array:
    """Computes the products of each element of a with each element of b, both flattened.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    Array
        Shape ``(a.size, b.size)``, of the promoted type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.outer(cubed.asarray([1, 2]), cubed.asarray([3, 4])).compute()
    array([[3, 4],
           [6, 8]])
    """
    x, y = _two(a, b)
    return linalg.outer(ravel(x), ravel(y))


def cross(
    a: Any, b: Any, /, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Cross products of vectors of three elements.

    Parameters
    ----------
    a, b : array_like
        Vectors, of any numeric type except bool. The other axes are broadcast.
    axisa, axisb : int, default -1
        Axis of the vectors in `a` and in `b`.
    axisc : int, default -1
        Axis of the vectors in the result.
    axis : int or None
        Axis of the vectors in all three arrays; replaces `axisa`, `axisb` and `axisc`.

    Returns
    -------
    Array
        An array of the promoted type of `a` and `b`. Lazy.

    Raises
    ------
    ValueError
        Vectors do not have three elements.

    Examples
    --------
    >>> import cubed
    >>> cubed.cross(cubed.asarray([1, 0, 0]), cubed.asarray([0, 1, 0])).compute()
    array([0, 0, 1])
    """
    of_a, of_b, of_c = "cross: axisa", "cross: axisb", "cross: axisc"
    if axis is not None:
        axisa = axisb = axisc = axis
        of_a = of_b = of_c = "cross"
    x, y = _two(a, b)
    x = moveaxis(x, normalize_axis(of_a, axisa, x.ndim), -1)
    y = moveaxis(y, normalize_axis(of_b, axisb, y.ndim), -1)
    out = linalg.cross(x, y)
    return moveaxis(out, -1, normalize_axis(of_c, axisc, out.ndim))


# --- Differences ---------------------------------------------------------------------------------


def gradient(
    f: Array, /, *varargs: Any, axis: int | Sequence[int] | None = None, edge_order: int = 1
) -> Any:
    """Computes gradients: second-order differences inside, order `edge_order` at the ends.

    Parameters
    ----------
    f : Array
        Real or complex numbers; at least ``edge_order + 1`` along each axis.
    varargs : number or array_like
        Distance of neighbouring elements: none (distance 1), one number for all axes, or for each
        axis a number or a vector of coordinates.
    axis : int, tuple of int or None
        Axis or axes along which to compute; None: all. Negative numbers count from the last.
    edge_order : {1, 2}, default 1
        Order of accuracy of the differences at the ends.

    Returns
    -------
    Array or tuple of arrays
        An array of f's shape for each axis; not in a tuple if there is one axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.gradient(cubed.asarray([1.0, 4.0, 9.0])).compute()
    array([3., 4., 5.])
    """
    f = lazy(f, "f")
    refuse_foreign(varargs)
    axes = normalize_axes("gradient", axis if axis is None else _sequence(axis), f.ndim)
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: edge_order is {edge_order}, expected 1 or 2")
    steps = varargs or (1.0,)
    if len(steps) == 1 and np.ndim(steps[0]) == 0:
        steps *= len(axes)
    if len(steps) != len(axes):
        raise TypeError(f"gradient: {len(steps)} distances for {len(axes)} axes")
    out = []
    for a, h in zip(axes, steps, strict=True):
        g = _core.call("gradient", f._x, operand(h), a, int(edge_order))
        out.append(Array._new(g, common_spec(f, h)))
    return out[0] if len(out) == 1 else tuple(out)


def _sequence(axis: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(axis) if isinstance(axis, Sequence) else (axis,)
