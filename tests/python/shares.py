"""Cases of costly tests that one run takes.

`costs.txt` names the test functions whose cases cost the most processor time together. A run with
`--share=K` takes every fifth case of these functions, and all cases of all other functions: five
runs, with K from 0 to 4, take every case. Functions start at different cases, so that those with
few cases are spread over the shares. Functions of a file whose code the last 50 commits changed
keep all cases.

To write `costs.txt` again, from a run of all cases on any machine:

    tools/test build package
    build/venv/bin/python -m pytest -n 2 --costs=build/costs tests/python
    build/venv/bin/python tests/python/shares.py build/costs
"""

import ast
import collections
import os
import pathlib
import subprocess
import sys
import zlib
from collections.abc import Iterator

import pytest

SHARES = 5
#: A function is costly if its cases take this many seconds of processor time together.
COSTLY = 0.5
FOLDER = pathlib.Path(__file__).resolve().parent
COSTS = FOLDER / "costs.txt"


def function_of(item: pytest.Item) -> str:
    """The file and the name of a test, without the case."""
    return item.nodeid.split("[")[0].removeprefix("tests/python/")


def code_of(text: str) -> str:
    """The code of a module without comments and docstrings."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def git(*arguments: str) -> str | None:
    """The output of git in the folder of the tests; None if git fails."""
    command = ["git", "-C", str(FOLDER), *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    return None if done.returncode else done.stdout


def has_changed(file: pathlib.Path, before: str) -> bool:
    """Whether the code of a file differs from that of a commit."""
    old = git("show", f"{before}:./{file.relative_to(FOLDER)}")
    return old is None or not file.exists() or code_of(old) != code_of(file.read_text())


def changed_files() -> set[pathlib.Path]:
    """Test files whose code differs from 50 commits ago; all of them if git does not know."""
    names = git("diff", "--relative", "--name-only", "HEAD~50")
    if names is None:
        return set(FOLDER.glob("*/*.py"))
    changed = (FOLDER / name for name in names.splitlines() if name.endswith(".py"))
    return {file for file in changed if has_changed(file, "HEAD~50")}


def add_options(parser: pytest.Parser) -> None:
    parser.addoption(
        "--share", type=int, choices=range(SHARES), help="a fifth of the cases of costly tests"
    )
    parser.addoption("--costs", help="folder for the processor time of each test")


def deselect(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Removes the cases of costly functions that belong to other shares."""
    share = config.getoption("--share")
    if share is None:
        return
    costly = set(COSTS.read_text().split())
    changed = changed_files()
    cases: collections.Counter[str] = collections.Counter()
    kept, others = [], []
    for item in items:
        name = function_of(item)
        case = cases[name] + zlib.crc32(name.encode())
        cases[name] += 1
        rotates = name in costly and item.path not in changed
        (others if rotates and case % SHARES != share else kept).append(item)
    if others:
        items[:] = kept
        config.hook.pytest_deselected(items=others)


def seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def measure(item: pytest.Item) -> Iterator[None]:
    """With `--costs`, appends the processor time of a test to its process's file."""
    folder = item.config.getoption("--costs")
    before = seconds()
    result = yield
    if folder:
        place = pathlib.Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        with (place / f"{os.getpid()}.tsv").open("a") as file:
            file.write(f"{seconds() - before:.3f}\t{function_of(item)}\n")
    return result


def write_costs(folder: pathlib.Path) -> None:
    """Writes the names of costly functions."""
    times = collections.defaultdict(list)
    for file in folder.glob("*.tsv"):
        for line in file.read_text().splitlines():
            time, name = line.split("\t")
            times[name].append(float(time))
    costly = [name for name, each in times.items() if sum(each) >= COSTLY]
    COSTS.write_text("\n".join(sorted(costly)) + "\n")


if __name__ == "__main__":
    write_costs(pathlib.Path(sys.argv[1]))
