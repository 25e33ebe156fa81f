"""Reductions over the elements that are not NaN."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed._array import Array, lazy, normalize_axes, real_number
from cubed._dtypes import name_of


def _reduce(
    name: str, x: Array, axis: Any, dtype: Any, keepdims: bool, correction: float = 0.0
) -> Array:
    x = lazy(x)
    if x.dtype.kind in "mM" and name.endswith(("min", "max")):
        from cubed._times import extreme

        return extreme(name, x, axis, keepdims)
    if x.dtype.kind in "mM" and name in ("nansum", "nanmean"):
        from cubed._times import total

        return total(name, x, axis, keepdims)
    core = x._x if dtype is None else _core.astype(x._x, name_of(dtype))
    axes = None if axis is None else normalize_axes(axis, x.ndim)
    return x._like(_core.reduce(name, core, axes, keepdims, real_number(correction, "correction")))


def nansum(
    x: Array, /, axis: Any = None, dtype: Any = None, *, keepdims: bool = False,
    split_every: Any = None,
) -> Array:  # fmt: skip
    """The sum; 0 of none.

    Without the axes (`keepdims`: with one element along them); None: all of them. Integers of
    `dtype`, or int64 or uint64; others of x's type. Lazy.
    """
    return _reduce("nansum", x, axis, dtype, keepdims)


def nanprod(
    x: Array, /, axis: Any = None, dtype: Any = None, *, keepdims: bool = False,
    split_every: Any = None,
) -> Array:  # fmt: skip
    """The product; 1 of none.

    Without the axes (`keepdims`: with one element along them); None: all of them. Integers of
    `dtype`, or int64 or uint64; others of x's type. Lazy.
    """
    return _reduce("nanprod", x, axis, dtype, keepdims)


def nanmin(
    x: Array, /, axis: Any = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The smallest element; NaN of none.

    Without the axes (`keepdims`: with one element along them); None: all of them. x's type. Lazy.
    """
    return _reduce("nanmin", x, axis, None, keepdims)


def nanmax(
    x: Array, /, axis: Any = None, *, keepdims: bool = False, split_every: Any = None
) -> Array:
    """The largest element; NaN of none.

    Without the axes (`keepdims`: with one element along them); None: all of them. x's type. Lazy.
    """
    return _reduce("nanmax", x, axis, None, keepdims)


def nanmean(
    x: Array, /, axis: Any = None, dtype: Any = None, *, keepdims: bool = False,
    split_every: Any = None,
) -> Array:  # fmt: skip
    """The mean; NaN of none.

    Without the axes (`keepdims`: with one element along them); None: all of them. float64 for
    integers, else x's type. Lazy.
    """
    return _reduce("nanmean", x, axis, dtype, keepdims)


def nanvar(
    x: Array, /, axis: Any = None, dtype: Any = None, *, correction: float = 0.0,
    ddof: float | None = None, keepdims: bool = False, split_every: Any = None,
) -> Array:  # fmt: skip
    """The variance, with `correction` (or `ddof`) fewer degrees of freedom.

    Without the axes (`keepdims`: with one element along them); None: all of them. float64 for
    integers, else x's type. Lazy; TypeError for complex numbers.
    """
    return _reduce("nanvar", x, axis, dtype, keepdims, correction if ddof is None else ddof)


def nanstd(
    x: Array, /, axis: Any = None, dtype: Any = None, *, correction: float = 0.0,
    ddof: float | None = None, keepdims: bool = False, split_every: Any = None,
) -> Array:  # fmt: skip
    """The standard deviation, with `correction` (or `ddof`) fewer degrees of freedom.

    Without the axes (`keepdims`: with one element along them); None: all of them. float64 for
    integers, else x's type. Lazy; TypeError for complex numbers.
    """
    return _reduce("nanstd", x, axis, dtype, keepdims, correction if ddof is None else ddof)
