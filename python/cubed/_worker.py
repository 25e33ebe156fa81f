"""A worker process of the executor "processes".

Run as a script with the path of the extension module and a descriptor's number. It imports nothing
else: the memory of the process is limited to what a task is allowed.
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

if __name__ == "__main__":
    loader = ExtensionFileLoader("cubed._core", sys.argv[1])
    spec = spec_from_loader("cubed._core", loader)
    assert spec is not None
    core = module_from_spec(spec)
    loader.exec_module(core)
    core.serve(int(sys.argv[2]))
