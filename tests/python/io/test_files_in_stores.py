"""Files of arrays in object stores, and references to such files, are read without downloading the
files.
"""

import json
import threading
import time
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace

import cubed
import h5py
import netCDF4
import numpy as np
import pytest
import s3_server
from conftest import check
from conftest import run as run_local
from s3_server import Object, Server
from test_references import make_parquet
from test_s3 import run as run_with

X = np.random.default_rng(3).normal(size=(40, 50)).astype("f4")


@pytest.fixture
def server(monkeypatch):
    with Server() as s:
        for name, value in s.variables.items():
            monkeypatch.setenv(name, value)
        yield s
    assert not s.wrong


def made(folder):
    with h5py.File(folder / "a.h5", "w") as f:
        f.create_dataset("x", data=X, chunks=(10, 10), compression="gzip", shuffle=True)
        f["plain"] = X
    with netCDF4.Dataset(folder / "a.nc", "w", format="NETCDF3_CLASSIC") as d:
        d.createDimension("t", None)
        d.createDimension("x", 50)
        d.createVariable("x", "f4", ("t", "x"))[:] = X
        d.createVariable("y", "f4", ("t", "x"))[:] = X + 1
    check(run_local("copy", folder / "a.h5", folder / "a.zip"))
    with h5py.File(folder / "a.h5") as f:
        d = f["x"]
        refs = {".zgroup": '{"zarr_format": 2}'}
        refs["x/.zarray"] = json.dumps(
            {"zarr_format": 2, "shape": X.shape, "chunks": [10, 10], "dtype": "<f4", "order": "C"}
            | {"filters": [{"id": "shuffle", "elementsize": 4}], "fill_value": 0}
            | {"compressor": {"id": "zlib", "level": 4}}
        )
        for i in range(d.id.get_num_chunks()):
            c = d.id.get_chunk_info(i)
            key = ".".join(str(o // 10) for o in c.chunk_offset)
            refs[f"x/{key}"] = ["s3://b/d/a.h5", c.byte_offset, c.size]
    (folder / "refs.json").write_text(json.dumps(refs))
    return [p.name for p in folder.iterdir()]


def test_in_s3(server, tmp_path):
    for name in made(tmp_path):
        server.objects[f"d/{name}"] = Object((tmp_path / name).read_bytes(), {})
    want = check(run_local("eval", "mean(x*x, axis=0)", tmp_path / "a.h5", "--json")).array()
    for name in ("a.h5", "a.nc", "a.zip", "refs.json"):
        url = f"s3://b/d/{name}"
        np.testing.assert_array_equal(cubed.from_zarr(url, "x").compute(), X, err_msg=name)
        np.testing.assert_array_equal(
            cubed.from_zarr(url, "x")[3:33:7, ::-3].compute(), X[3:33:7, ::-3]
        )
        got = run_with(server, "eval", "mean(x*x, axis=0)", url, "--json", "--progress", "none")
        if name != "a.nc":  # which has other chunks
            np.testing.assert_array_equal(got.array(), want)
    np.testing.assert_array_equal(cubed.from_zarr("s3://b/d/a.h5", "plain").compute(), X)
    np.testing.assert_array_equal(cubed.from_zarr(tmp_path / "refs.json", "x").compute(), X)


def test_records_of_references_in_s3(server, tmp_path):
    x = make_parquet(tmp_path)
    for file in (tmp_path / "refs.parq").rglob("*"):
        if file.is_file():
            key = f"d/{file.relative_to(tmp_path)}"
            server.objects[key] = Object(file.read_bytes(), {})
    options = {"allow_references": [tmp_path]}
    got = cubed.from_zarr("s3://b/d/refs.parq", "x", storage_options=options)
    np.testing.assert_array_equal(got.compute(), x)
    # Each record is read when a chunk of it is wanted, and once.
    assert len([r for r in server.requests if r.key.endswith(".parq")]) == 2
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr("s3://b/d/none.parq", "x")


def test_requests_are_in_flight_together(server, tmp_path, monkeypatch):
    made(tmp_path)
    server.objects["d/a.h5"] = Object((tmp_path / "a.h5").read_bytes(), {})
    x = cubed.from_zarr("s3://b/d/a.h5", "x", spec=cubed.Spec(allowed_mem="100MB"))
    flying, most, lock = 0, 0, threading.Lock()
    wait = time.sleep

    def slow(seconds):
        nonlocal flying, most
        with lock:
            flying += 1
            most = max(most, flying)
        wait(seconds)
        with lock:
            flying -= 1

    monkeypatch.setattr(s3_server, "time", SimpleNamespace(sleep=slow, time=time.time))
    server.latency = 0.1
    before = len(server.requests)
    np.testing.assert_allclose(float(cubed.array_api.sum(x).compute()), X.sum(), rtol=1e-4)
    assert most >= 4
    # 20 chunks, and what opening the file again takes; what this process knows of a server that was
    # faster may have some of them sent twice.
    asked = {(r.op, r.headers.get("range")) for r in server.requests[before:]}
    assert len(asked) <= 20 + 8


def test_a_file_that_is_gone_is_an_error(server, tmp_path):
    made(tmp_path)
    server.objects["d/a.h5"] = Object((tmp_path / "a.h5").read_bytes(), {})
    x = cubed.from_zarr("s3://b/d/a.h5", "x")
    del server.objects["d/a.h5"]
    with pytest.raises((OSError, ValueError)):
        x.compute()


class Handler(SimpleHTTPRequestHandler):
    """Files with ranges, which the standard library's server does not know."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, body):
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        data, asked = path.read_bytes(), self.headers.get("Range")
        status, part = 200, data
        if asked:
            low, _, high = asked.removeprefix("bytes=").partition("-")
            begin = int(low) if low else max(0, len(data) - int(high))
            end = int(high) + 1 if low and high else len(data)
            status, part = 206, data[begin:end]
        self.send_response(status)
        self.send_header("Content-Length", str(len(part)))
        self.send_header("ETag", f'"{len(data)}"')
        if asked:
            span = f"bytes {begin}-{begin + len(part) - 1}/{len(data)}"
            self.send_header("Content-Range", span)
        self.end_headers()
        if body:
            self.wfile.write(part)

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)


def test_on_a_web_server(tmp_path):
    made(tmp_path)

    def handler(*args):
        return Handler(*args, directory=tmp_path)

    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        for name in ("a.h5", "a.nc", "a.zip"):
            url = f"http://127.0.0.1:{web.server_port}/{name}"
            np.testing.assert_array_equal(cubed.from_zarr(url, "x").compute(), X, err_msg=name)
        web.shutdown()
