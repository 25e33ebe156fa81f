"""The pages of promises name tests and fuzzers that exist, one at least for each promise."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["docs/security.md", "docs/promises.md"]
NAME = re.compile(r"`((?:test|fuzz)_\w+\.(?:py|c))(?:::(\w+))?`")
#: In the paragraphs that explain names.
FOLDERS = {"test_py": "tests/python", "test_c": "tests/unit", "fuzz_c": "fuzz"}


def functions(path):
    """Tests of a module, by their definitions: also those that are skipped here."""
    found = ast.walk(ast.parse(path.read_text()))
    return {f.name for f in found if isinstance(f, ast.FunctionDef)}


def rows(page):
    """Rows of tables whose last column says what holds them."""
    within = False
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        if not line.startswith("|"):
            within = False
        elif line.rstrip().endswith("| held by |"):
            within = True
        elif within and not re.fullmatch(r"[|\- ]+", line):
            yield number, line


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_exists(page):
    names = NAME.findall((ROOT / page).read_text())
    assert len(names) > 20
    for file, function in names:
        path = ROOT / FOLDERS[f"{file.partition('_')[0]}_{file.rpartition('.')[2]}"] / file
        assert path.is_file(), f"{page}: there is no {path}"
        if function:
            assert function in functions(path), f"{page}: {file} has no {function}"
            assert function.startswith("test_"), f"{page}: {function} is no test"


@pytest.mark.parametrize("page", PAGES)
def test_each_promise_is_held(page):
    found = list(rows(page))
    assert len(found) > 10
    for number, line in found:
        cells = line.strip("| \n").split(" | ")
        assert NAME.search(cells[-1]), f"{page}:{number}: no test holds this: {line}"


def test_the_pages_are_found():
    """By readers of the site, of the repository, and of each other."""
    assert all(Path(p).name in (ROOT / "mkdocs.yml").read_text() for p in PAGES)
    assert all(p in (ROOT / "SECURITY.md").read_text() for p in PAGES)
