"""Lazy dates with missing elements have the values and types of eager Xarray and pandas."""

import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr

DATES = np.array(["2001-03-01", "NaT", "2004-12-31T23:59:59", "1969-07-20", "2000-02-29"], "M8[ns]")
FIELDS = """day day_of_week day_of_year dayofweek dayofyear days_in_month daysinmonth hour
    is_leap_year is_month_end is_month_start is_quarter_end is_quarter_start is_year_end
    is_year_start microsecond minute month nanosecond quarter season second weekday year""".split()
SPANS = "days microseconds nanoseconds seconds".split()


def lazy(values):
    return xr.DataArray(cubed.from_array(values, chunks=1), dims="x")


def same(got, want):
    assert isinstance(got.data, cubed.Array)
    assert got.dtype == want.dtype or want.dtype.kind in "OT"  # seasons are text of fixed width
    values = want.values.astype(got.dtype)
    np.testing.assert_array_equal(got.values, values)


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("field", FIELDS)
def test_fields_of_dates(field, missing):
    dates = DATES if missing else DATES[2:]
    if not hasattr(xr.DataArray(dates, dims="x").dt, field):
        pytest.skip(f"Xarray {xr.__version__} has no dt.{field}")
    same(getattr(lazy(dates).dt, field), getattr(xr.DataArray(dates, dims="x").dt, field))


@pytest.mark.parametrize("missing", [True, False])
@pytest.mark.parametrize("field", SPANS)
def test_fields_of_times(field, missing):
    spans = (DATES if missing else DATES[2:]) - np.datetime64("2000-01-01")
    same(getattr(lazy(spans).dt, field), getattr(xr.DataArray(spans, dims="x").dt, field))
    same(lazy(spans).dt.total_seconds(), xr.DataArray(spans, dims="x").dt.total_seconds())


@pytest.mark.parametrize("missing", [True, False])
def test_calendars_of_weeks(missing):
    dates = DATES if missing else DATES[2:]
    got, want = (x.dt.isocalendar() for x in (lazy(dates), xr.DataArray(dates, dims="x")))
    for name in want.data_vars:
        same(got[name], want[name])


def test_dates_of_a_store(tmp_path):
    """Missing dates that are decoded from a file, whose chunks are computed in the engine."""
    times = pd.to_datetime(["2001-01-05", None, "2001-03-05"])
    xr.Dataset({"seen": ("x", times)}).to_zarr(tmp_path / "dates.zarr", zarr_format=2)
    with xr.set_options(chunk_manager="cubed"):
        seen = xr.open_zarr(tmp_path / "dates.zarr", chunks={"x": 2}).seen
    assert isinstance(seen.data, cubed.Array)
    assert seen.dt.month.values.tolist() == pytest.approx([1, np.nan, 3], nan_ok=True)
    assert seen.dropna("x").dt.month.dtype == np.int64


#: Methods of ``.dt`` that take arguments.
CALLS = {
    **{n: lambda dt, n=n: getattr(dt, n)("5D") for n in ("ceil", "floor", "round")},
    "isocalendar": lambda dt: dt.isocalendar().to_dataarray("field"),
    "strftime": lambda dt: dt.strftime("%Y-%m"),
}


@pytest.mark.parametrize("shape", [(), (3, 4), (2, 3, 4), (0,), (2, 0)])
@pytest.mark.parametrize("kind", "Mm")
def test_accessor_of_other_dimensions(kind, shape):
    """Of no dimension to three, and of no elements."""
    values = np.resize(DATES[2:], shape) if 0 not in shape else np.zeros(shape, DATES.dtype)
    names = [*FIELDS, *CALLS] if kind == "M" else [*SPANS, "total_seconds", "floor"]
    eager = xr.DataArray(values if kind == "M" else values - np.datetime64("2000-01-01"))
    lazy = eager.copy(data=cubed.from_array(eager.values, chunks=2))
    for name in names:
        if not hasattr(eager.dt, name):  # an older Xarray
            continue
        call = CALLS.get(name, lambda dt, name=name: getattr(dt, name))
        got, want = call(lazy.dt), call(eager.dt)
        got, want = (x() if callable(x) else x for x in (got, want))
        same(got, want)
        assert got.dims == want.dims, name


@pytest.mark.parametrize("dtype", ["M8[s]", "M8[ns]", "m8[ms]", "m8[ns]"])
@pytest.mark.parametrize("method", ["ffill", "bfill"])
def test_filled_times(method, dtype):
    """Beside pandas: Xarray with bottleneck fills times by way of float64, which rounds them."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 10**15, (40, 6)).astype(f"{dtype[0]}8[us]").astype(dtype)
    values[rng.random(values.shape) < 0.5] = "NaT"
    x = xr.DataArray(cubed.from_array(values, chunks=(7, 4)), dims=("t", "y"))
    for axis, dim in enumerate(x.dims):
        for limit in (None, 1, 2):
            filled = getattr(x, method)(dim, limit=limit)
            assert isinstance(filled.data, cubed.Array) and filled.dtype == dtype
            want = getattr(pd.DataFrame(values), method)(axis=axis, limit=limit)
            np.testing.assert_array_equal(filled.values, want.values.astype(dtype))


def test_medians_of_no_times():
    values = np.zeros((0, 3), "m8[s]")
    x = xr.DataArray(cubed.from_array(values), dims=("t", "y"))
    for dim in ("t", "y", None):
        got = x.median(dim)
        assert got.dtype == "m8[s]" and np.isnat(got.values).all()
        assert got.shape == np.median(values, axis=None if dim is None else x.dims.index(dim)).shape
    kept = cubed.median(x.data, axis=0, keepdims=True).compute()
    assert kept.shape == (1, 3) and np.isnat(kept).all()
