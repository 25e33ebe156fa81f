"""Compares reshapes and repeats with NumPy, for chunks that fit the new shape or do not, and counts
reads.
"""

import itertools
import json

import cubed
import dask.array as da
import numpy as np
import pytest
from conftest import NIGHTLY, check, run

import zarr


def store(path, x, chunks, **options):
    zarr.create_array(path, shape=x.shape, chunks=chunks, dtype=x.dtype, **options)[...] = x


def evaluate(text, x, *args):
    base = ("eval", text, "--in", f"x={x}", "--json", "--progress", "none", *args)
    return check(run(*base))


SHAPES = [(24,), (4, 6), (6, 4), (8, 3), (2, 3, 4), (2, 2, 6), (1, 24, 1), (3, 1, 8), (2, 12)]


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_to_every_other(tmp_path, shape):
    x = np.arange(24.0).reshape(shape)
    grids = [*itertools.product(*[sorted({1, 2, n // 2 or 1, n}) for n in shape])]
    for i, chunks in enumerate(grids if NIGHTLY or len(grids) < 20 else grids[::3]):
        store(tmp_path / str(i), x, chunks)
        text = "; ".join(f"r{k} = reshape(x, {s})" for k, s in enumerate(SHAPES))
        text += "; back = reshape(reshape(2 * x, (24,)) + 1, (6, 4))"
        text += "; t = transpose(reshape(x, (4, 6)))"
        text += "; f = flip(reshape(x, (4, 6)), axis=1)[::2]; p = reshape(x, (4, 6))[3, 1:5:3]"
        text += "; s = sum(reshape(x, (3, 8)), axis=0); m = reshape(sum(x, axis=0), (-1,))"
        text += "; b = broadcast_to(reshape(x, (4, 6)), (2, 4, 6))"
        got = evaluate(text, tmp_path / str(i)).arrays()
        for k, s in enumerate(SHAPES):
            np.testing.assert_array_equal(got[f"r{k}"], x.reshape(s), err_msg=f"{chunks} {s}")
        y = x.reshape(4, 6)
        np.testing.assert_array_equal(got["back"], x.reshape(6, 4) * 2 + 1)
        np.testing.assert_array_equal(got["t"], y.T)
        np.testing.assert_array_equal(got["f"], y[:, ::-1][::2])
        np.testing.assert_array_equal(got["p"], y[3, 1:5:3])
        np.testing.assert_array_equal(got["s"], x.reshape(3, 8).sum(axis=0))
        np.testing.assert_array_equal(got["m"], x.sum(axis=0).reshape(-1))
        np.testing.assert_array_equal(got["b"], np.broadcast_to(y, (2, 4, 6)))


@pytest.mark.parametrize("chunks", [(5, 7, 3), (1, 1, 1), (2, 3, 2), (1, 7, 3), (4, 1, 3)])
def test_repeat(tmp_path, chunks):
    x = np.random.default_rng(1).normal(size=(5, 7, 3))
    store(tmp_path / "x", x, chunks)
    cases = [(n, a) for n in (0, 1, 2, 5) for a in (0, 1, -1, None)]
    text = "; ".join(f"r{i} = repeat(x, {n}, axis={a})" for i, (n, a) in enumerate(cases))
    text += "; s = repeat(x[::-2] + 1, 3, axis=1)[:, 4:, ::2]"
    text += "; r = reshape(repeat(x, 2, axis=0), (-1, 3))"
    text += "; m = sum(repeat(x, 4, axis=2), axis=(0, 2)); d = x - repeat(x[:, :1], 7, axis=1)"
    got = evaluate(text, tmp_path / "x").arrays()
    for i, (n, a) in enumerate(cases):
        np.testing.assert_array_equal(got[f"r{i}"], np.repeat(x, n, a), err_msg=f"{n} {a}")
    np.testing.assert_array_equal(got["s"], np.repeat(x[::-2] + 1, 3, 1)[:, 4:, ::2])
    np.testing.assert_array_equal(got["r"], np.repeat(x, 2, 0).reshape(-1, 3))
    np.testing.assert_allclose(got["m"], np.repeat(x, 4, 2).sum(axis=(0, 2)))
    np.testing.assert_array_equal(got["d"], x - x[:, :1])


@pytest.mark.parametrize("how", [(), ("--no-optimize",), ("--through-bytes",)])
def test_over_and_under_functions_of_blocks(tmp_path, how):
    """What makes whole blocks is stored; random numbers do not depend on who looks at them."""
    x = np.random.default_rng(5).normal(size=(12, 10))
    store(tmp_path / "x", x, (5, 4))
    text = "a = reshape(sort(x, axis=0), (8, 15)); b = sort(reshape(x, (8, 15)), axis=1)"
    text += "; c = reshape(cumulative_sum(x, axis=1), (-1,)); d = cumulative_sum(reshape(x, (-1,)))"
    text += "; e = reshape(random((12, 10), seed=3), (6, 20)); f = random((12, 10), seed=3)"
    text += "; g = argmax(reshape(x, (4, 30)), axis=1); h = repeat(sort(repeat(x, 2)), 3)"
    got = evaluate(text, tmp_path / "x", *how).arrays()
    np.testing.assert_array_equal(got["a"], np.sort(x, axis=0).reshape(8, 15))
    np.testing.assert_array_equal(got["b"], np.sort(x.reshape(8, 15), axis=1))
    np.testing.assert_allclose(got["c"], np.cumsum(x, axis=1).reshape(-1))
    np.testing.assert_allclose(got["d"], np.cumsum(x.reshape(-1)))
    np.testing.assert_array_equal(got["e"], got["f"].reshape(6, 20))
    np.testing.assert_array_equal(got["g"], np.argmax(x.reshape(4, 30), axis=1))
    np.testing.assert_array_equal(got["h"], np.repeat(np.sort(np.repeat(x, 2)), 3))


def test_edges(tmp_path):
    store(tmp_path / "x", np.zeros((0, 3)), (1, 2))
    text = "a = reshape(x, (3, 0, 2)); b = reshape(x, (0,)); c = repeat(x, 2, axis=1)"
    text += "; d = repeat(x, 2); e = reshape(x, (-1, 3)); f = reshape(sum(x), (1, 1))"
    text += "; g = reshape(ones((1, 1)), ()); h = repeat(7.5, 3); i = repeat(x, 2, axis=0)"
    text += "; j = reshape(concat([x, ones((2, 3))], axis=0), (3, 2)); k = reshape(eye(4), (-1,))"
    got = evaluate(text, tmp_path / "x").arrays()
    assert [got[c].shape for c in "abcdefgi"] == [
        (3, 0, 2), (0,), (0, 6), (0,), (0, 3), (1, 1), (), (0, 3)
    ]  # fmt: skip
    np.testing.assert_array_equal(got["h"], [7.5] * 3)
    np.testing.assert_array_equal(got["j"], np.ones((3, 2)))
    np.testing.assert_array_equal(got["k"], np.eye(4).reshape(-1))


@pytest.mark.parametrize(
    "text, message",
    [
        ("reshape(zeros(6), (4, 2))", "6 elements cannot become 8"),
        ("reshape(zeros(6), (-1, 4))", "6 elements cannot become a multiple of 4"),
        ("reshape(zeros(6), (-1, -1))", "or -1 once"),
        ("reshape(zeros((0, 2)), (0, -1))", "0 elements cannot become a multiple of 0"),
        ("reshape(zeros(6), (6, -2))", "extent -2"),
        ("repeat(zeros(6), -1)", "expected 0 or more"),
        ("repeat(zeros(6), 2, axis=1)", "out of range"),
    ],
)
def test_refusals(text, message):
    result = run("eval", text)
    assert result.code == 1
    assert message in result.err


@pytest.mark.parametrize(
    "shape, chunks, to",
    [
        ((40, 30), (10, 30), (1200,)),  # whole rows
        ((40, 30), (10, 10), (1200,)),  # rows of chunks are merged
        ((40, 30), (1, 10), (1200,)),
        ((1200,), (100,), (120, 10)),  # split at multiples
        ((20, 6, 10), (5, 6, 10), (20, 60)),
        ((8, 9, 10), (2, 3, 10), (2, 4, 9, 5, 2)),
    ],
)
def test_chunks_that_fit_are_read_once(tmp_path, shape, chunks, to):
    x = np.random.default_rng(0).normal(size=shape)
    store(tmp_path / "x", x, chunks)
    result = evaluate(f"r = reshape(x, {to})", tmp_path / "x")
    np.testing.assert_array_equal(result.arrays()["r"], x.reshape(to))
    assert result.run["bytes_read"] == x.nbytes
    assert result.run["stages"] == 1


def test_large_rows_of_chunks_are_stored_before(tmp_path):
    """Whole rows of chunks would have 64 MB: more than the tasks may."""
    url = str(tmp_path / "x")
    x = np.arange(4000 * 4000, dtype="i4").reshape(4000, 4000) % 1009
    store(url, x, (2000, 200))
    args = ("--allowed-mem", "40MB", "--max-workers", "2", "--work-dir", str(tmp_path / "work"))
    text = "r = reshape(x, (16000000,))[12345::1000]; s = sum(reshape(x, (1600, 10000)), axis=1)"
    result = evaluate(text, url, *args)
    np.testing.assert_array_equal(result.arrays()["r"], x.reshape(-1)[12345::1000])
    np.testing.assert_array_equal(result.arrays()["s"], x.reshape(1600, 10000).sum(axis=1))
    assert result.run["measured_mem"] <= result.run["projected_mem"]


@pytest.mark.parametrize("dtype", ["S3", "U2", "M8[s]", "f2", "c16", "?"])
def test_every_type(tmp_path, dtype):
    x = np.arange(60).reshape(6, 10).astype("S2" if dtype[0] in "SU" else "i8").astype(dtype)
    z = zarr.create_array(
        tmp_path / "x", shape=x.shape, chunks=(4, 3), dtype=x.dtype, zarr_format=2, filters=None
    )
    z[...] = x
    for i, (text, want) in enumerate(
        [
            ("reshape(x, (12, 5))", x.reshape(12, 5)),
            ("reshape(x, (12, 5))[::-3]", x.reshape(12, 5)[::-3]),
            ("reshape(x, (4, 15))[:, ::2]", x.reshape(4, 15)[:, ::2]),
            ("repeat(x, 3, axis=1)", np.repeat(x, 3, 1)),
        ]
    ):
        out = tmp_path / f"r{i}"
        for extra in ((), ("--no-optimize",)):
            check(run("eval", text, "--in", f"x={tmp_path / 'x'}", "--out", out, "--overwrite",
                      "--format", "2", "--progress", "none", *extra))  # fmt: skip
            got = zarr.open_array(out, mode="r")[...]
            np.testing.assert_array_equal(got.astype(x.dtype), want, err_msg=text)


def test_memory_that_is_allowed_saves_a_copy(tmp_path):
    """Rows of chunks of 64 MB become one chunk, where a task may have them."""
    x = tmp_path / "x"
    zarr.create_array(x, shape=(4000, 8192), chunks=(1000, 512), dtype="f8")
    args = ["eval", "y = reshape(x, (-1,)) + 1", "--in", f"x={x}", "--out", tmp_path / "y"]
    args += ["--plan", "--json", "--max-workers", "1", "--reserved-mem", "1MB", "--allowed-mem"]
    roomy = json.loads(check(run(*args, "600MB")).out)
    tight = json.loads(check(run(*args, "40MB", "--work-dir", tmp_path / "work")).out)
    assert len(roomy["stages"]) == 1 and len(tight["stages"]) > 1
    stored = 8 * 4000 * 8192
    assert roomy["stages"][0]["bytes_read"] < 1.1 * stored
    assert roomy["projected_mem"] <= 599e6 and tight["projected_mem"] <= 39e6


def test_extents_of_what_has_no_elements():
    """They may have any product."""
    x = cubed.zeros((2**40, 2**40, 0), chunks=(5, 2, 1), dtype=np.int8)
    assert cubed.reshape(x, (0, 3)).compute().shape == (0, 3)
    y = cubed.reshape(x, (1, 0, 3, 2))
    assert y.shape == (1, 0, 3, 2) and y.compute().shape == y.shape
    assert cubed.reshape(y, (7, 0)).shape == (7, 0)


@pytest.mark.parametrize("chunks", [(3, 5, 4), (2, 5, 2), (3, 1, 4), (6, 10, 8), (6, 2, 3)])
def test_chunks_that_are_not_merged(chunks):
    """``merge_chunks=False`` keeps chunks as small as they were, as in Dask."""
    a = np.arange(480.0).reshape(6, 10, 8)
    x, y = cubed.from_array(a, chunks=chunks), da.from_array(a, chunks=chunks)
    size = max(1, np.prod(chunks))
    for shape in ((60, 8), (6, 80), (480,), (-1, 8)):
        got = x.reshape(shape, merge_chunks=False)
        np.testing.assert_array_equal(got.compute(), a.reshape(shape))
        assert np.prod(got.chunksize) <= size
        theirs = y.reshape(shape, merge_chunks=False)
        if shape != (6, 80) and y.npartitions > 1 and len(set(theirs.chunks[0])) == 1:
            assert got.chunks == theirs.chunks
        assert got.chunks == cubed.reshape(x, shape, merge_chunks=False).chunks
    assert x.reshape((6, 5, 2, 8), merge_chunks=False).chunks == x.reshape(6, 5, 2, 8).chunks
    merged = x.reshape(480)
    assert np.prod(merged.chunksize) >= np.prod(x.reshape(480, merge_chunks=False).chunksize)


def test_chunks_of_limited_size():
    a = np.arange(480.0).reshape(6, 10, 8)
    x = cubed.from_array(a, chunks=(6, 10, 8))
    for order in "CF":
        for limit in (8, 64, 100, 640, 10**9):
            for shape in ((480,), (60, 8), (8, 60), (2, 3, 80)):
                got = x.reshape(shape, limit=limit, order=order)
                assert 8 * np.prod(got.chunksize) <= limit
                np.testing.assert_array_equal(got.compute(), a.reshape(shape, order=order))
    with pytest.raises(ValueError, match="limit is 0, expected an integer or None, at least 1"):
        x.reshape(480, limit=0)
    with pytest.raises(TypeError, match="limit"):
        x.reshape(480, limit="1 MB")
    assert cubed.reshape(x, (480,), limit=1).chunksize == (1,)


def test_the_command_does_not_merge_chunks(tmp_path):
    store(tmp_path / "x", np.arange(24.0).reshape(4, 6), (2, 3))
    got = evaluate("y = reshape(x, (24,), merge_chunks=False, limit=16)", tmp_path / "x").arrays()
    np.testing.assert_array_equal(got["y"], np.arange(24.0))
