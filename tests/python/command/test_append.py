"""`--append DIM`: adds results after the last elements of a store or of a NetCDF file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from s3_server import Server

xr = pytest.importorskip("xarray")

COMMAND = os.environ.get("CUBED_BIN", "build/release/cubed")


def cubed(
    *args: str, code: int = 0, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the command with these arguments; its exit code must be `code`."""
    env = {**os.environ, **(variables or {})}
    done = subprocess.run([COMMAND, *args], capture_output=True, text=True, env=env)
    assert done.returncode == code, done.stderr
    return done


def part(
    first: int, last: int, units: str = "hours since 2000-01-01", **changes: object
) -> xr.Dataset:
    """Elements `first` to `last` - 1 of a data set along time, six hours apart."""
    rng = np.random.default_rng(7)
    values = rng.normal(280, 10, (60, 3, 5)).astype("f4")
    values[::7, 1, 2] = np.nan
    times = np.datetime64("2000-01-01", "ns") + np.arange(60) * np.timedelta64(6, "h")
    data = xr.Dataset(
        {
            "t2m": (("time", "lat", "lon"), values, {"units": "K"}),
            "n": (("time",), np.arange(60, dtype="i4")),
            "time_bnds": (
                ("time", "nv"),
                np.stack([times, times + np.timedelta64(6, "h")], axis=1),
            ),
            "orography": (("lat", "lon"), np.where(np.eye(3, 5) > 0, np.nan, 1.5)),
            "crs": ((), np.int32(0), {"grid_mapping_name": "latitude_longitude"}),
        },
        {"time": times, "lat": [-10.0, 0, 10], "lon": np.arange(5.0)},
    ).isel(time=slice(first, last))
    data.time.attrs["bounds"] = "time_bnds"
    data.time.encoding.update(units=units, dtype="i8", **changes)
    data.t2m.attrs["grid_mapping"] = "crs"
    return data


def write(data: xr.Dataset, path: Path, **options: object) -> str:
    """Writes a data set as NetCDF or Zarr, by the suffix of its name."""
    if path.suffix == ".nc":
        data.to_netcdf(path, **options)
    else:
        data.to_zarr(path, **options)
    return str(path)


def check(path: str, wanted: xr.Dataset) -> None:
    """A store or file must have these values, and Xarray must open it."""
    opened = xr.open_dataset(path) if path.endswith(".nc") else xr.open_zarr(path)
    with opened as have:
        xr.testing.assert_equal(have.load(), wanted)
        assert have.time.dtype == wanted.time.dtype


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("chunk", [1, 4, 7, 100])
def test_store_grows_in_steps(tmp_path: Path, zarr_format: int, chunk: int) -> None:
    chunks = {name: {"chunks": (chunk, 2, 5)} for name in ("t2m",)}
    out = write(part(0, 10), tmp_path / "s.zarr", encoding=chunks, zarr_format=zarr_format)
    for first, last in ((10, 11), (11, 25), (25, 60)):
        new = write(part(first, last), tmp_path / f"{first}.nc")
        cubed("cat", new, out, "--append", "time")
        check(out, part(0, last))
    history = xr.open_zarr(out).attrs["history"].splitlines()
    assert len(history) == 3 and "--append time" in history[0]


def test_netcdf_file_grows_and_stays_unlimited(tmp_path: Path) -> None:
    encoding = {"t2m": {"zlib": True, "complevel": 4, "chunksizes": (4, 3, 5)}}
    out = write(
        part(0, 10), tmp_path / "s.nc", encoding=encoding, unlimited_dims=["time"], engine="netcdf4"
    )
    for first, last in ((10, 13), (13, 60)):
        new = write(part(first, last), tmp_path / f"{first}.nc")
        cubed("cat", new, out, "--append", "time")
        check(out, part(0, last))
    netcdf4 = pytest.importorskip("netCDF4")
    with netcdf4.Dataset(out) as f:
        assert f.dimensions["time"].isunlimited()
        assert f["t2m"].chunking() == [4, 3, 5]
    assert not [p for p in os.listdir(tmp_path) if "cubed-new" in p]


def test_netcdf_file_keeps_its_compression(tmp_path: Path) -> None:
    netcdf4 = pytest.importorskip("netCDF4")
    values = np.random.default_rng(1).integers(0, 9, (8, 100, 100)).astype("f4")
    data = xr.Dataset({"x": (("time", "y", "z"), values)}, {"time": np.arange(8)})
    for level in (0, 5):
        encoding = {"x": {"zlib": level > 0, "complevel": level, "chunksizes": (2, 50, 100)}}
        out = write(data.isel(time=slice(0, 5)), tmp_path / f"s{level}.nc", encoding=encoding)
        new = write(data.isel(time=slice(5, 8)), tmp_path / f"new{level}.nc")
        cubed("cat", new, out, "--append", "time")
        with netcdf4.Dataset(out) as f:
            np.testing.assert_array_equal(f["x"][:], values)
            assert f["x"].filters()["complevel"] == level and f["x"].chunking() == [2, 50, 100]


@pytest.mark.parametrize(
    ("units", "calendar"),
    [("days since 1900-01-01", "gregorian"), ("seconds since 1970-01-01", "proleptic_gregorian")],
)
@pytest.mark.parametrize("suffix", [".zarr", ".nc"])
def test_times_are_converted_to_the_units_of_the_store(
    tmp_path: Path, units: str, calendar: str, suffix: str
) -> None:
    out = write(part(0, 10), tmp_path / f"s{suffix}")
    later = part(10, 14, units)
    later.time.encoding.update(calendar=calendar, dtype="f8")
    new = write(later, tmp_path / "new.nc")
    cubed("cat", new, out, "--append", "time")
    check(out, part(0, 14))
    with xr.open_dataset(
        out, decode_times=False, engine=None if suffix == ".nc" else "zarr"
    ) as raw:
        assert raw.time.attrs["units"] == "hours since 2000-01-01"
        np.testing.assert_array_equal(raw.time, np.arange(14) * 6)
        np.testing.assert_array_equal(raw.time_bnds[:, 1], np.arange(1, 15) * 6)


@pytest.mark.parametrize("suffix", [".zarr", ".nc"])
def test_times_keep_their_own_units_if_only_their_type_differs(tmp_path: Path, suffix: str) -> None:
    """The coordinate has other units in the results than in the store, the variable has not."""

    def data(first: int, last: int, units: str, dtype: str) -> xr.Dataset:
        found = part(first, last, units)[["time"]]
        found.time.encoding["dtype"] = "f8"
        seen = np.arange(first, last, dtype=dtype)
        attrs = {"units": "minutes since 2000-01-01", "calendar": "proleptic_gregorian"}
        return found.assign(seen=("time", seen, attrs))

    out = write(data(0, 3, "hours since 2000-01-01", "i8"), tmp_path / f"s{suffix}")
    new = write(data(3, 5, "days since 1970-01-01", "i4"), tmp_path / "new.nc")
    cubed("cat", new, out, "--append", "time")
    engine = None if suffix == ".nc" else "zarr"
    with xr.open_dataset(out, decode_times=False, engine=engine) as raw:
        assert raw.seen.dtype == np.int64
        np.testing.assert_array_equal(raw.seen, np.arange(5))
        np.testing.assert_array_equal(raw.time, np.arange(5) * 6)


def test_results_of_expressions_and_operators_are_appended(tmp_path: Path) -> None:
    a, b = (write(part(*ends), tmp_path / f"{ends[0]}.nc") for ends in ((0, 20), (20, 60)))
    out = str(tmp_path / "days.zarr")
    cubed("daymean", "-selname,t2m", a, out)
    cubed("daymean", "-selname,t2m", b, out, "--append", "time")
    wanted = part(0, 60).t2m.astype("f8").resample(time="1D").mean().astype("f4")
    with xr.open_zarr(out) as have:
        np.testing.assert_allclose(have.t2m, wanted, rtol=1e-6)
        assert have.sizes["time"] == 15 and (np.diff(have.time) > np.timedelta64(0)).all()
    cubed("eval", "x = arange(6)", "--out", str(tmp_path / "plain.zarr"))
    cubed("eval", "arange(3)", "--out", str(tmp_path / "lone.zarr"))
    assert (
        "no array with a dimension"
        in cubed(
            "eval", "arange(3)", "--out", str(tmp_path / "lone.zarr"), "--append", "time", code=1
        ).stderr
    )


@pytest.mark.parametrize("suffix", [".zarr", ".nc"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d, "begins at 2000-01-03T06:00:00 in the results"),
        (lambda d: d.isel(time=slice(None, None, -1)), "is not in the order|begins at"),
        (lambda d: d.isel(lat=slice(2)), 'of "orography" has 2 elements, expected 3'),
        (lambda d: d.assign(t2m=d.t2m.astype("f8")), '"t2m" is float64, expected float32'),
        (lambda d: d.assign_coords(lat=d.lat + 1), '"lat" differs from'),
        (lambda d: d.assign(orography=d.orography + 1), '"orography" differs from'),
        (lambda d: d.drop_vars("n"), 'an array "n" along "time", which the results lack'),
        (lambda d: d.assign(more=d.n), 'has no array "more"'),
        (lambda d: d.assign(n=d.n.isel(time=0, drop=True)), 'has the dimension "time" only in'),
        (lambda d: d.assign(t2m=d.t2m.assign_attrs(units="degC")), 'units of "t2m" are "degC"'),
    ],
)
def test_results_that_do_not_fit_are_refused(
    tmp_path: Path, suffix: str, change: object, message: str
) -> None:
    out = write(part(0, 10), tmp_path / f"s{suffix}")
    first = 9 if "begins at 2000" in message else 10
    new = write(change(part(first, 14)), tmp_path / "new.nc")  # type: ignore[operator]
    error = cubed("cat", new, out, "--append", "time", code=1).stderr
    assert any(m in error for m in message.split("|")), error
    check(out, part(0, 10))


def test_packed_elements_are_appended_only_if_packed_alike(tmp_path: Path) -> None:
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 280.0, "_FillValue": -32768}
    out = write(part(0, 10), tmp_path / "s.zarr", encoding={"t2m": packing})
    same = write(part(10, 12), tmp_path / "same.nc", encoding={"t2m": packing})
    other = write(
        part(12, 14), tmp_path / "other.nc", encoding={"t2m": {**packing, "scale_factor": 0.02}}
    )
    cubed("cat", same, out, "--append", "time")
    assert "is packed in" in cubed("cat", other, out, "--append", "time", code=1).stderr
    with xr.open_zarr(out) as have:
        np.testing.assert_allclose(have.t2m, part(0, 12).t2m, atol=0.0051)


def test_a_time_that_the_type_cannot_hold_is_refused(tmp_path: Path) -> None:
    out = write(part(0, 8, "days since 2000-01-01").isel(time=slice(0, 8, 4)), tmp_path / "s.zarr")
    new = write(part(9, 10), tmp_path / "new.nc")
    error = cubed("cat", new, out, "--append", "time", code=1).stderr
    assert "2000-01-03T06:00:00" in error and "finer units" in error


def test_marker_of_missing_values_is_that_of_the_store(tmp_path: Path) -> None:
    out = write(
        part(0, 10), tmp_path / "s.zarr", encoding={"t2m": {"_FillValue": np.float32(-999)}}
    )
    new = write(part(10, 20), tmp_path / "new.nc")
    cubed("cat", new, out, "--append", "time")
    check(out, part(0, 20))
    raw = xr.open_zarr(out, mask_and_scale=False).t2m
    assert not np.isnan(raw).any() and float(raw[14, 1, 2]) == -999


def test_usage(tmp_path: Path) -> None:
    new = write(part(0, 4), tmp_path / "new.nc")
    out = str(tmp_path / "none.zarr")
    assert "leave --append out" in cubed("cat", new, out, "--append", "time", code=1).stderr
    for option in (["--overwrite"], ["--format", "2"], ["--deflate", "1"], ["--chunks", "time=1"]):
        assert "--append" in cubed("cat", new, out, "--append", "time", *option, code=2).stderr


def test_plan_changes_nothing(tmp_path: Path) -> None:
    out = write(part(0, 10), tmp_path / "s.zarr")
    new = write(part(10, 20), tmp_path / "new.nc")
    cubed("cat", new, out, "--append", "time", "--plan")
    check(out, part(0, 10))


@pytest.mark.parametrize("executor", ["processes", "single-threaded", "threads"])
def test_executors(tmp_path: Path, executor: str) -> None:
    out = write(part(0, 10), tmp_path / "s.zarr", encoding={"t2m": {"chunks": (4, 2, 2)}})
    new = write(part(10, 20), tmp_path / "new.nc")
    cubed("cat", new, out, "--append", "time", "--executor", executor)
    check(out, part(0, 20))


@pytest.mark.parametrize("suffix", [".zarr", ".nc"])
def test_a_killed_append_leaves_the_old_result_and_can_be_repeated(
    tmp_path: Path, suffix: str
) -> None:
    chunks = {"t2m": {"chunks": (4, 2, 2)}} if suffix == ".zarr" else {}
    out = write(part(0, 10), tmp_path / f"s{suffix}", encoding=chunks)
    new = write(part(10, 60), tmp_path / "new.nc")
    command = [COMMAND, "cat", new, out, "--append", "time", "--max-workers", "1"]
    for delay in np.linspace(0.002, 0.08, 12):
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(float(delay))
        if child.poll() is None:
            os.kill(child.pid, signal.SIGKILL)
        child.wait()
        if time_length(out) == 60:
            break
        lengths = array_lengths(out) if suffix == ".zarr" else set()
        # A kill between two changes of metadata leaves some arrays longer than their coordinate.
        if len(lengths) < 2:
            check(out, part(0, 10))
    # The append may have been killed after it extended the coordinate: nothing is left to append.
    done = suffix == ".zarr" and array_lengths(out) == {60}
    if done or time_length(out) < 60:
        cubed("cat", new, out, "--append", "time", code=int(done))
    check(out, part(0, 60))


def test_an_append_that_was_killed_before_it_consolidated_is_completed(tmp_path: Path) -> None:
    out = write(part(0, 10), tmp_path / "s.zarr")
    new = write(part(10, 60), tmp_path / "new.nc")
    group = Path(out) / "zarr.json"
    old = group.read_text()
    assert "consolidated_metadata" in old
    cubed("cat", new, out, "--append", "time")
    group.write_text(old)
    assert time_length(out) == 10
    error = cubed("cat", new, out, "--append", "time", code=1).stderr
    assert "ends at 2000-01-15T18:00:00: append only later elements" in error
    check(out, part(0, 60))


def time_length(path: str) -> int:
    with xr.open_dataset(path, chunks=None) as dataset:
        return dataset.sizes["time"]


def array_lengths(store: str) -> set[int]:
    """The lengths of arrays along time, by their own metadata."""
    lengths = set()
    for name in ("t2m", "n", "time_bnds", "time"):
        text = (Path(store) / name / "zarr.json").read_text()
        lengths.add(json.loads(text)["shape"][0])
    return lengths


def test_an_append_that_was_killed_between_arrays_is_undone(tmp_path: Path) -> None:
    out = write(part(0, 10), tmp_path / "s.zarr", encoding={"t2m": {"chunks": (4, 2, 2)}})
    # The state after a kill: the first arrays have the new length, and chunks with elements of it.
    whole = write(part(0, 40), tmp_path / "whole.zarr", encoding={"t2m": {"chunks": (4, 2, 2)}})
    for name in ("t2m", "n"):
        subprocess.run(["rm", "-r", f"{out}/{name}"], check=True)
        subprocess.run(["cp", "-r", f"{whole}/{name}", f"{out}/{name}"], check=True)
    new = write(part(10, 13), tmp_path / "new.nc")
    cubed("cat", new, out, "--append", "time")
    check(out, part(0, 13))
    assert array_lengths(out) == {13}
    later = write(part(13, 60), tmp_path / "later.nc")
    cubed("cat", later, out, "--append", "time")
    check(out, part(0, 60))


def test_two_appends_do_not_meet(tmp_path: Path) -> None:
    out = write(part(0, 10), tmp_path / "s.zarr")
    news = [write(part(10, 40), tmp_path / "a.nc"), write(part(10, 50), tmp_path / "b.nc")]
    children = [
        subprocess.Popen(
            [COMMAND, "cat", new, out, "--append", "time"], stderr=subprocess.PIPE, text=True
        )
        for new in news
    ]
    errors = [child.communicate()[1] for child in children]
    codes = [child.returncode for child in children]
    assert 0 in codes, errors
    if codes.count(0) == 1:
        failed = errors[1 - codes.index(0)]
        assert "another process" in failed or "begins at" in failed or "extends the array" in failed
    check(out, part(0, (40, 50)[codes.index(0)]))


@pytest.mark.parametrize("zarr_format", ["2", "3"])
def test_object_store(tmp_path: Path, zarr_format: str) -> None:
    first = write(part(0, 10), tmp_path / "first.nc")
    with Server() as server:
        out = f"{server.url}/s.zarr"
        chunks = ("--chunks", "time=4", "--format", zarr_format)
        cubed("cat", first, out, *chunks, variables=server.variables)
        for begin, end in ((10, 11), (11, 30)):
            new = write(part(begin, end), tmp_path / f"{begin}.nc")
            cubed("cat", new, out, "--append", "time", variables=server.variables)
        cubed("copy", out, str(tmp_path / "back.zarr"), variables=server.variables)
        assert not server.wrong, server.wrong[:3]
    check(str(tmp_path / "back.zarr"), part(0, 30))


def test_group_in_a_store_and_one_of_its_arrays(tmp_path: Path) -> None:
    part(0, 5).to_zarr(tmp_path / "s.zarr", group="sub/a")
    new = write(part(5, 8), tmp_path / "new.nc")
    out = f"{tmp_path}/s.zarr::sub/a"
    error = cubed("eval", "n", new, "--out", f"{out}/n", "--append", "time", code=1).stderr
    assert "one array of a group with a coordinate" in error
    cubed("cat", new, out, "--append", "time")
    xr.testing.assert_equal(xr.open_zarr(tmp_path / "s.zarr", group="sub/a").load(), part(0, 8))


def test_dimension_without_coordinate_and_texts(tmp_path: Path) -> None:
    names = np.array([b"ab", b"cd", b"ef"])
    data = xr.Dataset({"x": (("run", "k"), np.eye(5, 3)), "name": (("k",), names)})
    data = data.assign(who=("run", np.array([b"v1", b"w1", b"x1", b"y1", b"z1"])))
    out = write(data.isel(run=slice(0, 2)), tmp_path / "s.zarr", zarr_format=2)
    new = write(data.isel(run=slice(2, 5)), tmp_path / "new.zarr", zarr_format=2)
    other = write(
        data.isel(run=slice(2, 5)).assign(name=("k", names[::-1])),
        tmp_path / "o.zarr",
        zarr_format=2,
    )
    assert "differs from the array" in cubed("cat", other, out, "--append", "run", code=1).stderr
    cubed("cat", new, out, "--append", "run")
    xr.testing.assert_equal(xr.open_zarr(out).load(), data)


def test_shards_and_empty_stores(tmp_path: Path) -> None:
    encoding = {"t2m": {"chunks": (2, 3, 5), "shards": (4, 3, 5)}}
    out = write(part(0, 10), tmp_path / "s.zarr", encoding=encoding)
    new = write(part(10, 33), tmp_path / "new.nc")
    cubed("cat", new, out, "--append", "time")
    check(out, part(0, 33))

    def short(first: int, last: int) -> xr.Dataset:
        # Xarray gives bounds of no times units of their own.
        data = part(first, last).drop_vars("time_bnds")
        del data.time.attrs["bounds"]
        return data

    empty = write(short(0, 0), tmp_path / "empty.zarr")
    for first, last in ((0, 3), (3, 3)):
        new = write(short(first, last), tmp_path / f"{first}.nc")
        cubed("cat", new, empty, "--append", "time")
    check(empty, short(0, 3))
