"""Functions of labelled objects that are not rows of the catalogue.

A task of :func:`labeled_comprehension` calls a function of the user, and the result of
:func:`value_indices` has a key for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cubed.array._array import Array
from cubed.array._operands import common_spec, to_numpy
from cubed.array._rechunk import rechunk
from cubed.array_api.creation_functions import asarray, full
from cubed.array_api.manipulation_functions import concat, reshape
from cubed.array_api.searching_functions import searchsorted, where
from cubed.array_api.set_functions import unique_counts
from cubed.array_api.sorting_functions import argsort
from cubed.base._types import DTypeLike, NDArray
from cubed.blocks._apply import map_blocks
from cubed.functions.grids import unravel_index
from cubed.functions.measurements import sum_labels
from cubed.functions.pieces import broadcast_arrays
from cubed.io._create import as_lazy
from cubed.planning._compute import compute
from cubed.spec import Spec


@dataclass(frozen=True)
class _Call:
    """A user-defined function that is called with all elements of an object."""

    function: Callable[..., Any]
    dtype: np.dtype[Any]

    def __call__(self, values: NDArray, *positions: NDArray) -> NDArray:
        return np.full((1,), self.function(values, *positions), self.dtype)


def _line(x: Array) -> Array:
    return reshape(x, (-1,))


def _numbered(by: Array, chosen: NDArray, spec: Spec | None) -> Array:
    """Returns the position of each label in `chosen`, which is sorted. For labels that are not in
    it, returns its length."""
    table = asarray(chosen, spec=spec)
    before, behind = (searchsorted(table, by, side=side) for side in ("left", "right"))
    return where(behind > before, before, len(chosen))


def labeled_comprehension(
    input: Any,
    labels: Any,
    index: Any,
    func: Callable[..., Any],
    out_dtype: DTypeLike,
    default: Any,
    pass_positions: bool = False,
) -> Array:
    """Calls a function with all elements of each labelled object.

    The call computes the number of elements of each object. A run sorts the elements by labels. A
    task then calls the function for one object, whose elements must fit in its memory.

    Parameters
    ----------
    input : array_like
        Numbers.
    labels : array_like of int or None
        Label of each element; broadcasts with `input`. None: all elements are one object.
    index : int, array_like of int or None
        Labels of the objects, in any order. None: the elements with labels above 0 are one object.
    func : callable
        Gets the elements of an object as a 1-D NumPy array, in C order, and returns a number.
    out_dtype : dtype
        Type of the result.
    default : scalar
        Result for an object without elements.
    pass_positions : bool, default False
        Whether `func` also gets the positions of the elements in the flattened `input`.

    Returns
    -------
    Array
        The shape of `index`; 0-d for one object. Lazy.

    Raises
    ------
    ValueError
        For an index without labels.
    TypeError
        For labels or an index that are not integers.

    Examples
    --------
    >>> import cubed
    >>> x, labels = cubed.asarray([1.0, 4.0, 9.0, 2.0]), cubed.asarray([1, 1, 2, 2])
    >>> cubed.ndimage.labeled_comprehension(x, labels, [1, 2, 3], np.ptp, float, -1).compute()
    array([ 3.,  7., -1.])
    """
    x, dtype = as_lazy(input), np.dtype(out_dtype)
    if labels is None and index is not None:
        raise ValueError("labeled_comprehension: an index without labels, expected labels")
    by = as_lazy(np.int8(1) if labels is None else labels)
    chosen = None if index is None else to_numpy(index)
    if chosen is not None and chosen.size == 0:
        chosen = chosen.astype(np.int64)  # NumPy's type of an empty list is float64.
    for name, given in (("labels are", by), ("index is", chosen)):
        if given is not None and given.dtype.kind not in "biu":
            raise TypeError(f"labeled_comprehension: {name} {given.dtype}, expected integers")
    spec = common_spec(x, by)
    x, by = broadcast_arrays(x, by)
    if chosen is None:
        by, chosen = (by > 0).astype(np.int8), np.array(1)
    sorted_labels, place = np.unique(chosen, return_inverse=True)
    counts = sum_labels(1, by, sorted_labels).compute().astype(np.int64)
    found = np.flatnonzero(counts)
    made = full((1,), default, dtype=dtype, spec=spec)
    if found.size:
        order = argsort(_line(_numbered(by, sorted_labels, spec)), stable=True)[: int(counts.sum())]
        objects = (tuple(counts[found].tolist()),)
        values = [_line(x)[order], order][: 2 if pass_positions else 1]
        call = map_blocks(
            _Call(func, dtype), *(rechunk(v, objects) for v in values), dtype=dtype,
            chunks=((1,) * found.size,), name="labeled_comprehension",
        )  # fmt: skip
        made = concat([made, call])
    at = np.zeros(sorted_labels.size, np.int64)
    at[found] = np.arange(1, found.size + 1)
    return reshape(made[at[place.reshape(-1)]], chosen.shape)


def value_indices(arr: Any, *, ignore_value: int | None = None) -> dict[Any, Sequence[Array]]:
    """Finds the positions of the elements of each value in an array of integers.

    The call computes the values and their counts. A run sorts the positions by values.

    Parameters
    ----------
    arr : array_like of int
        Integers, such as labels.
    ignore_value : int or None
        A value whose positions are omitted.

    Returns
    -------
    dict of tuple of Array
        For each value, in ascending order, the positions of its elements along each axis, in C
        order. Lazy; int64.

    Raises
    ------
    TypeError
        For an array that does not have integers, or that has no axes.

    Examples
    --------
    >>> import cubed
    >>> found = cubed.ndimage.value_indices(cubed.asarray([[7, 0], [7, 7]]), ignore_value=0)
    >>> rows, columns = found[7]
    >>> rows.compute(), columns.compute()
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    x = as_lazy(arr)
    if x.dtype.kind not in "iu" or x.ndim == 0:
        raise TypeError(f"value_indices: arr is {x.dtype} of {x.ndim} axes, expected integers")
    if x.size == 0:
        return {}
    line = _line(x)
    values, counts = compute(*unique_counts(line))
    order = argsort(line, stable=True)
    ends = np.cumsum(counts).tolist()
    return {
        value: unravel_index(order[end - count : end], x.shape)
        for value, count, end in zip(values, counts.tolist(), ends, strict=True)
        if ignore_value is None or value != ignore_value
    }
