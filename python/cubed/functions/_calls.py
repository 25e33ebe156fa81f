"""Arguments of functions of the catalogue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import check_parts, core_of, is_scalar, lazy, promote, to_numpy
from cubed.array._rechunk import rechunk
from cubed.base._dtypes import name_of
from cubed.base._types import ChunksLike, DTypeLike
from cubed.base._warnings import warn_of_lost_parts
from cubed.io._create import as_lazy
from cubed.spec import DEFAULT, Spec

#: Integers that are at least this one, or less than its negative, do not fit into int64. As
#: operands they are converted to arrays of uint64 or float64.
_BEYOND = 2**63


def task_mem(spec: Spec | None) -> int:
    """Returns the number of bytes that a task may use."""
    return (spec or DEFAULT).task_mem


def operand(value: Any) -> Any:
    """Converts arrays to arrays of the engine, and integers beyond int64 to arrays.

    Returns None and other numbers unchanged.
    """
    if type(value) is int and not -_BEYOND <= value < _BEYOND:
        return core_of(np.uint64(value) if 0 < value < 2 * _BEYOND else np.float64(value))
    return value if value is None or is_scalar(value) else core_of(value)


def type_for(dtype: DTypeLike, x: Array | None = None) -> str | None:
    """Returns the name of the type `dtype`, to which x will be cast; None if `dtype` is None.

    Warns like NumPy if the cast discards the imaginary parts of x.
    """
    if dtype is None:
        return None
    name = name_of(dtype)
    if x is not None:
        warn_of_lost_parts(x.dtype, np.dtype(name))
    return name


def lazy_list(values: Sequence[Any], name: str) -> list[Array]:
    """Converts a list of arrays to lazy arrays; TypeError names an element that is not an array."""
    refuse_foreign(values)
    return [lazy(value, f"{name}[{k}]") for k, value in enumerate(values)]


def arrays_of(values: Sequence[Any]) -> list[Array]:
    """Converts arrays and array-likes to lazy arrays, each with its own type."""
    refuse_foreign(values)
    if isinstance(values, Array):
        check_parts("arrays", len(values))
    return [as_lazy(value) for value in values]


def alike(values: Sequence[Any]) -> list[Array]:
    """Converts arrays and array-likes to lazy arrays of their promoted type."""
    arrays = arrays_of(values)
    dtypes = {a.dtype for a in arrays}
    if len(dtypes) < 2:
        return arrays
    common = arrays[0].dtype
    for a in arrays[1:]:
        common = promote(common, a.dtype)
    return [a.astype(common) for a in arrays]


def nested(values: Any) -> Any:
    """Converts an array to nested lists of Python numbers. Returns None for None."""
    return values if values is None else to_numpy(values).tolist()


def rechunked(x: Array, chunks: ChunksLike) -> Array:
    """Returns x with other chunks; x itself if `chunks` is None."""
    return x if chunks is None else rechunk(x, chunks)


def check_choice(function: str, name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Checks a parameter that has no effect: raises ValueError unless it is a choice or None."""
    if value is not None and value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{function}: {name} is {value!r}, expected one of {listed}, or None")
