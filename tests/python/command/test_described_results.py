"""Names, coordinates, bounds and references of results are correct for the result."""

import netCDF4
import numpy as np
import pytest
import xarray as xr
from conftest import check, run
from web_server import serve

import zarr

TIME = np.arange(6) + 0.5


@pytest.fixture
def source(tmp_path):
    """A file whose variable v refers to others, one of which does not exist."""
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as d:
        for name, n in {"time": 6, "lat": 4, "lon": 3, "bnds": 2}.items():
            d.createDimension(name, n)

        def add(name, dtype, dims, values, **attrs):
            v = d.createVariable(name, dtype, dims)
            v.setncatts(attrs)
            v[...] = values

        cells = np.stack([TIME - 0.5, TIME + 0.5], 1)
        units = "days since 2000-01-01"
        add("time", "f8", ("time",), TIME, units=units, bounds="time_bounds")
        add("time_bounds", "f8", ("time", "bnds"), cells)
        add("lat", "f4", ("lat",), [10, 20, 30, 40], units="degrees_north")
        add("lon", "f4", ("lon",), [1, 2, 3], units="degrees_east")
        add("crs", "i4", (), 0, grid_mapping_name="latitude_longitude")
        add("area", "f4", ("lat", "lon"), np.arange(12).reshape(4, 3), units="m2")
        add("quality", "i1", ("time", "lat", "lon"), 1, grid_mapping="crs")
        add(
            "v",
            "f4",
            ("time", "lat", "lon"),
            np.random.default_rng(0).normal(size=(6, 4, 3)),
            units="K",
            grid_mapping="crs",
            ancillary_variables="quality",
            cell_measures="area: area volume: thickness",
            cell_methods="time: mean",
        )
    return path


def evaluate(source, out, *expressions):
    """Returns what the command made, with all values as they are stored."""
    check(run("eval", "; ".join(expressions), source, "--out", out, "--overwrite"))
    if out.suffix == ".nc":
        with xr.open_dataset(out, decode_cf=False) as d:
            return d.load()
    return xr.open_zarr(out, decode_cf=False).load()


@pytest.mark.parametrize("suffix", [".nc", ".zarr"])
@pytest.mark.parametrize(
    ("expression", "carried", "attrs"),
    [
        ("r=v[:3]", {"crs", "area", "quality"}, {"ancillary_variables": "quality"}),
        ("r=v*2", {"crs", "area"}, {}),
        ("r=mean(v, dim='lon')", {"crs"}, {"cell_measures": None}),
        ("r=v[:, :, 0]", {"crs"}, {"cell_measures": None, "ancillary_variables": None}),
        # Values in another order: flags of their old places would be wrong.
        ("r=sort(v, axis=0)", {"crs", "area"}, {"ancillary_variables": None}),
        ("r=roll(v, 1, axis=1)", {"crs"}, {"cell_measures": None, "ancillary_variables": None}),
    ],
)
def test_what_a_variable_refers_to(source, tmp_path, suffix, expression, carried, attrs):
    ds = evaluate(source, tmp_path / f"r{suffix}", expression)
    names = set(ds.variables) - {"r", "time", "time_bounds", "lat", "lon"}
    assert names == carried
    want = {"cell_measures": "area: area", "grid_mapping": "crs", **attrs}
    for name, value in want.items():
        assert ds.r.attrs.get(name) == value
    if "area" in carried:
        np.testing.assert_array_equal(ds.area, np.arange(12).reshape(4, 3))
    if "quality" in carried:
        assert ds.quality.shape == ds.r.shape


def test_variables_of_other_files_stay_named(source, tmp_path):
    with netCDF4.Dataset(source, "a") as d:
        d.external_variables = "thickness"
    ds = evaluate(source, tmp_path / "r.nc", "r=v*2")
    assert ds.r.cell_measures == "area: area volume: thickness"


@pytest.mark.parametrize("verb", ["copy", "rechunk"])
def test_a_single_variable_refers_to_nothing(source, tmp_path, verb):
    out = tmp_path / "r.zarr"
    chunks = ["--chunks", "time=2"] if verb == "rechunk" else []
    check(run(verb, f"{source}::v", f"{out}::v", *chunks))
    attrs = dict(zarr.open_array(out / "v").attrs)
    assert attrs["units"] == "K"
    assert not {"grid_mapping", "ancillary_variables", "cell_measures"} & set(attrs)
    # Variables that are there already stay referred to.
    check(run("copy", f"{source}::crs", f"{out}::crs"))
    check(run(verb, f"{source}::v", f"{out}::v", *chunks, "--overwrite"))
    assert zarr.open_array(out / "v").attrs["grid_mapping"] == "crs"
    # The whole group keeps all.
    check(run(verb, source, tmp_path / "all.nc", *chunks))
    with netCDF4.Dataset(tmp_path / "all.nc") as d:
        assert d["v"].cell_measures == "area: area volume: thickness"
        assert d["v"].ancillary_variables == "quality"


def test_grid_mappings_with_coordinates_and_terms_of_formulas(tmp_path):
    path = tmp_path / "a.nc"
    with netCDF4.Dataset(path, "w") as d:
        d.createDimension("lev", 2)
        d.createDimension("y", 3)
        for name, dims in {"lev": ("lev",), "ap": ("lev",), "ps": ("y",), "crs": ()}.items():
            d.createVariable(name, "f4", dims)[...] = 1
        d["lev"].formula_terms = "ap: ap ps: ps"
        v = d.createVariable("v", "f4", ("lev", "y"))
        v.grid_mapping = "crs: y x"
        v[:] = 1
    ds = evaluate(path, tmp_path / "r.nc", "r=v+1")
    assert {"ap", "ps", "crs"} <= set(ds.variables)
    assert ds.lev.formula_terms == "ap: ap ps: ps"
    assert ds.r.grid_mapping == "crs"
    ds = evaluate(path, tmp_path / "r.nc", "r=mean(v, axis=1)")
    assert ds.lev.formula_terms == "ap: ap"
    assert "ps" not in ds.variables


@pytest.mark.parametrize(
    ("expression", "want"),
    [
        ("flip(v, axis=0)", TIME[::-1]),
        ("flip(v)", TIME[::-1]),
        ("flip(flip(v))", TIME),
        ("flip(v[1:4], axis=0)", TIME[3:0:-1]),
        ("flip(v, axis=0) + v", None),
        ("diff(v, axis=0)", TIME[1:]),
        ("diff(flip(v), axis=0, n=2)", TIME[3::-1]),
        ("concat((v, v), axis=0)", np.tile(TIME, 2)),
        ("concat((v[3:], v[:2]), dim='time')", TIME[[3, 4, 5, 0, 1]]),
        ("concat((flip(v), concat((v, v[:1]), axis=0)), axis=0)", [*TIME[::-1], *TIME, TIME[0]]),
        ("concat((sort(v, axis=0), v), axis=0)", None),
        ("concat((v, v), axis=1)", TIME),
        ("sort(v, axis=0)", None),
        ("argsort(v, axis=0)", None),
        ("sort(v, axis=1)", TIME),
        ("take(v, argsort(v[:, 0, 0]), axis=0)", None),
        ("take_along_axis(v, argsort(v, axis=0), axis=0)", None),
        ("pad(v, ((1, 1), (0, 0), (0, 0)))", None),
        ("pad(v, ((0, 0), (1, 1), (0, 0)))", TIME),
        ("mean(v, axis=0, keepdims=True)", None),
        ("nanvar(v, axis=0, keepdims=True)", None),
        ("argmax(v, axis=0, keepdims=True)", None),
        ("median(v, axis=0, keepdims=True)", None),
        ("cumulative_sum(v, axis=0, include_initial=True)", None),
        ("cumulative_sum(v, axis=0)", TIME),
        ("v - sort(v[:1], axis=0)", TIME),
    ],
)
def test_names_and_coordinates(source, tmp_path, expression, want):
    ds = evaluate(source, tmp_path / "r.nc", f"r={expression}")
    assert ds.r.dims == ("time", "lat", "lon")
    assert ("time" in ds.variables) == (want is not None)
    if want is None:
        return
    np.testing.assert_array_equal(ds.time, want)
    bounds = ds[ds.time.attrs["bounds"]]
    np.testing.assert_array_equal(bounds, np.stack([ds.time - 0.5, ds.time + 0.5], 1))


def test_a_moved_dimension_of_one_result_leaves_the_others(source, tmp_path):
    ds = evaluate(source, tmp_path / "r.nc", "a=v", "b=max(sort(v, axis=0), dim='time')")
    np.testing.assert_array_equal(ds.time, TIME)
    ds = evaluate(source, tmp_path / "r.nc", "a=flip(v, axis=0)", "b=flip(v, axis=0) * 2")
    np.testing.assert_array_equal(ds.time, TIME[::-1])


@pytest.mark.parametrize("falls", [False, True])
@pytest.mark.parametrize(
    ("before", "after", "center"), [(2, 0, False), (1, 1, True), (9, 0, False)]
)
def test_windows_have_bounds_and_a_method(source, tmp_path, falls, before, after, center):
    x = "flip(v, axis=0)" if falls else "v"
    window = before + after + 1
    ds = evaluate(
        source,
        tmp_path / "r.nc",
        f"r=rolling({x}, {window}, 'max', dim='time', center={center}, min_periods=1)",
    )
    assert ds.r.cell_methods == "time: mean time: maximum"
    time = TIME[::-1] if falls else TIME
    np.testing.assert_array_equal(ds.time, time)
    cells = [time[max(0, i - before) : i + after + 1] for i in range(6)]
    want = [[c.min() - 0.5, c.max() + 0.5] for c in cells]
    np.testing.assert_array_equal(ds[ds.time.bounds], want)


def test_windows_without_an_axis_and_without_bounds(source, tmp_path):
    ds = evaluate(source, tmp_path / "r.nc", "r=rolling(v[:, 0, 0], 3, 'mean')")
    assert ds.r.cell_methods == "time: mean time: mean"
    ds = evaluate(source, tmp_path / "r.nc", "r=rolling(v, 2, 'sum', dim='lat')")
    assert ds.r.cell_methods == "time: mean lat: sum"
    np.testing.assert_array_equal(ds.lat, [10, 20, 30, 40])
    np.testing.assert_array_equal(ds.time_bounds[:, 0], TIME - 0.5)


def test_coordinates_are_opened_once(tmp_path):
    """Naming a result needs its coordinates, as writing them does."""
    lat = [10.0, 20.0, 30.0, 40.0]
    x = xr.DataArray(np.ones((6, 4)), {"lat": lat}, ("time", "lat"), "v")
    x.to_dataset().to_zarr(tmp_path / "a.zarr", zarr_format=3, consolidated=False)
    with serve(tmp_path) as web:
        source = f"v={web.url}/a.zarr::v"
        check(run("eval", 'mean(v, "time")', "--in", source, "--out", tmp_path / "r.zarr"))
        asked = [path for path, _ in web.asked]
    assert asked.count("/a.zarr/lat/zarr.json") == asked.count("/a.zarr/v/zarr.json")
