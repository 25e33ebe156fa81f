"""Checks before Xarray writes: stores that lazy arrays read are not replaced, and chunks fit the
chunks of the store.

Xarray refuses irregular chunks, and two chunks of an array in one chunk of the store, because two
tasks of Dask would write it at the same time. Tasks of the engine write whole chunks of the store,
so arrays may have any chunks.
"""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.base._chunks import lengths_behind
from cubed.base._stores import in_memory, root_url, url_of
from cubed.exceptions import PlanTooLargeError, UnsupportedError
from cubed.xarray._hooks import Arguments


def check_zarr(theirs: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Checks to_zarr, because Xarray removes or extends arrays before it reads any values."""
    given = inspect.signature(theirs).bind(*args, **kwargs).arguments
    source: Any = given.get("dataset", given.get("dt"))
    mode, append = given.get("mode"), given.get("append_dim")
    extended: set[str] = set()
    for name in ("store", "chunk_store"):
        store = given.get(name)
        if store is None:
            continue
        url = in_memory(store) or (_url(store) if _is_path(store) else url_of(store))
        if url is None or _is_chained(url):  # only the store's own library knows the location
            continue
        group = (given.get("group") or "").strip("/")
        if mode == "w":
            _check_sources(source, _inside(url, group), "to_zarr: mode='w' removes")
        elif append is not None:
            for k, v in source.variables.items():
                if append in v.dims:
                    place = _inside(url, f"{group}/{k}".strip("/"))
                    _check_sources(source, place, f"to_zarr: append_dim={append!r} extends")
                    extended.add(place)
    if not extended:
        return NotImplemented
    # Xarray reads the shapes of arrays, extends them and writes after their ends. If two processes
    # did so at the same time, they would write the same elements.
    held: list[object] = []
    options = given.get("chunkmanager_store_kwargs") or {}
    takeover = options.get("silence") or 0, bool(options.get("take_over"))
    try:
        for place in sorted(extended):
            with suppress(FileNotFoundError, NotImplementedError, UnsupportedError):
                _core.open(place)  # fails if the array is new, or the engine cannot write there
                held.append(_core.hold_place(place, *takeover))
        return theirs(*args, **kwargs)
    finally:
        held.clear()  # tracebacks refer to this frame, which must not keep the arrays alive


def check_netcdf(theirs: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Checks to_netcdf, because mode="w" empties the file before any values are read."""
    given = inspect.signature(theirs).bind(*args, **kwargs)
    given.apply_defaults()
    values = given.arguments
    path: Any = values.get("path_or_file", values.get("filepath"))
    if values["mode"] == "w" and _is_path(path) and not _is_chained(os.fspath(path)):
        source = values.get("dataset", values.get("dt"))
        _check_sources(source, _url(path), "to_netcdf: mode='w' removes")
    return NotImplemented


def _check_sources(source: Any, url: str, what: str) -> None:
    """Raises an error if a lazy variable of a data set or tree reads the location that would be
    replaced."""
    for ds in getattr(source, "subtree", [source]):
        for name, v in ds.variables.items():
            if isinstance(v._data, Array):
                # Locations are compared before memory is checked. No lazy array reads from an
                # unknown scheme.
                with suppress(PlanTooLargeError, UnsupportedError):
                    _check_places(v._data, url, f"{what} the source of variable {name!r}")


def _check_places(x: Array, url: str, what: str) -> None:
    """Compares the locations that x reads with `url`. For this it makes a plan, which is not
    run."""
    targets: Any = ((x._x, {"writes": url}),)
    try:
        _core.Plan(targets, max_workers=1, work_dir=tempfile.gettempdir(), **x.spec._limits())
    except ValueError as e:
        if "would overwrite the source" not in str(e):
            raise
        raise ValueError(f"{what}: {e}; write to another place, or load the variable first") from e


def _is_path(place: Any) -> bool:
    return isinstance(place, (str, os.PathLike))


def _is_chained(place: str | bytes) -> bool:
    """Returns whether a location is a chain of fsspec, such as ``simplecache::s3://bucket/x``."""
    return isinstance(place, str) and "://" in place.partition("::")[2]


def _url(place: Any) -> str:
    place = os.fspath(place)
    return place if "://" in place else root_url(str(Path(place).expanduser()))


def _inside(url: str, path: str) -> str:
    return f"{url}::{path}" if path else url


def set_variables(
    theirs: Callable[..., Any], store: Any, variables: Mapping[Any, Any], *args: Any, **kwargs: Any
) -> Any:
    """Rechunks the variables that are written so that their chunks fit the chunks of the store."""
    fitting = {
        name: _fitting(store, name, v) if isinstance(v._data, Array) and v.ndim else v
        for name, v in variables.items()
    }
    return Arguments(store, fitting, *args, **kwargs)


def _fitting(store: Any, name: Any, v: Any) -> Any:
    """Returns a variable whose chunks consist of whole chunks of the store.

    At the edges of a region, chunks may cover chunks of the store in part. Returns `v` itself if
    its chunks fit.

    Raises
    ------
    ValueError
        The region covers chunks in part, and Xarray's options say that it must not. Nothing is
        written yet.
    """
    x, there = v._data, None
    if store._mode != "w" and isinstance(name, str) and name in store.zarr_group:
        there = store.zarr_group[name]
        if there.ndim != v.ndim:  # Xarray raises an error for this
            return v
    stored = _stored_chunks(there, v)
    chunks = list(x.chunks)
    for d, dim in enumerate(v.dims):
        longest = max(1, x.chunksize[d])
        unit = longest if stored is None else stored[d]
        begin = 0 if there is None else _begin(store, name, dim, x.shape[d], unit, there.shape[d])
        if not _fits(chunks[d], unit, begin, stored is None):
            chunks[d] = lengths_behind(x.shape[d], unit * max(1, longest // unit), begin % unit)
    return v if tuple(chunks) == x.chunks else v.copy(deep=False, data=x.rechunk(tuple(chunks)))


def _stored_chunks(there: Any, v: Any) -> tuple[int, ...] | None:
    """Returns the lengths of the stored chunks or shards, or None if they are not known.

    They are the chunks of an existing array, or those in the variable's encoding. Xarray refuses
    invalid encodings.
    """
    if there is not None:
        return tuple(there.chunks if getattr(there, "shards", None) is None else there.shards)
    sizes = v.encoding.get("shards") or v.encoding.get("chunks")
    if isinstance(sizes, int):
        sizes = (sizes,) * v.ndim
    if not isinstance(sizes, (tuple, list)) or len(sizes) != v.ndim:
        return None
    return tuple(sizes) if all(isinstance(n, int) and n > 0 for n in sizes) else None


def _begin(store: Any, name: Any, dim: Any, length: int, unit: int, extent: int) -> int:
    """Returns the position along an axis of an existing array where a variable is written."""
    if store._append_dim == dim:
        return extent
    begin = ((store._write_region or {}).get(dim, slice(None)).start) or 0
    end = begin + length
    if store._mode != "r+" or not store._safe_chunks:
        return begin
    if begin % unit or (end % unit and end != extent):
        raise ValueError(
            f"region {begin}:{end} of dimension {dim!r} covers chunks of variable {name!r} of"
            f" length {unit} only in part: others may write the remaining parts at the same time;"
            ' with mode="a" or safe_chunks=False these chunks are read, and written whole'
        )
    return begin


def _fits(lengths: tuple[int, ...], unit: int, begin: int, alone: bool) -> bool:
    """Returns whether chunks consist of whole chunks of the store.

    If `alone` is true, the store's chunks will have the length `unit`, so all of these chunks
    except the last must have this length.
    """
    if alone:
        return all(n == unit for n in lengths[:-1])
    inner = all(n % unit == 0 for n in lengths[1:-1])
    return len(lengths) == 1 or (inner and (begin + lengths[0]) % unit == 0)
