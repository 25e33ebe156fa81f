"""ZIP archives of zarr-python and of other programs can be read like directories."""

import os
import zipfile

import cubed
import numpy as np
import pytest
from conftest import cases, run

import zarr


def make(path, rng, mode=zipfile.ZIP_STORED):
    with zarr.storage.ZipStore(path, mode="w", compression=mode) as store:
        root = zarr.create_group(store, attributes={"title": "a test"})
        z = root.create_array("x", shape=(20, 30), chunks=(7, 8), dtype="f4")
        z[...] = x = rng.normal(size=(20, 30)).astype("f4")
        raw = root.create_array("g/raw", shape=(50,), chunks=(20,), dtype="i8", compressors=None)
        raw[:40] = np.arange(40)
    return x


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("mode", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_archives_of_zarr_python(tmp_path, mode):
    path = tmp_path / "a.zip"
    x = make(path, np.random.default_rng(1), mode)
    np.testing.assert_array_equal(cubed.from_zarr(path, "x").compute(), x)
    raw = cubed.from_zarr(path, "g/raw")
    want = np.r_[np.arange(40), np.zeros(10, int)]
    np.testing.assert_array_equal(raw.compute(), want)
    np.testing.assert_array_equal(raw[3:37:5].compute(), want[3:37:5])
    np.testing.assert_array_equal(cubed.from_zarr(f"{path}::x").compute(), x)
    info = run("info", path)
    assert info.code == 0, info.err
    assert "g/raw" in info.out
    one = run("eval", "mean(x, axis=0)", path, "--json")
    other = run("eval", "mean(x, axis=0)", path, "--json", "--executor", "processes")
    assert one.array().tolist() == other.array().tolist()
    assert run("copy", path, tmp_path / "b.zarr").code == 0
    np.testing.assert_array_equal(zarr.open_group(tmp_path / "b.zarr")["x"][...], x)


def test_what_other_programs_make(tmp_path):
    """A comment, a folder around everything, ZIP64, something in front, entries of one name."""
    x = np.arange(6, dtype="<i4")
    z = zarr.create_array(tmp_path / "x.zarr", shape=6, chunks=3, dtype="i4", compressors=None)
    z[...] = x
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as f:
        f.comment = b"PK\5\6 is how lists begin " * 100
        f.mkdir("top")
        f.write(tmp_path / "x.zarr/zarr.json", "top/zarr.json")
        with f.open("top/c/0", "w", force_zip64=True) as c:
            c.write(x[:3].tobytes())
        f.writestr("top/c/1", b"old chunk")
        with pytest.warns(UserWarning, match="Duplicate"):
            f.writestr("top/c/1", x[3:].tobytes())
        f.writestr("../outside", b"x")
    assert cubed.from_zarr(path, "top").compute().tolist() == x.tolist()
    info = run("info", path)
    assert info.code == 0, info.err
    assert not os.path.exists(tmp_path / "outside")  # noqa: PTH110


def test_more_entries_than_16_bits_count(tmp_path):
    z = zarr.create_array(tmp_path / "x.zarr", shape=70000, chunks=1, dtype="u1", compressors=None)
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as f:
        f.write(tmp_path / "x.zarr/zarr.json", "zarr.json")
        for i in range(z.shape[0]):
            f.writestr(f"c/{i}", bytes([i % 251]))
    x = cubed.from_zarr(path)
    want = np.arange(70000) % 251
    np.testing.assert_array_equal(x[69000:].compute(), want[69000:])
    np.testing.assert_array_equal(x[:100].compute(), want[:100])


def test_errors(tmp_path):
    path = tmp_path / "a.zip"
    make(path, np.random.default_rng(2))
    data = path.read_bytes()
    path.write_bytes(data[:-30])
    with pytest.raises(ValueError, match="incomplete ZIP archive"):
        cubed.from_zarr(path, "x")
    path.write_bytes(data)
    with zipfile.ZipFile(path) as f:
        first = next(i for i in f.infolist() if i.filename.startswith("g/raw/c/"))
    at = first.header_offset + 30 + len(first.filename) + 5
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    with pytest.raises((OSError, ValueError), match="checksum"):
        cubed.from_zarr(path, "g/raw").compute()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as f:
        f.writestr("zarr.json", "{}")
    with pytest.raises(NotImplementedError, match="method 14"):
        cubed.from_zarr(path)
    got = run("eval", "zeros((3,))", "--out", f"{path}::y")
    assert got.code != 0
    assert "exists" in got.err


@pytest.mark.parametrize("mode", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_damaged_archives(tmp_path, mode):
    rng = np.random.default_rng(3)
    path = tmp_path / "a.zip"
    x = make(path, rng, mode)
    data = path.read_bytes()
    failed = 0
    for _ in range(cases(200)):
        out = bytearray(data)
        begin = 0 if rng.random() < 0.5 else len(out) - 1500
        for at in rng.integers(max(0, begin), len(out), int(rng.integers(1, 6))):
            out[at] = rng.integers(256)
        path.write_bytes(out)
        try:
            got = cubed.from_zarr(path, "x").compute()
        except (OSError, ValueError, NotImplementedError, MemoryError):
            failed += 1
        else:  # a chunk whose entry has another name is not there
            assert got.shape != x.shape or np.all((got == x) | (got == 0))
    assert failed > 20


def test_results_in_an_archive(tmp_path):
    rng = np.random.default_rng(4)
    x = make(tmp_path / "a.zip", rng)
    out = tmp_path / "r.zip"
    got = run("eval", "m=mean(x, axis=0); y=x*2", tmp_path / "a.zip", "--out", out)
    assert got.code == 0, got.err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.zip", "r.zip"]
    with zipfile.ZipFile(out) as f:
        assert f.testzip() is None
        assert {i.compress_type for i in f.infolist()} == {zipfile.ZIP_STORED}
    with zarr.storage.ZipStore(out, mode="r") as store:
        r = zarr.open_group(store, mode="r")
        assert r.attrs["title"] == "a test"
        np.testing.assert_array_equal(r["y"][...], x * 2)
    np.testing.assert_array_equal(cubed.from_zarr(out, "y").compute(), x * 2)
    again = run("eval", "x+1", tmp_path / "a.zip", "--out", out)
    assert again.code != 0
    assert "exists" in again.err
    assert run("eval", "x+1", tmp_path / "a.zip", "--out", out, "--overwrite").code == 0
    np.testing.assert_array_equal(cubed.from_zarr(out, "x").compute(), x + 1)
    assert run("rechunk", f"{out}", tmp_path / "b.zip", "--chunks", "5,30").code == 0
    assert cubed.from_zarr(tmp_path / "b.zip", "x").chunksize == (5, 30)
    assert run("copy", tmp_path / "a.zip", tmp_path / "c.zip", "--format", "2").code == 0
    with zarr.storage.ZipStore(tmp_path / "c.zip", mode="r") as store:
        np.testing.assert_array_equal(zarr.open_group(store, mode="r")["x"][...], x)
    saved = run("eval", "x+1", tmp_path / "a.zip", "--out", out, "--save-plan", tmp_path / "p")
    assert saved.code == 2


def test_the_package_writes_archives(tmp_path):
    x = np.arange(30.0).reshape(5, 6)
    a = cubed.from_array(x, chunks=(2, 3))
    cubed.store([a + 1, a + 2], [f"{tmp_path}/r.zip::p", f"{tmp_path}/r.zip::q/r"])
    for name, n in {"p": 1, "q/r": 2}.items():
        np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "r.zip", name).compute(), x + n)
    with pytest.raises(FileExistsError):
        cubed.to_zarr(a, tmp_path / "r.zip", overwrite=False)
    cubed.to_zarr(a, tmp_path / "r.zip")
    assert [p.name for p in tmp_path.iterdir()] == ["r.zip"]
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "r.zip").compute(), x)


def test_a_run_that_fails_leaves_no_archive(tmp_path):
    def fail(x):
        raise ValueError("no")

    a = cubed.from_array(np.arange(30.0), chunks=(5,))
    with pytest.raises(ValueError, match="no"):
        cubed.to_zarr(cubed.map_blocks(fail, a, dtype=a.dtype), tmp_path / "r.zip")
    assert not (tmp_path / "r.zip").exists()
    cubed.to_zarr(a, tmp_path / "r.zip")
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "r.zip").compute(), np.arange(30.0))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_as_fsspec_spells_archives(tmp_path, monkeypatch, zarr_format):
    """Read and written natively, in the command and in the package, at paths within them."""
    x = np.arange(60.0).reshape(6, 10)
    with zarr.storage.ZipStore(tmp_path / "a.zip", mode="w") as store:
        root = zarr.create_group(store, zarr_format=zarr_format)
        root.create_array("g/x", shape=x.shape, chunks=(4, 4), dtype="f8")[...] = x
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(zarr, "open_array", lambda *_, **__: pytest.fail("zarr-python reads it"))
    for url in ("zip://g/x::a.zip", f"zip:///g/x::file://{tmp_path}/a.zip", "a.zip::g/x"):
        got = run("eval", "v*1", "--in", f"v={url}", "--json", "--progress", "none")
        assert got.code == 0, got.err
        np.testing.assert_array_equal(next(iter(got.arrays().values())), x)
        np.testing.assert_array_equal(cubed.from_zarr(url).compute(), x)
    for url in ("zip::a.zip", "zip://::a.zip", "zip://a.zip", f"zip://{tmp_path}/a.zip"):
        assert "g/x" in run("info", url).out
        np.testing.assert_array_equal(cubed.from_zarr(url, path="g/x").compute(), x)
    np.testing.assert_array_equal(cubed.from_zarr("zip://g::a.zip", path="x").compute(), x)
    assert run("copy", "zip://g::a.zip", "zip::b.zip").code == 0
    np.testing.assert_array_equal(cubed.from_zarr("b.zip", path="x").compute(), x)
    assert run("eval", "v+1", "--in", "v=zip://g/x::a.zip", "--out", "zip://h/y::c.zip").code == 0
    np.testing.assert_array_equal(cubed.from_zarr("c.zip", path="h/y").compute(), x + 1)
    again = run("eval", "v+2", "--in", "v=zip://g/x::a.zip", "--out", "zip://h/z::c.zip")
    assert again.code != 0
    assert "c.zip exists" in again.err
    cubed.to_zarr(cubed.from_zarr("zip://g/x::a.zip") + 2, "zip://y::d.zip")
    np.testing.assert_array_equal(cubed.from_zarr("d.zip", path="y").compute(), x + 2)


@pytest.mark.parametrize("end", ["zip", "nc"])
def test_what_else_is_in_a_file_is_not_lost(tmp_path, end):
    path = tmp_path / f"r.{end}"
    a = cubed.from_array(np.arange(12.0), chunks=(5,))
    cubed.store([a, a + 1], [f"{path}::p", f"{path}::q/r"])
    before = path.read_bytes()
    for names in (["p"], ["new"], ["q/r"], ["p", "q/s"], ["q/r/s"]):
        with pytest.raises(FileExistsError, match="one store"):
            cubed.store([a] * len(names), [f"{path}::{name}" for name in names])
        assert path.read_bytes() == before
    cubed.store([a + 2, a + 3], [f"{path}::p", f"{path}::q/r"])
    np.testing.assert_array_equal(cubed.from_zarr(path, "q/r").compute(), np.arange(12.0) + 3)
    cubed.to_zarr(a, path)
    cubed.to_zarr(a + 1, path)
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    if end == "zip":
        with pytest.raises(FileExistsError, match="without a name"):
            cubed.to_zarr(a, path, path="p")


def test_other_files_are_not_replaced(tmp_path):
    a = cubed.from_array(np.arange(12.0), chunks=(5,))
    with zipfile.ZipFile(tmp_path / "photos.zip", "w") as f:
        f.writestr("a.jpg", b"picture")
    (tmp_path / "notes.zip").write_text("notes")
    for name in ("photos.zip", "notes.zip"):
        before = (tmp_path / name).read_bytes()
        for inner in (None, "x"):
            with pytest.raises(FileExistsError, match="not a file of arrays"):
                cubed.to_zarr(a, tmp_path / name, path=inner)
        assert (tmp_path / name).read_bytes() == before


@pytest.mark.parametrize("end", ["zip", "nc", "h5"])
def test_files_are_written_here(end):
    a = cubed.from_array(np.arange(12.0), chunks=(5,))
    for url in (f"s3://bucket/r.{end}", f"s3://bucket/r.{end}::x"):
        with pytest.raises(ValueError, match="only to local paths"):
            cubed.to_zarr(a, url)
        got = run("eval", "ones((3,))", "--out", url)
        assert got.code == 2
        assert "only to local paths" in got.err
