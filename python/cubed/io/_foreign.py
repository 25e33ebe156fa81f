"""Writing new arrays by the package zarr, where the engine has no store."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from cubed.array._array import Array
from cubed.base._stores import for_zarr, note_slow
from cubed.exceptions import ArrayExistsError


class ForeignPlace:
    """Where an array is, or goes, that only the package zarr reads and writes: a path in a store of
    zarr-python, fsspec or obstore, or in a URL that fsspec knows, with its options.
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
        """The array that is there, as zarr-python's."""
        import zarr

        return zarr.open_array(
            self.store, path=self.path or "", mode=mode, storage_options=self.options
        )

    def __repr__(self) -> str:
        of = "a dictionary" if isinstance(self.store, dict) else repr(self.store)
        return of + (f" at {self.path!r}" if self.path else "")


class NewArray:
    """An array of zarr-python that is made when writing begins, and is assigned to then: of the
    shape, type and longest chunks of `x`, which will be written.
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
        """What holds the chunks."""
        return self._place.store

    @property
    def path(self) -> str | None:
        """Where in the store."""
        return self._place.path

    def create(self) -> None:
        """Makes the array; FileExistsError if there is something that is not to be replaced."""
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
            raise ArrayExistsError(
                f"there is something in {self._place!r}: overwrite=True replaces it"
            ) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key] = value

    def __getitem__(self, key: Any) -> Any:
        return self._array[key]


def _codecs(compressor: Any) -> dict[str, Any]:
    """Arguments of zarr.create_array; codecs before the one that makes bytes are filters."""
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
