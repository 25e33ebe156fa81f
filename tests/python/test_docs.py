"""Code in the documentation runs. docs/xarray.md needs data: see test_xarray.py."""

import re
from pathlib import Path

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
