"""Writes new arrays with the package zarr if the engine does not support the store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cubed.array._array import Array
from cubed.base._stores import for_zarr, note_slow
from cubed.exceptions import ArrayExistsError


class ForeignPlace:
    """The location of an array that only the package zarr can read and write: a path in a store of
    zarr-python, fsspec or obstore, or a path in a URL that fsspec supports with its options.
    """

    def __init__(
        self, store: Any, path: str | None = None, options: Mapping[str, Any] | None = None
    ) -> None:
        is_url = isinstance(store, (str, os.PathLike))
        self.store, self.path = for_zarr(store, path or None)
        self.options = dict(options) if options and is_url else None
        if not is_url:
            note_slow(store)

    def open(self, mode: str) -> Any:
        """Opens the existing array as a zarr-python array."""
        import zarr

        return zarr.open_array(
            self.store, path=self.path or "", mode=mode, storage_options=self.options
        )

    def __repr__(self) -> str:
        of = "a dictionary" if isinstance(self.store, dict) else repr(self.store)
        return of + (f" at {self.path!r}" if self.path else "")


class NewArray:
    """An array of zarr-python that is created when writing begins and then assigned to. It has the
    shape, type and longest chunks of `x`, the array to write.
    """

    def __init__(self, place: ForeignPlace, x: Array, compressor: Any, overwrite: bool) -> None:
        self._place = place
        self._codecs = _codecs(compressor)
        self._overwrite = overwrite
        self._array: Any = None
        self.shape = x.shape
        self.dtype = x.dtype
        self.chunks = tuple(max(1, n) for n in x.chunksize)

    @property
    def store(self) -> Any:
        """The store of the chunks."""
        return self._place.store

    @property
    def path(self) -> str | None:
        """The path in the store."""
        return self._place.path

    def create(self) -> None:
        """Creates the array. Raises FileExistsError if an array or group exists that must not be
        replaced."""
        import zarr

        try:
            self._array = zarr.create_array(
                self._place.store,
                name=self._place.path,
                shape=self.shape,
                dtype=self.dtype,
                chunks=self.chunks,
                overwrite=self._overwrite,
                storage_options=self._place.options,
                **self._codecs,
            )
        except (FileExistsError, zarr.errors.ContainsArrayError, zarr.errors.ContainsGroupError):
            raise ArrayExistsError(f"{self._place!r} exists: overwrite=True replaces it") from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key] = value

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]


def _codecs(compressor: Any) -> dict[str, Any]:
    """Returns the arguments of zarr.create_array. Codecs before the one that converts arrays to
    bytes are passed as filters."""
    if isinstance(compressor, str):
        return {}
    if compressor is None:
        return {"compressors": None}
    codecs = [compressor] if isinstance(compressor, Mapping) else list(compressor)
    at = next((i for i, c in enumerate(codecs) if c["name"] == "bytes"), None)
    if at is None:
        return {"compressors": codecs}
    return {
        "filters": codecs[:at] or None,
        "serializer": codecs[at],
        "compressors": codecs[at + 1 :] or None,
    }
