"""Elementwise functions.

Operands are broadcast and promoted by the standard's rules; one of two may be a Python scalar,
which takes the type of the other.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import is_scalar, is_time, lazy, operands
from cubed.array_api.data_type_functions import result_type
from cubed.base._docs import F, documented
from cubed.base._dtypes import kind_of
from cubed.io._create import as_lazy

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan",
    "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign",
    "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip


_OPERATIONS = _core.operations()

#: By number of operands and rule of the result's type, what docstrings say of results.
_RESULTS = {
    (1, "BOOL"): "bool, of x's shape.",
    (1, "FLOAT"): "Of x's shape: float64 for integers, else x's type.",
    (1, "REAL"): "Of x's shape and type; of complex numbers the real type.",
    (1, "SAME"): "Of x's shape and type.",
    (2, "BOOL"): "bool; operands are broadcast and promoted.",
    (2, "FLOAT"): "Operands are broadcast and promoted, integers to float64.",
    (2, "SAME"): "Operands are broadcast and promoted.",
}

#: By kinds of operands that an operation takes, what docstrings say of those that are refused.
_REFUSED = {
    "b": "",  # others are made bool before
    "biu": "TypeError: For floats and complex numbers.",
    "biuf": "TypeError: For complex numbers.",
    "biufc": "",
    "f": "TypeError: For other types than floats.",
    "iu": "TypeError: For other types than integers.",
    "iuf": "TypeError: For bool and complex numbers.",
    "iufc": "TypeError: For bool.",
}


def _operation(operands: str, result: str) -> Callable[[F], F]:
    """Completes the docstring of one of the engine's operations, by its row in ``ops.def``, with an
    example: its operands, of which lists become arrays, and its result.
    """

    def complete(function: F) -> F:
        arity, kinds, rule = _OPERATIONS[function.__name__]
        arrays = operands.replace("[", "cubed.asarray([").replace("]", "])")
        return documented(
            returns=_RESULTS[arity, rule] + " Lazy.",
            raises=_REFUSED[kinds],
            example=f">>> cubed.{function.__name__}({arrays}).compute()\narray({result})",
        )(function)

    return complete


def _one(name: str, x: Array) -> Array:
    return lazy(x)._unary(name)


def _two(name: str, x1: Any, x2: Any) -> Array:
    xs, spec = operands(x1, x2, name=name)
    return Array._new(_core.elementwise(name, *xs), spec)


def _truth(x: Any) -> Any:
    """Whether elements are not 0; NaN are true."""
    if isinstance(x, np.ndarray) or not (is_scalar(x) or isinstance(x, np.generic)):
        x = as_lazy(x)
        return x if x.dtype.kind == "b" else x.astype(np.bool_)
    return bool(x)


@_operation("[-1.5, 0.0, 2.0]", "[1.5, 0. , 2. ]")
def abs(x: Array, /) -> Array:
    """Absolute value of each element."""
    return _one("abs", x)


@_operation("[0.0, 0.5]", "[1.57079633, 1.04719755]")
def acos(x: Array, /) -> Array:
    """Inverse cosine of each element, in radians."""
    return _one("acos", x)


@_operation("[1.0, 2.0]", "[0.       , 1.3169579]")
def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosine of each element."""
    return _one("acosh", x)


@_operation("[7, 8, 9], 2", "[ 9, 10, 11]")
def add(x1: Any, x2: Any, /) -> Array:
    """Sum of two arrays, element by element."""
    return _two("add", x1, x2)


@_operation("[0.0, 0.5]", "[0.        , 0.52359878]")
def asin(x: Array, /) -> Array:
    """Inverse sine of each element, in radians."""
    return _one("asin", x)


@_operation("[0.0, 1.0]", "[0.        , 0.88137359]")
def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sine of each element."""
    return _one("asinh", x)


@_operation("[0.0, 0.5]", "[0.        , 0.46364761]")
def atan(x: Array, /) -> Array:
    """Inverse tangent of each element, in radians."""
    return _one("atan", x)


@_operation("[1.0, -1.0], [1.0, 1.0]", "[ 0.78539816, -0.78539816]")
def atan2(x1: Any, x2: Any, /) -> Array:
    """Angle of the point (x2, x1), in radians and in its quadrant."""
    return _two("atan2", x1, x2)


@_operation("[0.0, 0.5]", "[0.        , 0.54930614]")
def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangent of each element."""
    return _one("atanh", x)


@_operation("[12, 10], 6", "[4, 2]")
def bitwise_and(x1: Any, x2: Any, /) -> Array:
    """Bitwise AND of two arrays, element by element."""
    return _two("bitwise_and", x1, x2)


@_operation("[1, -2]", "[-2,  1]")
def bitwise_invert(x: Array, /) -> Array:
    """Bitwise NOT of each element."""
    return _one("bitwise_invert", x)


@_operation("[4, 8], 2", "[16, 32]")
def bitwise_left_shift(x1: Any, x2: Any, /) -> Array:
    """Bits of x1 shifted to the left by x2, element by element."""
    return _two("bitwise_left_shift", x1, x2)


@_operation("[12, 10], 6", "[14, 14]")
def bitwise_or(x1: Any, x2: Any, /) -> Array:
    """Bitwise OR of two arrays, element by element."""
    return _two("bitwise_or", x1, x2)


@_operation("[4, 8], 2", "[1, 2]")
def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """Bits of x1 shifted to the right by x2, element by element."""
    return _two("bitwise_right_shift", x1, x2)


@_operation("[12, 10], 6", "[10, 12]")
def bitwise_xor(x1: Any, x2: Any, /) -> Array:
    """Bitwise XOR of two arrays, element by element."""
    return _two("bitwise_xor", x1, x2)


@_operation("[-1.5, 0.2, 2.5]", "[-1.,  1.,  3.]")
def ceil(x: Array, /) -> Array:
    """Each element rounded up to an integer."""
    return _one("ceil", x)


@documented()
def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Each element limited to the range from `min` to `max`; None is no limit.

    Parameters
    ----------
    min : array_like or None
        Lower limit.
    max : array_like or None
        Upper limit.

    Returns
    -------
    Array
        Of the shape and the type that all broadcast and promote to; Python scalars take x's type,
        and a Python integer that no element of that type is beyond is no limit. Lazy.

    Raises
    ------
    OverflowError
        For a Python integer that all elements are beyond.

    Examples
    --------
    >>> cubed.clip(cubed.asarray([-3, 1, 7]), 0, 5).compute()
    array([0, 1, 5])
    """
    x = lazy(x)
    if x.dtype.kind in "iu":
        info = np.iinfo(x.dtype)
        min = None if type(min) is int and min <= info.min else min
        max = None if type(max) is int and max >= info.max else max
    limits = [v if is_scalar(v) else as_lazy(v) for v in (min, max) if v is not None]
    if not any(is_time(v) for v in (x, *limits)):
        x = x.astype(result_type(x, *limits))
    out = x
    if min is not None:
        out = _two("maximum", out, min)
    if max is not None:
        out = _two("minimum", out, max)
    return x.copy() if out is x else out


@_operation("[1 + 2j, 3.0]", "[1.-2.j, 3.-0.j]")
def conj(x: Array, /) -> Array:
    """Complex conjugate of each element."""
    return _one("conj", x)


@_operation("[1.0, 2.0], [-1.0, 1.0]", "[-1.,  2.]")
def copysign(x1: Any, x2: Any, /) -> Array:
    """Magnitude of x1 with the sign of x2, element by element."""
    return _two("copysign", x1, x2)


@_operation("[0.0, 1.0]", "[1.        , 0.54030231]")
def cos(x: Array, /) -> Array:
    """Cosine of each element, in radians."""
    return _one("cos", x)


@_operation("[0.0, 1.0]", "[1.        , 1.54308063]")
def cosh(x: Array, /) -> Array:
    """Hyperbolic cosine of each element."""
    return _one("cosh", x)


@_operation("[1.0, 2.0], 4", "[0.25, 0.5 ]")
def divide(x1: Any, x2: Any, /) -> Array:
    """Quotient x1 / x2, element by element."""
    return _two("divide", x1, x2)


@_operation("[1, 2, 3], 2", "[False,  True, False]")
def equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 == x2, element by element."""
    return _two("equal", x1, x2)


@_operation("[0.0, 1.0]", "[1.        , 2.71828183]")
def exp(x: Array, /) -> Array:
    """Exponential of each element."""
    return _one("exp", x)


@_operation("[0.0, 1.0]", "[0.        , 1.71828183]")
def expm1(x: Array, /) -> Array:
    """Exponential of each element, minus 1."""
    return _one("expm1", x)


@_operation("[-1.5, 0.2, 2.5]", "[-2.,  0.,  2.]")
def floor(x: Array, /) -> Array:
    """Each element rounded down to an integer."""
    return _one("floor", x)


@_operation("[7, 8, 9], 2", "[3, 4, 4]")
def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Quotient x1 / x2 rounded down to an integer, element by element."""
    return _two("floor_divide", x1, x2)


@_operation("[1, 2, 3], 2", "[False, False,  True]")
def greater(x1: Any, x2: Any, /) -> Array:
    """Whether x1 > x2, element by element."""
    return _two("greater", x1, x2)


@_operation("[1, 2, 3], 2", "[False,  True,  True]")
def greater_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 >= x2, element by element."""
    return _two("greater_equal", x1, x2)


@_operation("[3.0, 5.0], [4.0, 12.0]", "[ 5., 13.]")
def hypot(x1: Any, x2: Any, /) -> Array:
    """Length of the vector (x1, x2), element by element."""
    return _two("hypot", x1, x2)


@_operation("[1 + 2j, 3.0]", "[2., 0.]")
def imag(x: Array, /) -> Array:
    """Imaginary part of each element."""
    x = lazy(x)
    return _one("imag", x) if x.dtype.kind in "bc" else x.imag


@_operation("[1.0, float('inf'), float('nan')]", "[ True, False, False]")
def isfinite(x: Array, /) -> Array:
    """Whether each element is finite: neither infinite nor NaN."""
    return _one("isfinite", x)


@_operation("[1.0, float('inf'), float('nan')]", "[False,  True, False]")
def isinf(x: Array, /) -> Array:
    """Whether each element is infinite."""
    return _one("isinf", x)


@_operation("[1.0, float('inf'), float('nan')]", "[False, False,  True]")
def isnan(x: Array, /) -> Array:
    """Whether each element is NaN."""
    return _one("isnan", x)


@_operation("[1, 2, 3], 2", "[ True, False, False]")
def less(x1: Any, x2: Any, /) -> Array:
    """Whether x1 < x2, element by element."""
    return _two("less", x1, x2)


@_operation("[1, 2, 3], 2", "[ True,  True, False]")
def less_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 <= x2, element by element."""
    return _two("less_equal", x1, x2)


@_operation("[1.0, 100.0]", "[0.        , 4.60517019]")
def log(x: Array, /) -> Array:
    """Natural logarithm of each element."""
    return _one("log", x)


@_operation("[1.0, 100.0]", "[0., 2.]")
def log10(x: Array, /) -> Array:
    """Logarithm to base 10 of each element."""
    return _one("log10", x)


@_operation("[0.0, 1.0]", "[0.        , 0.69314718]")
def log1p(x: Array, /) -> Array:
    """Natural logarithm of 1 plus each element."""
    return _one("log1p", x)


@_operation("[1.0, 100.0]", "[0.        , 6.64385619]")
def log2(x: Array, /) -> Array:
    """Logarithm to base 2 of each element."""
    return _one("log2", x)


@_operation("[0.0, 1.0], [0.0, 2.0]", "[0.69314718, 2.31326169]")
def logaddexp(x1: Any, x2: Any, /) -> Array:
    """Logarithm of exp(x1) + exp(x2), without overflow, element by element."""
    return _two("logaddexp", x1, x2)


@_operation("[True, True], [True, False]", "[ True, False]")
def logical_and(x1: Any, x2: Any, /) -> Array:
    """Whether both x1 and x2 are true, element by element."""
    return _two("logical_and", _truth(x1), _truth(x2))


@_operation("[True, False]", "[False,  True]")
def logical_not(x: Array, /) -> Array:
    """Whether each element is false."""
    return _one("logical_not", _truth(lazy(x)))


@_operation("[True, True], [True, False]", "[ True,  True]")
def logical_or(x1: Any, x2: Any, /) -> Array:
    """Whether x1 or x2 is true, element by element."""
    return _two("logical_or", _truth(x1), _truth(x2))


@_operation("[True, True], [True, False]", "[False,  True]")
def logical_xor(x1: Any, x2: Any, /) -> Array:
    """Whether one of x1 and x2 is true and the other is not, element by element."""
    return _two("logical_xor", _truth(x1), _truth(x2))


@_operation("[1.0, 5.0], [3.0, float('nan')]", "[ 3., nan]")
def maximum(x1: Any, x2: Any, /) -> Array:
    """Larger of two elements; NaN where either is NaN."""
    return _two("maximum", x1, x2)


@_operation("[1.0, 5.0], [3.0, float('nan')]", "[ 1., nan]")
def minimum(x1: Any, x2: Any, /) -> Array:
    """Smaller of two elements; NaN where either is NaN."""
    return _two("minimum", x1, x2)


@_operation("[7, 8, 9], 2", "[14, 16, 18]")
def multiply(x1: Any, x2: Any, /) -> Array:
    """Product of two arrays, element by element."""
    return _two("multiply", x1, x2)


@_operation("[1, -2]", "[-1,  2]")
def negative(x: Array, /) -> Array:
    """Negative of each element."""
    return _one("negative", x)


@_operation("[1.0], 2.0", "[1.]")
def nextafter(x1: Any, x2: Any, /) -> Array:
    """Next number that the type has from x1 towards x2, element by element."""
    return _two("nextafter", x1, x2)


@_operation("[1, 2, 3], 2", "[ True, False,  True]")
def not_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 != x2, element by element."""
    return _two("not_equal", x1, x2)


@_operation("[1, -2]", "[ 1, -2]")
def positive(x: Array, /) -> Array:
    """Each element as it is."""
    return _one("positive", x)


@_operation("[1.0, 2.0, 3.0], 2", "[1., 4., 9.]")
def pow(x1: Any, x2: Any, /) -> Array:
    """x1 to the power of x2, element by element."""
    return _two("pow", x1, x2)


@_operation("[1 + 2j, 3.0]", "[1., 3.]")
def real(x: Array, /) -> Array:
    """Real part of each element."""
    x = lazy(x)
    return _one("real", x) if x.dtype.kind in "bc" else x.real


@_operation("[2.0, 4.0]", "[0.5 , 0.25]")
def reciprocal(x: Array, /) -> Array:
    """Reciprocal of each element; of integers without its fraction, and 0 of 0."""
    return _one("reciprocal", x)


@_operation("[7, 8, 9], 2", "[1, 0, 1]")
def remainder(x1: Any, x2: Any, /) -> Array:
    """Remainder of x1 / x2, with the sign of x2, element by element."""
    return _two("remainder", x1, x2)


@_operation("[0.5, 1.5, 2.25], decimals=1", "[0.5, 1.5, 2.2]")
def round(x: Array, /, decimals: int = 0) -> Array:
    """Each element rounded to the nearest integer, halves to the even one; with `decimals` to the
    nearest multiple of 10**-decimals.
    """
    x = lazy(x)
    if decimals == 0:
        return _one("round", x)
    if kind_of(x.dtype) not in "fc":
        if decimals > 0:
            return _one("positive", x)
        unit = 10**-decimals
        scaled = _two("multiply", _one("round", _two("divide", x, float(unit))), float(unit))
        return Array._new(_core.astype(scaled._x, x._x.dtype), x._spec)
    unit = 10.0 ** builtins.abs(decimals)
    up, down = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return _two(down, _one("round", _two(up, x, unit)), unit)


@_operation("[-1.5, 0.0, 2.0]", "[-1.,  0.,  1.]")
def sign(x: Array, /) -> Array:
    """Sign of each element: -1, 0 or 1; of complex numbers the direction."""
    return _one("sign", x)


@_operation("[-0.0, 2.0]", "[ True, False]")
def signbit(x: Array, /) -> Array:
    """Whether the sign bit of each element is set."""
    return _one("signbit", x)


@_operation("[0.0, 1.0]", "[0.        , 0.84147098]")
def sin(x: Array, /) -> Array:
    """Sine of each element, in radians."""
    return _one("sin", x)


@_operation("[0.0, 1.0]", "[0.        , 1.17520119]")
def sinh(x: Array, /) -> Array:
    """Hyperbolic sine of each element."""
    return _one("sinh", x)


@_operation("[1.0, 100.0]", "[ 1., 10.]")
def sqrt(x: Array, /) -> Array:
    """Square root of each element."""
    return _one("sqrt", x)


@_operation("[1, -2]", "[1, 4]")
def square(x: Array, /) -> Array:
    """Square of each element."""
    return _one("square", x)


@_operation("[7, 8, 9], 2", "[5, 6, 7]")
def subtract(x1: Any, x2: Any, /) -> Array:
    """Difference x1 - x2, element by element."""
    return _two("subtract", x1, x2)


@_operation("[0.0, 1.0]", "[0.        , 1.55740772]")
def tan(x: Array, /) -> Array:
    """Tangent of each element, in radians."""
    return _one("tan", x)


@_operation("[0.0, 1.0]", "[0.        , 0.76159416]")
def tanh(x: Array, /) -> Array:
    """Hyperbolic tangent of each element."""
    return _one("tanh", x)


@_operation("[-1.5, 0.2, 2.5]", "[-1.,  0.,  2.]")
def trunc(x: Array, /) -> Array:
    """Each element rounded towards 0 to an integer."""
    return _one("trunc", x)
