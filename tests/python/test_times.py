"""Dates and times beside NumPy's."""

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
    with pytest.raises(TypeError, match="isnat of float64"):
        np.isnat(cubed.ones(3))


def test_one_pass():
    x = cubed.from_array(DATES, chunks=2)
    late = (x - np.datetime64("2000-01-01")) / np.timedelta64(1, "D") > 3
    assert cubed.sum(late).plan().num_stages == 1
    assert int(cubed.sum(late)) == 1
