"""map_selection: user-defined functions on parts of an array that the caller chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import Cut, count, cut_of, sizes, title_of
from cubed.array._rechunk import rechunk
from cubed.array_api.manipulation_functions import concat
from cubed.base._chunks import normalize_chunks
from cubed.blocks._apply import map_blocks


def map_selection(
    func: Callable[..., Any],
    selection_function: Callable[[tuple[Any, ...]], Any],
    x: Array,
    *args: Any,
    shape: tuple[int, ...],
    dtype: Any,
    chunks: Any,
    max_num_input_blocks: int | None = None,
    extra_projected_mem: int = 0,
    name: str | None = None,
    **kwargs: Any,
) -> Array:
    """Applies a function to a part of an array for each block of the result.

    Parameters
    ----------
    func : callable
        Called with the part as a read-only NumPy array; returns the block. If the function has a
        parameter `block_id`, it gets the block number, a tuple.
    selection_function : callable
        Called with ``("out", i, j, ...)``, where i, j, ... is the number of a block. Returns the
        index of its part: slices, integer arrays, or a tuple of them. It is called immediately,
        once for each block.
    x : Array
        The array. Parts may overlap and need not match the chunks.
    *args : array_like
        Passed to the function after the part.
    shape : int or tuple of int
        Shape of the result.
    dtype : dtype or None
        Type of the result.
    chunks : int, tuple, str or None
        Chunks of the result.
    max_num_input_blocks : int or None
        Ignored: the planner knows the chunks that a part overlaps.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        The results of the calls as blocks. Lazy. A plan has a view of x for each block.

    Raises
    ------
    NotImplementedError
        Parts have another number of axes than the result, or extents that differ from those of
        neighbouring parts.

    Examples
    --------
    >>> import cubed
    >>> from cubed.core.ops import map_selection
    >>> x = cubed.arange(6, chunks=2)
    >>> def selection(out_coords):
    ...     _, b = out_coords
    ...     return (slice(4 - 2 * b, 6 - 2 * b),)
    ...
    >>> flipped = map_selection(
    ...     lambda part: part[::-1], selection, x, shape=(6,), dtype=int, chunks=(2,)
    ... )
    >>> flipped.compute()
    array([5, 4, 3, 2, 1, 0])
    """
    title = name or title_of("map_selection", func)
    extent = normalize_chunks(chunks, shape, np.dtype(dtype).itemsize)
    grid: list[Cut] = list(zip(shape, extent, strict=True))
    numbers = [count(cut) for cut in grid]
    ids = list(product(*map(range, numbers)))
    parts = {block_id: x[selection_function(("out", *block_id))] for block_id in ids}
    return map_blocks(
        func,
        _side_by_side(title, parts, numbers),
        *args,
        dtype=dtype,
        chunks=tuple(sizes(cut) for cut in grid),
        extra_projected_mem=extra_projected_mem,
        name=title,
        **kwargs,
    )


def _side_by_side(title: str, parts: dict[tuple[int, ...], Array], numbers: Sequence[int]) -> Array:
    """Returns an array whose blocks are the parts."""
    ndim = len(numbers)
    for block_id, part in parts.items():
        if part.ndim != ndim:
            raise NotImplementedError(
                f"{title}: the part of block {block_id} has {part.ndim} axes, the result {ndim}"
            )
    cuts: list[Cut] = []
    for axis, n in enumerate(numbers):
        along = (tuple(i if d == axis else 0 for d in range(ndim)) for i in range(n))
        cuts.append(cut_of([parts[b].shape[axis] for b in along], f"{title}: parts"))
    expected = [sizes(cut) for cut in cuts]
    for block_id, part in parts.items():
        want = tuple(e[i] for e, i in zip(expected, block_id, strict=True))
        if part.shape != want:
            raise NotImplementedError(
                f"{title}: the part of block {block_id} has shape {part.shape}, expected {want},"
                " like neighbouring parts"
            )

    def join(*front: int) -> Array:
        axis = len(front)
        if axis == ndim:
            return parts[front]
        return concat([join(*front, i) for i in range(numbers[axis])], axis=axis)

    return rechunk(join(), tuple(chunk for _, chunk in cuts))
