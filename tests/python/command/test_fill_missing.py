"""Compares missing elements that are filled from the nearest elements with CDO, and with a search
of all distances.
"""

import shutil
import subprocess

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import check, run

needs_cdo = pytest.mark.skipif(not shutil.which("cdo"), reason="the command cdo is not there")

#: CDO rounds squared distances to single precision.
CDO = {"rtol": 1e-6, "atol": 0}


def positions(lat, lon):
    lat, lon = np.radians(lat), np.radians(lon)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def filled(v, lat, lon, n):
    """The means of a field of cells by all distances, of the first of equally near cells."""
    at = positions(lat, lon)
    there = np.flatnonzero(~np.isnan(v) & np.isfinite(at[:, 0]))
    out = v.copy()
    for i in np.flatnonzero(np.isnan(v)):
        if len(there) == 0 or np.isnan(at[i, 0]):
            continue
        far = np.sqrt(((at[there] - at[i]) ** 2).sum(-1))
        near = np.lexsort((there, far.round(11)))[:n]
        if len(near) == 1 or far[near[0]] < 1e-13:
            out[i] = v[there[near[0]]]
        else:
            out[i] = np.average(v[there[near]], weights=1 / far[near])
    return out


def grid_of(kind, rng):
    """Axes or cells without equal distances, at the poles and on both sides of the date line."""
    if kind == "regular":
        return np.sort(rng.uniform(-90, 90, 9)), np.sort(rng.uniform(-180, 180, 14))
    lat = np.degrees(np.arcsin(rng.uniform(-1, 1, (9, 14))))
    lon = rng.uniform(-180, 180, (9, 14))
    lat[0, 0], lat[-1, -1], lon[3] = 90, -90, np.linspace(170, 190, 14)
    return (lat, lon) if kind == "curvilinear" else (lat.ravel(), lon.ravel())


def cells_of(kind, lat, lon):
    lat, lon = np.meshgrid(lat, lon, indexing="ij") if kind == "regular" else (lat, lon)
    return lat.ravel(), lon.ravel()


def fields(rng, shape):
    """Fields with holes of half, of nearly all, of no and of all cells."""
    v = rng.normal(280, 10, (4, 2, *shape)).astype("f8")
    v[0][rng.random(v[0].shape) < 0.5] = np.nan
    v[1][rng.random(v[1].shape) < 0.98] = np.nan
    v[2, 1] = np.nan
    v[3, 0, ..., :5] = np.nan
    return v


def write(path, kind, lat, lon, v):
    north = {"units": "degrees_north", "standard_name": "latitude"}
    east = {"units": "degrees_east", "standard_name": "longitude"}
    dims = {"regular": ("lat", "lon"), "curvilinear": ("y", "x"), "unstructured": ("cell",)}[kind]
    of_lat, of_lon = (dims[:1], dims[1:]) if kind == "regular" else (dims, dims)
    ds = xr.Dataset(
        {"v": (("time", "lev", *dims), v, {"units": "K"})},
        coords={
            "time": ("time", np.arange(4.0), {"units": "days since 2000-01-01"}),
            "lev": ("lev", [1000.0, 500.0], {"units": "hPa", "axis": "Z"}),
            "lat": (of_lat, lat, north),
            "lon": (of_lon, lon, east),
        },
    )
    if kind == "unstructured":
        ds.v.attrs["CDI_grid_type"] = "unstructured"
    encoding = {name: {"_FillValue": None} for name in ds.variables} | {"v": {"_FillValue": -999.0}}
    ds.to_netcdf(path, format="NETCDF3_CLASSIC", encoding=encoding)


@needs_cdo
@pytest.mark.parametrize("kind", ["regular", "curvilinear", "unstructured"])
def test_equal_to_cdo_and_to_all_distances(tmp_path, kind):
    rng = np.random.default_rng(5)
    lat, lon = grid_of(kind, rng)
    shape = (len(lat), len(lon)) if kind == "regular" else lat.shape
    v = fields(rng, shape)
    write(tmp_path / "a.nc", kind, lat, lon, v)
    for words, n in (("setmisstonn", 1), ("setmisstodis", 4), ("setmisstodis,2", 2)):
        out = tmp_path / "got.nc"
        check(run(words, tmp_path / "a.nc", out, "--overwrite", "--progress", "none"))
        command = ["cdo", "-s", "-O", "-b", "F64", words, "a.nc", "want.nc"]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
        with xr.open_dataset(out) as a, xr.open_dataset(tmp_path / "want.nc") as b:
            got, want = a.v.values, b.v.values
            assert a.v.attrs["units"] == "K"
        np.testing.assert_allclose(got, want, **CDO, err_msg=words)
        flat = v.reshape(8, -1)
        cells = cells_of(kind, lat, lon)
        exact = np.stack([filled(field, *cells, n) for field in flat]).reshape(v.shape)
        np.testing.assert_allclose(got, exact, rtol=1e-12, err_msg=words)
        assert np.isnan(got[2, 1]).all()
        assert np.isnan(got).sum() == got[2, 1].size


def test_in_any_order_of_dimensions(tmp_path):
    rng = np.random.default_rng(6)
    lat, lon = grid_of("regular", rng)
    v = fields(rng, (9, 14))
    write(tmp_path / "a.nc", "regular", lat, lon, v)
    with xr.open_dataset(tmp_path / "a.nc", decode_times=False) as ds:
        ds.load().transpose("lon", "time", "lat", "lev").to_netcdf(tmp_path / "b.nc")
    got = [
        check(
            run("eval", "r = setmisstodis(v, 3)", tmp_path / name, "--json", "--progress", "none")
        )
        for name in ("a.nc", "b.nc")
    ]
    a, b = (np.array(x.arrays()["r"], "f8") for x in got)
    assert b.shape == (14, 4, 9, 2)
    np.testing.assert_array_equal(a, b.transpose(1, 3, 2, 0))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
@pytest.mark.parametrize("chunks", [(2, 9, 14), (3, 4, 5), (1, 9, 3)])
def test_equal_with_any_chunks(dtype, chunks):
    """Equally near cells, repeated centres at a pole, and values of all types."""
    lat, lon = np.linspace(-90, 90, 9), np.linspace(0, 360, 14, endpoint=False)
    rng = np.random.default_rng(7)
    v = rng.integers(0, 99, (5, 9, 14)).astype(dtype)
    v[rng.random(v.shape) < 0.6] = np.nan
    for n in (1, 4, 64):
        x = cubed.from_array(v, chunks=chunks)
        got = cubed.setmisstodis(x, lat, lon, n)
        assert got.dtype == v.dtype
        got = got.compute()
        cells = cells_of("regular", lat, lon)
        want = np.stack([filled(f.ravel().astype("f8"), *cells, n) for f in v]).reshape(v.shape)
        np.testing.assert_allclose(got, want.astype(dtype), rtol=2e-3 if dtype == "f2" else 2e-7)
        if n == 1:
            again = cubed.setmisstonn(x, lat=lat, lon=lon).compute()
            np.testing.assert_array_equal(got, again)
            np.testing.assert_array_equal(got, want)


def axes():
    """Axes of regular grids: around the earth, of parts of it, in both orders, and unsorted."""
    rng = np.random.default_rng(8)
    return {
        "global": (np.linspace(90, -90, 31), np.arange(0, 360, 5.0)),
        "closed": (np.linspace(-90, 90, 19), np.linspace(0, 360, 73)),
        "westwards": (np.linspace(-88, 88, 45), np.linspace(180, -175, 72)),
        "across zero": (np.linspace(-80, 80, 33), np.linspace(330, 400, 70)),
        "repeated": (np.repeat(np.linspace(0, 60, 7), 3), np.repeat(np.linspace(0, 350, 36), 2)),
        "uneven": (np.sort(rng.uniform(-90, 90, 30)), np.sort(rng.uniform(-180, 180, 131))),
        "unsorted": (rng.uniform(-90, 90, 20), rng.uniform(-180, 180, 40)),
        "two turns": (np.linspace(-60, 60, 20), np.arange(0, 720, 12.0)),
        "one row": (np.array([45.0]), np.arange(0, 360, 2.5)),
        "one column": (np.linspace(-90, 90, 91), np.array([5.0])),
    }


@pytest.mark.parametrize("name", axes())
def test_cells_of_regular_grids_are_found_as_those_of_any_grid(name):
    """Searches by rows find the cells that searches of a tree find, also in large gaps."""
    lat, lon = axes()[name]
    rng = np.random.default_rng(9)
    v = rng.normal(size=(5, len(lat), len(lon)))
    for share, field in zip((0.3, 0.98), v, strict=False):
        field[rng.random(field.shape) < share] = np.nan
    v[2, len(lat) // 5 : -len(lat) // 6, len(lon) // 6 :] = np.nan
    v[3, : len(lat) // 2 + 1] = np.nan
    v[4].flat[:-1] = np.nan
    cells = [np.ascontiguousarray(a) for a in np.broadcast_arrays(lat[:, None], lon)]
    for n in (1, 4, 9):
        got = cubed.setmisstodis(v, lat, lon, n).compute()
        want = cubed.setmisstodis(v, *cells, n).compute()
        np.testing.assert_array_equal(got, want, err_msg=f"{n} neighbours")


def test_cells_without_coordinates_stay_missing():
    nan = np.nan
    lat, lon = np.array([0.0, nan, 10, 20, 30]), np.array([0.0, 0, 0, nan, 0])
    x = cubed.asarray([[1.0, 2, nan, nan, nan], [nan, 2, nan, 5, nan]])
    got = cubed.setmisstonn(x, lat=lat, lon=lon, unstructured=True).compute()
    np.testing.assert_array_equal(got, [[1, 2, 1, nan, 1], [nan, 2, nan, 5, nan]])


def test_integers_stay_as_they_are():
    x = cubed.asarray([[1, 2], [3, 4]])
    got = cubed.setmisstodis(x, lat=[0, 1], lon=[0, 1])
    assert got.dtype == x.dtype
    np.testing.assert_array_equal(got.compute(), [[1, 2], [3, 4]])


def test_memory_is_bounded(tmp_path):
    """Sixteen fields of 3 MB, of which few cells are missing, in tasks of 60 MB."""
    lat, lon = np.linspace(-89.9, 89.9, 600), np.arange(0, 360, 0.6)
    spec = cubed.Spec(tmp_path, allowed_mem="60MB", reserved_mem=0)
    one = cubed.random.random((16, 600, 600), chunks=(4, 600, 600), spec=spec)
    x = cubed.where(one < 0.02, np.nan, one)
    y = cubed.setmisstonn(x, lat=lat, lon=lon)
    assert y.plan().max_projected_mem <= 60_000_000
    assert not np.isnan(y.compute()).any()
    small = cubed.Spec(tmp_path, allowed_mem="10MB", reserved_mem=0)
    x = cubed.zeros((600, 600), chunks=(600, 600), spec=small)
    with pytest.raises(ValueError, match="allow at least"):
        cubed.setmisstonn(x, lat=lat, lon=lon).compute()


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda x: cubed.setmisstodis(x, [0, 1], [0, 1, 2], 65), ValueError, "setmisstodis: .*65"),
        (lambda x: cubed.setmisstodis(x, [0, 1], [0, 1, 2], 0), ValueError, "0"),
        (
            lambda x: cubed.setmisstonn(x, lat=[0, 1, 2], lon=[0, 1]),
            ValueError,
            r"setmisstonn: .*\(2, 3\), lat",
        ),
        (lambda x: cubed.setmisstonn(x[0], lat=[0, 1, 2], lon=[0, 1]), ValueError, "expected"),
        (
            lambda x: cubed.setmisstonn(x * 1j, lat=[0, 1], lon=[0, 1, 2]),
            TypeError,
            "setmisstonn: x is comp",
        ),
        (
            lambda x: cubed.setmisstonn(x, lat=[0, 95], lon=[0, 1, 2]).compute(),
            ValueError,
            "setmisstonn: latitude 1 is 95, expected degrees from -90 to 90",
        ),
        (
            lambda x: cubed.setmisstonn(x, lat=[0, 1], lon=[0, 1, 3700]).compute(),
            ValueError,
            "longitude 2 is 3700, expected degrees from -3600 to 3600",
        ),
    ],
)
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(cubed.asarray([[1.0, np.nan, 3], [4, 5, 6]]))


def test_errors_of_expressions(tmp_path):
    lat, lon = grid_of("regular", np.random.default_rng(8))
    write(tmp_path / "a.nc", "regular", lat, lon, np.ones((4, 2, 9, 14)))
    for text, words in (
        ("setmisstonn(v[0, 0, 0])", "found no coordinates of latitude and longitude"),
        ("setmisstonn(v, 2)", "setmisstonn"),
        ("setmisstodis(v, 2, neighbours=3)", "neighbours is given twice"),
        ("setmisstodis(v, 99)", "setmisstodis: neighbours is 99"),
    ):
        got = run("eval", text, tmp_path / "a.nc", "--json", "--progress", "none")
        assert got.code != 0
        assert words in got.err, text
