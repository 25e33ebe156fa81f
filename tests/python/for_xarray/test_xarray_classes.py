"""Xarray's classes besides DataArray, method by method: lazy, and equal to NumPy's.

Every public name of each class is called here, or is exempted with a reason: names that a new
version of Xarray brings fail.
"""

import warnings

import cubed
import numpy as np
import pytest
import xarray as xr
from conftest import NIGHTLY
from test_xarray_methods import LAND, TIME, WEIGHTS, data
from xarray.core import groupby, resample
from xarray_versions import check_names, difference, need_name

try:
    from xarray.computation import rolling, weighted
except ImportError:  # before 2025.3
    from xarray.core import rolling, weighted


def dataset(**chunks):
    v = data()
    ds = xr.Dataset({k: v[k].drop_attrs() for k in ("f", "g", "i")}, attrs={"title": "t"})
    ds.f.attrs["units"] = "K"
    return ds.chunk(chunks, chunked_array_type="cubed") if chunks else ds


@pytest.fixture(scope="module")
def eager():
    return dataset()


@pytest.fixture(scope="module")
def lazy():
    return dataset(time=7, lat=4, lon=3)


@pytest.fixture(autouse=True)
def _default_manager():
    with xr.set_options(chunk_manager="cubed"):
        yield


def named(names, *args, **kwargs):
    """Calls of methods by name with the same arguments."""
    return {n: lambda x, n=n: getattr(x, n)(*args, **kwargs) for n in names.split()}


REDUCTIONS = "all any count max mean median min prod std sum var"
LON = [10.0, 50.0]

DATASET = {
    **named(f"{REDUCTIONS} cumprod cumsum ffill bfill diff interpolate_na rank", "time"),
    **named("argmax argmin idxmax idxmin", "lon"),
    **named("conj conjugate copy isnull notnull persist round unify_chunks"),
    **named("chunk shift roll tail head thin", time=5),
    **named("cumulative_integrate differentiate integrate", "lon"),
    **named("drop_duplicates dropna", "time"),
    **named("apply map pipe map_blocks", lambda x: x * 2),
    **named("to_array to_dataarray transpose"),
    **{n: lambda d, n=n: getattr(d, n) for n in ("real", "imag")},
    "argmax": lambda d: d[["g", "i"]].argmax("lon"),
    "argmin": lambda d: d[["g", "i"]].argmin("lon"),
    "assign": lambda d: d.assign(y=d.f * 2),
    "astype": lambda d: d.astype("f4"),
    "broadcast_like": lambda d: d.isel(time=0, drop=True).broadcast_like(d),
    "clip": lambda d: d.clip(-1, 1),
    "coarsen": lambda d: d.coarsen(time=3, lat=2).max(),
    "combine_first": lambda d: d[["f"]].combine_first(d[["g"]].rename(g="f")),
    "convert_calendar": lambda d: d.convert_calendar("noleap", use_cftime=True),
    "cumulative": lambda d: d.cumulative("lat").sum(),
    "curvefit": lambda d: d[["g"]].curvefit("lon", lambda x, a, b: a * x + b),
    "drop_isel": lambda d: d.drop_isel(time=[1, 3]),
    "drop_sel": lambda d: d.drop_sel(lon=[45.0]),
    "eval": lambda d: d.eval("h = f * 2"),
    "expand_dims": lambda d: d.expand_dims(n=2),
    "fillna": lambda d: d.fillna(0),
    "filter_by_attrs": lambda d: d.filter_by_attrs(units="K"),
    "groupby": lambda d: d.groupby("time.month").mean(),
    "groupby_bins": lambda d: d.groupby_bins("lat", [-60, 0, 60]).std(),
    "interp": lambda d: d.interp(lon=LON, lat=[0.0]),
    "interp_calendar": lambda d: d.interp_calendar(TIME[2:5]),
    "interp_like": lambda d: d.interp_like(d.isel(lon=slice(2, 5))),
    "isel": lambda d: d.isel(time=[3, 1], lon=slice(None, None, 2)),
    "isin": lambda d: d.isin([1, 2]),
    "loc": lambda d: d.loc[{"time": "2001"}],
    "merge": lambda d: d[["f"]].merge(d[["g"]]),
    "pad": lambda d: d[["f", "g"]].pad(lon=2, mode="edge"),
    "polyfit": lambda d: d[["g"]].polyfit("time", 1),
    "quantile": lambda d: d[["f", "g"]].quantile([0.3, 0.6], "time"),
    "query": lambda d: d.query(lat="lat > 0"),
    "reduce": lambda d: d.reduce(np.nanmax, "time"),
    "reindex": lambda d: d.reindex(lat=[-50.0, 3]),
    "reindex_like": lambda d: d.isel(lat=slice(1, 4)).reindex_like(d),
    "resample": lambda d: d.resample(time="QS").mean(),
    "rolling": lambda d: d.rolling(time=3, lat=2).mean(),
    "sel": lambda d: d.sel(lat=3, method="nearest"),
    "sortby": lambda d: d.sortby("lat", ascending=False),
    "squeeze": lambda d: d.isel(time=[0]).squeeze("time"),
    "stack": lambda d: d.stack(z=("lat", "lon")),
    "swap_dims": lambda d: d.swap_dims(lat="y"),
    "to_stacked_array": lambda d: d.to_stacked_array("z", ["time"]),
    "unstack": lambda d: d.stack(z=("lat", "lon")).unstack("z"),
    "update": lambda d: [c := d.copy(), c.update({"y": d.f + 1})][0],
    "weighted": lambda d: d.weighted(WEIGHTS).mean("lat"),
    "where": lambda d: d.where(d.f > 0),
}

VARIABLE = {
    **named(f"{REDUCTIONS} cumprod cumsum rank", "time"),
    **named("argmax argmin", "lon"),
    **named("conj conjugate copy isnull notnull round to_base_variable transpose permute_dims"),
    **named("chunk shift roll", time=5),
    **{n: lambda v, n=n: getattr(v, n) for n in ("real", "imag", "T")},
    "argmax": lambda v: v.fillna(0).argmax("lon"),
    "argmin": lambda v: v.fillna(0).argmin("lon"),
    "astype": lambda v: v.astype("f4"),
    "broadcast_to": lambda v: v.isel(time=[0]).broadcast_to(v.sizes),
    "clip": lambda v: v.clip(-1, 1),
    "coarsen": lambda v: v.coarsen({"time": 3}, np.nanmax, "exact", "left"),
    "concat": lambda v: xr.Variable.concat([v, v], "time"),
    "expand_dims": lambda v: v.expand_dims("n"),
    "fillna": lambda v: v.fillna(0),
    "isel": lambda v: v.isel(time=[3, 1]),
    "pad": lambda v: v.pad(lon=(1, 2)),
    "quantile": lambda v: v.quantile([0.3, 0.6], "time"),
    "reduce": lambda v: v.reduce(np.nanmax, "time"),
    "rolling_window": lambda v: v.rolling_window("time", 3, "w"),
    "set_dims": lambda v: v.set_dims({"n": 2, **v.sizes}),
    "squeeze": lambda v: v.isel(time=[0]).squeeze("time"),
    "stack": lambda v: v.stack(z=("lat", "lon")),
    "to_variable": lambda v: v.to_variable(),
    "unstack": lambda v: v.stack(z=("lat", "lon")).unstack(z={"lat": 6, "lon": 8}),
    "where": lambda v: v.where(v > 0),
}

GROUPS = {
    **named(f"{REDUCTIONS} first last cumsum cumprod shuffle_to_chunks"),
    **named("apply map", lambda x: x * 2),
    "assign_coords": lambda g: g.assign_coords(k=1),
    "fillna": lambda g: g.fillna(0),
    "quantile": lambda g: g.quantile([0.2, 0.7]),
    "reduce": lambda g: g.reduce(np.nanmax),
    "where": lambda g: g.where(xr.DataArray(TIME.month > 3, {"time": TIME}, "time")),
}
RESAMPLED = {
    **GROUPS,
    **named("asfreq backfill bfill ffill nearest pad"),
    "interpolate": lambda r: r.interpolate("linear"),
}
ROLLING = {
    **named("count max mean median min prod std sum var"),
    **named("argmax argmin"),
    "construct": lambda r: r.construct("w"),
    "reduce": lambda r: r.reduce(np.nanmax),
}
COARSENED = {
    **named(REDUCTIONS),
    "construct": lambda c: c.construct(time=("year", "quarter")),
    "reduce": lambda c: c.reduce(np.nanmax),
}
WEIGHTED = {
    **named("mean std sum sum_of_squares sum_of_weights var", "lat"),
    "quantile": lambda w: w.quantile([0.2, 0.7], dim="lat"),
}

#: Class, an object of it, calls of its methods, and what is not called: names by reason.
CLASSES = {
    "Dataset": (
        xr.Dataset,
        lambda d: d,
        DATASET,
        {
            "about the object or its coordinates": """assign_attrs assign_coords attrs chunks
                chunksizes close coords data_vars dims drop drop_attrs drop_dims drop_encoding
                drop_indexes drop_vars dtypes encoding from_dataframe from_dict get get_index
                indexes info items keys load_store nbytes plot rename rename_dims rename_vars
                reorder_levels reset_coords reset_encoding reset_index set_close set_coords
                set_index set_xindex sizes values variables xindexes""",
            "computes, as its name or documentation says": """argsort as_numpy broadcast_equals
                compute dump_to_store equals identical load load_async to_dataframe to_dict
                to_netcdf to_pandas to_zarr""",
            "needs Dask's arrays, or numbagg": "rolling_exp to_dask_dataframe",
        },
    ),
    "Variable": (
        xr.Variable,
        lambda d: d.f.variable,
        VARIABLE,
        {
            "about the object": """attrs chunks chunksizes data dims drop_encoding dtype encoding
                get_axis_num nbytes ndim reset_encoding shape size sizes""",
            "computes, as its name or documentation says": """argsort as_numpy broadcast_equals
                compute equals identical item load load_async no_conflicts searchsorted to_coord
                to_dict to_index to_index_variable to_numpy values""",
            "a step of coarsen, with its arguments": "coarsen_reshape",
        },
    ),
}
_OF_GROUPS = {"about the groups": "dims encoded group1d groupers groups sizes"}
for kind in ("DataArray", "Dataset"):
    of = (lambda d: d.f) if kind == "DataArray" else (lambda d: d[["f", "i"]])
    CLASSES |= {
        f"{kind}GroupBy": (
            getattr(groupby, f"{kind}GroupBy"),
            lambda d, of=of: of(d).groupby("time.month"),
            GROUPS
            if kind == "DataArray"
            else {**GROUPS, "assign": lambda g: g.assign(y=lambda d: d.f * 2)},
            _OF_GROUPS,
        ),
        f"{kind}Resample": (
            getattr(resample, f"{kind}Resample"),
            lambda d, of=of: of(d).resample(time="QS"),
            RESAMPLED
            if kind == "DataArray"
            else {**RESAMPLED, "assign": lambda g: g.assign(y=lambda d: d.f * 2)},
            _OF_GROUPS,
        ),
        f"{kind}Rolling": (
            getattr(rolling, f"{kind}Rolling"),
            lambda d, of=of: of(d.fillna(0.5)).rolling(time=3),
            ROLLING,
            {
                "about the windows": "center dim min_periods ndim obj window "
                + ("window_labels" if kind == "DataArray" else "rollings")
            },
        ),
        f"{kind}Coarsen": (
            getattr(rolling, f"{kind}Coarsen"),
            lambda d, of=of: of(d).coarsen(time=4),
            COARSENED,
            {
                "about the windows": "boundary coord_func obj side trim_excess windows",
            },
        ),
        f"{kind}Weighted": (
            getattr(weighted, f"{kind}Weighted"),
            lambda d, of=of: of(d).weighted(WEIGHTS),
            WEIGHTED,
            {"about the weights": "obj weights"},
        ),
    }


@pytest.mark.parametrize("name", CLASSES)
def test_every_name_is_here(name):
    cls, _, calls, exempted = CLASSES[name]
    listed = [*calls, *(n for names in exempted.values() for n in names.split())]
    assert len(listed) == len(set(listed))
    check_names(listed, cls)


def variables(x):
    if isinstance(x, xr.Variable):
        return {"": x}
    if isinstance(x, xr.DataArray):
        return {"": x.variable}
    assert isinstance(x, xr.Dataset)
    return {k: v.variable for k, v in x.data_vars.items()}


def check(method, make, lazy, eager):
    """Compares the results of a method of lazy and eager objects, which `make` makes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = method(make(eager))
        warnings.filterwarnings("error", message=".*values are computed into memory")
        result = method(make(lazy))
    assert type(result) is type(expected)
    of_result, of_expected = variables(result), variables(expected)
    assert list(of_result) == list(of_expected) and of_result
    for name, v in of_expected.items():
        found = of_result[name]
        assert isinstance(found._data, cubed.Array), name
        assert (found.dims, found.dtype) == (v.dims, v.dtype), name
    result = result.compute()
    if isinstance(result, xr.Variable):
        assert result.dims == expected.dims
        np.testing.assert_allclose(result.values, expected.values, rtol=1e-5, atol=1e-6)
    else:
        xr.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)
        assert result.attrs == expected.attrs


@pytest.mark.parametrize(
    "cls, method", [pytest.param(c, m, id=f"{c}.{m}") for c in CLASSES for m in CLASSES[c][2]]
)
def test_methods(cls, method, lazy, eager):
    owner, make, calls, _ = CLASSES[cls]
    need_name(owner, method)
    check(calls[method], make, lazy, eager)


#: Fewer dimensions, and dimensions without elements.
SMALL = {
    "1-d": {"lat": 0, "lon": 0},
    "0-d": {"time": 3, "lat": 0, "lon": 0},
    "no times": {"time": slice(0, 0)},
}
if NIGHTLY:
    SMALL |= {
        "2-d": {"lon": 1},
        "1-d without times": {"time": 3, "lat": 1},
        "no latitudes": {"lat": slice(0, 0)},
        "no longitudes": {"lon": slice(0, 0)},
    }
#: Xarray reindexes what has no elements to a fill value in memory, which is broadcast.
IN_MEMORY = ("reindex", "reindex_like")


@pytest.mark.parametrize("cls", CLASSES)
@pytest.mark.parametrize("small", SMALL)
def test_methods_of_small_objects(cls, small, lazy, eager):
    """Each method that has a result of small objects in memory."""
    owner, make, calls, _ = CLASSES[cls]
    at, compared = SMALL[small], 0
    few, lazy_few = eager.isel(at), lazy.isel(at)
    for name, method in calls.items():
        if not hasattr(owner, name) or (small.startswith("no ") and name in IN_MEMORY):
            continue
        if difference(f"[{cls}.{name}]"):
            continue
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                method(make(few)).compute()
        # For want of a dimension or elements; Xarray of 2025 divides by their number in roll().
        except (IndexError, KeyError, TypeError, ValueError, ZeroDivisionError):
            continue
        check(method, make, lazy_few, few)
        compared += 1
    along_time = cls.endswith(("GroupBy", "Resample", "Rolling", "Coarsen"))
    expects_none = along_time and "time" in at or cls.endswith("Weighted") and "lat" in at
    assert compared or expects_none


def test_labels_of_several_axes(lazy, eager):
    means = lazy.assign_coords(zone=LAND).groupby("zone").mean()
    assert isinstance(means.f.data, cubed.Array)
    xr.testing.assert_allclose(
        means.compute(), eager.assign_coords(zone=LAND).groupby("zone").mean()
    )
