"""Libraries based on Xarray that call functions on lazy arrays, compared with their results in
memory.

`tools/test xarray` runs these tests where the libraries are installed.
"""

import contextlib

import cubed
import numpy as np
import pytest
import xarray as xr


def daily(years=3, chunk=True):
    rng = np.random.default_rng(0)
    time = xr.date_range("2000-01-01", periods=365 * years, calendar="noleap", use_cftime=True)
    season = 10 * np.sin(np.arange(len(time)) * 2 * np.pi / 365)
    values = 283 + season[:, None, None] + rng.normal(0, 4, (len(time), 2, 3))
    coords = {"time": time, "lat": [40.0, 50.0], "lon": [0.0, 10.0, 20.0]}
    x = xr.DataArray(values, coords, ("time", "lat", "lon"), "tas", {"units": "K"})
    x.attrs |= {"standard_name": "air_temperature", "cell_methods": "time: mean"}
    return x.chunk(lat=1, chunked_array_type="cubed") if chunk else x


def check(function, *lazy, computes=False):
    """Compares the result for lazy arrays with that for arrays in memory."""
    with contextlib.nullcontext() if computes else cubed.raise_if_computes():
        got = function(*lazy)
    assert isinstance(got.data, cubed.Array) or computes
    want = function(*(x.compute() for x in lazy))
    np.testing.assert_allclose(got.compute(), want, rtol=1e-10, atol=1e-12, equal_nan=True)
    assert got.dims == want.dims


XSKILLSCORE = "pearson_r spearman_r r2 me rmse mse mae median_absolute_error mape smape".split()


@pytest.mark.parametrize("name", XSKILLSCORE)
def test_xskillscore(name):
    xs = pytest.importorskip("xskillscore", reason="xskillscore is not installed")
    x = daily()
    check(lambda a, b: getattr(xs, name)(a, b, "time"), x, x.shift(time=1, fill_value=280.0))


def test_xskillscore_of_ensembles():
    xs = pytest.importorskip("xskillscore", reason="xskillscore is not installed")
    x = daily()
    members = xr.concat([x + i for i in range(4)], "member").chunk(member=4)
    check(lambda o, f: xs.crps_ensemble(o, f, dim="time"), x, members)
    check(lambda o, f: xs.brier_score(o > 283, (f > 283).mean("member"), dim="time"), x, members)


INDICES = {
    "tg_mean": {},
    "tx_days_above": {"thresh": "288 K"},
    "frost_days": {},
    "growing_degree_days": {},
    "maximum_consecutive_frost_days": {},
    "warm_spell_duration_index": None,
}


@pytest.mark.parametrize("name", INDICES)
def test_xclim(name):
    indices = pytest.importorskip("xclim.indices", reason="xclim is not installed")
    calendar = pytest.importorskip("xclim.core.calendar", reason="xclim is not installed")
    options = INDICES[name]

    def of(x):
        if options is None:
            percentile = calendar.percentile_doy(x, per=90, window=5).sel(percentiles=90)
            return indices.warm_spell_duration_index(x, percentile)
        return getattr(indices, name)(x, **options)

    check(of, daily())


def test_percentiles_of_xclim():
    calendar = pytest.importorskip("xclim.core.calendar", reason="xclim is not installed")
    check(lambda x: calendar.percentile_doy(x, window=5, per=[10, 90]), daily())


def test_xhistogram():
    core = pytest.importorskip("xhistogram.xarray", reason="xhistogram is not installed")
    bins = np.linspace(250, 320, 15)
    check(lambda x: core.histogram(x, bins=[bins], dim=["time"]), daily(), computes=True)


@pytest.mark.parametrize("name", ["cumsum", "integrate", "average"])
def test_xgcm(name):
    xgcm = pytest.importorskip("xgcm", reason="xgcm is not installed")
    x = daily()

    def of(x):
        ds = xr.Dataset({"tas": x})
        ds.coords["lon_left"] = ("lon_left", ds.lon.values - 5)
        ds["dx"] = ("lon", [10.0, 10.0, 10.0])
        coords = {"X": {"center": "lon", "left": "lon_left"}}
        options = {"boundary": "fill"} if name == "cumsum" else {}
        grid = xgcm.Grid(ds, coords=coords, metrics={("X",): ["dx"]}, periodic=False)
        return getattr(grid, name)(ds.tas, "X", **options)

    check(of, x)


def test_cf_xarray():
    pytest.importorskip("cf_xarray", reason="cf_xarray is not installed")
    x = daily()
    x.lat.attrs = {"standard_name": "latitude", "units": "degrees_north"}
    x.lon.attrs = {"axis": "X", "units": "degrees_east"}
    check(lambda a: a.cf.mean("latitude"), x)
    got = x.cubed.fldmax(dim=["latitude", "X"])
    np.testing.assert_array_equal(got.compute(), x.max(("lat", "lon")).compute())
    np.testing.assert_array_equal(x.cubed.monmean(dim="T"), x.cubed.monmean().compute())
