"""Runs a benchmark with rechunker and Dask's threads. Prints the seconds without imports, as JSON.

peer_rechunker.py WORKERS MAX_MEM WORK_DIR IN OUT C0,C1,...
"""

import json
import sys
import time

import dask
from rechunker import rechunk

import zarr


def main(workers, max_mem, work_dir, source, target, chunks):
    start = time.perf_counter()
    plan = rechunk(
        zarr.open(source, mode="r"),
        tuple(int(c) for c in chunks.split(",")),
        int(max_mem),
        target,
        target_options={"compressor": None},
        temp_store=f"{work_dir}/intermediate.zarr",
        temp_options={"compressor": None},
    )
    with dask.config.set(scheduler="threads", num_workers=int(workers)):
        plan.execute()
    print(json.dumps({"seconds": time.perf_counter() - start}))


if __name__ == "__main__":
    main(*sys.argv[1:])
