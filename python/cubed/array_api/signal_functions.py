"""Interpolation, polynomials, and products that slide or repeat."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import check_parts, is_scalar, to_numpy
from cubed.array_api import linalg
from cubed.array_api.creation_functions import ones_like, zeros_like
from cubed.array_api.data_type_functions import result_type
from cubed.array_api.elementwise_functions import add, divide, multiply, sqrt
from cubed.array_api.linear_algebra_functions import matmul, tensordot
from cubed.array_api.manipulation_functions import expand_dims, flip, reshape, stack
from cubed.array_api.statistical_functions import cumulative_prod, sum
from cubed.functions.numeric import convolve, correlate, interp
from cubed.io._create import as_lazy

__all__ = ["convolve", "correlate", "inner", "interp", "kron", "polyfit", "polyval", "vander"]


# --- Products -------------------------------------------------------------------------------------


def inner(a: Any, b: Any, /) -> Array:
    """Sums of products over the last axes of both; numbers multiply.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    Array
        Of a's other axes and then b's, and of the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.inner(cubed.asarray([1, 2]), cubed.asarray([3, 4])).compute()
    array(11)
    """
    if is_scalar(a) or is_scalar(b):
        return multiply(a, b)
    x, y = as_lazy(a), as_lazy(b)
    if 0 in (x.ndim, y.ndim):
        return multiply(x, y)
    return tensordot(x, y, axes=((-1,), (-1,)))


def kron(a: Any, b: Any, /) -> Array:
    """Kronecker product: each element of a times b, side by side.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.

    Returns
    -------
    Array
        As many axes as the one that has more, and of the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.kron(cubed.asarray([1, 10]), cubed.asarray([1, 2])).compute()
    array([ 1,  2, 10, 20])
    """
    x, y = as_lazy(a), as_lazy(b)
    ndim = max(x.ndim, y.ndim)
    if ndim == 0:
        return multiply(x, y)
    x = expand_dims(x, tuple(range(ndim - x.ndim))) if x.ndim < ndim else x
    y = expand_dims(y, tuple(range(ndim - y.ndim))) if y.ndim < ndim else y
    shape = tuple(n * m for n, m in zip(x.shape, y.shape, strict=True))
    left = expand_dims(x, tuple(range(1, 2 * ndim, 2)))
    right = expand_dims(y, tuple(range(0, 2 * ndim, 2)))
    return reshape(multiply(left, right), shape)


# --- Polynomials ----------------------------------------------------------------------------------


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Powers of the elements of a vector, as rows: the highest first, unless `increasing`.

    Parameters
    ----------
    x : array_like
        Input array.
    N : int or None
        Number of columns; None: as many as elements.
    increasing : bool, default False
        Whether the lowest power comes first.

    Returns
    -------
    Array
        ``(len(x), N)``, square without N; the type of `x`, int64 for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.vander(cubed.asarray([1, 2, 3])).compute()
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    a = as_lazy(x)
    if a.ndim != 1:
        raise ValueError(f"vander: x has {a.ndim} axes, expected 1")
    n = a.shape[0] if N is None else N
    if n < 0:
        raise ValueError(f"vander: N is {n}, expected 0 or more")
    if a.dtype.kind in "biu":
        a = a.astype(result_type(a.dtype, np.int64))
    if n == 0:
        return stack([a], axis=1)[:, :0]
    factors = stack([ones_like(a), *[a] * (n - 1)], axis=1)
    out = cumulative_prod(factors, axis=1, dtype=a.dtype)
    return out if increasing else flip(out, axis=1)


def polyval(p: Any, x: Any) -> Array:
    """A polynomial at points, of its coefficients, the highest first.

    Parameters
    ----------
    p : array_like
        Coefficients, that of the highest power first.
    x : array_like
        Input array.

    Returns
    -------
    Array
        Same shape as `x`, in the promoted type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.polyval([2, 1], cubed.asarray([0.0, 1.0])).compute()
    array([1., 3.])
    """
    a = as_lazy(x)
    coefficients = p if isinstance(p, Array) else to_numpy(p)
    if coefficients.ndim != 1:
        raise ValueError(f"polyval: p has {coefficients.ndim} axes, expected 1")
    check_parts("polyval", coefficients.shape[0], "coefficients")
    out = zeros_like(a)
    for k in range(coefficients.shape[0]):
        out = add(multiply(out, a), coefficients[k])
    return out


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: Any = False,
) -> Any:
    """The polynomial that is nearest to points, by least squares.

    Parameters
    ----------
    x, y : array_like
        Points, ``(m,)``, and values, ``(m,)`` or ``(m, k)``.
    deg : int
        The degree.
    rcond : float or None
        Singular values below this times the largest count as 0. None: m times the precision.
    full : bool, default False
        Also return the sums of squared residuals, the rank, singular values and rcond.
    w : array_like or None
        Weights of the residuals, not squared.
    cov : bool or str, default False
        Also return the covariance matrix of the coefficients; ``"unscaled"``: not scaled, for known
        weights.

    Returns
    -------
    Array or tuple
        Coefficients, the highest first, ``(deg + 1,)`` or ``(deg + 1, k)``: float64, or complex128.
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(4.0)
    >>> cubed.polyfit(x, 2 * x + 1, 1).compute().round(6)
    array([2., 1.])
    """
    order = int(deg) + 1
    a, b = as_lazy(x), as_lazy(y)
    if deg < 0:
        raise ValueError(f"polyfit: deg is {deg}, expected 0 or more")
    if a.ndim != 1 or a.size == 0:
        raise ValueError(f"polyfit: x has shape {a.shape}, expected a vector with elements")
    if b.ndim not in (1, 2) or b.shape[0] != a.shape[0]:
        raise ValueError(f"polyfit: y has shape {b.shape} for {a.shape[0]} points")
    a = a.astype(result_type(a.dtype, np.float64))
    b = b.astype(result_type(b.dtype, np.float64))
    limit: Any = a.shape[0] * np.finfo(np.float64).eps if rcond is None else rcond
    left, right = vander(a, order), b
    if w is not None:
        weights = as_lazy(w).astype(np.float64)
        if weights.shape != a.shape:
            raise ValueError(f"polyfit: w has shape {weights.shape} for {a.shape[0]} points")
        left = multiply(left, expand_dims(weights, 1))
        right = multiply(right, expand_dims(weights, 1) if b.ndim == 2 else weights)
    scale = sqrt(sum(multiply(left, left), axis=0))
    left = divide(left, scale)
    c, residuals, rank, s = linalg.lstsq(left, right, limit)
    c = divide(c, expand_dims(scale, 1) if c.ndim == 2 else scale)
    if full:
        return c, residuals, rank, s, limit
    if not cov:
        return c
    base = linalg.inv(matmul(left.T, left))
    base = divide(divide(base, expand_dims(scale, 1)), scale)
    if cov == "unscaled":
        factor: Any = 1.0
    else:
        if a.shape[0] <= order:
            raise ValueError(f"polyfit: {a.shape[0]} points for a covariance of degree {deg}")
        factor = divide(residuals, float(a.shape[0] - order))
    if b.ndim == 1:
        return c, multiply(base, factor)
    return c, multiply(expand_dims(base, 2), factor)
