"""Writes the methods of Xarray's accessor that call functions of expressions.

The methods are made from the command's help. The help of a function consists of its usage, which is
a Python signature except for "...", then its summary and its arguments.
"""

from __future__ import annotations

import ast
import re
import subprocess
import textwrap
from pathlib import Path
from typing import NamedTuple

WIDTH = 100
CATEGORIES = ("climate", "fields")

HEADER = '''\
"""Climate and field functions as methods of Xarray's accessor: written by tools/generate."""

from __future__ import annotations

from typing import Any

from cubed.xarray._calls import AUTO, call


class Functions:
    """Climate and field functions, by the names that CDO and expressions have."""

    _owner: Any
'''

#: Parameters that calls take by name alone.
NAMED = {"dim", "edges", "freq", "keepdims", "method", "radius", "reference", "skipna", "weights"}

#: Annotations, and what numpydoc says, by name.
TYPES = {
    "base": ("float", "float"),
    "days": ("int", "int"),
    "degrees": ("float", "float"),
    "dim": ("str", "str"),
    "edges": ("str", '{"great_circles", "latitudes"}'),
    "first": ("Any", "str or date"),
    "fraction": ("float", "float"),
    "freq": ("str | None", "str or None"),
    "groupby": ("str", "str"),
    "keepdims": ("bool", "bool"),
    "last": ("Any", "str, date or None"),
    "length": ("int", "int"),
    "method": ("str", "str"),
    "neighbours": ("int", "int"),
    "part": ("str", "str"),
    "q": ("Any", "float or list of float"),
    "radius": ("float", "float"),
    "reference": ("tuple[str, str] | None", "tuple of str or None"),
    "season": ("Any", "str"),
    "skipna": ("bool | None", "bool or None"),
    "speed": ("float", "float"),
    "steps": ("int", "int"),
    "threshold": ("float", "float"),
    "after": ("int | None", "int or None"),
    "time": ("Any", "str, or tuple of str"),
    "value": ("float", "float"),
    **dict.fromkeys(("west", "east", "south", "north"), ("float", "float")),
    **dict.fromkeys(("before", "offset", "skip", "x1", "x2", "y1", "y2"), ("int", "int")),
    **dict.fromkeys(("month", "year", "day", "hour"), ("Any", "int, tuple of int or list of int")),
}
ARRAY = ("Any", "DataArray or Dataset")

#: Parameters of functions of fields, which the coordinates give.
OF_FIELDS = {
    "dim": (
        "Any",
        "str, list of str or None",
        "Dimensions of the field. None: those of its latitudes, longitudes or levels.",
    ),
    "weights": (
        "Any",
        'DataArray, None or "auto"',
        "Weights, aligned with the DataArray or Dataset by dimension names. None: equal weights."
        ' ``"auto"``: areas of cells, or the thickness of layers, by the coordinates.',
    ),
}


class Function(NamedTuple):
    """What the help says of a function."""

    name: str
    summary: str
    params: list[tuple[str, str | None]]  #: names, and defaults as Python spells them
    notes: dict[str, str]
    variadic: str | None


def helped(command: Path, *words: str) -> str:
    done = subprocess.run([command, "help", *words], check=True, capture_output=True, text=True)
    return done.stdout


def entries(text: str) -> dict[str, str]:
    """Names and texts of a list, whose long texts have several lines."""
    found: dict[str, str] = {}
    name = ""
    for line in text.splitlines():
        if begin := re.match(r"  (\w+) *(.*)", line):
            name = begin[1]
            found[name] = begin[2]
        elif name and line.startswith("   "):
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def described(command: Path, name: str) -> Function:
    text = helped(command, name)
    head, _, rest = text.partition("\narguments:\n")
    usage, _, summary = head.partition("\n\n")
    inner = usage.replace("\n", " ").split("(", 1)[1].rsplit(")", 1)[0]
    signature = re.sub(r"(\w+), \.\.\.", r"*\1", inner)
    found = ast.parse(f"lambda {signature}: 0", mode="eval").body
    assert isinstance(found, ast.Lambda)
    a = found.args
    defaults = [None] * (len(a.args) - len(a.defaults)) + [ast.unparse(d) for d in a.defaults]
    params: list[tuple[str, str | None]] = list(zip([p.arg for p in a.args], defaults, strict=True))
    params += [
        (p.arg, ast.unparse(d)) for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True) if d
    ]
    notes = entries(rest.partition("\nresult:\n")[0])
    variadic = a.vararg.arg if a.vararg else None
    return Function(name, " ".join(summary.split()), params[1:], notes, variadic)


def of_field(f: Function) -> Function:
    """The same function, whose axes and weights are found by coordinates."""
    params: list[tuple[str, str | None]] = []
    for name, default in f.params:
        if name == "axis":
            params.append(("dim", "None"))
        elif name == "weights":
            params.append(("weights", "AUTO"))
        elif name not in ("lat", "lon", "lat_bounds", "lon_bounds", "unstructured"):
            params.append((name, default))
    notes = {name: re.sub(r" Expects [^.]*\.$", "", note) for name, note in f.notes.items()}
    return f._replace(params=params, notes=notes)


def filled(text: str, indent: int) -> list[str]:
    return textwrap.wrap(text, WIDTH, initial_indent=" " * indent, subsequent_indent=" " * indent)


def wrapped(begin: str, items: list[str], end: str, indent: int) -> list[str]:
    """Lines of a call or a signature, as ruff formats it."""
    space = " " * indent
    whole = f"{space}{begin}{', '.join(items)}{end}"
    if len(whole) <= WIDTH:
        return [whole]
    inner = f"{space}    {', '.join(items)}"
    lines = [inner] if len(inner) <= WIDTH else [f"{space}    {item}," for item in items]
    return [f"{space}{begin}", *lines, f"{space}{end}"]


def method(f: Function, of_fields: bool) -> str:
    typed, listed = ["self"], []
    given = [(f.variadic, None)] * bool(f.variadic) + f.params
    for name, default in given:
        kind, shown = TYPES.get(name, ARRAY)
        note = f.notes.get(name, "")
        if name == "q" and "list" not in note:
            kind, shown = "float", "float"
        if name == "day" and "list" not in note:
            shown = "int or str"
        if of_fields and name in OF_FIELDS:
            kind, shown, note = OF_FIELDS[name]
        star = "*" if name == f.variadic else ""
        spelled = (default or "").replace("'", '"')
        typed.append(f"{star}{name}: {kind}" + (f" = {spelled}" if default else ""))
        says = {"AUTO": '"auto"'}.get(spelled, spelled)
        shown = shown if default in (None, "None") else f"{shown}, default {says}"
        listed += [f"        {star}{name} : {shown}", *filled(note, 12)]
    pairs = [f'("{n}", {n})' for n, _ in f.params if n not in NAMED]
    arguments = f"({pairs[0]},)" if len(pairs) == 1 else f"({', '.join(pairs)})"
    if f.variadic:
        arguments = f'[("{f.variadic}", v) for v in {f.variadic}]'
    named = ", ".join(f'"{n}": {n}' for n, _ in f.params if n in NAMED)
    summary, dot, more = f.summary.partition(". ")
    doc = [*filled(f'"""{summary}{dot.strip()}', 8), ""]
    doc += [*filled(more, 8), ""] if more else []
    doc += ["        Parameters", "        ----------", *listed, ""] if listed else []
    doc += ["        Returns", "        -------", "        DataArray or Dataset"]
    doc += ["            Lazy."]
    items = ["self._owner", f'"{f.name}"', arguments, f"{{{named}}}"]
    return "\n".join(
        [
            *wrapped(f"def {f.name}(", typed, ") -> Any:", 4),
            *doc,
            '        """',
            *wrapped("return call(", items, ")", 8),
        ]
    )


def module(command: Path) -> str:
    parts = [HEADER]
    for category in CATEGORIES:
        # `fields` is a function, too, whose help comes first.
        text = helped(command, category)
        listed = re.split(rf"^functions of {category}.*$", text, flags=re.M)[-1]
        for name in sorted(entries(listed)):
            f = described(command, name)
            is_field = category == "fields"
            parts.append(method(of_field(f) if is_field else f, is_field) + "\n")
    return "\n".join(parts)
