"""NumPy's functions that are composed of others, beside NumPy's."""

import warnings

import cubed
import numpy as np
import pytest

RNG = np.random.default_rng(7)
F = np.round(RNG.normal(size=(6, 5)), 1)
G = np.where(F > 0.8, np.nan, F)
I = RNG.integers(-3, 4, (6, 5))  # noqa: E741
C = F + 1j * G[::-1]
S = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, 3.7, -2.2])

CALLS = {
    "atleast_1d": [(F,), (F[0, 0],)],
    "atleast_2d": [(F,), (F[0],), (F[0, 0],)],
    "atleast_3d": [(F,), (F[0],), (F[0, 0],), (F[None],)],
    "vstack": [([F, F[:2]],), ([F[0], F[1]],)],
    "hstack": [([F, F[:, :2]],), ([F[0], F[1, :2]],), ([F[0, 0], F[0]],)],
    "array_split": [(F, 4), (F, 3, 1), (F, [1, 1, 4]), (F, 9)],
    "split": [(F, 3), (F, [2, 5])],
    "diag": [(F,), (F, 1), (F, -2), (F[0],), (F[0], 2), (I[0], -1)],
    "dstack": [([F, F],), ([F[0], F[1]],)],
    "append": [(F, F[0]), (F, F[:2], 0), (F, F[:, :1], -1), (I, F)],
    "delete": [
        (F, 2, 0),
        (F, -1, 1),
        (F, [0, 2, 2], 0),
        (F, slice(1, 5, 2), 0),
        (F, np.array([True, False, True, False, False]), 1),
        (F, [0, 1, 2, 3, 4], 1),
        (F, 7),
        (F, [], 0),
    ],
    "fliplr": [(F,)],
    "flipud": [(F,)],
    "rot90": [(F,), (F, 2), (F, 3), (F, -1), (F, 4), (F, 1, (1, 0))],
    "angle": [(C,), (C, True), (F,), (C.astype("c8"),)],
    "deg2rad": [(F,)],
    "rad2deg": [(F,)],
    "exp2": [(F,), (I.astype("f4"),)],
    "fix": [(S,)],
    "fmax": [(G, G[::-1]), (S, 0.0)],
    "fmin": [(G, G[::-1]), (S, 0.0)],
    "isneginf": [(S,)],
    "isposinf": [(S,)],
    "nan_to_num": [(S,), (S, True, 1.0, 2.0, 3.0), (S.astype("f4"),), (I,)],
    "select": [([F > 1, F > 0], [F, 2 * F], -1.0), ([I > 1, I < 0], [I, -I])],
    "ptp": [(F,), (F, 0), (I, (0, 1))],
    "average": [(F,), (F, 0), (F, 1, abs(F[0])), (F, 0, abs(F)), (I, 0, [1, 2, 3, 4, 5, 6])],
    "cov": [(F,), (F, None, False), (F, F[0]), (F, None, True, True), (F[0],), (C[:3, :2],)],
    "corrcoef": [(F,), (F[0], F[1])],
    "argwhere": [(I,), (F[0] > 0,)],
    "flatnonzero": [(I,)],
    "extract": [(F > 0, F)],
    "unique": [(I,), (I, True), (I, False, True), (I, False, False, True), (I, True, True, True)],
    "trapezoid": [(F,), (F, None, 0.5, 0), (F, np.array([0, 1, 4, 5, 7.0])), (F, F.cumsum(axis=1))],
    "union1d": [(I, I[0] + 2)],
    "vdot": [(F, F), (C, F)],
}


def lazy(value):
    if isinstance(value, np.ndarray) and value.dtype != bool and value.ndim:
        return cubed.from_array(value, chunks=2)
    return [lazy(v) for v in value] if isinstance(value, list) else value


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", CALLS)
def test_composed(name):
    ours, theirs = getattr(cubed, name), getattr(np, name)
    for args in CALLS[name]:
        wanted = theirs(*args)
        first = args[0] if name not in ("select", "extract") else args[1]
        given = (lazy(first), *args[1:]) if first is args[0] else (args[0], lazy(first), *args[2:])
        got = ours(*given)
        pairs = (
            zip(got, wanted, strict=True) if isinstance(wanted, (tuple, list)) else [(got, wanted)]
        )
        for g, w in pairs:
            assert isinstance(g, cubed.Array), (name, args)
            assert (g.shape, g.dtype) == (w.shape, w.dtype), (name, args)
            eps = 1e-13 if w.dtype.itemsize > 4 or w.dtype.kind != "f" else 1e-6
            np.testing.assert_allclose(g.compute(), w, rtol=eps, atol=eps / 10)


def test_sums_of_weights():
    x = cubed.from_array(F, chunks=2)
    for kwargs in ({"axis": 0, "weights": abs(F)}, {"axis": 1}, {}):
        got, wanted = (f.average(v, returned=True, **kwargs) for f, v in ((cubed, x), (np, F)))
        for g, w in zip(got, wanted, strict=True):
            np.testing.assert_allclose(g.compute(), w, rtol=1e-13)


def test_wrong_arguments():
    x = cubed.from_array(F, chunks=2)
    with pytest.raises(ValueError, match="average: 3 weights for 5 elements of axis 1"):
        cubed.average(x, axis=1, weights=[1, 2, 3])
    with pytest.raises(ValueError, match="select: 1 conditions and 2 choices"):
        cubed.select([x > 0], [x, x])
    with pytest.raises(ValueError, match="two different"):
        cubed.rot90(x, axes=(0, 0))
    with pytest.raises(TypeError, match="nan_to_num is not defined for complex128"):
        cubed.nan_to_num(cubed.from_array(C))
    with pytest.raises(ValueError, match="more than two axes"):
        cubed.cov(x[None])
    with pytest.raises(IndexError, match="out of bounds"):
        cubed.delete(x, 9, axis=0)


def test_numpy_finds_ours():
    X, C2 = F[:5], F[:, :2]
    calls = [
        lambda v: np.linalg.inv(v),
        lambda v: np.linalg.norm(v),
        lambda v: np.linalg.norm(v, axis=0),
        lambda v: np.linalg.norm(v, 1),
        lambda v: np.linalg.norm(v, axis=(0, 1), keepdims=True),
        lambda v: np.fft.fft(v, axis=0),
        lambda v: np.round(v, 1),
        lambda v: np.squeeze(v[:1]),
        lambda v: np.tile(v, 2),
        lambda v: np.tile(v, (2, 1)),
        lambda v: np.tensordot(v, v, 1),
        lambda v: np.add.reduce(v),
        lambda v: np.maximum.reduce(v, axis=1, keepdims=True),
        lambda v: np.lib.stride_tricks.sliding_window_view(v, 2, axis=0),
    ]
    x = cubed.from_array(X, chunks=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # what NumPy would compute comes with a warning
        for call in calls:
            got, wanted = call(x), call(X)
            assert isinstance(got, cubed.Array)
            np.testing.assert_allclose(got.compute(), wanted, rtol=1e-10)
        assert np.array_equal(x, X)
        assert not np.array_equal(x, X + 1)
        assert not np.array_equal(x, C2)
        assert np.array_equal(cubed.from_array(G), G, equal_nan=True)
        assert not np.array_equal(cubed.from_array(G), G)
        assert np.iscomplexobj(cubed.from_array(C))
        assert not np.may_share_memory(x, x)
    with pytest.warns(UserWarning, match="numpy.kron of a lazy array"):
        np.testing.assert_array_equal(np.kron(x, C2), np.kron(X, C2))
