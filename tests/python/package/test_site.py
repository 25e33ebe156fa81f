"""The site: pages that are made from the code are complete, and no link is broken."""

import importlib
import inspect
import re
import subprocess
import sys

import cubed
import pytest
from conftest import ROOT, check, run

sys.path.insert(0, str(ROOT / "docs"))
import benchmark_charts
import c_headers
import gallery
import settings
import verbs

import catalogue

DOCS = ROOT / "docs"
COMMENTS = re.compile(r"/\*.*?\*/", re.DOTALL)


@pytest.mark.parametrize("header", c_headers.headers())
def test_pages_of_headers_have_all_functions(header):
    text = COMMENTS.sub("", c_headers.headers()[header].read_text())
    functions = set(re.findall(r"^CUBED_API[^;]*?\b(cubed_\w+)\(", text, re.MULTILINE))
    page = c_headers.page(header)
    headings = " ".join(re.findall(r"^### .*$", page, re.MULTILINE))
    assert functions <= set(re.findall(r"\w+", headings))
    # Nothing is left of the syntax of comments.
    outside = re.sub(r"^```.*?^```$", "", page, flags=re.MULTILINE | re.DOTALL)
    assert "*/" not in outside
    assert "/*" not in outside


def test_pages_of_headers_have_all_values_of_enums():
    pages = "".join(c_headers.page(h) for h in c_headers.headers())
    assert len(c_headers.VALUES) > 200
    missing = [n for n, v in c_headers.VALUES.items() if f"| `{n}` | {v} |" not in pages]
    assert missing == []


def test_lists_in_comments_of_headers_are_lists():
    comment = (
        " Two rules:\n * - one,\n *   on two lines\n * 2. two\n * End.\n"
        " *\n * x  a name,\n *    on two lines "
    )
    assert "\n".join(c_headers.prose(comment)) == (
        "Two rules:\n\n- one, on two lines\n2. two\n\nEnd.\n\n- `x`: a name, on two lines\n"
    )


def test_every_verb_has_a_page():
    pages = verbs.pages()
    listed = re.findall(r"^  ([a-z-]+) ", check(run("--help")).out, re.MULTILINE)
    assert len(listed) > 15
    assert {f"reference/command/{v}.md" for v in listed} == {*pages} - {
        "reference/command/index.md"
    }
    assert all("usage: cubed " in pages[f"reference/command/{v}.md"] for v in listed)


def test_every_setting_is_described():
    tables = settings.tables()
    for name in inspect.signature(cubed.Spec).parameters:
        assert re.search(rf"^\| `{name}` \|.*\| \S.* \|$", tables, re.MULTILINE), name
    for place in settings.EXECUTORS.values():
        described = settings.parameters(settings.executor_class(place).__doc__)
        assert all(f"| `{name}` |" in tables for name in described if name[0] != "*"), place


@pytest.mark.parametrize("row", benchmark_charts.DATA["measured"])
def test_charts_have_all_figures(row):
    figures = [f for f in benchmark_charts.DATA["figures"] if f["row"].split()[0] == row]
    assert len(figures) > 4
    assert benchmark_charts.chart(row).count("<rect ") == len(figures)
    assert benchmark_charts.table(row).count("\n| ") == len(figures)


def test_recorded_figures_replace_those_of_their_row(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    bench = importlib.import_module("run")
    (tmp_path / "docs").mkdir()
    data = tmp_path / "docs/benchmarks.json"
    data.write_text((DOCS / "benchmarks.json").read_text())
    monkeypatch.setattr(bench, "ROOT", tmp_path)
    monkeypatch.setattr(bench, "revision", lambda: "1234567")
    new = {"row": "a none", "run": "ours", "seconds": [3, 1, 2], "peak": 64e6, "allowed": 4e9}
    bench.record([new, {"row": "a none", "ratio": "limit / ours"}])
    made = bench.json.loads(data.read_text())
    (figure,) = (f for f in made["figures"] if f["row"].startswith("a "))
    assert figure == {"row": "a none", "run": "ours", "seconds": 2, "peak": 64, "allowed": 4000}
    assert made["measured"]["a"]["revision"] == "1234567"
    assert made["measured"]["c"] == benchmark_charts.DATA["measured"]["c"]


def generated():
    """Names of the pages that exist only on the site."""
    files = {**catalogue.pages(), **verbs.pages(), **c_headers.pages(), **gallery.pages()}
    return {*files, "reference/names.md", "dev/design.md"}


def test_no_link_is_dead():
    """Links of all documents, and documents that sources and messages name."""
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if tracked.returncode != 0:
        pytest.skip("needs the files of a clone, which Git lists")
    pages = {(DOCS / name).resolve() for name in generated()}
    dead = []
    for path in (ROOT / name for name in tracked.stdout.split()):
        if not path.is_file() or path.suffix in (".ipynb", ".svg", ".png"):
            continue
        text = path.read_text(errors="replace")
        found = re.findall(r"(?<![\w/.])docs/[\w/-]+\.md\b", text)
        targets = [ROOT / name for name in found]
        if path.suffix == ".md":
            links = re.findall(
                r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"```.*?```", "", text, flags=re.DOTALL)
            )
            targets += [path.parent / link for link in links if "://" not in link]
        dead += [
            (str(path), str(t)) for t in targets if not t.exists() and t.resolve() not in pages
        ]
    assert dead == []
