"""Arrays that are still to be stored, which are written when what is made of them is computed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array


class Waiting:
    """What the engine's arrays hold that are made of one which is still to be stored."""

    __slots__ = ("stored",)

    def __init__(self, stored: Any) -> None:
        self.stored = stored


def held_by(x: _core.Array) -> Iterable[Any]:
    """What writes for the arrays that x is made of and that are still to be stored."""
    parts = list(x.held)
    while parts:
        part = parts.pop()
        if isinstance(part, Waiting):
            yield part.stored
        elif isinstance(part, tuple):
            parts += part


def lazy_writes(arrays: Sequence[Array]) -> list[Any]:
    """What is written when arrays are computed: those of them that are still to be stored, and
    those that they are made of, unless they have been written before."""
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
