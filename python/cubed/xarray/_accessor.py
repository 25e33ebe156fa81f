"""The accessor ``cubed`` of Xarray's objects, and how it replaces that of cubed-xarray."""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

import xarray as xr

import cubed
from cubed.array._array import Array
from cubed.planning._compute import Plan

if TYPE_CHECKING:
    from cubed.diagnostics.estimate import Estimate, Profile


class Accessor:
    """What ``ds.cubed`` and ``da.cubed`` offer for lazy arrays.

    A plan is that of all lazy variables and coordinates together.
    """

    def __init__(self, owner: xr.Dataset | xr.DataArray) -> None:
        self._owner = owner

    def _lazy(self, method: str) -> list[Array]:
        """The lazy arrays of the object; TypeError if there is none."""
        owner = self._owner
        if isinstance(owner, xr.Dataset):
            parts = list(owner.variables.values())
        else:
            parts = [owner.variable, *(c.variable for c in owner.coords.values())]
        # Variables in memory stay out: `data` would load those that a backend has not read yet.
        lazy = [p.data for p in parts if isinstance(p._data, Array)]
        if not lazy:
            raise TypeError(
                f"{method}: the {type(owner).__name__} has no lazy array of Cubed, expected at"
                ' least one: make some by .chunk(chunked_array_type="cubed")'
            )
        return lazy

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
        lazy = self._lazy("visualize")
        return cubed.visualize(*lazy, filename=filename, format=format, **options)

    def plan(self, **options: Any) -> Plan:
        """Returns the plan that computing the object would run.

        Parameters
        ----------
        **options
            Options of :func:`cubed.plan`.

        Returns
        -------
        Plan
            With numbers of tasks, bytes and memory. Nothing is computed.

        Raises
        ------
        TypeError
            The object has no lazy array of Cubed.
        """
        return cubed.plan(*self._lazy("plan"), **options)

    def estimate(self, profile: str | Profile = "local-nvme") -> Estimate:
        """Estimates time, requests and cost of computing the object on a kind of machine.

        Parameters
        ----------
        profile
            As for :meth:`cubed.Plan.estimate`.

        Returns
        -------
        Estimate
            Nothing is computed.

        Raises
        ------
        TypeError
            The object has no lazy array of Cubed.
        """
        return cubed.plan(*self._lazy("estimate")).estimate(profile)

    def compute(self, **options: Any) -> Any:
        """Computes the object in one plan.

        Parameters
        ----------
        **options
            Options of :func:`cubed.compute`, such as `executor`, `callbacks` and `resume`.

        Returns
        -------
        Dataset or DataArray
            A copy of the object with its values in memory. The object itself stays lazy.

        Raises
        ------
        TypeError
            The object has no lazy array of Cubed.
        """
        self._lazy("compute")
        return self._owner.compute(**options)


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
