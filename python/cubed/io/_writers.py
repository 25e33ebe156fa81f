"""Writes into existing arrays, as Xarray's writers do."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import threading
from typing import Any

from cubed.array._array import Array
from cubed.io._store import Delayed, Stored
from cubed.planning._options import RunOptions


def store(
    sources: Any,
    targets: Any,
    lock: Any = None,
    compute: bool = True,
    regions: Any = None,
    flush: bool = True,
    **kwargs: Any,
) -> Any:
    """Writes arrays into existing arrays, in one plan. Without a lock, Zarr arrays in local
    directories are written without the GIL. Other targets are written with ``target[region] =
    values``, chunk by chunk.

    The lock (True: one for this call) is held while a chunk is written. Locks and targets that
    cannot be pickled need executors within this process. With ``compute=False``, ``compute()`` of
    the returned object writes. `flush` is for compatibility; `kwargs` are options of the executor.
    """
    arrays = [sources] if isinstance(sources, Array) else list(sources)
    places = [targets] if isinstance(sources, Array) else list(targets)
    if regions is None or isinstance(regions, tuple):
        regions = [regions] * len(arrays)
    if not len(arrays) == len(places) == len(regions):
        raise ValueError(
            f"store has {len(arrays)} sources for {len(places)} targets, {len(regions)} regions"
        )
    guard = threading.Lock() if lock is True else lock or None
    writes = [
        Stored(x, place, region, True, True)
        for x, place, region in zip(arrays, places, regions, strict=True)
    ]
    later = functools.partial(Delayed(writes, guard).compute, RunOptions.of(kwargs))
    if compute:
        return later()
    # Xarray uses Dask to perform its own steps after the writes.
    if importlib.util.find_spec("dask"):
        return importlib.import_module("dask").delayed(later)()
    return _Later(later)


class _Later:
    """Delayed writes, which ``compute()`` performs."""

    def __init__(self, write: Any) -> None:
        self._write = write

    def compute(self) -> None:
        """Writes the arrays."""
        self._write()
