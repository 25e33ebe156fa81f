"""Callbacks: the files that they write, and their warnings."""

import csv
import importlib
import io
import itertools
import json
import re
import sys
import warnings
import xml.etree.ElementTree as ET

import cubed
import cubed.array_api as xp
import numpy as np
import pytest
from conftest import no_warnings
from cubed.diagnostics import (
    ChromeTraceCallback,
    HistoryCallback,
    MemoryVisualizationCallback,
    MemoryWarningCallback,
    ProgressBar,
    ReportCallback,
    TextProgressBar,
    TimelineVisualizationCallback,
)
from cubed.diagnostics.history import analyze
from cubed.runtime.types import Callback, TaskEndEvent

import zarr

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def spec(tmp_path):
    return cubed.Spec(work_dir=str(tmp_path), allowed_mem="40MB", reserved_mem="10MB")


@pytest.fixture
def values():
    return np.random.default_rng(0).random((600, 400))


@pytest.fixture
def lazy(spec, values):
    """Several stages: a reduction, and a sort that needs its result."""
    x = cubed.from_array(values, chunks=(100, 100), spec=spec)
    return xp.sort(x - xp.mean(x, axis=0), axis=0)


@pytest.fixture
def failing(spec):
    def refuse(block):
        raise ValueError("this block <is> refused")

    x = xp.ones((4, 4), chunks=(2, 2), spec=spec)
    return cubed.map_blocks(refuse, x, dtype=x.dtype)


class Tasks(Callback):
    def __init__(self):
        self.events = []

    def on_task_end(self, event):
        self.events.append(event)


@pytest.mark.parametrize("package", ["diagnostics", "extensions"])
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("rich", "RichProgressBar"),
        ("tqdm", "TqdmProgressBar"),
        ("history", "HistoryCallback"),
        ("timeline", "TimelineVisualizationCallback"),
        ("mem_warn", "MemoryWarningCallback"),
        ("mem_usage", "MemoryVisualizationCallback"),
        ("mem_utilization", "MemoryVisualizationCallback"),
    ],
)
def test_import_paths_of_upstream(package, module, name):
    found = getattr(importlib.import_module(f"cubed.{package}.{module}"), name)
    assert issubclass(found, Callback)


def test_importing_needs_the_standard_library_only(monkeypatch):
    for name in ("rich", "tqdm", "tqdm.auto", "pandas", "cairosvg", "IPython"):
        monkeypatch.setitem(sys.modules, name, None)
    for name in [m for m in sys.modules if m.startswith(("cubed.diagnostics", "cubed.extensions"))]:
        monkeypatch.delitem(sys.modules, name)
    for name in ("rich", "tqdm", "history", "timeline", "trace", "widgets"):
        importlib.import_module(f"cubed.diagnostics.{name}")


def test_history(tmp_path, lazy):
    history, tasks = HistoryCallback(tmp_path / "history"), Tasks()
    lazy.compute(callbacks=[history, tasks])
    plan = lazy.plan()
    tables = {
        name: list(csv.DictReader((history.written / f"{name}.csv").open()))
        for name in ("plan", "events", "stats")
    }
    assert history.written.parent == tmp_path / "history"
    assert len(tables["plan"]) == len(tables["stats"]) == plan.num_stages > 1
    assert len(tables["events"]) == len(tasks.events) == plan.num_tasks
    assert sum(int(r["num_tasks"]) for r in tables["stats"]) == plan.num_tasks
    for row in tables["stats"]:
        own = [e for e in tasks.events if e.name == row["name"]]
        assert int(row["bytes_read"]) == sum(e.bytes_read for e in own)
        most = max(e.peak_measured_mem_end for e in own)
        assert float(row["projected_mem_utilization"]) == most / own[0].projected_mem
        assert 0 < float(row["projected_mem_utilization"]) <= 1


def test_tables_are_analyzed(tmp_path):
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    history = HistoryCallback(tmp_path)
    x = cubed.ones((60, 40), chunks=10)
    (x - x.mean()).sum().compute(callbacks=[history])
    # Tasks of microseconds are differences of times since 1970, of which each last digit counts.
    read = [
        pd.read_csv(path, float_precision="round_trip")
        for path in (history.plan_df_path, history.events_df_path)
    ]
    minimal = history.plan_df.drop(columns=["projected_mem_mb", "reserved_mem_mb"])
    for plan, events in ((history.plan_df, history.events_df), read, (minimal, read[1])):
        before = plan.copy()
        pd.testing.assert_frame_equal(analyze(plan, events), history.stats_df)
        pd.testing.assert_frame_equal(plan, before)
    assert len(history.stats_df) == len(read[0]) > 1
    with pytest.raises(ValueError, match="events_df has operations .*pass tables of one comput"):
        analyze(history.plan_df[:0], history.events_df)


def test_history_as_parquet(tmp_path, lazy):
    pd = pytest.importorskip("pandas", reason="Parquet is written by pandas")
    pytest.importorskip("pyarrow", reason="Parquet is written by pyarrow")
    history = HistoryCallback(tmp_path, format="parquet")
    lazy.compute(callbacks=[history])
    read = pd.read_parquet(history.written / "events.parquet")
    pd.testing.assert_frame_equal(read, history.events_df)
    assert len(read) == lazy.plan().num_tasks


def test_history_refuses_other_formats():
    with pytest.raises(ValueError, match="'xls', expected 'csv' or 'parquet'"):
        HistoryCallback(format="xls")


@pytest.mark.parametrize("callback", [TimelineVisualizationCallback, MemoryVisualizationCallback])
def test_charts(tmp_path, lazy, callback):
    chart = callback(directory=tmp_path)
    lazy.compute(callbacks=[chart])
    svg = ET.fromstring(chart.written.read_text())
    assert svg.tag == f"{SVG}svg"
    shown = sum(int(r.get("data-tasks", 0)) for r in svg.iter(f"{SVG}rect"))
    assert shown == lazy.plan().num_tasks


def test_charts_in_other_formats(tmp_path, lazy):
    pytest.importorskip(
        "cairosvg", reason="PNG and PDF are made by CairoSVG", exc_type=(ImportError, OSError)
    )
    png = MemoryVisualizationCallback(path=tmp_path / "memory.png")
    pdf = TimelineVisualizationCallback("pdf", directory=tmp_path)
    lazy.compute(callbacks=[png, pdf])
    assert png.written.read_bytes().startswith(b"\x89PNG")
    assert pdf.written.read_bytes().startswith(b"%PDF")


def test_other_formats_say_what_they_need(tmp_path, lazy, monkeypatch):
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(ImportError, match="PNG need CairoSVG"):
        lazy.compute(callbacks=[TimelineVisualizationCallback("png", directory=tmp_path)])
    with pytest.raises(ValueError, match="'gif', expected 'svg', 'png' or 'pdf'"):
        TimelineVisualizationCallback("gif")


def test_report(tmp_path, lazy):
    report = ReportCallback(tmp_path / "report.html")
    lazy.compute(callbacks=[report], executor="single-threaded")
    page = report.written.read_text()
    assert page.startswith("<!DOCTYPE html>") and page.rstrip().endswith("</html>")
    assert f'data-name="tasks_ended" data-value="{lazy.plan().num_tasks}"' in page
    assert "executor single-threaded" in page
    assert "<script" not in page


def test_report_of_a_failure(tmp_path, failing):
    report = ReportCallback(directory=tmp_path)
    with pytest.raises(ValueError, match="refused"):
        failing.compute(callbacks=[report])
    page = report.written.read_text()
    assert "Failed: " in page and "this block &lt;is&gt; refused" in page


def test_reports_are_of_recorded_runs(lazy):
    with pytest.raises(RuntimeError, match="no run of this plan was recorded"):
        lazy.plan().chart("timeline")


def test_nothing_is_recorded_anew_while_a_plan_runs(lazy):
    class Impatient(Callback):
        def on_task_end(self, event):
            self.plan.record()

        def on_compute_start(self, event):
            self.plan = event.plan

    with pytest.raises(RuntimeError, match="running already"):
        lazy.compute(callbacks=[Impatient()])


def test_trace(tmp_path, lazy):
    trace, tasks = ChromeTraceCallback(tmp_path / "trace.json"), Tasks()
    lazy.compute(callbacks=[trace, tasks])
    doc = json.loads(trace.written.read_text())
    events = doc["traceEvents"]
    assert {e["ph"] for e in events} == {"M", "X", "C"}
    spans = [e for e in events if e["ph"] == "X"]
    assert all(e["ts"] >= 0 and e["dur"] >= 0 for e in spans)
    own = [e for e in spans if e["cat"] == "task"]
    assert sorted(e["args"]["task"] for e in own) == sorted(e.task for e in tasks.events)
    # Each track has a name and a number of its own, whatever its process is: to Perfetto they are
    # one list, in which 0 is special. Tasks of one do not overlap, or Perfetto leaves them out.
    assert len({e["tid"] for e in spans}) == len({(e["pid"], e["tid"]) for e in spans})
    assert not {e["tid"] for e in spans} & {0, *(e["pid"] for e in events)}
    named = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    assert {(e["pid"], e["tid"]) for e in spans} <= named
    for worker in {e["tid"] for e in own}:
        track = sorted((e["ts"], e["ts"] + e["dur"]) for e in own if e["tid"] == worker)
        assert all(b[0] >= a[1] - 1e-6 for a, b in itertools.pairwise(track))
    memory = [e["args"]["bytes"] for e in events if e["ph"] == "C"]
    assert max(memory) > 0 and memory[-1] == 0 and min(memory) >= 0


def test_the_trace_has_shared_tasks_on_all_workers(tmp_path):
    spec = cubed.Spec(allowed_mem="14MB", reserved_mem="10MB", work_dir=str(tmp_path))
    x = zarr.create_array(tmp_path / "x.zarr", shape=(1024, 2048), chunks=(8, 2048), dtype="f8")
    x[...] = 1.0
    y = cubed.from_zarr(str(tmp_path / "x.zarr"), spec=spec).rechunk((1024, 16))
    trace, tasks = ChromeTraceCallback(tmp_path / "trace.json"), Tasks()
    cubed.to_zarr(y, str(tmp_path / "y.zarr"), max_workers=3, callbacks=[trace, tasks])
    shared = {e.task for e in tasks.events if e.coop == 3}
    assert shared
    events = json.loads(trace.written.read_text())["traceEvents"]
    own = [e for e in events if e.get("cat") == "task"]
    for task in shared:
        assert len({e["tid"] for e in own if e["args"]["task"] == task}) == 3


def greedy(block):
    more = np.ones(4_000_000)
    return block + more[0]


def test_functions_that_take_more_than_they_said(spec):
    x = xp.ones((4, 4), chunks=(2, 4), dtype=xp.float64, spec=spec)
    with pytest.warns(RuntimeWarning, match=r"a function took 32 MB more .* 40 MB allowed"):
        cubed.map_blocks(greedy, x, dtype=x.dtype).compute()
    roomy = cubed.map_blocks(
        greedy,
        xp.ones((4, 4), chunks=(2, 4), dtype=xp.float64, spec=cubed.Spec(allowed_mem="400MB")),
        dtype=x.dtype,
    )
    with no_warnings():
        roomy.compute()
        declared = cubed.map_blocks(greedy, roomy, dtype=x.dtype, extra_projected_mem=33_000_000)
        declared.compute()
    with pytest.warns(UserWarning, match=r"a function of 'op-000 .*greedy.*' took 32 MB, more"):
        roomy.compute(callbacks=[MemoryWarningCallback()])


def test_memory_warnings(lazy):
    watch = MemoryWarningCallback()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        lazy.compute(callbacks=[watch])

    class TooMuch(Callback):
        def on_compute_start(self, event):
            watch.on_compute_start(event)

        def on_compute_end(self, event):
            for measured in (20, 30, 25):
                watch.on_task_end(
                    TaskEndEvent("op-000 f", peak_measured_mem_end=measured, projected_mem=22)
                )
            watch.on_compute_end(event)

    with pytest.warns(UserWarning, match="op-000 f.*30 B of memory.*22 B projected"):
        lazy.compute(callbacks=[TooMuch()])


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("file", [io.StringIO, Terminal])
def test_text_progress(lazy, file):
    out = file()
    lazy.compute(callbacks=[TextProgressBar(out)])
    tasks = lazy.plan().num_tasks
    assert f"{tasks} of {tasks} tasks, done in" in out.getvalue()
    assert ("100 %" in out.getvalue()) == out.isatty()


def test_progress_of_a_failure(failing):
    out = io.StringIO()
    with pytest.raises(ValueError, match="refused"):
        failing.compute(callbacks=[TextProgressBar(out)])
    assert "tasks, failed after" in out.getvalue()


def test_rich_progress(lazy):
    console = pytest.importorskip("rich.console", reason="bars of Rich")
    out = io.StringIO()
    bar = ProgressBar(console=console.Console(file=out, width=120))
    lazy.compute(callbacks=[bar])
    for stage in lazy.plan().stages:
        assert f"{stage['num_tasks']}/{stage['num_tasks']}" in out.getvalue()
    assert "op-001" in out.getvalue()


def test_tqdm_progress(lazy):
    pytest.importorskip("tqdm", reason="bars of tqdm")
    from cubed.diagnostics.tqdm import TqdmProgressBar

    out = io.StringIO()
    with TqdmProgressBar(file=out):
        lazy.compute()
    assert "100%" in out.getvalue() and "op-001" in out.getvalue()


def test_plain_progress_where_there_is_no_other(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda n: None if n in ("rich", "tqdm") else find(n)
    )
    assert isinstance(ProgressBar(), TextProgressBar)


class Notebook:
    """What notebooks show, in place of IPython's kernel or of marimo."""

    def __init__(self):
        self.shown = []
        self.kernel = self.output = self.compile = self

    def display(self, data, raw, display_id):
        assert raw and display_id
        self.shown.append(data["text/html"])
        return self

    def update(self, data, raw):
        self.shown.append(data["text/html"])

    def format_code_name(self, filename):
        return None

    def running_in_notebook(self):
        return True

    def Html(self, text):
        return text

    def replace(self, html):
        self.shown.append(html)


@pytest.fixture(params=["IPython", "marimo"])
def notebook(request, monkeypatch):
    shown = Notebook()
    if request.param == "marimo":
        monkeypatch.setitem(sys.modules, "marimo", shown)
    else:
        ipython = pytest.importorskip("IPython", reason="notebooks of Jupyter")
        monkeypatch.setattr(ipython, "get_ipython", lambda: shown)
        monkeypatch.setattr("IPython.display.display", shown.display)
    return shown


def test_progress_in_notebooks_is_replaced_in_place(lazy, failing, notebook, capfd):
    bar = ProgressBar()
    assert isinstance(bar, TextProgressBar)
    lazy.compute(callbacks=[bar])
    tasks = lazy.plan().num_tasks
    assert f"0 of {tasks} tasks" in notebook.shown[0] and "<progress" in notebook.shown[0]
    assert f"{tasks} of {tasks} tasks, done in" in notebook.shown[-1]
    with pytest.raises(ValueError, match="refused"):
        failing.compute(callbacks=[bar])
    assert "failed after" in notebook.shown[-1]
    assert capfd.readouterr() == ("", "")


def test_progress_in_notebooks_names_what_was_written(lazy, notebook, monkeypatch):
    # Not by its name: another test may have imported the module again.
    monkeypatch.setitem(ProgressBar.__globals__, "INTERVAL", 0.0)
    lazy.compute(callbacks=[ProgressBar()])
    running = [html for html in notebook.shown if "left</div>" in html]
    assert any("sort(" in html for html in running)
    assert not any("op-0" in html or "-&gt;" in html for html in running)


def test_reports_are_linked_in_notebooks(lazy, notebook, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = ReportCallback("a report <1>.html")
    assert "<a" not in report._repr_html_()
    lazy.compute(callbacks=[report])
    (shown,) = notebook.shown
    assert 'href="a%20report%20%3C1%3E.html"' in shown and "a report &lt;1&gt;.html</a>" in shown
    assert report._repr_html_() == shown


def test_a_kernel_shows_progress_without_errors_stream():
    """A real one, as Jupyter and VS Code start it."""
    nbclient = pytest.importorskip("nbclient", reason="runs notebooks")
    nbformat = pytest.importorskip("nbformat", reason="runs notebooks")
    code = (
        "import cubed\nfrom cubed.diagnostics import ProgressBar\n"
        "x = cubed.random.random((100, 100), chunks=10)\n"
        "float(x.sum().compute(callbacks=[ProgressBar()]))"
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    nbclient.NotebookClient(notebook, timeout=60, startup_timeout=300).execute()
    shown, value = notebook.cells[0].outputs
    assert shown.output_type == "display_data" and value.output_type == "execute_result"
    assert "tasks, done in" in shown["data"]["text/html"]


def test_two_callbacks_of_one_file_are_refused(lazy, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, second = ReportCallback(tmp_path / "r.html"), ChromeTraceCallback("./r.html")
    with pytest.raises(ValueError, match=r"ReportCallback and ChromeTraceCallback both write"):
        lazy.compute(callbacks=[first, second])
    with first, pytest.raises(ValueError, match="give each a path"):
        lazy.compute(callbacks=[second])
    assert not (tmp_path / "r.html").exists()
    tasks = Tasks()
    with first, tasks:
        lazy.compute(callbacks=[first, tasks])  # one callback that is given twice
    assert first.written == tmp_path / "r.html"
    assert len(tasks.events) == lazy.plan().num_tasks


def test_what_people_read_of_callbacks_and_runs(lazy, tmp_path):
    report, history = ReportCallback(tmp_path / "r.html"), HistoryCallback(tmp_path / "h")
    bar = TextProgressBar(io.StringIO())
    assert (
        repr(report)
        == f"<cubed ReportCallback: writes {str(report.path)!r} when a computation ends>"
    )
    assert repr(bar) == "<cubed TextProgressBar>"
    plan = lazy.plan()
    stats = plan.execute([np.empty(lazy.shape)], callbacks=[report, history, bar])
    assert repr(report) == f"<cubed ReportCallback: wrote {str(report.path)!r}>"
    assert repr(history) == f"<cubed HistoryCallback: wrote tables to {str(history.written)!r}>"
    assert repr(bar) == f"<cubed TextProgressBar: {plan.num_tasks} of {plan.num_tasks} tasks>"
    first, *_ = repr(stats).splitlines()
    assert re.fullmatch(rf"{plan.num_tasks} tasks in [\d.]+ m?s on \d workers?", first)
    assert stats["num_tasks"] == plan.num_tasks
    assert repr(Tasks()) == "<cubed Tasks>"
    assert re.match(r"about .* s on \d+ workers? .* reads and .* writes", str(plan.estimate()))


@pytest.mark.parametrize("name", ["LivePlanViewer", "LiveTimelineViewer", "LiveMemoryViewer"])
def test_live_pictures(lazy, monkeypatch, name):
    display = pytest.importorskip("IPython.display", reason="pictures in notebooks")
    from cubed.diagnostics import widgets

    shown = []

    class Handle:
        def update(self, html):
            shown.append(html.data)

    def show(html, display_id):
        shown.append(html.data)
        return Handle()

    monkeypatch.setattr(display, "display", show)
    lazy.compute(callbacks=[getattr(widgets, name)(interval=0)])
    assert len(shown) == 2 + lazy.plan().num_tasks
    pictures = 2 if name == "LivePlanViewer" else 1
    assert all(s.count("<svg") == s.count("</svg>") == pictures for s in shown)
    assert shown[0] != shown[-1]


def test_progress_is_drawn(lazy):
    plan = lazy.plan()
    plan.record()
    before = plan.chart("progress")
    assert f">0 of {plan.num_tasks} tasks, " in before and "of a worker" in before
    out = np.empty(lazy.shape, lazy.dtype)
    plan.execute([out], callbacks=[Callback()])
    after = plan.chart("progress")
    assert f">{plan.num_tasks} of {plan.num_tasks} tasks, " in after
    for i, stage in enumerate(plan.stages):
        assert f"stage {i}: " in after
        assert f">{stage['num_tasks']} / {stage['num_tasks']}<" in after
    ET.fromstring(after)


def test_progress_of_many_stages_is_short():
    x = xp.ones((64, 64), chunks=(32, 64))
    for _ in range(12):
        x = xp.sort(xp.sort(x, axis=0), axis=1)
    plan = x.plan()
    assert plan.num_stages > 22
    plan.record()
    drawn = plan.chart("progress")
    assert drawn.count(">stage ") == 20 and f"stages 0 to 19 of {plan.num_stages}" in drawn
    plan.execute([np.empty(x.shape, x.dtype)], callbacks=[Callback()])
    last = plan.num_stages - 1
    assert f"stages {last - 19} to {last} of {plan.num_stages}" in plan.chart("progress")


def test_live_pictures_say_what_they_need(lazy, monkeypatch):
    from cubed.diagnostics.widgets import LiveTimelineViewer

    monkeypatch.setitem(sys.modules, "IPython.display", None)
    with pytest.raises(ImportError, match="LiveTimelineViewer .* needs IPython"):
        lazy.compute(callbacks=[LiveTimelineViewer()])
