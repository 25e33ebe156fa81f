"""Arrays in S3 and on web servers that fail in all known ways."""

import collections
import functools
import json
import os
import re
import select
import socket
import ssl
import subprocess
import sys
import time
import traceback
import urllib.parse
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler, ThreadingTCPServer
from threading import Event, Thread
from typing import ClassVar

import cubed
import numpy as np
import pytest
from conftest import BIN, Result, cases, without_credentials
from conftest import run as run_command
from s3_server import KEY, SECRET, Object, Server, first, sometimes

import zarr

A = np.arange(1000.0)
FAULTS = ["500", "502", "503", "reset", "nothing", "short", "damage", "lost", "409", "no ranges"]

pytestmark = pytest.mark.usefixtures("environment")


def run(server, *args, code=0, timeout=60, **variables) -> Result:
    """The command, with the server's credentials and no others."""
    env = without_credentials() | server.variables | variables
    r = run_command(*args, env=env, timeout=timeout)
    assert code is None or r.code == code, r.err
    assert SECRET not in r.out + r.err
    return r


@pytest.fixture
def server():
    with Server() as s:
        yield s
    assert not s.wrong


@pytest.fixture
def known(server, environment):
    """The server, known to this process by the environment."""
    for name, value in server.variables.items():
        environment.setenv(name, value)
    return server


@pytest.fixture
def local(tmp_path):
    z = zarr.create_array(tmp_path / "a.zarr", shape=A.shape, chunks=(100,), dtype=A.dtype)
    z[:] = A
    return tmp_path / "a.zarr"


def put(server, path, tree):
    """A directory's files as objects."""
    for file in tree.rglob("*"):
        if file.is_file():
            key = f"{path}/{file.relative_to(tree)}"
            server.objects[key] = Object(file.read_bytes(), {})


def write(server, local, target="s3://b/x/a.zarr", **variables):
    return run(
        server, "eval", "a + 1", "--in", f"a={local}", "--out", target, "--progress", "none",
        **variables,
    )  # fmt: skip


def read(server, source="s3://b/x/a.zarr", text="a", options=(), **kwargs) -> np.ndarray:
    quiet = ("--json", "--progress", "none")
    r = run(server, "eval", text, "--in", f"a={source}", *options, *quiet, **kwargs)
    return next(iter(r.arrays().values()))


def test_the_command(server, local):
    write(server, local)
    puts = [r.key for r in server.requests if r.op == "put"]
    assert sum("/c/" in k for k in puts) == 10
    assert len(puts) <= 10 + 4  # metadata, a trial, and what the run says of itself
    # chunks, metadata, a trial, and what the run says of itself twice
    np.testing.assert_array_equal(read(server), A + 1)
    args = ("--chunks", "300", "--progress", "none")
    run(server, "rechunk", "s3://b/x/a.zarr", "s3://b/x/b.zarr", *args)
    np.testing.assert_array_equal(read(server, "s3://b/x/b.zarr"), A + 1)
    run(server, "copy", "s3://b/x/b.zarr", "s3://b/y/c.zarr", "--progress", "none")
    np.testing.assert_array_equal(read(server, "s3://b/y/c.zarr", "a + 1"), A + 2)
    rows = json.loads(run(server, "info", "s3://b/x", "--json").out)
    assert [r["path"] for r in rows if r.get("shape")] == ["a.zarr", "b.zarr"]
    assert "nothing is left over" in run(server, "clean", "s3://b").out
    assert {k.split("/")[0] for k in server.objects} == {"x", "y"}


def test_chunks_are_read_without_being_looked_for(server, local):
    """No size is asked for, nothing listed; opening an array is one read."""
    put(server, "a", local)
    server.page = 1000

    def asked(*args):
        server.requests.clear()
        run(server, *args)
        return [(r.op, r.key) for r in server.requests]

    quiet = ("--progress", "none")
    chunks = {f"a/c/{i}" for i in range(10)}
    for args in (
        ("eval", "a + 1", "--in", "a=s3://b/a", "--json", *quiet),
        ("rechunk", "s3://b/a", "s3://b/r", "--chunks", "300", *quiet),
        ("copy", "s3://b/a", "s3://b/c", *quiet),
        ("eval", "a + 1", "--in", "a=s3://b/a", "--out", "s3://b/e", *quiet),
    ):
        found = asked(*args)
        assert "list" not in {op for op, _ in found}, args
        assert sorted(k for op, k in found if "/c/" in k and op != "put") == sorted(chunks), args
        documents = [op for op, k in found if k == "a/zarr.json"]
        opened = 2 if args[0] == "eval" else 4
        assert documents.count("get") <= opened, args
        # whether it is at the end the version that the plan has read
        assert documents.count("head") == 1 and documents[-1] == "head", args
    assert sorted(asked("info", "s3://b/a")) == [("get", "a/zarr.json")] * 2 + [("list", "")]


def test_connections_are_projected(server, local):
    """What libcurl and TLS take of each request that is ahead; fewer are where memory is less."""
    put(server, "a", local)

    def projected(source, allowed="1GB"):
        where = ("--in", f"a={source}", "--out", "s3://b/o")
        limits = ("--max-workers", "2", "--allowed-mem", allowed)
        plan = json.loads(run(server, "eval", "a + 1", *where, *limits, "--plan", "--json").out)
        return plan["projected_mem"], plan["allowed_mem"] - plan["reserved_mem"]

    request, beside = 320 << 10, projected(local)[0]
    assert projected("s3://b/a")[0] >= beside + 5 * request  # of ten chunks half for each worker
    need, left = projected("s3://b/a", "17900000")
    assert beside + 2 * request <= need <= left < beside + 5 * request


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_that_pass(server, local, fault):
    server.fault = sometimes(0.2, 7, [fault])
    write(server, local)
    np.testing.assert_array_equal(read(server), A + 1)
    assert len(server.objects) == 12


def test_faults_of_all_kinds(server, local):
    for seed in range(cases(2)):
        server.objects.clear()
        server.fault = sometimes(0.2, seed, FAULTS)
        write(server, local)
        server.fault = sometimes(0.2, seed + 1, FAULTS)
        np.testing.assert_array_equal(read(server), A + 1)


def test_shards(server, tmp_path):
    a = np.arange(4096.0).reshape(64, 64)
    z = zarr.create_array(
        tmp_path / "s.zarr", shape=a.shape, chunks=(8, 8), shards=(32, 32), dtype="f8"
    )
    z[:] = a
    put(server, "s.zarr", tmp_path / "s.zarr")
    r = run(server, "eval", "a[3:9, 40:50]", "--in", "a=s3://b/s.zarr", "--json")
    np.testing.assert_array_equal(next(iter(r.arrays().values())), a[3:9, 40:50])
    ranges = [r.headers.get("range", "") for r in server.requests if "/c/" in r.key]
    assert ranges[0].startswith("bytes=-")  # the index, by its distance from the end
    assert len(ranges) <= 5
    for fault in ("no ranges", "short", "reset"):
        server.fault = sometimes(0.3, 3, [fault])
        np.testing.assert_array_equal(read(server, "s3://b/s.zarr", "a * 1"), a)
    server.fault = lambda request: "other range" if "/c/" in request.key else None
    r = run(server, "eval", "a[3:9, 40:50]", "--in", "a=s3://b/s.zarr", "--json", code=1)
    assert "another range than requested" in r.err


def test_a_shard_that_is_replaced_while_it_is_read(server, tmp_path):
    """All of it is of one version, or it is an error."""
    for value, name in ((1.0, "one"), (2.0, "two")):
        z = zarr.create_array(
            tmp_path / name, shape=(64, 64), chunks=(8, 8), shards=(64, 64), dtype="f8",
            compressors=None,
        )  # fmt: skip
        z[:] = value
    put(server, "s", tmp_path / "one")
    other = (tmp_path / "two" / "c" / "0" / "0").read_bytes()
    seen = []

    def replace(request):
        if request.key == "s/c/0/0":
            seen.append(request)
            if len(seen) == 2:
                server.objects["s/c/0/0"] = Object(other, {})

    server.fault = replace
    env = {**os.environ, **server.variables}
    args = [BIN, "eval", "a[0:9, 0:1] + 0", "--in", "a=s3://b/s", "--json", "--progress", "none"]
    done = subprocess.run(args, env=env, capture_output=True, text=True, timeout=60)
    assert len(seen) >= 2
    if done.returncode == 0:
        (x,) = Result(0, done.stdout, "").arrays().values()
        assert len(set(x.ravel())) == 1
    else:
        assert "replaced while it was read" in done.stderr


def test_keys_that_are_encoded(server, local):
    """Every character that a name in a bucket may have."""
    name = "s3://b/a b+c/ä=%25&x'()~,;@$!/d#e.zarr"
    write(server, local, name)
    np.testing.assert_array_equal(read(server, name), A + 1)
    assert "a b+c/ä=%&x'()~,;@$!/d#e.zarr/zarr.json" in server.objects
    out = run(server, "info", "s3://b/a b+c").out
    assert "d#e.zarr" in out
    run(server, "copy", name, "s3://b/copy", "--progress", "none")


def test_retried_puts_are_no_lost_races(server, local):
    """The reply to the claim of a run is lost; what the retry finds there is its own."""
    server.fault = first(1, "lost", "put")
    write(server, local)
    np.testing.assert_array_equal(read(server), A + 1)


def test_lost_races(server, local):
    """Somebody else claims the place between the look and the put."""

    def claim(request):
        if request.op == "put" and request.key.endswith(".cubed-run"):
            server.objects.setdefault(request.key, Object(b"{}", {}))

    server.fault = claim
    r = run(server, "eval", "a+1", "--in", f"a={local}", "--out", "s3://b/x/a.zarr", code=1)
    assert "another run has just begun to write s3://b/x/a.zarr" in r.err
    assert list(server.objects) == ["x/a.zarr/.cubed-run"]


def test_region_and_clock(server, local):
    """Each is corrected by what the server says, once."""
    server.ahead = -7200
    write(server, local, AWS_REGION="us-west-2")
    refused = [r for r in server.requests if "us-west-2" in r.headers["authorization"]]
    assert 0 < len(refused) <= 4
    np.testing.assert_array_equal(read(server, AWS_REGION=""), A + 1)


@pytest.mark.parametrize(
    "change, fault, text",
    [
        ({"AWS_SECRET_ACCESS_KEY": "other"}, None, "SignatureDoesNotMatch .*check AWS_SECRET_ACC"),
        ({"AWS_ACCESS_KEY_ID": "other"}, None, "InvalidAccessKeyId .*check AWS_ACCESS_KEY_ID"),
        ({"AWS_ACCESS_KEY_ID": ""}, None, "no credentials were found: set AWS_ACCESS_KEY_ID"),
        ({"AWS_NO_SIGN_REQUEST": "true"}, None, "it is not public|credentials do not permit it"),
        ({"AWS_NO_SIGN_REQUEST": "perhaps"}, None, 'AWS_NO_SIGN_REQUEST is "perhaps", expected'),
        ({"AWS_ENDPOINT_URL": "localhost"}, None, 'is "localhost", expected http://HOST'),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, None, "127.0.0.1 port 9.*tried 4 times"),
        ({}, "403", "AccessDenied .*check credentials and the bucket's policy"),
        ({}, "page", "an HTML page .*whether a proxy answers"),
        ({}, "429 for long", "429"),
    ],
)
def test_errors(server, local, change, fault, text):
    put(server, "a.zarr", local)
    server.fault = lambda request: fault
    r = run(server, "eval", "a", "--in", "a=s3://b/a.zarr", code=1, **change)
    assert re.search(text, r.err), r.err


def test_no_bucket(server):
    r = run(server, "eval", "ones((3,))", "--out", "s3://other/a.zarr", code=1)
    assert "s3://other/a.zarr" in r.err
    assert "there is no bucket of that name here: check it, and AWS_ENDPOINT_URL" in r.err
    r = run(server, "eval", "ones((3,))", "--out", "s3:///a.zarr", code=1)
    assert "has no bucket, expected s3://BUCKET/PATH" in r.err


def test_waiting(server, local):
    """A server that asks for a pause gets one; who says nothing is asked again."""
    put(server, "a.zarr", local)
    server.fault = first(1, "429")
    t = time.monotonic()
    np.testing.assert_array_equal(read(server, "s3://b/a.zarr"), A)
    assert time.monotonic() - t > 1


def test_stalls(known, local):
    put(known, "a.zarr", local)
    known.fault = first(2, "stall", "get")
    t = time.monotonic()
    x = cubed.from_zarr("s3://b/a.zarr", storage_options={"read_timeout": 1})
    np.testing.assert_array_equal(x.compute(), A)
    assert time.monotonic() - t < 20


@pytest.mark.parametrize("fault", ["stall", "stall within", "second fails"])
def test_slow_gets_are_sent_twice(server, tmp_path, fault):
    """The first answer counts; of the requests one in twenty may be sent again. What stalls does so
    for longer than the run may take; and there are so many gets that those which a busy machine
    makes slow leave enough of them to send again."""
    a = np.arange(8000.0)
    zarr.create_array(tmp_path / "a", data=a, chunks=(20,), compressors=None)
    put(server, "a", tmp_path / "a")
    slow = {f"a/c/{i}" for i in (240, 300, 360)}
    server.stall = 600

    def sent(key):
        return sum(r.key == key for r in list(server.requests))

    def answer_after_the_second(key):
        while sent(key) < 2 and not server.ended.wait(0.01):
            pass
        server.ended.wait(0.3)

    def stall(request):
        if request.key not in slow:
            return None
        if fault == "second fails":
            first = sent(request.key) == 1
            return functools.partial(answer_after_the_second, request.key) if first else "500"
        return fault if sent(request.key) == 1 else None

    server.fault = stall
    # A get that stalls is given up, and asked for again, too, but only after 30 seconds.
    np.testing.assert_array_equal(read(server, "s3://b/a", "a + 0", timeout=25), a)
    assert [sent(k) for k in slow] == [2, 2, 2]
    chunks = [r.key for r in server.requests if "/c/" in r.key]
    assert len(set(chunks)) == 400 and len(chunks) <= 420


def test_gets_that_are_sent_twice_leave_room_for_others(server, tmp_path):
    """Where more stall than may be sent again at once, others are still sent a first time."""
    a = np.arange(24_000.0)
    zarr.create_array(tmp_path / "a", data=a, chunks=(20,), compressors=None)
    put(server, "a", tmp_path / "a")
    slow = {f"a/c/{i}" for i in range(1000, 1200, 2)}
    again = Event()

    def late():
        again.wait(20)
        server.ended.wait(0.5)

    def stall(request):
        if request.key not in slow:
            return None
        if sum(r.key == request.key for r in list(server.requests)) > 1:
            again.set()
        return late

    server.fault = stall
    got = read(server, "s3://b/a", "a + 0", options=("--max-workers", "64"))
    np.testing.assert_array_equal(got, a)
    sent = collections.Counter(r.key for r in server.requests if r.key in slow)
    assert sent.total() > len(sent) == len(slow)


def test_servers_that_are_slow_as_a_whole_are_not_asked_more(server, tmp_path):
    a = np.arange(20_000.0)
    zarr.create_array(tmp_path / "a", data=a, chunks=(200,), compressors=None)
    put(server, "a", tmp_path / "a")
    server.fault = lambda r: "late" if len(server.requests) > 50 else None
    np.testing.assert_array_equal(read(server, "s3://b/a", "a + 0"), a)
    chunks = [r.key for r in server.requests if "/c/" in r.key]
    assert 100 < len(chunks) <= 1.05 * len(set(chunks)) == 105


def test_listings(known, local, tmp_path):
    """Of many pages; and what no run had put is passed over."""
    z = zarr.create_array(tmp_path / "m.zarr", shape=(60, 3), chunks=(1, 1), dtype="i4")
    z[:] = 1
    put(known, "g/m.zarr", tmp_path / "m.zarr")
    known.objects["g/"] = Object(b"", {})
    known.objects["g//odd"] = Object(b"", {})
    run(known, "info", "s3://b/g::m.zarr")
    assert known.count("list") >= 180 // known.page
    known.fault = sometimes(0.2, 5, ["500", "reset", "lost", "failed key"])
    before = {k: v for k, v in known.objects.items() if not k.startswith("g/m.zarr/c")}
    known.objects["g/m.zarr/.cubed-run"] = Object(b"{}", {})
    del known.objects["g/m.zarr/zarr.json"]
    run(known, "clean", "s3://b/g")
    before.pop("g/m.zarr/zarr.json")
    # The record stays: it refuses what a process of that run may still put.
    assert known.objects.keys() == {*before, "g/m.zarr/.cubed-run"}
    assert known.count("deletes") <= 4


def test_python(server):
    options = {
        "key": KEY, "secret": SECRET,
        "client_kwargs": {"endpoint_url": server.endpoint, "region_name": server.region},
    }  # fmt: skip
    spec = cubed.Spec("s3://b/work", allowed_mem="100MB", storage_options=options)
    assert SECRET not in repr(spec)
    x = cubed.from_array(np.arange(10_000.0), chunks=1000, spec=spec)
    cubed.to_zarr(x * 2, "s3://b/p.zarr")
    y = cubed.from_zarr("s3://b/p.zarr", spec=spec)
    assert cubed.sum(y).compute() == np.arange(10_000).sum() * 2
    assert not [k for k in server.objects if k.startswith("work")]
    # They are not those of others who come to the same place.
    with pytest.raises(OSError, match="403 AccessDenied"):
        cubed.from_zarr(
            "s3://b/p.zarr", storage_options={"endpoint_url": server.endpoint, "anon": True}
        )
    with pytest.raises(ValueError, match='no storage option "colour"'):
        cubed.from_zarr("s3://b/p.zarr", storage_options={"colour": "red"})
    with pytest.raises(TypeError, match="storage option 'key' is a list"):
        cubed.from_zarr("s3://b/p.zarr", storage_options={"key": ["red"]})


def test_work_directories(known, tmp_path):
    """What worker processes tell one another lies in the bucket until the run is over."""
    spec = cubed.Spec("s3://b/work", allowed_mem="200MB", executor_name="processes")
    a = np.random.default_rng(1).random((100, 100))
    z = zarr.create_array(tmp_path / "a.zarr", shape=a.shape, chunks=(10, 100), dtype="f8")
    z[:] = a
    put(known, "a.zarr", tmp_path / "a.zarr")
    x = cubed.from_zarr("s3://b/a.zarr", spec=spec)
    known.fault = sometimes(0.1, 3, FAULTS)
    y = cubed.cumulative_sum(cubed.sum(x, axis=1)) + 1
    np.testing.assert_allclose(y.compute(), np.cumsum(a.sum(axis=1)) + 1)
    assert any(r.op == "put" and r.key.startswith("work/") for r in known.requests)
    assert not [k for k in known.objects if k.startswith("work/")]


def test_tls(certificates, local):
    """Certificates are checked, against those that are given; wrong ones are errors at once."""
    (here, whole), (elsewhere, other) = certificates
    with Server(certificate=str(whole)) as s:
        write(s, local, AWS_CA_BUNDLE=str(here))
        np.testing.assert_array_equal(read(s, AWS_CA_BUNDLE=str(here)), A + 1)
        assert any(r.headers["x-amz-content-sha256"] == "UNSIGNED-PAYLOAD" for r in s.requests)
        n = len(s.requests)
        for variables, text in [
            ({}, "get zarr.json: .*certificate.*AWS_CA_BUNDLE"),
            ({"AWS_CA_BUNDLE": str(elsewhere)}, "certificate.*AWS_CA_BUNDLE"),
            ({"AWS_CA_BUNDLE": "/none.pem"}, "/none.pem"),
        ]:
            r = run(s, "eval", "a", "--in", "a=s3://b/x/a.zarr", code=1, **variables)
            assert re.search(text, r.err), r.err
            assert "s3://b/x/a.zarr" in r.err and "tried" not in r.err
        assert len(s.requests) == n
    with Server(certificate=str(other)) as s:
        r = run(s, "eval", "a", "--in", "a=s3://b/x/a.zarr", code=1, AWS_CA_BUNDLE=str(elsewhere))
        assert re.search("does not match|no alternative certificate", r.err), r.err
    with Server() as s:
        where = {"AWS_ENDPOINT_URL": s.endpoint.replace("http:", "https:")}
        r = run(s, "eval", "a", "--in", "a=s3://b/x/a.zarr", code=1, **where)
        assert re.search("does the address begin with http://", r.err), r.err


def test_buckets_in_the_host(certificates, local):
    for certificate in (None, certificates[0]):
        with Server(host="localhost", certificate=certificate and str(certificate[1])) as s:
            variables = {"AWS_VIRTUAL_HOSTED_STYLE_REQUEST": "true"}
            if certificate:
                variables["AWS_CA_BUNDLE"] = str(certificate[0])
            write(s, local, **variables)
            np.testing.assert_array_equal(read(s, **variables), A + 1)
            run(s, "clean", "s3://b", **variables)
            assert {r.headers["host"].split(":")[0] for r in s.requests} == {"b.localhost"}
            assert not s.wrong


def options_of(server):
    return {
        "key": KEY, "secret": SECRET, "endpoint_url": server.endpoint, "region": server.region,
    }  # fmt: skip


def test_options_reach_workers(server, local, caplog):
    """They are in no plan, and workers have them all the same: theirs is the driver's word."""
    put(server, "a.zarr", local)
    spec = cubed.Spec(
        "s3://b/work", allowed_mem="200MB", executor_name="processes",
        storage_options=options_of(server),
    )  # fmt: skip
    x = cubed.from_zarr("s3://b/a.zarr", spec=spec)
    y = cubed.cumulative_sum(x * 2) + 1
    kept = []
    server.fault = lambda r: kept.extend(o.data for o in list(server.objects.values()))
    plan = y.plan()
    with caplog.at_level("DEBUG"):
        np.testing.assert_array_equal(y.compute(), np.cumsum(A * 2) + 1)
    assert any(r.op == "put" and r.key.startswith("work/") for r in server.requests)
    # A worker of an engine has them from its message, and nothing else of ours.
    options = cubed._core.storage_options()
    assert options.count("\n") >= 4
    code = (
        "import sys, cubed; cubed._core.take_storage_options(sys.stdin.read());"
        "print(cubed._core.open('s3://b/a.zarr').shape)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=options,
        env=without_credentials(),
        capture_output=True,
        text=True,
    )
    assert done.stdout == "(1000,)\n", done.stderr
    # Secrets are nowhere.
    said = plan.save() + b"".join(kept)
    said += (repr(plan) + str(plan) + repr(spec) + repr(y) + caplog.text + done.stderr).encode()
    server.fault = lambda r: "403" if "/c/" in r.key else None
    with pytest.raises(OSError, match="AccessDenied") as e:
        (x * 3).compute()
    said += "".join(traceback.format_exception(e.value)).encode()
    assert SECRET.encode() not in said and SECRET[:-1].encode() not in said
    assert urllib.parse.quote(SECRET, safe="").encode() not in said


def test_web_servers(server, local):
    server.signed = False
    put(server, "a b/a.zarr", local)
    url = f"{server.endpoint}/b/a b/a.zarr"
    x = cubed.from_zarr(url)
    np.testing.assert_array_equal((x + 1).compute(), A + 1)
    assert server.count("list") == 0
    server.fault = sometimes(0.2, 3, ["500", "reset", "short", "no ranges"])
    np.testing.assert_array_equal(cubed.from_zarr(url).compute(), A)
    with pytest.raises(NotImplementedError, match="stores of scheme http are read only"):
        cubed.to_zarr(x, f"{server.endpoint}/b/new.zarr")
    with pytest.raises(FileNotFoundError):
        cubed.from_zarr(f"{server.endpoint}/b/none.zarr")
    server.fault = lambda request: "page"
    with pytest.raises(OSError, match="an HTML page"):
        cubed.from_zarr(url)


# --- Credentials


class Fetched(BaseHTTPRequestHandler):
    """What tells keys: STS, a container's service, and an instance's."""

    log: ClassVar[list[str]] = []
    seconds: ClassVar[int] = 3600
    last: ClassVar[list[str]] = []

    def log_message(self, *_):
        pass

    def tell(self, text):
        self.send_response(200)
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def do_PUT(self):
        self.log.append(self.path)
        assert self.headers["X-aws-ec2-metadata-token-ttl-seconds"] == "21600"
        self.tell("instance's token")

    def do_GET(self):
        self.log.append(self.path)
        end = datetime.now(UTC) + timedelta(seconds=self.seconds)
        end = end.strftime("%Y-%m-%dT%H:%M:%SZ")
        keys = {"AccessKeyId": KEY, "SecretAccessKey": SECRET, "Token": "t", "Expiration": end}
        if self.path.startswith("/?Action=AssumeRoleWithWebIdentity"):
            assert "WebIdentityToken=the%20token" in self.path
            assert "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fr" in self.path
            keys["SessionToken"] = keys.pop("Token")
            self.tell("<R><C>" + "".join(f"<{k}>{v}</{k}>" for k, v in keys.items()) + "</C></R>")
        elif self.path == "/container":
            assert self.headers["authorization"] == "the token"
            self.tell(json.dumps(keys))
        elif self.path.endswith("/security-credentials/"):
            assert self.headers["X-aws-ec2-metadata-token"] == "instance's token"
            self.tell("role-1")
        elif self.path.endswith("/security-credentials/role-1"):
            self.tell(json.dumps(keys))
        else:
            self.send_error(404)


@pytest.fixture
def keeper():
    class Own(Fetched):
        log: ClassVar[list[str]] = []

    http = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    Own.endpoint = f"http://127.0.0.1:{http.server_address[1]}"
    yield Own
    http.shutdown()
    http.server_close()


def found_in(server, local, home, code=0, **variables):
    """The array is read with keys from somewhere else than the usual variables."""
    put(server, "a.zarr", local)
    none = {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": "", "HOME": str(home)}
    args = ("eval", "sum(a)", "--in", "a=s3://b/a.zarr")
    r = run(server, *args, code=code, **{**none, **variables})
    assert code or "499500" in r.out
    return r


def test_profiles(server, local, tmp_path):
    (tmp_path / ".aws").mkdir()
    keys = f"aws_access_key_id = {KEY}\naws_secret_access_key={SECRET}\n"
    (tmp_path / ".aws/credentials").write_text(f"# keys\n[default]\n{keys}\n[ other ]\n{keys}")
    (tmp_path / ".aws/config").write_text(
        f"[profile other]\nregion = {server.region}\nendpoint_url = {server.endpoint}/\ns3 =\n"
        "  region = no\n[profile single]\nsso_session = x\n[profile role]\nrole_arn = r\n"
        "source_profile = default\n"
    )
    found_in(server, local, tmp_path)
    found_in(server, local, tmp_path, AWS_PROFILE="other", AWS_REGION="", AWS_ENDPOINT_URL="")
    for profile, text in {
        "none": 'cannot find profile "none"',
        "single": "signs in with SSO, which is not supported: use `aws configure export",
        "role": "assumes a role, which is not supported",
    }.items():
        assert text in found_in(server, local, tmp_path, code=1, AWS_PROFILE=profile).err


def test_programs_that_tell_keys(server, local, tmp_path):
    (tmp_path / ".aws").mkdir()
    told = {"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET}
    (tmp_path / "keys").write_text(json.dumps(told))
    config = tmp_path / ".aws/config"
    config.write_text(
        f"[default]\ncredential_process = echo x >> {tmp_path}/n; cat {tmp_path}/keys"
    )
    found_in(server, local, tmp_path)
    assert (tmp_path / "n").read_text() == "x\n"  # asked once
    config.write_text(f"[default]\ncredential_process = cat {tmp_path}/keys; exit 3")
    r = found_in(server, local, tmp_path, code=1)
    assert 'credential_process of profile "default" failed' in r.err
    config.write_text(f"[default]\ncredential_process = echo '{SECRET}'")
    assert "the reply is not JSON" in found_in(server, local, tmp_path, code=1).err


class Proxy(BaseRequestHandler):
    """Takes bytes to where a client wants to be connected, which is noted."""

    log: ClassVar[list[str]] = []

    def handle(self):
        asked = b""
        while not asked.endswith(b"\r\n\r\n"):
            asked += self.request.recv(1)
        method, place, _ = asked.decode().split(" ", 2)
        self.log.append(f"{method} {place}")
        host, port = place.rsplit(":", 1)
        with socket.create_connection((host, int(port))) as there:
            self.request.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            ends = {self.request: there, there: self.request}
            while True:
                for end in select.select(list(ends), [], [])[0]:
                    some = end.recv(1 << 16)
                    if not some:
                        return
                    ends[end].sendall(some)


@pytest.fixture
def proxy():
    Proxy.log.clear()
    http = ThreadingTCPServer(("127.0.0.1", 0), Proxy)
    http.daemon_threads = True
    Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{http.server_address[1]}"
    http.shutdown()
    http.server_close()


def test_the_way_to_who_tells_keys(server, local, tmp_path, certificates, proxy):
    """Certificates and proxies are those of the store; what is near is asked without one."""

    class Sts(Fetched):
        log: ClassVar[list[str]] = []

    http = ThreadingHTTPServer(("127.0.0.1", 0), Sts)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates[0][1])
    http.socket = context.wrap_socket(http.socket, server_side=True)
    Thread(target=http.serve_forever, args=(0.02,), daemon=True).start()
    place = f"localhost:{http.server_address[1]}"
    token = tmp_path / "token"
    token.write_text("the token")
    role = {"AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_WEB_IDENTITY_TOKEN_FILE": str(token)}
    role["AWS_ENDPOINT_URL_STS"] = f"https://{place}"
    r = found_in(server, local, tmp_path, code=1, **role)
    assert f"credentials from https://{place}/: " in r.err and "certificate" in r.err
    known = {"AWS_CA_BUNDLE": str(certificates[0][0])}
    found_in(server, local, tmp_path, **role, **known)
    assert not Proxy.log
    found_in(server, local, tmp_path, **role, **known, HTTPS_PROXY=proxy)
    assert Proxy.log == [f"CONNECT {place}"]
    found_in(server, local, tmp_path, **role, **known, HTTPS_PROXY=proxy, NO_PROXY="localhost")
    assert len(Proxy.log) == 1 and len(Sts.log) == 3
    http.shutdown()
    http.server_close()


def test_machines_are_asked_without_a_proxy(server, local, tmp_path, keeper, proxy):
    where = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": keeper.endpoint}
    found_in(server, local, tmp_path, **where, HTTPS_PROXY=proxy)
    assert len(keeper.log) == 3 and not Proxy.log


def test_proxies_are_by_scheme(server, local, tmp_path, proxy):
    """One for https:// is not asked for http://, as curl has it."""
    keys = {"AWS_ACCESS_KEY_ID": KEY, "AWS_SECRET_ACCESS_KEY": SECRET}
    found_in(server, local, tmp_path, **keys, HTTPS_PROXY=proxy, HTTP_PROXY=proxy)
    assert not Proxy.log
    r = found_in(server, local, tmp_path, **keys, http_proxy="http://127.0.0.1:1", code=1)
    assert "127.0.0.1" in r.err
    found_in(server, local, tmp_path, **keys, http_proxy="http://127.0.0.1:1", NO_PROXY="127.0.0.1")


def test_services_that_tell_keys(server, local, tmp_path, keeper):
    token = tmp_path / "token"
    token.write_text("the token\n")
    role = {"AWS_ROLE_ARN": "arn:aws:iam::1:role/r", "AWS_WEB_IDENTITY_TOKEN_FILE": str(token)}
    found_in(server, local, tmp_path, AWS_ENDPOINT_URL_STS=keeper.endpoint, **role)
    container = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": f"{keeper.endpoint}/container"}
    found_in(server, local, tmp_path, AWS_CONTAINER_AUTHORIZATION_TOKEN="the token", **container)
    file = {"AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": str(token)}
    found_in(server, local, tmp_path, **container, **file)
    found_in(server, local, tmp_path, AWS_EC2_METADATA_SERVICE_ENDPOINT=keeper.endpoint)
    assert len(keeper.log) == 1 + 1 + 1 + 3
    tokens = {r.headers.get("x-amz-security-token") for r in server.requests}
    assert tokens == {"t"}
    for url in ("http://example.com/keys", "http://127.0.0.1:80@example.com/keys"):
        far = {"AWS_CONTAINER_CREDENTIALS_FULL_URI": url}
        r = found_in(server, local, tmp_path, code=1, **far)
        assert "expected https:// or this machine" in r.err
    r = found_in(server, local, tmp_path, code=1, AWS_EC2_METADATA_DISABLED="true")
    assert "no credentials were found: set AWS_ACCESS_KEY_ID" in r.err


def test_keys_that_end(server, local, tmp_path, keeper):
    """They are fetched anew: before their end, and when the server says that it has come."""
    keeper.seconds = 60  # less than is thought to be long, more than what is too short
    found_in(server, local, tmp_path, AWS_EC2_METADATA_SERVICE_ENDPOINT=keeper.endpoint)
    asked = [p for p in keeper.log if p.endswith("role-1")]
    assert len(asked) >= 2
    keeper.log.clear()
    keeper.seconds = 3600
    server.fault = first(1, "expired")
    found_in(server, local, tmp_path, AWS_EC2_METADATA_SERVICE_ENDPOINT=keeper.endpoint)
    assert len([p for p in keeper.log if p.endswith("role-1")]) == 2
    server.fault = lambda request: "expired"
    r = run(server, "info", "s3://b/a.zarr", code=1)
    assert "ExpiredToken" in r.err and "get new credentials" in r.err


# --- Arrays that replace others


def test_replacing(server, local, tmp_path):
    """The new array is made beside the old one, and copied when it is whole."""
    args = ("--chunks", "300", "--progress", "none", "--overwrite")
    write(server, local)
    server.objects["x/a.zarr/notes.txt"] = Object(b"mine", {})
    for fault in (None, "lost", "500", "failed copy", "failed key"):
        server.fault = sometimes(0.15, 1, [fault]) if fault else None
        for chunks, n in (("300", 4), ("100", 10)):
            args = ("--chunks", chunks, "--progress", "none", "--overwrite")
            run(server, "rechunk", "s3://b/x/a.zarr", "s3://b/x/a.zarr", *args)
            assert [k.startswith("x/a.zarr/c/") for k in server.objects].count(True) == n
    server.fault = None
    np.testing.assert_array_equal(read(server), A + 1)
    assert server.objects["x/a.zarr/notes.txt"].data == b"mine"
    assert not [k for k in server.objects if ".cubed-new" in k]
    r = run(server, "rechunk", f"{local}", "s3://b", "--chunks", "300", "--overwrite", code=None)
    assert r.code == 0 or "is a bucket" in r.err


@pytest.mark.parametrize("step", range(8))
def test_killed_while_it_replaces(server, local, step):
    """What is there is the old array, or none until it is the new one: never a mixture."""
    write(server, local)
    old = {k: o.data for k, o in server.objects.items()}
    seen = []

    def stop(request):
        if request.op in ("copy", "deletes") or (seen and request.op != "get"):
            seen.append(request)
        if len(seen) > step:
            return "403"  # for good, as if the process had gone
        return None

    server.fault = stop
    where = ("--in", "a=s3://b/x/a.zarr", "--out", "s3://b/x/a.zarr", "--overwrite")
    r = run(server, "eval", "a * 2", *where, "--progress", "none", code=None)
    server.fault = None
    there = "x/a.zarr/zarr.json" in server.objects
    if there:
        found = read(server)
        assert np.array_equal(found, A + 1) or np.array_equal(found, (A + 1) * 2)
        assert r.code == 0 or np.array_equal(found, A + 1)
    run(server, "clean", "s3://b/x")
    found = read(server)
    assert np.array_equal(found, A + 1) or np.array_equal(found, (A + 1) * 2)
    assert there or np.array_equal(found, (A + 1) * 2)
    assert old.keys() >= {k for k in server.objects if ".cubed" not in k}


def test_a_rate_that_is_refused_is_no_failure(known, tmp_path):
    """More than 20 requests in a tenth of a second are refused, until fewer are sent."""
    times, refused = collections.deque(), []

    def fault(request):
        now = time.monotonic()
        while times and now - times[0] > 0.1:
            times.popleft()
        if len(times) >= 20:
            refused.append(request)
            return "503"
        times.append(now)
        return None

    values = np.arange(400.0)
    cubed.to_zarr(cubed.from_array(values, chunks=1), f"{known.url}/x.zarr")
    x = cubed.from_zarr(f"{known.url}/x.zarr", spec=cubed.Spec(tmp_path, allowed_mem="200MB"))
    known.fault = fault
    out = np.empty(400)
    stats = (x + 1).plan().execute([out])
    np.testing.assert_array_equal(out, values + 1)
    assert stats["num_throttled"] == len(refused) > 0
    assert stats["num_retries"] == 0
    assert 1 <= stats["throttle_limit"] < 64


def test_a_store_that_refuses_everything_is_an_error(known):
    cubed.to_zarr(cubed.from_array(np.arange(4.0), chunks=2), f"{known.url}/x.zarr")
    known.fault = lambda request: "503"
    began = time.monotonic()
    with pytest.raises(OSError, match="refused for .* s; storage option throttle_timeout"):
        cubed.from_zarr(f"{known.url}/x.zarr", storage_options={"throttle_timeout": 1})
    assert 1 <= time.monotonic() - began < 10
