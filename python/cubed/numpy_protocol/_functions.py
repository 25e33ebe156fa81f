"""NumPy's functions for lazy arrays; the results are lazy."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from cubed import array_api as xp
from cubed.array._array import Array
from cubed.array._neighbours import ask_function, is_foreign
from cubed.array._operands import normalize_axes, to_numpy
from cubed.array_api import writing_functions
from cubed.base._types import NDArray
from cubed.base._warnings import warn
from cubed.blocks._apply import map_blocks
from cubed.io._create import as_lazy
from cubed.numpy_protocol import _sparse
from cubed.numpy_protocol._names import ours
from cubed.numpy_protocol._ufuncs import NO_VALUE

#: Maps NumPy functions that write into their first argument to the functions of this package.
WRITERS: dict[Any, Callable[..., None]] = {
    getattr(np, name): getattr(writing_functions, name) for name in writing_functions.__all__
}

#: Parameters of NumPy's functions that do not change results here.
_HINTS = {"assume_unique", "hermitian", "kind", "optimize", "overwrite_input", "stable", "subok"}


def _array_equal(x1: Any, x2: Any, equal_nan: bool = False) -> bool:
    a: Any
    b: Any
    a, b = (v if isinstance(v, Array) else to_numpy(v) for v in (x1, x2))
    if a.shape != b.shape:
        return False
    same: Any = a == b
    if equal_nan:  # separately, so integers are not cast to floats
        same = xp.logical_or(same, xp.logical_and(xp.isnan(a), xp.isnan(b)))
    return bool(xp.all(same))


def _clip(
    x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Array:
    return xp.clip(x, a_min if min is None else min, a_max if max is None else max)


def _concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Array:
    parts = [as_lazy(a) for a in arrays]
    return xp.concat([a if dtype is None else a.astype(dtype) for a in parts], axis=axis)


def _copy(a: Array, order: str = "K", subok: bool = False) -> Array:
    return a.copy()


def _size(x: Array, axis: Any = None) -> int:
    return math.prod(x.shape[a] for a in normalize_axes("size", axis, x.ndim))


def _sort(x: Array, axis: int | None = -1) -> Array:
    return xp.sort(xp.ravel(x), axis=0) if axis is None else xp.sort(x, axis=axis)


def _argsort(x: Array, axis: int | None = -1) -> Array:
    return xp.argsort(xp.ravel(x), axis=0) if axis is None else xp.argsort(x, axis=axis)


def _tensordot(x1: Any, x2: Any, axes: Any = 2) -> Array:
    return xp.tensordot(x1, x2, axes=axes)


def _where(condition: Any, *choices: Any) -> Any:
    return xp.where(condition, *choices) if choices else xp.nonzero(condition)


def _tile(x: Any, reps: Any) -> Array:
    return xp.tile(x, (reps,) if np.ndim(reps) == 0 else tuple(reps))


def _i0(x: Array) -> Array:
    """Applies numpy.i0, which is not a ufunc, to each block.

    numpy.i0 allocates up to eleven copies of a block.
    """
    dtype = np.i0(np.ones(1, x.dtype)).dtype
    copies = 12 * dtype.itemsize * math.prod(x.chunksize)
    return map_blocks(np.i0, x, dtype=dtype, extra_projected_mem=copies)


#: Functions whose parameters differ from ours, or that return properties of arrays.
_ADAPTED: dict[Callable[..., Any], Callable[..., Any]] = {
    np.argsort: _argsort,
    np.array_equal: _array_equal,
    np.clip: _clip,
    np.concatenate: _concatenate,
    np.copy: _copy,
    np.i0: _i0,
    np.iscomplexobj: lambda x: x.dtype.kind == "c",
    np.isrealobj: lambda x: x.dtype.kind != "c",
    np.may_share_memory: lambda a, b, max_work=None: False,
    np.ndim: lambda x: x.ndim,
    np.shape: lambda x: x.shape,
    np.shares_memory: lambda a, b, max_work=None: False,
    np.size: _size,
    np.sort: _sort,
    np.tensordot: _tensordot,
    np.tile: _tile,
    np.where: _where,
}


#: Functions that use only shapes and types.
_OF_NO_VALUES = {
    np.common_type,
    np.diag_indices_from,
    np.einsum_path,
    np.tril_indices_from,
    np.triu_indices_from,
}


def call_function(func: Callable[..., Any], types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Calls a NumPy function lazily.

    If the namespace lacks the function or one of its parameters, values are computed, with a
    warning. If an argument is an array of another library, that library computes the result, or
    TypeError is raised.
    """
    if any(is_foreign(t) for t in types):
        if func is np.tensordot:
            result = _sparse.tensordot(*args, **kwargs)
            if result is not NotImplemented:
                return result
        return ask_function(func, types, args, kwargs)
    if func in WRITERS:
        target = _written(WRITERS[func], args, kwargs)
        if isinstance(target, Array):
            return WRITERS[func](*args, **kwargs)
    elif ("out" in kwargs or any(isinstance(a, Array) for a in args[1:])) and isinstance(
        _written(func, args, kwargs, "out"), Array
    ):
        name = f"{func.__module__}.{func.__name__}"
        raise TypeError(f"{name} cannot write to out=, a lazy array: x[...] = {name}(...) can")
    mine = _ADAPTED.get(func) or ours(func.__name__, func.__module__)
    if mine is not None and func not in WRITERS:
        given = _translate(func, mine, args, kwargs)
        if given is not None:
            return mine(*given[0], **given[1])
    if func in _OF_NO_VALUES:
        return func(*_replaced(_stand_in, args), **_replaced(_stand_in, kwargs))
    warn(f"{func.__module__}.{func.__name__} of a lazy array: its values are computed into memory")
    compute = operator.methodcaller("compute")
    return func(*_replaced(compute, args), **_replaced(compute, kwargs))


def _written(func: Any, args: Any, kwargs: dict[str, Any], name: str | None = None) -> Any:
    """Returns the argument of a name, or the first argument; None if the call has neither."""
    signature = _signature(func)
    if signature is None:
        return kwargs.get(name) if name is not None else None
    given = signature.bind(*args, **kwargs).arguments
    return given.get(next(iter(signature.parameters)) if name is None else name)


#: Parameters of NumPy's C functions, which have no signature in Python.
_OF_C: dict[Callable[..., Any], Callable[..., Any]] = {
    np.bincount: lambda x, /, weights=None, minlength=0: None,
    np.can_cast: lambda from_, to, casting="safe": None,
    np.concatenate: lambda arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind": None,
    np.dot: lambda a, b, out=None: None,
    np.empty_like: lambda prototype,
    /,
    dtype=None,
    order="K",
    subok=True,
    shape=None,
    *,
    device=None: None,
    np.unravel_index: lambda indices, shape, order="C": None,
}


@functools.cache
def _signature(func: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(func)
    except ValueError:
        return inspect.signature(_OF_C[func]) if func in _OF_C else None


def _is_default(name: str, value: Any, default: Any) -> bool:
    """Whether an argument has the same effect as omitting it."""
    if name == "where":
        return value is True
    if name == "order":  # memory layouts, which lazy arrays do not have
        return value == default or (value in ("C", "K", "A") and default in ("C", "K", "A"))
    return value is default or (isinstance(value, (bool, int, str)) and value == default)


def _translate(
    theirs: Callable[..., Any], ours: Callable[..., Any], args: Any, kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """Converts arguments of NumPy's function to keyword arguments of this package's function.

    Arguments equal to NumPy's default are dropped if our function lacks the parameter. Returns None
    if it lacks the parameter of any other argument.
    """
    signature, target = _signature(theirs), _signature(ours)
    if signature is None or target is None:
        return list(args), kwargs
    bound = signature.bind(*args, **kwargs)
    first = [p for p in target.parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    needed = [p for p in first if p.default is inspect._empty]
    rest = any(p.kind is p.VAR_POSITIONAL for p in target.parameters.values())
    in_front, named = [], {}
    for k, (name, value) in enumerate(bound.arguments.items()):
        p = signature.parameters[name]
        required = k < len(first) and first[k].default is inspect._empty
        if value is NO_VALUE or (not required and _is_default(name, value, p.default)):
            continue
        if p.kind is p.VAR_POSITIONAL:
            in_front += value
        elif p.kind is p.VAR_KEYWORD:
            named.update(value)
        elif k == len(in_front) and (needed[k : k + 1] or (p.kind is p.POSITIONAL_ONLY and rest)):
            in_front.append(value)
        elif name in target.parameters:
            named[name] = value
        elif name not in _HINTS:
            return None
    return in_front, named


def _stand_in(x: Array) -> NDArray:
    """Returns a NumPy array with the shape and type of x whose elements use no memory."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def _replaced(make: Callable[[Array], Any], value: Any) -> Any:
    """Replaces lazy arrays in a value by the results of a function, also in lists and
    dictionaries."""
    if isinstance(value, Array):
        return make(value)
    if type(value) in (list, tuple):
        return type(value)(_replaced(make, v) for v in value)
    if type(value) is dict:
        return {k: _replaced(make, v) for k, v in value.items()}
    return value
