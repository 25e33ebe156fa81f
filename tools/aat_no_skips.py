"""A plugin of pytest for array-api-tests: runs the tests that the suite itself skips as flaky.

Usage, in a clone of the suite: PYTHONPATH=.../tools pytest -p aat_no_skips ...
See docs/dev/array-api-tests.md.
"""

import pytest

lifted: set[str] = set()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if any(item.iter_markers("skip")) or any(item.iter_markers("skipif")):
            lifted.add(item.nodeid)
        for node in item.listchain():
            node.own_markers[:] = [m for m in node.own_markers if m.name not in ("skip", "skipif")]


def pytest_report_collectionfinish() -> str:
    return f"aat_no_skips: no marks that skip, of {len(lifted)} tests: {', '.join(sorted(lifted))}"
