"""Dask's distributed scheduler: the user's client, or a cluster on this machine."""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from typing import Any, ClassVar

from cubed.runtime import worker
from cubed.runtime.executors.base import Answer, Engine, EngineExecutor, needed

#: Seconds between looks whether there are workers.
_LOOK = 2.0


class DaskEngine(Engine):
    """A client. Lost workers are the scheduler's affair, which runs their calls again."""

    # The scheduler keeps what workers do not run yet, and takes a while to hear of what has ended.
    in_flight = 4

    def __init__(self, client: Any, workers: int, own: bool, options: Mapping[str, Any]) -> None:
        super().__init__(workers)
        self._client, self._own, self._options = client, own, {"retries": 0, **options}
        self._replies: dict[Any, bytes] = {}
        self._looked = self._alive = time.monotonic()

    def submit_one(self, message: bytes) -> Any:
        """Starts a call, of a name of its own: calls with the same arguments run once otherwise."""
        key = f"cubed-{uuid.uuid4().hex}"
        return self._client.submit(self.work, message, key=key, **self._options)

    def poll(self, seconds: float) -> Answer | None:
        """What has ended; TimeoutError if the cluster has had no workers for long: the scheduler
        waits for new ones without end."""
        answer, now = super().poll(seconds), time.monotonic()
        if answer is not None:
            self._alive = now
        elif now - self._looked > _LOOK:
            self._looked = now
            if self._client.nthreads():
                self._alive = now
            elif now - self._alive > self.start_timeout:
                raise TimeoutError(
                    f"the cluster of Dask has had no workers for {self.start_timeout:g} s"
                )
        return answer

    def result(self, future: Any) -> bytes:
        """Its reply, which is asked for with those of all that have ended: that takes as long as
        for one."""
        if future not in self._replies and future.status == "finished":
            ended = [future, *(f for f in self._flying if f.status == "finished")]
            replies = self._client.gather(ended, errors="skip")
            if len(replies) == len(ended):
                self._replies.update(zip(ended, replies, strict=True))
        return self._replies.pop(future) if future in self._replies else future.result()

    def cancel(self, futures: list[Any]) -> None:
        """Calls that have begun go on when their futures are cancelled: workers end them."""
        if futures:
            self._client.cancel(futures, force=True)
            self._client.run(worker.stop, self.plan_key, on_error="ignore")

    def disconnect(self) -> None:
        """Ends the run's own cluster."""
        super().disconnect()
        if self._own:
            self._client.close()


class DaskExecutor(EngineExecutor):
    """Runs tasks on a cluster of Dask.

    Parameters
    ----------
    client
        A ``distributed.Client``; default: the current one, or else a ``LocalCluster`` of
        `max_workers` processes for each run.
    compute_kwargs
        What ``Client.submit`` is given for each call, such as ``resources`` or ``priority``.
    max_workers
        Tasks at a time; default: all threads of the cluster.
    retries
        As for other executors. A call whose worker is lost runs again without counting as one,
        as often as the scheduler allows.
    **kwargs
        As for other executors.
    """

    name = "dask"
    engine: ClassVar[tuple[str, str]] = ("distributed", "dask")
    overhead: ClassVar[float] = 0.002
    _accepted = EngineExecutor._accepted | {"client", "compute_kwargs"}

    def _client(self) -> Any:
        given = self.given("client", "distributed", "Client")
        try:
            return given or needed("distributed", "dask").default_client()
        except ValueError:
            return None

    def known_workers(self) -> int | None:
        """Threads of the client's workers."""
        client = self._client()
        return None if client is None else max(1, sum(client.nthreads().values()))

    def connect(self) -> DaskEngine:
        """The client, or one of a new cluster."""
        client, workers = self._client(), self.num_workers()
        own = client is None
        if own:
            client = needed("distributed", "dask").Client(
                n_workers=workers,
                threads_per_worker=1,
                dashboard_address=None,
                set_as_default=False,
            )
        return DaskEngine(client, workers, own, self.kwargs.get("compute_kwargs") or {})
