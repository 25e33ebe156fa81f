"""AWS Lambda: native workers, which the C library invokes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cubed.base._remote import set_service_options
from cubed.runtime.executors.base import Executor


class LambdaExecutor(Executor):
    """Runs each range of tasks as an invocation of an AWS Lambda function, whose runtime is the
    command: ``cubed lambda-package`` creates its code.

    These workers have no Python, and refuse plans with Python functions. Such plans need
    workers from the container image ``packaging/lambda/Containerfile``.

    Parameters
    ----------
    function
        The function's name, ``NAME:QUALIFIER``, or ARN.
    max_workers
        Concurrent invocations; default: 1,000, the default limit of an account.
    retries
        As for other executors.
    storage_options
        Options of the service, like those of stores in S3: ``region``, ``key``, ``secret``,
        ``endpoint_url``, ...; default: the environment and AWS's files.
    **kwargs
        As for other executors.
    """

    name = "lambda"
    _accepted: ClassVar[frozenset[str]] = Executor._accepted | {"function", "storage_options"}

    def __init__(
        self,
        max_workers: int | None = None,
        retries: int = 2,
        *,
        function: str = "",
        storage_options: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(function, str) or not function:
            raise TypeError(f"function is {function!r}, expected the name of one of AWS Lambda")
        super().__init__(
            max_workers, retries, function=function, storage_options=storage_options, **kwargs
        )

    def num_workers(self) -> int:
        """Returns the requested number of workers, or the maximum."""
        return self.max_workers or self.capabilities["max_workers"]

    @property
    def address(self) -> str:
        """``lambda:FUNCTION``."""
        return f"{self.name}:{self.kwargs['function']}"

    def connect(self) -> None:
        """Sets the engine's options for the service."""
        set_service_options(f"lambda://{self.kwargs['function']}", self.kwargs["storage_options"])
