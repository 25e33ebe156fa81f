"""The memory that this process holds before its first task, which `reserved_mem` is to cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cubed import _core
from cubed.base._bytes import format_bytes
from cubed.base._held import note_package
from cubed.base._warnings import warn

if TYPE_CHECKING:
    from cubed.planning._compute import Plan

note_package()


def check_threads(plan: Plan) -> None:
    """Loads functions, and warns if workers in this process reserve less than it holds."""
    info = plan._info
    if info["code"]:
        plan._plan.load_functions()
    workers = info["max_workers"]
    room = workers * info["allowed_mem"] - info["process_mem"]
    held = _core.code_above(max(0, room))
    if not held:
        return
    warn(
        f"this process holds {format_bytes(held)} for code and libraries before any task, but of"
        f" each of {workers} workers {format_bytes(plan.reserved_mem)} is reserved: it may use"
        f" {format_bytes(held - room)} more than all workers are allowed;"
        f" reserved_mem={-(-held // workers)} counts it",
        RuntimeWarning,
    )
