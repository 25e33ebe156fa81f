"""What processes need beside tasks."""

from __future__ import annotations

import os
import pathlib
import resource
from typing import Any

import numpy as np

from cubed.array_api import ones
from cubed.base._types import NDArray
from cubed.blocks._apply import map_blocks
from cubed.spec import Spec


def _resident(block: NDArray) -> NDArray:
    """Bytes of this process's memory, in every element."""
    try:
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        size = pages * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux: the most so far
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return np.full(block.shape, size, np.int64)


def measure_reserved_mem(
    executor: Any = None, work_dir: str | os.PathLike[str] | None = None, **kwargs: Any
) -> int:
    """The memory of a process that runs tasks, without that of tasks: a Spec's `reserved_mem`.

    Parameters
    ----------
    executor : Executor, str or None
        An executor object or name. Executors within this process measure this process, with all
        that it holds: call it before data are loaded.
    work_dir : str, path or None
        As of :class:`cubed.Spec`.
    **kwargs : object
        Options of the executor.

    Returns
    -------
    int
        Bytes that are resident while a task of one element runs a function of Python: code,
        libraries and metadata; and a third as much again for plans, whose room is a quarter of
        `reserved_mem`. Computed at once.

    Examples
    --------
    >>> import cubed
    >>> cubed.measure_reserved_mem("single-threaded") > 1_000_000
    True
    """
    x = ones((), spec=Spec(work_dir, allowed_mem="500MB", reserved_mem="100MB"))
    resident = int(map_blocks(_resident, x, dtype=np.int64).compute(executor=executor, **kwargs))
    return resident + resident // 3
