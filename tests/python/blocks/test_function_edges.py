"""Compares functions of the package with NumPy at extreme values of their arguments."""

import warnings

import cubed
import numpy as np
import pytest
from cubed.core.ops import unify_chunks
from cubed.images import _pyramid

RNG = np.random.default_rng(32)


def lazy(x, chunks=2):
    return cubed.from_array(np.asarray(x), chunks=chunks)


# --- Weights of quantiles -------------------------------------------------------------------------

QUANTILES = ["quantile", "nanquantile", "percentile", "nanpercentile"]


@pytest.mark.parametrize("name", QUANTILES)
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_weights_that_are_not_valid_are_refused(name, wrong):
    x, weights = lazy([1.0, 2.0, 3.0]), np.array([1.0, wrong, 1.0])
    call = getattr(cubed, name)
    with pytest.raises(ValueError, match=f"weights has {wrong}, expected finite numbers"):
        call(x, 0.5, method="inverted_cdf", weights=weights)
    later = call(x, 0.5, method="inverted_cdf", weights=lazy(weights))
    with pytest.raises(ValueError, match="weights are negative, NaN, infinite or all 0"):
        later.compute()


@pytest.mark.parametrize("name", QUANTILES)
def test_weights_that_are_all_0_are_refused(name):
    x = lazy([[1.0, 2.0], [3.0, 4.0]])
    call = getattr(cubed, name)
    with pytest.raises(ValueError, match="weights are all 0"):
        call(x, 0.5, method="inverted_cdf", weights=np.zeros((2, 2)))
    for weights in (np.zeros((2, 2)), np.array([[0.0, 0.0], [1.0, 0.0]])):
        later = call(x, 0.5, axis=1, method="inverted_cdf", weights=lazy(weights))
        with pytest.raises(ValueError, match="weights are negative, NaN, infinite or all 0"):
            later.compute()


def test_weights_of_missing_elements_do_not_count():
    x = np.array([[1.0, np.nan, 3.0], [np.nan] * 3])
    weights = np.array([[1.0, 5.0, 2.0], [0.0] * 3])
    got = cubed.nanquantile(lazy(x), 0.5, axis=1, method="inverted_cdf", weights=lazy(weights))
    np.testing.assert_array_equal(got.compute(), [3.0, np.nan])
    only_missing = np.array([[0.0, 5.0, 0.0], [1.0] * 3])
    later = cubed.nanquantile(lazy(x), 0.5, axis=1, method="inverted_cdf", weights=only_missing)
    with pytest.raises(ValueError, match="all 0"):
        later.compute()


# --- Complex numbers in real types ----------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32", "int64", "complex64", "bool"])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
def test_complex_numbers_in_another_type(name, dtype):
    if (dtype, name) in [("bool", "mean"), ("bool", "var"), ("bool", "std"), ("int64", "std")]:
        return  # NumPy's means of bools are bools, and it has no such root of integers
    x = np.array([[1 + 2j, 3 - 4j, 2.5], [0.5j, -1, 7 + 1j]])
    for axis in (None, 0, 1):
        check_type(name, x, dtype, axis=axis)
        if name in ("var", "std"):
            check_type(name, x, dtype, axis=axis, ddof=1)
            if dtype != "int64":
                where = np.array([[True, False, True], [True, True, True]])
                check_type(name, x, dtype, axis=axis, where=where)
    if dtype != "int64" or name in ("sum", "prod"):
        missing = np.where(x == 2.5, complex(np.nan, 1), x)
        check_type(f"nan{name}", missing, dtype, axis=1)


def check_type(name, x, dtype, **kwargs):
    """Values, types and warnings."""
    with warnings.catch_warnings(record=True) as theirs:
        warnings.simplefilter("always")
        want = getattr(np, name)(x, dtype=dtype, **kwargs)
    with warnings.catch_warnings(record=True) as ours:
        warnings.simplefilter("always")
        lazily = getattr(cubed, name)(lazy(x), dtype=dtype, **kwargs)
    kinds = [{w.category for w in found} for found in (theirs, ours)]
    assert kinds[1] == kinds[0] & {np.exceptions.ComplexWarning}
    if ours:
        assert len(ours) == 1 and ours[0].filename == __file__
    got = lazily.compute()
    assert dtype == "bool" or got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_casts_of_complex_numbers_warn():
    x = lazy([1 + 2j, 3])
    for call in (
        lambda: x.astype("f4"),
        lambda: x.astype(int),
        lambda: cubed.cumulative_sum(x, dtype="f8"),
    ):
        with pytest.warns(np.exceptions.ComplexWarning, match="discards the imaginary part"):
            call()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x.astype("c8"), x.astype(bool), lazy([1.5]).astype(int)


# --- Functions of users ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "axes", [None, [(0, 1), (0, 1)], [(2, 0), (1, 2)], [(np.int64(1), -1), (-1, 0)]]
)
def test_gufunc_keeps_all_core_dimensions(axes):
    x = RNG.random((2, 3, 4))
    where = (-2, -1) if axes is None else tuple(axes[0])
    out = cubed.apply_gufunc(
        lambda b: b.sum(axis=(-2, -1)), "(i,j)->()", lazy(x, 4), output_dtypes=float,
        keepdims=True, axes=axes,
    )  # fmt: skip
    want = np.expand_dims(x.sum(axis=where), where if axes is None else tuple(axes[1]))
    assert out.shape == want.shape
    np.testing.assert_allclose(out.compute(), want)


@pytest.mark.parametrize("axis", [0, np.int64(1), -1])
def test_gufunc_axes_of_any_integer_type(axis):
    x = RNG.random((3, 3))
    options = {"output_dtypes": float, "signature": "(i)->()"}
    for given in (
        {"axes": [axis]},
        {"axes": [(axis,), ()]},
        {"axis": axis},
        {"axes": [np.array([axis])]},
    ):
        out = cubed.apply_gufunc(
            lambda b: b.sum(-1), options["signature"], lazy(x, 3), output_dtypes=float, **given
        )
        np.testing.assert_allclose(out.compute(), x.sum(axis))


@pytest.mark.parametrize(
    "axes, error, message",
    [
        ([(0, 0)], ValueError, "an axis is given twice"),
        ([(0, -2)], ValueError, "an axis is given twice"),
        ([(0, 5)], np.exceptions.AxisError, "axis 5 is out of range"),
        ([("x", 1)], TypeError, r"axes\[0\] is 'x', expected an integer"),
        ([1.5], TypeError, r"axes\[0\] is 1.5, expected an integer"),
        ([0], ValueError, r"axes\[0\] is \(0,\), expected 2 axes"),
    ],
)
def test_gufunc_axes_that_are_wrong(axes, error, message):
    with pytest.raises(error, match=message):
        cubed.apply_gufunc(
            np.add, "(i,j)->()", lazy(np.ones((2, 3)), 3), axes=axes, output_dtypes=float
        )


# --- Kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_kernels_that_are_not_finite(name, mode):
    edges = np.array([1.0, -2.0, 0.0, np.inf, -np.inf, np.nan])
    for k in range(30):
        a = RNG.choice(edges[: 3 if k % 2 else 6], 1 + k % 7)
        v = RNG.choice(edges, 1 + k % 4)
        if k % 5 == 0:  # BLAS has formulas of its own for complex numbers that are not finite
            a, v = RNG.choice(edges[:3], len(a)), RNG.choice(edges[:3], len(v)) + 1j
        with np.errstate(invalid="ignore"):
            want = getattr(np, name)(a, v, mode)
        for second in (lazy(v), v):  # of a kernel in memory it is known whether it is finite
            got = getattr(cubed, name)(lazy(a), second, mode).compute()
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
            got = getattr(cubed, name)(second, lazy(a), mode).compute()
            with np.errstate(invalid="ignore"):
                np.testing.assert_array_equal(got, getattr(np, name)(v, a, mode))


def test_fits_of_infinite_values():
    x = np.arange(8.0)
    y = np.stack([2 * x + 1, x**2], axis=1)
    y[3, 1] = np.inf
    fit = cubed.polyfit(lazy(x), lazy(y), 1).compute()
    np.testing.assert_allclose(fit[:, 0], [2, 1])
    assert np.isnan(fit[:, 1]).all()
    assert np.isnan(cubed.polyfit(lazy(x), lazy(-y[:, 1]), 1).compute()).all()
    solution = cubed.linalg.lstsq(lazy(np.vander(x, 2)), lazy(y))[0].compute()
    np.testing.assert_allclose(solution[:, 0], [2, 1])
    assert np.isnan(solution[:, 1]).all()


@pytest.mark.parametrize(
    "shape, factors, levels",
    [
        ((32000, 32000), [5, 5], 4),
        ((256, 1024), [2, 4], 2),
        ((256, 256), [2, 2], 1),
        ((257, 3), [2, 2], 2),
        ((3, 4096, 512), [1, 2, 2], 5),
        ((10**6, 10), [10, 3], 5),
    ],
)
def test_levels_of_pyramids(shape, factors, levels):
    assert _pyramid._levels(cubed.ones(shape, chunks=256), factors) == levels


# --- Histograms -----------------------------------------------------------------------------------


def test_bins_that_are_lazy():
    x = RNG.random(100)
    for bins in (10, np.linspace(0, 1, 6)):
        for limits in ((0, 1), None):
            given = None if limits is None else [cubed.asarray(v) for v in limits]
            want = np.histogram(x, bins, limits)
            for f in (cubed.histogram, np.histogram):
                counts, edges = f(lazy(x, 20), bins=cubed.asarray(bins), range=given)
                np.testing.assert_array_equal(counts.compute(), want[0])
                np.testing.assert_allclose(edges, want[1])
    counts, *_ = cubed.histogram2d(lazy(x, 20), lazy(x, 20), bins=[cubed.asarray(3), 4])
    np.testing.assert_array_equal(counts.compute(), np.histogram2d(x, x, bins=[3, 4])[0])
    np.testing.assert_array_equal(
        cubed.digitize(lazy(x, 20), cubed.asarray([0.2, 0.5])).compute(), np.digitize(x, [0.2, 0.5])
    )


def test_complex_weights_of_histograms():
    x, y = RNG.random(50), RNG.random(50)
    weights = RNG.random(50) + 1j * RNG.random(50)
    bins = np.linspace(0, 1, 4)
    for density in (False, True):
        want = np.histogram(x, bins, weights=weights, density=density)[0]
        got = cubed.histogram(lazy(x, 20), bins, weights=lazy(weights, 20), density=density)[0]
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got.compute(), want)
    weights[7] = complex(1, np.inf)
    grid = [np.histogram2d(x, y, bins, weights=part)[0] for part in (weights.real, weights.imag)]
    for found in (
        cubed.histogram2d(lazy(x, 20), lazy(y, 20), bins, weights=lazy(weights, 20))[0],
        cubed.histogramdd([lazy(x, 20), lazy(y, 20)], [bins, bins], weights=lazy(weights, 20))[0],
    ):
        values = found.compute()
        np.testing.assert_allclose(values.real, grid[0])
        np.testing.assert_allclose(values.imag, grid[1])


def test_sums_of_groups_keep_infinite_parts():
    x = np.array([1 + 1j, complex(2, np.inf), complex(np.inf, 1), 3j])
    out = cubed.groupby_reduce(lazy(x), np.array([0, 0, 1, 1]), func="sum")[0].compute()
    assert out.real.tolist() == [3, np.inf] and out.imag.tolist() == [np.inf, 4]
    x[1] = complex(2, np.nan)
    out = cubed.groupby_reduce(lazy(x), np.array([0, 0, 1, 1]), func="sum")[0].compute()
    assert out.real.tolist() == [3, np.inf] and np.isnan(out.imag[0]) and out.imag[1] == 4


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_positions_of_complex_extremes(dtype):
    """By real parts, then by imaginary ones; NaN in either part is an extreme, or is skipped."""
    rng = np.random.default_rng(3)
    parts = [0.0, -0.0, 1.0, -2.0, np.inf, -np.inf]
    a = rng.choice(parts, (7, 9)) + 1j * np.zeros(1)
    a.imag = rng.choice(parts, a.shape)
    a = a.astype(dtype)
    gaps = a.copy()
    gaps[rng.random(a.shape) < 0.3] = complex(np.nan, 1)
    gaps.imag[2, 3] = np.nan
    gaps[:, 0] = np.where(np.isnan(gaps[:, 0]), 1, gaps[:, 0])
    for axis in (None, 0, 1, -1):
        for keepdims in (False, True):
            for name in ("argmax", "argmin"):
                for x in (a, gaps):
                    got = getattr(cubed, name)(lazy(x, (3, 4)), axis=axis, keepdims=keepdims)
                    want = getattr(np, name)(x, axis=axis, keepdims=keepdims)
                    assert got.dtype == np.int64
                    np.testing.assert_array_equal(got.compute(), want)
            for name in ("nanargmax", "nanargmin"):
                got = getattr(np, name)(lazy(gaps, (3, 4)), axis=axis, keepdims=keepdims).compute()
                limit = complex(*2 * [np.inf if name == "nanargmin" else -np.inf])
                filled = np.where(np.isnan(gaps), limit, gaps)
                want = getattr(np, name[3:])(filled, axis=axis, keepdims=True)
                whole = axis is None
                there = (
                    gaps.reshape(-1)[want.item()] if whole else np.take_along_axis(gaps, want, axis)
                )
                assert not np.isnan(there).any()
                np.testing.assert_array_equal(got, want if keepdims else np.squeeze(want, axis))
    with pytest.raises(ValueError, match="All-NaN slice encountered"):
        cubed.nanargmax(lazy(np.full(3, np.nan, dtype))).compute()
    with pytest.raises(ValueError, match="argmax: axis 0 has no elements, expected at least one"):
        cubed.argmax(lazy(np.zeros(0, dtype)))


# --- Small ones -----------------------------------------------------------------------------------


def test_shapes_of_numbers():
    for shapes in ((3, (2, 1)), (np.int64(2),), ((), 4), ([2, 1], 5)):
        assert cubed.broadcast_shapes(*shapes) == np.broadcast_shapes(*map(tuple_of, shapes))
    with pytest.raises(TypeError, match="shape is 'ab', expected integers"):
        cubed.broadcast_shapes("ab")


def tuple_of(shape):
    return tuple(shape) if isinstance(shape, list) else shape


def test_arguments_that_come_twice_or_are_not_there():
    with pytest.raises(ValueError, match="an axis is given twice"):
        cubed.coarsen(np.mean, cubed.arange(6.0), {0: 2, -1: 3})
    with pytest.raises(ValueError, match="expected_groups has 0 twice"):
        cubed.groupby_reduce(
            lazy([1, 2, 3]), np.array([0, 1, 0]), func="sum", expected_groups=np.array([0, 0, 1])
        )
    days = np.array(["2020-01-01"] * 2, "M8[ns]")
    with pytest.raises(ValueError, match="expected_groups has 2020-01-01T.* twice"):
        cubed.groupby_reduce(lazy([1, 2]), days, func="sum", expected_groups=days)
    with pytest.raises(TypeError, match="1 arguments, expected pairs of an array and its indices"):
        unify_chunks(cubed.ones(6, chunks=2))
    with pytest.raises(TypeError, match="chunks has axis 'x', expected the number of an axis"):
        cubed.ones((5,), chunks={"x": 2})
    with pytest.raises(TypeError, match="chunks has axis 'x'"):
        cubed.ones((5,)).rechunk({"x": 2})
    for ends in (
        (0, np.inf),
        (-np.inf, 0),
        (np.nan, 1),
        (0.0, np.array([1, np.inf])),
        (-1e308, 1e308),
    ):
        with pytest.raises(OverflowError, match="high - low is not finite"):
            cubed.random.default_rng(0).uniform(*ends, size=2)


def test_fill_values_of_groups_of_times():
    dates, codes = np.array(["2020-01-01", "2021-01-01"], "M8[D]"), np.array([0, 2])
    options = {"expected_groups": np.arange(3)}

    def reduce(x, **more):
        return cubed.groupby_reduce(lazy(x), codes, **options, **more)[0].compute()

    for x in (dates, dates - dates[0]):
        with pytest.raises(TypeError, match="max: fill_value is 0, expected None or NaT"):
            reduce(x, func="max", fill_value=0)
        for missing in (np.nan, np.array("NaT", x.dtype)[()]):
            assert np.isnat(reduce(x, func="max", fill_value=missing)).tolist() == [0, 1, 0]
        assert reduce(x, func="count", fill_value=0).tolist() == [1, 0, 1]


# --- Text and dates -------------------------------------------------------------------------------

MATRICES = {
    "text": np.array([["b", "ab"], ["", "c"]]),
    "bytes": np.array([[b"b", b"ab"], [b"", b"c"]]),
    "dates": np.array([["2020-01-01", "NaT"], ["1999-01-01", "2000-01-01"]], "M8[D]"),
    "times": np.array([[5, 3], [-2, 7]], "m8[s]"),
}


@pytest.mark.parametrize("name", MATRICES)
def test_diagonals_and_triangles_of_text_and_dates(name):
    x = MATRICES[name]
    calls = [
        lambda m, x, k: m.diag(x[0], k),
        lambda m, x, k: m.diagflat(x, k),
        lambda m, x, k: m.diag(x, k),
        lambda m, x, k: m.tril(x, k),
        lambda m, x, k: m.triu(x, k),
    ]
    for k in (0, 1, -2, np.int64(1), np.int8(-1)):
        for call in calls:
            want, got = call(np, x, k), call(cubed, lazy(x, 1), k).compute()
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)


def test_dates_are_searched():
    dates = np.array(["1999-01-01", "2000-01-01", "2020-01-01", "NaT"], "M8[D]")
    wanted = np.array(["2000-01-01T00", "1990-01-01T00", "2020-01-01T01", "NaT"], "M8[h]")
    for x, v in ((dates, wanted), (dates - dates[0], wanted - dates[0])):
        for side in ("left", "right"):
            got = cubed.searchsorted(lazy(x), lazy(v), side=side).compute()
            np.testing.assert_array_equal(got, np.searchsorted(x, v, side=side))


def test_differences_of_times_beside_integers():
    x = np.array([5, 3], "m8[s]")
    got = cubed.diff(lazy(x), prepend=0, append=np.int8(2)).compute()
    np.testing.assert_array_equal(got, np.diff(x, prepend=0, append=np.int8(2)))
    assert got.dtype == x.dtype


def test_conditions_of_another_length():
    x = np.arange(6)
    for condition in ([True, False, True], [False] * 9, x > 2, np.ones((2, 2), bool)):
        want = np.extract(condition, x)
        np.testing.assert_array_equal(np.extract(lazy(condition), lazy(x)).compute(), want)
    with pytest.raises(IndexError):
        cubed.extract(lazy([True] * 7), lazy(x)).compute()


# --- Medians of complex numbers -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["median", "nanmedian"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_medians_of_complex_numbers(name, dtype):
    for shape in ((5,), (4,), (3, 4), (2, 3, 5)):
        x = (RNG.integers(-2, 3, shape) + 1j * RNG.integers(-2, 3, shape)).astype(dtype)
        if len(shape) > 1:
            x[0, 1] = complex(np.nan, 1)
        for axis in (None, 0, -1, tuple(range(len(shape)))):
            want = getattr(np, name)(x, axis=axis, keepdims=True)
            for call in (getattr(cubed, name), getattr(np, name)):
                got = call(lazy(x), axis=axis, keepdims=True).compute()
                assert got.dtype == want.dtype and got.shape == want.shape
                np.testing.assert_allclose(got, want)
    infinite = np.array([complex(1, np.inf), complex(1, 2), complex(np.inf, 1)], dtype)
    assert getattr(cubed, name)(lazy(infinite)).compute() == infinite[0]
