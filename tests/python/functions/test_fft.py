"""Compares Fourier transforms with NumPy in double precision."""

import itertools

import numpy as np
import pytest
from conftest import check, run, the_same_bits

import zarr

NORMS = ("backward", "ortho", "forward")
ONE = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
MANY = ("fftn", "ifftn", "rfftn", "irfftn")
REAL_IN = ("rfft", "ihfft", "rfftn")
REAL_OUT = ("irfft", "hfft", "irfftn")
SINGLE = {"float16": "f4", "float32": "f4", "complex64": "c8"}


def numbers(shape, dtype, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * 20
    if dtype.startswith("complex"):
        x = x + 20j * rng.normal(size=shape)
    return (
        (x > 0)
        if dtype == "bool"
        else np.abs(x).astype(dtype)
        if "uint" in dtype
        else x.astype(dtype)
    )


def store(path, x, chunks):
    zarr.create_array(path, shape=x.shape, chunks=chunks, dtype=x.dtype)[...] = x
    return path


def result_dtype(name, dtype):
    single = dtype in SINGLE
    if name in REAL_OUT:
        return np.dtype("f4" if single else "f8")
    return np.dtype("c8" if single else "c16")


def wide(x):
    return x.astype("c16" if x.dtype.kind == "c" else "f8")


def compare(got, want, dtype, what):
    assert got.dtype == dtype, what
    assert got.shape == want.shape, what
    eps = 3e-7 if dtype.name in ("float32", "complex64") else 1e-14
    scale = np.abs(want).max(initial=1e-300)
    np.testing.assert_allclose(got, want, rtol=0, atol=eps * scale, err_msg=what)


def evaluate(statements, path, *args):
    text = "; ".join(f"r{i} = {s}" for i, s in enumerate(statements))
    result = check(run("eval", text, "--in", f"x={path}", "--json", "--progress", "none", *args))
    assert result.run["measured_mem"] <= result.run["projected_mem"]
    arrays = result.arrays()
    return [arrays[f"r{i}"] for i in range(len(statements))]


DTYPES = ["float32", "float64", "complex64", "complex128", "int16", "uint8", "bool", "float16"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_function_along_every_axis(tmp_path, dtype):
    x = numbers((6, 7, 9), dtype)
    path = store(tmp_path / "x", x, (4, 3, 5))
    cases = [
        (name, axis, norm)
        for name in ONE
        for axis in (0, 1, -1)
        for norm in NORMS
        if not (name in REAL_IN and x.dtype.kind == "c")
    ]
    got = evaluate([f'{n}(x, axis={a}, norm="{m}")' for n, a, m in cases], path)
    for y, (name, axis, norm) in zip(got, cases, strict=True):
        want = getattr(np.fft, name)(wide(x), axis=axis, norm=norm)
        compare(y, want, result_dtype(name, dtype), f"{name} {axis} {norm}")


# Small ones of all kinds, primes, products of large primes (no radix of its own), a power of two.
LENGTHS = [
    1,
    2,
    3,
    4,
    5,
    6,
    7,
    8,
    11,
    13,
    30,
    49,
    53,
    97,
    121,
    128,
    169,
    210,
    509,
    1009,
    2018,
    4099,
]


@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_lengths(tmp_path, dtype):
    x = numbers((3, 1009), dtype)
    path = store(tmp_path / "x", x, (2, 100))
    cases = [(name, n) for n in LENGTHS for name in ONE[: 4 if x.dtype.kind == "f" else 2]]
    got = evaluate([f"{name}(x, {n})" for name, n in cases], path)
    for y, (name, n) in zip(got, cases, strict=True):
        compare(y, getattr(np.fft, name)(wide(x), n), result_dtype(name, dtype), f"{name} {n}")


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
def test_several_axes(tmp_path, dtype):
    x = numbers((5, 8, 3, 6), dtype)
    path = store(tmp_path / "x", x, (2, 8, 1, 4))
    axes = [None, (0,), (3, 1), (1, -1), (-1, 0, 2), (0, 1, 2, 3)]
    cases = [
        (name, s, a, norm)
        for name, a, norm in itertools.product(MANY, axes, NORMS)
        if not (name in REAL_IN and x.dtype.kind == "c")
        for s in ((None,) if a is None else (None, tuple(range(4, 4 + len(a)))))
    ]
    got = evaluate([f'{n}(x, s={s}, axes={a}, norm="{m}")' for n, s, a, m in cases], path)
    for y, (name, s, a, norm) in zip(got, cases, strict=True):
        what = f"{name} {s} {a} {norm}"
        want = getattr(np.fft, name)(wide(x), s=s, axes=a, norm=norm)
        compare(y, want, result_dtype(name, dtype), what)
    assert np.array_equal(
        evaluate(["fftn(x, s=(-1, 4), axes=(0, 1))"], path),
        [evaluate(["fftn(x, s=(5, 4), axes=(0, 1))"], path)[0]],
    )


def test_large_axes_are_transformed_in_passes(tmp_path):
    x = numbers((900, 800), "float64")
    path = store(tmp_path / "x", x, (100, 200))
    for name in ("fftn", "rfftn", "irfftn"):
        args = ["--in", f"x={path}", "--out", tmp_path / name, "--progress", "none", "--json"]
        got = check(run("eval", f"{name}(x)", *args))
        assert got.run["stages"] >= 2
        y = zarr.open_array(tmp_path / name)[...]
        compare(y, getattr(np.fft, name)(x), result_dtype(name, "float64"), name)


def test_there_and_back_keeps_values(tmp_path):
    x = numbers((10, 11), "float64")
    path = store(tmp_path / "x", x, (3, 11))
    real = ["irfftn(rfftn(x), s=(10, 11), axes=(0, 1))", "irfft(rfft(x), 11)", "ihfft(hfft(x, 21))"]
    for y in evaluate([*real, "ifftn(fftn(x))", "ifft(fft(x, axis=0), axis=0)"], path):
        np.testing.assert_allclose(y, x, rtol=0, atol=1e-13)


def test_views_and_expressions(tmp_path):
    x = numbers((6, 9, 10), "float32")
    path = store(tmp_path / "x", x, (4, 3, 5))
    texts = {
        "fft(x[::2, ::-1, 3], axis=1)": np.fft.fft(x[::2, ::-1, 3], axis=1),
        "rfft(transpose(x) * 2, axis=0)": np.fft.rfft(x.T * 2, axis=0),
        "abs(rfft(x - mean(x, axis=-1, keepdims=True)))": abs(
            np.fft.rfft(wide(x) - wide(x).mean(-1, keepdims=True))
        ),
        "fft(broadcast_to(x[0, 0], (3, 10)))": np.fft.fft(np.broadcast_to(x[0, 0], (3, 10))),
        "fft(x[:0], axis=1)": np.zeros((0, 9, 10), "c8"),
        "fft(x[:, :, :0], 4)": np.zeros((6, 9, 4), "c8"),
        "fftshift(fft(x), axes=-1)": np.fft.fftshift(np.fft.fft(x), axes=-1),
        "fftn(x, axes=())": x.astype("c8"),
    }
    for text, y, want in zip(texts, evaluate(list(texts), path), texts.values(), strict=True):
        compare(y, want, np.dtype("f4" if "abs" in text else "c8"), text)


def test_chunks_ways_and_executors_do_not_change_bits(tmp_path):
    x = numbers((40, 53), "float64")
    path = store(tmp_path / "x", x, (7, 10))
    text = "a = fft(x, axis=0); b = rfft(x); c = irfft(x); d = fftn(x); e = irfftn(x)"
    got = the_same_bits(text, "--in", f"x={path}")
    other = store(tmp_path / "y", x, (40, 53))
    again = check(run("eval", text, "--in", f"x={other}", "--json", "--progress", "none")).arrays()
    for name, y in got.items():
        assert y.tobytes() == again[name].tobytes(), name


def test_frequencies():
    cases = [(n, d) for n in (1, 2, 5, 8, 101) for d in (1, 0.1, -3)]
    text = "; ".join(
        f"a{i} = fftfreq({n}, {d}); b{i} = rfftfreq({n}, d={d})" for i, (n, d) in enumerate(cases)
    )
    got = check(run("eval", text, "--json", "--progress", "none")).arrays()
    for i, (n, d) in enumerate(cases):
        np.testing.assert_array_equal(got[f"a{i}"], np.fft.fftfreq(n, d), err_msg=f"{n} {d}")
        np.testing.assert_array_equal(got[f"b{i}"], np.fft.rfftfreq(n, d), err_msg=f"{n} {d}")
    got = check(run("eval", 'fftfreq(6, dtype="float32")', "--json")).array()
    assert got.dtype == np.float32


@pytest.mark.parametrize("dtype", ["int32", "complex64"])
def test_shifts(tmp_path, dtype):
    x = numbers((5, 6, 7), dtype)
    path = store(tmp_path / "x", x, (2, 6, 3))
    cases = [(n, a) for n in ("fftshift", "ifftshift") for a in (None, 0, -1, (0, 2))]
    got = evaluate([f"{n}(x, axes={a})" for n, a in cases], path)
    for y, (name, a) in zip(got, cases, strict=True):
        np.testing.assert_array_equal(y, getattr(np.fft, name)(x, axes=a), err_msg=f"{name} {a}")
        assert y.dtype == x.dtype


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fft(x, 0)", "0 elements along axis 1, expected >= 1"),
        ("fft(x, axis=2)", "axis 2 is out of range for 2 dimensions"),
        ("irfft(x[:, :1])", "0 elements along axis 1"),
        ("rfft(x * 1j)", "rfft is not defined for complex128"),
        ("fftn(x, axes=(0, -2))", "axis 0 is given twice"),
        ("fftn(x, s=(3, 3, 3))", "expected at most 2, one for each axis"),
        ("fftn(x, s=(3,), axes=(0, 1))", "expected one for each of 2 axes"),
        ("rfftn(x, axes=())", "no axis"),
        ('fft(x, norm="both")', "expected one of 'backward', 'ortho', 'forward'"),
        ("fftfreq(0)", "n is 0"),
        ("fftfreq(3, 0)", "d is 0"),
        ('fftfreq(3, dtype="int8")', "got int8"),
    ],
)
def test_errors_name_what_is_wrong(tmp_path, text, message):
    path = store(tmp_path / "x", numbers((4, 5), "float64"), (4, 5))
    result = run("eval", text, "--in", f"x={path}", "--progress", "none")
    assert result.code == 1
    assert message in result.err


@pytest.mark.parametrize("length", [65536, 65537, 99991, 2 * 49999])
@pytest.mark.parametrize("axis", [0, 1])
def test_measured_memory_stays_below_the_projection(tmp_path, length, axis):
    shape = (length, 20) if axis == 0 else (20, length)
    x = numbers(shape, "complex64")
    path = store(tmp_path / "x", x, tuple(min(n, 30_000) for n in shape))
    args = ["--in", f"x={path}", "--out", tmp_path / "y", "--json", "--progress", "none"]
    got = check(run("eval", f"fft(x, axis={axis})", *args, "--max-workers", 1))
    assert got.run["measured_mem"] <= got.run["projected_mem"]
    compare(
        zarr.open_array(tmp_path / "y")[...], np.fft.fft(wide(x), axis=axis), np.dtype("c8"), ""
    )
