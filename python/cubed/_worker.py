"""A worker process of the executor "processes".

Run as a script with the path of the extension module and a descriptor's number. It imports nothing
else, unless its plan has Python objects: the memory of the process is limited to what a task is
allowed.
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from typing import Any


def load(data: bytes) -> Any:
    """A Python object that its driver put into the plan, with the places that it imports from."""
    import pickle

    path, payload = pickle.loads(data)
    sys.path[:] = path
    return pickle.loads(payload)


if __name__ == "__main__":
    loader = ExtensionFileLoader("cubed._core", sys.argv[1])
    spec = spec_from_loader("cubed._core", loader)
    assert spec is not None
    core = module_from_spec(spec)
    loader.exec_module(core)
    sys.modules["cubed._core"] = core  # what is loaded may import the package
    core.serve(int(sys.argv[2]), load)
