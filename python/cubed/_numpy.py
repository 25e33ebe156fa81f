"""NumPy's functions of lazy arrays, which are lazy, too."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from cubed._array import Array

#: NumPy's names that the namespace has by another name.
_NAMES = {
    "absolute": "abs",
    "fabs": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "conjugate": "conj",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "right_shift": "bitwise_right_shift",
    "power": "pow",
    "float_power": "pow",
    "true_divide": "divide",
    "concatenate": "concat",
    "amax": "max",
    "amin": "min",
    "rint": "round",
}


def _ours(name: str) -> Callable[..., Any] | None:
    import cubed

    name = _NAMES.get(name, name)
    found = getattr(cubed.array_api, name, None) or getattr(cubed, name, None)
    return found if callable(found) else None


def call_ufunc(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """ufunc(*args), lazily; NotImplemented for one that the namespace does not have."""
    func = _ours(ufunc.__name__)
    if method != "__call__" or func is None or kwargs.get("out") is not None:
        return NotImplemented
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        return NotImplemented
    if dtype is not None:
        args = tuple(a.astype(dtype) if isinstance(a, (Array, np.ndarray)) else a for a in args)
    return func(*args)


#: NumPy's functions of what an array knows without its values.
_ATTRIBUTES = ("ndim", "shape", "size")


def call_function(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """func(*args), lazily; with a warning of computed values for one that the namespace lacks."""
    if func.__name__ in _ATTRIBUTES and len(args) == 1:
        return getattr(args[0], func.__name__)
    ours = _ours(func.__name__) if func.__module__ == "numpy" else None
    if ours is not None:
        return ours(*args, **kwargs)
    warnings.warn(
        f"{func.__module__}.{func.__name__} of a lazy array: its values are computed into memory",
        stacklevel=3,
    )
    return func(*_values(args), **{k: _values(v) for k, v in kwargs.items()})


def _values(value: Any) -> Any:
    if isinstance(value, Array):
        return value.compute()
    if type(value) in (list, tuple):
        return type(value)(_values(v) for v in value)
    return value
