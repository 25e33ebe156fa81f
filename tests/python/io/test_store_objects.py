"""The engine itself reads and writes stores of zarr-python, fsspec and obstore."""

import zipfile

import cubed
import fsspec
import icechunk
import numpy as np
import obstore
import pytest
from conftest import no_warnings
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
    with no_warnings():
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
        with pytest.raises(TypeError, match="with such a location"):
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


def filled(store):
    zarr.create_array(store, name="g/x", shape=A.shape, chunks=(4, 4), dtype="f8")[...] = A
    return store


def session_of(tmp_path):
    repo = icechunk.Repository.create(icechunk.local_filesystem_storage(str(tmp_path / "ice")))
    session = repo.writable_session("main")
    filled(session.store)
    return session


FOREIGN = {
    "memory": lambda _: filled(zarr.storage.MemoryStore()),
    "dictionary": lambda _: filled(zarr.storage.MemoryStore({}))._store_dict,
    "fsspec in memory": lambda t: filled(zarr.storage.FsspecStore.from_url(f"memory://{t}")),
    "mapper in memory": lambda t: filled(
        zarr.storage.FsspecStore.from_url(f"memory://{t}/m")
    ).fs.sync_fs.get_mapper(f"{t}/m"),
    "obstore in memory": lambda _: filled(
        zarr.storage.ObjectStore(obstore.store.MemoryStore())
    ).store,
    "object in memory": lambda _: filled(zarr.storage.ObjectStore(obstore.store.MemoryStore())),
    "logging": lambda t: zarr.storage.LoggingStore(
        filled(zarr.storage.LocalStore(t / "l")), log_level="ERROR"
    ),
    "wrapped": lambda t: zarr.storage.WrapperStore(filled(zarr.storage.LocalStore(t / "w"))),
    "icechunk's": lambda t: session_of(t).store,
    "session": session_of,
}


@pytest.mark.parametrize("kind", FOREIGN)
def test_other_kinds_are_sources_and_targets(tmp_path, kind):
    """Through the package zarr, which is said; under the path that is asked for."""
    store = FOREIGN[kind](tmp_path)
    with pytest.warns(UserWarning, match="slower"):
        x = cubed.from_zarr(store, "g/x")
    np.testing.assert_array_equal(x.compute(), A)
    with pytest.warns(UserWarning, match="slower"):
        cubed.to_zarr(cubed.from_array(A + 1, chunks=(4, 4)), store, "g/y")
    with pytest.warns(UserWarning, match="slower"):
        np.testing.assert_array_equal(cubed.from_zarr(store, "g/y").compute(), A + 1)


def test_places_within_stores(tmp_path, local, monkeypatch):
    """A path of zarr-python's, and a group, are where they say, also behind a path."""
    root = zarr.storage.LocalStore(tmp_path)
    places = {
        "path": zarr.storage.StorePath(root, "a.zarr/g"),
        "group": zarr.open_group(local)["g"],
        "archive": zarr.storage.StorePath(zipped(local, tmp_path), "g"),
    }
    monkeypatch.setattr(zarr, "open_array", lambda *_, **__: pytest.fail("zarr-python reads it"))
    for place in places.values():
        np.testing.assert_array_equal(cubed.from_zarr(place, "x").compute(), A)
    cubed.to_zarr(cubed.from_array(A + 1, chunks=(4, 4)), places["path"], "y")
    np.testing.assert_array_equal(cubed.from_zarr(local, "g/y").compute(), A + 1)
    assert not (tmp_path / "y").exists()
    with pytest.raises(TypeError, match="work_dir"):
        cubed.Spec(places["path"])


@pytest.mark.parametrize("kind", ["local", "zip", "fsspec", "object", "memory"])
def test_stores_that_are_for_reading_are_not_written(local, tmp_path, kind):
    store = {
        "local": lambda: zarr.storage.LocalStore(local, read_only=True),
        "zip": lambda: zipped(local, tmp_path),
        "fsspec": lambda: zarr.storage.FsspecStore.from_url(f"file://{local}", read_only=True),
        "object": lambda: zarr.storage.ObjectStore(obstore.store.LocalStore(local), read_only=True),
        "memory": lambda: zarr.storage.MemoryStore(read_only=True),
    }[kind]()
    with pytest.raises(ValueError, match="read-only"):
        cubed.to_zarr(cubed.from_array(A, chunks=(4, 4)), store, "y")
    if kind != "memory":
        assert sorted(p.name for p in local.iterdir()) == ["g", "zarr.json"]
        np.testing.assert_array_equal(cubed.from_zarr(store, "g/x").compute(), A)


def test_an_archive_that_zarr_python_writes(tmp_path):
    """It is open while it is written: zarr-python adds to it; what is closed is read natively."""
    with (
        zarr.storage.ZipStore(tmp_path / "a.zip", mode="w") as store,
        pytest.warns(UserWarning, match="slower"),
    ):
        cubed.to_zarr(cubed.from_array(A, chunks=(4, 4)), store, "g/x")
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "a.zip", "g/x").compute(), A)
