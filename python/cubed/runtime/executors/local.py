"""Executors on this machine."""

from __future__ import annotations

from typing import Any

from cubed.runtime.executors.base import Executor


class LocalExecutor(Executor):
    """Runs tasks on this machine, within the engine."""

    _accepted = Executor._accepted | {"max_tasks_per_child", "use_processes", "mp_context"}


class SingleThreadedExecutor(LocalExecutor):
    """One task after another in the calling thread."""

    name = "single-threaded"

    def __init__(self, max_workers: int | None = None, retries: int = 2, **kwargs: Any) -> None:
        super().__init__(self.capabilities["max_workers"], retries, **kwargs)


class ThreadsExecutor(LocalExecutor):
    """A pool of threads, the default."""

    name = "threads"


class ProcessesExecutor(LocalExecutor):
    """Worker processes, whose memory the operating system limits."""

    name = "processes"
