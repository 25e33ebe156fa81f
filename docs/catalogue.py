"""Writes the pages of the catalogue of functions: an index, and one page for each category."""

import inspect
import operator
import sys
from pathlib import Path

import cubed
import cubed.array_api
import cubed.ndimage
import cubed.remapping
import cubed.stats
import numpy as np
import reference

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))

from read_catalogue import read  # noqa: E402
from write_functions import TITLES, notes_of  # noqa: E402

#: Modules of the package in which a function is looked up, in this order.
PLACES = {
    "cubed": cubed,
    "cubed.linalg": cubed.linalg,
    "cubed.fft": cubed.fft,
    "cubed.ndimage": cubed.ndimage,
    "cubed.remapping": cubed.remapping,
    "cubed.stats": cubed.stats,
    "cubed.array_api": cubed.array_api,
}
#: Functions that in Python are methods of NumPy's ufuncs, which accept lazy arrays.
METHODS = {"cumulative_max": "maximum.accumulate", "cumulative_min": "minimum.accumulate"}
#: Functions that have SciPy's names in Python.
RENAMED = {
    f"{name}_labels": name
    for name in (
        "histogram",
        "maximum",
        "mean",
        "median",
        "minimum",
        "standard_deviation",
        "variance",
    )
}
#: Python equivalents of functions that do not exist in Python under the same name.
IN_PLACE = {
    "exponential": "`cubed.random.exponential`, with its arguments in NumPy's order",
    "convolve_filter": "`cubed.ndimage.convolve`",
    "correlate_filter": "`cubed.ndimage.correlate`",
    "field": '`x["name"]`',
    "fields": '`x[["name", "mass"]]`',
    "forward_fill": "Xarray's `ffill`",
    "gather": "`x[i, :, j]`",
    "groupby": "`cubed.groupby_reduce`, and Xarray's `groupby`",
    "integers": "`cubed.random.integers`, with its arguments in NumPy's order",
    "normal": "`cubed.random.normal`, with its arguments in NumPy's order",
    "random": "`cubed.random.random`",
    "replace": "`x[mask] = value`",
    "require": "no function: functions that need a condition check it themselves",
    "rolling": "Xarray's `rolling`",
    "scatter": "`x[i, :, j] = value`",
    "scatter_mask": "`x[mask] = values`",
    "uniform": "`cubed.random.uniform`, with its arguments in NumPy's order",
}
HOMES = {
    "linalg": "cubed.linalg",
    "fft": "cubed.fft",
    "interpolation": "cubed.ndimage",
    "measurements": "cubed.ndimage",
    "morphology": "cubed.ndimage",
    "ndimage": "cubed.ndimage",
    "remapping": "cubed.remapping",
    "stats": "cubed.stats",
}
FUNCTIONS = tuple(read(ROOT / "build/release/libcubed.so"))
CATEGORIES = tuple(dict.fromkeys(f.category for f in FUNCTIONS))


def title(category):
    return TITLES.get(category, category.capitalize())


def signature(f):
    parts = []
    for p in f.params:
        if "ENGINE" not in p.flags:
            name = f"{p.name}, ..." if "VARIADIC" in p.flags else p.name
            parts.append(name if p.default is None else f"{name}={p.default}")
    results = f"{', '.join(f.results)} = " if f.results else ""
    return f"{results}{f.name}({', '.join(parts)})"


def in_python(f):
    """Returns the qualified name and the Python function, or None if there is none."""
    if method := METHODS.get(f.name):
        return f"numpy.{method}", operator.attrgetter(method)(np)
    name = RENAMED.get(f.name, f.name)
    for place in (HOMES.get(f.category, "cubed"), *PLACES):
        if callable(function := getattr(PLACES[place], name, None)):
            return f"{place}.{name}", function
    return None


def example(function):
    """Returns the examples of a docstring, which the tests run."""
    _, _, text = (inspect.getdoc(function) or "").partition("Examples\n--------\n")
    return f"```pycon\n{text.strip()}\n```\n" if text else ""


def text(paragraph):
    return reference.markdown(" ".join(paragraph.split()))


def cell(text):
    return text.replace("|", "\\|")


def described(f):
    notes = notes_of(ROOT / "src/catalogue/notes", f)
    yield f"### {f.name}\n\n```\n{signature(f)}\n```\n\n{f.summary}\n"
    yield from (f"{text(p)}\n" for p in notes.paragraphs)
    yield "| argument | default | |\n|---|---|---|"
    for p in f.params:
        if "ENGINE" not in p.flags:
            shown = "" if p.default is None else f"`{p.default}`"
            choices = f" One of {', '.join(f'`{c}`' for c in p.choices)}." if p.choices else ""
            yield f"| `{p.name}` | {cell(shown)} | {cell(text(p.notes))}{choices} |"
    yield f"\nResult: {text(f.returns)}\n"
    yield from (f"Raises {error}: {text(when)}\n" for error, when in notes.raises)
    if found := in_python(f):
        yield f"In Python: `{found[0]}`\n\n{example(found[1])}"
    else:
        yield f"In Python: {IN_PLACE[f.name]}\n"


def page(category):
    parts = [
        f"# {title(category)}\n",
        "The functions have these names and arguments in expressions of the command, in C"
        " (`cubed_function_find`) and in Python. Some functions in Python have"
        " further arguments of NumPy."
        f" `cubed help {category}` lists them.\n",
    ]
    for f in FUNCTIONS:
        if f.category == category:
            parts += described(f)
    return "\n".join(parts)


def index():
    rows = []
    for category in CATEGORIES:
        names = (f.name for f in FUNCTIONS if f.category == category)
        links = ", ".join(f"[`{n}`]({category}.md#{n.lower()})" for n in names)
        rows.append(f"| [{title(category)}]({category}.md) | {links} |")
    return "\n".join(
        [
            "# Functions\n",
            "Every function of the catalogue, by category. A function has the same name"
            " and the same"
            " arguments in expressions of the command, in C and in Python. Python has"
            " more functions:"
            " see [names of the Python package](../names.md).\n",
            "| category | functions |\n|---|---|",
            *rows,
            "",
        ]
    )


def pages():
    found = {f"reference/functions/{category}.md": page(category) for category in CATEGORIES}
    return {"reference/functions/index.md": index(), **found}


def navigation():
    listed = [{title(c): f"reference/functions/{c}.md"} for c in CATEGORIES]
    return {"Functions": ["reference/functions/index.md", *listed]}
