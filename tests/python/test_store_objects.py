"""Stores of zarr-python, fsspec and obstore are places that the engine reads and writes itself."""

import warnings
import zipfile

import cubed
import fsspec
import numpy as np
import obstore
import pytest
from s3_server import KEY, SECRET, Object, Server

import zarr

A = np.arange(60.0).reshape(6, 10)


@pytest.fixture
def local(tmp_path):
    root = zarr.create_group(tmp_path / "a.zarr")
    root.create_array("g/x", shape=A.shape, chunks=(4, 4), dtype=A.dtype)[...] = A
    return tmp_path / "a.zarr"


@pytest.fixture
def server(local, monkeypatch):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_ENDPOINT_URL", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    with Server() as s:
        for file in local.rglob("*"):
            if file.is_file():
                s.objects[f"x/a.zarr/{file.relative_to(local)}"] = Object(file.read_bytes(), {})
        yield s


def zipped(local, tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as f:
        for file in local.rglob("*"):
            if file.is_file():
                f.write(file, file.relative_to(local))
    return zarr.storage.ZipStore(path, mode="r")


@pytest.mark.parametrize("kind", ["local", "zip", "fsspec", "map", "obstore", "object"])
def test_local_stores(local, tmp_path, kind, monkeypatch):
    store = {
        "local": lambda: zarr.storage.LocalStore(local),
        "zip": lambda: zipped(local, tmp_path),
        "fsspec": lambda: zarr.storage.FsspecStore.from_url(f"file://{local}"),
        "map": lambda: fsspec.get_mapper(str(local)),
        "obstore": lambda: obstore.store.LocalStore(local),
        "object": lambda: zarr.storage.ObjectStore(obstore.store.LocalStore(local)),
    }[kind]()
    array = None if kind in ("map", "obstore") else zarr.open_array(store, path="g/x", mode="r")
    monkeypatch.setattr(zarr, "open_array", lambda *_, **__: pytest.fail("zarr-python reads it"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(cubed.from_zarr(store, "g/x").compute(), A)
    if array is not None:
        monkeypatch.setattr(zarr.Array, "__getitem__", lambda *_: pytest.fail("it reads"))
        np.testing.assert_array_equal(cubed.from_array(array).compute(), A)
    if kind not in ("zip",):
        cubed.to_zarr(cubed.from_zarr(store, "g/x") + 1, store, "y")
        np.testing.assert_array_equal(cubed.from_zarr(local, "y").compute(), A + 1)


@pytest.mark.parametrize("kind", ["fsspec", "map", "obstore", "object"])
def test_stores_in_s3(server, kind, monkeypatch):
    names = {"key": KEY, "secret": SECRET, "endpoint_url": server.variables["AWS_ENDPOINT_URL"]}
    region = server.variables.get("AWS_REGION", "eu-north-1")
    names["client_kwargs"] = {"region_name": region}

    def made():
        return obstore.store.S3Store(
            "b",
            prefix="x/a.zarr",
            access_key_id=KEY,
            secret_access_key=SECRET,
            endpoint=names["endpoint_url"],
            region=region,
            client_options={"allow_http": True},
        )

    url = "s3://b/x/a.zarr"
    store = {
        "fsspec": lambda: zarr.storage.FsspecStore.from_url(url, storage_options=names),
        "map": lambda: fsspec.get_mapper(url, **names),
        "obstore": made,
        "object": lambda: zarr.storage.ObjectStore(made()),
    }[kind]()
    monkeypatch.setattr(zarr, "open_array", lambda *_, **__: pytest.fail("zarr-python reads it"))
    np.testing.assert_array_equal(cubed.from_zarr(store, "g/x").compute(), A)
    cubed.to_zarr(cubed.from_zarr(store, "g/x") * 2, store, "twice")
    np.testing.assert_array_equal(cubed.from_zarr(store, "twice").compute(), A * 2)
    assert not server.wrong


def test_work_directories(server, tmp_path):
    """Objects are taken for them, with their options; those that stand for no place are not."""
    store = obstore.store.S3Store(
        "b",
        prefix="work",
        access_key_id=KEY,
        secret_access_key=SECRET,
        endpoint=server.endpoint,
        region=server.region,
        client_options={"allow_http": True},
    )
    for work in (store, fsspec.get_mapper(str(tmp_path / "w")), zarr.storage.LocalStore(tmp_path)):
        spec = cubed.Spec(work, allowed_mem="200MB", executor_name="processes")
        x = cubed.from_array(A, chunks=(2, 10), spec=spec)
        y = (x - cubed.mean(x, axis=0)).rechunk((6, 1)) * 2
        np.testing.assert_allclose(y.compute(), (A - A.mean(0)) * 2)
        assert SECRET not in repr(spec)
    assert any(r.op == "put" and r.key.startswith("work/") for r in server.requests)
    assert not [k for k in server.objects if k.startswith("work/")]
    for work in (zarr.storage.MemoryStore(), 3):
        with pytest.raises(TypeError, match="stands for such"):
            cubed.Spec(work)


def test_others_are_read_by_their_library_and_that_is_said():
    store = zarr.storage.MemoryStore()
    zarr.create_array(store, name="x", shape=A.shape, chunks=(3, 5), dtype="f8")[...] = A
    with pytest.warns(UserWarning, match="slower"):
        x = cubed.from_zarr(store, "x")
    np.testing.assert_array_equal(x.compute(), A)
    with pytest.warns(UserWarning, match="slower"):
        cubed.to_zarr(x, store, "y")
    np.testing.assert_array_equal(zarr.open_array(store, path="y")[...], A)
    fs = fsspec.filesystem("s3", anon=True, s3_additional_kwargs={"a": "b"})
    with pytest.warns(UserWarning, match="slower"):
        assert cubed.to_zarr(x, fsspec.FSMap("b/x", fs), compute=False).plan().num_tasks > 1


def test_secrets_are_not_in_what_is_said(server):
    store = fsspec.get_mapper(
        "s3://b/x/none.zarr",
        key=KEY,
        secret=SECRET,
        endpoint_url=server.variables["AWS_ENDPOINT_URL"],
    )
    with pytest.raises(FileNotFoundError) as e:
        cubed.from_zarr(store)
    assert SECRET not in str(e.value)
