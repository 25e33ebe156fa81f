"""Each function whose shape depends on values, and each that needs more than a chunk at a time, on
arrays at least 20 times larger than the memory that is allowed, against NumPy.

`--nightly` does it with 8 MB, which more of them need at least. Single matrices that are factored
have tests of their own, as have single axes that are transformed.
"""

import cubed
import numpy as np
import pytest
import scipy.linalg
from conftest import NIGHTLY
from watched import Watch

ALLOWED = 8_000_000 if NIGHTLY else 500_000
SPEC = cubed.Spec(allowed_mem=ALLOWED, reserved_mem=1)
SCALE = 4 if NIGHTLY else 1
SHAPE = (1400 * SCALE, 1000 * SCALE)
CHUNKS = (60, 70 * SCALE)  # in one dimension, rows of chunks are one chunk
SIDE = 12 * SCALE  # of the matrices of a batch
BATCH = (SHAPE[0] * SHAPE[1] // SIDE**2, SIDE, SIDE)


def flat(xp, a):
    return xp.reshape(a, (-1,))


def assigned(xp, a):
    b = a + 0
    b[b > 97] = -1
    return [b]


def of_svd(xp, m):
    u, s, vh = xp.linalg.svd(m, full_matrices=False)
    return [(u * s[..., None, :]) @ vh]


def of_eigh(xp, m):
    w, v = xp.linalg.eigh(m + xp.matrix_transpose(m))
    return [(v * w[..., None, :]) @ xp.matrix_transpose(v)]


def of_qr(xp, m):
    q, r = xp.linalg.qr(m)
    return [q @ r]


def of_lu(xp, m):
    p, low, up = (xp if xp is cubed else scipy).linalg.lu(m)
    return [p, low @ up]


def largest_value(xp, a):
    """Far larger than the next one, so that few products are as good as all values."""
    if xp is np:
        return [np.sqrt(np.linalg.eigvalsh(a.T @ a)[-1:])]
    return [xp.linalg.svd_compressed(a, 1, 2, 2, seed=1).S]


# Of an array of whole numbers from 0 to 99.
WHOLE = {
    "nonzero": lambda xp, a: xp.nonzero(a > 97),
    "mask": lambda xp, a: [a[a > 97]],
    "mask of rows": lambda xp, a: [a[xp.arange(a.shape[0]) % 7 == 0]],
    "assigned by a mask": assigned,
    "unique_values": lambda xp, a: [xp.unique_values(a)],
    "unique_counts": lambda xp, a: xp.unique_counts(a),
    "unique_inverse": lambda xp, a: xp.unique_inverse(a),
    "unique_all": lambda xp, a: xp.unique_all(a),
    "repeat": lambda xp, a: [xp.repeat(a, xp.arange(a.shape[0]) % 3, axis=0)],
    "isin": lambda xp, a: [xp.isin(a, xp.arange(20) * 3)],
    "take": lambda xp, a: [xp.take(a, xp.arange(0, a.shape[1], 3), axis=1)],
    "take_along_axis": lambda xp, a: [
        xp.take_along_axis(a, xp.argsort(a, axis=1, stable=True)[:, :9], axis=1)
    ],
    "points": lambda xp, a: [a[xp.arange(700), xp.arange(700)]],
    "sort of rows": lambda xp, a: [xp.sort(a, axis=1)],
    "sort of columns": lambda xp, a: [xp.sort(a, axis=0)],
    "argsort": lambda xp, a: [xp.argsort(a, axis=0, stable=True)],
    "searchsorted": lambda xp, a: [xp.searchsorted(xp.arange(0, 99, 2), flat(xp, a))],
    "digitize": lambda xp, a: [xp.digitize(a, np.arange(0, 90, 7))],
    "histogram": lambda xp, a: [xp.histogram(a, bins=[0, 5, 50, 99])[0]],
    "bincount": lambda xp, a: [xp.bincount(flat(xp, a))],
    "median": lambda xp, a: [xp.median(a, axis=0)],
    "median of all": lambda xp, a: [xp.median(a)],
    "quantile": lambda xp, a: [xp.quantile(a, [0.1, 0.9], axis=1)],
    "cumulative_sum": lambda xp, a: [xp.cumulative_sum(a, axis=0)],
    "cumulative_sum of rows": lambda xp, a: [xp.cumulative_sum(a, axis=1)],
    "cumulative_prod": lambda xp, a: [xp.cumulative_prod(xp.sign(a - 50), axis=0)],
    "diff": lambda xp, a: [xp.diff(a, axis=0, n=2)],
    "reshape": lambda xp, a: [xp.reshape(a, (a.shape[1], a.shape[0]))],
    "roll": lambda xp, a: [xp.roll(a, (11, -400), axis=(0, 1))],
    "matmul": lambda xp, a: [xp.matmul(xp.matrix_transpose(a[:, :90]), a)],
    "tensordot": lambda xp, a: [xp.tensordot(a, a[:, :90], axes=((0,), (0,)))],
    "einsum": lambda xp, a: [xp.einsum("ij,kj->ik", a, a[:90])],
    "vecdot": lambda xp, a: [xp.vecdot(a, a)],
    "argmax": lambda xp, a: [xp.argmax(a, axis=0), xp.argmin(a)],
}

# Of floats, or of batches of matrices of such.
ROUGH = {
    "mean and var": lambda xp, a: [xp.mean(a, axis=0), xp.var(a, axis=1)],
    "vector_norm": lambda xp, a: [xp.linalg.vector_norm(a, axis=0), xp.linalg.vector_norm(a)],
    "matrix_norm": lambda xp, a: [xp.linalg.matrix_norm(a)],
    "multi_dot": lambda xp, a: [xp.linalg.multi_dot([a[0], a.T, a, a[:9].T])],
    "lstsq": lambda xp, a: [xp.linalg.lstsq(a[:, :5], a[:, 5])[0]],
    "svd_compressed": largest_value,
    "fft": lambda xp, a: [xp.fft.fft(a, axis=0)],
    "rfft": lambda xp, a: [xp.fft.rfft(a, axis=1)],
    "fftn": lambda xp, a: [xp.fft.ifftn(xp.fft.fftn(a))],
    "nanmedian": lambda xp, a: [xp.nanmedian(xp.where(a > 90, xp.nan, a), axis=0)],
}
BATCHES = {
    "inv": lambda xp, m: [xp.linalg.inv(m)],
    "det": lambda xp, m: [xp.linalg.det(m) / 1e30],
    "slogdet": lambda xp, m: xp.linalg.slogdet(m),
    "solve": lambda xp, m: [xp.linalg.solve(m, m[..., :2])],
    "cholesky": lambda xp, m: [xp.linalg.cholesky(m + xp.matrix_transpose(m))],
    "solve_triangular": lambda xp, m: [
        xp.linalg.solve_triangular(m, m[..., :2], lower=True)
        if xp is cubed
        else np.linalg.solve(np.tril(m), m[..., :2])
    ],
    "lu": of_lu,
    "cond": lambda xp, m: [xp.linalg.cond(m, 1)],
    "qr": of_qr,
    "svd": of_svd,
    "svdvals": lambda xp, m: [xp.linalg.svdvals(m)],
    "eigh": of_eigh,
    "eigvalsh": lambda xp, m: [xp.linalg.eigvalsh(m + xp.matrix_transpose(m))],
    "eigvals": lambda xp, m: [xp.real(xp.sum(xp.linalg.eigvals(m), axis=-1))],
    "pinv": lambda xp, m: [xp.linalg.pinv(m)],
    "matrix_rank": lambda xp, m: [xp.linalg.matrix_rank(m)],
    "matrix_power": lambda xp, m: [xp.linalg.matrix_power(m, 3)],
    "matmul": lambda xp, m: [xp.matmul(m, m)],
    "norm": lambda xp, m: [xp.linalg.matrix_norm(m, ord=2)],
}

# Blocks of what is picked have 65,536 elements, and compressors need room.
NEED_MEGABYTES = {"nonzero", "mask", "fftn"} | {n for n in WHOLE if n.startswith("unique")}


def at_this_size(names):
    return [n for n in names if NIGHTLY or n not in NEED_MEGABYTES]


@pytest.fixture(scope="module")
def whole():
    return np.random.default_rng(0).integers(0, 100, SHAPE)


@pytest.fixture(scope="module")
def batch():
    """Far from singular."""
    return np.random.default_rng(1).random(BATCH) + SIDE * np.eye(SIDE)


def check(call, a, chunks, rtol):
    assert a.nbytes >= 20 * ALLOWED
    watch = Watch()
    lazy = list(call(cubed, cubed.from_array(a, chunks=chunks, spec=SPEC)))
    got = cubed.compute(*lazy, callbacks=[watch], max_workers=2)
    for values, expected in zip(got, call(np, a), strict=True):
        expected = np.asarray(expected)
        assert values.shape == expected.shape
        if rtol == 0:
            np.testing.assert_array_equal(values, expected)
        else:
            scale = np.max(np.abs(expected), initial=0)
            np.testing.assert_allclose(values, expected, rtol=rtol, atol=rtol * scale)
    watch.check(ALLOWED, *lazy)


@pytest.mark.parametrize("name", at_this_size(WHOLE))
def test_whole_numbers(whole, name):
    check(WHOLE[name], whole, CHUNKS, 1e-12 if "median" in name or name == "quantile" else 0)


@pytest.mark.skipif(not NIGHTLY, reason="takes long: test_sort_parts.py has smaller ones")
@pytest.mark.parametrize("name", ["sort", "argsort"])
def test_one_axis(whole, name):
    def call(xp, a):
        return [getattr(xp, name)(a, stable=True)]

    check(call, whole.reshape(-1), CHUNKS[0] * CHUNKS[1], 0)


@pytest.mark.parametrize("name", at_this_size(ROUGH))
def test_floats(whole, name):
    check(ROUGH[name], whole.astype("f8"), CHUNKS, 1e-9)


@pytest.mark.parametrize("name", BATCHES)
def test_batches_of_matrices(batch, name):
    check(BATCHES[name], batch, (17, SIDE, SIDE), 1e-9)
