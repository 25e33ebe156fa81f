"""A server on this machine that violates protocols: a test states each reply byte by byte.

It serves the files of a dictionary as a web server, S3, Google's Cloud Storage (JSON) and Azure do,
whichever is asked. A behaviour gets the request and yields the bytes of the reply, without end if
it likes; None stands for an honest reply.
"""

import contextlib
import itertools
import json
import re
import socket
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

NOBODY = "AZURE_SKIP_SIGNATURE", "AWS_NO_SIGN_REQUEST", "GOOGLE_SKIP_SIGNATURE"


@dataclass
class Request:
    """What is asked for: `key` is that of an object, or the prefix of a listing."""

    method: str
    key: str
    lists: bool
    headers: dict[str, str]
    query: dict[str, str]
    data: bytes | None  # of the object; None: there is none
    kind: str  # web, s3, gs or az

    @property
    def range(self) -> tuple[int, int] | None:
        """First byte and the one behind the last."""
        asked = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("range", ""))
        if not asked or self.data is None:
            return None
        size = len(self.data)
        if not asked[1]:
            return max(size - int(asked[2]), 0), size
        return int(asked[1]), min(int(asked[2] or size) + 1, size)


Behaviour = Callable[[Request], Iterator[bytes] | None]


def head(code: int, *lines: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {code} Said", *lines, "", ""]).encode()


def chunked(parts: Iterator[bytes]) -> Iterator[bytes]:
    for part in parts:
        yield b"%x\r\n%b\r\n" % (len(part), part)
    yield b"0\r\n\r\n"


def endless(part: bytes = bytes(1 << 16)) -> Iterator[bytes]:
    return itertools.repeat(part)


def honest(r: Request, *more: str, tag: str | None = '"1"') -> Iterator[bytes]:
    """An object as a good server sends it; without `tag` it tells no version of its own."""
    if r.lists:
        yield from honest_listing(r)
        return
    if r.data is None:
        yield head(404, "content-length: 0")
        return
    lines = [*more, *([f"etag: {tag}", "x-goog-generation: 1"] if tag else [])]
    if r.kind == "gs" and r.query.get("alt") != "media":
        text = json.dumps({"size": str(len(r.data)), "generation": "1"}).encode()
        yield head(200, f"content-length: {len(text)}") + text
        return
    first, end = r.range or (0, len(r.data))
    if r.range and first >= len(r.data):
        yield head(416, "content-length: 0", f"content-range: bytes */{len(r.data)}")
        return
    if r.range:
        lines.append(f"content-range: bytes {first}-{end - 1}/{len(r.data)}")
    yield head(206 if r.range else 200, f"content-length: {end - first}", *lines)
    if r.method != "HEAD":
        yield r.data[first:end]


def listing(kind: str, names: list[str], token: str | None, more: str = "") -> bytes:
    """A page of a listing of these objects, with a token for the next."""
    if kind == "gs":
        page = {"items": [{"name": n, "size": "1"} for n in names]}
        return json.dumps(page | ({"nextPageToken": token} if token else {})).encode()
    if kind == "az":
        blobs = "".join(f"<Blob><Name>{escape(n)}</Name></Blob>" for n in names)
        return (
            f"<EnumerationResults><Blobs>{blobs}</Blobs><NextMarker>{token or ''}</NextMarker>"
            "</EnumerationResults>"
        ).encode()
    text = "".join(f"<Contents><Key>{escape(n)}</Key><Size>1</Size></Contents>" for n in names)
    text += f"<NextContinuationToken>{token}</NextContinuationToken>" if token else ""
    return f"<ListBucketResult>{text}{more}</ListBucketResult>".encode()


def honest_listing(r: Request) -> Iterator[bytes]:
    body = listing(r.kind, [], None)
    yield head(200, f"content-length: {len(body)}") + body


@dataclass
class Hostile:
    """``with Hostile(files) as s``: one bucket "b", or the root of a web server."""

    files: dict[str, bytes]
    behaviour: Behaviour = lambda r: None
    requests: list[Request] = field(default_factory=list)

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.ended = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.listener.close()

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def url(self, kind: str) -> str:
        return self.endpoint if kind == "web" else f"{kind}://b"

    @property
    def variables(self) -> dict[str, str]:
        places = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "STORAGE_EMULATOR_HOST": self.endpoint,
            "AZURE_STORAGE_ENDPOINT": f"{self.endpoint}/account",
        }
        return places | dict.fromkeys(NOBODY, "true")

    def accept(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def parse(self, text: str) -> Request:
        first, *lines = text.split("\r\n")
        method, target, _ = first.split(" ")
        path, _, query = target.partition("?")
        q = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        headers = {k.lower(): v.strip() for k, _, v in (x.partition(":") for x in lines) if k}
        lists = "list-type" in q or q.get("comp") == "list"
        if found := re.fullmatch("/storage/v1/b/b/o(?:/(.*))?", path):
            kind, key, lists = "gs", found[1] or "", not found[1]
        elif found := re.fullmatch("/account/b(?:/(.*))?", path):
            kind, key = "az", found[1] or ""
        elif (found := re.fullmatch("/b(?:/(.*))?", path)) and "host" in headers:
            kind, key = "s3", found[1] or ""
        else:
            kind, key = "web", path[1:]
        key = urllib.parse.unquote(key)
        return Request(method, key, lists, headers, q, self.files.get(key), kind)

    def serve(self, client: socket.socket) -> None:
        with client, contextlib.suppress(OSError):
            file = client.makefile("rb")
            while not self.ended.is_set():
                text = b""
                while not text.endswith(b"\r\n\r\n"):
                    line = file.readline()
                    if not line:
                        return
                    text += line
                r = self.parse(text.decode())
                self.requests.append(r)
                reply = self.behaviour(r)
                for part in honest(r) if reply is None else reply:
                    client.sendall(part)
                    if self.ended.is_set():
                        return
                if reply is not None:
                    return  # whatever it was, the next request has another connection


def slowly(data: bytes, seconds: float) -> Iterator[bytes]:
    """One byte after the other."""
    for byte in data:
        time.sleep(seconds)
        yield bytes([byte])
