"""Objects that are put in S3 in parts: whole or not there, and nothing that is paid for stays."""

import os
import signal
import subprocess
import time

import cubed
import numpy as np
import pytest
from conftest import BIN
from s3_server import KEY, SECRET, Object, Server, Upload, first, sometimes
from test_s3 import run

import zarr

MIB = 1 << 20
#: A chunk of 12 MiB is three parts: the service takes none of less than 5 MiB but the last.
A = np.random.default_rng(1).integers(0, 1 << 60, 2 * 12 * MIB // 8)


@pytest.fixture
def server(monkeypatch):
    for name in list(os.environ):
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    with Server() as s:
        yield s
    assert not s.wrong


def options(server, **more):
    where = {"endpoint_url": server.endpoint, "region_name": server.region}
    parts = {"multipart_threshold": "8MiB", "multipart_chunksize": 5 * MIB}
    return {"key": KEY, "secret": SECRET, **where, **parts, **more}


def spec(server, **more):
    return cubed.Spec(
        allowed_mem="400MB", zarr_compressor=None, storage_options=options(server, **more)
    )


def write(server, target="s3://b/x/a.zarr", **more):
    x = cubed.from_array(A, chunks=A.size // 2, spec=spec(server, **more))
    cubed.to_zarr(x, target)


def check(server):
    chunks = {k: o.data for k, o in server.objects.items() if "/c/" in k}
    assert chunks == {
        f"x/a.zarr/c/{i}": A[i * A.size // 2 :][: A.size // 2].tobytes() for i in (0, 1)
    }
    assert not server.uploads


def test_parts(server):
    write(server)
    check(server)
    assert [server.count(op) for op in ("create", "part", "complete", "abort")] == [2, 6, 2, 0]
    sizes = {int(r.headers["content-length"]) for r in server.requests if r.op == "part"}
    assert sizes == {5 * MIB, 2 * MIB}
    np.testing.assert_array_equal(
        cubed.from_zarr("s3://b/x/a.zarr", spec=spec(server)).compute(), A
    )
    write(server)  # in the place of the other one
    check(server)
    server.objects.clear()
    server.requests.clear()
    write(server, multipart_threshold="12MiB")  # they are not longer than that
    check(server)
    assert [server.count(op) for op in ("create", "part", "complete")] == [0, 0, 0]


@pytest.mark.parametrize(
    "fault", ["500", "503", "reset", "nothing", "lost", "failed complete", "late"]
)
def test_faults_that_pass(server, fault):
    server.fault = sometimes(0.25, 3, [fault])
    write(server)
    server.fault = None
    # What a lost reply began is not known to who asked; nothing else stays.
    if fault == "lost":
        server.uploads.clear()
    check(server)


@pytest.mark.parametrize("op", ["create", "part", "complete"])
def test_what_fails_is_aborted(server, op):
    seen = []

    def fault(request):
        if request.op == op:
            seen.append(request)
            return "403" if op != "part" or len(seen) == 2 else None
        return None

    server.fault = fault
    with pytest.raises(OSError, match="s3://b/x/a.zarr: put .*c/[01]: .*403 AccessDenied"):
        write(server)
    assert not server.uploads and not server.objects
    assert (server.count("abort") > 0) == (op != "create")


def test_the_reply_to_the_end_is_lost(server):
    """What the retry does not find any more is complete, and its own."""
    server.fault = first(2, "lost", "complete")
    write(server)
    check(server)
    assert server.count("head") >= 2


def test_ended_by_somebody_else(server):
    def end(request):
        if request.op == "complete":
            server.uploads.pop(request.query["uploadId"], None)

    server.fault = end
    with pytest.raises(OSError, match="the upload was ended by somebody else"):
        write(server)


def leave(server, key, age):
    server.uploads[f"left/{key}"] = Upload(key, {}, time.time() - age)


def test_clean(server):
    """Of writers that are not known what is a day old, in pages; nothing else, and not beside."""
    day = 24 * 3600
    for i in range(12):
        leave(server, f"x/ä b+c/a.zarr/c/{i}", day + 60)
    leave(server, "x/a.zarr/c/0", 3600)
    leave(server, "xy/a.zarr/c/0", 2 * day)
    write(server)
    server.requests.clear()
    r = run(server, "clean", "s3://b/x", "--dry-run")
    assert r.out.count("would remove an unfinished upload of s3://b/x: ä b+c/a.zarr/c/") == 12
    assert server.count("abort") == 0 and server.count("uploads") == 3
    r = run(server, "clean", "s3://b/x")
    assert r.out.count("removed an unfinished upload of") == 12
    assert {u.key for u in server.uploads.values()} == {"x/a.zarr/c/0", "xy/a.zarr/c/0"}
    server.uploads.pop("left/x/a.zarr/c/0")
    server.uploads.pop("left/xy/a.zarr/c/0")
    assert "nothing is left over" in run(server, "clean", "s3://b").out
    check(server)
    server.fault = first(1, "403", "uploads")
    r = run(server, "clean", "s3://b", code=1)
    assert "s3://b: list uploads of: the reply is 403 AccessDenied" in r.err


def test_killed(server, tmp_path):
    """What a run that is gone had begun is removed at once, with the rest of it."""
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=A.shape, chunks=(A.size // 2,), dtype=A.dtype, compressors=None
    )
    z[:] = A
    named = "\n".join(f"s3://b {k} {v}" for k, v in options(server).items() if "multipart" in k)
    env = {
        **os.environ, **server.variables,
        "CUBED_STORAGE_OPTIONS": named.replace(":", "%3A").replace("/", "%2F") + "\n",
    }  # fmt: skip
    server.fault = lambda r: "stall" if r.op == "part" and r.query["partNumber"] == "3" else None
    args = ("eval", "a + 1", "--in", f"a={tmp_path / 'a.zarr'}", "--out", "s3://b/x/a.zarr")
    p = subprocess.Popen(
        [
            BIN,
            *args,
            "--progress",
            "none",
            "--codecs",
            '[{"name": "bytes", "configuration": {"endian": "little"}}]',
        ],
        env=env,
    )
    try:
        for _ in range(600):
            if server.count("part") >= 3:
                break
            assert p.poll() is None
            time.sleep(0.05)
        assert server.uploads
    finally:
        p.send_signal(signal.SIGKILL)
        p.wait()
    server.fault = None
    server.objects["x/b.zarr/zarr.json"] = Object(b"{}", {})
    leave(server, "x/b.zarr/c/0", 60)
    r = run(server, "clean", "s3://b/x")
    assert "removed an unfinished upload of s3://b/x: a.zarr/c/" in r.out
    assert {u.key for u in server.uploads.values()} == {"x/b.zarr/c/0"}
    assert list(server.objects) == ["x/b.zarr/zarr.json"]


@pytest.mark.parametrize(
    "name, value", [("multipart_chunksize", "1MB"), ("multipart_threshold", "6GiB")]
)
def test_wrong_sizes(server, name, value):
    with pytest.raises(ValueError, match=f'option {name} is "{value}", expected bytes from'):
        write(server, **{name: value})
