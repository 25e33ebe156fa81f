"""Files that tools/generate writes: wrappers of operations, and names that the engine accepts."""

import ast
import inspect
import re
import shutil
import subprocess
import sys
from pathlib import Path

import cubed
import pytest
from conftest import BIN, ROOT
from cubed import _core
from cubed.array_api import _operations, elementwise_functions
from random_calls import Caller
from test_edge_values import OPS, REDUCTIONS

FOLDER = ROOT / "python/cubed/array_api"
BY_HAND = {"clip", "imag", "real", "round"}


def test_every_row_has_its_function():
    assert {*_operations.__all__} | BY_HAND == {*elementwise_functions.__all__}
    assert {*elementwise_functions.__all__} == {*OPS} - {"where"} | {"clip"}
    for name in _operations.__all__:
        assert getattr(cubed, name) is getattr(_operations, name)


@pytest.mark.parametrize("file", ["_operations.py", "elementwise_functions.py"])
def test_docstrings_stand_in_the_source(file):
    written = {
        node.name: ast.get_docstring(node)
        for node in ast.parse((FOLDER / file).read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    assert {*written} == ({*_operations.__all__} if file == "_operations.py" else BY_HAND)
    for name, doc in written.items():
        assert inspect.getdoc(getattr(cubed, name)) == doc


NAMES = Caller.find_names()
#: Functions of the engine that take a name, their parameters, and where among them it is.
TAKERS = [
    (name, annotations, i)
    for name, annotations in Caller.find_annotations().items()
    for i, annotation in enumerate(annotations)
    if annotation in NAMES
]


def values():
    """By annotation an argument."""
    x = _core.full("float64", (4, 4), None, 1.0)
    plan = _core.Plan(((x, None),), allowed_mem=10**8)
    plan.record(False)
    return {
        "Any": None,
        "Array": x,
        "Sequence[Any]": (0,) * 4,
        "Sequence[float]": (0.5,),
        "Sequence[int]": (0,),
        "Sequence[int] | None": None,
        "Sequence[tuple[int, int, int]]": ((0, 1, 1),),
        "bool": False,
        "float": 0.5,
        "float | Sequence[float]": 0.5,
        "int": 1,
        "self": plan,
        **{kind: names[0] for kind, names in NAMES.items()},
    }


def refused(function, args, i, name) -> bool:
    """Whether the name is one that the function does not know; others may not fit the array."""
    try:
        function(*args[:i], name, *args[i + 1 :])
    except Exception as e:
        return re.match(rf"\w+ is '?{name}'?, expected", str(e)) is not None
    return False


@pytest.mark.parametrize(("name", "annotations", "i"), TAKERS, ids=lambda v: str(v))
def test_names_are_those_that_the_engine_takes(name, annotations, i):
    given = values()
    args = [given[a] for a in annotations]
    function = getattr(_core.Plan, name[5:]) if name.startswith("Plan.") else getattr(_core, name)
    assert refused(function, args, i, "nonsense")
    assert [n for n in NAMES[annotations[i]] if refused(function, args, i, n)] == []


def test_all_names_are_taken_somewhere():
    taken = {annotations[i] for _, annotations, i in TAKERS}
    # The package's annotations have these alone.
    annotated = {"AnyReduction", "NanReduction", "PadMode", "QuantileMethod", "Reduction"}
    assert taken | annotated == {*NAMES}
    assert {*NAMES["AnyReduction"]} >= {*NAMES["NanReduction"]} | {*REDUCTIONS}
    assert {*NAMES["Operation"]} >= {*OPS}


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A copy of what the tool reads and writes."""
    patterns = (
        "tools/generate",
        "tools/*.py",
        "include/cubed/*.def",
        "python/core/*",
        "python/cubed/*.pyi",
        "python/cubed/**/*.py",
        "src/catalogue/notes/*/*.txt",
        "src/catalogue/names.def",
    )
    for pattern in patterns:
        for path in ROOT.glob(pattern):
            target = tmp_path / path.relative_to(ROOT)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return tmp_path


def generate(root: Path, *args: str) -> subprocess.CompletedProcess:
    library = Path(BIN).parent / "libcubed.so"
    command = [sys.executable, root / "tools/generate", "--library", library, *args]
    return subprocess.run(command, capture_output=True, text=True)


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_what_differs_is_shown_and_written(tables):
    done = generate(tables, "--check")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    edit(tables / "include/cubed/ops.def", "Sum of two arrays", "All of two arrays")
    edit(tables / "python/core/py_array.c", "irregular: tuple[bool, ...]", "irregular: bool")
    edit(tables / "src/catalogue/notes/linalg/inv.txt", "x = cubed", "matrix = cubed")
    edit(tables / "python/cubed/array_api/signal_functions.py", '"vander"]', "]")
    (tables / "src/catalogue/names.def").unlink()
    done = generate(tables, "--check")
    assert done.returncode == 1
    assert '-    """Sum of two arrays, element by element.' in done.stdout
    assert "+    def irregular(self) -> bool: ..." in done.stdout
    assert "+    >>> matrix = cubed.asarray" in done.stdout
    assert "places of functions, by hash" in done.stdout
    assert '-        "vander": "cubed.functions.products",' in done.stdout
    assert generate(tables).returncode == 0
    assert generate(tables, "--check").returncode == 0


@pytest.mark.parametrize(
    ("file", "old", "new", "says"),
    [
        ("include/cubed/ops.def", "CUBED_OP(SIN, sin,", "CUBED_OP(SIN, sinus,", "differ in sin, s"),
        ("include/cubed/ops.def", ' "Sine of', '\n "Sine of', "ops.def is not one line"),
        ("python/core/py_functions.c", '"result_type(a', '"type(a', "the row of result_type has"),
        ("python/core/py_functions.c", 'b: str, /) -> str | None"', 'b: str, /)"', "is no sig"),
        ("python/core/py_functions.c", "b: str, /) -> str", "b=1, /) -> str", "by name"),
        ("python/core/py_array.c", '"dump() -> bytes"', "NULL", "not every row of a table"),
        (
            "python/core/py_array.c",
            '"dtype: str\\nName of the data type."',
            "NULL",
            "not every row",
        ),
        ("python/core/_core.pyi.in", "@names@", "", "has @names@ 0 times"),
    ],
)
def test_tables_that_say_too_little_are_refused(tables, file, old, new, says):
    edit(tables / file, old, new)
    done = generate(tables)
    assert done.returncode == 1 and says in done.stderr
