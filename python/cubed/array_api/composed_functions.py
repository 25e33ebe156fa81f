"""More of NumPy's functions, each a few of the others: lazy, in one pass where those are."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import (
    common_spec,
)
from cubed.array_api.data_type_functions import result_type
from cubed.array_api.elementwise_functions import (
    conj,
    multiply,
    trunc,
)
from cubed.array_api.manipulation_functions import (
    concat,
    expand_dims,
    permute_dims,
    reshape,
)
from cubed.array_api.statistical_functions import sum
from cubed.base._docs import documented
from cubed.base._types import Axis, DTypeLike
from cubed.functions._calls import operand
from cubed.functions.manipulation import dstack, hstack, rot90, vstack
from cubed.functions.math import (
    angle,
    deg2rad,
    exp2,
    fabs,
    fmax,
    fmin,
    iscomplex,
    isneginf,
    isposinf,
    isreal,
    rad2deg,
    rint,
    sinc,
)
from cubed.functions.numeric import trapezoid, unwrap
from cubed.functions.pieces import (
    append,
    array_split,
    atleast_1d,
    atleast_2d,
    atleast_3d,
    delete,
    diag,
    fliplr,
    flipud,
    split,
)
from cubed.io._create import as_lazy

__all__ = [
    "trapezoid", "split", "diag", "array_split", "angle", "append", "atleast_1d",
    "atleast_2d", "atleast_3d", "average", "corrcoef", "cov", "deg2rad", "delete", "dstack", "exp2",
    "fabs", "fix", "fliplr", "flipud", "fmax", "fmin", "hstack",
    "iscomplex", "isneginf", "isposinf", "isreal", "nan_to_num", "rad2deg", "rint", "rot90",
    "sinc", "unwrap", "vdot", "vstack",
]  # fmt: skip


def flat(x: Any) -> Array:
    """All elements in one axis, in C order. Lazy."""
    return reshape(as_lazy(x), (-1,))


def _with_axes(x: Any, ndim: int) -> Array:
    a = as_lazy(x).copy()
    while a.ndim < min(ndim, 2):
        a = expand_dims(a, axis=0)
    return a if a.ndim >= ndim else expand_dims(a, axis=-1)


# --- Elementwise ----------------------------------------------------------------------------------


@documented(returns="Of x's shape and type. Lazy.", raises="TypeError: For complex numbers.")
def fix(x: Any, /) -> Array:
    """x rounded towards zero.

    >>> cubed.fix(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-1.,  0.,  2.])
    """
    return trunc(as_lazy(x))


@documented(returns="Of x's shape and type. Lazy.")
def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Array:
    """x with numbers for NaN and infinities (None: the largest and least finite ones), also in
    parts of complex numbers.

    Parameters
    ----------
    copy : bool, default True
        False: the result is put behind x itself.
    nan : float, default 0.0
        What NaN becomes.
    posinf : float or None
        What infinity becomes; None: the largest number.
    neginf : float or None
        What minus infinity becomes; None: the least number.

    Examples
    --------
    >>> cubed.nan_to_num(cubed.asarray([1.0, float('nan')])).compute()
    array([1., 0.])
    """
    a = as_lazy(x)
    made = _core.call("nan_to_num", a._x, operand(nan), operand(posinf), operand(neginf))
    out = Array._new(made, common_spec(a, nan, posinf, neginf))
    if copy:
        return out
    a._rebind(out._x)
    return a


# --- Statistics -----------------------------------------------------------------------------------


@documented()
def average(
    x: Any,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """The mean with weights, of the shape of x or of one axis; with `returned` also their sum.

    Parameters
    ----------
    returned : bool, default False
        Whether the sum of the weights is returned, too.

    Returns
    -------
    Array or tuple of Array
        float64 for integers, else the type that x and weights promote to. Lazy: where weights sum
        to zero the mean is NaN or infinite, and no error.

    Examples
    --------
    >>> cubed.average(cubed.asarray([1.0, 2.0]), weights=cubed.asarray([3.0, 1.0])).compute()
    array(1.25)
    """
    a = as_lazy(x)
    spec = common_spec(a, weights)
    made = _core.call("average", a._x, axis, operand(weights), keepdims)
    out, total = (Array._new(v, spec) for v in made)
    return (out, total) if returned else out


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: DTypeLike = None,
) -> Array:
    """The covariance matrix of variables, which are rows (columns without `rowvar`).

    Parameters
    ----------
    m : array_like
        Variables; those of y come behind those of m.
    y : array_like or None
        Variables; those of y come behind those of m.
    rowvar : bool, default True
        Whether rows are variables, and columns observations.
    bias : bool, default False
        Divide by the number of observations, not by one less.
    ddof : int or None
        Divide by the number of observations less this.
    fweights : Any or None
        How often each observation was made: integers.
    aweights : Any or None
        How much each observation counts.
    dtype : dtype or None
        Of the result.

    Returns
    -------
    Array
        ``(n, n)`` for n variables: float64, or complex128, at least. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.cov(cubed.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).compute()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    x = _observations(m, y, rowvar, dtype)
    free = ddof if ddof is not None else 0 if bias else 1
    given = {"fweights": fweights, "aweights": aweights}
    weights = (w if w is None else _weights(name, w, x.shape[1]) for name, w in given.items())
    return Array._new(_core.call("cov", x._x, free, *weights), common_spec(x, fweights, aweights))


def _observations(m: Any, y: Any, rowvar: bool, dtype: DTypeLike) -> Array:
    """Variables as rows of floats."""
    parts = [_with_axes(v, 2) for v in (m, y) if v is not None]
    if not rowvar:
        parts = [
            permute_dims(p, (1, 0)) if np.ndim(v) > 1 else p
            for v, p in zip((m, y), parts, strict=False)
        ]
    if builtins.any(p.ndim > 2 for p in parts):
        raise ValueError("cov: an array has more than two axes")
    x = concat(parts, axis=0) if len(parts) > 1 else parts[0]
    return x.astype(result_type(x.dtype, np.float64) if dtype is None else np.dtype(dtype))


def _weights(name: str, weights: Any, n: int) -> _core.Array:
    w = as_lazy(weights)
    if w.shape != (n,):
        raise ValueError(f"cov: {name} have shape {w.shape} for {n} observations")
    if name == "fweights" and w.dtype.kind not in "iu":
        raise TypeError(f"cov: fweights are {w.dtype}, expected integers")
    return w._x


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> Array:
    """Pearson's correlation coefficients of variables, which are rows (columns if not `rowvar`).

    Parameters
    ----------
    x : array_like
        Variables and their observations.
    y : array_like or None
        More variables.
    rowvar : bool, default True
        Whether rows are variables and columns observations.
    dtype : dtype or None
        Element type of the result.

    Returns
    -------
    Array
        ``(n, n)`` for n variables: float64, or complex128, or `dtype`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.corrcoef(cubed.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).compute()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    rows = _observations(x, y, rowvar, dtype)
    return rows._like(_core.call("corrcoef", rows._x))


@documented(returns="Of the type that both promote to. Lazy.")
def vdot(x1: Any, x2: Any, /) -> Array:
    """The product of two flattened arrays, of which the first is conjugated.

    >>> cubed.vdot(cubed.asarray([1, 2]), cubed.asarray([3, 4])).compute()
    array(11)
    """
    a, b = flat(x1), flat(x2)
    products = multiply(conj(a) if a.dtype.kind == "c" else a, b)
    return sum(products, dtype=products.dtype)
