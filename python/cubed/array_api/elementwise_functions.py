"""Elementwise functions.

Operands are broadcast and promoted by the standard's rules. One of two operands may be a Python
scalar, which takes the type of the other. Functions that are one operation of the engine are in
``_operations.py``, which tools/generate writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import is_scalar, is_time, lazy
from cubed.array_api import _operations
from cubed.array_api._elementwise import apply
from cubed.array_api._operations import *  # noqa: F403
from cubed.array_api.data_type_functions import result_type
from cubed.io._create import as_lazy

if not TYPE_CHECKING:  # type checkers use the names imported by *
    __all__ = [*_operations.__all__, "clip", "imag", "real", "round"]


def clip(x: Array, /, min: Any = None, max: Any = None) -> Array:
    """Limits each element to the range from `min` to `max`.

    Parameters
    ----------
    x : Array
        Input array.
    min : array_like or None
        Lower limit; None: no limit.
    max : array_like or None
        Upper limit; None: no limit.

    Returns
    -------
    Array
        The broadcast shape and promoted type of all arguments. Python scalars take the type of `x`.
        A limit that is a Python integer has no effect if all values of that type are within the
        limit. Lazy.

    Raises
    ------
    OverflowError
        If all values of the type of `x` are beyond a limit that is a Python integer.

    Examples
    --------
    >>> import cubed
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
        out = apply("maximum", out, min)
    if max is not None:
        out = apply("minimum", out, max)
    return x.copy() if out is x else out


def imag(x: Array, /) -> Array:
    """Imaginary part of each element.

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
    >>> cubed.imag(cubed.asarray([1 + 2j, 3.0])).compute()
    array([2., 0.])
    """
    x = lazy(x)
    return apply("imag", x) if x.dtype.kind in "bc" else x.imag


def real(x: Array, /) -> Array:
    """Real part of each element.

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
    >>> cubed.real(cubed.asarray([1 + 2j, 3.0])).compute()
    array([1., 3.])
    """
    x = lazy(x)
    return apply("real", x) if x.dtype.kind in "bc" else x.real


def round(x: Array, /, decimals: int = 0) -> Array:
    """Each element rounded to the nearest integer, halves to the even one; with `decimals` to the
    nearest multiple of 10**-decimals.

    Parameters
    ----------
    x : Array
        Input array.
    decimals : int, default 0
        Number of decimal places.

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
    >>> cubed.round(cubed.asarray([0.5, 1.5, 2.25]), decimals=1).compute()
    array([0.5, 1.5, 2.2])
    """
    x = lazy(x)
    return x._like(_core.call("round", x._x, decimals))
