# %% [markdown]
# # A pipeline as for ERA5
#
# This example computes daily extremes from packed six-hourly temperatures, rechunks them from maps
# to time series, and computes percentiles of the series.
#
# **For large data,** run `python era5_pipeline.py --size 100000 --no-check --dir /scratch/era5
# --allowed-mem 2GB`. For ERA5 itself, pass its store to `open_dataset`, and chunks of some tens of
# megabytes to `chunk`.

# %%
import cubed
import xarray as xr
from common import arguments, check, draw, make_fields, watch

options = arguments("A pipeline as for ERA5.", times=240)
spec = options.spec

# %% [markdown]
# Write synthetic temperatures, packed as 16-bit integers with a scale, as in archives.

# %%
make_fields(options.dir / "t.zarr", "t", options.size, levels=1, packed=True)

# %% [markdown]
# `engine="cubed"` opens the store without zarr-python. Unpacking is part of the pass that reads it.

# %%
ds = xr.open_dataset(options.dir / "t.zarr", engine="cubed", spec=spec)
ds


# %% [markdown]
# Define daily extremes, and percentiles at each place.


# %%
def daily(ds: xr.Dataset) -> xr.Dataset:
    days = ds.t.resample(time="1D")
    return xr.Dataset({"tmax": days.max(), "tmin": days.min()})


def percentiles(ds: xr.Dataset) -> xr.Dataset:
    return ds.quantile([0.05, 0.5, 0.95], "time")


# %% [markdown]
# Each chunk becomes a whole series over time. The planner chooses the passes that fit into memory.

# %%
chunks = {"time": -1, "level": 1, "lat": 10, "lon": 10}
series = daily(ds).chunk(chunks, chunked_array_type="cubed")
plan = series.tmax.data.plan()
print(plan)
plan

# %% [markdown]
# Store the series, and read them again for the percentiles.

# %%
with watch():
    series.to_zarr(options.dir / "daily.zarr", mode="w")
stored = xr.open_dataset(options.dir / "daily.zarr", engine="cubed", spec=spec)
lazy = percentiles(stored)
assert isinstance(lazy.tmax.data, cubed.Array)
with watch():
    result = lazy.compute()
result

# %% [markdown]
# Draw the median of the daily maxima.

# %%
draw(result.tmax.sel(quantile=0.5).squeeze())

# %% [markdown]
# Repeat the computation with NumPy, which needs the whole input in memory.

# %%
if not options.no_check:
    whole = xr.open_zarr(options.dir / "t.zarr", chunks=None).load()
    check(result, percentiles(daily(whole)))
