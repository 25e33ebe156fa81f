"""The array module of blocks in user-defined functions: NumPy."""

import numpy as namespace

from cubed.compat._functions import (
    backend_array_to_numpy_array,
    backend_dtype_to_numpy_dtype,
    numpy_array_to_backend_array,
)

__all__ = [
    "IS_IMMUTABLE_ARRAY", "backend_array_to_numpy_array", "backend_dtype_to_numpy_dtype",
    "namespace", "numpy_array_to_backend_array", "xp_name",
]  # fmt: skip

#: Whether arrays of this module are immutable.
IS_IMMUTABLE_ARRAY = False
#: Its name.
xp_name = "numpy"
