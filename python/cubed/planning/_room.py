"""What processes hold before their first task, which `reserved_mem` is to cover."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from cubed import _core
from cubed.base._bytes import format_bytes
from cubed.base._warnings import warn
from cubed.exceptions import PlanTooLargeError

if TYPE_CHECKING:
    from cubed.planning._compute import Plan

#: Of this process, with the package and NumPy, before it has anybody's data.
_HELD = _core.resident_mem()


def check_threads(plan: Plan) -> None:
    """Warns where workers within this process reserve less than it holds without them."""
    info = plan._info
    workers = info["max_workers"]
    excess = _HELD + info["process_mem"] - workers * info["allowed_mem"]
    if excess <= 0:
        return
    warn(
        f"this process held {format_bytes(_HELD)} before any task, but of each of {workers} workers"
        f" {format_bytes(plan.reserved_mem)} is reserved: it may use"
        f" {format_bytes(excess)} more than all workers are allowed;"
        f" reserved_mem={-(-_HELD // workers)} counts it",
        RuntimeWarning,
    )


def check_processes(plan: Plan, command: Sequence[str]) -> None:
    """Refuses a plan with Python functions whose workers have no room for Python itself.

    Raises
    ------
    PlanTooLargeError
        Nothing has run, and no target was touched.
    """
    tasks = plan.max_projected_mem - plan.reserved_mem
    held = _held_by_worker((*command, "-"))
    if held + tasks <= plan.allowed_mem:
        return
    raise PlanTooLargeError(
        f"worker processes hold {format_bytes(held)} before any task, for Python and what functions"
        f" import, and tasks need {format_bytes(tasks)}, but {format_bytes(plan.allowed_mem)} is"
        f" allowed: reserve at least {held} bytes (reserved_mem), and allow at least"
        f" {held + tasks} bytes"
    )


@cache
def _held_by_worker(command: tuple[str, ...]) -> int:
    """The private memory of such a process, which the system would limit."""
    import subprocess  # late: takes a while

    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
