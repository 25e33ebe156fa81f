"""zfp: chunks of numcodecs' "zfpy" can be read, and written chunks are equal byte for byte."""

import json
import subprocess
from functools import partial

import numcodecs
import numpy as np
import one_chunk
import pytest
from conftest import BIN, check, run
from one_chunk import key_of_chunk, read

import zarr

LIBRARIES = subprocess.run([BIN, "--version"], capture_output=True, text=True, check=True).stdout
pytestmark = pytest.mark.skipif(", zfp " not in LIBRARIES, reason="built without libzfp")

# Chunks of what values() gives, as zfpy 1.0.1 encodes them, and what it decodes them to; None: to
# the same.
VECTORS = {
    "exact": (
        "float64", {"mode": 4},
        "7a66700527000030000000880d10614360a68680807c90410000000000000000", None,
    ),
    "float32": (
        "float32", {"mode": 4}, "7a66700526000030000000880d223604666a0808c8071904", None,
    ),
    "tolerance": (
        "float64", {"mode": 4, "tolerance": 0.5},
        "7a66700527000030000020cb0748aa241870014863e129292000000000000000",
        [-3.03515625, -2.88671875, -2.48828125, -1.88671875, -1.00390625, 0.12890625,
         1.51171875, 3.12890625, 4.99609375, 7.16015625, 9.51171875, 12.11328125],
    ),
    "rate": (
        "float32", {"mode": 2, "rate": 6},
        "7a667005260000300000f00507499504032e00692c3c2505",
        [-3.046875, -2.828125, -2.546875, -1.890625, -0.984375, 0.109375,
         1.515625, 3.109375, 5.015625, 7.171875, 9.453125, 12.171875],
    ),
    "precision": (
        "float32", {"mode": 3, "precision": 9},
        "7a667005260000300000808007499504032e00692c000000",
        [-3.1875, -3.3125, -2.5625, -2.0, -1.25, 0.125,
         1.4375, 3.0625, 5.0625, 7.125, 9.625, 12.25],
    ),
    "int32": (
        "int32", {"mode": 4},
        "7a66700524000030000000881f00008003500b6a083000271904000000000000", None,
    ),
    "int64": (
        "int64", {"mode": 3, "precision": 50},
        "7a6670052500003000001083000000000000000000000000", [0] * 12,
    ),
}  # fmt: skip


def values(dtype):
    x = np.arange(12).reshape(4, 3) ** 2
    return (x - 24 if np.dtype(dtype).kind == "i" else x / 8 - 3).astype(dtype)


codecs = partial(one_chunk.codecs, "zfpy")


def write(path, shape, dtype, zarr_format, conf, chunk=None):
    more = {"compression_kwargs": {}} if zarr_format == 2 else {}  # which zfpy's has
    one_chunk.write(path, shape, dtype, zarr_format, codecs(zarr_format, **more, **conf), chunk)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("case", VECTORS)
def test_vectors(tmp_path, case, zarr_format):
    dtype, conf, text, expected = VECTORS[case]
    data = bytes.fromhex(text)
    write(tmp_path / "x", [4, 3], dtype, zarr_format, conf, data)
    got = read(tmp_path / "x")
    assert got.dtype == dtype
    want = values(dtype) if expected is None else np.reshape(expected, (4, 3))
    np.testing.assert_array_equal(got, want)
    plain = {"zarr_format": zarr_format, "compressors": None}
    zarr.create_array(tmp_path / "plain", data=values(dtype), chunks=(4, 3), **plain)
    args = ["--codecs", json.dumps(codecs(zarr_format, **conf)), "--format", zarr_format]
    check(run("copy", tmp_path / "plain", tmp_path / "w", *args, "--progress", "none"))
    assert (tmp_path / "w" / key_of_chunk(zarr_format, 2)).read_bytes() == data


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(50,), (11, 7), (6, 7, 8), (3, 5, 4, 6)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.parametrize(
    "conf",
    [
        {"mode": 4},
        {"mode": 4, "tolerance": 0.01},
        {"mode": 2, "rate": 9},
        {"mode": 3, "precision": 17},
    ],
    ids=str,
)
def test_numcodecs(tmp_path, conf, dtype, shape):
    """As the package zfpy does, where it is installed: numcodecs takes 1.0.1, no later one."""
    zfpy = pytest.importorskip("zfpy", reason="the package zfpy is not installed")
    if np.dtype(dtype).kind == "i" and "tolerance" in conf:
        pytest.skip("zfp has tolerances of floats alone")
    x = (np.random.default_rng(0).normal(size=shape) * 1000).astype(dtype)
    given = {k: v for k, v in conf.items() if k != "mode"}
    data = zfpy.compress_numpy(x, write_header=True, **given)
    write(tmp_path / "x", list(shape), dtype, 3, conf, data)
    np.testing.assert_array_equal(read(tmp_path / "x"), zfpy.decompress_numpy(data))
    np.testing.assert_array_equal(numcodecs.zfpy.ZFPY(**conf).decode(data), read(tmp_path / "x"))
    args = ["--codecs", json.dumps(codecs(3, mode=4)), "--progress", "none"]
    check(run("copy", tmp_path / "x", tmp_path / "y", *args))
    np.testing.assert_array_equal(read(tmp_path / "y"), read(tmp_path / "x"))


@pytest.mark.parametrize("cut", [0, 3, 12, 20])
def test_damaged_chunks(tmp_path, cut):
    dtype, conf, text, _ = VECTORS["exact"]
    write(tmp_path / "x", [4, 3], dtype, 3, conf, bytes.fromhex(text)[:cut])
    result = run("eval", "x", "--in", f"x={tmp_path / 'x'}")
    assert result.code == 1 and "zfp" in result.err


def test_chunks_of_another_shape_are_refused(tmp_path):
    dtype, conf, text, _ = VECTORS["exact"]
    write(tmp_path / "x", [5, 3], dtype, 3, conf, bytes.fromhex(text))
    assert "expected 15" in run("eval", "x", "--in", f"x={tmp_path / 'x'}").err


@pytest.mark.parametrize(
    ("dtype", "conf", "message"),
    [
        ("int16", {}, "elements of int16, expected int32"),
        ("float64", {"mode": 5}, "mode"),
        ("float64", {"tolerance": "1"}, '"tolerance" must be a number'),
        ("float64", {"mode": 2, "rate": 65}, "at most 64 bits"),
    ],
)
def test_what_cannot_be_had_is_refused(tmp_path, dtype, conf, message):
    write(tmp_path / "x", [4, 3], dtype, 3, conf)
    assert message in run("eval", "x", "--in", f"x={tmp_path / 'x'}").err
