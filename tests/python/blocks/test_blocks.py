"""Functions, `x.blocks`, stores and writers use the same blocks as `x.chunks` states, for chains of
views and chunks of any kind.
"""

import itertools

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
import xarray as xr

import zarr

SPEC = cubed.Spec(allowed_mem="100MB")


def cut(rng, n):
    """Random chunks of an axis: an extent, or lengths."""
    if n == 0 or rng.random() < 0.6:
        return int(rng.integers(1, max(2, n + 2)))
    edges = np.flatnonzero(rng.random(n - 1) < rng.random()) + 1
    return tuple(int(k) for k in np.diff([0, *edges, n]))


def source(rng):
    shape = tuple(int(n) for n in rng.integers(1, 9, rng.integers(1, 4)))
    a = rng.integers(-99, 99, shape).astype(rng.choice(["i8", "f8", "f4", "i2"]))
    return cubed.from_array(a, chunks=tuple(cut(rng, n) for n in shape), spec=SPEC), a


def some_slice(rng, n):
    start, stop = (int(k) for k in np.sort(rng.integers(0, n + 1, 2)))
    step = int(rng.choice([1, 1, 1, 2, 3, -1, -1, -2]))
    if step > 0:
        return slice(start, stop, step)
    return slice(stop - 1 if stop else None, start - 1 if start else None, step)


def slices(rng, x, a):
    key = tuple(some_slice(rng, n) for n in a.shape)
    return x[key], a[key]


def flip(rng, x, a):
    axis = int(rng.integers(a.ndim))
    return xp.flip(x, axis=axis), np.flip(a, axis)


def transpose(rng, x, a):
    axes = tuple(int(d) for d in rng.permutation(a.ndim))
    return xp.permute_dims(x, axes), np.transpose(a, axes)


def concat(rng, x, a):
    axis = int(rng.integers(a.ndim))
    parts = [(x, a)]
    for _ in range(rng.integers(1, 3)):
        shape = tuple(int(rng.integers(0, 5)) if d == axis else n for d, n in enumerate(a.shape))
        b = rng.integers(-9, 9, shape).astype(a.dtype)
        kind = rng.integers(3)
        if kind == 0:
            y = cubed.from_array(b, chunks=tuple(cut(rng, n) for n in shape), spec=SPEC)
        elif kind == 1:
            y, b = xp.full(shape, 3, dtype=a.dtype, spec=SPEC), np.full(shape, 3, a.dtype)
        else:
            y, b = slices(rng, x, a)
            if b.shape[:axis] + b.shape[axis + 1 :] != a.shape[:axis] + a.shape[axis + 1 :]:
                y, b = x, a
        parts.insert(int(rng.integers(len(parts) + 1)), (y, b))
    xs, values = zip(*parts, strict=True)
    return xp.concat(xs, axis=axis), np.concatenate(values, axis)


def pad(rng, x, a):
    width = [tuple(int(k) for k in rng.integers(0, 5, 2)) for _ in a.shape]
    mode = str(rng.choice(["constant", "edge", "wrap", "reflect"])) if a.size else "constant"
    return cubed.pad(x, width, mode=mode), np.pad(a, width, mode=mode)


def reshape(rng, x, a):
    n, shape = a.size, []
    while n > 1 and len(shape) < 3:
        k = int(rng.choice([d for d in range(1, n + 1) if n % d == 0]))
        shape.append(k)
        n //= k
    shape = (*shape, n)
    return xp.reshape(x, shape), a.reshape(shape)


def rechunk(rng, x, a):
    given = {d: cut(rng, n) for d, n in enumerate(a.shape) if rng.random() < 0.6}
    y = x.rechunk(given)
    for d, c in given.items():
        if isinstance(c, tuple):
            assert y.chunks[d] == c
        elif a.shape[d]:
            assert set(y.chunks[d][:-1]) <= {c} and y.chunks[d][-1] <= c
    assert all(y.chunks[d] == x.chunks[d] for d in range(a.ndim) if d not in given)
    return y, a


def repeat(rng, x, a):
    axis, n = int(rng.integers(a.ndim)), int(rng.integers(1, 4))
    return xp.repeat(x, n, axis=axis), np.repeat(a, n, axis)


def stack(rng, x, a):
    if a.ndim > 3:
        return x, a
    axis = int(rng.integers(a.ndim + 1))
    y, b = (xp.zeros_like(x), np.zeros_like(a)) if rng.random() < 0.5 else (x, a)
    return xp.stack([y, x], axis=axis), np.stack([b, a], axis)


def roll(rng, x, a):
    axis, n = int(rng.integers(a.ndim)), int(rng.integers(-5, 6))
    return xp.roll(x, n, axis=axis), np.roll(a, n, axis)


def add(rng, x, a):
    y, b = slices(rng, x, a)
    return (x + y, a + b) if b.shape == a.shape else (x + 1, a + 1)


def copied(rng, x, a):
    """Made by a function, in its blocks."""
    y = cubed.map_blocks(np.copy, x, dtype=a.dtype)
    assert y.chunks == x.chunks
    return y, a


STEPS = [slices, slices, slices, flip, transpose, concat, pad, reshape, rechunk, repeat, stack,
         roll, add, copied]  # fmt: skip


def chain(rng):
    x, a = source(rng)
    said = []
    for _ in range(rng.integers(1, 6)):
        step = STEPS[rng.integers(len(STEPS))]
        if a.ndim == 0 or a.size > 3000:
            break
        x, a = step(rng, x, a)
        said.append(step.__name__)
    return x, a, said


class Blocks:
    """Notes what it is called with, as values of its result."""

    def __init__(self, chunks):
        self.edges = [np.cumsum((0, *c)) for c in chunks]

    def __call__(self, block, block_id):
        places = [e[i : i + 2] for e, i in zip(self.edges, block_id, strict=True)]
        assert block.shape == tuple(int(q - p) for p, q in places), (block.shape, block_id)
        number = np.ravel_multi_index(block_id, [len(e) - 1 for e in self.edges])
        return np.full(block.shape, number)


def numbers(chunks):
    """The number of its block for each element."""
    out = np.zeros([sum(c) for c in chunks], int)
    for i, index in enumerate(np.ndindex(*map(len, chunks))):
        out[places(chunks, index)] = i
    return out


def places(chunks, index):
    edges = [np.cumsum((0, *c)) for c in chunks]
    return tuple(slice(e[i], e[i + 1]) for e, i in zip(edges, index, strict=True))


def running(block):
    return np.cumsum(block, -1)


def check(rng, x, a, directory):
    assert x.shape == a.shape
    assert [sum(c) for c in x.chunks] == list(a.shape)
    assert x.numblocks == tuple(map(len, x.chunks)) == x.blocks.shape
    if a.size:
        assert min((min(c) for c in x.chunks), default=1) > 0
    every = list(np.ndindex(*x.numblocks))
    chosen = [every[i] for i in rng.permutation(len(every))[:4]]
    for index in chosen:
        block = x.blocks[index]
        assert block.shape == tuple(c[i] for c, i in zip(x.chunks, index, strict=True))
    got = cubed.compute(
        x,
        cubed.map_blocks(Blocks(x.chunks), x, dtype=int),
        cubed.map_blocks(lambda b: np.ones((1,) * b.ndim, int), x, dtype=int,
                         chunks=tuple((1,) * len(c) for c in x.chunks)),
        cubed.map_overlap(np.copy, x, depth=1 if min(a.shape, default=0) else 0, boundary="none",
                          trim=True, dtype=a.dtype),
        *(x.blocks[index] for index in chosen),
    )  # fmt: skip
    np.testing.assert_array_equal(got[0], a)
    np.testing.assert_array_equal(got[1], numbers(x.chunks))
    assert got[2].shape == x.numblocks and got[2].all()
    np.testing.assert_array_equal(got[3], a)
    for index, block in zip(chosen, got[4:], strict=True):
        np.testing.assert_array_equal(block, a[places(x.chunks, index)])

    target = directory / "x.zarr"
    cubed.to_zarr(x, target)
    stored = cubed.from_zarr(target)
    np.testing.assert_array_equal(stored.compute(), a)
    assert all(max(c) == max(1, max(d)) or not n
               for c, d, n in zip(stored.chunks, x.chunks, a.shape, strict=True))  # fmt: skip
    out = np.full(a.shape, 77, a.dtype)
    cubed.store(x, out)
    np.testing.assert_array_equal(out, a)
    # The same blocks when it comes back, and in a function with core dimensions.
    if a.ndim and a.size:
        whole = x.rechunk({a.ndim - 1: -1})
        lines = cubed.apply_gufunc(running, "(i)->(i)", whole, output_dtypes=[np.cumsum(a).dtype])
        assert lines.chunks == whole.chunks
        np.testing.assert_array_equal(lines.compute(), np.cumsum(a, -1))


def check_netcdf(x, a, directory):
    dims = [f"d{d}" for d in range(a.ndim)]
    if a.dtype.itemsize == 8 and a.dtype.kind == "i":
        x, a = x.astype("i4"), a.astype("i4")
    ds = xr.Dataset({"v": (dims, x), "w": (dims, x)})
    ds.to_netcdf(directory / "x.nc", engine="scipy")
    with xr.open_dataset(directory / "x.nc", engine="scipy") as back:
        np.testing.assert_array_equal(back.v.values, a)
        np.testing.assert_array_equal(back.w.values, a)


@pytest.mark.parametrize("part", range(4))
def test_chains(part, tmp_path, request):
    for case in range(400 if request.config.getoption("--nightly") else 12):
        rng = np.random.default_rng([part, case])
        x, a, said = chain(rng)
        directory = tmp_path / str(case)
        directory.mkdir()
        try:
            check(rng, x, a, directory)
            if a.size and case % 3 == 0:
                check_netcdf(x, a, directory)
        except Exception as e:
            e.add_note(f"case {[part, case]}: {said}, chunks {x.chunks}")
            raise


A = np.arange(20.0 * 6).reshape(20, 6)


@pytest.fixture
def sliced():
    return cubed.from_array(np.pad(A, ((3, 0), (0, 0))), chunks=(8, 6), spec=SPEC)[3:]


def test_slices_within_chunks(sliced):
    assert sliced.chunks == ((5, 8, 7), (6,))
    assert cubed.map_blocks(np.copy, sliced, dtype=float).chunks == sliced.chunks
    assert sliced.rechunk(8).chunks == ((8, 8, 4), (6,))
    assert sliced.rechunk({1: 3}).chunks == ((5, 8, 7), (3, 3))
    assert xp.zeros_like(sliced).chunks == sliced.chunks
    assert sliced[:0].shape == (0, 6) and sliced[:0].chunks == ((0,), (6,))
    other = cubed.from_array(A, chunks=(8, 6), spec=SPEC)
    assert cubed.map_blocks(np.add, sliced, other).chunks[0] == (5, 3, 5, 3, 4)
    np.testing.assert_array_equal(cubed.map_blocks(np.add, sliced, other).compute(), A + A)


def test_targets_have_equal_chunks(sliced, tmp_path):
    """As long as the longest: any reader of Zarr takes them. Lengths that somebody gave stay."""
    made = cubed.map_blocks(np.copy, sliced, dtype=float)
    summed = cubed.map_blocks(np.add, sliced, cubed.from_array(A, chunks=(8, 6)), dtype=float)
    for i, x in enumerate([sliced, made, made + 1, xp.zeros_like(sliced) + made, summed]):
        cubed.to_zarr(x, tmp_path / f"{i}.zarr")
        there = zarr.open_array(tmp_path / f"{i}.zarr", mode="r")
        assert there.chunks == (max(x.chunks[0]), 6)
        np.testing.assert_array_equal(there[:], x.compute())
    months = sliced.rechunk({0: (3, 9, 8)})
    for i, x in enumerate([months, cubed.map_blocks(np.copy, months, dtype=float) + 1]):
        cubed.to_zarr(x, tmp_path / f"m{i}.zarr")
        assert cubed.from_zarr(tmp_path / f"m{i}.zarr").chunks == months.chunks
    short = cubed.from_array(np.arange(200), chunks=100, spec=SPEC)[90:115]
    cubed.to_zarr(short, tmp_path / "short.zarr")
    assert short.chunks == ((10, 15),)
    assert zarr.open_array(tmp_path / "short.zarr", mode="r").chunks == (15,)


def test_xarray_writes_slices(sliced, tmp_path):
    ds = xr.Dataset({"v": (("t", "y"), sliced)}, {"t": np.arange(20)})
    parts = [
        ds,
        ds.isel(t=slice(3, None)),
        ds.isel(t=slice(4, -3)),
        ds.isel(t=slice(None, None, -1)),
    ]
    for i, part in enumerate(parts):
        part.to_netcdf(tmp_path / f"{i}.nc", engine="scipy")
        with xr.open_dataset(tmp_path / f"{i}.nc", engine="scipy") as back:
            np.testing.assert_array_equal(back.v, part.v.values)
    mapped = xr.map_blocks(lambda d: d * 2, ds.isel(t=slice(3, None)))
    assert mapped.v.data.chunks == ds.isel(t=slice(3, None)).v.data.chunks
    np.testing.assert_array_equal(mapped.v, A[3:] * 2)


def test_blocks_of_constants_and_of_nothing():
    x = xp.ones((4, 0, 3), chunks=(2, 1, 2))
    assert [x.blocks[i].shape for i in itertools.islice(np.ndindex(*x.numblocks), 2)] == [
        (2, 0, 2), (2, 0, 1)]  # fmt: skip
    assert cubed.map_blocks(np.copy, x, dtype=float).compute().shape == (4, 0, 3)
