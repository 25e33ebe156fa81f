"""A worker process of the executor "processes".

It runs as a script with these arguments: the path of the extension module, the output of
worker_arguments() if the plan has user-defined functions, and a descriptor's number. It imports
nothing else, unless its plan has Python objects or functions, because the memory that it holds
before its first task is part of the reserved memory.
"""

import sys
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from types import ModuleType
from typing import Any


def load(data: bytes) -> Any:
    """Unpickles a Python object of the driver's plan. Sets the module path to that of the
    driver."""
    import pickle  # lazy: needed only for plans with Python objects

    path, payload = pickle.loads(data)
    sys.path[:] = path
    return pickle.loads(payload)


def load_core(path: str) -> ModuleType:
    """Loads the extension module without the package around it."""
    loader = ExtensionFileLoader("cubed._core", path)
    spec = spec_from_loader("cubed._core", loader)
    assert spec is not None
    module = module_from_spec(spec)
    loader.exec_module(module)
    sys.modules["cubed._core"] = module  # loaded objects may import the package
    return module


def prepare(arguments: str) -> None:
    """Imports the modules that run user-defined functions."""
    import json  # lazy: needed only for plans with user-defined functions
    import os  # lazy: like json

    # One task at a time: OpenBLAS would use memory for unused threads.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    sys.path[:], modules = json.loads(arguments)
    for name in ("cubed.runtime._call", *modules):
        import_module(name)
    import_module("cubed.runtime._imports").watch()


if __name__ == "__main__":
    core = load_core(sys.argv[1])
    if len(sys.argv) == 4:
        prepare(sys.argv[2])
    try:
        core.serve(int(sys.argv[-1]), load)
    except MemoryError:  # the driver has received the message, and raises the error
        sys.exit(1)
