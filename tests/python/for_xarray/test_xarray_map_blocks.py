"""xarray.map_blocks on lazy arrays: functions on Xarray's objects, block by block."""

import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr

TIME = pd.date_range("2000-01-01", periods=20, freq="D")
CHUNKS = {"time": 6, "x": 3}


@pytest.fixture
def eager():
    rng = np.random.default_rng(0)
    return xr.Dataset(
        {
            "a": (("time", "x"), rng.normal(size=(20, 7)), {"units": "m"}),
            "b": ("x", np.arange(7)),
        },
        coords={
            "time": TIME,
            "x": np.arange(7) * 10,
            "area": ("x", np.linspace(0, 1, 7)),
            "height": 2.0,
        },
        attrs={"title": "t"},
    )


@pytest.fixture
def lazy(eager, tmp_path):
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="50MB", reserved_mem="10MB")
    return eager.chunk(CHUNKS, chunked_array_type="cubed", from_array_kwargs={"spec": spec})


@pytest.fixture(autouse=True)
def _default_manager():
    with xr.set_options(chunk_manager="cubed"):
        yield


def only_numpy(x):
    """What needs arrays in memory, of no more than a chunk."""
    variables = x.data_vars.values() if isinstance(x, xr.Dataset) else [x]
    for v in variables:
        assert isinstance(v.data, np.ndarray)
        assert v.sizes.get("time", 0) <= 6 and v.sizes.get("x", 0) <= 3
    return x


def check(result, expected):
    variables = result.data_vars if isinstance(result, xr.Dataset) else {"": result}
    assert all(isinstance(v.variable._data, cubed.Array) for v in variables.values())
    result = result.compute()
    xr.testing.assert_allclose(result, expected)
    assert result.attrs == expected.attrs and list(result.coords) == list(expected.coords)


def test_arrays_and_data_sets(lazy, eager):
    def double(x):
        return only_numpy(x) * 2

    with xr.set_options(keep_attrs=True):
        check(xr.map_blocks(double, lazy.a), (eager.a * 2))
        check(lazy.a.map_blocks(double), (eager.a * 2))
        check(lazy.map_blocks(double), eager * 2)


def test_coordinates_come_with_their_blocks(lazy, eager):
    def from_coordinates(x):
        return x * 0 + x.time.dt.dayofyear + x.x + x.area + x.height

    check(lazy.a.map_blocks(from_coordinates), from_coordinates(eager.a))


def test_more_objects_and_values(lazy, eager):
    def combine(x, y, n, ds, factor=1):
        assert x.sizes == y.sizes and isinstance(ds, xr.Dataset)
        return (x + y * n + ds.b) * factor

    result = xr.map_blocks(combine, lazy.a, [lazy.a + 1, 3, lazy], {"factor": 2})
    check(result, combine(eager.a, eager.a + 1, 3, eager, factor=2))


def test_dimensions_that_go_and_come(lazy, eager):
    check(
        lazy.a.chunk(time=-1).map_blocks(lambda x: x.mean("time")),
        eager.a.mean("time"),
    )
    with pytest.raises(ValueError, match="no dimension 'time', which is in 4 chunks"):
        lazy.a.map_blocks(lambda x: x.mean("time"))
    check(
        lazy.a.map_blocks(lambda x: x.expand_dims(k=[1, 2])),
        eager.a.expand_dims(k=[1, 2]),
    )
    check(
        lazy.map_blocks(lambda d: d.assign(c=d.b * 2, new=d.a.astype("f4"))),
        eager.assign(c=eager.b * 2, new=eager.a.astype("f4")),
    )


def test_new_coordinates_are_lazy(lazy, eager):
    result = lazy.a.map_blocks(lambda x: x.assign_coords(twice=x.area * 2))
    assert isinstance(result.twice.variable._data, cubed.Array)
    check(result, eager.a.assign_coords(twice=eager.area * 2))


def test_templates(lazy, eager):
    def first_of_each(x):
        return only_numpy(x).isel(x=slice(0, 1)) if x.size else 1 / 0

    with pytest.raises(ValueError, match="cannot be found by a call .* give a template"):
        lazy.a.map_blocks(first_of_each)
    template = lazy.a.isel(x=[0, 3, 6]).chunk(x=1)
    expected = eager.a.isel(x=[0, 3, 6])
    check(lazy.a.map_blocks(first_of_each, template=template), expected)
    check(
        lazy.a.map_blocks(
            lambda x: (x * 2).to_dataset(name="c"), template=lazy[["a"]].rename(a="c")
        ),
        (eager[["a"]] * 2)
        .rename(a="c")
        .map(lambda v: v.assign_attrs(units="m"))
        .assign_attrs(title="t"),
    )
    with pytest.raises(ValueError, match="has 3 chunks of 7 along 'time', expected 4"):
        lazy.a.map_blocks(lambda x: x, template=lazy.a.chunk(time=7))
    wrong = lazy.a.map_blocks(lambda x: x.to_dataset(name="d"), template=lazy[["a"]])
    with pytest.raises(ValueError, match="unexpected data variables {'d'}"):
        wrong.compute()


def test_what_is_refused(lazy):
    with pytest.raises(TypeError, match="the result is a int"):
        lazy.a.map_blocks(lambda x: 1)
    with pytest.raises(TypeError, match="y is lazy: pass it in args"):
        lazy.a.map_blocks(lambda x, y: x, kwargs={"y": lazy.a})
    with pytest.raises(ValueError, match="chunks of 6 and of 5: unify_chunks first"):
        xr.map_blocks(lambda x, y: x, lazy.a, [lazy.a.chunk(time=5)])
    with pytest.raises(ValueError, match="align"):
        xr.map_blocks(lambda x, y: x, lazy.a, [lazy.a.isel(x=slice(3))])


def test_other_arrays_are_xarrays_own(eager):
    result = eager.a.map_blocks(lambda x: x * 2)
    assert isinstance(result.data, np.ndarray)
    with xr.set_options(chunk_manager="dask"):
        dask = eager.a.drop_vars("area").chunk(CHUNKS).map_blocks(lambda x: x * 2)
    assert type(dask.data).__module__.startswith("dask")


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_calls_are_of_blocks(eager, executor, tmp_path):
    # Xarray itself is in what a worker process may use.
    spec = cubed.Spec(work_dir=tmp_path, allowed_mem="300MB", reserved_mem="250MB")
    lazy = eager.chunk(CHUNKS, chunked_array_type="cubed", from_array_kwargs={"spec": spec})

    def count(x):
        return x * 0 + x.size

    result = lazy.a.map_blocks(count)
    assert result.data.plan().num_tasks == 12
    values = result.data.compute(executor=executor)
    assert values[0, 0] == 18 and values[-1, -1] == 2


def test_coordinates_that_the_function_changes(eager, lazy):
    """Their values and attributes are the function's, those that it passes on the arguments'."""
    height = np.arange(eager.sizes["x"], dtype=float)

    def with_height(ds):
        return ds.assign_coords(height=("x", height), kept=("x", height + 1))

    def change(ds):
        ds = ds.assign_coords(height=ds.height * 2)
        ds.height.attrs["units"] = "m"
        ds.kept.attrs["new"] = 1
        return ds

    eager, lazy = with_height(eager), with_height(lazy)
    lazy = lazy.assign_coords(height=lazy.height.variable.chunk(x=3))
    with cubed.raise_if_computes():
        got = xr.map_blocks(change, lazy)
    assert got.kept.variable._in_memory
    xr.testing.assert_identical(got.compute(), change(eager))


def test_names_that_a_template_lacks(lazy):
    for change, message in (
        (lambda ds: ds.assign_coords(new=1), "unexpected coordinate variables {'new'}"),
        (lambda ds: ds.assign(new=1), "unexpected data variables {'new'}"),
        (lambda ds: ds.drop_vars("time"), "no coordinate variables {'time'}, expected"),
    ):
        with pytest.raises(ValueError, match=message):
            xr.map_blocks(change, lazy, template=lazy).compute()


# --- Coordinates beside Dask's --------------------------------------------------------------------


def where_there_are_elements(change):
    """Most functions that cannot be called with objects without elements return those unchanged."""
    return lambda x: change(x) if x.size else x


def reversed_area(x):
    return x.assign_coords(area=("x", x.area.values[::-1]), lazy=("x", x.lazy.values[::-1]))


CHANGES = {
    "unchanged": lambda x: x * 1,
    "sortby": lambda x: x.sortby("x", ascending=False),
    "flip": lambda x: x.isel(x=slice(None, None, -1)),
    "roll": where_there_are_elements(lambda x: x.roll(x=1, roll_coords=True)),
    "roll of values": where_there_are_elements(lambda x: x.roll(x=1, roll_coords=False)),
    "interp": where_there_are_elements(
        lambda x: x.interp(time=x.time.values + np.timedelta64(1, "h"))
    ),
    "new labels": lambda x: x.assign_coords(x=x.x + 1),
    "new dimension": lambda x: x.expand_dims(k=[1, 2]),
    "other labels of it": lambda x: x.expand_dims(k=[1, 2] if x.size else [3, 4]),
    "other coordinates": reversed_area,
    "scalar": lambda x: x.assign_coords(height=x.height * 2),
    "two dimensions": lambda x: x.assign_coords(product=x.product * 2),
    "new coordinate": lambda x: x.assign_coords(new=x.area + x.lazy),
    "without a coordinate": lambda x: x.drop_vars("area"),
    "without labels": lambda x: x.drop_vars("x"),
    "later": where_there_are_elements(reversed_area),
}


@pytest.mark.parametrize("templated", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_coordinates_are_the_functions_or_refused(change, templated, eager, tmp_path):
    """Values and errors are those that Dask has. One case differs: without a template, a coordinate
    that is passed on for objects without elements, and changed in blocks, is refused."""
    pytest.importorskip("dask")
    found = {}
    for manager in ("cubed", "dask"):
        options = {"chunked_array_type": manager}
        if manager == "cubed":
            options["from_array_kwargs"] = {"spec": cubed.Spec(work_dir=tmp_path)}
        coords = {
            "area": eager.area,
            "lazy": ("x", eager.area.variable.chunk(x=3, **options).data + 1),
            "product": (("time", "x"), np.arange(140.0).reshape(20, 7)),
        }
        with xr.set_options(chunk_manager=manager):
            lazy = eager.a.drop_vars("area").chunk(CHUNKS, **options).assign_coords(coords)
            try:
                result = xr.map_blocks(CHANGES[change], lazy, template=lazy if templated else None)
                found[manager] = result.compute()
            except ValueError as e:
                found[manager] = e
    ours, theirs = found["cubed"], found["dask"]
    if change == "later" and not templated:
        assert "coordinate 'area' of the result" in str(ours) and "give a template" in str(ours)
    elif isinstance(theirs, Exception):
        assert isinstance(ours, ValueError)
        assert "of the result is" in str(ours) or "coordinate variables" in str(ours)
    else:
        xr.testing.assert_identical(ours, theirs)


def test_labels_that_disagree_name_both(lazy):
    wrong = (
        r"coordinate 'x' of the result is \[(20 10  0|50 40 30)\], expected \[( 0 10 20|30 40 50)\]"
    )
    with pytest.raises(ValueError, match=wrong):
        lazy.a.map_blocks(lambda x: x.isel(x=slice(None, None, -1))).compute()
    with pytest.raises(ValueError, match="as in the template: return it unchanged, or give"):
        lazy.a.map_blocks(lambda x: x.assign_coords(x=x.x + 1), template=lazy.a).compute()
    template = lazy.a.assign_coords(x=lazy.x + 1)
    out = lazy.a.map_blocks(lambda x: x.assign_coords(x=x.x + 1), template=template).compute()
    assert out.x[0] == 1


def test_coordinates_of_objects(lazy, eager):
    """Dates of cftime are no type of the engine's: they stay in memory, and are compared."""
    dates = xr.date_range("2000-01-01", periods=20, calendar="noleap", use_cftime=True)
    lazy = lazy.a.assign_coords(date=("time", np.asarray(dates, object)))
    out = lazy.map_blocks(lambda x: x * 2, template=lazy)
    assert out.date.variable._in_memory
    np.testing.assert_array_equal(out.compute().date, np.asarray(dates, object))
    with pytest.raises(ValueError, match="coordinate 'date' of the result"):
        lazy.map_blocks(
            lambda x: x.assign_coords(date=x.date.roll(time=1)), template=lazy
        ).compute()


def test_shapes_that_disagree_name_the_dimension(lazy):
    template = lazy.a.drop_vars(["x", "area"])
    short = lazy.a.map_blocks(lambda x: x.isel(x=[0]).drop_vars(["x", "area"]), template=template)
    with pytest.raises(ValueError, match="the result has length 1 along 'x', expected 3"):
        short.compute()
    less = lazy.a.map_blocks(lambda x: x.isel(x=0, drop=True), template=template)
    with pytest.raises(ValueError, match=r"has dimensions \('time',\), expected \('time', 'x'\)"):
        less.compute()
    with pytest.raises(TypeError, match="the result is a int, expected a DataArray"):
        lazy.a.map_blocks(lambda x: 1, template=template).compute()


@pytest.mark.parametrize("call", [
    lambda b: b.rename(time="moment"),
    lambda b: b.drop_vars("time").rename(time="moment"),
    lambda b: b.isel(time=slice(None), drop=True).swap_dims(time="other").drop_vars("other"),
])  # fmt: skip
def test_new_dimensions_whose_length_is_not_known_are_refused(call):
    """Without elements a renamed dimension has none: the result would be empty without a word."""
    x = xr.DataArray(
        np.arange(6.0).reshape(2, 3),
        {"time": [3, 1, 2], "other": ("time", [4, 5, 6])},
        ("y", "time"),
    )
    spec = cubed.Spec(allowed_mem="200MB", reserved_mem="100MB")
    mine = x.chunk(y=1, chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    with pytest.raises(ValueError, match="length of the new dimension .* give a template"):
        mine.map_blocks(call)
    template = call(x).chunk(y=1, chunked_array_type="cubed", from_array_kwargs={"spec": spec})
    xr.testing.assert_equal(mine.map_blocks(call, template=template).compute(), call(x))
    empty = mine[:, :0].map_blocks(call)
    assert empty.compute().shape == (2, 0)


def test_masked_results_are_refused(lazy):
    """Xarray makes NaN of a mask when it takes an array; one that gets around that is refused."""

    def put(x):
        x = x.copy()
        x.variable._data = np.ma.masked_greater(x.values, 0)
        return x

    filled = lazy.a.map_blocks(lambda x: x.copy(data=np.ma.masked_greater(x.values, 0)))
    assert filled.isnull().any()
    with pytest.raises(TypeError, match="masked array, whose mask would be lost"):
        lazy.a.map_blocks(put, template=lazy.a).compute()
    with pytest.raises(TypeError, match="masked array, whose mask would be lost"):
        xr.apply_ufunc(
            np.ma.masked_invalid, lazy.a, dask="parallelized", output_dtypes=[float]
        ).compute()
