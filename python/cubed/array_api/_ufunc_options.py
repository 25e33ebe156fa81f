"""Parameters that only NumPy's ufuncs have, not the standard's functions: out, where, dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypedDict

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import is_scalar
from cubed.array_api.searching_functions import where as choose
from cubed.base._types import DTypeLike
from cubed.functions.manipulation import broadcast_to
from cubed.io._create import as_lazy


class UfuncOptions(TypedDict, total=False):
    """Options of elementwise functions, by name."""

    #: Lazy array that gets the result, or a tuple of that array. The function returns the array.
    out: Array | tuple[Array | None, ...] | None
    #: bool array: elements to compute. Other elements keep their value in `out`, or are 0.
    where: Any
    #: Type of the result. Operands are cast to the types for which NumPy's ufunc has this result.
    dtype: DTypeLike


def with_options(
    ufunc: np.ufunc,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    out: Any = None,
    where: Any = True,
    dtype: DTypeLike = None,
) -> Any:
    """Calls `function`, the lazy function for `ufunc`, with options."""
    name = ufunc.__name__
    target = _target(name, out)
    mask = None if where is True else _mask(name, where)
    if dtype is not None:
        args = _cast_operands(ufunc, args, np.dtype(dtype))
    result = function(*args)
    if result is NotImplemented or (target is None and mask is None):
        return result
    if not isinstance(result, Array):
        raise TypeError(f"{name} has several results; out= and where= are for functions of one")
    if target is not None:
        return _write(name, result, target, mask)
    return result if mask is None else choose(mask, result, result.dtype.type(0))


def _target(name: str, out: Any) -> Array | None:
    if isinstance(out, tuple):
        if len(out) != 1:
            raise TypeError(f"{name} of a lazy array: out has {len(out)} arrays, expected one")
        (out,) = out
    if out is not None and not isinstance(out, Array):
        raise TypeError(
            f"{name} of a lazy array cannot write to out= of {type(out).__name__}, expected Array,"
            " nor to NumPy's array by an operator such as +=: use the result, or cubed.store"
        )
    return out


def _mask(name: str, where: Any) -> Array:
    mask = as_lazy(where)
    if mask.dtype.kind != "b":
        raise TypeError(f"{name}: where is of type {mask.dtype}, expected bool")
    return mask


def loop_types(ufunc: np.ufunc, *args: Any, **options: Any) -> tuple[np.dtype[Any], ...]:
    """Returns the operand and result types of the loop that NumPy uses for these operands. Python
    scalars have no type."""
    given = [
        a.dtype if not is_scalar(a) else np.dtype(bool) if isinstance(a, bool) else type(a)
        for a in args
    ]
    resolve: Any = ufunc.resolve_dtypes  # type: ignore[attr-defined]
    found: tuple[np.dtype[Any], ...] = resolve((*given, *(None,) * ufunc.nout), **options)
    return found


def _cast_operands(ufunc: np.ufunc, args: tuple[Any, ...], dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """Casts operands to types for which NumPy's ufunc has a result of `dtype`.

    Raises TypeError, like NumPy, if there are no such types, or if an operand is of another kind.
    """
    weak = [is_scalar(a) and not isinstance(a, bool) for a in args]
    arrays = [a if w else as_lazy(a) for a, w in zip(args, weak, strict=True)]
    signature = (None,) * len(args) + (dtype,) * ufunc.nout
    found = loop_types(ufunc, *arrays, signature=signature)
    return tuple(
        np.array(a, d)[()] if w else a.astype(d)
        for a, d, w in zip(arrays, found, weak, strict=False)
    )


def _write(name: str, result: Array, out: Array, mask: Array | None) -> Array:
    """Gives a lazy array a new lazy value, and returns that array."""
    if not np.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(
            f"{name}: the result is of type {result.dtype}, but out is of type {out.dtype}"
        )
    masked = () if mask is None else mask.shape
    fits = np.broadcast_shapes(result.shape, out.shape, masked) == out.shape
    if not fits:
        raise ValueError(f"{name}: the result has shape {result.shape}, out {out.shape}")
    value = result.astype(out.dtype)
    if mask is not None:
        value = choose(mask, value, out)
    out._rebind(broadcast_to(value, out.shape)._x)
    return out
