"""Numbers: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of
from cubed.functions._calls import operand

__all__ = [
    "allclose",
    "convolve",
    "correlate",
    "interp",
    "isclose",
    "trapezoid",
    "unwrap",
]


def allclose(
    a: Any, b: Any, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    """Whether all elements are close, by the rule of `isclose`.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.
    rtol : float, default 1e-05
        Tolerance relative to `b`.
    atol : float, default 1e-08
        Absolute tolerance.
    equal_nan : bool, default False
        Whether NaN equals NaN.

    Returns
    -------
    Array
        bool, without axes. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.allclose(x, x + 1e-9).compute()
    array(True)
    """
    spec = common_spec(a, b)
    return Array._new(_core.call("allclose", operand(a), operand(b), rtol, atol, equal_nan), spec)


def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    """The convolution of two vectors.

    The longer vector is read once for each element of the shorter vector, which has at most 16,384.

    Parameters
    ----------
    a : array_like
        The first vector.
    v : array_like
        The second vector.
    mode : {"full", "same", "valid"}, default "full"
        Part of the result: all (``"full"``), as long as the longer vector (``"same"``), or only
        complete overlaps (``"valid"``).

    Returns
    -------
    Array
        One dimension, of the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.convolve(cubed.asarray([1, 2, 3]), cubed.asarray([1, 1])).compute()
    array([1, 3, 5, 3])
    """
    spec = common_spec(a, v)
    return Array._new(_core.call("convolve", core_of(a), core_of(v), mode), spec)


def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    """The cross-correlation of two vectors, the second conjugated.

    The longer vector is read once for each element of the shorter vector, which has at most 16,384.

    Parameters
    ----------
    a : array_like
        The first vector.
    v : array_like
        The second vector.
    mode : {"full", "same", "valid"}, default "valid"
        Part of the result: all (``"full"``), as long as the longer vector (``"same"``), or only
        complete overlaps (``"valid"``).

    Returns
    -------
    Array
        One dimension, of the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.correlate(cubed.asarray([1, 2, 3]), cubed.asarray([0, 1]), mode="same").compute()
    array([1, 2, 3])
    """
    spec = common_spec(a, v)
    return Array._new(_core.call("correlate", core_of(a), core_of(v), mode), spec)


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> Array:
    """Linear interpolation between values at given points.

    All points are read for each block of `x`.

    Parameters
    ----------
    x : array_like
        Points at which to interpolate.
    xp : array_like
        Points of the given values, in ascending order, or in any order with a `period`.
    fp : array_like
        Real or complex values at the points `xp`.
    left : array_like or None
        Value before the first point. None: the value at the first point.
    right : array_like or None
        Value after the last point. None: the value at the last point.
    period : float or None
        Period of `x` and `xp`.

    Returns
    -------
    Array
        float64 or complex128, in the shape of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.interp(cubed.asarray([0.5, 1.5]), [0, 1, 2], [0, 10, 40]).compute()
    array([ 5., 25.])
    """
    spec = common_spec(x, xp, fp, left, right)
    core = _core.call(
        "interp", operand(x), operand(xp), operand(fp), operand(left), operand(right), period
    )
    return Array._new(core, spec)


def isclose(
    a: Any, b: Any, /, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Array:
    """Whether ``abs(a - b) <= atol + rtol * abs(b)``. An infinity is close only to itself.

    Python scalars take the type of the other operand.

    Parameters
    ----------
    a : array_like
        The first operand.
    b : array_like
        The second operand.
    rtol : float, default 1e-05
        Tolerance relative to `b`.
    atol : float, default 1e-08
        Absolute tolerance.
    equal_nan : bool, default False
        Whether NaN equals NaN.

    Returns
    -------
    Array
        bool; the operands are broadcast. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.isclose(x, x + 1e-9).compute()
    array([[ True,  True],
           [ True,  True]])
    """
    spec = common_spec(a, b)
    return Array._new(_core.call("isclose", operand(a), operand(b), rtol, atol, equal_nan), spec)


def trapezoid(y: Any, x: Any = None, dx: Any = 1, axis: int = -1) -> Array:
    """The integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
        Values.
    x : array_like or None
        Points of the values. None: evenly spaced, with distance `dx`.
    dx : array_like, default 1
        Distance between points if there is no `x`.
    axis : int, default -1
        Axis along which to integrate; negative numbers count from the last.

    Returns
    -------
    Array
        Without the axis: float64 for integers, else the type of `y`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.trapezoid(cubed.asarray([1.0, 2.0, 3.0]), dx=0.5).compute()
    array(2.)
    """
    spec = common_spec(y, x, dx)
    return Array._new(_core.call("trapezoid", core_of(y), operand(x), operand(dx), axis), spec)


def unwrap(
    p: Any, discont: Any = None, axis: int = -1, *, period: Any = 6.283185307179586
) -> Array:
    """Unwraps angles: adds multiples of the period so that no step exceeds half a period.

    Parameters
    ----------
    p : array_like
        Angles.
    discont : array_like or None
        Smaller steps are not changed. None: half a period.
    axis : int, default -1
        Axis along which to compute; negative numbers count from the last.
    period : array_like, default 6.283185307179586
        Length of a full turn.

    Returns
    -------
    Array
        The shape of `p`: for integers int64, or float64 if the period is not an integer; else the
        type of `p`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.unwrap(cubed.asarray([0, 3, 2]), period=4).compute()
    array([ 0, -1, -2])
    """
    spec = common_spec(p, discont, period)
    core = _core.call("unwrap", core_of(p), operand(discont), axis, operand(period))
    return Array._new(core, spec)
