"""Compares products and factors of float64 matrices with NumPy's, on one thread in interleaved
rounds. Prints medians of processor time, and of its ratio to NumPy's. The package must be
installed.

matrices.py [N ...] [NAME ...]     rows (1000), functions (all)
"""

import os
import statistics
import sys
import time

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import cubed
import numpy as np

ROUNDS = 5
linalg = cubed.array_api.linalg


def rows(a, b, definite, hermitian, x, y, z, h):
    """Functions of NumPy on arrays, and of Cubed on lazy arrays with the same values."""
    return {
        "matmul": (lambda: a @ b, lambda: (cubed.matmul(x, y),)),
        "cholesky": (lambda: np.linalg.cholesky(definite), lambda: (linalg.cholesky(z),)),
        "solve": (lambda: np.linalg.solve(a, b), lambda: (linalg.solve(x, y),)),
        "inv": (lambda: np.linalg.inv(a), lambda: (linalg.inv(x),)),
        "slogdet": (lambda: np.linalg.slogdet(a), lambda: linalg.slogdet(x)),
        "qr": (lambda: np.linalg.qr(a), lambda: linalg.qr(x)),
        "svdvals": (lambda: np.linalg.svdvals(a), lambda: (linalg.svdvals(x),)),
        "svd": (lambda: np.linalg.svd(a, full_matrices=False), lambda: thin_svd(x)),
        "pinv": (lambda: np.linalg.pinv(a), lambda: (linalg.pinv(x),)),
        "eigvalsh": (lambda: np.linalg.eigvalsh(hermitian), lambda: (linalg.eigvalsh(h),)),
        "eigh": (lambda: np.linalg.eigh(hermitian), lambda: linalg.eigh(h)),
        "eigvals": (lambda: np.linalg.eigvals(a), lambda: (linalg.eigvals(x),)),
        "eig": (lambda: np.linalg.eig(a), lambda: linalg.eig(x)),
    }


def thin_svd(x):
    return linalg.svd(x, full_matrices=False)


def seconds(function):
    start = time.process_time()
    function()
    return time.process_time() - start


def compare(name, n, theirs, ours):
    times = [
        (seconds(theirs), seconds(lambda: cubed.compute(*ours(), executor="single-threaded")))
        for _ in range(ROUNDS)
    ]
    numpy, own = (1e3 * statistics.median(t) for t in zip(*times, strict=True))
    ratio = statistics.median(o / t for t, o in times)
    print(f"{name} n={n}: NumPy {numpy:.1f} ms, ours {own:.1f} ms, ours / NumPy {ratio:.2f}")


def main(sizes, only):
    spec = cubed.Spec(allowed_mem="8GB")
    for n in sizes or (1000,):
        rng = np.random.default_rng(0)
        a, b = rng.standard_normal((2, n, n))
        arrays = (a, b, a @ a.T + n * np.eye(n), a + a.T)
        lazy = (cubed.from_array(m, chunks=(n, n), spec=spec) for m in arrays)
        for name, (theirs, ours) in rows(*arrays, *lazy).items():
            if not only or name in only:
                compare(name, n, theirs, ours)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:] if word.isdigit()]
    main(numbers, {word for word in sys.argv[1:] if not word.isdigit()})
