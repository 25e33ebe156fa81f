"""Memory that this process holds for code: Python, this package, and libraries that tasks call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from resource import RUSAGE_SELF, getrusage
from typing import Any

#: Bytes that belong to no file, of Python and what was imported, as far as they were counted.
_private = 0
#: All bytes of a process that was measured, which had no data, and of what it imported later.
_measured = 0

_FILE_OF_CODE = re.compile(rb"^[0-9a-f]+-.*(?:\.so(?:\.[0-9.]+)?|/python[0-9.]*)$")


def may_hold(limit: int) -> bool:
    """Whether this process may hold more than `limit` bytes for code. Opens a file only if the
    process has ever held more than that."""
    if max(getrusage(RUSAGE_SELF).ru_maxrss * 1024, _measured) <= limit:
        return False
    return max(_private + _status(b"RssFile:"), _measured) > limit


def held_for_code() -> int:
    """Bytes that are resident for code; 0 where the system does not tell."""
    return max(_private + _files_of_code(), _measured)


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
        with open("/proc/self/status", "rb") as file:  # noqa: PTH123 (no import of pathlib)
            found = re.search(line + rb"\s*(\d+) kB", file.read())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


def _files_of_code() -> int:
    total, counts = 0, False
    try:
        with open("/proc/self/smaps", "rb") as lines:  # noqa: PTH123 (no import of pathlib)
            for line in lines:
                if line.startswith(b"Rss:"):
                    total += int(line.split()[1]) * 1024 if counts else 0
                elif line[:1] in b"0123456789abcdef":
                    counts = _FILE_OF_CODE.match(line) is not None
    except OSError:
        return 0
    return total
