"""cubed.ndimage against scipy.ndimage."""

import cubed
import numpy as np
import pytest
import scipy.ndimage
from cubed import ndimage

RNG = np.random.default_rng(13)
A = RNG.normal(size=(17, 23))
T = RNG.integers(0, 200, (6, 9, 8)).astype("u1")
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])

CASES = {
    "gaussian": (lambda m, x, **k: m.gaussian_filter(x, 1.2, **k), A),
    "gaussian of axes": (lambda m, x, **k: m.gaussian_filter(x, (0, 0.7), **k), A),
    "derivative": (lambda m, x, **k: m.gaussian_filter(x, 1, order=(0, 1), truncate=3, **k), A),
    "gaussian of bytes": (lambda m, x, **k: m.gaussian_filter(x, 0.6, **k), T),
    "gaussian of single": (lambda m, x, **k: m.gaussian_filter(x, 1, **k), A.astype("f4")),
    "uniform": (lambda m, x, **k: m.uniform_filter(x, 3, **k), A),
    "uniform of even sizes": (lambda m, x, **k: m.uniform_filter(x, (2, 5), **k), A),
    "median": (lambda m, x, **k: m.median_filter(x, 3, **k), A),
    "median of bytes": (lambda m, x, **k: m.median_filter(x, (1, 3, 4), **k), T),
    "median of a footprint": (lambda m, x, **k: m.median_filter(x, footprint=CROSS, **k), A),
    "minimum": (lambda m, x, **k: m.minimum_filter(x, 4, **k), A),
    "maximum": (lambda m, x, **k: m.maximum_filter(x, footprint=CROSS, **k), A),
}


@pytest.mark.parametrize("mode", ["reflect", "nearest", "wrap", "constant"])
@pytest.mark.parametrize("name", CASES)
def test_filters(name, mode):
    call, a = CASES[name]
    wanted = call(scipy.ndimage, a, mode=mode, cval=2.0)
    for chunks in (5, 100):
        with cubed.raise_if_computes():
            got = call(ndimage, cubed.from_array(a, chunks=chunks), mode=mode, cval=2.0)
        assert got.dtype == wanted.dtype
        eps = 1e-5 if a.dtype == "f4" else 1e-11
        np.testing.assert_allclose(got.compute(), wanted, rtol=eps, atol=eps)


def same_objects(got, wanted):
    """Labels are the same but for their order."""
    pairs = np.unique(np.stack([got.ravel(), wanted.ravel()], axis=1), axis=0)
    assert len(np.unique(pairs[:, 0])) == len(np.unique(pairs[:, 1])) == len(pairs)
    assert pairs[0].tolist() == [0, 0] or (wanted > 0).all()


@pytest.mark.parametrize("chunks", [1, 3, 7, 100])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.25, 0.5, 0.62, 1.0])
def test_label(share, full, chunks):
    for shape in ((19, 22), (5, 6, 7), (40,)):
        a = RNG.random(shape) < share
        structure = np.ones((3,) * a.ndim) if full else None
        wanted, n = scipy.ndimage.label(a, structure)
        got, m = ndimage.label(cubed.from_array(a, chunks=chunks), structure)
        assert m == n and got.dtype == np.int32 and got.shape == a.shape
        same_objects(got.compute(), wanted)


def test_objects_around_blocks():
    a = np.zeros((9, 9))
    a[1:8, 1] = a[1:8, 7] = a[7, 1:8] = 3.5  # one object, by three blocks
    a[3:5, 3:5] = 1
    got, n = ndimage.label(cubed.from_array(a, chunks=2))
    assert n == 2
    same_objects(got.compute(), scipy.ndimage.label(a)[0])
    assert ndimage.label(cubed.zeros((0, 3)))[1] == 0


def test_what_is_wrong():
    x = cubed.from_array(A, chunks=5)
    for call, message in (
        (lambda: ndimage.gaussian_filter(x, -1), "sigma is -1"),
        (lambda: ndimage.gaussian_filter(x, (1, 2, 3)), "sigma has 3 entries for 2 axes"),
        (lambda: ndimage.gaussian_filter(x, 1, mode="mirror"), "mode is 'mirror'"),
        (lambda: ndimage.gaussian_filter(x, 9), "needs 36 elements around a block of axis 0"),
        (lambda: ndimage.median_filter(x), "give one of size and footprint"),
        (lambda: ndimage.median_filter(x, 0), "size is 0"),
        (lambda: ndimage.median_filter(x, footprint=[1, 1]), "footprint has 1 axes"),
        (lambda: ndimage.label(x, np.ones((2, 2))), "structure has shape"),
        (lambda: ndimage.label(x, np.tri(3) * np.array([[1], [1], [0]])), "not symmetric"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
