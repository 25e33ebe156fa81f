"""Applying functions of users to blocks: index notation, and what it means to the engine."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._cores import core_from_numpy, engine_chunks
from cubed.array._neighbours import refuse_chunked
from cubed.array._operands import common_spec, core_of
from cubed.base._docs import documented
from cubed.base._dtypes import dtype_of, name_of
from cubed.base._types import NDArray
from cubed.runtime._call import Runner, pack, refuse_masked_result
from cubed.spec import Spec

#: Completes docstrings of what applies functions of users to blocks.
on_blocks = partial(
    documented,
    parameters={
        "dtype": (
            "dtype or None : Of the result. None: found by calling the function with blocks of one"
            " element."
        ),
        "kwargs": "object : Passed to the function.",
        "spec": "What computations may use, where no array says it.",
    },
    raises=(
        "TypeError: The function cannot be pickled; when it is computed a block of another kind of"
        " type."
    ),
)

#: How an axis is cut: its extent, and that of all blocks but the last, or, where they differ, of
#: each of them.
Cut = tuple[int, int | tuple[int, ...]]


#: What functions are taken to allocate that do not say it: so many copies of their blocks, inputs
#: and results, and bytes for Python's objects.
COPIES, OBJECTS = 2, 2**20


def count(cut: Cut) -> int:
    """Number of blocks; an axis without elements is one block."""
    extent, chunk = cut
    return len(chunk) if isinstance(chunk, tuple) else max(1, -(-extent // chunk))


def sizes(cut: Cut) -> tuple[int, ...]:
    """Extents of the blocks."""
    extent, chunk = cut
    if isinstance(chunk, tuple):
        return chunk
    return tuple(min(chunk, extent - i * chunk) for i in range(count(cut)))


def bounds(cut: Cut, i: int) -> tuple[int, int]:
    """Where block number i begins and ends."""
    extent, chunk = cut
    if isinstance(chunk, tuple):
        start = sum(chunk[:i])
        return start, start + chunk[i]
    return i * chunk, min(extent, (i + 1) * chunk)


def cut_of(extents: Sequence[int], what: str) -> Cut:
    """The cut with these extents of blocks."""
    first = max(1, extents[0]) if extents else 1
    out = (sum(extents), first)
    if sizes(out) == tuple(extents):
        return out
    if min(extents) < 1:
        raise NotImplementedError(
            f"{what}: blocks of extents {tuple(extents)}: each must have an element"
        )
    return sum(extents), tuple(extents)


def merged(cut: Cut, several: int, what: str) -> Cut:
    """The cut with so many blocks put together."""
    extent, chunk = cut
    if not isinstance(chunk, tuple):
        return extent, chunk * several
    return cut_of([sum(chunk[i : i + several]) for i in range(0, len(chunk), several)], what)


def finer(cut: Cut, most: int) -> Cut:
    """The cut with blocks of at most so many elements."""
    extent, chunk = cut
    if not isinstance(chunk, tuple):
        return extent, min(chunk, most)
    pieces = (min(most, n - at) for n in chunk for at in range(0, n, most))
    return cut_of(tuple(pieces), "finer blocks")


def common(cuts: Sequence[Cut]) -> Cut:
    """How axes of one extent are cut together: by the smallest chunk, or, where chunks differ and
    not all are cut alike, wherever one of them is."""
    if all(cut == cuts[0] for cut in cuts):
        return cuts[0]
    if not any(isinstance(chunk, tuple) for _, chunk in cuts):
        return min(cuts)
    edges = np.unique(np.concatenate([np.cumsum((0, *sizes(cut))) for cut in cuts]))
    return cut_of(np.diff(edges).tolist(), "common chunks")


def cuts(x: _core.Array) -> list[Cut]:
    """How the blocks of an array are cut: as its chunks."""
    chunks = engine_chunks(x)
    return [
        (n, c if isinstance(c, tuple) else min(c, max(1, n)))
        for n, c in zip(x.shape, chunks, strict=True)
    ]


@dataclass
class Operand:
    """An argument in blocks: the index that each axis belongs to."""

    array: _core.Array
    indices: tuple[Hashable, ...]
    #: What comes with blocks along each axis: elements before, after, and whether the array has
    #: them at its ends in addition to the blocks. None: nothing.
    halo: tuple[tuple[int, int, bool], ...] | None = None


@dataclass
class Output:
    """A result: its type, the cut of each axis, and the index; None: the axis is in every block
    whole."""

    dtype: np.dtype[Any]
    cuts: list[Cut]
    indices: tuple[Hashable | None, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(extent for extent, _ in self.cuts)


def unify(operands: Sequence[Operand], title: str, align: bool) -> dict[Hashable, list[Cut]]:
    """How the axes of every operand are cut, by index: one cut for each operand that has it, in
    order.

    Axes of one extent are cut alike (:func:`common`). Axes whose extents differ belong
    together block by block, unless `align`; those of extent 1, and of one block, are given to all
    calls.
    """
    found: dict[Hashable, list[Cut]] = {}
    for x in operands:
        for index, cut in zip(x.indices, cuts(x.array), strict=True):
            found.setdefault(index, []).append(cut)
    return {index: _unify_one(index, mine, title, align) for index, mine in found.items()}


def _unify_one(index: Hashable, mine: list[Cut], title: str, align: bool) -> list[Cut]:
    extents = {extent for extent, _ in mine if extent != 1}
    if len(extents) == 1:
        cut = common([c for c in mine if c[0] != 1])
        return [cut if c[0] != 1 else (1, 1) for c in mine]
    if extents and align:
        raise ValueError(
            f"{title}: arrays have extents {sorted(extents)} along index {index!r}, expected one"
        )
    blocks = {count(cut) for cut in mine if count(cut) != 1}
    if len(blocks) > 1:
        raise ValueError(
            f"{title}: arrays have {sorted(blocks)} blocks along index {index!r}, expected one"
            " number"
        )
    return mine


def join(unified: Mapping[Hashable, list[Cut]]) -> dict[Hashable, Cut]:
    """By index how results are cut: as the first operand with the most blocks that is not
    broadcast."""
    return {
        index: max([c for c in mine if c[0] != 1] or mine, key=count)
        for index, mine in unified.items()
    }


#: Bytes that a call allocates in addition to its results; None: what :data:`COPIES` says. A
#: function gets the extents of the largest block of each operand.
ExtraMem: TypeAlias = int | Callable[[Sequence[Sequence[int]]], int] | None


def run_blocks(
    title: str,
    runner: Runner,
    operands: Sequence[Operand],
    unified: Mapping[Hashable, list[Cut]],
    outputs: Sequence[Output],
    extra_mem: ExtraMem,
    spec: Spec | None,
    held_mem: int = 0,
) -> tuple[Array, ...]:
    """The results of a function on blocks: one call for each combination of the outputs' indices.
    What operands have beside those comes whole.

    `held_mem` is what the runner holds in addition.

    Symbols, whose block numbers the runner gets, are the indices of the outputs in their order.
    """
    symbols: dict[Hashable, int] = {}
    for out in outputs:
        for index in out.indices:
            if index is not None:
                symbols.setdefault(index, len(symbols))
    left = {index: list(c) for index, c in unified.items()}
    inputs = []
    for x in operands:
        mine = [left[index].pop(0) for index in x.indices]
        # The engine makes no calls along an axis without elements, which is one block here.
        numbers = [
            symbols.get(index, -1) if cut[0] else -1
            for index, cut in zip(x.indices, mine, strict=True)
        ]
        halo = x.halo or ((0, 0, False),) * len(mine)
        inputs.append((x.array, numbers, [chunk for _, chunk in mine], halo))
    made = []
    for out in outputs:
        numbers = [-1 if index is None else symbols[index] for index in out.indices]
        chunks = tuple(chunk for _, chunk in out.cuts)
        made.append((name_of(out.dtype), out.shape, chunks, numbers))
    if all(math.prod(out.shape) == 0 for out in outputs):
        return tuple(
            Array._new(core_from_numpy(np.empty(shape, dtype_of(name)), cut), spec)
            for name, shape, cut, _ in made
        )
    if not isinstance(extra_mem, int):
        own = [_longest(x.shape, mine, numbers) for x, numbers, mine, _ in inputs]
        types = [dtype_of(x.dtype).itemsize for x, *_ in inputs]
        if extra_mem is None:
            own += [_longest(*block[1:]) for block in made]
            types += [out.dtype.itemsize for out in outputs]
            blocks = zip(types, own, strict=True)
            extra_mem = OBJECTS + COPIES * sum(size * math.prod(n) for size, n in blocks)
        else:
            extra_mem = extra_mem(own)
    params = pack(title, runner, extra_mem + held_mem)
    return tuple(Array._new(x, spec) for x in _core.blockwise(params, tuple(inputs), tuple(made)))


def _longest(shape: Sequence[int], chunks: Sequence[Any], symbols: Sequence[int]) -> list[int]:
    """Extents of the largest block; axes without a symbol come whole."""
    longest = (max(c) if isinstance(c, tuple) else c for c in chunks)
    return [n if symbol < 0 else c for n, c, symbol in zip(shape, longest, symbols, strict=True)]


def made_of(
    arrays: Sequence[Array], make: Callable[..., tuple[Array, ...]], *memory: int
) -> tuple[Array, ...]:
    """The results of make(arrays, *memory), which cuts blocks for the arrays' chunks and a TaskMem.

    The advice of a refusal has them made again for another `allowed_mem`, in other blocks.
    """
    specs: list[Any] = []

    def cores(given: tuple[_core.Array, ...], *memory: int) -> tuple[_core.Array, ...]:
        made = make([a._like(x) for a, x in zip(arrays, given, strict=True)], *memory)
        specs[:] = [x._spec for x in made]
        return tuple(x._x for x in made)

    made = _core.record(cores, tuple(a._x for a in arrays), *memory)
    return tuple(Array._new(x, spec) for x, spec in zip(made, specs, strict=True))


def refuse_lazy(title: str, args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
    """TypeError for lazy arrays in keywords, and for those of other libraries anywhere."""
    for key, value in kwargs.items():
        if isinstance(value, Array):
            raise TypeError(f"{title}: {key} is a lazy array: pass it before the keywords")
    refuse_chunked(title, *args, *kwargs.values())


def title_of(operation: str, function: Any) -> str:
    """What messages and plans call the operation: ``map_blocks(f)``."""
    name = getattr(function, "__name__", None)
    inner = getattr(function, "func", None)  # functools.partial
    return f"{operation}({name or getattr(inner, '__name__', None) or type(function).__name__})"


def tiny(x: _core.Array) -> NDArray:
    """Values to try a function with: one element along each axis."""
    return np.ones((1,) * len(x.shape), dtype_of(x.dtype))


def infer_dtypes(title: str, call: Callable[[], Sequence[Any]]) -> list[np.dtype[Any]]:
    """Types of what a function returns for tiny blocks."""
    try:
        with np.errstate(all="ignore"):
            results = call()
            types = [np.asarray(r).dtype for r in results]
    except Exception as e:
        raise ValueError(
            f"{title}: its type cannot be found by trying it with blocks of one element:"
            f" {type(e).__name__}: {e}; give dtype"
        ) from e
    for r in results:
        refuse_masked_result(r, f"{title}: ")
    return types


# --- Index notation -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A function whose blocks come where it wants them, between its other arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]  # arrays are None
    places: tuple[int, ...]  # of the arrays in args
    kwargs: dict[str, Any]

    def result(self, blocks: Iterable[Any], **more: Any) -> Any:
        """What the function returns."""
        args = list(self.args)
        for place, block in zip(self.places, blocks, strict=True):
            args[place] = block
        return self.function(*args, **more, **self.kwargs)


@dataclass(frozen=True)
class _NestedCall(Call):
    #: For each array, along each axis that no output has: extents of its blocks. They are lists
    #: then.
    contracted: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        nested = (_nested(b, axes) for b, axes in zip(blocks, self.contracted, strict=True))
        return (self.result(nested),)


def _nested(block: NDArray, axes: tuple[tuple[int, tuple[int, ...]], ...]) -> Any:
    """The block as nested lists of blocks along some axes; views."""
    if not axes:
        return block
    (axis, extents), rest = axes[0], axes[1:]
    if len(extents) > 1 and block.shape[axis] == 1:  # one block for all
        return [_nested(block, rest)] * len(extents)
    ends = np.cumsum(extents[:-1])
    return [_nested(part, rest) for part in np.split(block, ends, axis)]


@on_blocks(returns="Lazy: nothing is computed.")
def blockwise(
    func: Callable[..., Any],
    out_ind: Sequence[Hashable],
    *args: Any,
    dtype: Any = None,
    adjust_chunks: Mapping[Hashable, Any] | None = None,
    new_axes: Mapping[Hashable, Any] | None = None,
    align_arrays: bool = True,
    concatenate: bool | None = None,
    extra_projected_mem: int = 0,
    name: str | None = None,
    spec: Spec | None = None,
    **kwargs: Any,
) -> Array:
    """Applies a function to blocks of arrays that index notation puts together.

    Parameters
    ----------
    func : callable
        Gets the blocks as read-only NumPy arrays and returns the block of the result.
    out_ind : str or sequence
        Index of each axis of the result: a string such as ``"ij"``, or a sequence.
    *args : array_like
        Arrays and their indices in turn: ``x, "ij", y, "jk"``. Index None: a value that every call
        gets as it is.
    adjust_chunks : dict or None
        By index what becomes of the blocks' extents: a function of the extent, a number, or the
        extents of all blocks.
    new_axes : dict or None
        Extents, or extents of all blocks, of indices that no array has.
    align_arrays : bool, default True
        Whether arrays with the same index must have the same extent, and are cut alike. Else they
        need have equally many blocks.
    concatenate : bool or None
        Blocks along indices that the result does not have come as one array if true, else as
        (nested) lists of blocks.

    Raises
    ------
    ValueError
        Indices that do not fit the arrays, extents that differ; when it is computed a block of
        another shape than expected.

    Examples
    --------
    >>> import numpy as np
    >>> x, y = cubed.ones((2, 3)), cubed.ones((3, 2))
    >>> cubed.blockwise(np.matmul, "ik", x, "ij", y, "jk", dtype=float, concatenate=True).compute()
    array([[3., 3.],
           [3., 3.]])
    """
    title = name or title_of("blockwise", func)
    if len(args) % 2:
        raise ValueError(f"{title}: arrays and their indices come in pairs")
    out_ind = tuple(out_ind)
    pairs = list(zip(args[::2], args[1::2], strict=True))
    operands, values, places = [], [], []
    for i, (value, index) in enumerate(pairs):
        values.append(None if index is not None else value)
        if index is not None:
            operands.append(_operand(title, i, value, tuple(index)))
            places.append(i)
        elif isinstance(value, Array):
            raise TypeError(f"{title}: argument {i} is a lazy array, expected a value")
    refuse_lazy(title, values, kwargs)
    specs = [a for a, index in pairs if index is not None]
    spec = common_spec(*specs) or spec

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        nonlocal dtype
        cores = [Operand(a._x, x.indices) for a, x in zip(mine, operands, strict=True)]
        unified = unify(cores, title, align_arrays)
        joined = join(unified)
        contracted = [
            tuple(
                (axis, sizes(joined[index]))
                for axis, index in enumerate(x.indices)
                if index not in out_ind and not concatenate
            )
            for x in cores
        ]
        call = _NestedCall(func, tuple(values), tuple(places), kwargs, tuple(contracted))
        if dtype is None:
            dtype = infer_dtypes(title, lambda: _try(call, cores))[0]
        cuts_out = _output_cuts(title, out_ind, joined, adjust_chunks or {}, new_axes or {})
        out = Output(np.dtype(dtype), cuts_out, out_ind)
        return run_blocks(title, call, cores, unified, [out], extra_projected_mem, spec)

    return made_of([Array._new(x.array, spec) for x in operands], make)[0]


def _try(call: _NestedCall, operands: Sequence[Operand]) -> Sequence[Any]:
    """Calls the function with blocks of one element, one along each contracted axis."""
    ones = tuple(tuple((axis, (1,)) for axis, _ in axes) for axes in call.contracted)
    short = _NestedCall(call.function, call.args, call.places, call.kwargs, ones)
    return short([tiny(x.array) for x in operands], (0,) * 64)


def _operand(title: str, number: int, value: Any, indices: tuple[Hashable, ...]) -> Operand:
    x = core_of(value)
    if len(indices) != len(x.shape):
        raise ValueError(
            f"{title}: argument {number} has {len(x.shape)} axes, but {len(indices)} indices"
        )
    if len(set(indices)) != len(indices):
        raise ValueError(f"{title}: argument {number} has an index twice: {indices}")
    return Operand(x, indices)


def _output_cuts(
    title: str,
    out_ind: tuple[Hashable, ...],
    joined: Mapping[Hashable, Cut],
    adjust: Mapping[Hashable, Any],
    new_axes: Mapping[Hashable, Any],
) -> list[Cut]:
    out = []
    if len(set(out_ind)) != len(out_ind):
        raise ValueError(f"{title}: the result has an index twice: {out_ind}")
    for index in out_ind:
        what = f"{title}: index {index!r}"
        if index in new_axes:
            if index in joined:
                raise ValueError(f"{what} is a new axis, but an array has it")
            new = new_axes[index]
            extents = tuple(new) if isinstance(new, Sequence) else (int(new),)
        elif index in joined:
            extents = sizes(joined[index])
        else:
            raise ValueError(f"{what} is in no array and not in new_axes")
        if index in adjust:
            extents = _adjusted(what, extents, adjust[index])
        out.append(cut_of(extents, what))
    return out


def _adjusted(what: str, extents: tuple[int, ...], how: Any) -> tuple[int, ...]:
    if callable(how):
        return tuple(int(how(n)) for n in extents)
    if isinstance(how, Sequence):
        if len(how) != len(extents):
            raise ValueError(f"{what} has {len(extents)} blocks, but adjust_chunks {len(how)}")
        return tuple(int(n) for n in how)
    return (int(how),) * len(extents)
