"""Runs with every kind of stage on disks to which files cannot be written.

They say which file, leave nothing that looks whole, and are resumed when there is room."""

import contextlib
import itertools
import os
import pathlib
import tempfile

import cubed
import numpy as np
import pytest
from conftest import short_files
from test_faults_of_stages import EXECUTORS, KINDS, SHAPE, files, lazy

import zarr


@pytest.fixture
def folder():
    """Where others may read."""
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        folder.chmod(0o755)
        yield folder


@contextlib.contextmanager
def nobody():
    """Not as the administrator, who may write everywhere."""
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(user)


# What these write is short.
SHORT = ("reduction", "copy", "quantile", "histogram", "two stages")


def numbers(folder):
    """Most chunks of what is made of them have more than a thousand bytes."""
    a = np.random.default_rng(1).integers(-9, 9, SHAPE).astype("f8")
    z = zarr.create_array(folder / "x", shape=SHAPE, chunks=(6, 480), dtype="f8", compressors=())
    z[...] = a
    return a


def resumed(kind, folder, a):
    x = lazy(kind, folder)
    cubed.to_zarr(x, folder / "out", resume=True, executor="threads", max_workers=2)
    got = zarr.open_array(folder / "out", mode="r")[...]
    np.testing.assert_allclose(np.abs(got), np.abs(KINDS[kind][1](a)), rtol=1e-9, atol=1e-9)
    assert not files(folder / "work")


@pytest.mark.parametrize(
    ("kind", "executor"), list(zip(KINDS, itertools.cycle(EXECUTORS), strict=False))
)
def test_a_disk_that_is_full(tmp_path, kind, executor):
    """Chunks are longer than the longest file, the marks of runs are not, or are too."""
    a, limit = numbers(tmp_path), 10 if kind in SHORT else 1000
    x = lazy(kind, tmp_path)
    why = f"cannot write {tmp_path}/(out|work)/.*File too large"
    with pytest.raises(OSError, match=why), short_files(limit):
        cubed.to_zarr(x, tmp_path / "out", resume=True, executor=executor, max_workers=2)
    assert not (tmp_path / "out/zarr.json").exists()
    assert not [p for p in files(tmp_path / "out", tmp_path / "work") if p.stat().st_size > limit]
    resumed(kind, tmp_path, a)


@pytest.mark.parametrize(
    ("which", "kind"),
    [("out", kind) for kind in KINDS] + [("work", "sort in parts"), ("work", "two stages")],
)
def test_a_folder_that_may_not_be_written(folder, which, kind):
    a = numbers(folder)
    ready = {p: (folder / p) for p in ("out", "work")}
    for path in ready.values():
        path.mkdir()
        path.chmod(0o777)
    ready[which].chmod(0o555)
    with pytest.raises(OSError, match=f"{folder}/{which}"), nobody():
        cubed.to_zarr(lazy(kind, folder), folder / "out", resume=True, executor="single-threaded")
    assert not (folder / "out/zarr.json").exists()
    ready[which].chmod(0o777)
    resumed(kind, folder, a)
