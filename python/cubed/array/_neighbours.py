"""Operations that combine lazy arrays with arrays of other libraries.

Classes that implement NumPy's or the standard's protocols decide which operands they accept, so
their methods are called first. If all return NotImplemented, the operation raises TypeError. No
operation compares identities, or computes values to convert an array to NumPy's.
"""

from __future__ import annotations

import datetime
import functools
import numbers
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from cubed.array._base import Array

_COMPARISONS = {
    "equal": "__eq__",
    "not_equal": "__ne__",
    "less": "__gt__",
    "less_equal": "__ge__",
    "greater": "__lt__",
    "greater_equal": "__le__",
}

#: Methods of the right operand that Python calls after the left one returns NotImplemented.
_REFLECTED = _COMPARISONS | {
    "add": "__radd__",
    "bitwise_and": "__rand__",
    "bitwise_left_shift": "__rlshift__",
    "bitwise_or": "__ror__",
    "bitwise_right_shift": "__rrshift__",
    "bitwise_xor": "__rxor__",
    "divide": "__rtruediv__",
    "floor_divide": "__rfloordiv__",
    "matmul": "__rmatmul__",
    "multiply": "__rmul__",
    "pow": "__rpow__",
    "remainder": "__rmod__",
    "subtract": "__rsub__",
}

#: Attributes of classes that implement a protocol of arrays.
_SIGNS = (
    "__array__",
    "__array_function__",
    "__array_interface__",
    "__array_namespace__",
    "__array_priority__",
    "__array_struct__",
    "__array_ufunc__",
    "__dlpack__",
)

#: Attributes of classes that NumPy converts to arrays.
_CONVERTED = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")

_NOTHING = object()


def _own(cls: type, name: str) -> bool:
    """Whether a class of another library defines an attribute, instead of inheriting it from
    NumPy."""
    found = getattr(cls, name, _NOTHING)
    known = (getattr(c, name, _NOTHING) for c in (np.ndarray, np.generic))
    is_ours = issubclass(cls, Array)
    return not is_ours and found is not _NOTHING and all(found is not k for k in known)


def _is_foreign(cls: Any) -> bool:
    """Whether a class is a class of arrays of another library, which must not be converted
    implicitly.

    False for NumPy's classes and for classes that only convert to NumPy's arrays. Also False for
    pandas, because its data are in memory and functions other than ufuncs may use its values.
    """
    if _own(cls, "__array_function__") or _own(cls, "__array_namespace__"):
        return True
    return _has_ufunc(cls) and not any(c.__module__.split(".")[0] == "pandas" for c in cls.__mro__)


def _has_ufunc(cls: Any) -> bool:
    """Whether a class defines `__array_ufunc__`, including as None."""
    return _own(cls, "__array_ufunc__")


is_foreign: Callable[[Any], bool] = functools.lru_cache(maxsize=1024)(_is_foreign)
has_ufunc: Callable[[Any], bool] = functools.lru_cache(maxsize=1024)(_has_ufunc)


def refuse_foreign(*values: Any, what: str = "") -> None:
    """Raises TypeError if a value is, or contains, an array of another library."""
    for value in _flat(values):
        if is_foreign(type(value)):
            raise TypeError(refusal(value, what))


def refuse_chunked(title: str, *values: Any) -> None:
    """Raises TypeError if an argument that a user-defined function gets unchanged is lazy."""
    for value in values:
        if is_foreign(type(value)) and getattr(value, "chunks", None) is not None:
            raise TypeError(refusal(value, title))


def refusal(other: Any, what: str = "") -> str:
    """Returns the error message for an object that cannot be combined with a lazy array."""
    cls = type(other)
    name = f"{cls.__module__}.{cls.__qualname__}"
    text = f"{what + ': ' if what else ''}cubed.Array does not combine with {name}"
    way_out = _help(other)
    return f"{text}: {way_out}" if way_out else text


def held(other: Any) -> str | None:
    """Returns the name of the attribute in which an object of another library holds a lazy array,
    or None."""
    if getattr(other, "chunks", None) is None:  # reading `data` could load the elements
        return None
    for name in ("magnitude", "data"):
        if isinstance(getattr(other, name, None), Array):
            return name
    return None


def _help(other: Any) -> str:
    name = held(other)
    if name is not None:
        return f"its .{name} is a cubed.Array"
    if isinstance(other, numbers.Number):
        return "give a float or an int"
    if hasattr(other, "magnitude"):
        return "its .magnitude has the values without the unit"
    if hasattr(other, "todense"):
        return "its .todense() has the values"
    if all(hasattr(other, a) for a in ("shape", "dtype", "__getitem__")):
        return "cubed.from_array(x) makes a lazy array of it"
    if isinstance(other, memoryview) or any(hasattr(other, a) for a in _CONVERTED):
        return "cubed.asarray(x) makes an array of it"
    return ""


# --- Operators ------------------------------------------------------------------------------------


def element(value: Any) -> Any:
    """Converts dates and times of Python and pandas to NumPy's; returns other values unchanged."""
    if isinstance(value, (datetime.date, datetime.timedelta)):
        for name in ("to_datetime64", "to_timedelta64"):  # pandas's, with nanoseconds
            if hasattr(value, name):
                return getattr(value, name)()
        if isinstance(value, datetime.timedelta):
            return np.timedelta64(value)
        return np.datetime64(value)
    return value


def by_other(name: str, left: Any, right: Any, is_ours: Any) -> Any:
    """Calls an operator of the operand that is not a lazy array, and returns the result.

    Returns NotImplemented for objects that are not arrays, so Python continues as usual. For
    classes similar to arrays it calls the reflected method itself, because Python would compare
    identities if both == return NotImplemented.

    Raises
    ------
    TypeError
        The class of the operand returns NotImplemented.
    """
    other = right if is_ours(left) else left
    if not _is_like(other):
        return NotImplemented
    if other is right:  # Python has already called the left operand's method
        owner = next((c for c in type(other).__mro__ if _REFLECTED[name] in vars(c)), None)
        result = getattr(owner, _REFLECTED[name])(other, left) if owner else NotImplemented
        if result is not NotImplemented:
            return result
    raise TypeError(refusal(other, name))


def _is_like(value: Any) -> bool:
    """Whether an object is an array or a number, which array operators are expected to accept."""
    if isinstance(value, (numbers.Number, memoryview)):
        return True
    cls = type(value)
    if any(hasattr(cls, sign) for sign in _SIGNS):
        return True
    return all(hasattr(value, a) for a in ("shape", "dtype", "__getitem__"))


# --- NumPy's protocols ----------------------------------------------------------------------------


def ask_ufunc(ufunc: np.ufunc, method: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """Calls ``__array_ufunc__`` of other classes (NEP 13); TypeError if all return
    NotImplemented."""
    others = [v for v in _flat((args, kwargs.get("out") or ())) if has_ufunc(type(v))]
    for other in _one_of_each(others):
        result = type(other).__array_ufunc__(other, ufunc, method, *args, **kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(refusal(others[0], ufunc.__name__))


def ask_function(func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Calls ``__array_function__`` of other classes (NEP 18); raises TypeError if all return
    NotImplemented."""
    others = [v for v in _flat((args, kwargs)) if is_foreign(type(v)) and type(v) in types]
    for other in _one_of_each(others):
        result = type(other).__array_function__(other, func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if not others:  # only NumPy finds such objects, so NumPy raises the error
        return NotImplemented
    raise TypeError(refusal(others[0], f"{func.__module__}.{func.__name__}"))


def _flat(value: Any) -> Iterator[Any]:
    """Yields the items of nested lists and tuples, and the values of nested dictionaries."""
    if isinstance(value, (list, tuple)):
        for v in value:
            if isinstance(v, (list, tuple, dict)):
                yield from _flat(v)
            else:
                yield v
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))
    else:
        yield value


def _one_of_each(values: Iterable[Any]) -> list[Any]:
    return list({type(v): v for v in reversed(list(values))}.values())[::-1]
