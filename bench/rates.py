"""What operations cost: processor time of one worker for each byte that is read and written.
cubed.diagnostics.estimate has these figures; the package must be installed.

rates.py [MEGABYTES]
"""

import sys
import tempfile
import time

import cubed
import cubed.array_api as xp
import numpy as np
from cubed.diagnostics.estimate import touched_bytes

ROUNDS = 5


def seconds(lazy):
    """Processor time: what else the machine does matters less to it."""
    least = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        lazy.compute(executor="single-threaded")
        least = min(least, time.process_time() - start)
    return least


def main(megabytes="64"):
    side = int((float(megabytes) * 1e6 / 8) ** 0.5)
    spec = cubed.Spec(tempfile.mkdtemp(), allowed_mem="1GB", reserved_mem="100MB")
    values = np.random.default_rng(1).random((side, side))
    x = cubed.from_array(values, chunks=(side // 4, side // 4), spec=spec)
    rows = x.rechunk((side // 4, side))
    works = {
        "add": x + 1,
        "sum": xp.sum(x, axis=0),
        "exp": xp.exp(x),
        "sin": xp.sin(x),
        "log": xp.log(x),
        "pow": x**1.7,
        "sort": xp.sort(x, axis=1),
        "argsort": xp.argsort(x, axis=1),
        "median": cubed.median(rows, axis=1),
        "fft": xp.fft.fft(x, axis=1),
        "cumulative_sum": xp.cumulative_sum(x, axis=1),
        "linalg.qr": xp.linalg.qr(rows[:, : side // 8])[1],
    }
    for name, lazy in works.items():
        stages = lazy.plan().stages
        names = "; ".join(s["name"] for s in stages)
        each = 1e9 * seconds(lazy) / sum(touched_bytes(s) for s in stages)
        print(f"{name:16} {each:8.4f} ns per byte       {names}")
    each = 1e9 * seconds(x @ x) / (2 * side**3)
    print(f"{'matmul':16} {each:8.4f} ns per operation")
    # Three digits, as measurements have.
    digits = cubed.from_array(np.round(values, 3), chunks=x.chunksize, spec=spec)
    write = float("inf")
    for i in range(ROUNDS):
        place = f"{spec.work_dir}/{i}.zarr"
        start = time.process_time()
        cubed.to_zarr(digits, place, executor="single-threaded")
        write = min(write, time.process_time() - start)
    read = seconds(xp.sum(cubed.from_zarr(place, spec=spec)))
    print(f"{'zstd, write':16} {1e9 * write / values.nbytes:8.4f} ns per byte")
    print(f"{'zstd, read':16} {1e9 * read / values.nbytes:8.4f} ns per byte, with its sum")
    compare(digits, cubed.from_zarr(place, spec=spec))


def compare(values, stored):
    """Estimates of whole computations beside their processor time."""
    works = {
        "mean of a product, from zstd": xp.mean(stored * stored, axis=0),
        "anomalies, from zstd": stored - xp.mean(stored, axis=0),
        "sines of a sum": xp.sin(values + stored),
        "sort of anomalies": xp.sort(values - xp.mean(values, axis=0), axis=0),
        "rechunk, from zstd": stored.rechunk((stored.shape[0], 100)),
        "product of matrices": values @ values,
    }
    print()
    for name, lazy in works.items():
        guess, took = lazy.plan().estimate("local-memory").worker_seconds, seconds(lazy)
        print(f"{name:30} {1e3 * guess:8.1f} ms estimated {1e3 * took:8.1f} ms measured"
              f" {guess / took:5.2f}")  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:])
