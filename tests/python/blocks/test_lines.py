"""Functions of whole lines: other axes are divided so that lines fit in memory, and results of
other types than declared are cast. Xarray's interpolation needs both.
"""

import cubed
import numpy as np
import pytest
import xarray as xr
from cubed.core import ops

SPEC = cubed.Spec(allowed_mem="24MB", reserved_mem="16MB")


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
@pytest.mark.parametrize("method", ["linear", "nearest", "cubic"])
def test_interp_of_long_lines(dtype, method):
    """A block of lines as the chunks are would be 7.7 MB (f8), with the result and copies 40 MB."""
    shape, chunks = (600, 40, 40), (100, 40, 40)
    a = np.random.default_rng(0).normal(size=shape).astype(dtype)
    x = cubed.from_array(a, chunks=chunks, spec=SPEC)
    coords = {"t": np.arange(600.0), "y": np.arange(40)}
    lazy, plain = (xr.DataArray(v, dims=("t", "y", "x"), coords=coords) for v in (x, a))
    at = np.arange(0.25, 598, 2.0)
    got, want = (d.interp(t=at, method=method) for d in (lazy, plain))
    assert isinstance(got.data, cubed.Array) and got.dtype.kind == "f"
    assert got.data.chunks[0] == (len(at),)
    np.testing.assert_allclose(got.values, want.values, rtol=1e-5, atol=1e-5)


def test_any_function_of_lines():
    a = np.random.default_rng(1).normal(size=(50, 30, 400)).astype("f4")
    b = a[:, :1, 0].astype("f8")
    x = cubed.from_array(a, chunks=((20, 30), (7, 23), 100), spec=SPEC)
    scale = cubed.from_array(b, chunks=(25, 1), spec=SPEC)
    got = xr.apply_ufunc(
        lambda v, s: np.sort(v, -1) * s[..., None],
        xr.DataArray(x, dims=("y", "z", "t")),
        xr.DataArray(scale[:, 0], dims=("y",)),
        input_core_dims=[["t"], []],
        output_core_dims=[["t"]],
        dask="parallelized",
        dask_gufunc_kwargs={"allow_rechunk": True},
        output_dtypes=[np.float32],
    ).transpose("y", "z", "t")
    assert got.dtype == np.float32
    np.testing.assert_allclose(got.values, np.sort(a, -1) * b[..., None], rtol=1e-6)


def running(block):
    return np.cumsum(block, -1)


def test_blocks_that_fit_stay_as_they_are():
    spec = cubed.Spec(allowed_mem="1GB")
    x = cubed.ones((10, 12, 50), chunks=((3, 7), 4, 50), spec=spec)
    for extra in (None, 0):
        y = cubed.apply_gufunc(
            running, "(i)->(i)", x, output_dtypes=[float], extra_projected_mem=extra
        )
        assert y.chunks == x.chunks
    tight = cubed.ones((64, 64, 4000), chunks=(64, (30, 34), 500), spec=SPEC)
    given = {"output_dtypes": [float], "allow_rechunk": True}
    with pytest.raises(MemoryError, match="allow at least"):
        cubed.apply_gufunc(running, "(i)->(i)", tight, **given).plan()
    with pytest.raises(MemoryError, match="allow at least"):
        cubed.apply_gufunc(running, "(i)->(i)", tight, extra_projected_mem=None, **given).plan()
    lines = cubed.apply_gufunc(
        running, "(i)->(i)", tight, extra_projected_mem=None, vectorize=True, **given
    )
    assert lines.chunks[2] == (4000,) and max(map(max, lines.chunks[:2])) < 34
    assert sum(lines.chunks[0]) == sum(lines.chunks[1]) == 64
    assert lines[3, 5, ::1000].compute().tolist() == [1.0, 1001.0, 2001.0, 3001.0]


def returning(dtype):
    def function(block, *args, **kwargs):
        return np.asarray(block).astype(dtype)

    return function


@pytest.mark.parametrize(
    "returned, declared", [("f8", "f4"), ("f4", "f2"), ("c16", "c8"), ("i8", "i2"), ("f4", "f8"),
                           ("i4", "f4"), ("?", "i1"), ("u1", "i4")]
)  # fmt: skip
def test_other_widths_are_cast(returned, declared):
    x = cubed.from_array(np.arange(6) % 2, chunks=4)
    f = returning(returned)
    made = [
        cubed.map_blocks(f, x, dtype=declared),
        ops.blockwise(f, "i", x, "i", dtype=declared),
        cubed.apply_gufunc(f, "()->()", x, output_dtypes=[declared]),
        cubed.apply_along_axis(f, 0, x, dtype=declared, shape=(6,)),
        cubed.map_overlap(f, x, dtype=declared, depth=0),
        ops.elemwise(f, x, dtype=declared),
    ]
    for y, got in zip(made, cubed.compute(*made), strict=True):
        assert y.dtype == got.dtype == np.dtype(declared)
        np.testing.assert_array_equal(got, [0, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    "returned, declared", [("f8", "i8"), ("c8", "f8"), ("i8", "?"), ("i4", "u8"), ("U5", "f8"),
                           ("m8[s]", "i8"), ("m8[ms]", "m8[s]"), ("U9", "U3"),
                           ("f8", "U3"), ("i8", "S2"), ("?", "U5")]
)  # fmt: skip
def test_other_kinds_are_errors(returned, declared):
    x = cubed.from_array(np.arange(6), chunks=4)
    y = cubed.map_blocks(returning(returned), x, dtype=declared)
    a, b = np.dtype(returned), np.dtype(declared)
    with pytest.raises(TypeError, match="map_blocks.function") as e:
        y.compute()
    assert f"has dtype {a}, expected {b}" in str(e.value)
