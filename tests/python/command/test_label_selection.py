"""Compares selections by labels with Xarray and CDO: ranges, lists and longitudes."""

import shutil
import subprocess

import numpy as np
import pytest
import xarray as xr
from conftest import cases, check, run

QUIET = ("--progress", "none")

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def labelled(name, labels, attrs=None, dtype="f8"):
    """Values that are the positions of the labels."""
    values = np.arange(len(labels), dtype="f4")
    coords = {name: (name, np.asarray(labels, dtype), attrs or {})}
    return xr.Dataset({"v": (name, values)}, coords=coords)


def make_globe(path, lon, dtype="f8"):
    attrs = {"units": "degrees_east", "standard_name": "longitude"}
    labelled("lon", lon, attrs, dtype).to_netcdf(path)
    return path


def select(place, texts, folder=None):
    """The results of selections of v, each in one command."""
    text = "; ".join(f"r{i} = sel(v, {t})" for i, t in enumerate(texts))
    got = check(run("eval", text, place, "--json", *QUIET)).arrays()
    return [got[f"r{i}"] for i in range(len(texts))]


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("up", [True, False])
def test_ranges_have_their_ends(tmp_path, dtype, up):
    ds = labelled("lat", np.linspace(0, 1, 11)[:: 1 if up else -1], dtype=dtype)
    ds.to_zarr(tmp_path / "a.zarr", consolidated=False)
    rng = np.random.default_rng(1)
    ends = [(0.1, 0.3), (0.7, 0.9), (0.2, 0.6), (0, 1), (0.25, 0.55), (-5, 0.1), (0.8, 99)]
    ends += [tuple(sorted(rng.integers(0, 11, 2) / 10)) for _ in range(cases(5))]
    texts = [f"lat=({a}, {b})" for a, b in ends]
    for (a, b), got in zip(ends, select(tmp_path / "a.zarr", texts), strict=True):
        want = ds.v.sel(lat=slice(a, b) if up else slice(b, a))
        if dtype == "f2":  # the index of Xarray has float32, where 0.1 is another number
            least, most = np.float16(a), np.float16(b)
            want = ds.v[(ds.lat >= least).values & (ds.lat <= most).values]
        np.testing.assert_array_equal(got, want, f"{dtype} {a} {b}")


def test_lists(tmp_path):
    lev = [100000, 92500, 85000, 70000, 50000, 20000]
    ds = labelled("lev", lev, {"units": "Pa", "bounds": "lev_bnds"}).expand_dims(x=2, axis=-1)
    ds["lev_bnds"] = (("lev", "bnds"), np.stack([np.array(lev), np.array(lev) + 1.0], 1))
    ds.to_zarr(tmp_path / "a.zarr", consolidated=False)
    lists = [[85000, 20000], [20000, 85000, 85000], [50000], lev[::2], lev[::-1]]
    for i, labels in enumerate(lists):
        out = tmp_path / f"o{i}.zarr"
        text = f"sel(v, lev={labels})"
        check(run("eval", text, tmp_path / "a.zarr", "--out", out, *QUIET))
        with xr.open_zarr(out, consolidated=False) as got:
            want = ds.v.sel(lev=labels)
            assert got.v.dims == want.dims
            np.testing.assert_array_equal(got.v, want)
            np.testing.assert_array_equal(got.lev, want.lev)
            assert got.lev.attrs["units"] == "Pa"
            # Bounds come along, or nothing names them.
            assert ("bounds" in {**got.lev.attrs, **got.lev.encoding}) == ("lev_bnds" in got)
    texts = ["lev=[84000, 1], method='nearest'", "lev=(85000, 20000)", "lev=[85000, 20000], x=0"]
    ds.assign_coords(x=[0, 1]).to_zarr(tmp_path / "b.zarr", consolidated=False)
    near, between, one = select(tmp_path / "b.zarr", [t.replace("'", '"') for t in texts])
    np.testing.assert_array_equal(near, ds.v.sel(lev=[84000, 1], method="nearest"))
    np.testing.assert_array_equal(between, ds.v.sel(lev=slice(85000, 20000)))
    np.testing.assert_array_equal(one, [2, 5])
    # What was selected is selected from again.
    text = "mean(sel(sel(v, lev=[20000, 85000, 92500]), lev=[85000, 20000]), dim='x')"
    got = check(run("eval", text.replace("'", '"'), tmp_path / "a.zarr", "--json", *QUIET))
    np.testing.assert_array_equal(got.array(), [2, 5])


def test_lists_of_dates_and_of_texts(tmp_path):
    times = np.arange("2000-01-01", "2000-04-01", dtype="datetime64[D]").astype("datetime64[ns]")
    ds = xr.Dataset({"v": ("time", np.arange(91.0))}, coords={"time": times})
    ds.to_zarr(tmp_path / "a.zarr", consolidated=False)
    got = select(
        tmp_path / "a.zarr",
        ['time=["2000-01-03", "2000-03-01"]', 'time=["2000-03", "2000-01"]',
         'time=["2000-02-01T07", "1999"], method="nearest"'],
    )  # fmt: skip
    np.testing.assert_array_equal(got[0], ds.v.sel(time=["2000-01-03", "2000-03-01"]))
    np.testing.assert_array_equal(got[1], [*range(60, 91), *range(31)])
    np.testing.assert_array_equal(got[2], [31, 0])
    out = tmp_path / "o.zarr"
    text = 'monsum(sel(v, time=["2000-03", "2000-01"]))'
    check(run("eval", text, tmp_path / "a.zarr", "--out", out, *QUIET))
    with xr.open_zarr(out, consolidated=False) as r:
        np.testing.assert_array_equal(r.v, [sum(range(31)), sum(range(60, 91))])
    ds = xr.Dataset({"v": ("s", [0.0, 1, 2])}, coords={"s": np.array(["Kew", "Ely", "Bath"], "O")})
    ds.to_zarr(tmp_path / "t.zarr", consolidated=False)
    got = select(tmp_path / "t.zarr", ['s=["Bath", "Kew"]', 's=("Kew", "Ely")', 's=["Ely"]'])
    assert [g.tolist() for g in got] == [[2, 0], [0, 1], [1]]


#: West, east, and by CDO 2.1.1 (sellonlatbox) the labels on 0..350 and on -180..170.
BOXES = [
    ((350, 10), [-10, 0, 10], [-10, 0, 10]),
    ((-10, 10), [-10, 0, 10], [-10, 0, 10]),
    ((350, 370), [-10, 0, 10], [-10, 0, 10]),
    ((-370, -350), [-10, 0, 10], [-10, 0, 10]),
    ((10, -10), range(10, 360, 10), range(10, 360, 10)),
    ((-180, 180), range(-180, 180, 10), range(-180, 180, 10)),
    ((0, 360), range(0, 360, 10), range(0, 360, 10)),
    ((170, -170), [170, 180, 190], [170, 180, 190]),
    ((30, 10), range(30, 380, 10), range(30, 380, 10)),
    ((355, 365), [0], [0]),
    ((190, 200), [190, 200], [-170, -160]),
    ((20, 40), [20, 30, 40], [20, 30, 40]),
]


@pytest.mark.parametrize("start", [0, -180])
@pytest.mark.parametrize("up", [True, False])
def test_longitudes_go_around(tmp_path, start, up):
    lon = np.arange(start, start + 360, 10)[:: 1 if up else -1]
    place = make_globe(tmp_path / "a.nc", lon, "f4")
    texts = [f"lon=({a}, {b})" for (a, b), *_ in BOXES]
    for box, got in zip(BOXES, select(place, texts), strict=True):
        labels = list(box[1 if start == 0 else 2])[:: 1 if up else -1]
        want = [np.flatnonzero((lon - x) % 360 == 0)[0] for x in labels]
        np.testing.assert_array_equal(got, want, str(box[0]))
    for box in BOXES[:5:4] + BOXES[10:11]:
        out = tmp_path / "o.nc"
        text = f"sel(v, lon=({box[0][0]}, {box[0][1]}))"
        check(run("eval", text, place, "--out", out, "--overwrite", *QUIET))
        with xr.open_dataset(out) as r:
            assert r.lon.values.tolist() == list(box[1 if start == 0 else 2])[:: 1 if up else -1]
            assert r.lon.attrs["units"] == "degrees_east" and r.lon.dtype == "f4"


@needs_cdo
@pytest.mark.parametrize("start", [0, -180])
def test_boxes_by_cdo(tmp_path, start):
    lon = np.arange(start, start + 360, 10.0)
    attrs = {"units": "degrees_east"}
    ds = labelled("lon", lon, attrs).expand_dims(lat=[0.0])
    ds.lat.attrs["units"] = "degrees_north"
    ds.to_netcdf(tmp_path / "a.nc", format="NETCDF3_CLASSIC")
    for (a, b), *_ in BOXES if cases(1) > 1 else BOXES[::5]:
        command = ["cdo", "-s", f"sellonlatbox,{a},{b},-1,1", "a.nc", "c.nc"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        text = f"sel(v, lon=({a}, {b}))"
        out = tmp_path / "o.nc"
        check(run("eval", text, tmp_path / "a.nc", "--out", out, "--overwrite", *QUIET))
        with xr.open_dataset(tmp_path / "c.nc") as want, xr.open_dataset(out) as got:
            np.testing.assert_array_equal(got.v, want.v, text)
            np.testing.assert_array_equal(got.lon, want.lon, text)


def test_single_longitudes(tmp_path):
    place = make_globe(tmp_path / "a.nc", np.arange(0, 360, 10) + 0.1, "f4")
    got = select(
        place,
        ["lon=350.1", "lon=-9.9", "lon=360.1", "lon=[-9.9, 0.1]",
         'lon=-1, method="nearest"', 'lon=358, method="nearest"',
         'lon=[-20, 181], method="nearest"'],
    )  # fmt: skip
    assert [g.tolist() for g in got] == [35, 35, 0, [35, 0], 0, 0, [34, 18]]


def test_meridians_at_both_ends(tmp_path):
    """0 and 360: a range has that meridian once if it wraps, and all elements if it does not."""
    place = make_globe(tmp_path / "a.nc", np.arange(0, 361, 10))
    single = ["lon=0", "lon=360", "lon=-360", "lon=[0, 360, -10]"]
    assert [g.tolist() for g in select(place, single)] == [0, 36, 0, [0, 36, 35]]
    got = select(place, ["lon=(-20, 20)", "lon=(0, 360)", "lon=(-180, 180)"])
    assert got[0].tolist() == [34, 35, 0, 1, 2]
    assert got[1].tolist() == list(range(37))
    assert got[2].tolist() == [*range(18, 36), *range(18)]


def test_longitudes_of_a_region(tmp_path):
    place = make_globe(tmp_path / "a.nc", np.arange(0, 70, 10))
    got = select(place, ["lon=(350, 10)", "lon=(-10, 10)", "lon=(20, 99)", "lon=(0, 360)"])
    assert [g.tolist() for g in got] == [[0, 1], [0, 1], list(range(2, 7)), list(range(7))]


WRONG = [
    ("lon=(30, 10)", "goes from 0 to 60, and not around the globe"),
    ("lon=(170, -170)", "it goes from 0 to 60"),
    ("lon=(-200, 200)", "expected 360 degrees at most"),
    ("lon=70", 'method="nearest" takes the nearest'),
    ("lon=(10, 20, 30)", "write a list of labels with [ and ]"),
    ("lon=[10, 25]", "has no such elements"),
    ("lon=[]", "expected at least one label"),
    ('lon=["x"]', "expected a number"),
]


@pytest.mark.parametrize(("text", "says"), WRONG)
def test_what_is_refused(tmp_path, text, says):
    place = make_globe(tmp_path / "a.nc", np.arange(0, 70, 10))
    result = run("eval", f"sel(v, {text})", place, *QUIET)
    assert result.code == 1 and says in result.err, result


def test_other_degrees_do_not_go_around(tmp_path):
    """Only longitudes wrap: latitudes and angles without a name of longitudes do not."""
    labelled("angle", np.arange(0, 360, 10), {"units": "degrees"}).to_netcdf(tmp_path / "a.nc")
    got = select(tmp_path / "a.nc", ["angle=(-10, 10)", "angle=(10, 350)", "angle=(350, 340)"])
    assert [len(g) for g in got] == [2, 35, 2]
