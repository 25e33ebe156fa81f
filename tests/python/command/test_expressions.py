"""cubed.eval: expressions as text over arrays and places."""

import re

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import check, run

import zarr

SPEC = cubed.Spec(allowed_mem="200MB", reserved_mem="100MB")


@pytest.fixture(scope="module")
def climate(tmp_path_factory):
    """A group: packed t(time, lat), and its coordinates."""
    path = tmp_path_factory.mktemp("eval") / "climate.zarr"
    group = zarr.open_group(path, mode="w")
    time = group.create_array(
        "time", shape=(60,), dtype="f8", dimension_names=["time"],
        attributes={"units": "days since 2001-01-01"},
    )  # fmt: skip
    time[...] = np.arange(60)
    lat = group.create_array("lat", shape=(4,), dtype="f8", dimension_names=["lat"])
    lat[...] = [-45, -15, 15, 45]
    t = group.create_array(
        "t", shape=(60, 4), chunks=(7, 3), dtype="i2", dimension_names=["time", "lat"],
        attributes={"scale_factor": 0.5, "add_offset": 10.0, "units": "K"},
    )  # fmt: skip
    t[...] = np.arange(240).reshape(60, 4)
    return f"{path}::t", np.arange(240).reshape(60, 4) * 0.5 + 10


def test_an_expression_is_an_array():
    u, v = np.arange(12.0).reshape(3, 4), np.linspace(0, 1, 4)
    x = cubed.from_array(u, chunks=2, spec=SPEC)
    out = cubed.eval("mean(u*v, axis=0)", u=x, v=v)
    assert isinstance(out, cubed.Array)
    assert out.spec == SPEC
    np.testing.assert_array_equal(out.compute(), cubed.mean(x * v, axis=0).compute())


def test_statements_are_a_dict():
    x = cubed.arange(5, chunks=2)
    out = cubed.eval("_a = x + 1; b = _a * 2; x; c, d = unique_counts(x % 2); -x", x=x)
    assert list(out) == ["b", "result", "c", "d", "result2"]
    values = {name: a.compute().tolist() for name, a in out.items()}
    assert values["b"] == [2, 4, 6, 8, 10]
    assert values["d"] == [3, 2]
    assert values["result2"] == [0, -1, -2, -3, -4]
    assert list(cubed.eval("a = x", x=x)) == ["a"]


def test_arrays_keep_their_elements_and_places_are_decoded(climate):
    place, values = climate
    np.testing.assert_array_equal(cubed.eval("t[1]", t=place).compute(), values[1])
    stored = cubed.from_zarr(place)
    assert cubed.eval("t[1]", t=stored).dtype == np.int16


def test_dimensions_and_coordinates_of_places(climate):
    place, values = climate
    np.testing.assert_allclose(
        cubed.eval('mean(t, groupby="time.month")', t=place).compute(),
        [values[:31].mean(0), values[31:59].mean(0), values[59:].mean(0)],
    )
    np.testing.assert_array_equal(
        cubed.eval('sel(t, time="2001-02-01", lat=(-20, 20))', t=place).compute(),
        values[31:32, 1:3],
    )
    given = cubed.from_zarr(place.replace("::t", "::time"))
    by_array = cubed.eval('max(t, dim="time") + 0 * max(time)', t=place, time=given)
    np.testing.assert_array_equal(by_array.compute(), values.max(0))


def test_the_command_has_the_same_bits(climate):
    place, _ = climate
    text = 'x = std(t, dim="time"); y = quantile(t, 0.3, axis=1)'
    command = check(run("eval", text, "--in", f"t={place}", "--json")).arrays()
    for name, x in cubed.eval(text, t=place).items():
        assert x.compute().tobytes() == command[name].tobytes()


def test_shapes_that_depend_on_values():
    x = cubed.from_array(np.arange(20) % 7, chunks=6, spec=SPEC)
    picked = cubed.eval("compress(x, x > 3)", x=x)
    assert picked.shape == (8,)
    np.testing.assert_array_equal(picked.compute(), (np.arange(20) % 7)[np.arange(20) % 7 > 3])
    times = cubed.from_array(np.arange(20) % 4, chunks=7, spec=SPEC)
    repeated = cubed.eval("repeat(x, times)", x=x, times=times)
    np.testing.assert_array_equal(
        repeated.compute(), np.repeat(np.arange(20) % 7, np.arange(20) % 4)
    )


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_objects_of_python_are_read(executor):
    """Also where labels are read while the expression is built."""

    class Slow:
        shape, dtype, chunks = (6,), np.dtype("i8"), (2,)

        def __getitem__(self, key):
            return np.arange(6)[key] // 2

    labels = cubed.from_array(Slow())
    x = cubed.from_array(np.arange(6.0), chunks=4)
    out = cubed.eval("mean(x, groupby=g)", x=x, g=labels)
    if executor == "threads":
        assert out.compute(executor=executor).tolist() == [0.5, 2.5, 4.5]
    assert out.shape == (3,)


def test_a_refused_plan_says_what_other_memory_would_do():
    """Functions that are cut for the memory of tasks are made again for another allowed_mem."""
    small = cubed.Spec(allowed_mem=100_001_000, reserved_mem="100MB")
    x = cubed.random.random((3000, 3000), chunks=(3000, 100), seed=1, spec=small)
    said = []
    for made in (cubed.median(x, axis=1), cubed.eval("median(x, axis=1)", x=x)):
        with pytest.raises(MemoryError, match="allow at least") as refused:
            cubed.plan(made)
        said.append(re.findall(r"allow at least (\d+) bytes", str(refused.value)))
    assert said[0] == said[1]


@pytest.mark.parametrize(
    ("text", "arrays", "error", "message"),
    [
        ("u +", {"u": [1]}, ValueError, "eval: at column 4: the expression ends too early"),
        ("u + w", {"u": np.ones(2)}, ValueError, 'unknown name "w".*arrays here: u'),
        ("1 + w", {}, ValueError, 'unknown name "w".*arrays here: none'),
        ("u", {"u": np.ones(2), "v": np.ones(2)}, ValueError, 'does not use the array "v"'),
        ("a = u; a = u", {"u": np.ones(2)}, ValueError, '"a" has two values'),
        ("_a = u", {"u": np.ones(2)}, ValueError, "every name begins with _"),
        ("u", {"u": [1, 2]}, TypeError, r"u is \[1, 2\], expected an array"),
        ("u", {"u": "/nowhere.zarr"}, FileNotFoundError, "nowhere"),
        ("mean(u, axis=3)", {"u": np.ones(2)}, IndexError, "eval: at column 14"),
        ("nosuch(u)", {"u": np.ones(2)}, ValueError, 'unknown function "nosuch"'),
        ("u\0", {"u": np.ones(2)}, ValueError, "null character"),
    ],
)  # fmt: skip
def test_errors(text, arrays, error, message):
    with pytest.raises(error, match=message):
        cubed.eval(text, **arrays)


def test_errors_of_objects_are_their_own():
    class Broken:
        shape, dtype, chunks = (6,), np.dtype("i8"), (2,)

        def __getitem__(self, key):
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        cubed.eval("mean(x, groupby=g)", x=np.ones(6), g=cubed.from_array(Broken()))


# --- Objects of Xarray ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def months():
    """t(time, lat) in memory: a year of days."""
    time = np.arange("2001-01-01", "2002-01-01", dtype="M8[D]").astype("M8[ns]")
    data = np.arange(time.size * 3.0).reshape(-1, 3)
    return xr.DataArray(data, {"time": time, "lat": [-30.0, 0, 30]}, ("time", "lat"), name="t")


def test_objects_of_xarray_have_dimensions_and_coordinates(months):
    t = months.chunk(time=50, lat=2, chunked_array_type="cubed", from_array_kwargs={"spec": SPEC})
    with cubed.raise_if_computes():
        out = cubed.eval('a = monmean(t); b = mean(t, dim="lat"); c = sel(t, lat=(-10, 40))', t=t)
    assert all(type(x) is cubed.Array and x.spec == SPEC for x in out.values())
    np.testing.assert_allclose(out["a"].compute(), months.resample(time="MS").mean())
    np.testing.assert_array_equal(out["b"].compute(), months.mean("lat"))
    np.testing.assert_array_equal(out["c"].compute(), months.sel(lat=slice(-10, 40)))
    for x in (t.variable, months, months.variable):  # names without labels; elements in memory
        got = cubed.eval('mean(t, dim="time")', t=x).compute()
        np.testing.assert_array_equal(got, months.mean("time"))
    assert cubed.eval("t + 1", t=months[0, 0]).compute() == 1
    assert cubed.eval("t + 1", t=months[:0]).compute().shape == (0, 3)
    site = xr.DataArray([1.0, 2], {"site": ["a", "bc"]}, ["site"])
    assert cubed.eval('sel(v, site="bc")', v=site).compute() == 2


def test_objects_of_xarray_in_files_are_not_read(months, tmp_path):
    months.to_dataset().to_netcdf(tmp_path / "t.nc")
    with xr.open_dataset(tmp_path / "t.nc") as ds:
        assert not ds.t.variable._in_memory
        x = cubed.eval('mean(t, dim="time")', t=ds.t)
        assert not ds.t.variable._in_memory
        np.testing.assert_array_equal(x.compute(), months.mean("time"))


@pytest.mark.parametrize(
    ("text", "arrays", "error", "message"),
    [
        ("t * w", {"w": lambda t: t[0]}, None, None),
        ("t[:3] * w", {"w": lambda t: t[:3, 0].drop_vars("time")}, ValueError,
         r'column 7: .*dimension "lat" of one is aligned with "time" of another: move axes'),
        ("maximum(t[:3], w)", {"w": lambda t: t[:3, 0].drop_vars("time")}, ValueError,
         '"lat" of one is aligned with "time"'),
        ("t[:3] * w[:, None]", {"w": lambda t: t[:3, 0].drop_vars("time")}, None, None),
        ("t + w", {"w": lambda t: t.assign_coords(lat=[0, 1, 2])}, ValueError,
         'the coordinate "lat" of w differs from that of t: align them'),
        ("t + w", {"w": lambda t: t.to_dataset(name="w")}, TypeError, "w: .*Dataset"),
        ("t + w", {"w": lambda t: t.astype(object)}, TypeError, "w holds Python objects"),
        ("t + w", {"w": lambda t: t.chunk()}, TypeError, "w: .*dask"),
    ],
)  # fmt: skip
def test_objects_of_xarray_meet_by_position(months, text, arrays, error, message):
    given = {"t": months} | {name: make(months) for name, make in arrays.items()}
    if error is None:
        assert cubed.eval(text, **given).compute().shape[1] == 3
        return
    with pytest.raises(error, match=message):
        cubed.eval(text, **given)


def test_a_star_import_keeps_pythons_eval():
    names = {}
    exec("from cubed import *", names)
    assert "mean" in names and names.get("eval") is not cubed.eval
