"""Compares functions with names and parameters of NumPy, Dask and SciPy with the originals: they
are lazy, for any chunks.
"""

import warnings

import cubed
import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

RNG = np.random.default_rng(36)
F = np.array([[0.0, -0.0, 1.5, -2.25, np.nan], [np.inf, -np.inf, 1e300, 5e-324, -7.0]])
DAYS = np.array(
    ["2024-02-28", "2024-03-01", "2024-03-02", "2024-03-03", "NaT", "1969-12-30"], "M8[D]"
)
HOLIDAYS = np.array(["2024-03-01", "2024-03-05"], "M8[D]")

settings = hypothesis_settings(max_examples=40, deadline=None)


def lazily(function, *args, **kwargs):
    """The result, for which nothing is computed or warned of."""
    with cubed.raise_if_computes(), warnings.catch_warnings():
        warnings.simplefilter("error")
        return function(*args, **kwargs)


def same(ours, theirs):
    assert isinstance(ours, cubed.Array) and ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    values = ours.compute()
    np.testing.assert_array_equal(values, theirs)
    if theirs.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(values), np.signbit(theirs))


# --- Bits -----------------------------------------------------------------------------------------


@st.composite
def arrays(draw, dtypes, max_dims=3):
    """An array, its chunks, and an axis or None."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=max_dims, min_side=0, max_side=19))
    x = draw(hnp.arrays(draw(st.sampled_from(dtypes)), shape))
    chunks = tuple(draw(st.integers(1, max(1, n))) for n in shape)
    axis = draw(st.none() | st.integers(-x.ndim, x.ndim - 1))
    return x, chunks, axis


@settings
@given(arrays(["?", "u1", "i4", "i8"]), st.sampled_from(["big", "little"]))
def test_packbits(given, order):
    x, chunks, axis = given
    a = cubed.from_array(x, chunks=chunks)
    same(lazily(np.packbits, a, axis=axis, bitorder=order), np.packbits(x, axis, order))


@settings
@given(arrays(["u1"]), st.sampled_from(["big", "little"]), st.none() | st.integers(-20, 200))
def test_unpackbits(given, order, count):
    x, chunks, axis = given
    n = 8 * (x.size if axis is None else x.shape[axis])
    a = cubed.from_array(x, chunks=chunks)
    if count is not None and count < -n:
        with pytest.raises(ValueError, match=f"unpackbits: count is {count}, expected at least"):
            cubed.unpackbits(a, axis, count, order)
        return
    ours = lazily(np.unpackbits, a, axis=axis, count=count, bitorder=order)
    if x.size:
        same(ours, np.unpackbits(x, axis, count, order))
    else:  # NumPy does not set what count adds
        assert not ours.compute().any()
        assert ours.shape == np.unpackbits(x, axis, count, order).shape


@settings
@given(arrays(["f4", "f8", "i4", "i8"]))
def test_parts_of_numbers(given):
    x, chunks, _ = given
    a = cubed.from_array(x, chunks=chunks)
    for function in (np.modf, np.frexp):
        for ours, theirs in zip(lazily(function, a), function(x), strict=True):
            same(ours, theirs)


def test_parts_of_special_numbers():
    for dtype in ("f8", "f4", "f2"):
        with np.errstate(over="ignore"):
            x = F.astype(dtype)
        for function in (np.modf, np.frexp):
            for ours, theirs in zip(lazily(function, cubed.asarray(x)), function(x), strict=True):
                same(ours, theirs)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cubed.packbits([1.5]), "packbits: the elements are float64, expected integers"),
        (lambda: cubed.packbits([1], bitorder="up"), "bitorder is 'up', expected one of 'big'"),
        (lambda: cubed.unpackbits([1]), "unpackbits: the elements are int64, expected uint8"),
        (lambda: cubed.modf([1j]), "modf: x is of type complex128, expected real numbers"),
        (lambda: cubed.frexp([1j]), "frexp: x is of type complex128, expected real numbers"),
        (
            lambda: cubed.is_busday([1]),
            "is_busday: dates has elements of int64, expected datetime64",
        ),
        (lambda: cubed.push([1.0], -1), "push: n is -1, expected at least 0"),
        (lambda: cubed.shuffle(EYE, "s", 0), "shuffle: indexer is 's', expected a list of"),
        (lambda: cubed.shuffle(EYE, [1], 0), r"shuffle: indexer\[0\] is 1, expected a list"),
        (lambda: cubed.shuffle(EYE, [[0.5]], 0), r"shuffle: indexer\[0\] is \[0.5\], expected"),
        (lambda: cubed.shuffle(EYE, [[0], [9]], 0), "position 9 of group 1 is outside of an"),
        (lambda: cubed.shuffle(EYE, [[0]], 2), "axis 2"),
        (lambda: cubed.zeros(3, order="G"), "zeros: order is 'G', expected 'C', 'F'"),
        (lambda: cubed.asarray([1], order=1), "asarray: order is 1, expected 'C', 'F'"),
        (lambda: cubed.ones(3).view("U1"), "view: dtype is <U1, expected numbers"),
        (lambda: cubed.ones(3).view("f4,f4"), "view: dtype is .*, expected numbers"),
        (lambda: cubed.ones(3, dtype="u1").view("u2"), "the last axis has 3 bytes, expected a mul"),
        (lambda: cubed.ones(()).view("f4"), "without axes has 8 bytes, expected 4"),
        (lambda: cubed.ones(3).view("i8", "F"), "view: order is 'F', expected 'C'"),
        (lambda: cubed.linalg.solve(EYE, EYE, assume_a="none"), "solve: assume_a is 'none'"),
        (lambda: cubed.linalg.cholesky(EYE, upper=True, lower=True), "upper and lower are both"),
        (lambda: cubed.linalg.tsqr(np.ones(3)), "tsqr: data has 1 axes, expected 2"),
        (lambda: cubed.linalg.sfqr(np.ones(3)), "sfqr: data has 1 axes, expected 2"),
        (lambda: cubed.ones(9).rechunk(block_size_limit=4), "block_size_limit is 4, expected"),
        (
            lambda: cubed.linalg.svd_compressed(EYE, 1, iterator="LU"),
            "svd_compressed: iterator is 'LU', expected 'power' or 'QR'",
        ),
    ],
)
def test_wrong_arguments_are_named(call, message):
    with pytest.raises((TypeError, ValueError, IndexError), match=message):
        call()


# --- Business days --------------------------------------------------------------------------------

CALENDARS = [
    {},
    {"weekmask": "Mon Wed Fri"},
    {"holidays": HOLIDAYS},
    {"busdaycal": np.busdaycalendar([1, 1, 0, 0, 0, 0, 1], HOLIDAYS)},
]


@pytest.mark.parametrize("calendar", CALENDARS)
def test_business_days(calendar):
    x = cubed.from_array(DAYS, chunks=2)
    same(lazily(np.is_busday, x, **calendar), np.is_busday(DAYS, **calendar))
    known = DAYS[~np.isnat(DAYS)]
    y, column = cubed.from_array(known, chunks=2), known[:, None]
    ours = lazily(np.busday_count, cubed.from_array(column, chunks=3), y, **calendar)
    same(ours, np.busday_count(column, known, **calendar))
    for roll in ("nat", "forward", "modifiedpreceding"):
        offsets = np.arange(-3, 3)
        ours = lazily(cubed.busday_offset, x, offsets, roll, **calendar)
        same(ours, np.busday_offset(DAYS, offsets, roll, **calendar))
    same(cubed.busday_offset(y, -2, "forward"), np.busday_offset(known, -2, "forward"))


def test_business_days_of_other_units():
    x = DAYS.astype("M8[ns]") + np.timedelta64(7, "h")
    same(cubed.is_busday(cubed.from_array(x, chunks=4)), np.is_busday(DAYS))
    same(cubed.is_busday(x), np.is_busday(DAYS))
    same(cubed.is_busday(["2024-03-01", "2024-03-02"]), np.array([True, False]))


def test_a_date_that_is_no_business_day_is_an_error_when_computed():
    out = lazily(cubed.busday_offset, cubed.from_array(DAYS[2:4], chunks=1), 1)
    with pytest.raises(ValueError, match="Non-business day"):
        out.compute()


def test_calendars_of_business_days_are_checked():
    calendar = np.busdaycalendar()
    with pytest.raises(ValueError, match="is_busday: there is a busdaycal, expected no weekmask"):
        cubed.is_busday(DAYS, holidays=HOLIDAYS, busdaycal=calendar)
    with pytest.raises(TypeError, match="holidays is a lazy array"):
        cubed.is_busday(DAYS, holidays=cubed.asarray(HOLIDAYS))
    with pytest.raises(ValueError, match="roll is 'up', expected one of raise, nat"):
        cubed.busday_offset(DAYS, 1, "up")
    with pytest.raises(TypeError, match="offsets are of type float64, expected integers"):
        cubed.busday_offset(DAYS, 1.5)
    with pytest.raises(TypeError, match="is_busday: dates has elements of float64"):
        cubed.is_busday(cubed.ones(3))


# --- Missing values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "x", [F, F[0].astype("f4"), F + 1j, DAYS, DAYS - DAYS[0], np.arange(3), np.array(["a", "nan"])]
)
def test_missing_values(x):
    import pandas as pd

    a = cubed.from_array(x, chunks=2)
    same(lazily(cubed.isnull, a), pd.isnull(x))
    same(lazily(cubed.notnull, a), pd.notnull(x))


@settings
@given(arrays(["f8"], 2), st.none() | st.integers(0, 4))
def test_push(given, n):
    da = pytest.importorskip("dask.array")
    pytest.importorskip("bottleneck")
    x, chunks, axis = given
    x = np.where(RNG.random(x.shape) < 0.6, np.nan, x)
    axis = -1 if axis is None else axis % x.ndim
    ours = lazily(cubed.push, cubed.from_array(x, chunks=chunks), n, axis)
    if x.size and n != 0:
        theirs = da.push(da.from_array(x), n, axis % x.ndim).compute()
        np.testing.assert_array_equal(ours.compute(), theirs)
    elif n == 0:
        np.testing.assert_array_equal(ours.compute(), x)


# --- Arrays ---------------------------------------------------------------------------------------

VIEWS = ["u1", "i2", "f2", "f4", "i4", "f8", "i8", "c8", "c16", "M8[s]", "m8[ms]", "S2", "S12"]


@settings
@given(arrays(["?", "u1", "i2", "f4", "f8", "c16", "M8[D]"]), st.sampled_from(VIEWS))
def test_view(given, dtype):
    x, chunks, _ = given
    a, to = cubed.from_array(x, chunks=chunks), np.dtype(dtype)
    if x.shape[-1] * x.itemsize % to.itemsize:
        with pytest.raises(ValueError, match="expected a multiple"):
            a.view(dtype)
        return
    ours = lazily(a.view, dtype)
    theirs = x.view(to)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert ours.compute().tobytes() == theirs.tobytes()


def test_views_of_strings_and_bools():
    names = np.array([["ab", "c"], ["\xe9t\xe9", ""]])
    codes = names.astype("U3").view("u4")
    x = cubed.from_array(names, chunks=1)
    np.testing.assert_array_equal(x.view("u4").compute(), codes)
    data = np.array([b"abcd", b"ef", b""])
    y = cubed.from_array(data, chunks=2)
    for to in ("u1", "i2", "u4", "S2", "S1"):
        np.testing.assert_array_equal(y.view(to).compute(), data.view(to))
    numbers = np.array([97, 25185, 0, 2**31 - 1], "i4")
    z = cubed.from_array(numbers, chunks=3)
    for to in ("S4", "S2"):
        assert z.view(to).dtype == numbers.view(to).dtype
        np.testing.assert_array_equal(z.view(to).compute(), numbers.view(to))
    # Bytes other than 0 and 1 would be bools that the engine does not expect.
    assert cubed.asarray([0, 2, 256, -1], dtype="i2").view("?").compute().tolist() == [
        False, False, True, False, False, True, True, True,
    ]  # fmt: skip


def test_views_are_arrays_of_their_own():
    x = cubed.arange(4, chunks=2)
    y = x.view()
    x[0] = 9
    np.testing.assert_array_equal(y.compute(), np.arange(4))
    assert x.view("f8").view("i8").compute().tolist() == [9, 1, 2, 3]
    assert cubed.asarray([True, False]).view("u1").compute().tolist() == [1, 0]


def test_rechunk_by_size_and_balance():
    da = pytest.importorskip("dask.array")
    x = cubed.ones((1000, 7), chunks=(10, 7))
    assert lazily(cubed.rechunk, x).chunks == ((1000,), (7,))
    assert x.rechunk(block_size_limit=800).chunksize == (14, 7)
    assert max(x.rechunk({0: "auto"}, block_size_limit="4kB").chunks[0]) * 7 * 8 <= 4000
    for n in (1, 2, 7, 10, 11, 95, 100, 101):
        for chunk in (1, 2, 3, 7, 10, 50, 90):
            ours = cubed.ones(n, chunks=n).rechunk(chunk, balance=True).chunks[0]
            assert sum(ours) == n
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs = da.ones(n, chunks=n).rechunk(min(chunk, n), balance=True).chunks[0]
            if n % chunk or chunk > n:
                assert max(ours) - min(ours) <= max(theirs) - min(theirs)
            else:
                assert ours == theirs
    y = x.rechunk(((1, 499, 500), -1), balance=True)
    assert y.chunks == ((500, 500), (7,))
    assert y.sum().compute() == 7000


def test_unify_chunks():
    x, y = cubed.ones((6, 4), chunks=(2, 4)), cubed.ones(6, chunks=3)
    chunks, (a, b, c) = lazily(cubed.unify_chunks, x, "ij", y, "i", 3, None)
    assert chunks == {"i": (2, 2, 2), "j": (4,)}
    assert a.chunks == ((2, 2, 2), (4,)) and b.chunks == ((2, 2, 2),) and c == 3


@pytest.mark.parametrize(
    ("indexer", "chunks"),
    [
        ([[1, 5, 6], [0, 2, 3, 4, 7]], ((2, 1), (3, 5))),
        ([[1, 5, 6], [0, 3], [4, 2, 7]], ((2, 1), (5, 3))),
        ([[-1], [0, -2, 5, 3, 2, 4], (7,)], ((1, 1, 1), (1, 6, 1))),
        ([np.array([2, 2, 2], "u1"), [], [0]], ((2, 1), (4,))),
        ([], ((2, 1), (0,))),
        ([[]], ((2, 1), (0,))),
    ],
)
@pytest.mark.parametrize("dtype", ["f8", ">i2", "c8", "M8[s]", "U3", "?"])
def test_shuffle(indexer, chunks, dtype):
    x = np.arange(24).reshape(8, 3).T.astype(dtype)
    order = np.concatenate([np.asarray(group, np.int64) for group in [*indexer, []]])
    a = cubed.from_array(x, chunks=((2, 1), (4, 4)))
    y = lazily(cubed.shuffle, a, indexer, 1)
    same(y, x[:, order].astype(x.dtype.newbyteorder("=")))
    if order.size:
        assert y.chunks == chunks
    same(lazily(a.shuffle, indexer, axis=-1), x[:, order].astype(x.dtype.newbyteorder("=")))


@settings
@given(arrays(["i4"]), st.data())
def test_shuffle_of_any_groups(given, data):
    x, chunks, axis = given
    axis = axis or 0
    n = x.shape[axis]
    positions = st.integers(-n, n - 1) if n else st.nothing()
    indexer = data.draw(st.lists(st.lists(positions, max_size=7 if n else 0), max_size=5))
    order = np.concatenate([np.asarray(group, np.int64) for group in [*indexer, []]])
    y = lazily(cubed.shuffle, cubed.from_array(x, chunks=chunks), indexer, axis)
    same(y, x.take(order, axis))
    ends = {0, *np.cumsum([len(group) for group in indexer])}
    if order.size:
        assert set(np.cumsum(y.chunks[axis])) <= ends


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 1), (1, 1)])
@pytest.mark.parametrize("chunks", [(4, 3), (2, 6), (4, 6), (1, 1)])
def test_roll_keeps_whole_axes(axis, chunks):
    x = np.arange(24).reshape(4, 6)
    a = cubed.from_array(x, chunks=chunks)
    y = lazily(cubed.roll, a, 3, axis=axis)
    same(y, np.roll(x, 3, axis))
    if axis is not None:
        for before, after in zip(a.chunks, y.chunks, strict=True):
            assert len(before) > 1 or after == before
    for shift in (cubed.fft.fftshift, cubed.fft.ifftshift):
        y = lazily(shift, a)
        same(y, getattr(np.fft, shift.__name__)(x))
        assert all(
            len(before) > 1 or after == before
            for before, after in zip(a.chunks, y.chunks, strict=True)
        )


def test_parameters_of_numpy():
    x = np.arange(24).reshape(2, 3, 4)
    a = cubed.from_array(x, chunks=2)
    same(lazily(cubed.repeat, a, 2, 1), np.repeat(x, 2, 1))
    for args in [(0, 1, 2, "f4"), (1, 0, 2), (-1,)]:
        same(lazily(a.trace, *args), x.trace(*args))
    same(lazily(cubed.eye, 3, M=4, k=1), np.eye(3, M=4, k=1))
    with pytest.raises(TypeError, match="n_cols is 2 and M is 3, expected one of them"):
        cubed.eye(2, 2, M=3)


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 5])
@pytest.mark.parametrize("limits", [(0, 10), (1.5, -1), (0, 1j), (np.array([1, 2]), 5)])
def test_steps_of_linspace(limits, num, endpoint):
    theirs = np.linspace(*limits, num, endpoint, retstep=True)
    numbers, step = lazily(cubed.linspace, *limits, num, endpoint, retstep=True)
    np.testing.assert_allclose(numbers.compute(), theirs[0])
    np.testing.assert_array_equal(step, theirs[1])
    start, stop = (cubed.asarray(v) for v in limits)
    numbers, step = lazily(cubed.linspace, start, stop, num, endpoint, retstep=True)
    np.testing.assert_allclose(numbers.compute(), theirs[0])
    if np.isnan(theirs[1]).any():
        assert np.isnan(step)
    else:
        same(step, np.asarray(theirs[1]))


VALUES = [
    [], [1, 2], [[1.5, 2], [3, 4]], (True, False), 3, 2.5, 1j, True, "abc", b"ab",
    memoryview(b"ab"), [np.datetime64("2024-01-01")],
]  # fmt: skip


@pytest.mark.parametrize("values", VALUES)
def test_from_array_of_values(values):
    x = lazily(cubed.from_array, values, chunks=1)
    y = cubed.asarray(values)
    assert x.dtype == y.dtype and x.shape == y.shape and set(x.chunksize) <= {0, 1}
    np.testing.assert_array_equal(x.compute(), y.compute())


def test_creation():
    np.testing.assert_array_equal(cubed.linspace(0, 1).compute(), np.linspace(0, 1))
    tri = cubed.tri(5, 4, 1, "i4", (2, 2))
    assert tri.chunksize == (2, 2)
    np.testing.assert_array_equal(tri.compute(), np.tri(5, 4, 1, "i4"))
    x = cubed.asanyarray([[1, 2]], "f4", "C")
    assert x.dtype == np.float32 and x.compute().tolist() == [[1, 2]]
    for made in (
        cubed.zeros((2, 3), order="C"),
        cubed.zeros_like(x, order="K", shape=(2, 3)),
        cubed.full((2, 3), 0.0, order=None),
        cubed.full_like(x, 0, order="A", shape=(2, 3)),
        cubed.ones((2, 3), order="F") - 1,
        cubed.ones_like(x, order="C", shape=(2, 3)) - 1,
        cubed.empty((2, 3), order="C"),
        cubed.empty_like(x, order="C", shape=(2, 3)),
        cubed.eye(2, 3, 3, order="C"),
    ):
        np.testing.assert_array_equal(made.compute(), np.zeros((2, 3)))


def test_parameters_of_dask():
    x = np.arange(12.0)
    a = cubed.from_array(x, chunks=5)
    for method in ("sequential", "blelloch"):
        same(lazily(cubed.cumsum, a, 0, method=method), x.cumsum())
        same(lazily(a.cumprod, 0, method=method), x.cumprod())
        same(lazily(a.cumsum, 0, method=method), x.cumsum())
    same(lazily(cubed.reshape, a, (3, 4), merge_chunks=False, limit=100), x.reshape(3, 4))
    same(lazily(a.reshape, 3, 4, merge_chunks=False), x.reshape(3, 4))
    b = a.reshape(3, 4)
    same(lazily(cubed.fft.fftshift, b, 1), np.fft.fftshift(x.reshape(3, 4), 1))
    same(lazily(cubed.fft.ifftshift, b, (0, 1)), np.fft.ifftshift(x.reshape(3, 4), (0, 1)))
    for name in ("fftfreq", "rfftfreq"):
        ours = getattr(cubed.fft, name)(11, 0.5, chunks=4)
        assert ours.chunksize == (4,)
        same(ours, getattr(np.fft, name)(11, 0.5))


# --- Matrices -------------------------------------------------------------------------------------

EYE = np.eye(3)
M = RNG.normal(size=(9, 4))
POSITIVE = M.T @ M + np.eye(4)


def test_cholesky_of_either_triangle():
    x = cubed.from_array(POSITIVE, chunks=2)
    lower = np.linalg.cholesky(POSITIVE)
    for options in ({}, {"lower": True}, {"upper": False}, {"upper": False, "lower": True}):
        made = lazily(cubed.linalg.cholesky, x, **options)
        np.testing.assert_allclose(made.compute(), lower, rtol=1e-12)
    for options in ({"lower": False}, {"upper": True}, {"upper": True, "lower": False}):
        made = lazily(cubed.linalg.cholesky, x, **options)
        np.testing.assert_allclose(made.compute(), lower.T, rtol=1e-12)


@pytest.mark.parametrize("assumed", ["gen", "sym", "her", "pos", "positive definite"])
def test_solve_of_matrices_that_are_assumed(assumed):
    scipy_linalg = pytest.importorskip("scipy.linalg")
    made = lazily(cubed.linalg.solve, cubed.asarray(POSITIVE), M[:4], assume_a=assumed)
    np.testing.assert_allclose(
        made.compute(), scipy_linalg.solve(POSITIVE, M[:4], assume_a=assumed[:3]), rtol=1e-9
    )


@pytest.mark.parametrize("x", [M, M.T])
def test_decompositions_of_dask(x):
    a = cubed.from_array(x, chunks=3)
    for function in (cubed.linalg.tsqr, cubed.linalg.sfqr):
        q, r = lazily(function, a)
        assert q.shape == (len(x), 4) and r.shape == (4, x.shape[1])
        np.testing.assert_allclose((q @ r).compute(), x, atol=1e-12)
    u, s, vh = lazily(cubed.linalg.tsqr, a, compute_svd=True)
    np.testing.assert_allclose(((u * s) @ vh).compute(), x, atol=1e-12)
    for iterator in ("power", "QR"):
        _, s, _ = cubed.linalg.svd_compressed(
            a, 3, n_power_iter=4, iterator=iterator, compute=True, seed=3
        )
        np.testing.assert_allclose(s.compute(), np.linalg.svd(x, compute_uv=False)[:3], rtol=1e-6)
