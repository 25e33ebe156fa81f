"""A run keeps little memory for each task. It is part of reserved_mem, which does not grow."""

import subprocess
import sys

TASKS = 400_000

PROGRAM = f"""
import resource
import cubed, cubed.array_api as xp

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

spec = cubed.Spec(allowed_mem="60MB", reserved_mem="50MB")
def compute(n):
    x = xp.ones((n,), chunks=(1,), dtype="int8", spec=spec)
    assert x.plan().num_tasks == n
    assert x.compute(executor="single-threaded").sum() == n
compute(10)
before = peak()
compute({TASKS})
print(peak() - before)
"""


def test_memory_of_tasks():
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    # Their results have a byte each.
    assert int(done.stdout) < 16 * TASKS
