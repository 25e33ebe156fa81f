"""Writing into arrays that exist, as Xarray's writers do."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

import cubed
from cubed._array import Array


def store(
    sources: Any,
    targets: Any,
    lock: Any = None,
    compute: bool = True,
    regions: Any = None,
    flush: bool = True,
    **kwargs: Any,
) -> Any:
    """Writes arrays into arrays with ``target[region] = values``, chunk by chunk, in one plan.

    Parameters
    ----------
    sources, targets, regions
        An array and where it goes, or lists of them. A region is a tuple of slices; None: all.
    lock
        Held while a chunk is written: a lock, or True for one of this call. A lock that cannot be
        pickled is for one process alone.
    compute
        False: nothing is written until ``compute()`` of what is returned.
    flush
        For compatibility.
    **kwargs
        Options of the executor.

    Raises
    ------
    ValueError
        Numbers of sources, targets and regions differ, or a shape is not that of its region.
    """
    arrays = [sources] if isinstance(sources, Array) else list(sources)
    places = [targets] if isinstance(sources, Array) else list(targets)
    if regions is None or isinstance(regions, tuple):
        regions = [regions] * len(arrays)
    if not len(arrays) == len(places) == len(regions):
        raise ValueError(
            f"store has {len(arrays)} sources for {len(places)} targets, {len(regions)} regions"
        )
    if lock is True:
        lock = threading.Lock()
    written = [
        _written(a, t, r, lock or None) for a, t, r in zip(arrays, places, regions, strict=True)
    ]

    def write() -> None:
        cubed.compute(*written, **kwargs)

    if compute:
        return write()
    if importlib.util.find_spec("dask"):  # Xarray makes its own steps wait for it with Dask
        return importlib.import_module("dask").delayed(write)()
    return _Later(write)


class _Later:
    """Something to be done by ``compute()``."""

    def __init__(self, write: Any) -> None:
        self._write = write

    def compute(self) -> None:
        """Does it."""
        self._write()


def _written(x: Array, target: Any, region: Any, lock: Any) -> Array:
    """An array with an element for each chunk of x, computing which writes x."""
    shape = tuple(target.shape)
    if region is None:
        region = (slice(None),) * x.ndim
    steps = [range(n)[r] for n, r in zip(shape, region, strict=True)]
    if tuple(map(len, steps)) != x.shape:
        raise ValueError(f"an array of shape {x.shape} for region {region} of shape {shape}")
    sizes = x.chunks
    return cubed.map_blocks(
        _Writer(target, steps, [np.cumsum((0, *c)) for c in sizes], lock),
        x,
        dtype=bool,
        chunks=tuple((1,) * len(c) for c in sizes),
    )


class _Writer:
    """Writes a block where it goes."""

    def __init__(
        self, target: Any, steps: Sequence[range], edges: Sequence[np.ndarray], lock: Any
    ) -> None:
        self._target = target
        self._steps = steps
        self._edges = edges
        self._lock = lock

    def __call__(self, block: np.ndarray, block_id: tuple[int, ...] = ()) -> np.ndarray:
        key = tuple(
            _slice(r[e[i] : e[i + 1]])
            for r, e, i in zip(self._steps, self._edges, block_id, strict=True)
        )
        with self._lock or contextlib.nullcontext():
            self._target[key if key else ...] = block
        return np.ones((1,) * block.ndim, bool)


def _slice(r: range) -> slice:
    if r.step < 0:
        raise ValueError("a region with a negative step")
    return slice(r.start, r.stop, r.step)
