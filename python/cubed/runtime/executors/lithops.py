"""Lithops: serverless functions of many clouds, Kubernetes, and processes of this machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from concurrent.futures import BrokenExecutor
from typing import Any, ClassVar

from cubed.runtime.executors.base import Answer, EngineExecutor, needed
from cubed.runtime.executors.stages import ListEngine

#: Seconds that it takes at the most until what a process said is seen after its end.
_LAST_WORDS = 5.0


class LithopsEngine(ListEngine):
    """An executor of Lithops: ranges that are ready at a time are one job, and its storage is asked
    what has ended."""

    may_pass: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, options: Mapping[str, Any], timeout: int | None, workers: int) -> None:
        super().__init__(workers)
        self._lithops = needed("lithops", "lithops")
        self._executor = self._lithops.FunctionExecutor(**options)
        self._timeout = timeout
        self.call_timeout = timeout or self._executor.config["lithops"]["execution_timeout"]
        self._silent: dict[Any, float] = {}

    def poll(self, seconds: float) -> Answer | None:
        """Starts what is ready, and asks the storage for a call that has ended."""
        if self._ready:
            ranges, self._ready = self._ready, []
            messages = [(self.message(range_),) for range_ in ranges]
            # Workers have the package: nothing is sent of it.
            calls = self._executor.map(
                self.work, messages, timeout=self._timeout, include_modules=None
            )
            self._flying.update(zip(calls, ranges, strict=True))
        if self._done.empty() and self._flying:
            ended, _ = self._executor.wait(
                list(self._flying),
                throw_except=False,
                return_when=sys.modules["lithops.wait"].ALWAYS,
                show_progressbar=False,
            )
            for call in [*ended, *self._ended_silently()]:
                self._done.put(call)
        return super().poll(seconds)

    def _ended_silently(self) -> list[Any]:
        """Calls of processes of this machine that have ended without a word. Elsewhere it is their
        time that ends."""
        handler = getattr(self._executor.compute_handler, "env", None)
        jobs, now = getattr(handler, "jobs", {}), time.monotonic()
        for call in self._flying:
            job = jobs.get(call.job_key)
            if job is not None and job.done and not (call.success or call.done):
                self._silent.setdefault(call, now)
        return [call for call, since in self._silent.items() if now - since > _LAST_WORDS]

    def result(self, future: Any) -> bytes:
        """What a call returned; what Lithops raises by itself is told from what the call raised."""
        if self._silent.pop(future, None) is not None and not (future.success or future.done):
            raise BrokenExecutor("its process ended without a word")
        try:
            return super().result(future)
        except Exception as e:
            if future._handler_exception and not isinstance(e, TimeoutError):
                raise BrokenExecutor(str(e)) from e
            raise

    def disconnect(self) -> None:
        """Removes what jobs have left in Lithops's storage."""
        super().disconnect()
        self._executor.clean(clean_cloudobjects=False)
        self._executor.__exit__(None, None, None)


class LithopsExecutor(EngineExecutor):
    """Runs tasks by Lithops.

    Parameters
    ----------
    timeout
        Seconds that a call may take; default: Lithops's.
    max_workers
        Calls at a time that plans are made for; default: one per core of this machine, which is too
        few for a cloud.
    retries
        As for other executors.
    **kwargs
        Arguments of ``lithops.FunctionExecutor``, such as ``config``, ``backend``, ``storage``,
        ``runtime`` and ``runtime_memory``; and options of other versions, which are accepted.
    """

    name = "lithops"
    engine: ClassVar[tuple[str, str]] = ("lithops", "lithops")
    overhead: ClassVar[float] = 0.5
    max_message_bytes: ClassVar[int] = 4 << 20
    _arguments = frozenset(
        ("config", "config_file", "backend", "storage", "monitoring", "log_level", "mode", "region",
         "runtime", "runtime_memory", "remote_invoker", "workers")
    )  # fmt: skip
    _accepted = EngineExecutor._accepted | _arguments | {"timeout"}

    def connect(self) -> LithopsEngine:
        """An executor of Lithops, for one run."""
        options = {k: v for k, v in self.kwargs.items() if k in self._arguments}
        return LithopsEngine(options, self.kwargs.get("timeout"), self.num_workers())


#: Its name in older versions.
LithopsDagExecutor = LithopsExecutor
