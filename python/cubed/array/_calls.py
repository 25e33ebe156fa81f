"""Calls of Python functions on blocks: how arrays and results are split into blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from cubed import _core
from cubed.array._base import Array
from cubed.array._cores import core_from_numpy, describe, engine_chunks
from cubed.array._neighbours import refuse_chunked
from cubed.base._dtypes import dtype_of, name_of, packed
from cubed.base._types import NDArray
from cubed.runtime._call import RecordRunner, Runner, pack, refuse_masked_result
from cubed.spec import Spec


def refuse_lazy(title: str, args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
    """Raises TypeError if a keyword argument is lazy, or an argument is another library's array."""
    for key, value in kwargs.items():
        if isinstance(value, Array):
            raise TypeError(f"{title}: {key} is a lazy array: pass it before the keywords")
    refuse_chunked(title, *args, *kwargs.values())


def title_of(operation: str, function: Any) -> str:
    """Returns the name that messages and plans show for an operation, such as ``map_blocks(f)``."""
    name = getattr(function, "__name__", None)
    inner = getattr(function, "func", None)  # functools.partial
    return f"{operation}({name or getattr(inner, '__name__', None) or type(function).__name__})"


def tiny(x: _core.Array) -> NDArray:
    """Returns an array of x's type with one element along each axis, to test a function."""
    return np.ones((1,) * len(x.shape), dtype_of(x.dtype))


def infer_dtypes(title: str, call: Callable[[], Sequence[Any]]) -> list[np.dtype[Any]]:
    """Finds the types of a function's results by calling it with tiny blocks."""
    try:
        with np.errstate(all="ignore"):
            results = call()
            types = [np.asarray(r).dtype for r in results]
    except Exception as e:
        raise ValueError(
            f"{title}: the type of the result cannot be found by a call with blocks of one element:"
            f" {type(e).__name__}: {e}; give dtype"
        ) from e
    for r in results:
        refuse_masked_result(r, f"{title}: ")
    return types


@dataclass(frozen=True)
class Call:
    """A function, the positions of blocks among its arguments, and its other arguments."""

    function: Callable[..., Any]
    args: tuple[Any, ...]  # None in place of arrays
    places: tuple[int, ...]  # positions of the arrays in args
    kwargs: dict[str, Any]

    def result(self, blocks: Iterable[Any], **more: Any) -> Any:
        """Calls the function with these blocks."""
        args = list(self.args)
        for place, block in zip(self.places, blocks, strict=True):
            args[place] = block
        return self.function(*args, **more, **self.kwargs)


#: How an axis is divided into blocks: a pair of the axis's extent, and either the extent of all
#: blocks except the last, which may be shorter, or a tuple with the extent of each block.
Cut = tuple[int, int | tuple[int, ...]]


#: The memory that a function without `extra_projected_mem` is assumed to allocate: COPIES copies of
#: all blocks of its inputs and results, and OBJECTS bytes for Python objects.
COPIES, OBJECTS = 2, 2**20


def count(cut: Cut) -> int:
    """Returns the number of blocks of an axis; an axis without elements is one block."""
    extent, chunk = cut
    return len(chunk) if isinstance(chunk, tuple) else max(1, -(-extent // chunk))


def sizes(cut: Cut) -> tuple[int, ...]:
    """Returns the extents of all blocks of an axis."""
    extent, chunk = cut
    if isinstance(chunk, tuple):
        return chunk
    return tuple(min(chunk, extent - i * chunk) for i in range(count(cut)))


def bounds(cut: Cut, i: int) -> tuple[int, int]:
    """Returns the first position of block number i, and the position after its end."""
    extent, chunk = cut
    if isinstance(chunk, tuple):
        start = sum(chunk[:i])
        return start, start + chunk[i]
    return i * chunk, min(extent, (i + 1) * chunk)


def cut_of(extents: Sequence[int], what: str) -> Cut:
    """Returns the division of an axis into blocks with these extents."""
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
    """Returns a division in which each group of `several` neighbouring blocks is merged into one
    block."""
    extent, chunk = cut
    if not isinstance(chunk, tuple):
        return extent, chunk * several
    return cut_of([sum(chunk[i : i + several]) for i in range(0, len(chunk), several)], what)


def finer(cut: Cut, most: int) -> Cut:
    """Returns a division in which longer blocks are divided, so that each has at most `most`
    elements."""
    extent, chunk = cut
    if not isinstance(chunk, tuple):
        return extent, min(chunk, most)
    pieces = (min(most, n - at) for n in chunk for at in range(0, n, most))
    return cut_of(tuple(pieces), "finer blocks")


def common(cuts: Sequence[Cut]) -> Cut:
    """Returns one division into blocks for several axes of the same extent.

    If all are regular, the blocks have the smallest chunk's extent. Otherwise blocks begin and end
    at all chunk boundaries of all axes.
    """
    if all(cut == cuts[0] for cut in cuts):
        return cuts[0]
    if not any(isinstance(chunk, tuple) for _, chunk in cuts):
        return min(cuts)
    edges = np.unique(np.concatenate([np.cumsum((0, *sizes(cut))) for cut in cuts]))
    return cut_of(np.diff(edges).tolist(), "common chunks")


def cuts(x: _core.Array) -> list[Cut]:
    """Returns the division of each axis of an array into chunks."""
    chunks = engine_chunks(x)
    return [
        (n, c if isinstance(c, tuple) else min(c, max(1, n)))
        for n, c in zip(x.shape, chunks, strict=True)
    ]


@dataclass
class Operand:
    """An array argument, and the index of each of its axes."""

    array: _core.Array
    indices: tuple[Hashable, ...]
    #: Halo along each axis: elements before and after, and whether the array's ends contain them in
    #: addition to the blocks. None: no halo.
    halo: tuple[tuple[int, int, bool], ...] | None = None


@dataclass
class Output:
    """A result: its type, the division of each axis into blocks, and the index of each axis. If the
    index of an axis is None, each block contains the whole axis."""

    dtype: np.dtype[Any]
    cuts: list[Cut]
    indices: tuple[Hashable | None, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(extent for extent, _ in self.cuts)


def unify(operands: Sequence[Operand], title: str, align: bool) -> dict[Hashable, list[Cut]]:
    """Divides the axes of all operands into blocks. Returns for each index a list with the division
    of each operand that has the index, in order.

    Axes of the same extent are divided in the same way (:func:`common`). If extents differ, blocks
    are paired by number, unless `align` is true. Axes of extent 1, or of one block, are passed to
    all calls.
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
    """Returns for each index how the results are divided into blocks along it.

    Results are divided like the operand with the most blocks along the index, or like the first
    operand if several have this number. Operands that are broadcast along the index (extent 1) are
    ignored, unless all operands are broadcast.
    """
    return {
        index: max([c for c in mine if c[0] != 1] or mine, key=count)
        for index, mine in unified.items()
    }


#: Bytes that a call of a user-defined function allocates in addition to its results: a number, or a
#: function that returns it for the extents of the largest block of each operand. None: the bytes
#: are estimated with :data:`COPIES` and :data:`OBJECTS`.
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
    """Returns the lazy results of a function on blocks.

    The function is called once for each combination of blocks along the indices of the outputs. If
    an axis of an operand has an index that no output has, each call gets the whole axis.

    `held_mem` is the number of bytes that the runner itself holds, in addition to those of a call.

    The runner receives a block number for each index of the outputs, in the order of the outputs.
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
        # The engine makes no calls if an axis has no elements, although such an axis has one block
        # here.
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
    taken = [dtype_of(x.dtype) for x, *_ in inputs]
    if any(d.names for d in (*taken, *(out.dtype for out in outputs))):
        runner = RecordRunner(runner, tuple(taken), tuple(packed(out.dtype) for out in outputs))
    params = pack(title, runner, extra_mem + held_mem)
    results = _core.blockwise(params, tuple(inputs), tuple(made))
    for result, (name, *_) in zip(results, made, strict=True):
        describe(result, name)
    return tuple(Array._new(x, spec) for x in results)


def _longest(shape: Sequence[int], chunks: Sequence[Any], symbols: Sequence[int]) -> list[int]:
    """Returns the extents of the largest block. Axes whose number in `symbols` is negative are not
    divided."""
    longest = (max(c) if isinstance(c, tuple) else c for c in chunks)
    return [n if symbol < 0 else c for n, c, symbol in zip(shape, longest, symbols, strict=True)]


def made_of(
    arrays: Sequence[Array], make: Callable[..., tuple[Array, ...]], *memory: int
) -> tuple[Array, ...]:
    """Returns the results of the call make(arrays, *memory).

    `make` chooses blocks by the chunks of the arrays and by a TaskMem, which is in `memory`.

    To find an `allowed_mem` that is enough, the engine calls `make` again with other values.
    """
    specs: list[Any] = []

    def cores(given: tuple[_core.Array, ...], *memory: int) -> tuple[_core.Array, ...]:
        made = make([a._like(x) for a, x in zip(arrays, given, strict=True)], *memory)
        specs[:] = [x._spec for x in made]
        return tuple(x._x for x in made)

    made = _core.record(cores, tuple(a._x for a in arrays), *memory)
    return tuple(Array._new(x, spec) for x, spec in zip(made, specs, strict=True))


def call_on_each(
    title: str, runner: Runner, x: Array, dtype: Any, extra_mem: int, sizes: Any = None
) -> Array:
    """Returns the results of one call for each block of an array.

    `sizes` are the extents of the results; None if each result has the extents of its block.
    """

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        operand = Operand(mine[0]._x, tuple(range(x.ndim)))
        unified = unify([operand], title, align=False)
        own = join(unified)
        made = [own[d] if sizes is None else cut_of(sizes[d], title) for d in range(x.ndim)]
        out = Output(np.dtype(dtype), made, operand.indices)
        return run_blocks(title, runner, [operand], unified, [out], extra_mem, x._spec)

    return made_of([x], make)[0]
