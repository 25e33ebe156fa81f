"""Source lines that created arrays, for errors of their stages.

The engine keeps them in this process, not in saved plans: a plan does not change if lines of its
program move.
"""

from __future__ import annotations

import sys
from types import CodeType

from cubed import _core

_PACKAGE = __file__.rpartition("base/_origins.")[0]


def note_origins(on: bool = True) -> bool:
    """Sets whether arrays record the source line that created them, which is the default.

    Recording a line takes less than a microsecond.

    Parameters
    ----------
    on : bool, default True
        Whether arrays record their line.

    Returns
    -------
    bool
        The previous setting.

    Examples
    --------
    >>> import cubed
    >>> from cubed.diagnostics import note_origins
    >>> before = note_origins(False)
    >>> note_origins(before)
    False
    """
    return _core.note_origins(_PACKAGE if on else None)


def add_origins(error: BaseException) -> None:
    """Adds a note to an error of a run or plan, with the lines that created the stage's arrays."""
    origins = getattr(error, "__dict__", {}).pop("_cubed_origins", ())
    lines = [text for n in origins if (text := _describe(n)) is not None]
    if lines:
        note = "\n".join(
            ["source lines that created the arrays of the stage, the last line first:", *lines]
        )
        error.add_note(note)


def _describe(number: int) -> str | None:
    origin = _core.origin(number)
    if origin is None:  # the engine has discarded it, because it is old
        return None
    code, position = origin
    line = _line_of(code, position)
    import linecache  # lazy: needed only for errors

    source = linecache.getline(code.co_filename, line).strip()
    text = f"  {_place(code.co_filename)}, line {line}, in {code.co_name}"
    return f"{text}\n    {source}" if source else text


def _place(filename: str) -> str:
    """Formats a file name as in tracebacks; notebook cells have special names."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    cell = shell.compile.format_code_name(filename) if shell is not None else None
    return " ".join(cell) if cell else f'File "{filename}"'


def _line_of(code: CodeType, position: int) -> int:
    for start, end, line in code.co_lines():
        if start <= position < end and line is not None:
            return line
    return code.co_firstlineno
