"""Attributes, coordinates and bounds of results, which are kept if they are still correct by the CF
conventions.
"""

import numpy as np
import pytest
import xarray as xr
from conftest import check, run

import zarr

QUIET = ("--progress", "none")
ATTRS = {"units": "K", "long_name": "temperature", "cell_methods": "area: mean"}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("described") / "a.zarr"
    days = np.arange(12)
    t = np.random.default_rng(1).random((12, 4, 5))
    units = {"units": "days since 2001-01-01", "calendar": "noleap"}
    ds = xr.Dataset(
        {
            "t": (("time", "y", "x"), t, {**ATTRS, "valid_min": 0.0, "grid_mapping": "crs"}),
            "crs": ((), 0, {"grid_mapping_name": "rotated_latitude_longitude"}),
            "u": (("time", "y", "x"), t + 1, {"units": "m s-1"}),
            "bare": (("time", "y", "x"), t),
            "packed": (("time", "y", "x"), (t * 100).astype("i2"), {"units": "K"}),
            "time_bnds": (("time", "nv"), np.stack([days, days + 1], 1)),
        },
        coords={
            "time": ("time", days, {**units, "bounds": "time_bnds", "axis": "T"}),
            "y": ("y", np.arange(4.0), {"units": "m"}),
            "lat": (("y", "x"), np.arange(20.0).reshape(4, 5), {"units": "degrees_north"}),
        },
        attrs={"title": "some"},
    )
    ds.to_zarr(path, consolidated=False)
    g = zarr.open_group(path)
    g["packed"].attrs["scale_factor"] = 0.01
    for name in ("u", "bare", "packed"):
        del g[name].attrs["coordinates"]
    return path


def evaluate(text, store, out, *args):
    check(run("eval", "--out", out, "--overwrite", *args, *QUIET, "--", text, store))
    return xr.open_zarr(out, decode_cf=False, consolidated=False)


def without(attrs, name):
    return {k: v for k, v in attrs.items() if k != name}


REDUCED = {**ATTRS, "grid_mapping": "crs"}  # without the dimensions of the coordinate lat
KEPT = {**REDUCED, "coordinates": "lat"}
RESULTS = [
    ("t * 1", KEPT),
    # Numbers may convert units.
    ("2 * t / 3", without(KEPT, "units")),
    ("t * 86400", without(KEPT, "units")),
    ("t + 1 - 2", without(KEPT, "units")),
    ("divide(t, 3.6)", without(KEPT, "units")),
    ("t * -1 + 0", KEPT),
    ("t - 273.15", {**KEPT, "units": "degC"}),
    ("t + -273.15", {**KEPT, "units": "degC"}),
    ("273.15 - t", without(KEPT, "units")),
    ("(t - 273.15) + 273.15", KEPT),
    ("(t - 273.15) * 9 / 5 + 32", without(KEPT, "units")),
    ('set_attrs(t * 1.8 - 459.67, units="degF")', {**KEPT, "units": "degF"}),
    ('set_attrs(-t, comment="a b", n=-3, f=0.5)', {**KEPT, "comment": "a b", "n": -3, "f": 0.5}),
    ("set_attrs(-t, units=None)", without(KEPT, "units")),
    ("-t", KEPT),
    ("+t", {**KEPT, "valid_min": 0.0}),
    ("abs(round(t))", KEPT),
    ("clip(t, 0, 1)", KEPT),
    ("t[2:5]", {**KEPT, "valid_min": 0.0}),
    ("transpose(t)", {**KEPT, "valid_min": 0.0}),
    ("float32(t)", {**KEPT, "valid_min": 0.0}),
    ("t + t", KEPT),
    ("maximum(t, 2)", KEPT),
    ("where(t > 1, t, 0)", KEPT),
    ("concat([t, t], axis=0)", {**KEPT, "valid_min": 0.0}),
    ("t - mean(t, \"time\")", {k: v for k, v in KEPT.items() if k != "cell_methods"}),
    ("mean(t, axis=0)", {**KEPT, "cell_methods": "area: mean time: mean"}),
    ("mean(t, (1, -1))", {**REDUCED, "cell_methods": "area: mean y: x: mean"}),
    ("nanmax(t)", {**REDUCED, "cell_methods": "area: mean time: y: x: maximum"}),
    ("min(u, dim=\"x\")", {"units": "m s-1", "cell_methods": "x: minimum"}),
    ("sum(t[0], axis=0)", {**REDUCED, "cell_methods": "area: mean y: sum"}),
    ("std(u, \"x\")", {"units": "m s-1", "cell_methods": "x: standard_deviation"}),
    ("var(u, \"x\")", {"units": "(m s-1)2", "cell_methods": "x: variance"}),
    (
        'var(set_attrs(t, units="degrees_Celsius"))',
        {**REDUCED, "units": "K2", "cell_methods": "area: mean time: y: x: variance"},
    ),
    ("var(t)", {**REDUCED, "units": "K2", "cell_methods": "area: mean time: y: x: variance"}),
    ("median(u, axis=0)", {"units": "m s-1", "cell_methods": "time: median"}),
    ("quantile(u, 0.5, axis=0)", {"units": "m s-1"}),
    ("groupby(u, arange(12) // 6, \"mean\")", {"units": "m s-1"}),
    ("mean(reshape(u, (48, 5)), axis=0)", {"units": "m s-1"}),
    # Values of another kind.
    ("t * u", {}),
    ("t * t", {}),
    ("t ** 2", {}),
    ("1 / t", {}),
    ("t > 1", {}),
    ("exp(t)", {}),
    ("argmax(t, axis=0)", {}),
    ("count_nonzero(t)", {}),
    ("prod(u)", {}),
    ("t + u", {}),
    ("t + bare", {}),
    ("-bare", {}),
    ("where(t > 2, bare, bare)", {}),
    # Unchanged elements keep their packing. Computed values have the units of decoded ones.
    ("packed * 1", {"units": "K"}),
    ("mean(packed)", {"units": "K", "cell_methods": "time: y: x: mean"}),
    ("packed[1:]", {"units": "K", "scale_factor": 0.01}),
    ("concat([packed[6:], packed[:6]], axis=0)", {"units": "K", "scale_factor": 0.01}),
    ("concat([packed, t], axis=0)", {"units": "K"}),
    # Times: no sums or spreads of them.
    ("max(time)", {"units": "days since 2001-01-01", "calendar": "noleap", "axis": "T",
                   "cell_methods": "time: maximum"}),
    ("sum(time)", {}),
    ("time - 1", {}),
    ("std(time)", {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "attrs"), RESULTS)
def test_attributes(store, tmp_path, text, attrs):
    got = evaluate(text, store, tmp_path / "o")
    name = next(n for n in ("result", "t", "packed", "u", "bare") if n in got)
    assert {k: v for k, v in got[name].attrs.items() if k != "_FillValue"} == attrs


def test_packed_values_that_are_not_decoded_are_in_no_units(store, tmp_path):
    got = evaluate("packed * 1; mean(packed)", store, tmp_path / "o", "--raw")
    assert got.result.attrs == got.result2.attrs == {}
    got = evaluate("packed[1:]", store, tmp_path / "p", "--raw")
    assert got.packed.attrs == {"units": "K", "scale_factor": 0.01}


def test_attributes_of_names(store, tmp_path):
    got = evaluate('a = t[1:3]; _b = a * 2; c = mean(_b, "x"); d = c - c', store, tmp_path / "o")
    assert got.c.attrs["cell_methods"] == "area: mean x: mean"
    np.testing.assert_equal(got.d.attrs, got.c.attrs)
    assert got.a.attrs["valid_min"] == 0 and got.attrs["title"] == "some"


@pytest.mark.parametrize(
    ("index", "part"),
    [("2:5", slice(2, 5)), ("::3", slice(None, None, 3)), ("::-1", slice(None, None, -1)),
     ("-2:", slice(-2, None)), ("4:4", slice(4, 4)), ("7:1:-2", slice(7, 1, -2))],
)  # fmt: skip
def test_coordinates_of_slices(store, tmp_path, index, part):
    whole = xr.open_zarr(store, decode_cf=False, consolidated=False)
    got = evaluate(f"a = t[{index}]; b = u[{index}] * 2", store, tmp_path / "o")
    np.testing.assert_array_equal(got.a, whole.t[part])
    np.testing.assert_array_equal(got.time, whole.time[part])
    np.testing.assert_array_equal(got.time_bnds, whole.time_bnds[part])
    assert got.time.attrs == whole.time.attrs
    np.testing.assert_array_equal(got.lat, whole.lat)
    # Slices of slices, and of other axes.
    if part == slice(2, 5):
        got = evaluate("_a = t[2:10]; _a[::2, 1:, 0] + _a[::2, 1:, 1]", store, tmp_path / "p")
        np.testing.assert_array_equal(got.time, whole.time[2:10:2])
        np.testing.assert_array_equal(got.y, whole.y[1:])
        assert "lat" not in got and "x" not in got.t.dims


def test_coordinates_of_elements_that_are_repeated(store, tmp_path):
    whole = xr.open_zarr(store, decode_cf=False, consolidated=False)
    for text in ("t - t[:1]", "t[:1] - t", "t / mean(t[2:], 0, keepdims=True)"):
        got = evaluate(text, store, tmp_path / "o")
        np.testing.assert_array_equal(got.time, whole.time)
    got = evaluate("a = t[3:5] - t[:1]; b = t[:1] - t[3:5]", store, tmp_path / "p")
    np.testing.assert_array_equal(got.time, whole.time[3:5])
    got = evaluate("mean(t[2:], 0, keepdims=True)", store, tmp_path / "q")
    assert got.t.shape == (1, 4, 5) and "time" not in got.variables


@pytest.mark.parametrize(
    "text",
    ["t[1:] - t[:-1]", "a = t[:3]; b = t[3:6]", "t[:6] + bare[6:]", 'roll(t, 1, dim="time")',
     "t[1:] * arange(11)[:, None, None] + t[:-1]"],
)  # fmt: skip
def test_coordinates_that_no_longer_hold(store, tmp_path, text):
    got = evaluate(text, store, tmp_path / "o")
    assert "time" not in got.variables and "time_bnds" not in got.variables
    assert "y" in got.variables


@pytest.mark.parametrize(
    ("text", "of"),
    [('flip(t, "time")', range(11, -1, -1)), ("diff(t, axis=0)", range(1, 12)),
     ("concat([t, t[3:5]], axis=0)", [*range(12), 3, 4])],
)  # fmt: skip
def test_coordinates_of_moved_elements(store, tmp_path, text, of):
    """Elements that a function picks keep their times, with units and bounds."""
    whole = xr.open_zarr(store, decode_cf=False, consolidated=False)
    got = evaluate(text, store, tmp_path / "o")
    of = list(of)
    np.testing.assert_array_equal(got.time, whole.time[of])
    np.testing.assert_array_equal(got.time_bnds, whole.time_bnds[of])
    assert got.time.attrs == whole.time.attrs


def test_results_without_a_name_stand_in_a_group(store, tmp_path):
    for args in ([str(store)], ["--in", f"t={store}::t"], ["--in", f"t={store}::t", "--decode"]):
        out = tmp_path / f"o{len(args)}.zarr"
        check(run("eval", "t * 2", *args, "--out", out, *QUIET))
        ds = xr.open_zarr(out)
        assert ds.t.dims == ("time", "y", "x") and {"time", "y", "lat"} <= set(ds.variables)
        assert ds.time.values[0].isoformat() == "2001-01-01T00:00:00"
    # A path names the array itself; what came from no group makes none.
    check(run("eval", "t * 2", store, "--out", f"{tmp_path / 'p.zarr'}::deep/t", *QUIET))
    assert zarr.open_array(tmp_path / "p.zarr/deep/t").shape == (12, 4, 5)
    check(run("eval", "arange(4)", "--out", tmp_path / "q.zarr", *QUIET))
    check(run("eval", "a * 2", "--in", f"a={tmp_path / 'q.zarr'}", "--out", tmp_path / "r.zarr"))
    assert zarr.open_array(tmp_path / "r.zarr")[...].tolist() == [0, 2, 4, 6]
    # What is an array stays one where it is replaced.
    check(run("eval", "t * 2", store, "--out", tmp_path / "r.zarr", "--overwrite", *QUIET))
    assert zarr.open_array(tmp_path / "r.zarr").shape == (12, 4, 5)


def test_other_containers(store, tmp_path):
    check(run("eval", "monmean(t[2:8])", store, "--out", tmp_path / "r.nc", *QUIET))
    with xr.open_dataset(tmp_path / "r.nc") as ds:
        assert ds.t.attrs["cell_methods"] == "area: mean time: mean"
        assert str(ds.time.values[0]).startswith("2001-01-01")
    check(run("eval", "t[2:8]", store, "--out", tmp_path / "r.zip", *QUIET))
    ds = xr.open_zarr(zarr.storage.ZipStore(tmp_path / "r.zip", mode="r"), consolidated=False)
    assert ds.sizes["time"] == 6 and ds.t.attrs["units"] == "K"
    check(run("eval", "t[2:8]", store, "--format", "2", "--out", tmp_path / "v2", *QUIET))
    ds = xr.open_zarr(tmp_path / "v2")
    assert ds.sizes["time"] == 6 and ds.t.attrs["units"] == "K" and "lat" in ds.variables


def test_resuming_keeps_to_the_group(store, tmp_path):
    args = ["eval", "t * 2", store, "--out", tmp_path / "o", *QUIET]
    check(run(*args))
    assert "an earlier run has completed all tasks" in check(run(*args, "--resume")).err


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("set_attrs(t, _FillValue=3)", "describes how elements are stored"),
        ("set_attrs(t, units=t)", "expected a string in quotes, a number or None"),
        ('set_attrs(t, "degC")', "expected NAME=VALUE"),
        ('set_attrs(units="degC")', "expected an array"),
    ],
)
def test_attributes_that_are_refused(store, text, says):
    failed = run("eval", text, store)
    assert failed.code != 0
    assert says in failed.err
