"""Measures how much longer a range of tasks takes in a child process of a worker.

child_overhead.py [RANGES [ENGINE...]]

Measures RANGES ranges (1,000) of one task each on one worker of each ENGINE (futures, dask). A task
adds 1 to a chunk of 1 MB by a Python function. The worker's calls take turns: one range runs in the
child, as always, and the next one in the worker itself, without a limit of its memory. Prints
the median of each kind in milliseconds, and the median of the differences.

The executor "processes" has no child, because its processes limit their own memory. For comparison,
the bench prints the time of a range of a whole run by one process, and by one thread.
"""

import itertools
import os
import statistics
import sys
import tempfile
import time
from functools import partial
from importlib import import_module
from pathlib import Path

import cubed
import engines
from cubed.runtime import worker
from cubed.runtime.create import create_executor

RANGES, ENGINES = 1_000, ("futures", "dask")
CHUNK = 125_000  # float64: 1 MB
WARM = 20  # first ranges, which load libraries, are not counted
OUT = "CUBED_CHILD_OVERHEAD"

numbers = itertools.count()


def timed_work(message):
    """Runs a range, in the child or in this process, and records its kind and duration."""
    in_child = next(numbers) % 2 == 0
    worker._is_child = not in_child
    start = time.perf_counter()
    try:
        return worker.work(message)
    finally:
        seconds = time.perf_counter() - start
        worker._is_child = False
        with Path(os.environ[OUT]).open("a") as out:
            print(int(in_child), seconds, file=out)


def compute(ranges, spec, out, **options):
    x = cubed.random.random((CHUNK * ranges,), chunks=CHUNK, spec=spec)
    y = cubed.map_blocks(engines.add, x, dtype="f8")
    assert y.plan().num_tasks == ranges
    cubed.store([y], [str(out / "y")], **options)


def with_timed_work(executor):
    """An executor whose calls have one task each and record their duration."""

    def connect(self):
        engine = type(executor).connect(self)
        # The imported module, because Dask would copy functions of the main module with each call.
        engine.work = import_module("child_overhead").timed_work
        return engine

    made = type(executor)
    members = {"name": f"{executor.name}-timed", "overhead": 0.0, "connect": connect}
    return type(made.__name__, (made,), members)(**{"max_workers": 1, **executor.kwargs})


def measure_engine(kind, ranges, memory):
    """Returns the seconds of ranges in this process and in the child."""
    record = memory / kind
    os.environ[OUT] = str(record)
    with engines.ENGINES[kind](1) as (given, _):
        executor = with_timed_work(create_executor(kind, {**given, "max_workers": 1}))
        spec = cubed.Spec(str(memory / "work"), allowed_mem=engines.MEM)
        compute(2 * (ranges + WARM), spec, memory / "out", executor=executor)
    lines = [line.split() for line in record.read_text().splitlines()]
    return [[float(s) for which, s in lines if which == kind][WARM:] for kind in "01"]


def seconds_of_run(ranges, spec, out, executor):
    run = partial(compute, spec=spec, executor=executor, max_workers=1)
    times = engines.Times(out)
    for n in (WARM, ranges):
        times.of(n, run, n, out=out)
    return times.seconds[ranges][0]


def milliseconds(seconds):
    return f"{1e3 * seconds:.2f} ms"


def main(ranges=RANGES, *kinds):
    ranges = int(ranges)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        memory = Path(folder)
        for kind in kinds or ENGINES:
            own, child = measure_engine(kind, ranges, memory)
            medians = [statistics.median(each) for each in (own, child)]
            print(
                f"{kind}: {len(child)} ranges, {milliseconds(medians[1])} in the child,"
                f" {milliseconds(medians[0])} in the worker,"
                f" difference {milliseconds(medians[1] - medians[0])}"
            )
        spec = cubed.Spec(str(memory / "work"), allowed_mem=engines.MEM)
        for executor in ("processes", "threads"):
            seconds = seconds_of_run(ranges, spec, memory / "out", executor)
            print(f"{executor}: {milliseconds(seconds / ranges)} for each of {ranges} ranges")


if __name__ == "__main__":
    main(*sys.argv[1:])
