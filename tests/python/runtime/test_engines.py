"""Engines such as Dask: results equal those of threads bit for bit, whatever happens to workers.

The same tests for each adapter; `--nightly` (`tools/test engines`) takes all of slow ones, too.
"""

import contextlib
import gc
import importlib.util
import json
import multiprocessing
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import cubed
import cubed.array_api as xp
import engine_faults
import numpy as np
import pytest
from conftest import NIGHTLY, TESTS_PATH
from cubed.base._distribution import install_command
from cubed.diagnostics.history import HistoryCallback
from cubed.diagnostics.report import ReportCallback
from cubed.runtime import worker
from cubed.runtime.create import create_executor
from cubed.runtime.executors import base
from cubed.runtime.executors._replies import Replies, leave
from cubed.runtime.executors.base import EngineExecutor
from cubed.runtime.executors.futures import FuturesEngine, FuturesExecutor
from cubed.runtime.executors.stages import StageEngine
from cubed.runtime.types import Callback
from real_servers import REGION, free_port, job_server, running

import zarr

WORKERS = 2
FAULTS = "CUBED_TEST_FAULTS"
#: The folder in which a server of S3 keeps what is in its bucket.
BUCKET = "CUBED_TEST_BUCKET"


@contextlib.contextmanager
def futures():
    yield "futures", {"max_workers": WORKERS}


@contextlib.contextmanager
def threads_of_python():
    with ThreadPoolExecutor(WORKERS) as pool:
        yield "futures", {"pool": pool}


def workers_may_be_away():
    """Dask's clusters of this machine give up a worker that is not there 15 s after it has died,
    also if it has died again meanwhile: several tests kill it, one after another."""
    return importlib.import_module("dask").config.set(
        {"distributed.deploy.lost-worker-timeout": "1h"}
    )


@contextlib.contextmanager
def dask():
    distributed = pytest.importorskip("distributed")
    with (
        workers_may_be_away(),
        distributed.LocalCluster(WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield "dask", {"client": client}


@contextlib.contextmanager
def lithops():
    pytest.importorskip("lithops")
    config = {
        "lithops": {"backend": "localhost", "storage": "localhost"},
        "localhost": {"runtime": sys.executable},
    }
    yield "lithops", {"config": config, "max_workers": WORKERS, "log_level": "ERROR"}


@contextlib.contextmanager
def lithops_on_s3():
    """Its storage and the work directory are on a server, also of drivers that are begun."""
    if not NIGHTLY:
        pytest.skip("a server of S3 takes as long again as lithops does: --nightly")
    with lithops() as (name, options), contextlib.ExitStack() as stack:
        if BUCKET not in os.environ:
            patch = stack.enter_context(pytest.MonkeyPatch.context())
            place = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            stack.enter_context(running("versitygw", place, patch))
            patch.setenv(BUCKET, str(place / "data/bucket"))
        config = {**options["config"], "lithops": {"backend": "localhost", "storage": "aws_s3"}}
        config["aws_s3"] = {"region": REGION, "storage_bucket": "bucket"}
        yield name, {**options, "config": config}


@contextlib.contextmanager
def ray():
    module = pytest.importorskip("ray")
    module.init(num_cpus=WORKERS, include_dashboard=False, object_store_memory=80 << 20)
    try:
        yield "ray", {}
    finally:
        module.shutdown()


@contextlib.contextmanager
def spark():
    module = pytest.importorskip("pyspark")
    conf = module.SparkConf().setMaster(f"local-cluster[{WORKERS},1,600]").setAppName("cubed")
    conf.setAll([("spark.ui.enabled", "false"), ("spark.ui.showConsoleProgress", "false")])
    conf.setAll([("spark.driver.host", "127.0.0.1"), ("spark.executor.memory", "500m")])
    conf.setAll([(f"spark.executorEnv.{k}", os.environ[k]) for k in ("PYTHONPATH", FAULTS)])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        context = module.SparkContext(conf=conf)
    try:
        yield "spark", {"spark_context": context, "max_workers": WORKERS}
    finally:
        context.stop()


@contextlib.contextmanager
def beam():
    pytest.importorskip("apache_beam")
    yield "beam", {"max_workers": WORKERS}


@contextlib.contextmanager
def beam_by_jobs():
    """The way to Flink and Spark: a job server, here in this process, and workers of its own."""
    pytest.importorskip("apache_beam")
    options = {
        "runner": "PortableRunner",
        "job_endpoint": "embed",
        "environment_type": "LOOPBACK",
    }
    yield "beam", {"options": options, "max_workers": WORKERS}


@contextlib.contextmanager
def beam_by_a_server(server="prism"):
    """A job server of its own: Prism, Beam's own for tests
    (``go install github.com/apache/beam/sdks/v2/go/cmd/prism@v2.77.0``)."""
    pytest.importorskip("apache_beam")
    with (
        tempfile.TemporaryDirectory() as place,
        job_server(server, Path(place)) as endpoint,
        beam_by_jobs() as (name, given),
    ):
        yield name, {**given, "options": {**given["options"], "job_endpoint": endpoint}}


def beam_on_spark():
    """On Apache Spark, by Beam's job server for it."""
    if not NIGHTLY:
        pytest.skip("Spark takes half a minute to begin: --nightly")
    return beam_by_a_server("spark")


@contextlib.contextmanager
def prefect():
    if not importlib.util.find_spec("prefect"):
        pytest.skip("prefect is not installed")
    port = free_port()
    url = f"http://127.0.0.1:{port}/api"
    command = "server", "start", "--host", "127.0.0.1", "--port", str(port), "--no-ui"
    with tempfile.TemporaryDirectory() as home, pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_HOME", home)
        patch.setenv("PREFECT_API_URL", url)
        patch.setenv("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
        patch.setenv("DO_NOT_TRACK", "1")
        patch.setenv("PREFECT_LOGGING_LEVEL", "CRITICAL")
        server = subprocess.Popen(
            [sys.executable, "-m", "prefect", *command], stdout=subprocess.DEVNULL
        )
        try:
            wait_for(f"{url}/health")
            yield "prefect", {"max_workers": WORKERS}
        finally:
            server.terminate()
            server.wait()


def wait_for(url):
    deadline = time.monotonic() + 300  # it takes half a minute where others work, too
    while True:
        try:
            return urllib.request.urlopen(url, timeout=5).close()
        except OSError:
            assert time.monotonic() < deadline, url
            time.sleep(0.1)


class ModalFunction:
    """What Modal documents of a function: others have called it in their containers."""

    def map(self, messages, *, return_exceptions):
        assert return_exceptions
        assert all(isinstance(m, bytes) and len(m) < 2 << 20 for m in messages)
        with ThreadPoolExecutor(WORKERS) as containers:
            return iter(list(containers.map(worker.attempt, messages)))


@contextlib.contextmanager
def modal():
    pytest.importorskip("modal")
    yield "modal", {"function": ModalFunction(), "max_workers": WORKERS}


@contextlib.contextmanager
def modal_in_this_process():
    module = pytest.importorskip("modal")

    def call(message):
        return worker.attempt(message)

    function = module.App("cubed").function(serialized=True)(call)
    yield "modal", {"function": function, "local": True, "max_workers": WORKERS}


@contextlib.contextmanager
def coiled():
    module = pytest.importorskip("coiled")
    options = {"local": True, "n_workers": WORKERS, "threads_per_worker": 1, "name": "cubed-tests"}
    with pytest.MonkeyPatch.context() as patch:
        # It tells its service of each use, which needs an account.
        patch.setattr(module, "add_interaction", lambda *args, **kwargs: None)
        function = module.function(**options)(len)
        with workers_may_be_away(), function.cluster, function.client:
            yield "coiled", {"coiled_kwargs": options}


#: How each is started: its name, and its options.
ENGINES = {
    "futures": futures,
    "futures of threads": threads_of_python,
    "dask": dask,
    "lithops": lithops,
    "lithops on S3": lithops_on_s3,
    "ray": ray,
    "spark": spark,
    "beam": beam,
    "beam by jobs": beam_by_jobs,
    "beam by a server": beam_by_a_server,
    "beam on Spark": beam_on_spark,
    "prefect": prefect,
    "modal": modal,
    "modal here": modal_in_this_process,
    "coiled": coiled,
}
#: Half a second for a call and more: most of their tests are for the night.
SLOW = {name for name in ENGINES if name.startswith(("lithops", "spark", "beam", "prefect"))}
QUICK = "test_results_are_those_of_threads"
#: What takes long on Dask: by day futures do it, and both lose a worker that is killed.
LONG_ON_DASK = ("test_a_driver_is_killed", "test_a_worker_exits", "test_tries_are_counted")
PAGES = sorted((Path(__file__).parents[3] / "docs/how-to/engines").glob("*.md"))
#: What is imported of engines that are not on every machine, and what is installed.
PACKAGES = {
    "dask": "distributed",
    "lithops": "lithops",
    "ray": "ray",
    "spark": "pyspark",
    "beam": "apache_beam",
    "prefect": "prefect",
    "modal": "modal",
    "coiled": "coiled",
}
#: Whose workers may die without the engine.
SURVIVE = {"futures", "dask", "lithops", "lithops on S3", "ray", "spark", "beam", "coiled"}
#: Who sees that before the driver does.
RUNS_AGAIN = {"dask", "spark", "coiled"}


@pytest.fixture(scope="module", params=list(ENGINES))
def engine(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("faults")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(FAULTS, str(folder))
        patch.setenv("PYTHONPATH", TESTS_PATH)
        with ENGINES[request.param]() as (name, options):
            yield request.param, name, options, folder


@pytest.fixture
def spec(engine, tmp_path, request):
    kind, name, options, _ = engine
    if kind in SLOW and not NIGHTLY and not request.node.name.startswith(QUICK):
        pytest.skip("takes long: --nightly")
    if kind == "dask" and not NIGHTLY and request.node.name.startswith(LONG_ON_DASK):
        pytest.skip("takes long, and futures do it: --nightly")
    work = tmp_path / "work"
    if kind == "lithops on S3":
        work.symlink_to(Path(os.environ[BUCKET], tmp_path.name))
        work = f"s3://bucket/{tmp_path.name}"
    return cubed.Spec(work, allowed_mem="300MB", executor_name=name, executor_options=options)


@pytest.fixture
def fault(engine, monkeypatch):
    folder = engine[3]

    def begin(kind, **options):
        for old in folder.iterdir():
            old.unlink()
        (folder / "fault").write_text(json.dumps({"kind": kind, **options}))
        monkeypatch.setattr(worker, "work", engine_faults.work)

    return begin


class Count(Callback):
    def __init__(self):
        self.tasks, self.ends, self.events = set(), [], []

    def on_compute_start(self, event):
        self.events.append("start")

    def on_operation_end(self, event):
        self.ends.append(event.name)

    def on_task_end(self, event):
        key = event.name, event.task
        assert key not in self.tasks
        self.tasks.add(key)
        now = time.time()
        assert now - 60 < event.function_start_tstamp <= event.function_end_tstamp < now + 1
        assert event.peak_measured_mem_end <= event.projected_mem
        assert event.worker >= 0

    def on_compute_end(self, event):
        self.events.append("end" if event.error is None else "error")


def means(spec, few=False):
    """Several stages, which depend on each other chunk by chunk; fewer where calls take long."""
    few = few or getattr(spec.executor, "overhead", 0) >= 0.05
    shape = (20, 18) if few else (60, 40)
    x = cubed.random.random(shape, chunks=(7, 9), spec=spec)
    return xp.sin(x) - xp.mean(x.rechunk((20, shape[1])), axis=0)


def expected(y):
    return y.compute(executor="threads", max_workers=2, optimize_graph=False)


def left(tmp_path):
    return [str(p) for p in (tmp_path / "work").iterdir()] if (tmp_path / "work").exists() else []


def run(y, tmp_path, **options):
    """The values, with every event once, and nothing left."""
    seen = Count()
    plan = y.plan(optimize_graph=False)
    out = np.empty(y.shape, y.dtype)
    stats = plan.execute([out], [seen], **options)
    assert len(seen.tasks) == stats["num_tasks"]
    # Some may have been done by a run that failed: they have no events here.
    assert stats["num_tasks"] + stats["num_resumed"] == plan.num_tasks
    assert stats["num_resumed"] == 0 or "resume" in options
    assert len(seen.ends) == plan.num_stages > 1
    assert seen.events == ["start", "end"]
    assert not left(tmp_path)
    return out, stats


def test_results_are_those_of_threads(spec, tmp_path):
    y = means(spec)
    out, stats = run(y, tmp_path)
    assert out.tobytes() == expected(y).tobytes()
    assert stats["num_retries"] == 0
    assert stats["num_workers"] == WORKERS


def test_reports_say_what_an_engine_did(spec, tmp_path, engine):
    y, page = means(spec), tmp_path / "page.html"
    table = HistoryCallback(tmp_path / "history")
    callbacks = [ReportCallback(page), table]
    plan = y.plan(optimize_graph=False)
    stats = plan.execute([np.empty(y.shape, y.dtype)], callbacks)
    assert 0 < stats["worker_seconds"] < WORKERS * stats["seconds"] + 1
    assert stats["gb_seconds"] == pytest.approx(stats["worker_seconds"] * plan.allowed_mem / 1e9)
    assert stats["queue_seconds"] >= 0
    hosts = {row["host"] for row in table.events}
    assert {host.rpartition(":")[0] for host in hosts} == {socket.gethostname()}
    if engine[0] in ("futures", "dask"):  # others begin a process for each call, or some of them
        assert len(hosts) <= WORKERS
    assert {(row["attempt"], row["backup"]) for row in table.events} == {(0, False)}
    assert all(row["task_create_tstamp"] <= row["function_start_tstamp"] for row in table.events)
    text = page.read_text()
    for name, value in {"attempts": stats["num_tasks"], "hosts": 1}.items():
        assert f'data-name="{name}" data-value="{value}"' in text
    assert "time in queue" in text
    assert "GB s" in text


def test_what_lies_in_memory_and_what_is_pythons(spec, tmp_path, engine):
    values = np.random.default_rng(1).normal(size=(300, 200))
    x = cubed.from_array(values.T[::-1], chunks=(50, 300), spec=spec)
    offset = 3

    def function(a):
        return a + offset

    y = cubed.map_blocks(function, x, dtype="f8")
    if engine[0] == "lithops on S3":  # large arrays go by way of files
        with pytest.raises(cubed.exceptions.UnsupportedError, match="s3://.* is no local one"):
            y.compute()
        x = cubed.from_array(values[:20].T[::-1], chunks=(50, 20), spec=spec)
        y = cubed.map_blocks(function, x, dtype="f8")
    np.testing.assert_array_equal(y.compute(), values[: y.shape[1]].T[::-1] + 3)
    empty = cubed.from_array(np.empty((0, 3)), spec=spec)
    assert (empty + 1).compute().shape == (0, 3)
    assert float(xp.sum(xp.ones((), spec=spec)).compute()) == 1
    assert not left(tmp_path)


def test_stores_are_written(spec, tmp_path):
    y = means(spec)
    cubed.to_zarr(y, str(tmp_path / "y"))
    assert zarr.open_array(tmp_path / "y")[...].tobytes() == expected(y).tobytes()
    assert not left(tmp_path)


@pytest.mark.parametrize(
    ("kind", "retries"),
    [
        ("fails", True),
        ("loses its report", True),
        ("works twice", False),
        ("straggles", False),
        ("does a part", True),
    ],
)
def test_faults_that_pass(engine, spec, tmp_path, fault, kind, retries):
    y = means(spec)
    fault(kind, times=2 if kind == "fails" else 1, only_first=kind == "straggles")
    out, stats = run(y, tmp_path)
    assert out.tobytes() == expected(y).tobytes()
    assert (stats["num_retries"] > 0) == retries
    # No range is sent more often than its faults take, but to a second worker.
    again = max(int(p.name.rpartition("-")[2]) for p in engine[3].glob("range-*"))
    faults = {"fails": 2, "loses its report": 1, "does a part": 1}.get(kind, 0)
    assert faults <= again <= faults + stats["num_backups"]


def test_a_straggler_has_a_second_worker(engine, spec, tmp_path):
    if engine[0].startswith("beam"):
        pytest.skip("runs one list of calls at a time, to its end")
    once, again = tmp_path / "once", tmp_path / "again"

    def function(a):
        if a[0] == 0:
            try:
                once.touch(exist_ok=False)
            except FileExistsError:
                again.touch()
            deadline = time.monotonic() + 60
            while not again.exists() and time.monotonic() < deadline:
                time.sleep(0.05)
        return a * 2

    x = cubed.from_array(np.arange(24.0), chunks=2, spec=spec)
    y, out = cubed.map_blocks(function, x, dtype="f8"), np.empty(24)
    stats = y.plan().execute([out])
    np.testing.assert_array_equal(out, np.arange(24.0) * 2)
    assert again.exists()
    assert stats["num_backups"] >= 1
    assert stats["num_retries"] == 0
    assert not left(tmp_path)


def test_a_worker_is_killed(engine, spec, tmp_path, fault):
    if engine[0] not in SURVIVE:
        pytest.skip("its workers are the driver's process, or nobody begins others: see its page")
    y = means(spec)
    fault("is killed", only_first=True)
    out, stats = run(y, tmp_path)
    assert out.tobytes() == expected(y).tobytes()
    assert (stats["num_retries"] > 0) == (engine[0] not in RUNS_AGAIN)


@pytest.mark.parametrize("code", [65, 75, 137, 143])
def test_a_worker_exits(engine, spec, tmp_path, fault, code):
    if engine[0] not in SURVIVE:
        pytest.skip("its workers are the driver's process, or nobody begins others: see its page")
    y = means(spec)
    fault("exits", code=code, only_first=True)
    out, _ = run(y, tmp_path)
    assert out.tobytes() == expected(y).tobytes()


def test_a_task_hangs(engine, spec, tmp_path):
    """Its worker ends itself, unless that is the driver's process."""
    once, leave = tmp_path / "once", tmp_path / "leave"

    def function(a):
        try:
            once.touch(exist_ok=False)
        except FileExistsError:
            return a * 2
        while not leave.exists():
            time.sleep(0.1)
        return a

    x = cubed.from_array(np.arange(24.0), chunks=2, spec=spec)
    y = cubed.map_blocks(function, x, dtype="f8")
    got = y.compute(task_timeout=0.5)
    leave.touch()
    np.testing.assert_array_equal(got, np.arange(24.0) * 2)
    assert once.exists()


def test_an_executor_is_killed(engine, spec, tmp_path, fault):
    if engine[0] != "spark":
        pytest.skip("has no executors beside its workers")
    y = means(spec)
    fault("loses its executor", only_first=True)
    out, _ = run(y, tmp_path)
    assert out.tobytes() == expected(y).tobytes()


def test_a_runner_is_killed(engine, spec, tmp_path, fault):
    """Nobody is left to say what became of the call."""
    if not engine[0].startswith("lithops"):
        pytest.skip("has no runners beside its workers")
    y = means(spec)
    fault("loses its runner", only_first=True)
    out, stats = run(y, tmp_path)
    assert out.tobytes() == expected(y).tobytes()
    assert stats["num_retries"] + stats["num_backups"] > 0


class SilentPool(ThreadPoolExecutor):
    """Nothing is ever heard of some calls, which cannot be cancelled."""

    def __init__(self, silent):
        super().__init__(WORKERS)
        self.silent = silent

    def submit(self, *args, **kwargs):
        if self.silent == 0:
            return super().submit(*args, **kwargs)
        self.silent -= 1
        future = Future()
        future.set_running_or_notify_cancel()
        return future


LIMITS = {"task_timeout": 0.4, "start_timeout": 0.5, "use_backups": False}


def test_calls_of_which_nothing_is_heard_are_given_up(tmp_path):
    with SilentPool(1) as pool:
        executor = FuturesExecutor(pool=pool, **LIMITS)
        y = means(cubed.Spec(tmp_path / "work", allowed_mem="300MB", executor=executor), few=True)
        out, stats = run(y, tmp_path)
    assert out.tobytes() == expected(y).tobytes()
    assert stats["num_retries"] >= 1


def test_an_engine_that_never_answers_is_an_error(tmp_path):
    y = means(cubed.Spec(tmp_path / "work", allowed_mem="300MB"), few=True)
    with (
        SilentPool(-1) as pool,
        pytest.raises(TimeoutError, match="tasks .* sent no report .*: they are considered lost"),
    ):
        y.compute(executor="futures", pool=pool, retries=1, **LIMITS)
    assert not left(tmp_path)


def test_lists_of_which_nothing_is_heard_are_given_up(tmp_path):
    """Of engines that are given lists of calls, which nobody can end."""
    silent, leave = [False] * 999 + [True], threading.Event()

    class Lists(StageEngine):
        def run_stage(self, call, messages):
            if silent.pop():
                leave.wait()
            return [call(m) for m in messages]

    class Stages(EngineExecutor):
        name = "stages"

        def connect(self):
            return Lists(WORKERS)

    executor = Stages(max_workers=WORKERS, **LIMITS)
    y = means(cubed.Spec(tmp_path / "work", allowed_mem="300MB", executor=executor), few=True)
    out, stats = run(y, tmp_path)
    leave.set()
    assert out.tobytes() == expected(y).tobytes()
    assert stats["num_retries"] > 0


def test_a_cluster_without_workers_is_an_error(tmp_path):
    distributed = pytest.importorskip("distributed")
    none = {"n_workers": 0, "processes": False, "dashboard_address": None}
    spec = cubed.Spec(tmp_path / "work", allowed_mem="300MB")
    with (
        distributed.LocalCluster(**none) as cluster,
        distributed.Client(cluster) as client,
        pytest.raises(TimeoutError, match="Dask has had no workers for 0.5 s"),
    ):
        means(spec, few=True).compute(executor="dask", client=client, start_timeout=0.5)
    assert not left(tmp_path)


#: Clusters without workers, in processes of their own: there may be another one in this.
BEGIN = {
    "ray": "ray.init(num_cpus=0, include_dashboard=False, object_store_memory=80 << 20)",
    "pyspark": """
conf = pyspark.SparkConf().setMaster("local-cluster[1,1,600]").setAppName("cubed")
conf.setAll([("spark.ui.enabled", "false"), ("spark.driver.host", "127.0.0.1")])
# More than a machine has: none begins.
conf.setAll([("spark.executor.cores", "2"), ("spark.executor.memory", "500m")])
pyspark.SparkContext(conf=conf)
""",
}


@pytest.mark.parametrize(("name", "package"), [("Ray", "ray"), ("Spark", "pyspark")])
def test_clusters_of_others_without_workers_are_errors(tmp_path, name, package):
    pytest.importorskip(package)
    code = f"""
import {package}, test_engines
{BEGIN[package]}
spec = test_engines.cubed.Spec({str(tmp_path / "work")!r}, allowed_mem="300MB")
y = test_engines.means(spec, few=True)
y.compute(executor={name.lower()!r}, max_workers=2, start_timeout=0.5)
"""
    env = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": TESTS_PATH}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=200)
    assert f"TimeoutError: the cluster of {name} has had no workers for 0.5 s" in done.stderr
    assert not left(tmp_path)


def test_calls_are_lost_whose_worker_is_seen_to_have_ended(tmp_path, monkeypatch):
    """But not those of which something is heard soon."""
    monkeypatch.setattr(base, "_LAST_WORDS", 2.0)

    class Seeing(FuturesEngine):
        def silent(self):
            return list(self._flying)

    class SeeingExecutor(FuturesExecutor):
        name = "seeing"

        def connect(self):
            return Seeing(self.pool, WORKERS)

    with SilentPool(1) as pool:
        executor = SeeingExecutor(pool=pool, use_backups=False)
        y = means(cubed.Spec(tmp_path / "work", allowed_mem="300MB", executor=executor), few=True)
        out, stats = run(y, tmp_path)
    assert out.tobytes() == expected(y).tobytes()
    assert stats["num_retries"] == 1


def reverse(message):
    return message[::-1]


def end(message):
    os._exit(1)


@pytest.mark.parametrize("scheme", ["", "file://"])
def test_replies_are_left_in_the_work_directory(tmp_path, scheme):
    work = tmp_path / "a b"
    work.mkdir()
    messages = [worker.message(bytes([i]) * 120, "", "") for i in range(3)]
    url = scheme + (urllib.parse.quote(str(work)) if scheme else str(work))
    replies = Replies(url, "plan", messages)
    leave(replies.calls[1], reverse)
    assert not replies.someone_died()
    got = replies.read()
    assert got[1] == messages[1][::-1]
    assert all(isinstance(got[i], worker.WorkerLostError) for i in (0, 2))
    other = multiprocessing.get_context("spawn").Process(target=leave, args=(replies.calls[2], end))
    other.start()
    other.join()
    assert replies.someone_died()


def test_lists_are_as_long_as_they_may_be(tmp_path):
    """Starting one takes seconds, whatever is in it."""
    lengths = []

    class Lists(StageEngine):
        at_a_time, in_flight = 1, 6

        def run_stage(self, call, messages):
            lengths.append(len(messages))
            return [call(m) for m in messages]

    class Stages(EngineExecutor):
        name = "stages"

        def connect(self):
            return Lists(2)

    spec = cubed.Spec(tmp_path / "work", allowed_mem="300MB", executor=Stages(max_workers=2))
    x = cubed.random.random(300, chunks=10, seed=1, spec=spec)
    cubed.map_blocks(np.negative, x, dtype="f8").compute()
    assert lengths == [12, 12, 6]


@pytest.mark.parametrize("seconds", [0, -1, "1"])
def test_start_timeouts_are_checked(seconds):
    with pytest.raises((TypeError, ValueError), match="start_timeout is .*, expected"):
        create_executor("futures", {"start_timeout": seconds})


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("fails for good", ZeroDivisionError),
        ("memory", MemoryError),
        ("says nonsense", ValueError),
        ("sees an old plan", ValueError),
        ("has another version", RuntimeError),
    ],
)
def test_faults_that_do_not_pass(spec, tmp_path, fault, kind, error):
    y = means(spec)
    fault(kind, times=99)
    seen = Count()
    with pytest.raises(error):
        y.compute(callbacks=[seen], optimize_graph=False)
    assert seen.events == ["start", "error"]
    assert not left(tmp_path)


@pytest.mark.parametrize("more", [(), ("a",), ("a", ""), ("a", "", "0", "b")])
def test_messages_of_another_version(more):
    """Those of earlier versions name no attempt, or do not tell whether there are functions."""
    version = "0.9" if len(more) == 2 else cubed.__version__
    texts = "\0".join(("dir", "key", *more, version, "{}"))
    with pytest.raises(RuntimeError, match=f"the driver has version {version} of cubed, this"):
        worker.work(bytes(worker._RANGE_BYTES) + texts.encode())


def test_tries_are_counted(spec, tmp_path, fault):
    y = means(spec)
    fault("fails", times=3)
    with pytest.raises(ConnectionResetError, match="the network is away"):
        y.compute(optimize_graph=False)
    assert not left(tmp_path)
    fault("fails", times=3)
    assert y.compute(optimize_graph=False, retries=3).tobytes() == expected(y).tobytes()


def test_what_a_function_raises_is_raised(spec, tmp_path):
    x = xp.ones((20, 20), chunks=(5, 5), spec=spec)

    def function(a, block_id=None):
        if block_id == (2, 1):
            try:
                a.nope  # noqa: B018
            except AttributeError as e:
                raise LookupError("block 2, 1 is odd") from e
        return a

    with pytest.raises(LookupError, match="block 2, 1 is odd") as caught:
        cubed.map_blocks(function, x, dtype="f8").compute()
    assert type(caught.value.__cause__) is AttributeError
    notes = "\n".join(caught.value.__notes__)
    assert (
        f'File "{__file__}"' in notes and 'raise LookupError("block 2, 1 is odd") from e' in notes
    )
    with pytest.raises(AttributeError, match="'numpy.ndarray' object has no attribute 'nope'"):
        cubed.map_blocks(lambda a: a.nope, x, dtype="f8").compute()
    assert not left(tmp_path)


def test_a_run_that_failed_is_resumed(spec, tmp_path, fault):
    y = means(spec)
    fault("fails for good", only_first=True)
    with pytest.raises(ZeroDivisionError):
        y.compute(optimize_graph=False, resume=False)
    fault("none")
    out, _ = run(y, tmp_path, resume=True)
    assert out.tobytes() == expected(y).tobytes()


def test_a_run_that_failed_keeps_its_chunks(spec, tmp_path):
    """They are those of the run that resumes it, though it was begun without `resume`."""
    out, fails = tmp_path / "out", tmp_path / "fails"
    fails.touch()

    def function(block):
        if block[0] == 76.0 and fails.exists():
            raise LookupError("block 38 is odd")
        return block * 2

    def chunks():
        return {p.name: p.stat().st_mtime_ns for p in out.glob("c/[0-9]*")}

    x = cubed.from_array(np.arange(80.0), chunks=2, spec=spec)
    y = cubed.map_blocks(function, x, dtype="f8")
    with pytest.raises(LookupError, match="block 38 is odd"):
        cubed.to_zarr(y, out)
    kept = chunks()
    assert 0 < len(kept) < 40
    fails.unlink()
    cubed.to_zarr(y, out, resume=True)
    np.testing.assert_array_equal(zarr.open_array(out)[...], np.arange(80.0) * 2)
    after = chunks()
    assert {name: after[name] for name in kept} == kept


DRIVER = """
import sys, time
import cubed
import numpy as np
import test_engines

def slow(a):
    time.sleep(0.2)
    return a * 2

if __name__ == "__main__":
    kind, work, out, resume = sys.argv[1:]
    with test_engines.ENGINES[kind]() as (name, options):
        spec = cubed.Spec(work, allowed_mem="300MB", executor_name=name, executor_options=options)
        x = cubed.from_array(np.arange(80.0), chunks=2, spec=spec)
        y = cubed.map_blocks(slow, x, dtype="f8")
        cubed.to_zarr(y, out, resume=resume == "resume")
"""


def test_a_driver_is_killed_and_another_one_goes_on(engine, spec, tmp_path):
    """A process has the engine, or what of it can be in one, and is killed with all of that."""
    if engine[0] == "coiled":
        pytest.skip("asks its service, but for what is replaced in this process")
    out, script = tmp_path / "out", tmp_path / "driver.py"
    script.write_text(DRIVER)

    def start(resume):
        """What engines leave running has no pipe of ours."""
        args = [sys.executable, script, engine[0], spec.work_dir, out, resume]
        # Calls of both would have the same names: those that go on from Lithops's in this process.
        env = {k: v for k, v in os.environ.items() if not k.startswith("__LITHOPS")}
        with (tmp_path / f"said-{resume}").open("w") as said:
            return subprocess.Popen(args, env=env, stdout=said, stderr=said, start_new_session=True)

    def chunks():
        return {p.name: p.stat().st_mtime_ns for p in out.glob("c/[0-9]*")}

    with start("new") as driver:
        deadline = time.monotonic() + 120
        while not chunks() and driver.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        os.killpg(driver.pid, signal.SIGKILL)
    made = chunks()
    assert 0 < len(made) < 40, (tmp_path / "said-new").read_text()
    with start("resume") as driver:
        code = driver.wait(timeout=200)
    assert code == 0, (tmp_path / "said-resume").read_text()
    np.testing.assert_array_equal(zarr.open_array(out)[...], np.arange(80.0) * 2)
    assert sum(chunks()[k] == made[k] for k in made) >= len(made) - 8  # those in flight
    assert not left(tmp_path)


def test_an_interrupt_leaves_nothing(spec, tmp_path):
    x = cubed.from_array(np.arange(400.0), chunks=2, spec=spec)

    def slow(a):
        time.sleep(0.1)
        return a

    class Interrupt(Callback):
        def on_task_end(self, event):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cubed.map_blocks(slow, x, dtype="f8").compute(callbacks=[Interrupt()])
    assert not left(tmp_path)


def test_options_of_cubed_for_python_are_accepted():
    pytest.importorskip("lithops")
    executor = create_executor("lithops", {"wait_dur_sec": 0.1, "compute_arrays_in_parallel": True})
    assert executor.name == "lithops"


def test_pools_that_are_wrong():
    with pytest.raises(TypeError, match="pool is 3, expected an executor"):
        create_executor("futures", {"pool": 3})
    with pytest.raises(ValueError, match="there is no executor 'fortune'"):
        create_executor("fortune")


def test_a_pool_of_the_users_that_breaks_is_an_error(tmp_path, monkeypatch):
    monkeypatch.setenv("CUBED_TEST_FAULTS", str(tmp_path))
    (tmp_path / "fault").write_text(json.dumps({"kind": "is killed"}))
    monkeypatch.setattr(worker, "work", engine_faults.work)
    spec = cubed.Spec(tmp_path / "work", allowed_mem="300MB")
    spawn = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(2, mp_context=spawn) as pool,
        pytest.raises(BrokenExecutor, match="terminated abruptly|not usable"),
    ):
        means(spec).compute(executor="futures", pool=pool)
    assert not left(tmp_path)


def test_arrays_in_memory_are_unmapped_by_workers(spec, tmp_path, engine):
    """Runs come and go, and what they read of memory is not kept."""
    if engine[0] != "futures of threads":
        pytest.skip("looks into this process")
    for _ in range(8):
        x = cubed.from_array(np.random.default_rng(0).random(100_000), chunks=30_000, spec=spec)
        (x + 1).compute()
    gc.collect()
    # The arrays of this test alone: earlier tests of this process may have left libraries mapped.
    arrays = re.escape(spec.work_dir) + "/cubed-"
    assert len(re.findall(arrays, Path("/proc/self/maps").read_text())) <= 4 * WORKERS


@pytest.mark.parametrize(("overhead", "most"), [(0.0, 1 << 30), (10.0, 2)])
def test_ranges_are_worth_what_it_costs_to_send_them(tmp_path, overhead, most):
    sent = []

    class Costly(FuturesExecutor):
        name = f"costs {overhead}"

        def connect(self):
            engine = super().connect()
            submit = engine.submit_one
            engine.submit_one = lambda m: sent.append(m) or submit(m)
            return engine

    Costly.overhead = overhead
    with ThreadPoolExecutor(WORKERS) as pool:
        y = means(cubed.Spec(tmp_path / "work", allowed_mem="300MB", executor=Costly(pool=pool)))
        plan = y.plan(optimize_graph=False)
        plan.execute([np.empty(y.shape)])
    assert plan.num_stages <= len(sent) <= most * plan.num_stages
    if overhead == 0:
        assert len(sent) >= 3 * WORKERS * plan.num_stages / 2


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.stem)
def test_pages_from_nothing_to_nothing(tmp_path, page):
    pytest.importorskip(PACKAGES.get(page.stem, "distributed"))
    codes = re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
    if page.stem in ("coiled", "http", "lambda"):
        assert not codes
        pytest.skip("needs an account with the service")
    (code,) = codes
    (tmp_path / "page.py").write_text(code)
    # Prefect begins a server of its own.
    env = {**os.environ, "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "200"}
    command = [sys.executable, "page.py"]
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert not left(tmp_path)


@pytest.mark.parametrize(("name", "package"), PACKAGES.items())
def test_engines_that_are_not_installed_are_named(monkeypatch, name, package):
    for module in [m for m in sys.modules if m.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    x = xp.ones((3,), spec=cubed.Spec(allowed_mem="300MB"))
    with pytest.raises(ImportError, match=f"^{package} is not .*: {install_command(name)}$"):
        x.compute(executor=name)


def test_nothing_is_imported_before_it_is_used():
    code = f"import cubed, sys; assert not {set(PACKAGES.values())} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("runner", ["DataflowRunner", "apache_beam.runners.DataflowRunner"])
def test_dataflow_needs_options(runner):
    pytest.importorskip("apache_beam")
    options = {"runner": runner, "project": "p", "region": "europe-west4"}
    x = xp.ones((3,), spec=cubed.Spec(allowed_mem="300MB"))
    with pytest.raises(ValueError, match="options of Dataflow lack temp_location"):
        x.compute(executor="beam", options=options)


def test_contexts_of_spark_that_are_wrong():
    pytest.importorskip("pyspark")
    x = xp.ones((3,), spec=cubed.Spec(allowed_mem="300MB"))
    with pytest.raises(TypeError, match="spark_context is 3, expected a pyspark.SparkContext"):
        x.compute(executor="spark", spark_context=3)
