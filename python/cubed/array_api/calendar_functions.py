"""Business days: dates without weekends and holidays."""

from __future__ import annotations

from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import to_numpy
from cubed.array_api._elementwise import elemwise
from cubed.io._create import as_lazy

__all__ = ["busday_count", "busday_offset", "is_busday"]

_DAY = np.dtype("datetime64[D]")


def _dates(name: str, what: str, dates: Any) -> Array:
    """Converts dates to a lazy array of type datetime64[D]. Errors name the function and the
    parameter."""
    refuse_foreign(dates, what=what)
    given = dates if isinstance(dates, Array) else to_numpy(dates)
    if given.dtype.kind not in ("M" if isinstance(given, Array) else "MOSU"):
        raise TypeError(f"{name}: {what} has elements of {given.dtype}, expected datetime64")
    x = given if isinstance(given, Array) else as_lazy(given.astype(_DAY))
    return x if x.dtype == _DAY else x.astype(_DAY)


def _calendar(name: str, weekmask: Any, holidays: Any, busdaycal: Any) -> dict[str, Any]:
    """Returns the options for NumPy's functions. They can be pickled, unlike a busdaycalendar."""
    if isinstance(holidays, Array):
        raise TypeError(f"{name}: holidays is a lazy array, expected dates: compute it before")
    if busdaycal is None:
        days = np.busdaycalendar(weekmask, [] if holidays is None else holidays)
    elif holidays is None and isinstance(weekmask, str) and weekmask == "1111100":
        days = busdaycal
    else:
        raise ValueError(f"{name}: there is a busdaycal, expected no weekmask and no holidays")
    week = "".join("1" if day else "0" for day in days.weekmask)
    return {"weekmask": week, "holidays": days.holidays}


def _by_elements(function: Any, *arrays: Array, dtype: Any, **options: Any) -> Array:
    """Applies NumPy's function of this name element by element."""
    name = function.__name__
    return elemwise(function, *arrays, dtype=dtype, extra_projected_mem=None, name=name, **options)


def is_busday(
    dates: Any, /, weekmask: Any = "1111100", holidays: Any = None, busdaycal: Any = None
) -> Array:
    """Whether each date is a business day.

    Parameters
    ----------
    dates : array_like of datetime64
        Dates; times of day have no effect.
    weekmask : str or sequence, default "1111100"
        Business days of a week from Monday on, in NumPy's notation.
    holidays : array_like of datetime64 or None
        Dates that are not business days, in memory.
    busdaycal : numpy.busdaycalendar or None
        A calendar, in place of `weekmask` and `holidays`.

    Returns
    -------
    Array
        bool. Lazy.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> cubed.is_busday(np.array(["2024-03-01", "2024-03-02"], "M8[D]")).compute()
    array([ True, False])
    """
    options = _calendar("is_busday", weekmask, holidays, busdaycal)
    x = _dates("is_busday", "dates", dates)
    return _by_elements(np.is_busday, x, dtype=bool, **options)


def busday_count(
    begindates: Any,
    enddates: Any,
    /,
    weekmask: Any = "1111100",
    holidays: Any = None,
    busdaycal: Any = None,
) -> Array:
    """Counts business days from the first dates up to, but not including, the last dates.

    Parameters
    ----------
    begindates : array_like of datetime64
        The first dates.
    enddates : array_like of datetime64
        The last dates, which are not counted themselves.
    weekmask : str or sequence, default "1111100"
        Business days of a week from Monday on, in NumPy's notation.
    holidays : array_like of datetime64 or None
        Dates that are not business days, in memory.
    busdaycal : numpy.busdaycalendar or None
        A calendar, in place of `weekmask` and `holidays`.

    Returns
    -------
    Array
        int64, negative if the last date is before the first. Lazy.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> begin = np.array(["2024-03-01", "2024-03-04"], "M8[D]")
    >>> cubed.busday_count(begin, np.datetime64("2024-03-11")).compute()
    array([6, 5])
    """
    options = _calendar("busday_count", weekmask, holidays, busdaycal)
    begin = _dates("busday_count", "begindates", begindates)
    end = _dates("busday_count", "enddates", enddates)
    return _by_elements(np.busday_count, begin, end, dtype=np.int64, **options)


def busday_offset(
    dates: Any,
    offsets: Any,
    /,
    roll: str = "raise",
    weekmask: Any = "1111100",
    holidays: Any = None,
    busdaycal: Any = None,
) -> Array:
    """Returns the dates that are a number of business days later (earlier if negative).

    With ``roll="raise"``, a date that is not a business day is an error when the result is
    computed.

    Parameters
    ----------
    dates : array_like of datetime64
        Dates; times of day have no effect.
    offsets : array_like of int
        Numbers of business days.
    roll : str, default "raise"
        Rule for dates that are not business days, by NumPy's names.
    weekmask : str or sequence, default "1111100"
        Business days of a week from Monday on, in NumPy's notation.
    holidays : array_like of datetime64 or None
        Dates that are not business days, in memory.
    busdaycal : numpy.busdaycalendar or None
        A calendar, in place of `weekmask` and `holidays`.

    Returns
    -------
    Array
        Dates, datetime64[D]. Lazy.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> cubed.busday_offset(np.array(["2024-03-01"], "M8[D]"), 1).compute()
    array(['2024-03-04'], dtype='datetime64[D]')
    """
    options = _calendar("busday_offset", weekmask, holidays, busdaycal)
    x, steps = _dates("busday_offset", "dates", dates), as_lazy(offsets)
    if steps.dtype.kind not in "iu":
        raise TypeError(f"busday_offset: offsets are of type {steps.dtype}, expected integers")
    if roll not in _ROLLS:
        raise ValueError(f"busday_offset: roll is {roll!r}, expected one of {', '.join(_ROLLS)}")
    steps = steps.astype(np.int64)
    return _by_elements(np.busday_offset, x, steps, dtype=_DAY, roll=roll, **options)


_ROLLS = (
    "raise nat forward following backward preceding modifiedfollowing modifiedpreceding".split()
)
