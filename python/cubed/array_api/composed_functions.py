"""More of NumPy's functions, each a few of the others: lazy, in one pass where those are."""

from __future__ import annotations

import builtins
import itertools
import operator
from typing import Any

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computes_first
from cubed.array._keys import positions_within
from cubed.array._operands import (
    common_spec,
    normalize_axis,
    operands,
    to_numpy,
)
from cubed.array_api._rows import unique_along
from cubed.array_api.creation_functions import asarray, eye, full_like, zeros
from cubed.array_api.data_type_functions import result_type
from cubed.array_api.elementwise_functions import (
    abs,
    atan2,
    conj,
    divide,
    equal,
    imag,
    isnan,
    maximum,
    minimum,
    multiply,
    pow,
    real,
    round,
    sin,
    trunc,
)
from cubed.array_api.indexing_functions import take
from cubed.array_api.linalg import diagonal
from cubed.array_api.manipulation_functions import (
    concat,
    expand_dims,
    flip,
    permute_dims,
    reshape,
    stack,
)
from cubed.array_api.searching_functions import nonzero, where
from cubed.array_api.set_functions import (
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from cubed.array_api.statistical_functions import sum
from cubed.base._docs import documented
from cubed.base._dtypes import kind_of
from cubed.base._types import Axis, DTypeLike
from cubed.functions._calls import operand
from cubed.functions.manipulation import dstack, hstack, rot90, vstack
from cubed.functions.numeric import trapezoid, unwrap
from cubed.io._create import as_lazy

__all__ = [
    "trapezoid", "split", "diag", "array_split", "angle", "append", "argwhere", "atleast_1d",
    "atleast_2d", "atleast_3d", "average", "corrcoef", "cov", "deg2rad", "delete", "dstack", "exp2",
    "fabs", "extract", "fix", "flatnonzero", "fliplr", "flipud", "fmax", "fmin", "hstack",
    "iscomplex", "isneginf", "isposinf", "isreal", "nan_to_num", "rad2deg", "rint", "rot90",
    "sinc", "union1d", "unique", "unwrap", "vdot", "vstack",
]  # fmt: skip


def flat(x: Any) -> Array:
    """All elements in one axis, in C order. Lazy."""
    return reshape(as_lazy(x), (-1,))


# --- Axes and pieces ------------------------------------------------------------------------------


def _with_axes(x: Any, ndim: int) -> Array:
    a = as_lazy(x).copy()
    while a.ndim < min(ndim, 2):
        a = expand_dims(a, axis=0)
    return a if a.ndim >= ndim else expand_dims(a, axis=-1)


def _each(arrays: tuple[Any, ...], ndim: int) -> Any:
    out = tuple(_with_axes(x, ndim) for x in arrays)
    return out[0] if len(out) == 1 else out


@documented()
def atleast_1d(*arrays: Any) -> Any:
    """An array, one element as one of one axis; of several arrays a tuple.

    Returns
    -------
    Array or tuple of Array
        Of the array's type. A view: lazy, nothing is stored.

    Examples
    --------
    >>> cubed.atleast_1d(cubed.asarray([1, 2])).shape
    (2,)
    """
    return _each(arrays, 1)


@documented()
def atleast_2d(*arrays: Any) -> Any:
    """An array with axes of one element in front, of which there are two then; of several arrays a
    tuple.

    Returns
    -------
    Array or tuple of Array
        Of the array's type. A view: lazy, nothing is stored.

    Examples
    --------
    >>> cubed.atleast_2d(cubed.asarray([1, 2])).shape
    (1, 2)
    """
    return _each(arrays, 2)


@documented()
def atleast_3d(*arrays: Any) -> Any:
    """An array with three axes at least: one axis becomes the middle one, two the first ones; of
    several arrays a tuple.

    Returns
    -------
    Array or tuple of Array
        Of the array's type. A view: lazy, nothing is stored.

    Examples
    --------
    >>> cubed.atleast_3d(cubed.asarray([1, 2])).shape
    (1, 2, 1)
    """
    return _each(arrays, 3)


@documented(returns="Of the type that they promote to. Lazy.")
def append(x: Any, values: Any, axis: int | None = None) -> Array:
    """x and then the values, along an axis, or both flattened.

    Parameters
    ----------
    values : array_like
        What comes behind.
    axis : int or None
        The axis; None: the elements in one dimension.

    Examples
    --------
    >>> cubed.append(cubed.asarray([1, 2]), [3]).compute()
    array([1, 2, 3])
    """
    a, b = as_lazy(x), as_lazy(values)
    if axis is None:
        return concat([flat(a), flat(b)], axis=0)
    return concat([a, b], axis=axis)


@documented(returns="Of x's type. Lazy.")
def delete(x: Any, obj: Any, axis: int | None = None) -> Array:
    """x without the elements at an index, a slice, a mask or several indices along an axis; None
    flattens x.

    Parameters
    ----------
    obj : int, slice or array_like of int
        Positions that go.
    axis : int or None
        The axis; None: the elements in one dimension.

    Examples
    --------
    >>> cubed.delete(cubed.arange(5), [1, 3]).compute()
    array([0, 2, 4])
    """
    a = flat(x) if axis is None else as_lazy(x)
    k = normalize_axis(axis or 0, a.ndim)
    n = a.shape[k]
    starts, stops = [0], []
    for start, stop in _removed(obj, n, k):
        stops.append(start)
        starts.append(stop)
    stops.append(n)
    before = (slice(None),) * k
    kept = [(p, q) for p, q in zip(starts, stops, strict=True) if p < q] or [(0, 0)]
    return concat([a[(*before, slice(p, q))] for p, q in kept], axis=k)


def _removed(obj: Any, n: int, axis: int) -> list[tuple[int, int]]:
    """Ranges of an axis, of n elements, that an index, a slice, a mask or several indices are."""
    if isinstance(obj, slice):
        at = range(n)[obj]
        at = at if at.step > 0 else at[::-1]
        return [(at[0], at[-1] + 1)] if at and at.step == 1 else [(p, p + 1) for p in at]
    positions = to_numpy(obj)
    if positions.dtype == bool:
        if positions.shape != (n,):
            raise ValueError(f"delete: a mask of shape {positions.shape} for {n} elements")
        positions = np.flatnonzero(positions)
    elif positions.dtype.kind not in "iu" and positions.size:
        raise IndexError(f"delete: positions of type {positions.dtype}, expected integers")
    return [(int(p), int(p) + 1) for p in np.unique(positions_within(positions, n, axis))]


@documented(returns="Of x's type. Views: lazy, nothing is stored.")
def array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Pieces along an axis: so many, the first ones longer by one if need be, or cut at indices.

    >>> first, second = cubed.array_split(cubed.arange(4), 2)
    >>> second.compute()
    array([2, 3])
    """
    a = as_lazy(x)
    k = normalize_axis(axis, a.ndim)
    before = (slice(None),) * k
    n = a.shape[k]
    if np.ndim(indices_or_sections) == 0:
        parts = operator.index(indices_or_sections)
        if parts < 1:
            raise ValueError(f"array_split: {parts} pieces, expected 1 or more")
        size, longer = divmod(n, parts)
        cuts = [p * size + builtins.min(p, longer) for p in range(parts + 1)]
    else:
        cuts = [0, *map(operator.index, indices_or_sections), n]
    return [a[(*before, slice(p, q))] for p, q in itertools.pairwise(cuts)]


@documented(returns="Of x's type. Views: lazy, nothing is stored.")
def split(x: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Pieces along an axis: so many of one length, or cut at indices.

    >>> first, second = cubed.split(cubed.arange(4), 2)
    >>> second.compute()
    array([2, 3])
    """
    a = as_lazy(x)
    n = a.shape[normalize_axis(axis, a.ndim)]
    if np.ndim(indices_or_sections) == 0 and n % indices_or_sections:
        raise ValueError(f"split: {n} elements are not {indices_or_sections} equal pieces")
    return array_split(a, indices_or_sections, axis)


@documented(parameters={"v": "A matrix, or a vector."}, returns="Of its type. Lazy.")
def diag(v: Any, k: int = 0) -> Array:
    """A diagonal of a matrix, or the matrix with a vector on it.

    >>> cubed.diag(cubed.asarray([1, 2])).compute()
    array([[1, 0],
           [0, 2]])
    """
    a, k = as_lazy(v), operator.index(k)
    if a.ndim == 2:
        return diagonal(a, offset=k)
    if a.ndim != 1:
        raise ValueError(f"diag: an array of {a.ndim} axes, expected 1 or 2")
    none = zeros(builtins.abs(k), dtype=a.dtype, spec=a._spec)
    column = concat([none, a] if k < 0 else [a, none]) if k else a
    on = eye(column.size, k=k, dtype=np.bool_, spec=a._spec)
    return where(on, expand_dims(column, axis=1), zeros((), dtype=a.dtype, spec=a._spec))


@documented(returns="Of x's type. A view: lazy, nothing is stored.")
def fliplr(x: Any, /) -> Array:
    """x with the second axis backwards.

    >>> cubed.fliplr(cubed.asarray([[1, 2], [3, 4]])).compute()
    array([[2, 1],
           [4, 3]])
    """
    return flip(as_lazy(x), axis=1)


@documented(returns="Of x's type. A view: lazy, nothing is stored.")
def flipud(x: Any, /) -> Array:
    """x with the first axis backwards.

    >>> x = cubed.asarray([1, 2, 3])
    >>> cubed.flipud(x).compute()
    array([3, 2, 1])
    """
    return flip(as_lazy(x), axis=0)


# --- Elementwise ----------------------------------------------------------------------------------


@documented(returns="Of x's shape: float64 for integers, else x's type, real. Lazy.")
def angle(x: Any, deg: bool = False) -> Array:
    """The angles of complex numbers, in radians or degrees.

    Parameters
    ----------
    deg : bool, default False
        Whether in degrees.

    Examples
    --------
    >>> cubed.angle(cubed.asarray([1 + 1j]), deg=True).compute()
    array([45.])
    """
    a = as_lazy(x)
    if a.dtype.kind != "c":
        a = a.astype(result_type(a.dtype, np.complex64))
    out = atan2(imag(a), real(a))
    return rad2deg(out) if deg else out


@documented(returns="Of x's shape: float64 for integers, else x's type, real. Lazy.")
def deg2rad(x: Any, /) -> Array:
    """Degrees as radians.

    >>> cubed.deg2rad(cubed.asarray([0.0, 180.0])).compute()
    array([0.        , 3.14159265])
    """
    return multiply(as_lazy(x), np.pi / 180)


@documented(returns="Of x's shape: float64 for integers, else x's type, real. Lazy.")
def rad2deg(x: Any, /) -> Array:
    """Radians as degrees.

    >>> cubed.rad2deg(cubed.asarray([0.0, 3.141592653589793])).compute()
    array([  0., 180.])
    """
    return multiply(as_lazy(x), 180 / np.pi)


@documented(returns="Of x's shape: float64 for integers and bools, else x's type. Lazy.")
def exp2(x: Any, /) -> Array:
    """Powers of 2.

    >>> cubed.exp2(cubed.asarray([0.0, 1.0])).compute()
    array([1., 2.])
    """
    return pow(2.0, as_lazy(x))


@documented(
    returns="Of x's shape: float64 for integers and bools, else x's type. Lazy.",
    raises="TypeError: For complex numbers.",
)
def fabs(x: Any, /) -> Array:
    """Absolute values, as floats.

    >>> cubed.fabs(cubed.asarray([-1.5, 0.0, 2.0])).compute()
    array([1.5, 0. , 2. ])
    """
    a = _floats(x)
    if a.dtype.kind == "c":
        raise TypeError(f"fabs is not defined for {a.dtype}: abs is")
    return abs(a)


@documented(returns="Of x's shape: float64 for integers and bools, else x's type. Lazy.")
def rint(x: Any, /) -> Array:
    """Nearest whole numbers, even ones of two, as floats.

    >>> cubed.rint(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-2.,  0.,  2.])
    """
    return round(_floats(x))


def _floats(x: Any) -> Array:
    """x, integers and bools as float64."""
    a = as_lazy(x)
    return a.astype(np.float64) if a.dtype.kind in "biu" else a


@documented(returns="Of x's shape and type. Lazy.", raises="TypeError: For complex numbers.")
def fix(x: Any, /) -> Array:
    """x rounded towards zero.

    >>> cubed.fix(cubed.asarray([-1.5, 0.2, 2.5])).compute()
    array([-1.,  0.,  2.])
    """
    return trunc(as_lazy(x))


def _pair(x1: Any, x2: Any) -> tuple[Array, Array]:
    """Two operands; Python scalars take the other's type."""
    (a, b), spec = operands(x1, x2)
    return Array._new(a, spec), Array._new(b, spec)


@documented(returns="Operands are broadcast and promoted. Lazy.")
def fmax(x1: Any, x2: Any, /) -> Array:
    """The larger of two elements; where one is NaN the other.

    >>> cubed.fmax(cubed.asarray([1.0, 5.0]), cubed.asarray([3.0, float('nan')])).compute()
    array([3., 5.])
    """
    a, b = _pair(x1, x2)
    out = maximum(a, b)
    return where(isnan(a), b, where(isnan(b), a, out))


@documented(returns="Operands are broadcast and promoted. Lazy.")
def fmin(x1: Any, x2: Any, /) -> Array:
    """The smaller of two elements; where one is NaN the other.

    >>> cubed.fmin(cubed.asarray([1.0, 5.0]), cubed.asarray([3.0, float('nan')])).compute()
    array([1., 5.])
    """
    a, b = _pair(x1, x2)
    out = minimum(a, b)
    return where(isnan(a), b, where(isnan(b), a, out))


@documented(returns="bool, of x's shape. Lazy.")
def isneginf(x: Any, /) -> Array:
    """Where x is minus infinity.

    >>> cubed.isneginf(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([False, False, False])
    """
    return equal(as_lazy(x), float("-inf"))


@documented(returns="bool, of x's shape. Lazy.")
def isposinf(x: Any, /) -> Array:
    """Where x is plus infinity.

    >>> cubed.isposinf(cubed.asarray([1.0, float('inf'), float('nan')])).compute()
    array([False,  True, False])
    """
    return equal(as_lazy(x), float("inf"))


@documented(returns="bool, of x's shape. Lazy.")
def isreal(x: Any, /) -> Array:
    """Where elements have no imaginary part.

    >>> cubed.isreal(cubed.asarray([1 + 0j, 2j])).compute()
    array([ True, False])
    """
    a = as_lazy(x)
    return equal(imag(a), 0) if a.dtype.kind == "c" else full_like(a, True, dtype=np.bool_)


@documented(returns="bool, of x's shape. Lazy.")
def iscomplex(x: Any, /) -> Array:
    """Where elements have an imaginary part.

    >>> cubed.iscomplex(cubed.asarray([1 + 0j, 2j])).compute()
    array([False,  True])
    """
    return ~isreal(x)


@documented(returns="Of x's shape: float64 for integers, else x's type. Lazy.")
def sinc(x: Any, /) -> Array:
    """``sin(pi x) / (pi x)``, 1 at 0.

    >>> cubed.sinc(cubed.asarray([0.0, 0.5])).compute().round(4)
    array([1.    , 0.6366])
    """
    a = multiply(_floats(x), np.pi)
    zero = equal(a, 0)
    one = a.dtype.type(1)
    return where(zero, one, divide(sin(a), where(zero, one, a)))


@documented(returns="Of x's shape and type. Lazy.")
def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Array:
    """x with numbers for NaN and infinities (None: the largest and least finite ones), also in
    parts of complex numbers.

    Parameters
    ----------
    copy : bool, default True
        False: the result is put behind x itself.
    nan : float, default 0.0
        What NaN becomes.
    posinf : float or None
        What infinity becomes; None: the largest number.
    neginf : float or None
        What minus infinity becomes; None: the least number.

    Examples
    --------
    >>> cubed.nan_to_num(cubed.asarray([1.0, float('nan')])).compute()
    array([1., 0.])
    """
    a = as_lazy(x)
    made = _core.call("nan_to_num", a._x, operand(nan), operand(posinf), operand(neginf))
    out = Array._new(made, common_spec(a, nan, posinf, neginf))
    if copy:
        return out
    a._rebind(out._x)
    return a


# --- Statistics -----------------------------------------------------------------------------------


@documented()
def average(
    x: Any,
    axis: Axis = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """The mean with weights, of the shape of x or of one axis; with `returned` also their sum.

    Parameters
    ----------
    returned : bool, default False
        Whether the sum of the weights is returned, too.

    Returns
    -------
    Array or tuple of Array
        float64 for integers, else the type that x and weights promote to. Lazy: where weights sum
        to zero the mean is NaN or infinite, and no error.

    Examples
    --------
    >>> cubed.average(cubed.asarray([1.0, 2.0]), weights=cubed.asarray([3.0, 1.0])).compute()
    array(1.25)
    """
    a = as_lazy(x)
    spec = common_spec(a, weights)
    made = _core.call("average", a._x, axis, operand(weights), keepdims)
    out, total = (Array._new(v, spec) for v in made)
    return (out, total) if returned else out


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: DTypeLike = None,
) -> Array:
    """The covariance matrix of variables, which are rows (columns without `rowvar`).

    Parameters
    ----------
    m : array_like
        Variables; those of y come behind those of m.
    y : array_like or None
        Variables; those of y come behind those of m.
    rowvar : bool, default True
        Whether rows are variables, and columns observations.
    bias : bool, default False
        Divide by the number of observations, not by one less.
    ddof : int or None
        Divide by the number of observations less this.
    fweights : Any or None
        How often each observation was made: integers.
    aweights : Any or None
        How much each observation counts.
    dtype : dtype or None
        Of the result.

    Returns
    -------
    Array
        ``(n, n)`` for n variables: float64, or complex128, at least. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.cov(cubed.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).compute()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    x = _observations(m, y, rowvar, dtype)
    free = ddof if ddof is not None else 0 if bias else 1
    given = {"fweights": fweights, "aweights": aweights}
    weights = (w if w is None else _weights(name, w, x.shape[1]) for name, w in given.items())
    return Array._new(_core.call("cov", x._x, free, *weights), common_spec(x, fweights, aweights))


def _observations(m: Any, y: Any, rowvar: bool, dtype: DTypeLike) -> Array:
    """Variables as rows of floats."""
    parts = [_with_axes(v, 2) for v in (m, y) if v is not None]
    if not rowvar:
        parts = [
            permute_dims(p, (1, 0)) if np.ndim(v) > 1 else p
            for v, p in zip((m, y), parts, strict=False)
        ]
    if builtins.any(p.ndim > 2 for p in parts):
        raise ValueError("cov: an array has more than two axes")
    x = concat(parts, axis=0) if len(parts) > 1 else parts[0]
    return x.astype(result_type(x.dtype, np.float64) if dtype is None else np.dtype(dtype))


def _weights(name: str, weights: Any, n: int) -> _core.Array:
    w = as_lazy(weights)
    if w.shape != (n,):
        raise ValueError(f"cov: {name} have shape {w.shape} for {n} observations")
    if name == "fweights" and w.dtype.kind not in "iu":
        raise TypeError(f"cov: fweights are {w.dtype}, expected integers")
    return w._x


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: DTypeLike = None) -> Array:
    """Pearson's correlation coefficients of variables, which are rows (columns if not `rowvar`).

    Parameters
    ----------
    x : array_like
        Variables and their observations.
    y : array_like or None
        More variables.
    rowvar : bool, default True
        Whether rows are variables and columns observations.
    dtype : dtype or None
        Element type of the result.

    Returns
    -------
    Array
        ``(n, n)`` for n variables: float64, or complex128, or `dtype`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.corrcoef(cubed.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).compute()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    rows = _observations(x, y, rowvar, dtype)
    return rows._like(_core.call("corrcoef", rows._x))


# --- Positions and sets: the number of results is counted, which computes -------------------------


@computes_first
@documented(returns="int64: a row with a position for each axis. Lazy.")
def argwhere(x: Any, /) -> Array:
    """Positions of elements that are not zero, one per row. Computes their number.

    >>> x = cubed.asarray([0, 3, 0, 4])
    >>> cubed.argwhere(x).compute()
    array([[1],
           [3]])
    """
    a = as_lazy(x)
    return stack(nonzero(a), axis=-1)


@computes_first
@documented(returns="int64, of one axis. Lazy.")
def flatnonzero(x: Any, /) -> Array:
    """Positions in the flattened array of elements that are not zero. Computes their number.

    >>> x = cubed.asarray([0, 3, 0, 4])
    >>> cubed.flatnonzero(x).compute()
    array([1, 3])
    """
    return nonzero(flat(x))[0]


@computes_first
@documented(returns="Of one axis, and of x's type. Lazy.")
def extract(condition: Any, x: Any) -> Array:
    """Elements where a condition holds, of both in one dimension. Computes their number.

    A condition with fewer elements is false behind them.

    >>> x = cubed.arange(6)
    >>> cubed.extract(x % 2 == 0, x).compute()
    array([0, 2, 4])
    """
    values, mask = flat(x), flat(condition).astype(bool)
    if mask.size > values.size:  # true elements behind the end are an IndexError of the run
        return take(values, nonzero(mask)[0], axis=0)
    return values[: mask.size][mask]


@computes_first
def unique(
    x: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """Distinct elements in ascending order, or distinct parts along an axis. Computes their number.

    Parameters
    ----------
    x : array_like
        Input array.
    return_index, return_inverse, return_counts : bool, default False
        Give a tuple, also with where in the flattened array each element is first; which of them
        every element of x is, in x's shape; how often each is there.
    axis : int or None
        Compare the parts along it, in the order of their elements, of which NaN are all different.
        Positions count along the axis.
    equal_nan : bool, default True
        Whether NaN is one element, and not as many as there are.

    Returns
    -------
    Array or tuple of Array
        Of one axis, or of the parts; what is asked for beside them is int64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([3, 1, 3])
    >>> cubed.unique(x).compute()
    array([1, 3])
    """
    a = as_lazy(x)
    if axis is not None:
        rows = unique_along(a, axis, return_index, return_inverse, return_counts)
        return rows if len(rows) > 1 else rows[0]
    wanted = (True, return_index, return_inverse, return_counts)
    if return_index or (return_inverse and return_counts):
        found = dict(zip(_PARTS_OF_UNIQUE, unique_all(a), strict=True))
    elif return_inverse or return_counts:
        found = (unique_inverse if return_inverse else unique_counts)(a)._asdict()
    else:
        found = {"values": unique_values(a)}
    if equal_nan and kind_of(a.dtype) in "fc":
        found = _with_one_nan(found, int(sum(isnan(a).astype(np.int64))))
    out = tuple(found[part] for part, w in zip(_PARTS_OF_UNIQUE, wanted, strict=True) if w)
    return out if len(out) > 1 else out[0]


_PARTS_OF_UNIQUE = ("values", "indices", "inverse_indices", "counts")


def _with_one_nan(found: dict[str, Array], n: int) -> dict[str, Array]:
    """What was found, with one NaN for the last n elements, which the standard has apart."""
    if n < 2:
        return found
    first = found["values"].size - n
    out = {part: x[: first + 1] for part, x in found.items()}
    if "inverse_indices" in found:
        out["inverse_indices"] = minimum(found["inverse_indices"], first)
    if "counts" in found:
        out["counts"] = concat([out["counts"][:first], asarray([n])], axis=0)
    return out


@computes_first
@documented(returns="Of one axis, and of the type that both promote to. Lazy.")
def union1d(x1: Any, x2: Any, /) -> Array:
    """Distinct elements of two arrays in ascending order. Computes their number.

    >>> cubed.union1d(cubed.asarray([1, 3]), cubed.asarray([2, 3])).compute()
    array([1, 2, 3])
    """
    return unique(concat([flat(x1), flat(x2)], axis=0))


@documented(returns="Of the type that both promote to. Lazy.")
def vdot(x1: Any, x2: Any, /) -> Array:
    """The product of two flattened arrays, of which the first is conjugated.

    >>> cubed.vdot(cubed.asarray([1, 2]), cubed.asarray([3, 4])).compute()
    array(11)
    """
    a, b = flat(x1), flat(x2)
    products = multiply(conj(a) if a.dtype.kind == "c" else a, b)
    return sum(products, dtype=products.dtype)
