"""Servers that send endless, wrong or no replies: a right value or a clear error, soon.

Each row of the table is tried with a web server and the services; memory is that of an honest run.
"""

import itertools
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import quote

import numpy as np
import pytest
from conftest import BIN, NIGHTLY
from hostile_server import Hostile, Request, chunked, endless, head, honest, listing, slowly

import zarr

pytestmark = pytest.mark.usefixtures("environment")

A = np.arange(1000.0)
KINDS = ("web", "s3", "gs", "az")
#: Seconds that a run may take on a busy machine, and bytes more than an honest run.
SECONDS, BYTES = 60, 6 << 20


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, bytes]:
    """An array without compression, and one in shards, which is read in ranges."""
    root = tmp_path_factory.mktemp("files")
    plain = zarr.create_array(
        root / "a", shape=(1000,), chunks=(500,), dtype="f8", compressors=None
    )
    plain[:] = A
    shards = zarr.create_array(root / "s", shape=(1000,), chunks=(50,), shards=(500,), dtype="f8")
    shards[:] = A
    paths = (p for p in root.rglob("*") if p.is_file())
    return {str(p.relative_to(root)): p.read_bytes() for p in paths}


def run(
    server: Hostile, *args: str, options: str = "", progress: bool = True
) -> tuple[int, str, int]:
    """Exit status, all that was said, and the peak of memory."""
    code = (
        "import resource, subprocess, sys;"
        "r = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT);"
        "sys.stdout.buffer.write(r.stdout);"
        "print('\\npeak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss);"
        "sys.exit(r.returncode)"
    )
    variables = {**os.environ, **server.variables, "CUBED_STORAGE_OPTIONS": options}
    done = subprocess.run(
        [sys.executable, "-c", code, BIN, *args]
        + (["--progress", "none", "--retries", "0"] if progress else []),
        env=variables, capture_output=True, text=True, timeout=SECONDS,
    )  # fmt: skip
    text, _, peak = done.stdout.rpartition("\npeak ")
    assert not done.stderr
    return done.returncode, text, int(peak) * 1024


def total(server: Hostile, kind: str, name: str, options: str = "") -> tuple[int, str, int]:
    return run(server, "eval", "sum(x)", "--in", f"x={server.url(kind)}/{name}", options=options)


@pytest.fixture(scope="module")
def usual(files) -> int:
    """The peak of memory with honest servers, whose results are right."""
    with Hostile(files) as s:
        runs = [total(s, kind, array) for kind in KINDS for array in ("a", "s")]
    assert all(code == 0 and "499500" in said for code, said, _ in runs), runs
    return max(peak for _, _, peak in runs)


@dataclass
class Row:
    """A behaviour for one object, and what is said; None: the result is right."""

    name: str
    reply: object  # of a Request: bytes
    says: str | None
    object: str = "c/0"  # chunk, or zarr.json
    array: str = "a"  # or "s": in shards
    kinds: tuple[str, ...] = KINDS
    options: str = ""


def ranged(r: Request) -> str:
    first, end = r.range
    return f"content-range: bytes {first}-{end - 1}/{len(r.data)}"


TAG = ('etag: "1"', "x-goog-generation: 1")
CHUNKED = "transfer-encoding: chunked"


def body(r: Request, *lines: str) -> Iterator[bytes]:
    """The whole object, whatever was asked for."""
    yield head(200, *TAG, *lines) + r.data


def lines(line: bytes) -> object:
    """A reply whose headers do not end."""

    def reply(r: Request) -> Iterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n"
        yield from endless(line)

    return reply


def without_end(code: int, *more: str, chunks: bool = True) -> object:
    def reply(r: Request) -> Iterator[bytes]:
        told = [ranged(r)] if code == 206 and r.range else []
        yield head(code, *TAG, *told, *more, *([CHUNKED] if chunks else []))
        yield from chunked(endless()) if chunks else endless()

    return reply


def part(r: Request, first: int, end: int, *more: str, says: str | None = None) -> Iterator[bytes]:
    said = says or f"bytes {first}-{end - 1}/{len(r.data)}"
    yield head(206, *TAG, f"content-range: {said}", f"content-length: {end - first}", *more)
    yield r.data[first:end]


ROWS = [
    Row("endless chunk", without_end(200), "c/0: .* expected 4000"),
    Row("endless chunk until close", without_end(200, chunks=False), "c/0: .* expected 4000"),
    Row("endless document", without_end(200), "not ended 64 MiB after", "zarr.json"),
    Row("endless range", without_end(206), "more bytes than it announced", "zarr.json"),
    Row("endless shard", without_end(206), "more bytes than it announced", array="s"),
    Row("endless shard, no range", without_end(200), "ignores ranges", array="s"),
    Row("endless error", without_end(403), "the reply is 403"),
    Row("endless headers", lines(b"a: b\r\n" * 4096), "more than .* lines of headers"),
    Row("endless line", lines(b"a" * 65536), "a header line of more than 100 kB"),
    Row("endless 1xx", lambda r: endless(head(100) * 512), "more than .* lines of headers"),
    Row("two lengths", lambda r: body(r, "content-length: 9", "content-length: 5"), "two lengths"),
    Row("negative length", lambda r: body(r, "content-length: -1"), "(?i)content-length"),
    Row("length of no number", lambda r: body(r, "content-length: 0x99"), "0 bytes, expected 4000"),
    Row("shorter length", lambda r: body(r, "content-length: 1000"), "1000 bytes, expected 4000"),
    Row("coded length", lambda r: [head(200, *TAG, CHUNKED, "content-length: 7"),
        *chunked([r.data])], None),
    Row("page", lambda r: [head(200, "content-type: text/html", "content-length: 4"), b"page"],
        "an HTML page"),
    Row("page for a document", lambda r: [head(200, "content-type: text/html",
        "content-length: 4"), b"page"], "an HTML page", "zarr.json"),
    Row("no range", lambda r: body(r, f"content-length: {len(r.data)}"), None, array="s"),
    Row("no range for a document", lambda r: body(r, f"content-length: {len(r.data)}"), None,
        "zarr.json"),
    Row("no range and no length", lambda r: body(r), None, "zarr.json", kinds=("web",)),
    Row("other range", lambda r: part(r, 8, 100), "another range than requested", "zarr.json"),
    Row("short range", lambda r: part(r, 0, 100), "another range than requested", "zarr.json"),
    Row("range of no total", lambda r: part(r, 0, len(r.data), says=f"bytes 0-{len(r.data) - 1}/*"),
        "does not report the object's length", "zarr.json"),
    Row("range of no numbers", lambda r: part(r, 0, 9, says="bytes x-y/z"),
        "another range than requested", "zarr.json"),
    Row("no range told", lambda r: [head(206, *TAG, "content-length: 9"), b"123456789"],
        "another range than requested", "zarr.json"),
    Row("304", lambda r: [head(304)], "was replaced while it was read"),
    Row("412", lambda r: [head(412, "content-length: 0")], "was replaced while it was read"),
    Row("416", lambda r: [head(416, "content-length: 0")] if r.method == "GET" and r.range
        else honest(r), "changed while it was read", "zarr.json", kinds=("s3", "az")),
    Row("204", lambda r: [head(204)], "the reply is 204, expected 200 or 206", "zarr.json"),
    Row("999", lambda r: [head(999, "content-length: 0")], "999"),
    Row("503 for a year", lambda r: [head(503, "retry-after: 99999999", "content-length: 0")],
        "asks for a pause of 86400 s, expected at most 600"),
    Row("503 for ten minutes", lambda r: [head(503, "retry-after: 601", "content-length: 0")],
        "asks for a pause of 601 s, expected at most 600"),
    Row("no HTTP", lambda r: [b"SSH-2.0-OpenSSH_9.2\r\n"], "HTTP/0.9"),
    Row("compressed", lambda r: body(r, "content-encoding: gzip", f"content-length: {len(r.data)}"),
        "content-encoding gzip, expected none", kinds=("web",)),
    Row("redirects", lambda r: [head(302, "location: /" + r.key, "connection: close",
        "content-length: 0")],
        "(?i)redirect", kinds=("web",)),
    Row("slow body", lambda r: itertools.chain([head(200, *TAG, "content-length: 4000")],
        slowly(r.data, 0.01)), "too slow: .* read_timeout", kinds=("web",),
        options="read_timeout 0.25"),
    Row("slow headers", lambda r: slowly(b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 9999, 0.01),
        "too slow: .* read_timeout", kinds=("web",),
        options="read_timeout 0.25"),
]  # fmt: skip


def kinds_of(number: int, row: Row) -> list[str]:
    """By default two servers of a row, others in each row: all read replies by the same code."""
    return [k for i, k in enumerate(row.kinds) if NIGHTLY or i in (0, number % len(row.kinds))]


CASES = [
    pytest.param(r, k, id=f"{r.name}: {k}") for i, r in enumerate(ROWS) for k in kinds_of(i, r)
]


@pytest.mark.parametrize(("row", "kind"), CASES)
def test_replies(row, kind, files, usual):
    wanted = f"{row.array}/{row.object}"
    with Hostile(files) as s:
        options = f"{quote(s.url(kind), safe='')} {row.options}\n" if row.options else ""
        s.behaviour = lambda r: iter(row.reply(r)) if r.key == wanted else None
        began = time.monotonic()
        code, said, peak = total(s, kind, row.array, options)
        took = time.monotonic() - began
        url = f"{s.url(kind)}/{row.array}"
    assert peak < usual + BYTES, f"{peak >> 20} MiB instead of {usual >> 20}"
    if row.says is None:
        assert code == 0 and "499500" in said, said
        return
    assert code == 1, said
    assert re.search(row.says, said), said
    assert row.object in said and url in said, said
    assert took < SECONDS / 2


# --- Listings


def pages(kind: str, replies: Iterator[tuple[list[str], str | None, str]]) -> object:
    """A server whose listings are these, one after the other: names, token, more elements."""

    def behave(r: Request) -> Iterator[bytes] | None:
        if not r.lists:
            return None
        text = listing(kind, *next(replies))
        return iter([head(200, f"content-length: {len(text)}", "connection: close") + text])

    return behave


def repeated(tokens: str, names: list[str]) -> object:
    return lambda: ((names, t, "") for t in itertools.cycle(tokens))


TRUNCATED = "<IsTruncated>true</IsTruncated>"
LISTINGS = {
    "the same token": (repeated("t", ["g/a/c/0"]), 'repeats the token "t" of an earlier page'),
    "two tokens in turn": (repeated("tu", ["g/a/c/0"]), "repeats the token"),
    "many tokens in turn": (repeated("0123456789abcdef", []), "repeats the token"),
    "empty pages": (
        lambda: (([], f"t{i}", "") for i in itertools.count()),
        "1000 pages in succession have no entries",
    ),
    "elsewhere": (lambda: itertools.repeat((["h/b", "x"], None, "")), '"h/b", which is not below'),
    "too short": (lambda: itertools.repeat((["g"], None, "")), None),
    "no key": (lambda: itertools.repeat((["g/../../x", "g//a", "g/a/"], None, "")), None),
    "a token of 8 kB": (
        lambda: itertools.repeat(([], "t" * 8192, "")),
        "token is not text of less than|token is too long",
    ),
}


@pytest.mark.parametrize("kind", KINDS[1:])
@pytest.mark.parametrize("name", LISTINGS)
def test_listings(name, kind):
    """A group without metadata of its members, and what a clean-up lists."""
    replies, says = LISTINGS[name]
    for command in (["info"], ["clean"]):
        with Hostile({"g/zarr.json": GROUP}) as s:
            s.behaviour = pages(kind, replies())
            code, said, _ = run(s, *command, f"{s.url(kind)}/g", progress=False)
            assert len(s.requests) < 1100
        if says is None and kind == "s3" and command == ["clean"]:
            says = "s3://b/g: the reply is 404, expected a bucket that exists"  # for its uploads
        if says is None:
            assert code == 0, said
            continue
        assert code == 1, said
        assert re.search(says, said), said
        assert f"{kind}://b/g" in said, said


GROUP = b'{"zarr_format": 3, "node_type": "group", "attributes": {}}'


def test_a_listing_that_is_truncated_and_goes_nowhere():
    """It is not taken for the whole."""
    with Hostile({"g/zarr.json": GROUP}) as s:
        s.behaviour = pages("s3", itertools.repeat((["g/a/zarr.json"], None, TRUNCATED)))
        code, said, _ = run(s, "info", "s3://b/g", progress=False)
    assert code == 1 and "the listing is truncated without a continuation" in said
