"""NumPy's ufuncs that the standard lacks, or has under another name.

NumPy computes ufuncs that the engine does not have, block by block.
"""

from __future__ import annotations

import functools
from typing import Any, Unpack

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import operands
from cubed.array_api._elementwise import by_blocks
from cubed.array_api._ufunc_options import UfuncOptions, with_options
from cubed.array_api.elementwise_functions import (
    abs,
    acos,
    acosh,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_right_shift,
    conj,
    divide,
    pow,
    remainder,
)
from cubed.functions.math import deg2rad, rad2deg

__all__ = [
    "absolute", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "bitwise_not", "cbrt", "conjugate", "degrees", "divmod", "float_power", "fmod", "invert",
    "ldexp", "left_shift", "logaddexp2", "mod", "power", "radians", "right_shift", "spacing",
    "true_divide",
]  # fmt: skip

absolute = abs
arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctan2 = atan2
arctanh = atanh
bitwise_not = invert = bitwise_invert
conjugate = conj
degrees = rad2deg
left_shift = bitwise_left_shift
mod = remainder
power = pow
radians = deg2rad
right_shift = bitwise_right_shift
true_divide = divide


def _by_numpy(ufunc: np.ufunc, *args: Any, **options: Unpack[UfuncOptions]) -> Array:
    """Computes a ufunc with one result by NumPy."""

    return with_options(ufunc, functools.partial(by_blocks, ufunc), args, **options)


def cbrt(x: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Cube root of each element.

    Parameters
    ----------
    x : array_like
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        Same shape as `x`. float64 for integers of more than two bytes, otherwise NumPy's type.
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.cbrt(cubed.asarray([8.0, -27.0])).compute()
    array([ 2., -3.])
    """
    return _by_numpy(np.cbrt, x, **options)


def float_power(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """x1 to the power of x2, in double precision, element by element.

    Parameters
    ----------
    x1 : array_like
        The base.
    x2 : array_like
        The exponent.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        float64, or complex128; operands are broadcast. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.float_power(cubed.asarray([2, 4]), -1).compute()
    array([0.5 , 0.25])
    """
    return _by_numpy(np.float_power, x1, x2, **options)


def fmod(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Remainder of x1 / x2, with the sign of x1, element by element.

    Parameters
    ----------
    x1 : array_like
        The dividend.
    x2 : array_like
        The divisor.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fmod(cubed.asarray([-7, 7]), 3).compute()
    array([-1,  1])
    """
    return _by_numpy(np.fmod, x1, x2, **options)


def ldexp(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """x1 times 2 to the power of x2, element by element.

    Parameters
    ----------
    x1 : array_like
        Numbers.
    x2 : array_like
        Integers: the powers of 2.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The type of `x1`, integers as floats; operands are broadcast. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ldexp(cubed.asarray([1.5, 3.0]), 2).compute()
    array([ 6., 12.])
    """
    return _by_numpy(np.ldexp, x1, x2, **options)


def logaddexp2(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Logarithm to base 2 of 2**x1 + 2**x2, without overflow, element by element.

    Parameters
    ----------
    x1 : array_like
        The first exponent.
    x2 : array_like
        The second exponent.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands; floats for integers. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.logaddexp2(cubed.asarray([1.0, 1100.0]), 1100.0).compute()
    array([1100., 1101.])
    """
    return _by_numpy(np.logaddexp2, x1, x2, **options)


def spacing(x: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Distance from each element to the next number of its type, away from 0.

    Parameters
    ----------
    x : array_like
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        Same shape and type as `x`, integers as floats. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.spacing(cubed.asarray([1.0])).compute()
    array([2.22044605e-16])
    """
    return _by_numpy(np.spacing, x, **options)


def divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    """Quotient x1 / x2 rounded down, and its remainder, element by element.

    Parameters
    ----------
    x1 : array_like
        The dividend.
    x2 : array_like
        The divisor.

    Returns
    -------
    tuple of Array
        ``floor_divide(x1, x2)`` and ``remainder(x1, x2)``. Lazy.

    Examples
    --------
    >>> import cubed
    >>> quotient, rest = cubed.divmod(cubed.asarray([7, -7]), 3)
    >>> quotient.compute(), rest.compute()
    (array([ 2, -3]), array([1, 2]))
    """
    made, spec = operands(x1, x2, name="divmod")
    quotient = _core.call_as("divmod", "floor_divide", *made)
    rest = _core.call_as("divmod", "remainder", *made)
    return Array._new(quotient, spec), Array._new(rest, spec)
