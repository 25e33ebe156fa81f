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
        plan = lazy.plan()
        moved = sum(s["bytes_read"] + s["bytes_written"] for s in plan.stages)
        names = "; ".join(s["name"] for s in plan.stages)
        print(f"{name:16} {1e9 * seconds(lazy) / moved:8.3f} ns per byte   {names}")
    product = x @ x
    print(
        f"{'matmul':16} {1e9 * seconds(product) / (2 * side**3):8.4f} ns per operation   ", end=""
    )
    print("; ".join(s["name"] for s in product.plan().stages))
    from cubed._store import to_zarr

    for codec, data in (("zstd", np.round(values, 3)), ("none", values)):
        place = f"{spec.work_dir}/{codec}.zarr"
        source = cubed.from_array(data, chunks=(side // 4, side // 4), spec=spec)
        write = float("inf")
        for _ in range(ROUNDS):
            start = time.process_time()
            to_zarr(source, place, executor="single-threaded", overwrite=True,
                    **({"compressors": None} if codec == "none" else {}))  # fmt: skip
            write = min(write, time.process_time() - start)
        read = seconds(xp.sum(cubed.from_zarr(place, spec=spec)))
        print(f"{'write ' + codec:16} {1e9 * write / data.nbytes:8.3f} ns per byte")
        print(f"{'read ' + codec:16} {1e9 * read / data.nbytes:8.3f} ns per byte, with its sum")


if __name__ == "__main__":
    main(*sys.argv[1:])
