"""Compares arithmetic with climatologies, selections by parts of dates, and windows of time with
CDO.
"""

import shutil
import subprocess

import cftime
import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import check, run
from test_calendar_statistics import make

QUIET = ("--progress", "none")
CALENDARS = ["standard", "noleap", "360_day"]
#: Days that no calendar has, and other arguments that are no days.
DAYS = [0, 32, -1, (14, 16), '"15"', '"mar5"', '"0mar"', '"31apr"', '"5march"', '"31feb"']
# CDO refuses some of its own yseasmean ("Season DJF already allocated"): see test_labelled_arrays.
FAMILIES = ["ymon", "yday", "yhour", "mon", "day", "year"]

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def opened(path):
    return xr.load_dataset(path, decode_times=False)


def by_cdo(folder, *words):
    words = ["cdo", "-s", "-O", *words, "want.nc"]
    subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return opened(folder / "want.nc")


def by_us(folder, *words):
    words = [folder / w if w.endswith(".nc") else w for w in words]
    check(run(*words, folder / "got.nc", "--overwrite", *QUIET))
    return opened(folder / "got.nc")


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_arithmetic_by_cdo(tmp_path, calendar):
    make(tmp_path / "a.nc", calendar, 900, 24)
    for family in FAMILIES:
        by_cdo(tmp_path, f"{family}mean", "a.nc")
        (tmp_path / "want.nc").rename(tmp_path / "c.nc")
        by_us_too = family != "yhour"
        if by_us_too:
            by_us(tmp_path, f"{family}mean", "a.nc")
            (tmp_path / "got.nc").rename(tmp_path / "own.nc")
        for operation in ("add", "sub", "mul", "div") if family == "ymon" else ("sub", "div"):
            name = family + operation
            want = by_cdo(tmp_path, name, "a.nc", "c.nc")
            got = by_us(tmp_path, name, "a.nc", "c.nc")
            np.testing.assert_allclose(got.v, want.v, rtol=1e-6, atol=1e-5, err_msg=name)
            np.testing.assert_array_equal(got.time, want.time)
            assert got.v.dtype == "f4"
        assert "units" not in got.v.attrs  # of a quotient
        if by_us_too:
            want = by_cdo(tmp_path, f"{family}sub", "a.nc", "c.nc")
            got = by_us(tmp_path, f"{family}sub", "a.nc", "own.nc")
            np.testing.assert_allclose(got.v, want.v, rtol=1e-4, atol=1e-4, err_msg=family)
            assert got.v.units == "K"
            assert "cell_methods" not in got.v.attrs


@needs_cdo
def test_arithmetic_of_seasons_by_cdo(tmp_path):
    """CDO refuses dates of its own yseasmean, which follow each other in any order."""
    make(tmp_path / "a.nc", "standard", 900, 24)
    by_cdo(tmp_path, "settaxis,2001-01-15,12:00:00,90days", "-yseasmean", "a.nc")
    (tmp_path / "want.nc").rename(tmp_path / "c.nc")
    for name in ("yseasadd", "yseassub", "yseasmul", "yseasdiv"):
        want = by_cdo(tmp_path, name, "a.nc", "c.nc")
        got = by_us(tmp_path, name, "a.nc", "c.nc")
        np.testing.assert_allclose(got.v, want.v, rtol=1e-6, atol=1e-5, err_msg=name)
        np.testing.assert_array_equal(got.time, want.time)


@needs_cdo
@pytest.mark.parametrize(
    ("family", "n", "freq"),
    [("hour", 200, "10min"), ("day", 120, "h"), ("mon", 800, "D"), ("seas", 800, "D"),
     ("year", 800, "D"), ("timsel", 100, "D")],
)  # fmt: skip
def test_percentiles_by_cdo(tmp_path, monkeypatch, family, n, freq):
    """CDO counts many values of a period in 101 bins, unless it is told to have more."""
    monkeypatch.setenv("CDO_PCTL_NBINS", "10001")
    rng = np.random.default_rng(n)
    v = rng.normal(size=(n, 2, 3))
    v[rng.random(v.shape) < 0.1] = np.nan
    v[:, 1, 2] = np.nan
    times = {"units": "minutes since 2001-01-01", "dtype": "i4"}
    data = xr.Dataset(
        {"v": (("time", "y", "x"), v)}, {"time": pd.date_range("2001", periods=n, freq=freq)}
    )
    data.to_netcdf(tmp_path / "a.nc", encoding={"v": {"_FillValue": -9e33}, "time": times})
    of = ",7" if family == "timsel" else ""
    for q in (10, 90):
        words = [f"{family}pctl,{q}{of}", "a.nc"]
        bounds = [f"-{family}{end}{of}" for end in ("min", "max")]
        want = by_cdo(tmp_path, "-b", "F64", *words, bounds[0], "a.nc", bounds[1], "a.nc").v
        got = by_us(tmp_path, *words).v
        least, most = (by_cdo(tmp_path, "-b", "F64", b[1:], "a.nc").v for b in bounds)
        # CDO has no result where all values of a period are equal.
        np.testing.assert_array_equal(np.isnan(want), np.isnan(got) | (least == most).values)
        np.testing.assert_allclose(np.where(np.isnan(want), np.nan, got), want, rtol=0, atol=1e-3)


LEAP = ("02-29", "02-30")


def dates(ds):
    return [str(t) for t in cftime.num2date(ds.time, ds.time.units, ds.time.calendar)]


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_days_left_out_by_cdo(tmp_path, calendar):
    """CDO writes times of the calendar "365_day", which lacks some days of other calendars."""
    make(tmp_path / "a.nc", calendar, 900, 24)
    for theirs, ours in {
        "delday,15": "delday,15,15",
        "delday,5mar": "delday,05MAR",
        "delday,31dec": "delday,31Dec",
        "delday,29feb": "del29feb",
        "delday,31 -delday,5mar -delday,1": "delday,1,31,5mar",
    }.items():
        want = by_cdo(tmp_path, *theirs.split(), "a.nc")
        for words in (theirs, ours) if " " not in theirs else (ours,):
            got = by_us(tmp_path, words, "a.nc")
            np.testing.assert_array_equal(got.v, want.v, err_msg=words)
            both = zip(dates(got), dates(want), strict=True)
            pairs = [(a, b) for a, b in both if a[5:10] not in LEAP]
            assert len(pairs) > 780 and all(a == b for a, b in pairs), words
            assert got.time.calendar == calendar


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_selections_by_cdo(tmp_path, calendar):
    make(tmp_path / "a.nc", calendar, 900, 24)
    make(tmp_path / "h.nc", calendar, 300, 3)
    pairs = {
        "selmon,1,2": "select_month,1,2",
        "selmon,6/8": "select_month,6/8",
        "selyear,2000": "select_year,2000",
        "selyear,2000/2001": "select_year,[2000, 2001]",
        "selseas,DJF": "select_season,DJF",
        "selseason,MAM,SON": "selseason,MAM,SON",
        "selseas,NDJFM": "select_season,NDJFM",
        "selday,1,15": "select_day,1,15",
        "selmonth,12": "selmonth,12",
        "seldate,2000-01-15,2000-03-02": "select_date,2000-01-15/2000-03-02",
        "seldate,2000-01-15": "select_date,2000-01-15",
    }
    for theirs, ours in pairs.items():
        want = by_cdo(tmp_path, theirs, "a.nc")
        for words in (theirs, ours):
            got = by_us(tmp_path, words, "a.nc")
            np.testing.assert_array_equal(got.v, want.v, err_msg=words)
            np.testing.assert_array_equal(got.time, want.time, err_msg=words)
            assert got.time.units == "hours since 1999-11-20"
    want = by_cdo(tmp_path, "selhour,3,21", "h.nc")
    for words in ("selhour,3,21", "select_hour,3,21"):
        got = by_us(tmp_path, words, "h.nc")
        np.testing.assert_array_equal(got.v, want.v)
        np.testing.assert_array_equal(got.time, want.time)
    # A chain: the statistic has the selected times.
    want = by_cdo(tmp_path, "yearmean", "-selmon,6/8", "a.nc")
    got = by_us(tmp_path, "yearmean", "-selmon,6/8", "a.nc")
    np.testing.assert_allclose(got.v, want.v, rtol=1e-5)


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_windows_by_cdo(tmp_path, calendar):
    """Means and variances of ydrun are without missing values, which CDO 2.1.1 counts."""
    make(tmp_path / "a.nc", calendar, 800, 24)
    rng = np.random.default_rng(1)
    whole = opened(tmp_path / "a.nc")
    whole["v"] = whole.v.copy(data=rng.normal(280, 10, whole.v.shape).astype("f4"))
    whole.to_netcdf(tmp_path / "full.nc", format="NETCDF3_CLASSIC")
    statistics = ["mean", "avg", "min", "max", "sum", "std", "std1", "var", "var1"]
    calls = [(f"run{s},{n}", "a.nc") for s in statistics for n in (4, 5)]
    calls += [(f"ydrun{s},5", "full.nc") for s in statistics]
    calls += [(f"ydrun{s},5", "a.nc") for s in ("avg", "min", "max", "sum")]
    texts = {"a.nc": [], "full.nc": []}
    for call, path in calls:
        name, n = call.split(",")
        texts[path].append(f"r_{name}_{n} = {name}(v, {n})")
    got = {}
    for path, text in texts.items():
        found = check(run("eval", "; ".join(text), tmp_path / path, "--decode", "--json", *QUIET))
        got[path] = found.arrays()
    for call, path in calls:
        want = by_cdo(tmp_path, call, path).v
        have = got[path]["r_" + call.replace(",", "_")]
        np.testing.assert_allclose(have, want, rtol=1e-4, atol=1e-3, err_msg=call)
    want = by_cdo(tmp_path, "runmean,5", "a.nc")
    have = by_us(tmp_path, "runmean,5", "a.nc")
    np.testing.assert_array_equal(have.time, want.time)
    assert have.v.cell_methods == "time: mean"


def test_windows_by_numpy(tmp_path):
    v = make(tmp_path / "a.nc", "noleap", 800, 24)[:, 0, 1].astype("f8")
    # 1999-11-20 is day 324 of a year of 365.
    day = (323 + np.arange(800)) % 365 + 1
    parts = [
        np.concatenate([v[t - 2 : t + 3] for t in range(2, 798) if day[t] == d])
        for d in range(1, 366)
    ]
    names = {
        "ydrunmean(v, 5)": np.nanmean,
        "ydrunstd1(v, 5)": lambda x: np.nanstd(x, ddof=1),
        "ydrunpctl(v, 90, 5)": lambda x: np.nanpercentile(x, 90, method="inverted_cdf"),
        'ydrunpctl(v, 25, 5, method="linear")': lambda x: np.nanpercentile(x, 25),
    }
    for text, function in names.items():
        got = check(run("eval", text, tmp_path / "a.nc", "--decode", "--json", *QUIET)).array()
        np.testing.assert_allclose(got[:, 0, 1], [function(p) for p in parts], rtol=1e-4)
    got = check(run("eval", "runpctl(v, 50, 4)", tmp_path / "a.nc", "--decode", "--json", *QUIET))
    windows = np.lib.stride_tricks.sliding_window_view(v, 4)
    with np.errstate(all="ignore"):
        want = np.nanpercentile(windows, 50, axis=1, method="inverted_cdf")
    np.testing.assert_allclose(got.array()[:, 0, 1], want, rtol=1e-6)


def test_times_of_the_second_file(tmp_path):
    """Two files may have one dimension, and different dates: each has its own."""
    make(tmp_path / "a.nc", "noleap", 60, 24)
    ds = opened(tmp_path / "a.nc")
    ds["time"] = ds.time + 24 * 30
    ds.to_netcdf(tmp_path / "b.nc", format="NETCDF3_CLASSIC")
    words = ("--in", f"x={tmp_path}/a.nc::v", "--in", f"y={tmp_path}/b.nc::v", "--decode", "--json")
    got = check(run("eval", "p = monmean(x); q = monmean(2 * y)", *words, *QUIET)).arrays()
    want = check(run("eval", "monmean(2 * v)", tmp_path / "b.nc", "--decode", "--json", *QUIET))
    np.testing.assert_array_equal(got["q"], want.array())
    assert got["p"].shape[0] == 3
    places = {"x": f"{tmp_path}/a.nc::v", "y": f"{tmp_path}/b.nc::v"}
    both = cubed.eval("p = monmean(x); q = monmean(2 * y)", **places)
    np.testing.assert_array_equal(both["q"].compute(), want.array())


def test_packed_selections_keep_their_packing(tmp_path):
    time = ("time", np.arange(60.0), {"units": "days since 2001-01-01"})
    ds = xr.Dataset({"n": ("time", np.arange(60, dtype="i2"))}, coords={"time": time})
    ds.n.attrs = {"scale_factor": 0.5, "add_offset": 10.0, "units": "K"}
    ds.to_netcdf(tmp_path / "n.nc", format="NETCDF3_CLASSIC")
    check(run("selmon,2", tmp_path / "n.nc", tmp_path / "o.nc", *QUIET))
    got = xr.load_dataset(tmp_path / "o.nc", decode_cf=False)
    np.testing.assert_array_equal(got.n, np.arange(31, 59))
    assert got.n.dtype == "i2" and got.n.scale_factor == 0.5
    text = "r = ymonsub(n, ymonmean(n))"
    got = check(run("eval", text, tmp_path / "n.nc", "--json", *QUIET)).arrays()
    values = 10 + 0.5 * np.arange(60)
    month = np.repeat([0, 1, 2], [31, 28, 1])
    want = values - np.array([values[month == m].mean() for m in range(3)])[month]
    np.testing.assert_allclose(got["r"], want)


def test_labelled_arrays():
    """Dates of datetime64 and cftime; dimensions meet by name, and the climatology lacks one."""
    days = xr.date_range("2001-01-01", periods=730, calendar="360_day", use_cftime=True)
    for time in (days, xr.date_range("2000-01-01", periods=730)):
        x = xr.DataArray(
            np.random.default_rng(0).random((3, 730, 2)),
            dims=("member", "time", "x"),
            coords={"time": time},
        )
        for part in ("month", "dayofyear", "season"):
            family = {"month": "ymon", "dayofyear": "yday", "season": "yseas"}[part]
            if part == "dayofyear" and time is not days:
                continue  # Xarray counts days after February of leap years one later
            climatology = x.groupby(f"time.{part}").mean().mean("member")
            want = x.groupby(f"time.{part}") - climatology
            got = cubed.eval(f"{family}sub(x, c)", x=x, c=climatology)
            np.testing.assert_allclose(got.compute(), want.transpose(*x.dims), atol=1e-12)
    # Days by their dates: ours say by which year they are numbered.
    own = cubed.eval("ydaysub(x, ydaymean(x))", x=x).compute()
    groups = x.time.dt.strftime("%m-%d")
    want = x.groupby(groups).map(lambda g: g - g.mean("time"))
    np.testing.assert_allclose(own, want.transpose(*x.dims), atol=1e-12)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ymonsub(v)", "ymonsub"),
        ("ymonsub(v, v[0])", 'the second array has no dimension "month"'),
        ("ymonsub(v, v)", "several values for one month, expected one: reduce it with ymonmean"),
        ("ymonsub(v, ymonmean(v)[:3])", "no value for the month of 1999-11-20"),
        ("ymonsub(v[:, 0, 0], ymonmean(v))", 'no dimension "lat" of the second'),
        ("selmon(v)", "selmon"),
        ("selmon(v, 13)", "no time has the month 13"),
        ("selmon(v, (8, 6))", "the range ends at 6, before its start 8"),
        ('selmon(v, "June")', "selmon: expected numbers, ranges such as (6, 8)"),
        ('selseas(v, "winter")', "expected initials of 3 to 12 months in quotes"),
        ('seldate(v, "1950")', "no time is from 1950 to 1950"),
        ("seldate(v, 2000)", "expected a date of the calendar standard in quotes"),
        ("runmean(v, 0)", "the length of windows is 0, expected 1 to 200"),
        ("ydrunmean(v, 201)", "the length of windows is 201, expected 1 to 200"),
        ("ydrunpctl(v, 90)", "ydrunpctl"),
        ("timselmean(v, 0)", "length 0, offset 0 and skip 0"),
        ("timselmean(v, 5, 200)", "length 5, offset 200 and skip 0"),
        ("timselmean(v, 5, 1, skip=-1)", "offset 1 and skip -1"),
        ("timselmean(v, 5, 1, offset=1)", "given twice"),
        ("selsmon(v, 13)", "expected a month from 1 to 12"),
        ("selsmon(v, 7, -1)", "no negative numbers"),
        ('seltime(v, "25:00")', "expected times of day in quotes"),
        ('seltime(v, "06:00:")', "expected times of day in quotes"),
        ('seltime(v, "23:59")', "no element of the coordinate has this time of day"),
        ("del29feb(v, 2)", "del29feb"),
        *((f"delday(v, {day})", "expected days of the month from 1 to 31, or") for day in DAYS),
        ("delday(v)", "delday"),
        ("delday(v[:1], 20)", "no element of the coordinate is selected"),
    ],
)
def test_errors(tmp_path, text, message):
    make(tmp_path / "a.nc", "standard", 200, 24)
    result = run("eval", text, tmp_path / "a.nc", *QUIET)
    assert result.code != 0
    assert message in result.err, result.err
