"""Reads and assigns elements by arrays of positions for several axes at the same time, compared
with NumPy.
"""

import conftest
import cubed
import numpy as np
import pytest
from conftest import check, run
from hypothesis import given, settings
from hypothesis import strategies as st
from watched import computed

import zarr

SPEC = cubed.Spec(allowed_mem="60MB", reserved_mem="10MB")
SHAPE = (5, 4, 6)


def lazy(a, chunks=2):
    return cubed.from_array(a, chunks=chunks, spec=SPEC)


@st.composite
def keys(draw):
    """Positions, integers, slices and new axes, positions in memory or lazy."""
    shape = draw(st.sampled_from([(), (1,), (3,), (2, 3), (2, 1), (0,)]))
    plain, ours, some = [], [], False
    for n in SHAPE:
        kind = draw(st.sampled_from(["slice", "array", "array", "lazy", "int"]))
        if kind == "slice":
            k = slice(draw(st.integers(-n, n)), None, draw(st.sampled_from([1, 2, -1])))
            plain.append(k)
            ours.append(k)
        elif kind == "int":
            k = draw(st.integers(-n, n - 1))
            plain.append(k)
            ours.append(k)
        else:
            part = shape[draw(st.integers(0, len(shape))) :]
            count = int(np.prod(part))
            flat = draw(st.lists(st.integers(-n, n - 1), min_size=count, max_size=count))
            at = np.array(flat, np.int64).reshape(part)
            some = True
            plain.append(at)
            ours.append(lazy(at, 1) if kind == "lazy" and at.ndim else at)
        if draw(st.integers(0, 5)) == 0:
            plain.append(None)
            ours.append(None)
    return tuple(plain), tuple(ours), some


@settings(max_examples=conftest.cases(20), deadline=None, derandomize=True)
@given(keys())
def test_reads(key):
    plain, ours, some = key
    a = np.arange(120).reshape(SHAPE)
    got = lazy(a)[ours]
    np.testing.assert_array_equal(got.compute(), a[plain])
    assert got.shape == a[plain].shape


@settings(max_examples=conftest.cases(20), deadline=None, derandomize=True)
@given(keys(), st.data())
def test_assigns(key, data):
    plain, ours, some = key
    plain, ours = (tuple(k for k in part if k is not None) for part in (plain, ours))
    a = np.arange(120.0).reshape(SHAPE)
    x = lazy(a)
    full = a[plain].shape
    kept = full[data.draw(st.integers(0, len(full))) :]
    kept = tuple(n if data.draw(st.booleans()) else 1 for n in kept)
    value = -1.0 - np.arange(np.prod(kept)).reshape(kept)
    a[plain] = value
    x[ours] = value
    np.testing.assert_array_equal(x.compute(), a)


def test_the_last_of_equal_positions_counts():
    a = np.zeros((6, 3))
    at = np.array([4, 1, 4, -2, 1])
    value = np.arange(15.0).reshape(5, 3)
    x = lazy(a)
    x[lazy(at)] = value
    a[at] = value
    np.testing.assert_array_equal(x.compute(), a)


def test_masks():
    a = np.arange(30.0).reshape(5, 6)
    mask = a % 4 == 1
    x = lazy(a)
    x[lazy(mask)] = -np.arange(mask.sum(), dtype="f8")
    a[mask] = -np.arange(mask.sum(), dtype="f8")
    np.testing.assert_array_equal(x.compute(), a)
    for n in (mask.sum() - 1, mask.sum() + 1, 2, 0):
        y = lazy(a)
        y[mask] = np.ones(n)
        with pytest.raises(ValueError, match="as many values as true elements of the mask"):
            y.compute()
    y = lazy(a)
    y[np.zeros(a.shape, bool)] = np.ones(0)
    np.testing.assert_array_equal(y.compute(), a)
    assert y.chunks == lazy(a).chunks


def test_out_of_range():
    a = np.arange(30.0).reshape(5, 6)
    x = lazy(a)
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 1 of size 6"):
        x[np.array([0, 1]), np.array([0, 6])]
    y = x[lazy(np.array([0, 1])), lazy(np.array([0, -7]))]
    with pytest.raises(IndexError, match="position -7 is out of bounds for axis 1 of 6 elements"):
        y.compute()
    x[lazy(np.array([5]))] = 0
    with pytest.raises(IndexError, match="position 5 is out of bounds for axis 0 of 5 elements"):
        x.compute()
    with pytest.raises(ValueError, match="does not fit"):
        x[np.array([1, 2])] = np.ones(5)
    nothing = lazy(np.zeros((0, 3)))
    with pytest.raises(IndexError, match="positions in axis 0, which has no elements"):
        nothing[lazy(np.array([0]))] = 1


def test_nothing_is_computed_and_memory_is_bounded(tmp_path):
    spec = cubed.Spec(allowed_mem="3MB", reserved_mem=0)
    rng = np.random.default_rng(1)
    a = rng.normal(size=(1000, 1200))
    i, j = (rng.integers(0, n, 20_000) for n in a.shape)
    x = cubed.from_array(a, chunks=(40, 300), spec=spec)
    at = [cubed.from_array(k, chunks=5000, spec=spec) for k in (i, j)]
    with cubed.raise_if_computes():
        y = x[at[0], at[1]]
        x[at[0], at[1]] = 0.0
    np.testing.assert_array_equal(computed(y), a[i, j])
    a[i, j] = 0
    np.testing.assert_array_equal(computed(x), a)


def test_the_command_has_them(tmp_path):
    a = np.arange(24.0).reshape(4, 6)
    i, j = np.array([3, 0, -1]), np.array([5, -6, 5])
    for name, value in (("a", a), ("i", i), ("j", j)):
        zarr.create_array(tmp_path / name, data=value, chunks=tuple(2 for _ in value.shape))
    text = (
        "g = gather(a, i, j); h = gather(a, None, j); "
        "s = scatter(a, -1, i, j); t = scatter(a, 0, i, None)"
    )
    ins = [f"--in={n}={tmp_path / n}" for n in "aij"]
    got = check(run("eval", text, *ins, "--json", "--progress", "none")).arrays()
    np.testing.assert_array_equal(got["g"], a[i, j])
    np.testing.assert_array_equal(got["h"], a[:, j])
    b, c = a.copy(), a.copy()
    b[i, j] = -1
    c[i] = 0
    np.testing.assert_array_equal(got["s"], b)
    np.testing.assert_array_equal(got["t"], c)
    result = run("eval", "gather(a, i)", *ins)
    assert result.code == 1
    assert "positions of 1 axes, expected 2" in result.err
