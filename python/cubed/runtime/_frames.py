"""Messages between a worker and its child process, and a page of memory that both share."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import socket
    from mmap import mmap

_SIZE = struct.Struct("<Q")
#: State of a child's call: its start (0: no call), the bytes that it may use, the resident bytes
#: that the child may use (0: the system limits them), and the title of the function.
_CALL = struct.Struct("<qQQ200s")
PAGE_BYTES = _CALL.size
#: The reply of a child in which earlier runs have left too much memory in use: another child must
#: handle the message.
ANOTHER = b"?"


def send(to: socket.socket, data: bytes) -> None:
    """Sends a message."""
    to.sendall(_SIZE.pack(len(data)) + data)


def receive(source: socket.socket) -> bytes | None:
    """Returns the next message; None if the sender has closed the connection."""
    head = _exactly(source, _SIZE.size)
    return None if head is None else _exactly(source, _SIZE.unpack(head)[0])


def _exactly(source: socket.socket, n: int) -> bytes | None:
    data = bytearray(n)
    view, got = memoryview(data), 0
    while got < n:
        more = source.recv_into(view[got:])
        if more == 0:
            return None
        got += more
    return bytes(data)


def write_call(page: mmap, began: int, room: int, most: int, title: str) -> None:
    """Writes the start time of a function's call, its memory and its title to a shared mapping."""
    _CALL.pack_into(page, 0, began, room, most, title.encode()[:199])


def read_call(page: mmap) -> tuple[int, int, int, str]:
    """Reads what :func:`write_call` wrote last."""
    began, room, most, title = _CALL.unpack_from(page)
    return began, room, most, title.rstrip(b"\0").decode(errors="ignore")
