"""Expressions as strings, in the language of the command."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computed_first, computes_first, numbers_before
from cubed.array._operands import common_spec, core_of, lazy
from cubed.base._attributes import json_attributes
from cubed.io._create import from_zarr
from cubed.spec import DEFAULT, Spec


@computes_first
def eval(text: str, /, *, spec: Spec | None = None, **arrays: Any) -> Array | dict[str, Array]:
    """Evaluates expressions, as ``cubed eval`` does.

    Statements are separated by ``;``. ``cubed eval --help`` lists the functions. Functions whose
    shapes depend on values (``compress``, ``unique_values``, ``nonzero``), groups by labels, and
    calendars read these values when ``eval`` is called; nothing else is computed.

    Parameters
    ----------
    text : str
        The expressions, such as ``"mean(u*v, axis=0)"`` or ``"a = u + v; b = a**2"``.
    spec : Spec or None
        Limits of computations; None: those of the arrays, or as configured.
    **arrays : array_like, DataArray, str or path
        The arrays that the text names. Elements of an array are used unchanged. A string or path is
        a place ``STORE::PATH``, whose values are decoded as in :func:`from_zarr` with
        ``decode=True``. ``dim="time"`` and calendars use the dimension names of the place and the
        coordinates next to it. A DataArray or Variable of Xarray stays lazy, and its dimension
        names and coordinates are used in the same way. Operands broadcast by position, as in NumPy;
        it is an error if Xarray operands then have different dimension names.

    Returns
    -------
    Array or dict of str to Array
        The lazy array if the text is one expression, otherwise the arrays by the names that are
        assigned. Names that begin with ``_`` are omitted; further expressions without a name are
        ``"result"``, ``"result2"``, ... The results for Xarray objects are plain arrays without
        labels.

    Raises
    ------
    ValueError
        If the text is wrong (the message shows the place), an array is not used, a name is assigned
        twice, or coordinates of two Xarray objects differ.
    FileNotFoundError
        If there is no array at a place.

    Examples
    --------
    >>> import cubed
    >>> u, v = cubed.arange(4, chunks=2), cubed.ones(4, chunks=2)
    >>> float(cubed.eval("mean(u * v, axis=0)", u=u, v=v).compute())
    1.5
    >>> parts = cubed.eval("low = min(u); high = max(u)", u=u)
    >>> int(parts["high"].compute())
    3
    """
    results = evaluated(text, arrays, spec)
    if len(results) == 1 and results[0].is_bare:
        return results[0].array
    return {r.name: r.array for r in results}


class Result(NamedTuple):
    """A result of an expression."""

    name: str
    is_bare: bool  #: whether the expression assigns no name
    array: Array
    #: The coordinate of each axis; None if a coordinate of the inputs describes the axis.
    coordinates: tuple[_core.ExpressionCoordinate | None, ...]


@computes_first
def evaluated(
    text: str,
    arrays: Mapping[str, Any],
    spec: Spec | None = None,
    *,
    beside: Mapping[Any, Any] | None = None,
    apart: Mapping[str, str] | None = None,
) -> list[Result]:
    """Evaluates expressions.

    Parameters
    ----------
    text : str
        As for :func:`eval`.
    arrays : mapping of str to array_like, DataArray, str or path
        The arrays that the text names.
    spec : Spec or None
        As for :func:`eval`.
    beside : mapping or None
        Variables of Xarray that are coordinates of all arrays, such as those of a Dataset.
    apart : mapping of str to str or None
        Names of arrays, and the dimension of each along which its labels may differ from those of
        the other arrays.

    Returns
    -------
    list of Result
        The results, in the order of the statements.
    """
    names = _core.eval_names(text)
    if not names:
        raise ValueError("eval: there is no result, because every name begins with _")
    given = {name: _opened(name, value, spec) for name, value in arrays.items()}
    used = spec or common_spec(*given.values())
    places = [value for value in arrays.values() if _is_place(value)]
    labelled = {name: value for name, value in arrays.items() if _is_labelled(value)}
    _check_aligned(labelled, apart or {})
    known = numbers_before()
    lengths = [int(numbers.flat[-1]) for (numbers,) in known or ()]

    def coordinate(name: str, of: str | None) -> _core.Array | None:
        """Returns a coordinate: that of the array `of` if it has one, otherwise that of another
        array."""
        first = [arrays[of]] if of is not None and of in arrays else []
        for value in (*first, *labelled.values(), *places):
            if name in getattr(value, "coords", ()):
                return _of_xarray(name, value.coords[name].variable, used)._x
            if not _is_place(value):
                continue
            try:
                return from_zarr(_beside(value, name), spec=used, decode=True)._x
            except FileNotFoundError:
                continue
        if beside is not None and name in beside:
            return _of_xarray(name, beside[name], used)._x
        return None

    coordinates: list[tuple[_core.ExpressionCoordinate | None, ...]] = []

    def run(inputs: tuple[_core.Array, ...], task_mem: int) -> tuple[_core.Array, ...]:
        """Returns the results, followed by arrays of numbers that the results depend on and that
        were not computed. Zeros replace these numbers.

        Nothing is computed if the call only makes plans, or creates the arrays again for another
        `allowed_mem`.
        """
        planned: list[_core.Array] = []

        def count(number: int, x: _core.Array, most: int) -> tuple[_core.Array, int]:
            if known is None and number == len(lengths):
                (found,) = computed_first([Array._new(x, used)], [None])
                lengths.append(int(found.flat[-1]))
                return core_of(found), lengths[-1]
            planned.append(x)
            zeros = core_of(np.zeros(x.shape, np.int64))
            return zeros, lengths[number] if number < len(lengths) else most

        made, coordinates[:] = _core.eval(
            text, tuple(given), inputs, coordinate, count, task_mem, bool(labelled)
        )
        return (*made, *planned)

    inputs = tuple(x._x for x in given.values())
    found = _core.record(run, inputs, (used or DEFAULT).task_mem)
    made, planned = found[: len(names)], found[len(names) :]
    for x in planned:
        computed_first([Array._new(x, used)], [None])
    return [
        Result(*name, _without_names(Array._new(x, used)), found)
        for name, x, found in zip(names, made, coordinates, strict=True)
    ]


def _has_cf_dates(data: np.ndarray[Any, Any]) -> bool:
    """Returns True for dates of cftime, without importing it."""
    return data.size > 0 and type(data.flat[0]).__module__.partition(".")[0] == "cftime"


def _is_place(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _is_labelled(value: Any) -> bool:
    """Returns True for a DataArray or Variable of Xarray, without importing Xarray."""
    is_of_xarray = type(value).__module__.partition(".")[0] == "xarray"
    return is_of_xarray and hasattr(value, "dims") and hasattr(value, "dtype")


def _opened(name: str, value: Any, spec: Spec | None) -> Array:
    if _is_place(value):
        return from_zarr(value, spec=spec, decode=True)
    return _of_xarray(name, value, spec) if _is_labelled(value) else lazy(value, name)


def _of_xarray(name: str, value: Any, spec: Spec | None) -> Array:
    """Returns the lazy array in an Xarray object, with its dimension names."""
    held = getattr(value, "variable", value)
    if held.chunks is None and not held._in_memory and held.ndim > 0 and held.dtype.kind != "O":
        # The array is in a file, from which its elements are not read here.
        held = held.chunk("auto", chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    data = held.data
    if isinstance(data, np.ndarray) and data.dtype.kind == "O" and _has_cf_dates(data):
        # Lazy import: only for Xarray objects, which have imported it.
        from xarray.conventions import encode_cf_variable

        held = encode_cf_variable(held)
        data = held.data
    if isinstance(data, np.ndarray) and data.dtype.kind == "O":
        if not all(isinstance(v, str) for v in data.ravel()):
            raise TypeError(
                f"{name} holds Python objects, expected numbers, datetime64 or strings: decode or"
                " cast it first"
            )
        data = data.astype(str)
    x = lazy(data, name)
    said = json_attributes(held.attrs)
    aside = [str(k) for k in getattr(value, "coords", ()) if k not in held.dims]
    if aside:
        said["coordinates"] = " ".join(aside)
    if said:
        x = x._like(_core.with_attrs(x._x, json.dumps(said)))
    if x.ndim == 0:
        return x
    return x._like(_core.with_dim_names(x._x, tuple(str(d) for d in held.dims)))


def _without_names(x: Array) -> Array:
    """Returns an array without the attribute that lists coordinates, because the array has no
    coordinates."""
    attrs = json.loads(x._x.attrs)
    if attrs.pop("coordinates", None) is None:
        return x
    return x._like(_core.with_attrs(x._x, json.dumps(attrs)))


def _check_aligned(labelled: dict[str, Any], apart: Mapping[str, str]) -> None:
    """Raises ValueError if objects have different labels along a dimension, because elements are
    combined by position.
    """
    seen: dict[Any, tuple[str, Any]] = {}
    for name, value in labelled.items():
        for dim, index in getattr(value, "indexes", {}).items():
            if apart.get(name) == dim:
                continue
            first, have = seen.setdefault(dim, (name, index))
            if not have.equals(index):
                raise ValueError(
                    f'eval: the coordinate "{dim}" of {name} differs from that of {first}: align'
                    " them with xarray.align, or pass their .data to combine elements by position"
                )


def _beside(place: str | os.PathLike[str], name: str) -> str:
    """Returns the location of another array in the same group."""
    text = os.fspath(place)
    store, colons, path = text.rpartition("::")
    group, slash, _ = path.rpartition("/")
    return f"{store}{colons}{group}{slash}{name}"
