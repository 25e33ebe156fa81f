"""Import paths of Cubed for Python that Xarray, flox and others use."""

from cubed.core import groupby
from cubed.core._unify import unify_chunks
from cubed.core.ops import blockwise, elemwise, map_blocks, rechunk, reduction

__all__ = [
    "blockwise",
    "elemwise",
    "groupby",
    "map_blocks",
    "rechunk",
    "reduction",
    "unify_chunks",
]
