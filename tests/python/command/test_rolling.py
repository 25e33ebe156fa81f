"""Compares reductions of windows by the command with Xarray's reductions of arrays in memory."""

import numpy as np
import pytest
from conftest import check, run

import zarr

xr = pytest.importorskip("xarray")


@pytest.fixture
def waves(tmp_path):
    """Values with gaps, and where they are stored."""
    values = np.random.default_rng(4).normal(size=(31, 6, 7))
    values[values > 1.5] = np.nan
    x = xr.DataArray(values, dims=("time", "y", "x"), name="x", attrs={"units": "m"})
    x.to_dataset().to_zarr(tmp_path / "x.zarr", encoding={"x": {"chunks": (4, 4, 5)}})
    return x, tmp_path / "x.zarr"


def rolled(text, store, *args):
    done = check(run("eval", text, store, *args, "--json", "--progress", "none"))
    assert done.run["measured_mem"] <= done.run["projected_mem"]
    return done.array()


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "min", "max"])
def test_as_xarray(waves, name):
    x, store = waves
    windows = x.rolling(time=5, min_periods=3)
    got = rolled(f'rolling(x, 5, "{name}", dim="time", min_periods=3)', store)
    np.testing.assert_allclose(got, getattr(windows, name)(), rtol=1e-12)
    windows = x.rolling(y=3, x=4, center=True, min_periods=1)
    text = f'rolling(x, (3, 4), "{name}", dim=("y", "x"), center=True, min_periods=1)'
    np.testing.assert_allclose(rolled(text, store), getattr(windows, name)(), rtol=1e-12)


def test_counts_are_of_what_is_there(waves):
    x, store = waves
    got = rolled('rolling(x, 5, "count", dim="time", min_periods=3)', store)
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got, x.notnull().rolling(time=5, min_periods=1).sum())


def test_windows_longer_than_the_axis(waves):
    x, store = waves
    np.testing.assert_allclose(
        rolled('rolling(x, 100, "sum", axis=0, min_periods=1)', store),
        np.nancumsum(x, axis=0) + np.where(np.isnan(x).cumprod("time"), np.nan, 0),
        rtol=1e-12,
    )
    assert np.isnan(rolled('rolling(x, 100, "sum", axis=0)', store)).all()


def test_attributes_stay(waves, tmp_path):
    text = 'm = rolling(x, 3, "mean", dim="time"); v = rolling(x, 3, "var", dim="time")'
    check(run("eval", text, waves[1], "--out", tmp_path / "out.zarr", "--progress", "none"))
    out = zarr.open_group(tmp_path / "out.zarr")
    assert out["m"].attrs["units"] == "m"
    assert out["m"].metadata.dimension_names == ("time", "y", "x")
    assert out["m"].attrs["cell_methods"] == "time: mean"
    assert out["v"].attrs["cell_methods"] == "time: variance"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'rolling(x, 3, "median")',
            "(did you mean \"mean\"?), expected one of 'count', 'sum', 'prod'",
        ),
        ('rolling(x, 0, "sum", axis=0)', "window (argument 2) is 0, expected an integer"),
        ('rolling(x, (3, 3), "sum")', "expected an axis for each length"),
        ('rolling(x, (3, 3), "sum", dim="time")', "expected an axis for each length"),
        ("rolling(x, 3, mean)", 'unknown name "mean"'),
        ('rolling(x * 1j, 3, "sum", axis=0)', "rolling is not defined for complex128"),
    ],
)
def test_refusals(waves, text, message):
    refused = run("eval", text, waves[1])
    assert refused.code == 1
    assert message in refused.err
