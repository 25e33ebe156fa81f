"""Codecs of numcodecs: what it writes is read, and the other way round."""

import numcodecs
import numpy as np
import pytest
from conftest import check, run
from test_storage import DTYPES, SHAPES, read, values

import zarr

V2 = {
    "lz4": numcodecs.LZ4(),
    "lz4-fast": numcodecs.LZ4(acceleration=50),
    "bz2": numcodecs.BZ2(level=1),
    "bz2-9": numcodecs.BZ2(level=9),
}
BYTES = '{"name": "bytes", "configuration": {"endian": "little"}}'
WRITE = {
    2: [
        '[{"id": "shuffle", "elementsize": 8}, {"id": "zlib", "level": 1}]',
        '[{"id": "shuffle", "elementsize": 4}, null]',
        '{"id": "lz4", "acceleration": 1}',
        '{"id": "bz2", "level": 9}',
    ],
    3: [
        f'[{BYTES}, {{"name": "numcodecs.shuffle", "configuration": {{"elementsize": 8}}}}]',
        f'[{BYTES}, {{"name": "numcodecs.lz4", "configuration": {{"acceleration": 1}}}}]',
        f'[{BYTES}, {{"name": "numcodecs.bz2", "configuration": {{"level": 1}}}}]',
    ],
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("codec", V2)
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_read(tmp_path, codec, zarr_format):
    if zarr_format == 3:
        z3 = pytest.importorskip("numcodecs.zarr3")
        conf = {k: v for k, v in V2[codec].get_config().items() if k != "id"}
        compressor = {"LZ4": z3.LZ4, "BZ2": z3.BZ2}[type(V2[codec]).__name__](**conf)
    else:
        compressor = V2[codec]
    for k, dtype in enumerate(DTYPES):
        shape, chunks = SHAPES[k % len(SHAPES)]
        x = values(shape, dtype)
        z = zarr.create_array(
            tmp_path / dtype,
            shape=shape,
            chunks=chunks,
            zarr_format=zarr_format,
            dtype=dtype,
            compressors=compressor,
        )
        z[...] = x
        np.testing.assert_array_equal(read(tmp_path / dtype), x)


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
