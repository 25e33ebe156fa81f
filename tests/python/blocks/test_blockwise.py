"""Compares functions on whole blocks with NumPy: sorting, products, searching."""

import functools

import numpy as np
import pytest
from conftest import ISAS, check, run

import zarr

EXECUTORS = ["threads", "single-threaded", "processes"]
REAL = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
COMPLEX = ["complex64", "complex128"]


def values(rng, shape, dtype):
    """Values at all scales, with ties, zeros of both signs and NaNs where there are some."""
    x = rng.normal(size=shape) * 50
    if np.dtype(dtype).kind == "c":
        x = x.round() + 1j * rng.normal(size=shape).round(1)
    if np.dtype(dtype).kind == "f":
        x = x.round(1)
    if np.dtype(dtype).kind == "b":
        return x > 0
    with np.errstate(invalid="ignore"):
        x = x.astype("int64").astype(dtype) if np.dtype(dtype).kind in "iu" else x.astype(dtype)
    if np.dtype(dtype).kind in "fc":
        flat = x.reshape(-1)
        special = [0.0, -0.0, np.nan, np.inf, -np.inf]
        if np.dtype(dtype).kind == "c":
            special += [complex(np.nan, 1), complex(1, np.nan), complex(2, np.nan), np.nan * 1j]
        n = flat.size // 4
        flat[rng.integers(0, max(1, flat.size), n)] = rng.choice(special, n)
    return x


def put(group, name, value, chunks):
    z = group.create_array(name, shape=value.shape, chunks=chunks, dtype=value.dtype)
    z[...] = value
    return value


def evaluate(expression, path, *options):
    result = check(run("eval", expression, "--in", path, "--json", "--progress", "none", *options))
    stats = result.run
    assert stats["measured_mem"] <= stats["projected_mem"]
    assert stats["projected_mem"] + stats["reserved_mem"] <= stats["allowed_mem"]
    return next(iter(result.arrays().values()))


def same(got, want, rtol=0.0):
    want = np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    if rtol:
        scale = float(np.max(np.abs(want), initial=1.0))
        np.testing.assert_allclose(got, want, rtol=rtol, atol=rtol * scale)
        return
    np.testing.assert_array_equal(got, want)
    if got.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


# --- Sorting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_sort_types(tmp_path, dtype):
    rng = np.random.default_rng(3)
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    x = put(group, "x", values(rng, (13, 150), dtype), (4, 37))
    for axis in (0, 1):
        same(evaluate(f"sort(x, axis={axis})", group.store.root), np.sort(x, axis, kind="stable"))
        order = np.argsort(x, axis, kind="stable")
        same(evaluate(f"argsort(x, axis={axis})", group.store.root), order)
        down = np.flip(x.shape[axis] - 1 - np.argsort(np.flip(x, axis), axis, kind="stable"), axis)
        same(evaluate(f"argsort(x, axis={axis}, descending=True)", group.store.root), down)
        same(
            evaluate(f"sort(x, axis={axis}, descending=True)", group.store.root),
            np.take_along_axis(x, down, axis),
        )


SHAPES = [
    ((7,), (1,)),
    ((1000,), (64,)),
    ((5, 0, 3), (2, 1, 2)),
    ((0, 4), (1, 3)),
    ((1, 1), (1, 1)),
]
SHAPES += [((9, 8, 7), (1, 1, 1)), ((9, 8, 7), (9, 8, 7)), ((9, 8, 7), (2, 5, 3))]


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(("shape", "chunks"), SHAPES)
def test_sort_grids(tmp_path, shape, chunks, executor):
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    x = put(group, "x", values(np.random.default_rng(1), shape, "float64"), chunks)
    for axis in range(-1, x.ndim - 1):
        for options in ([], ["--no-optimize"], ["--through-bytes"]):
            options = ["--executor", executor, *options]
            same(
                evaluate(f"sort(x, axis={axis})", group.store.root, *options),
                np.sort(x, axis, kind="stable"),
            )


def test_sort_inside_expressions(tmp_path):
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    rng = np.random.default_rng(2)
    x = put(group, "x", rng.normal(size=(31, 17)), (5, 4))
    path = group.store.root
    same(evaluate("sort(x[::-1, 3:] * 2, axis=0) + 1", path), np.sort(x[::-1, 3:] * 2, 0) + 1)
    same(evaluate("sort(sum(x, axis=0), axis=0)", path), np.sort(x.sum(0)), 1e-12)
    same(evaluate("sum(sort(x, axis=1) * x, axis=0)", path), (np.sort(x, 1) * x).sum(0), 1e-12)
    same(evaluate("sort(concat([x, x + 1], axis=1), axis=1)", path), np.sort(np.c_[x, x + 1], 1))
    same(evaluate("sort(sort(x, axis=0), axis=1)", path), np.sort(np.sort(x, 0), 1))
    z = put(group, "z", rng.permutation(16).reshape(2, 8), (2, 8))
    # In the shape of what is stored, and in one chunk of it, but in another order.
    same(evaluate("sort(reshape(transpose(z), (2, 8)), axis=1)", path), np.sort(z.T.reshape(2, 8)))
    same(evaluate("sort(reshape(x, (17, 31)), axis=0)", path), np.sort(x.reshape(17, 31), 0))
    both = check(run("eval", "a=sort(x, axis=0);b=argsort(x, axis=0);c=sort(x,axis=0)*2", "--in",
                     path, "--json"))  # fmt: skip
    got = both.arrays()
    same(got["a"], np.sort(x, 0))
    same(got["b"], np.argsort(x, 0, kind="stable"))
    same(got["c"], np.sort(x, 0) * 2)


def test_sort_of_times(tmp_path):
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    x = np.random.default_rng(1).integers(-1000, 1000, 300).astype("datetime64[ns]")
    x[::7] = "NaT"
    put(group, "x", x, (40,))
    check(run("eval", "y=sort(x, axis=0)", "--in", group.store.root, "--out", tmp_path / "y.zarr"))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y.zarr", path="y")[...], np.sort(x))


# --- Memory -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """48 MB each: more than twenty times what is allowed in addition to what is reserved."""
    path = tmp_path_factory.mktemp("large") / "x.zarr"
    group = zarr.open_group(path, mode="w")
    rng = np.random.default_rng(5)
    for name in "ab":
        put(group, name, rng.normal(size=(2450, 2450)), (250, 250))
    return path


@functools.lru_cache(maxsize=1)  # two tests in a row are of the same expression
def computed_by_numpy(path, reference):
    group = zarr.open_group(path, mode="r")
    return reference(group["a"][...], group["b"][...])


@pytest.mark.parametrize(
    ("expression", "reference", "executor"),
    [
        ("sort(a, axis=0)", lambda a, b: np.sort(a, 0), "threads"),
        ("sort(a, axis=1)", lambda a, b: np.sort(a, 1), "processes"),
        ("argsort(a + b, axis=1)", lambda a, b: np.argsort(a + b, 1), "threads"),
        ("argsort(a + b, axis=1)", lambda a, b: np.argsort(a + b, 1), "processes"),
        ("matmul(a, b)", lambda a, b: a @ b, "threads"),
        ("matmul(transpose(a), b + 1)", lambda a, b: a.T @ (b + 1), "processes"),
    ],
)
def test_memory(tmp_path, large, expression, reference, executor):
    out = tmp_path / "y.zarr"
    result = check(
        run(
            "eval",
            f"y={expression}",
            "--in",
            large,
            "--out",
            out,
            "--allowed-mem",
            "18.9MB",
            "--max-workers",
            "2",
            "--json",
            "--executor",
            executor,
        )  # fmt: skip
    )
    stats = result.run
    assert stats["measured_mem"] <= stats["projected_mem"]
    assert stats["projected_mem"] + stats["reserved_mem"] <= stats["allowed_mem"]
    want = computed_by_numpy(large, reference)
    got = zarr.open_array(out, path="y", mode="r")[...]
    if want.dtype.kind == "f" and "matmul" in expression:
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-9)
    else:
        np.testing.assert_array_equal(got, want)


def test_what_does_not_fit_is_refused(tmp_path):
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    group.create_array("x", shape=(10**4, 10**4), chunks=(1000, 1000), dtype="f8")
    options = ["--in", group.store.root, "--allowed-mem", "100MB"]
    result = run("eval", "max(eigvalsh(x))", *options)
    assert result.code == 1
    assert "allow at least" in result.err


# --- Products -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def matrices(tmp_path_factory):
    path = tmp_path_factory.mktemp("matrices") / "m.zarr"
    group = zarr.open_group(path, mode="w")
    rng = np.random.default_rng(7)

    def make(name, shape, chunks, dtype="f8"):
        return put(group, name, rng.integers(-100, 100, shape).astype(dtype), chunks)

    arrays = {
        "a": make("a", (70, 90), (13, 17)),
        "b": make("b", (90, 50), (7, 50)),
        "p": make("p", (5, 1, 20, 30), (2, 1, 7, 9)),
        "q": make("q", (4, 30, 11), (3, 4, 5)),
        "u": make("u", (70,), (30,)),
        "v": make("v", (90,), (11,)),
        "none": make("none", (0, 90), (1, 17)),
        "left": make("left", (70, 0), (13, 1)),
        "right": make("right", (0, 6), (1, 5)),
    }
    return path, arrays


PRODUCTS = {
    "matmul(a, b)": lambda a, b, **_: a @ b,
    "matmul(a + 1, b * 2)": lambda a, b, **_: (a + 1) @ (b * 2),
    "matmul(a[::-2, 1:], b[:-1][:, 3:9])": lambda a, b, **_: a[::-2, 1:] @ b[:-1][:, 3:9],
    "matmul(p, q)": lambda p, q, **_: p @ q,
    "matmul(q[0:1], transpose(q, (0, 2, 1)))": lambda q, **_: q[0:1] @ q.transpose(0, 2, 1),
    "matmul(a, v)": lambda a, v, **_: a @ v,
    "matmul(u, a)": lambda a, u, **_: u @ a,
    "matmul(v, v)": lambda v, **_: v @ v,
    "matmul(v[:30], q)": lambda q, v, **_: v[:30] @ q,
    "matmul(none, b)": lambda none, b, **_: none @ b,
    "matmul(left, right)": lambda left, right, **_: left @ right,
    "matmul(a * 1j + 1, b * (2 + 1j))": lambda a, b, **_: (a * 1j + 1) @ (b * (2 + 1j)),
    "matmul(matmul(a, b), transpose(b))": lambda a, b, **_: a @ b @ b.T,
    "sum(matmul(a, b), axis=0)": lambda a, b, **_: (a @ b).sum(0),
    "tensordot(p, q, axes=((3,), (1,)))": lambda p, q, **_: np.tensordot(p, q, ((3,), (1,))),
    "tensordot(p, p, axes=((0, 2), (0, 2)))": lambda p, **_: np.tensordot(p, p, ((0, 2), (0, 2))),
    "tensordot(p, p, axes=((2, 0), (2, 0)))": lambda p, **_: np.tensordot(p, p, ((2, 0), (2, 0))),
    "tensordot(p, p, axes=4)": lambda p, **_: np.tensordot(p, p, 4),
    "tensordot(u, v, axes=0)": lambda u, v, **_: np.tensordot(u, v, 0),
    "tensordot(a, v, axes=1)": lambda a, v, **_: np.tensordot(a, v, 1),
    "tensordot(u, a, axes=1)": lambda a, u, **_: np.tensordot(u, a, 1),
    "tensordot(a, b, axes=1)": lambda a, b, **_: np.tensordot(a, b, 1),
    'einsum("ij,jk->ik", a, b)': lambda a, b, **_: a @ b,
    'einsum("ij, j", a, v)': lambda a, v, **_: a @ v,
    'einsum("ab...->b", p)': lambda p, **_: p.sum((0, 2, 3)),
    'einsum("abcd,abce,ab->de", p, p, p[:, :, 0, 0])': lambda p, **_: np.einsum(
        "abcd,abce,ab->de", p, p, p[:, :, 0, 0]
    ),
    "vecdot(a * 1j, v * (1 + 1j))": lambda a, v, **_: (-1j * a * (v * (1 + 1j))).sum(-1),
    "vecdot(a, a, axis=-2)": lambda a, **_: (a * a).sum(-2),
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("expression", PRODUCTS)
def test_products(matrices, expression, executor):
    path, arrays = matrices
    want = PRODUCTS[expression](**arrays)
    for options in ([], ["--no-optimize"], ["--through-bytes"]):
        same(evaluate(expression, path, "--executor", executor, *options), want, 1e-13)


@pytest.mark.parametrize("dtype", REAL + COMPLEX)
def test_product_types(tmp_path, dtype):
    rng = np.random.default_rng(8)
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    wide = rng.integers(0, 2, (40, 60)) if dtype == "bool" else rng.integers(-99, 99, (40, 60))
    x = put(group, "x", wide.astype(dtype), (11, 60))
    y = put(group, "y", (wide.T[:, :7] // 2).astype(dtype), (50, 7))
    for isa in (*ISAS, None):
        options = ["--isa", isa] if isa else []
        same(evaluate("matmul(x, y)", group.store.root, *options), x @ y)
        same(evaluate("matmul(x, y[:, 0])", group.store.root, *options), x @ y[:, 0])


def test_products_are_refused(matrices):
    path, _ = matrices
    for expression, message in {
        "matmul(a, a)": "the summed axes have 90 and 70 elements",
        "matmul(p, p)": "the summed axes have",
        "matmul(p[:, :, :, :20], stack([p[0, 0]] * 3, axis=0))": "",
        "matmul(1, a)": "has no dimensions, expected at least 1",
        "tensordot(a, b, axes=((0,), (0,)))": "the summed axes have 70 and 90 elements",
        "tensordot(a, b, axes=((1, 1), (0, 0)))": "is given twice",
        "vecdot(a, u)": "the summed axes have 90 and 70 elements",
        "sort(a, axis=2)": "axis 2",
    }.items():
        result = run("eval", expression, "--in", path)
        assert result.code == 1, expression
        assert message in result.err


# --- Indexing and searching ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def positions(tmp_path_factory):
    path = tmp_path_factory.mktemp("positions") / "m.zarr"
    group = zarr.open_group(path, mode="w")
    rng = np.random.default_rng(7)
    ends = [np.nan, np.inf, -np.inf]
    arrays = {
        "x": put(group, "x", rng.normal(size=(70, 9, 11)), (13, 2, 4)),
        "i": put(group, "i", rng.integers(-70, 70, 33).astype("i2"), (7,)),
        "j": put(group, "j", rng.integers(0, 9, 33).astype("u1"), (33,)),
        "k": put(group, "k", rng.integers(-9, 9, (70, 5, 11)), (20, 5, 3)),
        "k1": put(group, "k1", rng.integers(-9, 9, (1, 5, 1)), (1, 2, 1)),
        "s": put(group, "s", np.sort(np.r_[rng.normal(size=90).round(1), ends, ends]), (11,)),
        "v": put(group, "v", np.r_[rng.normal(size=50).round(1), ends].reshape(53, 1), (30, 1)),
        "o": put(group, "o", rng.permutation(96), (50,)),
        "n": put(group, "n", np.zeros(0, "i8"), (3,)),
        "bad": put(group, "bad", np.array([3, 70]), (1,)),
    }
    return path, arrays


PICKS = {
    "take(x, i, axis=0)": lambda x, i, **_: np.take(x, i, 0),
    "take(x, j, axis=1)": lambda x, j, **_: np.take(x, j, 1),
    "take(x * 2, j + 1, axis=2)": lambda x, j, **_: np.take(x * 2, j + 1, 2),
    "take(s, o)": lambda s, o, **_: s[o],
    "take(x, n, axis=0)": lambda x, n, **_: np.take(x, n, 0),
    "take_along_axis(x, k, axis=1)": lambda x, k, **_: np.take_along_axis(x, k, 1),
    "take_along_axis(x, k1, axis=1)": lambda x, k1, **_: np.take_along_axis(x, k1, 1),
    "take_along_axis(x, argsort(x, axis=0), axis=0)": lambda x, **_: np.sort(x, 0),
    "searchsorted(s, v)": lambda s, v, **_: np.searchsorted(s, v),
    'searchsorted(s, v, side="right")': lambda s, v, **_: np.searchsorted(s, v, "right"),
    "searchsorted(take(s, o), v, sorter=argsort(o))": lambda s, v, **_: np.searchsorted(s, v),
    'searchsorted(float32(s), v, side="right")': lambda s, v, **_: np.searchsorted(
        s.astype("f4"), v, "right"
    ),
    "searchsorted(sort(i), j)": lambda i, j, **_: np.searchsorted(np.sort(i), j),
    "searchsorted(n, j)": lambda n, j, **_: np.searchsorted(n, j),
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("expression", PICKS)
def test_positions(positions, expression, executor):
    path, arrays = positions
    want = PICKS[expression](**arrays)
    for options in ([], ["--no-optimize"], ["--through-bytes"]):
        same(evaluate(expression, path, "--executor", executor, *options), want)


def test_positions_out_of_range(positions):
    path, _ = positions
    for expression, message in {
        "take(x, bad, axis=0)": "position 70 is out of bounds for axis 0 of 70 elements",
        "take(x, bad - 80, axis=0)": "position -77 is out of bounds for axis 0",
        "take_along_axis(x, k + 9, axis=1)": "is out of bounds for axis 1",
        "take(n, i, axis=0)": "axis 0 has no elements",
        "take(x, s, axis=0)": "expected integers",
        "take(x, i)": "axis is needed",
    }.items():
        result = run("eval", expression, "--in", path)
        assert result.code == 1, expression
        assert message in result.err


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(("n", "chunk", "mask_chunk"), [(1, 1, 1), (1000, 64, 100), (999, 999, 7)])
def test_compress(tmp_path, n, chunk, mask_chunk, executor):
    rng = np.random.default_rng(n)
    group = zarr.open_group(tmp_path / "g.zarr", mode="w")
    path = group.store.root
    x = put(group, "x", rng.normal(size=n), (chunk,))
    for name, share in {"none": 0, "few": 0.05, "half": 0.5, "all": 1}.items():
        m = put(group, name, rng.random(n) < share, (mask_chunk,))
        count = int(m.sum())
        for options in ([], ["--no-optimize"], ["--through-bytes"]):
            options = ["--executor", executor, *options]
            same(evaluate(f"compress(x, {name}, {count})", path, *options), x[m])
            expression = f"sum(compress(x * 2, {name} & (x > 0), {(m & (x > 0)).sum()}), axis=0)"
            same(evaluate(expression, path, *options), (x * 2)[m & (x > 0)].sum(), 1e-12)
        for other in {max(0, count - 1), min(n, count + 1)} - {count}:
            result = run("eval", f"compress(x, {name}, {other})", "--in", path)
            if other == 0 and count:  # nothing is to be made: nobody looks at the mask
                continue
            assert result.code == 1
            assert f"the mask does not have {other} true elements" in result.err


def test_compress_memory(tmp_path):
    path = tmp_path / "y.zarr"
    flat = zarr.create_array(tmp_path / "flat.zarr", shape=6_000_000, chunks=(60_000,), dtype="f8")
    values = np.random.default_rng(4).normal(size=6_000_000)
    flat[...] = values
    result = check(
        run(
            "eval",
            f"y=compress(x, x > 1, {(values > 1).sum()})",
            "--in",
            f"x={flat.store.root}",
            "--out",
            path,
            "--allowed-mem",
            "19.6MB",
            "--max-workers",
            "2",
            "--json",
        )  # fmt: skip
    )
    assert result.run["measured_mem"] <= result.run["projected_mem"]
    np.testing.assert_array_equal(zarr.open_array(path, path="y")[...], values[values > 1])
