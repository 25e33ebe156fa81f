"""Runs a benchmark with Cubed for Python (of PyPI). Prints the seconds without imports, as JSON.

peer_cubed.py EXECUTOR WORKERS ALLOWED_MEM WORK_DIR means IN OUT
peer_cubed.py EXECUTOR WORKERS ALLOWED_MEM WORK_DIR rechunk IN OUT C0,C1,...
"""

import json
import sys
import time

import cubed
import cubed.array_api as xp

# Where upstream looks for them at run time.
import zarr  # noqa: F401


def main(executor, workers, allowed_mem, work_dir, verb, source, target, *rest):
    start = time.perf_counter()
    spec = cubed.Spec(
        work_dir,
        allowed_mem=int(allowed_mem),
        reserved_mem="100MB",
        executor_name=executor,
        executor_options={"max_workers": int(workers)},
        zarr_compressor=None,  # faster on a local disk, and what the others write
    )
    if verb == "means":
        u, v = (cubed.from_zarr(f"{source}/{name}", spec=spec) for name in "uv")
        means = [xp.mean(p, axis=0) for p in (u * u, v * v, u * v)]
        cubed.store(means, [f"{target}/{name}" for name in ("uu", "vv", "uv")])
    else:
        x = cubed.from_zarr(source, spec=spec)
        chunks = tuple(int(c) for c in rest[0].split(","))
        cubed.to_zarr(cubed.rechunk(x, chunks), target)
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":  # worker processes import this file
    main(*sys.argv[1:])
