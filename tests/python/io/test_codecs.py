"""Codecs of numcodecs: its chunks can be read here, and it can read ours."""

import json

import cubed
import numcodecs
import numpy as np
import pytest
from conftest import NIGHTLY, check, run
from test_storage import DTYPES, SHAPES, expect_stored, read, values

import zarr

V2 = {
    "lz4": numcodecs.LZ4(),
    "lz4-fast": numcodecs.LZ4(acceleration=50),
    "bz2": numcodecs.BZ2(level=1),
    "bz2-9": numcodecs.BZ2(level=9),
    "lzma": numcodecs.LZMA(),
    "lzma-0": numcodecs.LZMA(preset=0, check=0),
    "lzma-9e": numcodecs.LZMA(preset=9 | 1 << 31),
    "lzma-alone": numcodecs.LZMA(format=2, preset=1),
}
BYTES = '{"name": "bytes", "configuration": {"endian": "little"}}'
WRITE = {
    2: [
        '[{"id": "shuffle", "elementsize": 8}, {"id": "zlib", "level": 1}]',
        '[{"id": "shuffle", "elementsize": 4}, null]',
        '{"id": "lz4", "acceleration": 1}',
        '{"id": "bz2", "level": 9}',
        '{"id": "lzma", "format": 1, "check": 1, "preset": 2, "filters": null}',
        '{"id": "lzma", "format": 2}',
    ],
    3: [
        f'[{BYTES}, {{"name": "numcodecs.shuffle", "configuration": {{"elementsize": 8}}}}]',
        f'[{BYTES}, {{"name": "numcodecs.lz4", "configuration": {{"acceleration": 1}}}}]',
        f'[{BYTES}, {{"name": "numcodecs.bz2", "configuration": {{"level": 1}}}}]',
        f'[{BYTES}, {{"name": "numcodecs.lzma", "configuration": {{"preset": 9}}}}]',
        f'[{BYTES}, "numcodecs.lzma"]',
    ],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("codec", V2)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_read(tmp_path, codec, zarr_format):
    if zarr_format == 3:
        z3 = pytest.importorskip("numcodecs.zarr3")
        conf = {k: v for k, v in V2[codec].get_config().items() if k != "id"}
        compressor = getattr(z3, type(V2[codec]).__name__)(**conf)
    else:
        compressor = V2[codec]
    arrays = {}
    # An encoder of this preset takes 700 MB for each chunk.
    few = codec == "lzma-9e" and not NIGHTLY
    for k, dtype in enumerate(DTYPES[::5] if few else DTYPES):
        shape, chunks = SHAPES[k % len(SHAPES)]
        x = arrays[dtype] = values(shape, dtype)
        z = zarr.create_array(
            tmp_path / dtype,
            shape=shape,
            chunks=chunks,
            zarr_format=zarr_format,
            dtype=dtype,
            compressors=compressor,
        )
        z[...] = x
    expect_stored(tmp_path, arrays)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_write(tmp_path, zarr_format):
    import numcodecs.zarr3  # noqa: F401 (registers the names of format 3)

    x = values((130, 60), "float64").round(1)
    z = zarr.create_array(tmp_path / "x", shape=x.shape, chunks=(50, 60), dtype=x.dtype)
    z[...] = x
    for k, codecs in enumerate(WRITE[zarr_format]):
        dst = tmp_path / f"d{k}"
        check(
            run(
                "rechunk",
                tmp_path / "x",
                dst,
                "--chunks",
                "32,60",
                "--codecs",
                codecs,
                "--format",
                zarr_format,
                "--progress",
                "none",
            )
        )
        np.testing.assert_array_equal(zarr.open_array(dst)[...], x)
        np.testing.assert_array_equal(read(dst), x)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("order, endian", [("C", "<"), ("F", ">")])
@pytest.mark.parametrize("compressor", [None, numcodecs.BZ2(level=1)])
def test_read_filters(tmp_path, order, endian, compressor):
    x = values((11, 7), "float64")
    z = zarr.create_array(
        tmp_path / "x",
        shape=x.shape,
        chunks=(4, 3),
        zarr_format=2,
        order=order,
        dtype=x.dtype.newbyteorder(endian),
        filters=[numcodecs.Shuffle(elementsize=8)],
        compressors=compressor,
    )
    z[...] = x
    np.testing.assert_array_equal(read(tmp_path / "x"), x)


FILTERS = {
    "delta": ("int32", [numcodecs.Delta("<i4")]),
    "delta-narrow": ("int64", [numcodecs.Delta("<i8", astype="<i2")]),
    "delta-wraps": ("uint8", [numcodecs.Delta("u1")]),
    "delta-float": ("float32", [numcodecs.Delta("<f4")]),
    "scale": ("float64", [numcodecs.FixedScaleOffset(offset=-40, scale=10, dtype="<f8")]),
    "scale-packed": ("float32", [numcodecs.FixedScaleOffset(-100, 0.5, "<f4", astype="<u2")]),
    "scale-integers": ("int16", [numcodecs.FixedScaleOffset(3, 2, "<i2", astype="<i4")]),
    "bitround": ("float32", [numcodecs.BitRound(keepbits=7)]),
    "bitround-64": ("float64", [numcodecs.BitRound(keepbits=0)]),
    "bitround-16": ("float16", [numcodecs.BitRound(keepbits=9)]),
    "quantize": ("float64", [numcodecs.Quantize(2, "<f8")]),
    "quantize-narrow": ("float64", [numcodecs.Quantize(0, "<f8", astype="<f4")]),
    "quantize-float": ("float32", [numcodecs.Quantize(5, "<f4")]),
    "quantize-tens": ("float32", [numcodecs.Quantize(-1, "<f4")]),
    "astype": ("float64", [numcodecs.AsType("<f4", "<f8")]),
    "astype-wide": ("int16", [numcodecs.AsType("<i4", "<i2")]),
    "astype-truncates": ("float32", [numcodecs.AsType("<i2", "<f4")]),
    "delta-half": ("float16", [numcodecs.Delta("<f2")]),
    "delta-to-half": ("float32", [numcodecs.Delta("<f4", astype="<f2")]),
    "scale-half": ("float16", [numcodecs.FixedScaleOffset(-4.3, 10.1, "<f2")]),
    "scale-half-packed": ("float16", [numcodecs.FixedScaleOffset(-100, 0.3, "<f2", astype="<i2")]),
    "quantize-half": ("float16", [numcodecs.Quantize(2, "<f2")]),
    "astype-half": ("float64", [numcodecs.AsType("<f2", "<f8")]),
    "astype-of-half": ("float16", [numcodecs.AsType("<f4", "<f2")]),
    "packbits": ("bool", [numcodecs.PackBits()]),
    "several": (
        "float64",
        [
            numcodecs.FixedScaleOffset(0, 100, "<f8", astype="<i4"),
            numcodecs.Delta("<i4"),
            numcodecs.Shuffle(4),
        ],
    ),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", ["<f2", "<f4", "<f8", ">f4"])
def test_differences_keep_the_bits_of_zeros_and_nan(tmp_path, dtype):
    """As numcodecs, whose first element is stored as it is."""
    unsigned = np.dtype(dtype).newbyteorder("=").str.replace("f", "u")
    nan = np.array([np.nan, -np.nan], dtype.replace(">", "<"))
    nan = np.concatenate([nan, (nan.view(unsigned) + 5).view(nan.dtype)])
    numbers = np.array([-0.0, 0.0, 1.5, -2.0, np.inf, -np.inf], nan.dtype)
    if dtype == "<f2":  # which NaN of two a sum has is the compiler's choice in NumPy
        nan, numbers = nan[[0, 0, 0, 0]], numbers[:4]
    rng = np.random.default_rng(5)
    rows = [numbers[[0, 1, 0, 0]], numbers[[0, 0, 0, 0]], nan, nan[[2, 0, 3, 1]]]
    rows += [rng.choice(np.concatenate([numbers, nan]), 4) for _ in range(60)]
    x = np.stack(rows)
    for name, chunks in (("mine", None), ("theirs", (1, 4))):
        z = zarr.create_array(
            tmp_path / name, shape=x.shape, chunks=(1, 4), zarr_format=2, dtype=dtype,
            filters=[numcodecs.Delta(dtype)], compressors=None,
        )  # fmt: skip
        if chunks is None:
            cubed.store(cubed.from_array(x, chunks=(1, 4)), z)
        else:
            z[...] = x
    mine, theirs = (tmp_path / name for name in ("mine", "theirs"))
    for k in range(len(x)):
        assert (mine / f"{k}.0").read_bytes() == (theirs / f"{k}.0").read_bytes(), x[k]
    got = cubed.from_zarr(theirs).compute()
    want = zarr.open_array(theirs, mode="r")[...].astype(got.dtype)
    assert got.view(unsigned).tolist() == want.view(unsigned).tolist()


def filter_values(dtype):
    x = values((11, 7), "float64") * 40
    if dtype == "bool":
        return x > 0
    return np.abs(x).astype(dtype) if dtype[0] == "u" else x.astype(dtype)


def filtered(path, x, filters, zarr_format, **kwargs):
    if zarr_format == 3:
        z3 = pytest.importorskip("zarr.codecs.numcodecs")
        names = {"delta": z3.Delta, "fixedscaleoffset": z3.FixedScaleOffset}
        names |= {"bitround": z3.BitRound, "quantize": z3.Quantize, "astype": z3.AsType}
        names |= {"packbits": z3.PackBits}
        confs = [f.get_config() for f in filters]
        filters = [names[c.pop("id")](**c) for c in confs]
    z = zarr.create_array(
        path,
        shape=x.shape,
        chunks=(4, 3),
        dtype=x.dtype,
        zarr_format=zarr_format,
        filters=filters,
        compressors=None,
        **kwargs,
    )
    z[...] = x
    return z


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", FILTERS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_filters_that_change_elements(tmp_path, case, zarr_format):
    """Read as zarr-python reads; written byte for byte as zarr-python writes."""
    if zarr_format == 3 and case == "several":
        pytest.skip("shuffle is no filter in format 3; the others are tested alone")
    if zarr_format == 3 and case == "quantize-narrow":
        pytest.skip("zarr-python does not read in format 3 what it has written of that")
    dtype, filters = FILTERS[case]
    x = filter_values(dtype)
    z = filtered(tmp_path / "x", x, filters, zarr_format)
    out = tmp_path / "r"
    check(run("copy", tmp_path / "x", out, "--format", 3, "--progress", "none"))
    np.testing.assert_array_equal(zarr.open_array(out)[...], z[...])
    zarr.create_array(
        tmp_path / "plain", shape=x.shape, chunks=(4, 3), dtype=x.dtype, zarr_format=zarr_format
    )[...] = x
    if zarr_format == 2:
        codecs = [*(f.get_config() for f in filters), None]
    else:
        codecs = json.loads((tmp_path / "x" / "zarr.json").read_text())["codecs"]
    args = ["--codecs", json.dumps(codecs), "--format", zarr_format, "--progress", "none"]
    check(run("copy", tmp_path / "plain", tmp_path / "w", *args))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "w")[...], z[...])
    for key in ("0.0", "1.2") if zarr_format == 2 else ("c/0/0", "c/1/2"):
        assert (tmp_path / "w" / key).read_bytes() == (tmp_path / "x" / key).read_bytes()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("dtype", "filters"),
    [
        (">i4", [numcodecs.Delta(">i4")]),
        (">f4", [numcodecs.FixedScaleOffset(1, 8, ">f4", astype=">i2")]),
    ],
)
def test_filters_of_big_endian_fortran_arrays(tmp_path, dtype, filters):
    x = filter_values(dtype)
    z = filtered(tmp_path / "x", x, filters, 2, order="F")
    np.testing.assert_array_equal(read(tmp_path / "x"), z[...])


def test_rounding_bits_keeps_what_is_not_finite(tmp_path):
    x = np.array([np.nan, np.inf, -np.inf, 1.9, np.float32(3.4e38)], "f4")
    zarr.create_array(tmp_path / "x", data=x)
    codecs = f'[{{"name": "numcodecs.bitround", "configuration": {{"keepbits": 0}}}}, {BYTES}]'
    check(run("copy", tmp_path / "x", tmp_path / "y", "--codecs", codecs, "--progress", "none"))
    np.testing.assert_array_equal(read(tmp_path / "y"), [np.nan, np.inf, -np.inf, 2, np.inf])


@pytest.mark.parametrize(
    ("dtype", "filters", "says"),
    [
        ("<i4", '[{"id": "delta", "dtype": "<i2"}, null]', "has 2 bytes, but the elements have 4"),
        ("<i4", '[{"id": "delta", "dtype": "|O"}, null]', '"|O", which is not a valid type'),
        ("<f4", '[{"id": "delta", "dtype": "<c8"}, null]', "expected a type of integers"),
        ("<f4", '[{"id": "fixedscaleoffset", "dtype": "<f4", "offset": 0, "scale": 0}, null]', "0"),
        ("<f4", '[{"id": "fixedscaleoffset", "dtype": "<f4", "scale": 1}, null]', '"offset"'),
        ("<i4", '[{"id": "bitround", "keepbits": 3}, null]', "the elements are not floats"),
        ("<f4", '[{"id": "bitround", "keepbits": 24}, null]', "expected 0 to 23"),
        ("<f4", '[{"id": "bitround"}, null]', "expected 0 to 23"),
    ],
)
def test_wrong_filters(tmp_path, dtype, filters, says):
    zarr.create_array(tmp_path / "x", shape=(8,), chunks=(8,), dtype=dtype, zarr_format=2)
    result = run("copy", tmp_path / "x", tmp_path / "y", "--codecs", filters, "--format", 2)
    assert result.code != 0
    assert says in result.err


CHECKSUMS = {
    "crc32": (numcodecs.CRC32(), "CRC32"),
    "crc32-end": (numcodecs.CRC32(location="end"), "CRC32"),
    "adler32": (numcodecs.Adler32(), "Adler32"),
    "adler32-end": (numcodecs.Adler32(location="end"), "Adler32"),
    "fletcher32": (numcodecs.Fletcher32(), "Fletcher32"),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", CHECKSUMS)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_checksums(tmp_path, case, zarr_format):
    """Byte for byte as zarr-python writes them, and damage is found."""
    codec, name = CHECKSUMS[case]
    x = values((11, 7), "float64")
    if zarr_format == 3:
        z3 = pytest.importorskip("zarr.codecs.numcodecs")
        conf = {"location": codec.location} if hasattr(codec, "location") else {}
        codec = getattr(z3, name)(**conf)
    make = {"shape": x.shape, "chunks": (4, 3), "dtype": x.dtype, "zarr_format": zarr_format}
    z = zarr.create_array(tmp_path / "x", compressors=[codec], **make)
    z[...] = x
    np.testing.assert_array_equal(read(tmp_path / "x"), x)
    zarr.create_array(tmp_path / "plain", **make)[...] = x
    doc = json.loads(
        (tmp_path / "x" / ("zarr.json" if zarr_format == 3 else ".zarray")).read_text()
    )
    codecs = doc["codecs"] if zarr_format == 3 else doc["compressor"]
    if case.endswith("-end"):  # which metadata of format 2 do not keep
        (codecs[-1]["configuration"] if zarr_format == 3 else codecs)["location"] = "end"
    args = ["--codecs", json.dumps(codecs), "--format", zarr_format, "--progress", "none"]
    check(run("copy", tmp_path / "plain", tmp_path / "w", *args))
    key = "c/0/0" if zarr_format == 3 else "0.0"
    written = (tmp_path / "w" / key).read_bytes()
    assert written == (tmp_path / "x" / key).read_bytes()
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "w")[...], x)
    for damaged in (b"", written[:3], written[:-1], written[:9] + b"\xff" + written[10:]):
        (tmp_path / "w" / key).write_bytes(damaged)
        assert run("eval", "sum(x)", "--in", f"x={tmp_path / 'w'}").code == 1


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["Zstd", "Blosc", "GZip", "CRC32C"])
def test_names_of_numcodecs(tmp_path, name):
    """Of codecs that have a name of their own in format 3."""
    z3 = pytest.importorskip("zarr.codecs.numcodecs")
    conf = {"Blosc": {"cname": "zstd", "shuffle": 2}, "Zstd": {"level": 3}}.get(name, {})
    x = values((11, 7), "float32")
    z = zarr.create_array(
        tmp_path / "x",
        shape=x.shape,
        chunks=(4, 3),
        dtype=x.dtype,
        compressors=[getattr(z3, name)(**conf)],
    )
    z[...] = x
    np.testing.assert_array_equal(read(tmp_path / "x"), x)
    doc = json.loads((tmp_path / "x/zarr.json").read_text())
    assert doc["codecs"][-1]["name"].startswith("numcodecs.")
    args = ["--codecs", json.dumps(doc["codecs"]), "--progress", "none"]
    check(run("copy", tmp_path / "x", tmp_path / "y", *args))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], x)
    assert "numcodecs" not in (tmp_path / "y/zarr.json").read_text()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scale_offset(tmp_path, dtype):
    x = np.array([1.5, -2, np.nan, np.inf, 0, 1e30], dtype)
    zarr.create_array(tmp_path / "x", data=x, chunks=(4,))
    conf = {"offset": 0.5, "scale": 4}
    codecs = f'[{{"name": "scale_offset", "configuration": {json.dumps(conf)}}}, {BYTES}]'
    check(run("copy", tmp_path / "x", tmp_path / "y", "--codecs", codecs, "--progress", "none"))
    stored = np.frombuffer((tmp_path / "y/c/0").read_bytes(), dtype)
    np.testing.assert_array_equal(stored, (x[:4] - x.dtype.type(0.5)) * 4)
    np.testing.assert_array_equal(read(tmp_path / "y"), x)
    told = json.loads(check(run("info", tmp_path / "y", "--json")).out)[0]["codecs"][0]
    assert told == {"name": "scale_offset", "configuration": conf}


def test_zeros_behind_gzip(tmp_path):
    """As files in blocks of fixed size have them; anything else behind the data is an error."""
    x = np.arange(12.0)
    for zarr_format in (2, 3):
        path = tmp_path / str(zarr_format)
        gzip = (
            {"id": "gzip"} if zarr_format == 2 else {"name": "gzip", "configuration": {"level": 5}}
        )
        zarr.create_array(path, data=x, chunks=(6,), zarr_format=zarr_format, compressors=gzip)
        file = path / ("c/1" if zarr_format == 3 else "1")
        file.write_bytes(file.read_bytes() + bytes(512 - file.stat().st_size))
        np.testing.assert_array_equal(zarr.open_array(path)[...], x)
        np.testing.assert_array_equal(read(path), x)
        file.write_bytes(file.read_bytes() + b"x")
        assert run("eval", "sum(x)", "--in", f"x={path}").code == 1


def test_lenient_metadata(tmp_path):
    """A byte order mark, and null where there are no attributes."""
    for zarr_format in (2, 3):
        path = tmp_path / str(zarr_format)
        zarr.create_array(path, data=np.arange(3.0), zarr_format=zarr_format)
        file = path / ("zarr.json" if zarr_format == 3 else ".zarray")
        doc = json.loads(file.read_text())
        if zarr_format == 3:
            doc["attributes"] = None
        file.write_text("\ufeff" + json.dumps(doc), encoding="utf-8")
        np.testing.assert_array_equal(read(path), np.arange(3.0))


@pytest.mark.parametrize("order", [(1, 0, 2), (2, 0, 1), (2, 1, 0)])
def test_transposed_index_of_shards(tmp_path, order):
    x = values((12, 8), "int16")
    codecs = [
        {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": [2, 4],
                "codecs": [json.loads(BYTES), {"name": "gzip", "configuration": {"level": 1}}],
                "index_codecs": [
                    {"name": "transpose", "configuration": {"order": list(order)}},
                    json.loads(BYTES),
                    {"name": "crc32c"},
                ],
            },
        }
    ]
    z = zarr.create_array(
        tmp_path / "x",
        shape=x.shape,
        chunks=(6, 8),
        dtype=x.dtype,
        serializer=zarr.codecs.ShardingCodec.from_dict(codecs[0]),
        compressors=None,
    )
    z[...] = x
    np.testing.assert_array_equal(read(tmp_path / "x"), x)
    args = ["--codecs", json.dumps(codecs), "--progress", "none", "--chunks", "6,8"]
    check(run("copy", tmp_path / "x", tmp_path / "y", "--shards", "none", *args))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "y")[...], x)


@pytest.mark.filterwarnings("ignore")
def test_lzma_of_larger_dictionaries_and_damage(tmp_path):
    """What a chunk takes follows from the preset in metadata, which others may not have kept."""
    x = np.arange(600_000.0) // 7
    path = tmp_path / "x"
    make = {"data": x, "chunks": x.shape, "zarr_format": 2}
    zarr.create_array(path, compressors=numcodecs.LZMA(preset=0), **make)
    np.testing.assert_array_equal(read(path), x)
    whole = (path / "0").read_bytes()
    (path / "0").write_bytes(numcodecs.LZMA(preset=7).encode(x))
    r = run("eval", "sum(x)", "--in", f"x={path}")
    assert r.code == 1 and "preset 0" in r.err
    for damaged in (whole[:-9], whole + b"more", whole[:200] + b"\xff\xff" + whole[202:]):
        (path / "0").write_bytes(damaged)
        assert run("eval", "sum(x)", "--in", f"x={path}").code == 1
    (path / "0").write_bytes(numcodecs.LZMA(preset=0).encode(x[:300_000]) * 1
                             + numcodecs.LZMA(preset=0).encode(x[300_000:]))  # fmt: skip
    np.testing.assert_array_equal(read(path), x)  # several streams


@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 8, 16])
@pytest.mark.parametrize("n", [1, 15, 33, 1000])
def test_shuffle_of_elements_of_any_size(tmp_path, size, n):
    """Also of more bytes than vectors hold, and of fewer."""
    raw = np.random.default_rng(size).integers(0, 256, size * n, dtype="u1")
    there = numcodecs.Shuffle(elementsize=size)
    zarr.create_array(
        tmp_path / "a", shape=raw.shape, chunks=raw.shape, dtype="u1", zarr_format=2,
        filters=[there], compressors=None,
    )[...] = raw  # fmt: skip
    args = ("--codecs", f'[{{"id": "shuffle", "elementsize": {size}}}, null]', "--format", "2")
    check(run("rechunk", tmp_path / "a", tmp_path / "b", "--chunks", "-1", *args))
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "b")[...], raw)
    stored = (tmp_path / "b/0").read_bytes()
    assert stored == bytes(there.encode(raw)) == (tmp_path / "a/0").read_bytes()
