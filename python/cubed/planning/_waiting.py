"""Arrays with pending writes, which are written when arrays that depend on them are computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array


class Waiting:
    """The object by which an array of the engine refers to a pending write on which it depends."""

    __slots__ = ("stored",)

    def __init__(self, stored: Any) -> None:
        self.stored = stored


def held_by(x: _core.Array) -> Iterable[Any]:
    """Returns the pending writes of the arrays that x depends on."""
    parts = list(x.held)
    while parts:
        part = parts.pop()
        if isinstance(part, Waiting):
            yield part.stored
        elif isinstance(part, tuple):
            parts += part


def lazy_writes(arrays: Sequence[Array]) -> list[Any]:
    """Returns the pending writes that computing the arrays executes: writes of the arrays and of
    their sources, unless these have been written before.
    """
    for a in arrays:
        if a._stored is not None or a._x.held:
            break
    else:
        return []
    own = [a._stored for a in arrays if a._stored is not None]
    found = {id(s): s for a in arrays for s in held_by(a._x)}
    for s in own:
        found.pop(id(s), None)
    return own + [s for s in found.values() if not s.done]
