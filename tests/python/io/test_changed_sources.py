"""Sources that are replaced while they are open: a result is from one version, or refused."""

import json
import os
import shutil
import subprocess

import cubed
import h5py
import numpy as np
import pytest
from conftest import BIN, run
from s3_server import Object, Server

import zarr

A = np.arange(1000.0)
OPENED = r"rewritten since it was opened"
PLANNED = r"(rewritten|removed) since the plan was made"


def make(path, value, zarr_format=3):
    """An array whose metadata are the same whatever is in it."""
    z = zarr.create_array(
        path, shape=A.shape, chunks=(100,), dtype=A.dtype, overwrite=True, zarr_format=zarr_format
    )
    z[:] = A + value
    return path


def make_file(path, value):
    with h5py.File(path, "w") as f:
        f.create_dataset("x", data=A + value, chunks=(100,), compression="gzip")
    return path


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_between_opening_and_computing(tmp_path, zarr_format):
    x = cubed.from_zarr(make(tmp_path / "a", 0, zarr_format)) + 1
    np.testing.assert_array_equal(x.compute(), A + 1)
    make(tmp_path / "a", 5, zarr_format)
    with pytest.raises((OSError, ValueError), match=OPENED):
        x.compute()
    y = cubed.from_zarr(tmp_path / "a") + 1
    np.testing.assert_array_equal(y.compute(), A + 6)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("how", ["rewritten", "removed"])
def test_arrays_that_are_kept_open(tmp_path, zarr_format, how):
    """Plans share an open array whose metadata are older than two seconds."""
    path = make(tmp_path / "a", 0, zarr_format)
    meta = path / ("zarr.json" if zarr_format == 3 else ".zarray")
    before = meta.stat().st_mtime - 10
    os.utime(meta, (before, before))
    x = cubed.from_zarr(path)
    for i in range(0, 1000, 300):
        assert x[i].compute() == A[i]
    shutil.rmtree(path)
    if how == "rewritten":
        make(path, 5, zarr_format)
    with pytest.raises((OSError, ValueError), match=OPENED if how == "rewritten" else "a"):
        x[3].compute()
    if how == "rewritten":
        assert cubed.from_zarr(path)[3].compute() == A[3] + 5


def test_chunks_alone_are_read_as_they_are(tmp_path):
    """Who writes into an array that is opened sees what was written, as in zarr-python."""
    x = cubed.from_zarr(make(tmp_path / "a", 0))
    zarr.open_array(tmp_path / "a")[:] = 7
    assert (x.compute() == 7).all()


def test_files_between_opening_and_computing(tmp_path):
    x = cubed.from_zarr(make_file(tmp_path / "a.h5", 0), "x")
    make_file(tmp_path / "a.h5", 5)
    with pytest.raises((OSError, ValueError), match=OPENED):
        x.compute()


@pytest.mark.parametrize("how", ["anew", "removed"])
def test_while_it_is_computed(tmp_path, how):
    path = make(tmp_path / "a", 0)
    seen = []

    def change(block):
        seen.append(1)
        if len(seen) == 3:
            if how == "anew":
                make(path, 5)
            else:
                shutil.rmtree(path)
        return block

    x = cubed.map_blocks(change, cubed.from_zarr(path), dtype=A.dtype)
    with pytest.raises((OSError, ValueError), match=PLANNED):
        cubed.to_zarr(x, tmp_path / "out")
    assert not (tmp_path / "out" / "zarr.json").exists()


def test_files_while_they_are_computed(tmp_path):
    path = make_file(tmp_path / "a.h5", 0)
    seen = []

    def change(block):
        seen.append(1)
        if len(seen) == 3:
            make_file(path, 5)
        return block

    x = cubed.map_blocks(change, cubed.from_zarr(path, "x"), dtype=A.dtype)
    with pytest.raises((OSError, ValueError), match=r"a\.h5 has changed since it was opened"):
        x.compute(executor="single-threaded")


def test_what_references_lead_to_while_it_is_read(tmp_path):
    """Which version references are of they do not say: all that is read is of one."""
    (tmp_path / "a.bin").write_bytes(A.tobytes())
    meta = {"zarr_format": 2, "shape": [1000], "chunks": [100], "dtype": "<f8", "order": "C"}
    meta |= {"fill_value": None, "filters": None, "compressor": None}
    refs = {f"x/{i}": [f"{tmp_path}/a.bin", 800 * i, 800] for i in range(10)}
    refs |= {".zgroup": '{"zarr_format": 2}', "x/.zarray": json.dumps(meta)}
    (tmp_path / "refs.json").write_text(json.dumps(refs))
    seen = []

    def change(block):
        seen.append(1)
        if len(seen) == 3:
            (tmp_path / "a.bin").write_bytes((A + 5).tobytes())
        return block

    x = cubed.from_zarr(tmp_path / "refs.json", "x")
    np.testing.assert_array_equal(x.compute(), A)
    y = cubed.map_blocks(change, x, dtype=A.dtype)
    with pytest.raises((OSError, ValueError), match=r"a\.bin .*rewritten while it was read"):
        y.compute(executor="single-threaded")
    np.testing.assert_array_equal(x.compute(), A + 5)


def test_between_the_parts_of_a_run(tmp_path):
    path, out, plan = make(tmp_path / "a", 0), tmp_path / "out", tmp_path / "plan"
    args = ("--out", out, "--save-plan", plan, "--work-dir", tmp_path / "work")
    assert run("eval", "a + 1", "--in", f"a={path}", *args).code == 0
    assert run("worker", plan, "--begin", "--run", "r").code == 0
    assert run("worker", plan, "0", "0:1", "--run", "r").code == 0
    make(path, 5)
    got = run("worker", plan, "--finish", "--run", "r")
    assert got.code != 0
    assert f"{path} has been overwritten since the run began" in got.err


@pytest.fixture
def server(environment):
    with Server() as s:
        for name, value in s.variables.items():
            environment.setenv(name, value)
        yield s


def put(server, tree, later=0):
    """As objects; their tags are digests, and so those of the same metadata are the same."""
    for file in tree.rglob("*"):
        if file.is_file():
            o = Object(file.read_bytes(), {})
            o.modified += later
            server.objects[f"a/{file.relative_to(tree)}"] = o


def test_objects_between_opening_and_computing(server, tmp_path):
    put(server, make(tmp_path / "one", 0))
    tag = server.objects["a/zarr.json"].etag
    x = cubed.from_zarr("s3://b/a") + 1
    np.testing.assert_array_equal(x.compute(), A + 1)
    put(server, make(tmp_path / "two", 5), 10)
    assert server.objects["a/zarr.json"].etag == tag
    with pytest.raises((OSError, ValueError), match=OPENED):
        x.compute()
    np.testing.assert_array_equal(cubed.from_zarr("s3://b/a").compute(), A + 5)


@pytest.mark.parametrize("how", ["anew", "removed"])
def test_objects_while_they_are_read(server, tmp_path, how):
    put(server, make(tmp_path / "one", 0))
    make(tmp_path / "two", 5)

    def change(request):
        if request.op == "get" and request.key == "a/c/5":
            if how == "anew":
                put(server, tmp_path / "two", 10)
            else:
                server.objects = {k: v for k, v in server.objects.items() if k[:2] != "a/"}

    server.fault = change
    args = [BIN, "eval", "a + 1", "--in", "a=s3://b/a", "--out", "s3://b/r", "--progress", "none"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=60)
    assert done.returncode != 0
    assert "since the plan was made" in done.stderr, done.stderr
    assert "r/zarr.json" not in server.objects
