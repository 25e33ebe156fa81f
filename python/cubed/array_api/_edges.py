"""Infinite values and NaN in formulas that would otherwise treat them wrongly."""

from __future__ import annotations

import numpy as np

from cubed.array._array import Array
from cubed.array_api.elementwise_functions import add, greater, isfinite, isinf, isnan, multiply
from cubed.array_api.searching_functions import where


def complex_of(re: Array, im: Array) -> Array:
    """Makes complex numbers ``re + im * 1j`` from their parts, so that `im` never changes the real
    part.

    The product of 1j and an infinity or NaN has a NaN for its real part.
    """
    dtype = np.result_type(re.dtype, im.dtype, np.complex64)
    up, down, missing = (dtype.type(complex(0, end)) for end in (np.inf, -np.inf, np.nan))
    beyond = where(isnan(im), missing, where(greater(im, 0), up, down))
    return add(re, where(isfinite(im), multiply(im, dtype.type(1j)), beyond))


def without_infinities(x: Array) -> Array:
    """Replaces infinite elements by NaN, so that every linear combination that contains one is
    NaN."""
    return where(isinf(x), x.dtype.type(np.nan), x) if x.dtype.kind in "fc" else x
