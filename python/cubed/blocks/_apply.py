"""map_blocks: user-defined functions on blocks with equal block numbers."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import (
    Call,
    Cut,
    ExtraMem,
    Operand,
    Output,
    bounds,
    count,
    cut_of,
    cuts,
    infer_dtypes,
    join,
    made_of,
    refuse_lazy,
    run_blocks,
    tiny,
    title_of,
    unify,
)
from cubed.array._neighbours import refuse_chunked
from cubed.array._operands import common_spec, lazy, normalize_axes, normalize_axis
from cubed.array_api.creation_functions import zeros
from cubed.base._types import NDArray
from cubed.exceptions import PlanTooLargeError
from cubed.runtime._call import to_array
from cubed.spec import Spec

#: For an axis: the numbers of elements to trim at the start and at the end of a result, and the
#: division of the axis into blocks if no values are added beyond its ends.
Trim = tuple[int, int, Cut | None]


@dataclass(frozen=True)
class BlockInfo:
    """Makes the argument `block_info` of a function, in Dask's format."""

    #: For each array its position in the arguments, and for each axis its division into blocks and
    #: the index of its block number. If the index is None, the axis is not divided.
    arrays: tuple[tuple[int, tuple[tuple[Cut, int | None], ...]], ...]
    cuts: tuple[Cut, ...]  # divisions of the axes of the result into blocks
    dtype: np.dtype[Any]

    def of_ones(self) -> BlockInfo:
        """Returns the block_info of arrays of one element.

        Functions are called once with such arrays to find the type of the result.
        """
        arrays = tuple((p, tuple(((1, 1), k) for _, k in axes)) for p, axes in self.arrays)
        return BlockInfo(arrays, ((1, 1),) * len(self.cuts), self.dtype)

    def __call__(self, index: tuple[int, ...]) -> dict[int | None, dict[str, Any]]:
        out: dict[int | None, dict[str, Any]] = {}
        for place, axes in self.arrays:
            numbers = tuple(0 if k is None or count(c) < 2 else index[k] for c, k in axes)
            out[place] = {
                "shape": tuple(c[0] for c, _ in axes),
                "num-chunks": tuple(count(c) for c, _ in axes),
                "array-location": [
                    (0, c[0]) if k is None else bounds(c, i)
                    for (c, k), i in zip(axes, numbers, strict=True)
                ],
                "chunk-location": numbers,
            }
        at = index[: len(self.cuts)]
        where = [bounds(c, i) for c, i in zip(self.cuts, at, strict=True)]
        out[None] = {
            "shape": tuple(c[0] for c in self.cuts),
            "num-chunks": tuple(count(c) for c in self.cuts),
            "array-location": where,
            "chunk-location": at,
            "chunk-shape": tuple(stop - start for start, stop in where),
            "dtype": self.dtype,
        }
        return out


def _block_info(
    places: Sequence[int],
    operands: Sequence[Operand],
    unified: Mapping[Any, list[Cut]],
    out: Output,
) -> BlockInfo:
    """Returns the BlockInfo for the calls of a function."""
    left = {index: list(c) for index, c in unified.items()}
    arrays = []
    for place, x in zip(places, operands, strict=True):
        axes = [
            (left[i].pop(0), out.indices.index(i) if i in out.indices else None) for i in x.indices
        ]
        arrays.append((place, tuple(axes)))
    return BlockInfo(tuple(arrays), tuple(out.cuts), out.dtype)


@dataclass(frozen=True)
class _MapCall(Call):
    """A function, whether it takes block numbers, and the elements to trim from its results."""

    block_ndim: int | None  # axes of `block_id`; None: no such parameter
    info: BlockInfo | None
    trim: tuple[Trim, ...]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        more: dict[str, Any] = {}
        if self.block_ndim is not None:
            more["block_id"] = index[: self.block_ndim]
        if self.info is not None:
            more["block_info"] = self.info(index)
        result = self.result(blocks, **more)
        if not self.trim:
            return (result,)
        result = to_array(result)
        key = []
        for axis, (before, after, cut) in enumerate(self.trim):
            if cut is not None:
                start, end = bounds(cut, index[axis])
                before, after = min(before, start), min(after, cut[0] - end)
            key.append(slice(before, result.shape[axis] - after))
        return (result[tuple(key)],)


def wants_keyword(function: Callable[..., Any], name: str) -> bool:
    """Whether a function has a parameter of that name."""
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # many C functions have no signature
        return False


def map_blocks(
    func: Callable[..., Any],
    *args: Any,
    dtype: Any = None,
    chunks: Any = None,
    drop_axis: int | Sequence[int] | None = None,
    new_axis: int | Sequence[int] | None = None,
    spec: Spec | None = None,
    extra_projected_mem: int = 0,
    name: str | None = None,
    **kwargs: Any,
) -> Array:
    """Applies a function to each block of arrays.

    Parameters
    ----------
    func : callable
        Called with a block of each array in `args` as a read-only NumPy array; returns a block of
        the result. The blocks of a call have equal block numbers. Axes are matched from the last
        one, and an axis with one block goes to all calls. If the function has a parameter
        `block_id`, it gets the block number, a tuple. A parameter `block_info` gets Dask's
        dictionary: for each array (key: its position in the arguments) and for the result (key
        None) the shape, the number of chunks and the location of the block.
    *args : array_like
        Lazy arrays, and other arguments, also NumPy arrays, which are passed to all calls
        unchanged. Without arguments the function creates an array: `chunks` are the extents of all
        its blocks, and each call gets a block of zeros of `dtype` (default: float64) if the
        function has a parameter for it.
    dtype : dtype or None
        Type of the result. None: found by calling the function with blocks of one element. Results
        of the same kind and another width are cast. If they are wider, `extra_projected_mem` must
        include the difference of the sizes.
    chunks : int, tuple, str or None
        Chunks of the result, if they differ from the arrays' chunks: for each axis the extent of
        every block, or a tuple with the extents of all blocks.
    drop_axis : int, sequence of int or None
        Axes of the arrays that the blocks of the result do not have. They are not split.
    new_axis : int, sequence of int or None
        Axes of the result that the arrays do not have. Their extent is 1 unless `chunks` gives
        another.
    spec : Spec or None
        Resources of computations, if no array has a spec.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        The results of the calls as blocks, with the shape and chunks of the broadcast arrays unless
        `chunks`, `drop_axis` or `new_axis` change them. Lazy.

    Raises
    ------
    TypeError
        The function cannot be pickled. During the computation: a result cannot be cast safely.
    ValueError
        The arrays have different numbers of blocks. During the computation: a result does not have
        the expected shape.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(6.0, chunks=2)
    >>> cubed.map_blocks(lambda block: block - block.mean(), x, dtype=x.dtype).compute()
    array([-0.5,  0.5, -0.5,  0.5, -0.5,  0.5])
    """
    title = name or title_of("map_blocks", func)
    refuse_lazy(title, args, kwargs)
    if not args and chunks is not None and _takes_block(func, kwargs):
        args = (_nothing(title, chunks, np.dtype(dtype if dtype is not None else float), spec),)
    arrays = [a for a in args if isinstance(a, Array)]
    ndim = max((a.ndim for a in arrays), default=0)
    spec = common_spec(*arrays) or spec

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        nonlocal dtype
        operands = [Operand(a._x, tuple(range(ndim - a.ndim, ndim))) for a in mine]
        unified = unify(operands, title, align=False)
        out = map_output(title, ndim, join(unified), chunks, drop_axis, new_axis, dtype)
        tried = None if dtype is not None else [tiny(x.array) for x in operands]
        made = run_mapped(
            title, func, args, kwargs, operands, unified, out, tried, extra_projected_mem, spec
        )
        dtype = made.dtype
        return (made,)

    return made_of(arrays, make)[0]


def run_mapped(
    title: str,
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    operands: Sequence[Operand],
    unified: Mapping[Hashable, list[Cut]],
    out: Output,
    tried: list[NDArray] | None,
    extra_mem: ExtraMem,
    spec: Spec | None,
    trim: tuple[Trim, ...] = (),
) -> Array:
    """Applies a function, which may have parameters `block_id` and `block_info`, to blocks.

    If the type is not given, a call of the function with `tried` determines the type."""
    places = tuple(i for i, a in enumerate(args) if isinstance(a, Array))
    values = tuple(None if isinstance(a, Array) else a for a in args)
    block_ndim = len(out.cuts) if wants_keyword(func, "block_id") else None
    told = wants_keyword(func, "block_info")
    info = _block_info(places, operands, unified, out) if told else None
    call = _MapCall(func, values, places, kwargs, block_ndim, info, trim)
    if tried is not None:
        trial = replace(call, trim=(), info=info and info.of_ones())
        out = replace(out, dtype=infer_dtypes(title, lambda: trial(tried, (0,) * 64))[0])
        call = replace(call, info=info and replace(info, dtype=out.dtype))
    return run_blocks(title, call, operands, unified, [out], extra_mem, spec)[0]


def _takes_block(function: Callable[..., Any], kwargs: dict[str, Any]) -> bool:
    """Whether a function can be called with a block, and with `block_id` if it has this
    parameter."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):  # many C functions have no signature
        return True
    number = {"block_id": ()} if "block_id" in found.parameters else {}
    try:
        found.bind(None, **{**number, **kwargs})
    except TypeError:
        return False
    return True


def _nothing(title: str, chunks: Any, dtype: np.dtype[Any], spec: Spec | None) -> Array:
    """Returns an array of zeros with given blocks. The zeros are broadcast, not stored."""
    try:
        sizes = tuple(
            (operator.index(c),) if not isinstance(c, Sequence) else tuple(map(operator.index, c))
            for c in chunks
        )
    except TypeError:
        raise TypeError(
            f"{title}: chunks is {chunks!r}, expected the extents of all blocks along each axis, as"
            " there is no array"
        ) from None
    return zeros(tuple(map(sum, sizes)), dtype=dtype, chunks=sizes, spec=spec)


def map_output(
    title: str,
    ndim: int,
    joined: dict[Any, Cut],
    chunks: Any,
    drop_axis: int | Sequence[int] | None,
    new_axis: int | Sequence[int] | None,
    dtype: Any,
) -> Output:
    """Returns the output of map_blocks: its axes are those of the arrays, without dropped axes and
    with new axes."""
    dropped = () if drop_axis is None else normalize_axes(title, drop_axis, ndim)
    indices: list[Any] = [d for d in range(ndim) if d not in dropped]
    new = () if new_axis is None else (new_axis,) if isinstance(new_axis, int) else tuple(new_axis)
    for axis in sorted(normalize_axes(title, new, len(indices) + len(new))):
        indices.insert(axis, ("new", axis))
    if not joined and chunks is not None:  # without arrays, the chunks define the result
        indices = [("new", d) for d in range(len(chunks))]
    cuts: list[Cut] = [joined.get(index, (1, 1)) for index in indices]
    if chunks is not None:
        entries = [chunks] * len(cuts) if isinstance(chunks, int) else list(chunks)
        if len(entries) != len(cuts):
            raise ValueError(
                f"{title}: chunks {chunks!r} has {len(entries)} entries, expected {len(cuts)}"
            )
        cuts = [
            _map_cut(title, d, entry, cut, index in joined)
            for d, (entry, cut, index) in enumerate(zip(entries, cuts, indices, strict=True))
        ]
    return Output(np.dtype(dtype if dtype is not None else float), cuts, tuple(indices))


def _map_cut(title: str, axis: int, entry: Any, cut: Cut, is_cut: bool) -> Cut:
    what = f"{title}: chunks of axis {axis}"
    if not isinstance(entry, Sequence):
        return cut_of((int(entry),) * count(cut), what)
    if is_cut and len(entry) != count(cut):
        raise ValueError(f"{what}: {len(entry)} blocks, but the arrays have {count(cut)}")
    return cut_of(tuple(int(n) for n in entry), what)


@dataclass(frozen=True)
class _AlongCall:
    function: Callable[..., Any]
    axis: int
    args: tuple[Any, ...]
    kwargs: dict[str, Any]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        along = np.apply_along_axis(self.function, self.axis, blocks[0], *self.args, **self.kwargs)
        return (along,)


def apply_along_axis(
    func1d: Callable[..., Any],
    axis: int,
    arr: Array,
    *args: Any,
    dtype: Any = None,
    shape: Sequence[int] | None = None,
    extra_projected_mem: int = 0,
    **kwargs: Any,
) -> Array:
    """Applies a function to the 1-dimensional lines of an array along an axis.

    Parameters
    ----------
    func1d : callable
        Called with a line; returns a number, or an array whose axes replace the axis of the line.
    axis : int
        The axis of the lines. A task holds whole lines.
    arr : Array
        Input array.
    *args : array_like
        Passed to the function.
    dtype : dtype or None
        Type of the function's result. None: found by calling the function with a line of ones.
    shape : int or tuple of int or None
        Shape of the function's result. None: found by calling the function with a line of ones.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        The array's axes, with the axes of the function's result in place of `axis`. Lazy.

    Raises
    ------
    IndexError
        The array has no such axis.

    Examples
    --------
    >>> import cubed
    >>> cubed.apply_along_axis(sorted, 1, cubed.asarray([[3, 1, 2]])).compute()
    array([[1, 2, 3]])
    """
    title = title_of("apply_along_axis", func1d)
    arr = lazy(arr, "arr")
    refuse_chunked(title, *args, *kwargs.values())
    a = normalize_axis(title, axis, arr.ndim)
    if dtype is None or shape is None:
        size = arr.shape[a] * arr.dtype.itemsize
        if size > arr.spec.task_mem:
            raise PlanTooLargeError(
                f"{title}: a line of axis {a} has {size} bytes, which a task has to hold, and"
                f" allowed_mem leaves {arr.spec.task_mem}"
            )
        line = np.ones(arr.shape[a], arr.dtype)
        tried = to_array(func1d(line, *args, **kwargs))
        dtype = tried.dtype if dtype is None else dtype
        shape = tried.shape if shape is None else shape
    call = _AlongCall(func1d, a, args, kwargs)
    indices = tuple(range(arr.ndim))
    new: list[Cut] = [(n, max(1, n)) for n in shape]

    def make(given: Sequence[Array]) -> tuple[Array, ...]:
        mine = cuts(given[0]._x)
        out = Output(
            np.dtype(dtype),
            [*mine[:a], *new, *mine[a + 1 :]],
            (*indices[:a], *[None] * len(new), *indices[a + 1 :]),
        )
        unified: dict[Any, list[Cut]] = {d: [cut] for d, cut in enumerate(mine)}
        operands = [Operand(given[0]._x, indices)]
        return run_blocks(title, call, operands, unified, [out], extra_projected_mem, arr._spec)

    return made_of([arr], make)[0]
