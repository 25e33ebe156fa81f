"""Infinite values where an ordinary formula would make NaN of them, or the reverse."""

from __future__ import annotations

import numpy as np

from cubed.array._array import Array
from cubed.array_api.elementwise_functions import add, greater, isinf, multiply
from cubed.array_api.searching_functions import where


def complex_of(re: Array, im: Array) -> Array:
    """Complex numbers of their parts: ``re + im * 1j``, except that an infinite part stays one.

    The product of infinity and 1j has a NaN for its real part.
    """
    dtype = np.result_type(re.dtype, im.dtype, np.complex64)
    up, down = (dtype.type(complex(0, end)) for end in (np.inf, -np.inf))
    turned = where(isinf(im), where(greater(im, 0), up, down), multiply(im, dtype.type(1j)))
    return add(re, turned)


def without_infinities(x: Array) -> Array:
    """x with NaN in place of infinite elements, so that every linear combination of one is NaN."""
    return where(isinf(x), x.dtype.type(np.nan), x) if x.dtype.kind in "fc" else x
