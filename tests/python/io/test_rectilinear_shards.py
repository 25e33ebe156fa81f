"""Shards of different lengths, whose inner chunks have equal shapes. zarr-python stores each shard
as a separate array.
"""

import json
import shutil

import cubed
import numpy as np
import pytest
from conftest import check, run, the_same_bits
from test_rectilinear import MOST, chunks_of, rechunked

import zarr
from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec, TransposeCodec, ZstdCodec

INNER = (3, 4)
SHAPES = [
    [[6, 3, 12, 3], [8, 12]],
    [[[3, 8]], [[4, 2], 12]],
    [24, [20]],
    [[21, 9, 30], [4, 16, 4]],  # longer than the array, and shards behind its end
]


def codec(location="end", order=None):
    return ShardingCodec(
        chunk_shape=INNER,
        codecs=[TransposeCodec(order=(1, 0)), BytesCodec(), ZstdCodec(level=1)]
        if order
        else [BytesCodec(), ZstdCodec(level=1)],
        index_codecs=[*([TransposeCodec(order=(2, 0, 1))] if order else []), BytesCodec(),
                      Crc32cCodec()],
        index_location=location,
    )  # fmt: skip


def write(path, x, shapes, sharding, filters=(), missing=()):
    path.mkdir(parents=True)
    like = zarr.create_array(path / "like", shape=(12, 12), chunks=(12, 12), dtype=x.dtype,
                             serializer=sharding, filters=filters, compressors=None,
                             fill_value=-1)  # fmt: skip
    meta = json.loads((path / "like" / "zarr.json").read_text())
    inline = {"kind": "inline", "chunk_shapes": shapes}
    meta["shape"] = x.shape
    meta["chunk_grid"] = {"name": "rectilinear", "configuration": inline}
    meta["attributes"] = {"units": "m"}
    (path / "zarr.json").write_text(json.dumps(meta))
    del like
    shutil.rmtree(path / "like")
    whole = np.full([MOST, MOST], -1, x.dtype)
    whole[tuple(slice(n) for n in x.shape)] = x
    for file, shape, where in chunks_of(path):
        if file.relative_to(path / "c").as_posix() in missing:
            continue
        one = zarr.create_array(path / "one", shape=shape, chunks=shape, dtype=x.dtype,
                                serializer=sharding, filters=filters, compressors=None,
                                fill_value=-1)  # fmt: skip
        one[...] = whole[where]
        file.parent.mkdir(parents=True, exist_ok=True)
        if (path / "one/c/0/0").exists():
            shutil.move(path / "one/c/0/0", file)
        shutil.rmtree(path / "one")


def read(path):
    """What is stored, by zarr-python: each shard as an array of its own."""
    meta = json.loads((path / "zarr.json").read_text())
    whole = np.full([MOST, MOST], meta["fill_value"], meta["data_type"])
    for file, shape, where in chunks_of(path):
        if not file.exists():
            continue
        one = path.parent / "one"
        (one / "c/0").mkdir(parents=True)
        regular = {"name": "regular", "configuration": {"chunk_shape": shape}}
        (one / "zarr.json").write_text(json.dumps({**meta, "shape": shape, "chunk_grid": regular}))
        shutil.copy(file, one / "c/0/0")
        whole[where] = zarr.open_array(one, mode="r")[...]
        shutil.rmtree(one)
    shapes = meta["chunk_grid"]["configuration"]["chunk_shapes"]
    return whole[tuple(slice(n) for n in meta["shape"])], shapes, meta


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(23, 17))


@pytest.mark.parametrize("codecs", [{}, {"location": "start"}, {"order": (1, 0)}], ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_every_element_is_where_it_belongs(tmp_path, x, shapes, codecs):
    write(tmp_path / "x", x, shapes, codec(**codecs))
    text = "y = x; s = sum(x, axis=0); t = permute_dims(x, [1, 0])[::-2, 3:19:4]; p = x[7:8, 9:]"
    result = check(run("eval", text, "--in", f"x={tmp_path / 'x'}", "--json", "--progress", "none"))
    got = result.arrays()
    np.testing.assert_array_equal(got["y"], x)
    np.testing.assert_array_equal(got["t"], x.T[::-2, 3:19:4])
    np.testing.assert_array_equal(got["p"], x[7:8, 9:])
    np.testing.assert_allclose(got["s"], x.sum(axis=0), rtol=1e-12)
    assert result.run["measured_mem"] <= result.run["projected_mem"]


def test_any_way_of_running_reads_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0], codec(), missing={"2/0"})
    x[9:21, :8] = -1
    first = the_same_bits("x * 2 + x[::-1]", "--in", f"x={tmp_path / 'x'}")
    np.testing.assert_array_equal(first["x"], x * 2 + x[::-1])


def test_shards_of_transposed_chunks(tmp_path, x):
    """They are read as a whole."""
    sharding = ShardingCodec(chunk_shape=(4, 2), codecs=[BytesCodec()])
    write(
        tmp_path / "x", x, [[4, 12, 8], [8, 12]], sharding, filters=[TransposeCodec(order=(1, 0))]
    )
    result = check(run("eval", "x", "--in", f"x={tmp_path / 'x'}", "--json"))
    np.testing.assert_array_equal(result.array(), x)


def test_only_the_parts_that_are_needed_are_read(tmp_path):
    """Index and inner chunks, of the shard that has them: those of the others may be damaged."""
    x = np.arange(240.0).reshape(30, 8)
    write(tmp_path / "x", x, [[6, 24], 8], codec())
    for file in ("c/0/0",):
        (tmp_path / "x" / file).write_bytes(b"damaged")
    part = check(run("eval", "x[9:30:5, 3]", "--in", f"x={tmp_path / 'x'}", "--json"))
    np.testing.assert_array_equal(part.array(), x[9:30:5, 3])
    assert "shard index" in run("eval", "x[3, 3]", "--in", f"x={tmp_path / 'x'}").err


def test_a_copy_keeps_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0], codec(), missing={"1/1"})
    x[6:9, 8:] = -1
    check(run("copy", tmp_path / "x", tmp_path / "y", "--progress", "none"))
    got, shapes, meta = read(tmp_path / "y")
    np.testing.assert_array_equal(got, x)
    assert shapes == [[6, 3, 12, 3], [8, 12]]
    assert meta["codecs"][0]["configuration"]["chunk_shape"] == list(INNER)
    assert meta["attributes"] == {"units": "m"} and meta["fill_value"] == -1
    assert not (tmp_path / "y" / "c" / "1" / "1").exists()


@pytest.mark.parametrize(
    ("args", "chunks", "shards"),
    [
        (["--regular"], INNER, (12, 12)),
        (["--shards", "none"], INNER, None),
        (["--chunks", "5,5", "--shards", "10,10"], (5, 5), (10, 10)),
        (["--chunks", "9,5"], (9, 5), None),
    ],
)
def test_a_copy_is_regular_where_that_is_asked_for(tmp_path, x, args, chunks, shards):
    write(tmp_path / "x", x, SHAPES[0], codec())
    check(run("copy", tmp_path / "x", tmp_path / "y", *args, "--progress", "none"))
    copy = zarr.open_array(tmp_path / "y", mode="r")
    np.testing.assert_array_equal(copy[...], x)
    assert copy.chunks == chunks and copy.shards == shards


@pytest.mark.parametrize(
    ("chunks", "shards", "shapes"),
    [
        ("3,4", "6+3+9+5,8+9", [[6, 3, 9, 6], [8, 12]]),
        ("2,17", "2x5+13,17", [[[2, 5], 14], 17]),
        ("5,5", "5+10+8,10+5+2", [[5, 10, 10], [10, 5, 5]]),
    ],
)
@pytest.mark.parametrize("workers", ["1", "2"])
def test_they_are_given_one_by_one(tmp_path, x, chunks, shards, shapes, workers):
    rechunked(tmp_path, x, "--chunks", chunks, "--shards", shards, "--max-workers", workers)
    got, written, _ = read(tmp_path / "y")
    np.testing.assert_array_equal(got, x)
    assert written == shapes
    again = check(run("eval", "x", "--in", f"x={tmp_path / 'y'}", "--json"))
    np.testing.assert_array_equal(again.array(), x)


def test_a_saved_plan_and_worker_processes_write_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[3], codec())
    args = ["--chunks", "2,3", "--shards", "2+4x5+1,6+11", "--allowed-mem", "20MB"]
    args += ["--work-dir", tmp_path / "w", "--save-plan", tmp_path / "p"]
    check(run("rechunk", tmp_path / "x", tmp_path / "z", *args))
    check(run("run", tmp_path / "p", "--executor", "processes", "--max-workers", "2"))
    got, shapes, _ = read(tmp_path / "z")
    np.testing.assert_array_equal(got, x)
    assert shapes == [[2, [4, 5], 2], [6, 12]]


def test_info_shows_them(tmp_path, x):
    write(tmp_path / "x", x, SHAPES[0], codec())
    array = json.loads(check(run("info", tmp_path / "x", "--json")).out)[0]
    assert array["chunks"] == list(INNER) and array["shards"] == [12, 12]
    assert array["chunk_shapes"] == [[6, 3, 12, 3], [8, 12]]
    assert array["chunks_present"] == array["chunks_total"] == 8
    text = check(run("info", tmp_path / "x")).out
    assert "(3, 4) in up to (12, 12)" in text


@pytest.mark.parametrize("case", range(6))
@pytest.mark.parametrize("sharded", [True, False])
def test_regions_keep_what_is_around(tmp_path, x, case, sharded):
    """Native ones, written from Python and by the command."""
    random = np.random.default_rng(case)
    shapes = SHAPES[case % 4] if sharded else [[5, 1, 9, 8], [[4, 3], 5]]
    place = tmp_path / "z"
    write(place, x, shapes, codec() if sharded else BytesCodec(), missing={"0/1"})
    kept, _, meta = read(place)
    for _ in range(3):
        ends = [sorted(random.integers(0, n + 1, 2)) for n in x.shape]
        region = tuple(slice(int(a), int(b)) for a, b in ends)
        values = random.normal(size=[b - a for a, b in ends])
        source = cubed.from_array(values, chunks=int(random.integers(1, 9)))
        plan = cubed.store(source, place, region, compute=False).plan()
        assert not any("python" in s["name"] for s in plan.stages)
        cubed.store(source, place, region, max_workers=2)
        kept[region] = values
    check(run("eval", "ones((12, 5)) * 3", "--out", place, "--region", "5:17,2:7"))
    kept[5:17, 2:7] = 3
    got, _, after = read(place)
    np.testing.assert_array_equal(got, kept)
    assert after == meta


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--chunks", "3,17", "--shards", "5+18,17"], "shard 0 along axis 0 has length 5"),
        (["--chunks", "3,17", "--shards", "6+9,17"], "add up to 15"),
        (["--chunks", "6+17,17", "--shards", "6+17,17"], "shards do not support"),
        (["--chunks", "3,17", "--shards", "6+17,17", "--format", "2"], "format 2"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, x, args, message):
    zarr.create_array(tmp_path / "x", shape=x.shape, dtype=x.dtype, chunks=(6, 5))
    result = run("rechunk", tmp_path / "x", tmp_path / "y", *args)
    assert result.code != 0 and message in result.err
    assert not (tmp_path / "y").exists()


def test_shards_of_parts_of_chunks_are_refused(tmp_path, x):
    write(tmp_path / "x", x, [[6, 21], [20]], codec())
    text = (tmp_path / "x/zarr.json").read_text()
    (tmp_path / "x/zarr.json").write_text(text.replace("[6, 21]", "[21, 7]"))
    error = run("eval", "x", "--in", f"x={tmp_path / 'x'}").err
    assert "a shard has length 7 along axis 0, expected a multiple of the chunk's 3" in error
