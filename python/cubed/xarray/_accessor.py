"""The accessor ``cubed`` of Xarray's objects, which replaces that of cubed-xarray."""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import xarray as xr

import cubed
from cubed.array._array import Array
from cubed.planning._compute import Plan
from cubed.xarray._calls import AUTO, dimension
from cubed.xarray._functions import Functions

if TYPE_CHECKING:
    from cubed.diagnostics.estimate import Estimate, Profile


class Accessor(Functions):
    """Methods of lazy arrays, ``ds.cubed`` and ``da.cubed``.

    A plan includes all lazy variables and coordinates of the object. Climate and field functions,
    such as ``da.cubed.ymonmean()``, find dates, areas and levels by CF coordinates. Their results
    have coordinates and attributes.
    """

    def __init__(self, owner: xr.Dataset | xr.DataArray) -> None:
        self._owner = owner

    def remap(self, target: Any, method: str = "bilinear", **options: Any) -> Any:
        """Interpolates the object to another horizontal grid.

        Parameters
        ----------
        target, method
            As for :func:`cubed.remap`.
        **options
            Other options of :func:`cubed.remap`.

        Returns
        -------
        DataArray or Dataset
            Lazy, with the coordinates of the new grid.
        """
        return cubed.remap(self._owner, target, method, **options)

    def trend(self, dim: str = "time") -> xr.Dataset:
        """Fits a line to each series by least squares, per time step.

        Parameters
        ----------
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        Dataset
            Variables `slope`, `intercept` (the value at the first time), `stderr` (the standard
            error of the slope) and `pvalue` (the two-sided probability of such a slope without a
            trend, by Student's t test). For a Dataset, their names begin with those of its
            variables.
        """
        whole = self._owner if isinstance(self._owner, xr.Dataset) else None
        found = {
            name: getattr(self, f"trend_{name}")(dim=dim)
            for name in ("slope", "intercept", "stderr", "pvalue")
        }
        if whole is None:
            return xr.Dataset(found)
        dated = [n for n in whole.data_vars if n in found["slope"] and dim in whole[n].dims]
        return xr.Dataset({f"{n}_{name}": v[n] for n in dated for name, v in found.items()})

    def _lazy(self, method: str) -> list[Array]:
        """Returns the lazy arrays of the object; TypeError if there is none."""
        owner = self._owner
        if isinstance(owner, xr.Dataset):
            parts = list(owner.variables.values())
        else:
            parts = [owner.variable, *(c.variable for c in owner.coords.values())]
        # Only lazy variables are considered, because `data` would load variables that a backend has
        # not read yet.
        lazy = [p.data for p in parts if isinstance(p._data, Array)]
        if not lazy:
            raise TypeError(
                f"{method}: the {type(owner).__name__} has no lazy Cubed array, expected at"
                ' least one: make some by .chunk(chunked_array_type="cubed")'
            )
        return lazy

    def eofs(self, n: int, weights: Any = AUTO, dim: str = "time") -> xr.Dataset:
        """Computes empirical orthogonal functions: the patterns that explain most of the variance.

        Parameters
        ----------
        n : int
            Number of functions.
        weights : DataArray, None or "auto", default "auto"
            Weights of cells. None: equal weights, as in CDO's ``eof``. ``"auto"``: areas of the
            cells, by the coordinates.
        dim : str, default "time"
            Dimension of the times.

        Returns
        -------
        Dataset
            Variables `patterns`, `variances` (the part of the variance about zero that each pattern
            explains) and `coefficients`, along a dimension `mode` that counts from 1. Lazy. Pass
            anomalies for variances about the mean.

        Raises
        ------
        TypeError
            For a Dataset.
        """
        x = self._owner
        if isinstance(x, xr.Dataset):
            raise TypeError(
                "eofs: the object is a Dataset, expected a DataArray: choose a variable"
            )
        dim = dimension(x, dim, "eofs")
        cells = x.isel({dim: 0}, drop=True)
        if isinstance(weights, str) and weights == AUTO:
            weights = type(self)(cells).gridarea()
        if weights is not None:
            weights = weights.broadcast_like(cells).transpose(*cells.dims).data
        found = cubed.eofs(x.data, n, weights, axis=x.get_axis_num(dim))
        mode = {"mode": ("mode", np.arange(1, n + 1))}
        patterns = xr.DataArray(found.patterns, {**cells.coords, **mode}, ("mode", *cells.dims))
        dated = {k: v for k, v in x.coords.items() if v.dims == (dim,)}
        return xr.Dataset(
            {
                "patterns": patterns,
                "variances": ("mode", found.variances),
                "coefficients": ((dim, "mode"), found.coefficients),
            },
            {**dated, **mode},
        )

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
            The object has no lazy Cubed array.
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
            The plan, with numbers of tasks, bytes and memory. Nothing is computed.

        Raises
        ------
        TypeError
            The object has no lazy Cubed array.
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
        The estimate. Nothing is computed.

        Raises
        ------
        TypeError
            The object has no lazy Cubed array.
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
            The object has no lazy Cubed array.
        """
        self._lazy("compute")
        return self._owner.compute(**options)


def register() -> None:
    """Registers the accessor, unless a package other than cubed-xarray has registered one of this
    name.

    The accessor of cubed-xarray is imported first and then replaced. If it were registered later,
    Xarray would warn that it overrides ours.
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
    """Returns the module of cubed-xarray with its chunk manager; None if it cannot be imported."""
    if importlib.util.find_spec("cubed_xarray") is None:
        return None
    try:
        return importlib.import_module("cubed_xarray.cubedmanager")
    # cubed-xarray is installed without toolz, which it needs. Xarray also skips it in this case.
    except ModuleNotFoundError:
        return None
