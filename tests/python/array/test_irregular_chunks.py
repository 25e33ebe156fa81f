"""Irregular chunks in the Python package: `.chunks` has the true lengths, functions get these
blocks, and every operation has NumPy's results within the projected memory.
"""

import itertools
import json
import pickle

import conftest
import cubed
import cubed.array_api as xp
import hypothesis.strategies as st
import numpy as np
import pytest
import watched
from cubed.core import ops, unify_chunks
from hypothesis import given, settings
from test_rectilinear import SHAPES, read, write

import zarr

SPEC = cubed.Spec(allowed_mem="40MB", reserved_mem="16MB")
A = np.random.default_rng(1).normal(size=(12, 10))
ODD = ((3, 4, 5), (2, 7, 1))
EXECUTORS = ["single-threaded", "threads", "processes"]


def computed(*arrays, executor="threads"):
    workers = {} if executor == "single-threaded" else {"max_workers": 2}
    return watched.computed(*arrays, executor=executor, **workers)


def whole(grid, values):
    """Where each element's block lies: what a function of blocks should give."""
    out = np.empty(values.shape)
    rows, columns = (np.cumsum((0, *c)) for c in grid)
    for i, (a, b) in enumerate(itertools.pairwise(rows)):
        for j, (c, d) in enumerate(itertools.pairwise(columns)):
            out[a:b, c:d] = values[a:b, c:d].sum() + 100 * i + j
    return out


def block_sum(block, block_id):
    return np.full_like(block, block.sum() + 100 * block_id[0] + block_id[1])


@pytest.fixture
def x():
    return cubed.from_array(A, chunks=ODD, spec=SPEC)


def test_what_an_array_says(x):
    assert x.chunks == ODD
    assert x.chunksize == (5, 7) and x.numblocks == (3, 3) and x.npartitions == 9
    assert (x + 1).chunks == ODD and x.T.chunks == ODD[::-1]
    assert xp.sum(x, axis=0).chunks == (ODD[1],)
    assert x[2:9].chunks == ((1, 4, 2), ODD[1])
    assert x[::-1, ::3].chunks == ((5, 4, 3), (1, 2, 1))
    assert x[:, 5].chunks == ((3, 4, 5),)
    assert xp.zeros_like(x).chunks == ODD
    assert xp.expand_dims(x, axis=0).chunks == ((1,), *ODD)
    assert xp.broadcast_to(x, (2, 12, 10)).chunks[1:] == ODD
    assert x.blocks[1:, 2].chunks == ((4, 5), (1,))
    np.testing.assert_array_equal(computed(x.blocks[1, 1]), A[3:7, 2:9])


def test_how_they_are_asked_for():
    a = np.arange(6)
    assert cubed.from_array(a, chunks=(1, 3, 2)).chunks == ((1, 3, 2),)
    assert xp.asarray(a, chunks=((4, 2),)).chunks == ((4, 2),)
    assert xp.asarray(a, chunks=((2, 4),)).chunks == ((2, 4),)
    assert xp.ones((6, 4), chunks=((1, 5), 2)).chunks == ((1, 5), (2, 2))
    assert xp.arange(6, chunks=((1, 5),)).chunks == ((1, 5),)
    assert xp.linspace(0, 1, 6, chunks=((1, 5),)).chunks == ((1, 5),)
    assert xp.eye(3, chunks=((1, 2), 3)).chunks == ((1, 2), (3,))
    assert cubed.random.random((6,), chunks=((1, 5),), seed=1).chunks == ((1, 5),)
    x = xp.ones((6, 4), chunks=(2, 2))
    assert x.rechunk({0: (1, 0, 2, 3)}).chunks == ((1, 2, 3), (2, 2))
    assert x.rechunk(((1, 5), None)).chunks == ((1, 5), (2, 2))
    assert x.rechunk(((1, 5), None)).rechunk({1: -1}).chunks == ((1, 5), (4,))
    assert x.rechunk(((1, 5), None)).rechunk(5).chunks == ((5, 1), (4,))
    values = [xp.arange(6, chunks=((1, 5),)), xp.eye(6, chunks=((1, 2, 3), 3))]
    for got, want in zip(cubed.compute(*values), [a, np.eye(6)], strict=True):
        np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize(
    "chunks", [((3, 4), -1), ((3, 4, 5, 1), -1), ((13, -1), -1), ((3, 4, 5),), {2: (3, 4)}]
)
def test_what_does_not_fit_is_refused(x, chunks):
    with pytest.raises(ValueError, match="add up|entries|axis 2|at least 0"):
        x.rechunk(chunks)


@pytest.mark.parametrize("executor", EXECUTORS)
def test_functions_get_the_blocks(x, executor):
    spec = cubed.Spec(allowed_mem="500MB", reserved_mem="400MB")  # workers import NumPy
    y = cubed.map_blocks(block_sum, x * 1, dtype=float)
    y = cubed.asarray(y, spec=spec)
    assert y.chunks == ODD
    np.testing.assert_allclose(computed(y, executor=executor), whole(ODD, A), rtol=1e-12)


def test_functions_of_several_arrays(x):
    other = cubed.from_array(A, chunks=(6, 10), spec=SPEC)
    assert cubed.map_blocks(np.add, x, x).chunks == ODD
    y = cubed.map_blocks(np.add, x, other)
    assert y.chunks == ((3, 3, 1, 5), ODD[1])
    row = cubed.from_array(A[:1], chunks=(1, ((2, 7, 1))), spec=SPEC)
    z = cubed.map_blocks(np.add, x, row)
    got = computed(y, z)
    np.testing.assert_array_equal(got[0], A + A)
    np.testing.assert_array_equal(got[1], A + A[:1])


def test_what_functions_make_may_have_them():
    x = xp.ones((6, 4), chunks=(2, 2))

    def ramp(block, block_id):
        return np.full((block_id[0] + 1, 2), block.sum())

    y = cubed.map_blocks(ramp, x, chunks=((1, 2, 3), (2, 2)), dtype=float)
    assert y.shape == (6, 4) and y.chunks == ((1, 2, 3), (2, 2))
    np.testing.assert_array_equal(y.compute(), np.full((6, 4), 4.0))
    z = ops.blockwise(lambda b: b[:1], "ij", x, "ij", dtype=float, adjust_chunks={"i": (1, 1, 1)})
    assert z.chunks == ((1, 1, 1), (2, 2))


@pytest.mark.parametrize("boundary", ["none", "reflect", 0.0])
def test_blocks_with_neighbours(x, boundary):
    def blur(b):
        return b + np.roll(b, 1, 0) + np.roll(b, -1, 0)

    y = cubed.map_overlap(blur, x, depth={0: 1}, boundary=boundary, trim=True, dtype=float)
    assert y.chunks == ODD
    got = computed(y)[1:-1]
    np.testing.assert_allclose(got, A[1:-1] + A[:-2] + A[2:], rtol=1e-12)


def test_gufuncs_and_unify(x):
    other = cubed.from_array(A, chunks=(6, 10), spec=SPEC)
    chunks, (a, b) = unify_chunks(x, "ij", other, "ij")
    assert chunks == {"i": (3, 3, 1, 5), "j": (2, 7, 1)}
    assert a.chunks == b.chunks == ((3, 3, 1, 5), (2, 7, 1))
    y = cubed.apply_gufunc(
        lambda b: b.mean(-1), "(i)->()", x, output_dtypes=float, allow_rechunk=True
    )
    assert y.chunks == ((3, 4, 5),)
    np.testing.assert_allclose(computed(y), A.mean(1), rtol=1e-12)


def test_reductions_by_functions(x):
    y = ops.reduction(x, np.sum, axis=0, dtype=float, split_every=2)
    z = ops.arg_reduction(x, np.argmax, axis=0)
    got = computed(y, z)
    np.testing.assert_allclose(got[0], A.sum(0), rtol=1e-12)
    np.testing.assert_array_equal(got[1], A.argmax(0))


def test_they_are_stored(tmp_path, x):
    cubed.to_zarr(x + 1, tmp_path / "x.zarr")
    got, shapes, _ = read(tmp_path / "x.zarr")
    np.testing.assert_array_equal(got, A + 1)
    assert shapes == [[3, 4, 5], [2, 7, 1]]
    again = cubed.from_zarr(tmp_path / "x.zarr", spec=SPEC)
    assert again.chunks == ODD
    np.testing.assert_array_equal(computed(again.T), A.T + 1)


def sum_of_two(a, b):
    return a + b


#: Functions whose plans have an intermediate with the chunks of the array, and those of NumPy.
STORED = {
    "an operand of a function": (
        lambda x: cubed.map_blocks(sum_of_two, x, x + x, dtype=x.dtype),
        lambda v: 3 * v,
    ),
    "running totals": (lambda x: xp.cumulative_sum(x, axis=0) * 2, lambda v: v.cumsum(0) * 2),
    "running totals of rows": (
        lambda x: cubed.rechunk(xp.cumulative_sum(x, axis=1), (5, 5)),
        lambda v: v.cumsum(1),
    ),
}


@pytest.mark.parametrize("executor", EXECUTORS)
@pytest.mark.parametrize("dtype", ["f8", "i2", "c8"])
@pytest.mark.parametrize("name", STORED)
def test_intermediates_in_the_work_directory(tmp_path, name, dtype, executor):
    """Worker processes store all of them there, threads those that exceed the memory."""
    ours, numpys = STORED[name]
    values = np.round(A * 9).astype(dtype)

    def made(mem, **options):
        spec = cubed.Spec(tmp_path, allowed_mem=mem, executor_name=executor, **options)
        return ours(cubed.from_array(values, chunks=ODD, spec=spec))

    if executor == "processes":
        result = made("200MB", executor_options={"max_workers": 2})
    else:
        with pytest.raises(MemoryError) as refused:
            made(100, reserved_mem=0).plan()
        result = made(refused.value.enough_mem, reserved_mem=0)
    found = result.compute()
    expected = numpys(values.astype(result.dtype))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_they_are_written_into_arrays_that_exist(tmp_path, x):
    z = zarr.create_array(tmp_path / "z.zarr", shape=A.shape, chunks=(4, 4), dtype=A.dtype)
    cubed.store([x], [z])
    np.testing.assert_array_equal(z[...], A)


def test_pickles_and_plans_keep_them(x):
    y = pickle.loads(pickle.dumps(cubed.map_blocks(block_sum, x, dtype=float)))
    assert y.chunks == ODD
    np.testing.assert_allclose(computed(y), whole(ODD, A), rtol=1e-12)


def test_xarray(tmp_path, x):
    xr = pytest.importorskip("xarray")
    days = (31, 28, 31)
    a = np.random.default_rng(2).normal(size=(90, 4))
    v = xr.DataArray(a, dims=("time", "y")).chunk(
        {"time": days}, chunked_array_type="cubed", from_array_kwargs={"spec": SPEC}
    )
    assert v.chunks == (days, (4,)) and v.data.chunks == (days, (4,))
    assert (v + 1).chunks == (days, (4,))
    np.testing.assert_allclose((v * 2).mean("time").values, 2 * a.mean(0), rtol=1e-12)
    b = v.isel(time=slice(5, 60))
    assert b.chunks == ((26, 28, 1), (4,))
    np.testing.assert_array_equal(b.values, a[5:60])


# --- Any grids ------------------------------------------------------------------------------------


@st.composite
def cut(draw, extent):
    """Lengths that add up to an extent."""
    edges = draw(st.sets(st.integers(1, extent - 1), max_size=5)) if extent > 1 else set()
    edges = [0, *sorted(edges), extent]
    return tuple(b - a for a, b in itertools.pairwise(edges))


@st.composite
def arrays(draw):
    """Values, two grids, and an executor."""
    shape = draw(st.tuples(st.integers(1, 17), st.integers(1, 13)))
    values = np.arange(np.prod(shape), dtype=float).reshape(shape) - 40
    one, two = (tuple(draw(cut(n)) for n in shape) for _ in range(2))
    return values, one, two, draw(st.sampled_from(["single-threaded", "threads"]))


@settings(deadline=None, max_examples=conftest.cases(20))
@given(arrays())
def test_any_grids(case):
    a, one, two, executor = case
    x, y = (cubed.from_array(a, chunks=c, spec=SPEC) for c in (one, two))
    rows = slice(a.shape[0] // 3, None, 2)
    lazy = {
        "rechunk": x.rechunk(two),
        "elementwise": x * 2 + y,
        "sum": xp.sum(x, axis=0) + xp.sum(y, axis=0),
        "max": xp.max(x - y),
        "argmin": xp.argmin(x, axis=1),
        "slice": x[rows, ::-1],
        "cumulative": xp.cumulative_sum(x, axis=0),
        "blocks": cubed.map_blocks(block_sum, x, dtype=float),
        "two": cubed.map_blocks(np.subtract, x, y, dtype=float),
        "reshape": xp.reshape(x, (-1,)),
        "concat": xp.concat([x, y], axis=0),
        "take": xp.take(x, xp.asarray([a.shape[1] - 1, 0]), axis=1),
        "matmul": xp.matmul(x, y.T),
        "sort": xp.sort(-x, axis=1),
        "median": cubed.median(x, axis=0),
        "mask": x[x > 0],
        "std": xp.std(x.rechunk(two)),
    }
    want = {
        "rechunk": a,
        "elementwise": a * 2 + a,
        "sum": a.sum(0) * 2,
        "max": 0.0,
        "argmin": a.argmin(1),
        "slice": a[rows, ::-1],
        "cumulative": a.cumsum(0),
        "blocks": whole(one, a),
        "two": a * 0,
        "reshape": a.reshape(-1),
        "concat": np.concatenate([a, a]),
        "take": a[:, [-1, 0]],
        "matmul": a @ a.T,
        "sort": np.sort(-a, axis=1),
        "median": np.median(a, axis=0),
        "mask": a[a > 0],
        "std": a.std(),
    }
    for v in lazy.values():
        assert tuple(map(sum, v.chunks)) == v.shape
    assert lazy["rechunk"].chunks == two and lazy["blocks"].chunks == one
    got = computed(*lazy.values(), executor=executor)
    for name, value in zip(lazy, got, strict=True):
        np.testing.assert_allclose(value, want[name], rtol=1e-12, atol=1e-9, err_msg=name)


@settings(deadline=None, max_examples=conftest.cases(10))
@given(arrays(), st.sampled_from(["memory", "zarr"]))
def test_any_grids_through_stores(tmp_path_factory, case, target):
    a, one, two, executor = case
    path = tmp_path_factory.mktemp("grids")
    cubed.to_zarr(cubed.from_array(a, chunks=one, spec=SPEC), path / "x", executor=executor)
    x = cubed.from_zarr(path / "x", spec=SPEC)
    assert x.chunks == one
    y = x.rechunk(two)
    if target == "zarr":
        cubed.to_zarr(y, path / "y", executor=executor)
        y = cubed.from_zarr(path / "y", spec=SPEC)
        assert y.chunks == two
    np.testing.assert_array_equal(computed(y, executor=executor), a)


def test_rechunk_of_encoded_chunks_stays_within_the_memory(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(1200, 700))
    rows = tuple(int(n) for n in rng.multinomial(1200 - 20, [1 / 20] * 20) + 1)
    columns = tuple(int(n) for n in rng.multinomial(700 - 9, [1 / 9] * 9) + 1)
    small = cubed.Spec(tmp_path / "work", allowed_mem="18.5MB", reserved_mem="16MB")
    cubed.to_zarr(cubed.from_array(a, chunks=(rows, 700), spec=small), tmp_path / "x")
    y = cubed.from_zarr(tmp_path / "x", spec=small).rechunk((-1, columns))
    assert y.chunks == ((1200,), columns)
    plan = y.plan()
    assert plan.max_projected_mem <= small.allowed_mem
    np.testing.assert_array_equal(computed(y), a)


def test_arrays_written_by_others(tmp_path):
    a = np.random.default_rng(0).normal(size=(23, 17))
    write(tmp_path / "x", a, SHAPES[3])  # chunks that reach behind the end
    x = cubed.from_zarr(tmp_path / "x", spec=SPEC)
    assert x.chunks == ((10, 13), (9, 8))
    assert json.loads((tmp_path / "x" / "zarr.json").read_text())["shape"] == [23, 17]
    np.testing.assert_array_equal(computed(cubed.map_blocks(np.negative, x, dtype=float)), -a)
