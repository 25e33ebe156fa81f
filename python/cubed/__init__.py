"""Bounded-memory N-dimensional array processing.

Arrays are lazy and chunked. The memory of each task is known before a computation starts, and tasks
never exceed it. :mod:`cubed.array_api` has the functions of the Python Array API standard, which
are also in this module.
"""

from __future__ import annotations

#: Name of this package's distribution. The module _core refuses to load into a package without
#: this name, because Cubed for Python also has a file `__init__.py` in this folder.
__distribution__ = "cubed-c"

from typing import TYPE_CHECKING

from cubed import _core
from cubed.base._loading import exports

if TYPE_CHECKING:  # names for type checkers; at run time they are loaded on first use
    from cubed import array_api as array_api
    from cubed import diagnostics as diagnostics
    from cubed import exceptions as exceptions
    from cubed import ma as ma
    from cubed import ndimage as ndimage
    from cubed import random as random
    from cubed import remapping as remapping
    from cubed import stats as stats
    from cubed._settings import config as config
    from cubed.array._array import Array as Array
    from cubed.array._rechunk import rechunk as rechunk
    from cubed.array_api import *  # noqa: F403
    from cubed.array_api import __array_api_version__ as __array_api_version__
    from cubed.base._versions import show_versions as show_versions
    from cubed.blocks._apply import apply_along_axis as apply_along_axis
    from cubed.blocks._apply import map_blocks as map_blocks
    from cubed.blocks._blockwise import blockwise as blockwise
    from cubed.blocks._delayed import from_delayed as from_delayed
    from cubed.blocks._delayed import to_delayed as to_delayed
    from cubed.blocks._groupby import groupby_reduce as groupby_reduce
    from cubed.blocks._gufunc import apply_gufunc as apply_gufunc
    from cubed.blocks._gufunc import as_gufunc as as_gufunc
    from cubed.blocks._measure import measure_reserved_mem as measure_reserved_mem
    from cubed.blocks._overlap import map_overlap as map_overlap
    from cubed.blocks._preflight import check_executor as check_executor
    from cubed.blocks._reduction import cumreduction as cumreduction
    from cubed.blocks._reduction import reduction as reduction
    from cubed.blocks._unify import unify_chunks as unify_chunks
    from cubed.functions.fields import *  # noqa: F403
    from cubed.functions.statistical import eofs as eofs
    from cubed.io._create import from_array as from_array
    from cubed.io._create import from_zarr as from_zarr
    from cubed.io._eval import eval as eval
    from cubed.io._store import store as store
    from cubed.io._store import to_zarr as to_zarr
    from cubed.planning._compute import Plan as Plan
    from cubed.planning._compute import compute as compute
    from cubed.planning._compute import load_plan as load_plan
    from cubed.planning._compute import plan as plan
    from cubed.planning._compute import visualize as visualize
    from cubed.planning._guard import raise_if_computes as raise_if_computes
    from cubed.remapping import remap as remap
    from cubed.runtime.types import Callback as Callback
    from cubed.runtime.types import TaskEndEvent as TaskEndEvent
    from cubed.spec import Spec as Spec

_core.note_origins(__file__.rpartition("__init__.")[0])

__version__: str = _core.version

if not TYPE_CHECKING:
    # `from cubed import *` would replace Python's own `eval`.
    __getattr__, __dir__, __all__ = exports(
        __name__,
        hidden=(
            "array_api", "diagnostics", "eval", "exceptions", "ma", "ndimage", "random",
            "remapping", "stats",
        ),
    )  # fmt: skip
