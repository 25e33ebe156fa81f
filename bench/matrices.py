"""Products and factors of float64 matrices beside NumPy's on one thread, in interleaved rounds:
medians of processor time, and of what ours take of NumPy's. The package must be installed.

matrices.py [N ...]     rows; 1000
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


def rows(a, b, definite, x, y, z):
    """What NumPy does with arrays, and we with lazy ones of the same values."""
    return {
        "matmul": (lambda: a @ b, lambda: (cubed.matmul(x, y),)),
        "cholesky": (lambda: np.linalg.cholesky(definite), lambda: (linalg.cholesky(z),)),
        "solve": (lambda: np.linalg.solve(a, b), lambda: (linalg.solve(x, y),)),
        "inv": (lambda: np.linalg.inv(a), lambda: (linalg.inv(x),)),
        "slogdet": (lambda: np.linalg.slogdet(a), lambda: linalg.slogdet(x)),
        "qr": (lambda: np.linalg.qr(a), lambda: linalg.qr(x)),
    }


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


def main(*sizes):
    spec = cubed.Spec(allowed_mem="8GB")
    for n in sizes or (1000,):
        rng = np.random.default_rng(0)
        a, b = rng.standard_normal((2, n, n))
        arrays = (a, b, a @ a.T + n * np.eye(n))
        lazy = (cubed.from_array(m, chunks=(n, n), spec=spec) for m in arrays)
        for name, (theirs, ours) in rows(*arrays, *lazy).items():
            compare(name, n, theirs, ours)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
