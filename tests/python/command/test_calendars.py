"""Compares groups and selections by calendars with Xarray and cftime."""

import datetime
import functools
import shutil
import subprocess
import warnings

import numpy as np
import pytest
import xarray as xr
from conftest import check, run

cftime = pytest.importorskip("cftime")

CALENDARS = ["standard", "proleptic_gregorian", "julian", "noleap", "all_leap", "360_day"]
QUIET = ("--progress", "none")
#: In the order of the year, as CDO has them.
SEASONS = ["DJF", "MAM", "JJA", "SON"]


def make(path, n, units, calendar, step=1.0, first=0.0, chunks=7):
    """n times from `first` on, every `step` units, and values of which some are missing."""
    data = np.sin(np.arange(n * 3, dtype="f8")).reshape(n, 3)
    data[::5, 1] = np.nan
    attrs = {"units": units, "calendar": calendar}
    numbers = first + step * np.arange(n)
    whole = float(step).is_integer() and float(first).is_integer()
    ds = xr.Dataset(
        {"t": (("time", "x"), data, {"units": "K", "cell_methods": "area: mean"})},
        coords={"time": ("time", numbers.astype("i8" if whole else "f8"), attrs)},
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ds.to_zarr(path, encoding={"t": {"chunks": (chunks, 2)}}, consolidated=False)
    return path


def decoded(path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        coder = xr.coders.CFDatetimeCoder(use_cftime=True)
        return xr.open_zarr(path, decode_times=coder, consolidated=False).load()


#: Of an array that several tests share.
source_of = functools.lru_cache(maxsize=1)(decoded)


def evaluate(tmp_path, text, source):
    out = tmp_path / "out.zarr"
    check(run("eval", text, source, "--out", out, "--overwrite", *QUIET))
    return decoded(out)


@pytest.fixture(scope="module", params=CALENDARS)
def daily(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("daily") / "a.zarr"
    return make(path, 800, "days since 1999-11-20", request.param)


@pytest.fixture(scope="module")
def noleap(tmp_path_factory):
    return make(tmp_path_factory.mktemp("one") / "a.zarr", 800, "days since 1999-11-20", "noleap")


PARTS = ["year", "season", "month", "day", "dayofyear", "hour", "minute", "second"]


def test_groups(daily, tmp_path):
    text = "; ".join(f'{part}s = mean(t, groupby="time.{part}")' for part in PARTS)
    got = evaluate(tmp_path, f'{text}; quarters = mean(t, groupby="time.quarter")', daily)
    source = source_of(daily).t
    for part in PARTS:
        want = source.groupby(f"time.{part}").mean(skipna=False)
        result = got[f"{part}s"]
        np.testing.assert_allclose(result.values, want.values, rtol=1e-13, err_msg=part)
        np.testing.assert_array_equal(got[part].values, want[part].values, part)
        assert result.attrs == {"units": "K", "cell_methods": "area: mean time: mean"}
    quarter = xr.DataArray([(t.month - 1) // 3 + 1 for t in source.time.values], dims="time")
    want = source.groupby(quarter.rename("quarter")).mean(skipna=False)
    np.testing.assert_allclose(got.quarters.values, want.values, rtol=1e-13)


FREQUENCIES = ["YS", "QS", "QS-DEC", "YS-JUL", "MS", "2MS", "5D", "D", "36h", "400D"]
#: Named by their last days.
ENDS = ["YE", "YE-JUN", "2YE", "QE", "QE-NOV", "3QE", "ME", "2ME"]


def test_resampling(daily):
    text = "; ".join(f'r{i} = resample(t, "{f}", "nanmax")' for i, f in enumerate(FREQUENCIES))
    got = check(run("eval", text, daily, "--json", *QUIET)).arrays()
    for i, frequency in enumerate(FREQUENCIES):
        want = source_of(daily).t.resample(time=frequency).max()
        np.testing.assert_array_equal(got[f"r{i}"], want.values, frequency)


@pytest.mark.parametrize("frequency", ["QS-DEC", "2MS", "36h", *ENDS])
def test_the_coordinate_of_intervals(daily, tmp_path, frequency):
    got = evaluate(tmp_path, f'nanmax(t, resample="{frequency}")', daily)
    want = source_of(daily).t.resample(time=frequency).max()
    np.testing.assert_array_equal(got.t.values, want.values)
    np.testing.assert_array_equal(got.time.values, want.time.values)
    bounds = got.time_bnds.values
    if frequency in ENDS:
        last = [b - datetime.timedelta(days=1) for b in bounds[:, 1]]
        np.testing.assert_array_equal(last, want.time.values)
    else:
        np.testing.assert_array_equal(bounds[:, 0], want.time.values)
    np.testing.assert_array_equal(bounds[1:, 0], bounds[:-1, 1])
    assert got.t.attrs["cell_methods"] == "area: mean time: maximum"


def test_medians(daily, tmp_path):
    text = """m = median(t, groupby="time.month"); s = groupby(t, "time.season", "nanmedian");
        across = median(permute_dims(t, (1, 0)), resample="36h")"""
    got = evaluate(tmp_path, text.replace("\n", ""), daily)
    same = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-15)
    source = source_of(daily).t
    month = source.groupby("time.month").median(skipna=False)
    same(got.m.values, month.values)
    same(got.s.values, source.groupby("time.season").median().values)
    (tmp_path / "years").mkdir()
    again = evaluate(tmp_path / "years", 'nanmedian(t, resample="YS")', daily)
    same(again.t.values, source.resample(time="YS").median().values)
    assert again.t.attrs == {"units": "K", "cell_methods": "area: mean time: median"}
    across = source.T.resample(time="36h").median(skipna=False)
    same(got.across.values, across.transpose("x", "time").values)


@pytest.mark.parametrize("q", [0.9, [0.1, 0.9]])
def test_quantiles(daily, tmp_path, q):
    several = isinstance(q, list)
    text = f"""a = quantile(t, {q}, groupby="time.month"); b = nanquantile(t, {q}, resample="2MS");
        c = monpctl(t, {[10, 90] if several else 90});
        d = groupby(t, "time.season", "quantile", q={q}, method="nearest", skipna=True)"""
    got = check(run("eval", text.replace("\n", ""), daily, "--json", *QUIET)).arrays()
    source = source_of(daily).t
    want = {
        "a": source.groupby("time.month").quantile(q, skipna=False),
        "b": source.resample(time="2MS").quantile(q, skipna=True),
        "c": source.resample(time="MS").quantile(q, skipna=True, method="inverted_cdf"),
        "d": source.groupby("time.season").quantile(q, skipna=True, method="nearest"),
    }
    for name, w in want.items():
        w = w.transpose("quantile", ..., "x") if several else w.transpose(..., "x")
        np.testing.assert_allclose(got[name], w.values, rtol=1e-12, atol=1e-15, err_msg=name)


def test_the_axis_of_quantiles(daily, tmp_path):
    """Its name and coordinate are Xarray's; other quantiles have another name."""
    source = source_of(daily).t
    text = """a = quantile(t, (0.1, 0.9), dim="time");
        b = nanpercentile(t, [10, 90], groupby="time.month");
        c = nanquantile(t, (0.5, 0.25, 1), axis=1); d = nanquantile(a, (0, 1), dim="x");
        f = mean(b, dim="quantile")"""
    got = evaluate(tmp_path, text.replace("\n", ""), daily)
    want = source.quantile([0.1, 0.9], dim="time", skipna=False)
    assert got.a.dims == want.dims == ("quantile", "x")
    np.testing.assert_allclose(got.a, want.values, rtol=1e-12)
    months = source.groupby("time.month").quantile([0.1, 0.9]).transpose("quantile", "month", "x")
    assert got.b.dims == months.dims
    np.testing.assert_allclose(got.b, months.values, rtol=1e-12)
    assert got.c.dims == ("quantile_2", "time")
    np.testing.assert_array_equal(got.quantile_2, [0.5, 0.25, 1])
    assert got.d.dims == ("quantile_3", "quantile")
    assert got.f.dims == ("month", "x")
    np.testing.assert_allclose(got.f, months.mean("quantile").values, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(got["quantile"], want["quantile"])
    one = 'quantile(t, (0.1, 0.9), dim="time")'
    for out in ("r.zarr", "r.nc"):
        check(run("eval", one, daily, "--out", tmp_path / out, *QUIET))
        opened = xr.open_zarr if out == "r.zarr" else xr.open_dataset
        with opened(tmp_path / out) as r:
            np.testing.assert_allclose(r.t.sel(quantile=0.9), want.sel(quantile=0.9).values)
            np.testing.assert_array_equal(r["quantile"], want["quantile"])
    # What stands alone stays an array.
    check(run("eval", one, "--in", f"t={daily}::t", "--out", tmp_path / "x.zarr", *QUIET))
    assert not (tmp_path / "x.zarr/quantile").exists()
    shown = check(run("eval", one, "--in", f"t={daily}::t", *QUIET)).out
    assert shown.startswith("t: float64 (quantile: 2, x: 3)")


def test_labels(tmp_path):
    """Groups of an array of the input, by name or as an expression, as Xarray has them."""
    rng = np.random.default_rng(4)
    data = rng.normal(size=(6, 11, 5))
    data[rng.random(data.shape) < 0.1] = np.nan
    labels = np.array([3, 1, 2, 7, 1, 3, 3, 2, 1, 7, 3])
    ds = xr.Dataset(
        {"t": (("a", "y", "b"), data, {"units": "K"})},
        coords={
            "region": ("y", labels, {"long_name": "what it is", "units": "1"}),
            "height": ("y", labels * 0.5),
            "place": ("y", np.array(["ab", "c", "ab", "", "c", "c", "é", "é", "é", "ab", "c"])),
            "y": np.arange(11),
        },
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # texts of fixed length
        ds.to_zarr(tmp_path / "a.zarr", encoding={"t": {"chunks": (2, 4, 5)}}, consolidated=False)
    same = functools.partial(np.testing.assert_allclose, rtol=1e-12, atol=1e-15)
    for by in ("region", "height"):
        for name, text in (
            ("mean", f"mean(t, groupby={by}, skipna=True)"),
            ("median", f'nanmedian(t, groupby="{by}")'),
            ("median", f'groupby(t, {by}, "median", skipna=True)'),
            ("std", f"nanstd(t, groupby={by}, correction=1)"),
            ("quantile", f"quantile(t, 0.3, groupby={by}, skipna=True)"),
            ("quantile", f'groupby(t, {by}, "nanpercentile", q=30)'),
        ):
            out = tmp_path / f"{by}{len(list(tmp_path.iterdir()))}"
            check(run("eval", text, tmp_path / "a.zarr", "--out", out, *QUIET))
            got = xr.open_zarr(out, consolidated=False)
            args = {"mean": {}, "median": {}, "std": {"ddof": 1}, "quantile": {"q": 0.3}}[name]
            want = getattr(ds.t.groupby(by), name)(**args, skipna=True)
            name = next(n for n in ("t", "result") if n in got)
            same(got[name].values, want.transpose("a", by, "b").values, err_msg=text)
            np.testing.assert_array_equal(got[by].values, want[by].values)
            assert got[name].attrs == {"units": "K"}
            assert got[by].attrs == ds[by].attrs
    out = tmp_path / "texts"
    text = "m = nanmedian(t, groupby=place); n = nanmax(t, groupby=place)"
    check(run("eval", text, tmp_path / "a.zarr", "--out", out, *QUIET))
    got, groups = xr.open_zarr(out, consolidated=False), ds.t.groupby("place")
    same(got.m.values, groups.median().transpose("a", "place", "b").values)
    same(got.n.values, groups.max().transpose("a", "place", "b").values)
    assert got.place.values.tolist() == sorted(set(ds.place.values.tolist()))


def test_labels_of_several_dimensions(tmp_path):
    import zarr

    rng = np.random.default_rng(5)
    data, labels = rng.normal(size=(5, 4, 7)), rng.integers(-1, 3, (7, 5))
    g = zarr.create_group(tmp_path / "a.zarr")
    g.create_array("t", data=data, chunks=(2, 2, 3))
    g.create_array("by", data=labels, chunks=(3, 5))
    text = """a = groupby(t, by, "median", axis=(-1, 0), ngroups=3);
        b = groupby(t, by, "percentile", axis=(2, 0), q=(25, 50), ngroups=3);
        c = groupby(t, by, "max", axis=(2, 0))"""
    command = ("eval", text.replace("\n", ""), tmp_path / "a.zarr", "--json", *QUIET)
    got = check(run(*command)).arrays()
    lines = np.moveaxis(data, 1, 0)  # one for each of the axis that stays
    for k in range(3):
        there = lines[:, k == labels.T]
        np.testing.assert_allclose(got["a"][k], np.median(there, axis=1), rtol=1e-14)
        np.testing.assert_allclose(
            got["b"][:, k], np.percentile(there, [25, 50], axis=1), rtol=1e-14
        )
    for k in range(4):
        np.testing.assert_array_equal(got["c"][k], lines[:, k - 1 == labels.T].max(axis=1))


WRONG_LABELS = [
    ("median(t, groupby=nosuch)", 'unknown name "nosuch"'),
    ('median(t, groupby="nosuch")', 'unknown name "nosuch"'),
    (
        'median(t, groupby="time", q=0.5)',
        "q is an option of quantiles and percentiles, not of median",
    ),
    ("quantile(t, 0.5, groupby=t, q=0.5, axis=(0, 1))", "q is given twice"),
    ("mean(t, groupby=t, axis=(0, 0))", "axis 0 is given twice"),
    ("mean(t, groupby=t, axis=0)", "have 2 dimensions for 1 axes"),
    ("mean(t, groupby=t, axis=(0, 7))", "axis 7 is out of range"),
    ("mean(t, groupby=mean(t))", "have 0 dimensions"),
    ("mean(t, groupby=t, method=3, axis=(0, 1))", "method is 3, expected one of"),
    ("mean(t, groupby=complex64(t), axis=(0, 1))", "numbers, times or strings"),
    ('groupby(t, time, "medain")', '(did you mean "median"?)'),
]


@pytest.mark.parametrize(("text", "says"), WRONG_LABELS)
def test_labels_that_are_wrong(noleap, text, says):
    result = run("eval", text, noleap, *QUIET)
    assert result.code == 1 and says in result.err, result


@pytest.mark.parametrize("up", [True, False])
def test_the_nearest(tmp_path, up):
    """As Xarray has it: of two that are as near, the greater one."""
    times = np.arange("2020-01-01", "2020-02-01", dtype="datetime64[D]").astype("datetime64[ns]")
    lat = np.arange(0.0, 20.0)
    t = np.arange(31.0 * 20).reshape(31, 20)
    order = slice(None, None, 1 if up else -1)
    ds = xr.Dataset({"t": (("time", "lat"), t[order, order])}).assign_coords(
        time=times[order], lat=lat[order]
    )
    ds.to_zarr(tmp_path / "a.zarr", consolidated=False)
    for select in (
        {"time": "2020-01-15T07"},
        {"time": "2020-01-15T12"},
        {"time": "2020-01-15T12:00:01"},
        {"time": "2019"},
        {"time": "2031-05-06"},
        {"lat": 7.5},
        {"lat": 7.4, "time": "2020-01-03T23"},
        {"lat": -99},
    ):
        words = ", ".join(f"{k}={v!r}" for k, v in select.items()).replace("'", '"')
        text = f'sel(t, {words}, method="nearest")'
        got = check(run("eval", text, tmp_path / "a.zarr", "--json", *QUIET)).array()
        np.testing.assert_array_equal(got, ds.t.sel(select, method="nearest").values, words)


@pytest.mark.parametrize("frequency", ["W", "2W", "W-WED", "3W-SAT", "QE-FEB", "A-MAR"])
def test_weeks_and_ends_by_pandas(tmp_path, frequency):
    """Weeks are of the calendar of Pandas alone."""
    times = np.datetime64("2019-11-20T06") + 18 * np.arange(183)
    values = np.arange(float(len(times)))
    ds = xr.Dataset({"t": ("time", values)}, coords={"time": times.astype("datetime64[ns]")})
    ds.to_zarr(tmp_path / "a.zarr", consolidated=False)
    text = f't = sum(t, resample="{frequency}")'
    check(run("eval", text, tmp_path / "a.zarr", "--out", tmp_path / "r.zarr", *QUIET))
    with xr.open_zarr(tmp_path / "r.zarr", consolidated=False) as got:
        want = ds.resample(time=frequency.replace("A-", "YE-")).sum()
        np.testing.assert_array_equal(got.t, want.t)
        np.testing.assert_array_equal(got.time, want.time)


def test_elements_by_text(tmp_path):
    """Of texts of fixed and of any length, in the family that the coordinate has."""
    names = ["Kew", "Ely", "Z\u00fcrich", "Z\u00fcrich", "Bath", "Ely"]
    t = np.arange(12.0).reshape(6, 2)
    for kind, texts in (
        ("U", np.array(names)),
        ("any", np.array(names, dtype=object)),
        ("S", np.array([n.encode() for n in names])),
    ):
        path = tmp_path / f"{kind}.zarr"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # texts of fixed length
            xr.Dataset({"t": (("station", "x"), t)}, coords={"station": texts}).to_zarr(
                path, consolidated=False
            )
        for text, want in (
            ('sel(t, station="Kew")', t[0]),
            ('sel(t, station="Z\u00fcrich")', t[2:4]),
            ('sel(t, station=("Kew", "Z\u00fcrich"))', t[:4]),
            ('sel(t, station=("Bath", "Kew"))', t[:0]),
            ('sel(t[1:], station="Bath")', t[4]),
            ('station == "Ely"', [False, True, False, False, False, True]),
            ('"Kew" != station', [False, True, True, True, True, True]),
            ('less(station, "F")', [n < "F" for n in names]),
            ('isin(station, ("Bath", "Kew", "Ulm"))', [True, False, False, False, True, False]),
            ('sum(where(expand_dims(station == "Ely", 1), t, 0))', t[1].sum() + t[5].sum()),
            (
                'where(station == "Ely", "an island", station) == "an island"',
                np.array(names) == "Ely",
            ),
        ):
            got = check(run("eval", text, path, "--json", *QUIET)).array()
            np.testing.assert_array_equal(got, want, f"{kind}: {text}")
        for text, says in (
            ('sel(t, station="Ulm")', '"station" has no element "Ulm"'),
            ('sel(t, station="Ely")', "are not contiguous"),
            ("sel(t, station=3)", "expected a string in quotes"),
            (
                'sel(t, station="Kew", method="nearest")',
                'method="nearest" does not apply to strings',
            ),
            ('t == "Kew"', "strings can be combined only with arrays of strings"),
            ('"Kew" == "Ely"', "strings can be combined only with arrays of strings"),
        ):
            result = run("eval", text, path, *QUIET)
            assert result.code == 1 and says in result.err, result


def test_numbers_of_single_precision(tmp_path):
    """A number is looked for as the coordinate has it, as Xarray does."""
    x = np.array([0.1, 0.2, 0.3], "f4")
    xr.Dataset({"t": ("x", [1.0, 2.0, 3.0])}, coords={"x": x}).to_zarr(
        tmp_path / "a.zarr", consolidated=False
    )
    got = check(run("eval", "sel(t, x=0.2)", tmp_path / "a.zarr", "--json", *QUIET)).array()
    assert got == 2.0


def test_weeks(tmp_path):
    for calendar in CALENDARS[:3]:
        path = make(tmp_path / calendar, 40, "days since 2001-02-03", calendar)
        got = evaluate(tmp_path, 'sum(t, groupby="time.dayofweek")', path)
        want = decoded(path).t.groupby("time.dayofweek").sum(skipna=False)
        if calendar != "julian":  # whose days of the week cftime counts as if they were Gregorian
            np.testing.assert_allclose(got.t.values, want.values)
        assert got.dayofweek.values.tolist() == list(range(7))


@pytest.mark.parametrize("name", ["mean", "min", "max", "sum", "std", "var"])
def test_the_family_of_cdo(noleap, tmp_path, name):
    daily = noleap
    text = "; ".join(f"{k} = {k}{name}(t)" for k in ("mon", "year", "seas", "day"))
    text += "; " + "; ".join(f"{k} = {k}{name}(t)" for k in ("ymon", "yseas", "yday"))
    source = source_of(daily).t
    words = {"min_count": 1} if name == "sum" else {}
    results = {k: evaluate(tmp_path, f"{k}{name}(t)", daily).t for k in ("mon", "ymon")}
    np.testing.assert_allclose(
        results["mon"], getattr(source.resample(time="MS"), name)(**words), rtol=1e-12, atol=1e-15
    )
    want = getattr(source.groupby("time.month"), name)(**words)
    np.testing.assert_allclose(results["ymon"], want, rtol=1e-12, atol=1e-15)
    got = check(run("eval", text, daily, "--json", *QUIET)).arrays()
    for k, frequency in (("year", "YS"), ("seas", "QS-DEC"), ("day", "D")):
        want = getattr(source.resample(time=frequency), name)(**words)
        np.testing.assert_allclose(got[k], want, rtol=1e-12, atol=1e-15, err_msg=k)
    for k, part in (("yseas", "season"), ("yday", "dayofyear")):
        want = getattr(source.groupby(f"time.{part}"), name)(**words)
        if part == "season":
            want = want.sel(season=SEASONS)
        np.testing.assert_allclose(got[k], want, rtol=1e-12, atol=1e-15, err_msg=k)
    square = "K2" if name == "var" else "K"
    assert results["mon"].attrs["units"] == square


def test_days_of_leap_years(daily, tmp_path):
    """As CDO has them, by month and day: the first of March is one day of each year."""
    source = source_of(daily).t
    dates = source.time.dt.month * 100 + source.time.dt.day
    for name in ("mean", "max"):
        got = evaluate(tmp_path, f"yday{name}(t)", daily)
        want = getattr(source.groupby(dates.rename("date")), name)()
        np.testing.assert_allclose(got.t, want, rtol=1e-12, atol=1e-15)
        first = source_of(daily).time.dt.calendar == "360_day"
        march = int(np.searchsorted(want.date, 301))
        assert got.dayofyear[march] == (61 if first or 229 in want.date else 60)
    if shutil.which("cdo") and source.time.dt.calendar in ("standard", "noleap"):
        source.to_dataset(name="t").expand_dims(y=[0.0], axis=1).to_netcdf(tmp_path / "a.nc")
        subprocess.run(["cdo", "-s", "ydaymean", "a.nc", "b.nc"], cwd=tmp_path, check=True)
        got = check(run("eval", "ydaymean(t)", tmp_path / "a.nc", "--json", *QUIET)).array()
        with xr.open_dataset(tmp_path / "b.nc", decode_times=False) as d:
            np.testing.assert_allclose(got.squeeze(), d.t.values.squeeze(), rtol=1e-12)


def test_intervals_that_are_empty(tmp_path):
    numbers = [0, 40, 41, 100]
    ds = xr.Dataset(
        {"t": ("time", np.arange(4.0))},
        coords={"time": ("time", numbers, {"units": "days since 2001-01-01"})},
    )
    ds.to_zarr(tmp_path / "a.zarr", consolidated=False)
    got = check(run("eval", 'mean(t, resample="MS"); monmean(t)', tmp_path / "a.zarr", "--json"))
    np.testing.assert_array_equal(got.arrays()["result"], [0, 1.5, np.nan, 3])
    np.testing.assert_array_equal(got.arrays()["result2"], [0, 1.5, 3])
    got = check(run("eval", 'sum(t, resample="MS")', tmp_path / "a.zarr", "--json")).array()
    np.testing.assert_array_equal(got, [0, 3, 0, 3])


@pytest.mark.parametrize(
    ("units", "step"),
    [("hours since 2000-02-28 18:00", 6), ("seconds since 1970-01-01T00:00:00Z", 3600 * 7),
     ("days since 2000-02-28 00:00:00.5", 0.25), ("minutes since 2000-1-1 0:0:0", 607),
     ("milliseconds since 2000-02-28", 10**7), ("hours since 2000-01-01 02:00 +02:00", 5)],
)  # fmt: skip
def test_units(tmp_path, units, step):
    path = make(tmp_path / "a.zarr", 150, units, "standard", step)
    for text, frequency in (('mean(t, resample="D")', "D"), ('mean(t, resample="3h")', "3h")):
        got = evaluate(tmp_path, text, path)
        want = decoded(path).t.resample(time=frequency).mean(skipna=False)
        np.testing.assert_allclose(got.t.values, want.values, rtol=1e-13)
        np.testing.assert_array_equal(got.time.values, want.time.values)


def test_the_day_behind_the_julian_calendar(tmp_path):
    path = make(tmp_path / "a.zarr", 60, "days since 1582-09-20", "standard")
    got = evaluate(tmp_path, 'mean(t, groupby="time.day")', path)
    want = decoded(path).t.groupby("time.day").mean(skipna=False)
    np.testing.assert_array_equal(got.day, want.day)
    np.testing.assert_allclose(got.t.values, want.values)
    got = evaluate(tmp_path, 'sel(t, time=("1582-10-04", "1582-10-15"))', path)
    assert [str(t)[:10] for t in got.time.values] == ["1582-10-04", "1582-10-15"]


SELECTIONS = ["2000", "2000-02", "2000-02-05", "1999-12"]


def test_selections_of_times(daily):
    text = "; ".join(f'r{i} = sel(t, time="{date}")' for i, date in enumerate(SELECTIONS))
    got = check(run("eval", text, daily, "--json", *QUIET)).arrays()
    for i, date in enumerate(SELECTIONS):
        np.testing.assert_array_equal(got[f"r{i}"], source_of(daily).t.sel(time=slice(date, date)))


def test_selections_of_ranges_and_of_numbers(noleap, tmp_path):
    daily = noleap
    got = evaluate(tmp_path, 'sel(t, time=("1999-12-25", "2000-02"))', daily)
    want = source_of(daily).sel(time=slice("1999-12-25", "2000-02"))
    np.testing.assert_array_equal(got.t, want.t)
    np.testing.assert_array_equal(got.time, want.time)
    # Of what was selected, and of what was resampled.
    chain = 'monmean(sel(t, time="2000"))'
    got = evaluate(tmp_path, f'sel({chain}, time=("2000-03", "2000-05"))[::2]', daily)
    want = source_of(daily).t.sel(time="2000").resample(time="MS").mean()[2:5:2]
    np.testing.assert_allclose(got.t.values, want.values, rtol=1e-13)
    np.testing.assert_array_equal(got.time.values, want.time.values)
    lat = np.array([80.0, 40.0, 0.0, -40.0])
    ds = xr.Dataset({"v": (("lat", "x"), np.arange(8.0).reshape(4, 2))}, coords={"lat": lat})
    ds.to_zarr(tmp_path / "n.zarr", consolidated=False)
    (tmp_path / "of_v").mkdir()
    for text, want in (
        ("sel(v, lat=40)", ds.v[1]),
        ("sel(v, lat=(-10, 50))", ds.v[1:3]),
        ("sel(v, lat=(50, -10))", ds.v[1:3]),
        ('sel(v, lat=-33.3, method="nearest")', ds.v[3]),
        ('sel(v, lat=1e9, method="nearest")', ds.v[0]),
    ):
        got = evaluate(tmp_path / "of_v", text, tmp_path / "n.zarr")
        np.testing.assert_array_equal(got.v, want)
        if "(-" in text:
            np.testing.assert_array_equal(got.lat, want.lat)


def test_decoded_inputs_and_names_of_inputs(noleap, tmp_path):
    daily = noleap
    want = source_of(daily).t.resample(time="MS").mean()
    for args in (["--in", f"q={daily}::t"], ["--in", f"q={daily}::t", "--decode"]):
        check(run("eval", "monmean(q)", *args, "--out", tmp_path / "o", "--overwrite", *QUIET))
        got = decoded(tmp_path / "o")
        np.testing.assert_allclose(got.q.values, want.values, rtol=1e-13)
        np.testing.assert_array_equal(got.time.values, want.time.values)


WRONG = [
    ('mean(t, groupby="time.mnth")', '(did you mean "month"?)'),
    ('mean(t, groupby="tim.month")', 'no dimension "tim"'),
    ('mean(t, resample="1Q4")', "is not a frequency"),
    ('mean(t, resample="0D")', "is not a frequency"),
    ('mean(t, resample="MS-FEB")', "is not a frequency"),
    ('mean(t, resample="D", groupby="time.month")', "give one of them"),
    ("mean(t, groupby=3)", "expected groupby="),
    ('mean(t, groupby="x.month")', 'no coordinate "x"'),
    ('prod(t, resample="1s")', "more than 16777216 intervals"),
    ('monmean(roll(t, 1, dim="time"))', "were moved or combined"),
    ("monmean(t[1:] - t[:-1])", "were moved or combined"),
    ("monmean(t, axis=0)", 'no argument "axis"'),
    ("monmean(t[:0])", "has no elements"),
    ("monmean(mean(t, axis=0))", 'no dimension "time"'),
    ("resample(t)", "expected resample("),
    ('median(t, groupby="time.month", ddof=1)', "ddof is an option of var and std, not of median"),
    ('groupby(t, "time.month", "mode")', "reduction is 'mode', expected one of 'count'"),
    ('sel(t, time="2031")', "it goes from 1999-11-20T00:00:00 to"),
    ('sel(t, time="2000-13")', "expected a date"),
    ('sel(t, time="2000-01-40")', "expected a date"),
    ("sel(t, time=3)", "expected a date"),
    ('mean(t, groupby="mnth")', '(did you mean "month"?)'),
    ('percentile(t, groupby="time.month")', "q is missing"),
    ('percentile(t, 101, groupby="time.month")', "from 0 to 1"),
    ('mean(t, groupby="time.month", ddof=1)', "ddof is an option of var and std, not of mean"),
    ('mean(t, 90, groupby="time.month")', "mean takes 1 argument"),
    ('sel(t, tme="2000")', '(did you mean "time"?)'),
    ('sel(t, time="2000", time="2001")', "the argument is given twice"),
    ("sel(t, x=1)", 'no coordinate "x"'),
    ('sel(t, time="2000", method="pad")', '"nearest"'),
]


@pytest.mark.parametrize(("text", "says"), WRONG)
def test_what_cannot_be_grouped_or_selected(noleap, text, says):
    result = run("eval", text, noleap, *QUIET)
    assert result.code == 1 and says in result.err, result


@pytest.mark.parametrize(
    ("attrs", "says"),
    [({"units": "months since 2000-01-01"}, "its units are"),
     ({"units": "days since then"}, "its units are"),
     ({"units": "days since 2000-01-01", "calendar": "lunar"}, '"lunar" is not a calendar'),
     ({"units": "days"}, "has no units such as"), ({}, "has no units such as")],
)  # fmt: skip
def test_coordinates_that_are_no_times(tmp_path, attrs, says):
    import zarr

    g = zarr.create_group(tmp_path / "a.zarr")
    for name in ("t", "time"):
        z = g.create_array(name, shape=(3,), dtype="i8", dimension_names=["time"])
        z[...] = range(3)
    z.attrs.update(attrs)
    result = run("eval", "monmean(t)", tmp_path / "a.zarr", *QUIET)
    assert result.code == 1 and says in result.err, result
