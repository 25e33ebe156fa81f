"""Keeps exceptions of user code in tasks, also from worker processes, until the run raises them.

The engine knows an exception by its number. Its own error has a message, for cases where the
exception is lost.
"""

from __future__ import annotations

import gc
import linecache
import pickle
import re
import threading
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from types import CodeType, FrameType, FunctionType, ModuleType, TracebackType
from typing import Any

import numpy as np

from cubed.base._pickles import dumps

_PACKAGE = __file__.rpartition("runtime/_failures.")[0]

# Values of the enum cubed_status.
_E_NOMEM, _E_IO, _E_CANCELLED, _E_FUNCTION = 4, 6, 11, 13

#: Maximum number of kept exceptions. Exceptions that do not end a run, such as those of retried
#: tasks, are dropped at the end of the last run, or earlier if there are many.
_KEEP = 64
_kept: OrderedDict[int, tuple[BaseException, str]] = OrderedDict()
_numbers = count(1)
_runs = 0
_lock = threading.Lock()

#: Maximum length of a traceback in a note. The engine's message has only its end.
_MOST_TEXT = 20_000
#: Maximum bytes of an array that an exception keeps as a copy; larger ones become strings.
_MOST_COPIED = 65_536
#: Maximum number of causes and contexts of an exception that are examined.
_MOST_BEHIND = 100


class running:
    """A context manager around a run: keeps its failures until the run ends."""

    def __enter__(self) -> None:
        global _runs
        with _lock:
            _runs += 1

    def __exit__(self, *_: object) -> None:
        global _runs
        with _lock:
            _runs -= 1
            if _runs == 0:
                _kept.clear()


def keep(e: BaseException, where: str = "") -> tuple[int, str, int]:
    """Returns the engine's error for an exception: status, message, number.

    The exception's traceback begins at user code. Its frames release their variables, because these
    include blocks, whose memory returns to the engine.
    """
    _forget_frames(e)
    tb = e.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        tb = tb.tb_next
    e.__traceback__ = tb
    what = f"{type(e).__name__}: {text_of(e)}"[:500]
    head = f"{where}: {what}" if where else what
    message = head + _end_of_traceback(e, 800 - len(head))
    return _status(e), message, _add(e, what)


def drop(number: int) -> None:
    """Discards an exception, because it refers to memory that was released."""
    with _lock:
        _kept.pop(number, None)


def take(number: int, message: str) -> BaseException | None:
    """Returns the exception with a number, and adds the engine's message to it as a note."""
    with _lock:
        found = _kept.pop(number, None)
    if found is None:
        return None
    e, what = found
    _note(e, message.partition(what)[0].rstrip(": "))
    return e


def text_of(e: BaseException) -> str:
    """Returns the text of an exception, even if str() fails."""
    try:
        return str(e)
    except BaseException as why:
        return f"(str() of it raises {type(why).__name__})"


def _add(e: BaseException, what: str) -> int:
    with _lock:
        number = next(_numbers)
        _kept[number] = e, what
        if len(_kept) > _KEEP:
            _kept.popitem(last=False)
    return number


def _note(e: BaseException, text: str) -> None:
    if text and text not in getattr(e, "__notes__", ()):
        e.add_note(text)


def _status(e: BaseException) -> int:
    if isinstance(e, MemoryError):
        return _E_NOMEM
    if isinstance(e, OSError):
        return _E_IO  # the error may be transient, so the task is retried
    return _E_CANCELLED if isinstance(e, KeyboardInterrupt) else _E_FUNCTION


def _end_of_traceback(e: BaseException, room: int) -> str:
    """Returns a line break and the traceback, shortened to its last `room` characters."""
    if e.__traceback__ is None:
        return ""
    trace = "".join(traceback.format_tb(e.__traceback__)).rstrip()
    return f"\n{trace if len(trace) <= room else '  ...' + trace[len(trace) - room :]}"


def _behind(e: BaseException) -> Iterator[BaseException]:
    """Yields the exception, and all of its causes and contexts."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [e]
    while todo and len(seen) < _MOST_BEHIND:
        now = todo.pop()
        if now is None or id(now) in seen:
            continue
        seen.add(id(now))
        yield now
        todo += [now.__cause__, now.__context__]
        if isinstance(now, BaseExceptionGroup):
            todo += now.exceptions


def _forget_frames(e: BaseException) -> None:
    for each in _behind(e):
        traceback.clear_frames(each.__traceback__)


def _lines_alone(trace: TracebackType | None) -> TracebackType | None:
    """Returns a traceback whose frames show the same lines and hold no variables.

    A cleared frame still refers to its caller and to its function. An inner function refers to
    variables of enclosing functions, which may be blocks.
    """
    lines = []
    while trace is not None:
        lines.append((trace.tb_frame.f_code, trace.tb_lineno))
        trace = trace.tb_next
    out = None
    for code, number in reversed(lines):
        out = TracebackType(out, _frame_like(code), -1, number)  # -1: no columns
    return out


def _frame_like(code: CodeType) -> FrameType:
    """Returns a frame with the file and function of `code`, but without variables. It is the frame
    of a generator, so it has no caller.
    """
    own = _nothing.__code__.replace(
        co_filename=code.co_filename,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_firstlineno=code.co_firstlineno,
    )
    frame: FrameType = FunctionType(own, {})().gi_frame
    return frame


def _nothing() -> Iterator[None]:
    yield


def let_blocks_go(number: int, are_gone: Callable[[], bool], why: str) -> None:
    """Removes blocks, whose memory belongs to the engine, from an exception before it is raised.

    Frames of inner functions hold blocks by their closures, and an AttributeError holds the object
    without the attribute. Blocks in arguments or attributes of exceptions are replaced by copies,
    or by strings if they are large. If other objects hold blocks, the exception is replaced by a
    copy. `are_gone` returns True if no block is held any more. If a block is still held after that,
    something other than the exception holds it, and the note `why` is added.
    """
    with _lock:
        found = _kept.get(number)
    if found is None:
        return
    for each in _behind(found[0]):
        each.__traceback__ = _lines_alone(each.__traceback__)
        _replace_blocks(each)
    if are_gone():
        return
    copy = _copied(found[0])
    with _lock:
        if number in _kept:
            _kept[number] = copy, found[1]
    del found, each
    if not are_gone():
        _note(copy, why)


def _replace_blocks(e: BaseException) -> None:
    obj = getattr(e, "obj", None)
    if isinstance(e, AttributeError) and not isinstance(obj, (type, ModuleType)):
        e.obj = type(obj)  # needed for Python's suggestions of other names
    with suppress(Exception):  # classes may refuse the assignment
        e.args = tuple(map(_without_block, e.args))
    for name, value in getattr(e, "__dict__", {}).items():
        e.__dict__[name] = _without_block(value)


def _without_block(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.flags.owndata:
        return value
    return value.copy() if value.nbytes <= _MOST_COPIED else repr(value)


def _copied(e: BaseException) -> BaseException:
    """Returns a pickled copy, which shares no memory, with the traceback of the original."""
    try:
        copy: BaseException = pickle.loads(_pickled(e))
    except Exception:  # raised by code of the user's class
        copy = RuntimeError(f"{type(e).__name__}: {text_of(e)}")
    for mine, theirs in zip(_behind(copy), _behind(e), strict=False):
        mine.__traceback__ = theirs.__traceback__
    return copy


def let_go(memory: memoryview, number: int) -> bool:
    """Releases the engine's memory; discards the exception if the memory is still in use."""
    gc.collect()  # an object that uses the memory may be in a reference cycle
    try:
        memory.release()
    except BufferError:
        drop(number)
        return False
    return True


# --- Between processes ----------------------------------------------------------------------------


def dump(number: int) -> bytes:
    """Serialises the exception of that number for another process, as far as it can be pickled."""
    with _lock:
        found = _kept.pop(number, None)
    if found is None:
        raise LookupError(f"exception {number} was dropped")
    e, what = found
    try:
        trace = "".join(traceback.format_exception(e))[-_MOST_TEXT:].rstrip()
    except Exception:  # from code of the user's class
        trace = what
    return pickle.dumps((what, trace, _pickled(e)))


def load(data: bytes) -> int:
    """Deserialises the output of dump() from another process; returns the new number."""
    what, trace, pickled = pickle.loads(data)
    e = pickle.loads(pickled)
    _note(e, f"In a worker process:\n{_with_source(trace)}")
    return _add(e, what)


#: Matches a frame in the text of a traceback that lacks its source line.
_FRAME = re.compile(r'^(  File "(.*)", line (\d+), in .*\n)(?!    )', re.MULTILINE)


def _with_source(trace: str) -> str:
    """Adds source lines that a worker did not have, such as of notebooks, to the text of a
    traceback.
    """

    def shown(frame: re.Match[str]) -> str:
        line = linecache.getline(frame[2], int(frame[3])).strip()
        return f"{frame[1]}    {line}\n" if line else frame[1]

    return _FRAME.sub(shown, trace + "\n").rstrip()


def _pickled(value: Any) -> bytes:
    return dumps(value, _reduced)


def _can_be_pickled(value: Any) -> bool:
    try:
        pickle.loads(_pickled(value))
    except Exception:
        return False
    return True


def _reduced(e: BaseException) -> tuple[Any, ...]:
    """Reduces an exception so that it can be recreated, independent of its class's __init__."""
    try:
        reduced: Any = e.__reduce__()
        args = reduced[1]
        state = reduced[2] if len(reduced) > 2 else {}
    except Exception:
        args, state = e.args, {}
    state = {**(state if isinstance(state, dict) else {}), **getattr(e, "__dict__", {})}
    kind = next(c for c in type(e).__mro__ if _can_be_pickled(c))
    if not issubclass(kind, BaseException):
        kind = RuntimeError
    if kind is not type(e):
        note = f"It was a {type(e).__qualname__}, which cannot be pickled."
        state["__notes__"] = [*state.get("__notes__", ()), note]
    kept = tuple(a if _can_be_pickled(a) else text_of_value(a) for a in args)
    chain = (e.__cause__, e.__context__, e.__suppress_context__)
    return (
        _new,
        (kind, kept),
        (chain, {k: v for k, v in state.items() if _can_be_pickled(v)}),
        None,
        None,
        _set_state,
    )


def text_of_value(value: Any) -> str:
    """Returns a string for an object that cannot be pickled."""
    try:
        return repr(value)[:_MOST_TEXT]
    except Exception:
        return f"<{type(value).__name__}>"


def _new(kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """Creates an exception with the __init__ of its built-in base class instead of its own."""
    base = next(c for c in kind.__mro__ if c.__module__ == "builtins")
    try:
        make: Any = base  # its own methods, not those of `kind`
        e: BaseException = make.__new__(kind, *args)
        make.__init__(e, *args)
    except Exception:  # such as UnicodeError's five arguments
        e = BaseException.__new__(kind)
        e.args = args
    return e


def _set_state(e: BaseException, state: tuple[Any, dict[str, Any]]) -> None:
    (cause, context, suppress), attributes = state
    for name, value in attributes.items():
        try:
            setattr(e, name, value)
        except Exception:
            e.__dict__[name] = value
    e.__cause__, e.__context__, e.__suppress_context__ = cause, context, suppress
