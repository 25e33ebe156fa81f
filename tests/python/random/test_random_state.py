"""NumPy's older interface for random numbers."""

import pickle

import cubed
import numpy as np
import pytest
from cubed.random import RandomState

ARGUMENTS = {
    "beta": (1, 2), "binomial": (10, 0.5), "chisquare": (1,), "choice": (5,),
    "dirichlet": ([1.0, 2.0],), "exponential": (1,), "f": (1, 2), "gamma": (5, 1),
    "geometric": (1,), "gumbel": (1,), "hypergeometric": (9, 9, 9), "integers": (3,), "laplace": (),
    "logistic": (), "lognormal": (), "logseries": (0.5,), "multinomial": (20, [1 / 6.0] * 6),
    "multivariate_normal": ([0.0], [[1.0]]), "negative_binomial": (5, 0.5),
    "noncentral_chisquare": (2, 2), "noncentral_f": (2, 2, 3), "normal": (2, 2), "pareto": (1,),
    "poisson": (), "power": (1,), "randint": (10,), "random": (), "random_sample": (),
    "rayleigh": (), "standard_cauchy": (), "standard_exponential": (), "standard_gamma": (2,),
    "standard_normal": (), "standard_t": (2,), "triangular": (1, 2, 3), "uniform": (),
    "vonmises": (2, 3), "wald": (1, 2), "weibull": (2,), "zipf": (2,),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_seeded_functions_repeat(name):
    function = getattr(cubed.random, name)
    pairs = []
    for _ in range(2):
        cubed.random.seed(123)
        pairs.append([function(*ARGUMENTS[name], size=(2, 3), chunks=2) for _ in range(2)])
    cubed.random.seed()
    (a, b), (c, d) = pairs
    np.testing.assert_array_equal(a.compute(), c.compute())
    np.testing.assert_array_equal(b.compute(), d.compute())
    assert a.shape[:2] == (2, 3)
    if name not in ("geometric", "multivariate_normal"):
        assert not (a.compute() == b.compute()).all()


def test_without_a_seed_calls_differ():
    cubed.random.seed(1)
    cubed.random.seed(None)
    a, b = (cubed.random.normal(size=9).compute() for _ in range(2))
    assert (a != b).any()


def test_methods():
    state = RandomState(5)
    assert "RandomState(5)" in repr(state)
    assert state.rand(2, 3).shape == state.randn(2, 3, chunks=1).shape == (2, 3)
    assert state.rand().shape == ()
    assert state.randint(0, 255, size=10, dtype="uint8").dtype == np.uint8
    with pytest.warns(DeprecationWarning, match="randint"):
        dice = state.random_integers(6, size=1000).compute()
    assert dice.min() == 1 and dice.max() == 6


def test_a_pickle_continues_the_sequence():
    state = RandomState(7)
    state.normal(size=3)
    again = pickle.loads(pickle.dumps(state))
    for s in (state, again):
        assert isinstance(s, RandomState)
    np.testing.assert_array_equal(state.rand(5).compute(), again.rand(5).compute())


def test_seeds():
    values = [RandomState(s).rand(4).compute() for s in (5, np.random.SeedSequence(5))]
    np.testing.assert_array_equal(*values)
    rng = cubed.random.Generator(np.random.PCG64)  # the class: an entropy of its own
    assert rng.random(3).shape == cubed.random.Generator(rng).random(3).shape == (3,)
    with pytest.raises(TypeError):
        RandomState("5")
