"""map_overlap: user-defined functions on blocks with a halo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._calls import (
    Cut,
    ExtraMem,
    Operand,
    join,
    made_of,
    refuse_lazy,
    title_of,
    unify,
)
from cubed.array._operands import common_spec, normalize_axis
from cubed.array_api._pad import pad
from cubed.base._dtypes import dtype_of
from cubed.base._types import NDArray, PadMode
from cubed.blocks._apply import Trim, map_output, run_mapped
from cubed.spec import Spec

Depth = tuple[int, int]

#: Names of boundaries, with the corresponding modes of pad.
_MODES: dict[str, PadMode] = {
    "mirror": "reflect", "nearest": "edge", "periodic": "wrap", "reflect": "symmetric",
}  # fmt: skip


def map_overlap(
    func: Callable[..., Any],
    *args: Any,
    dtype: Any = None,
    chunks: Any = None,
    depth: Any = 0,
    boundary: Any = None,
    trim: bool = False,
    drop_axis: int | Sequence[int] | None = None,
    new_axis: int | Sequence[int] | None = None,
    spec: Spec | None = None,
    extra_projected_mem: int = 0,
    name: str | None = None,
    **kwargs: Any,
) -> Array:
    """Applies a function to each block of arrays with a halo of neighbouring elements.

    Parameters
    ----------
    func : callable
        Called with a read-only NumPy array for each array in `args`: the block and `depth` elements
        around it. Returns a block of the result, without the halo unless `trim` is true or `chunks`
        is given. `block_id` and `block_info` as for :func:`cubed.map_blocks`.
    *args : array_like
        Lazy arrays. Other arguments are passed to every call unchanged.
    dtype : dtype or None
        Type of the result. None: found by calling the function with ones.
    chunks : int, tuple, str or None
        Chunks of the result, as for :func:`cubed.map_blocks`.
    depth : int, tuple or dict, default 0
        Elements around a block: a number for all axes, a tuple with an entry for each axis, or a
        dict by axis; a list with one of these for each array. An entry is a number or a pair
        (before, after).
    boundary : str, number, dict or None
        Values beyond the ends of an axis: ``"none"`` or None (no values: these blocks are smaller),
        ``"reflect"`` (the last element included), ``"mirror"`` (without it), ``"periodic"``,
        ``"nearest"``, or a number; a tuple or dict for the axes; a list with one of these for each
        array.
    trim : bool, default False
        Whether the function returns blocks with the halo, which is then removed.
    drop_axis, new_axis : int, sequence of int or None
        Axes that the blocks of the result do not have, which are not split, and axes that the
        arrays do not have, as for :func:`cubed.map_blocks`. `trim` applies to the other axes.
    spec : Spec or None
        Resources of computations, if no array has a spec.
    extra_projected_mem : int, default 0
        Bytes that a call allocates in addition to its result; the task's projection includes them.
    name : str or None
        Name of the operation in plans and messages.
    **kwargs : object
        Passed to the function.

    Returns
    -------
    Array
        The results of the calls as blocks, with the chunks of the arrays unless `chunks` is given.
        Lazy. The halo is read as part of the block's input, and the task's projection includes it.

    Raises
    ------
    TypeError
        The function cannot be pickled. During the computation: a result cannot be cast safely.
    ValueError
        A depth is negative or larger than the array, or a boundary is unknown. During the
        computation: a result does not have the expected shape.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(6.0, chunks=3)
    >>> means = cubed.map_overlap(
    ...     lambda a: (a[:-2] + a[1:-1] + a[2:]) / 3, x, dtype=float, depth=1, boundary="nearest"
    ... )
    >>> means.compute().round(6)
    array([0.333333, 1.      , 2.      , 3.      , 4.      , 4.666667])
    """
    return overlapped(
        name or title_of("map_overlap", func), func, args, kwargs, dtype=dtype, depth=depth,
        boundary=boundary, extra_mem=extra_projected_mem, chunks=chunks, trim=trim,
        drop_axis=drop_axis, new_axis=new_axis, spec=spec,
    )  # fmt: skip


def overlapped(
    title: str,
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    *,
    dtype: Any,
    depth: Any,
    boundary: Any,
    extra_mem: ExtraMem,
    chunks: Any = None,
    trim: bool = False,
    drop_axis: int | Sequence[int] | None = None,
    new_axis: int | Sequence[int] | None = None,
    spec: Spec | None = None,
) -> Array:
    """Like :func:`map_overlap`, with memory that may depend on the blocks."""
    refuse_lazy(title, args, kwargs)
    arrays = [a for a in args if isinstance(a, Array)]
    if not arrays:
        raise TypeError(f"{title}: at least one argument must be a lazy array")
    around = [
        _around(title, a, d, b)
        for a, d, b in zip(
            arrays, _each(title, "depth", depth, arrays), _each(title, "boundary", boundary,
            arrays), strict=True,
        )
    ]  # fmt: skip
    ndim = max(a.ndim for a in arrays)
    spec = common_spec(*arrays) or spec

    def make(mine: Sequence[Array]) -> tuple[Array, ...]:
        nonlocal dtype
        plain = [Operand(a._x, tuple(range(ndim - a.ndim, ndim))) for a in mine]
        unified = unify(plain, title, align=False)
        joined = join(unified)
        out = map_output(title, ndim, joined, chunks, drop_axis, new_axis, dtype)
        operands = [
            replace(
                x, array=_padded(a, beyond)._x, halo=tuple((*d, b != "none") for d, b in beyond)
            )
            for x, a, beyond in zip(plain, mine, around, strict=True)
        ]
        cuts_off: tuple[Trim, ...] = ()
        if trim:
            by_axis = _trims(mine, around, joined, ndim)
            cuts_off = tuple(
                by_axis[i] if isinstance(i, int) else (0, 0, None) for i in out.indices
            )
        tried = None if dtype is not None else list(map(_tiny, mine, around))
        made = run_mapped(
            title, func, args, kwargs, operands, unified, out, tried, extra_mem, spec,
            cuts_off,
        )  # fmt: skip
        dtype = made.dtype
        return (made,)

    return made_of(arrays, make)[0]


def _each(title: str, what: str, given: Any, arrays: Sequence[Array]) -> list[Any]:
    if not isinstance(given, list):
        return [given] * len(arrays)
    if len(given) != len(arrays):
        raise ValueError(f"{title}: {what} has {len(given)} entries for {len(arrays)} arrays")
    return given


def _by_axis(title: str, what: str, given: Any, ndim: int, default: Any) -> list[Any]:
    if isinstance(given, Mapping):
        named = {normalize_axis(title, axis, ndim): value for axis, value in given.items()}
        return [named.get(d, default) for d in range(ndim)]
    if isinstance(given, tuple):
        if len(given) != ndim:
            raise ValueError(f"{title}: {what} {given} has {len(given)} entries for {ndim} axes")
        return list(given)
    return [given] * ndim


def _around(title: str, a: Array, depth: Any, boundary: Any) -> list[tuple[Depth, Any]]:
    """Returns the depths and the boundary of each axis of an array."""
    out = []
    depths = _by_axis(title, "depth", depth, a.ndim, 0)
    beyond = _by_axis(title, "boundary", boundary, a.ndim, "none")
    for axis, (d, b) in enumerate(zip(depths, beyond, strict=True)):
        before, after = (d, d) if isinstance(d, (int, np.integer)) else d
        if min(before, after) < 0 or max(before, after) > a.shape[axis]:
            raise ValueError(
                f"{title}: depth of axis {axis} is {d}, expected 0 to its extent {a.shape[axis]}"
            )
        b = "none" if b is None or (before, after) == (0, 0) else b
        if isinstance(b, str) and b not in ("none", *_MODES):
            raise ValueError(
                f"{title}: boundary is {b!r}, expected 'none', a number, or one of"
                f" {', '.join(sorted(_MODES))}"
            )
        out.append(((int(before), int(after)), b))
    return out


def _padded(a: Array, around: Sequence[tuple[Depth, Any]]) -> Array:
    """Extends the array beyond its ends according to its boundary. Uses views."""
    for axis, (depth, boundary) in enumerate(around):
        if boundary == "none":
            continue
        widths = [depth if d == axis else (0, 0) for d in range(a.ndim)]
        if isinstance(boundary, str):
            a = pad(a, widths, _MODES[boundary])
        else:
            a = pad(a, widths, constant_values=boundary)
    return a


def _trims(
    arrays: Sequence[Array],
    around: Sequence[Sequence[tuple[Depth, Any]]],
    joined: Mapping[Any, Cut],
    ndim: int,
) -> tuple[Trim, ...]:
    """Returns the elements to trim from results: the largest halo of the arrays along each axis."""
    out = []
    for axis in range(ndim):
        mine = [
            m[axis - ndim + a.ndim]
            for a, m in zip(arrays, around, strict=True)
            if axis >= ndim - a.ndim
        ]
        (before, after), boundary = max(mine, key=lambda m: m[0])
        out.append((before, after, joined[axis] if boundary == "none" else None))
    return tuple(out)


def _tiny(a: Array, around: Sequence[tuple[Depth, Any]]) -> NDArray:
    return np.ones([1 + before + after for (before, after), _ in around], dtype_of(a._x.dtype))
