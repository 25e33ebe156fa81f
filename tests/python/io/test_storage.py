"""Files of zarr-python can be read here, and it can read ours."""

import json

import numcodecs
import numpy as np
import pytest
from conftest import check, run

import zarr
from zarr.codecs import BloscCodec, Crc32cCodec, GzipCodec, ZstdCodec

DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 complex128"
).split()
V3 = {
    "none": (),
    "zstd": (ZstdCodec(level=3),),
    "gzip": (GzipCodec(level=5),),
    "crc32c": (Crc32cCodec(),),
    "zstd+crc32c": (ZstdCodec(level=1, checksum=True), Crc32cCodec()),
    **{
        f"blosc-{c}-{s}": (BloscCodec(cname=c, shuffle=s, clevel=5),)
        for c in ("lz4", "lz4hc", "blosclz", "zlib", "zstd")
        for s in ("noshuffle", "shuffle", "bitshuffle")
    },
}
V2 = {
    "none": None,
    "zstd": numcodecs.Zstd(level=1),
    "gzip": numcodecs.GZip(level=1),
    "zlib": numcodecs.Zlib(level=1),
    "blosc": numcodecs.Blosc(cname="lz4", shuffle=-1),
    "blosc-big-blocks": numcodecs.Blosc(cname="zstd", clevel=9, shuffle=2, blocksize=1 << 16),
}
SHAPES = [((), ()), ((0, 3), (1, 2)), ((11, 7), (4, 3)), ((5,), (9,)), ((3, 4, 5), (1, 1, 1))]


def values(shape, dtype):
    rng = np.random.default_rng(3)
    if np.dtype(dtype).kind == "b":
        return rng.random(shape) < 0.5
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype, copy=False)


def read(path):
    return check(run("eval", "x", "--in", f"x={path}", "--json", "--progress", "none")).array()


def expect_stored(folder, arrays):
    """Of each type, in a store of its name; all by one command."""
    text = "; ".join(f"{name} = stored_{name}" for name in arrays)
    places = [word for name in arrays for word in ("--in", f"stored_{name}={folder / name}")]
    got = check(run("eval", text, *places, "--json", "--progress", "none")).arrays()
    for name, x in arrays.items():
        np.testing.assert_array_equal(got[name], x, name)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("codec", V3)
def test_read_v3(tmp_path, codec):
    arrays = {}
    for k, dtype in enumerate(DTYPES):
        shape, chunks = SHAPES[k % len(SHAPES)]
        x = arrays[dtype] = values(shape, dtype)
        z = zarr.create_array(
            tmp_path / dtype, shape=shape, chunks=chunks, dtype=dtype, compressors=V3[codec]
        )
        z[...] = x
    expect_stored(tmp_path, arrays)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("codec", V2)
@pytest.mark.parametrize("order, endian, separator", [("C", "<", "."), ("F", ">", "/")])
def test_read_v2(tmp_path, codec, order, endian, separator):
    arrays = {}
    for k, dtype in enumerate(DTYPES):
        shape, chunks = SHAPES[k % len(SHAPES)]
        x = arrays[dtype] = values(shape, dtype)
        z = zarr.create_array(
            tmp_path / dtype,
            shape=shape,
            chunks=chunks,
            zarr_format=2,
            order=order,
            dtype=np.dtype(dtype).newbyteorder(endian),
            compressors=V2[codec],
            filters=None,
            chunk_key_encoding={"name": "v2", "separator": separator},
        )
        z[...] = x
    expect_stored(tmp_path, arrays)


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    "dtype, fill",
    [
        ("float64", np.nan),
        ("float32", np.inf),
        ("int16", -7),
        ("float64", -np.inf),
        ("bool", True),
        ("uint64", 5),
    ],
)
def test_missing_chunks_are_filled(tmp_path, zarr_format, dtype, fill):
    z = zarr.create_array(
        tmp_path / "x",
        shape=(10,),
        chunks=(3,),
        dtype=dtype,
        fill_value=fill,
        zarr_format=zarr_format,
    )
    z[3:6] = 1
    np.testing.assert_array_equal(read(tmp_path / "x"), z[...])


WRITE = {
    3: [
        None,
        '[{"name": "bytes", "configuration": {"endian": "big"}}]',
        '[{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", '
        '"configuration": {"level": 1}}, {"name": "crc32c"}]',
        '[{"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", '
        '"configuration": {"endian": "little"}}, {"name": "blosc", "configuration": {"cname": '
        '"zstd", "clevel": 5, "shuffle": "bitshuffle", "typesize": 4, "blocksize": 0}}]',
    ],
    2: [
        None,
        "null",
        '{"id": "zlib", "level": 1}',
        '{"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0}',
    ],
}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_write(tmp_path, zarr_format):
    for k, dtype in enumerate(DTYPES):
        x = values((13, 6), dtype)
        src, dst = tmp_path / f"s{k}", tmp_path / f"d{k}"
        z = zarr.create_array(
            src,
            shape=x.shape,
            chunks=(13, 2),
            dtype=dtype,
            dimension_names=["t", None],
            attributes={"units": "K", "n": [1.5]},
        )
        z[...] = x
        codecs = WRITE[zarr_format][k % len(WRITE[zarr_format])]
        extra = ["--codecs", codecs] if codecs else []
        check(
            run(
                "rechunk",
                src,
                dst,
                "--chunks",
                "5,-1",
                "--format",
                zarr_format,
                "--progress",
                "none",
                *extra,
            )
        )
        out = zarr.open_array(dst, mode="r")
        assert out.metadata.zarr_format == zarr_format
        assert out.chunks == (5, 6)
        assert out.dtype == x.dtype
        np.testing.assert_array_equal(out[...], x)
        attrs = dict(out.attrs)
        assert attrs["units"] == "K" and attrs["n"] == [1.5]
        if zarr_format == 3:
            assert out.metadata.dimension_names == ("t", None)


def test_rechunk_a_group(tmp_path, data):
    src, dst = data / "era5_t2m_uk.zarr", tmp_path / "out.zarr"
    check(
        run("rechunk", src, dst, "--chunks", "time=-1,latitude=5,longitude=7", "--progress", "none")
    )
    a, b = zarr.open_group(src, mode="r"), zarr.open_group(dst, mode="r")
    for name in a.array_keys():
        np.testing.assert_array_equal(b[name][...], a[name][...])
        assert {k: v for k, v in b[name].attrs.items() if k != "_ARRAY_DIMENSIONS"} == {
            k: v for k, v in a[name].attrs.items() if k != "_ARRAY_DIMENSIONS"
        }
    assert b["t2m"].chunks == (744, 5, 7)


@pytest.mark.parametrize(
    "source, target",
    [
        ((31, 40, 50), (300, 3, 4)),
        ((300, 1, 50), (7, 40, 9)),
        ((1, 40, 50), (300, 1, 1)),
        ((64, 7, 11), (48, 13, 5)),
    ],
)
def test_rechunk_through_an_intermediate(tmp_path, source, target):
    """In memory so small that one pass would read everything many times."""
    src, dst = tmp_path / "s.zarr", tmp_path / "d.zarr"
    x = np.arange(300 * 40 * 50, dtype="f4").reshape(300, 40, 50)
    z = zarr.create_array(src, shape=x.shape, chunks=source, dtype="f4", compressors=())
    z[...] = x
    spec = ",".join(map(str, target))
    result = check(
        run(
            "rechunk",
            src,
            dst,
            "--chunks",
            spec,
            "--allowed-mem",
            "1.3MB",
            "--reserved-mem",
            "0",
            "--work-dir",
            tmp_path / "work",
            "--progress",
            "none",
            "--events",
            tmp_path / "e",
        )
    )
    assert "projected" in result.out
    np.testing.assert_array_equal(zarr.open_array(dst, mode="r")[...], x)
    tasks = [json.loads(line) for line in (tmp_path / "e").read_text().splitlines()]
    ends = [t for t in tasks if t["event"] == "task_end"]
    assert all(t["measured_mem"] <= t["projected_mem"] <= 1_300_000 for t in ends)
    assert not (tmp_path / "work").exists() or not list((tmp_path / "work").rglob("*/*"))
