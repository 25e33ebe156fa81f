"""Docstrings of public names: sections in the style of numpydoc, and examples that run."""

import doctest
import importlib
import inspect
import pathlib
import re
import sys
import typing

import cubed
import numpy as np
import pytest
from test_edge_values import OPS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "docs"))
import reference

SECTIONS = (
    "Parameters",
    "Attributes",
    "Returns",
    "Yields",
    "Raises",
    "Warns",
    "See Also",
    "Notes",
    "References",
    "Examples",
)


def functions():
    """By full name what is public, has a signature and is written here; once each."""
    found = {}
    for path in reference.MODULES:
        module = importlib.import_module(path)
        for name in reference.public_names(module):
            x = getattr(module, name)
            if inspect.isfunction(x) and x.__module__.startswith("cubed"):
                found.setdefault(x, f"{path}.{name}")
    return {name: x for x, name in found.items()}


def methods(*classes):
    """By full name the public methods that are written in these classes."""
    return {
        f"{c.__module__}.{c.__qualname__}.{name}": x
        for given in classes
        for c in given.__mro__
        if c.__module__.startswith("cubed")
        for name, x in vars(c).items()
        if inspect.isfunction(x) and not name.startswith("_")
    }


FUNCTIONS = functions()
METHODS = methods(cubed.ma.MaskedArray, cubed.random.Generator)
CLASSES = (
    cubed.Array,
    cubed.Callback,
    cubed.Plan,
    cubed.Spec,
    cubed.ma.MaskedArray,
    cubed.random.Generator,
)


def sections(doc):
    """By heading the lines of each; the summary and what follows it have none."""
    lines = inspect.cleandoc(doc).splitlines()
    parts = {"": []}
    part = parts[""]
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if re.fullmatch("-{3,}", following) and len(line) == len(following):
            part = parts.setdefault(line, [])
        elif not (re.fullmatch("-{3,}", line) and part == []):
            part.append(line)
    return parts


def entries(lines):
    """(names, type, words) of what a section lists."""
    found = []
    for line in lines:
        if line and not line.startswith(" "):
            names, _, kind = line.partition(" : ")
            found.append(([n.strip().lstrip("*") for n in names.split(",")], kind, []))
        elif line:
            assert found, f"words without a name: {line}"
            found[-1][2].append(line.strip())
    return found


#: How the words for a type begin, by the annotation.
WORDS = {"bool": "bool", "float": "(float|number|int, float)", "int": "(int|{)", "str": "(str|{)"}
WORDS |= dict.fromkeys(("Norm", "PadMode", "QuantileMethod"), WORDS["str"])


def contradicted(parameter, kind):
    """What a signature says of a parameter and a docstring does not."""
    kind, _, said = kind.partition(", default ")
    words = WORDS.get(str(parameter.annotation).removesuffix(" | None"))
    if words and not re.match(words, kind):
        yield f"{parameter.name} is {kind}, but {parameter.annotation} in the signature"
    default = parameter.default
    if default is None or default is inspect.Parameter.empty:
        return
    if isinstance(default, type):
        default = f"{'np.' * (default.__module__ == 'numpy')}{default.__name__}"
    elif isinstance(default, str):
        default = f'"{default}"'
    if said != str(default):
        yield f"the default of {parameter.name} is {default}, not {said!r}"


def wrong(x):
    """What is wrong with a docstring."""
    parts = sections(x.__doc__ or "")
    first = parts[""][0] if parts[""] else ""
    summary = " ".join(parts[""]).split("  ")[0].strip()
    if not first or not summary.endswith("."):
        yield "no summary that is a sentence"
    order = [SECTIONS.index(s) for s in parts if s in SECTIONS]
    if order != sorted(order):
        yield f"sections are in the order {list(parts)[1:]}"
    yield from (f"no such section: {s}" for s in parts if s and s not in SECTIONS)
    signature = inspect.signature(x).parameters
    parameters = [p for p in signature if not p.startswith("_") and p != "self"]
    listed = entries(parts.get("Parameters", []))
    names = [name for names, _, _ in listed for name in names]
    if sorted(names) != sorted(parameters):
        yield f"parameters {names}, expected {parameters}"
    for names, kind, _ in listed:
        for name in signature.keys() & names:
            yield from contradicted(signature[name], kind)
    yield from (f"no type of {names}" for names, kind, _ in listed if not kind)
    yield from (f"no words about {names}" for names, _, words in listed if not words)
    annotation = inspect.signature(x).return_annotation
    if annotation not in ("None", None) and not {"Returns", "Yields"} & {*parts}:
        yield "no Returns"
    if not any(line.startswith(">>> ") for line in parts.get("Examples", [])):
        yield "no example"


@pytest.mark.parametrize("name", [*FUNCTIONS, *METHODS])
def test_sections(name):
    assert list(wrong((FUNCTIONS | METHODS)[name])) == []


# What cubed.visualize returns is of a module that it imports late.
@pytest.mark.parametrize("name", sorted({*FUNCTIONS} - {"cubed.visualize"}))
def test_annotations_are_of_names_that_there_are(name):
    typing.get_type_hints(FUNCTIONS[name])


@pytest.mark.parametrize(
    ("doc", "says"),
    [
        ("No end", "no summary that is a sentence"),
        ("Ends.\n\nExamples\n--------\n>>> 1\n\nReturns\n-------\nint\n    x", "in the order"),
        (
            "Ends.\n\nParameters\n----------\na : int\n    x\nc : int\n    x",
            "parameters ['a', 'c']",
        ),
        ("Ends.\n\nParameters\n----------\na\n    x\nb : int", "no type of ['a']"),
        ("Ends.\n\nParameters\n----------\na\n    x\nb : int", "no words about ['b']"),
        ("Ends.\n\nParameters\n----------\nc : bool\n    x", "c is bool, but int"),
        ("Ends.\n\nParameters\n----------\nc : int\n    x", "the default of c is 1, not ''"),
        ("Ends.", "no Returns"),
        ("Ends.", "no example"),
    ],
)
def test_what_is_wrong_is_found(doc, says):
    def f(a, b, c: "int" = 1):
        return a

    f.__doc__ = doc
    assert any(says in text for text in wrong(f)), list(wrong(f))


def with_examples():
    """By name the docstrings of the package that have examples; of methods and classes, too."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {}
    modules = {x.__module__ for x in (*FUNCTIONS.values(), *CLASSES)}
    for path in sorted(modules | {*reference.MODULES}):
        module = importlib.import_module(path)
        for test in finder.find(module, globs={"cubed": cubed, "np": np}):
            if test.examples:
                found[test.name] = test
    return found


EXAMPLES = with_examples()


def test_classes_have_examples():
    assert {f"{x.__module__}.{x.__qualname__}" for x in CLASSES} <= {*EXAMPLES}


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(EXAMPLES[name], out=text.append)
    assert runner.failures == 0, "".join(text)


#: What the rows of operations say; those behind random numbers are no functions in Python.
OPERATIONS = {name: (int(row[0]), row[1], row[2]) for name, row in OPS.items()}


@pytest.mark.parametrize("kind,dtype", zip("biufc", ("?", "i4", "u2", "f4", "c8"), strict=True))
@pytest.mark.parametrize("name", sorted({*OPERATIONS} - {"where"}))
def test_operations_take_and_give_what_docstrings_say(name, kind, dtype):
    arity, kinds, result = OPERATIONS[name]
    function = getattr(cubed, name)
    x = cubed.asarray(np.ones(2, dtype))
    if kind not in kinds and not name.startswith("logical"):
        assert "TypeError" in sections(function.__doc__)["Raises"]
        with pytest.raises(TypeError):
            function(*[x] * arity)
        return
    floats = np.dtype("f8") if kind in "biu" else x.dtype
    parts = np.dtype("f4") if kind == "c" else x.dtype
    expected = {"SAME": x.dtype, "BOOL": np.dtype(bool), "FLOAT": floats, "REAL": parts}
    assert function(*[x] * arity).dtype == expected[result]
