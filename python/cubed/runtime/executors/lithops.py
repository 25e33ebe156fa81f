"""Lithops: serverless functions of many clouds, Kubernetes, and processes on this machine."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.stages import ListEngine
from cubed.runtime.worker import WorkerLostError


class LithopsEngine(ListEngine):
    """Runs calls by an executor of Lithops.

    Ranges that are ready at the same time are one job. The engine polls Lithops's storage for
    completed calls.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        timeout: int | None,
        workers: int,
        modules: Sequence[str] | None = None,
    ) -> None:
        super().__init__(workers)
        # With an empty list, Lithops would search for the modules of this package.
        self._modules = list(modules) if modules else None
        made = needed("lithops", "lithops").FunctionExecutor(**options)
        self._executor = self.ends.enter_context(made)
        # Data of jobs in Lithops's storage.
        self.ends.callback(made.clean, clean_cloudobjects=False)
        self._timeout = timeout
        self.call_timeout = timeout or self._executor.config["lithops"]["execution_timeout"]

    def task_mem(self, reserved_mem: int) -> tuple[int, str] | None:
        """Returns the runtime's memory, which Lithops's configuration states in MB."""
        config = self._executor.config
        backend = config["lithops"]["backend"]
        size = config.get(backend, {}).get("runtime_memory")
        if backend == "localhost" or not size:
            return None
        return int(size) << 20, f"runtime_memory of Lithops's backend {backend!r}"

    def submit_list(self, messages: list[bytes]) -> Any:
        """Starts a job, and sends the modules of the program's folder. Workers have this
        package."""
        calls = [(message,) for message in messages]
        return self._executor.map(
            self.work,
            calls,
            timeout=self._timeout,
            include_modules=self._modules if self.code else None,
        )

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


def modules_beside_program() -> list[str]:
    """Returns the imported modules and packages in the folder of the running script, or in the
    working directory if there is no script, as in notebooks.
    """
    script = getattr(sys.modules.get("__main__"), "__file__", None)
    folder = Path(script).resolve().parent if script else Path.cwd()
    found = set()
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if "." in name or name.startswith("__") or not isinstance(file, str):
            continue
        path = Path(file).resolve()
        if (path.parent.parent if path.name == "__init__.py" else path.parent) == folder:
            found.add(name)
    return sorted(found - {"cubed", "lithops"})


class LithopsExecutor(EngineExecutor):
    """Runs tasks by Lithops.

    Parameters
    ----------
    timeout
        Maximum seconds of a call; default: Lithops's.
    include_modules
        Names of modules that are sent to workers of plans with Python functions, such as
        ``["helpers"]``; default: the imported modules in the program's folder. ``[]``: none.
    max_workers
        Number of concurrent calls that plans are made for; default: one per core of this machine,
        which is too few for a cloud.
    retries
        As for other executors.
    **kwargs
        Arguments of ``lithops.FunctionExecutor``, such as ``config``, ``backend``, ``storage``,
        ``runtime`` and ``runtime_memory``; and options of other versions, such as `wait_dur_sec`,
        which are accepted.
    """

    name = "lithops"
    keeps_messages: ClassVar[str] = "Lithops's storage"
    engine: ClassVar[tuple[str, str]] = ("lithops", "lithops")
    overhead: ClassVar[float] = 0.5
    # The rate of AWS Lambda ("Lambda scaling behavior" in its Developer Guide), for all backends.
    ramp: ClassVar[tuple[int, int]] = (1000, 100)
    max_message_bytes: ClassVar[int] = 4 << 20
    _arguments = frozenset(
        ("config", "config_file", "backend", "storage", "monitoring", "log_level", "mode", "region",
         "runtime", "runtime_memory", "remote_invoker", "workers")
    )  # fmt: skip
    _accepted = (
        EngineExecutor._accepted | _arguments | {"timeout", "include_modules", "wait_dur_sec"}
    )

    def connect(self) -> LithopsEngine:
        """Returns an executor of Lithops, for one run."""
        options = {k: v for k, v in self.kwargs.items() if k in self._arguments}
        modules = self.kwargs.get("include_modules")
        if isinstance(modules, str):
            raise TypeError(f"include_modules is {modules!r}, expected a list of names of modules")
        if modules is None:
            modules = modules_beside_program()
        return LithopsEngine(options, self.kwargs.get("timeout"), self.num_workers(), modules)


#: The executor's name in older versions of Cubed for Python.
LithopsDagExecutor = LithopsExecutor
