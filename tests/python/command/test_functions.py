"""Compares functions of expressions that accept numbers, shapes and types with NumPy."""

import cubed
import numpy as np
import pytest
from conftest import check, inputs, run, the_same_bits

import zarr

CASES = [
    ("arange(7)", lambda x: np.arange(7)),
    ("arange(2, -9, -3)", lambda x: np.arange(2, -9, -3)),
    ("arange(0.5, 3)", lambda x: np.arange(0.5, 3)),
    ("arange(3, 3)", lambda x: np.arange(3, 3)),
    ('arange(0, 200, 2, dtype="uint8")', lambda x: np.arange(0, 200, 2, dtype="u1")),
    ("linspace(0, 1, 7)", lambda x: np.linspace(0, 1, 7)),
    ("linspace(0, 5)", lambda x: np.linspace(0, 5)),
    ("linspace(5, -2, 1)", lambda x: np.linspace(5, -2, 1)),
    ("linspace(0, 1, 0)", lambda x: np.linspace(0, 1, 0)),
    ("linspace(0, 3, 5, endpoint=False)", lambda x: np.linspace(0, 3, 5, endpoint=False)),
    ("eye(4)", lambda x: np.eye(4)),
    ("eye(3, 5, 2)", lambda x: np.eye(3, 5, 2)),
    ('eye(5, 3, k=-1, dtype="int16")', lambda x: np.eye(5, 3, -1, dtype="i2")),
    ("eye(0, 3)", lambda x: np.eye(0, 3)),
    ("zeros((2, 3)) + ones(3)", lambda x: np.zeros((2, 3)) + np.ones(3)),
    ("full((2, 2), -7)", lambda x: np.full((2, 2), -7)),
    ("tril(x)", lambda x: np.tril(x)),
    ("triu(x, 3)", lambda x: np.triu(x, 3)),
    ("tril(x, k=-20)", lambda x: np.tril(x, -20)),
    ("roll(x, 3, axis=0)", lambda x: np.roll(x, 3, axis=0)),
    ("roll(x, -40, axis=1)", lambda x: np.roll(x, -40, axis=1)),
    ("roll(x, (1, 5), axis=(0, 1))", lambda x: np.roll(x, (1, 5), axis=(0, 1))),
    ("roll(x, 2, axis=(1, 1))", lambda x: np.roll(x, (2, 2), axis=(1, 1))),
    ("roll(x, (1, 2))", lambda x: np.roll(x, 3)),
    ("roll(x, 1, axis=0) - x", lambda x: np.roll(x, 1, axis=0) - x),
    ("stack([x, x*2, x], axis=1)", lambda x: np.stack([x, x * 2, x], axis=1)),
    ("stack([x, float32(x)], axis=-1)", lambda x: np.stack([x, x.astype("f4")], axis=-1)),
    ("sum(stack([x, -x]), axis=0)", lambda x: np.zeros_like(x)),
    ("pad(x, 2)", lambda x: np.pad(x, 2)),
    (
        "pad(x, ((0, 3), (1, 0)), constant_values=-1.5)",
        lambda x: np.pad(x, ((0, 3), (1, 0)), constant_values=-1.5),
    ),
    ("pad(x, (0, 0))", lambda x: x),
    ("cumulative_sum(x, axis=0)", lambda x: np.cumsum(x, axis=0)),
    ("cumsum(x, axis=-1)[:, ::-1]", lambda x: np.cumsum(x, axis=-1)[:, ::-1]),
    ("cumprod(x, axis=1)", lambda x: np.cumprod(x, axis=1)),
    ("cumulative_sum(x[3])", lambda x: np.cumsum(x[3])),
    ("cumulative_sum(int8(x * 9), axis=0)", lambda x: np.cumsum((x * 9).astype("i1"), axis=0)),
    ("cumsum(uint8(x * x), axis=1)", lambda x: np.cumsum((x * x).astype("u1"), axis=1)),
    ("cumsum(x > 0, axis=0)", lambda x: np.cumsum(x > 0, axis=0)),
    (
        "cumprod(float32(x), axis=0)",
        lambda x: np.cumprod(x.astype("f4"), axis=0, dtype="f8").astype("f4"),
    ),
    ("cumsum(x * 1j, axis=0)", lambda x: np.cumsum(x * 1j, axis=0)),
    ("cumprod(complex64(x * (1+1j)), axis=1)", lambda x: cumprod_c8(x * (1 + 1j))),
    ("cumsum(x > mean(x), axis=0)", lambda x: np.cumsum(x > x.mean(), axis=0)),
    ("cumsum(cumsum(x, axis=0), axis=1)", lambda x: x.cumsum(0).cumsum(1)),
    (
        "cumulative_sum(x, axis=1, include_initial=True)",
        lambda x: np.concatenate([np.zeros((13, 1)), np.cumsum(x, axis=1)], axis=1),
    ),
    (
        "cumulative_prod(int32(x), axis=0, include_initial=True)",
        lambda x: np.concatenate([np.ones((1, 17), "i8"), np.cumprod(x.astype("i4"), axis=0)]),
    ),
    ("cumsum(x[:0], axis=0)", lambda x: np.zeros((0, 17))),
    ("cumsum(-0.0 * x**2, axis=0)", lambda x: np.full(x.shape, -0.0)),
    ("tile(x, (2, 1))", lambda x: np.tile(x, (2, 1))),
    ("tile(x, (1, 2, 20))", lambda x: np.tile(x, (1, 2, 20))),
    ("tile(x[0], (3, 0, 2))", lambda x: np.tile(x[0], (3, 0, 2))),
    ("tile(x, 2) - tile(x, 2)[::-1]", lambda x: np.tile(x, 2) - np.tile(x, 2)[::-1]),
    ("moveaxis(stack([x, -x]), 0, -1)", lambda x: np.stack([x, -x], axis=-1)),
    (
        "moveaxis(stack([x, -x]), (0, -1), (1, 0))",
        lambda x: np.moveaxis(np.stack([x, -x]), (0, -1), (1, 0)),
    ),
    ("diff(x)", lambda x: np.diff(x)),
    ("diff(x, axis=0, n=3)", lambda x: np.diff(x, axis=0, n=3)),
    ("diff(x, axis=0, n=14)", lambda x: np.diff(x, axis=0, n=14)),
    ("diff(x > 0, n=2)", lambda x: np.diff(x > 0, n=2)),
    ("diff(uint8(x * x), axis=0)", lambda x: np.diff((x * x).astype("u1"), axis=0)),
    ("clip(x, -0.5, 0.25)", lambda x: np.clip(x, -0.5, 0.25)),
    ("clip(x, None, 0)", lambda x: np.clip(x, None, 0)),
    ("clip(x, min=0.5)", lambda x: np.clip(x, 0.5, None)),
    ("clip(x, x[0], x[1] + 1)", lambda x: np.minimum(np.maximum(x, x[0]), x[1] + 1)),
    ("clip(int8(x * 50), -3, 7)", lambda x: np.clip((x * 50).astype("i1"), -3, 7)),
]


def cumprod_c8(x):
    return np.cumprod(x.astype("c8").astype("c16"), axis=1).astype("c8")


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("functions") / "x.zarr"
    x = np.random.default_rng(3).normal(size=(13, 17))
    zarr.create_array(path, shape=x.shape, chunks=(5, 4), dtype="f8")[...] = x
    return path, x


@pytest.mark.parametrize(("text", "expected"), CASES, ids=[t for t, _ in CASES])
def test_equals_numpy(source, text, expected):
    path, x = source
    got = check(run("eval", text, *inputs(text, {"x": path}), "--json", "--progress", "none"))
    want = expected(x)
    result = got.array()
    assert result.dtype == want.dtype
    # NumPy adds up arange and linspace in another order.
    np.testing.assert_allclose(result, want, rtol=1e-15)
    assert got.run["measured_mem"] <= got.run["projected_mem"]


@pytest.mark.parametrize("dtype", ["datetime64[D]", "timedelta64[7s]", "datetime64[us]"])
@pytest.mark.parametrize("value", [0, -5, 2**40, "nan", -(2**63)])
def test_times_from_numbers(dtype, value):
    """Counts of the type's unit, as in NumPy."""
    want = np.full(2, np.nan if value == "nan" else value, dtype)
    for text in (f'full(2, {value}, dtype="{dtype}")', f'zeros(2, dtype="{dtype}") + ({value})'):
        if value in ("nan", -(2**63)) and "zeros" in text:
            continue
        text = text.replace(str(-(2**63)), "-9223372036854775807 - 1")
        got = check(run("eval", f"int64({text})", "--json", "--progress", "none")).array()
        np.testing.assert_array_equal(got, want.view("i8"))
    got = cubed.full((2,), np.nan if value == "nan" else value, dtype=dtype).compute()
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**70])
def test_times_beyond_int64(value):
    with pytest.raises(OverflowError):
        cubed.full((2,), value, dtype="m8[s]")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("arange(0, 5, 0)", "a step that is not 0"),
        ("linspace(0, 1, -1)", "num is -1"),
        ("eye(-1)", "expected >= 0"),
        ("tril(arange(3))", "expected at least 2"),
        ("roll(x, (1, 2, 3), axis=(0, 1))", "3 shifts for 2 axes"),
        ("roll(x, 1, axis=2)", "axis 2 is out of range"),
        ("stack([x, x[1:]])", "array 1 has another shape"),
        ("stack([x], axis=4)", "axis 4 is out of range"),
        ("pad(x, -1)", "expected 0 or more"),
        ("pad(x, ((1, 1), (1, 1), (1, 1), (1, 1), (1, 1)))", "a pair for each of"),
        (
            "pad(arange(3), 1, constant_values=1.5)",
            "constant_values is 1.5, expected values that the array's type has",
        ),
        ('full(2, 300, dtype="int8")', "type int8 cannot represent the value 300"),
        ('full(2, 1.5, dtype="timedelta64[s]")', "cannot represent the value"),
        ('full(2, inf, dtype="datetime64[D]")', "cannot represent the value"),
        ('zeros(2, dtype="nothing")', "nothing"),
    ],
)
def test_errors_name_what_is_wrong(source, text, message):
    result = run("eval", text, "--in", f"x={source[0]}", "--progress", "none")
    assert result.code == 1
    assert message in result.err


def with_nans(dtype):
    rng = np.random.default_rng(7)
    x = rng.normal(size=(12, 9, 11))
    if dtype.startswith("c"):
        x = x + 1j * rng.normal(size=x.shape)
    x[rng.random(x.shape) < 0.3] = np.nan
    x[:, 4, 2] = np.nan
    x[1:, 5, 3] = np.nan
    return x.astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128", "int16"])
def test_reductions_over_nan(tmp_path, dtype):
    x = with_nans(dtype) if dtype != "int16" else np.arange(1188, dtype="i2").reshape(12, 9, 11)
    zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(5, 4, 11), dtype=x.dtype)[...] = x
    real = dtype != "complex128"
    names = ["sum", "prod", "mean"] + (["min", "max", "var", "std"] if real else [])
    cases = [(n, a) for n in names for a in (0, (1, 2), None)]
    text = "; ".join(f"r{i} = nan{n}(x, axis={a})" for i, (n, a) in enumerate(cases))
    text += "; c = count_nonzero(x > 0, axis=1); v = nanvar(x, axis=0, ddof=1)" if real else ""
    result = check(run("eval", text, "--in", f"x={tmp_path / 'x'}", "--json", "--progress", "none"))
    got = result.arrays()
    with np.errstate(all="ignore"), pytest.warns() if dtype[0] in "fc" else np.errstate():
        for i, (n, a) in enumerate(cases):
            want = getattr(np, f"nan{n}")(x.astype("f8") if dtype == "float32" else x, axis=a)
            rtol = 2e-6 if dtype == "float32" else 1e-12
            # Products may leave the range of float32.
            atol = 1e-37 if dtype == "float32" else 0
            np.testing.assert_allclose(got[f"r{i}"], want, rtol, atol, err_msg=f"{n} {a}")
            if dtype == "float32":
                assert got[f"r{i}"].dtype == np.float32
        if real:
            np.testing.assert_array_equal(got["c"], np.count_nonzero(x > 0, axis=1))
            want = np.nanvar(x.astype("f8"), axis=0, ddof=1)
            np.testing.assert_allclose(got["v"], want, rtol=2e-6 if dtype == "float32" else 1e-12)
    assert result.run["measured_mem"] <= result.run["projected_mem"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint64", "bool"])
def test_positions_of_extremes(tmp_path, dtype):
    rng = np.random.default_rng(9)
    x = rng.integers(0, 6, size=(7, 8, 9)).astype(dtype)  # with many ties
    if dtype.startswith("f"):
        x[rng.random(x.shape) < 0.1] = np.nan
        x[2] = -np.inf
    zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(3, 8, 2), dtype=x.dtype)[...] = x
    cases = [(n, a) for n in ("argmin", "argmax") for a in (0, 1, -1, None)]
    text = "; ".join(f"r{i} = {n}(x, axis={a})" for i, (n, a) in enumerate(cases))
    text += "; k = argmax(x, axis=1, keepdims=True)"
    got = check(run("eval", text, "--in", f"x={tmp_path / 'x'}", "--json", "--progress", "none"))
    for i, (n, a) in enumerate(cases):
        want = getattr(np, n)(x, axis=a)
        result = got.arrays()[f"r{i}"]
        assert result.dtype == np.int64
        np.testing.assert_array_equal(result, want, err_msg=f"{n} {a}")
    np.testing.assert_array_equal(got.arrays()["k"], np.argmax(x, axis=1, keepdims=True))


@pytest.mark.parametrize("chunks", [(2, 3, 4), (5, 6, 7), (1, 6, 1), (5, 1, 7), (4, 2, 5)])
def test_first_of_equal_extremes(tmp_path, chunks):
    """Ties within and across chunks, between zeros of both signs, and of NaN."""
    rng = np.random.default_rng(1)
    x = rng.choice([0.0, -0.0, 1.0, -1.0, np.nan], size=(5, 6, 7), p=[0.3, 0.3, 0.19, 0.19, 0.02])
    zarr.create_array(tmp_path / "x", shape=x.shape, chunks=chunks, dtype=x.dtype)[...] = x
    what = {"x": x, "abs(x)": np.abs(x), "x * 0": x * 0, "float16(x)": x.astype("f2")}
    what["where(isnan(x), x + 2, x)"] = x
    cases = [(t, n, a) for t in what for n in ("argmin", "argmax") for a in (0, 1, 2, None)]
    text = "; ".join(f"r{i} = {n}({t}, axis={a})" for i, (t, n, a) in enumerate(cases))
    got = the_same_bits(text, "--in", f"x={tmp_path / 'x'}")
    for i, (t, n, a) in enumerate(cases):
        np.testing.assert_array_equal(got[f"r{i}"], getattr(np, n)(what[t], axis=a), f"{n} {t} {a}")


def test_extremes_are_found_in_one_pass(tmp_path):
    x = np.random.default_rng(2).normal(size=(40, 30))
    x[3, 4] = np.nan
    zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(10, 10), dtype=x.dtype)[...] = x
    for text in ("argmax(x, axis=0)", "argmin(x)", "nanvar(x, axis=1)", "nanstd(x)", "nanmean(x)"):
        result = check(
            run("eval", text, "--in", f"x={tmp_path / 'x'}", "--json", "--progress", "none")
        )
        assert result.run["bytes_read"] < 1.5 * x.nbytes, text


def test_variance_over_nan_is_stable(tmp_path):
    """Far from zero, where the squares of sums have no digits left."""
    x = np.random.default_rng(3).normal(size=(200, 33)) + 1e9
    x[np.random.default_rng(4).random(x.shape) < 0.2] = np.nan
    zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(7, 12), dtype=x.dtype)[...] = x
    text = "; ".join(f"r{i} = nanvar(x, axis={a})" for i, a in enumerate((0, 1, None)))
    text += "; v = var(x - x, axis=1); n = nanvar(where(isnan(x), 1.5, x), axis=1)"
    text += "; w = var(where(isnan(x), 1.5, x), axis=1); k = nanstd(x, axis=1, keepdims=True)"
    got = the_same_bits(text, "--in", f"x={tmp_path / 'x'}")
    for i, a in enumerate((0, 1, None)):
        np.testing.assert_allclose(got[f"r{i}"], np.nanvar(x - 1e9, axis=a), rtol=1e-6)
    assert got["n"].tobytes() == got["w"].tobytes()
    np.testing.assert_allclose(got["k"], np.nanstd(x - 1e9, axis=1, keepdims=True), rtol=1e-6)


def test_position_in_nothing_is_an_error():
    for text in ("argmax(zeros(0))", "argmin(zeros((3, 0)), axis=1)", "argmax(zeros((0, 2)))"):
        result = run("eval", text)
        assert result.code == 1
        assert "has no elements" in result.err
    assert check(run("eval", "argmax(zeros((0, 2)), axis=1)", "--json")).array().size == 0


@pytest.mark.parametrize(
    ("shape", "chunks"),
    [
        ((301, 5), (64, 5)),
        ((301, 19), (64, 16)),  # short runs that do not fill their chunks
        ((7, 33, 3), (2, 10, 3)),
        ((5, 4, 6, 13), (2, 3, 4, 13)),
        ((40, 2, 70), (16, 1, 40)),
        ((640, 2), (5, 1)),  # reduced by partial reductions and a merge along axis 0
    ],
)
def test_short_rows(tmp_path, shape, chunks):
    x = np.random.default_rng(5).normal(size=shape)
    zarr.create_array(tmp_path / "x", shape=shape, chunks=chunks, dtype=x.dtype)[...] = x
    last = len(shape) - 1
    axes = [(last,), (0, last), tuple(range(1, last + 1)), tuple(range(last + 1))]
    names = ["sum", "prod", "max", "var", "mean"]
    cases = [(n, a) for n in names for a in axes]
    # What is not contiguous is gathered: a broadcast operand, a transposed one.
    cases = [(n, a, f"{n}({y}, axis={a})") for n, a in cases for y in ("x", "x - x[..., :1]")]
    text = "; ".join(f"r{i} = {c[2]}" for i, c in enumerate(cases))
    text += "; t = sum(transpose(x), axis=0); n = sum(float32(x) > 0, axis=-1)"
    text += f"; j = sum(concat([x, 2 * x], axis={last}), axis={last})"
    got = the_same_bits(text, "--in", f"x={tmp_path / 'x'}")
    for i, (n, a, what) in enumerate(cases):
        y = x - x[..., :1] if "-" in what else x
        np.testing.assert_allclose(got[f"r{i}"], getattr(y, n)(axis=a), 1e-12, 1e-13, err_msg=what)
    np.testing.assert_allclose(got["t"], x.T.sum(axis=0), 1e-12, 1e-13)
    np.testing.assert_array_equal(got["n"], (x > 0).sum(axis=-1))
    np.testing.assert_allclose(got["j"], 3 * x.sum(axis=-1), 1e-12, 1e-13)
