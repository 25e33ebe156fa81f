"""The options of NumPy's ufuncs, and NumPy's names of elementwise functions."""

import cubed
import numpy as np
import pytest

I = np.arange(-3, 9).reshape(3, 4)  # noqa: E741
F = I / 3
WHERE = np.array([True, False, True, True])
NAMES = """
absolute arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_not cbrt conjugate degrees
divmod float_power fmod invert ldexp left_shift logaddexp2 mod power radians right_shift spacing
true_divide
""".split()
TYPES = ["i1", "i8", "u2", "f4", "f8", "c16"]


def lazy(x):
    return cubed.asarray(x, chunks=(2, 3)[: x.ndim])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_numpys_names(name, dtype):
    ufunc = getattr(np, name)
    x = np.array([1, 0, 1, 3]).astype(dtype)
    other = np.array([2, 1, 3, 1]).astype("i4" if name == "ldexp" else dtype)
    args = (x, other)[: ufunc.nin]
    try:
        wanted = ufunc(*args)
    except TypeError:
        with pytest.raises(TypeError):
            getattr(cubed, name)(*map(lazy, args))
        return
    got = getattr(cubed, name)(*map(lazy, args))
    for g, w in zip(*((v if isinstance(v, tuple) else (v,)) for v in (got, wanted)), strict=True):
        assert isinstance(g, cubed.Array)
        np.testing.assert_allclose(g.compute(), w, rtol=1e-3 if w.dtype.itemsize < 4 else 1e-6)
        if dtype not in ("i1", "u2"):  # NumPy computes floats of small integers in half precision
            assert g.dtype == w.dtype


@pytest.mark.parametrize("function", [cubed.add, np.add])
@pytest.mark.parametrize("dtype", [None, "f8", "c16"])
@pytest.mark.parametrize("where", [True, False, WHERE, I > 0])
def test_out_and_where(function, dtype, where):
    start = np.full((3, 4), 7, dtype or "i8")
    wanted, out = start.copy(), lazy(start)
    np.add(I, WHERE, where=where, out=wanted, dtype=dtype)
    before = out + 0
    got = function(lazy(I), WHERE, where=where, out=out, dtype=dtype)
    assert got is out and got.dtype == wanted.dtype
    np.testing.assert_array_equal(got.compute(), wanted)
    np.testing.assert_array_equal(before.compute(), start)


@pytest.mark.parametrize("other", [True, 2, 2.5])
def test_numbers_beside_arrays(other):
    for x in (I, F):
        np.testing.assert_array_equal(cubed.fmod(lazy(x), other).compute(), np.fmod(x, other))
    with pytest.raises(TypeError, match="fmod: operands are numbers"):
        cubed.fmod(other, other)


def test_out_of_more_axes():
    out = cubed.zeros((3, 4))
    assert cubed.negative(lazy(F[0]), out=(out,)) is out
    np.testing.assert_array_equal(out.compute(), np.broadcast_to(-F[0], (3, 4)))


def test_where_alone():
    got = cubed.sqrt(lazy(F), where=lazy(F) > 0).compute()
    np.testing.assert_array_equal(got, np.sqrt(F, where=F > 0, out=np.zeros((3, 4))))


@pytest.mark.parametrize("function", [cubed.sqrt, np.sqrt])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8"])
def test_dtype(function, dtype):
    got = function(lazy(abs(I)), dtype=dtype)
    np.testing.assert_array_equal(got.compute(), np.sqrt(abs(I), dtype=dtype))
    assert got.dtype == dtype


CASTS = {
    "of floats to integers": lambda add, equal, x: add(x, x, dtype="i4"),
    "of a float to integers": lambda add, equal, x: add(x.astype("i4"), 2.5, dtype="i4"),
    "of a comparison to floats": lambda add, equal, x: equal(x, x, dtype="f8"),
}


@pytest.mark.parametrize("module", [cubed, np])
@pytest.mark.parametrize("case", CASTS)
def test_types_that_numpy_refuses(case, module):
    """np.add of lazy arrays truncated 2.5 to 2 before."""
    with pytest.raises(TypeError):
        CASTS[case](np.add, np.equal, F)
    with pytest.raises(TypeError):
        CASTS[case](module.add, module.equal, lazy(F))


@pytest.mark.parametrize(
    ("error", "says", "options"),
    [
        (TypeError, "cannot write to out= of ndarray, expected Array", {"out": F.copy()}),
        ((TypeError, ValueError), "one|tuple", {"out": (cubed.asarray(F), cubed.asarray(F))}),
        (ValueError, r"the result has shape \(3, 4\), out \(4,\)", {"out": cubed.zeros(4)}),
        (TypeError, "result is of type float64, but out is of type", {"out": cubed.asarray(I)}),
        (TypeError, "where is of type int64, expected bool", {"where": I}),
    ],
)
def test_errors(error, says, options):
    for function in (cubed.add, np.add):
        with pytest.raises(error, match=says):
            function(lazy(F), 1, **options)


def test_options_of_functions_of_several_results():
    with pytest.raises(TypeError, match="several results"):
        np.divmod(lazy(I), 2, where=lazy(I) > 0)


@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_extremes_of_complex_numbers(name):
    rng = np.random.default_rng(5)
    parts = rng.integers(0, 3, (4, 60)).astype("f8")
    parts[rng.random(parts.shape) < 0.1] = np.nan
    x, y = parts[0] + 1j * parts[1], parts[2] + 1j * parts[3]
    for a, b in ((x, y), (x, parts[2]), (x.astype("c8"), y)):
        got = getattr(cubed, name)(lazy(a), lazy(b)).compute()
        np.testing.assert_array_equal(got, getattr(np, name)(a, b))


@pytest.mark.parametrize("name", ["isposinf", "isneginf", "deg2rad", "rad2deg"])
def test_complex_numbers_have_no_sign_and_no_angle_in_degrees(name):
    """isposinf of complex numbers was False, and deg2rad scaled both parts."""
    for x in (np.array([1j, np.inf]), np.ones(2, "c8")):
        with pytest.raises(TypeError, match=f"{name} is not defined for complex"):
            getattr(cubed, name)(lazy(x))
        with pytest.raises(TypeError):
            getattr(np, name)(x)


def test_ufuncs_of_matrices():
    for name in ("matmul", "vecdot"):
        if not hasattr(np, name):  # before NumPy 2.0
            continue
        ufunc = getattr(np, name)
        args = (F, F.T) if name == "matmul" else (F, F)
        got = ufunc(*map(lazy, args))
        assert isinstance(got, cubed.Array)
        np.testing.assert_allclose(got.compute(), ufunc(*args))
        with pytest.raises(TypeError, match=f"{name} of a lazy array"):
            ufunc(*map(lazy, args), out=np.empty(got.shape))
    with pytest.raises(TypeError, match="has no parameter axes"):
        np.matmul(lazy(F), lazy(F.T), axes=[(0, 1), (0, 1), (0, 1)])
