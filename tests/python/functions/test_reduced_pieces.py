"""Reductions of arrays that are joined from pieces: a block in several pieces is reduced piece by
piece, with the same bits as if the joined array were stored first.
"""

import itertools

import cubed
import numpy as np
import pytest
from conftest import NIGHTLY, cases
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

LENGTHS = [1, 2, 5, 31, 33, 70, 300]
REDUCTIONS = ["sum", "mean", "var", "max", "prod", "argmin", "nansum", "any", "count_nonzero"]


def reduce_both_ways(y, axes):
    """Of each reduction the result in one pass, and where all that it reads is stored before."""
    found = {}
    for name in REDUCTIONS:
        if name.startswith("arg"):
            if axes is not None and len(axes) > 1:
                continue
            x = cubed.argmin(y, axis=axes[0] if axes else None)
        else:
            x = getattr(cubed, name)(y, axis=axes)
        found[name] = x
    # In one stage where the order of what they read allows it.
    together = cubed.compute(*found.values())
    for (name, x), values in zip(found.items(), together, strict=True):
        stored = x.compute(optimize_graph=False)
        assert values.tobytes() == stored.tobytes(), name
        assert x.compute().tobytes() == stored.tobytes(), f"{name} alone"
    return dict(zip(found, together, strict=True))


@st.composite
def put_together(draw):
    """An array that is put together along one axis or two, its values, and axes to reduce."""
    ndim = draw(st.integers(1, 3))
    most = 40_000
    shape = []
    for _ in range(ndim):
        shape.append(draw(st.sampled_from([n for n in LENGTHS if n <= most])))
        most //= shape[-1]
    chunks = tuple(draw(st.integers(max(1, n // 4), n)) for n in shape)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    dtype = draw(st.sampled_from(["float64", "float32", "int16"]))
    values = (rng.normal(size=shape) * 100).astype(dtype)
    if dtype != "int16":
        values.reshape(-1)[:: draw(st.integers(3, 50))] = draw(st.sampled_from([np.nan, -0.0]))
    lazy = cubed.from_array(values, chunks=chunks)
    for axis in draw(st.sets(st.integers(0, ndim - 1), max_size=2)):
        n = draw(st.sampled_from([1, 2, 40]))
        edge = np.flip(values, axis).take(
            range(min(n, values.shape[axis])), axis
        ) * values.dtype.type(3)
        pieces = [cubed.from_array(edge, chunks=edge.shape), lazy]
        numpys = [edge, values]
        if draw(st.booleans()):
            pieces.reverse()
            numpys.reverse()
        lazy = cubed.concat(pieces, axis=axis) * 2
        values = np.concatenate(numpys, axis) * values.dtype.type(2)
        if draw(st.booleans()):
            lazy = lazy.rechunk(tuple(max(1, n * 2 // 3) for n in lazy.shape))
    axes = draw(
        st.none() | st.sets(st.integers(0, ndim - 1), min_size=1).map(lambda a: tuple(sorted(a)))
    )
    return lazy, values, axes


@pytest.mark.filterwarnings("ignore")
@given(made=put_together())
@settings(
    max_examples=cases(20), deadline=None, suppress_health_check=list(HealthCheck), print_blob=True
)
def test_pieces(made):
    lazy, values, axes = made
    got = reduce_both_ways(lazy, axes)
    np.testing.assert_array_equal(got["max"], values.max(axis=axes))
    np.testing.assert_allclose(got["nansum"], np.nansum(values, axis=axes), rtol=1e-3, atol=1e-1)


SHAPES = [(6, 40, 90), (6, 3, 300), (40, 90), (4, 5, 6)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_gradients(shape):
    """Their edges are pieces of one element: a block has up to nine."""
    values = np.random.default_rng(7).normal(size=shape)
    chunks = (max(1, shape[0] // 2), *shape[1:])
    x = cubed.from_array(values, chunks=chunks)
    spacing = np.cumsum(np.arange(1.0, shape[-1] + 1))
    lazy = cubed.gradient(x, axis=-2) - cubed.gradient(x, spacing, axis=-1)
    want = np.gradient(values, axis=-2) - np.gradient(values, spacing, axis=-1)
    several = [None, *itertools.combinations(range(len(shape)), 2)] if NIGHTLY else [None]
    for axes in [*((d,) for d in range(len(shape))), *several]:
        got = reduce_both_ways(lazy, axes)
        np.testing.assert_allclose(got["var"], want.var(axis=axes), rtol=1e-12)


def test_pieces_take_less_memory_than_their_values():
    values = np.zeros((24, 200, 300))
    spec = cubed.Spec(allowed_mem="100MB", reserved_mem=0)
    x = cubed.from_array(values, chunks=values.shape, spec=spec)
    y = cubed.mean(cubed.gradient(x, axis=1) + cubed.gradient(x, axis=2), axis=0)
    assert y.plan().stages[0]["projected_mem"] < values.nbytes
