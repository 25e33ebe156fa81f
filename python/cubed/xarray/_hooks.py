"""Replaces Xarray functions for objects that hold lazy Cubed arrays, and only for these."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import xarray
from xarray import DataArray, Dataset, DataTree, NamedArray

from cubed.array._array import Array
from cubed.base._warnings import warn


@dataclass(frozen=True)
class Hook:
    """A function of another package, and its replacement for calls with lazy arrays.

    Parameters
    ----------
    where
        Modules, separated by blanks. Each version of the package has the function in one of them,
        the newest version in the first.
    name
        Name of the function in the module, or of a class and its method: ``"Dataset.chunk"``.
    ours
        Called as ``ours(theirs, *args, **kwargs)``. Returns the result, or ``NotImplemented`` to
        call the original function, or :class:`Arguments` to call it with these.
    purpose
        Name of the feature in messages for users.
    public
        Public functions of :mod:`xarray` that depend on the function. They warn if a version of the
        package does not have it, because they may then compute lazy arrays.
    """

    where: str
    name: str
    ours: Callable[..., Any]
    purpose: str
    public: tuple[str, ...] = ()


class Arguments:
    """Arguments for the original function, which is called with them if a replacement returns
    them."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs


def install(hooks: Iterable[Hook]) -> None:
    """Installs the hooks that are not installed yet.

    Hooks of packages that are not imported are skipped. A missing function does not affect other
    hooks.
    """
    for hook in hooks:
        if hook.where.partition(".")[0] not in sys.modules:
            continue
        for module in hook.where.split():
            if _replace(module, hook.name, _replacement, hook):
                break
        else:
            for name in hook.public:
                _replace("xarray", name, _guard, hook)


def is_involved(value: Any) -> bool:
    """Returns whether an argument is a lazy Cubed array, or holds one."""
    if isinstance(value, Array):
        return True
    if isinstance(value, NamedArray):
        return isinstance(value._data, Array)
    if isinstance(value, DataArray):
        return is_involved(value.variable) or any(map(is_involved, value._coords.values()))
    if isinstance(value, DataTree):
        return any(is_involved(node.dataset) for node in value.subtree)
    if isinstance(value, Dataset):
        return any(map(is_involved, value._variables.values()))
    if isinstance(value, (list, tuple)):
        return any(map(is_involved, value))
    if isinstance(value, dict):
        return any(map(is_involved, value.values()))
    if not any(c.__module__.startswith("xarray.") for c in type(value).__mro__):
        return False
    # Wrappers of arrays, windows, weights and groups.
    parts = (getattr(value, name, None) for name in ("array", "obj", "_obj", "weights", "group"))
    return any(map(is_involved, parts)) or is_involved(getattr(value, "groupers", ()))


def _replace(module: str, name: str, make: Callable[..., Any], hook: Hook) -> bool:
    """Replaces a function. Returns False if the module does not have it."""
    *path, last = name.split(".")
    try:
        owner: Any = importlib.import_module(module)
        for part in path:
            owner = getattr(owner, part)
        theirs = getattr(owner, last)
    except (AttributeError, ImportError):
        return False
    if not inspect.isfunction(theirs):
        return False
    if not hasattr(theirs, "_cubed_hook"):
        # If several modules import a function, they all get the same replacement.
        key = (theirs, make, hook.ours)
        if key not in _made:
            _made[key] = _in_xarrays_folder(make(theirs, hook))
            _made[key]._cubed_hook = hook  # type: ignore[attr-defined]
        setattr(owner, last, _made[key])
    return True


_made: dict[tuple[Any, ...], Callable[..., Any]] = {}


def _in_xarrays_folder(function: Any) -> Callable[..., Any]:
    """Moves a function to Xarray's folder.

    Warnings of Xarray name the first line of the call stack that is outside of this folder.
    """
    file = str(Path(xarray.__file__).parent / "hooked by cubed.xarray")
    function.__code__ = function.__code__.replace(co_filename=file)
    return function


def _replacement(theirs: Callable[..., Any], hook: Hook) -> Callable[..., Any]:
    signature = inspect.signature(hook.ours)

    @wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        if not is_involved(args) and not is_involved(kwargs):
            return theirs(*args, **kwargs)
        _check(signature, theirs, args, kwargs, hook)
        out = hook.ours(theirs, *args, **kwargs)
        if isinstance(out, Arguments):
            return theirs(*out.args, **out.kwargs)
        return theirs(*args, **kwargs) if out is NotImplemented else out

    return function


def _check(
    signature: inspect.Signature, theirs: Callable[..., Any], args: Any, kwargs: Any, hook: Hook
) -> None:
    """Raises NotImplementedError if the replacement lacks a parameter that the caller passes."""
    try:
        signature.bind(theirs, *args, **kwargs)
    except TypeError as e:
        # Raises TypeError if the arguments are invalid.
        inspect.signature(theirs).bind(*args, **kwargs)
        raise NotImplementedError(
            f"{hook.purpose} of lazy arrays: Xarray {xarray.__version__} calls {hook.name} with"
            f" arguments that Cubed does not support: {e}; compute them first"
        ) from e


def _guard(theirs: Callable[..., Any], hook: Hook) -> Callable[..., Any]:
    @wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        if is_involved(args) or is_involved(kwargs):
            warn(
                f"{hook.purpose} of lazy arrays may compute them, or fail: Xarray"
                f" {xarray.__version__} has no {hook.name} in {hook.where.split()[0]}, which"
                " Cubed replaces for lazy arrays"
            )
        return theirs(*args, **kwargs)

    return function
