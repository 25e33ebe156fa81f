"""A run that is suspended and taken over changes nothing that the other run completed.

Each round is one pair of runs, drawn by its number. The first run is a process of another machine
for the second one: it has its own name of the host and its own process numbers. It is stopped when
a random number of chunks exist, and goes on during the second run or after it.
"""

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import BIN, NIGHTLY, check, run

import zarr

ROUNDS = 200 if NIGHTLY else 6
SHAPE, CHUNKS = (400, 100), (10, 50)
NCHUNKS = 80
FIRST, SECOND, OLD = 1.0, 2.0, 3.0
# The second one is the other's end if the first one was stopped before it had the place.
TOLD = ("was taken over", "is being written by", "exists (an array)")
ELSEWHERE = "unshare --user --map-root-user --uts --pid --fork --kill-child --mount-proc".split()


@pytest.fixture(scope="module", autouse=True)
def _namespaces():
    if not shutil.which("unshare"):
        pytest.skip("unshare is not installed: no process can be of another machine")
    if subprocess.run([*ELSEWHERE, "true"], capture_output=True).returncode != 0:
        pytest.skip("this system allows no namespaces: no process can be of another machine")


def make(path, value):
    zarr.create_array(path, shape=SHAPE, chunks=CHUNKS, dtype="f8")[...] = value


def command(folder, source, out, *options):
    return [
        *("eval", "x + 0", "--in", f"x={folder / source}", "--out", folder / out),
        *("--progress", "none", *options),
    ]


class Suspended:
    """A run on another machine, which is stopped when so many chunks exist."""

    def __init__(self, folder, existing, arguments, chunks):
        script = 'hostname elsewhere; exec "$@"'
        self.process = subprocess.Popen(
            [*ELSEWHERE, "sh", "-c", script, "sh", BIN, *map(str, arguments)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        until = time.monotonic() + 30
        while self.process.poll() is None and time.monotonic() < until:
            if made(folder, existing) >= chunks:
                break
            time.sleep(0.001)
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def end(self):
        self.signal(signal.SIGCONT)
        _, error = self.process.communicate(timeout=60)
        return self.process.returncode, error


def made(folder, existing):
    """How many chunks of the first run exist, beside an array that exists or in their place."""
    new = next(folder.glob(".cubed-new-*~out"), None) if existing else folder / "out"
    if not new:
        return 0
    try:
        return sum(len(os.listdir(row)) for row in new.glob("c/*"))
    except FileNotFoundError:  # it has just taken its place
        return NCHUNKS


def values(path):
    """The values of what looks like an array, none if nothing does."""
    try:
        return set(np.unique(zarr.open_array(path, mode="r")[...]).tolist())
    except (FileNotFoundError, zarr.errors.NodeNotFoundError):
        return set()


def play(folder, number):
    draw = random.Random(number)
    existing = draw.random() < 0.5
    same = draw.random() < 0.5  # the second run is of the same computation
    how = draw.choice(["--overwrite", "--resume"])
    executor = draw.choice([("--max-workers", 1), ("--executor", "processes", "--max-workers", 2)])
    chunks = draw.randrange(NCHUNKS + 1)
    pause = draw.choice([None, draw.uniform(0, 0.3)])  # None: goes on after the second run
    about = f"{number}: {existing=} {same=} {how} {executor} {chunks=} {pause=}"

    if existing:
        make(folder / "out", OLD)
    first = Suspended(
        folder,
        existing,
        command(folder, "first", "out", *executor, *(["--overwrite"] if existing else []),
                "--durable", "--executor-option", "silence=1000"),
        chunks,
    )  # fmt: skip
    time.sleep(2.1)  # the record has whole seconds
    arguments = command(folder, "first" if same else "second", "out", how,
                        "--executor-option", "silence=1")  # fmt: skip
    with subprocess.Popen(
        [BIN, *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    ) as second:
        if pause is not None:
            time.sleep(pause)
            first.signal(signal.SIGCONT)
        error = second.communicate(timeout=60)[1]
    done = values(folder / "out")
    if second.returncode == 0:
        assert done == {FIRST if same else SECOND}, about
    code, first_error = first.end()
    now = values(folder / "out")
    if second.returncode == 0:
        assert now == done, f"{about}\n{first_error}"
        assert code == 0 or any(word in first_error for word in TOLD), f"{about}\n{first_error}"
    elif code == 0:
        assert now == {FIRST}, f"{about}\n{error}"
    else:
        assert now in (set(), {OLD}), f"{about}\n{error}\n{first_error}"
    check(run("clean", folder))
    assert not [*folder.glob(".cubed-new-*")], about
    return second.returncode, code


def test_rounds(tmp_path):
    make(tmp_path / "first", FIRST)
    make(tmp_path / "second", SECOND)

    def play_alone(number):
        folder = tmp_path / str(number)
        folder.mkdir()
        for source in ("first", "second"):
            (folder / source).symlink_to(tmp_path / source)
        outcome = play(folder, number)
        shutil.rmtree(folder)
        return outcome

    with ThreadPoolExecutor(6) as pool:  # rounds mostly wait
        outcomes = [*pool.map(play_alone, range(ROUNDS))]
    # Both kinds of end are seen: the second run completes, and the first one is taken over.
    assert any(second == 0 for second, _ in outcomes)
    assert any(first != 0 for _, first in outcomes)


@pytest.mark.parametrize("existing", [False, True])
def test_what_is_cleaned_meanwhile(tmp_path, existing):
    """What a silent run still writes after `cubed clean` reaches no array that is made later."""
    for source, value in (("first", FIRST), ("second", SECOND)):
        make(tmp_path / source, value)
    if existing:
        make(tmp_path / "out", OLD)
    options = ["--overwrite", "--max-workers", 1]
    slow = command(tmp_path, "first", "out", *options, "--durable")
    first = Suspended(tmp_path, existing, slow, NCHUNKS // 8)
    (tmp_path / "out" / "mine.txt").write_text("kept")
    record = tmp_path / "out" / ".cubed-run"
    text = json.loads(record.read_text())
    assert text["state"] == "working"
    record.write_text(json.dumps(text | {"beat": text["beat"] - 700}))
    check(run("clean", tmp_path / "out", tmp_path))
    assert (tmp_path / "out" / "mine.txt").read_text() == "kept"
    assert not record.exists() and not [*tmp_path.glob(".cubed-new-*")]
    check(run(*command(tmp_path, "second", "out", *options)))
    code, error = first.end()
    assert code != 0 and "was taken over" in error
    assert values(tmp_path / "out") == {SECOND}
    assert (tmp_path / "out" / "mine.txt").read_text() == "kept"
