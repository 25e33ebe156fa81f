"""Xarray's methods on lazy arrays have lazy results, which equal those of NumPy arrays.

Every public method of a DataArray is in one of the tables here.
"""

import warnings
from types import SimpleNamespace

import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from xarray_versions import NEWEST, XARRAY, check_names

TIME = pd.date_range("2000-01-01", periods=24, freq="MS")


def data():
    rng = np.random.default_rng(0)
    a = rng.normal(size=(24, 6, 8))
    a[rng.random(a.shape) < 0.1] = np.nan
    coords = {"time": TIME, "lat": np.linspace(-50, 50, 6), "lon": np.arange(8) * 45.0}
    f = xr.DataArray(a, coords, ("time", "lat", "lon"), "f", attrs={"units": "K"})
    i = f.copy(data=rng.integers(0, 9, a.shape)).rename("i")
    return {
        "f": f,  # with NaN
        "g": f.fillna(0.5).rename("g"),
        "i": i,
        "c": f.copy(data=a + 1j * np.nan_to_num(a)).rename("c"),
        "dates": (i * 30).astype("m8[D]").astype("m8[s]") + np.datetime64("2001-01-01", "s"),
    }


@pytest.fixture(scope="module")
def eager():
    return SimpleNamespace(**data())


@pytest.fixture(scope="module")
def lazy(tmp_path_factory):
    spec = cubed.Spec(tmp_path_factory.mktemp("work"), allowed_mem="200MB", reserved_mem="10MB")
    chunks = {"time": 8, "lat": 4, "lon": 8}
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    return SimpleNamespace(**{k: v.chunk(chunks, **options) for k, v in data().items()})


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """In chunks along every dimension."""
    spec = cubed.Spec(tmp_path_factory.mktemp("cut"), allowed_mem="200MB", reserved_mem="10MB")
    chunks = {"time": 7, "lat": 4, "lon": 3}
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    return SimpleNamespace(**{k: v.chunk(chunks, **options) for k, v in data().items()})


@pytest.fixture(autouse=True)
def _default_manager():
    with xr.set_options(chunk_manager="cubed"):
        yield


def two_labels(v):
    return v.f.assign_coords(month=("time", TIME.month), year=("time", TIME.year))


POINTS = {
    "time": xr.DataArray([3, 1], dims="p"),
    "lat": xr.DataArray([0, 2], dims="p"),
}
LAND = xr.DataArray(np.arange(48).reshape(6, 8) % 3, dims=("lat", "lon"))
WEIGHTS = xr.DataArray(np.arange(1.0, 7), dims="lat")
REDUCTIONS = "sum mean std var min max prod median count argmax argmin cumsum cumprod".split()

#: What each method gives: functions of the arrays above.
METHODS = {
    **{
        name: [
            lambda v, name=name: getattr(v.f, name)("time"),
            lambda v, name=name: getattr(v.g, name)("lat"),
            lambda v, name=name: getattr(v.i, name)("lon"),
            lambda v, name=name: getattr(v.f, name)(("time", "lon"))
            if "arg" not in name
            else getattr(v.f, name)(["lat"])["lat"],
        ]
        for name in REDUCTIONS
    },
    "all": [lambda v: (v.i > 0).all("time"), lambda v: (v.i >= 0).all()],
    "any": [lambda v: (v.i > 8).any("lat"), lambda v: (v.i > 7).any()],
    "astype": [lambda v: v.f.astype("f4"), lambda v: v.i.astype(bool)],
    "bfill": [lambda v: v.f.bfill("time"), lambda v: v.f.bfill("lon", limit=1)],
    "broadcast_like": [lambda v: v.f.isel(time=0, drop=True).broadcast_like(v.g)],
    "chunk": [lambda v: v.f.chunk(time=6), lambda v: v.f.chunk("auto"), lambda v: v.f.chunk()],
    "clip": [lambda v: v.f.clip(-1, 1), lambda v: v.i.clip(min=3)],
    "coarsen": [
        lambda v: v.f.coarsen(time=3).mean(),
        lambda v: v.f.coarsen(time=5, boundary="trim").sum(),
        lambda v: v.f.coarsen(time=5, boundary="pad").max(),
        lambda v: v.f.coarsen(lat=2, lon=2).std(),
        lambda v: v.f.coarsen(time=12).construct(time=("year", "month")),
    ],
    "combine_first": [lambda v: v.f.combine_first(v.g)],
    "conj": [lambda v: v.c.conj()],
    "conjugate": [lambda v: v.c.conjugate()],
    "convert_calendar": [lambda v: v.f.convert_calendar("noleap", use_cftime=True)],
    "copy": [lambda v: v.f.copy(), lambda v: v.f.copy(deep=True), lambda v: v.f.copy(deep=False)],
    "cumulative": [lambda v: v.f.cumulative("lat").sum()],
    "cumulative_integrate": [lambda v: v.g.cumulative_integrate("lon")],
    "curvefit": [lambda v: v.g.curvefit("lon", lambda x, a, b: a * x + b)["curvefit_coefficients"]],
    "diff": [lambda v: v.f.diff("time"), lambda v: v.f.diff("lat", n=2, label="lower")],
    "differentiate": [
        lambda v: v.g.differentiate("lon"),
        lambda v: v.g.differentiate("time", datetime_unit="D"),
    ],
    "dot": [lambda v: v.g.dot(v.g.isel(time=0, drop=True)), lambda v: v.g @ WEIGHTS],
    "drop_duplicates": [lambda v: v.f.drop_duplicates("time")],
    "drop_isel": [lambda v: v.f.drop_isel(time=[1, 3])],
    "drop_sel": [lambda v: v.f.drop_sel(lon=[45.0])],
    "dropna": [lambda v: v.f.dropna("time"), lambda v: v.f.dropna("time", how="all")],
    "dt": [
        lambda v: v.dates.dt.month,
        lambda v: v.dates.dt.dayofyear,
        lambda v: v.dates.dt.floor("5D"),
    ],
    "expand_dims": [lambda v: v.f.expand_dims("n"), lambda v: v.f.expand_dims(n=3)],
    "ffill": [lambda v: v.f.ffill("time"), lambda v: v.f.ffill("time", limit=2)],
    "fillna": [lambda v: v.f.fillna(0), lambda v: v.f.fillna(v.g)],
    "groupby": [
        *(
            lambda v, name=name: getattr(v.f.groupby("time.month"), name)()
            for name in "sum mean std var min max prod median count first last".split()
        ),
        *(
            lambda v, name=name: getattr(v.i.groupby("time.season"), name)()
            for name in "sum mean max any all first".split()
        ),
        lambda v: v.f.groupby("time.month") - v.f.groupby("time.month").mean(),
        lambda v: v.f.groupby("time.month").mean(("time", "lat")),
        lambda v: v.f.groupby("time.month").sum(min_count=3),
        lambda v: v.f.groupby("time.month").std(ddof=1),
        lambda v: v.f.groupby("time.month").map(lambda x: x - x.mean("time")),
        lambda v: v.f.groupby("time.month").quantile(0.5),
        lambda v: v.f.groupby("time.month").cumsum(),
        lambda v: v.f.groupby("time.month").fillna(0),
        lambda v: v.f.groupby("time.month").where(v.f > 0),
        lambda v: v.g.groupby("time.month").reduce(np.sum),
        lambda v: v.f.groupby("time.month").shuffle_to_chunks(),
        lambda v: two_labels(v).groupby(["month", "year"]).mean(),
        lambda v: v.f.assign_coords(zone=LAND).groupby("zone").mean(),
        lambda v: v.f.groupby(lat=xr.groupers.BinGrouper([-60, 0, 60])).max(),
    ],
    "groupby_bins": [lambda v: v.f.groupby_bins("lat", [-60, 0, 60]).mean()],
    "head": [lambda v: v.f.head(time=3)],
    "idxmax": [lambda v: v.f.idxmax("lon")],
    "idxmin": [lambda v: v.f.idxmin("lat")],
    "imag": [lambda v: v.c.imag],
    "integrate": [lambda v: v.g.integrate("lon"), lambda v: v.g.integrate(("lon", "lat"))],
    "interp": [
        lambda v: v.g.interp(lon=[10.0, 50, 100]),
        lambda v: v.g.interp(lon=[10.0, 50, 100], method="nearest"),
        lambda v: v.g.interp(lat=[0.0, 5]),
        lambda v: v.g.interp(lat=[0.0, 5], lon=[1.0, 100]),
        lambda v: v.g.interp(time=TIME[3:10] + pd.Timedelta("3D")),
        lambda v: v.g.interp(
            lat=xr.DataArray([0.0, 5], dims="p"), lon=xr.DataArray([1.0, 100], dims="p")
        ),
        *(
            lambda v, dtype=dtype, method=method: v.g.astype(dtype).interp(
                lon=[10.0, 50, 100], method=method
            )
            for dtype in ("f4", "c8", "i2")
            for method in ("linear", "nearest")
        ),
        lambda v: v.g.astype("f4").interp(lat=[0.0, 5], lon=[1.0, 100], method="nearest"),
        lambda v: v.g.astype("f4").interp(
            lat=xr.DataArray([0.0, 5], dims="p"), lon=xr.DataArray([1.0, 100], dims="p")
        ),
    ],
    "interp_calendar": [lambda v: v.g.interp_calendar(TIME[2:5])],
    "interp_like": [lambda v: v.g.interp_like(v.g.isel(lon=slice(2, 5)))],
    "interpolate_na": [lambda v: v.f.interpolate_na("lon")],
    "isel": [
        lambda v: v.f.isel(time=3),
        lambda v: v.f.isel(time=slice(2, 20, 3), lon=-1),
        lambda v: v.f.isel(time=slice(None, None, -1)),
        lambda v: v.f.isel(time=[3, 1, 7]),
        lambda v: v.f.isel(time=[3, 1, 7], lat=[0, 2]),
        lambda v: v.f.isel(POINTS),
        lambda v: v.f.isel(time=POINTS["time"], lon=POINTS["lat"]),
        lambda v: v.f.isel(time=TIME.month < 4),
    ],
    "isin": [lambda v: v.i.isin([1, 2, 3]), lambda v: v.i.isin(v.i.isel(time=0))],
    "isnull": [lambda v: v.f.isnull(), lambda v: v.i.isnull()],
    "loc": [lambda v: v.f.loc[{"time": "2001"}]],
    "map_blocks": [lambda v: v.f.map_blocks(lambda x: x * 2)],
    "notnull": [lambda v: v.f.notnull()],
    "pad": [
        lambda v: v.f.pad(lon=2),
        *(
            lambda v, mode=mode: v.g.pad(lon=(2, 1), lat=(0, 1), mode=mode)
            for mode in "constant edge reflect symmetric wrap linear_ramp maximum mean".split()
        ),
        lambda v: v.g.pad(lon=2, constant_values=7),
    ],
    "persist": [lambda v: v.f.persist()],
    "pipe": [lambda v: v.f.pipe(lambda x: x + 1)],
    "polyfit": [
        lambda v: v.g.polyfit("lon", 1)["polyfit_coefficients"],
        lambda v: v.g.polyfit("lat", 2)["polyfit_coefficients"],
        lambda v: v.f.polyfit("lon", 1, skipna=True)["polyfit_coefficients"],
        lambda v: v.g.polyfit("lon", 1, full=True)["polyfit_residuals"],
        lambda v: v.g.isel(lat=0, time=0).polyfit("lon", 1)["polyfit_coefficients"],
    ],
    "quantile": [
        lambda v: v.f.quantile(0.3, "lon"),
        lambda v: v.f.quantile([0.3, 0.5], ("lat", "lon")),
        lambda v: v.f.quantile(0.3, "time"),
        lambda v: v.g.quantile(0.3, "lon", skipna=False),
    ],
    "query": [lambda v: v.f.query(lat="lat > 0")],
    "rank": [lambda v: v.f.rank("lon"), lambda v: v.g.rank("lon", pct=True)],
    "real": [lambda v: v.c.real],
    "reduce": [
        lambda v: v.g.reduce(np.sum, "time"),
        lambda v: v.g.reduce(np.mean, ("lat", "lon")),
        lambda v: v.f.reduce(np.nanmax, "time"),
        lambda v: v.f.reduce(np.nanmedian, "time"),
    ],
    "reindex": [
        lambda v: v.f.reindex(lat=[-50.0, 3, 50]),
        lambda v: v.f.reindex(time=TIME[::-1]),
        lambda v: v.f.reindex(lon=[1.0, 2, 100], method="nearest"),
        lambda v: v.i.reindex(lat=[-50.0, 3, 50], fill_value=-1),
    ],
    "reindex_like": [lambda v: v.f.isel(lat=slice(1, 4)).reindex_like(v.g)],
    "resample": [
        lambda v: v.f.resample(time="QS").mean(),
        lambda v: v.f.resample(time="YS").max(),
        lambda v: v.f.resample(time="QS").first(),
        lambda v: v.f.resample(time="QS").map(lambda x: x.mean("time")),
        lambda v: v.f.resample(time="15D").asfreq(),
        lambda v: v.f.resample(time="15D").nearest(),
        lambda v: v.f.resample(time="15D").ffill(),
        lambda v: v.g.isel(lon=0).chunk(time=-1).resample(time="15D").interpolate("linear")
        if isinstance(v.g.data, cubed.Array)
        else v.g.isel(lon=0).resample(time="15D").interpolate("linear"),
        lambda v: v.g.isel(lon=0).astype("f4").resample(time="15D").interpolate("linear"),
    ],
    "roll": [lambda v: v.f.roll(lon=3), lambda v: v.f.roll(lon=3, roll_coords=True)],
    "rolling": [
        *(
            lambda v, name=name: getattr(v.f.rolling(time=3, min_periods=2), name)()
            for name in "sum mean min max std var prod median count".split()
        ),
        lambda v: v.g.rolling(time=3, center=True).mean(),
        lambda v: v.f.rolling(time=10).mean(),  # longer than chunks
        lambda v: v.f.rolling(lat=2, center=True, min_periods=1).median(),
        lambda v: v.i.rolling(time=3).sum(),
        lambda v: v.g.rolling(time=3).std(ddof=1),
        lambda v: v.f.rolling(time=4, center=True, min_periods=1).var(),
        lambda v: v.f.astype("f4").rolling(lon=4).max(),
        lambda v: v.f.rolling(time=1).min(),
        lambda v: v.f.rolling(lat=3, lon=3, center=True).mean(),
        lambda v: v.f.rolling(time=3).construct("window"),
        lambda v: v.f.rolling(time=4).construct("window", stride=2, fill_value=0.0),
        lambda v: v.g.rolling(time=3).reduce(np.sum),
        lambda v: v.g.rolling(time=3).argmax(),
    ],
    "round": [lambda v: v.f.round(), lambda v: v.f.round(1)],
    "sel": [
        lambda v: v.f.sel(time="2000"),
        lambda v: v.f.sel(lat=3, method="nearest"),
        lambda v: v.f.sel(lat=slice(-20, 20)),
        lambda v: v.f.sel(lat=xr.DataArray([3.0, 4], dims="p"), method="nearest"),
    ],
    "shift": [
        lambda v: v.f.shift(time=2),
        lambda v: v.f.shift(lat=-1),
        lambda v: v.i.shift(lat=1, fill_value=0),
    ],
    "sortby": [lambda v: v.f.sortby("lat", ascending=False)],
    "squeeze": [lambda v: v.f.isel(time=[0]).squeeze("time")],
    "stack": [lambda v: v.f.stack(z=("lat", "lon")), lambda v: v.f.stack(z=("time", "lon"))],
    "swap_dims": [lambda v: v.f.swap_dims(lat="y")],
    "T": [lambda v: v.f.T],
    "tail": [lambda v: v.f.tail(time=3)],
    "thin": [lambda v: v.f.thin(time=3)],
    "transpose": [lambda v: v.f.transpose("lon", "time", "lat"), lambda v: v.f.transpose()],
    "unify_chunks": [lambda v: v.f.unify_chunks()],
    "unstack": [lambda v: v.f.stack(z=("lat", "lon")).unstack("z")],
    "weighted": [
        lambda v: v.f.weighted(WEIGHTS).mean("lat"),
        lambda v: v.f.weighted(WEIGHTS).sum(("lat", "lon")),
        lambda v: v.f.weighted(WEIGHTS).std("lat"),
        lambda v: v.f.weighted(WEIGHTS).sum_of_weights("lat"),
        lambda v: v.f.weighted(v.i).mean("lat"),
    ],
    "where": [
        lambda v: v.f.where(v.f > 0),
        lambda v: v.f.where(v.f > 0, -1),
        lambda v: v.i.where(v.f > 0),
        lambda v: v.f.where(v.f.lat > 0, drop=True),
    ],
}

#: The same for functions and operators.
FUNCTIONS = {
    "align": [
        lambda v: xr.align(v.f, v.g.isel(lat=slice(1, 4)), join="inner")[0],
        lambda v: xr.align(v.f.isel(lat=slice(1, 4)), v.g, join="outer")[0],
    ],
    "apply_ufunc": [
        lambda v: xr.apply_ufunc(
            lambda x: x * 2 + 1, v.f, dask="parallelized", output_dtypes=[float]
        ),
        lambda v: xr.apply_ufunc(
            lambda x: np.nanmean(x, -1),
            v.f,
            input_core_dims=[["lon"]],
            dask="parallelized",
            output_dtypes=[float],
        ),
        lambda v: xr.apply_ufunc(
            lambda x: (x + 1, x.astype("f4")),
            v.f,
            output_core_dims=[[], []],
            dask="parallelized",
            output_dtypes=[float, "f4"],
        )[1],
        lambda v: xr.apply_ufunc(
            lambda x, y: x.max() - y,
            v.g,
            v.g.isel(lon=0, drop=True),
            input_core_dims=[["lon"], []],
            vectorize=True,
            dask="parallelized",
            output_dtypes=[float],
        ),
        lambda v: xr.apply_ufunc(
            lambda x: np.stack([x.mean(-1), x.max(-1)], -1),
            v.g,
            input_core_dims=[["time"]],
            output_core_dims=[["s"]],
            dask="parallelized",
            output_dtypes=[float],
            dask_gufunc_kwargs={"output_sizes": {"s": 2}, "allow_rechunk": True},
        ),
        lambda v: xr.apply_ufunc(lambda x: x * 2, v.f, dask="allowed"),
        lambda v: xr.apply_ufunc(np.hypot, v.f, v.g, dask="allowed"),
    ],
    "broadcast": [lambda v: xr.broadcast(v.f.isel(time=0, drop=True), v.g)[0]],
    "combine_by_coords": [
        lambda v: xr.combine_by_coords(
            [v.f.isel(time=slice(8)).to_dataset(), v.f.isel(time=slice(8, 24)).to_dataset()]
        ).f
    ],
    "combine_nested": [
        lambda v: xr.combine_nested([v.f.isel(time=slice(8)), v.f.isel(time=slice(8, 24))], "time")
    ],
    "concat": [
        lambda v: xr.concat([v.f, v.g], "time"),
        lambda v: xr.concat([v.f, v.g], "k"),
        lambda v: xr.concat([v.f, v.i], "lat"),
    ],
    "corr": [lambda v: xr.corr(v.f, v.g, "time")],
    "cov": [lambda v: xr.cov(v.f, v.g, "time")],
    "cross": [
        lambda v: xr.cross(
            v.g.isel(lon=slice(0, 3)).drop_vars("lon"),
            v.g.isel(lon=slice(3, 6)).drop_vars("lon"),
            dim="lon",
        )
    ],
    "dot": [
        lambda v: xr.dot(v.g, v.g, dim="time"),
        lambda v: xr.dot(v.g, v.g),
        lambda v: xr.dot(v.g, WEIGHTS, v.g, dim=["lat"]),
    ],
    "full_like": [
        lambda v: xr.full_like(v.f, 3.0),
        lambda v: xr.zeros_like(v.f),
        lambda v: xr.ones_like(v.f, dtype=int),
    ],
    "merge": [lambda v: xr.merge([v.f, v.g]).g],
    "polyval": [lambda v: xr.polyval(v.g, xr.DataArray([1.0, 2.0], coords={"degree": [0, 1]}))],
    "times": [
        lambda v: v.dates.min("time"),
        lambda v: v.dates.max(),
        lambda v: v.dates.mean("time"),
        lambda v: v.dates.diff("time"),
        lambda v: v.dates.isnull(),
        lambda v: v.dates.where(v.f > 0),
        lambda v: v.dates.where(v.f > 0).min("lat"),
        lambda v: v.dates.shift(lat=1),
        lambda v: v.dates.where(v.f > 0).fillna(np.datetime64("2001-01-01", "s")),
        lambda v: v.dates - v.dates.min("time"),
        lambda v: (v.dates - v.dates.time) / np.timedelta64(1, "D"),
        lambda v: v.dates.sel(lat=[-50.0, 50]) > np.datetime64("2001-02-01"),
        lambda v: v.f.idxmax("time"),
    ],
    "where": [lambda v: xr.where(v.f > 0, v.g, 0)],
    "numpy": [
        lambda v: np.sin(v.f),
        lambda v: np.maximum(v.f, 0.5),
        lambda v: np.sqrt(v.f**2 + v.g**2),
        lambda v: np.isfinite(v.f),
        lambda v: v.f.copy(data=np.where(v.f.data > 0, v.f.data, 0.0)),
    ],
    "operators": [
        lambda v: v.f + np.float32(2),
        lambda v: np.ones((24, 6, 8)) + v.f,
        lambda v: -v.f,
        lambda v: 2 / v.g,
        lambda v: v.i % 2,
        lambda v: v.i // 3,
        lambda v: (v.i & 3) | 1,
        lambda v: ~(v.f > 0),
        lambda v: abs(v.f) * v.f.lat,
        lambda v: (v.f > 0) & (v.g < 1),
    ],
    "Dataset": [
        lambda v: v.f.to_dataset().mean("time").f,
        lambda v: v.f.to_dataset().map(lambda x: x * 2).f,
        lambda v: v.f.to_dataset().where(v.g > 0).f,
        lambda v: v.f.to_dataset().assign(y=v.g).to_dataarray(),
        lambda v: v.f.to_dataset().assign(y=v.g).to_stacked_array("z", ["time"]),
        lambda v: v.f.to_dataset().query(lat="lat > 0").f,
        lambda v: v.f.to_dataset().rolling(time=2).mean().f,
        lambda v: v.f.to_dataset().groupby("time.month").mean().f,
        lambda v: v.f.to_dataset().groupby("time.month").cumsum().f,
        lambda v: v.f.to_dataset().resample(time="QS").std().f,
        lambda v: v.f.to_dataset()
        .convert_calendar("noleap", use_cftime=True)
        .groupby("time.month")
        .max()
        .f,
        lambda v: v.f.to_dataset().eval("h = f * 2").h,
    ],
}

#: What crosses chunks, with as many reads of each as it may take.
ACROSS = {
    "groupby": [
        (1, lambda v: v.f.groupby("time.month").quantile([0.1, 0.5])),
        (1, lambda v: v.g.groupby("time.month").quantile([0.5, 0.2], skipna=False)),
        (2, lambda v: v.f.groupby("time.month").quantile([0.1, 0.5], dim=["time", "lat"])),
        (2, lambda v: v.f.groupby("time.month").quantile([0.5], dim=...)),
        (2, lambda v: v.f.assign_coords(zone=LAND).groupby("zone").quantile([0.2, 0.4])),
        (2, lambda v: v.f.assign_coords(zone=LAND).groupby("zone").median()),
        (1, lambda v: v.f.groupby_bins("lat", [-60, 0, 60]).quantile([0.1, 0.9])),
        (1, lambda v: two_labels(v).groupby(["month", "year"]).quantile([0.5])),
        (1, lambda v: v.f.resample(time="QS").quantile([0.1, 0.5])),
        (1, lambda v: v.f.groupby("time.season").cumsum()),
        (1, lambda v: v.f.resample(time="QS").cumsum()),
        *(
            (1, lambda v, name=name: getattr(v.dates.groupby("time.month"), name)())
            for name in "min max mean first last count".split()
        ),
        (1, lambda v: v.dates.where(v.i > 2).groupby("time.month").first()),
        (1, lambda v: (v.dates - v.dates.time).groupby("time.month").sum()),
        *(
            (1, lambda v, name=name: getattr(v.c.groupby("time.month"), name)())
            for name in "sum mean count first".split()
        ),
        (1, lambda v: v.f.groupby("time.month").all()),
        (1, lambda v: (v.i > 3).groupby("time.month").max()),
        (
            1,
            lambda v: v.f.groupby(
                time=xr.groupers.TimeResampler("QS"), lat=xr.groupers.BinGrouper([-60, 0, 60])
            ).std(),
        ),
        (1, lambda v: v.f.groupby(time=xr.groupers.SeasonGrouper(["DJF", "MAM", "JJAS"])).mean()),
        (1, lambda v: v.f.resample(time=xr.groupers.SeasonResampler(["DJF", "MAM", "JJA"])).sum()),
    ],
    "interpolate_na": [
        *(
            (4, lambda v, method=method: v.f.interpolate_na("time", method=method))
            for method in ("linear", "nearest")
        ),
        *(
            (1, lambda v, method=method: v.f.interpolate_na("lon", method=method))
            for method in "zero slinear quadratic cubic pchip spline akima makima krogh".split()
        ),
        (4, lambda v: v.f.astype("f4").interpolate_na("time", use_coordinate=False)),
        (1, lambda v: v.f.interpolate_na("time", method="polynomial", order=2)),
        (1, lambda v: v.f.interpolate_na("time", fill_value="extrapolate")),
        (5, lambda v: v.f.interpolate_na("time", limit=1)),
        (12, lambda v: v.f.interpolate_na("time", max_gap="40D")),
    ],
    "rank": [
        (1, lambda v: v.f.rank("time")),
        (1, lambda v: v.f.rank("lon", pct=True)),
        (1, lambda v: v.i.rank("lat")),
    ],
    "curvefit": [
        (1, lambda v: v.g.curvefit("time", lambda x, a, b: a + b * 0 * x)["curvefit_coefficients"]),
        (
            1,
            lambda v: v.g.curvefit(
                [v.g.lat, "lon"], lambda xy, a, b: a + b * xy[0], reduce_dims="time"
            )["curvefit_coefficients"],
        ),
    ],
    "rolling": [
        *(
            (1, lambda v, name=name: getattr(v.f.rolling(time=3, lat=2, min_periods=2), name)())
            for name in "sum mean min max std var prod count".split()
        ),
        *(
            (1, lambda v, name=name: getattr(v.i.rolling(time=3, center=True), name)())
            for name in "sum mean min max std var prod count".split()
        ),
        (1, lambda v: (v.i > 3).rolling(time=3).sum()),
        (1, lambda v: (v.i > 3).rolling(lat=2, lon=3).mean()),
        (1, lambda v: v.i.astype("i2").rolling(lon=3).max()),
        (1, lambda v: v.f.astype("f4").rolling(lat=2, lon=3).mean()),
        (2, lambda v: v.f.rolling(time=5, lat=2, min_periods=2).median()),
        (2, lambda v: v.g.rolling(time=5).argmax()),
        (2, lambda v: v.f.rolling(time=5).reduce(np.nanmean)),
        (2, lambda v: v.i.rolling(time=2, lat=2).reduce(np.ptp, keep_attrs=False)),
    ],
    "dt": [
        (1, lambda v: v.dates.dt.season),
        (1, lambda v: v.dates.dt.isocalendar().week),
        (1, lambda v: v.dates.dt.strftime("%A %d").astype("U12")),
    ],
    "weighted": [(2, lambda v: v.f.weighted(v.i).var("lat"))],
    "idxmax": [(3, lambda v: v.f.idxmax("time"))],
    "polyfit": [(2, lambda v: v.g.polyfit("time", 2)["polyfit_coefficients"])],
    "interp": [(8, lambda v: v.g.interp(lat=[0.0, 5], lon=[1.0, 100], time=TIME[3:5]))],
    "sortby": [(1, lambda v: v.f.sortby(["lat", "lon"], ascending=False))],
    "stack": [(1, lambda v: v.f.stack(z=("lon", "time")).unstack("z").transpose(*v.f.dims))],
    "merge": [
        (
            2,
            lambda v: xr.merge(
                [v.f.isel(time=slice(0, 5)), v.f.isel(time=slice(5, None))],
                join="outer",
                compat="no_conflicts",
            ).f,
        )
    ],
}

#: What has no values, or is about the object.
ABOUT = """as_numpy assign_attrs assign_coords attrs chunks chunksizes close coords data dims drop
    drop_attrs drop_encoding drop_indexes drop_vars dtype encoding from_dict from_iris from_series
    get_axis_num get_index indexes name nbytes ndim plot rename reorder_levels reset_coords
    reset_encoding reset_index set_close set_index set_xindex shape size sizes str to_dataset
    to_index to_unstacked_dataset variable xindexes""".split()
#: What computes, as its name or documentation says.
COMPUTES = """argsort broadcast_equals compute equals identical item load load_async searchsorted
    to_dataframe to_dict to_masked_array to_netcdf to_numpy to_pandas to_series to_zarr
    values""".split()
#: What needs Dask, or packages that are not here: errors.
REFUSED = "rolling_exp to_dask_dataframe to_iris".split()


def test_the_tables_are_complete():
    tables = [*METHODS, *ABOUT, *COMPUTES, *REFUSED]
    assert len(tables) == len(set(tables))
    check_names(tables, xr.DataArray)


def cases(table):
    return [
        pytest.param(f, id=f"{name}-{k}") for name, fs in table.items() for k, f in enumerate(fs)
    ]


def check(function, lazy, eager, times=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = function(eager)
        warnings.filterwarnings("error", message=".*values are computed into memory")
        result = function(lazy)
    assert isinstance(result.variable._data, cubed.Array)
    assert not any(isinstance(c.variable._data, cubed.Array) for c in result.coords.values())
    assert result.dtype == expected.dtype and result.dims == expected.dims
    if times is not None and XARRAY >= NEWEST:
        reads = sum(s["chunks_read"] for s in result.data.plan().stages if s["name"] != "rechunk")
        assert reads <= times * lazy.f.data.npartitions, reads
    single = result.dtype == np.float32
    rtol, atol = (1e-5, 1e-6) if single else (1e-9, 1e-8)
    xr.testing.assert_allclose(result.compute(), expected, rtol=rtol, atol=atol)
    assert result.attrs == expected.attrs and result.name == expected.name


@pytest.mark.parametrize(
    "times, function",
    [pytest.param(*c, id=f"{name}-{k}") for name, cs in ACROSS.items() for k, c in enumerate(cs)],
)
def test_methods_across_chunks(times, function, cut, eager):
    check(function, cut, eager, times)


@pytest.mark.parametrize("function", cases(METHODS))
def test_methods(function, lazy, eager):
    check(function, lazy, eager)


@pytest.mark.parametrize(
    "at", [{"lat": 0, "lon": 0}, {"time": 3, "lat": 1}, {"time": 3, "lat": 0, "lon": 0}]
)
@pytest.mark.parametrize("name", METHODS)
def test_methods_of_fewer_dimensions(name, at, cut, eager):
    """Of one dimension and of none, each method that has a result of an array in memory."""
    few = SimpleNamespace(**{k: v.isel(at) for k, v in vars(eager).items()})
    lazy = SimpleNamespace(**{k: v.isel(at) for k, v in vars(cut).items()})
    for function in METHODS[name]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function(few).compute()
        except (IndexError, KeyError, TypeError, ValueError):  # a dimension that is not there
            continue
        check(function, lazy, few)


@pytest.mark.parametrize("function", cases({k: METHODS[k] for k in ("groupby", "resample")}))
def test_groups_without_flox(function, lazy, eager):
    with xr.set_options(use_flox=False):
        check(function, lazy, eager)


@pytest.mark.parametrize("function", cases(FUNCTIONS))
def test_functions(function, lazy, eager):
    check(function, lazy, eager)


def test_windows_read_each_chunk_once(lazy):
    for name in "sum mean std var min max prod".split():
        moved = getattr(lazy.f.rolling(time=3), name)()
        stages = moved.data.plan().stages
        assert any(f"rolling {name}" in s["name"] for s in stages)
        assert stages[0]["chunks_read"] <= lazy.f.data.npartitions


def test_groups_are_one_pass(lazy):
    """A climatology reads each chunk once."""
    mean = lazy.f.groupby("time.month").mean()
    stages = mean.data.plan().stages
    assert sum(s["chunks_read"] for s in stages if s["inputs"]) <= 2 * lazy.f.data.npartitions
    anomaly = lazy.f.groupby("time.month") - mean
    assert isinstance(anomaly.data, cubed.Array)


# --- What is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "function, error, message",
    [
        (lambda v: v.dates.dt.date, NotImplementedError, "compute it first"),
        (lambda v: v.dates.dt.time, NotImplementedError, "compute it first"),
        (
            lambda v: xr.apply_ufunc(
                lambda x: x.sum(-1), v.f, input_core_dims=[["time"]], dask="parallelized"
            ),
            ValueError,
            "consists of multiple chunks",
        ),
        (lambda v: v.f.chunk(time=(5, 18)), ValueError, "add up"),
    ],
)
def test_refusals(function, error, message, lazy):
    with pytest.raises(error, match=message):
        function(lazy)


@pytest.mark.parametrize("bottleneck", [True, False])
def test_rolling_finds_the_extreme_that_xarray_finds(bottleneck):
    a = np.array(
        [[1.0, 3, 3, 2, np.nan, 3, 3, 3, 0, 0, 0], [2, 2, np.nan, np.nan, 5, 5, 1, 1, 2, 2, 7]]
    )
    for values in (a, np.nan_to_num(a).astype("i4")):
        plain = xr.DataArray(values, dims=("y", "t"))
        lazy = xr.DataArray(cubed.from_array(values, chunks=4), dims=("y", "t"))
        for kwargs in (
            {},
            {"min_periods": 1},
            {"center": True},
            {"min_periods": 2, "center": True},
        ):
            if values.dtype.kind == "i":  # what is beyond the ends has no number of its own
                kwargs = {k: v for k, v in kwargs.items() if k != "min_periods"}
            for name in ("argmax", "argmin"):
                with xr.set_options(use_bottleneck=bottleneck):
                    got, want = (getattr(x.rolling(t=3, **kwargs), name)() for x in (lazy, plain))
                assert isinstance(got.data, cubed.Array)
                np.testing.assert_array_equal(got.values, want.values, err_msg=f"{name} {kwargs}")
