"""Reductions that skip NaN."""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
from cubed.array._operands import check_device
from cubed.array_api.statistical_functions import reduced
from cubed.base._types import Axis, DTypeLike


def nansum(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False,
    split_every: Any = None, device: str | None = None,
    initial: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """The sum, 0 if all elements are NaN. `initial` is added to the result. `where` is a mask of
    elements to include.

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
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nansum(x).compute()
    array(4.)
    """
    check_device(device)
    return reduced("nansum", x, axis, keepdims, dtype, initial=initial, where=where)


def nanprod(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False,
    split_every: Any = None, device: str | None = None,
    initial: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """The product, 1 if all elements are NaN. The result is multiplied by `initial`. `where` is a
    mask of elements to include.

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
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanprod(x).compute()
    array(3.)
    """
    check_device(device)
    return reduced("nanprod", x, axis, keepdims, dtype, initial=initial, where=where)


def nanmin(
    x: Array,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    split_every: Any = None,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The smallest element; NaN if all elements are NaN. `initial` is an additional element.
    `where` is a mask of elements to include.

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
        The type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanmin(x).compute()
    array(1.)
    """
    return reduced("nanmin", x, axis, keepdims, initial=initial, where=where)


def nanmax(
    x: Array,
    /,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    split_every: Any = None,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The largest element; NaN if all elements are NaN. `initial` is an additional element. `where`
    is a mask of elements to include.

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
        The type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanmax(x).compute()
    array(3.)
    """
    return reduced("nanmax", x, axis, keepdims, initial=initial, where=where)


def nanmean(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False,
    split_every: Any = None, where: Any = True, weights: Any = None,
) -> Array:  # fmt: skip
    """The mean; NaN if all elements are NaN. `where` is a mask of elements to include.

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
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanmean(x).compute()
    array(2.)
    """
    return reduced("nanmean", x, axis, keepdims, dtype, where=where, weights=weights)


def nanvar(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, correction: float = 0.0,
    ddof: float | None = None, keepdims: bool = False, split_every: Any = None, where: Any = True,
    weights: Any = None,
) -> Array:  # fmt: skip
    """The variance, with `correction` (or `ddof`) fewer degrees of freedom. `where` is a mask of
    elements to include.

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
    ddof : float or None
        NumPy's name of `correction`.
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
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanvar(x).compute()
    array(1.)
    """
    less = correction if ddof is None else ddof
    return reduced("nanvar", x, axis, keepdims, dtype, less, where=where, weights=weights)


def nanstd(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, correction: float = 0.0,
    ddof: float | None = None, keepdims: bool = False, split_every: Any = None, where: Any = True,
    weights: Any = None,
) -> Array:  # fmt: skip
    """The standard deviation, with `correction` (or `ddof`) fewer degrees of freedom. `where` is a
    mask of elements to include.

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
    ddof : float or None
        NumPy's name of `correction`.
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
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanstd(x).compute()
    array(1.)
    """
    less = correction if ddof is None else ddof
    return reduced("nanstd", x, axis, keepdims, dtype, less, where=where, weights=weights)
