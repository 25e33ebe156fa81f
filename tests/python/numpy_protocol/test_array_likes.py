"""from_array with array-like objects: regions are read by indexing them."""

import sys
import threading

import cloudpickle
import cubed
import h5py
import numpy as np
import pytest
import xarray
from watched import Watch

import zarr

EXECUTORS = ["single-threaded", "threads", "processes"]

# Worker processes need not import this module, and so Xarray and h5py, to have its classes.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


class Like:
    """Has what an array has, and remembers what it was asked for."""

    def __init__(self, values):
        self.values = values
        self.shape = values.shape
        self.dtype = values.dtype
        self.keys = []

    def __getitem__(self, key):
        self.keys.append(key)
        return self.values[key]


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="200MB", reserved_mem="100MB")


VALUES = np.random.default_rng(5).normal(size=(60, 50))


@pytest.mark.parametrize("executor", EXECUTORS)
def test_values(executor, spec):
    x = cubed.from_array(Like(VALUES), chunks=(17, 13), spec=spec)
    for lazy, expected in [
        (x, VALUES),
        (x + 1, VALUES + 1),
        (x[5:40:3, ::-2], VALUES[5:40:3, ::-2]),
        (x.rechunk((7, 50)), VALUES),
        (cubed.reshape(x, (100, 30)), VALUES.reshape(100, 30)),
        (cubed.max(x, axis=0), VALUES.max(axis=0)),
    ]:
        np.testing.assert_array_equal(lazy.compute(executor=executor, max_workers=2), expected)


def test_a_chunk_is_read_once_and_only_where_it_is_needed(spec):
    like = Like(VALUES)
    cubed.from_array(like, chunks=(20, 25), spec=spec)
    assert like.keys == []
    x = cubed.from_array(like, chunks=(20, 25), spec=spec)
    cubed.mean(x * x, axis=0).compute()
    assert len(like.keys) == 6
    assert sorted((r.start, c.start) for r, c in like.keys) == [
        (r, c) for r in (0, 20, 40) for c in (0, 25)
    ]
    like.keys.clear()
    x[:20, :25].compute()
    assert like.keys == [(slice(0, 20), slice(0, 25))]


def test_parts_of_large_chunks_are_read_by_themselves(spec):
    like = Like(np.zeros((2000, 500)))
    x = cubed.from_array(like, chunks=(2000, 500), spec=spec)
    x[:100].compute()
    assert like.keys == [(slice(0, 100), slice(0, 500))]


@pytest.mark.parametrize(
    "dtype", ["bool", "i2", "u8", ">i4", "f2", "f4", "c8", "M8[ns]", "m8[s]", "S3", "U5"]
)
def test_types(dtype):
    values = np.arange(12).astype(dtype).reshape(3, 4)
    x = cubed.from_array(Like(values), chunks=2)
    assert x.dtype == values.dtype.newbyteorder("=")
    np.testing.assert_array_equal(x[::-1, 1:].compute(), values[::-1, 1:])


def test_shapes():
    for shape in [(), (0,), (3, 0), (1, 1, 1), (2, 3, 4, 5)]:
        values = np.arange(np.prod(shape)).reshape(shape)
        np.testing.assert_array_equal(cubed.from_array(Like(values)).compute(), values)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_hdf5(tmp_path, executor, spec):
    with h5py.File(tmp_path / "x.h5", "w") as f:
        f.create_dataset("group/values", data=VALUES, chunks=(20, 10), compression="gzip")
    with h5py.File(tmp_path / "x.h5") as f:
        x = cubed.from_array(f["group/values"], spec=spec)
        assert x.chunksize == (20, 10)
        np.testing.assert_array_equal((2 * x).compute(executor=executor), 2 * VALUES)


def test_zarr_arrays_that_are_not_in_a_directory():
    z = zarr.array(VALUES, chunks=(8, 9))
    x = cubed.from_array(z)
    assert x.chunksize == (8, 9)
    np.testing.assert_array_equal(x.compute(), VALUES)


def test_arrays_that_xarray_reads_lazily(tmp_path):
    ds = xarray.Dataset({"v": (("y", "x"), VALUES)})
    ds.to_zarr(tmp_path / "v.zarr", consolidated=False)
    lazy = xarray.open_zarr(tmp_path / "v.zarr", chunks=None, consolidated=False)["v"]
    adapted = xarray.core.indexing.ImplicitToExplicitIndexingAdapter(lazy.variable._data)
    x = cubed.from_array(adapted, chunks=(30, 30))
    np.testing.assert_array_equal((x - 1).compute(), VALUES - 1)


def test_memory_is_in_the_projection(tmp_path):
    x = cubed.from_array(Like(np.zeros((1000, 1000))), chunks=(500, 1000))
    plan = cubed.plan(x + 1)
    # The block, twice its bytes in the object, and 1 MiB: results of a copy take no more.
    assert plan.stages[0]["projected_mem"] >= 3 * 4_000_000 + 2**20
    small = cubed.Spec(allowed_mem="10MB", reserved_mem=0)
    x = cubed.from_array(Like(np.zeros((1000, 1000))), chunks=(500, 1000), spec=small)
    with pytest.raises(MemoryError, match="allow at least"):
        x.compute()
    large = cubed.Spec(allowed_mem="40MB", reserved_mem=0)
    x = cubed.from_array(Like(np.zeros((1000, 1000))), chunks=(500, 1000), spec=large)
    watch = Watch()
    (x + 1).compute(callbacks=[watch])
    watch.check(large.allowed_mem, x)
    assert len(watch.ends) == 2
    assert min(e.peak_measured_mem_end for e in watch.ends) >= 12_000_000


class Failing(Like):
    def __init__(self, error):
        super().__init__(VALUES)
        self.error = error

    def __getitem__(self, key):
        if isinstance(self.error, Exception):
            raise self.error
        return self.error


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ValueError("no such day"), ValueError, r"no such day\n(.|\n)*region \[0:30, 0:25\]"),
        (OSError("gone"), OSError, "gone"),
        (KeyError("k"), KeyError, "'k'"),
        (np.zeros(3), ValueError, r"shape \(3,\), expected \(30, 25\)"),
        (np.zeros((30, 25), complex), TypeError, "complex128, expected float64"),
    ],
)
def test_errors_name_the_region(error, kind, text, executor, spec):
    x = cubed.from_array(Failing(error), chunks=(30, 25), spec=spec)
    with pytest.raises(kind, match=text):
        x[:30, :25].compute(executor=executor, max_workers=1)


def test_chunks_of_different_lengths(spec):
    x = cubed.from_array(Like(VALUES), chunks=((20, 10, 30), 50), spec=spec)
    assert x.chunks[0] == (20, 10, 30)
    np.testing.assert_array_equal(x.compute(), VALUES)


def test_what_is_refused(spec):
    like = Like(VALUES)
    like.lock = threading.Lock()
    with pytest.raises(TypeError, match="Like cannot be sent to another process"):
        cubed.from_array(like, spec=spec).compute(executor="processes")
    with pytest.raises(TypeError, match="no shape and no dtype"):
        cubed.from_array({1, 2})
    with pytest.raises(TypeError, match="masked"):
        cubed.from_array(np.ma.masked_array([1, 2], [0, 1]))
    with pytest.raises(TypeError, match="object"):
        cubed.from_array(Like(np.array([None])))
    with pytest.raises(ValueError, match="add up"):
        cubed.from_array(like, chunks=((20, 10, 31), 50))
    plan = cubed.plan(cubed.from_array(Like(VALUES), spec=spec))
    assert plan.save()[:8] == b"CUBEDPLN"


@pytest.mark.parametrize("view", [np.s_[:, :], np.s_[::2, ::-3]])
def test_memory_is_given_to_worker_processes(view, tmp_path):
    """By files in the work directory, which nobody sees and nothing is left of."""
    spec = cubed.Spec(work_dir=tmp_path / "new/work", allowed_mem="150MB", reserved_mem="100MB")
    a = np.random.default_rng(0).normal(size=(700, 800))
    for b in (a[view], a.T[view]):
        x = cubed.from_array(b, chunks=(150, 200), spec=spec)
        run = {"executor": "processes", "max_workers": 2}
        np.testing.assert_array_equal((x + b).compute(**run), 2 * b)
        assert (
            cubed.mean(x, axis=0).compute(**run).tobytes()
            == cubed.mean(x, axis=0).compute().tobytes()
        )
    assert list((tmp_path / "new/work").iterdir()) == []
    with pytest.raises(NotImplementedError, match="a saved plan can contain at most"):
        cubed.plan(cubed.from_array(a, spec=spec)).save()


@pytest.mark.parametrize("kind", ["memory", "zip", "zip file", "fsspec"])
def test_stores_that_zarr_opens(kind, tmp_path, spec):
    path = tmp_path / ("a.zip" if "zip" in kind else "a.zarr")
    store = zarr.storage.MemoryStore() if kind == "memory" else path
    if "zip" in kind:
        store = zarr.storage.ZipStore(path, mode="w")
    zarr.create_array(store, name="x", data=VALUES, chunks=(20, 20))
    if "zip" in kind:
        store.close()
        store = path if "file" in kind else zarr.storage.ZipStore(path, mode="r")
    if kind == "fsspec":
        store = f"local://{path}"
    x = cubed.from_zarr(store, path="x", spec=spec)
    assert x.chunksize == (20, 20)
    executors = EXECUTORS[:2] if kind == "memory" else EXECUTORS
    for executor in executors:
        np.testing.assert_array_equal((x + 1).compute(executor=executor), VALUES + 1)
    assert cubed.from_zarr(store, path="x", chunks=(10, -1), spec=spec).chunksize == (10, 50)
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr(store, path="y", spec=spec)
