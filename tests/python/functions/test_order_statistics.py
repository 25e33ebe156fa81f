"""Compares medians and quantiles with NumPy: types, grids, methods, executors, and the memory
bound.
"""

import warnings

import conftest
import cubed
import numpy as np
import pytest
from conftest import check, run, the_same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from watched import computed

import zarr

SPEC = cubed.Spec(allowed_mem="20MB", reserved_mem="5MB")
METHODS = (
    "linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf closest_observation "
    "interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased"
).split()
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
many = settings(
    max_examples=conftest.cases(20),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def values(rng, shape, dtype, nan=True):
    """Values with ties, at all scales, with infinities and NaN where there are some."""
    dtype = np.dtype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return np.where(rng.random(shape) < 0.5, x % 7, x).astype(dtype)
    x = (rng.normal(size=shape) * 20).round(1)
    if dtype.kind == "b":
        return x > 3
    x = x.astype(dtype)
    special = [np.inf, -np.inf, 0.0, 1e-6] + [np.nan] * nan
    return np.where(rng.random(shape) < 0.03, rng.choice(special, shape), x).astype(dtype)


def same(x, want, rtol=1e-15):
    got = computed(x)
    want = np.asarray(want)
    assert got.shape == want.shape == x.shape
    assert got.dtype == x.dtype
    if got.dtype.kind == "f":
        rtol = max(rtol, 2 * float(np.finfo(got.dtype).eps))
    np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), rtol=rtol, atol=1e-300)
    plain = x.compute(optimize_graph=False)
    assert got.tobytes() == plain.tobytes()


@pytest.mark.parametrize("dtype", DTYPES)
def test_median_types(dtype):
    a = values(np.random.default_rng(1), (41, 6), dtype, nan=False)
    for n in (41, 40):
        x = cubed.from_array(a[:n], chunks=(7, 4), spec=SPEC)
        for axis in (0, 1, None):
            m = cubed.median(x, axis)
            want = np.median(a[:n], axis)
            assert m.dtype == (a.dtype if a.dtype.kind == "f" else np.float64)
            same(m, want)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", ["int64", "uint8", "float32", "float64"])
def test_methods(method, dtype):
    a = values(np.random.default_rng(2), (5, 23), dtype, nan=False)
    a = np.where(np.isinf(a), 0, a).astype(dtype) if a.dtype.kind == "f" else a // 2
    q = np.array([0, 0.05, 0.1, 0.25, 1 / 3, 0.5, 0.77, 0.9, 1])
    x = cubed.from_array(a, chunks=(2, 5), spec=SPEC)
    for n in (23, 20, 2, 1):
        for some in (q, q[[2, 5]]):
            got = cubed.quantile(x[:, :n], some, axis=1, method=method)
            want = np.quantile(a[:, :n].astype("f8"), some, axis=1, method=method)
            discrete = method in METHODS[1:3] + ["nearest", "inverted_cdf", "closest_observation"]
            assert got.dtype == (dtype if discrete else "float64")
            one = cubed.quantile(x[:, :n], float(some[0]), axis=1, method=method)
            assert one.dtype == (dtype if discrete or dtype[0] == "f" else "float64")
            scale = float(np.abs(a).max())
            np.testing.assert_allclose(got.compute(), want, rtol=1e-6, atol=1e-6 * scale)


@st.composite
def cases(draw):
    shape = tuple(draw(st.lists(st.integers(0, 9), min_size=1, max_size=4)))
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in shape)
    axes = st.sets(st.integers(0, len(shape) - 1)).map(tuple)
    axis = draw(st.none() | st.integers(-len(shape), len(shape) - 1) | axes)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    a = values(rng, shape, draw(st.sampled_from(["int32", "float32", "float64"])))
    start = draw(st.integers(0, 2))
    return a[start:], cubed.from_array(a, chunks=chunks, spec=SPEC)[start:], axis


def reference(fn, a, axis, keepdims, *q):
    """NumPy's, which takes no empty tuple of axes and no empty arrays."""
    if a.size == 0:
        shape = a.sum(axis=axis, keepdims=keepdims).shape
        return np.full((*np.shape(*q), *shape) if q else shape, np.nan)
    if axis == ():
        return fn(a.reshape(*a.shape, 1), *q, axis=-1)
    return fn(a, *q, axis=axis, keepdims=keepdims)


@many
@given(cases(), st.booleans())
def test_median(case, keepdims):
    a, x, axis = case
    same(cubed.median(x, axis, keepdims=keepdims), reference(np.median, a, axis, keepdims))
    same(cubed.nanmedian(x, axis, keepdims=keepdims), reference(np.nanmedian, a, axis, keepdims))


@many
@given(cases(), st.booleans(), st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_quantile(case, keepdims, q):
    a, x, axis = case
    a = np.where(np.isinf(a), 0, a).astype(a.dtype)  # NumPy makes NaN between infinities
    x = cubed.where(cubed.isinf(x), cubed.zeros_like(x), x) if a.dtype.kind == "f" else x
    for ours, theirs in ((cubed.quantile, np.quantile), (cubed.nanquantile, np.nanquantile)):
        got = ours(x, q, axis, keepdims=keepdims)
        want = reference(theirs, a.astype("f8"), axis, keepdims, np.array(q))
        assert got.shape == want.shape
        scale = float(np.nanmax(np.abs(a), initial=1))
        np.testing.assert_allclose(got.compute(), want, rtol=1e-6, atol=1e-6 * scale)


def test_percentiles():
    a = values(np.random.default_rng(4), (30, 4), "float64")
    x = cubed.from_array(a, chunks=(8, 3), spec=SPEC)
    same(cubed.percentile(x, 30, axis=0), cubed.quantile(x, 0.3, axis=0).compute())
    same(cubed.nanpercentile(x, [30, 50], axis=0), cubed.nanquantile(x, [0.3, 0.5], 0).compute())
    same(cubed.percentile(x, 100, axis=0), np.max(a, 0))


def test_values_of_all_scales():
    """Outliers, subnormal numbers, and overflow between the two in the middle."""
    for line in (
        [1e308, 1.5e308],
        [-1.7e308, 1.7e308],
        [5e-324, 5e-324, 1e300, 1e300],
        [np.inf, np.inf, 1.0],
        [-0.0, -0.0],
        [0.0] * 500 + [1e-320] * 3 + [1e300],
        [np.inf, -np.inf],
    ):
        a = np.array(line)
        got = cubed.median(cubed.from_array(a, spec=SPEC)).compute()
        if line[0] == 1e308:
            assert got == 1.25e308  # NumPy: infinite
        else:
            np.testing.assert_array_equal(got, np.median(a))


def test_refusals():
    x = cubed.from_array(np.arange(6).reshape(2, 3), spec=SPEC)
    with pytest.raises(ValueError, match="q is 1.5, expected .* from 0 to 1"):
        cubed.quantile(x, 1.5)
    with pytest.raises(ValueError, match="q is nan"):
        cubed.quantile(x, [0.5, np.nan])
    with pytest.raises(ValueError, match="method is 'mean', expected one of 'linear'"):
        cubed.quantile(x, 0.5, method="mean")
    with pytest.raises(TypeError, match="complex128, expected real numbers"):
        cubed.quantile(cubed.astype(x, "complex128"), 0.5)
    with pytest.raises(
        ValueError, match="there are no elements, and type int64 has no NaN for the result"
    ):
        cubed.quantile(x[:0], 0.5, axis=0, method="lower").compute()


def test_along_a_chunked_axis(tmp_path):
    """20 times what a task may use, in chunks that are cut along the axis; all executors."""
    a = np.random.default_rng(5).normal(size=(200, 80, 350)).astype("f4")
    z = zarr.create_array(tmp_path / "x.zarr", shape=a.shape, chunks=(50, 20, 35), dtype="f4")
    z[...] = a
    results = []
    for executor in ("threads", "single-threaded", "processes"):
        out = tmp_path / f"{executor}.zarr"
        limits = ("--allowed-mem", "9MB", "--reserved-mem", "8MB", "--max-workers", "2")
        places = ("--in", f"x={tmp_path / 'x.zarr'}", "--out", out, "--work-dir", tmp_path)
        command = ("eval", "median(x, axis=0)", *places, *limits, "--executor", executor, "--json")
        stats = check(run(*command)).run
        assert a.nbytes > 20 * (stats["allowed_mem"] - stats["reserved_mem"])
        assert stats["measured_mem"] <= stats["projected_mem"] <= 1_000_000
        results.append(zarr.open_array(out)[...])
    np.testing.assert_array_equal(results[0], np.median(a, 0))
    for other in results[1:]:
        assert other.tobytes() == results[0].tobytes()


SMALL = cubed.Spec(allowed_mem="1.2MB", reserved_mem="1.1MB")


def stages_of(x):
    return len(x.plan().stages)


@pytest.mark.parametrize("dtype", DTYPES)
def test_counting_types(dtype):
    """Lines that do not fit a task, here of more than 25 kB."""
    a = values(np.random.default_rng(7), (3, 30_000), dtype, nan=False)
    x = cubed.from_array(a, chunks=(2, 4000), spec=SMALL)
    assert a.nbytes / 3 > 25_000
    same(cubed.median(x, 1), np.median(a, 1))
    same(cubed.median(x), np.median(a))
    same(cubed.median(x.T, 0, keepdims=True), np.median(a.T, 0, keepdims=True))


@pytest.mark.parametrize("method", METHODS)
def test_counting_is_selecting(method):
    """Both ways give the same bits, with NaN and infinities, also of lines of NaN alone."""
    a = values(np.random.default_rng(8), (2, 8000, 3), "float32")
    a[0, :, 1] = np.nan
    a[1, :, 2] = 4
    small = cubed.from_array(a, chunks=(1, 1000, 2), spec=SMALL)
    large = cubed.from_array(a, chunks=(1, 1000, 2), spec=SPEC)
    q = [0, 0.001, 0.4, 0.5, 1]
    for axis in (1, (0, 1), None):
        for fn in (cubed.quantile, cubed.nanquantile):
            got = fn(small, q, axis, method=method)
            assert stages_of(got) > stages_of(fn(large, q, axis, method=method))
            want = fn(large, q, axis, method=method).compute()
            assert computed(got).tobytes() == want.tobytes()
            assert got.compute(optimize_graph=False).tobytes() == want.tobytes()


def test_counting_20_times_the_memory(tmp_path):
    a = values(np.random.default_rng(9), 600_000, "float64", nan=False)
    z = zarr.create_array(tmp_path / "x.zarr", shape=a.shape, chunks=(3000,), dtype="f8")
    z[...] = a
    limits = ("--allowed-mem", "16.2MB", "--reserved-mem", "16MB", "--max-workers", "2")
    for executor in ("threads", "single-threaded", "processes"):
        places = ("--in", f"x={tmp_path / 'x.zarr'}", "--work-dir", tmp_path)
        result = check(run("eval", "median(x)", *places, *limits, "--executor", executor, "--json"))
        stats = result.run
        assert a.nbytes > 20 * (stats["allowed_mem"] - stats["reserved_mem"])
        assert stats["measured_mem"] <= stats["projected_mem"] <= 200_000
        assert result.array() == np.median(a)
    result = check(run("eval", "quantile(x, [0.01, 0.99])", *places, *limits, "--json"))
    got = result.array()
    np.testing.assert_allclose(got, np.quantile(a, [0.01, 0.99]), rtol=1e-14)


def test_eval(tmp_path):
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    a = values(np.random.default_rng(6), (20, 9), "float32")
    z = group.create_array(
        "x", shape=a.shape, chunks=(6, 4), dtype="f4", dimension_names=["time", "lat"]
    )
    z[...] = a
    path = tmp_path / "g.zarr"
    text = 'a=median(x, dim="time"); b=nanmedian(x, 0); c=quantile(x, [0.1, 0.9], dim="lat")'
    got = the_same_bits(text + '; d=nanpercentile(x, 10, method="lower")', "--in", path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        np.testing.assert_array_equal(got["a"], np.median(a, 0))
        np.testing.assert_array_equal(got["b"], np.nanmedian(a, 0))
        np.testing.assert_allclose(got["c"], np.quantile(a, [0.1, 0.9], 1), rtol=1e-5)
        np.testing.assert_array_equal(got["d"], np.nanpercentile(a, 10, method="lower"))
    result = run("eval", "quantile(x, 0.5, method=1)", "--in", path)
    assert result.code != 0
    assert "expected one of 'linear', " in result.err
    doc = check(run("eval", 'quantile(x, 0.5, dim="time", keepdims=True)', path, "--json"))
    assert '"shape": [1, 9]' in doc.out
    assert '"dims": ["time", "lat"]' in doc.out


def test_axes_of_an_array():
    a = np.arange(24.0).reshape(2, 3, 4)
    x = cubed.asarray(a, chunks=2)
    for axes in (np.array([-1]), np.array([0, -1])):
        expected = np.quantile(a, 0.3, axis=tuple(axes.tolist()))
        np.testing.assert_allclose(cubed.quantile(x, 0.3, axis=axes).compute(), expected)
    with pytest.raises(TypeError, match="expected an integer"):
        cubed.sum(x, axis=np.array([[0]]))


# --- Times of which some are missing --------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]"])
def test_missing_times_are_skipped(dtype):
    """To the last unit, which float64 does not hold for nanoseconds of this century."""
    rng = np.random.default_rng(4)
    a = (10**18 * (dtype[-3:-1] == "ns") + rng.integers(0, 10**6, (5, 12, 4))).astype(dtype)
    a[rng.random(a.shape) < 0.3] = "NaT"
    a[1, :, 2] = "NaT"
    x = cubed.from_array(a, chunks=(2, 5, 3), spec=SPEC)
    for keepdims, axes in ((False, (None, 0, -1, (0, 2))), (True, (None, 1, (1, 2)))):
        for axis in axes:
            for q in (0.3, [0.9, 0, 0.25], []):
                got = cubed.nanquantile(x, q, axis=axis, keepdims=keepdims)
                want = np.nanquantile(a, q, axis=axis, keepdims=keepdims)
                assert got.dtype == a.dtype and got.shape == want.shape
                np.testing.assert_array_equal(computed(got), want)
            if dtype[0] == "m":
                got = cubed.nanmedian(x, axis=axis, keepdims=keepdims)
                want = np.nanmedian(a, axis=axis, keepdims=keepdims)
                assert got.dtype == a.dtype
                np.testing.assert_array_equal(computed(got), want)
    for method in ("lower", "higher", "nearest"):
        got = computed(cubed.nanpercentile(x, 40, axis=1, method=method))
        np.testing.assert_array_equal(got, np.nanpercentile(a, 40, axis=1, method=method))


def test_medians_of_missing_nanoseconds():
    """NumPy's nanmedian rounds to float64 along an axis; its median of known elements does not."""
    rng = np.random.default_rng(6)
    a = (10**18 + rng.integers(0, 10**6, (6, 11))).astype("m8[ns]")
    a[rng.random(a.shape) < 0.4] = "NaT"
    got = computed(cubed.nanmedian(cubed.from_array(a, chunks=4, spec=SPEC), axis=1))
    assert got.tolist() == [np.median(line[~np.isnat(line)]).view("i8") for line in a]


def test_missing_times_without_an_answer():
    x = cubed.asarray(np.array(["2001-01-01", "NaT"], "M8[D]"))
    with pytest.raises(TypeError, match=r"median is not defined for datetime64\[D\]: use quantile"):
        cubed.nanmedian(x)
    with pytest.raises(TypeError, match="method 'hazen' is not defined for times if missing"):
        cubed.nanquantile(x, 0.5, method="hazen")
    with pytest.raises(ValueError, match="q is 1.5, expected .* from 0 to 1"):
        cubed.nanquantile(x, 1.5)
    none = cubed.asarray(np.zeros((0, 2), "m8[s]"))
    np.testing.assert_array_equal(
        computed(cubed.nanmedian(none, axis=0)), np.full(2, "NaT", "m8[s]")
    )


def test_missing_times_beyond_the_memory(tmp_path):
    """Lines of ten times what a task may use are sorted in passes, and the plan's peak holds."""
    n = 1_500_000
    a = np.random.default_rng(5).integers(0, 10**15, n).astype("m8[us]")
    a[::3] = "NaT"
    store = zarr.create_array(tmp_path / "x.zarr", data=a, chunks=(50_000,))
    assert store.nbytes == 12_000_000
    spec = cubed.Spec(tmp_path / "w", allowed_mem="3MB", reserved_mem="1MB")
    x = cubed.from_zarr(tmp_path / "x.zarr", spec=spec)
    assert cubed.nanmedian(x).compute() == np.nanmedian(a)
