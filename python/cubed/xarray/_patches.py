"""Replacements for Xarray functions that treat only Dask arrays as lazy and chunked.

These functions pass all other arrays to NumPy, which would compute a lazy array, or raise an error.
Each replacement handles :class:`cubed.Array`, and calls Xarray's own function for all others.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from threading import RLock
from typing import Any

import numpy as np
import xarray
from xarray.core.dtypes import NA

import cubed
from cubed.array._array import Array
from cubed.array._neighbours import held, is_foreign, refusal
from cubed.array._operands import common_spec
from cubed.array_api._edges import without_infinities
from cubed.base._types import NDArray
from cubed.blocks._gufunc import apply_to_cores
from cubed.functions.indexing import forward_fill
from cubed.xarray import _accessor, _along, _chunking, _hooks, _rolling, _strings, _writing
from cubed.xarray._hooks import Arguments, Hook

_installing = RLock()


def install() -> None:
    """Installs the replacements and the accessor; those for flox only if flox is imported."""
    with _installing:
        _hooks.install(HOOKS)
        _accessor.register()


def _push(theirs: Any, array: Any, n: int | None = None, axis: int = -1) -> Any:
    """Fills missing elements, for ffill and bfill."""
    return forward_fill(array, axis, n) if isinstance(array, Array) else NotImplemented


def _map_blocks(theirs: Any, *args: Any, **kwargs: Any) -> Any:
    from cubed.xarray._blocks import map_blocks  # lazy: rarely needed

    return map_blocks(theirs, *args, **kwargs)


def _equivalent(theirs: Any, a: Any, b: Any) -> Any:
    """Returns True if both arrays are the same node of a plan, without computing them."""
    both = isinstance(a, Array) and isinstance(b, Array)
    return True if both and a._x is b._x else NotImplemented


def _shift(theirs: Any, v: Any, shifts: Any = None, fill_value: Any = NA, **kwargs: Any) -> Any:
    """Converts lazy bools to floats and shifts them, if no fill value is given."""
    if not _are_bools(v) or fill_value is not NA:
        return NotImplemented
    return Arguments(v.astype(float), shifts, **kwargs)


def _pad(
    theirs: Any,
    v: Any,
    pad_width: Any = None,
    mode: str = "constant",
    stat_length: Any = None,
    constant_values: Any = None,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Converts lazy bools to floats and pads them, if no fill value is given."""
    given = constant_values is not None and constant_values is not NA
    if not _are_bools(v) or mode != "constant" or given:
        return NotImplemented
    return Arguments(v.astype(float), pad_width, mode, stat_length, None, *args, **kwargs)


def _rolling_window(theirs: Any, v: Any, *args: Any, fill_value: Any = NA, **kwargs: Any) -> Any:
    """Converts lazy bools to floats and makes windows of them, if no fill value is given."""
    if not _are_bools(v) or fill_value is not NA:
        return NotImplemented
    return Arguments(v.astype(float), *args, **kwargs)


def _are_bools(v: Any) -> bool:
    """Returns whether a variable has lazy bools.

    Xarray mixes bools and NaN in an array of Python objects, which cannot be lazy. The replacements
    use the floats 0.0, 1.0 and NaN instead.
    """
    return isinstance(v._data, Array) and v._data.dtype.kind == "b"


def _equals(theirs: Any, first: Any, second: Any, *args: Any, **kwargs: Any) -> Any:
    """Compares a lazy array with an array of another library.

    Raises ValueError if they cannot be compared, because Xarray would turn a TypeError into False.
    """
    both = [first, getattr(second, "variable", second)]
    data = [getattr(v, "_data", None) for v in both]
    if all(isinstance(d, Array) or not is_foreign(type(d)) for d in data):
        return NotImplemented
    for i, d in enumerate(data):
        if is_foreign(type(d)) and getattr(d, "chunks", None) is not None and held(d) is None:
            both[i] = both[i].copy(deep=False, data=cubed.from_array(d))
    if np.shape(both[0]._data) == np.shape(both[1]._data):
        try:
            both[0]._data == both[1]._data  # noqa: B015
        except Exception as e:
            if str(e) in (refusal(d, "equal") for d in data):
                raise ValueError(str(e)) from e  # because Xarray would hide a TypeError
            return NotImplemented  # Xarray's own function gets the same error, and handles it
    return Arguments(*both, *args, **kwargs)


def _is_lazy_scalar(theirs: Any, x: Any) -> Any:
    """Returns True for a lazy index without dimensions, which drops a dimension."""
    return True if isinstance(x, Array) and not x.ndim else NotImplemented


def _getitem(theirs: Any, v: Any, key: Any) -> Any:
    """Selects values in memory at lazy positions of several dimensions, as a lazy array.

    Positions of one dimension are left to Xarray, which computes them because it also selects from
    the index.
    """
    items = key if isinstance(key, tuple) else (key,)
    positions = [getattr(k, "_data", k) for k in items]
    lazy = [p for p in positions if isinstance(p, Array)]
    if isinstance(v._data, Array) or all(p.ndim == 1 for p in lazy) or v.dtype.kind == "O":
        return NotImplemented
    spec = common_spec(*lazy)
    return Arguments(v.to_base_variable().copy(data=cubed.asarray(v.values, spec=spec)), key)


def _vindex_get(theirs: Any, adapter: Any, indexer: Any) -> Any:
    """Selects points: one for each element of several arrays of positions."""
    key = indexer.tuple
    out = adapter.array[key]
    at = [i for i, k in enumerate(key) if not isinstance(k, slice)]
    if at and at[-1] - at[0] < len(at):  # otherwise NumPy puts the axes of the points first
        points = range(max(np.ndim(key[i]) for i in at))
        out = cubed.moveaxis(out, [at[0] + k for k in points], list(points))
    return out


def _least_squares(theirs: Any, lhs: Any, rhs: Any, rcond: Any = None, skipna: Any = False) -> Any:
    """Fits lazy right-hand sides to a matrix in memory, for polyfit.

    Returns coefficients and residuals.
    """
    if not isinstance(rhs, Array):
        return NotImplemented
    if skipna:
        return _least_squares_of_columns(lhs, rhs, rcond)
    rhs = without_infinities(rhs)
    # A fit is linear in the data, so it is a product with a small matrix.
    inverse = np.linalg.pinv(lhs, rcond=lhs.shape[0] * 2.3e-16 if rcond is None else rcond)
    coefficients = cubed.tensordot(cubed.asarray(inverse, spec=rhs._spec), rhs, axes=((1,), (0,)))
    if np.linalg.matrix_rank(lhs) < lhs.shape[1]:
        return coefficients, cubed.full_like(rhs[0], np.nan, dtype=float)
    fit = cubed.tensordot(cubed.asarray(lhs, spec=rhs._spec), coefficients, axes=((1,), (0,)))
    return coefficients, cubed.sum((rhs - fit) ** 2, axis=0)


def _least_squares_of_columns(lhs: NDArray, rhs: Array, rcond: Any) -> tuple[Array, Array]:
    """Fits each column separately, without its missing values."""

    def fit(columns: NDArray) -> NDArray:
        out = np.full((*columns.shape[:-1], lhs.shape[1] + 1), np.nan)
        for i in np.ndindex(*columns.shape[:-1]):
            known = ~np.isnan(columns[i])
            if known.any():
                column = columns[i][known]
                out[i][:-1], residuals, _, _ = np.linalg.lstsq(lhs[known], column, rcond=rcond)
                out[i][-1:] = residuals[:1] if residuals.size else np.nan
        return out

    out: Any = apply_to_cores(
        fit,
        "(n)->(m)",
        cubed.moveaxis(rhs, 0, -1),
        output_dtypes=float,
        output_sizes={"m": lhs.shape[1] + 1},
        allow_rechunk=True,
        by_lines=True,
    )
    return cubed.moveaxis(out[..., :-1], -1, 0), out[..., -1]


def _strftime(theirs: Any, values: Any, date_format: str) -> Any:
    """Formats lazy dates chunk by chunk.

    The strings are as long as the longest string of a day of the leap year 2024.
    """
    if not isinstance(values, Array):
        return NotImplemented
    days = np.arange("2024-01-01", "2025-01-01", dtype="M8[D]")
    samples = theirs(days.astype("M8[ns]") + np.timedelta64(86_399_999_999_999, "ns"), date_format)
    dtype = np.dtype(f"U{max(3, *map(len, samples))}")
    return cubed.map_blocks(_text, values, theirs=theirs, date_format=date_format, dtype=dtype)


def _text(block: NDArray, theirs: Callable[..., Any], date_format: str) -> NDArray:
    return theirs(block, date_format).astype(str)


def _with_flox(theirs: Any, *args: Any, **kwargs: Any) -> Any:
    """Installs the replacements for flox before its first use, because importing flox is slow."""
    import flox.core
    import flox.xarray  # noqa: F401

    install()
    if kwargs.get("func") == "mean" and kwargs.get("skipna") is None:
        # By default flox skips missing floats. Xarray without flox also skips missing times.
        return Arguments(*args, **kwargs | {"skipna": True})
    return NotImplemented


def _groupby_reduce(theirs: Any, *args: Any, **kwargs: Any) -> Any:
    from cubed.xarray._flox import groupby_reduce  # lazy: flox may be missing

    return groupby_reduce(theirs, *args, **kwargs)


def _groupby_scan(theirs: Any, *args: Any, **kwargs: Any) -> Any:
    from cubed.xarray._flox import groupby_scan  # lazy: flox may be missing

    return groupby_scan(theirs, *args, **kwargs)


def _first_or_last(
    theirs: Any, groups: Any, op: Any, skipna: bool | None, keep_attrs: bool | None
) -> Any:
    """Returns the first or last elements of groups with lazy labels.

    Xarray would return the array unchanged, as if each label occurred once.
    """
    if not getattr(groups, "_by_chunked", False):
        return NotImplemented
    options: Any = xarray.get_options
    if not options()["use_flox"] or importlib.util.find_spec("flox") is None:
        groups._raise_if_by_is_chunked()  # the error advises the user
    from flox.xrdtypes import NA

    return groups._flox_reduce(
        dim=None, func=op, skipna=skipna, keep_attrs=keep_attrs, fill_value=NA
    )


def _date_field(theirs: Any, values: Any, name: str, dtype: Any) -> Any:
    """Computes a field of lazy dates, such as the year, chunk by chunk."""
    if not isinstance(values, Array):
        return NotImplemented
    if name in ("date", "time"):
        raise NotImplementedError(f"{name} of a lazy array of dates: compute it first")
    if np.dtype(dtype).kind == "i" and values.dtype.kind in "mM" and _has_missing(values):
        dtype = np.dtype(float)
    if name == "isocalendar":  # returns year, week and day
        chunks = ((3,), *values.chunks)
        return cubed.map_blocks(theirs, values, name, dtype, dtype=dtype, new_axis=0, chunks=chunks)
    kept = np.dtype("U3") if name == "season" else dtype
    return cubed.map_blocks(theirs, values, name, dtype, dtype=kept)


def _has_missing(dates: Array) -> bool:
    """Returns whether a date is NaT. Integer fields are then float64, with NaN for NaT.

    Computed immediately, because the type of the result depends on it. The dates are read once.
    """
    return bool(cubed.any(cubed.isnat(dates)).compute())


def _rounded_date(theirs: Any, values: Any, name: str, freq: str) -> Any:
    """Rounds lazy dates, chunk by chunk."""
    if not isinstance(values, Array):
        return NotImplemented
    return cubed.map_blocks(theirs, values, name, freq, dtype=values.dtype)


def _methods(*names: str) -> tuple[str, ...]:
    return tuple(f"{owner}.{name}" for name in names for owner in ("DataArray", "Dataset"))


_CORE, _COMPUTATION = "xarray.core", "xarray.computation"
_ROLLING = f"{_COMPUTATION}.rolling {_CORE}.rolling"
_DATES = f"{_CORE}.accessor_dt"
_STRINGS = f"{_CORE}.accessor_str"

#: All replacements. docs/dev/xarray-hooks.md gives reasons, and possible public hooks instead.
HOOKS = (
    Hook("xarray", "Dataset.chunk", _chunking.chunk_dataset, "chunk"),
    Hook("xarray.namedarray.core", "NamedArray.chunk", _chunking.chunk_variable, "chunk"),
    Hook("xarray.backends.api", "_chunk_ds", _chunking.chunk_opened, "open_dataset with chunks"),
    Hook("xarray.backends.zarr", "ZarrStore.set_variables", _writing.set_variables, "to_zarr"),
    *(
        Hook("xarray.backends.writers xarray.backends.api", name, check, name)
        for name, check in (
            ("to_zarr", _writing.check_zarr),
            ("to_netcdf", _writing.check_netcdf),
            ("_datatree_to_zarr", _writing.check_zarr),
            ("_datatree_to_netcdf", _writing.check_netcdf),
        )
    ),
    Hook("xarray", "map_blocks", _map_blocks, "map_blocks"),
    Hook(
        f"{_CORE}.parallel", "map_blocks", _map_blocks, "map_blocks", public=_methods("map_blocks")
    ),
    Hook(f"{_CORE}.duck_array_ops", "_push", _push, "ffill and bfill", _methods("ffill", "bfill")),
    *(
        Hook(f"{_CORE}.duck_array_ops", name, _strings.extreme, f"{name} of strings")
        for name in ("max", "min", "argmax", "argmin")
    ),
    *(
        Hook(where, "lazy_array_equiv", _equivalent, "comparisons of an array with itself")
        for where in (
            f"{_CORE}.duck_array_ops",
            f"xarray.structure.merge {_CORE}.merge",
            f"xarray.structure.concat {_CORE}.concat",
        )
    ),
    *(
        Hook(where, "is_0d_dask_array", _is_lazy_scalar, "positions without dimensions")
        for where in (f"{_CORE}.variable", "xarray.namedarray.pycompat")
    ),
    Hook("xarray", "Variable.__getitem__", _getitem, "selection of points"),
    Hook("xarray", "Variable.shift", _shift, "shift"),
    Hook("xarray", "Variable.pad", _pad, "pad"),
    Hook("xarray", "Variable.rolling_window", _rolling_window, "construct of rolling"),
    Hook("xarray", "Variable.equals", _equals, "comparisons with arrays of other libraries"),
    Hook(
        f"{_COMPUTATION}.computation {_CORE}.computation",
        "_calc_idxminmax",
        _along.position_labels,
        "idxmin and idxmax",
    ),
    Hook(f"{_CORE}.nputils", "least_squares", _least_squares, "polyfit", _methods("polyfit")),
    Hook(
        f"{_CORE}.indexing",
        "ArrayApiIndexingAdapter._vindex_get",
        _vindex_get,
        "selection of points",
    ),
    Hook(_ROLLING, "DataArrayRolling._array_reduce", _rolling.array_reduce, "rolling"),
    Hook(_ROLLING, "DataArrayRolling.reduce", _rolling.reduce, "rolling"),
    Hook(_ROLLING, "DataArrayRolling._counts", _rolling.counts, "rolling"),
    Hook(
        f"{_CORE}.missing",
        "apply_ufunc",
        _along.interpolate_missing,
        "interpolate_na and interp",
        _methods("interpolate_na"),
    ),
    Hook(f"{_CORE}.missing", "interp_func", _along.interpolate, "interp"),
    Hook("xarray", "Variable.rank", _along.rank, "rank"),
    Hook(f"{_COMPUTATION}.fit", "curvefit", _along.curvefit, "curvefit"),
    Hook("xarray", "Dataset.curvefit", _along.curvefit, "curvefit"),
    Hook(
        f"{_COMPUTATION}.weighted {_CORE}.weighted",
        "Weighted._weighted_quantile",
        _along.weighted_quantile,
        "weighted quantiles",
    ),
    Hook(f"{_CORE}.groupby", "GroupBy._flox_reduce", _with_flox, "reductions of groups"),
    Hook(f"{_CORE}.groupby", "GroupBy._first_or_last", _first_or_last, "first and last of groups"),
    Hook(f"{_CORE}.groupby", "GroupBy._flox_scan", _with_flox, "running totals of groups"),
    *(
        Hook(where, "groupby_reduce", _groupby_reduce, "reductions of groups")
        for where in ("flox", "flox.core", "flox.xarray")
    ),
    *(
        Hook(where, "groupby_scan", _groupby_scan, "running totals of groups")
        for where in ("flox", "flox.scan flox.core")
    ),
    Hook(
        _DATES,
        "_get_date_field",
        _date_field,
        "fields of dates",
        ("core.accessor_dt.CombinedDatetimelikeAccessor.__new__",),
    ),
    Hook(_DATES, "_round_field", _rounded_date, "rounded dates"),
    Hook(_DATES, "_strftime", _strftime, "text of dates"),
    Hook(_STRINGS, "StringAccessor._apply", _strings.apply, "methods of .str"),
    *(
        Hook(_STRINGS, f"StringAccessor.{name}", _strings.method, f".str.{name}")
        for name in _strings.LENGTHS
    ),
)
