"""Elementwise functions, one for each row of ``include/cubed/ops.def``: made by tools/generate."""

from __future__ import annotations

from typing import Any, Unpack

from cubed.array._array import Array
from cubed.array_api._elementwise import apply, truth
from cubed.array_api._ufunc_options import UfuncOptions

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
    "stdtr",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]


def abs(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Absolute value of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("abs", x, **options)


def acos(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Inverse cosine of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("acos", x, **options)


def acosh(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Inverse hyperbolic cosine of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("acosh", x, **options)


def add(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Sum of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.add(cubed.asarray([7, 8, 9]), 2).compute()
    array([ 9, 10, 11])
    """
    return apply("add", x1, x2, **options)


def asin(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Inverse sine of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("asin", x, **options)


def asinh(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Inverse hyperbolic sine of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("asinh", x, **options)


def atan(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Inverse tangent of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("atan", x, **options)


def atan2(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Angle of the point (x2, x1), in radians and in its quadrant.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands; float64 for integers. Lazy.

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
    return apply("atan2", x1, x2, **options)


def atanh(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Inverse hyperbolic tangent of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("atanh", x, **options)


def bitwise_and(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Bitwise AND of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("bitwise_and", x1, x2, **options)


def bitwise_invert(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Bitwise NOT of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("bitwise_invert", x, **options)


def bitwise_left_shift(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Bits of x1 shifted to the left by x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

    Raises
    ------
    TypeError
        For types other than integers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bitwise_left_shift(cubed.asarray([4, 8]), 2).compute()
    array([16, 32])
    """
    return apply("bitwise_left_shift", x1, x2, **options)


def bitwise_or(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Bitwise OR of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("bitwise_or", x1, x2, **options)


def bitwise_right_shift(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Bits of x1 shifted to the right by x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

    Raises
    ------
    TypeError
        For types other than integers.

    Examples
    --------
    >>> import cubed
    >>> cubed.bitwise_right_shift(cubed.asarray([4, 8]), 2).compute()
    array([1, 2])
    """
    return apply("bitwise_right_shift", x1, x2, **options)


def bitwise_xor(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Bitwise XOR of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("bitwise_xor", x1, x2, **options)


def ceil(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Each element rounded up to an integer.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("ceil", x, **options)


def conj(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Complex conjugate of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("conj", x, **options)


def copysign(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Magnitude of x1 with the sign of x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands; float64 for integers. Lazy.

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
    return apply("copysign", x1, x2, **options)


def cos(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Cosine of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("cos", x, **options)


def cosh(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Hyperbolic cosine of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("cosh", x, **options)


def divide(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Quotient x1 / x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands; float64 for integers. Lazy.

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
    return apply("divide", x1, x2, **options)


def equal(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether x1 == x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("equal", x1, x2, **options)


def exp(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Exponential of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("exp", x, **options)


def expm1(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Exponential of each element, minus 1.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("expm1", x, **options)


def floor(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Each element rounded down to an integer.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("floor", x, **options)


def floor_divide(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Quotient x1 / x2 rounded down to an integer, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("floor_divide", x1, x2, **options)


def greater(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether x1 > x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("greater", x1, x2, **options)


def greater_equal(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether x1 >= x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("greater_equal", x1, x2, **options)


def hypot(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Length of the vector (x1, x2), element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands; float64 for integers. Lazy.

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
    return apply("hypot", x1, x2, **options)


def isfinite(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether each element is finite: neither infinite nor NaN.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("isfinite", x, **options)


def isinf(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether each element is infinite.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("isinf", x, **options)


def isnan(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether each element is NaN.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("isnan", x, **options)


def less(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether x1 < x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("less", x1, x2, **options)


def less_equal(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether x1 <= x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("less_equal", x1, x2, **options)


def log(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Natural logarithm of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("log", x, **options)


def log10(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Logarithm to base 10 of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("log10", x, **options)


def log1p(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Natural logarithm of 1 plus each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("log1p", x, **options)


def log2(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Logarithm to base 2 of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("log2", x, **options)


def logaddexp(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Logarithm of exp(x1) + exp(x2), without overflow, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands; float64 for integers. Lazy.

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
    return apply("logaddexp", x1, x2, **options)


def logical_and(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether both x1 and x2 are true, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("logical_and", truth(x1), truth(x2), **options)


def logical_not(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether each element is false.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("logical_not", truth(x), **options)


def logical_or(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether x1 or x2 is true, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("logical_or", truth(x1), truth(x2), **options)


def logical_xor(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether one of x1 and x2 is true and the other is not, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("logical_xor", truth(x1), truth(x2), **options)


def maximum(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Larger of two elements; NaN where either is NaN.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("maximum", x1, x2, **options)


def minimum(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Smaller of two elements; NaN where either is NaN.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("minimum", x1, x2, **options)


def multiply(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Product of two arrays, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.multiply(cubed.asarray([7, 8, 9]), 2).compute()
    array([14, 16, 18])
    """
    return apply("multiply", x1, x2, **options)


def negative(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Negative of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("negative", x, **options)


def nextafter(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Next representable number after x1 in the direction of x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands; float64 for integers. Lazy.

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
    return apply("nextafter", x1, x2, **options)


def not_equal(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether x1 != x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("not_equal", x1, x2, **options)


def positive(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Each element as it is.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("positive", x, **options)


def pow(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """x1 to the power of x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("pow", x1, x2, **options)


def reciprocal(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Reciprocal of each element; for integers truncated, and 0 for 0.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("reciprocal", x, **options)


def remainder(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Remainder of x1 / x2, with the sign of x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("remainder", x1, x2, **options)


def sign(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Sign of each element: -1, 0 or 1; x / abs(x) for complex numbers.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("sign", x, **options)


def signbit(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Whether the sign bit of each element is set.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        bool, of x's shape. Lazy.

    Raises
    ------
    TypeError
        For types other than floats.

    Examples
    --------
    >>> import cubed
    >>> cubed.signbit(cubed.asarray([-0.0, 2.0])).compute()
    array([ True, False])
    """
    return apply("signbit", x, **options)


def sin(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Sine of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("sin", x, **options)


def sinh(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Hyperbolic sine of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("sinh", x, **options)


def sqrt(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Square root of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("sqrt", x, **options)


def square(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Square of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("square", x, **options)


def stdtr(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Probability that Student's t with x1 degrees of freedom is at most x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands; float64 for integers. Lazy.

    Raises
    ------
    TypeError
        For bool and complex numbers.

    Examples
    --------
    >>> import cubed
    >>> cubed.stdtr(cubed.asarray([1, 10]), cubed.asarray([-1.0, 2.0])).compute()
    array([0.25      , 0.96330598])
    """
    return apply("stdtr", x1, x2, **options)


def subtract(x1: Any, x2: Any, /, **options: Unpack[UfuncOptions]) -> Array:
    """Difference x1 - x2, element by element.

    Parameters
    ----------
    x1 : array_like
        The first operand.
    x2 : array_like
        The second operand.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

    Returns
    -------
    Array
        The broadcast shape and promoted type of both operands. Lazy.

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
    return apply("subtract", x1, x2, **options)


def tan(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Tangent of each element, in radians.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("tan", x, **options)


def tanh(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Hyperbolic tangent of each element.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("tanh", x, **options)


def trunc(x: Array, /, **options: Unpack[UfuncOptions]) -> Array:
    """Each element rounded towards 0 to an integer.

    Parameters
    ----------
    x : Array
        Input array.
    **options : dict
        The options `out`, `where` and `dtype` of NumPy's ufuncs; `out` is a lazy array.

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
    return apply("trunc", x, **options)
