"""Objects that are put in parts are complete or missing, and no unfinished upload stays."""

import os
import signal
import subprocess
import time

import cubed
import numpy as np
import pytest
from cloud_servers import AzureServer, GoogleServer, GoogleXmlServer
from conftest import BIN, NIGHTLY, Result
from conftest import run as run_command
from real_servers import running
from s3_server import Object, Server, Upload, first, sometimes

import zarr

MIB = 1 << 20
#: A chunk of 12 MiB is three parts: the service takes none of less than 5 MiB but the last.
A = np.random.default_rng(1).integers(0, 1 << 60, 2 * 12 * MIB // 8)
SERVERS = [Server, GoogleServer, GoogleXmlServer, AzureServer]


@pytest.fixture(params=SERVERS)
def server(request, environment):
    with request.param() as s:
        for name, value in s.variables.items():
            environment.setenv(name, value)
        yield s
    assert not s.wrong


#: Of services whose uploads are begun, aborted and listed.
begun = pytest.mark.parametrize("server", SERVERS[:3], indirect=True)


def options(**more):
    return {"multipart_threshold": "8MiB", "multipart_chunksize": 5 * MIB, **more}


def spec(**more):
    return cubed.Spec(allowed_mem="400MB", zarr_compressor=None, storage_options=options(**more))


def write(server, **more):
    x = cubed.from_array(A, chunks=A.size // 2, spec=spec(**more))
    cubed.to_zarr(x, f"{server.scheme}://b/x/a.zarr")


def read(server, **more):
    return cubed.from_zarr(f"{server.scheme}://b/x/a.zarr", spec=spec(**more)).compute()


def run(*args, code=0, **variables) -> Result:
    r = run_command(*args, env={**os.environ, **variables}, timeout=60)
    assert r.code == code, r.err
    return r


def named_options(server):
    """As processes have them from each other: an emulator of Google's has parts if it is said."""
    named = "\n".join(f"{server.scheme}://b {k} {v}" for k, v in options().items())
    return {"CUBED_STORAGE_OPTIONS": named.replace(":", "%3A").replace("/", "%2F") + "\n"}


def check(server):
    chunks = {k: o.data for k, o in server.objects.items() if "/c/" in k}
    assert chunks == {
        f"x/a.zarr/c/{i}": A[i * A.size // 2 :][: A.size // 2].tobytes() for i in (0, 1)
    }
    assert not server.uploads


def test_parts(server):
    write(server)
    check(server)
    ops = [server.count(op) for op in ("create", "part", "complete", "abort")]
    assert ops == [0 if server.scheme == "az" else 2, 6, 2, 0]
    sizes = {int(r.headers["content-length"]) for r in server.requests if r.op == "part"}
    assert sizes == {5 * MIB, 2 * MIB}
    np.testing.assert_array_equal(read(server), A)
    write(server)  # in the place of the other one
    check(server)
    server.objects.clear()
    server.requests.clear()
    write(server, multipart_threshold="12MiB")  # they are not longer than that
    check(server)
    assert [server.count(op) for op in ("create", "part", "complete")] == [0, 0, 0]


def test_requests_are_planned(server):
    """As the options have it, parts are counted."""
    x = cubed.from_array(A, chunks=A.size // 2, spec=spec())
    lazy = cubed.to_zarr(x, f"{server.scheme}://b/x/a.zarr", compute=False)
    (service,) = lazy.plan().traffic()
    cubed.compute(lazy)
    asked = [r for r in server.requests if r.op in ("create", "part", "complete", "put")]
    assert len(asked) <= 1.05 * service["puts"] and service["puts"] <= len(asked) + 8


def test_damaged_on_the_way(server):
    """What was put in parts has a checksum of its all, and is read again until it comes whole."""
    write(server)
    server.requests.clear()
    chunks = [k for k in server.objects if "/c/" in k]
    server.fault = damage_chunks(2)
    np.testing.assert_array_equal(read(server), A)
    assert sum(r.key in chunks for r in server.requests) >= 4


# The same code for all, which waits for many seconds between its tries.
@pytest.mark.parametrize("server", SERVERS if NIGHTLY else SERVERS[:1], indirect=True)
def test_damaged_whenever_it_is_read(server):
    write(server)
    server.fault = damage_chunks(100)  # another process: many retries use up what this one has
    r = run("eval", "sum(a)", "--in", f"a={server.scheme}://b/x/a.zarr", code=1)
    assert "the bytes do not have the checksum that the store has for them" in r.err


def damage_chunks(n):
    left = [n]

    def fault(request):
        if request.op == "get" and "/c/" in request.key and left[0]:
            left[0] -= 1
            return "damage"
        return None

    return fault


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
    if server.scheme == "az" and op == "create":
        pytest.skip("uploads of Azure are not begun")
    seen = []

    def fault(request):
        if request.op == op:
            seen.append(request)
            return "403" if op != "part" or len(seen) == 2 else None
        return None

    server.fault = fault
    with pytest.raises(OSError, match="://b/x/a.zarr: put .*c/[01]: .*403 AccessDenied"):
        write(server)
    assert not server.uploads and not server.objects
    assert (server.count("abort") > 0) == (op != "create" and server.scheme != "az")
    # The service deletes blocks of no blob after a week.
    assert bool(server.blocks) == (server.scheme == "az")


def test_the_reply_to_the_end_is_lost(server):
    """What the retry does not find any more is complete, and its own."""
    server.fault = first(2, "lost", "complete")
    write(server)
    check(server)
    if server.scheme != "az":  # which finds the blocks in the blob, and puts the same again
        assert server.count("head") >= 2


def end_uploads(server, times):
    def end(request):
        if request.op == "complete" and times:
            times.pop()
            server.uploads.pop(request.query.get("uploadId"), None)
            server.blocks.pop(request.key, None)

    return end


def test_ended_by_somebody_else(server):
    """As a rule of the bucket does, or another writer of an object of Azure: it is begun anew."""
    server.fault = end_uploads(server, [1])
    write(server)
    check(server)
    server.fault = end_uploads(server, [1] * 100)
    with pytest.raises(OSError, match="ended the upload"):
        write(server)


def leave(server, key, age):
    server.uploads[f"left/{key}"] = Upload(key, {}, time.time() - age)


@begun
def test_clean(server):
    """Of writers that are not known what is a day old, in pages; nothing else, and not beside."""
    day = 24 * 3600
    for i in range(12):
        leave(server, f"x/ä b+c/a.zarr/c/{i}", day + 60)
    leave(server, "x/a.zarr/c/0", 3600)
    leave(server, "xy/a.zarr/c/0", 2 * day)
    write(server)
    server.requests.clear()
    r = run("clean", f"{server.scheme}://b/x", "--dry-run", **named_options(server))
    assert (
        r.out.count(f"would remove an unfinished upload of {server.scheme}://b/x: ä b+c/a.zarr/c/")
        == 12
    )
    assert server.count("abort") == 0 and server.count("uploads") == 3
    r = run("clean", f"{server.scheme}://b/x", **named_options(server))
    assert r.out.count("removed an unfinished upload of") == 12
    assert {u.key for u in server.uploads.values()} == {"x/a.zarr/c/0", "xy/a.zarr/c/0"}
    server.uploads.pop("left/x/a.zarr/c/0")
    server.uploads.pop("left/xy/a.zarr/c/0")
    assert (
        "nothing is left over" in run("clean", f"{server.scheme}://b", **named_options(server)).out
    )
    check(server)
    server.fault = first(1, "403", "uploads")
    r = run("clean", f"{server.scheme}://b", code=1, **named_options(server))
    assert f"{server.scheme}://b: list uploads of: the reply is 403 AccessDenied" in r.err


@begun
def test_killed(server, tmp_path):
    """What a run that is gone had begun is removed at once, with the rest of it."""
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=A.shape, chunks=(A.size // 2,), dtype=A.dtype, compressors=None
    )
    z[:] = A
    env = os.environ | named_options(server)
    server.fault = lambda r: "stall" if r.op == "part" and r.query["partNumber"] == "3" else None
    args = (
        "eval",
        "a + 1",
        "--in",
        f"a={tmp_path / 'a.zarr'}",
        "--out",
        f"{server.scheme}://b/x/a.zarr",
    )
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
    r = run("clean", f"{server.scheme}://b/x", **named_options(server))
    assert f"removed an unfinished upload of {server.scheme}://b/x: a.zarr/c/" in r.out
    assert {u.key for u in server.uploads.values()} == {"x/b.zarr/c/0"}
    assert list(server.objects) == ["x/b.zarr/zarr.json"]


@pytest.mark.parametrize(
    "name, value", [("multipart_chunksize", "1MB"), ("multipart_threshold", "6GiB")]
)
def test_wrong_sizes(server, name, value):
    with pytest.raises(ValueError, match=f'option {name} is "{value}", expected bytes from'):
        write(server, **{name: value})


@pytest.mark.parametrize("name", ["moto", "versitygw", "azurite"])
def test_real_servers(environment, tmp_path, name):
    """fake-gcs-server has no uploads in parts but by its JSON interface, and is asked for none."""
    with running(name, tmp_path, environment) as url:
        x = cubed.from_array(A, chunks=A.size // 2, spec=spec())
        cubed.to_zarr(x, f"{url}/a.zarr")
        back = cubed.from_zarr(f"{url}/a.zarr", spec=spec()).compute()
        np.testing.assert_array_equal(back, A)
        x = cubed.from_array(A[::-1].copy(), chunks=A.size // 2, spec=spec())
        cubed.to_zarr(x, f"{url}/a.zarr")
        back = cubed.from_zarr(f"{url}/a.zarr", spec=spec()).compute()
        np.testing.assert_array_equal(back, A[::-1])
        assert "nothing is left over" in run("clean", url).out


def test_emulators_get_objects_whole(environment, tmp_path):
    """Unless parts are asked for."""
    whole = cubed.Spec(allowed_mem="1GB", zarr_compressor=None)
    with running("fake-gcs-server", tmp_path, environment) as url:
        a = np.zeros(65 * MIB, np.uint8)
        a[::MIB] = 1
        cubed.to_zarr(cubed.from_array(a, chunks=a.size, spec=whole), f"{url}/a.zarr")
        np.testing.assert_array_equal(cubed.from_zarr(f"{url}/a.zarr", spec=whole).compute(), a)
        assert "nothing is left over" in run("clean", url).out
