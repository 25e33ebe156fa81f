"""Locations of results and inputs: suffixes, directories, paths such as NAME=STORE."""

import cubed
import h5py
import numpy as np
import pytest
import xarray as xr
from conftest import check, run


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    cubed.to_zarr(cubed.from_array(np.arange(6.0), chunks=3), "a.zarr", path="x")
    return tmp_path


@pytest.mark.parametrize("name", ["r.csv", "r.bufr", "r.zar", "r.d/r.tif", "r.netcdf3"])
def test_suffixes_that_nothing_is_written_as(here, name):
    (here / "r.d").mkdir()
    suffix = name.rsplit(".")[-1]
    for args in (("eval", "x+1", "a.zarr", "--out", name), ("copy", "a.zarr", name)):
        got = run(*args)
        assert got.code == 2
        assert f'"{"." + suffix}"' in got.err
        assert "r.zarr" in got.err
        assert "r.nc" in got.err
        assert not (here / name).exists()
    # A file of that name is no store either.
    (here / name).write_text("1,2")
    assert run("eval", "x+1", "a.zarr", "--out", name, "--overwrite").code == 2
    assert (here / name).read_text() == "1,2"


@pytest.mark.parametrize("name", ["r.zarr", "r", "r.2020", "r.d/r", "./r.zarr", ".hidden"])
def test_names_of_stores(here, name):
    (here / "r.d").mkdir()
    check(run("eval", "r=x+1", "a.zarr", "--out", name))
    check(run("eval", "r=x+2", "a.zarr", "--out", name, "--overwrite"))
    assert cubed.from_zarr(name, path="r").compute()[0] == 2


def test_a_directory_of_any_name_is_a_store(here):
    (here / "old.data").mkdir()
    check(run("eval", "r=x+1", "a.zarr", "--out", "old.data"))
    assert cubed.from_zarr("old.data", path="r").compute()[0] == 1


@pytest.mark.parametrize("name", ["no/r.zarr", "no/r.nc", "no/r.zip", "no/way/r.zarr", "no/r"])
def test_a_missing_directory(here, name):
    for args in (
        ("eval", "x+1", "a.zarr", "--out", name),
        ("copy", "a.zarr", name),
        ("rechunk", "a.zarr", name, "--chunks", "2"),
    ):
        got = run(*args)
        assert got.code == 2
        assert f"no directory {name.rsplit('/', 1)[0]}" in got.err
    assert not (here / "no").exists()
    # Plans may run on another machine.
    check(run("eval", "x+1", "a.zarr", "--out", name, "--plan"))


def test_a_path_is_no_name_and_store(here):
    for directory in ("year=2020", "x=a"):
        (here / directory).mkdir()
        check(run("copy", "a.zarr", f"{directory}/a.zarr"))
        out = run("eval", "sum(x)", f"{directory}/a.zarr", "--json").array()
        assert out == 15
        out = run("eval", "sum(x)", "--in", f"{directory}/a.zarr", "--json").array()
        assert out == 15
        out = run("eval", "sum(y)", "--in", f"y={directory}/a.zarr::x", "--json").array()
        assert out == 15
    out = run("eval", "sum(x)", "year=*/a.zarr", "--json").array()
    assert out == 15
    out = run("eval", "sum(year)", "year=a.zarr::x", "--json").array()
    assert out == 15


def test_hdf5_without_names_of_dimensions(here):
    """Dimensions are named as h5netcdf names them."""
    with h5py.File("a.h5", "w") as f:
        f["b"] = np.arange(12.0).reshape(3, 4)
        f["a"] = np.arange(9).reshape(3, 3)
        f["c"] = 1.0
        f["g/x"] = np.ones((3, 5))
        f["g/y"] = np.zeros(5)
    check(run("copy", "a.h5", "b.zarr", "--no-history"))
    check(run("copy", "a.h5", "b.nc"))
    check(run("eval", "r=a*2; s=b[:, 1:]", "a.h5", "--out", "c.nc"))
    for group in (None, "g"):
        with xr.open_dataset("a.h5", engine="h5netcdf", phony_dims="sort", group=group) as d:
            want = d.load()
        xr.testing.assert_identical(
            xr.open_dataset("a.h5", engine="cubed", group=group).load(), want
        )
        xr.testing.assert_identical(xr.open_zarr("b.zarr", group=group).load(), want)
        with xr.open_dataset("b.nc", group=group) as d:
            xr.testing.assert_equal(d.load(), want)
    with xr.open_dataset("c.nc") as d:
        assert d.r.dims == ("phony_dim_0", "phony_dim_1")
        assert d.s.shape == (3, 3)


def test_hdf5_with_some_names_of_dimensions(here):
    with h5py.File("a.h5", "w") as f:
        f["x"] = np.arange(4)
        f["x"].make_scale("x")
        f["v"] = np.ones((4, 4, 3))
        f["v"].dims[0].attach_scale(f["x"])
    dims = xr.open_dataset("a.h5", engine="cubed").v.dims
    assert dims[0] == "x"
    assert len(set(dims)) == 3
    assert all(d.startswith("phony_dim_") for d in dims[1:])


def test_names_that_a_file_lacks(here):
    """A file of NetCDF or HDF5 has no Zarr arrays: messages guess among its variables."""
    with h5py.File(here / "a.h5", "w") as f:
        f["pressure"] = np.zeros(3)
    xr.Dataset({"pressure": ("x", np.zeros(3))}).to_netcdf(here / "a.nc")
    for name in ("a.h5", "a.nc"):
        place = f"{here / name}::presure"
        said = run("eval", "p", "--in", f"p={place}").err
        assert f"there is no array at {place}" in said and 'did you mean "pressure"' in said
        with pytest.raises(FileNotFoundError, match="there is no array at"):
            cubed.from_zarr(here / name, path="presure")


def test_messages_about_files_name_variables(here):
    with h5py.File("a.h5", "w") as f:
        f["x"] = np.zeros(2, dtype=[("a", "i4"), ("b", "f4")])
        f["y"] = np.zeros(3)
    for args in (("eval", "x", "a.h5"), ("copy", "a.h5", "b.zarr"), ("info", "a.h5::no")):
        err = run(*args).err
        assert "zarr.json" not in err
        assert "Zarr" not in err
        assert "a.h5" in err
    assert 'x: data type "HDF5\'s compound"' in run("eval", "x", "a.h5").err
    assert "Zarr group or array" in run("info", "a.zarr::no").err


def test_names_with_colons(here):
    """A path that exists is a store. The first "::" behind one begins the path within it."""
    (here / "a.zarr").rename("b::c.zarr")
    xr.Dataset({"x": ("t", np.arange(6.0))}).to_netcdf("d::e.nc")
    (here / "f").mkdir()
    check(run("copy", "b::c.zarr", "f/g.zarr"))
    for place in ("b::c.zarr::x", "./b::c.zarr::x", "d::e.nc::x", "f::g.zarr/x"):
        assert run("eval", "sum(y)", "--in", f"y={place}", "--json").array() == 15
    for store in ("b::c.zarr", "d::e.nc"):
        assert "x" in check(run("info", store)).out
        assert run("eval", "sum(x)", store, "--json").array() == 15
    check(run("eval", "x+1", "d::e.nc", "--out", "r.zarr", "--save-plan", "p.cubed"))
    check(run("run", "p.cubed"))
    assert cubed.from_zarr("b::c.zarr", path="x").compute().sum() == 15
