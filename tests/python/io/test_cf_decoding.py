"""Random packed variables are decoded as by Xarray: by the command, the backend and the hooks.

One table of variables for all three. Xarray's decoder of NumPy arrays says what is right.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import cftime
import cubed
import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import cases, check, run
from xarray.backends.zarr import FillValueCoder

import zarr

INTEGERS = ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")
TYPES = (*INTEGERS, "f4", "f8")
#: Variables in one file.
EACH = 20


@dataclass
class Packed:
    stored: np.ndarray
    attrs: dict[str, Any] = field(default_factory=dict)
    fill: Any = None


def some(rng, dtype, n):
    """Elements of any size, with the extremes of the type among them."""
    d = np.dtype(dtype)
    if d.kind == "f":
        x = (rng.normal(size=n) * 10 ** rng.uniform(-3, 5)).astype(d)
        x[rng.random(n) < 0.1] = np.nan
        return x
    info = np.iinfo(d)
    # 64-bit integers beyond 2**53 are equal to neighbours once they are floats.
    low, high = max(info.min, -(2**50)), min(info.max, 2**50)
    x = rng.integers(low, high, n, dtype=d, endpoint=True)
    x[rng.random(n) < 0.2] = rng.choice(np.array([low, high, 0, 1], d))
    return x


def random_variable(rng) -> Packed:
    dtype = np.dtype(rng.choice(TYPES))
    shape = tuple(rng.integers(1, 6, rng.integers(0, 4)))
    v = Packed(some(rng, dtype, max(1, int(np.prod(shape)))).reshape(shape))
    flat = v.stored.reshape(-1)
    known = rng.choice(flat[~np.isnan(flat)]) if not np.isnan(flat).all() else dtype.type(3)
    if rng.random() < 0.5:
        v.fill = known if rng.random() < 0.8 else dtype.type(np.nan if dtype.kind == "f" else 7)
        if not shape and v.fill == 0:  # says nothing of arrays of Zarr without dimensions
            v.fill = None
    if rng.random() < 0.4:
        v.attrs["missing_value"] = missing_value(rng, dtype, flat, known, v.fill)
    if dtype.kind in "iu" and rng.random() < 0.3:
        v.attrs["_Unsigned"] = str(rng.choice(["true", "false"]))
        v.attrs.pop("missing_value", None)  # Xarray takes it for the fill value, or fails
        if dtype.kind == "u" and v.fill is not None and v.fill > np.iinfo(dtype).max // 2:
            v.fill = None  # Xarray fails on such numbers of JSON
    if rng.random() < 0.6:
        kinds = rng.choice(["f4", "f8"], 2)
        if rng.random() < 0.8:
            v.attrs["scale_factor"] = np.dtype(kinds[0]).type(rng.choice([0.5, 0.01, 1e-5, 3]))
        if rng.random() < 0.7:
            v.attrs["add_offset"] = np.dtype(kinds[1]).type(rng.choice([0, 273.15, -1e4]))
    if rng.random() < 0.3:
        v.attrs["valid_range"] = np.array([0, 100], dtype)
    if rng.random() < 0.3:
        v.attrs["units"] = "K"
    return v


def missing_value(rng, dtype, flat, known, fill):
    """A number of the variable's type or of another one, or a list of numbers."""
    kind = rng.integers(5)
    other = np.dtype(rng.choice(TYPES))
    with np.errstate(all="ignore"):
        if kind == 0 and fill is not None:
            return fill
        if kind == 1:
            return np.array([known, flat[0], known], dtype)
        if kind == 2:
            return np.asarray(known).astype(other)[()]
        if kind == 3:
            return np.asarray(known, "f8")[()] + 0.5
    return known


def write(path, variables: list[Packed]) -> None:
    with netCDF4.Dataset(path, "w") as d:
        for i, x in enumerate(variables):
            dims = [f"d{i}_{k}" for k in range(x.stored.ndim)]
            for name, n in zip(dims, x.stored.shape, strict=True):
                d.createDimension(name, n)
            v = d.createVariable(f"v{i}", x.stored.dtype, dims, fill_value=x.fill)
            v.set_auto_maskandscale(False)
            v.setncatts(x.attrs)
            v[...] = x.stored


def expected_of(path) -> dict[str, np.ndarray]:
    with xr.open_dataset(path, decode_times=False) as d:
        return {str(name): v.to_numpy() for name, v in d.variables.items()}


def check_equal(got, expected, variables, way) -> None:
    for i, x in enumerate(variables):
        a, b = np.asarray(got[f"v{i}"]), expected[f"v{i}"]
        said = f"{way}: {x.stored.dtype} fill {x.fill!r} {x.attrs}"
        assert a.dtype == b.dtype, said
        np.testing.assert_array_equal(a, b, err_msg=said)


def by_command(path, names) -> dict[str, np.ndarray]:
    text = ";".join(f"{name} = {name}" for name in names)
    return check(run("eval", text, path, "--json", "--progress", "none")).arrays()


def test_random_variables(tmp_path):
    for seed in range(cases(3)):
        rng = np.random.default_rng(seed)
        variables = [random_variable(rng) for _ in range(EACH)]
        nc, zarr = tmp_path / f"{seed}.nc", tmp_path / f"{seed}.zarr"
        write(nc, variables)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", xr.SerializationWarning)
            expected = expected_of(nc)
            check_equal(by_command(nc, expected), expected, variables, "command, NetCDF")
            with xr.open_dataset(nc, engine="cubed", decode_times=False) as d:
                check_equal(d, expected, variables, "backend, NetCDF")
            # The same through Zarr, in both formats.
            with xr.open_dataset(nc, decode_cf=False) as d:
                d.to_zarr(zarr, zarr_format=2 + seed % 2, consolidated=False)
            with xr.open_zarr(zarr, decode_times=False, chunks=None, consolidated=False) as d:
                expected = {str(name): v.to_numpy() for name, v in d.variables.items()}
            check_equal(by_command(zarr, expected), expected, variables, "command, Zarr")
            with xr.open_dataset(zarr, engine="cubed", decode_times=False) as d:
                check_equal(d, expected, variables, "backend, Zarr")
            with xr.open_zarr(
                zarr, chunked_array_type="cubed", chunks={}, decode_times=False, consolidated=False
            ) as d:
                check_equal(d, expected, variables, "hooks")


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("dtype", ["?", "c8", "c16"])
def test_missing_bools_and_complex_numbers(tmp_path, dtype, zarr_format):
    """NetCDF has neither. Xarray makes objects of bools, whose values are those of float64 here."""
    path = tmp_path / "in.zarr"
    for shape in ((5,), (2, 3), (), (0,), (1,)):
        for fill in (0, 1, None):
            v = (np.arange(np.prod(shape, dtype=int)) % 3).reshape(shape).astype(dtype)
            if v.dtype.kind == "c":
                v += 1j * v
            element = None if fill is None else v.dtype.type(fill * (1 if dtype == "?" else 1 + 1j))
            group = zarr.open_group(path, mode="w", zarr_format=zarr_format)
            dims = [f"d{k}" for k in range(len(shape))]
            if zarr_format == 2:
                z = group.create_array("v", shape=shape, dtype=dtype, fill_value=element)
                z.attrs["_ARRAY_DIMENSIONS"] = dims
            else:
                z = group.create_array("v", shape=shape, dtype=dtype, dimension_names=dims)
                if element is not None:
                    z.attrs["_FillValue"] = FillValueCoder.encode(element, v.dtype)
            z[...] = v
            if not shape and fill == 0:
                continue  # says nothing of arrays of format 2 without dimensions
            with xr.open_zarr(path, chunks=None, consolidated=False) as d:
                want = d.v.to_numpy()
            want = want.astype("f8") if want.dtype.kind == "O" else want
            got = by_command(path, ["v"])["v"]
            with xr.open_dataset(path, engine="cubed") as d:
                engine = d.v.to_numpy()
            if not shape and engine.dtype.kind == "O":
                engine = engine.astype("f8")  # Xarray keeps single elements in memory
            lazy = cubed.from_zarr(path, path="v", decode=True).compute()
            for x in (got, engine, lazy):
                assert x.dtype == want.dtype, (shape, fill)
                np.testing.assert_array_equal(x, want, err_msg=str((shape, fill)))
            # A copy into the other format and an unchanged result have the same values.
            for verb in (("copy", path), ("eval", "v = v", path, "--out")):
                out = tmp_path / "out.zarr"
                other = ("--format", 5 - zarr_format, "--overwrite", "--progress", "none")
                check(run(*verb, out, *other))
                np.testing.assert_array_equal(by_command(out, ["v"])["v"], want)


def test_lists_of_missing_values_with_nan(tmp_path):
    """Zarr has them as literals that are no JSON."""
    stored = np.array([1, 2, np.nan, 4], "f4")
    missing = np.array([1, np.nan, 4], "f4")
    for zarr_format in (2, 3):
        path = tmp_path / f"{zarr_format}.zarr"
        ds = xr.Dataset({"v": (("x",), stored, {"missing_value": missing})})
        ds.to_zarr(path, zarr_format=zarr_format, consolidated=False)
        expected = [np.nan, 2, np.nan, np.nan]
        np.testing.assert_array_equal(by_command(path, ["v"])["v"], expected)
        with xr.open_dataset(path, engine="cubed", consolidated=False) as d:
            np.testing.assert_array_equal(d.v, expected)
        with xr.open_zarr(path, chunked_array_type="cubed", chunks={}, consolidated=False) as d:
            np.testing.assert_array_equal(d.v, expected)


def test_from_zarr_decodes_if_asked(tmp_path):
    path = tmp_path / "a.nc"
    stored = np.array([3, -1, 5], "i2")
    write(path, [Packed(stored, {"scale_factor": np.float32(0.5)}, fill=np.int16(-1))])
    with netCDF4.Dataset(path, "a") as d:
        d.createDimension("n", 2)
        d.createVariable("c", "S1", ("d0_0", "n"))[:] = [[b"a", b"b"], [b"c", b""], [b"", b""]]
    plain = cubed.from_zarr(path, "v0")
    assert plain.dtype == "i2" and plain.attrs["scale_factor"] == 0.5
    np.testing.assert_array_equal(plain.compute(), stored)
    x = cubed.from_zarr(path, "v0", decode=True, chunks=2)
    assert x.dtype == "f4" and "scale_factor" not in x.attrs and "_FillValue" not in x.attrs
    np.testing.assert_array_equal(x.compute(), np.array([1.5, np.nan, 2.5], "f4"))
    assert cubed.from_zarr(path, "c").shape == (3, 2)
    c = cubed.from_zarr(path, "c", decode=True)
    assert c.dtype == "S2" and c.compute().tolist() == [b"ab", b"c", b""]
    with pytest.raises(NotImplementedError, match="decode=True"):
        cubed.from_zarr(zarr.storage.MemoryStore(), decode=True)


def test_characters_stay_lazy(tmp_path):
    """The backend and the hooks join characters by operations of the engine."""
    path = tmp_path / "a.zarr"
    texts = np.array([[b"abc", b"d"], [b"", b"ef"]])
    group = zarr.create_group(path, zarr_format=2)
    chars = group.create_array("s", shape=(2, 2, 3), dtype="S1", chunks=(1, 2, 2), fill_value=None)
    chars[...] = texts.view("S1").reshape(2, 2, 3)
    chars.attrs["_ARRAY_DIMENSIONS"] = ["x", "y", "n"]
    for d in (
        xr.open_dataset(path, engine="cubed", consolidated=False),
        xr.open_zarr(path, chunked_array_type="cubed", chunks={}, consolidated=False),
    ):
        assert isinstance(d.s.data, cubed.Array) and d.s.dtype == "S3"
        np.testing.assert_array_equal(d.s, texts)


CALENDARS = (
    "standard", "Gregorian", "proleptic_gregorian", "julian", "noleap", "365_day", "all_leap",
    "366_day", "360_day",
)  # fmt: skip
DATES = ("1850-1-1", "2000/01/01", "2001-02-28 18:30", "1999-12-31T23:59:59Z", "0001-01-01",
         "1600-02-28 06:00:00.5 +01:30", "20040229")  # fmt: skip
SPELLINGS = ("days since {}", "Hours  since  {}", "MINUTES SINCE {}", " secs since {} ")


@pytest.mark.filterwarnings("ignore::cftime.CFWarning")
def test_dates_are_those_of_cftime(tmp_path):
    """Units in all calendars, by what the command groups by."""
    rng = np.random.default_rng(7)
    path = tmp_path / "t.nc"
    cases_: list[tuple[str, str]] = [
        (str(rng.choice(SPELLINGS)).format(date), calendar)
        for calendar in CALENDARS
        for date in DATES
        if not (date == "20040229" and calendar in ("noleap", "365_day"))
        and not (date.startswith("1999-12-31") and calendar == "360_day")
    ]
    cases_ += [("months since 2000-01-30", "360_day"), ("common_years since 2000-01-01", "noleap")]
    for units, calendar in rng.permutation(cases_)[: cases(12)]:
        scale = 40 * {"h": 24, "m": 1440, "s": 86400}.get(units.strip()[0].lower(), 1)
        if units.startswith(("months", "common")):
            scale = 3
        numbers = np.sort(np.round(rng.uniform(-scale, scale, 5) * 8) / 8)
        with netCDF4.Dataset(path, "w") as d:
            d.createDimension("time", 5)
            t = d.createVariable("time", "f8", ("time",))
            t.units, t.calendar = units, calendar
            t[:] = numbers
            d.createVariable("x", "f8", ("time",))[:] = np.arange(5)
        # cftime reads fewer spellings of dates than Pandas does.
        plain = units.replace("/", "-").replace("20040229", "2004-02-29")
        dates = cftime.num2date(numbers, plain.strip(), calendar.lower())
        parts = ("year", "month", "day", "hour", "minute", "dayofyr")
        text = ";".join(
            f"{p} = max(x, groupby='time.{'dayofyear' if p == 'dayofyr' else p}')".replace("'", '"')
            for p in parts
        )
        got = check(run("eval", text, path, "--json", "--progress", "none")).arrays()
        for part in parts:
            keys = np.array([getattr(date, part) for date in dates])
            expected = [np.flatnonzero(keys == k).max() for k in np.unique(keys)]
            assert got[part].tolist() == expected, (units, calendar, part, dates)
