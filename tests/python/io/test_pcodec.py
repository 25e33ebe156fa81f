"""pco: chunks of numcodecs' "pcodec" can be read here, and it can read ours."""

import json
import subprocess
from functools import partial

import numpy as np
import one_chunk
import pytest
from conftest import BIN, check, run
from one_chunk import read

import zarr

LIBRARIES = subprocess.run([BIN, "--version"], capture_output=True, text=True, check=True).stdout
pytestmark = pytest.mark.skipif(
    ", pco " not in LIBRARIES,
    reason="built without CUBED_PCODEC, or without cargo 1.87 and the crates of extra/pcodec",
)

# Chunks of what values() gives, as numcodecs 0.16.5 encodes them with the package pcodec 0.3.6.
VECTORS = {
    "uint16": ({}, "70636f2102030303070b0000100201000140000000010000"),
    "uint32": (
        {"delta_spec": "none"},
        "70636f2102030303010b000000100000000000380080002101c99062c028390f00",
    ),
    "uint64": (
        {"level": 0},
        "70636f2102030303020b00000010000000000000000000380080002101c99062c028390f00",
    ),
    "int16": ({}, "70636f2102030303080b0000100201000140000080010000"),
    "int32": (
        {"delta_spec": "try_consecutive", "delta_encoding_order": 2},
        "70636f2102030303030b0000100201000100004000000000800100000000",
    ),
    "int64": (
        {"mode_spec": "classic"},
        "70636f2102030303040b000000100000000000000000003c0080002101c99062c028390f00",
    ),
    "float16": (
        {},
        "70636f2102030303090b0000001000000080ff3d3f3eff3e7f40ff4300b000be40c200c520c7c0c810ca00",
    ),
    "float32": (
        {"equal_pages_up_to": 5},
        "70636f210203030305030000001000f8fffffdb90000000000000400000800000a0503000010040000ffff7f"
        "400100807dffff3f840100887a0503000000100000000005c6000000000000440000780000a200",
    ),
    "float64": (
        {"delta_spec": "try_lookback"},
        "70636f2102030303060b000002000000000000fc2b0340002000000000800040000000000000006001020000"
        "0000000000008000e7ffffffffffff7f4010931473505200",
    ),
}
TYPES = [*VECTORS, "datetime64[s]", "timedelta64[ms]"]
CONFS = [
    {},
    {"level": 12, "mode_spec": "classic", "delta_spec": "none"},
    {"delta_spec": "try_consecutive", "delta_encoding_order": 2},
    {"level": 0, "delta_encoding_order": 1},
    {"delta_spec": "try_lookback", "equal_pages_up_to": 100},
]
ALL = {
    "level": 8,
    "mode_spec": "auto",
    "delta_spec": "auto",
    "paging_spec": "equal_pages_up_to",
    "delta_encoding_order": None,
    "equal_pages_up_to": 262144,
}
BYTES = '[{"name": "bytes", "configuration": {"endian": "little"}}]'


def values(dtype):
    x = np.arange(12).reshape(4, 3) ** 2
    return (x / 8 - 3 if np.dtype(dtype).kind == "f" else x).astype(dtype)


codecs = partial(one_chunk.codecs, "pcodec")


def write(path, shape, dtype, zarr_format, conf, chunk=None):
    one_chunk.write(path, shape, dtype, zarr_format, codecs(zarr_format, **conf), chunk)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", VECTORS)
def test_vectors(tmp_path, dtype, zarr_format):
    conf, text = VECTORS[dtype]
    write(tmp_path / "x", [4, 3], dtype, zarr_format, conf, bytes.fromhex(text))
    got = read(tmp_path / "x")
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, values(dtype))


def test_what_is_written(tmp_path):
    """Both formats have the same chunks, and all of the configuration in their metadata."""
    zarr.create_array(tmp_path / "x", data=values("float64"), compressors=None)
    for zarr_format, name, key in ((2, ".zarray", "0.0"), (3, "zarr.json", "c/0/0")):
        args = ("--codecs", json.dumps(codecs(zarr_format)), "--format", zarr_format)
        check(run("copy", tmp_path / "x", tmp_path / f"{zarr_format}", *args))
        doc = json.loads((tmp_path / f"{zarr_format}" / name).read_text())
        got = doc["compressor" if zarr_format == 2 else "codecs"]
        assert got == codecs(zarr_format, **ALL)
        np.testing.assert_array_equal(read(tmp_path / f"{zarr_format}"), values("float64"))
        assert (tmp_path / f"{zarr_format}" / key).read_bytes().startswith(b"pco!")


def made(rng, dtype, shape):
    kind = np.dtype(dtype).kind
    if kind == "f":
        x = np.round(rng.normal(size=shape) * 1000, rng.integers(0, 9))
        return np.where(rng.random(shape) < 0.02, [np.nan], x).astype(dtype)
    x = rng.integers(-30000, 30000, shape) * rng.integers(1, 9) // rng.integers(1, 9)
    return x.astype("i8").astype(dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("conf", CONFS, ids=str)
def test_numcodecs(tmp_path, conf, dtype, zarr_format):
    """Both ways, of whole arrays by zarr-python."""
    pytest.importorskip("pcodec", reason="the package pcodec is not installed")
    import numcodecs.pcodec

    from zarr.codecs.numcodecs import PCodec

    rng = np.random.default_rng(len(dtype) + len(conf))
    x = made(rng, dtype, (37, 21))
    if zarr_format == 2:
        how = {"compressors": numcodecs.pcodec.PCodec(**conf), "order": "F"}
    else:
        how = {"serializer": PCodec(**conf), "compressors": None}
        how["shards"] = (32, 20) if "level" in conf else None
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(16, 10), dtype=x.dtype,
                          zarr_format=zarr_format, **how)  # fmt: skip
    z[...] = x
    raw = ["--codecs", "null" if zarr_format == 2 else BYTES, "--format", zarr_format]
    result = check(run("copy", tmp_path / "x", tmp_path / "raw", "--json", *raw))
    assert result.run["measured_mem"] <= result.run["projected_mem"]
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "raw")[...], x)
    args = ["--codecs", json.dumps(codecs(zarr_format, **conf)), "--format", zarr_format]
    result = check(run("copy", tmp_path / "raw", tmp_path / "y", "--json", *args))
    assert result.run["measured_mem"] <= result.run["projected_mem"]
    y = zarr.open_array(tmp_path / "y")
    assert "pcodec" in repr(y.metadata) or "PCodec" in repr(y.metadata)
    np.testing.assert_array_equal(y[...], x)


@pytest.mark.parametrize("cut", [0, 3, 9, 14, 30])
def test_damaged_chunks(tmp_path, cut):
    conf, text = VECTORS["float64"]
    write(tmp_path / "x", [4, 3], "float64", 3, conf, bytes.fromhex(text)[:cut])
    result = run("eval", "x", "--in", f"x={tmp_path / 'x'}")
    assert result.code == 1
    assert "codec numcodecs.pcodec" in result.err and "c/0/0" in result.err


@pytest.mark.parametrize(
    ("shape", "dtype", "message"),
    [
        ([3, 3], "float64", "12 numbers more, expected 9"),
        ([5, 3], "float64", "12 numbers, expected 15"),
        ([4, 3], "int64", "does not match"),
    ],
)
def test_chunks_of_others_are_refused(tmp_path, shape, dtype, message):
    write(tmp_path / "x", shape, dtype, 3, {}, bytes.fromhex(VECTORS["float64"][1]))
    assert message in run("eval", "x", "--in", f"x={tmp_path / 'x'}").err


@pytest.mark.parametrize(
    ("dtype", "conf", "message"),
    [
        ("uint8", {}, "elements of uint8, expected integers and floats of 16 to 64 bits"),
        ("complex64", {}, "elements of complex64"),
        ("float64", {"level": 13}, '"level" is 13, expected 0 to 12'),
        ("float64", {"mode_spec": "try_dict"}, '"mode_spec" is "try_dict", expected one of: auto'),
        ("float64", {"delta_spec": 3}, '"delta_spec" is not a string, expected one of: auto none'),
        ("float64", {"delta_spec": "try_consecutive"}, 'needs "delta_encoding_order"'),
        ("float64", {"delta_spec": "none", "delta_encoding_order": 1}, "cannot be combined with"),
        ("float64", {"delta_encoding_order": 8}, "expected 0 to 7"),
        ("float64", {"equal_pages_up_to": 0}, "expected 1 to 16777216"),
    ],
)
def test_what_cannot_be_had_is_refused(tmp_path, dtype, conf, message):
    write(tmp_path / "x", [4, 3], dtype, 3, conf)
    assert message in run("eval", "x", "--in", f"x={tmp_path / 'x'}").err


def test_big_endian_is_refused(tmp_path):
    write(tmp_path / "x", [4, 3], ">f8", 2, {})
    assert "in big-endian order" in run("eval", "x", "--in", f"x={tmp_path / 'x'}").err
