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
    """The chi-square statistic: the distance of observed from expected counts.

    Parameters
    ----------
    f_obs : array_like
        Observed counts.
    f_exp : array_like or None
        Expected counts. None: equal counts.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. Lazy.
    """
    spec = common_spec(f_obs, f_exp)
    return Array._new(_core.call("chisquare", core_of(f_obs), operand(f_exp), axis, keepdims), spec)


def f_oneway(samples: Sequence[Any], *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The F statistic for equal means of two or more samples.

    Parameters
    ----------
    samples : sequence of array_like
        The samples, each an array.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements of an array are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. Lazy.
    """
    samples = lazy_list(samples, "samples")
    spec = common_spec(*samples)
    return Array._new(_core.call("f_oneway", [a._x for a in samples], axis, keepdims), spec)


def kurtosis(
    a: Any, axis: Axis = None, *, keepdims: bool = False, bias: bool = True, fisher: bool = True
) -> Array:
    """The kurtosis: 0 for a normal distribution; NaN if all elements are equal.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    bias : bool, default True
        False corrects for the bias of small samples.
    fisher : bool, default True
        Whether to subtract 3, the kurtosis of a normal distribution.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. NaN if there are no elements. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("kurtosis", a._x, axis, keepdims, bias, fisher))


def kurtosistest(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The z-score of the kurtosis of at least 5 elements, for a normal distribution.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. Lazy.
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
    """The moment: the mean of a power of the differences from the mean, or from `center`.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    order : float, default 1
        The power.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    center : float or None
        Point from which differences are taken. None: the mean.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. NaN if there are no elements. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("moment", a._x, order, axis, keepdims, center))


def normaltest(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The sum of the squares of skewtest and kurtosistest, of at least 8 elements.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("normaltest", a._x, axis, keepdims))


def power_divergence(
    f_obs: Any, f_exp: Any = None, axis: Axis = None, *, keepdims: bool = False, lambda_: float = 1
) -> Array:
    """The Cressie-Read power divergence of observed from expected counts.

    Parameters
    ----------
    f_obs : array_like
        Observed counts.
    f_exp : array_like or None
        Expected counts. None: equal counts.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    lambda_ : float, default 1
        The power; 1 is chi-square.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. Lazy.
    """
    spec = common_spec(f_obs, f_exp)
    core = _core.call("power_divergence", core_of(f_obs), operand(f_exp), axis, keepdims, lambda_)
    return Array._new(core, spec)


def skew(a: Any, axis: Axis = None, *, keepdims: bool = False, bias: bool = True) -> Array:
    """The skewness: 0 for a normal distribution; NaN if all elements are equal.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    bias : bool, default True
        False corrects for the bias of small samples.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. NaN if there are no elements. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("skew", a._x, axis, keepdims, bias))


def skewtest(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The z-score of the skewness of at least 8 elements, for a normal distribution.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. Lazy.
    """
    a = lazy(a, "a")
    return a._like(_core.call("skewtest", a._x, axis, keepdims))


def ttest_1samp(a: Any, popmean: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Student's t for a sample with the mean `popmean`.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    popmean : array_like
        The expected mean.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. Lazy.
    """
    spec = common_spec(a, popmean)
    return Array._new(_core.call("ttest_1samp", core_of(a), operand(popmean), axis, keepdims), spec)


def ttest_ind(
    a: Any, b: Any, axis: Axis = None, *, keepdims: bool = False, equal_var: bool = True
) -> tuple[Array, ...]:
    """Student's or Welch's t for equal means of two samples.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    b : array_like
        The second sample.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.
    equal_var : bool, default True
        Whether the variances are equal. False: Welch's test.

    Returns
    -------
    tuple of Array
        t and the degrees of freedom, without the axes. Lazy.
    """
    spec = common_spec(a, b)
    cores = _core.call("ttest_ind", core_of(a), operand(b), axis, keepdims, equal_var)
    return tuple(Array._new(c, spec) for c in cores)


def ttest_rel(a: Any, b: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """Student's t for equal means of paired samples.

    Parameters
    ----------
    a : array_like
        The sample: real numbers.
    b : array_like
        The second sample.
    axis : int, tuple of int or None
        Axes of the observations of a sample. None: all elements are one sample.
    keepdims : bool, default False
        Whether to keep the reduced axes, with one element.

    Returns
    -------
    Array
        The shape of the sample without the reduced axes: float64 for integers, else the type of the
        sample. Lazy.
    """
    spec = common_spec(a, b)
    return Array._new(_core.call("ttest_rel", core_of(a), operand(b), axis, keepdims), spec)
