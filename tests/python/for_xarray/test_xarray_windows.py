"""Types of reductions of windows are those of arrays in memory, with and without bottleneck."""

import warnings

import cubed
import numpy as np
import pytest
import xarray as xr
from xarray_versions import XARRAY

pytest.importorskip("bottleneck", reason="Xarray gives other types with it")
pytestmark = pytest.mark.skipif(XARRAY < (2026, 4), reason="older versions give other types")

WINDOWS = {
    "one": {"t": 3},
    "centered": {"t": 3, "center": True},
    "any count": {"t": 3, "min_periods": 1},
    "two": {"t": 3, "y": 2},
    "two centered": {"t": 3, "y": 2, "center": True, "min_periods": 2},
}
NAMES = "sum mean std var min max median prod count argmax argmin".split()


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    spec = cubed.Spec(tmp_path_factory.mktemp("w"), allowed_mem="100MB", reserved_mem="10MB")
    return {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}


@pytest.mark.parametrize("bottleneck", [True, False])
@pytest.mark.parametrize("dtype", "bool int8 uint16 int32 uint64 float16 float32 float64".split())
def test_types_of_windows(dtype, bottleneck, options):
    values = np.arange(80).reshape(20, 4) % 7
    x = xr.DataArray((values % 2 if dtype == "bool" else values).astype(dtype), dims=("t", "y"))
    y = x.chunk(t=8, y=3, **options)
    tolerance = {"rtol": 1e-2, "atol": 1e-3} if dtype == "float16" else {"rtol": 1e-5, "atol": 1e-6}
    failed = []
    with xr.set_options(use_bottleneck=bottleneck), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in NAMES:
            for window in WINDOWS.values():
                if "arg" in name and len(set(window) & {"t", "y"}) > 1:
                    continue  # which Xarray has not
                result = getattr(y.rolling(**window), name)()
                assert isinstance(result.data, cubed.Array)
                try:
                    expected = getattr(x.rolling(**window), name)()
                except (TypeError, ValueError):  # of objects, which bools beside NaN are
                    failed.append(name)
                    expected = getattr(x.astype(float).rolling(**window), name)()
                assert result.dtype == expected.dtype, (name, window)
                computed = result.values
                assert computed.dtype == result.dtype
                np.testing.assert_allclose(computed, expected.values, **tolerance)
    assert set(failed) <= ({"std", "var", "median"} if dtype == "bool" else set())


@pytest.mark.parametrize("bottleneck", [True, False])
@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]"])
def test_extremes_of_times(dtype, bottleneck, options):
    """In the type of the times, to the last unit; missing ones are skipped."""
    rng = np.random.default_rng(2)
    values = (10**17 + rng.integers(0, 9, (20, 4))).astype("i8")
    missing = rng.random(values.shape) < 0.3
    times = np.where(missing, np.datetime64("NaT").astype("i8"), values).astype(dtype)
    floats = xr.DataArray(np.where(missing, np.nan, values - 10**17), dims=("t", "y"))
    y = xr.DataArray(times, dims=("t", "y"), attrs={"a": 1}).chunk(t=8, y=3, **options)
    with xr.set_options(use_bottleneck=bottleneck):
        for name in ("max", "min", "argmax", "argmin"):
            for window in WINDOWS.values():
                if "arg" in name and len(set(window) & {"t", "y"}) > 1:
                    continue  # which Xarray has not
                result = getattr(y.rolling(**window), name)()
                assert isinstance(result.data, cubed.Array)
                assert result.dtype == (float if "arg" in name else times.dtype)
                expected = getattr(floats.rolling(**window), name)().values
                if "arg" not in name:
                    gone = np.isnan(expected)
                    expected = (np.where(gone, 0, expected).astype("i8") + 10**17).astype(dtype)
                    expected[gone] = "NaT"
                np.testing.assert_array_equal(result.values, expected, err_msg=f"{name} {window}")
