"""Executors by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cubed.runtime.executors.local import (
    LocalExecutor,
    ProcessesExecutor,
    SingleThreadedExecutor,
    ThreadsExecutor,
)
from cubed.spec import Spec

_local = {
    "single-threaded": SingleThreadedExecutor,
    "threads": ThreadsExecutor,
    "processes": ProcessesExecutor,
}


def create_executor(name: str, executor_options: Mapping[str, Any] | None = None) -> LocalExecutor:
    """The executor of that name: ``"single-threaded"``, ``"threads"`` or ``"processes"``."""
    if name not in _local:
        raise ValueError(f"there is no executor {name!r}, expected one of {', '.join(_local)}")
    return _local[name](**(executor_options or {}))


def executor_for(executor: Any, spec: Spec | None, options: Mapping[str, Any]) -> LocalExecutor:
    """The executor of a computation: the caller's, the spec's, or the configured one."""
    if executor is None and spec is not None:
        executor = spec.executor if spec.executor is not None else spec.executor_name
        options = {**(spec.executor_options or {}), **options}
    if executor is None:
        from cubed.config import config

        executor = config.get("spec.executor_name")
        options = {**config.get("spec.executor_options", {}), **options}
    if isinstance(executor, str):
        return create_executor(executor, options)
    if not isinstance(executor, LocalExecutor):
        raise TypeError(f"executor {executor!r} is neither a name nor an executor of cubed")
    return executor.with_options(options) if options else executor
