"""Code in the documentation runs (docs/xarray.md: see test_xarray.py); what docstrings say."""

import re
import types
from pathlib import Path

import cubed
import cubed.array_api as xp
import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGES = [p.name for p in sorted(DOCS.glob("*.md")) if p.name != "xarray.md"]


def code_of(page):
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def test_there_is_code():
    assert sum(len(code_of(page)) for page in PAGES) >= 15


@pytest.mark.parametrize("page", [p for p in PAGES if code_of(p)])
def test_code_of_page(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    for block in code_of(page):
        exec(compile(block, page, "exec"), scope)


def test_docstrings_say_whether_functions_compute():
    places = [(xp, xp.__all__), (xp.linalg, xp.linalg.__all__), (xp.fft, xp.fft.__all__)]
    places += [(cubed, cubed.__all__), (cubed.random, cubed.random.__all__)]
    functions = {
        f"{place.__name__}.{n}": getattr(place, n)
        for place, names in places
        for n in names
        if isinstance(getattr(place, n), types.FunctionType)
    }
    assert len(functions) > 200
    said = re.compile(r"\b([Ll]azy|[Cc]omput\w*|lazily|Shapes, types and memory are those)\b")
    assert [n for n, f in functions.items() if not said.search(f.__doc__ or "")] == []
