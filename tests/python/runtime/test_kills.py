"""Runs of every operator are killed at random times, and are resumed until they are complete."""

import itertools
import os
import random
import signal
import subprocess
import time

import numpy as np
from conftest import BIN, NIGHTLY, cases, check, run, stages_of

import zarr

SHAPE = (120, 90)
MASK = np.random.default_rng(2).random(SHAPE) < 0.4

# By operator: what the command makes of x and m, and NumPy.
OPERATORS = {
    "map": ("eval", "x * 2 + 1", lambda a: a * 2 + 1),
    "reduce": ("eval", "sum(x, axis=0)", lambda a: a.sum(0)),
    "partial and merge": ("eval", "max(x) - x", lambda a: a.max() - a),
    "scan": ("eval", "cumsum(x, axis=0)", lambda a: a.cumsum(0)),
    "call": ("eval", "sort(x, axis=0)", lambda a: np.sort(a, 0)),
    "pick": ("eval", "compress(reshape(x, -1), reshape(m, -1))", lambda a: a[MASK]),
    "several": (
        "eval",
        "sort(cumsum(x - max(x), axis=1), axis=0)",
        lambda a: np.sort((a - a.max()).cumsum(1), 0),
    ),
    "copy": ("rechunk", "7,90", lambda a: a),
    "copy in shards": ("rechunk", "10,15", lambda a: a),
}
WAYS = ("threads", "processes", "worker")


def command(operator, zarr_format, folder):
    verb, what, _ = OPERATORS[operator]
    if verb == "rechunk":
        args = [verb, folder / "x", folder / "out", "--chunks", what, "--allowed-mem", "4300kB"]
        args += ["--reserved-mem", "4MB"]
        if operator == "copy in shards":
            args += ["--shards", "60,45"]
            zarr_format = 3
    else:
        args = [verb, what, "--in", f"x={folder / 'x'}", "--out", folder / "out", "--no-optimize"]
        args += ["--in", f"m={folder / 'm'}"] if operator == "pick" else []
    return [*args, "--format", zarr_format, "--work-dir", folder / "work"]


def start(*args):
    return subprocess.Popen(
        [BIN, *map(str, args)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def killed(process, after):
    """Whether it was killed, after so many seconds; else it ended well before."""
    try:
        _, err = process.communicate(timeout=after)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=30)
        return True
    assert process.returncode == 0, err
    return False


def run_killed(args, way, pick, seconds):
    """By the command that drives a whole run, killed twice and resumed."""
    kills = 0
    options = ("--executor", way, "--max-workers", 2, "--progress", "none")
    for _ in range(2):
        kills += killed(start(*args, *options, "--resume"), pick.uniform(0.002, seconds))
    check(run(*args, *options, "--resume"))
    return kills


def work_killed(args, folder, pick, seconds):
    """By workers of a plan: of each stage all of the tasks, killed in between and done again."""
    plan, kills = folder / "p.cubed", 0
    check(run(*args, "--save-plan", plan))
    name = check(run("worker", plan, "--begin")).out.strip()
    for stage, tasks in stages_of(plan, name):
        cuts = sorted({0, tasks // 2, tasks})
        parts = [f"{a}:{b}" for a, b in itertools.pairwise(cuts)]
        for part in (*parts, f"0:{tasks}"):
            after = pick.uniform(0.001, seconds / 4)
            kills += killed(start("worker", plan, stage, part, "--run", name), after)
        for part in parts:
            check(run("worker", plan, stage, part, "--run", name))
    check(run("worker", plan, "--finish", "--run", name))
    return kills


def test_many_kills(tmp_path):
    """200 with --nightly, and at least one of each operator in each way and format."""
    a = np.random.default_rng(1).integers(-9, 9, SHAPE).astype("f8")
    for name, values in (("x", a), ("m", MASK)):
        z = zarr.create_array(tmp_path / name, shape=SHAPE, chunks=(10, 9), dtype=values.dtype)
        z[...] = values
    pick = random.Random(5)
    kills, wanted, tried = 0, cases(10), 0
    combinations = itertools.cycle(itertools.product(WAYS, OPERATORS, (2, 3)))
    skip = itertools.cycle(range(7))
    took, missing = {}, set(itertools.product(WAYS, OPERATORS, (2, 3))) if NIGHTLY else set()
    while kills < wanted or missing:
        way, operator, zarr_format = next(combinations)
        if wanted <= 10:  # a few of each
            for _ in range(next(skip)):
                way, operator, zarr_format = next(combinations)
        folder = tmp_path / str(tried)
        folder.mkdir()
        for name in ("x", "m"):
            (folder / name).symlink_to(tmp_path / name)
        args = command(operator, zarr_format, folder)
        if (way, operator) not in took:
            begun = time.monotonic()
            executor = "threads" if way == "worker" else way
            check(run(*args, "--executor", executor, "--max-workers", 2, "--overwrite"))
            took[way, operator] = time.monotonic() - begun
            check(run("clean", folder / "out"))
            subprocess.run(["rm", "-r", folder / "out"], check=True)
        seconds = took[way, operator]
        if way == "worker":
            now = work_killed(args, folder, pick, seconds)
        else:
            now = run_killed(args, way, pick, seconds)
        kills += now
        if now > 0:
            missing.discard((way, operator, zarr_format))
        z = zarr.open_array(folder / "out", mode="r")
        np.testing.assert_array_equal(z[...], OPERATORS[operator][2](a), f"{way} {operator}")
        # What counts values before the rest runs is a plan of its own, which begins anew. A worker
        # may write a last file after the run that goes on has cleared: its end is asynchronous.
        if operator == "pick" or way == "processes":
            check(run("clean", folder / "work"))
        left = [p for p in (folder / "work").rglob("*") if p.is_file()]
        assert not left, (way, operator, left)
        tried += 1
        assert tried < 20 * wanted, "runs end before they are killed"
        subprocess.run(["rm", "-r", folder], check=True)
