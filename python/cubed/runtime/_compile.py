"""The option ``compile_function`` of computations: its results replace user-defined functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from cubed.runtime._call import repack


@dataclass(frozen=True)
class BlockwiseSpec:
    """The description of a function for a ``compile_function`` with a keyword-only `config`."""

    #: The function on blocks.
    function: Callable[..., Any]
    #: The name of the operation in plans.
    name: str


class Compiler:
    """Calls a ``compile_function`` once for each function of a plan.

    Parameters
    ----------
    function
        Called with a function; returns one that is called with the same arguments. Example:
        ``numba.njit``.
    """

    def __init__(self, function: Any) -> None:
        if not callable(function):
            raise TypeError(f"compile_function is {function!r}, expected a function or None")
        self._function = function
        self._done: dict[bytes, bytes] = {}
        try:
            config = inspect.signature(function).parameters.get("config")
        except (TypeError, ValueError):  # many functions in C have no signature
            config = None
        self._tells = config is not None and config.kind is config.KEYWORD_ONLY

    def __call__(self, params: bytes) -> bytes:
        """Compiles a packed call: see :func:`cubed.runtime._call.pack`."""
        if params not in self._done:
            self._done[params] = repack(params, self._compiled)
        return self._done[params]

    def _compiled(self, title: str, x: Any) -> Any:
        """Compiles a user-defined function, also if a function of this package wraps it."""
        if not _is_ours(x):
            more = {"config": BlockwiseSpec(x, title)} if self._tells else {}
            return self._function(x, **more)
        if not is_dataclass(x) or isinstance(x, type):
            return x
        parts = {f.name: getattr(x, f.name) for f in fields(x)}
        changed = {name: self._compiled(title, v) for name, v in parts.items() if callable(v)}
        return replace(x, **changed) if changed else x


def _is_ours(x: Any) -> bool:
    module = getattr(x, "__module__", None) or type(x).__module__
    return isinstance(x, type) or module == "cubed" or module.startswith("cubed.")
