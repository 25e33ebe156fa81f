"""Several files as one: in the order of their coordinate, and refused if they disagree."""

import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from conftest import cases, check, run

import zarr

QUIET = ("--progress", "none")
DECODED = ("--decode", "--json", *QUIET)


def write(ds, path, kind="nc", **encoding):
    if kind == "zarr":
        ds.to_zarr(path, encoding=encoding, consolidated=False)
    else:
        ds.to_netcdf(path, encoding=encoding)
    return path


def days(first, n, values=None, lat=(1.0, 2.0), name="pr"):
    """Values at n days from `first` on; by default the day of the century, and a quarter more."""
    time = pd.date_range(first, periods=n)
    number = (time - pd.Timestamp("2000-01-01")).days.to_numpy().astype("f8")
    if values is None:
        values = number
    data = np.stack([values, values + 0.25], axis=1)
    return xr.Dataset({name: (("time", "lat"), data)}, coords={"time": time, "lat": list(lat)})


def packed(offset, scale=0.25):
    return {"dtype": "i4", "scale_factor": scale, "add_offset": offset, "_FillValue": -9999}


@pytest.mark.parametrize("kind", ["nc", "zarr"])
def test_yearly_files(tmp_path, kind):
    """As Xarray writes them: each file has units of time and a packing of its own."""
    files = []
    for name, year in (("c", 2000), ("a", 2001), ("b", 2002)):  # not in the order of names
        ds = days(f"{year}-01-01", 365 + (year == 2000))
        ds.pr[3] = np.nan
        bounds = np.stack([ds.time.values, ds.time.values + np.timedelta64(1, "D")], axis=1)
        ds["time_bnds"] = (("time", "nv"), bounds)
        ds.time.attrs["bounds"] = "time_bnds"
        files.append(
            write(
                ds, tmp_path / f"{name}.{kind}", kind, pr=packed(float(year), 0.25 * (year - 1998))
            )
        )
    with xr.open_mfdataset(
        files, combine="by_coords", engine="zarr" if kind == "zarr" else None,
        **({"consolidated": False} if kind == "zarr" else {}),
    ) as want:  # fmt: skip
        want.load()
    pattern = tmp_path / f"?.{kind}"
    text = 'a = pr + 0; b = sel(pr, time="2001-01-03"); c = yearmean(pr); d = monsum(pr)'
    got = check(run("eval", text, pattern, *DECODED)).arrays()
    np.testing.assert_array_equal(got["a"], want.pr)
    np.testing.assert_array_equal(got["b"], want.pr.sel(time="2001-01-03").values[None])
    np.testing.assert_allclose(got["c"], want.pr.groupby("time.year").mean(), rtol=1e-12)
    np.testing.assert_allclose(got["d"], want.pr.resample(time="MS").sum(min_count=1), rtol=1e-12)
    out = tmp_path / "o" / "r.nc"
    out.parent.mkdir()
    check(run("eval", 'sel(pr, time=("2000-12-30", "2001-01-02"))', pattern, "--decode",
              "--out", out, *QUIET))  # fmt: skip
    with xr.open_dataset(out) as r:
        part = want.sel(time=slice("2000-12-30", "2001-01-02"))
        np.testing.assert_array_equal(r.pr, part.pr)
        np.testing.assert_array_equal(r.time, part.time)
        # Bounds have the units of the coordinate that names them.
        np.testing.assert_array_equal(r.time_bnds, part.time_bnds)
    # By a name of the user's, with the coordinates beside it.
    for place in (f"{pattern}::pr", pattern):
        again = check(run("eval", "yearmean(pr)", "--in", f"pr={place}", *DECODED)).array()
        np.testing.assert_array_equal(again, got["c"])


def test_order(tmp_path):
    """By the coordinate; without one by names, whose numbers count as numbers."""
    for i in (1, 2, 10):
        v = xr.Dataset({"v": ("time", [float(i)]), "w": ("t", [float(i)])})
        time = ("time", [20.0 - i], {"units": "days since 2000-01-01"})
        write(v.assign_coords(time=time), tmp_path / f"h{i}.nc")
        write(v, tmp_path / f"n{i}.nc")
    for text, pattern, want in (
        ("v", "h*.nc", [10, 2, 1]),
        ("time", "h*.nc", [10, 18, 19]),
        ("v", "n*.nc", [1, 2, 10]),
    ):
        got = check(run("eval", text, tmp_path / pattern, "--json", *QUIET)).array()
        np.testing.assert_array_equal(got, want, pattern)
    got = check(run("eval", "w", tmp_path / "h*.nc", "--along", "t", "--json", *QUIET)).array()
    np.testing.assert_array_equal(got, [1, 2, 10])


def test_units_that_differ(tmp_path):
    """Units are those of the first file; whole numbers stay whole where they can."""
    whole = [("days since 2000-01-01", 0, 3, 1), ("days since 2001-01-01", 0, 2, 1)]
    mixed = [("days since 2000-01-01", 0, 3, 1), ("hours since 2000-02-01 06:00", 0, 5, 7)]
    floats = [("hours since 2000-01-01", 0.5, 3, 1), ("minutes since 2000-03-01", 0.25, 4, 10)]
    for k, parts in enumerate((whole, mixed, floats)):
        files = []
        for i, (units, first, n, step) in enumerate(parts):
            numbers = first + step * np.arange(n)
            ds = xr.Dataset({"v": ("time", np.arange(n) + 10.0 * i)})
            ds = ds.assign_coords(time=("time", numbers, {"units": units}))
            files.append(write(ds, tmp_path / f"{k}{1 - i}.nc"))
        with xr.open_mfdataset(files, combine="by_coords") as want:
            want.load()
        out = tmp_path / f"o{k}.zarr"
        check(run("eval", "v + 0", tmp_path / f"{k}?.nc", "--out", out, *QUIET))
        with xr.open_zarr(out, consolidated=False) as got:
            np.testing.assert_array_equal(got.v, want.v)
            np.testing.assert_array_equal(got.time, want.time)
        with xr.open_zarr(out, consolidated=False, decode_times=False) as raw:
            assert raw.time.attrs["units"] == parts[0][0]
            assert raw.time.dtype == ("i8" if parts is whole else "f8")


@pytest.mark.parametrize(
    ("name", "differs", "says"),
    [
        ("p", "scale", "the attribute scale_factor is 0.25, expected 0.5 as in"),
        ("p", "fill", "the attribute _FillValue is -1, expected -9 as in"),
        ("p", "unsigned", 'the attribute _Unsigned is "true", expected none as in'),
        ("p", "since", None),
        ("issued", "since", 'the attribute units is "days since 2001-01-01", expected "days since'),
        ("time", "since", 'the attribute units is "days since 2001-01-01", expected "days since'),
        ("time", "scale", None),
    ],
)
def test_stored_elements_are_joined_if_they_mean_the_same(tmp_path, name, differs, says):
    """With --raw nothing is converted: files that pack or count differently are refused."""
    for i in (0, 1):
        attrs = {"scale_factor": 0.5, "_FillValue": np.int16(-9)}
        since, numbers = "2000-01-01", np.array([0, 1], "i4") + 366 * i
        if i and differs == "scale":
            attrs["scale_factor"] = 0.25
        if i and differs == "fill":
            attrs["_FillValue"] = np.int16(-1)
        if i and differs == "unsigned":
            attrs["_Unsigned"] = "true"
        if i and differs == "since":
            since, numbers = "2001-01-01", numbers - 366
        units = {"units": f"days since {since}"}
        ds = xr.Dataset({"p": ("time", np.array([i, -9], "i2"), attrs)})
        ds["issued"] = ("time", numbers, units)
        write(ds.assign_coords(time=("time", numbers, units)), tmp_path / f"{i}.nc")
    args = ("--raw", "--json", *QUIET)
    if says:
        refused(tmp_path / "?.nc", "1.nc", "0.nc", says, "leave it out", text=name, args=("--raw",))
        # Values can be joined.
        assert check(run("eval", name, tmp_path / "?.nc", *DECODED)).array().size == 4
        return
    got = check(run("eval", name, tmp_path / "?.nc", *args)).array()
    np.testing.assert_array_equal(got, [0, -9, 1, -9] if name == "p" else [0, 1, 366, 367])
    # Coordinates beside stored elements say when they are.
    text = f'sel({name}, time="2001")'
    got = check(run("eval", text, tmp_path / "?.nc", *args)).array()
    np.testing.assert_array_equal(got, [1, -9] if name == "p" else [366, 367])
    if name == "time":
        return
    out = tmp_path / "o.nc"
    check(run("eval", "p = p", tmp_path / "?.nc", "--raw", "--out", out, *QUIET))
    with xr.open_dataset(out) as r:
        assert r.time.dt.year.values.tolist() == [2000, 2000, 2001, 2001]


@pytest.mark.parametrize(
    "fills",
    [("own", "attribute"), ("attribute", "own"), (-999, -999.0), ("_FillValue", "missing_value")],
)
def test_missing_values_that_files_spell_differently(tmp_path, fills):
    """Equal packings are joined, by whatever name and type the files have the missing value."""
    for i, fill in enumerate(fills):
        group = zarr.open_group(tmp_path / f"{i}.zarr", mode="w", zarr_format=2)
        own = -999 if fill == "own" else None
        z = group.create_array("v", shape=(2,), dtype="f4", fill_value=own)
        z[...] = [i, -999]
        z.attrs["_ARRAY_DIMENSIONS"] = ["time"]
        if fill != "own":
            name = "missing_value" if fill == "missing_value" else "_FillValue"
            z.attrs[name] = -999 if isinstance(fill, str) else fill
    for text, extra in (("v", 0), ("v + 1", 1)):
        got = check(run("eval", text, tmp_path / "?.zarr", *DECODED)).array()
        np.testing.assert_array_equal(got, np.array([0, np.nan, 1, np.nan]) + extra)
    refused(tmp_path / "?.zarr", "1.zarr", "0.zarr", text="v", args=("--raw",))


def test_whole_times_beyond_int64(tmp_path):
    """Days of the year 2517 are no int64 in nanoseconds: the numbers become floats."""
    for i, (units, numbers) in enumerate(
        [
            ("nanoseconds since 1970-01-01", [0, 10**12]),
            ("days since 1970-01-01", [10**5, 2 * 10**5]),
        ]
    ):
        ds = xr.Dataset({"v": ("time", [1.0, 2.0])})
        write(ds.assign_coords(time=("time", numbers, {"units": units})), tmp_path / f"{i}.nc")
    got = check(run("eval", "v; time", tmp_path / "?.nc", "--json", *QUIET)).arrays()
    assert got["result"].tolist() == [0, 1e12, 8.64e18, 1.728e19]


def test_integers_beyond_int64_in_attributes(tmp_path):
    """They leave the units of times, by which files are ordered and joined, as they are."""
    for i, units in enumerate(["days since 2001-01-01", "hours since 2000-01-01"]):
        ds = xr.Dataset({"v": ("time", [1.0 + i, 3.0 + i])})
        attrs = {"units": units, "big": 2**64 - 1}
        write(ds.assign_coords(time=("time", [0, 24], attrs)), tmp_path / f"{i}.zarr", "zarr")
    text = 'a = v + 0; b = sel(v, time="2001-01"); c = yearmean(v)'
    got = check(run("eval", text, tmp_path / "?.zarr", "--json", *QUIET)).arrays()
    assert got["a"].tolist() == [2, 4, 1, 3]
    assert got["b"].tolist() == [1, 3] and got["c"].tolist() == [3, 2]


def test_times_as_values(tmp_path):
    """Other arrays of times are converted, too: with missing ones, and along another dimension."""
    for i, first in enumerate(("2000-01-01", "2001-01-01")):
        ds = days(first, 3)
        ds["issued"] = ("time", ds.time.values - np.timedelta64(7, "h"))
        ds.issued[1] = np.datetime64("NaT", "ns")
        write(ds, tmp_path / f"{i}.nc", issued={"units": f"hours since {first}"})
    check(run("eval", "issued", tmp_path / "?.nc", "--decode", "--out", tmp_path / "o.nc", *QUIET))
    with (
        xr.open_dataset(tmp_path / "o.nc") as got,
        xr.open_mfdataset([tmp_path / "0.nc", tmp_path / "1.nc"]) as want,
    ):
        np.testing.assert_array_equal(got.issued, want.issued)


def test_descending_levels(tmp_path):
    for name, lev in (("a", [500.0, 300.0]), ("b", [1000.0, 850.0]), ("c", [200.0])):
        ds = xr.Dataset({"t": ("lev", lev)}, coords={"lev": ("lev", lev, {"units": "hPa"})})
        write(ds, tmp_path / f"{name}.nc")
    command = ("eval", "t; sel(t, lev=[200, 850])", tmp_path / "?.nc", "--along", "lev")
    got = check(run(*command, "--json", *QUIET)).arrays()
    np.testing.assert_array_equal(got["result"], [1000, 850, 500, 300, 200])
    np.testing.assert_array_equal(got["result2"], [200, 850])


@pytest.mark.parametrize("kind", ["nc", "zarr"])
def test_overlap(tmp_path, kind):
    """Refused with the names, unless it is said which file counts; one lies within another."""
    spans = [("b", 0, 400), ("c", 366, 365), ("a", 100, 10)]
    whole = {}
    for name, first, n in spans:
        ds = days(pd.Timestamp("2000-01-01") + pd.Timedelta(first, "D"), n)
        ds["pr"] = ds.pr + 10000.0 * (ord(name) - ord("a"))
        whole[name] = ds
        write(ds, tmp_path / f"{name}.{kind}", kind, pr=packed(0.0))
    pattern = tmp_path / f"?.{kind}"
    result = run("eval", "monmean(pr)", pattern, "--decode", *QUIET)
    assert result.code == 1, result
    for word in (f"b.{kind}", f"a.{kind}", "2001-02-03", "2000-04-10", "--overlap first"):
        assert word in result.err, result.err
    for which, order in (("first", "bac"), ("last", "cab")):
        want = whole[order[0]]
        for name in order[1:]:
            want = want.combine_first(whole[name])
        command = ("eval", 'a = pr + 0; b = count(pr > 0, resample="MS"); t = time')
        got = check(run(*command, pattern, "--overlap", which, *DECODED)).arrays()
        np.testing.assert_array_equal(got["a"], want.pr, which)
        assert got["b"][12].tolist() == [31, 31]
        np.testing.assert_array_equal(got["t"], np.arange(731))
    again = run("eval", "pr", pattern, "--overlap", "both", *QUIET)
    assert again.code == 2 and "expected first, last or error" in again.err


def test_interleaved_files(tmp_path):
    """Random elements of an axis in each file: all elements come once, in order."""
    rng = np.random.default_rng(0)
    for k in range(cases(3)):
        folder = tmp_path / str(k)
        folder.mkdir()
        sign = (-1) ** k
        files = []
        for i in range(4):
            x = np.sort(rng.choice(40, rng.integers(1, 15), replace=False)).astype("f8")[::sign]
            files.append(xr.Dataset({"v": ("x", x + 100 * i)}, coords={"x": x}))
            write(files[-1], folder / f"{i}.nc")
        files.sort(key=lambda ds: sign * float(ds.x[0]))
        for which, order in (("first", files), ("last", files[::-1])):
            want = order[0]
            for ds in order[1:]:
                want = want.combine_first(ds)
            want = want.sortby("x", ascending=sign > 0)
            command = ("eval", "v", folder / "?.nc", "--along", "x", "--overlap", which)
            got = check(run(*command, "--json", *QUIET)).array()
            starts = [float(ds.x[0]) for ds in files]
            if len(set(starts)) == 4:  # else names decide
                np.testing.assert_array_equal(got, want.v)
            assert len(got) == len(want.x)


def refused(pattern, *words, text="pr + 0", args=("--decode",)):
    result = run("eval", text, pattern, *args, *QUIET)
    assert result.code == 1, result
    for word in words:
        assert word in result.err, result.err


def test_what_is_refused(tmp_path):
    first = days("2000-01-01", 5)

    def beside(folder, ds, **encoding):
        folder = tmp_path / folder
        folder.mkdir()
        write(first, folder / "a.nc")
        write(ds, folder / "b.nc", **encoding)
        return folder / "?.nc"

    later = days("2000-02-01", 5)
    refused(beside("lacks", later.rename(pr="tas")), "b.nc has no array", '"pr"', "a.nc has")
    refused(tmp_path / "lacks" / "?.nc", "a.nc has no array", '"tas"', text="tas")
    refused(
        beside("calendars", later, time={"calendar": "noleap"}),
        "b.nc", "the calendar", "noleap", "proleptic_gregorian", "a.nc",
    )  # fmt: skip
    backward = later.isel(time=[0, 1, 4, 3, 2])
    refused(beside("unsorted", backward), "b.nc", "is not sorted", "element 3 is 2000-02-04")
    refused(beside("falls", later.isel(time=slice(None, None, -1))), "rises in", "falls in")
    refused(beside("same", first), "a.nc and", "b.nc overlap", "--overlap first or last")
    flipped = later.isel(lat=slice(None, None, -1))
    refused(beside("flipped", flipped), "b.nc", 'the coordinate "lat" differ', "a.nc")
    refused(beside("lat", later.isel(lat=[0])), "b.nc", "lat", "a.nc")
    refused(beside("no_time", later.drop_vars("time")), "b.nc has no coordinate", '"time"')
    missing = later.assign_coords(time=("time", [*later.time.values[:4], np.datetime64("NaT")]))
    refused(beside("missing", missing), "b.nc", "element 4", "is missing")
    kelvin = later.assign(pr=later.pr.assign_attrs(units="K"))
    units = beside("units", kelvin)
    for text, args in (("pr + 0", ()), ("pr", ()), ("pr", ("--raw",))):
        differs = 'the attribute units is "K", expected none as in'
        refused(
            units, "b.nc", "a.nc", differs, "convert the values of one file first",
            text=text, args=args,
        )  # fmt: skip
    one = first.isel(time=[2])
    refused(beside("single", one), "overlap")


def test_one_file_is_as_it_is(tmp_path):
    """A pattern of one file joins nothing: times in no order are the file's own."""
    write(days("2000-01-01", 4).isel(time=[2, 0, 3, 1]), tmp_path / "a.nc")
    got = check(run("eval", "pr[:, 0]", tmp_path / "*.nc", *DECODED)).array()
    np.testing.assert_array_equal(got, [2, 0, 3, 1])


def test_arrays_without_the_dimension(tmp_path):
    """What describes others is the first file's; chunks may differ."""
    for i, first in enumerate(("2000-01-01", "2000-02-01")):
        ds = days(first, 31 - i)
        ds["area"] = ("lat", [3.0, 4.0])
        ds["crs"] = ((), 7)
        ds.pr.attrs["coordinates"] = "area"
        write(ds, tmp_path / f"{i}.zarr", "zarr", pr={"chunks": (7 + i, 2)})
    out = tmp_path / "o.zarr"
    check(run("eval", "pr + 0; crs", tmp_path / "?.zarr", "--decode", "--out", out, *QUIET))
    with xr.open_zarr(out, consolidated=False) as got:
        np.testing.assert_array_equal(got.pr[:, 0], np.arange(61))
        assert got.lat.values.tolist() == [1, 2] and int(got.crs) == 7


def test_the_package_keeps_the_order_of_a_list(tmp_path):
    """Stored values are joined in the order given; a file without the array is named."""
    for i, first in enumerate(("2000-01-01", "2000-02-01")):
        write(days(first, 3), tmp_path / f"{i}.nc")
    files = [tmp_path / "1.nc", tmp_path / "0.nc"]
    x = cubed.from_zarr(files, "pr", concat_dim="time")
    assert x.compute()[:, 0].tolist() == [31, 32, 33, 0, 1, 2]
    write(days("2000-03-01", 3, name="tas"), tmp_path / "2.nc")
    with pytest.raises(FileNotFoundError, match=r"2\.nc"):
        cubed.from_zarr([*files, tmp_path / "2.nc"], "pr")


def test_other_coordinates_of_times(tmp_path):
    """Times of another dimension agree if they mean the same, and not if their numbers do."""
    for i, (units, numbers) in enumerate(
        [("days since 2000-01-01", [1.0, 2.0]), ("hours since 2000-01-02", [0.0, 24.0]),
         ("days since 2000-02-01", [1.0, 2.0])]
    ):  # fmt: skip
        ds = days(f"200{i}-01-01", 3, name="v").rename(lat="issued")
        ds = ds.assign_coords(issued=("issued", numbers, {"units": units}))
        write(ds, tmp_path / f"{i}.nc")
    got = check(run("eval", "v", tmp_path / "[01].nc", *DECODED)).array()
    assert got.shape == (6, 2)
    refused(tmp_path / "[02].nc", "2.nc", 'the coordinate "issued" differ', "0.nc", text="v")
