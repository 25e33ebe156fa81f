"""Compares histograms, counts of integers and bins of elements with NumPy."""

import conftest
import cubed
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from conftest import check, run, the_same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from watched import computed

import zarr

SPEC = cubed.Spec(allowed_mem="20MB", reserved_mem="5MB")
many = settings(
    max_examples=conftest.cases(15),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)


def same(x, want):
    """The values, within the projected memory; the same bits where nothing is optimised."""
    got = computed(x)
    assert got.dtype == want.dtype == x.dtype
    if got.dtype.kind == "f":
        np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)
    else:
        np.testing.assert_array_equal(got, want)
    assert x.compute(optimize_graph=False).tobytes() == got.tobytes()


@st.composite
def cases(draw, dtypes=("int16", "uint8", "float32", "float64"), max_dims=3):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=max_dims, min_side=0, max_side=12))
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in shape)
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    low = 0 if dtype.kind == "u" else -20
    a = draw(hnp.arrays("int8", shape, elements=st.integers(low, 30))).astype(dtype)
    start = draw(st.integers(0, 2))
    a = a / dtype.type(3) if dtype.kind == "f" else a
    return a[start:], cubed.from_array(a, chunks=chunks, spec=SPEC)[start:]


@many
@given(cases(), st.integers(1, 9), st.booleans())
def test_bins_of_equal_width(case, bins, given_range):
    a, x = case
    limits = (-5.5, 7) if given_range else None
    want, edges = np.histogram(a, bins, limits)
    got, same_edges = cubed.histogram(x, bins, limits)
    np.testing.assert_array_equal(same_edges, edges)
    same(got, want)
    if want.sum():
        same(cubed.histogram(x, bins, limits, density=True)[0],
             np.histogram(a, bins, limits, density=True)[0])  # fmt: skip


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u8"])
@pytest.mark.parametrize("limits", [None, (-5.5, 7), (0, 7)])
def test_edges_have_the_type_of_the_elements(dtype, limits):
    for n in (0, 3):
        a = np.ones(n, dtype)
        want, got = (
            np.histogram(a, 6, limits)[1],
            cubed.histogram(cubed.from_array(a), 6, limits)[1],
        )
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


@many
@given(cases(), st.lists(st.integers(-25, 35), min_size=2, max_size=9), st.booleans())
def test_edges_and_weights(case, edges, weighted):
    a, x = case
    edges = sorted(e / 2 for e in edges)
    heavy = np.linspace(-1, 2, a.size).reshape(a.shape) if weighted else None
    w = cubed.from_array(heavy, chunks=tuple(max(1, n // 2) for n in a.shape)) if weighted else None
    if a.dtype.kind == "f" and a.size > 3:
        a.reshape(-1)[1:3] = np.nan, np.inf
        x = cubed.from_array(a, chunks=tuple(max(1, n // 3) for n in a.shape), spec=SPEC)
    same(cubed.histogram(x, edges, weights=w)[0], np.histogram(a, edges, weights=heavy)[0])


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "int64", "uint64", "f4", "f8"])
def test_weights_of_all_types(dtype):
    a = np.linspace(0, 1, 60).reshape(6, 10)
    heavy = (np.arange(60).reshape(6, 10) % 11).astype(dtype)
    if dtype in ("int64", "uint64"):
        heavy[::2] += np.asarray(2**53 - 1, dtype)  # sums of which float64 loses digits
    x = cubed.from_array(a, chunks=(2, 10), spec=SPEC)
    w = cubed.from_array(heavy, chunks=(3, 5), spec=SPEC)
    edges = [0, 0.3, 0.55, 1]
    same(cubed.histogram(x, edges, weights=w)[0], np.histogram(a, edges, weights=heavy)[0])
    same(cubed.histogram(x, edges, density=True, weights=w)[0],
         np.histogram(a, edges, density=True, weights=heavy)[0])  # fmt: skip


def test_weights_that_are_conditions_are_counted():
    a = np.linspace(0, 1, 60)
    x = cubed.from_array(a, chunks=7, spec=SPEC)
    same(cubed.histogram(x, 3, (0, 1), weights=x > 0.5)[0], np.histogram(a[a > 0.5], 3, (0, 1))[0])


@many
@given(cases(("bool", "int8", "int64", "uint8", "uint64"), 1), st.integers(0, 40), st.booleans())
def test_bincount(case, minlength, weighted):
    a, x = case
    if a.dtype.kind == "b":
        a, x = a.astype("uint8"), cubed.astype(x, "uint8")
    a, x = a % a.dtype.type(32), x % x.dtype.type(32)
    heavy = np.linspace(-1, 2, a.size) if weighted else None
    w = cubed.from_array(heavy, chunks=5, spec=SPEC) if weighted else None
    want = np.bincount(a.astype("int64"), heavy, minlength)
    want = want.astype("f8") if weighted else want  # NumPy's is int64 of nothing
    same(cubed.bincount(x, w, minlength), want)


@many
@given(
    cases(), st.lists(st.integers(-25, 35), min_size=1, max_size=9), st.booleans(), st.booleans()
)
def test_digitize(case, edges, right, down):
    a, x = case
    edges = sorted((e / 2 for e in edges), reverse=down)
    same(cubed.digitize(x, edges, right), np.digitize(a, edges, right))


def test_refusals():
    x = cubed.from_array(np.array([1, -2, 3]), spec=SPEC)
    with pytest.raises(ValueError, match="x has the element -2, expected 0 or more"):
        cubed.bincount(x).compute()
    with pytest.raises(TypeError, match="bincount is not defined for float64"):
        cubed.bincount(cubed.astype(x, "float64"))
    with pytest.raises(ValueError, match="x has 2 axes, expected 1"):
        cubed.bincount(cubed.reshape(x, (3, 1)))
    with pytest.raises(ValueError, match="increase monotonically"):
        cubed.histogram(x, [1, 0])
    with pytest.raises(ValueError, match="weights have another shape"):
        cubed.histogram(x, 3, weights=cubed.from_array(np.ones(2)))
    with pytest.raises(TypeError, match="complex128, expected real numbers"):
        cubed.histogram(cubed.astype(x, "complex128"), [0, 1])
    with pytest.raises(ValueError, match="stone"):
        cubed.histogram(x, "stone")
    with pytest.raises(ValueError, match="neither ascend nor descend"):
        cubed.digitize(x, [1, 3, 2])


def test_20_times_the_memory(tmp_path):
    a = np.random.default_rng(1).normal(size=(1500, 1000))
    z = zarr.create_array(tmp_path / "x.zarr", shape=a.shape, chunks=(100, 50), dtype="f8")
    z[...] = a
    limits = ("--allowed-mem", "16.5MB", "--reserved-mem", "16MB", "--max-workers", "2")
    text = "h=histogram(x, 50, range=(-3, 3)); b=bincount(int32(abs(x) * 10), 100, weights=x)"
    first = None
    for executor in ("threads", "single-threaded", "processes"):
        places = ("--in", f"x={tmp_path / 'x.zarr'}", "--work-dir", tmp_path)
        result = check(run("eval", text, *places, *limits, "--executor", executor, "--json"))
        stats = result.run
        assert a.nbytes > 20 * (stats["allowed_mem"] - stats["reserved_mem"])
        assert stats["measured_mem"] <= stats["projected_mem"] <= 500_000
        got = result.arrays()
        np.testing.assert_array_equal(got["h"], np.histogram(a, 50, (-3, 3))[0])
        whole = (np.abs(a) * 10).astype("i4").reshape(-1)
        np.testing.assert_allclose(got["b"], np.bincount(whole, a.reshape(-1), 100), rtol=1e-9)
        assert first is None or got["b"].tobytes() == first
        first = got["b"].tobytes()


def test_eval(tmp_path):
    a = np.random.default_rng(2).integers(0, 9, 500)
    z = zarr.create_array(tmp_path / "x.zarr", shape=a.shape, chunks=(60,), dtype=a.dtype)
    z[...] = a
    text = "a=histogram(x, [0, 2, 5]); b=bincount(x, 12); c=histogram(x, bins=4, range=(1, 9))"
    got = the_same_bits(text, "--in", f"x={tmp_path / 'x.zarr'}")
    np.testing.assert_array_equal(got["a"], np.histogram(a, [0, 2, 5])[0])
    np.testing.assert_array_equal(got["b"], np.bincount(a, minlength=12))
    np.testing.assert_array_equal(got["c"], np.histogram(a, 4, (1, 9))[0])
    for expression, message in {
        "histogram(x, 5)": "expected range=",
        "histogram(x, [3, 1])": "expected ascending edges",
        "histogram(x, [3])": "bins has 1 edges, expected at least 2",
        "bincount(x)": "length is missing",
        "bincount(x, 3)": "for a result of 3 elements",
    }.items():
        result = run("eval", expression, "--in", f"x={tmp_path / 'x.zarr'}")
        assert result.code != 0
        assert message in result.err
