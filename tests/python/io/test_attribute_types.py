"""Attributes keep NetCDF's types: in copies and results, in NetCDF and in Zarr of both formats."""

import json

import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import check, run

import zarr

FORMATS = ["NETCDF4", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA"]


def make(path, kind="NETCDF4"):
    """Writes a file with an attribute of each type that the kind of file has."""
    with netCDF4.Dataset(path, "w", format=kind) as d:
        d.createDimension("x", 3)
        d.title = "types"
        d.setncatts({"short": np.int16(3), "single": np.float32(1.5)})
        v = d.createVariable("v", "i2", ("x",), fill_value=np.int16(-9))
        v.set_auto_maskandscale(False)
        v.setncatts(
            {
                "scale_factor": np.float32(0.01),
                "add_offset": np.float32(0),
                "whole_double": 1.0,
                "singles": np.array([1, 2.5], "f4"),
                "int": np.int32(7),
                "byte": np.int8(-3),
                "nan": np.float32("nan"),
                "infinities": np.array([np.inf, -np.inf, 1]),
                "valid_range": np.array([0, 50], "i2"),
                "text": "abc",
                "empty": "",
                "looks_like_a_number": "NaN",
            }
        )
        if kind == "NETCDF4":
            v.setncattr_string("string", "abc")
            v.setncatts(
                {
                    "strings": ["a", "bcd"],
                    "ubyte": np.uint8(200),
                    "ushort": np.uint16(60000),
                    "uint": np.uint32(2**32 - 1),
                    "int64": np.int64(3),
                    "uint64": np.uint64(2**64 - 1),
                    "flag_masks": np.array([1, 2], "u1"),
                }
            )
        v[:] = [1, 2, -9]


def attributes(path):
    """Returns the type and the value of each attribute, as NetCDF-C reads them."""
    found = {}
    with netCDF4.Dataset(path) as d:
        for owner, of in (("", d), ("v", d["v"])):
            for name in of.ncattrs():
                value = of.getncattr(name)
                kind = str(getattr(value, "dtype", type(value).__name__))
                found[owner, name] = kind, str(np.asarray(value).tolist())
    return found


def is_string(path, name):
    h5 = pytest.importorskip("h5py")
    with h5.File(path) as f:
        return h5.check_string_dtype(f["v"].attrs.get_id(name).dtype).length is None


@pytest.mark.parametrize("kind", FORMATS)
def test_netcdf_to_netcdf(tmp_path, kind):
    source, out = tmp_path / "a.nc", tmp_path / "b.nc"
    make(source, kind)
    want = attributes(source)
    for args in (
        ("copy", source, out),
        ("rechunk", source, out, "--chunks", "x=2"),
        ("eval", "v=v[:2]", source, "--raw", "--out", out),
        ("eval", "v=flip(v)", source, "--raw", "--out", out),
    ):
        check(run(*args, "--overwrite", "--no-history"))
        assert attributes(out) == want, args
        if kind == "NETCDF4":
            assert is_string(out, "string")
            assert is_string(out, "strings")
        assert not is_string(out, "text")


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", FORMATS)
def test_through_zarr(tmp_path, kind, zarr_format):
    source, store, out = tmp_path / "a.nc", tmp_path / "b.zarr", tmp_path / "c.nc"
    make(source, kind)
    check(run("copy", source, store, "--format", str(zarr_format), "--no-history"))
    check(run("copy", store, out, "--no-history"))
    assert attributes(out) == attributes(source)
    if kind == "NETCDF4":
        assert is_string(out, "string")
    # Expressions keep the types in stores as well.
    check(run("eval", "v=v[:2]", store, "--out", tmp_path / "d.zarr", "--no-history"))
    again = tmp_path / "e.nc"
    check(run("copy", tmp_path / "d.zarr", again, "--no-history"))
    assert attributes(again) == attributes(source)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_xarray_reads_and_writes_the_store(tmp_path, zarr_format):
    """The stated types are no attribute that Xarray could not write to NetCDF."""
    source, store = tmp_path / "a.nc", tmp_path / "b.zarr"
    make(source)
    check(run("copy", source, store, "--format", str(zarr_format), "--no-history"))
    with xr.open_zarr(store, mask_and_scale=False) as ds:
        values = {k: v for k, v in ds.v.attrs.items() if not k.startswith("_")}
        assert set(values) == {n for o, n in attributes(source) if o and not n.startswith("_")}
        assert set(ds.attrs) == {"title", "short", "single"}
        ds.load().to_netcdf(tmp_path / "c.nc")
    # A file that Xarray has written with the list of types has types of its own.
    check(run("copy", tmp_path / "c.nc", tmp_path / "d.nc", "--no-history"))
    before, after = attributes(tmp_path / "c.nc"), attributes(tmp_path / "d.nc")
    before.pop(("v", "_attribute_types"), None)
    assert after == before


def test_a_store_of_format_3_names_only_types_that_cannot_be_inferred(tmp_path):
    with netCDF4.Dataset(tmp_path / "a.nc", "w") as d:
        d.createDimension("x", 2)
        v = d.createVariable("v", "i2", ("x",), fill_value=np.int16(-9))
        v.set_auto_maskandscale(False)
        v.setncatts({"units": "m", "scale_factor": 0.5, "n": np.int32(3)})
        v.setncatts({"valid_min": np.int16(1), "flag_values": np.array([1, 2], "i2")})
        v[:] = [1, 2]
    check(run("copy", tmp_path / "a.nc", tmp_path / "b.zarr", "--no-history"))
    attrs = json.loads((tmp_path / "b.zarr/v/zarr.json").read_text())["attributes"]
    assert set(attrs) == {"_FillValue", "units", "scale_factor", "n", "valid_min", "flag_values"}


@pytest.mark.parametrize("mode", ["nczarr", "zarr"])
def test_netcdf_c_reads_types_of_format_2(tmp_path, mode):
    source, store = tmp_path / "a.nc", tmp_path / "b.zarr"
    make(source)
    check(run("copy", source, store, "--format", "2", "--no-history"))
    with netCDF4.Dataset(f"file://{store}#mode={mode},file") as d, netCDF4.Dataset(source) as s:
        for name in ("scale_factor", "add_offset", "singles", "byte", "int64", "whole_double"):
            assert d["v"].getncattr(name).dtype == s["v"].getncattr(name).dtype, name
            np.testing.assert_array_equal(d["v"].getncattr(name), s["v"].getncattr(name))


def test_types_that_netcdf_c_wrote_into_zarr(tmp_path):
    store = tmp_path / "a.zarr"
    with netCDF4.Dataset(f"file://{store}#mode=nczarr,file", "w") as d:
        d.createDimension("x", 2)
        v = d.createVariable("v", "i2", ("x",))
        v.set_auto_maskandscale(False)
        v.setncatts({"scale_factor": np.float32(0.01), "n": np.int16(4), "text": "t"})
        v[:] = [1, 2]
    attrs = json.loads((store / "v/.zattrs").read_text())
    assert attrs["_nczarr_attr"]["types"]["scale_factor"] == "<f4"
    for spelling in ("_nczarr_attr", "_NCZARR_ATTR"):
        attrs[spelling] = attrs.pop("_nczarr_attr", None) or attrs.pop("_NCZARR_ATTR")
        (store / "v/.zattrs").write_text(json.dumps(attrs))
        check(run("copy", store, tmp_path / "b.nc", "--overwrite", "--no-history"))
        with netCDF4.Dataset(tmp_path / "b.nc") as d:
            assert d["v"].scale_factor == np.float32(0.01)
            assert d["v"].scale_factor.dtype == np.float32
            assert d["v"].n.dtype == np.int16
            assert "_nczarr_attr" not in d["v"].ncattrs()
        info = json.loads(check(run("info", f"{store}::v", "--json")).out)[0]
        assert info["attribute_types"]["scale_factor"] == "float32"
        assert not any("nczarr_attr" in name.lower() for name in info["attributes"])


@pytest.mark.parametrize("kind", FORMATS)
def test_engine_gives_what_netcdf4_gives(tmp_path, kind):
    make(tmp_path / "a.nc", kind)
    with xr.open_dataset(tmp_path / "a.nc", mask_and_scale=False) as d:
        want = d.load()
    got = xr.open_dataset(tmp_path / "a.nc", engine="cubed", mask_and_scale=False)
    for a, b in ((got.attrs, want.attrs), (got.v.attrs, want.v.attrs)):
        assert set(a) == set(b)
        for name in a:
            assert type(a[name]) is type(b[name]), name
            assert getattr(a[name], "dtype", None) == getattr(b[name], "dtype", None), name
            assert str(a[name]) == str(b[name])
    # Float32 packing decodes to float32, as with netCDF4.
    decoded = xr.open_dataset(tmp_path / "a.nc", engine="cubed").v
    assert decoded.dtype == xr.open_dataset(tmp_path / "a.nc").v.dtype


def test_changed_and_removed_attributes_lose_their_type(tmp_path):
    """Xarray or zarr-python may change attributes, but does not know the list of types."""
    make(tmp_path / "a.nc")
    check(run("copy", tmp_path / "a.nc", tmp_path / "b.zarr", "--no-history"))
    attrs = zarr.open_array(tmp_path / "b.zarr/v").attrs
    attrs["byte"] = 1000
    attrs["ubyte"] = "text"
    attrs["singles"] = [0.5]
    del attrs["int64"]
    check(run("copy", tmp_path / "b.zarr", tmp_path / "c.nc", "--no-history"))
    with netCDF4.Dataset(tmp_path / "c.nc") as d:
        assert (d["v"].byte, d["v"].byte.dtype) == (1000, np.int32)
        assert d["v"].ubyte == "text"
        assert d["v"].singles.dtype == np.float32
        assert "int64" not in d["v"].ncattrs()
        assert "_attribute_types" not in d["v"].ncattrs()


def test_untyped_attributes_of_zarr(tmp_path):
    """JSON tells real numbers from integers, and the variable gives CF's attributes their type."""
    z = zarr.create_array(tmp_path / "a.zarr", name="v", shape=(2,), dtype="i2")
    z.attrs.update({"one": 1.0, "two": [2.0, 3.0], "n": 3, "big": 2**40, "huge": 2**63 + 1})
    z.attrs.update({"valid_min": 1.0, "valid_max": 0.5, "mixed": [1, 0.5]})
    check(run("copy", tmp_path / "a.zarr", tmp_path / "a.nc", "--no-history"))
    with netCDF4.Dataset(tmp_path / "a.nc") as d:
        types = {name: str(np.asarray(d["v"].getncattr(name)).dtype) for name in d["v"].ncattrs()}
        assert d["v"].huge == 2**63 + 1
    assert types == {
        "one": "float64",
        "two": "float64",
        "n": "int32",
        "big": "int64",
        "huge": "uint64",
        "valid_min": "int16",
        "valid_max": "float64",
        "mixed": "float64",
    }


def test_integers_beyond_int64(tmp_path):
    """The command keeps the types of all other attributes, and shows attributes as an object."""
    ds = xr.Dataset({"v": ("x", np.arange(3.0), {"big": 2**64 - 1, "small": 7})})
    ds.to_zarr(tmp_path / "in.zarr", consolidated=False)
    info = json.loads(check(run("info", f"{tmp_path / 'in.zarr'}::v", "--json")).out)[0]
    assert info["attributes"]["small"] == 7 and info["attributes"]["big"] == 2.0**64
    out = tmp_path / "o.nc"
    check(
        run(
            "eval",
            "v[1:]",
            tmp_path / "in.zarr",
            "--out",
            out,
            "--progress",
            "none",
            "--no-history",
        )
    )
    with netCDF4.Dataset(out) as d:
        assert d["v"].getncattr("small").dtype == "i4"
