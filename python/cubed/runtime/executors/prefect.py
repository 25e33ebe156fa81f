"""Prefect: ranges are tasks of flows, on a server and by the task runner that one has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.stages import StageEngine


class PrefectEngine(StageEngine):
    """A list of ranges is a run of a flow."""

    def __init__(self, runner: Any, workers: int) -> None:
        super().__init__(workers)
        self._prefect, self._runner = needed("prefect", "prefect"), runner

    def run_stage(
        self, call: Callable[[bytes], bytes], messages: list[bytes]
    ) -> list[bytes | BaseException]:
        """Runs a flow; the driver tries again, and not Prefect."""
        task = self._prefect.task(
            call, name="cubed range", retries=0, persist_result=False, cache_policy=None
        )

        def stage() -> list[bytes | BaseException]:
            calls = [task.submit(message) for message in messages]
            return [x.result(raise_on_failure=False) for x in calls]

        flow = self._prefect.flow(
            stage, name="cubed stage", task_runner=self._runner, persist_result=False
        )
        return flow()


class PrefectExecutor(EngineExecutor):
    """Runs tasks by Prefect.

    Parameters
    ----------
    task_runner
        What runs tasks of a flow, such as ``prefect_dask.DaskTaskRunner(...)``; default:
        `max_workers` threads of this process.
    max_workers
        Tasks at a time; default: one per core.
    retries, **kwargs
        As for other executors.
    """

    name = "prefect"
    engine: ClassVar[tuple[str, str]] = ("prefect", "prefect")
    overhead: ClassVar[float] = 0.4
    _accepted = EngineExecutor._accepted | {"task_runner"}

    def known_workers(self) -> int | None:
        """Those of the task runner."""
        return getattr(self.kwargs.get("task_runner"), "_max_workers", None)

    def connect(self) -> PrefectEngine:
        """Flows, for one run."""
        workers, runner = self.num_workers(), self.kwargs.get("task_runner")
        if runner is None:
            runner = needed("prefect.task_runners", "prefect").ThreadPoolTaskRunner(workers)
        return PrefectEngine(runner, workers)
