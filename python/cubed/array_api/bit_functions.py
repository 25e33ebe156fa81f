"""Functions that split floating-point numbers into parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array_api._elementwise import elemwise
from cubed.array_api.elementwise_functions import copysign, isinf, trunc
from cubed.array_api.searching_functions import where
from cubed.base._dtypes import kind_of
from cubed.functions.bits import packbits, unpackbits
from cubed.io._create import as_lazy

__all__ = ["frexp", "modf", "packbits", "unpackbits"]


def _floating(name: str, x: Any) -> Array:
    """Converts integers to float64; returns real floating-point numbers unchanged."""
    a = as_lazy(x)
    if kind_of(a.dtype) == "f":
        return a
    if a.dtype.kind not in "biu":
        raise TypeError(f"{name}: x is of type {a.dtype}, expected real numbers")
    return a.astype(np.float64)


def _mantissa(block: Any) -> Any:
    return np.frexp(block)[0]


def _exponent(block: Any) -> Any:
    return np.frexp(block)[1]


def frexp(x: Any, /) -> tuple[Array, Array]:
    """Splits elements into mantissas and exponents: ``mantissa * 2**exponent``.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    tuple of Array
        Mantissas with an absolute value from 0.5 to less than 1, of x's type (float64 for
        integers), and exponents as int32. Exponents of 0, NaN and infinities are 0. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> mantissa, exponent = cubed.frexp(cubed.asarray([1.0, 6.0]))
    >>> mantissa.compute(), exponent.compute()
    (array([0.5 , 0.75]), array([1, 3], dtype=int32))
    """
    a = _floating("frexp", x)
    mantissa = elemwise(_mantissa, a, dtype=a.dtype, extra_projected_mem=None, name="frexp")
    exponent = elemwise(_exponent, a, dtype=np.int32, extra_projected_mem=None, name="frexp")
    return mantissa, exponent


def modf(x: Any, /) -> tuple[Array, Array]:
    """Splits elements into fractional and integral parts, both with the sign of the element.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    tuple of Array
        Fractional parts and integral parts, of x's type; float64 for integers. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> fraction, whole = cubed.modf(cubed.asarray([1.5, -2.25]))
    >>> fraction.compute(), whole.compute()
    (array([ 0.5 , -0.25]), array([ 1., -2.]))
    """
    a = _floating("modf", x)
    whole = trunc(a)
    # The difference of two infinities is NaN, but the fraction of infinity is 0.
    fraction = copysign(where(isinf(a), 0.0, a - whole), a)
    return fraction.astype(a.dtype), whole.astype(a.dtype)
