"""Chunks and metadata that are not regular files: immediate errors, never values."""

import os
import pathlib
import socket

import numpy as np
import pytest
from conftest import check, run

import zarr

X = np.arange(12, dtype="i4") + 1


def a_socket(path):
    # Its address has little room: bound where the path is short.
    with socket.socket(socket.AF_UNIX) as s:
        here = pathlib.Path.cwd()
        os.chdir(path.parent)
        try:
            s.bind(path.name)
        finally:
            os.chdir(here)


ODD = {
    "directory": lambda path: path.mkdir(),
    "FIFO": os.mkfifo,
    "socket": a_socket,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link to nothing": lambda path: path.symlink_to("nowhere"),
}
LAYOUTS = {
    "raw": {"compressors": None},
    "zstd": {},
    "blosc": {"compressors": zarr.codecs.BloscCodec()},
    "format 2": {"zarr_format": 2},
    "shards": {"shards": (4,), "chunks": (2,)},
}


def make(path, **options):
    options = {"chunks": (4,), "zarr_format": 3} | options
    z = zarr.create_array(path, shape=X.shape, dtype=X.dtype, **options)
    z[...] = X
    return path / ("1" if options["zarr_format"] == 2 else "c/1")


def replaced(path, kind):
    path.unlink()
    ODD[kind](path)


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_chunks(tmp_path, layout, kind):
    chunk = make(tmp_path / "x", **LAYOUTS[layout])
    replaced(chunk, kind)
    for text in ("sum(x)", "x[4:6]"):
        args = ["--in", f"x={tmp_path / 'x'}", "--progress", "none"]
        failed = run("eval", text, *args, timeout=20)
        assert failed.code == 1
        assert str(chunk) in failed.err
        assert kind in failed.err
    failed = run("copy", tmp_path / "x", tmp_path / "y", "--progress", "none", timeout=20)
    assert failed.code == 1
    assert not list((tmp_path / "y").glob("zarr.json"))


@pytest.mark.parametrize("kind", ODD)
def test_regions_do_not_replace_them(tmp_path, kind):
    chunk = make(tmp_path / "x")
    replaced(chunk, kind)
    before = os.lstat(chunk)
    for region, x in (("4:8", "arange(4)"), ("4:6", "arange(2)")):
        args = ["--out", tmp_path / "x", "--region", region, "--progress", "none"]
        failed = run("eval", f"int32({x})", *args, timeout=20)
        assert failed.code == 1
        assert kind in failed.err
    assert os.lstat(chunk).st_ino == before.st_ino


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_metadata(tmp_path, zarr_format, kind):
    root = zarr.create_group(tmp_path / "g", zarr_format=zarr_format)
    for name in "ab":
        z = root.create_array(name, shape=X.shape, chunks=(4,), dtype="i4", attributes={"n": 1})
        z[...] = X
    names = ["zarr.json"] if zarr_format == 3 else [".zarray", ".zattrs"]
    for name in names:
        path = tmp_path / "g/a" / name
        text = path.read_text()
        replaced(path, kind)
        failed = run("eval", "sum(a)", "--in", tmp_path / "g", timeout=20)
        assert failed.code == 1
        assert kind in failed.err
        if kind != "directory" or name == ".zattrs":  # which may hold another array
            failed = run("copy", tmp_path / "g", tmp_path / "h", "--progress", "none", timeout=20)
            assert failed.code == 1
            assert kind in failed.err
        path.rmdir() if kind == "directory" else path.unlink()
        path.write_text(text)
    # A group's own.
    name = "zarr.json" if zarr_format == 3 else ".zattrs"
    path = tmp_path / "g" / name
    path.unlink(missing_ok=True)
    ODD[kind](path)
    failed = run("copy", tmp_path / "g", tmp_path / "h", "--progress", "none", timeout=20)
    assert failed.code == 1 or kind == "directory"


def test_what_is_in_the_way_of_chunks(tmp_path):
    """A link to nothing, or a file, where their directory was."""
    make(tmp_path / "x")
    (tmp_path / "x/c").rename(tmp_path / "chunks")
    args = ["--in", f"x={tmp_path / 'x'}", "--json"]
    (tmp_path / "x/c").symlink_to("../nowhere")
    failed = run("eval", "sum(x)", *args)
    assert failed.code == 1
    assert "x/c is a link to nothing" in failed.err
    (tmp_path / "x/c").unlink()
    (tmp_path / "x/c").write_text("git-annex")
    failed = run("eval", "sum(x)", *args)
    assert failed.code == 1
    assert "x/c is not a directory" in failed.err
    (tmp_path / "x/c").unlink()
    # A link to chunks is as good as they; without any, there are none.
    (tmp_path / "x/c").symlink_to("../chunks")
    assert check(run("eval", "sum(x)", *args)).array() == X.sum()
    (tmp_path / "x/c").unlink()
    assert check(run("eval", "sum(x)", *args)).array() == 0


def test_overwriting_removes_them(tmp_path):
    for kind in ODD:
        path = tmp_path / kind.replace(" ", "-")
        replaced(make(path), kind)
        args = ["--out", path, "--overwrite", "--progress", "none"]
        check(run("eval", "int32(arange(12))", *args, timeout=20))
        np.testing.assert_array_equal(zarr.open_array(path, mode="r")[...], np.arange(12))
