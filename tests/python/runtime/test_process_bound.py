"""Processes stay within allowed_mem if reserved_mem was measured: random plans."""

import contextlib
import json
import multiprocessing
import os
import random
import re
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import cubed
import cubed.array_api as xp
import cubed.ndimage
import numpy as np
import pytest
import scipy.linalg
from conftest import NIGHTLY, TESTS_PATH, cases
from test_worker_children import children_of, is_child

#: Of a process, which imports and measures for 2 s.
PLANS = 17
WORKERS = 2


def _shifted(block):
    return block + 1


STEPS = {
    "add": lambda x, r: x + r.random(),
    "root": lambda x, r: xp.sqrt(xp.abs(x)),
    "transpose": lambda x, r: x.T,
    "rechunk": lambda x, r: x.rechunk(tuple(r.choice((50, 100, 170, 400)) for _ in range(2))),
    "sort": lambda x, r: xp.sort(x, axis=r.randrange(2)),
    "product": lambda x, r: xp.matmul(x, x.T),
    "running": lambda x, r: xp.cumulative_sum(x, axis=r.randrange(2)),
    "centred": lambda x, r: x - xp.mean(x, axis=r.randrange(2), keepdims=True),
    "slice": lambda x, r: x[r.randrange(1, 50) :],
    "joined": lambda x, r: xp.concat([x, x * 2], axis=r.randrange(2)),
    "function": lambda x, r: cubed.map_blocks(_shifted, x, dtype=x.dtype),
    "filter": lambda x, r: cubed.ndimage.uniform_filter(x, size=3),
    "groups": lambda x, r: cubed.groupby_reduce(x, np.arange(x.shape[1]) % 7, func="mean")[0],
    "bins": lambda x, r: cubed.groupby_reduce(
        x,
        np.arange(x.shape[1]) % 90,
        func="sum",
        expected_groups=np.arange(80),
        isbin=True,
    )[0],
    "medians": lambda x, r: cubed.groupby_reduce(x, np.arange(x.shape[1]) % 90, func="median")[0],
    "positions": lambda x, r: x[np.arange(-1, -x.shape[0], -1)],
    "masked": lambda x, r: xp.where(np.arange(x.shape[1]) % 2 > 0, x, 0.0),
    "narrow": lambda x, r: x.astype("f4"),
}


def _plan(x, r):
    names = [r.choice(list(STEPS)) for _ in range(r.randrange(1, 5))]
    for name in names:
        if min(x.shape) > 60 and max(x.shape) < 2000:
            x = STEPS[name](x, r)
    return names, xp.sum(x)


def _memory(pid, name):
    """Bytes on a line of /proc, such as VmHWM; 0 for a process that has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        found = re.search(rf"{name}:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
        return int(found[1]) * 1024 if found else 0
    return 0


def _reset_peak(pid="self"):
    Path(f"/proc/{pid}/clear_refs").write_text("5")


class Threads(cubed.Callback):
    """Workers are threads of this process."""

    def __init__(self, stack, executor):
        self.executor, self.options = executor, {}

    def begin(self):
        _reset_peak()

    def peaks(self, workers):
        """Peaks of processes, for each worker."""
        return [_memory("self", "VmHWM") / workers]


class Processes(cubed.Callback):
    """Workers are processes of the run. Their peaks are looked at when tasks end, since processes
    end with the run."""

    def __init__(self, stack, executor):
        self.executor, self.options = executor, {}
        self._peaks = {}

    def begin(self):
        self._peaks = {}

    def on_task_end(self, event):
        for listed in Path("/proc/self/task").glob("*/children"):
            for pid in listed.read_text().split():
                # A process that has not executed its program yet has the memory of this one.
                with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                    if b"_worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
                        self._peaks[pid] = max(self._peaks.get(pid, 0), _memory(pid, "VmHWM"))

    def peaks(self, workers):
        assert len(self._peaks) <= workers, self._peaks
        return list(self._peaks.values())


def _load():
    """Imports what tasks import, so that all processes hold the same libraries."""
    import pandas  # late: workers need it

    return bool(pandas)


class Pool(cubed.Callback):
    """Workers are processes that outlive runs."""

    def __init__(self, stack, executor):
        if executor == "dask":
            import distributed  # late: only this one needs it

            cluster = distributed.LocalCluster(
                WORKERS, threads_per_worker=1, dashboard_address=None
            )
            client = stack.enter_context(distributed.Client(stack.enter_context(cluster)))
            self.options = {"client": client}
            client.run(_load)
            self._pids = list(client.run(os.getpid).values())
        else:
            spawned = multiprocessing.get_context("spawn")
            pool = stack.enter_context(ProcessPoolExecutor(WORKERS, spawned, _load))
            self.options = {"pool": pool}
            list(pool.map(abs, range(WORKERS)))  # starts them
            self._pids = list(pool._processes)
        self.executor = executor

    def _all(self):
        """The processes, and their children, which run functions."""
        children = [n for pid in self._pids for n in children_of(pid) if is_child(n)]
        return [*self._pids, *children]

    def begin(self):
        for pid in self._all():
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                _reset_peak(pid)

    def peaks(self, workers):
        return [_memory(pid, "VmHWM") for pid in self._all()]


KINDS = {
    "threads": Threads, "single-threaded": Threads, "processes": Processes, "futures": Pool,
    "dask": Pool,
}  # fmt: skip


def run_plans(executor, seed, n, folder):
    """Peaks that exceed what workers are allowed, the largest share of it, and how many plans ran,
    as JSON."""
    with contextlib.ExitStack() as stack:
        found = _run_plans(KINDS[executor](stack, executor), seed, n, folder)
    print(json.dumps(found))


def _run_plans(kind, seed, n, folder):
    r = random.Random(seed)
    executor = kind.executor
    source = f"{folder}/x.zarr"
    values = np.random.default_rng(seed).random((400, 400))
    cubed.to_zarr(cubed.from_array(values, chunks=(100, 100)), source, overwrite=True)
    how = kind.options | ({} if isinstance(kind, Pool) else {"max_workers": 1})
    for _ in range(2):  # pandas counts, in all processes of a pool
        small = cubed.ones((40, 300), chunks=(5, 300), spec=cubed.Spec(folder))
        STEPS["bins"](small, random).compute(executor=executor, **how)
    del values
    reserved = cubed.measure_reserved_mem(executor, folder, **how)
    over, ran, most, unseen = [], 0, 0.0, 0
    while ran < n:
        workers = 1 if executor == "single-threaded" else r.choice((1, WORKERS))
        allowed = reserved + r.randrange(2, 30) * 1_000_000
        if executor == "processes":  # which load SciPy
            allowed += 60_000_000
        spec = cubed.Spec(
            folder, allowed_mem=allowed, reserved_mem=allowed - (allowed - reserved) // 2
            if executor == "processes" else reserved,
        )  # fmt: skip
        try:
            names, y = _plan(cubed.from_zarr(source, spec=spec), r)
            y.plan()
        except MemoryError:  # refused before anything runs
            continue
        kind.begin()
        how = kind.options | ({} if isinstance(kind, Pool) else {"max_workers": workers})
        y.compute(executor=executor, callbacks=[kind], **how)
        peaks = kind.peaks(workers)
        if not peaks:  # the processes ended before this one looked at them
            unseen += 1
            assert unseen <= n // 4, f"{unseen} runs without a process"
            continue
        peak = max(peaks)
        most = max(most, peak / allowed)
        if peak > allowed:
            over.append([names, workers, allowed, peak])
        ran += 1
    return {"over": over, "ran": ran, "most": most}


@pytest.mark.parametrize("executor", KINDS)
@pytest.mark.parametrize("seed", range(cases(1)))
def test_peaks_are_within_the_bound(executor, seed, tmp_path):
    """Of the process if its threads are the workers, else of each worker process."""
    if executor == "dask" and not NIGHTLY:
        pytest.skip("a cluster takes long to start, and its processes do as a pool's: --nightly")
    script = f"import test_process_bound as t; t.run_plans({executor!r}, {seed}, {PLANS}, 'w')"
    (tmp_path / "w").mkdir()
    script = script.replace("'w'", repr(str(tmp_path / "w")))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        env={**os.environ, "PYTHONPATH": TESTS_PATH}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if "Permission denied" in done.stderr:
        pytest.skip("the system does not let a process reset its peak of memory")
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["ran"] == PLANS
    assert found["over"] == []


def _product(block):
    return block @ block.T


def _solution(block):
    return np.linalg.solve(block @ block.T + np.eye(len(block)), block)


def _solution_of_scipy(block):
    return scipy.linalg.solve(block @ block.T + np.eye(len(block)), block)


@pytest.mark.parametrize("function", [_product, _solution, _solution_of_scipy])
def test_workers_have_buffers_of_linear_algebra(function, tmp_path):
    """OpenBLAS maps 32 MB in its first call, and waits without end if a limit denies them."""
    reserved = cubed.measure_reserved_mem("processes", max_workers=1)
    values = np.random.default_rng(1).random((400, 100))
    room = 3_000_000
    for _ in range(2):
        spec = cubed.Spec(tmp_path, allowed_mem=reserved + room, reserved_mem=reserved)
        x = cubed.from_array(values, chunks=(100, 100), spec=spec)
        y = cubed.map_blocks(function, x, dtype="f8")
        try:
            found = y.compute(executor="processes", max_workers=1, retries=0, task_timeout=60)
            break
        except MemoryError as error:  # SciPy counts, and was not measured
            reserved = int(re.search(r"reserve at least (\d+) bytes", str(error))[1])
    blocks = [function(values[i : i + 100]) for i in range(0, 400, 100)]
    np.testing.assert_allclose(found, np.concatenate(blocks), rtol=1e-9, atol=1e-12)
