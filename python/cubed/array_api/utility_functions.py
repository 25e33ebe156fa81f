"""Utility functions."""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
from cubed.array._operands import lazy, normalize_axis
from cubed.array_api.manipulation_functions import broadcast_to, concat
from cubed.array_api.statistical_functions import reduced
from cubed.base._types import Axis
from cubed.functions import manipulation
from cubed.io._create import as_lazy

__all__ = ["all", "any", "diff"]


def _refuse_out(name: str, out: None) -> None:
    if out is not None:
        raise TypeError(f"{name} of a lazy array cannot write to out=: use the result")


def all(
    x: Array, /, axis: Axis = None, *, keepdims: bool = False, out: None = None,
    split_every: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """Whether all elements are true; true if there are no elements.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    out : None
        For NumPy's calls: output arrays are not supported.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        bool. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[True, False], [True, True]])
    >>> cubed.all(x, axis=1).compute()
    array([False,  True])
    """
    _refuse_out("all", out)
    return reduced("all", x, axis, keepdims, where=where)


def any(
    x: Array, /, axis: Axis = None, *, keepdims: bool = False, out: None = None,
    split_every: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """Whether any element is true; false if there are no elements.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    out : None
        For NumPy's calls: output arrays are not supported.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        bool. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[True, False], [True, True]])
    >>> cubed.any(x, axis=1).compute()
    array([ True,  True])
    """
    _refuse_out("any", out)
    return reduced("any", x, axis, keepdims, where=where)


def diff(
    x: Array,
    /,
    n: int = 1,
    axis: int = -1,
    prepend: Any = None,
    append: Any = None,
) -> Array:
    """Computes the n-th differences of neighbouring elements along an axis.

    Parameters
    ----------
    x : Array
        Input array.
    n : int, default 1
        Number of times to take differences.
    axis : int, default -1
        Axis along which to compute; negative numbers count from the last.
    prepend : array_like or None
        Elements to put before `x` along the axis; a number counts as one element.
    append : array_like or None
        Elements to put after `x` along the axis; a number counts as one element.

    Returns
    -------
    Array
        The type of `x`; `n` elements shorter along the axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.diff(cubed.asarray([1, 4, 9])).compute()
    array([3, 5])
    """
    x = lazy(x)
    if n and (prepend is not None or append is not None):
        x = _between(x, normalize_axis("diff", axis, x.ndim), prepend, append)
    return manipulation.diff(x, n, axis)


def _between(x: Array, axis: int, prepend: Any, append: Any) -> Array:
    """Adds elements before and after x along an axis; a number counts as one element."""
    edge = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    given = [as_lazy(p) for p in (prepend, x, append) if p is not None]
    if x.dtype.kind == "m":  # NumPy treats these integers as timedeltas in the unit of x
        given = [p.astype(x.dtype) if p.dtype.kind in "iu" else p for p in given]
    return concat([p if p.ndim else broadcast_to(p, edge) for p in given], axis=axis)
