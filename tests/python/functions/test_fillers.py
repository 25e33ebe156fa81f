"""Chunks of results: constants, borders and repeated elements have the chunks of the array that
they fill, so no chunk becomes longer than those of the arrays.
"""

import itertools

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
import xarray as xr
from conftest import run

SPEC = cubed.Spec(allowed_mem="200MB")
SHAPE, CHUNKS = (23, 11, 14), (5, 4, 6)
ODD = ((5, 2, 4, 5, 5, 2), (4, 4, 3), (1, 6, 2, 5))
A = np.random.default_rng(1).normal(size=SHAPE)
DIMS = ("t", "y", "x")


@pytest.fixture(params=["memory", "stored", "constant", "irregular", "slice"])
def x(request, tmp_path):
    if request.param == "constant":
        return xp.ones(SHAPE, chunks=CHUNKS, spec=SPEC)
    if request.param == "stored":
        cubed.to_zarr(cubed.from_array(A, chunks=CHUNKS, spec=SPEC), tmp_path / "x.zarr")
        return cubed.from_zarr(tmp_path / "x.zarr", spec=SPEC)
    if request.param == "slice":
        a = np.pad(A, ((3, 0), (1, 0), (0, 4)))
        return cubed.from_array(a, chunks=CHUNKS, spec=SPEC)[3:, 1:, :-4]
    return cubed.from_array(A, chunks=CHUNKS if request.param == "memory" else ODD, spec=SPEC)


def full(axis, n, *, numpy=False):
    shape = tuple(n if d == axis else m for d, m in enumerate(SHAPE))
    return np.zeros(shape) if numpy else xp.zeros(shape, spec=SPEC)


def assigned(x, key, value):
    y = x[...]
    y[key] = value
    return y


#: Results of x's rank, or more with new axes in front.
CALLS = {
    "zeros before": lambda x, d: xp.concat([full(d, 40), x], axis=d),
    "numbers behind": lambda x, d: np.concatenate([x, full(d, 40, numpy=True)], axis=d),
    "of constants": lambda x, d: xp.concat([xp.astype(full(d, 9)[...] * 2 + 1, "f4"), x], axis=d),
    "no elements": lambda x, d: xp.concat([x[:0] if d == 0 else x, full(d, 40)], axis=d),
    "stack": lambda x, d: xp.stack([xp.zeros(SHAPE, spec=SPEC), x, np.zeros(SHAPE)], axis=0),
    "prepend": lambda x, d: xp.diff(x, axis=d, prepend=full(d, 1), append=np.zeros(())),
    "running": lambda x, d: xp.cumulative_sum(x, axis=d, include_initial=True),
    "roll": lambda x, d: xp.roll(x, 7, axis=d),
    "where": lambda x, d: xp.where(xp.zeros(SHAPE, spec=SPEC) < 1, xp.full(SHAPE, 2.0), x),
    "sum": lambda x, d: xp.reshape(xp.arange(A.size, spec=SPEC), SHAPE) * 2 + np.zeros(SHAPE) + x,
    "set a slice": lambda x, d: assigned(x, (slice(3, 8),), 1.0),
    "set a region": lambda x, d: assigned(x, (..., slice(2, 13)), A[..., 2:13]),
    "set by a mask": lambda x, d: assigned(x, x > 0, 0.0),
    "more dimensions": lambda x, d: xp.broadcast_to(x, (4, *SHAPE)),
    "shift": lambda x, d: xr.Variable(DIMS, x).shift({DIMS[d]: 1}).data,
    "shift back": lambda x, d: xr.Variable(DIMS, x).shift({DIMS[d]: -7}).data,
    "shift out": lambda x, d: xr.Variable(DIMS, x).shift({DIMS[d]: 40}).data,
    "reindex": lambda x, d: xr.DataArray(x, dims=DIMS, coords={"t": np.arange(23)})
    .reindex(t=np.arange(-9, 30)).data,
    "ffill": lambda x, d: xr.DataArray(x, dims=DIMS).ffill(DIMS[d]).data,
    "rolling": lambda x, d: xr.DataArray(x, dims=DIMS).rolling({DIMS[d]: 3}, min_periods=1)
    .mean().data,
    "full_like": lambda x, d: (lambda a: xr.full_like(a, 3.0) + a)(xr.DataArray(x)).data,
}  # fmt: skip


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("call", CALLS)
def test_no_chunk_gets_longer(x, call, axis):
    y = CALLS[call](x, axis)
    assert [max(c) for c in y.chunks[-3:]] <= list(CHUNKS)
    for mine, own, length in zip(y.chunks[-3:], x.chunks, CHUNKS, strict=True):
        assert max(mine) <= length
        assert sum(mine) >= sum(own) - 1 or call in ("no elements", "reindex")


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "maximum", "linear_ramp", "wrap"])
@pytest.mark.parametrize("width", [1, 3, ((0, 2), (9, 0), (1, 30)), 40])
def test_borders(x, mode, width):
    y = cubed.pad(x, width, mode=mode)
    assert all(max(c) <= n for c, n in zip(y.chunks, CHUNKS, strict=True))
    if mode in ("constant", "maximum"):
        widths = np.broadcast_to(width, (3, 2)).tolist()
        for c, own, length, (before, after) in zip(y.chunks, x.chunks, CHUNKS, widths, strict=True):
            if before + after == 0:
                assert c == own
            elif set(own[1:-1]) - {length}:  # what is between two irregular chunks is so
                edges = set(itertools.accumulate(own[:-1]))
                mine = {e - before for e in itertools.accumulate(c[:-1])}
                assert {e for e in mine if 0 < e < sum(own)} == edges
            else:
                assert set(c[:-1]) <= {length}


def test_a_shift_of_one_step():
    x = cubed.from_array(np.zeros((730, 24, 48), "f4"), chunks=(146, 12, 12), spec=SPEC)
    y = xr.DataArray(x, dims=("time", "lat", "lon")).shift(time=1).data
    assert y.chunks == x.chunks
    assert (xr.DataArray(x) - xr.DataArray(y)).data.chunks == x.chunks
    back = xr.DataArray(x, dims=("time", "lat", "lon")).shift(time=-1).data
    assert back.chunks == x.chunks


def test_xarray_stores_what_is_shifted(tmp_path):
    """It takes equal chunks alone."""
    x = xr.DataArray(cubed.from_array(A, chunks=CHUNKS, spec=SPEC), dims=DIMS, name="v")
    for i, y in enumerate([x.shift(t=1), x.shift(t=-1), x.pad(y=2)]):
        y.to_dataset().to_zarr(tmp_path / f"{i}.zarr", consolidated=False)
        back = xr.open_zarr(tmp_path / f"{i}.zarr", consolidated=False)
        np.testing.assert_array_equal(back.v, y)


def test_chunks_that_somebody_chose_remain():
    ones = xp.ones((10, 6), chunks=(3, 2))
    assert (ones + np.ones((10, 6))).chunks == ones.chunks
    assert xp.concat([xp.zeros((4, 6)), ones]).chunks == ((3, 3, 3, 3, 2), (2, 2, 2))
    assert (xp.zeros((10, 6)) + xp.ones((10, 6))).chunks == ((10,), (6,))
    stored = cubed.map_blocks(np.copy, xp.ones((10, 6), chunks=(4, 5)), dtype=float)
    assert (ones + stored).chunks == stored.chunks
    assert (cubed.random.random((10, 6), chunks=(4, 5)) + ones).chunks == stored.chunks
    large = cubed.from_array(np.ones((10, 6)), chunks=(2, 3))
    assert (stored[:, :1] + large).chunks == large.chunks
    long, short = large, cubed.from_array(np.ones((7, 6)), chunks=(5, 1))
    assert xp.concat([long, short]).chunks == ((5, 5, 5, 2), (3, 3))
    assert xp.concat([long, long[:0]]).chunks == long.chunks


def test_repeated_axes_are_cut_beside_what_is_kept():
    x = xp.ones((1000, 1), chunks=(1000, 1))
    rows, columns = xp.broadcast_to(x, (1000, 10**6)).chunksize
    assert rows == 1000 and rows * columns * 8 <= 2**20
    assert xp.broadcast_to(xp.ones((7,)), (3, 7)).chunks == ((3,), (7,))
    assert xp.broadcast_to(xp.ones((1, 0)), (3, 0)).shape == (3, 0)


def test_coordinates_do_not_lengthen_chunks():
    """Along an axis that only a coordinate in memory has, whatever its length."""
    t = np.arange(10**5) / 10**5
    values = cubed.from_array(np.ones((3, 400, 400)), chunks=(1, 200, 200), spec=SPEC)
    coefficients = xr.DataArray(values, dims=("degree", "y", "x"), coords={"degree": range(3)})
    y = xr.polyval(xr.DataArray(t, dims="t"), coefficients).transpose("t", "y", "x").data
    assert y.chunksize[1:] == (200, 200) and y.chunkmem <= 2**24
    np.testing.assert_allclose(y[::20000, 3, 5].compute(), (1 + t + t**2)[::20000])
    large = xp.ones((1, 3000, 1000), chunks=(1, 3000, 1000)) + np.ones((9, 1, 1))
    assert large.chunks == ((1,) * 9, (3000,), (1000,))
    assert (xp.ones((9, 1)) + np.ones(10**4)).chunks == ((9,), (10**4,))
    assert (xp.ones((0, 1), chunks=1) + np.ones((1, 5))).chunks == ((0,), (5,))


def test_values_and_memory(tmp_path):
    """What was refused: a chain of borders over chunks of which few fit."""
    a = np.random.default_rng(2).normal(size=(120, 60, 80))
    spec = cubed.Spec(allowed_mem="18MB", reserved_mem="16MB")
    x = cubed.from_array(a, chunks=(24, 20, 20), spec=spec)
    y = xr.DataArray(x, dims=("t", "y", "x"))
    for dim in ("t", "y", "x"):
        y = y - y.shift({dim: 1}, fill_value=0.0)
    want = a
    for axis in range(3):
        want = np.diff(want, axis=axis, prepend=0.0)
    assert all(max(c) <= n for c, n in zip(y.data.chunks, (24, 20, 20), strict=True))
    cubed.to_zarr(cubed.map_blocks(np.copy, y.data, dtype=float), tmp_path / "y")
    np.testing.assert_allclose(cubed.from_zarr(tmp_path / "y").compute(), want, atol=1e-12)


def test_the_command(tmp_path):
    cubed.to_zarr(cubed.from_array(A, chunks=CHUNKS), tmp_path / "x.zarr")
    for i, call in enumerate(["pad(x, 2)", "concat([zeros((9, 11, 14)), x], axis=0)"]):
        out = tmp_path / f"out{i}.zarr"
        done = run("eval", call, "--in", f"x={tmp_path / 'x.zarr'}", "--out", out)
        assert done.code == 0, done.err
        assert cubed.from_zarr(out).chunksize == CHUNKS
