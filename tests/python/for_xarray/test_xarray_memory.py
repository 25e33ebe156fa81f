"""The memory of functions that Xarray calls on blocks is in the projection, and is measured."""

import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr


@pytest.fixture
def lazy(tmp_path):
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="100MB", reserved_mem="10MB")
    time = pd.date_range("2000-01-01", periods=200, freq="D")
    values = np.random.default_rng(0).normal(size=(200, 20, 30))
    return xr.DataArray(values, {"time": time}, ("time", "lat", "lon")).chunk(
        {"lat": 10}, chunked_array_type="cubed", from_array_kwargs={"spec": spec}
    )


BLOCK = 200 * 10 * 30 * 8


class Most(cubed.Callback):
    taken = projected = 0

    def on_task_end(self, event):
        self.taken = max(self.taken, event.function_mem)
        self.projected = max(self.projected, event.function_projected_mem)


def most(x):
    seen = Most()
    x.compute(callbacks=[seen])
    return seen


def waves(x):
    return np.sin(x) ** 2 + np.cos(x) * x


@pytest.mark.parametrize(
    "call",
    [
        lambda x: xr.apply_ufunc(waves, x, dask="parallelized", output_dtypes=[float]),
        lambda x: xr.map_blocks(lambda b: b - b.mean("time"), x),
        lambda x: x.interp(lon=np.arange(0.5, 28)),
        lambda x: x.weighted(xr.DataArray(np.ones(200), dims="time")).quantile(0.3, dim="time"),
        lambda x: x[:, :2, :2].curvefit("time", lambda t, a, b: a + b * t).curvefit_coefficients,
        lambda x: x[:, :4].polyfit("time", 1, skipna=True).polyfit_coefficients,
    ],
)
def test_estimates_hold(lazy, call):
    x = lazy.assign_coords(lon=np.arange(30.0)) if "lon" not in lazy.coords else lazy
    seen = most(call(x))
    assert 0 < seen.taken <= seen.projected


def test_estimate(lazy):
    """Twice the blocks, beside a copy of the result and the code."""
    seen = most(xr.apply_ufunc(waves, lazy, dask="parallelized", output_dtypes=[float]))
    assert 0 <= seen.projected - (5 * BLOCK + 2**20) < 100_000


def test_said_by_the_caller(lazy):
    def projected(extra):
        y = xr.apply_ufunc(
            waves, lazy, dask="parallelized", output_dtypes=[float],
            dask_gufunc_kwargs={"extra_projected_mem": extra},
        )  # fmt: skip
        z = xr.map_blocks(waves, lazy, kwargs={"extra_projected_mem": extra})
        return [a.data.plan().max_projected_mem for a in (y, z)]

    assert [b - a for a, b in zip(projected(0), projected(10**7), strict=True)] == [10**7, 10**7]
    with pytest.raises(MemoryError):
        xr.map_blocks(waves, lazy, kwargs={"extra_projected_mem": 10**8}).compute()


def test_a_parameter_of_that_name_is_the_functions(lazy):
    def function(block, extra_projected_mem):
        return block + extra_projected_mem

    got = xr.map_blocks(function, lazy, kwargs={"extra_projected_mem": 3})
    np.testing.assert_array_equal(got, lazy.compute() + 3)
