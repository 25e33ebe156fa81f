"""The pages of promises name existing tests and fuzzers, at least one for each promise."""

import ast
import json
import re
from pathlib import Path

import pytest
from conftest import check, run

ROOT = Path(__file__).resolve().parents[3]
PAGES = ["docs/explanation/security.md", "docs/explanation/promises.md"]
NAME = re.compile(r"`((?:test|fuzz)_\w+\.(?:py|c))(?:::(\w+))?`")
#: In the paragraphs that explain names.
FOLDERS = {"test_py": "tests/python", "test_c": "tests/unit", "fuzz_c": "fuzz"}


def functions(path):
    """Tests of a module, by their definitions: also those that are skipped here."""
    found = ast.walk(ast.parse(path.read_text()))
    return {f.name for f in found if isinstance(f, ast.FunctionDef)}


def rows(page):
    """Rows of tables whose last column names tests."""
    within = False
    for number, line in enumerate((ROOT / page).read_text().splitlines(), 1):
        if not line.startswith("|"):
            within = False
        elif line.rstrip().endswith("| test |"):
            within = True
        elif within and not re.fullmatch(r"[|\- ]+", line):
            yield number, line


@pytest.mark.parametrize("page", PAGES)
def test_what_is_named_exists(page):
    names = NAME.findall((ROOT / page).read_text())
    assert len(names) > 20
    for file, function in names:
        folder = ROOT / FOLDERS[f"{file.partition('_')[0]}_{file.rpartition('.')[2]}"]
        path = next(folder.rglob(file), None)
        assert path is not None, f"{page}: {folder} has no {file}"
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


def fences():
    """By schemes, what the table of stores says; a second one where puts have no conditions."""
    found, without = {}, {}
    for line in (ROOT / "docs/explanation/promises.md").read_text().splitlines():
        cells = line.strip("| ").split(" | ")
        if len(cells) < 5 or not re.fullmatch("`[a-z]+`", cells[1]):
            continue
        for scheme in re.findall(r"`(\w+)://`", cells[0]):
            (without if "conditional_put" in cells[0] else found)[scheme] = cells[1].strip("`")
    return found, without


def schemes():
    """Of all stores that can be written, as the library's tables have them."""
    text = "".join(p.read_text() for p in (ROOT / "src/store").rglob("*.c"))
    return {*re.findall(r'(?:\.scheme = |CB_REMOTE_VTABLE\()\s*"(\w+)"', text)} - {"http"}


def test_fences_of_stores(tmp_path, monkeypatch):
    """The table of stores says of each what its plans say."""
    found, without = fences()
    assert {*found} == schemes()
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", "a2V5")
    places = {"file": tmp_path / "z", "redis": "redis://127.0.0.1:1/z"}

    def fence(scheme):
        place = places.get(scheme, f"{scheme}://bucket/z")
        args = ("eval", "ones((4,))", "--out", place, "--plan", "--json")
        (target,) = json.loads(check(run(*args)).out)["targets"]
        return target["fence"]

    assert {scheme: fence(scheme) for scheme in found} == found
    assert without
    monkeypatch.setenv("AWS_CONDITIONAL_PUT", "disabled")
    assert {scheme: fence(scheme) for scheme in without} == without


def test_the_pages_are_found():
    """By readers of the site, of the repository, and of each other."""
    assert all(Path(p).name in (ROOT / "mkdocs.yml").read_text() for p in PAGES)
    assert all(p in (ROOT / "SECURITY.md").read_text() for p in PAGES)
