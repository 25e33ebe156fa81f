"""Releases blocks that are only referred to by frames of finished calls."""

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

#: Maximum number of objects, reachable from a frame, that are examined; the nearest objects first.
_MOST_OBJECTS = 5_000
#: Maximum number of collections: a collection has no effect while another thread collects.
_MOST_COLLECTIONS = 3


def are_gone(arrays: Sequence[weakref.ref[NDArray]]) -> bool:
    """Returns True if no reference to the arrays is left.

    Releases arrays to which only reference cycles or tracebacks refer. A module may keep an
    exception forever, such as that of an optional import. Its traceback has the frames of all
    callers, with their variables. The traceback of such an exception is removed.
    """
    if not _some(arrays):
        return True
    # One thread at a time: a search refers to the objects that it visits, so to another search they
    # would seem to be in use.
    with _lock:
        if _collected(arrays):
            return True
        _drop_tracebacks_to(arrays)
        return _collected(arrays)


def _collected(arrays: Sequence[weakref.ref[NDArray]]) -> bool:
    """Returns True if all arrays are released after a garbage collection."""
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
    """Returns the ids of the frames that threads are executing."""
    found = set()
    for top in sys._current_frames().values():
        frame: FrameType | None = top
        while frame is not None:
            found.add(id(frame))
            frame = frame.f_back
    return found


def _frames(trace: TracebackType | None, running: set[int]) -> Iterator[FrameType]:
    """Yields the frames of a traceback and the frames of their callers, up to the first frame that
    is still running."""
    seen = set(running)
    while trace is not None:
        frame: FrameType | None = trace.tb_frame
        while frame is not None and id(frame) not in seen:
            seen.add(id(frame))
            if frame.f_code.co_name != "<module>":  # variables of modules are never released
                yield frame
            frame = frame.f_back
        trace = trace.tb_next


def _leads_to(frame: FrameType, wanted: set[int]) -> bool:
    """Returns True if a frame's variables or its function's closure refer to one of the arrays."""
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
            while _is(each, np.ndarray):  # the base of an array is not among its referents
                if id(each) in wanted:
                    return True
                each = each.base
    return False


def _is(value: Any, classes: type | tuple[type, ...]) -> bool:
    """Checks the type of an object of any library.

    ``isinstance`` also reads the attribute ``__class__``. That raises ReferenceError for the proxy
    of an object that no longer exists, and runs code of lazy objects.
    """
    return issubclass(type(value), classes)
