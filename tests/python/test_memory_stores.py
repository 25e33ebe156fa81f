"""Stores in the memory of the process, by name."""

import pickle

import cubed
import numpy as np
import pytest

import zarr


def test_arrays_by_name():
    a = np.arange(24.0).reshape(4, 6)
    x = cubed.from_array(a, chunks=(2, 4))
    cubed.to_zarr(x, "memory://arrays/first")
    cubed.to_zarr(x * 2, "memory://arrays", path="second")
    first = cubed.from_zarr("memory://arrays/first")
    np.testing.assert_array_equal(first.compute(), a)
    np.testing.assert_array_equal(cubed.from_zarr("MEMORY://arrays", "second").compute(), 2 * a)
    # Replaced, also by what is computed from it.
    cubed.to_zarr(first + 1, "memory://arrays/first")
    np.testing.assert_array_equal(cubed.from_zarr("memory://arrays/first").compute(), a + 1)
    with pytest.raises(FileExistsError, match="memory://arrays"):
        cubed.to_zarr(x, "memory://arrays/second", overwrite=False)
    with pytest.raises(ValueError, match="would overwrite the source"):
        cubed.to_zarr(cubed.from_zarr("memory://arrays/first"), "memory://arrays/first/below")


def test_what_zarr_python_has_in_memory_is_read():
    z = zarr.create_array("memory://of-zarr-python", shape=(3,), chunks=(2,), dtype="i4")
    z[:] = [1, 2, 3]
    np.testing.assert_array_equal(cubed.from_zarr("memory://of-zarr-python").compute(), [1, 2, 3])
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr("memory://nobody-has-this")


def test_other_processes_refuse_it(tmp_path):
    x = cubed.from_array(np.arange(6), chunks=3)
    spec = cubed.Spec(work_dir=str(tmp_path))
    y = cubed.from_array(np.arange(6), chunks=3, spec=spec)
    cubed.to_zarr(x, "memory://refused/x")
    source = cubed.from_zarr("memory://refused/x", spec=spec)
    for result in (source + 1).compute, lambda **k: cubed.to_zarr(y, "memory://refused/y", **k):
        with pytest.raises(NotImplementedError, match="lies in the memory of this process"):
            result(executor="processes")
    with pytest.raises(NotImplementedError, match="lies in the memory of this process"):
        pickle.dumps(source)
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr("memory://refused/y")
    memory = cubed.Spec(work_dir="memory://work")
    with pytest.raises(ValueError, match="work_dir is memory://work"):
        cubed.from_array(np.arange(6), chunks=3, spec=memory).compute()
