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


#: Reductions that ufuncs are, over their first axis unless another one is given.
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}

_REDUCE_OPTIONS = {"axis", "dtype", "keepdims"}

#: Where functions of NumPy's other modules are in the namespace.
_MODULES = {
    "numpy": "",
    "numpy.linalg": "linalg",
    "numpy.fft": "fft",
    "numpy.lib.stride_tricks": "lib.stride_tricks",
}

#: Functions that arrays have as methods with NumPy's parameters, which the standard's are not.
_METHODS = ("round", "squeeze")


def _ours(name: str, module: str = "numpy") -> Callable[..., Any] | None:
    import cubed

    if module not in _MODULES:
        return None
    if module != "numpy":
        place: Any = cubed.array_api
        for part in _MODULES[module].split("."):
            place = getattr(place, part)
        return getattr(place, name, None)
    if name in _METHODS:
        return getattr(Array, name)
    name = _NAMES.get(name, name)
    found = getattr(cubed.array_api, name, None) or getattr(cubed, name, None)
    return found if callable(found) else None


def call_ufunc(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """ufunc(*args), lazily; NotImplemented for one that the namespace does not have."""
    if kwargs.get("out") is not None:
        return NotImplemented
    if method == "reduce" and ufunc.__name__ in _REDUCTIONS and set(kwargs) <= _REDUCE_OPTIONS:
        reduce = getattr(args[0], _REDUCTIONS[ufunc.__name__])
        return reduce(**{"axis": 0, **kwargs})
    func = _ours(ufunc.__name__)
    if method != "__call__" or func is None:
        return NotImplemented
    dtype = kwargs.pop("dtype", None)
    if kwargs:
        return NotImplemented
    if dtype is not None:
        args = tuple(a.astype(dtype) if isinstance(a, (Array, np.ndarray)) else a for a in args)
    return func(*args)


def _array_equal(x1: Any, x2: Any, equal_nan: bool = False) -> bool:
    from cubed.array_api import all, isclose

    a, b = (v if isinstance(v, Array) else np.asarray(v) for v in (x1, x2))
    if a.shape != b.shape:
        return False
    same = isclose(a, b, rtol=0, atol=0, equal_nan=True) if equal_nan else a == b
    return bool(all(same))


def _norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    from cubed.array_api import linalg

    if axis is None and ord is None:
        return linalg.vector_norm(x, keepdims=keepdims)
    if axis is None and x.ndim == 2:
        axis = (0, 1)
    if isinstance(axis, (tuple, list)) and len(axis) == 2:
        last = x.ndim - 2, x.ndim - 1
        if tuple(a % x.ndim for a in axis) != last:
            raise NotImplementedError(f"norm: matrices on axes {axis}, expected the last two")
        return linalg.matrix_norm(x, ord="fro" if ord is None else ord, keepdims=keepdims)
    return linalg.vector_norm(x, ord=2 if ord is None else ord, axis=axis, keepdims=keepdims)


def _tensordot(x1: Any, x2: Any, axes: Any = 2) -> Array:
    from cubed.array_api import tensordot

    return tensordot(x1, x2, axes=axes)


def _tile(x: Any, reps: Any) -> Array:
    from cubed.array_api import tile

    return tile(x, (reps,) if np.ndim(reps) == 0 else tuple(reps))


#: Functions whose parameters are not those of ours, or that ask about arrays.
_ADAPTED: dict[Callable[..., Any], Callable[..., Any]] = {
    np.array_equal: _array_equal,
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.linalg.norm: _norm,
    np.may_share_memory: lambda a, b, max_work=None: False,
    np.shares_memory: lambda a, b, max_work=None: False,
    np.tensordot: _tensordot,
    np.tile: _tile,
}

#: NumPy's functions of what an array knows without its values.
_ATTRIBUTES = ("ndim", "shape", "size")


def call_function(func: Callable[..., Any], args: Any, kwargs: dict[str, Any]) -> Any:
    """func(*args), lazily; with a warning of computed values for one that the namespace lacks."""
    if func.__name__ in _ATTRIBUTES and len(args) == 1:
        return getattr(args[0], func.__name__)
    ours = _ADAPTED.get(func) or _ours(func.__name__, func.__module__)
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
