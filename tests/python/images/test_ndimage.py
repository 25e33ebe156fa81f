"""Compares cubed.ndimage with scipy.ndimage."""

import cubed
import numpy as np
import pytest
import scipy.ndimage
from cubed import ndimage

import zarr

RNG = np.random.default_rng(13)
A = RNG.normal(size=(17, 23))
T = RNG.integers(0, 200, (6, 9, 8)).astype("u1")
CROSS = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]])

CASES = {
    "gaussian": (lambda m, x, **k: m.gaussian_filter(x, 1.2, **k), A),
    "gaussian of axes": (lambda m, x, **k: m.gaussian_filter(x, (0, 0.7), **k), A),
    "derivative": (lambda m, x, **k: m.gaussian_filter(x, 1, order=(0, 1), truncate=3, **k), A),
    "derivatives": (lambda m, x, **k: m.gaussian_filter(x, (2, 1), 1, truncate=2, **k), A),
    "gaussian of bytes": (lambda m, x, **k: m.gaussian_filter(x, 0.6, **k), T),
    "gaussian of single": (lambda m, x, **k: m.gaussian_filter(x, 1, **k), A.astype("f4")),
    "uniform": (lambda m, x, **k: m.uniform_filter(x, 3, **k), A),
    "uniform of even sizes": (lambda m, x, **k: m.uniform_filter(x, (2, 5), **k), A),
    "median": (lambda m, x, **k: m.median_filter(x, 3, **k), A),
    "median of bytes": (lambda m, x, **k: m.median_filter(x, (1, 3, 4), **k), T),
    "median of a footprint": (lambda m, x, **k: m.median_filter(x, footprint=CROSS, **k), A),
    "minimum": (lambda m, x, **k: m.minimum_filter(x, 4, **k), A),
    "maximum": (lambda m, x, **k: m.maximum_filter(x, footprint=CROSS, **k), A),
    "maximum of a box": (lambda m, x, **k: m.maximum_filter(x, (1, 6), **k), A),
    "least of a footprint": (lambda m, x, **k: m.minimum_filter(x, footprint=CROSS, **k), A),
    "complex": (lambda m, x, **k: m.gaussian_filter(x, (1.5, 0.5), **k), A + 1j * A[::-1]),
    "means of complex": (lambda m, x, **k: m.uniform_filter(x, (3, 4), **k), A + 2j),
    "differences of shorts": (lambda m, x, **k: m.gaussian_filter(x, 1, 1, **k), T.astype("i2")),
    "correlation": (lambda m, x, **k: m.correlate1d(x, [1, 2.5, -4], **k), A),
    "correlation off the middle": (
        lambda m, x, **k: m.correlate1d(x, [1, 2.5, -4, 1, 0.5], 0, origin=-2, **k),
        A,
    ),
    "correlation of bytes": (lambda m, x, **k: m.correlate1d(x, [0.3, 0.2], 1, **k), T),
    "correlation of complex": (lambda m, x, **k: m.correlate1d(x, [1, 2, 4], 0, **k), A + 2j),
    "convolution": (lambda m, x, **k: m.convolve1d(x, [1, 2.5, -4], **k), A),
    "convolution of an even number": (lambda m, x, **k: m.convolve1d(x, [1, 3, 9, 5], 0, **k), A),
    "convolution off the middle": (
        lambda m, x, **k: m.convolve1d(x, [1, 2.5, -4, 1, 0.5, 3], 0, origin=1, **k),
        A,
    ),
    "sobel": (lambda m, x, **k: m.sobel(x, **k), A),
    "sobel of an axis": (lambda m, x, **k: m.sobel(x, 1, **k), T.astype("i4")),
    "prewitt": (lambda m, x, **k: m.prewitt(x, 0, **k), A),
    "prewitt of single": (lambda m, x, **k: m.prewitt(x, 0, **k), A.astype("f4")),
    "laplace": (lambda m, x, **k: m.laplace(x, **k), A),
    "laplace of shorts": (lambda m, x, **k: m.laplace(x, **k), T.astype("i2")),
    "gaussian laplace": (lambda m, x, **k: m.gaussian_laplace(x, (1, 1.5), **k), A),
    "gradient": (lambda m, x, **k: m.gaussian_gradient_magnitude(x, 1.2, **k), A),
    "masks": (lambda m, x, **k: m.median_filter(x, 3, **k), T > 99),
}


@pytest.mark.parametrize("mode", ["reflect", "nearest", "wrap", "constant"])
@pytest.mark.parametrize("name", CASES)
def test_filters(name, mode):
    call, a = CASES[name]
    cval = 1.0 if a.dtype == bool else 2.0
    wanted = call(scipy.ndimage, a, mode=mode, cval=cval)
    for chunks in (5, 100):
        with cubed.raise_if_computes():
            got = call(ndimage, cubed.from_array(a, chunks=chunks), mode=mode, cval=cval)
        assert got.dtype == wanted.dtype
        eps = 1e-5 if a.dtype == "f4" else 1e-11
        np.testing.assert_allclose(got.compute(), wanted, rtol=eps, atol=eps)


def test_ranks_are_exact_and_nan_is_the_greatest():
    a = 2**62 + RNG.integers(0, 9, 40)
    got = ndimage.maximum_filter(cubed.from_array(a, chunks=7), 5).compute()
    wide = np.pad(a, 2, mode="symmetric")
    np.testing.assert_array_equal(got, np.lib.stride_tricks.sliding_window_view(wide, 5).max(1))
    b = np.array([1.0, np.nan, 3.0, 4.0, 2.0])
    x = cubed.from_array(b, chunks=2)
    np.testing.assert_array_equal(ndimage.minimum_filter(x, 3).compute(), [1, 1, 3, 2, 2])
    np.testing.assert_array_equal(ndimage.median_filter(x, 3).compute(), [1, 3, 4, 3, 2])
    largest = ndimage.maximum_filter(x, 3).compute()
    np.testing.assert_array_equal(largest, [np.nan, np.nan, np.nan, 4, 4])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ndimage.correlate1d(x, []), "there are 0 weights, expected 1 to 1048576"),
        (lambda x: ndimage.correlate1d(x, [1, 2, 3], origin=2), "origin is 2, expected -1 to 1"),
        (lambda x: ndimage.correlate1d(x, [1, 2], origin=1), "origin is 1, expected -1 to 0"),
        (lambda x: ndimage.correlate1d(x, [1] * 15, origin=8), "origin is 8, expected -7 to 7"),
        (lambda x: ndimage.correlate1d(x, [1, 2], 2), "axis 2|axis is 2"),
        (
            lambda x: ndimage.convolve1d(x, [[1, 2]]),
            r"convolve1d: weights is \[\[1, 2\]\], expected",
        ),
        (lambda x: ndimage.convolve(x, [[1, 2]], origin=(0, 1)), "convolve: origin is 1"),
        (lambda x: ndimage.convolve(x, [1, 2]), "weights has 1 axes, expected one for each axis"),
        (lambda x: ndimage.correlate(x, [[1, 2j]]), "weights are complex128, expected real numb"),
        (
            lambda x: ndimage.laplace(x, mode=["wrap"]),
            r"mode is \['wrap'\], expected 'reflect', .*2",
        ),
        (lambda x: ndimage.gaussian_filter(x, 1, axes=(1, 0)), "expected increasing axes"),
        (lambda x: ndimage.sobel(x.sum()), "sobel: the image has no axis"),
        (lambda x: ndimage.gaussian_gradient_magnitude(x > 0, 1), "results of type bool, expected"),
        (lambda x: ndimage.rank_filter(x, 9, 3), "rank is 9, expected -9 to 8"),
        (lambda x: ndimage.percentile_filter(x, 101, 3), "percentile is 101, expected -100 to 100"),
        (lambda x: ndimage.grey_erosion(x), "give one of size, footprint and structure"),
        (lambda x: ndimage.grey_dilation(x, structure=[[np.nan]]), "structure has NaN"),
        (lambda x: ndimage.binary_erosion(x, iterations=0), "iterations is 0, expected 1 or more"),
        (lambda x: ndimage.binary_erosion(x, mask=x[0]), "mask has another shape than the image"),
        (
            lambda x: ndimage.binary_dilation(x, [[0]]),
            "footprint has no true element, expected at least one",
        ),
        (lambda x: ndimage.morphological_gradient(x > 0, 3), "not defined for bool, .*uint8"),
        (lambda x: ndimage.correlate(x + 1j, [[1]], output=float), "expected a complex one"),
    ],
)
def test_wrong_weights(call, message):
    with pytest.raises((ValueError, TypeError, IndexError), match=message):
        call(cubed.ones((3, 4), chunks=2))


def test_filters_that_reach_beyond_the_image():
    for a in (A[:2, :3], A[:1, :1]):
        x = cubed.from_array(a, chunks=2)
        for mode in ("reflect", "nearest", "wrap", "constant", "mirror"):
            wanted = scipy.ndimage.gaussian_filter(a, 5, mode=mode, cval=0.5)
            got = ndimage.gaussian_filter(x, 5, mode=mode, cval=0.5).compute()
            np.testing.assert_allclose(got, wanted, rtol=1e-11)
            wanted = scipy.ndimage.median_filter(a, 11, mode=mode)
            got = ndimage.median_filter(x, 11, mode=mode).compute()
            np.testing.assert_array_equal(got, wanted)


def test_values_that_a_type_does_not_have():
    """The element beyond the ends, and types of results, as in SciPy."""
    for a in (T, T.astype("i8") - 90, T.astype("f4")):
        x = cubed.from_array(a, chunks=4)
        for call in (
            lambda m, x: m.uniform_filter(x, 3, mode="constant", cval=0.5),
            lambda m, x: m.gaussian_filter(x, 1, output="i2"),
            lambda m, x: m.gaussian_filter(x, 1, output="f8", mode="constant", cval=2.1),
            lambda m, x: m.uniform_filter(x, 3, output="f4"),
            lambda m, x: m.maximum_filter(x, 3, output="f4"),
            lambda m, x: m.median_filter(x, 2, mode="constant", cval=99.5),
            lambda m, x: m.sobel(x, output="f8"),
            lambda m, x: m.laplace(x, output="i8"),
            lambda m, x: m.gaussian_gradient_magnitude(x, 1, output="f4"),
        ):
            wanted, got = call(scipy.ndimage, a), call(ndimage, x)
            assert got.dtype == wanted.dtype
            np.testing.assert_allclose(got.compute(), wanted, rtol=1e-6)


def test_structures_are_scipys():
    for rank, connectivity in ((0, 1), (1, 1), (2, 1), (2, 2), (3, 2), (3, 0)):
        got = ndimage.generate_binary_structure(rank, connectivity)
        np.testing.assert_array_equal(
            got, scipy.ndimage.generate_binary_structure(rank, connectivity)
        )
    for part, n, origin in ((CROSS, 3, None), (CROSS, 2, 0), (np.ones((2, 3)), 4, [0, 1])):
        got = ndimage.iterate_structure(part, n, origin)
        wanted = scipy.ndimage.iterate_structure(part, n, origin)
        if origin is None:
            np.testing.assert_array_equal(got, wanted)
        else:
            np.testing.assert_array_equal(got[0], wanted[0])
            assert list(got[1]) == list(wanted[1])


def test_memory_of_boxes_is_projected():
    x = cubed.random.random((400, 400), chunks=100, spec=cubed.Spec(allowed_mem="4MB"))
    y = ndimage.correlate(ndimage.grey_closing(x, (5, 5)), np.ones((7, 7)))
    assert y.compute().shape == (400, 400)
    with pytest.raises(MemoryError):
        ndimage.grey_erosion(x, structure=np.zeros((399, 399))).compute()


def test_types_without_a_filter():
    x = cubed.from_array(np.arange(6).astype("M8[D]"))
    for call in (ndimage.uniform_filter, lambda x: ndimage.median_filter(x, 3)):
        with pytest.raises(TypeError, match=r"_filter is not defined for datetime64"):
            call(x)
    with pytest.raises(TypeError, match="minimum_filter is not defined for complex128"):
        ndimage.minimum_filter(cubed.ones(3, dtype="c16"), 3)
    half = cubed.from_array(np.linspace(0, 9, 40).astype("f2"), chunks=9)
    got = ndimage.gaussian_filter(half, 2)
    assert got.dtype == np.float16
    wanted = scipy.ndimage.gaussian_filter(np.linspace(0, 9, 40).astype("f2").astype("f4"), 2)
    np.testing.assert_allclose(got.compute(), wanted, rtol=1e-3)
    assert ndimage.uniform_filter(cubed.zeros((0, 3))).shape == (0, 3)


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
        (
            lambda: ndimage.gaussian_filter(x, (1, 2, 3)),
            "sigma has 3 entries for 2 axes, expected one for each axis",
        ),
        (lambda: ndimage.gaussian_filter(x, 1, mode="mirrored"), "mode is 'mirrored'"),
        (lambda: ndimage.gaussian_filter(x, 1, -1), "order is -1"),
        (lambda: ndimage.median_filter(x, footprint=[[0]]), "no true element"),
        (lambda: ndimage.median_filter(x), "give one of size and footprint"),
        (lambda: ndimage.median_filter(x, 0), "size is 0"),
        (lambda: ndimage.median_filter(x, footprint=[1, 1]), "footprint has 1 axes"),
        (lambda: ndimage.label(x, np.ones((2, 2))), "structure has shape"),
        (lambda: ndimage.label(x, np.tri(3) * np.array([[1], [1], [0]])), "not symmetric"),
    ):
        with pytest.raises(ValueError, match=message):
            call()


# --- Pyramids -------------------------------------------------------------------------------------


def smaller(a, factors):
    """Means of boxes, which repeat the last pixels at the ends."""
    missing = [(0, -n % k) for n, k in zip(a.shape, factors, strict=True)]
    whole = np.pad(a.astype("f8"), missing, mode="edge")
    shape = [m for n, k in zip(whole.shape, factors, strict=True) for m in (n // k, k)]
    mean = whole.reshape(shape).mean(axis=tuple(range(1, 2 * a.ndim, 2)))
    return (mean if a.dtype.kind == "f" else np.rint(mean)).astype(a.dtype)


PYRAMIDS = {
    "bytes": ((301, 603), "u1", {}, (2, 2), 3),
    "odd": ((67, 33), "i2", {"levels": 4, "factors": 3}, (3, 3), 4),
    "single": ((2, 3, 40, 41), "f4", {"axes": "tcyx", "levels": 3}, (1, 1, 2, 2), 3),
    "some axes": ((5, 60, 52), "u2", {"factors": {"y": 4, "x": 2}, "levels": 2}, (1, 4, 2), 2),
    "masks": ((40, 30), "?", {"levels": 2}, (2, 2), 2),
    "small": ((40, 30), "f8", {}, (2, 2), 1),
}


@pytest.mark.parametrize("name", PYRAMIDS)
def test_pyramids(tmp_path, name):
    shape, dtype, options, factors, count = PYRAMIDS[name]
    a = RNG.integers(0, 2 if dtype == "?" else 200, shape).astype(dtype)
    x = cubed.from_array(a, chunks=16)
    levels = ndimage.pyramid(x, tmp_path / "p.zarr", **options)
    group = zarr.open_group(tmp_path / "p.zarr", mode="r")
    assert sorted(group) == [str(k) for k in range(count)]
    assert len(levels) == count
    letters = tuple(options.get("axes", "tczyx"[-a.ndim :]))
    for k, level in enumerate(levels):
        stored = group[str(k)]
        np.testing.assert_allclose(stored[...], a, rtol=1e-6)
        np.testing.assert_array_equal(level.compute(), stored[...])
        assert stored.dtype == dtype and stored.metadata.dimension_names == letters
        assert stored.chunks == tuple(min(16, n) for n in stored.shape)
        a = smaller(stored[...], factors)


def test_pyramids_of_labels(tmp_path):
    a = RNG.integers(0, 9, (33, 21))
    ndimage.pyramid(a, tmp_path / "p", levels=3, method="nearest")
    group = zarr.open_group(tmp_path / "p", mode="r")
    for k in range(3):
        np.testing.assert_array_equal(group[str(k)][...], a[:: 2**k, :: 2**k])
        (scale,) = multiscales(group)["datasets"][k]["coordinateTransformations"]
        assert scale == {"type": "scale", "scale": [2.0**k, 2.0**k]}


def multiscales(group):
    ome = group.attrs["ome"]
    assert ome["version"] == "0.5"
    (image,) = ome["multiscales"]
    return image


def test_metadata_of_pyramids(tmp_path):
    x = cubed.zeros((3, 4, 30, 20), chunks=10, dtype="u1")
    pixel = {"z": 2.0, "y": 0.25, "x": 0.25}
    micron = dict.fromkeys("zyx", "micrometer")
    ndimage.pyramid(
        x, tmp_path / "p", axes="czyx", factors={"y": 2, "x": 2}, levels=3, scale=pixel,
        units=micron, name="cells",
    )  # fmt: skip
    image = multiscales(zarr.open_group(tmp_path / "p", mode="r"))
    assert image["name"] == "cells"
    assert image["axes"] == [
        {"name": "c", "type": "channel"},
        {"name": "z", "type": "space", "unit": "micrometer"},
        {"name": "y", "type": "space", "unit": "micrometer"},
        {"name": "x", "type": "space", "unit": "micrometer"},
    ]
    for k, data in enumerate(image["datasets"]):
        assert data["path"] == str(k)
        first, *rest = data["coordinateTransformations"]
        assert first == {"type": "scale", "scale": [1, 2, 0.25 * 2**k, 0.25 * 2**k]}
        # Where the first pixel's middle is, in micrometers.
        middle = 0.25 * (2**k - 1) / 2
        assert [r["translation"] for r in rest] == ([[0, 0, middle, middle]] if k else [])


def test_pyramids_replace_what_they_are_told_to(tmp_path):
    x = cubed.ones((20, 20), chunks=10)
    ndimage.pyramid(x, tmp_path / "p", levels=3)
    with pytest.raises(FileExistsError, match="overwrite=True replaces it"):
        ndimage.pyramid(x, tmp_path / "p")
    ndimage.pyramid(x * 2, tmp_path / "p", levels=2, overwrite=True)
    group = zarr.open_group(tmp_path / "p", mode="r")
    assert sorted(group) == ["0", "1"] and (group["1"][...] == 2).all()


@pytest.mark.parametrize(
    ("shape", "options", "says"),
    [((4,), {}, "expected 2 to 5 axes"), ((0, 3), {}, "expected 2 to 5 axes"),
     ((4, 4), {"axes": "xy"}, "axes is 'xy'"), ((4, 4), {"axes": "cx"}, "two of them in space"),
     ((4, 4), {"axes": "yyx"}, "expected 2 letters"), ((4, 4), {"factors": 1}, "one 2 at least"),
     ((4, 4), {"factors": {"z": 2}}, "factors has 'z', expected y, x"),
     ((4, 4), {"scale": {"t": 2}}, "scale has 't'"),
     ((4, 4), {"units": {"c": "m"}}, "units has 'c'"),
     ((4, 4), {"levels": 0}, "levels is 0"), ((4, 4), {"method": "mode"}, "method is 'mode'")],
)  # fmt: skip
def test_wrong_pyramids(tmp_path, shape, options, says):
    with pytest.raises(ValueError, match=says):
        ndimage.pyramid(np.ones(shape), tmp_path / "p", **options)
    assert not (tmp_path / "p").exists()
