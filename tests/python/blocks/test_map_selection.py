"""cubed.core.ops.map_selection: parts that the caller chooses for each block."""

import itertools

import cubed
import numpy as np
import pytest
import watched
from cubed.core.ops import map_selection

SPEC = cubed.Spec(allowed_mem="60MB", reserved_mem="5MB")
A = np.arange(20 * 14).reshape(20, 14)


@pytest.fixture
def x():
    return cubed.from_array(A, chunks=(6, 5), spec=SPEC)


def computed(y):
    """The values, within the projected memory; the same where nothing is optimised."""
    got = watched.computed(y)
    np.testing.assert_array_equal(y.compute(optimize_graph=False), got)
    return got


def test_overlapping_windows(x):
    def window(key):
        name, i, j = key
        assert name == "out"
        return slice(4 * i, 4 * i + 8), slice(7 * j, 7 * j + 7)

    def ends(block, scale):
        return scale * (block[:4] + block[-4:])

    y = map_selection(
        ends,
        window,
        x,
        shape=(16, 14),
        dtype=A.dtype,
        chunks=(4, 7),
        max_num_input_blocks=6,
        scale=3,
    )
    assert y.chunks == ((4,) * 4, (7, 7))
    np.testing.assert_array_equal(computed(y), 3 * (A[:16] + A[4:]))


def test_blocks_in_another_order_and_the_last_shorter(x):
    rows = [np.array([5, 3, 3]), np.array([0, 19, 7]), np.array([2])]

    def numbered(block, more, block_id=None):
        return block.sum(axis=1, keepdims=True) + 1000 * block_id[0] + more

    y = map_selection(
        numbered, lambda key: (rows[key[1]],), x, 5, shape=(7, 1), dtype=A.dtype, chunks=(3, 1)
    )
    want = A[np.concatenate(rows)].sum(axis=1, keepdims=True) + 5
    np.testing.assert_array_equal(computed(y), want + 1000 * (np.arange(7) // 3)[:, None])


def test_in_processes(x):
    y = map_selection(
        np.flip,
        lambda key: slice(5 * key[1], 5 * key[1] + 5),
        x,
        shape=A.shape,
        dtype=A.dtype,
        chunks=(5, 14),
    )
    want = np.concatenate([np.flip(A[i : i + 5]) for i in range(0, 20, 5)])
    np.testing.assert_array_equal(y.compute(executor="processes", max_workers=2), want)


def test_parts_and_blocks_of_different_lengths(x):
    edges = [0, 3, 4, 11, 20]
    y = map_selection(
        np.flip,
        lambda key: slice(edges[key[1]], edges[key[1] + 1]),
        x,
        shape=A.shape,
        dtype=A.dtype,
        chunks=((3, 1, 7, 9), (14,)),
    )
    assert y.chunks == ((3, 1, 7, 9), (14,))
    want = np.concatenate([np.flip(A[a:b]) for a, b in itertools.pairwise(edges)])
    np.testing.assert_array_equal(computed(y), want)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (lambda key: 0, r"the part of block \(0, 0\) has 1 axes, the result 2"),
        (lambda key: (slice(0, 4), slice(0, 7 - key[1] * key[2])), r"has shape \(4, 6\), expected"),
    ],
)
def test_parts_that_do_not_fit(x, selection, message):
    with pytest.raises((NotImplementedError, ValueError), match=message):
        map_selection(np.copy, selection, x, shape=(8, 14), dtype=A.dtype, chunks=(4, 7))


def test_many_blocks_are_one_stage():
    a = np.arange(3000)
    x = cubed.from_array(a, chunks=(100,), spec=SPEC)
    y = map_selection(
        np.negative,
        lambda key: slice(10 * key[1], 10 * key[1] + 10),
        x,
        shape=a.shape,
        dtype=a.dtype,
        chunks=(10,),
    )
    assert y.plan().num_stages == 1
    np.testing.assert_array_equal(computed(y), -a)
