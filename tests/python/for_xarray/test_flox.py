"""Compares calls of flox with lazy arrays with the same calls with NumPy arrays."""

import sys
import threading
import warnings

import cubed
import flox
import flox.xarray
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from cubed.xarray._flox import _numbers_of_block

# numpy-groupies and SciPy, about groups of one element and of none.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:After omitting NaNs")

RNG = np.random.default_rng(0)
SHAPE = (3, 6, 20)
X = RNG.normal(size=SHAPE)
X[RNG.random(SHAPE) < 0.2] = np.nan
X[:, :, 4] = np.nan
LABELS = RNG.integers(0, 4, 20)
LABELS[4] = 7  # a group of what is missing alone
MANY = RNG.integers(0, 3, (6, 20))
NAMES = "count sum mean var std min max prod first last argmin argmax median mode quantile".split()
NAN_NAMES = [f"nan{n}" for n in NAMES if n != "count"]


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return cubed.Spec(tmp_path_factory.mktemp("w"), allowed_mem="100MB", reserved_mem="10MB")


@pytest.fixture(scope="module", autouse=True)
def _meets_flox(spec):
    cubed.ones((1,), spec=spec)  # the first array that is made makes flox known


def same(spec, x, *by, lazy_by=False, **kwargs):
    """The result of a call, and that it is NumPy's."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numpy_only = {k: v for k, v in kwargs.items() if k != "method"}
        expected, *groups = flox.groupby_reduce(x, *by, **numpy_only)
    lazy = cubed.from_array(x, chunks=(2, 4, 7)[-x.ndim :], spec=spec)
    labels = [cubed.from_array(b, chunks=7, spec=spec) if lazy_by else b for b in by]
    result, *found = flox.groupby_reduce(lazy, *labels, **kwargs)
    assert isinstance(result, cubed.Array)
    assert result.shape == expected.shape and result.dtype == expected.dtype
    for a, b in zip(found, groups, strict=True):
        assert list(a) == list(b)
    values = result.compute()
    if expected.dtype.kind in "fc":
        np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_array_equal(values, expected)
    return result


@pytest.mark.parametrize("name", NAMES + NAN_NAMES)
def test_every_reduction(name, spec):
    x = X if name.startswith("nan") or name == "count" else np.nan_to_num(X)
    options = {"finalize_kwargs": {"q": [0.2, 0.7]}} if "quantile" in name else {}
    groups = np.array([0, 1, 2, 3] if "arg" in name else [0, 1, 2, 3, 5, 7])
    # Groups that are not there: without a fill value they are what flox's engine makes of them.
    options["fill_value"] = -1 if "arg" in name else 0 if name == "count" else np.nan
    same(spec, x, np.minimum(LABELS, 3), func=name, expected_groups=groups, **options)
    if "arg" not in name:
        del options["fill_value"]
        same(spec, x, LABELS, func=name, **options)


@pytest.mark.parametrize("method", ["map-reduce", "blockwise", "cohorts", None])
def test_methods_give_the_same(method, spec):
    for name in ("nanmean", "nanmedian"):
        result = same(spec, X, LABELS, func=name, method=method)
        reads = sum(s["chunks_read"] for s in result.plan().stages if s["name"] != "rechunk")
        assert reads <= 2 * 12 * 2


def test_bins(spec):
    values = RNG.normal(size=20)
    edges = np.array([-2.0, -0.5, 0.5, 1.0])
    values[3] = 0.5
    values[5] = np.nan
    for name in ("nansum", "nanmedian", "count"):
        for lazy_by in (False, True):
            same(
                spec,
                X,
                values,
                func=name,
                expected_groups=pd.IntervalIndex.from_breaks(edges),
                lazy_by=lazy_by,
            )
        same(spec, X, values, func=name, expected_groups=(edges,), isbin=True)
    expected, groups = flox.groupby_reduce(
        X, values, func="nanmax", expected_groups=edges, isbin=True
    )
    x = cubed.from_array(X, chunks=(2, 4, 7), spec=spec)
    for labels in (values, cubed.from_array(values, chunks=6, spec=spec)):
        result, bins = cubed.groupby_reduce(
            x, labels, func="nanmax", expected_groups=edges, isbin=True
        )
        np.testing.assert_array_equal(result.compute(), expected)
        assert list(bins) == list(groups)
    with pytest.raises(ValueError, match="expected edges of bins"):
        cubed.groupby_reduce(x, values, func="sum", isbin=True)


def test_several_labels_and_axes(spec):
    both = {"expected_groups": (np.arange(4), np.arange(3))}
    for name in ("nanmean", "nanmedian", "count"):
        same(spec, X, np.broadcast_to(LABELS % 4, (6, 20)), MANY, func=name, **both)
        same(spec, X, MANY, func=name, expected_groups=np.arange(3), axis=-1)
        same(spec, X, MANY, func=name, expected_groups=np.arange(3))
    q = {"finalize_kwargs": {"q": [0.1, 0.9]}}
    same(spec, X, MANY, func="nanquantile", expected_groups=np.arange(3), axis=-1, **q)


def test_labels_are_found_by_several_threads_at_once():
    """Of an index that nobody has asked before: pandas 2 hashes it without a lock."""
    labels, wrong = np.arange(8), []

    def find(groups, start):
        start.wait()
        try:
            wrong.extend(_numbers_of_block(labels, groups) != labels)
        except ValueError as e:
            wrong.append(e)

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for _ in range(100):
            shared = (pd.Index(labels), threading.Barrier(3))
            threads = [threading.Thread(target=find, args=shared) for _ in range(3)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
    finally:
        sys.setswitchinterval(before)
    assert not any(wrong)


def test_lazy_labels(spec):
    for name in ("nanmean", "nanmedian"):
        same(spec, X, LABELS, func=name, expected_groups=np.arange(8), lazy_by=True)
    lazy = cubed.from_array(LABELS, chunks=7, spec=spec)
    found, groups = flox.core.groupby_reduce(X, lazy, func="nansum")
    expected, labels = flox.groupby_reduce(X, LABELS, func="nansum")
    assert isinstance(found, cubed.Array)
    np.testing.assert_allclose(found.compute(), expected)
    assert isinstance(groups, np.ndarray) and groups.dtype == labels.dtype
    np.testing.assert_array_equal(groups, labels)
    result, _ = flox.groupby_reduce(X, lazy, func="nansum", expected_groups=np.arange(8))
    assert isinstance(result, cubed.Array)  # of values in memory, too


def test_complex_numbers(spec):
    z = X + 1j * np.roll(X, 1, axis=1)
    for name in ("nansum", "nanmean", "count", "nanfirst"):
        same(spec, z, LABELS, func=name)
    x = cubed.from_array(z, chunks=(2, 4, 7), spec=spec)
    for name in ("any", "all", "nansum"):
        ours, _ = cubed.groupby_reduce(x, LABELS, func=name)
        known = np.isnan(z) if name == "nansum" else np.zeros(z.shape, bool)
        for k, g in enumerate(np.unique(LABELS)):
            part = np.where(known, 0, z)[..., g == LABELS]
            expected = getattr(np, name.removeprefix("nan"))(part, axis=-1)
            np.testing.assert_allclose(ours.compute()[..., k], expected)
    with pytest.raises(TypeError, match="max of complex"):
        cubed.groupby_reduce(x, LABELS, func="max")


def test_any_and_all_of_what_is_known(spec):
    a = np.where(X > 1, X, np.where(np.isnan(X), np.nan, 0.0))
    x = cubed.from_array(a, chunks=(2, 4, 7), spec=spec)
    for name, function in (("nanany", np.any), ("nanall", np.all)):
        result, groups = cubed.groupby_reduce(x, LABELS, func=name)
        assert result.dtype == bool
        for k, g in enumerate(groups):
            part = np.where(np.isnan(a), name == "nanall", a != 0)[..., g == LABELS]
            np.testing.assert_array_equal(result.compute()[..., k], function(part, axis=-1))


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]"])
def test_times(dtype, spec):
    t = np.arange(360).reshape(SHAPE).astype("i8").astype(dtype)
    for name in ("min", "max", "first", "last", "count", "mean", "median"):
        same(spec, t, LABELS, func=name)
    if dtype[0] == "m":
        same(spec, t, LABELS, func="sum")


def test_bools(spec):
    for name in ("any", "all", "sum", "mean", "max", "first", "count"):
        same(spec, X > 0, LABELS, func=name)


def test_groups_that_are_not_there(spec):
    """Nothing is known of them, not false and not true."""
    for name in ("any", "all"):
        for x in (X > 0, np.nan_to_num(X)):
            same(spec, x, LABELS, func=name, expected_groups=np.arange(9), fill_value=np.nan)
    time = pd.to_datetime(["2000-01-01", "2000-01-02", "2000-03-01"])
    da = xr.DataArray([True, False, True], {"time": time}, "time")
    lazy = da.chunk(time=2, chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    for name in ("any", "all"):
        result = getattr(lazy.resample(time="MS"), name)()
        assert isinstance(result.data, cubed.Array)
        xr.testing.assert_identical(result.compute(), getattr(da.resample(time="MS"), name)())


def test_scans(spec):
    x = cubed.from_array(X, chunks=(2, 4, 7), spec=spec)
    for name in ("nancumsum", "ffill", "bfill"):
        result = flox.groupby_scan(x, LABELS, func=name)
        assert isinstance(result, cubed.Array) and result.chunks == x.chunks
        expected = flox.groupby_scan(X, LABELS, func=name)
        np.testing.assert_allclose(result.compute(), expected)
    with pytest.raises(NotImplementedError, match="groups of several axes"):
        flox.groupby_scan(x, MANY, func="ffill")


def test_aggregations_of_users(spec):
    agg = flox.Aggregation(
        "range", numpy=lambda g, a, **kw: flox_range(g, a, **kw), chunk=None, combine=None,
        fill_value={"intermediate": np.nan, "final": np.nan}, final_dtype=np.float64,
    )  # fmt: skip
    same(spec, np.nan_to_num(X), LABELS, func=agg, engine="numpy")


def flox_range(group_idx, array, *, size=None, fill_value=None, axis=-1, dtype=None, **kwargs):
    out = np.full((*array.shape[:-1], size), np.nan)
    for g in range(size):
        part = array[..., group_idx == g]
        if part.shape[-1]:
            out[..., g] = part.max(axis=-1) - part.min(axis=-1)
    return out


def test_objects_of_xarray(spec):
    da = xr.DataArray(X, dims=("k", "y", "x"), coords={"label": ("x", LABELS)}, name="a")
    lazy = da.chunk(x=7, y=4, chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    groups = {"expected_groups": np.unique(LABELS)}
    for name in ("nanmean", "median", "nanargmax"):
        expected = flox.xarray.xarray_reduce(da.fillna(0.5), "label", func=name)
        result = flox.xarray.xarray_reduce(lazy.fillna(0.5), "label", func=name, **groups)
        assert isinstance(result.data, cubed.Array)
        xr.testing.assert_allclose(result.compute(), expected)
