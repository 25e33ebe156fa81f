"""Measurements of labelled objects of cubed.ndimage against scipy.ndimage."""

import cubed
import numpy as np
import pytest
import scipy.ndimage
from cubed import ndimage

RNG = np.random.default_rng(36)
NUMBERS = ["sum_labels", "sum", "mean", "variance", "standard_deviation", "minimum", "maximum"]
NUMBERS += ["median"]
PLACES = ["minimum_position", "maximum_position", "center_of_mass"]
LABELS = RNG.integers(0, 5, (7, 9))
INDEXES = [None, 3, [1, 2, 3], [4, 1], [[1, 4], [2, 0]], [2, 2, 1]]


def image(dtype):
    x = RNG.permutation(np.arange(63)).reshape(7, 9)
    return x % 2 == 0 if dtype == "?" else x.astype(dtype)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f4", "f8"])
@pytest.mark.parametrize("name", NUMBERS + PLACES)
def test_objects_have_scipys_measurements(name, dtype):
    x = image(dtype)
    lazy = cubed.from_array(x, chunks=(3, 4))
    by = LABELS if dtype == "i4" else cubed.from_array(LABELS, chunks=(4, 3))
    made = [getattr(ndimage, name)(lazy, by, index) for index in INDEXES]
    for index, got in zip(INDEXES, cubed.compute(*made), strict=True):
        want = np.asarray(getattr(scipy.ndimage, name)(x, LABELS, index))
        if name in PLACES and np.ndim(index) == 2:  # SciPy's have no place for two axes.
            want = np.asarray(getattr(scipy.ndimage, name)(x, LABELS, np.ravel(index)))
            want = want.reshape(2, 2, 2)
        assert got.shape == want.shape, index
        # SciPy has any of equal elements.
        if dtype != "?" or name not in ("minimum_position", "maximum_position"):
            np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=str(index))
        if name in ("minimum", "maximum"):
            assert got.dtype == x.dtype
        elif name in PLACES[:2]:
            assert got.dtype == np.int64
        elif "sum" not in name:
            assert got.dtype == np.float64


@pytest.mark.parametrize("name", NUMBERS + PLACES)
def test_no_labels_are_one_object(name):
    x = image("f8")
    got = getattr(ndimage, name)(cubed.from_array(x, chunks=(3, 4))).compute()
    np.testing.assert_allclose(got, getattr(scipy.ndimage, name)(x), rtol=1e-12)


def test_the_first_of_equal_elements_has_the_position():
    x, labels = np.array([[3, 1, 1], [3, 1, 3]]), np.array([[1, 1, 1], [2, 2, 2]])
    image = cubed.from_array(x, chunks=(1, 2))
    assert ndimage.minimum_position(image, labels, [1, 2]).compute().tolist() == [[0, 1], [1, 1]]
    assert ndimage.maximum_position(image, labels, [1, 2]).compute().tolist() == [[0, 0], [1, 0]]


def test_extrema_are_the_four_measurements():
    x = image("f4")
    made = ndimage.extrema(cubed.from_array(x, chunks=(2, 9)), LABELS, [1, 3])
    for got, want in zip(made, scipy.ndimage.extrema(x, LABELS, [1, 3]), strict=True):
        np.testing.assert_array_equal(got.compute(), np.asarray(want))


@pytest.mark.parametrize("chunks", [(1, 1), (7, 9)])
def test_labels_without_elements(chunks):
    x = cubed.from_array(image("f8"), chunks=chunks)
    names = NUMBERS + PLACES
    made = cubed.compute(*(getattr(ndimage, n)(x, LABELS, [1, 99]) for n in names))
    got = dict(zip(names, made, strict=True))
    for name in ("sum_labels", "minimum", "maximum", "minimum_position", "maximum_position"):
        assert not np.any(got[name][1])
    for name in ("mean", "variance", "standard_deviation", "median", "center_of_mass"):
        assert np.all(np.isnan(got[name][1]))
    assert ndimage.sum_labels(x, LABELS, 99).compute() == 0


def test_images_without_elements():
    x, labels = cubed.from_array(np.empty((0, 3))), np.empty((0, 3), int)
    assert ndimage.sum_labels(x, labels, [1, 2]).compute().tolist() == [0, 0]
    assert ndimage.maximum(x, labels, [1, 2]).compute().tolist() == [0, 0]
    assert ndimage.minimum_position(x, labels, [1]).compute().tolist() == [[0, 0]]
    assert np.isnan(ndimage.mean(x, labels, [1]).compute()).all()


@pytest.mark.parametrize("name", NUMBERS + PLACES)
def test_an_empty_index_has_no_measurements(name):
    got = getattr(ndimage, name)(cubed.from_array(image("f8"), chunks=4), LABELS, []).compute()
    assert got.shape == ((0, 2) if name in PLACES else (0,))


@pytest.mark.parametrize("index", [300, -1, [-1, 300, 255]])
def test_labels_beyond_the_type_of_labels_are_not_those_within(index):
    x, labels = np.arange(6.0), np.array([1, 2, 3, 1, 44, 255], "u1")
    got = ndimage.sum_labels(cubed.from_array(x, chunks=4), labels, index).compute()
    np.testing.assert_array_equal(got, scipy.ndimage.sum_labels(x, labels, index))


def test_images_without_axes():
    assert ndimage.sum_labels(np.float64(3), np.int64(1), [1, 2]).compute().tolist() == [3, 0]
    assert ndimage.maximum(np.float64(3)).compute() == 3
    with pytest.raises(ValueError, match="0-d"):
        ndimage.center_of_mass(np.float64(3))
    with pytest.raises(ValueError, match="0-d"):
        ndimage.maximum_position(np.float64(3))


def test_nan_is_the_measurement_of_its_object_only():
    x = np.array([1.0, np.nan, 3.0, 5.0])
    labels = [1, 1, 2, 2]
    for name in ("sum_labels", "mean", "variance", "minimum", "maximum", "median"):
        got = getattr(ndimage, name)(cubed.from_array(x, chunks=1), labels, [1, 2]).compute()
        assert np.isnan(got[0])
        assert got[1] == getattr(scipy.ndimage, name)(x, labels, [2])[0]


def test_labels_are_broadcast():
    x, labels = image("f8"), np.arange(9) % 3
    got = ndimage.mean(cubed.from_array(x, chunks=(3, 4)), labels, [0, 1, 2]).compute()
    np.testing.assert_allclose(got, scipy.ndimage.mean(x, labels, [0, 1, 2]))


def test_labels_that_are_not_integers_are_refused():
    with pytest.raises(TypeError, match="labels are float64, expected integers"):
        ndimage.mean(np.ones(3), np.ones(3), [1])
    with pytest.raises(TypeError, match="index is float64, expected integers"):
        ndimage.mean(np.ones(3), np.ones(3, int), [1.5])


def test_measurements_are_lazy_and_within_the_bound():
    spec = cubed.Spec(allowed_mem="220MB", reserved_mem="200MB")
    x = cubed.ones((3000, 2000), chunks=(300, 500), spec=spec)
    labels = (cubed.cumsum(x[:, :1], axis=0) % 4).astype("i4")
    total = ndimage.sum_labels(x, labels, [0, 1, 2, 3])
    assert total.compute().tolist() == [1.5e6] * 4
