"""``xarray.map_blocks``: functions on Xarray's objects, block by block."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xarray import DataArray, Dataset, Variable, align

from cubed.array._array import Array
from cubed.array._calls import Cut, Operand, Output, count, cuts, run_blocks, sizes, title_of, unify
from cubed.array._operands import common_spec
from cubed.base._types import NDArray
from cubed.blocks._apply import wants_keyword

#: Keyword of map_blocks for the bytes that a call allocates. If the function has a
#: parameter of this name, the function gets the keyword instead.
_EXTRA = "extra_projected_mem"
#: Identifies a variable of an argument: the index of the argument among the Xarray objects, and
#: the name of the variable.
_Source = tuple[int, Hashable]
#: Maps the id of an array without elements to the array, which keeps the id in use, and to the
#: variable that the array stands for. If a result contains the array, the function returned the
#: variable unchanged.
_Passed = dict[int, tuple[Any, _Source]]
#: Name of the variable of a DataArray that is converted to a Dataset.
_DATA = "<this-array>"
_OBJECTS = (DataArray, Dataset)


def map_blocks(
    theirs: Any,
    func: Callable[..., Any],
    obj: Any,
    args: Sequence[Any] = (),
    kwargs: Any = None,
    template: Any = None,
) -> Any:
    """Calls a function with objects that hold one block of each lazy variable.

    Without a template, a call with objects without elements shows what the function returns.
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
    if inferred:
        _check_lengths(title, result, inputs)
    coords = {n: result.variables[n] for n in result.coords}
    if inferred:
        sources = _take_coordinates(result, inputs, coords, passed)
    else:
        sources = {n: None for n, v in coords.items() if n in result.xindexes or _stays(v)}
    computed = [n for n in (*result.data_vars, *coords) if n not in sources]
    plans = [_Variable(title, n, result.variables[n], found, inputs, inferred) for n in computed]
    extents = {d: sizes(c) for p in plans for d, c in zip(p.dims, p.cuts, strict=True)}
    for d, cut in found.items():
        if d not in extents and count(cut) > 1:
            raise ValueError(
                f"{title}: the result has no dimension {d!r}, which is in {count(cut)} chunks:"
                f" chunk({d}=-1) first"
            )
    kept = {n: coords[n] for n in sources if not isinstance(coords[n]._data, Array)}
    expected = _Expected(
        frozenset(result.data_vars),
        frozenset(result.coords),
        {p.name: p.dims for p in plans},
        extents,
        Dataset(coords=kept),
        tuple((n, s) for n, s in sources.items() if s is not None and n not in kept),
        "arguments" if inferred else "template",
    )

    made: dict[Hashable, Variable] = {}
    spec = common_spec(*(v._data for a in objects for v in _lazy_variables(a).values()))
    for dims in dict.fromkeys(frozenset(p.indices) - {None} for p in plans):
        mine = [p for p in plans if frozenset(p.indices) - {None} == dims]
        # These results do not depend on the block along other dimensions, so the first blocks are
        # used.
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
            expected,
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


# --- Arguments ------------------------------------------------------------------------------------


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
    """Returns the chunks of each dimension. All lazy variables must agree."""
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
    data: Any = v._data
    several = [d not in dims and count(found[d]) > 1 for d in v.dims]
    if not any(several):
        return data
    first = (sizes(found[d])[0] if cut else None for d, cut in zip(v.dims, several, strict=True))
    return data[tuple(map(slice, first))]


# --- Results --------------------------------------------------------------------------------------


def _inferred(
    title: str, func: Callable[..., Any], given: Sequence[Any], kwargs: Any
) -> tuple[Any, _Passed]:
    """Calls the function with objects without elements.

    Returns the result, and the arrays that represent variables of the arguments.
    """
    empty = [_without_elements(a) for a in given]
    passed: _Passed = {}
    objects = [e for e in empty if isinstance(e, (DataArray, Dataset))]
    for i, e in enumerate(objects):
        for n, v in _data_set(e).variables.items():
            passed[id(v._data)] = (v._data, (i, n))
    try:
        return func(*empty, **kwargs), passed
    except Exception as e:
        raise ValueError(
            f"{title}: the result cannot be found by a call with objects without elements:"
            f" {type(e).__name__}: {e}; give a template"
        ) from e


def _check_lengths(title: str, result: Dataset, inputs: Sequence[Dataset]) -> None:
    """Raises ValueError if a new dimension has length 0 only because the arguments were empty."""
    known = {d: n for ds in inputs for d, n in ds.sizes.items()}
    for d, n in result.sizes.items():
        if n == 0 and d not in known and 0 not in known.values():
            raise ValueError(
                f"{title}: the length of the new dimension {d!r} cannot be found by calling it with"
                " objects without elements; give a template"
            )


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
) -> dict[Hashable, _Source | None]:
    """Replaces indexes and unchanged variables by those of the arguments.

    Returns the coordinates that are not computed block by block, each with its source, a variable
    of an argument. Each block that the function returns is compared with them.
    """
    sources: dict[Hashable, _Source | None] = {}
    for n, v in coords.items():
        source = passed.get(id(v._data), (None, None))[1]
        if source is None and n in result.xindexes:
            same = (i for i, ds in enumerate(inputs) if n in ds.coords and ds[n].dims == v.dims)
            source = next(((i, n) for i in same), None)
        if source is not None:
            variable = inputs[source[0]].variables[source[1]]
            if variable.dims == v.dims:
                coords[n] = variable._replace(attrs=v.attrs)
                sources[n] = source
                continue
        elsewhere = not any(d in ds.dims for ds in inputs for d in v.dims)
        if n in result.xindexes or (_stays(v) and elsewhere):
            sources[n] = None
    return sources


def _stays(v: Variable) -> bool:
    """Returns whether a template's coordinate is kept unchanged, because the engine lacks its
    type."""
    return v.dtype.kind in "OTV"


class _Variable:
    """A variable of the result, and its chunks."""

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
        # A dimension of one chunk is whole in every block. Omitting it reduces the number of calls.
        self.indices = tuple(d if d in found and count(found[d]) > 1 else None for d in v.dims)


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
        """Returns the argument with its lazy variables, whose blocks are the next ones of
        `blocks`."""
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
    expected: _Expected

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        number = dict(zip(self.symbols, index, strict=False))
        slices = {d: _part(extents, number.get(d, 0)) for d, extents in self.extents.items()}
        rest = iter(blocks)
        args = [a.filled(rest, slices) for a in self.args]
        out = self.func(*args, **self.kwargs)
        if not isinstance(out, (DataArray, Dataset)):
            name = type(out).__name__
            raise TypeError(f"the result is a {name}, expected a DataArray or Dataset")
        ds = _data_set(out)
        self.expected.check(ds, [_data_set(a) for a in args if isinstance(a, _OBJECTS)], number)
        # Not `.values`, which drops the mask of a masked array. Masked arrays are refused later.
        return [ds.variables[n].transpose(*dims).data for n, dims in self.outputs]


@dataclass(frozen=True)
class _Expected:
    """The names, extents and coordinates that the function has to return for each block."""

    data: frozenset[Hashable]
    coords: frozenset[Hashable]
    # Dimensions of the variables that are computed block by block.
    dims: dict[Hashable, tuple[Hashable, ...]]
    extents: dict[Hashable, tuple[int, ...]]  # extents of the blocks along each dimension
    labels: Dataset  # coordinates of the whole result that are in memory
    passed: tuple[tuple[Hashable, _Source], ...]  # lazy coordinates that come from an argument
    origin: str  # source of the expected coordinates, for messages

    def check(self, out: Dataset, objects: Sequence[Dataset], number: dict[Hashable, int]) -> None:
        """Raises ValueError if a block of the result does not fit."""
        self._check_names(out)
        for n, dims in self.dims.items():
            got = out.variables[n]
            what = "the result" if n == _DATA else f"{n!r} of the result"
            if set(got.dims) != set(dims):
                raise ValueError(f"{what} has dimensions {got.dims}, expected {dims}")
            for d in dims:
                length = self.extents[d][number.get(d, 0)]
                if got.sizes[d] != length:
                    raise ValueError(
                        f"{what} has length {got.sizes[d]} along {d!r}, expected {length}"
                    )
        parts = {
            d: _part(extents, number.get(d, 0))
            for d, extents in self.extents.items()
            if d in self.labels.dims
        }
        for n, want in self.labels.isel(parts).variables.items():
            self._check_coordinate(n, out.variables[n], want)
        for n, (i, name) in self.passed:
            self._check_coordinate(n, out.variables[n], objects[i].variables[name])

    def _check_names(self, out: Dataset) -> None:
        got = (frozenset(out.data_vars), frozenset(out.coords))
        for what, mine, expected in zip(
            ("data", "coordinate"), got, (self.data, self.coords), strict=True
        ):
            if mine - expected:
                raise ValueError(
                    f"the result has unexpected {what} variables {set(mine - expected)}"
                )
            if expected - mine:
                raise ValueError(
                    f"the result has no {what} variables {set(expected - mine)}, expected by the"
                    " template"
                )

    def _check_coordinate(self, name: Hashable, got: Variable, want: Variable) -> None:
        if not want.equals(got):  # type: ignore[no-untyped-call]
            raise ValueError(
                f"coordinate {name!r} of the result is {_short(got)}, expected {_short(want)} as in"
                f" the {self.origin}: return it unchanged, or give a template whose coordinates"
                " are those of the result"
            )


def _part(extents: tuple[int, ...], number: int) -> slice:
    """Returns the elements of a block along its dimension."""
    start = sum(extents[:number])
    return slice(start, start + extents[number])


def _short(v: Variable) -> str:
    return np.array2string(np.asarray(v.values), threshold=6, edgeitems=2)
