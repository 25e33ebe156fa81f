"""Stores in the memory of the process: fsspec's ``memory://``, as in zarr-python, objects of other
libraries, and the engine's own store if fsspec is missing.
"""

import pickle

import cubed
import fsspec
import numpy as np
import pytest
from cubed.io import _create

import zarr

A = np.arange(24.0).reshape(4, 6)


@pytest.fixture
def x():
    return cubed.from_array(A, chunks=(2, 4))


@pytest.fixture(autouse=True)
def _empty():
    yield
    fsspec.filesystem("memory").store.clear()


@pytest.fixture
def _alone(monkeypatch):
    """As if neither fsspec nor zarr-python were there."""
    monkeypatch.setattr(_create, "find_spec", lambda name: None)


@pytest.mark.filterwarnings("error")
def test_zarr_python_has_the_same(x):
    cubed.to_zarr(x, "memory://arrays/first")
    cubed.store([x * 2, x[0]], ["memory://arrays/second", "memory:///arrays/g/third/"])
    np.testing.assert_array_equal(zarr.open_array("memory://arrays/first", mode="r")[:], A)
    second = zarr.open_array("memory://arrays/second", mode="r")
    assert sorted(fsspec.filesystem("memory").ls("/arrays", detail=False)) == [
        "/arrays/first", "/arrays/g", "/arrays/second",
    ]  # fmt: skip
    np.testing.assert_array_equal(second[:], 2 * A)
    assert second.chunks == (2, 4)
    np.testing.assert_array_equal(cubed.from_zarr("memory://arrays", "g/third").compute(), A[0])
    z = zarr.open_array("memory://arrays/second", mode="r+")
    z[1:] = 0
    read = cubed.from_zarr("memory://arrays/second", chunks=3)
    assert read.chunksize == (3, 3)
    np.testing.assert_array_equal(read.compute(), z[:])
    cubed.to_zarr(x[:2], "memory://arrays/second", region=(slice(1, 3), slice(None)))
    np.testing.assert_array_equal(z[1:3], A[:2])
    later = cubed.to_zarr(x + 1, "memory://arrays/later", compute=False)
    with pytest.raises(FileNotFoundError):
        zarr.open_array("memory://arrays/later", mode="r")
    np.testing.assert_array_equal(later.compute(), A + 1)
    np.testing.assert_array_equal(zarr.open_array("memory://arrays/later", mode="r")[:], A + 1)
    with pytest.raises(FileExistsError, match="memory://arrays"):
        cubed.to_zarr(x, "memory://arrays/second", overwrite=False)
    cubed.to_zarr(x, "memory://arrays/second")
    np.testing.assert_array_equal(z[:], A)
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr("memory://nobody-has-this")


def stores():
    other = fsspec.filesystem("memory")
    yield "url", lambda: ("memory://same/a", None, "memory://same", "a")
    yield "mapper", lambda: ("memory://same/a", None, other.get_mapper("/same/a"), None)
    store = zarr.storage.FsspecStore.from_url("memory://same")
    yield "FsspecStore", lambda: ("memory://same", "a", store, "a")
    memory, held = zarr.storage.MemoryStore(), {}
    yield "MemoryStore", lambda: (memory, "a", memory, "a")
    yield "dict", lambda: (held, "a", held, "a")


@pytest.mark.filterwarnings("ignore:the engine has no store")
@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in stores()])
def test_no_result_replaces_what_it_reads(x, make):
    store, path, again, there = make()
    cubed.to_zarr(x, store, path)
    opened = zarr.open_array(store, path=path or "", mode="r")
    for read in (cubed.from_zarr(store, path), cubed.from_array(opened)):
        with pytest.raises(ValueError, match=r"the result memory://.* would overwrite the source"):
            cubed.to_zarr(read + 1, again, there)
        with pytest.raises(ValueError, match="would overwrite the source"):
            cubed.to_zarr(read + 1, again, there, region=(slice(0, 4), slice(0, 6)))
        np.testing.assert_array_equal(read.compute(), A)
    cubed.to_zarr(read + 1, "memory://other")
    np.testing.assert_array_equal(cubed.from_zarr("memory://other").compute(), A + 1)


@pytest.mark.parametrize("kind", ["of others", "the engine's"])
def test_other_processes_refuse_it(tmp_path, request, kind):
    own = kind == "the engine's"
    if own:
        request.getfixturevalue("_alone")
    x = cubed.from_array(np.arange(6), chunks=3)
    spec = cubed.Spec(work_dir=str(tmp_path))
    y = cubed.from_array(np.arange(6), chunks=3, spec=spec)
    cubed.to_zarr(x, "memory://refused/x")
    source = cubed.from_zarr("memory://refused/x", spec=spec)
    error = NotImplementedError if own else TypeError
    for what in (lambda: pickle.dumps(source), lambda: (source + 1).compute(executor="processes")):
        with pytest.raises(error, match="is in the memory of this process"):
            what()
    text = "is in the memory of this process" if own else "cannot be sent to another process"
    with pytest.raises(error, match=text):
        cubed.to_zarr(y, "memory://refused/y", executor="processes")
    memory = cubed.Spec(work_dir="memory://work")
    with pytest.raises(ValueError, match="work_dir is memory://work"):
        cubed.from_array(np.arange(6), chunks=3, spec=memory).compute()


def test_lists_of_what_others_have_are_refused(x):
    cubed.to_zarr(x, "memory://parts/a")
    with pytest.raises(NotImplementedError, match=r"store 'memory://parts/a': expected a path"):
        cubed.from_zarr(["memory://parts/a"])


@pytest.mark.usefixtures("_alone")
def test_the_engines_own(x):
    cubed.to_zarr(x, "memory://arrays/first")
    cubed.to_zarr(x * 2, "memory://arrays", path="second")
    first = cubed.from_zarr("memory://arrays/first")
    np.testing.assert_array_equal(first.compute(), A)
    np.testing.assert_array_equal(cubed.from_zarr("memory://arrays", "second").compute(), 2 * A)
    # Replaced, also by what is computed from it.
    cubed.to_zarr(first + 1, "memory://arrays/first")
    np.testing.assert_array_equal(cubed.from_zarr("memory://arrays/first").compute(), A + 1)
    with pytest.raises(FileExistsError, match="memory://arrays"):
        cubed.to_zarr(x, "memory://arrays/second", overwrite=False)
    with pytest.raises(ValueError, match="would overwrite the source"):
        cubed.to_zarr(cubed.from_zarr("memory://arrays/first"), "memory://arrays/first/below")
    assert not fsspec.filesystem("memory").exists("/arrays")
