"""Measurements of labelled objects by cubed.ndimage, compared with scipy.ndimage."""

import cubed
import numpy as np
import pytest
import scipy.ndimage
from conftest import check, run
from cubed import ndimage
from cubed.exceptions import PlanTooLargeError

RNG = np.random.default_rng(36)
NUMBERS = ["sum_labels", "sum", "mean", "variance", "standard_deviation", "minimum", "maximum"]
NUMBERS += ["median"]
PLACES = ["minimum_position", "maximum_position", "center_of_mass"]
LABELS = RNG.integers(0, 5, (7, 9))
INDEXES = [None, 3, [1, 2, 3], [4, 1], [[1, 4], [2, 0]], [2, 2, 1]]


def image(dtype):
    x = RNG.permutation(np.arange(63)).reshape(7, 9)
    return x % 2 == 0 if dtype == "?" else x.astype(dtype)


@pytest.mark.parametrize("dtype", ["?", "i1", ">u2", "i4", "u8", "f4", ">f8"])
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
        assert got.dtype == want.dtype.newbyteorder("="), index


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
    with pytest.raises(TypeError, match="index has items that are not integers"):
        ndimage.mean(np.ones(3), np.ones(3, int), [1.5])


def test_labels_are_broadcast_to_and_from_the_image():
    for index in (None, 2, [3, 0, 1]):
        got = ndimage.sum_labels(2.5, cubed.from_array(LABELS, chunks=4), index).compute()
        want = 2.5 * scipy.ndimage.sum_labels(np.ones(LABELS.shape), LABELS, index)
        np.testing.assert_array_equal(got, want)
    column = np.arange(7.0).reshape(7, 1)
    got = ndimage.maximum_position(cubed.from_array(column, chunks=(2, 1)), LABELS, [1, 4])
    want = scipy.ndimage.maximum_position(column + np.zeros(9), LABELS, [1, 4])
    assert [row[0] for row in got.compute()] == [row[0] for row in want]


@pytest.mark.parametrize("labels", ["?", "u1", "i2", ">i4", "u8"])
def test_types_of_labels(labels):
    x, by = image("f8"), LABELS.astype(labels)
    for index in (None, 1, [1, 0, 7], [0, -3, 2**40]):
        got = ndimage.sum_labels(cubed.from_array(x, chunks=(2, 5)), by, index).compute()
        np.testing.assert_array_equal(got, scipy.ndimage.sum_labels(x, by, index))


def test_labels_that_are_beyond_int64_are_above_0_and_equal_no_label_of_the_index():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    labels = np.array([2**64 - 1, 0, 2**63, 5], "u8")
    image = cubed.from_array(x, chunks=3)
    assert ndimage.sum_labels(image, labels).compute() == 13
    assert ndimage.sum_labels(image, labels, [-1, -(2**63), 5]).compute().tolist() == [0, 0, 8]
    assert ndimage.sum_labels(image, labels, -1).compute() == 0


@pytest.mark.parametrize("spread", [1, 3, 10**6, 2**60])
def test_labels_near_and_far(spread):
    """Groups are distances of near labels, and places of far ones."""
    by = (LABELS - 2) * spread
    x = image("f8")
    lazy = cubed.from_array(x, chunks=(3, 4))
    index = np.array([2, -1, 0, 9, -1]) * (spread if spread < 2**60 else 1)
    for name in ("sum_labels", "median", "minimum", "maximum"):
        want = np.array(getattr(scipy.ndimage, name)(x, by, index))
        if name == "median":  # SciPy takes any element for a label that is not there.
            want[~np.isin(index, by)] = np.nan
        np.testing.assert_array_equal(getattr(ndimage, name)(lazy, by, index).compute(), want)


@pytest.mark.parametrize("name", NUMBERS)
def test_half_precision(name):
    x = image("f2")
    for index in (None, [4, 1]):
        got = getattr(ndimage, name)(cubed.from_array(x, chunks=(3, 4)), LABELS, index).compute()
        want = np.asarray(getattr(scipy.ndimage, name)(x, LABELS, index))
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, rtol=2e-3)


def test_complex_numbers_have_sums_means_variances_and_centres():
    x = image("f8") + 1j * image("f8")[::-1]
    lazy = cubed.from_array(x, chunks=(3, 4))
    for name in ("sum_labels", "mean", "variance", "standard_deviation", "center_of_mass"):
        got = getattr(ndimage, name)(lazy, LABELS, 2).compute()
        np.testing.assert_allclose(got, getattr(scipy.ndimage, name)(x, LABELS, 2), rtol=1e-12)
        several = getattr(ndimage, name)(lazy, LABELS, [3, 2]).compute()
        np.testing.assert_allclose(several[1], got, rtol=1e-12)
    with pytest.raises(TypeError, match="minimum_labels is not defined for complex128"):
        ndimage.minimum(lazy, LABELS, 2)


def test_times_have_extremes():
    x = image("i8").astype("M8[s]")
    x[0, 0] = "NaT"
    lazy, labels = cubed.from_array(x, chunks=(3, 4)), np.where(LABELS[0, 0] == LABELS, 9, LABELS)
    chosen = [k for k in range(5) if k != LABELS[0, 0]]
    for name in ("minimum", "maximum"):
        got = getattr(ndimage, name)(lazy, labels, [*chosen, 9]).compute()
        assert got.dtype == x.dtype and np.isnat(got[-1])
        function = np.min if name == "minimum" else np.max
        assert got[:-1].tolist() == [function(x[labels == k]).tolist() for k in chosen]
    with pytest.raises(TypeError, match="sum_labels is not defined for datetime64"):
        ndimage.sum_labels(lazy, labels, chosen)


def test_infinities_and_zeros_of_either_sign():
    x = np.array([np.inf, 1.0, -np.inf, 2.0, -0.0, -0.0, np.inf, -np.inf])
    by = np.array([1, 1, 2, 2, 3, 3, 4, 4])
    lazy = cubed.from_array(x, chunks=3)
    for name in NUMBERS:
        got = getattr(ndimage, name)(lazy, by, [1, 2, 3, 4]).compute()
        with np.errstate(invalid="ignore"):
            want = np.asarray(getattr(scipy.ndimage, name)(x, by, [1, 2, 3, 4]))
        np.testing.assert_array_equal(got, want, err_msg=name)
    assert np.signbit(ndimage.minimum(lazy, by, 3).compute())


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0, 3)])
def test_no_elements_at_all(shape):
    x, labels = cubed.from_array(np.empty(shape)), np.empty(shape, int)
    for name in NUMBERS + PLACES:
        for index in (None, 1, [1, 2], []):
            got = getattr(ndimage, name)(x, labels, index).compute()
            places = (len(shape),) if name in PLACES else ()
            assert got.shape == np.shape(index if index is not None else 0) + places
            is_zero = name in (*PLACES[:2], "sum", "sum_labels", "minimum", "maximum")
            np.testing.assert_array_equal(got, np.full(got.shape, 0 if is_zero else np.nan))
    assert ndimage.histogram(x, 0, 1, 2, labels, [1, 2]).compute().tolist() == [[0, 0], [0, 0]]
    assert ndimage.value_indices(labels) == {}
    made = ndimage.labeled_comprehension(x, labels, [1, 2], np.sum, float, -1)
    assert made.compute().tolist() == [-1, -1]


def test_an_index_of_other_items_is_refused():
    x = cubed.from_array(image("f8"), chunks=4)
    with pytest.raises(ValueError, match="inhomogeneous"):
        ndimage.mean(x, LABELS, [[1, 2], [3]])
    with pytest.raises(TypeError, match="index"):
        ndimage.mean(x, LABELS, "1")
    with pytest.raises(ValueError, match="broadcast"):
        ndimage.mean(x, [1, 2], [1])


# --- Histograms ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["i1", "u2", "f4", "f8"])
@pytest.mark.parametrize("index", [None, 3, [1, 2, 4], [3, 1], [2, 2]])
def test_histograms(index, dtype):
    x = image(dtype)
    got = ndimage.histogram(cubed.from_array(x, chunks=(3, 4)), 2, 50, 7, LABELS, index).compute()
    want = scipy.ndimage.histogram(x, 2, 50, 7, LABELS, index)
    assert got.dtype == np.int64
    np.testing.assert_array_equal(got, np.stack(want) if np.ndim(index) else want)


def test_histograms_without_labels_and_with_nan():
    x = np.array([0.1, np.nan, 0.3, 1.0, -np.inf, np.inf, 0.7])
    lazy = cubed.from_array(x, chunks=2)
    want = np.histogram(x[np.isfinite(x)], np.linspace(0.1, 1, 10))[0]
    assert ndimage.histogram(lazy, 0.1, 1, 9).compute().tolist() == want.tolist()
    assert ndimage.histogram(lazy, 0, 1, 2, [1] * 7, [5, 1]).compute().tolist() == [[0, 0], [2, 2]]
    for wrong in ((1, 1, 2), (2, 1, 2), (0, np.inf, 2), (0, np.nan, 2), (0, 1, 0)):
        with pytest.raises(ValueError, match="expected at least 1 between finite ends"):
            ndimage.histogram(lazy, *wrong)
    with pytest.raises(ValueError, match="an index without labels"):
        ndimage.histogram(lazy, 0, 1, 2, None, [1])


# --- Functions of users --------------------------------------------------------------------------


def spread(values):
    return np.ptp(values)


def weighted(values, positions):
    return (values * positions).sum()


def ascending(values, positions):
    return np.all(np.diff(positions) > 0) and np.array_equal(values, positions * 2)


@pytest.mark.parametrize("dtype", ["i2", "f4", ">f8"])
@pytest.mark.parametrize("index", [None, 3, [1, 2, 3], [4, 1, 99, -5], [2, 2, 1], []])
@pytest.mark.parametrize("passes", [False, True])
def test_labeled_comprehension(index, dtype, passes):
    x = image(dtype)
    function, out = (weighted, "f8") if passes else (spread, "i4")
    lazy, by = cubed.from_array(x, chunks=(3, 4)), cubed.from_array(LABELS, chunks=(4, 3))
    made = ndimage.labeled_comprehension(lazy, by, index, function, out, -1, passes)
    assert made.dtype == np.dtype(out) and made.shape == np.shape(index if index is not None else 0)
    if index == []:
        return
    want = scipy.ndimage.labeled_comprehension(x, LABELS, index, function, out, -1, passes)
    np.testing.assert_array_equal(made.compute(), want)


def test_positions_of_an_object_are_ascending():
    x = cubed.from_array(2 * np.arange(63).reshape(7, 9), chunks=(3, 4))
    made = ndimage.labeled_comprehension(x, LABELS, [1, 2], ascending, bool, False, True)
    assert made.compute().all()


def test_labeled_comprehension_without_labels_and_of_two_axes():
    x = image("f8")
    lazy = cubed.from_array(x, chunks=(3, 4))
    assert ndimage.labeled_comprehension(lazy, None, None, np.median, float, 0).compute() == 31
    index = [[1, 9], [3, 4]]
    got = ndimage.labeled_comprehension(lazy, LABELS, index, np.max, float, np.nan).compute()
    want = [[x[k == LABELS].max() if k < 9 else np.nan for k in row] for row in index]
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="an index without labels"):
        ndimage.labeled_comprehension(lazy, None, [1], np.max, float, 0)
    with pytest.raises(TypeError, match="labels are float64, expected integers"):
        ndimage.labeled_comprehension(lazy, x, [1], np.max, float, 0)


def test_labeled_comprehension_is_refused_for_an_object_that_does_not_fit():
    spec = cubed.Spec(allowed_mem="240MB", reserved_mem="200MB")
    x = cubed.random.random((4000, 1500), chunks=(500, 500), spec=spec)
    by = (cubed.cumsum(x[:, :1] * 0 + 1, axis=0) % 60).astype("i4")
    made = ndimage.labeled_comprehension(x, by, [3, 59], np.max, float, 0)
    want = cubed.where(by == 3, x, 0).max().compute(), cubed.where(by == 59, x, 0).max().compute()
    assert tuple(made.compute()) == want
    with pytest.raises(PlanTooLargeError):
        ndimage.labeled_comprehension(x, None, None, np.max, float, 0).compute()


@pytest.mark.parametrize("dtype", ["u1", ">i4", "i8", "u8"])
@pytest.mark.parametrize("ignored", [None, 0, 99])
def test_value_indices(dtype, ignored):
    x = LABELS.astype(dtype)
    got = ndimage.value_indices(cubed.from_array(x, chunks=(3, 4)), ignore_value=ignored)
    want = scipy.ndimage.value_indices(x.astype(x.dtype.newbyteorder("=")), ignore_value=ignored)
    assert list(got) == list(want)
    for value, places in want.items():
        for a, b in zip(cubed.compute(*got[value]), places, strict=True):
            np.testing.assert_array_equal(a, b)


def test_value_indices_of_other_arrays_are_refused():
    for wrong in (np.ones(3), np.ones(3, bool), np.int64(3)):
        with pytest.raises(TypeError, match="expected integers"):
            ndimage.value_indices(wrong)


# --- Memory --------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [None, 2, [3, 0, 99, 2]])
@pytest.mark.parametrize("dtype", ["i2", "i4", "f4", "f8"])
def test_medians_that_do_not_fit_in_a_task_are_counted(index, dtype):
    rng = np.random.default_rng(5)
    x = (rng.normal(size=(700, 900)) * 1000).astype(dtype)
    by = rng.integers(0, 4, (700, 900)).astype("u1")
    if dtype == "f8":
        x[by == 0] = np.nan
    spec = cubed.Spec(allowed_mem="204MB", reserved_mem="200MB")
    got = ndimage.median(
        cubed.from_array(x, chunks=(100, 100), spec=spec),
        cubed.from_array(by, chunks=(70, 300), spec=spec), index,
    ).compute()  # fmt: skip
    with np.errstate(invalid="ignore"):
        want = np.array(scipy.ndimage.median(x, by, index))
    if np.ndim(index):
        want[2] = np.nan
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got, want)


def test_measurements_are_lazy_and_within_the_bound():
    spec = cubed.Spec(allowed_mem="220MB", reserved_mem="200MB")
    x = cubed.ones((3000, 2000), chunks=(300, 500), spec=spec)
    labels = (cubed.cumsum(x[:, :1], axis=0) % 4).astype("i4")
    total = ndimage.sum_labels(x, labels, [0, 1, 2, 3])
    assert total.compute().tolist() == [1.5e6] * 4


def test_the_command_measures_stored_arrays(tmp_path):
    x = image("f8")
    for name, values in (("x", x), ("labels", LABELS)):
        cubed.to_zarr(cubed.from_array(values, chunks=(3, 4)), tmp_path / f"{name}.zarr")
    got = check(run(
        "eval", "sum_labels(x, labels, (1, 3))", "--in", f"x={tmp_path}/x.zarr",
        "--in", f"labels={tmp_path}/labels.zarr", "--progress", "none",
    )).out  # fmt: skip
    want = scipy.ndimage.sum_labels(x, LABELS, [1, 3])
    assert got.splitlines()[-1] == f"[{want[0]:.0f}, {want[1]:.0f}]"
