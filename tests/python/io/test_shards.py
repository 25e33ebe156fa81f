"""Shards, which are chunks that are stored together: written by zarr-python and TensorStore, and
read by them.
"""

import json

import numpy as np
import pytest
import tensorstore as ts
from conftest import check, run
from test_tensorstore import read as read_tensorstore

import zarr
from zarr.codecs import (
    BytesCodec,
    Crc32cCodec,
    GzipCodec,
    ShardingCodec,
    TransposeCodec,
    ZstdCodec,
)

QUIET = ("--progress", "none")
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}


def values(shape, dtype="float64"):
    x = np.random.default_rng(7).integers(-50, 50, size=shape)
    return x > 0 if dtype == "bool" else x.astype(dtype)


def evaluate(path, expression="x * 1"):
    return check(run("eval", expression, "--in", f"x={path}", "--json")).array()


CASES = {
    "end": {"index_location": "end"},
    "start": {"index_location": "start"},
    "compressed": {"codecs": [BytesCodec(), ZstdCodec(level=1)]},
    "big-endian": {"codecs": [BytesCodec(endian="big"), GzipCodec(level=1)]},
    "transposed": {"codecs": [TransposeCodec(order=(1, 0)), BytesCodec(), Crc32cCodec()]},
    "index-unchecked": {"index_codecs": [BytesCodec()]},
    "nested": {"codecs": [ShardingCodec(chunk_shape=(2, 1), codecs=[BytesCodec(), ZstdCodec()])]},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["float64", "int16", "bool", "complex64"])
def test_zarr_python_to_cubed(tmp_path, case, dtype):
    x = values((37, 50), dtype)
    z = zarr.create_array(
        tmp_path / "x",
        shape=x.shape,
        chunks=(12, 20),
        dtype=dtype,
        fill_value=1,
        serializer=ShardingCodec(chunk_shape=(4, 5), **CASES[case]),
        compressors=None,
    )
    z[...] = x
    np.testing.assert_array_equal(evaluate(tmp_path / "x", "x[::-1, 3:47:2]"), x[::-1, 3:47:2])


def test_shards_of_transposed_chunks(tmp_path):
    """Such shards cannot be read by parts: their inner chunks are not the array's."""
    x = values((20, 40))
    z = zarr.create_array(
        tmp_path / "x",
        shape=x.shape,
        chunks=(20, 20),
        dtype=x.dtype,
        filters=[TransposeCodec(order=(1, 0))],
        serializer=ShardingCodec(chunk_shape=(5, 4)),
        compressors=None,
    )
    z[...] = x
    np.testing.assert_array_equal(evaluate(tmp_path / "x"), x)


def test_missing_inner_chunks_and_shards(tmp_path):
    x = np.full((40, 40), 9, dtype="int32")
    z = zarr.create_array(
        tmp_path / "x", shape=x.shape, chunks=(5, 5), shards=(20, 20), dtype="i4", fill_value=9
    )
    x[3:8, 3:8] = 1
    z[3:8, 3:8] = 1
    assert len(list((tmp_path / "x" / "c").rglob("*/*"))) == 1
    np.testing.assert_array_equal(evaluate(tmp_path / "x"), x)
    check(run("copy", tmp_path / "x", tmp_path / "y", *QUIET))
    assert len(list((tmp_path / "y" / "c").rglob("*/*"))) == 1
    y = zarr.open_array(tmp_path / "y")
    assert (y.chunks, y.shards, y.fill_value) == ((5, 5), (20, 20), 9)
    np.testing.assert_array_equal(y[...], x)
    size = (tmp_path / "y/c/0/0").stat().st_size
    check(run("copy", tmp_path / "x", tmp_path / "z", "--keep-empty", *QUIET))
    assert len(list((tmp_path / "z" / "c").rglob("*/*"))) == 4
    assert (tmp_path / "z/c/0/0").stat().st_size > size
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "z")[...], x)


WRITE = [
    ("3,7", "9,14", None),
    ("3,7", "-1,-1", [LITTLE]),
    ("1,1", "5,10", [{"name": "bytes", "configuration": {"endian": "big"}}, {"name": "crc32c"}]),
    ("37,50", "37,50", None),
    ("10,-1", "20,-1", [LITTLE, {"name": "gzip", "configuration": {"level": 1}}]),
]


@pytest.mark.parametrize(("chunks", "shards", "codecs"), WRITE)
@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_cubed_to_others(tmp_path, chunks, shards, codecs, executor):
    x = values((37, 50), "float32")
    zarr.create_array(tmp_path / "x", data=x, chunks=(10, 10))
    args = ["--codecs", json.dumps(codecs)] if codecs else []
    args += ["--executor", executor, "--max-workers", 2, "--allowed-mem", "50MB"]
    dst = tmp_path / "y"
    check(
        run("rechunk", tmp_path / "x", dst, "--chunks", chunks, "--shards", shards, *args, *QUIET)
    )
    y = zarr.open_array(dst)
    full = [n if n > 0 else s for n, s in zip(map(int, chunks.split(",")), x.shape, strict=True)]
    assert y.chunks == tuple(full)
    assert y.shards is not None
    np.testing.assert_array_equal(y[...], x)
    np.testing.assert_array_equal(read_tensorstore(dst, 3), x)
    np.testing.assert_array_equal(evaluate(dst), x)


@pytest.mark.parametrize("location", ["start", "end"])
def test_tensorstore_to_cubed(tmp_path, location):
    x = values((37, 50), "uint16")
    sharding = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [4, 5],
            "codecs": [LITTLE, {"name": "zstd", "configuration": {"level": 3}}],
            "index_codecs": [LITTLE, {"name": "crc32c"}],
            "index_location": location,
        },
    }
    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": str(tmp_path / "x")},
        "metadata": {
            "shape": list(x.shape),
            "data_type": "uint16",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [12, 20]}},
            "codecs": [sharding],
        },
    }
    ts.open(spec, create=True).result()[...] = x
    np.testing.assert_array_equal(evaluate(tmp_path / "x", "x[1:, ::-1]"), x[1:, ::-1])
    info = json.loads(check(run("info", tmp_path / "x", "--json")).out)
    array = info["entries"][0] if "entries" in info else info[0]
    assert array["chunks"] == [4, 5]
    assert array["shards"] == [12, 20]
    assert (array["chunks_present"], array["chunks_total"]) == (12, 12)


def test_memory_of_a_part_is_not_that_of_the_shard(tmp_path):
    """One inner chunk is read from a shard that is larger than what is allowed."""
    x = np.arange(1000 * 4000, dtype="float64").reshape(1000, 4000)
    z = zarr.create_array(
        tmp_path / "x", shape=x.shape, chunks=(10, 4000), shards=(1000, 4000), dtype=x.dtype
    )
    z[...] = x
    got = check(
        run("eval", "sum(x)", "--in", f"x={tmp_path / 'x'}", "--json", "--allowed-mem", "20MB")
    )
    assert got.array() == x.sum()
    assert got.run["measured_mem"] <= got.run["projected_mem"] < 4_000_000


def test_shards_that_do_not_fit_are_refused(tmp_path):
    zarr.create_array(tmp_path / "x", shape=(4000, 4000), chunks=(100, 100), dtype="float64")
    args = ("--chunks", "100,100", "--shards", "-1,-1", "--allowed-mem", "100MB", *QUIET)
    result = run("rechunk", tmp_path / "x", tmp_path / "y", *args)
    assert result.code != 0
    assert "allow at least" in result.err
    assert not (tmp_path / "y").exists()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("--chunks", "4,4", "--shards", "6,8"), "shards[0] is 6, expected a multiple"),
        (("--chunks", "4,4", "--shards", "8"), "--shards has 1 lengths for the 2 dimensions"),
        (("--chunks", "4,4", "--shards", "8,0"), "--shards"),
        (("--chunks", "4,4", "--shards", "8,8", "--format", "2"), "format 3"),
    ],
)
def test_wrong_shards(tmp_path, args, says):
    zarr.create_array(tmp_path / "x", shape=(40, 40), chunks=(10, 10), dtype="float64")
    result = run("rechunk", tmp_path / "x", tmp_path / "y", *args, *QUIET)
    assert result.code != 0
    assert says in result.err
    assert not (tmp_path / "y").exists()


def test_damaged_index(tmp_path):
    x = values((20, 20))
    z = zarr.create_array(
        tmp_path / "x", shape=x.shape, chunks=(5, 5), shards=(20, 20), dtype="f8", compressors=None
    )
    z[...] = x
    path = tmp_path / "x/c/0/0"
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:100], b"", whole[:-20] + b"\0" + whole[-19:]):
        path.write_bytes(damaged)
        result = run("eval", "sum(x)", "--in", f"x={tmp_path / 'x'}", *QUIET)
        assert result.code != 0
        assert "index" in result.err or "checksum" in result.err, result.err
        assert "c/0/0" in result.err
