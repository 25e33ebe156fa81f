"""Compares `cubed remap`, and CDO's names of its methods in chains, with CDO."""

import shutil
import subprocess

import numpy as np
import pytest
from conftest import run

xr = pytest.importorskip("xarray", reason="the package xarray is not there")
pytestmark = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")

METHODS = {
    "bilinear": "bil",
    "bicubic": "bic",
    "nearest": "nn",
    "distance": "dis",
    "conservative": "con",
}
#: CDO's files of bicubic weights have weights of gradients.
WITH_FILES = [m for m in METHODS if m != "bicubic"]
#: CDO computes distances with less precision.
TOLERANCE = {"distance": 1e-6}
REGION = "gridtype=lonlat\nxsize=5\nysize=4\nxfirst=3\nxinc=10\nyfirst=-20\nyinc=12.5\n"


def cdo(*words):
    subprocess.run(["cdo", "-s", "-b", "F64", *map(str, words)], check=True)


def cubed(*words):
    done = run(*map(str, words), "--progress", "none")
    assert done.code == 0, done.err
    return done


@pytest.fixture
def source(tmp_path):
    """Two variables with a grid, one of them with time, and one without."""
    rng = np.random.default_rng(3)
    lat, lon = np.linspace(-87.5, 87.5, 36), np.arange(72) * 5.0
    ds = xr.Dataset(
        {
            "t": (("time", "lat", "lon"), 280 + rng.normal(size=(3, 36, 72)), {"units": "K"}),
            "z": (("lat", "lon"), rng.normal(size=(36, 72)) + 9),
            "n": (("time",), np.arange(3.0)),
        },
        {
            "time": ("time", np.arange(3.0), {"units": "days since 2001-01-01"}),
            "lat": ("lat", lat, {"units": "degrees_north"}),
            "lon": ("lon", lon, {"units": "degrees_east"}),
        },
    )
    path = tmp_path / "in.nc"
    ds.to_netcdf(path)
    return path


def same(got, want, method="bilinear", names=("t", "z")):
    with xr.open_dataset(got) as a, xr.open_dataset(want) as b:
        for name in names:
            assert a[name].shape == b[name].shape
            np.testing.assert_allclose(
                a[name].values, b[name].values, rtol=TOLERANCE.get(method, 1e-10), err_msg=name
            )
        np.testing.assert_allclose(a["lat"], b["lat"], atol=1e-9)
        np.testing.assert_allclose(a["lon"], b["lon"], atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_methods_are_those_of_cdo(tmp_path, source, method):
    grid = tmp_path / "grid.txt"
    grid.write_text(REGION)
    for target in ("r17x10", grid):
        cdo(f"remap{METHODS[method]},{target}", "-selname,t,z", source, tmp_path / "c.nc")
        cubed("remap", target, source, tmp_path / "v.nc", "--method", method, "--overwrite")
        same(tmp_path / "v.nc", tmp_path / "c.nc", method)
        cubed(f"remap{METHODS[method]},{target}", source, tmp_path / "a.nc", "--overwrite")
        same(tmp_path / "a.nc", tmp_path / "v.nc")


def test_variables_attributes_and_coordinates(tmp_path, source):
    done = cubed("remap", "r8x5", source, tmp_path / "o.nc")
    assert "copied unchanged: n" in done.err
    with xr.open_dataset(tmp_path / "o.nc") as ds:
        assert ds["t"].dims == ("time", "lat", "lon") and ds["t"].attrs["units"] == "K"
        assert ds["time"].size == 3 and ds["n"].values.tolist() == [0, 1, 2]
        assert ds["lat"].attrs["bounds"] == "lat_bnds" and ds["lat_bnds"].shape == (5, 2)
        assert ds["lon"].attrs["standard_name"] == "longitude"


def test_chains(tmp_path, source):
    cdo("zonmean", "-remapcon,r18x9", "-selname,t", source, tmp_path / "c.nc")
    cubed("zonmean", "-remapcon,r18x9", source, tmp_path / "o.nc")
    with xr.open_dataset(tmp_path / "o.nc") as a, xr.open_dataset(tmp_path / "c.nc") as b:
        np.testing.assert_allclose(a["t"].values, b["t"].values[..., 0], rtol=1e-12)


def test_the_grid_of_a_file(tmp_path, source):
    cubed("remap", "r8x5", source, tmp_path / "small.nc")
    cubed("remap", tmp_path / "small.nc", source, tmp_path / "o.nc")
    same(tmp_path / "o.nc", tmp_path / "small.nc")


@pytest.mark.parametrize("method", WITH_FILES)
def test_weights_are_kept_and_shared_with_cdo(tmp_path, source, method):
    short = METHODS[method]
    cubed("remap", "r17x10", source, tmp_path / "o.nc", "--method", method, "--weights",
          tmp_path / "w.nc")  # fmt: skip
    made = (tmp_path / "w.nc").stat().st_mtime_ns
    cubed("remap", "r17x10", source, tmp_path / "p.nc", "--method", method,
          f"--weights={tmp_path / 'w.nc'}")  # fmt: skip
    assert (tmp_path / "w.nc").stat().st_mtime_ns == made
    same(tmp_path / "p.nc", tmp_path / "o.nc")
    cdo(f"remap,r17x10,{tmp_path / 'w.nc'}", "-selname,t,z", source, tmp_path / "c.nc")
    same(tmp_path / "o.nc", tmp_path / "c.nc")
    cdo(f"gen{short},r17x10", "-selname,t", source, tmp_path / "cw.nc")
    cdo(f"remap,r17x10,{tmp_path / 'cw.nc'}", "-selname,t,z", source, tmp_path / "c.nc")
    cubed(f"remap,r17x10,{tmp_path / 'cw.nc'}", source, tmp_path / "q.nc")
    same(tmp_path / "q.nc", tmp_path / "c.nc")
    cubed(f"gen{short},r17x10", source, tmp_path / "g.nc")
    with xr.open_dataset(tmp_path / "g.nc") as a, xr.open_dataset(tmp_path / "w.nc") as b:
        assert a.identical(b) and a["S"].size == a["remap_matrix"].size


@pytest.mark.parametrize("method", ["bicubic", "conservative2", "largest"])
def test_weights_of_other_methods_are_kept(tmp_path, source, method):
    words = ["--method", method, "--weights", tmp_path / "w.nc"]
    cubed("remap", "r17x10", source, tmp_path / "o.nc", *words)
    cubed("remap", "r17x10", source, tmp_path / "p.nc", *words)
    cubed("remap", "r17x10", source, tmp_path / "q.nc", *words[:2])
    same(tmp_path / "p.nc", tmp_path / "o.nc")
    same(tmp_path / "q.nc", tmp_path / "o.nc")


def test_weights_of_esmf(tmp_path, source):
    cubed("genbil,r8x5", source, tmp_path / "w.nc")
    with xr.open_dataset(tmp_path / "w.nc") as w:
        w[["row", "col", "S"]].to_netcdf(tmp_path / "e.nc")
    cubed("remap", "r8x5", source, tmp_path / "o.nc")
    cubed("remap", "r8x5", source, tmp_path / "p.nc", "--weights", tmp_path / "e.nc")
    same(tmp_path / "p.nc", tmp_path / "o.nc")


def test_missing_values(tmp_path, source):
    with xr.open_dataset(source) as ds:
        t = ds["t"].load()
    t[:, ::3, ::2] = np.nan
    t.to_netcdf(tmp_path / "m.nc")
    for words in ([], ["--keep-missing"], ["--na-threshold", "0.2"]):
        cubed("remap", "r9x6", tmp_path / "m.nc", tmp_path / "o.nc", "--method", "conservative",
              "--overwrite", *words)  # fmt: skip
        import cubed as package

        options = {"skipna": False} if "--keep-missing" in words else {}
        options |= {"na_threshold": 0.2} if "0.2" in words else {}
        want = package.remap(t, "r9x6", "conservative", **options)
        with xr.open_dataset(tmp_path / "o.nc") as got:
            np.testing.assert_allclose(got["t"].values, want.values, rtol=1e-12)
    cdo("remapcon,r9x6", tmp_path / "m.nc", tmp_path / "c.nc")
    cubed("remapcon,r9x6", tmp_path / "m.nc", tmp_path / "o.nc", "--overwrite")
    same(tmp_path / "o.nc", tmp_path / "c.nc", names=("t",))


@pytest.mark.parametrize("method", ["nearest", "distance", "conservative"])
def test_missing_values_that_vary_with_time(tmp_path, source, method):
    rng = np.random.default_rng(8)
    with xr.open_dataset(source) as ds:
        t = ds["t"].load()
    t.values[rng.random(t.shape) < 0.2] = np.nan
    t.to_netcdf(tmp_path / "m.nc")
    for grid in ("r17x10", "r90x45"):
        cdo(f"remap{METHODS[method]},{grid}", tmp_path / "m.nc", tmp_path / "c.nc")
        cubed("remap", grid, tmp_path / "m.nc", tmp_path / "o.nc", "--method", method,
              "--overwrite")  # fmt: skip
        with xr.open_dataset(tmp_path / "o.nc") as got:
            assert np.isnan(got["t"].values).any() or grid == "r17x10"
        same(tmp_path / "o.nc", tmp_path / "c.nc", method, names=("t",))


def test_rotated_grids_have_the_coordinates_of_the_earth(tmp_path):
    """Axes in rotated degrees are no latitudes: the two-dimensional coordinates count."""
    rlat, rlon = np.linspace(-5, 5, 11), np.linspace(-8, 8, 17)
    lat, lon = np.meshgrid(rlat + 50, rlon + 10, indexing="ij")
    lat = lat + 0.3 * lon - 3
    ds = xr.Dataset(
        {
            "t": (("time", "rlat", "rlon"), np.random.default_rng(1).normal(size=(2, 11, 17))),
            "rotated_pole": ((), 1),
        },
        {
            "rlat": ("rlat", rlat, {"standard_name": "grid_latitude", "units": "degrees"}),
            "rlon": ("rlon", rlon, {"standard_name": "grid_longitude", "units": "degrees"}),
            "lat": (("rlat", "rlon"), lat, {"units": "degrees_north"}),
            "lon": (("rlat", "rlon"), lon, {"units": "degrees_east"}),
        },
    )
    ds["t"].attrs["grid_mapping"] = "rotated_pole"
    ds.to_netcdf(tmp_path / "in.nc")
    (tmp_path / "g.txt").write_text(
        "gridtype=lonlat\nxsize=9\nysize=8\nxfirst=6\nxinc=1\nyfirst=48\nyinc=1\n"
    )
    import cubed as package

    cubed("remap", tmp_path / "g.txt", tmp_path / "in.nc", tmp_path / "o.nc")
    want = package.remap(ds["t"], (np.arange(48.0, 56), np.arange(6.0, 15)))
    assert np.isfinite(want.values).sum() > 50
    with xr.open_dataset(tmp_path / "o.nc") as got:
        np.testing.assert_allclose(got["t"].values, want.values, rtol=1e-12)
        assert "grid_mapping" not in got["t"].attrs and "rotated_pole" not in got["t"].encoding
    with_axes = xr.Dataset({"t": ds["t"].drop_vars(["lat", "lon"])})
    with_axes.to_netcdf(tmp_path / "bare.nc")
    done = run("remap", tmp_path / "g.txt", tmp_path / "bare.nc", tmp_path / "p.nc")
    assert done.code != 0 and "no variable that remap applies to" in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["r8", "IN", "OUT"], '"r8" is not a grid'),
        (["r8x5", "IN"], "expected GRID IN OUT, but there are 2 names"),
        (["r8x5", "IN", "OUT", "--method", "cubic"], 'expected method="bilinear"'),
        (["r8x5", "IN", "OUT", "--neighbours", "65"], "expected 1 to 64"),
        (["r8x5", "IN", "OUT", "--na-threshold", "2"], "na_threshold is 2, expected 0 to 1"),
        (["r9x5", "IN", "OUT", "--weights", "W"], "these weights are for other grids"),
        (["r8x5", "IN", "OUT", "--weights", "IN"], "there are no links"),
        (["IN2", "IN", "OUT"], "there are no coordinates of latitude and longitude"),
    ],
)
def test_wrong_calls(tmp_path, source, words, message):
    cubed("genbil,r8x5", source, tmp_path / "w.nc")
    xr.Dataset({"a": ("x", np.ones(3))}).to_netcdf(tmp_path / "x.nc")
    names = {
        "IN": source,
        "OUT": tmp_path / "o.nc",
        "W": tmp_path / "w.nc",
        "IN2": tmp_path / "x.nc",
    }
    done = run("remap", *(str(names.get(w, w)) for w in words), "--progress", "none")
    assert done.code != 0 and message in done.err
    assert not (tmp_path / "o.nc").exists()


@pytest.mark.parametrize("size", [np.nan, -1.0, 1e300, 2.0**40])
def test_sizes_that_no_grid_has(tmp_path, source, size):
    """Numbers of a file are looked at before they become integers."""
    cubed("genbil,r8x5", source, tmp_path / "w.nc")
    with xr.open_dataset(tmp_path / "w.nc") as w:
        w["src_grid_dims"] = w["src_grid_dims"].astype(float) * 0 + size
        w.to_netcdf(tmp_path / "wrong.nc")
    done = run("remap", "r8x5", source, tmp_path / "o.nc", "--weights", tmp_path / "wrong.nc")
    assert done.code != 0 and "src_grid_dims has" in done.err
    assert "expected numbers of cells along axes" in done.err


# --- Targets of cells ----------------------------------------------------------------------------


def cells(shape, seed=0):
    """Quadrilaterals of a rotated patch around the date line: centres, and corners around them."""
    y, x = np.meshgrid(*(np.linspace(-1, 1, 2 * n + 1) for n in shape), indexing="ij")
    lat, lon = 40 + 22 * y + 5 * x, 175 + 28 * x - 6 * y * (1 + 0.3 * y)
    lon = (lon + 180) % 360 - 180
    corner = [(0, 0), (0, 2), (2, 2), (2, 0)]
    n, m = shape
    bounds = [
        np.stack([v[a : a + 2 * n - 1 : 2, b : b + 2 * m - 1 : 2] for a, b in corner], -1)
        for v in (lat, lon)
    ]
    return lat[1::2, 1::2], lon[1::2, 1::2], *bounds


def write_cells(path, lat, lon, lat_b, lon_b, dims):
    coords = {}
    for name, v, b, units in (
        ("lat", lat, lat_b, "degrees_north"),
        ("lon", lon, lon_b, "degrees_east"),
    ):
        coords[name] = (dims, v, {"units": units, "bounds": f"{name}_bnds"})
        coords[f"{name}_bnds"] = ((*dims, "nv"), b)
    xr.Dataset({"mask": (dims, np.ones(lat.shape))}, coords).to_netcdf(path)


def describe(lat, lon, lat_b, lon_b):
    lines = [f"gridtype = {'curvilinear' if lat.ndim == 2 else 'unstructured'}"]
    lines += [f"gridsize = {lat.size}"]
    lines += [f"xsize = {lat.shape[1]}", f"ysize = {lat.shape[0]}"] if lat.ndim == 2 else []
    lines += ["nvertex = 4"] if lat.ndim == 1 else []
    for key, v in (("xvals", lon), ("yvals", lat), ("xbounds", lon_b), ("ybounds", lat_b)):
        lines.append(f"{key} = {' '.join(repr(float(e)) for e in v.ravel())}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("kind", ["curvilinear", "unstructured"])
@pytest.mark.parametrize("method", ["bilinear", "nearest", "distance", "conservative"])
def test_targets_of_cells_are_those_of_cdo(tmp_path, source, kind, method):
    parts = cells((6, 9))
    dims = ("j", "i")
    if kind == "unstructured":
        parts = [v.reshape(54, *v.shape[2:]) for v in parts]
        dims = ("ncells",)
    write_cells(tmp_path / "grid.nc", *parts, dims)
    (tmp_path / "grid.txt").write_text(describe(*parts))
    short = METHODS[method]
    cdo(f"remap{short},{tmp_path / 'grid.txt'}", "-selname,t,z", source, tmp_path / "c.nc")
    for name in ("grid.nc", "grid.txt"):
        cubed("remap", tmp_path / name, source, tmp_path / "o.nc", "--method", method,
              "--overwrite")  # fmt: skip
        with xr.open_dataset(tmp_path / "o.nc") as a, xr.open_dataset(tmp_path / "c.nc") as b:
            if name == "grid.nc":
                assert a["t"].dims == ("time", *dims)
            for v in ("t", "z"):
                np.testing.assert_allclose(
                    a[v].values.ravel(), b[v].values.ravel(), rtol=TOLERANCE.get(method, 1e-6)
                )
            np.testing.assert_allclose(a["lat"].values, parts[0], atol=1e-12)
            np.testing.assert_allclose(a["lon"].values, parts[1], atol=1e-12)
            np.testing.assert_allclose(a["lat_bnds"].values, parts[2], atol=1e-12)
            assert {"lat", "lon"} <= set(a["t"].coords) and a["lat"].attrs["bounds"] == "lat_bnds"
    words = ["--method", method, "--weights", tmp_path / "w.nc"]
    for out in ("p.nc", "q.nc"):
        cubed("remap", tmp_path / "grid.nc", source, tmp_path / out, *words)
    same(tmp_path / "q.nc", tmp_path / "p.nc")


def test_results_on_cells_are_sources_and_have_parts(tmp_path, source):
    """Coordinates of cells stay with the result through further functions and selections."""
    write_cells(tmp_path / "grid.nc", *cells((6, 9)), ("j", "i"))
    cubed("remap", tmp_path / "grid.nc", source, tmp_path / "o.nc")
    cubed("remap", "lon=172_lat=38", tmp_path / "o.nc", tmp_path / "p.nc")
    with xr.open_dataset(tmp_path / "p.nc") as p:
        assert np.isfinite(p["t"].values).all()
    done = run("eval", f"r = remap(t, '{tmp_path / 'grid.nc'}')[:, 1:4, ::2] * 2", "--in",
               f"{source}", "--out", str(tmp_path / "e.nc"), "--progress", "none")  # fmt: skip
    assert done.code == 0, done.err
    with xr.open_dataset(tmp_path / "e.nc") as e, xr.open_dataset(tmp_path / "o.nc") as o:
        np.testing.assert_array_equal(e["r"].values, 2 * o["t"].values[:, 1:4, ::2])
        np.testing.assert_array_equal(e["lat"].values, o["lat"].values[1:4, ::2])
        np.testing.assert_array_equal(e["lon_bnds"].values, o["lon_bnds"].values[1:4, ::2])


def test_grid_files_of_scrip(tmp_path, source):
    parts = cells((6, 9))
    lat, lon, lat_b, lon_b = (np.radians(v).reshape(54, *v.shape[2:]) for v in parts)
    radians = {"units": "radians"}
    grid = xr.Dataset(
        {
            "grid_dims": ("grid_rank", np.array([9, 6], np.int32)),
            "grid_center_lat": ("grid_size", lat, radians),
            "grid_center_lon": ("grid_size", lon, radians),
            "grid_corner_lat": (("grid_size", "grid_corners"), lat_b, radians),
            "grid_corner_lon": (("grid_size", "grid_corners"), lon_b, radians),
            "grid_imask": ("grid_size", np.ones(54, np.int32)),
        }
    )
    grid.to_netcdf(tmp_path / "scrip.nc")
    write_cells(tmp_path / "grid.nc", *parts, ("y", "x"))
    words = ["--method", "conservative"]
    cubed("remap", tmp_path / "scrip.nc", source, tmp_path / "o.nc", *words)
    cubed("remap", tmp_path / "grid.nc", source, tmp_path / "p.nc", *words)
    with xr.open_dataset(tmp_path / "o.nc") as a, xr.open_dataset(tmp_path / "p.nc") as b:
        assert a["t"].dims == ("time", "y", "x")
        np.testing.assert_allclose(a["t"].values, b["t"].values, rtol=1e-12)
    grid.grid_imask[3:5] = 0
    grid.to_netcdf(tmp_path / "masked.nc")
    for method in ("conservative", "bilinear", "nearest"):
        masked = cubed_remap(tmp_path, "masked.nc", source, method)
        whole = cubed_remap(tmp_path, "scrip.nc", source, method)
        assert np.isnan(masked[:, 0, 3:5]).all() and not np.isnan(whole).any()
        whole[:, 0, 3:5] = np.nan
        np.testing.assert_array_equal(masked, whole)
    cdo("remapcon," + str(tmp_path / "masked.nc"), "-selname,t", source, tmp_path / "c.nc")
    with xr.open_dataset(tmp_path / "c.nc") as want:
        got = cubed_remap(tmp_path, "masked.nc", source, "conservative")
        np.testing.assert_allclose(got.reshape(3, 54), want["t"].values.reshape(3, 54), rtol=1e-7)
    cubed(f"gencon,{tmp_path / 'masked.nc'}", source, tmp_path / "w.nc")
    with xr.open_dataset(tmp_path / "w.nc") as w:
        np.testing.assert_array_equal(w["dst_grid_imask"], grid.grid_imask)
    grid["grid_imask"] = ("cells", np.ones(53, np.int32))
    grid.to_netcdf(tmp_path / "short.nc")
    done = run("remap", str(tmp_path / "short.nc"), str(source), str(tmp_path / "q.nc"), *words)
    assert done.code == 1 and "arrays of a SCRIP grid have different sizes" in done.err, done.err


def cubed_remap(tmp_path, target, source, method):
    """The variable t on the grid of a file."""
    out = tmp_path / "q.nc"
    cubed("remap", tmp_path / target, source, out, "--method", method, "--overwrite")
    with xr.open_dataset(out) as got:
        return got["t"].values


def rotated(pole=(39.25, -162.0, 0.0), bounds=False):
    """A field on axes about a rotated pole, without latitudes and longitudes of the earth."""
    rlat, rlon = np.linspace(-5, 5, 11), np.linspace(-8, 8, 17)
    keys = (
        "grid_north_pole_latitude",
        "grid_north_pole_longitude",
        "north_pole_grid_longitude",
    )
    mapping = {"grid_mapping_name": "rotated_latitude_longitude"}
    mapping |= {k: v for k, v in zip(keys, pole, strict=True) if v}
    ds = xr.Dataset(
        {
            "t": (("time", "rlat", "rlon"), np.random.default_rng(1).normal(size=(2, 11, 17))),
            "pole": ((), np.int32(1), mapping),
        },
        {
            "time": ("time", [0.0, 1.0], {"units": "days since 2000-01-01"}),
            "rlat": ("rlat", rlat, {"standard_name": "grid_latitude", "units": "degrees"}),
            "rlon": ("rlon", rlon, {"standard_name": "grid_longitude", "units": "degrees"}),
        },
    )
    ds["t"].attrs["grid_mapping"] = "pole"
    if bounds:
        for name, v, half in (("rlat", rlat, 0.5), ("rlon", rlon, 0.5)):
            ds[name].attrs["bounds"] = f"{name}_bnds"
            ds[f"{name}_bnds"] = ((name, "bnds"), np.stack([v - half, v + half], -1))
    return ds


def write_rotated(path, **how):
    ds = rotated(**how)
    ds.to_netcdf(path, encoding={v: {"_FillValue": None} for v in ds.variables})
    return ds


@pytest.mark.parametrize("bounds", [False, True])
@pytest.mark.parametrize("method", METHODS)
def test_axes_about_a_rotated_pole_are_those_of_cdo(tmp_path, source, method, bounds):
    """The places of cells on the earth follow from the grid mapping: of sources and of targets."""
    import cubed as package

    ds = write_rotated(tmp_path / "r.nc", bounds=bounds)
    (tmp_path / "g.txt").write_text(
        "gridtype=lonlat\nxsize=15\nysize=12\nxfirst=11\nxinc=1\nyfirst=45\nyinc=1\n"
    )
    cubed("remap", tmp_path / "g.txt", tmp_path / "r.nc", tmp_path / "o.nc", "--method", method)
    got = xr.load_dataset(tmp_path / "o.nc")["t"]
    assert "grid_mapping" not in got.attrs
    opened = xr.open_dataset(tmp_path / "r.nc", decode_coords="all")
    for given in (ds, opened):
        ours = package.remap(given, tmp_path / "g.txt", method)["t"]
        np.testing.assert_allclose(ours.values, got.values, rtol=1e-12)
        assert "grid_mapping" not in ours.attrs
    if method == "bicubic":
        return  # slopes of curvilinear cells are not those of CDO
    cdo(f"remap{METHODS[method]},{tmp_path / 'g.txt'}", tmp_path / "r.nc", tmp_path / "c.nc")
    with xr.open_dataset(tmp_path / "c.nc") as want:
        tolerance = {"distance": 1e-6}.get(method, 1e-9)
        np.testing.assert_allclose(got.values, want["t"].values, rtol=tolerance, atol=tolerance)
    cdo(f"remap{METHODS[method]},{tmp_path / 'r.nc'}", "-selname,t", source, tmp_path / "d.nc")
    there = cubed_remap(tmp_path, "r.nc", source, method)
    with xr.open_dataset(tmp_path / "d.nc") as want:
        np.testing.assert_allclose(there, want["t"].values, rtol=1e-7)
    with xr.open_dataset(tmp_path / "q.nc") as target:
        assert target["t"].dims == ("time", "rlat", "rlon")
        assert target["lat"].dims == ("rlat", "rlon")


def test_rotated_poles():
    """The pole of the grid, and the north pole of the earth, by the conventions of CF."""
    from cubed.remapping import grid

    for pole in ((39.25, -162.0, 0.0), (30.0, 20.0, 0.0), (50.0, 190.0, 77.0)):
        ds = rotated(pole=pole).assign_coords(
            rlat=("rlat", np.linspace(-90, 90, 11), rotated()["rlat"].attrs),
            rlon=("rlon", pole[2] + np.linspace(-160, 160, 17), rotated()["rlon"].attrs),
        )
        places = grid(ds)
        np.testing.assert_allclose(places.lat[-1], pole[0], atol=1e-9)
        np.testing.assert_allclose(np.cos(np.radians(places.lon[-1] - pole[1])), 1, atol=1e-9)
        north = ds.assign_coords(
            rlat=("rlat", pole[0] + np.linspace(-5, 5, 11), ds["rlat"].attrs),
            rlon=("rlon", pole[2] + np.linspace(-8, 8, 17), ds["rlon"].attrs),
        )
        np.testing.assert_allclose(grid(north).lat[5, 8], 90, atol=1e-5)
    same = grid(rotated(pole=(90.0, 180.0, 0.0)))
    np.testing.assert_allclose(same.lat[:, 0], np.linspace(-5, 5, 11), atol=1e-12)
    np.testing.assert_allclose(same.lon[0], np.linspace(-8, 8, 17), atol=1e-12)
    with pytest.raises(ValueError, match="grid_north_pole_latitude of the rotated pole is 91, exp"):
        grid(rotated(pole=(91.0, 1.0, 0.0)))


@pytest.mark.parametrize(
    "wrong",
    [
        {"grid_north_pole_latitude": None},
        {"grid_north_pole_longitude": "east"},
        {"north_pole_grid_longitude": "0 degrees"},
        {"grid_north_pole_latitude": np.array([39.0, 40.0])},
    ],
)
def test_a_grid_mapping_without_numbers_is_refused(tmp_path, wrong):
    """The package and the command name the attribute, unless the file has places on the earth."""
    from cubed.remapping import grid

    ((key, value),) = wrong.items()
    ds = rotated()
    if value is None:
        del ds["pole"].attrs[key]
    else:
        ds["pole"].attrs[key] = value
    says = f"the grid mapping of the rotated pole has no number {key}, expected degrees"
    with pytest.raises(ValueError, match=says):
        grid(ds)
    path = tmp_path / "r.nc"
    ds.to_netcdf(path, encoding={v: {"_FillValue": None} for v in ds.variables})
    with pytest.raises(ValueError, match=says):
        grid(path)
    done = run("remap", "r8x4", str(path), str(tmp_path / "o.nc"), "--progress", "none")
    assert done.code != 0 and says in done.err
    places = np.zeros((11, 17))
    earth = ds.assign_coords(lat=(("rlat", "rlon"), places), lon=(("rlat", "rlon"), places))
    assert grid(earth).shape == (11, 17)
