"""Places where Xarray asks whether an array is Dask's, where it means lazy and in chunks.

What follows there for others is NumPy alone: it would compute, or raise an error. Each of these
functions is replaced by one that knows :class:`cubed.Array`, and that hands any other array to
Xarray's own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
from xarray import Dataset
from xarray.backends import api
from xarray.computation import rolling
from xarray.core import accessor_dt, duck_array_ops, groupby, indexing, nputils
from xarray.namedarray.core import NamedArray

import cubed
from cubed._array import Array
from cubed._fill import forward_fill
from cubed.xarray import _chunking
from cubed.xarray._windows import moving


def install() -> None:
    """Puts them in place."""
    _replace(api, "_chunk_ds", _chunking.chunk_opened)
    _replace(Dataset, "chunk", _chunking.chunk_dataset)
    _replace(NamedArray, "chunk", _chunking.chunk_variable)
    _replace(duck_array_ops, "_push", _push)
    _replace(nputils, "least_squares", _least_squares)
    _replace(indexing.ArrayApiIndexingAdapter, "_vindex_get", _vindex_get)
    _replace(rolling.DataArrayRolling, "_array_reduce", _rolling_reduce)
    _replace(groupby.GroupBy, "_flox_reduce", _flox_reduce)
    _replace(groupby.GroupBy, "_flox_scan", _flox_scan)
    _replace(accessor_dt, "_get_date_field", _date_field)
    _replace(accessor_dt, "_round_field", _rounded_date)
    _replace(accessor_dt, "_strftime", _strftime)


def _replace(owner: Any, name: str, ours: Callable[..., Any]) -> None:
    theirs = getattr(owner, name)
    if getattr(theirs, "_knows_cubed", False):
        return

    @wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        out = ours(theirs, *args, **kwargs)
        return theirs(*args, **kwargs) if out is NotImplemented else out

    function._knows_cubed = True  # type: ignore[attr-defined]
    setattr(owner, name, function)


def _push(theirs: Any, array: Any, n: int | None = None, axis: int = -1) -> Any:
    """ffill and bfill."""
    return forward_fill(array, axis, n) if isinstance(array, Array) else NotImplemented


def _vindex_get(theirs: Any, adapter: Any, indexer: Any) -> Any:
    """Points, one for each element of several arrays of positions."""
    if not isinstance(adapter.array, Array):
        return NotImplemented
    before, after = nputils._advanced_indexer_subspaces(indexer.tuple)  # type: ignore[no-untyped-call]
    return cubed.moveaxis(adapter.array[indexer.tuple], before, after)


def _least_squares(theirs: Any, lhs: Any, rhs: Any, rcond: Any = None, skipna: Any = False) -> Any:
    """polyfit, of a matrix in memory and lazy right hand sides: coefficients and residuals."""
    if not isinstance(rhs, Array):
        return NotImplemented
    if skipna:
        return _least_squares_of_columns(lhs, rhs, rcond)
    # Fits are linear in what is fitted: one product with a small matrix.
    inverse = np.linalg.pinv(lhs, rcond=lhs.shape[0] * 2.3e-16 if rcond is None else rcond)
    coefficients = cubed.tensordot(cubed.asarray(inverse, spec=rhs._spec), rhs, axes=((1,), (0,)))
    if np.linalg.matrix_rank(lhs) < lhs.shape[1]:
        return coefficients, cubed.full_like(rhs[0], np.nan, dtype=float)
    fit = cubed.tensordot(cubed.asarray(lhs, spec=rhs._spec), coefficients, axes=((1,), (0,)))
    return coefficients, cubed.sum((rhs - fit) ** 2, axis=0)


def _least_squares_of_columns(lhs: np.ndarray, rhs: Array, rcond: Any) -> tuple[Array, Array]:
    """Each column by itself, without what it misses."""

    def fit(columns: np.ndarray) -> np.ndarray:
        out = np.empty((*columns.shape[:-1], lhs.shape[1] + 1))
        for i in np.ndindex(*columns.shape[:-1]):
            out[i] = nputils._nanpolyfit_1d(columns[i], lhs, rcond)  # type: ignore[no-untyped-call]
        return out

    out: Any = cubed.apply_gufunc(
        fit,
        "(n)->(m)",
        cubed.moveaxis(rhs, 0, -1),
        output_dtypes=float,
        output_sizes={"m": lhs.shape[1] + 1},
        allow_rechunk=True,
    )
    return cubed.moveaxis(out[..., :-1], -1, 0), out[..., -1]


def _rolling_reduce(theirs: Any, windows: Any, *args: Any, **kwargs: Any) -> Any:
    """Windows along one dimension, of blocks with the elements around them.

    Otherwise windows are an axis that is reduced: what Xarray does with arrays that are neither
    NumPy's nor Dask's.
    """
    x = windows.obj.variable._data
    known = {"array_agg_func", "bottleneck_move_func", "numbagg_move_func", "rolling_agg_func"}
    other = set(kwargs) - known - {"keep_attrs", "fillna", "sliding_window_view_kwargs", "ddof"}
    if not isinstance(x, Array) or x.dtype.kind != "f" or windows.ndim != 1 or args or other:
        return NotImplemented
    function = kwargs.get("rolling_agg_func") or kwargs.get("array_agg_func")
    axis, window = windows.obj.get_axis_num(windows.dim[0]), windows.window[0]
    before = window // 2 if windows.center[0] else window - 1
    out = moving(
        getattr(function, "__name__", "").lstrip("_"),
        x,
        axis,
        before,
        window - 1 - before,
        windows.min_periods,
        kwargs.get("ddof", 0),
    )
    if out is None:
        return NotImplemented
    result = windows.obj.copy(data=out)
    if not windows._get_keep_attrs(kwargs.get("keep_attrs")):
        result.attrs = {}
    return result


def _flox_reduce(theirs: Any, groups: Any, *args: Any, **kwargs: Any) -> Any:
    """Before flox is used for the first time, as importing it takes a while."""
    import flox.cubed
    import flox.xarray

    from cubed.xarray._flox import aggregate, groupby_reduce

    _replace(flox.cubed, "cubed_groupby_agg", aggregate)
    _replace(flox.xarray, "groupby_reduce", groupby_reduce)
    return NotImplemented


def _flox_scan(theirs: Any, groups: Any, dim: Any, *, func: str, **kwargs: Any) -> Any:
    """Running totals by group, which flox does not know for lazy arrays: group by group."""
    obj = groups._original_obj
    variables = obj.variables.values() if hasattr(obj, "data_vars") else [obj.variable]
    if not any(isinstance(v._data, Array) for v in variables):
        return NotImplemented
    out = groups.reduce(getattr(duck_array_ops, func), dim=dim, **kwargs)
    return out.assign_coords(groups._obj.coords).transpose(..., *groups._parse_dim(dim))


def _date_field(theirs: Any, values: Any, name: str, dtype: Any) -> Any:
    """Fields of dates, chunk by chunk."""
    if not isinstance(values, Array):
        return NotImplemented
    if name in ("date", "isocalendar", "time"):
        raise NotImplementedError(f"{name} of a lazy array of dates: compute it first")
    return cubed.map_blocks(theirs, values, name, dtype, dtype=dtype)


def _rounded_date(theirs: Any, values: Any, name: str, freq: str) -> Any:
    """Rounded dates, chunk by chunk."""
    if not isinstance(values, Array):
        return NotImplemented
    return cubed.map_blocks(theirs, values, name, freq, dtype=values.dtype)


def _strftime(theirs: Any, values: Any, date_format: str) -> Any:
    if not isinstance(values, Array):
        return NotImplemented
    raise NotImplementedError("strftime of a lazy array of dates: compute it first")
