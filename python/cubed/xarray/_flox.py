"""Reductions by group, for which Xarray calls flox."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

import cubed
from cubed.array._array import Array
from cubed.array._cores import core_from_numpy, engine_chunks
from cubed.array._operands import common_spec, normalize_axes
from cubed.base._types import NDArray
from cubed.blocks._groupby import (
    _OF_ELEMENTS,
    QUANTILES,
    Aggregation,
    _apart,
    _joined,
    lookup_mem,
    numbers_of,
    parts_of,
    quantile_codes,
    reduce_codes,
)
from cubed.blocks._groups_of_calls import native_aggregation
from cubed.blocks._gufunc import CallMem, apply_to_cores
from cubed.exceptions import PlanTooLargeError
from cubed.xarray._lines import COPIES, MEM


def groupby_reduce(
    theirs: Any,
    array: Any,
    *by: Any,
    func: Any,
    expected_groups: Any = None,
    sort: bool = True,
    isbin: Any = False,
    axis: Any = None,
    fill_value: Any = None,
    dtype: Any = None,
    min_count: int | None = None,
    engine: Any = None,
    finalize_kwargs: Any = None,
    **kwargs: Any,
) -> Any:
    """Reduces lazy arrays by group, or arrays by lazy labels.

    The engine computes the reductions that it supports. flox computes all others, on whole axes.

    The engine ignores ``method`` ("map-reduce", "blockwise" or "cohorts"), because it always reads
    each chunk once. Lazy labels are computed unless `expected_groups` lists the groups.
    """
    from pandas import RangeIndex

    core: Any = importlib.import_module("flox.core")

    if not any(isinstance(a, Array) for a in (array, *by)):
        return NotImplemented
    expected = core._validate_expected_groups(len(by), expected_groups)
    spec = common_spec(*(a for a in (array, *by) if isinstance(a, Array)))
    limit = int((spec or cubed.Spec()).task_mem)
    by = tuple(
        _loaded(b, limit) if e is None and isinstance(b, Array) else b
        for e, b in zip(expected, by, strict=True)
    )
    provided = expected_groups is not None
    expected = tuple(
        core._get_expected_groups(np.asarray(b), sort=sort) if e is None else e
        for e, b in zip(expected, by, strict=True)
    )
    bins = (isbin,) * len(by) if isinstance(isbin, bool) else tuple(isbin)
    groups = core._convert_expected_groups_to_index(expected, bins, sort)
    if not isinstance(array, Array):
        array = cubed.asarray(array, spec=spec)

    shape = array.shape[array.ndim - np.ndim(by[0]) :]
    numbers = [_numbers(b, g, limit) for b, g in zip(by, groups, strict=True)]
    sizes = [len(g) for g in groups]
    codes = _joined(numbers, sizes, shape, array)
    first = array.ndim - codes.ndim
    axes = (
        tuple(range(first, array.ndim))
        if axis is None
        else normalize_axes("groupby_reduce", axis, array.ndim)
    )
    if min_count is None:
        by_default = len(axes) < codes.ndim or (fill_value is not None and provided)
        min_count = int(by_default)
    name = func if isinstance(func, str) else func.name
    if min_count > 0 and name in ("nansum", "nanprod") and fill_value is None:
        fill_value = np.nan

    if name.removeprefix("nan") in _OF_ELEMENTS and dtype is None:
        kept = [d - first for d in range(first, array.ndim) if d not in axes]
        absent = partial(_any_absent, numbers, sizes, shape, kept)
        dtype, fill_value = _marked(name, array.dtype, fill_value, absent)

    reduction = {
        "func": func, "dtype": dtype, "fill_value": fill_value, "min_count": min_count,
        "engine": engine, "finalize_kwargs": finalize_kwargs,
    }  # fmt: skip
    result = _typed(reduction, name, array, codes, axes, math.prod(sizes))
    if len(groups) > 1:
        result = cubed.reshape(result, (*result.shape[:-1], *sizes))
    return (result, *(g if isinstance(g, RangeIndex) else np.asarray(g) for g in groups))


#: Arguments of flox's groupby_reduce.
_Reduction = dict[str, Any]


def _marked(
    name: str, dtype: np.dtype[Any], fill_value: Any, absent: Callable[[], bool | None]
) -> tuple[np.dtype[Any] | None, Any]:
    """Returns the type of a result (None: the type that flox chooses) and its fill value.

    Called if the caller states no type. Empty groups, whose labels do not occur, become NaN. For
    sums, products, and extremes of integers, flox would return numbers that look like values.

    Parameters
    ----------
    absent
        Returns whether there are empty groups, or None if labels are lazy.
    """
    from flox.xrdtypes import NA, maybe_promote

    chosen = fill_value == NA  # Xarray passes NA for first and last
    if dtype.kind not in "biufc" or not (chosen or fill_value is None):
        return None, fill_value
    if dtype.kind in "fc":
        return None, fill_value if chosen else np.nan
    found = absent()
    # If labels are lazy, only first and last get a type that can represent NaN.
    if found is None:
        found = chosen
    if not found:
        return None, fill_value
    counts = dtype.kind == "b" or name.removeprefix("nan") in ("sum", "prod")
    promote: Any = maybe_promote  # older versions of Xarray have no type annotations
    return promote(np.dtype(np.int64) if counts else dtype)


def _any_absent(
    numbers: Sequence[Any], sizes: Sequence[int], shape: tuple[int, ...], kept: Sequence[int]
) -> bool | None:
    """Returns whether a group is empty at any position along the axes that are not reduced.

    Returns None if labels are lazy.
    """
    if any(isinstance(n, Array) for n in numbers):
        return None
    apart = [shape[d] for d in kept]
    wanted = math.prod(sizes) * math.prod(apart)
    if wanted > math.prod(shape):
        return True
    at = np.indices(shape, sparse=True)
    numbers = [*(at[d] for d in kept), *numbers]
    whole = [np.broadcast_to(n, shape) for n in numbers]
    there = np.zeros((*apart, *sizes), bool)
    for part in parts_of(whole[0]):
        places = [n[part] for n in whole]
        known = np.logical_and.reduce([p >= 0 for p in places])
        there[tuple(p[known] for p in places)] = True
    return not there.all()


def _typed(
    reduction: _Reduction, name: str, x: Array, codes: Array, axes: tuple[int, ...], n: int
) -> Array:
    """Reduces times as integers, and bools as integers, as flox does."""
    kind, dtype = x.dtype.kind, x.dtype
    plain = name.removeprefix("nan")
    if kind == "c" and plain in ("min", "max"):
        raise NotImplementedError(
            f"{plain} by group of {dtype} elements: flox mixes up real and imaginary parts; reduce"
            " without flox (xarray.set_options(use_flox=False)), or the parts by themselves"
        )
    if plain in _NOT_OF_TIMES.get(kind, ()):
        raise TypeError(
            f"{plain} by group is not defined for {dtype}, expected numbers: convert the times to"
            " numbers first, such as (x - x[0]) / np.timedelta64(1, 's')"
        )
    if kind in "mM" and plain == "count":  # flox counts NaT as a value
        x = cubed.where(x != x, np.nan, 1.0)
    elif kind in "mM" and plain not in ("any", "all", "first", "last"):
        if plain in _OF_ELEMENTS and _is_missing(reduction["fill_value"]):
            # The integer that represents NaT, because floats would round times.
            fill = np.nan if plain == "prod" else np.iinfo(np.int64).min
            reduction = reduction | {"fill_value": fill}
        ints: Array = x.astype(np.int64)
        if plain in _OF_FLOATS:  # NaT would be treated like any other integer, so NaN is used
            ints = cubed.where(x != x, np.nan, ints.astype(np.float64))
        elif plain == "sum":
            ints = cubed.where(x != x, 0, ints)
        last = np.iinfo(np.int64).max
        if name in ("max", "nanmin"):  # NaT is the smallest integer, so the largest integer is used
            ints = cubed.where(x != x, last, ints)
        out = _reduced(reduction, ints, codes, axes, n)
        missing = np.array("NaT", dtype)
        if name == "sum":
            missed = _reduced(_ANY, x != x, codes, axes, n)
            return cubed.where(missed, missing, out.astype(dtype))
        if name in ("max", "nanmin"):
            out = cubed.where(out == last, np.iinfo(np.int64).min, out)
        if out.dtype.kind == "f":
            known = cubed.where(cubed.isnan(out), 0.0, out)
            return cubed.where(cubed.isnan(out), missing, known.astype(np.int64).astype(dtype))
        return out if "arg" in plain else out.astype(dtype)
    if kind == "b" and plain not in ("any", "all"):
        out = _reduced(reduction, x.astype(np.int64), codes, axes, n)
        whole = plain in ("min", "max", "first", "last") and out.dtype.kind != "f"
        return out.astype(bool) if whole else out
    return _reduced(reduction, x, codes, axes, n)


#: Reductions that are not defined for times, by kind of type. flox would reduce the integers that
#: represent the times, and return meaningless results.
_NOT_OF_TIMES = {"M": ("sum", "prod", "var"), "m": ("prod", "var")}
#: Reductions of times that are computed in floating point.
_OF_FLOATS = ("mean", "median", "quantile", "std", "var")
_ANY: _Reduction = {
    "func": "any", "dtype": None, "fill_value": None, "min_count": 0,
    "engine": "numpy", "finalize_kwargs": None,
}  # fmt: skip


def _is_missing(fill_value: Any) -> bool:
    """Returns whether a fill value is None, NaN, NaT or flox's mark of a missing value."""
    return not isinstance(fill_value, (int, float, np.integer, np.floating)) or np.isnan(fill_value)


def _reduced(reduction: _Reduction, x: Array, codes: Array, axes: tuple[int, ...], n: int) -> Array:
    from flox.aggregations import _initialize_aggregation

    r = reduction
    agg = _initialize_aggregation(
        r["func"], r["dtype"], x.dtype, r["fill_value"], r["min_count"], r["finalize_kwargs"]
    )
    native = native_aggregation(x, codes, axes, n, agg)
    if native is None and agg.name in QUANTILES and x.dtype.kind in "biuf":
        given = {k: v for k, v in agg.finalize_kwargs.items() if k in ("q", "method")}
        fill = agg.fill_value["user"] if agg.min_count > 0 else None
        how = Aggregation(agg.name, fill, agg.dtype["final"], agg.min_count)
        native = quantile_codes(x, codes, axes, n, how, given)
    if native is not None:
        return native
    out = _in_memory(reduction, agg, x, codes, axes, n)
    if x.dtype.kind == "c" and agg.name.removeprefix("nan") == "prod" and agg.min_count == 0:
        # In flox, the product of no elements is 1 for every fill value.
        there = reduce_codes(cubed.isnan(x), codes, axes, n, Aggregation("count")) > 0
        out = cubed.where(there, out, agg.fill_value["user"]).astype(out.dtype)
    return out


def _in_memory(
    reduction: _Reduction, agg: Any, x: Array, codes: Array, axes: tuple[int, ...], n: int
) -> Array:
    """Computes medians, quantiles and other functions by flox, on whole axes."""
    first = x.ndim - codes.ndim
    kept = [d for d in range(first, x.ndim) if d not in axes]
    apart = tuple(x.shape[d] for d in kept)
    if kept:  # there are separate groups for each position along these axes
        codes = _apart(codes, [d - first for d in kept], n)
    if codes.ndim > 1:
        x = cubed.reshape(x, (*x.shape[:first], codes.size))
        codes = cubed.reshape(codes, (codes.size,))
    ngroups = n * math.prod(apart)
    several = agg.num_new_vector_dims > 0
    out: Any = apply_to_cores(
        partial(_on_lines, ngroups=ngroups, several=several, reduction=reduction),
        "(n),(n)->(q,g)" if several else "(n),(n)->(g)",
        x,
        codes,
        output_dtypes=np.dtype(agg.dtype["final"]),
        output_sizes={
            "g": ngroups,
            **({"q": np.size(agg.finalize_kwargs["q"])} if several else {}),
        },
        by_lines=True,
        extra_projected_mem=CallMem(COPIES, codes.nbytes),
        allow_rechunk=True,
        name=f"{agg.name} by group",
    )
    if several:  # flox puts quantiles first
        out = cubed.moveaxis(out, -2, 0)
    return cubed.reshape(out, (*out.shape[:-1], *apart, n)) if kept else out


def _on_lines(
    block: NDArray, codes: NDArray, ngroups: int, several: bool, reduction: _Reduction
) -> NDArray:
    """Calls flox for a block that is whole along the axis of labels."""
    from flox import groupby_reduce
    from pandas import RangeIndex

    out: Any = groupby_reduce(block, codes, expected_groups=(RangeIndex(ngroups),), **reduction)[0]
    return np.moveaxis(out, 0, -2) if several else out


def _loaded(by: Array, limit: int) -> NDArray:
    """Computes lazy labels whose groups are not known."""
    if by.nbytes > limit:
        raise PlanTooLargeError(
            f"lazy labels have {by.nbytes} bytes, expected at most {limit} (allowed_mem without"
            " reserved_mem): give expected_groups, so that labels stay lazy"
        )
    return by.compute()


def _numbers(by: Any, groups: Any, limit: int) -> Any:
    """Returns the group number of each label; -1 if it has no group.

    Numbers of labels in memory have the smallest integer type.
    """
    if isinstance(by, Array):
        extra = lookup_mem(by, groups)
        return cubed.map_blocks(
            _numbers_of_block, by, groups=groups, dtype=np.int64, extra_projected_mem=extra
        )
    return numbers_of(_numbers_of_block, np.asarray(by), groups, len(groups), limit)


def _numbers_of_block(by: NDArray, groups: Any) -> NDArray:
    with _looking_up:
        found = groups.get_indexer(by.reshape(-1))
    return found.reshape(by.shape).astype(np.int64)


#: A lock that is held while an index is used. While one thread builds the hash table of an index,
#: pandas 2 wrongly reports duplicate labels to other threads.
_looking_up = Lock()


# --- Running totals -------------------------------------------------------------------------------


def groupby_scan(
    theirs: Any, array: Any, *by: Any, func: Any, axis: Any = -1, dtype: Any = None, **kwargs: Any
) -> Any:
    """Computes running totals by group along the last axis, on whole lines."""
    if not isinstance(array, Array):
        return NotImplemented
    labels = [np.asarray(b) for b in by]
    if any(b.ndim != 1 for b in labels):
        raise NotImplementedError(f"{func} by groups of several axes of a lazy array")
    out = apply_to_cores(
        partial(_scan, func=func, dtype=dtype),
        ",".join(["(n)"] * (1 + len(by))) + "->(n)",
        array,
        *(_made(np.unique(b, return_inverse=True)[1], array) for b in labels),
        by_lines=True,
        extra_projected_mem=MEM,
        allow_rechunk=True,
        name=f"{func} by group",
    )
    assert isinstance(out, Array)
    return out.rechunk(engine_chunks(array._x))


def _made(numbers: NDArray, array: Array) -> Array:
    """Returns group numbers as a lazy array, so that the plan includes their memory."""
    return Array._new(core_from_numpy(numbers, None, made=True), array._spec)


def _scan(block: NDArray, *by: NDArray, func: Any, dtype: Any) -> NDArray:
    from flox import groupby_scan

    return groupby_scan(block, *by, func=func, dtype=dtype)
