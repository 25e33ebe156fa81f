# %% [markdown]
# # Climatological anomalies
#
# This example computes anomalies from the mean of each month of the year, and their standard
# deviation. The months follow from the coordinate, and the means of all months are computed in one
# pass.
#
# **For large data,** run `python climatological_anomalies.py --size 36500 --no-check --dir
# /scratch/t`. The anomalies are as large as the input, so store them by
# `lazy.to_zarr("anomalies.zarr")` instead of `compute`.

# %%
import xarray as xr
from common import arguments, check, draw, make_fields, watch

options = arguments("Climatological anomalies.", times=730)
spec = options.spec

# %% [markdown]
# Write two years of synthetic daily temperatures to a Zarr store.

# %%
make_fields(options.dir / "t.zarr", "t", options.size, step="1D", levels=2)

# %% [markdown]
# Open the store as lazy arrays of Cubed.

# %%
ds = xr.open_dataset(
    options.dir / "t.zarr",
    engine="zarr",
    chunked_array_type="cubed",
    from_array_kwargs={"spec": spec},
    chunks={},
)
ds


# %% [markdown]
# The workload is plain Xarray.


# %%
def anomalies(ds: xr.Dataset) -> xr.Dataset:
    months = ds.groupby("time.month")
    climatology = months.mean()
    anomaly = months - climatology
    return xr.Dataset(
        {
            "climatology": climatology.t,
            "anomaly": anomaly.t.isel(level=0),
            "deviation": anomaly.t.std("time"),
        }
    )


# %% [markdown]
# Show the plan of the standard deviation.

# %%
lazy = anomalies(ds)
plan = lazy.deviation.data.plan()
print(plan)
plan

# %% [markdown]
# Compute all three results together.

# %%
with watch():
    result = lazy.compute()
result

# %% [markdown]
# Draw the standard deviation of the anomalies at the first level.

# %%
draw(result.deviation.isel(level=0))

# %% [markdown]
# Repeat the computation with NumPy, which needs the whole input in memory.

# %%
if not options.no_check:
    whole = xr.open_zarr(options.dir / "t.zarr", chunks=None).load()
    check(result, anomalies(whole))
