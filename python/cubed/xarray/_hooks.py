"""How functions of Xarray are replaced for objects that hold lazy arrays, and for no others."""

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
    """A function that is replaced where arguments hold a lazy array.

    Parameters
    ----------
    where
        Modules, separated by blanks: versions have it in one of them, the newest in the first.
    name
        Of the function there, or of a class and its method.
    ours
        ``ours(theirs, *args, **kwargs)``, which gives the result, ``NotImplemented`` for that of
        Xarray's own function, or :class:`Arguments` with which that is to be called.
    purpose
        What it is for, as users say it.
    public
        Functions of :mod:`xarray` that warn if a version has none of that name: they would compute.
    """

    where: str
    name: str
    ours: Callable[..., Any]
    purpose: str
    public: tuple[str, ...] = ()


class Arguments:
    """With what Xarray's own function is to be called."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.args, self.kwargs = args, kwargs


def install(hooks: Iterable[Hook]) -> None:
    """Puts hooks in place, each by itself, if they are not there yet.

    Those of packages that nobody has imported are left out.
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
    """Whether an argument is a lazy array of Cubed, or holds one."""
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
    """Whether there is such a name, which then is replaced."""
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
        # A name that other modules import is one function in all of them.
        key = (theirs, make, hook.ours)
        if key not in _made:
            _made[key] = _in_xarrays_folder(make(theirs, hook))
            _made[key]._cubed_hook = hook  # type: ignore[attr-defined]
        setattr(owner, last, _made[key])
    return True


_made: dict[tuple[Any, ...], Callable[..., Any]] = {}


def _in_xarrays_folder(function: Any) -> Callable[..., Any]:
    """The function as one of Xarray's, whose warnings look for the first line that is not there."""
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
    """That a replacement has the parameters that its caller gives."""
    try:
        signature.bind(theirs, *args, **kwargs)
    except TypeError as e:
        inspect.signature(theirs).bind(*args, **kwargs)  # the caller's mistake
        raise NotImplementedError(
            f"{hook.purpose} of lazy arrays: Xarray {xarray.__version__} calls {hook.name} in a way"
            f" that Cubed does not know: {e}; compute them first"
        ) from e


def _guard(theirs: Callable[..., Any], hook: Hook) -> Callable[..., Any]:
    @wraps(theirs)
    def function(*args: Any, **kwargs: Any) -> Any:
        if is_involved(args) or is_involved(kwargs):
            warn(
                f"{hook.purpose} of lazy arrays may compute them, or fail: Xarray"
                f" {xarray.__version__} has no {hook.name} in {hook.where.split()[0]}, by which"
                " Cubed knows of them"
            )
        return theirs(*args, **kwargs)

    return function
