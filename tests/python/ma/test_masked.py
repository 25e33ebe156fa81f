"""Compares cubed.ma with numpy.ma."""

import operator
import pathlib
import re

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
    "dot": lambda m, x, y: m.dot(x, y.T),
    "dot with a vector": lambda m, x, y: x.dot(np.arange(5.0)),
    "inner": lambda m, x, y: m.inner(x, y),
    "outer": lambda m, x, y: m.outer(x[0], y[:, 1]),
    "append": lambda m, x, y: m.append(x, y[:2], axis=0),
    "append all": lambda m, x, y: m.append(y, [1, 2]),
    "ediff1d": lambda m, x, y: m.ediff1d(y),
    "sort": lambda m, x, y: m.sort(x, 1),
    "sort of integers": lambda m, x, y: m.sort(y, 0, endwith=False),
    "round": lambda m, x, y: x.round(0),
    "take": lambda m, x, y: x.take([0, 2], axis=1),
    "swapaxes": lambda m, x, y: x.swapaxes(0, 1),
    "clip": lambda m, x, y: y.clip(-1, 2),
    "repeat": lambda m, x, y: x.repeat(2, axis=0),
    "diagonal": lambda m, x, y: x.diagonal(),
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
    "average kept": lambda m, x, y: m.average(x, 1, abs(A[0]), keepdims=True),
    "sums of weights": lambda m, x, y: m.average(x, 1, abs(A[0]), True)[1],
    "numbers of elements": lambda m, x, y: m.average(y, 0, returned=True)[1],
    "var of a type": lambda m, x, y: y.var(0, "f8"),
    "std of a type": lambda m, x, y: m.std(x, 1, "f8"),
    "cumsum of a type": lambda m, x, y: y.cumsum(0, "f4"),
    "cumprod of a type": lambda m, x, y: m.cumprod(y, 1, dtype="f8"),
    "mean of NaN": lambda m, x, y: m.masked_array(N, M).mean(0),
    "anom of NaN": lambda m, x, y: m.masked_array(N, M) - m.masked_array(N, M).mean(0),
    "average of NaN": lambda m, x, y: m.average(m.masked_array(N, M), 1, abs(A[0])),
    "round to digits": lambda m, x, y: m.round(x / 3, 2),
    "take of all": lambda m, x, y: m.take(x, [0, 9, 3]),
    "take along": lambda m, x, y: m.take(x, [0, 4], 1),
    "NumPy's sum": lambda m, x, y: np.sum(x, axis=0),
    "NumPy's mean": lambda m, x, y: np.mean(x, 1, keepdims=True),
    "NumPy's concatenate": lambda m, x, y: m.concatenate([x, y], 1),
    "NumPy's max": lambda m, x, y: np.max(y, axis=1),
    "NumPy's median": lambda m, x, y: (m if m is np.ma else np).median(x, axis=1),
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


def test_functions_of_numpy_without_masks():
    x = ma.masked_array(A, M)
    with pytest.raises(TypeError, match="cubed.ma has no cov"):
        np.cov(x)


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


DATES = np.array(
    [["2020-01-01", "2021-01-01"], ["1999-01-01", "NaT"], ["2005-05-05", "NaT"]], "M8[D]"
)
TIMES = DATES - np.datetime64("2010-01-01")


@pytest.mark.parametrize("values", [DATES, TIMES], ids=["dates", "times"])
def test_extremes_of_dates(values):
    mask = np.array([[False, True], [False, True], [True, True]])
    first, last = values[1, 0], values[0, 0]
    for chunks in (1, 2, 3):
        x = ma.masked_array(cubed.from_array(values, chunks=chunks), mask)
        assert x.max().compute() == last and x.min().compute() == first
        assert x.ptp().compute() == last - first
        assert x.argmax().compute() == 0 and x.argmin().compute() == 2
        by_column = x.max(axis=0).compute()
        assert by_column[0] == last and by_column.mask.tolist() == [False, True]
    # A NaT that is not masked is the extreme, as a NaN is.
    seen = ma.masked_array(values, [[False, True], [False, False], [True, False]])
    for name in ("max", "min", "ptp"):
        assert np.isnat(getattr(seen, name)().compute().data)
    assert ma.masked_array(values, True).max().compute().mask
    assert ma.argmax(ma.masked_array(values[:2, 0], [True, False])).compute() == 1


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint64", "float32", "complex64", "M8[s]", "m8[ns]"]
)
def test_extremes_that_are_the_ends_of_the_type(dtype):
    if dtype == "bool":
        ends = np.array([False, True])
    elif np.dtype(dtype).kind in "iu":
        ends = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    elif np.dtype(dtype).kind in "mM":
        ends = np.array([np.iinfo("int64").min + 1, np.iinfo("int64").max]).astype(dtype)
    else:
        part = np.array([-np.inf, np.inf])
        ends = np.empty(2, dtype)
        ends.real = part
        if dtype == "complex64":
            ends.imag = part
    for k, end in enumerate(ends):
        x = ma.masked_array(ends, [k == 1, k == 0])
        for found in (x.max(), x.min()):
            value = found.compute()
            assert value.dtype == ends.dtype and value == end
        if dtype != "complex64":  # which has no argmax
            assert x.argmax().compute() in (0, k) and x.argmin().compute() in (0, k)


def test_extremes_that_are_not_defined():
    with pytest.raises(TypeError, match="masked array are not defined for <U1"):
        ma.masked_array(["a", "b"], [False, True]).max()


FILLS = [
    ("int8", 999), ("int8", -129), ("uint8", -1), ("uint8", float("nan")), ("int64", 2**70),
    ("float64", 1j), ("int16", "a"), ("float32", "1"), ("M8[D]", "2020-01-01"), ("bool", "x"),
]  # fmt: skip


@pytest.mark.parametrize("dtype, value", FILLS)
def test_fill_values_that_the_type_does_not_have(dtype, value):
    data = np.zeros(2, dtype)
    x, numpy = ma.masked_array(data, [True, False]), np.ma.masked_array(data, [True, False])
    with pytest.raises(TypeError) as wanted:
        numpy.filled(value)
    for call in (
        lambda: x.filled(value),
        lambda: ma.filled(x, value),
        lambda: setattr(x, "fill_value", value),
        lambda: ma.set_fill_value(x, value),
        lambda: ma.masked_array(data, fill_value=value),
        lambda: ma.array(data, fill_value=value),
        lambda: ma.fix_invalid(data, fill_value=value),
        lambda: ma.MaskedArray(x.data, x.mask, value),
    ):
        with pytest.raises(TypeError) as found:
            call()
        assert str(found.value) == str(wanted.value)
    assert x.fill_value == numpy.fill_value or dtype == "M8[D]"


@pytest.mark.parametrize(
    "dtype, value",
    [("int8", 1.5), ("int8", np.int64(99)), ("bool", 3), ("<U1", "xyz"), ("M8[D]", 0), ("f4", 7)],
)
def test_fill_values_are_cast_as_numpy_casts_them(dtype, value):
    data = np.zeros(2, dtype)
    x, numpy = ma.masked_array(data, [True, False]), np.ma.masked_array(data, [True, False])
    np.testing.assert_array_equal(x.filled(value).compute(), numpy.filled(value))
    x.fill_value = value
    numpy.fill_value = value
    assert x.fill_value == numpy.fill_value and type(x.fill_value) is type(numpy.fill_value)
    np.testing.assert_array_equal(x.filled().compute(), numpy.filled())


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


def same(got, wanted):
    """A lazy result against NumPy's: its shape, mask, and what is not masked."""
    wanted = np.ma.array(wanted)
    values = np.ma.array(got.compute())
    mask = np.ma.getmaskarray(wanted)
    assert values.shape == wanted.shape
    np.testing.assert_array_equal(np.ma.getmaskarray(values), mask)
    np.testing.assert_allclose(values.data[~mask], wanted.data[~mask], rtol=1e-12)


UNARY = [n for n in ma._UFUNCS if getattr(np, n).nin == 1]
BINARY = [n for n in ma._UFUNCS if getattr(np, n).nin == 2]
EDGES = {
    "reals": (np.array([[-2, -1, -0.5], [0, 0.5, 1], [2, np.nan, np.inf]]), np.eye(3, dtype=bool)),
    "integers": (np.arange(-2, 3), np.arange(5) == 3),
    "all masked": (np.array([0.5, 0.25]), np.array([True, True])),
    "no mask": (np.array([0.5, 2.0, 0.0]), np.ma.nomask),
    "0-d": (np.array(-1.0), np.array(False)),
    "0-d masked": (np.array(0.5), np.array(True)),
    "empty": (np.zeros((0, 3)), np.zeros((0, 3), bool)),
}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, edge):
    data, mask = EDGES[edge]
    x = ma.masked_array(data, mask, chunks=2)
    same(getattr(ma, name)(x), getattr(np.ma, name)(np.ma.array(data, mask=mask)))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, edge):
    data, mask = EDGES[edge]
    if name.endswith("shift") and edge == "0-d masked":  # of which NumPy's shifts raise errors
        assert getattr(ma, name)(ma.masked_array(1, True), 1).mask.compute()
        return
    if name.startswith("bitwise") or name.endswith("shift"):
        data = np.where(np.isfinite(data), data, 1).astype("i8")
    a, b = np.ma.array(data, mask=mask), np.ma.array(data[..., ::-1] if data.ndim else data)
    if name.endswith("shift") or (name == "power" and edge == "integers"):
        a, b = abs(a), abs(b)
    x, y = ma.masked_array(a, chunks=2), cubed.from_array(b.data, chunks=1)
    same(getattr(ma, name)(x, y), getattr(np.ma, name)(a, b))
    same(getattr(ma, name)(y, x), getattr(np.ma, name)(b, a))


def test_elementwise_of_plain_arrays():
    same(ma.log([1.0, -1.0]), np.ma.log([1.0, -1.0]))
    same(ma.divide([1.0, 2.0], [0.0, 4.0]), np.ma.divide([1.0, 2.0], [0.0, 4.0]))


def test_ufuncs_of_numpy_have_domains():
    data = np.array([-1.0, 0.0, 4.0])
    x = ma.masked_array(data, chunks=2)
    for call in (np.sqrt, np.log, np.arccosh):
        with np.errstate(all="ignore"):
            same(call(x), call(np.ma.array(data)))


@pytest.mark.parametrize("name", sorted(ma._METHODS))
def test_by_method(name):
    a = np.ma.array(A, mask=M)
    args = {"reshape": ((5, 7),)}.get(name, ())
    same(getattr(ma, name)(ma.masked_array(a, chunks=3), *args), getattr(np.ma, name)(a, *args))


ARRANGED = {
    "alike": lambda m, x: m.repeat(x, 2, axis=0),
    "compress": lambda m, x: m.compress(A[0] > 0, x, axis=1),
    "diag": lambda m, x: m.diag(x),
    "diag of a row": lambda m, x: m.diag(x[0]),
    "diagflat": lambda m, x: m.diagflat(x[0]),
    "diagonal": lambda m, x: m.diagonal(x),
    "expand_dims": lambda m, x: m.expand_dims(x, axis=1),
    "hsplit": lambda m, x: m.hsplit(x[:, :4], 2)[1],
    "resize": lambda m, x: m.resize(x, (4, 10)),
    "swapaxes": lambda m, x: m.swapaxes(x, 0, 1),
    "take": lambda m, x: m.take(x, np.array([1, 0, 3]), axis=1),
    "atleast_1d": lambda m, x: m.atleast_1d(x[0, 0]),
    "atleast_2d": lambda m, x: m.atleast_2d(x[0]),
    "atleast_3d": lambda m, x: m.atleast_3d(x),
    "column_stack": lambda m, x: m.column_stack([x, A]),
    "dstack": lambda m, x: m.dstack([x, A]),
    "hstack": lambda m, x: m.hstack([x, A]),
    "stack": lambda m, x: m.stack([x, x], axis=1),
    "vstack": lambda m, x: m.vstack([x, A]),
    "row_stack": lambda m, x: m.vstack([x, x]) if m is np.ma else m.row_stack([x, x]),
    "angle": lambda m, x: m.angle(x),
    "clip": lambda m, x: m.clip(x, -0.5, 0.5),
    "round": lambda m, x: m.round(x, 1),
    "round_": lambda m, x: m.round_(x, decimals=-1),
    "around": lambda m, x: m.around(x),
    "zeros_like": lambda m, x: m.zeros_like(x),
    "ones_like": lambda m, x: m.ones_like(x),
    "arange": lambda m, x: m.arange(5),
    "ones": lambda m, x: m.ones((2, 3)),
    "indices": lambda m, x: m.indices((2, 3)),
    "fromfunction": lambda m, x: m.fromfunction(lambda i, j: i + j, (2, 3)),
    "masked_all": lambda m, x: m.masked_all((2, 3)),
    "masked_all_like": lambda m, x: m.masked_all_like(x),
    "diff": lambda m, x: m.diff(x, axis=0),
    "diff twice": lambda m, x: m.diff(x, 2),
    "median": lambda m, x: m.median(x, axis=1),
    "median of all": lambda m, x: m.median(x),
    "median of integers": lambda m, x: m.median(m.masked_array(I, mask=M), axis=0),
    "where alone": lambda m, x: m.where(x > 0)[1],
    "count_masked": lambda m, x: m.count_masked(x, axis=0),
    "allequal": lambda m, x: m.allequal(x, A),
    "allequal without": lambda m, x: m.allequal(x, A, fill_value=False),
    "allclose": lambda m, x: m.allclose(x, A + 1e-9),
    "allclose without": lambda m, x: m.allclose(x, A, masked_equal=False),
    "is_masked": lambda m, x: np.asarray(m.is_masked(x)) if m is np.ma else m.is_masked(x),
    "mask_or": lambda m, x: m.mask_or(M, ~M) if m is ma else M | ~M,
}


@pytest.mark.parametrize("chunks", [2, -1])
@pytest.mark.parametrize("name", ARRANGED)
def test_arranged(name, chunks):
    a = np.ma.array(A, mask=M)
    same(ARRANGED[name](ma, ma.masked_array(a, chunks=chunks)), ARRANGED[name](np.ma, a))


@pytest.mark.parametrize("name", ["array", "asarray", "asanyarray"])
def test_types_come_before_masks(name):
    for given in ([1, 2, 3], np.ma.array([1, 2, 3], mask=[0, 1, 0])):
        got, want = (getattr(m, name)(given, np.float32) for m in (ma, np.ma))
        assert got.dtype == want.dtype
        same(got, want)
    want = np.ma.array([1, 2], mask=[True, False])
    same(ma.array([1, 2], mask=[True, False]), want)


def test_masks_of_no_bools_are_refused():
    for wrong in ("float64", np.float32, ["a", "b"]):
        with pytest.raises(TypeError, match="mask is .*expected bools"):
            ma.masked_array([1, 2], wrong)


@pytest.mark.parametrize("value", [1.1, np.inf, -np.inf])
def test_masked_values_that_are_not_finite(value):
    data = np.array([1.0, 1.1, np.inf, -np.inf, np.nan])
    same(ma.masked_values(data, value), np.ma.masked_values(data, value))


def test_median_of_complex_numbers():
    values = np.array([[1 + 2j, 3j, 5], [1 - 1j, 1 + 1j, 2]])
    for mask in ([[0, 1, 0], [0, 0, 0]], [[1, 1, 1], [1, 0, 0]]):
        got = ma.median(ma.masked_array(values, mask), axis=1)
        same(got, np.ma.median(np.ma.masked_array(values, mask), axis=1))


def test_arrays_by_keyword():
    a = np.ma.array(A, mask=M)
    x = ma.masked_array(a, chunks=3)
    same(ma.diag(v=x), np.ma.diag(v=a))
    same(
        ma.compress(condition=[True, False], a=x, axis=0), np.ma.compress([True, False], a, axis=0)
    )
    with pytest.raises(TypeError, match="missing a required argument"):
        ma.diag()


def test_median_of_nan_that_is_not_masked():
    a = np.array([[1.0, np.nan, 3.0], [1.0, np.nan, 3.0]])
    m = [[False] * 3, [False, True, False]]
    assert np.isnan(ma.median(ma.masked_array(a, m), axis=1).compute()[0])
    assert ma.median(ma.masked_array(a, m), axis=1).compute()[1] == 2


def test_where_of_one_alternative():
    with pytest.raises(ValueError, match="expected both or neither"):
        ma.where([True], 1)


def test_all_names_are_there_or_listed():
    text = (pathlib.Path(__file__).parents[3] / "docs/coming-from/numpy.md").read_text()
    section = text.split("## Masked arrays")[1].split("\n## ")[0]
    listed = set(re.findall(r"`(\w+)`", section.split("are not available:")[1]))
    there = set(ma.__all__)
    assert set(np.ma.__all__) - there - listed == set()
    assert listed & there == set()


def test_all_names_of_dask_are_there():
    module = pytest.importorskip("dask.array.ma", reason="its names are compared: needs dask")
    own = {
        n
        for n, x in vars(module).items()
        if n in np.ma.__all__ and callable(x) and not n.startswith("_")
    }
    assert own >= {"masked_where", "empty_like", "average"}
    assert own - set(ma.__all__) == set()


def numpys(m, x):
    """A masked array of NumPy, or of this package in chunks."""
    return x.copy() if m is np.ma else ma.masked_array(x.copy(), chunks=3)


WRITES = {
    "a masked row": lambda m, x: x.__setitem__(0, np.ma.masked),
    "a value": lambda m, x: x.__setitem__((slice(1, 5), 2), 4),
    "values that are masked": lambda m, x: x.__setitem__((slice(None), 2), numpys(m, MASKED)[:, 0]),
    "where a mask is true": lambda m, x: x.__setitem__(A > 0, np.ma.masked),
    "where a condition holds": lambda m, x: x.__setitem__(x > 1, 9),
    "positions": lambda m, x: x.__setitem__(np.array([4, 0]), 7),
    "putmask": lambda m, x: m.putmask(x, A > 0, 3),
}
MASKED = np.ma.masked_array(I, M)


@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("name", WRITES)
def test_writing(name, hard):
    wanted = numpys(np.ma, MASKED)
    got = numpys(ma, MASKED)
    before = got + 0
    for m, x in ((np.ma, wanted), (ma, got)):
        x.harden_mask() if hard else x.soften_mask()
        assert x.hardmask is hard
        WRITES[name](m, x)
    same(got, wanted)
    same(before, MASKED + 0)


@pytest.mark.parametrize("values", [[1.5, 2.5, 3.5], 1.5, np.zeros((2, 3), int), [1, 2]])
def test_putmask_refuses_values_of_another_kind_or_shape(values):
    for m in (np.ma, ma):
        x = m.masked_array([1, 2, 3], [False, True, False])
        with pytest.raises((TypeError, ValueError)):
            m.putmask(x, [True, False, True], values)


def test_putmask_masks_elements():
    x = ma.masked_array([1, 2, 3], [False, True, False])
    ma.putmask(x, [True, False, False], np.ma.masked)
    same(x, np.ma.masked_array([1, 2, 3], [True, True, False]))


def test_trace():
    got = ma.trace(numpys(ma, MASKED)).compute()
    np.testing.assert_array_equal(got, np.ma.trace(MASKED))


def test_a_hard_mask_is_taken_over():
    x = np.ma.masked_array(I, M, hard_mask=True)
    assert ma.masked_array(x).hardmask
    assert ma.masked_array(x).copy().hardmask


def test_conditions_of_another_shape():
    with pytest.raises(IndexError, match=r"condition has shape \(7,\), expected \(7, 5\)"):
        ma.masked_where(A[:, 0] > 0, A)
    same(ma.masked_where(False, A), np.ma.masked_where(False, A))


def test_fill_value_of_plain_arrays():
    x = cubed.asarray(A)
    ma.set_fill_value(x, 3)
    np.testing.assert_array_equal(x.compute(), A)


def test_sort_refuses_a_fill_value():
    with pytest.raises(ValueError, match="fill_value is 3, expected None"):
        ma.sort(ma.masked_array(A, M), fill_value=3)
