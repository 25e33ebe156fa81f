"""Fourier transforms. A task holds whole transformed axes in memory. An axis that does not fit is
transformed in parts, with a few stored intermediates.

`norm` selects the transforms that divide by the number of elements: the inverse transform
(``"backward"``), both, by its square root (``"ortho"``), or the forward transform (``"forward"``).
Results in single precision are computed in double precision.
"""

from cubed.functions import fft as _made
from cubed.functions.fft import *  # noqa: F403

__all__: list[str] = []
__all__ += _made.__all__
