"""Writes modules of Python functions, and the hash table of their names, from the catalogue's rows.

Notes and examples are not in the rows. They are in src/catalogue/notes/CATEGORY/NAME.txt:
paragraphs, paragraphs "Raises ERROR: when", then a doctest. A paragraph "Result: NAME" names the
named tuple of several results, of cubed/functions/_results.py. A paragraph "Takes NAME: TYPE :
NOTES" adds a parameter that the Python function accepts and ignores. If TYPE is {"A", "B"} or None,
other values are errors. "Takes NAME by position: ..." lets the parameter be
given without its name. "Through NAME": a function of
cubed/functions/_prepare.py gets the row's name and the arguments, and makes the call. "Written by
hand": the package has its own function. "Mixed types.": arrays of a list keep their types, which
the row's function promotes. "Chunks: DEFAULT" gives the Python function a parameter of
that name, by which the result is rechunked. "Gives list of Array": the Python function returns a
list of results instead of a tuple. "Gives one or all": a single result is returned without a tuple.
"Spread": the Python function takes a list of arrays as separate positional arguments.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path
from typing import NamedTuple

from read_catalogue import Function, Param

WIDTH = 100
#: Maximum number of choices that a docstring lists as the type of a parameter.
MOST_LISTED = 7
#: Maximum number of characters of such a type, so that it fits into the line of the parameter.
LISTED_WIDTH = 80
SLOTS = 1024

HEADER = '''\
"""{title}: written by tools/generate from the catalogue of functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cubed import _core
from cubed.array._array import Array
from cubed.array._first import computes_first
from cubed.array._operands import common_spec, core_of, lazy
from cubed.array._select import counted_call
from cubed.base._types import Axis, ChunksLike, DTypeLike, Shape
from cubed.functions._calls import {calls}
from cubed.functions._prepare import {through}
from cubed.functions._results import {results}
from cubed.io._create import as_lazy
'''

#: Names of cubed/functions/_calls.py that bodies use.
CALLS = "alike, arrays_of, check_choice, lazy_list, nested, operand, rechunked, task_mem, type_for"

#: Titles of modules.
TITLES = {
    "bits": "Bits of integers",
    "fft": "Fourier transforms",
    "fields": "Fields of grids",
    "grids": "Positions on grids",
    "indexing": "Elements at positions",
    "linalg": "Linear algebra",
    "manipulation": "Functions that arrange elements",
    "measurements": "Measurements of labelled objects",
    "math": "Angles and parts of numbers",
    "interpolation": "Interpolation of images",
    "morphology": "Morphology of images",
    "ndimage": "Filters of images",
    "numeric": "Numbers",
    "pieces": "Pieces, sizes and diagonals",
    "products": "Products and polynomials",
    "remapping": "Horizontal grids",
    "searching": "Order and search",
    "sets": "Sets and selected elements",
    "statistical": "Statistics",
    "stats": "Statistics of samples",
}

#: The parameter of functions with a paragraph "Chunks".
CHUNKS = "Chunks of the result, see :func:`cubed.rechunk`."

NUMBERS = ("BOOL", "COMPLEX", "FLOAT", "INT")

#: Annotations, and what numpydoc says, by the kinds that a parameter accepts.
TYPES = {
    frozenset({"ARRAY"}): ("Any", "array_like"),
    frozenset({"ARRAY", "NONE"}): ("Any", "array_like or None"),
    frozenset({"ARRAYS"}): ("Sequence[Any]", "sequence of array_like"),
    frozenset({"BOOL"}): ("bool", "bool"),
    frozenset({"BOOL", "CHOICE"}): ("bool | str", "bool or str"),
    frozenset({"INT"}): ("int", "int"),
    frozenset({"ARRAY", "INT"}): ("Any", "int or array_like of int"),
    frozenset({"INTS"}): ("Sequence[int]", "sequence of int"),
    frozenset({"BOOL", "NONE"}): ("bool | None", "bool or None"),
    frozenset({"FLOAT"}): ("float", "float"),
    frozenset({"COMPLEX", "FLOAT"}): ("complex", "complex"),
    frozenset({"FLOAT", "FLOATS"}): ("Any", "float or array_like of float"),
    frozenset({"FLOATS"}): ("Any", "array_like of float"),
    frozenset({"LIST"}): ("Any", "array_like of float"),
    frozenset({"LIST", "NONE"}): ("Any", "array_like or None"),
    frozenset({"FLOAT", "NONE"}): ("float | None", "float or None"),
    frozenset({"CHOICE"}): ("str", ""),
    frozenset({"STRING"}): ("str", "str"),
    frozenset({"CHOICE", "NONE"}): ("str | None", ""),
    frozenset({"CHOICE", "LIST"}): ("str | Sequence[str]", "str or sequence of str"),
    frozenset({"INT", "NONE"}): ("int | None", "int or None"),
    frozenset({"INT", "INTS", "LIST", "NONE"}): ("Any", "int, array_like of int or None"),
    frozenset({"ARRAY", "BOOL", "INT", "NONE"}): ("Any", "array_like of int or None"),
    frozenset({"INT", "INTS"}): ("Shape", "int or tuple of int"),
    frozenset({"INT", "INTS", "SLICE"}): ("Any", "int, slice or array_like of int"),
    frozenset({"CHOICE", "FLOAT"}): ("str | float", "str or float"),
    frozenset({"CHOICE", "FLOAT", "NONE"}): ("str | float | None", "str, float or None"),
    frozenset({"DTYPE", "NONE"}): ("DTypeLike", "dtype or None"),
    frozenset({"INT", "INTS", "NONE"}): ("Axis", "int, tuple of int or None"),
    frozenset({"ARRAY", "FLOAT", "NONE"}): ("Any", "array_like, float or None"),
    frozenset({"ARRAY", *NUMBERS}): ("Any", "array_like"),
    frozenset({"ARRAY", "NONE", *NUMBERS}): ("Any", "array_like or None"),
}


class Notes(NamedTuple):
    """Text of a function that its row does not hold."""

    paragraphs: list[str]
    raises: list[tuple[str, str]]
    example: str
    result: str | None
    takes: list[tuple[str, str, str]]  #: names, types and notes
    by_position: bool  #: whether `takes` may be given without their names
    through: str | None  #: a function of cubed/functions/_prepare.py that makes the call
    by_hand: bool
    chunks: str | None  #: the default of the parameter; None: there is none
    is_mixed: bool  #: arrays of a list keep their types
    gives: str | None  #: of any number of results
    spread: bool


def notes_of(folder: Path, f: Function) -> Notes:
    path = folder / f.category / f"{f.name}.txt"
    text = path.read_text() if path.exists() else ""
    before, mark, after = text.partition(">>>")
    paragraphs: list[str] = []
    raises: list[tuple[str, str]] = []
    takes: list[tuple[str, str, str]] = []
    result = through = chunks = gives = None
    by_hand = by_position = is_mixed = spread = False
    for part in filter(None, (p.strip() for p in before.split("\n\n"))):
        if found := re.fullmatch(r"Raises (\w+): (.*)", part, re.DOTALL):
            raises.append((found[1], found[2]))
        elif found := re.fullmatch(r"Result: (\w+)", part):
            result = found[1]
        elif found := re.fullmatch(r"Takes (\w+)( by position)?: ([^:]*) : (.*)", part, re.DOTALL):
            takes.append((found[1], found[3], found[4]))
            by_position = bool(found[2])
        elif found := re.fullmatch(r"Through (\w+)", part):
            through = found[1]
        elif part == "Written by hand.":
            by_hand = True
        elif part == "Mixed types.":
            is_mixed = True
        elif found := re.fullmatch(r"Chunks: (.+)", part):
            chunks = found[1]
        elif found := re.fullmatch(r"Gives (.+)", part):
            gives = found[1]
        elif part == "Spread":
            spread = True
        else:
            paragraphs.append(part)
    example = (mark + after).strip()
    return Notes(
        paragraphs,
        raises,
        example,
        result,
        takes,
        by_position,
        through,
        by_hand,
        chunks,
        is_mixed,
        gives,
        spread,
    )


# --- Docstrings ----------------------------------------------------------------------------------


def fill(text: str, indent: int, used: int = 0) -> list[str]:
    """Lines of a docstring; `used` columns of each are taken."""
    width = WIDTH - 4 - indent - used
    lines = textwrap.wrap(" ".join(text.split()), width, break_on_hyphens=False)
    return [" " * indent + line for line in lines]


def is_listed_below(p: Param) -> bool:
    """Whether choices are too many, or too long, for the type."""
    return len(p.choices) > MOST_LISTED or sum(len(c) + 4 for c in p.choices) > LISTED_WIDTH


def type_of(p: Param) -> tuple[str, str]:
    if p.accepts not in TYPES:
        raise SystemExit(f"tools/generate: {p.name} accepts {sorted(p.accepts)}: add it to TYPES")
    annotation, said = TYPES[p.accepts]
    if p.accepts == {"INT", "INTS", "NONE"} and "AXIS" not in p.flags:
        return "Shape | None", "int, tuple of int or None"
    if p.accepts == {"ARRAY"} and p.flags & {"POSITION_ONLY", "LIKE"} == {"POSITION_ONLY"}:
        annotation, said = "Array", "Array"
    if p.name == "names":
        said = "sequence of str"
    elif is_listed_below(p) and not said:
        said = "str"
    elif p.choices and not said:
        said = "{" + ", ".join(f'"{c}"' for c in p.choices) + "}"
        said += " or None" if "NONE" in p.accepts else ""
    return annotation, said


def listed(p: Param) -> str:
    """Choices that are not in the type."""
    if not is_listed_below(p):
        return ""
    return " One of " + ", ".join(f'``"{c}"``' for c in p.choices) + "."


def section(heading: str, lines: list[str]) -> list[str]:
    return ["", heading, "-" * len(heading), *lines]


def docstring(f: Function, notes: Notes, shown: list[Param]) -> list[str]:
    lines = fill(f.summary, 0, used=3)
    for paragraph in notes.paragraphs:
        lines += ["", *fill(paragraph, 0)]
    params: list[str] = []
    for p in shown:
        default = f", default {spelled(p)}" if p.default not in (None, "None") else ""
        name, said = p.name, type_of(p)[1]
        if notes.spread and "VARIADIC" in p.flags:
            name, said = f"*{name}", "array_like"
        params += [f"{name} : {said}{default}", *fill(p.notes + listed(p), 4)]
    for name, said, text in notes.takes:
        params += [f"{name} : {said}", *fill(text, 4)]
    if notes.chunks:
        params += ["chunks : int, tuple, str or None", *fill(CHUNKS, 4)]
    returns = notes.result or ("tuple of Array" if f.results or f.any_results else "Array")
    if notes.gives:
        returns = "Array or tuple of Array" if notes.gives == "one or all" else notes.gives
    lines += section("Parameters", params)
    lines += section("Returns", [returns, *fill(f"{f.returns} Lazy.", 4)])
    if notes.raises:
        raised = [x for error, when in notes.raises for x in (error, *fill(when, 4))]
        lines += section("Raises", raised)
    if notes.example:
        lines += section("Examples", [">>> import cubed", *notes.example.splitlines()])
    return [f'"""{lines[0]}', *lines[1:], '"""']


# --- Code ----------------------------------------------------------------------------------------


def spelled(p: Param) -> str:
    """The default as ruff formats it."""
    text = p.default or ""
    if text.startswith("["):
        return f"({text[1:-1]})"
    if "e+" in text:  # a whole number that is large, which Python would spell in another way
        text = str(int(float(text)))
    return f'"{text[1:-1]}"' if text.startswith("'") else text.removesuffix(".0")


def signature(f: Function, notes: Notes, shown: list[Param], returns: str) -> str:
    parts: list[str] = []
    for i, p in enumerate(shown):
        before = shown[i - 1].flags if i else frozenset()
        if "POSITION_ONLY" in before and "POSITION_ONLY" not in p.flags:
            parts.append("/")
        spread = notes.spread and "VARIADIC" in before
        if "KEYWORD_ONLY" in p.flags and "KEYWORD_ONLY" not in before and not spread:
            parts.append("*")
        default = "" if p.default is None else f" = {spelled(p)}"
        several = notes.spread and "VARIADIC" in p.flags
        parts.append(f"*{p.name}: Any" if several else f"{p.name}: {type_of(p)[0]}{default}")
    if "POSITION_ONLY" in shown[-1].flags:
        parts.append("/")
    by_name = (notes.takes and not notes.by_position) or notes.chunks
    if by_name and "KEYWORD_ONLY" not in shown[-1].flags:
        parts.append("*")
    parts += [f"{name}: Any = None" for name, _, _ in notes.takes]
    if notes.chunks:
        parts.append(f"chunks: ChunksLike = {notes.chunks}")
    line = f"def {f.name}({', '.join(parts)}) -> {returns}:"
    if len(line) <= WIDTH:
        return line
    within = f"    {', '.join(parts)}"
    if len(within) > WIDTH:
        within = "\n".join(f"    {part}," for part in parts)
    return f"def {f.name}(\n{within}\n) -> {returns}:"


def value(
    p: Param, arrays: list[Param], operands: list[Param], lists: list[Param], notes: Notes
) -> str:
    """The expression that makes an argument the engine's."""
    if p in arrays:
        is_converted = len(arrays) == 1 and not operands and not lists
        return f"{p.name}._x" if is_converted else f"core_of({p.name})"
    if "ARRAYS" in p.accepts:
        return f"[a._x for a in {local_name(p, notes)}]"
    if "ARRAY" in p.accepts:
        return f"operand({p.name})"
    if p.accepts <= {"LIST", "NONE"} or p.accepts == {"INT", "INTS", "LIST", "NONE"}:
        return f"nested({p.name})"
    if "DTYPE" in p.accepts:
        return f"type_for({p.name})" if not arrays else f"type_for({p.name}, {arrays[0].name})"
    return p.name


def checks(f: Function, notes: Notes) -> list[str]:
    """Calls that refuse values of parameters without effect, if their choices are listed."""
    lines = []
    for name, said, _ in notes.takes:
        if choices := re.findall(r'"(\w+)"', said):
            quoted = ", ".join(name_in_quotes(c) for c in choices)
            lines.append(f'check_choice("{f.name}", "{name}", {name}, ({quoted}))')
    return lines


def body(f: Function, notes: Notes, shown: list[Param]) -> list[str]:
    return [*checks(f, notes), *call_of_engine(f, notes, shown)]


def call_of_engine(f: Function, notes: Notes, shown: list[Param]) -> list[str]:
    if notes.through:
        named = ", ".join([name_in_quotes(f.name), *(p.name for p in shown)])
        return [f"return {notes.through}({named})"]
    arrays = [p for p in shown if p.accepts == {"ARRAY"}]
    lists = [p for p in shown if "ARRAYS" in p.accepts]
    engine = not f.counts and any("ENGINE" in p.flags for p in f.params)
    operands = [p for p in shown if "ARRAY" in p.accepts and p not in arrays]
    given = [value(p, arrays, operands, lists, notes) for p in shown]
    if len(arrays) == 1 and not lists and not operands:
        name = arrays[0].name
        named = "" if name == "x" else f', "{name}"'
        like = "LIKE" in arrays[0].flags
        lines = [f"{name} = as_lazy({name})" if like else f"{name} = lazy({name}{named})"]
        spec = f"{name}._spec"
        given += [f"{name}.spec.task_mem"] * engine
        wrap = f"{name}._like({{}})"
    elif not arrays and not lists and not operands:
        lines, wrap, spec = [], "Array._new({}, None)", "None"
    else:
        lines = [made_list(p, notes) for p in lists]
        of = [f"*{local_name(p, notes)}" for p in lists] + [p.name for p in (*arrays, *operands)]
        lines.append(f"spec = common_spec({', '.join(of)})")
        given += ["task_mem(spec)"] * engine
        wrap, spec = "Array._new({}, spec)", "spec"
    if notes.chunks:
        wrap = f"rechunked({wrap}, chunks)"
    call = [name_in_quotes(f.name), *([spec] if f.counts else ()), *given]
    function = "counted_call" if f.counts else "_core.call"
    if f.any_results:
        each = f"return [{wrap.format('c')} for c in cores]"
        if not notes.gives:
            each = f"return tuple({wrap.format('c')} for c in cores)"
        return [*lines, *assign("cores", function, call), each]
    if not f.results:
        made = "return " + wrap.format(f"{function}({', '.join(call)})")
        if len(made) <= WIDTH - 4:
            return [*lines, made]
        return [*lines, *assign("core", function, call), f"return {wrap.format('core')}"]
    each = f"{wrap.format('c')} for c in cores"
    made = f"{notes.result}(*({each}))" if notes.result else f"tuple({each})"
    return [*lines, *assign("cores", function, call), f"return {made}"]


def local_name(p: Param, notes: Notes) -> str:
    """The name of a list of lazy arrays; positional arguments are a tuple, of another type."""
    return "given" if notes.spread else p.name


def made_list(p: Param, notes: Notes) -> str:
    """The line that makes a list of lazy arrays: of one type if they are one argument."""
    name = local_name(p, notes)
    if notes.is_mixed:
        return f"{name} = arrays_of({p.name})"
    if "VARIADIC" in p.flags:
        return f'{name} = lazy_list({p.name}, "{p.name}")'
    return f"{name} = alike({p.name})"


def name_in_quotes(name: str) -> str:
    return f'"{name}"'


def assign(name: str, function: str, call: list[str]) -> list[str]:
    """A call whose arguments are lines of their own where one line is too short."""
    if len(line := f"{name} = {function}({', '.join(call)})") <= WIDTH - 4:
        return [line]
    if len(within := "    " + ", ".join(call)) <= WIDTH - 4:
        return [f"{name} = {function}(", within, ")"]
    return [f"{name} = {function}(", *(f"    {a}," for a in call), ")"]


def function(f: Function, notes: Notes) -> str:
    shown = [p for p in f.params if "ENGINE" not in p.flags]
    returns = notes.result or ("tuple[Array, ...]" if f.results or f.any_results else "Array")
    if notes.gives:
        returns = "Any" if notes.gives == "one or all" else "list[Array]"
    lines = [*docstring(f, notes, shown), *body(f, notes, shown)]
    text = "\n".join(f"    {line}".rstrip() for line in lines)
    before = "@computes_first\n" if f.counts else ""
    return f"{before}{signature(f, notes, shown, returns)}\n{text}\n"


def module(category: str, functions: list[Function], folder: Path) -> str:
    notes = {f.name: notes_of(folder, f) for f in functions}
    functions = [f for f in functions if not notes[f.name].by_hand]
    results = sorted({n.result for n in notes.values() if n.result}, key=str.lower)
    listed = "".join(f'    "{f.name}",\n' for f in functions)
    through = sorted({n.through for n in notes.values() if n.through})
    header = HEADER.format(
        title=TITLES[category],
        calls=CALLS,
        results=", ".join(results),
        through=", ".join(through),
    )
    parts = [header, f"__all__ = [\n{listed}]\n"]
    parts += [f"\n{function(f, notes[f.name])}" for f in functions]
    text = "\n".join(parts)
    return drop_unused(text)


def drop_unused(text: str) -> str:
    """The module without the names that it imports and does not use."""
    lines = text.splitlines(keepends=True)
    end = next(i for i, line in enumerate(lines) if line.startswith("__all__"))
    code = re.sub(r'""".*?"""', "", "".join(lines[end:]), flags=re.DOTALL)
    used = set(re.findall(r"(?<![\w.])\w+", code))
    kept: list[str] = []
    for line in lines[:end]:
        found = re.fullmatch(r"(from \S+ import )(.*)\n", line)
        if not found or "__future__" in line:
            kept.append(line)
            continue
        names = [n for n in found[2].split(", ") if n in used]
        if names:
            kept.append(imports(found[1], names))
    return "".join(kept + lines[end:])


def imports(start: str, names: list[str]) -> str:
    line = start + ", ".join(names)
    if len(line) <= WIDTH:
        return line + "\n"
    return f"{start}(\n" + "".join(f"    {n},\n" for n in names) + ")\n"


# --- Names ---------------------------------------------------------------------------------------


def hash_name(name: str) -> int:
    """FNV-1a, 32 bits, as catalogue.c has it."""
    found = 2166136261
    for byte in name.encode():
        found = (found ^ byte) * 16777619 & 0xFFFFFFFF
    return found


def names(functions: list[Function]) -> str:
    """Rows of name_places, an open hash table."""
    slots: dict[int, tuple[int, int]] = {}
    categories = list(dict.fromkeys(f.category for f in functions))
    counts = dict.fromkeys(categories, 0)
    for f in functions:
        slot = hash_name(f.name) % SLOTS
        while slot in slots:
            slot = (slot + 1) % SLOTS
        slots[slot] = (categories.index(f.category) + 1, counts[f.category])
        counts[f.category] += 1
    rows = "".join(f"    [{s}] = {{{c}, {r}}},\n" for s, (c, r) in sorted(slots.items()))
    return f"/* Written by tools/generate: places of functions, by hash. */\n{rows}"
