# %% [markdown]
# # Climatological anomalies
#
# Anomalies from the mean of each month of the year, and how much they vary. Groups are found in
# the coordinate; the means of all of them are made in one pass.
#
# **Large:** `python climatological_anomalies.py --size 36500 --no-check --dir /scratch/t`;
# anomalies are as large as the input, so write them: `lazy.to_zarr("anomalies.zarr")` instead of
# `compute`.

# %%
import xarray as xr
from common import arguments, check, draw, make_fields, watch

options = arguments("Climatological anomalies.", times=730)
spec = options.spec

# %% [markdown]
# Two years of synthetic daily temperatures, in a Zarr store.

# %%
make_fields(options.dir / "t.zarr", "t", options.size, step="1D", levels=2)

# %% [markdown]
# Open it as lazy arrays of Cubed.

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
# The plan of the deviation.

# %%
lazy = anomalies(ds)
plan = lazy.deviation.data.plan()
print(plan)
plan

# %% [markdown]
# All three are computed together.

# %%
with watch():
    result = lazy.compute()
result

# %% [markdown]
# The standard deviation of the anomalies at the first level.

# %%
draw(result.deviation.isel(level=0))

# %% [markdown]
# The same computation by NumPy, which needs the whole input in memory.

# %%
if not options.no_check:
    whole = xr.open_zarr(options.dir / "t.zarr", chunks=None).load()
    check(result, anomalies(whole))
