"""Masks, coordinates and sets: functions whose shapes depend on values, against NumPy."""

import cubed
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from conftest import check, run
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
