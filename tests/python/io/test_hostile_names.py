"""Names in files, archives and metadata cannot refer to anything outside the store that contains
them.
"""

import json
import os
import shutil
import stat
import warnings
import zipfile

import cubed
import h5py
import numpy as np
import pytest
import xarray as xr
from conftest import check, run
from scipy.io import netcdf_file
from test_confined_references import META

import zarr

GROUP = {"zarr_format": 2}


def everything(folder):
    """All files below a folder, with their bytes."""
    files = [p for p in folder.rglob("*") if p.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files}


def test_entries_of_an_archive(tmp_path):
    path, secret = tmp_path / "in/a.zip", tmp_path / "secret"
    path.parent.mkdir()
    secret.write_bytes(b"1234")
    link = zipfile.ZipInfo("x/0")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(".zgroup", json.dumps(GROUP))
        z.writestr("x/.zarray", json.dumps(META))
        # The target of a link has as many bytes as the chunk.
        z.writestr(link, "../s")
        for name in ("../secret", "/secret", "x/../../../secret", "./x/0", "a//b", str(secret)):
            z.writestr(name, b"evil")
        z.writestr("b\\..\\..\\secret", b"evil")
    assert bytes(cubed.from_zarr(path, "x").compute()) == b"../s"  # bytes, not what is there
    check(run("info", path))
    before = everything(tmp_path)
    check(run("copy", path, tmp_path / "out.zarr"))
    after = everything(tmp_path)
    assert {k: v for k, v in after.items() if not k.startswith("out.zarr/")} == before
    assert not (tmp_path / "out.zarr/secret").exists()


def test_entries_of_one_name_in_an_archive(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as z, warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        z.writestr(".zgroup", json.dumps(GROUP))
        z.writestr("x/.zarray", json.dumps(META))
        z.writestr("x/0", b"1111")
        z.writestr("x/0", b"2222")
    # The last one counts, as for zarr-python.
    assert bytes(cubed.from_zarr(path, "x").compute()) == b"2222"
    with zarr.storage.ZipStore(path, mode="r") as store:
        assert bytes(zarr.open_array(store, path="x")[...]) == b"2222"


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("name", ["..", ".", "../../x", "/etc/passwd", "a//b", ""])
def test_members_of_consolidated_metadata(tmp_path, zarr_format, name):
    path = tmp_path / "in/a.zarr"
    root = zarr.create_group(path, zarr_format=zarr_format)
    root.create_array(
        "x", shape=(4,), dtype="u1", dimension_names=["i"] if zarr_format == 3 else None
    )
    if zarr_format == 2:
        root["x"].attrs["_ARRAY_DIMENSIONS"] = ["i"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(path, zarr_format=zarr_format)
    shutil.copytree(path / "x", tmp_path / "x")
    document = path / ("zarr.json" if zarr_format == 3 else ".zmetadata")
    doc = json.loads(document.read_text())
    nodes = doc["consolidated_metadata"]["metadata"] if zarr_format == 3 else doc["metadata"]
    if zarr_format == 3:
        nodes[name] = nodes["x"]
    else:
        nodes[f"{name}/.zarray"] = nodes["x/.zarray"]
    document.write_text(json.dumps(doc))
    got = run("eval", "sum(x)", path)  # without consolidated metadata
    assert got.code == 0, got.err
    # What is deeper than one name, or has no name, is no member.
    if name in (".", "..") or (not name and zarr_format == 3):
        with pytest.raises(ValueError, match="consolidated metadata names a member") as e:
            xr.open_dataset(path, engine="cubed")
        assert f'{path}: consolidated metadata names a member "{name}"' in str(e.value)
    else:
        assert set(xr.open_dataset(path, engine="cubed").variables) == {"x"}
    check(run("info", path))  # lists
    before = everything(tmp_path)
    check(run("copy", path, tmp_path / "out.zarr"))
    after = everything(tmp_path)
    assert {k: v for k, v in after.items() if not k.startswith("out.zarr/")} == before


def test_names_of_hdf5_and_netcdf(tmp_path):
    """Names of as many bytes in their place."""
    with h5py.File(tmp_path / "a.h5", "w", libver="earliest") as f:
        f["qq"] = np.arange(4)
    with netcdf_file(tmp_path / "a.nc", "w") as f:
        f.createDimension("i", 4)
        f.createVariable("qq", "i4", ("i",))[:] = 0
    for name in ("a.h5", "a.nc"):
        path = tmp_path / name
        np.testing.assert_array_equal(cubed.from_zarr(path, "qq").shape, (4,))
        path.write_bytes(path.read_bytes().replace(b"qq", b".."))
        for args in (("info", path), ("copy", path, tmp_path / "out.zarr")):
            got = run(*args)
            assert got.code == 1
            assert (
                f'{path} names an object "../' in got.err
                or f'{path} names an object ".."' in got.err
            )
        with pytest.raises(ValueError, match=r"\.\."):
            cubed.from_zarr(path, "..")
    assert not (tmp_path / "out.zarr").exists()


def test_hdf5_files_that_name_other_files(tmp_path):
    """External links, external storage and virtual data sets: no other file is opened."""
    with h5py.File(tmp_path / "other.h5", "w") as f:
        f["x"] = np.arange(4)
    (tmp_path / "raw.bin").write_bytes(np.arange(4, dtype="i8").tobytes())
    layout = h5py.VirtualLayout((4,), "i8")
    layout[:] = h5py.VirtualSource(str(tmp_path / "other.h5"), "x", (4,))
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f["own"] = np.arange(3)
        f["link"] = h5py.ExternalLink(str(tmp_path / "other.h5"), "x")
        f["soft"] = h5py.SoftLink("/own")
        f.create_dataset("raw", (4,), "i8", external=[(str(tmp_path / "raw.bin"), 0, 32)])
        f.create_virtual_dataset("virtual", layout)
    path = tmp_path / "a.h5"
    np.testing.assert_array_equal(cubed.from_zarr(path, "own").compute(), np.arange(3))
    with pytest.raises(NotImplementedError, match="external files"):
        cubed.from_zarr(path, "raw")
    with pytest.raises(NotImplementedError, match="virtual"):
        cubed.from_zarr(path, "virtual")
    for name in ("link", "soft"):
        with pytest.raises((FileNotFoundError, ValueError)):
            cubed.from_zarr(path, name)


CODECS = ["/tmp/evil.so", "../../evil.so", "evil.so", "libc.so.6", "os.system", "numcodecs.pickle"]


@pytest.mark.parametrize("name", CODECS)
def test_names_of_codecs_load_nothing(tmp_path, name):
    """A codec is one of a table; a name is never a path, a library or a Python module."""
    place = tmp_path / "a.zarr"
    (place / "x").mkdir(parents=True)
    (place / ".zgroup").write_text(json.dumps(GROUP))
    (place / "x/.zarray").write_text(json.dumps(META | {"compressor": {"id": name}}))
    (place / "x/0").write_bytes(b"1234")
    with pytest.raises(NotImplementedError, match=name.replace(".", r"\.")):
        cubed.from_zarr(place, "x").compute()
    root = tmp_path / "b.zarr"
    zarr.create_array(root, shape=(4,), dtype="u1", compressors=None)
    doc = json.loads((root / "zarr.json").read_text())
    doc["codecs"].append({"name": name, "configuration": {}})
    (root / "zarr.json").write_text(json.dumps(doc))
    with pytest.raises(NotImplementedError, match=name.replace(".", r"\.")):
        cubed.from_zarr(root).compute()


@pytest.mark.parametrize("value", ["/etc/passwd", "base64:!", {"file": "x"}, [1, 2], "0x1" * 1000])
def test_fill_values_are_values(tmp_path, value):
    zarr.create_array(tmp_path / "a.zarr", shape=(4,), dtype="u1", compressors=None)
    doc = json.loads((tmp_path / "a.zarr/zarr.json").read_text())
    (tmp_path / "a.zarr/zarr.json").write_text(json.dumps(doc | {"fill_value": value}))
    with pytest.raises(ValueError, match="fill_value"):
        cubed.from_zarr(tmp_path / "a.zarr")


def test_keys_of_references(tmp_path):
    """Keys that lead out of the store are not its objects."""
    refs = {".zgroup": json.dumps(GROUP), "x/.zarray": json.dumps(META), "x/0": "1234"}
    for key in ("../../secret", "/etc/passwd", "x/../y/.zarray", "x//0", "./x"):
        refs[key] = json.dumps(META)
    (tmp_path / "in").mkdir()
    (tmp_path / "in/refs.json").write_text(json.dumps(refs))
    check(run("copy", tmp_path / "in/refs.json", tmp_path / "in/out.zarr"))
    assert sorted(os.listdir(tmp_path)) == ["in"]
    assert sorted(os.listdir(tmp_path / "in")) == ["out.zarr", "refs.json"]
    assert bytes(cubed.from_zarr(tmp_path / "in/out.zarr", "x").compute()) == b"1234"
