"""Reductions by group."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cubed import _core
from cubed import array_api as xp
from cubed.array._array import Array
from cubed.array._cores import core_from_numpy, engine_chunks
from cubed.array._neighbours import refuse_foreign
from cubed.array._operands import normalize_axes
from cubed.array_api._edges import complex_of
from cubed.base._dtypes import kind_of, name_of
from cubed.base._held import import_counted
from cubed.base._types import NDArray
from cubed.blocks._apply import map_blocks
from cubed.exceptions import PlanTooLargeError

#: Reductions, with the engine's names. Missing elements are not counted.
NAMES = {
    "count": "nancount", "any": "any", "all": "all",
    "sum": "sum", "prod": "prod", "mean": "mean", "var": "var", "std": "std", "min": "min",
    "max": "max", "first": "first", "last": "last", "argmin": "argmin", "argmax": "argmax",
    "nansum": "nansum", "nanprod": "nanprod", "nanmean": "nanmean", "nanvar": "nanvar",
    "nanstd": "nanstd", "nanmin": "nanmin", "nanmax": "nanmax", "nanfirst": "nanfirst",
    "nanlast": "nanlast", "nanargmin": "nanargmin", "nanargmax": "nanargmax",
}  # fmt: skip
#: Order statistics: a task holds all elements of a group.
QUANTILES = ("median", "nanmedian", "quantile", "nanquantile")
#: Reductions whose result has the type of the elements; fill values may need another type.
_OF_ELEMENTS = ("sum", "prod", "min", "max", "first", "last")
#: Maximum number of labels that are processed at a time.
_PART = 2**20


@dataclass(frozen=True)
class Aggregation:
    """A function that reduces the elements of each group, with its options."""

    func: str  # a name in NAMES or QUANTILES
    fill_value: Any = None  # value of groups with fewer than `min_count` elements
    dtype: Any = None
    min_count: int = 0
    ddof: float = 0
    #: Use the fill value for groups without elements, also in sums, products and counts, whose
    #: results would otherwise be 0 or 1.
    fill_absent: bool = False


def groupby_reduce(
    array: Array,
    *by: Any,
    func: str,
    expected_groups: Any = None,
    sort: bool = True,
    axis: int | Sequence[int] | None = None,
    fill_value: Any = None,
    dtype: Any = None,
    min_count: int | None = None,
    finalize_kwargs: Mapping[str, Any] | None = None,
    isbin: bool | Sequence[bool] = False,
) -> tuple[Any, ...]:
    """Reduces the elements of an array that have the same label.

    The interface is that of flox's function of this name.

    Parameters
    ----------
    array : Array
        Numbers or times. For complex numbers, only sums, means, counts, any and all are supported.
    *by : array_like
        Labels: NumPy arrays or lazy arrays. Each has the shape of the last axes of `array`, or
        extent 1 along axes with equal labels. Elements belong to one group if all their labels are
        equal. NaN, NaT and labels that are not expected belong to no group.
    func : str
        ``"count"`` (of elements that are not missing), ``"any"``, ``"all"``, or one of ``"sum"``,
        ``"prod"``,
        ``"mean"``, ``"var"``, ``"std"``, ``"min"``, ``"max"``, ``"first"``, ``"last"``,
        ``"argmin"`` and ``"argmax"`` (positions in C order of the reduced axes), with the prefix
        ``"nan"`` to skip NaN and NaT; also ``"nanany"`` and ``"nanall"``, and for real numbers
        ``"median"``, ``"quantile"``, ``"nanmedian"`` and ``"nanquantile"``.
    expected_groups : array_like, tuple or None
        The labels of the groups; for several `by`, a tuple of labels. None: all labels found.
    sort : bool, default True
        Whether to sort the groups found; otherwise they are in order of occurrence.
    axis : int, tuple of int or None
        The axes to reduce, among the axes of the labels. None: all axes of the labels.
    fill_value : scalar or None
        Value of groups with fewer elements than `min_count`. None: NaN, NaT, -1 for positions,
        false for any, true for all, 0 for other integers.
    dtype : dtype or None
        Type of the result. None: the type of the reduction without groups.
    min_count : int or None
        Minimum number of elements of a group. None: 1 if both `fill_value` and `expected_groups`
        are given, else 0. With 0, empty groups have sum 0, product 1, and `fill_value` for
        reductions that need elements.
    finalize_kwargs : dict or None
        ``{"ddof": n}`` for var and std; ``{"q": 0.9}`` or a list for quantiles, and ``"method"`` as
        for :func:`quantile`.
    isbin : bool or sequence of bool, default False
        Whether `expected_groups` are ascending edges of bins. A bin includes its right edge, but
        not its left edge. For several `by`, a sequence.

    Returns
    -------
    result : Array
        The axes that are not reduced, then an axis of groups for each `by`. Lazy. Several quantiles
        have an axis before all others.
    *groups : numpy.ndarray
        The labels along the axes of groups; a ``pandas.IntervalIndex`` for bins.

    Raises
    ------
    ValueError
        For another reduction, or labels that do not have the shape of the last axes.
    TypeError
        For strings, and for complex numbers if the reduction needs an order.

    Notes ----- The array is read once, block by block. A task holds 8 to 24 bytes for each group
    and each position along the other axes. For medians and quantiles, a task holds whole lines
    along the labelled axes, as many as fit.

    Unless `expected_groups` is given, lazy labels are computed immediately to find the groups. The
    run computes them again, block by block. Labels in memory are converted to group numbers of 1 to
    8 bytes, depending on the number of groups. These numbers are memory of the plan, and must fit
    into `allowed_mem` without `reserved_mem`.

    Examples
    --------
    >>> x = cubed.from_array(np.arange(6.0))
    >>> total, labels = cubed.groupby_reduce(x, np.array(list("abbaab")), func="sum")
    >>> total.compute(), labels
    (array([7., 8.]), array(['a', 'b'], dtype='<U1'))
    """
    refuse_foreign(array, *by, what="groupby_reduce")
    if func in ("nanany", "nanall"):  # missing elements do not count
        array, func = _unless_missing(array, func == "nanall"), func.removeprefix("nan")
    if func not in NAMES and func not in QUANTILES:
        raise ValueError(f"func is {func!r}, expected one of {', '.join((*NAMES, *QUANTILES))}")
    options = dict(finalize_kwargs or {})
    unknown = set(options) - ({"q", "method"} if "quantile" in func else {"ddof"})
    if unknown:
        raise TypeError(f"finalize_kwargs: unknown arguments {', '.join(sorted(unknown))}")
    shape = _labelled_shape(array, by)
    expected = _each(expected_groups, len(by))
    bins = [isbin] * len(by) if isinstance(isbin, bool) else isbin
    limit = int(array.spec.task_mem)
    found = [
        _in_bins(b, e, limit) if is_bin else _factorize(b, e, sort, limit)
        for b, e, is_bin in zip(by, expected, bins, strict=True)
    ]
    groups = [labels for labels, _ in found]
    codes = _joined([c for _, c in found], [len(labels) for labels in groups], shape, array)
    if min_count is None:
        min_count = int(fill_value is not None and expected_groups is not None)
    first = array.ndim - codes.ndim
    axes = (
        range(first, array.ndim)
        if axis is None
        else normalize_axes("groupby_reduce", axis, array.ndim)
    )
    if min(axes, default=first) < first:
        raise ValueError(f"axis {min(axes)} has no labels: they have the last {codes.ndim} axes")
    ngroups = math.prod(len(labels) for labels in groups)
    how = Aggregation(func, fill_value, dtype, min_count, options.get("ddof", 0))
    if func in QUANTILES:
        result = quantile_codes(array, codes, tuple(axes), ngroups, how, options)
    else:
        result = reduce_codes(array, codes, tuple(axes), ngroups, how)
    if len(groups) > 1:
        core = _core.call("reshape", result._x, (*result.shape[:-1], *map(len, groups)))
        result = result._like(core)
    return (result, *groups)


def reduce_codes(
    array: Array, codes: Array, axes: tuple[int, ...], ngroups: int, how: Aggregation
) -> Array:
    """Reduces the last axes by group numbers. The last axis of the result is that of the groups."""
    first = array.ndim - codes.ndim
    kept = [d for d in range(first, array.ndim) if d not in axes]
    if kept:  # there is a separate set of groups for each position along these axes
        count = math.prod(array.shape[d] for d in kept)
        codes = _apart(codes, [d - first for d in kept], ngroups)
        whole = tuple(range(first, array.ndim))
        n = count * ngroups
        if "arg" in how.func:
            at = _reduce(array, codes, whole, n, replace(how, fill_value=None, dtype=None))
            fill = -1 if how.fill_value is None else how.fill_value
            x = _positions_along(at, array.shape, whole, axes, fill)
            x = x if how.dtype is None else x.astype(how.dtype)
        else:
            x = _reduce(array, codes, whole, n, how)
        shape = (*array.shape[:first], *(array.shape[d] for d in kept), ngroups)
        return x._like(_core.call("reshape", x._x, shape))
    return _reduce(array, codes, axes, ngroups, how)


def _positions_along(
    at: Array, shape: Sequence[int], whole: Sequence[int], axes: Sequence[int], fill: Any
) -> Array:
    """Converts positions in C order of all axes to positions of some axes; -1 becomes `fill`."""
    out: Any = 0
    for d in whole:
        if d in axes:
            step = math.prod(shape[e] for e in whole if e > d)
            out = out * shape[d] + (at // step) % shape[d]
    return xp.where(at < 0, fill, out)


def quantile_codes(
    array: Array,
    codes: Array,
    axes: tuple[int, ...],
    ngroups: int,
    how: Aggregation,
    options: Mapping[str, Any],
) -> Array:
    """Computes medians and quantiles, like :func:`reduce_codes`. If there are several quantiles,
    they are along the first axis of the result."""
    func, fill_value, dtype = how.func, how.fill_value, how.dtype
    if func.endswith("quantile") and "q" not in options:
        raise TypeError(f"{func} needs finalize_kwargs with q")
    q = np.asarray(options.get("q", 0.5), dtype=float)
    if q.ndim > 1:
        raise ValueError(f"q has {q.ndim} axes, expected a number or one axis of them")
    first = array.ndim - codes.ndim
    kept = [d for d in range(first, array.ndim) if d not in axes]
    apart = [array.shape[d] for d in kept]
    if kept:
        codes = _apart(codes, [d - first for d in kept], ngroups)
    skip, method, total = func.startswith("nan"), options.get("method", "linear"), ngroups
    total *= math.prod(apart)
    wide = dtype is not None and np.dtype(dtype) == np.float64
    # The labelled axes come first, as in a series of maps, where neighbouring lines have adjacent
    # elements.
    order = [*range(first, array.ndim), *range(first)]
    core = _core.call("transpose", array._x, order)
    out = _core.call(
        "groupby", core, codes._x, "quantile", range(codes.ndim), total, skip, None, None, None,
        q.reshape(-1).tolist(), method, None, False, "float64" if wide else None,
        array.spec.task_mem,
    )  # fmt: skip
    out = _core.call("transpose", out, [0, *range(2, 2 + first), 1])
    shape = (*out.shape[:-1], *apart, ngroups)
    result = array._like(_core.call("reshape", out, shape if q.ndim else shape[1:]))
    if how.min_count > 1 or (fill_value is not None and fill_value == fill_value):
        whole = tuple(range(first, array.ndim))
        counts = reduce_codes(array, codes, whole, total, Aggregation("count"))
        enough = counts._like(_core.call("reshape", counts._x, shape[1:])) >= max(1, how.min_count)
        result = xp.where(enough, result, float("nan") if fill_value is None else fill_value)
    return result if dtype is None else result.astype(dtype)


def _reduce(
    array: Array, codes: Array, axes: tuple[int, ...], ngroups: int, how: Aggregation
) -> Array:
    if array.dtype.kind == "c":
        return _reduce_complex(array, codes, axes, ngroups, how)
    func, fill_value, dtype = how.func, how.fill_value, how.dtype
    if array.dtype.kind in "mM" and fill_value is not None:
        fill_value = _fill_of_times(func, array.dtype, fill_value)
    out = _core.call(
        "groupby", array._x, codes._x, NAMES[func], axes, ngroups, None, None,
        how.ddof if func.endswith(("var", "std")) else None, how.min_count, None, None, fill_value,
        how.fill_absent, None if dtype is None else name_of(np.dtype(dtype)), array.spec.task_mem,
    )  # fmt: skip
    order = [d for d in range(len(out.shape)) if d != axes[0]]
    out = _core.call("transpose", out, [*order, axes[0]])
    return array._like(out)


def _fill_of_times(func: str, dtype: np.dtype[Any], fill_value: Any) -> Any:
    """Returns the fill value for groups of times; None, which means NaT, if the given fill value is
    a missing value."""
    given = np.asarray(fill_value)
    if given.dtype.kind in "fmM" and np.isnan(given):
        return None
    if func.removeprefix("nan") in ("count", "any", "all"):  # counts and bools are not times
        return fill_value
    raise TypeError(f"{func}: fill_value is {fill_value!r}, expected None or NaT for {dtype}")


def _unless_missing(x: Array, value: bool) -> Array:
    if kind_of(x.dtype) not in "fcmM":
        return x
    truth = xp.ones_like(x, dtype=bool) if x.dtype.kind in "mM" else x != 0
    return xp.where(xp.isnan(x), value, truth)


def _reduce_complex(
    x: Array, codes: Array, axes: tuple[int, ...], ngroups: int, how: Aggregation
) -> Array:
    """Reduces complex numbers by real and imaginary parts, if that is possible."""
    func, fill_value, dtype = how.func, how.fill_value, how.dtype

    def reduce(part: Array, fill: Any) -> Array:
        return _reduce(part, codes, axes, ngroups, replace(how, fill_value=fill, dtype=None))

    plain = func.removeprefix("nan")
    if plain in ("count", "any", "all"):  # an element is missing if one of its parts is
        truth = xp.where(xp.isnan(x), float("nan"), (x != 0).astype(float))
        out = reduce(truth, fill_value)
        return out if dtype is None else out.astype(dtype)
    if plain not in ("sum", "mean"):
        raise TypeError(f"{func} of complex numbers is not defined")
    if plain != func:
        x = xp.where(xp.isnan(x), complex("nan+nanj"), x)
    fill = complex("nan+nanj") if fill_value is None else complex(fill_value)
    known = fill_value is not None
    real = reduce(xp.real(x), fill.real if known else None)
    out = complex_of(real, reduce(xp.imag(x), fill.imag if known else None))
    return out.astype(x.dtype if dtype is None else dtype)


# --- Labels ---------------------------------------------------------------------------------------


def _each(expected: Any, n: int) -> list[Any]:
    if expected is None:
        return [None] * n
    if n == 1 and not (isinstance(expected, tuple) and len(expected) == 1):
        return [expected]
    if not isinstance(expected, tuple) or len(expected) != n:
        raise ValueError(f"expected_groups: expected a tuple with groups for each of {n} labels")
    return list(expected)


def _labelled_shape(array: Array, by: Sequence[Any]) -> tuple[int, ...]:
    if not by:
        raise ValueError("groupby_reduce needs labels")
    ndim = max(np.ndim(b) if not isinstance(b, Array) else b.ndim for b in by)
    shape = array.shape[array.ndim - ndim :] if 0 < ndim <= array.ndim else ()
    for b in by:
        own = b.shape if isinstance(b, Array) else np.shape(b)
        if not shape or len(own) != ndim or not _fits(own, shape):
            raise ValueError(
                f"labels of shape {own} do not belong to the last axes of an array of shape"
                f" {array.shape}"
            )
    return shape


def _fits(own: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return all(n in (1, m) for n, m in zip(own, shape, strict=True))


def _factorize(by: Any, expected: Any, sort: bool, limit: int) -> tuple[NDArray, Any]:
    """Returns the groups, and the group number of each label, -1 for labels without a group."""
    values = by if isinstance(by, Array) else np.asarray(by)
    if expected is None:
        groups = _groups_of(values, sort)
    else:
        groups = np.asarray(expected)
        if groups.ndim != 1:
            raise ValueError(f"expected_groups has {groups.ndim} axes, expected one")
        if groups.dtype == object and len(groups) and type(groups[0]).__name__ == "Interval":
            raise NotImplementedError("expected_groups are intervals: use labels of bins")
        unique, counts = np.unique(groups, return_counts=True)
        if len(unique) < len(groups):
            twice = unique[counts > 1][:1].astype(str)[0]
            raise ValueError(f"expected_groups has {twice} twice, expected each group once")
    return groups, numbers_of(_lookup, values, groups, len(groups), limit)


def _in_bins(by: Any, edges: Any, limit: int) -> tuple[Any, Any]:
    """Returns the bins, and the number of each label's bin."""
    if edges is None:
        raise ValueError("isbin without expected_groups, expected edges of bins")
    edges = np.asarray(edges)
    groups = import_counted("pandas").IntervalIndex.from_breaks(edges)
    values = by if isinstance(by, Array) else np.asarray(by)
    return groups, numbers_of(_bin, values, edges, len(groups), limit)


def parts_of(values: Array | NDArray) -> Iterator[tuple[slice, ...]]:
    """Yields the labels in parts, because they are processed one part after another."""
    steps = list(values._x.chunks) if isinstance(values, Array) else [1] * values.ndim
    for d in range(values.ndim - 1, -1, -1):
        room = _PART // math.prod(steps)
        steps[d] = min(max(1, values.shape[d]), steps[d] * max(1, room))
    ranges = (range(0, n, step) for n, step in zip(values.shape, steps, strict=True))
    for start in itertools.product(*ranges):
        yield tuple(slice(i, i + step) for i, step in zip(start, steps, strict=True))


def _groups_of(values: Array | NDArray, sort: bool) -> NDArray:
    """Returns the distinct labels, sorted or in order of first occurrence."""
    found = np.empty(0, values.dtype), np.empty(0, np.int64)
    waiting: list[tuple[NDArray, NDArray]] = []
    count = 0
    for part in parts_of(values):
        one = values[part]
        block = one.compute() if isinstance(one, Array) else one
        groups, first = np.unique(block, return_index=True)
        there = groups == groups  # false for NaN and NaT
        at = np.unravel_index(first[there], block.shape)
        whole = tuple(i + s.start for i, s in zip(at, part, strict=True))
        waiting.append((groups[there], np.ravel_multi_index(whole, values.shape)))
        count += len(whole[0])
        # With this limit, all merges together cost about as much as the last merge.
        if count > len(found[0]) + _PART:
            found, count = _merged([found, *waiting]), 0
            waiting = []
    groups, first = _merged([found, *waiting])
    return groups if sort else groups[np.argsort(first, kind="stable")]


def _merged(parts: Sequence[tuple[NDArray, NDArray]]) -> tuple[NDArray, NDArray]:
    every = np.concatenate([groups for groups, _ in parts])
    groups, number = np.unique(every, return_inverse=True)
    first = np.full(len(groups), np.iinfo(np.int64).max)
    np.minimum.at(first, number.reshape(-1), np.concatenate([at for _, at in parts]))
    return groups, first


def numbers_of(
    function: Callable[[NDArray, NDArray], NDArray],
    values: Array | NDArray,
    groups: NDArray,
    ngroups: int,
    limit: int,
) -> Any:
    """Converts labels to numbers by a function: lazy labels in tasks, other labels immediately, to
    the smallest integer type."""
    if isinstance(values, Array):
        extra = lookup_mem(values, groups)
        return map_blocks(function, values, groups, dtype=np.int64, extra_projected_mem=extra)
    dtype = np.min_scalar_type(-max(1, ngroups))
    if values.size * dtype.itemsize > limit:
        raise PlanTooLargeError(
            f"groupby_reduce: numbers of {values.size} labels take {values.size * dtype.itemsize}"
            f" bytes, expected at most {limit} (allowed_mem without reserved_mem): give the labels"
            " as a lazy array, with expected_groups"
        )
    out = np.empty(values.shape, dtype)
    for part in parts_of(values):
        out[part] = function(values[part], groups)
    return out


def lookup_mem(values: Array, groups: Any) -> int:
    """Returns the bytes needed to look up a block of labels: a table of groups, and arrays of the
    block's length."""
    width = values.dtype.itemsize
    table = len(groups) * (64 + 2 * width)
    return table + math.prod(values.chunksize) * (4 * 8 + 2 * width)


def _bin(values: NDArray, edges: NDArray) -> NDArray:
    at = np.searchsorted(edges, values, side="left") - 1
    return np.where((values > edges[0]) & (values <= edges[-1]), at, -1)


def _lookup(values: NDArray, groups: NDArray) -> NDArray:
    if len(groups) == 0:
        return np.full(values.shape, -1)
    order = np.argsort(groups, kind="stable")
    at = np.searchsorted(groups, values, sorter=order)
    number = order[np.minimum(at, len(groups) - 1)]
    return np.where(groups[number] == values, number, -1)


def _joined(
    codes: Sequence[Any], sizes: Sequence[int], shape: tuple[int, ...], array: Array
) -> Array:
    """Combines the numbers of all labels of an element to one number."""
    own = engine_chunks(array._x)[array.ndim - len(shape) :]

    def lazy(c: Any) -> Array:
        if isinstance(c, Array):
            return c
        chunks = [1 if n == 1 else k for k, n in zip(own, c.shape, strict=True)]
        numbers = core_from_numpy(c, chunks, made=True)
        return Array._new(numbers, array._spec).astype(np.int64)

    out = lazy(codes[0])
    if len(codes) > 1:
        negative = out < 0
        for c, n in zip(map(lazy, codes[1:]), sizes[1:], strict=True):
            out = out * n + c
            negative = negative | (c < 0)
        none = _core.full("int64", (), None, -1)
        out = array._like(_core.elementwise("where", negative._x, none, out._x))
    return array._like(_core.call("broadcast_to", out._x, shape))


def _apart(codes: Array, kept: Sequence[int], ngroups: int) -> Array:
    """Makes group numbers that are different for each position along the axes that are not
    reduced."""
    # Number of the position along the axes that are not reduced, in C order.
    shape = [codes.shape[d] if d in kept else 1 for d in range(codes.ndim)]
    chunks = [min(c, n) for c, n in zip(codes._x.chunks, shape, strict=True)]
    number = codes._like(_core.index(shape, [max(1, c) for c in chunks], 0))
    moved = codes + number * ngroups
    core = _core.elementwise("where", (codes < 0)._x, codes._x, moved._x)
    return codes._like(core)
