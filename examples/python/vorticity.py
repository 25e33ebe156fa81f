# %% [markdown]
# # Vorticity
#
# Relative vorticity of winds on a grid of latitudes and longitudes, its mean over time, and the
# mean of its square. Derivatives are differences of neighbours: views of one array, read
# together.
#
# **Large:** `python vorticity.py --size 20000 --no-check --dir /scratch/winds`. The results are
# as small as one time. If they are larger, `mean.to_zarr` writes them chunk by chunk.

# %%
import numpy as np
import xarray as xr
from common import arguments, check, draw, make_fields, watch

RADIUS = 6.371e6  # of the Earth, m

options = arguments("Vorticity.", times=48)
spec = options.spec

# %% [markdown]
# Synthetic winds, in a Zarr store.

# %%
make_fields(options.dir / "winds.zarr", "u v", options.size)

# %% [markdown]
# Open it as lazy arrays of Cubed.

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
# `(dv/dlon - d(u cos(lat))/dlat) / (R cos(lat))`, away from the poles.


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
# The plan.

# %%
mean = vorticity(ds)
plan = mean.zeta.data.plan()
print(plan)
plan

# %% [markdown]
# Both means are computed in one pass over the winds.

# %%
with watch():
    result = mean.compute()
result

# %% [markdown]
# The mean vorticity at the first level.

# %%
draw(result.zeta.isel(level=0))

# %% [markdown]
# The same computation by NumPy, which needs the whole input in memory.

# %%
if not options.no_check:
    winds = xr.open_zarr(options.dir / "winds.zarr", chunks=None).load()
    check(result, vorticity(winds))
