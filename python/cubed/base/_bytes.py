"""Numbers of bytes in human-readable form."""

from __future__ import annotations

import numbers

from cubed import _core


def parse_bytes(value: int | float | str | None) -> int:
    """Converts ``"200MB"``, ``"1.5 GiB"`` or a number to bytes; None is 0."""
    if value is None:
        return 0
    if isinstance(value, str):
        size = _core.parse_bytes(value)
        if size is None:
            raise ValueError(f"{value!r} is not a number of bytes, such as 200MB or 1.5GiB")
        return size
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{value!r} is not a number of bytes, such as 2_000_000 or '200MB'")
    if value < 0:
        raise ValueError(f"{value} bytes: expected a number that is not negative")
    return int(value)


def format_bytes(size: float) -> str:
    """Formats a number of bytes, such as ``"1.5 GB"``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.3g} {unit}" if size < 1000 else f"{size:.0f} {unit}"
