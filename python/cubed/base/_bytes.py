"""Numbers of bytes as people write them."""

from __future__ import annotations

import numbers
import re

_UNITS = {
    "": 1, "B": 1,
    "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15,
    "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
    "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40, "PIB": 2**50,
}  # fmt: skip


def parse_bytes(value: int | float | str | None) -> int:
    """``"200MB"``, ``"1.5 GiB"`` or a number, in bytes; None is 0."""
    if value is None:
        return 0
    if isinstance(value, str):
        match = re.fullmatch(r"\s*([0-9.eE+]+?)\s*([A-Za-z]*)\s*", value)
        unit = _UNITS.get(match[2].upper()) if match else None
        if match is None or unit is None:
            raise ValueError(f"{value!r} is no number of bytes, such as 200MB or 1.5GiB")
        try:
            size = float(match[1]) * unit
        except ValueError:
            raise ValueError(f"{value!r} is no number of bytes, such as 200MB or 1.5GiB") from None
        return int(size)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{value!r} is no number of bytes, such as 2_000_000 or '200MB'")
    if value < 0:
        raise ValueError(f"{value} bytes: expected a number that is not negative")
    return int(value)


def format_bytes(size: float) -> str:
    """``"1.5 GB"``."""
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if abs(size) < 1000 or unit == "TB":
            break
        size /= 1000
    return f"{size:.3g} {unit}" if size < 1000 else f"{size:.0f} {unit}"
