"""Quantiles of elements with weights, compared with NumPy's of each line."""

import random

import cubed
import numpy as np
import pytest
from conftest import cases

HOW = {"method": "inverted_cdf"}
TYPES = ["f8", "f4", "i4", "u1", "i8", "?", "f2"]


def _case(rng):
    """An array, weights, and arguments that NumPy takes, too."""
    numbers = np.random.default_rng(rng.randrange(10**9))
    shape = tuple(rng.randrange(1, 9) for _ in range(rng.randrange(1, 4)))
    x = numbers.integers(0, 2 if rng.random() < 0.2 else 60, shape).astype(rng.choice(TYPES))
    axes = rng.sample(range(len(shape)), rng.randrange(1, len(shape) + 1))
    axis = rng.choice([None, tuple(axes), axes[0], axes[0] - len(shape)])
    given = shape
    if axis is not None and rng.random() < 0.5:
        given = tuple(shape[a] for a in np.atleast_1d(axis))
    # With weights in single precision NumPy compares shares in it, which are rounded otherwise.
    least = 0 if rng.random() < 0.5 else 1
    weights = numbers.integers(least, 5, given).astype(rng.choice(["i8", "f8"]))
    weights = weights + (weights.sum() == 0)
    q = rng.choice([0.0, 1.0, 0.5, [0.25, 0.9], [[0.1, 0.2], [0.5, 1.0]], rng.random()])
    return x, weights, {"q": q, "axis": axis, "keepdims": rng.random() < 0.4}


def _expected(name, x, weights, q, axis, keepdims=False):
    """NumPy's quantiles of each line: NumPy 2.1 has weights of several axes in another order."""
    axes = range(x.ndim) if axis is None else [a % x.ndim for a in np.atleast_1d(axis)]
    last = tuple(range(x.ndim - len(axes), x.ndim))
    if weights.shape != x.shape:
        weights = np.expand_dims(weights, tuple(range(x.ndim - len(axes))))
        weights = np.moveaxis(
            np.broadcast_to(weights, np.moveaxis(x, axes, last).shape), last, axes
        )
    kept = [n for d, n in enumerate(x.shape) if d not in axes]
    lines = [np.moveaxis(a, axes, last).reshape(*kept, -1) for a in (x, weights)]
    out = np.empty((*np.shape(q), *kept), x.dtype)
    for at in np.ndindex(*kept):
        found = getattr(np, name)(lines[0][at], q, **HOW, weights=lines[1][at])
        out[(..., *at)] = found
    return np.expand_dims(out, [np.ndim(q) + a for a in axes]) if keepdims else out


def _lazy(rng, a):
    return cubed.from_array(a, chunks=tuple(rng.randrange(1, n + 1) for n in a.shape))


def _all_lines_have_weight(x, weights, how):
    axis = how["axis"]
    if weights.shape == x.shape:
        return bool(np.all(weights.sum(axis=axis) > 0))
    return bool(weights.sum() > 0)


@pytest.mark.parametrize("seed", range(cases(40)))
def test_quantiles_with_weights_are_those_of_numpy(seed):
    rng = random.Random(f"weights-{seed}")
    x, weights, how = _case(rng)
    if not _all_lines_have_weight(x, weights, how):
        weights = weights + 1
    want = _expected("quantile", x, weights, **how)
    got = cubed.quantile(_lazy(rng, x), **how, **HOW, weights=_lazy(rng, weights))
    assert got.shape == np.shape(want) and got.dtype == want.dtype
    np.testing.assert_array_equal(got.compute(), want)


@pytest.mark.parametrize("seed", range(cases(20)))
def test_nan_of_quantiles_with_weights_are_those_of_numpy(seed):
    rng = random.Random(f"nan-{seed}")
    x, weights, how = _case(rng)
    x, weights = x.astype(rng.choice(["f8", "f4"])), np.random.default_rng(seed).random(x.shape)
    x[np.random.default_rng(seed).random(x.shape) < 0.2] = np.nan
    for name in ("quantile", "nanquantile"):
        with np.errstate(all="ignore"):
            want = _expected(name, x, weights, **how)
        got = getattr(cubed, name)(_lazy(rng, x), **how, **HOW, weights=_lazy(rng, weights))
        np.testing.assert_array_equal(got.compute(), want, str((name, x, weights, how)))


@pytest.mark.parametrize("zeros", range(5))
@pytest.mark.parametrize("chunk", [1, 2, 5])
def test_leading_elements_without_weight_are_skipped(zeros, chunk):
    x, weights = np.array([4.0, 1, 3, 2, 5]), np.ones(5)
    weights[np.argsort(x)[:zeros]] = 0
    for q in (0, [0.0, 0.5, 1.0]):
        got = cubed.quantile(cubed.from_array(x, chunks=chunk), q, **HOW, weights=weights)
        want = np.quantile(x, q, **HOW, weights=weights)
        np.testing.assert_array_equal(got.compute(), want, str(q))


def test_weights_of_axes_that_do_not_ascend():
    numbers = np.random.default_rng(5)
    x, weights = numbers.random((3, 4, 5)), numbers.random((5, 3))
    how = {"q": [0.2, 0.7], **HOW}
    got = cubed.quantile(cubed.asarray(x), axis=(2, 0), **how, weights=weights)
    want = _expected("quantile", x, weights, how["q"], (2, 0))
    np.testing.assert_array_equal(got.compute(), want)


@pytest.mark.parametrize(
    ("weights", "how", "says"),
    [
        (np.ones(2), {"axis": 0}, r"weights have shape \(2\), expected the shape \(3, 2\)"),
        (np.ones(3), {}, r"weights have shape \(3\), expected the shape \(3, 2\)"),
        (np.ones((3, 2)), {"q": 1.5}, "q is 1.5, expected .* from 0 to 1"),
        (np.ones((3, 2)), {"q": np.nan}, "q is nan, expected 0 to 1"),
        (np.ones((3, 2)), {"method": "linear"}, "method is 'linear'"),
    ],
)
def test_wrong_arguments(weights, how, says):
    x = cubed.asarray(np.arange(6.0).reshape(3, 2))
    with pytest.raises(ValueError, match=says):
        cubed.quantile(x, **{"q": 0.5, **HOW, "weights": weights, **how})


def test_weights_are_real_numbers():
    x = cubed.asarray([1.0, 2.0])
    with pytest.raises(TypeError, match="weights are of type complex128, expected real numbers"):
        cubed.quantile(x, 0.5, **HOW, weights=np.array([1j, 2]))
