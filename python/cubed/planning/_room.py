"""Memory of processes for code, which `reserved_mem` must cover."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cubed import _core
from cubed.base._bytes import format_bytes
from cubed.base._held import note_package
from cubed.base._warnings import warn

if TYPE_CHECKING:
    from cubed.planning._compute import Plan

note_package()

#: Limits about which this process has already warned.
_warned: set[tuple[int, int, int]] = set()
#: Bytes by which the memory of processes with the same code may differ, because of pages of
#: allocators.
_SLACK = 2 << 20


def check_threads(plan: Plan) -> None:
    """Loads functions, and warns if workers in this process reserve less memory than the process
    holds."""
    info = plan._info
    if info["code"]:
        plan._plan.load_functions()
    workers = info["max_workers"]
    allowed, needed = workers * info["allowed_mem"], info["process_mem"]
    held = _core.code_above(max(0, allowed - needed))
    if held and _is_new(plan, workers):
        _warn(
            f"this process holds {format_bytes(held)} for Python and all libraries that it has"
            f" imported, for tasks or not, and its tasks may use {format_bytes(needed)}",
            plan,
            held,
            workers,
            held + needed - allowed,
        )


def check_workers(plan: Plan, stats: dict[str, Any]) -> None:
    """Warns if worker processes of a run reserve less than they held before their first task."""
    tasks = max(1, stats["process_tasks"])
    if stats["process_excess"] and _is_new(plan, tasks):
        held, excess = stats["process_mem"], stats["process_excess"]
        needed = excess + tasks * plan.allowed_mem - held
        _warn(
            f"a worker process held {format_bytes(held)} for code and libraries before its first"
            f" task, and its tasks may use {format_bytes(needed)}",
            plan,
            held + _SLACK,
            tasks,
            excess,
        )


def _is_new(plan: Plan, tasks: int) -> bool:
    limits = plan.allowed_mem, plan.reserved_mem, tasks
    if limits in _warned:
        return False
    _warned.add(limits)
    return True


def _warn(holds: str, plan: Plan, held: int, tasks: int, excess: int) -> None:
    """Warns about a process with several tasks at a time, and suggests sufficient limits."""
    enough = -(-held // tasks)
    times = f" for each of {tasks} tasks at a time" if tasks > 1 else ""
    warn(
        f"{holds}: together {format_bytes(excess)} more than allowed_mem"
        f" ({format_bytes(plan.allowed_mem)}{times}), because reserved_mem is only"
        f" {format_bytes(plan.reserved_mem)}. Use Spec(reserved_mem={enough},"
        f" allowed_mem={enough + plan.allowed_mem - plan.reserved_mem})",
        RuntimeWarning,
    )
