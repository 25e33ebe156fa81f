"""NumPy's own functions, called with lazy arrays, accept NumPy's parameters in NumPy's order."""

import cubed
import numpy as np
import pytest
import scipy.special
from conftest import no_warnings

RNG = np.random.default_rng(17)
F = np.round(RNG.normal(size=(4, 5)), 2)
G = np.where(F > 0.9, np.nan, F)
T = RNG.normal(size=(3, 4, 5))
I = RNG.integers(-3, 4, (4, 5))  # noqa: E741
S = F[:, :4] @ F[:, :4].T + 4 * np.eye(4)
V = np.sort(F[0])
N = np.array([np.nan, 1, np.nan, 2, 1])

LAZY = [
    (lambda x: np.sum(x, 0), F),
    (lambda x: np.sum(x, 1, np.float32), F),
    (lambda x: np.sum(x, 1, keepdims=np._NoValue), F),
    (lambda x: np.einsum("ij,kj->ik", x, x, optimize=True), F),
    (lambda x: np.mean(x, (0, 1)), F),
    (lambda x: np.std(x, 0, ddof=1), F),
    (lambda x: np.var(x, 0, None, None, 1), F),
    (lambda x: np.max(x, 0), G),
    (lambda x: np.any(x > 0, 0), F),
    (lambda x: np.argmin(x, 1), F),
    (lambda x: np.clip(x, a_min=0, a_max=1), F),
    (lambda x: np.clip(x, -1.5, 1.5), I),
    (lambda x: np.sort(x, 0), F),
    (lambda x: np.sort(x, axis=None, kind="stable"), F),
    (lambda x: np.argsort(x, -1, "stable"), I),
    (lambda x: np.concatenate((x, x), 1, dtype=np.float32), F),
    (lambda x: np.stack([x, x], 1), F),
    (lambda x: np.roll(x, 1, 0), F),
    (lambda x: np.repeat(x, 2, 0), F),
    (lambda x: np.take(x, [0, 2]), F),
    (lambda x: np.take(x, [0, 2], 1), F),
    (lambda x: np.flip(x, 0), F),
    (lambda x: np.searchsorted(x, [0.1, 0.2], "right"), V),
    (lambda x: np.diff(x, 2, 0), F),
    (lambda x: np.diff(x, axis=0, prepend=0), F),
    (lambda x: np.count_nonzero(x, 0), I),
    (lambda x: np.where(x)[0], I),
    (lambda x: np.where(x > 0, 1, 2.5), F),
    (lambda x: np.zeros_like(x, int), F),
    (lambda x: np.nanmean(x, 0), G),
    (lambda x: np.nanvar(x, 0, ddof=1), G),
    (lambda x: np.linalg.inv(x), S),
    (lambda x: np.linalg.svd(x, False)[1], F),
    (lambda x: np.linalg.norm(x), T),
    (lambda x: np.linalg.norm(x, axis=0), F),
    (lambda x: np.linalg.norm(x, 1), F),
    (lambda x: np.linalg.norm(x, axis=(0, 1), keepdims=True), F),
    (lambda x: np.linalg.norm(x, axis=(2, 0), ord=1), T),
    (lambda x: np.linalg.norm(x, axis=(0, 1), ord=1, keepdims=True), T),
    (lambda x: np.trace(x), T),
    (lambda x: np.trace(x, 1, 1, 2), T),
    (lambda x: np.diagonal(x), T),
    (lambda x: np.diagonal(x, -1, 2, 0), T),
    (lambda x: np.outer(x, x), F),
    (lambda x: np.fft.fft(x, 8, 0), F),
    (lambda x: np.fft.fftn(x, None, (0,)), F),
    (lambda x: np.reshape(x, -1, order="C"), F),
    (lambda x: np.round(x, 1), F),
    (lambda x: np.squeeze(x[:1]), F),
    (lambda x: np.tile(x, 2), F),
    (lambda x: np.tile(x, (2, 1)), F),
    (lambda x: np.tensordot(x, x, 2), F),
    (lambda x: np.add.reduce(x), F),
    (lambda x: np.maximum.reduce(x, axis=1, keepdims=True), F),
    (lambda x: np.float_power(x, -1), I + 5),
    (lambda x: np.cbrt(x), F),
    (lambda x: np.heaviside(x, 0.5), I),
    (lambda x: np.fmod(2, x), F),
    (lambda x: np.fmod(x, [1, 2, 3, 1, 0.5]), F),
    (lambda x: np.degrees(x), F),
    (lambda x: np.multiply(x, 2, dtype=np.float32), F),
    (lambda x: np.fmax(x, 0), F.astype("f4")),
    (lambda x: np.triu(x, 1), F),
    (lambda x: np.copy(x), F),
    (lambda x: np.unique(x), N),
    (lambda x: np.unique(x, equal_nan=False), N),
    (lambda x: np.lib.stride_tricks.sliding_window_view(x, 2, axis=0), F),
]

COMPUTED = [
    (lambda x: np.roots(x[0]), F, "numpy.roots"),
    (lambda x: np.std(x, mean=0.5), F, "numpy.std"),
    (lambda x: np.poly(x[0]), F, "numpy.poly"),
]


def lazy(a):
    return cubed.from_array(a, chunks=2)


@pytest.mark.parametrize("k", range(len(LAZY)))
def test_lazy(k):
    call, values = LAZY[k]
    with no_warnings():  # NumPy warns of arrays that it computes
        got = call(lazy(values))
        assert isinstance(got, cubed.Array)
        wanted = call(values)
        assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
        np.testing.assert_allclose(got.compute(), wanted, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("call", "values", "name"), COMPUTED)
def test_what_has_no_lazy_function_or_parameter_is_computed(call, values, name):
    with pytest.warns(UserWarning, match=f"^{name} of a lazy array"):
        np.testing.assert_allclose(call(lazy(values)), call(values))


def test_what_is_known_without_values():
    x = lazy(F)
    with cubed.raise_if_computes():
        assert (np.ndim(x), np.shape(x), np.size(x), np.size(x, 1)) == (2, (4, 5), 20, 5)
        assert np.iscomplexobj(lazy(F * 1j)) and np.isrealobj(x)
        assert not np.may_share_memory(x, x)


@pytest.mark.parametrize("function", [cubed.divmod, cubed.ma.allclose])
def test_errors_name_the_function_that_was_called(function):
    name = function.__name__
    with pytest.raises(ValueError, match=rf"^{name}: shapes \(2\) and \(3\) do not broadcast"):
        function(lazy(np.ones(2)), lazy(np.ones(3)))
    with pytest.raises(TypeError, match=f"^{name} is not defined for"):
        function(lazy(np.asarray(["a"])), lazy(np.ones(1)))


def test_divmod_on_either_side():
    for got, wanted in ((divmod(F, lazy(I + 5)), divmod(F, I + 5)),
                        (np.divmod(lazy(F), 0.5), divmod(F, 0.5))):  # fmt: skip
        for g, w in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(g.compute(), w)


def test_equal_arrays():
    x = lazy(F)
    assert np.array_equal(x, F)
    assert not np.array_equal(x, F + 1)
    assert not np.array_equal(x, F[:, :2])
    assert np.array_equal(lazy(G), G, equal_nan=True)
    assert not np.array_equal(lazy(G), G)


def test_functions_of_others():
    x = lazy(F)
    theirs = scipy.special.expit(x)
    assert isinstance(theirs, cubed.Array)
    np.testing.assert_array_equal(theirs.compute(), scipy.special.expit(F))


REFUSED = {
    "subtract.accumulate is .*: cubed.core.ops.scan": lambda x: np.subtract.accumulate(x),
    "divide.reduceat is .*: cubed.groupby_reduce": lambda x: np.divide.reduceat(x, [0, 2]),
    r"reduceat: indices are .*, expected integers": lambda x: np.add.reduceat(x, [0.5]),
    "where is of .*, expected bool": lambda x: np.add(x, 1, where=F),
    "subtract.reduce is .*: cubed.core.ops.reduction": lambda x: np.subtract.reduce(x),
    r"add\.at is .*: x\[positions\] = values": lambda x: np.add.at(x, [0], 1),
    "add of .* cannot write to out=": lambda x: np.add(x, 1, out=np.empty((4, 5))),
    "add of a lazy array has no parameter casting": lambda x: np.add(x, 1, casting="no"),
    "frompyfunc|vectorized.*: cubed.apply_gufunc": lambda x: np.frompyfunc(divmod, 2, 2)(x, x),
    "is not defined for lazy arrays of these types|pickled": np.frompyfunc(str, 1, 1),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_lazy_arrays_lack_is_a_type_error_that_says_what_there_is(message):
    with pytest.raises(TypeError, match=message):
        REFUSED[message](lazy(F))


def test_arrays_of_numpy_are_not_added_to_in_place():
    a = F.copy()
    with pytest.raises(TypeError, match="such as \\+=: use the result, or cubed.store"):
        a += lazy(F)
    np.testing.assert_array_equal(a, F)


def test_ufuncs_with_objects_of_others_are_theirs():
    class Other:
        def __array_ufunc__(self, ufunc, method, *args, **kwargs):
            return f"{ufunc.__name__}.{method}"

    assert np.add(lazy(F), Other()) == "add.__call__"
    assert np.add.outer(lazy(F), Other()) == "add.outer"
    assert np.add(lazy(F), 1, out=Other()) == "add.__call__"


def test_a_lazy_array_and_one_of_xarray_give_one_of_xarray():
    xr = pytest.importorskip("xarray", reason="its arrays are what is added")
    with cubed.raise_if_computes():
        got = np.add(lazy(F), xr.DataArray(lazy(F), dims=("y", "x")))
        assert isinstance(got, xr.DataArray) and isinstance(got.data, cubed.Array)
    np.testing.assert_array_equal(got, F + F)


def test_parameters_by_position_alone():
    """As NumPy 2.4 describes where: what has no name is passed on in order."""
    from cubed.numpy_protocol._functions import _translate

    def theirs(condition, x=None, y=None, /):
        pass

    def ours(condition, *args):
        pass

    assert _translate(theirs, ours, (1, 2, 3), {}) == ([1, 2, 3], {})
    assert _translate(theirs, ours, (1,), {}) == ([1], {})
    assert _translate(theirs, lambda condition, /, **_: None, (1, 2), {}) is None
