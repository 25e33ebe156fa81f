"""The accessor ``cubed`` of Xarray's objects, and how it replaces that of cubed-xarray."""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType
from typing import Any

import xarray as xr

import cubed
from cubed.array._array import Array


class Accessor:
    """What ``ds.cubed`` and ``da.cubed`` offer for lazy arrays."""

    def __init__(self, owner: xr.Dataset | xr.DataArray) -> None:
        self._owner = owner

    def visualize(
        self, filename: str | os.PathLike[str] = "cubed", format: str | None = None, **options: Any
    ) -> Any:
        """Draws the plan that computing the object would run.

        Parameters
        ----------
        filename, format
            As for :func:`cubed.visualize`.
        **options
            Other options of :func:`cubed.visualize`.

        Returns
        -------
        Picture
            The file, which notebooks show. Nothing is computed.

        Raises
        ------
        TypeError
            The object has no lazy array of Cubed.
        """
        owner = self._owner
        if isinstance(owner, xr.Dataset):
            parts = list(owner.variables.values())
        else:
            parts = [owner.variable, *(c.variable for c in owner.coords.values())]
        # Variables in memory stay out: `data` would load those that a backend has not read yet.
        lazy = [p.data for p in parts if isinstance(p._data, Array)]
        if not lazy:
            raise TypeError(
                f"visualize: the {type(owner).__name__} has no lazy array of Cubed, expected at"
                ' least one: make some by .chunk(chunked_array_type="cubed")'
            )
        return cubed.visualize(*lazy, filename=filename, format=format, **options)


def register() -> None:
    """Registers the accessor, unless a third package has one of this name.

    That of cubed-xarray is imported and replaced first: registered later, Xarray would warn that it
    overrides ours.
    """
    namesake()
    for owner, add in (
        (xr.Dataset, xr.register_dataset_accessor),
        (xr.DataArray, xr.register_dataarray_accessor),
    ):
        found = getattr(owner, "cubed", None)
        if found is not None and found.__module__.partition(".")[0] == "cubed_xarray":
            delattr(owner, "cubed")
            found = None
        if found is None:
            add("cubed")(Accessor)  # type: ignore[no-untyped-call]


def namesake() -> ModuleType | None:
    """The module of cubed-xarray with its chunk manager and accessor; None if it cannot be used."""
    if importlib.util.find_spec("cubed_xarray") is None:
        return None
    try:
        return importlib.import_module("cubed_xarray.cubedmanager")
    except ModuleNotFoundError:  # installed without toolz, which it needs: Xarray skips it, too
        return None
