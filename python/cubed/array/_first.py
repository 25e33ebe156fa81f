"""Numbers that are computed before the rest of a function, because shapes depend on them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from cubed.array import _above
from cubed.array._base import Array
from cubed.exceptions import PlanTooLargeError

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Arrays whose elements a function would have computed, while it is only planned.
_skipped: ContextVar[list[Array] | None] = ContextVar("_skipped", default=None)


def computed_first(arrays: Sequence[Array], guesses: Sequence[Any]) -> tuple[Any, ...]:
    """The elements of arrays, computed now; the guesses while a function is only planned."""
    skipped = _skipped.get()
    if skipped is None:
        return tuple(_above.compute(*arrays))
    skipped.extend(arrays)
    return tuple(guesses)


def computes_first(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorates a function that computes numbers: the advice of its refusal holds for all of it.

    A refused function is called once more without computing: its numbers are guessed. The numbers
    and the results are planned one after another, as they run, and the largest of their advices is
    that of the function.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except PlanTooLargeError as refused:
            if _skipped.get() is not None:
                raise
            worst = _largest(refused, lambda: function(*args, **kwargs))
            if worst is refused:
                raise
            raise worst from None

    return call


def _largest(refused: PlanTooLargeError, call: Callable[[], Any]) -> PlanTooLargeError:
    """The refusal that asks for most, of those of the numbers and of the results."""
    skipped: list[Array] = []
    token = _skipped.set(skipped)
    try:
        made = call()
        results = made if isinstance(made, (list, tuple)) else (made,)
        found = [x for x in results if isinstance(x, Array)]
    except Exception:  # what was guessed does not fit: the first refusal stays
        return refused
    finally:
        _skipped.reset(token)
    for together in (*([x] for x in skipped), found):
        try:
            if together:
                _above.plan(*together)
        except PlanTooLargeError as error:
            if error.enough_mem > refused.enough_mem:
                refused = error
    return refused
