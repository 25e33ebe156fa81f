"""Bits of integers, and parts of floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import normalize_axis
from cubed.array_api._elementwise import elemwise
from cubed.array_api.creation_functions import zeros
from cubed.array_api.elementwise_functions import (
    bitwise_and,
    bitwise_right_shift,
    copysign,
    isinf,
    not_equal,
    trunc,
)
from cubed.array_api.manipulation_functions import concat, expand_dims, reshape
from cubed.array_api.searching_functions import where
from cubed.array_api.statistical_functions import sum
from cubed.base._dtypes import kind_of
from cubed.io._create import as_lazy

__all__ = ["frexp", "modf", "packbits", "unpackbits"]


def _floating(name: str, x: Any) -> Array:
    """x as real floating-point numbers; integers become float64."""
    a = as_lazy(x)
    if kind_of(a.dtype) == "f":
        return a
    if a.dtype.kind not in "biu":
        raise TypeError(f"{name}: x is of {a.dtype}, expected real numbers")
    return a.astype(np.float64)


def _mantissa(block: Any) -> Any:
    return np.frexp(block)[0]


def _exponent(block: Any) -> Any:
    return np.frexp(block)[1]


def frexp(x: Any, /) -> tuple[Array, Array]:
    """Mantissas and exponents: each element is ``mantissa * 2**exponent``.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    tuple of Array
        Mantissas, from 0.5 to below 1 in absolute value, of x's type (float64 for integers), and
        exponents in int32. Those of 0, NaN and infinities are 0. Lazy.

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
    """Fractional and integral parts, both with the sign of the element.

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
    # Infinity less itself is NaN, but its fraction is 0.
    fraction = copysign(where(isinf(a), 0.0, a - whole), a)
    return fraction.astype(a.dtype), whole.astype(a.dtype)


def _check_bitorder(name: str, bitorder: str) -> None:
    if bitorder not in ("big", "little"):
        raise ValueError(f"{name}: bitorder is {bitorder!r}, expected 'big' or 'little'")


def _along(x: Array, axis: int | None) -> tuple[Array, int]:
    """x and its axis; None: all elements along one axis."""
    if axis is None:
        return reshape(x, (-1,)), 0
    return x, normalize_axis(axis, x.ndim)


def _column(values: Any, ndim: int, axis: int) -> Any:
    """Values along an axis of an array with so many axes."""
    return np.asarray(values, np.uint8).reshape(-1, *(1,) * (ndim - 1 - axis))


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Eight elements in each byte: a bit is set if its element is not 0.

    Parameters
    ----------
    a : array_like
        Input array.
    axis : int or None
        Axis along which to compute; None: the elements in one dimension.
    bitorder : {"big", "little"}, default "big"
        Which bit of a byte is first: the highest, or the lowest.

    Returns
    -------
    Array
        uint8, an eighth as long along the axis, rounded up: the last bits may be 0. Lazy.

    Raises
    ------
    TypeError
        For elements that are neither integers nor bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.packbits(cubed.asarray([True, False, True])).compute()
    array([160], dtype=uint8)
    """
    _check_bitorder("packbits", bitorder)
    x = as_lazy(a)
    if x.dtype.kind not in "biu":
        raise TypeError(f"packbits: the elements are {x.dtype}, expected integers or bool")
    x, d = _along(x if x.dtype.kind == "b" else not_equal(x, 0), axis)
    n, chunk = x.shape[d], x.chunksize[d]
    if n % 8:
        shape = (*x.shape[:d], -n % 8, *x.shape[d + 1 :])
        x = concat([x, zeros(shape, dtype=bool, spec=x._spec)], axis=d)
    if any(c % 8 for c in x.chunks[d]):  # a byte is made of one chunk
        x = x.rechunk({d: max(8, chunk + -chunk % 8)})
    bits = reshape(x, (*x.shape[:d], x.shape[d] // 8, 8, *x.shape[d + 1 :])).astype(np.uint8)
    weights = [1 << i for i in (range(8) if bitorder == "little" else range(7, -1, -1))]
    return sum(bits * _column(weights, bits.ndim, d + 1), axis=d + 1, dtype=np.uint8)


def unpackbits(
    a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big"
) -> Array:
    """The bits of bytes as elements 0 and 1: eight for each byte.

    Parameters
    ----------
    a : array_like
        Input array.
    axis : int or None
        Axis along which to compute; None: the elements in one dimension.
    count : int or None
        Number of elements along the axis: zeros are added behind. A negative one is the number of
        elements that are left out at the end. None: eight for each byte.
    bitorder : {"big", "little"}, default "big"
        Which bit of a byte is first: the highest, or the lowest.

    Returns
    -------
    Array
        uint8. Lazy.

    Raises
    ------
    TypeError
        For elements of another type than uint8.
    ValueError
        If more elements are left out than there are.

    Examples
    --------
    >>> import cubed
    >>> cubed.unpackbits(cubed.asarray([5], dtype="uint8")).compute()
    array([0, 0, 0, 0, 0, 1, 0, 1], dtype=uint8)
    """
    _check_bitorder("unpackbits", bitorder)
    x = as_lazy(a)
    if x.dtype != np.uint8:
        raise TypeError(f"unpackbits: the elements are {x.dtype}, expected uint8")
    x, d = _along(x, axis)
    n = 8 * x.shape[d]
    shifts = range(8) if bitorder == "little" else range(7, -1, -1)
    bits = bitwise_right_shift(expand_dims(x, axis=d + 1), _column(shifts, x.ndim + 1, d + 1))
    out = reshape(bitwise_and(bits, 1), (*x.shape[:d], n, *x.shape[d + 1 :]))
    if count is None:
        return out
    wanted = count if count >= 0 else n + count
    if wanted < 0:
        raise ValueError(f"unpackbits: count is {count}, expected at least {-n}")
    if wanted > n:
        shape = (*out.shape[:d], wanted - n, *out.shape[d + 1 :])
        return concat([out, zeros(shape, dtype=np.uint8, spec=out._spec)], axis=d)
    return out[(*(slice(None),) * d, slice(wanted))]
