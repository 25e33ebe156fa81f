"""Reductions over the elements that are not NaN."""

from __future__ import annotations

from typing import Any

from cubed.array._array import Array
from cubed.array._operands import check_device
from cubed.array_api.statistical_functions import reduced
from cubed.base._docs import REDUCED, documented
from cubed.base._types import Axis, DTypeLike


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
    return reduced("nansum", x, axis, keepdims, dtype, initial=initial, where=where)


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
    return reduced("nanprod", x, axis, keepdims, dtype, initial=initial, where=where)


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
    return reduced("nanmin", x, axis, keepdims, initial=initial, where=where)


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
    return reduced("nanmax", x, axis, keepdims, initial=initial, where=where)


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
    return reduced("nanmean", x, axis, keepdims, dtype, where=where)


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
    return reduced(
        "nanvar", x, axis, keepdims, dtype, correction if ddof is None else ddof, where=where
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
    return reduced(
        "nanstd", x, axis, keepdims, dtype, correction if ddof is None else ddof, where=where
    )
