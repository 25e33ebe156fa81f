"""Measures the memory that processes need in addition to tasks."""

from __future__ import annotations

import os
import resource
from typing import Any

import numpy as np

from cubed import _core
from cubed.array_api import ones
from cubed.base._held import held_privately
from cubed.base._types import NDArray
from cubed.blocks._apply import map_blocks
from cubed.runtime import _limit
from cubed.spec import Spec

#: Bytes that allocators of memory reserve before programs use them.
_SLACK = 2 << 20


def _held(block: NDArray) -> NDArray:
    """Returns the bytes that this process holds, and the resident part of them."""
    resident = _core.resident_mem()
    if not resident:  # on systems other than Linux: the maximum since the start
        resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    # If private memory is limited, all of it is counted, even if it is not resident.
    is_limited = resource.getrlimit(resource.RLIMIT_DATA)[0] != resource.RLIM_INFINITY
    held = max(resident, held_privately() if is_limited else 0)
    process = os.getpid()
    # This is a child of a worker. The worker itself runs only plans without functions.
    if _limit.worker_id:
        process = _limit.worker_id
        resident = max(resident, _limit.resident_of(process))
        held = max(held, resident)
    return np.array([held, resident, process], np.int64).reshape(block.shape)


def measure_reserved_mem(
    executor: Any = None, work_dir: str | os.PathLike[str] | None = None, **kwargs: Any
) -> int:
    """Measures the memory of a process that runs tasks, without the tasks, for `reserved_mem`.

    Parameters
    ----------
    executor : Executor, str or None
        An executor object or name. Executors in this process measure this process, including loaded
        data: call this function before loading data.
    work_dir : str, path or None
        As for :class:`cubed.Spec`.
    **kwargs : object
        Options of the executor.

    Returns
    -------
    int
        Bytes of the process (code, libraries, metadata) while a small task runs a Python function,
        plus a third of these bytes for plans, which use a quarter of `reserved_mem`. In a worker
        process, private memory that is not resident counts because its
        limit counts it. Libraries that functions import are not included. Computed immediately.

    Examples
    --------
    >>> import cubed
    >>> cubed.measure_reserved_mem("single-threaded") > 1_000_000
    True
    """
    x = ones(3, chunks=3, spec=Spec(work_dir, allowed_mem="500MB", reserved_mem="100MB"))
    found = map_blocks(_held, x, dtype=np.int64).compute(executor=executor, **kwargs)
    held, resident, process = (int(n) for n in found)
    if process == os.getpid():
        _core.code_measured(resident)
    return held + held // 3 + _SLACK
