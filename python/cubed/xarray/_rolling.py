"""Xarray's rolling: windows of blocks with the elements around them."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.xarray._hooks import Arguments
from cubed.xarray._windows import LAST, counted, moving, reduced

#: What Xarray gives to choose among implementations.
_KNOWN = {"array_agg_func", "bottleneck_move_func", "numbagg_move_func", "rolling_agg_func"}
_KNOWN |= {"keep_attrs", "fillna", "sliding_window_view_kwargs", "ddof"}
#: The missing value of Xarray's promoted type.
_PROMOTED = object()


def array_reduce(theirs: Any, rolling: Any, *args: Any, **kwargs: Any) -> Any:
    """Sums, means, products, extremes and deviations; others come to :func:`reduce`."""
    x = rolling.obj.variable._data
    if not _is_real(x) or args:
        return NotImplemented
    if not set(kwargs) - _KNOWN:
        function = kwargs.get("rolling_agg_func") or kwargs.get("array_agg_func")
        name = getattr(function, "__name__", "").lstrip("_")
        if name in LAST and _calls_bottleneck(rolling, kwargs.get("bottleneck_move_func")):
            from xarray.core import dtypes

            limit: Any = dtypes.get_neg_infinity if name == "argmax" else dtypes.get_pos_infinity
            fill = limit(rolling.obj.dtype, True)  # of integers their own
            return reduce(theirs, rolling, LAST[name], kwargs.get("keep_attrs"), fillna=fill)
        out = moving(name, x, _windows(rolling), rolling.min_periods, kwargs.get("ddof", 0))
        if out is not None:
            return _wrapped(rolling, out, kwargs.get("keep_attrs"))
    # Before 2025.7 Xarray takes these for any array in memory, as it takes ours for one.
    return Arguments(rolling, **kwargs | {"bottleneck_move_func": None, "numbagg_move_func": None})


def reduce(
    theirs: Any,
    rolling: Any,
    func: Any,
    keep_attrs: Any = None,
    *,
    sliding_window_view_kwargs: Any = None,
    fillna: Any = _PROMOTED,
    **kwargs: Any,
) -> Any:
    """Any function of windows."""
    from xarray.core import dtypes

    x = rolling.obj.variable._data
    if not _is_real(x):
        return NotImplemented
    if fillna is _PROMOTED or fillna is dtypes.NA:
        dtype, fill = dtypes.maybe_promote(x.dtype)
        if np.dtype(dtype).kind == "O":  # bools, which have no NaN
            return NotImplemented
        x = x.astype(dtype)
    else:
        x, fill = rolling.obj.fillna(fillna).variable._data, fillna
    out = _wrapped(rolling, reduced(func, x, _windows(rolling), fill, kwargs), keep_attrs)
    return out.where(rolling._counts(keep_attrs=False) >= rolling.min_periods)


def counts(theirs: Any, rolling: Any, keep_attrs: Any = None) -> Any:
    """How many elements of windows are known."""
    if not isinstance(rolling.obj.variable._data, Array):
        return NotImplemented
    known = rolling.obj.notnull().variable._data
    return _wrapped(rolling, counted(known, _windows(rolling)), keep_attrs)


def _calls_bottleneck(rolling: Any, function: Any) -> bool:
    """Whether Xarray would of NumPy's arrays, for which the last of equal elements is found."""
    from xarray import get_options

    options: Any = get_options
    return function is not None and options()["use_bottleneck"] and len(rolling.dim) == 1


def _is_real(x: Any) -> bool:
    return isinstance(x, Array) and x.dtype.kind in "fiub"


def _windows(rolling: Any) -> dict[int, tuple[int, int]]:
    found = {}
    for dim, window, center in zip(rolling.dim, rolling.window, rolling.center, strict=True):
        before = window // 2 if center else window - 1
        found[rolling.obj.get_axis_num(dim)] = (before, window - 1 - before)
    return found


def _wrapped(rolling: Any, data: Array, keep_attrs: Any) -> Any:
    out = rolling.obj.copy(data=data)
    if not rolling._get_keep_attrs(keep_attrs):
        out.attrs = {}
    return out
