"""Arrays in the memory of a Redis server; with a real server if one is installed."""

import contextlib
import os
import shutil
import socket
import subprocess
import threading

import cubed
import numpy as np
import pytest
from conftest import run as run_command
from real_servers import wait_for

import zarr

A = np.arange(1000.0).reshape(20, 50)
SECRET = "a-secret-password"


@pytest.fixture(scope="module")
def port():
    found = shutil.which("redis-server")
    if not found:
        pytest.skip("there is no redis-server on the PATH")
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    args = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", SECRET]
    process = subprocess.Popen([found, *args], stdout=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        yield port
    finally:
        process.terminate()
        process.wait()


@pytest.fixture
def top(port, environment):
    environment.setenv("REDIS_PASSWORD", SECRET)
    return f"redis://127.0.0.1:{port}/1"


def run(*args, code=0, **variables):
    r = run_command(*args, env={**os.environ, **variables}, timeout=60)
    assert r.code == code, r.err
    assert SECRET not in r.out + r.err
    return r.out + r.err


def test_arrays(top):
    x = cubed.from_array(A, chunks=(7, 9))
    for name in ("a", "ä b+c/d%25e=&'*[x]?"):
        url = f"{top}/arrays/{name}"
        cubed.to_zarr(x, url)
        cubed.to_zarr(cubed.from_zarr(url).rechunk((20, 20)) + 1, url + "2")
        np.testing.assert_array_equal(cubed.from_zarr(url + "2").compute(), A + 1)
        cubed.to_zarr(cubed.from_zarr(url) * 2, url)  # in its own place
        np.testing.assert_array_equal(cubed.from_zarr(url)[3:9, ::-2].compute(), 2 * A[3:9, ::-2])
    out = run("info", f"{top}/arrays")
    assert "18/18" in out and "3/3" in out and " 0 B" not in out
    assert "nothing is left over" in run("clean", top)
    with pytest.raises(FileExistsError):
        cubed.to_zarr(x, f"{top}/arrays/a", overwrite=False)
    # Another database of the same server.
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr(f"{top[:-1]}2/arrays/a")


def test_shards(top):
    codec = {
        "name": "sharding_indexed",
        "configuration": {
            "chunk_shape": [5, 10],
            "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
            "index_codecs": [
                {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"},
            ],
            "index_location": "end",
        },
    }  # fmt: skip
    spec = cubed.Spec(zarr_compressor=[codec])
    cubed.to_zarr(cubed.from_array(A, chunks=(20, 50), spec=spec), f"{top}/shards")
    y = cubed.from_zarr(f"{top}/shards")
    np.testing.assert_array_equal(y[3:12, 7:31].compute(), A[3:12, 7:31])
    np.testing.assert_array_equal(y.compute(), A)


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_work_directories(top, tmp_path, executor):
    a = np.random.default_rng(1).random((100, 100))
    z = zarr.create_array(tmp_path / "a.zarr", shape=a.shape, chunks=(10, 100), dtype="f8")
    z[:] = a
    options = {"expiry": 3600}
    spec = cubed.Spec(
        f"{top}/work", allowed_mem="200MB", executor_name=executor, storage_options=options
    )
    x = cubed.from_zarr(tmp_path / "a.zarr", spec=spec)
    y = cubed.cumulative_sum(cubed.sum(x, axis=1)) + 1
    np.testing.assert_allclose(y.compute(), np.cumsum(a.sum(axis=1)) + 1)
    assert "nothing is left over" in run("clean", f"{top}/work")


def ask(port, *args):
    """What the server says to a command: without the library."""
    with socket.create_connection(("127.0.0.1", port)) as s:
        for command in (["AUTH", SECRET], ["SELECT", "1"], args):
            s.sendall(f"*{len(command)}\r\n".encode())
            s.sendall(b"".join(f"${len(a)}\r\n{a}\r\n".encode() for a in command))
            said = s.recv(65536).decode()
    return said


def test_expiry(top, port):
    """What an array's description is ends before its chunks do."""
    run("eval", "ones((4,))", "--out", f"{top}/e/a.zarr", "--progress", "none", REDIS_EXPIRY="600")
    document = int(ask(port, "PTTL", "e/a.zarr/zarr.json")[1:])
    chunk = int(ask(port, "PTTL", "e/a.zarr/c/0")[1:])
    assert 200_000 < document <= 300_000 < 500_000 < chunk <= 600_000
    run("eval", "ones((4,))", "--out", f"{top}/e/b.zarr", "--progress", "none")
    assert ask(port, "PTTL", "e/b.zarr/c/0") == ":-1\r\n"


def test_errors(top, port):
    out = f"{top}/x.zarr"
    for variables, text in [
        ({"REDIS_PASSWORD": ""}, "NOAUTH Authentication required.: set REDIS_PASSWORD"),
        ({"REDIS_PASSWORD": "other"}, "WRONGPASS"),
        ({"REDIS_EXPIRY": "soon"}, 'REDIS_EXPIRY is "soon", expected seconds'),
        ({"REDIS_TIMEOUT": "1e9"}, 'REDIS_TIMEOUT is "1e9", expected seconds, at least 0.001 and'),
    ]:
        said = run("eval", "ones((3,))", "--out", out, code=1, **variables)
        assert text in said and out in said
    run("info", "redis://127.0.0.1:9/x", code=1)
    ask(port, "SET", "full/a", "x" * 9)
    ask(port, "CONFIG", "SET", "maxmemory", "1")
    try:
        said = run("eval", "ones((3,))", "--out", out, code=1)
        assert "the server's memory is full" in said
    finally:
        ask(port, "CONFIG", "SET", "maxmemory", "0")


@pytest.mark.parametrize("after", [0, 1, 3, 7, 20])
def test_connections_that_break(top, port, after):
    """Each but the first ones is closed after some replies: requests are made again."""
    listener = socket.create_server(("127.0.0.1", 0))
    count = [0]

    def pump(a, b, breaks):
        try:
            while data := a.recv(65536):
                if breaks:
                    count[0] += 1
                    if count[0] % 23 == after:
                        break
                b.sendall(data)
        except OSError:
            pass
        for s in (a, b):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def serve():
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", port))
            for args in ((client, server, False), (server, client, True)):
                threading.Thread(target=pump, args=args, daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()
    url = f"redis://127.0.0.1:{listener.getsockname()[1]}/1/broken{after}"
    try:
        cubed.to_zarr(cubed.from_array(A, chunks=(7, 9)), url)
        np.testing.assert_array_equal(cubed.from_zarr(url).compute(), A)
    finally:
        listener.close()
