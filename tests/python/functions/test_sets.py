"""Compares masks, coordinates and sets with NumPy: functions whose shapes depend on values."""

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
    max_examples=conftest.cases(10),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
DTYPES = ["bool", "int8", "int64", "uint16", "float32", "float64"]


def same(x, want):
    """The values, within the projected memory; the same bits where nothing is optimised."""
    got = computed(x)
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


@many
@given(cases(), st.integers(0, 2))
def test_repeat_and_isin(case, axis):
    a, x = case
    axis = axis % (a.ndim + 1)
    which = None if axis == a.ndim else axis
    n = a.size if which is None else a.shape[axis]
    times = np.arange(n) % 4
    same(cubed.repeat(x, times, axis=which), np.repeat(a, times, axis=which))
    among = np.asarray([0, 1, 4, np.nan]).astype(a.dtype) if a.dtype.kind == "f" else a.ravel()[::3]
    for invert in (False, True):
        want = np.isin(a, among, invert=invert)
        same(cubed.isin(x, cubed.from_array(among, chunks=(2,), spec=SPEC), invert=invert), want)


NUMBERS = "?bhilBHILefdFD"


def _some(rng, code, shape):
    """Few different elements, and the ends of the type."""
    x = rng.integers(-4, 12, shape).astype(code)
    kind = x.dtype.kind
    ends = [0, -0.0, np.inf, -np.inf, np.nan] if kind in "fc" else [0, 1]
    if kind in "iu":
        ends = [np.iinfo(code).min, np.iinfo(code).max, 0]
    x[rng.random(shape) < 0.2] = rng.choice(np.array(ends, code))
    if kind == "c":
        x.imag[...] = rng.choice(np.array([0, -0.0, 1, np.nan], x.imag.dtype), shape)
    return x


def _exactly(a, among):
    """As Python compares: NumPy takes int64 and uint64 for floats."""
    members = set(among.ravel().tolist())  # NaN are objects of their own
    found = [v in members for v in a.ravel().tolist()]
    return np.array(found, bool).reshape(a.shape)


def test_members_of_any_types_and_chunks():
    rng = np.random.default_rng(8)
    for i in range(conftest.cases(200)):
        shapes = [tuple(rng.integers(1 if i % 9 else 0, 7, rng.integers(0, 4))) for _ in range(2)]
        codes = [rng.choice(list(NUMBERS)) for _ in range(2)]
        a, b = (_some(rng, c, s) for c, s in zip(codes, shapes, strict=True))
        both = np.promote_types(a.dtype, b.dtype)
        want = _exactly(a, b) if {a.dtype.kind, b.dtype.kind} <= {*"iu"} else np.isin(a, b)
        if both.kind in "fc" and a.dtype.kind + b.dtype.kind in ("if", "fi", "uf", "fu"):
            want = np.isin(a.astype(both), b.astype(both))
        x, among = (
            cubed.from_array(v, chunks=tuple(rng.integers(1, 5, v.ndim)), spec=SPEC) for v in (a, b)
        )
        invert = bool(rng.integers(2))
        same(cubed.isin(x, among, invert=invert), want ^ invert)


def test_members_need_as_much_memory_as_a_block_of_them():
    """The plan does not depend on what is allowed, but for the lengths of blocks."""
    x = cubed.random.random((400, 500), chunks=(400, 500), spec=cubed.Spec(allowed_mem="1MB"))
    among = cubed.random.random((90000,), chunks=(90000,), spec=x.spec)
    plan = cubed.isin(x, among, invert=True).plan()
    assert plan.max_projected_mem <= 1_000_000
    assert not cubed.isin(x, among).compute().any()


@pytest.mark.parametrize("times", [0, True, 3])
def test_one_number_of_repeats_is_not_computed(times, monkeypatch):
    a = np.arange(6.0).reshape(2, 3)
    x = cubed.asarray(a, chunks=(1, 2))
    with monkeypatch.context() as m:
        m.setattr("cubed.array._above.compute", None)
        made = [cubed.repeat(x, times), cubed.repeat(x, times, axis=-1)]
    same(made[0], np.repeat(a, times))
    same(made[1], np.repeat(a, times, axis=-1))
    with pytest.raises(TypeError, match="repeats .* is 1.5, expected an array or an integer"):
        cubed.repeat(x, 1.5)


def test_complex_members_and_one_repeat_for_all():
    a = np.asarray([1 + 1j, 2, 3j, np.nan])
    x = cubed.from_array(a, chunks=(2,), spec=SPEC)
    same(cubed.isin(x, np.asarray([2, 1 + 1j])), np.isin(a, [2, 1 + 1j]))
    same(cubed.repeat(x, np.asarray([2])), np.repeat(a, 2))
    with pytest.raises(ValueError, match="negative"):
        cubed.repeat(x, np.asarray([1, -1, 1, 1]))
    with pytest.raises(TypeError, match="float64, expected integers"):
        cubed.repeat(x, np.asarray([1.0, 1, 1, 1]))
    with pytest.raises(ValueError, match="3 repeats for an axis of 4"):
        cubed.repeat(x, np.asarray([1, 1, 1]))


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
    text = """m=compress(a, a > 0.5); n=compress(a, a > 99); u=unique_values(a)
        v, c = unique_counts(b); i, j = nonzero(b > 3); k = nonzero(a > 99)
        w, t = unique_inverse(a); p, q, r, s = unique_all(b); e = isin(b, (2, 5))
        f = isin(a, a[:9] + 0.5, invert=True); g = repeat(a, int64(a > 0) * 3)
        h = repeat(b, b[0], axis=1)"""
    got = the_same_bits(text, "--in", tmp_path / "g.zarr")
    with np.errstate(invalid="ignore"):
        wanted = {
            **dict(zip("ij", np.nonzero(b > 3), strict=True)),
            "k": np.nonzero(a > 99)[0],
            "w": np.unique(a, equal_nan=False),
            # With return_index NumPy keeps the order of NaN.
            "t": np.unique(a, True, True, equal_nan=False)[2].reshape(a.shape),
            "q": np.unique(b, return_index=True)[1],
            "r": np.unique(b, return_inverse=True)[1].reshape(b.shape),
            "e": np.isin(b, [2, 5]),
            "f": np.isin(a, a[:9] + 0.5, invert=True),
            "g": np.repeat(a, (a > 0) * 3),
            "h": np.repeat(b, b[0], axis=1),
        }
    for name, want in wanted.items():
        np.testing.assert_array_equal(got[name], want, err_msg=name)
    np.testing.assert_array_equal(got["m"], a[a > 0.5])
    np.testing.assert_array_equal(got["n"], a[a > 99])
    np.testing.assert_array_equal(got["u"], np.unique(a, equal_nan=False))
    values, counts = np.unique(b, return_counts=True)
    for name, want in (("v", values), ("p", values), ("c", counts), ("s", counts)):
        np.testing.assert_array_equal(got[name], want)
    for expression, message in {
        "compress(b, b > 3)": "compress: x has 2 dimensions, expected one",
        "compress(a, b > 3)": "the mask has 2 dimensions",
        "unique_counts(a)": "unique_counts",
        "unique_values(a, b)": "unique_values: equal_nan is an array",
        "i, j = nonzero(a)": "nonzero returns 1 arrays, 2 are named",
        "nonzero(b)": "nonzero returns 2 arrays",
        "v, c = unique_counts(nonzero(b))": "nonzero returns 2 arrays",
        "u, v, w = unique_all(a)": "unique_all returns 4 arrays, 3 are named",
        "repeat(a, b[0])": "7 repeats for an axis of 300 elements",
        "repeat(b, b[0] - 5, axis=1)": "some repeats are negative",
        "repeat(a, a)": "repeats are float64, expected integers",
        "isin(a, ())": "expected numbers, or an array",
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


@pytest.mark.parametrize(
    "text",
    [
        "v, i, j, c = unique_all(x)",
        "i = nonzero(x > 490)",
        "m = isin(x, x[::50] * 3)",
        "r = repeat(x, x > 400)",
    ],
)
def test_more_than_the_memory_of_a_task(tmp_path, text):
    """Of 5 times that, as a whole."""
    a = np.random.default_rng(6).integers(0, 500, 250_000, dtype="int32")
    z = zarr.create_array(
        tmp_path / "x.zarr", shape=a.shape, chunks=(10_000,), dtype="i4", compressors=None
    )
    z[...] = a
    limits = ("--allowed-mem", "24.2MB", "--reserved-mem", "24MB", "--max-workers", "2")
    result = check(run("eval", text, "--in", f"x={tmp_path / 'x.zarr'}", *limits, "--json"))
    stats = result.run
    assert a.nbytes >= 5 * (stats["allowed_mem"] - stats["reserved_mem"])
    assert stats["measured_mem"] <= stats["projected_mem"] <= 200_000
    values, first, inverse, counts = np.unique(a, True, True, True)
    wanted = {"v": values, "i": first, "j": inverse, "c": counts}
    if "nonzero" in text:
        wanted["i"] = np.nonzero(a > 490)[0]
    wanted |= {"m": np.isin(a, a[::50] * 3), "r": np.repeat(a, a > 400)}
    for name, got in result.arrays().items():
        np.testing.assert_array_equal(got, wanted[name], err_msg=name)


OPERATIONS = ("union1d", "intersect1d", "setdiff1d", "setxor1d")


@pytest.mark.parametrize("dtype", ["i8", "u1", "f4", "f8", "bool", "c16", "M8[s]", "U3"])
@pytest.mark.parametrize("sizes", [(0, 0), (0, 3), (1, 0), (1, 1), (5, 33), (40, 3)])
def test_operations_on_two_sets_against_numpy(dtype, sizes):
    rng = np.random.default_rng(sum(sizes))
    a, b = (rng.integers(0, 12, n).astype("i8").astype(dtype) for n in sizes)
    if dtype[0] in "fcM":
        a[::4] = b[::5] = np.datetime64("NaT") if dtype[0] == "M" else np.nan
    x, y = (cubed.from_array(v, chunks=7, spec=SPEC) for v in (a, b))
    for name in OPERATIONS:
        want = getattr(np, name)(a, b)
        got = getattr(cubed, name)(x, y).compute()
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want, err_msg=name)
    found = cubed.intersect1d(x, y, return_indices=True)
    for got, want in zip(found, np.intersect1d(a, b, return_indices=True), strict=True):
        np.testing.assert_array_equal(got.compute(), want)
    wanted = np.unique(a, True, True, True)
    for got, want in zip(cubed.unique(x, True, True, True), wanted, strict=True):
        np.testing.assert_array_equal(got.compute(), want)
