"""Lines of programs that made arrays, for errors of their tasks.

The engine keeps them in this process, not in saved plans: a plan is the same wherever its program's
lines move to.
"""

from __future__ import annotations

import linecache
import re
from types import CodeType
from typing import Any

from cubed import _core

_MOST_LINES = 6
_PACKAGE = __file__.rpartition("_origins.")[0]
_failed = re.compile(r"\bstage (\d+) \(")


def note_origins(on: bool = True) -> bool:
    """Says whether arrays keep the line that made them, which is so from the beginning.

    It takes less than a microsecond for each array.

    Returns
    -------
    bool
        What was said before.
    """
    return _core.note_origins(_PACKAGE if on else None)


def add_origins(error: BaseException, plan: Any) -> None:
    """Adds a note to the error of a task: the lines that made what its stage computes."""
    found = _failed.search(str(error))
    if found is None:
        return
    lines = [text for n in plan.origins(int(found[1])) if (text := _describe(n)) is not None]
    if not lines:
        return
    more = [f"  and {len(lines) - _MOST_LINES} more"] if len(lines) > _MOST_LINES else []
    shown = lines[:_MOST_LINES] + more
    error.add_note("\n".join([f"stage {found[1]} computes what was made here:", *shown]))


def _describe(number: int) -> str | None:
    origin = _core.origin(number)
    if origin is None:  # long ago
        return None
    code, position = origin
    line = _line_of(code, position)
    source = linecache.getline(code.co_filename, line).strip()
    text = f'  File "{code.co_filename}", line {line}, in {code.co_name}'
    return f"{text}\n    {source}" if source else text


def _line_of(code: CodeType, position: int) -> int:
    for start, end, line in code.co_lines():
        if start <= position < end and line is not None:
            return line
    return code.co_firstlineno
