"""Executors by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from cubed.runtime.executors.base import Executor, needed
from cubed.spec import EXECUTORS


def create_executor(name: str, executor_options: Mapping[str, Any] | None = None) -> Executor:
    """Returns the executor of that name, such as ``"threads"``, ``"processes"`` or ``"dask"``.

    Raises
    ------
    ImportError
        If it needs an engine that is not installed.
    ValueError
        If there is no executor of that name.
    """
    if name not in EXECUTORS:
        raise ValueError(f"there is no executor {name!r}, expected one of {', '.join(EXECUTORS)}")
    made = _class_of(name)
    if made.engine is not None:
        needed(*made.engine)
    return made(**(executor_options or {}))


@cache
def _class_of(name: str) -> type[Executor]:
    module, _, kind = EXECUTORS[name].partition(":")
    found: type[Executor] = getattr(import_module(f"cubed.runtime.executors.{module}"), kind)
    return found
