"""``chunk`` of objects that hold Cubed arrays.

They stay Cubed arrays, whichever chunk manager is Xarray's default.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any

from cubed.array._array import Array
from cubed.xarray._hooks import Arguments


def chunk_dataset(theirs: Callable[..., Any], ds: Any, *args: Any, **kwargs: Any) -> Any:
    """Replaces ``chunk`` of a Dataset. A DataArray also calls it, as a Dataset of one variable."""
    x = _first(ds.variables.values())
    if x is None or kwargs.get("chunked_array_type") is not None:
        return NotImplemented
    kwargs["chunked_array_type"] = "cubed"
    options = kwargs.get("from_array_kwargs") or {}
    if x._spec is not None:  # for variables that are not lazy yet
        kwargs["from_array_kwargs"] = {"spec": x._spec, **options}
    return Arguments(ds, *args, **kwargs)


def chunk_variable(theirs: Callable[..., Any], v: Any, *args: Any, **kwargs: Any) -> Any:
    """Replaces ``chunk`` of a variable."""
    return (
        _with_manager(theirs, (v, *args), kwargs) if isinstance(v._data, Array) else NotImplemented
    )


def chunk_opened(theirs: Callable[..., Any], ds: Any, *args: Any, **kwargs: Any) -> Any:
    """Replaces the chunking of an opened Dataset.

    The backend "cubed" returns lazy arrays with and without ``chunks``.
    """
    if _first(ds.variables.values()) is None:
        return NotImplemented
    return _with_manager(theirs, (ds, *args), kwargs)


def _with_manager(theirs: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    given = inspect.signature(theirs).bind(*args, **kwargs)
    if given.arguments.get("chunked_array_type") is not None:
        return NotImplemented
    given.arguments["chunked_array_type"] = "cubed"
    return Arguments(*given.args, **given.kwargs)


def _first(variables: Iterable[Any]) -> Array | None:
    return next((v._data for v in variables if isinstance(v._data, Array)), None)
