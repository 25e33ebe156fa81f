"""Compares anomalies from means by parts of dates with CDO and Xarray."""

import shutil

import numpy as np
import pytest
import xarray as xr
from conftest import check, run
from test_calendar_statistics import by_cdo, make

QUIET = ("--progress", "none")

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def evaluated(text, path):
    return check(run("eval", text, path, "--json", *QUIET)).arrays()


@needs_cdo
@pytest.mark.parametrize("calendar", ["standard", "noleap", "360_day"])
def test_anomalies_by_cdo(tmp_path, calendar):
    make(tmp_path / "a.nc", calendar, 300, 96)
    by_cdo(tmp_path, "ymonmean", "a.nc")
    (tmp_path / "o.nc").rename(tmp_path / "month.nc")
    want = by_cdo(tmp_path, "ymonsub", "a.nc", "month.nc")
    got = evaluated(
        'a = anomaly(v, "time.month"); b = anomaly(v, groupby="month")', tmp_path / "a.nc"
    )
    np.testing.assert_allclose(got["a"], want, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(got["a"], got["b"])


@pytest.mark.parametrize("part", ["month", "season", "dayofyear", "year"])
def test_anomalies_by_xarray(tmp_path, part):
    make(tmp_path / "a.nc", "noleap", 300, 96)
    with xr.open_dataset(tmp_path / "a.nc", use_cftime=True) as ds:
        groups = ds.v.astype("f8").groupby(f"time.{part}")
        want = groups - groups.mean()
        reference = ds.v.astype("f8").sel(time=slice("2000-02", "2000-12"))
        means = reference.groupby(f"time.{part}").mean()
        # A group that is not in the reference has no mean.
        labels = ds.time.dt.season if part == "season" else getattr(ds.time.dt, part)
        absent = ~np.isin(labels, means[part])
        means = means.reindex({part: np.unique(labels)})
        partly = groups - means
        assert bool(absent.any()) == (part != "season")
    text = f'a = anomaly(v, "time.{part}")'
    text += f'; b = anomaly(v, "time.{part}", reference=("2000-02", "2000-12"))'
    got = evaluated(text, tmp_path / "a.nc")
    np.testing.assert_allclose(got["a"], want, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(got["b"], partly, rtol=1e-4, atol=1e-4)


def test_results_keep_their_times_and_units(tmp_path):
    v = make(tmp_path / "a.nc", "standard", 60, 96)
    out = tmp_path / "o.zarr"
    check(run("eval", 'r = anomaly(v[5:], "time.month")', tmp_path / "a.nc", "--out", out, *QUIET))
    with xr.open_zarr(out, consolidated=False) as got, xr.open_dataset(tmp_path / "a.nc") as had:
        assert got.r.dims == ("time", "lat", "lon")
        assert got.r.attrs["units"] == "K"
        np.testing.assert_array_equal(got.time, had.time[5:])
        assert got.r.shape == v[5:].shape


def test_integers_and_missing_values(tmp_path):
    time = ("time", np.arange(4.0), {"units": "days since 2001-01-30"})
    ds = xr.Dataset({"n": ("time", np.array([1, 2, 3, 6], "i2"))}, coords={"time": time})
    ds["f"] = "time", np.array([1.0, np.nan, 3, 6])
    ds.to_netcdf(tmp_path / "n.nc", format="NETCDF3_CLASSIC", engine="scipy")
    text = 'n1 = anomaly(n, "time.month"); f1 = anomaly(f, "time.month")'
    got = evaluated(text + '; f2 = anomaly(f, "time.month", skipna=False)', tmp_path / "n.nc")
    np.testing.assert_array_equal(got["n1"], [-0.5, 0.5, -1.5, 1.5])
    np.testing.assert_array_equal(got["f1"], [0, np.nan, -1.5, 1.5])
    np.testing.assert_array_equal(got["f2"], [np.nan, np.nan, -1.5, 1.5])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("anomaly(v)", 'expected anomaly(x, "time.month"'),
        ('anomaly(v, "time.mont")', 'times have no part "mont" (did you mean "month"?)'),
        ('anomaly(v, "x.month")', 'the array has no dimension "x"'),
        ('anomaly(v, "time.month", reference="2000")', "reference is not a pair of dates"),
        ('anomaly(v, "time.month", reference=("1980", "1990"))', "no times are in the reference"),
        ('anomaly(roll(v, 1, axis=0), "time.month")', 'elements along "time" were moved'),
        ('anomaly(v, "time.month", q=3)', 'no argument "q"'),
    ],
)
def test_errors(tmp_path, text, message):
    make(tmp_path / "a.nc", "standard", 20, 96)
    result = run("eval", text, tmp_path / "a.nc", *QUIET)
    assert result.code != 0
    assert message in result.err, result.err
