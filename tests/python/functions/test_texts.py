"""Selecting, filling and extremes of strings of fixed length, compared with NumPy."""

import itertools

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import check, run

KINDS = ("U", "S")


def texts(kind, shape, seed=0):
    rng = np.random.default_rng(seed)
    words = np.array(["", "a", "aa", "ab", "b", "zzz", "A", "~"], kind)
    return words[rng.integers(len(words), size=shape)]


def same(lazy, expected):
    got = lazy.compute()
    assert got.dtype == lazy.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def extreme(name, a, **options):
    """As Python orders texts: NumPy has no maxima of them."""
    return np.asarray(getattr(a.astype(object), name)(**options)).astype(a.dtype)


@pytest.mark.parametrize("kind", KINDS)
def test_where(kind):
    a, b = texts(kind, (5, 7)), texts(kind, (7,), 1).astype(f"{kind}6")
    mask = np.random.default_rng(2).random((5, 1)) < 0.5
    m, x = cubed.from_array(mask, chunks=2), cubed.from_array(a, chunks=(2, 3))
    same(xp.where(m, x, cubed.from_array(b, chunks=4)), np.where(mask, a, b))
    one = np.array("longer", kind).item()
    same(xp.where(m, one, x), np.where(mask, np.array(one), a))
    same(xp.where(x == a[0, 0], x[0, 0], x), a)
    with pytest.raises(TypeError, match="where is not defined"):
        xp.where(m, x, 3)


@pytest.mark.parametrize("kind", KINDS)
def test_full(kind):
    value = np.array("ab", kind).item()
    same(xp.full((3, 4), value, chunks=2), np.full((3, 4), value))
    same(xp.full((3,), value, dtype=f"{kind}5"), np.full((3,), value, f"{kind}5"))
    same(xp.full((3,), value, dtype=f"{kind}1"), np.full((3,), value, f"{kind}1"))
    same(xp.full((), value), np.full((), value))
    same(xp.full((0, 2), value), np.full((0, 2), value))
    same(xp.zeros((2,), dtype=f"{kind}3"), np.zeros((2,), f"{kind}3"))
    x = cubed.from_array(texts(kind, 4), chunks=3)
    same(xp.full_like(x, value), np.full_like(x.compute(), value))
    same(xp.full((2,), value, dtype=kind), np.full((2,), value, kind))
    same(xp.zeros_like(x), np.zeros((4,), x.dtype))
    same(xp.empty((2,), dtype=kind), np.zeros((2,), kind))
    same(xp.ones((2,), dtype=kind), np.ones((2,), kind))
    for other in (5, 0, False, 2.5, "ab", b"ab"):
        same(xp.full((2,), other, dtype=f"{kind}3"), np.full((2,), other, f"{kind}3"))
    with pytest.raises(TypeError, match=r"fill_value is \[1\], expected a string of type .*3"):
        xp.full((2,), [1], dtype=f"{kind}3")


@pytest.mark.parametrize("kind", KINDS)
def test_extremes(kind):
    a = texts(kind, (6, 1, 9))
    for chunks, axis, keepdims in itertools.product(
        ((6, 1, 9), (4, 1, 2), (1, 1, 1)), (None, 0, 1, -1, (0, 2), ()), (False, True)
    ):
        x = cubed.from_array(a, chunks=chunks)
        for name in ("max", "min"):
            options = {"axis": axis, "keepdims": keepdims}
            same(getattr(xp, name)(x, **options), extreme(name, a, **options))
    for chunks, axis in itertools.product(((6, 1, 9), (4, 1, 2), (1, 1, 1)), (None, 0, 1, -1)):
        x = cubed.from_array(a, chunks=chunks)
        same(xp.argmax(x, axis=axis), np.asarray(a.argmax(axis=axis)))
        same(xp.argmin(x, axis=axis, keepdims=True), a.argmin(axis=axis, keepdims=True))


@pytest.mark.parametrize("kind", KINDS)
def test_edges_of_extremes(kind):
    a = texts(kind, (3, 0))
    x = cubed.from_array(a, chunks=2)
    same(xp.max(x, axis=0), np.zeros((0,), a.dtype))
    with pytest.raises(ValueError, match="max of no elements: axis 1 has extent 0"):
        xp.max(x, axis=1)
    one = cubed.from_array(np.array("q", kind))
    same(xp.min(one), np.array("q", kind))
    with pytest.raises(TypeError, match="sum is not defined"):
        xp.sum(cubed.from_array(texts(kind, 4)))


def test_other_byte_order():
    a = texts("U", (20,)).astype(">U3")
    x = cubed.from_array(a, chunks=6)
    assert xp.max(x).compute() == max(a)
    same(xp.where(x == "ab", "-", x), np.where(a == "ab", "-", a).astype("U3"))
    same(xp.full((2,), "ab", dtype=">U3"), np.full((2,), "ab", "U3"))


def test_extremes_within_their_memory():
    a = np.tile(texts("U", 1000).astype("U50"), 40)
    spec = cubed.Spec(allowed_mem="4MB", reserved_mem=0)
    x = cubed.from_array(a, chunks=1000, spec=spec)
    y = xp.max(xp.where(x == "zzz", "a", x))
    plan = y.plan()
    assert plan.max_projected_mem <= 4_000_000 < a.nbytes
    assert y.compute(max_workers=1) == max(np.where(a == "zzz", "a", a))


def test_the_command_has_them(tmp_path):
    a = texts("U", (6,))
    cubed.to_zarr(cubed.from_array(a, chunks=4), str(tmp_path / "x.zarr"))
    out = tmp_path / "y.zarr"
    check(run("eval", "argmax(x, axis=0)", "--in", f"x={tmp_path / 'x.zarr'}", "--out", out))
    assert cubed.from_zarr(str(out)).compute() == a.argmax()
    inputs = ("--in", f"x={tmp_path / 'x.zarr'}", "--out", tmp_path / "z.zarr")
    check(run("eval", 'x + "-" + x', *inputs))
    got = cubed.from_zarr(str(tmp_path / "z.zarr")).compute()
    np.testing.assert_array_equal(got, np.char.add(np.char.add(a, "-"), a))


NUMBERS = np.array([-1.5, 0, 1, 100, 2**24, 0.1])
OTHERS = {
    **{d: NUMBERS.astype(d) for d in ("b1", "i1", "i4", "i8", "f2", "f4", "f8", "c8", "c16")},
    **{d: abs(NUMBERS).astype(d) for d in ("u1", "u2", "u8")},
    **{d: np.array([0, -5, "NaT", 9], d) for d in ("M8[Y]", "M8[D]", "M8[ns]", "m8[s]", "m8[ns]")},
    "U5": np.array(["a", "", "12345"]),
    "S5": np.array([b"a", b"", b"12345"]),
}


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("to", ["U", "S", "U3", "S40", str, bytes])
@pytest.mark.parametrize("dtype", OTHERS)
def test_other_types_as_strings(dtype, to):
    a = OTHERS[dtype]
    if dtype[0] == "M" and to == "U3":
        to = "U30"  # NumPy refuses to cut dates
    x = cubed.from_array(a, chunks=2)
    same(x.astype(to), a.astype(to))
    same(xp.astype(x, to), a.astype(to))
    same(xp.asarray(x, dtype=to), a.astype(to))
    same(x[:0].astype(to), a[:0].astype(to))


@pytest.mark.parametrize("kind", KINDS)
def test_strings_as_other_types(kind):
    a = np.array(["12", "-3", "0"], kind)
    x = cubed.from_array(a, chunks=2)
    for to in ("i1", "i8", "f4", "f8", "c16", "m8[s]"):
        same(x.astype(to), a.astype(to))
    words = np.array([["", "a", "0"], [" ", "False", ""]], kind)
    y = cubed.from_array(words, chunks=2)
    same(y.astype(bool), words.astype(bool))
    assert cubed.count_nonzero(y).compute() == np.count_nonzero(words) == 4
    np.testing.assert_array_equal(xp.nonzero(y)[1].compute(), np.nonzero(words)[1])
    days = np.array(["2001-02-03", "NaT"], kind)
    same(cubed.from_array(days).astype("M8[s]"), days.astype("M8[s]"))
    with pytest.raises(TypeError, match="has no unit, expected one, such as"):
        cubed.from_array(days).astype("M8")
    with pytest.raises(TypeError, match="cannot become object"):
        x.astype(object)
    with pytest.raises(ValueError, match="invalid literal"):
        cubed.from_array(np.array(["x"], kind)).astype(int).compute()


def test_bytes_of_other_characters_are_refused():
    with pytest.raises(UnicodeEncodeError, match="ordinal not in range"):
        cubed.from_array(np.array(["é"])).astype("S").compute()


@pytest.mark.parametrize("kind", KINDS)
def test_casts_within_their_memory(kind):
    """Numbers become strings of 32 characters: NumPy's copy of a block is in the projection."""
    spec = cubed.Spec(allowed_mem="40MB", reserved_mem="10MB")
    x = cubed.from_array(np.arange(100_000) / 7, chunks=50_000, spec=spec)
    y = x.astype(kind)
    assert y.plan().max_projected_mem >= 10_000_000 + 2 * 50_000 * y.itemsize
    same(y, (np.arange(100_000) / 7).astype(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_strings_without_a_length(kind):
    a = texts(kind, (5,))
    x = cubed.from_array(a, chunks=2)
    none = np.ndarray((4,), f"{kind}0")
    same(cubed.from_array(none), none.astype(f"{kind}1"))
    same(xp.concat([x, cubed.from_array(none)]), np.concatenate([a, none]))
    same(xp.full_like(x, "ab", dtype=kind), np.full_like(a, "ab", dtype=f"{kind}1"))
    assert cubed.result_type(x, np.dtype(kind)) == np.result_type(a, np.dtype(kind))
    assert cubed.result_type(np.dtype(kind), np.dtype(kind)) == np.dtype(kind)
    same(x.astype(kind), a.astype(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_two_lengths(kind):
    a, b = texts(kind, (4, 3)), texts(kind, (3,), 1).astype(f"{kind}7")
    x, y = cubed.from_array(a, chunks=2), cubed.from_array(b, chunks=2)
    same(x + y, a + b if np.__version__ >= "2" else np.char.add(a, b))
    same(y + x, np.char.add(b, a))
    suffix = np.array("_end", kind)
    same(x + suffix[()], np.char.add(a, suffix))
    same(suffix[()] + x, np.char.add(suffix, a))
    same(xp.concat([x, xp.expand_dims(y, axis=0)]), np.concatenate([a, b[None]]))
    same(xp.stack([x, xp.broadcast_to(y, x.shape)]), np.stack([a, np.broadcast_to(b, a.shape)]))
    for mode in ("constant", "edge", "wrap", "reflect"):
        same(cubed.pad(x, ((1, 2), (0, 1)), mode), np.pad(a, ((1, 2), (0, 1)), mode))
    values = np.array(["p", "longer"], kind)
    same(cubed.pad(x, 2, constant_values=tuple(values)), np.pad(a, 2, constant_values=values))
    with pytest.raises(TypeError, match="multiply is not defined"):
        x * 2


@pytest.mark.parametrize("kind", KINDS)
def test_diagonals_are_between_empty_strings(kind):
    a = np.array(["ab", "c", "zzz"], kind)
    x = cubed.from_array(a, chunks=2)
    for k in (0, 2, -1):
        same(cubed.diag(x, k), np.diag(a, k))


@pytest.mark.parametrize("kind", ["S", "U"])
def test_strings_that_are_empty_are_false(kind):
    a = np.array([["a", "", "b"], ["a", "c", "b"], ["", "", ""]], f"{kind}1")
    x = cubed.from_array(a, chunks=2)
    for axis in (0, 1, None, ()):
        for name in ("all", "any"):
            got = getattr(xp, name)(x, axis=axis).compute()
            np.testing.assert_array_equal(got, getattr(np, name)(a.astype(bool), axis=axis))
