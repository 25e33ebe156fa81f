"""Compares medians and quantiles by group with NumPy's of each group."""

import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from watched import computed

Q = [0.0, 0.13, 0.5, 0.9, 1.0]


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="40MB", reserved_mem="20MB")


def by_numpy(a, codes, n, q, skip=False, method="linear"):
    """Of the last axes, which codes has; groups come last, several q first."""
    lines = a.reshape(*a.shape[: a.ndim - codes.ndim], codes.size)
    function = np.nanquantile if skip else np.quantile
    out = np.full((*np.shape(q), *lines.shape[:-1], n), np.nan)
    for k in range(n):
        mine = lines[..., codes.reshape(-1) == k]
        if mine.size and not np.isnan(mine).all(axis=-1).any():
            out[..., k] = function(mine.astype("f8"), q, axis=-1, method=method)
        elif mine.size:  # NumPy warns
            for at in np.ndindex(mine.shape[:-1]):
                known = ~np.isnan(mine[at])
                if known.all() or (skip and known.any()):
                    there = mine[at][known].astype("f8")
                    out[(..., *at, k)] = np.quantile(there, q, method=method)
    return out


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["bool", "i1", "u2", "i8", "f2", "f4", "f8"])
@pytest.mark.parametrize("chunks", [(2, 3, 50), (5, 1, 7)])
def test_of_types(spec, dtype, chunks):
    rng = np.random.default_rng(5)
    a = rng.integers(0, 2 if dtype == "bool" else 100, (5, 3, 50)).astype(dtype)
    codes = rng.integers(-1, 4, 50)
    x = cubed.from_array(a, chunks=chunks, spec=spec)
    wide, _ = cubed.groupby_reduce(
        x, codes, func="quantile", expected_groups=np.arange(5), dtype="f8",
        finalize_kwargs={"q": Q},
    )  # fmt: skip
    assert wide.shape == (5, 5, 3, 5) and wide.dtype == np.float64
    np.testing.assert_allclose(computed(wide), by_numpy(a, codes, 5, Q), rtol=1e-14)
    median, _ = cubed.groupby_reduce(x, codes, func="median", expected_groups=np.arange(4))
    assert median.dtype == (a.dtype if a.dtype.kind == "f" else np.float64)
    expected = by_numpy(a, codes, 4, 0.5).astype(median.dtype)
    np.testing.assert_array_equal(median.compute(), expected)


@pytest.mark.parametrize("method", ["linear", "lower", "hazen", "inverted_cdf", "nearest"])
@pytest.mark.parametrize("skip", [False, True])
def test_missing_values_and_methods(spec, skip, method):
    rng = np.random.default_rng(6)
    a = rng.normal(size=(4, 90))
    a[rng.random(a.shape) < 0.2] = np.nan
    codes = rng.integers(0, 7, 90)
    a[1, codes == 3] = np.nan
    x = cubed.from_array(a, chunks=(3, 20), spec=spec)
    many = np.linspace(0, 1, 12)  # which are sorted, not selected
    for q in (0.3, many):
        got, groups = cubed.groupby_reduce(
            x, codes, func="nanquantile" if skip else "quantile",
            finalize_kwargs={"q": q, "method": method},
        )  # fmt: skip
        np.testing.assert_allclose(
            got.compute(), by_numpy(a, codes, 7, q, skip, method), rtol=1e-14
        )
    np.testing.assert_array_equal(groups, np.arange(7))


def test_axes_labels_and_fill(spec):
    rng = np.random.default_rng(7)
    a = rng.normal(size=(3, 8, 12))
    codes = rng.integers(0, 4, (8, 12))
    x = cubed.from_array(a, chunks=(2, 3, 5), spec=spec)
    both, _ = cubed.groupby_reduce(x, codes, func="median")
    close(both.compute(), by_numpy(a, codes, 4, 0.5))
    # Of labels of two axes one is reduced.
    got, _ = cubed.groupby_reduce(x, codes, func="median", axis=-1, expected_groups=np.arange(4))
    rows = [by_numpy(a[:, i], codes[i], 4, 0.5) for i in range(8)]
    close(got.compute(), np.stack(rows, axis=1))
    filled, _ = cubed.groupby_reduce(
        x, codes, func="median", expected_groups=np.arange(6), fill_value=-9.0
    )
    np.testing.assert_array_equal(filled.compute()[..., 4:], -9)
    close(filled.compute()[..., :4], by_numpy(a, codes, 4, 0.5))
    lazy, _ = cubed.groupby_reduce(
        x, cubed.from_array(codes, chunks=(4, 4), spec=spec), func="nanmedian",
        expected_groups=np.arange(4),
    )  # fmt: skip
    np.testing.assert_array_equal(lazy.compute(), both.compute())
    none, _ = cubed.groupby_reduce(x[..., :0], codes[:, :0], func="median", expected_groups=[0, 1])
    assert np.isnan(none.compute()).all() and none.shape == (3, 2)


def test_refused(spec):
    x = cubed.from_array(np.arange(6.0), spec=spec)
    with pytest.raises(TypeError, match="quantile needs finalize_kwargs with q"):
        cubed.groupby_reduce(x, [0, 0, 1, 1, 2, 2], func="quantile")
    with pytest.raises(ValueError, match="q is 2, expected a number from 0 to 1"):
        cubed.groupby_reduce(x, [0, 0, 1, 1, 2, 2], func="quantile", finalize_kwargs={"q": 2})
    with pytest.raises(TypeError, match="not defined for complex128"):
        cubed.groupby_reduce(x * 1j, [0, 0, 1, 1, 2, 2], func="median")
    codes = cubed.from_array(np.arange(6), spec=spec)
    bad = cubed._core.call("groupby", x._x, codes._x, "median", 0, 5)
    with pytest.raises(IndexError, match="group 5 is out of range for 5 groups"):
        x._like(bad).compute()


def test_by_hour_in_xarray(spec):
    """Natively, though labels are of time and elements are float32."""
    rng = np.random.default_rng(8)
    time = pd.date_range("2001-01-01", periods=24 * 9, freq="h")
    a = rng.normal(280, 10, (time.size, 4, 5)).astype("f4")
    a[rng.random(a.shape) < 0.1] = np.nan
    plain = xr.DataArray(a, {"time": time}, ("time", "y", "x"))
    lazy = plain.chunk(
        {"time": 50, "y": 2}, chunked_array_type="cubed", from_array_kwargs={"spec": spec}
    )
    for call in (
        lambda d: d.groupby("time.hour").quantile(0.9),
        lambda d: d.groupby("time.hour").quantile([0.1, 0.9], skipna=False),
        lambda d: d.groupby("time.hour").median(),
        lambda d: d.resample(time="1D").median(),
        lambda d: d.resample(time="2D").quantile(0.25),
    ):
        got, expected = call(lazy), call(plain)
        assert isinstance(got.data, cubed.Array)
        assert "group_quantile" in got.data.plan().explain()
        assert got.dtype == expected.dtype
        xr.testing.assert_allclose(got.compute(), expected, rtol=1e-6)


def test_keeps_to_its_memory(spec):
    """Lines of a year of hours, more of them than a task holds."""
    x = cubed.random.random((8760, 40, 20), chunks=(100, 40, 20), spec=spec)
    codes = np.arange(8760) % 24
    got, _ = cubed.groupby_reduce(
        cubed.permute_dims(x, (1, 2, 0)), codes, func="quantile", finalize_kwargs={"q": 0.9}
    )
    assert x.nbytes > 40e6 and got.plan().num_tasks > 1
    values = computed(got)
    np.testing.assert_allclose(
        values, by_numpy(np.moveaxis(x.compute(), 0, -1), codes, 24, 0.9), rtol=1e-14
    )


@pytest.mark.parametrize("axis", [-3, 2, 2**31 - 1])
def test_an_axis_that_there_is_not(axis):
    x, codes = cubed.ones((4, 3)), cubed.asarray([0, 1, 0])
    with pytest.raises(IndexError, match=f"axis {axis} is out of range for 2 dimensions"):
        cubed._core.call("groupby", x._x, codes._x, "median", axis, 2)
