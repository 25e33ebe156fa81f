"""What an engine of others costs. Prints lists of seconds, one for each round, as JSON.

engines.py dask|ray|futures CALLS ROWS WORKERS ROUNDS WORK_DIR

Rounds take turns: CALLS calls of nothing by the engine itself, as many in flight as of ours
("empty"), and as many of ours, with a task of 10 numbers in each ("calls"); quadratic means of two
arrays in Zarr without compression, of ROWS x 1000 x 1000 float64, on the engine ("means"), by our
own processes ("processes") and by Dask array on the same cluster ("dask array", Dask only).
"""

import contextlib
import json
import multiprocessing
import queue
import shutil
import sys
import time
import uuid
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cubed
import cubed.array_api as xp

MEM = 500_000_000


def nothing(message):
    return message


def add(block):
    return block + 1


@contextlib.contextmanager
def dask(workers):
    from cubed.runtime.executors.dask import DaskEngine
    from distributed import Client, LocalCluster

    with (
        LocalCluster(workers, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):

        def submit(message):
            return client.submit(nothing, message, key=uuid.uuid4().hex, pure=False)

        yield {"client": client}, submit, DaskEngine.in_flight


@contextlib.contextmanager
def ray(workers):
    import ray
    from cubed.runtime.executors.ray import RayEngine

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    call = ray.remote(max_retries=0)(nothing)
    try:
        yield {}, lambda message: call.remote(message).future(), RayEngine.in_flight
    finally:
        ray.shutdown()


@contextlib.contextmanager
def futures(workers):
    from cubed.runtime.executors.futures import FuturesEngine

    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        yield {"pool": pool}, lambda message: pool.submit(nothing, message), FuturesEngine.in_flight


def empty(submit, calls, in_flight):
    """The engine's own calls, started as soon as others end."""
    done, flying, left = queue.SimpleQueue(), set(), calls
    while left or flying:
        while left and len(flying) < in_flight:
            future = submit(b"m" * 200)
            flying.add(future)
            future.add_done_callback(done.put)
            left -= 1
        future = done.get()
        future.result()
        flying.discard(future)


def compute(calls, spec):
    x = cubed.random.random((10 * calls,), chunks=10, spec=spec)
    y = cubed.map_blocks(add, x, dtype="f8")
    assert y.plan().num_tasks == calls
    y.compute()


def means(u, v, out, **options):
    targets = [str(out / name) for name in ("uu", "vv", "uv")]
    values = [xp.mean(a * b, axis=0) for a, b in ((u, u), (v, v), (u, v))]
    cubed.store(values, targets, **options)


def means_of_dask(folder, out, client):
    import dask
    import dask.array as da

    u, v = (da.from_zarr(str(folder / name)) for name in "uv")
    values = [(a * b).mean(axis=0) for a, b in ((u, u), (v, v), (u, v))]
    targets = [str(out / name) for name in ("uu", "vv", "uv")]
    dask.compute(
        *[da.to_zarr(y, t, compute=False) for y, t in zip(values, targets, strict=True)],
        scheduler=client,
    )


def main(kind, calls, rows, workers, rounds, work):
    calls, rows, workers, rounds = map(int, (calls, rows, workers, rounds))
    work, seconds = Path(work), {}
    inputs, out = work / "inputs", work / "out"
    here = cubed.Spec(str(work / "work"), allowed_mem=MEM, zarr_compressor=None)
    for name in "uv":
        x = cubed.random.random((rows, 1000, 1000), chunks=(10, 500, 1000), spec=here)
        cubed.to_zarr(x, str(inputs / name))

    def timed(what, function, *args, **options):
        start = time.perf_counter()
        function(*args, **options)
        seconds.setdefault(what, []).append(time.perf_counter() - start)
        shutil.rmtree(out, ignore_errors=True)

    with {"dask": dask, "ray": ray, "futures": futures}[kind](workers) as (given, submit, each):
        options = {"executor_name": kind, "executor_options": {**given, "max_workers": workers}}
        spec = cubed.Spec(str(work / "work"), allowed_mem=MEM, **options)
        u, v = (cubed.from_zarr(str(inputs / name), spec=spec) for name in "uv")
        empty(submit, 2 * workers, workers)
        compute(2 * workers, spec)
        for _ in range(rounds):
            timed("empty", empty, submit, calls, each * workers)
            timed("calls", compute, calls, spec)
            timed("means", means, u, v, out)
            timed("processes", means, u, v, out, executor="processes", max_workers=workers)
            if kind == "dask":
                timed("dask array", means_of_dask, inputs, out, given["client"])
    print(json.dumps(seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
