"""Elementwise functions.

Operands are broadcast and promoted by the standard's rules; one of two may be a Python scalar,
which takes the type of the other.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from cubed import _core
from cubed.array import _texts, _times
from cubed.array._array import Array
from cubed.array._operands import is_scalar, is_text, is_time, lazy, operands
from cubed.array_api.data_type_functions import result_type
from cubed.io._create import as_lazy

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]


def _one(name: str, x: Array) -> Array:
    x = lazy(x)
    if x.dtype.kind in "mM" and name in ("isfinite", "isnan"):
        missing = _times.is_nat(x)
        return missing if name == "isnan" else ~missing
    return x._unary(name)


def _two(name: str, x1: Any, x2: Any) -> Array:
    if is_time(x1) or is_time(x2):
        return _times.operate(name, x1, x2)
    if is_text(x1) or is_text(x2):
        return _texts.compare(name, x1, x2)
    xs, spec = operands(x1, x2, name=name)
    return Array._new(_core.elementwise(name, *xs), spec)


def _truth(x: Any) -> Any:
    """Whether elements are not 0; NaN are true."""
    if isinstance(x, np.ndarray) or not (is_scalar(x) or isinstance(x, np.generic)):
        x = as_lazy(x)
        return x if x.dtype.kind == "b" else x.astype(np.bool_)
    return bool(x)


def abs(x: Array, /) -> Array:
    """Absolute values.

    Of x's shape and type; of complex numbers the real type. Lazy; TypeError for bool.
    """
    return _one("abs", x)


def acos(x: Array, /) -> Array:
    """Arc cosines.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("acos", x)


def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosines.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("acosh", x)


def add(x1: Any, x2: Any, /) -> Array:
    """Sums.

    Operands are broadcast and promoted. Lazy.
    """
    return _two("add", x1, x2)


def asin(x: Array, /) -> Array:
    """Arc sines.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("asin", x)


def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sines.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("asinh", x)


def atan(x: Array, /) -> Array:
    """Arc tangents.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("atan", x)


def atan2(x1: Any, x2: Any, /) -> Array:
    """Angles of the points (x2, x1).

    Operands are broadcast and promoted, integers to float64. Lazy; TypeError for bool and complex
    numbers.
    """
    return _two("atan2", x1, x2)


def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangents.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("atanh", x)


def bitwise_and(x1: Any, x2: Any, /) -> Array:
    """Bits that both have.

    Operands are broadcast and promoted. Lazy; TypeError for floats and complex numbers.
    """
    return _two("bitwise_and", x1, x2)


def bitwise_invert(x: Array, /) -> Array:
    """Complements of the bits.

    Of x's shape and type. Lazy; TypeError for floats and complex numbers.
    """
    return _one("bitwise_invert", x)


def bitwise_left_shift(x1: Any, x2: Any, /) -> Array:
    """Bits of x1 shifted x2 to the left.

    Operands are broadcast and promoted. Lazy; TypeError for other types than integers.
    """
    return _two("bitwise_left_shift", x1, x2)


def bitwise_or(x1: Any, x2: Any, /) -> Array:
    """Bits that either has.

    Operands are broadcast and promoted. Lazy; TypeError for floats and complex numbers.
    """
    return _two("bitwise_or", x1, x2)


def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """Bits of x1 shifted x2 to the right.

    Operands are broadcast and promoted. Lazy; TypeError for other types than integers.
    """
    return _two("bitwise_right_shift", x1, x2)


def bitwise_xor(x1: Any, x2: Any, /) -> Array:
    """Bits that one of them has.

    Operands are broadcast and promoted. Lazy; TypeError for floats and complex numbers.
    """
    return _two("bitwise_xor", x1, x2)


def ceil(x: Array, /) -> Array:
    """Smallest integers that are not less.

    Of x's shape and type. Lazy; TypeError for bool and complex numbers.
    """
    return _one("ceil", x)


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """The elements, but none below `min` or above `max`; None is no limit.

    Of the shape and the type that all broadcast and promote to; Python scalars take x's type, and
    a Python integer that no element of that type is beyond is no limit. Lazy; OverflowError for a
    Python integer that all elements are beyond.
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


def conj(x: Array, /) -> Array:
    """Complex conjugates.

    Of x's shape and type. Lazy; TypeError for bool.
    """
    return _one("conj", x)


def copysign(x1: Any, x2: Any, /) -> Array:
    """Magnitudes of x1 with signs of x2.

    Operands are broadcast and promoted, integers to float64. Lazy; TypeError for bool and complex
    numbers.
    """
    return _two("copysign", x1, x2)


def cos(x: Array, /) -> Array:
    """Cosines.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("cos", x)


def cosh(x: Array, /) -> Array:
    """Hyperbolic cosines.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("cosh", x)


def divide(x1: Any, x2: Any, /) -> Array:
    """Quotients.

    Operands are broadcast and promoted, integers to float64. Lazy; TypeError for bool.
    """
    return _two("divide", x1, x2)


def equal(x1: Any, x2: Any, /) -> Array:
    """Whether elements are equal.

    bool; operands are broadcast and promoted. Lazy.
    """
    return _two("equal", x1, x2)


def exp(x: Array, /) -> Array:
    """Exponentials.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("exp", x)


def expm1(x: Array, /) -> Array:
    """Exponentials minus 1.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("expm1", x)


def floor(x: Array, /) -> Array:
    """Largest integers that are not greater.

    Of x's shape and type. Lazy; TypeError for bool and complex numbers.
    """
    return _one("floor", x)


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Quotients rounded down.

    Operands are broadcast and promoted. Lazy; TypeError for bool and complex numbers.
    """
    return _two("floor_divide", x1, x2)


def greater(x1: Any, x2: Any, /) -> Array:
    """Whether x1 > x2.

    bool; operands are broadcast and promoted. Lazy; TypeError for complex numbers.
    """
    return _two("greater", x1, x2)


def greater_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 >= x2.

    bool; operands are broadcast and promoted. Lazy; TypeError for complex numbers.
    """
    return _two("greater_equal", x1, x2)


def hypot(x1: Any, x2: Any, /) -> Array:
    """Lengths of the vectors (x1, x2).

    Operands are broadcast and promoted, integers to float64. Lazy; TypeError for bool and complex
    numbers.
    """
    return _two("hypot", x1, x2)


def imag(x: Array, /) -> Array:
    """Imaginary parts.

    Of x's shape and type; of complex numbers the real type. Lazy; TypeError for bool.
    """
    return _one("imag", x)


def isfinite(x: Array, /) -> Array:
    """Whether elements are finite.

    bool, of x's shape. Lazy.
    """
    return _one("isfinite", x)


def isinf(x: Array, /) -> Array:
    """Whether elements are infinite.

    bool, of x's shape. Lazy.
    """
    return _one("isinf", x)


def isnan(x: Array, /) -> Array:
    """Whether elements are NaN.

    bool, of x's shape. Lazy.
    """
    return _one("isnan", x)


def less(x1: Any, x2: Any, /) -> Array:
    """Whether x1 < x2.

    bool; operands are broadcast and promoted. Lazy; TypeError for complex numbers.
    """
    return _two("less", x1, x2)


def less_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 <= x2.

    bool; operands are broadcast and promoted. Lazy; TypeError for complex numbers.
    """
    return _two("less_equal", x1, x2)


def log(x: Array, /) -> Array:
    """Natural logarithms.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("log", x)


def log10(x: Array, /) -> Array:
    """Logarithms to base 10.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("log10", x)


def log1p(x: Array, /) -> Array:
    """Natural logarithms of 1 plus the elements.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("log1p", x)


def log2(x: Array, /) -> Array:
    """Logarithms to base 2.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("log2", x)


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """Log(exp(x1) + exp(x2)), without overflow.

    Operands are broadcast and promoted, integers to float64. Lazy; TypeError for bool and complex
    numbers.
    """
    return _two("logaddexp", x1, x2)


def logical_and(x1: Any, x2: Any, /) -> Array:
    """Whether both are true.

    bool; operands are broadcast and promoted. Lazy.
    """
    return _two("logical_and", _truth(x1), _truth(x2))


def logical_not(x: Array, /) -> Array:
    """Whether elements are false.

    bool, of x's shape. Lazy.
    """
    return _one("logical_not", _truth(lazy(x)))


def logical_or(x1: Any, x2: Any, /) -> Array:
    """Whether either is true.

    bool; operands are broadcast and promoted. Lazy.
    """
    return _two("logical_or", _truth(x1), _truth(x2))


def logical_xor(x1: Any, x2: Any, /) -> Array:
    """Whether one of them is true.

    bool; operands are broadcast and promoted. Lazy.
    """
    return _two("logical_xor", _truth(x1), _truth(x2))


def maximum(x1: Any, x2: Any, /) -> Array:
    """Larger elements; NaN where either is NaN.

    Operands are broadcast and promoted. Lazy; TypeError for complex numbers.
    """
    return _two("maximum", x1, x2)


def minimum(x1: Any, x2: Any, /) -> Array:
    """Smaller elements; NaN where either is NaN.

    Operands are broadcast and promoted. Lazy; TypeError for complex numbers.
    """
    return _two("minimum", x1, x2)


def multiply(x1: Any, x2: Any, /) -> Array:
    """Products.

    Operands are broadcast and promoted. Lazy.
    """
    return _two("multiply", x1, x2)


def negative(x: Array, /) -> Array:
    """Negatives.

    Of x's shape and type. Lazy; TypeError for bool.
    """
    return _one("negative", x)


def nextafter(x1: Any, x2: Any, /) -> Array:
    """Next numbers from x1 towards x2.

    Operands are broadcast and promoted, integers to float64. Lazy; TypeError for bool and complex
    numbers.
    """
    return _two("nextafter", x1, x2)


def not_equal(x1: Any, x2: Any, /) -> Array:
    """Whether elements differ.

    bool; operands are broadcast and promoted. Lazy.
    """
    return _two("not_equal", x1, x2)


def positive(x: Array, /) -> Array:
    """The elements as they are.

    Of x's shape and type. Lazy; TypeError for bool.
    """
    return _one("positive", x)


def pow(x1: Any, x2: Any, /) -> Array:
    """Powers.

    Operands are broadcast and promoted. Lazy; TypeError for bool.
    """
    return _two("pow", x1, x2)


def real(x: Array, /) -> Array:
    """Real parts.

    Of x's shape and type; of complex numbers the real type. Lazy; TypeError for bool.
    """
    return _one("real", x)


def reciprocal(x: Array, /) -> Array:
    """Reciprocals; of integers without their fractions, and 0 of 0.

    Of x's shape and type. Lazy; TypeError for bool.
    """
    return _one("reciprocal", x)


def remainder(x1: Any, x2: Any, /) -> Array:
    """Remainders, with the sign of x2.

    Operands are broadcast and promoted. Lazy; TypeError for bool and complex numbers.
    """
    return _two("remainder", x1, x2)


def round(x: Array, /, *, decimals: int = 0) -> Array:
    """Nearest integers, even ones of two; with `decimals`, nearest multiples of 10**-decimals.

    Of x's shape and type. Lazy; TypeError for bool.
    """
    x = lazy(x)
    if decimals == 0:
        return _one("round", x)
    if x.dtype.kind not in "fc":
        if decimals > 0:
            return _one("positive", x)
        unit = 10**-decimals
        scaled = _two("multiply", _one("round", _two("divide", x, float(unit))), float(unit))
        return Array._new(_core.astype(scaled._x, x._x.dtype), x._spec)
    unit = 10.0 ** builtins.abs(decimals)
    up, down = ("multiply", "divide") if decimals > 0 else ("divide", "multiply")
    return _two(down, _one("round", _two(up, x, unit)), unit)


def sign(x: Array, /) -> Array:
    """Signs: -1, 0, 1; of complex numbers the direction.

    Of x's shape and type. Lazy; TypeError for bool.
    """
    return _one("sign", x)


def signbit(x: Array, /) -> Array:
    """Whether the sign bit is set.

    bool, of x's shape. Lazy; TypeError for other types than floats.
    """
    return _one("signbit", x)


def sin(x: Array, /) -> Array:
    """Sines.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("sin", x)


def sinh(x: Array, /) -> Array:
    """Hyperbolic sines.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("sinh", x)


def sqrt(x: Array, /) -> Array:
    """Square roots.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("sqrt", x)


def square(x: Array, /) -> Array:
    """Squares.

    Of x's shape and type. Lazy; TypeError for bool.
    """
    return _one("square", x)


def subtract(x1: Any, x2: Any, /) -> Array:
    """Differences.

    Operands are broadcast and promoted. Lazy; TypeError for bool.
    """
    return _two("subtract", x1, x2)


def tan(x: Array, /) -> Array:
    """Tangents.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("tan", x)


def tanh(x: Array, /) -> Array:
    """Hyperbolic tangents.

    Of x's shape: float64 for integers, else x's type. Lazy; TypeError for bool.
    """
    return _one("tanh", x)


def trunc(x: Array, /) -> Array:
    """Integers towards 0.

    Of x's shape and type. Lazy; TypeError for bool and complex numbers.
    """
    return _one("trunc", x)
