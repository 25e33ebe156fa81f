"""Runs a range of a saved plan with Python functions, within the plan's memory limit, for the
command ``cubed worker``.

Started with the range as hexadecimal digits, and with ``missing`` to skip completed tasks, or
``all``. It reads the plan from descriptor 3, and writes the reports of the tasks to descriptor 4.
"""

from __future__ import annotations

import os
import sys

# Imported first, because it sets environment variables that NumPy reads.
from cubed.runtime._child import Limits, end_with  # isort: split

from cubed import _core
from cubed.runtime import _imports, worker

_PLAN, _REPORTS = 3, 4


def main() -> None:
    """Runs the range of the arguments, and ends the process."""
    range_ = bytes.fromhex(sys.argv[1])
    end_with(os.getppid())
    with open(_PLAN, "rb") as file:
        data = file.read()
    limits = Limits("")
    limits.skip_done = sys.argv[2] == "missing"
    if limits.kind == "rlimit":
        _imports.watch()
    _core.code_measured(_core.resident_mem())
    plan = limits.admit(_core.Plan.load(data, True))
    try:
        reports = worker.run_alone(plan, range_, limits.run, watch=limits.kind == "watch")
    except worker.TaskTimeoutError as e:
        print(f"cubed worker: {e}", file=sys.stderr, flush=True)
        os._exit(worker.STUCK_STATUS)
    with open(_REPORTS, "wb") as file:
        file.write(reports)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(0)  # threads of functions may still run


if __name__ == "__main__":
    main()
