"""Sets and selected elements: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computes_first
from cubed.array._operands import common_spec, core_of, lazy
from cubed.array._select import counted_call
from cubed.functions._results import UniqueAll, UniqueCounts, UniqueInverse
from cubed.io._create import as_lazy

__all__ = [
    "argwhere",
    "extract",
    "flatnonzero",
    "in1d",
    "intersect1d",
    "nonzero",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]


@computes_first
def argwhere(x: Any, /) -> Array:
    """Positions of elements that are not zero, one per row.

    The number of elements is computed when the function is called.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        int64: each row has a position for each axis. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.argwhere(cubed.asarray([0, 3, 0, 4])).compute()
    array([[1],
           [3]])
    """
    x = as_lazy(x)
    return x._like(counted_call("argwhere", x._spec, x._x))


@computes_first
def extract(condition: Any, x: Any) -> Array:
    """Elements of a flattened array where the flattened condition is true.

    A condition with fewer elements counts as false for the remaining elements. The number of
    elements is computed when the function is called.

    Parameters
    ----------
    condition : array_like
        An array, whose nonzero elements select elements of `x`.
    x : array_like
        Input array.

    Returns
    -------
    Array
        One dimension, of the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(6)
    >>> cubed.extract(x % 2 == 0, x).compute()
    array([0, 2, 4])
    """
    spec = common_spec(condition, x)
    return Array._new(counted_call("extract", spec, core_of(condition), core_of(x)), spec)


@computes_first
def flatnonzero(x: Any, /) -> Array:
    """Positions in the flattened array of elements that are not zero.

    The number of elements is computed when the function is called.

    Parameters
    ----------
    x : array_like
        Input array.

    Returns
    -------
    Array
        int64, of one dimension. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.flatnonzero(cubed.asarray([0, 3, 0, 4])).compute()
    array([1, 3])
    """
    x = as_lazy(x)
    return x._like(counted_call("flatnonzero", x._spec, x._x))


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Array:
    """Whether each element of a flattened array is among those of another array.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each set are distinct.
    invert : bool, default False
        Whether to return the opposite: true for elements that are not in `ar2`.

    Returns
    -------
    Array
        bool, one dimension. Always false for NaN and NaT. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.in1d(cubed.asarray([1, 2]), cubed.asarray([2, 3])).compute()
    array([False,  True])
    """
    spec = common_spec(ar1, ar2)
    return Array._new(_core.call("in1d", core_of(ar1), core_of(ar2), assume_unique, invert), spec)


@computes_first
def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> tuple[Array, ...]:
    """Distinct elements that are in both arrays, in ascending order.

    The number of elements is computed when the function is called. NumPy's function, with
    `return_indices`, is `cubed.intersect1d`.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each set are distinct.

    Returns
    -------
    tuple of Array
        One dimension, of the type that both promote to. Positions are int64, in the flattened
        arrays; the first one of equal elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> from cubed.functions import sets
    >>> values, i, j = sets.intersect1d(cubed.asarray([1, 2]), cubed.asarray([2, 3]))
    >>> values.compute(), i.compute(), j.compute()
    (array([2]), array([1]), array([0]))
    """
    spec = common_spec(ar1, ar2)
    cores = counted_call("intersect1d", spec, core_of(ar1), core_of(ar2), assume_unique)
    return tuple(Array._new(c, spec) for c in cores)


@computes_first
def nonzero(x: Array, /) -> tuple[Array, ...]:
    """Positions of the elements that are not 0, in C order.

    The number of elements is computed when the function is called.

    Parameters
    ----------
    x : Array
        Input array.

    Returns
    -------
    tuple of Array
        For each axis an int64 array of one dimension. Lazy.

    Examples
    --------
    >>> import cubed
    >>> (positions,) = cubed.nonzero(cubed.asarray([0, 3, 0, 4]))
    >>> positions.compute()
    array([1, 3])
    """
    x = lazy(x)
    cores = counted_call("nonzero", x._spec, x._x)
    return tuple(x._like(c) for c in cores)


@computes_first
def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Distinct elements of one array that are not in another one, in ascending order.

    With `assume_unique`, elements keep their order. The number of elements is computed when the
    function is called.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each set are distinct.

    Returns
    -------
    Array
        One dimension, of the type of `ar1`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.setdiff1d(cubed.asarray([1, 2]), cubed.asarray([2, 3])).compute()
    array([1])
    """
    spec = common_spec(ar1, ar2)
    core = counted_call("setdiff1d", spec, core_of(ar1), core_of(ar2), assume_unique)
    return Array._new(core, spec)


@computes_first
def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Distinct elements that are in only one of two arrays, in ascending order.

    The number of elements is computed when the function is called.

    Parameters
    ----------
    ar1 : array_like
        The first set.
    ar2 : array_like
        The second set.
    assume_unique : bool, default False
        Whether the elements of each set are distinct.

    Returns
    -------
    Array
        One dimension, of the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.setxor1d(cubed.asarray([1, 2]), cubed.asarray([2, 3])).compute()
    array([1, 3])
    """
    spec = common_spec(ar1, ar2)
    core = counted_call("setxor1d", spec, core_of(ar1), core_of(ar2), assume_unique)
    return Array._new(core, spec)


@computes_first
def union1d(x1: Any, x2: Any, /) -> Array:
    """Distinct elements of two arrays, in ascending order.

    The number of elements is computed when the function is called.

    Parameters
    ----------
    x1 : array_like
        The first set.
    x2 : array_like
        The second set.

    Returns
    -------
    Array
        One dimension, of the type that both promote to. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.union1d(cubed.asarray([1, 3]), cubed.asarray([2, 3])).compute()
    array([1, 2, 3])
    """
    spec = common_spec(x1, x2)
    return Array._new(counted_call("union1d", spec, core_of(x1), core_of(x2)), spec)


@computes_first
def unique_all(x: Array, /, *, equal_nan: bool = False) -> UniqueAll:
    """Distinct elements in ascending order, with first positions, inverse indices and counts.

    Elements are sorted and counted when the function is called, and again when a result is
    computed. All NaN are distinct, and all NaT are one element.

    Parameters
    ----------
    x : Array
        Input array.
    equal_nan : bool, default False
        Whether all NaN count as one element, as in NumPy.

    Returns
    -------
    UniqueAll
        Values have the type of `x`; positions and counts are int64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.unique_all(cubed.asarray([3, 1, 3])).indices.compute()
    array([1, 0])
    """
    x = lazy(x)
    cores = counted_call("unique_all", x._spec, x._x, equal_nan)
    return UniqueAll(*(x._like(c) for c in cores))


@computes_first
def unique_counts(x: Array, /, *, equal_nan: bool = False) -> UniqueCounts:
    """Distinct elements in ascending order, and their counts.

    Elements are sorted and counted when the function is called, and again when a result is
    computed. All NaN are distinct, and all NaT are one element.

    Parameters
    ----------
    x : Array
        Input array.
    equal_nan : bool, default False
        Whether all NaN count as one element, as in NumPy.

    Returns
    -------
    UniqueCounts
        Values have the type of `x`; counts are int64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.unique_counts(cubed.asarray([3, 1, 3])).counts.compute()
    array([1, 2])
    """
    x = lazy(x)
    cores = counted_call("unique_counts", x._spec, x._x, equal_nan)
    return UniqueCounts(*(x._like(c) for c in cores))


@computes_first
def unique_inverse(x: Array, /, *, equal_nan: bool = False) -> UniqueInverse:
    """Distinct elements in ascending order, and the index among them of each element.

    Elements are sorted and counted when the function is called, and again when a result is
    computed. All NaN are distinct, and all NaT are one element.

    Parameters
    ----------
    x : Array
        Input array.
    equal_nan : bool, default False
        Whether all NaN count as one element, as in NumPy.

    Returns
    -------
    UniqueInverse
        Values have the type of `x`; indices are int64, in the shape of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.unique_inverse(cubed.asarray([3, 1, 3])).inverse_indices.compute()
    array([1, 0, 1])
    """
    x = lazy(x)
    cores = counted_call("unique_inverse", x._spec, x._x, equal_nan)
    return UniqueInverse(*(x._like(c) for c in cores))


@computes_first
def unique_values(x: Array, /, *, equal_nan: bool = False) -> Array:
    """Distinct elements, in ascending order.

    Elements are sorted and counted when the function is called, and again when a result is
    computed. All NaN are distinct, and all NaT are one element.

    Parameters
    ----------
    x : Array
        Input array.
    equal_nan : bool, default False
        Whether all NaN count as one element, as in NumPy.

    Returns
    -------
    Array
        One dimension, of the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.unique_values(cubed.asarray([3, 1, 3])).compute()
    array([1, 3])
    """
    x = lazy(x)
    return x._like(counted_call("unique_values", x._spec, x._x, equal_nan))
