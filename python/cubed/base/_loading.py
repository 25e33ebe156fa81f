"""Loads the names of a package when they are first used (PEP 562), so that its import is quick."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

from cubed import _core  # noqa: F401 - raises an error if another distribution replaced files
from cubed.base._exports import MODULES, NAMES, SUBMODULES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Any


def exports(
    package: str, hidden: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Returns ``__getattr__``, ``__dir__`` and ``__all__`` for a package.

    The names of the package are those in its block ``if TYPE_CHECKING``, from which tools/generate
    writes ``_exports.py``. A name is an attribute of the package after its first use, so it is
    looked up once.

    Parameters
    ----------
    package : str
        Name of the package.
    hidden : Collection[str]
        Names that ``__all__`` leaves out.
    """
    names, modules, submodules = NAMES[package], MODULES[package], SUBMODULES[package]
    loaded = sys.modules[package]

    def find(name: str) -> Any:
        value: Any
        if name in names:
            value = getattr(import_module(names[name]), name)
        elif name in modules:
            value = import_module(modules[name])
        elif name in submodules:
            value = import_module(f"{package}.{name}")
        else:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=loaded)
        vars(loaded)[name] = value
        return value

    def listed() -> list[str]:
        return sorted({*vars(loaded), *names, *modules, *submodules})

    return find, listed, [name for name in (*names, *modules) if name not in hidden]
