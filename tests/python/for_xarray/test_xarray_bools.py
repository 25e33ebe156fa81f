"""Bools combined with missing values: in memory Xarray makes objects of them, lazy ones become
floats.
"""

import cubed
import numpy as np
import pandas as pd
import pytest
import xarray as xr

DAYS = pd.date_range("2001", periods=6, freq="D")

#: Methods that put missing values beside elements.
PROMOTING = {
    "shift": lambda x: x.shift(t=1),
    "shift of two": lambda x: x.shift(t=-2, y=1),
    "shift by none": lambda x: x.shift(t=0),
    "pad": lambda x: x.pad(t=1),
    "pad of one end": lambda x: x.pad({"t": (0, 2)}),
    "where": lambda x: x.where(x.y > 0),
    "reindex": lambda x: x.reindex(y=[0, 5]),
    "unstack": lambda x: x.stack(z=("t", "y")).isel(z=slice(0, 7)).unstack("z"),
    "align": lambda x: xr.align(x, x.isel(y=[0]), join="outer")[1],
    "merge": lambda x: xr.merge([x, x.isel(y=[0]).rename("w")], join="outer").w,
    "construct": lambda x: x.rolling(t=2).construct("w"),
    "coarsen": lambda x: x.coarsen(t=4, boundary="pad").max(),
    "coarsen.construct": lambda x: x.coarsen(t=4, boundary="pad").construct(t=("a", "b")),
    "asfreq": lambda x: x.resample(t="12h").asfreq(),
    "groupby.map": lambda x: x.groupby("y").map(lambda group: group.shift(t=1)),
    "rolling.reduce": lambda x: x.rolling(t=2).reduce(np.sum),
}
#: Methods that have a value for what would be missing.
FILLING = {
    "shift": lambda x: x.shift(t=1, fill_value=True),
    "pad": lambda x: x.pad(t=1, constant_values=True),
    "pad with an end": lambda x: x.pad(t=1, mode="edge"),
    "construct": lambda x: x.rolling(t=2).construct("w", fill_value=False),
    "reindex": lambda x: x.reindex(y=[0, 5], fill_value=True),
    "where": lambda x: x.where(x.y > 0, True),
}


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    values = np.arange(18).reshape(6, 3) % 2 == 0
    x = xr.DataArray(values, {"t": DAYS, "y": [0, 1, 2]}, ("t", "y"), "v", attrs={"units": "1"})
    spec = cubed.Spec(tmp_path_factory.mktemp("w"), allowed_mem="100MB", reserved_mem="10MB")
    options = {"chunked_array_type": "cubed", "from_array_kwargs": {"spec": spec}}
    return x, x.chunk(t=4, y=2, **options)


@pytest.mark.parametrize("container", ["DataArray", "Dataset"])
@pytest.mark.parametrize("name", PROMOTING)
def test_missing_values(name, container, both):
    x, y = both
    if container == "Dataset":
        if name in ("align", "merge", "rolling.reduce"):
            pytest.skip("the function is of arrays, or gives several")
        x, y = x.to_dataset(), y.to_dataset()
    expected, result = PROMOTING[name](x), PROMOTING[name](y)
    if container == "Dataset":
        expected, result = expected.v, result.v
    assert isinstance(result.data, cubed.Array) and result.dtype == np.float64
    xr.testing.assert_identical(result.compute(), expected.astype(float))


@pytest.mark.parametrize("name", FILLING)
def test_fill_values(name, both):
    x, y = both
    result = FILLING[name](y)
    assert isinstance(result.data, cubed.Array) and result.dtype == bool
    xr.testing.assert_identical(result.compute(), FILLING[name](x))
