"""Compares climate indices, spells, trends and correlations with CDO, on three calendars."""

import shutil
import subprocess

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import check, run

QUIET = ("--progress", "none")
CALENDARS = ["standard", "noleap", "360_day"]

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")

#: Calls of CDO, its input files, and our expression if it is not the same.
OF_TEMPERATURE = ["eca_fd", "eca_id", "eca_su", "eca_su,20", "eca_tr", "eca_tr,10"]
OF_TEMPERATURE += ["eca_csu", "eca_csu,15", "eca_cfd", "eca_hd", "eca_hd,12"]
OF_RAIN = ["eca_rr1", "eca_rr1,5", "eca_r1mm", "eca_r10mm", "eca_r20mm", "eca_cdd", "eca_cwd"]
OF_RAIN += ["eca_cwd,3", "eca_sdii", "eca_rx1day", "eca_rx5day"]
OF_BOTH = ["timcor", "timcovar", "fldcor", "fldcovar"]
OF_NORMAL = ["eca_hwdi", "eca_hwdi,3,2", "eca_hwfi", "eca_hwfi,3", "eca_cwfi,3", "eca_tx90p"]
OF_NORMAL += ["eca_tg90p", "eca_tn90p", "eca_tx10p", "eca_tg10p", "eca_tn10p"]
OF_WET = [f"eca_r{q}p{tot}" for q in (75, 90, 95, 99) for tot in ("", "tot")]


def put(path, values, calendar, units):
    """Some values are missing, and all at one place."""
    coords = {
        "time": ("time", np.arange(len(values)) * 1.0),
        "lat": ("lat", [0.0, 10.0], {"units": "degrees_north"}),
        "lon": ("lon", [0.0, 10.0, 20.0], {"units": "degrees_east"}),
    }
    ds = xr.Dataset({"v": (("time", "lat", "lon"), values.astype("f4"))}, coords)
    ds.v.attrs["units"] = units
    ds.time.attrs = {"units": "days since 2001-01-01", "calendar": calendar}
    encoding = {"v": {"_FillValue": np.float32(-999)}, "time": {"_FillValue": None}}
    ds.to_netcdf(path, format="NETCDF3_CLASSIC", encoding=encoding)


def with_holes(rng, values, part):
    values[rng.random(values.shape) < part] = np.nan
    values[:, 1, 2] = np.nan
    return values


def make(folder, calendar):
    """A year of temperatures, precipitation, and normal values of both."""
    rng = np.random.default_rng(0)
    shape = (360 if calendar == "360_day" else 365, 2, 3)
    t = with_holes(rng, 273.15 + rng.normal(10, 12, shape), 0.1)
    put(folder / "t.nc", t, calendar, "K")
    put(folder / "y.nc", with_holes(rng, t / 2 + rng.normal(0, 3, shape), 0.1), calendar, "K")
    rain = np.where(rng.random(shape) < 0.5, 0, rng.gamma(1, 8, shape))
    put(folder / "p.nc", with_holes(rng, rain, 0.05), calendar, "mm")
    put(folder / "n.nc", 273.15 + rng.normal(4, 2, shape), calendar, "K")
    put(folder / "w.nc", np.broadcast_to(rng.uniform(3, 9, (1, 2, 3)), shape), calendar, "mm")


def by_cdo(folder, *words):
    words = ["cdo", "-s", "-O", "-b", "F64", *words, "want.nc"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    with xr.open_dataset(folder / "want.nc", decode_times=False) as ds:
        names = [n for n in ds.data_vars if "bnds" not in n]
        return ds[names[0]].load()


def evaluated(folder, calls, **files):
    text = "; ".join(f"r{i} = {call}" for i, call in enumerate(calls))
    given = [w for k, f in files.items() for w in ("--in", f"{k}={folder / f}::v")]
    got = check(run("eval", text, *given, "--decode", "--json", *QUIET)).arrays()
    return [got[f"r{i}"] for i in range(len(calls))]


def call_of(words, arrays):
    name, *numbers = words.split(",")
    return f"{name}({', '.join([*arrays, *numbers])})"


def compare(folder, list_of_words, *files):
    """Compares results of CDO's operators with those of our functions of the same names."""
    arrays = dict(zip(("x", "y"), files, strict=False))
    calls = [call_of(words, arrays) for words in list_of_words]
    for words, got in zip(list_of_words, evaluated(folder, calls, **arrays), strict=True):
        want = by_cdo(folder, words, *files)
        np.testing.assert_allclose(
            np.squeeze(got), np.squeeze(want), rtol=1e-4, atol=1e-3, err_msg=words
        )


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_indices_by_cdo(tmp_path, calendar):
    make(tmp_path, calendar)
    compare(tmp_path, OF_TEMPERATURE, "t.nc")
    compare(tmp_path, OF_RAIN, "p.nc")
    compare(tmp_path, OF_NORMAL, "t.nc", "n.nc")
    compare(tmp_path, OF_WET, "p.nc", "w.nc")
    compare(tmp_path, ["eca_etr"], "t.nc", "y.nc")


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_series_by_cdo(tmp_path, calendar):
    make(tmp_path, calendar)
    compare(tmp_path, OF_BOTH, "t.nc", "y.nc")
    compare(tmp_path, ["detrend", "regres"], "t.nc")
    subprocess.run(
        ["cdo", "-s", "trend", "t.nc", "a.nc", "b.nc"], cwd=tmp_path, check=True, stderr=-1
    )
    calls = ["trend_intercept(x)", "trend_slope(x)", "consecsum(x > 283)", "consects(x > 283)"]
    got = evaluated(tmp_path, calls, x="t.nc")
    wants = [("copy", "a.nc"), ("copy", "b.nc")]
    wants += [(name, "-gtc,283", "t.nc") for name in ("consecsum", "consects")]
    for words, have in zip(wants, got, strict=True):
        want = by_cdo(tmp_path, *words)
        np.testing.assert_allclose(np.squeeze(have), np.squeeze(want), rtol=1e-4, err_msg=words)
    by_cdo(tmp_path, "monmean", "t.nc")
    (tmp_path / "want.nc").rename(tmp_path / "months.nc")
    compare(tmp_path, ["yearmonmean"], "months.nc")


@needs_cdo
def test_command_has_the_names_of_cdo(tmp_path):
    make(tmp_path, "noleap")
    for words in (["eca_su,20", "t.nc"], ["detrend", "t.nc"], ["eca_hwdi,3,2", "t.nc", "n.nc"]):
        files = [tmp_path / w for w in words[1:]]
        check(run(words[0], *files, tmp_path / "got.nc", "--overwrite", *QUIET))
        want = by_cdo(tmp_path, *words)
        with xr.open_dataset(tmp_path / "got.nc", decode_times=False) as got:
            np.testing.assert_allclose(got.v, np.squeeze(want), rtol=1e-4, atol=1e-3)
            assert got.v.units == ("K" if words[0] == "detrend" else "days")


def test_thresholds_are_in_the_units_of_the_array(tmp_path):
    make(tmp_path, "noleap")
    calls = [
        "eca_su(x)",
        'eca_su(set_attrs(x - 273.15, units="degC"))',
        "summer_days(x, 25)",
        "eca_rr1(y)",
        'eca_rr1(set_attrs(y / 86400, units="kg m-2 s-1"))',
        'wet_days(set_attrs(y / 1000, units="m"))',
    ]
    a, b, c, d, e, f = evaluated(tmp_path, calls, x="t.nc", y="p.nc")
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(a, c)
    assert np.nanmax(a) > 20
    np.testing.assert_array_equal(d, e)
    np.testing.assert_array_equal(d, f)
    for text in ("eca_fd(x * 2)", 'eca_rr1(set_attrs(x, units="inch"))'):
        result = run("eval", text, "--in", f"x={tmp_path / 't.nc'}::v", *QUIET)
        assert result.code != 0
        assert 'state them with set_attrs(x, units="...")' in result.err


def test_intervals_by_xarray(tmp_path):
    make(tmp_path, "360_day")
    with xr.open_dataset(tmp_path / "t.nc") as ds:
        frost = (ds.v < 273.15).where(ds.v.notnull()).resample(time="MS")
        want = frost.sum(min_count=1)
    (got,) = evaluated(tmp_path, ['frost_days(x, freq="MS")'], x="t.nc")
    np.testing.assert_array_equal(got, want)
    assert got.shape[0] == 12
    result = run("eval", 'frost_days(v, freq="1x")', tmp_path / "t.nc", *QUIET)
    assert result.code != 0 and "is not a frequency" in result.err


def test_spells():
    """Of datetime64 and of missing values; spells at both ends of the series count."""
    x = np.array([1, 1, 0, 1, np.nan, 1, 1, 1])
    series = xr.DataArray(x, dims="time", coords={"time": xr.date_range("2000-01-01", periods=8)})
    got = cubed.eval("a = consecutive(x); b = spell_lengths(x)", x=series)
    np.testing.assert_array_equal(got["a"].compute(), [1, 2, 0, 1, 0, 1, 2, 3])
    nan = np.nan
    np.testing.assert_array_equal(got["b"].compute(), [nan, 2, nan, 1, nan, nan, nan, 3])


def test_packed_and_chunked(tmp_path):
    """Packed integers give the same as their values, whatever the chunks are."""
    rng = np.random.default_rng(0)
    stored = rng.integers(0, 400, (50, 4)).astype("i2")
    ds = xr.Dataset({"v": (("time", "x"), stored)}, {"time": ("time", np.arange(50.0))})
    ds.time.attrs = {"units": "days since 2001-01-01", "calendar": "noleap"}
    ds.v.attrs = {"scale_factor": 0.1, "add_offset": 273.15 - 20, "units": "K"}
    ds.to_netcdf(tmp_path / "n.nc", format="NETCDF3_CLASSIC")
    text = "r1 = eca_su(v, 10); r2 = detrend(v); r3 = timcor(v, 2 * v)"
    got = check(run("eval", text, tmp_path / "n.nc", "--json", *QUIET)).arrays()
    v = stored * 0.1 - 20
    np.testing.assert_array_equal(got["r1"], (v > 10).sum(0))
    t = np.arange(50.0)
    fit = np.stack([np.polyval(np.polyfit(t, v[:, k], 1), t) for k in range(4)], 1)
    np.testing.assert_allclose(got["r2"], v - fit, atol=1e-9)
    np.testing.assert_allclose(got["r3"], 1)
    check(run("copy", tmp_path / "n.nc", tmp_path / "n.zarr", *QUIET))
    check(
        run("rechunk", tmp_path / "n.zarr", tmp_path / "m.zarr", "--chunks", "time=7,x=3", *QUIET)
    )
    again = check(run("eval", text, tmp_path / "m.zarr", "--json", *QUIET)).arrays()
    for name, want in got.items():
        np.testing.assert_allclose(again[name], want, atol=1e-9)


def put_seasons(folder, calendar, start, n, missing, seed):
    """Series that stay warm or cold for some days, on both hemispheres, and a land mask."""
    rng = np.random.default_rng(seed)
    values = np.empty((n, 4, 1))
    for k, stays in enumerate([0.5, 0.8, 0.9, 0.97]):
        changes = rng.random(n) > stays
        levels = rng.choice([276.0, 280.0], n)
        at = np.maximum.accumulate(np.where(changes, np.arange(n), 0))
        values[:, k, 0] = levels[at]
    values[rng.random(values.shape) < missing] = np.nan
    coords = {
        "time": ("time", np.arange(n) * 1.0),
        "lat": ("lat", [60.0, 0.0, -30.0, -60.0], {"units": "degrees_north"}),
        "lon": ("lon", [0.0], {"units": "degrees_east"}),
    }
    ds = xr.Dataset({"v": (("time", "lat", "lon"), values.astype("f4"))}, coords)
    ds.v.attrs["units"] = "K"
    ds.time.attrs = {"units": f"days since {start}", "calendar": calendar}
    encoding = {"v": {"_FillValue": np.float32(-999)}, "time": {"_FillValue": None}}
    ds.to_netcdf(folder / "t.nc", format="NETCDF3_CLASSIC", encoding=encoding)
    land = ds.drop_vars(["v", "time"]).assign(v=(("lat", "lon"), np.ones((4, 1), "f4")))
    land.to_netcdf(folder / "land.nc", format="NETCDF3_CLASSIC")


@needs_cdo
@pytest.mark.parametrize(
    "calendar, start, n, missing, days",
    [
        ("standard", "2001-01-01", 980, 0, 6),
        ("noleap", "2001-03-10", 678, 0.03, 3),
        ("standard", "2001-08-05", 970, 0.1, 2),
        ("noleap", "2001-06-28", 949, 0, 1),
        ("standard", "2001-01-01", 300, 0, 5),
    ],
)
def test_growing_seasons_by_cdo(tmp_path, calendar, start, n, missing, days):
    put_seasons(tmp_path, calendar, start, n, missing, n)
    by_cdo(tmp_path, f"eca_gsl,{days}", "t.nc", "land.nc")
    calls = [f"eca_gsl(x, land, {days})", f"growing_season_start(x, land, {days})"]
    got = evaluated(tmp_path, calls, x="t.nc", land="land.nc")
    with xr.open_dataset(tmp_path / "want.nc", decode_times=False) as want:
        names = ["thermal_growing_season_length", "day_of_year_of_growing_season_start"]
        for name, have in zip(names, got, strict=True):
            # CDO's first row may be the year before the first one.
            rows = want[name].values[-len(have) :]
            np.testing.assert_array_equal(have, rows, err_msg=name)


def test_growing_seasons(tmp_path):
    """Cells without land or without values are missing; results have a coordinate of years."""
    put_seasons(tmp_path, "360_day", "2001-01-01", 720, 0, 0)
    with xr.open_dataset(tmp_path / "t.nc", decode_times=False) as ds:
        warm = ds.load()
    warm.v[:] = 270
    warm.v[100:250] = 290  # and cold again, in the south from 1 July to 1 January
    warm.v[:, 1] = np.nan
    warm.to_netcdf(tmp_path / "t.nc")
    land = xr.load_dataset(tmp_path / "land.nc")
    land.v[3] = 0.4
    land.to_netcdf(tmp_path / "land.nc")
    out = tmp_path / "out.nc"
    check(run("eca_gsl", tmp_path / "t.nc", tmp_path / "land.nc", out, "--overwrite", *QUIET))
    with xr.open_dataset(out, decode_times=False) as got:
        nan = np.nan
        np.testing.assert_array_equal(got.v[:, :, 0], [[150, nan, 180, nan], [0, nan, nan, nan]])
        np.testing.assert_array_equal(got.time, [0, 360])
        assert got.v.units == "days"
    result = run("eval", "eca_gsl(v, v)", "--in", f"v={tmp_path / 'p.nc'}::v", *QUIET)
    assert result.code != 0


def test_parts_of_dates_and_steps(tmp_path):
    put_seasons(tmp_path, "noleap", "2001-06-29", 8, 0, 0)
    calls = ['time_steps(x, "YS-JUL")', 'date_part(x, "month")', "date_part(x, part='dayofyear')"]
    calls += ["latitudes(x)", "lag(x, 3)", "lag(x, -3)", "lag(x, 9)"]
    got = [np.squeeze(r) for r in evaluated(tmp_path, calls, x="t.nc")]
    x = np.squeeze(xr.load_dataset(tmp_path / "t.nc", decode_times=False).v.values)
    np.testing.assert_array_equal(got[0], [0, 1, 0, 1, 2, 3, 4, 5])
    np.testing.assert_array_equal(got[1], [6, 6, 7, 7, 7, 7, 7, 7])
    np.testing.assert_array_equal(got[2], np.arange(180, 188))
    np.testing.assert_array_equal(got[3], [60, 0, -30, -60])
    empty = np.full((3, 4), np.nan)
    np.testing.assert_array_equal(got[4], np.concatenate([empty, x[:-3]]))
    np.testing.assert_array_equal(got[5], np.concatenate([x[3:], empty]))
    assert np.isnan(got[6]).all()
    wrong = {
        'date_part(v, "fortnight")': "expected a part of dates in quotes",
        "date_part(v)": "expected a part of dates in quotes",
        'time_steps(v, "fortnight")': "is not a frequency",
        "time_steps(v, 3)": "expected a frequency in quotes",
        "lag(v, 1.5)": "expected an integer",
        "latitudes(time_steps(v))": "latitude",
    }
    for text, message in wrong.items():
        result = run("eval", text, tmp_path / "t.nc", *QUIET)
        assert result.code != 0 and message in result.err, (text, result.err)


def test_conditions_on_anomalies_keep_times(tmp_path):
    """A coordinate that arithmetic with a climatology leaves as it is equals that of the input."""
    make(tmp_path, "noleap")
    text = "monmean(where(ydaysub(v, ydaymean(v) - 1) > 0, v, nan)); monmean(v)"
    a, b = check(run("eval", text, tmp_path / "t.nc", "--json", *QUIET)).arrays().values()
    np.testing.assert_array_equal(a, b)
    text = 'heat_wave_days(v, ydaymean(v) - 6, 3, 5, freq="MS")'
    (days,) = check(run("eval", text, tmp_path / "t.nc", "--json", *QUIET)).arrays().values()
    assert days.shape[0] == 12 and np.nanmax(days) > 20
