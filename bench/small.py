"""Measures small calls of NumPy, this package and Dask, and imports. Dask must be installed.

small.py [ROUNDS]

Prints a table of microseconds of processor time per call, the minimum of ROUNDS rounds (5). Rounds
of the libraries alternate. Arrays have 4 x 4 float64 in four chunks; arrays that are computed have
3 elements. Imports are measured in new processes, and do not include the start of Python.
"""

import resource
import subprocess
import sys
import time

import cubed
import dask.array
import numpy as np

CALLS = 200
IMPORTS = {
    "NumPy": "import numpy",
    "Cubed": "import cubed",
    "Cubed after NumPy": "import numpy, cubed",
    "Dask": "import dask.array",
}


def libraries():
    """By library: two arrays in chunks, one of 3 elements, and the function that computes."""
    x, tiny = np.ones((4, 4)), np.arange(3.0)
    options = {"executor_name": "single-threaded", "allowed_mem": "1GB", "reserved_mem": "300MB"}
    spec = cubed.Spec(**options)
    lazy = [cubed.from_array(x, chunks=2, spec=spec) for _ in range(2)]
    blocks = [dask.array.from_array(x, chunks=2) for _ in range(2)]
    return {
        "NumPy": (x, x.copy(), tiny, lambda y: y),
        "Cubed": (*lazy, cubed.from_array(tiny, spec=spec), lambda y: y.compute()),
        "Dask": (*blocks, dask.array.from_array(tiny), lambda y: y.compute(scheduler="sync")),
    }


def calls(x, y, tiny, compute):
    total = tiny + 1
    return {
        "x + y": lambda: x + y,
        "x.mean(axis=0)": lambda: x.mean(axis=0),
        "x[1:, ::2]": lambda: x[1:, ::2],
        "compute() of 3 elements": lambda: compute(total),
        "(x + 1).compute() of 3 elements": lambda: compute(tiny + 1),
    }


def per_call(call, repeats):
    before = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - before) / repeats


def of_processes(code):
    """Processor time of a fresh process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(rounds="5"):
    rounds = int(rounds)
    every = {name: calls(*parts) for name, parts in libraries().items()}
    print(f"{'':34}" + "".join(f"{name:>12}" for name in every))
    for row in next(iter(every.values())):
        least = {name: float("inf") for name in every}
        for _ in range(rounds):
            for name, functions in every.items():
                least[name] = min(least[name], per_call(functions[row], CALLS))
        print(f"{row:34}" + "".join(f"{1e6 * t:9.1f} us" for t in least.values()))
    times = {name: float("inf") for name in ("", *IMPORTS)}
    for _ in range(2 * rounds):
        for name in times:
            times[name] = min(times[name], of_processes(IMPORTS.get(name, "pass")))
    for name, code in IMPORTS.items():
        print(f"{code:34}{1e3 * (times[name] - times['']):9.1f} ms  {name}")


if __name__ == "__main__":
    main(*sys.argv[1:])
