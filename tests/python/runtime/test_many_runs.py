"""Concurrent runs: of one plan, with the same target or without targets, and of many plans in one
work directory.
"""

import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import BIN, NIGHTLY, check, looking, run, stages_of

import zarr

SECONDS = 60 if NIGHTLY else 2
EXPRESSION = "rechunk(x - mean(x, axis=0), (60, 4)) * {}"
TOLD = re.compile(
    r"is being written by process \d+ on |another run has just (begun to write|stopped writing) "
)


@pytest.fixture
def source(tmp_path):
    x = np.random.default_rng(1).normal(size=(60, 40))
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(6, 40), dtype="f8")
    z[...] = x
    return x


def arguments(folder, factor, *more):
    """Intermediates of processes lie in the work directory."""
    return [
        *("eval", EXPRESSION.format(factor), "--in", f"x={folder / 'x'}", "--no-optimize"),
        *("--work-dir", folder / "work", "--executor", "processes", "--max-workers", 2),
        *("--progress", "none", *more),
    ]


def into(folder, out):
    return ("--out", folder / out, "--overwrite")


def is_right(got, x, factor):
    return np.allclose(got, (x - x.mean(0)) * factor, rtol=1e-12, atol=1e-14)


def left(folder):
    """Everything but arrays that are whole."""
    found = [*(folder / "work").rglob("*")]
    return found + [p for p in folder.rglob(".cubed-*") if p.name != ".cubed-run"]


@pytest.mark.parametrize("factors", [(2, 2), (2, 3)], ids=["one plan", "two plans"])
def test_one_target_of_two_processes(source, tmp_path, factors):
    """Again and again: one writes, the other is told or comes after it. What is there is one's."""
    until = time.monotonic() + SECONDS
    told = rounds = 0

    def evaluate(factor):
        return run(*arguments(tmp_path, factor, *into(tmp_path, "out")))

    with ThreadPoolExecutor(2) as pool:
        while time.monotonic() < until or told == 0:
            done = list(pool.map(evaluate, factors))
            won = [f for f, d in zip(factors, done, strict=True) if d.code == 0]
            for d in done:
                assert d.code == 0 or TOLD.search(d.err), d.err
            told += 2 - len(won)
            rounds += 1
            got = zarr.open_array(tmp_path / "out", mode="r")[...]
            assert any(is_right(got, source, f) for f in won), (won, got)
            assert time.monotonic() < until + 60, f"they never met in {rounds} rounds"
    print(f"{rounds} rounds, in {told} of which one was told of the other")
    assert not left(tmp_path)


def test_one_plan_that_several_compute_at_once(source, tmp_path):
    """Each has intermediates of its own."""
    until = time.monotonic() + SECONDS

    def work(_):
        runs = 0
        while time.monotonic() < until or runs == 0:
            got = check(run(*arguments(tmp_path, 2, "--json"))).array()
            assert is_right(got, source, 2)
            runs += 1
        return runs

    with looking(tmp_path / "work") as most, ThreadPoolExecutor(4) as pool:
        print("runs of each:", list(pool.map(work, range(4))))
    assert most["of one plan"] > 1, "they never met"
    assert not left(tmp_path)


def in_memory(folder, factor, out, x, turn):
    got = check(run(*arguments(folder, factor, "--json"))).array()
    assert is_right(got, x, factor)


def stored(folder, factor, out, x, turn):
    check(run(*arguments(folder, factor, *into(folder, out))))


def killed(folder, factor, out, x, turn):
    """Whether it was killed, with its workers; then it is resumed."""
    args = [*map(str, arguments(folder, factor, *into(folder, out), "--resume"))]
    begun = subprocess.Popen(
        [BIN, *args],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    time.sleep(0.003 * (1 + turn % 8))
    runs = begun.poll() is None
    if runs:
        os.killpg(begun.pid, signal.SIGKILL)
    begun.wait()
    check(run(*args))
    return runs


def in_parts(folder, factor, out, x, turn):
    plan = folder / f"{out}.cubed"
    check(run(*arguments(folder, factor, *into(folder, out), "--save-plan", plan)))
    name = check(run("worker", plan, "--begin")).out.strip()
    for stage, tasks in stages_of(plan, name):
        check(run("worker", plan, stage, f"0:{tasks}", "--run", name))
    check(run("worker", plan, "--finish", "--run", name))


def test_eight_runs_in_one_work_directory(source, tmp_path):
    """Of one plan and of others, some of them in parts, or killed and resumed."""
    until = time.monotonic() + SECONDS
    runners = [in_memory, in_memory, stored, stored, killed, killed, in_parts, in_parts]

    def work(k):
        runs = kills = 0
        out, factor = f"out-{k}", max(k, 1)
        while time.monotonic() < until or runs == 0:
            kills += bool(runners[k](tmp_path, factor, out, source, runs))
            if runners[k] is not in_memory:
                got = zarr.open_array(tmp_path / out, mode="r")[...]
                assert is_right(got, source, factor), out
            runs += 1
        return runs, kills

    with looking(tmp_path / "work") as most, ThreadPoolExecutor(8) as pool:
        counts = list(pool.map(work, range(8)))
    print("runs of each, and kills:", counts, "at once:", most)
    assert sum(kills for _, kills in counts) > 0
    assert most["all"] > 2
    check(run("clean", tmp_path / "work", *(tmp_path / f"out-{k}" for k in range(2, 8))))
    assert not left(tmp_path)
