"""Operations that the engine performs in one pass, compared with NumPy bit for bit."""

import itertools

import cubed
import numpy as np
import pytest
from conftest import NIGHTLY

UNARY = ["square", "sqrt", "abs", "negative"]
BINARY = ["add", "subtract", "multiply", "divide"]
# An operation on what is there, in place 0 or 1 of it.
STEPS = [(name, 0) for name in UNARY] + [(name, at) for name in BINARY for at in (0, 1)]
PACKED = ["int8", "uint8", "int16", "uint16", "int32"]
EDGES = [0.0, -0.0, 1.0, -2.5, np.inf, -np.inf, np.nan, 1e300, -3e38, 5e-324, 1e-40, 0.1]


def combined(module, first, steps, others):
    """The steps on `first`, each with another array where it takes two."""
    value = first
    for (name, at), other in zip(steps, others, strict=True):
        if name in UNARY:
            value = getattr(module, name)(value)
        else:
            pair = (value, other) if at == 0 else (other, value)
            value = getattr(module, name)(*pair)
    return value


def check(arrays, chains):
    """`chains`: steps, and a type that the first array is cast to, or None."""
    lazy = [cubed.from_array(a, chunks=150) for a in arrays]
    xs, expected = [], []
    for steps, dtype in chains:
        xs.append(combined(cubed, lazy[0].astype(dtype) if dtype else lazy[0], steps, lazy[1:]))
        first = arrays[0].astype(dtype) if dtype else arrays[0]
        expected.append(combined(np, first, steps, arrays[1:]))
    for got, want, chain in zip(cubed.compute(*xs), expected, chains, strict=True):
        assert got.dtype == want.dtype, chain
        same = got.view("u1").reshape(*got.shape, -1) == want.view("u1").reshape(*got.shape, -1)
        assert (same.all(-1) | (np.isnan(got) & np.isnan(want))).all(), chain


@pytest.mark.filterwarnings("ignore:.*encountered")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("first", STEPS, ids=lambda s: f"{s[0]}-{s[1]}")
def test_three_operations(first, dtype):
    with np.errstate(all="ignore"):
        triples = np.array(list(itertools.product(EDGES, repeat=2))).astype(dtype)
    a, b = triples.T
    rng = np.random.default_rng(3)
    arrays = [a, b, rng.permutation(a), rng.permutation(b)]
    steps = STEPS if NIGHTLY else STEPS[::2] if first[0] not in ("square", "subtract") else STEPS
    with np.errstate(all="ignore"):
        check(arrays, [((first, *rest), None) for rest in itertools.product(steps, repeat=2)])


@pytest.mark.parametrize("packed", PACKED)
def test_unpacking(packed):
    info = np.iinfo(packed)
    a = np.linspace(info.min, info.max, 400).astype(packed)
    for dtype in ("float32", "float64"):
        scale = np.resize([0.01, -0.0, np.inf, np.nan, 3e38, 1e-45], 400).astype(dtype)
        offset = np.resize([273.15, -1.0, np.inf, -np.inf, 0.0], 400).astype(dtype)
        steps = [(name, at) for name in ("multiply", "add", "subtract") for at in (0, 1)]
        with np.errstate(all="ignore"):
            check(
                [a, scale, offset], [(pair, dtype) for pair in itertools.product(steps, repeat=2)]
            )


@pytest.mark.parametrize("chunk", [100_001, 262_144])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_results(dtype, chunk):
    """They are written past the caches, whole lines of them straight from the last operation."""
    rng = np.random.default_rng(4)
    a, b, c = (rng.normal(size=2_100_013).astype(dtype) for _ in range(3))
    packed = rng.integers(-32768, 32767, a.size).astype("int16")
    x, y, z, p = (cubed.from_array(v, chunks=chunk) for v in (a, b, c, packed))
    shared = x * y
    assert np.array_equal(cubed.compute(x + y)[0], a + b)
    assert np.array_equal(cubed.compute(cubed.sqrt(x * x + y * y))[0], np.sqrt(a * a + b * b))
    got = cubed.compute(shared, shared + z, shared, (x - y) ** 2 + z, p.astype(dtype) * y + z)
    product = a * b
    want = [product, product + c, product, (a - b) ** 2 + c, packed.astype(dtype) * b + c]
    for got_one, want_one in zip(got, want, strict=True):
        assert np.array_equal(got_one, want_one)


SHAPES = [(0,), (1,), (31,), (33,), (255,), (257,), (513,), (4_101,)]
SHAPES += [(3, 1_025), (700, 3), (40, 520), (5, 6, 7), (2, 0)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_keeps_pace_with_the_memory(shape, dtype):
    """Roots and quotients are reduced in long vectors and a part at a time, to the bits that their
    arrays are reduced to."""
    rng = np.random.default_rng(3)
    a = rng.normal(size=shape).astype(dtype)
    a.reshape(-1)[::37] = np.resize(np.array([0.0, -0.0, 1e-40, 3e38], dtype), len(a.flat[::37]))
    b, c = (rng.uniform(0.5, 2, size=shape).astype(dtype) for _ in range(2))
    chunks = tuple(max(1, n * 2 // 3) for n in shape)
    x, y, z, row = (cubed.from_array(v, chunks=chunks) for v in (a, b, c, c[..., :1]))
    with np.errstate(over="ignore"):
        results = {
            "root": (cubed.sqrt((x - y) ** 2 + z * z), np.sqrt((a - b) ** 2 + c * c)),
            "quotient": (x / (y + 2), a / (b + 2)),
            "both": (cubed.sqrt(cubed.abs(x)) / z * y, np.sqrt(np.abs(a)) / c * b),
            "of a row": (x / row + cubed.abs(y), a / c[..., :1] + np.abs(b)),
        }
    for name, (lazy, values) in results.items():
        assert lazy.dtype == values.dtype == dtype
        stored = cubed.from_array(values, chunks=chunks)
        for axis, f in itertools.product([None, *range(len(shape))], ["sum", "max", "var", "prod"]):
            if f == "max" and 0 in shape:
                continue
            got, want = cubed.compute(*(getattr(cubed, f)(x, axis=axis) for x in (lazy, stored)))
            np.testing.assert_array_equal(got, want, err_msg=f"{f} of {name} along {axis}")
            assert got.tobytes() == want.tobytes() or np.isnan(want).any()


# The number is one by itself, or what operations make of numbers alone.
FORMS = [lambda a, v: a / v, lambda a, v: (a - a[::-1]) / (v * 2 - v) * 3]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_by_numbers(dtype):
    """By a power of two they are products with its inverse, where that has full precision."""
    info = np.finfo(dtype)
    smallest = info.smallest_subnormal
    a = np.array([*EDGES, info.max, info.tiny, smallest, 3 * smallest, 7.7], "f8").astype(dtype)
    a = np.concatenate([a, -a])
    whole = [np.ldexp(np.array(1, dtype), k) for k in range(info.minexp - info.nmant, info.maxexp)]
    numbers = [*whole, 0.0, -0.0, np.inf, np.nan, 3.0, info.max, *(-w for w in whole[::7])]
    x = cubed.from_array(a, chunks=5)
    with np.errstate(all="ignore"):
        for i in range(0, len(numbers), 100):
            some = [np.array(v, dtype) for v in numbers[i : i + 100]]
            lazy = [f(x, cubed.asarray(v)) for v in some for f in FORMS]
            want = [f(a, v) for v in some for f in FORMS]
            for got, values in zip(cubed.compute(*lazy), want, strict=True):
                assert got.dtype == values.dtype == dtype
                same = got.view("u1").reshape(a.size, -1) == values.view("u1").reshape(a.size, -1)
                assert (same.all(-1) | (np.isnan(got) & np.isnan(values))).all()


def test_what_operations_make_of_numbers():
    a = np.linspace(-3, 3, 50)
    x, two, three = cubed.from_array(a, chunks=20), cubed.asarray(2.0), cubed.asarray(3)
    number = cubed.where(two > 1, cubed.sqrt(two) + three, cubed.exp(two))
    expected = np.sqrt(np.float64(2)) + 3
    got = cubed.compute(x * number, number, x / (two * 4), cubed.astype(number, cubed.int8) + x)
    for one, want in zip(got, [a * expected, expected, a / 8, a + 4], strict=True):
        np.testing.assert_array_equal(one, want)
    (stage,) = (x / (two * 4)).plan().stages
    assert [name for name, *_ in stage["operations"]] == ["divide", "multiply"]


def test_machines_know_nothing_of_earlier_ones():
    """Which lay where they lie: what the one did in parts the other was to write elsewhere."""
    v = np.arange(1, 351, dtype="int16").reshape(5, 70)
    pieces = [cubed.from_array(v, chunks=(4, 21)), cubed.from_array(v[:2], chunks=(2, 70))]
    y = cubed.concat(pieces, axis=0) * 2
    number, found = cubed.count_nonzero(y), cubed.any(y)
    for _ in range(20):
        assert found.compute(optimize_graph=False, max_workers=2)
        assert number.compute(optimize_graph=False, max_workers=2) == 490
