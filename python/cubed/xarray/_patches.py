"""Places where Xarray asks whether an array is Dask's, where it means lazy and in chunks.

What follows there for others is NumPy alone: it would compute, or raise an error. Each of these
functions is replaced by one that knows :class:`cubed.Array`, and that hands any other array to
Xarray's own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import xarray
from xarray import Dataset, Variable
from xarray.backends import api
from xarray.computation import computation, fit, rolling, weighted
from xarray.core import accessor_dt, duck_array_ops, groupby, indexing, missing, nputils, parallel
from xarray.namedarray.core import NamedArray
from xarray.structure import concat, merge

import cubed
from cubed._array import Array
from cubed._fill import forward_fill
from cubed.xarray import _along, _chunking, _rolling


def install() -> None:
    """Puts them in place."""
    _replace(api, "_chunk_ds", _chunking.chunk_opened)
    _replace(Dataset, "chunk", _chunking.chunk_dataset)
    _replace(NamedArray, "chunk", _chunking.chunk_variable)
    _replace(parallel, "map_blocks", _map_blocks)
    _replace(xarray, "map_blocks", _map_blocks)
    _replace(duck_array_ops, "_push", _push)
    for module in (duck_array_ops, merge, concat):
        _replace(module, "lazy_array_equiv", _equivalent)
    _replace(computation, "_calc_idxminmax", _along.position_labels)
    _replace(nputils, "least_squares", _least_squares)
    _replace(indexing.ArrayApiIndexingAdapter, "_vindex_get", _vindex_get)
    _replace(rolling.DataArrayRolling, "_array_reduce", _rolling.array_reduce)
    _replace(rolling.DataArrayRolling, "reduce", _rolling.reduce)
    _replace(rolling.DataArrayRolling, "_counts", _rolling.counts)
    _replace(missing, "apply_ufunc", _along.interpolate_missing)
    _replace(Variable, "rank", _along.rank)
    _replace(fit, "curvefit", _along.curvefit)
    _replace(weighted.Weighted, "_weighted_quantile", _along.weighted_quantile)
    _replace(groupby.GroupBy, "_flox_reduce", _with_flox)
    _replace(groupby.GroupBy, "_flox_scan", _with_flox)
    if "flox" in sys.modules:
        _know_flox()
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


def _map_blocks(theirs: Any, *args: Any, **kwargs: Any) -> Any:
    from cubed.xarray._blocks import map_blocks

    return map_blocks(theirs, *args, **kwargs)


def _equivalent(theirs: Any, a: Any, b: Any) -> Any:
    """Arrays that are the same without being computed."""
    both = isinstance(a, Array) and isinstance(b, Array)
    return True if both and a._x is b._x else NotImplemented


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
        extra_projected_mem=None,
    )
    return cubed.moveaxis(out[..., :-1], -1, 0), out[..., -1]


def _strftime(theirs: Any, values: Any, date_format: str) -> Any:
    """Text of dates, chunk by chunk: as wide as that of a day of the leap year 2024 can be."""
    if not isinstance(values, Array):
        return NotImplemented
    days = np.arange("2024-01-01", "2025-01-01", dtype="M8[D]")
    samples = theirs(days.astype("M8[ns]") + np.timedelta64(86_399_999_999_999, "ns"), date_format)
    dtype = np.dtype(f"U{max(3, *map(len, samples))}")
    return cubed.map_blocks(_text, values, theirs=theirs, date_format=date_format, dtype=dtype)


def _text(block: np.ndarray, theirs: Callable[..., Any], date_format: str) -> np.ndarray:
    return theirs(block, date_format).astype(str)


def _with_flox(theirs: Any, *args: Any, **kwargs: Any) -> Any:
    """Before flox is used for the first time, as importing it takes a while."""
    _know_flox()
    return NotImplemented


def _know_flox() -> None:
    import flox.core
    import flox.xarray

    from cubed.xarray._flox import groupby_reduce, groupby_scan

    for module in (flox, flox.core, flox.xarray):
        _replace(module, "groupby_reduce", groupby_reduce)
    _replace(flox, "groupby_scan", groupby_scan)


def _date_field(theirs: Any, values: Any, name: str, dtype: Any) -> Any:
    """Fields of dates, chunk by chunk."""
    if not isinstance(values, Array):
        return NotImplemented
    if name in ("date", "time"):
        raise NotImplementedError(f"{name} of a lazy array of dates: compute it first")
    if name == "isocalendar":  # year, week and day
        chunks = ((3,), *values.chunks)
        return cubed.map_blocks(theirs, values, name, dtype, dtype=dtype, new_axis=0, chunks=chunks)
    kept = np.dtype("U3") if name == "season" else dtype
    return cubed.map_blocks(theirs, values, name, dtype, dtype=kept)


def _rounded_date(theirs: Any, values: Any, name: str, freq: str) -> Any:
    """Rounded dates, chunk by chunk."""
    if not isinstance(values, Array):
        return NotImplemented
    return cubed.map_blocks(theirs, values, name, freq, dtype=values.dtype)
