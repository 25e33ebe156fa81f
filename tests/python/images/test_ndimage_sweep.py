"""Filters and morphology of images, compared with scipy.ndimage: random calls of every function.

Values are small integers, so sums are exact and results equal SciPy's to the bit, except for
Gaussians and means, whose rounding errors depend on the order of additions.
"""

import cubed
import numpy as np
import pytest
import scipy.ndimage
from cubed import ndimage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

DTYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "f4", "f8"]
MODES = ["reflect", "constant", "nearest", "mirror", "wrap"]
ALIASES = ["grid-mirror", "grid-constant", "grid-wrap"]


def quick(nightly):
    return settings(
        max_examples=2000 if nightly else 40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        derandomize=not nightly,
    )


@st.composite
def images(draw, dtypes=tuple(DTYPES), least=1):
    shape = draw(st.lists(st.integers(least, 9), min_size=1, max_size=3))
    dtype = np.dtype(draw(st.sampled_from(dtypes)))
    seed = draw(st.integers(0, 2**32 - 1))
    low = 0 if dtype.kind in "ub" else -20
    a = np.random.default_rng(seed).integers(low, 2 if dtype.kind == "b" else 21, shape)
    chunks = tuple(draw(st.integers(1, n)) for n in shape)
    return a.astype(dtype), chunks


def boxes(draw, a, most=4):
    return [draw(st.integers(1, most)) for _ in a.shape]


def origins(draw, size):
    return [draw(st.integers(-(n // 2), n - 1 - n // 2)) for n in size]


def boundary(draw, dtype):
    mode = draw(st.sampled_from(MODES + ALIASES))
    whole = dtype.kind in "biu"
    return {
        "mode": mode,
        "cval": draw(
            st.sampled_from([0, 3, 1 if dtype.kind == "b" else 7])
            if whole
            else st.sampled_from([0, 2.5, -1.25])
        ),
    }


def output_of(draw, dtype):
    chosen = draw(st.sampled_from([None, None, "f8", "f4", "i8"]))
    return {} if chosen is None else {"output": np.dtype(chosen)}


def compare(call, a, chunks, exact=True):
    """Calls a function of both packages with an image."""
    wanted = call(scipy.ndimage, a)
    with cubed.raise_if_computes():
        got = call(ndimage, cubed.from_array(a, chunks=chunks))
    assert got.dtype == wanted.dtype
    assert got.shape == wanted.shape
    if exact:
        np.testing.assert_array_equal(got.compute(), wanted)
    else:
        eps = 2e-5 if wanted.dtype == np.float32 else 1e-11
        np.testing.assert_allclose(got.compute(), wanted, rtol=eps, atol=eps)


@pytest.fixture
def nightly(request):
    return request.config.getoption("--nightly")


@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_weights(name, nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images())
        size = boxes(data.draw, a)
        seed = data.draw(st.integers(0, 999))
        weights = np.random.default_rng(seed).integers(-3, 4, size)
        options = {
            **boundary(data.draw, a.dtype),
            **output_of(data.draw, a.dtype),
            "origin": origins(data.draw, size),
        }
        compare(lambda m, x: getattr(m, name)(x, weights, **options), a, chunks)

    run()


@pytest.mark.parametrize("name", ["correlate1d", "convolve1d"])
def test_weights_along_an_axis(name, nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images())
        n = data.draw(st.integers(1, 25))
        weights = np.random.default_rng(n).integers(-3, 4, n)
        if data.draw(st.booleans()):
            weights = weights + weights[::-1]
        options = {
            **boundary(data.draw, a.dtype),
            **output_of(data.draw, a.dtype),
            "axis": data.draw(st.integers(-a.ndim, a.ndim - 1)),
            "origin": origins(data.draw, [n])[0],
        }
        compare(lambda m, x: getattr(m, name)(x, weights, **options), a, chunks)

    run()


@pytest.mark.parametrize("name", ["minimum_filter", "maximum_filter", "median_filter",
                                  "rank_filter", "percentile_filter"])  # fmt: skip
def test_ranks(name, nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images(dtypes=[*DTYPES, "?"]))
        size = boxes(data.draw, a)
        options = {**boundary(data.draw, a.dtype), "origin": origins(data.draw, size)}
        footprint = np.random.default_rng(data.draw(st.integers(0, 99))).random(size) < 0.6
        footprint.flat[data.draw(st.integers(0, footprint.size - 1))] = True
        by_size = data.draw(st.booleans())
        options |= {"size": tuple(size)} if by_size else {"footprint": footprint}
        n = footprint.size if by_size else int(footprint.sum())
        first = []
        if name == "rank_filter":
            first = [data.draw(st.integers(-n, n - 1))]
        if name == "percentile_filter":
            first = [data.draw(st.sampled_from([0, 10, 25.5, 50, 99, 100, -20]))]
        compare(lambda m, x: getattr(m, name)(x, *first, **options), a, chunks)

    run()


@pytest.mark.parametrize("name", ["uniform_filter1d", "minimum_filter1d", "maximum_filter1d"])
def test_boxes_along_an_axis(name, nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images())
        n = data.draw(st.integers(1, 25))
        options = {
            **boundary(data.draw, a.dtype),
            **output_of(data.draw, a.dtype),
            "axis": data.draw(st.integers(-a.ndim, a.ndim - 1)),
            "origin": origins(data.draw, [n])[0],
        }
        # Means of integers that are whole may be truncated differently after rounding.
        if name == "uniform_filter1d":
            a = a.astype("f8")
            options["output"] = None
        compare(lambda m, x: getattr(m, name)(x, n, **options), a, chunks, exact="uni" not in name)

    run()


@pytest.mark.parametrize("name", ["sobel", "prewitt", "laplace"])
def test_derivatives(name, nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images())
        options = {**boundary(data.draw, a.dtype), **output_of(data.draw, a.dtype)}
        if name == "laplace":
            options["axes"] = data.draw(st.sampled_from([None, 0, tuple(range(a.ndim))]))
        else:
            options["axis"] = data.draw(st.integers(-a.ndim, a.ndim - 1))
        compare(lambda m, x: getattr(m, name)(x, **options), a, chunks)

    run()


@pytest.mark.parametrize("name", ["gaussian_filter", "gaussian_laplace", "uniform_filter",
                                  "gaussian_gradient_magnitude", "gaussian_filter1d"])  # fmt: skip
def test_smoothing(name, nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images(dtypes=["f4", "f8"]))
        axes = data.draw(st.sampled_from([None, (a.ndim - 1,), tuple(range(a.ndim))]))
        n = a.ndim if axes is None else len(axes)
        options = boundary(data.draw, a.dtype) | {"axes": axes}
        if data.draw(st.booleans()):
            options["mode"] = [data.draw(st.sampled_from(MODES)) for _ in range(n)]
        first = [data.draw(st.sampled_from([0.4, 1.0, 1.7])) for _ in range(n)]
        if name == "gaussian_gradient_magnitude" and n < a.ndim:
            first = 0.8
        if name == "uniform_filter":
            first = boxes(data.draw, a)[:n]
            options["origin"] = origins(data.draw, first)
        if name == "gaussian_filter1d":
            options = boundary(data.draw, a.dtype) | {"order": data.draw(st.integers(0, 2))}
            first = first[0]
        if name == "gaussian_filter":
            options["order"] = [data.draw(st.integers(0, 2)) for _ in range(n)]
        compare(lambda m, x: getattr(m, name)(x, first, **options), a, chunks, exact=False)

    run()


GREY = ["grey_erosion", "grey_dilation", "grey_opening", "grey_closing", "white_tophat",
        "black_tophat", "morphological_gradient", "morphological_laplace"]  # fmt: skip


@pytest.mark.parametrize("name", GREY)
def test_grey_morphology(name, nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        dtypes = [*DTYPES, "?"] if "gical" not in name else DTYPES
        a, chunks = data.draw(images(dtypes=dtypes))
        size = boxes(data.draw, a, 3)
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        footprint = rng.random(size) < 0.6
        footprint.flat[data.draw(st.integers(0, footprint.size - 1))] = True
        kind = data.draw(st.sampled_from(["size", "footprint", "structure", "both"]))
        options = {**boundary(data.draw, a.dtype), "origin": origins(data.draw, size)}
        if kind == "size":
            options["size"] = tuple(size)
        if kind in ("footprint", "both"):
            options["footprint"] = footprint
        # Elements less heights must not leave the type: casts of such numbers are not defined.
        if kind in ("structure", "both") and a.dtype.kind == "f":
            options["structure"] = rng.integers(-2, 3, size)
        elif kind == "structure":
            options["footprint"] = footprint
        compare(lambda m, x: getattr(m, name)(x, **options), a, chunks)

    run()


BINARY = ["binary_erosion", "binary_dilation", "binary_opening", "binary_closing"]


@pytest.mark.parametrize("name", BINARY)
def test_binary_morphology(name, nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images(dtypes=["?", "u1", "f4"]))
        a = (a * (np.random.default_rng(a.size).random(a.shape) < 0.8)).astype(a.dtype)
        size = boxes(data.draw, a, 3)
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        structure = rng.random(size) < 0.6
        structure.flat[data.draw(st.integers(0, structure.size - 1))] = True
        options = {
            "iterations": data.draw(st.integers(1, 3)),
            "border_value": data.draw(st.sampled_from([0, 1])),
            "brute_force": True,
        }
        if data.draw(st.booleans()):
            options |= {"structure": structure, "origin": origins(data.draw, size)}
        if data.draw(st.booleans()):
            options["mask"] = rng.random(a.shape) < 0.7
        compare(lambda m, x: getattr(m, name)(x, **options), a, chunks)

    run()


def test_patterns(nightly):
    @quick(nightly)
    @given(st.data())
    def run(data):
        a, chunks = data.draw(images(dtypes=["?", "u1"]))
        size = boxes(data.draw, a, 3)
        rng = np.random.default_rng(data.draw(st.integers(0, 99)))
        hit, miss = rng.random(size) < 0.4, rng.random(size) < 0.3
        hit.flat[0] = True
        options = {}
        if data.draw(st.booleans()):
            options = {"structure1": hit, "origin1": origins(data.draw, size)}
            if miss.any() and data.draw(st.booleans()):
                options |= {"structure2": miss, "origin2": origins(data.draw, size)}
        compare(lambda m, x: m.binary_hit_or_miss(x, **options), a, chunks)

    run()
