"""Blocks that nobody has any more but frames of calls that are over."""

from __future__ import annotations

import gc
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from types import FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

import numpy as np

from cubed.base._types import NDArray

_lock = threading.Lock()

#: Objects behind a frame, the nearest first, beyond which nobody looks.
_MOST_OBJECTS = 5_000
#: While another thread is in the midst of a collection, one does nothing.
_MOST_COLLECTIONS = 3


def are_gone(arrays: Sequence[weakref.ref[NDArray]]) -> bool:
    """Whether nobody has one of the arrays any more.

    Those that only cycles have are let go of, and those that only tracebacks lead to: a module may
    keep an exception for good, such as that of an import that it can do without. Its traceback has
    the frames of all callers, which have their values. Such an exception loses its traceback.
    """
    if not _some(arrays):
        return True
    # One thread at a time: while it looks, what others' calls have just let go of seems to be kept.
    with _lock:
        if _collected(arrays):
            return True
        _drop_tracebacks_to(arrays)
        return _collected(arrays)


def _collected(arrays: Sequence[weakref.ref[NDArray]]) -> bool:
    """Whether all are gone when cycles have been let go of."""
    for _ in range(_MOST_COLLECTIONS):
        gc.collect()
        if not _some(arrays):
            return True
        time.sleep(0.001)
    return False


def _some(arrays: Sequence[weakref.ref[NDArray]]) -> bool:
    return any(array() is not None for array in arrays)


def _drop_tracebacks_to(arrays: Sequence[weakref.ref[NDArray]]) -> None:
    wanted = {id(array()) for array in arrays} - {id(None)}
    running = _running()
    for e in [each for each in gc.get_objects() if _is(each, BaseException)]:
        if any(_leads_to(frame, wanted) for frame in _frames(e.__traceback__, running)):
            e.__traceback__ = None


def _running() -> set[int]:
    """The frames that threads are in, by their ids."""
    found = set()
    for top in sys._current_frames().values():
        frame: FrameType | None = top
        while frame is not None:
            found.add(id(frame))
            frame = frame.f_back
    return found


def _frames(trace: TracebackType | None, running: set[int]) -> Iterator[FrameType]:
    """Those of a traceback and of who called them, up to the first that runs."""
    seen = set(running)
    while trace is not None:
        frame: FrameType | None = trace.tb_frame
        while frame is not None and id(frame) not in seen:
            seen.add(id(frame))
            if frame.f_code.co_name != "<module>":  # modules are there in any case
                yield frame
            frame = frame.f_back
        trace = trace.tb_next


def _leads_to(frame: FrameType, wanted: set[int]) -> bool:
    """Whether one of the arrays is behind a frame's values, or what its function is closed over."""
    seen = {id(frame)}
    todo: deque[Any] = deque([frame])
    while todo and len(seen) < _MOST_OBJECTS:
        now = todo.popleft()
        near = [now.__closure__] if _is(now, FunctionType) else gc.get_referents(now)
        for each in near:
            if id(each) in seen or _is(each, (FrameType, ModuleType, type)):
                continue
            seen.add(id(each))
            todo.append(each)
            while _is(each, np.ndarray):  # whose base is not among its referents
                if id(each) in wanted:
                    return True
                each = each.base
    return False


def _is(value: Any, classes: type | tuple[type, ...]) -> bool:
    """Checks the type of an object of any library.

    ``isinstance`` also reads the attribute ``__class__``: it raises ReferenceError for the proxy of
    an object that is gone, and runs code of lazy objects.
    """
    return issubclass(type(value), classes)
