"""If possible, imports the libraries of functions on blocks before tasks run. Measures later
imports.

The projected memory of a task does not include the libraries that the task imports.
"""

from __future__ import annotations

import io
import pickle
import resource
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from cubed import _core
from cubed.base._held import counting_imports, import_counted, note_unused

#: Modules whose functions import further modules when they are called, with these modules.
_IMPORTED_BY_CALLS = {
    "cubed.images._generic": ("scipy.ndimage",),
    "cubed.images._objects": ("scipy.ndimage",),
    "cubed.random._draws": ("numpy.random",),
    "cubed.xarray._flox": ("flox.core", "flox.xarray"),
    "cubed.xarray._patches": ("pyarrow.pandas_compat", "pyarrow.vendored.version"),
    "cubed.xarray._rolling": ("cubed.xarray._modules",),
    "xarray": ("cubed.xarray._modules",),
    "xarray.core.missing": ("scipy.interpolate",),
}

#: Whether this is a worker process. It limits and measures its private memory; other processes
#: measure their resident memory.
_is_worker = False


class _Unpickler(pickle.Unpickler):
    """Records the modules that a pickle names."""

    def __init__(self, data: bytes | memoryview) -> None:
        super().__init__(io.BytesIO(data))
        self.modules: set[str] = set()

    def find_class(self, module: str, name: str) -> Any:
        self.modules.add(module)
        if module in sys.modules:
            return super().find_class(module, name)
        with counting_imports():  # measures the imports, but not the data in the pickle
            return super().find_class(module, name)


def loads(data: bytes | memoryview) -> Any:
    """Unpickles a function, and imports the modules that its calls are known to import."""
    unpickler = _Unpickler(data)
    had_xarray = "xarray" in sys.modules
    function = unpickler.load()
    modules = unpickler.modules | {name.partition(".")[0] for name in unpickler.modules}
    if not had_xarray and "xarray" in sys.modules:  # a module of the user has imported it
        modules.add("xarray")
    for module in sorted(modules & _IMPORTED_BY_CALLS.keys()):
        for name in _IMPORTED_BY_CALLS[module]:
            with suppress(ImportError):  # the call raises the error about the missing library
                if name not in sys.modules:
                    import_counted(name)
    return function


class ImportMeter:
    """Measures the memory of the modules that a call imports.

    Libraries such as OpenBLAS retry forever if the limit of a worker process denies them memory. So
    the limit of a worker is lifted from the first import of a call until the call ends.

    Parameters
    ----------
    first : bool
        Whether the call is the first one of its function. Outside worker processes only the imports
        of first calls are measured.
    """

    def __init__(self, first: bool) -> None:
        self._modules = len(sys.modules)
        self._before = _core.resident_mem() if first and not _is_worker else None
        if _is_worker:
            _map_buffers()
            _finder.begin()

    def end(self) -> int:
        """Returns the bytes of memory that the imports of the call used.

        Raises
        ------
        MemoryError
            If a worker process now holds more than is allowed.
        """
        if _is_worker:
            return _finder.end(len(sys.modules) > self._modules)
        if len(sys.modules) == self._modules or self._before is None:
            return 0
        return max(0, _core.resident_mem() - self._before)


def watch() -> None:
    """Makes this process a worker, whose private memory is limited."""
    global _is_worker
    _is_worker = True
    sys.meta_path.insert(0, _finder)


#: Modules whose library maps a buffer of 32 MB in its first call, each with a function
#: that makes this call.
_MAPS_A_BUFFER: dict[str, Callable[[Any], object]] = {
    "numpy.linalg": lambda m: m.solve(np.eye(2), np.ones(2)),
    "scipy.linalg.lapack": lambda m: m.dgesv(np.eye(2), np.ones(2)),
}
_mapped: set[str] = set()


def _map_buffers() -> None:
    """Makes OpenBLAS map its buffers. Only the part of a buffer that is in use is counted.

    OpenBLAS retries forever if the limit of a worker process denies it a buffer. NumPy and SciPy
    each have their own OpenBLAS. The limit grows by the part of a buffer that is not resident.
    """
    for name, call in _MAPS_A_BUFFER.items():
        if name in _mapped or name not in sys.modules:
            continue
        _mapped.add(name)
        limit, most = resource.getrlimit(resource.RLIMIT_DATA)
        if limit == resource.RLIM_INFINITY:
            continue
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        private, used = _core.private_mem(), _core.resident_kinds()[0]
        call(sys.modules[name])
        unused = _core.private_mem() - private - max(0, _core.resident_kinds()[0] - used)
        note_unused(max(0, unused))
        limit += max(0, unused)
        if most != resource.RLIM_INFINITY:
            limit = min(limit, most)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, most))


class _Finder:
    """Import hook that detects the first import of each call; it finds no modules itself."""

    def __init__(self) -> None:
        self._calls = 0
        self._name = ""
        self._before = self._limit = 0

    def begin(self) -> None:
        self._calls += 1

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        """Lifts the memory limit before the first import of a call."""
        if not self._calls or self._name:
            return
        self._name, self._before = name, _core.private_mem()
        self._limit, most = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))

    def end(self, imported: bool) -> int:
        """Restores the limit; see :meth:`ImportMeter.end`."""
        self._calls -= 1
        name, limit = self._name, self._limit
        if not name or self._calls:
            return 0
        self._name = ""
        resource.setrlimit(
            resource.RLIMIT_DATA, (limit, resource.getrlimit(resource.RLIMIT_DATA)[1])
        )
        held = _core.private_mem()
        taken = max(0, held - self._before)
        if imported and limit != resource.RLIM_INFINITY and held > limit:
            raise MemoryError(
                f"the function imported {name} within a task, for which its worker had no memory:"
                f" the worker holds {held} bytes, {limit} are allowed. Import it at the top of the"
                " module or script that has the function, so that workers import it before tasks,"
                f" or raise both reserved_mem and allowed_mem by {max(taken, held - limit)} bytes"
            )
        # If there is a limit, the worker did not exceed it, so the memory need not be reported.
        return taken if imported and limit == resource.RLIM_INFINITY else 0


_finder = _Finder()
