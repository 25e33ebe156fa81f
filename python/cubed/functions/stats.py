"""Statistics of samples: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._operands import common_spec, core_of, lazy
from cubed.base._types import Axis
from cubed.functions._calls import lazy_list, operand

__all__ = [
    "chisquare",
    "f_oneway",
    "kurtosis",
    "kurtosistest",
    "moment",
    "normaltest",
    "power_divergence",
    "skew",
    "skewtest",
    "ttest_1samp",
    "ttest_ind",
    "ttest_rel",
]


def chisquare(f_obs: Any, f_exp: Any = None, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Chi-square: the distance of counts from expected ones.

    Parameters
    ----------
    f_obs : array_like
        Counts that were observed.
    f_exp : array_like or None
        Counts that are expected. None: all equal.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample. Lazy.
    """
    spec = common_spec(f_obs, f_exp)
    return Array._new(_core.call("chisquare", core_of(f_obs), operand(f_exp), axis, keepdims), spec)


def f_oneway(samples: Sequence[Any], *, axis: Axis = None, keepdims: bool = False) -> Array:
    """F of two or more samples, which are expected to have one mean.

    Parameters
    ----------
    samples : sequence of array_like
        The samples, each an array.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements of an array are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample. Lazy.
    """
    samples = lazy_list(samples, "samples")
    spec = common_spec(*samples)
    return Array._new(_core.call("f_oneway", [a._x for a in samples], axis, keepdims), spec)


def kurtosis(
    a: Any, axis: Axis = None, *, keepdims: bool = False, bias: bool = True, fisher: bool = True
) -> Array:
    """The kurtosis: 0 of a normal distribution, 3 without `fisher`; NaN of equal elements.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.
    bias : bool, default True
        False: corrected for few elements.
    fisher : bool, default True
        Subtract 3, the kurtosis of a normal distribution.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample; NaN of nothing. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("kurtosis", a._x, axis, keepdims, bias, fisher))


def kurtosistest(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """How far the kurtosis of at least 5 elements is from that of a normal distribution, as z.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("kurtosistest", a._x, axis, keepdims))


def moment(
    a: Any,
    order: float = 1,
    axis: Axis = None,
    *,
    keepdims: bool = False,
    center: float | None = None,
) -> Array:
    """The mean of powers of distances from the mean, or from `center`.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    order : float, default 1
        The power.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.
    center : float or None
        Where distances begin. None: at the mean.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample; NaN of nothing. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("moment", a._x, order, axis, keepdims, center))


def normaltest(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The sum of the squared z of skewtest and kurtosistest, of at least 8 elements.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("normaltest", a._x, axis, keepdims))


def power_divergence(
    f_obs: Any, f_exp: Any = None, axis: Axis = None, *, keepdims: bool = False, lambda_: float = 1
) -> Array:
    """The distance of counts from expected ones, by the statistic of Cressie and Read.

    Parameters
    ----------
    f_obs : array_like
        Counts that were observed.
    f_exp : array_like or None
        Counts that are expected. None: all equal.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.
    lambda_ : float, default 1
        The power; 1 is chi-square.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample. Lazy.
    """
    spec = common_spec(f_obs, f_exp)
    core = _core.call("power_divergence", core_of(f_obs), operand(f_exp), axis, keepdims, lambda_)
    return Array._new(core, spec)


def skew(a: Any, axis: Axis = None, *, keepdims: bool = False, bias: bool = True) -> Array:
    """The skewness: 0 of a normal distribution; NaN of equal elements.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.
    bias : bool, default True
        False: corrected for few elements.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample; NaN of nothing. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("skew", a._x, axis, keepdims, bias))


def skewtest(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """How far the skewness of at least 8 elements is from that of a normal distribution, as z.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("skewtest", a._x, axis, keepdims))


def ttest_1samp(a: Any, popmean: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Student's t of a mean that is expected to be a number.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    popmean : array_like
        The mean that is expected.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample. Lazy.
    """
    spec = common_spec(a, popmean)
    return Array._new(_core.call("ttest_1samp", core_of(a), operand(popmean), axis, keepdims), spec)


def ttest_ind(
    a: Any, b: Any, axis: Axis = None, *, keepdims: bool = False, equal_var: bool = True
) -> tuple[Array, ...]:
    """Student's or Welch's t of two samples, which are expected to have one mean.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    b : array_like
        The second sample.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.
    equal_var : bool, default True
        Whether the variances are equal. False: Welch's test.

    Returns
    -------
    tuple of Array
        Without the axes: t, and degrees of freedom. Lazy.
    """
    spec = common_spec(a, b)
    cores = _core.call("ttest_ind", core_of(a), operand(b), axis, keepdims, equal_var)
    return tuple(Array._new(c, spec) for c in cores)


def ttest_rel(a: Any, b: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Student's t of two measurements of the same, which are expected to have one mean.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    b : array_like
        The second sample.
    axis : int, tuple of int or None
        Axes that samples lie along. None: all elements are one sample.
    keepdims : bool, default False
        Keep the axes, with one element.

    Returns
    -------
    Array
        Without the axes: float64 for integers, else the type of the sample. Lazy.
    """
    spec = common_spec(a, b)
    return Array._new(_core.call("ttest_rel", core_of(a), operand(b), axis, keepdims), spec)
