"""Shared code of the elementwise functions in ``_operations.py``."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import is_scalar, lazy, operands
from cubed.array_api._ufunc_options import UfuncOptions, with_options
from cubed.io._create import as_lazy

if TYPE_CHECKING:
    from typing import Unpack

    from cubed._core import Operation

#: NumPy's names of operations, if they differ. Other names are the same in NumPy 2.0, if it has the
#: operation.
_UFUNCS = {"abs": "absolute", "bitwise_invert": "invert"}


def apply(name: Operation, *xs: Any, **options: Unpack[UfuncOptions]) -> Array:
    """Applies an operation of the engine to one or two operands."""
    if options:
        ufunc = getattr(np, _UFUNCS.get(name, name), None)
        if ufunc is None:  # such as SciPy's stdtr
            raise TypeError(f"{name} got an unexpected keyword argument {next(iter(options))!r}")
        return with_options(ufunc, functools.partial(apply, name), xs, **options)
    if len(xs) == 1:
        return lazy(xs[0])._unary(name)
    made, spec = operands(*xs, name=name)
    return Array._new(_core.elementwise(name, *made), spec)


def truth(x: Any) -> Any:
    """Whether elements are not 0; NaN are true."""
    if isinstance(x, np.ndarray) or not (is_scalar(x) or isinstance(x, np.generic)):
        x = as_lazy(x)
        return x if x.dtype.kind == "b" else x.astype(np.bool_)
    return bool(x)


def elemwise(function: Any, *args: Any, **options: Any) -> Array:
    """Applies a function to blocks; see :func:`cubed.core.ops.elemwise`."""
    from cubed.array import _elements  # lazy: imports code for user-defined functions

    return _elements.elemwise(function, *args, **options)


def by_blocks(ufunc: np.ufunc, *args: Any) -> Any:
    """Calls a ufunc on blocks. Returns NotImplemented if the ufunc has several results, or returns
    Python objects."""
    if ufunc.nout != 1:
        return NotImplemented
    given = [a if np.isscalar(a) else as_lazy(a) for a in args]
    if not any(isinstance(a, Array) for a in given):
        raise TypeError(f"{ufunc.__name__}: operands are numbers, expected an array at least")
    samples = [np.ones((), a.dtype) if isinstance(a, Array) else a for a in given]
    dtype = np.asarray(ufunc(*samples)).dtype
    return NotImplemented if dtype.kind == "O" else elemwise(ufunc, *given, dtype=dtype)
