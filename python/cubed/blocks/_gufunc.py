"""apply_gufunc: user-defined functions with a signature, such as ``(i),(i)->()``."""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._calls import (
    COPIES,
    OBJECTS,
    Call,
    Cut,
    Operand,
    Output,
    count,
    cuts,
    finer,
    infer_dtypes,
    join,
    made_of,
    refuse_lazy,
    run_blocks,
    sizes,
    tiny,
    title_of,
    unify,
)
from cubed.array._neighbours import is_foreign, refuse_chunked
from cubed.array._operands import common_spec, core_of, normalize_axes
from cubed.base._dtypes import dtype_of
from cubed.base._types import NDArray
from cubed.blocks._vectorize import vectorized

Dims = tuple[str, ...]

_DIMS = r"\(\s*(?:\w+\s*(?:,\s*\w+\s*)*,?)?\s*\)"
_LIST = rf"\s*{_DIMS}\s*(?:,\s*{_DIMS}\s*)*,?\s*"
_SIGNATURE = re.compile(rf"(?:{_LIST})?->{_LIST}")


@dataclass(frozen=True)
class Signature:
    """The core dimensions of inputs and outputs."""

    inputs: tuple[Dims, ...]
    outputs: tuple[Dims, ...]
    #: Whether the function returns a single output without a tuple.
    single: bool


def parse_signature(text: str) -> Signature:
    """Parses a signature in NumPy's notation. Several outputs, or one output and a comma, mean that
    the function returns a tuple."""
    if not _SIGNATURE.fullmatch(text):
        raise ValueError(f"signature {text!r}: expected one such as '(i),(j)->(i,j)'")
    left, right = text.split("->")
    inputs, outputs = (
        tuple(tuple(re.findall(r"\w+", dims)) for dims in re.findall(_DIMS, side))
        for side in (left, right)
    )
    return Signature(inputs, outputs, len(outputs) == 1 and not right.strip().endswith(","))


@dataclass(frozen=True)
class _GufuncCall(Call):
    single: bool

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        results = self.result(blocks)
        return (results,) if self.single else results


def apply_gufunc(
    func: Callable[..., Any],
    signature: str,
    *args: Any,
    axes: Sequence[Any] | None = None,
    axis: int | None = None,
    keepdims: bool = False,
    output_dtypes: Any = None,
    output_sizes: Mapping[str, int] | None = None,
    vectorize: bool | None = None,
    allow_rechunk: bool = False,
    extra_projected_mem: int | None = 0,
    name: str | None = None,
    **kwargs: Any,
) -> Array | tuple[Array, ...]:
    """Applies a function that works on the last axes of its arguments and loops over the others.

    Parameters
    ----------
    func : callable
        Called with blocks as read-only NumPy arrays. Core dimensions are the last axes, and are
        whole. Returns an array for each output.
    signature : str
        Core dimensions: ``"(i),(i)->()"``. Several outputs, or one output and a comma, return a
        tuple.
    *args : array_like or object
        Lazy arrays, NumPy arrays, lists. Axes other than core dimensions are broadcast. Any other
        object, such as None, a string, a date or a Python number, is passed to every call
        unchanged. So is an object with ``__array__`` if all of its axes are core dimensions.
    axes : sequence of int or None
        For each input and output the axes of its core dimensions. Outputs may be omitted if they
        have no core dimensions.
    axis : int or None
        The axis of the single core dimension of all inputs.
    keepdims : bool, default False
        Whether to keep, with extent 1, core dimensions that all inputs have and outputs do not
        have.
    output_dtypes : dtype, sequence of dtype or None
        One type for each output. None: found by calling the function with one element along each
        axis. As for :func:`cubed.map_blocks`, other widths are cast.
    output_sizes : dict or None
        Extents of the core dimensions of outputs that no input has.
    vectorize : bool or None
        Whether the function accepts only core dimensions. It is then called for each element of the
        other axes.
    allow_rechunk : bool, default False
        Whether to merge the chunks of core dimensions that have several.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its results; the projection includes them. None
        estimates them: twice the bytes of its blocks, of arguments and results, and 1 MiB. With
        None and `vectorize`, blocks are split along other axes than core dimensions if the estimate
        exceeds half of a task's memory. Without `vectorize`, blocks are always the
        arrays' chunks.
    name : str or None
        Name of the operation in plans and messages.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array or tuple of Array
        An array for each output: the broadcast loop axes, then its core dimensions. Lazy.

    Raises
    ------
    TypeError
        The function cannot be pickled. During the computation: a result cannot be cast safely.
    ValueError
        Arguments do not fit the signature. During the computation: a result does not have the
        expected shape.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> spread = cubed.apply_gufunc(lambda a: np.ptp(a, axis=-1), "(i)->()", x, output_dtypes=float)
    >>> spread.compute()
    array([1., 1.])
    """
    return apply_to_cores(
        func,
        signature,
        *args,
        axes=axes,
        axis=axis,
        keepdims=keepdims,
        output_dtypes=output_dtypes,
        output_sizes=output_sizes,
        vectorize=vectorize,
        allow_rechunk=allow_rechunk,
        extra_projected_mem=extra_projected_mem,
        name=name,
        options=kwargs,
    )


def apply_to_cores(
    func: Callable[..., Any],
    signature: str,
    *args: Any,
    axes: Sequence[Any] | None = None,
    axis: int | None = None,
    keepdims: bool = False,
    output_dtypes: Any = None,
    output_sizes: Mapping[str, int] | None = None,
    vectorize: bool | None = None,
    allow_rechunk: bool = False,
    extra_projected_mem: int | CallMem | None = None,
    name: str | None = None,
    by_lines: bool = False,
    held_mem: int = 0,
    options: Mapping[str, Any] | None = None,
) -> Array | tuple[Array, ...]:
    """Like :func:`apply_gufunc`, with `options` for its `kwargs`, if properties of `func` are
    known.

    `by_lines` states that each line of the results depends only on the same line of the arguments,
    so that blocks may be split further along the loop axes. A user-defined function has this
    property only if it is vectorized. Other functions get the arrays' chunks, because their results
    may depend on the whole block. Blocks are split according to the memory of a call: a CallMem in
    `extra_projected_mem`, or its default. `held_mem` is the number of bytes that the function
    itself holds in each task's process.
    """
    title = name or title_of("apply_gufunc", func)
    kwargs = dict(options or {})
    parsed = parse_signature(signature)
    if len(parsed.inputs) != len(args):
        raise ValueError(
            f"{title}: signature {signature!r} has {len(parsed.inputs)} inputs, but there are"
            f" {len(args)} arguments"
        )
    refuse_lazy(title, (), kwargs)
    where = _axes(title, parsed, axes, axis, keepdims)
    places = _array_places(title, args, parsed)
    values = tuple(None if i in places else a for i, a in enumerate(args))
    parsed = replace(parsed, inputs=tuple(parsed.inputs[i] for i in places))
    arrays = [
        _core_last(title, i, core_of(args[i]), dims, where[0][i])
        for i, dims in zip(places, parsed.inputs, strict=True)
    ]
    operands, ndim = _operands(title, places, arrays, parsed)
    extents = _core_extents(title, places, operands, parsed, output_sizes or {}, allow_rechunk)
    types = _types(title, parsed, output_dtypes)
    if vectorize:
        func = vectorized(func, signature, types)
    call = _GufuncCall(func, values, places, kwargs, parsed.single)
    if types is None:
        types = infer_dtypes(title, lambda: call([tiny(x) for x in arrays], ()))

    spec = common_spec(*args)
    mem = extra_projected_mem
    if mem is None and (by_lines or vectorize):
        mem = CallMem(COPIES, OBJECTS)
    made_types = types

    def make(mine: Sequence[Array], *memory: int) -> tuple[Array, ...]:
        cores = [Operand(a._x, x.indices) for a, x in zip(mine, operands, strict=True)]
        unified, extra = unify(cores, title, align=True), mem
        if isinstance(extra, CallMem):
            made_of_cores = [
                (t.itemsize, [extents[d] for d in dims])
                for t, dims in zip(made_types, parsed.outputs, strict=True)
            ]
            unified, extra = _narrowed(cores, unified, ndim, made_of_cores, extra, *memory)
        joined = join(unified)
        outputs = []
        for dims, dtype in zip(parsed.outputs, made_types, strict=True):
            whole: list[Cut] = [(extents[d], max(1, extents[d])) for d in dims]
            cut = [joined[i] for i in range(ndim)] + whole
            outputs.append(Output(dtype, cut, (*range(ndim), *[None] * len(dims))))
        return run_blocks(title, call, cores, unified, outputs, extra, spec, held_mem)

    memory = next((a.spec.task_mem for a in args if isinstance(a, Array)), None)
    cut_for = () if memory is None or not isinstance(mem, CallMem) else (memory,)
    made = made_of([Array._new(x.array, spec) for x in operands], make, *cut_for)
    kept = len(parsed.inputs[0]) if keepdims else 0
    results = tuple(_place(title, x, at, kept) for x, at in zip(made, where[1], strict=True))
    return results[0] if parsed.single else results


def as_gufunc(signature: str, **options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorates a function: its calls become calls of :func:`apply_gufunc` with this signature.

    Parameters
    ----------
    signature : str
        As for :func:`apply_gufunc`.
    **options : object
        `axes`, `axis`, `keepdims`, `output_dtypes`, `output_sizes`, `vectorize` and `allow_rechunk`
        of :func:`apply_gufunc`.

    Returns
    -------
    callable
        A decorator.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> @cubed.as_gufunc("(i)->()", output_dtypes=float)
    ... def spread(a):
    ...     return a.max(axis=-1) - a.min(axis=-1)
    ...
    >>> spread(cubed.asarray([[1.0, 2.0], [3.0, 7.0]])).compute()
    array([1., 4.])
    """

    def decorate(function: Callable[..., Any]) -> Any:
        @functools.wraps(function)
        def gufunc(*args: Any, **kwargs: Any) -> Any:
            return apply_gufunc(function, signature, *args, **{**options, **kwargs})

        return gufunc

    return decorate


# --- Blocks that fit ------------------------------------------------------------------------------


@dataclass(frozen=True)
class CallMem:
    """Bytes that a call allocates in addition to its blocks and results."""

    #: Number of copies of the blocks of inputs and results that a call allocates.
    copies: int
    fixed: int = 0
    #: Bytes that a call allocates for each position of a block along the loop axes.
    each: int = 0


def _narrowed(
    operands: Sequence[Operand],
    unified: Mapping[Hashable, list[Cut]],
    ndim: int,
    results: Sequence[tuple[int, list[int]]],
    mem: CallMem,
    memory: int | None = None,
) -> tuple[dict[Hashable, list[Cut]], int]:
    """Divides the loop axes so that the blocks of a call fit in memory. Also returns the number of
    bytes that a call allocates.

    Blocks are whole along core dimensions. If `memory` is None, the division into blocks does not
    change. Only for functions that treat each element of the loop separately.
    """
    before = {i: max(sizes(cut)) for i, cut in join(unified).items() if i in range(ndim)}
    length = dict(before)
    blocks = []
    for x in operands:
        axes = list(zip(x.indices, x.array.shape, strict=True))
        core = math.prod(n for i, n in axes if i not in before)
        loop = [i for i, n in axes if i in before and n != 1]
        blocks.append((dtype_of(x.array.dtype).itemsize * core, loop))
    blocks += [(size * math.prod(core), list(range(ndim))) for size, core in results]

    def used(copies: int) -> int:
        """Returns the bytes of `copies` copies of the blocks, and of the memory for each element of
        the loop."""
        copied = sum(size * math.prod(length[i] for i in loop) for size, loop in blocks)
        return copies * copied + mem.each * math.prod(length.values())

    # A task reads blocks, computes results and returns them; a second task may be in preparation.
    while memory is not None and 2 * used(mem.copies + 2) > memory - mem.fixed:
        longest = max(length, key=lambda i: length[i], default=None)
        if longest is None or length[longest] <= 1:
            break
        length[longest] = -(-length[longest] // 2)
    cut = {
        i: [finer(c, length[i]) if i in before and length[i] < before[i] else c for c in mine]
        for i, mine in unified.items()
    }
    return cut, mem.fixed + used(mem.copies)


# --- Where core dimensions are --------------------------------------------------------------------

Places = tuple[int, ...] | None


def _axes(
    title: str, parsed: Signature, axes: Sequence[Any] | None, axis: int | None, keepdims: bool
) -> tuple[list[Places], list[Places]]:
    """Returns the axes of the core dimensions of each input and output; None: the last axes."""
    nin, nout = len(parsed.inputs), len(parsed.outputs)
    if keepdims and (len(set(parsed.inputs)) != 1 or any(parsed.outputs)):
        raise ValueError(
            f"{title}: keepdims needs inputs with equal core dimensions, outputs with none"
        )
    if axis is not None:
        if axes is not None:
            raise ValueError(f"{title}: axis and axes are both given")
        names = {d for dims in (*parsed.inputs, *parsed.outputs) for d in dims}
        if len(names) != 1:
            raise ValueError(f"{title}: axis needs a signature with one core dimension")
        axis = _index(title, "axis", axis)
        inputs: list[Places] = [(axis,) if dims else () for dims in parsed.inputs]
        return inputs, [(axis,) if dims or keepdims else () for dims in parsed.outputs]
    if axes is None:
        return [None] * nin, [None] * nout
    given = [_places(title, k, a) for k, a in enumerate(axes)]
    kept = parsed.inputs[0] if keepdims else ()
    if len(given) == nin and not any(parsed.outputs):
        given += [given[0] if keepdims else ()] * nout
    if len(given) != nin + nout:
        raise ValueError(f"{title}: axes has {len(given)} entries, expected {nin + nout}")
    for k, (mine, dims) in enumerate(
        zip(given, (*parsed.inputs, *(o or kept for o in parsed.outputs)), strict=True)
    ):
        if len(mine) != len(dims):
            raise ValueError(f"{title}: axes[{k}] is {mine}, expected {len(dims)} axes")
    return list(given[:nin]), list(given[nin:])


def _array_places(title: str, args: Sequence[Any], parsed: Signature) -> tuple[int, ...]:
    """Returns the numbers of the arguments that are arrays; the others are passed unchanged."""
    found = tuple(
        i for i, (a, dims) in enumerate(zip(args, parsed.inputs, strict=True)) if _is_array(a, dims)
    )
    if not found:  # if all arguments are numbers, they are treated as arrays without axes
        return tuple(range(len(args)))
    refuse_chunked(title, *(a for i, a in enumerate(args) if i not in found))
    return found


def _is_array(value: Any, dims: Dims) -> bool:
    """Whether the function gets blocks of a value, rather than the value itself."""
    if isinstance(value, (Array, np.ndarray, list, tuple)):
        return True
    if is_foreign(type(value)):
        return True  # core_of raises an error with a recommendation
    if value is None or not hasattr(value, "__array__"):
        return value is not None and bool(dims)
    return np.ndim(value) != len(dims)


def _index(title: str, name: str, value: Any) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{title}: {name} is {value!r}, expected an integer") from None


def _places(title: str, k: int, given: Any) -> tuple[int, ...]:
    """Converts an entry of `axes`, one axis or several, to a tuple."""
    several = isinstance(given, (tuple, list, np.ndarray)) and np.ndim(given) == 1
    each = list(given) if several else [given]
    return tuple(_index(title, f"axes[{k}]", a) for a in each)


def _core_last(title: str, number: int, x: _core.Array, dims: Dims, where: Places) -> _core.Array:
    ndim = len(x.shape)
    if ndim < len(dims):
        raise ValueError(
            f"{title}: argument {number} has {ndim} axes, expected at least {len(dims)}"
        )
    if not where:
        return x
    last = list(normalize_axes(title, where, ndim))
    order = [d for d in range(ndim) if d not in last] + last
    return x if order == list(range(ndim)) else _core.call("transpose", x, order)


def _place(title: str, x: Array, where: Places, kept: int) -> Array:
    """Moves the core dimensions of an output from the last axes to their positions.

    `kept` is the number of core dimensions that get extent 1.
    """
    core = x._x
    for _ in range(kept):
        core = _core.call("expand_dims", core, len(core.shape))
    ndim = len(core.shape)
    if where:
        first = ndim - len(where)
        target = {a: first + k for k, a in enumerate(normalize_axes(title, where, ndim))}
        rest = iter(range(first))
        order = [target[d] if d in target else next(rest) for d in range(ndim)]
        core = _core.call("transpose", core, order)
    return x if core is x._x else Array._new(core, x._spec)


def _operands(
    title: str, places: Sequence[int], arrays: Sequence[_core.Array], parsed: Signature
) -> tuple[list[Operand], int]:
    """Assigns indices to the axes of arrays: numbers to loop axes, names to core dimensions."""
    loops = [len(x.shape) - len(dims) for x, dims in zip(arrays, parsed.inputs, strict=True)]
    ndim = max(loops, default=0)
    operands = []
    for number, x, dims, n in zip(places, arrays, parsed.inputs, loops, strict=True):
        if len(set(dims)) != len(dims):
            raise ValueError(f"{title}: input {number} has a core dimension twice: {dims}")
        operands.append(Operand(x, (*range(ndim - n, ndim), *dims)))
    return operands, ndim


def _core_extents(
    title: str,
    places: Sequence[int],
    operands: Sequence[Operand],
    parsed: Signature,
    output_sizes: Mapping[str, int],
    allow_rechunk: bool,
) -> dict[str, int]:
    extents: dict[str, int] = {}
    for number, x, dims in zip(places, operands, parsed.inputs, strict=True):
        mine = cuts(x.array)[len(x.indices) - len(dims) :]
        for dim, cut in zip(dims, mine, strict=True):
            if extents.setdefault(dim, cut[0]) != cut[0]:
                raise ValueError(
                    f"{title}: core dimension {dim!r} has extents {extents[dim]} and {cut[0]}"
                )
            if count(cut) > 1 and not allow_rechunk:
                raise ValueError(
                    f"{title}: core dimension {dim!r} of argument {number} has {count(cut)} chunks,"
                    " expected one: rechunk it to -1, or pass allow_rechunk=True"
                )
    for dims in parsed.outputs:
        for dim in dims:
            if dim in extents:
                continue
            if dim not in output_sizes:
                raise ValueError(f"{title}: output_sizes lacks the core dimension {dim!r}")
            extents[dim] = int(output_sizes[dim])
    return extents


def _types(title: str, parsed: Signature, given: Any) -> list[Any] | None:
    if given is None:
        return None
    listed = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(listed) != len(parsed.outputs):
        raise ValueError(
            f"{title}: output_dtypes has {len(listed)} entries, expected {len(parsed.outputs)}"
        )
    return [np.dtype(t) for t in listed]
