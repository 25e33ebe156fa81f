"""Compares statistics by calendar periods that have CDO's names with CDO and NumPy."""

import os
import shutil
import subprocess

import numpy as np
import pytest
import xarray as xr
from conftest import cases, check, run

QUIET = ("--progress", "none")
PERIODS = ["hour", "day", "mon", "year", "seas", "ymon", "yday", "yseas"]
STATISTICS = ["mean", "avg", "min", "max", "sum", "std", "std1", "var", "var1"]

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def make(path, calendar, n, step, seed=0):
    """Values of which a third is missing, a month in three at one place, and all at another."""
    rng = np.random.default_rng(seed)
    v = rng.normal(280, 10, (n, 2, 3)).astype("f4")
    v[rng.random(v.shape) < 1 / 3] = np.nan
    hours = step * np.arange(n)
    v[hours // 720 % 3 == 0, 0, 0] = np.nan
    v[:, 1, 2] = np.nan
    time = ("time", hours.astype("f8"), {"units": "hours since 1999-11-20", "calendar": calendar})
    ds = xr.Dataset(
        {"v": (("time", "lat", "lon"), v, {"units": "K"})},
        coords={
            "time": time,
            "lat": ("lat", [0.0, 1.0], {"units": "degrees_north"}),
            "lon": ("lon", [0.0, 1.0, 2.0], {"units": "degrees_east"}),
        },
    )
    encoding = {"v": {"_FillValue": np.float32(-999)}, "time": {"_FillValue": None}}
    ds.to_netcdf(path, format="NETCDF3_CLASSIC", encoding=encoding)
    return v


def by_cdo(folder, *words):
    environment = {**os.environ, "CDO_PCTL_NBINS": "30000"}  # more than elements: exact
    command = ["cdo", "-s", *words, "o.nc"]
    subprocess.run(command, cwd=folder, check=True, env=environment, capture_output=True)
    with xr.open_dataset(folder / "o.nc", decode_times=False) as d:
        return d.v.values


@needs_cdo
@pytest.mark.parametrize("calendar", ["standard", "noleap", "360_day"])
def test_statistics_by_cdo(tmp_path, calendar):
    make(tmp_path / "a.nc", calendar, 200, 96)
    statistics = STATISTICS if cases(1) > 1 else ["sum", "var1"]
    names = [period + s for period in PERIODS for s in statistics]
    text = "; ".join(f"r_{name} = {name}(v)" for name in names)
    got = check(run("eval", text, tmp_path / "a.nc", "--decode", "--json", *QUIET)).arrays()
    for name in names:
        want = by_cdo(tmp_path, name, "a.nc")
        np.testing.assert_allclose(
            got[f"r_{name}"], want, rtol=3e-4, atol=1e-3, err_msg=f"{calendar} {name}"
        )


@needs_cdo
@pytest.mark.parametrize("period", ["mon", "seas", "ymon"])  # CDO's yseaspctl refuses its yseasmin
def test_percentiles_by_cdo(tmp_path, period):
    make(tmp_path / "a.nc", "standard", 700, 24)
    least = by_cdo(tmp_path, f"{period}min", "a.nc")
    (tmp_path / "o.nc").rename(tmp_path / "min.nc")
    most = by_cdo(tmp_path, f"{period}max", "a.nc")
    (tmp_path / "o.nc").rename(tmp_path / "max.nc")
    for p in (0, 10, 37.5, 50, 100):
        text = f"{period}pctl(v, {p})"
        got = check(run("eval", text, tmp_path / "a.nc", "--decode", "--json", *QUIET)).array()
        words = (f"{period}pctl,{p}", "a.nc", "min.nc", "max.nc")
        # CDO's histograms have no value where all elements are equal.
        want = np.where(least == most, least, by_cdo(tmp_path, *words))
        np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=text)


@pytest.mark.parametrize("kind", ["nc", "zarr"])
def test_sums_of_nothing(tmp_path, kind):
    """The sum of a period without values is missing; by the names of Xarray it is 0."""
    v = make(tmp_path / "a.nc", "360_day", 360, 24)
    place = tmp_path / "a.nc"
    if kind == "zarr":
        place = tmp_path / "a.zarr"
        check(run("copy", tmp_path / "a.nc", place, *QUIET))
    names = ("mon", "year", "seas", "ymon", "yseas", "day", "hour", "yday")
    text = "; ".join(f"{p} = {p}sum(v)" for p in names)
    text += '; zero = nansum(v, resample="MS"); same = monsum(v, min_count=0)'
    got = check(run("eval", text, place, "--decode", "--json", *QUIET)).arrays()
    for p in names:
        assert np.isnan(got[p][:, 1, 2]).all(), p
        assert np.isfinite(got[p]).any(), p
    days = np.where(np.isnan(v), 0, v)
    np.testing.assert_allclose(got["ymon"][0, 0, 1], days[41:71, 0, 1].sum(), rtol=1e-5)
    np.testing.assert_array_equal(got["zero"][:, 1, 2], 0)
    np.testing.assert_array_equal(got["same"], got["zero"])
    # Integers have no missing values.
    text = "monsum(astype(nan_to_num(v), 'int32'))"
    got = check(run("eval", text, place, "--decode", "--json", *QUIET)).array()
    assert got.dtype == np.int64 and got[0, 1, 2] == 0


def test_percentiles_are_nearest_ranks(tmp_path):
    v = make(tmp_path / "a.nc", "360_day", 360, 24)[:, 0, 1]
    january = v[41:71]  # the file begins on the 20th of November
    for p in (0, 25, 33, 90):
        text = f"ymonpctl(v, {p})"
        got = check(run("eval", text, tmp_path / "a.nc", "--decode", "--json", *QUIET)).array()
        want = np.nanpercentile(january, p, method="inverted_cdf")
        assert got[0, 0, 1] == pytest.approx(want, rel=1e-6)
    text = 'ymonpctl(v, 25, method="linear")'
    got = check(run("eval", text, tmp_path / "a.nc", "--decode", "--json", *QUIET)).array()
    assert got[0, 0, 1] == pytest.approx(np.nanpercentile(january, 25), rel=1e-6)


def test_seasons_in_time_order(tmp_path):
    make(tmp_path / "a.nc", "noleap", 365, 24)
    out = tmp_path / "o.zarr"
    text = "a = yseasmean(v); b = yseaspctl(v, 50)"
    check(run("eval", text, tmp_path / "a.nc", "--decode", "--out", out, *QUIET))
    with xr.open_zarr(out, consolidated=False) as got:
        assert got.season.values.tolist() == ["DJF", "MAM", "JJA", "SON"]
        with xr.open_dataset(tmp_path / "a.nc") as source:
            want = source.v.groupby("time.season").mean().sel(season=got.season)
            np.testing.assert_allclose(got.a, want.transpose("season", ...), rtol=1e-5)
    # Xarray has the order of names.
    text = 'mean(v, groupby="time.season")'
    check(run("eval", text, tmp_path / "a.nc", "--decode", "--out", out, "--overwrite", *QUIET))
    with xr.open_zarr(out, consolidated=False) as got:
        assert got.season.values.tolist() == ["DJF", "JJA", "MAM", "SON"]
