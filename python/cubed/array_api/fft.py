"""Fourier transforms. An axis that is transformed is brought together in a task's memory; one that
does not fit is transformed in parts, and stored a few times on the way.

`norm` says which direction is divided by the number of elements: the inverse (``"backward"``), both
by its root (``"ortho"``), or the other one (``"forward"``). Single precision stays single, but is
transformed in double precision.
"""

from cubed.functions import fft as _made
from cubed.functions.fft import *  # noqa: F403

__all__: list[str] = []
__all__ += _made.__all__
