"""Interpolation of images, compared with scipy.ndimage: random calls, memory, plans in other
processes.
"""

import cubed
import numpy as np
import pytest
import scipy.ndimage
from cubed import ndimage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DTYPES = ["?", "i1", "u2", "i4", "i8", "u8", "f4", "f8", "c8", "c16"]
MODES = ["reflect", "constant", "nearest", "mirror", "wrap",
         "grid-mirror", "grid-constant", "grid-wrap"]  # fmt: skip
NAMES = ["zoom", "shift", "affine_transform", "rotate", "map_coordinates"]


@pytest.fixture
def nightly(request):
    return request.config.getoption("--nightly")


def image(shape, dtype="f8", seed=0):
    a = np.random.default_rng(seed).normal(size=shape) * 20
    dtype = np.dtype(dtype)
    if dtype.kind == "c":
        a = a + 1j * np.random.default_rng(seed + 1).normal(size=shape)
    return abs(a).astype(dtype) if dtype.kind == "u" else a.astype(dtype)


@st.composite
def images(draw):
    # SciPy's coefficients of mirrored lines depend on an element that it has changed already,
    # which only shorter lines show: see test_short_lines.
    shape = draw(st.lists(st.integers(24, 32), min_size=1, max_size=2))
    shape += draw(st.lists(st.integers(24, 25), max_size=1))
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    chunks = tuple(draw(st.integers(4, n)) for n in shape)
    return image(shape, dtype, draw(st.integers(0, 99))), chunks


def arguments(draw, name, a):
    """Positional arguments, and those that the function alone has."""
    some = np.random.default_rng(draw(st.integers(0, 999)))
    n = a.ndim
    if name == "zoom":
        factors = [draw(st.sampled_from([0.3, 0.5, 1, 1.4, 2])) for _ in a.shape]
        return (factors,), {"grid_mode": draw(st.booleans())}
    if name == "shift":
        return (draw(st.sampled_from([0.5, 2, -70.3])) * some.normal(size=n),), {}
    if name == "rotate":
        return (draw(st.sampled_from([90, 30.5, -200])),), {"reshape": draw(st.booleans())}
    if name == "map_coordinates":
        return (some.uniform(-40, 70, (n, 5, 4)),), {}
    offset = some.normal(size=n) * 9
    matrix = some.normal(size=(n, n))
    shape = tuple(draw(st.integers(1, 30)) for _ in a.shape)
    form = draw(st.sampled_from(["matrix", "factors", "with offset", "homogeneous"]))
    if form == "matrix":
        return (matrix, offset), {"output_shape": shape}
    if form == "factors":
        return (np.diag(matrix), offset), {"output_shape": shape}
    whole = np.eye(n + 1)
    whole[:n, :n], whole[:n, n] = matrix, offset
    return (whole if form == "homogeneous" else whole[:n],), {"output_shape": shape}


def agree(got, wanted, order):
    """Equal values. Rounded values of splines may differ by 1: sums round differently."""
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    got = got.compute()
    if wanted.dtype.kind in "fc":
        eps = 1e-5 if wanted.dtype.itemsize // (1 + (wanted.dtype.kind == "c")) == 4 else 1e-9
        np.testing.assert_allclose(got, wanted, rtol=eps, atol=eps)
        return
    away = np.abs(got.astype(float) - wanted.astype(float))
    assert away.max(initial=0) <= (1 if order > 1 else 0)
    assert (away > 0).sum() <= 0.01 * away.size


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_scipy(name, nightly):
    @settings(
        max_examples=1000 if nightly else 40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=not nightly,
    )
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images())
        if name == "rotate" and a.ndim < 2:
            a, chunks = np.tile(a, (24, 1)), (7, *chunks)
        given, options = arguments(data.draw, name, a)
        order = data.draw(st.integers(0, 5))
        options |= {
            "order": order,
            "mode": data.draw(st.sampled_from(MODES)),
            "prefilter": data.draw(st.sampled_from([True, True, False])),
            "cval": data.draw(st.sampled_from([0, 2.5, -3]))
            if a.dtype.kind in "ifc"
            else data.draw(st.integers(0, 1)),
        }
        if a.dtype.kind in "iuf" and data.draw(st.booleans()):
            options["output"] = np.dtype(data.draw(st.sampled_from(["f4", "f8", "i2", "i8"])))
        a, low = (a, 0) if a.dtype.kind != "b" else (a.astype("u1"), 1)  # SciPy stores bytes
        x = cubed.from_array(a, chunks=chunks)
        if name == "map_coordinates":
            at = cubed.from_array(given[0], chunks=(1, 2, 3))
            got = ndimage.map_coordinates(x, at, **options)
        else:
            with cubed.raise_if_computes():
                got = getattr(ndimage, name)(x, *given, **options)
        agree(got, getattr(scipy.ndimage, name)(a, *given, **options), order + low)

    run()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("order", [0, 1, 2, 3, 4, 5])
def test_coefficients(order, mode):
    a = image((40, 33))
    x = cubed.from_array(a, chunks=(9, 8))
    got = ndimage.spline_filter1d(x, order, axis=0, mode=mode).compute()
    wanted = scipy.ndimage.spline_filter1d(a, order, axis=0, mode=mode)
    np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())
    if order > 1:
        got = ndimage.spline_filter(x, order, mode=mode).compute()
        wanted = scipy.ndimage.spline_filter(a, order, mode=mode)
        np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())


@pytest.mark.parametrize("dtype", ["?", "u1", "i4", "f2", "f4", "c8", "c16"])
def test_types_of_coefficients(dtype):
    a = image((12, 30), dtype)
    got = ndimage.spline_filter(cubed.from_array(a, chunks=5))
    assert got.dtype == ("c16" if a.dtype.kind == "c" else "f8")
    wanted = scipy.ndimage.spline_filter(a.astype(got.dtype), output=got.dtype)
    np.testing.assert_allclose(got.compute(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("mode", ["reflect", "mirror", "grid-wrap", "constant", "wrap"])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
def test_short_lines(n, mode):
    """Splines go through the elements, also if the filter is far longer than the line."""
    a = image((n, 7))
    for order in range(6):
        got = ndimage.affine_transform(
            cubed.from_array(a, chunks=(2, 3)), np.eye(2), order=order, mode=mode
        )
        np.testing.assert_allclose(got.compute(), a, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", range(6))
@pytest.mark.parametrize("mode", ["constant", "nearest", "mirror", "wrap", "grid-wrap"])
@pytest.mark.parametrize("shape, result", [((7, 6), (5,)), ((9,), (4, 3, 2)), ((5, 4, 6), (7,))])
def test_affine_transforms_to_other_axes(order, mode, shape, result):
    rng = np.random.default_rng(5)
    a = rng.normal(size=shape)
    matrix = rng.normal(size=(len(shape), len(result)))
    options = {"offset": 1.25, "output_shape": result, "order": order, "mode": mode, "cval": 2.5}
    x = cubed.asarray(a, chunks=(4,) * a.ndim)
    got = ndimage.affine_transform(x, matrix, **options)
    want = scipy.ndimage.affine_transform(a, matrix, **options)
    assert got.shape == want.shape == result
    np.testing.assert_allclose(got.compute(), want, rtol=0, atol=1e-8)


@pytest.mark.parametrize("mode", MODES)
def test_nan_positions(mode):
    a = image(20)
    at = np.array([[np.nan, 3.0, np.inf, -np.inf, 1e300]])
    got = ndimage.map_coordinates(a, at, order=1, mode=mode, cval=-5).compute()
    assert got[1] == a[3]
    assert np.isnan(got[0]) if mode == "grid-constant" else got[0] == -5
    assert ndimage.map_coordinates(a, at, order=0, mode=mode, cval=-5).compute()[0] == -5
    if mode in ("constant", "nearest"):
        far = [-5, -5, -5] if mode == "constant" else [a[-1], a[0], a[-1]]
        np.testing.assert_array_equal(got[2:], far)


def test_nan_elements():
    """An element that is NaN reaches as far as its weights."""
    a = image((20, 20))
    a[7, 11] = np.nan
    got = ndimage.zoom(cubed.from_array(a, chunks=6), 2, order=1).compute()
    np.testing.assert_allclose(got, scipy.ndimage.zoom(a, 2, order=1), rtol=1e-12)


def test_integers_are_limited():
    a = np.array([0, 255, 0, 255, 0, 255], "u1")
    got = ndimage.zoom(cubed.from_array(a, chunks=2), 3, order=3)
    np.testing.assert_array_equal(got.compute(), scipy.ndimage.zoom(a, 3, order=3))
    far = ndimage.shift(cubed.asarray([1.0]), 9, output="i1", order=0, cval=1e9)
    np.testing.assert_array_equal(far.compute(), [127])


def test_half_precision():
    a = image((9, 9)).astype("f2")
    got = ndimage.shift(cubed.from_array(a, chunks=4), 0.5, order=1)
    assert got.dtype == "f2"
    wanted = scipy.ndimage.shift(a.astype("f8"), 0.5, order=1).astype("f2")
    np.testing.assert_array_equal(got.compute(), wanted)


def test_planes_of_a_stack():
    """Rotation interpolates the axes of the plane alone."""
    a = image((3, 24, 30))
    a[1] = np.inf
    got = ndimage.rotate(cubed.from_array(a, chunks=(2, 8, 8)), 25, axes=(2, 1), reshape=False)
    wanted = scipy.ndimage.rotate(a[[0, 2]], 25, axes=(2, 1), reshape=False)
    np.testing.assert_allclose(got.compute()[[0, 2]], wanted, rtol=0, atol=1e-9)


@pytest.mark.parametrize("executor", ["single-threaded", "threads", "processes"])
def test_executors(executor, tmp_path):
    a = image((60, 50))
    spec = cubed.Spec(tmp_path, allowed_mem="300MB", executor_name=executor)
    x = cubed.from_array(a, chunks=(16, 16), spec=spec)
    got = [ndimage.rotate(x, 30), ndimage.map_coordinates(x, a[:2, :3] * 3 + 20, order=2)]
    wanted = [
        scipy.ndimage.rotate(a, 30),
        scipy.ndimage.map_coordinates(a, a[:2, :3] * 3 + 20, order=2),
    ]
    for g, w in zip(cubed.compute(*got), wanted, strict=True):
        np.testing.assert_allclose(g, w, rtol=0, atol=1e-10)


@pytest.mark.parametrize("name", ["rotate", "zoom", "shift", "map_coordinates"])
def test_memory(name, tmp_path):
    """The image has 32 MB, and a task 20 MB in addition to the reserved memory."""
    reserved = 100_000_000
    spec = cubed.Spec(tmp_path, allowed_mem=reserved + 20_000_000, reserved_mem=reserved)
    a = image((2000, 2000))
    cubed.store(cubed.from_array(a, chunks=400, spec=spec), str(tmp_path / "a.zarr"))
    x = cubed.from_zarr(str(tmp_path / "a.zarr"), spec=spec)
    given = {"rotate": 33, "zoom": 0.4, "shift": (300.5, -1.25),
             "map_coordinates": np.array([[5.5, 1999], [1000, 2.25]])}[name]  # fmt: skip
    got = getattr(ndimage, name)(x, given, order=3)
    result = cubed.to_zarr(got, str(tmp_path / "b.zarr"), compute=False)
    assert result.plan().max_projected_mem <= reserved + 20_000_000
    np.testing.assert_allclose(
        got.compute(), getattr(scipy.ndimage, name)(a, given, order=3), rtol=0, atol=1e-9
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: ndimage.zoom(x, 2, order=6), "order is 6, expected 0 to 5"),
        (lambda x: ndimage.zoom(x, -1), "zoom is -1 for 6 elements along axis 0"),
        (lambda x: ndimage.zoom(x, np.inf), "zoom is inf"),
        (lambda x: ndimage.zoom(x, [1, 2, 3]), "3 entries for 2 axes, expected one"),
        (lambda x: ndimage.shift(x, np.nan), "shift has a value that is not finite along axis 0"),
        (lambda x: ndimage.shift(x[0, 0], 1), "the image has no axis"),
        (lambda x: ndimage.shift(x[:0], 1), "no elements along axis 0"),
        (lambda x: ndimage.rotate(x[0], 3), "the image has 1 axes, expected at least 2"),
        (lambda x: ndimage.rotate(x, 3, axes=(1, 1)), "axes are 1 and 1, expected two different"),
        (lambda x: ndimage.rotate(x, 3, axes=(0, 5)), "axis"),
        (lambda x: ndimage.affine_transform(x, [[1, 0]]), "matrix has 2 axes and 1 rows"),
        (lambda x: ndimage.affine_transform(x, [[1, 0, 0], [0, 1, 0], [0, 1, 1]]), "matrix"),
        (lambda x: ndimage.affine_transform(x, [[1, np.nan], [0, 1]]), "matrix contains nan"),
        (lambda x: ndimage.affine_transform(x, [1, 1], output_shape=(3,)), "of 2 x 1 for"),
        (
            lambda x: ndimage.affine_transform(x, np.ones((2, 3)), output_shape=(3, 3, 3)),
            "expected a matrix of 2 x 3",
        ),
        (lambda x: ndimage.affine_transform(x, np.ones((2, 1)), output_shape=()), "0 extents"),
        (lambda x: ndimage.map_coordinates(x, [[1.0]]), "1 positions along the first axis"),
        (lambda x: ndimage.shift(x, 1, mode="mirorr"), "mirorr"),
    ],
)  # fmt: skip
def test_errors(call, message):
    with pytest.raises((ValueError, IndexError), match=message):
        call(cubed.ones((6, 5), chunks=2))


@pytest.mark.filterwarnings("ignore:Casting complex")
def test_types_that_are_refused():
    x = cubed.ones((6, 5), chunks=2)
    with pytest.raises(TypeError, match="expected a complex one"):
        ndimage.shift(x * 1j, 1, output="f8")
    with pytest.raises(TypeError, match="coordinates are complex128"):
        ndimage.map_coordinates(x, np.ones((2, 3)) * 1j)
    with pytest.raises(TypeError, match="expected numbers"):
        ndimage.zoom(cubed.asarray(np.array(["2001-01-01"], "M8[s]")), 2)
