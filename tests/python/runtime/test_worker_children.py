"""Functions of Python on engines run in a child of the worker, whose memory is limited."""

import contextlib
import ctypes
import os
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
import scipy.linalg
from conftest import NIGHTLY, TESTS_PATH
from cubed.runtime import _children, worker
from cubed.runtime.executors.futures import FuturesExecutor
from test_engines import ENGINES, left

MB = 1_000_000
#: Engines whose workers are in this process, or are processes.
KINDS = ["futures", "futures of threads", "dask", "lithops", "ray", "modal here"]
SLOW = ("lithops",)


@pytest.fixture(scope="module", params=KINDS)
def engine(request):
    if request.param in SLOW and not NIGHTLY:
        pytest.skip("takes long: --nightly")
    with ENGINES[request.param]() as (name, options):
        yield request.param, name, options


@pytest.fixture
def spec(engine, tmp_path):
    _, name, options = engine
    return cubed.Spec(
        tmp_path / "work", allowed_mem="300MB", reserved_mem="150MB", executor_name=name,
        executor_options=options,
    )  # fmt: skip


@pytest.fixture
def here(tmp_path):
    """Workers that are threads of this process."""
    with ThreadPoolExecutor(1) as pool:
        yield cubed.Spec(
            tmp_path / "work", allowed_mem="300MB", reserved_mem="150MB", executor_name="futures",
            executor_options={"pool": pool},
        )  # fmt: skip


def ids(spec, n=8):
    """The processes that call a function."""
    x = cubed.from_array(np.arange(float(n)), chunks=1, spec=spec)
    return cubed.map_blocks(lambda a: np.full(a.shape, os.getpid()), x, dtype=np.int64)


def children_of(pid):
    found = []
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [int(n) for n in listed.read_text().split()]
    return found


def is_child(pid):
    with contextlib.suppress(OSError):
        return b"cubed.runtime._child" in Path(f"/proc/{pid}/cmdline").read_bytes()
    return False


def gone(pid, seconds=20):
    """Whether a process has ended soon; one that nobody has waited for yet counts as ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def hungry(a):
    """Takes 400 MB, page by page."""
    return a + np.concatenate([np.ones(10 * MB) for _ in range(5)])[: a.size].reshape(a.shape)


def test_functions_run_in_a_child_that_stays(engine, spec, tmp_path):
    kind = engine[0]
    y = ids(spec)
    first, again = (set(y.compute(optimize_graph=False).tolist()) for _ in range(2))
    assert os.getpid() not in first
    if kind == "lithops":  # a process for each call
        return
    assert len(first) <= 2
    if kind != "futures":  # whose pool is one run's
        assert first & again
    assert not left(tmp_path)


def test_values_are_those_of_threads(spec):
    r = np.random.default_rng(1)
    x = cubed.from_array(r.normal(size=(60, 50)), chunks=(7, 50), spec=spec)
    y = cubed.map_blocks(lambda a: np.sort(a, axis=1) / 3, xp.sin(x), dtype="f4")
    z = xp.mean(y, axis=0) + xp.max(y, axis=0)
    assert z.compute().tobytes() == z.compute(executor="threads").tobytes()


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", ">i4", ">f8", "f2", "c8", "M8[s]", "U3", "S2"])
def test_types_and_edges(here, dtype):
    for values in (np.zeros((), dtype), np.zeros((0, 3), dtype), np.ones((5, 1)).astype(dtype)):
        x = cubed.from_array(values, chunks=tuple(min(2, n) or 1 for n in values.shape), spec=here)
        y = cubed.map_blocks(lambda a: a.copy(), x, dtype=values.dtype)
        got = y.compute()
        assert got.dtype == values.dtype.newbyteorder("=") or got.dtype == values.dtype
        np.testing.assert_array_equal(got, values)


def test_a_function_that_takes_too_much(engine, spec, tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()

    def too_much(a):
        (calls / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        return hungry(a)

    x = cubed.from_array(np.ones(100), chunks=100, spec=spec)
    with pytest.raises(MemoryError) as caught:
        cubed.map_blocks(too_much, x, dtype="f8").compute()
    text = str(caught.value)
    assert re.search(r"out of memory: function \S*too_much\S* took more than", text), text
    room = int(re.search(r"\((\d+) bytes\)", text)[1])
    assert 50 * MB < room <= 300 * MB
    assert "raise allowed_mem, use smaller chunks" in text
    assert len(list(calls.iterdir())) == 1, "it was tried again"
    # The workers go on.
    np.testing.assert_array_equal(cubed.map_blocks(np.negative, x, dtype="f8").compute(), -1.0)
    assert not left(tmp_path)


def test_a_function_within_its_memory(spec):
    """150 MB less what a process holds beyond what is reserved are for tasks."""
    x = cubed.from_array(np.ones(100), chunks=50, spec=spec)

    def takes(a):
        return a + np.ones(12 * MB)[: a.size]

    np.testing.assert_array_equal(cubed.map_blocks(takes, x, dtype="f8").compute(), 2.0)


def test_memory_that_is_kept_between_calls_counts(here):
    """The limit is that of the process, not of each call."""

    def keeps(a):
        vars(threading).setdefault("kept by a function", []).append(np.ones(2 * MB))
        return a

    x = cubed.from_array(np.ones(40), chunks=1, spec=here)
    with pytest.raises(MemoryError, match="out of memory"):
        cubed.map_blocks(keeps, x, dtype="f8").compute()
    # What a run has left is not charged to the next one.
    for _ in range(2):
        few = cubed.from_array(np.ones(5), chunks=1, spec=here)
        cubed.map_blocks(keeps, few, dtype="f8").compute()
    held = cubed.map_blocks(
        lambda a: a * len(vars(threading).get("kept by a function", [])), few, dtype="f8"
    )
    assert held.compute().max() <= 5


@pytest.mark.parametrize("how", [signal.SIGSEGV, signal.SIGKILL, 0])
def test_a_function_that_ends_its_process(engine, spec, tmp_path, how):
    if engine[0] == "dask" and how != signal.SIGSEGV and not NIGHTLY:
        pytest.skip("the same as others: --nightly")
    once = tmp_path / "once"

    def ends(a):
        with contextlib.suppress(FileExistsError):
            once.touch(exist_ok=False)
            os.kill(os.getpid(), how) if how else os._exit(0)
            time.sleep(60)
        return a * 2

    x = cubed.from_array(np.arange(20.0), chunks=5, spec=spec)
    y = cubed.map_blocks(ends, x, dtype="f8")
    out = np.empty(20)
    stats = y.plan().execute([out])
    np.testing.assert_array_equal(out, np.arange(20.0) * 2)
    assert stats["num_retries"] >= 1
    once.unlink()
    wanted = f"signal {int(how)} " if how else "status 0"
    with pytest.raises(OSError, match=rf"process of function \S*ends\S* ended with {wanted}"):
        y.compute(retries=0)


def test_what_functions_print_is_the_workers_output(here, capfd, monkeypatch):
    # A child that another test has started has the output of that test.
    monkeypatch.setattr(_children, "_children", _children.Children())
    x = cubed.from_array(np.ones(3), chunks=3, spec=here)
    cubed.map_blocks(lambda a: print("said by a function") or a, x, dtype="f8").compute()
    assert "said by a function" in capfd.readouterr().out


def test_native_plans_have_no_child(here):
    before = set(children_of(os.getpid()))  # also those that do not run their program yet
    x = xp.ones((100,), chunks=(10,), spec=here)
    assert (xp.sum(x + 1)).compute() == 200
    assert not set(filter(is_child, children_of(os.getpid()))) - before


def test_functions_of_linear_algebra(here):
    """OpenBLAS maps 32 MB in its first call, and waits without end if a limit denies them."""
    a = np.random.default_rng(0).random((200, 50))
    x = cubed.from_array(a, chunks=(50, 50), spec=here)
    for solve in (np.linalg.solve, scipy.linalg.solve):
        y = cubed.map_blocks(lambda b, f=solve: f(b @ b.T + np.eye(50), b), x, dtype="f8")
        want = np.concatenate([solve(b @ b.T + np.eye(50), b) for b in np.split(a, 4)])
        np.testing.assert_allclose(y.compute(task_timeout=60), want, rtol=1e-9)


def test_a_child_has_the_workers_environment(here, tmp_path, monkeypatch):
    (tmp_path / "module_of_a_test.py").write_text("value = 7.0\n")

    def environment(a):
        import module_of_a_test

        assert Path.cwd() == tmp_path
        return a * module_of_a_test.value + float(os.environ["CUBED_TEST_NUMBER"])

    x = cubed.from_array(np.ones(3), chunks=3, spec=here)
    y = cubed.map_blocks(environment, x, dtype="f8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    for number in (1, 2):  # also of a child that was there before
        monkeypatch.setenv("CUBED_TEST_NUMBER", str(number))
        np.testing.assert_array_equal(y.compute(), 7.0 + number)
    monkeypatch.delenv("CUBED_TEST_NUMBER")
    with pytest.raises(KeyError, match="CUBED_TEST_NUMBER"):
        y.compute()


def test_a_function_that_does_not_end(here, tmp_path):
    once = tmp_path / "once"

    def hangs(a):
        with contextlib.suppress(FileExistsError):
            once.touch(exist_ok=False)
            ctypes.PyDLL(None).sleep(60)  # holds the lock of Python
        return a * 2

    x = cubed.from_array(np.arange(4.0), chunks=4, spec=here)
    began = time.monotonic()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_children, "_GRACE", 0.5)
        y = cubed.map_blocks(hangs, x, dtype="f8")
        np.testing.assert_array_equal(y.compute(task_timeout=0.5), np.arange(4.0) * 2)
    assert time.monotonic() - began < 30


def test_an_interrupt_ends_calls_of_children(tmp_path):
    """Dask's workers are told; a function that goes on is ended with its child."""
    pytest.importorskip("distributed")

    def slow(a):
        (tmp_path / f"id-{os.getpid()}").touch()
        time.sleep(60)
        return a

    with ENGINES["dask"]() as (name, options):
        spec = cubed.Spec(
            tmp_path / "work", allowed_mem="300MB", executor_name=name, executor_options=options
        )
        x = cubed.from_array(np.arange(4.0), chunks=2, spec=spec)
        began = time.monotonic()

        def interrupt():
            deadline = time.monotonic() + 60
            while not list(tmp_path.glob("id-*")) and time.monotonic() < deadline:
                time.sleep(0.05)
            os.kill(os.getpid(), signal.SIGINT)

        # A shell's background jobs ignore the signal.
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            threading.Thread(target=interrupt).start()
            with pytest.raises(KeyboardInterrupt):
                cubed.map_blocks(slow, x, dtype="f8").compute()
        finally:
            signal.signal(signal.SIGINT, handler)
        assert time.monotonic() - began < 50
        for name in tmp_path.glob("id-*"):
            assert gone(int(name.name[3:]))
        assert not left(tmp_path)
        np.testing.assert_array_equal(
            cubed.map_blocks(np.negative, x, dtype="f8").compute(), -np.arange(4.0)
        )


WORKER = """
import ctypes, os, sys, time
import cubed
import numpy as np
from concurrent.futures import ThreadPoolExecutor

def function(a):
    open(sys.argv[2], "w").write(str(os.getpid()))
    if sys.argv[3] == "locked":
        ctypes.PyDLL(None).sleep(100)
    if sys.argv[3] == "busy":
        time.sleep(100)
    return a

function.__module__ = "__main__"
spec = cubed.Spec(sys.argv[1], allowed_mem="300MB")
x = cubed.from_array(np.ones(3), chunks=3, spec=spec)
argv = list(sys.argv)

def call(a, argv=argv):
    sys.argv = argv
    return function(a)

with ThreadPoolExecutor(1) as pool:
    cubed.map_blocks(call, x, dtype="f8").compute(executor="futures", pool=pool)
    print("done", flush=True)
    if sys.argv[3] == "idle":
        time.sleep(100)
"""


@pytest.mark.parametrize("state", ["busy", "locked", "idle", "ends"])
def test_children_end_with_their_worker(tmp_path, state):
    at = tmp_path / "id"
    args = [sys.executable, "-c", WORKER, tmp_path / "work", at, state]
    with subprocess.Popen(args, stdout=subprocess.PIPE, text=True) as owner:
        if state in ("idle", "ends"):
            assert owner.stdout.readline() == "done\n"
        deadline = time.monotonic() + 60
        while not (at.exists() and at.read_text()) and time.monotonic() < deadline:
            time.sleep(0.02)
        child = int(at.read_text())
        assert child != owner.pid
        if state == "ends":
            assert owner.wait(60) == 0
        else:
            assert not gone(child, 0.1)
            owner.kill()
        assert gone(child)


def test_threads_that_end_do_not_end_children(here, tmp_path):
    """The system ends a child with the thread that started it."""
    pids = []
    for _ in range(3):
        with ThreadPoolExecutor(1) as pool:
            y = ids(here, 2)
            pids.append(set(y.compute(executor="futures", pool=pool).tolist()))
    assert pids[0] == pids[1] == pids[2]


def _ids_of_a_fork(folder):
    spec = cubed.Spec(folder, allowed_mem="300MB")
    with ThreadPoolExecutor(1) as pool:
        found = set(ids(spec, 2).compute(executor="futures", pool=pool).tolist())
    return os.getpid(), found


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_has_children_of_its_own(here, tmp_path):
    script = f"""
import sys
sys.path[:0] = {TESTS_PATH.split(os.pathsep)!r}
import multiprocessing, os, test_worker_children as t
if __name__ == "__main__":
    _, mine = t._ids_of_a_fork({str(tmp_path / "a")!r})
    with multiprocessing.get_context("fork").Pool(1) as pool:
        forked, theirs = pool.apply(t._ids_of_a_fork, ({str(tmp_path / "b")!r},))
    _, again = t._ids_of_a_fork({str(tmp_path / "a")!r})
    assert mine == again and not mine & theirs and forked not in theirs, (mine, theirs, again)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


@pytest.fixture
def _no_child(monkeypatch):
    """A process that cannot start others."""
    monkeypatch.setattr(_children, "_children", _children.Children())
    monkeypatch.setattr(sys, "executable", "/nonexistent/python")
    monkeypatch.setattr(worker, "_watches", False)


@pytest.mark.usefixtures("_no_child")
def test_without_a_child_memory_is_watched(here):
    x = cubed.from_array(np.ones(10), chunks=5, spec=here)
    with pytest.warns(RuntimeWarning, match="in the process of this worker, not in a separate one"):
        assert (ids(here).compute() == os.getpid()).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        np.testing.assert_array_equal(cubed.map_blocks(np.sin, x, dtype="f8").compute(), np.sin(1))

    def grows(a):
        parts = []
        for _ in range(200):
            parts.append(np.ones(MB))
            time.sleep(0.005)
        return a

    with pytest.raises(MemoryError, match=r"function \S*grows\S* took more than"):
        cubed.map_blocks(grows, x, dtype="f8").compute()
    np.testing.assert_array_equal(cubed.map_blocks(np.sin, x, dtype="f8").compute(), np.sin(1))


def test_systems_that_keep_no_limits_are_watched(here, monkeypatch):
    monkeypatch.setattr(_children, "_children", _children.Children())
    without = "; import cubed.runtime._child as c; c._keeps_limits = lambda: False; main()"
    monkeypatch.setattr(_children, "_CODE", _children._CODE.replace("; main()", without))
    child = _children.take()
    assert child.kind == "watch"
    _children.give_back(child, True)
    x = cubed.from_array(np.ones(10), chunks=5, spec=here)
    np.testing.assert_array_equal(cubed.map_blocks(np.sin, x, dtype="f8").compute(), np.sin(1))

    def grows(a):
        parts = [np.ones(50 * MB)]
        time.sleep(5)
        return a + parts[0][:5]

    with pytest.raises(MemoryError, match=r"function \S*grows\S* took more than"):
        cubed.map_blocks(grows, x, dtype="f8").compute()
    np.testing.assert_array_equal(cubed.map_blocks(np.sin, x, dtype="f8").compute(), np.sin(1))


@pytest.fixture
def groups(tmp_path, monkeypatch):
    """A folder with the files that version 2 of control groups has."""
    root = tmp_path / "cgroup"
    root.mkdir()
    (root / "cgroup.subtree_control").write_text("cpu memory pids\n")
    make = Path.mkdir

    def mkdir(path, *args, **kwargs):
        make(path, *args, **kwargs)
        if path.parent == root:
            for name in ("cgroup.procs", "memory.max", "memory.swap.max", "memory.events"):
                (path / name).touch()

    def rmdir(path):
        if path.parent == root:
            for name in path.iterdir():
                name.unlink()
        remove(path)

    remove = Path.rmdir
    monkeypatch.setattr(Path, "mkdir", mkdir)
    monkeypatch.setattr(Path, "rmdir", rmdir)
    monkeypatch.setattr(_children, "_own_group", lambda: root)
    monkeypatch.setattr(_children, "_children", _children.Children())
    return root


def test_control_groups(here, groups):
    """Not of the kernel's: the files say which limits would be set."""

    def limits(a):
        (group,) = groups.glob("cubed-*")
        most = (group / "memory.max").read_text()
        assert (group / "cgroup.procs").read_text() == str(os.getpid())
        return np.full(a.shape, float(most))

    x = cubed.from_array(np.ones(3), chunks=3, spec=here)
    most = cubed.map_blocks(limits, x, dtype="f8").compute()
    assert 300 * MB <= most[0] < 600 * MB
    (group,) = groups.glob("cubed-*")
    assert (group / "memory.max").read_text() == "max"  # between messages

    def killed(a):
        (group,) = groups.glob("cubed-*")
        (group / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(MemoryError, match=r"function \S*killed\S* took more than"):
        cubed.map_blocks(killed, x, dtype="f8").compute()
    assert not list(groups.glob("cubed-*"))


def test_control_groups_that_children_cannot_join(here, groups, monkeypatch):
    monkeypatch.setattr(worker, "_watches", False)
    write = Path.write_text

    def refuse(path, *args, **kwargs):
        if path.name == "cgroup.procs":
            raise PermissionError("no process may join")
        return write(path, *args, **kwargs)

    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.warns(RuntimeWarning, match="cannot join its control group: no process may join"):
        assert (ids(here).compute() == os.getpid()).all()
    assert not list(groups.glob("cubed-*"))


@pytest.mark.parametrize("controllers", ["cpu pids", None])
def test_control_groups_that_cannot_be_limited(groups, controllers):
    if controllers is None:
        (groups / "cgroup.subtree_control").unlink()
    else:
        (groups / "cgroup.subtree_control").write_text(controllers)
    assert _children._new_group() is None


def test_many_calls_at_a_time(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        spec = cubed.Spec(
            tmp_path / "work", allowed_mem="300MB", executor_name="futures",
            executor_options={"pool": pool},
        )  # fmt: skip
        x = cubed.from_array(np.arange(200.0), chunks=2, spec=spec)
        y = cubed.map_blocks(lambda a: a + 1, x, dtype="f8")
        np.testing.assert_array_equal(y.compute(), np.arange(200.0) + 1)
        assert 1 <= len(set(ids(spec, 40).compute().tolist())) <= 4


class OneByOne(FuturesExecutor):
    """Sends each task by itself."""

    name = "one by one"
    overhead = 0.0


def overhead(folder, n=1000):
    """Seconds of the median range of 1 MB, and how many there were: in a child, and of the same
    plan in this process."""
    x = xp.ones((125_000 * n,), chunks=(125_000,), spec=cubed.Spec(folder))
    y = cubed.map_blocks(np.negative, x, dtype="f8")
    medians = []
    for in_child in (True, False):
        times = []

        class Timed(ThreadPoolExecutor):
            def submit(self, call, message, times=times):
                def timed():
                    began = time.perf_counter()
                    reply = call(message)
                    times.append(time.perf_counter() - began)
                    return reply

                return super().submit(timed)

        with pytest.MonkeyPatch.context() as patch, Timed(1) as pool:
            patch.setattr(worker, "_watches", not in_child)
            patch.setattr(worker, "watching", lambda plan: contextlib.nullcontext())
            cubed.to_zarr(y, f"{folder}/{in_child}", executor=OneByOne(pool=pool))
        medians.append((sorted(times)[len(times) // 2], len(times)))
    return medians


def test_a_child_costs_little(tmp_path):
    if not NIGHTLY:
        pytest.skip("measures: --nightly")
    (child, _), (here, _) = overhead(str(tmp_path))
    assert child - here < 2e-3
