"""Statistics: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy
from cubed.base._types import Axis, DTypeLike
from cubed.functions._calls import check_choice, operand, task_mem, type_for
from cubed.functions._prepare import median_of, quantile_of
from cubed.functions._results import EofsResult

__all__ = [
    "corrcoef",
    "cov",
    "cumprod",
    "cumsum",
    "cumulative_max",
    "cumulative_min",
    "cumulative_prod",
    "cumulative_sum",
    "eofs",
    "median",
    "nancumprod",
    "nancumsum",
    "nanmedian",
    "nanpercentile",
    "nanquantile",
    "percentile",
    "ptp",
    "quantile",
]


def corrcoef(
    x: Any, y: Any = None, rowvar: bool = True, *, dtype: DTypeLike = None, axis: Axis = None
) -> Array:
    """Pearson's correlation coefficients of variables.

    Parameters
    ----------
    x : array_like
        Variables and their observations.
    y : array_like or None
        More variables, which are appended. None: no more variables.
    rowvar : bool, default True
        Whether rows are variables and columns are observations.
    dtype : dtype or None
        Type of the result. None: at least float64, or complex128.
    axis : int, tuple of int or None
        Axes of observations. At most one other axis may exist: that of variables. None: rows or
        columns, by `rowvar`.

    Returns
    -------
    Array
        ``(n, n)`` for n variables; `dtype`, or float64 or complex128. Lazy.

    Raises
    ------
    ValueError
        For more than two axes.

    Examples
    --------
    >>> import cubed
    >>> cubed.corrcoef(cubed.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).compute()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    spec = common_spec(x, y)
    core = _core.call("corrcoef", core_of(x), operand(y), rowvar, type_for(dtype, x), axis)
    return Array._new(core, spec)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: float | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: DTypeLike = None,
    axis: Axis = None,
) -> Array:
    """The covariance matrix of variables.

    Parameters
    ----------
    m : array_like
        Variables and their observations.
    y : array_like or None
        More variables, which are appended. None: no more variables.
    rowvar : bool, default True
        Whether rows are variables and columns are observations.
    bias : bool, default False
        Whether to divide by the number n of observations, instead of n - 1.
    ddof : float or None
        Subtracted from the number of observations in the divisor. None: follows from `bias`.
    fweights : array_like or None
        Number of times that each observation was made: integers. None: once.
    aweights : array_like or None
        Weight of each observation. None: equal weights.
    dtype : dtype or None
        Type of the result. None: at least float64, or complex128.
    axis : int, tuple of int or None
        Axes of observations. At most one other axis may exist: that of variables. None: rows or
        columns, by `rowvar`.

    Returns
    -------
    Array
        ``(n, n)`` for n variables; `dtype`, or float64 or complex128. Lazy.

    Raises
    ------
    ValueError
        For more than two axes.

    Examples
    --------
    >>> import cubed
    >>> cubed.cov(cubed.asarray([[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]])).compute()
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    spec = common_spec(m, y, fweights, aweights)
    core = _core.call(
        "cov",
        core_of(m),
        operand(y),
        rowvar,
        bias,
        ddof,
        operand(fweights),
        operand(aweights),
        type_for(dtype, m),
        axis,
    )
    return Array._new(core, spec)


def cumprod(
    x: Array,
    /,
    axis: int | None = None,
    dtype: DTypeLike = None,
    *,
    include_initial: bool = False,
    method: Any = None,
) -> Array:
    """Cumulative products along an axis.

    One task computes each column of chunks along the axis, one chunk after another.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    dtype : dtype or None
        Type of the result.
    include_initial : bool, default False
        Whether the result begins with 0 for sums, or 1 for products.
    method : {"sequential", "blelloch"} or None
        Accepted for compatibility; has no effect, because the planner chooses the algorithm.

    Returns
    -------
    Array
        The shape of `x`, or one dimension. Integers become int64 or uint64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.cumprod(x, axis=1).compute()
    array([[ 1.,  2.],
           [ 3., 12.]])
    """
    check_choice("cumprod", "method", method, ("sequential", "blelloch"))
    x = lazy(x)
    return x._like(_core.call("cumprod", x._x, axis, type_for(dtype, x), include_initial))


def cumsum(
    x: Array,
    /,
    axis: int | None = None,
    dtype: DTypeLike = None,
    *,
    include_initial: bool = False,
    method: Any = None,
) -> Array:
    """Cumulative sums along an axis.

    One task computes each column of chunks along the axis, one chunk after another.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    dtype : dtype or None
        Type of the result.
    include_initial : bool, default False
        Whether the result begins with 0 for sums, or 1 for products.
    method : {"sequential", "blelloch"} or None
        Accepted for compatibility; has no effect, because the planner chooses the algorithm.

    Returns
    -------
    Array
        The shape of `x`, or one dimension. Integers become int64 or uint64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.cumsum(x, axis=1).compute()
    array([[1., 3.],
           [3., 7.]])
    """
    check_choice("cumsum", "method", method, ("sequential", "blelloch"))
    x = lazy(x)
    return x._like(_core.call("cumsum", x._x, axis, type_for(dtype, x), include_initial))


def cumulative_max(x: Array, /, axis: int) -> Array:
    """Cumulative maxima along an axis; NaN from the first NaN on.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int
        Axis along which to compute.

    Returns
    -------
    Array
        The shape and type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> from cubed.functions import statistical
    >>> statistical.cumulative_max(cubed.asarray([1, 3, 2]), 0).compute()
    array([1, 3, 3])
    """
    x = lazy(x)
    return x._like(_core.call("cumulative_max", x._x, axis))


def cumulative_min(x: Array, /, axis: int) -> Array:
    """Cumulative minima along an axis; NaN from the first NaN on.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int
        Axis along which to compute.

    Returns
    -------
    Array
        The shape and type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> from cubed.functions import statistical
    >>> statistical.cumulative_min(cubed.asarray([2, 3, 1]), 0).compute()
    array([2, 2, 1])
    """
    x = lazy(x)
    return x._like(_core.call("cumulative_min", x._x, axis))


def cumulative_prod(
    x: Array,
    /,
    axis: int | None = None,
    *,
    dtype: DTypeLike = None,
    include_initial: bool = False,
    device: str | None = None,
) -> Array:
    """Cumulative products along an axis.

    One task computes each column of chunks along the axis, one chunk after another.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the only one.
    dtype : dtype or None
        Type of the result.
    include_initial : bool, default False
        Whether the result begins with 0 for sums, or 1 for products.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.

    Returns
    -------
    Array
        The shape of `x`, one longer along the axis with `include_initial`. Integers become int64 or
        uint64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.cumulative_prod(x, axis=1).compute()
    array([[ 1.,  2.],
           [ 3., 12.]])
    """
    x = lazy(x)
    core = _core.call("cumulative_prod", x._x, axis, type_for(dtype, x), include_initial, device)
    return x._like(core)


def cumulative_sum(
    x: Array,
    /,
    axis: int | None = None,
    *,
    dtype: DTypeLike = None,
    include_initial: bool = False,
    device: str | None = None,
) -> Array:
    """Cumulative sums along an axis.

    One task computes each column of chunks along the axis, one chunk after another.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the only one.
    dtype : dtype or None
        Type of the result.
    include_initial : bool, default False
        Whether the result begins with 0 for sums, or 1 for products.
    device : {"cpu"} or None
        Device of the result; only ``"cpu"`` exists.

    Returns
    -------
    Array
        The shape of `x`, one longer along the axis with `include_initial`. Integers become int64 or
        uint64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.cumulative_sum(x, axis=1).compute()
    array([[1., 3.],
           [3., 7.]])
    """
    x = lazy(x)
    core = _core.call("cumulative_sum", x._x, axis, type_for(dtype, x), include_initial, device)
    return x._like(core)


def eofs(x: Any, n: int, weights: Any = None, *, axis: int = 0) -> EofsResult:
    """Empirical orthogonal functions: the patterns that explain most of the variance of a series of
    fields.

    As in CDO's ``eof``, the mean is not subtracted from `x`: pass anomalies for variances about the
    mean. The sum of the squares of a pattern times the weights is 1. Weights are divided by their
    sum over cells without missing elements. The sum of each pattern, times the roots of the
    weights, is not negative.

    A cell with a missing element at any time is missing in all patterns. The singular value
    decomposition of the matrix of times and cells uses chunks that hold all times or all cells,
    whichever are fewer.

    Parameters
    ----------
    x : array_like
        Anomalies: fields at several times.
    n : int
        Number of functions.
    weights : array_like or None
        Weights of cells, such as areas, which broadcast to a field of `x`. None: 1.
    axis : int, default 0
        The axis of times.

    Returns
    -------
    EofsResult
        Fields ``(n, ...)``, the variance that each explains ``(n,)``, and their coefficients
        ``(times, n)``: float64 for integers, else the type that `x` and `weights` promote to. Lazy.

    Raises
    ------
    ValueError
        If `n` exceeds the number of times or of cells.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [-1.0, -2.0], [2.0, -1.0]])
    >>> found = cubed.eofs(x, 1)
    >>> found.variances.compute().round(6)
    array([3.333333])
    >>> (found.coefficients @ found.patterns).compute().round(6)
    array([[ 1.,  2.],
           [-1., -2.],
           [-0., -0.]])
    """
    spec = common_spec(x, weights)
    cores = _core.call("eofs", core_of(x), n, operand(weights), axis, task_mem(spec))
    return EofsResult(*(Array._new(c, spec) for c in cores))


def median(x: Array, /, axis: Axis = None, *, keepdims: bool = False, weights: Any = None) -> Array:
    """The median: the middle element, or the mean of the two middle elements.

    Complex numbers are ordered by their real parts first. With `weights` the elements are sorted.
    The result is the first element up to which the weights exceed half of their sum, or the mean of
    two elements if the weights up to the first of them are exactly half of the sum.

    Parameters
    ----------
    x : Array
        Numbers, or differences of times.
    axis : int, tuple of int or None
        Axes along which to compute. None: all.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`.
        None: 1.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes: float64 for integers and bools, else the type of
        `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.median(cubed.asarray([1.0, 2.0, 9.0])).compute()
    array(2.)
    """
    return median_of("median", x, axis, keepdims, weights)


def nancumprod(
    x: Array,
    /,
    axis: int | None = None,
    dtype: DTypeLike = None,
    *,
    include_initial: bool = False,
    method: Any = None,
) -> Array:
    """Cumulative products in which NaN counts as 1.

    One task computes each column of chunks along the axis, one chunk after another.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    dtype : dtype or None
        Type of the result.
    include_initial : bool, default False
        Whether the result begins with 0 for sums, or 1 for products.
    method : {"sequential", "blelloch"} or None
        Accepted for compatibility; has no effect, because the planner chooses the algorithm.

    Returns
    -------
    Array
        The shape of `x`, or one dimension. Integers become int64 or uint64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nancumprod(x).compute()
    array([1., 1., 3.])
    """
    check_choice("nancumprod", "method", method, ("sequential", "blelloch"))
    x = lazy(x)
    return x._like(_core.call("nancumprod", x._x, axis, type_for(dtype, x), include_initial))


def nancumsum(
    x: Array,
    /,
    axis: int | None = None,
    dtype: DTypeLike = None,
    *,
    include_initial: bool = False,
    method: Any = None,
) -> Array:
    """Cumulative sums in which NaN counts as 0.

    One task computes each column of chunks along the axis, one chunk after another.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int or None
        Axis along which to compute. None: the flattened array.
    dtype : dtype or None
        Type of the result.
    include_initial : bool, default False
        Whether the result begins with 0 for sums, or 1 for products.
    method : {"sequential", "blelloch"} or None
        Accepted for compatibility; has no effect, because the planner chooses the algorithm.

    Returns
    -------
    Array
        The shape of `x`, or one dimension. Integers become int64 or uint64. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([1.0, float('nan'), 3.0])
    >>> cubed.nancumsum(x).compute()
    array([1., 1., 4.])
    """
    check_choice("nancumsum", "method", method, ("sequential", "blelloch"))
    x = lazy(x)
    return x._like(_core.call("nancumsum", x._x, axis, type_for(dtype, x), include_initial))


def nanmedian(x: Any, axis: Axis = None, keepdims: bool = False, *, weights: Any = None) -> Array:
    """The median of the elements that are not NaN, or not NaT.

    Complex numbers are ordered by their real parts first. With `weights` the elements are sorted.
    The result is the first element up to which the weights exceed half of their sum, or the mean of
    two elements if the weights up to the first of them are exactly half of the sum.

    Parameters
    ----------
    x : array_like
        Numbers, or differences of times.
    axis : int, tuple of int or None
        Axes along which to compute. None: all.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`.
        None: 1.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes: float64 for integers and bools, else the type of
        `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> cubed.nanmedian(cubed.asarray([1.0, float("nan"), 9.0])).compute()
    array(5.)
    """
    return median_of("nanmedian", x, axis, keepdims, weights)


def nanpercentile(
    x: Array,
    /,
    q: Any,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Array:
    """Percentiles of the elements that are not NaN, or not NaT.

    Times with missing elements are sorted; their methods are ``"linear"``, ``"lower"``,
    ``"higher"`` and ``"nearest"``. For memory and other types, see :func:`percentile`.

    Parameters
    ----------
    x : Array
        Real numbers, or times.
    q : float or array_like of float
        Percentile, from 0 to 100: the percentage of the elements below it.
    axis : int, tuple of int or None
        Axes along which to compute. None: all.
    method : str, default "linear"
        Method of interpolation between elements, by its name in NumPy or CDO. One of ``"linear"``,
        ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"median_unbiased"``, ``"normal_unbiased"``, ``"nrank"``,
        ``"nist"``, ``"rtype8"``.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`.
        None: 1.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the axes of `q` come first. float64 for integers
        and bools. For floats the type of `x`, or the type that `x` and `q` promote to if `q` is an
        array. NaN if there are no elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(5.0)
    >>> cubed.nanpercentile(x, 25).compute()
    array(1.)
    """
    return quantile_of("nanpercentile", x, q, axis, method, keepdims, weights)


def nanquantile(
    x: Array,
    /,
    q: Any,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Array:
    """Quantiles of the elements that are not NaN, or not NaT.

    Times with missing elements are sorted; their methods are ``"linear"``, ``"lower"``,
    ``"higher"`` and ``"nearest"``. For memory and other types, see :func:`quantile`.

    Parameters
    ----------
    x : Array
        Real numbers, or times.
    q : float or array_like of float
        Quantile, from 0 to 1: the fraction of the elements below it.
    axis : int, tuple of int or None
        Axes along which to compute. None: all.
    method : str, default "linear"
        Method of interpolation between elements, by its name in NumPy or CDO. One of ``"linear"``,
        ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"median_unbiased"``, ``"normal_unbiased"``, ``"nrank"``,
        ``"nist"``, ``"rtype8"``.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`.
        None: 1.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the axes of `q` come first. float64 for integers
        and bools. For floats the type of `x`, or the type that `x` and `q` promote to if `q` is an
        array. NaN if there are no elements. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(5.0)
    >>> cubed.nanquantile(x, 0.25).compute()
    array(1.)
    """
    return quantile_of("nanquantile", x, q, axis, method, keepdims, weights)


def percentile(
    x: Array,
    /,
    q: Any,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
    internal_method: Any = None,
) -> Array:
    """Percentiles; NaN if an element is NaN.

    A method whose result is one of the elements keeps the type of `x`. With `weights` the method is
    ``"inverted_cdf"``, and all elements are sorted.

    The result is exact. If the elements of one result use up to a quarter of a task's memory, one
    task gathers them. Otherwise they are counted, in two to eight passes over `x`.

    Parameters
    ----------
    x : Array
        Real numbers, or times.
    q : float or array_like of float
        Percentile, from 0 to 100: the percentage of the elements below it.
    axis : int, tuple of int or None
        Axes along which to compute. None: all.
    method : str, default "linear"
        Method of interpolation between elements, by its name in NumPy or CDO. One of ``"linear"``,
        ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"median_unbiased"``, ``"normal_unbiased"``, ``"nrank"``,
        ``"nist"``, ``"rtype8"``.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`.
        None: 1.
    internal_method : {"default", "dask", "tdigest"} or None
        Accepted for compatibility; has no effect, because the result is exact.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the axes of `q` come first. float64 for integers
        and bools. For floats the type of `x`, or the type that `x` and `q` promote to if `q` is an
        array. NaN if there are no elements. Lazy.

    Raises
    ------
    ValueError
        For a `q` out of range, another method, or an axis that `x` does not have.
    TypeError
        For types other than real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(5.0)
    >>> cubed.percentile(x, 25).compute()
    array(1.)
    """
    check_choice("percentile", "internal_method", internal_method, ("default", "dask", "tdigest"))
    return quantile_of("percentile", x, q, axis, method, keepdims, weights)


def ptp(x: Array, /, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The range: the largest element minus the smallest.

    Parameters
    ----------
    x : Array
        Input array.
    axis : int, tuple of int or None
        Axes along which to compute. None: all.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the type of `x`. Lazy.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([[1.0, 2.0], [3.0, 4.0]])
    >>> cubed.ptp(x, axis=0).compute()
    array([2., 2.])
    """
    x = lazy(x)
    return x._like(_core.call("ptp", x._x, axis, keepdims))


def quantile(
    x: Array,
    /,
    q: Any,
    axis: Axis = None,
    *,
    method: str = "linear",
    keepdims: bool = False,
    weights: Any = None,
) -> Array:
    """Quantiles; NaN if an element is NaN.

    A method whose result is one of the elements keeps the type of `x`. With `weights` the method is
    ``"inverted_cdf"``, and all elements are sorted.

    The result is exact. If the elements of one result use up to a quarter of a task's memory, one
    task gathers them. Otherwise they are counted, in two to eight passes over `x`.

    Parameters
    ----------
    x : Array
        Real numbers, or times.
    q : float or array_like of float
        Quantile, from 0 to 1: the fraction of the elements below it.
    axis : int, tuple of int or None
        Axes along which to compute. None: all.
    method : str, default "linear"
        Method of interpolation between elements, by its name in NumPy or CDO. One of ``"linear"``,
        ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"``, ``"inverted_cdf"``,
        ``"averaged_inverted_cdf"``, ``"closest_observation"``, ``"interpolated_inverted_cdf"``,
        ``"hazen"``, ``"weibull"``, ``"median_unbiased"``, ``"normal_unbiased"``, ``"nrank"``,
        ``"nist"``, ``"rtype8"``.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    weights : array_like or None
        Weight of each element, or of each position along the reduced axes in the order of `axis`.
        None: 1.

    Returns
    -------
    Array
        The shape of `x` without the reduced axes; the axes of `q` come first. float64 for integers
        and bools. For floats the type of `x`, or the type that `x` and `q` promote to if `q` is an
        array. NaN if there are no elements. Lazy.

    Raises
    ------
    ValueError
        For a `q` out of range, another method, or an axis that `x` does not have.
    TypeError
        For types other than real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.arange(5.0)
    >>> cubed.quantile(x, 0.25).compute()
    array(1.)
    """
    return quantile_of("quantile", x, q, axis, method, keepdims, weights)
