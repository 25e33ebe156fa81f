"""Modules that are import paths only: of names that other modules have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def names_of(module: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module whose names lie above it, in `places`, and are looked up when
    they are asked for.
    """

    def find(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        return getattr(import_module(places[name]), name)

    return find
