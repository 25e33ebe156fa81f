"""Products and polynomials: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.functions._calls import operand
from cubed.functions._prepare import polyfit_of
from cubed.io._create import as_lazy

__all__ = [
    "dot",
    "inner",
    "kron",
    "polyfit",
    "polyval",
    "vander",
    "vdot",
]


def dot(a: Any, b: Any, /) -> Array:
    """Products of vectors, matrices and numbers, like numpy.dot.

    Sums products over the last axis of the first array and the second to last axis of the second
    array, or its only axis. A number multiplies all elements.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    Array
        The type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.dot(x, x).compute()
    array([[ 7., 10.],
           [15., 22.]])
    """
    spec = common_spec(a, b)
    return Array._new(_core.call("dot", operand(a), operand(b)), spec)


def inner(a: Any, b: Any, /) -> Array:
    """Sums of products over the last axes of two arrays. Numbers multiply all elements.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    Array
        The type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.inner(cubed.asarray([1, 2]), cubed.asarray([3, 4])).compute()
    array(11)
    """
    spec = common_spec(a, b)
    return Array._new(_core.call("inner", operand(a), operand(b)), spec)


def kron(a: Any, b: Any, /) -> Array:
    """The Kronecker product: each element of `a` multiplied by the whole of `b`.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    Array
        The type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.kron(cubed.asarray([1, 10]), cubed.asarray([1, 2])).compute()
    array([ 1,  2, 10, 20])
    """
    spec = common_spec(a, b)
    return Array._new(_core.call("kron", core_of(a), core_of(b)), spec)


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """Coefficients of the polynomial that fits points best in the least-squares sense.

    Coefficients are float64 or complex128, in the order of decreasing powers.

    Parameters
    ----------
    x : array_like
        Points, in one dimension.
    y : array_like
        Values at the points. If it has two axes, each column is fitted separately.
    deg : int
        Degree of the polynomial.
    rcond : float or None
        Singular values below this fraction of the largest one count as 0. None: the number of
        points times the machine epsilon of float64.
    full : bool, default False
        Whether to also return residuals, rank, singular values and `rcond`.
    w : array_like or None
        Weight of each point, which multiplies its residual.
    cov : bool or str, default False
        Whether to also return the covariance of the coefficients. ``"unscaled"`` omits the factor
        that makes the reduced chi-square 1.

    Returns
    -------
    Array or tuple of Array
        ``(deg + 1,)``, or ``(deg + 1, k)`` for k columns of values; with `full` also residuals,
        rank, singular values and `rcond`; with `cov` also ``(deg + 1, deg + 1)``, or ``(deg + 1,
        deg + 1, k)``. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(4.0)
    >>> cubed.polyfit(x, 2 * x + 1, 1).compute().round(6)
    array([2., 1.])
    """
    return polyfit_of("polyfit", x, y, deg, rcond, full, w, cov)


def polyval(p: Any, x: Any) -> Array:
    """Values of a polynomial at points.

    Parameters
    ----------
    p : array_like
        Coefficients, highest power first.
    x : array_like
        Points.

    Returns
    -------
    Array
        The shape of `x`, and the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.polyval([2, 1], cubed.asarray([0.0, 1.0])).compute()
    array([1., 3.])
    """
    spec = common_spec(p, x)
    return Array._new(_core.call("polyval", core_of(p), core_of(x)), spec)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Powers of points as columns of a matrix.

    Parameters
    ----------
    x : array_like
        Points, in one dimension.
    N : int or None
        Number of columns. None: the number of rows.
    increasing : bool, default False
        Whether powers increase from left to right.

    Returns
    -------
    Array
        ``(n, N)``, the type of `x`; int64 for smaller integers and bools. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.vander(cubed.asarray([1, 2, 3])).compute()
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    x = as_lazy(x)
    return x._like(_core.call("vander", x._x, N, increasing))


def vdot(x1: Any, x2: Any, /) -> Array:
    """The sum of products of two flattened arrays, of which the first is conjugated.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        A number of the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.vdot(cubed.asarray([1, 2]), cubed.asarray([3, 4])).compute()
    array(11)
    """
    spec = common_spec(x1, x2)
    return Array._new(_core.call("vdot", core_of(x1), core_of(x2)), spec)
