"""Texts of fixed length: chosen among, filled with, and their extremes, as NumPy has them."""

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
    other = {"U": b"ab", "S": "ab"}[kind]
    same(xp.full((2,), value, dtype=kind), np.full((2,), value, kind))
    same(xp.zeros_like(x), np.zeros((4,), x.dtype))
    same(xp.empty((2,), dtype=kind), np.zeros((2,), kind))
    for wrong in (5, 0, False, other):
        with pytest.raises(TypeError, match=rf"fill_value is {wrong!r}, expected a text"):
            xp.full((2,), wrong, dtype=f"{kind}3")


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
