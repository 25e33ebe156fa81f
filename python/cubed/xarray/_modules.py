"""Imports the modules that Xarray's functions import when they are called for the first time.

Xarray checks whether each array belongs to Dask, Sparse, Pint or CuPy, and imports these libraries
for the check. Worker processes import this module before tasks that call Xarray's functions.
"""

from contextlib import suppress
from importlib import import_module

from xarray.namedarray import pycompat

for _name in ("dask", "sparse", "pint", "cupy"):
    pycompat.array_type(_name)
for _name in ("xarray.computation.nanops", "xarray.core.nanops"):  # by version
    with suppress(ImportError):
        import_module(_name)
