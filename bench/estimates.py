"""Compares the estimated seconds of plans with the measured seconds: a matrix product, sorting, a
Fourier transform, exponentials of an array in memory, and compressed chunks. The package must be
installed.

estimates.py [SCALE]
"""

import sys
import tempfile
import time

import cubed
import cubed.array_api as xp
import numpy as np


def works(scale, spec):
    rng = np.random.default_rng(1)
    side = 64 * round(32 * scale)
    a = cubed.from_array(rng.random((side, side)), chunks=(side // 4, side // 4), spec=spec)
    lines = cubed.from_array(rng.random((side, side)), chunks=(side // 8, side), spec=spec)
    place = f"{spec.work_dir}/packed.zarr"
    cubed.to_zarr(xp.round(lines * 1000), place)
    return {
        "matmul": a @ a,
        "sort": xp.sort(lines, axis=1),
        "fft": xp.sum(xp.real(xp.fft.fft(lines, axis=1))),
        "exp": xp.mean(xp.exp(xp.sin(a)) + xp.tanh(a)),
        "mean of zstd": xp.mean(cubed.from_zarr(place, spec=spec)),
        "qr": xp.linalg.qr(lines[:, : side // 8])[1],
        "svd": xp.linalg.svd(lines[: side // 4, : side // 4].rechunk((side // 4, side // 4)))[1],
    }


def main(scale="1"):
    spec = cubed.Spec(tempfile.mkdtemp(), allowed_mem="1GB", reserved_mem="100MB")
    for name, lazy in works(float(scale), spec).items():
        info = lazy.plan().summary()
        took, busy = float("inf"), float("inf")
        for _ in range(3):
            wall, processor = time.perf_counter(), time.process_time()
            lazy.compute()
            took = min(took, time.perf_counter() - wall)
            busy = min(busy, time.process_time() - processor)
        print(
            f"{name:14} estimate {info['seconds']:8.3f} s, took {took:8.3f} s;"
            f" of processors {info['compute_seconds']:8.3f} s, took {busy:8.3f} s:"
            f" {info['compute_seconds'] / busy:5.2f}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
