"""The public names of Cubed for Python 0.28 and its next release exist here and accept the same
arguments, and docs/coming-from/cubed-python.md lists the exceptions.

upstream_names.txt is made by tools/upstream_names.
"""

import fnmatch
import functools
import importlib
import inspect
import re
from inspect import Parameter, getsource
from pathlib import Path

import cubed
import pytest

HERE = Path(__file__).resolve().parents[1]
LIST = [
    line
    for line in (HERE / "upstream_names.txt").read_text().splitlines()
    if not line.startswith("#")
]
MIGRATION = (HERE.parents[1] / "docs/coming-from/cubed-python.md").read_text()

#: Not here, and in no list: their modules need packages that the list was made without.
ABSENT = {"cubed.diagnostics.memray.MemrayCallback"}
#: Patterns in migration.md have exceptions, which it names.
EXCEPT = {"cubed.runtime.utils.raise_if_computes", "cubed.backend_array_api.IS_IMMUTABLE_ARRAY"}


def patterns(title):
    """The names between backquotes in a section."""
    section = MIGRATION.partition(f"### {title}\n")[2].partition("\n### ")[0]
    return re.findall(r"`(cubed\.[\w.*\[\]-]+)`", section)


OTHER = patterns("Names that take different arguments")
MISSING = patterns("Names that do not exist")


@functools.cache
def found(path):
    """What has that name; None if nothing has."""
    parts = path.split(".")
    for i in range(len(parts) - 1, 0, -1):
        try:
            x = importlib.import_module(".".join(parts[:i]))
        except ImportError:
            continue
        for name in parts[i:]:
            if name in getattr(x, "__dataclass_fields__", ()):
                return x.__dataclass_fields__[name]
            if name in getattr(x, "__annotations__", ()) and not hasattr(x, name):
                return x  # of its objects
            if inspect.isclass(x) and name in given(x) and not hasattr(x, name):
                return x  # of its objects
            if not hasattr(x, name):
                return None
            x = getattr(x, name)
        return x
    return None


@functools.cache
def given(cls):
    """Names that its methods, and those of classes that it is made of, give `self`."""
    ours = [c for c in cls.__mro__ if c.__module__.startswith("cubed")]
    return {n for c in ours for n in re.findall(r"\bself\.(\w+)(?:: [^=\n]+)? = ", getsource(c))}


def is_in(path, those):
    return path not in EXCEPT and any(fnmatch.fnmatchcase(path, p) for p in those)


def is_there(path):
    marker = found(path)
    return marker is not None or path == "cubed.newaxis" or path.endswith(".newaxis")


def refused(x, text):
    """Parameters of a signature in words that x does not take as that does."""
    mine = list(inspect.signature(x).parameters.values())
    named = {p.name for p in mine if p.kind in (Parameter.POSITIONAL_OR_KEYWORD,
                                                Parameter.KEYWORD_ONLY)}  # fmt: skip
    any_name = any(p.kind is Parameter.VAR_KEYWORD for p in mine)
    any_number = any(p.kind is Parameter.VAR_POSITIONAL for p in mine)
    ordered = [p for p in mine if p.kind in (Parameter.POSITIONAL_ONLY,
                                             Parameter.POSITIONAL_OR_KEYWORD)]  # fmt: skip
    words = [w for w in text.split(", ") if w]
    without_names = words.index("/") if "/" in words else -1
    by_name_only = False
    position = 0
    for i, word in enumerate(words):
        name = word.rstrip("=").lstrip("*")
        if word == "/" or word.startswith("**"):
            continue
        if word.startswith("*"):
            by_name_only = True
            continue
        if not by_name_only:
            if position >= len(ordered):
                if not any_number:
                    yield f"{name} by position"
            elif i > without_names and ordered[position].name != name:
                yield f"{name} by position {position}, which is {ordered[position].name}"
            position += 1
        if i > without_names and name != "self" and name not in named and not any_name:
            yield f"{name} by name"


@pytest.mark.parametrize("module", sorted({line.partition("(")[0].rpartition(".")[0]
                                           for line in LIST}))  # fmt: skip
def test_names(module):
    wrong = []
    for line in LIST:
        path, _, rest = line.partition("(")
        if path.rpartition(".")[0] != module:
            continue
        if is_there(path) == is_in(path, MISSING):
            wrong.append(f"{path}: {'is there' if is_there(path) else 'is not there'}")
        elif rest and is_there(path) and callable(found(path)):
            no = list(refused(found(path), rest[:-1]))
            if bool(no) != is_in(path, OTHER):
                wrong.append(f"{path}: {', '.join(no) or 'takes the same'}")
    assert wrong == []


@pytest.mark.parametrize("those", [OTHER, MISSING])
def test_migration_names_nothing_else(those):
    names = [line.partition("(")[0] for line in LIST] + list(ABSENT)
    assert those and [p for p in those if not fnmatch.filter(names, p)] == []


def test_names_that_the_list_does_not_have():
    assert set(MISSING) >= ABSENT
    assert not any(is_there(path) for path in ABSENT)
    for name in ("coiled", "modal", "ray", "spark"):
        assert is_there(f"cubed.runtime.executors.{name}.{name.capitalize()}Executor")


def test_attributes_of_arrays():
    x = cubed.ones((4, 4), chunks=(2, 2))
    for line in LIST:
        path = line.partition("(")[0]
        if path.startswith("cubed.Array."):
            assert hasattr(x, path.removeprefix("cubed.Array."))
    assert x._repr_html_() and x._repr_inline_(80)
