"""Functions of NumPy that combine a few other functions; lazy."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import (
    common_spec,
)
from cubed.array_api.manipulation_functions import (
    reshape,
)
from cubed.base._types import Axis
from cubed.functions._calls import operand
from cubed.functions.manipulation import dstack, hstack, rot90, vstack
from cubed.functions.math import (
    angle,
    deg2rad,
    exp2,
    fabs,
    fix,
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
from cubed.functions.products import vdot
from cubed.functions.statistical import corrcoef, cov
from cubed.io._create import as_lazy

__all__ = [
    "trapezoid", "split", "diag", "array_split", "angle", "append", "atleast_1d",
    "atleast_2d", "atleast_3d", "average", "corrcoef", "cov", "deg2rad", "delete", "dstack", "exp2",
    "fabs", "fix", "fliplr", "flipud", "fmax", "fmin", "hstack",
    "iscomplex", "isneginf", "isposinf", "isreal", "nan_to_num", "rad2deg", "rint", "rot90",
    "sinc", "unwrap", "vdot", "vstack",
]  # fmt: skip


def flat(x: Any) -> Array:
    """Returns all elements along one axis, in C order. Lazy."""
    return reshape(as_lazy(x), (-1,))


# --- Elementwise ----------------------------------------------------------------------------------


def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Array:
    """Replaces NaN and infinities by numbers, also in the parts of complex numbers.

    Parameters
    ----------
    x : array_like
        Input array.
    copy : bool, default True
        False: `x` itself gets the result as its new lazy value.
    nan : float, default 0.0
        Replacement of NaN.
    posinf : float or None
        Replacement of infinity; None: the largest finite number.
    neginf : float or None
        Replacement of minus infinity; None: the smallest finite number.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Examples
    --------
    >>> import cubed
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


def average(
    x: Any,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """Computes the weighted mean, and with `returned` also the sum of the weights.

    Parameters
    ----------
    x : array_like
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    weights : array_like or None
        Weight of each element, or of each position along the axes, in their order; None: 1.
    returned : bool, default False
        Whether the sum of the weights is also returned.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.

    Returns
    -------
    Array or tuple of Array
        float64 for integers, otherwise the promoted type of `x` and `weights`. If weights sum to
        zero, the mean is NaN or infinite, without an error. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.average(cubed.asarray([1.0, 2.0]), weights=cubed.asarray([3.0, 1.0])).compute()
    array(1.25)
    """
    a = as_lazy(x)
    spec = common_spec(a, weights)
    made = _core.call("average", a._x, axis, operand(weights), keepdims)
    out, total = (Array._new(v, spec) for v in made)
    return (out, total) if returned else out
