"""Prefect: ranges are tasks of a flow, on a server and with the user's task runner."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future, wait
from functools import partial
from queue import SimpleQueue
from typing import Any, ClassVar

from cubed.runtime import worker
from cubed.runtime.executors.base import Engine, EngineExecutor, needed
from cubed.runtime.executors.stages import settle


class PrefectEngine(Engine):
    """Runs a flow, which submits a task for each range that is ready."""

    def __init__(self, runner: Any, workers: int) -> None:
        super().__init__(workers)
        self._prefect, self._runner = needed("prefect", "prefect"), runner
        self._calls: SimpleQueue[tuple[Future[bytes], bytes] | None] = SimpleQueue()

    def open(self, work_dir: str, plan_key: str) -> tuple[int, int, int, int]:
        """Starts the flow in a thread: tasks are submitted from within it."""
        limits = super().open(work_dir, plan_key)
        task = self._prefect.task(
            partial(worker.attempt, function=self.work),
            name="cubed range", retries=0, persist_result=False, cache_policy=None,
        )  # fmt: skip

        def submit_all() -> None:
            while call := self._calls.get():
                future, message = call
                if future.set_running_or_notify_cancel():
                    named = task.with_options(name=self.stage_of(message))
                    named.submit(message).add_done_callback(partial(_settle, future))

        flow = self._prefect.flow(
            submit_all, name="cubed run", task_runner=self._runner, persist_result=False
        )
        self._flow = worker.in_thread(flow)
        self.ends.callback(wait, (self._flow,), 10)  # the flow ends after its tasks
        self.ends.callback(self._calls.put, None)
        return limits

    def submit_one(self, message: bytes) -> Future[bytes]:
        """Passes a call to the flow. The driver retries calls, Prefect does not."""
        future: Future[bytes] = Future()
        self._calls.put((future, message))
        return future

    def ended(self) -> Iterable[Future[bytes]]:
        """Returns all futures when the flow has ended."""
        return list(self._flying) if self._flow.done() else ()

    def result(self, future: Future[bytes]) -> bytes:
        """Returns the result of a call; for unfinished calls raises the flow's exception."""
        return super().result(future if future.done() else self._flow)


def _settle(future: Future[bytes], done: Any) -> None:
    """Sets the result of a future to the reply of a task. If the task has no reply, sets the
    exception of the future to the exception that Prefect raises."""
    try:
        reply = done.result(raise_on_failure=False)
    except BaseException as e:
        reply = e
    settle(future, reply)


class PrefectExecutor(EngineExecutor):
    """Runs tasks by Prefect.

    Parameters
    ----------
    task_runner
        The task runner of the flow, such as ``prefect_dask.DaskTaskRunner(...)``; default:
        `max_workers` threads of this process.
    max_workers
        Concurrent tasks; default: one per core.
    retries, **kwargs
        As for other executors.
    """

    name = "prefect"
    keeps_messages: ClassVar[str] = "Prefect's server"
    engine: ClassVar[tuple[str, str]] = ("prefect", "prefect")
    overhead: ClassVar[float] = 0.05
    _accepted = EngineExecutor._accepted | {"task_runner"}

    def known_workers(self) -> int | None:
        """Returns the number of workers of the task runner."""
        return getattr(self.kwargs.get("task_runner"), "_max_workers", None)

    def connect(self) -> PrefectEngine:
        """Returns a flow, for one run."""
        workers, runner = self.num_workers(), self.kwargs.get("task_runner")
        if runner is None:
            runner = needed("prefect.task_runners", "prefect").ThreadPoolTaskRunner(workers)
        return PrefectEngine(runner, workers)
