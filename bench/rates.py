"""Measures the cost of operations: processor time of one worker in nanoseconds, for each byte of
the elements, without the time to read and write the arrays. src/exec/plan/costs.c contains these
costs. There, the costs of sorting and of transforms are divided by the logarithm of the length of a
line. The package must be installed.

rates.py [MEGABYTES]
"""

import sys
import tempfile
import time

import cubed
import cubed.array_api as xp
import numpy as np

ROUNDS = 5


def touched_bytes(stage):
    """Bytes that a stage reads and writes, including arrays in the caller's memory."""
    memory = [x for x in stage["inputs"] if x["name"] == "memory"]
    moved = sum(np.prod(x["shape"]) * np.dtype(x["dtype"]).itemsize for x in memory)
    return stage["bytes_read"] + stage["bytes_written"] + moved


def seconds(lazy):
    """Processor time, because other programs on the machine affect it less than elapsed time."""
    least = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        lazy.compute(executor="single-threaded")
        least = min(least, time.process_time() - start)
    return least


def operations(lazy):
    """Bytes of the elements that are worked on, and names, of all stages."""
    found = [op for s in lazy.plan().stages for op in s["operations"]]
    return sum(times * size for _, times, size in found), "; ".join(n for n, _, _ in found)


def many(f, x, times=16):
    for _ in range(times):
        x = f(x)
    return x


def main(megabytes="64"):
    side = int((float(megabytes) * 1e6 / 8) ** 0.5)
    spec = cubed.Spec(tempfile.mkdtemp(), allowed_mem="1GB", reserved_mem="100MB")
    values = np.random.default_rng(1).random((side, side))
    x = cubed.from_array(values, chunks=(side // 4, side // 4), spec=spec)
    rows = x.rechunk((side // 4, side))
    # Two arrays of the same memory are one input.
    touched = seconds(-x) / (2 * values.nbytes)
    print(f"{'read or written':16} {1e9 * touched:8.4f} ns per byte")
    works = {
        "16 additions": many(lambda y: y + x, x),
        "16 divisions": many(lambda y: y / (x + 1), x),
        "sum": xp.sum(x),
        "sum, first axis": xp.sum(x, axis=0),
        "variance": xp.var(x),
        "cast": many(lambda y: xp.astype(xp.astype(y, xp.float32), xp.float64), x, 4),
        "sort": xp.sort(rows, axis=1),
        "argsort": xp.argsort(rows, axis=1),
        "median": cubed.median(rows, axis=1),
        "fft": xp.fft.fft(rows, axis=1),
        "running total": xp.cumulative_sum(x, axis=1),
        "qr": xp.linalg.qr(rows[:, : side // 8])[1],
        "matmul": x @ x,
        "searchsorted": xp.searchsorted(cubed.from_array(values[0].copy()), x),
        "random_uniform": cubed.random.random(x.shape, chunks=x.chunksize, spec=spec),
    }
    names = "exp log sin cos tan sinh cosh tanh asin acos atan expm1 log1p log2 log10 sqrt"
    for name in names.split():
        works[name] = getattr(xp, name)(x)
    for name in "pow atan2 hypot logaddexp remainder floor_divide".split():
        works[name] = getattr(xp, name)(x, 1.5 - x)
    for name, lazy in works.items():
        bytes_, ops = operations(lazy)
        took = seconds(lazy) - touched * sum(touched_bytes(s) for s in lazy.plan().stages)
        print(
            f"{name:16} {1e9 * took / bytes_:8.4f} ns per byte  {took / bytes_ / touched:8.3f}  {ops}"
        )
    codecs(spec, touched)


def codecs(spec, touched):
    """Decoding and encoding, of four digits, as measurements have."""
    rng = np.random.default_rng(2)
    values = np.round(280 + np.cumsum(rng.normal(size=(2000, 2000)), axis=1), 1)
    for name, level in ("zstd", 1), ("zstd", 0), ("gzip", 5), ("blosc", 5), ("none", 0):
        configuration = {"level": level, **({"checksum": False} if name == "zstd" else {})}
        if name == "blosc":
            configuration = {
                "cname": "lz4",
                "clevel": 5,
                "shuffle": "shuffle",
                "typesize": 8,
                "blocksize": 0,
            }
        chain = [{"name": "bytes", "configuration": {"endian": "little"}}]
        if name != "none":
            chain.append({"name": name, "configuration": configuration})
        write = float("inf")
        for i in range(ROUNDS):
            place = f"{spec.work_dir}/{name}{level}-{i}.zarr"
            coded = cubed.Spec(zarr_compressor=chain, allowed_mem="1GB", reserved_mem="100MB")
            x = cubed.from_array(values, chunks=(500, 500), spec=coded)
            start = time.process_time()
            cubed.to_zarr(x, place, executor="single-threaded")
            write = min(write, time.process_time() - start)
        read = seconds(-cubed.from_zarr(place, spec=spec)) / values.nbytes
        write /= values.nbytes
        print(
            f"{name:8} {level} write {1e9 * write:8.4f} {write / touched - 2:8.2f}"
            f" read {1e9 * read:8.4f} {read / touched - 2:8.2f}"
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
