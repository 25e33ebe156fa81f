"""Operands of operations: arrays, values to convert, scalars and their types; axes."""

from __future__ import annotations

import math
import numbers
import operator
import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np

from cubed import _core
from cubed.array import _above
from cubed.array._base import Array
from cubed.array._cores import core_from_numpy
from cubed.array._neighbours import by_other, element, is_foreign, refuse_foreign
from cubed.base._dtypes import dtype_of, kind_of, name_of
from cubed.base._masks import is_masked_array
from cubed.base._types import NDArray
from cubed.base._words import counted
from cubed.spec import Spec

if TYPE_CHECKING:
    from cubed._core import Operation


def common_spec(*arrays: Any) -> Spec | None:
    """Returns the spec of the arrays, or None. ValueError if the arrays have different specs."""
    spec = None
    for a in arrays:
        mine = a._spec if isinstance(a, Array) else None
        if mine is None or mine is spec:
            continue
        if spec is not None and spec != mine:
            raise ValueError(f"arrays with different specs in one computation: {spec}, {mine}")
        spec = mine
    return spec


def is_scalar(value: Any) -> bool:
    """Whether a value is a Python scalar, which is converted to the type of the other operand."""
    return isinstance(value, (bool, int, float, complex)) and not isinstance(value, np.generic)


def scalar_type(value: Any, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a Python scalar in an operation with an array: the array's type if its kind
    fits."""
    if dtype.kind in "SU":
        return np.asarray(value).dtype  # the two types do not promote
    if isinstance(value, bool):
        return dtype
    if isinstance(value, int):
        return np.dtype(np.int64) if dtype.kind == "b" else dtype
    if isinstance(value, float):
        return dtype if kind_of(dtype) in "fc" else np.dtype(np.float64)
    if dtype.kind == "c":
        return dtype
    return np.dtype(np.complex64 if kind_of(dtype) == "f" and dtype.itemsize < 8 else np.complex128)


def promote(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The promoted type; TypeError if the types do not promote."""
    if a.kind == b.kind and a.kind in "mMSU":  # the type with the finer unit or the longer strings
        return np.promote_types(a, b)
    if a.names or b.names:
        if a == b:
            return a
        raise TypeError(f"{a} and {b} have no common type, expected records with equal fields")
    both = _core.result_type(name_of(a), name_of(b))
    if both is None:
        raise TypeError(f"{a} and {b} have no common type")
    return dtype_of(both)


def scalar_array(value: Any, dtype: np.dtype[Any]) -> _core.Array:
    """A 0-d constant."""
    return _core.full(name_of(dtype), (), None, value)


def beside(value: Any, dtype: np.dtype[Any]) -> _core.Array:
    """Converts an operand for an operation with an array of this type. Python scalars are converted
    to this type."""
    if is_scalar(value) and dtype.kind not in "mM":
        return scalar_array(value, scalar_type(value, dtype))
    if isinstance(value, (np.number, np.bool_)) and value.dtype.kind != "m":
        return scalar_array(value.item(), value.dtype)
    return core_of(value)


def computed_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type to compute in: float32 for half precision, otherwise the type itself."""
    is_half = dtype.itemsize == 2 and kind_of(dtype) == "f"
    return np.dtype(np.float32) if is_half else dtype


def lazy(value: Any, name: str = "x") -> Array:
    """Returns a lazy or NumPy array as a lazy array; raises TypeError for other values."""
    if isinstance(value, Array):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return Array._new(core_of(value), None)
    refuse_foreign(value, what=name)
    shown = reprlib.repr(value)
    raise TypeError(f"{name} is {shown}, expected an array: cubed.asarray makes one of it")


def real_number(value: Any, name: str) -> float:
    """Returns an argument as a float; raises TypeError if it is not a real number."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}, expected a number")
    return float(value)


def check_device(device: str | None) -> None:
    """Raises ValueError for devices other than the CPU."""
    if device not in (None, "cpu"):
        raise ValueError(f"there is no device {device!r}, only 'cpu'")


def check_arrays(values: Sequence[Any]) -> None:
    """Raises TypeError if a value is not a lazy array."""
    for i, value in enumerate(values):
        if not isinstance(value, Array):
            raise TypeError(f"argument {i} is {reprlib.repr(value)}, expected a cubed.Array")


def core_of(value: Any, made: bool = False) -> _core.Array:
    """Returns the engine's array for an Array, a NumPy array or a scalar. Raises TypeError for
    masked arrays and for arrays of other libraries.
    """
    if isinstance(value, Array):
        return value._x
    return core_from_numpy(to_numpy(value), None, made or isinstance(value, (list, tuple)))


def to_numpy(value: Any) -> NDArray:
    """Converts an operand that is not lazy to a NumPy array; raises TypeError like core_of."""
    refuse_masked(value)
    refuse_foreign(value)
    return np.asarray(element(value))


def refuse_masked(value: Any) -> None:
    """Raises TypeError for a masked array, because its mask would be lost."""
    if is_masked_array(value):
        raise TypeError(
            "a masked array would lose its mask here: cubed.ma.masked_array(x) keeps it,"
            " x.filled(value) has none"
        )


#: Operations that accept any integer, even if the other operand's type cannot hold it:
#: comparisons, searches, and operations that convert integers to floats.
COMPARISONS = frozenset(("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"))


_SEARCHES = frozenset(("isin", "searchsorted"))
_FLOATING = frozenset(("divide", "atan2", "hypot", "logaddexp", "copysign", "nextafter", "stdtr"))


def _wide_scalar(name: str, value: Any, dtype: np.dtype[Any]) -> _core.Array:
    """Converts a Python scalar for an operation that accepts any integer.

    The result is an array of a type that can represent the scalar, or infinity.
    """
    own = scalar_type(value, dtype)
    if own.kind not in "iu" or isinstance(value, bool):
        return scalar_array(value, own)
    for d in (own, np.dtype(np.int64), np.dtype(np.uint64)):
        if np.iinfo(d).min <= value <= np.iinfo(d).max:
            return scalar_array(value, d)
    # Rounding could convert an integer outside the type's range to a valid value, so infinity is
    # used.
    wide = math.inf if value > 0 else -math.inf
    return scalar_array(value if name in _FLOATING else wide, np.dtype(np.float64))


def operands(*values: Any, name: str = "") -> tuple[list[_core.Array], Spec | None]:
    """Converts the operands of an operation to arrays; at least one must be an array.

    `name` is the operation: some accept integers that the other operand's type cannot hold.
    """
    arrays = [
        v._x if isinstance(v, Array) else None if is_scalar(v) else core_of(v) for v in values
    ]
    dtypes = [dtype_of(a.dtype) for a in arrays if a is not None]
    if not dtypes:
        raise TypeError("at least one operand must be an array")
    for d in dtypes:
        if d.kind in "mM":  # numbers combined with times are promoted by other rules
            cores = [core_of(v) if a is None else a for a, v in zip(arrays, values, strict=True)]
            return cores, common_spec(*values)
    dtype = dtypes[0] if len(dtypes) == 1 else np.result_type(*map(computed_type, dtypes))
    wide = name in COMPARISONS or name in _SEARCHES or name in _FLOATING
    out = [
        a
        if a is not None
        else _wide_scalar(name, v, dtype)
        if wide
        else scalar_array(v, scalar_type(v, dtype))
        for a, v in zip(arrays, values, strict=True)
    ]
    return out, common_spec(*values)


_OWN = (Array, bool, int, float, complex)
_OPERANDS = (*_OWN, str, bytes, np.ndarray, np.generic)


def operate(name: Operation, left: Any, right: Any) -> Array:
    if not (isinstance(left, _OWN) and isinstance(right, _OWN)):
        left, right = _operand(left), _operand(right)
    if not (_is_operand(left) and _is_operand(right)):
        return by_other(name, left, right, lambda v: isinstance(v, Array))
    xs, spec = operands(left, right, name=name)
    return Array._new(_core.elementwise(name, *xs), spec)


def _operand(value: Any) -> Any:
    """Converts sequences, dates and times to arrays and scalars; returns other operands
    unchanged."""
    if isinstance(value, range):
        return _above.array_api.arange(value.start, value.stop, value.step)  # a range may be long
    if isinstance(value, (list, tuple)):
        return _above._create.asarray(value)
    return element(value)


def _is_operand(value: Any) -> bool:
    return isinstance(value, _OPERANDS) and not is_foreign(type(value))


def is_time(value: Any) -> bool:
    return isinstance(value, (Array, np.ndarray, np.generic)) and value.dtype.kind in "mM"


def multiply(left: Any, right: Any) -> Array:
    left, right = _operand(left), _operand(right)
    if not (_is_operand(left) and _is_operand(right)):
        return by_other("matmul", left, right, lambda v: isinstance(v, Array))
    if not all(isinstance(v, (Array, np.ndarray)) for v in (left, right)):
        return NotImplemented  # a number has no axis over which to sum
    return Array._new(_core.call("matmul", core_of(left), core_of(right)), common_spec(left, right))


#: Maximum number of arrays that one array is split into, because each is a node of the plan.
MOST_PARTS = 16_384


def check_parts(name: str, n: int, parts: str = "rows, of which each is an array") -> None:
    """Raises ValueError if an axis has too many elements to split it into one array for each."""
    if n > MOST_PARTS:
        raise ValueError(f"{name}: there are {n} {parts}, expected at most {MOST_PARTS}")


def normalize_axis(name: str, axis: SupportsIndex, ndim: int) -> int:
    """Returns an axis as an index that is not negative; `name` is the function in errors."""
    try:
        a = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name}: axis is {axis!r}, expected an integer") from None
    if not -ndim <= a < ndim:
        text = f"{name}: axis {a} is out of range for {counted(ndim, 'dimension')}"
        raise np.exceptions.AxisError(text)  # AxisError is an IndexError and a ValueError
    return a % ndim if ndim else a


def normalize_axes(
    name: str, axis: SupportsIndex | Sequence[SupportsIndex] | None, ndim: int
) -> tuple[int, ...]:
    """Returns axes as indices that are not negative; all axes for None. `name` is the function in
    errors.
    """
    if axis is None:
        return tuple(range(ndim))
    several = isinstance(axis, Sequence) and not isinstance(axis, str)
    several = several or (isinstance(axis, np.ndarray) and axis.ndim == 1)
    axes: Any = axis if several else (axis,)
    out = tuple(normalize_axis(name, a, ndim) for a in axes)
    if len(set(out)) != len(out):
        raise ValueError(f"{name}: an axis is given twice in {axis!r}")
    return out
