"""Compares positions on grids, and numbers combined with arrays, with NumPy."""

import itertools

import cubed
import numpy as np
import pytest

LOW = np.array([[1.0], [2.0]])
HIGH = np.array([4.0, 5.0, 6.0])


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
@pytest.mark.parametrize("name", ["linspace", "geomspace", "logspace"])
def test_numbers_between_arrays(name, axis):
    lazy, numpy = getattr(cubed, name), getattr(np, name)
    for endpoint in (True, False):
        expected = numpy(LOW, HIGH, 5, endpoint=endpoint, axis=axis)
        made = lazy(cubed.asarray(LOW, chunks=1), HIGH, 5, endpoint=endpoint, axis=axis)
        np.testing.assert_allclose(made.compute(), expected, rtol=1e-14)


def test_the_last_number_is_the_bound_itself():
    made = cubed.linspace(cubed.asarray([0.1, 0.2]), 0.7, 7).compute()
    assert (made[-1] == 0.7).all()


@pytest.mark.parametrize("name", ["linspace", "geomspace", "logspace"])
def test_a_negative_number_of_numbers_is_refused(name):
    with pytest.raises(ValueError, match="num is -1, expected 0 or more|num is -1, expected >= 0"):
        getattr(cubed, name)(cubed.asarray([1.0]), 2.0, -1)


@pytest.mark.parametrize("k", [-9, -2, 0, 1, 4, 9])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 5), (0, 3)], ids=repr)
def test_triangles(shape, k):
    n, m = shape
    for name in ("tril_indices", "triu_indices"):
        for chunks in ("auto", 2):
            made = getattr(cubed, name)(n, k, m, chunks=chunks)
            expected = getattr(np, name)(n, k, m)
            for x, e in zip(made, expected, strict=True):
                np.testing.assert_array_equal(x, e)


@pytest.mark.parametrize("order", ["C", "F"])
def test_flat_positions_and_back(order):
    shape = (3, 4, 5)
    flat = np.arange(60).reshape(6, 10)
    at = cubed.unravel_index(cubed.asarray(flat, chunks=4), shape, order=order)
    for x, e in zip(at, np.unravel_index(flat, shape, order=order), strict=True):
        np.testing.assert_array_equal(x, e)
    back = cubed.ravel_multi_index(at, shape, order=order)
    np.testing.assert_array_equal(back, flat)


def test_modes_of_positions_beyond_a_shape():
    at = (np.array([-1, 5]), np.array([7, -2]))
    for mode in ("wrap", "clip", ("wrap", "clip")):
        expected = np.ravel_multi_index(at, (3, 4), mode=mode)
        np.testing.assert_array_equal(cubed.ravel_multi_index(at, (3, 4), mode=mode), expected)
    with pytest.raises(ValueError, match="for each of 2 axes"):
        cubed.ravel_multi_index(at, (3, 4), mode=("wrap", "round"))


@pytest.mark.parametrize("indexing", ["xy", "ij"])
@pytest.mark.parametrize("sparse", [False, True])
def test_axes_of_grids_are_flattened(indexing, sparse):
    """As in NumPy: an array of two axes was refused."""
    parts = [np.arange(6.0).reshape(2, 3), np.array(7), np.arange(4), np.empty((0, 5))]
    for some in (parts[:1], parts[:3], parts[1:3], parts[2:]):
        lazy = [cubed.from_array(p, chunks=2) for p in some]
        got = cubed.meshgrid(*lazy, indexing=indexing, sparse=sparse)
        want = np.meshgrid(*some, indexing=indexing, sparse=sparse)
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g.compute(), w)


def test_types_of_ranges():
    """Of all pairs of types as in NumPy; with uint64 the result was int64."""
    types = [np.int8, np.uint8, np.int64, np.uint64, np.float32, np.float64, int, float]
    for a, b, c in itertools.product(types, repeat=3):
        want = np.arange(a(3), b(13), c(2))
        got = cubed.arange(a(3), b(13), c(2), chunks=2)
        assert got.dtype == want.dtype, (a, b, c)
    np.testing.assert_array_equal(got.compute(), want)
    got = cubed.arange(np.uint64(2**63), np.uint64(2**63 + 4096), 1024)
    assert got.compute().tolist() == [float(2**63 + 1024 * k) for k in range(4)]
