"""Small parts of chunks that are larger than the allowed memory."""

import contextlib
import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cubed
import h5py
import numcodecs
import numpy as np
import pytest
from conftest import check, run

import zarr

SHAPE = (700, 500)
LIMITS = {"allowed_mem": 400_000, "reserved_mem": 0}
#: Of 2.8 MB each: more than what is allowed.
ARRAYS = {
    "format 3": {"compressors": None},
    "format 2": {"compressors": None, "zarr_format": 2},
    "columns first": {"compressors": None, "zarr_format": 2, "order": "F"},
    "big endian": {
        "compressors": None,
        "serializer": zarr.codecs.BytesCodec(endian="big"),
    },
    "transposed": {
        "compressors": None,
        "filters": [zarr.codecs.TransposeCodec(order=(1, 0))],
    },
    "transposed and big endian": {
        "compressors": None,
        "filters": [zarr.codecs.TransposeCodec(order=(1, 0))],
        "serializer": zarr.codecs.BytesCodec(endian="big"),
    },
}
PARTS = [
    np.s_[3:13, 400],
    np.s_[600, 3:13],
    np.s_[100:110, 100:105],
    np.s_[5:650:200, 490:],
    np.s_[300:290:-1, 20:10:-2],
]
VALUES = np.random.default_rng(33).standard_normal(SHAPE)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    for name, how in ARRAYS.items():
        z = zarr.create_array(
            folder / name.replace(" ", "-"), shape=SHAPE, chunks=SHAPE, dtype="f8", **how
        )
        z[...] = VALUES
    return folder


def _spec(executor="single-threaded"):
    return cubed.Spec(**LIMITS, executor_name=executor)


@pytest.mark.parametrize("name", ARRAYS)
def test_parts_are_read_within_the_allowance(stored, name):
    x = cubed.from_zarr(str(stored / name.replace(" ", "-")), spec=_spec())
    for part in PARTS:
        assert np.array_equal(x[part].compute(), VALUES[part]), part
        assert np.array_equal((x[part].T * 2 + 1).compute(), VALUES[part].T * 2 + 1), part
        plan = x[part].plan()
        assert plan.max_projected_mem <= LIMITS["allowed_mem"]
    with pytest.raises(MemoryError, match="allow at least"):
        cubed.rechunk(x + 1, (100, 500)).plan()


@pytest.mark.parametrize("name", ARRAYS)
def test_parts_are_written(stored, tmp_path, name):
    source = stored / name.replace(" ", "-")
    limits = ("--allowed-mem", LIMITS["allowed_mem"], "--reserved-mem", 0)
    out = tmp_path / "part.zarr"
    check(run("eval", "x[300:310, 7:9]", "--in", f"x={source}", "--out", out, *limits))
    assert np.array_equal(zarr.open_array(out)[...], VALUES[300:310, 7:9])


@pytest.mark.parametrize("format", ["NETCDF3_64BIT_OFFSET", "NETCDF4"])
def test_variables_of_files_are_read_in_parts(tmp_path, format):
    netcdf = pytest.importorskip("netCDF4", reason="netCDF4 writes the file")
    path = tmp_path / "v.nc"
    with netcdf.Dataset(path, "w", format=format) as d:
        for name, n in zip("yx", SHAPE, strict=True):
            d.createDimension(name, n)
        more = {"contiguous": True} if format == "NETCDF4" else {}
        d.createVariable("v", "f8", ("y", "x"), **more)[:] = VALUES
    limits = ("--allowed-mem", LIMITS["allowed_mem"], "--reserved-mem", 0)
    r = run("eval", "v[300:303, 7:9]", path, "--out", tmp_path / "p.zarr", *limits)
    assert r.code == 0, r.err
    assert np.array_equal(zarr.open_group(tmp_path / "p.zarr")["v"][...], VALUES[300:303, 7:9])


class _Ranges(SimpleHTTPRequestHandler):
    """Serves ranges, which Python's own server does not, and counts bytes."""

    sent = 0

    def do_GET(self):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        size = len(data)
        if found := re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range") or ""):
            first = int(found[1]) if found[1] else size - int(found[2])
            last = min(int(found[2]), size - 1) if found[1] and found[2] else size - 1
            data = data[first : last + 1]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{last}/{size}")
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("ETag", '"1"')
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)
            type(self).sent += len(data)

    do_HEAD = do_GET

    def log_message(self, *args):
        pass


@contextlib.contextmanager
def _serving(folder):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Ranges, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("name", ["format 3", "transposed and big endian"])
def test_ranges_are_asked_of_a_server(stored, name):
    with _serving(stored) as url:
        # Connections are counted: TLS and buffers of the client.
        spec = cubed.Spec(allowed_mem=2_000_000, reserved_mem=0, executor_name="single-threaded")
        _Ranges.sent = 0
        x = cubed.from_zarr(f"{url}/{name.replace(' ', '-')}", spec=spec)
        assert np.array_equal(x[100:110, 100:105].compute(), VALUES[100:110, 100:105])
        assert _Ranges.sent < 100_000


#: Of 24 MB each. A part is read through less than 13 MB, of blosc through less than 20 MB.
LONG = (1500, 2000)
LONG_VALUES = (np.arange(3_000_000) * 7919 % 10_007).reshape(LONG) / 8
ENCODED = {
    "zstd": {"compressors": zarr.codecs.ZstdCodec(level=1)},
    "zstd with checksums": {
        "compressors": [zarr.codecs.ZstdCodec(level=1, checksum=True), zarr.codecs.Crc32cCodec()]
    },
    "gzip": {"compressors": zarr.codecs.GzipCodec(level=1)},
    "lz4": {"compressors": numcodecs.LZ4(), "zarr_format": 2},
    "zlib of shuffled bytes": {
        "compressors": numcodecs.Zlib(1),
        "filters": [numcodecs.Shuffle(8), numcodecs.Fletcher32()],
        "zarr_format": 2,
    },
    "columns first and big endian": {
        "compressors": numcodecs.Zstd(1),
        "dtype": ">f8",
        "order": "F",
        "zarr_format": 2,
    },
    "blosc": {"compressors": zarr.codecs.BloscCodec(cname="lz4", clevel=1)},
    "checksum": {"compressors": zarr.codecs.Crc32cCodec()},
    "checksum in front": {
        "compressors": None,
        "filters": [numcodecs.CRC32(location="start")],
        "zarr_format": 2,
    },
}
SHARDED = {
    "shards": {"compressors": None},
    "shards, transposed": {
        "compressors": None,
        "filters": [zarr.codecs.TransposeCodec(order=(1, 0))],
    },
    "shards, zstd": {"compressors": zarr.codecs.ZstdCodec(level=1)},
    "shards, checksum": {"compressors": zarr.codecs.Crc32cCodec()},
    "shards, blosc": {"compressors": zarr.codecs.BloscCodec(cname="lz4", clevel=1)},
}
META = {"zarr.json", ".zarray", ".zattrs"}
LONG_PARTS = [np.s_[3:13, 400], np.s_[5:1300:600, 1900:], np.s_[300:290:-1, 20:10:-2]]


def _put_long(path, how):
    z = zarr.create_array(path, shape=LONG, chunks=LONG, **({"dtype": "f8"} | how))
    z[...] = LONG_VALUES


def _long_spec(name, **more):
    limit = 20_000_000 if "blosc" in name else 13_000_000
    return cubed.Spec(allowed_mem=limit, reserved_mem=0, **more)


@pytest.mark.parametrize("name", [*ENCODED, *SHARDED])
def test_parts_of_encoded_chunks_are_read_within_the_allowance(tmp_path, name):
    path = tmp_path / "x.zarr"
    if name in ENCODED:
        _put_long(path, ENCODED[name])
    else:
        # Of the two chunks of the shard the second is read.
        both = {"shape": (2 * LONG[0], LONG[1]), "shards": (2 * LONG[0], LONG[1]), "dtype": "f8"}
        z = zarr.create_array(path, chunks=LONG, **both, **SHARDED[name])
        z[...] = np.concatenate([LONG_VALUES + 1, LONG_VALUES])
    spec = _long_spec(name, executor_name="single-threaded")
    x = cubed.from_zarr(str(path), spec=spec)[-LONG[0] :]
    for part in LONG_PARTS:
        assert x[part].plan().max_projected_mem <= spec.allowed_mem
        assert np.array_equal(x[part].compute(), LONG_VALUES[part]), part


def test_parts_of_chunks_of_hdf5(tmp_path):
    path = tmp_path / "v.h5"
    with h5py.File(path, "w") as f:
        f.create_dataset(
            "v", data=LONG_VALUES, chunks=LONG, compression=1, shuffle=True, fletcher32=True
        )
    limits = ("--allowed-mem", 13_000_000, "--reserved-mem", 0)
    out = tmp_path / "p.zarr"
    check(run("eval", "v[1300:1303, 7:9]", path, "--out", out, *limits))
    assert np.array_equal(zarr.open_group(out)["v"][...], LONG_VALUES[1300:1303, 7:9])


@pytest.mark.parametrize("name", ["checksum", "zstd with checksums", "gzip", "lz4"])
def test_damage_beside_the_part_is_found(tmp_path, name):
    """Of chunks that are decoded from end to end."""
    path = tmp_path / "x.zarr"
    _put_long(path, ENCODED[name])
    (chunk,) = (f for f in path.rglob("*") if f.is_file() and f.name not in META)
    data = chunk.read_bytes()
    x = cubed.from_zarr(str(path), spec=_long_spec(name))[3:13, 400]
    flipped = bytearray(data)
    flipped[-2000] ^= 1
    # LZ4 has no checksum: a byte that differs may be another value, beside the part.
    damaged = {"cut": data[:-100], "longer": data + b"x"} | (
        {} if name == "lz4" else {"flipped": bytes(flipped)}
    )
    for wrong in damaged.values():
        chunk.write_bytes(wrong)
        with pytest.raises((OSError, ValueError), match=r"chunk (c/)?0[/.]0"):
            x.compute()


def test_a_chunk_that_is_read_too_often_in_parts_is_refused(tmp_path):
    """All of the array would be decoded once for each of its tasks."""
    path = tmp_path / "x.zarr"
    _put_long(path, ENCODED["zstd"])
    x = cubed.from_zarr(str(path), spec=_long_spec("zstd"))
    with pytest.raises(MemoryError, match="allow at least"):
        cubed.rechunk(x, (50, 50)).plan()


def test_codecs_without_parts_are_refused(tmp_path):
    path = tmp_path / "x.zarr"
    _put_long(path, {"filters": [numcodecs.Delta("f8")], "compressors": None, "zarr_format": 2})
    x = cubed.from_zarr(str(path), spec=_long_spec("delta"))
    with pytest.raises(MemoryError, match="allow at least"):
        x[3:13, 400].plan()


def test_streams_of_a_server(tmp_path):
    """Encoded bytes are asked for one MiB after another, all of one version."""
    _put_long(tmp_path / "x.zarr", ENCODED["zstd"])
    with _serving(tmp_path) as url:
        x = cubed.from_zarr(f"{url}/x.zarr", spec=_long_spec("blosc"))
        assert np.array_equal(x[3:13, 400].compute(), LONG_VALUES[3:13, 400])


def test_chunks_that_fit_are_read_whole(stored):
    # The same bytes, with fewer requests.
    spec = cubed.Spec(allowed_mem=10_000_000, reserved_mem=0, executor_name="single-threaded")
    x = cubed.from_zarr(str(stored / "transposed"), spec=spec)
    assert x[3:13, 400].plan().total_nbytes_read == VALUES.nbytes


@pytest.mark.parametrize("name", ["raw", "blosc", "zstd"])
def test_few_elements_need_no_whole_chunks(tmp_path, name):
    codec = {
        "raw": None,
        "blosc": zarr.codecs.BloscCodec(cname="lz4", typesize=8),
        "zstd": zarr.codecs.ZstdCodec(),
    }[name]
    values = np.arange(1_000_000.0).reshape(1000, 1000)
    z = zarr.create_array(
        tmp_path / "x.zarr", shape=values.shape, chunks=(500, 500), dtype="f8", compressors=codec
    )
    z[...] = values
    x, chunk = cubed.from_zarr(str(tmp_path / "x.zarr")), 500 * 500 * 8
    parts = [
        (np.s_[5, 3], {"raw": 8, "blosc": 8, "zstd": chunk}),
        (np.s_[7], {"raw": 8000, "blosc": 8000, "zstd": 2 * chunk}),
        (np.s_[900:, 0], {"raw": chunk, "blosc": 800, "zstd": chunk}),
        (np.s_[900:, :200], {"raw": chunk, "blosc": chunk, "zstd": chunk}),
    ]
    for part, bytes_read in parts:
        assert x[part].plan().total_nbytes_read == bytes_read[name], part
        assert np.array_equal(x[part].compute(), values[part]), part
    # Chunks that several tasks read are decoded once, and kept.
    assert x.rechunk((1, 1000)).plan().total_nbytes_read == values.nbytes


@pytest.mark.parametrize("shuffle", ["noshuffle", "shuffle", "bitshuffle"])
@pytest.mark.parametrize("cname", ["lz4", "zstd", "blosclz"])
@pytest.mark.parametrize("dtype", ["i2", "f4", "f8", "c16", ">f8"])
def test_runs_of_blosc_blocks(tmp_path, cname, shuffle, dtype):
    """Columns, planes and boxes, whose runs lie in few or in all codec blocks of a chunk."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 90, (40, 50, 600)).astype(dtype)
    codec = numcodecs.Blosc(
        cname=cname,
        shuffle=["noshuffle", "shuffle", "bitshuffle"].index(shuffle),
        blocksize=int(rng.integers(1, 9)) * 10_000,
    )
    z = zarr.create_array(
        tmp_path / "x.zarr",
        shape=values.shape,
        chunks=(30, 50, 600),
        dtype=dtype,
        compressors=codec,
        zarr_format=2,
    )
    z[...] = values
    for workers in 1, 2:
        spec = cubed.Spec(
            allowed_mem=100_000_000,
            reserved_mem=0,
            executor_name="threads",
            executor_options={"max_workers": workers},
        )
        x = cubed.from_zarr(str(tmp_path / "x.zarr"), spec=spec)
        parts = [
            np.s_[:, :, 599],
            np.s_[3:38, 7, 5],
            np.s_[:, 20:30, 100:103],
            np.s_[29:31, 49, 590:],
            np.s_[::-1, 1:, 0],
            np.s_[39, 49, 599],
        ]
        for part in parts:
            plan = x[part].plan()
            # Chunks of foreign byte order are read whole: their bytes are swapped after decoding.
            assert (plan.total_nbytes_read < values.nbytes / 8) == (dtype != ">f8"), part
            got = x[part].compute()
            assert got.dtype == values.dtype.newbyteorder("=")
            assert np.array_equal(got, values[part]), part
