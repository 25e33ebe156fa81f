"""The module whose arrays functions on blocks get: NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as namespace
import numpy as np

from cubed.base._types import NDArray

__all__ = [
    "IS_IMMUTABLE_ARRAY",
    "backend_array_to_numpy_array",
    "backend_dtype_to_numpy_dtype",
    "namespace",
    "numpy_array_to_backend_array",
    "xp_name",
]

#: Whether its arrays cannot be written to.
IS_IMMUTABLE_ARRAY = False
#: Its name.
xp_name = "numpy"


def backend_array_to_numpy_array(arr: Any) -> NDArray:
    """What functions on blocks have, as NumPy's: as it is."""
    return np.asarray(arr)


def numpy_array_to_backend_array(arr: Any, *, dtype: Any = None) -> NDArray:
    """NumPy's array as functions on blocks have it: as it is, or in another type."""
    return np.asarray(arr, dtype=dtype)


def backend_dtype_to_numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The type, as NumPy's."""
    return np.dtype(dtype)
