"""Names that users of NumPy and Dask expect: lazy, without a warning, with NumPy's values."""

import itertools
import warnings

import cubed
import numpy as np
import pytest
import scipy.linalg

RNG = np.random.default_rng(29)
F = np.round(RNG.normal(size=(7, 5)), 2)
G = np.where(F > 0.9, np.nan, F)
T = np.round(RNG.normal(size=(3, 4, 5)), 2)
I = RNG.integers(-3, 4, (7, 5))  # noqa: E741
U = RNG.integers(0, 200, (7, 5)).astype("u1")
C = F + 1j * I
B = F > 0
D = np.array(["2024-01-05", "2023-02-01", "NaT", "2024-03-01"], "M8[D]")
E0 = np.zeros((3, 0))
V = np.round(RNG.normal(size=23), 1)
W = np.array([2.0, -1.0, 0.5])
S = F[:5] @ F[:5].T + 4 * np.eye(5)
K = RNG.normal(size=(9, 3))
Z = np.array([[1, 2, 1], [0, 5, 0], [1, 2, 1], [1, 1, 9], [0, 5, 0]])
P = np.arange(3)
Q = np.repeat(T.reshape(12, 5)[:, :1], 12, axis=1)
EYE = np.eye(12).reshape(3, 4, 12)
A = [190, -190, 350, -350]
W0 = np.array([0, 0, 1, 2, 0, 3, 0.5])
N3 = np.array([0, 2, 1, 2])

MASKS = {"mask": B, "row": B[0], "column": B[:, :1]}

#: By what they show: a call, and the values that it is made with.
CASES = {
    # initial= and where= of reductions
    "sum initial": (lambda x: np.sum(x, 0, initial=2.5), F),
    "sum of bytes": (lambda x: np.sum(x, initial=300), U),
    "prod": (lambda x: np.prod(x, 1, initial=2, where=B), F),
    "sum of bools": (lambda x: np.sum(x, 0, where=B), B),
    "sum of complex": (lambda x: np.sum(x, 0, where=B, initial=1j), C),
    "max initial": (lambda x: np.max(x, initial=0.5), F),
    "max of NaN": (lambda x: np.max(x, 0, initial=0.5), G),
    "max of nothing": (lambda x: np.max(x, axis=1, initial=-3), E0),
    "max of nothing, kept": (lambda x: np.max(x, axis=1, initial=-3, keepdims=True), E0),
    "min where": (lambda x: np.min(x, 1, where=B, initial=9), I),
    "mean where": (lambda x: np.mean(x, 0, where=B), G),
    "mean where of integers": (lambda x: np.mean(x, 1, where=B, keepdims=True), I),
    "mean where of single": (lambda x: np.mean(x, 1, where=B), F.astype("f4")),
    "mean where of complex": (lambda x: np.mean(x, where=B), C),
    "var where": (lambda x: np.var(x, 0, where=B), G),
    "std where": (lambda x: np.std(x, 0, ddof=1, where=B), I),
    "all where": (lambda x: np.all(x, 0, where=~B), B),
    "any where": (lambda x: np.any(x, 0, where=~B), B),
    "nansum where": (lambda x: np.nansum(x, 0, where=B, initial=1.0), G),
    "nanmax initial": (lambda x: np.nanmax(x, 0, initial=0.2), G),
    "nanmax initial of NaN alone": (lambda x: np.nanmax(x * np.nan, 0, initial=0.2), F),
    "nanmin initial NaN": (lambda x: np.nanmin(x, 0, initial=np.nan), G),
    "nanmin initial of NaT alone": (
        lambda x: (
            np.nanmin(x - np.timedelta64("NaT"), initial=np.timedelta64(5, "s"))
            == np.timedelta64(5, "s")
        ),
        np.arange(4).astype("m8[s]"),
    ),
    "nanmax initial of complex NaN alone": (lambda x: np.nanmax(x * np.nan, initial=2 + 1j), C),
    "nanmin where": (lambda x: np.nanmin(x, 0, initial=0.2, where=B), G),
    "nanmean where": (lambda x: np.nanmean(x, 0, where=~B), G),
    "nanvar where": (lambda x: np.nanvar(x, 0, where=~B), G),
    "method where": (lambda x: x.sum(axis=0, where=B, initial=3.0), F),
    "method mean where": (lambda x: x.mean(axis=0, where=B), F),
    # of complex numbers
    "max of complex": (lambda x: np.max(x, 0), C),
    "min of complex": (lambda x: np.min(x), C),
    "max of complex, kept": (lambda x: np.max(x, 1, keepdims=True), C.astype("c8")),
    "max of ties": (lambda x: np.max(x), np.array([1 + 1j, 1 + 3j, 1 - 2j])),
    "max of complex initial": (lambda x: np.max(x, 0, initial=0.2 + 9j), C),
    "var of complex": (lambda x: np.var(x, 0), C),
    "std of complex": (lambda x: np.std(x, 1, ddof=1), C.astype("c8")),
    "var of complex where": (lambda x: np.var(x, 0, where=B), C),
    "nanmax of complex": (lambda x: np.nanmax(x, 0), C),
    # ufuncs
    "accumulate": (lambda x: np.add.accumulate(x, axis=1), F),
    "accumulate of products": (lambda x: np.multiply.accumulate(x), I),
    "accumulate largest": (lambda x: np.maximum.accumulate(x), F),
    "accumulate with NaN": (lambda x: np.minimum.accumulate(x, axis=0), G),
    "accumulate of bytes": (lambda x: np.maximum.accumulate(x, axis=1), U),
    "accumulate of uint64": (lambda x: np.minimum.accumulate(x), U.astype("u8") + 2**63),
    "accumulate of bools": (lambda x: np.logical_and.accumulate(x, axis=0), I != 0),
    "accumulate of single": (lambda x: np.maximum.accumulate(x, axis=1), G.astype("f4")),
    "accumulate of half": (lambda x: np.minimum.accumulate(x, axis=1), F.astype("f2")),
    "accumulate of bits": (lambda x: np.bitwise_or.accumulate(x, axis=1), I),
    "accumulate logaddexp": (lambda x: np.logaddexp.accumulate(x, axis=0), F),
    "accumulate fmax": (lambda x: np.fmax.accumulate(x, axis=0), G),
    "outer": (lambda x: np.add.outer(x, W), F),
    "outer of two": (lambda x: np.multiply.outer(x, x[0]), F),
    "outer of numbers": (lambda x: np.subtract.outer(x, 2), F),
    "outer of comparisons": (lambda x: np.less.outer(V, x[0]), F),
    "reduceat": (lambda x: np.add.reduceat(x, [0, 3, 1, 6]), F),
    "reduceat along": (lambda x: np.maximum.reduceat(x, [1, 4], axis=1), F),
    "reduce where": (lambda x: np.add.reduce(x, where=B, initial=4), F),
    "reduce of bits": (lambda x: np.bitwise_xor.reduce(x, axis=1), I),
    "reduce of gcd": (lambda x: np.gcd.reduce(x, axis=(0, 1)), I),
    "reduce logaddexp": (lambda x: np.logaddexp.reduce(x, axis=0, keepdims=True), F),
    "reduce fmin": (lambda x: np.fmin.reduce(x, axis=0), G),
    "logical functions of numbers": (lambda x: np.logical_and(x, I), F),
    "logical_not of numbers": (lambda x: np.logical_not(x), I),
    "logical_or of a number": (lambda x: np.logical_or(x, 2.5), I),
    "logical_xor of NaN": (lambda x: np.logical_xor(x, 0), G),
    "logical_and.reduce of numbers": (lambda x: np.logical_and.reduce(x), I),
    # order
    "partition": (lambda x: np.sort(np.partition(x, 3, axis=0)[:3], axis=0), F),
    "partition, flat": (lambda x: np.partition(x, (3, -2), axis=None)[3], F),
    "argpartition": (lambda x: np.sort(np.argpartition(x, 11)[:11]), np.unique(V)),
    "lexsort": (lambda x: np.lexsort((x[0], x[1])), I),
    "sort_complex": (lambda x: np.sort_complex(x), C),
    "sort_complex of bytes": (lambda x: np.sort_complex(x), U),
    # pieces
    "block": (lambda x: np.block([[x, x], [W[:1], np.ones((1, 9))]]), F),
    "block of vectors": (lambda x: np.block([x[0], 5, x[1]]), F),
    "block, nested": (lambda x: np.block([[[x], [x]], [[x], [x]]]), F),
    "column_stack": (lambda x: np.column_stack([x, x[:, 0], V[:7]]), F),
    "hsplit": (lambda x: np.hsplit(x, [1, 3])[1], F),
    "hsplit of a vector": (lambda x: np.hsplit(x, 23)[4], V),
    "vsplit": (lambda x: np.vsplit(x, [3])[0], F),
    "dsplit": (lambda x: np.dsplit(x, 5)[2], T),
    "insert": (lambda x: np.insert(x, 1, 5), F),
    "insert rows": (lambda x: np.insert(x, [1, 1, 6], x[:3], axis=0), F),
    "insert a row": (lambda x: np.insert(x, 2, W[[0, 1, 2, 0, 0]], axis=0), F),
    "insert columns": (lambda x: np.insert(x, 1, [[7], [8], [9], [1], [2], [3], [4]], axis=1), F),
    "insert a column": (lambda x: np.insert(x, -1, np.arange(7), axis=1), F),
    "insert by a slice": (lambda x: np.insert(x, slice(0, 4, 2), [8.6, 9], axis=1), I),
    "insert several at one": (lambda x: np.insert(x, [2], [[1], [2]], axis=0), I),
    "insert nothing": (lambda x: np.insert(x, [], 3, axis=0), I),
    "compress": (lambda x: np.compress([True, False, True], x, axis=0), F),
    "compress, flat": (lambda x: np.compress(np.arange(30) % 4 == 1, x), F),
    "diagflat": (lambda x: np.diagflat(x[:2, :2], -1), F),
    "resize": (lambda x: np.resize(x, (4, 20)), F),
    "resize to less": (lambda x: np.resize(x, 4), F),
    "trim_zeros": (lambda x: np.trim_zeros(x), np.array([0, 0, 1, 0, 3, 0])),
    "trim_zeros in front": (lambda x: np.trim_zeros(x, "f"), np.array([0, 0, 1, 0, 3, 0])),
    "trim_zeros of zeros": (lambda x: np.trim_zeros(x), np.zeros(4)),
    "rollaxis": (lambda x: np.rollaxis(x, 2), T),
    "rollaxis to": (lambda x: np.rollaxis(x, 0, 3), T),
    "ediff1d": (lambda x: np.ediff1d(x, to_end=[7, 8], to_begin=1), I),
    # choices
    "choose": (lambda x: np.choose(x, [F[0], F[1], 7.0]), np.array([0, 2, 1, 1, 0])),
    "choose wrap": (lambda x: np.choose(x, [I, -I], mode="wrap"), I),
    "choose clip": (lambda x: np.choose(x, [10, 20, 30], mode="clip"), I),
    "choose from bools": (lambda x: np.choose(x > 0, [x, -x]), F),
    "piecewise": (lambda x: np.piecewise(x, [x < 0, x > 1], [lambda v: -v, 7]), F),
    "piecewise, else": (lambda x: np.piecewise(x, [x < 0, x > 1], [0, 1, np.square]), I),
    "piecewise, one": (lambda x: np.piecewise(x, x > 0, [lambda v, k: v * k, 2], 3), V),
    "apply_over_axes": (lambda x: np.apply_over_axes(np.sum, x, [0, 2]), T),
    # grids
    "ix_": (lambda x: np.ix_(x, [3, 1], np.array([True, False, True]))[0], P),
    "ix_ of a mask": (lambda x: np.ix_(P, x)[1], np.array([True, False, True])),
    "ravel_multi_index": (lambda x: np.ravel_multi_index((x, x[::-1]), (3, 4)), N3),
    "ravel_multi_index F": (lambda x: np.ravel_multi_index((x, x), (3, 4), order="F"), N3),
    "ravel_multi_index wrap": (lambda x: np.ravel_multi_index((x + 5, x), (3, 4), "wrap"), N3),
    "ravel_multi_index clip": (
        lambda x: np.ravel_multi_index((x - 1, x), (3, 2), ("clip", "clip")),
        N3,
    ),
    "unravel_index F": (lambda x: np.unravel_index(x, (3, 4), order="F")[0], np.arange(12)),
    "meshgrid sparse": (lambda x: np.meshgrid(x, W, sparse=True)[0], V),
    "meshgrid sparse ij": (lambda x: np.meshgrid(x, W, sparse=True, indexing="ij")[1], V),
    "reshape F": (lambda x: np.reshape(x, (5, 7), order="F"), F),
    "reshape F of three": (lambda x: x.reshape(6, -1, order="F"), T),
    "ravel F": (lambda x: np.ravel(x, order="F"), T),
    "flatten F": (lambda x: x.flatten("F"), T),
    "T of three": (lambda x: x.T, T),
    "T of one": (lambda x: x.T, V),
    "T of none": (lambda x: x.T, np.array(3.0)),
    # products and lines
    "inner": (lambda x: np.inner(x, F[:2]), F),
    "inner of three": (lambda x: np.inner(x, x[0, 0]), T),
    "inner of numbers": (lambda x: np.inner(x, 3), F),
    "kron": (lambda x: np.kron(x, S[:2]), F),
    "kron of other axes": (lambda x: np.kron(W, x), F),
    "kron of three": (lambda x: np.kron(x, I[:2]), T),
    "convolve": (lambda x: np.convolve(x, W), V),
    "convolve the longer": (lambda x: np.convolve(W, x), V),
    "correlate": (lambda x: np.correlate(x, W), V),
    "correlate the longer": (lambda x: np.correlate(W, x, "full"), V),
    "correlate complex": (lambda x: np.correlate(x, W * (1 - 2j), "full"), V + 1j),
    "convolve bytes": (lambda x: np.convolve(x, np.array([1, 2], "u1")), U[0]),
    "interp": (lambda x: np.interp(x, [-1.0, 0.0, 0.7, 2.0], [1, 2, -3, 5]), F),
    "interp of points": (lambda x: np.interp([0.05, 0.3, 9.0, -2], np.arange(23) / 10, x), V),
    "interp left": (lambda x: np.interp(x, [0.0, 0.5], [1, 2], left=-7, right=np.nan), G),
    "interp one point": (lambda x: np.interp(x, [0.1], [3.0], left=1), F),
    "interp complex": (lambda x: np.interp(x, [-1.0, 0.5], [1j, 2]), F),
    "interp period": (lambda x: np.interp(x * 99, A, [5, 10, 3, 4], period=360), F),
    "vander": (lambda x: np.vander(x, 4), W),
    "vander increasing": (lambda x: np.vander(x, increasing=True), np.array([2, 3, 5])),
    "polyval": (lambda x: np.polyval([2, -1, 0.5], x), F),
    "polyval of integers": (lambda x: np.polyval([2, -1], x), I),
    "polyfit": (lambda x: np.polyfit(x, np.sin(V), 3), V),
    "polyfit of columns": (lambda x: np.polyfit(np.arange(7), x, 2), F),
    "polyfit weights": (lambda x: np.polyfit(x, np.sin(V), 2, w=np.arange(23) + 1.0), V),
    "polyfit cov": (lambda x: np.polyfit(x, np.sin(V), 2, cov=True)[1], V),
    # matrices
    "lstsq": (lambda x: np.linalg.lstsq(x, K[:, 0] * 3 + V[:9])[0], K),
    "lstsq of columns": (lambda x: np.linalg.lstsq(K, x[:9])[0], V[:18].reshape(9, 2)),
    "lstsq residuals": (lambda x: np.linalg.lstsq(x, V[:9])[1], K),
    "lstsq wide": (lambda x: np.linalg.lstsq(x, W)[0], K[:3].T @ K[:3, :2] @ np.ones((2, 5))),
    "lstsq values": (lambda x: np.linalg.lstsq(x, V[:9])[3], K),
    "cond": (lambda x: np.linalg.cond(x), S),
    "cond of stacks": (lambda x: np.linalg.cond(x, -2), np.stack([S, S + 1])),
    "cond 1": (lambda x: np.linalg.cond(x, 1), S),
    "multi_dot": (lambda x: np.linalg.multi_dot([x, x.T, x, S]), F),
    "multi_dot of vectors": (lambda x: np.linalg.multi_dot([x[0], x.T, x[:, 0]]), F),
    "svd values": (lambda x: np.linalg.svd(x, compute_uv=False), F),
    "tensorinv": (lambda x: np.linalg.tensorinv(x, ind=1), (Q + np.eye(12) * 9).reshape(12, 3, 4)),
    "tensorsolve": (lambda x: np.linalg.tensorsolve(x, T[:, :, 0]), EYE + 0.1),
    "pinv": (lambda x: np.linalg.pinv(x, 1e-10), F),
    "fft2": (lambda x: np.fft.fft2(x), T),
    "ifft2": (lambda x: np.fft.ifft2(x, (4, 4)), T),
    "rfft2": (lambda x: np.fft.rfft2(x, axes=(0, 2)), T),
    "irfft2": (lambda x: np.fft.irfft2(x), T + 1j),
    # covariances
    "cov weights": (lambda x: np.cov(x, fweights=[1, 2, 0, 1, 3]), F),
    "cov of aweights": (lambda x: np.cov(x, aweights=abs(F[0])), F),
    "cov of both": (lambda x: np.cov(x, ddof=0, fweights=[1, 2, 1, 1, 3], aweights=abs(F[0])), F),
    "cov type": (lambda x: np.cov(x, dtype=np.float32), F),
    "corrcoef type": (lambda x: np.corrcoef(x, dtype=np.float32), F),
    # sets
    "setdiff1d": (lambda x: np.setdiff1d(x, [1, 2]), I),
    "setdiff1d of unique": (lambda x: np.setdiff1d(x, [1, 2], assume_unique=True), W),
    "setdiff1d with NaN": (lambda x: np.setdiff1d(x, [np.nan]), G),
    "intersect1d": (lambda x: np.intersect1d(x, [1, 2, 9, 2]), I),
    "intersect1d where": (lambda x: np.intersect1d(x, [1, 2, 9, 2], return_indices=True)[1], I),
    "intersect1d where else": (lambda x: np.intersect1d(x, [2, 1, 2], return_indices=True)[2], I),
    "intersect1d types": (lambda x: np.intersect1d(x, [1.0, 2.5, 3]), I),
    "setxor1d": (lambda x: np.setxor1d(x, [1, 2, 9, 2]), I),
    "unique rows": (lambda x: np.unique(x, axis=0), Z),
    "unique columns": (lambda x: np.unique(x, axis=-1), Z),
    "unique parts": (lambda x: np.unique(x, axis=1), np.concatenate([T, T[:, :2]], axis=1)),
    "unique rows where": (lambda x: np.unique(x, True, axis=0)[1], Z),
    "unique rows inverse": (lambda x: np.unique(x, False, True, axis=0)[1], Z),
    "unique rows counts": (lambda x: np.unique(x, return_counts=True, axis=0)[1], Z),
    "unique rows of bools": (lambda x: np.unique(x, axis=0), Z > 1),
    "unique rows of one": (lambda x: np.unique(x, axis=0), Z[:1]),
    "unique rows of none": (lambda x: np.unique(x, axis=0), Z[:0]),
    # bins
    "histogram2d": (lambda x: np.histogram2d(x, V[::-1], 4)[0], V),
    "histogram2d density": (lambda x: np.histogram2d(x, V, [3, [-1, 0, 2.0]], density=True)[0], V),
    "histogram2d weights": (lambda x: np.histogram2d(x, V, weights=abs(V))[0], V),
    "histogramdd": (lambda x: np.histogramdd(x, (2, 3, 4))[0], K),
    "histogramdd range": (lambda x: np.histogramdd(x, 3, range=[(0, 1), None, (-1, 2)])[0], K),
}  # fmt: skip

CDF = {"method": "inverted_cdf"}
CASES |= {
    "unwrap": (lambda x: np.unwrap(x * 7), F),
    "unwrap along": (lambda x: np.unwrap(x * 300, axis=0, period=360.0), F),
    "unwrap discont": (lambda x: np.unwrap(x * 7, discont=4.0), F.astype("f4")),
    "unwrap of halves": (lambda x: np.unwrap(x, period=4.0), I),
    "unwrap of integers": (lambda x: np.unwrap(x, period=4), I),
    "unwrap of an odd period": (lambda x: np.unwrap(x * 5, axis=0, period=7), I),
    "unwrap of one": (lambda x: np.unwrap(x[:1], axis=0), F),
    "sinc": (lambda x: np.sinc(x), I),
    "sinc of complex": (lambda x: np.sinc(x), C),
    "isreal": (lambda x: np.isreal(x), C),
    "iscomplex": (lambda x: np.iscomplex(x), I),
    "quantile weights": (lambda x: np.quantile(x, 0.3, axis=0, weights=abs(F), **CDF), F),
    "quantiles": (lambda x: np.quantile(x, [0, 0.5, 1], axis=1, weights=abs(F[0]), **CDF), F),
    "percentile of all": (lambda x: np.percentile(x, 40, weights=abs(F), **CDF), F),
    "quantile of NaN": (lambda x: np.quantile(x, 0.4, axis=0, weights=abs(F), **CDF), G),
    "nanquantile": (lambda x: np.nanquantile(x, 0.4, axis=0, weights=abs(F), **CDF), G),
    "nanpercentile": (lambda x: np.nanpercentile(x, [9, 90], axis=1, weights=F * F, **CDF), G),
    "quantile of integers": (lambda x: np.quantile(x, 0.6, axis=1, weights=abs(F), **CDF), I),
    "weights of zero": (lambda x: np.quantile(x, [0.0, 0.5], axis=0, weights=W0, **CDF), I),
}
CASES |= {
    "take wrapped": (lambda x: np.take(x, [9, -9, 2], axis=0, mode="wrap"), F),
    "take clipped": (lambda x: np.take(x, [[9, -9], [1, 0]], 1, mode="clip"), I),
    "take one wrapped": (lambda x: np.take(x, 9, axis=1, mode="wrap"), F),
    "zeros_like of a shape": (lambda x: np.zeros_like(x, shape=(3, 2)), I),
    "full_like of a shape": (lambda x: np.full_like(x, 2, dtype="f4", shape=4), I),
}
CASES |= {
    f"where {name}": (lambda x, m=mask: np.sum(x, 1, where=m), F) for name, mask in MASKS.items()
}
CASES |= {
    f"{name} {mode}": (lambda x, n=name, m=mode, v=kernel: getattr(np, n)(x, v, m), V[:6])
    for name in ("convolve", "correlate")
    for mode in ("full", "same", "valid")
    for kernel in (V[:2], V[:5], V[:8])
}


def lazy(a, chunks=2):
    return cubed.from_array(np.asarray(a), chunks=chunks)


@pytest.mark.filterwarnings("ignore::numpy.exceptions.RankWarning")
@pytest.mark.parametrize("chunks", [2, 1, -1])
@pytest.mark.parametrize("name", CASES)
def test_lazy(name, chunks):
    call, values = CASES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wanted = call(values)
        warnings.simplefilter("error", UserWarning)  # what NumPy would compute comes with one
        got = call(lazy(values, chunks))
    assert isinstance(got, cubed.Array)
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    eps = 1e-5 if wanted.dtype.char in "fFe" else 1e-9
    np.testing.assert_allclose(got.compute(), wanted, rtol=eps, atol=eps)


# --- Of Dask, SciPy and this package --------------------------------------------------------------


@pytest.mark.parametrize("chunks", [1, 2, 5, -1])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("k", [1, 3, -2, 99, 0])
def test_topk(k, axis, chunks):
    a = RNG.integers(-50, 50, (4, 23)).astype("f4")
    x = lazy(a, chunks)
    with cubed.raise_if_computes():
        got, at = cubed.topk(x, k, axis), x.argtopk(k, axis)
    part = np.sort(a, axis)
    part = np.flip(part, axis) if k > 0 else part
    wanted = np.take(part, np.arange(min(abs(k), a.shape[axis])), axis)
    np.testing.assert_array_equal(got, wanted)
    assert at.dtype == np.int64
    np.testing.assert_array_equal(np.take_along_axis(a, at.compute(), axis), wanted)


def test_topk_of_nan_and_long_chunks():
    a = np.round(RNG.normal(size=107), 1)
    a[[3, 77]] = np.nan
    for chunks in (10, 40, 107):
        x = lazy(a, chunks)
        np.testing.assert_array_equal(x.topk(4), np.sort(a)[::-1][:4])
        np.testing.assert_array_equal(a[x.argtopk(-30).compute()], np.sort(a)[:30])
    with pytest.raises(ValueError, match="kth is 107, out of range for 107 elements"):
        cubed.partition(lazy(a), 107)
    with pytest.raises(ValueError, match="keys have shapes"):
        cubed.lexsort([a, a[1:]])


@pytest.mark.parametrize("chunks", [1, 2, 3, -1])
def test_coarsen(chunks):
    x = lazy(F, chunks)
    got = cubed.coarsen(np.mean, x, {0: 3, 1: 2}, trim_excess=True)
    np.testing.assert_allclose(got, F[:6, :4].reshape(2, 3, 2, 2).mean((1, 3)))
    np.testing.assert_array_equal(cubed.coarsen(np.max, x, {-1: 5}), F.max(1, keepdims=True))
    kept = cubed.coarsen(lambda v, axis: v.sum(axis), x, {0: 7})
    np.testing.assert_allclose(kept, F.sum(0, keepdims=True))
    with pytest.raises(ValueError, match="axis 0 has 7 elements, not whole blocks of 2"):
        cubed.coarsen(np.sum, x, {0: 2})


SHAPES = [(4, 3), (1, 5), (0, 3), (3, 0), (6,), (2, 3, 4)]


@pytest.mark.parametrize("shape", SHAPES)
def test_indices(shape):
    for chunks in (2, "auto"):
        got = cubed.indices(shape, chunks=chunks)
        np.testing.assert_array_equal(got, np.indices(shape))
        assert got.dtype == np.int64
        for g, w in zip(
            cubed.indices(shape, np.float32, sparse=True),
            np.indices(shape, np.float32, sparse=True),
            strict=True,
        ):
            np.testing.assert_array_equal(g, w)
    f = cubed.fromfunction(lambda *at: sum(at) * 2, shape, dtype=int, chunks=2)
    np.testing.assert_array_equal(f, np.fromfunction(lambda *at: sum(at) * 2, shape, dtype=int))


@pytest.mark.parametrize("m", [None, 0, 1, 3, 7])
@pytest.mark.parametrize("k", [-9, -2, 0, 1, 3, 9])
def test_triangles(k, m):
    for n in (0, 1, 5):
        np.testing.assert_array_equal(cubed.tri(n, m, k, chunks=2), np.tri(n, m, k))
        for name in ("tril_indices", "triu_indices"):
            got, wanted = getattr(cubed, name)(n, k, m), getattr(np, name)(n, k, m)
            for g, w in zip(got, wanted, strict=True):
                assert g.dtype == w.dtype
                np.testing.assert_array_equal(g, w)
            spec = cubed.Spec(allowed_mem="150MB")
            cut = getattr(cubed, name)(n, k, m, 3, spec=spec)
            for c in cut:
                assert c.spec is spec and c.chunks == cubed.arange(c.size, chunks=3).chunks
            np.testing.assert_array_equal(np.stack([c.compute() for c in cut]), np.stack(wanted))
    np.testing.assert_array_equal(cubed.diag_indices(3)[1], np.arange(3))


def test_triangular_systems():
    for lower in (False, True):
        a = np.tril(S) if lower else np.triu(S)
        full = a + 7 * (np.triu(np.ones((5, 5)), 1) if lower else np.tril(np.ones((5, 5)), -1))
        for b in (V[:5], F[:5], np.stack([F[:5]] * 2)):
            got = cubed.linalg.solve_triangular(lazy(full), lazy(b), lower=lower)
            np.testing.assert_allclose(got, np.linalg.solve(a, b), rtol=1e-10, atol=1e-12)
        unit = a - np.diag(np.diag(a)) + np.eye(5)
        got = cubed.linalg.solve_triangular(lazy(full), V[:5], lower=lower, unit_diagonal=True)
        np.testing.assert_allclose(got, np.linalg.solve(unit, V[:5]), rtol=1e-10, atol=1e-12)
    with pytest.raises(ValueError, match="7 x 5, expected (a )?square"):
        cubed.linalg.solve_triangular(lazy(F), V[:7])


def test_stacks_of_triangles_with_one_vector():
    a = np.tril(RNG.normal(size=(2, 3, 4, 4))) + 3 * np.eye(4)
    b = V[:4]
    wanted = np.linalg.solve(a, b[:, None])[..., 0]
    np.testing.assert_allclose(cubed.linalg.solve_triangular(lazy(a), b, lower=True), wanted)


TYPES = ["f8", "f4", "c16", "c8", "i4", "f2"]


def of_type(shape, dtype):
    a = RNG.normal(size=shape) * 9
    return (a + 1j * RNG.normal(size=shape) if "c" in dtype else a).astype(dtype)


POSITIONAL = {
    "tril": lambda m, x: m.tril(x, 1),
    "triu": lambda m, x: m.triu(x, -1),
    "round": lambda m, x: m.round(x, 1),
    "eye": lambda m, x: m.eye(4, 5, -1),
    "zeros": lambda m, x: m.zeros((2, 3), "int8"),
    "full": lambda m, x: m.full((2, 3), 7, "f4"),
    "ones_like": lambda m, x: m.ones_like(x, "i4"),
    "take": lambda m, x: m.take(x, np.array([2, 0]), 1),
    "fft": lambda m, x: m.fft.fft(x, 3, 0, "ortho"),
    "irfftn": lambda m, x: m.fft.irfftn(x, (4, 6), (0, 1)),
    "fftfreq": lambda m, x: m.fft.fftfreq(7, 0.1),
}


@pytest.mark.parametrize("name", POSITIONAL)
def test_arguments_by_position(name):
    call = POSITIONAL[name]
    wanted, got = call(np, F), call(cubed, lazy(F))
    assert (got.shape, got.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(got.compute(), wanted, rtol=1e-12, atol=1e-12)


def test_limits_of_ranks_of_integers():
    """They are real, whatever the matrix is of."""
    a = np.array([[4, 2], [2, 1], [0, 1]])
    x = cubed.from_array(a, chunks=1)
    np.testing.assert_allclose(cubed.linalg.pinv(x, rcond=0.3), np.linalg.pinv(a, rcond=0.3))
    assert cubed.linalg.matrix_rank(x, rtol=0.3).compute() == 1
    assert cubed.linalg.matrix_rank(x, rtol=0.01).compute() == 2


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(7, 4), (4, 7), (5, 5), (1, 1), (3, 0), (0, 3), (30, 11)])
def test_least_squares(shape, dtype):
    a, b = of_type(shape, dtype), of_type((shape[0], 3), dtype)
    if min(shape) > 3:
        a[:, 1] = a[:, 0]
    wide = a.astype("f4") if dtype == "f2" else a
    wanted = np.linalg.lstsq(wide, b.astype(wide.dtype), rcond=1e-3)
    with cubed.raise_if_computes():
        got = cubed.linalg.lstsq(lazy(a), lazy(b, 3), rcond=1e-3)
    x, left, rank, s = cubed.compute(*got)
    close = {"rtol": 1e-3, "atol": 1e-3} if dtype in ("f4", "c8", "f2") else {"atol": 1e-9}
    np.testing.assert_allclose(x, wanted[0], **close)
    assert x.dtype == wanted[0].dtype
    np.testing.assert_allclose(s, wanted[3], **close)
    assert (rank, rank.dtype) == (wanted[2], np.int32)
    squares = (np.abs(b.astype(x.dtype) - wide @ x) ** 2).sum(0)
    np.testing.assert_allclose(left, squares if shape[0] > shape[1] else squares[:0], **close)


def test_least_squares_without_a_solution():
    with pytest.raises(ValueError, match="not finite"):
        cubed.linalg.lstsq(np.array([[1.0, np.nan], [1, 2]]), V[:2])[0].compute()
    x, _, rank, _ = cubed.compute(*cubed.linalg.lstsq(np.zeros((3, 2)), V[:3]))
    np.testing.assert_array_equal(x, np.zeros(2))
    assert rank == 0


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("p", [None, 2, -2, 1, -1, np.inf, -np.inf, "fro", "nuc"])
def test_condition_numbers(dtype, p):
    a = of_type((2, 5, 5), dtype) + (20 * np.eye(5)).astype(dtype)
    got = cubed.linalg.cond(lazy(a), p)
    wide = a.astype("f4") if dtype == "f2" else a
    wanted = np.linalg.cond(wide, p).real  # complex numbers of complex matrices
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-3 if wanted.dtype == "f4" else 1e-9)


def test_condition_numbers_of_singular_and_wrong_matrices():
    singular = np.ones((2, 2))
    assert cubed.linalg.cond(singular).compute() > 1e15
    with pytest.raises(ValueError, match="singular"):
        cubed.linalg.cond(singular, 1).compute()
    with pytest.raises(ValueError, match="have no elements"):
        cubed.linalg.cond(np.ones((0, 0)))
    with pytest.raises(ValueError, match="ord is 3"):
        cubed.linalg.cond(singular, 3)
    assert cubed.linalg.cond(np.ones((0, 3, 3))).compute().shape == (0,)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    "extents", [(3, 4, 5), (7, 1, 9, 2, 8), (5, 0, 3), (30, 3, 25, 2, 30, 7), (1, 1, 1)]
)
def test_products_of_several(extents, dtype):
    xs = [of_type(s, dtype) for s in itertools.pairwise(extents)]
    wide = [x.astype("f4") if dtype == "f2" else x for x in xs]
    got = cubed.linalg.multi_dot([lazy(x, 2) for x in xs])
    wanted = np.linalg.multi_dot(wide)
    assert got.dtype == wanted.dtype
    loose = {"rtol": 1e-3, "atol": abs(wanted).max(initial=0) * 1e-5}
    np.testing.assert_allclose(got, wanted, **({} if dtype in ("f8", "c16", "i4") else loose))


def test_arrays_as_matrices():
    a = RNG.normal(size=(2, 3, 6)) + np.eye(6).reshape(2, 3, 6) * 9
    np.testing.assert_allclose(cubed.linalg.tensorinv(lazy(a), 2), np.linalg.tensorinv(a, 2))
    b = RNG.normal(size=(2, 3))
    np.testing.assert_allclose(cubed.linalg.tensorsolve(lazy(a), b), np.linalg.tensorsolve(a, b))
    moved = np.moveaxis(a, 2, 0)
    for axes in ((0,), (-3,)):
        np.testing.assert_allclose(
            cubed.linalg.tensorsolve(lazy(moved), b, axes), np.linalg.tensorsolve(moved, b, (0,))
        )
    assert cubed.linalg.tensorinv(np.array(4.0), 1).compute() == 0.25
    with pytest.raises(ValueError, match="singular"):
        cubed.linalg.tensorinv(np.ones((2, 2)), 1).compute()


def test_random_vectors_are_those_of_the_seed():
    a = of_type((12, 40), "f8")
    for x in (lazy(a, 5), lazy(a.astype("c16"), 40)):
        few = [cubed.linalg.svd_compressed(x, 2, 1, 3, seed=s).U.compute() for s in (1, 1, 2)]
        np.testing.assert_array_equal(few[0], few[1])
        assert (few[0] != few[2]).any()
    signs = [cubed.linalg.svd_compressed(a, 4, seed=1, coerce_signs=c) for c in (True, False)]
    vh, free = cubed.compute(*(r.Vh for r in signs))
    np.testing.assert_array_equal(vh, free * np.sign(free.sum(1))[:, None])
    with pytest.raises(ValueError, match="n_oversamples is -1"):
        cubed.linalg.svd_compressed(a, 2, 1, -1)


def test_a_few_singular_values():
    a = K @ np.diag([9, 3, 0.1]) @ RNG.normal(size=(3, 40))
    u, s, vh = cubed.linalg.svd_compressed(lazy(a, 4), 3, n_power_iter=1, seed=3)
    assert (u.shape, s.shape, vh.shape) == ((9, 3), (3,), (3, 40))
    np.testing.assert_allclose(s, np.linalg.svd(a, compute_uv=False)[:3], rtol=1e-9)
    np.testing.assert_allclose((u * s) @ vh, a, atol=1e-9)
    assert (vh.compute().sum(1) > 0).all()
    with pytest.raises(ValueError, match="k is 10, expected 1 to 9"):
        cubed.linalg.svd_compressed(lazy(a), 10)


@pytest.mark.parametrize("bins", ["auto", "doane", "fd", "rice", "scott", "sqrt", "sturges"])
@pytest.mark.parametrize("values", [F, I, G[:2], F[:0], np.full(9, 3.0)], ids=range(5))
def test_estimated_bins(bins, values):
    if np.isnan(values).any():
        with pytest.raises(ValueError, match="finite"):
            cubed.histogram(lazy(values), bins)
        values = np.nan_to_num(values)
    for more in ({}, {"range": (-1, 2)}):
        wanted = np.histogram(values, bins, **more)
        got = cubed.histogram(lazy(values), bins, **more)
        np.testing.assert_allclose(got[1], wanted[1])
        np.testing.assert_array_equal(got[0], wanted[0])
        np.testing.assert_allclose(cubed.histogram_bin_edges(lazy(values), bins, **more), wanted[1])


def test_quantiles_with_weights_along_several_axes():
    """NumPy 2.1 does not bring the axes of such weights together, as it does of elements."""
    got = cubed.quantile(lazy(T), 0.7, axis=(0, 2), weights=abs(T), keepdims=True, **CDF)
    lines = [T[:, k].ravel() for k in range(4)]
    wanted = [np.quantile(v, 0.7, weights=abs(v), **CDF) for v in lines]
    np.testing.assert_array_equal(got, np.reshape(wanted, (1, 4, 1)))


def test_extents_may_be_arrays_of_numpy():
    shape = np.array([4, 6])
    x = cubed.ones(shape, chunks=np.array([2, 3]))
    assert x.shape == (4, 6) and x.chunksize == (2, 3)
    assert x.reshape(shape[::-1]).shape == cubed.reshape(x, shape[::-1]).shape == (6, 4)
    assert x.rechunk((np.int64(1), np.array([1, 2, 3]))).chunks == ((1,) * 4, (1, 2, 3))
    assert cubed.broadcast_to(x[0], shape).shape == (4, 6)
    assert cubed.random.random(shape, chunks=shape).chunksize == (4, 6)
    with pytest.raises(TypeError, match="expected integers"):
        cubed.ones(np.array([1.5, 2]))


REFUSED = {
    r"where: .*axis 0 of extent 3 cannot be broadcast to": lambda x: x.sum(where=np.ones(3, bool)),
    "where is of type int64, expected bool": lambda x: x.sum(where=I),
    "max: where is given without initial": lambda x: x.max(where=B),
    "max: initial is 300, which type uint8 cannot represent": lambda x: cubed.max(
        x.astype("uint8"), initial=300
    ),
    "sum: initial is 128, which type int8 cannot represent": lambda x: x.sum(
        dtype="int8", initial=128
    ),
    "initial is a lazy array": lambda x: x.sum(initial=x),
    "order is 'X'": lambda x: x.reshape(-1, order="X"),
    "choose: mode is 'no'": lambda x: cubed.choose(x > 0, [1, 2], mode="no"),
    "choose: a is float64": lambda x: cubed.choose(x, [1, 2]),
    "piecewise: 1 conditions and 3 functions": lambda x: cubed.piecewise(x, [x > 0], [1, 2, 3]),
    r"insert: position 9 is out of bounds": lambda x: cubed.insert(x, 9, 0, axis=0),
    r"block: arrays\[1\] is empty": lambda x: cubed.block([x, []]),
    "have depths": lambda x: cubed.block([x, [x]]),
    "convolve: a has 2 axes": lambda x: cubed.convolve(x, x),
    "convolve: v is empty": lambda x: cubed.convolve(x[0], []),
    "interp: xp has 2 points and fp 1 values": lambda x: cubed.interp(x, [1, 2], [1]),
    "hsplit: the array has 0 axes": lambda x: cubed.hsplit(x[0, 0], 1),
    "ix_: argument 1 has 2 axes": lambda x: cubed.ix_([1], x),
    "2 positions for 3 axes": lambda x: cubed.ravel_multi_index((I, I), (2, 3, 4)),
    "lstsq: a has 7 rows and b 2, expected equal numbers": lambda x: cubed.linalg.lstsq(x, [1, 2]),
    "multi_dot: there are 1 arrays": lambda x: cubed.linalg.multi_dot([x]),
    "fweights are float64": lambda x: cubed.cov(x, fweights=V[:5]),
    r"histogramdd: 3 bins for 5 axes": lambda x: cubed.histogramdd(x, [1, 2, 3]),
    "method is 'linear'": lambda x: cubed.quantile(x, 0.5, axis=0, weights=V[:7]),
    "weights have shape": lambda x: cubed.quantile(x, 0.5, axis=0, weights=V, **CDF),
    "polyfit: y has 2 axes and 7 rows": lambda x: cubed.polyfit(V, x, 1),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_wrong_is_named_before_work_starts(message):
    x = lazy(F)
    with (
        cubed.raise_if_computes(),
        pytest.raises((TypeError, ValueError, IndexError), match=message),
    ):
        REFUSED[message](x)


def test_choices_that_are_none_are_found_by_the_run():
    for bad in (3, -1):
        x = cubed.choose(lazy(np.array([0, bad])), [1, 2, 3])
        with pytest.raises(IndexError):
            x.compute()


def test_numbers_of_choices_beyond_int64_are_none():
    """As int64 the first is -1, which a take counts from the last choice."""
    x = lazy(np.array([2**64 - 1, 2**63, 1], "u8"))
    with pytest.raises(IndexError):
        cubed.choose(x, [1, 2, 3]).compute()
    clipped = cubed.choose(x, [1, 2, 3], mode="clip").compute()
    np.testing.assert_array_equal(clipped, [3, 3, 2])
    wrapped = cubed.choose(x, [1, 2, 3], mode="wrap").compute()
    np.testing.assert_array_equal(wrapped, [n % 3 + 1 for n in (2**64 - 1, 2**63, 1)])


def test_numbers_of_choices_may_be_in_memory():
    for numbers in ([1, 0], np.array([1, 0]), lazy(np.array([1, 0]))):
        for choices in ([[1, 2], [10, 20]], lazy(np.array([[1, 2], [10, 20]]))):
            np.testing.assert_array_equal(cubed.choose(numbers, choices), [10, 2])


def test_choices_of_times_have_the_finer_unit():
    days, hours = np.array(["2001-01-01"], "M8[D]"), np.array(["2001-01-02T03"], "M8[h]")
    x = cubed.choose(lazy(np.array([0, 1])), [days, hours]).compute()
    assert x.dtype == "M8[h]"
    np.testing.assert_array_equal(x, np.array(["2001-01-01T00", "2001-01-02T03"], "M8[h]"))
    x = cubed.select([lazy(np.array([True, False]))], [days], hours).compute()
    np.testing.assert_array_equal(x, np.array(["2001-01-01T00", "2001-01-02T03"], "M8[h]"))


@pytest.mark.parametrize("kernel", [[1, 2], [1.5, -1.0], [np.inf, 1.0], [np.nan, 1.0]])
@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_kernels_that_are_lazy_or_in_memory_give_the_same(kernel, mode):
    a = np.array([1.0, -np.inf, 0.0, 4.0])
    v = np.array(kernel)
    for name in ("convolve", "correlate"):
        wanted = getattr(np, name)(a, v, mode)
        for given in (v, lazy(v), cubed.add(lazy(v), 0)):
            np.testing.assert_array_equal(getattr(cubed, name)(lazy(a), given, mode), wanted)


def test_large_arrays_within_their_memory():
    """Each in several tasks, none of which holds the array."""
    spec = cubed.Spec(allowed_mem="40MB", reserved_mem="10MB")
    x = cubed.random.random((8_000_000,), chunks=500_000, seed=1, spec=spec)
    for y in (
        cubed.topk(x, 5),
        cubed.coarsen(np.max, x, {0: 1000})[-3:],
        np.maximum.accumulate(x)[-1],
        cubed.histogram2d(x, x * x, [4, 4], range=[(0, 1), (0, 1)])[0],
        x.sum(where=x > 0.5, initial=1.0),
        cubed.interp(x, [0, 1], [0, 2]).mean(),
    ):
        assert np.isfinite(y.compute(max_workers=1)).all()


@pytest.mark.parametrize("dtype", ["f8", "f4", "i4", "c16"])
@pytest.mark.parametrize(
    "shape", [(5, 5), (6, 3), (3, 6), (2, 3, 4, 4), (1, 1), (40, 40), (50, 33), (18, 40)]
)
def test_triangular_factors(shape, dtype):
    a = (RNG.normal(size=shape) * 9).astype(dtype)
    a = a + (1j * RNG.normal(size=shape)).astype(dtype) if dtype == "c16" else a
    with cubed.raise_if_computes():
        got = cubed.linalg.lu(lazy(a))
    assert {g.dtype for g in got} == {np.dtype("f8") if dtype == "i4" else a.dtype}
    p, low, up = cubed.compute(*got)
    for g, w in zip((p, low, up), scipy.linalg.lu(a), strict=True):
        assert g.shape == w.shape
        np.testing.assert_allclose(g, w, rtol=1e-3 if dtype == "f4" else 1e-9, atol=1e-5)
    np.testing.assert_allclose(p @ low @ up, a, rtol=1e-3 if dtype == "f4" else 1e-9, atol=1e-4)


def test_factors_of_singular_and_wrong_matrices():
    for a in (np.zeros((3, 3)), np.ones((3, 4)), np.array([[0.0, 1], [0, 2]])):
        p, low, up = cubed.compute(*cubed.linalg.lu(lazy(a)))
        np.testing.assert_allclose(p @ low @ up, a)
        for g, w in zip((p, low, up), scipy.linalg.lu(a), strict=True):
            np.testing.assert_array_equal(g, w)
    for a in (np.array([[2.0, 1], [np.inf, 3]]), np.array([[1.0, np.nan], [2, 3]])):
        wanted = scipy.linalg.lu(a, check_finite=False)
        for g, w in zip(cubed.linalg.lu(lazy(a)), wanted, strict=True):
            np.testing.assert_array_equal(g, w)
    p, low, up = cubed.compute(*cubed.linalg.lu(lazy(np.full((3, 2), np.nan))))
    np.testing.assert_array_equal(p, np.eye(3))
    assert np.isnan(low[1:, 0]).all()
    assert np.isnan(up[np.triu_indices(2)]).all()
    for shape in ((0, 0), (3, 0), (0, 3), (0, 2, 2)):
        p, low, up = cubed.compute(*cubed.linalg.lu(lazy(np.ones(shape, "f4"))))
        np.testing.assert_array_equal(p, np.broadcast_to(np.eye(shape[-2]), p.shape))
        assert (low @ up).shape == shape
        assert {p.dtype, low.dtype, up.dtype} == {np.dtype("f4")}
    with pytest.raises(ValueError, match="lu: the array has 1 dimensions"):
        cubed.linalg.lu(lazy(V))
    spec = cubed.Spec(allowed_mem="10MB", reserved_mem="1MB")
    large = cubed.linalg.lu(cubed.random.random((1000, 1000), chunks=100, spec=spec))
    with pytest.raises(MemoryError):
        large.U.compute()


BETWEEN = {
    "a row and a number": (([1.0, 2, 5], 10.0, 4), {}),
    "without the end": ((0, [1, 2, 5], 5), {"endpoint": False}),
    "of all axes": (([1.0, 2, 5], [[1.0], [2], [3]], 3), {"axis": -1}),
    "complex": (([1.0, 2], [1j, 3 + 1j], 5), {"axis": 1}),
    "one": (([1.0, 2], [3, 4], 1), {}),
    "none": (([1.0, 2], 4, 0), {}),
}


@pytest.mark.parametrize("case", BETWEEN)
@pytest.mark.parametrize("name", ["linspace", "logspace", "geomspace"])
def test_numbers_between_arrays(name, case):
    (start, stop, num), options = BETWEEN[case]
    if name == "geomspace":
        start = np.add(start, 1)  # no zero
    wanted = getattr(np, name)(start, stop, num, **options)
    a, b = (cubed.asarray(v, chunks=2) if np.ndim(v) else v for v in (start, stop))
    for got in (
        getattr(cubed, name)(a, b, num, **options),
        getattr(np, name)(a, b, num, **options),
    ):
        assert isinstance(got, cubed.Array)
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        np.testing.assert_allclose(got.compute(), wanted, rtol=1e-13)


@pytest.mark.parametrize(
    ("ends", "options"),
    [
        ((1, 1000, 4), {}),
        ((-1000, -1, 7), {"chunks": 3}),
        ((1, 0.01, 5), {"endpoint": False}),
        ((1j, -16, 5), {}),
        ((-1, 1, 3), {"dtype": "c16"}),
        ((2, 32, 1), {"dtype": "f4"}),
        ((2, 32, 0), {}),
    ],
)
def test_numbers_by_a_factor(ends, options):
    wanted = np.geomspace(*ends, **{k: v for k, v in options.items() if k != "chunks"})
    with cubed.raise_if_computes():
        got = cubed.geomspace(*ends, **options)
        lazy = cubed.geomspace(cubed.asarray(ends[0]), *ends[1:], **options)
    assert "chunks" not in options or got.chunks == ((3, 3, 1),)
    for out in got, lazy:
        assert out.dtype == wanted.dtype
        np.testing.assert_allclose(out.compute(), wanted, rtol=1e-13, atol=1e-13)
    if len(wanted):
        assert got[0].compute() == wanted[0]


def test_numbers_by_a_factor_from_zero():
    for ends in (0, 1), ([1, 2], [[0, 3], [4, 5]]):
        with pytest.raises(ValueError, match="expected numbers other than zero"):
            cubed.geomspace(*ends)
    with np.errstate(all="ignore"):
        assert np.isnan(cubed.geomspace(cubed.asarray([0.0]), 4, 3).compute()[1])


def test_numbers_between_arrays_in_chunks_types_and_bases():
    x = cubed.asarray([0.0, 7.0])
    got = cubed.linspace(x, 20, 9, dtype=int, chunks=(4, 1))
    assert got.chunks == ((4, 4, 1), (1, 1))
    assert (got.compute() == np.linspace([0.0, 7.0], 20, 9, dtype=int)).all()
    assert cubed.linspace(x, 20, 9)[-1].compute().tolist() == [20, 20]
    base = np.array([2.0, 3.0])
    got = cubed.logspace(0, 3, 4, base=base, axis=1, dtype="f4")
    np.testing.assert_array_equal(
        got.compute(), np.logspace(0, 3, 4, base=base, axis=1, dtype="f4")
    )
    with pytest.raises(ValueError, match="axis is 1, expected 0 or -1"):
        cubed.linspace(0, 1, 3, axis=1)


def test_i0_is_lazy_and_stays_in_its_bound():
    a = np.linspace(-20, 20, 600_000)
    spec = cubed.Spec(allowed_mem="1050MB", reserved_mem="1GB")
    with warnings.catch_warnings(action="error"):
        for x in (a, a.astype("f4"), (a * 3).astype("i4").reshape(600, -1), a[3:4].reshape(())):
            chunks = cubed.from_array(x, chunks="1.6MB", spec=spec)
            got = np.i0(chunks)
            assert isinstance(got, cubed.Array) and got.dtype == np.i0(x).dtype
            np.testing.assert_array_equal(got.compute(max_workers=1), np.i0(x))
    with pytest.raises(TypeError, match="complex"):
        np.i0(cubed.asarray([1j]))


def test_delayed_bins():
    dask = pytest.importorskip("dask")
    x, edges = cubed.asarray([1, 2, 5, 7], chunks=2), [0, 2, 4, 8]
    for bins, range in (
        (dask.delayed(list)(edges), None),
        (dask.delayed(int)(3), (0, 8)),
        (3, (0, dask.delayed(float)(8))),
        (dask.delayed(int)(3), dask.delayed(tuple)((0, 8))),
    ):
        now = [getattr(v, "compute", lambda v=v: v)() for v in (bins, range)]
        if isinstance(now[1], tuple):
            now[1] = (0, 8)
        counts, at = cubed.histogram(x, bins, range)
        for got, want in zip((counts, at), np.histogram(x.compute(), *now), strict=True):
            np.testing.assert_array_equal(got, want)
    got = cubed.histogram2d(x, x, bins=dask.delayed(int)(2))[0]
    np.testing.assert_array_equal(got, np.histogram2d(x.compute(), x.compute(), bins=2)[0])
