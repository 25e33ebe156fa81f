"""Reductions and running totals by user-defined functions, with Dask's names and parameters."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import (
    Cut,
    Output,
    count,
    cut_of,
    cuts,
    made_of,
    merged,
    run_blocks,
    sizes,
    title_of,
)
from cubed.array._operands import lazy, normalize_axes
from cubed.array._select import flatten
from cubed.base._dtypes import name_of
from cubed.base._types import DTypeLike, NDArray
from cubed.blocks._apply import wants_keyword
from cubed.blocks._tree import finish, groups_of, operands_of, scan
from cubed.io._create import as_lazy
from cubed.runtime._call import refuse_masked_result, to_array

Axes = tuple[int, ...]

#: Maximum extent of the blocks in trial calls of functions. Results for longer blocks have the same
#: extent as for blocks of this length.
_LONGEST_TRIAL = 4096


@dataclass(frozen=True)
class _Form:
    """The structure of a partial result, whose arrays are called fields."""

    title: str
    axes: Axes  # reduced axes
    kind: type | None  # dict, or a kind of tuple or list; None: one array
    names: tuple[Hashable, ...]  # keys of a dict, or positions
    types: tuple[np.dtype[Any], ...]
    kept: tuple[bool, ...]  # for each field whether it has the reduced axes
    tails: tuple[tuple[int, ...], ...]  # extents of the additional axes of each field

    def fields(self, value: Any) -> list[NDArray]:
        """Returns the arrays of a partial result, each with the reduced axes."""
        names, parts = _parts(value)
        if names != self.names:
            raise ValueError(
                f"{self.title}: a partial result has fields {names}, but the first one has"
                f" {self.names}"
            )
        arrays = zip(map(to_array, parts), self.kept, strict=True)
        return [x if kept else np.expand_dims(x, self.axes) for x, kept in arrays]

    def value(self, fields: Sequence[NDArray], separate: bool) -> Any:
        """Assembles a partial result from arrays. If `separate`, it is the result of one call, and
        reduced axes that the call did not keep are removed from its fields."""
        parts: list[Any] = list(fields)
        if separate:
            parts = [
                x if kept else np.squeeze(x, self.axes)[()]
                for x, kept in zip(fields, self.kept, strict=True)
            ]
        if self.kind is None:
            return parts[0]
        if issubclass(self.kind, dict):
            return dict(zip(self.names, parts, strict=True))
        make: Callable[..., Any] = getattr(self.kind, "_make", self.kind)  # named tuples: _make
        return make(parts)


def _parts(value: Any) -> tuple[tuple[Hashable, ...], list[Any]]:
    """Names and values of the fields of a partial result."""
    if isinstance(value, Mapping):
        return tuple(value), list(value.values())
    if isinstance(value, (tuple, list)):
        return tuple(range(len(value))), list(value)
    return (0,), [value]


@dataclass(frozen=True)
class Step:
    """A call of one function: for blocks of the array, or for partial results of blocks."""

    title: str
    function: Callable[..., Any]
    ndim: int  # number of axes of the array
    axes: Axes
    keepdims: bool
    inputs: _Form | None  # form of the inputs; None: blocks of the array
    outputs: _Form | None  # form of the outputs; None: the result
    #: For each reduced axis and each call the extents of the partial results that the call gets one
    #: by one. None: the call gets them concatenated.
    pieces: tuple[tuple[tuple[int, ...], ...], ...] | None

    def value(self, blocks: Sequence[NDArray], at: Sequence[int] = ()) -> Any:
        """Returns the result. `at` has the number of the call along each reduced axis."""
        if self.inputs is None:
            given = [blocks[0]]
            given += [np.broadcast_to(w, blocks[0].shape) for w in blocks[1:]]
        elif self.pieces is None:
            given = [self.inputs.value(blocks, separate=False)]
        else:
            numbers = at or (0,) * len(self.axes)
            mine = [p[i] for p, i in zip(self.pieces, numbers, strict=True)]
            given = [self._separate(blocks, list(zip(self.axes, mine, strict=True)))]
        return self.function(*given, axis=self.axes, keepdims=self.keepdims)

    def _separate(
        self, fields: Sequence[NDArray], axes: Sequence[tuple[int, tuple[int, ...]]]
    ) -> Any:
        """Partial results in nested lists along the reduced axes."""
        assert self.inputs is not None
        if not axes:
            return self.inputs.value(fields, separate=True)
        (axis, extents), rest = axes[0], axes[1:]
        ends = np.cumsum(extents)[:-1]
        parts = (np.split(x, ends, axis) for x in fields)
        return [self._separate(part, rest) for part in zip(*parts, strict=True)]

    def __call__(self, blocks: list[NDArray], index: tuple[int, ...]) -> Sequence[Any]:
        if self.outputs is None:
            return (self.value(blocks),)
        value = self.value(blocks, tuple(index[a] for a in self.axes))
        return self.outputs.fields(value)

    def tried(self, arrays: Sequence[Array], axis: int = 0, n: int = 1) -> Any:
        """Calls the function with blocks of ones, with n elements along an axis and one along
        others."""
        shape = tuple(n if a == axis else 1 for a in range(self.ndim))
        blocks = [np.ones(shape + x.shape[self.ndim :], x.dtype) for x in arrays]
        step = self
        if self.pieces is not None:
            single = self.inputs is not None and not all(self.inputs.kept)
            each = (((1,) * shape[a] if single else (shape[a],),) for a in self.axes)
            step = replace(self, pieces=tuple(each))
        try:
            with np.errstate(all="ignore"):
                value = step.value(blocks)
        except Exception as e:
            raise ValueError(
                f"{self.title}: {self.function} fails for a block of ones of shape {shape}, by"
                f" which types and shapes of results are found: {type(e).__name__}: {e}; expected a"
                " function that accepts short blocks"
            ) from e
        for part in _parts(value)[1]:
            refuse_masked_result(part, f"{self.title}: ")
        return value


def reduction(
    x: Array,
    chunk: Callable[..., Any],
    aggregate: Callable[..., Any],
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    dtype: DTypeLike | None = None,
    split_every: int | Mapping[int, int] | None = None,
    combine: Callable[..., Any] | None = None,
    name: str | None = None,
    out: None = None,
    concatenate: bool = True,
    output_size: int = 1,
    meta: Any = None,
    weights: Any = None,
    *,
    extra_projected_mem: int = 0,
) -> Array:
    """Reduces axes by user-defined functions, as a tree of calls on blocks.

    Parameters
    ----------
    x : Array
        A lazy array.
    chunk : callable
        ``chunk(block, axis=, keepdims=True)`` reduces one block; `axis` is a tuple. It returns an
        array, or a dict, tuple or list of arrays. With `weights` the second argument is the
        weights of the block, in its shape.
    aggregate : callable
        ``aggregate(partial, axis=, keepdims=)`` converts the last partial results to the result. It
        is always called.
    axis : int, tuple of int or None
        The axes to reduce. None: all.
    keepdims : bool, default False
        Whether to keep reduced axes, with the extent `output_size`.
    dtype : dtype or None
        Type of the result. Passed to `chunk` and `aggregate` if they have a parameter `dtype`.
        None: found by calling the functions with blocks of one element.
    split_every : int, dict or None
        Blocks that one call combines along an axis; by axis, or in total for all axes.
        Default: 4.
    combine : callable or None
        ``combine(partial, axis=, keepdims=True)`` reduces the partial results of several blocks.
        Default: `aggregate`.
    name : str or None
        Name of the operation in plans and messages.
    out : None
        For compatibility.
    concatenate : bool, default True
        Whether `combine` and `aggregate` get partial results concatenated along the reduced axes,
        each field separately. False: in a list, or in nested lists if there are several axes.
        Functions may then return numbers, and arrays without the reduced axes.
    output_size : int, default 1
        Extent of the results of the functions along the reduced axes. Fewer elements may be
        returned for smaller blocks.
    meta : array_like or None
        An array of the type of the result, in place of `dtype`.
    weights : array_like or None
        Weights, whose shape broadcasts to that of the array.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.

    Returns
    -------
    Array
        Without the reduced axes, or with extent `output_size` along them if `keepdims` is true.
        Lazy.

    Raises
    ------
    TypeError
        A function returns something other than arrays, or cannot be pickled.
    ValueError
        A function fails for a block of ones, which is used to find types and extents of results.
        During the computation: a result does not have the expected shape.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> x = cubed.arange(6.0, chunks=2)
    >>> def totals(block, axis, keepdims):
    ...     return {"n": np.full((1,), block.size), "sum": block.sum(axis, keepdims=keepdims)}
    ...
    >>> def mean(partial, axis, keepdims):
    ...     return partial["sum"].sum(axis) / partial["n"].sum(axis)
    ...
    >>> def add(partial, axis, keepdims):
    ...     return {name: v.sum(axis, keepdims=keepdims) for name, v in partial.items()}
    ...
    >>> cubed.reduction(x, totals, mean, combine=add, dtype=float).compute()
    array(2.5)
    """
    x = lazy(x)
    title = name or title_of("reduction", chunk)
    axes = tuple(sorted(normalize_axes(title, axis, x.ndim)))
    if out is not None:
        raise TypeError(f"{title}: out is {out!r}, expected None: assign to x[...] instead")
    if output_size < 1:
        raise ValueError(f"{title}: output_size is {output_size}, expected at least 1")
    if dtype is None:
        dtype = getattr(meta, "dtype", None)
    given = None if dtype is None else np.dtype(dtype)
    chunk, aggregate = (_with_dtype(f, given) for f in (chunk, aggregate))
    several = groups_of(title, axes, split_every or None, x.ndim)
    others = () if weights is None else (_weights(title, weights, x),)
    tree = Tree(title, axes, concatenate, dict.fromkeys(axes, output_size), extra_projected_mem)

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        first = Step(title, chunk, x.ndim, axes, True, None, None, None)
        parts, form = tree.level(first, mine, {a: 1 for a in axes})
        step = replace(first, function=combine or aggregate, inputs=form)
        while any(count(cuts(parts[0]._x)[a]) > several[a] for a in axes):
            parts, form = tree.level(replace(step, inputs=form), parts, several)
        last = replace(step, function=aggregate, keepdims=keepdims, inputs=form)
        return (tree.last(last, parts, given),)

    return made_of([x, *others], make)[0]


@dataclass(frozen=True)
class _WithDtype:
    """Calls a function with `dtype`. This is a class, so that ``compile_function`` can replace the
    function."""

    function: Callable[..., Any]
    dtype: np.dtype[Any]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, dtype=self.dtype, **kwargs)


def _with_dtype(function: Callable[..., Any], dtype: np.dtype[Any] | None) -> Callable[..., Any]:
    if dtype is None or not wants_keyword(function, "dtype"):
        return function
    return _WithDtype(function, dtype)


def _weights(title: str, weights: Any, x: Array) -> Array:
    """Weights with the axes of x, in its chunks."""
    w = as_lazy(weights)
    shape = (1,) * (x.ndim - w.ndim) + w.shape
    if len(shape) != x.ndim or any(n not in (1, m) for n, m in zip(shape, x.shape, strict=True)):
        raise ValueError(
            f"{title}: weights have shape {w.shape}, expected one that broadcasts to {x.shape}"
        )
    wide = w[(None,) * (x.ndim - w.ndim)]
    chunks = (c if n != 1 else 1 for c, n in zip(x.chunks, shape, strict=True))
    return wide.rechunk(tuple(chunks)) if x.ndim else wide


@dataclass(frozen=True)
class Tree:
    """The properties that all levels of a tree reduction share."""

    title: str
    axes: Axes
    concatenate: bool
    output_sizes: Mapping[int, int]  # extent of the output by axis, if it is not 1
    extra_mem: int

    def level(
        self,
        step: Step,
        arrays: Sequence[Array],
        several: Mapping[int, int],
        dtype: np.dtype[Any] | None = None,
    ) -> tuple[tuple[Array, ...], _Form]:
        """Returns the partial results of a step that combines `several` blocks along each axis."""
        mine = cuts(arrays[0]._x)[: step.ndim]
        grouped = [merged(c, several.get(a, 1), f"axis {a}") for a, c in enumerate(mine)]
        step = replace(step, pieces=self._pieces(step, mine, several))
        form = self._form(step, arrays)
        if dtype is not None:
            form = replace(form, types=(dtype,) * len(form.types))
        step = replace(step, outputs=form)
        made = list(grouped)
        for a in self.axes:
            given = sizes(grouped[a])
            found = {n: self._extent(step, arrays, a, n) for n in dict.fromkeys(given)}
            extents = [found[n] for n in given]
            made[a] = cut_of(extents, f"{self.title}: partial results along axis {a}")
        indices = tuple(range(step.ndim))
        outputs = [
            Output(t, made + [(n, max(1, n)) for n in tail], indices + (None,) * len(tail))
            for t, tail in zip(form.types, form.tails, strict=True)
        ]
        operands, unified = operands_of(arrays, grouped)
        spec = arrays[0]._spec
        parts = run_blocks(self.title, step, operands, unified, outputs, self.extra_mem, spec)
        return parts, form

    def last(self, step: Step, arrays: Sequence[Array], dtype: np.dtype[Any] | None) -> Array:
        """Returns the result of the last step, which gets all remaining blocks along reduced
        axes."""
        mine = cuts(arrays[0]._x)[: step.ndim]
        whole = {a: max(1, count(mine[a])) for a in self.axes}
        step = replace(step, pieces=self._pieces(step, mine, whole))
        if dtype is None:
            dtype = np.asarray(step.tried(arrays)).dtype
        kept = {}
        if step.keepdims:
            kept = {a: self._extent(step, arrays, a, mine[a][0]) for a in self.axes}
        axes, ndim = self.axes, step.ndim
        return finish(self.title, step, arrays, axes, kept, dtype, self.extra_mem, ndim)

    def _pieces(
        self, step: Step, mine: Sequence[Cut], several: Mapping[int, int]
    ) -> tuple[tuple[tuple[int, ...], ...], ...] | None:
        if self.concatenate or step.inputs is None:
            return None
        return tuple(tuple(_in_groups(sizes(mine[a]), several[a])) for a in self.axes)

    def _form(self, step: Step, arrays: Sequence[Array]) -> _Form:
        """The form of a step's results, determined by a trial call."""
        value = step.tried(arrays)
        names, parts = _parts(value)
        fields = [np.asarray(part) for part in parts]
        for key, field in zip(names, fields, strict=True):
            self._check(step, key, field)
        several = isinstance(value, (Mapping, tuple, list))
        kind = dict if isinstance(value, Mapping) else type(value) if several else None
        types, kept = tuple(x.dtype for x in fields), tuple(x.ndim >= step.ndim for x in fields)
        tails = tuple(x.shape[step.ndim :] for x in fields)
        return _Form(self.title, self.axes, kind, names, types, kept, tails)

    def _check(self, step: Step, key: Hashable, field: NDArray) -> None:
        """Raises an error if the type of a field cannot be stored in an array."""
        what = f"{self.title}: field {key!r} of the result of {step.function}"
        if field.dtype.kind == "O":
            raise TypeError(
                f"{what} is a Python object, expected an array or a number: partial results are"
                " stored between tasks"
            )
        name_of(field.dtype)  # raises TypeError for types that the engine does not have
        without = step.ndim - len(self.axes)
        if field.ndim < step.ndim and (self.concatenate or field.ndim != without):
            raise ValueError(
                f"{what} has {field.ndim} axes, expected {step.ndim}: keep the reduced axes with"
                " extent 1, as keepdims=True asks for"
            )

    def _extent(self, step: Step, arrays: Sequence[Array], axis: int, n: int) -> int:
        """Extent of a step's result along a reduced axis for blocks with n elements."""
        size = self.output_sizes.get(axis, 1)
        if n >= size > 1:
            return size
        value = step.tried(arrays, axis, min(n, _LONGEST_TRIAL))
        shapes = map(np.shape, (value,) if step.outputs is None else _parts(value)[1])
        found = {shape[axis] if len(shape) >= step.ndim else 1 for shape in shapes}
        if len(found) != 1:
            raise ValueError(
                f"{self.title}: fields have extents {sorted(found)} along axis {axis} for a block"
                f" with {n} elements there, expected one extent"
            )
        return int(found.pop())


def _in_groups(extents: Sequence[int], several: int) -> Iterator[tuple[int, ...]]:
    for i in range(0, len(extents), several):
        yield tuple(extents[i : i + several])


def cumreduction(
    func: Callable[..., Any],
    binop: Callable[..., Any],
    ident: Any,
    x: Array,
    axis: int | None = None,
    dtype: DTypeLike | None = None,
    out: None = None,
    method: str = "sequential",
    preop: Callable[..., Any] | None = None,
    *,
    extra_projected_mem: int = 0,
    name: str | None = None,
) -> Array:
    """Computes running totals along an axis by user-defined functions.

    Parameters
    ----------
    func : callable
        ``func(block, axis=)`` returns the running totals of a block. Example: `numpy.cumsum`.
    binop : callable
        ``binop(before, after)`` combines two totals. It must be associative. Example: `numpy.add`.
    ident : object
        The neutral element of `binop`, such as 0.
    x : Array
        A lazy array.
    axis : int or None
        None: the flattened array.
    dtype : dtype or None
        Type of the totals. Passed to `func` if it has a parameter `dtype`. None: found by calling
        `func` with a block of one element.
    out : None
        Ignored, for compatibility.
    method : {"sequential", "blelloch"}, default "sequential"
        Ignored: the totals of all blocks are combined in one task for each line.
    preop : callable or None
        Ignored: the total of a block is its last running total.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.

    Returns
    -------
    Array
        The array's shape, or one axis if `axis` is None. Lazy.

    Raises
    ------
    IndexError
        The array has no such axis.
    TypeError
        A function cannot be pickled.

    Examples
    --------
    >>> import cubed
    >>> import numpy as np
    >>> x = cubed.asarray([3, 1, 4, 1, 5], chunks=2)
    >>> cubed.cumreduction(np.maximum.accumulate, np.maximum, 0, x).compute()
    array([3, 3, 4, 4, 5])
    """
    x = lazy(x)
    title = name or title_of("cumreduction", func)
    if out is not None:
        raise TypeError(f"{title}: out is {out!r}, expected None: assign to x[...] instead")
    if method not in ("sequential", "blelloch"):
        raise ValueError(f"{title}: method is {method!r}, expected 'sequential' or 'blelloch'")
    if axis is None:
        x, axis = x._like(flatten(x._x)), 0
    given = None if dtype is None else np.dtype(dtype)
    whole = getattr(func, "__self__", None)
    if given is not None and isinstance(whole, np.ufunc):  # np.add.accumulate has no signature
        func = _WithDtype(func, given)
    else:
        func = _with_dtype(func, given)
    return scan(
        func, binop, ident, x, axis, given, extra_projected_mem=extra_projected_mem, name=title
    )
