"""Compares the cost of 100,000 small tasks on a pool of processes with the pool's own calls.

small_tasks.py [TASKS [WORKERS [ROUNDS]]]

Each round has two parts: TASKS calls of an empty function by concurrent.futures ("calls"), and a
plan of TASKS native tasks on the executor "futures", each of which stores a chunk of 10 numbers
("tasks").
Prints the seconds of each round, microseconds for each call and task, and the ratio of the medians.
"""

import os
import statistics
import sys
from functools import partial
from pathlib import Path

import cubed
import engines

TASKS, WORKERS, ROUNDS = 100_000, 2, 3


def compute(tasks, spec, out):
    x = cubed.random.random((10 * tasks,), chunks=10, spec=spec)
    assert x.plan().num_tasks == tasks
    cubed.store([x], [str(out / "x")])


def measure(tasks, workers, rounds):
    with engines.futures(workers) as (given, calls), engines.in_memory(Path.cwd()) as memory:
        options = {**given, "max_workers": workers}
        spec = cubed.Spec(
            str(memory / "work"), allowed_mem=engines.MEM, executor_name="futures",
            executor_options=options,
        )  # fmt: skip
        times = engines.Times(memory / "out")
        run = partial(compute, spec=spec, out=memory / "out")
        calls(2 * workers)  # starts the processes
        engines.Times(memory / "out").of("first", run, 2 * workers)
        for _ in range(rounds):
            times.of("calls", calls, tasks)
            times.of("tasks", run, tasks)
    return times.seconds


def main(tasks=TASKS, workers=WORKERS, rounds=ROUNDS):
    tasks, workers, rounds = int(tasks), int(workers), int(rounds)
    print(f"{tasks:,} tasks, {workers} workers, load {os.getloadavg()[0]:.1f}")
    seconds = measure(tasks, workers, rounds)
    median = {what: statistics.median(each) for what, each in seconds.items()}
    for what, each in seconds.items():
        rounded = ", ".join(f"{s:.2f}" for s in each)
        print(f"{what}: {rounded} s, {median[what] / tasks * 1e6:.1f} µs each")
    print(f"ratio: {median['tasks'] / median['calls']:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
