"""Memory that this process holds for code: Python, this package, and libraries that tasks call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

#: Bytes that belong to no file, of Python and what was imported, as far as they were counted.
_private = 0
#: All bytes of a process that was measured, which had no data, and of what it imported later.
_measured = 0

_FILE_OF_CODE = re.compile(rb"^[0-9a-f]+-.*(?:\.so(?:\.[0-9.]+)?|/python[0-9.]*)$")


def held_for_code(at_most: bool = False) -> int:
    """Bytes that are resident for code; 0 where the system does not tell.

    Parameters
    ----------
    at_most : bool
        Count all files that this process maps. This is fast; else only code is counted.
    """
    files = _status(b"RssFile:") if at_most else _files_of_code()
    return max(_private + files, _measured)


def note_package() -> None:
    """Counts the package, which has been imported, and Python. There are no data yet."""
    global _private
    _private = _status(b"RssAnon:")


def note_measured(resident: int) -> None:
    """Counts all memory of this process, which was measured before it has data."""
    global _measured
    _measured = max(_measured, resident)


@contextmanager
def counting_imports() -> Iterator[None]:
    """Counts what is imported in its block."""
    global _private, _measured
    private, files = _status(b"RssAnon:"), _status(b"RssFile:")
    try:
        yield
    finally:
        more = max(0, _status(b"RssAnon:") - private)
        _private += more
        if _measured:
            _measured += more + max(0, _status(b"RssFile:") - files)


def import_counted(name: str) -> Any:
    """A library that tasks call, imported before them."""
    with counting_imports():
        return import_module(name)


def _status(line: bytes) -> int:
    try:
        found = re.search(line + rb"\s*(\d+) kB", Path("/proc/self/status").read_bytes())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _files_of_code() -> int:
    try:
        lines = Path("/proc/self/smaps").read_bytes().split(b"\n")
    except OSError:
        return 0
    total, counts = 0, False
    for line in lines:
        if line.startswith(b"Rss:"):
            total += int(line.split()[1]) * 1024 if counts else 0
        elif line[:1] in b"0123456789abcdef":
            counts = _FILE_OF_CODE.match(line) is not None
    return total
