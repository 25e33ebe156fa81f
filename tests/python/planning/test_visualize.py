"""Drawings of plans."""

import json
import re
import sys
import xml.etree.ElementTree as ET

import cubed
import cubed.array_api as xp
import pytest
from conftest import check, run

import zarr

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def lazy(tmp_path):
    spec = cubed.Spec(work_dir=str(tmp_path), allowed_mem="40MB", reserved_mem="10MB")
    x = xp.ones((600, 400), chunks=(100, 100), spec=spec)
    return xp.sort(x - xp.mean(x, axis=0), axis=0)


def drawn(svg: str, attribute: str) -> set[int]:
    root = ET.fromstring(svg)
    return {int(g.get(attribute)) for g in root.iter(f"{SVG}g") if g.get(attribute) is not None}


def arrays_of(plan) -> set[int]:
    return {x["id"] for s in plan.stages for x in [*s["inputs"], *s["outputs"]]}


def test_svg(tmp_path, lazy):
    picture = lazy.visualize(tmp_path / "plan")
    plan = lazy.plan()
    assert picture.path == tmp_path / "plan.svg"
    text = picture.path.read_text()
    assert drawn(text, "data-stage") == set(range(plan.num_stages))
    assert drawn(text, "data-array") == arrays_of(plan)
    assert text in picture._repr_html_() and "<svg" in plan._repr_html_()


def test_results_have_the_names_of_arrays(tmp_path, lazy):
    y = lazy + 1
    names = [a.text for a in ET.fromstring(cubed.plan(y, lazy).draw("svg")).iter(f"{SVG}text")]
    assert {y.name, lazy.name} <= set(names) and "result" not in names
    # Workers that share no memory store results, which have names, too.
    assert cubed.plan(y).array_names == (y.name,)


def test_the_picture_of_an_array_has_its_names(tmp_path):
    def labels(x):
        return [t.text for t in ET.fromstring(x.to_svg()).iter(f"{SVG}text") if t.text]

    zarr.create_array(
        tmp_path / "x.zarr", shape=(7, 4, 600, 400), chunks=(1, 4, 100, 100), dtype="f4",
        dimension_names=("time", None, "lat", "<lon>"),
    )  # fmt: skip
    x = cubed.from_zarr(str(tmp_path / "x.zarr"))
    assert labels(x) == ["time: 7", "4", "lat: 600", "<lon>: 400"]
    assert labels(x[0, 0]) == ["lat: 600", "<lon>: 400"]
    assert labels(xp.ones(9)) == ["9"]
    # All of it is in the picture.
    for a in (x, x[0, 0, 0], x[:, :, :, 0], xp.ones((1, 10**9))):
        root = ET.fromstring(a.to_svg(120))
        width, height = (float(root.get(side)) for side in ("width", "height"))
        for t in root.iter(f"{SVG}text"):
            assert float(t.get("y")) <= height and float(t.get("x")) < width
    assert "lat: 600" in x._repr_html_()


@pytest.mark.parametrize(
    ("shape", "grids", "boxes"),
    [((9,), 1, 0), ((9, 8), 1, 0), ((9, 8, 7), 1, 1), ((9, 8, 7, 6), 2, 1), ((4,) * 6, 2, 2)],
)
def test_arrays_are_drawn_with_all_axes(shape, grids, boxes):
    x = xp.ones(shape, chunks=2)
    svg = ET.fromstring(x.to_svg(120))
    assert len(list(svg.iter(f"{SVG}rect"))) == grids
    filled = [p for p in svg.iter(f"{SVG}path") if p.get("fill") == "#5b8fc7"]
    assert len(filled) == 2 * boxes  # the sides that are seen
    labels = [t.text for t in svg.iter(f"{SVG}text") if t.text]
    assert sorted(labels) == sorted(map(str, shape))
    width, height = float(svg.get("width")), float(svg.get("height"))
    assert 20 < width < 600 and 20 < height < 300


def test_more_axes_than_are_drawn_are_named():
    x = xp.ones((2, 3, 4, 5, 6, 7, 8, 9), chunks=2)
    assert "2 x 3 x" in [t.text for t in ET.fromstring(x.to_svg()).iter(f"{SVG}text")]


def test_arrays_say_how_many_chunks_they_have():
    assert "<td colspan='2'>6 chunks, 3 x 2</td>" in xp.ones((6, 4), chunks=2)._repr_html_()
    assert "<td colspan='2'>1 chunk</td>" in xp.ones((6,), chunks=6)._repr_html_()
    assert "Count" not in xp.ones((6,), chunks=6)._repr_html_()


def test_plans_print_as_the_table_of_the_command(tmp_path):
    cubed.to_zarr(xp.ones((8, 4), chunks=(2, 4)), str(tmp_path / "x"))
    plan = cubed.from_zarr(str(tmp_path / "x")).mean().plan()
    told = check(run("eval", "mean(x)", f"--in=x={tmp_path}/x", "--plan")).out
    of_command, printed = told.splitlines(), str(plan).splitlines()
    assert printed[0] == of_command[0] and printed[0].startswith("stage ")
    assert [line.partition(" -> ")[0] for line in printed[1:3]] == [
        line.partition(" -> ")[0] for line in of_command[1:3]
    ]
    assert "\n1 stage, 1 task, reads " in str(plan) and "1 stage, 1 task, " in repr(plan)


def test_without_optimisation_there_are_more_stages(tmp_path, lazy):
    fused = cubed.visualize(lazy, filename=tmp_path / "a").path.read_text()
    plain = cubed.visualize(lazy, filename=tmp_path / "b", optimize_graph=False).path.read_text()
    assert drawn(plain, "data-stage") > drawn(fused, "data-stage")


def test_dot(tmp_path, lazy):
    text = lazy.visualize(tmp_path / "plan.dot").path.read_text()
    plan = lazy.plan()
    assert text.startswith("digraph plan {") and text.endswith("}\n")
    assert set(map(int, re.findall(r"^  s(\d+) \[", text, re.M))) == set(range(plan.num_stages))
    assert set(map(int, re.findall(r"^  a(\d+) \[", text, re.M))) == arrays_of(plan)
    edges = set(re.findall(r"^  (\w+ -> \w+);", text, re.M))
    expected = {f"a{x['id']} -> s{i}" for i, s in enumerate(plan.stages) for x in s["inputs"]}
    expected |= {f"s{i} -> a{x['id']}" for i, s in enumerate(plan.stages) for x in s["outputs"]}
    assert edges == expected


def test_page(tmp_path, lazy):
    page = lazy.visualize(tmp_path / "plan.html").path.read_text()
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    plan = lazy.plan()
    assert json.loads(data) == {
        "stages": json.loads(json.dumps(plan.stages)),
        "plan": plan.summary(),
    }
    assert plan.draw("svg") in page
    # Nothing is loaded.
    assert not re.search(r"<link|<img|@import|url\(|\bsrc=|fetch\(", page)
    assert set(re.findall(r"https?://[^\"' ]+", page)) == {"http://www.w3.org/2000/svg"}


def test_names_cannot_break_the_page(tmp_path):
    store = str(tmp_path / "<script>&amp;@SVG@.zarr")
    x = cubed.from_zarr(_stored(store))
    picture = (x + 1).visualize(tmp_path / "plan.html")
    page = picture.path.read_text()
    assert page.count("<script") == 2 and page.count("<svg") == 1
    (data,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert json.loads(data)["stages"][0]["inputs"][0]["name"].endswith("<script>&amp;@SVG@.zarr")


def _stored(path: str) -> str:
    cubed.to_zarr(xp.ones((4,), chunks=(2,)), path)
    return path


def test_png_and_pdf(tmp_path, lazy):
    pytest.importorskip(
        "cairosvg", reason="PNG and PDF are made by CairoSVG", exc_type=(ImportError, OSError)
    )
    assert lazy.visualize(tmp_path / "p", "png").path.read_bytes().startswith(b"\x89PNG")
    assert lazy.visualize(tmp_path / "p.pdf").path.read_bytes().startswith(b"%PDF")


def test_what_is_refused(tmp_path, lazy, monkeypatch):
    with pytest.raises(ValueError, match="'gif', expected one of svg, png, pdf, dot, html"):
        lazy.visualize(tmp_path / "plan", "gif")
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        lazy.visualize(tmp_path / "plan", colour="red")
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(ImportError, match="PDF need CairoSVG"):
        lazy.visualize(tmp_path / "plan.pdf")
    with pytest.raises(ValueError, match="format is 'png', expected 'svg' or 'dot'"):
        lazy.plan().draw("png")
    assert not list(tmp_path.glob("plan*"))


def test_the_page_of_a_plan_is_titled_and_used_by_keyboard(tmp_path):
    x = xp.ones((8, 4), chunks=(2, 4))
    page = (cubed.plan(xp.mean(x), x + 1).visualize(tmp_path / "p.html")).path.read_text()
    assert "<h1>Plan of mean(1), 1 + 1</h1>" in page and "<title>Plan of mean(1)" in page
    assert 'addEventListener("keydown"' in page and 'setAttribute("tabindex", "0")' in page
