"""Angles and parts of numbers: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.functions._prepare import pair_of
from cubed.io._create import as_lazy

__all__ = [
    "angle",
    "deg2rad",
    "exp2",
    "fabs",
    "fix",
    "fmax",
    "fmin",
    "iscomplex",
    "isnat",
    "isneginf",
    "isnull",
    "isposinf",
    "isreal",
    "notnull",
    "rad2deg",
    "rint",
    "sinc",
]


def angle(x: Any, deg: bool = False) -> Array:
    """The angles of complex numbers, in radians or degrees.

    Parameters
    ----------
    x : array_like
        Numbers.
    deg : bool, default False
        Whether angles are in degrees.

    Returns
    -------
    Array
        The shape of `x`: float32 for bool and integers of up to two bytes, float64 for other
        integers, else the real type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.angle(cubed.asarray([1 + 1j]), deg=True).compute()
    array([45.])
    """
    x = as_lazy(x)
    return x._like(_core.call("angle", x._x, deg))


def deg2rad(x: Any, /) -> Array:
    """Degrees as radians.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The shape of `x`: float64 for integers and bools, else the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.deg2rad(cubed.asarray([0.0, 180.0])).compute()
    array([0.        , 3.14159265])
    """
    x = as_lazy(x)
    return x._like(_core.call("deg2rad", x._x))


def exp2(x: Any, /) -> Array:
    """2 to the power of each element.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The shape of `x`: float64 for integers and bools, else the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.exp2(cubed.asarray([0.0, 1.0])).compute()
    array([1., 2.])
    """
    x = as_lazy(x)
    return x._like(_core.call("exp2", x._x))


def fabs(x: Any, /) -> Array:
    """Absolute values, as floats.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The shape of `x`: float64 for integers and bools, else the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.fabs(cubed.asarray([-1.5, 0.0, 2.0])).compute()
    array([1.5, 0. , 2. ])
    """
    x = as_lazy(x)
    return x._like(_core.call("fabs", x._x))


def fix(x: Any, /) -> Array:
    """Elements rounded towards zero.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The shape and type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fix(cubed.asarray([-1.5, 2.5])).compute()
    array([-1.,  2.])
    """
    x = as_lazy(x)
    return x._like(_core.call("fix", x._x))


def fmax(x1: Any, x2: Any, /) -> Array:
    """The larger of two elements; if one is NaN, the other.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        The type of the operands, which are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fmax(cubed.asarray([1.0, 5.0]), cubed.asarray([3.0, float('nan')])).compute()
    array([3., 5.])
    """
    return pair_of("fmax", x1, x2)


def fmin(x1: Any, x2: Any, /) -> Array:
    """The smaller of two elements; if one is NaN, the other.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        The type of the operands, which are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fmin(cubed.asarray([1.0, 5.0]), cubed.asarray([3.0, float('nan')])).compute()
    array([1., 5.])
    """
    return pair_of("fmin", x1, x2)


def iscomplex(x: Any, /) -> Array:
    """Whether elements have an imaginary part.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the shape of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.iscomplex(cubed.asarray([1 + 0j, 2j])).compute()
    array([False,  True])
    """
    x = as_lazy(x)
    return x._like(_core.call("iscomplex", x._x))


def isnat(x: Any, /) -> Array:
    """Whether dates and times are NaT, "not a time".

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the shape of `x`. Lazy.

    Raises
    ------
    TypeError
        For types other than dates and times.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> times = np.array(["2001-02-03", "NaT"], dtype="datetime64[D]")
    >>> cubed.isnat(cubed.asarray(times)).compute()
    array([False,  True])
    """
    x = as_lazy(x)
    return x._like(_core.call("isnat", x._x))


def isneginf(x: Any, /) -> Array:
    """Whether elements are minus infinity.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the shape of `x`. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.isneginf(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([False, False, False])
    """
    x = as_lazy(x)
    return x._like(_core.call("isneginf", x._x))


def isnull(x: Any, /) -> Array:
    """Whether elements are NaN or NaT: false for integers, bools and strings.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the shape of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.isnull(cubed.asarray([1.0, float("nan")])).compute()
    array([False,  True])
    """
    x = as_lazy(x)
    return x._like(_core.call("isnull", x._x))


def isposinf(x: Any, /) -> Array:
    """Whether elements are plus infinity.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the shape of `x`. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.isposinf(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([False,  True, False])
    """
    x = as_lazy(x)
    return x._like(_core.call("isposinf", x._x))


def isreal(x: Any, /) -> Array:
    """Whether elements have no imaginary part.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the shape of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.isreal(cubed.asarray([1 + 0j, 2j])).compute()
    array([ True, False])
    """
    x = as_lazy(x)
    return x._like(_core.call("isreal", x._x))


def notnull(x: Any, /) -> Array:
    """Whether elements are neither NaN nor NaT: true for integers, bools and strings.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        bool, of the shape of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.notnull(cubed.asarray([1.0, float("nan")])).compute()
    array([ True, False])
    """
    x = as_lazy(x)
    return x._like(_core.call("notnull", x._x))


def rad2deg(x: Any, /) -> Array:
    """Radians as degrees.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The shape of `x`: float64 for integers and bools, else the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.rad2deg(cubed.asarray([0.0, 3.141592653589793])).compute()
    array([  0., 180.])
    """
    x = as_lazy(x)
    return x._like(_core.call("rad2deg", x._x))


def rint(x: Any, /) -> Array:
    """Elements rounded to the nearest integer, halves to the even integer, as floats.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The shape of `x`: float64 for integers and bools, else the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.rint(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-2.,  0.,  2.])
    """
    x = as_lazy(x)
    return x._like(_core.call("rint", x._x))


def sinc(x: Any, /) -> Array:
    """``sin(pi x) / (pi x)``, which is 1 at 0.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        The shape of `x`: float64 for integers and bools, else the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.sinc(cubed.asarray([0.0, 0.5])).compute().round(4)
    array([1.    , 0.6366])
    """
    x = as_lazy(x)
    return x._like(_core.call("sinc", x._x))
