"""Reductions and running totals by user-defined functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._calls import (
    Cut,
    Operand,
    Output,
    count,
    cut_of,
    cuts,
    infer_dtypes,
    merged,
    run_blocks,
    tiny,
    title_of,
)
from cubed.array._cores import core_from_numpy
from cubed.array._operands import normalize_axes, normalize_axis
from cubed.array._select import flatten
from cubed.base._types import NDArray
from cubed.blocks._apply import wants_keyword
from cubed.runtime._call import Runner, to_array

#: Partial results of one block: an array, or several by name.
Fields = list[np.dtype[Any]]

DEFAULT_SPLIT_EVERY = 4


@dataclass(frozen=True)
class _Step:
    """One level of a tree reduction: a function along some axes of every field."""

    function: Callable[..., Any] | None
    combine: Callable[..., Any] | None  # combines the results of one group, in order
    aggregate: Callable[..., Any] | None
    inputs: tuple[str, ...] | None  # names of the fields; None: one field without a name
    outputs: tuple[str, ...] | None
    groups: tuple[tuple[int, int], ...]  # (axis, extent of one block's result)
    drop: tuple[int, ...]  # axes of extent 1 to remove at the end
    kwargs: dict[str, Any]
    given: dict[str, Any] = field(default_factory=dict)  # further arguments of `aggregate`

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        axis = tuple(a for a, _ in self.groups)
        state: Any = blocks[0]
        if self.inputs is not None:
            state = dict(zip(self.inputs, blocks, strict=True))
        if self.function is not None:
            state = self.function(blocks[0], axis=axis, keepdims=True, **self.kwargs)
        if self.combine is not None:
            state = self.combine(state, axis=axis, keepdims=True, **self.kwargs)
        if self.aggregate is not None:
            state = self.aggregate(state, **self.given, **self.kwargs)
        if self.outputs is not None:
            return [state[name] for name in self.outputs]
        return (np.squeeze(state, self.drop),)


def reduction(
    x: Array,
    func: Callable[..., Any] | None,
    combine_func: Callable[..., Any] | None = None,
    aggregate_func: Callable[..., Any] | None = None,
    axis: int | Sequence[int] | None = None,
    intermediate_dtype: Any = None,
    dtype: Any = None,
    keepdims: bool = False,
    split_every: int | Mapping[int, int] | None = None,
    combine_sizes: Mapping[int, int] | None = None,
    extra_func_kwargs: Mapping[str, Any] | None = None,
    extra_projected_mem: int = 0,
    name: str | None = None,
) -> Array:
    """Reduces axes by functions, as a tree of calls on blocks.

    Parameters
    ----------
    x : Array
        A lazy array.
    func : callable
        ``func(block, axis=, keepdims=True)`` reduces one block. It returns an array, or a dict of
        arrays that belong together. None: `combine_func` is used.
    combine_func : callable or None
        ``combine_func(partial, axis=, keepdims=True)`` reduces the partial results of several
        blocks, concatenated along the axes. Default: `func`.
    aggregate_func : callable or None
        ``aggregate_func(partial)`` converts the combined result to the final one; it also gets
        `axis`, a tuple, and ``keepdims=True`` if it has parameters of these names. Default: the
        combined result is final.
    axis : int, tuple of int or None
        The axes to reduce. None: all.
    intermediate_dtype : dtype or None
        Type of the result of `func`; for a dict, a structured type with the same names, or pairs of
        names and types. None: found by calling it with a block of one element.
    dtype : dtype or None
        Type of the result. None: the type of the partial results, or of the result of
        `aggregate_func`.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    split_every : int, dict or None
        Blocks that one call combines along an axis; by axis, or in total for all axes.
    combine_sizes : dict or None
        By axis, the extent of a block's result if it is not 1.
    extra_func_kwargs : dict or None
        Passed to all functions.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.

    Returns
    -------
    Array
        Without the reduced axes, or with extent 1 along them if `keepdims` is true. Lazy.

    Raises
    ------
    TypeError
        A function cannot be pickled. During the computation: a result cannot be cast safely.
    ValueError
        An axis does not exist. During the computation: a result does not have the expected shape.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.ops import reduction
    >>> reduction(cubed.arange(6.0, chunks=2), np.max, axis=0, dtype=float).compute()
    array(5.)
    """
    if func is None:
        if combine_func is None:
            raise ValueError("func and combine_func are both None, expected a function")
        func = combine_func
    title = name or title_of("reduction", func)
    axes = normalize_axes(title, axis, x.ndim)
    kwargs = dict(extra_func_kwargs or {})
    given = {"axis": axes, "keepdims": True}
    given = {k: v for k, v in given.items() if aggregate_func and wants_keyword(aggregate_func, k)}
    extents = {a: 1 for a in axes} | {
        normalize_axis(title, a, x.ndim): n for a, n in (combine_sizes or {}).items()
    }
    if aggregate_func is None and any(extents[a] != 1 for a in axes):
        raise ValueError(f"{title}: combine_sizes {combine_sizes} needs an aggregate_func")
    groups = tuple((a, extents[a]) for a in axes)
    first = _Step(func, None, None, None, None, groups, (), kwargs)
    names, types = _partial(title, first, x, intermediate_dtype)
    first = replace(first, outputs=names)
    if names is not None and (combine_func is None or aggregate_func is None):
        raise ValueError(f"{title}: func returns a dict: give combine_func and aggregate_func")
    several = groups_of(title, axes, split_every, x.ndim)
    partial = level(title, first, [x], {a: 1 for a in axes}, types, extra_projected_mem, groups)
    combine = combine_func or func
    step = _Step(None, combine, None, names, names, groups, (), kwargs)
    while any(count(cuts(partial[0]._x)[a]) > several[a] for a in axes):
        partial = level(title, step, partial, several, types, extra_projected_mem, groups)
    drop = () if keepdims else axes
    more = any(count(cuts(partial[0]._x)[a]) > 1 for a in axes)
    last = _Step(
        None, combine if more else None, aggregate_func, names, None, groups, drop, kwargs, given
    )
    if dtype is None:
        dtype = types[0] if aggregate_func is None else _tried(title, first, last, x)
    kept = dict.fromkeys(axes, 1) if keepdims else {}
    return finish(title, last, partial, axes, kept, np.dtype(dtype), extra_projected_mem)


def _partial(
    title: str, step: _Step, x: Array, given: Any
) -> tuple[tuple[str, ...] | None, Fields]:
    """Returns names and types of the results of the first function."""
    if given is not None:
        dtype = np.dtype(given)
        if dtype.names is None:
            return None, [dtype]
        return dtype.names, [dtype[n] for n in dtype.names]
    state: dict[str, Any] = {}

    def call() -> Sequence[Any]:
        axis = tuple(a for a, _ in step.groups)
        assert step.function is not None
        got = step.function(tiny(x._x), axis=axis, keepdims=True, **step.kwargs)
        if isinstance(got, Mapping):
            state.update(got)
            return list(got.values())
        return (got,)

    types = infer_dtypes(title, call)
    return tuple(state) or None, types


def _tried(title: str, first: _Step, last: _Step, x: Array) -> np.dtype[Any]:
    def call() -> Sequence[Any]:
        return last(list(first([tiny(x._x)], ())), ())

    return infer_dtypes(title, call)[0]


def groups_of(
    title: str, axes: Sequence[int], split_every: int | Mapping[int, int] | None, ndim: int
) -> dict[int, int]:
    """Returns the number of blocks that are combined along each of `ndim` axes."""
    if isinstance(split_every, Mapping):
        given = {normalize_axis(title, a, ndim): n for a, n in split_every.items()}
        out = {a: given.get(a, 2) for a in axes}
    else:
        total = DEFAULT_SPLIT_EVERY if split_every is None else split_every
        out = {a: max(2, int(total ** (1 / max(1, len(axes))))) for a in axes}
    if any(n < 2 for n in out.values()):
        raise ValueError(f"split_every is {split_every!r}, expected at least 2 blocks")
    return out


def level(
    title: str,
    step: Runner,
    arrays: Sequence[Array],
    several: Mapping[int, int],
    types: Fields,
    extra_mem: int,
    groups: Sequence[tuple[int, int]],
) -> tuple[Array, ...]:
    """Applies a step to groups of blocks of the given size along its axes."""
    became = dict(groups)
    mine = [merged(c, several.get(a, 1), f"axis {a}") for a, c in enumerate(cuts(arrays[0]._x))]
    made = [
        cut_of((became[a],) * count(c), f"axis {a}") if a in became else c
        for a, c in enumerate(mine)
    ]
    operands, unified = operands_of(arrays, mine)
    outputs = [Output(dtype, made, tuple(range(len(made)))) for dtype in types]
    return run_blocks(title, step, operands, unified, outputs, extra_mem, arrays[0]._spec)


def operands_of(
    arrays: Sequence[Array], mine: Sequence[Cut]
) -> tuple[list[Operand], dict[Hashable, list[Cut]]]:
    """Rechunks the operands to the same blocks along the axes of `mine`.

    Axes of extent 1, and further axes of an operand, are passed whole to all calls.
    """
    ndim = len(mine)
    operands = []
    unified: dict[Hashable, list[Cut]] = {
        d: [cut if x.shape[d] == cut[0] else (1, 1) for x in arrays] for d, cut in enumerate(mine)
    }
    for i, x in enumerate(arrays):
        tail = tuple((i, d) for d in range(ndim, x.ndim))
        operands.append(Operand(x._x, (*range(ndim), *tail)))
        for index in tail:
            n = x.shape[index[1]]
            unified[index] = [(n, max(1, n))]
    return operands, unified


def finish(
    title: str,
    step: Runner,
    partial: Sequence[Array],
    axes: Sequence[int],
    kept: Mapping[int, int],
    dtype: np.dtype[Any],
    extra_mem: int,
    ndim: int | None = None,
) -> Array:
    """Applies the last step to all remaining blocks along the axes.

    `kept` has the extents of the axes that the result keeps. Arrays may have further axes after the
    first `ndim`.
    """
    mine = cuts(partial[0]._x)[:ndim]
    operands, unified = operands_of(partial, mine)
    left: list[tuple[int | None, Cut]] = [
        (None, (kept[a], max(1, kept[a]))) if a in axes else (a, cut)
        for a, cut in enumerate(mine)
        if a not in axes or a in kept
    ]
    out = Output(dtype, [c for _, c in left], tuple(i for i, _ in left))
    return run_blocks(title, step, operands, unified, [out], extra_mem, partial[0]._spec)[0]


# --- Positions ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ArgFirst:
    """Finds positions in a block by a function. Returns them, counted along the whole axis, and the
    values at these positions."""

    function: Callable[..., Any]
    axis: int
    chunk: int

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        at = self.function(blocks[0], axis=self.axis, keepdims=True)
        value = np.take_along_axis(blocks[0], at, self.axis)
        return at + index[self.axis] * self.chunk, value


@dataclass(frozen=True)
class _ArgCombine:
    function: Callable[..., Any]

    def __call__(
        self, state: Mapping[str, NDArray], axis: tuple[int, ...], keepdims: bool
    ) -> dict[str, NDArray]:
        at = self.function(state["value"], axis=axis[0], keepdims=keepdims)
        return {name: np.take_along_axis(part, at, axis[0]) for name, part in state.items()}


def _position(state: Mapping[str, NDArray]) -> NDArray:
    return state["position"]


def arg_reduction(
    x: Array,
    arg_func: Callable[..., Any],
    axis: int | None = None,
    *,
    keepdims: bool = False,
    split_every: int | Mapping[int, int] | None = None,
    extra_projected_mem: int = 0,
    name: str | None = None,
) -> Array:
    """Finds positions along an axis by a function such as `numpy.argmax`, as a tree of calls.

    Parameters
    ----------
    x : Array
        A lazy array.
    arg_func : callable
        ``arg_func(block, axis=, keepdims=True)`` returns positions. It is also used to choose among
        the positions of several blocks, by their values.
    axis : int or None
        None: positions in the flattened array.
    keepdims : bool, default False
        Whether to keep reduced axes, with extent 1.
    split_every : int, dict or None
        As for :func:`reduction`.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.

    Returns
    -------
    Array
        int64, without the axis, or with extent 1 along it if `keepdims` is true. Lazy.

    Raises
    ------
    IndexError
        The array has no such axis.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.ops import arg_reduction
    >>> arg_reduction(cubed.asarray([1, 9, 3]), np.argmax, axis=0).compute()
    array(1)
    """
    title = name or title_of("arg_reduction", arg_func)
    if axis is None:
        flat = x._like(flatten(x._x))
        options = {"split_every": split_every, "extra_projected_mem": extra_projected_mem}
        out = arg_reduction(flat, arg_func, 0, name=title, **options)  # type: ignore[arg-type]
        return out._like(_core.call("reshape", out._x, (1,) * x.ndim)) if keepdims else out
    a = normalize_axis(title, axis, x.ndim)
    groups, names = ((a, 1),), ("position", "value")
    types = [np.dtype(np.int64), x.dtype]
    x = x.rechunk({a: x.chunksize[a]})  # the function finds positions relative to a chunk
    first = _ArgFirst(arg_func, a, x.chunksize[a])
    partial = level(title, first, [x], {a: 1}, types, extra_projected_mem, groups)
    several = groups_of(title, (a,), split_every, x.ndim)
    step = _Step(None, _ArgCombine(arg_func), None, names, names, groups, (), {})
    while count(cuts(partial[0]._x)[a]) > several[a]:
        partial = level(title, step, partial, several, types, extra_projected_mem, groups)
    last = replace(step, outputs=None, aggregate=_position, drop=() if keepdims else (a,))
    kept = {a: 1} if keepdims else {}
    return finish(title, last, partial, (a,), kept, types[0], extra_projected_mem)


# --- Running totals -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _ScanBlock:
    """Computes running totals within a block, and the last of them."""

    function: Callable[..., Any]
    axis: int
    kwargs: dict[str, Any]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        totals = to_array(self.function(blocks[0], axis=self.axis, **self.kwargs))
        return totals, np.take(totals, [-1], self.axis)


@dataclass(frozen=True)
class _ScanCarry:
    """Computes the start value of each block: the total of the blocks before it."""

    binop: Callable[..., Any]
    ident: Any
    axis: int

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        totals = np.moveaxis(blocks[0], self.axis, 0)
        carried = np.empty_like(totals)
        carried[0] = self.ident
        for i in range(1, len(totals)):
            before = self.binop(carried[i - 1], totals[i - 1]) if i > 1 else totals[0]
            carried[i] = to_array(before)
        return (np.moveaxis(carried, 0, self.axis),)


@dataclass(frozen=True)
class _ScanAdd:
    """Adds the start values to the totals of each block except the first."""

    binop: Callable[..., Any]
    axis: int

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        totals, carried = blocks
        return (totals if index[self.axis] == 0 else self.binop(carried, totals),)


def scan(
    func: Callable[..., Any],
    binop: Callable[..., Any],
    ident: Any,
    x: Array,
    axis: int,
    dtype: Any = None,
    *,
    extra_projected_mem: int = 0,
    name: str | None = None,
    **kwargs: Any,
) -> Array:
    """Running totals by functions: totals within each block, plus the carried totals of earlier
    blocks.

    ``func(block, axis=, **kwargs)`` returns the running totals of a block; an example is
    `numpy.cumsum`. ``binop(before, after)`` combines totals whose shapes broadcast; it is
    associative, and `ident` is its neutral element. Without `dtype`, the type is found with a block
    of one element.
    """
    title = name or title_of("scan", func)
    a = normalize_axis(title, axis, x.ndim)
    first = _ScanBlock(func, a, kwargs)
    if dtype is None:
        dtype = infer_dtypes(title, lambda: first([tiny(x._x)], ()))[0]
    if x.shape[a] == 0:  # without elements there are no totals of blocks to combine
        return x._like(core_from_numpy(np.empty(x.shape, dtype), x.chunks, made=True))
    indices = tuple(range(x.ndim))
    mine = cuts(x._x)
    blocks = count(mine[a])
    lasts = [(blocks, 1) if d == a else cut for d, cut in enumerate(mine)]
    both = [Output(np.dtype(dtype), cut, indices) for cut in (mine, lasts)]
    unified: dict[Any, list[Cut]] = {d: [cut] for d, cut in enumerate(mine)}
    totals, ends = run_blocks(
        title, first, [Operand(x._x, indices)], unified, both, extra_projected_mem, x._spec
    )
    if blocks == 1:
        return totals
    whole = tuple(None if d == a else d for d in indices)
    carry = _ScanCarry(binop, ident, a)
    wide = [(blocks, blocks) if d == a else cut for d, cut in enumerate(mine)]
    (carried,) = run_blocks(
        title, carry, [Operand(ends._x, indices)], {d: [c] for d, c in enumerate(lasts)},
        [Output(both[1].dtype, wide, whole)], extra_projected_mem, x._spec,
    )  # fmt: skip
    return run_blocks(
        title, _ScanAdd(binop, a), [Operand(totals._x, indices), Operand(carried._x, indices)],
        {d: [mine[d], lasts[d]] for d in indices}, both[:1], extra_projected_mem, x._spec,
    )[0]  # fmt: skip
