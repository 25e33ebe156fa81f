# %% [markdown]
# # Vorticity
#
# This example computes the relative vorticity of winds on a grid of latitudes and longitudes: its
# mean over time, and the mean of its square. Derivatives are differences of neighbours, which are
# views of one array that are read together.
#
# **For large data,** run `python vorticity.py --size 20000 --no-check --dir /scratch/winds`. Each
# result is as small as the winds at one time. To store larger results chunk by chunk, use
# `mean.to_zarr`.

# %%
import numpy as np
import xarray as xr
from common import arguments, check, draw, make_fields, watch

RADIUS = 6.371e6  # of the Earth, m

options = arguments("Vorticity.", times=48)
spec = options.spec

# %% [markdown]
# Write synthetic winds to a Zarr store.

# %%
make_fields(options.dir / "winds.zarr", "u v", options.size)

# %% [markdown]
# Open the store as lazy arrays of Cubed.

# %%
ds = xr.open_dataset(
    options.dir / "winds.zarr",
    engine="zarr",
    chunked_array_type="cubed",
    from_array_kwargs={"spec": spec},
    chunks={},
)
ds


# %% [markdown]
# The vorticity is `(dv/dlon - d(u cos(lat))/dlat) / (R cos(lat))`, except near the poles.


# %%
def vorticity(ds: xr.Dataset) -> xr.Dataset:
    """In 1/s."""
    inner = ds.sel(lat=slice(85, -85))
    cos = np.cos(np.deg2rad(inner.lat))
    per_radian = np.rad2deg(1.0)
    eastward = inner.v.differentiate("lon") * per_radian
    northward = (inner.u * cos).differentiate("lat") * per_radian
    zeta = (eastward - northward) / (RADIUS * cos)
    return xr.Dataset({"zeta": zeta.mean("time"), "enstrophy": (zeta**2).mean("time")})


# %% [markdown]
# Show the plan.

# %%
mean = vorticity(ds)
plan = mean.zeta.data.plan()
print(plan)
plan

# %% [markdown]
# Compute both means in one pass over the winds.

# %%
with watch():
    result = mean.compute()
result

# %% [markdown]
# Draw the mean vorticity at the first level.

# %%
draw(result.zeta.isel(level=0))

# %% [markdown]
# Repeat the computation with NumPy, which needs the whole input in memory.

# %%
if not options.no_check:
    winds = xr.open_zarr(options.dir / "winds.zarr", chunks=None).load()
    check(result, vorticity(winds))
