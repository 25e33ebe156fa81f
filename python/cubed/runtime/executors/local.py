"""Executors on this machine."""

from __future__ import annotations

from typing import Any

from cubed.runtime.executors.base import Executor


class LocalExecutor(Executor):
    """Runs tasks on this machine, within the C library."""

    _accepted = Executor._accepted | {"max_tasks_per_child", "use_processes", "mp_context"}


class SingleThreadedExecutor(LocalExecutor):
    """Runs one task after another in the calling thread."""

    name = "single-threaded"

    def __init__(self, max_workers: int | None = None, retries: int = 2, **kwargs: Any) -> None:
        super().__init__(self.capabilities["max_workers"], retries, **kwargs)


class ThreadsExecutor(LocalExecutor):
    """Runs tasks in a pool of threads, the default."""

    name = "threads"


class ProcessesExecutor(LocalExecutor):
    """Runs tasks in worker processes, whose memory the operating system limits."""

    name = "processes"
