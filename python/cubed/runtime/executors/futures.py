"""Executors of :mod:`concurrent.futures`: pools of processes, Globus Compute's, and others."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from concurrent.futures import Executor as Pool
from typing import Any, ClassVar

from cubed.runtime._pool_process import begin_process
from cubed.runtime.executors.base import Engine, EngineExecutor
from cubed.runtime.worker import TaskTimeoutError, WorkerEndsError


class FuturesEngine(Engine):
    """Runs calls in the user's pool, or in a pool of the run. The latter is replaced if one of its
    processes dies."""

    may_pass: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, pool: Pool | None, workers: int) -> None:
        super().__init__(workers)
        self._own = pool is None
        self._pool = pool or self._make()
        self._pools: dict[Future[bytes], Pool] = {}
        #: The pool whose processes all end, because one call exceeded its time limit or was
        #: abandoned.
        self._ending: Pool | None = None

    def _make(self) -> Pool:
        context = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(self._wanted, mp_context=context, initializer=begin_process)
        self.ends.callback(pool.shutdown, wait=True, cancel_futures=True)
        return pool

    def submit_one(self, message: bytes) -> Future[bytes]:
        """Starts a call in the pool."""
        try:
            future = self._pool.submit(self.work, message)
        except BrokenExecutor:
            if not self._own:
                raise
            self._pool = self._make()
            future = self._pool.submit(self.work, message)
        self._pools[future] = self._pool
        return future

    def result(self, future: Future[bytes]) -> bytes:
        """Returns the result of a call. A call counts as preempted if it failed because another
        call exceeded its time limit.
        """
        pool = self._pools.pop(future)
        try:
            return super().result(future)
        except TaskTimeoutError:
            self._ending = pool
            raise
        except BrokenExecutor as e:
            if pool is self._ending:
                raise WorkerEndsError("its pool was ended, because another task was stuck") from e
            raise

    def abandon(self, future: Future[bytes]) -> None:
        """Ends the processes of a pool that belongs to the run. Their other calls are repeated.

        A running call in the user's pool cannot be ended.
        """
        pool = self._pools.pop(future)
        if not future.cancel() and self._own:
            self._ending = pool
            for process in list((getattr(pool, "_processes", None) or {}).values()):
                process.kill()


class FuturesExecutor(EngineExecutor):
    """Runs tasks by an executor of :mod:`concurrent.futures`.

    Parameters
    ----------
    pool
        An executor; default: a ``ProcessPoolExecutor`` for each run, whose processes are spawned.
        Its workers must find this package and the work directory.
    max_workers
        Concurrent calls; default: the number of workers of `pool`, or one per core.
    retries, **kwargs
        As for other executors.
    """

    name = "futures"
    overhead: ClassVar[float] = 0.001
    _accepted = EngineExecutor._accepted | {"pool"}

    def __init__(self, max_workers: int | None = None, retries: int = 2, **kwargs: Any) -> None:
        super().__init__(max_workers, retries, **kwargs)
        self.pool: Pool | None = kwargs.get("pool")
        if self.pool is not None and not callable(getattr(self.pool, "submit", None)):
            raise TypeError(f"pool is {self.pool!r}, expected an executor of concurrent.futures")

    def known_workers(self) -> int | None:
        """Returns the number of workers of the pool."""
        return getattr(self.pool, "_max_workers", None)

    def connect(self) -> FuturesEngine:
        """Returns the engine of one run, which submits its calls to the pool."""
        return FuturesEngine(self.pool, self.num_workers())
