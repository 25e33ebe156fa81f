"""Runs a benchmark with Dask and threads. Prints the seconds without imports, as JSON.

peer_dask.py WORKERS means|timmean|climatology|median|chain IN OUT
peer_dask.py WORKERS regrid IN OUT WEIGHTS    the sparse product of xESMF
"""

import json
import sys
import time

import dask
import dask.array as da


def product(x, matrix, shape):
    """Interpolates planes to a grid by xESMF's product. Weights have the type of the planes."""
    planes = x.reshape(-1, matrix.shape[1])
    return (matrix @ planes.T).T.reshape(*x.shape[:-2], *shape)


def regrid(x, weights):
    import netCDF4
    import numpy as np
    import scipy.sparse

    with netCDF4.Dataset(weights) as nc:
        rows, columns, values = (np.asarray(nc[name][:]) for name in ("row", "col", "S"))
        shape = tuple(int(n) for n in nc["dst_grid_dims"][::-1])
    size = (shape[0] * shape[1], x.shape[-2] * x.shape[-1])
    matrix = scipy.sparse.coo_array((values, (rows - 1, columns - 1)), size).tocsr()
    chunks = (x.chunks[0], shape[:1], shape[1:])
    return x.map_blocks(product, matrix.astype(x.dtype), shape, chunks=chunks, dtype=x.dtype)


def results(verb, source, *more):
    if verb == "means":
        u, v = (da.from_zarr(f"{source}/{name}") for name in "uv")
        return {"uu": (u * u).mean(axis=0), "vv": (v * v).mean(axis=0), "uv": (u * v).mean(axis=0)}
    x = da.from_zarr(source)
    if verb == "regrid":
        return {"": regrid(x, *more)}
    if verb == "timmean":
        return {"": x.mean(axis=0)}
    if verb == "median":
        return {"": da.median(x, axis=0)}
    if verb == "climatology":
        months = x.reshape((-1, 12, *x.shape[1:]))
        return {"": months - months.mean(axis=0)}
    return {"": da.sqrt((x - 280) ** 2 + x**2)}


def main(workers, verb, source, target, *more):
    start = time.perf_counter()
    stores = [
        x.to_zarr(f"{target}/{name}" if name else target, compute=False, compressors=None)
        for name, x in results(verb, source, *more).items()
    ]
    dask.compute(*stores, scheduler="threads", num_workers=int(workers))
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main(*sys.argv[1:])
