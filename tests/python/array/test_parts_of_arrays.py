"""Arrays of several files as one."""

import cubed
import netCDF4
import numpy as np
import pytest
from conftest import run

import zarr


def make(
    path,
    start,
    n,
    *,
    units="hours since 2000-01-01",
    scale=0.5,
    nlat=3,
    dtype="i2",
    form="NETCDF4",
    unsigned=None,
):
    rng = np.random.default_rng(start)
    with netCDF4.Dataset(path, "w", format=form) as d:
        d.title = "parts"
        d.createDimension("time", None)
        d.createDimension("lat", nlat)
        t = d.createVariable("time", "f8", ("time",))
        t.units = units
        t[:] = np.arange(start, start + n)
        d.createVariable("lat", "f4", ("lat",))[:] = np.arange(nlat)
        v = d.createVariable("t2m", dtype, ("time", "lat"), zlib=form == "NETCDF4")
        v.setncatts({"scale_factor": scale, "long_name": f"from {start}"})
        v.set_auto_maskandscale(False)
        if unsigned:
            v.setncattr("_Unsigned", unsigned)
        v[:] = rng.integers(-99, 99, (n, nlat))
        d.createVariable("fixed", "f4", ("lat",))[:] = 1
    with netCDF4.Dataset(path) as d:
        d.set_auto_mask(False)
        return d["t2m"][:]


def test_files_as_one(tmp_path):
    parts = [make(tmp_path / f"a{i}.nc", 10 * i, 4 + i) for i in range(4)]
    want = np.concatenate(parts)
    pattern = f"{tmp_path}/a*.nc"
    for args in ([pattern], ["--in", f"t2m={pattern}"], ["--in", f"t2m={pattern}::t2m"]):
        got = run("eval", "t2m+0", *args, "--decode", "--json")
        assert got.code == 0, got.err
        np.testing.assert_array_equal(got.array(), want)
    out = tmp_path / "r.zarr"
    got = run("eval", "t=t2m+0; m=mean(t2m, dim='time')", pattern, "--decode", "--out", out)
    assert got.code == 0, got.err
    r = zarr.open_group(out, mode="r")
    assert r.attrs["title"] == "parts"
    assert r["time"][...].tolist() == [10 * i + k for i in range(4) for k in range(4 + i)]
    assert r["lat"].shape == (3,)
    x = cubed.from_zarr([tmp_path / f"a{i}.nc" for i in range(4)], "t2m")
    np.testing.assert_array_equal(x.compute() * 0.5, want)
    assert tuple(x._x.dim_names) == ("time", "lat")
    assert x.attrs["long_name"] == "from 0"
    y = cubed.from_zarr([tmp_path / f"a{i}.nc" for i in range(4)], "t2m", concat_dim="time")
    assert y.shape == x.shape
    same = cubed.from_zarr([tmp_path / f"a{i}.nc" for i in range(4)], "lat", concat_dim="time")
    assert same.shape == (3,)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"units": "hours since 2001-01-01"}, "the attribute units is"),
        ({"scale": 0.25}, "the attribute scale_factor is 0.25, expected 0.5"),
        ({"unsigned": "true"}, 'the attribute _Unsigned is "true", expected none'),
        ({"nlat": 4}, r"dimension lat \(axis 1\) has 4 elements, expected 3"),
        ({"dtype": "i4"}, "the type is int32, expected int16"),
    ],
)
def test_files_that_differ_are_named(tmp_path, other, words):
    make(tmp_path / "a.nc", 0, 4)
    make(tmp_path / "b.nc", 4, 4)
    make(tmp_path / "c.nc", 8, 4, **other)
    name = "time" if "units" in other else "t2m"
    got = run("eval", f"{name}+0", f"{tmp_path}/*.nc", "--raw")
    assert got.code != 0
    assert "c.nc" in got.err
    with pytest.raises(ValueError, match=words) as e:
        cubed.from_zarr([tmp_path / f"{x}.nc" for x in "abc"], name)
    assert "c.nc" in str(e.value)
    assert "a.nc" in str(e.value)


def test_wrong_patterns(tmp_path):
    got = run("eval", "t2m+0", f"{tmp_path}/*.nc")
    assert got.code != 0
    assert "there is no file" in got.err
    make(tmp_path / "a.nc", 0, 4)
    make(tmp_path / "b.nc", 4, 4)
    got = run("eval", "fixed+0", f"{tmp_path}/*.nc")
    assert got.code != 0
    assert "--along" in got.err
    got = run("eval", "fixed+0", f"{tmp_path}/*.nc", "--along", "lat", "--json")
    assert got.code != 0
    assert 'overlap along "lat"' in got.err
    got = run(
        "eval", "fixed+0", f"{tmp_path}/*.nc", "--along", "lat", "--overlap", "first", "--json"
    )
    assert got.array().shape == (3,)
    (tmp_path / "[x].nc").write_bytes((tmp_path / "a.nc").read_bytes())
    got = run("eval", "t2m+0", f"{tmp_path}/[x].nc", "--json")
    assert got.array().shape == (4, 3)
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr([tmp_path / "a.nc", tmp_path / "none.nc"], "t2m")


def test_parts_of_different_formats(tmp_path):
    a = make(tmp_path / "a.nc", 0, 4)
    b = make(tmp_path / "b.nc", 4, 3, form="NETCDF3_CLASSIC")
    got = run("eval", "t2m+0", f"{tmp_path}/*.nc", "--decode", "--json")
    assert got.code == 0, got.err
    np.testing.assert_array_equal(got.array(), np.concatenate([a, b]))
