"""Products of lazy arrays with sparse arrays in memory, such as weights of regridding."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import normalize_axis
from cubed.base._types import NDArray
from cubed.blocks._gufunc import apply_gufunc


def is_sparse(value: Any) -> bool:
    """Whether a value is a COO array of the package sparse."""
    cls = type(value)
    return cls.__module__.partition(".")[0] == "sparse" and cls.__name__ == "COO"


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Computes np.tensordot of a lazy array and a COO array; NotImplemented for other arguments.

    If the COO array comes first, NumPy calls the package sparse itself. Blocks are whole along the
    axes that are summed. The elements of the sparse array are inputs of each task, so its
    projection includes them.
    """
    if not isinstance(a, Array) or not is_sparse(b):
        return NotImplemented
    if b.fill_value != 0:
        raise ValueError(
            f"tensordot: the sparse array has fill_value {b.fill_value}, expected 0: make it dense"
            " by b.todense()"
        )
    ours, theirs = _summed(axes, a.ndim, b.ndim)
    extents = [a.shape[k] for k in ours]
    if not extents or extents != [b.shape[k] for k in theirs]:
        raise ValueError(
            f"tensordot: axes {axes!r} of shapes {a.shape} and {b.shape}, expected at least one"
            " pair of axes, with equal extents"
        )
    free = [k for k in range(b.ndim) if k not in theirs]
    shape = tuple(b.shape[k] for k in free)
    matrix = b.transpose((*theirs, *free)).reshape((math.prod(extents), math.prod(shape)))
    summed = ",".join(f"i{k}" for k in range(len(extents)))
    kept = ",".join(f"o{k}" for k in range(len(shape)))
    return apply_gufunc(
        _Product(matrix.shape, len(extents), shape),
        f"({summed}),(two,n),(n)->({kept})",
        a,
        matrix.coords,
        matrix.data,
        axes=[tuple(ours), (0, 1), (0,), tuple(range(-len(shape), 0))],
        output_dtypes=np.result_type(a.dtype, b.dtype),
        output_sizes={f"o{k}": extent for k, extent in enumerate(shape)},
        allow_rechunk=True,
        extra_projected_mem=None,
        name="tensordot",
    )


def _summed(axes: Any, left: int, right: int) -> tuple[list[int], list[int]]:
    """Returns the axes of both arrays that are summed, from NumPy's `axes`."""
    if isinstance(axes, (int, np.integer)):
        axes = (range(left - axes, left), range(axes))
    pair = [[k] if isinstance(k, (int, np.integer)) else list(k) for k in axes]
    if len(pair) != 2 or len(pair[0]) != len(pair[1]):
        raise ValueError(f"tensordot: axes is {axes!r}, expected a number, or as many axes of each")
    first, second = (
        [normalize_axis("tensordot", k, n) for k in ks]
        for ks, n in zip(pair, (left, right), strict=True)
    )
    return first, second


@dataclass(frozen=True)
class _Product:
    """Multiplies blocks by a sparse matrix, whose elements are passed as arguments."""

    matrix: tuple[int, int]
    summed: int
    free: Sequence[int]

    def __call__(self, block: NDArray, coords: NDArray, data: NDArray) -> NDArray:
        from sparse import COO  # lazy: only tasks need it

        weights = COO(coords, data, shape=self.matrix, has_duplicates=False, sorted=True)
        loops = block.shape[: block.ndim - self.summed]
        product = block.reshape(-1, self.matrix[0]) @ weights
        return np.asarray(product).reshape(*loops, *self.free)
