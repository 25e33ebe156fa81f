"""Operations on blocks."""

from __future__ import annotations

from cubed.array._rechunk import rechunk
from cubed.blocks._apply import elemwise, map_blocks
from cubed.blocks._blockwise import blockwise
from cubed.blocks._gufunc import apply_gufunc
from cubed.blocks._overlap import map_overlap
from cubed.blocks._selection import map_selection
from cubed.blocks._tree import arg_reduction, reduction, scan
from cubed.core._unify import unify_chunks
from cubed.io._create import from_array, from_zarr
from cubed.io._store import store, to_zarr
from cubed.planning._compute import compute

__all__ = [
    "apply_gufunc",
    "arg_reduction",
    "blockwise",
    "compute",
    "elemwise",
    "from_array",
    "from_zarr",
    "map_blocks",
    "map_overlap",
    "map_selection",
    "rechunk",
    "reduction",
    "scan",
    "store",
    "to_zarr",
    "unify_chunks",
]
