"""Positions that form ranges (days of months, hours of days) become views, so the operation is
fused with others and reads only the chunks that it needs.
"""

import conftest
import cubed
import numpy as np
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

import zarr

SPEC = cubed.Spec(allowed_mem="60MB", reserved_mem="10MB")
DAYS = np.repeat(np.arange(12), 30)
RUNS = {
    "months": DAYS,
    "hours": np.tile(np.arange(12), 20),
    "backwards": np.arange(11, -1, -1),
    "one": np.array([5]),
    "few": np.array([3, 3, 0, 11, 9, 7, 7]),
    "from the end": np.array([-1, -2, -3, 4, 5, 6]),
    "around the end": np.array([-2, -1, 0, 1, 2, 3]),
    "twice the same": np.concatenate([np.arange(12), np.arange(0, 12, 3)]),
}


def lazy(a, chunks):
    return cubed.from_array(a, chunks=chunks, spec=SPEC)


@pytest.mark.parametrize("at", RUNS.values(), ids=list(RUNS))
@pytest.mark.parametrize("executor", ["single-threaded", "threads", "processes"])
def test_runs_are_views(at, executor):
    a = np.random.default_rng(0).normal(size=(12, 5, 7))
    x = lazy(a, (5, 2, 7))
    y = x[at] * 2
    assert cubed.plan(y).num_stages == 1
    np.testing.assert_array_equal(y.compute(executor=executor), a[at] * 2)
    np.testing.assert_array_equal(cubed.take(x, at, axis=0).compute(), a[at])
    np.testing.assert_array_equal(y.compute(optimize_graph=False), a[at] * 2)


@settings(max_examples=conftest.cases(40), deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.integers(-9, 8), st.integers(-3, 3), st.integers(1, 6)), min_size=1, max_size=8
    ),
    st.integers(1, 9),
    st.booleans(),
)
def test_any_runs(runs, chunk, along_first):
    at = np.concatenate([start + step * np.arange(n) for start, step, n in runs])
    at = np.where((at < -9) | (at > 8), 0, at)
    a = np.arange(90.0).reshape((9, 10) if along_first else (10, 9))
    index = (at,) if along_first else (slice(None), at)
    x = lazy(a, chunk)
    np.testing.assert_array_equal(x[index].compute(), a[index])
    np.testing.assert_array_equal(cubed.sum(x[index], axis=0).compute(), a[index].sum(axis=0))


def test_what_is_computed_is_computed_once():
    a = np.random.default_rng(0).normal(size=(360, 40))
    x = lazy(a, (30, 40))
    means = cubed.mean(cubed.reshape(x, (12, 30, 40)), axis=1)
    anomalies = x - cubed.exp(means)[DAYS]
    stages = cubed.plan(anomalies).stages
    named = [[name for name, *_ in s["operations"]] for s in stages]
    assert [names.count("exp") for names in named] == [1, 0]
    expected = a - np.exp(a.reshape(12, 30, 40).mean(axis=1))[DAYS]
    np.testing.assert_allclose(anomalies.compute(), expected, rtol=1e-12)


def test_only_chunks_with_wanted_elements_are_read(tmp_path):
    a = np.arange(4000.0).reshape(400, 10)
    zarr.create_array(tmp_path / "a", data=a, chunks=(10, 10))
    x = cubed.from_zarr(str(tmp_path / "a"), spec=SPEC)
    january = np.concatenate([np.arange(31), np.arange(200, 231)])
    (stage,) = cubed.plan(x[january] + 1).stages
    assert 8 <= stage["chunks_read"] < 20  # of 40
    np.testing.assert_array_equal((x[january] + 1).compute(), a[january] + 1)


@pytest.mark.parametrize("at", [[0, 12], [0, 1, -13], [0] * 20 + [99]])
def test_positions_outside_are_refused(at):
    x = lazy(np.zeros((12, 3)), (5, 3))
    with pytest.raises(IndexError, match=f"{at[-1]}.* 12"):
        cubed.take(x, np.array(at), axis=0).compute()


def test_many_runs_are_taken_by_a_function():
    at = np.random.default_rng(0).integers(0, 500, 3000)
    a = np.arange(1000.0).reshape(500, 2)
    y = lazy(a, (100, 2))[at]
    assert "take" in cubed.plan(y).stages[0]["name"]
    np.testing.assert_array_equal(y.compute(), a[at])


# --- Chunks of the result -------------------------------------------------------------------------

SAMPLE = np.random.default_rng(0).integers(0, 12, 12)


@pytest.mark.parametrize("chunk", [12, 5, 1])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(
    "at",
    [
        SAMPLE,
        np.tile(SAMPLE[:5], 3),
        np.zeros(30, int),
        np.repeat([3, 8], 4),
        [5],
        [0, 4, 8],
        [7, 2, 3],
    ],
    ids=str,
)
def test_chunks_are_as_long_as_those_of_the_input(at, axis, chunk):
    """However short runs are: a dimension in one chunk stays so, as functions of lines need it."""
    a = np.random.default_rng(0).normal(size=(12, 4) if axis == 0 else (4, 12))
    chunks = (chunk, 3) if axis == 0 else (3, chunk)
    y = cubed.take(lazy(a, chunks), np.array(at), axis=axis)
    whole, rest = divmod(len(at), chunk)
    assert y.chunks[axis] == (chunk,) * whole + (rest,) * (rest > 0)
    assert y.chunks[1 - axis] == (3, 1)
    np.testing.assert_array_equal(y.compute(), a.take(at, axis=axis))


def test_slices_by_positions_have_the_chunks_of_slices():
    x = lazy(np.zeros((12, 3)), (5, 3))
    assert x[np.arange(3, 12)].chunks == x[3:12].chunks == ((2, 5, 2), (3,))
    assert x[np.arange(11, 2, -1)].chunks == x[11:2:-1].chunks


@pytest.mark.parametrize("along", [False, True])
def test_many_positions_leave_dimensions_whole(along):
    """Blocks of the result are limited; a dimension that is whole in the input is cut last."""
    x = cubed.zeros((300, 40_000), chunks=(300, 2000), spec=SPEC)
    at = np.random.default_rng(0).integers(0, 40_000, 30_000)
    if along:
        y = cubed.take_along_axis(x, cubed.broadcast_to(cubed.asarray(at), (300, 30_000)), axis=1)
    else:
        y = cubed.take(x, at, axis=1)
    assert y.chunks[0] == (300,) and len(y.chunks[1]) == 3
    assert y.chunksize[0] * y.chunksize[1] * 8 <= 32 << 20


def test_samples_of_a_dimension_for_functions_of_lines():
    """A bootstrap, whose samples are joined along a new dimension."""
    a = np.random.default_rng(0).normal(size=(12, 4))
    x = xr.DataArray(lazy(a, (12, 2)), dims=("time", "x"))
    at = np.random.default_rng(1).integers(0, 12, (5, 12))
    samples = xr.concat([x.isel(time=each) for each in at], "sample")
    got = xr.apply_ufunc(
        np.median,
        samples,
        input_core_dims=[["time"]],
        kwargs={"axis": -1},
        dask="parallelized",
        output_dtypes=[float],
    )
    np.testing.assert_array_equal(got, np.median(a[at], axis=1))
