"""Results do not replace stores from which lazy arrays still have to be read."""

import os
import pathlib

import cubed
import numpy as np
import pytest
import xarray as xr

import zarr


@pytest.fixture
def source(tmp_path):
    """A store with two variables, and its place."""
    a, b = np.arange(12.0).reshape(4, 3), np.arange(4.0)
    ds = xr.Dataset({"a": (("t", "y"), a), "b": ("t", b)}, {"t": np.arange(4)})
    place = tmp_path / "dir" / "s.zarr"
    ds.to_zarr(place, encoding={"a": {"chunks": (2, 3)}})
    return ds, place


def opened(place, **kwargs):
    return xr.open_zarr(place, chunks={}, chunked_array_type="cubed", **kwargs)


def linked(place):
    os.symlink(place, f"{place}.link")
    return f"{place}.link"


SPELLINGS = {
    "path": pathlib.Path,
    "string": str,
    "with a dot": lambda p: f"{p.parent}/./{p.name}/",
    "URL": lambda p: f"file://{p}",
    "store": zarr.storage.LocalStore,
    "link": linked,
    "relative": lambda p: os.path.relpath(p),
    "directory above": lambda p: p.parent,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_source_is_not_replaced(spelling, source):
    ds, place = source
    lazy = opened(place)
    target = SPELLINGS[spelling](place)
    for made in (lazy, (lazy * 2)[["b"]], lazy.isel(t=slice(2))):
        with pytest.raises(ValueError, match="would overwrite the source"):
            made.to_zarr(target, mode="w")
        with pytest.raises(ValueError, match="mode='w' removes the source of variable"):
            made.to_zarr(target, mode="w", compute=False)
    with pytest.raises(ValueError, match="load the variable first"):
        lazy.a.to_zarr(target, mode="w")
    with pytest.raises(ValueError, match="would overwrite the source"):
        xr.DataTree.from_dict({"/": lazy}).to_zarr(target, mode="w")
    xr.testing.assert_identical(opened(place).load(), ds)


def test_groups(source):
    """A part of a store is replaced if nothing is read from it."""
    ds, place = source
    lazy = opened(place)
    (lazy * 2).to_zarr(place, mode="w", group="g")
    inner = opened(place, group="g")
    xr.testing.assert_identical(inner.load(), ds * 2)
    for group in ("g", "/g/", None):
        with pytest.raises(ValueError, match="would overwrite the source"):
            opened(place, group="g").to_zarr(place, mode="w", group=group)
    with pytest.raises(ValueError, match="would overwrite the source"):
        lazy.to_zarr(place, mode="w", group="a")
    opened(place, group="g").load().to_zarr(place, mode="w", group="g")  # nothing is lazy
    (lazy + 1).to_zarr(f"{place}2", mode="w")
    xr.testing.assert_identical(opened(f"{place}2").load(), ds + 1)
    xr.testing.assert_identical(opened(place).load(), ds)


def test_sources_are_not_extended(source):
    ds, place = source
    with pytest.raises(ValueError, match="append_dim='t' extends the source of variable"):
        (opened(place) * 2).to_zarr(place, append_dim="t")
    for mode in ("a", "r+"):
        with pytest.raises(ValueError, match="would overwrite the source"):
            opened(place).isel(t=slice(None, None, -1)).to_zarr(place, mode=mode)
    part = (opened(place) * 2)[["a"]].isel(t=slice(0, 2)).drop_vars("t")
    with pytest.raises(ValueError, match="would overwrite the source"):
        part.to_zarr(place, region={"t": slice(2, 4)})
    xr.testing.assert_identical(opened(place).load(), ds)


def test_several_sources(source, tmp_path):
    """Any of them may be the one."""
    ds, place = source
    ds.to_zarr(tmp_path / "second.zarr")
    both = xr.concat([opened(tmp_path / "second.zarr"), opened(place)], "t")
    for target in (place, tmp_path / "second.zarr"):
        with pytest.raises(ValueError, match="would overwrite the source"):
            both.mean("t").to_zarr(target, mode="w")


def test_a_file_is_not_emptied(tmp_path):
    pytest.importorskip("netCDF4", reason="it writes the file")
    ds = xr.Dataset({"a": ("t", np.arange(4.0))})
    ds.to_netcdf(tmp_path / "x.nc", engine="netcdf4")
    lazy = xr.open_dataset(tmp_path / "x.nc", engine="cubed")
    assert isinstance(lazy.a.data, cubed.Array)
    with pytest.raises(ValueError, match="mode='w' removes the source of variable 'a'"):
        (lazy + 1).to_netcdf(tmp_path / "x.nc")
    xr.testing.assert_identical(lazy.load(), ds)


def test_chains_of_fsspec_are_written():
    """Only fsspec knows their places."""
    ds = xr.Dataset({"a": ("x", cubed.arange(3, chunks=2))})
    ds.to_zarr("simplecache::memory://chained", mode="w", zarr_format=2)
    assert xr.open_zarr("memory://chained").a.values.tolist() == [0, 1, 2]
