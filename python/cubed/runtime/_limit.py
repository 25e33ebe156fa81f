"""The memory limit of this process: the part for user-defined functions, and its errors."""

from __future__ import annotations

import os
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from cubed import _core
from cubed.base._bytes import format_bytes

#: Bytes that allocators reserve in advance.
_SLACK = 2 << 20
#: Seconds between checks of the resident memory.
LOOK = 0.02

#: Resident bytes that this process may use if the system does not limit private memory; 0: no
#: limit.
_most = 0
#: Function that is called before and after each call of a user-defined function. Before it, the
#: arguments are the start in ns, the bytes that the call may use, and the title of the function.
#: After it, the arguments are 0, 0 and "".
tell: Callable[[int, int, str], None] | None = None


#: In a child of a worker: the id of the worker's process; elsewhere 0.
worker_id = 0


def resident_of(pid: int) -> int:
    """Returns the resident bytes of a process on this machine; 0 if they are not known."""
    try:
        with open(f"/proc/{pid}/statm") as file:  # noqa: PTH123 (importing pathlib takes a while)
            fields = file.read().split()
    except OSError:
        return 0
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")


def room() -> int:
    """Returns the bytes of memory that a call may use; 0: no limit."""
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    if limit != resource.RLIM_INFINITY:
        return max(1, limit - _core.private_mem())
    return max(1, _most - _core.resident_mem()) if _most else 0


def begin_call(title: str, bytes_of_call: int) -> None:
    """Reports the start of a call to the parent process."""
    if tell:
        tell(time.monotonic_ns(), bytes_of_call, title)


def end_call() -> None:
    """Reports the end of a call to the parent process."""
    if tell:
        tell(0, 0, "")


def text_of_excess(title: str, most: int) -> str:
    """Returns the message for a function that needs more than `most` bytes."""
    return (
        f"out of memory: function {title} took more than {format_bytes(most)} ({most} bytes), which"
        " allowed_mem leaves for it: raise allowed_mem, use smaller chunks, or state the need of"
        " the function (extra_projected_mem)"
    )


def explained(error: MemoryError, title: str, most: int) -> MemoryError:
    """Adds the memory limit to the error of a function. Returns the error itself if this process
    has no limit, or if the function has raised an error of its own.
    """
    said = str(error)
    # MemoryErrors of allocators have no text, or a text such as "Unable to allocate 3 GiB" or
    # "std::bad_alloc".
    if not most or (said and "alloc" not in said.lower()):
        return error
    text = text_of_excess(title, most)
    if said:
        text += f". {said}"
    other = MemoryError(text).with_traceback(error.__traceback__)
    other.__cause__, other.__context__ = error.__cause__, error.__context__
    return other


def resident_limit(allowed_mem: int, reserved_mem: int) -> int:
    """Returns the resident bytes that this process may use. Its tasks may use `allowed_mem` minus
    `reserved_mem`, even if the process uses more than the reserved memory.
    """
    held = _core.resident_mem() + _SLACK
    return max(allowed_mem, held + allowed_mem - reserved_mem)


def set_resident_limit(most: int) -> None:
    """Sets the result of :func:`room` for systems that do not limit private memory."""
    global _most
    _most = most


# --- Processes that cannot have a child -----------------------------------------------------------

_watch_lock = threading.Lock()
_watched: list[int] = []


@contextmanager
def watching(plan: Any) -> Iterator[None]:
    """Ends calls of functions in this process, by a MemoryError, when its resident memory exceeds
    the limits of the plans in use. The checks miss memory that a call allocates and frees between
    two of them, and calls of C code end late.
    """
    info = plan.info()
    needs = info["allowed_mem"] - info["reserved_mem"]
    with _watch_lock:
        if not _watched:
            set_resident_limit(resident_limit(info["allowed_mem"], info["reserved_mem"]))
            threading.Thread(target=_watch, daemon=True).start()
        else:
            set_resident_limit(_most + needs)
        _watched.append(needs)
    try:
        yield
    finally:
        with _watch_lock:
            _watched.remove(needs)
            set_resident_limit(_most - needs if _watched else 0)


def _watch() -> None:
    while True:
        with _watch_lock:
            if not _watched:
                return
            over = _core.resident_mem() > _most
        if over:
            _core.interrupt_calls(MemoryError)
        time.sleep(LOOK)
