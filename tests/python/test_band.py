"""Eigenvalues and singular values of matrices that no task holds, against LAPACK's."""

import sys

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from cubed.array_api import _band

pytest.importorskip("scipy", reason="it finds eigenvalues of bands")

RNG = np.random.default_rng(5)


def matrix(n, m, dtype):
    a = RNG.normal(size=(n, m))
    return (a + 1j * RNG.normal(size=(n, m)) if np.dtype(dtype).kind == "c" else a * 3).astype(
        dtype
    )


def bands(monkeypatch, b):
    """Has bands of that width made, of whatever size matrices are."""
    monkeypatch.setattr(_band, "is_too_large", lambda n, x: True)
    monkeypatch.setattr(_band, "width", lambda n, x: b)


def close(got, want):
    eps = 1e-5 if want.dtype == "f4" else 1e-13
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=0, atol=eps * max(1, np.abs(want).max()))


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "c8", "i4"])
@pytest.mark.parametrize(("n", "b"), [(100, 16), (96, 32), (70, 32), (64, 32), (33, 32)])
def test_eigenvalues(monkeypatch, n, b, dtype):
    bands(monkeypatch, b)
    a = matrix(n, n, dtype)
    with cubed.raise_if_computes():
        got = xp.linalg.eigvalsh(cubed.from_array(a, chunks=40))
    close(got.compute(), np.linalg.eigvalsh(a))  # of the lower triangle alone


@pytest.mark.parametrize("dtype", ["f8", "c16", "f4"])
@pytest.mark.parametrize("shape", [(60, 60), (90, 40), (40, 90)])
def test_singular_values(monkeypatch, shape, dtype):
    bands(monkeypatch, 16)
    a = matrix(*shape, dtype)
    got = xp.linalg.svdvals(cubed.from_array(a, chunks=25))
    close(got.compute(), np.linalg.svd(a, compute_uv=False))


@pytest.mark.parametrize("a", [np.zeros((50, 50)), np.eye(50), np.ones((50, 50))])
def test_matrices_of_low_rank(monkeypatch, a):
    bands(monkeypatch, 16)
    x = cubed.from_array(a, chunks=20)
    close(xp.linalg.eigvalsh(x).compute(), np.linalg.eigvalsh(a))
    values = xp.linalg.svdvals(x).compute()
    close(values, np.linalg.svd(a, compute_uv=False))
    assert (values >= 0).all()


@pytest.mark.filterwarnings("ignore:this process held")
def test_within_the_memory_of_a_task():
    spec = cubed.Spec(allowed_mem="18MB", reserved_mem="1MB")
    a = matrix(1000, 1000, "f8")
    assert a.nbytes * 2 < spec.task_mem < a.nbytes * 2.2
    got = xp.linalg.eigvalsh(cubed.from_array(a, chunks=250, spec=spec))
    assert got.plan().num_stages > 20
    close(got.compute(max_workers=1), np.linalg.eigvalsh(a))


def test_what_is_too_large_is_said(monkeypatch):
    spec = cubed.Spec(allowed_mem="4MB", reserved_mem="1MB")
    x = cubed.random.random((2000, 2000), chunks=200, spec=spec)
    for f in (xp.linalg.eigvalsh, xp.linalg.svdvals):
        with pytest.raises(MemoryError, match="allow at least"):
            f(x).compute()
    spec = cubed.Spec(allowed_mem="18MB", reserved_mem="1MB")
    x = cubed.random.random((1000, 1000), chunks=200, spec=spec)
    monkeypatch.setitem(sys.modules, "scipy.linalg", None)
    with pytest.raises(ImportError, match="1000 rows, which no task holds, need SciPy"):
        xp.linalg.eigvalsh(x)
