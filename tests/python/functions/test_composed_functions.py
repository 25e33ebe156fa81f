"""Compares functions of NumPy that are composed of other functions with NumPy."""

import cubed
import numpy as np
import pytest

RNG = np.random.default_rng(7)
F = np.round(RNG.normal(size=(6, 5)), 1)
G = np.where(F > 0.8, np.nan, F)
I = RNG.integers(-3, 4, (6, 5))  # noqa: E741
C = F + 1j * G[::-1]
K = np.array([complex(np.inf, 1), complex(np.nan, -np.inf), 1 - 2j])
N = np.array([np.nan, 1, np.nan, 2, 1])
S = np.array([np.inf, -np.inf, np.nan, -0.0, 0.0, 3.7, -2.2])

CALLS = {
    "atleast_1d": [(F,), (F[0, 0],)],
    "atleast_2d": [(F,), (F[0],), (F[0, 0],)],
    "atleast_3d": [(F,), (F[0],), (F[0, 0],), (F[None],)],
    "vstack": [([F, F[:2]],), ([F[0], F[1]],)],
    "hstack": [([F, F[:, :2]],), ([F[0], F[1, :2]],), ([F[0, 0], F[0]],)],
    "array_split": [(F, 4), (F, 3, 1), (F, [1, 1, 4]), (F, 9), (F, [4, 2, -1]), (F[:0], 2)],
    "split": [(F, 3), (F, [2, 5])],
    "diag": [(F,), (F, 1), (F, -2), (F[0],), (F[0], 2), (I[0], -1), (F[0], -7), (F[0, :0],)],
    "dstack": [([F, F],), ([F[0], F[1]],)],
    "append": [(F, F[0]), (F, F[:2], 0), (F, F[:, :1], -1), (I, F)],
    "delete": [
        (F, 2, 0),
        (F, -1, 1),
        (F, [0, 2, 2], 0),
        (F, slice(1, 5, 2), 0),
        (F, slice(4, 1, -1), 0),
        (F, slice(None, None, -2), 1),
        (F, slice(3, 3), 1),
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
    "fmax": [(G, G[::-1]), (S, 0.0), (S.astype("f4"), 0.0), (I, 1)],
    "fmin": [(G, G[::-1]), (S, 0.0), (S.astype("f4"), 0.0), (I, 1)],
    "isneginf": [(S,)],
    "isposinf": [(S,)],
    "nan_to_num": [(S,), (S, True, 1.0, 2.0, 3.0), (S.astype("f4"),), (I,), (K,)],
    "select": [
        ([F > 1, F > 0], [F, 2 * F], -1.0),
        ([I > 1, I < 0], [I, -I]),
        ([I > 1, I < 0], [1, -1], 0.5),
        ([I > 1, I < 0], [F.astype("f4"), 1.0]),
    ],
    "ptp": [(F,), (F, 0), (I, (0, 1))],
    "average": [(F,), (F, 0), (F, 1, abs(F[0])), (F, 0, abs(F)), (I, 0, [1, 2, 3, 4, 5, 6])],
    "cov": [(F,), (F, None, False), (F, F[0]), (F, None, True, True), (F[0],), (C[:3, :2],)],
    "corrcoef": [(F,), (F[0], F[1])],
    "argwhere": [(I,), (F[0] > 0,)],
    "flatnonzero": [(I,)],
    "extract": [(F > 0, F)],
    "unique": [
        (values, *options)
        for values in (I, N, N[:1])
        for options in ((), (True,), (False, True), (False, False, True), (True, True, True))
    ],
    "trapezoid": [(F,), (F, None, 0.5, 0), (F, np.array([0, 1, 4, 5, 7.0])), (F, F.cumsum(axis=1))],
    "unravel_index": [(np.array([[200, 7]], "u1"), (3, 1000)), (abs(I), (2, 2))],
    "union1d": [(I, I[0] + 2), (N, N)],
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


def test_several_arrays():
    x = cubed.from_array(F, chunks=2)
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        got, wanted = getattr(cubed, name)(x, 1.5), getattr(np, name)(F, 1.5)
        for g, w in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(g.compute(), w)


def test_correlations_are_at_most_1():
    values = np.random.default_rng(0).normal(size=(40, 3)) * 1e-3
    got = cubed.corrcoef(cubed.from_array(values, chunks=7)).compute()
    assert np.abs(got).max() <= 1


def test_wrong_arguments():
    x = cubed.from_array(F, chunks=2)
    with pytest.raises(
        ValueError,
        match=r"average: weights have shape \(3\), expected the shape \(\d+, 5\) of the array",
    ):
        cubed.average(x, axis=1, weights=[1, 2, 3])
    with pytest.raises(ValueError, match="select: there are 1 conditions and 2 choices"):
        cubed.select([x > 0], [x, x])
    with pytest.raises(ValueError, match="two different"):
        cubed.rot90(x, axes=(0, 0))
    with pytest.raises(TypeError, match="unravel_index: positions are float64, expected integers"):
        cubed.unravel_index(x, (2, 3))
    with pytest.raises(ValueError, match="expected at most two"):
        cubed.cov(x[None])
    with pytest.raises(IndexError, match="out of bounds"):
        cubed.delete(x, 9, axis=0)
    with pytest.raises(ValueError, match=r"a mask of shape \(2,\) for 6 elements"):
        cubed.delete(x, [True, False], axis=0)
    with pytest.raises(ValueError, match="number of pieces is 0"):
        cubed.array_split(x, 0)


def test_pieces_of_long_axes_need_no_memory():
    x = cubed.ones((10**15,), chunks=10**9, dtype="i1")
    assert [p.size for p in cubed.split(x, 4)] == [10**15 // 4] * 4
    assert cubed.delete(x, slice(5, None)).size == 5
    assert cubed.delete(x, [3, -1]).size == 10**15 - 2
