# %% [markdown]
# # Transformed Eulerian mean
#
# This example computes zonal means and eddy fluxes of each day for the transformed Eulerian mean.
# An eddy flux is a zonal mean of the product of two deviations from zonal means.
#
# **For large data,** run `python transformed_eulerian_mean.py --size 20000 --no-check --dir
# /scratch/state`.

# %%
import xarray as xr
from common import arguments, check, draw, make_fields, watch

options = arguments("Transformed Eulerian mean.", times=48)
spec = options.spec

# %% [markdown]
# Write a synthetic state of the atmosphere to a Zarr store.

# %%
make_fields(options.dir / "state.zarr", "u v w t", options.size)

# %% [markdown]
# Open the store as lazy arrays of Cubed.

# %%
ds = xr.open_dataset(
    options.dir / "state.zarr",
    engine="zarr",
    chunked_array_type="cubed",
    from_array_kwargs={"spec": spec},
    chunks={},
)
ds


# %% [markdown]
# The workload is plain Xarray.


# %%
def zonal_fluxes(ds: xr.Dataset) -> xr.Dataset:
    zonal = ds.mean("lon")
    eddy = ds - zonal
    fluxes = {
        "u": zonal.u,
        "t": zonal.t,
        "uv": (eddy.u * eddy.v).mean("lon"),
        "uw": (eddy.u * eddy.w).mean("lon"),
        "vt": (eddy.v * eddy.t).mean("lon"),
    }
    return xr.Dataset(fluxes).resample(time="1D").mean()


# %% [markdown]
# Show the plan of one of the fluxes, and the reasons why it needs several passes.

# %%
fluxes = zonal_fluxes(ds)
plan = fluxes.uv.data.plan()
print(plan.explain())
print(plan)
plan

# %% [markdown]
# Compute all fluxes together.

# %%
with watch():
    result = fluxes.compute()
result

# %% [markdown]
# Draw the eddy flux of momentum on the first day, by level and latitude.

# %%
draw(result.uv.isel(time=0))

# %% [markdown]
# Repeat the computation with NumPy, which needs the whole input in memory.

# %%
if not options.no_check:
    state = xr.open_zarr(options.dir / "state.zarr", chunks=None).load()
    check(result, zonal_fluxes(state))
