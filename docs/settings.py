"""Writes the tables of the settings page from the docstrings of Spec, compute and the executors."""

import importlib
import inspect
import re

import cubed
from cubed import _settings
from cubed.spec import EXECUTORS


def parameters(doc, section="Parameters"):
    """Returns the names and descriptions in a section of a NumPy-style docstring."""
    text = inspect.cleandoc(doc or "")
    found = re.search(rf"^{section}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, re.M | re.DOTALL)
    rows = {}
    for names, about in re.findall(
        r"^(\S.*)\n((?:    .*\n?|\n)+)", found[1] if found else "", re.M
    ):
        for name in re.split(r",\s*", names.split(" : ")[0]):
            rows[name] = cell(about)
    return rows


def cell(text):
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", " ".join(text.split()))
    return text.replace("``", "`").replace("|", "\\|")


def of_specs():
    yield "## Settings of a Spec\n"
    yield "| setting | variable | default | meaning |\n|---|---|---|---|"
    for name, about in parameters(cubed.Spec.__doc__).items():
        default = _settings.defaults["spec"].get(name)
        variable = f"`CUBED_SPEC__{name.upper()}`" if name not in ("executor", "max_mem") else ""
        shown = "" if default is None else f"`{default}`"
        yield f"| `{name}` | {variable} | {shown} | {about} |"
    yield "\nIn the configuration, the names begin with `spec.`.\n"


def of_computations():
    yield "## Arguments of a computation\n"
    yield (
        "These are arguments of `cubed.compute`, `x.compute`, `cubed.store`, `cubed.to_zarr` and"
        " `Plan.execute`.\n"
    )
    yield "| argument | meaning |\n|---|---|"
    for name, about in parameters(cubed.compute.__doc__).items():
        if not name.startswith("*"):
            yield f"| `{name}` | {about} |"
    yield ""


def executor_class(place):
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(f"cubed.runtime.executors.{module}"), name)


def of_executors():
    yield "## Options of an executor\n"
    yield (
        "Pass these options as `Spec(executor_options={...})`, or next to an executor:"
        ' `x.compute(executor="processes", max_workers=4)`.'
        " In the command, pass `--executor-option NAME=VALUE`.\n"
    )
    classes = {name: executor_class(place) for name, place in EXECUTORS.items()}
    common = {}
    for base in inspect.getmro(classes["dask"])[1:]:
        common |= {n: a for n, a in parameters(base.__doc__).items() if not n.startswith("*")}
    yield "### All executors\n\n| option | meaning |\n|---|---|"
    yield from (f"| `{name}` | {about} |" for name, about in common.items())
    yield ""
    for name, cls in classes.items():
        own = {n: a for n, a in parameters(cls.__doc__).items() if n not in common and n[0] != "*"}
        if own:
            yield f"### {name}\n\n| option | meaning |\n|---|---|"
            yield from (f"| `{option}` | {about} |" for option, about in own.items())
            yield ""


def tables():
    return "\n".join([*of_specs(), *of_computations(), *of_executors()])


def inserts():
    return {"settings": tables}
