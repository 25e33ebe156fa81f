"""Functions of all variables of a file, in the form of CDO: ``cubed monmean in.nc out.nc``."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import check, run

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


@pytest.fixture
def source(tmp_path):
    rng = np.random.default_rng(0)
    dims = ("time", "lat", "lon")
    ds = xr.Dataset(
        {
            "t2m": (dims, rng.normal(280, 5, (400, 4, 6)), {"units": "K", "coordinates": "area"}),
            "pr": (dims, rng.random((400, 4, 6), "f4"), {"units": "mm"}),
            "mask": (("lat", "lon"), rng.integers(0, 2, (4, 6)).astype("i4")),
            "area": (("lat", "lon"), rng.random((4, 6))),
        },
        coords={
            "time": pd.date_range("2020-01-01", periods=400),
            "lat": ("lat", [10.0, 20.0, 30.0, 40.0], {"units": "degrees_north"}),
            "lon": ("lon", np.arange(6) * 60.0, {"units": "degrees_east"}),
        },
        attrs={"title": "made up"},
    )
    ds.to_netcdf(tmp_path / "in.nc")
    return ds


def apply(tmp_path, *words, says=""):
    """The output of the command, whose last word is ``out.nc``."""
    done = check(run(*words, tmp_path / "out.nc", "--overwrite", "--progress", "none"))
    assert done.err == says
    return xr.open_dataset(tmp_path / "out.nc")


def test_all_variables(source, tmp_path):
    got = apply(tmp_path, "monmean", tmp_path / "in.nc", says="cubed: copied unchanged: mask\n")
    want = source.resample(time="MS").mean()
    assert set(got.data_vars) == {"t2m", "pr", "mask", "time_bnds"}
    np.testing.assert_allclose(got.t2m, want.t2m)
    np.testing.assert_allclose(got.pr, want.pr, rtol=1e-6)
    np.testing.assert_array_equal(got.mask, source.mask)
    np.testing.assert_array_equal(got.area, source.area)
    assert got.t2m.units == "K"
    assert got.title == "made up"


def test_dates_and_strings_need_no_quotes(tmp_path):
    """Shell words have no quotes: 2020 is a year along dates, and a number along numbers."""
    time = pd.date_range("2019-12-30", periods=800)
    stations = np.array(["2019", "2020", "12", "1e3"])
    ds = xr.Dataset(
        {
            "t": ("time", np.arange(800.0)),
            "s": ("station", np.arange(4.0)),
            "y": ("year", np.arange(4.0)),
        },
        coords={"time": time, "station": stations, "year": [2019, 2020, 2021, 2022]},
    )
    ds.to_zarr(tmp_path / "a.zarr", zarr_format=2)
    for words, want in {
        "time=2020": ds.t.sel(time="2020"),
        "time=2020/2021": ds.t.sel(time=slice("2020", "2021")),
        "time=20200305": ds.t.sel(time="20200305"),
        "time=2020,method=nearest": ds.t.sel(time="2020-01-01"),
        'time="2021"': ds.t.sel(time="2021"),
        "station=2020": ds.s.sel(station="2020"),
        "station=2020/12": ds.s[1:3],
        "station=1e3": ds.s.sel(station="1e3"),
        "year=2020": ds.y.sel(year=2020),
        "year=2020/2021": ds.y.sel(year=slice(2020, 2021)),
    }.items():
        done = run("apply", f"sel,{words}", tmp_path / "a.zarr", tmp_path / "o.zarr", "--overwrite")
        got = xr.open_zarr(check(done) and tmp_path / "o.zarr")[want.name]
        np.testing.assert_array_equal(got.squeeze(), want.squeeze(), words)


def test_references_of_anomalies_need_no_quotes(source, tmp_path):
    got = apply(
        tmp_path, "anomaly,time.month,reference=2020/2020", tmp_path / "in.nc",
        says="cubed: copied unchanged: mask\n",
    )  # fmt: skip
    means = source.t2m.sel(time="2020").groupby("time.month").mean()
    np.testing.assert_allclose(got.t2m, source.t2m.groupby("time.month") - means, atol=1e-10)


def test_chains(source, tmp_path):
    words = ["apply", "mean,time", "-sel,time=2020-02/2020-03,lat=20/40", tmp_path / "in.nc"]
    got = apply(tmp_path, *words)
    part = source.sel(time=slice("2020-02", "2020-03"), lat=slice(20, 40))
    np.testing.assert_allclose(got.t2m, part.t2m.mean("time"))
    np.testing.assert_array_equal(got.mask, part.mask)  # it has no time, but a latitude
    words = ["sqrt", "-abs", "-quantile,0.9,dim=time,method=nearest", tmp_path / "in.nc"]
    got = apply(tmp_path, *words)
    want = np.sqrt(np.abs(source.t2m.quantile(0.9, "time", method="nearest")))
    np.testing.assert_allclose(got.t2m, want)
    np.testing.assert_allclose(got.mask, np.sqrt(source.mask))


def test_parts_of_dates_name_the_dimension(source, tmp_path):
    words = ["mean,groupby=time.month", tmp_path / "in.nc"]
    got = apply(tmp_path, *words, says="cubed: copied unchanged: mask\n")
    want = source.groupby("time.month").mean()
    np.testing.assert_allclose(got.t2m, want.t2m)
    np.testing.assert_array_equal(got.mask, source.mask)
    got = apply(tmp_path, "anomaly,time.month", words[1], says="cubed: copied unchanged: mask\n")
    np.testing.assert_allclose(
        got.t2m, source.groupby("time.month").map(lambda x: x - x.mean("time")).t2m, atol=1e-9
    )


def test_two_inputs(source, tmp_path):
    mean = source[["t2m", "pr", "mask"]].mean("time", keepdims=True)
    mean.drop_vars("time", errors="ignore").to_netcdf(tmp_path / "mean.nc")
    got = apply(tmp_path, "subtract", tmp_path / "in.nc", tmp_path / "in.nc")
    for name in ("t2m", "pr", "mask"):
        assert not got[name].any()
    only = source[["mask"]].rename(mask="other")
    only.to_netcdf(tmp_path / "only.nc")
    got = apply(tmp_path, "multiply", tmp_path / "in.nc", tmp_path / "only.nc")
    np.testing.assert_array_equal(got.t2m, source.t2m * only.other)
    np.testing.assert_array_equal(got.mask, source.mask**2)


def test_one_file_of_many(source, tmp_path):
    source.isel(time=slice(200)).to_netcdf(tmp_path / "p1.nc")
    source.isel(time=slice(200, None)).to_netcdf(tmp_path / "p2.nc")
    says = "cubed: copied unchanged: mask\n"
    got = apply(tmp_path, "monmean", tmp_path / "p*.nc", says=says)
    np.testing.assert_allclose(got.t2m, source.t2m.resample(time="MS").mean())


def test_texts_are_copied(tmp_path):
    ds = xr.Dataset({"x": ("n", np.arange(3.0)), "name": ("n", np.array(["a", "bc", "d"]))})
    ds.to_zarr(tmp_path / "in.zarr", zarr_format=2)
    check(run("sqrt", tmp_path / "in.zarr", tmp_path / "out.zarr"))
    got = xr.open_zarr(tmp_path / "out.zarr")
    np.testing.assert_array_equal(got.x, np.sqrt(ds.x))
    np.testing.assert_array_equal(got.name, ds.name)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["monmaen", "in.nc", "out.nc"], 'not a subcommand (did you mean "monmean"?)'),
        (["monmean", "in.nc"], "expected IN OUT, or IN IN2 OUT, but there are 1 names"),
        (["monmean", "-nothing", "in.nc", "out.nc"], '"nothing" is not a function'),
        (["mean,tmie", "in.nc", "out.nc"], 'no dimension "tmie"'),
        (["add", "in.nc", "other.nc", "out.nc"], "has no variable that add applies to"),
        (["apply", "in.nc", "out.nc"], "is not a function"),
        (["apply", "--overwrite"], "expected a function"),
        (["monmean", "absent.nc", "out.nc"], "absent.nc"),
        (["mean,n", "digit.nc", "out.nc"], 'variable "2t" of'),
        (["mean,n", "hidden.nc", "out.nc"], 'variable "_t" of'),
    ],
)
def test_what_is_wrong(source, tmp_path, words, says):
    xr.Dataset({"a": ("n", [1.0]), "b": ("n", [1.0])}).to_netcdf(tmp_path / "other.nc")
    for name, variable in (("digit.nc", "2t"), ("hidden.nc", "_t")):
        xr.Dataset({variable: ("n", [1.0]), "a": ("n", [1.0])}).to_netcdf(tmp_path / name)
    done = run(*(tmp_path / w if w.endswith(".nc") else w for w in words))
    assert done.code != 0
    assert says in done.err
    assert not (tmp_path / "out.nc").exists()


@needs_cdo
@pytest.mark.parametrize("name", ["monmean", "yearmax", "ymonmin", "daysum", "yseasmean"])
def test_as_cdo(source, tmp_path, name):
    subprocess.run(["cdo", "-s", "-b", "F64", name, "in.nc", "cdo.nc"], cwd=tmp_path, check=True)
    got = apply(tmp_path, name, tmp_path / "in.nc", says="cubed: copied unchanged: mask\n")
    want = xr.open_dataset(tmp_path / "cdo.nc", decode_times=False)
    for variable in ("t2m", "pr", "mask"):
        np.testing.assert_allclose(
            got[variable], np.squeeze(want[variable].values), rtol=1e-6, err_msg=variable
        )
