"""Compares dates and times with NumPy's."""

import itertools
import operator

import cubed
import numpy as np
import pytest

DATES = np.array(["2000-01-01", "NaT", "2001-03-01", "1969-05-05T03:04:05"], "M8[s]")
MILLIS = np.array(["2000-01-01", "2001-01-01", "NaT", "1970-01-01"], "M8[ms]")
SECONDS = np.array([5, -7, "NaT", 0], "m8[s]")
HOURS = np.array([2, "NaT", 3, 9], "m8[h]")
TIMES = [DATES, MILLIS, SECONDS, HOURS]
OTHERS = [
    np.array([1.5, 2, -3, 0.5]),
    np.array([1, 2, 3, 0]),
    np.datetime64("2000-01-01"),
    np.timedelta64(3, "h"),
    2,
    0.5,
]
KINDS = [str(getattr(v, "dtype", type(v).__name__)) for v in [*TIMES, *OTHERS]]


def lazy(a):
    return cubed.from_array(a, chunks=3) if isinstance(a, np.ndarray) else a


def check(result, expected):
    values = result.compute()
    assert values.dtype == expected.dtype
    np.testing.assert_array_equal(values, expected)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", "add sub mul truediv floordiv eq ne lt le gt ge".split())
def test_operators(name):
    op = getattr(operator, name)
    for a, b in itertools.product([*TIMES, *OTHERS], repeat=2):
        if not any(isinstance(v, np.ndarray) and v.dtype.kind in "mM" for v in (a, b)):
            continue
        try:
            expected = op(a, b)
        except TypeError:
            expected = None
        for x, y in ((lazy(a), lazy(b)), (a, lazy(b)), (lazy(a), b)):
            if not any(isinstance(v, cubed.Array) for v in (x, y)):
                continue
            try:
                check(op(x, y), expected)
            except TypeError:
                # NumPy compares what cannot be compared element by element: never equal.
                assert expected is None or name in ("eq", "ne")


@pytest.mark.parametrize("a", TIMES, ids=KINDS[:4])
def test_types(a):
    for dtype in "i8 f8 M8[ns] m8[ms] M8[h] m8[D] M8[Y] M8[M] m8[3m]".split():
        try:
            expected = a.astype(dtype)
        except TypeError:
            with pytest.raises(TypeError):
                lazy(a).astype(dtype).compute()
        else:
            check(lazy(a).astype(dtype), expected)
    check(cubed.from_array(np.array([np.nan, 3.7])).astype(a.dtype), np.array(["NaT", 3], a.dtype))


@pytest.mark.parametrize("a", TIMES, ids=KINDS[:4])
def test_functions(a):
    x, mask = lazy(a), np.array([True, False, True, False])
    known = a[~np.isnat(a)]
    check(np.isnat(x), np.isnat(a))
    check(cubed.isnan(x), np.isnat(a))
    check(cubed.where(mask, x, a[::-1]), np.where(mask, a, a[::-1]))
    check(np.maximum(x, a[::-1]), np.maximum(a, a[::-1]))
    check(cubed.min(x), np.min(a))
    check(cubed.max(x), np.max(a))
    check(cubed.nanmin(x), known.min())
    check(cubed.nanmax(x), known.max())
    check(cubed.full_like(x, a[0]), np.full_like(a, a[0]))
    check(cubed.full((2,), "NaT", dtype=a.dtype), np.full((2,), "NaT", a.dtype))
    with pytest.raises(TypeError, match="isnat: x is of type float64"):
        np.isnat(cubed.ones(3))


@pytest.mark.parametrize("missing", [False, True])
def test_differences(missing):
    a = np.array([[5, -7, 8, 0, 11], [1, 2, -30, 4, 8]], "m8[s]")
    if missing:
        a[0, 3] = "NaT"
    x, valid = cubed.from_array(a, chunks=(1, 2)), np.where(np.isnat(a), np.timedelta64(0), a)
    for axis in (None, 0, 1):
        count = (~np.isnat(a)).sum(axis=axis)
        check(cubed.sum(x, axis=axis), np.sum(a, axis=axis))
        check(cubed.mean(x, axis=axis), np.mean(a, axis=axis))
        check(cubed.nansum(x, axis=axis), valid.sum(axis=axis))
        check(cubed.nanmean(x, axis=axis), valid.sum(axis=axis) / np.asarray(count))
        check(cubed.argmin(x, axis=axis), np.argmin(a, axis=axis))
        check(cubed.argmax(x, axis=axis), np.argmax(a, axis=axis))
    check(cubed.cumulative_sum(x, axis=1), np.cumsum(a, axis=1))
    check(cubed.diff(x), np.diff(a))
    check(cubed.diff(x, n=2, axis=1), np.diff(a, n=2, axis=1))
    check(-x, -a)
    check(abs(x), abs(a))
    check(cubed.nanmean(x[:, 3:3], axis=1), np.full(2, "NaT", a.dtype))
    dates = a + np.datetime64("2000-01-01")
    y = cubed.from_array(dates, chunks=2)
    check(cubed.diff(y), np.diff(dates))
    check(cubed.argmax(y, axis=1), np.argmax(dates, axis=1))
    for wrong in (
        lambda: y.sum(),
        lambda: y.mean(),
        lambda: -y,
        lambda: cubed.cumulative_sum(y, axis=1),
    ):
        with pytest.raises(TypeError, match="not defined for datetime64"):
            wrong()


def test_one_pass():
    x = cubed.from_array(DATES, chunks=2)
    late = (x - np.datetime64("2000-01-01")) / np.timedelta64(1, "D") > 3
    assert cubed.sum(late).plan().num_stages == 1
    assert int(cubed.sum(late)) == 1


NUMPYS = [
    getattr(np, n) for n in ("add", "subtract", "remainder", "less", "maximum", "fmax", "fmin")
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("ufunc", NUMPYS, ids=lambda f: f.__name__)
def test_units_of_the_calendar(ufunc):
    """Months have no common unit with seconds, but dates of both have; x % 0 is not a time."""
    months = np.array(["2000-01", "NaT", "1969-11", "2001-03"], "M8[M]")
    span = np.array([5, "NaT", 0, -3], "m8[M]")
    for a, b in itertools.product([DATES, MILLIS, SECONDS, HOURS, months, span, 2], repeat=2):
        try:
            expected = ufunc(a, b)
        except TypeError:
            if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
                with pytest.raises(TypeError):
                    ufunc(lazy(a), lazy(b))
            continue
        if isinstance(expected, np.ndarray):
            check(ufunc(lazy(a), lazy(b)), expected)


@pytest.mark.parametrize("kind", ["M", "m"])
def test_units_that_are_no_multiples_of_each_other(kind):
    ints = np.random.default_rng(2).integers(-(10**6), 10**6, 100)
    types = [f"{kind}8[{unit}]" for unit in ("7s", "3s", "36h", "2D", "W", "250ms")]
    for one, other in itertools.permutations(types, 2):
        a, b = ints.astype(one), ints[::-1].astype(other)
        check(lazy(a).astype(other), a.astype(other))
        check(lazy(a) - lazy(b), a - b)
        check(lazy(a) < lazy(b), a < b)
        check(cubed.where(lazy(a < b), lazy(a), lazy(b)), np.where(a < b, a, b))


@pytest.mark.parametrize("kind", ["M", "m"])
def test_casts_between_months_and_days(kind):
    ints = np.random.default_rng(3).integers(-9000, 9000, 100)
    ints[9] = np.iinfo("i8").min
    for one, other in itertools.product(("Y", "5M", "M"), ("W", "D", "10D", "h", "7s", "ms")):
        a = ints.astype(f"{kind}8[{one}]")
        check(lazy(a).astype(f"{kind}8[{other}]"), a.astype(f"{kind}8[{other}]"))
        a = (ints * (1 if other in ("W", "D", "10D") else 10**6)).astype(f"{kind}8[{other}]")
        check(lazy(a).astype(f"{kind}8[{one}]"), a.astype(f"{kind}8[{one}]"))
    assert lazy(a).astype(f"{kind}8[M]").plan().num_stages == 1


def test_months_of_centuries_are_days():
    months = np.append(np.arange(-30_000, 30_000, 7), [0, 1, -1]).astype("M8[M]")
    for unit in ("D", "W", "2W", "14D", "h", "7s"):
        start = np.datetime64(3, unit)
        check(lazy(months) - start, months - start)
        check(lazy(months.astype("M8[2M]")) - start, months.astype("M8[2M]") - start)
    years = np.arange(-2500, 2500, 3).astype("M8[Y]")
    check(lazy(years) - np.datetime64(3, "D"), years - np.datetime64(3, "D"))
    with pytest.raises(TypeError, match="months and days have no common unit"):
        lazy(months) + np.timedelta64(3, "D") - np.timedelta64(1, "M")
    with pytest.raises(TypeError, match=r"where is not defined for datetime64\[M\] and int64"):
        cubed.where(lazy(months) > months[0], lazy(months), 0)


def test_limits_and_gradients():
    check(cubed.clip(lazy(DATES), DATES[0], None), np.clip(DATES, DATES[0], None))
    check(np.clip(lazy(SECONDS), None, np.timedelta64(1, "m")), np.clip(SECONDS, None, 60))
    check(cubed.gradient(lazy(MILLIS)), np.gradient(MILLIS))
    numbers, whole = np.array([1.0, 2.0, 9.0, 3.0]), np.array([1, 2, 5, 7])
    for f in (numbers, whole, whole.astype("m8[s]"), whole.astype("M8[s]")):
        for steps in (whole, np.arange(4) * 2, numbers):
            for at in (steps, steps.astype("m8[D]"), steps.astype("M8[s]"), np.timedelta64(2, "s")):
                try:
                    expected = np.gradient(f, at)
                except TypeError:
                    with pytest.raises(TypeError):
                        cubed.gradient(lazy(f), at)
                else:
                    check(cubed.gradient(lazy(f), at), expected)


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[h]"])
def test_nothing(dtype):
    empty = np.empty((0, 3), dtype)
    x = cubed.from_array(empty, chunks=2)
    check(x.astype(f"{dtype[0]}8[M]"), empty.astype(f"{dtype[0]}8[M]"))
    check(x == x, empty == empty)
    check(cubed.map_blocks(np.copy, x, dtype=x.dtype), empty)


@pytest.mark.parametrize("kind", ["M", "m"])
def test_sets_and_truth(kind):
    values = np.random.default_rng(1).integers(-3, 4, (6, 5)).astype(f"{kind}8[s]")
    for a in (values, np.where(values == values[0, 0], np.array("NaT", values.dtype), values)):
        x = cubed.from_array(a, chunks=(4, 2))
        for axis in (None, 0, 1):
            check(np.any(x, axis=axis), np.any(a, axis=axis))
            check(np.all(x, axis=axis), np.all(a, axis=axis))
        check(np.unique(x), np.unique(a))
        options = {"return_index": True, "return_inverse": True, "return_counts": True}
        for got, expected in zip(np.unique(x, **options), np.unique(a, **options), strict=True):
            check(got, expected)
        some = a[1].astype(f"{kind}8[ms]")
        check(np.isin(x, some), np.isin(a, some))
        check(cubed.isin(x, lazy(some), invert=True), np.isin(a, some, invert=True))
    with pytest.raises(TypeError, match="isin is not defined"):
        cubed.isin(lazy(values), np.arange(3))


@pytest.mark.parametrize("missing", [False, True])
def test_quantiles(missing):
    ints = np.random.default_rng(2).integers(-(10**17), 10**17, (7, 6, 4))
    spans, dates = ints.astype("m8[ns]"), ints.astype("M8[ns]")
    if missing:
        spans[3, 2] = dates[3, 2] = "NaT"
    for axis in (None, 0, -1, (0, 2)):
        x = cubed.from_array(spans, chunks=(4, 3, 2))
        check(np.median(x, axis=axis), np.median(spans, axis=axis))
        for a in (spans, dates):
            x = cubed.from_array(a, chunks=(4, 3, 2))
            for q in (0.3, [0.1, 0.5, 1.0]):
                for method in ("linear", "lower", "nearest"):
                    got = np.quantile(x, q, axis=axis, method=method)
                    # NumPy's multiply by a factor whose last bit may differ.
                    off = (got.compute() - np.quantile(a, q, axis=axis, method=method)).astype("i8")
                    there = off != np.iinfo("i8").min
                    assert (np.abs(off[there]) <= (64 if method == "linear" else 0)).all()
                    nat = np.isnat(np.quantile(a, q, axis=axis, method=method))
                    np.testing.assert_array_equal(~there, nat)
    with pytest.raises(TypeError, match=r"median is not defined for datetime64.*quantile"):
        cubed.median(lazy(dates))
    with pytest.raises(TypeError, match="'hazen' is not defined"):
        cubed.quantile(lazy(spans), 0.3, method="hazen")


def test_times_without_a_unit():
    """NaT and numbers of no unit take that of the other side, as NumPy's do."""
    a = np.array(["2001-01-01", "NaT", "2003-01-01"], "M8[ns]")
    x = cubed.asarray(a, chunks=2)
    for nat, u, v in ((np.datetime64("NaT"), x, a), (np.timedelta64("NaT"), x - x[0], a - a[0])):
        c = [True, False, True]
        for got, expected in (
            (cubed.where(cubed.asarray(c), u, nat), np.where(c, v, nat)),
            (cubed.where(cubed.asarray(c), nat, u), np.where(c, nat, v)),
            (u == nat, v == nat),
        ):
            assert got.dtype == expected.dtype
            np.testing.assert_array_equal(got.compute(), expected)
    assert cubed.result_type(np.dtype("M8"), np.dtype("M8")) == np.dtype("M8")


def test_units_that_differ():
    """The finer one, in all that promotes."""
    a, b = DATES, MILLIS
    x, y = cubed.asarray(a, chunks=2), cubed.asarray(b, chunks=3)
    assert cubed.result_type(x, y) == np.result_type(a, b) == np.dtype("M8[ms]")
    c = np.array([True, False, False, True])
    for got, expected in (
        (cubed.where(cubed.asarray(c), x, y), np.where(c, a, b)),
        (cubed.concat([x, y]), np.concatenate([a, b])),
        (cubed.stack([y, x]), np.stack([b, a])),
    ):
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got.compute(), expected)
    with pytest.raises(TypeError, match="no common type"):
        cubed.result_type(np.dtype("M8[s]"), np.dtype("m8[s]"))
