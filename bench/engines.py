"""Measures the cost of runs on an engine such as Dask or Ray. Prints lists of seconds as JSON, with
an entry for each round.

engines.py KIND CALLS ROWS WORKERS ROUNDS WORK_DIR CUBED

In each round, the following works run one after another:

- "empty": CALLS calls of an empty function by the engine itself. The number of bytes, the lists of
  calls and the number of calls in flight are the same as in "calls".
- "calls": CALLS calls by our executor. Each has one task, which stores a chunk of 10 numbers.
- "work": the same tasks, by threads of one process.
- If ROWS is not 0: quadratic means of two arrays, by the engine ("means"), by our own processes
  ("processes"), and by Dask array on the same cluster ("dask array", only for Dask). The arrays are
  ROWS x 1000 x 1000 float64 in Zarr without compression, in WORK_DIR. They are created if missing.

For MPI ("mpi") there are only the means, which the command CUBED plans and also runs in processes,
and a program with the same number of ranks that begins and ends ("start").
"""

import contextlib
import json
import multiprocessing
import os
import queue
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import cubed
import cubed.array_api as xp
from cubed.runtime.create import create_executor

MEM = 500_000_000
MEANS = "uu=mean(u*u, axis=0); vv=mean(v*v, axis=0); uv=mean(u*v, axis=0)"
ROOT = Path(__file__).resolve().parents[1]


#: About as long as our messages, and as what ours answer.
MESSAGE, ANSWER = b"m" * 300, 200
NOTHING = "#include <mpi.h>\nint main(void) { MPI_Init(0, 0); return MPI_Finalize(); }\n"


def nothing(message):
    import numpy  # noqa: F401 what a call on arrays has, also where its process is new

    return message[:ANSWER]


def add(block):
    return block + 1


def one_by_one(submit, in_flight, calls):
    """The engine's own calls, started as soon as others end."""
    done, flying, left = queue.SimpleQueue(), set(), calls
    while left or flying:
        while left and len(flying) < in_flight:
            future = submit(MESSAGE)
            flying.add(future)
            future.add_done_callback(done.put)
            left -= 1
        future = done.get()
        future.result()
        flying.discard(future)


def in_lists(run_list, engine, workers, calls):
    """The engine's own lists of calls: as long as the adapter's, and as many at a time."""
    each = -(-engine.in_flight * workers // engine.at_a_time)
    lists = [[MESSAGE] * min(each, calls - i) for i in range(0, calls, each)]
    with ThreadPoolExecutor(engine.at_a_time) as threads:
        for _ in threads.map(run_list, lists):
            pass


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

        yield {"client": client}, partial(one_by_one, submit, DaskEngine.in_flight * workers)


@contextlib.contextmanager
def ray(workers):
    import ray
    from cubed.runtime.executors.ray import RayEngine

    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
    call = ray.remote(max_retries=0)(nothing)

    def submit(message):
        return call.remote(message).future()

    try:
        yield {}, partial(one_by_one, submit, RayEngine.in_flight * workers)
    finally:
        ray.shutdown()


@contextlib.contextmanager
def futures(workers):
    from cubed.runtime.executors.futures import FuturesEngine

    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, mp_context=spawn) as pool:
        submit = partial(pool.submit, nothing)
        yield {"pool": pool}, partial(one_by_one, submit, FuturesEngine.in_flight * workers)


@contextlib.contextmanager
def spark(workers):
    from cubed.runtime.executors.spark import SparkEngine
    from pyspark import SparkConf, SparkContext

    conf = SparkConf().setMaster(f"local[{workers}]").setAppName("bench")
    conf.setAll([("spark.ui.enabled", "false"), ("spark.ui.showConsoleProgress", "false")])
    conf.set("spark.driver.host", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = sys.executable  # not what is called python3 on the path
    context = SparkContext(conf=conf)

    def run_list(messages):
        context.parallelize(messages, len(messages)).map(nothing).collect()

    try:
        yield {"spark_context": context}, partial(in_lists, run_list, SparkEngine, workers)
    finally:
        context.stop()


@contextlib.contextmanager
def beam(workers):
    import apache_beam
    from apache_beam.options.pipeline_options import PipelineOptions
    from cubed.runtime.executors.beam import BeamEngine

    options = {
        "runner": "FnApiRunner",
        "direct_running_mode": "multi_processing",
        "direct_num_workers": workers,
    }

    def run_list(messages):
        pipeline = apache_beam.Pipeline(options=PipelineOptions.from_dictionary(options))
        calls = pipeline | apache_beam.Create(messages) | apache_beam.Reshuffle()
        calls | apache_beam.Map(nothing)
        pipeline.run().wait_until_finish()

    yield {"options": options}, partial(in_lists, run_list, BeamEngine, workers)


@contextlib.contextmanager
def prefect_server():
    """Of this machine, and for this process."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with tempfile.TemporaryDirectory() as home:
        url = f"http://127.0.0.1:{port}/api"
        os.environ |= {"PREFECT_HOME": home, "PREFECT_API_URL": url}
        os.environ |= {"PREFECT_LOGGING_LEVEL": "CRITICAL", "DO_NOT_TRACK": "1"}
        os.environ |= {"PREFECT_SERVER_ANALYTICS_ENABLED": "false"}
        server = subprocess.Popen([sys.executable, "-m", "prefect", *command], **silent)
        try:
            while server.poll() is None:
                with contextlib.suppress(OSError):
                    urllib.request.urlopen(f"{url}/health", timeout=5).close()
                    break
                time.sleep(0.1)
            yield
        finally:
            server.terminate()
            server.wait()


@contextlib.contextmanager
def prefect(workers):
    with prefect_server():
        import prefect
        from cubed.runtime.executors.prefect import PrefectEngine
        from prefect.task_runners import ThreadPoolTaskRunner

        options = {"persist_result": False}
        task = prefect.task(nothing, retries=0, cache_policy=None, **options)
        run = partial(one_by_one, task.submit, PrefectEngine.in_flight * workers)

        def run_all(calls):
            run(calls)

        yield {}, prefect.flow(run_all, task_runner=ThreadPoolTaskRunner(workers), **options)


@contextlib.contextmanager
def lithops(workers):
    import lithops

    config = {
        "lithops": {"backend": "localhost", "storage": "localhost"},
        "localhost": {"runtime": sys.executable},
    }
    options = {"config": config, "log_level": "ERROR"}

    def empty(calls):
        with lithops.FunctionExecutor(**options) as executor:
            executor.map(nothing, [(MESSAGE,)] * calls, include_modules=None)
            executor.get_result(show_progressbar=False)
            executor.clean(clean_cloudobjects=False)

    yield options, empty


ENGINES = {f.__name__: f for f in (dask, ray, futures, spark, beam, prefect, lithops)}


def one_by_one_of(kind, options):
    """An executor whose calls have one task each, as if they cost nothing."""
    made = type(create_executor(kind, options))
    return type(made.__name__, (made,), {"name": f"{kind}-calls", "overhead": 0.0})(**options)


def compute(calls, spec, out, **options):
    x = cubed.random.random((10 * calls,), chunks=10, spec=spec)
    y = cubed.map_blocks(add, x, dtype="f8")
    assert y.plan().num_tasks == calls
    cubed.store([y], [str(out / "y")], **options)


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


def make_inputs(folder, rows, spec):
    for name in "uv" if rows else "":
        if not (folder / name).exists():
            x = cubed.random.random((rows, 1000, 1000), chunks=(10, 500, 1000), spec=spec)
            cubed.to_zarr(x, str(folder / name))
            os.sync()  # what is written behind the first round would slow it down


def read_all(folder):
    """Files that nobody has read for a while may have left the page cache: nobody is the first."""
    for path in folder.glob("*/c/**/*"):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass


class Times:
    """Seconds by what took them; results are removed."""

    def __init__(self, out, seconds=None):
        self.out, self.seconds = out, {} if seconds is None else seconds

    def of(self, what, function, *args, reads=None, **options):
        if reads:
            read_all(reads)
        start = time.perf_counter()
        function(*args, **options)
        self.seconds.setdefault(what, []).append(time.perf_counter() - start)
        shutil.rmtree(self.out, ignore_errors=True)


@contextlib.contextmanager
def in_memory(work):
    """Where small files are written in even times: disks take a tenth of a millisecond for one, or
    five."""
    shm = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shm if os.access(shm, os.W_OK) else work) as folder:
        yield Path(folder)


def run_engine(kind, calls, rows, workers, rounds, work, times):
    inputs, out = work / "inputs", times.out
    with ENGINES[kind](workers) as (given, empty), in_memory(work) as memory:
        options = {"executor_name": kind, "executor_options": {**given, "max_workers": workers}}
        spec = cubed.Spec(str(work / "work"), allowed_mem=MEM, **options)
        small = cubed.Spec(str(memory / "work"), allowed_mem=MEM, **options)
        of_calls, of_means = (
            Times(memory / "out", times.seconds).of,
            partial(times.of, reads=inputs),
        )
        each = one_by_one_of(kind, options["executor_options"])
        threads = {"executor": "threads", "max_workers": workers}
        empty(2 * workers)
        compute(2 * workers, small, memory / "first", executor=each)
        for _ in range(rounds):
            of_calls("empty", empty, calls)
            of_calls("calls", compute, calls, small, memory / "out", executor=each)
            of_calls("work", compute, calls, small, memory / "out", **threads)
            if not rows:
                continue
            u, v = (cubed.from_zarr(str(inputs / name), spec=spec) for name in "uv")
            of_means("means", means, u, v, out)
            of_means("processes", means, u, v, out, executor="processes", max_workers=workers)
            if kind == "dask":
                of_means("dask array", means_of_dask, inputs, out, given["client"])


def run_mpi(workers, rounds, work, times, command):
    """Of the machine's own MPI; from a text to results, with what starts and ends in between."""
    program, lib, plan = work / "cubed-mpi", command.parent, work / "plan.cubed"
    source = [ROOT / "mpi/cubed_mpi.c", f"-I{ROOT / 'include'}"]
    library = [f"-L{lib}", "-lcubed", f"-Wl,-rpath,{lib}"]
    work.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mpicc", "-std=gnu11", "-O2", *source, *library, "-o", program], check=True)
    nothing = work / "nothing"
    subprocess.run(["mpicc", "-xc", "-", "-o", nothing], input=NOTHING, text=True, check=True)
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    env = {**os.environ, **root, "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    run = partial(subprocess.run, check=True, env=env, stdout=subprocess.DEVNULL)
    given = [x for n in "uv" for x in ("--in", f"{n}={work / 'inputs' / n}")]
    text = [command, "eval", MEANS, *given, "--out", times.out, "--work-dir", work / "work"]
    text += ["--allowed-mem", str(MEM), "--max-workers", str(workers)]

    def by_ranks():
        run([*text, "--save-plan", plan], stderr=subprocess.DEVNULL)
        run(["mpirun", "-n", str(workers + 1), program, plan], stderr=subprocess.DEVNULL)

    for _ in range(rounds):
        times.of("means", by_ranks, reads=work / "inputs")
        times.of("start", run, ["mpirun", "-n", str(workers + 1), nothing])
        processes = [*text, "--executor", "processes", "--progress", "none"]
        times.of("processes", run, processes, reads=work / "inputs")


def main(kind, calls, rows, workers, rounds, work, command):
    calls, rows, workers, rounds = map(int, (calls, rows, workers, rounds))
    work = Path(work).resolve()
    here = cubed.Spec(str(work / "work"), allowed_mem=MEM, zarr_compressor=None)
    make_inputs(work / "inputs", rows, here)
    times = Times(work / "out")
    if kind == "mpi":
        run_mpi(workers, rounds, work, times, Path(command).resolve())
    else:
        run_engine(kind, calls, rows, workers, rounds, work, times)
    print(json.dumps(times.seconds))


if __name__ == "__main__":
    main(*sys.argv[1:])
