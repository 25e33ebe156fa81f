"""Operations on blocks."""

from __future__ import annotations

from cubed._apply import elemwise, map_blocks
from cubed._blockwise import blockwise
from cubed._compute import compute
from cubed._create import from_array, from_zarr
from cubed._gufunc import apply_gufunc
from cubed._manipulate import rechunk
from cubed._overlap import map_overlap
from cubed._selection import map_selection
from cubed._store import store, to_zarr
from cubed._tree import arg_reduction, reduction, scan
from cubed.core._unify import unify_chunks

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
