"""Plots show the stored values, and the error explains why something cannot be drawn."""

import pathlib
import sys

import cubed
import numpy as np
import pytest
from conftest import check, run

pytest.importorskip("matplotlib", reason="it draws")
pytest.importorskip("nc_time_axis", reason="axes of calendars")
xr = pytest.importorskip("xarray", reason="it draws")
plot = pytest.importorskip("cubed.plot")

QUIET = ["--progress", "none"]


@pytest.fixture(autouse=True)
def _python(monkeypatch):
    monkeypatch.setenv("CUBED_PYTHON", sys.executable)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("plot") / "year.zarr"
    values = np.arange(60 * 4 * 5.0).reshape(60, 4, 5)
    x = xr.DataArray(values, dims=("time", "lat", "lon"), attrs={"units": "K"})
    x = x.assign_coords(lat=[40.0, 30.0, 20.0, 10.0], time=np.arange(60))
    x.time.attrs = {"units": "days since 2020-01-01", "calendar": "noleap"}
    x.lat.attrs = {"units": "degrees_north"}
    x.to_dataset(name="t").to_zarr(path)
    return path


@pytest.fixture
def figures(monkeypatch):
    """Figures that are written."""
    from matplotlib.figure import Figure

    seen = []
    save = Figure.savefig

    def keep(figure, *args, **options):
        seen.append(figure)
        save(figure, *args, **options)

    monkeypatch.setattr(Figure, "savefig", keep)
    return seen


def group(path, **variables):
    xr.Dataset(variables).to_zarr(path)
    return path


def test_a_map_is_over_its_coordinates(tmp_path, figures):
    x = xr.DataArray(
        np.arange(12.0).reshape(3, 4), dims=("lat", "lon"),
        coords={"lat": [0, 10, 20], "lon": [0, 90, 180, 270]}, attrs={"units": "K"},
    )  # fmt: skip
    plot.draw(group(tmp_path / "a.zarr", t=x), tmp_path / "a.png", colors="RdBu_r", title="Map")
    (figure,) = figures
    axes, bar = figure.axes
    (mesh,) = axes.collections
    assert np.array_equal(np.ravel(mesh.get_array()), np.ravel(x))
    assert mesh.get_cmap().name == "RdBu_r"
    assert axes.get_xlabel() == "lon" and axes.get_ylabel() == "lat"
    assert axes.get_ylim() == (-5, 25)
    assert bar.get_ylabel() == "t [K]"
    assert figure.get_suptitle() == "Map"
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_series_in_one_unit_share_a_diagram(tmp_path, figures):
    a = xr.DataArray(np.arange(5.0), dims="x", attrs={"units": "m"})
    b = xr.DataArray(np.arange(5) > 2, dims="x")
    path = group(tmp_path / "a.zarr", p=a, q=a * 2, r=b, m=xr.DataArray(np.eye(3) > 0))
    plot.draw(path, tmp_path / "a.svg")
    mask, lengths, booleans = (axes for axes in figures[0].axes if axes.get_label() != "<colorbar>")
    assert [line.get_label() for line in lengths.lines] == ["p", "q"]
    assert lengths.get_ylabel() == "[m]"
    assert [list(line.get_ydata()) for line in lengths.lines] == [[0, 1, 2, 3, 4], [0, 2, 4, 6, 8]]
    assert list(booleans.lines[0].get_ydata()) == list(b)
    assert mask.collections
    assert "<svg" in (tmp_path / "a.svg").read_text()


def test_bounds_are_not_drawn(tmp_path, figures):
    time = np.arange(5)
    t = xr.DataArray(time * 2.0, dims="time", name="t")
    t = t.assign_coords(time=("time", time, {"units": "days since 2001-01-01", "bounds": "b"}))
    bounds = xr.DataArray(np.stack([time, time + 1], 1), dims=("time", "nv"))
    t.to_dataset().assign(b=bounds).to_zarr(tmp_path / "x.zarr")
    check(run("plot", "t*2", tmp_path / "x.zarr", "--out", tmp_path / "x.png", *QUIET))
    assert (tmp_path / "x.png").stat().st_size > 0
    plot.draw(tmp_path / "x.zarr", tmp_path / "y.png")
    (axes,) = figures[0].axes
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), time * 2)


@pytest.mark.parametrize("calendar", ["standard", "noleap"])
def test_what_is_long_is_thinned(tmp_path, figures, calendar):
    values = np.random.default_rng(1).random(5001)
    time = xr.DataArray(
        np.arange(5001), dims="time", attrs={"units": "days since 2000-01-01", "calendar": calendar}
    )
    path = group(tmp_path / "a.zarr", t=xr.DataArray(values, dims="time", coords={"time": time}))
    plot.draw(path, tmp_path / "a.png", spec=cubed.Spec(allowed_mem="100MB"))
    (line,) = figures[0].axes[0].lines
    assert np.allclose(line.get_ydata(), values.reshape(-1, 3).mean(1))
    assert figures[0].get_supxlabel() == "means of 3 along time"


def test_positions_stand_for_coordinates_that_are_not_there(tmp_path, figures):
    path = group(tmp_path / "a.zarr", t=xr.DataArray(np.arange(4096.0), dims="x"))
    plot.draw(path, tmp_path / "a.png")
    (line,) = figures[0].axes[0].lines
    assert list(line.get_xdata()[:3]) == [0, 2, 4]


WRONG = [
    ({"a": xr.DataArray(1.0)}, {}, "a has 0 dimensions"),
    ({"a": xr.DataArray(np.zeros((1, 2, 3)))}, {}, "a has 3 dimensions"),
    ({"a": xr.DataArray(np.zeros(3, complex))}, {}, "a is complex128"),
    ({}, {}, "nothing to draw"),
    ({"a": xr.DataArray(np.zeros(3))}, {"colors": "Blauw"}, "colors is 'Blauw'"),
]


@pytest.mark.parametrize(("variables", "options", "says"), WRONG)
def test_what_cannot_be_drawn(tmp_path, variables, options, says):
    with pytest.raises(ValueError, match=says):
        plot.draw(group(tmp_path / "a.zarr", **variables), tmp_path / "a.png", **options)
    assert not (tmp_path / "a.png").exists()


def test_the_command_draws(store, tmp_path):
    done = check(
        run("plot", 'm = mean(t, "time"); s = t[:, 1, 1]', store, "--out", tmp_path / "a.svg",
            "--title", "-t- & more", *QUIET)
    )  # fmt: skip
    assert f"m: float64 (lat: 4, lon: 5) -> {tmp_path}/a.svg" in done.out
    assert [p.name for p in tmp_path.iterdir()] == ["a.svg"]  # what it was made of is gone
    assert run("plot", "t[0]", store, "--out", tmp_path / "a.svg", *QUIET).code == 2
    check(run("plot", "t[0]", store, "--out", tmp_path / "a.svg", "--overwrite", *QUIET))


def test_the_command_draws_what_has_no_names(tmp_path):
    check(run("plot", "a = eye(3); b = arange(4.)", "--out", tmp_path / "a.pdf", *QUIET))
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [("t", ["--out", "a.png"], "t has 3 dimensions"),
     ("mean(t)", ["--out", "a.png"], "has 0 dimensions"),
     ("t[0]", [], "--out map.png"),
     ("t[0]", ["--out", "a.zarr"], "expected a FILE.png")],
)  # fmt: skip
def test_wrong_usage_of_the_command(store, tmp_path, monkeypatch, text, options, says):
    monkeypatch.chdir(tmp_path)
    failed = run("plot", f"t = {text}" if text == "t" else text, store, *options, *QUIET)
    assert failed.code in (1, 2) and says in failed.err
    assert list(tmp_path.iterdir()) == []


def test_a_failed_drawing_leaves_nothing(store, tmp_path):
    failed = run("plot", "t[0]", store, "--out", tmp_path / "a.png", "--colors", "no", *QUIET)
    assert failed.code == 1 and "colors is 'no'" in failed.err and "not drawn" in failed.err
    assert list(tmp_path.iterdir()) == []


def test_pythons_that_cannot_draw(store, tmp_path, monkeypatch):
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "$@"\n')
    bare.chmod(0o755)
    clone = f"cubed is not installed for {bare}, which draws: {bare} -m pip install '.[plot]' in a"
    for name, says in [(bare, clone), ("/no/python", "does not run")]:
        monkeypatch.setenv("CUBED_PYTHON", str(name))
        failed = run("plot", "t[0]", store, "--out", tmp_path / "a.png", *QUIET)
        assert failed.code == 1 and says in failed.err
    assert list(tmp_path.iterdir()) == [bare]


def test_a_python_without_matplotlib(store, tmp_path, monkeypatch):
    """The command that installs what is missing names the packages, with their bounds."""
    site = pathlib.Path(cubed.__file__).parents[1]
    for path in site.iterdir():
        if not path.name.startswith("matplotlib"):
            (tmp_path / path.name).symlink_to(path)
    bare = tmp_path / "python"
    bare.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec "{sys.executable}" -S "$@"\n')
    bare.chmod(0o755)
    monkeypatch.setenv("CUBED_PYTHON", str(bare))
    failed = run("plot", "t[0]", store, "--out", tmp_path / "a.png", *QUIET)
    assert failed.code == 1 and not (tmp_path / "a.png").exists()
    assert f"cubed plot: Matplotlib is not installed for {bare}, which draws: /" in failed.err
    assert "install 'matplotlib>=3.9' 'nc-time-axis>=1.4.1' 'xarray>=2024.11', or set" in failed.err


@pytest.mark.parametrize("verb", ["eval", "copy"])
def test_other_verbs_draw_nothing(store, tmp_path, verb):
    words = ["t[0]", store] if verb == "eval" else [f"{store}::t", tmp_path / "a.png"]
    options = ["--out", tmp_path / "a.png"] if verb == "eval" else []
    failed = run(verb, *words, *options, *QUIET)
    assert failed.code == 2 and "cubed plot" in failed.err
