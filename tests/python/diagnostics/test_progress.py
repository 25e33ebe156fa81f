"""The progress of a run, on terminals of any width and in other outputs; short texts of plans."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import numpy as np
import pytest
from conftest import BIN, check, run

import zarr


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("progress") / "x.zarr"
    zarr.create_array(path, shape=(400, 300), chunks=(20, 300), dtype="f8")[...] = np.ones(
        (400, 300)
    )
    return path


def on_terminal(columns, *args):
    """What is written to a terminal of that width: the lines, and what each was drawn over with."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, columns, 0, 0))
    command = [BIN, *map(str, args)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not part:
                break
            text += part
    os.close(ours)
    assert process.returncode == 0, text
    return [line for line in re.split(r"[\r\n]+", text.decode()) if line]


TEXT = "y = sqrt(x) - mean(sqrt(x), axis=0); z = sum(y * y, axis=1)"


@pytest.mark.parametrize("columns", [200, 100, 80, 60, 40, 20, 10])
def test_terminals_of_any_width(store, tmp_path, columns):
    out = ("--out", tmp_path / "o", "--max-workers", 1)
    lines = on_terminal(columns, "eval", TEXT, "--in", f"x={store}", *out)
    assert max(map(len, lines)) < columns
    last = lines[-1].rstrip()
    if columns >= 20:
        tasks = re.search(r"(\d+)/(\d+) tasks", last)
        assert tasks and tasks[1] == tasks[2]
    if columns >= 80:
        assert re.search(r"100%  .*tasks, done in [\d.]+ s, [\d.]+ \wB/s", last)
    if columns >= 200:
        assert re.search(r"task memory [\d.]+ \wB of 2.0 GB, process [\d.]+ MB$", last)


def test_stages_are_named(store, tmp_path):
    out = ("--out", tmp_path / "o", "--max-workers", 1, "--progress", "bar")
    text = "; ".join(f"y{i} = sort(x + {i}, axis=0)" for i in range(4))
    lines = on_terminal(200, "eval", text, "--in", f"x={store}", *out)
    drawn = [line for line in lines if " left" in line]
    for line in drawn:
        assert re.search(r"tasks, .* left, stage \d+/\d+ \w+", line), line


def test_lines_elsewhere(store):
    result = check(run("eval", "sum(x)", "--in", f"x={store}", "--progress", "plain"))
    last = result.err.splitlines()[-1]
    assert re.fullmatch(
        r"(\d+)/\1 tasks, done in .* s, .*B/s, task memory .* of 2.0 GB, process .*", last
    )
    assert check(run("eval", "sum(x)", "--in", f"x={store}", "--progress", "none")).err == ""


def test_explanations_have_a_dozen_lines(store):
    text = "; ".join(f"a{i} = sum(x * {i}); b{i} = x[{i}:] - mean(x, axis=0)" for i in range(9))
    args = ["eval", text, "--in", f"x={store}", "--plan"]
    plain, more = check(run(*args)).out, check(run(*args, "--explain")).out
    assert more.startswith(plain)
    said = more.removeprefix(plain)
    assert 2 <= said.count("\n") <= 12
    assert re.search(r"\d+ and \d+, \d+ and \d+, .*\.\.\. \(\d+ in all\): ", said)
    one = check(run("eval", "x + 1", "--in", f"x={store}", "--plan", "--explain")).out
    assert "everything is one pass" in one
