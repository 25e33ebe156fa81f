"""Functions of the package where their arguments are at the edges, against NumPy."""

import cubed
import numpy as np
import pytest

RNG = np.random.default_rng(32)


def lazy(x, chunks=2):
    return cubed.from_array(np.asarray(x), chunks=chunks)


# --- Weights of quantiles -------------------------------------------------------------------------

QUANTILES = ["quantile", "nanquantile", "percentile", "nanpercentile"]


@pytest.mark.parametrize("name", QUANTILES)
@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
def test_weights_that_are_not_valid_are_refused(name, wrong):
    x, weights = lazy([1.0, 2.0, 3.0]), np.array([1.0, wrong, 1.0])
    call = getattr(cubed, name)
    with pytest.raises(ValueError, match=f"weights has {wrong}, expected finite numbers"):
        call(x, 0.5, method="inverted_cdf", weights=weights)
    later = call(x, 0.5, method="inverted_cdf", weights=lazy(weights))
    with pytest.raises(ValueError, match="weights are negative, NaN, infinite or all 0"):
        later.compute()


@pytest.mark.parametrize("name", QUANTILES)
def test_weights_that_are_all_0_are_refused(name):
    x = lazy([[1.0, 2.0], [3.0, 4.0]])
    call = getattr(cubed, name)
    with pytest.raises(ValueError, match="weights are all 0"):
        call(x, 0.5, method="inverted_cdf", weights=np.zeros((2, 2)))
    for weights in (np.zeros((2, 2)), np.array([[0.0, 0.0], [1.0, 0.0]])):
        later = call(x, 0.5, axis=1, method="inverted_cdf", weights=lazy(weights))
        with pytest.raises(ValueError, match="weights are negative, NaN, infinite or all 0"):
            later.compute()


def test_weights_of_missing_elements_do_not_count():
    x = np.array([[1.0, np.nan, 3.0], [np.nan] * 3])
    weights = np.array([[1.0, 5.0, 2.0], [0.0] * 3])
    got = cubed.nanquantile(lazy(x), 0.5, axis=1, method="inverted_cdf", weights=lazy(weights))
    np.testing.assert_array_equal(got.compute(), [3.0, np.nan])
    only_missing = np.array([[0.0, 5.0, 0.0], [1.0] * 3])
    later = cubed.nanquantile(lazy(x), 0.5, axis=1, method="inverted_cdf", weights=only_missing)
    with pytest.raises(ValueError, match="all 0"):
        later.compute()
