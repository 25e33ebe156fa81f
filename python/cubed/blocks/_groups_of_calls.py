"""Reductions by group with user-defined functions, in the form that flox passes them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import (
    Cut,
    Operand,
    Output,
    count,
    cuts,
    infer_dtypes,
    join,
    run_blocks,
    tiny,
    unify,
)
from cubed.array._cores import core_from_numpy, engine_chunks
from cubed.array._operands import normalize_axes
from cubed.array_api import where
from cubed.base._dtypes import kind_of
from cubed.base._types import NDArray
from cubed.blocks._groupby import NAMES, Aggregation, reduce_codes
from cubed.blocks._tree import DEFAULT_SPLIT_EVERY, finish, groups_of, level

#: Reductions whose fill value is also used for empty groups, independently of `min_count`.
_WITHOUT_COUNT = ("sum", "prod", "mean", "var", "std", "min", "max", "first", "last")


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
    split_every: int | Mapping[int, int] | None = None,
    num_groups: int | None = None,
    extra_func_kwargs: Mapping[str, Any] | None = None,
) -> Array:
    """Reduces an axis by group: partial results of blocks are combined, then aggregated.

    Parameters
    ----------
    x : Array
        The array.
    by : array_like
        Group numbers, less than `num_groups`, of the elements along the axis, or along the last
        axes of `x` if `by` has several.
    func : callable
        ``func(block, by_block, axis=, intermediate_dtype=, num_groups=)`` returns an array, or a
        dict of arrays, in which an axis of groups replaces the reduced axis.
    combine_func : callable or None
        ``combine_func(partial, axis=, dummy_axis=, dtype=, keepdims=True)`` combines the results of
        several blocks, which are stacked along a dummy axis. Default: the axis is one block.
    aggregate_func : callable or None
        ``aggregate_func(partial)`` converts a combined result to the final one; it also gets
        `dtype` and `dummy_axis` if it has these parameters. Default: the combined result is final.
    axis : int, tuple of int or None
        One axis.
    intermediate_dtype : dtype or None
        Type of the result of `func`; for a dict, a structured type with the same names, or pairs of
        names and types. None: `dtype`. Passed to `func`, and as `dtype` to the other functions.
    dtype : dtype or None
        Type of the result.
    keepdims : bool, default False
        Ignored: the axis of groups replaces the reduced axis.
    split_every : int, dict or None
        Blocks that one call combines; by axis, or for all.
    num_groups : int or None
        Number of groups.
    extra_func_kwargs : dict or None
        Passed to all functions.

    Returns
    -------
    Array
        An axis of groups replaces the reduced axis. Lazy.

    Raises
    ------
    ValueError
        `num_groups` or `dtype` is missing, or `by` has another extent than the axis.

    Notes
    -----
    If the functions come from an aggregation of flox that the engine supports, the engine computes
    the aggregation in one pass.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.groupby import groupby_reduction
    >>> def sums(block, by, axis, intermediate_dtype, num_groups):
    ...     return np.bincount(by, block, num_groups).astype(intermediate_dtype)
    ...
    >>> def combine(partial, axis, dummy_axis, dtype, keepdims):
    ...     return partial.sum(axis=dummy_axis, dtype=dtype, keepdims=keepdims)
    ...
    >>> x, by = cubed.asarray([3, 1, 4, 1], chunks=2), np.array([0, 1, 0, 1])
    >>> groupby_reduction(x, by, sums, combine, axis=0, dtype=int, num_groups=2).compute()
    array([7, 2])
    """
    title = "groupby_reduction"
    axes, codes, ngroups, native = _begin(title, x, by, axis, num_groups, aggregate_func)
    if native is not None:
        return native
    if dtype is None:
        raise ValueError("dtype is None, expected the type of the result")
    partial = dtype if intermediate_dtype is None else intermediate_dtype
    kwargs = dict(extra_func_kwargs or {})
    if combine_func is None or codes.ndim != 1:
        call = _Whole(func, combine_func, aggregate_func, axes, partial, ngroups, kwargs)
        return _apply(title, call, x, codes, axes, ngroups, dtype)
    step = _Partial(func, axes[0], partial, ngroups, kwargs)
    parts = _parts(title, step, x, codes)
    combine = _Combine(combine_func, step, x.ndim)
    several = groups_of(title, (x.ndim,), _dummy(split_every, axes[0], x.ndim), x.ndim + 1)
    while count(cuts(parts[0]._x)[-1]) > several[x.ndim]:
        parts = level(title, combine, parts, several, step.types, 0, ((x.ndim, 1),))
    last = replace(combine, aggregate=aggregate_func, last=True)
    return finish(title, last, parts, (x.ndim,), {}, np.dtype(dtype), 0)


def _dummy(split_every: Any, axis: int, dummy: int) -> Any:
    """Returns the value of `split_every` for the axis `dummy`, along which the results of the
    blocks of `axis` are stacked."""
    if not isinstance(split_every, Mapping):
        return split_every
    return {dummy: split_every.get(axis, split_every.get(axis - dummy, DEFAULT_SPLIT_EVERY))}


def groupby_blockwise(
    x: Array,
    by: Any,
    func: Callable[..., Any],
    axis: int | Sequence[int] | None = None,
    dtype: Any = None,
    num_groups: int | None = None,
    **kwargs: Any,
) -> Array:
    """Reduces an axis by group with a function that gets all elements of its groups.

    Parameters
    ----------
    x : Array
        The array.
    by : array_like
        Group numbers, less than `num_groups`, of the elements along the axis, or along the last
        axes of `x` if `by` has several.
    func : callable
        ``func(block, by_block, axis=, start_group=, num_groups=)`` returns the block of the result,
        in which an axis of groups replaces the reduced axis.
    axis : int, tuple of int or None
        One axis, with labels.
    dtype : dtype or None
        Type of the result. None: found by calling the function with blocks of one element.
    num_groups : int or None
        Number of groups.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        An axis of groups replaces the reduced axis. Lazy.

    Notes
    -----
    The engine computes aggregations of flox that it supports, as in :func:`groupby_reduction`.
    Other functions get the whole axis in one block.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.groupby import groupby_blockwise
    >>> def largest(block, by, axis, start_group, num_groups):
    ...     groups = range(start_group, start_group + num_groups)
    ...     return np.stack([block[by == g].max() for g in groups])
    ...
    >>> x, by = cubed.asarray([3, 1, 4, 1]), np.array([0, 0, 1, 1])
    >>> groupby_blockwise(x, by, largest, axis=0, dtype=int, num_groups=2).compute()
    array([3, 4])
    """
    title = "groupby_blockwise"
    axes, codes, ngroups, native = _begin(title, x, by, axis, num_groups, func)
    if native is not None:
        return native
    call = _Blockwise(func, axes[0], ngroups, kwargs)
    if dtype is None:
        blocks = [tiny(x._x), np.zeros((1,) * codes.ndim, codes.dtype)]
        dtype = infer_dtypes(title, lambda: call(blocks, ()))[0]
    return _apply(title, call, x, codes, axes, ngroups, dtype)


def _begin(
    title: str, x: Array, by: Any, axis: Any, num_groups: int | None, func: Any
) -> tuple[tuple[int, ...], Array, int, Array | None]:
    """Returns axes, codes, the number of groups, and the result if the engine can compute it."""
    axes = normalize_axes(title, axis, x.ndim)
    codes = _codes(x, by, axes)
    if num_groups is None:
        raise ValueError("num_groups is None, expected the number of groups")
    return axes, codes, num_groups, _native(x, codes, axes, num_groups, func)


def _along(x: Array, codes: Any, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Returns the axes of x that the codes have."""
    return axes if codes.ndim == 1 else tuple(range(x.ndim - codes.ndim, x.ndim))


def _codes(x: Array, by: Any, axes: tuple[int, ...]) -> Array:
    """Returns group numbers as an array, for the axis or for the last axes."""
    codes = by if isinstance(by, Array) else np.asarray(by)
    along = _along(x, codes, axes)
    shape = tuple(x.shape[d] for d in along)
    if codes.ndim == 1 and codes.shape != shape:
        raise ValueError(f"by has shape {codes.shape}, expected {shape}, that of axes {along} of x")
    if isinstance(codes, Array):
        return codes
    mine = engine_chunks(x._x)
    chunks = tuple(mine[d] for d in along)
    return Array._new(core_from_numpy(codes, chunks, made=codes is not by), x._spec)


def _native(x: Array, codes: Array, axes: tuple[int, ...], ngroups: int, func: Any) -> Array | None:
    """Reduces by the engine if the functions come from an aggregation of flox that the engine
    supports."""
    agg = inspect.getclosurevars(func).nonlocals.get("agg") if inspect.isfunction(func) else None
    return native_aggregation(x, codes, axes, ngroups, agg)


def native_aggregation(
    x: Array, codes: Array, axes: tuple[int, ...], ngroups: int, agg: Any
) -> Array | None:
    """Computes an aggregation of flox by the engine, if the engine supports it."""
    if type(agg).__module__ != "flox.aggregations" or agg.name not in NAMES:
        return None
    user, plain = agg.fill_value["user"], agg.name.removeprefix("nan")
    if (
        set(agg.finalize_kwargs) - {"ddof"}
        or codes.ndim != len(axes)
        or kind_of(x.dtype) not in "biufc"
    ):
        return None
    if x.dtype.kind == "c" and plain not in ("sum", "mean", "count"):
        return None
    given = agg.min_count > 0 or (user is not None and plain in _WITHOUT_COUNT)
    fill = user if given else agg.fill_value[agg.name]
    if not isinstance(fill, (bool, int, float, np.bool_, np.integer, np.floating)):
        fill = None  # values by which flox and Xarray mark missing values
    final = np.dtype(agg.dtype["final"])
    if agg.name in ("any", "all") and isinstance(fill, float) and np.isnan(fill):
        # Bools cannot be NaN: groups without elements get NaN afterwards.
        truth = reduce_codes(x, codes, axes, ngroups, Aggregation(agg.name))
        known = reduce_codes(x, codes, axes, ngroups, Aggregation("count"))
        return where(known >= max(1, agg.min_count), truth.astype(final), fill).astype(final)
    if final.kind in "iu" and isinstance(fill, (float, np.floating)) and not np.isfinite(fill):
        fill = None  # flox has converted the fill value to an integer, which has no meaning
    counts = "arg" in agg.name or agg.name == "count"
    if counts and fill is not None and fill != np.trunc(fill):
        return None
    ddof = agg.finalize_kwargs.get("ddof", 0)
    # If the user passes no fill value, integer sums and products of no elements remain 0 and 1.
    absent = fill is not None and (final.kind not in "iu" or user is not None)
    how = Aggregation(agg.name, fill, final, agg.min_count, ddof, absent)
    return reduce_codes(x, codes, axes, ngroups, how)


@dataclass(frozen=True)
class _Partial:
    """Computes the partial result of a block: arrays (fields) with a new last axis."""

    func: Callable[..., Any]
    axis: int
    dtype: Any  # the type that the caller gave
    num_groups: int
    kwargs: dict[str, Any]

    @property
    def names(self) -> tuple[str, ...] | None:
        return np.dtype(self.dtype).names

    @property
    def types(self) -> list[np.dtype[Any]]:
        dtype = np.dtype(self.dtype)
        return [dtype] if dtype.names is None else [dtype[n] for n in dtype.names]

    def fields(self, state: Any) -> list[NDArray]:
        """Returns the arrays (fields) of which a function's result consists."""
        return [np.asarray(state)] if self.names is None else [state[n] for n in self.names]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        state = self.func(
            *blocks,
            axis=self.axis,
            intermediate_dtype=self.dtype,
            num_groups=self.num_groups,
            **self.kwargs,
        )
        return [field[..., None] for field in self.fields(state)]


def _taken(function: Callable[..., Any], keywords: dict[str, Any]) -> dict[str, Any]:
    """Returns those keyword arguments that a function accepts."""
    names = inspect.signature(function).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in names.values()):
        return keywords
    return {name: value for name, value in keywords.items() if name in names}


@dataclass(frozen=True)
class _Combine:
    """Combines partial results of blocks along the last axis; the last step makes the result."""

    function: Callable[..., Any]
    step: _Partial
    dummy: int
    last: bool = False
    aggregate: Callable[..., Any] | None = None  # converts the last combination to the result

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        step = self.step
        names = step.names
        state: Any = blocks[0] if names is None else dict(zip(names, blocks, strict=True))
        more = {"dtype": step.dtype, "dummy_axis": self.dummy, **step.kwargs}
        state = self.function(state, axis=(self.dummy, step.axis), keepdims=True, **more)
        if not self.last:
            return step.fields(state)
        if self.aggregate is not None:
            state = self.aggregate(state, **_taken(self.aggregate, more))
        return (np.squeeze(state, self.dummy),)


def _parts(title: str, step: _Partial, x: Array, codes: Array) -> tuple[Array, ...]:
    """Returns the partial result of each block, along a new last axis."""
    indices = tuple(range(x.ndim))
    operands = [Operand(x._x, indices), Operand(codes._x, (step.axis,))]
    unified = unify(operands, title, align=True)
    joined = join(unified)
    n = count(joined[step.axis])
    whole = (step.num_groups, max(1, step.num_groups))
    made = [*(whole if d == step.axis else joined[d] for d in indices), (n, 1)]
    symbols = (*(None if d == step.axis else d for d in indices), step.axis)
    outputs = [Output(dtype, made, symbols) for dtype in step.types]
    return run_blocks(title, step, operands, unified, outputs, 0, x._spec)


@dataclass(frozen=True)
class _Whole:
    """Performs all steps of a reduction in one call, on whole axes."""

    func: Callable[..., Any]
    combine: Callable[..., Any] | None
    aggregate: Callable[..., Any] | None
    axes: tuple[int, ...]
    intermediate_dtype: Any
    num_groups: int
    kwargs: dict[str, Any]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        axis = self.axes[0] if len(self.axes) == 1 else self.axes
        dummy = blocks[0].ndim
        more = {"dtype": self.intermediate_dtype, "dummy_axis": (dummy,), **self.kwargs}
        parts = self.func(
            *blocks,
            axis=self.axes if blocks[1].ndim > 1 else axis,
            intermediate_dtype=self.intermediate_dtype,
            num_groups=self.num_groups,
            **self.kwargs,
        )
        if self.combine is not None:
            wide: Any = (
                {name: part[..., None] for name, part in parts.items()}
                if isinstance(parts, Mapping)
                else parts[..., None]
            )
            parts = self.combine(wide, axis=axis, keepdims=False, **more)
        if self.aggregate is None:
            return (parts,)
        return (self.aggregate(parts, **_taken(self.aggregate, more)),)


@dataclass(frozen=True)
class _Blockwise:
    """Calls the function on whole axes, with all groups."""

    func: Callable[..., Any]
    axis: int
    num_groups: int
    kwargs: dict[str, Any]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        groups = {"start_group": 0, "num_groups": self.num_groups}
        return (self.func(*blocks, axis=self.axis, **groups, **self.kwargs),)


def _apply(
    title: str,
    call: Any,
    x: Array,
    codes: Array,
    axes: tuple[int, ...],
    num_groups: int,
    dtype: Any,
) -> Array:
    """Applies a function to blocks in which the reduced axes are whole."""
    if len(axes) != 1:
        raise NotImplementedError(f"{title}: {len(axes)} axes, expected one")
    along = _along(x, codes, axes)
    whole = set(along)
    operands = [Operand(x._x, tuple(range(x.ndim))), Operand(codes._x, along)]
    own = cuts(x._x)
    unified: dict[Hashable, list[Cut]] = {
        d: [(x.shape[d], max(1, x.shape[d])) if d in whole else own[d]] * (1 + (d in whole))
        for d in range(x.ndim)
    }
    outputs = [(num_groups, max(1, num_groups)) if d in axes else own[d] for d in range(x.ndim)]
    indices = tuple(None if d in axes else d for d in range(x.ndim))
    out = Output(np.dtype(dtype), outputs, indices)
    return run_blocks(title, call, operands, unified, [out], 0, x._spec)[0]
