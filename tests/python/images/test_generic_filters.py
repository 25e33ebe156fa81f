"""Filters, transformations and counts of images with user-defined functions, compared with
scipy.ndimage.
"""

import cubed
import numpy as np
import pytest
import scipy.ndimage
from cubed import ndimage

MODES = ["reflect", "constant", "nearest", "mirror", "wrap", "grid-mirror", "grid-wrap"]


def image(shape=(13, 17), dtype="f8", seed=0):
    return (np.random.default_rng(seed).normal(size=shape) * 20).astype(dtype)


def lazy(a, chunks=None):
    return cubed.from_array(a, chunks=chunks or (4,) * a.ndim)


def scaled(values, factor=1, *, add=0.0):
    return factor * np.ptp(values) + add + values[0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1"])
def test_generic_filter(mode, dtype):
    a = abs(image(dtype=dtype))
    for options in (
        {"size": 3, "origin": (-1, 1)},
        {"size": (1, 4)},
        {"footprint": [[1, 0, 1], [0, 1, 1]], "origin": (0, -1), "output": np.dtype("f8")},
        {"size": 5, "axes": 1},
        {"size": (2, 3), "axes": (0, 1)},
    ):
        call = {
            "mode": mode, "cval": 2.5, "extra_arguments": (0.5,), "extra_keywords": {"add": 1.0},
            **options,
        }  # fmt: skip
        wanted = scipy.ndimage.generic_filter(
            a, scaled, **{k: (v,) if k == "axes" and v == 1 else v for k, v in call.items()}
        )
        with cubed.raise_if_computes():
            got = ndimage.generic_filter(lazy(a), scaled, **call)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.compute(), wanted)


def test_a_mode_for_each_axis():
    a = image()
    got = ndimage.generic_filter(lazy(a), np.median, size=3, mode=["mirror", "wrap"]).compute()
    padded = np.pad(np.pad(a, ((1, 1), (0, 0)), "reflect"), ((0, 0), (1, 1)), "wrap")
    np.testing.assert_array_equal(
        got, scipy.ndimage.generic_filter(padded, np.median, 3)[1:-1, 1:-1]
    )


def sums(line, out, factor=1):
    out[:] = factor * (line[3:] + line[:-3])
    out[0] = line.sum()


@pytest.mark.parametrize("mode", MODES)
def test_generic_filter1d(mode):
    a = image(dtype="f4")
    for axis in (0, -1):
        options = {"axis": axis, "mode": mode, "cval": 3, "origin": -1, "extra_arguments": (2,)}
        wanted = scipy.ndimage.generic_filter1d(a, sums, 4, **options)
        with cubed.raise_if_computes():
            got = ndimage.generic_filter1d(lazy(a), sums, 4, **options)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.compute(), wanted)


def second(module, x, axis, output, mode, cval):
    return module.correlate1d(x, [1, -2, 1], axis, output, mode, cval)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4"])
def test_derivatives(dtype):
    a = image(dtype=dtype)
    for options in ({}, {"mode": "wrap"}, {"mode": ["mirror", "constant"], "cval": 2}):
        got = ndimage.generic_laplace(lazy(a), lambda *v: second(ndimage, *v), **options)
        wanted = scipy.ndimage.generic_laplace(a, lambda *v: second(scipy.ndimage, *v), **options)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.compute(), wanted, rtol=1e-6, atol=1e-5)
        got = ndimage.generic_gradient_magnitude(lazy(a), ndimage.sobel, **options)
        wanted = scipy.ndimage.generic_gradient_magnitude(a, scipy.ndimage.sobel, **options)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.compute(), wanted, rtol=1e-6, atol=1e-5)
    np.testing.assert_array_equal(
        ndimage.generic_laplace(lazy(a), ndimage.sobel, axes=()).compute(), a
    )


def swirl(at, strength, ndim=2):
    y, x = at
    return (y + strength * np.sin(x), x * 0.7 + 1)[:ndim]


def test_geometric_transform():
    a = image()
    for options in ({}, {"order": 1, "mode": "nearest"}, {"output_shape": (5, 20), "order": 2}):
        given = {"extra_arguments": (2.5,), "extra_keywords": {"ndim": 2}, **options}
        with cubed.raise_if_computes():
            got = ndimage.geometric_transform(lazy(a), swirl, **given)
        wanted = scipy.ndimage.geometric_transform(a, swirl, **given)
        np.testing.assert_allclose(got.compute(), wanted, rtol=0, atol=1e-10)
    got = ndimage.geometric_transform(lazy(a), lambda at: (at[0], 3.5), output_shape=(9,))
    wanted = scipy.ndimage.geometric_transform(a, lambda at: (at[0], 3.5), output_shape=(9,))
    np.testing.assert_allclose(got.compute(), wanted, rtol=0, atol=1e-10)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "u1"])
def test_histogram(dtype):
    a = abs(image(dtype=dtype))
    labels = np.random.default_rng(1).integers(0, 5, a.shape)
    for low, high, bins in ((0, 40, 8), (0.1, 0.7, 3), (-5, 1e9, 1), (3, 30, 27)):
        for given in ({}, {"labels": labels}, {"labels": labels, "index": 2}):
            with cubed.raise_if_computes():
                got = ndimage.histogram(lazy(a), low, high, bins, **given)
            wanted = scipy.ndimage.histogram(a, low, high, bins, **given)
            np.testing.assert_array_equal(got.compute(), wanted)
        index = [[4, 9], [1, 1]]
        got = ndimage.histogram(lazy(a), low, high, bins, lazy(labels), index).compute()
        assert got.shape == (2, 2, bins)
        for at in np.ndindex(2, 2):
            wanted = scipy.ndimage.histogram(a, low, high, bins, labels, index[at[0]][at[1]])
            np.testing.assert_array_equal(got[at], 0 if wanted is None else wanted)


def test_histogram_of_nan():
    a = np.array([np.nan, 1, 2, np.inf, 4])
    np.testing.assert_array_equal(ndimage.histogram(lazy(a, 2), 1, 4, 3).compute(), [1, 1, 1])


@pytest.mark.parametrize("shape", [(30,), (13, 17), (5, 6, 7)])
def test_find_objects(shape):
    a = np.random.default_rng(2).integers(0, 9, shape) * (
        np.random.default_rng(3).random(shape) < 0.2
    )
    a[a == 4] = 0
    for most in (0, 3, 12):
        assert ndimage.find_objects(lazy(a), most) == scipy.ndimage.find_objects(a, most)
    assert ndimage.find_objects(lazy(np.zeros_like(a))) == []
    assert ndimage.find_objects(lazy(a)[:0]) == []


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ndimage.generic_filter(x, np.sum), "expected either size or footprint"),
        (lambda x: ndimage.generic_filter(x, np.sum, 3, origin=2), "origin is 2 for a box of 3"),
        (lambda x: ndimage.generic_filter(x, np.sum, (3, 3, 3)), "3 entries for 2 axes"),
        (lambda x: ndimage.generic_filter(x, np.sum, 3, axes=(1, 0)), "expected increasing axes"),
        (lambda x: ndimage.generic_filter(x, np.sum, 3, mode="mirorr"), "mode is 'mirorr'"),
        (lambda x: ndimage.generic_filter(x, np.sum, footprint=[[0]]), "0 elements that count"),
        (lambda x: ndimage.generic_filter(x * 1j, np.sum, 3), "complex128 to complex128"),
        (lambda x: ndimage.generic_filter1d(x, np.sum, 0), "filter_size is 0"),
        (lambda x: ndimage.generic_laplace(x, lambda *v: np.ones((6, 5))), "expected a lazy array"),
        (lambda x: ndimage.histogram(x, 3, 3, 2), "2 bins from 3 to 3"),
        (lambda x: ndimage.histogram(x, 0, 3, 0), "0 bins from 0 to 3"),
        (lambda x: ndimage.find_objects(x), "input is float64 of 2 axes"),
    ],
)  # fmt: skip
def test_errors(call, message):
    with pytest.raises((ValueError, TypeError), match=message):
        call(cubed.ones((6, 5), chunks=2))


def test_executors(tmp_path):
    """Functions of users run in worker processes, too."""
    a = image()
    spec = cubed.Spec(tmp_path, allowed_mem="500MB", executor_name="processes")
    x = cubed.from_array(a, chunks=6, spec=spec)
    got = cubed.compute(
        ndimage.generic_filter(x, np.ptp, size=3),
        ndimage.generic_filter1d(x, sums, 4),
        ndimage.geometric_transform(x, swirl, extra_arguments=(1,)),
        max_workers=2,
    )
    wanted = (
        scipy.ndimage.generic_filter(a, np.ptp, size=3),
        scipy.ndimage.generic_filter1d(a, sums, 4),
        scipy.ndimage.geometric_transform(a, swirl, extra_arguments=(1,)),
    )
    for g, w in zip(got, wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=1e-10)
