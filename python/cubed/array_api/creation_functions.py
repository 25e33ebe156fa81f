"""Creation of arrays from values, shapes and ranges.

`chunks` are as for :func:`cubed.rechunk`; ``"auto"`` makes chunks of about 128 MiB.
"""

from __future__ import annotations

import builtins
import math
import numbers
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._cores import core_from_numpy, describe, engine_chunks, in_chunks, is_auto
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import check_device, common_spec, lazy
from cubed.base._chunks import Shape, longest, normalize_chunks, normalize_shape
from cubed.base._dtypes import name_of, packed, shortest
from cubed.base._types import ChunksLike, DTypeLike, NDArray
from cubed.functions._calls import operand, type_for
from cubed.functions.grids import meshgrid
from cubed.functions.manipulation import tril, triu
from cubed.io import _create
from cubed.spec import Spec

__all__ = [
    "arange", "asanyarray", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full",
    "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def check_order(name: str, order: str | None) -> None:
    """Raises ValueError for an unknown memory order. The order has no effect on values."""
    if order not in ("C", "F", "A", "K", None):
        raise ValueError(f"{name}: order is {order!r}, expected 'C', 'F', 'A', 'K' or None")


def arange(
    start: float,
    /,
    stop: float | None = None,
    step: float = 1,
    *,
    dtype: DTypeLike = None,
    device: str | None = None,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Creates the numbers start, start + step, ... up to but not including stop.

    Parameters
    ----------
    start : number
        The first number, or the end if there is no `stop`.
    stop : number or None
        The end of the range, which is not included.
    step : number, default 1
        The difference between neighbouring numbers.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of one axis. Its type is int64 if all three numbers are integers, otherwise float64
        (also if one is a `numpy.uint64`, as in NumPy). Element k is ``start + k * step``: exact for
        integers, otherwise rounded to float64, and then cast to `dtype`. Lazy.

    Raises
    ------
    OverflowError
        If one of the first two elements is beyond the range of an integer type.

    Examples
    --------
    >>> import cubed
    >>> cubed.arange(0, 10, 3, chunks=2).compute()
    array([0, 3, 6, 9])
    """
    check_device(device)
    if stop is None:
        start, stop = 0, start
    for name, value in (("start", start), ("stop", stop), ("step", step)):
        if not isinstance(value, numbers.Real):
            raise TypeError(f"arange: {name} is {value!r}, expected a real number")
    if step == 0:
        raise ValueError("arange: step is 0, expected another number")
    whole = all(isinstance(v, (int, np.integer)) for v in (start, stop, step))
    if dtype is None:
        signed = whole and not any(isinstance(v, np.uint64) for v in (start, stop, step))
        dtype = np.int64 if signed else np.float64
    d = np.dtype(dtype)
    if whole:
        start, step = int(start), int(step)
        n = max(0, -((start - int(stop)) // step))
    else:
        n = max(0, math.ceil((stop - start) / step))
    if n > _MOST:
        raise ValueError(f"arange: from {start} to {stop} by {step} are {n} elements: too many")
    if d.kind in "iu":
        _check_first(d, start, step, n)
    extents = normalize_chunks(chunks, (n,), d.itemsize)
    if whole and n:
        # Integers that are computed modulo 2**64 are exact. For other ranges, the last element must
        # fit into int64.
        last = start + (n - 1) * step
        whole = d.kind in "iu" or max(builtins.abs(start), builtins.abs(last)) < 2**63
    if whole:
        out = _core.ramp("int64", _wrapped(start), _wrapped(step), n, name_of(d), longest(extents))
    else:
        out = _core.ramp("float64", float(start), float(step), n, name_of(d), longest(extents))
    return Array._new(in_chunks(out, extents, chunks), spec)


_MOST = 2**60  # elements of an axis


def _check_first(dtype: np.dtype[Any], start: Any, step: Any, n: int) -> None:
    """Raises OverflowError, like NumPy, if the type cannot represent one of the first two
    elements."""
    info = np.iinfo(dtype)
    for value in (start, start + step)[:n]:
        if not info.min <= int(value) <= info.max:
            raise OverflowError(f"arange: {value} is out of bounds for {dtype}")


def _wrapped(value: float) -> int:
    """Returns an integer modulo 2**64 as a value of int64."""
    return (int(value) + 2**63) % 2**64 - 2**63


def asarray(
    obj: Any,
    /,
    *,
    dtype: DTypeLike = None,
    device: str | None = None,
    order: str | None = None,
    copy: bool | None = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
) -> Array:
    """Converts an array, a scalar or nested sequences of them to a lazy array.

    Parameters
    ----------
    obj : array_like
        An array, a scalar, or nested sequences of them. The labels of Xarray's objects are dropped.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    copy : bool or None
        Whether to copy memory; False: an error if a copy is necessary.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of the shape of `obj`, of type `dtype` or the type that NumPy gives the values.
        Memory of NumPy's arrays is read when a result is computed, unless `copy` is true. Lazy
        arrays in nested sequences are computed immediately.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1, 2], [3, 4]], chunks=(1, 2))
    >>> x.chunks
    ((1, 1), (2,))
    >>> x.compute()
    array([[1, 2],
           [3, 4]])
    """
    check_device(device)
    check_order("asarray", order)
    return _create.asarray(obj, dtype, copy, chunks, spec)


def asanyarray(
    obj: Any,
    /,
    dtype: DTypeLike = None,
    order: str | None = None,
    *,
    device: str | None = None,
    copy: bool | None = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
) -> Array:
    """Converts an object to a lazy array; the same as :func:`cubed.asarray`.

    Parameters
    ----------
    obj : array_like
        An array, a scalar, or nested sequences of them.
    dtype : dtype or None
        Data type of the result's elements.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    copy : bool or None
        Whether to copy memory; False: an error if a copy is necessary.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        The result of :func:`cubed.asarray`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.asanyarray([1, 2]).compute()
    array([1, 2])
    """
    check_device(device)
    check_order("asanyarray", order)
    return _create.asarray(obj, dtype, copy, chunks, spec)


def empty(
    shape: Shape,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Creates an array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the result.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `shape`, type `dtype` (default: float64) and chunks `chunks`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.empty((2, 3), dtype=int, chunks=(1, 3))
    >>> x.chunksize
    (1, 3)
    >>> x.compute()
    array([[0, 0, 0],
           [0, 0, 0]])
    """
    check_order("empty", order)
    d = dtype or np.float64
    return full(shape, _zero(d), dtype=d, device=device, chunks=chunks, spec=spec)


def empty_like(
    x: Array,
    /,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
    shape: Shape | None = None,
) -> Array:
    """Creates zeros with x's shape and chunks.

    Parameters
    ----------
    x : Array
        Input array.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.
    shape : int or tuple of int or None
        Shape of the result.

    Returns
    -------
    Array
        Same shape as `x`, with the type of `x` unless `dtype` is given. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.empty_like(cubed.asarray([1.5, 2.5])).compute()
    array([0., 0.])
    """
    check_order("empty_like", order)
    d = lazy(x).dtype if dtype is None else dtype
    return full_like(x, _zero(d), dtype=d, device=device, chunks=chunks, spec=spec, shape=shape)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    k: int = 0,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    M: int | None = None,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Creates a matrix with ones on the k-th diagonal, and zeros elsewhere.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_cols : int or None
        Number of columns; None: the number of rows.
    k : int, default 0
        Number of the diagonal: 0 is the main diagonal, 1 the one above, -1 the one below.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    M : int or None
        NumPy's name of `n_cols`.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        ``(n_rows, n_cols)``, float64 by default. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.eye(2, 3, k=1).compute()
    array([[0., 1., 0.],
           [0., 0., 1.]])
    """
    check_device(device)
    check_order("eye", order)
    if M is not None:
        if n_cols is not None:
            raise TypeError(f"eye: n_cols is {n_cols} and M is {M}, expected one of them")
        n_cols = M
    columns = n_rows if n_cols is None else n_cols
    d = np.dtype(np.float64 if dtype is None else dtype)
    extents = normalize_chunks(chunks, (n_rows, columns), d.itemsize)
    k = max(-n_rows, min(k, columns))  # diagonals further from the main one are also empty
    out = _core.call("eye", n_rows, columns, k, name_of(d), None, longest(extents))
    return Array._new(in_chunks(out, extents, chunks), spec)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> Array:
    """Creates an array over the memory of an object with ``__dlpack__``.

    Parameters
    ----------
    x : object
        An object with the method ``__dlpack__``.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    copy : bool or None
        Whether to copy memory; False: an error if a copy is necessary.

    Returns
    -------
    Array
        An array of the object's shape and type, in one chunk. Its memory is read when a result is
        computed. A lazy array is returned unchanged.

    Raises
    ------
    BufferError
        If the memory does not belong to the CPU.
    TypeError
        If the object has no ``__dlpack__``.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> cubed.from_dlpack(np.arange(3)).compute()
    array([0, 1, 2])
    """
    check_device(device)
    if isinstance(x, Array):
        return x
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"from_dlpack of {type(x).__name__}, which has no __dlpack__: use asarray")
    values = np.from_dlpack(x)
    return Array._new(core_from_numpy(values.copy() if copy else values, None), None)


def full(
    shape: Shape,
    fill_value: Any,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Creates an array whose elements all have one value.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the result.
    fill_value : scalar
        The value.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `shape`, type `dtype` (default: the type of the value) and chunks
        `chunks`. Lazy.

    Raises
    ------
    TypeError
        If the value cannot be converted to `dtype`.

    Examples
    --------
    >>> import cubed
    >>> cubed.full((2, 2), 7.5).compute()
    array([[7.5, 7.5],
           [7.5, 7.5]])
    """
    check_device(device)
    check_order("full", order)
    if isinstance(fill_value, Array):
        fill_value = fill_value.item()
    elif isinstance(fill_value, np.ndarray) and fill_value.ndim == 0:
        fill_value = fill_value[()]
    if dtype is None:
        dtype = _type_of(fill_value)
    d = np.dtype(dtype)
    if d.kind in "SU":
        fill_value = _text(fill_value, d)
        d = fill_value.dtype
    elif d.names:
        d = packed(d)
        fill_value = np.asarray(fill_value, d)
    elif d.kind not in "mM":
        _check_number(fill_value, d)
    extents = normalize_shape(shape)
    value = fill_value.item() if isinstance(fill_value, np.generic) else fill_value
    if d.kind in "iu" and isinstance(value, float):
        value = int(value)
    sizes = normalize_chunks(chunks, extents, d.itemsize)
    if d.kind in "mM":
        if isinstance(value, int):
            fill_value = np.int64(value)  # raises OverflowError beyond int64
        number = int(np.asarray(fill_value).astype(d).view(np.int64))
        out = _core.call("astype", _core.full("int64", extents, longest(sizes), number), name_of(d))
    elif d.kind in "SUV":
        name = name_of(d)
        out = _core.full(name, extents, longest(sizes), fill_value.tobytes())
        describe(out, name)
    else:
        out = _core.full(name_of(d), extents, longest(sizes), value)
    return Array._new(in_chunks(out, sizes, chunks), spec)


def _text(value: Any, dtype: np.dtype[Any]) -> NDArray:
    """Converts a value to NumPy's string, truncated to the type's length, in native byte order."""
    own = shortest(dtype.newbyteorder("="))
    if not isinstance(value, (str, bytes, bool, int, float, complex, np.generic)):
        raise TypeError(f"fill_value is {value!r}, expected a string of type {own}, or a number")
    return np.array(value).astype(own)


def _zero(dtype: DTypeLike) -> Any:
    """Returns the zero of a type: the empty string, or a record of the zeros of its fields."""
    return np.zeros((), dtype)[()] if np.dtype(dtype).kind in "SUV" else 0


def _check_number(value: Any, dtype: np.dtype[Any]) -> None:
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        raise TypeError(f"fill_value is {value!r}, expected a number")
    if isinstance(value, (complex, np.complexfloating)) and dtype.kind != "c":
        raise TypeError(f"fill_value is {value!r}, expected a number that {dtype} has")


def _type_of(value: Any) -> np.dtype[Any]:
    if isinstance(value, (np.generic, str, bytes)):
        return np.asarray(value).dtype
    for python, name in ((bool, "bool"), (int, "int64"), (float, "float64")):
        if isinstance(value, python):
            return np.dtype(name)
    return np.dtype("complex128")


def full_like(
    x: Array,
    /,
    fill_value: Any,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
    shape: Shape | None = None,
) -> Array:
    """Creates an array of one value with x's shape, type and chunks.

    Parameters
    ----------
    x : Array
        Input array.
    fill_value : scalar
        The value.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.
    shape : int, sequence of int or None
        Another shape, in automatic chunks; None: x's.

    Returns
    -------
    Array
        Same shape as `x`, with the type of `x` unless `dtype` is given. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.full_like(cubed.asarray([1, 2]), 7).compute()
    array([7, 7])
    """
    check_order("full_like", order)
    x = lazy(x)
    own = engine_chunks(x._x) if shape is None else "auto"
    return full(
        x.shape if shape is None else shape,
        fill_value,
        dtype=x.dtype if dtype is None else dtype,
        device=device,
        chunks=own if chunks is None else chunks,
        spec=x._spec if spec is None else spec,
    )


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: str | None = None,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Any:
    """Creates `num` equally spaced numbers from start to stop.

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
    retstep : bool, default False
        Whether to return the difference of neighbouring numbers as well.
    dtype : dtype or None
        Data type of the result's elements.
    axis : int, default 0
        Axis of the numbers in the result, if `start` or `stop` is an array.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array or tuple
        Shape ``(num,)``, plus the axes of `start` and `stop`. float64 or complex128 by default;
        numbers of integer types are rounded down. Lazy. With `retstep`, a pair of this array and
        the difference. The difference is lazy if `start` or `stop` is lazy, and NaN if there are
        fewer than two numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.linspace(0, 1, 5).compute()
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    check_device(device)
    numbers = spaced("linspace", start, stop, num, endpoint, None, dtype, axis, chunks, spec)
    if not retstep:
        return numbers
    steps = num - 1 if endpoint else num
    if steps < 1:
        return numbers, math.nan
    if isinstance(start, Array) or isinstance(stop, Array):
        return numbers, (stop - start) / steps
    first, last = np.asarray(start), np.asarray(stop)
    return numbers, np.subtract(last, first, dtype=np.result_type(first, last, 1.0)) / steps


def spaced(
    name: str,
    start: Any,
    stop: Any,
    num: int,
    endpoint: bool,
    base: Any,
    dtype: DTypeLike,
    axis: int,
    chunks: ChunksLike,
    spec: Spec | None,
) -> Array:
    """Returns the result of linspace, logspace or geomspace.

    `name` is the function. `base` is None except for logspace.
    """
    refuse_foreign(start, stop, base)
    (num,) = normalize_shape(num, "num")
    a, b, root = (_number_or_core(x) for x in (start, stop, base))
    of_arrays = name == "geomspace" or any(isinstance(x, _core.Array) for x in (a, b, root))
    d = type_for(dtype) or ("complex128" if any(isinstance(x, complex) for x in (a, b)) else None)
    sizes = normalize_chunks("auto" if of_arrays else chunks, (max(0, num),), np.dtype(d).itemsize)
    lengths = None if of_arrays else longest(sizes)
    if name == "linspace":
        out = _core.call(name, a, b, num, d, None, endpoint, axis, lengths)
    else:
        roots = [] if base is None else [root]
        out = _core.call(name, a, b, num, endpoint, *roots, d, axis, lengths)
    of = common_spec(start, stop, base) if spec is None else spec
    if not of_arrays:
        return Array._new(in_chunks(out, sizes, chunks), of)
    return Array._new(out, of) if is_auto(chunks) else Array._new(out, of).rechunk(chunks)


def _number_or_core(x: Any) -> Any:
    """Returns a number for NumPy's scalars and arrays without axes, otherwise operand(x)."""
    return x.item() if isinstance(x, (np.generic, np.ndarray)) and np.ndim(x) == 0 else operand(x)


def ones(
    shape: Shape,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Creates an array of ones.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the result.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `shape`, type `dtype` (default: float64) and chunks `chunks`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones((2, 3), dtype=int, chunks=(1, 3))
    >>> x.chunksize
    (1, 3)
    >>> x.compute()
    array([[1, 1, 1],
           [1, 1, 1]])
    """
    check_order("ones", order)
    return full(shape, 1, dtype=dtype or np.float64, device=device, chunks=chunks, spec=spec)


def ones_like(
    x: Array,
    /,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
    shape: Shape | None = None,
) -> Array:
    """Creates ones with x's shape and chunks.

    Parameters
    ----------
    x : Array
        Input array.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.
    shape : int or tuple of int or None
        Shape of the result.

    Returns
    -------
    Array
        Same shape as `x`, with the type of `x` unless `dtype` is given. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.ones_like(cubed.asarray([1.5, 2.5])).compute()
    array([1., 1.])
    """
    check_order("ones_like", order)
    return full_like(x, 1, dtype=dtype, device=device, chunks=chunks, spec=spec, shape=shape)


def zeros(
    shape: Shape,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    chunks: ChunksLike = "auto",
    spec: Spec | None = None,
) -> Array:
    """Creates an array of zeros.

    Parameters
    ----------
    shape : int or tuple of int
        Shape of the result.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.

    Returns
    -------
    Array
        An array of shape `shape`, type `dtype` (default: float64) and chunks `chunks`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.zeros((2, 3), dtype=int, chunks=(1, 3))
    >>> x.chunksize
    (1, 3)
    >>> x.compute()
    array([[0, 0, 0],
           [0, 0, 0]])
    """
    check_order("zeros", order)
    d = dtype or np.float64
    return full(shape, _zero(d), dtype=d, device=device, chunks=chunks, spec=spec)


def zeros_like(
    x: Array,
    /,
    dtype: DTypeLike = None,
    *,
    device: str | None = None,
    order: str | None = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
    shape: Shape | None = None,
) -> Array:
    """Creates zeros with x's shape and chunks.

    Parameters
    ----------
    x : Array
        Input array.
    dtype : dtype or None
        Data type of the result's elements.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    order : {"C", "F", "A", "K"} or None
        For compatibility: the memory of results is always in C order.
    chunks : int, tuple, str or None
        Chunks of the result, see :func:`cubed.rechunk`.
    spec : Spec or None
        Resources of computations, such as `allowed_mem`; None: as configured.
    shape : int or tuple of int or None
        Shape of the result.

    Returns
    -------
    Array
        Same shape as `x`, with the type of `x` unless `dtype` is given. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.zeros_like(cubed.asarray([1.5, 2.5])).compute()
    array([0., 0.])
    """
    check_order("zeros_like", order)
    d = lazy(x).dtype if dtype is None else dtype
    return full_like(x, _zero(d), dtype=d, device=device, chunks=chunks, spec=spec, shape=shape)
