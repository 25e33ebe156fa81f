"""Compares eigenvalues and singular values of matrices that no task can hold with LAPACK's."""

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from cubed.array_api import linalg
from watched import computed

# Python, libraries, and plans of many panels.
RESERVED = 100_000_000


def spec(mem):
    return cubed.Spec(allowed_mem=mem + RESERVED, reserved_mem=RESERVED, executor_name="threads")


def matrix(shape, dtype="f8", seed=5):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape)
    return (a + 1j * rng.normal(size=shape) if np.dtype(dtype).kind == "c" else a * 3).astype(dtype)


def in_band(function, a, mem, chunk=70, **options):
    """Its values by way of a band, within the memory that tasks are allowed."""
    chunks = tuple(1 if d < a.ndim - 2 else min(chunk, n) for d, n in enumerate(a.shape))
    with cubed.raise_if_computes():
        got = function(cubed.from_array(a, chunks=chunks, spec=spec(mem)))
        assert got.plan().num_stages > 10
    return computed(got)


def close(got, want):
    eps = 1e-6 if want.dtype == "f4" else 5e-14
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=0, atol=eps * max(1, np.abs(want).max()))


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i4"])
@pytest.mark.parametrize("n", [300, 293])
def test_eigenvalues(n, dtype):
    a = matrix((n, n), dtype)
    mem = 4_000_000 if np.dtype(dtype).kind == "c" else 2_000_000
    close(in_band(linalg.eigvalsh, a, mem), np.linalg.eigvalsh(a))  # of the lower triangle alone


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i4"])
@pytest.mark.parametrize("shape", [(300, 300), (400, 310), (310, 400), (293, 293)])
def test_singular_values(shape, dtype):
    a = matrix(shape, dtype)
    mem = 4_000_000 if np.dtype(dtype).kind == "c" else 2_500_000
    close(in_band(linalg.svdvals, a, mem), np.linalg.svd(a, compute_uv=False))


def test_stacks():
    a = matrix((2, 300, 300))
    close(in_band(linalg.svdvals, a, 2_500_000), np.linalg.svd(a, compute_uv=False))
    close(in_band(linalg.eigvalsh, a, 2_500_000), np.linalg.eigvalsh(a))


@pytest.mark.parametrize(
    "a", [np.zeros((300, 300)), np.eye(300), np.ones((300, 300)), 1e-300 * matrix((300, 300))]
)
def test_matrices_of_low_rank(a):
    eigenvalues = in_band(linalg.eigvalsh, a, 2_000_000)
    scale = np.abs(a).max() or 1
    close(eigenvalues / scale, np.linalg.eigvalsh(a / scale))
    values = in_band(linalg.svdvals, a, 2_000_000)
    close(values / scale, np.linalg.svd(a / scale, compute_uv=False))
    assert (values >= 0).all()


def test_small_singular_values():
    """As a matrix times its adjoint would lose them."""
    n = 300
    q, _ = np.linalg.qr(matrix((n, n)))
    p, _ = np.linalg.qr(matrix((n, n), seed=6))
    wanted = np.logspace(0, -13, n)
    values = in_band(linalg.svdvals, q * wanted @ p, 2_500_000)
    np.testing.assert_allclose(values, wanted, rtol=0, atol=1e-14)


def test_few_tasks():
    x = cubed.random.random((2000, 2000), chunks=500, spec=spec(35_000_000))
    assert linalg.svdvals(x).plan().num_tasks < 500
    assert linalg.eigvalsh(x).plan().num_tasks < 400


def test_tall_matrices_whose_triangle_is_too_large():
    a = matrix((1600, 300))
    close(in_band(linalg.svdvals, a, 5_000_000), np.linalg.svd(a, compute_uv=False))


def test_values_that_are_not_finite():
    a = matrix((300, 300))
    a[7, 5] = np.nan
    for f in (linalg.eigvalsh, linalg.svdvals):
        with pytest.raises(ValueError, match="elements that are not finite"):
            in_band(f, a, 2_500_000)


def test_what_is_too_large_is_said():
    x = cubed.random.random((2000, 2000), chunks=200, spec=spec(3_000_000))
    for f in (xp.linalg.eigvalsh, xp.linalg.svdvals):
        with pytest.raises(MemoryError, match="allow at least"):
            f(x).compute()
