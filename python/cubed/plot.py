"""Draws maps and series with Xarray and Matplotlib, for the command ``cubed plot``."""

from __future__ import annotations

import argparse
import os
from typing import Any

import xarray as xr

import cubed

__all__ = ["draw"]

#: Maximum number of elements along an axis of a diagram.
_MOST = 2048


def draw(
    store: str | os.PathLike[str],
    to: str | os.PathLike[str],
    *,
    colors: str | None = None,
    title: str | None = None,
    spec: cubed.Spec | None = None,
) -> None:
    """Draws the arrays of a Zarr group over their coordinates.

    A 2-dimensional array is drawn as a map, a 1-dimensional array as a series. Series along the
    same dimension with the same units share a diagram. If a dimension has more than 2048 elements,
    the diagram shows means of neighbouring elements.

    Parameters
    ----------
    store : str or os.PathLike
        Path or URL of the group. Its dimensions must have names.
    to : str or os.PathLike
        Output file: ``.png``, ``.svg`` or ``.pdf``.
    colors : str or None
        Name of a Matplotlib colour map; None: Xarray's choice.
    title : str or None
        Title of the figure.
    spec : Spec or None
        Resources to read the image and compute means.

    Raises
    ------
    ValueError
        If the group has nothing to draw, an array has no dimensions or more than two, its values
        are not real numbers or times, or Matplotlib has no such colour map.

    Examples
    --------
    >>> import xarray as xr
    >>> x = xr.DataArray(np.arange(6.0).reshape(2, 3), dims=("lat", "lon"), name="t")
    >>> _ = x.to_dataset().to_zarr("map.zarr")
    >>> cubed.plot.draw("map.zarr", "map.png")
    """
    from matplotlib import colormaps
    from matplotlib.figure import Figure

    if colors is not None and colors not in colormaps:
        raise ValueError(f"colors is {colors!r}, expected a colour map of Matplotlib's (RdBu_r)")
    # Variables that describe other variables, such as bounds, become coordinates, which are not
    # drawn.
    opened = xr.open_dataset(
        os.fspath(store), engine="cubed", decode_coords="all", spec=spec, chunks={}
    )
    with opened as ds:
        panels = _panels(ds)
        data, steps = _thinned(ds)
    figure = Figure(figsize=(8, 4.5 * len(panels)), dpi=150, layout="constrained")
    for axes, names in zip(figure.subplots(len(panels), squeeze=False)[:, 0], panels, strict=True):
        _draw_panel(axes, [data[name] for name in names], colors)
    if title is not None:
        figure.suptitle(title)
    if steps:
        text = ", ".join(f"{k} along {dim}" for dim, k in steps.items())
        figure.supxlabel(f"means of {text}", fontsize="small")
    figure.savefig(os.fspath(to))


def _panels(ds: xr.Dataset) -> list[list[str]]:
    """Returns the names of the arrays of each diagram: one map, or all series along a dimension in
    one unit."""
    maps: list[list[str]] = []
    series: dict[Any, list[str]] = {}
    for name, x in ds.data_vars.items():
        if x.dtype.kind not in "biufmM":
            raise ValueError(f"{name} is {x.dtype}, expected real numbers or times")
        if x.ndim == 1:
            series.setdefault((x.dims, x.attrs.get("units")), []).append(str(name))
        elif x.ndim == 2:
            maps.append([str(name)])
        else:
            raise ValueError(f"{name} has {x.ndim} dimensions, expected one or two")
    if not maps and not series:
        raise ValueError("the group has no arrays except coordinates: nothing to draw")
    return maps + list(series.values())


def _thinned(ds: xr.Dataset) -> tuple[xr.Dataset, dict[str, int]]:
    """Computes the data, reduced to _MOST elements per dimension; also returns the factors."""
    steps = {str(dim): -(-n // _MOST) for dim, n in ds.sizes.items() if n > _MOST}
    # If an axis has no coordinate, the positions of its elements are used.
    ds = ds.assign_coords({dim: range(ds.sizes[dim]) for dim in steps if dim not in ds.coords})
    # Each group has the coordinate of its first element, because means of dates do not exist in
    # some calendars.
    thin = ds.coarsen(steps, boundary="trim", coord_func="min").mean() if steps else ds
    return thin.compute(), steps


def _draw_panel(axes: Any, arrays: list[xr.DataArray], colors: str | None) -> None:
    for x in arrays:
        if x.ndim == 2:
            x.plot.pcolormesh(ax=axes, cmap=colors)
        else:
            x.plot.line(ax=axes, label=str(x.name))
    if len(arrays) > 1:
        axes.set_ylabel(f"[{arrays[0].units}]" if "units" in arrays[0].attrs else "")
        axes.legend()
    axes.set_title("")


def _main() -> None:
    parser = argparse.ArgumentParser("python -m cubed.plot", description=__doc__)
    parser.add_argument("store")
    parser.add_argument("to")
    parser.add_argument("--colors", default="")
    parser.add_argument("--title", default="")
    given = parser.parse_args()
    try:
        draw(given.store, given.to, colors=given.colors or None, title=given.title or None)
    except (ImportError, ValueError, OSError) as e:
        parser.exit(1, f"cubed plot: {e}\n")


if __name__ == "__main__":
    _main()
