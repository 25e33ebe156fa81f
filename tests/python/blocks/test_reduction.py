"""Compares user-defined reductions and running totals that have Dask's parameters with Dask; and
tests the steps of reductions of Cubed for Python.
"""

import functools
import tracemalloc
from collections import namedtuple

import cubed
import dask.array as da
import dask.array.reductions as dr
import numpy as np
import pytest
from cubed.core import ops
from dask.array import chunk as dask_chunk

import zarr

A = np.random.default_rng(36).integers(0, 100, (7, 9, 11)).astype(float)
CHUNKS = (2, 1, 3)
EXECUTORS = ["single-threaded", "threads", "processes"]
AXES = [None, 0, (0, 2), (-1, 0), ()]


def total(block, axis, keepdims):
    return block.sum(axis, keepdims=keepdims)


def weighted(block, weights=None, axis=None, keepdims=None):
    return (block if weights is None else block * weights).sum(axis, keepdims=keepdims)


def is_large(block, axis, keepdims):
    return (block > 98).any(axis, keepdims=keepdims)


def totals(block, axis, keepdims):
    n = np.ones_like(block).sum(axis, keepdims=keepdims, dtype=np.int64)
    return {"n": n, "sum": block.sum(axis, keepdims=keepdims)}


def add(partial, axis, keepdims):
    return {name: x.sum(axis, keepdims=keepdims) for name, x in partial.items()}


def quotient(partial, axis, keepdims):
    both = add(partial, axis, keepdims)
    return both["sum"] / both["n"]


def largest(block, axis, keepdims, k=3):
    return np.sort(block, axis[0]).take(range(-min(k, block.shape[axis[0]]), 0), axis[0])


def both(function, *args, **kwargs):
    """The result of a function, and Dask's."""
    mine = getattr(cubed, function)(cubed.from_array(A, chunks=CHUNKS), *args, **kwargs)
    theirs = getattr(da, function)(da.from_array(A, chunks=CHUNKS), *args, **kwargs).compute()
    assert isinstance(mine, cubed.Array) and mine.shape == theirs.shape
    return mine, theirs


@pytest.mark.parametrize("axis", AXES, ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_beside_dask(axis, keepdims):
    kwargs = {"axis": axis, "keepdims": keepdims, "dtype": float}
    for split_every in (None, {0: 3, 1: 2, 2: 5}):
        for chunk, aggregate in ((total, total), (np.sum, np.sum), (is_large, total)):
            mine, theirs = both("reduction", chunk, aggregate, split_every=split_every, **kwargs)
            assert mine.dtype == float  # Dask does not cast
            np.testing.assert_allclose(mine.compute(), theirs, rtol=1e-12)
    np.testing.assert_allclose(mine.compute(optimize_graph=False), theirs, rtol=1e-12)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_fields(executor, tmp_path):
    spec = cubed.Spec(tmp_path, allowed_mem="200MB", reserved_mem="100MB")
    x = cubed.from_array(A, chunks=CHUNKS, spec=spec)
    for axis in AXES[:1] if executor == "processes" else AXES[:-1]:
        with cubed.raise_if_computes():
            mean = cubed.reduction(x, totals, quotient, axis, combine=add, split_every=2)
        assert mean.dtype == float and mean.chunks == x.mean(axis).chunks
        np.testing.assert_allclose(mean.compute(executor=executor), A.mean(axis), rtol=1e-12)


@pytest.mark.parametrize("axis", [None, 0, (0, 2)], ids=str)
def test_functions_of_dask(axis):
    """Dask's own functions get partial results in nested lists."""
    x = cubed.from_array(A, chunks=CHUNKS)
    found = {
        "mean": (dr.mean_chunk, dr.mean_agg, dr.mean_combine),
        "var": (dr.moment_chunk, dr.moment_agg, dr.moment_combine),
    }
    for name, (chunk, aggregate, combine) in found.items():
        y = cubed.reduction(
            x, chunk, aggregate, axis=axis, combine=combine, dtype=float, concatenate=False,
            split_every=2,
        )  # fmt: skip
        np.testing.assert_allclose(y.compute(), getattr(A, name)(axis), rtol=1e-12)
    if axis == 0:
        for k in (1, 3, 30):
            y = cubed.reduction(
                x,
                functools.partial(dask_chunk.topk, k=k),
                functools.partial(dask_chunk.topk_aggregate, k=k),
                axis=axis,
                combine=functools.partial(dask_chunk.topk, k=k),
                keepdims=True,
                dtype=float,
                output_size=k,
            )
            want = -np.sort(-A, 0)[:k]
            assert y.shape == want.shape
            np.testing.assert_array_equal(y.compute(), want)


Extremes = namedtuple("Extremes", "low high")


@pytest.mark.parametrize("kind", [tuple, list, Extremes._make])
def test_numbers_without_axes(kind):
    def chunk(block, axis, keepdims):
        assert keepdims is True and axis == (0, 1)
        return kind([block.min(), float(block.max())])

    def leaves(partial):
        assert type(partial) is list
        for part in partial:
            yield from part if isinstance(part[0], (tuple, list)) else [part]

    def combine(partial, axis, keepdims):
        rows = [leaf for row in partial for leaf in row]
        assert all(isinstance(low, np.float64) for low, _ in rows)
        if kind is Extremes._make:
            assert all(row.low <= row.high for row in rows)
        return kind([min(low for low, _ in rows), max(high for _, high in rows)])

    def spread(partial, axis, keepdims):
        low, high = combine(partial, axis, keepdims)
        return high - low

    x = cubed.from_array(A[0], chunks=(2, 3))
    options = {"concatenate": False, "split_every": 4}
    y = cubed.reduction(x, chunk, spread, combine=combine, dtype=float, **options)
    assert y.shape == () and y.compute() == np.ptp(A[0])


def test_weights():
    for weights in (A[0], A[:, :1], A[:1, 2:3], 3.0, A[0, 0]):
        mine, theirs = both("reduction", weighted, total, axis=0, weights=weights, dtype=float)
        np.testing.assert_allclose(mine.compute(), theirs, rtol=1e-12)
        lazily = cubed.asarray(weights, chunks=1)
        mine, _ = both("reduction", weighted, total, axis=0, weights=weights, dtype=float)
        x = cubed.from_array(A, chunks=CHUNKS)
        y = cubed.reduction(x, weighted, total, axis=0, weights=lazily, dtype=float)
        np.testing.assert_array_equal(y.compute(), mine.compute())
    with pytest.raises(ValueError, match=r"weights have shape \(2, 11\), expected one that broadc"):
        cubed.reduction(x, weighted, total, weights=A[0, :2], dtype=float)


def test_wide_results():
    for output_size in (1, 3):
        mine, theirs = both(
            "reduction", largest, largest, axis=0, keepdims=True, dtype=float, output_size=3
        )
        np.testing.assert_array_equal(mine.compute(), theirs)
        x = cubed.from_array(A, chunks=((1, 5, 1), 9, 11))
        y = cubed.reduction(
            x, largest, largest, axis=0, keepdims=True, dtype=float, output_size=output_size
        )
        np.testing.assert_array_equal(y.compute(), theirs)
    y = cubed.reduction(x, largest, lambda p, axis, keepdims: largest(p, axis, keepdims)[0], axis=0)
    np.testing.assert_array_equal(y.compute(), np.sort(A, 0)[-3])


def test_a_long_axis_is_not_tried_whole():
    x = cubed.random.random(4_000_000, chunks=1_000_000)
    longest = []

    def chunk(block, axis, keepdims):
        longest.append(block.size)
        return block.sum(axis, keepdims=keepdims)

    tracemalloc.start()
    cubed.reduction(x, chunk, total, axis=0, dtype=float)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert max(longest) <= 4096 and peak < 2_000_000


def test_equal_blocks_are_tried_once():
    tried = []

    def counted(block, axis, keepdims):
        tried.append(block.shape)
        return block.sum(axis, keepdims=keepdims)

    cubed.reduction(cubed.ones(1001, chunks=2), counted, np.sum, dtype=float, split_every=16)
    assert tried == [(1,), (2,), (1,)]


def test_memory_of_calls():
    spec = cubed.Spec(allowed_mem="150MB", reserved_mem="100MB")
    x = cubed.ones((2000, 1000), chunks=(500, 1000), spec=spec)
    plain = cubed.reduction(x, total, total, axis=0, dtype=float).plan().max_projected_mem
    more = cubed.reduction(x, total, total, axis=0, dtype=float, extra_projected_mem=20_000_000)
    assert plain >= 100_000_000 + 4_000_000
    assert more.plan().max_projected_mem >= plain + 20_000_000 - 100_000
    with pytest.raises(MemoryError):
        cubed.reduction(x, total, total, axis=0, dtype=float, extra_projected_mem=10**8).compute()


def test_irregular_and_empty():
    x = cubed.from_array(A, chunks=((3, 1, 3), (4, 5), 11))
    y = cubed.reduction(x, totals, quotient, axis=(0, 1), combine=add, dtype=float, split_every=4)
    np.testing.assert_allclose(y.compute(), A.mean((0, 1)))
    empty = cubed.zeros((0, 3), chunks=2)
    assert cubed.reduction(empty, total, total, axis=0, dtype=float).compute().tolist() == [0] * 3
    assert cubed.reduction(empty, total, total, axis=1, dtype=float).compute().shape == (0,)
    assert cubed.reduction(cubed.asarray(2.0), total, total, dtype=float).compute() == 2


def test_refusals():
    x = cubed.zeros((4, 4), chunks=2)

    def fails(chunk, match, error=ValueError, **kwargs):
        with pytest.raises(error, match=match):
            cubed.reduction(x, chunk, total, axis=0, dtype=float, **kwargs).compute()

    fails(lambda b, axis, keepdims: b.sum(axis), "has 1 axes, expected 2: keep the reduced axes")
    fails(lambda b, axis, keepdims: {1, 2}, "is a Python object, expected an array", TypeError)
    fails(lambda b, axis, keepdims: 1 / 0, r"fails for a block of ones of shape \(1, 1\).*short")
    fails(lambda b, axis, keepdims: np.ma.masked_less(b, 1), "masked array", TypeError)
    fails(
        lambda b, axis, keepdims: np.repeat(b[:1], 1 + int(b.shape[1] > 1 and b[0, 0] == 0), 0),
        r"output 0 has shape \(2, 2\), expected \(1, 2\)",
    )
    fails(total, "output_size is 0, expected at least 1", output_size=0)
    fails(total, "at least 2 blocks", split_every={0: 1})
    fails(total, "out is .*expected None", TypeError, out=x)
    with pytest.raises(IndexError):
        cubed.reduction(x, total, total, axis=2)
    with pytest.raises(IndexError, match="axis 2"):
        cubed.reduction(x, total, total, axis=0, dtype=float, split_every={2: 4})


def test_split_every_counts_axes_from_the_last():
    """A negative axis had no effect: the tree had more levels than without it."""
    x = cubed.ones((2, 64), chunks=(2, 1))
    for make in (
        lambda s: cubed.reduction(x, total, total, axis=1, dtype=float, split_every=s),
        lambda s: ops.reduction(x, np.sum, axis=1, dtype=float, split_every=s),
        lambda s: ops.tree_reduce(x, np.sum, axis=1, dtype=float, split_every=s),
        lambda s: ops.arg_reduction(x, np.argmax, axis=1, split_every=s),
    ):
        tasks = [make({a: 16}).plan().num_tasks for a in (1, -1)]
        assert tasks[0] == tasks[1] < make({1: 2}).plan().num_tasks
        np.testing.assert_array_equal(make({-1: 16}).compute(), make({1: 2}).compute())


# --- Running totals -------------------------------------------------------------------------------


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_cumreduction(axis):
    x, y = cubed.from_array(A, chunks=CHUNKS), da.from_array(A, chunks=CHUNKS)
    mine = cubed.cumreduction
    for args in (
        (np.cumsum, np.add, 0),
        (np.maximum.accumulate, np.maximum, -np.inf),
        (np.add.accumulate, np.add, 0),
    ):
        for dtype in (float, "f4"):
            for kwargs in ({}, {"method": "blelloch", "preop": np.sum}):
                got = mine(*args, x, axis, dtype, **kwargs)
                want = dr.cumreduction(*args, y, axis, dtype)
                assert got.dtype == want.dtype and got.shape == want.shape
                np.testing.assert_allclose(got.compute(), want.compute(), rtol=1e-5)
    with pytest.raises(ValueError, match="method is 'tree', expected 'sequential' or 'blelloch'"):
        mine(np.cumsum, np.add, 0, x, axis, method="tree")
    with pytest.raises(TypeError, match="out is .*expected None"):
        mine(np.cumsum, np.add, 0, x, axis, out=x)


@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 3)])
def test_cumreduction_of_no_elements(shape):
    """As in Dask. There was no block that had a last total."""
    a = np.zeros(shape, "i4")
    x = cubed.from_array(a, chunks=2)
    for axis in (None, *range(-len(shape), len(shape))):
        for dtype in (None, "f4", "M8[s]"):
            got = cubed.cumreduction(np.cumsum, np.add, 0, x, axis, dtype)
            assert got.shape == ((0,) if axis is None else shape)
            assert got.dtype == np.dtype(dtype or np.cumsum(a).dtype) == got.compute().dtype


# --- Steps of Cubed for Python --------------------------------------------------------------------


def test_merge_chunks():
    x = cubed.from_array(A, chunks=CHUNKS)
    merged = ops.merge_chunks(x, (4, 2, 9))
    assert merged.chunks == ((4, 3), (2, 2, 2, 2, 1), (9, 2))
    np.testing.assert_array_equal(merged.compute(), A)
    with pytest.raises(ValueError, match=r"chunks is \(3, 1, 3\), expected multiples of"):
        ops.merge_chunks(x, (3, 1, 3))
    with pytest.raises(ValueError, match=r"chunks is \(2, 1\), expected 3 extents"):
        ops.merge_chunks(x, (2, 1))


def test_partial_reduce():
    x = cubed.from_array(A, chunks=CHUNKS)
    y = ops.partial_reduce(x, np.sum, split_every={0: 2, 2: 3})
    assert y.chunks == ((1, 1), (1,) * 9, (1, 1))
    rows = np.add.reduceat(A, [0, 4], 0)
    np.testing.assert_array_equal(y.compute(), np.add.reduceat(rows, [0, 9], 2))
    first = ops.partial_reduce(
        x,
        lambda b, axis, keepdims: b,  # concatenates the results of the blocks
        initial_func=lambda b: b.max(axis=0, keepdims=True),
        split_every={0: 3},
        dtype="f4",
        combine_sizes={0: 3},
    )
    assert first.chunks[0] == (3, 1) and first.dtype == "f4"
    np.testing.assert_array_equal(first.compute(), np.maximum.reduceat(A, [0, 2, 4, 6], 0))
    with pytest.raises(TypeError, match="split_every is 2, expected a dict"):
        ops.partial_reduce(x, np.sum, split_every=2)
    with pytest.raises(ValueError, match="expected at least 1 block"):
        ops.partial_reduce(x, np.sum, split_every={0: 0})
    with pytest.raises(TypeError, match="returns 2 arrays, expected one"):
        ops.partial_reduce(x, add, totals_of_blocks, split_every={0: 2})


def totals_of_blocks(block):
    return {"a": block, "b": block}


@pytest.mark.parametrize("split_every", [None, 2, {0: 2, 1: 3}])
def test_tree_reduce(split_every):
    x = cubed.from_array(A, chunks=CHUNKS)
    y = ops.tree_reduce(x, np.max, axis=(0, 1), dtype=float, split_every=split_every)
    assert y.shape == (1, 1, 11)
    np.testing.assert_array_equal(y.compute(), A.max((0, 1), keepdims=True))
    whole = cubed.from_array(A, chunks=(7, 9, 4))
    np.testing.assert_array_equal(ops.tree_reduce(whole, np.max, axis=0, dtype=float), A)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_map_blocks_multiple_outputs(executor, tmp_path):
    a = np.random.default_rng(1).random((40, 4))
    spec = cubed.Spec(tmp_path, allowed_mem="200MB", reserved_mem="100MB")
    x = cubed.from_array(a, chunks=(10, 4), spec=spec)

    def factors(block, by, *, block_id):
        return (*np.linalg.qr(block * by), np.full((1, 1), block_id[0]))

    q, r, n = ops.map_blocks_multiple_outputs(
        factors, x, 2, shapes=[(40, 4), (16, 4), (4, 1)], dtypes=[float, float, int],
        chunkss=[x.chunks, (4, 4), ((1,) * 4, (1,))],
    )  # fmt: skip
    got = cubed.compute(q, r, n, executor=executor)
    for i in range(4):
        part = got[0][10 * i : 10 * i + 10] @ got[1][4 * i : 4 * i + 4]
        np.testing.assert_allclose(part, 2 * a[10 * i : 10 * i + 10])
    assert got[2].ravel().tolist() == [0, 1, 2, 3]


def test_map_blocks_multiple_outputs_refusals():
    x = cubed.ones((4, 4), chunks=2)
    call = ops.map_blocks_multiple_outputs
    with pytest.raises(ValueError, match="chunks along their axes, expected the same numbers"):
        call(np.divmod, x, x, shapes=[(4, 4)] * 2, dtypes=["f8"] * 2, chunkss=[(2, 2), (4, 2)])
    with pytest.raises(ValueError, match="have 1, 2 and 2 entries"):
        call(np.divmod, x, x, shapes=[(4, 4)], dtypes=["f8"] * 2, chunkss=[2, 2])
    with pytest.raises(TypeError, match="args has no lazy array"):
        call(np.divmod, 1, 2, shapes=[(4, 4)], dtypes=["f8"], chunkss=[2])
    (y,) = call(np.negative, x, shapes=[(4, 4)], dtypes=["f8"], chunkss=[2])
    with pytest.raises(TypeError, match="returns a ndarray, expected a tuple of arrays"):
        y.compute()


def test_blockwise_into_a_store(tmp_path):
    x = cubed.from_array(A[0], chunks=(2, 3))
    store = tmp_path / "r.zarr"

    def scaled(block, by=1, plus=0):
        return block * by + plus

    with cubed.raise_if_computes():
        y = ops.blockwise(
            scaled, "ij", x, "ij", dtype=float, target_store=store, target_path="a/b", by=2,
            extra_func_kwargs={"plus": 1},
        )  # fmt: skip
    assert not store.exists()
    np.testing.assert_array_equal((y + 1).compute(), A[0] * 2 + 2)
    np.testing.assert_array_equal(zarr.open_array(store, path="a/b", mode="r")[:], A[0] * 2 + 1)
    with pytest.raises(ValueError, match="target_path is 'a', but there is no target_store"):
        ops.blockwise(scaled, "ij", x, "ij", dtype=float, target_path="a")
