"""Numbers with their nouns, for output."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """Formats a count, such as ``"1 task"`` or ``"2,000 tasks"``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def duration(seconds: float) -> str:
    """Formats a time: ``"0.42 s"``, ``"75 s"``, ``"2 min 5 s"``, ``"3 h 20 min"``."""
    if seconds < 9.995:
        return f"{seconds:.2f} s"
    s = round(seconds)
    if s < 120:
        return f"{s} s"
    return f"{s // 60} min {s % 60} s" if s < 7200 else f"{s // 3600} h {s // 60 % 60} min"
