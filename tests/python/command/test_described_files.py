"""Names, attributes, packing, compression and history of results of the command."""

import datetime
import re
import shutil
import subprocess

import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import check, run

CALENDARS = ("standard", "360_day", "noleap")
needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def made(calendar="standard", n=60):
    rng = np.random.default_rng(0)
    dims = ("time", "lat", "lon")
    values = rng.normal(280, 5, (n, 4, 6))
    return xr.Dataset(
        {
            "t2m": (dims, values.astype("f4"), {"units": "K", "coordinates": "area"}),
            "pr": (dims, np.where(values < 270, np.nan, values), {"valid_range": [0.0, 400.0]}),
            "mask": (("lat", "lon"), rng.integers(0, 2, (4, 6)).astype("i4")),
            "area": (("lat", "lon"), rng.random((4, 6))),
        },
        coords={
            "time": xr.date_range("2020-01-30", periods=n, calendar=calendar, use_cftime=True),
            "lat": ("lat", [10.0, 20.0, 30.0, 40.0], {"units": "degrees_north"}),
            "lon": ("lon", np.arange(6) * 60.0, {"units": "degrees_east"}),
        },
        attrs={"title": "made up", "history": "an earlier line"},
    )


@pytest.fixture
def source(tmp_path):
    ds = made()
    ds.to_netcdf(tmp_path / "in.nc")
    return ds


def cubed(*words, **options):
    return check(run(*words, "--progress", "none", **options))


def attributes(path):
    if path.suffix == ".nc":
        with netCDF4.Dataset(path) as f:
            return {name: f.getncattr(name) for name in f.ncattrs()}
    return xr.open_zarr(path).attrs


@pytest.mark.parametrize("suffix", ["nc", "zarr", "zip"])
@pytest.mark.parametrize(
    "words",
    [
        ("monmean", "in.nc", "OUT"),
        ("eval", "t2m * 2", "in.nc", "--out", "OUT"),
        ("eval", "r = sqrt(x)", "--in", "x=in.nc::t2m", "--in", "in.nc", "--out", "OUT"),
        ("copy", "in.nc", "OUT"),
        ("rechunk", "in.nc", "OUT", "--chunks", "time=20"),
    ],
)
def test_history(source, tmp_path, monkeypatch, words, suffix):
    if words[1] == "r = sqrt(x)":
        words = (*words[:1], "r = sqrt(x) + t2m", *words[2:])
    monkeypatch.chdir(tmp_path)
    out = tmp_path / f"out.{suffix}"
    words = [out.name if word == "OUT" else word for word in words]
    before = datetime.datetime.now().replace(microsecond=0)
    cubed(*words)
    if suffix == "zip":
        import zarr

        with zarr.storage.ZipStore(out, mode="r") as store:
            got = dict(zarr.open_group(store, mode="r").attrs)
    else:
        got = attributes(out)
    lines = got["history"].split("\n")
    assert lines[1:] == ["an earlier line"]
    date, command = re.fullmatch(r"(.{24}): (cubed .*)", lines[0]).groups()
    assert before <= datetime.datetime.strptime(date, "%a %b %d %H:%M:%S %Y")
    assert command.split(" ")[:2] == ["cubed", words[0]]
    assert " in.nc" in command
    assert out.name in command
    assert got["title"] == "made up"
    if suffix == "nc" and words[0] in ("eval", "monmean"):
        assert got["Conventions"] == "CF-1.6"
    out2 = tmp_path / f"plain.{suffix}"
    cubed(*[out2.name if word == out.name else word for word in words], "--no-history")
    if suffix != "zip":
        assert attributes(out2)["history"] == "an earlier line"


def test_history_is_quoted_and_has_no_secrets(source, tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    monkeypatch.chdir(tmp_path)
    words = ["eval", "r = t2m * 2; s = where(pr > 2, pr, nan)", "in.nc", "--out", "out.nc"]
    cubed(*words, "--executor", "threads")
    line = attributes(tmp_path / "out.nc")["history"].split("\n")[0]
    assert line.startswith(
        "Fri Jan 02 00:00:00 1970: cubed eval 'r = t2m * 2; s = where(pr > 2, pr, nan)' in.nc "
    )
    cubed("copy", "in.nc", "plain.zarr", "--no-history")
    server = "http://me:pass@word@localhost:1/x"
    cubed("copy", "in.nc", "refs.zarr", "--allow-references", server)
    line = attributes(tmp_path / "refs.zarr")["history"]
    assert "me:" not in line
    assert "pass" not in line
    assert "word" not in line
    assert "http://localhost:1/x" in line
    cubed("copy", "in.nc", "signed.zarr", "--attr", "source=https://localhost/x?sv=1&sig=hidden")
    line = attributes(tmp_path / "signed.zarr")["history"]
    assert "https://localhost/x?sv=1&sig=" in line
    assert "hidden" not in line


def test_a_resumed_command_finds_its_run(source, tmp_path, monkeypatch):
    """The date in the history does not change the plan: a killed run goes on."""
    source.chunk(time=1).to_zarr(tmp_path / "in.zarr", encoding={"t2m": {"chunks": (1, 4, 6)}})
    out = tmp_path / "out.zarr"
    words = ["eval", "r = sqrt(t2m)", tmp_path / "in.zarr", "--out", out]
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    cubed(*words)
    chunks = sorted((out / "r" / "c").rglob("0"))
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    done = cubed(*words, "--resume")
    assert "Nothing to do" in done.err
    assert chunks


def test_renamed_everywhere(source, tmp_path):
    out = tmp_path / "out.nc"
    words = ["--rename", "t2m:tas", "--rename", "lat:latitude", "--rename", "time:t"]
    words += ["--rename", "t2m:units:unit", "--rename", ":title:heading", "--rename", "area:cells"]
    cubed("monmean", tmp_path / "in.nc", out, *words)
    with netCDF4.Dataset(out) as f:
        assert f["tas"].dimensions == ("t", "latitude", "lon")
        assert f["latitude"].dimensions == ("latitude",)
        assert f["tas"].coordinates == "cells"
        assert f["cells"].dimensions == ("latitude", "lon")
        assert f["tas"].cell_methods == "t: mean"
        assert f["tas"].unit == "K"
        assert "units" not in f["tas"].ncattrs()
        assert f.heading == "made up"
        assert f["t"].bounds == "time_bnds"
        assert f["time_bnds"].dimensions[0] == "t"
    got = xr.open_dataset(out, decode_times=False)
    want = source.t2m.resample(time="MS").mean()
    np.testing.assert_allclose(got.tas, want, rtol=1e-6)
    copied = tmp_path / "copied.zarr"
    cubed("copy", tmp_path / "in.nc", copied, *words)
    assert xr.open_zarr(copied).tas.dims == ("t", "latitude", "lon")
    assert not (copied / "t2m").exists()


def test_attributes(source, tmp_path):
    for verb in (["copy"], ["sqrt"]):
        out = tmp_path / "out.nc"
        words = [
            "t2m:units=degC",
            "pr:levels=[1,2,4]",
            "pr:offset=0.5",
            "pr:flag=3",
            "pr:valid_range=",
        ]
        words += ['t2m:text="7"', "institution=of all, here: there", "title=", "t2m:absent="]
        options = [word for value in words for word in ("--attr", value)]
        cubed(*verb, tmp_path / "in.nc", out, "--overwrite", *options)
        with netCDF4.Dataset(out) as f:
            assert f["t2m"].units == "degC"
            assert f["t2m"].text == "7"
            np.testing.assert_array_equal(f["pr"].levels, [1, 2, 4])
            assert (f["pr"].offset, f["pr"].flag) == (0.5, 3)
            assert "valid_range" not in f["pr"].ncattrs()
            assert f.institution == "of all, here: there"
            assert "title" not in f.ncattrs()


def test_types_of_attributes_follow_them(tmp_path):
    """NetCDF's type of an attribute stays when it is renamed, and goes when its value is set."""
    with netCDF4.Dataset(tmp_path / "in.nc", "w") as f:
        f.createDimension("x", 3)
        v = f.createVariable("v", "f8", ("x",))
        v[:] = [1.0, 2.0, 3.0]
        v.short = np.int16(3)
        v.single = np.float32(0.1)
    cubed(
        "copy",
        tmp_path / "in.nc",
        tmp_path / "out.nc",
        "--rename",
        "v:short:brief",
        "--attr",
        "v:single=x",
    )
    with netCDF4.Dataset(tmp_path / "out.nc") as f:
        assert f["v"].brief.dtype == np.int16
        assert f["v"].single == "x"


def test_calendar(source, tmp_path):
    out = tmp_path / "out.nc"
    cubed("copy", tmp_path / "in.nc", out, "--calendar", "noleap")
    with netCDF4.Dataset(out) as f:
        assert f["time"].calendar == "noleap"
    with netCDF4.Dataset(tmp_path / "in.nc") as f, netCDF4.Dataset(out) as g:
        np.testing.assert_array_equal(f["time"][:], g["time"][:])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32"])
@pytest.mark.parametrize("form", [("out.nc",), ("out.zarr",), ("out.zarr", "--format", "2")])
@pytest.mark.parametrize("verb", ["copy", "apply"])
def test_packed_results(source, tmp_path, verb, form, dtype):
    out, *options = form
    out = tmp_path / out
    words = ["copy"] if verb == "copy" else ["add,0"]
    cubed(*words, tmp_path / "in.nc", out, *options, "--pack", dtype)
    raw = (xr.open_dataset if out.suffix == ".nc" else xr.open_zarr)(out, mask_and_scale=False)
    got = (xr.open_dataset if out.suffix == ".nc" else xr.open_zarr)(out)
    for name in ("t2m", "pr"):
        want = source[name].values.astype("f8")
        step = raw[name].attrs["scale_factor"]
        assert raw[name].dtype == dtype
        span = np.nanmax(want) - np.nanmin(want)
        assert step < 1.01 * span / (2 ** (8 * raw[name].dtype.itemsize) - 2)
        np.testing.assert_array_equal(np.isnan(got[name]), np.isnan(want))
        # Half a step, and the rounding of float64.
        assert np.nanmax(abs(got[name].values - want)) <= step / 2 + 1e-12 * span
        info = np.iinfo(dtype)
        fill = info.min if info.min else info.max
        assert raw[name].attrs["_FillValue"] == fill
        assert (raw[name].values == fill).sum() == np.isnan(want).sum()
        assert "valid_range" not in raw[name].attrs
    assert raw["mask"].dtype == "i4"
    assert raw["area"].dtype == "f8"  # it describes t2m
    assert raw["lat"].dtype == "f8"
    again = tmp_path / "again.nc"
    cubed("copy", out, again)
    np.testing.assert_array_equal(xr.open_dataset(again, mask_and_scale=False).t2m, raw.t2m)


def test_packing_of_special_values(tmp_path):
    ds = xr.Dataset(
        {
            "constant": ("x", np.full(5, 3.7)),
            "missing": ("x", np.full(5, np.nan)),
            "large": ("x", np.array([-1e308, 0, 1e308, 1e300, np.nan])),
            "tiny": ("x", np.array([0, 1e-310, 0, 0, 0])),
            "filled": ("x", np.array([1, 2, 1e20, 4, 5], "f4"), {"_FillValue": np.float32(1e20)}),
        }
    )
    ds.to_zarr(tmp_path / "in.zarr", zarr_format=2, consolidated=False)
    cubed("copy", tmp_path / "in.zarr", tmp_path / "out.nc", "--pack", "int16")
    got = xr.open_dataset(tmp_path / "out.nc")
    want = xr.open_zarr(tmp_path / "in.zarr", consolidated=False)
    np.testing.assert_array_equal(got.constant, ds.constant)
    assert np.isnan(got.missing).all()
    np.testing.assert_allclose(got.large, ds.large, atol=1e308 / 30000)
    assert abs(got.tiny).max() < 1e-300
    np.testing.assert_allclose(got.filled, want.filled, atol=1e-4)
    assert np.isnan(got.filled[2])


def test_given_packing(source, tmp_path):
    out = tmp_path / "out.nc"
    cubed("copy", tmp_path / "in.nc", out, "--pack", "int16,scale=0.01,offset=273.15")
    raw = xr.open_dataset(out, mask_and_scale=False)
    assert (raw.t2m.scale_factor, raw.t2m.add_offset) == (0.01, 273.15)
    assert abs(xr.open_dataset(out).t2m - source.t2m).max() <= 0.00501
    cubed("copy", tmp_path / "in.nc", out, "--overwrite", "--pack", "uint16,offset=200")
    assert abs(xr.open_dataset(out).t2m - source.t2m).max() < 0.001


@pytest.mark.parametrize("suffix", ["nc", "zarr"])
def test_compression_and_chunks(source, tmp_path, suffix):
    options = ["--deflate", "7", "--shuffle", "--chunks", "time=20,lat=2"]
    for words in (["copy"], ["add,0"]):
        out = tmp_path / f"{words[0]}.{suffix}"
        cubed(*words, tmp_path / "in.nc", out, *options)
        if suffix == "nc":
            with netCDF4.Dataset(out) as f:
                assert f["t2m"].filters()["complevel"] == 7
                assert f["t2m"].filters()["shuffle"]
                assert f["t2m"].chunking() == [20, 2, 6]
        else:
            got = xr.open_zarr(out)
            assert got.t2m.encoding["chunks"] == (20, 2, 6)
            assert [type(c).__name__ for c in got.t2m.encoding["compressors"]] == [
                "Shuffle",
                "GzipCodec",
            ]
        np.testing.assert_array_equal(
            xr.open_dataset(out, engine="netcdf4" if suffix == "nc" else "zarr").t2m, source.t2m
        )
    out = tmp_path / "two.zarr"
    cubed("copy", tmp_path / "in.nc", out, "--zstd", "5", "--format", "2", "--shuffle")
    np.testing.assert_array_equal(xr.open_zarr(out).t2m, source.t2m)


@needs_cdo
@pytest.mark.parametrize("calendar", CALENDARS)
def test_cdo_reads_them(tmp_path, calendar):
    """CDO finds no difference of more than half a step, and nothing to warn of."""
    ds = made(calendar)
    ds.to_netcdf(tmp_path / "in.nc")
    options = [
        "--pack",
        "int16",
        "--deflate",
        "1",
        "--rename",
        "t2m:tas",
        "--rename",
        "lat:latitude",
    ]
    cubed("monmean", tmp_path / "in.nc", tmp_path / "out.nc", *options)
    subprocess.run(
        [
            "cdo",
            "-s",
            "-b",
            "F64",
            "chname,t2m,tas",
            "-monmean",
            "-delname,mask,area",
            "in.nc",
            "cdo.nc",
        ],
        cwd=tmp_path,
        check=True,
    )
    subprocess.run(
        ["cdo", "-s", "-b", "F64", "delname,mask,area", "out.nc", "ours.nc"],
        cwd=tmp_path,
        check=True,
    )
    for name in ("tas", "pr"):
        # CDO takes different numbers for "missing" for a difference.
        both = [f"-setmissval,1e20 -selname,{name} {file}.nc" for file in ("ours", "cdo")]
        done = subprocess.run(
            ["cdo", "-s", "diffn,abslim=1e-3", *" ".join(both).split(" ")],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout == ""


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["--rename", "nothing:x"],
            "--rename nothing:x: the result has no such variable or dimension",
        ),
        (["--rename", "t2m:pr"], 'the name "pr"'),
        (["--rename", "lat:lon"], 'a dimension "lon" already'),
        (["--rename", "t2m"], '--rename "t2m": expected OLD:NEW'),
        (["--rename", "t2m:a/b"], "expected OLD:NEW"),
        (["--rename", "t2m:a", "--rename", "t2m:b"], "give one thing two names"),
        (["--rename", "t2m:units:scale_factor"], "how elements are stored"),
        (["--rename", "t2m:nothing:x"], "expected a variable with that attribute"),
        (["--attr", "nothing:x=1"], "expected a variable with that name"),
        (["--attr", "t2m"], "expected VAR:NAME=VALUE"),
        (["--attr", "t2m:_FillValue=1"], "how elements are stored"),
        (["--attr", 't2m:x=[1,"a"]'], "a list of numbers or of texts"),
        (["--attr", "t2m:x=1", "--attr", "t2m:x=2"], "set one attribute twice"),
        (["--calendar", "lunar"], "expected a calendar of CF"),
        (["--pack", "int64"], "expected int8, int16"),
        (["--pack", "int16,scale=0"], "expected int8, int16"),
        (["--pack", "int16,scale=1,scale=2"], "expected int8, int16"),
        (["--pack", "int8,scale=0.01"], "has values from"),
        (["--deflate", "10"], "expected a level from 0 to 9"),
        (["--deflate", "1", "--zstd", "1"], "exclude each other"),
        (["--shuffle"], "--shuffle: expected --deflate or --zstd"),
        (["--zstd", "1", "--codecs", '["bytes"]'], "--codecs and --zstd exclude each other"),
    ],
)
@pytest.mark.parametrize("verb", ["copy", "add,0"])
def test_refused(source, tmp_path, verb, words, says):
    done = run(verb, tmp_path / "in.nc", tmp_path / "out.zarr", *words)
    assert done.code != 0
    assert says in done.err
    assert not (tmp_path / "out.zarr").exists()


def test_infinite_values_are_not_packed(tmp_path):
    xr.Dataset({"v": ("x", [1.0, np.inf])}).to_netcdf(tmp_path / "in.nc")
    done = run("copy", tmp_path / "in.nc", tmp_path / "out.nc", "--pack", "int16")
    assert "v has infinite values" in done.err
    assert not (tmp_path / "out.nc").exists()


def test_only_stored_results_are_described(source, tmp_path):
    done = run("eval", "mean(t2m)", tmp_path / "in.nc", "--pack", "int16")
    assert "--pack is for new results that are stored" in done.err
