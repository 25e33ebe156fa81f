"""Python objects that a computation keeps, and for how long."""

import gc
import subprocess
import sys
import textwrap
import weakref

import cubed
import numpy as np
import pytest
from cubed.runtime import _call

MB = 10**6


class Source:
    shape, dtype = (6,), np.dtype(float)

    def __init__(self):
        self.made = []

    def __getitem__(self, key):
        return np.arange(6.0)[key]


def lazily(x):
    return x


CYCLES = {
    "the array": lambda x: [x],
    "what is made of it": lambda x: [x[1:] * 2 + x[:-1]],
    "both": lambda x: [x, x + 1, cubed.concat([x, x])],
    "a chain": lambda x: [chain(x)],
    "its sort": lambda x: [cubed.array_api.sort(x), *cubed.array_api.unstack(x)],
    "a plan": lambda x: [(x + 1).plan(), x.plan()._plan],
    "a function's result": lambda x: [cubed.map_blocks(lazily, x, dtype=float)],
    "with another": lambda x: [x + cubed.from_array(Source())],
}


def chain(x):
    for i in range(300):
        x = x + x[::-1] if i % 7 else x * 2
    return x


@pytest.mark.parametrize("name", CYCLES)
@pytest.mark.parametrize("computes", [False, True])
def test_cycles_through_sources_are_collected(name, computes):
    source = Source()
    x = cubed.from_array(source, chunks=2)
    source.made = CYCLES[name](x)
    if computes:
        for y in source.made:
            if isinstance(y, cubed.Array):
                y.compute()
    there = weakref.ref(source)
    del source, x
    y = None
    gc.collect()
    assert there() is None, gc.get_referrers(there())


def test_sources_live_as_long_as_arrays_and_plans_over_them():
    def derived():
        x = cubed.from_array(Source(), chunks=2)
        y = cubed.from_array(Source(), chunks=3)
        return cubed.concat([x[::-1][1:], y * 2])

    kept = [derived() for _ in range(3)]
    plan = (derived() + 1).plan()
    views = [k[2:][::-1] for k in kept]
    del kept
    gc.collect()
    for v in views:
        np.testing.assert_array_equal(v.compute()[::-1], [2, 1, 0, 0, 2, 4, 6, 8, 10])
    out = np.empty(11)
    plan.execute([out])
    assert out[-1] == 11


def test_functions_are_forgotten_with_their_run():
    big = np.ones(10**6)
    for k in range(3):
        x = cubed.map_blocks(lambda b, k=k: b + big[: len(b)] * k, cubed.ones(4), dtype=float)
        assert x.compute().tolist() == [1.0 + k] * 4
        assert not _call._loaded
    with pytest.raises(ZeroDivisionError):
        cubed.map_blocks(lambda b: 1 / 0, cubed.ones(4), dtype=float).compute()
    assert not _call._loaded


def test_functions_are_counted():
    """Once in the arrays, once in the plan, and once where it runs; of all functions together."""
    big = np.ones(10**6)
    spec = cubed.Spec(allowed_mem="400MB", reserved_mem="4MB")
    x = cubed.ones(4, spec=spec)
    before = x.plan().max_projected_mem
    for k in range(1, 4):
        x = cubed.map_blocks(lambda b, k=k: b + big[0] * k, x, dtype=float)
        taken = x.plan().max_projected_mem - before
        assert 24 * MB * k - 6 * MB < taken < 24 * MB * k + 2 * MB
    spec = cubed.Spec(allowed_mem="20MB", reserved_mem="4MB")
    tight = cubed.map_blocks(lambda b: b + big[0], cubed.ones(4, spec=spec), dtype=float)
    with pytest.raises(MemoryError):
        tight.compute()


def test_memory_of_many_runs(tmp_path):
    """With an argument of 20 MB each: the process holds it as often as one run needs it."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
            import resource, cubed, numpy as np

            def most():
                return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000

            def function(block, big):
                return block + big[0]

            def run(k):
                big = np.full(2_500_000, float(k))
                x = cubed.map_blocks(function, cubed.ones(4), big, dtype=float)
                assert x.compute()[0] == 1 + k

            run(0)
            before = most()
            for k in range(1, 9):
                run(k)
            print(most() - before)
            """)
    )
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=100)
    assert float(done.stdout) < 30, done.stderr
