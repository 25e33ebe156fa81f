"""Texts of fixed length that are sorted, against NumPy."""

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
