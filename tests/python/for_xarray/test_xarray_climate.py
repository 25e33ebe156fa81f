"""Compares the accessor's functions for climates and fields with Xarray and SciPy, on three
calendars.
"""

import importlib.util

import cubed
import numpy as np
import pytest
import scipy.stats
import xarray as xr

CALENDARS = ["standard", "noleap", "360_day"]


def series(calendar="standard", n=900, chunk=100, holes=0.1):
    """Daily values at two by three places, some missing, and all at one place."""
    rng = np.random.default_rng(0)
    time = xr.date_range("1999-11-20", periods=n, freq="D", calendar=calendar, use_cftime=None)
    values = rng.normal(283, 10, (n, 2, 3)) + np.arange(n)[:, None, None] / 200
    values[rng.random(values.shape) < holes] = np.nan
    values[:, 1, 2] = np.nan
    coords = {
        "time": ("time", time, {"standard_name": "time", "axis": "T"}),
        "lat": ("lat", [0.0, 10.0], {"units": "degrees_north"}),
        "lon": ("lon", [0.0, 10.0, 20.0], {"units": "degrees_east"}),
        "level": 2.0,
        "name": (("lat", "lon"), [["a", "b", "c"], ["d", "e", "f"]]),
        "day_number": ("time", np.arange(n)),
    }
    x = xr.DataArray(values, coords, ("time", "lat", "lon"), "t2m", {"units": "K"})
    return x.chunk(time=chunk, chunked_array_type="cubed") if chunk else x


def computed(lazy):
    """The values of a lazy result."""
    for v in lazy.variables.values() if isinstance(lazy, xr.Dataset) else [lazy.variable]:
        assert isinstance(v._data, cubed.Array) or v.dims == () or v.ndim == 1
    return lazy.compute()


@pytest.mark.parametrize("calendar", CALENDARS)
def test_statistics_of_periods(calendar):
    x, plain = series(calendar), series(calendar, chunk=None)
    want = {
        "ymonmean": plain.groupby("time.month").mean(),
        "yseasmax": plain.groupby("time.season").max().sel(season=["DJF", "MAM", "JJA", "SON"]),
        "monmean": plain.resample(time="MS").mean(),
        "yearsum": plain.resample(time="YS").sum(min_count=1),
        "monstd1": plain.resample(time="MS").std(ddof=1),
        "daymin": plain.resample(time="D").min(),
    }
    for name, expected in want.items():
        with cubed.raise_if_computes():
            lazy = getattr(x.cubed, name)()
        got = computed(lazy)
        assert got.dims == expected.dims and got.name == "t2m", name
        dim = expected.dims[0]
        np.testing.assert_array_equal(got[dim], expected[dim], err_msg=name)
        assert got[dim].dtype == expected[dim].dtype or dim == "season"
        np.testing.assert_allclose(got, expected, rtol=1e-12, equal_nan=True, err_msg=name)
        assert set(got.coords) == {dim, "lat", "lon", "level", "name"}, name
        assert got.attrs["units"] == "K" and got.attrs["cell_methods"].startswith("time: ")
    assert x.cubed.monpctl(50).dims == ("time", "lat", "lon")
    assert x.cubed.ymonpctl([10, 90]).dims == ("quantile", "month", "lat", "lon")


@pytest.mark.parametrize("calendar", CALENDARS)
def test_arithmetic_with_climatologies(calendar):
    x, plain = series(calendar), series(calendar, chunk=None)
    climatology = plain.groupby("time.month").mean()
    want = plain.groupby("time.month") - climatology
    for c in (x.cubed.ymonmean(), climatology):
        got = computed(x.cubed.ymonsub(c))
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
        np.testing.assert_array_equal(got.time, x.time)
        assert {"day_number", "level", "name"} <= set(got.coords)
        assert got.attrs == {"units": "K"}
    means = x.cubed.monmean()  # with times of its own
    got = computed(x.cubed.monsub(means))
    want = plain.groupby("time.year").map(
        lambda y: y.groupby("time.month") - y.groupby("time.month").mean()
    )
    np.testing.assert_allclose(got, want, atol=1e-9)
    got = x.cubed.anomaly("time.month", reference=("2000", "2000"))
    want = plain.groupby("time.month") - plain.sel(time="2000").groupby("time.month").mean()
    np.testing.assert_allclose(computed(got), want, atol=1e-9)


@pytest.mark.parametrize("calendar", CALENDARS)
def test_selections(calendar):
    x, plain = series(calendar), series(calendar, chunk=None)
    month, season = plain.time.dt.month, plain.time.dt.season
    want = [
        ("selmon", (1, (6, 8)), plain[((month == 1) | ((month >= 6) & (month <= 8))).values]),
        ("selseas", ("DJF",), plain[(season == "DJF").values]),
        ("selyear", ([1999, 2001],), plain[plain.time.dt.year.isin([1999, 2001]).values]),
        ("seldate", ("2000-01-15", "2000-03"), plain.sel(time=slice("2000-01-15", "2000-03"))),
        ("seldate", ("2000-02",), plain.sel(time="2000-02")),
    ]
    for name, arguments, expected in want:
        got = computed(getattr(x.cubed, name)(*arguments))
        xr.testing.assert_identical(got, expected)
    with pytest.raises(IndexError, match="no time has the year 1850"):
        x.cubed.selyear(1850)


@pytest.mark.parametrize("calendar", CALENDARS)
def test_trends(calendar):
    x, plain = series(calendar, 300), series(calendar, 300, chunk=None)
    got = computed(x.cubed.trend())
    assert set(got) == {"slope", "intercept", "stderr", "pvalue"}
    steps = np.arange(300)
    for place in np.ndindex(2, 3):
        v = plain.values[:, *place]
        kept = ~np.isnan(v)
        if not kept.any():
            assert all(np.isnan(got[name].values[place]) for name in got)
            continue
        fit = scipy.stats.linregress(steps[kept], v[kept])
        for name in ("slope", "intercept", "stderr", "pvalue"):
            np.testing.assert_allclose(got[name].values[place], getattr(fit, name), rtol=1e-7)
    line = got.intercept + got.slope * xr.DataArray(steps, dims="time")
    np.testing.assert_allclose(computed(x.cubed.detrend()), plain - line, atol=1e-8)
    removed = x.cubed.subtrend(got.intercept, got.slope)
    np.testing.assert_allclose(computed(removed), plain - line, atol=1e-8)
    assert removed.dims == x.dims and removed.units == "K"
    np.testing.assert_allclose(
        computed(removed.cubed.addtrend(got.intercept, got.slope)), plain, rtol=1e-12
    )


def test_trends_of_too_few_values():
    x = xr.DataArray([[1.0, np.nan], [2.0, 5.0], [np.nan, np.nan]], dims=("time", "x"))
    got = x.chunk(chunked_array_type="cubed").cubed.trend().compute()
    np.testing.assert_array_equal(got.slope, [1, np.nan])
    np.testing.assert_array_equal(got.pvalue, [np.nan, np.nan])
    perfect = xr.DataArray(np.arange(5.0), dims="time").chunk(chunked_array_type="cubed")
    assert float(perfect.cubed.trend_pvalue()) == 0


def test_correlations():
    x = series()
    y = x.shift(time=3) * 2 + 1
    plain, other = series(chunk=None), y.compute()
    np.testing.assert_allclose(computed(x.cubed.timcor(y)), xr.corr(plain, other, "time"))
    covariance = xr.cov(plain, other, "time", ddof=0)
    np.testing.assert_allclose(computed(x.cubed.timcovar(y)), covariance)
    with pytest.raises(ValueError, match='coordinate "time" of y differs'):
        x.cubed.timcor(y.isel(time=slice(5, None)))
    late = y.assign_coords(time=y.time + np.timedelta64(1, "D"))
    with pytest.raises(ValueError, match='coordinate "time" of y differs'):
        x.cubed.timcor(late)


@pytest.mark.parametrize("calendar", CALENDARS)
def test_spells_and_indices(calendar):
    x, plain = series(calendar), series(calendar, chunk=None)
    warm = plain > 283
    lengths = np.zeros(warm.shape, int)
    for i, row in enumerate(warm.values):
        lengths[i] = np.where(row, (lengths[i - 1] if i else 0) + 1, 0)
    got = computed((x > 283).cubed.consecsum())
    np.testing.assert_array_equal(got, lengths)
    assert got.attrs["units"] == "1"
    with np.errstate(all="ignore"):
        days = (plain > 273.15 + 12).where(plain.notnull()).resample(time="YS").sum(min_count=1)
    got = computed(x.cubed.eca_su(12, freq="YS"))
    np.testing.assert_array_equal(got, days)
    np.testing.assert_array_equal(got.time, days.time)
    assert got.attrs["units"] == "days"
    xr.testing.assert_identical(computed(x.cubed.summer_days(threshold=12, freq="YS")), got)
    waves = x.cubed.eca_hwdi(x.cubed.ydaymean(), days=3, degrees=1.0)
    assert waves.dims == ("lat", "lon") and int(waves.max()) > 0


@pytest.mark.parametrize("statistic", ["mean", "avg", "sum", "min", "max", "std", "std1", "var"])
def test_windows_around_days(statistic):
    """Windows of five days around each day of all years, also with missing values."""
    holes = 0.3 if statistic != "avg" else 0.0
    x = series("noleap", 800, holes=holes)
    plain = series("noleap", 800, chunk=None, holes=holes)
    windows = plain.rolling(time=5, center=True).construct("window")[2:-2]
    groups = windows.groupby("time.dayofyear")
    reduction = {"avg": "mean", "std1": "std"}.get(statistic, statistic)
    options = {"sum": {"min_count": 1}, "std1": {"ddof": 1}}.get(statistic, {})
    want = getattr(groups, reduction)(("time", "window"), **options)
    got = computed(getattr(x.cubed, f"ydrun{statistic}")(5))
    assert got.dims == ("dayofyear", "lat", "lon")
    # Days of February 29 have a number of their own.
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-9)
    assert got.dtype == "f8"
    single = x.astype("f4").cubed.ydrunmean(5)
    assert single.dtype == "f4"


def test_sets_and_hours():
    x, plain = series(), series(chunk=None)
    got = computed(x.cubed.timselmean(10, offset=5, skip=2))
    want = plain[5:].coarsen(time=12, boundary="pad").construct(time=("set", "step"))
    want = want.isel(step=slice(10)).mean("step")
    np.testing.assert_allclose(got, want, rtol=1e-12)
    assert (got.time.values == plain.time.values[5::12]).all()
    assert computed(x.cubed.timselpctl(50, 900)).shape == (1, 2, 3)
    hours = plain.assign_coords(time=xr.date_range("1999-11-20", periods=900, freq="7h"))
    lazy = hours.chunk(time=100, chunked_array_type="cubed")
    want = hours.groupby(hours.time.dt.hour).max().rename(hour="hour")
    np.testing.assert_allclose(computed(lazy.cubed.dhourmax()), want)
    yearly = lazy.cubed.yhourmean()
    assert yearly.dims[0] == "hourofyear"
    got = computed(lazy.cubed.yhoursub(yearly))
    groups = hours.time.dt.strftime("%m-%d %H")
    want = hours.groupby(groups).map(lambda g: g - g.mean("time"))
    np.testing.assert_allclose(got, want.transpose(*hours.dims), atol=1e-12)
    of_two = computed(lazy.cubed.seltime("00:00", ("05:00", "07:00")))
    assert set(of_two.time.dt.hour.values) == {0, 5, 6, 7}


def test_boxes_and_masks():
    x, plain = series(), series(chunk=None)
    inside = (plain.lon <= 10) & (plain.lat <= 5)
    xr.testing.assert_allclose(computed(x.cubed.masklonlatbox(-15, 10, -5, 5)), plain.where(inside))
    want = plain.sel(lon=[0, 10], lat=[0])
    np.testing.assert_allclose(computed(x.cubed.sellonlatbox(-15, 10, -5, 5)), want)
    flipped = computed(x.cubed.invertlat())
    np.testing.assert_allclose(flipped, plain[:, ::-1])
    assert list(flipped.lat) == [10, 0]
    mask = (x[0] > 283).rename("mask")
    got = computed(mask.cubed.ifthenelse(x, 2 * x))
    want = xr.where(plain[0] > 283, plain, 2 * plain).transpose(*plain.dims)
    np.testing.assert_allclose(got, want)
    assert got.name == "t2m" and got.units == "K"
    both = xr.Dataset({"t2m": x, "n": ("time", np.arange(900))})
    kept = computed(both.cubed.del29feb())
    assert kept.sizes["time"] == 899 and kept.n.dtype == "int64"
    kept = computed(both.cubed.delday("5mar", 1))
    gone = (both.time.dt.day == 1) | ((both.time.dt.day == 5) & (both.time.dt.month == 3))
    np.testing.assert_array_equal(kept.n, both.n[~gone.values])


def test_fields():
    x, plain = series(), series(chunk=None)
    weights = np.cos(np.deg2rad(plain.lat))
    got = computed(x.cubed.fldmean(weights=weights.broadcast_like(plain[0]).fillna(0)))
    np.testing.assert_allclose(got, plain.weighted(weights).mean(("lat", "lon")), rtol=1e-12)
    got = computed(x.cubed.fldmean())
    assert got.dims == ("time",) and set(got.coords) == {"time", "day_number", "level"}
    np.testing.assert_allclose(got, plain.weighted(weights).mean(("lat", "lon")), rtol=1e-4)
    assert "area: mean" in got.attrs["cell_methods"]
    np.testing.assert_allclose(computed(x.cubed.fldmax(dim="lon")), plain.max("lon"))
    np.testing.assert_allclose(computed(x.cubed.zonmean()), plain.mean("lon"), rtol=1e-12)
    areas = computed(x.cubed.gridarea())
    assert areas.dims == ("lat", "lon") and areas.attrs["units"] == "m2"


def test_datasets():
    x = series()
    ds = xr.Dataset(
        {"t2m": x, "half": x / 2, "mask": x[0].reset_coords(drop=True), "number": 3},
        attrs={"title": "a"},
    )
    ds["time_bnds"] = (("time", "bnds"), np.zeros((900, 2)))
    ds.time.attrs["bounds"] = "time_bnds"
    got = ds.cubed.monmean()
    assert set(got) == {"t2m", "half", "mask", "number"} and got.attrs == {"title": "a"}
    xr.testing.assert_identical(computed(got.t2m), computed(x.cubed.monmean()))
    assert got.mask.dims == ("lat", "lon")
    less = ds[["t2m", "half"]].cubed.ymonsub(ds.cubed.ymonmean())
    xr.testing.assert_allclose(computed(less.half), computed(less.t2m) / 2)
    with pytest.raises(ValueError, match="has no variable 'half'"):
        ds.cubed.ymonsub(ds[["t2m"]].cubed.ymonmean())
    trends = ds[["t2m"]].cubed.trend()
    assert set(trends) == {f"t2m_{n}" for n in ("slope", "intercept", "stderr", "pvalue")}


def test_names_of_dimensions():
    x = series().rename(time="valid_time")
    np.testing.assert_array_equal(computed(x.cubed.ymonmean()), computed(series().cubed.ymonmean()))
    np.testing.assert_array_equal(computed(x.cubed.eca_su(dim="T")), series().cubed.eca_su())
    got = x.cubed.anomaly("time.month")
    assert got.dims == ("valid_time", "lat", "lon")
    with pytest.raises(ValueError, match="monmean: no dimension is called 'vertical'"):
        x.cubed.monmean(dim="vertical")
    with pytest.raises(ValueError, match="no dimension is called 'time' by the CF conventions"):
        x.isel(valid_time=0).cubed.monmean()


@pytest.mark.skipif(not importlib.util.find_spec("cf_xarray"), reason="cf_xarray is not installed")
def test_names_of_cf_xarray():
    x = series()
    np.testing.assert_allclose(
        computed(x.cubed.fldmax(dim=["latitude", "X"])), x.max(("lat", "lon"))
    )


def test_areas_of_datasets():
    """cell_measures names a variable of the Dataset, or a coordinate of the array."""
    x = series(holes=0).isel(lon=slice(2))
    x.attrs["cell_measures"] = "area: areacella"
    area = xr.DataArray([[1.0, 2.0], [3.0, 4.0]], dims=("lat", "lon"))
    ds = xr.Dataset({"t2m": x, "areacella": area})
    want = x.compute().weighted(area).mean(("lat", "lon"))
    np.testing.assert_allclose(computed(ds.cubed.fldmean().t2m), want)
    np.testing.assert_allclose(computed(x.assign_coords(areacella=area).cubed.fldmean()), want)


def test_other_calls():
    x = series()
    got = x.cubed.remap("lon=5_lat=5")
    assert got.dims == ("time", "lat", "lon") and got.shape == (900, 1, 1)
    with pytest.raises(TypeError, match="threshold is a dict"):
        x.cubed.eca_su({})
    with pytest.raises(ValueError, match="without both kinds of quotes"):
        x.cubed.seldate("\"'")
    with pytest.raises(ValueError, match='units "hPa", expected K or degC'):
        x.assign_attrs(units="hPa").cubed.eca_su()
    numbers = xr.DataArray(np.arange(6).reshape(3, 2), dims=("time", "x"))  # in memory
    assert isinstance(numbers.cubed.detrend().data, cubed.Array)
