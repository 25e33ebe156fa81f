"""The backend ``cubed``: Zarr stores as Xarray's data sets, without zarr-python."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable, Mapping
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from xarray import Coordinates, Dataset, DataTree, Variable, conventions, open_dataset
from xarray.backends import AbstractDataStore, BackendEntrypoint, ZarrStore

import cubed
from cubed import _core
from cubed.array._array import Array
from cubed.array._cores import engine_chunks
from cubed.base._attributes import typed_attributes
from cubed.base._remote import set_options
from cubed.io._create import store_url
from cubed.spec import DEFAULT, Spec
from cubed.xarray._lazy import native_array
from cubed.xarray._objects import warn_of_unread

#: Maximum size in bytes of arrays of times that are read when a store is opened, so that Xarray can
#: decode them.
_SMALL_TIMES = 2**20


class _Store(AbstractDataStore):
    """A Zarr group whose variables Xarray decodes."""

    def __init__(self, url: str, spec: Spec | None, consolidated: bool, drop: set[str]) -> None:
        self._url = url
        self._spec = spec
        self._format, attrs, members = _core.members(url, consolidated)
        self._attrs = typed_attributes(attrs)
        self._arrays = [name for name, is_array in members if is_array and name not in drop]
        self.groups = [name for name, is_array in members if not is_array]

    def get_attrs(self) -> Any:
        return self._attrs

    def get_variables(self) -> Any:
        variables = {name: self._variable(name) for name in self._arrays}
        # Indexes and Xarray's decoding of times need values, so these variables are read
        # immediately, in one plan.
        now = [
            v
            for name, v in variables.items()
            if isinstance(v._data, Array) and _is_read_now(name, v)
        ]
        arrays: list[Any] = [v._data for v in now]
        for v, values in zip(now, cubed.compute(*arrays) if arrays else (), strict=True):
            v._data = values
        return variables

    def _variable(self, name: str) -> Variable:
        try:
            x = Array._new(_core.open(_core.member(self._url, name)), self._spec)
        except NotImplementedError as e:
            return self._by_zarr(name, e)
        attrs = _with_numbers(typed_attributes(x._x.attrs))
        dims = attrs.pop("_ARRAY_DIMENSIONS", None) or x._x.dim_names
        if any(d is None for d in dims):
            raise ValueError(f"the array {name} of {self._url} has no names for its dimensions")
        encoding: dict[str, Any] = {
            "preferred_chunks": dict(zip(dims, engine_chunks(x._x), strict=True)),
            "dtype": x.dtype,
        }
        # With irregular chunks, Xarray could not write the data set.
        if not any(x._x.irregular):
            encoding["chunks"] = x._x.chunks
        missing = x._x.missing_value
        if missing is not None:
            attrs["_FillValue"] = np.frombuffer(missing.ljust(x.itemsize, b"\0"), x.dtype)[0]
        elif isinstance(attrs.get("_FillValue"), (str, list)):
            from xarray.backends.zarr import FillValueCoder

            attrs["_FillValue"] = FillValueCoder.decode(attrs["_FillValue"], x.dtype)
        if x.dtype == "S1" and x.ndim > 0 and x.numblocks[-1] > 1:
            x = x.rechunk({x.ndim - 1: -1})  # Xarray's decoder of characters needs one chunk
        return Variable(dims, x, attrs, encoding, fastpath=True)

    def _by_zarr(self, name: str, error: NotImplementedError) -> Variable:
        """Reads an array whose type or codec the engine lacks, by the libraries of Xarray."""
        store, path, _ = _core.place(self._url)
        if Path(store).is_file():  # the store is a file, which Xarray opens by another library
            with open_dataset(store, group=path or None, decode_cf=False, cache=False) as d:
                return d.variables[name].load()
        if importlib.util.find_spec("zarr") is None:
            raise error
        group = ZarrStore.open_group(store, group=path or None, consolidated=False)
        v: Variable = group.open_store_variable(name)
        if v.dtype.kind in "OTV":
            return v  # Xarray reads the variable when its values are needed
        from xarray.core import indexing

        data: Any = indexing.ImplicitToExplicitIndexingAdapter(v._data, indexing.OuterIndexer)
        v._data = cubed.from_array(data, chunks=v.encoding["chunks"], spec=self._spec)
        return v


class _LazyVariable(Variable):
    """A variable whose array remains lazy.

    Xarray wraps arrays of backends in its own classes, and later treats loaded arrays as values. It
    passes options of ``chunk`` only to arrays that are not lazy yet.
    """

    __slots__ = ()

    @property
    def data(self) -> Any:
        return Variable.data.fget(self)  # type: ignore[attr-defined]

    @data.setter
    def data(self, data: Any) -> None:
        inner = _innermost(data)
        Variable.data.fset(  # type: ignore[attr-defined]
            self, inner if isinstance(inner, Array) else data
        )

    def to_base_variable(self) -> Variable:
        return self.copy(deep=False)

    def chunk(self, *args: Any, **kwargs: Any) -> Variable:  # type: ignore[override]
        out = super().chunk(*args, **kwargs)
        spec = (kwargs.get("from_array_kwargs") or {}).get("spec")
        if spec is not None and isinstance(out._data, Array):
            out._data = Array._new(out._data._x, spec)
        return out


def _innermost(data: Any) -> Any:
    """Returns the array inside Xarray's wrappers."""
    from xarray.core import indexing

    while isinstance(data, indexing.ExplicitlyIndexed) and hasattr(data, "array"):
        data = data.array
    return data


def _unwrapped(v: Variable, spec: Spec | None) -> Variable:
    """Returns a variable that stays lazy. Before 2025.7, Xarray has already wrapped its array."""
    if not isinstance(_innermost(v._data), Array):
        return v
    x = native_array(v._data, spec)
    return v if x is None else _LazyVariable(v.dims, x, v.attrs, v.encoding, fastpath=True)


def _is_read_now(name: str, v: Variable) -> bool:
    units, dtype = v.attrs.get("units", ""), v.attrs.get("dtype", "")
    is_time = " since " in str(units) or str(dtype).startswith("timedelta64")
    return v.dims == (name,) or v.ndim == 0 or (is_time and v.nbytes <= _SMALL_TIMES)


#: Strings by which the library represents numbers that JSON cannot represent.
_NAMED_NUMBERS = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}


def _with_numbers(attrs: dict[str, Any]) -> dict[str, Any]:
    """Replaces numbers as strings, such as "NaN", in CF attributes by floats, in place."""
    for name in ("missing_value", "valid_min", "valid_max", "valid_range", "actual_range"):
        v = attrs.get(name)
        if isinstance(v, str):
            attrs[name] = _NAMED_NUMBERS.get(v, v)
        elif isinstance(v, list):
            attrs[name] = [_NAMED_NUMBERS.get(n, n) if isinstance(n, str) else n for n in v]
    return attrs


def _drop(drop_variables: str | Iterable[str] | None) -> set[str]:
    return {drop_variables} if isinstance(drop_variables, str) else set(drop_variables or ())


class CubedBackend(BackendEntrypoint):
    """Opens local Zarr stores, of both formats, as lazy arrays of the engine.

    Scales, offsets and missing values (CF) are decoded by operations that are part of the
    computation. Coordinates with an index are read when the store is opened.
    """

    description = "Open Zarr stores as lazy Cubed arrays"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Returns False, so that Xarray's own backend for Zarr stays the default."""
        return False

    def open_dataset(  # type: ignore[override]
        self,
        filename_or_obj: str | os.PathLike[Any],
        *,
        mask_and_scale: bool = True,
        decode_times: Any = True,
        concat_characters: bool = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: bool | None = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        consolidated: bool | None = None,
        spec: Spec | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> Dataset:
        """Opens a group of a Zarr store.

        Parameters
        ----------
        filename_or_obj
            A directory, a file:// URL, or a zarr-python store in a local directory.
        group
            Path of the group in the store.
        consolidated
            False: list the store, even if it has consolidated metadata. The metadata of an array is
            always read from the array.
        spec
            Memory and executor of computations.
        storage_options
            Options of the store of a URL, as for :func:`cubed.from_zarr`. Default: those of `spec`.
        """
        set_options(filename_or_obj, storage_options or (spec or DEFAULT).storage_options)
        where = store_url(filename_or_obj, group.strip("/") or None if group else None)
        store = _Store(where, spec, consolidated is not False, _drop(drop_variables))
        variables, attrs, coord_names = conventions.decode_cf_variables(
            store.get_variables(),
            store.get_attrs(),
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )
        found = {name: _unwrapped(v, spec) for name, v in variables.items()}
        warn_of_unread(found)
        coords = {n: v for n, v in found.items() if n in coord_names or v.dims == (n,)}
        data = {n: v for n, v in found.items() if n not in coords}
        # Since 2025.3, Xarray creates indexes after the backend has returned, unless disabled.
        later = "create_default_indexes" in signature(open_dataset).parameters
        return Dataset(data, Coordinates(coords, indexes={} if later else None), attrs)

    def open_groups_as_dict(  # type: ignore[override]
        self,
        filename_or_obj: str | os.PathLike[Any],
        *,
        drop_variables: str | Iterable[str] | None = None,
        group: str | None = None,
        consolidated: bool | None = None,
        spec: Spec | None = None,
        storage_options: Mapping[str, Any] | None = None,
        **decoding: Any,
    ) -> dict[str, Dataset]:
        """Opens a group and all groups inside it. Returns a data set for each path.

        Parameters are those of :meth:`open_dataset`.
        """
        top = (group or "").strip("/")
        found: dict[str, Dataset] = {}
        todo = [""]
        while todo:
            below = todo.pop()
            path = "/".join(p for p in (top, below) if p)
            found["/" + below] = self.open_dataset(
                filename_or_obj,
                drop_variables=drop_variables,
                group=path,
                consolidated=consolidated,
                spec=spec,
                storage_options=storage_options,
                **decoding,
            )
            groups = _Store(store_url(filename_or_obj, path or None), spec, False, set()).groups
            todo += [f"{below}/{name}" if below else name for name in groups]
        return found

    def open_datatree(  # type: ignore[override]
        self, filename_or_obj: str | os.PathLike[Any], **options: Any
    ) -> DataTree:
        """Opens all groups as a tree. Parameters are those of :meth:`open_groups_as_dict`."""
        return DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))
