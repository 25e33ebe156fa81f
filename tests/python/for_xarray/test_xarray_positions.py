"""Lazy arrays of positions, also without dimensions, for arrays of one to three dimensions."""

import cubed
import numpy as np
import pytest
import xarray as xr

DIMS = ("x", "y", "z")
POSITIONS = {
    "a number": (2, ()),
    "from the end": (-1, ()),
    "an axis": ([3, 1], ("p",)),
    "the axis itself": ([3, 1], ("x",)),
    "two axes": ([[3, 1], [0, 0]], ("p", "q")),
    "none": (np.array([], int), ("p",)),
}


@pytest.fixture(scope="module")
def options(tmp_path_factory):
    spec = cubed.Spec(tmp_path_factory.mktemp("w"), allowed_mem="100MB", reserved_mem="10MB")
    return {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}


def data(ndim):
    values = np.random.default_rng(ndim).random((5, 4, 3)[:ndim])
    return xr.DataArray(values, {"x": np.arange(5) * 10.0}, DIMS[:ndim], "v")


def lazy(x, options):
    return x.chunk(dict(zip(DIMS, (2, 3, 2)[: x.ndim], strict=False)), **options)


def same(result, expected):
    assert isinstance(result.variable._data, cubed.Array)
    xr.testing.assert_identical(result.compute(), expected)


@pytest.mark.parametrize("ndim", [1, 2, 3])
@pytest.mark.parametrize("position", POSITIONS)
def test_lazy_positions(position, ndim, options):
    values, dims = POSITIONS[position]
    x, at = data(ndim), xr.DataArray(values, dims=dims)
    y, lazy_at = lazy(x, options), at.chunk(**options)
    expected = x.isel(x=at)
    same(y.isel(x=lazy_at), expected)
    same(y[lazy_at], expected)
    same(y.to_dataset().isel(x=lazy_at).v, expected)
    same(xr.DataArray(y.variable[lazy_at.variable]), xr.DataArray(x.variable[at.variable]))
    if ndim > 1:
        same(y.isel(x=lazy_at, y=1), x.isel(x=at, y=1))
        same(y.isel(x=lazy_at, y=slice(1, 3)), x.isel(x=at, y=slice(1, 3)))
        same(y.isel(x=lazy_at, y=lazy_at), x.isel(x=at, y=at))
    if at.ndim < 2:
        same(xr.DataArray(y.variable[lazy_at.data]), xr.DataArray(x.variable[at.data]))
    xr.testing.assert_identical(x.isel(x=lazy_at).compute(), expected)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_labels_of_extremes(ndim, options):
    x = data(ndim)
    y = lazy(x, options)
    dates = np.arange(5).astype("M8[D]").astype("M8[ns]")
    for name in ("idxmax", "idxmin"):
        for kwargs in ({}, {"skipna": False}, {"fill_value": -1.0}):
            same(getattr(y, name)("x", **kwargs), getattr(x, name)("x", **kwargs))
        same(getattr(y.to_dataset(), name)("x").v, getattr(x.to_dataset(), name)("x").v)
        for function in (
            lambda a: a.where(a > 2),  # nothing is known
            lambda a: a > 0.5,
            lambda a: (a * 10).astype(int),
            lambda a: a.assign_coords(x=dates),
        ):
            same(getattr(function(y), name)("x"), getattr(function(x), name)("x"))
        text = x.assign_coords(x=list("abcde"))
        expected = getattr(text, name)("x", skipna=False)
        same(getattr(lazy(text, options), name)("x", skipna=False), expected)


@pytest.mark.parametrize("ndim", [1, 2, 3])
def test_elements_at_extremes(ndim, options):
    x = data(ndim)
    y = lazy(x, options)
    same(y.isel(x=y.argmax("x")), x.isel(x=x.argmax("x")))
    same(y.isel(y.argmin(...)), x.isel(x.argmin(...)))


def test_positions_that_select_nothing_are_checked(options):
    x = lazy(data(3).drop_vars("x").isel(z=slice(0, 0)), options)
    at = xr.DataArray([0, 5], dims="p").chunk(**options)
    for selected in (x.isel(x=at), x.isel(x=at[1]), x[at], x.to_dataset().isel(x=at).v):
        with pytest.raises(IndexError, match="position 5 is out of bounds for axis 0 of 5"):
            selected.compute()
