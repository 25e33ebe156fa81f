"""Statistics with SciPy's names: lazy, of arrays of any size.

Results with p-values need SciPy, whose functions of distributions are called on the few numbers
that reductions leave.
"""

from __future__ import annotations

import math
from functools import partial
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from cubed.array import _above
from cubed.array._array import Array
from cubed.array._operands import normalize_axis
from cubed.array_api.elementwise_functions import abs, divide, log, multiply, sqrt, square, subtract
from cubed.array_api.elementwise_functions import pow as power
from cubed.array_api.manipulation_functions import reshape
from cubed.array_api.searching_functions import where
from cubed.array_api.statistical_functions import mean, sum, var
from cubed.base._docs import documented
from cubed.base._dtypes import kind_of
from cubed.io._create import as_lazy

__all__ = [
    "Result", "chisquare", "f_oneway", "kurtosis", "kurtosistest", "moment", "normaltest",
    "power_divergence", "skew", "skewtest", "ttest_1samp", "ttest_ind", "ttest_rel",
]  # fmt: skip


class Result(NamedTuple):
    """A statistic, and how likely one as far from the hypothesis is."""

    statistic: Array
    pvalue: Array


_of_samples = partial(
    documented,
    parameters={
        "a": "The sample: real numbers.",
        "axis": "The axis that samples lie along; None: all elements are one sample.",
        "b": "The second sample.",
        "bias": "False: corrected for few elements.",
        "ddof": "How many degrees of freedom fewer than one less than the counts.",
        "f_exp": "array_like or None : Counts that are expected; None: all equal.",
        "f_obs": "Counts that were observed.",
    },
    raises="TypeError: For other types than real numbers.",
)
_MOMENT = "Without the axis: float64 for integers, else a's type. Lazy; NaN of nothing."
_TEST = "The statistic, and its p-value in float64; without the axis. Lazy."


def _floats(a: Any, axis: int | None) -> tuple[Array, int]:
    """An array as floats, in one dimension without an axis; and the axis."""
    x = as_lazy(a)
    if kind_of(x.dtype) not in "biuf":
        raise TypeError(f"an array of {x.dtype}, expected real numbers")
    x = x.astype(np.float64) if x.dtype.kind in "biu" else x
    return (reshape(x, (-1,)), 0) if axis is None else (x, normalize_axis(axis, x.ndim))


def _moment(x: Array, order: int, axis: int, keepdims: bool = False, about: Any = None) -> Array:
    centre = mean(x, axis=axis, keepdims=True) if about is None else about
    return mean(power(subtract(x, centre), order), axis=axis, keepdims=keepdims)


def _special(name: str, *args: Any) -> Array:
    """A function of scipy.special, element by element."""
    special = import_module("scipy.special")  # only p-values need it
    return _above.elemwise(getattr(special, name), *args, dtype=np.float64)


def _two_sided(name: str, t: Array, *args: Any) -> Array:
    """Twice the probability beyond a statistic of a distribution that is symmetric."""
    return multiply(_special(name, *args, -abs(t)), 2.0)


@_of_samples(returns=_MOMENT)
def moment(a: Any, order: int = 1, axis: int | None = 0, *, center: float | None = None) -> Array:
    """The mean of powers of distances from the mean, or from `center`.

    Parameters
    ----------
    order : int, default 1
        The power.
    center : float or None
        What distances are from; None: the mean.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.moment(x, 2).compute()
    array(69.234375)
    """
    x, d = _floats(a, axis)
    if order == 0 or (order == 1 and center is None):
        first = mean(x, axis=d)
        return where(first == first, first.dtype.type(order == 0), first)
    return _moment(x, order, d, about=center)


@_of_samples(returns=_MOMENT)
def skew(a: Any, axis: int | None = 0, bias: bool = True) -> Array:
    """The skewness: 0 of a normal distribution; NaN of elements that are all equal. Two passes.

    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.skew(x).compute().round(4)
    np.float64(1.059)
    """
    x, d = _floats(a, axis)
    m2, m3 = _moment(x, 2, d), _moment(x, 3, d)
    flat = _flat(x, d, m2)
    out = divide(m3, power(m2, 1.5))
    n = x.shape[d]
    if not bias and n > 2:
        out = multiply(out, math.sqrt((n - 1.0) * n) / (n - 2.0))
    return where(flat, out.dtype.type(np.nan), out)


def _flat(x: Array, axis: int, m2: Array) -> Array:
    """Where the variance is no more than rounding."""
    eps = float(np.finfo(x.dtype).eps)
    return m2 <= square(multiply(mean(x, axis=axis), eps))


@_of_samples(returns=_MOMENT)
def kurtosis(a: Any, axis: int | None = 0, fisher: bool = True, bias: bool = True) -> Array:
    """The kurtosis: 0 of a normal distribution, 3 without `fisher`; NaN of elements that are all
    equal. Two passes.

    Parameters
    ----------
    fisher : bool, default True
        Subtract 3.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.kurtosis(x).compute().round(4)
    np.float64(0.3231)
    """
    x, d = _floats(a, axis)
    m2, m4 = _moment(x, 2, d), _moment(x, 4, d)
    flat = _flat(x, d, m2)
    out = divide(m4, square(m2))
    n = x.shape[d]
    if not bias and n > 3:
        out = (out * (n * n - 1.0) - 3.0 * (n - 1.0) ** 2) / ((n - 2.0) * (n - 3.0)) + 3.0
    out = subtract(out, 3.0) if fisher else out
    return where(flat, out.dtype.type(np.nan), out)


def _skew_statistic(x: Array, axis: int) -> Array:
    n = x.shape[axis]
    if n < 8:
        raise ValueError(f"skewtest: {n} elements, expected 8 at least")
    y = multiply(skew(x, axis), math.sqrt((n + 1) * (n + 3) / (6.0 * (n - 2))))
    beta = (
        3.0 * (n**2 + 27 * n - 70) * (n + 1) * (n + 3)
        / ((n - 2.0) * (n + 5) * (n + 7) * (n + 9))
    )  # fmt: skip
    w2 = -1 + math.sqrt(2 * (beta - 1))
    y = divide(y, math.sqrt(2.0 / (w2 - 1)))
    y = where(y == 0, y.dtype.type(1), y)
    return multiply(log(y + sqrt(square(y) + 1.0)), 1 / math.sqrt(0.5 * math.log(w2)))


def _kurtosis_statistic(x: Array, axis: int) -> Array:
    n = x.shape[axis]
    if n < 5:
        raise ValueError(f"kurtosistest: {n} elements, expected 5 at least")
    spread = 24.0 * n * (n - 2) * (n - 3) / ((n + 1) * (n + 1.0) * (n + 3) * (n + 5))
    z = (kurtosis(x, axis, fisher=False) - 3.0 * (n - 1) / (n + 1)) / math.sqrt(spread)
    root = (
        6.0 * (n * n - 5 * n + 2) / ((n + 7) * (n + 9))
        * math.sqrt(6.0 * (n + 3) * (n + 5) / (n * (n - 2) * (n - 3)))
    )  # fmt: skip
    a = 6.0 + 8.0 / root * (2.0 / root + math.sqrt(1 + 4.0 / root**2))
    first = 1 - 2 / (9.0 * a)
    below = z * math.sqrt(2 / (a - 4.0)) + 1.0
    sign = where(below < 0, -1.0, 1.0)
    second = multiply(sign, power(abs(divide(1 - 2.0 / a, below)), 1 / 3.0))
    second = where(below == 0, np.nan, second)
    return divide(subtract(first, second), math.sqrt(2 / (9.0 * a)))


@_of_samples(returns=_TEST)
def skewtest(a: Any, axis: int | None = 0) -> Result:
    """Whether the skewness is that of a normal distribution: z, and its probability.

    Raises
    ------
    ValueError
        For fewer than 8 elements.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.skewtest(x).pvalue.compute().round(4)
    np.float64(0.0792)
    """
    z = _skew_statistic(*_floats(a, axis))
    return Result(z, _two_sided("ndtr", z))


@_of_samples(returns=_TEST)
def kurtosistest(a: Any, axis: int | None = 0) -> Result:
    """Whether the kurtosis is that of a normal distribution: z, and its probability.

    Raises
    ------
    ValueError
        For fewer than 5 elements.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.kurtosistest(x).pvalue.compute().round(4)
    np.float64(0.1753)
    """
    z = _kurtosis_statistic(*_floats(a, axis))
    return Result(z, _two_sided("ndtr", z))


@_of_samples(returns=_TEST)
def normaltest(a: Any, axis: int | None = 0) -> Result:
    """Whether skewness and kurtosis are those of a normal distribution: the sum of their squared z,
    and its probability.

    Raises
    ------
    ValueError
        For fewer than 8 elements.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.normaltest(x).pvalue.compute().round(4)
    np.float64(0.0855)
    """
    x, d = _floats(a, axis)
    k2 = square(_skew_statistic(x, d)) + square(_kurtosis_statistic(x, d))
    return Result(k2, _special("chdtrc", 2.0, k2))


def _t_result(t: Array, df: Any) -> Result:
    return Result(t, multiply(_special("stdtr", df, -abs(t)), 2.0))


@_of_samples(returns=_TEST)
def ttest_1samp(a: Any, popmean: Any, axis: int | None = 0) -> Result:
    """Whether the mean is a number: t, and its probability.

    Parameters
    ----------
    popmean : array_like
        The mean that is expected.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> cubed.stats.ttest_1samp(x, 10.0).pvalue.compute().round(4)
    np.float64(0.6213)
    """
    x, d = _floats(a, axis)
    n = x.shape[d]
    spread = sqrt(divide(var(x, axis=d, ddof=1), float(n)))
    return _t_result(divide(subtract(mean(x, axis=d), popmean), spread), float(n - 1))


@_of_samples(returns=_TEST)
def ttest_rel(a: Any, b: Any, axis: int | None = 0) -> Result:
    """Whether two measurements of the same have one mean: t, and its probability.

    Raises
    ------
    ValueError
        For samples of different lengths.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> y = cubed.asarray([1.0, 5.0, 6.0, 9.0, 10.0, 11.0, 15.0, 20.0])
    >>> cubed.stats.ttest_rel(x, y).pvalue.compute().round(4)
    np.float64(0.1465)
    """
    x, d = _floats(a, axis)
    y, _ = _floats(b, axis)
    if x.shape[d] != y.shape[d]:
        raise ValueError(f"ttest_rel: {x.shape[d]} and {y.shape[d]} elements, expected as many")
    return ttest_1samp(subtract(x, y), 0.0, d)


@_of_samples(returns=_TEST)
def ttest_ind(a: Any, b: Any, axis: int | None = 0, equal_var: bool = True) -> Result:
    """Whether two samples have one mean: t, and its probability.

    Parameters
    ----------
    equal_var : bool, default True
        Whether their variances are equal; False: Welch's test.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> y = cubed.asarray([1.0, 5.0, 6.0, 9.0, 10.0, 11.0, 15.0, 20.0])
    >>> cubed.stats.ttest_ind(x, y).pvalue.compute().round(4)
    np.float64(0.6054)
    """
    x, d = _floats(a, axis)
    y, _ = _floats(b, axis)
    n, m = float(x.shape[d]), float(y.shape[d])
    v, w = var(x, axis=d, ddof=1), var(y, axis=d, ddof=1)
    if equal_var:
        df: Any = n + m - 2.0
        spread = sqrt((v * (n - 1) + w * (m - 1)) / df * (1.0 / n + 1.0 / m))
    else:
        v, w = v / n, w / m
        df = divide(square(v + w), square(v) / (n - 1) + square(w) / (m - 1))
        df = where(df == df, df, 1.0)
        spread = sqrt(v + w)
    return _t_result(divide(subtract(mean(x, axis=d), mean(y, axis=d)), spread), df)


_POWERS = {
    "cressie-read": 2 / 3,
    "freeman-tukey": -0.5,
    "log-likelihood": 0.0,
    "mod-log-likelihood": -1.0,
    "neyman": -2.0,
    "pearson": 1.0,
}


@_of_samples(returns=_TEST)
def power_divergence(
    f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: int | None = 0, lambda_: Any = None
) -> Result:
    """Whether counts are those that are expected, by the statistic of Cressie and Read.

    Parameters
    ----------
    lambda_ : float, str or None
        The power, or its name in :func:`scipy.stats.power_divergence`; None: 1, chi-square.

    Raises
    ------
    ValueError
        For another name of a power.

    Examples
    --------
    >>> counts = cubed.asarray([16, 18, 16, 14, 12, 12])
    >>> cubed.stats.power_divergence(counts, lambda_="log-likelihood").pvalue.compute().round(4)
    np.float64(0.8482)
    """
    x, d = _floats(f_obs, axis)
    if isinstance(lambda_, str) and lambda_ not in _POWERS:
        raise ValueError(f"lambda_ is {lambda_!r}, expected one of {', '.join(_POWERS)}")
    p = 1.0 if lambda_ is None else _POWERS.get(lambda_, lambda_)
    y = mean(x, axis=d, keepdims=True) if f_exp is None else _floats(f_exp, axis)[0]
    if p == 1:
        terms = divide(square(subtract(x, y)), y)
    elif p == 0:
        terms = multiply(_special("xlogy", x, divide(x, y)), 2.0)
    elif p == -1:
        terms = multiply(_special("xlogy", y + x * 0.0, divide(y, x)), 2.0)
    else:
        terms = multiply(multiply(x, power(divide(x, y), p) - 1.0), 2.0 / (p * (p + 1)))
    total = sum(terms, axis=d)
    return Result(total, _special("chdtrc", float(x.shape[d] - 1 - ddof), total))


@_of_samples(returns=_TEST)
def chisquare(f_obs: Any, f_exp: Any = None, ddof: int = 0, axis: int | None = 0) -> Result:
    """Whether counts are those that are expected: chi-square, and its probability.

    >>> counts = cubed.asarray([16, 18, 16, 14, 12, 12])
    >>> cubed.stats.chisquare(counts).pvalue.compute().round(4)
    np.float64(0.8491)
    """
    return power_divergence(f_obs, f_exp, ddof, axis, "pearson")


@_of_samples(returns=_TEST)
def f_oneway(*samples: Any, axis: int = 0) -> Result:
    """Whether two or more samples have one mean: F, and its probability.

    Parameters
    ----------
    *samples : array_like
        The samples, each with an array of its own.

    Raises
    ------
    ValueError
        For a single sample.

    Examples
    --------
    >>> x = cubed.asarray([2.0, 4.0, 7.0, 8.0, 12.0, 13.0, 17.0, 30.0])
    >>> y = cubed.asarray([1.0, 5.0, 6.0, 9.0, 10.0, 11.0, 15.0, 20.0])
    >>> cubed.stats.f_oneway(x, y).pvalue.compute().round(4)
    np.float64(0.6054)
    """
    if len(samples) < 2:
        raise ValueError(f"f_oneway: {len(samples)} samples, expected 2 at least")
    given = [_floats(s, axis) for s in samples]
    n = [float(x.shape[d]) for x, d in given]
    means = [mean(x, axis=d) for x, d in given]
    squares = [var(x, axis=d) * k for (x, d), k in zip(given, n, strict=True)]
    within, centre, total = squares[0], means[0] * n[0], math.fsum(n)
    for k in range(1, len(given)):
        within, centre = within + squares[k], centre + means[k] * n[k]
    centre = centre / total
    between = square(means[0] - centre) * n[0]
    for k in range(1, len(given)):
        between = between + square(means[k] - centre) * n[k]
    df = (float(len(given) - 1), total - len(given))
    f = divide(between / df[0], within / df[1])
    return Result(f, _special("fdtrc", *df, f))
