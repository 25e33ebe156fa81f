"""An executor for tests."""

from __future__ import annotations

from cubed.runtime.executors.base import Engine
from cubed.runtime.executors.local import SingleThreadedExecutor


class RaiseIfComputesExecutor(SingleThreadedExecutor):
    """Raises RuntimeError if something is computed; plans can be made for it."""

    def connect(self) -> Engine | None:
        """Raises RuntimeError."""
        raise RuntimeError("something computes with a RaiseIfComputesExecutor")
