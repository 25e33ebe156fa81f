"""A run in an object store seems to have ended, another run takes over its place, and the first run
continues.

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
DELETES = ("delete", "deletes")


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
    return result.array()


class Stop:
    """Holds the first request for which `chosen` is true, until the other run has ended."""

    def __init__(self, server, chosen, other, later=0):
        self.server, self.chosen, self.other = server, chosen, other
        self.later = later  # seconds that the server's clock goes on meanwhile
        self.ended = None
        self.met = False

    def __call__(self, request):
        if self.met or not self.chosen(request):
            return None
        self.met = True
        return self.take_over

    def take_over(self):
        self.server.ahead += self.later
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

    def run(self, first, env, code=0):
        """The first run, and `code` is the other's."""
        self.env = env
        self.server.fault = self
        ended = subprocess.run(first, env=env, capture_output=True, text=True, timeout=60)
        self.server.fault = None
        assert self.met
        assert self.ended.returncode == code, self.ended.stderr
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


def state_of(server):
    return json.loads(server.objects["z.zarr/.cubed-run"].data)["state"]


@pytest.mark.parametrize("google", ["json", "xml"])
@pytest.mark.parametrize("what", ["documents", "chunks"])
def test_deletions_that_are_on_the_way(request, server, tmp_path, what, google):
    """A request to delete old objects, which was sent while the claim was the run's, is served
    after another run has put objects under the same keys. These have other versions."""
    if google == "xml":
        if not isinstance(server, cloud_servers.GoogleServer):
            pytest.skip("a second interface of Google's service")
        server = request.getfixturevalue("google_xml")
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    assert run(*command("p - 3", tmp_path, url)[1:], env=env).code == 0

    def chosen(r):
        if r.op not in DELETES or state_of(server) != "copying":
            return False
        # The documents of an array go first.
        return what == "documents" or "z.zarr/zarr.json" not in server.objects

    second = command("q + 5", tmp_path, url, "--overwrite")
    stop = Stop(server, chosen, second, later=601)
    first = stop.run(command("p * 7", tmp_path, url, "--overwrite"), env)
    assert first.returncode != 0
    assert "was taken over while this run was writing it" in first.stderr
    np.testing.assert_array_equal(values_of(url, env), [7.0] * CHUNK + [5.0] * 10)
    assert len([k for k in server.objects if "/c/" in k]) == ROWS // CHUNK
    assert all(k.startswith("z.zarr/") for k in server.objects), "a new array is left"


def test_chunks_are_deleted_after_metadata(server, tmp_path):
    """Readers of an array that is being replaced find its chunks, or no array."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    assert run(*command("p - 3", tmp_path, url)[1:], env=env).code == 0
    seen = []

    def look(r):
        if r.op in DELETES and r.key != "z.zarr/zarr.json" and state_of(server) == "copying":
            seen.append("z.zarr/zarr.json" in server.objects)

    server.fault = look
    assert run(*command("p * 7", tmp_path, url, "--overwrite")[1:], env=env).code == 0
    assert seen and not any(seen)


@pytest.mark.parametrize("what", ["documents", "chunks", "left"])
def test_deletions_of_the_same_bytes(server, tmp_path, what):
    """The second run puts the bytes that the first run is about to delete. In S3 versions are made
    of bytes, so the service refuses the request because it is old."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    wanted = command("q + 5", tmp_path, url)
    if what == "left":  # chunks of a run that failed
        server.fault = lambda r: "403" if is_put(r, "z.zarr/c/4") else None
    assert run(*wanted[1:], env=env).code == (what == "left")
    assert "z.zarr/c/3" in server.objects

    def chosen(r):
        if r.op not in DELETES or what == "left":
            return r.op in DELETES
        # The documents of an array go first.
        is_first = "z.zarr/zarr.json" in server.objects
        return state_of(server) == "copying" and is_first == (what == "documents")

    options = [] if what == "left" else ["--overwrite"]
    stop = Stop(server, chosen, [*wanted, *options], later=601)
    first = stop.run([*command("p * 7", tmp_path, url), *options], env)
    assert first.returncode != 0
    assert "was taken over while this run was writing it" in first.stderr
    np.testing.assert_array_equal(values_of(url, env), [7.0] * CHUNK + [5.0] * 10)
    assert len([k for k in server.objects if "/c/" in k]) == ROWS // CHUNK
    assert all(k.startswith("z.zarr/") for k in server.objects), "a new array is left"


def test_deletions_of_arrays_that_are_copied(server, tmp_path):
    """An array of strings, which no run computes, beside an array of numbers."""
    group = zarr.create_group(tmp_path / "g")
    group.create_array("x", shape=ROWS, chunks=CHUNK, dtype="f8")[...] = 1.0
    group.create_array("s", shape=ROWS, chunks=CHUNK, dtype=str)[...] = np.array(["a"] * ROWS)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    wanted = [BIN, "copy", tmp_path / "g", url, "--overwrite", *QUIET]
    assert run(*wanted[1:], env=env).code == 0
    there = sorted(k for k in server.objects if k.startswith("z.zarr/s/"))
    assert len(there) == 1 + ROWS // CHUNK

    def chosen(r):
        record = server.objects.get("z.zarr/x/.cubed-run")
        # The array of numbers has taken its place.
        swapped = record and json.loads(record.data)["state"] == "swapped"
        return r.op in DELETES and swapped and "new" not in r.key

    first = Stop(server, chosen, wanted, later=601).run(wanted, env)
    assert first.returncode != 0
    assert sorted(k for k in server.objects if k.startswith("z.zarr/s/")) == there


@pytest.mark.parametrize("known", [True, False], ids=["leases", "no leases"])
def test_deletions_that_take_longer(tmp_path, known):
    """A service that is slow for longer than a lease, or does not accept signatures that end."""
    sources(tmp_path)
    with Server(knows_leases=known) as server:
        url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
        assert run(*command("p - 3", tmp_path, url)[1:], env=env).code == 0
        slow = []

        def later():
            slow.append(True)
            server.ahead += 100

        server.fault = lambda r: later if r.op in DELETES and len(slow) < 2 else None
        result = run(*command("p * 7", tmp_path, url, "--overwrite")[1:], env=env)
        server.fault = None
        assert result.code == 0, result.err
        assert len(slow) == 2
        np.testing.assert_array_equal(values_of(url, env), [7.0] * ROWS)
        assert not server.wrong
        leased = [r for r in server.requests if "X-Amz-Expires" in r.query]
        assert leased and all(r.op in DELETES for r in leased)


@pytest.fixture
def google_xml():
    with cloud_servers.GoogleXmlServer() as s:
        yield s
        assert not s.wrong, s.wrong[:3]


def refuses(code, name):
    """A service that does not know conditions of deletions, and says so."""

    def fault(request):
        if request.op == "deletes":
            return ("error", code, name, "<ETag>")
        refused = code == 501 and request.op == "delete" and "if-match" in request.headers
        return ("error", code, name) if refused else None

    return fault


@pytest.mark.parametrize("how", ["ignored", "disabled", 501, 400])
def test_services_without_conditional_deletes(tmp_path, how):
    """Arrays are replaced there, too. A run looks at its claim before it deletes."""
    names = {501: "NotImplemented", 400: "MalformedXML"}
    sources(tmp_path)
    with Server(ignores_conditions=how == "ignored") as server:
        url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
        if how == "disabled":
            env["AWS_CONDITIONAL_PUT"] = "disabled"
        server.fault = refuses(how, names[how]) if how in names else None
        for text, value in (("p - 3", -2.0), ("p * 7", 7.0)):
            result = run(*command(text, tmp_path, url, "--overwrite")[1:], env=env)
            assert result.code == 0, result.err
            np.testing.assert_array_equal(values_of(url, env), [value] * ROWS)
        assert sum(r.op in DELETES for r in server.requests) <= 12
        assert not server.wrong


def test_deletions_without_conditions_end(tmp_path):
    """A service that ignores conditions refuses what is sent long after the look at the claim."""
    sources(tmp_path)
    with Server(ignores_conditions=True) as server:
        url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
        assert run(*command("p - 3", tmp_path, url)[1:], env=env).code == 0

        def chosen(r):
            copies = state_of(server) == "copying"
            return r.op in DELETES and copies and "z.zarr/zarr.json" not in server.objects

        second = command("q + 5", tmp_path, url, "--overwrite")
        stop = Stop(server, chosen, second, later=601)
        first = stop.run(command("p * 7", tmp_path, url, "--overwrite"), env)
        assert "was taken over while this run was writing it" in first.stderr
        np.testing.assert_array_equal(values_of(url, env), [7.0] * CHUNK + [5.0] * 10)


@pytest.mark.parametrize("how", ["anew", "--resume"])
def test_clean_and_a_run_that_resumes(server, tmp_path, how):
    """Chunks that `cubed clean` is about to delete are not used by a run that resumes."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    wanted = command("q + 5", tmp_path, url)
    server.fault = lambda r: "403" if is_put(r, "z.zarr/c/4") else None
    assert run(*wanted[1:], env=env).code == 1
    second = [*wanted, "--resume"] if how == "--resume" else wanted
    stop = Stop(server, lambda r: r.op in DELETES, second, later=601)
    clean = stop.run([BIN, "clean", url], env, code=1 if how == "--resume" else 0)
    if how == "--resume":
        assert "unfinished run of another computation" in stop.ended.stderr
        assert "z.zarr/zarr.json" not in server.objects
    else:
        assert clean.returncode == 1
        assert "was taken over" in clean.stderr
        np.testing.assert_array_equal(values_of(url, env), [7.0] * CHUNK + [5.0] * 10)


def test_intermediates_of_a_late_run(server, tmp_path):
    """A run that resumes a late run has intermediates of its own: late puts and deletions of the
    other run do not reach them."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    same = command("p - mean(p, axis=0) + 1", tmp_path, url, "--resume", "--executor", "processes",
                   "--work-dir", f"{server.url}/work")  # fmt: skip
    first = Stop(server, lambda r: is_put(r, "z.zarr/c/3"), same).run(same, env)
    assert first.returncode != 0
    assert "was taken over while this run was writing it" in first.stderr
    np.testing.assert_array_equal(values_of(url, env), [1.0] * ROWS)
    inside = [r for r in server.requests if r.key.startswith("work/cubed-")]
    assert len({r.key.split("/")[1] for r in inside}) == 2
    assert [r for r in inside if r.op == "copy"], "what the first run left is not used"
    assert run("clean", f"{server.url}/work", env=env).code == 0
    assert not [k for k in server.objects if k.startswith("work/")]


def test_what_changes_while_it_is_deleted(server, tmp_path):
    """A program that is no run puts objects again and again: they are listed again, or it is
    said."""
    sources(tmp_path)
    url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
    for times in (1, 1000):
        assert run(*command("p - 3", tmp_path, url, "--overwrite")[1:], env=env).code == 0
        left = [times]

        def put_another(left=left):
            left[0] -= 1
            old = server.objects["z.zarr/c/3"]
            new = type(old)(b"%d" % left[0], dict(old.meta))
            for name in ("generation", "x-goog-generation"):
                if name in new.meta:
                    new.meta[name] = str(next(cloud_servers.numbers))
            server.objects["z.zarr/c/3"] = new

        def fault(r, left=left, put=put_another):
            deletes = r.op in DELETES and state_of(server) == "copying"
            return put if left[0] and deletes and "z.zarr/c/3" in server.objects else None

        server.fault = fault
        result = run(*command("p * 7", tmp_path, url, "--overwrite")[1:], env=env)
        server.fault = None
        if times == 1:
            assert result.code == 0, result.err
            np.testing.assert_array_equal(values_of(url, env), [7.0] * ROWS)
        else:
            assert result.code == 1
            assert "another process replaced objects 5 times" in result.err
            assert run("clean", url, env=env).code == 0
            np.testing.assert_array_equal(values_of(url, env), [7.0] * ROWS)


def test_requests_of_deletions(tmp_path):
    """Conditions come with the deletions, and need no requests of their own."""
    sources(tmp_path)
    with Server(page=1000) as server:
        url, env = f"{server.url}/z.zarr", {**os.environ, **server.variables}
        assert run(*command("p - 3", tmp_path, url)[1:], env=env).code == 0
        server.requests.clear()
        assert run(*command("p * 7", tmp_path, url, "--overwrite")[1:], env=env).code == 0
        deletions = [r for r in server.requests if r.op in DELETES and "new" not in r.key]
        assert len(deletions) <= 5, deletions
        assert len(server.requests) <= 55


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
        [BIN, "copy", tmp_path / name, url, "--overwrite", "--no-history", *QUIET]
        for name in ("first", "second")
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
