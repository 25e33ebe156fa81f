"""Positions on grids: what they are, and functions of them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._cores import in_chunks
from cubed.array._first import computes_first
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import to_numpy
from cubed.array_api.creation_functions import arange, linspace, ones, spaced, tril
from cubed.array_api.elementwise_functions import add, clip, log10, remainder, sign, subtract
from cubed.array_api.indexing_functions import take
from cubed.array_api.manipulation_functions import (
    broadcast_to,
    concat,
    expand_dims,
    reshape,
    stack,
)
from cubed.array_api.searching_functions import nonzero, searchsorted, where
from cubed.array_api.statistical_functions import cumulative_sum
from cubed.base._chunks import Shape, longest, normalize_chunks, normalize_shape
from cubed.base._types import ChunksLike, DTypeLike
from cubed.io._create import as_lazy, asarray
from cubed.spec import Spec

__all__ = [
    "diag_indices", "fromfunction", "geomspace", "indices", "ix_", "logspace", "ravel_multi_index",
    "tri", "tril_indices", "triu_indices",
]  # fmt: skip


def _coordinates(
    shape: tuple[int, ...], dtype: DTypeLike, chunks: ChunksLike, spec: Spec | None
) -> list[Array]:
    """For each axis of a shape the positions along it, in that shape."""
    extents = normalize_chunks(chunks, shape, np.dtype(dtype).itemsize)
    flat = Array._new(in_chunks(_core.index(shape, longest(extents), 0), extents), spec)
    out, step = [], math.prod(shape)
    for n in shape:
        step //= max(1, n)
        at = flat // step if step > 1 else flat
        out.append((at % n if n > 1 else at * 0).astype(dtype))
    return out


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
    """`base` to the power of numbers that are equally spaced from start to stop.

    Parameters
    ----------
    start : number or array_like
        The first exponent.
    stop : number or array_like
        The last one, if `endpoint`.
    num : int, default 50
        How many numbers.
    endpoint : bool, default True
        Whether the last one is included.
    base : number or array_like, default 10.0
        What is raised to these powers.
    dtype : dtype or None
        Data type of the result's elements.
    axis : int, default 0
        Where the numbers are in the result, if something is an array.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        As of :func:`linspace`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.logspace(0, 3, 4).compute()
    array([   1.,   10.,  100., 1000.])
    """
    refuse_foreign(start, stop, base)
    if np.ndim(base):
        start = start + as_lazy(base) * 0  # of all axes
        base = expand_dims(broadcast_to(as_lazy(base), start.shape), axis=axis)
    powers = linspace(start, stop, num, endpoint=endpoint, axis=axis, chunks=chunks, spec=spec)
    out = as_lazy(base) ** powers
    return out if dtype is None else out.astype(dtype)


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
    """`num` numbers from start to stop, each the one before it times one factor.

    Parameters
    ----------
    start : number or array_like
        The first number.
    stop : number or array_like
        The last one, if `endpoint`.
    num : int, default 50
        How many numbers.
    endpoint : bool, default True
        Whether the last one is included.
    dtype : dtype or None
        Data type of the result's elements.
    axis : int, default 0
        Where the numbers are in the result, if something is an array.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        As of :func:`linspace`; NaN between elements of lazy arrays of which one is zero. Lazy.

    Raises
    ------
    ValueError
        start or stop is zero, or has a zero.

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
    a, b = (as_lazy(x) for x in (start, stop))
    inexact = np.result_type(a.dtype, b.dtype, np.float64, np.float64 if dtype is None else dtype)
    a, b = a.astype(inexact), b.astype(inexact)
    direction = sign(a)
    low, high = log10(a / direction), log10(b / direction)

    def numbers_at(at: Array, steps: int) -> Array:
        return where(at == 0, a, direction * 10.0 ** (low + at * ((high - low) / steps)))

    return spaced(a, b, num, numbers_at, endpoint, dtype, axis, chunks, spec)


def indices(
    dimensions: Shape,
    dtype: DTypeLike = np.int64,
    sparse: bool = False,
    *,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Any:
    """The positions along each axis of a grid.

    Parameters
    ----------
    dimensions : tuple of int
        The shape.
    dtype : dtype or None, default np.int64
        Data type of the result's elements.
    sparse : bool, default False
        Whether each has extent 1 along the others' axes.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array or tuple of Array
        ``(ndim, *dimensions)``, in `chunks` of the grid; with `sparse` a tuple of arrays that
        broadcast to the grid. Lazy.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.indices((2, 2))
    >>> columns.compute()
    array([[0, 1],
           [0, 1]])
    """
    shape = normalize_shape(dimensions, "dimensions")
    if sparse:
        n = len(shape)
        lines = [arange(extent, dtype=dtype, spec=spec) for extent in shape]
        return tuple(
            reshape(x, tuple(-1 if k == d else 1 for k in range(n))) for d, x in enumerate(lines)
        )
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
    """A function of positions.

    Parameters
    ----------
    function : Callable[..., Any]
        Gets for each axis the positions of a block's elements along it, as NumPy arrays of the
        block's shape, and returns the block.
    shape : int or tuple of int
        Of the result.
    dtype : dtype or None, default float
        Of the positions.
    chunks : int, tuple, str or None, default "auto"
        Of the result.
    spec : Spec or None
        Of the result.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        Of the type that the function returns. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.fromfunction(lambda i, j: 10 * i + j, (2, 2), dtype=int).compute()
    array([[ 0,  1],
           [10, 11]])
    """
    from cubed.array._elements import elemwise  # late: takes a while

    extents = normalize_shape(shape)
    at = _coordinates(extents, dtype, chunks, spec)
    if not at:
        raise ValueError("fromfunction: the shape has no axis, expected one at least")
    return elemwise(function, *at, **kwargs)


def tri(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: DTypeLike = float,
    *,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Ones up to the diagonal that is k right of the main one, and zeros.

    Parameters
    ----------
    N : int
        Number of rows.
    M : int or None
        Number of columns; None: as many as rows.
    k : int, default 0
        The diagonal: 0 is the main one, 1 the one above it.
    dtype : dtype or None, default float
        Data type of the result's elements.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        ``(N, M)``, square without M; float64 by default. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.tri(2).compute()
    array([[1., 0.],
           [1., 1.]])
    """
    shape = (max(0, N), max(0, N if M is None else M))
    return tril(ones(shape, dtype=dtype, chunks=chunks, spec=spec), k=k)


def _below(n: int, m: int, k: int) -> int:
    """Elements of an (n, m) matrix up to the diagonal k right of the main one."""
    first = min(n, max(0, -k))
    full = min(n, max(first, m - k))
    return (full - first) * (first + full + 1 + 2 * k) // 2 + (n - full) * m


def _triangle(
    n: int, m: int | None, k: int, upper: bool, chunks: ChunksLike, spec: Spec | None
) -> tuple[Array, Array]:
    rows, columns = operator.index(n), operator.index(n if m is None else m)
    if rows < 0 or columns < 0:
        raise ValueError(f"a matrix of {rows} rows and {columns} columns")
    total = _below(rows, columns, k - 1 if upper else k)
    total = rows * columns - total if upper else total
    if total == 0:
        empty = arange(0, chunks=chunks, spec=spec)
        return empty, empty.copy()
    edge = clip(add(arange(rows, spec=spec), k if upper else k + 1), 0, columns)  # of each row
    ends = cumulative_sum(subtract(columns, edge) if upper else edge)
    at = arange(total, chunks=chunks, spec=spec)
    row = searchsorted(ends, at, side="right")
    starts = concat([arange(1, spec=spec) * 0, ends[:-1]], axis=0)
    column = subtract(at, take(starts, row, axis=0))
    column = add(column, take(edge, row, axis=0)) if upper else column
    return row, column if column.chunks == row.chunks else column.rechunk(row.chunks)


def tril_indices(
    n: int, k: int = 0, m: int | None = None, chunks: ChunksLike = "auto", spec: Spec | None = None
) -> tuple[Array, Array]:
    """Rows and columns of the lower triangle of an ``(n, m)`` matrix (square without m), with the
    diagonal k right of the main one.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, default 0
        The diagonal: 0 is the main one, 1 the one above it.
    m : int or None
        Number of columns; None: as many as rows.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    tuple[Array, Array]
        Two int64 arrays of one axis. Lazy; a task holds a number for each row.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.tril_indices(2)
    >>> columns.compute()
    array([0, 0, 1])
    """
    return _triangle(n, m, k, False, chunks, spec)


def triu_indices(
    n: int, k: int = 0, m: int | None = None, chunks: ChunksLike = "auto", spec: Spec | None = None
) -> tuple[Array, Array]:
    """Rows and columns of the upper triangle of an ``(n, m)`` matrix (square without m), with the
    diagonal k right of the main one.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, default 0
        The diagonal: 0 is the main one, 1 the one above it.
    m : int or None
        Number of columns; None: as many as rows.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    tuple[Array, Array]
        Two int64 arrays of one axis. Lazy; a task holds a number for each row.

    Examples
    --------
    >>> import cubed
    >>> rows, columns = cubed.triu_indices(2)
    >>> columns.compute()
    array([0, 1, 1])
    """
    return _triangle(n, m, k, True, chunks, spec)


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """Positions of the main diagonal of an array of `ndim` axes of extent n.

    Parameters
    ----------
    n : int
        Extent of each axis.
    ndim : int, default 2
        Number of axes.

    Returns
    -------
    tuple of Array
        For each axis int64, ``(n,)``. Lazy.

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
    """Vectors of positions, each along an axis of its own of one grid. A mask is its positions,
    which are counted now.

    Parameters
    ----------
    *args : array_like
        Arrays, and other arguments.

    Returns
    -------
    tuple of Array
        Of the types of the vectors, int64 of a mask. Lazy.

    Raises
    ------
    ValueError
        For more than one axis.

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
        if x.dtype.kind == "b":
            x = nonzero(x)[0]
        out.append(expand_dims(x, tuple(d for d in range(len(args)) if d != k)))
    return tuple(out)


def ravel_multi_index(
    multi_index: Any, dims: Sequence[int], mode: Any = "raise", order: str = "C"
) -> Array:
    """Positions in a flattened array, of positions along each axis of its shape.

    Parameters
    ----------
    multi_index : Any
        For each axis integers, which broadcast; of one array its first axis.
    dims : sequence of int
        The shape.
    mode : str, default "raise"
        What is done with positions out of range: ``"wrap"``, ``"clip"``, or ``"raise"``, with which
        they are not checked; or one for each axis.
    order : str, default "C"
        ``"C"``: the last axis is the fastest, or ``"F"``: the first one.

    Returns
    -------
    Array
        int64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ravel_multi_index((cubed.asarray([0, 1]), cubed.asarray([1, 2])), (2, 3)).compute()
    array([1, 5])
    """
    extents = tuple(operator.index(n) for n in to_numpy(dims).tolist())
    at: list[Any] = (
        [multi_index[k] for k in range(len(multi_index))]
        if isinstance(multi_index, Array)
        else list(multi_index)
    )
    if len(at) != len(extents) or not at:
        raise ValueError(f"ravel_multi_index: {len(at)} positions for {len(extents)} axes")
    if order not in ("C", "F"):
        raise ValueError(f"ravel_multi_index: order is {order!r}, expected 'C' or 'F'")
    modes = (mode,) * len(at) if isinstance(mode, str) else tuple(mode)
    if len(modes) != len(at) or set(modes) - {"raise", "wrap", "clip"}:
        raise ValueError(f"ravel_multi_index: mode is {mode!r}, expected 'raise', 'wrap' or 'clip'")
    out, step = None, 1
    axes = range(len(at)) if order == "F" else reversed(range(len(at)))
    for k in axes:
        x = as_lazy(at[k])
        if x.dtype.kind not in "iu":
            raise TypeError(f"ravel_multi_index: positions are {x.dtype}, expected integers")
        x = x.astype(np.int64)
        if modes[k] == "wrap":
            x = remainder(x, extents[k])
        elif modes[k] == "clip":
            x = clip(x, 0, extents[k] - 1)
        term = x * step
        out = term if out is None else add(out, term)
        step *= extents[k]
    assert out is not None
    return out
