"""Chunks and indices of shards that tasks read again are decoded once, if memory allows."""

import pathlib

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import check, run

import zarr

QUIET = ("--progress", "none", "--json")
EXECUTORS = (("single-threaded", 1), ("threads", 2), ("processes", 1))


def stored_bytes(path):
    return sum(p.stat().st_size for p in pathlib.Path(path, "c").rglob("*") if p.is_file())


@pytest.fixture
def x(tmp_path):
    """The same numbers in compressed chunks, and in shards."""
    x = np.random.default_rng(0).integers(0, 50, size=(400, 500)).astype("i4")
    options = {"shape": x.shape, "dtype": "i4"}
    zarr.create_array(tmp_path / "chunks", chunks=(70, 90), **options)[...] = x
    zarr.create_array(tmp_path / "shards", chunks=(10, 10), shards=(100, 100), **options)[...] = x
    return x


def within_bounds(stats):
    assert stats["measured_mem"] <= stats["projected_mem"]
    assert stats["cache_peak"] <= stats["cache_budget"]
    room = stats["allowed_mem"] - stats["reserved_mem"] - stats["projected_mem"]
    assert stats["cache_budget"] <= room * stats["workers"]


@pytest.mark.parametrize(("executor", "workers"), EXECUTORS)
def test_an_index_is_read_once_for_all_inner_chunks(tmp_path, x, executor, workers):
    args = ["--executor", executor, "--max-workers", workers, *QUIET]
    source, target = tmp_path / "shards", tmp_path / "y"
    enough = ["--chunks", "100,100", "--allowed-mem", "40MB"]
    result = check(run("rechunk", source, target, *args, *enough))
    np.testing.assert_array_equal(zarr.open_array(target)[...], x)
    assert result.run["stored_read"] == stored_bytes(source)
    assert result.run["cache_peak"] > 0
    within_bounds(result.run)
    # An index has 1604 bytes, and without memory it is read 2000 times.
    tight = ["--allowed-mem", "20.2MB", "--reserved-mem", "20MB", "--overwrite"]
    again = check(run("rechunk", source, target, "--chunks", "25,50", *args, *tight)).run
    assert again["stored_read"] < 2 * stored_bytes(source)
    within_bounds(again)


def test_chunks_that_tasks_share_are_decoded_once(tmp_path, x):
    args = ["eval", "rechunk(x + 1, (33, 41))", "--in", f"x={tmp_path / 'chunks'}", "--overwrite"]
    args += ["--out", tmp_path / "y", "--reserved-mem", "1MB", *QUIET]
    once = stored_bytes(tmp_path / "chunks")
    two = check(run(*args, "--max-workers", 2, "--allowed-mem", "2.2MB")).run
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], x + 1)
    assert two["tasks"] > 1 and two["bytes_read"] > x.nbytes * 1.2  # chunks were shared
    assert two["stored_read"] == once and two["cache_peak"] > 0
    within_bounds(two)
    tight = check(run(*args, "--max-workers", 1, "--allowed-mem", "1.2MB")).run
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], x + 1)
    assert tight["stored_read"] > once
    within_bounds(tight)


@pytest.mark.parametrize("text", ["x[1:] - x[:-1]", "x * sum(x, axis=0)", "roll(x, 7, axis=1) + x"])
def test_loads_of_one_array_share_its_chunks(tmp_path, x, text):
    args = ["eval", text, "--in", f"x={tmp_path / 'chunks'}", *QUIET]
    result = check(run(*args, "--max-workers", 2))
    got = result.array()
    expected = eval(text, {"x": x.astype("i8"), "sum": np.sum, "roll": np.roll})
    np.testing.assert_array_equal(got, expected)
    assert result.run["bytes_read"] > 1.5 * x.nbytes
    assert result.run["stored_read"] == stored_bytes(tmp_path / "chunks")
    within_bounds(result.run)
    for way in ("--no-optimize", "--through-bytes"):
        np.testing.assert_array_equal(check(run(*args, way)).array(), expected)


@pytest.mark.parametrize(
    "text",
    [
        "sum(roll(x, 7, axis=1) + x, axis=0)",
        "sum(x[:, 1:] * x[:, :-1], axis=0)",
        "sum(x[1:] * x[:-1], axis=0)",
        "sum(x[::-1] * x[::-1, ::-1], axis=0)",
    ],
)
def test_chunks_that_nobody_will_read_make_room(tmp_path, text):
    x = np.random.default_rng(0).integers(0, 50, size=(640, 500)).astype("i4")
    array = zarr.create_array(tmp_path / "rows", shape=x.shape, chunks=(10, 500), dtype="i4")
    array[...] = x
    args = ["--in", f"x={tmp_path / 'rows'}", "--out", tmp_path / "y", "--max-workers", 1]
    stats = check(run("eval", text, *args, *QUIET)).run
    expected = eval(text, {"x": x, "sum": np.sum, "roll": np.roll})
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], expected)
    assert stats["stored_read"] == stored_bytes(tmp_path / "rows")
    assert 0 < stats["cache_peak"] <= 4 * 20480  # chunks, of 64
    within_bounds(stats)


@pytest.mark.parametrize("rows", [24, 40, 100])
def test_slices_with_steps_share_chunks(tmp_path, rows):
    """A climatology reads each chunk once, in the memory of a few chunks."""
    x = np.random.default_rng(0).integers(0, 50, size=(600, 1000)).astype("f4")
    chunks = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(rows, 1000), dtype="f4")
    chunks[...] = x
    months = ", ".join(f"mean(x[{k}::12], axis=0)" for k in range(12))
    args = ["--in", f"x={tmp_path / 'x'}", "--max-workers", 2, "--reserved-mem", "1MB", *QUIET]
    memory = ["--allowed-mem", 2_500_000 + 4 * rows * 4000]
    result = check(run("eval", f"stack([{months}])", *args, *memory))
    want = np.stack([x[k::12].mean(axis=0) for k in range(12)])
    np.testing.assert_allclose(result.array(), want, rtol=1e-6)
    assert result.run["stored_read"] == stored_bytes(tmp_path / "x")
    within_bounds(result.run)
    # Twelve chunks do not fit.
    assert result.run["projected_mem"] < 12 * rows * 4000


def test_blocks_of_a_product_are_decoded_once(tmp_path, x):
    args = [
        "eval",
        "matmul(x, permute_dims(x, [1, 0]))",
        "--in",
        f"x={tmp_path / 'chunks'}",
        *QUIET,
    ]
    result = check(run(*args, "--max-workers", 2, "--out", tmp_path / "y"))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], x @ x.T)
    within_bounds(result.run)


def test_what_is_stored_as_it_is_is_not_kept(tmp_path, x):
    z = zarr.create_array(
        tmp_path / "raw", shape=x.shape, chunks=(70, 90), dtype="i4", compressors=()
    )
    z[...] = x
    args = ["eval", "x[1:] - x[:-1]", "--in", f"x={tmp_path / 'raw'}", *QUIET]
    assert check(run(*args)).run["cache_budget"] == 0


def test_intermediates_come_first(tmp_path, x):
    """Kept chunks make room: nothing is spilled that would not be without them."""
    args = ["eval", "(x[1:] - x[:-1]) * sum(x, axis=0)", "--in", f"x={tmp_path / 'chunks'}"]
    args += ["--no-optimize", "--max-workers", 2, "--reserved-mem", "1MB", *QUIET]
    expected = (x[1:] - x[:-1]) * x.sum(axis=0)
    for allowed in ("1.4MB", "1.7MB", "3MB", "9MB"):
        work = tmp_path / "work"
        result = check(run(*args, "--allowed-mem", allowed, "--work-dir", work))
        np.testing.assert_array_equal(result.array(), expected)
        assert result.run["intermediate_peak"] <= result.run["intermediate_budget"]
        within_bounds(result.run)
    assert result.run["intermediate_spilled"] == 0 and result.run["cache_peak"] > 0


def bytes_from_files():
    lines = pathlib.Path("/proc/self/io").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("rchar"))


@pytest.mark.parametrize("name", ["window", "difference", "roll"])
def test_shifted_reads_of_one_array_bring_each_chunk_once(tmp_path, name):
    a = np.random.default_rng(0).random((800, 300))
    spec = cubed.Spec(allowed_mem="300MB", reserved_mem="100MB")
    cubed.to_zarr(cubed.from_array(a, chunks=(100, 300), spec=spec), str(tmp_path / "a"))
    x = cubed.from_zarr(str(tmp_path / "a"), spec=spec)
    view = np.lib.stride_tricks.sliding_window_view
    if name == "window":
        y = xp.sum(xp.lib.stride_tricks.sliding_window_view(x, 7, 0), axis=-1)
        want = view(a, 7, 0).sum(-1)
    elif name == "difference":
        y, want = x[1:] - x[:-1], a[1:] - a[:-1]
    else:
        y, want = xp.roll(x, 3, axis=0) + x, np.roll(a, 3, axis=0) + a
    plan, before = cubed.plan(y), bytes_from_files()
    got = y.compute()
    read = bytes_from_files() - before
    np.testing.assert_allclose(got, want, rtol=1e-12)
    stored = stored_bytes(tmp_path / "a")
    assert plan.total_nbytes_read > 1.5 * a.nbytes  # each read, of chunks that are kept
    assert stored / 2 < read < stored + 100_000
