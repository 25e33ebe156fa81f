"""Reductions and running totals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import (
    check_device,
    common_spec,
    core_of,
    lazy,
    normalize_axes,
    real_number,
)
from cubed.base._dtypes import name_of
from cubed.base._types import Axis, DTypeLike
from cubed.base._warnings import warn_of_lost_parts
from cubed.functions._calls import operand
from cubed.functions.statistical import cumulative_prod, cumulative_sum

if TYPE_CHECKING:
    from cubed._core import AnyReduction

__all__ = ["cumulative_prod", "cumulative_sum", "max", "mean", "min", "prod", "std", "sum", "var"]


def reduced(
    name: AnyReduction,
    x: Array,
    axis: Axis,
    keepdims: bool,
    dtype: DTypeLike = None,
    correction: float = 0.0,
    initial: Any = None,
    where: Any = True,
    weights: Any = None,
) -> Array:
    """Reduces an array, with the options `dtype`, `initial` (an additional first value) and `where`
    (a mask)."""
    x = lazy(x)
    to = None if dtype is None else name_of(dtype)
    if to is not None:
        warn_of_lost_parts(x.dtype, np.dtype(to))
    if isinstance(initial, Array):
        raise TypeError("initial is a lazy array, expected a number")
    # The catalogue checks whether a Python integer fits the type of the result.
    is_plain = initial is None or (type(initial) is int and -(2**63) <= initial < 2**63)
    first = initial if is_plain else core_of(initial)
    mask = None if where is True else core_of(where)
    what = name.removeprefix("nan")
    given: tuple[Any, ...] = (to, first, mask)
    if what in ("var", "std"):
        given = (real_number(correction, "correction"), None, mask, to, operand(weights))
    elif what == "mean":
        given = (to, mask, operand(weights))
    elif what in ("min", "max"):
        given = (first, mask)
    elif what in ("all", "any"):
        given = (mask,)
    axes = None if axis is None else normalize_axes(name, axis, x.ndim)
    made = _core.call(name, x._x, axes, keepdims, *given)
    return x._like(made) if weights is None else Array._new(made, common_spec(x, weights))


def max(
    x: Array,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    split_every: Any = None,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The largest element; NaN if there is one. Complex numbers are compared by their real parts,
    and by their imaginary parts if the real parts are equal.

    `initial` is an additional element. `where` is a mask of elements to include (it needs
    `initial`).

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    initial : scalar or None
        Initial value of the reduction.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        The type of `x`. Lazy; computing raises ValueError if there are no elements.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.max(x, axis=0).compute()
    array([3., 4.])
    """
    return reduced("max", x, axis, keepdims, initial=initial, where=where)


def mean(
    x: Array,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    *,
    keepdims: bool = False,
    split_every: Any = None,
    where: Any = True,
    weights: Any = None,
) -> Array:
    """The mean; NaN if there are no elements. `where` is a mask of elements to include.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    dtype : dtype or None
        Data type of the result's elements.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`;
        None: 1.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        float64 for integers, otherwise the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.mean(x, axis=0).compute()
    array([2., 3.])
    """
    return reduced("mean", x, axis, keepdims, dtype, where=where, weights=weights)


def min(
    x: Array,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    split_every: Any = None,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The smallest element; NaN if there is one. Complex numbers are compared by their real parts,
    and by their imaginary parts if the real parts are equal.

    `initial` is an additional element. `where` is a mask of elements to include (it needs
    `initial`).

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    initial : scalar or None
        Initial value of the reduction.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        The type of `x`. Lazy; computing raises ValueError if there are no elements.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.min(x, axis=0).compute()
    array([1., 2.])
    """
    return reduced("min", x, axis, keepdims, initial=initial, where=where)


def prod(
    x: Array,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    *,
    keepdims: bool = False,
    split_every: Any = None,
    device: str | None = None,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The product, 1 if there are no elements. Small integers are multiplied in the default integer
    type.

    The result is multiplied by `initial`. `where` is a mask of elements to include.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    dtype : dtype or None
        Data type of the result's elements.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    initial : scalar or None
        Initial value of the reduction.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        For integers, `dtype`, by default int64 or uint64; for other types, the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.prod(x, axis=0).compute()
    array([3., 8.])
    """
    check_device(device)
    return reduced("prod", x, axis, keepdims, dtype, initial=initial, where=where)


def std(
    x: Array,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    split_every: Any = None,
    where: Any = True,
    weights: Any = None,
) -> Array:
    """The standard deviation, with `correction` (or `ddof`) fewer degrees of freedom.

    `where` is a mask of elements to include. For complex numbers it is real.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    dtype : dtype or None
        Data type of the result's elements.
    correction : float, default 0.0
        Degrees of freedom. The divisor is the number of elements minus `correction`; with weights
        w, it is ``sum(w) - correction * sum(w**2) / sum(w)``.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    ddof : float or None
        NumPy's name of `correction`.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`;
        None: 1.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        float64 for integers, otherwise the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.std(x, axis=0).compute()
    array([1., 1.])
    """
    less = correction if ddof is None else ddof
    return reduced("std", x, axis, keepdims, dtype, less, where=where, weights=weights)


def sum(
    x: Array,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    *,
    keepdims: bool = False,
    split_every: Any = None,
    device: str | None = None,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The sum, 0 if there are no elements. Small integers are summed in the default integer type.

    `initial` is added to the result. `where` is a mask of elements to include.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    dtype : dtype or None
        Data type of the result's elements.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.
    initial : scalar or None
        Initial value of the reduction.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        For integers, `dtype`, by default int64 or uint64; for other types, the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.sum(x, axis=0).compute()
    array([4., 6.])
    """
    check_device(device)
    return reduced("sum", x, axis, keepdims, dtype, initial=initial, where=where)


def var(
    x: Array,
    /,
    axis: Axis = None,
    dtype: DTypeLike = None,
    *,
    correction: float = 0.0,
    keepdims: bool = False,
    ddof: float | None = None,
    split_every: Any = None,
    where: Any = True,
    weights: Any = None,
) -> Array:
    """The variance, with `correction` (or `ddof`) fewer degrees of freedom.

    `where` is a mask of elements to include. For complex numbers it is real: the mean of squared
    distances.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute; None: all. Negative numbers count from the last.
    dtype : dtype or None
        Data type of the result's elements.
    correction : float, default 0.0
        Degrees of freedom. The divisor is the number of elements minus `correction`; with weights
        w, it is ``sum(w) - correction * sum(w**2) / sum(w)``.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    ddof : float or None
        NumPy's name of `correction`.
    split_every : int, dict or None
        Ignored: the planner chooses how to split reductions.
    where : array_like of bool, default True
        Elements to include, as a mask; True: all.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`;
        None: 1.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true.
        float64 for integers, otherwise the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.var(x, axis=0).compute()
    array([1., 1.])
    """
    less = correction if ddof is None else ddof
    return reduced("var", x, axis, keepdims, dtype, less, where=where, weights=weights)
