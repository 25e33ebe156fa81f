"""Functions that search elements."""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, is_scalar, operands
from cubed.functions.searching import argmax, argmin, count_nonzero, searchsorted
from cubed.functions.sets import nonzero

__all__ = ["argmax", "argmin", "count_nonzero", "nonzero", "searchsorted", "where"]


@overload
def where(condition: Array, /) -> tuple[Array, ...]: ...
@overload
def where(condition: Array, x1: Any, x2: Any, /) -> Array: ...
def where(condition: Array, x1: Any = None, x2: Any = None, /) -> Array | tuple[Array, ...]:
    """Selects elements of x1 where the condition is true, and elements of x2 elsewhere.

    ``where(condition)`` is ``nonzero(condition)``, as in NumPy.

    Two Python scalars have the result type of NumPy.

    Parameters
    ----------
    condition : array_like
        Condition: true for elements that are not 0.
    x1 : array_like
        Values where the condition is true.
    x2 : array_like
        Values where the condition is false.

    Returns
    -------
    Array
        The broadcast shape of all arguments, and the promoted type of `x1` and `x2`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1, -2, 3])
    >>> cubed.where(x > 0, x, 0).compute()
    array([1, 0, 3])
    """
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise TypeError("where takes a condition, or a condition, x1 and x2")
    if is_scalar(x1) and is_scalar(x2):
        x1 = np.asarray(x1)
    (a, b), _ = operands(x1, x2)
    spec = common_spec(condition, x1, x2)
    holds = core_of(condition)
    if holds.dtype != "bool":
        holds = _core.call("astype", holds, "bool")
    return Array._new(_core.elementwise("where", holds, a, b), spec)
