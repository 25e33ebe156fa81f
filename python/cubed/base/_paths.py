"""Modules that are only import paths for names of other modules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_of(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Returns the ``__getattr__`` of a module that re-exports names.

    `places` maps names to the modules that contain them. A name is looked up when it is used.
    """

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    return find
