"""Coiled: the cluster of Coiled Functions, which is a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cubed.runtime import worker
from cubed.runtime.executors.base import EngineExecutor, needed
from cubed.runtime.executors.dask import DaskEngine


class CoiledEngine(DaskEngine):
    """Runs calls on the cluster of a function. Coiled ends the cluster when it is idle."""

    def __init__(self, client: Any, workers: int) -> None:
        # Coiled starts all workers only if there is work.
        super().__init__(client, workers, {})


class CoiledExecutor(EngineExecutor):
    """Runs tasks on machines that Coiled starts.

    Parameters
    ----------
    coiled_kwargs
        Arguments of ``coiled.function``, such as ``memory``, ``region`` and ``n_workers``; with
        ``local=True`` the cluster consists of processes on this machine.
    max_workers
        Concurrent tasks; default: the maximum of ``n_workers``.
    retries, **kwargs
        As for other executors.
    """

    name = "coiled"
    keeps_messages: ClassVar[str] = "Dask's scheduler"
    engine: ClassVar[tuple[str, str]] = ("coiled", "coiled")
    overhead: ClassVar[float] = 0.01
    _accepted = EngineExecutor._accepted | {"coiled_kwargs"}

    def _options(self) -> Mapping[str, Any]:
        return self.kwargs.get("coiled_kwargs") or {}

    def known_workers(self) -> int:
        """Returns the maximum number of workers."""
        asked = self._options().get("n_workers") or 1
        most = asked[-1] if isinstance(asked, (list, tuple)) else asked
        return int(most)

    def connect(self) -> CoiledEngine:
        """Returns the function's cluster, which is started if necessary."""
        function = needed("coiled", "coiled").function
        return CoiledEngine(function(**self._options())(worker.work).client, self.num_workers())
