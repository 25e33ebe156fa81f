"""Finds computations in lazy code."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_refused: ContextVar[bool] = ContextVar("cubed_computing_is_refused", default=False)


@contextmanager
def raise_if_computes() -> Iterator[None]:
    """Raises an error if something computes in the block, in this thread; lazy arrays are allowed.

    Returns
    -------
    context manager
        Computations in its block raise an error.

    Raises
    ------
    RuntimeError
        If something computes: ``compute``, ``store``, ``bool(x)``, masks, conversions to NumPy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.ones(3)
    >>> with cubed.raise_if_computes():
    ...     y = x + 1  # lazy: nothing is computed
    ...
    """
    token = _refused.set(True)
    try:
        yield
    finally:
        _refused.reset(token)


@contextmanager
def in_memory() -> Iterator[None]:
    """Allows computations in the block. Used for elements that are in memory, such as those of
    labels."""
    token = _refused.set(False)
    try:
        yield
    finally:
        _refused.reset(token)


def check_may_compute() -> None:
    """Raises an error within :func:`raise_if_computes`."""
    if _refused.get():
        raise RuntimeError("something computes within cubed.raise_if_computes()")
