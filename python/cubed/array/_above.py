"""Functions of higher modules that methods of the array class call.

A module imports only lower modules, and nearly all functions are in higher modules than
:class:`cubed.Array`. This table lists the few functions that its methods need. A function is looked
up when a method first calls it. Only modules of this folder may use the table
(`tools/check_imports`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cubed import array_api as array_api
    from cubed.blocks._apply import map_blocks as map_blocks
    from cubed.blocks._delayed import to_delayed as to_delayed
    from cubed.blocks._overlap import map_overlap as map_overlap
    from cubed.io import _create as _create
    from cubed.io import _store as _store
    from cubed.numpy_protocol._functions import call_function as call_function
    from cubed.numpy_protocol._ufuncs import call_ufunc as call_ufunc
    from cubed.planning._compute import check_each as check_each
    from cubed.planning._compute import compute as compute
    from cubed.planning._compute import plan as plan
    from cubed.planning._compute import visualize as visualize
else:
    #: The module that contains each name. Some names are modules themselves.
    PLACES = {
        "_create": "cubed.io._create",
        "_store": "cubed.io._store",
        "array_api": "cubed.array_api",
        "call_function": "cubed.numpy_protocol._functions",
        "call_ufunc": "cubed.numpy_protocol._ufuncs",
        "check_each": "cubed.planning._compute",
        "compute": "cubed.planning._compute",
        "map_blocks": "cubed.blocks._apply",
        "map_overlap": "cubed.blocks._overlap",
        "plan": "cubed.planning._compute",
        "to_delayed": "cubed.blocks._delayed",
        "visualize": "cubed.planning._compute",
    }

    def __getattr__(name: str) -> Any:
        if name not in PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(PLACES[name])
        value = globals()[name] = getattr(module, name, module)
        return value
