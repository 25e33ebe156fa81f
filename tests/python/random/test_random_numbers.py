"""Random arrays: those of blocks against NumPy's Philox, bit for bit; the others against the same
words, and against their distributions."""

import math
from statistics import NormalDist

import cubed
import numpy as np
import pytest
from conftest import check, run, the_same_bits
from numpy.random import Generator, Philox

import zarr


def evaluate(text, *options) -> dict[str, np.ndarray]:
    got = check(run("eval", text, "--json", "--progress", "none", *options))
    assert got.run["measured_mem"] <= got.run["projected_mem"]
    return got.arrays()


def numpy_blocks(key: int, shape, chunks, dtype="f8") -> np.ndarray:
    """As cubed.random.random does it."""
    out = np.empty(shape, dtype)
    numblocks = [-(-n // c) for n, c in zip(shape, chunks, strict=True)]
    for b, at in enumerate(np.ndindex(*numblocks)):
        part = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, chunks, strict=True))
        generator = Generator(Philox(key=(key + b) % 2**128))
        out[part] = generator.random(out[part].shape, dtype=dtype)
    return out


def element_words(seed: int, stream: int, n: int) -> np.ndarray:
    """The words of counters 0, 1, ...: NumPy counts up before it draws."""
    key = seed % 2**64 + (stream << 64)
    return Philox(key=key, counter=2**256 - 1).random_raw(n)


# --- Blocks ---

SHAPES = [
    ((), ()),
    ((7,), (3,)),
    ((1000,), (130,)),
    ((10, 13), (4, 5)),
    ((3, 300), (2, 299)),
    ((5, 6, 7), (2, 3, 4)),
    ((4, 5), (9, 5)),
    ((2, 1, 3, 2), (1, 1, 2, 2)),
    ((0, 3), (2, 2)),
]


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(("shape", "chunks"), SHAPES)
def test_blocks_are_numpys(shape, chunks, dtype):
    key = 0x123456789ABCDEF_FEDCBA9876543210
    text = f'random({list(shape)}, key="{key:#x}", chunks={list(chunks)}, dtype="{dtype}")'
    got = evaluate(text)["result"]
    want = numpy_blocks(key, shape, chunks, dtype)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("key", [0, 2**63 - 1, 2**64 - 2, 2**64, 2**128 - 3])
def test_keys_carry(key):
    got = evaluate(f'random([40], key="{key}", chunks=[7])')["result"]
    np.testing.assert_array_equal(got, numpy_blocks(key, (40,), (7,)))


VIEWS = [
    ("x[::-1, 3:19:5]", lambda x: x[::-1, 3:19:5]),
    ("permute_dims(x, [1, 0])[::2, -4::-3]", lambda x: x.T[::2, -4::-3]),
    ("x[4]", lambda x: x[4]),
    ("x[:, 7]", lambda x: x[:, 7]),
    ("x[6, 20]", lambda x: x[6, 20]),
    ("roll(x, (2, -5), axis=(0, 1))", lambda x: np.roll(x, (2, -5), axis=(0, 1))),
    ("concat([x[2:, :], x[:2, ::-1]], axis=0)", lambda x: np.concatenate([x[2:], x[:2, ::-1]])),
    ("broadcast_to(x[:, None, :], [11, 3, 23])", lambda x: x[:, None].repeat(3, axis=1)),
    ("rechunk(x, [11, 1])", lambda x: x),
    ("rechunk(x[1:, 1:], [2, 22])", lambda x: x[1:, 1:]),
    ("rechunk(x[:, 2::3], [11, 7])", lambda x: x[:, 2::3]),
    ("rechunk(x[::2, ::-3], [6, 8])", lambda x: x[::2, ::-3]),
    ("rechunk(permute_dims(x, [1, 0])[::2], [12, 11])", lambda x: x.T[::2]),
    ("x - x[:, ::-1] * x", lambda x: x - x[:, ::-1] * x),
    ("max(x, axis=0)", lambda x: x.max(axis=0)),
    ("min(x[::-2], axis=1)", lambda x: x[::-2].min(axis=1)),
]


@pytest.mark.parametrize("chunks", [(4, 5), (11, 23), (1, 7)])
def test_any_region_of_blocks(chunks):
    x = numpy_blocks(9, (11, 23), chunks)
    parts = [f"_x = random([11, 23], key=9, chunks={list(chunks)})"]
    parts += [f"r{i} = {text.replace('x', '_x')}" for i, (text, _) in enumerate(VIEWS)]
    text = "; ".join(parts).replace("ma_x", "max").replace("a_xis", "axis")
    got = evaluate(text)
    for i, (what, fn) in enumerate(VIEWS):
        np.testing.assert_array_equal(got[f"r{i}"], fn(x), err_msg=what)


def test_blocks_in_a_store(tmp_path):
    """Stored chunks that are not the blocks, of a size that has several tasks."""
    run_to = ["--out", tmp_path / "out.zarr", "--progress", "none", "--executor", "processes"]
    text = 'rechunk(random([300, 400], key=5, chunks=[70, 90], dtype="float32"), [128, 100])'
    check(run("eval", text, *run_to, "--max-workers", 2))
    want = numpy_blocks(5, (300, 400), (70, 90), "f4")
    got = zarr.open_array(tmp_path / "out.zarr", mode="r")
    assert got.chunks == (128, 100)
    np.testing.assert_array_equal(got[...], want)


# --- Distributions ---

SEEDED = "r = random({0}, seed={1}{2}); u = uniform({0}, -2, 3, seed={1}{2}); "
SEEDED += "n = normal({0}, 10, 0.5, seed={1}{2}); "
SEEDED += "e = exponential({0}, 4, seed={1}{2}); i = integers({0}, -5, 1000, seed={1}{2})"


@pytest.mark.parametrize("seed", [0, -1, 2**40 + 7])
def test_values_of_words(seed):
    size = 3 * 101
    got = evaluate(SEEDED.format("[3, 101]", seed, ""))
    words = element_words(seed, 0, size).reshape(3, 101)
    np.testing.assert_array_equal(got["r"], (words >> 11) * 2.0**-53)
    np.testing.assert_array_equal(got["u"], -2 + 5 * got["r"])
    words = element_words(seed, 1, size)
    below = np.array([-NormalDist().inv_cdf(float(w | 1) * 2.0**-65) for w in map(int, words)])
    want = 10 + 0.5 * np.where(words & 1, below, -below)
    np.testing.assert_allclose(got["n"].ravel(), want, rtol=1e-15, atol=0)
    words = element_words(seed, 2, size)
    want = np.array([-4 * math.log(float(w | 1) * 2.0**-64) for w in map(int, words)])
    np.testing.assert_allclose(got["e"].ravel(), want, rtol=1e-15, atol=0)
    words = [int(w) for w in element_words(seed, 3, 2 * size)]
    want = [-5 + ((1005 * (a + (b << 64))) >> 128) for a, b in zip(*[iter(words)] * 2, strict=True)]
    np.testing.assert_array_equal(got["i"].ravel(), want)


def test_chunks_do_not_matter():
    want = evaluate(SEEDED.format("[13, 40]", 6, ""))
    for chunks in ([1, 40], [5, 7], [13, 1], [-1, -1]):
        got = evaluate(SEEDED.format("[13, 40]", 6, f", chunks={chunks}"))
        for name, values in want.items():
            np.testing.assert_array_equal(got[name], values, err_msg=f"{name} {chunks}")


def test_same_bits_everywhere():
    text = SEEDED.format("[40, 50]", 3, ", chunks=[9, 16]")
    text += "; d = random([40, 50], key=3, chunks=[9, 16])"
    text += '; s = random([40, 50], key=3, chunks=[9, 16], dtype="float32")'
    assert len(the_same_bits(text)) == 7


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    """A quarter of a million of each, standard."""
    path = tmp_path_factory.mktemp("samples") / "out.zarr"
    names = ["u = uniform(250000, seed=11)", "n = normal(250000, seed=11)"]
    names += ["e = exponential(250000, seed=11)", "i = integers(250000, 10, seed=11)"]
    names += ["r = random(250000, key=11, chunks=1000)"]
    check(run("eval", "; ".join(names), "--out", path, "--progress", "none"))
    group = zarr.open_group(path, mode="r")
    return {name: group[name][...] for name in "unier"}


def kolmogorov_smirnov(x: np.ndarray, cdf: np.ndarray) -> float:
    """The statistic times sqrt(n): above 1.95 once in a thousand."""
    n = x.size
    up = np.arange(1, n + 1) / n - cdf
    down = cdf - np.arange(n) / n
    return float(max(up.max(), down.max())) * math.sqrt(n)


def test_distributions(samples):
    phi = np.vectorize(lambda z: 0.5 * math.erfc(-z / math.sqrt(2)))
    cdfs = {"u": lambda x: x, "r": lambda x: x, "n": phi, "e": lambda x: -np.expm1(-x)}
    for name, cdf in cdfs.items():
        x = np.sort(samples[name])
        assert kolmogorov_smirnov(x, cdf(x)) < 1.95, name
    counts = np.bincount(samples["i"], minlength=10)
    assert counts.size == 10
    assert ((counts - 25000) ** 2 / 25000).sum() < 27.9  # 9 degrees of freedom: one in a thousand


def test_moments(samples):
    # mean, variance, and the standard error of each estimate for n elements
    n = 250000
    want = {"u": (0.5, 1 / 12, 1 / 180), "r": (0.5, 1 / 12, 1 / 180), "n": (0, 1, 2)}
    want |= {"e": (1, 1, 8), "i": (4.5, 8.25, 120.8625 - 8.25**2)}
    for name, (mean, var, var_of_squares) in want.items():
        x = samples[name]
        assert abs(x.mean() - mean) < 4 * math.sqrt(var / n), name
        assert abs(x.var() - var) < 4 * math.sqrt(var_of_squares / n), name
    z = samples["n"]
    assert abs((z**3).mean()) < 4 * math.sqrt(15 / n)
    assert abs((z**4).mean() - 3) < 4 * math.sqrt(96 / n)
    assert samples["u"].min() >= 0 and samples["u"].max() < 1 and samples["e"].min() >= 0


def test_streams_are_apart(samples):
    names = sorted(samples)
    r = np.corrcoef([samples[name] for name in names])
    assert np.abs(r - np.eye(len(names))).max() < 4.5 / math.sqrt(250000)
    for name in names:
        x = samples[name]
        for lag in (1, 2, 4, 1000):
            assert abs(np.corrcoef(x[lag:], x[:-lag])[0, 1]) < 4.5 / math.sqrt(250000), (name, lag)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64"])
def test_whole_types(dtype):
    info = np.iinfo(dtype)
    low = f"{info.min + 1} - 1"
    text = f'integers(4000, {low}, {info.max}, endpoint=True, dtype="{dtype}", seed=2)'
    got = evaluate(text)["result"]
    assert got.dtype == dtype
    if info.max < np.iinfo("i8").max:
        beyond = evaluate(text.replace(f"{info.max}, endpoint=True", f"{info.max + 1}"))["result"]
        np.testing.assert_array_equal(got, beyond)
    # The upper words, or their upper bits, from the least value on.
    words = element_words(2, 3, 8000)[1::2] >> (64 - 8 * info.dtype.itemsize)
    np.testing.assert_array_equal(got, [int(w) + info.min for w in words])
    if info.bits == 8:
        assert np.unique(got).size == 256


def test_edges_of_integers():
    text = 'a = integers(500, -3, 3, seed=1); b = integers(500, 7, seed=1, dtype="uint16");'
    text += "c = integers(500, 5, 5, endpoint=True, seed=1); d = integers(500, -128, 127, seed=1, "
    text += 'dtype="int8", endpoint=False); e = integers(0, 4, seed=1); '
    text += 'f = integers(500, 2, dtype="uint64", seed=1)'
    got = evaluate(text)
    assert set(got["a"]) == {-3, -2, -1, 0, 1, 2}
    assert set(got["b"]) == set(range(7)) and got["b"].dtype == np.uint16
    assert set(got["c"]) == {5}
    assert got["d"].min() >= -128 and got["d"].max() <= 126
    assert got["e"].shape == (0,)
    assert set(got["f"]) == {0, 1} and got["f"].dtype == np.uint64


def test_numbers_of_float32_are_below_one():
    """A float64 number that float32 rounds to 1, found by a search."""
    at = 39256143
    text = f'a = random({at + 1}, seed=3, dtype="float32")[{at}]'
    assert evaluate(text)["a"] == np.float32(1 - 2**-24)
    assert np.float32(evaluate(f"a = random({at + 1}, seed=3)[{at}]")["a"]) == 1
    x = cubed.random.random(at + 1, seed=3, dtype=np.float32)
    assert x[at].compute() == np.float32(1 - 2**-24)


def test_integers_of_all_64_bits():
    text = 'a = integers(500, 0, "18446744073709551615", seed=1, endpoint=True, dtype="uint64");'
    text += 'b = integers(500, "-9223372036854775808", "9223372036854775808", seed=1)'
    got = evaluate(text)
    assert got["a"].dtype == np.uint64 and got["a"].max() > 2**63
    assert got["b"].dtype == np.int64 and got["b"].min() < -(2**62) and got["b"].max() > 2**62
    x = cubed.random.integers(0, 2**64, size=500, seed=1, dtype=np.uint64)
    np.testing.assert_array_equal(x.compute(), got["a"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("random(3)", "seed is missing"),
        ("random(3, seed=1, key=1)", "seed and key are both given"),
        ('random(3, seed=1, dtype="int32")', "expected a floating-point type"),
        ("random(3, key=-1)", "from 0 below 2**128"),
        (f'random(3, key="{2**128}")', "from 0 below 2**128"),
        ('random(3, key="0x")', "from 0 below 2**128"),
        ('random(3, key="12g")', "from 0 below 2**128"),
        ('random(3, key=1, dtype="int32")', "expected a floating-point type"),
        ("random([3, 3], seed=1, chunks=2)", "chunks has 1 length, expected"),
        ("random(3, seed=1, chunks=0)", "chunks[0] is 0"),
        ("random(-3, seed=1)", "random: shape[0] is -3"),
        ("random(3000000000, key=1, chunks=1)", "3000000000 chunks of up to 1 elements"),
        ("random(5000000000, key=1, chunks=-1)", "1 chunks of up to 5000000000 elements"),
        ("normal(3)", "seed is missing"),
        ("normal(3, 0, -1, seed=1)", "scale -1"),
        ("normal(3, 0, loc=1, seed=1)", "loc is given twice"),
        ("normal([3, -1], seed=1)", "normal: shape[1] is -1"),
        ("exponential(3, -1, seed=1)", "scale -1"),
        ("uniform(3, 2, 1, seed=1)", "expected low <= high"),
        ("uniform(3, -1e308, 1e308, seed=1)", "a finite difference"),
        ("integers(3, 5, 5, seed=1)", "high is 5, expected an integer above"),
        ("integers(3, 0, seed=1)", "low is 0, expected an integer above"),
        (
            'integers(3, 256, seed=1, dtype="uint8", endpoint=True)',
            "low is beyond the range of uint8",
        ),
        ('integers(3, -1, 5, seed=1, dtype="uint64")', "low is beyond the range of uint64"),
        ('integers(3, 5, seed=1, dtype="float64")', "a type of integers"),
        ('integers(3, 0, "99999999999999999999", seed=1)', "expected a 64-bit integer"),
        ('integers(3, 0, "1e3", seed=1)', "expected a 64-bit integer"),
        ("integers(3, 1.5, seed=1)", "low (argument 2) is 1.5, expected an integer"),
    ],
)
def test_rejects(text, message):
    result = run("eval", text, "--json", "--progress", "none")
    assert result.code != 0
    assert message in result.err
