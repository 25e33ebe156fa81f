"""Import paths of operations on blocks."""

from cubed.array._elements import elemwise
from cubed.array._rechunk import rechunk
from cubed.array_api.manipulation_functions import squeeze
from cubed.blocks._apply import map_blocks
from cubed.blocks._blockwise import blockwise
from cubed.blocks._gufunc import apply_gufunc
from cubed.blocks._overlap import map_overlap
from cubed.blocks._partial import (
    map_blocks_multiple_outputs,
    merge_chunks,
    partial_reduce,
    tree_reduce,
)
from cubed.blocks._selection import map_selection
from cubed.blocks._tree import arg_reduction, reduction
from cubed.blocks._unify import unify_chunks
from cubed.compat._functions import scan
from cubed.io._create import from_array, from_zarr
from cubed.io._store import store, to_zarr
from cubed.planning._compute import compute

__all__ = [
    "apply_gufunc", "arg_reduction", "blockwise", "compute", "elemwise", "from_array", "from_zarr",
    "map_blocks", "map_blocks_multiple_outputs", "map_overlap", "map_selection", "merge_chunks",
    "partial_reduce", "rechunk", "reduction", "scan", "squeeze", "store", "to_zarr", "tree_reduce",
    "unify_chunks",
]  # fmt: skip
