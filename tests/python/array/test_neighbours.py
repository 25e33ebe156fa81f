"""Operations on a lazy array and an array of another library: they return what the classes of both
define, or raise TypeError.
"""

import copy
import datetime
import decimal
import fractions
import inspect
import operator
import sys
import warnings

import cubed
import cubed.array_api as xp
import dask
import dask.array
import numpy as np
import pandas as pd
import pint
import pytest
import scipy.sparse
import sparse
import xarray as xr

import zarr

F = np.arange(1.0, 7.0).reshape(2, 3)
I = F.astype(np.int64)  # noqa: E741
Q = pint.UnitRegistry().Quantity

BINARY = "add sub mul truediv floordiv mod pow matmul and_ or_ xor lshift rshift".split()
COMPARING = "eq ne lt le gt ge".split()
IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift"
OPERATORS = [getattr(operator, n) for n in (*BINARY, *COMPARING, *IN_PLACE.split())] + [divmod]


def lazy(a=F):
    return cubed.from_array(a, chunks=2)


class Quiet:
    """A lazy array in chunks whose values nobody may ask for."""

    shape, ndim, chunks = (2, 3), 2, ((2,), (3,))
    dtype = np.dtype(float)

    def __array__(self, *args, **kwargs):
        raise AssertionError("the values were computed")

    def __getitem__(self, key):
        raise AssertionError("the values were read")

    def __len__(self):
        return 2

    __iter__ = __array__


class Duck(Quiet):
    def __array_ufunc__(self, *args, **kwargs):
        return NotImplemented

    def __array_function__(self, *args, **kwargs):
        return NotImplemented


class OptedOut(Quiet):
    __array_ufunc__ = None


class Standard(Quiet):
    """As Array API classes are, and lazy arrays of Cubed's other implementation."""

    def __array_namespace__(self, api_version=None):
        return np

    def __eq__(self, other):
        return NotImplemented

    __ne__ = __add__ = __radd__ = __eq__
    __hash__ = None


class Subclass(np.ndarray):
    """With a unit, say, which NumPy's array of it has not."""

    def __array_ufunc__(self, *args, **kwargs):
        return NotImplemented

    def __array_function__(self, *args, **kwargs):
        return NotImplemented


NEIGHBOURS = {
    "dask": lambda: dask.array.from_array(F, chunks=2),
    "duck": Duck,
    "opted out": OptedOut,
    "standard": Standard,
    "subclass": lambda: F.copy().view(Subclass),
}


def named(value):
    return rf"cubed\.Array does not combine with {type(value).__module__}\.{type(value).__name__}: "


@pytest.mark.parametrize("kind", NEIGHBOURS)
@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operators_name_both_types_and_the_way_out(op, kind):
    other = NEIGHBOURS[kind]()
    for left, right in ((lazy(), other), (other, lazy()), (lazy(I), other)):
        with pytest.raises(TypeError, match=named(other) + r"cubed\.from_array\(x\) makes"):
            op(left, right)


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.__name__)
def test_operators_beside_sparse_arrays(op):
    other = sparse.COO.from_numpy(F)
    if "matmul" in op.__name__:
        pytest.skip("sparse itself tries to multiply, and fails")
    is_theirs = op.__name__.startswith("i")
    for left, right in ((lazy(), other), (other, lazy()))[: 1 if is_theirs else 2]:
        with pytest.raises(TypeError, match=named(other)[:-2] + r".*todense\(\) has the values"):
            op(left, right)


@pytest.mark.parametrize("kind", ["dask", "duck", "subclass"])
def test_ufuncs(kind):
    other = NEIGHBOURS[kind]()
    for ufunc in (np.add, np.equal, np.arctan2, np.logaddexp, np.fmod):
        for args in ((lazy(), other), (other, lazy())):
            with pytest.raises(TypeError, match=named(other)):
                ufunc(*args)
    for call in (
        lambda: np.add.outer(lazy(), other),
        lambda: np.sin(lazy(), out=other),
        lambda: np.matmul(lazy(), other),
    ):
        with pytest.raises(TypeError, match="cubed"):
            call()


#: NumPy's functions of several arrays.
NUMPYS = [
    lambda a, b: np.where(a, b, 0),
    lambda a, b: np.where(True, a, b),
    lambda a, b: np.concatenate([a, b]),
    lambda a, b: np.stack((a, b)),
    lambda a, b: np.block([[a], [b]]),
    lambda a, b: np.dot(a, b),
    lambda a, b: np.einsum("ij,ij", a, b),
    lambda a, b: np.isclose(a, b),
    lambda a, b: np.array_equal(a, b),
    lambda a, b: np.clip(a, b, None),
    lambda a, b: np.average(a, weights=b),
    lambda a, b: np.copyto(a, b),
    lambda a, b: np.sum(a, out=b),
    lambda a, b: np.kron(a, b),
    lambda a, b: np.linalg.lstsq(a, b),
    lambda a, b: np.isin(a, b),
]


@pytest.mark.parametrize("kind", ["dask", "duck", "subclass", "sparse"])
@pytest.mark.parametrize("k", range(len(NUMPYS)))
def test_functions_of_numpy(k, kind):
    other = sparse.COO.from_numpy(F) if kind == "sparse" else NEIGHBOURS[kind]()
    with cubed.raise_if_computes():
        for args in ((lazy(), other), (other, lazy())):
            # Where sparse arrays come first, sparse has its own way to say no.
            with pytest.raises((TypeError, ValueError) if kind == "sparse" else TypeError) as e:
                NUMPYS[k](*args)
            if kind != "sparse":
                assert type(other).__name__ in str(e.value) and "cubed" in str(e.value)


def test_a_function_is_left_to_a_class_that_knows_us():
    class Wrapper(Duck):
        def __array_function__(self, func, types, args, kwargs):
            return func.__name__, sorted(t.__name__ for t in types)

    assert np.where(lazy(), Wrapper(), 0) == ("where", ["Array", "Wrapper"])
    assert np.concatenate([lazy(), Wrapper()]) == ("concatenate", ["Array", "Wrapper"])
    assert np.sum(lazy(), out=Wrapper()) == ("sum", ["Array", "Wrapper"])
    # Of those that have no answer the next one is asked.
    assert np.stack([lazy(), Duck(), Wrapper()])[0] == "stack"


#: Parameters that are no operands: they are switches, types, axes or shapes, or what to convert.
NO_OPERANDS = {
    "allclose": (4,), "angle": (1,), "array_split": (1,), "asarray": (0,), "astype": (1,),
    "asanyarray": (0, 1), "tsqr": (1,),
    "broadcast_shapes": (0, 1, 2), "broadcast_to": (1,), "can_cast": (0, 1), "corrcoef": (2,),
    "cov": (2,), "cross": (2, 3, 4, 5), "einsum": (0, 1), "finfo": (0,), "from_array": (0,),
    "isclose": (4,), "isdtype": (0, 1), "moveaxis": (1, 2), "nan_to_num": (1,), "pad": (1,),
    "permute_dims": (1,), "result_type": (0, 1, 2), "rot90": (2,), "split": (1,), "store": (1,),
    "tile": (1,), "transpose": (1,), "trapezoid": (2, 3), "unique": (1, 2, 3), "to_zarr": (1,),
    "reshape": (1,), "apply_along_axis": (1,), "as_gufunc": (0,),
    "rechunk": (1,), "blockwise": (1, 3), "apply_over_axes": (2,), "fft2": (1, 2), "ifft2": (1, 2),
    "rfft2": (1, 2), "irfft2": (1, 2), "tensorsolve": (2,), "hsplit": (1,), "vsplit": (1,),
    "dsplit": (1,), "in1d": (2, 3), "intersect1d": (2, 3), "setdiff1d": (2,), "setxor1d": (2,),
    "resize": (1,), "isin": (2,), "fftn": (1, 2), "ifftn": (1, 2), "rfftn": (1, 2),
    "irfftn": (1, 2), "empty_like": (1,), "ones_like": (1,), "zeros_like": (1,),
    "fill_diagonal": (2,), "to_delayed": (1,), "remap": (1,),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["duck", "opted out", "standard"])
def test_no_function_takes_a_neighbour_in_silence(kind):
    """All there are, with a neighbour in place of each positional argument."""
    functions = {n: getattr(cubed, n) for n in cubed.__all__}
    for part in (xp.linalg, xp.fft):
        functions |= {f"{part.__name__}.{n}": getattr(part, n) for n in part.__all__}
    taken = []
    tried = refused = 0
    for name, function in functions.items():
        if not inspect.isfunction(function):
            continue
        parameters = inspect.signature(function).parameters.values()
        front = [p for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
        several = any(p.kind == p.VAR_POSITIONAL for p in parameters)
        for k in range(max(len(front), 1) + 2 * several):
            if k in NO_OPERANDS.get(name.rpartition(".")[2], ()):
                continue
            needed = sum(p.default is p.empty for p in front)
            for value in (NEIGHBOURS[kind](), [lazy(), NEIGHBOURS[kind]()]):
                args = [*[lazy()] * k, value, *[lazy()] * (needed - k - 1)]
                tried += 1
                try:
                    result = function(*args)
                except AssertionError as e:
                    taken.append((name, k, str(e)))
                except Exception as e:
                    refused += "does not combine with" in str(e)
                else:
                    taken.append((name, k, result))
    assert not taken, sorted({(n, k) for n, k, _ in taken})
    assert tried > 500 and refused > 250


@pytest.mark.parametrize("kind", ["duck", "opted out", "standard", "dask"])
def test_keys_and_values_of_assignments(kind):
    x, other = lazy(), NEIGHBOURS[kind]()
    for key in (other, (0, other), ([0, 1], other)):
        with pytest.raises(TypeError, match=named(other)):
            x[key]
        with pytest.raises(TypeError, match=named(other)):
            x[key] = 0
    for key in (..., 0, [0, 1], x > 2, (slice(None), [0, 1])):
        with pytest.raises(TypeError, match=named(other)):
            x[key] = other
    for view in (x.oindex, x.vindex):
        with pytest.raises(TypeError, match=named(other)):
            view[other]
    np.testing.assert_array_equal(x, F)


def test_functions_on_blocks_get_no_lazy_array_of_others():
    other = NEIGHBOURS["duck"]()
    for call in (
        lambda: cubed.map_blocks(np.add, lazy(), other),
        lambda: cubed.map_blocks(np.add, lazy(), x2=other),
        lambda: cubed.map_overlap(np.add, lazy(), other, depth=1),
        lambda: cubed.apply_gufunc(np.add, "(),()->()", lazy(), other),
        lambda: cubed.blockwise(np.add, "ij", lazy(), "ij", other, "ij", dtype=float),
        lambda: cubed.blockwise(np.add, "ij", lazy(), "ij", other, None, dtype=float),
        lambda: cubed.apply_along_axis(np.add, 0, lazy(), other),
    ):
        with pytest.raises(TypeError, match="Duck"):
            call()


# --- Libraries ------------------------------------------------------------------------------------


def outcome(call, *args):
    """What a call gives, or the kind of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call(*args)
        except Exception as e:
            return type(e)


PINTS = [
    *(lambda a, b, op=op: op(a, b) for op in OPERATORS if op.__name__[0] != "i"),
    lambda a, b: np.add(a, b),
    lambda a, b: np.multiply(a, b),
    lambda a, b: np.where(np.array([True, False, True]), a, b),
    lambda a, b: np.concatenate([a, b]),
    lambda a, b: np.dot(a, b.T),
]


@pytest.mark.parametrize("unit", ["m", ""])
@pytest.mark.parametrize("held", ["ours", "NumPy's"])
@pytest.mark.parametrize("k", range(len(PINTS)))
def test_pint_has_precedence(k, held, unit):
    """A quantity with a lazy array, or beside one, is what it is with Dask's."""
    dasks = dask.array.from_array(F)
    pairs = [
        [(x, Q(x if held == "ours" else F, unit))[:: -1 if swap else 1] for x in (lazy(), dasks)]
        for swap in (False, True)
    ]
    for given, known in pairs:
        mine, theirs = outcome(PINTS[k], *given), outcome(PINTS[k], *known)
        if theirs is RecursionError:  # divmod of Dask's array and a quantity has no end
            continue
        if isinstance(theirs, type):
            assert mine is theirs
            continue
        for got, wanted in zip(
            *((v if isinstance(v, tuple) else (v,)) for v in (mine, theirs)), strict=True
        ):
            if isinstance(wanted, pint.Quantity):
                assert isinstance(got, pint.Quantity) and got.units == wanted.units
                got, wanted = got.magnitude, wanted.magnitude
            assert isinstance(got, cubed.Array)
            np.testing.assert_allclose(got.compute(), wanted.compute())


def test_units_are_not_lost_in_silence():
    inner, numpys = Q(lazy(), "m"), Q(F, "m")
    for call in (
        lambda: cubed.add(lazy(), inner),
        lambda: cubed.where(lazy() > 2, lazy(), inner),
        lambda: cubed.concat([lazy(), inner]),
        lambda: cubed.mean(inner),
        lambda: cubed.asarray(inner),
        lambda: cubed.from_array(inner),
    ):
        with pytest.raises(TypeError, match=r"its \.magnitude is a cubed\.Array"):
            call()
    with pytest.raises(TypeError, match="its .magnitude has the values without the unit"):
        cubed.add(lazy(), numpys)
    unit = numpys.units
    assert (lazy() * unit).units == unit and isinstance((unit * lazy()).magnitude, cubed.Array)


def test_dask_arrays_are_converted_in_parts():
    other = dask.array.from_array(F, chunks=(1, 3)).map_blocks(lambda b: b + 1)
    with dask.config.set(scheduler=None), cubed.raise_if_computes():
        made = [cubed.asarray(other), cubed.from_array(other), cubed.asarray(other, dtype="f4")]
        total = made[0] + lazy()
    assert all(x.chunks == other.chunks for x in made) and made[2].dtype == np.float32
    np.testing.assert_array_equal(made[0], F + 1)
    np.testing.assert_array_equal(total, F + F + 1)
    assert cubed.asarray(other, chunks=(2, 2)).chunksize == (2, 2)
    with pytest.raises(ValueError, match="need a copy"):
        cubed.asarray(other, copy=False)
    with pytest.raises(TypeError, match=named(other)):
        cubed.asarray([other, other])
    with pytest.raises(TypeError, match="todense"):
        cubed.from_array(sparse.COO.from_numpy(F))


def test_data_arrays_with_ours_and_with_dasks_do_not_mix():
    c, d = (xr.DataArray(x, dims=("y", "x")) for x in (lazy(), NEIGHBOURS["dask"]()))
    for call in (
        lambda: c == d,
        lambda: d == c,
        lambda: d.where(d == c),
        lambda: c.where(d > 2),
        lambda: d.where(d > 2, c),
        lambda: c + d,
        lambda: d - c,
        lambda: xr.concat([c, d], "y"),
        lambda: xr.dot(c, d),
        lambda: np.add(d, c),
    ):
        with pytest.raises(TypeError, match="cubed.*dask|dask.*cubed"):
            call()


def test_equality_of_data_arrays_with_ours_and_with_dasks():
    c = xr.DataArray(lazy(), dims=("y", "x"), name="a", attrs={"k": 1})
    with_nan = np.where(F > 2, F, np.nan)
    for values, same in ((F, True), (F + 1, False), (F[:, :2], False), (with_nan, False)):
        d = c.copy(
            data=None if values.shape != F.shape else dask.array.from_array(values, chunks=2)
        )
        if values.shape != F.shape:
            d = xr.DataArray(dask.array.from_array(values), dims=("y", "x"))
        for first, second in ((c, d), (d, c), (c.to_dataset(name="a"), d.to_dataset(name="a"))):
            assert first.equals(second) is same and first.identical(second) is same
            assert first.broadcast_equals(second) is same
    n, m = (c.copy(data=x) for x in (lazy(with_nan), dask.array.from_array(with_nan)))
    assert n.equals(m) and m.equals(n)
    assert xr.merge([c, c.copy(data=dask.array.from_array(F))], compat="equals")["a"].equals(c)
    with pytest.raises(xr.MergeError):
        xr.merge([c, m], compat="equals")
    s = c.copy(data=sparse.COO.from_numpy(F))
    for first, second in ((c, s), (s, c)):
        with pytest.raises(ValueError, match="does not combine with sparse"):
            first.equals(second)
    metres, feet = (c.copy(data=Q(lazy(), unit)) for unit in ("m", "foot"))
    assert metres.equals(metres.copy(data=Q(lazy(), "m"))) and not metres.equals(feet)
    assert not metres.equals(c) and not c.equals(metres)


def test_xarrays_objects_have_precedence():
    of_dims = xr.Variable(("y", "x"), lazy())
    for mine in (of_dims, xr.DataArray(of_dims)):
        with cubed.raise_if_computes():
            for op in (operator.add, operator.eq, operator.mul, np.subtract, np.maximum):
                for got in (op(lazy(), mine), op(mine, lazy())):
                    assert type(got) is type(mine) and isinstance(got.data, cubed.Array)
            for call in (
                lambda x=mine: cubed.where(lazy() > 2, x, 0),
                lambda x=mine: cubed.concat([lazy(), x]),
                lambda x=mine: cubed.mean(x),
                lambda x=mine: cubed.isin(lazy(), x),
            ):
                with pytest.raises(TypeError, match=r"its \.data is a cubed\.Array"):
                    call()


@pytest.mark.parametrize("wrap", [xr.DataArray, lambda v: v], ids=["array", "variable"])
def test_the_array_of_an_object_of_xarray(wrap):
    """Its lazy array without labels, as Dask's asarray gives: libraries call it on any argument."""
    mine = wrap(xr.Variable(("y", "x"), lazy()))
    with cubed.raise_if_computes():
        assert cubed.asarray(mine) is mine.data
        x = cubed.asarray(mine, dtype="f4", chunks=3)
    assert x.dtype == np.float32 and x.chunks == ((2,), (3,))
    np.testing.assert_array_equal(x.compute(), F.astype("f4"))
    with pytest.raises(ValueError, match="float64 to float32 needs a copy"):
        cubed.asarray(mine, dtype="f4", copy=False)
    unit = Q(lazy(), "m")  # whose unit would be lost
    with pytest.raises(TypeError, match=r"its \.magnitude is a cubed\.Array"):
        cubed.asarray(unit)


def test_pandas_lies_in_memory_and_is_taken():
    series = pd.Series([1.0, 5.0, 3.0])
    assert isinstance(lazy()[0] + series, pd.Series)
    assert isinstance(np.add(lazy()[0], series), pd.Series)
    np.testing.assert_array_equal(cubed.where(lazy() > 2, series, 0), np.where(F > 2, series, 0))
    np.testing.assert_array_equal(cubed.isin(lazy(), pd.Index([1.0, 5.0])), np.isin(F, [1.0, 5.0]))
    np.testing.assert_array_equal(np.where(lazy() > 2, series, 0), np.where(F > 2, series, 0))


def test_objects_that_are_only_like_arrays_are_never_compared_by_identity():
    for other, help in (
        (zarr.array(F), "from_array"),
        (scipy.sparse.csr_array(F), "todense"),
        (memoryview(F), "asarray"),
        (decimal.Decimal(1), "give a float"),
        (fractions.Fraction(1, 3), "give a float"),
    ):
        for op in (operator.eq, operator.ne, operator.add, operator.matmul):
            for args in ((lazy(), other), (other, lazy())):
                if op is operator.matmul and help == "todense":
                    continue  # SciPy's operator makes NumPy's array of ours
                with pytest.raises(TypeError, match=f"does not combine with .*{help}"):
                    op(*args)
    np.testing.assert_array_equal(cubed.add(lazy(), zarr.array(F)), F + F)
    assert (lazy() == None) is False  # noqa: E711
    np.testing.assert_array_equal(lazy() == range(1, 4), np.equal(F, range(1, 4)))
    np.testing.assert_array_equal(range(3) - lazy(), range(3) - F)
    np.testing.assert_array_equal(lazy() * range(5, 2, -1), F * range(5, 2, -1))
    assert (range(10**12) + cubed.ones(())).shape == (10**12,)


TIMES = np.array(["2000-01-01", "NaT", "1999-12-31T12:00:00.000000001"], "M8[ns]")
MOMENTS = [
    datetime.datetime(2000, 1, 1),
    datetime.date(2000, 1, 1),
    pd.Timestamp("2000-01-01"),
    pd.Timestamp("1999-12-31T12:00:00.000000002"),
    datetime.timedelta(days=1, microseconds=3),
    pd.Timedelta("1h"),
]


@pytest.mark.parametrize("moment", MOMENTS)
def test_dates_of_python_and_pandas_are_numbers_beside_times(moment):
    is_time = isinstance(moment, datetime.date)
    ops = [operator.sub] + ([operator.eq, operator.ne, operator.lt] if is_time else [operator.add])
    numpys = moment.asm8 if hasattr(moment, "asm8") else np.array(moment, "M8" if is_time else "m8")
    for op in ops:
        got, wanted = op(lazy(TIMES), moment), op(TIMES, numpys)
        assert isinstance(got, cubed.Array) and got.dtype == wanted.dtype
        np.testing.assert_array_equal(got.compute(), wanted)
    if is_time:
        np.testing.assert_array_equal((moment - lazy(TIMES)).compute(), numpys - TIMES)
        np.testing.assert_array_equal(moment >= lazy(TIMES), numpys >= TIMES)
        np.testing.assert_array_equal(cubed.where(lazy(TIMES) < moment, 1, 2), [2, 2, 1])


def test_a_subclass_of_ours_is_no_neighbour():
    x = lazy()
    assert copy.copy(x) is not x
    np.testing.assert_array_equal(np.where(x > 2, x, np.float32(0)), np.where(F > 2, F, 0))
    with pytest.raises(TypeError, match="a masked array would lose its mask"):
        x + np.ma.array(F)


# --- Functions of dask.array that are called by name ----------------------------------------------

#: Each way in which Dask takes an argument, by a function that has it.
HANDED_TO_DASK = {
    "mean": lambda x: dask.array.mean(x),
    "where": lambda x: dask.array.where(dask.array.ones((2, 3)) > 0, x, 0),
    "concatenate": lambda x: dask.array.concatenate([dask.array.ones((2, 3)), x]),
    "map_blocks": lambda x: dask.array.map_blocks(np.sin, x, dtype=float),
    "map_overlap": lambda x: dask.array.map_overlap(np.sin, x, depth=1),
    "blockwise": lambda x: dask.array.blockwise(np.sin, "ij", x, "ij", dtype=float),
    "apply_gufunc": lambda x: dask.array.apply_gufunc(np.sum, "(i)->()", x, output_dtypes=float),
    "histogram": lambda x: dask.array.histogram(x, bins=2, range=(0, 6)),
    "cumsum": lambda x: dask.array.cumsum(x, axis=0),
    "coarsen": lambda x: dask.array.coarsen(np.mean, x, {0: 2}),
    "rechunk": lambda x: dask.array.rechunk(x, 3),
    "fft.rfft": lambda x: dask.array.fft.rfft(x.rechunk(3)),
    "fft.fft2": lambda x: dask.array.fft.fft2(x.rechunk(3)),
    "ma.filled": lambda x: dask.array.ma.filled(x),
    "sum": lambda x: dask.array.sum(x),
    "nanmean": lambda x: dask.array.nanmean(x),
    "argmax": lambda x: dask.array.argmax(x, axis=0),
    "average": lambda x: dask.array.average(x),
    "stack": lambda x: dask.array.stack([x, x]),
    "block": lambda x: dask.array.block([x, dask.array.ones((2, 3))]),
    "pad": lambda x: dask.array.pad(x, 1),
    "roll": lambda x: dask.array.roll(x, 1),
    "diff": lambda x: dask.array.diff(x),
    "reshape": lambda x: dask.array.reshape(x, (6,)),
    "transpose": lambda x: dask.array.transpose(x),
    "broadcast_to": lambda x: dask.array.broadcast_to(x, (4, 2, 3)),
    "tensordot": lambda x: dask.array.tensordot(dask.array.ones((3, 2)), x, axes=1),
    "matmul": lambda x: dask.array.matmul(x, dask.array.ones((3, 2))),
    "einsum": lambda x: dask.array.einsum("ij,ij", x, x),
    "isin": lambda x: dask.array.isin(x, [1]),
    "unique": lambda x: dask.array.unique(x),
    "searchsorted": lambda x: dask.array.searchsorted(dask.array.arange(3), x[0]),
    "linalg.svd": lambda x: dask.array.linalg.svd(x.rechunk(3)),
}


@pytest.mark.parametrize("name", HANDED_TO_DASK)
def test_dask_is_handed_a_lazy_array(name):
    """Blocks of its result would be lazy arrays, which it neither computes nor counts."""
    says = rf"dask\.array\.{name} was handed a Cubed array, .*: call cubed\.{name} instead, or"
    with cubed.raise_if_computes(), pytest.raises((TypeError, AttributeError), match=says):
        HANDED_TO_DASK[name](lazy())


def test_dask_writes_a_lazy_array(tmp_path):
    """It asks for attributes of its own arrays."""
    x = lazy()
    with pytest.raises(TypeError, match=r"no options lock .* call cubed\.to_zarr instead"):
        dask.array.to_zarr(x, tmp_path / "a")
    with pytest.raises(AttributeError, match=r"to_npy_stack was .* NumPy: hand it x\.compute\(\)"):
        dask.array.to_npy_stack(tmp_path / "b", x)
    # To all others they are what they were: not there.
    assert not hasattr(x, "_meta") and not dask.is_dask_collection(x)
    with pytest.raises(AttributeError, match="^'Array' object has no attribute 'shap'$") as e:
        x.shap  # noqa: B018 - its error is what is tested
    assert e.value.name == "shap" and e.value.obj is x


@pytest.mark.parametrize("name", ["from_array", "asarray", "asanyarray"])
def test_dask_converts_values_in_memory(name):
    """Not lazy arrays, in place of which it would keep lazy arrays as blocks."""
    convert = getattr(dask.array, name)
    with pytest.raises(
        TypeError, match=rf"dask\.array\.{name} was .* NumPy: hand it x\.compute\(\)"
    ):
        convert(lazy())
    with pytest.raises(TypeError, match=rf"dask\.array\.{name} was handed a Cubed array"):
        convert([lazy(), lazy()])
    np.testing.assert_array_equal(convert(lazy().compute()).compute(), F)


def test_dask_without_its_arrays():
    """Values pass through, as any object does, and arrays are told apart."""
    x = lazy()
    assert dask.delayed(lambda v: v.sum().compute())(x).compute() == 21
    (same,) = dask.compute(x)
    assert same is x and not dask.is_dask_collection(x)
    tokens = {dask.base.tokenize(v) for v in (x, lazy(), x + 1, lazy(I))}
    assert len(tokens) == 3 and dask.base.tokenize(x) == dask.base.tokenize(lazy())
    with pytest.raises(TypeError, match="no form of Dask"):
        x.to_dask_array()
    # Ufuncs that Dask has under NumPy's names are NumPy's, and lazy.
    assert isinstance(dask.array.sin(x), cubed.Array)
    np.testing.assert_array_equal(cubed.from_array(dask.array.from_array(F, chunks=2)), F)


# --- Weights of a regridding ----------------------------------------------------------------------


@pytest.mark.parametrize("axes", [1, 2, ((1, 2), (2, 3)), ((2,), (3,)), ([-1, 0], [3, 0]), (2, 3)])
def test_products_with_sparse_weights(axes):
    """As NumPy has them of dense weights, whichever axes are chunked, and lazily."""
    rng = np.random.default_rng(5)
    a = rng.random((3, 4, 5))
    shapes = {1: (5, 3, 4, 5), 2: (4, 5, 3, 5)}
    b = rng.random(shapes.get(axes if isinstance(axes, int) else None, (3, 2, 4, 5)))
    b *= rng.random(b.shape) < 0.3
    plain = np.tensordot(a, b, axes=axes)
    with cubed.raise_if_computes():
        x = cubed.from_array(a, chunks=(2, 3, 2))
        got = np.tensordot(x, sparse.COO.from_numpy(b), axes=axes)
    assert isinstance(got, cubed.Array) and got.shape == plain.shape
    np.testing.assert_allclose(got.compute(), plain)
    np.testing.assert_allclose(got.compute(executor="single-threaded"), plain)


def test_a_regridding():
    """The calls that xESMF makes with the weights and an array, where values are missing, too."""
    rng = np.random.default_rng(6)
    a = rng.random((5, 6, 8))
    a[0, 2, 2] = np.nan
    weights = sparse.COO.from_numpy(rng.random((12, 48)) * (rng.random((12, 48)) < 0.3))

    def regrid(x):
        missing = np.isnan(x)
        filled = np.where(missing, 0.0, x).reshape(5, 48)
        out = np.tensordot(filled, weights, axes=((-1,), (1,))).astype(x.dtype).reshape(5, 3, 4)
        valid = np.tensordot((~missing).astype("d").reshape(5, 48), weights, axes=((-1,), (1,)))
        valid = valid.reshape(5, 3, 4)
        bad = valid < 0.5
        valid[bad] = 1
        return np.where(bad, np.nan, out / valid)

    for chunks in ((2, 6, 8), (2, 3, 4)):
        with cubed.raise_if_computes():
            got = regrid(cubed.from_array(a, chunks=chunks))
        np.testing.assert_allclose(got.compute(), regrid(a))


def test_sparse_weights_are_in_the_projection():
    weights = sparse.random((1000, 1000), density=0.1, random_state=1)
    x = cubed.ones((4, 1000), chunks=(1, 1000), spec=cubed.Spec(allowed_mem="200MB"))
    plan = np.tensordot(x, weights, axes=((1,), (1,))).plan()
    assert plan.max_projected_mem - plan.reserved_mem > weights.data.nbytes + weights.coords.nbytes


def test_what_sparse_weights_do_not_fit():
    x, weights = lazy(), sparse.COO.from_numpy(F.T)
    with pytest.raises(
        ValueError, match=r"axes 2 of shapes \(2, 3\) and \(3, 2\), expected at least"
    ):
        np.tensordot(x, weights)
    with pytest.raises(np.exceptions.AxisError, match="axis 5 is out of range"):
        np.tensordot(x, weights, axes=((5,), (0,)))
    with pytest.raises(ValueError, match=r"fill_value 1.0, expected 0: make it dense"):
        np.tensordot(x, sparse.COO.from_numpy(F.T, fill_value=1.0), axes=1)
    with pytest.raises(ValueError, match="expected a number, or as many axes of each"):
        np.tensordot(x, weights, axes=((0, 1), (0,)))
    got = np.tensordot(x.astype("f4"), weights.astype("f4"), axes=1)
    assert got.dtype == "f4"
    np.testing.assert_allclose(got.compute(), F @ F.T)


# --- Functions that write into their argument -----------------------------------------------------


def doubled_in_place(block):
    block *= 2
    return block


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_functions_that_write_into_their_argument(executor):
    """NumPy's error says what is wrong, and a note what to do."""
    x = cubed.map_blocks(doubled_in_place, lazy(), dtype=float)
    with pytest.raises(ValueError, match="read-only") as e:
        x.compute(executor=executor)
    assert any("x = x.copy()" in note for note in e.value.__notes__)


def test_functions_of_numba_that_write_into_their_argument():
    """Its errors about read-only arrays do not speak of them."""
    numba = pytest.importorskip("numba", reason="compiles functions; sparse brings it")
    compiled = numba.njit(doubled_in_place)
    with pytest.raises(Exception) as e:  # noqa: PT011 - which one depends on the version
        cubed.map_blocks(compiled, lazy(), dtype=float).compute()
    assert any("x = x.copy()" in note for note in e.value.__notes__)
    copied = cubed.map_blocks(lambda block: compiled(block.copy()), lazy(), dtype=float)
    np.testing.assert_array_equal(copied.compute(), 2 * F)


def lengths_by_map(a, b):
    return a + len(set(map(len, [a, b])))


def lengths_by_loop(a, b):
    total = 0
    for each in [a, b]:
        total += len(each)
    return a + total


def test_functions_of_numba_that_never_release_their_arguments():
    """Numba keeps each element of a list that map() goes over, in memory that is the engine's."""
    numba = pytest.importorskip("numba", reason="compiles functions; sparse brings it")
    x = cubed.from_array(np.arange(6.0), chunks=3)
    by_map = numba.njit(lengths_by_map)
    a = np.zeros(3)
    by_map(a, a)
    references = sys.getrefcount(a)
    by_map(a, a)
    if sys.getrefcount(a) == references:
        pytest.skip(f"Numba {numba.__version__} releases them")
    kept = cubed.map_blocks(by_map, x, x, dtype=float)
    with pytest.raises(ValueError, match=r"keeps a view of a block .* Numba .* a loop in place of"):
        kept.compute()
    released = cubed.map_blocks(numba.njit(lengths_by_loop), x, x, dtype=float)
    np.testing.assert_array_equal(released.compute(), np.arange(6.0) + 6)


def test_other_errors_have_no_such_note():
    def fails(block):
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing") as e:
        cubed.map_blocks(fails, lazy(), dtype=float).compute()
    assert not any("copy" in note for note in getattr(e.value, "__notes__", ()))
