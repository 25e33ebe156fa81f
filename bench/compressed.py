"""Times one operation of one library on compressed arrays on the disk. Calls the operation twice.
Prints the seconds of the second call, and a sum of the result, as JSON.

compressed.py make N CHUNK DIR
compressed.py cubed|blosc2|numexpr|zarrs|tensorstore WORK N CHUNK WORKERS ALLOWED_MEM DIR

`make` stores a, b and c of N x N float64 in chunks of CHUNK x CHUNK, by blosc with lz4 and byte
shuffle: as Zarr (format 2) and as arrays of Blosc2 (b2nd). Works that end in `_stored` write their
result to the disk with the same codec and chunks; the others return it as a NumPy array. `memory`
is the expression of `chain_stored` over NumPy arrays, to a NumPy array. `row`, `column` and `point`
read PARTS parts of a, one after another; all libraries read the same positions.
"""

import json
import pathlib
import shutil
import sys
import time

REPEATS = 2
PARTS = 200
EXPRESSION = "sqrt((a - b)**2 + c**2)"


def values(n, seed):
    """Smooth waves with noise, in steps of 1/64 as packed data have."""
    import numpy as np

    rng = np.random.default_rng(seed)
    y, x = np.linspace(0, 6, n)[:, None], np.linspace(0, 9, n)
    field = 20 * np.sin(x + seed) * np.cos(y) + rng.standard_normal((n, n), dtype=np.float32)
    return np.round(field * 64) / 64


def make(n, chunk, directory):
    import blosc2
    import numcodecs

    import zarr

    directory.mkdir(parents=True)
    codec = numcodecs.Blosc("lz4", clevel=5, shuffle=1)
    for seed, name in enumerate("abc"):
        x = values(n, seed)
        path = directory / f"{name}.zarr"
        array = zarr.create(
            x.shape, chunks=(chunk, chunk), dtype="f8", compressor=codec, zarr_format=2, store=path
        )
        array[...] = x
        blosc2.asarray(
            x,
            chunks=(chunk, chunk),
            cparams=blosc2_parameters(),
            urlpath=str(directory / f"{name}.b2nd"),
        )


def blosc2_parameters():
    import blosc2

    return {"codec": blosc2.Codec.LZ4, "clevel": 5, "filters": [blosc2.Filter.SHUFFLE]}


def positions(n):
    import numpy as np

    return np.random.default_rng(5).integers(0, n, (PARTS, 2)).tolist()


def part(work, i, j):
    return {"row": (i, slice(None)), "column": (slice(None), j), "point": (i, j)}[work]


def read_parts(work, n, read):
    """A vector of the sums of all parts."""
    import numpy as np

    return np.array([np.sum(read(part(work, i, j))) for i, j in positions(n)])


def with_cubed(work, n, chunk, workers, allowed_mem, directory, out):
    import cubed
    import cubed.array_api as xp

    codec = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 8, "blocksize": 0}
    spec = cubed.Spec(
        directory / "work",
        allowed_mem=allowed_mem,
        zarr_compressor={"name": "blosc", "configuration": codec},
        executor_name="threads",
        executor_options={"max_workers": workers},
    )
    if work == "memory":
        chunks = (chunk, chunk)
        arrays = (cubed.from_array(values(n, k), chunks=chunks, spec=spec) for k in range(3))
    else:
        arrays = (cubed.from_zarr(directory / f"{name}.zarr", spec=spec) for name in "abc")
    a, b, c = arrays

    def store(x):
        cubed.to_zarr(x, out)
        return cubed.from_zarr(out, spec=spec)

    chain = xp.sqrt((a - b) ** 2 + c**2)
    works = {
        "chain_stored": lambda: store(chain),
        "memory": lambda: chain.compute(),
        "sum": lambda: xp.sum(chain).compute(),
        "mean0": lambda: xp.mean(a * b, axis=0).compute(),
        "max1": lambda: xp.max(a, axis=1).compute(),
        "cumsum_stored": lambda: store(xp.cumulative_sum(a, axis=0)),
        "matmul_stored": lambda: store(a @ b),
    }
    return works.get(work, lambda: read_parts(work, n, lambda k: a[k].compute()))


def with_blosc2(work, n, workers, directory, out, **_):
    import blosc2

    blosc2.set_nthreads(workers)
    a, b, c = (blosc2.open(str(directory / f"{name}.b2nd"), mode="r") for name in "abc")
    chain = blosc2.lazyexpr(EXPRESSION, {"a": a, "b": b, "c": c})
    stored = {"urlpath": str(out), "mode": "w", "chunks": a.chunks, "cparams": blosc2_parameters()}
    works = {
        "chain_stored": lambda: chain.compute(**stored),
        "sum": lambda: chain.sum(),
        "mean0": lambda: (a * b).mean(axis=0),
        "max1": lambda: a.max(axis=1),
        "cumsum_stored": lambda: blosc2.cumulative_sum(a, axis=0, **stored),
        "matmul_stored": lambda: blosc2.matmul(a, b, **stored),
    }
    return works.get(work, lambda: read_parts(work, n, lambda k: a[k]))


def with_numexpr(n, workers, **_):
    import numexpr

    numexpr.set_num_threads(workers)
    arrays = {name: values(n, k) for k, name in enumerate("abc")}
    return lambda: numexpr.evaluate(EXPRESSION, arrays)


def with_zarrs(work, n, workers, directory, **_):
    import zarrs  # noqa: F401

    import zarr

    zarr.config.set(
        {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "threading.max_workers": workers}
    )
    a = zarr.open_array(directory / "a.zarr", mode="r")
    return lambda: read_parts(work, n, lambda k: a[k])


def with_tensorstore(work, n, workers, directory, **_):
    import tensorstore

    context = {"data_copy_concurrency": {"limit": workers}, "cache_pool": {"total_bytes_limit": 0}}
    kvstore = {"driver": "file", "path": str(directory / "a.zarr")}
    a = tensorstore.open({"driver": "zarr", "kvstore": kvstore, "context": context}).result()
    return lambda: read_parts(work, n, lambda k: a[k].read().result())


LIBRARIES = {
    "cubed": with_cubed,
    "blosc2": with_blosc2,
    "numexpr": with_numexpr,
    "zarrs": with_zarrs,
    "tensorstore": with_tensorstore,
}


def total(result):
    """The sum of a result, or of a part of what is stored."""
    import numpy as np

    part = result[: min(1000, result.shape[0])] if getattr(result, "ndim", 0) == 2 else result
    if hasattr(part, "compute"):
        part = part.compute()
    return float(np.sum(np.asarray(part[()] if hasattr(part, "__getitem__") else part)))


def main(library, *args):
    if library == "make":
        n, chunk, directory = args
        make(int(n), int(chunk), pathlib.Path(directory))
        return
    work, n, chunk, workers, allowed_mem, directory = args
    directory = pathlib.Path(directory)
    out = directory / ("result.b2nd" if library == "blosc2" else "result.zarr")
    call = LIBRARIES[library](
        work=work,
        n=int(n),
        chunk=int(chunk),
        workers=int(workers),
        allowed_mem=int(allowed_mem),
        directory=directory,
        out=out,
    )
    for _ in range(REPEATS):
        shutil.rmtree(out) if out.is_dir() else out.unlink(missing_ok=True)
        result = None  # not two of them at a time
        start = time.perf_counter()
        result = call()
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "sum": total(result)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
