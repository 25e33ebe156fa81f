"""Times one function of a Python library on arrays in memory. Calls the function twice. Prints the
seconds of the second call, until its result is a NumPy array, and the sum of the result, as JSON.

functions.py numpy|cubed|dask|upstream FUNCTION N CHUNK WORKERS ALLOWED_MEM WORK_DIR

The array has N x N float64 of uniform random numbers, in chunks of CHUNK x CHUNK; `mask` has N * N
in one dimension. `tiny` adds 1 to three elements. NumPy, Cubed and Dask get the array in memory.
Cubed for Python ("upstream") accepts no large arrays in memory, so it reads the array from Zarr
without compression.
"""

import json
import os
import sys
import time

REPEATS = 2
TINY_REPEATS = 200


def with_numpy(x, **_):
    import numpy as np

    names = {
        "chain": lambda: np.sqrt((x - 0.5) ** 2 + x**2),
        "mean0": lambda: np.mean(x, axis=0),
        "mean1": lambda: np.mean(x, axis=1),
        "var0": lambda: np.var(x, axis=0),
        "var1": lambda: np.var(x, axis=1),
        "sort": lambda: np.sort(x, axis=0),
        "median": lambda: np.median(x, axis=0),
        "matmul": lambda: x @ x,
        "fft": lambda: np.fft.fft(x, axis=0),
        "cumsum": lambda: np.cumsum(x, axis=0),
        "mask": lambda: x[x > 0.5],
        "tiny": lambda: x + 1,
    }
    return names, lambda y: y


def with_cubed(x, chunks, workers, allowed_mem, work_dir):
    import cubed
    import cubed.array_api as xp

    spec = cubed.Spec(
        work_dir,
        allowed_mem=allowed_mem,
        executor_name="threads",
        executor_options={"max_workers": workers},
    )
    a = cubed.from_array(x, chunks=chunks, spec=spec)
    names = {
        "chain": lambda: xp.sqrt((a - 0.5) ** 2 + a**2),
        "mean0": lambda: xp.mean(a, axis=0),
        "mean1": lambda: xp.mean(a, axis=1),
        "var0": lambda: xp.var(a, axis=0),
        "var1": lambda: xp.var(a, axis=1),
        "sort": lambda: xp.sort(a, axis=0),
        "median": lambda: cubed.median(a, axis=0),
        "matmul": lambda: a @ a,
        "fft": lambda: xp.fft.fft(a, axis=0),
        "cumsum": lambda: xp.cumulative_sum(a, axis=0),
        "mask": lambda: a[a > 0.5],
        "tiny": lambda: a + 1,
    }
    return names, lambda y: y.compute()


def with_dask(x, chunks, workers, **_):
    import dask
    import dask.array as da
    import numpy as np

    dask.config.set(scheduler="threads", num_workers=workers)
    a = da.from_array(x, chunks=chunks)
    names = {
        "chain": lambda: da.sqrt((a - 0.5) ** 2 + a**2),
        "mean0": lambda: da.mean(a, axis=0),
        "mean1": lambda: da.mean(a, axis=1),
        "var0": lambda: da.var(a, axis=0),
        "var1": lambda: da.var(a, axis=1),
        # Dask has no sort; this is what its users write.
        "sort": lambda: a.rechunk({0: -1}).map_blocks(np.sort, axis=0),
        "median": lambda: da.median(a, axis=0),
        "matmul": lambda: a @ a,
        "fft": lambda: da.fft.fft(a.rechunk({0: -1}), axis=0),
        "cumsum": lambda: da.cumsum(a, axis=0),
        "mask": lambda: a[a > 0.5],
        "tiny": lambda: a + 1,
    }
    return names, lambda y: y.compute()


def with_upstream(x, chunks, workers, allowed_mem, work_dir):
    import cubed
    import cubed.array_api as xp

    import zarr

    spec = cubed.Spec(
        work_dir,
        allowed_mem=allowed_mem,
        executor_name="threads",
        executor_options={"max_workers": workers},
        zarr_compressor=None,
    )
    store = f"{work_dir}/x.zarr"
    z = zarr.create_array(store, shape=x.shape, chunks=chunks, dtype=x.dtype, compressors=None)
    z[...] = x
    a = cubed.from_zarr(store, spec=spec)
    names = {
        "chain": lambda: xp.sqrt((a - 0.5) ** 2 + a**2),
        "mean0": lambda: xp.mean(a, axis=0),
        "mean1": lambda: xp.mean(a, axis=1),
        "var0": lambda: xp.var(a, axis=0),
        "var1": lambda: xp.var(a, axis=1),
        "matmul": lambda: a @ a,
        "cumsum": lambda: xp.cumulative_sum(a, axis=0),
        "tiny": lambda: a + 1,
    }
    return names, lambda y: y.compute()


LIBRARIES = {
    "numpy": with_numpy,
    "cubed": with_cubed,
    "dask": with_dask,
    "upstream": with_upstream,
}


def main(library, function, n, chunk, workers, allowed_mem, work_dir):
    os.environ["OPENBLAS_NUM_THREADS"] = workers if library == "numpy" else "1"
    import numpy as np

    n, chunk = int(n), int(chunk)
    x = np.random.default_rng(3).random((n, n))
    chunks = (chunk, chunk)
    if function == "mask":
        x, chunks = x.reshape(-1), (chunk * chunk,)
    elif function == "tiny":
        x, chunks = np.arange(3.0), (3,)
    names, compute = LIBRARIES[library](
        x,
        chunks=chunks,
        workers=int(workers),
        allowed_mem=int(allowed_mem),
        work_dir=work_dir,
    )
    if function == "tiny":
        for _ in range(TINY_REPEATS):
            compute(names[function]())
        start = time.perf_counter()
        for _ in range(TINY_REPEATS):
            result = compute(names[function]())
        seconds = (time.perf_counter() - start) / TINY_REPEATS
    else:
        for _ in range(REPEATS):
            result = None  # not two of them at a time
            start = time.perf_counter()
            result = compute(names[function]())
            seconds = time.perf_counter() - start
    arrays = x.nbytes + result.nbytes
    total = float(np.abs(result).sum())
    print(json.dumps({"seconds": seconds, "sum": total, "arrays": arrays}))


if __name__ == "__main__":  # worker processes import this file
    main(*sys.argv[1:])
