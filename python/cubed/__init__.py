"""Bounded-memory N-dimensional array processing.

Arrays are lazy and chunked; the memory that each task of a computation needs is known before
it starts and is never exceeded. :mod:`cubed.array_api` has the functions of the Python Array API
standard, which are here, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cubed import _core
from cubed._apply import apply_along_axis, map_blocks
from cubed._array import Array
from cubed._blockwise import blockwise
from cubed._compute import Plan, compute, load_plan, plan
from cubed._create import from_array, from_zarr
from cubed._groupby import groupby_reduce
from cubed._gufunc import apply_gufunc, as_gufunc
from cubed._manipulate import rechunk
from cubed._measure import measure_reserved_mem
from cubed._overlap import map_overlap
from cubed._pad import pad
from cubed._store import store, to_zarr
from cubed.array_api import *  # noqa: F403
from cubed.array_api import __all__ as _standard
from cubed.runtime.types import Callback, TaskEndEvent
from cubed.spec import Spec

if TYPE_CHECKING:
    from cubed import config as config

__version__: str = _core.version

__all__ = [
    "Array",
    "Callback",
    "Plan",
    "Spec",
    "TaskEndEvent",
    "apply_along_axis",
    "apply_gufunc",
    "as_gufunc",
    "blockwise",
    "compute",
    "config",
    "from_array",
    "from_zarr",
    "groupby_reduce",
    "load_plan",
    "map_blocks",
    "map_overlap",
    "measure_reserved_mem",
    "pad",
    "plan",
    "rechunk",
    "store",
    "to_zarr",
    *_standard,
]


def __getattr__(name: str) -> Any:
    if name in ("config", "random"):
        import importlib  # they take a while

        return importlib.import_module(f"cubed.{name}")
    raise AttributeError(f"module 'cubed' has no attribute {name!r}")
