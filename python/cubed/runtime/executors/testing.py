"""An executor for tests."""

from __future__ import annotations

from cubed.runtime.executors.base import Engine
from cubed.runtime.executors.local import SingleThreadedExecutor


class RaiseIfComputesExecutor(SingleThreadedExecutor):
    """An executor for which plans can be created, but which raises RuntimeError if they are run."""

    def connect(self) -> Engine | None:
        """Raises RuntimeError."""
        raise RuntimeError("something computes with a RaiseIfComputesExecutor")
