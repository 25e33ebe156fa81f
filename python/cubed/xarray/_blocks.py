"""``xarray.map_blocks``: functions on Xarray's objects, block by block."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xarray import DataArray, Dataset, Variable, align

from cubed.array._array import Array
from cubed.array._operands import common_spec
from cubed.base._types import NDArray
from cubed.blocks._apply import wants_keyword
from cubed.blocks._blockwise import (
    Cut,
    Operand,
    Output,
    count,
    cuts,
    run_blocks,
    sizes,
    title_of,
    unify,
)

#: In the keywords of a function that has no such parameter: bytes that a call allocates.
_EXTRA = "extra_projected_mem"
#: By the identity of an array the array, so that it is not another one's, and a variable that it
#: stands for: where a result has it, the function has passed that through.
_Passed = dict[int, tuple[Any, Variable]]
#: What the variable of a DataArray is called in a data set.
_DATA = "<this-array>"


def map_blocks(
    theirs: Any,
    func: Callable[..., Any],
    obj: Any,
    args: Sequence[Any] = (),
    kwargs: Any = None,
    template: Any = None,
) -> Any:
    """Calls a function with objects that have one block of each lazy variable.

    What it gives is found by calling it with objects without elements, if no template says it.
    """
    given = [obj, *args]
    if not any(_lazy_variables(a) for a in given):
        return NotImplemented
    kwargs = dict(kwargs or {})
    extra = None if wants_keyword(func, _EXTRA) else kwargs.pop(_EXTRA, None)
    title = title_of("map_blocks", func)
    for name, value in kwargs.items():
        if _lazy_variables(value):
            raise TypeError(f"{title}: {name} is lazy: pass it in args")
    objects = [a for a in given if isinstance(a, (DataArray, Dataset))]
    align(*objects, join="exact")
    found = _cuts(title, objects)
    inferred = template is None
    passed: _Passed = {}
    if inferred:
        template, passed = _inferred(title, func, given, kwargs)
    if not isinstance(template, (DataArray, Dataset)):
        raise TypeError(
            f"{title}: the result is a {type(template).__name__}, expected a DataArray or Dataset"
        )
    result, inputs = _data_set(template), [_data_set(a) for a in objects]
    coords = {n: result.variables[n] for n in result.coords}
    computed = list(result.data_vars)
    if inferred:
        computed += _take_coordinates(result, inputs, coords, passed)
    plans = [_Variable(title, n, result.variables[n], found, inputs, inferred) for n in computed]
    kept = {d for p in plans for d in p.dims}
    for d, cut in found.items():
        if d not in kept and count(cut) > 1:
            raise ValueError(
                f"{title}: the result has no dimension {d!r}, which is in {count(cut)} chunks:"
                f" chunk({d}=-1) first"
            )

    made: dict[Hashable, Variable] = {}
    spec = common_spec(*(v._data for a in objects for v in _lazy_variables(a).values()))
    for dims in {frozenset(p.indices) for p in plans}:
        mine = [p for p in plans if frozenset(p.indices) == dims]
        # Blocks along other dimensions all give the same: the first one does.
        operands = [
            Operand(_first_blocks(v, found, dims)._x, v.dims)
            for a in objects
            for v in _lazy_variables(a).values()
        ]
        outputs = [Output(p.dtype, p.cuts, p.indices) for p in mine]
        symbols = tuple(dict.fromkeys(d for p in mine for d in p.indices if d is not None))
        call = _Call(
            func,
            tuple(_Shell.of(a) for a in given),
            kwargs,
            symbols,
            {d: sizes(c) for d, c in found.items()},
            tuple((p.name, p.dims) for p in mine),
            (frozenset(result.data_vars), frozenset(result.coords)),
        )
        arrays = run_blocks(
            title, call, operands, unify(operands, title, True), outputs, extra, spec
        )
        for p, x in zip(mine, arrays, strict=True):
            made[p.name] = Variable(p.dims, x, p.attrs)
    out = Dataset(
        {n: made[n] for n in result.data_vars},
        {n: made.get(n, v) for n, v in coords.items()},
        result.attrs,
    )
    return _array(out, template.name) if isinstance(template, DataArray) else out


# --- What there is --------------------------------------------------------------------------------


def _data_set(a: Any) -> Dataset:
    return a if isinstance(a, Dataset) else a._to_dataset_whole(_DATA, shallow_copy=False)


def _array(ds: Dataset, name: Hashable) -> DataArray:
    out = ds[_DATA]
    out.name = name
    return out


def _lazy_variables(a: Any) -> dict[Hashable, Variable]:
    if not isinstance(a, (DataArray, Dataset)):
        return {}
    return {n: v for n, v in _data_set(a).variables.items() if isinstance(v._data, Array)}


def _cuts(title: str, objects: Sequence[Any]) -> dict[Hashable, Cut]:
    """How dimensions are cut."""
    found: dict[Hashable, Cut] = {}
    for a in objects:
        for v in _lazy_variables(a).values():
            data: Any = v._data
            for d, cut in zip(v.dims, cuts(data._x), strict=True):
                if found.setdefault(d, cut) != cut:
                    raise ValueError(
                        f"{title}: dimension {d!r} is in chunks of {found[d][1]} and of {cut[1]}:"
                        " unify_chunks first"
                    )
    return found


def _first_blocks(v: Variable, found: dict[Hashable, Cut], dims: frozenset[Any]) -> Array:
    key = tuple(slice(None) if d in dims else slice(sizes(found[d])[0]) for d in v.dims)
    data: Any = v._data
    return data[key]


# --- What it gives --------------------------------------------------------------------------------


def _inferred(
    title: str, func: Callable[..., Any], given: Sequence[Any], kwargs: Any
) -> tuple[Any, _Passed]:
    """What the function gives for objects without elements, and what stands for the variables of
    the arguments there."""
    empty = [_without_elements(a) for a in given]
    passed = {}
    for a, e in zip(given, empty, strict=True):
        if isinstance(a, (DataArray, Dataset)):
            there = _data_set(e).variables
            for n, v in _data_set(a).variables.items():
                passed[id(there[n]._data)] = (there[n]._data, v)
    try:
        return func(*empty, **kwargs), passed
    except Exception as e:
        raise ValueError(
            f"{title}: what it gives cannot be found by calling it with objects without elements:"
            f" {type(e).__name__}: {e}; give a template"
        ) from e


def _without_elements(a: Any) -> Any:
    if not isinstance(a, (DataArray, Dataset)):
        return a
    ds = _data_set(a)
    empty = {
        n: (v.dims, np.empty((0,) * v.ndim, v.dtype) if v.ndim else v.values, v.attrs)
        for n, v in ds.variables.items()
    }
    out = Dataset({n: empty[n] for n in ds.data_vars}, {n: empty[n] for n in ds.coords}, ds.attrs)
    return out if isinstance(a, Dataset) else _array(out, a.name)


def _take_coordinates(
    result: Dataset,
    inputs: Sequence[Dataset],
    coords: dict[Hashable, Variable],
    passed: _Passed,
) -> list[Hashable]:
    """Indices, and what is passed through, are those of the inputs. Names of coordinates to be made
    block by block."""
    computed = []
    for n, v in coords.items():
        same = [ds.variables[n] for ds in inputs if n in ds.coords and ds[n].dims == v.dims]
        source = passed.get(id(v._data), (None, None))[1]
        if source is None and same and n in result.xindexes:
            source = same[0]
        if source is not None and source.dims == v.dims:
            coords[n] = source._replace(attrs=v.attrs)
        elif n not in result.xindexes and any(d in ds.dims for ds in inputs for d in v.dims):
            computed.append(n)
    return computed


class _Variable:
    """A variable of the result, and how it is cut."""

    def __init__(
        self,
        title: str,
        name: Hashable,
        v: Variable,
        found: dict[Hashable, Cut],
        inputs: Sequence[Dataset],
        inferred: bool,
    ) -> None:
        self.name, self.dims, self.dtype, self.attrs = name, v.dims, v.dtype, v.attrs
        data: Any = v._data
        given = cuts(data._x) if isinstance(data, Array) else None
        known = {d: n for ds in inputs for d, n in ds.sizes.items()}
        self.cuts: list[Cut] = []
        for axis, d in enumerate(v.dims):
            extent = known.get(d, v.shape[axis]) if inferred else v.shape[axis]
            own = found[d] if d in found and found[d][0] == extent else (extent, max(1, extent))
            cut = given[axis] if given is not None else own
            blocks = count(found[d]) if d in found else 1
            if count(cut) != blocks:
                raise ValueError(
                    f"{title}: {name!r} has {count(cut)} chunks of {cut[1]} along {d!r}, expected"
                    f" {blocks} as in the arguments"
                )
            self.cuts.append(cut)
        self.indices = tuple(d if d in found else None for d in v.dims)


# --- Calls ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Shell:
    """An argument: an object without its lazy variables, or another value."""

    value: Any
    order: tuple[Hashable, ...] = ()
    lazy: tuple[tuple[Hashable, tuple[Hashable, ...], dict[Any, Any]], ...] = ()
    coords: frozenset[Hashable] = frozenset()
    is_array: bool = False
    name: Hashable = None

    @staticmethod
    def of(a: Any) -> _Shell:
        if not isinstance(a, (DataArray, Dataset)):
            return _Shell(a)
        ds, lazy = _data_set(a), _lazy_variables(a)
        return _Shell(
            ds.drop_vars(lazy),
            tuple(ds.data_vars),
            tuple((n, v.dims, v.attrs) for n, v in lazy.items()),
            frozenset(n for n in lazy if n in ds.coords),
            isinstance(a, DataArray),
            a.name if isinstance(a, DataArray) else None,
        )

    def filled(self, blocks: Any, slices: dict[Hashable, slice]) -> Any:
        """The argument with blocks of its lazy variables, which are next of all."""
        if not isinstance(self.value, Dataset):
            return self.value
        ds = self.value.isel({d: s for d, s in slices.items() if d in self.value.dims})
        ds = ds.assign({n: Variable(dims, next(blocks), attrs) for n, dims, attrs in self.lazy})
        ds = ds.set_coords(self.coords)[list(self.order)]
        return _array(ds, self.name) if self.is_array else ds


@dataclass(frozen=True)
class _Call:
    func: Callable[..., Any]
    args: tuple[_Shell, ...]
    kwargs: dict[str, Any]
    symbols: tuple[Hashable, ...]
    extents: dict[Hashable, tuple[int, ...]]
    outputs: tuple[tuple[Hashable, tuple[Hashable, ...]], ...]
    names: tuple[frozenset[Hashable], frozenset[Hashable]]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        number = dict(zip(self.symbols, index, strict=False))
        slices = {}
        for d, extents in self.extents.items():
            start = sum(extents[: number.get(d, 0)])
            slices[d] = slice(start, start + extents[number.get(d, 0)])
        rest = iter(blocks)
        out = _data_set(self.func(*(a.filled(rest, slices) for a in self.args), **self.kwargs))
        self._check(out)
        return [out.variables[n].transpose(*dims).values for n, dims in self.outputs]

    def _check(self, out: Dataset) -> None:
        """That the result has the names that were expected."""
        got = (frozenset(out.data_vars), frozenset(out.coords))
        for what, mine, expected in zip(("data", "coordinate"), got, self.names, strict=True):
            if mine - expected:
                raise ValueError(
                    f"the result has unexpected {what} variables {set(mine - expected)}"
                )
            if expected - mine:
                raise ValueError(
                    f"the result has no {what} variables {set(expected - mine)}, expected by the"
                    " template"
                )
