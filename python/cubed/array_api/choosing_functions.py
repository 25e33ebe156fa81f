"""Functions chosen by conditions, and reductions over several axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import is_scalar, normalize_axes
from cubed.array_api.creation_functions import zeros_like
from cubed.array_api.manipulation_functions import broadcast_to, expand_dims
from cubed.array_api.searching_functions import where
from cubed.functions.searching import choose, select
from cubed.io._create import as_lazy

__all__ = ["apply_over_axes", "choose", "piecewise", "select"]


def piecewise(
    x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any
) -> Array:  # fmt: skip
    """Chooses values, or functions of x, by conditions; if several are true, the last one decides.

    Parameters
    ----------
    x : array_like
        An array.
    condlist : sequence of array_like
        Conditions of x's shape.
    funclist : Sequence[Any]
        For each condition a number, or a function that is called with the whole lazy array x. One
        more entry applies to elements for which no condition is true; its default is 0.
    *args : array_like
        Passed to the functions.
    **kw : Any
        Passed to the functions.

    Returns
    -------
    Array
        Same shape and type as `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([-1.0, 2.0])
    >>> cubed.piecewise(x, [x < 0], [0, lambda v: 10 * v]).compute()
    array([ 0., 20.])
    """
    a = as_lazy(x)
    refuse_foreign(condlist, funclist, *args)
    one = is_scalar(condlist) or (
        isinstance(condlist, (Array, np.ndarray)) and condlist.ndim == a.ndim
    )
    if not one and not isinstance(condlist, (Array, np.ndarray)):
        first = condlist[0] if len(condlist) else True
        one = a.ndim > 0 and is_scalar(first)
    given = [condlist] if one else list(condlist)
    conditions = [as_lazy(np.asarray(c) if not isinstance(c, Array) else c) for c in given]
    conditions = [c.astype(np.bool_) for c in conditions]
    n = len(conditions)
    if len(funclist) not in (n, n + 1):
        raise ValueError(
            f"piecewise: {n} conditions and {len(funclist)} functions, expected {n} or {n + 1}"
        )
    out = zeros_like(a)
    if len(funclist) == n + 1:
        out = _value(funclist[-1], a, args, kw)
    for condition, function in zip(conditions, funclist, strict=False):
        out = where(condition, _value(function, a, args, kw), out)
    return out if out.shape == a.shape else broadcast_to(out, a.shape)


def _value(function: Any, x: Array, args: tuple[Any, ...], kw: dict[str, Any]) -> Array:
    value = function(x, *args, **kw) if callable(function) else function
    return broadcast_to(as_lazy(value).astype(x.dtype), x.shape)


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Array:
    """Applies a reduction over several axes, one after another. Reduced axes stay with extent 1.

    Parameters
    ----------
    func : callable
        Called as ``func(array, axis)``, or ``func(array, axis=axis)`` if `axis` is keyword-only. It
        returns an array with or without that axis.
    a : array_like
        Input array.
    axes : int or sequence of int
        The axes.

    Returns
    -------
    Array
        The reduced array, with extent 1 along `axes`. Lazy if `func` is lazy.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.apply_over_axes(np.sum, x, [0, 1]).compute()
    array([[10.]])
    >>> cubed.apply_over_axes(cubed.max, x, [0]).compute()
    array([[3., 4.]])
    """
    x, by_position = as_lazy(a), _takes_two(func)
    for axis in normalize_axes("apply_over_axes", axes if np.ndim(axes) else (axes,), x.ndim):
        out = func(x, axis) if by_position else func(x, axis=axis)
        if out.ndim == x.ndim:
            x = out
        elif out.ndim == x.ndim - 1:
            x = expand_dims(out, axis)
        else:
            raise ValueError(
                f"apply_over_axes: func gives {out.ndim} axes of {x.ndim}, expected one less"
            )
    return x


def _takes_two(func: Callable[..., Any]) -> bool:
    """Whether a function accepts a positional axis; reductions of the standard do not."""
    from inspect import signature  # lazy: slow to import

    try:
        signature(func).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # functions in C may have no signature: call them like NumPy does
        return True
    return True
