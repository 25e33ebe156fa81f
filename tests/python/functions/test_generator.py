"""default_rng: all methods of NumPy's Generator, with its distributions, and lazy."""

import inspect
import pickle

import cubed
import numpy as np
import pytest
import scipy.stats as st

N = 20_000

#: Of each method a call, and the distribution that its numbers have.
CONTINUOUS = {
    "random": ((), st.uniform()),
    "uniform": ((-1.0, 3.0), st.uniform(-1, 4)),
    "standard_normal": ((), st.norm()),
    "normal": ((2.0, 0.5), st.norm(2, 0.5)),
    "standard_exponential": ((), st.expon()),
    "exponential": ((2.5,), st.expon(scale=2.5)),
    "lognormal": ((0.5, 0.25), st.lognorm(0.25, scale=np.exp(0.5))),
    "laplace": ((1.0, 2.0), st.laplace(1, 2)),
    "logistic": ((1.0, 2.0), st.logistic(1, 2)),
    "gumbel": ((1.0, 2.0), st.gumbel_r(1, 2)),
    "rayleigh": ((2.0,), st.rayleigh(scale=2)),
    "weibull": ((1.7,), st.weibull_min(1.7)),
    "pareto": ((2.5,), st.lomax(2.5)),
    "power": ((2.5,), st.powerlaw(2.5)),
    "standard_cauchy": ((), st.cauchy()),
    "triangular": ((-1.0, 0.0, 3.0), st.triang(0.25, -1, 4)),
    "beta": ((2.0, 3.0), st.beta(2, 3)),
    "chisquare": ((3.0,), st.chi2(3)),
    "f": ((3.0, 7.0), st.f(3, 7)),
    "gamma": ((2.0, 0.5), st.gamma(2, scale=0.5)),
    "standard_gamma": ((2.0,), st.gamma(2)),
    "noncentral_chisquare": ((3.0, 1.5), st.ncx2(3, 1.5)),
    "noncentral_f": ((3.0, 9.0, 1.5), st.ncf(3, 9, 1.5)),
    "standard_t": ((4.0,), st.t(4)),
    "vonmises": ((0.0, 2.0), st.vonmises(2)),
    "wald": ((2.0, 3.0), st.invgauss(2 / 3, scale=3)),
}
COUNTS = {
    "integers": ((2, 7), st.randint(2, 7)),
    "binomial": ((10, 0.3), st.binom(10, 0.3)),
    "geometric": ((0.4,), st.geom(0.4)),
    "hypergeometric": ((5, 7, 4), st.hypergeom(12, 5, 4)),
    "logseries": ((0.6,), st.logser(0.6)),
    "negative_binomial": ((3, 0.4), st.nbinom(3, 0.4)),
    "poisson": ((2.5,), st.poisson(2.5)),
    "zipf": ((3.0,), st.zipf(3)),
}
VECTORS = {
    "dirichlet": ([1.0, 2.0, 3.0],),
    "multinomial": (20, [0.2, 0.3, 0.5]),
    "multivariate_hypergeometric": ([5, 6, 7], 8),
    "multivariate_normal": ([1.0, 2.0], [[2.0, 0.5], [0.5, 1.0]]),
}
OTHER = {"bytes", "choice", "permutation", "permuted", "shuffle", "spawn", "bit_generator"}


def test_all_methods_and_parameters_are_there():
    names = {n for n in dir(np.random.Generator) if not n.startswith("_")}
    assert names == {*CONTINUOUS, *COUNTS, *VECTORS, *OTHER}
    for name in names - {"bit_generator"}:
        doc = getattr(np.random.Generator, name).__doc__.strip().splitlines()[0]
        theirs = [p.split("=")[0].strip() for p in doc[doc.index("(") + 1 : -1].split(",")]
        theirs = [p for p in theirs if p not in ("*", "", "/")]
        ours = list(inspect.signature(getattr(cubed.random.Generator, name)).parameters)[1:]
        assert ours[: len(theirs)] == theirs or set(theirs) <= set(ours), name


@pytest.mark.parametrize("name", [*CONTINUOUS, *COUNTS])
def test_distributions(name):
    args, wanted = {**CONTINUOUS, **COUNTS}[name]
    rng = cubed.random.default_rng(7)
    with cubed.raise_if_computes():
        x = getattr(rng, name)(*args, size=N, chunks=3000)
    assert x.dtype == (np.int64 if name in COUNTS else np.float64)
    values = x.compute()
    if name in CONTINUOUS:
        assert st.kstest(values, wanted.cdf).pvalue > 1e-3
    else:
        k = np.arange(values.min(), values.min() + 12)
        expected = np.array([wanted.pmf(v) for v in k]) * N
        seen = np.array([(values == v).sum() for v in k])
        assert (abs(seen - expected) < 5 * np.sqrt(expected + 1)).all()
    np.testing.assert_array_equal(x.compute(executor="single-threaded"), values)
    again = getattr(cubed.random.default_rng(7), name)(*args, size=N, chunks=3000)
    np.testing.assert_array_equal(again, values)
    assert not np.array_equal(getattr(rng, name)(*args, size=N, chunks=3000).compute(), values)


@pytest.mark.parametrize("name", [*CONTINUOUS, *COUNTS])
@pytest.mark.parametrize("size", [None, (), 0, (2, 0, 3), (5, 4)])
def test_shapes(name, size):
    args, _ = {**CONTINUOUS, **COUNTS}[name]
    x = getattr(cubed.random.default_rng(1), name)(*args, size=size, chunks=2 if size else "auto")
    assert x.shape == np.random.default_rng(1).random(size or ()).shape if size != 0 else (0,)
    assert np.isfinite(x.compute()).all()


@pytest.mark.parametrize("name", [n for n, (args, _) in {**CONTINUOUS, **COUNTS}.items() if args])
def test_parameters_may_be_arrays(name):
    args, _ = {**CONTINUOUS, **COUNTS}[name]
    column = np.full((6, 1), args[0])
    rng = cubed.random.default_rng(3)
    lazy = cubed.from_array(column, chunks=(4, 1))
    x = getattr(rng, name)(lazy, *args[1:], size=(6, 5), chunks=4)
    assert x.shape == (6, 5)
    assert np.isfinite(x.compute()).all()
    assert getattr(rng, name)(column, *args[1:]).shape == (6, 1)
    with pytest.raises(ValueError, match="size is 7, but parameters have shape"):
        getattr(rng, name)(lazy, *args[1:], size=7)


@pytest.mark.parametrize("name", VECTORS)
def test_vectors(name):
    args = VECTORS[name]
    x = getattr(cubed.random.default_rng(5), name)(*args, size=(40, 100), chunks=32)
    theirs = getattr(np.random.default_rng(5), name)(*args, size=(40, 100))
    assert (x.shape, x.dtype) == (theirs.shape, theirs.dtype)
    values = x.compute().reshape(-1, x.shape[-1])
    flat = theirs.reshape(values.shape)
    spread = np.sqrt(np.diag(np.cov(flat.T)) / len(flat))
    assert (abs(values.mean(0) - flat.mean(0)) < 7 * spread + 1e-9).all()
    np.testing.assert_allclose(np.cov(values.T), np.cov(flat.T), atol=0.15 * np.cov(flat.T).max())
    assert getattr(cubed.random.default_rng(5), name)(*args).shape == theirs.shape[-1:]


def test_orders_and_choices():
    rng = cubed.random.default_rng(2)
    a = np.arange(60.0).reshape(20, 3)
    x = cubed.from_array(a, chunks=(6, 2))
    order = rng.permutation(50).compute()
    np.testing.assert_array_equal(np.sort(order), np.arange(50))
    assert (order != np.arange(50)).any()
    rows = rng.permutation(x).compute()
    assert (np.diff(rows, axis=1) == 1).all()
    np.testing.assert_array_equal(np.sort(rows[:, 0]), a[:, 0])
    np.testing.assert_array_equal(np.sort(rng.permutation(x, axis=1).compute(), axis=1), a)
    lines = rng.permuted(x, axis=0).compute()
    np.testing.assert_array_equal(np.sort(lines, axis=0), a)
    assert (np.diff(lines, axis=1) != 1).any()
    np.testing.assert_array_equal(np.sort(rng.permuted(x).compute(), axis=None), a.ravel())
    before = x.copy()
    rng.shuffle(x)
    np.testing.assert_array_equal(np.sort(x.compute()[:, 0]), a[:, 0])
    np.testing.assert_array_equal(before, a)
    with pytest.raises(TypeError, match="shuffle of list"):
        rng.shuffle([1, 2])

    for p in (None, np.arange(10) / 45):
        some = rng.choice(10, 4000, p=p, chunks=700).compute()
        seen = np.bincount(some, minlength=10) / 4000
        np.testing.assert_allclose(seen, np.full(10, 0.1) if p is None else p, atol=0.04)
        few = np.array([rng.choice(10, 3, replace=False, p=p).compute() for _ in range(40)])
        assert all(len(set(row)) == 3 for row in few)
        assert p is None or not (few == 0).any()
    assert rng.choice(x, (2, 5), axis=0).shape == (2, 5, 3)
    assert set(rng.choice(a[0], 9).compute()) <= set(a[0])
    assert rng.choice(5).shape == ()
    for wrong, message in (
        (lambda: rng.choice(3, 4, replace=False), "4 of 3 without replacement"),
        (lambda: rng.choice(0, 4), "there are 0 to choose from"),
        (lambda: rng.choice(3, 2, p=[1, 0]), "p has shape"),
        (lambda: rng.choice(2, 2, p=[0.7, 0.7]), "add up to 1"),
        (lambda: rng.choice(2, 2, replace=False, p=[1, 0]), "1 have a probability, not 2"),
        (lambda: rng.integers(5, 5), "expected a range with integers"),
        (lambda: rng.integers(0, 300, dtype="u1"), "uint8 cannot hold all integers"),
        (lambda: rng.normal(0, -1), "scale is -1, expected 0 or more"),
        (lambda: rng.poisson(-1), "lam"),
        (lambda: rng.triangular(1, 0, 2), "do not ascend"),
        (lambda: rng.random(3, dtype=int), "expected float32 or float64"),
    ):
        with cubed.raise_if_computes(), pytest.raises((ValueError, TypeError), match=message):
            wrong()


def test_types_seeds_and_outputs():
    rng = cubed.random.default_rng(np.random.SeedSequence(4))
    assert rng.random(3, dtype=np.float32).dtype == np.float32
    assert rng.standard_gamma(2.0, 3, dtype=np.float32).dtype == np.float32
    assert rng.integers(0, 2, 9, dtype=bool).dtype == bool
    assert rng.integers(0, 255, 999, dtype="u1", endpoint=True).max().compute() > 250
    low = rng.integers([[0], [10]], [[5], [15]], size=(2, 90), endpoint=True).compute()
    assert (low[0] <= 5).all() and (low[1] >= 10).all() and low.max() == 15
    out = cubed.zeros((4, 3), chunks=2)
    assert rng.standard_normal(out=out) is out and (out.compute() != 0).all()
    assert cubed.random.default_rng(rng) is rng
    assert len(rng.bytes(10)) == 10
    first, second = rng.spawn(2)
    assert (first.random(9).compute() != second.random(9).compute()).all()
    assert isinstance(rng.bit_generator, np.random.Philox)
    numbers = [cubed.random.default_rng(s).random(5).compute() for s in (3, [3, 4], None, None)]
    assert len({v.tobytes() for v in numbers}) == 4
    copy = pickle.loads(pickle.dumps(rng))
    np.testing.assert_array_equal(copy.gamma(2, size=5), rng.gamma(2, size=5))
    spec = cubed.Spec(allowed_mem="50MB")
    assert cubed.random.default_rng(1, spec=spec).poisson(3, 5).spec == spec


def test_memory_is_in_the_projection():
    spec = cubed.Spec(allowed_mem="60MB", reserved_mem="10MB")
    x = cubed.random.default_rng(1, spec=spec).gamma(2.0, size=3_000_000, chunks=500_000)
    assert x.plan().max_projected_mem > 500_000 * 8
    assert abs(x.mean().compute(max_workers=1) - 2) < 0.01
