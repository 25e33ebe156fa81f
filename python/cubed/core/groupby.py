"""Reductions by group with functions of others, as flox calls them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._cores import engine_chunks
from cubed.array._operands import normalize_axes
from cubed.array_api import where
from cubed.base._types import NDArray
from cubed.blocks._blockwise import Cut, Operand, Output, cuts, infer_dtypes, run_blocks, tiny
from cubed.blocks._groupby import NAMES, reduce_codes
from cubed.io._create import from_array

__all__ = ["groupby_blockwise", "groupby_reduction"]


def groupby_reduction(
    x: Array,
    by: Any,
    func: Callable[..., Any],
    combine_func: Callable[..., Any] | None = None,
    aggregate_func: Callable[..., Any] | None = None,
    axis: int | Sequence[int] | None = None,
    intermediate_dtype: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    split_every: int | None = None,
    extra_func_kwargs: dict[str, Any] | None = None,
    num_groups: int | None = None,
) -> Array:
    """Reduces an axis by group: intermediates of groups, which are combined and aggregated.

    Parameters
    ----------
    x
        The array.
    by
        Numbers of groups of the elements along the last axes of `x`, below `num_groups`.
    func
        ``func(block, by_block, axis=, intermediate_dtype=, num_groups=)`` gives a dict of arrays,
        in which groups take the place of the axis.
    combine_func
        ``combine_func(dict, axis=, dummy_axis=, dtype=, keepdims=)`` combines intermediates along
        a dummy axis.
    aggregate_func
        Makes the result of such a dict.
    axis
        One axis, with labels.
    intermediate_dtype
        Given to `func` and `combine_func`.
    dtype
        Of the result.
    num_groups
        How many groups there are.
    keepdims, split_every, extra_func_kwargs
        For compatibility.

    Returns
    -------
    Array
        Groups take the place of the axis. Lazy.

    Notes
    -----
    Where the functions are flox's and come from an aggregation that the engine has, it is computed
    natively, in one pass. Other functions get the whole axis in one block.
    """
    axes = normalize_axes(axis, x.ndim)
    codes = _codes(x, by)
    if num_groups is None:
        raise ValueError("num_groups is None, expected the number of groups")
    native = _native(x, codes, axes, num_groups, aggregate_func)
    if native is not None:
        return native
    call = _Whole(func, combine_func, aggregate_func, axes, intermediate_dtype, num_groups)
    return _apply("groupby_reduction", call, x, codes, axes, num_groups, dtype)


def groupby_blockwise(
    x: Array,
    by: Any,
    func: Callable[..., Any],
    axis: int | Sequence[int] | None = None,
    dtype: Any = None,
    num_groups: int | None = None,
) -> Array:
    """Reduces an axis by group with a function that gets all elements of its groups.

    Parameters
    ----------
    x
        The array.
    by
        Numbers of groups of the elements along the last axis of `x`, below `num_groups`.
    func
        ``func(block, by_block, axis=, start_group=, num_groups=)`` gives the block of the result,
        in which groups take the place of the axis.
    axis
        One axis, with labels.
    dtype
        Of the result. None: found by calling the function with blocks of one element.
    num_groups
        How many groups there are.

    Returns
    -------
    Array
        Groups take the place of the axis. Lazy.

    Notes
    -----
    As for :func:`groupby_reduction`.
    """
    axes = normalize_axes(axis, x.ndim)
    codes = _codes(x, by)
    if num_groups is None:
        raise ValueError("num_groups is None, expected the number of groups")
    native = _native(x, codes, axes, num_groups, func)
    if native is not None:
        return native
    call = _Blockwise(func, axes[0], num_groups)
    title = "groupby_blockwise"
    if dtype is None:
        blocks = [tiny(x._x), np.zeros((1,) * codes.ndim, codes.dtype)]
        dtype = infer_dtypes(title, lambda: call(blocks, ()))[0]
    return _apply(title, call, x, codes, axes, num_groups, dtype)


def _codes(x: Array, by: Any) -> Array:
    if isinstance(by, Array):
        return by
    by = np.asarray(by)
    return from_array(by, chunks=engine_chunks(x._x)[x.ndim - by.ndim :], spec=x._spec)


def _native(x: Array, codes: Array, axes: tuple[int, ...], ngroups: int, func: Any) -> Array | None:
    """The result by the engine, if flox's aggregation, which its functions refer to, is one that it
    has."""
    agg = inspect.getclosurevars(func).nonlocals.get("agg") if inspect.isfunction(func) else None
    return native_aggregation(x, codes, axes, ngroups, agg)


def native_aggregation(
    x: Array, codes: Array, axes: tuple[int, ...], ngroups: int, agg: Any
) -> Array | None:
    """The result of an aggregation of flox by the engine, if that has it."""
    if type(agg).__module__ != "flox.aggregations" or agg.name not in NAMES:
        return None
    if (
        set(agg.finalize_kwargs) - {"ddof"}
        or codes.ndim != len(axes)
        or x.dtype.kind not in "biufc"
    ):
        return None
    if x.dtype.kind == "c" and agg.name.removeprefix("nan") not in ("sum", "mean", "count"):
        return None
    fill = agg.fill_value["user"] if agg.min_count > 0 else agg.fill_value[agg.name]
    if not isinstance(fill, (bool, int, float, np.bool_, np.integer, np.floating)):
        fill = None  # flox's and Xarray's marks of what is not available
    final = np.dtype(agg.dtype["final"])
    if agg.name in ("any", "all") and isinstance(fill, float) and np.isnan(fill):
        # Bools have no NaN: groups without elements get it afterwards.
        truth = reduce_codes(x, codes, axes, ngroups, agg.name, None, None, 0, 0)
        known = reduce_codes(x, codes, axes, ngroups, "count", None, None, 0, 0)
        return where(known >= max(1, agg.min_count), truth.astype(final), fill).astype(final)
    if final.kind in "iu" and isinstance(fill, (float, np.floating)) and not np.isfinite(fill):
        fill = None  # what flox makes of it in an integer says nothing
    counts = "arg" in agg.name or agg.name == "count"
    if counts and fill is not None and fill != np.trunc(fill):
        return None
    ddof = agg.finalize_kwargs.get("ddof", 0)
    return reduce_codes(x, codes, axes, ngroups, agg.name, fill, final, agg.min_count, ddof)


@dataclass(frozen=True)
class _Whole:
    """All steps of a reduction on whole axes."""

    func: Callable[..., Any]
    combine: Callable[..., Any] | None
    aggregate: Callable[..., Any] | None
    axes: tuple[int, ...]
    intermediate_dtype: Any
    num_groups: int

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        axis = self.axes[0] if len(self.axes) == 1 else self.axes
        parts = self.func(
            *blocks,
            axis=self.axes,
            intermediate_dtype=self.intermediate_dtype,
            num_groups=self.num_groups,
        )
        if self.combine is not None:
            dummy = next(iter(parts.values())).ndim
            wide = {name: part[..., None] for name, part in parts.items()}
            parts = self.combine(
                wide, axis=axis, dummy_axis=(dummy,), dtype=self.intermediate_dtype, keepdims=False
            )
        return (parts if self.aggregate is None else self.aggregate(parts),)


@dataclass(frozen=True)
class _Blockwise:
    """The function on whole axes: with all groups."""

    func: Callable[..., Any]
    axis: int
    num_groups: int

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        return (self.func(*blocks, axis=self.axis, start_group=0, num_groups=self.num_groups),)


def _apply(
    title: str,
    call: Any,
    x: Array,
    codes: Array,
    axes: tuple[int, ...],
    num_groups: int,
    dtype: Any,
) -> Array:
    """The function on blocks with whole reduced axes."""
    if len(axes) != 1:
        raise NotImplementedError(f"{title}: {len(axes)} axes, expected one")
    first = x.ndim - codes.ndim
    whole = set(range(first, x.ndim))
    operands = [
        Operand(x._x, tuple(range(x.ndim))),
        Operand(codes._x, tuple(range(first, x.ndim))),
    ]
    own = cuts(x._x)
    unified: dict[Hashable, list[Cut]] = {
        d: [(x.shape[d], max(1, x.shape[d])) if d in whole else own[d]] * (1 + (d in whole))
        for d in range(x.ndim)
    }
    outputs = [(num_groups, max(1, num_groups)) if d in axes else own[d] for d in range(x.ndim)]
    indices = tuple(None if d in axes else d for d in range(x.ndim))
    out = Output(np.dtype(dtype), outputs, indices)
    return run_blocks(title, call, operands, unified, [out], 0, x._spec)[0]
