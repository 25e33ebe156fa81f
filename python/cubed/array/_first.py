"""Numbers that a function computes before it returns lazy results, whose shapes depend on these
numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any, ParamSpec, TypeVar

from cubed.array import _above
from cubed.array._base import Array
from cubed.exceptions import _OF_NUMBERS, _OF_RESULT, PlanTooLargeError

_P = ParamSpec("_P")
_R = TypeVar("_R")


class _Call:
    """The state of one call of a function with the decorator computes_first.

    Such a function immediately computes small arrays, because the shapes of its results depend on
    the values.
    """

    def __init__(self) -> None:
        #: Numbers that were computed, in order.
        self.computed: list[tuple[Any, ...]] = []
        #: In a call that only makes plans, the arrays whose elements would have been computed; None
        #: in other calls.
        self.skipped: list[tuple[Array, ...]] | None = None
        #: Whether results may be larger than planned, because the plan used guesses of sizes that
        #: depend on elements.
        self.is_guessed = False

    def compute(self, arrays: Sequence[Array], guesses: Sequence[Any]) -> tuple[Any, ...]:
        if self.skipped is None:
            self.computed.append(tuple(_above.compute(*arrays)))
            return self.computed[-1]
        self.skipped.append(tuple(arrays))
        n = len(self.skipped)
        if n <= len(self.computed):
            return self.computed[n - 1]
        self.is_guessed = self.is_guessed or any(g is not None for g in guesses)
        return tuple(guesses)


_current: ContextVar[_Call | None] = ContextVar("_current", default=None)


def computed_first(arrays: Sequence[Array], guesses: Sequence[Any]) -> tuple[Any, ...]:
    """Computes the elements of arrays immediately.

    In a call that only makes plans, returns the numbers that the first call computed, and guesses
    for all others. Callers that plan for the largest possible result pass None as the guess.
    """
    call = _current.get()
    return tuple(_above.compute(*arrays)) if call is None else call.compute(arrays, guesses)


def numbers_before() -> list[tuple[Any, ...]] | None:
    """Returns, in a call that only makes plans, the numbers that the refused call computed;
    otherwise None."""
    call = _current.get()
    return None if call is None or call.skipped is None else call.computed


def computes_first(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorates a function that computes numbers: if a plan is refused, the advice holds for all
    plans of the function.

    If a plan is refused, the function is called a second time. This call only makes plans, and
    guesses the numbers that have not been computed. The plans for the numbers and for the results
    are then checked together.
    """

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        if _current.get() is not None:  # called by another decorated function
            return function(*args, **kwargs)
        state = _Call()
        token = _current.set(state)
        try:
            return function(*args, **kwargs)
        except PlanTooLargeError as refused:
            worst = _check_all(state, refused, lambda: function(*args, **kwargs))
            if worst is refused:
                raise
            raise worst from None
        finally:
            _current.reset(token)

    return call


def _check_all(
    state: _Call, refused: PlanTooLargeError, call: Callable[[], Any]
) -> PlanTooLargeError:
    """Returns the error for the plans of the numbers and of the results, with advice that holds for
    all of them."""
    state.skipped = []
    try:
        found = list(_arrays(call()))
    except Exception:  # the results do not fit the guesses
        return refused._say_for_what(_OF_NUMBERS)
    try:
        _above.check_each(*state.skipped, *([found] if found else []))
    except PlanTooLargeError as error:
        return error._say_for_what(_OF_NUMBERS if state.is_guessed else _OF_RESULT)
    return refused._say_for_what(_OF_NUMBERS)


def _arrays(made: Any) -> Iterable[Array]:
    """Returns the arrays of a result, which is an array, a sequence or a dictionary."""
    if isinstance(made, dict):
        made = list(made.values())
    for x in made if isinstance(made, (list, tuple)) else (made,):
        if isinstance(x, Array):
            yield x
