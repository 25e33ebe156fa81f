"""Functions of users on blocks: how they travel in plans, and their calls from the engine.

The engine calls :func:`call_block` for every block, in whichever thread or process works on it.
"""

from __future__ import annotations

import builtins
import gc
import hashlib
import pickle
import re
import struct
import sys
import threading
import traceback
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Literal

import numpy as np

#: What the engine reads of the parameters: extra memory, digest of the code, title.
_HEADER = struct.Struct("<Q16s40s")

_PACKAGE = __file__.rpartition("_call.")[0]

# Numbers of cubed_status.
_E_NOMEM, _E_IO, _E_CANCELLED, _E_FUNCTION = 4, 6, 11, 13

#: A call on blocks: it gets them and the number of the block along each symbol, and gives one
#: result for each output.
Runner = Callable[[list[np.ndarray], tuple[int, ...]], Sequence[Any]]


def pack(title: str, runner: Runner, extra_mem: int) -> bytes:
    """A call as parameters of the engine's function "python".

    Raises TypeError if the function, or what it refers to, cannot be pickled.
    """
    import cloudpickle

    if extra_mem < 0:
        raise ValueError(f"{title}: extra_projected_mem is {extra_mem}, expected 0 or more")
    try:
        code = cloudpickle.dumps((title, runner), protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as e:
        raise TypeError(f"{title}: the function cannot be pickled: {e}") from e
    digest = hashlib.blake2b(code, digest_size=16).digest()
    short = title.encode()[:39].decode(errors="ignore").encode()
    return _HEADER.pack(extra_mem, digest, short) + code


_loaded: OrderedDict[bytes, tuple[str, Runner]] = OrderedDict()
_KEEP_LOADED = 64
_lock = threading.Lock()


def _load(params: memoryview) -> tuple[str, Runner]:
    """Unpickles a call, or finds the one that an earlier block unpickled."""
    digest = bytes(params[8:24])
    with _lock:
        found = _loaded.get(digest)
        if found is not None:
            _loaded.move_to_end(digest)
            return found
    loaded: tuple[str, Runner] = pickle.loads(params[_HEADER.size :])
    with _lock:
        loaded = _loaded.setdefault(digest, loaded)
        if len(_loaded) > _KEEP_LOADED:
            _loaded.popitem(last=False)
    return loaded


@lru_cache(maxsize=256)
def _dtype(name: str) -> np.dtype:
    from cubed._dtypes import dtype_of

    return dtype_of(name)


def _view(
    memory: memoryview, dtype: str, shape: tuple[int, ...], alive: list[weakref.ref]
) -> np.ndarray:
    """The block as an array, read-only if its memory is. Who views it keeps what `alive` gets."""
    if memory.nbytes == 0:
        return np.empty(shape, _dtype(dtype))
    flat = np.frombuffer(memory, _dtype(dtype))
    alive.append(weakref.ref(flat))
    return flat.reshape(shape)


def _store(
    result: Any, number: int, output: tuple[memoryview | None, str, tuple[int, ...]]
) -> None:
    """Checks what a function returned, and copies it to where it belongs."""
    memory, name, shape = output
    dtype = _dtype(name)
    value = np.asarray(result)
    if value.shape != shape:
        raise ValueError(f"output {number} has shape {value.shape}, expected {shape}")
    # Numbers are rounded to the declared width; units of times and lengths of texts are not.
    casting: Literal["same_kind", "safe"] = "same_kind" if value.dtype.kind in "biufc" else "safe"
    if not np.can_cast(value.dtype, dtype, casting):
        raise TypeError(
            f"output {number} has dtype {value.dtype}, expected {dtype}, to which it does not cast"
            f" ({casting}): say the dtype that the function returns"
        )
    if memory is not None and value.size:
        np.copyto(_view(memory, name, shape, []), value, casting=casting)


def _are_gone(alive: Sequence[weakref.ref]) -> bool:
    """Whether nobody has views of the blocks any more."""
    if any(view() is not None for view in alive):
        gc.collect()  # they may be in a cycle
    return all(view() is None for view in alive)


def call_block(
    params: memoryview,
    inputs: list[tuple[memoryview, str, tuple[int, ...]]],
    outputs: list[tuple[memoryview | None, str, tuple[int, ...]]],
    index: tuple[int, ...],
) -> tuple[int, str] | None:
    """Runs a function on one block; the status and message if it fails."""
    title = "a function of Python"
    alive: list[weakref.ref] = []
    try:
        title, runner = _load(params)
        _run(runner, inputs, outputs, index, alive)
        if _are_gone(alive):
            return None
        raise ValueError("the function keeps a view of a block after its return: copy it")
    except BaseException as e:
        message = _describe(title, index, e)
        _forget_frames(e)
        # Else a debugger that follows the cause would see memory that is gone.
        if _are_gone(alive):
            _remember(message, e)
        return _status(e), message


def _run(
    runner: Runner, inputs: list, outputs: list, index: tuple[int, ...], alive: list[weakref.ref]
) -> None:
    blocks = [_view(memory, dtype, shape, alive) for memory, dtype, shape in inputs]
    results = runner(blocks, index)
    del blocks
    if len(results) != len(outputs):
        raise ValueError(f"the function returns {len(results)} outputs, expected {len(outputs)}")
    for k, (result, output) in enumerate(zip(results, outputs, strict=True)):
        _store(result, k, output)


# --- Failures -------------------------------------------------------------------------------------


def _status(e: BaseException) -> int:
    if isinstance(e, MemoryError):
        return _E_NOMEM
    if isinstance(e, OSError):
        return _E_IO  # it may pass: the task is tried again
    return _E_CANCELLED if isinstance(e, KeyboardInterrupt) else _E_FUNCTION


def _describe(title: str, index: tuple[int, ...], e: BaseException) -> str:
    """Operation, block, exception, and as much of the end of the traceback as errors can hold."""
    number = ", ".join(map(str, index)) + ("," if len(index) == 1 else "")
    head = f"{title}, block ({number}): {type(e).__name__}: {e}"[:500]
    tb = e.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename.startswith(_PACKAGE):
        tb = tb.tb_next
    if tb is None:
        return head
    trace = "".join(traceback.format_tb(tb)).rstrip()
    room = 800 - len(head)
    if len(trace) > room:
        trace = "  ..." + trace[len(trace) - room :]
    return f"{head}\n{trace}"


def _forget_frames(e: BaseException | None) -> None:
    """Frames of a traceback hold the blocks, whose memory is the engine's again."""
    seen: set[int] = set()
    todo = [e]
    while todo:
        e = todo.pop()
        if e is None or id(e) in seen:
            continue
        seen.add(id(e))
        traceback.clear_frames(e.__traceback__)
        todo += [e.__cause__, e.__context__]


_failures: OrderedDict[str, BaseException] = OrderedDict()
_KEEP_FAILURES = 32


def _remember(message: str, e: BaseException) -> None:
    with _lock:
        _failures[message.partition("\n")[0]] = e
        if len(_failures) > _KEEP_FAILURES:
            _failures.popitem(last=False)


_raised = re.compile(r", (?:block \([\d, ]*\)|region \[[\d:, ]*\]): (\w+): ")


def error_of_function(error: Exception) -> BaseException:
    """What a user's function raised in place of the engine's error, if that is why; else `error`.

    The type is the same if it is one of Python's own, else RuntimeError; the message is the
    engine's; the cause is the original, if it was in this process.
    """
    message = str(error)
    found = _raised.search(message)
    if found is None:
        return error
    kind = getattr(builtins, found[1], None)
    with _lock:
        told = next((m for m in _failures if m in message), None)
        cause = _failures.pop(told) if told is not None else None
    if not (isinstance(kind, type) and issubclass(kind, BaseException)):
        kind = RuntimeError
    try:
        new: BaseException = kind(message)
    except TypeError:  # such as UnicodeError's five arguments
        new = RuntimeError(message)
    new.__cause__ = cause
    return new


# --- Worker processes -----------------------------------------------------------------------------


def worker_arguments() -> tuple[str, ...]:
    """What a worker process needs to find the modules that functions come from."""
    import json

    return (json.dumps(sys.path),)
