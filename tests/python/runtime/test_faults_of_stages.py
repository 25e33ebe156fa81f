"""Runs with every kind of stage are killed before they end, and are resumed."""

import itertools
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import cubed
import numpy as np
import pytest
from conftest import TESTS_PATH
from test_faults import Gate

import zarr

SHAPE = (60, 480)
EXECUTORS = ("threads", "single-threaded", "processes")


def negated(block):
    return -block


def summed(block):
    return block[:-2] + block[1:-1] + block[2:]


def neighbours(a):
    return summed(np.pad(a, ((1, 1), (0, 0))))


MASK = np.random.default_rng(2).random(SHAPE) < 0.4
LABELS = np.arange(SHAPE[0]) % 5

# What is made of the source by the package, and by NumPy.
KINDS = {
    "elementwise": (lambda x: x * 2, lambda a: a * 2),
    "reduction": (lambda x: x.sum(axis=0), lambda a: a.sum(0)),
    "copy": (lambda x: x.rechunk((60, 5)) + 1, lambda a: a + 1),
    "reshape": (lambda x: cubed.reshape(x, (480, 60)), lambda a: a.reshape(480, 60)),
    "scan": (lambda x: cubed.cumulative_sum(x, axis=0), lambda a: a.cumsum(0)),
    "compress": (lambda x: x[MASK], lambda a: a[MASK]),
    "sort": (lambda x: cubed.sort(x, axis=0), lambda a: np.sort(a, 0)),
    "sort in parts": (lambda x: cubed.sort(x.reshape(-1)), lambda a: np.sort(a, None)),
    "quantile": (lambda x: cubed.median(x, axis=0), lambda a: np.median(a, 0)),
    "product": (lambda x: x @ x.T, lambda a: a @ a.T),
    "transform": (lambda x: cubed.fft.fft(x, axis=0), lambda a: np.fft.fft(a, axis=0)),
    "factors": (lambda x: cubed.linalg.qr(x).R, lambda a: np.linalg.qr(a).R),
    "groups": (
        lambda x: cubed.groupby_reduce(x.T, LABELS, func="sum")[0],
        lambda a: np.stack([a[g == LABELS].sum(0) for g in range(5)], 1),
    ),
    "histogram": (
        lambda x: cubed.histogram(x, bins=[-9, 0, 4, 9])[0],
        lambda a: np.histogram(a, bins=[-9, 0, 4, 9])[0],
    ),
    "take": (lambda x: x[np.arange(60)[::-3]], lambda a: a[::-3]),
    "python": (lambda x: cubed.map_blocks(negated, x, dtype=x.dtype), lambda a: -a),
    "halos": (
        lambda x: cubed.map_overlap(summed, x, dtype=x.dtype, depth={0: 1}, boundary={0: 0}),
        neighbours,
    ),
    "two stages": (
        lambda x: cubed.sort(cubed.cumulative_sum(x - x.mean(axis=0), axis=1), axis=0).rechunk(7),
        lambda a: np.sort(np.cumsum(a - a.mean(0), 1), 0),
    ),
}


def lazy(kind, folder):
    limits = {"allowed_mem": "150MB", "reserved_mem": "100MB"}
    if kind == "sort in parts":  # so little that the whole axis does not fit, nor a compressor
        limits |= {"allowed_mem": 100_500_000, "zarr_compressor": None}
    spec = cubed.Spec(folder / "work", **limits)
    return KINDS[kind][0](cubed.from_zarr(folder / "x", spec=spec))


def write(kind, folder, executor):
    """What the process does that is killed."""
    folder = pathlib.Path(folder)
    x = lazy(kind, folder)
    cubed.to_zarr(x, folder / "out", executor=executor, max_workers=2, resume=True)


def files(*folders):
    return sorted(p for folder in folders for p in folder.rglob("*") if p.is_file())


def kill_when_it_waits(process, folder):
    """When it has written what can be without the chunk that cannot be read."""
    seen, since = None, time.monotonic()
    deadline = since + 30
    while time.monotonic() < deadline and process.poll() is None:
        now = files(folder / "out", folder / "work")
        if now != seen:
            seen, since = now, time.monotonic()
        elif now and time.monotonic() - since > 0.15:
            break
        time.sleep(0.01)
    assert process.poll() is None, "the run was over before it was killed"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(timeout=30)


@pytest.mark.parametrize(
    ("kind", "executor"),
    list(zip(KINDS, itertools.cycle(EXECUTORS), strict=False)),
)
def test_killed_runs_are_resumed(tmp_path, kind, executor):
    a = np.random.default_rng(1).integers(-9, 9, SHAPE).astype("f8")
    z = zarr.create_array(tmp_path / "x", shape=SHAPE, chunks=(6, 480), dtype="f8", compressors=())
    z[...] = a
    gate = Gate(tmp_path / "x/c/9/0")
    gate.close()
    code = f"import {__name__} as t; t.write({kind!r}, {str(tmp_path)!r}, {executor!r})"
    env = {**os.environ, "PYTHONPATH": TESTS_PATH}
    with subprocess.Popen([sys.executable, "-c", code], env=env, start_new_session=True) as process:
        kill_when_it_waits(process, tmp_path)
    gate.open()
    assert not (tmp_path / "out/zarr.json").exists()
    other = EXECUTORS[(EXECUTORS.index(executor) + 1) % 3]
    write(kind, tmp_path, other)
    got = zarr.open_array(tmp_path / "out", mode="r")[...]
    np.testing.assert_allclose(np.abs(got), np.abs(KINDS[kind][1](a)), rtol=1e-9, atol=1e-9)
    assert json.loads((tmp_path / "out/.cubed-run").read_text())["state"] == "done"
    assert not files(tmp_path / "work")
