"""The memory of engines' worker processes before their first task, compared with reserved_mem."""

import contextlib
import os
import re
import subprocess
import sys
import time
import warnings

import cubed
import numpy as np
import pytest
from conftest import NIGHTLY, TESTS_PATH
from cubed.images import _objects
from cubed.planning import _room
from test_engines import ENGINES


@pytest.fixture(scope="module", params=["dask", "futures", "lithops"])
def engine(request):
    with ENGINES[request.param]() as (name, options):
        yield name, options


@pytest.fixture(autouse=True)
def _forget_warnings():
    """This process warns of the same limits once."""
    _room._warned.clear()


def _sines(folder, engine, **limits):
    name, options = engine
    spec = cubed.Spec(folder, executor_name=name, executor_options=options, **limits)
    x = cubed.from_array(np.ones((100, 100)), chunks=(50, 50), spec=spec)
    return cubed.map_blocks(np.sin, x, dtype="float64")


@contextlib.contextmanager
def _warned():
    """Warnings of processes that hold more than is reserved."""
    found = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    found += [w for w in caught if "worker process held" in str(w.message)]


def test_workers_that_hold_more_than_is_reserved_are_warned_of(engine, tmp_path):
    with _warned() as found:
        y = _sines(tmp_path, engine, allowed_mem="30MB", reserved_mem="1MB")
        assert (y.compute() == np.sin(1)).all()
    assert len(found) == 1 and found[0].filename == __file__
    assert issubclass(found[0].category, RuntimeWarning)
    advice = re.search(r"reserved_mem=(\d+), allowed_mem=(\d+)\)", str(found[0].message))
    reserved, allowed = map(int, advice.groups())
    assert reserved > 30_000_000 and allowed - reserved == 29_000_000
    with _warned() as found:
        _sines(tmp_path, engine, allowed_mem=allowed, reserved_mem=reserved).compute()
    assert not found


def test_warnings_come_once_and_not_without_an_excess(engine, tmp_path):
    name, options = engine
    if name == "lithops" and not NIGHTLY:
        pytest.skip("calls take long, and do the same as those of other engines: --nightly")
    little = _sines(tmp_path, engine, allowed_mem="30MB", reserved_mem="1MB")
    with _warned() as found:
        little.compute()
        little.compute()
    assert len(found) == 1
    reserved = cubed.measure_reserved_mem(name, tmp_path, **options)
    measured = {"allowed_mem": reserved + 3_000_000, "reserved_mem": reserved}
    with _warned() as found:
        for limits in ({}, measured):
            _sines(tmp_path, engine, **limits).compute()
    assert not found


def _stats(y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return y.plan().execute([np.empty(y.shape, y.dtype)])


def test_libraries_of_functions_count(tmp_path):
    """A worker imports SciPy for labels; data of functions are no code."""
    ballast = np.ones(1_000_000)
    with ENGINES["futures"]() as (name, options):
        engine = name, options | {"max_workers": 1}
        x = _sines(tmp_path, engine, allowed_mem="30MB", reserved_mem="1MB")
        with_data = cubed.map_blocks(lambda block: block + ballast[0], x, dtype="f8")
        find = _objects._Labels(np.ones((3,) * x.ndim, bool), False)
        labels = cubed.map_blocks(find, x, dtype=np.int32)
        alone, data, library = (_stats(y)["process_mem"] for y in (x, with_data, labels))
    assert alone > 0
    assert data < alone + ballast.nbytes / 2
    assert library > alone + 5_000_000


def test_tasks_of_a_worker_have_a_process_each(tmp_path):
    """Two threads of a worker run two functions at a time, each in a child that holds libraries."""
    met = tmp_path / "met"
    met.mkdir()

    def meet(block):
        (met / str(os.getpid())).touch()
        deadline = time.monotonic() + 240
        while len(list(met.iterdir())) < 2 and time.monotonic() < deadline:
            time.sleep(0.02)
        return block + len(list(met.iterdir()))

    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(1, threads_per_worker=2, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        engine = "dask", {"client": client}
        x = _sines(tmp_path, engine, allowed_mem="30MB", reserved_mem="1MB")
        y = cubed.map_blocks(meet, x, dtype="f8")
        stats = _stats(y)
        worker = set(client.run(os.getpid).values())
    assert len(list(met.iterdir())) == 2
    assert not worker & {int(path.name) for path in met.iterdir()}
    assert stats["process_tasks"] == 1
    assert stats["process_mem"] > 30_000_000
    assert 0 < stats["process_excess"] < stats["process_mem"]


def drive(folder):
    """A run in a process that holds data."""
    ballast = np.ones(50_000_000)
    with ENGINES["futures of threads"]() as engine:
        stats = _stats(_sines(folder, engine, allowed_mem="350MB", reserved_mem="1MB"))
    assert ballast[0] == 1 and stats["process_mem"] == 0, stats


def test_a_process_that_drives_runs_is_no_worker(tmp_path):
    """Its data are no code. Other tests leave code in this process that counts: another one."""
    script = "import sys, test_worker_memory; test_worker_memory.drive(sys.argv[1])"
    command = [sys.executable, "-c", script, str(tmp_path)]
    done = subprocess.run(
        command, env={**os.environ, "PYTHONPATH": TESTS_PATH}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
