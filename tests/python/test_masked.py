"""cubed.ma against numpy.ma."""

import operator

import cubed
import numpy as np
import pytest
from cubed import ma

RNG = np.random.default_rng(11)
A = np.round(RNG.normal(size=(7, 5)), 1)
M = RNG.random((7, 5)) < 0.4
M[2] = True
I = RNG.integers(-3, 4, (7, 5))  # noqa: E741
N = np.where(A > 1, np.nan, A)

CASES = {
    "add": lambda m, x, y: x + y,
    "reflected": lambda m, x, y: 2.5 - x,
    "divide": lambda m, x, y: x / y,
    "divide a number": lambda m, x, y: 1 / y,
    "floor_divide": lambda m, x, y: x // y,
    "compare": lambda m, x, y: x > y,
    "equal": lambda m, x, y: x == 0.5,
    "and": lambda m, x, y: (x > 0) & (y > 0),
    "negative": lambda m, x, y: -x,
    "abs": lambda m, x, y: abs(x),
    "ufunc": lambda m, x, y: np.exp(x),
    "ufunc of two": lambda m, x, y: np.maximum(x, y),
    "with an array": lambda m, x, y: x * A[0],
    "with a masked row": lambda m, x, y: x + y[1],
    "sum": lambda m, x, y: x.sum(),
    "sum along": lambda m, x, y: x.sum(1),
    "sum kept": lambda m, x, y: y.sum(axis=0, keepdims=True),
    "prod": lambda m, x, y: x.prod(axis=1),
    "mean": lambda m, x, y: x.mean(axis=1),
    "mean of integers": lambda m, x, y: y.mean(0),
    "var": lambda m, x, y: x.var(axis=1),
    "std": lambda m, x, y: x.std(0, ddof=1),
    "max": lambda m, x, y: x.max(axis=1),
    "min of integers": lambda m, x, y: y.min(axis=1),
    "ptp": lambda m, x, y: x.ptp(axis=1),
    "all": lambda m, x, y: (x > -1).all(axis=1),
    "any": lambda m, x, y: (x > 1).any(axis=1),
    "cumsum": lambda m, x, y: x.cumsum(axis=1),
    "cumprod": lambda m, x, y: x.cumprod(axis=0),
    "cumsum of all": lambda m, x, y: y.cumsum(),
    "anom": lambda m, x, y: x.anom(axis=1) if m is np.ma else x - x.mean(1, keepdims=True),
    "part": lambda m, x, y: x[1:, ::2],
    "column": lambda m, x, y: x[:, 3],
    "reshape": lambda m, x, y: x.reshape(5, 7),
    "T": lambda m, x, y: x.T,
    "ravel": lambda m, x, y: x.ravel(),
    "astype": lambda m, x, y: y.astype("f4"),
    "masked_where": lambda m, x, y: m.masked_where(A > 0.3, x),
    "masked_equal": lambda m, x, y: m.masked_equal(y, 1),
    "masked_not_equal": lambda m, x, y: m.masked_not_equal(y, 1),
    "masked_greater": lambda m, x, y: m.masked_greater(x, 0.5),
    "masked_greater_equal": lambda m, x, y: m.masked_greater_equal(x, 0.5),
    "masked_less": lambda m, x, y: m.masked_less(x, 0.5),
    "masked_less_equal": lambda m, x, y: m.masked_less_equal(x, 0.5),
    "masked_inside": lambda m, x, y: m.masked_inside(x, 0.5, -0.5),
    "masked_outside": lambda m, x, y: m.masked_outside(x, -0.5, 0.5),
    "masked_invalid": lambda m, x, y: m.masked_invalid(N),
    "masked_values": lambda m, x, y: m.masked_values(A, 0.5),
    "fix_invalid": lambda m, x, y: m.fix_invalid(N, fill_value=-7),
    "average": lambda m, x, y: m.average(x, axis=1, weights=abs(A[0])),
    "average of all": lambda m, x, y: m.average(x, weights=abs(A)),
    "where": lambda m, x, y: m.where(x > 0, x, y),
    "concatenate": lambda m, x, y: m.concatenate([x, y], axis=1),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("chunks", [1, 3, -1])
@pytest.mark.parametrize("name", CASES)
def test_against_numpy(name, chunks):
    call = CASES[name]
    a, b = np.ma.array(A, mask=M), np.ma.array(I, mask=np.roll(M, 2))
    x, y = (ma.masked_array(v, chunks=chunks) for v in (a, b))
    wanted = call(np.ma, a, b)
    with cubed.raise_if_computes():
        got = call(ma, x, y)
    assert isinstance(got, ma.MaskedArray)
    wanted = np.ma.array(wanted)
    values = got.compute()
    assert got.shape == values.shape == wanted.shape
    mask = np.ma.getmaskarray(wanted)
    np.testing.assert_array_equal(np.ma.getmaskarray(values), mask)
    np.testing.assert_allclose(values.data[~mask], wanted.data[~mask], rtol=1e-12)
    if not mask.all():
        assert values.dtype == wanted.dtype


def test_values_and_filling():
    x = ma.masked_array(cubed.from_array(A, chunks=2), M, fill_value=9)
    np.testing.assert_array_equal(x.filled(), np.where(M, 9, A))
    np.testing.assert_array_equal(ma.filled(x, -1), np.where(M, -1, A))
    np.testing.assert_array_equal(x.count(1), np.ma.array(A, mask=M).count(1))
    np.testing.assert_array_equal(ma.count(x), (~M).sum())
    np.testing.assert_array_equal(x.compressed(), A[~M])
    for g, w in zip(ma.nonzero(x), np.ma.nonzero(np.ma.array(A, mask=M)), strict=True):
        np.testing.assert_array_equal(g, w)
    ma.set_fill_value(x, 3)
    assert x.fill_value == 3 and x.compute().fill_value == 3
    default = ma.masked_array(A, M[0])
    assert default.fill_value == np.ma.array(A).fill_value
    np.testing.assert_array_equal(default.mask, np.broadcast_to(M[0], A.shape))
    assert ma.masked_equal(I, 2).fill_value == 2
    np.testing.assert_array_equal(ma.getdata(A), A)
    assert not ma.getmaskarray(A).compute().any()
    twice = ma.masked_where(A > 0, x)
    np.testing.assert_array_equal(twice.mask, M | (A > 0))
    assert x.rechunk(3).chunks == ((3, 3, 1), (3, 2)) and len(x) == 7
    empty = ma.masked_array(np.zeros((0, 3)), chunks=1)
    assert empty.sum(1).compute().shape == (0,)
    scalar = ma.masked_array(np.array(3.0), True)
    assert scalar.sum().compute().mask


def test_what_is_wrong():
    x = ma.masked_array(A, M)
    with pytest.raises(TypeError, match="without its mask"):
        np.asarray(x)
    with pytest.raises(TypeError, match="takes no parameters"):
        np.add.reduce(x)
    with pytest.raises(ValueError, match="broadcast"):
        ma.masked_array(A, M[:3])
    with pytest.raises(ValueError, match="average: weights of shape"):
        ma.average(x, weights=[1, 2])
    with pytest.raises(TypeError, match="unhashable"):
        hash(x)
    with pytest.raises(TypeError):
        operator.matmul(x, x)


def test_beside_other_arrays():
    x, m = cubed.from_array(A, chunks=2), ma.masked_array(A, M, chunks=3)
    for call in (
        lambda a, b: a + b,
        lambda a, b: np.add(a, b),
        lambda a, b: b - a,
        lambda a, b: a < b,
        lambda a, b: np.ma.getdata(A) * b,
    ):
        got, wanted = call(x, m), call(A, np.ma.array(A, mask=M))
        assert isinstance(got, ma.MaskedArray)
        np.testing.assert_array_equal(got.mask, np.ma.getmaskarray(wanted))
        np.testing.assert_array_equal(got.filled(0), wanted.filled(0))
    both = m + np.ma.array(I, mask=np.roll(M, 1))
    np.testing.assert_array_equal(both.mask, M | np.roll(M, 1))
    with pytest.raises(TypeError, match="without its mask"):
        np.ma.array(I, mask=M) + m
    with pytest.raises(TypeError, match=r"cubed\.ma\.masked_array\(x\) keeps it"):
        x + np.ma.array(I, mask=M)
