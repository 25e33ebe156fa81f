"""Factors of matrices that no task can hold are computed in panels. They are compared with NumPy
and by their residuals.
"""

import cubed
import numpy as np
import pytest
from cubed.array_api import linalg
from watched import computed

EPS = {"f4": 1.2e-7, "f8": 2.3e-16, "c8": 1.2e-7, "c16": 2.3e-16}


# Python, libraries, and plans of many panels.
RESERVED = 100_000_000


def spec(mem, executor="threads", **options):
    return cubed.Spec(
        allowed_mem=mem + RESERVED,
        reserved_mem=RESERVED,
        executor_name=executor,
        executor_options=options or None,
    )


def matrix(shape, dtype="f8", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype[0] == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def positive(n, dtype="f8"):
    x = matrix((n, n), dtype)
    return (x @ adjoint(x) + n * np.eye(n)).astype(dtype)


def small(x, factor=5):
    """What a task may use of memory: a part of the matrix in double precision."""
    double = 16 if x.dtype.kind == "c" else 8
    return spec(x.shape[-1] * x.shape[-2] * double // factor)


def lazy(x, s, chunk=64):
    return cubed.from_array(x, chunks=tuple(min(chunk, n) for n in x.shape), spec=s)


def uses_panels(array, name):
    return any(name in s["name"] for s in cubed.plan(array).stages)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("dtype", EPS)
def test_cholesky(dtype, upper):
    n = 260
    h = positive(n, dtype)
    ignored = np.triu(np.full((n, n), np.nan, dtype), 1)
    given = h + (ignored.T if upper else ignored)
    x = linalg.cholesky(lazy(given, small(h)), upper=upper)
    assert uses_panels(x, "cholesky_panel")
    got = computed(x)
    want = np.linalg.cholesky(h.astype("c16" if dtype[0] == "c" else "f8"))
    assert got.dtype == np.dtype(dtype)
    np.testing.assert_allclose(
        got, adjoint(want) if upper else want, rtol=0, atol=20 * EPS[dtype] * np.abs(want).max()
    )
    assert not (np.tril(got, -1) if upper else np.triu(got, 1)).any()


def test_cholesky_of_what_is_not_positive_definite():
    h = positive(260)
    h[180, 180] = -1
    x = linalg.cholesky(lazy(h, small(h)))
    with pytest.raises(ValueError, match="not positive definite"):
        x.compute()


@pytest.mark.parametrize("dtype", EPS)
def test_solve_inv_and_determinants(dtype):
    n = 260
    a, b = matrix((n, n), dtype), matrix((n, 60), dtype, 1)
    s = small(a)
    x, y = lazy(a, s), lazy(b, s)
    z, v = linalg.solve(x, y), linalg.solve(x, y[:, 3])
    assert uses_panels(z, "lu_panel") and uses_panels(v, "lu_solve")
    z, v, i, d = computed(z, v, linalg.inv(x), linalg.det(x))
    sign, logabsdet = computed(*linalg.slogdet(x))
    assert z.dtype == v.dtype == i.dtype == d.dtype == np.dtype(dtype)
    wide = a.astype("c16" if dtype[0] == "c" else "f8")
    size = np.abs(a).max()
    tolerance = 10 * n * EPS[dtype]
    # Backward errors: small for any matrix.
    assert np.abs(wide @ z - b).max() <= tolerance * size * np.abs(z).max()
    assert np.abs(wide @ v - b[:, 3]).max() <= tolerance * size * np.abs(z).max()
    assert np.abs(wide @ i - np.eye(n)).max() <= tolerance * size * np.abs(i).max()
    want = np.linalg.slogdet(wide)
    np.testing.assert_allclose(sign, want[0], atol=1e4 * EPS[dtype])
    np.testing.assert_allclose(logabsdet, want[1], rtol=100 * EPS[dtype])
    with np.errstate(over="ignore"):
        if dtype in ("f8", "c16"):
            np.testing.assert_allclose(d, want[0] * np.exp(want[1]), rtol=1e-9)


def test_pivots_that_tie_and_columns_of_zeros():
    n = 260
    signs = np.where(np.random.default_rng(0).random((n, n)) < 0.5, -1.0, 1.0)
    s = small(signs)
    sign, logabsdet = computed(*linalg.slogdet(lazy(signs, s)))
    want = np.linalg.slogdet(signs)
    assert sign == want[0]
    np.testing.assert_allclose(logabsdet, want[1], rtol=1e-12)
    order = np.random.default_rng(1).permutation(n)
    permutation = np.eye(n)[order]
    d, i = computed(linalg.det(lazy(permutation, s)), linalg.inv(lazy(permutation, s)))
    assert d == np.linalg.det(permutation)
    assert np.array_equal(i, permutation.T)
    singular = matrix((n, n))
    singular[:, 170] = 0
    x = lazy(singular, s)
    assert computed(linalg.det(x)) == 0
    sign, logabsdet = computed(*linalg.slogdet(x))
    assert sign == 0 and logabsdet == -np.inf
    for y in (linalg.inv(x), linalg.solve(x, lazy(singular[:, :2], s))):
        with pytest.raises(ValueError, match="singular"):
            y.compute()


def test_ill_conditioned_matrices():
    n = 260
    q, _ = np.linalg.qr(matrix((n, n)))
    a = q * np.logspace(0, -14, n) @ np.linalg.qr(matrix((n, n), seed=1))[0]
    b = matrix((n, 3), seed=2)
    s = small(a)
    z = computed(linalg.solve(lazy(a, s), lazy(b, s)))
    assert np.abs(a @ z - b).max() <= 10 * n * 2.3e-16 * np.abs(a).max() * np.abs(z).max()
    q, r = computed(*linalg.qr(lazy(a, s)))
    assert np.abs(q @ r - a).max() < 1e-14
    assert np.abs(q.T @ q - np.eye(n)).max() < 1e-13


@pytest.mark.parametrize("mode", ["reduced", "complete"])
@pytest.mark.parametrize("dtype", ["f4", "c16"])
@pytest.mark.parametrize("shape", [(240, 240), (300, 180), (180, 300)])
def test_qr(shape, dtype, mode):
    a = matrix(shape, dtype)
    q, r = linalg.qr(lazy(a, small(a)), mode=mode)
    assert uses_panels(q, "qr_panel") and uses_panels(r, "qr_panel")
    q, r = computed(q, r)
    wide = a.astype("c16" if dtype[0] == "c" else "f8")
    want = np.linalg.qr(wide, mode=mode)
    tolerance = 40 * max(shape) * EPS[dtype]
    assert q.dtype == r.dtype == np.dtype(dtype)
    assert q.shape == want[0].shape and r.shape == want[1].shape
    assert np.abs(q @ r - a).max() <= tolerance
    assert np.abs(adjoint(q) @ q - np.eye(q.shape[1])).max() <= tolerance
    assert not np.tril(r, -1).any()
    # Of LAPACK's signs.
    np.testing.assert_allclose(np.diagonal(r), np.diagonal(want[1]), rtol=0, atol=tolerance)


def test_stacks_broadcast():
    a, b = matrix((2, 180, 180)), matrix((3, 1, 180, 5), seed=1)
    s = small(a[0], 4)
    x = linalg.solve(lazy(a, s), lazy(b, s))
    assert uses_panels(x, "lu_panel")
    x, h = computed(x, linalg.det(lazy(a, s)))
    q, r = linalg.qr(lazy(a, small(a[0], 3)))
    assert uses_panels(q, "qr_panel")
    q, r = computed(q, r)
    np.testing.assert_allclose(x, np.linalg.solve(a, b), atol=1e-10)
    np.testing.assert_allclose(h, np.linalg.det(a), rtol=1e-10)
    np.testing.assert_allclose(q @ r, a, atol=1e-12)


@pytest.mark.parametrize("name", ["cholesky", "det", "solve", "qr"])
def test_twenty_times_the_memory(name):
    n = 640
    a = positive(n)
    s = small(a, 20)
    assert a.nbytes >= 20 * (s.allowed_mem - RESERVED)
    x = lazy(a, s)
    if name == "cholesky":
        low = computed(linalg.cholesky(x))
        assert np.abs(low @ low.T - a).max() <= 1e-14 * n * np.abs(a).max()
    elif name == "det":
        sign, logabsdet = computed(*linalg.slogdet(x))
        np.testing.assert_allclose(sign * logabsdet, np.linalg.slogdet(a)[1], rtol=1e-13)
    elif name == "solve":
        z = computed(linalg.solve(x, lazy(a[:, :1] * 3, s)))
        np.testing.assert_allclose(z, 3 * np.eye(n, 1), atol=1e-12)
    else:
        r = computed(linalg.qr(x).R)
        np.testing.assert_allclose(np.abs(r), np.abs(np.linalg.qr(a).R), atol=1e-9)


@pytest.mark.parametrize("executor", ["single-threaded", "threads", "processes"])
def test_executors_agree(executor, tmp_path):
    a = matrix((240, 240))
    mem = a.nbytes // 5
    if executor == "processes":  # which have to hold the interpreter, too
        s = cubed.Spec(
            work_dir=str(tmp_path),
            allowed_mem=mem + 300_000_000,
            reserved_mem=300_000_000,
            executor_name=executor,
            executor_options={"max_workers": 2},
        )
    else:
        s = spec(mem, executor)
    x = linalg.inv(lazy(a, s))
    assert uses_panels(x, "lu_panel")
    same = linalg.inv(lazy(a, spec(mem, "single-threaded"))).compute()
    assert np.array_equal(x.compute(), same)


def test_what_does_not_fit_is_refused_with_numbers():
    x = cubed.random.random((100_000, 100_000), chunks=(100, 100), spec=spec(1_000_000))
    for f in (linalg.inv, linalg.det, linalg.cholesky, linalg.qr):
        made = f(x)
        with pytest.raises(MemoryError, match=r"a task needs .* allow at least \d+ bytes"):
            cubed.plan(*(made if isinstance(made, tuple) else (made,)))
    y = lazy(matrix((300, 300)), spec(300_000))
    for f in (linalg.eigh, linalg.eigvalsh, linalg.eig, linalg.svd, linalg.svdvals, linalg.pinv):
        made = f(y)
        with pytest.raises(MemoryError, match=r"a task needs .* allow at least \d+ bytes"):
            cubed.plan(*(made if isinstance(made, tuple) else (made,)))
