"""Import paths of Cubed for Python that Xarray, flox and others use."""

from cubed.core import groupby
from cubed.core.array import CoreArray, compute, measure_reserved_mem, visualize
from cubed.core.ops import (
    apply_gufunc,
    blockwise,
    elemwise,
    from_array,
    from_zarr,
    map_blocks,
    rechunk,
    reduction,
    scan,
    squeeze,
    store,
    to_zarr,
    unify_chunks,
)

__all__ = [
    "CoreArray", "apply_gufunc", "blockwise", "compute", "elemwise", "from_array", "from_zarr",
    "groupby", "map_blocks", "measure_reserved_mem", "rechunk", "reduction", "scan", "squeeze",
    "store", "to_zarr", "unify_chunks", "visualize",
]  # fmt: skip
