"""Elementwise functions, one for each row of ``include/cubed/ops.def``: made by tools/generate."""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
from cubed.array_api._elementwise import apply, truth

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
    "reciprocal",
    "remainder",
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


def abs(x: Array, /) -> Array:
    """Absolute value of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`; the real type for complex numbers. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.abs(cubed.asarray([-1.5, 0.0, 2.0])).compute()
    array([1.5, 0. , 2. ])
    """
    return apply("abs", x)


def acos(x: Array, /) -> Array:
    """Inverse cosine of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.acos(cubed.asarray([0.0, 0.5])).compute()
    array([1.57079633, 1.04719755])
    """
    return apply("acos", x)


def acosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosine of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.acosh(cubed.asarray([1.0, 2.0])).compute()
    array([0.       , 1.3169579])
    """
    return apply("acosh", x)


def add(x1: Any, x2: Any, /) -> Array:
    """Sum of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.add(cubed.asarray([7, 8, 9]), 2).compute()
    array([ 9, 10, 11])
    """
    return apply("add", x1, x2)


def asin(x: Array, /) -> Array:
    """Inverse sine of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.asin(cubed.asarray([0.0, 0.5])).compute()
    array([0.        , 0.52359878])
    """
    return apply("asin", x)


def asinh(x: Array, /) -> Array:
    """Inverse hyperbolic sine of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.asinh(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 0.88137359])
    """
    return apply("asinh", x)


def atan(x: Array, /) -> Array:
    """Inverse tangent of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.atan(cubed.asarray([0.0, 0.5])).compute()
    array([0.        , 0.46364761])
    """
    return apply("atan", x)


def atan2(x1: Any, x2: Any, /) -> Array:
    """Angle of the point (x2, x1), in radians and in its quadrant.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted, integers to float64. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.atan2(cubed.asarray([1.0, -1.0]), cubed.asarray([1.0, 1.0])).compute()
    array([ 0.78539816, -0.78539816])
    """
    return apply("atan2", x1, x2)


def atanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangent of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.atanh(cubed.asarray([0.0, 0.5])).compute()
    array([0.        , 0.54930614])
    """
    return apply("atanh", x)


def bitwise_and(x1: Any, x2: Any, /) -> Array:
    """Bitwise AND of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For floats and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bitwise_and(cubed.asarray([12, 10]), 6).compute()
    array([4, 2])
    """
    return apply("bitwise_and", x1, x2)


def bitwise_invert(x: Array, /) -> Array:
    """Bitwise NOT of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For floats and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bitwise_invert(cubed.asarray([1, -2])).compute()
    array([-2,  1])
    """
    return apply("bitwise_invert", x)


def bitwise_left_shift(x1: Any, x2: Any, /) -> Array:
    """Bits of x1 shifted to the left by x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For other types than integers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bitwise_left_shift(cubed.asarray([4, 8]), 2).compute()
    array([16, 32])
    """
    return apply("bitwise_left_shift", x1, x2)


def bitwise_or(x1: Any, x2: Any, /) -> Array:
    """Bitwise OR of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For floats and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bitwise_or(cubed.asarray([12, 10]), 6).compute()
    array([14, 14])
    """
    return apply("bitwise_or", x1, x2)


def bitwise_right_shift(x1: Any, x2: Any, /) -> Array:
    """Bits of x1 shifted to the right by x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For other types than integers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bitwise_right_shift(cubed.asarray([4, 8]), 2).compute()
    array([1, 2])
    """
    return apply("bitwise_right_shift", x1, x2)


def bitwise_xor(x1: Any, x2: Any, /) -> Array:
    """Bitwise XOR of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For floats and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bitwise_xor(cubed.asarray([12, 10]), 6).compute()
    array([10, 12])
    """
    return apply("bitwise_xor", x1, x2)


def ceil(x: Array, /) -> Array:
    """Each element rounded up to an integer.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.ceil(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-1.,  1.,  3.])
    """
    return apply("ceil", x)


def conj(x: Array, /) -> Array:
    """Complex conjugate of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.conj(cubed.asarray([1 + 2j, 3.0])).compute()
    array([1.-2.j, 3.-0.j])
    """
    return apply("conj", x)


def copysign(x1: Any, x2: Any, /) -> Array:
    """Magnitude of x1 with the sign of x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted, integers to float64. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.copysign(cubed.asarray([1.0, 2.0]), cubed.asarray([-1.0, 1.0])).compute()
    array([-1.,  2.])
    """
    return apply("copysign", x1, x2)


def cos(x: Array, /) -> Array:
    """Cosine of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.cos(cubed.asarray([0.0, 1.0])).compute()
    array([1.        , 0.54030231])
    """
    return apply("cos", x)


def cosh(x: Array, /) -> Array:
    """Hyperbolic cosine of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.cosh(cubed.asarray([0.0, 1.0])).compute()
    array([1.        , 1.54308063])
    """
    return apply("cosh", x)


def divide(x1: Any, x2: Any, /) -> Array:
    """Quotient x1 / x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted, integers to float64. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.divide(cubed.asarray([1.0, 2.0]), 4).compute()
    array([0.25, 0.5 ])
    """
    return apply("divide", x1, x2)


def equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 == x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.equal(cubed.asarray([1, 2, 3]), 2).compute()
    array([False,  True, False])
    """
    return apply("equal", x1, x2)


def exp(x: Array, /) -> Array:
    """Exponential of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.exp(cubed.asarray([0.0, 1.0])).compute()
    array([1.        , 2.71828183])
    """
    return apply("exp", x)


def expm1(x: Array, /) -> Array:
    """Exponential of each element, minus 1.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.expm1(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 1.71828183])
    """
    return apply("expm1", x)


def floor(x: Array, /) -> Array:
    """Each element rounded down to an integer.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.floor(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-2.,  0.,  2.])
    """
    return apply("floor", x)


def floor_divide(x1: Any, x2: Any, /) -> Array:
    """Quotient x1 / x2 rounded down to an integer, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.floor_divide(cubed.asarray([7, 8, 9]), 2).compute()
    array([3, 4, 4])
    """
    return apply("floor_divide", x1, x2)


def greater(x1: Any, x2: Any, /) -> Array:
    """Whether x1 > x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.greater(cubed.asarray([1, 2, 3]), 2).compute()
    array([False, False,  True])
    """
    return apply("greater", x1, x2)


def greater_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 >= x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.greater_equal(cubed.asarray([1, 2, 3]), 2).compute()
    array([False,  True,  True])
    """
    return apply("greater_equal", x1, x2)


def hypot(x1: Any, x2: Any, /) -> Array:
    """Length of the vector (x1, x2), element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted, integers to float64. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.hypot(cubed.asarray([3.0, 5.0]), cubed.asarray([4.0, 12.0])).compute()
    array([ 5., 13.])
    """
    return apply("hypot", x1, x2)


def isfinite(x: Array, /) -> Array:
    """Whether each element is finite: neither infinite nor NaN.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        bool, of x's shape. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.isfinite(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([ True, False, False])
    """
    return apply("isfinite", x)


def isinf(x: Array, /) -> Array:
    """Whether each element is infinite.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        bool, of x's shape. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.isinf(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([False,  True, False])
    """
    return apply("isinf", x)


def isnan(x: Array, /) -> Array:
    """Whether each element is NaN.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        bool, of x's shape. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.isnan(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([False, False,  True])
    """
    return apply("isnan", x)


def less(x1: Any, x2: Any, /) -> Array:
    """Whether x1 < x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.less(cubed.asarray([1, 2, 3]), 2).compute()
    array([ True, False, False])
    """
    return apply("less", x1, x2)


def less_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 <= x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.less_equal(cubed.asarray([1, 2, 3]), 2).compute()
    array([ True,  True, False])
    """
    return apply("less_equal", x1, x2)


def log(x: Array, /) -> Array:
    """Natural logarithm of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.log(cubed.asarray([1.0, 100.0])).compute()
    array([0.        , 4.60517019])
    """
    return apply("log", x)


def log10(x: Array, /) -> Array:
    """Logarithm to base 10 of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.log10(cubed.asarray([1.0, 100.0])).compute()
    array([0., 2.])
    """
    return apply("log10", x)


def log1p(x: Array, /) -> Array:
    """Natural logarithm of 1 plus each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.log1p(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 0.69314718])
    """
    return apply("log1p", x)


def log2(x: Array, /) -> Array:
    """Logarithm to base 2 of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.log2(cubed.asarray([1.0, 100.0])).compute()
    array([0.        , 6.64385619])
    """
    return apply("log2", x)


def logaddexp(x1: Any, x2: Any, /) -> Array:
    """Logarithm of exp(x1) + exp(x2), without overflow, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted, integers to float64. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.logaddexp(cubed.asarray([0.0, 1.0]), cubed.asarray([0.0, 2.0])).compute()
    array([0.69314718, 2.31326169])
    """
    return apply("logaddexp", x1, x2)


def logical_and(x1: Any, x2: Any, /) -> Array:
    """Whether both x1 and x2 are true, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.logical_and(cubed.asarray([True, True]), cubed.asarray([True, False])).compute()
    array([ True, False])
    """
    return apply("logical_and", truth(x1), truth(x2))


def logical_not(x: Array, /) -> Array:
    """Whether each element is false.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        bool, of x's shape. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.logical_not(cubed.asarray([True, False])).compute()
    array([False,  True])
    """
    return apply("logical_not", truth(x))


def logical_or(x1: Any, x2: Any, /) -> Array:
    """Whether x1 or x2 is true, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.logical_or(cubed.asarray([True, True]), cubed.asarray([True, False])).compute()
    array([ True,  True])
    """
    return apply("logical_or", truth(x1), truth(x2))


def logical_xor(x1: Any, x2: Any, /) -> Array:
    """Whether one of x1 and x2 is true and the other is not, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.logical_xor(cubed.asarray([True, True]), cubed.asarray([True, False])).compute()
    array([False,  True])
    """
    return apply("logical_xor", truth(x1), truth(x2))


def maximum(x1: Any, x2: Any, /) -> Array:
    """Larger of two elements; NaN where either is NaN.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.maximum(cubed.asarray([1.0, 5.0]), cubed.asarray([3.0, float('nan')])).compute()
    array([ 3., nan])
    """
    return apply("maximum", x1, x2)


def minimum(x1: Any, x2: Any, /) -> Array:
    """Smaller of two elements; NaN where either is NaN.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.minimum(cubed.asarray([1.0, 5.0]), cubed.asarray([3.0, float('nan')])).compute()
    array([ 1., nan])
    """
    return apply("minimum", x1, x2)


def multiply(x1: Any, x2: Any, /) -> Array:
    """Product of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.multiply(cubed.asarray([7, 8, 9]), 2).compute()
    array([14, 16, 18])
    """
    return apply("multiply", x1, x2)


def negative(x: Array, /) -> Array:
    """Negative of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.negative(cubed.asarray([1, -2])).compute()
    array([-1,  2])
    """
    return apply("negative", x)


def nextafter(x1: Any, x2: Any, /) -> Array:
    """Next number that the type has from x1 towards x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted, integers to float64. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.nextafter(cubed.asarray([1.0]), 2.0).compute()
    array([1.])
    """
    return apply("nextafter", x1, x2)


def not_equal(x1: Any, x2: Any, /) -> Array:
    """Whether x1 != x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        bool; operands are broadcast and promoted. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.not_equal(cubed.asarray([1, 2, 3]), 2).compute()
    array([ True, False,  True])
    """
    return apply("not_equal", x1, x2)


def positive(x: Array, /) -> Array:
    """Each element as it is.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.positive(cubed.asarray([1, -2])).compute()
    array([ 1, -2])
    """
    return apply("positive", x)


def pow(x1: Any, x2: Any, /) -> Array:
    """x1 to the power of x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.pow(cubed.asarray([1.0, 2.0, 3.0]), 2).compute()
    array([1., 4., 9.])
    """
    return apply("pow", x1, x2)


def reciprocal(x: Array, /) -> Array:
    """Reciprocal of each element; of integers without its fraction, and 0 of 0.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.reciprocal(cubed.asarray([2.0, 4.0])).compute()
    array([0.5 , 0.25])
    """
    return apply("reciprocal", x)


def remainder(x1: Any, x2: Any, /) -> Array:
    """Remainder of x1 / x2, with the sign of x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.remainder(cubed.asarray([7, 8, 9]), 2).compute()
    array([1, 0, 1])
    """
    return apply("remainder", x1, x2)


def sign(x: Array, /) -> Array:
    """Sign of each element: -1, 0 or 1; of complex numbers the direction.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.sign(cubed.asarray([-1.5, 0.0, 2.0])).compute()
    array([-1.,  0.,  1.])
    """
    return apply("sign", x)


def signbit(x: Array, /) -> Array:
    """Whether the sign bit of each element is set.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        bool, of x's shape. Lazy.

    Raises
    ------
    TypeError
        For other types than floats.

    Examples
    --------
    >>> import cubed
    >>> cubed.signbit(cubed.asarray([-0.0, 2.0])).compute()
    array([ True, False])
    """
    return apply("signbit", x)


def sin(x: Array, /) -> Array:
    """Sine of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.sin(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 0.84147098])
    """
    return apply("sin", x)


def sinh(x: Array, /) -> Array:
    """Hyperbolic sine of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.sinh(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 1.17520119])
    """
    return apply("sinh", x)


def sqrt(x: Array, /) -> Array:
    """Square root of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.sqrt(cubed.asarray([1.0, 100.0])).compute()
    array([ 1., 10.])
    """
    return apply("sqrt", x)


def square(x: Array, /) -> Array:
    """Square of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.square(cubed.asarray([1, -2])).compute()
    array([1, 4])
    """
    return apply("square", x)


def subtract(x1: Any, x2: Any, /) -> Array:
    """Difference x1 - x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.

    Returns
    -------
    Array
        Operands are broadcast and promoted. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.subtract(cubed.asarray([7, 8, 9]), 2).compute()
    array([5, 6, 7])
    """
    return apply("subtract", x1, x2)


def tan(x: Array, /) -> Array:
    """Tangent of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.tan(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 1.55740772])
    """
    return apply("tan", x)


def tanh(x: Array, /) -> Array:
    """Hyperbolic tangent of each element.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape as `x`: float64 for integers, otherwise the type of `x`. Lazy.

    Raises
    ------
    TypeError
        For bool.

    Examples
    --------
    >>> import cubed
    >>> cubed.tanh(cubed.asarray([0.0, 1.0])).compute()
    array([0.        , 0.76159416])
    """
    return apply("tanh", x)


def trunc(x: Array, /) -> Array:
    """Each element rounded towards 0 to an integer.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.trunc(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-1.,  0.,  2.])
    """
    return apply("trunc", x)
