"""Products of vectors and matrices, polynomials, and interpolation."""

from __future__ import annotations

from cubed.functions.numeric import convolve, correlate, interp
from cubed.functions.products import inner, kron, polyfit, polyval, vander

__all__ = ["convolve", "correlate", "inner", "interp", "kron", "polyfit", "polyval", "vander"]
