"""Lines of programs that applied functions to blocks, for errors in their calls.

They are kept in this process, by title, not in plans: a plan is the same wherever its program's
lines move to.
"""

from __future__ import annotations

import linecache
import sys
from collections import OrderedDict

_PACKAGE = __file__.rpartition("_origins.")[0]

#: File and line number of each title's calls, the latest last.
_origins: OrderedDict[str, list[tuple[str, int]]] = OrderedDict()
_KEEP_TITLES, _KEEP_LINES = 256, 3


def remember_origin(title: str) -> None:
    """Keeps the line that called the package: the program's own, if it did so through libraries."""
    frame = sys._getframe(1)
    nearest = None
    while frame is not None:
        code = frame.f_code.co_filename
        if not code.startswith(_PACKAGE):
            nearest = nearest or (code, frame.f_lineno)
            if "site-packages" not in code:
                nearest = (code, frame.f_lineno)
                break
        frame = frame.f_back  # type: ignore[assignment]
    if nearest is None:
        return
    lines = [o for o in _origins.pop(title, []) if o != nearest]
    _origins[title] = [*lines, nearest][-_KEEP_LINES:]
    if len(_origins) > _KEEP_TITLES:
        _origins.popitem(last=False)


def origins_note(message: str) -> str | None:
    """Where the operation was made whose call an error's message is about."""
    before = message.partition(", block (")[0]
    title = max((t for t in list(_origins) if before.endswith(t)), key=len, default=None)
    if title is None:
        return None
    text = [f"{title} was made here:"]
    for file, line in _origins[title]:
        text.append(f'  File "{file}", line {line}')
        source = linecache.getline(file, line).strip()
        if source:
            text.append(f"    {source}")
    return "\n".join(text)
