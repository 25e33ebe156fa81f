"""Functions on blocks with elements of neighbouring blocks."""

import cubed
import numpy as np
import pytest
from watched import computed

EXECUTORS = ["single-threaded", "threads", "processes"]
NUMPY = {"reflect": "symmetric", "periodic": "wrap", "nearest": "edge"}


def same(x, expected, **options):
    """The values, the same without the optimiser."""
    assert x.shape == expected.shape
    assert x.dtype == expected.dtype
    np.testing.assert_array_equal(x.compute(**options), expected)
    np.testing.assert_array_equal(x.compute(optimize_graph=False, **options), expected)


def padded(a, width, boundary):
    if isinstance(boundary, str):
        return np.pad(a, width, NUMPY[boundary])
    return np.pad(a, width, constant_values=boundary)


def neighbours(block):
    """Sums over windows of 3 by 4."""
    return np.lib.stride_tricks.sliding_window_view(block, (3, 4)).sum((-2, -1))


@pytest.mark.parametrize("boundary", ["reflect", "periodic", "nearest", 7])
@pytest.mark.parametrize("chunks", [(4, 5), (10, 1), (3, 13)])
def test_overlap(boundary, chunks):
    a = np.random.default_rng(0).integers(0, 100, (10, 13))
    x = cubed.from_array(a, chunks=chunks)
    depth = {0: 1, 1: (1, 2)}
    y = cubed.map_overlap(neighbours, x * 2, depth=depth, boundary=boundary, dtype=np.int64)
    same(y, neighbours(padded(2 * a, ((1, 1), (1, 2)), boundary)))
    assert y.chunks == x.chunks


@pytest.mark.parametrize("executor", EXECUTORS)
def test_overlap_without_boundary(executor, tmp_path):
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="200MB", reserved_mem="100MB")
    a = np.arange(30.0)
    x = cubed.from_array(a, chunks=7, spec=spec)

    def lengths(block, block_id):
        return np.full(7 if block_id[0] < 4 else 2, float(len(block)))

    same(
        cubed.map_overlap(lengths, x, depth=(2,), dtype=float),
        np.repeat([9.0, 11, 11, 11, 4], [7, 7, 7, 7, 2]),
        executor=executor,
    )
    # More than a block: neighbours of neighbours.
    same(
        cubed.map_overlap(lengths, x, depth={0: (9, 0)}, dtype=float),
        np.repeat([7.0, 14, 16, 16, 11], [7, 7, 7, 7, 2]),
    )


@pytest.mark.parametrize("boundary", [None, "none", "reflect", 0])
def test_trim(boundary):
    a = np.random.default_rng(1).normal(size=(9, 11))
    x = cubed.from_array(a, chunks=(4, 3))

    def smooth(block, times=1):
        out = block.copy()
        out[1:-1] = times * (block[:-2] + block[2:]) / 2
        return out

    got = cubed.map_overlap(smooth, x, depth={0: 2, 1: 1}, boundary=boundary, trim=True, times=3)
    if boundary in (None, "none"):
        same(got, smooth(a, 3))
    else:
        same(got, smooth(padded(a, ((2, 2), (0, 0)), boundary), 3)[2:-2])


def test_overlap_of_several_arrays():
    a, b = np.arange(20.0), np.arange(60.0).reshape(3, 20)
    x, y = cubed.from_array(a, chunks=6), cubed.from_array(b, chunks=(2, 6))

    def f(u, v):
        return u[:, :-1] + v + 1

    got = cubed.map_overlap(f, y, x, depth=[{1: (0, 1)}, 0], boundary=["periodic", None])
    same(got, np.pad(b, ((0, 0), (0, 1)), "wrap")[:, 1:] * 0 + b + a + 1)


def test_overlap_keeps_its_bound():
    spec = cubed.Spec(allowed_mem="20MB", reserved_mem="1MB")
    x = cubed.ones((4000, 1000), chunks=(250, 1000), spec=spec)

    def f(block):
        return block[:-2] + block[2:]

    y = cubed.map_overlap(f, x, depth={0: 1}, boundary="nearest", dtype=float)
    narrow = cubed.map_overlap(lambda b: b, x, dtype=float)
    more = y.plan().max_projected_mem - narrow.plan().max_projected_mem
    assert more >= 2 * 1000 * 8
    assert float(computed(cubed.sum(y))) == 8e6


def test_overlap_refusals():
    x = cubed.zeros((4, 4), chunks=2)
    for depth in (-1, 5, {0: (1, -2)}, {0: (0, 9)}):
        with pytest.raises(ValueError, match="depth of axis 0"):
            cubed.map_overlap(np.abs, x, depth=depth)
    with pytest.raises(ValueError, match="boundary is 'wet'"):
        cubed.map_overlap(np.abs, x, depth=1, boundary="wet")
    with pytest.raises(ValueError, match="3 entries for 2 axes"):
        cubed.map_overlap(np.abs, x, depth=(1, 1, 1))
    with pytest.raises(ValueError, match="2 entries for 1 arrays"):
        cubed.map_overlap(np.abs, x, depth=[1, 1])
    with pytest.raises(ValueError, match=r"shape \(4, 4\), expected \(2, 2\)"):
        cubed.map_overlap(np.abs, x, depth=1, boundary=0, dtype=float).compute()


def test_dropped_and_new_axes():
    a = np.random.default_rng(3).normal(size=(10, 6, 5))
    x = cubed.from_array(a, chunks=(4, 6, 2))

    def smoothed(b):  # along the first axis, of sums over the second one
        s = b.sum(1)
        return (s[:-2] + s[1:-1] + s[2:]) / 3

    total = np.pad(a.sum(1), ((1, 1), (0, 0)), mode="edge")
    wanted = (total[:-2] + total[1:-1] + total[2:]) / 3
    for trim in (False, True):

        def func(b, trim=trim):
            out = smoothed(b)
            return np.pad(out, ((1, 1), (0, 0))) if trim else out

        y = cubed.map_overlap(
            func, x, dtype=float, depth={0: 1}, boundary="nearest", drop_axis=1, trim=trim
        )
        assert y.shape == (10, 5)
        np.testing.assert_allclose(y.compute(), wanted)
    both = cubed.map_overlap(
        lambda b: np.stack([b, -b], axis=1)[1:-1], x[:, 0], dtype=float, depth={0: 1},
        boundary=0, new_axis=1, chunks=(x.chunks[0], 2, x.chunks[2]),
    )  # fmt: skip
    np.testing.assert_array_equal(both.compute(), np.stack([a[:, 0], -a[:, 0]], axis=1))


def test_what_calls_are_told_of_blocks():
    def func(b, row, block_info=None, block_id=None):
        assert block_info[None]["chunk-location"] == block_id
        assert b.shape == tuple(q - p for p, q in block_info[0]["array-location"])
        assert block_info[None]["dtype"] == np.float64
        (start, stop), _ = block_info[0]["array-location"]
        return b + row * 0 + np.arange(start, stop)[:, None]

    a = np.zeros((7, 5))
    x, row = cubed.from_array(a, chunks=(3, 2)), cubed.from_array(a[:1], chunks=(1, 2))
    y = cubed.map_blocks(func, x, row, dtype=float)
    np.testing.assert_array_equal(y.compute(), np.arange(7.0)[:, None] + a)
    np.testing.assert_array_equal(cubed.map_blocks(func, x, row).compute(), y.compute())

    def described(b, block_info):
        info = block_info[0]
        assert info["shape"] == (7, 5) and info["num-chunks"] == (3, 3)
        assert info["array-location"][1] == (0, 5) and info["chunk-location"][1] == 0
        assert block_info[None]["chunk-shape"] == (b.shape[0],)
        assert block_info[None]["shape"] == (7,)
        return b.sum(1)

    cubed.map_blocks(described, x, dtype=float, drop_axis=1).compute()
    wide = cubed.map_overlap(
        lambda b, block_info: b[1:-1] + block_info[None]["chunk-location"][0],
        x, dtype=float, depth={0: 1}, boundary=0,
    )  # fmt: skip
    np.testing.assert_array_equal(wide.compute()[:, 0], [0, 0, 0, 1, 1, 1, 2])
