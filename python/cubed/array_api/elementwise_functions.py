"""Elementwise functions.

Operands are broadcast and promoted by the standard's rules; one of two may be a Python scalar,
which takes the type of the other.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from cubed import _core
from cubed.array import _texts
from cubed.array._array import Array
from cubed.array._operands import is_scalar, is_text, is_time, lazy, operands
from cubed.array_api.data_type_functions import result_type
from cubed.base._docs import F, documented
from cubed.base._dtypes import kind_of
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


def _operation(function: F) -> F:
    """Completes the docstring of one of the engine's operations, by its row in ``ops.def``."""
    arity, kinds, result = _OPERATIONS[function.__name__]
    returns = _RESULTS[arity, result] + " Lazy."
    return documented(returns=returns, raises=_REFUSED[kinds])(function)


def _one(name: str, x: Array) -> Array:
    return lazy(x)._unary(name)


def _two(name: str, x1: Any, x2: Any) -> Array:
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


@_operation
def abs(x: Array, /) -> Array:
    """Absolute value of each element.

    >>> cubed.abs(cubed.asarray([-1.5, 0.0, 2.0])).compute()
    array([1.5, 0. , 2. ])
    """
    return _one("abs", x)


@_operation
def acos(x: Array, /) -> Array:
    """Inverse cosine of each element, in radians.

    >>> cubed.acos(cubed.asarray([0.0, 0.5])).compute()
    array([1.57079633, 1.04719755])
    """
    return _one("acos", x)


@_operation
def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosine of each element.

    >>> cubed.acosh(cubed.asarray([1.0, 2.0])).compute()
    array([0.       , 1.3169579])
    """
    return _one("acosh", x)


@_operation
def add(x1: Any, x2: Any, /) -> Array:
    """Sum of two arrays, element by element.

    >>> cubed.add(cubed.asarray([7, 8, 9]), 2).compute()
    array([ 9, 10, 11])
    """
    return _two("add", x1, x2)


@_operation
def asin(x: Array, /) -> Array:
    """Inverse sine of each element, in radians.

    >>> cubed.asin(cubed.asarray([0.0, 0.5])).compute()
    array([0.        , 0.52359878])
    """
    return _one("asin", x)


@_operation
def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sine of each element.

    >>> cubed.asinh(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 0.88137359])
    """
    return _one("asinh", x)


@_operation
def atan(x: Array, /) -> Array:
    """Inverse tangent of each element, in radians.

    >>> cubed.atan(cubed.asarray([0.0, 0.5])).compute()
    array([0.        , 0.46364761])
    """
    return _one("atan", x)


@_operation
def atan2(x1: Any, x2: Any, /) -> Array:
    """Angle of the point (x2, x1), in radians and in its quadrant.

    >>> cubed.atan2(cubed.asarray([1.0, -1.0]), cubed.asarray([1.0, 1.0])).compute()
    array([ 0.78539816, -0.78539816])
    """
    return _two("atan2", x1, x2)


@_operation
def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangent of each element.

    >>> cubed.atanh(cubed.asarray([0.0, 0.5])).compute()
    array([0.        , 0.54930614])
    """
    return _one("atanh", x)


@_operation
def bitwise_and(x1: Any, x2: Any, /) -> Array:
    """Bitwise AND of two arrays, element by element.

    >>> cubed.bitwise_and(cubed.asarray([12, 10]), 6).compute()
    array([4, 2])
    """
    return _two("bitwise_and", x1, x2)


@_operation
def bitwise_invert(x: Array, /) -> Array:
    """Bitwise NOT of each element.

    >>> cubed.bitwise_invert(cubed.asarray([1, -2])).compute()
    array([-2,  1])
    """
    return _one("bitwise_invert", x)


@_operation
def bitwise_left_shift(x1: Any, x2: Any, /) -> Array:
    """Bits of x1 shifted to the left by x2, element by element.

    >>> cubed.bitwise_left_shift(cubed.asarray([4, 8]), 2).compute()
    array([16, 32])
    """
    return _two("bitwise_left_shift", x1, x2)


@_operation
def bitwise_or(x1: Any, x2: Any, /) -> Array:
    """Bitwise OR of two arrays, element by element.

    >>> cubed.bitwise_or(cubed.asarray([12, 10]), 6).compute()
    array([14, 14])
    """
    return _two("bitwise_or", x1, x2)


@_operation
def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """Bits of x1 shifted to the right by x2, element by element.

    >>> cubed.bitwise_right_shift(cubed.asarray([4, 8]), 2).compute()
    array([1, 2])
    """
    return _two("bitwise_right_shift", x1, x2)


@_operation
def bitwise_xor(x1: Any, x2: Any, /) -> Array:
    """Bitwise XOR of two arrays, element by element.

    >>> cubed.bitwise_xor(cubed.asarray([12, 10]), 6).compute()
    array([10, 12])
    """
    return _two("bitwise_xor", x1, x2)


@_operation
def ceil(x: Array, /) -> Array:
    """Each element rounded up to an integer.

    >>> cubed.ceil(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-1.,  1.,  3.])
    """
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


@_operation
def conj(x: Array, /) -> Array:
    """Complex conjugate of each element.

    >>> cubed.conj(cubed.asarray([1 + 2j, 3.0])).compute()
    array([1.-2.j, 3.-0.j])
    """
    return _one("conj", x)


@_operation
def copysign(x1: Any, x2: Any, /) -> Array:
    """Magnitude of x1 with the sign of x2, element by element.

    >>> cubed.copysign(cubed.asarray([1.0, 2.0]), cubed.asarray([-1.0, 1.0])).compute()
    array([-1.,  2.])
    """
    return _two("copysign", x1, x2)


@_operation
def cos(x: Array, /) -> Array:
    """Cosine of each element, in radians.

    >>> cubed.cos(cubed.asarray([0.0, 1.0])).compute()
    array([1.        , 0.54030231])
    """
    return _one("cos", x)


@_operation
def cosh(x: Array, /) -> Array:
    """Hyperbolic cosine of each element.

    >>> cubed.cosh(cubed.asarray([0.0, 1.0])).compute()
    array([1.        , 1.54308063])
    """
    return _one("cosh", x)


@_operation
def divide(x1: Any, x2: Any, /) -> Array:
    """Quotient x1 / x2, element by element.

    >>> cubed.divide(cubed.asarray([1.0, 2.0]), 4).compute()
    array([0.25, 0.5 ])
    """
    return _two("divide", x1, x2)


@_operation
def equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 == x2, element by element.

    >>> cubed.equal(cubed.asarray([1, 2, 3]), 2).compute()
    array([False,  True, False])
    """
    return _two("equal", x1, x2)


@_operation
def exp(x: Array, /) -> Array:
    """Exponential of each element.

    >>> cubed.exp(cubed.asarray([0.0, 1.0])).compute()
    array([1.        , 2.71828183])
    """
    return _one("exp", x)


@_operation
def expm1(x: Array, /) -> Array:
    """Exponential of each element, minus 1.

    >>> cubed.expm1(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 1.71828183])
    """
    return _one("expm1", x)


@_operation
def floor(x: Array, /) -> Array:
    """Each element rounded down to an integer.

    >>> cubed.floor(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-2.,  0.,  2.])
    """
    return _one("floor", x)


@_operation
def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Quotient x1 / x2 rounded down to an integer, element by element.

    >>> cubed.floor_divide(cubed.asarray([7, 8, 9]), 2).compute()
    array([3, 4, 4])
    """
    return _two("floor_divide", x1, x2)


@_operation
def greater(x1: Any, x2: Any, /) -> Array:
    """Whether x1 > x2, element by element.

    >>> cubed.greater(cubed.asarray([1, 2, 3]), 2).compute()
    array([False, False,  True])
    """
    return _two("greater", x1, x2)


@_operation
def greater_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 >= x2, element by element.

    >>> cubed.greater_equal(cubed.asarray([1, 2, 3]), 2).compute()
    array([False,  True,  True])
    """
    return _two("greater_equal", x1, x2)


@_operation
def hypot(x1: Any, x2: Any, /) -> Array:
    """Length of the vector (x1, x2), element by element.

    >>> cubed.hypot(cubed.asarray([3.0, 5.0]), cubed.asarray([4.0, 12.0])).compute()
    array([ 5., 13.])
    """
    return _two("hypot", x1, x2)


@_operation
def imag(x: Array, /) -> Array:
    """Imaginary part of each element.

    >>> cubed.imag(cubed.asarray([1 + 2j, 3.0])).compute()
    array([2., 0.])
    """
    return _one("imag", x)


@_operation
def isfinite(x: Array, /) -> Array:
    """Whether each element is finite: neither infinite nor NaN.

    >>> cubed.isfinite(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([ True, False, False])
    """
    return _one("isfinite", x)


@_operation
def isinf(x: Array, /) -> Array:
    """Whether each element is infinite.

    >>> cubed.isinf(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([False,  True, False])
    """
    return _one("isinf", x)


@_operation
def isnan(x: Array, /) -> Array:
    """Whether each element is NaN.

    >>> cubed.isnan(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([False, False,  True])
    """
    return _one("isnan", x)


@_operation
def less(x1: Any, x2: Any, /) -> Array:
    """Whether x1 < x2, element by element.

    >>> cubed.less(cubed.asarray([1, 2, 3]), 2).compute()
    array([ True, False, False])
    """
    return _two("less", x1, x2)


@_operation
def less_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 <= x2, element by element.

    >>> cubed.less_equal(cubed.asarray([1, 2, 3]), 2).compute()
    array([ True,  True, False])
    """
    return _two("less_equal", x1, x2)


@_operation
def log(x: Array, /) -> Array:
    """Natural logarithm of each element.

    >>> cubed.log(cubed.asarray([1.0, 100.0])).compute()
    array([0.        , 4.60517019])
    """
    return _one("log", x)


@_operation
def log10(x: Array, /) -> Array:
    """Logarithm to base 10 of each element.

    >>> cubed.log10(cubed.asarray([1.0, 100.0])).compute()
    array([0., 2.])
    """
    return _one("log10", x)


@_operation
def log1p(x: Array, /) -> Array:
    """Natural logarithm of 1 plus each element.

    >>> cubed.log1p(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 0.69314718])
    """
    return _one("log1p", x)


@_operation
def log2(x: Array, /) -> Array:
    """Logarithm to base 2 of each element.

    >>> cubed.log2(cubed.asarray([1.0, 100.0])).compute()
    array([0.        , 6.64385619])
    """
    return _one("log2", x)


@_operation
def logaddexp(x1: Any, x2: Any, /) -> Array:
    """Logarithm of exp(x1) + exp(x2), without overflow, element by element.

    >>> cubed.logaddexp(cubed.asarray([0.0, 1.0]), cubed.asarray([0.0, 2.0])).compute()
    array([0.69314718, 2.31326169])
    """
    return _two("logaddexp", x1, x2)


@_operation
def logical_and(x1: Any, x2: Any, /) -> Array:
    """Whether both x1 and x2 are true, element by element.

    >>> cubed.logical_and(cubed.asarray([True, True]), cubed.asarray([True, False])).compute()
    array([ True, False])
    """
    return _two("logical_and", _truth(x1), _truth(x2))


@_operation
def logical_not(x: Array, /) -> Array:
    """Whether each element is false.

    >>> cubed.logical_not(cubed.asarray([True, False])).compute()
    array([False,  True])
    """
    return _one("logical_not", _truth(lazy(x)))


@_operation
def logical_or(x1: Any, x2: Any, /) -> Array:
    """Whether x1 or x2 is true, element by element.

    >>> cubed.logical_or(cubed.asarray([True, True]), cubed.asarray([True, False])).compute()
    array([ True,  True])
    """
    return _two("logical_or", _truth(x1), _truth(x2))


@_operation
def logical_xor(x1: Any, x2: Any, /) -> Array:
    """Whether one of x1 and x2 is true and the other is not, element by element.

    >>> cubed.logical_xor(cubed.asarray([True, True]), cubed.asarray([True, False])).compute()
    array([False,  True])
    """
    return _two("logical_xor", _truth(x1), _truth(x2))


@_operation
def maximum(x1: Any, x2: Any, /) -> Array:
    """Larger of two elements; NaN where either is NaN.

    >>> cubed.maximum(cubed.asarray([1.0, 5.0]), cubed.asarray([3.0, float('nan')])).compute()
    array([ 3., nan])
    """
    return _two("maximum", x1, x2)


@_operation
def minimum(x1: Any, x2: Any, /) -> Array:
    """Smaller of two elements; NaN where either is NaN.

    >>> cubed.minimum(cubed.asarray([1.0, 5.0]), cubed.asarray([3.0, float('nan')])).compute()
    array([ 1., nan])
    """
    return _two("minimum", x1, x2)


@_operation
def multiply(x1: Any, x2: Any, /) -> Array:
    """Product of two arrays, element by element.

    >>> cubed.multiply(cubed.asarray([7, 8, 9]), 2).compute()
    array([14, 16, 18])
    """
    return _two("multiply", x1, x2)


@_operation
def negative(x: Array, /) -> Array:
    """Negative of each element.

    >>> cubed.negative(cubed.asarray([1, -2])).compute()
    array([-1,  2])
    """
    return _one("negative", x)


@_operation
def nextafter(x1: Any, x2: Any, /) -> Array:
    """Next number that the type has from x1 towards x2, element by element.

    >>> cubed.nextafter(cubed.asarray([1.0]), 2.0).compute()
    array([1.])
    """
    return _two("nextafter", x1, x2)


@_operation
def not_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 != x2, element by element.

    >>> cubed.not_equal(cubed.asarray([1, 2, 3]), 2).compute()
    array([ True, False,  True])
    """
    return _two("not_equal", x1, x2)


@_operation
def positive(x: Array, /) -> Array:
    """Each element as it is.

    >>> cubed.positive(cubed.asarray([1, -2])).compute()
    array([ 1, -2])
    """
    return _one("positive", x)


@_operation
def pow(x1: Any, x2: Any, /) -> Array:
    """x1 to the power of x2, element by element.

    >>> cubed.pow(cubed.asarray([1.0, 2.0, 3.0]), 2).compute()
    array([1., 4., 9.])
    """
    return _two("pow", x1, x2)


@_operation
def real(x: Array, /) -> Array:
    """Real part of each element.

    >>> cubed.real(cubed.asarray([1 + 2j, 3.0])).compute()
    array([1., 3.])
    """
    return _one("real", x)


@_operation
def reciprocal(x: Array, /) -> Array:
    """Reciprocal of each element; of integers without its fraction, and 0 of 0.

    >>> cubed.reciprocal(cubed.asarray([2.0, 4.0])).compute()
    array([0.5 , 0.25])
    """
    return _one("reciprocal", x)


@_operation
def remainder(x1: Any, x2: Any, /) -> Array:
    """Remainder of x1 / x2, with the sign of x2, element by element.

    >>> cubed.remainder(cubed.asarray([7, 8, 9]), 2).compute()
    array([1, 0, 1])
    """
    return _two("remainder", x1, x2)


@_operation
def round(x: Array, /, *, decimals: int = 0) -> Array:
    """Each element rounded to the nearest integer, halves to the even one; with `decimals` to the
    nearest multiple of 10**-decimals.

    >>> cubed.round(cubed.asarray([0.5, 1.5, 2.25]), decimals=1).compute()
    array([0.5, 1.5, 2.2])
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


@_operation
def sign(x: Array, /) -> Array:
    """Sign of each element: -1, 0 or 1; of complex numbers the direction.

    >>> cubed.sign(cubed.asarray([-1.5, 0.0, 2.0])).compute()
    array([-1.,  0.,  1.])
    """
    return _one("sign", x)


@_operation
def signbit(x: Array, /) -> Array:
    """Whether the sign bit of each element is set.

    >>> cubed.signbit(cubed.asarray([-0.0, 2.0])).compute()
    array([ True, False])
    """
    return _one("signbit", x)


@_operation
def sin(x: Array, /) -> Array:
    """Sine of each element, in radians.

    >>> cubed.sin(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 0.84147098])
    """
    return _one("sin", x)


@_operation
def sinh(x: Array, /) -> Array:
    """Hyperbolic sine of each element.

    >>> cubed.sinh(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 1.17520119])
    """
    return _one("sinh", x)


@_operation
def sqrt(x: Array, /) -> Array:
    """Square root of each element.

    >>> cubed.sqrt(cubed.asarray([1.0, 100.0])).compute()
    array([ 1., 10.])
    """
    return _one("sqrt", x)


@_operation
def square(x: Array, /) -> Array:
    """Square of each element.

    >>> cubed.square(cubed.asarray([1, -2])).compute()
    array([1, 4])
    """
    return _one("square", x)


@_operation
def subtract(x1: Any, x2: Any, /) -> Array:
    """Difference x1 - x2, element by element.

    >>> cubed.subtract(cubed.asarray([7, 8, 9]), 2).compute()
    array([5, 6, 7])
    """
    return _two("subtract", x1, x2)


@_operation
def tan(x: Array, /) -> Array:
    """Tangent of each element, in radians.

    >>> cubed.tan(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 1.55740772])
    """
    return _one("tan", x)


@_operation
def tanh(x: Array, /) -> Array:
    """Hyperbolic tangent of each element.

    >>> cubed.tanh(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 0.76159416])
    """
    return _one("tanh", x)


@_operation
def trunc(x: Array, /) -> Array:
    """Each element rounded towards 0 to an integer.

    >>> cubed.trunc(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-1.,  0.,  2.])
    """
    return _one("trunc", x)
