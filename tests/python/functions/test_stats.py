"""Compares cubed.stats with scipy.stats."""

import cubed
import numpy as np
import pytest
import scipy.stats
from cubed import stats

RNG = np.random.default_rng(5)
A = RNG.gamma(2.0, size=(41, 3))
B = RNG.gamma(2.2, size=(41, 3))
I = RNG.integers(1, 40, (12, 4))  # noqa: E741

CASES = {
    "moment": lambda s, x, y: s.moment(x, 3),
    "moment 1": lambda s, x, y: s.moment(x, 1, axis=1),
    "moment 0": lambda s, x, y: s.moment(x, 0),
    "moment about": lambda s, x, y: s.moment(x, 2, center=1.5),
    "moment of all": lambda s, x, y: s.moment(x, 4, axis=None),
    "skew": lambda s, x, y: s.skew(x),
    "skew along": lambda s, x, y: s.skew(x, axis=1, bias=False),
    "skew of all": lambda s, x, y: s.skew(x, axis=None),
    "kurtosis": lambda s, x, y: s.kurtosis(x),
    "kurtosis unbiased": lambda s, x, y: s.kurtosis(x, bias=False, fisher=False),
    "skewtest": lambda s, x, y: s.skewtest(x),
    "kurtosistest": lambda s, x, y: s.kurtosistest(x),
    "normaltest": lambda s, x, y: s.normaltest(x, axis=None),
    "ttest_1samp": lambda s, x, y: s.ttest_1samp(x, 2.1),
    "ttest_1samp of all": lambda s, x, y: s.ttest_1samp(x, 1.9, axis=None),
    "ttest_rel": lambda s, x, y: s.ttest_rel(x, y),
    "ttest_ind": lambda s, x, y: s.ttest_ind(x, y[:30]),
    "ttest_ind Welch": lambda s, x, y: s.ttest_ind(x, y[:30], equal_var=False),
    "ttest_1samp less": lambda s, x, y: s.ttest_1samp(x, 2.1, alternative="less"),
    "ttest_rel greater": lambda s, x, y: s.ttest_rel(x, y, alternative="greater"),
    "ttest_ind less": lambda s, x, y: s.ttest_ind(x, y, equal_var=False, alternative="less"),
    "skewtest greater": lambda s, x, y: s.skewtest(x, alternative="greater"),
    "kurtosistest less": lambda s, x, y: s.kurtosistest(
        x, nan_policy="propagate", alternative="less"
    ),
    "chisquare": lambda s, x, y: s.chisquare(x),
    "chisquare along": lambda s, x, y: s.chisquare(x, axis=1, ddof=1),
    "power_divergence": lambda s, x, y: s.power_divergence(x, lambda_="cressie-read"),
    "log-likelihood": lambda s, x, y: s.power_divergence(x, lambda_="log-likelihood"),
    "mod-log-likelihood": lambda s, x, y: s.power_divergence(x, lambda_="mod-log-likelihood"),
    "neyman": lambda s, x, y: s.power_divergence(x, lambda_=-2),
    "f_oneway": lambda s, x, y: s.f_oneway(x, y, x[:20] * 1.1),
}


def lazy(a, chunks):
    return cubed.from_array(a, chunks=chunks)


@pytest.mark.parametrize("chunks", [1, 7, -1])
@pytest.mark.parametrize("name", CASES)
def test_against_scipy(name, chunks):
    call = CASES[name]
    wanted = call(scipy.stats, A, B)
    with cubed.raise_if_computes():
        got = call(stats, lazy(A, (chunks, 2)), lazy(B, (chunks, 2)))
    pairs = [(got, wanted)]
    if isinstance(got, stats.Result):
        pairs = [(got.statistic, wanted.statistic), (got.pvalue, wanted.pvalue)]
    for g, w in pairs:
        assert g.shape == np.shape(w)
        np.testing.assert_allclose(g.compute(), w, rtol=1e-9)


def test_results_are_computed_together():
    got = stats.ttest_ind(lazy(A, 7), lazy(B, 5))
    wanted = scipy.stats.ttest_ind(A, B)
    computed = got.compute(executor="single-threaded")
    assert isinstance(computed, stats.Result)
    for values, theirs in zip(computed, (wanted.statistic, wanted.pvalue), strict=True):
        assert isinstance(values, np.ndarray)
        np.testing.assert_allclose(values, theirs, rtol=1e-9)


@pytest.mark.parametrize("axis", [(0, 2), (-1, 1), None])
def test_several_axes(axis):
    a, b = (np.stack([v[:20], v[20:40]]) for v in (A, B))
    x, y = lazy(a, (1, 7, 2)), lazy(b, (2, 6, 3))
    for name in ("skew", "ttest_rel", "ttest_ind Welch", "kurtosistest", "chisquare", "f_oneway"):
        call = {
            "skew": lambda s, x, y, d: s.skew(x, axis=d),
            "ttest_rel": lambda s, x, y, d: s.ttest_rel(x, y, axis=d),
            "ttest_ind Welch": lambda s, x, y, d: s.ttest_ind(x, y, axis=d, equal_var=False),
            "kurtosistest": lambda s, x, y, d: s.kurtosistest(x, axis=d),
            "chisquare": lambda s, x, y, d: s.chisquare(x, axis=d),
            "f_oneway": lambda s, x, y, d: s.f_oneway(x, y, axis=d),
        }[name]
        got = call(stats, x, y, axis)
        kept = [d for d in range(3) if axis is not None and d not in {k % 3 for k in axis}]
        flat = [v.transpose(*kept, *(d for d in range(3) if d not in kept)) for v in (a, b)]
        flat = [v.reshape(*v.shape[: len(kept)], -1) for v in flat]
        wanted = call(scipy.stats, *flat, -1)
        pairs = [(got, wanted)]
        if isinstance(got, stats.Result):
            pairs = [(got.statistic, wanted.statistic), (got.pvalue, wanted.pvalue)]
        for g, w in pairs:
            np.testing.assert_allclose(g.compute(), w, rtol=1e-9)


def test_symmetric_sample():
    a = np.arange(-5.0, 6.0)
    wanted = scipy.stats.skewtest(a)
    got = stats.skewtest(lazy(a, 4))
    np.testing.assert_allclose(got.statistic.compute(), wanted.statistic, rtol=1e-12)


def test_counts_that_are_zero():
    a = np.array([[0.0, 4.0, 6.0], [2.0, 4.0, np.nan]])
    for power in (0, -1):
        with np.errstate(all="ignore"):
            wanted = scipy.stats.power_divergence(a, lambda_=power, axis=1)
        got = stats.power_divergence(lazy(a, 2), lambda_=power, axis=1)
        np.testing.assert_allclose(got.statistic.compute(), wanted.statistic, rtol=1e-12)


@pytest.mark.parametrize("dtype", ["i2", "u1", "f4"])
def test_types(dtype):
    a = I.astype(dtype)
    for f in ("skew", "kurtosis"):
        got, wanted = getattr(stats, f)(lazy(a, 5)), getattr(scipy.stats, f)(a)
        assert got.dtype == wanted.dtype
        np.testing.assert_allclose(got.compute(), wanted, rtol=1e-4 if dtype == "f4" else 1e-10)


def test_few_equal_and_missing_elements():
    with np.errstate(all="ignore"):
        for a in (np.ones((9, 2)), np.array([[1.0, np.nan]] * 3 + [[2.0, 1.0]])):
            for f in (stats.skew, stats.kurtosis):
                values = f(lazy(a, 2)).compute()
                assert np.isnan(values[-1]) and np.isnan(values[0]) == (len(a) == 9)
    assert np.isnan(stats.moment(lazy(np.zeros((0, 2)), 1), 2).compute()).all()
    for call, message in (
        (lambda x: stats.skewtest(x), "skewtest: there are 3 elements, expected at least 8"),
        (lambda x: stats.ttest_rel(x, x, alternative="more"), "alternative is 'more'"),
        (lambda x: stats.kurtosistest(x), "kurtosistest: there are 3 elements"),
        (lambda x: stats.ttest_rel(x, x[:2]), "3 and 2 elements"),
        (lambda x: stats.f_oneway(x), "1 samples"),
        (lambda x: stats.power_divergence(x, lambda_="no"), "lambda_ is 'no'"),
        (lambda x: stats.skew(x + 1j), "complex128, expected real"),
    ):
        with pytest.raises((ValueError, TypeError), match=message):
            call(lazy(A[:3], 2))


def test_nan_is_not_left_out():
    with pytest.raises(NotImplementedError, match="nan_policy is 'omit'"):
        stats.skew(lazy(A, 4), nan_policy="omit")
