"""A worker process of the executor "processes": the engine starts it with a descriptor's number."""

import sys

from cubed import _core

if __name__ == "__main__":
    _core.serve(int(sys.argv[1]))
