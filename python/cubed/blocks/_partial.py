"""Steps of reductions and functions with several results, under the names of Cubed for Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import (
    Call,
    Cut,
    Operand,
    Output,
    count,
    cut_of,
    cuts,
    made_of,
    refuse_lazy,
    run_blocks,
    title_of,
)
from cubed.array._operands import common_spec, lazy, normalize_axes, normalize_axis
from cubed.base._chunks import explicit_chunks
from cubed.base._types import DTypeLike, NDArray
from cubed.blocks._apply import wants_keyword
from cubed.blocks._reduction import Step, Tree
from cubed.blocks._tree import groups_of


def merge_chunks(x: Array, chunks: Sequence[int]) -> Array:
    """Merges adjacent chunks.

    Parameters
    ----------
    x : Array
        A lazy array.
    chunks : tuple of int
        Extents of the merged chunks, multiples of the extents of the array's chunks.

    Returns
    -------
    Array
        The array in these chunks. Lazy.

    Raises
    ------
    ValueError
        If an extent is not a multiple, or is missing.

    Examples
    --------
    >>> import cubed
    >>> from cubed.core.ops import merge_chunks
    >>> merge_chunks(cubed.ones((6, 4), chunks=(1, 2)), (3, 2)).chunks
    ((3, 3), (2, 2))
    """
    x = lazy(x)
    merged = tuple(chunks)
    if len(merged) != x.ndim:
        raise ValueError(
            f"merge_chunks: chunks is {merged}, expected {x.ndim} extents, one per axis"
        )
    if any(n < 1 or n % c for c, n in zip(x.chunksize, merged, strict=True)):
        raise ValueError(
            f"merge_chunks: chunks is {merged}, expected multiples of the array's {x.chunksize}:"
            " cubed.rechunk makes chunks of any extents"
        )
    return x.rechunk(merged)


@dataclass(frozen=True)
class _Block:
    """Applies a function to a block."""

    function: Callable[..., Any]

    def __call__(self, block: NDArray, axis: tuple[int, ...], keepdims: bool) -> Any:
        return self.function(block)


def partial_reduce(
    x: Array,
    func: Callable[..., Any],
    initial_func: Callable[..., Any] | None = None,
    split_every: Mapping[int, int] | None = None,
    dtype: DTypeLike | None = None,
    combine_sizes: Mapping[int, int] | None = None,
    *,
    extra_projected_mem: int = 0,
    name: str | None = None,
) -> Array:
    """Reduces groups of blocks to one block each: one level of a tree of calls.

    Parameters
    ----------
    x : Array
        A lazy array.
    func : callable
        ``func(blocks, axis=, keepdims=True)`` reduces a group of blocks, which are concatenated;
        `axis` is a tuple.
    initial_func : callable or None
        ``initial_func(block)`` is applied to each block before blocks are concatenated.
    split_every : dict
        For each axis to reduce, the number of blocks in a group.
    dtype : dtype or None
        Type of the results of both functions. None: found by calling them with blocks of one
        element.
    combine_sizes : dict or None
        For each axis, the extent of a group's result if it is not 1.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.

    Returns
    -------
    Array
        An array with one block for each group. Lazy.

    Raises
    ------
    TypeError
        `split_every` is missing, or a function cannot be pickled.
    ValueError
        A group has no block. During the computation: a result does not have the expected shape.

    Notes
    -----
    The functions return arrays. For several arrays that belong together, such as a count and a sum,
    use :func:`cubed.reduction` or :func:`cubed.core.ops.reduction`.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.ops import partial_reduce
    >>> x = cubed.arange(8, chunks=1)
    >>> partial_reduce(x, np.sum, split_every={0: 4}).compute()
    array([ 6, 22])
    """
    x = lazy(x)
    title = name or title_of("partial_reduce", func)
    if not isinstance(split_every, Mapping):
        raise TypeError(
            f"{title}: split_every is {split_every!r}, expected a dict: the number of blocks in a"
            " group for each axis to reduce"
        )
    several = {normalize_axis(title, a, x.ndim): int(n) for a, n in split_every.items()}
    if any(n < 1 for n in several.values()):
        raise ValueError(f"{title}: split_every is {split_every}, expected at least 1 block")
    extents = {normalize_axis(title, a, x.ndim): n for a, n in (combine_sizes or {}).items()}
    axes = tuple(sorted(several))
    tree = Tree(title, axes, True, extents, extra_projected_mem)
    given = None if dtype is None else np.dtype(dtype)

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        if initial_func is not None:
            first = Step(title, _Block(initial_func), x.ndim, axes, True, None, None, None)
            singly = replace(tree, output_sizes={})
            mine, _ = singly.level(first, mine, dict.fromkeys(axes, 1), given)
            _check_single(title, mine)
        step = Step(title, func, x.ndim, axes, True, None, None, None)
        made, _ = tree.level(step, mine, several, given)
        _check_single(title, made)
        return made

    return made_of([x], make)[0]


def _check_single(title: str, made: Sequence[Array]) -> None:
    if len(made) != 1:
        raise TypeError(
            f"{title}: a function returns {len(made)} arrays, expected one: cubed.reduction takes"
            " functions that return several"
        )


def tree_reduce(
    x: Array,
    func: Callable[..., Any],
    axis: int | Sequence[int] | None = None,
    dtype: DTypeLike | None = None,
    split_every: int | Mapping[int, int] | None = None,
    combine_sizes: Mapping[int, int] | None = None,
    *,
    extra_projected_mem: int = 0,
    name: str | None = None,
) -> Array:
    """Reduces groups of blocks repeatedly, until one block is left along each axis.

    Parameters
    ----------
    x : Array
        A lazy array.
    func : callable
        As for :func:`partial_reduce`.
    axis : int, tuple of int or None
        The axes to reduce. None: all.
    dtype : dtype or None
        Type of the results. None: found by calling the function with blocks of one element.
    split_every : int, dict or None
        Blocks that one call combines along an axis; by axis, or in total for all axes.
        Default: 4.
    combine_sizes : dict or None
        For each axis, the extent of a group's result if it is not 1.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.

    Returns
    -------
    Array
        An array with one block along the axes. An axis that already has one block is not reduced.
        Lazy.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.ops import tree_reduce
    >>> tree_reduce(cubed.arange(8, chunks=1), np.sum, axis=0).compute()
    array([28])
    """
    x = lazy(x)
    title = name or title_of("tree_reduce", func)
    axes = normalize_axes(title, axis, x.ndim)
    several = groups_of(title, axes, split_every or None, x.ndim)
    while any(x.numblocks[a] > 1 for a in axes):
        x = partial_reduce(
            x,
            func,
            split_every=several,
            dtype=dtype,
            combine_sizes=combine_sizes,
            extra_projected_mem=extra_projected_mem,
            name=title,
        )
    return x


@dataclass(frozen=True)
class _SeveralCall(Call):
    block_ndim: int | None  # axes of `block_id`; None: no such parameter

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        if self.block_ndim is None:
            return _listed(self.result(blocks))
        return _listed(self.result(blocks, block_id=index[: self.block_ndim]))


def _listed(results: Any) -> Sequence[Any]:
    if isinstance(results, (tuple, list)):
        return results
    raise TypeError(f"the function returns a {type(results).__name__}, expected a tuple of arrays")


def map_blocks_multiple_outputs(
    func: Callable[..., Any],
    *args: Any,
    shapes: Sequence[Sequence[int]],
    dtypes: Sequence[DTypeLike],
    chunkss: Sequence[Any],
    extra_projected_mem: int = 0,
    name: str | None = None,
    **kwargs: Any,
) -> tuple[Array, ...]:
    """Applies a function with several results to each block of arrays.

    Parameters
    ----------
    func : callable
        Called with a read-only NumPy array for each array in `args`: blocks with equal block
        numbers. Returns a tuple with a block of each result. If the function has a parameter
        `block_id`, it gets the block number, a tuple.
    *args : array_like
        Lazy arrays with the same numbers of chunks, and other arguments, which are passed to all
        calls unchanged.
    shapes : sequence of tuple of int
        Shape of each result.
    dtypes : sequence of dtype
        Type of each result.
    chunkss : sequence of tuple
        Chunks of each result. All results have as many chunks as the arrays along each axis.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its results; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    tuple of Array
        The results, lazy. If results are computed together, the function is called once per block.

    Raises
    ------
    TypeError
        There is no lazy array, or the function cannot be pickled. During the computation: a result
        cannot be cast safely.
    ValueError
        Numbers of chunks differ. During the computation: a result does not have the expected shape.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.ops import map_blocks_multiple_outputs
    >>> x = cubed.asarray([[3.0], [4.0], [6.0], [8.0]], chunks=(2, 1))
    >>> q, r = map_blocks_multiple_outputs(
    ...     np.linalg.qr, x, shapes=[(4, 1), (2, 1)], dtypes=[float, float],
    ...     chunkss=[(2, 1), (1, 1)],
    ... )
    >>> np.abs(r.compute()).ravel()
    array([ 5., 10.])
    """
    title = name or title_of("map_blocks_multiple_outputs", func)
    refuse_lazy(title, args, kwargs)
    arrays = [a for a in args if isinstance(a, Array)]
    if not arrays:
        raise TypeError(f"{title}: args has no lazy array, expected at least one")
    if not len(shapes) == len(dtypes) == len(chunkss):
        raise ValueError(
            f"{title}: shapes, dtypes and chunkss have {len(shapes)}, {len(dtypes)} and"
            f" {len(chunkss)} entries, expected one for each result"
        )
    numbers = arrays[0].numblocks
    indices = tuple(range(len(numbers)))
    outputs = []
    for k, (shape, dtype, chunks) in enumerate(zip(shapes, dtypes, chunkss, strict=True)):
        t = np.dtype(dtype)
        extents = explicit_chunks(chunks, tuple(shape), t.itemsize)
        made: list[Cut] = [cut_of(e, f"{title}: chunkss[{k}]") for e in extents]
        outputs.append(Output(t, made, indices))
    found = [a.numblocks for a in arrays] + [tuple(map(count, out.cuts)) for out in outputs]
    if any(n != numbers for n in found):
        raise ValueError(
            f"{title}: arrays and results have {found} chunks along their axes, expected the same"
            " numbers"
        )
    places = tuple(i for i, a in enumerate(args) if isinstance(a, Array))
    values = tuple(None if isinstance(a, Array) else a for a in args)
    block_ndim = len(numbers) if wants_keyword(func, "block_id") else None
    call = _SeveralCall(func, values, places, kwargs, block_ndim)
    spec = common_spec(*arrays)

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        operands = [Operand(a._x, indices) for a in mine]
        unified: dict[Any, list[Cut]] = {d: [cuts(a._x)[d] for a in mine] for d in indices}
        return run_blocks(title, call, operands, unified, outputs, extra_projected_mem, spec)

    return made_of(arrays, make)
