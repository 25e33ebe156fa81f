# %% [markdown]
# # Quadratic means
#
# This example computes means over time of products of winds, the first of the Pangeo workloads.
# Each chunk of `u` and `v` is read once, and no array of squares or products is stored.
#
# **For large data,** run `python quadratic_means.py --size 20000 --no-check --dir /scratch/winds`,
# or in the notebook set `options.size = 20000` after the first cell. `make_fields` makes its fields
# in memory, so for larger data open a store of your own. The memory of a task does not depend on
# the size of the data.

# %%
import xarray as xr
from common import arguments, check, draw, make_fields, watch

options = arguments("Quadratic means.", times=96)
spec = options.spec

# %% [markdown]
# Write synthetic winds to a Zarr store. You can use any other store with `u` and `v`.

# %%
make_fields(options.dir / "winds.zarr", "u v", options.size)

# %% [markdown]
# Two arguments are for Cubed: the type of the arrays, and the memory of a worker. The arrays are
# lazy, and have the chunks of the store.

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
# The workload is plain Xarray.


# %%
def quadratic_means(ds: xr.Dataset) -> xr.Dataset:
    quad = ds**2
    quad["uv"] = ds.u * ds.v
    return quad.mean("time", skipna=False)


# %% [markdown]
# The plan shows the stages and the memory of a task before anything runs.

# %%
mean = quadratic_means(ds)
plan = mean.uv.data.plan()
print(plan)
plan

# %% [markdown]
# The results are computed into another store, chunk by chunk, so they may be larger than memory.

# %%
with watch():
    mean.to_zarr(options.dir / "means.zarr", mode="w")
result = xr.open_zarr(options.dir / "means.zarr", chunks=None).load()
result

# %% [markdown]
# Draw the mean of the product at the first level.

# %%
draw(result.uv.isel(level=0))

# %% [markdown]
# Repeat the computation with NumPy, which needs the whole input in memory.

# %%
if not options.no_check:
    winds = xr.open_zarr(options.dir / "winds.zarr", chunks=None).load()
    check(result, quadratic_means(winds))
