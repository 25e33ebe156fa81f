"""User-defined functions on blocks: their serialisation in plans, and calls from the engine.

The engine calls :func:`call_block` for every block, in any thread or process that works on it.
"""

from __future__ import annotations

import hashlib
import json
import pickle
import struct
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from cubed.base._dtypes import dtype_of
from cubed.base._masks import is_masked_array
from cubed.base._pickles import dumps
from cubed.base._types import NDArray
from cubed.runtime._failures import keep, let_blocks_go, text_of
from cubed.runtime._imports import ImportMeter, loads
from cubed.runtime._limit import begin_call, end_call, explained, room
from cubed.runtime._tracebacks import are_gone

#: Part of the parameters that the engine reads: extra memory, digest of the code, title.
_HEADER = struct.Struct("<Q16s40s")

#: A call on blocks. It gets the blocks and the block number along each symbol, and returns a result
#: for each output.
Runner = Callable[[list[NDArray], tuple[int, ...]], Sequence[Any]]


@dataclass(frozen=True)
class RecordRunner:
    """Wraps a call on blocks of records. The engine treats records as bytes."""

    runner: Runner
    inputs: tuple[np.dtype[Any], ...]
    outputs: tuple[np.dtype[Any], ...]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        typed = [b.view(d) if d.names else b for b, d in zip(blocks, self.inputs, strict=True)]
        results = self.runner(typed, index)
        if len(results) != len(self.outputs):
            return results
        pairs = enumerate(zip(results, self.outputs, strict=True))
        return [_record_bytes(r, d, k) if d.names else r for k, (r, d) in pairs]


def _record_bytes(result: Any, dtype: np.dtype[Any], number: int) -> NDArray:
    """Converts a result to records of a type, as fixed-length byte strings."""
    value = to_array(result)
    if value.dtype.names != dtype.names:
        raise TypeError(f"output {number} has dtype {value.dtype}, expected {dtype}")
    records = np.empty(value.shape, dtype)
    np.copyto(records, value, casting="same_kind")
    return records.view(f"V{dtype.itemsize}")


def pack(title: str, runner: Runner, extra_mem: int) -> bytes:
    """Serialises a call as parameters of the engine's function "python".

    Raises TypeError if the function, or an object that it refers to, cannot be pickled.
    """
    if extra_mem < 0:
        raise ValueError(f"{title}: extra_projected_mem is {extra_mem}, expected 0 or more")
    return _pack(title, runner, extra_mem)


def repack(params: bytes, change: Callable[[str, Runner], Runner]) -> bytes:
    """Replaces the call in parameters by the result of `change` for its title and the old call."""
    title, runner = pickle.loads(params[_HEADER.size :])
    other = change(title, runner)
    return params if other is runner else _pack(title, other, _HEADER.unpack_from(params)[0])


def _pack(title: str, runner: Runner, extra_mem: int) -> bytes:
    try:
        code = dumps((title, runner))
    except Exception as e:
        raise TypeError(f"{title}: the function cannot be pickled: {e}") from e
    digest = hashlib.blake2b(code, digest_size=16).digest()
    short = title.encode()[:39].decode(errors="ignore").encode()
    return _HEADER.pack(extra_mem, digest, short) + code


class _Loaded:
    """A call that is loaded once for all blocks of a run."""

    def __init__(self) -> None:
        self.lock = threading.Lock()  # one thread unpickles the call; other threads wait for it
        self.call: tuple[str, Runner] | None = None  # None until the call is loaded
        self.called = False
        self.room = 0  # bytes that a call may use; 0: no limit


_loaded: dict[bytes, _Loaded] = {}
_lock = threading.Lock()


def _load(params: memoryview) -> _Loaded:
    """Unpickles a call, unless it was unpickled before."""
    with _lock:
        entry = _loaded.setdefault(bytes(params[8:24]), _Loaded())
    with entry.lock:
        if entry.call is None:
            entry.call = loads(params[_HEADER.size :])
        return entry


def load(params: memoryview) -> None:
    """Unpickles a call, and imports its modules, before the first task of a run."""
    _load(params)


def forget(digest: bytes) -> None:
    """Discards a call after its run. If another run uses the same call, it is unpickled again."""
    with _lock:
        _loaded.pop(digest, None)


@lru_cache(maxsize=256)
def _dtype(name: str) -> np.dtype[Any]:
    return dtype_of(name)


def _view(
    memory: memoryview, dtype: str, shape: tuple[int, ...], alive: list[weakref.ref[Any]]
) -> NDArray:
    """Returns a block, whose elements are in `memory`, as an array. The array is read-only if
    `memory` is.

    Appends to `alive` a weak reference to the base of the array. Every view of the array keeps this
    base alive, so the reference shows whether a function has kept a view of the block.
    """
    if memory.nbytes == 0:
        return np.empty(shape, _dtype(dtype))
    flat = np.frombuffer(memory, _dtype(dtype))
    alive.append(weakref.ref(flat))
    return flat.reshape(shape)


def to_array(result: Any) -> NDArray:
    """Converts the result of a user-defined function to an array; TypeError if it is masked."""
    refuse_masked_result(result)
    return np.asarray(result)


def refuse_masked_result(result: Any, where: str = "") -> None:
    """Raises TypeError for a masked array, or a list that contains one, because NumPy would drop
    the mask."""
    if _is_masked(result):
        raise TypeError(
            f"{where}the function returns a masked array, whose mask would be lost: return"
            " x.filled(value), such as x.filled(np.nan), or two outputs, x.data and"
            " np.ma.getmaskarray(x)"
        )


def _is_masked(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return any(map(_is_masked, value))
    return is_masked_array(value)


def _store(
    result: Any, number: int, output: tuple[memoryview | None, str, tuple[int, ...]]
) -> None:
    """Checks the result of a function, and copies it to its output."""
    memory, name, shape = output
    dtype = _dtype(name)
    value = to_array(result)
    if value.shape != shape:
        raise ValueError(f"output {number} has shape {value.shape}, expected {shape}")
    # Numbers are converted to the declared width. Other units of times and longer strings are not
    # converted.
    casting: Literal["same_kind", "safe"] = "same_kind" if value.dtype.kind in "biufc" else "safe"
    # NumPy would cast numbers to strings of any length, and truncate them.
    becomes_text = dtype.kind in "SU" and value.dtype.kind not in "SU"
    if becomes_text or not np.can_cast(value.dtype, dtype, casting):
        raise TypeError(
            f"output {number} has dtype {value.dtype}, expected {dtype}, to which it does not cast"
            f" ({casting}): declare {value.dtype} (dtype, output_dtypes, or the template's type),"
            f" or return x.astype({str(dtype)!r})"
        )
    if memory is not None and value.size:
        np.copyto(_view(memory, name, shape, []), value, casting=casting)


def _where(title: str, index: tuple[int, ...]) -> str:
    number = ", ".join(map(str, index)) + ("," if len(index) == 1 else "")
    return f"{title}, block ({number})"


_READ_ONLY = (
    "functions get blocks as read-only arrays: one that writes into its argument needs a copy of"
    " it, x = x.copy()"
)


def _is_of_writing(error: BaseException) -> bool:
    """Returns True if a function may have failed because its argument is read-only.

    NumPy and Cython report this. Numba fails in various ways when it compiles such a function, so
    any error of Numba counts.
    """
    trace, last = error.__traceback__, ""
    while trace is not None:
        last = trace.tb_frame.f_globals.get("__name__", "")
        trace = trace.tb_next
    text = text_of(error)
    return "read-only" in text or "readonly" in text or last.partition(".")[0] == "numba"


_KEPT = "the function keeps a view of a block after its return: copy it"
#: Numba (0.68) never releases the elements of a list that is an argument of map().
_KEPT_BY_NUMBA = "; in code that Numba compiles use a loop in place of map() over a list of arrays"


def _kept() -> str:
    return _KEPT + _KEPT_BY_NUMBA if "numba" in sys.modules else _KEPT


def call_block(
    params: memoryview,
    inputs: list[tuple[memoryview, str, tuple[int, ...]]],
    outputs: list[tuple[memoryview | None, str, tuple[int, ...]]],
    index: tuple[int, ...],
) -> tuple[int, str, int] | int | None:
    """Runs a function on one block.

    Returns
    -------
    tuple of (int, str, int), int or None
        If the function fails, the tuple for the engine's error that _failures.keep() returns.
        Otherwise the bytes of memory of modules that the function imported, or None if it
        imported none.
    """
    title = "a function of Python"
    alive: list[weakref.ref[Any]] = []
    failure = None
    imported = 0
    try:
        try:
            entry = _load(params)
            assert entry.call is not None
            title, runner = entry.call
            meter = ImportMeter(not entry.called)
            if not entry.called:
                entry.room, entry.called = room(), True
            begin_call(title, entry.room)
            try:
                _run(runner, inputs, outputs, index, alive)
            except MemoryError as e:
                raise explained(e, title, entry.room) from None
            finally:
                end_call()
                imported = meter.end()
            if not are_gone(alive):
                failure = keep(ValueError(_kept()), _where(title, index))
        except BaseException as e:
            if _is_of_writing(e):
                e.add_note(_READ_ONLY)
            failure = keep(e, _where(title, index))
            # After this line, only the record of failures refers to the exception.
        if failure is not None and any(block() is not None for block in alive):
            let_blocks_go(failure[2], lambda: are_gone(alive), _kept())
    finally:  # releases the memory, also after an interrupt
        for memory, *_ in (*inputs, *outputs):  # frames of a traceback may still refer to them
            if memory is not None:
                with suppress(BufferError):
                    memory.release()
    return failure or imported or None


def _run(
    runner: Runner,
    inputs: list[Any],
    outputs: list[Any],
    index: tuple[int, ...],
    alive: list[weakref.ref[Any]],
) -> None:
    blocks = [_view(memory, dtype, shape, alive) for memory, dtype, shape in inputs]
    results = runner(blocks, index)
    del blocks
    if len(results) != len(outputs):
        raise ValueError(f"the function returns {len(results)} outputs, expected {len(outputs)}")
    for k, (result, output) in enumerate(zip(results, outputs, strict=True)):
        _store(result, k, output)


# --- Worker processes -----------------------------------------------------------------------------


def worker_arguments() -> tuple[str, ...]:
    """Returns what a worker process needs to import functions: the module path, and the modules of
    this package with calls. The worker imports the modules before its memory is limited.
    """
    modules = sorted(name for name in sys.modules if name.startswith("cubed.blocks."))
    return (json.dumps([sys.path, modules]),)
