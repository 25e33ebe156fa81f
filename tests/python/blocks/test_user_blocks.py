"""User-defined functions get whole blocks, which are the same as in Dask, for any allowed memory.

A function may look at all of its block: then its result depends on how arrays are cut. Random calls
are compared with Dask's at three sizes of `allowed_mem`; a plan that does not fit is refused.
"""

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import NIGHTLY
from cubed.exceptions import PlanTooLargeError

da = pytest.importorskip("dask.array")
signal = pytest.importorskip("scipy.signal")

RESERVED = 400_000_000
#: Bytes that tasks may use: too little for some calls, enough for others, enough for all.
MEMORY = [3_000_000, 12_000_000, 200_000_000]


@pytest.fixture(params=range(170 if NIGHTLY else 14))
def rng(request):
    return np.random.default_rng(request.param)


def specs(tmp_path):
    return [
        cubed.Spec(work_dir=tmp_path, allowed_mem=RESERVED + m, reserved_mem=RESERVED)
        for m in MEMORY
    ]


# --- Functions that depend on their whole block ---------------------------------------------------


def detrended(v, axis):
    return signal.detrend(v, axis=axis)


def running(v, axis):
    return np.cumsum(v, axis=axis, dtype=float)


def without_mean(v, axis):
    return v - v.mean()


def ordered(v, axis):
    return np.sort(v, axis=axis).astype(float)


def extents(v, axis):
    return np.full(v.shape, float(v.size * 100 + v.shape[axis]))


def reversed_along(v, axis):
    return np.flip(v, axis).astype(float)


FUNCTIONS = [detrended, running, without_mean, ordered, extents, reversed_along]


def reduced(v, *others, function, axis, ncore):
    """Reduces the last `ncore` axes of the function's result for its first block."""
    out = function(v.astype(float), axis)
    for w in others:
        out = out + w
    return out.sum(tuple(range(-ncore, 0))) if ncore else out


def both(v, *others, **options):
    out = reduced(v, *others, **options)
    return out, out.max() - out


# --- Random arrays --------------------------------------------------------------------------------


def random_values(rng):
    shape = tuple(int(n) for n in rng.integers(1, (400, 90, 40)[: rng.integers(1, 4)]))
    dtype = rng.choice(["f8", "f4", "i4"])
    return (rng.normal(size=shape) * 100).astype(dtype)


def random_chunks(rng, shape):
    def extent(n):
        kind = rng.integers(3)
        if kind == 0 or n < 3:
            return (n,)
        size = int(rng.integers(max(1, n // 4), n + 1))
        if kind == 1:
            return tuple(min(size, n - at) for at in range(0, n, size))
        first = int(rng.integers(1, n))
        return (first, n - first)

    return tuple(map(extent, shape))


def compared(make, want, tmp_path):
    """Calls of `make` with a spec of each size equal `want`, or are refused with what would do."""
    found = results(lambda spec: make(spec).compute(), tmp_path)
    for got in found:
        for a, b in zip(parts(got), parts(want), strict=True):
            np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def results(make, tmp_path):
    """What `make` returns for a spec of each size that is enough: the largest is, and every refusal
    names the memory that would do, and the function's part of it."""
    found, refused = [], []
    for spec in specs(tmp_path):
        try:
            found.append(make(spec))
        except PlanTooLargeError as e:
            refused.append((spec.allowed_mem, e))
    for allowed, e in refused:
        assert RESERVED < allowed < e.enough_mem <= RESERVED + MEMORY[-1]
        assert "for the function's results and temporary arrays (extra_projected_mem)" in str(e)
        assert f"allow at least {e.enough_mem} bytes" in str(e)
        assert "make the chunks smaller" in str(e)
    assert found
    return found


def parts(x):
    return list(x.data_vars.values()) if isinstance(x, xr.Dataset) else [x]


# --- Random calls ---------------------------------------------------------------------------------


def test_apply_ufunc(rng, tmp_path):
    a = random_values(rng)
    chunks = random_chunks(rng, a.shape)
    dims = ("t", "y", "x")[: a.ndim]
    core = [d for d in dims if rng.random() < 0.4]
    chunks = tuple((sum(c),) if d in core else c for d, c in zip(dims, chunks, strict=True))
    function = FUNCTIONS[rng.integers(len(FUNCTIONS))]
    axis, several = int(rng.integers(a.ndim)), bool(rng.integers(2))
    others = []
    if rng.integers(2):
        others.append((2, 0.5, np.float32(3))[rng.integers(3)])
    along = str(rng.choice(dims))
    vector = rng.normal(size=a.shape[dims.index(along)])

    def call(spec):
        def lazy(values, names):
            array = xr.DataArray(values, dims=names)
            cut = {d: c for d, c in zip(dims, chunks, strict=True) if d in names}
            if spec is None:
                return array.chunk(cut, chunked_array_type="dask")
            options = {"spec": spec}
            return array.chunk(cut, chunked_array_type="cubed", from_array_kwargs=options)

        mine = [lazy(a, dims), *others]
        cores = [core, *([[]] * len(others))]
        if len(core) == 0 and vector.size == a.shape[-1] and along == dims[-1]:
            mine.append(lazy(vector, (along,)))
            cores.append([])
        out = xr.apply_ufunc(
            both if several else reduced,
            *mine,
            kwargs={"function": function, "axis": axis, "ncore": len(core)},
            input_core_dims=cores,
            output_core_dims=[[], []] if several else [[]],
            dask="parallelized",
            output_dtypes=[float] * (1 + several),
        )
        return xr.Dataset(dict(enumerate(out))) if several else out

    compared(call, call(None).compute(scheduler="sync"), tmp_path)


def test_map_blocks(rng, tmp_path):
    a = random_values(rng)
    chunks = random_chunks(rng, a.shape)
    function = FUNCTIONS[rng.integers(len(FUNCTIONS))]
    axis = int(rng.integers(a.ndim))
    kind = rng.integers(4)

    def f(v, w=None, block_id=None):
        out = function(v, axis) + sum(block_id)
        return out if w is None else out + w * v.shape[0]

    def squeezed(v):
        return function(v, axis).sum(axis)

    def call(array, map_blocks, map_overlap):
        if kind == 0:
            return map_blocks(f, array, dtype=float)
        if kind == 1:
            return map_blocks(f, array, array[..., :1], dtype=float)
        if kind == 2:
            whole = array.rechunk({axis: -1})
            return map_blocks(squeezed, whole, dtype=float, drop_axis=axis)
        depth = {axis: 1} if min(chunks[axis]) > 1 else {}
        options = {"depth": depth, "boundary": "nearest", "trim": True, "dtype": float}
        return map_overlap(function, array, axis=axis, **options)

    def ours(spec):
        array = cubed.from_array(a, chunks=chunks, spec=spec)
        out = call(array, cubed.map_blocks, cubed.map_overlap)
        return xr.DataArray(out)

    theirs = call(da.from_array(a, chunks=chunks), da.map_blocks, da.map_overlap)
    compared(ours, xr.DataArray(theirs.compute(scheduler="sync")), tmp_path)


def test_xarray_map_blocks(rng, tmp_path):
    a = random_values(rng)
    chunks = random_chunks(rng, a.shape)
    dims = ("t", "y", "x")[: a.ndim]
    function = FUNCTIONS[rng.integers(len(FUNCTIONS))]
    axis = int(rng.integers(a.ndim))

    def f(block, other, factor):
        if block.size == 0:
            return block.astype(float).assign_coords(size=(dims[0], np.ones(block.shape[0])))
        out = block.copy(data=function(block.values, axis)) * factor + other.sum() + block.t[-1]
        return out.assign_coords(size=(dims[0], np.full(block.shape[0], float(block.shape[0]))))

    def call(spec):
        coords = {d: np.arange(n) * 2 for d, n in zip(dims, a.shape, strict=True)}
        array = xr.DataArray(a, coords, dims, name="a")
        cut = dict(zip(dims, chunks, strict=True))
        if spec is None:
            lazy = array.chunk(cut, chunked_array_type="dask")
        else:
            options = {"spec": spec}
            lazy = array.chunk(cut, chunked_array_type="cubed", from_array_kwargs=options)
        return xr.map_blocks(f, lazy, [lazy], {"factor": 2}).to_dataset().reset_coords("size")

    compared(call, call(None).compute(scheduler="sync"), tmp_path)


# --- Calls whose blocks once were cut finer -------------------------------------------------------


def cut_for(spec, values, dims, chunks):
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    return xr.DataArray(values, dims=dims).chunk(chunks, **options)


@pytest.mark.parametrize("extra", [{}, {"extra_projected_mem": 0}])
def test_functions_along_axes_of_the_loop(extra, tmp_path):
    """``detrend`` looks along an axis that `apply_ufunc` does not know as a core dimension."""
    a = np.cumsum(np.ones((3000, 10, 10)), 0) ** 2

    def make(spec):
        lazy = cut_for(spec, a, ("time", "y", "x"), {"y": 5})
        got = xr.apply_ufunc(
            signal.detrend,
            lazy,
            kwargs={"axis": 0},
            dask="parallelized",
            output_dtypes=[float],
            dask_gufunc_kwargs=extra,
        )
        assert got.chunks == lazy.chunks
        return got.values

    found = results(make, tmp_path)
    assert len(found) < len(MEMORY)
    for got in found:
        np.testing.assert_allclose(got, signal.detrend(a, axis=0), rtol=1e-9)


def test_windows_of_a_chunk_together(tmp_path):
    """A function of `rolling.reduce` gets all windows of a chunk, whatever memory is allowed."""

    def spread(windows, axis):
        return windows.max(axis) - windows.min(axis) + windows[..., -1].mean()

    a = np.random.default_rng(0).normal(size=(2000, 20))

    def make(spec):
        lazy = cut_for(spec, a, ("time", "x"), {"x": 10})
        return lazy.rolling(time=20).reduce(spread).values

    found = results(make, tmp_path)
    assert 1 < len(found) < len(MEMORY)
    np.testing.assert_array_equal(found[0], found[1])


def sizes_of(block):
    return np.full(block.shape, float(block.size))


@pytest.mark.parametrize("optimized", [True, False])
@pytest.mark.parametrize(
    "around",
    [
        lambda y: y + 1,
        lambda y: cubed.sum(y, axis=0),
        lambda y: y.rechunk((50, 500))[::-1].T,
        lambda y: cubed.concat([y, y * 2], axis=1),
        lambda y: cubed.map_blocks(sizes_of, y.rechunk((500, 50)), dtype=float) + y,
    ],
)
def test_blocks_amid_other_operations(around, optimized, tmp_path):
    """What the optimizer makes of the operations before and after never changes the blocks."""
    a = np.arange(250_000.0).reshape(500, 500)

    def make(spec):
        x = cubed.from_array(a, chunks=(70, 90), spec=spec).rechunk((200, 300))
        return around(cubed.map_blocks(sizes_of, cubed.sqrt(x.T * 2), dtype=float)).compute(
            optimize_graph=optimized
        )

    edges = [(0, 300), (300, 500)], [(0, 200), (200, 400), (400, 500)]
    blocks = np.empty((500, 500))
    for i, j in ((i, j) for i in edges[0] for j in edges[1]):
        blocks[slice(*i), slice(*j)] = (i[1] - i[0]) * (j[1] - j[0])
    memory = cubed.from_array(blocks, chunks=(300, 200))
    for got in results(make, tmp_path):
        np.testing.assert_array_equal(got, around(memory).compute())


def test_blocks_that_are_stored(tmp_path):
    """Neither do the chunks of a target, nor several workers that a plan could have work for."""
    for k, spec in enumerate(specs(tmp_path)[1:]):
        x = cubed.ones((600, 500), chunks=(600, 100), spec=spec)
        y = cubed.map_blocks(sizes_of, x, dtype=float)
        cubed.to_zarr(y.rechunk((100, 500)), tmp_path / f"{k}.zarr", max_workers=4)
        assert (cubed.from_zarr(tmp_path / f"{k}.zarr").compute() == 60_000).all()


def test_known_functions_are_narrowed(tmp_path):
    """Functions of Xarray, ufuncs and vectorized functions get blocks that fit."""
    a = np.random.default_rng(0).normal(size=(3000, 20, 10))
    spec = specs(tmp_path)[0]
    lazy = cut_for(spec, a, ("time", "y", "x"), {}).assign_coords(time=np.arange(3000.0))
    eager = xr.DataArray(a, dims=lazy.dims).assign_coords(time=np.arange(3000.0))
    for call in (
        lambda x: x.interp(time=[0.5, 7.25]),
        lambda x: xr.apply_ufunc(np.sqrt, abs(x), dask="parallelized", output_dtypes=[float]),
        lambda x: xr.apply_ufunc(
            np.median,
            x,
            input_core_dims=[["time"]],
            vectorize=True,
            dask="parallelized",
            output_dtypes=[float],
        ),
    ):
        np.testing.assert_allclose(call(lazy).values, call(eager).values)
    reducing = xr.apply_ufunc(
        np.add, lazy, lazy, kwargs={"axis": 0}, dask="parallelized", output_dtypes=[float]
    )
    assert reducing.chunks == lazy.chunks


@pytest.mark.parametrize("vectorize", [False, True])
def test_values_go_to_the_function_as_they_are(vectorize, tmp_path):
    class Own:
        def __array__(self, dtype=None, copy=None):
            return np.arange(4.0)

    def name_of(block, value):
        letters = type(value).__name__.encode()
        return np.full(block.shape[:-1], 1000 * len(letters) + letters[0])

    lazy = cut_for(specs(tmp_path)[2], np.ones((3, 4), "f4"), ("y", "x"), {"y": 2})
    day = np.datetime64("2000-01-01")
    values = [None, "text", b"bytes", True, 2, 0.5, day, day.item(), np.float32(1), len, slice(2)]
    for value, dims in [*((v, []) for v in values), (Own(), ["x"]), (Own(), [])]:
        if isinstance(value, Own) and vectorize != (dims == []):
            continue
        options = {
            "input_core_dims": [["x"], dims],
            "dask": "parallelized",
            "vectorize": vectorize,
            "output_dtypes": [int],
        }
        if isinstance(value, Own) and not dims:
            with pytest.raises(ValueError, match="extents"):
                xr.apply_ufunc(name_of, lazy, value, **options)
            continue
        got, want = (xr.apply_ufunc(name_of, x, value, **options) for x in (lazy, lazy.compute()))
        assert got.values.tolist() == want.values.tolist()


def test_python_numbers_take_the_type_of_blocks(tmp_path):
    """As NumPy promotes them: float32 stays, which an array of one number would not leave."""
    lazy = cut_for(specs(tmp_path)[2], np.ones(4, "f4"), ("x",), {"x": 2})

    def size(block, value):
        return np.full(block.shape, (block + value).dtype.itemsize)

    got = xr.apply_ufunc(size, lazy, 0.1, dask="parallelized", output_dtypes=[int])
    assert got.values.tolist() == [4] * 4


def test_lazy_arrays_of_others_are_refused_as_values():
    x = cubed.ones((3, 4))
    with pytest.raises(TypeError, match="does not combine with dask.array"):
        cubed.apply_gufunc(lambda a, b: a[..., 0], "(i),(i)->()", x, da.ones(4))
