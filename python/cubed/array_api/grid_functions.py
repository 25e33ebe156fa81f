"""Positions on grids, and functions of positions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._cores import in_chunks, is_auto
from cubed.array._first import computes_first
from cubed.array._neighbours import refuse_foreign
from cubed.array_api._elementwise import elemwise
from cubed.array_api.creation_functions import arange, ones, spaced, tril
from cubed.array_api.manipulation_functions import (
    stack,
)
from cubed.array_api.searching_functions import nonzero
from cubed.base._chunks import Shape, longest, normalize_chunks, normalize_shape
from cubed.base._dtypes import name_of
from cubed.base._types import ChunksLike, DTypeLike
from cubed.functions._calls import type_for
from cubed.functions.grids import meshgrid, ravel_multi_index
from cubed.io._create import as_lazy, asarray
from cubed.spec import Spec

__all__ = [
    "diag_indices", "fromfunction", "geomspace", "indices", "ix_", "logspace", "ravel_multi_index",
    "tri", "tril_indices", "triu_indices",
]  # fmt: skip


def _coordinates(
    shape: tuple[int, ...], dtype: DTypeLike, chunks: ChunksLike, spec: Spec | None
) -> list[Array]:
    """Returns for each axis of a shape an array of that shape with the positions along the axis."""
    sizes = normalize_chunks(chunks, shape, np.dtype(dtype).itemsize)
    made = _core.call("indices", shape, name_of(dtype), False, longest(sizes))
    return [Array._new(in_chunks(x, sizes), spec) for x in made]


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Creates powers of `base` with equally spaced exponents from start to stop.

    Parameters
    ----------
    start : number or array_like
        The first exponent.
    stop : number or array_like
        The end of the exponents; it is the last exponent if `endpoint` is true.
    num : int, default 50
        Number of elements along the axis.
    endpoint : bool, default True
        Whether `stop` is the last exponent.
    base : number or array_like, default 10.0
        Base of the powers.
    dtype : dtype or None
        Data type of the result's elements.
    axis : int, default 0
        Axis of the numbers in the result, if an argument is an array.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        As for :func:`linspace`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.logspace(0, 3, 4).compute()
    array([   1.,   10.,  100., 1000.])
    """
    return spaced("logspace", start, stop, num, endpoint, base, dtype, axis, chunks, spec)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Creates `num` numbers from start to stop with a constant ratio.

    Parameters
    ----------
    start : number or array_like
        The first number.
    stop : number or array_like
        The end of the interval; it is the last number if `endpoint` is true.
    num : int, default 50
        Number of elements along the axis.
    endpoint : bool, default True
        Whether `stop` is the last number.
    dtype : dtype or None
        Data type of the result's elements.
    axis : int, default 0
        Axis of the numbers in the result, if an argument is an array.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        As for :func:`linspace`. If an element of a lazy `start` or `stop` is zero, its numbers are
        NaN. Lazy.

    Raises
    ------
    ValueError
        `start` or `stop` is zero, or contains a zero.

    Examples
    --------
    >>> import cubed
    >>> cubed.geomspace(1, 1000, 4).compute()
    array([   1.,   10.,  100., 1000.])
    """
    refuse_foreign(start, stop)
    for name, x in (("start", start), ("stop", stop)):
        if not isinstance(x, Array) and not np.all(x):
            raise ValueError(f"{name} is {x!r}, expected numbers other than zero")
    return spaced("geomspace", start, stop, num, endpoint, None, dtype, axis, chunks, spec)


def indices(
    dimensions: Shape,
    dtype: DTypeLike = np.int64,
    sparse: bool = False,
    *,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Any:
    """Creates the positions along each axis of a grid.

    Parameters
    ----------
    dimensions : tuple of int
        The shape of the grid.
    dtype : dtype or None, default np.int64
        Data type of the result's elements.
    sparse : bool, default False
        Whether the array for an axis has extent 1 along all other axes.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array or tuple of Array
        Shape ``(ndim, *dimensions)``, with `chunks` along the axes of the grid. With `sparse`, a
        tuple of arrays that broadcast to the grid. Lazy.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.indices((2, 2))
    >>> columns.compute()
    array([[0, 1],
           [0, 1]])
    """
    shape = normalize_shape(dimensions, "dimensions")
    if not isinstance(sparse, (bool, np.bool_)):
        raise TypeError(f"indices: sparse is {sparse!r}, expected True or False")
    if sparse:
        made = _core.call("indices", shape, type_for(dtype), True)
        return tuple(Array._new(x, spec) for x in made)
    if not shape:
        return asarray(np.empty(0, dtype), spec=spec)
    return stack(_coordinates(shape, dtype, chunks, spec), axis=0)


def fromfunction(
    function: Callable[..., Any],
    shape: Shape,
    *,
    dtype: DTypeLike = float,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
    **kwargs: Any,
) -> Array:
    """Creates an array by a function of the positions of its elements.

    Parameters
    ----------
    function : Callable[..., Any]
        Called with the positions of a block's elements, one NumPy array of the block's shape for
        each axis. Returns the values of the block.
    shape : int or tuple of int
        Shape of the result.
    dtype : dtype or None, default float
        Data type of the positions.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        An array of shape `shape`, and of the type that the function returns. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fromfunction(lambda i, j: 10 * i + j, (2, 2), dtype=int).compute()
    array([[ 0,  1],
           [10, 11]])
    """
    extents = normalize_shape(shape)
    at = _coordinates(extents, dtype, chunks, spec)
    if not at:
        raise ValueError("fromfunction: the shape has no axis, expected at least one")
    return elemwise(function, *at, **kwargs)


def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    chunks: ChunksLike = "auto",
    *,
    spec: Spec | None = None,
) -> Array:
    """Creates a matrix with ones on and below the k-th diagonal, and zeros elsewhere.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int or None
        Number of columns; None: the number of rows.
    k : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.
    dtype : dtype or None, default float
        Data type of the result's elements.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        Shape ``(N, M)``, or ``(N, N)`` without `M`; float64 by default. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.tri(2).compute()
    array([[1., 0.],
           [1., 1.]])
    """
    shape = (max(0, N), max(0, N if M is None else M))
    return tril(ones(shape, dtype=dtype, chunks=chunks, spec=spec), k=k)


def _triangle(
    name: str, n: int, k: int, m: int | None, chunks: ChunksLike, spec: Spec | None
) -> tuple[Array, Array]:
    rows, columns = (Array._new(x, spec) for x in _core.call(name, n, k, m))
    if is_auto(chunks):
        return rows, columns
    return rows.rechunk(chunks), columns.rechunk(chunks)


def tril_indices(
    n: int, k: int = 0, m: int | None = None, chunks: ChunksLike = "auto", spec: Spec | None = None
) -> tuple[Array, Array]:
    """Creates the row and column indices of the lower triangle of a matrix, up to the k-th
    diagonal.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.
    m : int or None
        Number of columns; None: the number of rows.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    tuple[Array, Array]
        Two int64 arrays of one axis. Lazy; a task holds one number per row.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.tril_indices(2)
    >>> columns.compute()
    array([0, 0, 1])
    """
    return _triangle("tril_indices", n, k, m, chunks, spec)


def triu_indices(
    n: int, k: int = 0, m: int | None = None, chunks: ChunksLike = "auto", spec: Spec | None = None
) -> tuple[Array, Array]:
    """Creates the row and column indices of the upper triangle of a matrix, from the k-th diagonal
    on.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.
    m : int or None
        Number of columns; None: the number of rows.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    tuple[Array, Array]
        Two int64 arrays of one axis. Lazy; a task holds one number per row.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.triu_indices(2)
    >>> columns.compute()
    array([0, 1, 1])
    """
    return _triangle("triu_indices", n, k, m, chunks, spec)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Creates the indices of the main diagonal of an array with `ndim` axes of extent n.

    Parameters
    ----------
    n : int
        Extent of each axis.
    ndim : int, default 2
        Number of axes.

    Returns
    -------
    tuple of Array
        An int64 array of shape ``(n,)`` for each axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.diag_indices(2)
    >>> rows.compute()
    array([0, 1])
    """
    return tuple(arange(n) for _ in range(ndim))


@computes_first
def ix_(*args: Any) -> tuple[Array, ...]:
    """Reshapes vectors of positions so that they broadcast to a grid, each along its own axis.

    A mask stands for the positions of its true elements, which are counted immediately.

    Parameters
    ----------
    *args : array_like
        Vectors of positions, or masks.

    Returns
    -------
    tuple of Array
        One array for each vector, of its type; int64 for a mask. Lazy.

    Raises
    ------
    ValueError
        If an argument has more than one axis.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.ix_(cubed.asarray([0, 1]), cubed.asarray([2, 3]))
    >>> rows.shape, columns.shape
    ((2, 1), (1, 2))
    """
    out = []
    for k, arg in enumerate(args):
        x = as_lazy(arg)
        if x.ndim != 1:
            raise ValueError(f"ix_: argument {k} has {x.ndim} axes, expected 1")
        if x.size == 0:
            x = x.astype(np.int64)
        out.append(nonzero(x)[0] if x.dtype.kind == "b" else x)
    return meshgrid(*out, indexing="ij", sparse=True)
