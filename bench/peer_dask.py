"""Dask with threads as a peer. Prints the seconds of everything but imports, as JSON.

peer_dask.py WORKERS means|timmean|climatology|median|chain IN OUT
"""

import json
import sys
import time

import dask
import dask.array as da


def results(verb, source):
    if verb == "means":
        u, v = (da.from_zarr(f"{source}/{name}") for name in "uv")
        return {"uu": (u * u).mean(axis=0), "vv": (v * v).mean(axis=0), "uv": (u * v).mean(axis=0)}
    x = da.from_zarr(source)
    if verb == "timmean":
        return {"": x.mean(axis=0)}
    if verb == "median":
        return {"": da.median(x, axis=0)}
    if verb == "climatology":
        months = x.reshape((-1, 12, *x.shape[1:]))
        return {"": months - months.mean(axis=0)}
    return {"": da.sqrt((x - 280) ** 2 + x**2)}


def main(workers, verb, source, target):
    start = time.perf_counter()
    stores = [
        x.to_zarr(f"{target}/{name}" if name else target, compute=False, compressors=None)
        for name, x in results(verb, source).items()
    ]
    dask.compute(*stores, scheduler="threads", num_workers=int(workers))
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main(*sys.argv[1:])
