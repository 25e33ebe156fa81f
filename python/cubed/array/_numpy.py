"""NumPy's functions of lazy arrays, which are lazy, too."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from cubed.array import _above, _sparse
from cubed.array._array import Array
from cubed.array._neighbours import ask_function, ask_ufunc, has_ufunc, is_foreign
from cubed.array._operands import normalize_axes, to_numpy
from cubed.array._writes import WRITERS
from cubed.base._dtypes import kind_of
from cubed.base._types import NDArray
from cubed.base._warnings import warn

#: NumPy's names that the namespace has by another name.
_NAMES = {
    "absolute": "abs",
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
    "true_divide": "divide",
    "concatenate": "concat",
    "amax": "max",
    "amin": "min",
    "degrees": "rad2deg",
    "radians": "deg2rad",
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

_REDUCE_OPTIONS = {"axis", "dtype", "keepdims", "initial", "where"}

#: Ufuncs that may be applied in any order, block by block, and what they leave as it is.
_ASSOCIATIVE: dict[str, Any] = {
    "bitwise_and": -1,
    "bitwise_or": 0,
    "bitwise_xor": 0,
    "fmax": np.nan,
    "fmin": np.nan,
    "gcd": 0,
    "hypot": 0,
    "lcm": 1,
    "logaddexp": -np.inf,
    "logaddexp2": -np.inf,
    "logical_xor": False,
}

#: What there is instead of ufuncs' other methods.
_INSTEAD = {
    "accumulate": "cubed.core.ops.scan carries values along an axis",
    "at": "x[positions] = values replaces elements",
    "reduce": "cubed.core.ops.reduction reduces with a function",
    "reduceat": "cubed.groupby_reduce reduces groups of elements",
}

#: Where functions of NumPy's other modules are in the namespace.
_MODULES = {
    "numpy": "",
    "numpy.linalg": "linalg",
    "numpy.fft": "fft",
    "numpy.lib.stride_tricks": "lib.stride_tricks",
}

#: Functions that arrays have as methods with NumPy's parameters, which the standard's are not.
_METHODS = ("round", "squeeze", "take")

#: Functions of the package that the namespace of the standard does not have.
_ELSEWHERE = ("apply_along_axis",)

_SAME_KIND = ("casting", "same_kind")
_NO_VALUE: Any = np._NoValue  # type: ignore[attr-defined]

#: Parameters of NumPy's that change no value here, whatever they are.
_HINTS = {"assume_unique", "hermitian", "kind", "optimize", "overwrite_input", "stable", "subok"}


def _ours(name: str, module: str = "numpy") -> Callable[..., Any] | None:
    if module not in _MODULES:
        return None
    if module != "numpy":
        place: Any = _above.array_api
        for part in _MODULES[module].split("."):
            place = getattr(place, part)
        return getattr(place, name, None)
    if name in _METHODS:
        return getattr(Array, name)
    name = _NAMES.get(name, name)
    found = getattr(_above if name in _ELSEWHERE else _above.array_api, name, None)
    return found if callable(found) else None


def call_ufunc(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """ufunc(*args), lazily: by the function of its name, else block by block.

    Other methods than calls and reductions, and parameters but `dtype`, are a TypeError. With
    objects of other libraries, such as Xarray's, theirs is the result, as it is of operators.
    """
    if any(has_ufunc(type(v)) for v in (*args, *(kwargs.get("out") or ()))):
        return ask_ufunc(ufunc, method, args, kwargs)
    kwargs = {k: v for k, v in kwargs.items() if not _says_nothing(k, v)}
    result = _call_ufunc(ufunc, method, args, dict(kwargs))
    if result is NotImplemented:
        raise TypeError(_refusal(ufunc, method, kwargs))
    return result


def _says_nothing(name: str, value: Any) -> bool:
    """Whether a parameter of a ufunc changes nothing here."""
    if name == "where":
        return value is True or value is _NO_VALUE
    if name in ("dtype", "out", "signature"):
        return value is None
    return name in ("order", "subok") or value is _NO_VALUE or (name, value) == _SAME_KIND


def _refusal(ufunc: np.ufunc, method: str, kwargs: dict[str, Any]) -> str:
    name = ufunc.__name__ if method == "__call__" else f"{ufunc.__name__}.{method}"
    if kwargs.get("out") is not None:
        return (
            f"{name} of a lazy array cannot write to out=, nor to NumPy's array by an operator"
            " such as +=: use the result, or cubed.store"
        )
    known = {"__call__": {"dtype", "where"}, "reduce": _REDUCE_OPTIONS}
    unknown = sorted(set(kwargs) - known.get(method, {"axis", "dtype"}))
    if unknown:
        return f"{name} of a lazy array has no parameter {unknown[0]}"
    if method in _INSTEAD:
        return f"{name} is not defined for lazy arrays: {_INSTEAD[method]}"
    if ufunc.nout != 1 or ufunc.signature is not None:
        return f"{name} is not defined for lazy arrays: cubed.apply_gufunc calls it on blocks"
    return f"{name} is not defined for lazy arrays of these types"


def _call_ufunc(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    out = kwargs.pop("out", None)
    if out is not None:
        if len(out) != 1 or not isinstance(out[0], Array):
            return NotImplemented
        return _into(ufunc, method, out[0], args, kwargs)
    if method == "__call__":
        return _elements(ufunc, args, kwargs)
    if method == "outer" and len(args) == 2:
        return _outer(ufunc, args, kwargs)
    if method == "reduce" and set(kwargs) <= _REDUCE_OPTIONS:
        return _reduced(ufunc, *args, **kwargs)
    if method == "accumulate" and set(kwargs) <= {"axis", "dtype"}:
        return _accumulated(ufunc, *args, **kwargs)
    if method == "reduceat" and set(kwargs) <= {"axis", "dtype"}:
        return _reduced_at(ufunc, *args, **kwargs)
    return NotImplemented


def _into(
    ufunc: np.ufunc, method: str, out: Array, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """ufunc(*args, out=out): a new value behind a lazy array, the old one but `where`."""
    mask = kwargs.pop("where", True) if method == "__call__" else True
    result = _call_ufunc(ufunc, method, args, kwargs)
    if result is NotImplemented:
        return result
    name = ufunc.__name__
    if not isinstance(result, Array):
        raise TypeError(f"{name} of a lazy array has several results, out= takes one")
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(f"{name}: the result is of {result.dtype}, which out, {out.dtype}, is not")
    xp = _above.array_api
    fits = xp.broadcast_shapes(result.shape, out.shape, np.shape(mask)) == out.shape
    if not fits or (mask is True and result.shape != out.shape):
        raise ValueError(f"{name}: the result has shape {result.shape}, out {out.shape}")
    value = result.astype(out.dtype)
    if mask is not True:
        value = xp.where(_mask(name, mask), value, out)
    out._rebind(xp.broadcast_to(value, out.shape)._x)
    return out


def _mask(name: str, where: Any) -> Array:
    mask = _above.as_lazy(where)
    if mask.dtype.kind != "b":
        raise TypeError(f"{name}: where is of {mask.dtype}, expected bool")
    return mask


def _elements(ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    dtype, mask = kwargs.pop("dtype", None), kwargs.pop("where", True)
    if ufunc is np.divmod and dtype is None and mask is True and not kwargs:
        xp = _above.array_api
        return xp.floor_divide(*args), xp.remainder(*args)
    if kwargs:
        return NotImplemented
    if dtype is not None:
        args = tuple(a.astype(dtype) if isinstance(a, (Array, np.ndarray)) else a for a in args)
    func = _ours(ufunc.__name__) if _is_numpys(ufunc) else None
    result = _by_blocks(ufunc, args) if func is None else func(*args)
    if mask is True or not isinstance(result, Array):
        return result if mask is True else NotImplemented
    return _above.array_api.where(_mask(ufunc.__name__, mask), result, result.dtype.type(0))


def _is_numpys(ufunc: np.ufunc) -> bool:
    return getattr(np, ufunc.__name__, None) is ufunc


def _outer(ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """ufunc of every element of one array and every one of another."""
    x, y = (_above.as_lazy(a) for a in args)
    xp = _above.array_api
    wide = xp.expand_dims(x, tuple(range(x.ndim, x.ndim + y.ndim))) if y.ndim else x
    return _elements(ufunc, (wide, y), kwargs)


def _reduced(
    ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    if not _is_numpys(ufunc):
        return NotImplemented
    x, name = _above.as_lazy(array), ufunc.__name__
    more = {k: v for k, v in (("initial", initial), ("where", where)) if not _says_nothing(k, v)}
    if name in _REDUCTIONS:
        if initial is None:
            more.pop("initial", None)
        if dtype is not None:
            if name in ("maximum", "minimum"):
                x = x.astype(dtype)
            elif name in ("add", "multiply"):
                more["dtype"] = dtype
            elif np.dtype(dtype) != bool:
                return NotImplemented
        first = more.pop("initial", None) if name.startswith("logical") else None
        if first is not None:
            return NotImplemented
        return getattr(x, _REDUCTIONS[name])(axis=axis, keepdims=keepdims, **more)
    if name not in _ASSOCIATIVE or initial is not None or where is not True:
        return NotImplemented
    x = x if dtype is None else x.astype(dtype)
    return _above.reduction(x, ufunc.reduce, axis=axis, keepdims=keepdims)


def _accumulated(ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    x, name, xp = _above.as_lazy(array), ufunc.__name__, _above.array_api
    if not _is_numpys(ufunc):
        return NotImplemented
    if x.ndim == 0:
        raise TypeError(f"{name}.accumulate of an array without axes")
    if name in ("add", "multiply"):
        return (xp.cumsum if name == "add" else xp.cumprod)(x, axis=axis, dtype=dtype)
    x = x if dtype is None else x.astype(dtype)
    if name in ("maximum", "minimum") and kind_of(x.dtype) in "biuf":
        return xp.statistical_functions.running_extreme(x, axis, name == "maximum")
    if name in ("logical_and", "logical_or"):
        return xp.statistical_functions.running_extreme(
            x.astype(np.bool_), axis, name == "logical_or"
        )
    if name not in _ASSOCIATIVE:
        return NotImplemented
    ident = _ASSOCIATIVE[name]
    if name in ("fmax", "fmin") and x.dtype.kind in "biu":
        return xp.statistical_functions.running_extreme(x, axis, name == "fmax")
    return _above.scan(ufunc.accumulate, ufunc, ident, x, axis)


def _reduced_at(ufunc: np.ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    """A reduction of each part from one of the positions to the next; of one element, if that is
    not behind it."""
    x, xp = _above.as_lazy(array), _above.array_api
    a = _above.normalize_axis(axis, x.ndim)
    n = x.shape[a]
    at = to_numpy(indices)
    if at.ndim != 1 or (at.dtype.kind not in "iu" and at.size):
        raise TypeError(f"{ufunc.__name__}.reduceat: indices are {at!r}, expected integers")
    for k in at.tolist():
        if not 0 <= k < n:
            raise IndexError(f"{ufunc.__name__}.reduceat: index {k} is not in axis {a} of {n}")
    before, parts = (slice(None),) * a, []
    ends = [*at[1:].tolist(), n]
    for start, end in zip(at.tolist(), ends, strict=True):
        part = x[(*before, slice(start, max(end, start + 1)))]
        part = _reduced(ufunc, part, a, dtype, True)
        if part is NotImplemented:
            return part
        parts.append(part)
    if not parts:
        return _reduced(ufunc, x, a, dtype, True)[(*before, slice(0, 0))]
    return xp.concat(parts, axis=a)


def _by_blocks(ufunc: np.ufunc, args: tuple[Any, ...]) -> Any:
    if ufunc.nout != 1 or ufunc.signature is not None:
        return NotImplemented
    args = tuple(a if isinstance(a, Array) or np.isscalar(a) else to_numpy(a) for a in args)
    samples = [np.ones((), a.dtype) if isinstance(a, Array) else a for a in args]
    dtype = np.asarray(ufunc(*samples)).dtype
    return NotImplemented if dtype.kind == "O" else _above.elemwise(ufunc, *args, dtype=dtype)


def _array_equal(x1: Any, x2: Any, equal_nan: bool = False) -> bool:
    xp = _above.array_api
    a: Any
    b: Any
    a, b = (v if isinstance(v, Array) else to_numpy(v) for v in (x1, x2))
    if a.shape != b.shape:
        return False
    same: Any = a == b
    if equal_nan:  # integers are compared as such
        same = xp.logical_or(same, xp.logical_and(xp.isnan(a), xp.isnan(b)))
    return bool(xp.all(same))


def _clip(
    x: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None
) -> Array:
    return _above.array_api.clip(x, a_min if min is None else min, a_max if max is None else max)


def _concatenate(arrays: Any, axis: int | None = 0, dtype: Any = None) -> Array:
    parts = [_above.as_lazy(a) for a in arrays]
    return _above.array_api.concat(
        [a if dtype is None else a.astype(dtype) for a in parts], axis=axis
    )


def _copy(a: Array, order: str = "K", subok: bool = False) -> Array:
    return a.copy()


def _size(x: Array, axis: Any = None) -> int:
    return math.prod(x.shape[a] for a in normalize_axes(axis, x.ndim))


def _sort(x: Array, axis: int | None = -1) -> Array:
    xp = _above.array_api
    return xp.sort(xp.ravel(x), axis=0) if axis is None else xp.sort(x, axis=axis)


def _argsort(x: Array, axis: int | None = -1) -> Array:
    xp = _above.array_api
    return xp.argsort(xp.ravel(x), axis=0) if axis is None else xp.argsort(x, axis=axis)


def _tensordot(x1: Any, x2: Any, axes: Any = 2) -> Array:
    return _above.array_api.tensordot(x1, x2, axes=axes)


def _where(condition: Any, *choices: Any) -> Any:
    xp = _above.array_api
    return xp.where(condition, *choices) if choices else xp.nonzero(condition)


def _tile(x: Any, reps: Any) -> Array:
    return _above.array_api.tile(x, (reps,) if np.ndim(reps) == 0 else tuple(reps))


def _i0(x: Array) -> Array:
    """Bessel's function, which is no ufunc; NumPy's takes up to eleven copies of a block."""
    dtype = np.i0(np.ones(1, x.dtype)).dtype
    copies = 12 * dtype.itemsize * math.prod(x.chunksize)
    return _above.map_blocks(np.i0, x, dtype=dtype, extra_projected_mem=copies)


#: Functions whose parameters are not those of ours, or that ask about arrays.
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


#: Functions of shapes and types alone.
_OF_NO_VALUES = {
    np.common_type,
    np.diag_indices_from,
    np.einsum_path,
    np.tril_indices_from,
    np.triu_indices_from,
}


def call_function(func: Callable[..., Any], types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """func(*args), lazily; with a warning of computed values for one that the namespace lacks, or
    whose function there lacks a parameter.

    With arrays of other libraries theirs is the result, or a TypeError.
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
    ours = _ADAPTED.get(func) or _ours(func.__name__, func.__module__)
    if ours is not None:
        given = _translate(func, ours, args, kwargs)
        if given is not None:
            return ours(*given[0], **given[1])
    if func in _OF_NO_VALUES:
        return func(*_replaced(_stand_in, args), **_replaced(_stand_in, kwargs))
    warn(f"{func.__module__}.{func.__name__} of a lazy array: its values are computed into memory")
    compute = operator.methodcaller("compute")
    return func(*_replaced(compute, args), **_replaced(compute, kwargs))


def _written(func: Any, args: Any, kwargs: dict[str, Any], name: str | None = None) -> Any:
    """The argument of that name, or the first one, of a call; None if there is none."""
    signature = _signature(func)
    if signature is None:
        return kwargs.get(name) if name is not None else None
    given = signature.bind(*args, **kwargs).arguments
    return given.get(next(iter(signature.parameters)) if name is None else name)


#: Parameters of NumPy's functions that are written in C, where Python does not know them.
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
    """Whether an argument says no more than its absence."""
    if name == "where":
        return value is True
    if name == "order":  # of memory, which lazy arrays do not have
        return value == default or (value in ("C", "K", "A") and default in ("C", "K", "A"))
    return value is default or (isinstance(value, (bool, int, str)) and value == default)


def _translate(
    theirs: Callable[..., Any], ours: Callable[..., Any], args: Any, kwargs: dict[str, Any]
) -> tuple[list[Any], dict[str, Any]] | None:
    """Arguments of NumPy's function for ours: by name, as order and kind of parameters differ.

    What is NumPy's default need not be known to ours. None if another argument is not.
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
        if value is _NO_VALUE or (not required and _is_default(name, value, p.default)):
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
    """NumPy's array of x's shape and type, which takes no memory."""
    return np.broadcast_to(np.zeros((), x.dtype), x.shape)


def _replaced(make: Callable[[Array], Any], value: Any) -> Any:
    """A value with what is made of lazy arrays in their place, also in lists and dictionaries."""
    if isinstance(value, Array):
        return make(value)
    if type(value) in (list, tuple):
        return type(value)(_replaced(make, v) for v in value)
    if type(value) is dict:
        return {k: _replaced(make, v) for k, v in value.items()}
    return value
