"""Reductions of Xarray's rolling windows, by blocks that include neighbouring elements."""

from __future__ import annotations

from typing import Any

import numpy as np

import cubed
from cubed.array._array import Array
from cubed.xarray._hooks import Arguments
from cubed.xarray._windows import LAST, counted, moving, reduced

#: Arguments by which Xarray selects an implementation, and the options that these replacements
#: support.
_KNOWN = {"array_agg_func", "bottleneck_move_func", "numbagg_move_func", "rolling_agg_func"}
_KNOWN |= {"keep_attrs", "fillna", "sliding_window_view_kwargs", "ddof"}
#: Default of `fillna`: the missing value of the type to which Xarray promotes.
_PROMOTED = object()


def array_reduce(theirs: Any, rolling: Any, *args: Any, **kwargs: Any) -> Any:
    """Computes sums, means, products, extremes, medians and deviations of windows.

    Xarray calls :func:`reduce` for all other functions.
    """
    x = rolling.obj.variable._data
    if not isinstance(x, Array) or x.dtype.kind not in "fiubmM" or args:
        return NotImplemented
    function: Any = kwargs.get("rolling_agg_func") or kwargs.get("array_agg_func")
    name = getattr(function, "__name__", "").lstrip("_")
    if x.dtype.kind in "mM":
        return _of_times(rolling, name, kwargs) if name in _EXTREMES else NotImplemented
    if not set(kwargs) - _KNOWN:
        by_bottleneck = _calls_bottleneck(rolling, kwargs.get("bottleneck_move_func"))
        dtype, keep_attrs = _result_dtype(rolling, name, by_bottleneck), kwargs.get("keep_attrs")
        if name in LAST and by_bottleneck:
            from xarray.core import dtypes

            limit: Any = dtypes.get_neg_infinity if name == "argmax" else dtypes.get_pos_infinity
            fill = limit(rolling.obj.dtype, True)  # an integer for integer types
            return reduce(theirs, rolling, LAST[name], keep_attrs, fillna=fill).astype(dtype)
        if name == "median":
            data = reduced(function, x.astype(dtype), _windows(rolling), np.nan, {})
            return _known(rolling, data, keep_attrs).astype(dtype)
        out = moving(name, x, _windows(rolling), rolling.min_periods, kwargs.get("ddof", 0), dtype)
        if out is not None:
            return _wrapped(rolling, out, keep_attrs)
    # Before 2025.7, Xarray would call these functions, because it takes our arrays for NumPy's.
    return Arguments(rolling, **kwargs | {"bottleneck_move_func": None, "numbagg_move_func": None})


#: Reductions of windows of times. They are applied to the times as integers.
_EXTREMES: dict[str, Any] = {"max": np.max, "min": np.min, "argmax": np.argmax, "argmin": np.argmin}


def _of_times(rolling: Any, name: str, kwargs: dict[str, Any]) -> Any:
    """Computes extremes of windows of times, without missing times.

    Results have the type of the times. For arrays in memory, Xarray returns floats or objects.
    """
    x = rolling.obj.variable._data
    missing, last = (
        np.iinfo(np.int64).min,
        np.iinfo(np.int64).max,
    )  # times are converted to integers; the smallest integer represents NaT
    largest = name.endswith("max")
    fill = missing if largest else last
    ints = x.astype(np.int64)
    if not largest:
        ints = cubed.where(ints == missing, last, ints)
    function = _EXTREMES[name]
    if name in LAST and _calls_bottleneck(rolling, kwargs.get("bottleneck_move_func")):
        function = LAST[name]
    out = reduced(function, ints, _windows(rolling), fill, {})
    if name == "min":
        out = cubed.where(out == last, missing, out)
    if name not in LAST:
        out = out.astype(x.dtype)
    return _known(rolling, out, kwargs.get("keep_attrs"))


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
    """Applies any function to windows."""
    from xarray.core import dtypes

    x = rolling.obj.variable._data
    if not _is_real(x):
        return NotImplemented
    if fillna is _PROMOTED or fillna is dtypes.NA:
        dtype, fill = dtypes.maybe_promote(x.dtype)
        # Bools cannot represent NaN. Xarray promotes them to Python objects, which Cubed does not
        # have, so this converts them to floats.
        x = x.astype(float if np.dtype(dtype).kind == "O" else dtype)
    else:
        x, fill = rolling.obj.fillna(fillna).variable._data, fillna
    return _known(rolling, reduced(func, x, _windows(rolling), fill, kwargs), keep_attrs)


def counts(theirs: Any, rolling: Any, keep_attrs: Any = None) -> Any:
    """Counts the elements of each window that are not missing."""
    if not isinstance(rolling.obj.variable._data, Array):
        return NotImplemented
    known = rolling.obj.notnull().variable._data
    return _wrapped(rolling, counted(known, _windows(rolling)), keep_attrs)


def _calls_bottleneck(rolling: Any, function: Any) -> bool:
    """Returns whether Xarray would call bottleneck for a NumPy array.

    bottleneck returns the last position of equal elements.
    """
    from xarray import get_options

    options: Any = get_options
    return function is not None and options()["use_bottleneck"] and len(rolling.dim) == 1


def _result_dtype(rolling: Any, name: str, by_bottleneck: bool) -> np.dtype[Any]:
    """Returns the type that Xarray gives a reduction of windows of an array in memory.

    The type is float64, except for floats and small integers.
    """
    dtype = rolling.obj.dtype
    if dtype.kind == "f":
        return dtype
    small = dtype.kind in "iu" and dtype.itemsize <= 2
    # bottleneck returns float64 for integers, but float32 if Xarray has padded them with NaN.
    single = rolling.center[0] if by_bottleneck else name not in ("sum", "mean", "prod")
    return np.dtype(np.float32 if small and single else np.float64)


def _is_real(x: Any) -> bool:
    return isinstance(x, Array) and x.dtype.kind in "fiub"


def _windows(rolling: Any) -> dict[int, tuple[int, int]]:
    found = {}
    for dim, window, center in zip(rolling.dim, rolling.window, rolling.center, strict=True):
        before = window // 2 if center else window - 1
        found[rolling.obj.get_axis_num(dim)] = (before, window - 1 - before)
    return found


def _known(rolling: Any, data: Array, keep_attrs: Any) -> Any:
    """Returns an object of Xarray with these data. The results of windows with fewer than
    `min_periods` elements that are not missing are replaced by NaN."""
    out = _wrapped(rolling, data, keep_attrs)
    return out.where(rolling._counts(keep_attrs=False) >= rolling.min_periods)


def _wrapped(rolling: Any, data: Array, keep_attrs: Any) -> Any:
    out = rolling.obj.copy(data=data)
    if not rolling._get_keep_attrs(keep_attrs):
        out.attrs = {}
    return out
