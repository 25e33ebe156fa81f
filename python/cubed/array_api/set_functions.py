"""Sets of elements.

Shapes of results depend on the values: all functions but isin compute how many there are when they
are called, and sort all elements.
"""

from __future__ import annotations

from typing import NamedTuple

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computes_first
from cubed.array._operands import lazy
from cubed.array._select import counted
from cubed.functions.searching import isin

__all__ = ["isin", "unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAll(NamedTuple):
    """What unique_all returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What unique_counts returns."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What unique_inverse returns."""

    values: Array
    inverse_indices: Array


def _unique(
    x: Array, *, indices: bool = False, inverse: bool = False, counts: bool = False
) -> tuple[Array, ...]:
    """The values, and what else is wanted; how many there are is computed now."""
    x = lazy(x)
    task_mem = x.spec.task_mem
    offsets, n = counted(_core.unique_offsets(x._x, task_mem), x.size, x._spec)
    made = _core.unique(x._x, offsets, n, task_mem, indices, inverse, counts)
    return tuple(x._like(a) for a in made)


@computes_first
def unique_all(x: Array, /) -> UniqueAll:
    """Different elements in order, where each is first, which of them each element is, and how
    often each is there. NaN are all different, NaT is one element.

    Values are of x's type and in one axis, positions and counts int64. Elements are sorted and
    counted when it is called, and once more when a result is computed.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    UniqueAll
        With ``values``, ``indices``, ``inverse_indices`` and ``counts``: lazy arrays.

    Examples
    --------
    >>> import cubed
    >>> cubed.unique_all(cubed.asarray([3, 1, 3])).indices.compute()
    array([1, 0])
    """
    return UniqueAll(*_unique(x, indices=True, inverse=True, counts=True))


@computes_first
def unique_counts(x: Array, /) -> UniqueCounts:
    """Different elements in order, and how often each is there.

    Values are of x's type and in one axis, positions and counts int64. Elements are sorted and
    counted when it is called, and once more when a result is computed.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    UniqueCounts
        With ``values`` and ``counts``: lazy arrays.

    Examples
    --------
    >>> import cubed
    >>> cubed.unique_counts(cubed.asarray([3, 1, 3])).counts.compute()
    array([1, 2])
    """
    return UniqueCounts(*_unique(x, counts=True))


@computes_first
def unique_inverse(x: Array, /) -> UniqueInverse:
    """Different elements in order, and which of them each element is.

    Values are of x's type and in one axis, positions and counts int64. Elements are sorted and
    counted when it is called, and once more when a result is computed.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    UniqueInverse
        With ``values`` and ``inverse_indices``: lazy arrays.

    Examples
    --------
    >>> import cubed
    >>> cubed.unique_inverse(cubed.asarray([3, 1, 3])).inverse_indices.compute()
    array([1, 0, 1])
    """
    return UniqueInverse(*_unique(x, inverse=True))


@computes_first
def unique_values(x: Array, /) -> Array:
    """Different elements in order.

    Values are of x's type and in one axis, positions and counts int64. Elements are sorted and
    counted when it is called, and once more when a result is computed.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    Array
        Of one axis, and of x's type. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([3, 1, 3])
    >>> cubed.unique_values(x).compute()
    array([1, 3])
    """
    return _unique(x)[0]
