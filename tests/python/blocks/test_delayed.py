"""Arrays whose values are computed by delayed calls, and delayed calls that return chunks."""

import sys

import cubed
import dask
import dask.array as da
import numpy as np
import pytest
from dask.delayed import Delayed

EXECUTORS = ["single-threaded", "threads", "processes"]
A = np.arange(12.0).reshape(3, 4)


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(tmp_path, allowed_mem="250MB", reserved_mem="200MB")


@pytest.mark.parametrize("executor", EXECUTORS)
def test_from_delayed(executor, spec):
    part = dask.delayed(np.multiply)(A, dask.delayed(lambda: 2)())

    def values():
        return A + 1

    with cubed.raise_if_computes():
        x = cubed.from_delayed(part, A.shape, dtype="f4", spec=spec)
        y = cubed.from_delayed(values, A.shape, meta=A, spec=spec)
        both = cubed.concat([x, y], axis=1)
    assert both.chunks == ((3,), (4, 4)) and both.dtype == float and x.dtype == "f4"
    got = both.compute(executor=executor)
    np.testing.assert_array_equal(got, np.concatenate([2 * A, A + 1], axis=1))


def test_as_dask():
    parts = [dask.delayed(np.full)((2,), i) for i in range(3)]
    mine, theirs = (
        lib.stack([lib.from_delayed(p, (2,), dtype=np.int64) for p in parts]) for lib in (cubed, da)
    )
    assert (mine.shape, mine.dtype, mine.chunks) == (theirs.shape, theirs.dtype, theirs.chunks)
    np.testing.assert_array_equal(mine.compute(), theirs.compute())
    for shape in ((), 0, (2, 0)):
        x = cubed.from_delayed(lambda shape=shape: np.zeros(shape), shape, dtype=float)
        np.testing.assert_array_equal(x.compute(), np.zeros(shape))


def test_memory_of_a_delayed_call():
    spec = cubed.Spec(allowed_mem="130MB", reserved_mem="100MB")
    x = cubed.from_delayed(lambda: np.zeros(10**6), 10**6, dtype=float, spec=spec)
    assert x.plan().max_projected_mem >= 108_000_000
    more = cubed.from_delayed(
        lambda: 0, 10**6, dtype=float, spec=spec, extra_projected_mem=40_000_000
    )
    with pytest.raises(MemoryError):
        more.plan()


def test_from_delayed_refusals():
    call = cubed.from_delayed
    with pytest.raises(TypeError, match="value is 3, expected a Dask delayed call, or a func"):
        call(3, (2,), dtype=float)
    with pytest.raises(TypeError, match="dtype and meta are None"):
        call(lambda: A, A.shape)
    with pytest.raises(TypeError, match="cannot be pickled"):
        call(lambda out=sys.stdout: out, (2,), dtype=float)
    for dtype, match in ((float, r"shape \(3, 4\), expected \(2,\)"), (int, "dtype float64")):
        x = call(lambda: A, (2,) if dtype is float else A.shape, dtype=dtype)
        with pytest.raises((TypeError, ValueError), match=match):
            x.compute()

    def fails():
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost") as caught:
        call(dask.delayed(fails)(), (2,), dtype=float).compute()
    assert any("from_delayed(fails" in note for note in caught.value.__notes__)


def test_to_delayed():
    x = cubed.from_array(A, chunks=(2, 3)) * 2
    with cubed.raise_if_computes():
        parts = cubed.to_delayed(x)
    assert parts.shape == x.numblocks and all(isinstance(p, Delayed) for p in parts.flat)
    want = da.from_array(A * 2, chunks=(2, 3)).to_delayed()
    for mine, theirs in zip(dask.compute(*parts.flat), dask.compute(*want.flat), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    total = dask.delayed(sum)([p.sum() for p in parts.flat])
    assert total.compute(scheduler="processes") == A.sum() * 2
    whole = cubed.to_delayed(cubed.asarray(5), optimize_graph=False)
    assert whole.shape == () and whole[()].compute() == 5
    with pytest.raises(TypeError, match="x is 3, expected an array"):
        cubed.to_delayed(3)
    method = x.to_delayed(optimize_graph=False, executor="threads")
    assert method.shape == x.numblocks
    np.testing.assert_array_equal(method[0, 1].compute(), A[:2, 3:6] * 2)


def test_the_method_store(tmp_path):
    x = cubed.from_array(A, chunks=(2, 3)) * 2
    x.store(tmp_path / "a")
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "a").compute(), A * 2)
    memory = np.zeros(A.shape)
    later = x.store(memory, compute=False)
    assert not memory.any()
    cubed.compute(*later)
    np.testing.assert_array_equal(memory, A * 2)
    with pytest.raises(FileExistsError):
        x.store(tmp_path / "a", overwrite=False)


def test_there_and_back():
    x = cubed.from_array(A, chunks=(2, 4))
    rows = [
        cubed.from_delayed(p, (n, 4), dtype=float)
        for p, n in zip(cubed.to_delayed(x)[:, 0], x.chunks[0], strict=True)
    ]
    np.testing.assert_array_equal(cubed.concat(rows).compute(), A)


def test_without_dask(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask.delayed", None)
    with pytest.raises(ImportError, match="to_delayed needs the package dask: pip install"):
        cubed.to_delayed(cubed.ones(3))
