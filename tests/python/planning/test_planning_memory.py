"""The memory of planning does not depend on the lengths of axes: see planning_calls.py."""

import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tracemalloc

import cubed
import cubed.array_api as xp
import cubed.random
import numpy as np
import pytest
from conftest import TESTS_PATH, cases

import zarr

SCRIPT = pathlib.Path(__file__).parents[1] / "planning_calls.py"
#: Bytes of Python's allocations of a call, beside the extents of an array's 50,000 chunks.
MOST = 16 * 2**20


def test_nothing_is_as_long_as_an_axis():
    done = subprocess.run(
        [sys.executable, SCRIPT], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    calls = found["calls"]
    large = {k: c for k, c in calls.items() if c["peak"] > MOST}
    assert not large
    # What NumPy cannot allocate says so; the engine says of what there is too much.
    asked = {k: c["why"] for k, c in calls.items() if "Unable to allocate" in (c["why"] or "")}
    assert not asked
    assert found["grown"] < 100 * 2**20
    planned = {k.partition("(")[0] for k, c in calls.items() if c["why"] is None}
    assert len(planned) > 180
    named = {k: c["why"] for k, c in calls.items() if "(" not in k and c["why"]}
    refused = {k for k, why in named.items() if why.startswith("MemoryError: stage")}
    assert set(named) == refused, named


def test_memory_of_numpy_is_not_copied():
    """Whatever its strides are."""
    rng = random.Random(1)
    base = np.arange(343.0).reshape(7, 7, 7)
    parts = [slice(None), slice(None, None, -1), slice(1, None, 2), slice(5, None, -2), 3]
    for _ in range(cases(40)):
        a = base.transpose(rng.sample(range(3), 3))[tuple(rng.choice(parts) for _ in range(3))]
        if rng.random() < 0.3:
            a = np.broadcast_to(a, (3, *a.shape))
        x = cubed.from_array(a, chunks=tuple(rng.randrange(1, 5) for _ in a.shape))
        np.testing.assert_array_equal(x.compute(), a)
        if a.ndim:
            np.testing.assert_array_equal((x + x[..., ::-1]).compute(), a + a[..., ::-1])
    wide = np.broadcast_to(np.arange(3.0)[:, None], (3, 10**9))
    tracemalloc.start()
    x = cubed.from_array(wide, chunks=(3, 10**6))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10**5 and float(cubed.array_api.sum(x[:, -2:])) == 6


def test_what_arrays_say_of_themselves():
    x = cubed.zeros((10**12, 7), chunks=(1000, 3))
    tracemalloc.start()
    text = repr(x) + x._repr_html_() + str(x.numblocks)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert "(1000, 3)" in text and x.npartitions == 3 * 10**9 and peak < 10**6
    for n in range(9):
        for start in range(n + 1):
            y = cubed.zeros(n, chunks=3)[start:]
            assert y.chunksize == (max(y.chunks[0]),) and y.numblocks == (len(y.chunks[0]),)


def test_lines_that_no_task_holds():
    x = cubed.zeros((3, 10**12), chunks=(1, 10**6))
    with pytest.raises(MemoryError, match="a line of axis 1 has 8000000000000 bytes"):
        cubed.apply_along_axis(np.sum, 1, x)


@pytest.mark.parametrize("itemsize", [0, -8, 4, 2**62, 2**80, float("nan"), None])
def test_readers_of_elements_of_another_size(itemsize):
    class Reader:
        factor, extra = 2.0, 0.0

        def __init__(self):
            self.itemsize = itemsize

    with pytest.raises((ValueError, TypeError, OverflowError)):
        cubed._core.from_reader(Reader(), "float64", (3,), (2,))


@pytest.mark.parametrize("chunk", [500, 1000, 2000, 5000, 10000, 20000])
@pytest.mark.parametrize("mem", ["120MB", "500MB", "2GB"])
def test_metadata_of_many_tasks(chunk, mem):
    """It does not grow with them: a product of 10 million rows has hundreds of millions."""
    spec = cubed.Spec(allowed_mem=mem, reserved_mem=0)
    x = cubed.random.random((10**7, 10**7), chunks=(chunk, chunk), spec=spec)
    plan = cubed.plan(cubed.array_api.matmul(x, x.T))
    # Beyond the 4 MiB that any process has room for.
    assert plan.num_tasks > 10**6 and plan.metadata_mem == 0


@pytest.mark.parametrize("codec", ["raw", "zstd"])
@pytest.mark.parametrize("chunk", [2000, 4000, 5000, 8000, 10000])
@pytest.mark.parametrize("mem", [500_000_000, 2_000_000_000])
def test_products_of_large_chunks(tmp_path, chunk, mem, codec):
    """Of inputs that are stored in the blocks of a product so many are kept that there is room for
    them; and where chunks do not fit, what is said to be enough is."""
    compressors = None if codec == "raw" else "auto"
    grids = {"shape": (10**7, 10**7), "chunks": (chunk, chunk), "dtype": "f8"}

    def plan(mem):
        spec = cubed.Spec(tmp_path, allowed_mem=mem, reserved_mem="16MB")
        a, b = (cubed.from_zarr(str(tmp_path / name), spec=spec) for name in "ab")
        return cubed.plan(cubed.array_api.matmul(a, b))

    for name in "ab":
        zarr.create_array(tmp_path / name, **grids, compressors=compressors)
    try:
        made = plan(mem)
    except MemoryError as error:
        found = re.search(r"allow at least (\d+) bytes", str(error))
        assert int(found[1]) < mem + 5 * 8 * chunk**2
        made = plan(int(found[1]))
    assert made.metadata_mem < made.allowed_mem * 0.7


def test_metadata_of_what_many_tasks_read():
    """Every task that merges runs waits for all ranges: 448 GB of pairs."""
    spec = cubed.Spec(allowed_mem="60MB", reserved_mem="50MB")
    plan = cubed.plan(cubed.array_api.sort(cubed.zeros(10**9, chunks=10**5, spec=spec)))
    assert plan.num_tasks > 10**4 and plan.metadata_mem == 0


SIZES = {
    "products": (2000, lambda x, n: [_chain(lambda y: xp.matmul(y, x), x, n)]),
    "products of one": (1000, lambda x, n: [xp.matmul(x, x + i) for i in range(n)]),
    "elementwise": (10_000, lambda x, n: [_chain(lambda y: y + 1.0, x, n)]),
    "reductions": (2000, lambda x, n: [xp.sum(x + i) for i in range(n)]),
    "concatenation": (5000, lambda x, n: [xp.concat([_random() for _ in range(n)])]),
    "sorts": (1000, lambda x, n: [_chain(xp.sort, x, n)]),
    "functions": (1000, lambda x, n: [_chain(_sines, x, n)]),
}
#: What a plan may take while it is made, beyond the bytes that it says.
BEYOND = 6 * 2**20


def _random():
    return cubed.random.random((10, 400), chunks=(5, 400), spec=LARGE)


def _chain(step, x, n):
    for _ in range(n):
        x = step(x)
    return x


def _sines(x):
    return cubed.map_blocks(np.sin, x, dtype="f8")


LARGE = cubed.Spec(allowed_mem="2GB", reserved_mem="16MB")


def _grown(name):
    """Peak of this process while it makes arrays and a plan of them, and what the plan says."""
    x = cubed.random.random((400, 400), chunks=(100, 100), spec=LARGE)
    n, arrays = SIZES[name]
    cubed.plan(*arrays(x, 10))  # what is imported then
    pathlib.Path("/proc/self/clear_refs").write_text("5")
    before = _peak()
    plan = cubed.plan(*arrays(x, n))
    return _peak() - before, plan.metadata_mem + UNCOUNTED


#: Bytes of every plan that `reserved_mem` covers.
UNCOUNTED = 4 * 2**20


def _peak():
    text = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+)", text)[1]) * 1024


@pytest.mark.parametrize("name", SIZES)
def test_planning_takes_what_the_plan_says(name):
    """Also while it is made: arrays, trials and the plan. In a process of its own."""
    script = f"import test_planning_memory as t; print(*t._grown({name!r}))"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": TESTS_PATH}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "Permission denied" in done.stderr:
        pytest.skip("the system does not let a process reset its peak of memory")
    assert done.returncode == 0, done.stderr
    grown, said = map(int, done.stdout.split())
    assert grown <= said + BEYOND
    if name == "products":  # whose operations are alike, and shared
        assert grown <= 20 * 2**20


def _labels(n):
    return np.random.default_rng(1).integers(0, 300, n)


def _line(n):
    return cubed.random.random((n,), chunks=(n // 40,), spec=LARGE)


#: Copies that the package makes of a user's values in memory: bytes of an element, values, and a
#: call.
MADE = {
    "labels": (2, _labels, lambda x, by: cubed.groupby_reduce(x, by, func="mean")[0]),
    "labels in bins": (
        2,
        _labels,
        lambda x, by: cubed.groupby_reduce(
            x, by, func="mean", expected_groups=np.arange(200), isbin=True
        )[0],
    ),
    "labels of medians": (2, _labels, lambda x, by: cubed.groupby_reduce(x, by, func="median")[0]),
    "positions from the end": (8, lambda n: -1 - _labels(n), lambda x, at: x[at]),
    "positions of take": (
        8,
        lambda n: -1 - _labels(n),
        lambda x, at: cubed.take(x, at, mode="wrap"),
    ),
    "a list": (8, lambda n: _labels(n).tolist(), lambda x, v: x + xp.asarray(v, spec=LARGE)),
    "another type": (
        8,
        lambda n: _labels(n).astype("i4"),
        lambda x, v: x + xp.asarray(v, dtype=xp.int64, spec=LARGE),
    ),
    "another byte order": (
        8,
        lambda n: _labels(n).astype(">i8"),
        lambda x, v: x + cubed.from_array(v, spec=LARGE),
    ),
}


@pytest.mark.parametrize("name", MADE)
def test_copies_of_what_is_in_memory_count(name):
    size, values, call = MADE[name]
    n = 4_000_000
    grown = [cubed.plan(call(_line(k), values(k))).metadata_mem for k in (4000, n)]
    assert grown[0] == 0
    assert n * size < grown[1] + UNCOUNTED < n * size + 2**21


def test_memory_of_a_user_does_not_count():
    n = 4_000_000
    at = _labels(n)
    x = cubed.from_array(at, chunks=n // 40, spec=LARGE)
    assert cubed.plan(x + at, _line(n)[at], cubed.take(x, at)).metadata_mem == 0
