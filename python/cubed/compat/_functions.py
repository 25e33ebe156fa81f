"""Functions of Cubed for Python that this package does by other means."""

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
    """Running totals along an axis by functions.

    Parameters
    ----------
    array : Array
        A lazy array.
    func : callable
        ``func(block, axis=)`` gives the running totals of a block, such as `numpy.cumsum`.
    preop : callable
        ``preop(block, axis=, keepdims=True)`` gives the total of a block, such as `numpy.sum`.
        With `include_initial` it is also called for the total of no elements.
    binop : callable
        ``binop(before, after)`` joins totals, such as `numpy.add`.
    axis : int or None
        None: array in one dimension.
    dtype : dtype or None
        Type of the totals. None: found by calling `func` with a block of one element.
    include_initial : bool, default False
        Whether the totals begin with the total of no elements, and omit the last total.
    split_every : int, dict or None, default 5
        For compatibility.

    Returns
    -------
    Array
        Of the array's shape; lazy.

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
    axis = normalize_axis(axis, array.ndim)
    out = _tree.scan(func, binop, 0, array, axis, dtype)
    if not include_initial:
        return out
    rest = (*(slice(None),) * axis, slice(0, max(0, array.shape[axis] - 1)))
    empty = np.empty([0 if d == axis else n for d, n in enumerate(array.chunksize)], array.dtype)
    first = np.unique(preop(empty, axis=axis, keepdims=True))
    shape = tuple(min(1, n) if d == axis else n for d, n in enumerate(array.shape))
    if len(first) != 1:
        raise ValueError(f"preop gives {first} of nothing, expected one value")
    initial = full(shape, first[0], dtype=out.dtype, spec=array._spec)
    return concat([initial, out[rest]], axis=axis).rechunk(array.chunks)


def index(x: Array, key: Any) -> Array:
    """``x[key]``; lazy as that is.

    Parameters
    ----------
    x : Array
        The array.
    key : object
        The index, as in ``x[key]``.

    Returns
    -------
    Array
        Of the selected elements. Lazy.

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
    """The extents of all chunks, axis by axis.

    Parameters
    ----------
    chunks : int, tuple, str or None
        As for :func:`cubed.rechunk`, or the extents themselves.
    shape : int or tuple of int or None
        Of the array; only extents of all chunks can do without.
    limit : int, str or None
        Bytes that a chunk has at most where axes are ``"auto"``; default: 128 MiB.
    dtype : dtype or None
        Of the array; ``"auto"`` needs it.
    previous_chunks : tuple or None
        Chunks so far, or those of a store: automatic extents are multiples of them.

    Returns
    -------
    tuple of tuple of int
        For each axis the extents of its chunks. Computes nothing.

    Raises
    ------
    ValueError
        Chunks do not belong to the shape; ``"auto"`` without a type.

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
    """Axes counted from the first one.

    Parameters
    ----------
    axis : int or tuple of int
        Which axes; those below 0 are counted from the last one.
    ndim : int
        How many there are.

    Returns
    -------
    int or tuple of int
        One for one, a tuple for several.

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
        return tuple(normalize_axis(a, ndim) for a in axis)
    return normalize_axis(axis, ndim)  # type: ignore[arg-type]


def backend_array_to_numpy_array(arr: Any) -> NDArray:
    """Returns the argument: blocks of functions are already NumPy's arrays.

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
