"""Compares every row of the tables of operations and reductions with NumPy, for pairs of types and
for extreme values. Also tests operands that are Python numbers or have other layouts.
"""

import itertools
import re
import warnings

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import ROOT, check, run
from cubed import _core
from cubed.planning._options import RunOptions

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
TYPES = ["bool", *INTS, "float32", "float64", "complex64", "complex128"]
COMPARISONS = ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
NUMPY = {f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "tan2")}
NUMPY |= {"pow": "power", "bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift"}


def rows(file: str, macro: str) -> list[list[str]]:
    text = (ROOT / "include/cubed" / file).read_text()
    found = re.findall(rf"^{macro}\((\w+, .*)\)$", text, re.M)
    return [[cell.strip(' "') for cell in row.split(",")] for row in found]


OPS = {r[1]: r[3:] for r in rows("ops.def", "CUBED_OP") if not r[1].startswith("random")}
REDUCTIONS = {r[1]: r[3:] for r in rows("reductions.def", "CUBED_REDUCTION")}


def edges(name: str) -> np.ndarray:
    dtype = np.dtype(name)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        values = {info.min, info.min + 1, 0, 1, 2, 3, 7, info.max // 2, info.max - 1, info.max}
        values |= {-1, -2, -7} | {2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**63 + 1}
        return np.array([v for v in sorted(values) if info.min <= v <= info.max], dtype)
    info = np.finfo(dtype)
    if dtype.kind == "f":
        values = [0.0, -0.0, 1, -1, 0.5, 1.5, 2.5, -2.5, 100, np.inf, -np.inf, np.nan, 2.0**53]
        return np.array([*values, info.max, info.tiny, info.smallest_subnormal], dtype)
    parts = [0.0, -0.0, 1, -2.5, np.inf, np.nan]
    return np.array([complex(a, b) for a in parts for b in parts], dtype)


def pairs(a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
    x, y = np.meshgrid(edges(a), edges(b))
    return x.ravel(), y.ravel()


def accepted(name: str, *types: str) -> bool:
    return np.result_type(*types).kind in OPS[name][1]


def expected(name: str, *args: np.ndarray) -> np.ndarray:
    """NumPy's values, in the types that the standard gives them."""
    common = np.result_type(*args)
    if OPS[name][2] == "FLOAT" and common.kind in "biu":
        args = tuple(a.astype("f8") for a in args)
    if name in ("real", "imag"):
        return getattr(args[0], name)
    if name.endswith("shift"):  # by the width or more: NumPy's are as these, for its widths
        args = tuple(a.astype(common) for a in args)
    with np.errstate(all="ignore"):
        return getattr(np, NUMPY.get(name, name))(*args)


def usual(name: str, args: tuple[np.ndarray, ...], want: np.ndarray) -> np.ndarray:
    """Where NumPy's values are those that are wanted: documented departures are elsewhere."""
    x, y = args[0], args[-1]
    ok = np.ones(x.shape, bool)
    if name == "floor_divide" and want.dtype.kind == "f":  # the standard has the quotient's floor
        ok = np.isfinite(x.astype("f8")) & np.isfinite(y.astype("f8"))
    if name == "reciprocal" and want.dtype.kind in "iu":  # the machine's
        ok = x != 0
    if want.dtype.kind == "c" and name not in COMPARISONS:  # of the C library's, but for sign
        ok = np.isfinite(x) & np.isfinite(y) if name != "sign" else ok
        if name == "divide":
            ok &= y != 0
    return ok


def same(got: np.ndarray, want: np.ndarray, name: str) -> np.ndarray:
    if want.dtype.kind not in "fc":
        return got == want
    # Products of NumPy's own loops may be rounded once less or more; so may the C library's.
    eps = 16 * np.finfo(want.dtype).eps
    with np.errstate(all="ignore"):
        near = np.abs(got - want) <= eps * np.abs(want) + np.finfo(want.dtype).tiny
        equal = (got == want) | (np.isnan(got) & np.isnan(want))
    if want.dtype.kind == "f" and name not in ("minimum", "maximum"):  # of either zero
        equal &= (want != 0) | np.isnan(want) | (np.signbit(got) == np.signbit(want))
    return equal | (near & (want != 0))


def compare(results: list[tuple[str, tuple[np.ndarray, ...], cubed.Array]]) -> None:
    for (name, args, _), got in zip(results, cubed.compute(*(r[2] for r in results)), strict=True):
        want = expected(name, *args)
        types = ", ".join(str(a.dtype) for a in args)
        assert got.dtype == want.dtype, f"{name} of {types}"
        ok = same(got, want, name) | ~usual(name, args, want)
        k = int(np.argmin(ok))
        assert ok.all(), f"{name}{tuple(a[k] for a in args)} of {types}: {got[k]}, {want[k]}"


@pytest.mark.parametrize("dtype", TYPES)
def test_operations_of_one(dtype):
    x = edges(dtype)
    lazy = cubed.from_array(x, chunks=5)
    names = [n for n, row in OPS.items() if row[0] == "1" and accepted(n, dtype)]
    # The C library's for complex numbers have tests of their own.
    names = [n for n in names if x.dtype.kind != "c" or not hasattr(np.emath, NUMPY.get(n, n))]
    compare([(n, (x,), getattr(xp, n)(lazy)) for n in names if n not in ("expm1", "exp")])


@pytest.mark.parametrize("dtype", TYPES)
def test_operations_of_two(dtype):
    results = []
    for other in TYPES:
        x, y = pairs(dtype, other)
        lazy = cubed.from_array(x, chunks=50), cubed.from_array(y, chunks=50)
        kind = np.result_type(dtype, other).kind
        for name, row in OPS.items():
            if row[0] != "2" or not accepted(name, dtype, other):
                continue
            if name == "pow" and kind in "iuc":  # negative exponents are an error of NumPy's
                continue
            if name == "stdtr":  # NumPy has none: test_eofs.py compares it with SciPy
                continue
            results.append((name, (x, y), getattr(xp, name)(*lazy)))
    compare(results)


@pytest.mark.parametrize("dtype", TYPES)
def test_reductions(dtype):
    x = edges(dtype)
    lazy = cubed.from_array(x, chunks=4)
    for name, (kinds, *_) in REDUCTIONS.items():
        composed = ("all", "any", "max", "min", "std", "var")  # made of others for complex numbers
        if x.dtype.kind not in kinds and name not in composed:
            with pytest.raises(TypeError):
                getattr(xp, name)(lazy)
            continue
        got = getattr(xp, name)(lazy).compute()
        with np.errstate(all="ignore"):
            want = np.asarray(getattr(np, name)(x))
        assert got.dtype == want.dtype, name
        np.testing.assert_allclose(got, want, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("name", COMPARISONS)
def test_python_integers_beyond_the_type_are_compared(name):
    operators = dict(zip(COMPARISONS, ["==", "!=", "<", "<=", ">", ">="], strict=True))
    numbers = [-1, 0, 300, -9999, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, -(2**70), 10**400]
    results, wanted = [], []
    for dtype, number in itertools.product(["bool", *INTS], numbers):
        x = edges(dtype)
        lazy = cubed.from_array(x)
        want = [eval(f"{int(v)} {operators[name]} {number}") for v in x]
        results.append(getattr(xp, name)(lazy, number))
        results.append(eval(f"x {operators[name]} y", {"x": lazy, "y": number}))
        wanted += 2 * [want]
    for got, want in zip(cubed.compute(*results), wanted, strict=True):
        assert got.dtype == bool
        np.testing.assert_array_equal(got, want)


def test_python_integers_beyond_the_type_are_divided_as_floats():
    for dtype, number in itertools.product(
        ["uint8", "uint64", "int8"], [-1, 300, -(2**40), 10**30]
    ):
        x = edges(dtype)
        for name in ("divide", "atan2", "hypot", "copysign"):
            got = getattr(xp, name)(cubed.from_array(x), number).compute()
            want = expected(name, x, np.array(float(number)))
            np.testing.assert_allclose(got, want, rtol=1e-14)


def test_python_integers_beyond_the_type_are_no_operands():
    x = cubed.from_array(np.ones(1, "u1"))
    for call in (lambda: x + 300, lambda: xp.maximum(x, -1), lambda: xp.where(x == 1, x, 300)):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            call()


def test_eval_compares_whole_numbers(tmp_path):
    for name, dtype in (("u", "uint8"), ("w", "uint64"), ("i", "int64")):
        cubed.to_zarr(cubed.from_array(edges(dtype)), str(tmp_path / name))
    u, w, i = edges("uint8"), edges("uint64"), edges("int64")
    texts = {
        "u == -9999": u == -9999,
        "300 > u": u < 300,
        "less(u, 300)": u < 300,
        "u / 300": u / 300.0,
        "copysign(w, -1)": -(w.astype("f8")),
        "clip(u, -5, 300)": u,
        "clip(u, -5, 7)": np.clip(u, 0, 7),
        "w < -1": w < -1,
        "expand_dims(w, 0) == expand_dims(i, 1)": w[None] == i[:, None],
        "expand_dims(w, 0) <= expand_dims(i, 1)": w[None] <= i[:, None],
        "isin(u, [1, 300, -1])": np.isin(u, [1, 300, -1]),
        "isin(w, [9007199254740993, -1])": w == 2**53 + 1,
        "arange(9007199254740993, 9007199254740999, 2)": 2**53 + np.array([1, 3, 5]),
        "arange(5, -6, -4)": np.array([5, 1, -3]),
        "arange(3, 3)": np.array([], "i8"),
    }
    script = "; ".join(f"r{k} = {t}" for k, t in enumerate(texts))
    inputs = [a for n in "uwi" for a in ("--in", f"{n}={tmp_path / n}")]
    got = check(run("eval", script, *inputs, "--json", "--progress", "none")).arrays()
    for k, (text, want) in enumerate(texts.items()):
        np.testing.assert_array_equal(got[f"r{k}"], want, err_msg=text)


@pytest.mark.parametrize("types", [("int64", "uint64"), ("uint64", "int64"), ("int8", "uint64")])
def test_integers_are_found_exactly(types):
    x, among = (edges(t) for t in types)
    exact = {int(v) for v in among[::2]}
    for shape in ((-1,), (1, -1)):
        a = cubed.from_array(x.reshape(shape), chunks=4)
        got = xp.isin(a, cubed.from_array(among[::2], chunks=3)).compute()
        np.testing.assert_array_equal(got.ravel(), [int(v) in exact for v in x])
    line = cubed.from_array(among, chunks=4)
    for side in ("left", "right"):
        want = [
            sum(int(v) < int(k) or (side == "right" and int(v) == int(k)) for v in among) for k in x
        ]
        got = xp.searchsorted(line, cubed.from_array(x, chunks=3), side=side).compute()
        np.testing.assert_array_equal(got, want)


def test_python_integers_beyond_the_type_are_searched():
    x = np.array([0, 7, 255], "u1")
    lazy = cubed.from_array(x)
    for number in (-1, 7, 300, 2**63, 10**30, -(10**30)):
        for side in ("left", "right"):
            got = xp.searchsorted(lazy, number, side=side).compute()
            assert got == sum(int(v) < number or (side == "right" and v == number) for v in x)
        np.testing.assert_array_equal(
            xp.isin(lazy, number).compute(), [int(v) == number for v in x]
        )


# --- Functions over the tables --------------------------------------------------------------------


def test_clip():
    x = edges("uint8")
    lazy = cubed.from_array(x, chunks=3)
    limits = [(-5, 300), (-5, 10), (3, None), (None, 2.5), (np.array([-5]), 10), (300, 1.5)]
    for low, high in [*limits, (np.int16(-5), 9), (None, 300), (-1, None), (np.array(300), None)]:
        got, want = xp.clip(lazy, low, high).compute(), np.clip(x, low, high)
        assert got.dtype == want.dtype, (low, high)
        np.testing.assert_array_equal(got, want)
    for low, high in ((300, None), (None, -5)):
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            xp.clip(lazy, low, high)
    both = xp.clip(lazy, 300, cubed.from_array(np.full(x.shape, 400, "u2"))).compute()
    assert both.dtype == np.uint16
    assert (both == 300).all()
    y = np.array([1, 2.5, np.nan], "f4")
    assert xp.clip(cubed.from_array(y), np.float64(2), 3).dtype == np.float64
    assert xp.clip(cubed.from_array(y), 2, 3).dtype == np.float32
    assert xp.clip(cubed.from_array(np.array([True])), 0, 1).dtype == np.int64


def test_isclose_takes_python_numbers_in_the_type_of_the_array():
    values = {"f4": [1, 1.00001, np.nan, np.inf, -1], "u1": [0, 1, 255], "i8": [2**53, 2**62]}
    others = [1.00001, 1, 300, np.inf, np.nan, -1.0, True, 1 + 1e-6j, np.float64(1.00001)]
    for dtype, equal_nan in itertools.product(values, (False, True)):
        x = np.array(values[dtype], dtype)
        lazy = cubed.from_array(x)
        for other in others:
            for a, b in (((lazy, other), (x, other)), ((other, lazy), (other, x))):
                got = xp.isclose(*a, equal_nan=equal_nan).compute()
                want = np.isclose(*b, equal_nan=equal_nan)
                np.testing.assert_array_equal(got, want, err_msg=f"{dtype} {other} {equal_nan}")
    with pytest.raises(TypeError, match="expected at least one array"):
        xp.isclose(1, 2)


def test_array_equal_is_exact():
    a, b = np.array([2**53]), np.array([2**53 + 1])
    assert not np.array_equal(cubed.from_array(a), b, equal_nan=True)
    c = np.array([1, np.nan])
    assert np.array_equal(cubed.from_array(c), c, equal_nan=True)
    assert not np.array_equal(cubed.from_array(c), c)


def test_floats_of_integers():
    for dtype in ("int8", "int64", "uint32", "bool", "float32"):
        x = edges(dtype)
        for f in (np.fabs, np.rint):
            got, want = f(cubed.from_array(x)), f(x.astype("f8" if x.dtype.kind != "f" else dtype))
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got.compute(), want)
    with pytest.raises(TypeError, match="complex"):
        xp.fabs(cubed.from_array(edges("complex64")))


def test_nan_is_dropped_before_a_cast():
    x = np.array([[1.7, np.nan, 3.2], [np.nan, np.nan, -1.5]])
    lazy = cubed.from_array(x, chunks=2)
    for name, dtype, axis in itertools.product(
        ("nansum", "nanprod"), (int, "u1", bool, "f4", "c8"), (None, 0, 1)
    ):
        got = getattr(xp, name)(lazy, axis=axis, dtype=dtype)
        want = np.asarray(getattr(np, name)(np.abs(x) if dtype == "u1" else x, axis, dtype=dtype))
        if dtype == "u1":
            got = getattr(xp, name)(xp.abs(lazy), axis=axis, dtype=dtype)
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got.compute(), want, rtol=1e-6)
    np.testing.assert_array_equal(
        xp.nancumsum(lazy, axis=1, dtype=int).compute(), np.nancumsum(x, axis=1, dtype=int)
    )
    for name in ("nanmean", "nanvar", "nanstd"):
        with pytest.raises(TypeError, match=f"{name}: dtype is int64"):
            getattr(xp, name)(lazy, dtype=int)


def test_gradient_of_unsigned_coordinates():
    f = np.array([5, 2, 1, 7], "u1")
    for dtype in ("u1", "u2", "u8", "i1", "i8"):
        for at in ([9, 7, 3, 1], [1, 2, 4, 8], [8, 6, 4, 2]):
            for order in (1, 2):
                h = np.array(at, dtype)
                want = np.gradient(f, h, edge_order=order)
                for given in (h, cubed.from_array(h)):
                    got = xp.gradient(cubed.from_array(f), given, edge_order=order).compute()
                    np.testing.assert_allclose(got, want, err_msg=f"{dtype} {at}")


def test_correlation_of_one_observation():
    for x, rowvar in (([[1.0], [2.0]], True), ([[1.0, 2.0]], False), ([[1.0, 2.0, 4.0]], True)):
        a = np.array(x)
        with np.errstate(all="ignore"):
            want = np.corrcoef(a if rowvar else a.T)
        got = xp.corrcoef(cubed.from_array(a), rowvar=rowvar).compute()
        assert got.shape == np.shape(want)
        np.testing.assert_allclose(got, want)


def test_arange_is_exact():
    cases = [(2**53 + 1, 2**53 + 12, 3), (-(2**62), 2**62, 2**60), (10, -(2**60), -(2**58)), (0,)]
    for case in [*cases, (2**63 - 3, 2**63), (5, 5), (5, 4), (2, 9, 4)]:
        got = xp.arange(*case).compute()
        assert got.dtype == np.int64
        assert got.tolist() == list(range(*case))
    assert xp.arange(2**64 - 2, 2**64, dtype="u8").compute().tolist() == [2**64 - 2, 2**64 - 1]
    rounded = xp.arange(2**53, 2**53 + 4, dtype="f8").compute()
    np.testing.assert_array_equal(rounded, [float(2**53 + k) for k in range(4)])
    for start, step in ((2.0**53, 1), (2.0**60, 1.0), (2**60, 1.0), (1e300, 1e299), (-1.5, 0.1)):
        got = xp.arange(start, start + 10 * step, step).compute()
        assert len(got) == len(np.arange(start, start + 10 * step, step))
        np.testing.assert_array_equal(got, [start + k * step for k in range(len(got))])
    for arguments in ((0, -3, -1), (300,), (250, 260)):
        x = xp.arange(*arguments, dtype="i2").compute()
        if -1 in x[:2]:
            with pytest.raises(OverflowError, match="-1 is out of bounds for uint8"):
                xp.arange(*arguments, dtype="u1")
        else:
            got = xp.arange(*arguments, dtype="u1").compute()
            np.testing.assert_array_equal(got, x.astype("u1"))
    with pytest.raises(ValueError, match="too many"):
        xp.arange(2**61)


def test_linspace_of_integers_is_rounded_down():
    for start, stop, num in ((0, -10, 4), (0, 10, 4), (-7.5, 3, 6)):
        got = xp.linspace(start, stop, num, dtype=int).compute()
        np.testing.assert_array_equal(got, np.linspace(start, stop, num, dtype=int))


METHODS = [r[1] for r in rows("quantiles.def", "CUBED_QUANTILE")]


@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64"])
def test_types_of_quantiles(dtype):
    assert len(METHODS) == 13
    x = np.arange(12).reshape(3, 4).astype(dtype)
    lazy = cubed.from_array(x, chunks=2)
    qs = [0.3, np.float64(0.3), np.array(0.3), [0.3, 0.5], np.array([[0.3, 0.0]])]
    qs += [np.array([0.25], "f4")] if dtype != "int8" else []
    cases = itertools.product(["quantile", "nanquantile"], METHODS, qs, (None, 0))
    results, wanted = [], []
    for name, method, q, axis in cases:
        results.append(getattr(xp, name)(lazy, q, axis=axis, method=method))
        wanted.append(np.asarray(getattr(np, name)(x, q, axis=axis, method=method)))
        assert results[-1].dtype == wanted[-1].dtype, (name, method, q, axis)
    for got, want in zip(cubed.compute(*results), wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-6)
    assert xp.median(lazy).dtype == np.median(x).dtype
    assert xp.percentile(lazy, [30]).dtype == np.percentile(x, [30]).dtype


def test_digitize_and_products_keep_to_integers():
    x, edges_ = np.arange(8, dtype="i4"), np.array([6, 4, 2], "u1")
    for right in (False, True):
        got = xp.digitize(cubed.from_array(x), edges_, right).compute()
        np.testing.assert_array_equal(got, np.digitize(x, edges_, right))
    with pytest.raises(ValueError, match="neither ascend nor descend"):
        xp.digitize(cubed.from_array(x), np.array([1, 3, 2], "u1"))
    a = np.array([100, 100, 27], "i1")
    got = xp.vdot(cubed.from_array(a), a).compute()
    assert got.dtype == np.int8
    assert got == np.vdot(a, a)
    w = np.array([1, 2, 4], "i2")
    got = xp.average(cubed.from_array(a.astype("f4")), weights=w)
    assert got.dtype == np.average(a.astype("f4"), weights=w).dtype


# --- Assigning ------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", [..., slice(1, 3), 0, [0, 2], np.array([True, False, True, True])])
def test_integers_are_assigned_whole_numbers(key):
    def assign(value):
        x = cubed.zeros((4,), dtype="i1", chunks=2)
        x[key] = value
        return x.compute()

    for value in (float("nan"), np.float64("nan")):
        with pytest.raises(ValueError, match=r"nan\)? cannot be assigned to elements of int8"):
            assign(value)
    for value in (float("inf"), 300, -1e30, 200.5, np.int64(300)):
        with pytest.raises(OverflowError, match="int8"):
            assign(value)
    for value in (-1.5, 7, True, np.float32(3.5)):
        want = np.zeros(4, "i1")
        want[key] = value
        np.testing.assert_array_equal(assign(value), want)
    with pytest.warns(RuntimeWarning, match="not finite"):
        assign(np.array([np.nan]))


# --- Results in memory ----------------------------------------------------------------------------


def test_results_are_what_the_plan_writes():
    x = np.arange(12.0).reshape(3, 4)
    plan = (cubed.from_array(x, chunks=2) * 2).plan()
    good = np.zeros((3, 4))
    plan.execute([good])
    np.testing.assert_array_equal(good, 2 * x)
    frozen = np.zeros((3, 4))
    frozen.flags.writeable = False
    bad = {
        "float32": np.zeros((3, 4), "f4"),
        ">f8": np.zeros((3, 4), ">f8"),
        "shape": np.zeros((4, 3)),
        "has shape": np.zeros(12),
        "strides": np.zeros((3, 4), order="F"),
        "without gaps": np.zeros((6, 4))[::2],
        "C order": np.zeros((3, 4))[::-1],
        "read-only": frozen,
    }
    for text, result in bad.items():
        with pytest.raises(ValueError, match=text) as error:
            plan.execute([result])
        assert "results[0]" in str(error.value)
        assert not result.any()
    with pytest.raises(TypeError, match="list"):
        plan.execute([[1.0]])
    for results in ([], [good, good]):
        with pytest.raises(ValueError, match=f"{len(results)} arrays, expected 1"):
            plan.execute(results)
    both = cubed.from_array(x)
    two = cubed.Plan(((both._x, None), ((both + 1)._x, None)), None, RunOptions(plan.executor))
    with pytest.raises(ValueError, match=r"results\[0\] and results\[1\] share memory"):
        two.execute([good, good])
    for own in (x, x.reshape(-1)[3:].reshape(3, 3)):  # what is read
        with pytest.raises(ValueError, match="memory that the plan reads"):
            xp.flip(cubed.from_array(x)[:, : own.shape[1]]).plan().execute([own])
    empty = np.zeros((0, 4))
    cubed.from_array(x)[:0].plan().execute([empty])
    (cubed.from_array(x)[0, 0]).plan().execute([one := np.zeros(())])
    assert one == x[0, 0]


# --- Names ----------------------------------------------------------------------------------------


def test_names_are_looked_up_whole():
    x = cubed.from_array(np.eye(2))._x
    calls = {
        "elementwise": lambda n: _core.elementwise(n, x),
        "call": lambda n: _core.call(n, x, 0),
        "groupby": lambda n: _core.call("groupby", x, x, n, (0,), 1),
    }
    # One letter each of names that there are, and what only begins as they do.
    for name, call in calls.items():
        for wrong in (
            "nonsense",
            "m",
            "vec",
            "nan",
            "r",
            "u",
            "",
            "sums",
            "eigenvalues",
            "matmuls",
        ):
            with pytest.raises(ValueError, match=f"'{wrong}'") as error:
                call(wrong)
            assert "expected" in str(error.value), name
    plan = cubed.from_array(np.eye(2)).plan()._plan
    with pytest.raises(ValueError, match="format is 'svgs', expected svg, dot, table or inside"):
        plan.draw("svgs")


def test_elements_that_lie_at_odd_addresses():
    """Of packed records: no loop of the engine gets them."""
    records = np.zeros(1000, [("a", "u1"), ("b", "f8"), ("c", "c16"), ("d", "i2")])
    records["b"], records["d"] = np.arange(1000.0), np.arange(1000)
    for name in records.dtype.names:
        a = records[name]
        x = cubed.from_array(a, chunks=300)
        np.testing.assert_array_equal((x + x).compute(), a + a)
        memory = cubed.from_array(a.reshape(10, 100)[::2, ::-3], chunks=4).compute()
        np.testing.assert_array_equal(memory, a.reshape(10, 100)[::2, ::-3])
    before = records["b"]
    assert not before.flags.aligned
    x = cubed.from_array(before)
    before += 1  # of a copy nothing is seen
    assert float(cubed.sum(x).compute()) == 999 * 500
    from cubed import _core

    memory = np.arange(4.0)
    for strides, offset in (((9,), 0), ((8,), 3)):
        with pytest.raises(ValueError, match="elements are not aligned for their type"):
            _core.from_memory(memory, "float64", (2,), strides, offset, None, False)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint16"])
def test_variances_in_integers_are_as_those_of_numpy(dtype):
    """The mean and the squares lose their fractions, too."""
    rng = np.random.default_rng(3)
    for kind in ["float32", "float64", "int16", "uint8", "bool"]:
        for axis in [None, 0, 1, (0, 1)]:
            a = (abs(rng.normal(size=(5, 4))) * 3).astype(kind)
            x = cubed.from_array(a, chunks=(2, 3))
            for ddof in (0, 1):
                expected = np.var(a, axis=axis, dtype=dtype, ddof=ddof)
                got = xp.var(x, axis=axis, dtype=dtype, correction=ddof).compute()
                np.testing.assert_array_equal(got, expected)
                assert got.dtype == dtype
            if dtype == "int64":  # squares do not overflow
                expected = np.std(a, dtype=dtype)
                np.testing.assert_array_equal(xp.std(x, dtype=dtype).compute(), expected)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "uint64"])
def test_means_in_integers_are_as_those_of_numpy(dtype):
    """Sums wrap around before they are divided, with a mask, too."""
    rng = np.random.default_rng(5)
    for kind in ["uint8", "int16", "int64", "float64", "complex128"]:
        a = rng.integers(0, 200 if kind == "uint8" else 500, (7, 5)).astype(kind)
        x, mask = cubed.from_array(a, chunks=(2, 3)), rng.random((7, 5)) < 0.7
        for axis, where in [(None, True), (0, True), ((0, 1), True), (None, mask), (1, mask)]:
            if kind == "complex128" and dtype == "bool":
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # imaginary parts are discarded
                expected = np.mean(a, axis=axis, dtype=dtype, where=where, keepdims=True)
            got = xp.mean(x, axis=axis, dtype=dtype, where=where, keepdims=True)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got.compute(), expected)
            if where is True and kind[:3] in ("uin", "int"):
                np.testing.assert_array_equal(
                    cubed.nanmean(x, axis=axis, dtype=dtype, keepdims=True).compute(), expected
                )
    if dtype != "bool":  # NumPy cannot subtract bools
        for ddof in (0, 1):
            expected = np.var(a.real, dtype=dtype, ddof=ddof, where=mask)
            got = xp.var(xp.real(x), dtype=dtype, correction=ddof, where=mask).compute()
            np.testing.assert_array_equal(got, expected)


def test_spreads_of_complex_numbers_have_the_type_that_is_given():
    a = np.array([1 + 2j, 3 - 1j, 2.5 + 0j], "c8")
    for function in ("var", "std", "nanvar", "nanstd"):
        for dtype in ("f2", "f4", "c8", "c16"):
            expected = getattr(np, function)(a, dtype=dtype)
            got = getattr(cubed, function)(cubed.from_array(a, chunks=2), dtype=dtype)
            assert got.dtype == expected.dtype, (function, dtype)
            np.testing.assert_allclose(got.compute(), expected, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["f2", "u1", ">i4", "c8"])
def test_parts_of_numbers_keep_their_type(dtype):
    """Real arrays are their own real parts: half precision was widened."""
    a = np.array([[1, 0, 3], [0, 5, 6]]).astype(dtype)
    x = cubed.from_array(a, chunks=2)
    for part in (np.real, np.imag):
        got, want = part(x).compute(), part(a)
        assert got.dtype == want.dtype.newbyteorder("=")
        assert got.tolist() == want.tolist()
    assert xp.real(x).dtype == x.real.dtype
