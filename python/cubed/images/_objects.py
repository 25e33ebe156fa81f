"""Connected objects of images: SciPy labels blocks, and objects are merged across blocks."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import to_numpy
from cubed.array_api.creation_functions import arange
from cubed.array_api.statistical_functions import max as max_
from cubed.base._held import import_counted
from cubed.base._types import NDArray
from cubed.blocks._apply import map_blocks
from cubed.blocks._groupby import groupby_reduce
from cubed.functions.manipulation import broadcast_to
from cubed.io._create import as_lazy
from cubed.planning._compute import compute

_SCIPY = "scipy.ndimage"


@dataclass(frozen=True)
class _Labels:
    structure: NDArray
    counts: bool  # whether to return the number of objects, instead of the labels

    def __call__(self, block: NDArray) -> NDArray:
        labels, n = import_module(_SCIPY).label(block, self.structure)
        return np.full((1,) * block.ndim, n, np.int64) if self.counts else labels.astype(np.int32)


@dataclass(frozen=True)
class _Numbered:
    offsets: NDArray  # labels of the blocks before each block
    table: NDArray

    def __call__(self, block: NDArray, block_id: tuple[int, ...]) -> NDArray:
        at = self.table[np.where(block > 0, block + self.offsets[block_id], 0)]
        return at.astype(np.int32)


def label(input: Any, structure: Any = None) -> tuple[Array, int]:
    """Labels the connected objects of an image with numbers.

    The call computes immediately: it labels each block separately, and merges objects that touch
    across blocks. It holds the numbers of objects and the faces of all blocks in memory.

    Parameters
    ----------
    input : array_like
        An image; elements that are not 0 belong to objects.
    structure : array_like of bool or None
        Mask of connected neighbours, with 3 elements along each axis, symmetric. None: neighbours
        that share a face.

    Returns
    -------
    tuple[Array, int]
        The labels, int32 and lazy, with the image's shape, and 0 outside objects; and the number of
        objects. Objects are numbered by the block in which they begin, so the order may differ from
        SciPy's.

    Raises
    ------
    ValueError
        If the structure has a different shape, or is not symmetric.

    Examples
    --------
    >>> import cubed
    >>> labels, n = cubed.ndimage.label(cubed.asarray([1, 1, 0, 1, 0, 1]))
    >>> labels.compute(), n
    (array([1, 1, 0, 2, 0, 3], dtype=int32), 3)
    """
    x = as_lazy(input)
    ndimage = import_counted(_SCIPY)
    part = ndimage.generate_binary_structure(x.ndim, 1) if structure is None else structure
    part = to_numpy(part).astype(bool)
    if part.shape != (3,) * x.ndim:
        raise ValueError(f"label: structure has shape {part.shape}, expected {(3,) * x.ndim}")
    if not (part == part[(slice(None, None, -1),) * x.ndim]).all():
        raise ValueError("label: structure is not symmetric")
    on = (x != 0).astype(np.uint8)
    extra = 12 * math.prod(x.chunksize)
    local = map_blocks(
        _Labels(part, False), on, dtype=np.int32, extra_projected_mem=extra, name="label"
    )
    if x.size == 0:
        return local, 0
    ones = tuple((1,) * n for n in x.numblocks)
    number = map_blocks(
        _Labels(part, True), on, dtype=np.int64, chunks=ones, extra_projected_mem=extra,
        name="label",
    )  # fmt: skip
    borders = [
        (axis, int(p)) for axis, c in enumerate(x.chunks) for p in np.cumsum(c)[:-1].tolist()
    ]
    faces = [
        local[(*(slice(None),) * axis, slice(p - 1, p + 1))] for axis, p in borders
    ]  # fmt: skip
    counts, *found = compute(number, *faces)
    offsets = (np.cumsum(counts.reshape(-1)) - counts.reshape(-1)).reshape(counts.shape)
    total = int(counts.sum())
    pairs = [
        _touching(face, axis, p, offsets, x.chunks, part)
        for (axis, p), face in zip(borders, found, strict=True)
    ]
    table, n = _joined(np.concatenate([np.empty((0, 2), np.int64), *pairs]), total)
    numbered = _Numbered(offsets, table)
    out = map_blocks(
        numbered, local, dtype=np.int32, extra_projected_mem=extra + table.nbytes, name="label"
    )
    return out, n


def _touching(
    face: NDArray,
    axis: int,
    p: int,
    offsets: NDArray,
    chunks: Sequence[Sequence[int]],
    structure: NDArray,
) -> NDArray:
    """Returns pairs of labels that touch across a border of blocks, numbered over all blocks."""
    ids = []
    for side in range(2):
        places = [np.searchsorted(np.cumsum(c), np.arange(np.sum(c)), side="right") for c in chunks]
        places[axis] = places[axis][p - 1 + side : p + side]
        mine = face[(*(slice(None),) * axis, slice(side, side + 1))].astype(np.int64)
        ids.append(np.where(mine > 0, mine + offsets[np.ix_(*places)], 0))
    out = []
    for step in itertools.product((-1, 0, 1), repeat=face.ndim):
        if step[axis] != 1 or not structure[tuple(s + 1 for s in step)]:
            continue
        left, right = ([slice(None)] * face.ndim for _ in range(2))
        for d, s in enumerate(step):
            if d != axis and s:
                left[d] = slice(0, -1) if s > 0 else slice(1, None)
                right[d] = slice(1, None) if s > 0 else slice(0, -1)
        a, b = ids[0][tuple(left)].ravel(), ids[1][tuple(right)].ravel()
        both = (a > 0) & (b > 0)
        out.append(np.unique(np.stack([a[both], b[both]], axis=1), axis=0))
    return np.concatenate(out) if out else np.empty((0, 2), np.int64)


def _joined(pairs: NDArray, total: int) -> tuple[NDArray, int]:
    """Returns for each label the number of its object, from 1, and the number of objects."""
    sparse, graph = import_counted("scipy.sparse"), import_counted("scipy.sparse.csgraph")
    ones = np.ones(len(pairs), np.int8)
    matrix = sparse.coo_matrix((ones, (pairs[:, 0] - 1, pairs[:, 1] - 1)), shape=(total, total))
    if total == 0:
        return np.zeros(1, np.int64), 0
    n, group = graph.connected_components(matrix, directed=False)
    _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
    rank = np.empty(n, np.int64)
    rank[np.argsort(first)] = np.arange(1, n + 1)
    return np.concatenate([[0], rank[inverse]]), int(n)


# --- Boxes --------------------------------------------------------------------------------------


def find_objects(input: Any, max_label: int = 0) -> list[tuple[slice, ...] | None]:
    """Finds the bounding boxes of the objects of a labelled image.

    The call computes the smallest and the largest position of each label along each axis, and holds
    them in memory.

    Parameters
    ----------
    input : array_like of int
        Labels from 1, and 0 outside objects; for example a result of :func:`label`.
    max_label : int, default 0
        The largest label to return. Less than 1: the largest label of the image.

    Returns
    -------
    list of tuple of slice, or None
        A slice for each axis, for labels 1, 2, ...; None for a label without elements.

    Examples
    --------
    >>> import cubed
    >>> cubed.ndimage.find_objects(cubed.asarray([0, 1, 1, 0, 3]))
    [(slice(1, 3, None),), None, (slice(4, 5, None),)]
    """
    x, n = as_lazy(input), operator.index(max_label)
    if x.dtype.kind not in "iu" or x.ndim == 0:
        raise TypeError(f"find_objects: input is {x.dtype} of {x.ndim} axes, expected integers")
    if n < 1:
        n = int(max_(x).compute()) if x.size else 0
    if n < 1 or x.size == 0:
        return [None] * max(n, 0)
    ends = []
    for d, extent in enumerate(x.shape):
        at = arange(extent, dtype=np.int64, chunks=(x.chunks[d],))
        at = broadcast_to(at.reshape([extent if e == d else 1 for e in range(x.ndim)]), x.shape)
        for func in ("min", "max"):
            end, *_ = groupby_reduce(
                at, x, func=func, expected_groups=np.arange(1, n + 1), fill_value=-1, min_count=1
            )
            ends.append(end)
    found = np.stack(compute(*ends)).reshape(x.ndim, 2, n)
    return [
        None if box[0, 0] < 0 else tuple(slice(int(a), int(b) + 1) for a, b in box)
        for box in np.moveaxis(found, -1, 0)
    ]
