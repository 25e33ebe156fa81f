"""Diagonals have NumPy's bits, and only the chunks on the diagonal are read from a store."""

import cubed
import numpy as np
import pytest
from conftest import cases

DTYPES = ["f8", "f4", "f2", "c16", "i1", "i8", "u8", "?", "M8[ns]", "m8[D]", "S3", "U2"]


def values(rng, shape, dtype):
    """Any bits, NaN with payloads and -0.0 among them."""
    n = int(np.prod(shape))
    if dtype.kind in "SU":
        return rng.integers(0, 1000, n).astype(dtype).reshape(shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    return np.frombuffer(rng.bytes(n * dtype.itemsize), np.uint8).view(dtype).reshape(shape)


def same(lazy, expected):
    assert isinstance(lazy, cubed.Array)
    got = lazy.compute()
    assert got.shape == expected.shape and got.dtype == expected.dtype
    assert got.tobytes() == expected.tobytes()


def test_diagonals_have_numpys_bits():
    rng = np.random.default_rng(11)
    for _ in range(cases(150)):
        n = int(rng.integers(2, 5))
        shape = tuple(int(rng.integers(0, 9)) for _ in range(n))
        a = values(rng, shape, np.dtype(DTYPES[rng.integers(len(DTYPES))]))
        x = cubed.from_array(a, chunks=tuple(int(rng.integers(1, 7)) for _ in shape))
        if rng.random() < 0.4:
            steps = [int(s) for s in rng.choice([1, 2, -1], n)]
            key = tuple(slice(int(rng.integers(4)), None, s) for s in steps)
            a, x = a[key], x[key]
        k = int(rng.integers(-10, 11))
        first, second = (int(v) for v in rng.choice(n, 2, replace=False))
        same(np.diagonal(x, k, first, second), np.diagonal(a, k, first, second))
        if a.dtype.kind in "iub":
            expected = np.trace(a, k, first, second)
            same(np.trace(x, k, first, second), np.asarray(expected))
        if a.shape[first] == a.shape[second] and a.dtype.kind in "fiuc":
            letters = list("abcd"[:n])
            letters[second] = letters[first]
            others = "".join(c for i, c in enumerate(letters) if i not in (first, second))
            indices = f"{''.join(letters)}->{others}{letters[first]}"
            same(np.einsum(indices, x), np.einsum(indices, a))


@pytest.mark.parametrize("chunks", [(10, 10), (10, 5), (3, 7), (1, 100), (100, 10), (100, 100)])
@pytest.mark.parametrize("k", [0, 5, -13, 99, 100, -150])
def test_only_the_diagonals_chunks_are_read(chunks, k, tmp_path):
    a = np.arange(10000.0).reshape(100, 100)
    a[0, 0] = -0.0
    cubed.to_zarr(cubed.from_array(a, chunks=chunks), tmp_path / "x")
    x = cubed.from_zarr(tmp_path / "x")
    rows = range(max(0, -k), min(100, 100 - k))
    crossed = {(r // chunks[0], (r + k) // chunks[1]) for r in rows}
    for i, j in np.ndindex(-(-100 // chunks[0]), -(-100 // chunks[1])):
        if (i, j) not in crossed:  # others would be an error
            (tmp_path / "x" / "c" / str(i) / str(j)).write_bytes(b"no chunk")
    same(cubed.diagonal(x, k), np.diagonal(a, k))
    same(cubed.linalg.trace(x, offset=k), np.asarray(np.trace(a, k)))
    read = sum(s["chunks_read"] for s in cubed.plan(cubed.diagonal(x, k))._plan.stages())
    assert read == len(crossed)


def test_diagonals_of_what_no_task_holds():
    """Blocks are as long as fits."""
    spec = cubed.Spec(allowed_mem="60MB", reserved_mem="40MB")
    x = cubed.ones((10**6, 10**6), chunks=(1000, 10**6), spec=spec)
    assert float(cubed.trace(x + 1, 3).compute()) == 2 * (10**6 - 3)


def test_blocks_with_an_index_twice():
    """An input's axes have to be cut alike, and a result has none."""
    from cubed import _core

    def blockwise(symbols, chunks, out):
        x = _core.index((4, 4), None, 0)
        inputs = ((x, symbols, chunks, ((0, 0, False),) * 2),)
        shape = (4,) * len(out)
        return _core.blockwise(b"", inputs, (("int64", shape, (2,) * len(out), out),))

    with pytest.raises(
        ValueError, match="input 0 has the symbol 0 twice, expected once, or along axes"
    ):
        blockwise((0, 0), (2, 3), (0,))
    with pytest.raises(ValueError, match="output 0 has the symbol 0 twice"):
        blockwise((0, 1), (2, 2), (0, 0))
