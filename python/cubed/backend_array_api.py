"""The module whose arrays functions on blocks get: NumPy's."""

from __future__ import annotations

from typing import Any

import numpy as namespace
import numpy as np

from cubed.base._types import NDArray

__all__ = [
    "IS_IMMUTABLE_ARRAY", "backend_array_to_numpy_array", "backend_dtype_to_numpy_dtype",
    "namespace", "numpy_array_to_backend_array", "xp_name",
]  # fmt: skip

#: Whether its arrays cannot be written to.
IS_IMMUTABLE_ARRAY = False
#: Its name.
xp_name = "numpy"


def backend_array_to_numpy_array(arr: Any) -> NDArray:
    """What functions on blocks have, as NumPy's: as it is.

    Parameters
    ----------
    arr : array_like
        The values.

    Returns
    -------
    numpy.ndarray
        The same memory, where that is NumPy's.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.backend_array_api import backend_array_to_numpy_array
    >>> backend_array_to_numpy_array(np.arange(3))
    array([0, 1, 2])
    """
    return np.asarray(arr)


def numpy_array_to_backend_array(arr: Any, *, dtype: Any = None) -> NDArray:
    """NumPy's array as functions on blocks have it: as it is, or in another type.

    Parameters
    ----------
    arr : array_like
        The values.
    dtype : dtype or None
        The type that it gets; None: its own.

    Returns
    -------
    numpy.ndarray
        The same memory, if the type is that.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.backend_array_api import numpy_array_to_backend_array
    >>> numpy_array_to_backend_array(np.arange(3), dtype=float)
    array([0., 1., 2.])
    """
    return np.asarray(arr, dtype=dtype)


def backend_dtype_to_numpy_dtype(dtype: Any) -> np.dtype[Any]:
    """The type, as NumPy's.

    Parameters
    ----------
    dtype : dtype
        The type.

    Returns
    -------
    numpy.dtype
        The type.

    Examples
    --------
    >>> import cubed
    >>> from cubed.backend_array_api import backend_dtype_to_numpy_dtype
    >>> backend_dtype_to_numpy_dtype("f4")
    dtype('float32')
    """
    return np.dtype(dtype)
