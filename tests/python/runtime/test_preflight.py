"""cubed.check_executor and `cubed executors --check` report problems before a long run."""

import contextlib
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import cubed
import numpy as np
import pytest
from conftest import BIN
from cubed.blocks import _preflight as preflight
from cubed.runtime.executors.lithops import LithopsEngine
from cubed.runtime.executors.modal import ModalEngine
from real_servers import free_port, wait_for

#: Starts Python without this package.
WITHOUT = """
import sys


class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "cubed":
            raise ModuleNotFoundError("No module named 'cubed'", name="cubed")


sys.meta_path.insert(0, Finder())
"""


@pytest.mark.parametrize("name", ["threads", "single-threaded", "processes", "futures"])
def test_workers_are_described(name, tmp_path):
    found = cubed.check_executor(cubed.Spec(tmp_path / "work"), executor=name, max_workers=2)
    assert 1 <= len(found) <= 2
    for worker in found:
        assert worker.host == os.uname().nodename
        assert worker.python == sys.version.split()[0]
        assert worker.numpy == np.__version__
        assert worker.memory > 1 << 28
    assert (found[0].pid == os.getpid()) == (name in ("threads", "single-threaded"))
    assert not [*(tmp_path / "work").glob("*")]


def test_stores_that_workers_do_not_reach(tmp_path):
    cubed.to_zarr(cubed.ones((3,)), tmp_path / "x.zarr")
    spec = cubed.Spec(tmp_path / "work")
    assert cubed.check_executor(spec, stores=[str(tmp_path / "x.zarr")], executor="threads")
    with pytest.raises(FileNotFoundError, match=r"nothing\.zarr"):
        cubed.check_executor(spec, stores=[str(tmp_path / "nothing.zarr")], executor="processes")


def test_too_little_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight._core, "machine_mem", lambda: 1 << 20)
    with pytest.raises(MemoryError, match="has 1048576 bytes of memory, and allowed_mem is"):
        cubed.check_executor(cubed.Spec(tmp_path, allowed_mem="200MB"), executor="threads")


def test_another_python(tmp_path, monkeypatch):
    monkeypatch.setattr(preflight.platform, "python_version_tuple", lambda: ("3", "10", "0"))
    with pytest.warns(RuntimeWarning, match="use the same minor version"):
        cubed.check_executor(cubed.Spec(tmp_path), executor="threads")


def dask(client, work_dir, allowed_mem="200MB"):
    return cubed.Spec(work_dir, allowed_mem=allowed_mem, executor_name="dask",
                      executor_options={"client": client})  # fmt: skip


@contextlib.contextmanager
def process(*command, **variables):
    silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    started = subprocess.Popen(
        [sys.executable, "-m", *command], env={**os.environ, **variables}, **silent
    )
    try:
        yield started
    finally:
        started.kill()
        started.wait()


def test_dask_workers_without_the_package(tmp_path):
    distributed = pytest.importorskip("distributed")
    (tmp_path / "sitecustomize.py").write_text(WITHOUT)
    port = free_port()
    address, local = f"127.0.0.1:{port}", ("--no-dashboard", "--host", "127.0.0.1")
    worker = ("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny", *local)
    with contextlib.ExitStack() as ends:
        scheduler = ("distributed.cli.dask_scheduler", "--port", str(port), *local)
        wait_for(port, ends.enter_context(process(*scheduler)))
        ends.enter_context(process(*worker, PYTHONPATH=str(tmp_path)))
        client = ends.enter_context(distributed.Client(address, set_as_default=False, timeout=60))
        client.wait_for_workers(1, timeout=60)
        started = time.monotonic()
        spec = dask(client, tmp_path / "work")
        for call in (lambda: cubed.check_executor(spec), cubed.ones((3,), spec=spec).compute):
            with pytest.raises(ImportError, match="cannot import cubed.*: install version"):
                call()
        assert time.monotonic() - started < 30


def test_limits_of_dask_and_its_address(tmp_path):
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        1, threads_per_worker=2, dashboard_address=None, memory_limit="1GB"
    ) as cluster:
        address = cluster.scheduler_address
        # Two threads share the memory beyond what the process needs.
        with pytest.raises(MemoryError, match="memory_limit of Dask's worker"):
            cubed.ones((3,), spec=dask(address, tmp_path / "work", "900MB")).compute()
        assert len(cubed.check_executor(dask(address, tmp_path / "work", "400MB"))) == 1
        done = subprocess.run(
            [BIN, "executors", "--check", "dask", "--work-dir", tmp_path / "work",
             "--allowed-mem", "400MB", "--executor-option", f"client={address}"],
            env={**os.environ, "CUBED_PYTHON": sys.executable}, capture_output=True, text=True,
            timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "dask: workers start" in done.stdout


def test_dask_names_calls_by_their_stage(tmp_path):
    """Its dashboard groups calls by these names."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(1, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        x = cubed.ones((4, 4), chunks=2, spec=dask(client, tmp_path))
        y = cubed.sum(cubed.sin(x), axis=0)
        y.compute()
        groups = client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.task_prefixes])
    (group,) = groups
    assert group.startswith("sum(sin(")
    with pytest.raises(ValueError, match=r"client is <Client.*, which is closed, expected an open"):
        y.compute()


def test_limits_of_other_engines():
    lithops = object.__new__(LithopsEngine)
    modal = object.__new__(ModalEngine)
    config = {"lithops": {"backend": "aws_lambda"}, "aws_lambda": {"runtime_memory": 256}}
    lithops._executor = SimpleNamespace(config=config)
    modal._memory = 256
    for engine, name in ((lithops, "runtime_memory"), (modal, "memory of Modal")):
        engine.check(256 << 20, 0)
        with pytest.raises(MemoryError, match=f"268435456 bytes.*{name}.*lower allowed_mem"):
            engine.check((256 << 20) + 1, 0)
    config["lithops"]["backend"] = "localhost"
    lithops.check(1 << 40, 0)


def run_check(*options, **variables):
    return subprocess.run(
        [BIN, "executors", *options], capture_output=True, text=True, timeout=60,
        env={**os.environ, "CUBED_PYTHON": sys.executable, **variables},
    )  # fmt: skip


def test_command(tmp_path):
    done = run_check("--check", "threads", "--work-dir", tmp_path, "--store", tmp_path / "no.zarr")
    assert done.returncode == 1
    assert done.stderr.startswith("cubed executors: threads: ArrayNotFoundError: there is no")
    done = run_check("--check", "single-threaded")
    assert done.returncode == 0
    assert "version" in done.stdout and f":{os.getpid()} " not in done.stdout


def test_command_and_batch_systems(tmp_path):
    programs = [tmp_path / name for name in ("sbatch", "squeue", "scancel")]
    for program in programs:
        program.write_text("#!/bin/sh\n")
        program.chmod(0o755)
    assert run_check("--check", "slurm", PATH=str(tmp_path)).returncode == 0
    programs[1].unlink()
    done = run_check("--check", "slurm", PATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "cubed executors: slurm: there is no program squeue in PATH\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--check", "nothing"], '--check "nothing": expected an executor'),
        (["--check", "mpi"], '--check "mpi": expected an executor'),
        (["--check", "slurm", "--timeout", "3"], "--check slurm: expected no other options"),
        (["--store", "x"], "--store=x: expected with --check NAME"),
        (["--check", "threads", "--json"], "--json: expected without --check"),
        (["more"], "no arguments are expected"),
    ],
)
def test_wrong_options(options, message):
    done = run_check(*options)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_keys_in_messages_are_warned_of(tmp_path):
    """Of engines that store messages; in its own process, because options stay."""
    program = """
import warnings
import cubed
from cubed import _core
from cubed.base._remote import set_options, set_service_options
from cubed.runtime.create import create_executor
from cubed.runtime.executors.ray import RayExecutor

class Executor(RayExecutor):
    def connect(self):
        raise RuntimeError("connected")

def caught(executor):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            executor.begin(1, 0)
        except RuntimeError:
            pass
    return [str(w.message) for w in found]

set_options("s3://bucket", {"profile": "mine", "region": "eu-west-1"})
assert caught(Executor()) == []
set_service_options("lambda://function", {"secret": "hidden-secret"})
assert caught(Executor()) == [] and "hidden-secret" not in _core.storage_options()
set_options("s3://bucket", {"key": "K", "secret": "very-secret"})
(text,) = caught(Executor())
assert "'secret' of s3://bucket" in text and "Ray's object store keeps" in text, text
assert "very-secret" not in text
assert caught(create_executor("futures")) == []
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60, cwd=tmp_path)
