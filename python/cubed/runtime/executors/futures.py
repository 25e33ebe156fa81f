"""Executors of :mod:`concurrent.futures`: pools of processes, Globus Compute's, and others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from concurrent.futures import Executor as Pool
from typing import Any, ClassVar

from cubed.runtime.executors.base import Engine, EngineExecutor


def _begin_process() -> None:
    """Ctrl-C is the driver's; who has no driver any more ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_follow_driver, daemon=True).start()


def _follow_driver() -> None:
    driver = multiprocessing.parent_process()
    if driver is not None:
        driver.join()
        os._exit(1)


class FuturesEngine(Engine):
    """A pool: the user's, or one that is made for the run and made anew when a process dies."""

    may_pass: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, pool: Pool | None, workers: int) -> None:
        super().__init__()
        self._pool = pool
        self._own: ProcessPoolExecutor | None = None
        self._workers_wanted = workers

    def num_workers(self) -> int:
        """Processes of the pool."""
        return self._workers_wanted

    def _make(self) -> ProcessPoolExecutor:
        context = multiprocessing.get_context("spawn")
        self._own = ProcessPoolExecutor(
            self._workers_wanted, mp_context=context, initializer=_begin_process
        )
        return self._own

    def submit_one(self, message: bytes) -> Future[bytes]:
        """Starts a call in the pool."""
        try:
            return (self._pool or self._own or self._make()).submit(self.work, message)
        except BrokenExecutor:
            if self._pool is not None:
                raise
            return self._make().submit(self.work, message)

    def disconnect(self) -> None:
        """Ends the run's own pool."""
        super().disconnect()
        if self._own is not None:
            self._own.shutdown(wait=True, cancel_futures=True)


class FuturesExecutor(EngineExecutor):
    """Runs tasks by an executor of :mod:`concurrent.futures`.

    Parameters
    ----------
    pool
        An executor; default: a ``ProcessPoolExecutor`` for each run, whose processes are spawned.
        Its workers find this package and the work directory.
    max_workers
        Calls at a time; default: as many as `pool` has, or one per core.
    retries
        As for other executors.
    **kwargs
        Options of other versions, which are accepted.
    """

    name = "futures"
    overhead: ClassVar[float] = 0.001
    _accepted = EngineExecutor._accepted | {"pool"}

    def __init__(
        self,
        max_workers: int | None = None,
        retries: int = 2,
        *,
        pool: Pool | None = None,
        **kwargs: Any,
    ) -> None:
        if pool is not None and not callable(getattr(pool, "submit", None)):
            raise TypeError(f"pool is {pool!r}, expected an executor of concurrent.futures")
        super().__init__(max_workers, retries, pool=pool, **kwargs)

    @property
    def pool(self) -> Pool | None:
        """The user's executor, or None."""
        return self.kwargs["pool"]

    def num_workers(self) -> int:
        """Those that were asked for, those of the pool, or one per core."""
        known = getattr(self.pool, "_max_workers", None)
        return self.max_workers or known or len(os.sched_getaffinity(0))

    def connect(self) -> FuturesEngine:
        """The pool, for one run."""
        return FuturesEngine(self.pool, self.num_workers())
