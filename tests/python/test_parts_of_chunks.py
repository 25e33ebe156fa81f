"""Small parts of chunks that are larger than the allowance, of arrays without compression."""

import re
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import cubed
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
    assert np.array_equal(zarr.open_group(tmp_path / "p.zarr")["result"][...], VALUES[300:303, 7:9])


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


@pytest.mark.parametrize("name", ["format 3", "transposed and big endian"])
def test_ranges_are_asked_of_a_server(stored, name):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Ranges, directory=stored))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/{name.replace(' ', '-')}"
        # Connections are counted: TLS and buffers of the client.
        spec = cubed.Spec(allowed_mem=2_000_000, reserved_mem=0, executor_name="single-threaded")
        _Ranges.sent = 0
        x = cubed.from_zarr(url, spec=spec)
        assert np.array_equal(x[100:110, 100:105].compute(), VALUES[100:110, 100:105])
        assert _Ranges.sent < 100_000
    finally:
        server.shutdown()
        server.server_close()


def test_chunks_that_fit_are_read_whole(stored):
    # The same bytes, with fewer requests.
    spec = cubed.Spec(allowed_mem=10_000_000, reserved_mem=0, executor_name="single-threaded")
    x = cubed.from_zarr(str(stored / "transposed"), spec=spec)
    assert x[3:13, 400].plan().total_nbytes_read == VALUES.nbytes
