"""Plans every public function over huge arrays, in a process with little memory.

Prints as JSON, by the call's name, how many bytes of Python's it took at a time, and why it failed.
"""

from __future__ import annotations

import inspect
import json
import pathlib
import resource
import sys
import tracemalloc
import warnings

import cubed
import cubed.array_api as xp
import cubed.random
import numpy as np

N, ROWS = 10**12, 10**6
CHUNK, TILE = 2 * 10**7, (4000, 5000)
SPEC = cubed.Spec(allowed_mem="2GB", reserved_mem="100MB")
#: What a process that plans may have beside its libraries.
MOST = 600 * 2**20

FEW = np.arange(3)
#: Take numbers, or give an array for each element along an axis.
ONE_BY_ONE = {"unstack", "broadcast_shapes"}


def arrays():
    """Long, square, and of integers; names of kinds that functions want."""
    return {
        "line": cubed.zeros(N, chunks=CHUNK, spec=SPEC),
        "random": cubed.random.random(N, chunks=CHUNK, spec=SPEC),
        "square": cubed.zeros((ROWS, ROWS), chunks=TILE, spec=SPEC),
        "ints": cubed.zeros(N, chunks=CHUNK, dtype=np.int64, spec=SPEC),
        "masks": cubed.zeros(N, chunks=CHUNK, dtype=bool, spec=SPEC),
        "times": cubed.zeros(N, chunks=CHUNK, dtype=np.int64, spec=SPEC).astype("M8[s]"),
    }


def same(block):
    return block


def assigned(x):
    y = x[:]
    y[5:10] = 3
    return y


def calls(a):
    """Those that need more than arrays and an axis."""
    x, m, i = a["line"], a["square"], a["ints"]
    table = {}
    modes = "constant edge reflect symmetric wrap linear_ramp maximum mean minimum"
    for mode in modes.split():
        table[f"pad {mode}"] = lambda mode=mode: cubed.pad(x, (5, 10**6), mode=mode)
        table[f"pad {mode} of rows"] = lambda mode=mode: cubed.pad(m, ((3, 2), (0, 4)), mode=mode)
    for b in ("none", "reflect", "periodic", "nearest", 0):
        table[f"map_overlap {b}"] = lambda b=b: cubed.map_overlap(
            same, x, dtype=float, depth=3, boundary=b, trim=True
        )
    for key, text in {
        "slice": np.s_[5:-7:3], "reverse": np.s_[::-1], "few": FEW, "none": np.s_[None, 5],
    }.items():  # fmt: skip
        table[f"index {key}"] = lambda text=text: x[text]
    table |= {
        "index rows": lambda: m[FEW, 5:],
        "index lazily": lambda: x[i],
        "index pairs": lambda: m[FEW, FEW],
        "take": lambda: xp.take(x, i, axis=0),
        "arange": lambda: xp.arange(N, spec=SPEC),
        "arange of floats": lambda: xp.arange(0.5, N, 2.0, spec=SPEC),
        "linspace": lambda: xp.linspace(0, 1, N, spec=SPEC),
        "eye": lambda: xp.eye(ROWS, chunks=1000, spec=SPEC),
        "full": lambda: xp.full(N, 3, spec=SPEC),
        "meshgrid": lambda: xp.meshgrid(xp.arange(ROWS), xp.arange(ROWS)),
        "roll": lambda: xp.roll(x, 5),
        "repeat": lambda: xp.repeat(x, 3),
        "tile": lambda: xp.tile(x, (3,)),
        "tile of rows": lambda: xp.tile(m, (10**4, 1)),
        "reshape": lambda: xp.reshape(x, (ROWS, ROWS)),
        "concat": lambda: xp.concat([x, x]),
        "where": lambda: xp.where(a["masks"], x, i),
        "expand": lambda: xp.broadcast_to(x, (3, N)),
        "rechunk": lambda: x.rechunk(10**8),
        "matmul": lambda: m @ m,
        "tensordot": lambda: xp.tensordot(m, m, axes=1),
        "outer": lambda: xp.linalg.outer(xp.zeros(ROWS, spec=SPEC), xp.zeros(ROWS, spec=SPEC)),
        "histogram": lambda: xp.histogram(x, bins=10, range=(0, 1)),
        "quantile": lambda: xp.quantile(m, 0.5, axis=0),
        "map_blocks": lambda: cubed.map_blocks(same, x, dtype=float),
        "apply_gufunc": lambda: cubed.apply_gufunc(
            lambda b: b.sum(-1), "(i)->()", m.rechunk((10, ROWS)), output_dtypes=float
        ),
        "groupby lazily": lambda: cubed.groupby_reduce(
            x, i, func="mean", expected_groups=np.arange(5)
        ),
        "groupby apart": lambda: cubed.groupby_reduce(
            m, xp.zeros((ROWS, ROWS), chunks=TILE, dtype=np.int64, spec=SPEC), func="sum",
            expected_groups=np.arange(2), axis=1,
        ),
        "fft": lambda: xp.fft.fft(m.rechunk((10, ROWS)), axis=1),
        "fftfreq": lambda: xp.fft.fftfreq(N),
        "searchsorted": lambda: xp.searchsorted(xp.arange(10), i),
        "setitem": lambda: assigned(x),
    }  # fmt: skip
    return table


def guesses(name, function, a):
    """Ways to call a function with arrays, of which some are wrong."""
    if name.rpartition(".")[2] in ONE_BY_ONE:
        return {}
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
    out = {}
    several = next(iter(parameters), "") == "arrays"
    for kind in ("line", "square"):
        x = a[kind]
        if several:
            out[f"{name}([{kind}, {kind}])"] = lambda x=x: function([x, x])
            continue
        out[f"{name}({kind})"] = lambda x=x: function(x)
        if not set(list(parameters)[1:2]) & {"shape", "axes", "axis"}:
            out[f"{name}({kind}, {kind})"] = lambda x=x: function(x, x)
        if "axis" in parameters:
            out[f"{name}({kind}, axis=0)"] = lambda x=x: function(x, axis=0)
    return out


def plan(result):
    """What there is to compute of it."""
    results = result if isinstance(result, (tuple, list)) else (result,)
    lazy = [r for r in results if isinstance(r, cubed.Array)]
    for r in lazy[:2]:
        r.plan()
    return len(lazy)


def tried(call):
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    why = None
    try:
        with cubed.raise_if_computes(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not plan(call()):
                why = "gives no lazy array"
    except Exception as e:
        why = f"{type(e).__name__}: {e}"[:200]
    return {"peak": tracemalloc.get_traced_memory()[1] - before, "why": why}


def main():
    wanted = sys.argv[1:]
    a = arrays()
    table = calls(a)
    for module in (xp, xp.fft):  # matrices that no task holds have long plans
        for name in module.__all__:
            function = getattr(module, name)
            if callable(function) and not isinstance(function, type):
                table |= guesses(f"{module.__name__.rpartition('.')[2]}.{name}", function, a)
    plan(xp.sum(a["line"]))  # what is imported then
    used = int(pathlib.Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MOST, used + MOST))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tracemalloc.start()
    if wanted:
        table = {name: call for name, call in table.items() if name.split("(")[0] in wanted}
    found = {name: tried(call) for name, call in table.items()}
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({"calls": found, "grown": grown * 1024}))


if __name__ == "__main__":
    main()
