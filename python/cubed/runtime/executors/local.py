"""Executors on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cubed import _core

_capabilities = _core.executors()


class LocalExecutor:
    """Runs tasks on this machine.

    Parameters
    ----------
    max_workers
        Tasks at a time; default: one per core.
    retries
        How often a task that failed to read or write, or whose worker died, is tried again.
    **kwargs
        `use_backups`, `batch_size`, `compute_arrays_in_parallel` and the like of other versions are
        accepted: tasks start as soon as their inputs exist in any case.
    """

    name: str
    _accepted = frozenset(
        ("use_backups", "batch_size", "compute_arrays_in_parallel", "max_tasks_per_child",
         "use_processes", "mp_context")
    )  # fmt: skip

    def __init__(self, max_workers: int | None = None, retries: int = 2, **kwargs: Any) -> None:
        for key in kwargs:
            if key not in self._accepted:
                raise TypeError(f"the executor {self.name!r} has no option {key!r}")
        for option, value in (("max_workers", max_workers or 1), ("retries", retries)):
            if not isinstance(value, (int, np.integer)):
                raise TypeError(f"{option} is {value!r}, expected an integer")
        if max_workers is not None and max_workers < 1:
            raise ValueError(f"max_workers is {max_workers}, expected at least 1")
        if retries < 0:
            raise ValueError(f"retries is {retries}, expected 0 or more")
        self.max_workers = int(max_workers or 0)
        self.retries = int(retries)
        self.kwargs = kwargs

    @property
    def capabilities(self) -> dict[str, Any]:
        """What it can do, by the names of ``cubed_executor_caps`` in ``cubed/run.h``."""
        return _capabilities[self.name]

    def with_options(self, options: Mapping[str, Any]) -> LocalExecutor:
        """The same with some options changed."""
        mine = {"max_workers": self.max_workers or None, "retries": self.retries, **self.kwargs}
        return type(self)(**{**mine, **options})

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), self.max_workers, self.retries))

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(max_workers={self.max_workers or None}, retries={self.retries})"
        )


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
