"""Reductions over the elements that are not NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import check_device, lazy, normalize_axes, real_number
from cubed.array._times import extreme, total
from cubed.array_api._chosen import (
    complex_extreme,
    filled,
    mask_of,
    mean_of_chosen,
    started,
    variance,
)
from cubed.array_api.elementwise_functions import isnan, logical_and
from cubed.array_api.searching_functions import where
from cubed.base._docs import REDUCED, documented
from cubed.base._dtypes import name_of
from cubed.base._types import Axis, DTypeLike


def _reduce(
    name: str,
    x: Array,
    axis: Axis,
    dtype: DTypeLike,
    keepdims: bool,
    correction: float = 0.0,
    initial: Any = None,
    where: Any = True,
) -> Array:
    x = lazy(x)
    if name in ("nanvar", "nanstd") and (where is not True or x.dtype.kind == "c"):
        root = name == "nanstd"
        return variance(x, axis, keepdims, dtype, correction, root, where, True)
    if where is not True and name == "nanmean":
        x = x if dtype is None else x.astype(dtype)
        chosen = mask_of(where, x)
        if x.dtype.kind in "fc":
            chosen = logical_and(chosen, ~isnan(x))
        return mean_of_chosen(x, axis, keepdims, None, chosen)
    if where is not True:
        x = filled(name, x, where, initial)
    if initial is not None:

        def reduce(name: str, x: Array, axis: Axis, keepdims: bool, dtype: Any = None) -> Array:
            return _reduce(name, x, axis, dtype, keepdims)

        return started(name, x, axis, keepdims, dtype, initial, reduce)
    if x.dtype.kind == "c" and name in ("nanmax", "nanmin"):
        return complex_extreme(name, x, axis, keepdims)
    if x.dtype.kind in "mM" and name.endswith(("min", "max")):
        return extreme(name, x, axis, keepdims)
    if x.dtype.kind in "mM" and name in ("nansum", "nanmean"):
        return total(name, x, axis, keepdims)
    core = x._x
    if dtype is not None:
        to = np.dtype(dtype)
        if x.dtype.kind in "fc" and to.kind not in "fc":
            if name not in ("nansum", "nanprod"):
                raise TypeError(f"{name}: dtype is {to} for an array of {x.dtype}, expected floats")
            core = without_nan(x, name == "nanprod")._x  # casts know no NaN
        core = _core.astype(core, name_of(to))
    axes = None if axis is None else normalize_axes(axis, x.ndim)
    out = _core.reduce(name, core, axes, keepdims, real_number(correction, "correction"))
    if dtype is not None and out.dtype != name_of(dtype):
        out = _core.astype(out, name_of(dtype))
    return x._like(out)


def without_nan(x: Array, value: float) -> Array:
    """x with another value for NaN."""
    return where(isnan(x), float(value), x) if x.dtype.kind in "fc" else x


@documented(returns=REDUCED + "Integers of `dtype`, or int64 or uint64; others of x's type. Lazy.")
def nansum(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False,
    split_every: Any = None, device: str | None = None,
    initial: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """The sum; 0 of none. `initial` is added to it, `where` says which elements count.

    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nansum(x).compute()
    array(4.)
    """
    check_device(device)
    return _reduce("nansum", x, axis, dtype, keepdims, initial=initial, where=where)


@documented(returns=REDUCED + "Integers of `dtype`, or int64 or uint64; others of x's type. Lazy.")
def nanprod(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False,
    split_every: Any = None, device: str | None = None,
    initial: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """The product; 1 of none. `initial` times it, and `where` says which elements count.

    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanprod(x).compute()
    array(3.)
    """
    check_device(device)
    return _reduce("nanprod", x, axis, dtype, keepdims, initial=initial, where=where)


@documented(returns=REDUCED + "x's type. Lazy.")
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
    """The smallest element; NaN of none. `initial` is one more, `where` says which ones count.

    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanmin(x).compute()
    array(1.)
    """
    return _reduce("nanmin", x, axis, None, keepdims, initial=initial, where=where)


@documented(returns=REDUCED + "x's type. Lazy.")
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
    """The largest element; NaN of none. `initial` is one more, `where` says which ones count.

    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanmax(x).compute()
    array(3.)
    """
    return _reduce("nanmax", x, axis, None, keepdims, initial=initial, where=where)


@documented(returns=REDUCED + "float64 for integers, else x's type. Lazy.")
def nanmean(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, keepdims: bool = False,
    split_every: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """The mean; NaN of none. `where` says which elements count.

    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanmean(x).compute()
    array(2.)
    """
    return _reduce("nanmean", x, axis, dtype, keepdims, where=where)


@documented(returns=REDUCED + "float64 for integers, else x's type. Lazy.")
def nanvar(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, correction: float = 0.0,
    ddof: float | None = None, keepdims: bool = False, split_every: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """The variance, with `correction` (or `ddof`) fewer degrees of freedom. `where` says
    which elements count.

    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanvar(x).compute()
    array(1.)
    """
    return _reduce(
        "nanvar", x, axis, dtype, keepdims, correction if ddof is None else ddof, where=where
    )


@documented(returns=REDUCED + "float64 for integers, else x's type. Lazy.")
def nanstd(
    x: Array, /, axis: Axis = None, dtype: DTypeLike = None, *, correction: float = 0.0,
    ddof: float | None = None, keepdims: bool = False, split_every: Any = None, where: Any = True,
) -> Array:  # fmt: skip
    """The standard deviation, with `correction` (or `ddof`) fewer degrees of freedom. `where` says
    which elements count.

    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nanstd(x).compute()
    array(1.)
    """
    return _reduce(
        "nanstd", x, axis, dtype, keepdims, correction if ddof is None else ddof, where=where
    )
