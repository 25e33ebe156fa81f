"""Saved plans with Python functions: workers of the command run them, also as jobs."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cubed
import numpy as np
import pytest
from conftest import BIN, TESTS_PATH, check, run
from test_submit import SBATCH, programs, slurm  # noqa: F401, fixtures

import zarr

X = np.arange(60.0).reshape(12, 5)


@pytest.fixture(autouse=True)
def _this_python(monkeypatch):
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", TESTS_PATH)  # functions of this module are pickled by name
    monkeypatch.delenv("CUBED_TASK_INDEX", raising=False)


def add_index(block, block_id):
    return block + 100 * block_id[0]


def fail(block):
    if block[0, 0] == 20:
        raise ValueError("no twenty")
    return block


def grow(block):
    return block + np.ones(2**27)[:5]


def kill(block):
    os.kill(os.getpid(), signal.SIGKILL)
    return block


def leave(block):
    os._exit(7)


def wait(block):
    time.sleep(60)
    return block


def save(tmp_path, function, x=X, allowed_mem="300MB", reserved_mem="150MB"):
    spec = cubed.Spec(tmp_path / "work", allowed_mem=allowed_mem, reserved_mem=reserved_mem)
    if isinstance(x, np.ndarray):
        x = cubed.from_array(x, chunks=(2, 5), spec=spec)
    y = cubed.map_blocks(function, x, dtype=x.dtype)
    plan = cubed.to_zarr(y, tmp_path / "y.zarr", compute=False).plan()
    saved = tmp_path / "p.cubed"
    saved.write_bytes(plan.save())
    return saved, plan


def worker(plan, *args, **variables):
    return subprocess.run(
        [BIN, "worker", str(plan), *map(str, args)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def begun(tmp_path, function, **limits):
    saved, _ = save(tmp_path, function, **limits)
    check(run("worker", saved, "--begin", "--run", "r", "--allow-code"))
    return saved


def test_parts(tmp_path):
    saved = begun(tmp_path, add_index)
    first = check(run("worker", saved, 0, "1:3", "--run", "r", "--allow-code"))
    assert first.out.startswith("2 tasks in ")
    for i, n in enumerate((1, 3)):  # those that are done are skipped
        done = worker(saved, 0, "--of", 2, "--run", "r", "--allow-code", CUBED_TASK_INDEX=str(i))
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"{n} tasks in ")
    again = worker(saved, 0, "--of", 1, "--run", "r", "--allow-code", CUBED_TASK_INDEX="0")
    assert again.stdout.startswith("0 tasks in ")
    check(run("worker", saved, "--finish", "--run", "r", "--allow-code"))
    want = X + 100 * (np.arange(12) // 2)[:, None]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y.zarr")[...], want)


@pytest.mark.parametrize(
    ("function", "code", "says"),
    [
        (fail, 1, "ValueError: no twenty"),
        (grow, 12, "MemoryError: out of memory: "),
        (kill, 75, "ended by signal 9, as the system does if memory is short"),
        (leave, 75, "ended with status 7"),
    ],
)
def test_failures(tmp_path, function, code, says):
    saved = begun(tmp_path, function)
    done = run("worker", saved, 0, "0:6", "--run", "r", "--allow-code")
    assert done.code == code, done.err
    assert says in done.err


def test_a_task_that_takes_too_long(tmp_path):
    saved = begun(tmp_path, wait)
    limit = ("--task-timeout", "0.5")
    done = run("worker", saved, 0, "0:1", "--run", "r", "--allow-code", *limit)
    assert done.code == 124
    assert "a task did not end within its time limit of 0.5 s" in done.err


def test_an_interrupt(tmp_path):
    saved = begun(tmp_path, wait)
    command = [BIN, "worker", saved, "0", "0:1", "--run", "r", "--allow-code"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not (children := children_of(process.pid)):
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) in (130, 143)
    assert not any(Path("/proc", child).exists() for child in children)


def children_of(pid):
    """Python processes that the command has started to run tasks."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    running = {p: Path(f"/proc/{p}/cmdline").read_text() for p in children}
    return [p for p, line in running.items() if "cubed.runtime.saved_plan" in line]


def test_a_module_that_is_not_there(tmp_path, monkeypatch):
    saved = begun(tmp_path, add_index)
    monkeypatch.delenv("PYTHONPATH")
    done = run("worker", saved, 0, "0:6", "--run", "r", "--allow-code")
    assert done.code == 1
    assert "ModuleNotFoundError: No module named 'test_saved_functions'" in done.err


def test_code_needs_to_be_allowed(tmp_path):
    saved, _ = save(tmp_path, add_index)
    folder = tmp_path / "run-1"
    for args in (
        ("worker", saved, "--begin", "--run", "r"),
        ("worker", saved, 0, "0:6", "--run", "r"),
        ("submit", saved, folder, "--engine", "slurm"),
        ("run", saved),
        ("run", saved, "--plan"),
    ):
        done = run(*args)
        assert done.code == 1
        assert 'the plan carries code for the function "python": allow it to run' in done.err
    assert not folder.exists()


def test_the_command_runs_no_functions_itself(tmp_path):
    saved, _ = save(tmp_path, add_index)
    done = run("run", saved, "--allow-code")
    assert done.code == 1
    assert "cubed.load_plan(data, allow_code=True).execute()" in done.err
    assert not (tmp_path / "y.zarr").exists()


def test_memory_is_that_of_the_plan(tmp_path):
    """The command plans with the memory of functions, though it does not run them."""
    saved, plan = save(tmp_path, add_index)
    (stage,) = json.loads(check(run("run", saved, "--allow-code", "--plan", "--json")).out)[
        "stages"
    ]
    assert stage["projected_mem"] == plan.stages[0]["projected_mem"]


def test_readers_are_of_python(tmp_path):
    """What reads from Python objects needs Python to be loaded."""

    class Source:
        shape, dtype, chunks = X.shape, X.dtype, (2, 5)

        def __getitem__(self, key):
            return X[key]

    spec = cubed.Spec(tmp_path / "work", allowed_mem="300MB", reserved_mem="150MB")
    saved, _ = save(tmp_path, fail, cubed.from_array(Source(), spec=spec))
    done = run("worker", saved, "--begin", "--run", "r", "--allow-code")
    assert done.code == 1
    assert "python" in done.err


def test_a_python_without_the_package(tmp_path, monkeypatch):
    saved = begun(tmp_path, add_index)
    monkeypatch.setenv("CUBED_PYTHON", "/nowhere/python3")
    done = run("worker", saved, 0, "0:6", "--run", "r", "--allow-code")
    assert done.code == 1
    assert "set CUBED_PYTHON to another Python" in done.err


def test_jobs(tmp_path, programs):  # noqa: F811
    programs(sbatch=SBATCH, squeue="#!/bin/sh\n", scancel="#!/bin/sh\n")
    saved, _ = save(tmp_path, add_index)
    folder = tmp_path / "run-1"
    options = ("--engine", "slurm", "--elements", 3, "--allow-code", "--start")
    check(run("submit", saved, folder, *options))
    assert "6 of 6 tasks done" in check(run("attach", folder)).err
    assert "the results are complete" in check(run("status", folder)).out
    want = X + 100 * (np.arange(12) // 2)[:, None]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y.zarr")[...], want)


def test_jobs_that_are_waited_for(tmp_path, programs):  # noqa: F811
    programs(sbatch=SBATCH, squeue="#!/bin/sh\n")
    saved, _ = save(tmp_path, add_index)
    done = check(run("run", saved, "--engine", "slurm", "--allow-code"))
    assert "6 of 6 tasks done" in done.err


def test_jobs_of_slurm_itself(tmp_path, slurm, monkeypatch):  # noqa: F811
    """Its workers are other processes of its nodes, which load the function when a job begins."""
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    saved, _ = save(tmp_path, add_index)
    folder = tmp_path / "run-1"
    options = ("--engine", "slurm", "--elements", 3, "--start")
    refused = run("submit", saved, folder, *options)
    assert refused.code == 1
    assert 'the plan carries code for the function "python": allow it to run' in refused.err
    check(run("submit", saved, folder, *options, "--allow-code"))
    assert "6 of 6 tasks done" in check(run("attach", folder, "--every", 1)).err
    want = X + 100 * (np.arange(12) // 2)[:, None]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y.zarr")[...], want)


def test_jobs_of_slurm_itself_that_fail(tmp_path, slurm, monkeypatch):  # noqa: F811
    """The error of the function is in the log of its job, and nothing looks complete."""
    monkeypatch.setenv("SLURM_CONF", str(slurm))
    saved, _ = save(tmp_path, fail)
    folder = tmp_path / "run-1"
    check(
        run(
            "submit", saved, folder, "--engine", "slurm", "--elements", 3, "--allow-code", "--start"
        )
    )
    lost = run("attach", folder, "--every", 1)
    assert lost.code == 1
    assert "tasks are missing" in lost.err
    assert any("no twenty" in p.read_text() for p in folder.glob("stage-0.*.log"))
    assert not (tmp_path / "y.zarr/zarr.json").exists()


def test_beam_is_refused(tmp_path):
    saved, _ = save(tmp_path, add_index)
    done = run("submit", saved, tmp_path / "run-1", "--engine", "beam", "--allow-code")
    assert done.code == 1
    assert "workers of beam do not run" in done.err
