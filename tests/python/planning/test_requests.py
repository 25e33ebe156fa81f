"""Requests and costs that plans state are equal to the requests that servers count in runs."""

import json
import re
import time
from collections import Counter

import cubed
import numpy as np
import pytest
from conftest import check, run
from cubed.runtime.executors.futures import FuturesExecutor
from real_servers import running
from s3_server import Server
from test_plans_in_s3 import WIDE, fetched, put

import zarr

QUIET = ("--progress", "none", "--max-workers", "2")
#: Requests that services charge like GETs, and like PUTs.
READS, WRITES = ("get", "head"), ("put", "list", "copy")
NEAR = 1.05

CASES = {
    "elements": ("eval", "a * 2 + 1", "--in", "a={}/a", "--out", "{}/o"),
    "reduction": ("eval", "mean(a, axis=0)", "--in", "a={}/a", "--out", "{}/o"),
    "rechunk": ("rechunk", "{}/a", "{}/o", "--chunks", "64,1"),
    "replaced": ("eval", "a + 1", "--in", "a={}/a", "--out", "{}/a", "--overwrite"),
    "not replaced": ("eval", "a + 1", "--in", "a={}/a", "--out", "{}/o", "--overwrite"),
    "a group": ("eval", "x = a + 1; y = a * 2", "--in", "a={}/a", "--out", "{}/o"),
    "intermediates": (
        "eval", "sum(sort(rechunk(a, (64, 4)), axis=0), axis=0)", "--in", "a={}/a", "--out", "{}/o",
        "--executor", "processes", "--work-dir", "{}/work", "--no-optimize",
    ),
}  # fmt: skip
#: A case on moto takes several seconds of processor time, so it gets those with the most kinds of
#: requests only.
SERVED = [
    (server, case)
    for server in ("stub", "moto", "versitygw")
    for case in CASES
    if server != "moto" or case in ("elements", "replaced", "intermediates")
]
LINE = re.compile(r"(?<![A-Z])(GET|HEAD|PUT|POST|DELETE)[ |]+(/bucket[^\s|]*)")


class Stub:
    """The server of this tree."""

    def __init__(self, server):
        self.server, self.url = server, server.url

    lost = 0

    def forget(self):
        self.server.requests.clear()

    def requests(self):
        return [(r.op, r.key) for r in self.server.requests]


class Logged:
    """A server of others, whose log has a line for each request. On a busy machine, one line of a
    thousand runs was missing: only the stub shows that no request is missing."""

    lost = 1

    def __init__(self, url, log):
        self.url, self.log, self.begin = url, log, 0

    def forget(self):
        self.begin = len(self.log.read_text())

    def requests(self):
        found = LINE.findall(self.log.read_text()[self.begin :])
        return [(self.kind(method, target), target) for method, target in found]

    @staticmethod
    def kind(method, target):
        if method == "GET" and target.partition("?")[0].strip("/") == "bucket":
            return "list"
        return {"POST": "deletes"}.get(method, method.lower())


@pytest.fixture
def bucket(request, tmp_path, monkeypatch):
    zarr.create_array(tmp_path / "a", data=WIDE, chunks=(4, 4))
    if request.param == "stub":
        with Server(page=1000) as server:
            for name, value in server.variables.items():
                monkeypatch.setenv(name, value)
            put(server, "a", tmp_path / "a")
            yield Stub(server)
        return
    path = tmp_path / "log"
    with (
        path.open("a") as log,
        running(request.param, tmp_path / "server", monkeypatch, log) as url,
    ):
        check(run("copy", tmp_path / "a", f"{url}/a", *QUIET))
        yield Logged(url, path)


def near(n, said, fewer=0):
    return said / NEAR - fewer <= n <= said * NEAR


def counts(bucket):
    """Requests by kind. A read that a slow machine answers late is sent again, at most one request
    in twenty and eight in a row after a quiet time; such a read counts once."""
    made = bucket.requests()
    chunks = [r for r in made if r[0] == "get" and re.search(r"/c/|/work/|^work/", r[1])]
    again = len(chunks) - len(set(chunks))
    assert again <= 8 + len(made) / 20
    found = Counter(op for op, _ in made)
    found["get"] -= again
    return found


def compare(bucket, said, fewer=0):
    """Reads, writes and cost of a run with those of its plan. A run may make `fewer` writes."""
    found, fewer = counts(bucket), fewer + bucket.lost
    reads, writes = sum(found[k] for k in READS), sum(found[k] for k in WRITES)
    assert near(reads, said["gets"] + said["heads"]), (found, said)
    made = [r for r in bucket.requests() if r[0] in WRITES]
    assert near(writes, said["puts"] + said["lists"] + said["copies"], fewer), (said, made)
    cost = (reads * 0.4 + writes * 5) / 1e6
    assert near(cost, said["cost"], fewer * 5 / 1e6), (found, said)


@pytest.mark.parametrize(("bucket", "case"), SERVED, indirect=["bucket"])
def test_requests_of_the_command(bucket, case):
    args = (*(arg.format(bucket.url) for arg in CASES[case]), *QUIET)
    (said,) = json.loads(check(run(*args, "--plan", "--json")).out)["traffic"]
    bucket.forget()
    check(run(*args))
    compare(bucket, said)
    found = counts(bucket)
    assert (said["copies"] > 0) == (case == "replaced")
    assert said["saved"] == 0
    if isinstance(bucket, Stub):
        assert found["copy"] == said["copies"]
        assert found["list"] == said["lists"]
        assert abs(found["head"] - said["heads"]) <= 4
        assert found["delete"] + found["deletes"] <= said["deletes"]


def test_requests_for_parts_of_chunks(tmp_path, monkeypatch):
    """Each of two workers reads half of the rows of every chunk: a request for each of four layers.
    A task for each of many pieces would make many more."""
    a = np.arange(16 * 400 * 400.0).reshape(16, 400, 400)
    zarr.create_array(tmp_path / "a", data=a, chunks=(4, 400, 400), compressors=None)
    with Server(page=1000) as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        put(server, "a", tmp_path / "a")
        bucket = Stub(server)
        args = ("eval", "mean(a, axis=0)", "--in", f"a={bucket.url}/a", "--out", f"{bucket.url}/o")
        (said,) = json.loads(check(run(*args, *QUIET, "--plan", "--json")).out)["traffic"]
        bucket.forget()
        check(run(*args, *QUIET))
        parts = [r for r in server.requests if r.op == "get" and "/c/" in r.key]
        assert len({(r.key, r.headers.get("range")) for r in parts}) == 4 * 2 * 4
        assert 0 <= said["gets"] - 4 * 2 * 4 <= 8
        out = fetched(server, "o", tmp_path / "fetched")
    np.testing.assert_allclose(out, a.mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("bucket", ["stub", "versitygw"], indirect=True)
@pytest.mark.parametrize("make", [lambda a: a + 1, lambda a: cubed.array_api.mean(a, axis=1)])
def test_requests_of_the_package(bucket, make):
    """Its arrays are open already when the plan is made. It deletes the record of a target, which
    the command changes by a PUT, so that other runs can tell that they are done."""
    spec = cubed.Spec(allowed_mem="100MB")
    a = cubed.from_zarr(f"{bucket.url}/a", spec=spec)
    plan = cubed.to_zarr(make(a), f"{bucket.url}/o", compute=False).plan()
    (said,) = plan.traffic()
    bucket.forget()
    plan.execute()
    compare(bucket, said, fewer=1)


class OneByOne(FuturesExecutor):
    """Sends many small ranges, as if a call cost nothing."""

    name = "futures-one-by-one"
    overhead = 0.0


def test_workers_check_records_once_a_second(monkeypatch):
    """They do not make a request for each range of tasks."""
    with Server(page=1000) as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        spec = cubed.Spec("s3://b/work", allowed_mem="200MB", executor=OneByOne(max_workers=2))
        values = cubed.random.random((6400,), chunks=10, spec=spec) + 1
        begin = time.monotonic()
        cubed.to_zarr(values, "s3://b/o")
        seconds = time.monotonic() - begin
        keys = [r.key for r in server.requests if r.op == "head"]
        # Each of two workers; the driver checks the record when it claims and commits.
        assert keys.count("o/.cubed-run") <= 2 * (1 + seconds) + 2
        assert sum("/c/" in r.key for r in server.requests if r.op == "put") == 640


# --- Rates, and the time of workers


@pytest.fixture
def _no_server(monkeypatch):
    """An address without a server: plans of generated arrays make no requests."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_NO_SIGN_REQUEST", "true")


def traffic(expression, workers, *more):
    args = ("eval", expression, "--executor", "processes", "--work-dir", "s3://bucket/work")
    limits = ("--max-workers", workers, "--other-machines", "--no-optimize", *more)
    out = check(run(*args, *limits, "--plan", "--json")).out
    return json.loads(out)


@pytest.mark.usefixtures("_no_server")
def test_rates_of_prefixes():
    """Waves of tasks that write a chunk each: their rate grows with workers up to the limit of an
    array's size, and many chunks have many prefixes."""
    few = "sum(exp(rechunk(ones((800,)), (1,))))"
    many = "sum(exp(rechunk(ones((20000,)), (1,))))"
    rates = [traffic(few, n)["traffic"][0] for n in (1, 10, 100)]
    assert rates[0]["put_rate"] < rates[1]["put_rate"] < rates[2]["put_rate"] <= 800
    assert all(r["limit_seconds"] == 0 for r in rates)
    (wide,) = traffic(many, 10000)["traffic"]
    assert wide["put_rate"] <= 20000 / 32 < wide["put_limit"] == 3500
    assert wide["get_rate"] <= 20000 / 32 < wide["get_limit"] == 5500
    assert wide["limit_seconds"] < 1


def test_time_that_limits_cost(server_of_small_chunks):
    """An array has one prefix: 100,000 small chunks take 18 s at 5,500 a second, however many
    workers read them, and their partial sums a little more."""
    url = server_of_small_chunks
    args = ("eval", "sum(a)", "--in", f"a={url}/a", "--out", f"{url}/o", "--work-dir", f"{url}/w")
    text = ("--executor", "processes", "--other-machines", "--plan")
    one, many = (
        json.loads(check(run(*args, *text, "--max-workers", n, "--json")).out) for n in (1, 10000)
    )
    assert one["traffic"][0]["limit_seconds"] == 0
    assert many["traffic"][0]["get_rate"] > 5500
    assert 10 < many["traffic"][0]["limit_seconds"] < 25
    out = check(run(*args, *text, "--max-workers", 10000)).out
    assert "per second to one prefix, limits 5500 and 3500; the limits cost about" in out
    assert many["gb_seconds"] == pytest.approx(
        many["worker_seconds"] * many["allowed_mem"] / 1e9, rel=1e-12
    )
    assert many["worker_seconds"] > 100_000 * 0.03 / 64


@pytest.fixture
def server_of_small_chunks(tmp_path, monkeypatch):
    zarr.create_array(tmp_path / "a", shape=(100_000,), chunks=(1,), dtype="f8")
    with Server() as server:
        for name, value in server.variables.items():
            monkeypatch.setenv(name, value)
        put(server, "a", tmp_path / "a")
        yield server.url


def test_the_package_states_gigabyte_seconds():
    a = cubed.random.random((1000, 1000), chunks=500, spec=cubed.Spec(allowed_mem="200MB"))
    e = a.sum().plan().estimate("s3-lambda")
    assert e.gb_seconds == pytest.approx(e.worker_seconds * 0.2)
    assert f"{e.gb_seconds:.3g} GB s" in str(e)
    assert np.isclose(e.cost, e.reads * 0.4e-6 + e.writes * 5e-6 + e.gb_seconds * 16.6667e-6)
