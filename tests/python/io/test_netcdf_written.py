"""Results in NetCDF-4 files can be read by other software: libnetcdf, Xarray, h5netcdf, ncdump."""

import json
import shutil
import subprocess

import cubed
import h5py
import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import check, peak_of, run

import zarr

LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def make(path, rng):
    root = zarr.create_group(path, attributes={"Conventions": "CF-1.8", "title": "winds"})
    units = {"units": "hours since 2000-01-01", "calendar": "standard"}
    for name, values, dims, chunks, attrs in [
        ("time", np.arange(13) * 6, ["time"], (5,), units),
        ("lat", np.linspace(-80, 80, 7, dtype="f4"), ["lat"], (7,), {"units": "degrees_north"}),
        ("u", rng.normal(size=(13, 7, 9)).astype("f4"), ["time", "lat", "lon"], (4, 3, 5), {}),
        (
            "p",
            rng.integers(-999, 999, (13, 7), dtype="i2"),
            ["time", "lat"],
            (6, 4),
            {"scale_factor": 0.25, "add_offset": 10.0, "_FillValue": -999, "valid_min": -900},
        ),
    ]:
        z = root.create_array(
            name, shape=values.shape, chunks=chunks, dtype=values.dtype, dimension_names=dims
        )
        z.attrs.update(attrs)
        z[...] = values
    return {k: v[...] for k, v in root.arrays()}


def test_results_of_the_command(tmp_path):
    want = make(tmp_path / "a.zarr", np.random.default_rng(1))
    out = tmp_path / "r.nc"
    check(
        run("eval", 'u=u*2; m=mean(u, dim="time"); _b=u>0; p=p', tmp_path / "a.zarr", "--out", out)
    )
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zarr", "r.nc"]
    with netCDF4.Dataset(out) as d:
        assert d.data_model == "NETCDF4"
        assert d.title == "winds"
        assert d.dimensions["time"].isunlimited()
        assert not d.dimensions["lat"].isunlimited()
        d.set_auto_maskandscale(False)
        assert set(d.variables) == {"u", "m", "p", "time", "lat"}
        np.testing.assert_array_equal(d["u"][...], want["u"] * 2)
        np.testing.assert_array_equal(d["p"][...], want["p"])
        assert d["u"].dimensions == ("time", "lat", "lon")
        assert d["u"].chunking() == [4, 3, 5]
        assert d["u"].filters()["zlib"]
        assert np.isnan(d["u"]._FillValue)
        assert d["p"]._FillValue == -999
        assert d["p"]._FillValue.dtype == d["p"].valid_min.dtype == np.int16
        assert d["p"].scale_factor == 0.25
        assert "_FillValue" not in d["lat"].ncattrs()
    for engine in ("netcdf4", "h5netcdf", "cubed"):
        with xr.open_dataset(out, engine=engine) as d:
            assert d.time.dtype.kind == "M"
            raw = want["p"].astype("f8")
            unpacked = np.where(want["p"] == -999, np.nan, raw * 0.25 + 10)
            np.testing.assert_allclose(d.p, unpacked)
            np.testing.assert_allclose(d.m, (want["u"] * 2).mean(0), atol=1e-6)
    if shutil.which("ncdump"):
        text = subprocess.run(["ncdump", "-h", out], capture_output=True, text=True, check=True)
        assert "time = UNLIMITED ; // (13 currently)" in text.stdout
    # It is read as it was written.
    again = run("eval", "mean(u, axis=0)", out, "--json").array()
    first = run("eval", "mean(u*2, axis=0)", tmp_path / "a.zarr", "--json").array()
    assert again.tobytes() == first.tobytes()


def test_files_are_replaced_when_they_are_whole(tmp_path):
    out = tmp_path / "r.nc"
    check(run("eval", "ones((3, 4))", "--out", out))
    with netCDF4.Dataset(out) as d:
        assert d["result"].dimensions == ("dim_3", "dim_4")
    before = out.read_bytes()
    got = run("eval", "ones((3,))", "--out", out)
    assert got.code == 2
    assert "exists" in got.err
    got = run("eval", 'x=astype(ones((3,)), "complex64")', "--out", out, "--overwrite")
    assert got.code != 0
    assert "complex64" in got.err
    assert out.read_bytes() == before
    check(run("eval", "y=zeros((2,))", "--out", out, "--overwrite"))
    with netCDF4.Dataset(out) as d:
        assert list(d.variables) == ["y"]
    assert [p.name for p in tmp_path.iterdir()] == ["r.nc"]


@pytest.mark.parametrize("dtype", "bool i1 u1 i2 u2 i4 u4 i8 u8 f4 f8 M8[s] m8[D] M8[ns]".split())
def test_types_and_shapes(tmp_path, dtype):
    rng = np.random.default_rng(2)
    dtype = np.dtype(dtype)
    shapes = [(), (0,), (1,), (7,), (3, 0), (5, 4), (2, 3, 4)]
    arrays = {}
    for i, shape in enumerate(shapes):
        bits = rng.integers(0, 256, (*shape, dtype.itemsize), dtype="u1")
        x = (bits[..., 0] & 1).astype(bool) if dtype.kind == "b" else np.zeros(shape, dtype)
        if dtype.kind in "iu":
            x = np.ascontiguousarray(bits).view(dtype).reshape(shape)
        elif dtype.kind == "f":
            x = rng.choice([np.nan, np.inf, -0.0, 1e-40, 3.5], shape).astype(dtype)
        elif dtype.kind in "mM":
            x = rng.integers(-9999, 9999, shape).astype("i8").view(dtype).reshape(shape)
        arrays[f"x{i}"] = np.asarray(x)
    chunks = [tuple(max(1, n // 2) for n in x.shape) for x in arrays.values()]
    lazy = [cubed.from_array(x, chunks=c) for x, c in zip(arrays.values(), chunks, strict=True)]
    cubed.store(lazy, [f"{tmp_path}/r.nc::{name}" for name in arrays])
    with netCDF4.Dataset(tmp_path / "r.nc") as d:
        d.set_auto_maskandscale(False)
        for name, x in arrays.items():
            stored = (
                x.view("i8") if dtype.kind in "mM" else x.astype("i1") if dtype.kind == "b" else x
            )
            got = np.asarray(d[name][...])
            assert got.dtype == stored.dtype
            assert got.shape == x.shape
            assert got.tobytes() == stored.tobytes()
    with xr.open_dataset(tmp_path / "r.nc", engine="netcdf4", decode_timedelta=True) as d:
        assert d["x5"].dtype.kind == dtype.kind


def test_groups_and_the_package(tmp_path):
    x = np.arange(30.0).reshape(5, 6)
    a = cubed.from_array(x, chunks=(2, 4))
    cubed.store([a, a + 1], [f"{tmp_path}/r.nc::p", f"{tmp_path}/r.nc::g/h/q"])
    with h5py.File(tmp_path / "r.nc") as f:
        np.testing.assert_array_equal(f["p"], x)
        np.testing.assert_array_equal(f["g/h/q"], x + 1)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "r.nc", "g/h/q").compute(), x + 1)
    cubed.to_zarr(a, tmp_path / "s.nc", "v")
    cubed.to_zarr(a + 2, tmp_path / "s.nc")  # replaces the file, whose one array it is
    with netCDF4.Dataset(tmp_path / "s.nc") as d:
        np.testing.assert_array_equal(d["data"][...], x + 2)
    with pytest.raises(FileExistsError):
        cubed.to_zarr(a, tmp_path / "s.nc", overwrite=False)
    with pytest.raises(ValueError, match=r"r\.nc"):
        cubed.to_zarr(a, tmp_path / "s.h5")
    with pytest.raises(NotImplementedError, match="complex128"):
        cubed.to_zarr(a.astype("complex128"), tmp_path / "t.nc")
    spec = cubed.Spec(allowed_mem="100MB", reserved_mem="10MB")
    large = cubed.array_api.zeros((3000, 3000), chunks=(3000, 1500), spec=spec)
    with pytest.raises(MemoryError, match="largest chunk"):
        cubed.to_zarr(large, tmp_path / "t.nc")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["r.nc", "s.nc"]


def test_copies_and_codecs(tmp_path):
    want = make(tmp_path / "a.zarr", np.random.default_rng(3))
    check(run("copy", tmp_path / "a.zarr", tmp_path / "b.nc", "--codecs", json.dumps([LITTLE])))
    level = json.dumps([LITTLE, {"name": "gzip", "configuration": {"level": 4}}])
    check(
        run(
            *("rechunk", f"{tmp_path}/a.zarr::u", tmp_path / "c.nc"),
            *("--chunks", "13,7,2", "--codecs", level),
        )
    )
    with netCDF4.Dataset(tmp_path / "b.nc") as d:
        d.set_auto_maskandscale(False)
        assert not d["u"].filters()["zlib"]
        assert {k: v[...].tolist() for k, v in d.variables.items()} == {
            k: v.tolist() for k, v in want.items()
        }
    with netCDF4.Dataset(tmp_path / "c.nc") as d:
        assert d["u"].filters()["complevel"] == 4
        assert d["u"].chunking() == [13, 7, 2]
        np.testing.assert_array_equal(d["u"][...], want["u"])
    check(run("copy", tmp_path / "b.nc", tmp_path / "d.zarr"))
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "d.zarr")["p"][...], want["p"])
    zstd = run(
        "copy", tmp_path / "a.zarr", tmp_path / "e.nc", "--codecs", json.dumps([LITTLE, "zstd"])
    )
    assert zstd.code == 1
    assert "deflate" in zstd.err
    two = run("eval", "a=u; b=u[:3]", tmp_path / "a.zarr", "--out", tmp_path / "e.nc")
    assert two.code == 1
    assert 'dimension "time"' in two.err
    assert not list(tmp_path.glob("e.nc*"))


def test_texts(tmp_path):
    """As characters: what Xarray makes of its own files, whoever reads it."""
    rng = np.random.default_rng(5)
    words = ["", "a", "longer", "é", "日本語", "🙂 x", "q" * 20]
    arrays = {
        "one": np.array("alone é"),
        "none": np.array([], "U3"),
        "empty": np.array(["", ""]),
        "line": rng.choice(words, 7),
        "plane": rng.choice(words, (5, 6)),
        "bytes": np.array([[b"ab", b""], [b"c", b"def"], [b"\xff", b"z"]]),
        "single": np.array([b"a", b"b", b"c"]),
    }
    lazy = [
        cubed.from_array(x, chunks=tuple(max(1, n // 2) for n in x.shape)) for x in arrays.values()
    ]
    cubed.store(lazy, [f"{tmp_path}/r.nc::{name}" for name in arrays])
    theirs = xr.Dataset({k: ([f"{k}{d}" for d in range(v.ndim)], v) for k, v in arrays.items()})
    theirs.to_netcdf(tmp_path / "t.nc")
    for engine in ("netcdf4", "h5netcdf"):
        with (
            xr.open_dataset(tmp_path / "r.nc", engine=engine) as d,
            xr.open_dataset(tmp_path / "t.nc", engine=engine) as t,
        ):
            for name, x in arrays.items():
                assert d[name].shape == x.shape, name
                assert d[name].values.tolist() == t[name].values.tolist() == x.tolist(), name
    with netCDF4.Dataset(tmp_path / "r.nc") as d:
        assert d["plane"].dtype == "S1"
        assert d["plane"].dimensions[-1] == "string20"
        assert d["plane"][2, 3] == arrays["plane"][2, 3]


def test_seasons(tmp_path):
    """A coordinate of texts: in and out, for Xarray, ncdump and CDO."""
    time = np.arange(0, 700, 3)
    x = np.random.default_rng(6).normal(size=(len(time), 2, 3))
    ds = xr.Dataset(
        {"t2m": (("time", "lat", "lon"), x, {"units": "K"})},
        coords={
            "time": ("time", time, {"units": "days since 2001-01-01", "calendar": "standard"}),
            "lat": ("lat", [10.0, 20.0], {"units": "degrees_north"}),
            "lon": ("lon", [1.0, 2.0, 3.0], {"units": "degrees_east"}),
        },
    )
    ds.to_netcdf(tmp_path / "a.nc")
    ds = xr.decode_cf(ds)
    out = tmp_path / "r.nc"
    check(run("eval", "yseasmean(t2m)", tmp_path / "a.nc", "--out", out))
    check(run("eval", "t2m * 2", out, "--out", tmp_path / "again.nc"))
    check(run("eval", "t2m * 2", out, "--out", tmp_path / "again.zarr"))
    want = ds.t2m.groupby("time.season").mean()
    for engine in ("netcdf4", "h5netcdf", "cubed"):
        with xr.open_dataset(out, engine=engine) as d:
            np.testing.assert_allclose(d.t2m.sel(season=want.season), want)
            assert d.season.values.tolist() == ["DJF", "MAM", "JJA", "SON"]
    with xr.open_dataset(tmp_path / "again.nc") as d:
        np.testing.assert_allclose(d.t2m.sel(season=want.season), want * 2)
    with xr.open_zarr(tmp_path / "again.zarr") as d:
        np.testing.assert_allclose(d.t2m.sel(season=want.season), want * 2)
    if shutil.which("ncdump"):
        text = subprocess.run(["ncdump", out], capture_output=True, text=True, check=True).stdout
        assert "char season(season, string3)" in text
        assert '"DJF",\n  "MAM",\n  "JJA",\n  "SON" ;' in text
    if shutil.which("cdo"):
        told = subprocess.run(
            ["cdo", "-s", "outputf,%.10g", "-fldmean", "-selname,t2m", out],
            capture_output=True,
            text=True,
            check=True,
        )
        means = [float(v) for v in told.stdout.split()]
        weights = np.cos(np.deg2rad(ds.lat))
        mine = want.weighted(weights).mean(("lat", "lon"))
        np.testing.assert_allclose(means, mine.sel(season=["DJF", "MAM", "JJA", "SON"]), rtol=1e-3)


def test_memory(tmp_path):
    """Chunks are written one by one: of 160 MB in chunks of 4 MB the process never has many."""
    text = "x=arange(20000000.0)"
    args = ("--out", tmp_path / "r.nc", "--max-workers", 1, "--progress", "none")
    peak = peak_of("eval", f"{text}[::1]", *args, "--allowed-mem", "64MB", "--reserved-mem", "16MB")
    # Shared code of libraries is resident, too.
    assert peak < 64e6 + 30e6
    with netCDF4.Dataset(tmp_path / "r.nc") as d:
        assert d["x"].shape == (20000000,)
        assert d["x"][19999990:].tolist() == list(range(19999990, 20000000))


@pytest.mark.parametrize("rows", [64, 256])
def test_what_is_projected_is_enough(tmp_path, rows):
    """NetCDF in and out: what the plan says of tasks and of the file, in chunks of 2 and 8 MB."""
    rng = np.random.default_rng(3)
    for name, n in (("little", 2), ("much", 2048)):
        with netCDF4.Dataset(tmp_path / f"{name}.nc", "w") as d:
            d.createDimension("row", n)
            d.createDimension("column", 4096)
            v = d.createVariable(
                "v", "f8", ("row", "column"), zlib=True, chunksizes=(min(n, rows), 4096)
            )
            v[:] = rng.integers(0, 9, (n, 4096))

    def args(name, allowed="200MB"):
        limits = ("--max-workers", 1, "--allowed-mem", allowed, "--reserved-mem", "16MB")
        out = ("--out", tmp_path / f"{name}-r.nc", *limits, "--progress", "none", "--overwrite")
        return ("eval", "r=v*2; s=v+1", "--in", f"v={tmp_path / f'{name}.nc'}::v", *out)

    plan = json.loads(check(run(*args("much"), "--plan", "--json")).out)
    shown = check(run(*args("much"), "--plan")).out
    assert "the file is written when all tasks are done, by one thread with up to " in shown
    chunk = rows * 4096 * 8
    assert 5 * chunk <= plan["file_mem"] <= 6 * chunk + (9 << 20)
    most = max(plan["projected_mem"], plan["file_mem"])
    # What code and libraries take is the same for a file that is little.
    taken = peak_of(*args("much")) - peak_of(*args("little"))
    assert chunk < taken <= most, (taken, plan["projected_mem"], plan["file_mem"])
    with netCDF4.Dataset(tmp_path / "much-r.nc") as d, netCDF4.Dataset(tmp_path / "much.nc") as was:
        assert (d["r"][-3:] == was["v"][-3:] * 2).all()
    # Of more chunk than fits nothing is begun, and the plan is not shown either.
    for more in ((), ("--plan",)):
        refused = run(*args("much", 16_000_000 + plan["file_mem"] - 1), *more)
        assert refused.code != 0
        assert "writing NetCDF needs up to" in refused.err
