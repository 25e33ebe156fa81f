"""Compares statistics of fields with CDO; axes and weights are found by the coordinates."""

import shutil
import subprocess

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import check, run

QUIET = ("--progress", "none")
STATISTICS = ["mean", "avg", "min", "max", "range", "sum", "std", "std1", "var", "var1"]
# CDO divides vertvar1 by the sum of weights less 1, which depends on the number of levels.
FAMILIES = {
    "fld": [*STATISTICS, "int"],
    "zon": STATISTICS,
    "mer": STATISTICS,
    "vert": [s for s in STATISTICS if not s.endswith("1")],
}
GAUSSIAN = [73.7992136285632, 52.8129431899943, 31.704091745008, 10.5698823125761]
LATITUDES = {
    "regular": [-85.0, -40.0, -10.0, 5.0, 30.0, 89.5],
    "gaussian": [*GAUSSIAN, *(-lat for lat in reversed(GAUSSIAN))],
}
LEVELS = np.array([[1025.0, 925.0], [925.0, 675.0], [675.0, 350.0]])

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")


def make(path, latitudes, bounds=True):
    """Values with holes: a circle of latitude, a field, a column and a fifth of the rest."""
    rng = np.random.default_rng(3)
    v = rng.normal(280, 10, (2, 3, len(latitudes), 8))
    v[rng.random(v.shape) < 0.2] = np.nan
    v[0, :, 1] = np.nan
    v[1, 2] = np.nan
    v[:, :, 2, 3] = np.nan
    lev = {"units": "hPa", "positive": "down", "axis": "Z"}
    north = {"units": "degrees_north", "standard_name": "latitude"}
    east = {"units": "degrees_east", "standard_name": "longitude"}
    ds = xr.Dataset(
        {"v": (("time", "lev", "lat", "lon"), v, {"units": "K"})},
        coords={
            "time": ("time", [0.0, 1.0], {"units": "days since 2000-01-01"}),
            "lev": ("lev", LEVELS.mean(1), lev),
            "lat": ("lat", latitudes, north),
            "lon": ("lon", 45.0 * np.arange(8), east),
        },
    )
    if bounds:
        ds["lev"].attrs["bounds"] = "lev_bnds"
        ds["lev_bnds"] = ("lev", "bnds"), LEVELS
    write(ds, path)
    return v


def write(ds, path):
    encoding = {name: {"_FillValue": None} for name in ds.variables} | {"v": {"_FillValue": -999.0}}
    ds.to_netcdf(path, format="NETCDF3_CLASSIC", encoding=encoding)


def by_cdo(folder, *words):
    command = ["cdo", "-s", "-L", "-b", "F64", *words, "o.nc"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return xr.open_dataset(folder / "o.nc", decode_times=False)


def evaluated(text, path):
    return check(run("eval", text, path, "--json", *QUIET)).arrays()


@needs_cdo
@pytest.mark.parametrize("grid", LATITUDES)
@pytest.mark.parametrize("family", FAMILIES)
def test_statistics_by_cdo(tmp_path, grid, family):
    make(tmp_path / "a.nc", LATITUDES[grid])
    names = [family + s for s in FAMILIES[family]]
    text = "; ".join(f"{name}x = {name}(v)" for name in names)
    got = evaluated(text, tmp_path / "a.nc")
    # One process of CDO for all: several vertical statistics end it with SIGSEGV.
    groups = [[name] for name in names] if family == "vert" else [names]
    for group in groups:
        words = [w for name in group for w in (f"-setname,{name}", f"-{name}", "a.nc")]
        merge = ["merge"] if len(group) > 1 else []
        with by_cdo(tmp_path, *merge, *words) as wanted:
            for name in group:
                want = wanted[name].values.reshape(got[f"{name}x"].shape)
                # The squares that CDO subtracts leave up to 1e-5 of a deviation of 0.
                atol = 1e-5 if "std" in name else 1e-9
                np.testing.assert_allclose(got[f"{name}x"], want, 1e-9, atol, err_msg=name)


@needs_cdo
def test_percentiles_by_cdo(tmp_path):
    make(tmp_path / "a.nc", LATITUDES["regular"])
    names = ["fldpctl", "zonpctl", "merpctl"]
    for q in (0, 10, 37.5, 100):
        got = evaluated("; ".join(f"{n}x = {n}(v, {q})" for n in names), tmp_path / "a.nc")
        for name in names:
            with by_cdo(tmp_path, f"{name},{q}", "a.nc") as wanted:
                want = wanted.v.values.reshape(got[f"{name}x"].shape)
            np.testing.assert_allclose(got[f"{name}x"], want, rtol=1e-12, err_msg=f"{name} {q}")


@needs_cdo
@pytest.mark.parametrize("grid", ["r360x180", "r36x9", "n16", "F4"])
def test_areas_by_cdo(tmp_path, grid):
    command = ["cdo", "-s", "-b", "F64", "-f", "nc", "-gridarea", f"-topo,{grid}", "area.nc"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    with xr.open_dataset(tmp_path / "area.nc") as d:
        want, lat, lon = d.cell_area.values, d.lat.values, d.lon.values
    np.testing.assert_allclose(cubed.gridarea(lat, lon).compute(), want, rtol=1e-12)


@needs_cdo
@pytest.mark.parametrize("kind", ["curvilinear", "unstructured"])
def test_areas_of_corners_by_cdo(tmp_path, kind):
    command = ["cdo", "-s", "-b", "F64", "-f", "nc", f"-setgridtype,{kind}", "-topo,r12x8", "t.nc"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    words = ["merge", "-setname,area", "-gridarea", "t.nc", "-setname,mean", "-fldmean", "t.nc"]
    name = "topo" if "topo" in xr.open_dataset(tmp_path / "t.nc") else "var1"
    got = evaluated(f"area = gridarea({name}); m = fldmean({name})", tmp_path / "t.nc")
    with by_cdo(tmp_path, *words) as wanted:
        want = wanted.area.values.reshape(got["area"].shape)
        np.testing.assert_allclose(got["area"], want, rtol=1e-9)
        np.testing.assert_allclose(got["m"].ravel(), wanted["mean"].values.ravel(), rtol=1e-9)
    assert abs(got["area"].sum() / (4 * np.pi * 6371000.0**2) - 1) < 1e-12


def described(text, path, tmp_path):
    out = tmp_path / "out.zarr"
    shutil.rmtree(out, ignore_errors=True)
    check(run("eval", text, path, "--out", out, *QUIET))
    return xr.open_zarr(out, consolidated=False)


def test_attributes_say_which_weights_were_used(tmp_path):
    make(tmp_path / "a.nc", LATITUDES["regular"])
    make(tmp_path / "plain.nc", LATITUDES["regular"], bounds=False)
    text = (
        "m = fldmean(v); i = fldint(v); z = zonmean(v); y = mervar(v); h = vertstd(v);"
        " g = fldmean(v, weights=None); area = gridarea(v); both = fldmax(vertmean(v))"
    )
    ds = described(text, tmp_path / "a.nc", tmp_path)
    attrs = {name: (x.attrs.get("units"), x.attrs.get("cell_methods")) for name, x in ds.items()}
    attrs.pop("lev_bnds", None)
    assert attrs == {
        "m": ("K", "area: mean (areas from coordinates)"),
        "i": ("K m2", "area: sum (areas from coordinates)"),
        "z": ("K", "lon: mean"),
        "y": ("K2", "lat: variance (areas from coordinates)"),
        "h": ("K", "lev: standard_deviation (layers from bounds)"),
        "g": ("K", "area: mean"),
        "area": ("m2", None),
        "both": ("K", "lev: mean (layers from bounds) area: maximum"),
    }
    assert ds.area.attrs["standard_name"] == "cell_area"
    assert "lat" in ds.area.coords and "time" in ds.m.coords
    plain = described("h = vertmean(v)", tmp_path / "plain.nc", tmp_path)
    assert plain.h.attrs["cell_methods"] == "lev: mean (equal layers)"


def test_areas_come_from_cell_measures_then_bounds(tmp_path):
    v = np.arange(6.0).reshape(1, 2, 3)
    area = np.array([[1.0, 2, 3], [4, 5, 6]])
    lat, lon = np.array([[-90.0, 0], [0, 90]]), np.array([[0.0, 90], [90, 180], [180, 360]])
    ds = xr.Dataset(
        {
            "v": (("time", "lat", "lon"), v, {"cell_measures": "area: areacella"}),
            "areacella": (("lat", "lon"), area, {"units": "m2"}),
            "lat_bnds": (("lat", "two"), lat),
            "lon_bnds": (("lon", "two"), lon),
        },
        coords={
            "lat": ("lat", [-45.0, 45.0], {"units": "degrees_north", "bounds": "lat_bnds"}),
            "lon": ("lon", [45.0, 135, 270], {"units": "degrees_east", "bounds": "lon_bnds"}),
        },
    )
    write(ds, tmp_path / "a.nc")
    got = described("m = fldmean(v); p = fldmean(v[:, :, 1:])", tmp_path / "a.nc", tmp_path)
    assert got.m.attrs["cell_methods"] == "area: mean (areas from cell_measures)"
    np.testing.assert_allclose(got.m, [(v[0] * area).sum() / area.sum()])
    np.testing.assert_allclose(got.p, [(v[0] * area)[:, 1:].sum() / area[:, 1:].sum()])
    del ds["areacella"]
    write(ds, tmp_path / "b.nc")
    got = described("m = fldmean(v)", tmp_path / "b.nc", tmp_path)
    assert got.m.attrs["cell_methods"] == "area: mean (areas from bounds)"
    np.testing.assert_allclose(got.m, [(v[0] * [1, 1, 2]).sum() / 8])


def test_axes_of_any_order_and_parts(tmp_path):
    v = make(tmp_path / "a.nc", LATITUDES["regular"])
    text = "a = fldmean(v); b = fldmean(transpose(v)); c = fldmean(v[:, :, 1:4, ::2])"
    text += "; d = fldmean(sel(v, lat=(-40, 5)), gridarea(sel(v, lat=(-40, 5))))"
    got = evaluated(text, tmp_path / "a.nc")
    np.testing.assert_allclose(got["b"], got["a"].T, rtol=1e-12)
    part = v[:, :, 1:4, ::2]
    w = cubed.gridarea(LATITUDES["regular"][1:4], 90.0 * np.arange(4)).compute()
    w = w * ~np.isnan(part)
    want = np.nansum(part * w, (2, 3)) / w.sum((2, 3))
    np.testing.assert_allclose(got["c"], want, rtol=1e-12)
    assert got["d"].shape == (2, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fldmean(v[0, 0, :, 0])", "found no coordinate of longitude along the dimensions"),
        ("fldmean(roll(v, 1, axis=2))", 'elements along "lat" were moved or combined'),
        ("mermean(v, dim='lon')", "no coordinates say how large cells along these dimensions are"),
        ("fldmean(v, (1, 2, 3))", "fldmean: weights have shape (3), expected one weight"),
        ("fldmin(v, weights=v)", 'no argument "weights"'),
        ("gridarea(v[0, 0, 0])", "found no coordinates of latitude and longitude"),
        ("fldpctl(v, 101)", "q is 101"),
    ],
)
def test_errors(tmp_path, text, message):
    make(tmp_path / "a.nc", LATITUDES["regular"])
    result = run("eval", text, tmp_path / "a.nc", *QUIET)
    assert result.code != 0
    assert message in result.err, result.err


def test_objects_of_xarray_have_the_weights_of_their_coordinates():
    lat, lon = [-60.0, 0.0, 60.0], [0.0, 90, 180, 270]
    x = xr.DataArray(
        np.arange(12.0).reshape(3, 4),
        dims=("lat", "lon"),
        coords={"lat": lat, "lon": lon},
    ).chunk({"lat": 2}, chunked_array_type="cubed")
    w = cubed.gridarea(lat, lon).compute()
    got = cubed.eval("fldmean(x)", x=x).compute()
    np.testing.assert_allclose(got, (x.values * w).sum() / w.sum(), rtol=1e-12)
