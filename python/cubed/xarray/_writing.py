"""Chunks in which Xarray's writer of Zarr gets lazy arrays: those of what is written into.

Xarray refuses chunks that are not equal, and two of them in one chunk of the store, as Dask's tasks
would write it at the same time. The engine's are made for what they write, so any chunks will do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cubed.array._array import Array
from cubed.xarray._hooks import Arguments


def set_variables(
    theirs: Callable[..., Any], store: Any, variables: Mapping[Any, Any], *args: Any, **kwargs: Any
) -> Any:
    """Variables of a store, in chunks that fit together with its own."""
    fitting = {
        name: _fitting(store, name, v) if isinstance(v._data, Array) and v.ndim else v
        for name, v in variables.items()
    }
    return Arguments(store, fitting, *args, **kwargs)


def _fitting(store: Any, name: Any, v: Any) -> Any:
    """A variable whose chunks are whole numbers of the store's, but for parts of such at the edges
    of a region; itself if they are.

    Raises
    ------
    ValueError
        The region covers chunks in part, and Xarray's options say that it must not. Nothing is
        written yet.
    """
    x, there = v._data, None
    if store._mode != "w" and isinstance(name, str) and name in store.zarr_group:
        there = store.zarr_group[name]
        if there.ndim != v.ndim:  # an error that Xarray has
            return v
    stored = _stored_chunks(there, v)
    chunks = list(x.chunks)
    for d, dim in enumerate(v.dims):
        longest = max(1, x.chunksize[d])
        unit = longest if stored is None else stored[d]
        begin = 0 if there is None else _begin(store, name, dim, x.shape[d], unit, there.shape[d])
        if not _fits(chunks[d], unit, begin, stored is None):
            chunks[d] = _lengths(x.shape[d], unit * max(1, longest // unit), begin % unit)
    return v if tuple(chunks) == x.chunks else v.copy(deep=False, data=x.rechunk(tuple(chunks)))


def _stored_chunks(there: Any, v: Any) -> tuple[int, ...] | None:
    """What a store writes at once along each axis, if that is known: of an array that exists, or as
    the variable's encoding asks for. Others are Xarray's to refuse."""
    if there is not None:
        return tuple(there.chunks if getattr(there, "shards", None) is None else there.shards)
    sizes = v.encoding.get("shards") or v.encoding.get("chunks")
    if isinstance(sizes, int):
        sizes = (sizes,) * v.ndim
    if not isinstance(sizes, (tuple, list)) or len(sizes) != v.ndim:
        return None
    return tuple(sizes) if all(isinstance(n, int) and n > 0 for n in sizes) else None


def _begin(store: Any, name: Any, dim: Any, length: int, unit: int, extent: int) -> int:
    """Where a variable's elements go along an axis of an array that exists."""
    if store._append_dim == dim:
        return extent
    begin = ((store._write_region or {}).get(dim, slice(None)).start) or 0
    end = begin + length
    if store._mode != "r+" or not store._safe_chunks:
        return begin
    if begin % unit or (end % unit and end != extent):
        raise ValueError(
            f"region {begin}:{end} of dimension {dim!r} covers chunks of variable {name!r}, whose"
            f" length is {unit}, in part: others may be writing the rest of them at the same time;"
            ' with mode="a" or safe_chunks=False they are read, and written whole'
        )
    return begin


def _fits(lengths: tuple[int, ...], unit: int, begin: int, alone: bool) -> bool:
    """Whether chunks are whole numbers of the store's, or where these follow from them, equal."""
    if alone:
        return all(n == unit for n in lengths[:-1])
    inner = all(n % unit == 0 for n in lengths[1:-1])
    return len(lengths) == 1 or (inner and (begin + lengths[0]) % unit == 0)


def _lengths(extent: int, size: int, front: int) -> tuple[int, ...]:
    """Chunks of an axis, the first of which is shorter by what is in front of it."""
    first = min(extent, size - front)
    whole, rest = divmod(extent - first, size)
    return (first,) + (size,) * whole + ((rest,) if rest else ())
