"""Writing arrays to stores."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed._array import Array, common_spec
from cubed._compute import Plan
from cubed._create import store_url
from cubed.runtime.create import executor_for


def _codecs(compressor: Any) -> str | None:
    if isinstance(compressor, str) and compressor == "auto":
        return None
    return json.dumps([] if compressor is None else compressor)


def store(
    sources: Array | Sequence[Array],
    targets: Any,
    regions: Any = None,
    compute: bool = True,
    *,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    **kwargs: Any,
) -> None:
    """Writes arrays to Zarr arrays, in one plan.

    Parameters
    ----------
    targets
        For each source where its Zarr array goes: a directory. What is there is replaced once the
        new one is whole.
    """
    arrays = [sources] if isinstance(sources, Array) else list(sources)
    places = [targets] if isinstance(sources, Array) else list(targets)
    if len(arrays) != len(places):
        raise ValueError(f"{len(arrays)} sources for {len(places)} targets")
    if regions is not None:
        raise NotImplementedError("store into regions of an array that exists")
    if not compute:
        raise NotImplementedError("store with compute=False")
    spec = common_spec(*arrays)
    codecs = _codecs(spec.zarr_compressor if spec is not None else "auto")
    out: list[tuple[_core.Array, _core.Target | None]] = []
    for a, place in zip(arrays, places, strict=True):
        options: _core.Target = {"url": store_url(place), "overwrite": True, "codecs": codecs}
        out.append((a._x, options))
    p = Plan(out, spec, executor_for(executor, spec, kwargs), optimize_graph)
    p.execute((), callbacks, resume)


_write = store  # to_zarr has a parameter of that name


def to_zarr(
    x: Array,
    store: Any,
    path: str | None = None,
    region: Any = None,
    compute: bool = True,
    *,
    executor: Any = None,
    callbacks: Sequence[Any] | None = None,
    optimize_graph: bool = True,
    resume: bool | None = None,
    **kwargs: Any,
) -> None:
    """Writes x to the Zarr array at `path` of a store, a local directory: :func:`cubed.store`."""
    _write(
        x,
        store_url(store, path),
        region,
        compute,
        executor=executor,
        callbacks=callbacks,
        optimize_graph=optimize_graph,
        resume=resume,
        **kwargs,
    )
