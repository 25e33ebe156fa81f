"""Sorting and searching of strings of fixed length, compared with NumPy."""

import cubed
import numpy as np
import pytest
from conftest import check, run
from watched import computed

import zarr

SPEC = cubed.Spec(allowed_mem="20MB", reserved_mem="5MB")
TYPES = ["S5", "U5"]


def texts(dtype, shape, seed=1):
    """Few different ones, of which some are empty, and some not of ASCII."""
    words = np.array([b"", b"a", b"ab", b"b", b"ba", b"\xff", b"a\x00b"], "S5")
    if np.dtype(dtype).kind == "U":
        words = np.array(["", "a", "ab", "b", "\xe9t\xe9", "\uffff", "\U0001d11e", "a\x00b"])
    return np.random.default_rng(seed).choice(words.astype(dtype), shape)


def same(x, want):
    """The values, within the projected memory."""
    got = computed(x)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("shape", "chunks"), [((7, 11), (3, 4)), ((0, 3), (1, 2)), ((3, 0), (2, 1)), ((1,), (1,))]
)
def test_sort(dtype, shape, chunks):
    a = texts(dtype, shape)
    x = cubed.from_array(a, chunks=chunks, spec=SPEC)
    for axis in range(a.ndim):
        same(cubed.sort(x, axis=axis), np.sort(a, axis=axis))
        same(cubed.sort(x, axis=axis, descending=True), np.flip(np.sort(a, axis=axis), axis=axis))
        same(cubed.argsort(x, axis=axis), np.argsort(a, axis=axis, kind="stable"))
        last = np.flip(np.argsort(np.flip(a, axis=axis), axis=axis, kind="stable"), axis=axis)
        same(cubed.argsort(x, axis=axis, descending=True), a.shape[axis] - 1 - last)


def test_sort_of_no_axes():
    with pytest.raises(ValueError, match="axis"):
        cubed.sort(cubed.asarray(np.array("a")))


@pytest.mark.parametrize("dtype", ["S5", ">U5"])
def test_sort_of_what_is_stored(dtype, tmp_path):
    a = texts(dtype, 23)
    z = zarr.create_array(
        str(tmp_path / "x"), shape=a.shape, chunks=(5,), dtype=a.dtype, zarr_format=2
    )
    z[:] = a
    same(cubed.sort(cubed.from_zarr(str(tmp_path / "x"))), np.sort(a).astype(dtype[-2:]))
    target = str(tmp_path / "y")
    check(run("eval", "argsort(x)", "--in", f"x={tmp_path / 'x'}", "--out", target))
    np.testing.assert_array_equal(zarr.open_array(target)[:], np.argsort(a, kind="stable"))


@pytest.mark.parametrize("widths", [(5, 5), (5, 3), (2, 4)])
@pytest.mark.parametrize("kind", ["S", "U"])
def test_looking_for_texts(kind, widths):
    a, b = (texts(f"{kind}{w}", n, seed=n) for w, n in zip(widths, (37, 4), strict=True))
    x = cubed.from_array(a, chunks=(5,), spec=SPEC)
    y = cubed.from_array(b, chunks=(3,), spec=SPEC)
    members = np.isin(a, b)
    assert members.any()
    assert not members.all()
    same(cubed.isin(x, y), members)
    same(cubed.isin(x, y, invert=True), ~members)
    same(cubed.isin(x, y[:0]), np.zeros(37, bool))
    same(cubed.isin(cubed.reshape(x[:36], (4, 9)), y), members[:36].reshape(4, 9))
    ordered = cubed.from_array(np.sort(a), chunks=(5,), spec=SPEC)
    for side in ("left", "right"):
        want = np.searchsorted(np.sort(a), b, side=side)
        same(cubed.searchsorted(ordered, y, side=side), want)
        same(cubed.searchsorted(x, y, side=side, sorter=cubed.argsort(x)), want)


def test_bytes_among_strings():
    x, y = (cubed.from_array(texts(t, 3), spec=SPEC) for t in TYPES)
    with pytest.raises(TypeError, match="isin: bytes and string have no common type"):
        cubed.isin(x, y)
    with pytest.raises(TypeError, match="searchsorted is not defined for bytes and string"):
        cubed.searchsorted(x, y)


def test_isin_of_the_command(tmp_path):
    a = texts("U5", 23)
    zarr.create_array(str(tmp_path / "x"), data=a, chunks=(5,), zarr_format=2)
    names = ["--in", f"x={tmp_path / 'x'}"]
    check(run("eval", "isin(x, x[:2])", *names, "--out", tmp_path / "y"))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[:], np.isin(a, a[:2]))
    check(run("eval", "searchsorted(sort(x), x)", *names, "--out", tmp_path / "z"))
    np.testing.assert_array_equal(
        zarr.open_array(tmp_path / "z")[:], np.searchsorted(np.sort(a), a)
    )


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(23,), (7, 9), (0,), (1,)])
def test_different_texts(dtype, shape):
    a = texts(dtype, shape)
    x = cubed.from_array(a, chunks=(5,) * len(shape), spec=SPEC)
    wants = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    for got, want in zip(cubed.unique_all(x), wants, strict=True):
        same(got, want.reshape(got.shape))
    same(cubed.unique_values(x), wants[0])
    for got, want in zip(cubed.unique_counts(x), (wants[0], wants[3]), strict=True):
        same(got, want)


@pytest.mark.parametrize("kind", ["S", "U"])
def test_sets_of_texts(kind):
    a, b = texts(f"{kind}5", 37), texts(f"{kind}2", 3, seed=5)
    x = cubed.from_array(a, chunks=(5,), spec=SPEC)
    y = cubed.from_array(b, chunks=(2,), spec=SPEC)
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(cubed, name)(x, y), getattr(np, name)(a, b))


def test_different_texts_of_the_command(tmp_path):
    a = texts("U5", 23)
    zarr.create_array(str(tmp_path / "x"), data=a, chunks=(5,))
    check(run("eval", "unique_values(x)", "--in", f"x={tmp_path / 'x'}", "--out", tmp_path / "y"))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[:], np.unique(a))
