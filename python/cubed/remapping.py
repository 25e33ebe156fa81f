"""Arrays on other horizontal grids: :func:`remap`, its weights, and named grids."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import to_numpy
from cubed.base._attributes import json_attributes
from cubed.base._held import import_counted
from cubed.base._types import NDArray
from cubed.functions.remapping import apply_weights, grid_coordinates, remap_weights
from cubed.io._create import as_lazy, asarray, from_zarr
from cubed.spec import Spec

__all__ = ["Grid", "Weights", "apply_weights", "grid", "grid_coordinates", "make_weights",
           "open_weights", "remap", "remap_weights"]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Grid:
    """A horizontal grid, in degrees.

    A grid has the axes of a regular grid, or cells along one or two dimensions. Bounds have one
    more dimension than the coordinates. The mask has the shape of arrays on the grid. It is False
    for cells that are not in use: such a cell of a source has no weight, and such a cell of a
    target has no value.
    """

    lat: NDArray
    lon: NDArray
    lat_bounds: NDArray | None = None
    lon_bounds: NDArray | None = None
    unstructured: bool = False
    #: Names of dimensions and coordinates of a result on this grid.
    dims: tuple[Hashable, ...] = ()
    names: tuple[Hashable, Hashable] = ("lat", "lon")
    mask: NDArray | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of arrays on the grid."""
        if self.lat.ndim == 1 and not self.unstructured:
            return (self.lat.size, self.lon.size)
        return self.lat.shape

    def _arrays(self, spec: Spec | None) -> list[Array]:
        numbers = [self.lat, self.lon]
        if self.lat_bounds is not None and self.lon_bounds is not None:
            numbers += [self.lat_bounds, self.lon_bounds]
        return [asarray(np.ascontiguousarray(v, np.float64), spec=spec) for v in numbers]

    def _mask_array(self, spec: Spec | None) -> Array | None:
        if self.mask is None:
            return None
        return asarray(np.ascontiguousarray(self.mask, np.bool_), spec=spec)

    def _named(self) -> tuple[Hashable, ...]:
        if self.dims:
            return self.dims
        if self.lat.ndim == 1 and not self.unstructured:
            return self.names
        return ("cell",) if self.unstructured else ("y", "x")


def grid(target: Any) -> Grid:
    """Returns the grid that a name, a file or an object describes.

    Parameters
    ----------
    target : str, path, Dataset, DataArray, Grid or sequence of array_like
        One of the following.

        - A name: ``"r360x180"`` (longitudes and latitudes), ``"global_0.25"`` (degrees), ``"n80"``
          or ``"F80"`` (Gaussian), ``"lon=10_lat=50"`` (a point).
        - A CDO grid description file, or the text of one.
        - A file or store with coordinates, such as a NetCDF file: the grid of its first variable.
        - An object of Xarray with coordinates.
        - Latitudes and longitudes, and optionally the bounds of both.

    Returns
    -------
    Grid
        The grid. Its coordinates are read immediately.

    Raises
    ------
    ValueError
        If the target is none of these, or has no latitudes and longitudes.

    Examples
    --------
    >>> import cubed
    >>> cubed.remapping.grid("r360x180").shape
    (180, 360)
    """
    if isinstance(target, Grid):
        return target
    if _is_labelled(target):
        return _grid_of_xarray(target)
    if isinstance(target, (str, os.PathLike)):
        return _grid_of_text(os.fspath(target))
    numbers = [np.asarray(to_numpy(v), np.float64) for v in target]
    if len(numbers) not in (2, 4):
        raise ValueError(
            f"grid: {len(numbers)} arrays, expected latitudes and longitudes, and optionally the"
            " bounds of both"
        )
    lat, lon, *bounds = numbers
    return Grid(lat, lon, bounds[0], bounds[1]) if bounds else Grid(lat, lon)


def _grid_of_text(text: str) -> Grid:
    path = Path(text)
    is_file = "\n" not in text and len(text) < 1000 and path.exists()
    if "://" in text or (is_file and not _is_description(path)):
        return _grid_of_file(text)
    return _grid_of_parts(*_core.parse_grid(path.read_text() if is_file else text))


def _grid_of_file(place: str) -> Grid:
    return _grid_of_parts(*_core.open_grid(place))


def _grid_of_parts(
    parts: tuple[_core.Array | None, ...], is_list: bool, named: tuple[str, str, str, str]
) -> Grid:
    *arrays, mask = parts
    lat, lon, lat_bounds, lon_bounds = (
        to_numpy(Array._new(x, None)) for x in arrays if x is not None
    )
    lat_name, lon_name, *dims = named
    has_bounds = lat_bounds.shape[-1] > 0
    return Grid(
        lat,
        lon,
        lat_bounds if has_bounds else None,
        lon_bounds if has_bounds else None,
        unstructured=is_list,
        dims=tuple(d for d in dims if d),
        names=(lat_name or "lat", lon_name or "lon"),
        mask=None if mask is None else to_numpy(Array._new(mask, None)),
    )


def _is_description(path: Path) -> bool:
    if path.is_dir():
        return False
    with path.open("rb") as file:
        return b"gridtype" in file.read(4096)


# --- Objects of Xarray ---------------------------------------------------------------------------


def _is_labelled(value: Any) -> bool:
    is_of_xarray = type(value).__module__.partition(".")[0] == "xarray"
    return is_of_xarray and hasattr(value, "coords") and hasattr(value, "dims")


def _kind(name: Hashable, v: Any) -> str:
    """Returns "y" for latitudes and "x" for longitudes, by CF attributes or usual names."""
    texts = {k: t for k, t in v.attrs.items() if isinstance(k, str) and isinstance(t, str)}
    return _core.coordinate_kind(str(name), json.dumps(texts))


def _of_kind(x: Any, kind: str) -> list[Hashable]:
    return [n for n, v in x.coords.items() if 1 <= v.ndim <= 2 and _kind(n, v) == kind]


def _find(x: Any, kind: str, standard: str) -> Hashable:
    """Returns the name of a coordinate of x, found by CF attributes or usual names."""
    found = _of_kind(x, kind)
    if len(found) > 1:
        found = [n for n in found if x.coords[n].attrs.get("standard_name") == standard] or found
    if len(found) != 1:
        raise ValueError(
            f"grid: there are {len(found)} coordinates of {standard} ({', '.join(map(str, found))}"
            f" of {', '.join(map(str, x.coords))}), expected one: give its standard_name or units"
        )
    return found[0]


def _bounds_of(x: Any, name: Hashable, like: NDArray) -> NDArray | None:
    bounds = x.coords[name].attrs.get("bounds", x.coords[name].encoding.get("bounds"))
    places = (x.coords, getattr(x, "variables", {}))
    for place in places:
        if bounds in place:
            found = np.asarray(place[bounds].values, np.float64)
            return found if found.shape[:-1] == like.shape else None
    return None


def _pole_of(x: Any) -> tuple[float, float, float] | None:
    """Returns the rotated pole from the CF grid mapping of an Xarray object."""
    places = {**x.coords, **getattr(x, "variables", {})}
    named = {v.attrs.get("grid_mapping", v.encoding.get("grid_mapping")) for v in places.values()}
    named.add(x.attrs.get("grid_mapping", x.encoding.get("grid_mapping")))
    for name in sorted(n for n in named if n in places):
        pole = _core.rotated_pole(json.dumps(json_attributes(places[name].attrs)))
        if pole is not None:
            return pole
    return None


def _rotated_axes(x: Any) -> list[Hashable]:
    """Returns the names of the axes that are relative to a rotated pole: latitudes, longitudes."""
    standard, usual = ("grid_latitude", "grid_longitude"), ("rlat", "rlon")
    found: list[Hashable] = []
    for which in range(2):
        names = [n for n, v in x.coords.items() if v.attrs.get("standard_name") == standard[which]]
        names = names or [n for n in (usual[which],) if n in x.coords]
        found += names if len(names) == 1 and x.coords[names[0]].ndim == 1 else []
    return found


def _grid_of_rotated(x: Any, pole: tuple[float, float, float], names: list[Hashable]) -> Grid:
    lat, lon = (np.asarray(x.coords[n].values, np.float64) for n in names)
    bounds = [_bounds_of(x, n, v) for n, v in zip(names, (lat, lon), strict=True)]
    axes = Grid(lat, lon, *(() if any(v is None for v in bounds) else bounds))
    made = _core.rotated_grid(tuple(v._x for v in axes._arrays(None)), pole)
    lat_dim, lon_dim = (x.coords[n].dims[0] for n in names)
    return _grid_of_parts((*made, None), False, ("lat", "lon", lat_dim, lon_dim))


def _grid_of_xarray(x: Any) -> Grid:
    pole, axes = _pole_of(x), _rotated_axes(x)
    if pole and len(axes) == 2 and not (_of_kind(x, "y") and _of_kind(x, "x")):
        return _grid_of_rotated(x, pole, axes)
    lat_name, lon_name = _find(x, "y", "latitude"), _find(x, "x", "longitude")
    lat, lon = (np.asarray(x.coords[n].values, np.float64) for n in (lat_name, lon_name))
    lat_bounds, lon_bounds = _bounds_of(x, lat_name, lat), _bounds_of(x, lon_name, lon)
    if lat_bounds is None or lon_bounds is None:
        lat_bounds = lon_bounds = None
    lat_dims, lon_dims = x.coords[lat_name].dims, x.coords[lon_name].dims
    factors = [_degrees(x.coords[n].attrs.get("units")) for n in (lat_name, lon_name)]
    lat, lon = lat * factors[0], lon * factors[1]
    if lat_bounds is not None and lon_bounds is not None:
        lat_bounds, lon_bounds = lat_bounds * factors[0], lon_bounds * factors[1]
    unstructured = lat.ndim == 1 and lat_dims == lon_dims
    dims = lat_dims if lat_dims == lon_dims else lat_dims + lon_dims
    return Grid(lat, lon, lat_bounds, lon_bounds, unstructured, dims, (lat_name, lon_name))


def _degrees(units: str | None) -> float:
    return float(np.degrees(1)) if _core.units_are_radians(str(units)) else 1.0


def _with_coordinates(target: Grid, dims: tuple[Hashable, ...]) -> dict[Hashable, Any]:
    """Returns coordinates of the target for Xarray: dimensions, values and attributes."""
    made: dict[Hashable, Any] = {}
    regular = target.lat.ndim == 1 and not target.unstructured
    for which, (name, values, bounds) in enumerate(
        zip(
            target.names,
            (target.lat, target.lon),
            (target.lat_bounds, target.lon_bounds),
            strict=True,
        )
    ):
        own = (dims[which],) if regular else dims
        standard, units = (("latitude", "degrees_north"), ("longitude", "degrees_east"))[which]
        attrs: dict[str, str] = {"standard_name": standard, "units": units}
        attrs |= {"axis": "YX"[which]} if regular else {}
        if bounds is not None:
            attrs["bounds"] = f"{name}_bnds"
            made[f"{name}_bnds"] = ((*own, "bnds" if bounds.shape[-1] == 2 else "nv"), bounds)
        made[name] = (own, values, attrs)
    return made


# --- Weights -------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights that interpolate arrays from one grid to another. Each weight links a cell of the
    source to a cell of the target. Cells are numbered in C order from 0."""

    rows: NDArray  #: cells of the target
    columns: NDArray  #: cells of the source
    weights: NDArray
    source_shape: tuple[int, ...]
    target_shape: tuple[int, ...]
    method: str = ""
    source: Grid | None = dataclasses.field(default=None, repr=False)
    target: Grid | None = dataclasses.field(default=None, repr=False)

    def apply(self, x: Any, *, skipna: bool = True, na_threshold: float = 1.0) -> Array:
        """Interpolates an array to the target's grid.

        Parameters
        ----------
        x : array_like
            Values.
        skipna : bool, default True
            Whether NaN is left out.
        na_threshold : float, default 1.0
            With `skipna`, the largest part of a cell's weights that may be missing.

        Returns
        -------
        Array
            Lazy.

        Raises
        ------
        ValueError
            If the last axes of x are not the source's grid.
        """
        given = as_lazy(x)
        n = len(self.source_shape)
        if given.shape[-n:] != self.source_shape:
            raise ValueError(
                f"remap: x has the shape {given.shape}, expected {self.source_shape} along the last"
                " axes, as in the weights"
            )
        return apply_weights(
            given, self.rows, self.columns, self.weights, self.target_shape,
            ndim=n, nearest=self.method == "nearest", largest=self.method == "largest",
            skipna=skipna, na_threshold=na_threshold,
        )  # fmt: skip

    def to_dataset(self) -> Any:
        """Returns the weights in the formats of CDO, ESMF and xESMF, in one Dataset of Xarray.

        The Dataset has ``src_address``, ``dst_address`` and ``remap_matrix`` for CDO and SCRIP, and
        ``row``, ``col`` and ``S`` for ESMF and xESMF. Positions are counted from 1.
        """
        xr = import_counted("xarray")
        source, target = (
            ()
            if g is None
            else tuple(x._x for x in (*g._arrays(None), g._mask_array(None)) if x is not None)
            for g in (self.source, self.target)
        )
        parts, attrs = _core.weights_parts(
            tuple(asarray(v)._x for v in (self.rows, self.columns, self.weights)),
            self.source_shape,
            self.target_shape,
            source,
            target,
            self.source is not None and self.source.unstructured,
            self.target is not None and self.target.unstructured,
            self.method,
        )
        return xr.Dataset(
            {
                name: (x.dim_names, to_numpy(Array._new(x, None)), json.loads(x.attrs or "{}"))
                for name, x in parts
            },
            attrs=json.loads(attrs),
        )

    def to_netcdf(self, path: str | os.PathLike[str]) -> None:
        """Writes the weights to a NetCDF file that :func:`open_weights`, CDO, ESMF and xESMF can
        read.

        Parameters
        ----------
        path : str or path
            The new file.
        """
        self.to_dataset().to_netcdf(path)


def make_weights(
    source: Any,
    target: Any,
    method: str = "bilinear",
    *,
    neighbours: int = 4,
    spec: Spec | None = None,
) -> Weights:
    """Computes weights that interpolate arrays from one grid to another.

    Parameters
    ----------
    source : str, path, Dataset, DataArray, Grid or sequence of array_like
        As for :func:`grid`.
    target : str, path, Dataset, DataArray, Grid or sequence of array_like
        As for :func:`grid`.
    method : str, default "bilinear"
        One of the methods of :func:`remap`.
    neighbours : int, default 4
        Number of centres for ``"distance"``.
    spec : Spec or None
        Its `allowed_mem` bounds the memory of making weights. None: the default.

    Returns
    -------
    Weights
        The weights, in memory: 24 bytes for each weight. A cell of the target has one weight for
        ``"nearest"``, four for ``"bilinear"``, `neighbours` for ``"distance"``, or one for each
        cell that it overlaps.

    Raises
    ------
    PlanTooLargeError
        If the memory that `spec` allows is too little. Making weights needs 52 bytes for each
        weight. A search also needs 123 bytes for each cell of the source. Only bilinear weights of
        regional axes, and conservative weights between axes, need no search.
    ValueError
        If an argument has another value than described.
    NotImplementedError
        If a grid lacks the bounds or dimensions that the method needs.

    Examples
    --------
    >>> import cubed
    >>> weights = cubed.remapping.make_weights("r8x4", "r4x2", "conservative")
    >>> weights.apply(cubed.ones((4, 8))).compute()
    array([[1., 1., 1., 1.],
           [1., 1., 1., 1.]])
    """
    a, b = grid(source), grid(target)
    rows, columns, weights = (
        to_numpy(v)
        for v in remap_weights(
            a._arrays(spec), b._arrays(spec), method, neighbours=neighbours,
            source_unstructured=a.unstructured, target_unstructured=b.unstructured,
            source_mask=a._mask_array(spec), target_mask=b._mask_array(spec),
        )
    )  # fmt: skip
    return Weights(rows, columns, weights, a.shape, b.shape, method, a, b)


def open_weights(
    path: Any,
    source_shape: tuple[int, ...] | None = None,
    target_shape: tuple[int, ...] | None = None,
) -> Weights:
    """Reads weights from a weights file of CDO (``cdo gencon``, ...), SCRIP, ESMF or xESMF.

    Parameters
    ----------
    path : str, path or Dataset
        The file, or a Dataset that Xarray opened.
    source_shape : tuple of int or None
        Shape of the source's grid. None: the shape in the file.
    target_shape : tuple of int or None
        Shape of the target's grid. None: the shape in the file.

    Returns
    -------
    Weights
        In memory.

    Raises
    ------
    ValueError
        If the file has no links, or does not contain the shapes of the grids.
    NotImplementedError
        If links have several weights, as second-order conservative and bicubic weights for
        gradients do.

    Examples
    --------
    >>> import cubed
    >>> import xarray as xr
    >>> file = xr.Dataset({"row": ("n_s", [1]), "col": ("n_s", [2]), "S": ("n_s", [1.0])})
    >>> weights = cubed.remapping.open_weights(file, (1, 2), (1,))
    >>> weights.apply([[3.0, 4.0]]).compute()
    array([4.])
    """

    def find(name: str) -> _core.Array | None:
        if isinstance(path, Mapping):
            return asarray(np.asarray(path[name].values))._x if name in path else None
        try:
            return from_zarr(f"{os.fspath(path)}::{name}", decode=True)._x
        except FileNotFoundError:
            return None

    shown = "weights" if isinstance(path, Mapping) else os.fspath(path)
    links, source, target = _core.read_weights(
        find, shown, source_shape or (), target_shape or (), 0
    )
    rows, columns, weights = (to_numpy(Array._new(x, None)) for x in links)
    return Weights(rows, columns, weights, source, target)


# --- remap ---------------------------------------------------------------------------------------


def remap(
    x: Any,
    target: Any,
    method: str = "bilinear",
    *,
    lat: Any = None,
    lon: Any = None,
    weights: Any = None,
    skipna: bool = True,
    na_threshold: float = 1.0,
    neighbours: int = 4,
) -> Any:
    """Interpolates an array, or all variables of a Dataset, to another horizontal grid.

    Weights are computed when the function is called, from coordinates alone, and stay in memory.
    Their application is lazy: each task reads only the part of the source that it needs. See
    :func:`cubed.remapping.make_weights` for the memory of weights, which `x.spec` bounds.

    Parameters
    ----------
    x : array_like, DataArray or Dataset
        Values. In Xarray objects, latitudes and longitudes are found by their standard names,
        units or names. Other arrays have the grid along their last axes.
    target : str, path, Dataset, DataArray, Grid or sequence of array_like
        The new grid: a name such as ``"r360x180"``, ``"global_0.25"`` or ``"n80"``, a grid
        description file, a file or object with the grid, or latitudes and longitudes. See
        :func:`cubed.remapping.grid`. None: the grid of `weights`.
    method : str, default "bilinear"
        One of the following.

        - ``"bilinear"``: between the four centres around a point.
        - ``"bicubic"``: between the 16 centres around a point, by cubic polynomials.
        - ``"nearest"``: the value of the nearest centre.
        - ``"distance"``: a mean of the nearest centres by inverse distance.
        - ``"conservative"``: a mean over the areas that cells share, which keeps integrals.
        - ``"conservative2"``: a mean over shared areas, of second order: with a gradient in each
          cell.
        - ``"largest"``: the value that covers the largest part of the cell's area, such as a class.

        With ``"bicubic"`` and ``"conservative2"``, a cell is missing if it needs a missing value.
    lat : array_like or None
        Latitudes of an array without coordinates, in degrees: an axis, or one for each cell.
    lon : array_like or None
        Longitudes of such an array, in degrees.
    weights : Weights, str, path, Dataset or None
        Weights of :func:`cubed.remapping.make_weights`, or a weights file of CDO, ESMF or xESMF.
        None: weights are computed by `method`. With a file, the methods ``"nearest"`` and
        ``"largest"`` copy values.
    skipna : bool, default True
        Whether NaN is left out, and the other weights of a cell are scaled instead.
    na_threshold : float, default 1.0
        With `skipna`, the largest part of a cell's weights that may be missing. If more is missing,
        the cell is NaN. A cell without any value is always NaN.
    neighbours : int, default 4
        Number of centres for ``"distance"``.

    Returns
    -------
    Array, DataArray or Dataset
        The values on the new grid, with its coordinates. Lazy. Floats keep their type. Integers
        become float64, except with ``"nearest"`` and ``"largest"``. Variables of a Dataset without
        the grid's dimensions stay unchanged. Variables with only some of these dimensions are left
        out. Variables that are not real numbers are also left out, unless the method is
        ``"nearest"``.

    Raises
    ------
    PlanTooLargeError
        If making, storing or applying the weights needs more memory than a task may use.
    ValueError
        If a grid cannot be found, or the array's axes do not have its lengths.
    TypeError
        If the elements are not real numbers, unless the method is ``"nearest"``.
    NotImplementedError
        If a grid lacks the bounds or dimensions that the method needs.

    See Also
    --------
    cubed.remapping.make_weights

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]])
    >>> lat, lon = [-45, 45], [0, 90, 180, 270]
    >>> cubed.remap(x, "lon=45_lat=0", lat=lat, lon=lon).compute()
    array([[2.5]])
    """
    if target is None and weights is None:
        raise ValueError("remap: target is None, expected a grid, or weights that have one")
    goal = None if target is None else grid(target)
    if _is_labelled(x):
        if lat is not None or lon is not None:
            raise ValueError("remap: lat and lon are those of x, an Xarray object: omit them")
        return _remap_labelled(x, goal, method, weights, skipna, na_threshold, neighbours)
    given = as_lazy(x)
    if weights is not None:
        used = _weights_of(weights, None, goal, method)
    elif lat is None or lon is None:
        raise ValueError("remap: an array has no coordinates: pass lat and lon")
    else:
        used = make_weights(
            _grid_beside(given.shape, lat, lon), goal, method, neighbours=neighbours,
            spec=given.spec,
        )  # fmt: skip
    return used.apply(given, skipna=skipna, na_threshold=na_threshold)


def _grid_beside(shape: tuple[int, ...], lat: Any, lon: Any) -> Grid:
    """Returns the grid on which an array of this shape has the coordinates `lat` and `lon`.

    Coordinates with one dimension belong to the last two axes if they have the lengths of these
    axes. Otherwise they belong to cells along the last axis, if both have its length.
    """
    lats, lons = (np.asarray(to_numpy(v), np.float64) for v in (lat, lon))
    is_axes = lats.ndim == 1 and shape[-2:] == (lats.size, lons.size)
    cells = lats.ndim == 1 and not is_axes and shape[-1:] == lats.shape == lons.shape
    return Grid(lats, lons, unstructured=cells)


def _weights_of(weights: Any, source: Grid | None, target: Grid | None, method: str) -> Weights:
    if isinstance(weights, Weights):
        return weights
    opened = open_weights(
        weights,
        None if source is None else source.shape,
        None if target is None else target.shape,
    )
    # A file of weights does not record that these methods copy values instead of averaging them.
    return (
        dataclasses.replace(opened, method=method) if method in ("nearest", "largest") else opened
    )


def _remap_labelled(
    x: Any,
    goal: Grid | None,
    method: str,
    weights: Any,
    skipna: bool,
    na_threshold: float,
    neighbours: int,
) -> Any:
    xr = import_counted("xarray")
    source = _grid_of_xarray(x)
    if weights is None:
        used = make_weights(source, goal, method, neighbours=neighbours, spec=_spec_of(x))
    else:
        used = _weights_of(weights, source, goal, method)
    goal = goal or used.target
    if goal is None:
        raise ValueError("remap: the weights do not contain coordinates of the target: pass target")
    if goal.shape != used.target_shape:
        raise ValueError(
            f"remap: the target has the shape {goal.shape}, the weights have {used.target_shape}"
        )
    dims = goal._named()
    coords = _with_coordinates(goal, dims)

    def moved(v: Any) -> Any:
        outer = tuple(d for d in v.dims if d not in source.dims)
        turned = v.transpose(*outer, *source.dims)
        data = used.apply(_lazy_data(turned), skipna=skipna, na_threshold=na_threshold)
        attrs = {k: a for k, a in v.attrs.items() if k != "grid_mapping"}  # the source's
        return xr.Variable((*outer, *dims), data, attrs)

    whole = x._to_temp_dataset() if isinstance(x, xr.DataArray) else x
    dropped = {n for n in source.names if n in whole.coords}
    dropped |= {whole.coords[n].attrs.get("bounds") for n in dropped}
    kept: dict[Hashable, Any] = {}
    for name, v in whole.variables.items():
        on_grid = [d for d in source.dims if d in v.dims]
        if name in dropped or (on_grid and (name in source.dims or name in whole.coords)):
            continue
        if len(on_grid) == len(source.dims):
            if v.dtype.kind not in "biuf" and method != "nearest":
                if isinstance(x, xr.DataArray) and name not in x.coords:
                    raise TypeError(
                        f"remap: x is of type {v.dtype}, expected real numbers; the method nearest"
                        " accepts all types"
                    )
                continue  # dates, and names of cells, have no mean
            kept[name] = moved(v)
        elif not on_grid:
            kept[name] = v
    names = [n for n in whole.coords if n in kept]
    made = xr.Dataset(
        {n: v for n, v in kept.items() if n not in names},
        {**{n: kept[n] for n in names}, **coords},
        whole.attrs,
    )
    return x._from_temp_dataset(made) if isinstance(x, xr.DataArray) else made


def _spec_of(x: Any) -> Spec | None:
    """Returns the spec of the first lazy variable; None if no variable is lazy."""
    whole = x._to_temp_dataset() if hasattr(x, "_to_temp_dataset") else x
    lazy = (v._data for v in whole.variables.values() if isinstance(v._data, Array))
    return next((v.spec for v in lazy), None)


def _lazy_data(v: Any) -> Any:
    """Returns the array of a variable. If its elements have not been read from a file yet, the
    array is lazy."""
    if v.chunks is None and not v._in_memory and v.ndim > 0:
        v = v.chunk("auto", chunked_array_type="cubed")
    return v.data
