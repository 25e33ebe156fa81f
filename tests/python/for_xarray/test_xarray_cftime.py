"""Dates of calendars that NumPy lacks are decoded when their values are requested."""

import cubed
import numpy as np
import pytest
import xarray as xr
from cubed.xarray._chunkmanager import CubedManager


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="200MB")


@pytest.fixture
def store(tmp_path):
    """A model's output, with dates as coordinates, bounds and data."""
    rng = np.random.default_rng(0)
    t = np.arange(400) + 0.5
    ds = xr.Dataset(
        {
            "a": ("time", rng.random(400)),
            "time_bnds": (("time", "b"), np.stack([t - 0.5, t + 0.5], 1)),
            "when": (("time", "x"), rng.integers(0, 10000, (400, 3))),
        },
        {"time": ("time", t)},
    )
    for name in ("time", "when"):
        ds[name].attrs.update(units="days since 2000-01-01", calendar="noleap")
    ds.time.attrs["bounds"] = "time_bnds"
    ds.to_zarr(tmp_path / "x.zarr", zarr_format=2)
    return tmp_path / "x.zarr"


def test_decoded_from_chunks_without_computing(spec, store):
    expected = xr.open_zarr(store, chunks=None).load()
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    raw = xr.open_zarr(store, decode_times=False, chunks={}, **options)
    raw = raw.assign(when=raw.when.chunk(time=50, x=2), time_bnds=raw.time_bnds.chunk(time=90))
    assert isinstance(raw.when.data, cubed.Array)
    decoded = xr.decode_cf(raw)
    points = {"time": xr.DataArray([1, 4], dims="p"), "x": xr.DataArray([1, 2], dims="p")}
    calls = (
        lambda d: d.when.isel(time=slice(3, 9), x=[0, 2]),
        lambda d: d.when.transpose("x", "time")[:, ::-2],
        lambda d: d.when.isel(points),
        lambda d: d.sel(time=slice("2000-02", "2000-03")),
        lambda d: d,
    )
    with cubed.raise_if_computes():
        lazy = [call(decoded) for call in calls]
        repr(decoded)
        decoded._repr_html_()
    for got, call in zip(lazy, calls, strict=True):
        xr.testing.assert_identical(got.load(), call(expected))


@pytest.mark.filterwarnings("ignore:an array of object")
@pytest.mark.parametrize("engine", ["cubed", "zarr"])
def test_in_data_sets(spec, store, tmp_path, engine):
    expected = xr.open_zarr(store, chunks=None).load()
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    ds = xr.open_dataset(store, engine=engine, chunks={}, **options)
    means = ds.a.groupby("time.month").mean()
    assert isinstance(means.data, cubed.Array)
    xr.testing.assert_allclose(means.compute(), expected.a.groupby("time.month").mean())
    np.testing.assert_array_equal(ds.time_bnds.dt.year, expected.time_bnds.dt.year)
    xr.testing.assert_identical(ds.chunk(time=30).compute(), expected)
    ds.to_zarr(tmp_path / "copy.zarr", zarr_format=2)
    xr.testing.assert_identical(xr.open_zarr(tmp_path / "copy.zarr", chunks=None).load(), expected)


def test_many_dates_are_not_read_when_opened(spec, store, monkeypatch):
    """By the backend, which reads what is small."""
    monkeypatch.setattr("cubed.xarray._backend._SMALL_TIMES", 100)
    ds = xr.open_dataset(store, engine="cubed", spec=spec)
    when = ds.when.isel(x=1)
    assert not when.variable._in_memory
    expected = xr.open_zarr(store, chunks=None).when.isel(x=1).load()
    xr.testing.assert_identical(when.load(), expected)


def test_other_functions_to_objects(spec):
    x = cubed.ones((4,), spec=spec)
    with pytest.raises(NotImplementedError, match="no arrays of Python's objects"):
        CubedManager().map_blocks(lambda a: a.astype(object), x, dtype=object)
    with pytest.raises(TypeError, match="arrays of type object are not supported"):
        xr.apply_ufunc(
            lambda a: a.astype(object),
            xr.DataArray(x, dims="x"),
            dask="parallelized",
            output_dtypes=[object],
        )
