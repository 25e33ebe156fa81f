"""Calls functions of the expression language with Xarray's objects; results have coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from importlib.util import find_spec
from typing import Any, cast

import numpy as np
import xarray as xr

from cubed import _core
from cubed.array._array import Array
from cubed.base._attributes import typed_attributes
from cubed.io._eval import Result, evaluated
from cubed.planning._guard import in_memory

#: Value of `weights` that selects weights from the coordinates.
AUTO = "auto"
#: Attributes that name bounds, which computed coordinates do not have.
_OF_BOUNDS = ("bounds", "climatology")
#: Functions whose first array is a mask. Results have the name of the second array.
_OF_MASKS = ("ifthen", "ifnotthen", "ifthenelse")


def call(
    owner: xr.Dataset | xr.DataArray,
    function: str,
    positional: Sequence[tuple[str, Any]],
    named: Mapping[str, Any],
) -> Any:
    """Calls a function with an object as its first array.

    Parameters
    ----------
    owner : Dataset or DataArray
        For a Dataset, the function is called for each numeric variable.
    function : str
        A function of the expression language.
    positional : sequence of tuples of str and object
        Names and values of the arguments after the first. Trailing arguments that are None are left
        out.
    named : mapping of str to object
        Other arguments. Those with the value None are left out, except `weights`.

    Returns
    -------
    Dataset or DataArray
        Lazy. Variables of a Dataset that lack the dimension of the call stay unchanged. Bounds, and
        variables along the dimension that are not numeric, are left out.
    """
    options = dict(named)
    if "dim" in options:
        options["dim"] = _dimensions(owner, options["dim"], function)
    dim = options.get("dim")
    if isinstance(dim, str):
        positional = [(k, _grouped(v, dim) if k == "groupby" else v) for k, v in positional]
    if (function.startswith("sel") or function in ("delday", "del29feb")) and isinstance(dim, str):
        return _selected(owner, function, positional, options)
    if isinstance(owner, xr.DataArray):
        return _of_array(owner, function, positional, options, None)
    bounds = {v.attrs.get(k) for v in owner.variables.values() for k in ("bounds", "climatology")}
    bounds |= {v.encoding.get("bounds") for v in owner.variables.values()}
    found: dict[Hashable, Any] = {}
    for name, v in owner.data_vars.items():
        if v.ndim == 0 or (isinstance(dim, str) and dim not in v.dims):
            found[name] = v
        elif name not in bounds and v.dtype.kind in "biufc":
            own = [(k, _variable(a, name, function)) for k, a in positional]
            kept = {k: _variable(a, name, function) for k, a in options.items()}
            found[name] = _of_array(v, function, own, kept, owner)
    return xr.Dataset(found, attrs=owner.attrs)


def _selected(
    owner: Any, function: str, positional: Sequence[tuple[str, Any]], named: Mapping[str, Any]
) -> Any:
    """Returns the part of an object that a function selects by dates, with all its variables."""
    dim = named["dim"]
    labels = {dim: owner.coords[dim].variable} if dim in owner.coords else {}
    steps = xr.DataArray(np.arange(owner.sizes[dim]), labels, (dim,))
    found = _of_array(steps, function, positional, named, None)
    with in_memory():
        at = np.asarray(found.data)
    is_run = (np.diff(at) == 1).all()
    return owner.isel({dim: slice(int(at[0]), int(at[-1]) + 1) if is_run else at})


def _grouped(groupby: Any, dim: str) -> Any:
    """Returns a group such as "time.month", with the name of the dimension in the object."""
    if not isinstance(groupby, str) or "." not in groupby:
        return groupby
    return f"{dim}.{groupby.partition('.')[2]}"


def _variable(value: Any, name: Hashable, function: str) -> Any:
    """Returns the variable of a Dataset that is an argument, and other arguments themselves."""
    if not isinstance(value, xr.Dataset):
        return value
    if name not in value:
        raise ValueError(
            f"{function}: the second Dataset has no variable {name!r}, expected the variables of"
            " the first"
        )
    return value[name]


# --- Dimensions ----------------------------------------------------------------------------------


def _dimensions(owner: Any, dim: Any, function: str) -> Any:
    """Returns the dimensions of an object to which CF names, such as "time" or "T", refer."""
    if dim is None:
        return None
    if not isinstance(dim, str) and isinstance(dim, (list, tuple)):
        return [dimension(owner, d, function) for d in dim]
    return dimension(owner, dim, function)


def dimension(owner: Any, name: Hashable, function: str) -> str:
    """Returns the dimension of an object that has a CF name, such as "time" or "T"."""
    if name in owner.dims:
        return str(name)
    found = {d for d in owner.dims if d in owner.coords and _is_called(owner.coords[d], name)}
    if not found and find_spec("cf_xarray") is not None:
        import cf_xarray  # noqa: F401  # lazy: it may be missing; its accessor

        for table in (owner.cf.axes, owner.cf.coordinates, owner.cf.standard_names):
            for n in table.get(name, ()):
                found |= {n} if n in owner.dims else set(owner[n].dims)
    if len(found) == 1:
        return str(found.pop())
    listed = ", ".join(repr(d) for d in owner.dims)
    which = "several dimensions are" if found else "no dimension is"
    raise ValueError(
        f"{function}: {which} called {name!r} by the CF conventions, expected one of {listed}"
    )


def _is_called(coordinate: Any, name: Hashable) -> bool:
    """Whether a coordinate has this CF name, according to its attributes or because it contains
    dates."""
    attrs = coordinate.attrs
    if name in (attrs.get("standard_name"), attrs.get("axis"), attrs.get("cartesian_axis")):
        return True
    return name in ("time", "T") and _is_dated(coordinate.variable)


def _is_dated(v: Any) -> bool:
    index = v.to_index() if v.ndim == 1 and v.dtype.kind == "O" else None
    return v.dtype.kind == "M" or isinstance(index, xr.CFTimeIndex)


# --- Calls ---------------------------------------------------------------------------------------


def _of_array(
    x: xr.DataArray,
    function: str,
    positional: Sequence[tuple[str, Any]],
    named: Mapping[str, Any],
    beside: Any,
) -> xr.DataArray:
    """Calls a function for an array. `beside`: the Dataset of the array, if there is one."""
    arrays: dict[str, Any] = {"x": x}
    rest = list(positional)
    while rest and rest[-1][1] is None:
        rest.pop()
    words = ["x", *(_spelled(value, name, arrays) for name, value in rest)]
    for name, value in named.items():
        if name == "weights" and isinstance(value, str) and value == AUTO:
            continue
        if value is not None or name == "weights":
            words.append(f"{name}={_spelled(value, name, arrays)}")
    apart = {"c": str(named["dim"])} if isinstance(named.get("dim"), str) else {}
    text = f"{function}({', '.join(words)})"
    variables = None if beside is None else beside.variables
    (result,) = evaluated(text, arrays, beside=variables, apart=apart)
    found = _labelled(result, [a for a in arrays.values() if isinstance(a, xr.DataArray)])
    if function in _OF_MASKS and isinstance(arrays.get("y"), xr.DataArray):
        found = found.rename(arrays["y"].name)
    return found


def _spelled(value: Any, name: str, arrays: dict[str, Any]) -> str:
    """Converts an argument to text for an expression. An array is added to `arrays`, and the text
    is its name."""
    if isinstance(value, np.generic):
        value = value.item() if value.dtype.kind in "biufc" else str(value)
    if isinstance(value, (xr.DataArray, xr.Variable, Array, np.ndarray)):
        arrays[name] = value
        return name
    if value is None or isinstance(value, (bool, int)):
        return repr(value)
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else f"({value})"
    if isinstance(value, (list, tuple, range)):
        inner = ", ".join(_spelled(v, name, {}) for v in value)
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}]"
    text = value.isoformat() if hasattr(value, "isoformat") else value
    if not isinstance(text, str):
        raise TypeError(
            f"{name} is a {type(value).__name__}, expected a DataArray, a number, a string, or a"
            " list of numbers or strings"
        )
    quote = next((q for q in "\"'" if q not in text), None)
    if quote is None:
        raise ValueError(f"{name} is {text!r}, expected a string without both kinds of quotes")
    return quote + text + quote


# --- Results -------------------------------------------------------------------------------------


def _labelled(result: Result, inputs: list[xr.DataArray]) -> xr.DataArray:
    """Returns a result with its coordinates, from inputs or computed by the expression."""
    data = result.array
    dims = tuple(d or f"dim_{i}" for i, d in enumerate(data._x.dim_names))
    coords: dict[Hashable, Any] = {}
    taken: dict[Hashable, Callable[[Any], Any] | None] = {}
    for dim, size, c in zip(dims, data.shape, result.coordinates, strict=True):
        taken[dim] = _part(dim, size, c)
        if c is not None and c[6] is not None:
            made = _made(Array._new(c[6], data._spec), dim, inputs)
            coords[dim] = made.isel({dim: _positions(c)})
            taken[dim] = None
    for x in inputs:
        for name, v in x.coords.items():
            if name in coords or (v.ndim == 0 and (x is not inputs[0] or name in dims)):
                continue
            own = v.variable
            for dim in v.dims:
                take = taken.get(dim)
                own = None if own is None or take is None else take(own)
            if own is not None:
                coords[name] = own
    attrs = {k: v for k, v in typed_attributes(data._x.attrs).items() if k != "coordinates"}
    return xr.DataArray(data, coords, dims, inputs[0].name, attrs)


def _positions(c: _core.ExpressionCoordinate) -> Any:
    _, first, length, step, _, _, _ = c
    return first + step * np.arange(length)


def _part(
    dim: Hashable, size: int, c: _core.ExpressionCoordinate | None
) -> Callable[[Any], Any] | None:
    """Returns a function that selects the part of an input's coordinate that describes a result.

    None if no coordinate of the inputs describes the result.
    """
    if c is None:
        return lambda v: v if v.sizes[dim] == size else None
    if not c[5]:
        return None
    return lambda v: v.isel({dim: _positions(c)}) if v.sizes[dim] == c[4] else None


def _made(x: Array, dim: Hashable, inputs: list[xr.DataArray]) -> Any:
    """Returns a coordinate that an expression computed, with dates like those of the inputs."""
    with in_memory():
        values = np.asarray(x.compute())
    attrs = {k: v for k, v in typed_attributes(x._x.attrs).items() if k not in _OF_BOUNDS}
    v = xr.Variable((dim,), values, attrs)
    like = next((a.coords[dim].variable for a in inputs if dim in a.coords), None)
    if like is None or "since" not in str(attrs.get("units")) or not _is_dated(like):
        return v
    coder = xr.coding.times.CFDatetimeCoder(use_cftime=like.dtype.kind == "O")
    decoded = cast("Any", coder).decode(v, name=dim)
    if like.dtype.kind == "M":
        decoded = decoded.astype(like.dtype)
    decoded.attrs.update({k: v for k, v in like.attrs.items() if k not in _OF_BOUNDS})
    return decoded
