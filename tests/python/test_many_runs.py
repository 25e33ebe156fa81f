"""Runs that meet: of one plan into one target, and of many plans in one work directory."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import BIN, NIGHTLY, check, run

import zarr

SECONDS = 60 if NIGHTLY else 2
EXPRESSION = "rechunk(x - mean(x, axis=0), (60, 4)) * {}"


@pytest.fixture
def source(tmp_path):
    x = np.random.default_rng(1).normal(size=(60, 40))
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(6, 40), dtype="f8")
    z[...] = x
    return x


def evaluate(folder, factor, out, executor="threads", *more):
    """The outcome; intermediates of processes lie in the work directory."""
    args = ["eval", EXPRESSION.format(factor), "--in", f"x={folder / 'x'}", "--out", folder / out]
    args += ["--work-dir", folder / "work", "--no-optimize", "--progress", "none"]
    args += ["--executor", executor, "--max-workers", 2, *more]
    return run(*args)


def expect(folder, out, x, factor):
    got = zarr.open_array(folder / out, mode="r")[...]
    np.testing.assert_allclose(got, (x - x.mean(0)) * factor, rtol=1e-12, atol=1e-14)


def left(folder):
    """Everything but arrays that are whole."""
    found = [*(folder / "work").rglob("*")]
    return found + [p for p in folder.rglob(".cubed-*") if p.name != ".cubed-run"]


def test_one_plan_by_two_processes(source, tmp_path):
    """Into one target, again and again: one writes, the other is told or comes after it."""
    until = time.monotonic() + SECONDS

    def work(k):
        won = told = 0
        while time.monotonic() < until:
            done = evaluate(tmp_path, 2, "out", ("threads", "processes")[k], "--overwrite")
            won += done.code == 0
            told += done.code != 0
            if done.code != 0:
                assert "writ" in done.err or "taken" in done.err, done.err
        return won, told

    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(work, range(2)))
    print("runs that wrote and that were told, of each process:", counts)
    assert sum(won for won, _ in counts) > 0
    check(evaluate(tmp_path, 2, "out", "threads", "--overwrite"))
    expect(tmp_path, "out", source, 2)
    assert not left(tmp_path)


def test_eight_runs_in_one_work_directory(source, tmp_path):
    """Four plans, two of each at a time, some in parts and some that are killed and resumed."""
    until = time.monotonic() + SECONDS

    def work(k):
        runs = 0
        executor = ("threads", "processes")[k // 2 % 2]
        while time.monotonic() < until or runs == 0:
            out = f"out-{k}"
            if k % 4 == 3:
                args = [str(a) for a in (BIN, "eval", EXPRESSION.format(k // 2), "--in")]
                args += [f"x={tmp_path / 'x'}", "--out", str(tmp_path / out), "--resume"]
                args += ["--work-dir", str(tmp_path / "work"), "--no-optimize", "--overwrite"]
                with subprocess.Popen(
                    args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                ) as begun:
                    time.sleep(0.01 * (1 + runs % 7))
                    begun.kill()
                check(evaluate(tmp_path, k // 2, out, executor, "--overwrite", "--resume"))
            else:
                check(evaluate(tmp_path, k // 2, out, executor, "--overwrite"))
            expect(tmp_path, out, source, k // 2)
            runs += 1
        return runs

    with ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, range(8)))
    print("runs of each:", counts)
    check(run("clean", tmp_path / "work", *(tmp_path / f"out-{k}" for k in range(8))))
    assert not left(tmp_path)
