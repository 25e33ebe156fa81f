"""Recreates arrays for another `allowed_mem`, for the advice of refusals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from cubed import _core

if TYPE_CHECKING:
    from cubed.spec import Spec

    _Call = tuple[Any, tuple[Any, ...], dict[str, Any] | None]


def again(
    targets: tuple[tuple[_core.Array, Any], ...], spec: Spec
) -> Callable[[int], tuple[_core.Array, ...]] | None:
    """Returns a function of an `allowed_mem`, or None if the arrays do not depend on it."""
    arrays = tuple(x for x, _ in targets)
    for x in arrays:
        if _core.recipe(x) is not None:
            break
    else:
        return None

    def remake(allowed_mem: int) -> tuple[_core.Array, ...]:
        reserved = spec.reserve
        if spec.reserves_a_quarter:
            reserved = min(reserved, allowed_mem // 4)
        return _Remake(_core.TaskMem(max(1, allowed_mem - reserved))).arrays(arrays)

    return remake


class _Remake:
    """Repeats calls, each once, with another TaskMem."""

    def __init__(self, task_mem: _core.TaskMem) -> None:
        self._task_mem = task_mem
        self._made: dict[int, Any] = {}  # by the identity of the call, which its arrays keep

    def arrays(self, arrays: tuple[_core.Array, ...]) -> tuple[_core.Array, ...]:
        waiting = list(_calls(arrays))
        while waiting:  # chains may be longer than Python's stack
            call = waiting[-1]
            function, args, kwargs = call
            before = [c for c in _calls((args, kwargs)) if id(c) not in self._made]
            if before and id(call) not in self._made:
                waiting.extend(before)
                continue
            waiting.pop()
            if id(call) not in self._made:
                self._made[id(call)] = function(*self._put(args), **self._put(kwargs or {}))
        return self._put(arrays)

    def _put(self, value: Any) -> Any:
        if isinstance(value, _core.TaskMem):
            return self._task_mem
        if isinstance(value, _core.Array):
            found = _core.recipe(value)
            if found is None:
                return value
            made = self._made[id(found[0])]
            return made if found[1] < 0 else made[found[1]]
        if type(value) in (tuple, list):
            return type(value)(self._put(v) for v in value)
        if type(value) is dict:
            return {k: self._put(v) for k, v in value.items()}
        return value


def _calls(value: Any) -> Iterator[_Call]:
    if isinstance(value, _core.Array):
        found = _core.recipe(value)
        if found is not None:
            yield found[0]
    elif type(value) in (tuple, list):
        for v in value:
            yield from _calls(v)
    elif type(value) is dict:
        yield from _calls(list(value.values()))
