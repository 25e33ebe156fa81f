"""Arrays written by TensorStore can be read here, and arrays written here can be read by
TensorStore.
"""

import json

import numpy as np
import pytest
import tensorstore as ts
from conftest import check, run

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64".split()
LITTLE = {"name": "bytes", "configuration": {"endian": "little"}}
BIG = {"name": "bytes", "configuration": {"endian": "big"}}
BLOSC = {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 4, "blocksize": 0}
V3_CODECS = {
    "raw": [LITTLE],
    "big-endian": [BIG],
    "zstd": [LITTLE, {"name": "zstd", "configuration": {"level": 3, "checksum": False}}],
    "gzip-crc32c": [
        LITTLE,
        {"name": "gzip", "configuration": {"level": 4}},
        {"name": "crc32c"},
    ],
    "transpose": [{"name": "transpose", "configuration": {"order": [1, 0]}}, LITTLE],
    "blosc": [LITTLE, {"name": "blosc", "configuration": BLOSC}],
}
V2_CODECS = {
    "raw": None,
    "zlib": {"id": "zlib", "level": 2},
    "bz2": {"id": "bz2", "level": 1},
    "zstd": {"id": "zstd", "level": 1},
    "blosc": {"id": "blosc", "cname": "zstd", "clevel": 3, "shuffle": 2, "blocksize": 0},
}


def values(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(len(dtype))
    x = rng.integers(0, 100, size=(11, 7))
    return x % 2 == 0 if dtype == "bool" else x.astype(dtype)


def spec(path, zarr_format: int, codecs, dtype: np.dtype, shape, big_endian=False) -> dict:
    kvstore = {"driver": "file", "path": str(path)}
    if zarr_format == 3:
        metadata = {
            "shape": list(shape),
            "data_type": dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [4, 3]}},
            "codecs": codecs,
        }
        return {"driver": "zarr3", "kvstore": kvstore, "metadata": metadata}
    text = dtype.newbyteorder(">" if big_endian else "<").str
    metadata = {"shape": list(shape), "chunks": [4, 3], "dtype": text, "compressor": codecs}
    if big_endian:
        metadata["order"] = "F"
    return {"driver": "zarr", "kvstore": kvstore, "metadata": metadata}


def read(path, zarr_format: int) -> np.ndarray:
    driver = "zarr3" if zarr_format == 3 else "zarr"
    kvstore = {"driver": "file", "path": str(path)}
    return ts.open({"driver": driver, "kvstore": kvstore}).result().read().result()


def cases(codecs: dict):
    """Every type with one codec, every codec with one type."""
    first = next(iter(codecs))
    return [(d, first) for d in DTYPES] + [("float32", c) for c in codecs]


@pytest.mark.parametrize(
    ("zarr_format", "dtype", "codec"),
    [(3, *c) for c in cases(V3_CODECS)] + [(2, *c) for c in cases(V2_CODECS)],
)
def test_both_directions(tmp_path, zarr_format, dtype, codec):
    x = values(dtype)
    codecs = (V3_CODECS if zarr_format == 3 else V2_CODECS)[codec]
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    ts.open(spec(theirs, zarr_format, codecs, x.dtype, x.shape), create=True).result()[...] = x
    args = ["--codecs", json.dumps(codecs), "--format", zarr_format, "--progress", "none"]
    check(run("copy", theirs, ours, *args))
    result = read(ours, zarr_format)
    assert result.dtype == x.dtype
    np.testing.assert_array_equal(result, x)


@pytest.mark.parametrize("dtype", ["int16", "uint32", "float64", "complex128"])
def test_big_endian_fortran_order(tmp_path, dtype):
    x = values(dtype)
    ts.open(spec(tmp_path / "x", 2, None, x.dtype, x.shape, big_endian=True), create=True).result()[
        ...
    ] = x
    got = check(run("eval", "x[::-1] * 1", "--in", f"x={tmp_path / 'x'}", "--json"))
    np.testing.assert_array_equal(got.array(), x[::-1])
