"""Groups without labels in Xarray: lazy arrays have the same results as arrays in memory without
flox.
"""

import warnings

import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from xarray_versions import XARRAY

TIME = pd.to_datetime(
    "2001-01-05 2001-01-07 2001-03-05 2001-03-08 2001-03-09 2001-06-01 2001-12-04".split()
)
LABELS = [0.0, 1.0, 1.5, 3.0, 9.0]
DTYPES = (
    "bool int8 int16 uint16 int64 uint64 float16 float32 float64 complex64 m8[ns] M8[s]".split()
)


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    return cubed.Spec(tmp_path_factory.mktemp("w"), allowed_mem="100MB", reserved_mem="10MB")


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def data(dtype, ndim=2):
    rng = np.random.default_rng(0)
    values = rng.integers(0, 4, (7, 3)) % (2 if dtype == "bool" else 4)
    if dtype[0] in "mM":
        values = values * 10**9
    values = values.astype(dtype)
    if values.dtype.kind in "fc":
        values[rng.random(values.shape) < 0.4] = np.nan
    coords = {"time": TIME, "b": ("time", [0.0, 1, 3, 3, 1, 0, 0])}
    x = xr.DataArray(values, coords, ("time", "y"), "v", attrs={"units": "K"})
    return x if ndim == 2 else x.isel(y=0, drop=True)


def lazy(x, spec):
    """x in chunks, with its labels in memory."""
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    return (
        x.chunk(time=3, y=2, **options).assign_coords(b=x.b)
        if x.ndim > 1
        else (x.chunk(time=3, **options).assign_coords(b=x.b))
    )


def seasons(x):
    from xarray.groupers import SeasonResampler

    return x.resample(time=SeasonResampler(["DJF", "MAM", "JJA", "SON"]))


def unique(x):
    from xarray.groupers import UniqueGrouper

    if not x.chunks:  # Xarray fails without flox
        return _Reindexed(x.groupby("b"))
    return x.groupby(b=UniqueGrouper(labels=LABELS))


class _Reindexed:
    """Groups of all labels, by groups of those that there are."""

    def __init__(self, groups):
        self.groups = groups

    def __getattr__(self, name):
        return lambda **kwargs: getattr(self.groups, name)(**kwargs).reindex(b=LABELS)


GROUPS = {
    "resample": lambda x: x.resample(time="MS"),
    "bins": lambda x: x.groupby_bins("b", [-1, 0.5, 0.7, 1.5, 5]),
    "seasons": seasons,
    "unique": unique,
}
SUMS = {
    **{name: (name, {}) for name in "sum prod min max first last".split()},
    "sum of all": ("sum", {"skipna": False}),
    "product of all": ("prod", {"skipna": False}),
    "sum of any": ("sum", {"min_count": 0}),
    "sum of two": ("sum", {"min_count": 2}),
    "product of two": ("prod", {"min_count": 2}),
}


def same(result, expected):
    assert isinstance(result.data, cubed.Array)
    computed = result.compute()
    assert computed.dtype == result.dtype
    assert result.dims == expected.dims and result.attrs == expected.attrs
    # flox gives extremes of small integers in float64, the engine reductions of float16 in float32.
    wider = {"float32": "float64", "float16": "float32"}.get(expected.dtype.name)
    assert result.dtype in (expected.dtype, wider)
    xr.testing.assert_allclose(computed.astype(expected.dtype), expected, rtol=2e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("groups", GROUPS)
def test_groups_without_labels_are_missing(groups, dtype, spec):
    if groups in ("seasons", "unique") and XARRAY < (2025, 7):
        pytest.skip("Xarray before 2025.7 has no SeasonResampler, and takes no labels")
    x = data(dtype)
    y = lazy(x, spec)
    for name, kwargs in SUMS.values():
        if kwargs.get("min_count") and x.dtype.kind not in "fc":
            continue  # which Xarray without flox does not look at
        with xr.set_options(use_flox=False):
            try:
                expected = getattr(GROUPS[groups](x), name)(**kwargs)
            except (TypeError, ValueError):  # dates have no sums, complex numbers no extremes
                continue
        for flox in (True, False) if groups != "unique" else (True,):
            with xr.set_options(use_flox=flox):
                if flox and dtype == "complex64" and name in ("min", "max"):
                    with pytest.raises(NotImplementedError, match="use_flox=False"):
                        getattr(GROUPS[groups](y), name)(**kwargs)
                else:
                    same(getattr(GROUPS[groups](y), name)(**kwargs), expected)


@pytest.mark.skipif(XARRAY < (2025, 7), reason="Xarray before 2025.7 takes no labels")
@pytest.mark.parametrize("name", ["sum", "max", "first", "last"])
def test_groups_without_labels_along_an_axis_that_stays(name, spec):
    from flox.xrdtypes import NA
    from xarray.groupers import UniqueGrouper

    zone = np.array([[0, 1, 0], [0, 1, 1], [0, 1, 0]] * 2 + [[0, 1, 1]])
    functions = {"first": lambda v: v[0], "last": lambda v: v[-1], "sum": np.nansum}
    function = functions.get(name, np.nanmax)
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    for dtype in ("int16", "float64"):
        x = data(dtype).fillna(2)
        expected = np.full((3, 2), np.nan)
        for y, group in {(y, group) for row in zone for y, group in enumerate(row)}:
            expected[y, group] = function(x.values[zone[:, y] == group, y])
        labels = xr.DataArray(zone, dims=("time", "y"))
        groups = x.chunk(time=3, y=2, **options).assign_coords(zone=labels)
        grouped = groups.groupby(zone=UniqueGrouper(labels=[0, 1]))
        if name in ("first", "last"):
            found = grouped._flox_reduce("time", func=name, fill_value=NA)
        else:
            found = getattr(grouped, name)(dim="time")
        np.testing.assert_allclose(found.transpose("y", "zone").values, expected)


def test_times_of_groups_are_exact(spec):
    """Integers between the numbers that float64 has."""
    times = np.array([2**60 + 1, 2**60 + 3, 2**60 + 5] * 2 + [7]).astype("m8[ns]")
    x = data("m8[ns]", 1).copy(data=times)
    for name in ("min", "max", "sum", "first"):
        result = getattr(lazy(x, spec).resample(time="MS"), name)()
        with xr.set_options(use_flox=False):
            expected = getattr(x.resample(time="MS"), name)()
        np.testing.assert_array_equal(result.values, expected.values)


LAZY_LABELS = {
    "bins": lambda x: x.groupby_bins("b", [-1, 0.5, 0.7, 1.5, 5]),
    "unique": lambda x: unique(x),
}


@pytest.mark.skipif(XARRAY < (2025, 7), reason="Xarray before 2025.7 takes no lazy labels")
@pytest.mark.parametrize("name", ["first", "last"])
@pytest.mark.parametrize("groups", LAZY_LABELS)
def test_first_elements_of_groups_with_lazy_labels(groups, name, spec):
    """Xarray returns the array as it is."""
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    for dtype in ("int64", "float32", "M8[s]"):
        x = data(dtype)
        y = x.chunk(time=3, y=2, **options)
        assert isinstance(y.b.data, cubed.Array)
        with xr.set_options(use_flox=False):
            expected = getattr(LAZY_LABELS[groups](x), name)()
        for result in (
            getattr(LAZY_LABELS[groups](y), name)(),
            getattr(LAZY_LABELS[groups](y.to_dataset()), name)().v,
        ):
            same(result.transpose(*expected.dims), expected)
        with xr.set_options(use_flox=False), pytest.raises(ValueError, match="lazily grouping"):
            getattr(LAZY_LABELS[groups](y), name)()


@pytest.mark.parametrize("skipna", [None, True])
@pytest.mark.parametrize("kind", "Mm")
def test_groups_with_missing_times(kind, skipna):
    """Beside Xarray without flox: flox takes "not a time" for an integer like any other."""
    rng = np.random.default_rng(0)
    values = (100 * rng.integers(0, 9, (12, 3))).astype(f"{kind}8[s]")
    values[rng.random(values.shape) < 0.3] = "NaT"
    values[:, 0] = np.array(500, values.dtype)  # where nothing is missing
    labels = ("t", np.arange(12) % 3)
    x = xr.DataArray(values, {"g": labels}, ("t", "y"))
    y = x.copy(data=cubed.from_array(values, chunks=(5, 2)))
    names = ["mean", "min", "max", "quantile"] + ["sum", "median"] * (kind == "m")
    names += ["count"] * (skipna is None)
    for name in names:
        arguments = (0.25,) if name == "quantile" else ()

        def reduced(a, name=name, arguments=arguments, skipna=skipna):
            options = {} if name == "count" else {"skipna": skipna}
            return getattr(a.groupby("g"), name)(*arguments, **options)

        with xr.set_options(use_flox=False):
            want = reduced(x)
            apart = reduced(y)
        for got in (apart, reduced(y), reduced(y.to_dataset(name="v")).v):
            assert isinstance(got.data, cubed.Array) and got.dtype == want.dtype
            np.testing.assert_array_equal(got.values, want.values, err_msg=name)


def test_groups_of_times_without_a_reduction():
    days = np.arange("2001-01-01", "2001-01-05", dtype="M8[D]").astype("M8[ns]")
    x = xr.DataArray(cubed.from_array(days, chunks=2), {"g": ("t", [0, 0, 1, 1])}, "t")
    for name in ("sum", "prod", "var"):
        with pytest.raises(TypeError, match=f"{name}.* is not defined for datetime64"):
            getattr(x.groupby("g"), name)()
    for name in ("prod", "var"):
        with pytest.raises(TypeError, match=f"{name}.* is not defined for timedelta64"):
            getattr((x - days[0]).groupby("g"), name)()
