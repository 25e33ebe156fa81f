"""The module whose arrays functions on blocks get: NumPy's."""

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

#: Whether its arrays cannot be written to.
IS_IMMUTABLE_ARRAY = False
#: Its name.
xp_name = "numpy"
