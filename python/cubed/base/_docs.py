"""Shared parts of docstrings.

The docstring of a function with :func:`documented` describes only what is specific to it.
Parameters that it omits are added from :data:`PARAMETERS` when the function is defined. So ``help``
and the pages of the documentation show all parameters, in numpydoc's form.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

#: Names in docstrings for annotations.
TYPES = {
    "Any": "array_like",
    "Array": "Array",
    "Axis": "int, tuple of int or None",
    "ChunksLike": "int, tuple, str or None",
    "DTypeLike": "dtype or None",
    "QuantileMethod": "str",
    "Sequence[int] | None": "sequence of int or None",
    "Sequence[int]": "sequence of int",
    "Shape | None": "int or tuple of int or None",
    "Shape": "int or tuple of int",
    "Size": "int or tuple of int or None",
    "Spec | None": "Spec or None",
    "bool | None": "bool or None",
    "bool": "bool",
    "float | None": "float or None",
    "float": "float",
    "int | None": "int or None",
    "int | Sequence[int] | None": "int, sequence of int or None",
    "int": "int",
    "list[Array]": "list of Array",
    "str | None": "str or None",
    "str": "str",
    "tuple[Array, ...]": "tuple of Array",
}

#: Descriptions of parameters, by name or annotation; preceded by the type and " : " if the
#: annotation does not give the type.
PARAMETERS = {
    "a": "Input array.",
    "arrays": "sequence of Array : Input arrays.",
    "ary": "Input array.",
    "atol": "Absolute tolerance.",
    "axes": "The axes; None: all.",
    "axis: Axis": "Axes along which to compute; None: all. Negative ones count from the last.",
    "axis: int": "Axis along which to compute; negative ones count from the last.",
    "axis: int | None": "Axis along which to compute; None: the elements in one dimension.",
    "axis1": "The first of two axes.",
    "axis2": "The second of two axes.",
    "chunks": "Chunks of the result, see :func:`cubed.rechunk`.",
    "condition": "array_like of bool : Condition, element by element.",
    "copy": "Whether memory is copied; False: an error where it would have to be.",
    "correction": "Degrees of freedom, subtracted from the number of elements in the divisor.",
    "ddof": "NumPy's name of `correction`.",
    "decimals": "Number of decimal places.",
    "descending": "Whether to sort from the largest to the smallest.",
    "device": '{"cpu"} or None : Device of the result: there is only the CPU.',
    "dtype": "Data type of the result's elements.",
    "equal_nan": "Whether NaN equals NaN.",
    "extra_projected_mem": (
        "Bytes that a call allocates beside its result; the task's projection includes them."
    ),
    "include_initial": "Whether the result begins with the neutral element.",
    "indices": "array_like of int : Positions; negative ones count from the end.",
    "indices_or_sections": "int or sequence of int : Number of parts, or where they begin.",
    "initial": "scalar or None : Value that the reduction starts with.",
    "k": "The diagonal: 0 is the main one, 1 the one above it.",
    "keepdims": "Whether reduced axes stay in the result, with extent 1.",
    "method": "How to interpolate between elements: NumPy's names.",
    "name": "Name of the operation in plans and messages.",
    "offset": "The diagonal: 0 is the main one, 1 the one above it.",
    "order": '{"C", "F"} : Which axis is the fastest: the last, or the first.',
    "rtol": "Tolerance relative to `b`.",
    "seed": "Seed of the numbers; None: other numbers in each call.",
    "shape": "Shape of the result.",
    "size": "Shape of the result.",
    "spec": "Resources of computations, such as `allowed_mem`; None: as configured.",
    "split_every": "int, dict or None : Accepted, and not needed: the planner splits reductions.",
    "stable": "Whether equal elements stay in order; they always do.",
    "weights": "array_like or None : Weight of each element; None: 1.",
    "where": "array_like of bool : Which elements are included; True: all.",
    "x": "Input array.",
    "x1": "The first operand.",
    "x2": "The second operand.",
}

#: For `parameters` of functions of two arrays that are not called x1 and x2.
OPERANDS = {"a": "The first operand.", "b": "The second operand.", "v": "The second operand."}

#: For `parameters` of functions that compute.
COMPUTED = {
    "callbacks": "sequence of Callback or None : As for :func:`cubed.compute`.",
    "executor": "Executor, str or None : As for :func:`cubed.compute`.",
    "kwargs": "object : As for :func:`cubed.compute`.",
    "optimize_function": "callable or None : As for :func:`cubed.compute`.",
    "optimize_graph": "As for :func:`cubed.compute`.",
    "resume": "As for :func:`cubed.compute`.",
    "take_over": "As for :func:`cubed.compute`.",
}

#: For `parameters` of linspace and similar functions.
SPACED = {
    "start": "number or array_like : The first number.",
    "stop": "number or array_like : The last one, if `endpoint`.",
    "num": "How many numbers.",
    "endpoint": "Whether the last one is included.",
    "axis": "Where the numbers are in the result, if something is an array.",
}

#: For `returns` of reductions, before the description of the type.
REDUCED = "Without the axes (`keepdims`: with one element along them); None: all of them.\n    "

#: Headings of sections, in order.
_SECTIONS = {
    name: f"\n{name}\n{'-' * len(name)}\n"
    for name in (
        "Parameters", "Returns", "Yields", "Raises", "Warns", "See Also", "Notes", "References",
        "Examples",
    )
}  # fmt: skip


def documented(
    *,
    parameters: Mapping[str, str] = PARAMETERS,
    returns: str = "",
    raises: str = "",
    example: str = "",
) -> Callable[[F], F]:
    """Completes a docstring. Adds omitted parameters from `parameters` and :data:`PARAMETERS`, the
    description `returns` of the result, an error and its condition from `raises`, and an example
    with its heading and import.
    """

    def complete(function: F) -> F:
        if function.__doc__ is not None:  # None with -OO, which removes docstrings
            function.__doc__ = _completed(function, parameters, returns, raises, example)
        return function

    return complete


def _completed(
    function: Any, parameters: Mapping[str, str], returns: str, raises: str, example: str
) -> str:
    doc = function.__doc__
    if sys.version_info < (3, 13):  # later versions remove the indentation
        doc = doc.replace("\n" + " " * (len(doc) - len(doc.rstrip(" "))), "\n")
    summary, sections = _cut(doc)
    sections["Parameters"] = _listed(function, sections.get("Parameters", ""), parameters)
    if returns and "Returns" in sections:
        raise TypeError(f"{function.__qualname__}: the docstring says what it returns, too")
    if returns:
        kind = function.__annotations__["return"]
        sections["Returns"] = f"{TYPES.get(kind, kind)}\n    {returns}"
    if raises:
        error, _, when = raises.partition(": ")
        sections["Raises"] = f"{error}\n    {when}\n{sections.get('Raises', '')}"
    if "Examples" not in sections:
        summary, prompt, own = summary.partition("\n>>> ")
        sections["Examples"] = prompt[1:] + own + example
    if ">>> " not in sections["Examples"]:
        raise TypeError(f"{function.__qualname__}: the docstring has no example")
    sections["Examples"] = ">>> import cubed\n" + sections["Examples"]
    parts = [heading + sections[s].rstrip() for s, heading in _SECTIONS.items() if sections.get(s)]
    return "\n".join([summary.rstrip(), *parts]) + "\n"


def _cut(doc: str) -> tuple[str, dict[str, str]]:
    """Splits a docstring into its summary and its sections."""
    if "\n---" not in doc:
        return doc, {}
    starts = [(doc.find(heading), section) for section, heading in _SECTIONS.items()]
    starts = sorted(start for start in starts if start[0] >= 0)
    sections = {}
    end = len(doc)
    for start, section in reversed(starts):
        sections[section] = doc[start + len(_SECTIONS[section]) : end]
        end = start
    return doc[:end], sections


def _listed(function: Any, own: str, parameters: Mapping[str, str]) -> str:
    """Returns all parameters: those in the docstring, and shared descriptions of the others."""
    entries: dict[str, str] = {}
    names: list[str] = []
    for line in own.splitlines():
        if not line.startswith(" "):
            names = line.partition(" : ")[0].replace("*", "").split(", ")
        for name in names:
            entries[name] = f"{entries[name]}\n{line}" if name in entries else line
    types = function.__annotations__
    out: dict[str, None] = {}  # several parameters may share one entry
    for name, default in _parameters(function):
        bare = name.lstrip("*")
        text = entries.pop(bare, None)
        if text is None:
            annotation = types.get(bare, "")
            words = parameters.get(bare) or PARAMETERS.get(bare)
            words = words or PARAMETERS.get(f"{bare}: {annotation}")
            if words is None:
                raise TypeError(f"{function.__qualname__}: nothing is said of {name}")
            text = _entry(name, words, annotation, default)
        out[text] = None
    if entries:
        raise TypeError(f"{function.__qualname__} has no parameter {', '.join(entries)}")
    return "\n".join(out)


def _parameters(function: Any) -> Iterator[tuple[str, Any]]:
    """Returns names, with their stars, and defaults in the order of the signature."""
    code = function.__code__
    positional, flags = code.co_argcount, code.co_flags
    names = list(code.co_varnames[: positional + code.co_kwonlyargcount])
    defaults = dict(function.__kwdefaults__ or {})
    if function.__defaults__:
        first = positional - len(function.__defaults__)
        defaults.update(zip(names[first:positional], function.__defaults__, strict=True))
    # The values of inspect.CO_VARARGS and CO_VARKEYWORDS; importing inspect is slow.
    if flags & (0x04 | 0x08):
        stars = list(code.co_varnames[len(names) :])
        if flags & 0x08:
            names.append("**" + stars[flags >> 2 & 1])
        if flags & 0x04:
            names.insert(positional, "*" + stars[0])
    for name in names:
        if name[0] != "_" and name != "self":
            yield name, defaults.get(name)


def _entry(name: str, words: str, annotation: str, default: Any) -> str:
    """Formats a parameter with its type and description."""
    kind, colon, said = words.partition(" : ")
    if not colon:
        kind, said = TYPES.get(annotation, annotation), words
    if isinstance(default, type):
        kind += f", default {'np.' * (default.__module__ == 'numpy')}{default.__name__}"
    elif default is not None:
        kind += f', default "{default}"' if isinstance(default, str) else f", default {default!r}"
    return f"{name} : {kind}\n    {said}"
