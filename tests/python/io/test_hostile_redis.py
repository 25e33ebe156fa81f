"""Redis servers that send endless, wrong or no replies: a clear error soon, with little memory."""

import contextlib
import os
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from conftest import BIN
from hostile_server import endless, slowly

pytestmark = pytest.mark.usefixtures("environment")

GROUP = b'{"zarr_format": 3, "node_type": "group", "attributes": {}}'
VERSION = b"0123456789abcdef"


def bulk(data: bytes) -> bytes:
    return b"$%d\r\n%b\r\n" % (len(data), data)


class Redis:
    """``with Redis(replies) as s``: honest, with one group, except in commands of `replies`."""

    def __init__(self, replies: dict[str, Callable[[], Iterator[bytes]]]):
        self.replies = replies
        self.commands: list[str] = []

    def __enter__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.ended = threading.Event()
        threading.Thread(target=self.accept, daemon=True).start()
        self.url = f"redis://127.0.0.1:{self.listener.getsockname()[1]}/g"
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.listener.close()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        with client, contextlib.suppress(OSError):
            file, queued = client.makefile("rb"), None
            while line := file.readline():
                parts = []
                for _ in range(int(line[1:])):
                    size = int(file.readline()[1:])
                    parts.append(file.read(size + 2)[:-2])
                name = parts[0].decode()
                self.commands.append(name)
                if name in self.replies:
                    for part in self.replies[name]():
                        client.sendall(part)
                        if self.ended.is_set():
                            return
                    continue
                said = self.honest(parts)
                if name == "MULTI":
                    queued = []
                elif name == "EXEC":
                    said = b"*%d\r\n" % len(queued) + b"".join(queued)
                    queued = None
                elif queued is not None:
                    queued.append(said)
                    said = b"+QUEUED\r\n"
                client.sendall(said)

    def honest(self, parts):
        data = VERSION + GROUP if parts[1:2] == [b"g/zarr.json"] else b""
        match parts[0]:
            case b"STRLEN":
                return b":%d\r\n" % len(data)
            case b"GETRANGE":
                return bulk(data[int(parts[2]) : int(parts[3]) + 1])
            case b"SCAN":
                return b"*2\r\n$1\r\n0\r\n*0\r\n"
        return b"+OK\r\n"


def info(server: Redis, timeout: str = "30") -> subprocess.CompletedProcess:
    variables = {**os.environ, "REDIS_TIMEOUT": timeout}
    return subprocess.run(
        [BIN, "info", server.url], env=variables, capture_output=True, text=True, timeout=60
    )


def exec_of(*parts: bytes) -> bytes:
    return b"*%d\r\n" % len(parts) + b"".join(parts)


def page(cursor: bytes, *names: bytes) -> bytes:
    return b"*2\r\n" + bulk(cursor) + b"*%d\r\n" % len(names) + b"".join(map(bulk, names))


NOT_REDIS = "is not a valid reply of the Redis protocol"
HEADS = [b":74\r\n", bulk(VERSION)]
ROWS = {
    "endless line": ("MULTI", lambda: endless(b"+" * 65536), "a line of more than 65536 bytes"),
    "endless error": ("MULTI", lambda: endless(b"-ERR" * 16384), "a line of more than 65536 bytes"),
    "another protocol": ("MULTI", lambda: [b"HTTP/1.1 400 Bad Request\r\n\r\n"], "does not speak"),
    "a number with more": ("EXEC", lambda: [exec_of(b":7x\r\n")], "parts, expected"),
    "no number": ("EXEC", lambda: [b"*3\r\n:x\r\n"], NOT_REDIS),
    "a number beyond 64 bits": ("EXEC", lambda: [b"*99999999999999999999\r\n"], NOT_REDIS),
    "a negative count": ("EXEC", lambda: [b"*-7\r\n"], NOT_REDIS),
    "a huge count": ("EXEC", lambda: [b"*1048577\r\n"], "parts, expected at most 1048576"),
    "nested arrays": ("EXEC", lambda: endless(b"*3\r\n" * 4096), "an unexpected type"),
    "a huge string": (
        "EXEC",
        lambda: [b"*3\r\n:74\r\n$536870913\r\n", *[bytes(65536)] * 9],
        "bytes.*expected at most 536870912",
    ),
    "a longer string": (
        "EXEC",
        lambda: [exec_of(*HEADS, b"$99999\r\n"), *[bytes(65536)] * 9],
        "expected at most 16384",
    ),
    "a string without an end": (
        "EXEC",
        lambda: [exec_of(*HEADS, b"$58\r\n" + 61 * b"a")],
        "does not end where it should",
    ),
    "fewer bytes": (
        "EXEC",
        lambda: [exec_of(*HEADS, bulk(b"{}"))],
        "has 2 bytes of an object of 58",
    ),
    "a cursor that repeats": ("SCAN", lambda: [page(b"7", b"g/a/c/0")], "repeats the token"),
    "names of elsewhere": ("SCAN", lambda: [page(b"0", b"h/b", b"x")], "which is not below"),
    "a cursor of no number": ("SCAN", lambda: [page(b"9" * 40)], "expected at most 31"),
    "a silent server": ("EXEC", lambda: iter(()), "no answer in time"),
    "a slow server": ("MULTI", lambda: slowly(b"+" * 999, 0.02), "too slow: .*REDIS_TIMEOUT"),
}


@pytest.mark.parametrize("name", ROWS)
def test_replies(name):
    command, reply, says = ROWS[name]
    with Redis({}) as s:
        assert info(s).returncode == 0
    with Redis({command: reply}) as s:
        began = time.monotonic()
        done = info(s, "0.25" if name.endswith("server") else "30")
    assert done.returncode == 1, done.stdout
    assert re.search(says, re.sub(r" \([\d.]+ .?B\)", "", done.stderr)), done.stderr
    assert s.url in done.stderr
    assert time.monotonic() - began < 30
