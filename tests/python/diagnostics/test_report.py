"""Reports: the page that --report writes, and the drawing of --plan-svg."""

import html.parser
import itertools
import json
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from conftest import check, run

import zarr

VOID = {"meta", "br"}
QUIET = ["--progress", "none"]


class Page(html.parser.HTMLParser):
    """Checks that what is opened is closed, and collects what the tests look at."""

    def __init__(self, path):
        super().__init__()
        self.source = path.read_text(encoding="utf-8")
        self.open, self.text, self.title = [], "", ""
        self.totals: dict[str, float] = {}
        self.charts: dict[str, list[dict[str, str]]] = {}
        self.feed(self.source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        assert tag not in {"script", "link", "img", "iframe", "image", "use", "object"}
        assert not {"src", "href", "xlink:href"} & set(values)
        if tag in VOID:
            return
        self.open.append(tag)
        if tag == "svg":
            self.chart = self.charts.setdefault(values["class"].split()[-1], [])
        if tag == "rect" and "data-tasks" in values:
            self.chart.append(values)
        if "data-name" in values:
            self.totals[values["data-name"]] = float(values["data-value"])

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        assert "<" not in data or self.open[-1] in {"title", "text", "p", "td", "li", "h1"}
        self.text += data

    def tasks(self, chart: str) -> int:
        return sum(int(mark["data-tasks"]) for mark in self.charts[chart])


def read(path) -> Page:
    page = Page(path)
    assert page.source.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?://|url\(|@import|data:", page.source)
    # The drawings are XML as well.
    drawings = re.findall(r"<svg.*?</svg>", page.source, re.DOTALL)
    assert len(drawings) == 3
    for drawing in drawings:
        ET.fromstring(drawing)
    for mark in page.charts["timeline"] + page.charts["memory"]:
        x, width = float(mark["x"]), float(mark["width"])
        assert x >= 84 and x + width <= 1160
        assert float(mark["height"]) >= 0
    return page


def agrees(page: Page, figures: dict) -> None:
    """Whether the page says of the run what --json says."""
    same = ["tasks", "stages", "workers", "allowed_mem", "reserved_mem", "projected_mem"]
    same += ["measured_mem", "bytes_read", "bytes_written", "stored_read", "stored_written"]
    assert {name: page.totals[name] for name in same} == {name: figures[name] for name in same}
    # Looked up when each is written.
    assert page.totals["peak_rss"] == pytest.approx(figures["peak_rss"], rel=0.2)
    assert page.totals["seconds"] == pytest.approx(figures["seconds"], abs=0.5)
    assert page.tasks("timeline") == page.tasks("memory") == page.totals["tasks_ended"]


@pytest.mark.parametrize("executor", ["threads", "single-threaded", "processes"])
def test_a_report_has_the_numbers_of_the_run(tmp_path, executor):
    text = "x = rechunk(arange(600.0), 20); y = x * x; z = y - mean(y)"
    result = check(
        run("eval", text, "--out", tmp_path / "o.zarr", "--report", tmp_path / "r.html", "--json",
            "--executor", executor, "--max-workers", 2, "--allowed-mem", "20MB", *QUIET)
    )  # fmt: skip
    page = read(tmp_path / "r.html")
    agrees(page, result.run)
    assert page.totals["tasks_ended"] == result.run["tasks"]
    assert page.totals["allowed_mem"] == 20e6
    assert f"executor {executor}" in page.text
    assert "Done in" in page.text and "OVER" not in page.text
    for name in "xyz":
        assert f"o.zarr::{name}" in page.text
    # A mark for each task. Those of one worker follow each other.
    marks = page.charts["timeline"]
    assert len(marks) == result.run["tasks"]
    assert all(mark["data-tasks"] == "1" for mark in marks)
    lanes = {mark["y"] for mark in marks}
    assert 1 <= len(lanes) <= (1 if executor == "single-threaded" else 2)
    for lane in lanes:
        spans = sorted((float(m["x"]), float(m["width"])) for m in marks if m["y"] == lane)
        for (x, width), (following, _) in itertools.pairwise(spans):
            assert width == 0.5 or x + width <= following + 0.02


def test_bars_are_as_high_as_what_events_say(tmp_path):
    text = "sum(rechunk(arange(1000.0), 100) * 2)"
    files = ["--report", tmp_path / "r.html", "--events", tmp_path / "e"]
    check(run("eval", text, *files, "--executor", "processes", *QUIET))
    page = read(tmp_path / "r.html")
    events = [json.loads(line) for line in (tmp_path / "e").read_text().splitlines()]
    ends = [e for e in events if e["event"] == "task_end"]
    ends.sort(key=lambda e: (e["stage"], e["task"]))
    assert len(ends) == len(page.charts["memory"])
    heights = np.array([float(bar["height"]) for bar in page.charts["memory"]])
    memory = np.array([e["measured_mem"] for e in ends])
    np.testing.assert_allclose(heights / heights.max(), memory / memory.max(), atol=0.002)
    widths = sum(float(m["width"]) for m in page.charts["timeline"])
    busy = page.totals["busy_seconds"]
    assert busy == pytest.approx(sum(e.get("duration", 0) for e in ends), abs=1e-4)
    drawn = widths / (1160 - 84 - 24) * page.totals["seconds"]
    assert drawn >= busy * 0.99


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_thousands_of_tasks_stay_a_small_page(tmp_path, executor):
    text = "x = rechunk(arange(6000.0), 1)"
    out = ["--out", tmp_path / "o.zarr", "--report", tmp_path / "r.html", "--json"]
    result = check(run("eval", text, *out, "--executor", executor, *QUIET))
    page = read(tmp_path / "r.html")
    agrees(page, result.run)
    assert result.run["tasks"] >= 6000
    assert page.source.count("<rect") <= 2000
    assert (tmp_path / "r.html").stat().st_size < 500_000
    # Bars stand for about as many tasks each, and side by side.
    counts = [int(bar["data-tasks"]) for bar in page.charts["memory"]]
    assert max(counts) - min(counts) <= 1
    assert "tasks 0 to " in page.source


def test_tasks_that_workers_share_are_on_the_lanes_of_all(tmp_path):
    z = zarr.create_array(tmp_path / "x.zarr", shape=(1024, 2048), chunks=(8, 2048), dtype="f8")
    z[...] = 1.0
    result = check(
        run("rechunk", tmp_path / "x.zarr", tmp_path / "y.zarr", "--chunks", "1024,16", "--report",
            tmp_path / "r.html", "--events", tmp_path / "events", "--json", "--max-workers", 3,
            "--reserved-mem", "10MB", "--allowed-mem", "14MB", *QUIET)
    )  # fmt: skip
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    shared = [e for e in events if e["event"] == "task_end" and e.get("coop", 1) > 1]
    assert shared and all(e["coop"] == 3 for e in shared)
    page = read(tmp_path / "r.html")
    agrees(page, result.run)
    helped = [m for m in page.charts["timeline"] if m["data-tasks"] == "0"]
    assert len(helped) == 2 * len(shared)
    assert len({mark["y"] for mark in page.charts["timeline"]}) == 3
    assert page.source.count(", with other workers, of stage") == len(helped)


def test_every_verb_that_runs_plans_writes_one(tmp_path):
    root = zarr.create_group(tmp_path / "g.zarr")
    root.create_array("u", shape=(12,), chunks=(3,), dtype="f8")[...] = 1.0
    page = tmp_path / "r.html"
    source = f"{tmp_path}/g.zarr::u"
    plan = tmp_path / "plan"
    check(run("eval", "u+1", source, "--out", tmp_path / "e.zarr", "--save-plan", plan))
    commands = {
        "rechunk": ["rechunk", source, tmp_path / "a.zarr", "--chunks", "4"],
        "copy": ["copy", tmp_path / "g.zarr", tmp_path / "c.zarr"],
        "run": ["run", plan],
        "eval": ["eval", "u+1", source],
    }
    for command in commands.values():
        page.unlink(missing_ok=True)
        result = check(run(*command, "--report", page, "--json", *QUIET))
        agrees(read(page), result.run)


def test_the_demo_writes_one_unasked(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    args = ["demo", "quadratic-means", "--size", "30MB", *QUIET]
    said = check(run(*args)).out
    path = re.search(r"^report in (.*)$", said, re.MULTILINE)[1]
    assert [str(p) for p in tmp_path.iterdir()] == [path]
    page = read(tmp_path / path)
    assert page.tasks("timeline") == 8
    assert "means.zarr::uv" in page.text
    # Beside data that stays; where it should be; not where figures are for programs.
    check(run(*args, "--dir", tmp_path / "kept"))
    read(tmp_path / "kept/report.html")
    check(run(*args, "--report", tmp_path / "mine.html"))
    read(tmp_path / "mine.html")
    before = sorted(tmp_path.iterdir())
    assert "report" not in json.loads(check(run(*args, "--json")).out)
    assert sorted(tmp_path.iterdir()) == before


def test_failed_and_resumed_runs_have_reports(tmp_path):
    source = zarr.create_array(tmp_path / "x.zarr", shape=(60,), chunks=(1,), dtype="f8")
    source[...] = np.arange(60.0) + 1
    chunk = tmp_path / "x.zarr/c/59"
    bytes_of_chunk = chunk.read_bytes()
    chunk.unlink()
    chunk.symlink_to(chunk)  # reading it fails
    report = ["--report", tmp_path / "r.html", "--max-workers", 1, *QUIET]
    command = ["eval", "x*2", tmp_path / "x.zarr", "--out", tmp_path / "o.zarr", *report]
    assert run(*command, "--retries", 1).code == 1
    page = read(tmp_path / "r.html")
    assert "Failed: " in page.text and "Failed attempts" in page.text
    assert page.totals["attempts_failed"] == 2
    done = page.totals["tasks_ended"]
    assert 0 < done < page.totals["tasks"] == 60
    assert page.tasks("timeline") == page.tasks("memory") == done
    assert sum("failed" in mark.get("class", "") for mark in page.charts["timeline"]) == 2

    chunk.unlink()
    chunk.write_bytes(bytes_of_chunk)
    check(run(*command, "--resume"))
    page = read(tmp_path / "r.html")
    assert page.totals["tasks_resumed"] == done
    assert page.totals["tasks_ended"] == 60 - done == page.tasks("memory")
    resumed = [int(bar.get("data-resumed", 0)) for bar in page.charts["memory"]]
    assert sum(resumed) == done
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "o.zarr")[...], source[...] * 2)


def test_names_cannot_break_the_page(tmp_path):
    name = "a<b>&\"'</title><script>\udcff\x01\u00e9.zarr"
    name = name.replace("/", "\u2215")
    files = ["--report", tmp_path / "r.html", "--plan-svg", tmp_path / "p.svg"]
    check(run("eval", "arange(9)", "--out", tmp_path / name, *files, "--json", *QUIET))
    page = read(tmp_path / "r.html")
    shown = name.replace("\udcff", "?").replace("\x01", "?")
    assert shown in page.text
    assert shown in "".join(ET.parse(tmp_path / "p.svg").getroot().itertext())


def boxes(svg: ET.Element) -> list[tuple[float, float, float, float]]:
    found = []
    for group in svg.iter("{http://www.w3.org/2000/svg}g"):
        if group.get("class") in {"stage", "source", "target", "intermediate"}:
            rect = group.find("{http://www.w3.org/2000/svg}rect")
            found.append(tuple(float(rect.get(k)) for k in ("x", "y", "width", "height")))
    return found


@pytest.mark.parametrize("options", [[], ["--no-optimize"]])
def test_the_plan_is_drawn(tmp_path, options):
    text = "x = rechunk(arange(600.0), 20); y = x*x - mean(x); z = (y + x) / sum(y); m = max(z) - x"
    out = ["--out", tmp_path / "o.zarr", "--plan-svg", tmp_path / "p.svg"]
    result = check(run("eval", text, *out, "--plan", "--json", *options))
    plan = json.loads(result.out)
    svg = ET.parse(tmp_path / "p.svg").getroot()
    assert svg.tag == "{http://www.w3.org/2000/svg}svg"
    texts = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}text")]
    for i, stage in enumerate(plan["stages"]):
        assert texts.count(f"stage {i}") == 1
        titles = [t.text for t in svg.iter("{http://www.w3.org/2000/svg}title")]
        assert stage["operation"] in titles
    stored = {x["id"] for s in plan["stages"] for x in s["inputs"] + s["outputs"]}
    found = boxes(svg)
    assert len(found) == len(plan["stages"]) + len(stored)
    # One arrowhead per use, no box over another, all of them inside.
    heads = [p for p in svg.iter("{http://www.w3.org/2000/svg}path") if p.get("class") == "head"]
    assert len(heads) == sum(len(s["inputs"]) + len(s["outputs"]) for s in plan["stages"])
    left, top, width, height = map(float, svg.get("viewBox").split())
    for i, (x, y, w, h) in enumerate(found):
        assert left <= x and x + w <= left + width and top <= y and y + h <= top + height
        for x2, y2, w2, h2 in found[i + 1 :]:
            assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_reports_that_cannot_be(tmp_path):
    missing = tmp_path / "no/r.html"
    out = ["--out", tmp_path / "o.zarr"]
    failed = run("eval", "arange(9)", *out, "--report", missing, *QUIET)
    assert failed.code == 1 and "r.html: No such file" in failed.err
    assert not (tmp_path / "o.zarr").exists()
    full = run("eval", "arange(9)", *out, "--report", "/dev/full", *QUIET)
    assert full.code == 1 and "No space left" in full.err
    for option in [["--plan"], ["--save-plan", tmp_path / "p"]]:
        refused = run("eval", "arange(9)", *out, "--report", tmp_path / "r.html", *option)
        assert refused.code == 2 and "--report" in refused.err
    assert not (tmp_path / "r.html").exists()
    unwritable = run("eval", "arange(9)", "--plan", "--plan-svg", tmp_path / "no/p.svg")
    assert unwritable.code == 1 and "No such file" in unwritable.err
