"""Checks the page of CDO's operators: operators that it marks as equal are compared with CDO."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from conftest import cases, check, run
from test_calendar_statistics import make
from test_climate_indices import by_cdo, evaluated, put, with_holes

PAGE = Path(__file__).parents[3] / "docs/coming-from/cdo-operators.md"
CALENDARS = ["standard", "noleap", "360_day"]
ROW = re.compile(r"^\| `([^`]+)` \| `([^`]+)` \| equal \|$", re.MULTILINE)
ROWS = ROW.findall(PAGE.read_text())

#: Descriptions of grids with the cells of the inputs, for CDO's setgrid.
GRIDS = {
    "regular": "gridtype = lonlat\nxsize = 3\nysize = 2\nxfirst = 0\nxinc = 10\n"
    "yfirst = 0\nyinc = 10",
    "gaussian": "gridtype = gaussian\nxsize = 3\nysize = 2\nnumLPE = 1\nxvals = 0 120 240\n"
    "yvals = 35.26 -35.26",
    "curvilinear": "gridtype = curvilinear\ngridsize = 6\nxsize = 3\nysize = 2\n"
    "xvals = 0 10 20 1 11 21\nyvals = 0 1 2 10 11 12",
    "unstructured": "gridtype = unstructured\ngridsize = 6\nxvals = 0 350 180 7 12 95\n"
    "yvals = 0 -20 85 7 45 -60",
}
#: Operators of cells whose areas, axes or neighbours matter: test_field_statistics and
#: test_remap_command have other grids.
REGULAR = re.compile(r"(fld|glob|zon|mer|vert|remap|gridarea|sellonlatbox)")
WITH_AXES = re.compile(r"(invertl[ao]|maskindex|setcindex)")

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def inputs_of(operator):
    """The files of an operator: a series, temperatures or precipitation, and a second file."""
    family = re.fullmatch(r"(y?[a-z]+?)(add|sub|mul|div)", operator)
    if family:
        return ["a.nc", f"{family[1]}mean.nc"]
    if operator.startswith("ens"):
        return ["t.nc", "y.nc", "third.nc"]
    if re.match(r"(tim|fld)(co[rv]|rms)", operator) or operator in ("add", "sub", "mul", "div"):
        return ["t.nc", "y.nc"]
    if operator.startswith("ifthen") or operator.startswith("ifnotthen"):
        masked = {"ifthen": 2, "ifnotthen": 2, "ifthenelse": 3}.get(operator, 1)
        return ["small.nc", "t.nc", "y.nc"][:masked]
    if operator in ("eq", "ne", "le", "lt", "ge", "gt"):
        return ["small.nc", "other.nc"]
    if operator == "invertlev" or operator.startswith("vert"):
        return ["levels.nc"]
    if operator in ("strbre", "strgal", "hurr"):
        return ["wind.nc"]
    if re.match(r"[yd]hour|hourcount|seltime", operator):
        return ["h.nc"]
    if operator.startswith("eca_"):
        return ["p.nc" if re.match(r"eca_(r|c[dw]d|sdii)", operator) else "t.nc"]
    if operator in ("exp", "log10", "ln", "sqrt", "reci", "not", "log", "strwin"):
        return ["small.nc"]
    if re.match(
        r"[a-z]+c,|set|n?int|abs|sqr|a?sin|a?cos|a?tan|mask|(mul|div)cos|timcum|invertlat", operator
    ):
        return ["t.nc"]
    return ["months.nc" if re.match(r"(year|seas)mon", operator) else "a.nc"]


def make_inputs(folder, calendar):
    rng = np.random.default_rng(0)
    make(folder / "a.nc", calendar, 900, 24)
    t = with_holes(rng, 273.15 + rng.normal(10, 12, (360, 2, 3)), 0.1)
    put(folder / "t.nc", t, calendar, "K")
    put(folder / "y.nc", with_holes(rng, t / 2 + rng.normal(0, 3, t.shape), 0.1), calendar, "K")
    third = with_holes(rng, 270 + rng.gamma(2, 5, t.shape), 0.1)
    put(folder / "third.nc", third, calendar, "K")
    small = with_holes(rng, rng.integers(0, 9, t.shape) / 2, 0.1)
    put(folder / "small.nc", small, calendar, "1")
    put(folder / "wind.nc", small * 12, calendar, "m s-1")
    put(folder / "other.nc", small[::-1], calendar, "1")
    make(folder / "h.nc", calendar, 1500, 18)
    with xr.open_dataset(folder / "t.nc", decode_times=False) as ds:
        lev = xr.DataArray([1000.0, 500.0], dims="lev", attrs={"units": "hPa", "axis": "Z"})
        v = (ds.v * (lev / 1000)).transpose("time", "lev", "lat", "lon").assign_attrs(ds.v.attrs)
        levels = ds.assign(v=v, lev=lev)
        levels.to_netcdf(folder / "levels.nc", format="NETCDF3_CLASSIC")
    rain = np.where(rng.random(t.shape) < 0.5, 0, rng.gamma(1, 8, t.shape))
    put(folder / "p.nc", with_holes(rng, rain, 0.05), calendar, "mm")


def second_file(folder, name):
    if name == "months.nc" or name.endswith("mean.nc"):
        by_cdo(folder, "monmean" if name == "months.nc" else name.removesuffix(".nc"), "a.nc")
        (folder / "want.nc").rename(folder / name)


def on_grid(folder, name, grid):
    """The same values on another grid."""
    if grid == "regular" or name == "levels.nc":
        return name
    (folder / f"{grid}.txt").write_text(GRIDS[grid])
    words = ["cdo", "-s", "-O", f"setgrid,{grid}.txt", name, f"{grid}_{name}"]
    if not (folder / words[-1]).exists():
        subprocess.run(words, cwd=folder, check=True, capture_output=True)
    return words[-1]


def grids_of(operator):
    if REGULAR.match(operator):
        return ["regular"]
    if operator.startswith("setclonlatbox"):  # in CDO an index box around it on other grids
        return ["regular", "gaussian"]
    return [g for g in GRIDS if g != "unstructured" or not WITH_AXES.match(operator)]


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_operators_that_are_marked_equal(tmp_path, calendar):
    assert len(ROWS) > 100
    make_inputs(tmp_path, calendar)
    # A third of the rows with each calendar, or all rows.
    rows = ROWS if cases(1) > 1 else ROWS[CALENDARS.index(calendar) :: 3]
    for number, (operator, words) in enumerate(rows):
        files = inputs_of(operator)
        grids = grids_of(operator)
        for name in files:
            if not (tmp_path / name).exists():
                second_file(tmp_path, name)
        grid = grids[number % len(grids)]
        files = [on_grid(tmp_path, name, grid) for name in files]
        want = np.squeeze(by_cdo(tmp_path, operator, *files))
        out = tmp_path / "got.nc"
        paths = [tmp_path / name for name in files]
        check(run(words, *paths, out, "--overwrite", "--progress", "none"))
        with xr.open_dataset(out, decode_times=False) as got:
            have = np.squeeze(got.v)
            message = f"{operator}, {grid}"
            np.testing.assert_allclose(have, want, rtol=3e-4, atol=2e-3, err_msg=message)


#: What to write in place of operators that are not there: x and y are variables of files.
REMEDIES = [
    ("timsort", ["full.nc"], 'sort(x, dim="time")'),
    ("deltat", ["t.nc"], "diff(x, axis=0)"),
    ("timederivative", ["t.nc"], "diff(x, axis=0) / 86400"),
    ("timminidx", ["full.nc"], 'argmin(x, dim="time")'),
    ("timmaxidx", ["full.nc"], 'argmax(x, dim="time")'),
    ("yearminidx", ["full.nc"], 'argmin(x, dim="time")'),
    ("yearmaxidx", ["full.nc"], 'argmax(x, dim="time")'),
    ("shiftx,1,cyclic", ["t.nc"], "roll(x, 1, axis=2)"),
    ("shifty,1,cyclic", ["t.nc"], "roll(x, 1, axis=1)"),
    ("gridweights", ["t.nc"], "gridarea(x) / sum(gridarea(x))"),
    ("bottomvalue", ["levels.nc"], "x[:, 0]"),
    ("topvalue", ["levels.nc"], "x[:, 1]"),
    ("vertcum", ["levels.nc"], 'cumulative_sum(x, dim="lev")'),
    ("selgridcell,2", ["t.nc"], "x[..., 0, 1]"),
    ("invertlatdata", ["t.nc"], 'flip(x, dim="lat")'),
    ("invertlondata", ["t.nc"], 'flip(x, dim="lon")'),
    ("mod,7", ["t.nc"], "x % 7"),
    ("duplicate,2", ["t.nc"], "concat((x, x))"),
    ("setmiss", ["t.nc", "full.nc"], "where(x == x, x, y)"),
    ("eca_pd,5", ["p.nc"], "eca_rr1(x, 5)"),
    (
        "fdns",
        ["cold.nc", "snow.nc"],
        'where(any(x == x, dim="time") & any(y == y, dim="time"), '
        'sum(where((x <= 273.15) & (y <= 0.01), 1, 0), dim="time"), nan)',
    ),
    (
        "tstepcount,2",
        ["small.nc"],
        'where(any(x == 2, dim="time"), argmax(x == 2, dim="time") + 1, nan)',
    ),
    ("sortlevel", ["levels.nc"], "x"),
    ("sortlevel", ["unsorted.nc"], "x"),
]

#: Operators of CDO, and operators that have the same results inside of the input's outermost
#: centres.
INSIDE = [("intgrid", "remapbil"), ("intgridbil", "remapbil")]
INSIDE += [("intgriddis", "remapdis"), ("intgridnn", "remapnn")]


def make_inputs_of_remedies(folder, calendar):
    """A series without holes, minimum temperatures and snow, and levels that are not sorted."""
    rng = np.random.default_rng(2)
    make_inputs(folder, calendar)
    put(folder / "full.nc", 280 + rng.normal(0, 9, (360, 2, 3)), calendar, "K")
    for name, values, units in (
        ("cold", rng.choice([270, 273, 273.15, 280], (8, 2, 3)), "K"),
        ("snow", rng.choice([0, 0.01, 0.02], (8, 2, 3)), "m"),
    ):
        values = with_holes(rng, values, 0.2)
        values[:, 0, 1 if name == "snow" else 0] = np.nan
        put(folder / f"{name}.nc", values, calendar, units)
    with xr.open_dataset(folder / "levels.nc", decode_times=False) as ds:
        lev = ds.lev.copy(data=[500.0, 1000.0]) * 0.7
        unsorted = xr.concat([ds, ds.assign_coords(lev=lev)], "lev", data_vars="minimal")
        unsorted.lev.attrs = ds.lev.attrs
        unsorted.to_netcdf(folder / "unsorted.nc", format="NETCDF3_CLASSIC")


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_remedies(tmp_path, calendar):
    make_inputs_of_remedies(tmp_path, calendar)
    for operator, files, text in REMEDIES:
        want = np.squeeze(by_cdo(tmp_path, operator, *files))
        [got] = evaluated(tmp_path, [text], **dict(zip("xy", files, strict=False)))
        np.testing.assert_allclose(np.squeeze(got), want, rtol=1e-5, atol=1e-3, err_msg=operator)


@needs_cdo
@pytest.mark.parametrize(("operator", "words"), INSIDE)
def test_remedies_of_interpolations(tmp_path, operator, words):
    rng = np.random.default_rng(2)
    full = 280 + rng.normal(0, 9, (20, 2, 3))
    put(tmp_path / "full.nc", full, "standard", "K")
    full[rng.random(full.shape) < 0.1] = np.nan
    put(tmp_path / "holes.nc", full, "standard", "K")
    axes = "gridtype = lonlat\nxsize = {}\nysize = {}\nxfirst = {}\nxinc = {}\n"
    (tmp_path / "inside.txt").write_text(axes.format(5, 4, 0.5, 4.3) + "yfirst = 1\nyinc = 2.1\n")
    (tmp_path / "wide.txt").write_text(axes.format(9, 4, 0.5, 6.1) + "yfirst = -8\nyinc = 8.7\n")

    def both(name, grid):
        want = np.squeeze(by_cdo(tmp_path, f"{operator},{grid}.txt", name))
        out = tmp_path / "got.nc"
        words_of_grid = f"{words},{tmp_path / grid}.txt"
        check(run(words_of_grid, tmp_path / name, out, "--overwrite", "--progress", "none"))
        with xr.open_dataset(out, decode_times=False) as got:
            return np.squeeze(got.v).values, want.values

    # Missing values: remapbil uses the other three cells, and CDO refuses such a cell.
    for name in ["full.nc"] if words == "remapbil" else ["full.nc", "holes.nc"]:
        np.testing.assert_allclose(*both(name, "inside"), rtol=1e-5)
    got, want = both("full.nc", "wide")
    lat, lon = -8 + 8.7 * np.arange(4), 0.5 + 6.1 * np.arange(9)
    inside = ((lat >= 0) & (lat <= 10))[:, None] & (lon <= 20)
    assert inside.any() and not inside.all()
    np.testing.assert_array_equal(np.isnan(want), np.broadcast_to(~inside, want.shape))
    np.testing.assert_allclose(got[:, inside], want[:, inside], rtol=1e-5)


#: Operators whose results differ from CDO's only for missing values.
WITHOUT_MISSING = "fldmedian zonmedian mermedian fldstd1 merstd1 fldrms ensmedian merpctl,90"


@needs_cdo
def test_operators_without_missing_values(tmp_path):
    rng = np.random.default_rng(1)
    files = ["a.nc", "b.nc", "c.nc"]
    for name in files:
        put(tmp_path / name, 280 + rng.normal(0, 5, (40, 2, 3)), "standard", "K")
    for operator in WITHOUT_MISSING.split():
        n = {"fldrms": 2, "ensmedian": 3}.get(operator, 1)
        want = np.squeeze(by_cdo(tmp_path, operator, *files[:n]))
        out = tmp_path / "got.nc"
        paths = [tmp_path / name for name in files[:n]]
        check(run(operator, *paths, out, "--overwrite", "--progress", "none"))
        with xr.open_dataset(out, decode_times=False) as got:
            np.testing.assert_allclose(np.squeeze(got.v), want, rtol=1e-5, err_msg=operator)


@needs_cdo
def test_the_page_has_all_operators_of_cdo():
    listed = subprocess.run(["cdo", "--operators"], check=True, capture_output=True, text=True)
    operators = {line.split()[0] for line in listed.stdout.splitlines() if line.strip()}
    first = [line.split("|")[1] for line in PAGE.read_text().splitlines() if line.startswith("| `")]
    named = [name for cell in first for name in re.findall("`([^`]+)`", cell)]
    rows = {name.split(",")[0] for name in named}
    assert operators - rows == set()
    # Newer versions of CDO have further operators.
    assert rows - operators <= {"splitdate"}
