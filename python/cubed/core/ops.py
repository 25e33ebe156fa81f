"""Operations on blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._elements import elemwise
from cubed.array._operands import normalize_axis
from cubed.array._rechunk import rechunk
from cubed.array_api.creation_functions import full
from cubed.array_api.manipulation_functions import concat, reshape, squeeze
from cubed.blocks import _tree
from cubed.blocks._apply import map_blocks
from cubed.blocks._blockwise import blockwise
from cubed.blocks._gufunc import apply_gufunc
from cubed.blocks._overlap import map_overlap
from cubed.blocks._selection import map_selection
from cubed.blocks._tree import arg_reduction, reduction
from cubed.core._unify import unify_chunks
from cubed.io._create import from_array, from_zarr
from cubed.io._store import store, to_zarr
from cubed.planning._compute import compute

__all__ = [
    "apply_gufunc", "arg_reduction", "blockwise", "compute", "elemwise", "from_array", "from_zarr",
    "map_blocks", "map_overlap", "map_selection", "rechunk", "reduction", "scan", "squeeze",
    "store", "to_zarr", "unify_chunks",
]  # fmt: skip


def scan(
    array: Array,
    func: Callable[..., Any],
    *,
    preop: Callable[..., Any],
    binop: Callable[..., Any],
    axis: int | None,
    dtype: Any = None,
    include_initial: bool = False,
    split_every: int = 5,
) -> Array:
    """Running totals along an axis by functions.

    Parameters
    ----------
    array : Array
        A lazy array.
    func : callable
        ``func(block, axis=)`` gives the running totals of a block, such as `numpy.cumsum`.
    preop : callable
        ``preop(block, axis=, keepdims=True)`` gives the total of one, such as `numpy.sum`. Asked
        for the total of nothing, with `include_initial`.
    binop : callable
        ``binop(before, after)`` joins totals, such as `numpy.add`.
    axis : int or None
        None: array in one dimension.
    dtype : dtype or None
        Of the totals. None: found by calling `func` with a block of one element.
    include_initial : bool, default False
        Whether totals begin with that of nothing; the last one is left out then.
    split_every : int, dict or None, default 5
        For compatibility.

    Returns
    -------
    Array
        Of the array's shape; lazy.

    Raises
    ------
    IndexError
        There is no such axis.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> from cubed.core.ops import scan
    >>> x = cubed.arange(6, chunks=2)
    >>> scan(x, np.cumsum, preop=np.sum, binop=np.add, axis=0).compute()
    array([ 0,  1,  3,  6, 10, 15])
    """
    if axis is None:
        array, axis = reshape(array, (-1,)), 0
    axis = normalize_axis(axis, array.ndim)
    out = _tree.scan(func, binop, 0, array, axis, dtype)
    if not include_initial:
        return out
    rest = (*(slice(None),) * axis, slice(0, max(0, array.shape[axis] - 1)))
    empty = np.empty([0 if d == axis else n for d, n in enumerate(array.chunksize)], array.dtype)
    first = np.unique(preop(empty, axis=axis, keepdims=True))
    shape = tuple(min(1, n) if d == axis else n for d, n in enumerate(array.shape))
    if len(first) != 1:
        raise ValueError(f"preop gives {first} of nothing, expected one value")
    initial = full(shape, first[0], dtype=out.dtype, spec=array._spec)
    return concat([initial, out[rest]], axis=axis).rechunk(array.chunks)
