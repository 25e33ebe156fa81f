"""Functions of Cubed for Python that the rest of this package does not need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, SupportsIndex

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import normalize_axis
from cubed.array_api.creation_functions import full
from cubed.array_api.manipulation_functions import concat, reshape
from cubed.base._chunks import explicit_chunks
from cubed.base._types import NDArray
from cubed.blocks import _tree


def scan(
    array: Array,
    func: Callable[..., Any],
    *,
    preop: Callable[..., Any],
    binop: Callable[..., Any],
    axis: int | None,
    dtype: Any = None,
    include_initial: bool = False,
    split_every: int = 5,
) -> Array:
    """Computes running totals along an axis by user-defined functions.

    Parameters
    ----------
    array : Array
        A lazy array.
    func : callable
        ``func(block, axis=)`` returns the running totals of a block. Example: `numpy.cumsum`.
    preop : callable
        ``preop(block, axis=, keepdims=True)`` returns the total of a block. Example: `numpy.sum`.
        With `include_initial` it is also called for an empty block, to get the total of no
        elements.
    binop : callable
        ``binop(before, after)`` combines two totals. Example: `numpy.add`.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    dtype : dtype or None
        Type of the totals. None: found by calling `func` with a block of one element.
    include_initial : bool, default False
        Whether the result begins with the total of no elements and does not contain the last total,
        which is that of all elements.
    split_every : int, dict or None, default 5
        Ignored, for compatibility.

    Returns
    -------
    Array
        Same shape as `array`, or one axis if `axis` is None. Lazy.

    Raises
    ------
    IndexError
        The array has no such axis.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.ops import scan
    >>> x = cubed.arange(6, chunks=2)
    >>> scan(x, np.cumsum, preop=np.sum, binop=np.add, axis=0).compute()
    array([ 0,  1,  3,  6, 10, 15])
    """
    if axis is None:
        array, axis = reshape(array, (-1,)), 0
    axis = normalize_axis("scan", axis, array.ndim)
    out = _tree.scan(func, binop, 0, array, axis, dtype)
    if not include_initial:
        return out
    rest = (*(slice(None),) * axis, slice(0, max(0, array.shape[axis] - 1)))
    empty = np.empty([0 if d == axis else n for d, n in enumerate(array.chunksize)], array.dtype)
    first = np.unique(preop(empty, axis=axis, keepdims=True))
    shape = tuple(min(1, n) if d == axis else n for d, n in enumerate(array.shape))
    if len(first) != 1:
        raise ValueError(f"preop returns {first} for an empty block, expected one value")
    initial = full(shape, first[0], dtype=out.dtype, spec=array._spec)
    return concat([initial, out[rest]], axis=axis).rechunk(array.chunks)


def index(x: Array, key: Any) -> Array:
    """Returns ``x[key]``.

    Parameters
    ----------
    x : Array
        The array.
    key : object
        The index, as in ``x[key]``.

    Returns
    -------
    Array
        The selected elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> from cubed.core.indexing import index
    >>> index(cubed.arange(5), slice(3)).compute()
    array([0, 1, 2])
    """
    return x[key]


def normalize_chunks(
    chunks: Any,
    shape: Sequence[int] | None = None,
    limit: int | str | None = None,
    dtype: Any = None,
    previous_chunks: Any = None,
) -> tuple[tuple[int, ...], ...]:
    """Returns the extents of all chunks, axis by axis.

    Parameters
    ----------
    chunks : int, tuple, str or None
        As for :func:`cubed.rechunk`, or the extents themselves.
    shape : int or tuple of int or None
        Shape of the array. May be None only if `chunks` are the extents of all chunks.
    limit : int, str or None
        Maximum size of a chunk in bytes if axes are ``"auto"``; default: 128 MiB.
    dtype : dtype or None
        Type of the array; needed for ``"auto"``.
    previous_chunks : tuple or None
        Present chunks, or chunks of a store: automatic extents are multiples of them.

    Returns
    -------
    tuple of tuple of int
        For each axis the extents of its chunks. Computes nothing.

    Raises
    ------
    ValueError
        Chunks do not fit the shape, or ``"auto"`` is given without a type.

    Examples
    --------
    >>> import cubed
    >>> from cubed.vendor.dask.array.core import normalize_chunks
    >>> normalize_chunks((2, -1), shape=(5, 3))
    ((2, 2, 1), (3,))
    """
    itemsize = None if dtype is None else max(1, np.dtype(dtype).itemsize)
    return explicit_chunks(chunks, shape, itemsize, limit, previous_chunks)


def validate_axis(
    axis: SupportsIndex | Sequence[SupportsIndex], ndim: int
) -> int | tuple[int, ...]:
    """Converts axes to indices that are not negative.

    Parameters
    ----------
    axis : int or tuple of int
        One axis or several; negative axes are counted from the last one.
    ndim : int
        Number of axes of the array.

    Returns
    -------
    int or tuple of int
        An integer for one axis, a tuple for several.

    Raises
    ------
    numpy.exceptions.AxisError
        The array has no such axis.

    Examples
    --------
    >>> from cubed.vendor.dask.array.utils import validate_axis
    >>> validate_axis(-1, 3), validate_axis((0, -2), 3)
    (2, (0, 1))
    """
    if isinstance(axis, (tuple, list)):
        return tuple(normalize_axis("validate_axis", a, ndim) for a in axis)
    return normalize_axis("validate_axis", axis, ndim)  # type: ignore[arg-type]


def backend_array_to_numpy_array(arr: Any) -> NDArray:
    """Returns the argument: blocks of functions are already NumPy's arrays.

    Parameters
    ----------
    arr : array_like
        The values.

    Returns
    -------
    numpy.ndarray
        The same memory if the argument is a NumPy array.

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
    """Converts a NumPy array to the form that functions on blocks get: unchanged, or cast.

    Parameters
    ----------
    arr : array_like
        The values.
    dtype : dtype or None
        Type of the result; None: the type of `arr`.

    Returns
    -------
    numpy.ndarray
        The same memory if the type does not change.

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
    """Converts a type to NumPy's.

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
