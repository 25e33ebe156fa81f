"""Serialises arrays: pickle, copies, other processes."""

import copy
import pickle
import subprocess
import sys

import cloudpickle
import cubed
import h5py
import numpy as np
import pytest

A = np.random.default_rng(2).normal(size=(30, 20))


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=tmp_path, allowed_mem="100MB", reserved_mem="10MB")


def again(x):
    return pickle.loads(pickle.dumps(x))


def check(x):
    y = again(x)
    assert (y.shape, y.dtype, y.chunks, y.spec) == (x.shape, x.dtype, x.chunks, x.spec)
    assert y.compute().tobytes() == x.compute().tobytes()
    assert again(y).compute().tobytes() == x.compute().tobytes()
    return y


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x,
        lambda x: x + 1,
        lambda x: cubed.where(x > 0, x, -x)[::2, ::-1].T,
        lambda x: cubed.mean(x * x, axis=0) - cubed.var(x, axis=0),
        lambda x: cubed.reshape(x + 1, (20, 30)),
        lambda x: cubed.reshape(x, (-1,)),
        lambda x: cubed.concat([x, x[:3] * 2]).rechunk((4, 20)),
        lambda x: cubed.cumulative_sum(x, axis=1),
        lambda x: cubed.sort(x, axis=0) @ x.T,
        lambda x: cubed.argmax(x, axis=1),
        lambda x: x[x > 0],
        lambda x: cubed.median(x, axis=0),
        lambda x: cubed.fft.rfft(x),
        lambda x: cubed.linalg.svdvals(x),
        lambda x: cubed.random.random((30, 20), chunks=7, seed=3),
        lambda x: cubed.random.random((30, 20), chunks=7, key=3),
        lambda x: cubed.astype(x, "f4").round(decimals=1),
        lambda x: cubed.full((3, 4), 2.5),
        lambda x: cubed.zeros((0, 3)),
        lambda x: cubed.asarray(np.array(5)),
    ],
)
def test_everything_comes_back(call, spec):
    check(call(cubed.from_array(A, chunks=(7, 6), spec=spec)))


@pytest.mark.parametrize("dtype", ["?", "i2", "c8", "M8[D]", "m8[ns]", "S3", "U4"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_memory_of_all_types_and_sizes_is_in_the_bytes(dtype, order):
    for size in (0, 1, 12, 50_000):
        a = np.asarray(np.arange(size).astype("i8").astype(dtype).reshape(-1, 1, 1), order=order)
        check(cubed.from_array(a))
        check(cubed.from_array(np.repeat(a, 3, axis=2).T))


def test_memory_is_that_of_the_moment_and_outlives_the_array():
    a = np.arange(100_000.0)
    data = pickle.dumps(cubed.from_array(a) * 2)
    a[:] = 0
    y = pickle.loads(data)
    total = cubed.sum(y)
    del y
    assert float(total) == 99999 * 100000


def test_stores_are_named_not_read(tmp_path, spec, monkeypatch):
    cubed.to_zarr(cubed.from_array(np.ones((1000, 1000)), chunks=100, spec=spec), tmp_path / "x")
    monkeypatch.chdir(tmp_path)
    x = cubed.from_zarr("x") + 1
    data = pickle.dumps(x)
    assert len(data) < 500
    monkeypatch.chdir("/")
    np.testing.assert_array_equal(pickle.loads(data)[:3].compute(), np.full((3, 1000), 2.0))


def test_names_and_attributes_stay(tmp_path):
    xarray = pytest.importorskip("xarray", reason="stores with names of dimensions")
    ds = xarray.Dataset({"v": (("y", "x"), A, {"units": "K"})})
    ds.to_zarr(tmp_path / "v.zarr", consolidated=False)
    x = cubed.from_zarr(tmp_path / "v.zarr", "v")
    y = again(x)
    assert y.attrs == x.attrs and y.attrs["units"] == "K"
    assert y._x.dim_names == x._x.dim_names == ("y", "x")


def add_one(block):
    return block + 1


def test_functions_of_users_and_objects(tmp_path):
    x = cubed.from_array(A, chunks=10)
    for f in (add_one, lambda b: b * 2):
        y = pickle.loads(cloudpickle.dumps(cubed.map_blocks(f, x, dtype=x.dtype)))
        np.testing.assert_array_equal(y.compute(), f(A))
    with h5py.File(tmp_path / "x.h5", "w") as f:
        f["d"] = A
    with h5py.File(tmp_path / "x.h5") as f:
        y = again(cubed.from_array(f["d"], chunks=10) - 1)
    np.testing.assert_array_equal(y.compute(), A - 1)
    np.testing.assert_array_equal(again(y).compute(executor="processes"), A - 1)


def test_copies():
    x = cubed.from_array(A, chunks=10)
    y = copy.copy(x)
    y[0] = 5
    z = copy.deepcopy(x)
    np.testing.assert_array_equal(x.compute(), A)
    np.testing.assert_array_equal(z.compute(), A)
    assert (y[0] == 5).all()


OTHER = """
import pickle, sys
x = pickle.loads(sys.stdin.buffer.read())
sys.stdout.buffer.write(x.compute().tobytes())
"""


def test_another_process():
    x = cubed.mean(cubed.from_array(A, chunks=7) * 3, axis=1)
    done = subprocess.run(
        [sys.executable, "-c", OTHER], input=pickle.dumps(x), capture_output=True, check=True
    )
    assert done.stdout == x.compute().tobytes()


def test_damaged_bytes_are_refused():
    from cubed import _core

    data = (cubed.from_array(A, chunks=7)[:5] + 1)._x.dump()
    for i in (0, 9, 13, 20, len(data) // 2, len(data) - 1):
        bad = bytearray(data)
        bad[i] ^= 0x41
        with pytest.raises((ValueError, NotImplementedError), match="array"):
            _core.load_array(bytes(bad), False)
    with pytest.raises(ValueError, match="are not a saved array"):
        _core.load_array(b"", False)
    with pytest.raises(ValueError, match="are not a saved array"):
        _core.load_array(cubed.plan(cubed.ones(3)).save(), False)
    coded = cubed.map_blocks(add_one, cubed.ones(3))._x.dump()
    with pytest.raises(ValueError, match="carries code"):
        _core.load_array(coded, False)
