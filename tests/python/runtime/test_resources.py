"""Resources that computations leave behind, and modules that small ones do not load: each in a
separate process.
"""

import os
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

COMMON = """
import gc, os, pickle, sys
import numpy as np
import cubed

a = np.arange(12.0).reshape(3, 4)
spec = cubed.Spec(allowed_mem=10_000_010, reserved_mem=10_000_000)

def raises(error, f):
    try:
        f()
    except error:
        return
    raise AssertionError(f"no {error.__name__}")

def fail(block):
    raise KeyError("in a block")
"""

CALLS = {
    "a sum": "(x + 1).sum().compute()",
    "one thread": "cubed.sort(x, axis=0).compute(executor='single-threaded')",
    "a mask": "x[x > 3].compute()",
    "a function": "cubed.map_blocks(np.negative, x, dtype=x.dtype).compute()",
    "a fault in a function": ("raises(KeyError, cubed.map_blocks(fail, x, dtype=x.dtype).compute)"),
    "a fault in a task": "raises(ValueError, cubed.linalg.inv(cubed.zeros((2, 2))).compute)",
    "a plan that is refused": (
        "raises(MemoryError, (cubed.from_array(a, spec=spec) @ a.T).compute)"
    ),
    "pickling": "pickle.loads(pickle.dumps(x * 2)).compute()",
    "an assignment": "y = x + 0; y[1] = 3; y.compute()",
    "a store": "cubed.to_zarr(x, sys.argv[1]); cubed.from_zarr(sys.argv[1]).compute()",
    "groups": "cubed.groupby_reduce(x, np.arange(4) % 2, func='sum')[0].compute()",
    "a plan": "p = x.plan(); p.save(); repr(p); x._repr_html_()",
}


def python(code, *args, before=()):
    done = subprocess.run(
        [*before, sys.executable, "-c", COMMON + textwrap.dedent(code), *map(str, args)],
        capture_output=True,
        text=True,
        timeout=120,
        # Threads come and go, and would take their heaps in turn.
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_left_behind(call, tmp_path):
    """Memory, open files and threads are the same after every 15 calls."""
    out = python(
        f"""
        def once():
            x = cubed.from_array(a, chunks=2)
            {CALLS[call]}

        def state():
            gc.collect()
            status = open("/proc/self/status").read()
            rss = int(status.split("VmRSS:")[1].split()[0])
            return rss, len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))

        once()
        gc.collect()
        gc.freeze()  # collections look at what calls leave
        for _ in range(8):
            for _ in range(15):
                once()
                gc.collect()  # exceptions are in cycles
            print(*state())
        """,
        tmp_path / "x",
    )
    rss, files, threads = np.array([line.split() for line in out.splitlines()], int).T
    assert len(set(files)) == len(set(threads)) == 1
    # Caches fill, and the heap grows now and then, but not each time.
    assert np.median(np.diff(rss)) < 20, f"more than a kB for each call: {rss} kB"


def test_a_small_computation_touches_no_file(tmp_path):
    if not shutil.which("strace"):
        pytest.skip("strace is not installed: what is opened was not seen")
    trace = tmp_path / "trace"
    watch = [
        "strace",
        "-f",
        "-qq",
        "-e",
        "trace=%file,read,write,pread64,pwrite64",
        "-o",
        str(trace),
    ]
    if subprocess.run([*watch, "true"], capture_output=True).returncode != 0:
        pytest.skip("strace may not trace here: what is opened was not seen")
    python(
        """
        def once():
            return float((cubed.from_array(a, chunks=2) + 1).sum().compute())

        once()
        os.path.exists("/begin")
        for _ in range(3):
            once()
        os.path.exists("/end")
        """,
        before=watch,
    )
    lines = trace.read_text().splitlines()
    begin, end = (
        next(i for i, line in enumerate(lines) if f'"{name}"' in line)
        for name in ("/begin", "/end")
    )
    assert lines[begin + 1 : end] == []
