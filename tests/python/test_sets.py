"""Masks, coordinates and sets: functions whose shapes depend on values, against NumPy."""

import cubed
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from conftest import check, run, the_same_bits
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import zarr

SPEC = cubed.Spec(allowed_mem="20MB", reserved_mem="5MB")
many = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
DTYPES = ["bool", "int8", "int64", "uint16", "float32", "float64"]


def same(x, want):
    """The values, within the projected memory; the same bits where nothing is optimised."""
    ends = []

    class Watch(cubed.Callback):
        def on_task_end(self, event):
            ends.append(event)

    got = x.compute(callbacks=[Watch()])
    for e in ends:
        assert e.peak_measured_mem_end <= e.projected_mem <= x.spec.allowed_mem
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)
    assert x.compute(optimize_graph=False).tobytes() == got.tobytes()


@st.composite
def cases(draw, min_dims=1):
    shape = draw(hnp.array_shapes(min_dims=min_dims, max_dims=3, min_side=0, max_side=9))
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in shape)
    dtype = draw(st.sampled_from(DTYPES))
    a = draw(hnp.arrays("int8", shape, elements=st.integers(0, 6))).astype(dtype)
    if a.dtype.kind == "f":
        a[a == 5] = np.nan
    start = draw(st.integers(0, 2))  # so that the first chunk may be shorter
    return a[start:], cubed.from_array(a, chunks=chunks, spec=SPEC)[start:]


@many
@given(cases(), st.integers(1, 9))
def test_masks_and_coordinates(case, chunk):
    a, x = case
    mask = np.asarray(a > 2)
    m = cubed.from_array(mask, chunks=tuple(min(chunk, max(1, n)) for n in a.shape), spec=SPEC)
    same(x[m], a[mask])
    if a.size:
        first = (slice(None), *(0,) * (a.ndim - 1))  # a mask over the first axis
        same(x[m[first]], a[mask[first]])
    for got, want in zip(cubed.nonzero(x), np.nonzero(a), strict=True):
        same(got, want)


@many
@given(cases())
def test_unique(case):
    a, x = case
    everything = cubed.unique_all(x)
    values, indices, inverse, counts = np.unique(
        a, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    same(everything.values, values)
    same(everything.indices, indices)
    same(everything.inverse_indices, inverse.reshape(a.shape))
    same(everything.counts, counts)


def test_each_chunk_of_a_mask_is_a_task(tmp_path):
    """20 times the memory of a task: each reads the chunks that its own elements are in."""
    n = 1_500_000
    a = np.random.default_rng(1).normal(size=n)
    z = zarr.create_array(tmp_path / "x.zarr", shape=n, chunks=(5000,), dtype="f8")
    z[...] = a
    count = int((a > 1).sum())
    expression = f"compress(x, x > 1, {count})"
    results = []
    for executor in ("threads", "single-threaded", "processes"):
        out = tmp_path / f"{executor}.zarr"
        limits = ("--allowed-mem", "16.5MB", "--reserved-mem", "16MB", "--max-workers", "2")
        places = ("--in", f"x={tmp_path / 'x.zarr'}", "--out", out, "--work-dir", tmp_path)
        result = check(run("eval", expression, *places, *limits, "--executor", executor, "--json"))
        stats = result.run
        assert a.nbytes > 20 * (stats["allowed_mem"] - stats["reserved_mem"])
        assert stats["measured_mem"] <= stats["projected_mem"] <= 500_000
        # Once to count, twice to pick (x and the mask), and what lies at the ends of the 48 chunks.
        assert stats["bytes_read"] < 3.6 * a.nbytes
        assert stats["tasks"] >= 48
        results.append(zarr.open_array(out)[...])
    for got in results:
        np.testing.assert_array_equal(got, a[a > 1])


@pytest.mark.parametrize("share", [0.0, 0.0005, 0.5, 1.0])
def test_few_and_all(share):
    rng = np.random.default_rng(2)
    a = rng.integers(0, 1000, 30_000)
    mask = rng.random(a.size) < share
    x = cubed.from_array(a, chunks=(701,), spec=SPEC)
    m = cubed.from_array(mask, chunks=(999,), spec=SPEC)
    same(x[m], a[mask])
    same(x[m & (x < 500)], a[mask & (a < 500)])
    chunks = x[m].chunks[0]
    assert sum(chunks) == mask.sum()
    assert len(chunks) >= min(8, mask.sum() // 4096)


def test_eval(tmp_path):
    """Numbers of elements are computed before the rest, by the same executor."""
    rng = np.random.default_rng(3)
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    a, b = rng.normal(size=300).round(1), rng.integers(0, 9, (20, 7))
    a[::50] = np.nan
    for name, value, chunks in (("a", a, (40,)), ("b", b, (6, 3))):
        z = group.create_array(name, shape=value.shape, chunks=chunks, dtype=value.dtype)
        z[...] = value
    text = (
        "m=compress(a, a > 0.5); n=compress(a, a > 99); u=unique_values(a); v, c=unique_counts(b)"
    )
    got = the_same_bits(text, "--in", tmp_path / "g.zarr")
    np.testing.assert_array_equal(got["m"], a[a > 0.5])
    np.testing.assert_array_equal(got["n"], a[a > 99])
    np.testing.assert_array_equal(got["u"], np.unique(a, equal_nan=False))
    values, counts = np.unique(b, return_counts=True)
    np.testing.assert_array_equal(got["v"], values)
    np.testing.assert_array_equal(got["c"], counts)
    for expression, message in {
        "compress(b, b > 3)": "expected one dimension",
        "compress(a, b > 3)": "the mask has 2 dimensions",
        "unique_counts(a)": "unique_counts",
        "unique_values(a, b)": "takes 1 argument",
    }.items():
        result = run("eval", expression, "--in", tmp_path / "g.zarr")
        assert result.code != 0, expression
        assert message in result.err
    assert not list(tmp_path.glob("cubed-*"))


def test_unique_in_parts(tmp_path):
    """Of 5 times the memory of a task, which sorts it in parts."""
    a = np.random.default_rng(5).integers(0, 500, 250_000, dtype="int32")
    z = zarr.create_array(
        tmp_path / "x.zarr", shape=a.shape, chunks=(10_000,), dtype="i4", compressors=None
    )
    z[...] = a
    limits = ("--allowed-mem", "24.2MB", "--reserved-mem", "24MB", "--max-workers", "2")
    text = "v, c = unique_counts(x)"
    result = check(run("eval", text, "--in", f"x={tmp_path / 'x.zarr'}", *limits, "--json"))
    stats = result.run
    assert a.nbytes >= 5 * (stats["allowed_mem"] - stats["reserved_mem"])
    assert stats["measured_mem"] <= stats["projected_mem"] <= 200_000
    values, counts = np.unique(a, return_counts=True)
    np.testing.assert_array_equal(result.arrays()["v"], values)
    np.testing.assert_array_equal(result.arrays()["c"], counts)
