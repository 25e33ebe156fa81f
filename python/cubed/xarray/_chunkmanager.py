"""The chunk manager ``cubed``, by which Xarray creates, computes and stores chunked arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from inspect import signature
from typing import Any

import numpy as np
from xarray.namedarray.parallelcompat import ChunkManagerEntrypoint

import cubed
from cubed.array._array import Array
from cubed.array._cores import engine_chunks
from cubed.array._operands import normalize_axes
from cubed.base._bytes import format_bytes
from cubed.base._chunks import AUTO_CHUNK_BYTES
from cubed.base._types import NDArray
from cubed.base._warnings import warn
from cubed.blocks._blockwise import blockwise
from cubed.blocks._gufunc import apply_to_cores
from cubed.blocks._tree import reduction, scan
from cubed.blocks._unify import unify_chunks
from cubed.compat._functions import normalize_chunks
from cubed.io._writers import store
from cubed.xarray._accessor import namesake
from cubed.xarray._coding import decoded
from cubed.xarray._lazy import elementwise_function_array, native_array
from cubed.xarray._lines import works_by_lines
from cubed.xarray._objects import at_least, held

#: Parameters of apply_gufunc, which are not passed to the function.
_GUFUNC_OPTIONS = set(signature(cubed.apply_gufunc).parameters) - {"args", "kwargs"}
_GUFUNC_OPTIONS -= {"func", "signature"}

#: Options for Dask that Xarray passes to from_array.
_DASK_OPTIONS = {"asarray", "fancy", "getitem", "inline_array", "lock", "meta", "name"}


class CubedManager(ChunkManagerEntrypoint[Any]):
    """The functions that Xarray calls for ``chunked_array_type="cubed"`` and for
    :class:`cubed.Array`.

    See :class:`xarray.namedarray.parallelcompat.ChunkManagerEntrypoint` for the methods.
    """

    array_cls: type[Array]

    def __init__(self) -> None:
        self.array_cls = Array

    @property
    def array_api(self) -> Any:
        """Namespace of functions on arrays."""
        return cubed.array_api

    # --- Making arrays ---------------------------------------------------------------------------

    def chunks(self, data: Array) -> tuple[tuple[int, ...], ...]:
        """Extents of all chunks."""
        return data.chunks

    def normalize_chunks(
        self,
        chunks: Any,
        shape: tuple[int, ...] | None = None,
        limit: int | None = None,
        dtype: Any = None,
        previous_chunks: Any = None,
    ) -> tuple[tuple[int, ...], ...]:
        """Converts chunks that a user gave to the extents of all chunks."""
        return normalize_chunks(chunks, shape, limit, dtype, previous_chunks)

    def from_array(self, data: Any, chunks: Any, **kwargs: Any) -> Array:
        """Creates a lazy array from values in memory, or from a lazily indexed array of a backend.

        The engine reads Zarr arrays in stores that it supports, and decodes scales, offsets and
        missing values. Other arrays are read by Python, one region per chunk.

        Bools with missing values, which Xarray decodes to Python objects, become float64 with 1, 0
        and NaN. Other Python objects, such as dates of cftime, and strings of variable length
        cannot be lazy: they are returned unchanged, with a warning that states their bytes. A
        backend reads them if their values are used.

        Parameters
        ----------
        chunks
            As for :func:`cubed.from_array`.
        **kwargs
            ``spec``. Options that only Dask has are ignored.
        """
        spec = kwargs.pop("spec", None)
        unknown = set(kwargs) - _DASK_OPTIONS
        if unknown:
            raise TypeError(
                f"from_array_kwargs has {', '.join(sorted(unknown))}, expected only spec"
            )
        is_object = data.dtype.kind in "OTV" and not isinstance(data, Array)
        if isinstance(data, (np.ndarray, np.generic)):
            if is_object:
                return _kept(data)
            return cubed.from_array(np.asarray(data), chunks, spec=spec)
        x = native_array(data, spec)
        if x is None:
            return _kept(data) if is_object else cubed.from_array(data, chunks, spec=spec)
        return x.rechunk(normalize_chunks(chunks, x.shape, None, x.dtype, x._x.chunks))

    def rechunk(self, data: Array, chunks: Any, **kwargs: Any) -> Array:
        """Rechunks an array."""
        return data.rechunk(chunks, **kwargs)

    def unify_chunks(self, *args: Any, **kwargs: Any) -> Any:
        """Rechunks arrays to common chunks, see :func:`cubed.core.unify_chunks`."""
        arrays = [
            cubed.asarray(a) if i % 2 == 0 and args[i + 1] is not None else a
            for i, a in enumerate(args)
        ]
        return unify_chunks(*arrays, **kwargs)

    def get_auto_chunk_size(self) -> int:
        """Returns the size in bytes of automatic chunks."""
        return AUTO_CHUNK_BYTES

    # --- Computing -------------------------------------------------------------------------------

    def compute(self, *data: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Computes the values of lazy arrays in one plan; returns other objects unchanged."""
        lazy = [a for a in data if isinstance(a, Array)]
        values = iter(cubed.compute(*lazy, **kwargs) if lazy else ())
        return tuple(next(values) if isinstance(a, Array) else a for a in data)

    def persist(self, *data: Any, **kwargs: Any) -> tuple[Any, ...]:
        """Computes arrays immediately, in one plan. Returns lazy arrays with values in memory."""
        values = self.compute(*data, **kwargs)
        return tuple(
            cubed.from_array(v, engine_chunks(a._x), spec=a._spec) if isinstance(a, Array) else a
            for a, v in zip(data, values, strict=True)
        )

    def store(self, sources: Any, targets: Any, **kwargs: Any) -> Any:
        """Writes arrays into Zarr arrays or other arrays that exist.

        Parameters
        ----------
        targets
            Arrays with ``target[region] = values``.
        **kwargs
            ``regions``, ``lock`` and ``compute`` as Xarray passes them, and options of the
            executor.

        Returns
        -------
        None, or with ``compute=False`` an object whose ``compute()`` writes the arrays.
        """
        return store(sources, targets, **kwargs)

    # --- Functions on chunks ---------------------------------------------------------------------

    def map_blocks(
        self,
        func: Callable[..., Any],
        *args: Any,
        dtype: Any = None,
        chunks: Any = None,
        drop_axis: int | Sequence[int] | None = None,
        new_axis: int | Sequence[int] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Applies a function to each chunk. The engine replaces Xarray's decoders that it supports.

        Python objects, such as dates of cftime, cannot be in a lazy Cubed array. Their decoder
        returns Xarray's lazily decoded array over the lazy array. Only its selected elements are
        computed, when their values are used.
        """
        if len(args) == 1 and not kwargs and isinstance(args[0], Array):
            x = decoded(func, args[0])
            if x is not None:
                return x
        if dtype is not None and np.dtype(dtype).kind == "O":
            decodes = isinstance(func, partial) and func.func.__module__.startswith("xarray.coding")
            if not decodes or len(args) != 1 or kwargs or chunks or drop_axis or new_axis:
                raise NotImplementedError(
                    "map_blocks: dtype is object: Cubed has no arrays of Python's objects;"
                    " load what the function is called with first"
                )
            from xarray.core import indexing

            lazy = indexing.LazilyIndexedArray(indexing.as_indexable(args[0]))  # type: ignore[no-untyped-call]
            return elementwise_function_array()(lazy, func, dtype)
        return cubed.map_blocks(
            func,
            *args,
            dtype=dtype,
            chunks=chunks,
            drop_axis=drop_axis,
            new_axis=new_axis,
            **kwargs,
        )

    def blockwise(
        self,
        func: Callable[..., Any],
        out_ind: Iterable[Any],
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Applies a function to blocks that are matched by indices."""
        return blockwise(func, tuple(out_ind), *args, **kwargs)

    def apply_gufunc(
        self,
        func: Callable[..., Any],
        signature: str,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Applies a function on core dimensions by :func:`cubed.apply_gufunc`.

        Arrays of Python objects, such as dates of cftime, are in memory, and are passed with the
        function. The projection of each task includes all of their bytes. A call is estimated to
        allocate twice its blocks unless `dask_gufunc_kwargs` have ``extra_projected_mem``. Blocks
        are the arrays' chunks, as with Dask. If a function is known to work by lines, its blocks
        are split further if necessary.
        """
        kwargs.pop("meta", None)  # of Dask
        kwargs.setdefault("extra_projected_mem", None)
        by_lines = works_by_lines(func)
        objects = {
            i: a for i, a in enumerate(args) if isinstance(a, np.ndarray) and a.dtype.kind == "O"
        }
        held_mem = sum(map(held, objects.values()))
        if objects:
            func = _WithObjects(func, {i: a.reshape(-1) for i, a in objects.items()})
            args = tuple(
                np.arange(a.size).reshape(a.shape) if i in objects else a
                for i, a in enumerate(args)
            )
        given = {name: kwargs.pop(name) for name in _GUFUNC_OPTIONS if name in kwargs}
        return apply_to_cores(
            func, signature, *args, by_lines=by_lines, held_mem=held_mem, options=kwargs, **given
        )

    def reduction(
        self,
        arr: Array,
        func: Callable[..., Any],
        combine_func: Callable[..., Any] | None = None,
        aggregate_func: Callable[..., Any] | None = None,
        axis: int | Sequence[int] | None = None,
        dtype: Any = None,
        keepdims: bool = False,
    ) -> Array:
        """Reduces chunks, and then the partial results.

        Functions are called as ``func(block, axis=, keepdims=)``. Without `combine_func`,
        `aggregate_func` combines partial results.
        """
        last = None
        if aggregate_func is not None and combine_func is not None:
            last = partial(
                aggregate_func, axis=normalize_axes("reduction", axis, arr.ndim), keepdims=True
            )
        return reduction(
            arr,
            func,
            combine_func=combine_func or aggregate_func,
            aggregate_func=last,
            axis=axis,
            intermediate_dtype=None if last else dtype,
            dtype=dtype,
            keepdims=keepdims,
        )

    def scan(
        self,
        func: Callable[..., Any],
        binop: Callable[..., Any],
        ident: float,
        arr: Array,
        axis: int | None = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> Array:
        """Computes running results along an axis with a function that computes them for a chunk."""
        for name in ("method", "preop"):  # Dask's algorithms
            kwargs.pop(name, None)
        if axis is None:
            raise ValueError("scan: axis is None, expected an axis")
        return scan(func, binop, ident, arr, axis, dtype, **kwargs)

    def shuffle(self, x: Array, indexer: list[list[int]], axis: int, chunks: Any) -> Array:
        """Reorders elements along an axis by groups, each of which is a list of positions."""
        if chunks not in (None, "auto"):
            raise NotImplementedError(f"shuffle into chunks {chunks!r}: only 'auto' is implemented")
        return cubed.shuffle(x, indexer, axis)


@dataclass(frozen=True)
class _WithObjects:
    """Wraps a function. Blocks of some of its arguments are positions of Python objects, which
    replace them."""

    function: Callable[..., Any]
    objects: dict[int, NDArray]

    def __call__(self, *blocks: Any, **kwargs: Any) -> Any:
        return self.function(
            *(
                self.objects[i].take(b, mode="clip") if i in self.objects else b
                for i, b in enumerate(blocks)
            ),
            **kwargs,
        )


def _kept(data: Any) -> Any:
    """Returns an array whose type Cubed lacks, unchanged."""
    from xarray.core import indexing

    warn(
        f"an array of {data.dtype} of shape {data.shape} is not chunked, because Cubed has no such"
        f" type. Once its values are used, it needs at least {format_bytes(at_least(data))} of"
        " memory in this process, which plans do not include"
    )
    return data.array if isinstance(data, indexing.ImplicitToExplicitIndexingAdapter) else data


def _stand_in() -> None:
    """Replaces another package's manager of this name; Xarray uses the last one that it finds."""
    theirs = namesake()
    if theirs is not None:
        theirs.CubedManager = CubedManager  # type: ignore[attr-defined]


_stand_in()
