"""The time of planning grows linearly with the number of operations."""

import time

import cubed
import cubed.array_api as xp
import numpy as np
import pytest

SPEC = cubed.Spec(allowed_mem="500MB", reserved_mem="100MB")
#: Of the time for eight times as many: 8 where it grows as they do, 64 with their square.
MOST = 24
FEW, MANY = 1000, 8000
TARGETS_FEW, TARGETS_MANY = 200, 1600


def arrays(n):
    return [cubed.from_array(np.arange(20.0) + i, chunks=(20,), spec=SPEC) for i in range(n)]


def chain(pieces):
    whole = pieces[0]
    for x in pieces[1:]:
        whole = xp.concat([whole, x])
    return whole


GRAPHS = {
    "concat": lambda n: [xp.concat(arrays(n))],
    "virtual": lambda n: [xp.concat([x + 1 for x in arrays(n)])],
    "stack": lambda n: [xp.stack(arrays(n), axis=1)],
    "chain": lambda n: [chain(arrays(n))],
    "mean": lambda n: [xp.mean(xp.concat(arrays(n)) * 2)],
}


def shared(n):
    """Results that read one array, by one stage."""
    x = arrays(1)[0]
    return [x * i for i in range(n)]


def neighbours(n):
    """Results each of which has something to read in common with two others."""
    x = arrays(n)
    return [x[i] + x[i - 1] for i in range(n)]


def squares(n):
    x = np.arange(16.0).reshape(4, 4)
    return [cubed.from_array(x + i, chunks=(2, 2), spec=SPEC) for i in range(n)]


TARGETS = {
    "apart": lambda n: [x + 1 for x in arrays(n)],
    "shared": shared,
    "neighbours": neighbours,
    "means": lambda n: [xp.mean(x) for x in shared(n)],
    "einsum": lambda n: [np.einsum("i,j->ij", x, x) for x in arrays(n)],
    "products": lambda n: [xp.matmul(x, x) for x in squares(n)],
    "products of one": lambda n: [xp.matmul(s, x) for s in squares(1) for x in squares(n)],
    "slices": lambda n: [x[1:] for x in arrays(1) for _ in range(n)],
}


def seconds(targets):
    """CPU time of a plan, which other programs disturb little; the least of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        cubed.plan(*targets)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("which", GRAPHS)
def test_grows_with_the_number_of_operations(which):
    few, many = GRAPHS[which](FEW), GRAPHS[which](MANY)
    assert seconds(many) < MOST * max(seconds(few), 0.02)


@pytest.mark.parametrize("which", TARGETS)
def test_grows_with_the_number_of_results(which):
    few, many = TARGETS[which](TARGETS_FEW), TARGETS[which](TARGETS_MANY)
    assert seconds(many) < MOST * max(seconds(few), 0.02)


@pytest.mark.parametrize("axis", [0, 1])
def test_pieces_are_found(axis):
    """Each element comes from its own piece, however it is looked at; some pieces are empty."""
    rng = np.random.default_rng(3)
    values, pieces = [], []
    for _ in range(300):
        shape = [3, 3]
        shape[axis] = int(rng.choice([0, 1, 2, 7]))
        a = rng.integers(-9, 9, shape).astype("f8")  # sums are exact
        values.append(a)
        pieces.append(cubed.from_array(a, chunks=(2, 2), spec=SPEC))
    whole, lazy = np.concatenate(values, axis=axis), xp.concat(pieces, axis=axis)
    for key in [
        slice(None),
        slice(None, None, -1),
        slice(5, 400, 7),
        slice(400, 5, -7),
        whole.shape[axis] // 2,
    ]:
        at = (slice(None),) * axis + (key,)
        np.testing.assert_array_equal(lazy[at].compute(), whole[at])
        np.testing.assert_array_equal(xp.sum(lazy[at] + lazy[at]).compute(), np.sum(whole[at] * 2))
    np.testing.assert_array_equal((lazy.T @ lazy).compute(), whole.T @ whole)


def test_requests_of_concatenated_arrays(tmp_path):
    """A chunk of every piece is one request; the first piece is no other."""
    cubed.to_zarr(cubed.from_array(np.arange(20.0), chunks=(20,), spec=SPEC), tmp_path / "a")
    x = cubed.from_zarr(tmp_path / "a", spec=SPEC)
    (stage,) = cubed.plan(xp.concat([x + i for i in range(50)])).stages
    assert stage["chunks_read"] == 50


def test_concatenations_of_many_pieces():
    """As many as a plan may have operations."""
    pieces = [cubed.from_array(np.array([i]), spec=SPEC) for i in range(17000)]
    np.testing.assert_array_equal(xp.concat(pieces).compute(), np.arange(17000))
