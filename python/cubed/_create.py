"""Arrays from NumPy's and from stores."""

from __future__ import annotations

import operator
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from cubed import _core
from cubed._array import Array, core_of, refuse_masked
from cubed._chunks import Chunks, longest, normalize_chunks
from cubed._dtypes import name_of
from cubed._neighbours import held, is_foreign, refusal, refuse_foreign
from cubed.spec import Spec


def engine_chunks(x: _core.Array) -> Chunks:
    """The chunks of an array, as rechunk takes them."""
    if not any(x.irregular):
        return x.chunks
    every = zip(x.irregular, x.all_chunks, x.chunks, strict=True)
    return tuple(sizes if irregular else size for irregular, sizes, size in every)


def in_chunks(x: _core.Array, chunks: Chunks, asked: Any = None) -> _core.Array:
    """An array that was just made with the longest chunks, in chunks of different lengths if they
    are. Automatic ones, `asked`, give way to those of other arrays."""
    if _is_auto(asked):
        _core.yield_chunks(x)
    return x if longest(chunks) == chunks else _core.rechunk(x, chunks)


class _Bytes:
    """Those of an array from its first to its last one in memory, for NumPy."""

    def __init__(self, a: np.ndarray) -> None:
        spans = [(n - 1) * stride for n, stride in zip(a.shape, a.strides, strict=True)]
        start = a.__array_interface__["data"][0]
        low = start + sum(s for s in spans if s < 0)
        high = start + sum(s for s in spans if s > 0) + a.itemsize
        self._a = a
        self.__array_interface__ = {
            "version": 3,
            "data": (low, True),
            "shape": (high - low,),
            "typestr": "|u1",
        }


def _memory_of(a: np.ndarray) -> tuple[np.ndarray, int]:
    """What an array lies in, and where its first element is in there."""
    if not a.size:
        return np.empty(0, np.uint8), 0
    if a.flags.c_contiguous or a.flags.f_contiguous:
        flat = (a if a.flags.c_contiguous else a.T).reshape(-1)
        return flat.view(
            np.uint8
        ), 0  # types that the buffer protocol does not have are bytes to it
    memory = np.asarray(_Bytes(a))
    return memory, a.__array_interface__["data"][0] - memory.__array_interface__["data"][0]


def core_from_numpy(a: np.ndarray, chunks: Any) -> _core.Array:
    """The engine's array over NumPy's memory, which is not copied but where its bytes are in
    another order than this machine's, or elements lie where none of their type may, as in records.
    """
    if not a.dtype.isnative or not a.flags.aligned:
        a = a.astype(a.dtype.newbyteorder("="))
    name = name_of(a.dtype)
    extents = (
        None if chunks is None else normalize_chunks(chunks, a.shape, max(1, a.dtype.itemsize))
    )
    regular = None if extents is None else longest(extents)
    memory, offset = _memory_of(a)
    x = _core.from_memory(memory, name, a.shape, a.strides, offset, regular)
    return x if extents is None else in_chunks(x, extents)


def from_array(
    x: Any, chunks: Any = "auto", asarray: bool | None = None, spec: Spec | None = None
) -> Array:
    """An array over values that exist.

    Parameters
    ----------
    x
        A NumPy array, whose memory is read when the result is computed; a zarr-python array, which
        is read natively if it lies in a local directory; or any object with ``shape``, ``dtype``
        and indexing by slices, such as data sets of h5py: regions are read by indexing it, in
        worker threads that hold the GIL. Worker processes get the object by pickling (data sets of
        h5py by opening their file).
    chunks
        Chunks of the result, see :func:`cubed.rechunk`. ``"auto"`` takes those of `x` if it has
        some.
    asarray
        For compatibility: values are always NumPy's to functions on blocks.
    spec
        What computations may use.

    Raises
    ------
    TypeError
        `x` is not like an array, or has a type of elements that the engine does not know.

    Notes
    -----
    A task that reads an object may need, beside its block, twice the bytes of what it reads (what
    the object gives, and what it makes that of) and 1 MiB. This is part of the projection, but only
    worker processes are held to it.
    """
    if isinstance(x, Array):
        raise ValueError("the array is lazy already: use rechunk")
    refuse_masked(x)
    _refuse_held(x)
    if isinstance(x, (np.ndarray, np.generic)):
        return Array._new(core_from_numpy(np.asarray(x), chunks), spec)
    url = zarr_url(x)
    if url is not None:
        try:
            opened = Array._new(_core.open(url), spec)
        except NotImplementedError:
            pass  # what the engine cannot decode zarr-python reads
        else:
            return opened if _is_auto(chunks) else opened.rechunk(chunks)
    return Array._new(_core_from_object(x, chunks), spec)


def _is_auto(chunks: Any) -> bool:
    return isinstance(chunks, str) and chunks == "auto"


def _core_from_object(x: Any, chunks: Any) -> _core.Array:
    """The engine's array over anything that is like one."""
    missing = [a for a in ("shape", "dtype", "__getitem__") if not hasattr(x, a)]
    if missing:
        raise TypeError(
            f"from_array of {type(x).__module__}.{type(x).__qualname__}, which has no"
            f" {' and no '.join(missing)}: use asarray for lists and numbers"
        )
    if is_foreign(type(x)) and hasattr(x, "todense"):
        raise TypeError(refusal(x))  # NumPy's array of a part is to be asked for
    from cubed._readers import Reader

    try:
        shape = tuple(operator.index(n) for n in x.shape)
    except TypeError:
        raise TypeError(f"from_array: x.shape is {x.shape!r}, expected integers") from None
    dtype = np.dtype(x.dtype).newbyteorder("=")
    own = getattr(x, "chunks", None)
    if _is_auto(chunks) and isinstance(own, tuple) and len(own) == len(shape):
        chunks = own
    extents = normalize_chunks(chunks, shape, max(1, dtype.itemsize))
    read = _core.from_reader(Reader(x, dtype), name_of(dtype), shape, longest(extents))
    return in_chunks(read, extents)


def zarr_url(x: Any) -> str | None:
    """STORE::PATH of a zarr-python array in a local directory, also within wrappers of Xarray's."""
    while type(x).__module__.startswith(("xarray.core.indexing", "xarray.backends.")):
        x = getattr(x, "array", getattr(x, "_array", None))
    if type(x).__module__.split(".")[0] != "zarr":
        return None
    root = local_root(x)
    if root is None or not hasattr(x, "path"):
        return None
    return f"{_root_url(root)}::{x.path}" if x.path else _root_url(root)


def _root_url(root: str) -> str:
    """A directory in whose name "::" is no end of the store."""
    return f"file://{quote(root)}" if "::" in root else root


def local_root(x: Any) -> str | None:
    """The directory of a store of zarr-python, or of an array's; None if it is elsewhere."""
    # Where version 2 has metadata of a whole store in memory, chunks are in another one.
    store = getattr(x, "chunk_store", None) or getattr(x, "store", x)
    if type(store).__name__ in ("DirectoryStore", "NestedDirectoryStore"):  # of version 2
        return os.fspath(store.path)
    root = getattr(store, "root", None)
    return None if root is None else os.fspath(root)


def store_url(store: Any, path: str | None = None) -> str:
    """STORE or STORE::PATH, from a path, a URL or a zarr-python store in a local directory."""
    if isinstance(store, (str, os.PathLike)):
        where = os.fspath(store)
    else:
        root = local_root(store)
        if root is None:
            raise NotImplementedError(
                f"store {store!r}: expected a directory, a file:// URL or a LocalStore"
            )
        where = _root_url(root)
    return f"{where}::{path}" if path else where


def _is_local(store: Any) -> bool:
    """Whether the engine reads it: a directory, by its path or URL or as a store of zarr-python."""
    if not isinstance(store, (str, os.PathLike)):
        return local_root(store) is not None
    where = os.fspath(store)
    scheme, sep, _ = where.partition("://")
    return (not sep or scheme.lower() == "file") and not Path(where).is_file()


def _is_in_memory(store: Any) -> bool:
    """Whether it is spelled as a store of the engine's in the memory of this process."""
    return isinstance(store, str) and store.lower().startswith("memory://")


def from_zarr(
    store: Any,
    path: str | None = None,
    chunks: Any = None,
    spec: Spec | None = None,
    *,
    storage_options: dict[str, Any] | None = None,
) -> Array:
    """The Zarr array at `path` of a store.

    Parameters
    ----------
    store
        A local directory: its path, ``file://`` URL or ``zarr.storage.LocalStore``; or
        ``memory://NAME/PATH``, what :func:`to_zarr` has put there in this process. The engine
        reads it. Anything else that the package zarr opens (other stores, URLs of fsspec such as
        ``s3://``, ZIP files) is read by that, as :func:`from_array` does.
    chunks
        Those of the result; None: as stored.
    storage_options
        Of a URL, for fsspec.

    Returns
    -------
    Array
        Of the stored shape and type. Lazy: metadata is read, no chunk.

    Raises
    ------
    FileNotFoundError
        There is none.
    """
    if hasattr(store, "__getitem__") and hasattr(store, "shape"):
        raise TypeError(f"store is the array {store!r}, expected where one is: see from_array")
    local = _is_local(store)
    if local or (_is_in_memory(store) and storage_options is None):
        try:
            x = Array._new(_core.open(store_url(store, path)), spec)
        except FileNotFoundError:
            if local:
                raise  # else fsspec and zarr-python have stores of such names, too
        else:
            return x if chunks is None else x.rechunk(chunks)
    try:
        import zarr
    except ImportError as e:
        raise ImportError(f"reading {store!r} needs the package zarr") from e
    if isinstance(store, (str, os.PathLike)) and Path(store).is_file():
        store = zarr.storage.ZipStore(Path(store), mode="r")
    opened = zarr.open_array(store, path=path or "", mode="r", storage_options=storage_options)
    x = from_array(opened, spec=spec)
    return x if chunks is None else x.rechunk(chunks)


def asarray(
    obj: Any, dtype: Any = None, copy: bool | None = None, chunks: Any = None,
    spec: Spec | None = None,
) -> Array:  # fmt: skip
    """See :func:`cubed.array_api.asarray`."""
    if isinstance(obj, Array):
        x = core_of(obj)
        if dtype is not None and obj.dtype != np.dtype(dtype):
            if copy is False:
                raise ValueError(f"{obj.dtype} to {np.dtype(dtype)} needs a copy")
            x = _core.astype(x, name_of(dtype))
        elif not copy and chunks is None and spec is None:
            return obj
        out = Array._new(x, obj._spec if spec is None else spec)
        return out if chunks is None else out.rechunk(chunks)
    refuse_masked(obj)
    if is_foreign(type(obj)):
        _refuse_held(obj)
        if getattr(obj, "chunks", None) is not None:  # lazy: it is read in parts, by the run
            if copy is False:
                raise ValueError(f"values of {type(obj).__name__} need a copy")
            read = from_array(obj, "auto" if chunks is None else chunks, spec=spec)
            return read if dtype is None else read.astype(dtype)
    has_memory = hasattr(obj, "__array_interface__") or hasattr(obj, "__buffer__")
    if copy is False and not has_memory:
        raise ValueError(f"values of {type(obj).__name__} need a copy")
    if isinstance(obj, np.ndarray) and copy:
        obj = obj.copy()
    elif isinstance(obj, (list, tuple)):
        refuse_foreign(obj)
    given = obj if isinstance(obj, np.ndarray) else np.asarray(_values(obj))
    if dtype is None and not isinstance(obj, (np.ndarray, np.generic)) and given.size == 0:
        given = given.astype(np.float64)
    if dtype is not None and given.dtype != np.dtype(dtype):
        if copy is False:
            raise ValueError(f"{given.dtype} to {np.dtype(dtype)} needs a copy")
        given = np.asarray(_values(obj), dtype=dtype)
    return Array._new(core_from_numpy(given, chunks), spec)


def _values(obj: Any) -> Any:
    """Nested sequences with the values of lazy arrays in place of those."""
    if isinstance(obj, Array):
        return obj.compute()
    if type(obj) in (list, tuple):
        return type(obj)(_values(o) for o in obj)
    return obj


def as_lazy(value: Any) -> Array:
    """An operand that may be anything but an array of another library, as an array."""
    if isinstance(value, Array):
        return value
    refuse_foreign(value)
    return asarray(value)


def _refuse_held(x: Any) -> None:
    """TypeError for what has a lazy array in it: its values are to be had without computing."""
    if is_foreign(type(x)) and held(x) is not None:
        raise TypeError(refusal(x))
