"""The reference pages of functions, which are made from the catalogue when the site is built."""

import sys

import pytest
from conftest import ROOT, check, run

sys.path.insert(0, str(ROOT / "docs"))
import catalogue


def test_every_function_is_in_python_with_an_example():
    for f in catalogue.FUNCTIONS:
        found = catalogue.in_python(f)
        if f.name in catalogue.IN_PLACE:
            assert not found, f.name
            continue
        assert found, f.name
        assert f.name in catalogue.METHODS or ">>> " in catalogue.example(found[1]), f.name


@pytest.mark.parametrize("category", catalogue.CATEGORIES)
def test_pages_have_what_help_says(category):
    page = catalogue.page(category)
    names = [f.name for f in catalogue.FUNCTIONS if f.category == category]
    assert [line[4:] for line in page.splitlines() if line.startswith("### ")] == names
    listed = check(run("help", category)).out.split()
    assert set(names) <= set(listed)
    assert check(run("help", names[0])).out.splitlines()[0] in page
