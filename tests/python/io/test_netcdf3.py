"""NetCDF's classic formats are read like Zarr stores: compared with the package netCDF4."""

import cubed
import netCDF4
import numpy as np
import pytest
from conftest import cases, run

FORMATS = {
    "NETCDF3_CLASSIC": ["i1", "S1", "i2", "i4", "f4", "f8"],
    "NETCDF3_64BIT_OFFSET": ["i1", "S1", "i2", "i4", "f4", "f8"],
    "NETCDF3_64BIT_DATA": ["i1", "S1", "i2", "i4", "f4", "f8", "u1", "u2", "u4", "i8", "u8"],
}


def values(rng, dtype, shape):
    dtype = np.dtype(dtype)
    if dtype.kind == "S":
        return rng.integers(97, 123, shape, np.uint8).view("S1")
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype, True)


def make(path, rng, form, nvars, records):
    """A file of random variables, some of them of records; what is in them."""
    expected = {}
    with netCDF4.Dataset(path, "w", format=form) as d:
        d.set_fill_off()
        d.set_auto_maskandscale(False)
        d.createDimension("time", None)
        sizes = {"time": records} | {f"d{i}": int(rng.integers(1, 6)) for i in range(4)}
        for name in list(sizes)[1:]:
            d.createDimension(name, sizes[name])
        for i in range(nvars):
            dims = tuple(rng.permutation([f"d{k}" for k in range(4)])[: rng.integers(0, 4)])
            if rng.random() < 0.5:
                dims = ("time", *dims)
            dtype = FORMATS[form][rng.integers(len(FORMATS[form]))]
            v = d.createVariable(f"v{i}", dtype, dims)
            v.note = "n" * int(rng.integers(0, 5))
            v.range = np.array([1, 2, 3], "f4")
            x = values(rng, dtype, tuple(sizes[n] for n in dims))
            v[...] = x
            expected[f"v{i}"] = (dims, x)
    return expected


@pytest.mark.parametrize("form", FORMATS)
def test_random_variables(tmp_path, form):
    rng = np.random.default_rng([3, len(form)])
    for k in range(cases(12)):
        path = tmp_path / f"{k}.nc"
        nvars = int(rng.integers(1, 8))
        expected = make(path, rng, form, nvars, records=int(rng.integers(0, 5)))
        arrays = [cubed.from_zarr(path, name) for name in expected]
        got = cubed.compute(*arrays)
        for (name, (dims, x)), a, y in zip(expected.items(), arrays, got, strict=True):
            if dims:
                assert tuple(a._x.dim_names) == dims
            assert a.attrs["range"] == [1, 2, 3]
            if "time" in dims and y.shape[0] == 0:
                continue  # nothing was written
            np.testing.assert_array_equal(y, x, err_msg=f"{k} {name}")


@pytest.mark.parametrize("dtype", ["i1", "i2", "f8"])
def test_one_array_of_records_is_not_filled_up(tmp_path, dtype):
    path = tmp_path / "a.nc"
    x = np.arange(15).reshape(5, 3).astype(dtype)
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as d:
        d.createDimension("t", None)
        d.createDimension("x", 3)
        d.createVariable("v", dtype, ("t", "x"))[:] = x
        d.createVariable("w", "f4", ("x",))[:] = 1
    np.testing.assert_array_equal(cubed.from_zarr(path, "v").compute(), x)


def test_number_of_records_that_is_not_said(tmp_path):
    path = tmp_path / "a.nc"
    x = np.arange(15.0).reshape(5, 3)
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as d:
        d.createDimension("t", None)
        d.createDimension("x", 3)
        d.createVariable("v", "f8", ("t", "x"))[:] = x
        d.createVariable("w", "i2", ("t",))[:] = np.arange(5)
    data = bytearray(path.read_bytes())
    data[4:8] = b"\xff" * 4
    path.write_bytes(data)
    np.testing.assert_array_equal(cubed.from_zarr(path, "v").compute(), x)
    np.testing.assert_array_equal(cubed.from_zarr(path, "w").compute(), np.arange(5))


def test_large_arrays_are_cut_into_chunks(tmp_path):
    path = tmp_path / "a.nc"
    x = np.arange(3 * 1100 * 1000, dtype="f4").reshape(3, 1100, 1000)
    with netCDF4.Dataset(path, "w", format="NETCDF3_64BIT_OFFSET") as d:
        for name, n in {"t": None, "y": 1100, "x": 1000, "z": 3}.items():
            d.createDimension(name, n)
        d.createVariable("records", "f4", ("t", "y", "x"))[:] = x
        d.createVariable("odd", "i1", ("t",))[:] = np.arange(3)
        d.createVariable("fixed", "f4", ("z", "y", "x"))[:] = x
    for name in ("records", "fixed"):
        a = cubed.from_zarr(path, name)
        assert max(a.chunksize) < 1101
        assert np.prod(a.chunksize) * 4 <= 8 << 20
        np.testing.assert_array_equal(a[1:, ::7].compute(), x[1:, ::7])
        got = run("eval", f"sum(float64({name}))", path, "--json", "--allowed-mem", "60MB")
        assert got.code == 0, got.err
        assert got.array() == x.sum(dtype="f8")


def test_packed_values_and_times(tmp_path):
    import xarray as xr

    path = tmp_path / "a.nc"
    want = xr.Dataset(
        {"t": (("time", "x"), np.linspace(250, 300, 12).reshape(4, 3), {"units": "K"})},
        {"time": np.array(["2001-01-01", "2001-01-03"] * 2, "M8[ns]"), "x": [1.0, 2, 3]},
    )
    packing = {"dtype": "i2", "scale_factor": 0.01, "add_offset": 273.15, "_FillValue": -1}
    want.to_netcdf(path, format="NETCDF3_CLASSIC", engine="netcdf4", encoding={"t": packing})
    with xr.open_dataset(path, engine="netcdf4") as d:
        want = d.load()
    got = xr.open_dataset(path, engine="cubed")
    xr.testing.assert_identical(got.compute(), want)
    decoded = run("eval", "t+0", path, "--decode", "--json")
    np.testing.assert_array_equal(decoded.array(), want.t.values)


@pytest.mark.parametrize("form", ["NETCDF3_CLASSIC", "NETCDF3_64BIT_DATA"])
def test_damaged_files_are_errors(tmp_path, form):
    rng = np.random.default_rng([9, len(form)])
    path = tmp_path / "a.nc"
    expected = make(path, rng, form, 5, 4)
    data = path.read_bytes()
    kinds = (OSError, ValueError, NotImplementedError, MemoryError, TypeError)
    failed = 0
    for _ in range(cases(200)):
        out = bytearray(data)
        if rng.random() < 0.3:
            out = out[: rng.integers(0, len(out))]
        else:
            for at in rng.integers(0, min(len(out), 1500), int(rng.integers(1, 6))):
                out[at] = rng.integers(256)
        path.write_bytes(out)
        for name in expected:
            try:
                x = cubed.from_zarr(path, name)
                if x.nbytes < 1 << 24:
                    x.compute()
            except kinds:
                failed += 1
    assert failed > 20
