"""Compares every elementwise function, for every type that it accepts, with NumPy, in one run per
type.
"""

import numpy as np
import pytest
from conftest import check, run

import zarr

INTS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float32", "float64"]
COMPLEX = ["complex64", "complex128"]

TRANSCENDENTAL = (
    "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh expm1 log1p log2 log10 exp log"
).split()
NUMPY = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh"}
NUMPY |= {"acosh": "arccosh", "atanh": "arctanh", "atan2": "arctan2", "pow": "power"}
NUMPY |= {"bitwise_left_shift": "left_shift", "bitwise_right_shift": "right_shift"}
UNARY = {
    "b": ["isfinite", "isinf", "isnan", "logical_not", "bitwise_invert"],
    "i": "floor ceil trunc round sign positive abs square bitwise_invert isfinite isinf "
    "conj".split(),
    "f": "floor ceil trunc round sign positive abs square signbit isfinite isinf isnan "
    "reciprocal sqrt real imag".split(),
    "c": "round sign positive abs square isfinite isinf isnan reciprocal sqrt conj real "
    "imag".split(),
}
BINARY = {
    "b": ["logical_xor", "logical_and", "bitwise_and", "bitwise_or", "bitwise_xor", "equal"],
    "i": "floor_divide remainder bitwise_and bitwise_or bitwise_xor bitwise_left_shift "
    "bitwise_right_shift minimum maximum add subtract multiply divide less".split(),
    "f": "floor_divide remainder atan2 hypot logaddexp copysign nextafter minimum maximum "
    "divide pow greater".split(),
    "c": ["add", "multiply", "divide", "equal", "not_equal"],
}
OPERATORS = {"//": "floor_divide", "%": "remainder", "^": "bitwise_xor", "<<": "bitwise_left_shift"}


def values(dtype: str, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    n = 400
    if dtype.kind == "b":
        return rng.random(n) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        x = rng.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
        x[::2] = rng.integers(0 if dtype.kind == "u" else -9, 10, x[::2].size).astype(dtype)
        x[:4] = [info.min, info.max, 0, 1]
        return x
    x = (rng.normal(size=n) * 10 ** rng.uniform(-3, 3, n)).astype(dtype)
    if dtype.kind == "c":
        return (x + 1j * rng.normal(size=n)).astype(dtype)
    x[:9] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, 2.5]
    return rng.permutation(x)


def expected(name, *args):
    with np.errstate(all="ignore"):
        if name == "sign" and args[0].dtype.kind == "c":
            size = np.abs(args[0])
            return np.where(size == 0, 0, args[0] / size)
        if name == "floor_divide" and args[0].dtype.kind == "f":
            # The standard prefers the floor of the quotient where NumPy has Python's NaN or -1.
            quotient = args[0] / args[1]
            infinite = np.isinf(args[0]) | np.isinf(args[1])
            return np.where(infinite, quotient, np.floor_divide(*args))
        return getattr(np, NUMPY.get(name, name))(*args)


@pytest.mark.parametrize("dtype", ["bool", *INTS, *FLOATS, *COMPLEX])
def test_equals_numpy(tmp_path, dtype):
    x, y = values(dtype, 1), values(dtype, 2)
    kind = "i" if x.dtype.kind == "u" else x.dtype.kind
    if kind == "i":  # NumPy leaves shifts by the width or more undefined
        shift = np.minimum(np.abs(y.astype("f8")), 8 * x.dtype.itemsize - 1).astype(x.dtype)
        shift = np.where(shift < 0, 0, shift).astype(x.dtype)
    for name, a in (("x", x), ("y", y)):
        zarr.create_array(tmp_path / name, shape=a.shape, chunks=(64,), dtype=a.dtype)[...] = a
    cases = {}
    for name in UNARY[kind] + (TRANSCENDENTAL if kind in "fc" else []):
        cases[name] = (f"{name}(x)", (x,))
    for name in BINARY[kind]:
        if name.endswith("shift"):
            continue
        cases[name] = (f"{name}(x, y)", (x, y))
    if kind == "i":
        zarr.create_array(tmp_path / "s", shape=y.shape, chunks=(64,), dtype=y.dtype)[...] = shift
        for name in ("bitwise_left_shift", "bitwise_right_shift"):
            cases[name] = (f"{name}(x, s)", (x, shift))
    text = "; ".join(f"r{i} = {t}" for i, (t, _) in enumerate(cases.values()))
    args = ["--in", f"x={tmp_path / 'x'}", "--in", f"y={tmp_path / 'y'}"]
    if kind == "i":
        args += ["--in", f"s={tmp_path / 's'}"]
    got = check(run("eval", text, *args, "--json", "--progress", "none")).arrays()
    for i, (name, (text, operands)) in enumerate(cases.items()):
        want, result = expected(name, *operands), got[f"r{i}"]
        if name == "divide" and kind == "i":
            want = want.astype("f8")  # the standard leaves it open; NumPy has smaller floats
        if name in ("isfinite", "isinf") and kind in "bi":
            want = want.astype(bool)
        assert result.dtype == want.dtype, text
        if want.dtype.kind in "fc":
            double = want.dtype in (np.float64, np.complex128)
            rtol = (1e-13 if kind == "c" else 1e-15) if double else 1e-5
            np.testing.assert_allclose(result, want, rtol=4 * rtol, atol=rtol, err_msg=text)
            if kind == "f" and name not in ("minimum", "maximum"):
                zero = want == 0
                np.testing.assert_array_equal(
                    np.signbit(result[zero]), np.signbit(want[zero]), err_msg=text
                )
        else:
            np.testing.assert_array_equal(result, want, err_msg=text)


def test_operators_are_the_functions(tmp_path):
    x, y = values("int32", 3), np.abs(values("int8", 4).astype("i4")) % 31
    for name, a in (("x", x), ("y", y)):
        zarr.create_array(tmp_path / name, shape=a.shape, chunks=(50,), dtype="i4")[...] = a
    args = ["--in", f"x={tmp_path / 'x'}", "--in", f"y={tmp_path / 'y'}", "--json"]
    for operator, name in OPERATORS.items():
        result = check(run("eval", f"x {operator} y", *args, "--progress", "none")).array()
        np.testing.assert_array_equal(result, expected(name, x, y), err_msg=operator)
    both = check(run("eval", "x & y | x ^ ~y << 2 >> 1", *args, "--progress", "none")).array()
    np.testing.assert_array_equal(both, x & y | x ^ ~y << 2 >> 1)


def test_types_without_a_function_are_refused(tmp_path):
    zarr.create_array(tmp_path / "x", shape=(3,), chunks=(3,), dtype="f8")[...] = 1
    for text, name in [("x & x", "bitwise_and"), ("~x", "bitwise_invert"), ("x << 1", "shift")]:
        result = run("eval", text, "--in", f"x={tmp_path / 'x'}")
        assert result.code == 1
        assert name in result.err and "not defined for float64" in result.err
