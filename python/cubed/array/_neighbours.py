"""Arrays of other libraries beside lazy ones: whose class decides, and what is refused.

Classes that take part in NumPy's or the standard's protocols say themselves what they combine with.
They are asked, and where none of them has an answer it is a TypeError: neither identity, nor values
that somebody computes to make NumPy's array of them.
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

#: The methods that Python asks of the right operand once the left one has no answer.
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

#: What classes have that are, or make, an array in some protocol.
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

#: Of these NumPy makes an array.
_CONVERTED = ("__array__", "__array_interface__", "__array_struct__", "__dlpack__")

_NOTHING = object()


def _own(cls: type, name: str) -> bool:
    """Whether a class that is not ours has an attribute that is not NumPy's."""
    found = getattr(cls, name, _NOTHING)
    known = (getattr(c, name, _NOTHING) for c in (np.ndarray, np.generic))
    is_ours = issubclass(cls, Array)
    return not is_ours and found is not _NOTHING and all(found is not k for k in known)


def _is_foreign(cls: Any) -> bool:
    """Whether it is a class of arrays of another library, whose values nobody takes unasked.

    Not one that only makes NumPy's array of itself, nor NumPy's; and not one of pandas, which lies
    in memory, and which functions that are no ufuncs take for its values.
    """
    if _own(cls, "__array_function__") or _own(cls, "__array_namespace__"):
        return True
    return _has_ufunc(cls) and not any(c.__module__.split(".")[0] == "pandas" for c in cls.__mro__)


def _has_ufunc(cls: Any) -> bool:
    """Whether a class decides about ufuncs itself, or about having none."""
    return _own(cls, "__array_ufunc__")


is_foreign: Callable[[Any], bool] = functools.lru_cache(maxsize=1024)(_is_foreign)
has_ufunc: Callable[[Any], bool] = functools.lru_cache(maxsize=1024)(_has_ufunc)


def refuse_foreign(*values: Any, what: str = "") -> None:
    """TypeError if one of them is an array of another library, or a list with one."""
    for value in _flat(values):
        if is_foreign(type(value)):
            raise TypeError(refusal(value, what))


def refuse_chunked(title: str, *values: Any) -> None:
    """TypeError if one of the arguments that functions on blocks get as they are is lazy."""
    for value in values:
        if is_foreign(type(value)) and getattr(value, "chunks", None) is not None:
            raise TypeError(refusal(value, title))


def refusal(other: Any, what: str = "") -> str:
    """Why an array of ours and another object do not combine, and what helps."""
    cls = type(other)
    name = f"{cls.__module__}.{cls.__qualname__}"
    text = f"{what + ': ' if what else ''}cubed.Array does not combine with {name}"
    way_out = _help(other)
    return f"{text}: {way_out}" if way_out else text


def held(other: Any) -> str | None:
    """The name of the attribute in which an object of another library holds a lazy array."""
    if getattr(other, "chunks", None) is None:  # asking for data might load them
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
    """NumPy's value of a date or a time of Python or pandas; other values as they are."""
    if isinstance(value, (datetime.date, datetime.timedelta)):
        for name in ("to_datetime64", "to_timedelta64"):  # pandas's, with nanoseconds
            if hasattr(value, name):
                return getattr(value, name)()
        if isinstance(value, datetime.timedelta):
            return np.timedelta64(value)
        return np.datetime64(value)
    return value


def by_other(name: str, left: Any, right: Any, is_ours: Any) -> Any:
    """What the class of the operand that is not ours makes of an operator.

    NotImplemented for objects that are no arrays: Python goes on as with any two objects. Classes
    that are arrays in some way are asked as Python would ask them. It would take their lack of an
    answer to == for a comparison of identities.

    Raises
    ------
    TypeError
        Their class has no answer.
    """
    other = right if is_ours(left) else left
    if not _is_like(other):
        return NotImplemented
    if other is right:  # one on the left has had its turn
        owner = next((c for c in type(other).__mro__ if _REFLECTED[name] in vars(c)), None)
        result = getattr(owner, _REFLECTED[name])(other, left) if owner else NotImplemented
        if result is not NotImplemented:
            return result
    raise TypeError(refusal(other, name))


def _is_like(value: Any) -> bool:
    """Whether an object is an array, or a number, that operators of arrays are expected to take."""
    if isinstance(value, (numbers.Number, memoryview)):
        return True
    cls = type(value)
    if any(hasattr(cls, sign) for sign in _SIGNS):
        return True
    return all(hasattr(value, a) for a in ("shape", "dtype", "__getitem__"))


# --- NumPy's protocols ----------------------------------------------------------------------------


def ask_ufunc(ufunc: np.ufunc, method: str, args: Any, kwargs: dict[str, Any]) -> Any:
    """What other classes than ours make of a ufunc; TypeError if none has an answer (NEP 13)."""
    others = [v for v in _flat((args, kwargs.get("out") or ())) if has_ufunc(type(v))]
    for other in _one_of_each(others):
        result = type(other).__array_ufunc__(other, ufunc, method, *args, **kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(refusal(others[0], ufunc.__name__))


def ask_function(func: Any, types: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """What other classes than ours make of a function; TypeError if none has an answer (NEP 18)."""
    others = [v for v in _flat((args, kwargs)) if is_foreign(type(v)) and type(v) in types]
    for other in _one_of_each(others):
        result = type(other).__array_function__(other, func, types, args, kwargs)
        if result is not NotImplemented:
            return result
    if not others:  # where they are is NumPy's knowledge: so is the message
        return NotImplemented
    raise TypeError(refusal(others[0], f"{func.__module__}.{func.__name__}"))


def _flat(value: Any) -> Iterator[Any]:
    """What is in nested lists and tuples, and in values of dictionaries."""
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
