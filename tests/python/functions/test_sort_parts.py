"""Sorts lines that no task can hold in parts, which are merged, and compares them with NumPy."""

import math

import cubed
import numpy as np
import pytest
from conftest import check, run
from hypothesis import given, settings
from hypothesis import strategies as st
from watched import Watch, computed

import zarr

# A quarter of what a task may use is 25 kB.
SPEC = cubed.Spec(allowed_mem="1.2MB", reserved_mem="1.1MB")
LARGE = cubed.Spec(allowed_mem="60MB", reserved_mem="10MB")
TINY = cubed.Spec(allowed_mem="1.13MB", reserved_mem="1.1MB")
DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
DTYPES += ["complex64", "complex128", "datetime64[s]", "S3", "U3"]


def values(rng, n, dtype):
    """Values with ties, at all scales, with infinities, NaN and zeros of both signs."""
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        x = values(rng, n, dtype.type().real.dtype).astype(dtype)
        x.imag = values(rng, n, x.imag.dtype)
        return x
    if dtype.kind == "M":
        x = values(rng, n, "int64")
        return np.where(rng.random(n) < 0.1, np.iinfo("int64").min, x).astype(dtype)
    if dtype.kind in "SU":
        letters = np.array(
            ["", "a", "b", "ab"] + ([] if dtype.kind == "S" else ["\xe9", "\U0001d11e"])
        )
        letters = letters.astype(dtype)
        return np.char.add(rng.choice(letters, n), rng.choice(letters, n)).astype(dtype)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        return np.where(rng.random(n) < 0.5, x % 7, x).astype(dtype)
    x = (rng.normal(size=n) * 20).round(1)
    if dtype.kind == "b":
        return x > 3
    special = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    return np.where(rng.random(n) < 0.1, rng.choice(special, n), x.astype(dtype)).astype(dtype)


def order_of(a, descending):
    """Positions in order; equal ones stay in theirs."""
    if not descending:
        return np.argsort(a, kind="stable")
    return np.flip(len(a) - 1 - np.argsort(np.flip(a), kind="stable"))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_types(dtype, descending):
    a = values(np.random.default_rng(1), 40_000, dtype)
    x = cubed.from_array(a, chunks=(900,), spec=SPEC)
    order = order_of(a, descending)
    ordered = cubed.sort(x, descending=descending)
    assert len(ordered.chunks[0]) > 1
    got = computed(ordered)
    assert got.dtype == a.dtype
    assert got.tobytes() == a[order].tobytes()
    positions = cubed.argsort(x, descending=descending)
    np.testing.assert_array_equal(computed(positions), order)
    for executor in ("single-threaded", "threads"):
        again = cubed.sort(x, descending=descending).compute(
            executor=executor, optimize_graph=False
        )
        assert again.tobytes() == got.tobytes()


@pytest.mark.parametrize(
    "a",
    [
        np.zeros(20_000),
        np.arange(20_000.0)[::-1].copy(),
        np.repeat([3.0, 1.0, 2.0], 7000),
        np.full(9000, np.nan),
        np.full(20_000, np.inf),
        np.full(20_000, 2**64 - 1, "uint64"),
    ],
    ids=["equal", "reversed", "runs", "nan", "inf", "ones"],
)
def test_ties(a):
    x = cubed.from_array(a, chunks=(1234,), spec=SPEC)
    assert cubed.sort(x).compute().tobytes() == np.sort(a, kind="stable").tobytes()
    np.testing.assert_array_equal(cubed.argsort(x).compute(), np.argsort(a, kind="stable"))
    down = cubed.argsort(x, descending=True).compute()
    np.testing.assert_array_equal(down, order_of(a, True))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_axes(axis):
    """Lines along each axis, next to which chunks have to be cut."""
    shape = [3, 2, 4]
    shape[axis] = 9000
    a = values(np.random.default_rng(7), math.prod(shape), "float64").reshape(shape)
    chunks = [2, 2, 2]
    chunks[axis] = 300
    x = cubed.from_array(a, chunks=tuple(chunks), spec=SPEC)
    want = np.argsort(a, axis=axis, kind="stable")
    np.testing.assert_array_equal(computed(cubed.argsort(x, axis=axis)), want)
    got = computed(cubed.sort(x, axis=axis))
    assert got.tobytes() == np.take_along_axis(a, want, axis).tobytes()


@pytest.mark.parametrize("dtype", ["int8", "float64", "complex64"])
def test_several_merges(dtype):
    """A hundred parts and more, few of which can be merged at a time; parts of unequal runs."""
    a = values(np.random.default_rng(8), 40_001, dtype)
    x = cubed.from_array(a, chunks=(170,), spec=TINY)
    want = order_of(a, True)
    positions = cubed.argsort(x, descending=True)
    merges = [s for s in positions.plan().stages if "merge_runs" in s["name"]]
    assert len(merges) > 1
    np.testing.assert_array_equal(computed(positions), want)
    got = computed(cubed.sort(x, descending=True))
    assert got.tobytes() == a[want].tobytes()


@settings(max_examples=12, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(2000, 9000),
    chunk=st.integers(40, 700),
    distinct=st.integers(1, 3000),
    dtype=st.sampled_from(DTYPES),
    descending=st.booleans(),
    presorted=st.sampled_from(["no", "up", "down"]),
)
def test_random(seed, n, chunk, distinct, dtype, descending, presorted):
    rng = np.random.default_rng(seed)
    a = values(rng, distinct, dtype)[rng.integers(0, distinct, n)]
    if presorted != "no":
        a = a[order_of(a, presorted == "down")]
    x = cubed.from_array(a, chunks=(chunk,), spec=TINY)
    want = order_of(a, descending)
    positions = computed(cubed.argsort(x, descending=descending))
    np.testing.assert_array_equal(positions, want)
    assert computed(cubed.sort(x, descending=descending)).tobytes() == a[want].tobytes()


def test_reads_are_linear():
    """What merging reads is what there is and a quarter more at most, and little beside it."""
    spec = cubed.Spec(allowed_mem="3MB", reserved_mem="1MB")
    for n in (400_000, 1_600_000):
        x = cubed.from_array(np.random.default_rng(9).random(n), chunks=(20_000,), spec=spec)
        watch = Watch()
        cubed.sort(x).compute(callbacks=[watch])
        assert 8 * n <= sum(e.bytes_read for e in watch.ends) <= 1.4 * 8 * n


def test_of_an_expression():
    """A slice with a short first chunk, computed on the fly; the result is used by others."""
    a = values(np.random.default_rng(2), 30_000, "float32")
    x = cubed.from_array(a, chunks=(1000,), spec=SPEC)[17:] * 2
    want = np.sort(a[17:] * np.float32(2))
    np.testing.assert_array_equal(cubed.sort(x)[::-1].compute(), want[::-1])


def test_unique():
    a = np.random.default_rng(3).integers(0, 2000, 40_000)
    x = cubed.from_array(a, chunks=(1500,), spec=SPEC)
    values_, indices, inverse, counts = np.unique(
        a, return_index=True, return_inverse=True, return_counts=True
    )
    got = cubed.unique_all(x)
    np.testing.assert_array_equal(computed(got.values), values_)
    np.testing.assert_array_equal(computed(got.indices), indices)
    np.testing.assert_array_equal(computed(got.counts), counts)
    np.testing.assert_array_equal(computed(got.inverse_indices), inverse)


def test_20_times_the_memory(tmp_path):
    a = np.random.default_rng(4).normal(size=600_000)
    z = zarr.create_array(
        tmp_path / "x.zarr", shape=a.shape, chunks=(6000,), dtype="f8", compressors=None
    )
    z[...] = a
    raw = '[{"name": "bytes", "configuration": {"endian": "little"}}]'
    want = {"sort": np.sort(a), "argsort": np.argsort(a, kind="stable")}
    for executor, name in (
        ("threads", "sort"),
        ("single-threaded", "argsort"),
        ("processes", "sort"),
    ):
        out = tmp_path / f"{executor}.zarr"
        limits = ("--allowed-mem", "24.24MB", "--reserved-mem", "24MB", "--max-workers", "2")
        places = ("--in", f"x={tmp_path / 'x.zarr'}", "--out", out, "--work-dir", tmp_path)
        options = (*limits, "--codecs", raw, "--executor", executor, "--json")
        stats = check(run("eval", f"{name}(x)", *places, *options)).run
        assert a.nbytes >= 20 * (stats["allowed_mem"] - stats["reserved_mem"])
        assert stats["measured_mem"] <= stats["projected_mem"] <= 240_000
        np.testing.assert_array_equal(zarr.open_array(out)[...], want[name])
