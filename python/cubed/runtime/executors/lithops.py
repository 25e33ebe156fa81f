"""Lithops: serverless functions of many clouds, Kubernetes, and processes of this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.stages import ListEngine
from cubed.runtime.worker import WorkerLostError


class LithopsEngine(ListEngine):
    """An executor of Lithops. Ranges that are ready at the same time are one job; the engine polls
    Lithops's storage for completed calls.
    """

    def __init__(self, options: Mapping[str, Any], timeout: int | None, workers: int) -> None:
        super().__init__(workers)
        made = needed("lithops", "lithops").FunctionExecutor(**options)
        self._executor = self.ends.enter_context(made)
        # Data of jobs in Lithops's storage.
        self.ends.callback(made.clean, clean_cloudobjects=False)
        self._timeout = timeout
        self.call_timeout = timeout or self._executor.config["lithops"]["execution_timeout"]

    def task_mem(self, reserved_mem: int) -> tuple[int, str] | None:
        """As the runtime's memory in Lithops's configuration, which is in MB, implies."""
        config = self._executor.config
        backend = config["lithops"]["backend"]
        size = config.get(backend, {}).get("runtime_memory")
        if backend == "localhost" or not size:
            return None
        return int(size) << 20, f"runtime_memory of Lithops's backend {backend!r}"

    def submit_list(self, messages: list[bytes]) -> Any:
        """Starts a job. Workers have the package, so no modules are sent."""
        calls = [(message,) for message in messages]
        return self._executor.map(self.work, calls, timeout=self._timeout, include_modules=None)

    def ended(self) -> Any:
        """Polls the storage for completed calls."""
        ended, _ = self._executor.wait(
            list(self._flying),
            throw_except=False,
            return_when=needed("lithops.wait", "lithops").ALWAYS,
            show_progressbar=False,
        )
        return ended

    def silent(self) -> list[Any]:
        """Returns calls of local jobs that are over. Elsewhere only the time limit of a call
        detects its loss.
        """
        jobs = getattr(getattr(self._executor.compute_handler, "env", None), "jobs", {})
        over = {key for key, job in jobs.items() if job.done}
        return [c for c in self._flying if c.job_key in over and not (c.success or c.done)]

    def result(self, future: Any) -> bytes:
        """Returns a call's result; distinguishes exceptions of Lithops from those of the call."""
        try:
            return super().result(future)
        except Exception as e:
            if future._handler_exception and not isinstance(e, TimeoutError):
                raise WorkerLostError(str(e)) from e
            raise


class LithopsExecutor(EngineExecutor):
    """Runs tasks by Lithops.

    Parameters
    ----------
    timeout
        Maximum seconds of a call; default: Lithops's.
    max_workers
        Number of concurrent calls that plans are made for; default: one per core of this machine,
        which is too few for a cloud.
    retries
        As for other executors.
    **kwargs
        Arguments of ``lithops.FunctionExecutor``, such as ``config``, ``backend``, ``storage``,
        ``runtime`` and ``runtime_memory``; and options of other versions, which are accepted.
    """

    name = "lithops"
    keeps_messages: ClassVar[str] = "Lithops's storage"
    engine: ClassVar[tuple[str, str]] = ("lithops", "lithops")
    overhead: ClassVar[float] = 0.5
    max_message_bytes: ClassVar[int] = 4 << 20
    _arguments = frozenset(
        ("config", "config_file", "backend", "storage", "monitoring", "log_level", "mode", "region",
         "runtime", "runtime_memory", "remote_invoker", "workers")
    )  # fmt: skip
    _accepted = EngineExecutor._accepted | _arguments | {"timeout"}

    def connect(self) -> LithopsEngine:
        """Returns an executor of Lithops, for one run."""
        options = {k: v for k, v in self.kwargs.items() if k in self._arguments}
        return LithopsEngine(options, self.kwargs.get("timeout"), self.num_workers())


#: Its name in older versions.
LithopsDagExecutor = LithopsExecutor
