"""Runs by messages, as programs in other languages write them: see include/cubed/sys/message.h."""

import itertools
import re
import struct
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from conftest import BIN, check, run

import zarr

INDEX, NOT_FOUND = 3, 7  # of cubed_status


def message(run_name, stage, first, last, version=2, plan=b""):
    head = struct.pack("<4sHHQqqiI", b"CBDR", version, 0, 99, first, last, stage, 0)
    return head + run_name.encode().ljust(40, b"\0") + plan.ljust(40, b"\0")


def reports(data):
    """Task, status, message and bytes written, of each."""
    found = []
    while data:
        assert data[:6] == b"CBDT\2\0"
        token, task = struct.unpack_from("<Qq", data, 8)
        assert token == 99
        (written,) = struct.unpack_from("<Q", data, 48)
        (status,) = struct.unpack_from("<I", data, 104)
        text, raised = struct.unpack_from("<II", data, 128)
        found.append((task, status, data[168 : 168 + text].decode(), written))
        data = data[168 + text + raised :]
    return found


def work(plan, data):
    return subprocess.run(
        [BIN, "worker", plan, "--message", "-"], input=data, capture_output=True, timeout=60
    )


def ask(plan, *args, **options):
    done = work(plan, message(*args, **options))
    assert done.returncode == 0, done.stderr
    return reports(done.stdout)


@pytest.fixture
def plan(tmp_path):
    x = np.random.default_rng(1).normal(size=(30, 20))
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(5, 5), dtype="f8")
    z[...] = x
    path = tmp_path / "p.cubed"
    args = ["eval", "x - mean(x, axis=0)", "--in", f"x={tmp_path / 'x'}", "--no-optimize"]
    args += ["--out", tmp_path / "out", "--work-dir", tmp_path / "work", "--save-plan", path]
    check(run(*args))
    return path, x


def test_a_run_by_messages_alone(plan, tmp_path):
    path, x = plan
    name = check(run("worker", path, "--begin")).out.strip()
    stage = 0
    while True:
        ((task, status, text, _),) = ask(path, name, stage, 0, 1 << 40)
        assert (task, status) == (0, INDEX)
        if "the plan has" in text:
            break
        n = int(re.search(rf"stage {stage} has tasks 0 to (\d+)", text)[1])
        cuts = sorted({0, n // 3, n // 2, n})
        ranges = [*itertools.pairwise(cuts), (0, n)]
        with ThreadPoolExecutor(3) as pool:  # all of them twice, at once
            for (a, b), got in zip(
                ranges, pool.map(lambda r, s=stage: ask(path, name, s, *r), ranges), strict=True
            ):
                assert [g[:3] for g in got] == [(t, 0, "") for t in range(a, b)]
                assert all(g[3] > 0 for g in got)
        stage += 1
    assert stage > 1
    check(run("worker", path, "--finish", "--run", name))
    np.testing.assert_allclose(zarr.open_array(tmp_path / "out", mode="r")[...], x - x.mean(0))
    assert not list((tmp_path / "work").iterdir())


def test_what_fails_is_reported(plan):
    path, _ = plan
    ((task, status, text, _),) = ask(path, "tuesday", 0, 1, 2)
    assert (task, status) == (1, NOT_FOUND)
    assert "run tuesday does not write" in text


def test_bytes_that_are_no_message_are_refused(plan):
    path, _ = plan
    for data, text in (
        (message("x", 0, 0, 1, version=1), "the range has version 1 of messages"),
        (b"", "a range of a run has 120 bytes, these are 0"),
        (message("x", 0, 0, 1) + b"x", "these are 121"),
        (b"x" * 120, "no range of a run"),
    ):
        done = work(path, data)
        assert done.returncode == 1 and not done.stdout
        assert text in done.stderr.decode()
    assert run("worker", path, "--message", "-", "--begin").code == 2
    assert "--run is not expected" in run("worker", path, "--message", "-", "--run", "x").err
