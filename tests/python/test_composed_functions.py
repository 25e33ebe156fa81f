"""NumPy's functions that are composed of others, beside NumPy's."""

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
        pairs = zip(got, wanted, strict=True) if isinstance(wanted, tuple) else [(got, wanted)]
        for g, w in pairs:
            assert isinstance(g, cubed.Array), (name, args)
            assert (g.shape, g.dtype) == (w.shape, w.dtype), (name, args)
            np.testing.assert_allclose(g.compute(), w, rtol=1e-13, atol=1e-14)


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
