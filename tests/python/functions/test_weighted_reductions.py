"""Means, spreads, medians and covariances with weights, compared with NumPy and Xarray."""

import random

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import cases, check, run

RNG = np.random.default_rng(7)
X = RNG.normal(280, 10, (4, 5, 6))
W = RNG.uniform(0.1, 2, (4, 5, 6))


def holes(a):
    b = a.copy()
    b[RNG.random(a.shape) < 0.2] = np.nan
    b[:, 2, 3] = np.nan
    return b


def lazy(a):
    return cubed.from_array(a, chunks=tuple(max(1, n // 2) for n in a.shape))


def spread(x, w, axis, correction=0, keepdims=False):
    """Variances by the formula of np.cov with aweights."""
    total = w.sum(axis, keepdims=True)
    mean = (x * w).sum(axis, keepdims=True) / total
    squares = (w * abs(x - mean) ** 2).sum(axis, keepdims=True)
    lost = correction * (w * w).sum(axis, keepdims=True) / total
    with np.errstate(divide="ignore"):
        found = squares / np.maximum(total - lost, 0)
    return found if keepdims else np.squeeze(found, axis)


@pytest.mark.parametrize("axis", [None, 0, -1, (1, 2), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_means_and_spreads(axis, keepdims):
    x, w, k = lazy(X), lazy(W), {"axis": axis, "keepdims": keepdims}
    every = tuple(range(3)) if axis is None else axis
    wanted = np.average(X, weights=W, **k)
    np.testing.assert_allclose(cubed.mean(x, weights=w, **k).compute(), wanted, rtol=1e-13)
    np.testing.assert_allclose(cubed.average(x, weights=w, **k).compute(), wanted, rtol=1e-13)
    for correction in (0, 1, 2.5):
        var = spread(X, W, every, correction, keepdims)
        got = cubed.var(x, weights=w, correction=correction, **k).compute()
        np.testing.assert_allclose(got, var, rtol=1e-12)
        got = cubed.std(x, weights=w, ddof=correction, **k).compute()
        np.testing.assert_allclose(got, np.sqrt(var), rtol=1e-12)


def test_weights_of_axes_in_their_order():
    """As np.average has it: axis=(2, 0) means weights of the extents 6 and 4."""
    w = W[:, 0].T.copy()
    full = np.broadcast_to(w.T[:, None], X.shape)
    for name in ("mean", "var", "std", "nanmean", "nanvar", "nanstd", "median"):
        got = getattr(cubed, name)(lazy(X), axis=(2, 0), weights=lazy(w)).compute()
        wanted = getattr(cubed, name)(lazy(X), axis=(0, 2), weights=lazy(full.copy())).compute()
        np.testing.assert_allclose(got, wanted, rtol=1e-14)
    np.testing.assert_allclose(
        cubed.mean(lazy(X), axis=(2, 0), weights=w).compute(),
        np.average(X, axis=(0, 2), weights=full), rtol=1e-13,
    )  # fmt: skip


def test_missing_elements_as_xarray_leaves_them_out():
    x = holes(X)
    da = xr.DataArray(x, dims=("t", "y", "x"))
    theirs = da.weighted(xr.DataArray(W, dims=da.dims))
    for dims in (("y", "x"), ("t",), ("t", "x")):
        axis = tuple(da.get_axis_num(d) for d in dims)
        for name in ("mean", "var", "std"):
            with np.errstate(invalid="ignore", divide="ignore"):
                wanted = getattr(theirs, name)(dims).values
            got = getattr(cubed, f"nan{name}")(lazy(x), axis=axis, weights=lazy(W)).compute()
            np.testing.assert_allclose(got, wanted, rtol=1e-10)
            plain = getattr(cubed, name)(lazy(x), axis=axis, weights=lazy(W)).compute()
            np.testing.assert_array_equal(np.isnan(plain), np.isnan(x).any(axis))
    ours = xr.DataArray(lazy(x), dims=da.dims).weighted(xr.DataArray(lazy(W), dims=da.dims))
    for name in ("mean", "var", "std", "sum"):
        np.testing.assert_allclose(
            getattr(ours, name)(["y", "x"]).values, getattr(theirs, name)(["y", "x"]).values,
            rtol=1e-10,
        )  # fmt: skip
    np.testing.assert_allclose(
        ours.quantile([0.2, 0.5], dim=["y", "x"]).values,
        theirs.quantile([0.2, 0.5], dim=["y", "x"]).values,
    )


def test_masks_and_types():
    x = holes(X)
    mask = RNG.random(X.shape) < 0.6
    got = cubed.nanvar(lazy(x), axis=1, weights=lazy(W), where=lazy(mask)).compute()
    w = np.where(mask & ~np.isnan(x), W, 0)
    with np.errstate(invalid="ignore"):
        np.testing.assert_allclose(got, spread(np.nan_to_num(x), w, 1), rtol=1e-10)
    got = cubed.mean(lazy(x), axis=1, weights=lazy(W), where=lazy(mask)).compute()
    np.testing.assert_array_equal(np.isnan(got), (np.isnan(x) & mask).any(1) | ~mask.any(1))
    for dtype in ("f4", "f2", "i2", "u8", "?", "c8", "c16", ">f8", ">i4"):
        a = (X - 270).astype(dtype)
        for wtype in ("f4", "i8", "u1", "?"):
            b = np.ceil(W).astype(wtype)
            wanted = np.average(a, axis=(0, 1), weights=b)
            mean = cubed.mean(lazy(a), axis=(0, 1), weights=lazy(b))
            np.testing.assert_allclose(mean.compute(), wanted, rtol=2e-3)
            var = cubed.var(lazy(a), axis=(0, 1), weights=lazy(b))
            assert var.dtype.kind == "f"
            exact = a.astype("c16" if mean.dtype.kind == "c" else "f8")
            np.testing.assert_allclose(
                var.compute(), spread(exact, b.astype("f8"), (0, 1)), rtol=2e-3
            )
    assert cubed.mean(lazy(X.astype("f4")), weights=lazy(W.astype("f4"))).dtype == "f4"
    assert cubed.std(lazy(X.astype("f4")), weights=lazy(W), dtype="f4").dtype == "f4"


def test_edges():
    zero = cubed.mean(lazy(X), axis=0, weights=np.zeros(4))
    assert np.isnan(zero.compute()).all()
    assert np.isnan(cubed.mean(cubed.ones((0, 3)), axis=0, weights=np.ones((0, 3))).compute()).all()
    assert cubed.mean(cubed.asarray(3.0), weights=cubed.asarray(2.0)).compute() == 3
    assert cubed.mean(cubed.ones((2, 0)), axis=0, weights=np.ones(2)).compute().shape == (0,)
    one = cubed.from_array(np.array([np.inf, 1.0]), chunks=1)
    assert cubed.mean(one, weights=np.ones(2)).compute() == np.inf
    assert np.isnan(cubed.var(one, weights=np.ones(2)).compute())
    assert np.isnan(cubed.mean(one, weights=[0.0, 1.0]).compute()), "0 times infinity"
    assert cubed.mean(one, weights=[1.0, 1.0], where=[False, True]).compute() == 1


@pytest.mark.parametrize("seed", range(cases(30)))
def test_medians(seed):
    """The mean of the two middle elements if half of the weight ends between them."""
    rng = random.Random(seed)
    numbers = np.random.default_rng(seed)
    shape = tuple(rng.randrange(1, 6) for _ in range(rng.randrange(1, 4)))
    x = numbers.integers(-9, 9, shape).astype(rng.choice(["f8", "f4", "i4", "u1", "f2", ">f8"]))
    skip = x.dtype.kind == "f" and rng.random() < 0.6
    if skip:
        x[numbers.random(shape) < 0.2] = np.nan
    axis = tuple(rng.sample(range(len(shape)), rng.randrange(1, len(shape) + 1)))
    w = numbers.integers(1, 4, shape)
    name = "nanmedian" if skip and rng.random() < 0.7 else "median"
    got = getattr(cubed, name)(lazy(x), axis=axis, weights=lazy(w)).compute()
    last = tuple(range(-len(axis), 0))
    lines, weights = (np.moveaxis(a, axis, last) for a in (x, w))
    kept = lines.shape[: x.ndim - len(axis)]
    wanted = np.empty(kept)
    for at in np.ndindex(*kept):
        repeated = np.repeat(lines[at].ravel().astype("f8"), weights[at].ravel())
        with np.errstate(all="ignore"):
            valid = repeated[~np.isnan(repeated)] if name == "nanmedian" else repeated
            wanted[at] = np.median(valid) if valid.size else np.nan
    np.testing.assert_array_equal(got, wanted.astype(got.dtype))
    assert got.dtype == (x.dtype.newbyteorder("=") if x.dtype.kind == "f" else "f8")


def test_medians_of_equal_weights_are_medians():
    x = holes(X)
    for name in ("median", "nanmedian"):
        function = getattr(cubed, name)
        for axis in (None, 0, (1, 2)):
            plain = function(lazy(x), axis=axis).compute()
            weighted = function(lazy(x), axis=axis, weights=np.ones(x.shape)).compute()
            np.testing.assert_allclose(weighted, plain, rtol=1e-15)
    tiny = np.array([5e-324])
    assert cubed.median(lazy(tiny), weights=[1.0]).compute() == 5e-324


def test_covariances_of_several_axes():
    m, w = X[:3], W[0]
    flat = m.reshape(3, -1)
    for given in ({}, {"ddof": 0}, {"bias": True}):
        for weights in ({}, {"aweights": w}, {"fweights": np.ceil(w).astype(int)}):
            wanted = np.cov(flat, **given, **{k: v.ravel() for k, v in weights.items()})
            got = cubed.cov(lazy(m), axis=(1, 2), **given, **weights).compute()
            np.testing.assert_allclose(got, wanted, rtol=1e-12)
    # The axes, and with them the weights, in another order; variables of the last axis.
    moved = np.moveaxis(m, 0, 2)
    got = cubed.cov(lazy(moved), axis=(1, 0), aweights=lazy(w.T.copy())).compute()
    np.testing.assert_allclose(got, np.cov(flat, aweights=w.ravel()), rtol=1e-12)
    # Two fields are two variables.
    got = cubed.cov(lazy(m[0]), lazy(m[1]), axis=(0, 1), aweights=w).compute()
    np.testing.assert_allclose(got, np.cov(flat[:2], aweights=w.ravel()), rtol=1e-12)
    got = cubed.corrcoef(lazy(m), axis=(-2, -1)).compute()
    np.testing.assert_allclose(got, np.corrcoef(flat), rtol=1e-12)
    theirs = xr.cov(*(xr.DataArray(a, dims=("y", "x")) for a in m[:2]), ("y", "x"), ddof=1)
    got = cubed.cov(lazy(m[0]), lazy(m[1]), axis=(0, 1)).compute()
    np.testing.assert_allclose(got[0, 1], theirs.values, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: cubed.mean(X, weights=np.ones(4)), ValueError,
         r"mean: weights have shape \(4\), expected the shape \(4, 5, 6\) of the array"),
        (lambda: cubed.std(X, axis=0, weights=np.ones(5)), ValueError, r"std: weights have shape"),
        (lambda: cubed.var(X, axis=0, weights=np.ones(4) * 1j), TypeError,
         "var: weights are of type complex128, expected real numbers"),
        (lambda: cubed.mean(X, weights=W, dtype="i4"), TypeError,
         "mean: dtype is int32, expected a floating-point or complex type"),
        (lambda: cubed.mean(np.array(["2001"], "M8[D]"), weights=[1.0]), TypeError,
         "mean with weights: x is datetime64"),
        (lambda: cubed.median(X * 1j, weights=W), TypeError,
         "median with weights: x is complex128, expected real numbers"),
        (lambda: cubed.median(X, axis=0, weights=np.ones(5)), ValueError,
         "median: weights have shape"),
        (lambda: cubed.median(X, weights=lazy(-W)).compute(), ValueError,
         "median: weights are negative, NaN, infinite or all 0"),
        (lambda: cubed.median(X, weights=-W), ValueError, "median: weights has -"),
        (lambda: cubed.cov(X, axis=0), ValueError,
         "cov: m has 3 axes, and axis names 1 of them, expected all or all but one"),
        (lambda: cubed.cov(X[0], axis=(1, 1)), ValueError, "cov: axis has 1 twice"),
        (lambda: cubed.cov(X, axis=(1, 2), aweights=np.ones(5)), ValueError,
         r"cov: aweights have shape \(5\), expected \(5, 6\), as the axes of observations"),
    ],
)  # fmt: skip
def test_wrong_calls(call, error, text):
    with pytest.raises(error, match=text):
        call()


# --- In expressions, by names of dimensions -------------------------------------------------------


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("weights") / "t.zarr"
    square = RNG.normal(280, 10, (3, 5, 5))
    xr.Dataset(
        {
            "t": (("time", "lat", "lon"), square),
            "area": (("lon", "lat"), RNG.uniform(1, 9, (5, 5))),
            "w": (("lat",), RNG.uniform(1, 9, 5)),
            "days": (("time",), [31.0, 28.0, 31.0]),
            "other": (("x",), np.ones(5)),
        }
    ).to_zarr(path, consolidated=False)
    return path


CALLS = {
    "mean": lambda x, w, axis: np.average(x, axis, w),
    "var": spread,
    "std": lambda x, w, axis: np.sqrt(spread(x, w, axis)),
}


@pytest.mark.parametrize("name", ["average", *CALLS, "nanmean", "nanvar", "nanstd"])
def test_weights_meet_dimensions_by_name(store, tmp_path, name):
    """Weights have their dimensions in another order, or only some of them."""
    ds = xr.open_zarr(store, consolidated=False).load()
    function = CALLS.get(name.removeprefix("nan").replace("average", "mean"))
    for dims, weights in (
        (("lat", "lon"), "area"), (("lon", "lat"), "area"), (("lat", "lon"), "w"),
        (("time",), "days"), (("lat",), "area"), (("time", "lat", "lon"), "area"), (None, "w"),
    ):  # fmt: skip
        out = tmp_path / f"{name}-{weights}-{'-'.join(dims or ('all',))}.zarr"
        how = "" if dims is None else f", dim={dims!r}".replace(",)", ")")
        call = f"{name}(t, weights={weights}{how})"
        text = f"r, _w = {call}" if name == "average" else f"r = {call}"
        done = run("eval", text, store, "--out", out, "--progress", "none")
        assert done.code == 0, done.err
        got = xr.open_zarr(out, consolidated=False)["r"]
        w = ds[weights].broadcast_like(ds["t"]).transpose(*ds["t"].dims).values
        axis = tuple(ds["t"].get_axis_num(dims or ds["t"].dims))
        wanted = function(ds["t"].values, w, axis)
        np.testing.assert_allclose(got.values, wanted, rtol=1e-12, err_msg=call)
        assert got.dims == tuple(d for d in ds["t"].dims if dims and d not in dims)


def test_quantiles_and_covariances_by_name(store):
    ds = xr.open_zarr(store, consolidated=False).load()
    text = (
        'a = quantile(t, 0.3, dim=("lat", "lon"), weights=area, method="inverted_cdf");'
        ' b = median(t, dim=("lon", "lat"), weights=w);'
        ' c = cov(t, dim=("lon", "lat"), aweights=area)'
    )
    got = check(run("eval", text, store, "--json", "--progress", "none")).arrays()
    area = ds["area"].T.values.ravel()
    flat = ds["t"].values.reshape(3, -1)
    wanted = [np.quantile(v, 0.3, weights=area, method="inverted_cdf") for v in flat]
    np.testing.assert_allclose(got["a"], wanted, rtol=1e-12)
    np.testing.assert_allclose(got["c"], np.cov(flat, aweights=area), rtol=1e-12)
    w = np.broadcast_to(ds["w"].values[:, None], (5, 5))
    wanted = cubed.median(lazy(ds["t"].values), axis=(1, 2), weights=w.copy()).compute()
    np.testing.assert_allclose(got["b"], wanted, rtol=1e-12)


def test_weights_of_other_dimensions_are_refused_by_shape(store):
    done = run("eval", 'mean(t, dim=("lat", "lon"), weights=other)', store, "--progress", "none")
    assert done.code != 0
    assert "mean: weights have shape (5), expected the shape (3, 5, 5)" in done.err
