"""All NumPy functions that lazy arrays may implement, and those that write into lazy arrays."""

import inspect
import operator
import warnings

import cubed
import numpy as np
import numpy.char
import numpy.fft
import pytest
from conftest import cases
from cubed.numpy_protocol._functions import _signature
from numpy.testing import overrides
from numpy_functions import CALLS, NOT_OF_ARRAYS, B, C, D, F, G, I, V

#: What NumPy's functions make of lazy arrays by computing them, with a warning.
COMPUTED = {
    "array2string", "array_equiv", "array_repr", "array_str",
    "char.equal", "char.greater", "char.greater_equal", "char.less", "char.less_equal",
    "char.not_equal", "datetime_as_string",
    "lib.scimath.arccos", "lib.scimath.arcsin", "lib.scimath.arctanh", "lib.scimath.log",
    "lib.scimath.log10", "lib.scimath.log2", "lib.scimath.logn", "lib.scimath.power",
    "lib.scimath.sqrt", "min_scalar_type", "poly", "polyadd", "polyder",
    "polydiv", "polyint", "polymul", "polysub", "real_if_close", "roots",

}  # fmt: skip

WRITERS = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}

#: Of these only what is the same whatever signs and bases eigenvectors have.
LOOSE = {"linalg.eig", "linalg.eigh", "linalg.eigvals", "linalg.svd", "empty_like"}


#: What says the same as the default of a parameter.
SPELLINGS = {
    "keepdims": [False],
    "norm": [None, "backward"],
    "order": ["C", "K"],
    "out": [None],
    "where": [True],
}


def lazy(a):
    a = np.asarray(a)
    return cubed.from_array(a.copy(), chunks=2)


def function(name):
    return operator.attrgetter(name)(np)


def flat(value):
    if isinstance(value, (list, tuple)):
        return [x for v in value for x in flat(v)]
    return [value]


def called(name, make, **kwargs):
    """The arguments after a call, its result, and whether values were computed with a warning."""
    args = CALLS[name](make)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(name)(*args, **kwargs)
    return args, result, any("are computed into memory" in str(w.message) for w in caught)


def check(got, wanted):
    got, wanted = flat(got), flat(wanted)
    assert len(got) == len(wanted)
    for g, w in zip(got, wanted, strict=True):
        if isinstance(w, (np.ndarray, np.generic)):
            assert g.shape == w.shape and g.dtype == w.dtype
            if w.dtype.kind in "fc":
                rtol = 1e-5 if w.dtype.char in "fF" else 1e-6
                np.testing.assert_allclose(np.asarray(g), w, rtol=rtol, atol=1e-9)
            else:
                np.testing.assert_array_equal(np.asarray(g), w)
        elif isinstance(w, (bool, int, float, str)):
            assert g == w


def test_the_table_has_all_functions():
    names = {function(n) for n in CALLS if hasattr(np, n.split(".")[0])}
    missing = {
        f"{f.__module__}.{f.__name__}"
        for f in overrides.get_overridable_numpy_array_functions()
        if f not in names and f.__name__ not in NOT_OF_ARRAYS and "recfunctions" not in f.__module__
    }
    assert not missing
    assert set(CALLS) >= COMPUTED | WRITERS | LOOSE


@pytest.mark.parametrize("name", CALLS)
def test_results_and_arguments_are_numpys(name):
    """No call does nothing: what NumPy writes into its arguments lazy ones have, too."""
    try:
        theirs = called(name, np.array)
    except AttributeError:
        pytest.skip("this NumPy does not have it")
    mine = called(name, lazy)
    assert mine[2] is (name in COMPUTED)
    check(mine[0], theirs[0])
    if name not in LOOSE:
        check(mine[1], theirs[1])
    for x in flat(mine[1]):
        assert not any(x is a for a in flat(mine[0])) or not isinstance(x, cubed.Array)


@pytest.mark.parametrize("name", CALLS)
def test_defaults_may_be_given(name):
    """Each parameter with NumPy's default, and other spellings of it, changes nothing."""
    if name in COMPUTED or name in LOOSE:
        return
    try:
        signature = inspect.signature(function(name))
    except AttributeError:
        pytest.skip("this NumPy does not have it")
    except ValueError:
        return  # one of C: below
    given = signature.bind(*CALLS[name](np.array)).arguments
    theirs = called(name, np.array)
    for p in signature.parameters.values():
        if p.name in given or p.kind is p.POSITIONAL_ONLY or p.default is p.empty:
            continue
        for value in [p.default, *SPELLINGS.get(p.name, [])]:
            try:
                called(name, np.array, **{p.name: value})
            except (TypeError, ValueError):
                continue  # NumPy does not take it either
            mine = called(name, lazy, **{p.name: value})
            assert mine[2] is (name in COMPUTED), f"{p.name}={value!r} computes"
            check(mine[:2], theirs[:2])


OF_C = [
    lambda x: np.concatenate([x, x], axis=0, out=None, dtype=None, casting="same_kind"),
    lambda x: np.concatenate([x, x], 1, None),
    lambda x: np.dot(x, x.T, out=None),
    lambda x: np.bincount(x[0] > 0, weights=None, minlength=0),
    lambda x: np.zeros_like(x, dtype=None, order="K", subok=True, shape=None),
    lambda x: np.unravel_index((x > 0)[0] * 3, (2, 3), order="C")[1],
    lambda x: np.add(x, 1, where=True, casting="same_kind", order="K", dtype=None, subok=True),
    lambda x: np.add(x, 1, out=None),
    lambda x: np.add(x, 1, None, where=True),
    lambda x: np.add.reduce(x, axis=0, dtype=None, out=None, keepdims=False, where=True),
    lambda x: np.logaddexp(x, 1, order="C", where=True),
    lambda x: np.sum(x, axis=None, dtype=None, out=None, keepdims=False, where=True),
    lambda x: np.sum(x, 0, None, None, np._NoValue, np._NoValue, np._NoValue),
    lambda x: np.fft.fft(x, None, -1, None, None),
    lambda x: np.fft.fftn(x, s=None, axes=None, norm=None),
    lambda x: np.copy(x, order="F", subok=True),
]


@pytest.mark.parametrize("k", range(len(OF_C)))
def test_defaults_of_functions_in_c(k):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check(OF_C[k](lazy(F)), OF_C[k](F))


# --- Writing --------------------------------------------------------------------------------------


def test_copies_are_other_objects():
    x = lazy(F)
    for copied in (np.copy(x), np.atleast_1d(x), np.nan_to_num(lazy(I)), x.rechunk(x.chunks)):
        assert copied is not x
        copied[0] = 99
    np.testing.assert_array_equal(x, F)


#: Functions with the place where out= is.
OUTS = [
    lambda x, out: np.sum(x, 0, None, out),
    lambda x, out: np.mean(x, axis=0, out=out),
    lambda x, out: np.all(x, 0, out),
    lambda x, out: np.any(x, out=out),
    lambda x, out: np.max(x, 0, out),
    lambda x, out: np.argmin(x, 1, out),
    lambda x, out: np.cumulative_sum(x, axis=1, out=out),
    lambda x, out: np.percentile(x, 30, 0, out),
    lambda x, out: np.nanstd(x, 0, None, out),
    lambda x, out: np.linalg.multi_dot([x, x.T], out=out),
    lambda x, out: np.trace(x, out=out),
    lambda x, out: np.cumsum(x, 0, out=out),
    lambda x, out: np.clip(x, 0, 1, out=out),
    lambda x, out: np.clip(x, 0, 1, out),
    lambda x, out: np.take(x, [0], out=out),
    lambda x, out: np.concatenate([x, x], 0, out),
    lambda x, out: np.stack([x, x], out=out),
    lambda x, out: np.dot(x, x.T, out),
    lambda x, out: np.round(x, 1, out),
    lambda x, out: np.median(x, 0, out),
    lambda x, out: np.einsum("ij->i", x, out=out),
    lambda x, out: np.fft.fft(x, out=out),
    lambda x, out: np.isposinf(x, out),
    lambda x, out: np.choose(x > 0, [x, x], out=out),
    lambda x, out: np.compress([True], x, 0, out),
    lambda x, out: np.divmod(x, 1, out, None),
]


@pytest.mark.parametrize("k", range(len(OUTS)))
def test_out_is_written_or_refused(k):
    """A lazy array as out= is a TypeError; one of NumPy's is filled, or a TypeError."""
    out = lazy(F)
    for x in (lazy(F), F):
        with pytest.raises(TypeError, match="lazy array"):
            OUTS[k](x, out)
    np.testing.assert_array_equal(out, F)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = OUTS[k](F, None)
    except (TypeError, ValueError):
        return
    if isinstance(wanted, tuple):
        return
    out = np.full_like(wanted, 77)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = OUTS[k](lazy(F), out)
        except TypeError as e:
            result = str(e)
    if isinstance(result, str):
        assert "cannot write to out=" in result
        return
    assert result is out and "are computed into memory" in str(caught[0].message)
    np.testing.assert_allclose(out, wanted)


def test_what_ufuncs_write():
    x, a = lazy(F), F.copy()
    for call in (
        lambda: np.add.at(x, [0], 1),
        lambda: np.add.at(a, [0], x[0]),
        lambda: operator.iadd(a, x),
        lambda: np.sum(a, 0, out=x),
        lambda: np.add(x, 1, out=a),
        lambda: np.divmod(x, 1, x, None),
    ):
        with pytest.raises(TypeError, match="lazy array"):
            call()
    np.testing.assert_array_equal(a, F)
    np.testing.assert_array_equal(x, F)


def test_ufuncs_write_into_lazy_arrays():
    """As an assignment does: what was made of them before stays."""
    for call in (
        lambda x, f: np.add(x, 1, out=x),
        lambda x, f: np.multiply(F, f(I), out=x),
        lambda x, f: np.divide(x, f(I), out=x, where=f(I) != 0),
        lambda x, f: np.sin(x, out=x, where=B[0]),
        lambda x, f: np.add(x[0], 3, out=x, where=B),
        lambda x, f: np.greater(x, 0, out=x, dtype=None),
        lambda x, f: np.matmul(f(np.eye(4)[::-1].copy()), x, out=x),
    ):
        wanted, x = F.copy(), lazy(F)
        call(wanted, np.array)
        before = x.copy()
        with cubed.raise_if_computes():
            result = call(x, lazy)
        assert result is x
        np.testing.assert_array_equal(x, wanted)
        np.testing.assert_array_equal(before, F)
    total = lazy(F[0])
    np.add.reduce(lazy(F), out=total)
    np.testing.assert_allclose(total, F.sum(0))
    with pytest.raises(ValueError, match=r"the result has shape \(4, 5\), out \(5,\)"):
        np.add(lazy(F), 1, out=lazy(F[0]))
    for call in (
        lambda x: np.add.reduce(x[0], out=x[0]),
        lambda x: np.add.reduce(x, out=x),
        lambda x: np.add.accumulate(x[0], out=x),
        lambda x: np.matmul(np.eye(4)[:1], x, out=x),
    ):
        for values in (F.copy(), lazy(F)):
            with pytest.raises(ValueError, match="shape|dimension"):
                call(values)
    with pytest.raises(TypeError, match="the result is of type float64, but out is of type int64"):
        np.add(lazy(F), 1, out=lazy(I))
    np.testing.assert_array_equal(np.add(lazy(F), 1, where=B), np.where(B, F + 1, 0))


def test_nan_to_num_in_place():
    for values in (G, G * 1j, I, G.astype("f4")):
        a, x = values.copy(), lazy(values)
        before = x.copy()
        np.nan_to_num(a, copy=False, nan=7)
        result = np.nan_to_num(x, copy=False, nan=7)
        assert isinstance(result, cubed.Array)
        np.testing.assert_array_equal(x, a)
        np.testing.assert_array_equal(before, values)


def test_numpys_arrays_are_written_from_lazy_ones():
    for call in (
        lambda a, b: np.copyto(a, b(I)),
        lambda a, b: np.putmask(a, b(B), b(F + 1)),
        lambda a, b: np.place(a, b(B), b(V)),
        lambda a, b: np.put(a, [3, 4], b(V)),
    ):
        wanted, got = F.copy(), F.copy()
        call(wanted, np.array)
        with pytest.warns(UserWarning, match="are computed into memory"):
            call(got, lazy)
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_functions_of_the_package_write_into_lazy_arrays_alone(name):
    assert getattr(cubed.array_api, name) is getattr(cubed, name)
    with pytest.raises(TypeError, match=f"{name}: .* is a ndarray, expected a lazy array: numpy"):
        getattr(cubed, name)(F.copy(), [0], [1])


def test_writing_is_lazy():
    x, m = lazy(F), lazy(B)
    with cubed.raise_if_computes():
        np.copyto(x, lazy(I), where=m)
        np.putmask(x, m, [1.0, 2.0, 3.0])
        np.put(x, [0, -1], lazy(V))
        np.put_along_axis(x, lazy(I[:1] % 4), 0.5, 0)
        np.fill_diagonal(x, 3)


BAD = {
    "copyto: float64 is not cast to int64": lambda x: np.copyto(x, 1.5),
    "copyto: where is of type int64, expected bool": lambda x: cubed.copyto(x, 1, where=x),
    "copyto: complex128 is not cast": lambda x: np.copyto(x, lazy(C)),
    "not cast to int64 by the rule 'no'": lambda x: np.copyto(x, lazy(B), casting="no"),
    "a mask of shape": lambda x: np.copyto(x, 1, where=np.ones((3, 4, 5), bool)),
    "putmask: a mask of 1 elements": lambda x: np.putmask(x, [True], 1),
    "putmask: float64 is not cast": lambda x: np.putmask(x, x > 0, np.ones(2)),
    "place: a mask of 2 elements": lambda x: np.place(x, [True, False], 1),
    "place: vals has no element": lambda x: np.place(x, x > -9, []),
    "position 20 is out of bounds": lambda x: np.put(x, [0, 20], 1),
    "position -21 is out of bounds": lambda x: np.put(x, -21, 1),
    "mode is 'no'": lambda x: np.put(x, 0, 1, "no"),
    "positions are float64": lambda x: np.put(x, [0.5], 1),
    "indices have 1 axes": lambda x: np.put_along_axis(x, np.array([0]), 1, 0),
    "a has 1 axes": lambda x: np.fill_diagonal(x[0], 1),
    "expected axes of one extent": lambda x: np.fill_diagonal(x[None], 1),
}


@pytest.mark.parametrize("message", BAD)
def test_what_is_refused_names_the_argument(message):
    x = lazy(I)
    with pytest.raises((TypeError, ValueError, IndexError), match=message):
        BAD[message](x)
    np.testing.assert_array_equal(x, I)


def test_lazy_positions_are_checked_by_the_run():
    for bad in (20, -21, 1000):
        x = lazy(I)
        np.put(x, lazy(np.array([0, bad])), 1)
        with pytest.raises(IndexError, match="is out of bounds for axis 0"):
            x.compute()


class Random:
    """A call of one of the functions that write."""

    def __init__(self, rng):
        self.rng, self.kwargs = rng, {}
        self.dtype = rng.choice(["f8", "i4", "u1", "f4", "?", "c8", "f2", "M8[s]"])
        shape = tuple(rng.integers(0 if rng.random() < 0.1 else 1, 6, rng.integers(0, 4)))
        self.name = str(rng.choice(sorted(WRITERS)))
        if self.name == "fill_diagonal" and len(shape) > 2:
            shape = shape[:1] * len(shape)
        self.a = self.some(shape)
        self.args = getattr(self, self.name)(shape)

    def some(self, shape, dtype=None):
        return np.asarray(self.rng.integers(0, 100, shape)).astype(dtype or self.dtype)

    def values(self):
        shape = self.rng.integers(0 if self.rng.random() < 0.1 else 1, 8, self.rng.integers(0, 3))
        same = self.rng.random() < 0.7 or self.dtype[0] == "M"
        v = self.some(tuple(shape), None if same else self.rng.choice(["i2", "f8", "u1"]))
        return v if self.rng.random() < 0.8 else v.astype(self.dtype).tolist()

    def copyto(self, shape):
        part = tuple(n if self.rng.random() < 0.7 else 1 for n in shape)
        if self.rng.random() < 0.5:
            self.kwargs["where"] = (
                self.rng.random(shape[self.rng.integers(0, len(shape) + 1) :]) < 0.5
            )
        if self.rng.random() < 0.2:
            self.kwargs["casting"] = "unsafe"
        other = self.dtype if self.dtype[0] == "M" else self.rng.choice(["i2", "f8"])
        return [self.some(part[self.rng.integers(0, len(shape) + 1) :], other)]

    def putmask(self, shape):
        mask = np.asarray(self.rng.random(shape) < 0.5)
        form = self.rng.integers(0, 4)
        return [
            mask.astype(int) if form == 0 else mask.ravel() if form == 1 else mask,
            self.values(),
        ]

    place = putmask

    def put(self, shape):
        n = max(1, self.a.size)
        self.kwargs["mode"] = str(self.rng.choice(["raise", "wrap", "clip"]))
        most = n if self.rng.random() < 0.8 else 2 * n
        return [self.rng.integers(-most, most, self.rng.integers(0, 8)), self.values()]

    def put_along_axis(self, shape):
        if not shape or self.rng.random() < 0.2:
            n = max(1, self.a.size)
            return [self.rng.integers(-n, n, 4), self.some((4,)), None]
        axis = int(self.rng.integers(-len(shape), len(shape)))
        of = list(shape)
        of[axis] = int(self.rng.integers(1, 4))
        n = max(1, shape[axis])
        part = tuple(k if self.rng.random() < 0.7 else 1 for k in of)
        return [self.rng.integers(-n, n, of), self.some(part), axis]

    def fill_diagonal(self, shape):
        self.kwargs["wrap"] = bool(self.rng.random() < 0.5)
        return [self.values()]

    def lazy(self, value, always=False):
        if not isinstance(value, np.ndarray) or not (always or self.rng.random() < 0.5):
            return value
        chunks = tuple(int(self.rng.integers(1, max(2, n + 1))) for n in value.shape)
        return cubed.from_array(value.copy(), chunks=chunks)


@pytest.mark.parametrize("seed", range(4))
def test_random_writes(seed):
    rng = np.random.default_rng(seed)
    done = 0
    for _ in range(cases(60)):
        case = Random(rng)
        wanted, error, got, refused = case.a.copy(), None, case.lazy(case.a, True), None
        before = got.copy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                getattr(np, case.name)(wanted, *case.args, **case.kwargs)
            except (TypeError, ValueError, IndexError, OverflowError) as e:
                error = e
            args = [case.lazy(v) for v in case.args]
            kwargs = {k: case.lazy(v) for k, v in case.kwargs.items()}
            try:
                module = np if done % 2 else cubed
                assert getattr(module, case.name)(got, *args, **kwargs) is None
                values = got.compute()
            except (TypeError, ValueError, IndexError, OverflowError) as e:
                refused = e
        what = (
            f"{case.name} {case.a.dtype}{case.a.shape} {case.args} {case.kwargs}: {error} {refused}"
        )
        assert (error is None) == (refused is None), what
        if error is None:
            done += 1
            assert values.tobytes() == wanted.tobytes() and values.dtype == wanted.dtype, what
        assert before.compute().tobytes() == case.a.tobytes()
    assert done > 20


def test_dates_are_written():
    x = lazy(D)
    np.copyto(x, np.datetime64("2020-01-01"), where=[True, False])
    np.testing.assert_array_equal(x, np.array(["2020-01-01", "2024-02-05"], "M8[D]"))
    np.putmask(x, x > np.datetime64("2021-01-01"), D[:1])
    np.testing.assert_array_equal(x, np.array(["2020-01-01", "2024-01-01"], "M8[D]"))


#: What may be given for parameters, by their names; what NumPy refuses for a function is left out.
GIVEN = {
    "a_max": [0.2], "a_min": [-0.2], "append": [1.0], "assume_unique": [True],
    "axes": [0, (1, 0), (0, 1)], "axis": [0, 1, -1, -2, None, (0, 1)], "axis1": [1], "axis2": [0],
    "aweights": [np.arange(1.0, 6)], "base": [2.0], "bias": [True], "bins": [3, [-1.0, 0, 2]],
    "casting": ["no", "safe", "unsafe"], "compute_uv": [False], "copy": [True, False],
    "correction": [1, 1.5], "ddof": [1], "decimals": [0, 2], "decreasing": [True],
    "delta": [0.3], "density": [True], "deg": [2], "device": ["cpu"], "discont": [1.0],
    "dtype": [np.float32, "f8", int, complex], "dx": [2.0], "edge_order": [2],
    "end_values": [3], "endpoint": [False], "equal_nan": [True, False], "exceptions": [()],
    "fill_value": [9], "full": [True], "full_matrices": [False], "fweights": [[1, 2, 1, 3, 1]],
    "hermitian": [True], "increasing": [True], "indices": [[1, 2]], "initial": [3, -2.5],
    "interpolation": ["lower"], "invert": [True], "k": [1, -1], "keepdims": [True],
    "kind": ["stable", "heapsort", "sort", "table"], "left": [5.0], "max": [0.2], "min": [-0.2],
    "mean": [0.25, np.full((1, 5), 0.25)], "method": ["lower", "nearest", "hazen", "weibull"],
    "minlength": [9], "mode": ["wrap", "clip", "raise", "same", "valid", "reduced", "complete",
                               "r", "edge", "reflect"],
    "n": [1, 2, 3], "nan": [7.0], "ndim": [3], "neginf": [-1.0], "norm": ["ortho", "forward"],
    "num": [3], "offset": [1, -2], "ord": [1, 2, -1, np.inf, "fro", "nuc"], "order": ["F"],
    "overwrite_input": [True], "period": [4.0], "posinf": [1.0], "prepend": [1.0], "q": [0.3],
    "range": [(-1.0, 1.0)], "rcond": [0.1], "repeats": [3], "retstep": [True],
    "return_counts": [True], "return_index": [True], "return_inverse": [True],
    "returned": [True], "right": [7.0, True], "rowvar": [False], "rtol": [0.5],
    "M": [3], "N": [4], "axisa": [1], "axisb": [0], "axisc": [0], "cov": [True],
    "include_initial": [True], "ind": [1], "indexing": ["ij"], "m": [1, 2],
    "max_line_width": [9], "newshape": [(2, 10)], "optimize": [True],
    "p": [1, np.inf], "requirements": ["C"], "return_indices": [True], "s": [(3, 3), (6, 2)],
    "sparse": [True], "wrap": [True], "writeable": [True], "y": [F[::-1].copy()],
    "shape": [(2, 10), (20,)], "shift": [2, -1], "side": ["right"], "size": [3],
    "sorted": [False], "sorter": [np.arange(5)], "stable": [True], "start": [1], "step": [2],
    "strict": [True], "subok": [True], "to_begin": [1.0], "to_end": [2.0], "tol": [2.0],
    "trim": ["f", "b"], "UPLO": ["U"], "upper": [True], "values": [[1.0]], "w": [[1.0, 2, 3, 1]],
    "weights": [np.arange(1.0, 6), np.arange(1.0, 21).reshape(4, 5), [1.0, 2.0, 0.5, 1.0]],
    "where": [F > 0, V > 0, False], "atol": [0.5], "x": [np.array([1.0, 2, 4, 7, 9])],
}  # fmt: skip

#: Not of values: memory, and what writes into it.
NOT_GIVEN = {"einsum_call", "extobj", "like", "max_work", "out", "overwrite_input", "signature"}

#: NumPy has equal elements in any order here, and variances that it rounds at each step. Its sets
#: of elements that are not unique, as `assume_unique` promises, depend on its algorithm.
EXCEPT = {
    ("argsort", "axis", "None"),
    ("var", "dtype", repr(int)),
    ("intersect1d", "assume_unique", "True"),
    ("setxor1d", "assume_unique", "True"),
}


def parameters(name):
    """What may be given for those that a call in the table leaves open."""
    signature = _signature(function(name)) if hasattr(np, name.split(".")[0]) else None
    if signature is None:
        return
    given = signature.bind(*CALLS[name](np.array)).arguments
    for p in signature.parameters.values():
        if p.name in given or p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY):
            continue
        assert p.name in GIVEN or p.name in NOT_GIVEN or name in COMPUTED, p.name
        for value in GIVEN.get(p.name, ()) if p.name not in NOT_GIVEN else ():
            if (name, p.name, repr(value)) not in EXCEPT:
                yield p.name, value


@pytest.mark.parametrize("name", CALLS)
def test_no_parameter_is_ignored(name):
    """What is given has NumPy's effect, or is an error that names it."""
    for parameter, value in parameters(name):
        try:
            theirs = called(name, np.array, **{parameter: value})
        except Exception:
            continue
        try:
            mine = called(name, lazy, **{parameter: value})
        except (TypeError, ValueError, NotImplementedError) as e:
            assert parameter in str(e) or np.dtype(value).name in str(e), (parameter, value)  # noqa: PT017
            continue
        check(mine[0], theirs[0])
        if name not in LOOSE:
            check(mine[1], theirs[1])


def test_parameters_are_given():
    """To more functions than only some."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sum(1 for name in CALLS for _ in parameters(name)) > 700


ORDERS = {
    "take": lambda x: np.take(x, [7, -9, 2], 1, mode="wrap"),
    "take clip": lambda x: np.take(x, [[7, -9], [0, 4]], mode="clip"),
    "take raise": lambda x: np.take(x, [7, 0], 1, mode="raise"),
    "method take": lambda x: x.take([21, -30], mode="wrap"),
    "method take clip": lambda x: x.take([21, -30], None, None, "clip"),
    "reshape F": lambda x: np.reshape(x, (2, 10), order="F"),
    "reshape A": lambda x: x.reshape(2, 10, order="A"),
    "method reshape F": lambda x: x.reshape((5, 4), order="F"),
    "ravel F": lambda x: np.ravel(x, order="F"),
    "method ravel F": lambda x: x.ravel("F"),
    "method flatten F": lambda x: x.flatten("F"),
    "repeat": lambda x: np.repeat(x, [1, 0, 2, 3], axis=0),
    "repeat all": lambda x: x.repeat(3),
    "repeat wrong": lambda x: np.repeat(x, [1, 2], axis=0),
    "clip": lambda x: x.clip(min=0.1),
    "sum where": lambda x: x.sum(axis=1, where=F > 0),
    "max initial": lambda x: x.max(axis=0, initial=9.0, where=F > 9),
    "mean where": lambda x: x.mean(0, where=F > -9),
    "argsort": lambda x: x.argsort(axis=0, kind="stable"),
    "astype": lambda x: x.astype("i4", casting="safe"),
    "round": lambda x: x.round(1),
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders_modes_and_methods(name):
    try:
        wanted = ORDERS[name](F)
    except Exception as e:
        with pytest.raises(type(e)):
            np.asarray(ORDERS[name](lazy(F)))
        return
    try:
        got = ORDERS[name](lazy(F))
    except TypeError:  # of a parameter that there is not
        return
    check(got, wanted)


# As NumPy's and Dask's users write them; the standard has names for these arguments alone.
POSITIONS = """
all(x, 0); any(x, 1); argmax(x, 1); argmin(x, 0); count_nonzero(x, 0); max(x, 0); min(x, -1)
mean(x, 0); prod(x, 1); std(x, 0); sum(x, (0, 1)); var(x, 1); sort(x, 0); argsort(x, 1)
flip(x, 0); roll(x, 2, 1); roll(x, (1, -1), (0, 1)); diff(x, 2); diff(x, 1, 0); stack([x, x], 1)
searchsorted(x[0], x[1], "right"); isin(x, x[0], True); tile(x, 2); where(x, x, -x)
squeeze(x[None, :, None]); where(x > 1)[0]; where(x)[1]
"""


@pytest.mark.parametrize("call", [c.strip() for c in POSITIONS.replace("\n", ";").split(";") if c])
def test_arguments_by_position(call):
    a = np.array([[0, 1, 2, 2], [1, 0, 3, 4], [5, 0, 1, 1]])
    want = eval(call, vars(np) | {"x": a})
    ours = {n: getattr(cubed, n) for n in dir(cubed)}
    got = eval(call, ours | {"x": cubed.from_array(a, chunks=2)}).compute()
    np.testing.assert_array_equal(got, want)


def test_where_takes_one_choice_or_three():
    with pytest.raises(TypeError, match="a condition, x1 and x2"):
        cubed.where(cubed.ones(3), 1)
