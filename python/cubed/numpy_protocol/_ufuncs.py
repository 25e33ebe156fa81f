"""NumPy's ufuncs for lazy arrays; the results are lazy."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from cubed import array_api as xp
from cubed.array._array import Array
from cubed.array._neighbours import ask_ufunc, has_ufunc
from cubed.array._operands import normalize_axis, to_numpy
from cubed.array_api._elementwise import by_blocks
from cubed.array_api._ufunc_options import with_options
from cubed.base._dtypes import kind_of
from cubed.blocks._tree import reduction, scan
from cubed.functions.statistical import cumulative_max, cumulative_min
from cubed.io._create import as_lazy
from cubed.numpy_protocol._names import ours

#: The reduction for ``reduce`` of a ufunc, over the first axis unless another one is given.
_REDUCTIONS = {
    "add": "sum",
    "multiply": "prod",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "all",
    "logical_or": "any",
}

_REDUCE_OPTIONS = {"axis", "dtype", "keepdims", "initial", "where"}

#: Ufuncs that can be applied block by block in any order, and their neutral elements.
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

#: Functions to use in place of other methods of ufuncs.
_INSTEAD = {
    "accumulate": "cubed.core.ops.scan carries values along an axis",
    "at": "x[positions] = values replaces elements",
    "reduce": "cubed.core.ops.reduction reduces with a function",
    "reduceat": "cubed.groupby_reduce reduces groups of elements",
}

_SAME_KIND = ("casting", "same_kind")
NO_VALUE: Any = np._NoValue  # type: ignore[attr-defined]


def call_ufunc(ufunc: np.ufunc, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls a ufunc lazily: by the function of its name, otherwise block by block.

    Methods other than calls and reductions, and parameters that are not supported, raise TypeError.
    If an operand is an object of another library, such as Xarray, that library computes the result,
    as for operators.
    """
    if any(has_ufunc(type(v)) for v in (*args, *(kwargs.get("out") or ()))):
        return ask_ufunc(ufunc, method, args, kwargs)
    kwargs = {k: v for k, v in kwargs.items() if not _says_nothing(k, v)}
    result = _call_ufunc(ufunc, method, args, dict(kwargs))
    if result is NotImplemented:
        raise TypeError(_refusal(ufunc, method, kwargs))
    return result


def _says_nothing(name: str, value: Any) -> bool:
    """Returns whether a ufunc's parameter has a value that has no effect for lazy arrays."""
    if name == "where":
        return value is True or value is NO_VALUE
    if name in ("dtype", "out", "signature"):
        return value is None
    return name in ("order", "subok") or value is NO_VALUE or (name, value) == _SAME_KIND


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
    if out is not None and (method != "__call__" or ufunc.signature is not None):
        result = _call_ufunc(ufunc, method, args, kwargs)
        return result if result is NotImplemented else _into(ufunc, result, out)
    if out is not None:
        kwargs["out"] = out
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


def _into(ufunc: np.ufunc, result: Any, out: tuple[Any, ...]) -> Any:
    """Writes a result to `out` of the same shape. Only elementwise calls broadcast to `out`."""
    shapes = [x.shape for x in (result, *out) if isinstance(x, Array)]
    if len(set(shapes)) > 1:
        raise ValueError(f"{ufunc.__name__}: the result has shape {shapes[0]}, out {shapes[1]}")
    return with_options(ufunc, lambda: result, (), out)


def _elements(ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    func = ours(ufunc.__name__) if _is_numpys(ufunc) else None
    if ufunc.signature is not None:  # such as matmul
        return NotImplemented if func is None or kwargs else func(*args)
    if set(kwargs) - {"dtype", "out", "where"}:
        return NotImplemented
    function = functools.partial(by_blocks, ufunc) if func is None else func
    return with_options(ufunc, function, args, **kwargs)


def _is_numpys(ufunc: np.ufunc) -> bool:
    return getattr(np, ufunc.__name__, None) is ufunc


def _outer(ufunc: np.ufunc, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Applies a ufunc to all pairs of elements of two arrays."""
    x, y = (as_lazy(a) for a in args)
    wide = xp.expand_dims(x, tuple(range(x.ndim, x.ndim + y.ndim))) if y.ndim else x
    return _elements(ufunc, (wide, y), kwargs)


def _reduced(
    ufunc: np.ufunc, array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    if not _is_numpys(ufunc):
        return NotImplemented
    x, name = as_lazy(array), ufunc.__name__
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
    return reduction(x, ufunc.reduce, axis=axis, keepdims=keepdims)


def _running_extreme(x: Array, axis: int, largest: bool) -> Array:
    return (cumulative_max if largest else cumulative_min)(x, axis)


def _accumulated(ufunc: np.ufunc, array: Any, axis: int = 0, dtype: Any = None) -> Any:
    x, name = as_lazy(array), ufunc.__name__
    if not _is_numpys(ufunc):
        return NotImplemented
    if x.ndim == 0:
        raise TypeError(f"{name}.accumulate of an array without axes")
    if name in ("add", "multiply"):
        return (xp.cumsum if name == "add" else xp.cumprod)(x, axis=axis, dtype=dtype)
    x = x if dtype is None else x.astype(dtype)
    if name in ("maximum", "minimum") and kind_of(x.dtype) in "biuf":
        return _running_extreme(x, axis, name == "maximum")
    if name in ("logical_and", "logical_or"):
        return _running_extreme(x.astype(np.bool_), axis, name == "logical_or")
    if name not in _ASSOCIATIVE:
        return NotImplemented
    ident = _ASSOCIATIVE[name]
    if name in ("fmax", "fmin") and x.dtype.kind in "biu":
        return _running_extreme(x, axis, name == "fmax")
    return scan(ufunc.accumulate, ufunc, ident, x, axis)


def _reduced_at(ufunc: np.ufunc, array: Any, indices: Any, axis: int = 0, dtype: Any = None) -> Any:
    """Reduces each part from one position to the next, or one element if the next position is not
    larger."""
    x = as_lazy(array)
    a = normalize_axis(f"{ufunc.__name__}.reduceat", axis, x.ndim)
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
