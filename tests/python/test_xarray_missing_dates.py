"""Fields of lazy dates of which some are missing: values and types are eager Xarray's."""

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
