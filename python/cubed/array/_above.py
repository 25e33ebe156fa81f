"""What methods and operators of arrays call that is made of arrays, and so lies above them.

Modules import those below them only. The class of arrays lies below nearly all others and has
their functions as methods: this is the one place that knows where they are. Each module is imported
when its function is called first.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cubed import array_api as array_api
    from cubed.array._assign import setitem as setitem
    from cubed.array._casts import cast_text as cast_text
    from cubed.array._html import array_html as array_html
    from cubed.array._html import grid_svg as grid_svg
    from cubed.array._indexing import getitem as getitem
    from cubed.array._numpy import call_function as call_function
    from cubed.array._numpy import call_ufunc as call_ufunc
    from cubed.array._operands import multiply as multiply
    from cubed.array._operands import normalize_axis as normalize_axis
    from cubed.array._operands import operate as operate
    from cubed.array._rechunk import rechunk as rechunk
    from cubed.array._views import BlockView as BlockView
    from cubed.array._views import OuterIndex as OuterIndex
    from cubed.array._views import PointIndex as PointIndex
    from cubed.array_api.indexing_functions import positions_within as positions_within
    from cubed.blocks._apply import apply_along_axis as apply_along_axis
    from cubed.blocks._apply import elemwise as elemwise
    from cubed.blocks._apply import map_blocks as map_blocks
    from cubed.blocks._gufunc import apply_gufunc as apply_gufunc
    from cubed.blocks._overlap import map_overlap as map_overlap
    from cubed.blocks._tree import reduction as reduction
    from cubed.blocks._tree import scan as scan
    from cubed.io._create import as_lazy as as_lazy
    from cubed.io._create import asarray as asarray
    from cubed.io._create import persist as persist
    from cubed.io._store import to_zarr as to_zarr
    from cubed.planning._compute import compute as compute
    from cubed.planning._compute import plan as plan
    from cubed.planning._compute import visualize as visualize
else:
    #: Names, and where they are: a module, or a module and a name in it.
    PLACES = {
        "apply_along_axis": "cubed.blocks._apply:apply_along_axis",
        "apply_gufunc": "cubed.blocks._gufunc:apply_gufunc",
        "array_api": "cubed.array_api",
        "array_html": "cubed.array._html:array_html",
        "as_lazy": "cubed.io._create:as_lazy",
        "asarray": "cubed.io._create:asarray",
        "BlockView": "cubed.array._views:BlockView",
        "call_function": "cubed.array._numpy:call_function",
        "call_ufunc": "cubed.array._numpy:call_ufunc",
        "cast_text": "cubed.array._casts:cast_text",
        "compute": "cubed.planning._compute:compute",
        "elemwise": "cubed.blocks._apply:elemwise",
        "getitem": "cubed.array._indexing:getitem",
        "grid_svg": "cubed.array._html:grid_svg",
        "map_blocks": "cubed.blocks._apply:map_blocks",
        "map_overlap": "cubed.blocks._overlap:map_overlap",
        "multiply": "cubed.array._operands:multiply",
        "normalize_axis": "cubed.array._operands:normalize_axis",
        "operate": "cubed.array._operands:operate",
        "OuterIndex": "cubed.array._views:OuterIndex",
        "persist": "cubed.io._create:persist",
        "positions_within": "cubed.array_api.indexing_functions:positions_within",
        "plan": "cubed.planning._compute:plan",
        "PointIndex": "cubed.array._views:PointIndex",
        "rechunk": "cubed.array._rechunk:rechunk",
        "reduction": "cubed.blocks._tree:reduction",
        "scan": "cubed.blocks._tree:scan",
        "setitem": "cubed.array._assign:setitem",
        "to_zarr": "cubed.io._store:to_zarr",
        "visualize": "cubed.planning._compute:visualize",
    }

    def __getattr__(name: str) -> Any:
        if name not in PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module, _, found = PLACES[name].partition(":")
        value = import_module(module)
        if found:
            value = getattr(value, found)
        globals()[name] = value
        return value
