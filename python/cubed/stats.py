"""Lazy statistics of arrays of any size, with SciPy's names.

Results with p-values need SciPy: its distribution functions are called on the results of
reductions.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from cubed import _core
from cubed.array._array import Array
from cubed.array._elements import elemwise
from cubed.array._operands import common_spec, normalize_axes
from cubed.array_api.elementwise_functions import abs, multiply
from cubed.base._held import import_counted
from cubed.base._types import Axis
from cubed.functions import stats as made
from cubed.io._create import as_lazy
from cubed.planning._compute import compute

__all__ = [
    "Result", "chisquare", "f_oneway", "kurtosis", "kurtosistest", "moment", "normaltest",
    "power_divergence", "skew", "skewtest", "ttest_1samp", "ttest_ind", "ttest_rel",
]  # fmt: skip


class Result(NamedTuple):
    """Result of a test: a statistic and its p-value."""

    statistic: Array
    pvalue: Array

    def compute(self, **kwargs: Any) -> Result:
        """Computes both arrays together. Parameters as for :func:`cubed.compute`."""
        values: Any = compute(*self, **kwargs)
        return Result(*values)


def _count(x: Array, axis: Axis) -> float:
    """Returns the number of elements of a sample."""
    return float(math.prod(x.shape[d] for d in normalize_axes("stats", axis, x.ndim)))


def _propagates(nan_policy: str) -> None:
    if nan_policy != "propagate":
        raise NotImplementedError(f"nan_policy is {nan_policy!r}, expected 'propagate'")


def _tails(probability: Any, x: Array, alternative: str) -> Array:
    """Returns the p-value of x for an alternative; `probability` computes the lower tail."""
    if alternative == "two-sided":
        return multiply(probability(-abs(x)), 2.0)
    if alternative not in ("less", "greater"):
        raise ValueError(
            f"alternative is {alternative!r}, expected 'two-sided', 'less' or 'greater'"
        )
    return probability(x if alternative == "less" else -x)


def _special(name: str, *args: Any) -> Array:
    """Applies a function of scipy.special element by element."""
    special = import_counted("scipy.special")  # only p-values need it
    return elemwise(getattr(special, name), *args, dtype=np.float64)


def moment(
    a: Any,
    order: int = 1,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    *,
    center: float | None = None,
) -> Array:
    """Computes a moment: the mean of a power of the differences from the mean or from `center`.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    order : int, default 1
        The power.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.
    center : float or None
        Point from which differences are taken; None: the mean.

    Returns
    -------
    Array
        Without the axis; float64 for integers, otherwise the type of `a`. NaN if there are no
        elements. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.moment(x, 2).compute()
    array(69.234375)
    """
    _propagates(nan_policy)
    return made.moment(as_lazy(a), order, axis, center=center)


def skew(
    a: Any, axis: Axis = 0, bias: bool = True, nan_policy: str = "propagate"
) -> Array:  # fmt: skip
    """Computes the skewness, which is 0 for a normal distribution.

    It is NaN if all elements are equal. Reads the array twice.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    bias : bool, default True
        False: correct for small samples.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.

    Returns
    -------
    Array
        Without the axis; float64 for integers, otherwise the type of `a`. NaN if there are no
        elements. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.skew(x).compute().round(4)
    np.float64(1.059)
    """
    _propagates(nan_policy)
    return made.skew(as_lazy(a), axis, bias=bias)


def kurtosis(
    a: Any,
    axis: Axis = 0,
    fisher: bool = True,
    bias: bool = True,
    nan_policy: str = "propagate",
) -> Array:
    """Computes the kurtosis, which is 0 for a normal distribution (3 without `fisher`).

    It is NaN if all elements are equal. Reads the array twice.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    fisher : bool, default True
        Subtract 3.
    bias : bool, default True
        False: correct for small samples.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.

    Returns
    -------
    Array
        Without the axis; float64 for integers, otherwise the type of `a`. NaN if there are no
        elements. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.kurtosis(x).compute().round(4)
    np.float64(0.3231)
    """
    _propagates(nan_policy)
    return made.kurtosis(as_lazy(a), axis, bias=bias, fisher=fisher)


def _normal_result(z: Array, alternative: str) -> Result:
    return Result(z, _tails(partial(_special, "ndtr"), z, alternative))


def skewtest(
    a: Any, axis: Axis = 0, nan_policy: str = "propagate", alternative: str = "two-sided"
) -> Result:
    """Tests whether the skewness is that of a normal distribution, by the statistic z.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.
    alternative : str, default "two-sided"
        Alternative hypothesis about the statistic: ``"two-sided"``, ``"less"`` or
        ``"greater"``.

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.
    ValueError
        For fewer than 8 elements.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.skewtest(x).pvalue.compute().round(4)
    np.float64(0.0792)
    """
    _propagates(nan_policy)
    return _normal_result(made.skewtest(as_lazy(a), axis), alternative)


def kurtosistest(
    a: Any, axis: Axis = 0, nan_policy: str = "propagate", alternative: str = "two-sided"
) -> Result:
    """Tests whether the kurtosis is that of a normal distribution, by the statistic z.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.
    alternative : str, default "two-sided"
        Alternative hypothesis about the statistic: ``"two-sided"``, ``"less"`` or
        ``"greater"``.

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.
    ValueError
        For fewer than 5 elements.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.kurtosistest(x).pvalue.compute().round(4)
    np.float64(0.1753)
    """
    _propagates(nan_policy)
    return _normal_result(made.kurtosistest(as_lazy(a), axis), alternative)


def normaltest(a: Any, axis: Axis = 0, nan_policy: str = "propagate") -> Result:
    """Tests whether skewness and kurtosis are those of a normal distribution.

    The statistic is the sum of the squared z of both.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.
    ValueError
        For fewer than 8 elements.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.normaltest(x).pvalue.compute().round(4)
    np.float64(0.0855)
    """
    _propagates(nan_policy)
    z = made.normaltest(as_lazy(a), axis)
    return Result(z, _special("chdtrc", 2.0, z))


def _t_result(t: Array, df: Any, alternative: str) -> Result:
    return Result(t, _tails(partial(_special, "stdtr", df), t, alternative))


def ttest_1samp(
    a: Any,
    popmean: Any,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
) -> Result:
    """Tests whether the mean of a sample is `popmean`, by the statistic t.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    popmean : array_like
        The expected mean.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.
    alternative : str, default "two-sided"
        Alternative hypothesis about the statistic: ``"two-sided"``, ``"less"`` or
        ``"greater"``.

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.ttest_1samp(x, 10.0).pvalue.compute().round(4)
    np.float64(0.6213)
    """
    _propagates(nan_policy)
    x = as_lazy(a)
    t = made.ttest_1samp(x, popmean, axis)
    return _t_result(t, _count(x, axis) - 1, alternative)


def ttest_rel(
    a: Any,
    b: Any,
    axis: Axis = 0,
    nan_policy: str = "propagate",
    alternative: str = "two-sided",
) -> Result:
    """Tests whether two related samples have the same mean, by the statistic t.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    b : array_like
        The second sample.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.
    alternative : str, default "two-sided"
        Alternative hypothesis about the statistic: ``"two-sided"``, ``"less"`` or
        ``"greater"``.

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.
    ValueError
        For samples of different lengths.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> y = cubed.asarray([1.0, 5.0, 6.0, 9.0, 10.0, 11.0, 15.0, 20.0])
    >>> cubed.stats.ttest_rel(x, y).pvalue.compute().round(4)
    np.float64(0.1465)
    """
    _propagates(nan_policy)
    x, y = as_lazy(a), as_lazy(b)
    t = made.ttest_rel(x, y, axis)
    return _t_result(t, _count(x, axis) - 1, alternative)


def ttest_ind(
    a: Any,
    b: Any,
    axis: Axis = 0,
    equal_var: bool = True,
    nan_policy: str = "propagate",
    *,
    alternative: str = "two-sided",
) -> Result:
    """Tests whether two independent samples have the same mean, by the statistic t.

    Parameters
    ----------
    a : array_like
        Sample of real numbers.
    b : array_like
        The second sample.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    equal_var : bool, default True
        Whether their variances are equal; False: Welch's test.
    nan_policy : str, default "propagate"
        Only ``"propagate"``: NaN gives NaN.
    alternative : str, default "two-sided"
        Alternative hypothesis about the statistic: ``"two-sided"``, ``"less"`` or
        ``"greater"``.

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> y = cubed.asarray([1.0, 5.0, 6.0, 9.0, 10.0, 11.0, 15.0, 20.0])
    >>> cubed.stats.ttest_ind(x, y).pvalue.compute().round(4)
    np.float64(0.6054)
    """
    _propagates(nan_policy)
    x, y = as_lazy(a), as_lazy(b)
    t, df = made.ttest_ind(x, y, axis, equal_var=equal_var)
    free: Any = _count(x, axis) + _count(y, axis) - 2 if equal_var else df
    return _t_result(t, free, alternative)


_POWERS = {
    "cressie-read": 2 / 3,
    "freeman-tukey": -0.5,
    "log-likelihood": 0.0,
    "mod-log-likelihood": -1.0,
    "neyman": -2.0,
    "pearson": 1.0,
}


def power_divergence(
    f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: Axis = 0, lambda_: Any = None
) -> Result:
    """Tests whether counts are the expected ones, by the statistic of Cressie and Read.

    Parameters
    ----------
    f_obs : array_like
        Observed counts.
    f_exp : array_like or None
        Counts that are expected; None: all equal.
    ddof : int, default 0
        Degrees of freedom to subtract from the number of counts minus one.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.
    lambda_ : float, str or None
        The power, or its name in :func:`scipy.stats.power_divergence`. None: 1 (chi-square).

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.
    ValueError
        For an unknown name of a power.

    Examples
    --------
    >>> import cubed
    >>> counts = cubed.asarray([16, 18, 16, 14, 12, 12])
    >>> cubed.stats.power_divergence(counts, lambda_="log-likelihood").pvalue.compute().round(4)
    np.float64(0.8482)
    """
    if isinstance(lambda_, str) and lambda_ not in _POWERS:
        raise ValueError(f"lambda_ is {lambda_!r}, expected one of {', '.join(_POWERS)}")
    power = 1.0 if lambda_ is None else _POWERS.get(lambda_, lambda_)
    return _power_divergence("power_divergence", f_obs, f_exp, ddof, axis, power)


def _power_divergence(
    name: str, f_obs: Any, f_exp: Any, ddof: int, axis: Axis, power: float
) -> Result:
    x = as_lazy(f_obs)
    expected = None if f_exp is None else as_lazy(f_exp)
    counts = (x._x, None if expected is None else expected._x)
    core = _core.call_as(name, "power_divergence", *counts, axis, False, power)
    total = Array._new(core, common_spec(x, expected))
    return Result(total, _special("chdtrc", _count(x, axis) - 1 - ddof, total))


def chisquare(f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: Axis = 0) -> Result:
    """Tests whether counts are the expected ones, by the statistic chi-square.

    Parameters
    ----------
    f_obs : array_like
        Observed counts.
    f_exp : array_like or None
        Counts that are expected; None: all equal.
    ddof : int, default 0
        Degrees of freedom to subtract from the number of counts minus one.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.

    Examples
    --------
    >>> import cubed
    >>> counts = cubed.asarray([16, 18, 16, 14, 12, 12])
    >>> cubed.stats.chisquare(counts).pvalue.compute().round(4)
    np.float64(0.8491)
    """
    return _power_divergence("chisquare", f_obs, f_exp, ddof, axis, 1.0)


def f_oneway(*samples: Any, axis: Axis = 0) -> Result:
    """Tests whether two or more samples have the same mean, by the statistic F.

    Parameters
    ----------
    *samples : array_like
        The samples, one array each.
    axis : int, tuple of int or None, default 0
        Axis or axes of the samples; None: all elements are one sample.

    Returns
    -------
    Result
        The statistic, and its p-value in float64, without the axis. Lazy.

    Raises
    ------
    TypeError
        For other types than real numbers.
    ValueError
        For fewer than two samples.

    Examples
    --------
    >>> import cubed
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> y = cubed.asarray([1.0, 5.0, 6.0, 9.0, 10.0, 11.0, 15.0, 20.0])
    >>> cubed.stats.f_oneway(x, y).pvalue.compute().round(4)
    np.float64(0.6054)
    """
    given = [as_lazy(s) for s in samples]
    f = made.f_oneway(given, axis=axis)
    free = sum(_count(x, axis) for x in given) - len(given)
    return Result(f, _special("fdtrc", float(len(given) - 1), free, f))
