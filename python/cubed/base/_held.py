"""Counts the memory of libraries that tasks need, and of the package, as memory for code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from cubed import _core


def note_package() -> None:
    """Counts the memory of Python and the package directly after the import, when no data exist."""
    _core.code_count(0, 0)


@contextmanager
def counting_imports() -> Iterator[None]:
    """Counts the memory that imports within the block allocate."""
    before = _core.resident_kinds()
    try:
        yield
    finally:
        _core.code_count(*before)


def import_counted(name: str) -> Any:
    """Imports a library that tasks call, before any task."""
    with counting_imports():
        return import_module(name)


_unused = 0


def note_unused(size: int) -> None:
    """Records bytes of private memory that a library has mapped but not used."""
    global _unused
    _unused += size


def held_privately() -> int:
    """Returns the bytes of private memory of this process, without those of :func:`note_unused`."""
    return max(0, _core.private_mem() - _unused)
