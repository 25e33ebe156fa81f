"""Applies user-defined functions to blocks by index notation."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import (
    Call,
    Cut,
    Operand,
    Output,
    cut_of,
    infer_dtypes,
    join,
    made_of,
    refuse_lazy,
    run_blocks,
    sizes,
    tiny,
    title_of,
    unify,
)
from cubed.array._operands import common_spec, core_of
from cubed.base._types import NDArray
from cubed.io._store import to_zarr
from cubed.spec import Spec


@dataclass(frozen=True)
class _NestedCall(Call):
    #: For each array, and for each of its axes that no output has: the extents of the blocks, which
    #: the function receives as lists.
    contracted: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        nested = (_nested(b, axes) for b, axes in zip(blocks, self.contracted, strict=True))
        return (self.result(nested),)


def _nested(block: NDArray, axes: tuple[tuple[int, tuple[int, ...]], ...]) -> Any:
    """Splits the block into nested lists of blocks along some axes. The blocks are views."""
    if not axes:
        return block
    (axis, extents), rest = axes[0], axes[1:]
    if len(extents) > 1 and block.shape[axis] == 1:  # all block numbers get the same block
        return [_nested(block, rest)] * len(extents)
    ends = np.cumsum(extents[:-1])
    return [_nested(part, rest) for part in np.split(block, ends, axis)]


def blockwise(
    func: Callable[..., Any],
    out_ind: Sequence[Hashable],
    *args: Any,
    dtype: Any = None,
    adjust_chunks: Mapping[Hashable, Any] | None = None,
    new_axes: Mapping[Hashable, Any] | None = None,
    align_arrays: bool = True,
    target_store: Any = None,
    target_path: str | None = None,
    extra_func_kwargs: Mapping[str, Any] | None = None,
    concatenate: bool | None = None,
    extra_projected_mem: int = 0,
    name: str | None = None,
    spec: Spec | None = None,
    **kwargs: Any,
) -> Array:
    """Applies a function to blocks of arrays, matched by index notation.

    Parameters
    ----------
    func : callable
        Called with the blocks as read-only NumPy arrays; returns the block of the result.
    out_ind : str or sequence
        Index of each axis of the result: a string such as ``"ij"``, or a sequence.
    *args : array_like
        Arrays and their indices in turn: ``x, "ij", y, "jk"``. A value with index None is passed to
        all calls unchanged.
    dtype : dtype or None
        Type of the result. None: found by calling the function with blocks of one element.
    adjust_chunks : dict or None
        New extents of blocks by index: a function of the extent, a number, or the extents of all
        blocks.
    new_axes : dict or None
        Extents, or extents of all blocks, of indices that no array has.
    align_arrays : bool, default True
        True: arrays with the same index must have the same extent, and are split alike. False: they
        must have the same number of blocks.
    target_store : str, path or store or None
        Store to which the result is written when it is computed, as by :func:`cubed.to_zarr` with
        ``compute=False``. None: the result is not written.
    target_path : str or None
        Path of the result in `target_store`.
    extra_func_kwargs : dict or None
        Passed to the function, in addition to `kwargs`.
    concatenate : bool or None
        Form of the blocks along indices that the result does not have: one array if true, otherwise
        (nested) lists of blocks.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.
    spec : Spec or None
        Resources of computations, if no array has a spec.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        An array with the axes `out_ind`. Lazy.

    Raises
    ------
    TypeError
        The function cannot be pickled. During the computation: a result cannot be cast safely.
    ValueError
        Indices do not fit the arrays, or extents of one index differ. During the computation: a
        result does not have the expected shape.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> x, y = cubed.ones((2, 3)), cubed.ones((3, 2))
    >>> cubed.blockwise(np.matmul, "ik", x, "ij", y, "jk", dtype=float, concatenate=True).compute()
    array([[3., 3.],
           [3., 3.]])
    """
    title = name or title_of("blockwise", func)
    kwargs = {**kwargs, **(extra_func_kwargs or {})}
    if target_path is not None and target_store is None:
        raise ValueError(f"{title}: target_path is {target_path!r}, but there is no target_store")
    if len(args) % 2:
        raise ValueError(f"{title}: arrays and their indices come in pairs")
    out_ind = tuple(out_ind)
    pairs = list(zip(args[::2], args[1::2], strict=True))
    operands, values, places = [], [], []
    for i, (value, index) in enumerate(pairs):
        values.append(None if index is not None else value)
        if index is not None:
            operands.append(_operand(title, i, value, tuple(index)))
            places.append(i)
        elif isinstance(value, Array):
            raise TypeError(f"{title}: argument {i} is a lazy array, expected a value")
    refuse_lazy(title, values, kwargs)
    specs = [a for a, index in pairs if index is not None]
    spec = common_spec(*specs) or spec

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        nonlocal dtype
        cores = [Operand(a._x, x.indices) for a, x in zip(mine, operands, strict=True)]
        unified = unify(cores, title, align_arrays)
        joined = join(unified)
        contracted = [
            tuple(
                (axis, sizes(joined[index]))
                for axis, index in enumerate(x.indices)
                if index not in out_ind and not concatenate
            )
            for x in cores
        ]
        call = _NestedCall(func, tuple(values), tuple(places), kwargs, tuple(contracted))
        if dtype is None:
            dtype = infer_dtypes(title, lambda: _try(call, cores))[0]
        cuts_out = _output_cuts(title, out_ind, joined, adjust_chunks or {}, new_axes or {})
        out = Output(np.dtype(dtype), cuts_out, out_ind)
        return run_blocks(title, call, cores, unified, [out], extra_projected_mem, spec)

    out = made_of([Array._new(x.array, spec) for x in operands], make)[0]
    if target_store is None:
        return out
    return to_zarr(out, target_store, path=target_path, compute=False)


def _try(call: _NestedCall, operands: Sequence[Operand]) -> Sequence[Any]:
    """Calls the function with blocks of one element, one along each contracted axis."""
    ones = tuple(tuple((axis, (1,)) for axis, _ in axes) for axes in call.contracted)
    short = _NestedCall(call.function, call.args, call.places, call.kwargs, ones)
    return short([tiny(x.array) for x in operands], (0,) * 64)


def _operand(title: str, number: int, value: Any, indices: tuple[Hashable, ...]) -> Operand:
    x = core_of(value)
    if len(indices) != len(x.shape):
        raise ValueError(
            f"{title}: argument {number} has {len(x.shape)} axes, but {len(indices)} indices"
        )
    if len(set(indices)) != len(indices):
        raise ValueError(f"{title}: argument {number} has an index twice: {indices}")
    return Operand(x, indices)


def _output_cuts(
    title: str,
    out_ind: tuple[Hashable, ...],
    joined: Mapping[Hashable, Cut],
    adjust: Mapping[Hashable, Any],
    new_axes: Mapping[Hashable, Any],
) -> list[Cut]:
    out = []
    if len(set(out_ind)) != len(out_ind):
        raise ValueError(f"{title}: the result has an index twice: {out_ind}")
    for index in out_ind:
        what = f"{title}: index {index!r}"
        if index in new_axes:
            if index in joined:
                raise ValueError(f"{what} is a new axis, but an array already has this axis")
            new = new_axes[index]
            extents = tuple(new) if isinstance(new, Sequence) else (int(new),)
        elif index in joined:
            extents = sizes(joined[index])
        else:
            raise ValueError(f"{what} is in no array and not in new_axes")
        if index in adjust:
            extents = _adjusted(what, extents, adjust[index])
        out.append(cut_of(extents, what))
    return out


def _adjusted(what: str, extents: tuple[int, ...], how: Any) -> tuple[int, ...]:
    if callable(how):
        return tuple(int(how(n)) for n in extents)
    if isinstance(how, Sequence):
        if len(how) != len(extents):
            raise ValueError(
                f"{what} has {len(extents)} blocks, but adjust_chunks has {len(how)} entries"
            )
        return tuple(int(n) for n in how)
    return (int(how),) * len(extents)
