"""Dask's distributed scheduler: the user's client, or a cluster on this machine."""

from __future__ import annotations

import pkgutil
import uuid
from collections.abc import Mapping
from typing import Any, ClassVar

from cubed import _core
from cubed.runtime import worker
from cubed.runtime.executors.base import Engine, EngineExecutor, needed


class DaskEngine(Engine):
    """Runs calls through a client. The scheduler runs the calls of lost workers again."""

    # More calls than workers, because the scheduler is informed of completed calls with a delay. It
    # queues the calls that do not run yet.
    in_flight = 4

    def __init__(self, client: Any, workers: int, options: Mapping[str, Any]) -> None:
        super().__init__(workers)
        self._client, self._options = client, {"retries": 0, **options}
        self._replies: dict[Any, bytes] = {}

    def has_workers(self) -> bool:
        """Returns True if the scheduler reports a worker."""
        return bool(self._client.nthreads())

    def task_mem(self, reserved_mem: int) -> tuple[int, str] | None:
        """Returns the smallest memory of a task. The threads of a worker share `reserved_mem`, and
        divide the rest of its memory limit."""
        limits = [
            ((worker["memory_limit"] - reserved_mem) // worker["nthreads"] + reserved_mem, name)
            for name, worker in self._client.scheduler_info(n_workers=-1)["workers"].items()
            if worker["memory_limit"] and worker["nthreads"]
        ]
        if not limits:
            return None
        least, name = min(limits)
        return least, f"memory_limit of Dask's worker {name}, divided by its threads"

    def check(self, allowed_mem: int, reserved_mem: int) -> None:
        """Also refuses workers without this package. Dask would end such a worker when it gets a
        task, and would wait for another worker.
        """
        super().check(allowed_mem, reserved_mem)
        # A function of Python's standard library, because workers without this package can load it.
        found = self._client.run(pkgutil.resolve_name, "cubed:__version__", on_error="return")
        for name, version in found.items():
            if isinstance(version, Exception):
                raise ImportError(
                    f"Dask's worker {name} cannot import cubed ({version}): install version"
                    f" {_core.version} of cubed-c where the worker runs"
                ) from version

    def submit_one(self, message: bytes) -> Any:
        """Starts a call with a unique name, because calls with the same arguments would run only
        once. Dask's dashboard groups calls by the part before the number, the stage.
        """
        key = f"{self.stage_of(message)}-{uuid.uuid4().hex}"
        return self._client.submit(self.work, message, key=key, **self._options)

    def result(self, future: Any) -> bytes:
        """Returns a call's reply. Fetches the replies of all completed calls together, because this
        takes no longer than fetching one.
        """
        if future not in self._replies and future.status == "finished":
            ended = [future, *(f for f in self._flying if f.status == "finished")]
            replies = self._client.gather(ended, errors="skip")
            if len(replies) == len(ended):
                self._replies.update(zip(ended, replies, strict=True))
        return self._replies.pop(future) if future in self._replies else future.result()

    def cancel(self, futures: list[Any]) -> None:
        """Cancels futures, and makes workers end running calls, which would otherwise continue."""
        if futures:
            self._client.cancel(futures, force=True)
            self._client.run(worker.stop, self.plan_key, self.attempt, on_error="ignore")


class DaskExecutor(EngineExecutor):
    """Runs tasks on a Dask cluster.

    Parameters
    ----------
    client
        A ``distributed.Client``, or the address of a scheduler, to which the process stays
        connected; default: the current client, otherwise a ``LocalCluster`` of `max_workers`
        processes for each run.
    compute_kwargs
        Arguments of ``Client.submit`` for each call, such as ``resources`` or ``priority``.
    max_workers
        Concurrent tasks; default: all threads of the cluster.
    retries
        As for other executors. A call whose worker is lost runs again without counting as a retry,
        as often as the scheduler allows.
    **kwargs
        As for other executors.
    """

    name = "dask"
    keeps_messages: ClassVar[str] = "Dask's scheduler"
    engine: ClassVar[tuple[str, str]] = ("distributed", "dask")
    overhead: ClassVar[float] = 0.002
    _accepted = EngineExecutor._accepted | {"client", "compute_kwargs"}

    def _client(self) -> Any:
        distributed = needed("distributed", "dask")
        if isinstance(self.kwargs.get("client"), str):
            self.kwargs["client"] = distributed.Client(self.kwargs["client"], set_as_default=False)
        given = self.given("client", "distributed", "Client")
        if given is not None and given.status == "closed":
            raise ValueError(f"client is {given!r}, which is closed, expected an open client")
        try:
            return given or distributed.default_client()
        except ValueError:
            return None

    def known_workers(self) -> int | None:
        """Returns the number of threads of the client's workers."""
        client = self._client()
        return None if client is None else max(1, sum(client.nthreads().values()))

    def connect(self) -> DaskEngine:
        """Returns an engine with the client, or with the client of a new cluster."""
        given, workers = self._client(), self.num_workers()
        client = given or needed("distributed", "dask").Client(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address=None,
            set_as_default=False,
        )
        engine = DaskEngine(client, workers, self.kwargs.get("compute_kwargs") or {})
        if given is None:
            engine.ends.callback(client.close)
        return engine
