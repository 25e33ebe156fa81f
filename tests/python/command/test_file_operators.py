"""Operators of files with CDO's names: selections, several files as one, one file as several."""

import json
import pathlib
import shutil
import subprocess

import numpy as np
import pytest
import xarray as xr
from conftest import check, run

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def made(calendar="standard", n=75, seed=0):
    rng = np.random.default_rng(seed)
    dims = ("time", "lev", "lat", "lon")
    values = rng.normal(280, 5, (n, 3, 4, 6))
    return xr.Dataset(
        {
            "t2m": (dims[:1] + dims[2:], values[:, 0].astype("f4"), {"units": "K"}),
            "u": (dims, np.where(values < 275, np.nan, values), {"units": "m s-1"}),
            "mask": (("lat", "lon"), rng.integers(0, 2, (4, 6)).astype("i4")),
        },
        coords={
            "time": xr.date_range("2020-11-20", periods=n, calendar=calendar, use_cftime=True),
            "lev": ("lev", [85000.0, 50000.0, 20000.0], {"units": "Pa", "axis": "Z"}),
            "lat": ("lat", [10.0, 20.0, 30.0, 40.0], {"units": "degrees_north"}),
            "lon": ("lon", np.arange(6) * 60.0, {"units": "degrees_east"}),
        },
    )


@pytest.fixture(params=["standard", "360_day", "noleap"])
def here(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ds = made(request.param)
    ds.to_netcdf("in.nc")
    return ds


def cubed(*words):
    return check(run(*words, "--progress", "none", "--overwrite"))


def values(path):
    with xr.open_dataset(path, use_cftime=True) as ds:
        return ds.load()


@needs_cdo
@pytest.mark.parametrize(
    "words",
    [
        "sellonlatbox,240,60,10,30",
        "sellonlatbox,-70,70,15,40",
        "masklonlatbox,240,60,10,30",
        "masklonlatbox,-70,70,40,15",
        "setclonlatbox,3,240,60,10,30",
        "maskindexbox,4,2,1,2",
        "maskindexbox,2,-1,-2,-1",
        "selindexbox,2,4,1,2",
        "seltimestep,1/3,10,-2/-1",
        "seltimestep,5/60/7",
        "seltimestep,2/3 -seltimestep,11/20",
        "selindexbox,1,2,2,3 -sellonlatbox,120,300,15,40",
        "seldate,2020-12-05,2021-01-03",
        "selyear,2021",
        "sellevel,50000,20000",
        "sellevidx,1/2",
        "monmean -selname,t2m,u -sellonlatbox,240,60,10,30 -sellevidx,2",
        "delname,u",
    ],
)
def test_selections_of_cdo(here, words):
    cubed(*words.split(" "), "in.nc", "out.nc")
    cdo = ["cdo", "-O", "-s", "-b", "F64", *words.split(" "), "in.nc", "cdo.nc"]
    subprocess.run(cdo, check=True, stdin=subprocess.DEVNULL)
    got, want = values("out.nc"), values("cdo.nc")
    for name in ("t2m", "u"):
        # CDO drops variables without levels from selections of levels.
        assert name in got or name not in want
        if name not in want:
            assert "sellev" in words or words.startswith("delname")
            continue
        np.testing.assert_allclose(got[name], want[name], rtol=1e-6)
        for dim in ("time", "lev", "lat", "lon"):
            if dim in want[name].dims and not words.startswith("monmean"):
                np.testing.assert_array_equal(got[dim], want[dim])


@needs_cdo
def test_masks(here):
    """A mask of one variable and few dimensions applies to all variables of another file."""
    with xr.open_dataset("in.nc", use_cftime=True) as ds:
        mask = (ds.t2m.isel(time=0, drop=True) > ds.t2m.isel(time=0).median()).astype("f4")
        mask.where(ds.t2m.isel(time=0, drop=True) < ds.t2m.isel(time=0).max()).to_dataset(
            name="mask"
        ).to_netcdf("mask.nc")
    subprocess.run(["cdo", "-s", "mulc,0", "in.nc", "zero.nc"], check=True)
    for words, files in [
        ("ifthen", ["in.nc"]),
        ("ifnotthen", ["in.nc"]),
        ("ifthenelse", ["in.nc", "zero.nc"]),
        ("ifthen -gtc,0 -mulc,2", ["in.nc"]),
    ]:
        cubed(*words.split(" "), "mask.nc", *files, "out.nc")
        cdo = ["cdo", "-O", "-s", "-b", "F64", *words.split(" "), "mask.nc", *files, "cdo.nc"]
        subprocess.run(cdo, check=True, stdin=subprocess.DEVNULL)
        got, want = values("out.nc"), values("cdo.nc")
        for name in ("t2m", "u"):
            np.testing.assert_allclose(got[name], want[name], rtol=1e-6, err_msg=words)
            assert got[name].attrs.get("units") == want[name].attrs.get("units")


def test_selections_count_what_earlier_operators_leave(here):
    here.isel(time=slice(0, 20)).to_netcdf("p0.nc")
    here.isel(time=slice(20, None)).to_netcdf("p1.nc")
    months = here.resample(time="MS").mean()
    cubed("seltimestep,-1", "-monmean", "-selname,t2m,u", "in.nc", "out.nc")
    np.testing.assert_allclose(values("out.nc").u, months.u[-1:], rtol=1e-6)
    cubed("selindexbox,1,2,2,3", "-mean,time", "-selname,t2m", "in.nc", "out.nc")
    want = here.t2m.mean("time")[1:3, :2]
    np.testing.assert_allclose(values("out.nc").t2m, want, rtol=1e-6)
    for words in (["seltimestep,-1,70", "-cat", "p0.nc", "p1.nc"], ["seltimestep,-1,70", "p?.nc"]):
        cubed(*words, "out.nc")
        np.testing.assert_array_equal(values("out.nc").u, here.u[[69, 74]])
        np.testing.assert_array_equal(values("out.nc").mask, here.mask)
    for words, n in (
        (["seltimestep,30", "-monmean", "in.nc"], len(months.time)),
        (["seltimestep,9", "-seltimestep,3/5", "in.nc"], 3),
        (["seltimestep,99", "-cat", "p0.nc", "p1.nc"], 75),
    ):
        done = run(*words, "no.nc")
        assert done.code == 2
        assert f'dimension "time" has {n} elements' in done.err
    cubed("splitsel,2", "-monmean", "-selname,t2m", "in.nc", "s_")
    parts = [values(f"s_00000{i + 1}.nc").t2m for i in range(-(-len(months.time) // 2))]
    np.testing.assert_allclose(np.concatenate(parts), months.t2m, rtol=1e-6)
    assert not pathlib.Path(f"s_00000{len(parts) + 1}.nc").exists()


def test_a_list_of_files_is_one(here):
    for i, part in enumerate((slice(50, None), slice(0, 20), slice(20, 50))):
        here.isel(time=part).to_netcdf(
            f"p{i}.nc", encoding={"time": {"units": f"hours since 20{i + 10}-01-01"}}
        )
    for words in (["p0.nc", "p1.nc", "p2.nc"], ["p?.nc"], ["p2.nc", "p[01].nc"]):
        cubed("mergetime", *words, "out.nc")
        got = values("out.nc")
        np.testing.assert_array_equal(got.time, here.time)
        for name in ("t2m", "u", "mask"):
            np.testing.assert_array_equal(got[name], here[name])
    cubed("monmean", "-mergetime", "p0.nc", "p1.nc", "p2.nc", "out.nc")
    np.testing.assert_allclose(values("out.nc").t2m, here.t2m.resample(time="MS").mean(), rtol=1e-6)
    done = run("mergetime", "in.nc", "p1.nc", "twice.nc")
    assert "overlap along" in done.err and "--overlap first or last" in done.err
    assert "there is no file" in run("mergetime", "in.nc", "no*.nc", "x.nc").err


def test_values_of_options_are_no_patterns(here):
    codecs = '[{"name": "bytes", "configuration": {"endian": "big"}}]'
    cubed("copy", "in.nc", "out.zarr", "--codecs", codecs, "--shards", "none")
    stored = json.loads(pathlib.Path("out.zarr/u/zarr.json").read_text())
    assert stored["codecs"] == json.loads(codecs)
    cubed("copy", "in.nc", "out.nc", "--attr", "u:flags=[1, 2]", "--keep-empty")
    np.testing.assert_array_equal(values("out.nc").u.attrs["flags"], [1, 2])


def test_files_of_different_packing(here):
    a, b = here.isel(time=slice(40)), here.isel(time=slice(40, None))
    packing = {"dtype": "i2", "scale_factor": 0.01, "_FillValue": -32768}
    a.to_netcdf("a.nc", encoding={"t2m": {**packing, "add_offset": 280.0}})
    b.to_netcdf("b.nc", encoding={"t2m": {**packing, "add_offset": 270.0}})
    cubed("mergetime", "a.nc", "b.nc", "out.nc")
    np.testing.assert_allclose(values("out.nc").t2m, here.t2m, atol=0.0051)


def test_members(here):
    members = [made(here.time.dt.calendar, seed=seed) for seed in range(3)]
    for i, ds in enumerate(members):
        ds.to_netcdf(f"m{i}.nc")
    cubed("cat", "m0.nc", "m1.nc", "m2.nc", "out.nc", "--along", "member")
    got = values("out.nc")
    assert got.t2m.dims == ("member", "time", "lat", "lon")
    assert got.time.dims == ("time",)
    np.testing.assert_array_equal(got.u, np.stack([ds.u for ds in members]))
    made("standard" if here.time.dt.calendar != "standard" else "noleap").to_netcdf("m3.nc")
    assert run("ensmean", "m0.nc", "m3.nc", "bad.nc").code != 0
    members[0].assign_coords(lat=members[0].lat + 1).to_netcdf("m4.nc")
    assert 'the coordinate "lat"' in run("ensmean", "m0.nc", "m4.nc", "bad.nc").err


@needs_cdo
@pytest.mark.parametrize(
    "name",
    [*"mean avg min max sum range std std1 var var1".split(), "pctl,40", "pctl,90"],
)
def test_ensembles_of_cdo(here, name):
    for i in range(4):
        ds = made(here.time.dt.calendar, 6, seed=i)
        ds.u[0, 0, 0, :3] = np.nan  # missing in all members
        ds.to_netcdf(f"m{i}.nc")
    cubed(f"ens{name}", "m?.nc", "out.nc")
    files = [f"m{i}.nc" for i in range(4)]
    cdo = ["cdo", "-O", "-s", "-b", "F64", f"ens{name}", *files, "cdo.nc"]
    subprocess.run(cdo, check=True, stdin=subprocess.DEVNULL)
    got, want = values("out.nc"), values("cdo.nc")
    for variable in ("t2m", "u"):
        assert got[variable].dims == want[variable].dims
        np.testing.assert_allclose(got[variable], want[variable], rtol=1e-5, atol=1e-5)


def test_merge(here):
    here[["t2m", "mask"]].to_netcdf("a.nc")
    here[["u"]].to_netcdf("b.nc")
    cubed("merge", "a.nc", "b.nc", "out.nc")
    got = values("out.nc")
    for name in ("t2m", "u", "mask", "time", "lat", "lon", "lev"):
        np.testing.assert_array_equal(got[name], here[name])
    assert 'have a variable "mask"' in run("merge", "a.nc", "in.nc", "bad.nc").err
    here[["u"]].isel(lat=slice(2)).to_netcdf("c.nc")
    assert 'dimension "lat" has 4 elements' in run("merge", "a.nc", "c.nc", "bad.nc").err
    here[["u"]].assign_coords(lat=here.lat + 1).to_netcdf("d.nc")
    assert 'the coordinate "lat"' in run("merge", "a.nc", "d.nc", "bad.nc").err


def test_splits(here, tmp_path):
    def parts(prefix):
        return sorted(path.name for path in tmp_path.glob(f"{prefix}*.nc"))

    cubed("splityear", "in.nc", "y_")
    assert parts("y_") == ["y_2020.nc", "y_2021.nc"]
    for year in (2020, 2021):
        want = here.sel(time=here.time.dt.year == year)
        np.testing.assert_array_equal(values(f"y_{year}.nc").u, want.u)
        np.testing.assert_array_equal(values(f"y_{year}.nc").time, want.time)
        # As in CDO, each file has the variables without times.
        np.testing.assert_array_equal(values(f"y_{year}.nc").mask, here.mask)
    # Functions leave some of the years and months.
    cubed("splityear", "-selyear,2021", "in.nc", "z_")
    assert parts("z_") == ["z_2021.nc"]
    np.testing.assert_array_equal(values("z_2021.nc").u, here.u[here.time.dt.year == 2021])
    cubed("splityearmon", "-seasmean", "-selname,t2m", "in.nc", "q_")
    assert len(parts("q_")) == here.t2m.resample(time="QS-DEC").mean().sizes["time"]
    cubed("splitmon", "-selname,t2m", "in.nc", "m_.nc")
    months = sorted(set(here.time.dt.month.values))
    assert parts("m_") == [f"m_{month:02}.nc" for month in months]
    for month in months:
        want = here.sel(time=here.time.dt.month == month)
        assert set(values(f"m_{month:02}.nc").data_vars) == {"t2m"}
        np.testing.assert_array_equal(values(f"m_{month:02}.nc").t2m, want.t2m)
    cubed("splitname", "in.nc", "n_")
    assert parts("n_") == ["n_mask.nc", "n_t2m.nc", "n_u.nc"]
    cubed("splitlevel", "-selname,u", "in.nc", "l_")
    assert parts("l_") == ["l_020000.nc", "l_050000.nc", "l_085000.nc"]
    np.testing.assert_array_equal(values("l_050000.nc").u, here.u.sel(lev=[50000]))
    cubed("splitsel,30", "in.nc", "s_")
    assert parts("s_") == ["s_000001.nc", "s_000002.nc", "s_000003.nc"]
    np.testing.assert_array_equal(values("s_000003.nc").t2m, here.t2m[60:])


def test_copy_of_several_files(here):
    here.isel(time=slice(40)).to_netcdf("p0.nc")
    here.isel(time=slice(40, None)).to_netcdf("p1.nc")
    cubed("copy", "p*.nc", "out.zarr", "--chunks", "time=25")
    got = xr.open_zarr("out.zarr")
    np.testing.assert_array_equal(got.u, here.u)
    assert got.u.encoding["chunks"][0] == 25


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["selname,t2n", "in.nc", "out.nc"], 'has no variable "t2n" (did you mean "t2m"?)'),
        (["selname", "in.nc", "out.nc"], "expected names of variables"),
        (["delname,lat", "in.nc", "out.nc"], "describes other variables"),
        (["seltimestep,80", "in.nc", "out.nc"], "so number 80 does not exist"),
        (["seltimestep,0", "in.nc", "out.nc"], "so number 0 does not exist"),
        (["seltimestep,a", "in.nc", "out.nc"], "expected numbers of time steps"),
        (["sellonlatbox,1,2,3", "in.nc", "out.nc"], "expected WEST,EAST,SOUTH,NORTH"),
        (["sellonlatbox,a,2,3,4", "in.nc", "out.nc"], "expected WEST,EAST,SOUTH,NORTH"),
        (["sellevel,x", "in.nc", "out.nc"], "expected levels"),
        (["enspctl,101", "in.nc", "in.nc", "out.nc"], "expected a number from 0 to 100"),
        (["mergetime", "-monmean", "in.nc", "out.nc"], "mergetime must be the last function"),
        (["sqrt", "-splityear", "in.nc", "out.nc"], "splityear must be the first function"),
        (["splityear", "-selname,mask", "in.nc", "o_"], 'no result has the dimension "time"'),
        (["splitmon", "-timmean", "in.nc", "o_"], 'no result has the dimension "time"'),
        (["splitlevel", "-selname,t2m", "in.nc", "o_"], 'no result has the dimension "lev"'),
        (["splitsel,9", "-timmean", "in.nc", "o_"], "has nothing to split"),
        (["maskindexbox,1,9,1,2", "in.nc", "out.nc"], "x2 is 9, expected 1 to"),
        (["maskindexbox,0,1,1,2", "in.nc", "out.nc"], "x1 is 0, expected 1 to"),
        (["maskindexbox,1,2,1.5,2", "in.nc", "out.nc"], "y1 is 1.5, expected 1 to"),
        (["ifthen", "in.nc", "out.nc"], "expected MASK IN OUT, but there are 2 names"),
        (["ifthenelse", "in.nc", "in.nc", "out.nc"], "expected MASK IN IN2 OUT"),
        (["selname,t2m", "in.nc", "in.nc", "out.nc"], "expected IN OUT, but there are 3 names"),
        (["eval", "t2m", "in.nc", "--stack", "m", "--out", "out.nc"], "is for an input of several"),
    ],
)
def test_refused(tmp_path, monkeypatch, words, says):
    monkeypatch.chdir(tmp_path)
    made().to_netcdf("in.nc")
    done = run(*words)
    assert done.code != 0
    assert says in done.err
    assert not (tmp_path / "out.nc").exists()
