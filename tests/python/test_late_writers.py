"""A run in an object store is held for dead, another one takes its place, and the first goes on.

The first run is stopped by the server: a request of it is served after the second run has ended.
"""

import json
import os
import subprocess
import sys
import time

import cloud_servers
import cubed
import numpy as np
import pytest
from conftest import BIN, run
from s3_server import Server

import zarr

QUIET = ("--progress", "none", "--max-workers", "1")
ROWS, CHUNK = 12, 2
SERVERS = {
    "s3": Server, "google": cloud_servers.GoogleServer, "azure": cloud_servers.AzureServer,
}  # fmt: skip


def is_put(request, name):
    return request.op == "put" and request.key.endswith(name)


@pytest.fixture(params=SERVERS)
def server(request):
    with SERVERS[request.param]() as s:
        yield s
        assert not s.wrong, s.wrong[:3]


def sources(folder):
    """Arrays of ones, and of twos whose chunks but the first have fill values alone."""
    for name, fill, values in (("p", 0, [1.0] * ROWS), ("q", 0, [2.0] * CHUNK + [0.0] * 10)):
        z = zarr.create_array(folder / f"{name}.zarr", shape=(ROWS,), chunks=(CHUNK,), dtype="f8",
                              fill_value=fill)  # fmt: skip
        z[...] = np.array(values)


def command(text, folder, url, *options):
    args = [f"--in={n}={folder}/{n}.zarr" for n in "pq" if n in text]
    return [BIN, "eval", text, *args, "--out", url, *QUIET, *options]


def values_of(url, env):
    result = run("eval", "x", "--in", f"x={url}", "--json", *QUIET, env=env)
    assert result.code == 0, result.err
    return result.arrays()["result"]


class Stop:
    """Holds the first request for which `chosen` is true, until the other run has ended."""

    def __init__(self, server, chosen, other):
        self.server, self.chosen, self.other = server, chosen, other
        self.ended = None
        self.met = False

    def __call__(self, request):
        if self.met or not self.chosen(request):
            return None
        self.met = True
        return self.take_over

    def take_over(self):
        for key, o in self.server.objects.items():
            if key.endswith(".cubed-run"):
                record = json.loads(o.data)
                host, _machine, boot, *process = record["owner"].rsplit("_", 5)
                boot = f"{int(boot, 16) ^ 1:x}"
                record["owner"] = "_".join((host, "1", boot, *process))
                record["beat"] = 1
                o.data = json.dumps(record).encode()
        self.ended = subprocess.run(
            self.other, env=self.env, capture_output=True, text=True, timeout=60
        )

    def run(self, first, env):
        self.env = env
        self.server.fault = self
        ended = subprocess.run(first, env=env, capture_output=True, text=True, timeout=60)
        self.server.fault = None
        assert self.met
        assert self.ended.returncode == 0, self.ended.stderr
        return ended


WHERE = {
    "first chunk": lambda r: is_put(r, "/c/0"),
    "middle chunk": lambda r: is_put(r, "/c/3"),
    "last chunk": lambda r: is_put(r, "/c/5"),
    "metadata": lambda r: is_put(r, "z.zarr/zarr.json"),
}


@pytest.mark.parametrize("there", [False, True], ids=["new", "replaced"])
@pytest.mark.parametrize("where", WHERE)
def test_a_result_is_not_changed(server, tmp_path, where, there):
    """Also where the second run has chunks of fill values alone, and leaves such out."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    if there:
        assert run(*command("p - 3", tmp_path, url)[1:], env=env).code == 0
    chosen = WHERE[where]
    if there and where == "metadata":
        pytest.skip("metadata of replaced arrays is copied")
    second = command("q", tmp_path, url, "--overwrite")
    stop = Stop(server, chosen, second)
    first = stop.run(command("p * 7", tmp_path, url, "--overwrite"), env)
    assert first.returncode != 0
    assert "was taken over while this run was writing it" in first.stderr
    np.testing.assert_array_equal(values_of(url, env), [2.0] * CHUNK + [0.0] * 10)
    assert json.loads(server.objects["z.zarr/.cubed-run"].data)["state"] == "done"
    assert all(k.startswith("z.zarr/") for k in server.objects), "a new array is left"


WRITE = """
import subprocess, sys, cubed
folder, url, command, cleans, *names = sys.argv[1:]
if cleans:
    subprocess.run([command, "clean", url], check=True)
for name in names:
    x = cubed.from_zarr(f"{folder}/{name}.zarr")
    cubed.to_zarr(x, url, write_empty_chunks=False)
"""


@pytest.mark.parametrize("cleans", ["", "clean"], ids=["replaced twice", "cleaned"])
def test_what_is_made_later_is_not_changed(server, tmp_path, cleans):
    """The last run finds no unfinished run, and leaves out chunks of fill values. A late put of the
    first run must not be taken for one of these."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    names = "q" if cleans else "pq"
    other = [sys.executable, "-c", WRITE, tmp_path, url, BIN, cleans, *names]
    first = Stop(server, WHERE["middle chunk"], other).run(command("p * 7", tmp_path, url), env)
    assert first.returncode != 0
    assert "was taken over while this run was writing it" in first.stderr
    np.testing.assert_array_equal(values_of(url, env), [2.0] * CHUNK + [0.0] * 10)


@pytest.mark.parametrize("listing", [1, 2], ids=["documents", "chunks"])
def test_what_is_deleted_late(server, tmp_path, listing):
    """A run that lists the objects of the array that it replaces deletes none of another run's."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    assert run(*command("p - 3", tmp_path, url)[1:], env=env).code == 0
    met = []

    def chosen(request):
        record = json.loads(server.objects["z.zarr/.cubed-run"].data)
        if request.op == "list" and record["state"] == "copying":
            met.append(request)
        return len(met) == listing

    second = command("q + 5", tmp_path, url, "--overwrite")
    first = Stop(server, chosen, second).run(command("p * 7", tmp_path, url, "--overwrite"), env)
    assert first.returncode != 0
    assert "was taken over while this run was writing it" in first.stderr
    np.testing.assert_array_equal(values_of(url, env), [7.0] * CHUNK + [5.0] * 10)
    assert all(k.startswith("z.zarr/") for k in server.objects), "a new array is left"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_of_groups(server, tmp_path, zarr_format):
    """The group around the arrays has the attributes of the second run."""
    for name in "first", "second":
        group = zarr.create_group(tmp_path / name, zarr_format=zarr_format, attributes={"t": name})
        group.create_array("x", shape=ROWS, chunks=CHUNK, dtype="f8")[...] = ROWS
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    document = "z.zarr/zarr.json" if zarr_format == 3 else "z.zarr/.zattrs"

    def chosen(request):
        record = server.objects.get("z.zarr/x/.cubed-run")
        committing = record and json.loads(record.data)["state"] == "committing"
        return committing and is_put(request, document)

    first, second = (
        [BIN, "copy", tmp_path / name, url, "--overwrite", *QUIET] for name in ("first", "second")
    )
    ended = Stop(server, chosen, second).run(first, env)
    assert ended.returncode != 0
    assert "was taken over while this run was writing it" in ended.stderr
    doc = json.loads(server.objects[document].data)
    assert (doc["attributes"] if zarr_format == 3 else doc) == {"t": "second"}
    assert "consolidated_metadata" in doc or "z.zarr/.zmetadata" in server.objects


def test_signs_of_life_of_a_slow_commit(server, tmp_path):
    """While one request of a commit lasts longer than a run may be silent."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    assert run(*command("p - 3", tmp_path, url)[1:], env=env).code == 0
    beats = []

    def beat():
        return json.loads(server.objects["z.zarr/.cubed-run"].data)["beat"]

    def slow():
        until, first = time.monotonic() + 20, beat()
        while beat() < first + 2 and time.monotonic() < until:
            time.sleep(0.02)
        beats.append(beat() - first)

    server.fault = lambda r: slow if r.op == "copy" and not beats else None
    silent = ("--overwrite", "--executor-option", "silence=2")
    assert run(*command("q + 5", tmp_path, url, *silent)[1:], env=env).code == 0
    assert beats and beats[0] >= 2
    np.testing.assert_array_equal(values_of(url, env), [7.0] * CHUNK + [5.0] * 10)


def test_resumed(server, tmp_path):
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    same = command("p * 7", tmp_path, url, "--resume")
    first = Stop(server, WHERE["middle chunk"], same).run(same, env)
    assert first.returncode != 0
    assert "was taken over while this run was writing it" in first.stderr
    np.testing.assert_array_equal(values_of(url, env), [7.0] * ROWS)


def test_objects_of_attempts_before_are_replaced(server, tmp_path):
    """What is there while the place is the run's is an attempt's, or another run's late chunk."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}

    def put_before():
        some = next(iter(server.objects.values()))
        server.objects["z.zarr/c/3"] = type(some)(b"of an attempt before", dict(some.meta))

    def fault(request):
        return put_before if is_put(request, "z.zarr/c/3") and not met else None

    met = []
    server.fault = lambda r: (fault(r), met.append(r) if is_put(r, "z.zarr/c/3") else None)[0]
    for text, options in (("p * 7", ()), ("q", ("--overwrite",))):
        met.clear()
        result = run(*command(text, tmp_path, url, *options)[1:], env=env)
        assert result.code == 0, result.err
        expected = [7.0] * ROWS if text == "p * 7" else [2.0] * CHUNK + [0.0] * 10
        np.testing.assert_array_equal(values_of(url, env), expected)


def test_requests(server, tmp_path):
    """Conditions come with the puts, and need no requests of their own."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    result = run(*command("p * 7", tmp_path, url)[1:], env=env)
    assert result.code == 0, result.err
    chunks = [r for r in server.requests if "/c/" in r.key]
    assert [r.op for r in chunks] == ["put"] * (ROWS // CHUNK)
    others = [r for r in server.requests if "/c/" not in r.key]
    assert len(others) <= 15


def test_requests_of_plans(server, tmp_path):
    """Runs make as many requests for their claims as --plan says, or a few less."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    for options, slack in (((), 1), (("--overwrite",), 3)):
        wanted = command("p * 7", tmp_path, url, *options)[1:]
        (target,) = json.loads(run(*wanted, "--plan", "--json", env=env).out)["targets"]
        text = run(*wanted, "--plan", env=env).out
        server.requests.clear()
        result = run(*wanted, env=env)
        assert result.code == 0, result.err
        claim = [r for r in server.requests if r.key.endswith(".cubed-run")]
        assert len(claim) <= target["claim_requests"] <= len(claim) + slack
        assert target["chunk_requests"] == 0
        assert f"up to {target['claim_requests']} requests for the claim, 0 in addition" in text
        assert ("exists until the new one is complete" in text) == bool(options)
        assert target["promise"] in text


def test_requests_of_chunks_that_go_in_parts(tmp_path):
    """Google has no conditions for parts, so each such chunk is put after a look at the claim."""
    with cloud_servers.GoogleServer() as s, pytest.MonkeyPatch.context() as environment:
        for name, value in s.variables.items():
            environment.setenv(name, value)
        options = {"multipart_threshold": "5MiB", "multipart_chunksize": "5MiB"}
        spec = cubed.Spec(storage_options=options, zarr_compressor=None)
        x = cubed.zeros((3, 1 << 20), chunks=(1, 1 << 20), spec=spec) + 1.0
        later = cubed.to_zarr(x, f"{s.url}/z.zarr", compute=False)
        (target,) = later.plan().targets
        assert target["fence"] == "conditions"
        assert target["chunk_requests"] == 1
        s.requests.clear()
        later.compute()
        claim = [r for r in s.requests if r.key.endswith(".cubed-run")]
        assert len(claim) <= target["claim_requests"] + 3 * target["chunk_requests"]
        assert len([r for r in claim if r.op == "get"]) >= 3
