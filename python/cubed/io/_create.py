"""Arrays from NumPy arrays and from stores."""

from __future__ import annotations

import operator
import os
from importlib.util import find_spec
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._cores import core_from_numpy, describe, in_chunks, is_auto
from cubed.array._neighbours import held, is_foreign, refusal, refuse_foreign
from cubed.array._operands import core_of, refuse_masked
from cubed.base._chunks import longest, normalize_chunks
from cubed.base._distribution import optional
from cubed.base._dtypes import name_of, packed, sized
from cubed.base._remote import is_remote, set_options, shown
from cubed.base._stores import for_zarr, in_memory, note_slow, split_place, url_of
from cubed.base._types import ChunksLike, DTypeLike
from cubed.io._readers import Reader
from cubed.spec import DEFAULT, Spec

#: Python's types of values, for which :func:`from_array` calls :func:`asarray`.
_VALUES = (list, tuple, memoryview, bytes, str, bool, int, float, complex)


def from_array(
    x: Any, chunks: ChunksLike = "auto", asarray: bool | None = None, spec: Spec | None = None
) -> Array:
    """Creates an array over existing values.

    Parameters
    ----------
    x : array_like
        A NumPy array, which is read when the result is computed; a zarr-python array, which the
        engine reads itself if it supports the store; or any object with ``shape``, ``dtype`` and
        indexing by slices, such as data sets of h5py. Regions of such objects are read by indexing,
        in worker threads that hold the GIL. Worker processes get the object pickled (data sets of
        h5py by opening their file). Lists, tuples, numbers and memory views become NumPy arrays.
    chunks : int, tuple, str or None, default "auto"
        Chunks of the result, see :func:`cubed.rechunk`. ``"auto"`` uses the chunks of `x` if it has
        any.
    asarray : bool or None
        Ignored: functions on blocks always get NumPy arrays.
    spec : Spec or None
        Limits of computations.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy: no element is read.

    Raises
    ------
    TypeError
        If `x` is not an array, or has elements of an unsupported type.

    Notes
    -----
    In addition to its block, a task that reads an object may need twice the bytes that it reads
    (for the object's result and for its conversion) and 1 MiB. This is part of the projection, but
    only worker processes enforce it.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> x = cubed.from_array(np.arange(6).reshape(2, 3), chunks=(1, 3))
    >>> x.chunks
    ((1, 1), (3,))
    >>> cubed.sum(x, axis=0).compute()
    array([3, 5, 7])
    """
    if isinstance(x, Array):
        raise ValueError("the array is lazy already: use rechunk")
    refuse_masked(x)
    _refuse_held(x)
    if isinstance(x, _VALUES):
        return _from_values(x, chunks, spec)
    if isinstance(x, (np.ndarray, np.generic)):
        return Array._new(core_from_numpy(np.asarray(x), chunks), spec)
    url = zarr_url(x)
    if url is not None:
        try:
            opened = Array._new(_core.open(url), spec)
        except NotImplementedError:
            pass  # zarr-python reads arrays that the engine cannot decode
        else:
            return opened if is_auto(chunks) else opened.rechunk(chunks)
    return Array._new(_core_from_object(x, chunks), spec)


def _from_values(x: Any, chunks: ChunksLike, spec: Spec | None) -> Array:
    return asarray(x, chunks=chunks, spec=spec)  # from_array has a parameter of this name


def _core_from_object(x: Any, chunks: ChunksLike) -> _core.Array:
    """Creates an array of the engine over any array-like object."""
    missing = [a for a in ("shape", "dtype", "__getitem__") if not hasattr(x, a)]
    if missing:
        raise TypeError(
            f"from_array of {type(x).__module__}.{type(x).__qualname__}, which has no"
            f" {' and no '.join(missing)}: use asarray for objects that NumPy converts"
        )
    if is_foreign(type(x)) and hasattr(x, "todense"):
        raise TypeError(refusal(x))  # reading a part of x must return a NumPy array
    try:
        shape = tuple(operator.index(n) for n in x.shape)
    except TypeError:
        raise TypeError(f"from_array: x.shape is {x.shape!r}, expected integers") from None
    dtype = np.dtype(x.dtype).newbyteorder("=")
    own = getattr(x, "chunks", None)
    if is_auto(chunks) and isinstance(own, tuple) and len(own) == len(shape):
        chunks = own
    extents = normalize_chunks(chunks, shape, max(1, dtype.itemsize))
    dtype = packed(dtype)
    name = name_of(dtype)
    read = _core.from_reader(
        Reader(x, dtype, zarr_url(x, memory=True)), name, shape, longest(extents)
    )
    describe(read, name)
    return in_chunks(read, extents)


def zarr_url(x: Any, memory: bool = False) -> str | None:
    """Returns STORE::PATH of a zarr-python array that the engine can read, also if wrappers of
    Xarray contain the array.

    If `memory` is true, also returns a URL for other arrays in memory. The location is used to
    refuse a result that would replace an input of its computation.
    """
    while type(x).__module__.startswith(("xarray.core.indexing", "xarray.backends.")):
        x = getattr(x, "array", getattr(x, "_array", None))
    if type(x).__module__.split(".")[0] not in ("zarr", "cubed"):
        return None
    url = url_of(x) if hasattr(x, "path") else None
    if url is None and memory:
        url = in_memory(getattr(x, "store", None))
    if url is None:
        return None
    return f"{url}::{x.path}" if x.path else url


def store_url(store: Any, path: str | None = None) -> str:
    """Returns STORE or STORE::PATH of a path, a URL, or an equivalent object."""
    if isinstance(store, (str, os.PathLike)) and not _is_of_others(store):
        where = os.fspath(store)
    else:
        store, path = split_place(store, path)
        found = None if isinstance(store, str) else url_of(store)
        if found is None:
            raise NotImplementedError(
                f"store {shown(store)}: expected a path, a URL, or a store of zarr-python, fsspec"
                " or obstore with such a location"
            )
        where = found
    return f"{where}::{path}" if path else where


def native_url(store: Any, path: str | None) -> str | None:
    """Returns STORE or STORE::PATH of a place that the engine reads: a path or URL of a directory
    or file, or an equivalent object. None for other stores.
    """
    if isinstance(store, (str, os.PathLike)):
        where: str | None = os.fspath(store)
        scheme, sep, _ = os.fspath(store).partition("://")
        if scheme.lower() == "memory":
            where = None if _is_of_others(where) else where
        elif sep and scheme.lower() != "file" and not is_remote(where):
            where = None
    else:
        store, path = split_place(store, path)
        where = url_of(store)
    return f"{where}::{path}" if where is not None and path else where


def _is_of_others(store: Any) -> bool:
    """Returns True for fsspec's file system in memory, which zarr-python also reads and writes.

    Without these packages, ``memory://`` is the engine's own store.
    """
    return in_memory(store) is not None and all(map(find_spec, ("fsspec", "zarr")))


def from_zarr(
    store: Any,
    path: str | None = None,
    chunks: ChunksLike = None,
    spec: Spec | None = None,
    *,
    storage_options: dict[str, Any] | None = None,
    concat_dim: str | None = None,
    decode: bool = False,
) -> Array:
    """Opens the Zarr array at `path` of a store.

    Parameters
    ----------
    store : str, path or store
        One of the following, or a list of them. The arrays of a list at `path` are concatenated in
        the given order.

        - A local directory: its path or ``file://`` URL.
        - A NetCDF or HDF5 file, a ZIP archive of a Zarr store, or an Icechunk repository, with
          the array at `path`.
        - A URL ``s3://BUCKET/PATH``, ``gs://``, ``az://`` or ``https://HOST/PATH``.
        - ``memory://NAME/PATH``: fsspec's file system in the memory of this process.
        - An equivalent object: a store of zarr-python (``LocalStore``, ``ZipStore``,
          ``FsspecStore``, ``ObjectStore``), a mapper of fsspec, or a store of obstore. The engine
          reads it, with the object's options and keys.
        - Anything else that the package zarr can open (other stores, URLs of fsspec such as
          ``ftp://``). The package zarr reads it, as in :func:`from_array`.
    path : str or None
        The array's path in the store.
    chunks : int, tuple, str or None
        Chunks of the result; None: as stored.
    spec : Spec or None
        Limits of computations; None: as configured.
    storage_options : dict or None
        Options of a URL, with the names of fsspec and obstore. Default: those of `spec`. A document
        at the URL (kerchunk references, an Icechunk repository) may refer to its own host or
        bucket, and to places in the list ``allow_references``.
    concat_dim : str or None
        The dimension along which the arrays of a list are concatenated; None: the first one. If the
        arrays lack this dimension, they must have the same shape, and the first array is used.
    decode : bool, default False
        Return decoded values according to CF attributes: missing values are NaN, packed values are
        unpacked, and arrays of characters become strings. False: the elements as they are stored.

    Returns
    -------
    Array
        The stored shape and type, unless values are decoded. Lazy: only metadata is read.

    Raises
    ------
    FileNotFoundError
        If there is no array.
    ValueError
        If arrays of a list differ in type, dimensions or encoding, such as units. The message names
        the array and the difference.

    Examples
    --------
    >>> import cubed
    >>> cubed.to_zarr(cubed.arange(4, chunks=2), "memory://from_zarr")
    >>> x = cubed.from_zarr("memory://from_zarr")
    >>> x.shape, x.chunksize
    ((4,), (2,))
    >>> x.compute()
    array([0, 1, 2, 3])
    """
    if isinstance(store, (list, tuple)):
        for s in store:
            set_options(s, storage_options or (spec or DEFAULT).storage_options)
        urls = tuple(store_url(s, path) for s in store)
        x = Array._new(_opened(_core.open_parts(urls, concat_dim), decode), spec)
        return x if chunks is None else x.rechunk(chunks)
    if hasattr(store, "__getitem__") and hasattr(store, "shape"):
        raise TypeError(
            f"store is the array {shown(store)}, expected the location of one: see from_array"
        )
    if not (storage_options and isinstance(store, str)):
        store, path = split_place(store, path)
    url = native_url(store, path)
    if url is not None:
        if is_remote(store):
            set_options(store, storage_options or (spec or DEFAULT).storage_options)
        x = Array._new(_opened(_core.open(url), decode), spec)
        return x if chunks is None else x.rechunk(chunks)
    if decode:
        raise NotImplementedError(
            f"from_zarr: decode=True of {shown(store)}, which the package zarr reads: expected a"
            " store that Cubed reads itself; open this one with Xarray, which decodes values"
        )
    zarr = optional("zarr", f"reading {shown(store)} needs the package zarr", "zarr")
    if not isinstance(store, (str, os.PathLike)):
        note_slow(store)
    where, path = for_zarr(store, path)
    opened = zarr.open_array(where, path=path or "", mode="r", storage_options=storage_options)
    x = from_array(opened, spec=spec)
    return x if chunks is None else x.rechunk(chunks)


def _opened(x: _core.Array, decode: bool) -> _core.Array:
    if not decode:
        return x
    is_characters = x.dtype == "S1" and len(x.shape) > 0 and x.shape[-1] > 0
    return _core.join_characters(x) if is_characters else _core.decode(x)


def asarray(
    obj: Any, dtype: DTypeLike = None, copy: bool | None = None, chunks: ChunksLike = None,
    spec: Spec | None = None,
) -> Array:  # fmt: skip
    """See :func:`cubed.array_api.asarray`."""
    if isinstance(obj, Array):
        x = core_of(obj)
        to = obj.dtype if dtype is None else sized(dtype, obj.dtype)
        if obj.dtype != to:
            if copy is False:
                raise ValueError(f"{obj.dtype} to {to} needs a copy")
            x = obj.astype(to)._x
        elif not copy and chunks is None and spec is None:
            return obj
        out = Array._new(x, obj._spec if spec is None else spec)
        return out if chunks is None else out.rechunk(chunks)
    refuse_masked(obj)
    if is_foreign(type(obj)):
        if held(obj) == "data" and type(obj).__module__.partition(".")[0] == "xarray":
            return asarray(obj.data, dtype, copy, chunks, spec)  # without labels, like NumPy arrays
        _refuse_held(obj)
        if getattr(obj, "chunks", None) is not None:  # the array is lazy: the run reads it in parts
            if copy is False:
                raise ValueError(f"values of {type(obj).__name__} need a copy")
            read = from_array(obj, "auto" if chunks is None else chunks, spec=spec)
            return read if dtype is None else read.astype(dtype)
    has_memory = hasattr(obj, "__array_interface__") or hasattr(obj, "__buffer__")
    if copy is False and not has_memory:
        raise ValueError(f"values of {type(obj).__name__} need a copy")
    made = isinstance(obj, (list, tuple))
    if isinstance(obj, np.ndarray) and copy:
        obj, made = obj.copy(), True
    elif isinstance(obj, (list, tuple)):
        refuse_foreign(obj)
    given = obj if isinstance(obj, np.ndarray) else np.asarray(_values(obj))
    if dtype is None and not isinstance(obj, (np.ndarray, np.generic)) and given.size == 0:
        given = given.astype(np.float64)
    if dtype is not None and given.dtype != np.dtype(dtype):
        if copy is False:
            raise ValueError(f"{given.dtype} to {np.dtype(dtype)} needs a copy")
        given = np.asarray(_values(obj), dtype=dtype)
        made = True
    return Array._new(core_from_numpy(given, chunks, made), spec)


def _values(obj: Any) -> Any:
    """Replaces lazy arrays in nested sequences by their values."""
    if isinstance(obj, Array):
        return obj.compute()
    if type(obj) in (list, tuple):
        return type(obj)(_values(o) for o in obj)
    return obj


def persist(x: Array, **kwargs: Any) -> Array:
    """Computes x now and returns an array over the values in memory."""
    return x._like(core_from_numpy(x.compute(**kwargs), x.chunksize))


def as_lazy(value: Any) -> Array:
    """Converts an operand to an array; raises TypeError for arrays of other libraries."""
    if isinstance(value, Array):
        return value
    refuse_foreign(value)
    return asarray(value)


def _refuse_held(x: Any) -> None:
    """Raises TypeError for an object that contains a lazy array, because its values would have to
    be computed.
    """
    if is_foreign(type(x)) and held(x) is not None:
        raise TypeError(refusal(x))
