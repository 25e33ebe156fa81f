"""Ray: the cluster that ``ray.init`` has connected to, or one on this machine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cubed.runtime.executors.base import Engine, EngineExecutor, needed


class RayEngine(Engine):
    """Runs calls as Ray tasks. Ray does not retry them, because the driver does."""

    def __init__(self, options: Mapping[str, Any], workers: int) -> None:
        super().__init__(workers)
        self._ray = needed("ray", "ray")
        e = self._ray.exceptions
        self.may_pass: tuple[type[BaseException], ...] = (e.RaySystemError, e.WorkerCrashedError)
        self._memory: int | None = options.get("memory")
        self._cpus = options.get("num_cpus", 1) or 0
        self._remote = self._ray.remote(max_retries=0, **options)(self.work)
        self._refs: dict[Any, Any] = {}

    def has_workers(self) -> bool:
        """Returns True if the cluster has enough processors for a task."""
        return self._ray.cluster_resources().get("CPU", 0) >= self._cpus

    def task_mem(self, reserved_mem: int) -> tuple[int, str] | None:
        """Returns the memory option of the task, if there is one."""
        return (int(self._memory), "memory of ray_remote") if self._memory else None

    def submit_one(self, message: bytes) -> Any:
        """Starts a task."""
        ref = self._remote.options(name=self.stage_of(message)).remote(message)
        future = ref.future()
        self._refs[future] = ref
        future.add_done_callback(self._refs.pop)
        return future

    def cancel(self, futures: list[Any]) -> None:
        """Cancels tasks; running tasks continue to the end of their range."""
        for ref in list(self._refs.values()):
            self._ray.cancel(ref, force=False)


class RayExecutor(EngineExecutor):
    """Runs tasks on a Ray cluster.

    Parameters
    ----------
    ray_init
        Arguments of ``ray.init`` if it has not been called; the run ends the cluster that it
        starts.
    ray_remote
        Arguments of ``ray.remote``, such as ``memory`` or ``num_cpus``.
    max_workers
        Concurrent tasks; default: the cluster's processors.
    retries, **kwargs
        As for other executors.
    """

    name = "ray"
    keeps_messages: ClassVar[str] = "Ray's object store"
    engine: ClassVar[tuple[str, str]] = ("ray", "ray")
    overhead: ClassVar[float] = 0.005
    _accepted = EngineExecutor._accepted | {"ray_init", "ray_remote"}

    def known_workers(self) -> int | None:
        """Returns the number of processors of the connected cluster; None if not connected."""
        ray = needed("ray", "ray")
        if not ray.is_initialized():
            return None
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def connect(self) -> RayEngine:
        """Returns an engine with the cluster, which is started if necessary."""
        ray = needed("ray", "ray")
        workers, own = self.num_workers(), not ray.is_initialized()
        if own:
            options = {"num_cpus": workers, "include_dashboard": False}
            ray.init(**{**options, **(self.kwargs.get("ray_init") or {})})
        engine = RayEngine(self.kwargs.get("ray_remote") or {}, workers)
        if own:
            engine.ends.callback(ray.shutdown)
        return engine
